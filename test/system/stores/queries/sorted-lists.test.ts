import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import {
  type Attributes, BY_ID, comparePositions, memoryStore, type Order, positionOf, type Query, type Row, type Store
} from '../../../../lib/index.js'
import type { SqlStore } from '../../../../lib/sql/sqlite/index.js'
import { context, type Engine, every, openEngines, readAll } from '../../../support/stores/sql-engines.js'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { build } from '../../../support/helper.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    ratio: { type: 'number' },
    done: { type: 'boolean' },
    owner: { type: ['string', 'null'], format: 'uuid' },
    seen: { type: 'string', format: 'date-time' }
  }
} as const
const ROWS = 3000
const any = { after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }
const unguarded = { version: undefined, scope: {} }

const orderOf = (...names: readonly string[]): Order =>
  [...names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') })), ...BY_ID]

function makeAttributes (index: number): Attributes {
  const number = (index * 7919) % ROWS
  return {
    title: `Title ${String(number).padStart(4, '0')}`,
    rating: index % 11 === 0 ? null : index % 5,
    ratio: number / 7,
    done: index % 3 === 0,
    owner: index % 4 === 0 ? null : `00000000-0000-7000-8000-${String(index % 17).padStart(12, '0')}`,
    seen: new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString()
  }
}

/** Makes a store whose rows are those of `makeAttributes`. */
async function makeStore (engine: Engine, id: 'integer' | 'uuid' = 'integer'): Promise<SqlStore> {
  const store = engine.store({ table: `posts_${id}`, id, attributes, migrate: true })
  await store.migrate()
  const names = Object.keys(attributes.properties)
  const texts = Array.from({ length: ROWS }, (_, index) => {
    const made = makeAttributes(index)
    const values = names.map((name) => typeof made[name] === 'string' ? `'${made[name]}'` : String(made[name] ?? null))
    return `(${[
      id === 'uuid' ? `'00000000-0000-7000-8000-${String((index * 7) % ROWS).padStart(12, '0')}'` : index + 1, ...values
    ].join()})`
  })
  await engine.run(`DELETE FROM posts_${id}`, `INSERT INTO posts_${id} (id, ${names.join()}) VALUES ${texts.join()}`)
  return store
}

async function list (engine: Engine, store: SqlStore, query: Partial<Query> & Pick<Query, 'order'>): Promise<Row[]> {
  engine.statements.length = 0
  return readAll(store.list({ ...any, ...query }, context))
}

const queries: ReadonlyArray<readonly [what: string, query: Partial<Query> & Pick<Query, 'order'>]> = [
  ['texts', { order: orderOf('title') }],
  ['descending texts', { order: orderOf('-title') }],
  ['few values and nulls', { order: orderOf('rating') }],
  ['few values and nulls, descending', { order: orderOf('-rating') }],
  ['several criteria', { order: orderOf('-done', 'rating', '-title') }],
  ['numbers', { order: orderOf('ratio') }],
  ['UUIDs', { order: orderOf('-owner') }],
  ['moments', { order: orderOf('seen') }],
  ['a scope', { order: orderOf('title'), scope: { done: false } }],
  ['conditions', { order: orderOf('title'), filter: [{ attribute: 'rating', operator: 'lte', value: 2 }] }],
  ['a search', { order: orderOf('-title'), search: { words: ['1'], attributes: ['title'] } }],
  ['a limit', { order: orderOf('title'), limit: 2303 }],
  ['a limit of two batches', { order: orderOf('title'), limit: 1050 }],
  ['the ids', { order: BY_ID }],
  ['the ids, descending', { order: [{ by: 'id', descending: true }] }]
]

for (const id of ['integer', 'uuid'] as const) {
  t.test(`a list that no index serves has the rows in order, by ${id} ids`, async (t) => {
    for (const engine of await openEngines()) {
      const store = await makeStore(engine, id)
      const all = await readAll(store.list({ ...any, order: BY_ID }, context))
      for (const [what, query] of queries) {
        const rows = await list(engine, store, query)
        const { scope, filter, search, limit = ROWS } = { ...any, ...query }
        const matching = all.filter(({ attributes: { done, rating, title } }) =>
          (!('done' in scope) || done === false) && (filter.length === 0 || (rating !== null && Number(rating) <= 2)) &&
            (search === undefined || String(title).includes('1')))
        const sorted = matching.sort((a, b) =>
          comparePositions(query.order, positionOf(a, query.order), positionOf(b, query.order))).slice(0, limit)
        // The comparison of tap takes seconds for so many rows. It is made only if there is a difference to show.
        if (isDeepStrictEqual(rows, sorted)) t.pass(`${engine.name}: ${what}`)
        else t.strictSame(rows, sorted, `${engine.name}: ${what}`)
      }
    }
  })
}

/**
 * Changes of rows while the batches before them are read, and the titles that the list then shows in place of theirs.
 */
const changes: ReadonlyArray<readonly [
  what: string, title: string, change: Attributes | 'delete', shown: string | undefined
]> = [
  ['moves to the beginning', 'Title 2200', { title: 'A' }, undefined],
  ['moves to the end', 'Title 2201', { title: 'Z' }, 'Z'],
  ['moves to a batch that is read already', 'Title 2202', { title: 'Title 0150x' }, undefined],
  ['moves within its batch', 'Title 2203', { title: 'Title 2213x' }, 'Title 2213x'],
  ['is deleted', 'Title 2204', 'delete', undefined],
  ['changes at its position', 'Title 2205', { ratio: 9 }, 'Title 2205'],
  ['meets the condition no longer', 'Title 2206', { ratio: -1 }, undefined]
]

t.test('rows that change while they are listed appear in order, and others exactly once', async (t) => {
  for (const engine of await openEngines()) {
    const store = await makeStore(engine)
    const order = orderOf('title')
    const titles = new Map(
      (await readAll(store.list({ ...any, order }, context))).map(
        ({ id, attributes: { title } }) => [String(title), id]
      )
    )
    const shown: string[] = []
    let batches = 0
    for await (const batch of store.list(
      { ...any, order, filter: [{ attribute: 'ratio', operator: 'gte', value: 0 }] }, context
    )) {
      shown.push(...batch.map(({ attributes: { title } }) => String(title)))
      if (++batches !== 2) continue
      for (const [, title, change] of changes) {
        const id = titles.get(title) ?? 0
        await (change === 'delete'
          ? store.delete(id, unguarded, context)
          : store.update(id, change, unguarded, context))
      }
    }
    t.ok(batches > 3, engine.name)
    const kept = [...titles.keys()].filter((title) => !changes.some(([, changed]) => changed === title))
    t.strictSame(shown, [...kept, ...changes.flatMap(([,,, title]) => title ?? [])].sort(), engine.name)
  }
})

t.test('a list of very many rows in an order without an index is refused, except by pages', async (t) => {
  for (const engine of await openEngines()) {
    const store = engine.store({
      table: 'numbers',
      id: 'uuid',
      attributes: { type: 'object', properties: { number: { type: 'integer' } } },
      migrate: true
    })
    await store.migrate()
    const last = 50_000
    await engine.run(engine.name === 'sqlite'
      ? `INSERT INTO numbers (id, number)
        WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < ${last})
        SELECT printf('00000000-0000-7000-8000-%012d', n * 7919 % ${last + 1}), n FROM counted`
      : 'INSERT INTO numbers (id, number) SELECT (\'00000000-0000-7000-8000-\' || lpad((n::bigint * 7919 % ' +
        `${last + 1})::text, 12, '0'))::uuid, n FROM generate_series(0, ${last}) AS counted (n)`)
    const order = orderOf('number')
    const message =
      'this list has more than 50000 rows, and no index has them in its order; read it by pages, with "limit"'
    await t.rejects(list(engine, store, { order }), { code: 'FST_RESOURCES_INVALID_QUERY', message }, engine.name)
    t.equal((await list(engine, store, { order, limit: 10 })).length, 10)
    t.equal((await list(engine, store, { order: BY_ID })).length, last + 1)
    t.equal(
      (await list(engine, store, { order, filter: [{ attribute: 'number', operator: 'lt', value: 3000 }] })).length,
      3000
    )
    await engine.run('CREATE INDEX by_number ON numbers (number, id)', 'ANALYZE')
    const rows = await list(engine, store, { order })
    t.ok(rows.length === last + 1 && rows.every(({ attributes: { number } }, index) => number === index), engine.name)
    engine.failing = /^EXPLAIN/
    t.equal((await list(engine, store, { order })).length, last + 1, 'an engine may explain nothing')
    engine.failing = undefined
  }
})

t.test('a store returns the first match of a filtered list before it looks for others', async (t) => {
  for (const engine of await openEngines()) {
    const store = await makeStore(engine)
    const sizes = async (query: Partial<Query>): Promise<number[]> => {
      const found: number[] = []
      for await (const batch of store.list({ ...any, order: BY_ID, ...query }, context)) found.push(batch.length)
      return found
    }
    const filter: Query['filter'] = [{ attribute: 'ratio', operator: 'gte', value: 0 }]
    const search = { words: ['title'], attributes: ['title'] }
    t.strictSame((await sizes({ filter })).slice(0, 1), [1], engine.name)
    t.strictSame((await sizes({ search })).slice(0, 1), [1], engine.name)
    t.strictSame((await sizes({})).slice(0, 2), [100, 1001], engine.name)
  }
})

const attributesOrder = {
  type: 'object',
  properties: { rating: { type: 'integer' }, grade: { type: ['integer', 'null'] } }
} as const
/** So many rows that PostgreSQL prefers an index to a sort of all of them. */
const ORDER_ROWS = 4000

const IDS = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgresql: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY'
} as const

