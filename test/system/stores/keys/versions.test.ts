import Database from 'libsql'
import t, { type Test } from 'tap'
import resources, { BY_ID, type Row, type WriteOutcome } from '../../../../lib/index.js'
import {
  type SqliteDatabase, sqliteStore, type SqlStore, type SqlStoreOptions
} from '../../../../lib/sql/sqlite/index.js'
import { context, type Engine, every, messageOf, openEngines, readAll } from '../../../support/stores/sql-engines.js'
import fastify from 'fastify'

const anyVersion = { version: undefined, scope: {} }
const title = { type: 'object', properties: { title: { type: ['string', 'null'] } } } as const

/** Runs the same test on each engine for each kind of version without a column. */
function each (name: string, body: (t: Test, engine: Engine, version: string) => Promise<void>): void {
  t.test(name, async (t) => {
    for (const engine of await openEngines()) {
      for (const version of engine.name === 'sqlite' ? ['values'] : ['values', 'xmin']) {
        await t.test(`${engine.name}, ${version}`, (t) => body(t, engine, version))
      }
      // In libsql, EXPLAIN leaves a statement open, which locks the table until it is collected.
      if (engine.name === 'postgresql') await engine.run('DROP TABLE IF EXISTS rows')
    }
  })
}

async function opened ({ store }: Engine, options: Partial<SqlStoreOptions>): Promise<SqlStore> {
  const opened = store({ table: 'rows', attributes: title, ...options })
  await opened.prepare()
  return opened
}

each('each change by another writer makes a version stale', async (t, engine, version) => {
  const key = engine.name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'serial PRIMARY KEY'
  const attributes = {
    type: 'object',
    properties: {
      title: { type: ['string', 'null'] },
      email: { type: ['string', 'null'] },
      n: { type: ['integer', 'null'] },
      done: { type: ['boolean', 'null'] },
      data: {},
      content: { type: ['string', 'null'], contentEncoding: 'base64' },
      version: { type: ['string', 'null'] }
    }
  } as const
  const data = { a: [1, null, 'x'] }
  const values = { title: 'T', email: null, n: 1, done: true, data, content: 'AP8=', version: 'v' }
  const [json, boolean, bytes] = engine.name === 'sqlite' ? ['TEXT', 'INTEGER', 'BLOB'] : ['json', 'boolean', 'bytea']
  await engine.run(
    'DROP TABLE IF EXISTS rows',
    `CREATE TABLE rows (id ${key}, title TEXT, email TEXT, n INTEGER, done ${boolean}, data ${json}, ` +
      `content ${bytes}, version TEXT, other TEXT)`
  )
  const store = await opened(engine, { attributes, version })
  for (const change of [
    "title = 't'", 'title = NULL', "title = 'T '", "email = ''", "email = 'T', title = NULL", 'n = NULL', 'n = 2',
    `done = ${engine.name === 'sqlite' ? '0' : 'false'}`, "data = '{\"a\":[1,null,\"y\"]}'", 'data = NULL',
    "version = 'w'", engine.name === 'sqlite' ? "content = x'00fe'" : "content = '\\x00fe'"
  ]) {
    const row = await store.create(values, {}, context)
    t.match(row.version, /^[\da-z]+$/, 'a version fits an entity tag')
    t.strictSame(await store.get(row.id, {}, context), row)
    await engine.run(`UPDATE rows SET ${change} WHERE id = ${row.id}`)
    const current = await store.get(row.id, {}, context) as Row
    t.not(current.version, row.version, change)
    const guard = { version: row.version, scope: {} }
    t.strictSame(await store.update(row.id, { n: 5 }, guard, context), { ok: false, why: 'stale', current }, change)
    t.strictSame(await store.delete(row.id, guard, context), { ok: false, why: 'stale', current })
    t.match(
      await store.update(row.id, { n: 5 }, { version: current.version, scope: {} }, context),
      { ok: true, row: { attributes: { n: 5 } } }
    )
  }
  for (const { id, version } of await readAll(store.list(every, context))) {
    t.match(
      await store.delete(id, { version, scope: {} }, context), { ok: true, row: { id, version } },
      'a list has the same versions'
    )
  }
  const row = await store.create({}, {}, context)
  const updated = await store.update(row.id, {}, { version: row.version, scope: {} }, context)
  t.match(updated, { ok: true, row: { id: row.id } }, 'an update without changes succeeds')
  t.equal(
    (updated as WriteOutcome & { ok: true }).row.version === row.version, version === 'values',
    'a digest changes with the values, the transaction with each write'
  )
})

