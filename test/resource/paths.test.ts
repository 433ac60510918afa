import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, { draw, type Mapper, memoryStore, type ResourceOptions } from '../../lib/index.js'
import { textStore } from '../support/stores/text-store.js'
import { labelOf } from '../../lib/html/names.js'
import {
  camelize, humanize, IRREGULAR_NOUNS, OTHER_PLURALS, pluralize, SINGULAR, singularize, UNCOUNTABLE
} from '../../lib/core/resource/inflection.js'
import { camelCased, certain, uncertain } from '../types/names.js'

interface StartOptions {
  readonly prefix?: string
  readonly server?: FastifyServerOptions
}

async function start (
  t: Test, declare: (map: Mapper) => unknown, { prefix = '', server = {} }: StartOptions = {}
): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  app.register(draw(declare), { prefix })
  await app.ready()
  return app
}

/** Calls a helper whose name is known only at run time. */
const link = (app: FastifyInstance, name: string, ...parameters: readonly unknown[]): string =>
  (app.paths[name] as (...given: readonly unknown[]) => string)(
    ...parameters
  )

const WRONG = 'FST_RESOURCES_INVALID_PATH'
const CLASH = 'FST_RESOURCES_CLASH'

const blog = (map: Mapper): unknown => map.resources('posts', { formPages: true }, (posts) => {
  posts.resources('comments', { only: ['list', 'show'] })
  posts.resource('logo', { only: 'show' })
  posts.collection.get('recent', () => [])
  posts.member.post('publish', () => undefined)
  posts.new.post('preview', () => undefined)
}).resource('profile', { formPages: true }).namespace('admin', (admin) => admin.resources('users', {
  only: ['list', 'show']
}))

t.test('every kind of name has its path', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, parameters: readonly unknown[], path: string]> = [
    ['posts', [], '/api/posts'], ['post', [1], '/api/posts/1'], ['post', ['1'], '/api/posts/1'],
    ['newPost', [], '/api/posts/new'], ['editPost', [1], '/api/posts/1/edit'], ['recentPosts', [], '/api/posts/recent'],
    ['publishPost', [1], '/api/posts/1/publish'], ['previewNewPost', [], '/api/posts/new/preview'],
    ['postComments', [7], '/api/posts/7/comments'], ['postComment', [7, 8], '/api/posts/7/comments/8'],
    ['postLogo', [7], '/api/posts/7/logo'], ['profile', [], '/api/profile'], ['newProfile', [], '/api/profile/new'],
    ['editProfile', [], '/api/profile/edit'], ['adminUsers', [], '/api/admin/users'],
    ['adminUser', [1], '/api/admin/users/1']
  ]
  for (const prefix of ['/api', 'api', '/api/']) {
    const app = await start(t, blog, { prefix })
    for (const [name, parameters, path] of cases) {
      t.equal(link(app, name, ...parameters), path, `${name} under ${prefix}`)
    }
    t.same(Object.keys(app.paths).sort(), [...new Set(cases.map(([name]) => name))].sort())
  }
})

t.test('the short form has the same names', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'blog_posts', formPages: true, prefix: '/api' } satisfies ResourceOptions)
  await app.ready()
  t.same([link(app, 'blogPosts'), link(app, 'blogPost', 1), link(app, 'newBlogPost'), link(app, 'editBlogPost', 1)],
    ['/api/blog_posts', '/api/blog_posts/1', '/api/blog_posts/new', '/api/blog_posts/1/edit'])
})

// ---- Ids