interface Opened {
  readonly name: string
  readonly engine: Engine | undefined
  readonly app: FastifyInstance
}

/** Serves the same rows from each store. `rating` and `grade` have three values, and `grade` may be null. */
async function open (t: Test): Promise<Opened[]> {
  const rows = Array.from({ length: ORDER_ROWS }, (_, index) =>
    ({ rating: index % 3, grade: index % 4 === 3 ? null : index % 4 }))
  const serve = async (store: Store): Promise<FastifyInstance> =>
    await build(t, { name: 'posts', attributes: attributesOrder, store })
  const memory = memoryStore()
  for (const row of rows) memory.create(row, {})
  const opened: Opened[] = [{ name: 'memory', engine: undefined, app: await serve(memory) }]
  for (const engine of await openEngines()) {
    const values = rows.map(({ rating, grade }) => `(${rating}, ${String(grade)})`).join()
    await engine.run(
      `CREATE TABLE posts (id ${IDS[engine.name]}, rating bigint NOT NULL, grade bigint, version bigint NOT NULL ` +
        'DEFAULT 1)',
      `INSERT INTO posts (rating, grade) VALUES ${values}`,
      'CREATE INDEX by_rating ON posts (rating, id)', 'CREATE INDEX by_grade ON posts (grade, id)', 'ANALYZE'
    )
    opened.push({
      name: engine.name, engine, app: await serve(engine.store({ table: 'posts', attributes: attributesOrder }))
    })
  }
  return opened
}

