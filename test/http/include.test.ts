import type { FastifyRequest } from 'fastify'
import fastify from 'fastify'
import t from 'tap'
import resources, {
  draw, type Format, type Mapper, memoryStore, type Query, type ResourceOptions, type Row,
  type Store
} from '../../lib/index.js'
import { draft, types, xml } from '../support/helper.js'

const author = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    password: { type: 'string', writeOnly: true },
    tags: { type: 'array', items: { type: 'string' } }
  }
} as const
const post = {
  type: 'object', properties: { title: { type: 'string' }, authorId: { type: ['integer', 'null'] } }
} as const
const comment = {
  type: 'object',
  properties: {
    body: { type: 'string' },
    key: { type: 'string', writeOnly: true },
    inner: { type: 'object', properties: { open: { type: 'string' }, hidden: { type: 'string', writeOnly: true } } }
  }
} as const

const ANN = { id: 1, name: 'Ann', tags: ['a'] }
const FIRST = { id: 1, body: 'first', inner: { open: 'o' } }
const SECOND = { id: 2, body: 'second' }

interface Blog { readonly authors: Store, readonly posts: Store, readonly comments: Store, readonly profiles: Store }

function makeStores (): Blog {
  const [authors, posts, comments, profiles] = [memoryStore(), memoryStore(), memoryStore(), memoryStore()]
  authors.create({ name: 'Ann', password: 'secret', tags: ['a'] }, {})
  authors.create({ name: 'Bob', password: 'secret' }, {})
  posts.create({ title: 'A', authorId: 1 }, {})
  posts.create({ title: 'B', authorId: null }, {})
  posts.create({ title: 'C', authorId: 9 }, {})
  comments.create({ body: 'first', key: 'secret', inner: { open: 'o', hidden: 'secret' }, postId: 1 }, {})
  comments.create({ body: 'second', postId: 1 }, {})
  comments.create({ body: 'third', postId: 3 }, {})
  profiles.create({ line: 'about', postId: 1 }, {})
  return { authors, posts, comments, profiles }
}

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Draws posts with an author, comments and a profile. */
function drawBlog (stores: Blog, more: { readonly [name in keyof Blog]?: Options } = {}): (map: Mapper) => unknown {
  return (map) => {
    map.resources('posts', {
      attributes: post, store: stores.posts, references: { authorId: 'authors' }, ...(more.posts as object)
    }, (posts) => {
      posts.resources('comments', { attributes: comment, store: stores.comments, ...(more.comments as object) })
      posts.resource('profile', {
        attributes: { type: 'object', properties: { line: { type: 'string' } } },
        store: stores.profiles,
        ...(more.profiles as object)
      })
    })
    map.resources('authors', { attributes: author, store: stores.authors, ...(more.authors as object) })
  }
}

/** Returns a store that notes the queries of its lists. */
function recording (store: Store, queries: Query[]): Store {
  return { ...store, list: (query, context) => { queries.push(query); return store.list(query, context) } }
}

const lines: Format = {
  name: 'txt',
  mediaTypes: ['text/plain'],
  compileWriter: () => {
    const row = ({ id, attributes }: Row): string => `${id} ${JSON.stringify(attributes)}\n`
    return { list: { open: '', row, separator: '', close: '' }, record: row, problem: ({ detail }) => detail }
  }
}

