import Database from 'libsql'
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Store } from '../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import { build, draft } from '../support/helper.js'

const JSON_TYPE = { accept: 'application/json' }
const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    email: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    settings: { type: 'object', additionalProperties: { type: 'integer' } }
  }
} as const

type Options = Partial<Parameters<typeof build>[1] & object>

/** Opens a store of `posts` with a unique `email`, whose rows have these attributes. */
type OpenStore = () => Store

function openSqlite (version: string): Store {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  const columns = version === 'values' ? '' : ', version INTEGER NOT NULL DEFAULT 1'
  database.exec(`CREATE TABLE posts
    (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, email TEXT UNIQUE, tags TEXT, settings TEXT${columns})`)
  return sqliteStore({ database, table: 'posts', attributes, unique: ['email'], version }) as Store
}

/** Makes a store whose methods begin and answer some turns of the queue of promises later than they are called. */
function makeLate (store: Store): Store {
  async function wait (): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await Promise.resolve()
  }
  async function late <T> (call: () => T): Promise<Awaited<T>> {
    await wait()
    const answer = await call()
    await wait()
    return answer
  }
  return {
    capabilities: store.capabilities,
    list: (query, context) => store.list(query, context),
    count: (...parameters) => late(() => (store.count as NonNullable<Store['count']>)(...parameters)),
    get: (...parameters) => late(() => store.get(...parameters)),
    create: (...parameters) => late(() => store.create(...parameters)),
    update: (...parameters) => late(() => store.update(...parameters)),
    delete: (...parameters) => late(() => store.delete(...parameters))
  } as Store
}

const STORES: Readonly<Record<string, OpenStore>> = {
  'SQLite with a counted version': () => openSqlite('version'),
  'SQLite with the version \'values\'': () => openSqlite('values'),
  'the memory store': () => memoryStore({ unique: ['email'] }) as Store,
  'a memory store that answers late': () => makeLate(memoryStore({ unique: ['email'] }) as Store)
}

async function open (t: Test, openStore: OpenStore, options: Options = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', store: openStore(), attributes, ...options } as Parameters<typeof build>[1])
}

async function post (app: FastifyInstance, values: object): Promise<Response> {
  return app.inject({ method: 'POST', url: '/posts', headers: JSON_TYPE, payload: { post: values } })
}

async function put (app: FastifyInstance, values: object, etag?: string): Promise<Response> {
  const headers = { ...JSON_TYPE, ...(etag !== undefined && { 'if-match': etag }) }
  return app.inject({ method: 'PUT', url: '/posts', headers, payload: { id: 1, post: values } })
}

function statusesOf (responses: readonly Response[]): number[] {
  return responses.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
}

