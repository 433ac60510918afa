import fastify, {
  LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions,
  type InjectOptions
} from 'fastify'
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import resources, {
  type ActionEvent, draw, DuplicateError, InvalidError, type Mapper, memoryStore, type Store,
  UnavailableError
} from '../../../lib/index.js'
import { build, post } from '../../support/helper.js'
import type { AnyContext } from '../../support/map-action.js'

interface Line {
  readonly level: number
  readonly msg: string
  readonly resource?: string
  readonly action?: string
  readonly id?: number | string
  readonly outcome?: string
  readonly err?: {
    readonly type?: string,
    readonly message?: string,
    readonly stack?: string,
    readonly code?: string,
    readonly statusCode?: number,
    readonly attributes?: readonly string[]
  }
}

interface Log {
  readonly server: FastifyServerOptions
  readonly text: () => string
  /** Returns the lines written since the last call. */
  take (): Line[]
}

function makeLog (level = 'info'): Log {
  const written: string[] = []
  let taken = 0
  return {
    server: {
      logger: { level, stream: { write: (line: string) => { written.push(line) } } },
      requestTimeout: 10_000,
      logController: new LogController({ disableRequestLogging: true })
    },
    text: () => written.join(''),
    take () {
      const lines = written.slice(taken).map((line) => JSON.parse(line) as Line)
      taken = written.length
      return lines
    }
  }
}

/** Returns a logger other than pino's, without a level. */
function logless (): FastifyBaseLogger {
  const log = { info () {}, error () {}, debug () {}, fatal () {}, warn () {}, trace () {}, child: () => log }
  return log as unknown as FastifyBaseLogger
}

/** Returns the parts of a line that describe a write, and its error. */
function pick ({ level, resource, action, id, outcome, msg, err }: Line): object {
  return { level, resource, action, id, outcome, msg, ...(err !== undefined && { err }) }
}

const INFO = 30
const ERROR = 50

/** Returns an asynchronous store. */
function laterStore (): Store {
  const store = memoryStore()
  const later = <A extends unknown[], R>(method: (...given: A) => R) =>
    async (...given: A): Promise<R> => method(...given)
  return {
    ...store,
    get: later(store.get),
    create: later(store.create),
    update: later(store.update),
    delete: later(store.delete)
  } as Store
}

const STORES: ReadonlyArray<readonly [name: string, makeStore: () => Store, isLater: boolean]> = [['at once',
  () => memoryStore() as Store, false], ['by promises', laterStore, true]]

const json = 'application/json'
const xml = 'application/xml'
const form = 'application/x-www-form-urlencoded'
const html = { accept: 'text/html' }

function send (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, type?: string, payload?: string | object,
  headers: Record<string, string> = {}): InjectOptions {
  return {
    method,
    url,
    headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
    ...(payload !== undefined && { payload })
  }
}

/** Draws a map with every kind of action. */
function drawAll (makeStore: () => Store): (map: Mapper) => unknown {
  return (map) => map
    .resources('posts', { attributes: post, store: makeStore() as never, writes: 'both', formPages: true },
      (posts) => posts
        .resources('comments', { store: makeStore() as never, foreignKey: 'postId' })
        .collection.post('touch', () => undefined)
        .collection.post('raw', ({ reply }: AnyContext) => reply.send('raw'))
        .collection.get('recent', () => [])
        .member.get('preview', ({ row }: AnyContext) => row())
        .member.put('publish', ({ store, id, guard }: AnyContext) => store.update(id, { published: true }, guard,
          { signal: new AbortController().signal }) as never))
    .resource('profile', {
      attributes: { type: 'object', properties: { name: { type: 'string' } } }, store: makeStore() as never
    })
}

async function draftAll (t: Test, log: Log, makeStore: () => Store): Promise<FastifyInstance> {
  const app = fastify(log.server)
  t.teardown(() => app.close())
  app.register(draw(drawAll(makeStore)))
  await app.ready()
  return app
}

type Told = readonly [resource: string, action: string, id: number | undefined, outcome: string]

