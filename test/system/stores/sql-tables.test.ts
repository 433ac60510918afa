import t from 'tap'
import { type OnDelete } from '../../../lib/index.js'
import { postgresStores, type PostgresPool } from '../../../lib/sql/postgres/index.js'
import { sqliteStore, sqliteStores, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../support/helper.js'
import { type Engine, openEngines } from '../../support/stores/sql-engines.js'
import { testStores } from '../../support/stores/stores-tests.js'

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
        `CREATE TABLE cascading (id ${id}, version INTEGER NOT NULL, "postId" INTEGER REFERENCES posts ON DELETE CASCADE)`,
        `CREATE TABLE usual (id ${id}, version INTEGER NOT NULL, "postId" INTEGER REFERENCES posts)`
      )
      const attributes = { type: 'object', properties: { postId: { type: ['integer', 'null'] } } } as const
      const prepare = async (table: string, onDelete: OnDelete): Promise<void> =>
        store({ table, attributes, references: { postId: { table: 'posts', onDelete } } }).prepare()
      const cure = name === 'sqlite'
        ? ', which the database can only add to a new table: move the rows to one.'
        : '. To add what is missing, run: ALTER TABLE "plain" ADD FOREIGN KEY ("postId") REFERENCES "posts" ON DELETE RESTRICT; CREATE INDEX IF NOT EXISTS "plain_postId_id_idx" ON "plain" ("postId", "id").'
      await t.rejects(prepare('plain', 'restrict'), { message: `Option "table" is "plain", which does not fit: the column "postId" has no foreign key to "posts" with ON DELETE RESTRICT${cure}` })
      await t.rejects(prepare('cascading', 'set null'), { message: 'Option "table" is "cascading", which does not fit: the foreign key "postId" has ON DELETE CASCADE, but needs ON DELETE SET NULL.' })
      await prepare('cascading', 'cascade')
      await prepare('usual', 'restrict')
    })

    t.test('migrate may be turned off', async (t) => {
      const { stores, unmigrated } = (await openEngines())[index] as Engine
      const options = { name: 'notes', attributes: { type: 'object', properties: { title: { type: 'string' } } } } as const
      await t.rejects(build(t, { ...options, stores: unmigrated }), { message: /^Option "table" of the store of resource "notes" is "notes", which is not in the database/ })
      await build(t, { ...options, stores })
      t.equal((await (await build(t, { ...options, stores: unmigrated })).inject('/notes.json')).statusCode, 200)
    })

    t.test('attributes are required', async (t) => {
      const { stores } = (await openEngines())[index] as Engine
      await t.rejects(build(t, { name: 'notes', stores }), { message: /^Option "attributes" of resource "notes" must be a JSON Schema/ })
      await t.rejects(draft(t, (map) => map.resources('notes', { stores, attributes: { type: 'object', properties: {} } }, (notes) => notes.resources('links', { stores }))), { message: /^Option "attributes" of resource "links" must be a JSON Schema/ })
    })
  })
}

t.test('options of the stores are checked at once', async (t) => {
  const code = 'FST_RESOURCES_INVALID_OPTION'
  t.throws(() => sqliteStores({ file: '' }), { code, message: /^Option "file" must be the path/ })
  t.throws(() => sqliteStores({ file: 'a.sqlite', migrate: 1 as unknown as boolean }), { code, message: 'Option "migrate" must be true or false, not 1.' })
  t.throws(() => sqliteStores({ file: 'a.sqlite', path: 'b' } as { file: string }), { code: 'FST_RESOURCES_UNKNOWN_OPTION' })
  t.throws(() => postgresStores({ pool: {} as PostgresPool }), { code, message: 'Option "pool" must be a pool of pg.' })
  const pool = { connect () {} } as unknown as PostgresPool
  t.throws(() => postgresStores({ pool, migrate: 1 as unknown as boolean }), { code, message: 'Option "migrate" must be true or false, not 1.' })
  t.throws(() => postgresStores({ pool, poll: pool } as { pool: PostgresPool }), { code: 'FST_RESOURCES_UNKNOWN_OPTION' })
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
    t.throws(() => sqliteStore({ file: 'a.sqlite', table: 'rows', attributes, references: value as SqlStoreOptions['references'] & object }), { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
})
