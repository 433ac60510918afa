import { setTimeout as delay } from 'node:timers/promises'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'
import { Type } from '@sinclair/typebox'
import resources, {
  type Attributes, type AttributesSchema, type Authorize, draw, type Mapper, memoryStore, type Problem,
  type ResourceMapper, type ResourceOptions
} from '../../lib/index.js'
import { build, propertiesOf, send, xml } from '../support/helper.js'
import { textStore } from '../support/stores/text-store.js'
import { findForm, shown } from '../support/html/forms.js'
import { resettableStore } from '../support/stores/resettable-store.js'

const json = { accept: 'application/json' }
const html = { accept: 'text/html' }
const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' }

async function open (t: Test, declare: (map: Mapper) => unknown, options: object = {},
  server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  app.register(draw(declare), options)
  await app.ready()
  return app
}

t.test('a map that would lose a declaration throws at startup', async t => {
  // Only programs without types can make these mistakes.
  const wrong = (value: unknown): never => value as never
  const cases: Array<[declare: (map: Mapper) => unknown, message: RegExp, code?: string]> = [
    [(map) => map.resources('posts', wrong(() => {})), /"posts" must be followed by options/],
    [(map) => map.scope(wrong(() => ({})), () => {}), /"scope" must be followed by options/],
    [(map) => map.scope({}, wrong(undefined)), /"scope" must be followed by a function/],
    [(map) => map.namespace('a', wrong(undefined)), /must be followed by a function/],
    [async (map) => { await delay(1); map.resources('posts') },
      /"draw" must be followed by a function that is not async/],
    [wrong(5), /"draw" must be followed by a function/],
    [(map) => map.resources([]), /must be a name, or a list with at least one name/],
    [(map) => map.resources('posts', { only: [] }), /"only" of resource "posts" leaves neither an action/],
    [(map) => map.resources('posts', wrong({ prefix: '/a' })),
      /"prefix" of resource "posts" is an option of app\.register/],
    [(map) => map.scope({ path: ':t', constraints: { t: { enum: ['a'] } } },
      (map) => map.resources('posts', { constraints: { t: {} } })),
    /"constraints" of \S+ \S+ has "t", which the scope around it has already/],
    [(map) => map.concerns('imagable'), /"imagable", which is not declared before this call/],
    [(map) => map.concern('tree', (map) => map.concerns('tree')).concerns('tree'),
      /"concerns" names "tree", which includes itself without end/],
    [(map) => map.concern('a', wrong(5)), /"a" must be a function/],
    [(map) => map.scope(wrong({ actions: {} }), () => {}),
      /"actions" of \S+ \S+ belongs to a single resource, not to a scope/],
    [(map) => map.resources('posts', { path: 'a/../b' }), /"path" of \S+ \S+ must be a segment/],
    [(map) => map.resources('posts', { routeConstraints: wrong(5) }),
      /"routeConstraints" of \S+ \S+ must be route constraints/],
    [(map) => map.resources('posts', { as: 'a b' }), /"as" of \S+ \S+ must be a name/],
    [(map) => map.resources('posts', { actions: wrong(5) }), /"actions" of \S+ \S+ must be functions by action/],
    [(map) => map.resources('posts', { actions: wrong({ lst: () => [] }) }),
      /"actions" of \S+ \S+ has "lst".*did you mean "list"/],
    [(map) => map.resources('posts', { foreignKey: 'userId' }),
      /"foreignKey" of resource "posts" can be given only to a resource that is nested/],
    ...['id', '__proto__'].map((foreignKey): (typeof cases)[number] => [
      (map) => map.resources('posts', {}, (posts) => posts.resources('comments', { foreignKey })),
      /"foreignKey" of \S+ \S+ must be the name of an attribute, but no attribute can be called "\w+"/]),
    [(map) => map.resources('posts', { routeConstraints: { host: 'a', version: '1.0.0' }, only: 'list' })
      .resources('posts', { routeConstraints: { version: '1.0.0', host: 'a' }, only: 'list' }), /both have GET \/posts/,
    'CLASH'],
    [(map) => map.resources('posts', {},
      (posts) => posts.member.post('publish', wrong(() => {}), wrong({ hooks: {} }))),
    /"handler" of action "publish" of resource "posts" must be the last argument/],
    [(map) => map.resources('posts', {}, (posts) => posts.member.post('publish', wrong({ lable: 'x' }), () => {})),
      /"lable" of action "publish" of resource "posts"; did you mean "label"/, 'UNKNOWN_OPTION'],
    [(map) => map.resources('posts', {},
      (posts) => posts.collection.get('search',
        {
          query: {
            type: 'object', properties: { q: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }
          }
        }, () => [])),
    /"query" of action "search" of resource "posts" has "tags", which must be a text, a number or a boolean/],
    [(map) => map.resources('posts', {},
      (posts) => posts.member.get('a', { attributes: { type: 'object', properties: {} } }, () => {})),
    /"attributes" of action "a" of resource "posts" cannot be given, because a GET has no body/],
    [(map) => map.resources('posts', { only: [] }, (posts) => posts.resources('comments')),
      /"store" of resource "posts" is required, because a request for a nested resource looks up the row of this/],
    [(map) => map.resources('posts', {},
      (posts) => posts.resources('comments',
        { store: { ...memoryStore(), attributes: { type: 'object', properties: { title: { type: 'string' } } } } })),
    /"store" of \S+ \S+ must keep "postId".*as an integer/],
    [(map) => map.resources('posts', { id: 'uuid' },
      (posts) => posts.resources('comments',
        { store: { ...memoryStore(), attributes: { type: 'object', properties: { postId: { type: 'integer' } } } } })),
    /"store" of \S+ \S+ must keep "postId".*as a string of the format uuid\.$/],
    [(map) => map.resources('posts', {}, (posts) => posts.member.get('a', { label: wrong(5) }, () => {})),
      /"label" of action "a" of resource "posts" must be a text or false/],
    [(map) => map.resources('posts', {}, (posts) => posts.member.post('a', { attributes: wrong(5) }, () => {})),
      /"attributes" of action "a" of resource "posts" must be a JSON Schema/],
    [(map) => map.resources('posts', {},
      (posts) => posts.member.get('a', { query: wrong({ type: 'array' }) }, () => {})),
    /"query" of action "a" of resource "posts"/],
    [(map) => map.resources('posts', {},
      (posts) => posts.member.get('a', { query: { type: 'object', properties: { format: {} } } }, () => {})),
    /"query" of action "a" of resource "posts" has "format"/]
  ]
  for (const [declare, message, code = 'INVALID_OPTION'] of cases) {
    await t.rejects(async () => { await fastify().register(draw(declare)) }, { code: `FST_RESOURCES_${code}`, message },
      String(message))
  }
})