t.test('`include` adds related rows to lists and rows', async (t) => {
  const app = await draft(t, drawBlog(makeStores(), { posts: { formats: ['xml', 'html', 'json', lines] } }))
  const cases: ReadonlyArray<readonly [query: string, first: object, second: object, third: object]> = [
    ['include=author', { title: 'A', authorId: 1, author: ANN }, { title: 'B', authorId: null, author: null },
      { title: 'C', authorId: 9, author: null }],
    ['include=comments', { title: 'A', authorId: 1, comments: [FIRST, SECOND] },
      { title: 'B', authorId: null, comments: [] }, { title: 'C', authorId: 9, comments: [{ id: 3, body: 'third' }] }],
    ['include=profile', { title: 'A', authorId: 1, profile: { line: 'about' } },
      { title: 'B', authorId: null, profile: null }, { title: 'C', authorId: 9, profile: null }],
    ['only=title&include=author,comments', { title: 'A', comments: [FIRST, SECOND], author: ANN },
      { title: 'B', comments: [], author: null }, { title: 'C', comments: [{ id: 3, body: 'third' }], author: null }],
    ['only=id&include=author', { author: ANN }, { author: null }, { author: null }]
  ]
  for (const [query, ...rows] of cases) {
    const posts = rows.map((row, index) => ({ id: index + 1, ...row }))
    t.strictSame((await app.inject(`/posts.json?${query}`)).json(), { posts }, query)
    t.strictSame((await app.inject(`/posts.json?limit=3&${query}`)).json(), { posts })
    t.equal((await app.inject(`/posts.txt?${query}`)).body,
      rows.map((row, index) => `${index + 1} ${JSON.stringify(row)}\n`).join(''), 'a format of the app')
    for (const post of posts) {
      const shown = await app.inject(`/posts/${post.id}.json?${query}`)
      t.strictSame(shown.json(), { post })
      t.notOk('etag' in shown.headers, 'no entity tag')
      const head = await app.inject({ method: 'HEAD', url: `/posts/${post.id}.json?${query}` })
      t.match(head, { statusCode: 200, body: '', headers: { 'content-type': types.json } })
    }
    t.match(await app.inject({ method: 'HEAD', url: `/posts.json?${query}` }), { statusCode: 200, body: '' })
  }
  t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, title: 'A', authorId: 1 } },
    'nothing without the parameter')
})

t.test('XML and pages write related rows', async (t) => {
  const app = await draft(t, drawBlog(makeStores()))
  const record =
    '<post><id type="integer">1</id><title>A</title><comments type="array">' +
    '<comment><id type="integer">1</id><body>first</body><inner><open>o</open></inner></comment>' +
    '<comment><id type="integer">2</id><body>second</body></comment></comments>' +
    '<profile><line>about</line></profile>' +
    '<author><id type="integer">1</id><name>Ann</name><tags type="array"><tag>a</tag></tags></author></post>'
  t.equal((await app.inject('/posts/1.xml?only=title&include=author,comments,profile')).body, xml + record)
  t.equal((await app.inject('/posts.xml?only=title&include=author,comments,profile&limit=1')).body,
    `${xml}<posts type="array">${record}</posts>`)
  t.equal((await app.inject('/posts/2.xml?only=title&include=author,comments')).body,
    `${xml}<post><id type="integer">2</id><title>B</title><comments type="array"></comments>` +
      '<author nil="true"/></post>')
  const page = await app.inject('/posts/1.html?include=author,comments')
  t.match(page, { statusCode: 200, headers: { 'content-type': types.html } })
  t.match(page.body, '<dd>first</dd>')
  t.match(page.body, '<dd>Ann</dd>')
  t.match(page.body, 'name="post[title]"', 'the form has the fields of the row alone')
  t.notMatch(page.body, 'name="post[author]')
  const list = await app.inject('/posts.html?include=author')
  t.match(list.body, '<a href="/posts/1">A</a>')
  t.match(list.body, /<td data-label="Author" dir="auto">[^<]/)
  t.match(list.body, '<input type="hidden" name="include" value="author"/>')
  t.notMatch(page.body + list.body, 'secret')
})

