import { Readable } from 'node:stream'
import formbody from '@fastify/formbody'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, { memoryStore, type ResourceOptions } from '../../lib/index.js'
import { build, draft, post, types, xml } from '../support/helper.js'
import { form, accepts, problems, clients, attributes, send, isRefused, create, titles } from '../support/manners.js'
import { resettableStore } from '../support/stores/resettable-store.js'

/** Returns all property names of an object, inherited ones included. */
function namesOf (object: object): string[] {
  const names: string[] = []
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    names.push(...Reflect.ownKeys(at).map(String))
  }
  return names.sort()
}

t.test('an app answers its own routes as it does without the plugin', async t => {
  function addRoutes (app: FastifyInstance): void {
    const echo = (request: FastifyRequest): object => ({
      body: request.body ?? null, type: typeof request.body, query: request.query
    })
    app.all('/echo', echo)
    app.get('/names', (request, reply) => ({ request: namesOf(request), reply: namesOf(reply) }))
    app.get('/fail', () => { throw Object.assign(new Error('mine'), { statusCode: 418 }) })
    app.get('/crash', () => { throw new Error('mine') })
    app.get('/text', (_request, reply) => reply.type('application/xml').send('<mine/>'))
    app.get('/stream', (_request, reply) => reply.type('text/csv').send(Readable.from(['a,', 'b'])))
    app.post('/coerced', { schema: { body: { type: 'object', properties: { n: { type: 'integer' } } } } }, echo)
    app.get('/picked', { schema: { response: { 200: { type: 'object', properties: { a: { type: 'string' } } } } } },
      () => ({ a: 'A', b: 'B' }))
    app.get('/postscript', () => ({ mine: true }))
    app.get('/', () => 'home')
    app.register(async (scope) => { scope.all('/echo', echo) }, { prefix: '/nested' })
  }

  function make (where: 'nowhere' | 'before' | 'after' | 'beside'): FastifyInstance {
    const app = fastify()
    t.teardown(() => app.close())
    if (where === 'before') app.register(resources, { name: 'posts', attributes })
    addRoutes(app)
    if (where === 'after') app.register(resources, { name: 'posts', attributes })
    if (where === 'beside') {
      app.register(async (scope) => { scope.register(resources, { name: 'posts', attributes, writes: 'both' }) })
    }
    return app
  }

  const requests: InjectOptions[] = [...['/echo',
    '/nested/echo'].flatMap((url): InjectOptions[] => [send('POST', url, 'application/json', '{"a":1}'),
    send('POST', url, 'application/json', '{"__proto__":{}}'), send('POST', url, 'application/json', '{'),
    send('POST', url, 'application/json', ''), send('POST', url, 'text/plain', 'plain'),
    send('POST', url, 'application/xml', '<a/>'), send('POST', url, form, 'a=1'),
    send('POST', url, 'text/csv', 'a,b'), send('DELETE', url, 'application/json', '{"a":1}'),
    {
      ...send('POST', url, 'application/json', '{}'),
      headers: { 'content-type': 'application/json', origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }
    }, { url: `${url}?format=xml&a=1&a=2` }, { url, headers: { accept: 'image/png' } },
    { method: 'PATCH', url }]), { url: '/names' },
  ...['/fail', '/crash', '/text', '/stream', '/picked', '/postscript', '/', '/nowhere', '/nested',
    '/post', '/posts-and-more', '/postss/1'].flatMap((url) =>
    Object.values(accepts).map((accept) => ({ url, headers: { accept } }))), { url: '/fail.xml' }, {
    method: 'HEAD', url: '/text'
  }, {
    method: 'OPTIONS', url: '/nowhere'
  }, { method: 'POST', url: '/nowhere' }, send('POST', '/coerced', 'application/json', '{"n":"5","m":"6"}'),
  send('POST', '/coerced', 'application/json', '{"n":"x"}')]
  const plain = make('nowhere')
  for (const where of ['before', 'after', 'beside'] as const) {
    await t.test(`registered ${where}`, async t => {
      const app = make(where)
      t.equal((await create(app, '/posts', 'T')).statusCode, 201, 'the resource is served')
      for (const request of requests) {
        const [mine, expected] = [await app.inject(request), await plain.inject(request)]
        const { date, ...headers } = mine.headers
        const { date: _, ...expectedHeaders } = expected.headers
        t.strictSame([mine.statusCode, headers, mine.body], [expected.statusCode, expectedHeaders, expected.body],
          `${String(request.method ?? 'GET')} ${String(request.url)}`)
      }
    })
  }
})

