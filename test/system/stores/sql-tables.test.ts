import { Writable } from 'node:stream'
import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { BY_ID, draw, type OnDelete, type ResourceOptions, type Stores } from '../../../lib/index.js'
import { type PostgresPool, postgresStore, postgresStores } from '../../../lib/sql/postgres/index.js'
import { sqliteStore, sqliteStores, type SqlStore, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { build } from '../../support/helper.js'
import { context, type Engine, every, openEngines, readAll, thrownBy } from '../../support/stores/sql-engines.js'
import { testStores } from '../../support/stores/stores-tests.js'
import { startPostgres } from '../../support/stores/postgres.js'

type References = NonNullable<ResourceOptions['references']>

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
      const prepare = async (table: string, onDelete: OnDelete): Promise<unknown> =>
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

    t.test('a table that exists starts without the foreign keys of references, with a warning', async (t) => {
      const { name, run, stores, unmigrated } = (await openEngines())[index] as Engine
      const isSqlite = name === 'sqlite'
      const id = isSqlite ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'bigserial PRIMARY KEY'
      const [type, version] = [isSqlite ? 'INTEGER' : 'bigint', isSqlite ? 'INTEGER NOT NULL' : 'integer NOT NULL']
      await run(
        `CREATE TABLE authors (id ${id}, version ${version})`,
        `CREATE TABLE posts (id ${id}, version ${version}, title TEXT, "authorId" ${type}, "editorId" ${type} ` +
          'REFERENCES authors ON DELETE CASCADE)',
        'CREATE UNIQUE INDEX title ON posts (title)',
        'INSERT INTO authors (version) VALUES (1)',
        'INSERT INTO posts (version, title, "authorId") VALUES (1, \'a\', 1), (1, \'b\', 8), (1, \'c\', 9)'
      )
      const number = { type: ['integer', 'null'] } as const
      const attributes = {
        type: 'object',
        properties: { title: { type: ['string', 'null'] }, authorId: number, editorId: number, laterId: number }
      } as const
      /** Starts an app, and returns what its log has warned of. */
      const start = async (stores: Stores, remark: References = {}): Promise<string[]> => {
        const warnings: string[] = []
        const log = new Writable({
          write (line, _encoding, done) {
            const { level, msg } = JSON.parse(String(line))
            if (level === 40) warnings.push(msg)
            done()
          }
        })
        const app = fastify({ logger: { level: 'warn', stream: log } })
        app.register(draw((map) => map
          .resources('posts', {
            attributes, unique: ['title'], references: { authorId: 'authors', editorId: 'authors', laterId: 'authors' }
          })
          .resources('remarks', { attributes: { type: 'object', properties: { postId: number } }, references: remark })
          .resources('authors', { attributes: { type: 'object', properties: {} } }), { stores }))
        await app.ready()
        t.equal((await app.inject({ method: 'DELETE', url: '/authors?id=99' })).statusCode, 404)
        await app.close()
        return warnings.filter((text) => text.startsWith('resource "posts"'))
      }
      const table = 'resource "posts": the table "posts" is used as it is, but'
      const rule = `${table} the foreign key "editorId" has ON DELETE CASCADE, but needs ON DELETE RESTRICT`
      const [lacking = '', other] = await start(stores, { postId: 'posts' })
      t.match(lacking, `${table} the column "authorId" has no foreign key to "authors" with ON DELETE RESTRICT. ` +
        'Rows that refer to nothing: 2. To add it, mend these rows and')
      t.equal(other, rule)
      const foreignKey = 'FOREIGN KEY ("authorId") REFERENCES "authors" ON DELETE RESTRICT'
      if (isSqlite) {
        t.match(lacking, ` and move all to a new table with ${foreignKey}: https://www.sqlite.org/lang_altertable.html`)
        t.strictSame(await start(unmigrated, { postId: 'posts' }), [lacking, rule])
        return
      }
      t.match(lacking, ` and run: ALTER TABLE "posts" ADD CONSTRAINT "posts_authorId_fkey" ${foreignKey} NOT VALID; ` +
        'ALTER TABLE "posts" VALIDATE CONSTRAINT "posts_authorId_fkey"; CREATE INDEX IF NOT EXISTS')
      await run('UPDATE posts SET "authorId" = NULL WHERE "authorId" > 1')
      for (const statement of lacking.replace(/^.* run: /, '').split('; ')) await run(statement)
      t.strictSame(await start(unmigrated, { postId: 'posts' }), [rule], 'the statements add it')
      t.match(await thrownBy(() => run('DELETE FROM authors')), { message: /foreign key/i })
    })

    t.test('the warning about a foreign key says what it cannot find out', async (t) => {
      const { name, run, store } = (await openEngines())[index] as Engine
      const id = name === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'bigserial PRIMARY KEY'
      await run(
        `CREATE TABLE nodes (id ${id}, parent INTEGER)`,
        'CREATE TABLE codes (code TEXT PRIMARY KEY)',
        'INSERT INTO nodes (parent) VALUES (7)'
      )
      const attributes = { type: 'object', properties: { parent: { type: ['integer', 'null'] } } } as const
      const prepare = (target: string): Promise<readonly string[]> => store({
        table: 'nodes', attributes, version: 'values', references: { parent: { table: target, optional: true } }
      }).prepare()
      const [itself = ''] = await prepare('nodes')
      t.match(itself, 'to "nodes" with ON DELETE RESTRICT. Rows that refer to nothing: 1.')
      const [other = ''] = await prepare('codes')
      t.match(other, 'How many rows refer to nothing is unknown.')
      const procedure = 'move all to a new table with FOREIGN KEY ("parent") REFERENCES "codes" ON DELETE RESTRICT: '
      t.match(other, name === 'sqlite' ? procedure : 'NOT VALID')
      const missing = prepare('missing')
      if (name === 'sqlite') t.match(await missing, ['to "missing" with ON DELETE RESTRICT'])
      else t.strictSame(await missing, [], 'PostgreSQL gets it when the other table is there')
      const fresh = store({
        table: 'fresh', attributes, references: { parent: { table: 'codes', optional: true } }, migrate: true
      })
      const refused = await fresh.prepare()
      // SQLite finds out only at a write that the key of the other table has another type.
      if (name === 'sqlite') t.strictSame(refused, [])
      else t.match(refused, [/^the table "fresh" is used as it is, but .* run: ALTER TABLE .* refused that: foreign key/])
      t.match(await fresh.create({ parent: null }, {}), { attributes: { parent: null } })
      const demanded = { table: 'other', attributes, references: { parent: { table: 'codes' } }, migrate: true }
      if (name !== 'sqlite') t.match(await thrownBy(() => store(demanded).prepare()), { message: /foreign key/ })
    })

    t.test('a table without values in the column gets its foreign key', async (t) => {
      const { name, run, stores, unmigrated } = (await openEngines())[index] as Engine
      const attributes = { type: 'object', properties: { noteId: { type: ['integer', 'null'] } } } as const
      const start = async (stores: Stores, references: References): Promise<FastifyInstance> => {
        const app = fastify()
        t.teardown(() => app.close())
        app.register(draw((map) => map.resources('remarks', { attributes, references, formats: ['json'] })
          .resources('notes', { attributes: { type: 'object', properties: {} } }), { stores }))
        await app.ready()
        return app
      }
      await start(stores, {})
      await start(unmigrated, { noteId: 'notes' })
      const app = await start(stores, { noteId: 'notes' })
      const { statusCode } = await app.inject({ method: 'POST', url: '/remarks', payload: { remark: { noteId: 9 } } })
      t.equal(statusCode, name === 'sqlite' ? 201 : 422, 'SQLite adds no foreign key to a table that exists')
      await run('DELETE FROM remarks')
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
  'order', 'Mixed Case', 'quo"te', "apos'trophe", '💛', 'a, b', 'a;b', '$1', '?', ':x', 'back\\slash', '-- x', '[x]', ' '
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