each('a create without attributes, and an update of a table that is only read, have statements', async (
  t, engine, version
) => {
  await engine.run(
    'DROP TABLE IF EXISTS rows',
    `CREATE TABLE rows (id ${engine.name === 'sqlite'
      ? 'INTEGER PRIMARY KEY'
      : 'serial PRIMARY KEY'}, title TEXT DEFAULT 'D')`
  )
  const store = await opened(engine, {
    version, attributes: { type: 'object', properties: { title: { type: ['string', 'null'], readOnly: true } } }
  })
  const row = await store.create({}, {}, context)
  t.strictSame(row.attributes, { title: 'D' })
  t.match(await store.update(row.id, {}, { version: row.version, scope: {} }, context), {
    ok: true, row: { id: row.id }
  })
  for (const version of ['', '-1', 'x', "'", '9'.repeat(40)]) {
    t.match(
      await store.update(row.id, {}, { version, scope: {} }, context),
      { ok: false, why: 'stale', current: { id: row.id } }, `no row has the version ${JSON.stringify(version)}`
    )
  }
})

each('rows with long texts have the same version in a list as alone', async (t, engine, version) => {
  await engine.run('DROP TABLE IF EXISTS rows')
  const store = await opened(engine, { version, migrate: true })
  const sizes = [10, 3_000_000, 20, 700_000, 600_000, 30, 5_000_000, 1_000, 2_000_000]
  const rows: Row[] = []
  for (const [index, size] of sizes.entries()) {
    rows.push(await store.create({ title: String(index).repeat(size) }, {}, context))
  }
  for (const order of [BY_ID, [{ by: 'title', descending: true }, { by: 'id', descending: false }]]) {
    const listed = await readAll(store.list({ ...every, order }, context))
    t.strictSame(
      listed.map(({ id, version }) => [id, version]).sort(), rows.map(({ id, version }) => [id, version]).sort()
    )
    t.ok(listed.every((row) => row.attributes.title === rows.find(({ id }) => id === row.id)?.attributes.title))
  }
})

t.test('a version that the database cannot know is refused', async (t) => {
  const [sqlite, postgresql] = await openEngines() as [Engine, Engine]
  t.equal(await messageOf(() =>
    opened(sqlite, {
      version: 'xmin'
    })), "Option \"version\" is 'xmin', which only PostgreSQL has; use 'values', or name a column.")
  await postgresql.run(
    'CREATE TABLE plain (code text PRIMARY KEY, title text)',
    'CREATE TABLE parts (code text PRIMARY KEY, title text) PARTITION BY HASH (code)',
    'CREATE TABLE part PARTITION OF parts FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
    'CREATE VIEW seen AS SELECT * FROM plain', 'CREATE MATERIALIZED VIEW kept AS SELECT * FROM plain',
    'CREATE FOREIGN DATA WRAPPER nothing', 'CREATE SERVER far FOREIGN DATA WRAPPER nothing',
    'CREATE FOREIGN TABLE remote (code text NOT NULL, title text) SERVER far'
  )
  const attributes = {
    type: 'object', properties: { code: { type: 'string' }, title: { type: ['string', 'null'] } }
  } as const
  for (const [table, kind] of [
    ['parts', 'partitioned table'], ['seen', 'view'], ['kept', 'materialized view'], ['remote', 'foreign table']
  ]) {
    const options = { table: String(table), attributes, key: ['code'] }
    t.equal(await messageOf(() =>
      opened(postgresql, {
        ...options, version: 'xmin'
      })), `Option "table" is "${table}", which does not fit: a ${kind} has no "xmin" in all statements; set the ` +
        'option "version" to \'values\'.')
    await t.resolves(opened(postgresql, { ...options, version: 'values' }), `${kind}, values`)
  }
  const store = await opened(postgresql, { table: 'parts', attributes, key: ['code'], version: 'values' })
  const row = await store.create({ code: 'a' }, {}, context)
  t.match(await store.update('a', { title: 'T' }, { version: row.version, scope: {} }, context), { ok: true })
  t.match(await store.update('a', { title: 'U' }, { version: row.version, scope: {} }, context), {
    ok: false, why: 'stale', current: { attributes: { title: 'T' } }
  })
})