t.test('a declaration after the map has been drawn throws', async (t) => {
  let outer: Mapper | undefined
  let scope: Mapper | undefined
  let posts: ResourceMapper | undefined
  const app = await open(t, (map) => {
    outer = map
    map.scope({}, (map) => { scope = map })
    map.resources('posts', {}, (map) => { posts = map as unknown as ResourceMapper })
    // While the map is being drawn, declarations are allowed.
    scope?.resources('cats')
    posts?.resources('comments')
  })
  for (const url of ['/cats', '/posts']) t.equal((await app.inject(url)).statusCode, 200, url)
  const late: Array<[name: string, declare: () => unknown]> = [
    ['dogs', () => outer?.resources('dogs')],
    ['profile', () => outer?.resource('profile')],
    ['logs', () => outer?.namespace('admin', (map) => map.resources('logs'))],
    ['dogs', () => scope?.resources('dogs')],
    ['likes', () => posts?.resources('likes')],
    ['recent', () => posts?.collection.get('recent', () => [])],
    ['publish', () => posts?.member.post('publish', () => {})]
  ]
  for (const [name, declare] of late) {
    t.throws(declare, {
      code: 'FST_RESOURCES_INVALID_OPTION',
      message: new RegExp(`"draw" has ended already, so "${name}" cannot be declared`)
    })
  }
})

t.test('a resource may serve only its nested resources', async (t) => {
  const posts = memoryStore()
  posts.create({ title: 'T' }, {})
  const app = await open(t, (map) => map.resources('posts', { only: [], store: posts },
    (posts) => posts.resources('comments')))
  t.equal((await app.inject('/posts/1/comments')).statusCode, 200)
  t.equal((await app.inject('/posts/2/comments')).statusCode, 404)
  t.equal((await app.inject('/posts')).statusCode, 404)
  t.strictSame([...new Set(app.resourceRoutes.map(({ name }) => name))], ['postComments', 'postComment'])
  t.strictSame(Object.keys(app.paths), ['postComments', 'postComment'])
})

t.test('the constraints of a scope also apply to nested scopes', async (t) => {
  const app = await open(t, (map) => map
    .scope({ path: ':t', constraints: { t: { enum: ['a'] } } },
      (map) => map.resources('posts', { constraints: { id: { maximum: 5 } } },
        (posts) => posts.resources('comments', { shallow: true })))
    .scope({ routeConstraints: { host: 'admin.example' } },
      (map) => map.resources('logs', { routeConstraints: { version: '1.0.0' } })))
  await app.inject({ method: 'POST', url: '/a/posts', payload: { post: { title: 'T' } } })
  await app.inject({ method: 'POST', url: '/a/posts/1/comments', payload: { comment: { body: 'B' } } })
  for (const [url, status] of [['/a/posts/1/comments', 200], ['/b/posts/1/comments', 404], ['/a/posts', 200],
    ['/b/posts', 404], ['/a/posts/1', 200], ['/a/posts/6', 404], ['/a/comments/1', 200],
    ['/b/comments/1', 404]] as const) {
    t.equal((await app.inject(url)).statusCode, status, url)
  }
  const logs = async (host: string, version?: string): Promise<number> =>
    (await app.inject({
      url: '/logs', headers: { host, ...(version !== undefined && { 'accept-version': version }) }
    })).statusCode
  t.strictSame([await logs('admin.example', '1.0.0'), await logs('evil.example', '1.0.0'), await logs('admin.example')],
    [200, 404, 404])
})

