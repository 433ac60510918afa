import t from 'tap'
import type { Attributes, Scope } from '../../lib/index.js'
import type { Dialect } from '../../lib/sql/dialect.js'
import { postgresDialect } from '../../lib/sql/postgres/dialect.js'
import { sqliteDialect } from '../../lib/sql/sqlite/dialect.js'
import { type BoundStatement, makeDecoder, Statements } from '../../lib/sql/statements.js'
import { defineTable, type TableDefinition, type TableDefinitionOptions } from '../../lib/sql/tables/definition.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    tags: { type: 'array' },
    done: { type: 'boolean', readOnly: true }
  }
} as const
const ROW = '"id", "version", "title", "rating", "tags", "done"'
const NO_SCOPE = {}
const row = { id: undefined, attributes: {} }

function define (dialect: Dialect, options: Partial<TableDefinitionOptions> = {}, isKeyUnique = true): TableDefinition {
  return defineTable({ table: 'posts', attributes, ...options }, dialect, { notNull: new Set(['done']), isKeyUnique })
}

function make (dialect: Dialect = sqliteDialect, options: Partial<TableDefinitionOptions> = {}): Statements {
  return new Statements(define(dialect, options), dialect)
}

/** A table whose ids are its titles, and whose versions are its values. */
const keyed = { schema: 'blog', version: 'values', key: ['title'] } as const
const ascending = (by: string) => ({ by, descending: false })
const descending = (by: string) => ({ by, descending: true })
const shown = ({ statement: { text }, values }: BoundStatement): readonly unknown[] => [text, ...values]
const guard = (bind: (value: unknown) => string): string => `"version" = ${bind(3)}`

t.test('a row is selected within its scope', async (t) => {
  const statements = make()
  t.strictSame(shown(statements.select(7, NO_SCOPE)), [`SELECT ${ROW} FROM "posts" WHERE "id" = ?`, 7])
  t.strictSame(shown(statements.select(7, { rating: 1 })),
    [`SELECT ${ROW} FROM "posts" WHERE "id" = ? AND "rating" = ?`, 7, 1])
  const unsure = new Statements(define(sqliteDialect, keyed, false), sqliteDialect)
  t.strictSame(shown(unsure.select('T', NO_SCOPE)),
    ['SELECT "title", "rating", "tags", "done" FROM "blog"."posts" WHERE "title" = ? LIMIT 2', 'T'])
})

t.test('an insert has the values of the row and of the scope, which wins', async (t) => {
  const statements = make()
  const cases: ReadonlyArray<readonly [
    attributes: Attributes, scope: Scope, id: number | undefined, shown: readonly unknown[]
  ]> = [
    [
      { tags: [1], title: 'T', rating: undefined }, {}, undefined,
      ['("version", "title", "tags") VALUES (?, ?, ?)', 1, 'T', '[1]']
    ],
    [{ title: 'T', rating: 2 }, { rating: 1 }, 7,
      ['("version", "title", "rating", "id") VALUES (?, ?, ?, ?)', 1, 'T', 1, 7]],
    [{ rating: null }, {}, undefined, ['("version", "rating") VALUES (?, ?)', 1, null]],
    [{}, {}, undefined, ['("version") VALUES (?)', 1]]
  ]
  for (const [attributes, scope, id, [text, ...values]] of cases) {
    t.strictSame(shown(statements.insert({ id, attributes }, scope)),
      [`INSERT INTO "posts" ${String(text)} RETURNING ${ROW}`, ...values])
  }
  t.match(shown(make(postgresDialect).insert({ ...row, attributes: { rating: 2 } }, NO_SCOPE)), [/VALUES \(\$1, \$2\)/])
  const own = make(sqliteDialect, keyed)
  const returning = 'RETURNING "title", "rating", "tags", "done"'
  t.strictSame(shown(own.insert(row, NO_SCOPE)), [`INSERT INTO "blog"."posts" DEFAULT VALUES ${returning}`])
  t.strictSame(shown(own.insert({ ...row, attributes: { title: 'T' } }, NO_SCOPE)),
    [`INSERT INTO "blog"."posts" ("title") VALUES (?) ${returning}`, 'T'])
})