/** Requests in order. Each finds the rows that the earlier ones left. */
const WRITES: ReadonlyArray<readonly [request: InjectOptions, status: number, told: Told]> = [
  [send('POST', '/posts', json, { post: { title: 'T' } }), 201, ['posts', 'create', 1, 'created']],
  [send('POST', '/posts', xml, '<post><title>T</title></post>'), 201, ['posts', 'create', 2, 'created']],
  [send('POST', '/posts', form, 'post[title]=T'), 303, ['posts', 'create', 3, 'created']],
  [send('PUT', '/posts', json, { id: 1, post: { title: 'U' } }), 200, ['posts', 'update', 1, 'updated']],
  [send('PUT', '/posts', xml, '<post><id>2</id><title>U</title></post>'), 200, ['posts', 'update', 2, 'updated']],
  [send('POST', '/posts', form, '_method=PUT&id=3&post[title]=U'), 303, ['posts', 'update', 3, 'updated']],
  [send('PATCH', '/posts/1.xml', json, { post: { title: 'V' } }), 200, ['posts', 'update', 1, 'updated']],
  [send('PUT', '/posts/1', json, { post: { title: 'W' } }, { 'if-match': '"1.json"' }), 412,
    ['posts', 'update', 1, 'stale']],
  [send('POST', '/posts', form, '_method=DELETE&id=3&_version=1'), 412, ['posts', 'delete', 3, 'stale']],
  [send('PUT', '/posts/1/publish', json, {}), 200, ['posts', 'publish', 1, 'updated']],
  [send('POST', '/posts/1/publish', form, '_method=PUT'), 303, ['posts', 'publish', 1, 'updated']],
  [send('POST', '/posts/touch', undefined, undefined, { accept: json }), 204, ['posts', 'touch', undefined, 'done']],
  [send('POST', '/posts/raw', undefined, undefined, { accept: json }), 200, ['posts', 'raw', undefined, 'sent']],
  [send('POST', '/posts/1/comments', json, { comment: { body: 'C' } }), 201, ['comments', 'create', 1, 'created']],
  [send('DELETE', '/posts/1/comments?id=1', undefined, undefined, { accept: xml }), 204,
    ['comments', 'delete', 1, 'deleted']],
  [send('POST', '/profile', json, { profile: { name: 'N' } }), 201, ['profile', 'create', 1, 'created']],
  [send('PUT', '/profile', xml, '<profile><name>M</name></profile>'), 200, ['profile', 'update', 1, 'updated']],
  [send('POST', '/profile', form, '_method=DELETE'), 303, ['profile', 'delete', 1, 'deleted']],
  [send('DELETE', '/posts?id=2', undefined, undefined, { accept: json }), 204, ['posts', 'delete', 2, 'deleted']]
]

const READS: ReadonlyArray<readonly [request: InjectOptions, told: Told]> = [
  [{ url: '/posts.xml' }, ['posts', 'list', undefined, 'listed']],
  [{ url: '/posts', headers: html }, ['posts', 'list', undefined, 'listed']],
  [{ url: '/posts/1.json', method: 'HEAD' }, ['posts', 'show', 1, 'found']],
  [{ url: '/posts/new', headers: html }, ['posts', 'new', undefined, 'blank']],
  [{ url: '/posts/1/edit', headers: html }, ['posts', 'edit', 1, 'edit']],
  [{ url: '/posts/recent.json' }, ['posts', 'recent', undefined, 'listed']]
]

for (const [how, makeStore] of STORES) {
  t.test(`each action publishes events, and logs a line if it writes, with a store that answers ${how}`, async (t) => {
    const channel = listen(t)
    const log = makeLog()
    const app = await draftAll(t, log, makeStore)
    const reads = READS.map(([request, told]) => [request, 200, told] as const)
    for (const [request, status, [resource, action, id, outcome]] of [...WRITES, ...reads]) {
      const name = `${request.method as string} ${request.url as string} ${JSON.stringify(request.payload)}`
      t.equal((await app.inject(request)).statusCode, status, name)
      const msg = `${resource}#${action}: ${outcome}`
      t.strictSame(log.take().map(pick),
        READS.some(([read]) => read === request) ? [] : [{ level: INFO, resource, action, id, outcome, msg }], name)
      const [heard, ...others] = channel.take()
      t.strictSame(others, [], name)
      const { events, event } = heard as Heard
      t.match(event, { resource, action, outcome, request: { url: request.url } }, name)
      t.strictSame([event.id, event.error], [id, undefined], name)
      t.ok(Number(event.duration) > 0, `${name}: the event has a duration`)
      t.strictSame(events, ['start', 'end', 'asyncStart!', 'asyncEnd!'], name)
    }
  })
}