const ids: ReadonlyArray<readonly [id: string, path: string]> = [
  ['plain', '/posts/plain'],
  ['a/b', '/posts/a%2Fb'],
  ['../x', '/posts/..%2Fx'],
  ['a b', '/posts/a%20b'],
  ['a+b', '/posts/a%2Bb'],
  ['ü', '/posts/%C3%BC'],
  ['u\u0308', '/posts/u%CC%88'],
  ['%', '/posts/%25'],
  ['%2F', '/posts/%252F'],
  ['a?format=json', '/posts/a%3Fformat%3Djson'],
  ['\\', '/posts/%5C'],
  [';', '/posts/%3B'],
  ['<b>"\'', '/posts/%3Cb%3E%22\''],
  ['...', '/posts/...'],
  ['.x', '/posts/.x'],
  ['report.pdf', '/posts/report.pdf'],
  ['report.json', '/posts/report%252Ejson'],
  ['report.xml', '/posts/report%252Exml'],
  ['report.JSON', '/posts/report.JSON'],
  ['report%2Exml', '/posts/report%25252Exml'],
  ['%2Epdf', '/posts/%25252Epdf'],
  ['edit', '/posts/edit']
]

t.test('the path of an id leads to its row', async (t) => {
  const app = await start(t, (map) => map.resources('posts', {
    store: textStore(ids.map(([id]) => id)), writes: 'both'
  }, (posts) => {
    posts.member.get('stats', ({ row }) => row())
    posts.resources('comments', { store: memoryStore() })
  }))
  for (const [id, path] of ids) {
    const url = link(app, 'post', id)
    t.equal(url, path)
    t.equal(
      (await app.inject({ url, headers: { accept: 'application/json' } })).json<{ post?: { id: string } }>().post?.id,
      id,
      url
    )
    for (const format of ['json', 'html']) {
      const suffixed = link(app, 'post', id, { format })
      t.equal(suffixed, `${path}.${format}`)
      const answer = await app.inject(suffixed)
      t.match(answer, { statusCode: 200, headers: { 'content-type': format } }, suffixed)
      if (format === 'json') t.equal(answer.json<{ post: { id: string } }>().post.id, id, suffixed)
    }
    const stats = await app.inject(link(app, 'statsPost', id, { format: 'json' }))
    t.equal(stats.json<{ post?: { id: string } }>().post?.id, id, `${url}/stats`)
    const comment = await app.inject({
      method: 'POST', url: link(app, 'postComments', id), payload: { comment: { title: 'x' } }
    })
    t.equal(comment.statusCode, 201, `${url}/comments`)
    t.match(await app.inject(String(comment.headers.location)), { statusCode: 200 }, String(comment.headers.location))
  }
})

t.test('a parameter of a scope is encoded like any other', async (t) => {
  const app = await start(t, (map) => map.scope(
    { path: 'of/:tenant', as: 'tenant' }, (map) => map.resources('posts', { store: memoryStore() })
  ))
  for (const [tenant] of ids) {
    const url = link(app, 'tenantPosts', tenant, { format: 'json' })
    t.match(await app.inject(url), { statusCode: 200, body: '{"posts":[]}' }, url)
  }
})

t.test('a value that no path can carry throws', async (t) => {
  const app = await start(t, blog)
  const cases: ReadonlyArray<readonly [value: unknown, message: RegExp]> = [
    ['.', /cannot have "\." for .*: it would mean another path/],
    ['..', /cannot have "\.\." for .*: it would mean another path/],
    ['\ud800', /no path can carry it/],
    [NaN, /cannot have NaN/],
    [Infinity, /cannot have Infinity/],
    ['', /is missing/]
  ]
  for (const [value, message] of cases) {
    for (const name of ['post', 'publishPost', 'postComments']) {
      t.throws(() => link(app, name, value), { code: WRONG, message }, `${name} ${String(value)}`)
    }
    t.throws(() => link(app, 'postComment', 1, value), { code: WRONG, message })
    t.throws(() => link(app, 'post', { id: value }), { code: WRONG, message })
  }
})

// ---- Parameters and options

t.test('a row may be given in place of its id', async (t) => {
  const app = await start(t, blog)
  t.equal(link(app, 'post', { id: 7, version: '1', attributes: {} }), '/posts/7')
  t.equal(link(app, 'postComment', { id: 7 }, { id: 'ü' }, { format: 'xml' }), '/posts/7/comments/%C3%BC.xml')
})

