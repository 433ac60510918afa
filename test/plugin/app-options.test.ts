import { Readable } from 'node:stream'
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, { draw, memoryStore, type ResourceOptions, type Mapper } from '../../lib/index.js'
import { build, post, types } from '../support/helper.js'
import {
  form, accepts, problems, clients, attributes, send, isRefused, create, titles, currency, start
} from '../support/manners.js'

t.test('the app\'s compilers and handlers keep serving the app and do not affect the plugin', async t => {
  const cases: [name: string, before: (app: FastifyInstance) => void][] = [
    ['setErrorHandler',
      (app) => { app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ mine: true })) }],
    ['setNotFoundHandler',
      (app) => { app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: true })) }],
    ['setValidatorCompiler',
      (app) => { app.setValidatorCompiler(() => () => { throw new Error('validated by the app') }) }],
    ['setSerializerCompiler', (app) => { app.setSerializerCompiler(() => () => 'serialized by the app') }],
    ['setSchemaErrorFormatter', (app) => { app.setSchemaErrorFormatter(() => new Error('formatted by the app')) }],
    [
      'decorators',
      (app) => {
        app.decorate('posts', 1).decorateRequest('state', undefined).decorateRequest('payload', undefined)
          .decorateReply('view', undefined)
      }
    ],
    ['schemas',
      (app) => { app.addSchema({ $id: 'attributes', type: 'null' }).addSchema({ $id: 'posts', type: 'null' }) }],
    ['methods', (app) => { app.addHttpMethod('PROPFIND', { hasBody: true }).addHttpMethod('MKCOL') }]
  ]
  for (const [name, before] of cases) {
    const app = await build(t, { name: 'posts', attributes }, { before })
    const requests: [request: InjectOptions, status: number][] = [
      [send('POST', '/posts', 'application/xml', '<post><title>T</title></post>'), 201],
      [{ url: '/posts' }, 200],
      [{ url: '/posts/1' }, 200],
      [{ url: '/posts/2' }, 404],
      [send('POST', '/posts', 'application/xml', '<post>'), 400],
      [send('POST', '/posts', 'application/xml', '<post><nothing>T</nothing></post>'), 422],
      [{ method: 'PATCH', url: '/posts' }, 405],
      [{ url: '/posts', headers: { accept: 'image/png' } }, 406]
    ]
    for (const [request, status] of requests) {
      const res = await app.inject(request)
      t.strictSame([res.statusCode, res.headers['content-type']], [status, types.xml],
        `${name}: ${String(request.method ?? 'GET')} ${String(request.url)}`)
      t.notMatch(res.body, /mine|by the app/)
    }
  }

  await t.test('the app still serves its own routes', async t => {
    const app = await build(t, { name: 'posts', attributes }, {
      before (app) {
        app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ mine: error.message }))
        app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: 'nothing' }))
        app.get('/fail', () => { throw new Error('failed') })
      }
    })
    const failed = await app.inject('/fail')
    t.strictSame([failed.statusCode, failed.json()], [418, { mine: 'failed' }])
    const missing = await app.inject({ url: '/nowhere', headers: { accept: accepts.xml } })
    t.strictSame([missing.statusCode, missing.json()], [404, { mine: 'nothing' }])
  })
})

t.test('a body beyond the limit of the app is refused in the format of the client', async t => {
  const app = await build(t, { name: 'posts', attributes }, { server: { bodyLimit: 100 } })
  const bodies: [type: string, write: (title: string) => string][] = [
    ['application/json', (title) => `{"post":{"title":"${title}"}}`],
    ['application/xml', (title) => `<post><title>${title}</title></post>`],
    [form, (title) => `post[title]=${title}`]
  ]
  for (const [type, write] of bodies) {
    const room = 100 - write('').length
    await isRefused(t, app, send('POST', '/posts', type, write('x'.repeat(room + 1))), 413)
    for (const client of clients) {
      const res = await app.inject({
        method: 'POST',
        url: '/posts',
        headers: { 'content-type': type, accept: accepts[client] },
        payload: Readable.from([write('x'.repeat(room + 1))])
      })
      t.strictSame([res.statusCode, res.headers['content-type']], [413, problems[client]],
        `${type} of unknown length for ${client}`)
    }
    t.ok((await app.inject(send('POST', '/posts', type, write('x'.repeat(room))))).statusCode < 400,
      'a body of one byte less is read')
  }
  t.equal((await titles(app, '/posts')).length, 3)
})

