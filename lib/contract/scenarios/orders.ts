import type { Row } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import type { OrderBy, Order } from '../../core/stores/store.js'
import { existing, same, valueOf } from '../assertions.js'
import { ODD_NAMES } from '../options.js'
import { type Checks, type Subject, times } from '../subject.js'
import { hasBoundedBatches, inOrder, lists, seedLargeAfterSmall } from './lists.js'
import { INTEGERS, NUMBERS, TIMES, UUIDS } from './values.js'

const LETTERS = [
  '', ' ', ' a', '!', '-', '0', '01', '1', '10', '2', '9', 'A', 'AB', 'Ab', 'B', 'Z', '_', 'a', 'a ', 'a b', 'aB',
  'a_b', 'ab', 'a\u0301', 'b', 'co-op', 'coop', 'ss', 'z', '~', 'ß', 'á', 'Ä', 'ä', 'ö', 'ı', 'ł', 'я', '中',
  '\ud7ff', '\ue000', 'ﬀ', '\ufffd', '😀', '😀a', '𝒳', '\u{10fffd}'
]

/** Some values of each attribute, so few that many rows share them. */
const TIED: Readonly<Record<string, readonly unknown[]>> = {
  shelf: [null, undefined, 1, 2, 10],
  title: ['b', 'a', 'B', ''],
  ratio: [undefined, 0.5, -1, 10, 9],
  done: [true, undefined, false],
  at: [null, ...TIMES.slice(0, 5)],
  'a.b': [undefined, 'x', 'y'],
  toString: ['x', undefined]
}
const PAIRS = [
  ['shelf', 'title'], ['title', 'shelf'], ['ratio', 'done'], ['done', 'at'], ['a.b', 'toString'],
  ['toString', 'ratio']
] as const

export const orderChecks: Checks = {
  'texts are ordered by their code points': (subject) => sorts(subject, 'title', LETTERS),
  'integers are ordered by size, with null first': (subject) => sorts(subject, 'count', [null, ...INTEGERS]),
  'numbers are ordered by size': (subject) => sorts(subject, 'ratio', NUMBERS),
  'false comes before true': (subject) => sorts(subject, 'done', [true, false]),
  'times are ordered as texts': (subject) => sorts(subject, 'at', [null, ...TIMES]),
  'UUIDs are ordered as texts': (subject) => sorts(subject, 'owner', [null, ...UUIDS]),
  'rows can be ordered by an attribute of any name': async (subject) => {
    for (const name of ODD_NAMES) await sorts(subject, name, ['b', 'a', 'c'])
  },

  'rows can be ordered by descending id': async (subject) => {
    const rows = await subject.seed(30)
    const order = [{ by: 'id', descending: true }]
    const expected = inOrder(rows, order)
    await lists(subject, { order }, expected)
    await lists(subject, { order, after: [existing(expected[10]).id], limit: 5 }, expected.slice(11, 16))
  },

  'rows with the same first attribute are ordered by the second one, and then by id': async (subject) => {
    const rows = await seedTied(subject)
    for (const pair of PAIRS) for (const order of ordersBy(pair)) await lists(subject, { order }, inOrder(rows, order))
  },

  'rows can be ordered by three attributes': async (subject) => {
    const rows = await seedTied(subject)
    for (const order of ordersBy(['done', 'shelf', 'title'])) await lists(subject, { order }, inOrder(rows, order))
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
      await lists(subject, { order, scope, limit: 7 }, inOrder(mine, order).slice(0, 7))
    }
  }
}

/** Creates rows that share many values. Some values are absent. */
export function seedTied (subject: Subject, count = 60): Promise<Row[]> {
  return subject.seed(count, (index) => tied(index))
}

export function tied (index: number): Attributes {
  const given = Object.entries(TIED).map(([name, values], position) =>
    [name, values[Math.floor(index / (position + 1)) % values.length]] as const)
  const tenant = index % 3 === 0 ? 'a' : 'b'
  return Object.fromEntries([['tenant', tenant] as const, ...given].filter(([, value]) => value !== undefined))
}

/** Returns all orders by the attributes and the id, each ascending and descending. */
export function ordersBy (names: readonly string[]): Order[] {
  const criteria = [...names, 'id']
  return times(2 ** criteria.length, (bits) =>
    criteria.map((by, index): OrderBy => ({ by, descending: (bits >> index) % 2 === 1 })))
}

/** Checks the order of rows with the values, and of some rows without a value, ascending and descending. */
async function sorts (subject: Subject, name: string, values: readonly unknown[]): Promise<void> {
  const shuffled = values.map((_, index) => values[index * 7 % values.length])
  const some = [...new Set([...shuffled, ...values])]
  await subject.seed(some.length, (index) => ({ [name]: some[index] }))
  const rows = [...await subject.rows(), await subject.create(), await subject.create()]
  for (const order of ordersBy([name])) {
    const expected = inOrder(rows, order)
    const valuesOf = (rows: readonly Row[]): unknown[] => rows.map((row) => valueOf(row, name))
    same(valuesOf(await subject.rows({ order })), valuesOf(expected), `the values for ${JSON.stringify(order)}`)
    await lists(subject, { order }, expected)
  }
}
