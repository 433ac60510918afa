import { once } from 'node:events'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import fastify, {
  type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import t, { type Test } from 'tap'
import Database from 'libsql'
import resources, {
  draw, type Format, memoryStore, type ResourceOptions, type Row as StoredRow, type Store
} from '../../../lib/index.js'
import type { Source } from '../../../lib/core/actions/outcome.js'
import { writeList } from '../../../lib/core/response/list-stream.js'
import { BY_ID } from '../../../lib/core/stores/order.js'
import { type SqliteDatabase, sqliteStore } from '../../../lib/sql/sqlite/index.js'
import {
  accepts, browser, first, form, isPage, isProblem, isRefused, isXmlOf, json, type Row, rows, second, seeded,
  seededAgain, twoRows, withHeaders, xmlRow
} from '../../support/answers.js'
import { build, post, types, xml } from '../../support/helper.js'
import { resettableStore } from '../../support/stores/resettable-store.js'

type Method = 'list' | 'get' | 'create' | 'update' | 'delete'

t.test('the first fault in order decides', async t => {
  const app = await seeded(t, { requireMatch: true })
  const text = { 'content-type': 'text/plain' }
  const cases: [status: number, name: string, request: InjectOptions][] = [
    [403, 'from elsewhere, by a wrong method',
      {
        method: 'PATCH',
        url: '/posts?bogus=1',
        headers: { 'sec-fetch-site': 'cross-site', accept: 'image/png', ...text },
        payload: 'x'
      }],
    [403, 'from elsewhere, with everything wrong',
      {
        method: 'POST',
        url: '/posts?bogus=1',
        headers: { 'sec-fetch-site': 'cross-site', accept: 'image/png', ...text },
        payload: 'x'
      }],
    [405, 'a wrong method, unacceptable',
      { method: 'PATCH', url: '/posts?bogus=1', headers: { accept: 'image/png', ...text }, payload: 'x' }],
    [400, 'an unknown parameter, unacceptable',
      { method: 'POST', url: '/posts?bogus=1', headers: { accept: 'image/png', ...text }, payload: 'x' }],
    [406, 'unacceptable, unsupported',
      { method: 'POST', url: '/posts', headers: { accept: 'image/png', ...text }, payload: 'x' }],
    [415, 'unsupported, too large', { method: 'POST', url: '/posts', headers: text, payload: 'x'.repeat(2 ** 20 + 1) }],
    [413, 'too large, malformed', { method: 'POST', url: '/posts', ...json('{' + ' '.repeat(2 ** 20 + 1)) }],
    [400, 'malformed, of an unknown id', { method: 'PUT', url: '/posts?id=99', ...json('{') }],
    [400, 'clashing ids, invalid', { method: 'PUT', url: '/posts?id=99', ...json({ id: 1, post: { title: '' } }) }],
    [422, 'invalid, of an unknown id', { method: 'PUT', url: '/posts?id=99', ...json({ post: { title: '' } }) }],
    [404, 'of an unknown id, without If-Match',
      { method: 'PUT', url: '/posts', ...json({ id: 99, post: { title: 'Taken' } }) }],
    [404, 'of an unknown id, with If-Match',
      {
        method: 'PUT',
        url: '/posts',
        ...withHeaders(json({ id: 99, post: { title: 'Taken' } }), { 'if-match': '"9.json"' })
      }],
    [428, 'without If-Match, a duplicate',
      { method: 'PUT', url: '/posts', ...json({ id: 1, post: { title: 'Taken' } }) }],
    [412, 'stale, a duplicate', {
      method: 'PUT',
      url: '/posts',
      ...withHeaders(json({ id: 1, post: { title: 'Taken' } }), { 'if-match': '"9.json"' })
    }],
    [409, 'a duplicate', {
      method: 'PUT',
      url: '/posts',
      ...withHeaders(json({ id: 1, post: { title: 'Taken' } }), { 'if-match': '"1.json"' })
    }]
  ]
  for (const [status, name, request] of cases) {
    t.equal((await app.inject(request)).statusCode, status, name)
    t.strictSame(await rows(app), { posts: [first, second] })
  }
})

t.test('a failing store gives a 500 that reveals nothing and is logged', async t => {
  const requests: Record<Method, InjectOptions> = {
    list: { url: '/posts' },
    get: { url: '/posts/1' },
    create: { method: 'POST', url: '/posts', ...json({ post: { title: 'New' } }) },
    update: { method: 'PUT', url: '/posts', ...json({ id: 1, post: { title: 'New' } }) },
    delete: { method: 'DELETE', url: '/posts', ...json({ id: 1 }) }
  }
  const fail = (): never => { throw new Error('secret password of db.internal') }
  const reject = async (): Promise<never> => fail()
  const failLater = async function * (): AsyncGenerator<never> { fail() }
  const store: Store = memoryStore()
  const stores: [name: string, method: Method, store: Store][] = [
    ['list throws', 'list', { ...store, list: fail }],
    ['the async iterable of list rejects', 'list', { ...store, list: failLater }],
    ['get rejects', 'get', { ...store, get: reject }],
    ['create throws', 'create', { ...store, create: fail }],
    ['update rejects', 'update', { ...store, update: reject }],
    ['delete rejects', 'delete', { ...store, delete: reject }]
  ]
  const log: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => { log.push(line) } } }
  const current = resettableStore<Store>(memoryStore)
  const app = await build(t, { name: 'posts', attributes: post, store: current }, { server: { logger } })
  for (const [name, method, failing] of stores) {
    await t.test(`a failing store: ${name}`, async t => {
      log.length = 0
      current.reset(failing)
      const request = requests[method]
      const asJson = await app.inject(withHeaders(request, { accept: accepts.json }))
      const problem = isProblem(t, asJson, 500)
      const asXml = await app.inject(withHeaders(request, { accept: accepts.xml }))
      isXmlOf(t, asXml, problem)
      const asHtml = await app.inject(withHeaders(request, { accept: accepts.html }))
      isPage(t, asHtml, 500)
      for (const res of [asJson, asXml, asHtml]) {
        t.notMatch(JSON.stringify([res.body, res.headers]),
          /secret|password|db\.internal|node_modules|\bat \S+ \(|\.[jt]s:\d/i)
      }
      t.ok(log.filter(line => line.includes('secret password')).length >= 3, 'each error is logged')
    })
  }
})