/** Returns the error of a log line, which has nothing that a client sent. */
function told (code: string, statusCode: number, attributes?: readonly string[]): object {
  return { code: `FST_RESOURCES_${code}`, statusCode, ...(attributes !== undefined && { attributes }) }
}

const REFUSED: ReadonlyArray<readonly [name: string, request: InjectOptions, action: string | undefined,
  id: number | undefined, err: object]> = [
    ['attributes that do not fit', send('POST', '/posts', json, { post: { title: '', rating: 9, titel: 'T' } }),
      'create',
      undefined, told('INVALID', 422, ['title', 'rating'])],
    ['a value that exists already', send('POST', '/posts', xml, '<post><title>T</title></post>'), 'create', undefined,
      told('DUPLICATE', 409, ['title'])],
    ['a row that is not there', send('DELETE', '/posts?id=99', undefined, undefined, { 'if-match': '*', accept: xml }),
      'delete', 99, told('NOT_FOUND', 404)],
    ['a body that is none', send('POST', '/posts', json, '{'), 'create', undefined, told('MALFORMED_BODY', 400)],
    ['another site', send('POST', '/posts', json, { post: {} }, { 'sec-fetch-site': 'cross-site' }),
      'create', undefined,
      told('CROSS_SITE', 403)],
    ['what authorize refuses', send('PUT', '/posts/13', json, { post: {} }, { 'if-match': '*' }), 'update', 13,
      told('FORBIDDEN', 403)],
    ['no version', send('PUT', '/posts/1', json, { post: {} }), 'update', 1, told('MATCH_REQUIRED', 428)],
    ['a method that is not served', send('PATCH', '/posts', json, { post: {} }), undefined, undefined,
      told('METHOD_NOT_ALLOWED', 405)],
    ['a read of what is not there', { url: '/posts/99.xml' }, 'show', 99, told('NOT_FOUND', 404)],
    ['a read with a query that is none', { url: '/posts?sort=nothing' }, 'list', undefined, told('INVALID_QUERY', 400)]
  ]

t.test('each refusal logs one line without its message', async (t) => {
  const log = makeLog()
  const app = await build(t, {
    name: 'posts',
    attributes: post,
    store: memoryStore({ unique: ['title'] }),
    writes: 'both',
    requireMatch: true,
    authorize: (_request, { id }) => id !== 13
  }, { server: log.server })
  await app.inject(send('POST', '/posts', json, { post: { title: 'T' } }))
  log.take()
  for (const [name, request, action, id, err] of REFUSED) {
    await app.inject(request)
    const msg = `${action === undefined ? 'posts' : `posts#${action}`}: refused`
    t.strictSame(log.take().map(pick), [{ level: INFO, resource: 'posts', action, id, outcome: 'refused', msg, err }],
      name)
  }
})

t.test('a database error is logged with only its code and the name of its constraint', async (t) => {
  const log = makeLog()
  const causes: ReadonlyArray<readonly [cause: unknown, told: object]> = [
    [Object.assign(new Error('SECRET'), { code: '23505', constraint: 'posts_title', detail: 'SECRET' }),
      { code: '23505', constraint: 'posts_title' }],
    ['SECRET', {}],
    [null, {}]
  ]
  for (const [cause, told] of causes) {
    const app = await build(t, {
      name: 'posts', attributes: post, actions: { create: () => { throw new DuplicateError('title', { cause }) } }
    }, { server: log.server })
    t.equal((await app.inject(send('POST', '/posts', json, { post: { title: 'T' } }))).statusCode, 409)
    t.strictSame(log.take().map(({ err }) => err),
      [{ code: 'FST_RESOURCES_DUPLICATE', statusCode: 409, attributes: ['title'], cause: told }])
  }
})