const OURS = ['paths', 'printResources', 'resourceRoutes', 'Symbol(fastify-resources.names)']

t.test('the plugin changes nothing in the app itself', async t => {
  const plain = fastify()
  const app = fastify()
  t.teardown(async () => { await Promise.all([plain.close(), app.close()]) })
  app.register(resources, { name: 'posts', attributes })
  await Promise.all([plain.ready(), app.ready()])
  t.strictSame(namesOf(app).filter((name) => !OURS.includes(name)), namesOf(plain),
    'the only new decorators are those of the routing module')
  for (const type of ['application/json', 'text/plain', 'application/xml', form]) {
    t.equal(app.hasContentTypeParser(type), plain.hasContentTypeParser(type), type)
  }
  t.strictSame([app.errorHandler, app.validatorCompiler, app.serializerCompiler].map(String),
    [plain.errorHandler, plain.validatorCompiler, plain.serializerCompiler].map(String))
})

t.test('resources do not disturb each other', async t => {
  await t.test('the same name under two prefixes has two stores', async t => {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(resources, { name: 'posts', attributes, prefix: '/a' })
    app.register(resources, { name: 'posts', attributes, prefix: '/b' })
    app.register(async (scope) => { scope.register(resources, { name: 'posts', attributes, prefix: '/d' }) },
      { prefix: '/c' })
    for (const [index, prefix] of ['/a', '/b', '/c/d'].entries()) {
      for (let count = 0; count <= index; count++) {
        const res = await create(app, `${prefix}/posts`, `${prefix} ${count}`)
        t.strictSame([res.statusCode, res.headers.location], [201, `${prefix}/posts/${count + 1}`],
          'each store counts its own ids')
      }
    }
    t.strictSame(await titles(app, '/a/posts'), ['/a 0'])
    t.strictSame(await titles(app, '/b/posts'), ['/b 0', '/b 1'])
    t.strictSame(await titles(app, '/c/d/posts'), ['/c/d 0', '/c/d 1', '/c/d 2'])
    t.equal((await app.inject('/posts')).statusCode, 404)
    t.match((await app.inject('/c/d/posts.html')).body, 'action="/c/d/posts"')
  })
})

t.test('a prefix with parameters around a resource throws, since Fastify does not tell where it ends', async t => {
  for (const prefix of ['/:tenant', '/a/:tenant/b', '/*', '/a-:x']) {
    const outer = fastify()
    outer.register(async (scope) => { scope.register(resources, { name: 'posts' }) }, { prefix })
    await t.rejects(async () => { await outer.ready() },
      { code: 'FST_RESOURCES_INVALID_OPTION', message: /"prefix".*parameters/ }, `around: ${prefix}`)
  }
})

t.test('a resource\'s own prefix may have parameters, and its links fill them in', async (t) => {
  for (const [
    prefix, path, other
  ] of [['/:tenant', '/acme', '/b%C3%BC'], ['/a/:tenant/b', '/a/x%20y/b', '/a/z/b'], ['a-:x/', '/a-1', '/a-2'],
      ['/:year(^\\d{4}$)', '/2026', '/2025']] as const) {
    const app = await build(t, { name: 'posts', attributes, prefix })
    const created = await create(app, `${path}/posts`, 'T')
    t.strictSame([created.statusCode, created.headers.location], [201, `${path}/posts/1`], prefix)
    t.equal((await app.inject(`${other}/posts/1`)).statusCode, 200,
      'all prefixes have the same rows unless a scope separates them')
    t.match((await app.inject(`${path}/posts.json?limit=1`)).headers, { 'content-type': types.json })
    const page = (await app.inject(`${path}/posts.html`)).body
    t.match(page, `action="${path}/posts"`)
    const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page) ?? []
    t.match(await app.inject(stylesheet), { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8' } },
      stylesheet)
  }
  for (const prefix of ['/*', '/:a/:a', '/a/:b?']) {
    const app = fastify()
    app.register(resources, { name: 'posts', prefix })
    await t.rejects(async () => { await app.ready() }, { code: 'FST_RESOURCES_INVALID_OPTION' }, prefix)
  }
})

