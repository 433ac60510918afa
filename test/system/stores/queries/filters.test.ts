import t from 'tap'
import {
  BY_ID, type Condition, type CountQuery, memoryStore, type Query, type Row, type Store
} from '../../../../lib/index.js'
import {
  type SqliteDatabase, sqliteStore, type SqliteStore, type SqlStore, type SqlStoreOptions
} from '../../../../lib/sql/sqlite/index.js'
import { postgresDialect as dialect } from '../../../../lib/sql/postgres/dialect.js'
import type { TextPattern } from '../../../../lib/sql/dialect.js'
import { caseVariants } from '../../../../lib/core/util/case-folding.js'
import { context, each, type Engine, every, openEngines, readAll } from '../../../support/stores/sql-engines.js'
import Database from 'libsql'

async function found (store: Store, ...filter: Condition[]): Promise<unknown[]> {
  return (await readAll(store.list({ ...every, filter }, context))).map(({ id }) => id)
}

const UUID = '0190a6f0-7c3a-7000-8000-00000000000f'
const attributes = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 20 },
    mood: { type: 'string' },
    owner: { type: ['string', 'null'], format: 'uuid' }
  }
} as const

each('conditions work on columns of other types than those of migrate', async (t, engine) => {
  const isPostgres = engine.name === 'postgresql'
  if (isPostgres) await engine.run("CREATE TYPE mood AS ENUM ('good', 'bad')")
  const id = isPostgres ? 'id bigserial PRIMARY KEY' : 'id INTEGER PRIMARY KEY AUTOINCREMENT'
  await engine.run(
    `CREATE TABLE notes (${id}, version INTEGER NOT NULL, name varchar(20), mood ${isPostgres
      ? 'mood'
      : 'TEXT'}, owner ${isPostgres ? 'uuid' : 'TEXT'})`
  )
  const stores: Store[] = [engine.store({ table: 'notes', attributes }), memoryStore()]
  const cases: ReadonlyArray<readonly [Condition, number[]]> = [
    [{ attribute: 'mood', operator: 'in', value: ['good', 'so-so'] }, [1]],
    [{ attribute: 'mood', operator: 'in', value: ['so-so'] }, []],
    [{ attribute: 'mood', operator: 'not', value: 'so-so' }, [1, 2, 3]],
    [{ attribute: 'mood', operator: 'not', value: 'good' }, [2, 3]],
    [{ attribute: 'mood', operator: 'eq', value: 'so-so' }, []],
    [{ attribute: 'mood', operator: 'contains', value: 'O' }, [1]],
    [{ attribute: 'mood', operator: 'starts', value: 'B' }, [2]],
    [{ attribute: 'name', operator: 'contains', value: 'TEA%' }, [1]],
    [{ attribute: 'name', operator: 'contains', value: 'a text of more than 20 characters' }, []],
    [{ attribute: 'name', operator: 'in', value: ['water', 'a text of more than 20 characters'] }, [2]],
    [{ attribute: 'owner', operator: 'contains', value: '7C3A' }, [1]],
    [{ attribute: 'owner', operator: 'starts', value: '0190a6' }, [1]],
    [{ attribute: 'owner', operator: 'not', value: 'none' }, [1, 2, 3]],
    [{ attribute: 'name', operator: 'contains', value: 'a\0b' }, []],
    [{ attribute: 'name', operator: 'starts', value: '\ud800' }, []]
  ]
  for (const store of stores) {
    await store.prepare?.()
    await store.create({ name: 'green tea%', mood: 'good', owner: UUID }, {}, context)
    await store.create({ name: 'water', mood: 'bad', owner: null }, {}, context)
    await store.create({}, {}, context)
    for (const [condition, expected] of cases) {
      t.strictSame(await found(store, condition), expected, JSON.stringify(condition))
    }
  }
})

each('only a count of PostgreSQL that may be an estimate is one', async (t, engine) => {
  const store: SqlStore = engine.store({ table: 'notes', attributes, migrate: true })
  await store.prepare()
  for (let index = 0; index < 40; index++) {
    await store.create({ name: index % 2 === 0 ? 'tea' : 'water', mood: '' }, {}, context)
  }
  await engine.run('ANALYZE notes')
  const { limit, ...whole } = every
  const query: CountQuery = { ...whole, most: undefined, estimate: true }
  const isEstimate = engine.name === 'postgresql'
  const tea: CountQuery = {
    ...query,
    filter: [{ attribute: 'name', operator: 'eq', value: 'tea' }, { attribute: 'mood', operator: 'eq', value: '' }]
  }
  t.strictSame(await store.count(query, context), { rows: 40, isEstimate })
  t.strictSame(await store.count(tea, context), { rows: 20, isEstimate })
  const search = { words: ['tea'], attributes: ['name'] }
  t.equal((await store.count({ ...query, search }, context)).isEstimate, isEstimate, 'a search')
  t.strictSame(
    await store.count({ ...query, search, scope: { mood: '' } }, context), { rows: 20, isEstimate: false },
    'within a scope, an estimate would tell about other rows'
  )
  t.strictSame(await store.count({ ...query, estimate: false }, context), { rows: 40, isEstimate: false })
  t.strictSame(
    await store.count({ ...query, after: [30] }, context), { rows: 10, isEstimate: false },
    'after a position, the count is exact'
  )
  t.strictSame(
    await store.count({ ...query, filter: [{ attribute: 'name', operator: 'eq', value: 1 }] }, context),
    { rows: 0, isEstimate: false }, 'no row can have the value'
  )
  t.strictSame(
    await store.count({ ...query, scope: { name: 1 } }, context), { rows: 0, isEstimate: false },
    'no row can have the value of the scope'
  )
  t.strictSame(memoryStore().count(query), { rows: 0, isEstimate: false })
})