t.test('options may give a format and a query', async (t) => {
  const app = await start(t, blog)
  const cases: ReadonlyArray<readonly [name: string, parameters: readonly unknown[], path: string]> = [
    ['posts', [{ format: 'json' }], '/posts.json'], ['post', [1, { format: 'xml' }], '/posts/1.xml'],
    ['editPost', [1, { format: 'html' }], '/posts/1/edit.html'],
    ['posts', [{ query: { limit: 20, sort: '-title', deep: true, gone: undefined } }],
      '/posts?limit=20&sort=-title&deep=true'],
    ['posts', [{ query: { title: 'a b&c=d?#ü' } }], '/posts?title=a+b%26c%3Dd%3F%23%C3%BC'],
    ['post', [1, { format: 'json', query: { x: 'y' } }], '/posts/1.json?x=y'], ['posts', [{}], '/posts'],
    ['posts', [{ query: {} }], '/posts'], ['posts', [{ format: undefined, query: undefined }], '/posts'],
    ['posts', [undefined], '/posts'], ['post', [1, undefined], '/posts/1']
  ]
  for (const [name, parameters, path] of cases) t.equal(link(app, name, ...parameters), path)
})

t.test('a query has filters with operators', async (t) => {
  const app = await start(t, blog)
  const cases: ReadonlyArray<readonly [query: Record<string, unknown>, parameters: string]> = [
    [{ rating: 5, title: { contains: 'tea' }, status: { in: ['a', 'b'] }, sort: '-rating', limit: 20, q: 'green tea' },
      'rating=5&title[contains]=tea&status[in]=a,b&sort=-rating&limit=20&q=green tea'],
    [{ rating: { gte: 3, gt: 2.5, lte: -1, lt: 1e21 } },
      'rating[gte]=3&rating[gt]=2.5&rating[lte]=-1&rating[lt]=1e+21'],
    [{ title: { starts: 'a&b', not: '' }, published: { not: false, null: true } },
      'title[starts]=a&b&title[not]=&published[not]=false&published[null]=true'],
    [{ status: { in: ['a,b', 'c\\d', '\\,', ''] } }, 'status[in]=a\\,b,c\\\\d,\\\\\\,,'],
    [{ status: { in: [1, true, '2'] } }, 'status[in]=1,true,2'],
    [{ rating: null, title: undefined, body: { contains: undefined, in: undefined }, more: {} }, 'rating[null]=true']
  ]
  for (const [query, parameters] of cases) {
    const [path, search = ''] = link(app, 'posts', { query }).split('?')
    t.strictSame([path, [...new URLSearchParams(search)].map(([name, value]) => `${name}=${value}`).join('&')],
      ['/posts', parameters])
  }
  t.equal(link(app, 'posts', { query: { title: { contains: 'tea' } } }), '/posts?title%5Bcontains%5D=tea',
    'brackets are encoded')
})

t.test('a query with wrong operators throws', async (t) => {
  const app = await start(t, blog)
  const cases: ReadonlyArray<readonly [query: Record<string, unknown>, message: string]> = [
    [{ rating: { gtee: 3 } }, '"posts" has no operator "gtee" for "rating"; did you mean "gte"?'],
    [{ rating: { eq: 3 } }, '"posts" has no operator "eq" for "rating"'],
    [{ status: ['a', 'b'] },
      '"posts" needs a value or an object of operators for "status", such as { in: [\'a\', \'b\'] }'],
    [{ status: { in: 'a' } }, '"posts" needs a list of at least one text, number or boolean for "status[in]"'],
    [{ status: { in: ['a', null] } }, '"posts" needs a list of at least one text, number or boolean for "status[in]"'],
    [{ rating: { gte: null } }, '"posts" needs a text, a number or a boolean for "rating[gte]"'],
    [{ rating: { not: { gte: 1 } } }, '"posts" needs a text, a number or a boolean for "rating[not]"']
  ]
  for (const [query, message] of cases) {
    t.throws(() => link(app, 'posts', { query }), { code: WRONG, message: `paths: ${message}` }, inspect(query))
  }
})