t.test('a refusal of the app is logged with the app\'s own message', async (t) => {
  const log = makeLog()
  const refuse = (): never => { throw Object.assign(new Error('log in first'), { statusCode: 401 }) }
  const app = await build(t, { name: 'posts', hooks: { onRequest: async () => refuse() } }, { server: log.server })
  t.equal((await app.inject(send('POST', '/posts', json, { post: {} }))).statusCode, 401)
  t.match(log.take(), [{
    level: INFO,
    resource: 'posts',
    action: 'create',
    outcome: 'refused',
    err: { type: 'Error', message: 'log in first', stack: /action-log\.test/ }
  }])
})

t.test('nothing that a client sends is logged', async (t) => {
  const log = makeLog('trace')
  const attributes = {
    type: 'object',
    required: ['title', 'text'],
    properties: {
      title: { type: 'string' },
      text: { type: 'string', maxLength: 20 },
      rating: { type: 'integer' },
      secretive: { type: 'object', properties: { a: { type: 'string', enum: ['b'] } }, additionalProperties: false }
    }
  } as const
  const store = memoryStore({ unique: ['title'] })
  const fails: Array<() => never> = [
    () => {
      throw new DuplicateError('text', { cause: Object.assign(new Error('SECRET exists'), { detail: 'SECRET' }) })
    },
    () => {
      throw new InvalidError({ text: ['is SECRET'], SECRET: ['is bad'] },
        { detail: 'SECRET', cause: new Error('SECRET') })
    },
    () => 'SECRET' as never
  ]
  const app = fastify(log.server)
  t.teardown(() => app.close())
  app.register(draw((map) => map
    .resources('posts', { attributes, store, writes: 'both', html: { pageSize: 1 } }, (posts) => {
      for (const [index, fail] of fails.entries()) posts.collection.post(`fail${index}`, fail)
    })
    .resources('notes')))
  const S = 'SECRET'
  const whole = { title: S, text: S, rating: 1, secretive: { a: 'b' } }
  const requests: InjectOptions[] = [
    send('POST', '/posts', json, { post: whole }),
    send('POST', '/posts', xml, `<post><title>${S}2</title><text>${S}</text></post>`),
    send('POST', '/posts', form, `post[title]=${S}3&post[text]=${S}`),
    send('PUT', '/posts/1', json, { post: { text: `${S}!` } }),
    send('PUT', '/posts', json, { id: 1, post: { text: S } }, { 'if-match': '"1.json"' }),
    send('POST', '/posts', json, { post: whole }),
    ...[json, xml, form].flatMap((type) => ['SECRET', '{"SECRET', '{"SECRET":1}',
      '{"post":{"SECRET":1,"rating":"SECRET","text":"SECRETSECRETSECRETSECRET"}}', '<SECRET', '<SECRET></OTHER>',
      '<post><SECRET/><rating>SECRET</rating></post>', '<post><title type="SECRET"/></post>',
      '<?xml version="1.0" encoding="SECRET"?><post/>', 'SECRET=1', 'post[SECRET]=1', 'post[rating]=SECRET',
      'post[SECRET=1', '_method=SECRET', '_version=SECRET', 'post[title]=SECRET%']
      .map((payload) => send('POST', '/posts', type, payload))),
    send('POST', '/posts', json, { post: { ...whole, secretive: { a: S, SECRET: 1 } } }),
    send('PUT', '/posts?id=1', json, { id: S, post: {} }),
    send('PUT', `/posts/${S}`, json, { post: {} }),
    send('DELETE', `/posts?id=${S}`, undefined, undefined, { accept: json }),
    send('DELETE', '/posts', form, `id=${S}`),
    send('POST', '/notes', json, { note: { SECRET: S, title: S } }),
    send('POST', '/notes', json, { note: { 'SECRET ': S } }),
    ...['SECRET', 'SECRET=SECRET', 'format=SECRET', 'sort=SECRET', 'rating=SECRET', 'limit=SECRET', 'after=SECRET',
      'title=SECRET', 'blank=SECRET'].flatMap((query) => [{ url: `/posts?${query}` },
      { url: `/posts?${query}`, headers: html }, { url: `/posts/1?${query}` }]),
    { url: `/posts/${S}` },
    { url: `/posts/1.${S}` },
    ...fails.map((_, index) => send('POST', `/posts/fail${index}`, json, { post: { title: S } }))
  ]
  for (const request of requests) {
    const { statusCode } = await app.inject(request)
    t.equal(log.take().length, request.method === undefined && statusCode < 400 ? 0 : 1, JSON.stringify(request))
  }
  t.notMatch(log.text(), /SECRET/)
})

