import Database from 'libsql'
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import t, { type Test } from 'tap'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import { build } from '../support/helper.js'

const JSON_TYPE = { accept: 'application/json' }
const attributes = {
  type: 'object',
  properties: { title: { type: 'string' }, email: { type: ['string', 'null'] }, tags: { type: 'array', items: { type: 'string' } } }
} as const

const STORES = {
  'a counted version': { version: 'version' },
  'the version \'values\'': { version: 'values' }
} as const

type Options = Partial<Parameters<typeof build>[1] & object>

async function open (t: Test, version: string, options: Options = {}): Promise<FastifyInstance> {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  const columns = version === 'values' ? '' : ', version INTEGER NOT NULL DEFAULT 1'
  database.exec(`CREATE TABLE posts (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, email TEXT UNIQUE, tags TEXT${columns})`)
  const store = sqliteStore({ database, table: 'posts', attributes, unique: ['email'], version })
  return build(t, { name: 'posts', store, ...options } as Parameters<typeof build>[1])
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

for (const [name, { version }] of Object.entries(STORES)) {
  t.test(`SQLite with ${name}: of writes that name one version, one succeeds`, async (t) => {
    for (const values of [(index: number) => ({ title: `T${index}` }), (index: number) => ({ title: `T${index}`, tags: [`${index}`] })]) {
      const app = await open(t, version)
      const etag = String((await post(app, { title: 'a', tags: [] })).headers.etag)
      const written = await Promise.all(Array.from({ length: 8 }, (_, index) => put(app, values(index), etag)))
      t.strictSame(statusesOf(written), [200, ...new Array<number>(7).fill(412)])
      const winner = written.find(({ statusCode }) => statusCode === 200)
      const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
      t.strictSame(stored, winner?.json(), 'the row has the values of the one')
      t.ok(written.every((response) => response.statusCode === 200 || response.headers.etag === undefined || response.headers.etag === winner?.headers.etag))
    }
  })

  t.test(`SQLite with ${name}: of creates with one unique value, one succeeds`, async (t) => {
    const app = await open(t, version)
    const created = await Promise.all(Array.from({ length: 8 }, () => post(app, { email: 'a@example.com' })))
    t.strictSame(statusesOf(created), [201, ...new Array<number>(7).fill(409)])
    t.equal((await app.inject({ url: '/posts', headers: JSON_TYPE })).json().posts.length, 1)
  })

  t.test(`SQLite with ${name}: a deletion and updates of one version exclude each other`, async (t) => {
    for (const isFirst of [true, false]) {
      const app = await open(t, version)
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

  t.test(`SQLite with ${name}: updates of different attributes without a version are all kept`, async (t) => {
    const app = await open(t, version)
    await post(app, { title: 'a', tags: [] })
    const writes = [put(app, { title: 'b' }), put(app, { email: 'b@example.com' }), put(app, { tags: ['b'] })]
    t.strictSame(statusesOf(await Promise.all(writes)), [200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.strictSame(stored.post, { id: 1, title: 'b', email: 'b@example.com', tags: ['b'] })
  })

  t.test(`SQLite with ${name}: of handlers that proceed with one version, one succeeds`, async (t) => {
    let calls = 0
    const app = await open(t, version, {
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
}