t.test('wrong use throws, with the nearest name', async (t) => {
  const app = await start(t, blog)
  const cases: ReadonlyArray<readonly [name: string, parameters: readonly unknown[], message: RegExp]> = [
    ['pots', [], /there is no "pots"; did you mean "posts"\?/],
    ['postComent', [1, 2], /there is no "postComent"; did you mean "postComment"\?/],
    ['zzzzzzzz', [], /there is no "zzzzzzzz"$/], ['post', [], /"post" needs id: "id" is missing/],
    ['post', [true], /"post" cannot have true for "id": an id is a text or a number/],
    ['post', [5n], /cannot have 5 for "id"/], ['post', [{}], /"id" is missing/],
    ['post', [{ id: undefined }], /"id" is missing/],
    ['postComment', [1], /"postComment" needs postId, id: "id" is missing/],
    ['posts', [1], /"posts" takes none, but was given 1/], ['post', [1, 2], /"post" takes id, but was given 2/],
    ['post', [1, { fromat: 'xml' }], /"post" has no option "fromat"; did you mean "format"\?/],
    ['post', [1, { format: 'jsn' }], /"post" has no format "jsn"; did you mean "json"\?/],
    ['posts', [{ query: null }], /"posts" needs an object as "query", not null/]
  ]
  for (const [name, parameters, message] of cases) {
    t.throws(() => link(app, name, ...parameters), { code: WRONG, message }, `${name} ${inspect(parameters)}`)
  }
})

t.test('url() returns an absolute URL with the request\'s own host', async (t) => {
  const urls: string[] = []
  const show: ResourceOptions['actions'] = {
    show ({ request, paths, id }) {
      urls.push(paths.url(request, 'post', id, { format: 'xml', query: { a: 1 } }))
      return { id, attributes: {} }
    }
  }
  const headers = { host: 'example.com:8080', 'x-forwarded-host': 'proxy.example.com', 'x-forwarded-proto': 'https' }
  for (const trustProxy of [false, true]) {
    const app = await start(
      t, (map) => map.resources('posts', { actions: show }), { prefix: '/api', server: { trustProxy } }
    )
    t.match(await app.inject({ url: '/api/posts/7', headers }), { statusCode: 200 })
  }
  t.same(urls, ['http://example.com:8080/api/posts/7.xml?a=1', 'https://proxy.example.com/api/posts/7.xml?a=1'])
})

// ---- The object of paths

t.test('url() needs the request first', async (t) => {
  const app = await start(t, blog)
  t.throws(() => (app.paths.url as (...parameters: unknown[]) => string)('post', 1),
    { code: WRONG, message: /"url" needs the request first.*not 'post'/ })
})

t.test('the object of paths can be awaited, printed and compared like another', async (t) => {
  const app = await start(t, blog)
  const { paths } = app
  t.equal(await Promise.resolve(paths), paths)
  const cases: Readonly<Record<string, () => unknown>> = {
    inspect: () => inspect(paths, { showProxy: true, depth: 5 }) + inspect(paths, { getters: true }),
    JSON: () => JSON.stringify({ paths }),
    keys: () => Object.entries({ ...paths }),
  }
  for (const [name, look] of Object.entries(cases)) t.doesNotThrow(look, name)
  t.ok('posts' in paths && 'url' in paths && !('pots' in paths))
  t.strictSame([String(paths), Object.hasOwn(paths, 'posts'), Object.hasOwn(paths, 'pots')],
    ['[object Paths]', true, false])
})

// ---- Where names are known