for (const [name, openStore] of Object.entries(STORES)) {
  t.test(`${name}: of writes that name one version, one succeeds`, async (t) => {
    for (const values of [(index: number) => ({ title: `T${index}` }),
      (index: number) => ({ title: `T${index}`, tags: [`${index}`] })]) {
      const app = await open(t, openStore)
      const etag = String((await post(app, { title: 'a', tags: [] })).headers.etag)
      const written = await Promise.all(Array.from({ length: 8 }, (_, index) => put(app, values(index), etag)))
      t.strictSame(statusesOf(written), [200, ...new Array<number>(7).fill(412)])
      const winner = written.find(({ statusCode }) => statusCode === 200)
      const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
      t.strictSame(stored, winner?.json(), 'the row has the values of the one')
      t.ok(
        written.every(
          (response) => response.statusCode === 200 || response.headers.etag === undefined ||
            response.headers.etag === winner?.headers.etag
        )
      )
    }
  })

  t.test(`${name}: of creates with one unique value, one succeeds`, async (t) => {
    const app = await open(t, openStore)
    const created = await Promise.all(Array.from({ length: 8 }, () => post(app, { email: 'a@example.com' })))
    t.strictSame(statusesOf(created), [201, ...new Array<number>(7).fill(409)])
    t.equal((await app.inject({ url: '/posts', headers: JSON_TYPE })).json().posts.length, 1)
  })

  t.test(`${name}: a deletion and updates of one version exclude each other`, async (t) => {
    for (const isFirst of [true, false]) {
      const app = await open(t, openStore)
      const etag = String((await post(app, { title: 'a' })).headers.etag)
      const remove = async (): Promise<Response> =>
        app.inject({ method: 'DELETE', url: '/posts', headers: { ...JSON_TYPE, 'if-match': etag }, payload: { id: 1 } })
      const writes = isFirst ? [remove(), put(app, { title: 'b' }, etag)] : [put(app, { title: 'b' }, etag), remove()]
      const written = await Promise.all(writes)
      const won = written.filter(({ statusCode }) => statusCode < 300)
      t.equal(won.length, 1, 'one write succeeds')
      const isDeleted = won[0]?.statusCode === 204
      t.ok(written.every(({ statusCode }) => statusCode < 300 || statusCode === (isDeleted ? 404 : 412)))
      t.equal((await app.inject({ url: '/posts/1', headers: JSON_TYPE })).statusCode, isDeleted ? 404 : 200)
    }
  })

  t.test(`${name}: updates of different attributes without a version are all kept`, async (t) => {
    const app = await open(t, openStore)
    await post(app, { title: 'a', tags: [] })
    const writes = [put(app, { title: 'b' }), put(app, { email: 'b@example.com' }), put(app, { tags: ['b'] })]
    t.strictSame(statusesOf(await Promise.all(writes)), [200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    const { title, email, tags } = stored.post
    t.strictSame({ title, email, tags }, { title: 'b', email: 'b@example.com', tags: ['b'] })
  })

  t.test(`${name}: of handlers that proceed with one version, one succeeds`, async (t) => {
    let calls = 0
    const app = await open(t, openStore, {
      actions: {
        async update (context: { proceed (): unknown }) {
          calls++
          await Promise.resolve()
          return context.proceed()
        }
      }
    } as Options)
    const etag = String((await post(app, { title: 'a' })).headers.etag)
    const written = await Promise.all(Array.from({ length: 4 }, (_, index) => put(app, { title: `T${index}` }, etag)))
    t.strictSame(statusesOf(written), [200, 412, 412, 412])
    t.ok(calls >= 1 && calls <= 4)
  })

  t.test(`${name}: updates by XML, which are compared with the row, and others at the same time are all kept`, async (
    t
  ) => {
    const app = await open(t, openStore)
    await post(app, { title: 'a', email: 'a@example.com', tags: [] })
    // The client sends the whole row back as it has read it, with one change.
    const headers = { accept: 'application/xml', 'content-type': 'application/xml' }
    const shown = (await app.inject({ url: '/posts/1', headers })).body
    const payload = shown.replace('<title>a</title>', '<title>b</title>')
    const putXml = async (): Promise<Response> => app.inject({ method: 'PUT', url: '/posts', headers, payload })
    const written = await Promise.all([putXml(), put(app, { email: 'b@example.com' }), put(app, { tags: ['b'] })])
    t.strictSame(statusesOf(written), [200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.equal(stored.post.title, 'b')
  })

  t.test(`${name}: merge patches of different members at one time are all kept`, async (t) => {
    const app = await open(t, openStore, { writes: 'member' })
    await post(app, { settings: {} })
    const patch = async (member: string): Promise<Response> =>
      app.inject({
        method: 'PATCH',
        url: '/posts/1',
        headers: { ...JSON_TYPE, 'content-type': 'application/merge-patch+json' },
        payload: JSON.stringify({ post: { settings: { [member]: 1 } } })
      })
    const written = await Promise.all(['a', 'b', 'c', 'd'].map(patch))
    t.strictSame(statusesOf(written), [200, 200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.strictSame(stored.post.settings, { a: 1, b: 1, c: 1, d: 1 })
  })
}

t.test('of creates of one singleton with one unique value at the same time, one succeeds', async (t) => {
  const attributes = { type: 'object', properties: { email: { type: 'string' } } } as const
  for (const store of [memoryStore({ unique: ['email'] }), makeLate(memoryStore({ unique: ['email'] }) as Store)]) {
    const app = await draft(t, (map) => map.resource('profile', { store, attributes }))
    const create = async (): Promise<Response> =>
      app.inject({
        method: 'POST', url: '/profile', headers: JSON_TYPE, payload: { profile: { email: 'a@example.com' } }
      })
    t.strictSame(statusesOf(await Promise.all([create(), create(), create()])), [201, 409, 409])
  }
})