t.test('an update changes the named attributes outside the scope, of a row with a version', async (t) => {
  const statements = make()
  const target = { id: 7, guard: undefined, scope: NO_SCOPE }
  const where = `WHERE "id" = ? RETURNING ${ROW}`
  const set = 'UPDATE "posts" SET "version" = "version" + 1'
  t.strictSame(shown(statements.update({ tags: [2], title: undefined }, target)),
    [`${set}, "title" = ?, "tags" = ? ${where}`, null, '[2]', 7])
  t.strictSame(shown(statements.update({}, target)), [`${set} ${where}`, 7])
  t.strictSame(shown(statements.update({ title: 'U', rating: 5 }, { id: 7, guard, scope: { rating: 1 } })),
    [`${set}, "title" = ? WHERE "id" = ? AND "rating" = ? AND "version" = ? RETURNING ${ROW}`, 'U', 7, 1, 3])
  const own = make(sqliteDialect, keyed)
  const all = 'RETURNING "title", "rating", "tags", "done"'
  t.strictSame(shown(own.update({}, { ...target, id: 'T' })),
    [`UPDATE "blog"."posts" SET "title" = "title" WHERE "title" = ? ${all}`, 'T'], 'an update without changes')
  t.strictSame(shown(own.update({ title: 'U', rating: 1 }, { ...target, id: 'T' })),
    [`UPDATE "blog"."posts" SET "title" = ?, "rating" = ? WHERE "title" = ? ${all}`, 'U', 1, 'T'])
  const readOnly = {
    type: 'object',
    properties: { done: { type: 'boolean', readOnly: true }, no: { type: 'integer' } }
  }
  t.match(shown(make(sqliteDialect, { version: 'values', attributes: readOnly as never }).update({}, target)),
    [/SET "no" = "no" WHERE/])
  const none = { type: 'object', properties: { done: { type: 'boolean', readOnly: true } } }
  t.match(shown(make(sqliteDialect, { version: 'values', attributes: none as never }).update({}, target)),
    [/SET "id" = "id" WHERE/])
})

t.test('an update keeps the spelling of JSON that is the same value', async (t) => {
  const statements = make()
  const target = { id: 7, guard: undefined, scope: NO_SCOPE }
  const cases: ReadonlyArray<readonly [changes: Attributes, raw: object | undefined, bound: unknown]> = [
    [{ tags: [1] }, { tags: '[ 1 ]' }, '[ 1 ]'], [{ tags: [2] }, { tags: '[ 1 ]' }, '[2]'],
    [{ tags: [1] }, undefined, '[1]'], [{ tags: [1] }, { tags: null }, '[1]'], [
      { tags: undefined }, { tags: '[ 1 ]' }, null
    ],
    [{ title: '1' }, { title: '1' }, '1'], [{ rating: 1 }, { rating: '1' }, 1]
  ]
  for (const [changes, raw, bound] of cases) {
    t.equal(statements.update(changes, target, raw as never).values[0], bound, JSON.stringify([changes, raw]))
  }
})

t.test('a deletion is that of a row with a version, within its scope', async (t) => {
  const statements = make()
  t.strictSame(shown(statements.delete({ id: 7, guard, scope: { rating: 1 } })),
    [`DELETE FROM "posts" WHERE "id" = ? AND "rating" = ? AND "version" = ? RETURNING ${ROW}`, 7, 1, 3])
  t.strictSame(shown(statements.delete({ id: 7, guard: undefined, scope: NO_SCOPE })),
    [`DELETE FROM "posts" WHERE "id" = ? RETURNING ${ROW}`, 7])
})

t.test('rows with the same columns are inserted together, up to a number of rows and of values', async (t) => {
  const statements = make()
  const rows = [
    { title: 'A' }, { title: 'B' }, { title: 'C', rating: 1 }, { title: 'D', tags: [] }, { title: 'E' }, { rating: 2 },
    {}, {}
  ]
    .map((attributes) => ({ id: undefined, attributes }))
  const made = statements.insertMany(rows, NO_SCOPE, 10)
  t.strictSame(made.map(({ rows }) => rows.map(({ attributes }) => attributes)), [
    [
      { title: 'A' }, { title: 'B' }
    ], [{ title: 'C', rating: 1 }], [{ title: 'D', tags: [] }], [{ title: 'E' }], [{ rating: 2 }], [{}], [{}]
  ])
  const [first] = made
  t.strictSame(first && shown(first),
    [`INSERT INTO "posts" ("version", "title") VALUES (?, ?), (?, ?) RETURNING ${ROW}`, 1, 'A', 1, 'B'])
  t.strictSame(made.map(({ statement: { kept } }) => kept), [false, true, true, true, true, true, true],
    'a statement of several rows is not kept')
  const sizes = (count: number, most: number): number[] =>
    statements.insertMany(new Array(count).fill({ id: undefined, attributes: { title: 'T' } }), NO_SCOPE, most)
      .map(({ rows }) => rows.length)
  t.strictSame([sizes(5, 2), sizes(4, 4)], [[2, 2, 1], [4]])
  t.strictSame(sizes(10_001, 20_000), [10_000, 1], 'at most 30,000 values')
  const ids = statements.insertMany(
    [{ id: 1, attributes: { title: 'A' } }, { id: 2, attributes: { title: 'B' } }], { rating: 3 }, 9
  )
  t.match(ids.map(shown), [[/"rating", "id"\) VALUES \(\?, \?, \?, \?\), /, 1, 'A', 3, 1, 1, 'B', 3, 2]])
})