t.test('an app that uses formbody keeps it', async t => {
  const cases: [name: string, register: (app: FastifyInstance) => void][] = [
    ['before', (app) => {
      app.register(formbody, { parser: (text) => ({ mine: text }) })
      app.register(resources, { name: 'posts', attributes })
    }],
    ['after', (app) => {
      app.register(resources, { name: 'posts', attributes })
      app.register(formbody, { parser: (text) => ({ mine: text }) })
    }],
    ['as a parser of its own', (app) => {
      app.addContentTypeParser(form, { parseAs: 'string' }, (_request, body, done) => { done(null, { mine: body }) })
      app.register(resources, { name: 'posts', attributes })
    }]
  ]
  for (const [name, register] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    register(app)
    app.post('/echo', (request) => ({ body: request.body }))
    t.strictSame((await app.inject(send('POST', '/echo', form, 'a[b]=1'))).json(), { body: { mine: 'a[b]=1' } }, name)
    const res = await app.inject(send('POST', '/posts', form, 'post[title]=T'))
    t.strictSame([res.statusCode, res.headers.location], [303, '/posts/1'], name)
    t.strictSame(await titles(app, '/posts'), ['T'])
  }
})

t.test('an app keeps its own parsers, and the plugin\'s parsers read the plugin\'s bodies', async t => {
  const app = await build(t, { name: 'posts', attributes }, {
    before (app) {
      app.removeContentTypeParser('application/json')
      app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
        done(null, { mine: body })
      })
      app.addContentTypeParser(/xml$/, { parseAs: 'string' }, (_request, body, done) => { done(null, { xml: body }) })
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => { done(null, { any: body }) })
      app.post('/echo', (request) => ({ body: request.body }))
    }
  })
  t.strictSame((await app.inject(send('POST', '/echo', 'application/json', '{}'))).json(), { body: { mine: '{}' } })
  t.strictSame((await app.inject(send('POST', '/echo', 'application/xml', '<a/>'))).json(), { body: { xml: '<a/>' } })
  t.strictSame((await app.inject(send('POST', '/echo', 'text/csv', 'a'))).json(), { body: { any: 'a' } })
  t.equal((await app.inject(send('POST', '/posts', 'application/json', '{"post":{"title":"T"}}'))).statusCode, 201)
  t.equal((await app.inject(send('POST', '/posts', 'application/xml; ; charset="utf-8";',
    '<post><title>U</title></post>'))).statusCode, 201)
  t.equal((await app.inject(send('POST', '/posts', 'text/csv', 'title'))).statusCode, 415)
  t.equal((await app.inject(send('POST', '/posts', 'image/svg+xml', '<post/>'))).statusCode, 415)
  t.strictSame(await titles(app, '/posts'), ['T', 'U'])
})

t.test('any thrown value is answered as a problem', async t => {
  const cases: [name: string, thrown: unknown, status: number, detail: string][] = [
    ['null', null, 500, 'something went wrong on the server'],
    ['a text', 'secret', 500, 'something went wrong on the server'],
    ['an object with a status', { statusCode: 404, message: 'not here' }, 404, 'not here'],
    ['an object whose message is none', { statusCode: 404, message: 5 }, 404, 'Not Found'],
    ['an error without a message', Object.assign(new Error(''), { statusCode: 404 }), 404, 'Not Found'],
    ['an error with a status that has no name', Object.assign(new Error('gone'), { statusCode: 499 }), 499, 'gone'],
    ['an error with a status of success', Object.assign(new Error('secret'), { statusCode: 200 }), 500,
      'something went wrong on the server'],
    ['an error with a status that is a text', Object.assign(new Error('secret'), { statusCode: '404' }), 500,
      'something went wrong on the server'],
    ['an error of the server with a status', Object.assign(new Error('secret'), { statusCode: 502 }), 502,
      'something went wrong on the server']
  ]
  let current: unknown
  const fail = (): never => { throw current }
  const apps = [await build(t, { name: 'posts', store: { ...memoryStore(), get: fail } }),
    await build(t, { name: 'posts', store: { ...memoryStore(), get: async () => fail() } }),
    await build(t, { name: 'posts' }, { before: (app) => { app.addHook('preHandler', async () => fail()) } })]
  for (const [name, thrown, status, detail] of cases) {
    t.comment(name)
    current = thrown
    for (const app of apps) await isRefused(t, app, { url: '/posts/1' }, status, detail)
  }
})