t.test('links encode the prefix around a resource once', async (t) => {
  for (const [prefix, encoded] of [['/ü', '/%C3%BC'], ['/a b', '/a%20b']] as const) {
    const app = fastify()
    t.teardown(() => app.close())
    let path: string | undefined
    app.register(async (scope) => {
      await scope.register(resources, { name: 'posts' })
      path = scope.paths.post?.(1)
    }, { prefix })
    const created = await app.inject({ method: 'POST', url: `${encoded}/posts`, payload: { post: { title: 'T' } } })
    t.strictSame([created.statusCode, created.headers.location, path],
      [201, `${encoded}/posts/1`, `${encoded}/posts/1`])
    t.equal((await app.inject(`${encoded}/posts/1`)).statusCode, 200)
    const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(
      (await app.inject({ url: `${encoded}/posts`, headers: html })).body) ?? []
    t.equal((await app.inject(stylesheet)).statusCode, 200)
  }
})

t.test('the page of a stale custom action offers only a link to the row', async (t) => {
  const store = memoryStore()
  store.create({ title: 'T' }, {})
  const options: Omit<ResourceOptions, 'name' | 'actions'> = { store, except: 'delete' }
  const app = await open(t, (map) => map.resources('posts', options,
    (posts) => posts.member.post('publish', ({ id, guard }) => store.update(id, { published: true }, guard))))
  store.update(1, { title: 'U' }, { version: '1', scope: {} })
  const late = await app.inject({ method: 'POST', url: '/posts/1/publish', headers: form, payload: '_version=1' })
  t.equal(late.statusCode, 412)
  t.notMatch(late.body, /<form/)
  t.match(late.body, /<a href="\/posts\/1">/)
  const inTime = await app.inject({ method: 'POST', url: '/posts/1/publish', headers: form, payload: '_version=2' })
  t.strictSame([inTime.statusCode, inTime.headers.location], [303, '/posts/1'])
})

t.test('a shallow row in nested parents links back to its list', async (t) => {
  const projects = memoryStore()
  projects.create({ name: 'P' }, {})
  const tasks = memoryStore()
  tasks.create({ name: 'T' }, { projectId: 1 })
  const notes = memoryStore()
  for (const scope of [{ taskId: 1 }, { taskId: 1 }, { taskId: 9 }, {}]) notes.create({ text: 'N' }, scope)
  const app = await open(t, (map) => map.resources('projects', { store: projects },
    (projects) => projects.resources('tasks', { store: tasks },
      (tasks) => tasks.resources('notes', { store: notes, shallow: true }))))
  const page = (await app.inject({ url: '/notes/1', headers: html })).body
  t.match(page, /<a href="\/projects\/1\/tasks\/1">Task 1<\/a>/)
  t.match(page, /<a href="\/projects\/1\/tasks\/1\/notes">Notes<\/a>/)
  const gone = await app.inject({ method: 'POST', url: '/notes', headers: form, payload: '_method=DELETE&id=1' })
  t.strictSame([gone.statusCode, gone.headers.location], [303, '/projects/1/tasks/1/notes'])
  for (const id of [3, 4]) {
    t.notMatch((await app.inject({ url: `/notes/${id}`, headers: html })).body, /<a href="\/(?:projects|notes")/,
      'the parents of the row are unknown')
  }
  t.strictSame((await app.inject({ url: '/notes/2', headers: json })).json(), { note: { id: 2, text: 'N', taskId: 1 } })
})

t.test('an app whose decorators have the plugin\'s names gets an error', async (t) => {
  for (const name of ['paths', 'printResources', 'resourceRoutes']) {
    const app = fastify()
    app.decorate(name, {})
    await t.rejects(async () => { await app.register(resources, { name: 'posts' }) },
      { code: 'FST_RESOURCES_INVALID_OPTION', message: new RegExp(`decorated with "${name}" already`) })
    const outer = fastify()
    outer.decorate(name, {})
    outer.register(async (scope) => { await scope.register(resources, { name: 'posts' }) })
    await t.rejects(async () => { await outer.ready() }, { code: 'FST_RESOURCES_INVALID_OPTION' })
  }
})