t.test('a failure of the server is logged with all its causes', async (t) => {
  const log = makeLog()
  const cause = new Error('the pool is empty', { cause: new TypeError('the socket is closed') })
  const store = {
    ...memoryStore(),
    create: () => { throw new UnavailableError({ cause }) },
    list: () => { throw new Error('broken', { cause }) }
  } as unknown as Store
  const app = await build(t, { name: 'posts', store: store as never }, { server: log.server })
  t.equal((await app.inject(send('POST', '/posts', json, { post: { a: 1 } }))).statusCode, 503)
  const [line, ...others] = log.take()
  t.strictSame(others, [])
  t.match(line, {
    level: ERROR,
    resource: 'posts',
    action: 'create',
    outcome: 'failed',
    msg: 'posts#create: failed',
    err: {
      type: 'UnavailableError', code: 'FST_RESOURCES_UNAVAILABLE', message: /: the pool is empty: the socket is closed$/
    }
  })
  t.match(line?.err?.stack,
    /UnavailableError[^]*caused by: Error: the pool is empty[^]*caused by: TypeError: the socket is closed/)
  t.equal((await app.inject('/posts.json')).statusCode, 500)
  t.match(log.take(), [{
    level: ERROR,
    action: 'list',
    outcome: 'failed',
    err: { type: 'Error', message: 'broken: the pool is empty: the socket is closed' }
  }])
})

t.test('a successful write whose answer fails logs both', async (t) => {
  const log = makeLog()
  const app = await build(t, { name: 'posts', formats: ['json'] },
    {
      server: log.server,
      before: (app) => {
        app.addHook('onSend',
          async (_request, reply) => {
            if (reply.statusCode < 300) {
              throw new Error('no')
            }
          })
      }
    })
  t.equal((await app.inject(send('POST', '/posts', json, { post: { a: 1 } }))).statusCode, 500)
  t.match(log.take(), [{ level: INFO, action: 'create', id: 1, outcome: 'created' },
    { level: ERROR, action: 'create', outcome: 'created', err: { message: 'no' } }])
})

t.test('a request without an action is logged without one and publishes no event', async (t) => {
  const channel = listen(t)
  const log = makeLog()
  const app = await build(t, { name: 'posts', writes: 'member', attributes: post, xsd: true }, { server: log.server })
  const cases: ReadonlyArray<readonly [request: InjectOptions, id: number | undefined, err: object]> = [
    [send('POST', '/posts.xsd'), undefined, told('METHOD_NOT_ALLOWED', 405)],
    [{ url: '/posts.xsd', headers: { 'if-none-match': '1' } }, undefined, told('INVALID_PRECONDITION', 400)],
    [send('POST', '/posts/1', json, {}), 1, told('METHOD_NOT_ALLOWED', 405)]
  ]
  for (const [request, id, err] of cases) {
    await app.inject(request)
    t.strictSame(log.take().map(pick), [{
      level: INFO, resource: 'posts', action: undefined, id, outcome: 'refused', msg: 'posts: refused', err
    }])
    t.strictSame(channel.take(), [])
  }
})