t.test('`include` refuses names that are no relations', async (t) => {
  const app = await draft(t, drawBlog(makeStores()))
  const cases: ReadonlyArray<readonly [string, string]> = [
    ['autor',
      '"include" names "autor", which is not a relation of posts; ' +
        'the relations are: comments, profile, author; did you mean "author"?'],
    ['', '"include" names "", which is not a relation of posts; the relations are: comments, profile, author'],
    ['author,', '"include" names "", which is not a relation of posts; the relations are: comments, profile, author'],
    ['comments.author',
      '"include" names "comments.author", which is not a relation of posts; ' +
        'the relations are: comments, profile, author'],
    ['author,comments,author', '"include" names "author" twice']
  ]
  for (const [include, detail] of cases) {
    for (const path of ['/posts', '/posts/1', '/posts/77']) {
      const refused = await app.inject(`${path}.json?include=${include}`)
      t.match(refused, { statusCode: 400, headers: { 'content-type': types.problem } })
      t.equal(refused.json().detail, detail)
    }
  }
  t.match((await app.inject('/authors.json?include=posts')).json(),
    { status: 400, detail: 'the parameter "include" is unknown' }, 'a resource without relations')
  t.match((await app.inject('/posts/1/comments.json?include=post')).json(),
    { status: 400, detail: 'the parameter "include" is unknown' })
  t.equal((await app.inject('/posts/77.json?include=author')).statusCode, 404)
})

t.test('each relation costs one query for a portion of rows, and a list is streamed', async (t) => {
  const stores = makeStores()
  for (let index = 4; index <= 1000; index++) {
    stores.posts.create({ title: 'x', authorId: index % 2 + 1 }, {}, { signal: new AbortController().signal })
  }
  const [authors, comments]: [Query[], Query[]] = [[], []]
  const app = await draft(t, drawBlog({
    ...stores, authors: recording(stores.authors, authors), comments: recording(stores.comments, comments)
  }))
  const { posts } = (await app.inject('/posts.json?include=author,comments')).json()
  t.equal(posts.length, 1000)
  t.strictSame(posts.at(-1), { id: 1000, title: 'x', authorId: 1, comments: [], author: ANN })
  // The memory store lists 512 rows in a batch: six portions, then five.
  t.equal(authors.length, 11)
  t.equal(comments.length, 11)
  t.strictSame(authors[1]?.filter, [{ attribute: 'id', operator: 'in', value: [2, 1] }])
  t.strictSame(comments[1]?.order, [{ by: 'postId', descending: false }, { by: 'id', descending: false }])
  authors.length = comments.length = 0
  await app.inject('/posts.json?limit=20')
  t.strictSame([authors, comments], [[], []], 'a list without the parameter asks nothing')
  await app.inject('/posts.json?include=author&only=title&limit=3')
  t.equal(authors.length, 1)
  await app.inject('/posts/2.json?include=author')
  t.equal(authors.length, 1, 'no query without ids')
})

t.test('a row with more than 100 nested rows, or very large ones, has a link to them', async (t) => {
  const stores = makeStores()
  const add = (postId: number, body: string, count: number): void => {
    for (let index = 0; index < count; index++) {
      stores.comments.create({ body, postId }, {}, { signal: new AbortController().signal })
    }
  }
  add(1, 'x', 98)
  add(2, 'x', 1500)
  const app = await draft(t, drawBlog(stores), '/blog')
  const [first, second, third] = (await app.inject('/blog/posts.json?include=comments')).json().posts
  t.equal(first.comments.length, 100)
  t.strictSame(second.comments, { href: '/blog/posts/2/comments' })
  t.strictSame(third.comments, [{ id: 3, body: 'third' }], 'the rows after it are included')
  t.match((await app.inject('/blog/posts/2.xml?include=comments')).body,
    '<comments><href>/blog/posts/2/comments</href></comments>')
  t.match((await app.inject('/blog/posts/2.html?include=comments')).body, '<a href="/blog/posts/2/comments"')
  add(3, 'y'.repeat(600_000), 1)
  t.equal((await app.inject('/blog/posts.json?include=comments')).json().posts[2].comments.length, 2,
    'the size of one row')
  add(3, 'y'.repeat(600_000), 1)
  const { posts } = (await app.inject('/blog/posts.json?include=comments')).json()
  t.equal(posts[0].comments.length, 100)
  t.strictSame(posts[2].comments, { href: '/blog/posts/3/comments' })
})