t.test('a range is selected in its order, with the place of nulls where a database needs it', async (t) => {
  const [sqlite, postgres] = [make(), make(postgresDialect)]
  const portion = { limit: 5, offset: 0 }
  const from = `SELECT ${ROW} FROM "posts"`
  const byId = { conditions: [], order: [ascending('id')] }
  t.strictSame(shown(sqlite.selectRange(byId, NO_SCOPE, [], portion)),
    [`${from} ORDER BY "posts"."id" LIMIT ? + 0`, 5])
  t.strictSame(shown(postgres.selectRange(byId, NO_SCOPE, [], portion)), [`${from} ORDER BY "posts"."id" LIMIT $1`, 5])
  const order = [descending('title'), ascending('rating'), descending('done'), descending('id')]
  const range = { conditions: [{ by: 'title', is: '>', value: 'T' }], order } as const
  t.strictSame(shown(sqlite.selectRange(range, { rating: null }, [], { limit: 5, offset: 3, what: 'sizes' })), [
    'SELECT coalesce(octet_length("title"), 0) + coalesce(octet_length("tags"), 0) * 30 AS size FROM "posts" WHERE ' +
    '"rating" IS NULL AND "title" > ? ORDER BY "posts"."title" DESC, "posts"."rating", "posts"."done" DESC, ' +
    '"posts"."id" DESC LIMIT ? + 0 OFFSET ?', 'T', 5, 3
  ])
  const filter = [{ attribute: 'rating', operator: 'gt', value: 2 }] as const
  const predicates = postgres.conditions.makePredicates(filter, undefined) ?? []
  const nulls = {
    conditions: [],
    order: [ascending('rating'), descending('title'), descending('done'), ascending('id')]
  }
  t.strictSame(shown(postgres.selectRange(nulls, NO_SCOPE, predicates, portion)), [
    `${from} WHERE "rating" > $1::bigint ORDER BY "posts"."rating" NULLS FIRST, "posts"."title" DESC NULLS LAST, ` +
    '"posts"."done" DESC, "posts"."id" LIMIT $2', 2, 5
  ])
  t.match(shown(postgres.selectRange(range, { rating: 1 }, [], portion)),
    [/ORDER BY "posts"\."title" DESC, "posts"\."rating", /], 'a fixed criterion has no nulls')
  const byRating = { conditions: [], order: [ascending('rating'), ascending('id')] }
  t.match(
    shown(postgres.selectRange(byRating, { title: 'T' }, [], portion)), [/ORDER BY "posts"\."rating" NULLS FIRST, /]
  )
  t.match(shown(
    sqlite.selectRange(nulls, NO_SCOPE, sqlite.conditions.makePredicates(filter, undefined) ?? [], portion)
  ),
  [/ LIMIT \?$/], 'a filtered list is prepared with its limit')
})

t.test('rows are counted up to a number, or estimated by the planner', async (t) => {
  const [sqlite, postgres] = [make(), make(postgresDialect)]
  const predicates = sqlite.conditions.makePredicates(
    [{ attribute: 'title', operator: 'eq', value: 'T' }], undefined
  ) ?? []
  t.strictSame(
    shown(sqlite.count([], { scope: NO_SCOPE, most: undefined }, [])), ['SELECT count(*) AS rows FROM "posts"']
  )
  const bounds = [{ by: 'id', is: '>', value: 3 }] as const
  t.strictSame(shown(sqlite.count(bounds, { scope: { rating: 1 }, most: 9 }, predicates)), [
    'SELECT count(*) AS rows FROM (SELECT 1 AS one FROM "posts" WHERE "rating" = ? AND "id" > ? AND "title" = ? ' +
    'LIMIT ?) AS counted', 1, 3, 'T', 9
  ])
  t.equal(sqlite.estimate(predicates), undefined)
  const estimate = postgres.estimate(postgres.conditions.makePredicates(
    [{ attribute: 'rating', operator: 'gt', value: 2 }], undefined) ?? [])
  t.strictSame(estimate && shown(estimate.bound),
    ['EXPLAIN (FORMAT JSON) SELECT 1 FROM "posts" WHERE "rating" > $1::bigint', 2])
  t.equal(estimate?.bound.statement.kept, false)
  t.equal(estimate?.read([{ 'QUERY PLAN': '[{"Plan":{"Plan Rows":5}}]' }]), 5)
})