t.test('a client\'s mistake is not logged as an error', async t => {
  const log: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => { log.push(line) } } }
  const app = await build(t, { name: 'posts', attributes: post }, { server: { logger } })
  const requests: [status: number, request: InjectOptions][] = [
    [404, { url: '/posts/1' }],
    [400, { method: 'POST', url: '/posts', ...json('{') }],
    [406, { url: '/posts', headers: { accept: 'image/png' } }],
    [422, { method: 'POST', url: '/posts', ...json({ post: {} }) }]
  ]
  for (const [status, request] of requests) t.equal((await app.inject(request)).statusCode, status)
  t.strictSame(log, [])
})

t.test('an error of the app is written like one of the plugin', async t => {
  const unauthorized = (): Error => Object.assign(new Error('Log in <first> & "again"'), { statusCode: 401 })
  const cases: [name: string, status: number, detail: string | undefined, before: (app: FastifyInstance) => void][] = [
    ['an onRequest hook throws', 401, 'Log in <first> & "again"', app => {
      app.addHook('onRequest', async () => { throw unauthorized() })
    }],
    ['a preHandler hook throws', 429, 'Slow down', app => {
      app.addHook('preHandler', async () => { throw Object.assign(new Error('Slow down'), { statusCode: 429 }) })
    }],
    ['an onRequest hook fails', 500, undefined, app => {
      app.addHook('onRequest', async () => { throw new Error('secret') })
    }]
  ]
  for (const [name, status, detail, before] of cases) {
    await t.test(`an error of the app: ${name}`, async t => {
      const app = await build(t, { name: 'posts', attributes: post }, { before })
      const res = await app.inject({ url: '/posts', headers: { accept: accepts.json } })
      const problem = isProblem(t, res, status)
      if (detail !== undefined) t.equal(problem.detail, detail)
      const asXml = await app.inject({ url: '/posts', headers: { accept: accepts.xml } })
      isXmlOf(t, asXml, problem)
      const asHtml = await app.inject({ url: '/posts', headers: { accept: accepts.html } })
      isPage(t, asHtml, status)
      t.notMatch(res.body + asXml.body + asHtml.body, 'secret')
      t.notMatch(asHtml.body, '<first>')
      t.equal((await app.inject('/posts')).headers['content-type'], types.xml, 'without Accept, XML')
      t.equal((await app.inject({ url: '/posts.json', headers: { accept: browser } })).headers['content-type'],
        types.problem, 'the suffix decides')
      t.equal((await app.inject({
        url: '/posts?format=html', headers: { accept: accepts.json }
      })).headers['content-type'], types.html, '?format decides')
    })
  }
})

t.test('an error of the app comes before other errors, and keeps its headers', async t => {
  const app = await build(t, { name: 'posts', attributes: post }, {
    before: app => {
      app.addHook('onRequest', async (_request, reply) => {
        reply.header('www-authenticate', 'Basic realm="blog"')
        throw Object.assign(new Error('Log in first'), { statusCode: 401 })
      })
    }
  })
  const cases: [name: string, request: InjectOptions, type: string][] = [
    ['a record', { url: '/posts/1', headers: { accept: 'application/json' } }, types.problem],
    ['an impossible Accept', { url: '/posts', headers: { accept: 'image/png' } }, types.xml],
    ['a malformed body', { method: 'POST', url: '/posts', ...json('{') }, types.problem],
    ['an unsupported body', { method: 'POST', url: '/posts', ...json('x', 'text/plain') }, types.xml],
    ['a form', { method: 'POST', url: '/posts', ...json('post[title]=New', form) }, types.html],
    ['a wrong method', { method: 'PATCH', url: '/posts', headers: { accept: 'application/json' } }, types.problem]
  ]
  for (const [name, request, type] of cases) {
    const res = await app.inject(request)
    t.strictSame([res.statusCode, res.headers['content-type'], res.headers['www-authenticate']],
      [401, type, 'Basic realm="blog"'], name)
  }
})