t.test('a child knows its own names and those around it, a parent only its own', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  let child: FastifyInstance | undefined
  let sibling: FastifyInstance | undefined
  app.register(resources, { name: 'posts' })
  app.register(async (scope) => {
    child = scope
    await scope.register(resources, { name: 'notes' })
  }, { prefix: '/inner' })
  app.register(async (scope) => { sibling = scope }, { prefix: '/beside' })
  await app.ready()
  t.same([link(child as FastifyInstance, 'notes'), link(child as FastifyInstance, 'post', 1)],
    ['/inner/notes', '/posts/1'])
  t.same([Object.keys(app.paths), Object.keys((child as FastifyInstance).paths)],
    [['posts', 'post'], ['notes', 'note', 'posts', 'post']])
  t.equal(link(sibling as FastifyInstance, 'posts'), '/posts')
  for (const outside of [app, sibling as FastifyInstance]) {
    t.throws(() => link(outside, 'notes'), { code: WRONG, message: /there is no "notes"/ })
  }
})

t.test('the same names under two prefixes throw only when they are used', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', prefix: '/v1' })
  app.register(resources, { name: 'posts', prefix: '/v2' })
  app.register(resources, { name: 'notes' })
  await app.ready()
  t.equal(link(app, 'notes'), '/notes')
  t.match(await app.inject('/v2/posts'), { statusCode: 200 })
  t.throws(() => link(app, 'posts'), {
    code: WRONG,
    message: new RegExp('"posts" is /v1/posts \\(resources \'posts\' at /v1/posts\\) and /v2/posts ' +
      '\\(resources \'posts\' at /v2/posts\\); .* the option "as"')
  })
  t.throws(() => link(app, 'post', 1), { code: WRONG })
})

// ---- Clashes

type Clash = readonly [what: string, declare: (map: Mapper) => unknown, one: string, other: string, about: string]
const clashes: readonly Clash[] =
  [
    ['two resources of one name', (map) => map.resources('posts').resources('posts'), "resources 'posts' at /posts",
      "resources 'posts' at /posts", 'GET /posts'],
    [
      'parameters of other names',
      (map) => map.resources('posts', { only: 'show' }).resources('articles', {
        path: 'posts', only: 'show', param: 'slug'
      }),
      "resources 'posts' at /posts", "resources 'articles' at /posts", 'GET /posts/:slug'
    ],
    ['two paths of one name', (map) => map.resources('posts').resources('articles', { as: 'posts' }),
      "resources 'posts' at /posts", "resources 'articles' at /articles", 'the name "posts" in app.paths'],
    ['a singleton and a list',
      (map) => map.resource('profile').resources('profiles', { path: 'profile', only: 'list' }),
      "resource 'profile' at /profile", "resources 'profiles' at /profile", 'GET /profile'],
    [
      'own member action against edit',
      (map) => map.resources('posts', { formPages: true }, ({ member }) => member.get(
        'change', { path: 'edit' }, ({ row }) => row()
      )),
      "posts#edit of resources 'posts' at /posts", "posts#change of resources 'posts' at /posts", 'GET /posts/:id/edit'
    ],
    [
      'two own actions',
      (map) => map.resources('posts', {}, (posts) => {
        posts.collection.get('recent', () => [])
        posts.collection.get('latest', { path: 'recent' }, () => [])
      }),
      "posts#recent of resources 'posts' at /posts", "posts#latest of resources 'posts' at /posts", 'GET /posts/recent'
    ],
    [
      'nested resources against own member action',
      (map) => map.resources('posts', {}, (posts) => {
        posts.resources('comments')
        posts.member.get('comments', () => [])
      }),
      "resources 'posts' at /posts", "resources 'comments' at /posts/:postId/comments", 'GET /posts/:postId/comments'
    ],
    [
      'shallow rows against others',
      (map) => map.resources('comments', { only: 'show', as: 'notes' })
        .resources('posts', {}, (posts) => posts.resources('comments', { shallow: true })),
      "resources 'comments' at /comments", "resources 'comments' at /posts/:postId/comments", 'GET /comments/:id'
    ]
  ]

t.test('a clash throws at startup and names both', async (t) => {
  for (const [what, declare, one, other, about] of clashes) {
    const app = fastify()
    app.register(draw(declare))
    await t.rejects(async () => { await app.ready() },
      { code: CLASH, message: `resources: ${one} and ${other} both have ${about}` }, what)
  }
})

