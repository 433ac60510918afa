import assert from 'node:assert/strict'
import type { Id, Row } from '../../resource/row.js'
import type { Attributes, Scalar } from '../../schema/types.js'
import { BY_ID, comparePositions, positionOf } from '../order.js'
import type { OrderBy, Filter, Order, Position, Query } from '../store.js'
import { idsOf, rowOf, same, settle, valueOf } from './assertions.js'
import { hasBoundedBatches, inOrder, seedLargeAfterSmall } from './lists.js'
import { ODD_NAMES } from './options.js'
import { NO_UUIDS, TEXTS, UUIDS } from './rows.js'
import { type Checks, holds, type Subject, times } from './subject.js'

const SCALARS: Readonly<Record<string, readonly Scalar[]>> = {
  title: TEXTS,
  code: ['a', 'A', 'a ', 'á', 'a\u0301', '%', '_', ''],
  count: [0, 1, -1, 10, 2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53 - 1)],
  ratio: [0, 0.1, 0.1 + 0.2, 0.3, 1, 5e-324, 1.7976931348623157e308],
  done: [true, false],
  at: ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.0Z', '2024-01-01T01:00:00+01:00'],
  owner: UUIDS
}

const MISTYPED: ReadonlyArray<readonly [Attributes, Filter]> = [
  [{ count: 1 }, { count: '1' }],
  [{ count: 1 }, { count: true }],
  [{ count: 0 }, { count: '' }],
  [{ count: 0 }, { count: false }],
  [{ count: 0 }, { count: null }],
  [{ count: null }, { count: 'null' }],
  [{ count: null }, { count: 0 }],
  [{ title: '1' }, { title: 1 }],
  [{ title: 'true' }, { title: true }],
  [{ title: '' }, { title: 0 }],
  [{ title: '' }, { title: null }],
  [{ title: 'null' }, { title: null }],
  [{ ratio: 0.5 }, { ratio: '0.5' }],
  [{ done: true }, { done: 1 }],
  [{ done: true }, { done: 'true' }],
  [{ done: false }, { done: 0 }],
  [{ done: false }, { done: null }]
]

export const filterChecks: Checks = {
  'a filter leaves the rows that have its value': async (subject) => {
    for (const [name, values] of Object.entries(SCALARS)) {
      await subject.seed(values.length, (index) => ({ [name]: values[index] }))
      const rows = await subject.rows()
      for (const value of values) await finds(subject, rows, { [name]: value })
    }
  },

  'a filter with null leaves the rows that have no value': async (subject) => {
    const rows = [
      await subject.create({ shelf: null }),
      await subject.create(),
      await subject.create({ shelf: 0 }),
      await subject.create({ code: '', ratio: 0, done: false, at: null })
    ]
    for (const name of ['shelf', 'code', 'ratio', 'done', 'at']) await finds(subject, rows, { [name]: null })
  },

  'a filter may go by any name': async (subject) => {
    const rows = [await subject.create()]
    for (const name of ODD_NAMES) {
      rows.push(await subject.create({ [name]: 'a' }), await subject.create({ [name]: 'b' }))
    }
    for (const name of ODD_NAMES) {
      for (const value of ['a', 'b', 'c', null]) await finds(subject, rows, { [name]: value })
    }
  },

  'a filter of several attributes wants them all': async (subject) => {
    const rows = await seedTied(subject)
    for (const filter of [
      { shelf: 1, title: 'a' },
      { shelf: null, title: 'b' },
      { shelf: 10, title: '', done: true },
      { done: false, ratio: null },
      { shelf: 1, title: 'none' }
    ]) { await finds(subject, rows, filter) }
  },

  'a filter narrows a scope down, and is none': async (subject) => {
    const rows = await seedTied(subject)
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a')
    const expected = mine.filter((row) => valueOf(row, 'shelf') === 1)
    await holds(subject, expected, 'the rows of scope and filter', { scope: { tenant: 'a' }, filter: { shelf: 1 } })
    same(
      await subject.rows({ scope: { tenant: 'a' }, filter: { tenant: 'b' } }),
      [],
      'the rows of a filter that contradicts its scope'
    )
  },

  'a filter with what is no UUID in lower case leaves no rows': async (subject) => {
    await subject.seed(UUIDS.length, (index) => ({ owner: UUIDS[index] }))
    for (const owner of NO_UUIDS) {
      same(await subject.rows({ filter: { owner } }), [], `the rows of the owner ${JSON.stringify(owner)}`)
    }
  },

  'limit and place count the rows of the filter alone': async (subject) => {
    const rows = inOrder(await seedTied(subject))
    const filter = { title: 'a' }
    const expected = rows.filter((row) => valueOf(row, 'title') === 'a')
    same(idsOf(await subject.rows({ filter, limit: 4 })), idsOf(expected).slice(0, 4), 'four ids of the filter')
    for (const [index, { id }] of expected.entries()) {
      same(
        idsOf(await subject.rows({ filter, limit: 2, after: [id] })),
        idsOf(expected).slice(index + 1, index + 3),
        'two ids of the filter, after a row'
      )
    }
  },

  'a filter does not match a value of another type': async (subject) => {
    for (const [attributes, filter] of MISTYPED) {
      const { id } = await subject.create(attributes)
      const listed = await settle(subject.rows({ filter }))
      // A store that refuses such a filter does not match it either.
      if (listed.answered) {
        assert.ok(
          !idsOf(listed.value).includes(id),
          `${JSON.stringify(attributes)} in the list for ${JSON.stringify(filter)}`
        )
      }
    }
  }
}