t.test('HEAD is GET without the body', async t => {
  const app = await seeded(t)
  const cases: [url: string, headers: Record<string, string>, status: number][] = [
    ['/posts', {}, 200],
    ['/posts', { accept: 'application/json' }, 200],
    ['/posts', { accept: browser }, 200],
    ['/posts/1', {}, 200],
    ['/posts/1', { accept: 'application/json' }, 200],
    ['/posts/1', { accept: browser }, 200],
    ['/posts/1', { accept: 'application/json', 'if-none-match': '*' }, 304],
    ['/posts/3', {}, 404],
    ['/posts', { accept: 'image/png' }, 406]
  ]
  for (const [url, headers, status] of cases) {
    const name = `${url} ${JSON.stringify(headers)}`
    const get = await app.inject({ url, headers })
    const head = await app.inject({ method: 'HEAD', url, headers })
    t.strictSame([head.statusCode, get.statusCode, head.body], [status, status, ''], name)
    const lasting = (res: LightMyRequestResponse): unknown => {
      const {
        date, connection, 'content-length': length, 'transfer-encoding': encoding, 'keep-alive': alive, ...rest
      } = res.headers
      return rest
    }
    t.strictSame(lasting(head), lasting(get), name)
    const length = head.headers['content-length']
    if (length !== undefined) t.equal(Number(length), get.rawPayload.length, 'a Content-Length equals that of GET')
  }
})

t.test('a 405 is answered to a body of any kind, and changes nothing', async t => {
  const app = await seeded(t, { writes: 'both' })
  const cases: [name: string, request: InjectOptions][] = [
    ['JSON', { method: 'PATCH', url: '/posts', ...json({ id: 1, post: { title: 'New' } }) }],
    ['malformed JSON', { method: 'PATCH', url: '/posts', ...json('{') }],
    ['plain text', { method: 'PATCH', url: '/posts', ...json('x', 'text/plain') }],
    ['POST of a form without _method on a member',
      { method: 'POST', url: '/posts/1', ...json('post[title]=New', form) }]
  ]
  for (const [name, request] of cases) {
    const [, headers] = await isRefused(t, app, request, 405)
    t.match(headers.allow, /GET/, name)
  }
})

t.test('Location has the prefix, but neither suffix nor query', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', attributes: post, prefix: '/api', writes: 'both' })
  app.register(async scope => {
    scope.register(resources, { name: 'posts', attributes: post, prefix: '/v1', writes: 'both' })
  }, { prefix: '/deep' })
  app.register(resources, { name: 'posts', attributes: post, writes: 'both' })
  await app.ready()
  for (const prefix of ['/api', '/deep/v1', '']) {
    const cases: [method: 'POST' | 'PUT' | 'DELETE', path: string, body: string | object, status: number,
      location: string | undefined][] = [
      ['POST', '/posts', { post: { title: 'A' } }, 201, '/posts/1'],
      ['POST', '/posts.xml', { post: { title: 'A' } }, 201, '/posts/2'],
      ['POST', '/posts.json?format=json', { post: { title: 'A' } }, 201, '/posts/3'],
      ['POST', '/posts?format=xml', { post: { title: 'A' } }, 201, '/posts/4'],
      ['POST', '/posts', 'post[title]=A', 303, '/posts/5'],
      ['POST', '/posts.html', 'post[title]=A', 303, '/posts/6'],
      ['POST', '/posts?format=html', { post: { title: 'A' } }, 303, '/posts/7'],
      ['PUT', '/posts', { id: 1, post: { title: 'B' } }, 200, undefined],
      ['PUT', '/posts', 'id=1&post[title]=B', 303, '/posts/1'],
      ['POST', '/posts', '_method=PUT&id=2&post[title]=B', 303, '/posts/2'],
      ['POST', '/posts/3', '_method=PUT&post[title]=B', 303, '/posts/3'],
      ['POST', '/posts', '_method=DELETE&id=1', 303, '/posts'],
      ['POST', '/posts.html', '_method=DELETE&id=2', 303, '/posts'],
      ['POST', '/posts/3', '_method=DELETE', 303, '/posts'],
      ['DELETE', '/posts/4', {}, 204, undefined]
    ]
    for (const [method, path, body, status, location] of cases) {
      const request = json(body, typeof body === 'string' ? form : 'application/json')
      const res = await app.inject({ method, url: prefix + path, ...request })
      t.strictSame([res.statusCode, res.headers.location], [status, location && prefix + location],
        `${method} ${prefix}${path} ${JSON.stringify(body)}`)
    }
    const left = (await app.inject(`${prefix}/posts.json`)).json<{ posts: Row[] }>().posts.map(({ id }) => id)
    t.strictSame(left, [5, 6, 7], 'each registration keeps its own rows')
    const missing = await app.inject({ url: `${prefix}/posts/1`, headers: { accept: 'application/json' } })
    isProblem(t, missing, 404)
  }
})