t.test('a clash throws at startup across registrations and encapsulated scopes', async (t) => {
  const message = "resources: resources 'posts' at /api/posts and resources 'articles' at /api/posts both have GET " +
    '/api/posts'
  const apps: Readonly<Record<string, (app: FastifyInstance) => void>> = {
    'a scope and the app': (app) => {
      app.register(resources, { name: 'posts', prefix: '/api' })
      app.register(
        async (scope) => { await scope.register(resources, { name: 'articles', path: 'posts' }) }, { prefix: '/api' }
      )
    },
    'two scopes': (app) => {
      app.register(async (scope) => { await scope.register(resources, { name: 'posts' }) }, { prefix: '/api' })
      app.register(async (scope) => {
        await scope.register(draw((map) => map.scope({ path: 'api' }, (map) => map.resources(
          'articles', { path: 'posts' }
        ))))
      })
    }
  }
  for (const [name, register] of Object.entries(apps)) {
    const app = fastify()
    register(app)
    await t.rejects(async () => { await app.ready() }, { code: CLASH, message }, name)
  }
})

// ---- Printing

t.test('printResources returns name, verb, path, action and formats as a table', async (t) => {
  const app = await start(t, (map) => map.resources('posts', { formPages: true, writes: 'both' }, (posts) => {
    posts.resources('comments', { only: ['list', 'show'], formats: ['json'] })
    posts.collection.get('recent', () => [])
    posts.member.post('publish', () => undefined)
  }).resource('profile', { only: ['show', 'update'] }), { prefix: '/api' })
  t.equal(app.printResources(), `\
        Name  Verb    Path                             Action          Formats
       posts  GET     /api/posts                       posts#list      xml html json
       posts  QUERY   /api/posts                       posts#list      xml html json
       posts  POST    /api/posts                       posts#create    xml html json
       posts  PUT     /api/posts                       posts#update    xml html json
       posts  DELETE  /api/posts                       posts#delete    xml html json
        post  GET     /api/posts/:id                   posts#show      xml html json
        post  PUT     /api/posts/:id                   posts#update    xml html json
        post  PATCH   /api/posts/:id                   posts#update    xml html json
        post  DELETE  /api/posts/:id                   posts#delete    xml html json
     newPost  GET     /api/posts/new                   posts#new       xml html json
    editPost  GET     /api/posts/:id/edit              posts#edit      xml html json
 recentPosts  GET     /api/posts/recent                posts#recent    xml html json
 publishPost  POST    /api/posts/:id/publish           posts#publish   xml html json
postComments  GET     /api/posts/:postId/comments      comments#list   json
postComments  QUERY   /api/posts/:postId/comments      comments#list   json
 postComment  GET     /api/posts/:postId/comments/:id  comments#show   json
     profile  GET     /api/profile                     profile#show    xml html json
     profile  PUT     /api/profile                     profile#update  xml html json`)
})

t.test('resourceRoutes returns the same as data, in a copy that the caller may change', async (t) => {
  const app = await start(t, (map) => map.resources('posts', { only: ['list', 'show'] }))
  const formats = ['xml', 'html', 'json']
  const routes = [
    { name: 'posts', verb: 'GET', path: '/posts', action: 'posts#list', formats },
    { name: 'posts', verb: 'QUERY', path: '/posts', action: 'posts#list', formats },
    { name: 'post', verb: 'GET', path: '/posts/:id', action: 'posts#show', formats }
  ]
  t.strictSame(app.resourceRoutes, routes);
  (app.resourceRoutes as unknown[]).length = 0
  t.strictSame(app.resourceRoutes, routes)
})

/** A word (plural or not), its singular, the plural of that, and its dasherised, camelised and humanised forms. */
type Row = [word: string, singular: string, plural: string, dashes: string, camel: string, label: string]
type Difference = { ours: string, theirs: string, why: string }

