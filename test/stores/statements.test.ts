import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import type { Attributes, Scope } from '../../lib/index.js'
import type { Dialect } from '../../lib/sql/dialect.js'
import { postgresDialect } from '../../lib/sql/postgres/dialect.js'
import { sqliteDialect } from '../../lib/sql/sqlite/dialect.js'
import { type BoundStatement, makeDecoder, Statements } from '../../lib/sql/statements.js'
import { defineTable, type TableDefinition, type TableDefinitionOptions } from '../../lib/sql/tables/definition.js'
import type { Context, Filter, Order, Position, Transaction, TransactionContext } from '../../lib/core/stores/store.js'
import { rangesAfter, rangesOf } from '../../lib/sql/keyset.js'
import { type Session, Transactions, type TransactionSource } from '../../lib/core/stores/transaction.js'

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

const NEVER_NULL = new Set(['id', 'title'])

function orderOf (names: string): Order {
  return names.split(' ').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

/** Returns the ranges as texts, such as `rating = 3, id > 7: id`. */
function show (ranges: ReturnType<typeof rangesAfter>): readonly string[] {
  return ranges.map(({ conditions, order }) => [
    conditions.map(({ by, is, value }) => `${by} ${is} ${String(value)}`).join(', '),
    order.map(({ by, descending }) => `${descending ? '-' : ''}${by}`).join(' ')
  ].join(': '))
}

t.test('the ranges after a position follow each other in the order', async (t) => {
  const cases: ReadonlyArray<readonly [order: string, after: Position | undefined, ranges: readonly string[]]> = [
    ['id', undefined, [': id']],
    ['-id', undefined, [': -id']],
    ['title id', undefined, [': title id']],
    ['rating id', undefined, ['rating = null: rating id', 'rating > null: rating id']],
    ['-rating -id', undefined, ['rating > null: -rating -id', 'rating = null: -rating -id']],
    ['id', [7], ['id > 7: id']],
    ['-id', [7], ['id < 7: -id']],
    ['title id', ['T', 7], ['title = T, id > 7: id', 'title > T: title id']],
    ['-title -id', ['T', 7], ['title = T, id < 7: -id', 'title < T: -title -id']],
    ['rating id', [3, 7], ['rating = 3, id > 7: id', 'rating > 3: rating id']],
    ['rating id', [null, 7], ['rating = null, id > 7: id', 'rating > null: rating id']],
    ['-rating -id', [3, 7], ['rating = 3, id < 7: -id', 'rating < 3: -rating -id', 'rating = null: -rating -id']],
    ['-rating -id', [null, 7], ['rating = null, id < 7: -id']],
    ['title -rating id', ['T', 3, 7], [
      'title = T, rating = 3, id > 7: id', 'title = T, rating < 3: -rating id', 'title = T, rating = null: -rating id',
      'title > T: title -rating id'
    ]]
  ]
  for (const [order, after, ranges] of cases) {
    const what = JSON.stringify([order, after])
    t.strictSame(show(rangesAfter(orderOf(order), after, NEVER_NULL)), ranges, what)
    t.strictSame(show(rangesOf({ order: orderOf(order), filter: [] }, after, NEVER_NULL)), ranges, what)
  }
})

t.test('a range of nulls is left out if a condition excludes nulls', async (t) => {
  const all = ['rating = null: rating id', 'rating > null: rating id']
  const cases: ReadonlyArray<readonly [condition: Filter[number], ranges: readonly string[]]> = [
    [{ attribute: 'rating', operator: 'eq', value: 3 }, all.slice(1)],
    [{ attribute: 'rating', operator: 'in', value: [3] }, all.slice(1)],
    [{ attribute: 'rating', operator: 'null', value: false }, all.slice(1)],
    [{ attribute: 'rating', operator: 'null', value: true }, all],
    [{ attribute: 'rating', operator: 'not', value: 3 }, all],
    [{ attribute: 'title', operator: 'eq', value: 'T' }, all]
  ]
  for (const [condition, ranges] of cases) {
    for (const filter of [[condition], [{ attribute: 'title', operator: 'not', value: 'x' }, condition]] as Filter[]) {
      t.strictSame(
        show(rangesOf({ order: orderOf('rating id'), filter }, undefined, NEVER_NULL)), ranges, JSON.stringify(filter)
      )
    }
  }
  const filter: Filter = [{ attribute: 'rating', operator: 'gt', value: 1 }]
  t.strictSame(show(rangesOf({ order: orderOf('-rating -id'), filter }, [3, 7], NEVER_NULL)),
    ['rating = 3, id < 7: -id', 'rating < 3: -rating -id'], 'after a position')
  t.strictSame(show(rangesOf({ order: orderOf('-grade rating id'), filter }, [3, null, 7], NEVER_NULL)),
    ['grade = 3, rating > null: rating id', 'grade < 3: -grade rating id', 'grade = null: -grade rating id'])
  const mixed: Filter = [{ attribute: 'rating', operator: 'gt', value: 1 }]
  t.strictSame(show(rangesOf({ order: orderOf('-grade id'), filter: mixed }, [3, 7], NEVER_NULL)),
    ['grade = 3, id > 7: id', 'grade < 3: -grade id', 'grade = null: -grade id'], 'a condition on another attribute')
})

const outside: Context = { signal: new AbortController().signal }
const MISSING = { ok: false, why: 'missing' }
const UNWRITTEN = 'FST_RESOURCES_UNWRITTEN'
const TRANSACTION = { code: 'FST_RESOURCES_TRANSACTION' }
const nothing = async (): Promise<void> => {}

interface Database {
  /** What the sessions of the database were asked. */
  readonly log: string[]
  readonly transactions: Transactions<Session>
}

/** Opens a database whose sessions note what they are asked. */
function open (parts: Partial<TransactionSource<Session>> = {}, session: Partial<Session> = {}): Database {
  const log: string[] = []
  const source: TransactionSource<Session> = {
    begin () {
      log.push('begin')
      return { commit: () => { log.push('commit') }, rollback: () => { log.push('rollback') }, ...session }
    },
    ...parts
  }
  return { log, transactions: new Transactions(source) }
}

const openOf = (context: Context): Transaction => context.openTransaction as Transaction
const ask = (transactions: Transactions<Session>, context?: Context): string =>
  transactions.call(context, (session) => session === undefined ? 'outside' : 'inside')

async function * rejecting (transactions: Transactions<Session>): AsyncGenerator<(context: Context) => unknown> {
  yield (context) => transactions.call(context, () => { throw new Error('broken') })
  yield (context) => transactions.call(context, async () => { throw new Error('broken') })
  yield async (context) => transactions.run(async () => { throw new Error('broken') }, context)
}

t.test('a transaction commits what its function returns, and gives its session to each call', async (t) => {
  const { log, transactions } = open()
  const controller = new AbortController()
  const result = await transactions.run(async (context) => {
    t.equal(context.signal, controller.signal)
    t.equal(ask(transactions, context), 'inside')
    t.equal(typeof transactions.sessionOf(context)?.commit, 'function')
    t.equal(openOf(context).isDoomed, false)
    for (const same of [undefined, null, [], { ok: true }, 'text']) {
      t.equal(transactions.call(context, () => same), same)
      t.equal(await transactions.call(context, async () => same), same)
    }
    return 'done'
  }, controller)
  t.strictSame([result, log], ['done', ['begin', 'commit']])
  t.strictSame([ask(transactions), ask(transactions, outside)], ['outside', 'outside'])
  t.equal(transactions.sessionOf(outside), undefined)
})

t.test('a function that throws, at once or later, rolls back', async (t) => {
  for (const run of [() => { throw new Error('broken') }, async () => { throw new Error('broken') }]) {
    const { log, transactions } = open()
    await t.rejects(transactions.run(run, outside), { message: 'broken' })
    t.strictSame(log, ['begin', 'rollback'])
  }
})

t.test('a call that fails dooms the transaction, even if the function catches the error', async (t) => {
  const { log, transactions } = open()
  let cases = 0
  for await (const fail of rejecting(transactions)) {
    cases++
    await t.rejects(transactions.run(async (context) => {
      await t.rejects(async () => fail(context), { message: 'broken' })
      t.equal(openOf(context).isDoomed, true)
      t.throws(() => ask(transactions, context), { message: 'broken' }, 'no further call is made')
      t.throws(() => transactions.sessionOf(context), { message: 'broken' })
      return 'done'
    }, outside), { message: 'broken' })
  }
  t.strictSame(log, new Array(cases).fill(['begin', 'rollback']).flat())
})

t.test('a write that is refused dooms the transaction, unless refused writes are returned', async (t) => {
  const { log, transactions } = open()
  for (const [outcome, statusCode] of [[MISSING, 404], [{ ok: false, why: 'stale' }, 412]] as const) {
    const fault = { code: UNWRITTEN, statusCode }
    await t.rejects(transactions.run(async (context) => {
      t.throws(() => transactions.call(context, () => outcome), fault)
    }, outside), fault)
    await t.rejects(
      transactions.run(async (context) => transactions.call(context, async () => outcome), outside), fault
    )
    log.length = 0
    const returned = await transactions.run(async (context) => transactions.call(context, () => outcome), outside,
      { returnsRefused: true })
    t.strictSame([returned, log], [outcome, ['begin', 'commit']])
  }
})

t.test('a transaction inside another of the database joins it', async (t) => {
  const { log, transactions } = open()
  const result = await transactions.run(async (context) =>
    transactions.run(async (inner) => [inner === context, ask(transactions, inner)], context), outside)
  t.strictSame([result, log], [[true, 'inside'], ['begin', 'commit']])
})

t.test('a call without the context of the transaction around it is an error that dooms it', async (t) => {
  const { log, transactions } = open()
  const other = open()
  const calls: ReadonlyArray<() => unknown> = [
    () => ask(transactions), () => ask(transactions, outside), () => transactions.sessionOf(outside),
    () => transactions.run(nothing, outside),
    () => other.transactions.run(async () => ask(transactions), outside)
  ]
  for (const call of calls) {
    log.length = 0
    await t.rejects(transactions.run(async () => { await Promise.resolve().then(call).catch(() => {}) }, outside),
      { ...TRANSACTION, message: /without its context/ })
    t.strictSame(log, ['begin', 'rollback'])
  }
})

t.test('a call is made outside while a transaction is open, and after it is over', async (t) => {
  const { transactions } = open()
  let end = (): void => {}
  const running = transactions.run(() => new Promise<void>((resolve) => { end = resolve }), outside)
  await new Promise((resolve) => { setImmediate(resolve) })
  t.equal(ask(transactions), 'outside')
  end()
  await running
  let later: Promise<unknown> = Promise.resolve()
  let kept: Context = outside
  let over = (): void => {}
  await transactions.run(async (context) => {
    kept = context
    later = new Promise<void>((resolve) => { over = resolve }).then(() =>
      transactions.run(async (inner) => ask(transactions, inner), outside))
  }, outside)
  over()
  t.equal(await later, 'inside', 'a transaction that is over is around no call')
  t.throws(() => ask(transactions, kept), { ...TRANSACTION, message: /is over/ })
  t.throws(() => transactions.sessionOf(kept), { message: /is over/ })
  await t.rejects(transactions.run(nothing, kept), { message: /is over/ })
  await t.rejects(openOf(kept).attempt(nothing), { message: /is over/ })
})

t.test('a context of another database is an error, which dooms its transaction', async (t) => {
  const [one, other] = [open(), open()]
  await t.rejects(one.transactions.run(async (context) => {
    t.throws(() => ask(other.transactions, context), { ...TRANSACTION, message: /in another database/ })
  }, outside), { message: /in another database/ })
  t.strictSame(one.log, ['begin', 'rollback'])
  const foreign = { ...outside, openTransaction: {} as Transaction }
  t.throws(() => ask(other.transactions, foreign), { message: /in another database/ })
})

t.test('a dry run checks, and rolls back', async (t) => {
  for (const session of [{}, { check: () => { throw new Error('late') } }]) {
    const { log, transactions } = open({}, session)
    let called = false
    const run = transactions.run(async (context) => {
      context.afterCommit(() => { called = true })
      return 'done'
    }, outside, { dryRun: true })
    if ('check' in session) await t.rejects(run, { message: 'late' })
    else t.equal(await run, 'done')
    await new Promise((resolve) => { setImmediate(resolve) })
    t.strictSame([log, called], [['begin', 'rollback'], false])
  }
})

t.test('functions are called after the commit in their order, and may fail', async (t) => {
  const { log, transactions } = open()
  const warnings: unknown[] = []
  t.intercept(process, 'emitWarning', { value: (warning: Error) => { warnings.push(warning.message, warning.cause) } })
  await transactions.run(async ({ afterCommit }) => {
    afterCommit(() => { log.push('one') })
    afterCommit(() => { throw new Error('no mail') })
    afterCommit(async () => { log.push('two') })
  }, outside)
  await new Promise((resolve) => { setImmediate(resolve) })
  t.strictSame(log, ['begin', 'commit', 'one', 'two'])
  t.match(warnings, ['a function of afterCommit has failed', { message: 'no mail' }])
})

t.test('a commit that fails is not rolled back, and nothing is called after it', async (t) => {
  const { log, transactions } = open({}, { commit: async () => { throw new Error('disk') } })
  await t.rejects(transactions.run(async ({ afterCommit }) => { afterCommit(() => { log.push('called') }) }, outside),
    { message: 'disk' })
  await new Promise((resolve) => { setImmediate(resolve) })
  t.strictSame(log, ['begin'])
})

t.test('a transaction ends with its time or when its client leaves, and leaves nothing behind', async (t) => {
  const forever = () => new Promise<never>(() => {})
  const late = () => new Promise<never>((_resolve, reject) => { setTimeout(() => { reject(new Error('late')) }, 20) })
  const unavailable = { code: 'FST_RESOURCES_UNAVAILABLE', cause: { message: 'the transaction took too long' } }
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const { log, transactions } = open({ timeout: 5 })
  await t.rejects(transactions.run(forever, outside), unavailable, 'the time of the database')
  const patient = open({ timeout: 60_000 })
  await t.rejects(patient.transactions.run(late, outside, { timeout: 5 }), unavailable, 'the time of the transaction')
  t.strictSame([log, patient.log], [['begin', 'rollback'], ['begin', 'rollback']])
  const controller = new AbortController()
  const timers = count()
  const left = patient.transactions.run(forever, controller)
  await new Promise((resolve) => { setImmediate(resolve) })
  controller.abort(new Error('gone'))
  await t.rejects(left, { message: 'gone' })
  await t.rejects(patient.transactions.run(forever, controller), { message: 'gone' }, 'the client has left before')
  const staying = new AbortController()
  await patient.transactions.run(nothing, staying)
  t.equal(getEventListeners(staying.signal, 'abort').length, 0)
  t.equal(getEventListeners(controller.signal, 'abort').length, 0)
  t.ok(count() <= timers, 'no timer goes on')
})

t.test('no call is made after the client has left, even before the transaction is rolled back', async (t) => {
  const { transactions } = open()
  const controller = new AbortController()
  let call: () => unknown = () => {}
  const run = transactions.run((context) => {
    call = () => ask(transactions, context)
    return new Promise(() => {})
  }, controller)
  await new Promise((resolve) => { setImmediate(resolve) })
  controller.abort(new Error('gone'))
  t.throws(() => call(), { message: 'gone' })
  await t.rejects(run, { message: 'gone' })
})

t.test('what happens after the end of the time is not committed', async (t) => {
  const { log, transactions } = open()
  let call: () => unknown = () => {}
  await t.rejects(transactions.run((context) => {
    call = () => ask(transactions, context)
    return new Promise(() => {})
  }, outside, { timeout: 5 }), { code: 'FST_RESOURCES_UNAVAILABLE' })
  t.throws(() => call(), { message: /is over/ })
  t.strictSame(log, ['begin', 'rollback'])
})

/** Replaces the pauses between attempts, and returns the lengths of all timers. */
function shortenPauses (t: Test): number[] {
  const lengths: number[] = []
  const real = globalThis.setTimeout
  t.intercept(Math, 'random', { value: () => 1 })
  t.intercept(globalThis, 'setTimeout', {
    value: (call: () => void, length: number) => {
      lengths.push(length)
      return real(call, length <= 200 ? 0 : length)
    }
  })
  return lengths
}

t.test('a transaction that conflicts with others begins again, after pauses that grow', async (t) => {
  const isConflict = (error: unknown): boolean => (error as Error).message === 'conflict'
  const { log, transactions } = open({ isConflict })
  const lengths = shortenPauses(t)
  let calls = 0
  const run = async (): Promise<number> => {
    if (++calls < 10) throw new Error('conflict')
    return calls
  }
  t.equal(await transactions.run(run, outside, { attempts: 10 }), 10)
  t.strictSame(lengths.filter((length) => length < 1000), [2, 4, 8, 16, 32, 64, 128, 128, 128])
  t.strictSame([...new Set(lengths.filter((length) => length >= 1000))], [30_000], 'the longest time')
  t.equal(log.filter((what) => what === 'begin').length, 10)
  for (
    const [attempts, message, begun] of [[undefined, 'conflict', 1], [3, 'conflict', 3], [3, 'broken', 1]] as const
  ) {
    log.length = 0
    await t.rejects(transactions.run(
      async () => { throw new Error(message) }, outside, { ...(attempts && { attempts }) }
    ),
    { message })
    t.equal(log.filter((what) => what === 'begin').length, begun)
  }
  const simple = open()
  await t.rejects(simple.transactions.run(async () => { throw new Error('conflict') }, outside, { attempts: 3 }),
    { message: 'conflict' })
  t.equal(simple.log.length, 2, 'a database without conflicts does not begin again')
})

t.test('a transaction may begin in another way than the others of its database', async (t) => {
  const { log, transactions } = open()
  const given: unknown[] = []
  const source: TransactionSource<Session> = {
    begin (...parts) {
      given.push(...parts)
      return { commit: () => { log.push('own commit') }, rollback () {} }
    }
  }
  await transactions.run(nothing, outside, { attempts: 2 }, source)
  t.strictSame([log, given], [['own commit'], [outside, { attempts: 2 }]])
})

/** A session with savepoints, which notes them. */
function savepoints (log: () => string[]): Partial<Session> {
  return {
    async savepoint (call) {
      log().push('savepoint')
      try {
        return await call()
      } catch (error) {
        log().push('undone')
        throw error
      }
    }
  }
}

t.test('an attempt that fails is undone alone, if the database has savepoints', async (t) => {
  const database: Database = open({}, savepoints(() => database.log))
  const { log, transactions } = database
  await transactions.run(async (context) => {
    const { attempt } = openOf(context)
    const tried = attempt.bind(openOf(context))
    t.equal(await tried(() => 'done'), 'done')
    t.strictSame(await tried(() => transactions.call(context, () => MISSING)), MISSING, 'a refused write is returned')
    await t.rejects(tried(() => { throw new Error('broken') }), { message: 'broken' })
    await t.rejects(tried(async () => {
      await t.rejects(async () => transactions.call(context, async () => { throw new Error('first') }))
      t.throws(() => ask(transactions, context), { message: 'first' }, 'the attempt is doomed')
      t.equal(openOf(context).isDoomed, false)
    }), { message: 'first' }, 'a caught error fails the attempt')
    t.equal(await tried(async () => {
      await t.rejects(tried(() => transactions.call(context, () => { throw new Error('inner') })), { message: 'inner' })
      return ask(transactions, context)
    }), 'inside', 'an attempt inside another')
    t.equal(ask(transactions, context), 'inside')
    return 'done'
  }, outside)
  t.strictSame(log, [
    'begin', 'savepoint', 'savepoint', 'savepoint', 'undone', 'savepoint', 'undone', 'savepoint', 'savepoint', 'undone',
    'commit'
  ])
  await t.rejects(transactions.run(async (context) => transactions.call(context, () => MISSING), outside),
    { code: UNWRITTEN, statusCode: 404 }, 'a write after an attempt is refused again')
})

t.test('an attempt that fails dooms the transaction of a database without savepoints', async (t) => {
  const { log, transactions } = open()
  await t.rejects(transactions.run(async (context: TransactionContext) => {
    t.equal(await openOf(context).attempt(() => 'done'), 'done')
    t.equal(openOf(context).isDoomed, false)
    await t.rejects(openOf(context).attempt(() => { throw new Error('broken') }), { message: 'broken' })
    t.equal(openOf(context).isDoomed, true)
    await t.rejects(openOf(context).attempt(() => 'done'), { message: 'broken' })
  }, outside), { message: 'broken' })
  t.strictSame(log, ['begin', 'rollback'])
})