t.test('the option writes decides the paths of update and delete', async t => {
  type Writes = NonNullable<ResourceOptions['writes']>
  const [updated, unchanged, deleted] = [[{ ...first, title: 'U' }, second], [first, second], [second]]
  const group = json({ post: { title: 'U' } })
  const withId = json({ id: 1, post: { title: 'U' } })
  const cases: [writes: readonly Writes[], request: InjectOptions, status: number, after: Row[]][] = [
    [['collection', 'both'], { method: 'PUT', url: '/posts', ...withId }, 200, updated],
    [['collection', 'both'], { method: 'PATCH', url: '/posts', ...withId }, 405, unchanged],
    [['collection', 'both'], { method: 'DELETE', url: '/posts', ...json({ id: 1 }) }, 204, deleted],
    [['collection', 'both'], { method: 'DELETE', url: '/posts?id=1' }, 204, deleted],
    [['collection'], { method: 'PUT', url: '/posts/1', ...group }, 405, unchanged],
    [['collection'], { method: 'PATCH', url: '/posts/1', ...group }, 405, unchanged],
    [['collection'], { method: 'DELETE', url: '/posts/1' }, 405, unchanged],
    [['collection'], { method: 'POST', url: '/posts/1', ...json('_method=DELETE', form) }, 405, unchanged],
    [['member'], { method: 'PUT', url: '/posts', ...withId }, 405, unchanged],
    [['member'], { method: 'DELETE', url: '/posts?id=1' }, 405, unchanged],
    ...([
      [{ method: 'PUT', url: '/posts/1', ...group }, 200, updated],
      [{ method: 'PATCH', url: '/posts/1', ...group }, 200, updated],
      [{ method: 'PATCH', url: '/posts/1', ...json({ post: {} }) }, 200, unchanged],
      [{ method: 'PUT', url: '/posts/1', ...json({ id: 1, post: { title: 'U', id: 1 } }) }, 200, updated],
      [{ method: 'PUT', url: '/posts/1', ...json({ id: 2, post: { title: 'U' } }) }, 400, unchanged],
      [{ method: 'PUT', url: '/posts/1?id=1', ...group }, 200, updated],
      [{ method: 'DELETE', url: '/posts/1', ...json({ id: 2 }) }, 400, unchanged],
      [{ method: 'PUT', url: '/posts/1' }, 422, unchanged],
      [{ method: 'PATCH', url: '/posts/1', ...json({ post: { title: 'Taken' } }) }, 409, unchanged],
      [{ method: 'PATCH', url: '/posts/abc', ...group }, 404, unchanged],
      [{ method: 'PUT', url: '/posts/01', ...group }, 404, unchanged],
      [{ method: 'DELETE', url: '/posts/1.xml' }, 204, deleted],
      [{ method: 'DELETE', url: '/posts/99' }, 404, unchanged],
      [{ method: 'POST', url: '/posts/1', ...json('_method=put&id=1&post[title]=U', form) }, 303, updated],
      [{ method: 'POST', url: '/posts/1', ...json('_method=PUT&id=2&post[title]=U', form) }, 400, unchanged],
      [{ method: 'POST', url: '/posts/1', ...json('_method=DELETE', form) }, 303, deleted]
    ] as Array<[InjectOptions, number, Row[]]>).map(([...rest]) =>
      [['member', 'both'], ...rest] as [Writes[], InjectOptions, number, Row[]])
  ]
  for (const writes of ['collection', 'member', 'both'] as const) {
    const [app, reset] = await seededAgain(t, { writes })
    for (const [, request, status, after] of cases.filter(([which]) => which.includes(writes))) {
      const name = `${writes}: ${request.method} ${String(request.url)} ${String(request.payload ?? '')}`
      reset()
      const res = await app.inject(request)
      t.equal(res.statusCode, status, name)
      if (status === 200) t.strictSame(res.json(), { post: after[0] }, name)
      if (status === 204 || status === 303) t.equal(res.body, '', name)
      t.strictSame(await rows(app), { posts: after }, name)
    }
  }
})

const attributes = {
  type: 'object', properties: { title: { type: 'string', minLength: 1 }, secret: { type: 'string' } }
} as const
const JSON_TYPE = { accept: 'application/json' }

/** Collects the rejections that nobody handles until the test ends. */
function watchRejections (t: Test): readonly unknown[] {
  const seen: unknown[] = []
  const note = (error: unknown): void => { seen.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  return seen
}

async function turns (count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('row() and proceed() that reject before a handler waits for them do not end the process', async (t) => {
  const rejections = watchRejections(t)
  const app = await build(t, {
    name: 'posts',
    attributes,
    store: memoryStore(),
    actions: {
      async update ({ row }) {
        const found = row()
        await turns(3)
        return found
      },
      async delete ({ proceed }) {
        const outcome = proceed()
        await turns(3)
        return outcome
      }
    },
    async authorize (_request, { row }) {
      row?.().catch(() => {})
      const forgotten = row?.()
      await turns(3)
      return forgotten !== null
    },
    scope: () => ({})
  })
  for (const method of ['PUT', 'DELETE'] as const) {
    const response = await app.inject({
      method, url: '/posts', headers: JSON_TYPE, payload: { id: 99, ...(method === 'PUT' && { post: { title: 'b' } }) }
    })
    t.equal(response.statusCode, 404, method)
  }
  await turns(3)
  t.strictSame(rejections, [])
})

t.test('the page of an error shows no stored row that a hook has refused', async (t) => {
  for (const statusCode of [409, 422, 428]) {
    const store = memoryStore()
    store.create({ title: 'a', secret: 'swordfish' }, {})
    const app = await build(t, {
      name: 'posts',
      attributes,
      store,
      hooks: { preHandler: async () => { throw Object.assign(new Error('refused'), { statusCode }) } }
    })
    const response = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      payload: '_method=PUT&id=1&post[title]=x'
    })
    t.equal(response.statusCode, statusCode)
    t.notMatch(response.body, 'swordfish')
  }
})

