import t from 'tap'
import fastify from 'fastify'
import resources from '../../../../lib/index.js'
import { type SqlStoreOptions } from '../../../../lib/sql/sqlite/index.js'
import { type Engine, openEngines } from '../../../support/stores/sql-engines.js'

const headers = { accept: 'application/json' }

/** Serves a table that describes itself. */
async function serve ({ store }: Engine, table: string): Promise<ReturnType<typeof fastify>> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: table, store: store({ table } as SqlStoreOptions) })
  await app.ready()
  return app
}

t.test('a column of an existing table is not taken over by its name "version"', async (t) => {
  for (const engine of await openEngines()) {
    const [counted, small] = engine.name === 'sqlite' ? ['INTEGER', 'INTEGER'] : ['bigserial', 'integer']
    for (const [index, column] of [`${small} NOT NULL`, 'bigint NOT NULL DEFAULT 1', '"INTEGER" NOT NULL DEFAULT 1'].entries()) {
      if (engine.name === 'postgresql' && index === 2) continue
      const table = `release${index}s`
      await engine.run(
        `CREATE TABLE ${table} (id ${counted} PRIMARY KEY, name text, version ${column})`,
        `INSERT INTO ${table} (name, version) VALUES ('first', 120)`
      )
      const app = await serve(engine, table)
      const put = async (row: object, etag = '*'): Promise<Awaited<ReturnType<typeof app.inject>>> =>
        app.inject({ method: 'PUT', url: `/${table}`, headers: { ...headers, 'if-match': etag }, payload: { id: 1, [`release${index}`]: row } })
      const named = await put({ name: 'First' })
      t.match([named.statusCode, named.json()], [200, { [`release${index}`]: { id: 1, name: 'First', version: 120 } }], `${engine.name} ${column}`)
      // A bigint that is no id is a decimal text.
      const next = index === 1 ? '121' : 121
      t.match((await put({ version: next })).json(), { [`release${index}`]: { version: next } }, 'it can be set')
      t.equal((await put({ name: 'x' }, String(named.headers.etag))).statusCode, 412, 'and another version guards the row')
    }
  }
})

t.test('a table that migrate has made keeps its column of the version', async (t) => {
  const properties = { code: { type: 'string' }, title: { type: 'string' }, n: { type: 'integer', default: 1 } } as const
  const attributes = { type: 'object', required: ['code'], properties } as const
  const uuid = '01a2155f-712e-7000-800f-8de20b64ce5e'
  const made: ReadonlyArray<readonly [table: string, options: Partial<SqlStoreOptions>, row: object]> = [
    ['counts', { id: 'integer' }, { code: 'a' }],
    ['uuids', { id: 'uuid' }, { code: 'a' }],
    ['codes', { key: ['code'] }, { code: 'a' }],
    ['ratios', { attributes: { type: 'object', properties: { ratio: { type: 'number' } } } }, { ratio: 1.5 }]
  ]
  for (const engine of await openEngines()) {
    for (const [table, options, row] of made) {
      const store = engine.store({ table, attributes, migrate: true, ...options })
      await store.prepare()
      const app = await serve(engine, table)
      const singular = table.slice(0, -1)
      // Nothing in SQLite says that the store made the UUIDs.
      const given = table === 'uuids' && engine.name === 'sqlite' ? { ...row, id_: uuid } : row
      const created = await app.inject({ method: 'POST', url: `/${table}`, headers, payload: { [singular]: given } })
      t.match(created.headers.etag, /^"1\./, `${engine.name} ${table}`)
      t.notMatch(created.json(), { [singular]: { version: 1 } }, 'the version is no attribute')
    }
  }
})

t.test('a column "version" that migrate has added counts in SQLite', async (t) => {
  const [engine] = await openEngines() as [Engine]
  await engine.run('CREATE TABLE "notes" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT) STRICT')
  await engine.store({ table: 'notes', attributes: { type: 'object', properties: { title: { type: ['string', 'null'] } } }, migrate: true }).prepare()
  const app = await serve(engine, 'notes')
  t.match((await app.inject({ method: 'POST', url: '/notes', headers, payload: { note: { title: 'T' } } })).headers.etag, /^"1\./)
})