t.test('nested rows belong to the current row of their singleton', async (t) => {
  const profiles = memoryStore()
  const authorize: Authorize = async (_request, { row }) => { await row?.(); return true }
  const app = await open(t, (map) => map
    .resource('profile', { store: profiles }, (profile) => profile.resources('links', { authorize })
      .resources('marks', { scope: () => ({ profileId: 99 }) })
      .resources('notes', { shallow: true })
      .resource('badge', {}, (badge) => badge.resources('pins')))
    .resource('secret', { authorize: ({ headers }) => headers['x-key'] === 'open' },
      (secret) => secret.resources('hints', { shallow: true }))
    .resources('posts', {}, (posts) => posts.resource('cover', {}, (cover) => cover.resources('spots'))))
  const make = async (url: string, name: string, headers: Record<string, string> = json): Promise<number> =>
    (await app.inject({ method: 'POST', url, headers, payload: { [name]: { text: 'x' } } })).statusCode
  t.equal((await app.inject('/profile/links/1')).statusCode, 404, 'there is no profile')
  t.equal(await make('/profile/links', 'link'), 404)
  profiles.create({ name: 'P' }, {})
  for (const [url, name] of [['/profile/links', 'link'], ['/profile/notes', 'note'], ['/profile/badge', 'badge'],
    ['/profile/badge/pins', 'pin'], ['/posts', 'post'], ['/posts/1/cover', 'cover'],
    ['/posts/1/cover/spots', 'spot']] as const) {
    t.equal(await make(url, name), 201, url)
  }
  t.equal((await app.inject('/profile/links/1')).statusCode, 200)
  t.equal(await make('/profile/marks', 'mark'), 404, 'the scope selects another profile')
  for (const url of ['/notes/1', '/profile/badge/pins/1', '/posts/1/cover/spots/1']) {
    t.equal((await app.inject({ url, headers: html })).statusCode, 200, url)
  }
  t.match((await app.inject({ url: '/posts/1/cover/spots/1', headers: html })).body,
    /<a href="\/posts\/1\/cover">Cover<\/a>/)
  const key = { ...json, 'x-key': 'open' }
  t.strictSame([await make('/secret', 'secret', key), await make('/secret/hints', 'hint', key)], [201, 201])
  t.strictSame([(await app.inject({ url: '/hints/1', headers: key })).statusCode,
    (await app.inject({ url: '/hints/1', headers: json })).statusCode], [200, 403])
})

t.test('a shallow row belongs to the singleton of its own parent', async (t) => {
  const asked: unknown[] = []
  const authorize: Authorize = async (_request, { resource, id, row }) => {
    asked.push([resource, id, (await row?.())?.id])
    return true
  }
  const app = await open(t, (map) => map.resources('users', {},
    (users) => users.resource('profile', { authorize }, (profile) => profile.resources('photos', { shallow: true }))))
  for (const id of [1, 2]) {
    for (const [url, name] of [['/users', 'user'], [`/users/${id}/profile`, 'profile'],
      [`/users/${id}/profile/photos`, 'photo']] as const) {
      t.equal((await app.inject({ method: 'POST', url, headers: json, payload: { [name]: { text: 'x' } } })).statusCode,
        201, url)
    }
  }
  asked.length = 0
  t.strictSame((await app.inject({ url: '/photos/2', headers: json })).json(),
    { photo: { id: 2, text: 'x', profileId: 2 } })
  t.strictSame(asked, [['profile', undefined, 2]])
  const gone = await app.inject({ method: 'POST', url: '/photos', headers: form, payload: '_method=DELETE&id=2' })
  t.strictSame([gone.statusCode, gone.headers.location], [303, '/users/2/profile/photos'])
})

t.test('a shallow row of a hidden parent is answered to the byte like a missing one', async (t) => {
  const authorize: Authorize = ({ headers }, { resource }) => headers['x-user'] === 'ada' || resource !== 'posts' ||
    'hide'
  const app = await open(t, (map) => map.resources('posts', { authorize },
    (posts) => posts.resources('comments', { shallow: true, writes: 'both' },
      (comments) => comments.resources('likes'))))
  const ada = { ...json, 'x-user': 'ada' }
  for (const [url, name] of [['/posts', 'post'], ['/posts/1/comments', 'comment']] as const) {
    t.equal((await app.inject({ method: 'POST', url, headers: ada, payload: { [name]: { text: 'x' } } })).statusCode,
      201, url)
  }
  const answers = async (id: number): Promise<string[]> => {
    const requests = [json, html, { accept: 'application/xml' }].flatMap((headers) => [
      { url: `/comments/${id}`, headers }, { url: `/comments/${id}/likes`, headers },
      { method: 'PUT' as const, url: '/comments', headers, payload: { id, comment: { text: 'y' } } },
      { method: 'DELETE' as const, url: `/comments?id=${id}`, headers },
      {
        method: 'POST' as const,
        url: '/comments',
        headers: { ...headers, 'content-type': form['content-type'] },
        payload: `_method=DELETE&id=${id}`
      }
    ])
    return Promise.all(requests.map(async (request) => {
      const { statusCode, body } = await app.inject(request)
      return `${statusCode} ${body.replaceAll(new RegExp(`(id |comments/|value=")${id}\\b`, 'g'), '$1ID')}`
    }))
  }
  t.strictSame(await answers(1), await answers(9))
  t.strictSame((await app.inject({ url: '/comments/1', headers: ada })).statusCode, 200)
})

t.test('after a deletion in a resource without a list a browser is sent to the parent', async (t) => {
  const app = await open(t, (map) => map.resources('posts', {},
    (posts) => posts.resources('comments', { except: 'list', writes: 'both' })).resources('notes', { except: 'list' }))
  for (const [url, name, location] of [['/posts', 'post', '/posts/1'], ['/posts/1/comments', 'comment', '/posts/1'],
    ['/notes', 'note', '/notes']] as const) {
    await app.inject({ method: 'POST', url, headers: json, payload: { [name]: { text: 'x' } } })
    if (name === 'post') continue
    const gone = await app.inject({ method: 'POST', url, headers: form, payload: '_method=DELETE&id=1' })
    t.strictSame([gone.statusCode, gone.headers.location], [303, location])
  }
})

t.test('a page links to a nested resource only if it can be shown and its path needs no further parameter',
  async (t) => {
    const app = await open(t, (map) => map.resources('posts', {},
      (posts) => posts.resources('comments').resource('cover')
        .scope({ path: ':lang' }, (posts) => posts.resources('translations'))
        .resources('likes', { only: ['create'] })
        .resource('draft', { except: 'show' })))
    await app.inject({ method: 'POST', url: '/posts', headers: json, payload: { post: { title: 'T' } } })
    const { body } = await app.inject({ url: '/posts/1', headers: html })
    t.strictSame([...body.matchAll(/href="(\/posts\/1\/[^".]*)"/g)].map(([, href]) => href),
      ['/posts/1/cover', '/posts/1/comments', '/posts/1/comments#new'])
  })

t.test('an id that no path can have is not found', async (t) => {
  const app = await open(t, (map) => map.resources('files', { id: 'string', store: textStore() }))
  for (const id of ['.', '..']) {
    t.equal((await app.inject({ method: 'DELETE', url: `/files?id=${id}`, headers: json })).statusCode, 404, id)
  }
})

t.test('forms have pages of their own in a map with stores, unless it says otherwise', async (t) => {
  const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map
    .resources('posts', { attributes })
    .resources('notes', { attributes, formPages: false })
    .resources('tags', { attributes, store: memoryStore() }), { stores: { open: () => memoryStore() } }))
  for (const [path, status] of [['posts', 200], ['notes', 404], ['tags', 404]] as const) {
    t.equal((await app.inject(`/${path}/new.html`)).statusCode, status, path)
  }
})