t.test('an error is answered in its format if what belongs to it cannot be found', async (t) => {
  const own: Format = {
    name: 'own',
    mediaTypes: ['text/plain'],
    compileWriter: () => ({
      prepareProblem: async () => { throw new Error('swordfish') },
      record: () => '',
      problem: ({ status }) => `problem ${status}`,
      list: { open: '', row: () => '', separator: '', close: '' }
    })
  }
  const app = await build(t, { name: 'posts', attributes, formats: [own] })
  const response = await app.inject('/posts/9')
  t.strictSame([response.statusCode, response.body], [404, 'problem 404'])
})

const rowOf = (id: number, title: string): StoredRow => ({ id, version: '1', attributes: { title } })

t.test('the text that is held for a reader is bounded when large rows follow small ones', async (t) => {
  const rows = [...Array.from({ length: 1000 }, (_, index) => rowOf(index, 'a')),
    ...Array.from({ length: 200 }, (_, index) => rowOf(1000 + index, 'b'.repeat(100_000)))]
  for (const more of [undefined, { next: () => ({ done: true, value: undefined }) } satisfies Source]) {
    let written = 0
    const writer = {
      open: '',
      row: (
        { attributes }: StoredRow) => { written++; return String(attributes.title) },
      separator: ',',
      close: ''
    }
    const body = await writeList({ kind: 'listed', rows, more, order: BY_ID, first: undefined, last: undefined },
      writer)
    if (typeof body === 'string') throw new Error('the list is long, so it must be a stream')
    t.ok(written <= 1100, `${written} rows are written before the first chunk is read`)
    written = 0
    let length = 0
    for await (const chunk of body) length += String(chunk).length
    t.equal(length, 1000 + 200 * 100_000 + 1199)
    t.equal(written, 1200)
  }
})

t.test('a cursor is closed once when its second batch fails', async (t) => {
  let closed = 0
  let pulled = 0
  const cursor: AsyncIterator<StoredRow[]> = {
    async next () {
      if (pulled++ > 0) throw new Error('broken')
      return { done: false, value: [rowOf(1, 'a')] }
    },
    async return () {
      closed++
      throw new Error('closing fails too')
    }
  }
  const store = { ...memoryStore(), list: () => ({ [Symbol.asyncIterator]: () => cursor }) } as unknown as Store
  const app = await build(t, { name: 'posts', attributes, store })
  const response = await app.inject('/posts.json')
  t.equal(response.statusCode, 500)
  t.notMatch(response.body, 'broken')
  t.equal(closed, 1)
})

t.test('a type of XML with the name of a member of all objects is an unknown type', async (t) => {
  const store = memoryStore()
  store.create({ title: 'a' }, {})
  const app = await build(t, { name: 'posts', attributes, store })
  for (const type of ['__proto__', '__defineGetter__', 'hasOwnProperty', 'constructor']) {
    const request: InjectOptions = {
      method: 'PUT',
      url: '/posts.xml',
      headers: { 'content-type': 'application/xml' },
      payload: `<post><id>1</id><title type="${type}">string</title></post>`
    }
    const response = await app.inject(request)
    t.equal(response.statusCode, 422, type)
    t.match(response.body, /unknown type/, type)
  }
})

t.test('a sorted list of SQLite has each row once, also beside values that its columns should not have', async (t) => {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  database.exec('CREATE TABLE posts (id INTEGER PRIMARY KEY, t TEXT, n REAL)')
  for (let index = 0; index < 4; index++) database.exec(`INSERT INTO posts (t, n) VALUES ('t${index}', ${index}.5)`)
  database.exec("INSERT INTO posts (t, n) VALUES (x'0102', 9e999), (x'0103', 9e999), ('z', -9e999)")
  const properties = { t: { type: 'string' }, n: { type: 'number' } } as const
  const store = sqliteStore({ database, table: 'posts', version: 'values', attributes: { type: 'object', properties } })
  const app = await build(t, { name: 'posts', store } as unknown as ResourceOptions)
  for (const sort of ['t', '-t', 'n', '-n']) {
    const ids: number[] = []
    let url: string | undefined = `/posts.json?sort=${sort}&limit=2`
    while (url !== undefined && ids.length < 20) {
      const response: LightMyRequestResponse = await app.inject(url)
      t.equal(response.statusCode, 200, url)
      ids.push(...response.json().posts.map(({ id }: { id: number }) => id))
      url = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1]
    }
    t.strictSame([...ids].sort((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7], sort)
  }
})

interface Problem { type: string, title: string, status: number, detail: string, errors?: Record<string, string[]> }