t.test('large related rows make smaller portions', async (t) => {
  const stores = makeStores()
  const queries: Query[] = []
  for (let index = 0; index < 8; index++) {
    const { id } = await stores.authors.create({ name: 'n'.repeat(400_000) }, {},
      { signal: new AbortController().signal })
    await stores.posts.create({ title: 'large', authorId: id }, {}, { signal: new AbortController().signal })
  }
  const app = await draft(t, drawBlog({ ...stores, authors: recording(stores.authors, queries) }))
  const { posts } = (await app.inject('/posts.json?include=author')).json()
  t.equal(posts.length, 11)
  t.ok(posts.slice(3).every((post: { author: { name: string } }) => post.author.name.length === 400_000))
  t.ok(queries.length > 4)
})

const asking = ({ headers }: FastifyRequest): string => String(headers.user)

t.test('the guards of the included resource decide', async (t) => {
  const stores = makeStores()
  await stores.authors.create({ name: 'Cy', tenant: 'b' }, {}, { signal: new AbortController().signal })
  const seen: unknown[] = []
  const app = await draft(t, drawBlog(stores, {
    posts: { authorize: (request, { action, id }) => action !== 'show' || asking(request) !== 'partial' || id !== 1 },
    authors: {
      authorize: async (request, { action, id, row, resource }) => {
        seen.push([action, resource, id, (request.params as { id: string }).id, (await row?.())?.attributes.name,
          request.url])
        if (asking(request) === 'stranger') throw Object.assign(new Error('no'), { statusCode: 401 })
        return asking(request) === 'hidden' ? 'hide' : asking(request) !== 'blocked'
      },
      scope: (request) => asking(request) === 'tenant' ? { tenant: 'b' } : {}
    },
    comments: {
      authorize: (request, { action }) => action === 'list' && asking(request) !== 'blocked' &&
        (request.params as { postId: string, id?: string }).id === undefined,
      scope: (request) => asking(request) === 'third'
        ? { body: 'third' }
        : asking(request) === 'other'
          ? { postId: 3 }
          : {}
    },
    profiles: {
      authorize: async (request, { action, row }) => action === 'show' &&
      (await row?.())?.attributes.line === 'about' && asking(request) !== 'blocked'
    }
  }))
  const A = { id: 1, comments: [FIRST, SECOND], profile: { line: 'about' }, author: ANN }
  const cases: ReadonlyArray<readonly [user: string, first: object, third?: object]> = [
    ['ann', A, { id: 3, comments: [{ id: 3, body: 'third' }], profile: null, author: null }],
    ['blocked', { id: 1, profile: null, author: null }, { id: 3, profile: null, author: null }],
    ['hidden', { ...A, author: null }],
    ['stranger', { ...A, author: null }],
    ['tenant', { ...A, author: null }],
    ['third', { ...A, comments: [] }, { id: 3, comments: [{ id: 3, body: 'third' }], profile: null, author: null }],
    ['other', { id: 1, profile: { line: 'about' }, author: ANN },
      { id: 3, comments: [{ id: 3, body: 'third' }], profile: null, author: null }],
    ['partial', { id: 1, author: ANN }]
  ]
  for (const [user, first, third] of cases) {
    const { posts } = (await app.inject({
      url: '/posts.json?only=id&include=author,comments,profile', headers: { user }
    })).json()
    t.strictSame(posts[0], first, user)
    if (third !== undefined) t.strictSame(posts[2], third, user)
  }
  t.strictSame(seen[0], ['show', 'authors', 1, '1', 'Ann', '/posts.json?only=id&include=author,comments,profile'])
  t.strictSame((await app.inject({
    url: '/posts/1.json?only=id&include=comments', headers: { user: 'ann' }
  })).json().post.comments, [FIRST, SECOND])
})