const formType = 'application/x-www-form-urlencoded'
const name = 'posts'

t.test('a TypeBox schema is accepted as it is', async t => {
  const Post = Type.Object({
    title: Type.String({ minLength: 1 }),
    body: Type.Optional(Type.String()),
    rating: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    state: Type.Optional(Type.Union([Type.Literal('draft'), Type.Literal('live')])),
    level: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2), Type.Null()])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    scores: Type.Optional(Type.Record(Type.String(), Type.Number())),
    at: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
    author: Type.Optional(Type.Object({ name: Type.String(), mail: Type.Optional(Type.String({ format: 'email' })) }))
  }, { $id: 'Post', title: 'A post' })
  const row = {
    title: 'T',
    rating: 3,
    state: 'live',
    level: 2,
    tags: ['a', 'b'],
    scores: { x: 1.5 },
    at: null,
    author: { name: 'N' }
  }
  const document =
    '<title>T</title><rating type="integer">3</rating><state>live</state><level type="float">2</level><tags ' +
      'type="array"><tag>a</tag><tag>b</tag></tags><scores><x type="float">1.5</x></scores><at ' +
        'nil="true"/><author><name>N</name></author>'

  await t.test('each format reads and writes its values', async t => {
    const bodies: [type: string, payload: string][] = [
      ['application/json', JSON.stringify({ post: row })],
      ['application/xml', `<post>${document}</post>`],
      ['application/xml', '<post><title>T</title><rating>3</rating><state>live</state><level>2</level>' +
        '<tags><tag>a</tag><tag>b</tag></tags><scores><x>1.5</x></scores>' +
          '<at/><author><name>N</name></author></post>'],
      [formType, 'post[title]=T&post[rating]=3&post[state]=live&post[level]=2&post[tags][]=a&post[tags][]=b&' +
        'post[scores][x]=1.5&post[at][?]=null&post[author][name]=N']
    ]
    const store = resettableStore(memoryStore)
    const app = await build(t, { name, attributes: Post, store })
    for (const [type, payload] of bodies) {
      store.reset()
      const res = await app.inject(send('POST', '/posts.json', type, payload))
      t.strictSame([res.statusCode, res.json()], [201, { post: { id: 1, ...row } }], type)
      t.equal((await app.inject('/posts/1')).body, `${xml}<post><id type="integer">1</id>${document}</post>`)
      t.equal(shown(findForm(await app.inject('/posts/1.html'), 'PUT'), 'post[state]'), 'live')
    }
  })

  await t.test('an invalid value is reported', async t => {
    const app = await build(t, { name, attributes: Post })
    const res = await app.inject(send('POST', '/posts.json', 'application/json',
      JSON.stringify({
        post: {
          rating: 'x', tags: ['a', 5], scores: { a: 'b' }, author: { mail: 'x', nmae: 'N' }, at: 'now'
        }
      })))
    t.equal(res.statusCode, 422)
    t.match(res.json<Problem>().errors, {
      title: ['must be given'],
      rating: ['must be an integer or null'],
      'tags.1': ['must be a string'],
      'scores.a': ['must be a number'],
      'author.nmae': ['is unknown; did you mean "name"?']
    })
    for (const attribute of Object.keys(Post.properties)) {
      const wrong = await app.inject({
        method: 'PUT', url: '/posts.json', payload: { id: 1, post: { [attribute]: true } }
      })
      t.equal(wrong.statusCode, 422, attribute)
      t.strictSame(Object.keys(wrong.json<Problem>().errors ?? {}), [attribute])
    }
  })

  await t.test('intersections, enumerations and undeclared names work', async t => {
    const app = await build(t, {
      name,
      attributes: Type.Object({
        both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
        choice: Type.Enum({ A: 'a', B: 'b' }),
        anything: Type.Optional(Type.Any()),
        unknown: Type.Optional(Type.Unknown()),
        nothing: Type.Optional(Type.Null()),
        seen: Type.Readonly(Type.Optional(Type.Boolean()))
      }, { additionalProperties: false })
    })
    const row = {
      both: { a: '5', b: 5 }, choice: 'b', anything: { deep: [1] }, unknown: 'x', nothing: null, seen: true
    }
    const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: row })))
    t.equal(res.statusCode, 201)
    t.same(res.json(), { post: { id: 1, ...row } })
    const asXml = await app.inject(send('POST', '/posts.json', 'application/xml',
      '<post><both><a>5</a><b>5</b></both><choice>b</choice></post>'))
    t.same(asXml.json(), { post: { id: 2, both: { a: '5', b: 5 }, choice: 'b' } })
  })
})