t.test('a hook of the app sees a write as a JSON object, whatever its format', async t => {
  const open = { title: 'T', tags: ['a', 'b'], rating: 5, published: false }
  const cases: [name: string, request: InjectOptions, body: unknown][] = [
    ['JSON', send('POST', '/posts', 'application/json', '{"post":{"title":"T","tags":["a","b"],"rating":5}}'),
      { post: open }],
    ['XML', send('POST', '/posts', 'application/xml',
      '<post><title>T</title><tags><tag>a</tag><tag>b</tag></tags><rating>5</rating></post>'), { post: open }],
    ['a form', send('POST', '/posts', form, 'post[title]=T&post[tags][]=a&post[tags][]=b&post[rating]=5&commit=Create'),
      { post: open }],
    ['an update by JSON', send('PUT', '/posts', 'application/json', '{"id":1,"post":{"title":"U"}}'),
      { id: 1, post: { title: 'U' } }],
    ['an update by XML', send('PUT', '/posts', 'application/xml', '<post><id>1</id><title>U</title></post>'),
      { id: 1, post: { title: 'U' } }],
    ['an update by a form', send('PUT', '/posts', form, 'id=1&post[title]=U'), { id: 1, post: { title: 'U' } }],
    ['an update by the form of a browser', send('POST', '/posts', form, '_method=PUT&_version=1&id=1&post[title]=U'),
      { id: 1, post: { title: 'U' } }],
    ['an update of a member', send('PUT', '/posts/1', 'application/xml', '<post><title>U</title></post>'),
      { id: 1, post: { title: 'U' } }],
    ['a delete by JSON', send('DELETE', '/posts', 'application/json', '{"id":1}'), { id: 1, post: {} }],
    ['a delete by a form', send('POST', '/posts', form, '_method=DELETE&id=1'), { id: 1, post: {} }],
    ['a delete without a body', { method: 'DELETE', url: '/posts/1' }, { id: 1, post: {} }],
    ['a list', { url: '/posts' }, undefined]
  ]
  const seen: unknown[] = []
  const store = resettableStore(() => {
    const store = memoryStore()
    store.create({ title: 'first' }, {})
    return store
  })
  const app = await build(t, { name: 'posts', attributes: post, writes: 'both', store },
    { before: (app) => { app.addHook('preHandler', async (request) => { seen.push(request.body) }) } })
  for (const [name, request, body] of cases) {
    seen.length = 0
    store.reset()
    const res = await app.inject(request)
    t.ok(res.statusCode < 400, `${name}: ${res.statusCode} ${res.body}`)
    t.strictSame(seen, [body], name)
  }
})