t.test('rows that a guard hides are not included', async (t) => {
  const cases: ReadonlyArray<readonly [string, Parameters<typeof drawBlog>[1], object]> = [
    ['the author', { authors: { authorize: () => 'hide' } }, { author: null, comments: [FIRST, SECOND] }],
    ['the comments', { comments: { authorize: () => 'hide' } }, { author: ANN }],
    ['the post itself, for its comments',
      { posts: { authorize: (_request, { action }) => action === 'list' ? true : 'hide' } }, { author: ANN }],
    ['the post by its own attributes, for its comments',
      {
        posts: {
          authorize: async (_request, { action, row }) => action === 'list' ||
        (await row?.())?.attributes.title !== 'A'
        }
      }, { author: ANN }]
  ]
  for (const [what, options, expected] of cases) {
    const app = await draft(t, drawBlog(makeStores(), options))
    t.strictSame((await app.inject('/posts.json?include=author,comments&limit=1')).json(),
      { posts: [{ id: 1, title: 'A', authorId: 1, ...expected }] }, what)
  }
})

t.test('many rows with large nested rows are read in smaller portions', async (t) => {
  const stores = makeStores()
  const context = { signal: new AbortController().signal }
  for (let postId = 1; postId <= 3; postId++) {
    for (let nth = 0; nth < 4; nth++) await stores.comments.create({ body: 'b'.repeat(250_000), postId }, {}, context)
  }
  const app = await draft(t, drawBlog(stores))
  const { posts } = (await app.inject('/posts.json?include=comments')).json()
  t.strictSame(posts.map(({ comments }: { comments: unknown[] | { href: string } }) =>
    Array.isArray(comments) ? comments.length : comments.href), [6, 4, 5])
})

t.test('a constraint on a prefix applies to a reference', async (t) => {
  const stores = makeStores()
  const app = await draft(t, (map) => {
    map.resources('posts', { attributes: post, store: stores.posts, references: { authorId: 'authors' } })
    map.resources('authors', { attributes: author, store: stores.authors, constraints: { tenant: { enum: ['a'] } } })
  }, '/:tenant')
  t.strictSame((await app.inject('/a/posts/1.json?include=author')).json().post.author, ANN)
  t.equal((await app.inject('/b/posts/1.json?include=author')).json().post.author, null)
})

t.test('an included resource outside the constraints or with a scope that refuses is not there', async (t) => {
  const refuse = (): never => { throw Object.assign(new Error('no'), { statusCode: 403 }) }
  const app = await draft(t, drawBlog(makeStores(), { authors: { scope: refuse }, comments: { scope: refuse } }))
  t.strictSame((await app.inject('/posts/1.json?include=author,comments')).json(),
    { post: { id: 1, title: 'A', authorId: 1, author: null } })
})

t.test('an error of a guard or a store is an error of the answer', async (t) => {
  for (const failing of [{ scope: () => { throw new Error('broken') } },
    { store: { ...memoryStore(), list: () => { throw new Error('broken') } } }]) {
    const app = await draft(t, drawBlog(makeStores(), { authors: failing }))
    for (const path of ['/posts', '/posts/1']) {
      t.equal((await app.inject(`${path}.json?include=author`)).statusCode, 500)
    }
  }
})

t.test('nested paths, shallow rows and resources without a schema include too', async (t) => {
  const { posts, comments, profiles } = makeStores()
  const users = memoryStore()
  await users.create({}, {})
  for (const id of [1, 2, 3]) {
    await posts.update(id, { userId: 1, comments: 'own', authorId: 1 }, { version: undefined, scope: {} },
      { signal: new AbortController().signal })
  }
  for (const shallow of [false, true]) {
    const app = await draft(t, (map) => map.resources('users', { store: users, shallow }, (users) =>
      users.resources('posts', { store: posts, references: { authorId: 'users' } }, (posts) => {
        posts.resources('comments', { store: comments, singular: 'note' })
        posts.resource('profile', { store: profiles })
      })))
    const { posts: list } = (await app.inject('/users/1/posts.json?include=comments,author')).json()
    t.strictSame(list[0].comments[1], { id: 2, body: 'second', postId: 1 })
    t.strictSame(list[0].author, { id: 1 })
    t.match((await app.inject('/users/1/posts.xml?include=comments&limit=1')).body,
      '<comments type="array"><note><id type="integer">1</id>')
    const path = shallow ? '/posts/1' : '/users/1/posts/1'
    t.equal((await app.inject(`${path}.json?include=profile`)).json().post.profile.line, 'about')
    t.equal((await app.inject(`${path}.html?include=comments`)).statusCode, 200)
  }
})