export const orderedFilterChecks: Checks = {
  'in every order a filter, a scope, a place and a limit apply together': async (subject) => {
    const rows = await seedTied(subject, 90)
    const [scope, filter] = [{ tenant: 'a' }, { done: true }]
    const chosen = rows.filter((row) => valueOf(row, 'tenant') === 'a' && valueOf(row, 'done') === true)
    for (const order of ordersBy(['shelf', 'title'])) {
      const expected = inOrder(chosen, order)
      same(idsOf(await subject.rows({ order, scope, filter })), idsOf(expected), `the ids by ${show(order)}`)
      for (const [index, row] of expected.entries()) {
        const listed = await subject.rows({ order, scope, filter, limit: 3, after: positionOf(row, order) })
        same(idsOf(listed), idsOf(expected).slice(index + 1, index + 4), `three ids by ${show(order)}`)
      }
    }
  },

  'what a filter names may also be what rows are put in order by': async (subject) => {
    const rows = await seedTied(subject)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const shelf of [null, 1]) {
        const expected = inOrder(rows.filter((row) => valueOf(row, 'shelf') === shelf), order)
        same(idsOf(await subject.rows({ order, filter: { shelf } })), idsOf(expected), `the ids by ${show(order)}`)
      }
    }
  }
}

async function finds (subject: Subject, rows: readonly Row[], filter: Filter): Promise<void> {
  const expected = rows.filter((row) => Object.entries(filter).every(([name, value]) => valueOf(row, name) === value))
  await holds(subject, expected, `the rows of ${JSON.stringify(filter)}`, { filter })
}

const LETTERS = [
  '',
  ' ',
  ' a',
  '!',
  '-',
  '0',
  '01',
  '1',
  '10',
  '2',
  '9',
  'A',
  'AB',
  'Ab',
  'B',
  'Z',
  '_',
  'a',
  'a ',
  'a b',
  'aB',
  'a_b',
  'ab',
  'a\u0301',
  'b',
  'co-op',
  'coop',
  'ss',
  'z',
  '~',
  'ß',
  'á',
  'Ä',
  'ä',
  'ö',
  'ı',
  'ł',
  'я',
  '中',
  '\ud7ff',
  '\ue000',
  'ﬀ',
  '\ufffd',
  '😀',
  '😀a',
  '𝒳',
  '\u{10fffd}'
]
const INTEGERS = [
  null,
  0,
  1,
  -1,
  2,
  9,
  10,
  11,
  100,
  -9,
  -10,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53 - 1,
  2 ** 53 - 2,
  -(2 ** 53 - 1),
  -(2 ** 53 - 2)
]
const NUMBERS = [
  0,
  0.5,
  -0.5,
  0.1,
  0.1 + 0.2,
  0.3,
  2,
  9,
  10,
  1e-7,
  5e-324,
  -5e-324,
  1e21,
  1e20,
  -1e21,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  2 ** 53,
  2 ** 53 + 2
]
const TIMES = [
  null,
  '2024-01-01T00:00:00Z',
  '2024-01-01T00:00:00+02:00',
  '2024-01-01T00:00:00.5Z',
  '2023-12-31T23:59:59-08:00',
  '0999-01-01T00:00:00Z'
]

/** Which ties there are between rows: few values of each attribute, so many rows. */
const TIED: Readonly<Record<string, readonly unknown[]>> = {
  shelf: [null, undefined, 1, 2, 10],
  title: ['b', 'a', 'B', ''],
  ratio: [undefined, 0.5, -1, 10, 9],
  done: [true, undefined, false],
  at: TIMES,
  'a.b': [undefined, 'x', 'y'],
  toString: ['x', undefined]
}
const PAIRS = [
  ['shelf', 'title'],
  ['title', 'shelf'],
  ['ratio', 'done'],
  ['done', 'at'],
  ['a.b', 'toString'],
  ['toString', 'ratio']
] as const