t.test('references may point into the schema itself', async t => {
  for (const place of ['$defs', 'definitions'] as const) {
    await t.test(place, async t => {
      const schema = {
        type: 'object',
        required: ['stars'],
        properties: {
          stars: { $ref: `#/${place}/stars` },
          all: { type: 'array', items: { $ref: `#/${place}/stars` } },
          author: { $ref: `#/${place}/a~1person` },
          tree: { $ref: `#/${place}/node` },
          same: { $ref: '#/properties/stars' }
        },
        [place]: {
          stars: { type: 'integer', maximum: 5 },
          'a/person': {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, born: { $ref: `#/${place}/year` } }
          },
          year: { type: ['integer', 'null'] },
          node: {
            type: 'object',
            properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: `#/${place}/node` } } }
          }
        }
      } as const
      const row = {
        stars: 5,
        all: [1, 2],
        author: { name: 'N', born: null },
        tree: { name: 'a', children: [{ name: 'b' }] },
        same: 4
      }
      const document =
        '<post><stars>5</stars><all><one>1</one><one>2</one></all><author><name>N</name><born/></author>' +
          '<tree><name>a</name><children><child><name>b</name></child></children></tree><same>4</same></post>'
      const app = await build(t, { name, attributes: schema })
      for (const [type, payload] of [['application/json', JSON.stringify({ post: row })],
        ['application/xml', document]] as const) {
        const res = await app.inject(send('POST', '/posts.json', type, payload))
        t.equal(res.statusCode, 201, res.body)
        t.match(res.json(), { post: row })
      }
      const { body } = await app.inject('/posts/1.xml')
      t.match(body, '<stars type="integer">5</stars>')
      t.equal((await app.inject(send('PUT', '/posts.json?id=2', 'application/xml',
        body.replace('<id type="integer">1</id>', '')))).statusCode, 200, 'a written value can be read')
      const wrong = await app.inject(send('POST', '/posts.json', 'application/json',
        '{"post":{"stars":6,"all":["1"],"author":{"born":"x"},"tree":{"children":[{"name":5}]},"same":7}}'))
      t.strictSame(wrong.json<Problem>().errors, {
        stars: ['must be at most 5'],
        'all.0': ['must be an integer'],
        'author.name': ['must be given'],
        'author.born': ['must be an integer or null'],
        'tree.children.0.name': ['must be a string'],
        same: ['must be at most 5']
      })
    })
  }
})

t.test('a reference means the same in each format, with an $id anywhere', async t => {
  const integer = { type: 'integer' } as const
  const text = { type: 'string' } as const
  const definitions = { a: integer }
  const cases: ReadonlyArray<readonly [what: string, schema: object, isInner?: boolean]> = [
    ['an $id beside the reference', { properties: { it: { $id: 'x', $ref: '#/definitions/a' } }, definitions }],
    ['other keywords beside it', { properties: { it: { $ref: '#/definitions/a', minimum: 1 } }, definitions }],
    ['the $id of the whole', { $id: 'Whole', properties: { it: { $ref: 'Whole#/definitions/a' } }, definitions }],
    ['a relative $id', {
      $id: 'https://s.example/root',
      properties: { it: { $ref: 'sub/a' } },
      definitions: { a: { $id: 'sub/a', ...integer } }
    }],
    ['a pointer inside a part with an $id',
      {
        properties: {
          it: {
            $id: 'x', type: 'object', properties: { in: { $ref: '#/definitions/a' } }, definitions: { a: integer }
          }
        },
        definitions: { a: text }
      }, true],
    ['a name inside a part with an $id',
      {
        properties: { it: { $ref: 'https://s.example/b#n' } },
        definitions: {
          n: { $id: '#n', ...text }, b: { $id: 'https://s.example/b', definitions: { c: { $id: '#n', ...integer } } }
        }
      }]
  ]
  for (const [what, schema, isInner = false] of cases) {
    const app = await build(t, { name, attributes: { type: 'object', ...schema } as never })
    const bodies = [
      ['application/json', (value: unknown) => JSON.stringify({ post: { it: isInner ? { in: value } : value } })],
      ['application/xml', (value: unknown) =>
        `<post><it>${isInner ? `<in>${String(value)}</in>` : String(value)}</it></post>`],
      ['application/x-www-form-urlencoded', (value: unknown) => `post[it]${isInner ? '[in]' : ''}=${String(value)}`]
    ] as const
    for (const [type, write] of bodies) {
      const res = await app.inject(send('POST', '/posts.json', type, write(5)))
      t.match([res.statusCode, res.json()], [201, { post: { it: isInner ? { in: 5 } : 5 } }], `${what} ${type}`)
      t.equal((await app.inject(send('POST', '/posts.json', type, write('x')))).statusCode, 422,
        `${what} ${type} of a text`)
    }
  }
})

