import t from 'tap'
import { BY_ID, type OnDelete } from '../../../lib/index.js'
import { type PostgresPool, postgresStore, postgresStores } from '../../../lib/sql/postgres/index.js'
import { sqliteStore, sqliteStores, type SqlStore, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../support/helper.js'
import { context, type Engine, every, openEngines, readAll, thrownBy } from '../../support/stores/sql-engines.js'
import { testStores } from '../../support/stores/stores-tests.js'
import { startPostgres } from '../../support/stores/postgres.js'

for (const index of [0, 1]) {
  t.test(['SQLite', 'PostgreSQL'][index] as string, async (t) => {
    testStores(t, async () => {
      const engines = await openEngines()
      return (engines[index] as Engine).stores
    })

    t.test('a table that exists must have the foreign keys', async (t) => {
      const { name, run, store } = (await openEngines())[index] as Engine
      const id = name === 'sqlite' ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'bigserial PRIMARY KEY'
      await run(
        `CREATE TABLE posts (id ${id}, version INTEGER NOT NULL)`,
        `CREATE TABLE plain (id ${id}, version INTEGER NOT NULL, "postId" INTEGER)`,
        `CREATE TABLE cascading (id ${id}, version INTEGER NOT NULL, "postId" INTEGER REFERENCES posts ON DELETE ` +
          'CASCADE)',
        `CREATE TABLE usual (id ${id}, version INTEGER NOT NULL, "postId" INTEGER REFERENCES posts)`
      )
      const attributes = { type: 'object', properties: { postId: { type: ['integer', 'null'] } } } as const
      const prepare = async (table: string, onDelete: OnDelete): Promise<void> =>
        store({ table, attributes, references: { postId: { table: 'posts', onDelete } } }).prepare()
      const cure = name === 'sqlite'
        ? ', which the database can only add to a new table: move the rows to one.'
        : '. To add what is missing, run: ALTER TABLE "plain" ADD FOREIGN KEY ("postId") REFERENCES "posts" ' +
          'ON DELETE RESTRICT; CREATE INDEX IF NOT EXISTS "plain_postId_id_idx" ON "plain" ("postId", "id").'
      await t.rejects(prepare('plain', 'restrict'), {
        message:
          'Option "table" is "plain", which does not fit: the column "postId" has no foreign key to "posts" with ON ' +
            `DELETE RESTRICT${cure}`
      })
      await t.rejects(prepare('cascading', 'set null'), {
        message:
          'Option "table" is "cascading", which does not fit: the foreign key "postId" has ON DELETE CASCADE, ' +
            'but needs ON DELETE SET NULL.'
      })
      await prepare('cascading', 'cascade')
      await prepare('usual', 'restrict')
    })

    t.test('migrate may be turned off', async (t) => {
      const { stores, unmigrated } = (await openEngines())[index] as Engine
      const options = {
        name: 'notes', attributes: { type: 'object', properties: { title: { type: 'string' } } }
      } as const
      await t.rejects(build(t, { ...options, stores: unmigrated }), {
        message: /^Option "table" of the store of resource "notes" is "notes", which is not in the database/
      })
      await build(t, { ...options, stores })
      t.equal((await (await build(t, { ...options, stores: unmigrated })).inject('/notes.json')).statusCode, 200)
    })

    t.test('attributes are required', async (t) => {
      const { stores } = (await openEngines())[index] as Engine
      await t.rejects(build(t, { name: 'notes', stores }), {
        message: /^Option "attributes" of resource "notes" must be a JSON Schema/
      })
      await t.rejects(draft(t, (map) => map.resources('notes', {
        stores, attributes: { type: 'object', properties: {} }
      }, (notes) =>
        notes.resources('links', { stores }))), {
        message: /^Option "attributes" of resource "links" must be a JSON Schema/
      })
    })
  })
}

t.test('options of the stores are checked at once', async (t) => {
  const code = 'FST_RESOURCES_INVALID_OPTION'
  t.throws(() => sqliteStores({ file: '' }), { code, message: /^Option "file" must be the path/ })
  t.throws(() =>
    sqliteStores({ file: 'a.sqlite', migrate: 1 as unknown as boolean }), {
    code, message: 'Option "migrate" must be true or false, not 1.'
  })
  t.throws(() =>
    sqliteStores({ file: 'a.sqlite', path: 'b' } as { file: string }), { code: 'FST_RESOURCES_UNKNOWN_OPTION' })
  t.throws(() => postgresStores({ pool: {} as PostgresPool }), { code, message: 'Option "pool" must be a pool of pg.' })
  const pool = { connect () {} } as unknown as PostgresPool
  t.throws(() =>
    postgresStores({ pool, migrate: 1 as unknown as boolean }), {
    code, message: 'Option "migrate" must be true or false, not 1.'
  })
  t.throws(() =>
    postgresStores({ pool, poll: pool } as { pool: PostgresPool }), { code: 'FST_RESOURCES_UNKNOWN_OPTION' })
})

const references: ReadonlyArray<readonly [value: unknown, message: RegExp]> = [
  ['posts', /must be an object such as/],
  [{ postId: 'posts' }, /must be an object, not 'posts'/],
  [{ postId: { tabel: 'posts' } }, /has "tabel", which is unknown; did you mean "table"/],
  [{ postId: {} }, /has "postId" without the name of a table/],
  [{ postId: { table: '' } }, /has "postId" without the name of a table/],
  [{ postId: { table: 'posts', onDelete: 'delete' } }, /must be 'restrict', 'cascade' or 'set null', not 'delete'/],
  [{ postid: { table: 'posts' } }, /names "postid", which is not among the attributes; did you mean "postId"/]
]

t.test('references that are wrong are refused', async (t) => {
  const attributes = { type: 'object', properties: { postId: { type: 'integer' } } } as const
  for (const [value, message] of references) {
    t.throws(
      () => sqliteStore({
        file: 'a.sqlite', table: 'rows', attributes, references: value as SqlStoreOptions['references'] & object
      }),
      { code: 'FST_RESOURCES_INVALID_OPTION', message }
    )
  }
})

const NAMES = [
  'order', 'select', 'Mixed Case', 'UPPER', 'quo"te', "apos'trophe", '💛', 'naïve', 'a.b', 'a, b', 'a;b', '$1', '?',
  ':x', '%', 'back\\slash', '-- x', '/* x */', '[x]', '`x`', '1', ' ', 'user', 'table', 'count(*)', 'values'
]
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

t.test('tables and columns may have any name', async (t) => {
  for (const engine of await openEngines()) {
    for (const [index, name] of NAMES.entries()) {
      const other = NAMES[(index + 1) % NAMES.length] as string
      const [table, key, column] = [name, `${name}1`, `${other}2`]
      await engine.run(
        `CREATE TABLE ${quote(table)} (${quote(key)} integer NOT NULL, ${quote(name)} text NOT NULL, ${quote(
          column
        )} text NOT NULL, PRIMARY KEY (${quote(key)}, ${quote(name)}), UNIQUE (${quote(column)}, ${quote(name)}))`
      )
      for (const version of engine.name === 'sqlite' ? ['values'] : ['values', 'xmin']) {
        const store: SqlStore = engine.store({
          table,
          version,
          key: ['a', 'b'],
          columns: { a: key, b: name, c: column },
          unique: [['c', 'b']],
          attributes: {
            type: 'object',
            required: ['c'],
            properties: { a: { type: 'integer' }, b: { type: 'string' }, c: { type: 'string' } }
          }
        })
        await store.prepare()
        const row = await store.create({ a: 1, b: 'b', c: 'c' }, {}, context)
        t.match(row, { id: '1,b', attributes: { a: 1, b: 'b', c: 'c' } }, `${engine.name} ${name}`)
        await store.create({ a: 2, b: 'b', c: 'd' }, {}, context)
        t.match(await thrownBy(() =>
          store.create({ a: 1, b: 'b', c: 'e' }, {}, context)), {
          code: 'FST_RESOURCES_DUPLICATE', errors: { a: ['is already taken'] }
        }, `${engine.name} ${name}`)
        t.match(await thrownBy(() =>
          store.create({ a: 3, b: 'b', c: 'd' }, {}, context)), {
          code: 'FST_RESOURCES_DUPLICATE'
        }, `${engine.name} ${name}`)
        t.match(await thrownBy(() =>
          store.create({ a: 3, b: 'x' }, {}, context)), {
          code: 'FST_RESOURCES_INVALID', errors: { c: ['must be given'] }
        }, `${engine.name} ${name}`)
        t.match(
          await store.update('1,b', { c: 'f' }, { version: row.version, scope: { b: 'b' } }, context),
          { ok: true, row: { attributes: { c: 'f' } } }
        )
        t.match(
          await store.update('1,b', { c: 'g' }, { version: row.version, scope: {} }, context),
          { ok: false, why: 'stale' }
        )
        const rows = await readAll(
          store.list(
            {
              ...every,
              order: [{ by: 'c', descending: true }, ...BY_ID],
              filter: [{ attribute: 'c', operator: 'contains', value: 'F' }],
              search: { words: ['f'], attributes: ['c'] }
            },
            context
          )
        )
        t.strictSame(rows.map(({ id }) => id), ['1,b'])
        t.equal((await store.count({ ...every, most: undefined, estimate: false }, context)).rows, 2)
        for (const id of ['1,b', '2,b']) {
          t.match(await store.delete(id, { version: undefined, scope: {} }, context), { ok: true })
        }
      }
      await engine.run(`DROP TABLE ${quote(table)}`)
    }
  }
})

t.test('the first table in search_path is served, unless the option "schema" names another', async (t) => {
  const { pool: makePool } = await startPostgres(t)
  const admin = makePool()
  for (const schema of ['first', 'Second "💛"', 'third']) {
    await admin.query(
      `CREATE SCHEMA ${quote(schema)}; CREATE TABLE ${quote(schema)}."Towns" (code text PRIMARY KEY, place text)`
    )
    await admin.query(`INSERT INTO ${quote(schema)}."Towns" VALUES ('a', '${schema}')`)
  }
  const attributes = {
    type: 'object', properties: { code: { type: 'string' }, place: { type: ['string', 'null'] } }
  } as const
  const options = { table: 'Towns', attributes, key: ['code'], version: 'xmin' }
  const pool = makePool({ options: '-c search_path=missing,"Second\\ \\"\\"💛\\"\\"",first' })
  for (const [schema, found] of [
    [undefined, 'Second "💛"'], ['third', 'third'], ['first', 'first'], ['Second "💛"', 'Second "💛"']
  ] as const) {
    const store = postgresStore({ pool, ...options, ...(schema !== undefined && { schema }) })
    await store.prepare()
    const row = await store.get('a', {}, context)
    t.equal(row?.attributes.place, found)
    t.match(await store.update('a', { place: found }, { version: row?.version, scope: {} }, context), { ok: true })
    t.match(await thrownBy(() =>
      store.create({ code: 'a' }, {}, context)), {
      code: 'FST_RESOURCES_DUPLICATE', errors: { code: ['is already taken'] }
    })
  }
  const lower = await thrownBy(() => postgresStore({ pool, ...options, table: 'towns' }).prepare())
  t.match(lower.message, /Option "table" is "towns", which is not in the database; .* did you mean "Towns"\?/)
})