t.test('a nested resource with hooks or a handler of its own is not included', async (t) => {
  const pass = async (): Promise<void> => {}
  const cases: ReadonlyArray<readonly [Options, number]> = [
    [{}, 200], [{ hooks: { preHandler: pass } }, 400], [{ actionHooks: { list: { onRequest: pass } } }, 400],
    [{ hooks: { onSend: async (_request, _reply, payload) => payload } }, 200],
    [{ actionHooks: { create: { onRequest: pass } } }, 200],
    [{ actions: { list: () => [] } }, 400], [{ except: 'list' }, 400]
  ]
  for (const [options, status] of cases) {
    const app = await draft(t, drawBlog(makeStores(), { comments: options }))
    t.equal((await app.inject('/posts.json?include=comments')).statusCode, status, Object.keys(options).join())
  }
  const open = await draft(t, drawBlog(makeStores(), { authors: { attributes: undefined } }))
  t.match((await open.inject('/posts/1.json?include=author')).json(), { post: { author: ANN } }, 'without a schema')
  const shared = await draft(t, (map) => map.scope({ hooks: { preHandler: pass } }, drawBlog(makeStores()) as never))
  t.equal((await shared.inject('/posts.json?include=comments')).statusCode, 200, 'hooks of a scope around both')
  for (const capabilities of [{}, { filter: true }, { filter: ['eq'], order: true }] as const) {
    const stores = makeStores()
    const app = await draft(t, drawBlog({ ...stores, comments: { ...stores.comments, capabilities } }))
    t.equal((await app.inject('/posts.json?include=comments')).statusCode, 400, 'a store that cannot find them')
  }
})

t.test('rows of a handler include what their own scope allows', async (t) => {
  const rows = [{ id: 1, attributes: { title: 'A', tenant: 'a', authorId: 1 } },
    { id: 3, attributes: { title: 'C', tenant: 'b' } }]
  const app = await draft(t, drawBlog(makeStores(),
    { posts: { scope: () => ({ tenant: 'a' }), actions: { list: () => rows } } }))
  const { posts } = (await app.inject('/posts.json?include=comments,author')).json()
  t.strictSame(posts, [{ id: 1, title: 'A', authorId: 1, comments: [FIRST, SECOND], author: ANN },
    { id: 3, title: 'C', author: null }])
})

const withLines = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          authorId: { type: 'integer' },
          secretId: { type: 'integer', writeOnly: true },
          title: { type: 'string' }
        }
      }
    }
  }
} as const

