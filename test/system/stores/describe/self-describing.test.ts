import t, { type Test } from 'tap'
import { type ResourceOptions } from '../../../../lib/index.js'
import { postgresStore, type PostgresPool } from '../../../../lib/sql/postgres/index.js'
import { type SelfDescribing, sqliteStore, type SqlStore } from '../../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../../support/helper.js'
import { context, type Engine, messageOf, openEngines } from '../../../support/stores/sql-engines.js'
import { startPostgres } from '../../../support/stores/postgres.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'

type DescribedStore = SelfDescribing<SqlStore>

/** Runs the same test on each engine. `open` makes a store without attributes. */
function each (
  name: string, body: (t: Test, open: (table: string) => DescribedStore, engine: Engine) => Promise<void>
): void {
  t.test(name, async (t) => {
    for (const engine of await openEngines()) {
      await t.test(engine.name, (t) => body(t, (table) =>
        engine.store({ table } as Parameters<Engine['store']>[0]) as unknown as DescribedStore, engine))
    }
  })
}

const actionsOf = async (t: Test, options: ResourceOptions): Promise<string[]> =>
  [...new Set((await build(t, { formats: ['json'], ...options })).resourceRoutes.map(({ action }) =>
    action.replace(/.*#/, '')))].sort()

each('a table says which of its values are unique among rows that are not deleted', async (t, _open, engine) => {
  const id = engine.name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'serial PRIMARY KEY'
  await engine.run(
    `CREATE TABLE people (id ${id}, email text, code text, constructor text, "valueOf" text, gone text)`,
    'CREATE UNIQUE INDEX live_email ON people (email) WHERE gone IS NULL',
    'CREATE UNIQUE INDEX live_code ON people (code, email) WHERE gone IS NULL',
    'CREATE UNIQUE INDEX other ON people (code) WHERE constructor IS NULL'
  )
  const cases = [['gone', [['email'], ['code', 'email']]], ['constructor', [['code']]], ['valueOf', []]] as const
  for (const [softDelete, unique] of cases) {
    const store = engine.store({ table: 'people', softDelete } as unknown as Parameters<Engine['store']>[0])
    await (store as unknown as DescribedStore).describe()
    t.strictSame([...store.unique as string[][]].sort(), [...unique].sort(), softDelete)
  }
})

each('a table describes itself when its resource is registered', async (t, open, { name, run }) => {
  const id = name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'serial PRIMARY KEY'
  await run(
    `CREATE TABLE people (person_id ${id}, "full name" varchar(20) NOT NULL, email text UNIQUE, lock_version integer ` +
      'NOT NULL DEFAULT 1)'
  )
  const store = open('people')
  t.strictSame([store.id, store.attributes, store.capabilities], [undefined, undefined, undefined])
  t.match(await messageOf(() =>
    store.get(1, {}, context)), 'Option "attributes" of "people" are unknown; await prepare() of the store first.')
  const app = await build(t, { name: 'people', store, sort: ['email'] })
  t.match(store, {
    id: 'integer',
    attributes: { required: ['full_name'], properties: { full_name: { maxLength: 20 } } },
    capabilities: { order: true, create: true, update: true, delete: true }
  })
  const send = async (method: 'POST' | 'PUT' | 'DELETE', payload?: object, headers = {}): Promise<unknown> => {
    const { statusCode, body } = await app.inject({ method, url: '/people.json', ...(payload && { payload }), headers })
    return [statusCode, JSON.parse(body)]
  }
  t.match(await send('POST', { person: { full_name: 'Ann', email: 'a@x' } }), [
    201, { person: { id: 1, full_name: 'Ann', email: 'a@x' } }
  ])
  t.match(await send('POST', { person: { full_name: 'Bob', email: 'a@x' } }), [
    409, { detail: 'email is already taken' }
  ])
  t.match(await send('POST', { person: { email: 'b@x' } }), [422, { detail: /^full_name/ }])
  t.match(await send('PUT', { id: 1, person: { full_name: 'Eve' } }, { 'if-match': '"1.json"' }), [
    200, { person: { full_name: 'Eve' } }
  ])
  t.match(await send('PUT', { id: 1, person: { full_name: 'Zoe' } }, { 'if-match': '"1.json"' }), [412, {}])
  t.match((await app.inject('/people.json?sort=-email')).json(), { people: [{ id: 1 }] })
  t.equal(
    (await store.count(
      {
        order: [{ by: 'id', descending: false }],
        after: undefined,
        scope: {},
        filter: [],
        most: undefined,
        estimate: false
      },
      context
    )).rows,
    1
  )
  t.equal((await app.inject({ method: 'DELETE', url: '/people.json?id=1' })).statusCode, 204)
})

each('prepare alone describes the table, too, and only once', async (t, open, { run }) => {
  await run('CREATE TABLE codes (code varchar(9) NOT NULL PRIMARY KEY, a integer, b integer, UNIQUE (a, b))')
  const store = open('codes')
  await store.prepare()
  const { attributes } = store
  t.strictSame(store.id, 'string')
  t.match(await store.create({ code: 'x', a: 1, b: null }, {}, context), { id: 'x' })
  await store.describe()
  await store.prepare()
  t.equal(store.attributes, attributes)
})

each('two resources of a map share the store', async (t, open, { run }) => {
  await run('CREATE TABLE notes (id integer NOT NULL PRIMARY KEY, title text, parent integer)')
  const store = open('notes')
  const app = await draft(t, (map) => map.resources('notes', { store }, (notes) =>
    notes.resources('links', { store, foreignKey: 'parent', only: 'list' })).resources('papers', {
    store, attributes: { type: 'object', properties: { title: { type: 'string' } } }
  }))
  t.equal((await app.inject('/papers.json')).statusCode, 200)
})

each('what the table cannot do is no action', async (t, open, { name, run }) => {
  const all = ['create', 'delete', 'list', 'show', 'update']
  const id = name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'serial PRIMARY KEY'
  await run(
    `CREATE TABLE people (id ${id}, name text)`, 'CREATE VIEW seen AS SELECT id, name FROM people',
    "INSERT INTO people (name) VALUES ('Ann')",
    'CREATE TABLE pairs (a integer NOT NULL, b integer NOT NULL, PRIMARY KEY (a, b))', 'CREATE TABLE logs (line text)',
    "INSERT INTO logs VALUES ('x')"
  )
  t.strictSame(await actionsOf(t, { name: 'people', store: open('people') }), all)
  t.strictSame(await actionsOf(t, { name: 'pairs', store: open('pairs'), formPages: true }), [
    'create', 'delete', 'list', 'new', 'show'
  ])
  t.strictSame(await actionsOf(t, { name: 'seen', store: open('seen'), formPages: true }), ['list', 'show'])
  t.strictSame(await actionsOf(t, { name: 'logs', store: open('logs') }), ['list', 'show'])
  const app = await build(t, { name: 'seen', store: open('seen') })
  t.match((await app.inject('/seen.json')).json(), { seen: [{ name: 'Ann' }] })
  t.equal((await app.inject({ method: 'POST', url: '/seen.json', payload: { seen: { name: 'Bob' } } })).statusCode, 405)
  t.equal(await messageOf(() =>
    build(t, {
      name: 'seen', store: open('seen'), only: ['list', 'edit']
    })), 'Option "only" of resource "seen" names \'edit\', which the store of the resource cannot do.')
  const handled = await build(t, {
    name: 'seen',
    store: open('seen'),
    only: ['list', 'delete'],
    actions: { delete: () => ({ kind: 'deleted', row: { id: '1', version: '1', attributes: {} } }) }
  })
  t.equal((await handled.inject({ method: 'DELETE', url: '/seen.json?id=1' })).statusCode, 204)
})

each('a table that is missing or cannot be served stops the start of the app', async (t, open, { name, run }) => {
  const cure = 'create it, or give the store "attributes" and "migrate: true"'
  const message = async (table: string): Promise<string> =>
    messageOf(() => build(t, { name: 'rows', store: open(table) }))
  t.equal(
    await message('unlikely'),
    `Option "table" of the store of resource "rows" is "unlikely", which is not in the database; ${cure}.`
  )
  await run('CREATE TABLE papers (id integer PRIMARY KEY)', 'CREATE TABLE notes (id integer PRIMARY KEY)')
  t.match(
    await message('quotes'),
    `is "quotes", which is not in the database; ${cure}; the tables are "notes", "papers"`.replace(
      '"notes", "papers"', name === 'sqlite' ? '"papers", "notes"' : '"notes", "papers"'
    )
  )
  t.match(await message('note'), /; did you mean "notes"\?$/)
  for (let index = 0; index < 10; index++) await run(`CREATE TABLE many_${index} (id integer PRIMARY KEY)`)
  t.equal(
    await message('x'), `Option "table" of the store of resource "rows" is "x", which is not in the database; ${cure}.`
  )
  await run(name === 'sqlite' ? 'CREATE VIEW empty AS SELECT * FROM nowhere' : 'CREATE TABLE empty ()')
  t.match(
    await message('empty'),
    name === 'sqlite'
      ? 'is "empty", which cannot be served: SQLite cannot read "empty": no such table: main.nowhere.'
      : 'is "empty", which cannot be served: No column of the table "empty" can identify its rows, so it is not served.'
  )
})

t.test('options about the table need attributes', async (t) => {
  const database = makeDatabase('CREATE TABLE notes (id INTEGER PRIMARY KEY)')
  t.teardown(() => database.close())
  const cases = { id: 'uuid', key: ['a'], columns: {}, version: 'values', unique: [], references: {}, migrate: true }
  for (const [name, value] of Object.entries(cases)) {
    t.throws(() =>
      sqliteStore({ database, table: 'notes', [name]: value }), {
      message: `Option "${name}" needs the option "attributes"; without both, the table describes itself.`
    })
  }
  t.throws(() =>
    sqliteStore({ database, table: '' }), { message: "Option \"table\" must be the name of a table such as 'posts'." })
  t.throws(() =>
    sqliteStore({ database, table: 'notes', tabel: 1 } as { database: typeof database, table: string }), {
    code: 'FST_RESOURCES_UNKNOWN_OPTION'
  })
  t.throws(() =>
    postgresStore({ pool: {} as PostgresPool, table: 'notes' }), { message: 'Option "pool" must be a pool of pg.' })
})

t.test('a schema, and rights of the user', async (t) => {
  const server = await startPostgres(t)
  const admin = server.pool()
  await admin.query(`
    CREATE SCHEMA shop;
    CREATE TABLE shop.people (id serial PRIMARY KEY, name text, note text);
    INSERT INTO shop.people (name) VALUES ('Ann');
    CREATE ROLE writer LOGIN PASSWORD 'secret';
    GRANT USAGE ON SCHEMA shop TO writer;
    GRANT SELECT, UPDATE (name) ON shop.people TO writer`)
  const pool = server.pool({ connectionString: server.url.replace('postgres:secret', 'writer:secret') })
  const store = postgresStore({ pool, schema: 'shop', table: 'people' })
  const app = await build(t, { name: 'people', store })
  t.match(store, {
    attributes: { properties: { note: { readOnly: true } } },
    capabilities: { create: false, update: true, delete: false }
  })
  t.equal(
    (await app.inject({ method: 'PUT', url: '/people.json', payload: { id: 1, person: { name: 'Bob' } } })).statusCode,
    200
  )
  t.equal(
    (await app.inject({ method: 'POST', url: '/people.json', payload: { person: { name: 'Bob' } } })).statusCode, 405
  )
  const other = postgresStore({ pool, schema: 'shop', table: 'pepole' })
  t.equal(await messageOf(() =>
    other.prepare()), 'Option "table" is "pepole", which is not in the schema "shop"; create it, or give the store ' +
      '"attributes" and "migrate: true"; the tables are "people"; did you mean "people"?')
})