t.test('the app\'s parser reads a query', async t => {
  function nest (text: string): Record<string, unknown> {
    const query: Record<string, unknown> = {}
    for (const [name, value] of new URLSearchParams(text)) {
      const [, outer, inner] = /^(\w+)\[(\w*)\]$/.exec(name) ?? []
      if (outer === undefined) query[name] = query[name] === undefined ? value : [query[name], value]
      else if (inner === '') query[outer] = [query[outer] ?? [], value].flat()
      else query[outer] = { ...(query[outer] as object | undefined), [String(inner)]: value }
    }
    return query
  }
  const parsers: [name: string, server: FastifyServerOptions][] = [
    ['none of its own', {}],
    ['one that makes nested objects', { routerOptions: { querystringParser: nest } }],
    ['one whose objects have no prototype',
      { routerOptions: { querystringParser: (text) => Object.assign(Object.create(null) as object, nest(text)) } }]
  ]
  for (const [name, server] of parsers) {
    await t.test(name, async t => {
      const store = memoryStore()
      for (const title of ['T', 'U', 'V']) store.create({ title }, {})
      const app = await build(t, { name: 'posts', attributes, store }, { server })
      t.strictSame(await titles(app, '/posts?limit=2'), ['T', 'U'])
      t.equal((await app.inject('/posts?format=json')).headers['content-type'], types.json)
      for (const query of [
        'limit[]=2', 'limit[a]=2', 'limit=2&limit=3', 'limit[__proto__]=2', 'format[]=json', 'format[toString]=x',
        'after[]=WzFd', 'after[length]=4', 'post[title]=T', 'x=1', 'constructor=1', 'toString=1'
      ]) {
        await isRefused(t, app, { url: `/posts?${query}` }, 400)
      }
      for (const query of ['id[a]=1', 'id=1&id=1', 'id=1&format[]=json', 'id=1&id[]=2']) {
        await isRefused(t, app, { method: 'DELETE', url: `/posts?${query}` }, 400)
      }
      t.strictSame(await titles(app, '/posts'), ['T', 'U', 'V'])
    })
  }
})