t.test('a hook of the app sees the payload and may add headers', async t => {
  async function seeded (t: Test, before: (app: FastifyInstance) => void): Promise<FastifyInstance> {
    const store = memoryStore()
    store.create({ title: 'T' }, {})
    return await build(t, { name: 'posts', attributes, store }, { before })
  }
  const record = {
    xml: `${xml}<post><id type="integer">1</id><title>T</title></post>`,
    json: '{"post":{"id":1,"title":"T"}}',
    html: /^<!DOCTYPE html>[^]*<\/html>\n$/
  }
  const list = {
    xml: `${xml}<posts type="array"><post><id type="integer">1</id><title>T</title></post></posts>`,
    json: '{"posts":[{"id":1,"title":"T"}]}',
    html: /^<!DOCTYPE html>[^]*<\/html>\n$/
  }

  await t.test('onSend runs once for each answer, and its headers are sent', async t => {
    const seen: string[] = []
    const app = await seeded(t, (app) => {
      app.addHook('onSend', async (request, reply, payload) => {
        seen.push(`${request.method} ${request.url} ${reply.statusCode}`)
        reply.header('x-app', 'seen')
        return payload
      })
    })
    for (const client of clients) {
      for (const [url, status, body] of [['/posts/1', 200, record], ['/posts', 200, list], ['/posts/9', 404, undefined],
        ['/posts?x=1', 400, undefined]] as const) {
        const res = await app.inject({ url, headers: { accept: accepts[client] } })
        t.strictSame([res.statusCode, res.headers['content-type'], res.headers['x-app']],
          [status, status === 200 ? types[client] : problems[client], 'seen'])
        if (body !== undefined) t.match(res.body, body[client])
        t.strictSame(seen.splice(0), [`GET ${url} ${status}`], client)
      }
    }
    for (const [request, status] of [
      [send('POST', '/posts', form, 'post[title]=U'), 303],
      [{ method: 'DELETE', url: '/posts?id=2' }, 204],
      [{ method: 'OPTIONS', url: '/posts' }, 204],
      [{ url: '/posts/1', headers: { 'if-none-match': '*' } }, 304]
    ] as const) {
      const res = await app.inject(request)
      t.strictSame([res.statusCode, res.body, res.headers['x-app'], seen.splice(0).length], [status, '', 'seen', 1])
    }
  })

  await t.test('onSend sees JSON as a string, or as a stream for a long list', async t => {
    const seen: unknown[] = []
    const store = memoryStore()
    for (let id = 1; id <= 2000; id++) store.create({ title: 'T' }, {})
    const app = await build(t, { name: 'posts', attributes, store },
      { before: (app) => { app.addHook('onSend', async (_request, _reply, payload) => { seen.push(payload) }) } })
    const list = await app.inject('/posts.json')
    t.ok(seen.pop() instanceof Readable)
    t.equal(list.json<{ posts: unknown[] }>().posts.length, 2000)
    for (const url of ['/posts/1.json', '/posts.json?limit=2', '/posts/0.json', '/posts.json?limit=0']) {
      const { body } = await app.inject(url)
      t.strictSame(seen.splice(0), [body])
    }
  })

  await t.test('only JSON calls preSerialization, with the record as an object', async t => {
    const seen: unknown[] = []
    const app = await seeded(t, (app) => {
      app.addHook('preSerialization', async (_request, _reply, payload) => {
        seen.push(structuredClone(payload))
        return payload
      })
    })
    for (const [
      client, expected
    ] of [['json', [{ post: { id: 1, title: 'T' } }]], ['xml', []], ['html', []]] as const) {
      const res = await app.inject({ url: '/posts/1', headers: { accept: accepts[client] } })
      t.match(res.body, record[client])
      t.strictSame(seen.splice(0), expected)
    }
  })

  await t.test('an object that a hook sends itself is left alone', async t => {
    const app = await seeded(t, (app) => {
      app.addHook('preHandler', async (_request, reply) => reply.send({ maintenance: true }))
    })
    for (const client of ['xml', 'json'] as const) {
      for (const url of ['/posts', '/posts/1']) {
        const res = await app.inject({ url, headers: { accept: accepts[client] } })
        t.strictSame([res.statusCode, res.headers['content-type']], [200, types.json], `${client} ${url}`)
        t.strictSame(res.json(), { maintenance: true })
      }
    }
  })
})

t.test('the app\'s own Link header is kept beside the link to the next page, and in errors', async t => {
  const style = '</style.css>; rel="preload"'
  const terms = '</terms>; rel="terms-of-service"'
  let isFailing = false
  let own: string | string[] | undefined
  const store = memoryStore()
  for (const title of ['T', 'U']) store.create({ title }, {})
  const hooks = {
    onSend: async (_request: FastifyRequest, reply: FastifyReply) => {
      if (isFailing && reply.statusCode < 400) throw new Error('no')
    }
  }
  const app = await build(t, { name: 'posts', attributes, store, hooks }, {
    before: (app) => {
      app.addHook('onRequest', async (_request, reply) => { if (own !== undefined) reply.header('link', own) })
    }
  })
  for (const link of [style, [style, terms], undefined]) {
    for (const client of clients) {
      own = link
      isFailing = false
      const linksOf = async (url: string, status: number): Promise<string[]> => {
        const { statusCode, headers: { link } } = await app.inject({ url, headers: { accept: accepts[client] } })
        t.equal(statusCode, status, `${client} ${url}`)
        return link === undefined ? [] : [link].flat().join(', ').split(', ')
      }
      const kept = [own ?? []].flat()
      const links = await linksOf('/posts?limit=1', 200)
      t.match(links.slice(-3), ['</posts?limit=1>; rel="self"', '</posts?limit=1>; rel="first"',
        /^<\/posts\?limit=1&after=[^>]+>; rel="next"$/])
      t.strictSame(links.slice(0, -3), kept)
      for (const [url, status] of [['/posts.json', 200], ['/posts/99', 404], ['/posts?nope', 400]] as const) {
        t.strictSame(await linksOf(url, status), kept, url)
      }
      isFailing = true
      t.strictSame(await linksOf('/posts?limit=1', 500), kept,
        'a page that could not be sent has no link to the next one')
    }
  }
})