export const orderChecks: Checks = {
  'texts are put in order by their code points': (subject) => sorts(subject, 'title', LETTERS),
  'integers are put in order by size, null before all': (subject) => sorts(subject, 'count', INTEGERS),
  'numbers are put in order by size': (subject) => sorts(subject, 'ratio', NUMBERS),
  'false comes before true': (subject) => sorts(subject, 'done', [true, false]),
  'times are put in order as the texts that they are': (subject) => sorts(subject, 'at', TIMES),
  'UUIDs are put in order as the texts that they are': (subject) => sorts(subject, 'owner', [null, ...UUIDS]),
  'any name can be one to put rows in order by': async (subject) => {
    for (const name of ['order', 'select', 'first-name', 'naïve', 'a.b', 'toString', 'constructor']) {
      await sorts(subject, name, ['b', 'a', 'c'])
    }
  },

  'rows can be put in order by id from the last to the first': async (subject) => {
    const rows = await subject.seed(30)
    const order = [{ by: 'id', descending: true }]
    const ids = idsOf(inOrder(rows, order))
    same(idsOf(await subject.rows({ order })), ids, 'the ids of the list')
    same(
      idsOf(await subject.rows({ order, after: [ids[10] as Id], limit: 5 })),
      ids.slice(11, 16),
      'the ids after a row'
    )
  },

  'what the first attribute leaves open the second decides, and then the id': async (subject) => {
    const rows = await seedTied(subject)
    for (const pair of PAIRS) for (const order of ordersBy(pair)) await follows(subject, rows, order)
  },

  'rows can be put in order by three attributes': async (subject) => {
    const rows = await seedTied(subject)
    for (const order of ordersBy(['done', 'shelf', 'title'])) await follows(subject, rows, order)
  },

  'in every order a batch holds no more than 4 MiB beyond its largest row': async (subject) => {
    await seedLargeAfterSmall(subject)
    for (const order of [...ordersBy(['shelf']), ...ordersBy(['title']), [{ by: 'id', descending: true }]]) {
      await hasBoundedBatches(subject, order)
    }
  },

  'in every order a scope and a limit apply': async (subject) => {
    const rows = await seedTied(subject)
    const scope = { tenant: 'a' }
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a')
    for (const order of ordersBy(['shelf', 'title'])) {
      same(
        idsOf(await subject.rows({ order, scope, limit: 7 })),
        idsOf(inOrder(mine, order)).slice(0, 7),
        `seven ids of the list by ${show(order)}`
      )
    }
  }
}

/** Rows that have many values in common, some of them none. */
export function seedTied (subject: Subject, count = 60): Promise<Row[]> {
  return subject.seed(count, (index) => tied(index))
}

export function tied (index: number): Attributes {
  const given = Object.entries(TIED).map(([name, values], position) => [
    name,
    values[Math.floor(index / (position + 1)) % values.length]
  ])
  return Object.fromEntries(
    [['tenant', index % 3 === 0 ? 'a' : 'b'], ...given].filter(([, value]) => value !== undefined)
  )
}

/** All orders by the attributes and the id, each ascending and descending. */
export function ordersBy (names: readonly string[]): Order[] {
  const criteria = [...names, 'id']
  return times(2 ** criteria.length, (bits) =>
    criteria.map((by, index): OrderBy => ({ by, descending: (bits >> index) % 2 === 1 }))
  )
}

async function follows (subject: Subject, rows: readonly Row[], order: Order): Promise<void> {
  same(idsOf(await subject.rows({ order })), idsOf(inOrder(rows, order)), `the ids of the list by ${show(order)}`)
}

/** Rows with the values, and some without, are in their order either way. */
async function sorts (subject: Subject, name: string, values: readonly unknown[]): Promise<void> {
  const shuffled = values.map((_, index) => values[index * 7 % values.length])
  const some = [...new Set([...shuffled, ...values])]
  await subject.seed(some.length, (index) => ({ [name]: some[index] }))
  const rows = [...await subject.rows(), await subject.create(), await subject.create()]
  for (const order of ordersBy([name])) {
    const expected = inOrder(rows, order)
    const listed = await subject.rows({ order })
    same(
      listed.map((row) => valueOf(row, name)),
      expected.map((row) => valueOf(row, name)),
      `the values of the list by ${show(order)}`
    )
    same(idsOf(listed), idsOf(expected), `the ids of the list by ${show(order)}`)
  }
}

export function show (order: Order): string {
  return order.map(({ by, descending }) => `${by} ${descending ? 'descending' : 'ascending'}`).join(', ')
}