t.test('the router accepts the app\'s options', async t => {
  async function seeded (
    t: Test, server: FastifyServerOptions, options: Omit<ResourceOptions, 'name'> = {}
  ): Promise<FastifyInstance> {
    const store = memoryStore()
    for (const title of ['T', 'U', 'V']) store.create({ title }, {})
    return await build(t, { name: 'posts', attributes, store, writes: 'both', ...options }, { server })
  }

  async function isServed (
    t: Test, app: FastifyInstance, urls: ReadonlyArray<readonly [url: string, type: string]>
  ): Promise<void> {
    for (const [url, type] of urls) {
      const res = await app.inject(url)
      t.strictSame([res.statusCode, res.headers['content-type']], [200, type], url)
    }
  }

  await t.test('ignoreTrailingSlash', async t => {
    const app = await seeded(t, { routerOptions: { ignoreTrailingSlash: true } })
    await isServed(t, app, [['/posts/', types.xml], ['/posts.json/', types.json], ['/posts/1/', types.xml],
      ['/posts/1.json/', types.json], ['/posts/?format=html', types.html], ['/posts', types.xml]])
    t.equal((await app.inject('/posts/?limit=1')).headers.link, (await app.inject('/posts?limit=1')).headers.link)
    t.equal((await app.inject({ method: 'POST', url: '/posts/', payload: { post: { title: 'W' } } })).headers.location,
      '/posts/4')
    t.equal((await app.inject({ method: 'DELETE', url: '/posts/4/' })).statusCode, 204)
    t.match((await app.inject({ method: 'OPTIONS', url: '/posts/1/' })).headers.allow, 'PATCH')
  })

  await t.test('without ignoreTrailingSlash a path with a trailing slash is not found', async t => {
    const says = 'there is nothing here: leave out the slash at the end of the path'
    const store = memoryStore()
    store.create({ title: 'T', postId: 1 }, {})
    const app = fastify()
    t.teardown(() => app.close())
    app.register(draw((map) => map
      .resources('posts', { attributes, store, writes: 'both', formPages: true }, (posts) => posts
        .resources('comments', { attributes, shallow: true })
        .resource('cover', { attributes })
        .collection.get('recent', () => []))
      .resources('notes', { attributes, only: ['list', 'create'] })
      .resources('tags', { attributes, only: ['show'] })))
    app.register(async (scope) => { scope.register(resources, { name: 'posts', attributes, prefix: '/b' }) },
      { prefix: '/a' })
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('nothing of ours'))
    await app.ready()
    for (const url of ['/posts/', '/posts/99/?x', '/posts/new/', '/posts/recent/', '/comments/', '/tags/',
      '/a/b/posts/']) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const) {
        await isRefused(t, app, { method, url }, 404, says)
      }
      const head = await app.inject({ method: 'HEAD', url, headers: { accept: 'text/html' } })
      t.strictSame([head.statusCode, head.headers['content-type'], head.body], [404, types.html, ''], `HEAD ${url}`)
    }
    for (const url of ['/posts/', '/comments/']) await isRefused(t, app, { method: 'OPTIONS', url }, 404, says)
    for (const url of ['/posts/1/comments/', '/posts/1/cover/', '/notes/']) await isRefused(t, app, { url }, 404, says)
    t.strictSame([(await app.inject('/posts/1.json/')).headers['content-type'],
      (await app.inject('/posts/1/?format=html')).headers['content-type']], [types.problem, types.html])
    for (const url of ['/', '/other/', '/posts/1/cover/x/', '/posts/1/nope', '/notes/1/', '/a/']) {
      t.equal((await app.inject(url)).body, 'nothing of ours', url)
    }
    t.equal((await app.inject('/posts/1')).statusCode, 200)
  })

  await t.test('the app\'s own route with a trailing slash is left to the app', async t => {
    const app = await build(t, { name: 'posts', attributes },
      { before: (app) => { app.get('/posts/:id/', () => 'mine') } })
    t.equal((await app.inject('/posts/1/')).body, 'mine')
    t.equal((await app.inject({ method: 'PUT', url: '/posts/1/' })).statusCode, 404)
  })

  await t.test('ignoreTrailingSlash: a slash after a suffix does not make the suffix part of an id', async t => {
    const [a, b] = ['a', 'a.json'].map((id) => ({ id, version: '1', attributes: { title: `of ${id}` } }))
    const app = await build(t, {
      name: 'posts', attributes, id: 'string', actions: { show: ({ id }) => id === 'a' ? a : b }, only: 'show'
    }, { server: { routerOptions: { ignoreTrailingSlash: true } } })
    for (const url of ['/posts/a.json', '/posts/a.json/', '/posts/a.json/?']) {
      t.strictSame((await app.inject(url)).json(), { post: { id: 'a', title: 'of a' } }, url)
    }
    for (const url of ['/posts/a%2Ejson', '/posts/a%2Ejson/']) t.match((await app.inject(url)).body, 'of a.json', url)
  })

  await t.test('ignoreDuplicateSlashes', async t => {
    const app = await seeded(t, { routerOptions: { ignoreDuplicateSlashes: true } }, { prefix: '/blog' })
    await isServed(t, app,
      [['//blog//posts', types.xml], ['/blog//posts.json', types.json], ['/blog/posts//1', types.xml]])
    t.match((await app.inject('/blog//posts.json?limit=1')).headers.link, /^<\/blog\/posts\.json\?/)
  })

  await t.test('caseSensitive: false', async t => {
    const app = await seeded(t, { routerOptions: { caseSensitive: false } })
    await isServed(t, app, [['/POSTS', types.xml], ['/Posts.json', types.json], ['/posts.JSON', types.json],
      ['/POSTS/1', types.xml], ['/POSTS/1.json', types.json]])
    const link = /<([^>]+)>; rel="next"/.exec(String((await app.inject('/POSTS.JSON?limit=1')).headers.link))?.[1] ?? ''
    await isServed(t, app, [[link, types.json]])
    t.equal((await app.inject({ method: 'POST', url: '/POSTS', payload: { post: { title: 'W' } } })).headers.location,
      '/posts/4')
  })
})