t.test('a fault of a schema is named with its attribute and its cure', async t => {
  const draft = 'https://json-schema.org/draft/2020-12/schema'
  const pattern = (text: string, reason: string): string =>
    `has the pattern '${text}', which is not a regular expression (${reason}); it is read with the flag "u", so ` +
      'escape each ' + 'character that has a meaning in patterns, and no other one'
  const missing = (reference: string): string =>
    `has a reference without a target: the reference "${reference}" has no target in the schema; declare it in ` +
      '"definitions", or share it by app.addSchema'
  const string = { type: 'string' } as const
  const cases: ReadonlyArray<readonly [schema: object, message: string]> = [
    [{ $schema: draft, properties: { a: string } },
      `"$schema" is '${draft}', but schemas are read as draft-07; leave it out`],
    [{ properties: { a: { $ref: '#/definitions/x' } } }, `"a" ${missing('#/definitions/x')}`],
    [{ properties: { a: { type: 'object', properties: { b: { $ref: 'Nope' } } } } }, `"a.b" ${missing('Nope')}`],
    [{ properties: { a: { $ref: '#/properties/a' } } },
      '"a" has the reference \'#/properties/a\', which leads only back to itself; refer to a schema that has a type'],
    [{ properties: { a: { ...string, pattern: '[' } } }, `"a" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { type: 'object', patternProperties: { '(': string } } } },
      `"a" ${pattern('(', 'Unterminated group')}`],
    [{ properties: { a: { $ref: '#/definitions/x' } }, definitions: { x: { ...string, pattern: '[' } } },
      `the definition "x" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { ...string, maxlength: 5 } } },
      '"a" cannot be compiled: strict mode: unknown keyword: "maxlength"']
  ]
  for (const [schema, message] of cases) {
    await t.rejects(build(t, { name, attributes: { type: 'object', ...schema } as never }),
      { message: `resources: attributes of "posts": ${message}` }, message)
  }
  await build(t, {
    name,
    attributes: {
      $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: string }
    } as never
  })
})

t.test('a schema that refers to itself applies at every depth', async t => {
  const app = await build(t, {
    name,
    attributes: {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            secret: { type: 'string', writeOnly: true },
            path: { type: 'string', readOnly: true },
            children: { type: 'array', items: { $ref: '#/$defs/node' } }
          }
        }
      }
    } as object as AttributesSchema
  })
  const nested = '<size>1</size><secret>swordfish</secret><path>/</path>'
  const bodies: [type: string, payload: string][] = [['application/json',
    '{"post":{"tree":{"size":1,"secret":"swordfish","path":"/","children":[' +
      '{"size":1,"secret":"swordfish","path":"/","children":[' +
        '{"size":1,"secret":"swordfish","path":"/","children":[]}]}]}}}'],
  ['application/xml',
            `<post><tree>${nested}<children><child>${nested}<children><child>${nested}<children/></child></children>` +
              '</child></children></tree></post>']]
  for (const [type, payload] of bodies) {
    const res = await app.inject(send('POST', '/posts.json', type, payload))
    t.strictSame([res.statusCode, res.json<{ post: Attributes }>().post.tree],
      [201, { size: 1, children: [{ size: 1, children: [{ size: 1, children: [] }] }] }], type)
    const { body } = await app.inject(`${String(res.headers.location)}.xml`)
    t.notMatch(body, 'swordfish')
    t.equal(body.match(/<size type="integer">1<\/size>/g)?.length, 3)
  }
})