t.test('each client gets a success in its own format', async t => {
  const updated = { ...first, title: 'U' }
  const created: Row = { id: 3, title: 'New', published: false }
  const xmlList = `${xml}<posts type="array">${xmlRow(first)}${xmlRow(second)}</posts>`
  const cases: [name: string, client: keyof typeof accepts, request: InjectOptions, status: number,
    type: string | undefined, location: string | undefined, body: string | object | RegExp][] = [
    ['list', 'json', { url: '/posts' }, 200, types.json, undefined, { posts: [first, second] }],
    ['list', 'xml', { url: '/posts' }, 200, types.xml, undefined, xmlList],
    ['list', 'html', { url: '/posts' }, 200, types.html, undefined, /^<!doctype html\b[^]*Taken[^]*<\/html>\s*$/i],
    ['show', 'json', { url: '/posts/1' }, 200, types.json, undefined, { post: first }],
    ['show', 'xml', { url: '/posts/1' }, 200, types.xml, undefined, xml + xmlRow(first)],
    ['show', 'html', { url: '/posts/2' }, 200, types.html, undefined, /^<!doctype html\b[^]*Taken[^]*<\/html>\s*$/i],
    ['create', 'json', { method: 'POST', url: '/posts', ...json({ post: { title: 'New' } }) }, 201, types.json,
      '/posts/3', { post: created }],
    ['create', 'xml', { method: 'POST', url: '/posts', ...json('<post><title>New</title></post>', 'application/xml') },
      201, types.xml, '/posts/3', xml + xmlRow(created)],
    ['create', 'html', { method: 'POST', url: '/posts', ...json('post[title]=New', form) }, 303, undefined,
      '/posts/3', ''],
    ['update', 'json', { method: 'PUT', url: '/posts', ...json({ id: 1, post: { title: 'U' } }) }, 200, types.json,
      undefined, { post: updated }],
    ['update', 'xml',
      { method: 'PUT', url: '/posts', ...json('<post><id>1</id><title>U</title></post>', 'application/xml') }, 200,
      types.xml, undefined, xml + xmlRow(updated)],
    ['update', 'html', { method: 'POST', url: '/posts', ...json('_method=PUT&id=1&post[title]=U', form) }, 303,
      undefined, '/posts/1', ''],
    ['update with PUT', 'html', { method: 'PUT', url: '/posts', ...json('id=1&post[title]=U', form) }, 303, undefined,
      '/posts/1', ''],
    ['delete', 'json', { method: 'DELETE', url: '/posts', ...json({ id: 1 }) }, 204, undefined, undefined, ''],
    ['delete', 'xml', { method: 'DELETE', url: '/posts', ...json('<id>1</id>', 'application/xml') }, 204, undefined,
      undefined, ''],
    ['delete', 'html', { method: 'POST', url: '/posts', ...json('_method=DELETE&id=1', form) }, 303, undefined,
      '/posts', ''],
    ['delete with DELETE', 'html', { method: 'DELETE', url: '/posts', ...json('id=1', form) }, 303, undefined,
      '/posts', '']
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, client, request, status, type, location, body] of cases) {
    const label = `${name} for ${client}`
    reset()
    const res = await app.inject(withHeaders(request, { accept: accepts[client] }))
    t.strictSame([res.statusCode, res.headers.location], [status, location], label)
    if (type !== undefined) t.equal(res.headers['content-type'], type, label)
    if (body instanceof RegExp) t.match(res.body, body, label)
    else if (typeof body === 'string') t.equal(res.body, body, label)
    else t.strictSame(res.json(), body, label)
    const after = name.startsWith('create')
      ? [first, second, created]
      : name.startsWith('update') ? [updated, second] : name.startsWith('delete') ? [second] : [first, second]
    t.strictSame(await rows(app), { posts: after }, label)
  }
})

