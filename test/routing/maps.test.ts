import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import resources, {
  type Authorize, draw, type Mapper, memoryStore, type ResourceMapper, type ResourceOptions
} from '../../lib/index.js'
import '../support/helper.js'
import { textStore } from '../support/stores/text-store.js'

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