/** Follows the `next` links of a list, and returns the ids of each page. */
async function walk (app: FastifyInstance, url: string, pages: number): Promise<number[][]> {
  const ids: number[][] = []
  for (let next: string | undefined = url; next !== undefined && ids.length < pages;) {
    const res: LightMyRequestResponse = await app.inject(next)
    ids.push(res.json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id))
    next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
  }
  return ids
}

/** Returns whether the database sorts rows for a statement of a page. */
async function sorts ({ name, run }: Engine, text: string): Promise<boolean> {
  if (name === 'sqlite') return /TEMP B-TREE/.test(JSON.stringify(await run(`EXPLAIN QUERY PLAN ${text}`)))
  const plan = await run(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text.replace(/LIMIT \$\d+/, 'LIMIT 20')}`)
  return /Sort"/.test(JSON.stringify(plan).replaceAll('\\', ''))
}

/** Returns the statements of lists that were run, without the settings of connections. */
function selects (engine: Engine | undefined): readonly string[] {
  return engine?.statements.filter((text) => /^SELECT (?!set_config)/.test(text)) ?? []
}

const idsWhere = (isListed: (index: number) => boolean): number[] =>
  Array.from({ length: ORDER_ROWS }, (_, index) => index).filter(isListed).map((index) => index + 1)

t.test('ties follow the direction of the last criterion, so that one index serves both directions', async (t) => {
  const down = (rating: number): number[] => idsWhere((index) => index % 3 === rating).reverse()
  const up = (rating: number): number[] => idsWhere((index) => index % 3 === rating)
  const grade = (value: number): number[] => idsWhere((index) => index % 4 === value)
  const cases: ReadonlyArray<readonly [sort: string, ids: readonly number[]]> = [
    ['rating', [...up(0), ...up(1), ...up(2)]],
    ['-rating', [...down(2), ...down(1), ...down(0)]],
    ['-rating,-id', [...down(2), ...down(1), ...down(0)]],
    ['grade', [...grade(3), ...grade(0), ...grade(1), ...grade(2)]],
    ['-grade', [...grade(3), ...grade(0), ...grade(1), ...grade(2)].reverse()]
  ]
  for (const { name, engine, app } of await open(t)) {
    for (const [sort, ids] of cases) {
      engine?.statements.splice(0)
      const pages = await walk(app, `/posts.json?sort=${sort}&limit=500`, 9)
      t.strictSame(pages.flat(), ids, `${name}: ${sort}`)
      for (const text of selects(engine)) t.not(engine && await sorts(engine, text), true, `${name}: ${sort}: ${text}`)
    }
    const mixed = await walk(app, '/posts.json?sort=-rating,id&limit=500', 9)
    t.strictSame(mixed.flat(), [...up(2), ...up(1), ...up(0)], `${name}: the id in another direction`)
  }
})

t.test('a cursor of the other direction of ties is refused', async (t) => {
  const cursor = Buffer.from(JSON.stringify(['-rating', 2, 3])).toString('base64url')
  for (const { name, app } of await open(t)) {
    for (const parameter of ['after', 'before']) {
      const { statusCode, body } = await app.inject(`/posts.json?sort=-rating&limit=2&${parameter}=${cursor}`)
      t.equal(statusCode, 400, name)
      t.match(body, /must come from a .{2,4}(next|prev).{2} link of this list with the same order/, name)
    }
    const [ids] = await walk(app, `/posts.json?sort=-rating,id&limit=2&after=${cursor}`, 1)
    t.strictSame(ids, [6, 9], `${name}: the order that it was made for`)
  }
})

t.test('a sort by a column that is never null reads its first page with one statement', async (t) => {
  for (const { name, engine, app } of await open(t)) {
    if (engine === undefined) continue
    for (const [sort, statements] of [['rating', 1], ['-rating', 1], ['grade', 1], ['rating,grade', 1]] as const) {
      engine.statements.splice(0)
      t.equal((await app.inject(`/posts.json?sort=${sort}&limit=20`)).statusCode, 200)
      t.equal(selects(engine).length, statements, `${name}: ${sort}`)
      t.notMatch(selects(engine).join(), /"rating" IS (NOT )?NULL/, `${name}: ${sort}`)
    }
  }
})

t.test('a batch of JSON has few rows, and a list that is abandoned or fails ends', async t => {
  for (const { name, store: makeStore } of await openEngines()) {
    const store = makeStore({
      table: 'posts', migrate: true, attributes: { type: 'object', properties: { tags: { type: 'array' } } }
    })
    await store.migrate()
    for (let index = 0; index < 12; index++) {
      await store.create({ tags: new Array(2500).fill('x'.repeat(100)) }, {}, context)
    }
    const sizes: number[] = []
    for await (const batch of store.list(
      every, context
    )) {
      sizes.push(batch.length)
    }
    t.ok(Math.max(...sizes) < 12, name)
    t.equal(sizes.reduce((sum, size) => sum + size), 12)
    const controller = new AbortController()
    const list = store.list(
      every,
      { signal: controller.signal }
    )
    const batches = list[Symbol.asyncIterator]()
    await batches.next()
    controller.abort()
    await t.rejects(async () => batches.next(), { name: 'AbortError' })
    t.same(await batches.next(), { done: true, value: undefined })
    t.same(await batches.return?.(), { done: true, value: undefined })
  }
})