t.test('an index on trigrams serves contains, starts and searches', async (t) => {
  const engine = (await openEngines()).find(({ name }) => name === 'postgresql') as Engine
  const store = engine.store({ table: 'notes', attributes, migrate: true })
  await store.prepare()
  await engine.run(
    'CREATE EXTENSION IF NOT EXISTS pg_trgm', 'CREATE INDEX notes_name ON notes USING gin (name gin_trgm_ops)',
    'INSERT INTO notes (version, name) SELECT 1, left(md5(n::text), 20) FROM generate_series(1, 20000) n',
    'ANALYZE notes'
  )
  for (const isStart of [false, true]) {
    const [{ pattern, operator }] = dialect.textPatterns('green', isStart) as [TextPattern]
    const condition = dialect.matchText({ quoted: '"name"', kind: 'string', type: 'text' }, `'${pattern}'`, operator)
    const plan = await engine.run(`EXPLAIN SELECT id FROM notes WHERE ${condition} ORDER BY id LIMIT 20`)
    t.match(JSON.stringify(plan), /Bitmap Index Scan on notes_name/)
  }
})

t.test('PostgreSQL plans ranges and searches by their values', async (t) => {
  const engine = (await openEngines()).find(({ name }) => name === 'postgresql') as Engine
  const store = engine.store({ table: 'planned', attributes, migrate: true })
  await store.prepare()
  const prepared = async (): Promise<unknown> => {
    const [found] = await engine.run(
      "SELECT count(*) AS count FROM pg_prepared_statements WHERE statement LIKE '%FROM \"planned\"%'"
    )
    return (found as { readonly count: unknown }).count
  }
  await readAll(store.list({ ...every, filter: [{ attribute: 'name', operator: 'gte', value: 'a' }] }, context))
  await readAll(store.list({ ...every, filter: [{ attribute: 'name', operator: 'contains', value: 'a' }] }, context))
  await readAll(store.list({ ...every, filter: [], search: { words: ['a'], attributes: ['name'] } }, context))
  t.equal(Number(await prepared()), 0)
  await readAll(store.list({ ...every, filter: [{ attribute: 'name', operator: 'eq', value: 'a' }] }, context))
  t.equal(Number(await prepared()), 1)
})

t.test('SQLite finds by LIKE what GLOB with a class for each letter finds', async (t) => {
  const engine = (await openEngines()).find(({ name }) => name === 'sqlite') as Engine
  const store = engine.store({ table: 'words', attributes, migrate: true })
  await store.prepare()
  let state = 34
  const random = (most: number): number => (state = (state * 48_271) % 2_147_483_647) % most
  // Letters with a case beyond ASCII, wildcards of both operators, and characters of one to four bytes.
  const alphabet = Array.from('abkKsS\u212aſiIİıßẞéÉ%_\\*?[]^-1 中😀ǆǅ')
  const write = (length: number): string => Array.from({ length }, () => alphabet[random(alphabet.length)]).join('')
  const texts = [...alphabet, ...Array.from({ length: 1000 }, () => write(1 + random(8)))]
  for (const name of texts) await store.create({ name }, {}, context)
  const globOf = (text: string): string => Array.from(text, (character) => {
    const variants = caseVariants(character)
    return variants === character && !'*?['.includes(character) ? character : `[${variants}]`
  }).join('')
  const needles = [...alphabet, ...Array.from({ length: 300 }, () => write(1 + random(3)))]
  for (const value of needles) {
    for (const [operator, before] of [['contains', '*'], ['starts', '']] as const) {
      const pattern = `${before}${globOf(value)}*`.replaceAll("'", "''")
      const byGlob = await engine.run(`SELECT id FROM words WHERE name GLOB '${pattern}' ORDER BY id`) as Row[]
      const byLike = await found(store, { attribute: 'name', operator, value })
      t.strictSame(byLike, byGlob.map(({ id }) => id), `${operator}: ${JSON.stringify(value)}`)
      const search = { words: [value, value], attributes: ['name', 'name'] }
      if (before === '') continue
      const searched = (await readAll(store.list({ ...every, search }, context))).map(({ id }) => id)
      t.strictSame(searched, byLike, `a search for ${JSON.stringify(value)}`)
    }
  }
})

const any: Omit<Query, 'order'> = { after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }
const REFUSAL =
  /^resources: a list of the table "rows" cannot continue after a row, because the driver does not return a text of the row as the table holds it/
const text = { type: 'string' } as const
const schema: SqlStoreOptions['attributes'] = { type: 'object', properties: { code: text, name: text } }

async function openStore (database: SqliteDatabase, options: Partial<SqlStoreOptions> = {}): Promise<SqliteStore> {
  const store = sqliteStore({ database, table: 'rows', attributes: schema, version: 'values', ...options })
  await store.prepare()
  return store as SqliteStore
}

t.test('a list in which a row follows itself fails, because the driver has cut its text at U+0000', async (t) => {
  const database = new Database(':memory:')
  database.exec(
    "CREATE TABLE rows (code TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO rows VALUES ('a', ''), ('b' || " +
      "char(0) || 'c', '')"
  )
  const store = await openStore(database, { key: ['code'] })
  await t.rejects(readAll(store.list({ ...any, order: BY_ID, after: ['b'] }, context)), { message: REFUSAL })
})