t.test('the app\'s own routes on our paths keep working, and Allow names their methods', async t => {
  const app = await build(t, { name: 'posts', attributes }, {
    before (app) {
      app.addHttpMethod('PROPFIND')
      app.patch('/posts', () => ({ mine: 'collection' }))
      app.route({ method: 'PROPFIND', url: '/posts', handler: () => ({ mine: 'properties' }) })
      app.delete('/posts/:id', (request) => ({ mine: request.params }))
      app.put('/posts/:post', (request) => ({ mine: request.params }))
      app.get('/posts/new', () => ({ mine: 'new' }))
      app.post('/posts/:id/publish', (request) => ({ mine: request.params }))
      app.patch('/posts.xml', () => ({ mine: 'xml' }))
    }
  })
  await create(app, '/posts', 'T')
  const cases: [method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST' | 'PROPFIND', url: string, mine: unknown][] = [
    ['PATCH', '/posts', 'collection'],
    ['PROPFIND', '/posts', 'properties'],
    ['PATCH', '/posts.xml', 'xml'],
    ['DELETE', '/posts/1', { id: '1' }],
    ['PUT', '/posts/1', { post: '1' }],
    ['GET', '/posts/new', 'new'],
    ['POST', '/posts/1/publish', { id: '1' }]
  ]
  for (const [method, url, mine] of cases) {
    t.strictSame((await app.inject({ method, url })).json(), { mine }, `${method} ${url}`)
  }
  const allow = async (url: string, method: 'OPTIONS' | 'TRACE' = 'OPTIONS'): Promise<string[]> =>
    String((await app.inject({ method, url })).headers.allow).split(', ').sort()
  t.strictSame(await allow('/posts'), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PUT', 'QUERY'])
  t.strictSame(await allow('/posts', 'TRACE'), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PUT',
    'QUERY'], 'the Allow of a 405 names them too')
  t.strictSame(await allow('/posts.xml'), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY'])
  t.strictSame(await allow('/posts.json'), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'QUERY'])
  t.strictSame(await allow('/posts/1'), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT'])
  t.equal((await app.inject({ method: 'PATCH', url: '/posts/1' })).statusCode, 405)
  t.strictSame(await titles(app, '/posts'), ['T'])
})

t.test('the app\'s own OPTIONS is left to the app', async t => {
  const app = await build(t, { name: 'posts', attributes },
    { before: (app) => { app.options('/posts', () => ({ mine: true })) } })
  t.strictSame((await app.inject({ method: 'OPTIONS', url: '/posts' })).json(), { mine: true })
  t.equal((await app.inject({ method: 'OPTIONS', url: '/posts/1' })).statusCode, 204)
})

t.test('a method of ours that the app already serves throws at registration', async t => {
  const app = fastify()
  app.get('/posts', () => 'mine')
  app.register(resources, { name: 'posts' })
  await t.rejects(async () => { await app.ready() }, { code: 'FST_ERR_DUPLICATED_ROUTE' })
})

t.test('the caller\'s options are not changed', async t => {
  function freeze<T> (value: T): T {
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) freeze(part)
    return Object.freeze(value)
  }
  const make = (): ResourceOptions => ({
    name: 'posts',
    singular: 'post',
    prefix: '/blog',
    attributes: {
      type: 'object',
      required: ['title'],
      properties: {
        title: { type: 'string', default: 'T' },
        tags: { type: 'array', items: { type: 'string' }, default: ['a'] },
        author: {
          type: 'object',
          properties: { name: { type: 'string', default: 'N' }, id: { type: 'integer', readOnly: true } },
          default: {}
        }
      }
    },
    formats: ['json', 'xml', 'html'],
    writes: 'both',
    trustedOrigins: ['https://app.example.com'],
    maxLimit: 10,
    html: { pageSize: 5 },
    requireMatch: false
  })
  const options = freeze(make())
  const app = await build(t, options)
  for (const [request, status] of [
    [{ method: 'POST', url: '/blog/posts', payload: { post: {} } }, 201],
    [{ method: 'POST', url: '/blog/posts', payload: { post: { author: { id: 5 } } } }, 201],
    [send('POST', '/blog/posts', 'application/xml', '<post><author><id>5</id></author></post>'), 201],
    [send('POST', '/blog/posts', form, 'post[title]=x'), 303],
    [{ method: 'PUT', url: '/blog/posts/1', payload: { post: { tags: ['b'] } } }, 200],
    [{ url: '/blog/posts.html' }, 200]
  ] satisfies Array<[InjectOptions, number]>) {
    const res = await app.inject(request)
    t.equal(res.statusCode, status, res.body)
  }
  t.strictSame((await app.inject('/blog/posts/3.json')).json(),
    { post: { id: 3, title: 'T', tags: ['a'], author: { name: 'N' } } })
  t.strictSame(options, make())
})