const SIZES = [1, 2, 3, 7]
/** Values for `shelf` and `title`, and which of the rows the id is from. */
const PLACES: ReadonlyArray<readonly [number | null, string, number]> = [
  [null, '', 0],
  [null, 'Z', 39],
  [null, 'b', 20],
  [-1, 'a', 5],
  [1, '', 0],
  [1, 'A', 20],
  [1, 'a', 39],
  [1, 'b', 13],
  [5, 'm', 20],
  [10, 'zzz', 39],
  [11, '', 0]
]

export const walkChecks: Checks = {
  'page by page each row is seen once': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const size of SIZES) await walks(subject, rows, BY_ID, size)
  },

  'page by page each row of a scope is seen once': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const size of SIZES) await walks(subject, rows, BY_ID, size, { scope: { tenant: 'a' } })
  },

  'a row that stays is seen once, page by page, whatever is written in between': (subject) =>
    walksAmidWrites(subject, [BY_ID])
}

export const orderedWalkChecks: Checks = {
  'page by page each row is seen once in every order': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of [...ordersBy(['shelf', 'title']), ...ordersBy(['ratio', 'done'])]) {
      for (const size of SIZES) await walks(subject, rows, order, size)
    }
    for (const order of [...ordersBy(['at', 'a.b', 'toString']), ...ordersBy(['title'])]) {
      await walks(subject, rows, order, 3)
    }
  },

  'a place is one also where no row ever stood': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const after of PLACES.map(([shelf, title, index]): Position => [shelf, title, (rows[index] as Row).id])) {
        const following = rows.filter((row) => comparePositions(order, positionOf(row, order), after) > 0)
        same(
          idsOf(await subject.rows({ order, after })),
          idsOf(inOrder(following, order)),
          `the ids after ${JSON.stringify(after)}, by ${show(order)}`
        )
      }
    }
  },

  'page by page each row of a scope is seen once in every order': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const order of ordersBy(['shelf', 'title'])) await walks(subject, rows, order, 3, { scope: { tenant: 'a' } })
  },

  'a row that stays is seen once in every order, page by page, whatever is written in between': (subject) =>
    walksAmidWrites(subject, [...ordersBy(['shelf', 'title']), ...ordersBy(['done'])])
}

async function walks (
  subject: Subject,
  rows: readonly Row[],
  order: Order,
  size: number,
  parts: Partial<Query> = {}
): Promise<void> {
  const seen: Row[] = []
  for await (const page of pages(subject, order, size, parts)) seen.push(...page)
  same(idsOf(seen), idsOf(inOrder(rows, order)), `the ids, ${size} by ${size}, by ${show(order)}`)
}

/** Reads on from the last row of a page until there are no more. */
async function * pages (
  subject: Subject,
  order: Order,
  size: number,
  parts: Partial<Query> = {}
): AsyncGenerator<readonly Row[]> {
  const seen = new Set<Id>()
  let after: Position | undefined
  for (;;) {
    const page = await subject.rows({ ...parts, order, limit: size, after })
    const last = page.at(-1)
    if (last === undefined) return
    assert.ok(page.length <= size, `a page of ${size} had ${page.length} rows`)
    // Else a store that stays where it is would be asked without end.
    for (const { id } of page) {
      assert.ok(seen.size < seen.add(id).size, `the row ${id} was seen twice, ${size} by ${size}, by ${show(order)}`)
    }
    yield page
    after = positionOf(last, order)
  }
}

/** After each page the row just stood at goes, so does one further on, and one comes. */
async function walksAmidWrites (subject: Subject, orders: readonly Order[]): Promise<void> {
  await seedTied(subject, 30)
  for (const order of orders) {
    const ids = idsOf(inOrder(await subject.rows(), order))
    const staying = new Set(ids.filter((_, index) => index % 3 !== 2))
    const doomed = ids.filter((_, index) => index % 6 === 5)
    const gone = new Set<Id>()
    const seen: Row[] = []
    for await (const page of pages(subject, order, 3)) {
      same(idsOf(page).filter((id) => gone.has(id)), [], `rows that were deleted before, by ${show(order)}`)
      seen.push(...page)
      for (const id of [...idsOf(page.slice(-1)), ...doomed.splice(-1)]) {
        if (!staying.has(id) && !gone.has(id)) gone.add(rowOf(await subject.delete(id)).id)
      }
      if (seen.length < 30) await subject.create(tied(seen.length))
    }
    for (const { id } of seen) staying.delete(id)
    same([...staying], [], `rows that were there all the time, and not seen, by ${show(order)}`)
    same(idsOf(seen), idsOf(inOrder(seen, order)), `the ids in the order by ${show(order)}`)
  }
}