t.test('a handler that fails after its answer also logs a line', async (t) => {
  const channel = listen(t)
  const log = makeLog()
  const app = fastify(log.server)
  t.teardown(() => app.close())
  app.register(draw((map) => map.resources('posts',
    { attributes: { type: 'object', properties: { text: { type: 'string' } } } }, (posts) => posts
      .collection.post('atOnce', ({ reply }: AnyContext) => {
        reply.send('sent')
        throw new Error('too late')
      })
      .collection.post('later', async ({ reply }: AnyContext) => {
        await reply.send('sent')
        throw new InvalidError({ text: ['is SECRET'] })
      }))))
  await app.listen({ port: 0, host: '127.0.0.1' })
  log.take()
  const at = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/posts`
  const isOurs = ({ resource }: Line): boolean => resource !== undefined
  for (const [action, err] of [['atOnce', { message: 'too late' }],
    ['later', told('INVALID', 422, ['text'])]] as const) {
    t.equal(await (await fetch(`${at}/${action}`, { method: 'POST' })).text(), 'sent')
    t.match(log.take().filter(isOurs), [{ level: ERROR, action, outcome: 'failed', err }])
    t.match(channel.take(), [{ event: { action, error: Error } }])
  }
})

t.test('a failure in an app without a logger writes one line to stderr', async (t) => {
  const failures: Record<string, () => unknown> = {
    error: () => { throw new TypeError('no\n\u001b[31mway') },
    caused: () => { throw new UnavailableError({ cause: new Error('ECONNREFUSED\n127.0.0.1') }) },
    nothing: () => { throw undefined }, // eslint-disable-line no-throw-literal
    long: () => { throw new Error('x'.repeat(5000)) },
    placeless: () => { throw Object.assign(new Error('bare'), { stack: '' }) },
    unreadable: () => {
      throw Object.defineProperty(new Error('no'), 'stack', { get: () => { throw new Error('SECRET') } })
    },
    broken: async function * () {
      yield Array.from({ length: 2000 }, (_, index) => ({ id: index + 1, attributes: { text: 'x'.repeat(100) } }))
      throw new Error('midway')
    } as never,
    refused: () => { throw Object.assign(new Error('no tea'), { statusCode: 418 }) }
  }
  const open = async (server: FastifyServerOptions): Promise<FastifyInstance> => {
    const app = fastify(server)
    t.teardown(() => app.close())
    app.register(draw((map) => map.resources('posts',
      { attributes: { type: 'object', properties: { text: { type: 'string' } } } }, (posts) => {
        for (const [name, fail] of Object.entries(failures)) posts.collection.get(name, fail as never)
        posts.collection.post('answered',
          ({ reply }: AnyContext) => { reply.send('sent'); throw new InvalidError({ text: ['is SECRET'] }) })
      })))
    app.register(draw((map) => map.resources('pages',
      { html: { views: { error: () => { throw new Error('view') } } } })))
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app
  }
  const ask = async (app: FastifyInstance): Promise<string[]> => {
    const captured = t.capture(process.stderr, 'write', () => true)
    for (const name of Object.keys(failures)) {
      await app.inject({ url: `/posts/${name}.json`, headers: { 'x-secret': 'SECRET' } }).catch(() => {})
    }
    await (await fetch(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/posts/answered`,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"post":{"text":"SECRET"}}' })).text()
    await app.inject({ url: '/pages/9?SECRET', headers: { accept: 'text/html' } })
    await app.inject({ url: '/posts/99', headers: { accept: 'text/html' } })
    return captured().map(({ args: [text] }) => String(text)).filter((text) => text.startsWith('fastify-resources'))
  }
  const lines = await ask(await open({}))
  const from = ' at [^\\n]*action-log\\.test\\.ts:\\d+:\\d+\\)?'
  const end = ' \\(give fastify\\(\\) a logger to see more\\)\\n$'
  const expected = [
    `posts#error: failed: TypeError: no \\[31mway${from}`,
    'posts#caused: failed: FastifyError: the store is not available now, and nothing was written; try again, ' +
      'caused by Error: ECONNREFUSED 127\\.0\\.0\\.1 at .*',
    'posts#nothing: failed: the thrown value is of type undefined',
    `posts#long: failed: Error: x{493}${from}`,
    'posts#placeless: failed: Error: bare ',
    'posts#unreadable: failed: the thrown value cannot be read',
    `a list was cut off: Error: midway${from}`,
    'posts#answered: failed: FST_RESOURCES_INVALID',
    `the answer to an error could not be written: Error: view${from}`
  ]
  t.equal(lines.length, expected.length, lines.join(''))
  for (const [index, text] of expected.entries()) t.match(lines[index], new RegExp(`^fastify-resources: ${text}${end}`))
  t.notMatch(lines.join(''), 'SECRET')
  for (const server of [{ logger: { level: 'silent' } }, makeLog().server, { loggerInstance: logless() }]) {
    t.strictSame(await ask(await open(server)), [], 'an app with a logger writes only to it')
  }
})

