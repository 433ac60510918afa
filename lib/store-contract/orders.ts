import type { Attributes, Criterion, Id, Order, Stored } from '../stores/store.js'
import { idsOf, same, valueOf } from './assertions.js'
import { hasBoundedBatches, inOrder, seedLargeAfterSmall } from './lists.js'
import type { Checks } from './scenario.js'
import { type Subject, times } from './subject.js'
import { UUIDS } from './values.js'

const LETTERS = ['', ' ', ' a', '!', '-', '0', '01', '1', '10', '2', '9', 'A', 'AB', 'Ab', 'B', 'Z', '_', 'a', 'a ', 'a b', 'aB', 'a_b', 'ab', 'a\u0301', 'b', 'co-op', 'coop', 'ss', 'z', '~', 'ß', 'á', 'Ä', 'ä', 'ö', 'ı', 'ł', 'я', '中', '\ud7ff', '\ue000', 'ﬀ', '\ufffd', '😀', '😀a', '𝒳', '\u{10fffd}']
const INTEGERS = [null, 0, 1, -1, 2, 9, 10, 11, 100, -9, -10, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53 - 1), -(2 ** 53 - 2)]
const NUMBERS = [0, 0.5, -0.5, 0.1, 0.1 + 0.2, 0.3, 2, 9, 10, 1e-7, 5e-324, -5e-324, 1e21, 1e20, -1e21, 1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53, 2 ** 53 + 2]
const TIMES = [null, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00+02:00', '2024-01-01T00:00:00.5Z', '2023-12-31T23:59:59-08:00', '0999-01-01T00:00:00Z']

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
const PAIRS = [['shelf', 'title'], ['title', 'shelf'], ['ratio', 'done'], ['done', 'at'], ['a.b', 'toString'], ['toString', 'ratio']] as const

export const orderChecks: Checks = {
  'texts are put in order by their code points': (subject) => sorts(subject, 'title', LETTERS),
  'integers are put in order by size, null before all': (subject) => sorts(subject, 'count', INTEGERS),
  'numbers are put in order by size': (subject) => sorts(subject, 'ratio', NUMBERS),
  'false comes before true': (subject) => sorts(subject, 'done', [true, false]),
  'times are put in order as the texts that they are': (subject) => sorts(subject, 'at', TIMES),
  'UUIDs are put in order as the texts that they are': (subject) => sorts(subject, 'owner', [null, ...UUIDS]),
  'any name can be one to put rows in order by': async (subject) => {
    for (const name of ['order', 'select', 'first-name', 'naïve', 'a.b', 'toString', 'constructor']) await sorts(subject, name, ['b', 'a', 'c'])
  },

  'rows can be put in order by id from the last to the first': async (subject) => {
    const rows = await subject.seed(30)
    const order = [{ by: 'id', descending: true }]
    const ids = idsOf(inOrder(rows, order))
    same(idsOf(await subject.rows({ order })), ids, 'the ids of the list')
    same(idsOf(await subject.rows({ order, after: [ids[10] as Id], limit: 5 })), ids.slice(11, 16), 'the ids after a row')
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
    for (const order of [...ordersBy(['shelf']), ...ordersBy(['title']), [{ by: 'id', descending: true }]]) await hasBoundedBatches(subject, order)
  },

  'in every order a scope and a limit apply': async (subject) => {
    const rows = await seedTied(subject)
    const scope = { tenant: 'a' }
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a')
    for (const order of ordersBy(['shelf', 'title'])) {
      same(idsOf(await subject.rows({ order, scope, limit: 7 })), idsOf(inOrder(mine, order)).slice(0, 7), `seven ids of the list by ${show(order)}`)
    }
  }
}

/** Rows that have many values in common, some of them none. */
export function seedTied (subject: Subject, count = 60): Promise<Stored[]> {
  return subject.seed(count, (index) => tied(index))
}

export function tied (index: number): Attributes {
  const given = Object.entries(TIED).map(([name, values], position) => [name, values[Math.floor(index / (position + 1)) % values.length]])
  return Object.fromEntries([['tenant', index % 3 === 0 ? 'a' : 'b'], ...given].filter(([, value]) => value !== undefined))
}

/** All orders by the attributes and the id, each ascending and descending. */
export function ordersBy (names: readonly string[]): Order[] {
  const criteria = [...names, 'id']
  return times(2 ** criteria.length, (bits) => criteria.map((by, index): Criterion => ({ by, descending: (bits >> index) % 2 === 1 })))
}

async function follows (subject: Subject, rows: readonly Stored[], order: Order): Promise<void> {
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
    same(listed.map((row) => valueOf(row, name)), expected.map((row) => valueOf(row, name)), `the values of the list by ${show(order)}`)
    same(idsOf(listed), idsOf(expected), `the ids of the list by ${show(order)}`)
  }
}

export function show (order: Order): string {
  return order.map(({ by, descending }) => `${by} ${descending ? 'descending' : 'ascending'}`).join(', ')
}
