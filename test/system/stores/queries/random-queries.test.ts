import { randomInt } from 'node:crypto'
import t from 'tap'
import {
  type Attributes, comparePositions, type Condition, type CountQuery, memoryStore, type Operator, type Order,
  positionOf, type Query, type Row, type Scalar, type Search, type Store
} from '../../../../lib/index.js'
import { context, openEngines, readAll } from '../../../support/stores/sql-engines.js'

const SEED = Number(process.env.SEED ?? randomInt(2 ** 31))
const QUERIES = 300

const schema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    note: { type: ['string', 'null'] },
    count: { type: ['integer', 'null'] },
    ratio: { type: 'number' },
    done: { type: 'boolean' },
    owner: { type: ['string', 'null'], format: 'uuid' },
    day: { type: 'string', format: 'date' },
    tenant: { type: 'string' }
  }
} as const

/** Parts of texts: letters with unusual cases, and characters with a meaning in patterns. */
const PARTS = [
  'a', 'A', 'k', 'K', '\u212a', 's', 'S', 'ſ', 'ß', 'ẞ', 'ss', 'σ', 'ς', 'Σ', '\u0390', '\u1fd3', 'ﬅ', 'ﬆ', 'ﬁ',
  'fi', 'i', 'I', 'ı', 'İ', 'é', 'e\u0301', 'Å', '\u212b', '%', '_', '\\', '*', '?', '[', ']', '^', '-', '(', ')',
  '.', '$', '|', '+', '{', '}', '/', "'", '"', '\n', '\r', '\t', ' ', '😀', '𐐨', '𐐀', '\ud7ff', '\ue000', '\u{10ffff}',
  '1', '0'
]
const VALUES: Readonly<Record<string, readonly NonNullable<Scalar>[]>> = {
  count: [0, 1, -1, 2, 9, 10, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1)],
  ratio: [0, 0.1, 0.1 + 0.2, 0.3, -0.5, 5e-324, 1e21, -1.7976931348623157e308],
  done: [true, false],
  owner: [
    '00000000-0000-0000-0000-000000000000', '0190a6f0-7c3a-7000-8000-00000000000f',
    'ab000000-0000-1000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  ],
  day: ['2024-02-29', '2024-03-01', '0001-01-01', '9999-12-31'],
  tenant: ['a', 'b', 'B']
}
const NAMES = Object.keys(schema.properties)
const TEXTS = ['title', 'note']