t.test('the app\'s serializer never sees a writeOnly attribute', async t => {
  const store = memoryStore()
  store.create({ title: 'T', password: 'secret', undeclared: 'secret' }, {})
  const secretive = {
    type: 'object', properties: { title: { type: 'string' }, password: { type: 'string', writeOnly: true } }
  } as const
  for (const before of [
    (app: FastifyInstance) => { app.setReplySerializer((payload) => JSON.stringify(payload)) },
    (app: FastifyInstance) => {
      app.addHook('preHandler', async (_request, reply) => {
        reply.serializer((payload: unknown) => JSON.stringify(payload))
      })
    },
    (app: FastifyInstance) => {
      app.addHook('preSerialization', async (_request, _reply, payload) =>
        JSON.parse(JSON.stringify({ post: { title: JSON.stringify(payload) } })) as unknown)
    }
  ]) {
    const app = await build(t, { name: 'posts', attributes: secretive, store }, { before })
    for (const url of ['/posts/1.json', '/posts.json', '/posts/1.xml', '/posts/1.html']) {
      const res = await app.inject(url)
      t.equal(res.statusCode, 200)
      t.notMatch(res.body, 'secret')
    }
  }
})

const PRIVATE = 'private, no-cache'
type Client = keyof typeof accepts

async function cached (t: Test, options: Omit<ResourceOptions, 'name'> = {},
  before: (app: FastifyInstance) => void = () => {}): Promise<FastifyInstance> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of ['T', 'U']) store.create({ title }, {})
  return await build(t, { name: 'posts', attributes: post, store, ...options }, { before })
}

/** Checks the status and the Cache-Control of an answer, and that it sends nosniff. */
async function isCached (t: Test, app: FastifyInstance, client: Client, request: InjectOptions, status: number,
  value: string, label = ''): Promise<void> {
  const { statusCode, headers } = await app.inject({
    ...request, headers: { accept: accepts[client], ...request.headers }
  })
  t.strictSame([statusCode, headers['cache-control'], headers['x-content-type-options']], [status, value, 'nosniff'],
    `${label} ${client}: ${request.method ?? 'GET'} ${String(request.url)}`)
}

const created = { post: { title: 'New' } }
const submitted = (payload: string): InjectOptions => ({
  method: 'POST', url: '/posts', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload
})