/** Opens a store that reads a row for a guarded write, and lets another writer change it before the write itself. */
function openInterrupted (database: SqliteDatabase, interruption: string): ReturnType<typeof sqliteStore> {
  const interrupted: SqliteDatabase = {
    exec: (text) => database.exec(text),
    prepare (text) {
      const statement = database.prepare(text)
      return {
        all (...values) {
          const rows = statement.all(...values)
          if (text.startsWith('SELECT') && text.includes('WHERE "id" = ?')) database.exec(interruption)
          return rows
        }
      }
    }
  }
  return sqliteStore({
    database: interrupted,
    table: 'rows',
    version: 'values',
    attributes: {
      type: 'object', properties: { title: { type: ['string', 'null'] }, data: {}, n: { type: ['integer', 'null'] } }
    }
  })
}

t.test('a write in SQLite compares the values that were read for its version', async (t) => {
  for (const change of [
    "title = 't'", "title = 'Ta'", 'title = NULL', "data = '[]'", 'data = NULL', 'n = NULL', 'n = 2'
  ]) {
    const database = new Database(':memory:')
    database.exec(
      'CREATE TABLE rows (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, data TEXT, n INTEGER); INSERT INTO rows ' +
        "VALUES (1, 'T', '{}', 1)"
    )
    const read = sqliteStore({
      database, table: 'rows', version: 'values', attributes: openInterrupted(database, '').attributes
    })
    const { version } = await read.get(1, {}) as Row
    const store = openInterrupted(database, `UPDATE rows SET ${change}`)
    const current = async (): Promise<Row> => await read.get(1, {}) as Row
    t.match(await store.update(1, { n: 5 }, { version, scope: {} }), { ok: false, why: 'stale' }, change)
    t.not((await current()).version, version)
    t.not((await current()).attributes.n, 5, 'the other change is not lost')
    database.exec("UPDATE rows SET title = 'T', data = '{}', n = 1")
    t.equal((await current()).version, version, 'the same values have the same version')
    t.match(await store.delete(1, { version, scope: {} }), { ok: false, why: 'stale' })
    t.match(await current(), { id: 1 })
    t.match(
      await openInterrupted(database, 'DELETE FROM rows').update(
        1, { n: 5 }, { version: (await current()).version, scope: {} }
      ),
      { ok: false, why: 'missing' }
    )
    database.close()
  }
})

t.test('values of different columns and types have different digests', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({
    database,
    table: 'rows',
    version: 'values',
    migrate: true,
    attributes: {
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { type: ['string', 'null'] }, n: { type: ['integer', 'null'] } }
    }
  })
  await store.prepare()
  const texts = ['', '1', 'null', 'null;', 's1:', 's0:', 'x', 's1:x', ';']
  const values = [
    ...texts.flatMap((a) => texts.map((b) => ({ a, b }))), { a: null }, { a: null, b: 'null' }, { a: 'null', b: null },
    { n: 1 }, { n: 0 }, { a: 'xs1:y', b: 'z' }, { a: 'x', b: 's1:yz' }
  ]
  const versions = await Promise.all(values.map(async (attributes) => (await store.create(attributes, {})).version))
  t.equal(new Set(versions).size, values.length)
})

t.test('SQLite serves tables without AUTOINCREMENT, and tables whose ids are numbers of rows', async (t) => {
  const [sqlite] = await openEngines() as [Engine, Engine]
  await sqlite.run('CREATE TABLE rows (id INTEGER PRIMARY KEY, title TEXT)', "INSERT INTO rows VALUES (7, 'seven')")
  const reused = await opened(sqlite, { version: 'values' })
  await reused.delete(7, anyVersion, context)
  t.equal((await reused.create({ title: 'T' }, {}, context)).id, 1)
  for (const id of ['rowid', '_rowid_']) {
    await sqlite.run(
      'DROP TABLE IF EXISTS plain', 'CREATE TABLE plain (title TEXT, n INTEGER)',
      "INSERT INTO plain VALUES ('a', 1), ('b', 2), ('c', 3)", 'DELETE FROM plain WHERE n = 2'
    )
    const store = await opened(sqlite, { table: 'plain', version: 'values', columns: { id } })
    t.strictSame(
      (await readAll(store.list(every, context))).map(({ id, attributes }) => [id, attributes.title]),
      [[1, 'a'], [3, 'c']], id
    )
    t.match(await store.create({ title: 'd' }, {}, context), { id: 4, attributes: { title: 'd' } })
    t.match(
      await store.update(
        3, { title: 'C' }, { version: (await store.get(3, {}, context))?.version, scope: {} }, context
      ),
      { ok: true, row: { id: 3, attributes: { title: 'C' } } }
    )
    t.strictSame((await readAll(store.list({ ...every, after: [3] }, context))).map(({ id }) => id), [4])
    t.match(await store.delete(4, anyVersion, context), { ok: true, row: { id: 4 } })
  }
  await sqlite.run('CREATE TABLE descending (code INTEGER PRIMARY KEY DESC, title TEXT)')
  const descending = await opened(sqlite, {
    table: 'descending',
    version: 'values',
    key: ['code'],
    attributes: { type: 'object', properties: { code: { type: 'integer' }, title: { type: 'string' } } }
  })
  t.match(await messageOf(() =>
    descending.create({ title: 'T' }, {}, context)), 'code must be given', 'SQLite does not fill in this key')
  t.match(await descending.create({ code: 3 }, {}, context), { id: 3 })
  await sqlite.run(
    'CREATE TABLE without (code TEXT PRIMARY KEY, title TEXT) WITHOUT ROWID',
    'CREATE VIEW seen AS SELECT title FROM rows'
  )
  for (const table of ['without', 'seen']) {
    t.match(await messageOf(() =>
      opened(sqlite, {
        table, version: 'values', columns: { id: 'rowid' }
      })), 'there is no column "rowid" for the id (or name the attributes that form the id by the option "key")')
  }
})