/** Makes random numbers that a seed repeats (mulberry32). */
function makeRandom (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const random = makeRandom(SEED)
const below = (end: number): number => Math.floor(random() * end)
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T
const chance = (probability: number): boolean => random() < probability
const several = <T>(most: number, make: () => T): T[] => Array.from({ length: below(most + 1) }, make)
const makeText = (most: number): string => several(most, () => pick(PARTS)).join('')

/** Texts of rows, and parts of them with other letters, so that most conditions select some rows. */
const texts = Array.from({ length: 60 }, () => makeText(6))

function makeValue (name: string): NonNullable<Scalar> {
  return TEXTS.includes(name) ? (chance(0.7) ? pick(texts) : makeText(3)) : pick(VALUES[name] ?? [])
}

function makePart (): string {
  if (chance(0.3)) return makeText(2)
  const characters = Array.from(pick(texts))
  const start = below(characters.length)
  const part = characters.slice(start, start + 1 + below(3)).join('')
  return chance(0.5) ? part : chance(0.5) ? part.toUpperCase() : part.toLowerCase()
}

function makeAttributes (): Attributes {
  const given = NAMES.map((name) => [name, makeValue(name)] as const)
  const nulls = ['note', 'count', 'owner'].filter(() => chance(0.2)).map((name) => [name, null] as const)
  return Object.fromEntries([...given.filter(([name]) => name === 'title' || chance(0.8)), ...nulls])
}

function makeCondition (): Condition {
  const name = pick(NAMES)
  const operators: Operator[] = [
    'eq', 'not', 'gt', 'gte', 'lt', 'lte', 'in', 'null',
    ...(TEXTS.includes(name) ? ['contains', 'starts', 'contains', 'starts'] as const : [])
  ]
  const operator = pick(operators)
  switch (operator) {
    case 'null': return { attribute: name, operator, value: chance(0.5) }
    case 'in': return {
      attribute: name,
      operator,
      value: [makeValue(name), ...several(5, () =>
        makeValue(chance(0.9) ? name : pick(NAMES)))]
    }
    case 'contains':
    case 'starts': return { attribute: name, operator, value: makePart() }
    // A value of another type, at times. Texts are compared with texts of any kind, so such values are no texts.
    case 'eq':
    case 'not': return { attribute: name, operator, value: chance(0.9) ? makeValue(name) : makeValue(pick(NAMES)) }
    default: return { attribute: name, operator, value: makeValue(name) }
  }
}

function makeSearch (): Search | undefined {
  if (chance(0.6)) return undefined
  const words = [makePart(), ...several(1, makePart)].filter((word) => word !== '')
  return words.length === 0 ? undefined : { words, attributes: chance(0.5) ? TEXTS : [pick(TEXTS)] }
}

function makeOrder (): Order {
  const names = [...new Set(several(2, () => pick(NAMES)))]
  return [...names, 'id'].map((by) => ({ by, descending: chance(0.5) }))
}

function makeQuery (rows: readonly Row[]): Query {
  const order = makeOrder()
  return {
    order,
    after: chance(0.3) ? positionOf(pick(rows), order) : undefined,
    limit: chance(0.3) ? 1 + below(10) : undefined,
    scope: chance(0.3) ? { tenant: chance(0.9) ? pick(VALUES.tenant as readonly string[]) : null } : {},
    filter: several(3, makeCondition),
    search: makeSearch()
  }
}

t.test(`random queries have the same rows and counts in each store (SEED=${SEED})`, async (t) => {
  const engines = await openEngines()
  const stores: Array<readonly [string, Store]> = [['memory', memoryStore()]]
  for (const engine of engines) {
    stores.push([engine.name, engine.store({ table: 'notes', attributes: schema, migrate: true })])
  }
  for (const [, store] of stores) await store.prepare?.()
  const rows: Row[] = []
  for (let index = 0; index < 120; index++) {
    const attributes = makeAttributes()
    for (const [, store] of stores) rows[index] = await store.create(attributes, {}, context)
  }
  let found = 0
  for (let index = 0; index < QUERIES; index++) {
    const query = makeQuery(rows)
    const { limit, ...whole } = query
    const most = chance(0.3) ? 1 + below(40) : undefined
    const countQuery: CountQuery = { ...whole, most, estimate: false }
    const answers = []
    for (const [, store] of stores) {
      const ids = (await readAll(store.list(query, context))).map(({ id }) => id)
      answers.push({ ids, count: await (store as Required<Store>).count(countQuery, context) })
    }
    const [expected, ...others] = answers
    found += Math.min(expected?.ids.length ?? 0, 1)
    const inOrder = (expected?.ids ?? []).map((id) => positionOf(rows[Number(id) - 1] as Row, query.order))
    const isOrdered = inOrder.every((position, at) =>
      at === 0 || comparePositions(query.order, inOrder[at - 1] ?? [], position) < 0)
    for (const [at, answer] of others.entries()) {
      if (JSON.stringify(answer) !== JSON.stringify(expected)) {
        t.strictSame(answer, expected, `${stores[at + 1]?.[0]}: query ${index}, ${JSON.stringify({ ...query, most })}`)
      }
    }
    if (!isOrdered) t.fail(`query ${index} has another order: ${JSON.stringify(query)}`)
    if (most === undefined && limit === undefined && expected?.ids.length !== expected?.count.rows) {
      t.fail(`query ${index} has another count: ${JSON.stringify(query)}`)
    }
  }
  t.ok(found > QUERIES / 4, `${found} of ${QUERIES} queries found rows`)
})