t.test('references are checked', async (t) => {
  const target = { name: 'authors', attributes: author } as const
  const cases: ReadonlyArray<readonly [Options, ResourceOptions, string]> = [
    [{ references: [] as never }, target, 'must be an object of attributes and resources'],
    [{ references: { authorId: 7 as never } }, target, 'has "authorId", which must name a resource, not 7'],
    [{ references: { autorId: 'authors' } }, target,
      'names "autorId", which is not among the attributes declared; did you mean "authorId"?'],
    [{ references: { authorId: 'autors' } }, target,
      'names "autors", but the app has no such resource, or only a nested one; did you mean "authors"?'],
    [{ references: { title: 'authors' } }, target,
      'names "authors" for "title", whose ids have another type: the attribute must be an integer'],
    [{ references: { authorId: 'authors' } }, { ...target, id: 'uuid' },
      'names "authors" for "authorId", whose ids have another type: the attribute must be a string'],
    [{ attributes: withLines, references: { 'lines.authrId': 'authors' } }, target,
      'names "lines.authrId", which is not among the attributes declared'],
    [{ attributes: withLines, references: { 'title.authorId': 'authors' } }, target,
      'names "title.authorId", which is not among the attributes declared'],
    [{ attributes: withLines, references: { 'lines.title': 'authors' } }, target,
      'names "authors" for "lines.title", whose ids have another type: the attribute must be an integer'],
    [{ attributes: withLines, references: { 'lines.secretId': 'authors' } }, target,
      'names "lines.secretId", which is writeOnly: its values would be revealed'],
    [{ attributes: withLines, references: { 'lines.authorId': { to: 'authors', onDelete: 'cascade' } } }, target,
      'names "authors" for "lines.authorId", with "onDelete", but no deletion changes members of objects'],
    [{ references: { authorId: 'authors' } }, { ...target, store: { ...memoryStore(), capabilities: {} } },
      'whose store cannot find rows by their ids'],
    [{ references: { authorId: 'authors' } }, { ...target, prefix: '/:tenant' },
      'whose path has the parameter "tenant", which the path here has not'],
    [{
      attributes: { type: 'object', properties: { authorId: { type: 'integer', writeOnly: true } } },
      references: { authorId: 'authors' }
    }, target, 'names "authorId", which is writeOnly'],
    [{
      attributes: {
        type: 'object',
        properties: { authorId: { type: 'integer' }, author: { type: 'string' }, authorIdRow: { type: 'string' } }
      },
      references: { authorId: 'authors' }
    }, target, 'gives "authorId" the relation "authorIdRow", which is the name of another attribute'],
    [{
      attributes: {
        type: 'object',
        properties: {
          authorId: { type: 'integer' }, author_id: { type: 'integer' }, author_id_rowId: { type: 'integer' }
        }
      },
      references: { author_id_rowId: 'authors', authorId: 'authors', author_id: 'authors' }
    }, target, 'gives "author_id" the relation "author_id_row", which is the name of another relation']
  ]
  for (const [options, other, message] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(resources, { name: 'posts', attributes: post, ...options })
    app.register(resources, other)
    await t.rejects(Promise.resolve(app.ready()),
      { message: new RegExp(`ption "references" of resource "posts".*${message.replaceAll(/[()?.[\]]/g, '\\$&')}`) },
      message)
  }
  const twice = fastify()
  t.teardown(() => twice.close())
  twice.register(resources, { name: 'posts', attributes: post, references: { authorId: 'authors' } })
  for (const prefix of ['/a', '/b']) twice.register(resources, { ...target, prefix })
  await t.rejects(Promise.resolve(twice.ready()), { message: /names "authors", of which the app has several/ })
})

t.test('a reference finds the resource of its own scope, and gets its name from the attribute or the resource',
  async (t) => {
    const stores = makeStores()
    const others = memoryStore()
    await others.create({ name: 'Other' }, {})
    const app = fastify()
    t.teardown(() => app.close())
    const properties = { author_id: { type: 'integer' }, owner: { type: 'integer' } } as const
    const posts = memoryStore()
    await posts.create({ author_id: 1, owner: 2 }, {})
    app.register(resources, { name: 'authors', store: others, attributes: author })
    app.register(draw((map) => {
      map.namespace('v1', (map) => {
        map.resources('posts', {
          store: posts,
          attributes: { type: 'object', properties },
          references: { author_id: 'authors', owner: 'people' }
        })
        map.resources('authors', { store: stores.authors, attributes: author })
      })
      map.resources('people', { store: stores.authors, attributes: author })
      map.resources('authors', { path: 'writers', as: 'writers', store: others, attributes: author })
    }))
    await app.ready()
    const own = (await app.inject('/v1/posts/1.json?include=author')).json().post
    t.strictSame(own.author, ANN)
    const refused = (await app.inject('/v1/posts/1.json?include=x')).json()
    t.match(refused.detail, 'the relations are: author, person')
    t.strictSame((await app.inject('/v1/posts/1.json?include=person')).json().post.person, { id: 2, name: 'Bob' })
  })