t.test('every answer is private, whatever its status', async (t) => {
  const failing = {
    show: ({ id, proceed }: { id: unknown, proceed: () => unknown }) => {
      if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  for (const client of ['xml', 'json', 'html'] as const) {
    const isPage = client === 'html'
    const cases: Array<[status: number, request: InjectOptions]> = [
      [200, { url: '/posts' }],
      [200, { url: '/posts/1' }],
      [200, { method: 'HEAD', url: '/posts' }],
      [304, { url: '/posts/1', headers: { 'if-none-match': '*' } }],
      [200, { url: '/posts.xsd' }],
      [isPage ? 303 : 201, { method: 'POST', url: '/posts', payload: created }],
      [isPage ? 303 : 200, { method: 'PUT', url: '/posts', payload: { id: 1, post: { rating: 1 } } }],
      [isPage ? 303 : 200, submitted('_method=PUT&id=1&post[rating]=2')],
      [isPage ? 303 : 204, { method: 'DELETE', url: '/posts?id=3' }],
      [204, { method: 'OPTIONS', url: '/posts' }],
      [400, { url: '/posts?nope' }],
      [400, { method: 'POST', url: '/posts', headers: { 'content-type': 'application/json' }, payload: '{' }],
      [200, { url: '/posts/1', headers: { 'x-answer': '1' } }],
      [403, { method: 'DELETE', url: '/posts?id=1', headers: { 'sec-fetch-site': 'cross-site' } }],
      [404, { url: '/posts/99' }],
      [405, { method: 'DELETE', url: '/posts/1' }],
      [406, { url: '/posts?format=csv' }],
      [409, { method: 'POST', url: '/posts', payload: { post: { title: 'U' } } }],
      [412, { method: 'PUT', url: '/posts', headers: { 'if-match': '"9.json"' }, payload: { id: 1, post: {} } }],
      [413, { method: 'POST', url: '/posts', payload: { post: { body: 'x'.repeat(1_100_000) } } }],
      [415, { method: 'POST', url: '/posts', headers: { 'content-type': 'a/b' }, payload: 'x' }],
      [422, { method: 'POST', url: '/posts', payload: { post: {} } }],
      [422, submitted('post[title]=')],
      [500, { url: '/posts/2' }]
    ]
    const app = await cached(t, { xsd: true, actions: failing }, (app) => {
      app.addHook('onRequest', async ({ headers }, reply) => {
        if (headers['x-refuse'] !== undefined) throw Object.assign(new Error('who are you?'), { statusCode: 401 })
        if (headers['x-answer'] !== undefined) return await reply.send('mine')
      })
    })
    for (const [status, request] of cases) await isCached(t, app, client, request, status, PRIVATE)
    const [, sheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec((await app.inject('/posts.html')).body) ?? []
    await isCached(t, app, client, { url: sheet }, 200, 'public, max-age=31536000, immutable')
    await isCached(t, app, client, { url: sheet, headers: { 'x-refuse': '1' } }, 401, PRIVATE)
  }
})

t.test('the app\'s own Cache-Control stays, but an error discards an earlier one that is not no-store', async (t) => {
  const own = 'public, max-age=60'
  const byHook = (value: string, name: 'onRequest' | 'preHandler' | 'onSend') => (app: FastifyInstance): void => {
    app.addHook(name, async (_request: unknown, reply: { header: (name: string, value: string) => unknown }) => {
      reply.header('Cache-Control', value)
    })
  }
  const handlers = {
    show: ({ id, reply, proceed }: {
      id: unknown, reply: { header: (name: string, value: string) => unknown }, proceed: () => unknown
    }) => {
      reply.header('cache-control', own); if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  const apps: Array<[name: string, app: FastifyInstance, found: string, failed: string]> = [
    ['a hook before everything', await cached(t, {}, byHook(own, 'onRequest')), own, PRIVATE],
    ['a hook that forbids to store', await cached(t, {}, byHook('No-Store', 'onRequest')), 'No-Store', 'No-Store'],
    ['a hook that sees all that is sent', await cached(t, {}, byHook(own, 'onSend')), own, own],
    ['a handler', await cached(t, { actions: handlers }), own, PRIVATE]
  ]
  for (const [name, app, found, failed] of apps) {
    for (const client of ['xml', 'json', 'html'] as const) {
      await isCached(t, app, client, { url: '/posts/1' }, 200, found, name)
      await isCached(t, app, client, { url: '/posts/1', headers: { 'if-none-match': '*' } }, 304, found, name)
      await isCached(t, app, client, { url: '/posts/99' }, 404, name.startsWith('a handler') ? PRIVATE : failed, name)
    }
  }
  await isCached(t, apps.at(-1)?.[1] as FastifyInstance, 'json', { url: '/posts/2' }, 500, PRIVATE, 'what has failed')
  const app = await cached(t, {}, (app) => {
    app.addHook('onRequest', async () => {
      throw Object.assign(new Error('gone'), { statusCode: 410, headers: { 'cache-control': own } })
    })
  })
  await isCached(t, app, 'json', { url: '/posts/1' }, 410, own, 'an error that says it')
})

t.test('the option cacheControl overrides the header, for all actions or for each', async (t) => {
  const month = 'public, max-age=2592000'
  for (const client of ['xml', 'json', 'html'] as const) {
    const tag = { 'if-none-match': '*' }
    const all = await cached(t, { cacheControl: month, xsd: true, formPages: true })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [200, { url: '/posts/1' }, month],
      [200, { method: 'HEAD', url: '/posts/1' }, month], [304, { url: '/posts/1', headers: tag }, month],
      [200, { url: '/posts/new' }, month], [200, { url: '/posts/1/edit' }, month],
      [client === 'html' ? 303 : 201, { method: 'POST', url: '/posts', payload: created }, month],
      [404, { url: '/posts/99' }, PRIVATE], [400, { url: '/posts?nope' }, PRIVATE],
      [412, { method: 'DELETE', url: '/posts?id=1', headers: { 'if-match': '"9.json"' } }, PRIVATE],
      [405, { method: 'PUT', url: '/posts/1' }, PRIVATE], [204, { method: 'OPTIONS', url: '/posts' }, PRIVATE],
      [200, { url: '/posts.xsd' }, PRIVATE]
    ] as const) await isCached(t, all, client, request, status, value, 'for all')

    const some = await draft(t, (map) => map.resources('posts',
      {
        attributes: post,
        cacheControl: { list: month, top: 'no-store', publish: 'no-cache', delete: undefined as never }
      }, (posts) => posts
        .collection.get('top', ({ query }) => { if (query.no !== undefined) throw new Error('no'); return [] })
        .collection.get('bottom', () => [])
        .member.post('publish', ({ id, attributes, store, guard, signal }) =>
          store.update(id, { published: true, ...attributes }, guard, { signal }))))
    await some.inject({ method: 'POST', url: '/posts', payload: created })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [404, { url: '/posts/9' }, PRIVATE], [200, { url: '/posts/1' }, PRIVATE],
      [200, { url: '/posts/top' }, 'no-store'], [200, { url: '/posts/bottom' }, PRIVATE],
      [400, { url: '/posts/top?no=1' }, 'no-store'],
      [client === 'html' ? 303 : 200, { method: 'POST', url: '/posts/1/publish' }, 'no-cache'],
      [404, { method: 'POST', url: '/posts/9/publish' }, PRIVATE]
    ] as const) await isCached(t, some, client, request, status, value, 'for some')
  }
})

t.test('an answer of the app\'s hook does not get the header of the action', async (t) => {
  const month = 'public, max-age=2592000'
  const hook = (app: FastifyInstance): void => {
    app.addHook('preHandler', async ({ headers }, reply) => {
      if (headers['x-redirect'] !== undefined) return await reply.redirect('/login')
      if (headers['x-answer'] !== undefined) return await reply.send('mine')
    })
  }
  const handled =
    { show: ({ reply }: { reply: { send: (body: string) => unknown } }) => { reply.send('own') } } as never
  const app = await cached(t, { cacheControl: month, actions: handled }, hook)
  const unstored = await cached(t, { cacheControl: 'no-store' }, hook)
  for (const client of ['xml', 'json', 'html'] as const) {
    for (const url of ['/posts', '/posts/1']) {
      await isCached(t, app, client, { url }, 200, month)
      for (const [status, header] of [[302, 'x-redirect'], [200, 'x-answer']] as const) {
        await isCached(t, app, client, { url, headers: { [header]: '1' } }, status, PRIVATE)
        await isCached(t, unstored, client, { url, headers: { [header]: '1' } }, status, 'no-store')
      }
    }
  }
})

t.test('an invalid cacheControl throws at registration', async (t) => {
  const cases: Array<[cacheControl: unknown, says: string | RegExp]> = [
    [60,
      'must be directives such as \'public, max-age=60\', or directives by action such as ' +
        '{ list: \'public, max-age=60\' }, not 60'],
    ...['', ' ', 'public max-age=60', 'max-age = 60', 'public,', 'public\r\nset-cookie: a=b', 'öffentlich',
      'a="b'].flatMap((value): Array<[unknown, string | RegExp]> => [
      [value, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`],
      [{ list: value }, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`]
    ]),
    [{ list: 60 }, /separated by commas, not 60\.$/],
    [{ lists: 'public' }, 'has "lists", which is not one of list, show, create, update, delete; did you mean "list"?'],
    [{ edit: 'public' }, 'has "edit", which is not one of list, show, create, update, delete']
  ]
  for (const [cacheControl, says] of cases) {
    const message = typeof says === 'string'
      ? `Option "cacheControl" of resource "posts" ${says}${says.endsWith('?') ? '' : '.'}`
      : says
    const refused = build(t, { name: 'posts', cacheControl: cacheControl as string })
    await t.rejects(refused, { code: 'FST_RESOURCES_INVALID_OPTION', message }, JSON.stringify(cacheControl))
  }
  for (const cacheControl of [undefined, {}, 'no-store',
    'max-age=60, private="set-cookie, x", stale-while-revalidate=5 , immutable',
    { list: 'public', show: undefined as never }]) {
    await t.resolves(build(t, { name: 'posts', cacheControl } as ResourceOptions), JSON.stringify(cacheControl))
  }
})