t.test('a failure is one error in three formats, and changes nothing', async t => {
  const large = 'x'.repeat(2 ** 20 + 1)
  const create = (body: unknown, type?: string): InjectOptions => ({
    method: 'POST', url: '/posts', ...json(body, type)
  })
  const update = (body: unknown, type?: string): InjectOptions => ({
    method: 'PUT', url: '/posts', ...json(body, type)
  })
  const destroy = (body: unknown, type?: string): InjectOptions => ({
    method: 'DELETE', url: '/posts', ...json(body, type)
  })
  const asXml = 'application/xml'
  const cases: [status: number, name: string, request: InjectOptions, says?: RegExp | string[]][] = [
    [400, 'JSON that breaks off', create('{"post":{"title":"New"}')],
    [422, 'JSON with a key __proto__', create('{"post":{"title":"New","__proto__":{"admin":true}}}')],
    [400, 'XML with a DOCTYPE', create('<!DOCTYPE post [<!ENTITY e "New">]><post><title>&e;</title></post>', asXml)],
    [400, 'XML that is not UTF-8', create(Buffer.from('<post><title>\xe9</title></post>', 'latin1'), asXml)],
    [400, 'clashing ids in query and body', { ...update({ id: 1, post: { title: 'New' } }), url: '/posts?id=2' }],
    [400, 'an unknown _method', create('_method=PURGE&id=1', form)],
    [400, 'an unknown parameter of a list', { url: '/posts?pgae=1' }, /pgae/],
    [400, 'a limit above the bound', { url: '/posts?limit=1001' }, /1000/],
    [404, 'an unknown id', { url: '/posts/3' }],
    [404, 'a leading zero', { url: '/posts/01' }],
    [404, 'a number that no double holds', { url: '/posts/9007199254740993' }],
    [404, 'markup', { url: '/posts/%3Cscript%3E' }],
    [404, 'a delete of an unknown id', destroy({ id: 99 })],
    [405, 'PUT on a member', { method: 'PUT', url: '/posts/1', ...json({ post: { title: 'New' } }) }],
    [409, 'a create with a title that is taken', create({ post: { title: 'Taken' } }), ['title']],
    [409, 'a create with a title that is taken, by a form', create('post[title]=Taken', form), ['title']],
    [413, 'an XML body too large', create(`<post><title>New</title><body>${large}</body></post>`, asXml)],
    [415, 'plain text', create('title=New', 'text/plain')],
    [415, 'a multipart form',
      create('--x\r\ncontent-disposition: form-data; name="post[title]"\r\n\r\nNew\r\n--x--\r\n',
        'multipart/form-data; boundary=x')],
    [415, 'a charset other than UTF-8 in JSON', create('{"post":{"title":"New"}}', 'application/json; charset=latin1')],
    [415, 'no content type', { method: 'POST', url: '/posts', payload: '{"post":{"title":"New"}}' }],
    [415, 'a compressed body', withHeaders(create('{"post":{"title":"New"}}'), { 'content-encoding': 'gzip' })],
    [422, 'a create without a required attribute', create({ post: { body: 'B' } }), ['title']],
    [422, 'a create with two faults', create({ post: { title: '', rating: 9 } }), ['title', 'rating']],
    [422, 'a form that does not convert', create('post[title]=New&post[rating]=five', form), ['rating']],
    [422, 'an unknown attribute in JSON', create({ post: { titel: 'New', title: 'New' } }), ['titel']],
    [422, 'an unknown key at the top', create({ post: { title: 'New' }, psot: {} }), /psot[^]*post/],
    [422, 'a root of the wrong name', create('<psot><title>New</title></psot>', asXml), /psot[^]*post/],
    [422, 'a create with an id', create({ post: { id: 7, title: 'New' } }), ['id']],
    [422, 'a create without a group', create({})],
    [422, 'an update without an id', update({ post: { title: 'New' } })],
    [422, 'a delete without an id', { method: 'DELETE', url: '/posts' }]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [status, name, request, says] of cases) {
    await t.test(`${status}: ${name}`, async t => {
      reset()
      const [{ errors, detail }, headers] = await isRefused(t, app, request, status)
      if (Array.isArray(says)) t.strictSame(Object.keys(errors ?? {}).sort(), says.sort())
      else if (says !== undefined) t.match(JSON.stringify([detail, errors]), says)
      if (status === 415 && !request.headers?.['content-encoding']) {
        for (const type of ['application/xml', 'text/xml', 'application/json', form]) {
          t.ok(headers.accept?.includes(type), `${type} may be sent`)
        }
        t.notMatch(headers.accept, 'html')
      } else if (status === 415) {
        t.equal(headers['accept-encoding'], 'identity')
      }
    })
  }
})