const rows = JSON.parse(readFileSync(new URL('../vectors/inflections.json', import.meta.url), 'utf8')) as Row[]

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The columns of a word, with our function for each. We never dasherise names. */
const columns: [what: string, ours: (word: string) => string, theirs: (row: Row) => string][] = [
  ['singular', singularize, ([, singular]) => singular],
  ['plural', (word) => pluralize(singularize(word)), ([, , plural]) => plural],
  ['camel case', (word) => capitalize(camelize(word)), ([, , , , camel]) => camel],
  ['human name', humanize, ([, , , , , label]) => label],
  ['label', (word) => labelOf({ name: word, schema: {} }), ([, , , , , label]) => label]
]

/** Our deliberate differences from the software that made the vectors. */
const differences: { [what: string]: Difference } = {
  'singular of feet': { ours: 'foot', theirs: 'feet', why: 'English' },
  'plural of feet': { ours: 'feet', theirs: 'feets', why: 'English' },
  'singular of leaves': { ours: 'leaf', theirs: 'leafe', why: 'English' },
  'singular of slaves': { ours: 'slave', theirs: 'slafe', why: 'English' },
  'singular of saves': { ours: 'save', theirs: 'safe', why: 'what is saved is more often named than a safe' },
  'singular of drives': { ours: 'drive', theirs: 'drife', why: 'English' },
  'singular of bases': {
    ours: 'base', theirs: 'basis', why: 'bases of knowledge or data are more often named than those of a reason'
  },
  'plural of octopi': { ours: 'octopuses', theirs: 'octopi', why: 'English: the word is Greek; octopi is read, too' },
  'singular of funky_jeans': {
    ours: 'funky_jeans', theirs: 'funky_jean', why: 'the last word decides, and jeans have no singular'
  },
  'camel case of admin/posts': { ours: 'AdminPosts', theirs: 'Admin::Posts', why: 'a name of JavaScript, not of Ruby' },
  'label of parent_id': { ours: 'Parent id', theirs: 'Parent', why: 'a label leaves out no word' },
  'label of URL': { ours: 'URL', theirs: 'Url', why: 'an abbreviation keeps its capitals' },
  'label of BlogPost': { ours: 'Blog post', theirs: 'Blogpost', why: 'a label has the words of the name' }
}

t.test('words are inflected as in Rails, except for the listed differences', async (t) => {
  const found: { [what: string]: Pick<Difference, 'ours' | 'theirs'> } = {}
  for (const row of rows) {
    for (const [what, tell, told] of columns) {
      const [ours, theirs] = [tell(row[0]), told(row)]
      if (ours !== theirs) found[`${what} of ${row[0]}`] = { ours, theirs }
    }
  }
  t.strictSame(found,
    Object.fromEntries(Object.entries(differences).map(([what, { ours, theirs }]) => [what, { ours, theirs }])))
})

// The values are those of ActiveSupport 6.1.7 for the name with underscores in place of dots and hyphens.
t.test('the human name of an attribute is the one that clients of the convention compute', (t) => {
  const names: Array<[name: string, human: string]> = [
    ['first_name', 'First name'], ['author_id', 'Author'], ['id', 'Id'], ['_id', 'Id'], ['__x', 'X'], ['a__b', 'A  b'],
    ['first_name_', 'First name '],
    ['dueOn', 'Dueon'], ['homeURL', 'Homeurl'], ['über_uns', 'über uns'], ['first-name', 'First name'],
    ['author.name', 'Author name'], ['lines.0.post_id', 'Lines 0 post'],
    ['_', '_']
  ]
  for (const [name, human] of names) t.equal(humanize(name), human, name)
  t.end()
})

t.test('the functions return what the types promise', async (t) => {
  for (const [name, singular] of certain) t.equal(singularize(name), singular, name)
  for (const [name, singular] of uncertain) t.equal(singularize(name), singular, name)
  for (const [name, camel] of camelCased) t.equal(camelize(name), camel, name)
})