t.test('an object may have members beside the declared ones', async t => {
  const schema = {
    type: 'object',
    properties: {
      seats: { type: 'object', properties: { row: { type: 'string' } }, additionalProperties: { type: 'integer' } }
    }
  } as const
  const value = { row: 'A', left: 5, right: 6 }
  const payloads: [type: string, payload: string][] = [
    ['application/json', JSON.stringify({ post: { seats: value } })],
    ['application/xml', '<post><seats><row>A</row><left>5</left><right>6</right></seats></post>'],
    [formType, 'post[seats][row]=A&post[seats][left]=5&post[seats][right]=6']
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, { name, attributes: schema, store })
  for (const [type, payload] of payloads) {
    store.reset()
    t.strictSame((await app.inject(send('POST', '/posts.json', type, payload))).json(),
      { post: { id: 1, seats: value } })
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id><seats><row>A</row>` +
      '<left type="integer">5</left><right type="integer">6</right></seats></post>', type)
    t.equal((await app.inject(send('POST', '/posts.xml', type,
      payload.replaceAll('6', 'x').replaceAll(':x', ':"x"')))).statusCode, 422)
  }
})

t.test('annotations of OpenAPI do not affect validation', async t => {
  const annotations = {
    xml: { name: 'other', wrapped: true },
    example: 'x',
    examples: ['x'],
    externalDocs: { url: 'https://docs.example' },
    deprecated: true,
    title: 'T',
    description: 'D',
    $comment: 'C',
    'x-order': 1,
    'x-deep': { 'x-deeper': [{}] }
  }
  const { externalDocs, ...top } = annotations
  const app = await build(t, {
    name,
    attributes: {
      ...top,
      type: 'object',
      properties: {
        title: { type: 'string', ...annotations, nullable: true },
        author: {
          type: 'object',
          ...annotations,
          discriminator: { propertyName: 'name' },
          properties: { name: { type: 'string', ...annotations } }
        },
        'x-ray': { type: 'integer', ...annotations }
      },
      $defs: { unused: { type: 'string', ...annotations } }
    } as object as AttributesSchema
  })
  t.equal(externalDocs.url, 'https://docs.example')
  const res = await app.inject(send('POST', '/posts', 'application/xml',
    '<post><title nil="true"/><author><name>N</name></author><x-ray>5</x-ray></post>'))
  t.equal(res.statusCode, 201)
  t.equal(res.body, `${xml}<post><id type="integer">1</id><title nil="true"/><author><name>N</name></author><x-ray ` +
    'type="integer">5</x-ray></post>')
  t.equal((await app.inject(send('POST', '/posts', 'application/xml',
    '<post><author><name nil="true"/></author></post>'))).statusCode, 422)
})

t.test('an unmet keyword is explained in words', async t => {
  const cases: [schema: object, value: unknown, says: string | RegExp][] = [
    [{ type: 'string', minLength: 1 }, '', 'must not be blank'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'must have at most 1 character'],
    [{ type: 'string', pattern: '^a+$' }, 'b', 'must match ^a+$'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"'],
    [{ allOf: [{ const: 'a' }] }, 'b', 'must be "a"'],
    [{ type: 'integer', minimum: 2 }, 1, 'must be at least 2'],
    [{ type: 'number', exclusiveMinimum: 2 }, 2, 'must be more than 2'],
    [{ type: 'number', multipleOf: 0.5 }, 0.7, 'must be a multiple of 0.5'],
    [{ type: 'array', minItems: 1 }, [], 'must have at least 1 item'],
    [{ type: 'array', maxItems: 1 }, ['a', 'b'], 'must have at most 1 item'],
    [{ type: 'array', uniqueItems: true }, ['a', 'a'], 'must not have the same item twice'],
    [{ type: 'array', contains: { const: 'a' } }, ['b'], /./],
    [{ type: 'object', minProperties: 1 }, {}, /fewer than 1/],
    [{ type: 'string', format: 'date' }, 'x', 'must be a date such as 2026-01-31'],
    [{ type: 'string', format: 'date-time' }, 'x', 'must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'time' }, 'x', 'must be a time such as 12:00:00Z'],
    [{ type: 'string', format: 'email' }, 'x', 'must be an e-mail address'],
    [{ type: 'string', format: 'uri' }, 'x', 'must be an absolute URL'],
    [{ type: 'string', format: 'uuid' }, 'x', 'must be a UUID in lower case'],
    [{ type: 'string', format: 'ipv4' }, 'x', 'must be a valid ipv4'],
    [{ not: { const: 'a' } }, 'a', 'is not valid'],
    [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'a', 'must be an integer or true or false'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 5, 'is not valid'],
    [{ type: ['integer', 'null'] }, 'a', 'must be an integer or null'],
    [{ type: 'object' }, [], 'must be an object'],
    [{ type: 'array' }, {}, 'must be an array'],
    [{ type: 'null' }, 'a', 'must be null']
  ]
  const app = await build(t, {
    name, attributes: { type: 'object', properties: propertiesOf(cases.map(([schema]) => schema)) }
  })
  for (const [index, [schema, value, says]] of cases.entries()) {
    const what = `${JSON.stringify(schema)}: ${JSON.stringify(value)}`
    const res = await app.inject(send('POST', '/posts.json', 'application/json',
      JSON.stringify({ post: { [`it${index}`]: value } })))
    t.equal(res.statusCode, 422, `${what}: ${res.body}`)
    t.match(res.json<Problem>().errors, { [`it${index}`]: [says] }, what)
  }
})