t.test('options of Fastify\'s own register take effect', async t => {
  const log: string[] = []
  const logger = { level: 'info', stream: { write: (line: string) => { log.push(line) } } }
  const app = fastify({ logger })
  t.teardown(() => app.close())
  app.register(resources, {
    name: 'posts', attributes, logLevel: 'error', store: { ...memoryStore(), get: () => { throw new Error('failed') } }
  })
  app.register(resources, { name: 'notes', attributes, logSerializers: { err: () => 'serialized by the app' } })
  app.get('/other', () => 'other')
  await app.ready()
  log.length = 0
  await app.inject('/posts')
  await app.inject('/posts/abc')
  t.strictSame(log, [], 'our routes have its log level')
  await app.inject('/posts/1')
  t.match(log.splice(0), [/"level":50.*failed/])
  await app.inject('/other')
  t.equal(log.splice(0).length, 2, 'other routes keep theirs')
  await app.inject('/notes/abc')
  t.ok(log.some((line) => line.includes('serialized by the app')))
})

const priced = {
  type: 'object',
  properties: {
    price: { $ref: 'money#' },
    rest: { $ref: 'money#/definitions/amount' },
    default: { $ref: 'currency' },
    list: { type: 'array', items: { $ref: 'currency#' } }
  },
  definitions: { money: { type: 'boolean' } }
} as const

t.test('attributes may refer to schemas of the app, in each format', async (t) => {
  const app = await start(
    t,
    { name: 'posts', attributes: priced, xsd: true },
    undefined,
    async (app) => {
      await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'T', version: '1' } } })
    }
  )
  const create = async (type: string, payload: string): Promise<{ status: number, body: string }> => {
    const { statusCode, body } = await app.inject({
      method: 'POST', url: '/posts.json', headers: { 'content-type': type }, payload
    })
    return { status: statusCode, body }
  }
  const given = { price: { amount: 5, currency: 'EUR', fee: { amount: 1 } }, rest: 7, default: 'USD', list: ['EUR'] }
  const body = (id: number): string => JSON.stringify({ post: { id, ...given } })
  t.strictSame(await create('application/json', JSON.stringify({ post: given })), { status: 201, body: body(1) })
  t.strictSame(await create('application/xml',
    '<post><price><amount>5</amount><currency>EUR</currency><fee><amount>1</amount></fee></price><rest>7</rest>' +
      '<default>USD</default><list type="array"><list>EUR</list></list></post>'), {
    status: 201, body: body(2)
  })
  t.match(await create('application/json', '{"post":{"price":{"amount":-1},"default":"GBP"}}'),
    { status: 422, body: /price\.amount must be at least 0.*default must be one of/ })
  t.match(await create('application/json', '{"post":{"price":{"fee":{"amount":"x"}}}}'),
    { status: 422, body: /price\.amount must be given|price\.fee\.amount must be an integer/ })
  t.match((await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })).body, 'value="EUR"',
    'pages have a select')
  t.match((await app.inject('/posts.xsd')).body, /EUR/, 'the XML Schema has an enumeration')
  t.match(JSON.stringify((app as unknown as { swagger: () => unknown }).swagger()), /"enum":\["EUR","USD"\]/,
    'OpenAPI has an enumeration')
})