t.test('a constraint on the path of the included resource applies', async (t) => {
  const app = await draft(t, drawBlog(makeStores(),
    { authors: { constraints: { id: { maximum: 0 } } }, comments: { constraints: { postId: { minimum: 3 } } } }))
  const { posts } = (await app.inject('/posts.json?only=id&include=author,comments')).json()
  t.strictSame(posts, [{ id: 1, author: null }, { id: 2, author: null },
    { id: 3, comments: [{ id: 3, body: 'third' }], author: null }])
  const page = async (id: number): Promise<string> => (await app.inject(`/posts/${id}.html`)).body
  t.notMatch(await page(1), '/authors/1', 'and the page has no link')
  t.notMatch(await page(1), '/posts/1/comments')
  t.match(await page(3), '/posts/3/comments')
  const first = await draft(t, drawBlog(makeStores(), { authors: { constraints: { id: { maximum: 1 } } } }))
  t.match((await first.inject('/posts/1.html')).body, 'href="/authors/1"')
})

t.test(
  'a singleton with several rows, rows that nobody asked for, and an attribute named like a resource',
  async (t) => {
    const stores = makeStores()
    const context = { signal: new AbortController().signal }
    await stores.profiles.create({ line: 'another', postId: 1 }, {}, context)
    const app = await draft(t, drawBlog(stores))
    t.strictSame((await app.inject('/posts/1.json?include=profile')).json().post.profile, { line: 'about' },
      'the first of two rows')
    // This store also lists rows that nobody has asked for.
    const comments: Store = {
      ...stores.comments, list: (query, context) => stores.comments.list({ ...query, filter: [] }, context)
    }
    const loose = await draft(t, drawBlog({ ...stores, comments }))
    t.strictSame((await loose.inject('/posts/1.json?include=comments')).json().post.comments, [FIRST, SECOND])
    const one = memoryStore()
    one.create({ line: 'about' }, {})
    const links = memoryStore()
    links.create({ to: 'x', profileId: 1 }, {})
    const single = await draft(t, (map) => map.resource('profile',
      { attributes: { type: 'object', properties: { line: { type: 'string' } } }, store: one }, (profile) => profile
        .resources('links', { attributes: { type: 'object', properties: { to: { type: 'string' } } }, store: links })))
    t.strictSame((await single.inject('/profile.json?include=links')).json(),
      { profile: { line: 'about', links: [{ id: 1, to: 'x' }] } })
    const clash = await draft(t, (map) => map.resources('posts',
      { attributes: { type: 'object', properties: { comments: { type: 'integer' } } }, store: memoryStore() },
      (post) => post
        .resources('comments', { attributes: comment, store: memoryStore() })))
    t.match((await clash.inject('/posts.json?include=comments')).json(),
      { status: 400, detail: 'the parameter "include" is unknown' })
  })

t.test('nested rows of several scopes are measured together', async (t) => {
  const stores = makeStores()
  const context = { signal: new AbortController().signal }
  for (let postId = 1; postId <= 3; postId++) {
    await stores.comments.create({ body: 'b'.repeat(900_000), postId, kind: String(postId) }, {}, context)
  }
  const app = await draft(t, drawBlog(stores,
    { comments: { scope: ({ params }) => ({ kind: (params as { postId: string }).postId }) } }))
  const { posts } = (await app.inject('/posts.json?only=id&include=comments')).json()
  t.strictSame(posts.map(({ comments }: { comments: Array<{ id: number }> }) => comments.map(({ id }) => id)),
    [[4], [5], [6]])
})

t.test('a handler that answers itself includes nothing', async (t) => {
  const app = await draft(t, drawBlog(makeStores(),
    { posts: { actions: { show: ({ reply }) => { reply.send('own') } } } }))
  t.match(await app.inject('/posts/1.json?include=author'), { statusCode: 200, body: 'own' })
})