interface Heard {
  readonly events: string[]
  readonly event: ActionEvent
}

/** Collects the events of each request until the test ends. */
function listen (t: Test): { take (): Heard[] } {
  const heard = new Map<ActionEvent, Heard>()
  const hear = (name: string) => (event: object): void => {
    const known = heard.get(event as ActionEvent) ?? { events: [], event: event as ActionEvent }
    heard.set(known.event, known)
    const { outcome, duration } = known.event
    known.events.push(outcome === undefined && duration === undefined ? name : `${name}!`)
  }
  const handlers = {
    start: hear('start'),
    end: hear('end'),
    asyncStart: hear('asyncStart'),
    asyncEnd: hear('asyncEnd'),
    error: hear('error')
  }
  const channel = tracingChannel('fastify-resources.action')
  channel.subscribe(handlers)
  t.teardown(() => channel.unsubscribe(handlers))
  return {
    take () {
      const all = [...heard.values()]
      heard.clear()
      return all
    }
  }
}

t.test('a refusal or failure publishes the thrown error', async (t) => {
  const channel = listen(t)
  const store = {
    ...laterStore(), get: () => { throw new Error('broken') }, delete: async () => { throw new UnavailableError() }
  } as unknown as Store
  const app = await build(t, { name: 'posts', attributes: post, store: store as never, writes: 'both' })
  const cases: ReadonlyArray<readonly [request: InjectOptions, action: string, id: number | undefined, outcome: string,
    events: readonly string[], error: object]> = [
      [{ url: '/posts/1.json' }, 'show', 1, 'failed', ['start', 'end', 'error!', 'asyncStart!', 'asyncEnd!'],
        { message: 'broken' }],
      [send('DELETE', '/posts/1'), 'delete', 1, 'failed', ['start', 'end', 'error!', 'asyncStart!', 'asyncEnd!'],
        { code: 'FST_RESOURCES_UNAVAILABLE' }],
      [send('PUT', '/posts/1', json, { post: { title: 'T' } }), 'update', 1, 'refused',
        ['start', 'end', 'error!', 'asyncStart!', 'asyncEnd!'], { code: 'FST_RESOURCES_NOT_FOUND' }],
      [send('PUT', '/posts/1', json, { post: { rating: 9 } }), 'update', 1, 'refused',
        ['start!', 'end!', 'error!', 'asyncStart!', 'asyncEnd!'], { code: 'FST_RESOURCES_INVALID' }],
      [{ url: '/posts/none' }, 'show', undefined, 'refused', ['start!', 'end!', 'error!', 'asyncStart!', 'asyncEnd!'],
        { code: 'FST_RESOURCES_NOT_FOUND' }]
    ]
  for (const [request, action, id, outcome, events, error] of cases) {
    await app.inject(request)
    const [heard, ...others] = channel.take()
    t.strictSame(others, [])
    t.strictSame(heard?.events, events, `${action}: ${outcome}`)
    t.match(heard?.event, { resource: 'posts', action, outcome, error })
    t.equal(heard?.event.id, id)
    t.type(heard?.event.duration, 'number')
  }
  await app.inject(send('PATCH', '/posts', json, {}))
  t.strictSame(channel.take(), [], 'a method that is not served has no action')
})