t.test('a schema of the app may describe the attributes and the input of actions', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.addSchema({ $id: 'post', ...post })
  app.addSchema(currency)
  app.register(draw((map: Mapper) => map.resources('posts', { attributes: { $ref: 'post#' } as never }, (posts) => posts
    .collection.post(
      'sell',
      { attributes: { type: 'object', required: ['in'], properties: { in: { $ref: 'currency#' } } } },
      ({ attributes }) => [{ id: 1, attributes: { title: JSON.stringify(attributes) } }]
    )
    .collection.get(
      'sold',
      { query: { type: 'object', properties: { in: { $ref: 'currency#' } } } },
      ({ query }) => [{ id: 1, attributes: { title: JSON.stringify(query) } }]
    ))))
  await app.ready()
  t.match((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { body: 'B' } } })).body,
    'title must be given')
  t.match((await app.inject({ method: 'POST', url: '/posts/sell.json', payload: { post: { in: 'GBP' } } })).body,
    'in must be one of')
  t.match((await app.inject('/posts/sold.json?in=GBP')).body, 'in must be one of')
  t.match((await app.inject('/posts/sold.json?in=EUR')).body, 'EUR')
})

t.test('a reference to nothing, or to the schema itself, is not resolved by the app\'s schemas', async (t) => {
  const refused = async (schema: object): Promise<void> => {
    await t.rejects(start(t, { name: 'posts', attributes: { type: 'object', properties: { a: schema } } }),
      { code: 'FST_RESOURCES_INVALID_ATTRIBUTES', message: /has no target/ })
  }
  for (const $ref of ['mony#', 'money#anchor', '#anchor', 'money#/definitions/mount', 'toString']) {
    await refused({ $ref })
  }
  const app = await start(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { a: { $ref: 'currency' }, b: { $id: 'currency', type: 'integer' } } }
  })
  await t.rejects(start(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { a: { $ref: 'http://[' }, b: { $id: 'currency', default: { x: {} } } } }
  }), { message: /the reference "http:\/\/\[" has no target/ })
  t.equal((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { a: 1 } } })).statusCode, 201)
})

const sku = { type: 'object', properties: { sku: { type: 'string', format: 'sku' } } } as const