t.test('a statement says what it does, and the first sixty of a verb are kept', async (t) => {
  const statements = make()
  const target = { id: 7, guard: undefined, scope: NO_SCOPE }
  const portion = { limit: 5, offset: 0 }
  const byId = { conditions: [], order: [ascending('id')] }
  const ranges = statements.conditions.makePredicates([
    { attribute: 'title', operator: 'eq', value: 'T' }, { attribute: 'rating', operator: 'gt', value: 2 }
  ], undefined) ?? []
  const cases: ReadonlyArray<readonly [made: BoundStatement, writes: boolean, more: object]> = [
    [statements.select(7, NO_SCOPE), false, {}],
    [statements.insert({ ...row, attributes: { title: 'T' } }, NO_SCOPE), true, { fills: ['version', 'title'] }],
    [statements.update({ title: 'T' }, target), true, { fills: ['title'] }],
    [statements.delete(target), true, {}],
    [statements.selectRange(byId, NO_SCOPE, [], portion), false, { isSelective: false }],
    [statements.selectRange(byId, NO_SCOPE, ranges.slice(0, 1), portion), false, { isSelective: false }],
    [statements.selectRange(byId, NO_SCOPE, ranges, portion), false, { isSelective: true }],
    [statements.count([], { scope: NO_SCOPE, most: undefined }, ranges), false, { isSelective: true }]
  ]
  for (const [{ statement: { text, ...said } }, writes, more] of cases) {
    t.strictSame(said, { writes, returns: true, kept: true, ...more }, text)
  }
  const fresh = make()
  const count = (length: number): boolean => fresh.count(
    new Array(length).fill({ by: 'id', is: '>', value: 1 }), { scope: NO_SCOPE, most: undefined }, []
  ).statement.kept
  t.strictSame(Array.from({ length: 62 }, (_, index) => count(index)), [...new Array(60).fill(true), false, false])
  t.equal(count(59), true)
  t.equal(fresh.delete(target).statement.kept, true, 'each verb has its own')
})

t.test('values are bound by the kinds of their columns, and rows are decoded by them', async (t) => {
  const schema = {
    type: 'object',
    properties: { data: { type: 'string', contentEncoding: 'base64' }, no: { type: 'integer' } }
  } as const
  const definition = define(sqliteDialect, { attributes: schema })
  const statements = new Statements(definition, sqliteDialect)
  t.strictSame(
    shown(statements.insert({ ...row, attributes: { data: 'AQI=', no: 1 } }, NO_SCOPE)).slice(1), [1, '0102', 1]
  )
  t.match(
    shown(statements.insert({ ...row, attributes: { data: 'AQI=', no: 1 } }, NO_SCOPE)),
    [/VALUES \(\?, unhex\(\?\), \?\)/]
  )
  t.strictSame([statements.hasSizes, make(sqliteDialect, {
    attributes: { type: 'object', properties: { no: { type: 'integer' } } }
  }).hasSizes, make().hasSizes], [true, false, true])
  const decode = makeDecoder(define(sqliteDialect))
  t.strictSame(decode({ id: 7, version: 3, title: 'T', rating: null, tags: '[1]', done: null }),
    { id: 7, version: '3', attributes: { title: 'T', rating: null, tags: [1] } })
})

t.test('an attribute without a column is refused, whichever write has it', async (t) => {
  const statements = make()
  const fault = { code: 'FST_RESOURCES_INVALID', statusCode: 422, errors: { more: ['has no column in the table'] } }
  const attributes = { title: 'T', more: 1, another: 2 }
  t.throws(() => statements.insert({ id: undefined, attributes }, NO_SCOPE), fault)
  t.throws(() => statements.insertMany([{ id: undefined, attributes }], NO_SCOPE, 9), fault)
  try {
    statements.update(attributes, { id: 7, guard: undefined, scope: NO_SCOPE })
    t.fail('it is accepted')
  } catch (error) {
    t.strictSame(Object.keys((error as { errors: object }).errors), ['more', 'another'])
  }
})