t.test('each singular has a plural that leads back to it', async (t) => {
  const words = [...rows.map(([word]) => word), ...[...certain, ...uncertain].map(([name]) => name),
    ...Object.keys(IRREGULAR_NOUNS), ...Object.values(IRREGULAR_NOUNS), ...Object.keys(OTHER_PLURALS), ...UNCOUNTABLE]
  // A word of SINGULAR has the plural of another noun.
  for (const word of words.filter((word) => !SINGULAR.some((singular) => singular === word))) {
    const singular = singularize(word)
    t.equal(singularize(singular), singular, `${word} in the singular`)
    t.equal(singularize(pluralize(singular)), singular, `${word} there and back`)
    t.equal(pluralize(pluralize(singular)), pluralize(singular), `${word} in the plural`)
  }
})

const plurals: [singular: string, plural: string][] = [
  ['post', 'posts'], ['category', 'categories'], ['day', 'days'], ['box', 'boxes'], ['address', 'addresses'],
  ['status', 'statuses'], ['virus', 'viruses'], ['canvas', 'canvases'], ['lens', 'lenses'], ['bias', 'biases'],
  ['epoch', 'epochs'], ['schema', 'schemas'], ['german', 'germans'], ['specimen', 'specimens'],
  ['person', 'people'], ['child', 'children'], ['woman', 'women'], ['mouse', 'mice'], ['foot', 'feet'], ['ox', 'oxen'],
  ['index', 'indices'], ['criterion', 'criteria'], ['analysis', 'analyses'], ['basis', 'bases'],
  ['octopus', 'octopuses'],
  ['stadium', 'stadia'], ['aquarium', 'aquaria'], ['blogStadium', 'blogStadia'], ['premium', 'premiums'],
  ['museum', 'museums'], ['album', 'albums'],
  ['cookie', 'cookies'], ['cache', 'caches'], ['hero', 'heroes'], ['knife', 'knives'], ['cpu', 'cpus'],
  ['agenda', 'agendas'],
  ['funky_person', 'funky_people'], ['blog-category', 'blog-categories'], ['blogPost', 'blogPosts'],
  ['admin/post', 'admin/posts'],
  ['leftFoot', 'leftFeet'], ['Person', 'People'], ['BlogPost', 'BlogPosts'], ['HTTPStatus', 'HTTPStatuses'],
  ['post2', 'post2s'], ['données', 'données'],
  // The ending after capitals is in lower case, since `URLS` would look like an abbreviation.
  ['URL', 'URLs'], ['userID', 'userIDs'], ['SMS', 'SMS']
]

t.test('a singular becomes its plural and a plural stays', async (t) => {
  for (const [singular, plural] of plurals) {
    t.equal(pluralize(singular), plural)
    t.equal(pluralize(plural), plural)
  }
})

t.test('a singular keeps the capitals of its plural', async (t) => {
  for (const [
    plural, singular
  ] of [
      ['Premia', 'Premium'], ['spectra', 'spectrum'], ['People', 'Person'], ['PEOPLE', 'PERSON'],
      ['CATEGORIES', 'CATEGORY'], ['POSTS', 'POST'], ['BlogPosts', 'BlogPost'], ['URLs', 'URL'], ['userIDs', 'userID'],
      ['APIs', 'API'], ['VPs', 'VP'], ['Cafés', 'Café']
    ] as const) {
    t.equal(singularize(plural), singular)
  }
})

t.test('a name that is only an ending, or has no last word, stays the same', async (t) => {
  for (const name of ['s', 'S', '', '_', 'posts_', 'x-', 'constructor', '__proto__']) t.equal(singularize(name), name)
  for (const name of ['', '_', 'posts_']) t.equal(pluralize(name), name)
})

t.test('the time for a long name grows linearly', async (t) => {
  const long = 'a'.repeat(1_000_000)
  const start = performance.now()
  for (const name of [long, `${long}_`, long.toUpperCase(), `${long}s`]) singularize(name)
  t.ok(performance.now() - start < 5000)
})