t.test('the formats, keywords and plugins of the option `ajv` are used, but not its other options', async (t) => {
  const even = {
    keyword: 'even',
    type: 'number',
    schemaType: 'boolean',
    validate: (_schema: boolean, value: number) => value % 2 === 0
  }
  const attributes = {
    type: 'object',
    properties: {
      sku: { type: 'string', format: 'sku' },
      isbn: { type: 'string', format: 'isbn' },
      n: { type: 'integer', even: true },
      odd: { type: 'integer', odd: true },
      at: { type: 'string', format: 'date-time' }
    }
  } as const
  const addIsbn = (ajv: {
    addFormat: (name: string, format: RegExp) => unknown,
    addKeyword: (definition: object) => unknown
  }, pattern = /^\d{13}$/): void => {
    ajv.addFormat('isbn', pattern)
    ajv.addFormat('date-time', /./)
    ajv.addKeyword({ ...even, keyword: 'odd', validate: (_schema: boolean, value: number) => value % 2 !== 0 })
  }
  const needsAllErrors = ({ opts }: { opts: { allErrors?: boolean } }): void => {
    if (opts.allErrors !== true) throw new Error('ajv-errors: Ajv option allErrors must be true')
  }
  const customOptions = {
    formats: { sku: /^[A-Z]{3}$/ },
    keywords: [even],
    coerceTypes: true,
    removeAdditional: true,
    strict: false,
    allErrors: true
  } as const
  for (const [plugins, isbn] of [[[addIsbn, needsAllErrors], '1234567890123'], [[[addIsbn, /^x$/]], 'x']] as const) {
    const ajv = { customOptions, plugins }
    const app = await start(t, { name: 'posts', attributes, ajv }, { ajv: ajv as never }, (app) => {
      app.post('/own', { schema: { body: { type: 'object', properties: attributes.properties } } }, () => 'fits')
    })
    const send = async (payload: object): Promise<string> => {
      const { statusCode, body } = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: payload } })
      return `${statusCode} ${body}`
    }
    t.match(await send({ sku: 'ABC', isbn, n: 2, odd: 1 }), /^201/)
    for (const [
      wrong, says
    ] of [[{ sku: 'abc' }, /^422 .*sku must be a valid sku/], [{ isbn: 'y' }, /^422 .*isbn must be a valid isbn/],
        [{ n: 1 }, /^422 .*n must pass/], [{ odd: 2 }, /^422 .*odd must pass/]] as const) {
      t.match(await send(wrong), says)
      t.equal((await app.inject({ method: 'POST', url: '/own', payload: wrong })).statusCode, 400,
        'the same result as for a route of the app')
    }
    t.match(await send({ n: '2' }), /^422 .*n must be an integer/, 'nothing is coerced')
    t.match(await send({ other: 2 }), /^422 .*other is unknown/, 'nothing is removed')
    t.match(await send({ at: 'now' }), /^422 .*at must be a date and time/, 'our formats stay ours')
  }
  await t.rejects(start(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { a: { type: 'string', errorMessage: 'x' } } } as never,
    ajv: { customOptions: { strict: false } as never, plugins: [needsAllErrors] }
  }), { message: /unknown keyword: "errorMessage"/ })
  await t.rejects(start(t, { name: 'posts', attributes }, { ajv: { customOptions: { formats: { sku: /x/ } } } }),
    { message: /"sku" has the format 'sku', which is not one of/ })
  await t.rejects(start(t, { name: 'posts', ajv: { formats: {} } as never }),
    { code: 'FST_RESOURCES_INVALID_OPTION', message: /"ajv" of resource "posts" has "formats", which is unknown/ })
  const inherited = fastify()
  t.teardown(() => inherited.close())
  inherited.register(draw((map: Mapper) => map.resources('posts', { attributes: sku }),
    { ajv: { customOptions: { formats: { sku: /^[A-Z]{3}$/ } } } }))
  inherited.register(draw((map: Mapper) =>
    map.scope({ path: 'in', ajv: { customOptions: { formats: { sku: /^[A-Z]{3}$/ } } } },
      (map) => map.resources('notes', { attributes: sku }))))
  for (const [url, name] of [['/posts.json', 'post'], ['/in/notes.json', 'note']] as const) {
    for (const [sku, status] of [['ABC', 201], ['abc', 422]] as const) {
      t.equal((await inherited.inject({ method: 'POST', url, payload: { [name]: { sku } } })).statusCode, status, url)
    }
  }
})

t.test('an error of the app\'s keyword is a failure of the app, not of the client', async (t) => {
  const broken = { keyword: 'broken', validate: () => { throw new TypeError('SECRET') } }
  const schema = { type: 'object', properties: { a: { type: 'string', broken: true } } } as const
  const app = fastify()
  t.teardown(() => app.close())
  const failed: unknown[] = []
  app.addHook('onError', async (_request, _reply, error) => { failed.push(error.message) })
  app.register(draw((map: Mapper) => map.resources('posts', { attributes: schema as never },
    (posts) => posts.collection.get('sold', { query: schema as never }, () => [])),
  { ajv: { customOptions: { keywords: [broken] } } }))
  await app.ready()
  for (const request of [{ method: 'POST', url: '/posts.json', payload: { post: { a: 'x' } } },
    { url: '/posts/sold.json?a=x' }] as const) {
    const { statusCode, body } = await app.inject(request)
    t.equal(statusCode, 500, request.url)
    t.notMatch(body, 'SECRET')
  }
  t.strictSame(failed, ['SECRET', 'SECRET'])
})
