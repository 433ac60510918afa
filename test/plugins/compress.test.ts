import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Store, type Row } from '../../dist/index.js'
import { accepts, build, CLIENTS, documents, isServed, ORDERS, problems } from './helper.js'
import { plainTag } from '../support/plain-tag.js'

const decoders = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync }
const MANY = 5000

function manyPosts (): Store {
  const store = memoryStore()
  for (let id = 1; id <= MANY; id++) store.create({ title: `Tea & cake ${id}` }, {})
  return store
}

/** Returns a store whose list is `batches`. */
function listing (batches: () => Iterable<readonly Row[]>): Store {
  return { ...memoryStore(), list: batches } as Store
}

async function listen (t: Test, store: Store): Promise<number> {
  const app = await build(t, 'before', (app) => app.register(compress), { options: { store } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('all requests are served', async (t) => {
      await isServed(t, await build(t, order, (app) => app.register(compress)))
      await isServed(t, await build(t, order, (app) =>
        app.register(compress, { threshold: 0 })), { 'accept-encoding': 'identity' })
    })
  })
}

t.test('registered before the resources, it compresses answers, and the bytes stay the same', async (t) => {
  const store = manyPosts()
  const add = (app: FastifyInstance): unknown => app.register(compress, { threshold: 0 })
  const app = await build(t, 'before', add, { options: { store } })
  const alone = await build(t, 'before', () => {}, { options: { store } })
  for (const client of CLIENTS) {
    for (const [url, status, type] of [
      ['/posts', 200, documents], ['/posts?limit=20', 200, documents], ['/posts/7', 200, documents],
      ['/posts/0', 404, problems], ['/posts?x=1', 400, problems]
    ] as const) {
      const headers = { accept: accepts[client] }
      const expected = await alone.inject({ url, headers })
      const unchanged = await app.inject({ url, headers })
      t.strictSame(
        [unchanged.statusCode, unchanged.headers['content-encoding'], unchanged.body],
        [status, undefined, expected.body]
      )
      for (const encoding of ['gzip', 'br', 'deflate'] as const) {
        const res = await app.inject({ url, headers: { ...headers, 'accept-encoding': encoding } })
        t.strictSame(
          [res.statusCode, res.headers['content-type'], res.headers['content-encoding'], res.headers.etag],
          [status, type[client], encoding, expected.headers.etag], `${client} ${url}`
        )
        t.strictSame(String(res.headers.vary).toLowerCase().split(/, */).sort(), ['accept', 'accept-encoding'])
        t.ok(
          decoders[encoding](res.rawPayload).equals(expected.rawPayload),
          `${expected.rawPayload.length} bytes as ${encoding}`
        )
      }
    }
  }
  t.ok((await alone.inject('/posts.xml')).body.split('<post>').length > MANY, 'a long list is among the answers')
})

t.test('neither a HEAD nor a 304 has a body', async (t) => {
  const app = await build(t, 'before', (app) =>
    app.register(compress, { threshold: 0 }), { options: { store: manyPosts() } })
  for (const client of CLIENTS) {
    for (const url of ['/posts', '/posts/7', '/posts/0']) {
      const headers = { accept: accepts[client], 'accept-encoding': 'gzip' }
      const [head, full] = [await app.inject({ method: 'HEAD', url, headers }), await app.inject({ url, headers })]
      t.strictSame(
        [head.statusCode, head.headers['content-type'], head.headers.etag, head.body],
        [full.statusCode, full.headers['content-type'], full.headers.etag, ''], `${client} ${url}`
      )
    }
    const { statusCode, headers, body } = await app.inject({
      url: '/posts/7', headers: { accept: accepts[client], 'accept-encoding': 'gzip', 'if-none-match': '*' }
    })
    t.strictSame(
      [statusCode, headers['content-encoding'], plainTag(headers.etag), body], [304, undefined, `"1.${client}"`, '']
    )
  }
})

t.test('a list that fails midway is cut off, also when compressed', async (t) => {
  const port = await listen(t, listing(function * () {
    for (let id = 1; id <= 1000; id++) yield [{ id, version: '1', attributes: { title: `${Math.sin(id)}`.repeat(20) } }]
    throw new Error('the disk is gone')
  }))
  for (const client of CLIENTS.filter((client) => client !== 'html')) {
    const res = await fetch(`http://127.0.0.1:${port}/posts.${client}`, { headers: { 'accept-encoding': 'gzip' } })
    t.strictSame([res.status, res.headers.get('content-encoding')], [200, 'gzip'])
    await t.rejects(res.text())
  }
})

t.test('a client that leaves frees the store', async (t) => {
  let leave: () => void
  const left = new Promise<void>((resolve) => { leave = resolve })
  const port = await listen(t, listing(function * () {
    try {
      for (let id = 1; ; id++) yield [{ id, version: '1', attributes: { title: `${Math.sin(id)}`.repeat(1000) } }]
    } finally {
      leave()
    }
  }))
  const request = get({ port, path: '/posts.xml', headers: { 'accept-encoding': 'gzip' } })
  request.on('error', () => {})
  const [response] = await once(request, 'response')
  await once(response, 'data')
  request.destroy()
  await left
})

t.test('registered after the resources, it does not see their routes', async (t) => {
  const app = await build(t, 'after', (app) => app.register(compress, { threshold: 0 }))
  const { statusCode, headers } = await app.inject({ url: '/posts', headers: { 'accept-encoding': 'gzip' } })
  t.strictSame([statusCode, headers['content-encoding']], [200, undefined])
})

t.test('our routes refuse a compressed body', async (t) => {
  for (const order of ORDERS) {
    const app = await build(t, order, (app) => app.register(compress))
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      payload: Buffer.from('H4sI')
    })
    t.strictSame([statusCode, headers['accept-encoding']], [415, 'identity'])
  }
})