t.test('a store is called in the AsyncLocalStorage context that is bound to the start of an action', async (t) => {
  const storage = new AsyncLocalStorage<ActionEvent>()
  const { start } = tracingChannel<ActionEvent, ActionEvent>('fastify-resources.action')
  start.bindStore(storage, (event) => event)
  t.teardown(() => start.unbindStore(storage))
  const seen: Array<string | undefined> = []
  const store = laterStore()
  const create: Store['create'] = async (...given) => {
    await null
    seen.push(storage.getStore()?.action)
    return store.create(...given)
  }
  const app = await build(t, { name: 'posts', store: { ...store, create } as never })
  await app.inject(send('POST', '/posts', json, { post: {} }))
  t.strictSame(seen, ['create'])
  t.equal(storage.getStore(), undefined)
})

/** Returns a create that waits until its client has left. */
function makeWaiting (): {
  readonly create: (attributes: unknown, scope: unknown, context: { readonly signal: AbortSignal }) => Promise<never>,
  readonly isCalled: Promise<void>
} {
  let called = (): void => {}
  const isCalled = new Promise<void>((resolve) => { called = resolve })
  const create = (_attributes: unknown, _scope: unknown, { signal }: { signal: AbortSignal }): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => { reject(new UnavailableError()) })
      called()
    })
  return { create, isCalled }
}

t.test('a failure after the client has left is not a failure of the server', async (t) => {
  const channel = listen(t)
  const log = makeLog()
  const { create, isCalled } = makeWaiting()
  const app = await build(t, { name: 'posts', store: { ...memoryStore(), create } as never }, { server: log.server })
  const answered = new Promise<void>((resolve) => {
    app.server.once('request', (_request, response) => { response.once('close', resolve) })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  log.take()
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(
    'POST /posts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"post":{}}')
  await isCalled
  socket.destroy()
  await answered
  await new Promise((resolve) => setImmediate(resolve))
  t.match(log.take(), [{
    level: INFO, action: 'create', outcome: 'aborted', err: { code: 'FST_RESOURCES_UNAVAILABLE' }
  }])
  t.match(channel.take(), [{ event: { outcome: 'aborted' } }])
})

t.test('a client of HTTP/2 that has left is recognised', async (t) => {
  const log = makeLog()
  const { create, isCalled } = makeWaiting()
  const app = fastify({ ...log.server, http2: true } as object)
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', store: { ...memoryStore(), create } as never })
  const isOver = new Promise<void>((resolve) => {
    app.server.once('request', (_request, response) => { response.once('close', resolve) })
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  log.take()
  const client = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => { client.destroy() })
  const stream = client.request({ ':method': 'POST', ':path': '/posts', 'content-type': json })
  stream.on('error', () => {})
  stream.end('{"post":{}}')
  await isCalled
  stream.close(constants.NGHTTP2_CANCEL)
  await isOver
  await new Promise((resolve) => setImmediate(resolve))
  t.match(log.take(), [{
    level: INFO, action: 'create', outcome: 'aborted', err: { code: 'FST_RESOURCES_UNAVAILABLE' }
  }])
})

const WARNING = /requestTimeout: 10_000/

t.test('a server without a request timeout logs one warning when it is ready', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, server: FastifyServerOptions, isUsed: boolean,
    warnings: number]> = [['as Fastify has it', {}, true, 1], ['with a timeout', { requestTimeout: 5000 }, true, 0],
      ['without resources', {}, false, 0]]
  for (const [name, server, isUsed, warnings] of cases) {
    const log = makeLog()
    const app = fastify({ ...log.server, requestTimeout: 0, ...server })
    t.teardown(() => app.close())
    if (isUsed) {
      app.register(resources, { name: 'posts' })
      app.register(async (scope) => { scope.register(resources, { name: 'users' }) }, { prefix: '/a' })
      app.register(draw((map) => map.resources(['notes', 'tags'])))
    }
    t.strictSame(log.take(), [], 'there is no warning before')
    await app.ready()
    const lines = log.take()
    t.equal(lines.length, warnings, name)
    for (const { level, msg } of lines) t.match([level, msg], [40, WARNING], name)
  }
})