t.test('a beginner\'s mistake is answered with its cure', async t => {
  const asJson = (body: string): InjectOptions => ({ method: 'POST', url: '/posts', ...json(body) })
  const asForm = (body: string): InjectOptions => ({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: body
  })
  const untyped = (type?: string): InjectOptions => ({
    method: 'POST',
    url: '/posts',
    headers: type === undefined ? {} : { 'content-type': type },
    payload: '{"post":{"title":"New"}}'
  })
  const port = { 'sec-fetch-site': 'same-site', origin: 'http://localhost:5173' }
  const byId = "with the id, or set the option writes to 'both'"
  const cases: Array<[name: string, request: InjectOptions, status: number, says: string,
    options?: Omit<ResourceOptions, 'name'>]> = [
      ['attributes without their group', asJson('{"title":"Tea"}'), 422,
        'title must be inside "post": send {"post":{"title":…}}'],
      ['an attribute beside its group', asJson('{"post":{"title":"Tea"},"body":"B"}'), 422,
        'body must be inside "post": send {"post":{"body":…}}'],
      ['attributes without their group, in a form', asForm('title=Tea'), 422,
        'title must be inside "post": send post[title]=…'],
      ['any name where none is declared', asJson('{"a\\"b":1}'), 422,
        'a"b must be inside "note": send {"note":{"a\\"b":…}}',
        { attributes: undefined, store: memoryStore(), singular: 'note' }],
      ['the group misspelt where no name is declared', asJson('{"nite":{}}'), 422,
        'nite is unknown beside "note"; did you mean "note"?',
        { attributes: undefined, store: memoryStore(), singular: 'note' }],
      ['a body without its type', untyped(), 415,
        'a body without a Content-Type cannot be read here; send application/xml, text/xml, application/json, ' +
        'application/x-www-form-urlencoded; set the header Content-Type to the type of the body'],
      ['a body that fetch calls a text', untyped('text/plain;charset=UTF-8'), 415,
        'text/plain cannot be read here; send application/xml, text/xml, application/json, ' +
        'application/x-www-form-urlencoded; set the header Content-Type to the type of the body'],
      ['JSON that curl calls a form', asForm('{"post":{"title":"New","tags":["a&b"]}}'), 400,
        'the body looks like JSON, but its Content-Type says that it is a form; send the header Content-Type: ' +
        'application/json'],
      ['XML that curl calls a form', asForm('<post/>'), 400,
        'the body looks like XML, but its Content-Type says that it is a form; send the header Content-Type: ' +
        'application/xml'],
      ['PUT of a member', { method: 'PUT', url: '/posts/1', ...json({ post: { title: 'U' } }) }, 405,
      `PUT is not allowed here; use GET, HEAD, OPTIONS; to write, send PUT /posts ${byId}`],
      ['DELETE of a member under a prefix', { method: 'DELETE', url: '/a%20b/posts/1' }, 405,
      `DELETE is not allowed here; use GET, HEAD, OPTIONS; to write, send DELETE /a%20b/posts ${byId}`,
      { prefix: '/:tenant', store: memoryStore() }],
      ['DELETE of a member that cannot be deleted', { method: 'DELETE', url: '/posts/1' }, 405,
        'DELETE is not allowed here; use GET, HEAD, OPTIONS', { except: 'delete' }],
      ['PUT of a collection', { method: 'PUT', url: '/posts', ...json({ id: 1, post: {} }) }, 405,
        'PUT is not allowed here; use GET, HEAD, QUERY, POST, OPTIONS', { writes: 'member' }],
      ['a browser app on another port', { method: 'DELETE', url: '/posts?id=1', headers: port }, 403,
        'the request comes from another origin of this site: Sec-Fetch-Site is same-site; ' +
          'if its pages may write here, ' + 'add "http://localhost:5173" to the option trustedOrigins'],
      ['an older browser', { method: 'DELETE', url: '/posts?id=1', headers: { origin: 'http://localhost:5173' } }, 403,
        'the request comes from another origin: Origin is http://localhost:5173; if its pages may write here, add ' +
        '"http://localhost:5173" to the option trustedOrigins'],
      ['a page without an origin', { method: 'DELETE', url: '/posts?id=1', headers: { origin: 'null' } }, 403,
        'the request comes from another origin: Origin is null; if its pages may write here, add its origin to the ' +
        'option trustedOrigins']
    ]
  const usual = await build(t, { name: 'posts', attributes: post })
  for (const [name, request, status, says, options] of cases) {
    await t.test(name, async t => {
      const app = options === undefined ? usual : await build(t, { name: 'posts', attributes: post, ...options })
      const [byJson, byXml, byHtml] = await Promise.all(Object.values(accepts).map((accept) =>
        app.inject(withHeaders(request, { accept }))))
      const written = (text = ''): string => text.replaceAll(/&(quot|#39|lt|gt|amp);/g,
        (_, entity: string) => ({ quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' })[entity] as string)
      // XML documents and pages spell an attribute's name differently.
      const cure = status === 422 ? says.slice(says.indexOf(' ')) : says
      t.strictSame([byXml?.statusCode, byXml?.headers['content-type']], [status, types.xml])
      t.ok(written(byXml?.body).endsWith(`${cure}</error></errors>`), name)
      if (request.url === '/posts/1.xml') return
      t.strictSame([byJson?.statusCode, byJson?.json<Problem>().detail], [status, says])
      t.ok(written(byHtml?.body.replaceAll(/<[^>]*>/g, '')).includes(cure), name)
    })
  }
})

/** Three writes that need no body, of an app that has both kinds of paths. */
const BODILESS: ReadonlyArray<readonly [method: 'DELETE' | 'POST', url: string]> = [['DELETE', '/posts/2'],
  ['DELETE', '/posts?id=1'], ['POST', '/posts/3/publish']]

async function withPublish (t: Test, server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('posts', { attributes: post, store: twoRows(), writes: 'both' }, (posts) => {
      posts.member.post('publish', () => undefined)
    })
  }))
  await app.ready()
  return app
}

t.test('a write without a body may have any Content-Type', async t => {
  const contentTypes = ['text/plain', 'text/plain;charset=UTF-8', 'application/octet-stream',
    'application/json; charset=utf-16', form, 'application/xml', 'multipart/form-data; boundary=x', 'no type', '']
  for (const contentType of contentTypes) {
    for (const encoding of ['identity', 'gzip']) {
      const app = await withPublish(t)
      for (const [method, url] of BODILESS) {
        const headers = { accept: accepts.json, 'content-type': contentType, 'content-encoding': encoding }
        const res = await app.inject({ method, url, headers })
        t.strictSame([res.statusCode, res.body], [204, ''], `${method} ${url} as "${contentType}" in ${encoding}`)
      }
    }
  }
})

t.test('HTTP/2 tells by a flag whether a write has a body', async t => {
  const app = await withPublish(t, { http2: true } as object)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => { client.destroy() })
  const send = async (method: string, path: string, body?: string): Promise<unknown> => {
    const headers = { ':method': method, ':path': path, 'content-type': 'text/plain' }
    const stream = client.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [answer] = await once(stream, 'response') as [IncomingHttpHeaders]
    stream.close()
    return answer[':status']
  }
  for (const [method, url] of BODILESS) {
    t.equal(await send(method, url, 'x'), 415, `${method} ${url} with a text`)
    t.equal(await send(method, url), 204, `${method} ${url} without a body`)
  }
})