each('a foreign key that becomes null makes a version stale, without a trigger', async (t, engine, version) => {
  await engine.run(
    'DROP TABLE IF EXISTS rows', 'DROP TABLE IF EXISTS parents', 'CREATE TABLE parents (id INTEGER PRIMARY KEY)',
    'INSERT INTO parents VALUES (1)'
  )
  const attributes = { type: 'object', properties: { parentId: { type: ['integer', 'null'] } } } as const
  const store = await opened(engine, {
    attributes, references: { parentId: { table: 'parents', onDelete: 'set null' } }, version, migrate: true
  })
  const row = await store.create({ parentId: 1 }, {}, context)
  await engine.run(...engine.name === 'sqlite' ? ['PRAGMA foreign_keys = ON'] : [], 'DELETE FROM parents')
  const current = await store.get(row.id, {}, context)
  t.match(current, { attributes: { parentId: null } })
  t.strictSame(await store.delete(row.id, { version: row.version, scope: {} }, context), {
    ok: false, why: 'stale', current
  })
  const triggers = engine.name === 'sqlite'
    ? "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    : "SELECT tgname FROM pg_trigger WHERE tgrelid = 'rows'::regclass AND NOT tgisinternal"
  t.strictSame(await engine.run(triggers), [])
})

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
    for (const [index, column] of [
      `${small} NOT NULL`, 'bigint NOT NULL DEFAULT 1', '"INTEGER" NOT NULL DEFAULT 1'
    ].entries()) {
      if (engine.name === 'postgresql' && index === 2) continue
      const table = `release${index}s`
      await engine.run(
        `CREATE TABLE ${table} (id ${counted} PRIMARY KEY, name text, version ${column})`,
        `INSERT INTO ${table} (name, version) VALUES ('first', 120)`
      )
      const app = await serve(engine, table)
      const put = async (row: object, etag = '*'): Promise<Awaited<ReturnType<typeof app.inject>>> =>
        app.inject({
          method: 'PUT',
          url: `/${table}`,
          headers: { ...headers, 'if-match': etag },
          payload: { id: 1, [`release${index}`]: row }
        })
      const named = await put({ name: 'First' })
      t.match(
        [named.statusCode, named.json()], [200, { [`release${index}`]: { id: 1, name: 'First', version: 120 } }],
        `${engine.name} ${column}`
      )
      // A bigint that is no id is a decimal text.
      const next = index === 1 ? '121' : 121
      t.match((await put({ version: next })).json(), { [`release${index}`]: { version: next } }, 'it can be set')
      t.equal(
        (await put({ name: 'x' }, String(named.headers.etag))).statusCode, 412, 'and another version guards the row'
      )
    }
  }
})

t.test('a table that migrate has made keeps its column of the version', async (t) => {
  const properties = {
    code: { type: 'string' }, title: { type: 'string' }, n: { type: 'integer', default: 1 }
  } as const
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
  await engine.store({
    table: 'notes', attributes: { type: 'object', properties: { title: { type: ['string', 'null'] } } }, migrate: true
  })
    .prepare()
  const app = await serve(engine, 'notes')
  t.match(
    (await app.inject({ method: 'POST', url: '/notes', headers, payload: { note: { title: 'T' } } })).headers.etag,
    /^"1\./
  )
})
