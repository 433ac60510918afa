import type { Row, Scope } from '../../core/resource/row.js'
import type { Attributes, Scalar } from '../../core/schema/types.js'
import { positionOf } from '../../core/stores/order.js'
import type { Condition, Filter } from '../../core/stores/store.js'
import { valueOf } from '../assertions.js'
import { ODD_NAMES } from '../options.js'
import { type Checks, holds, type Subject } from '../subject.js'
import { inOrder, lists, matchesNot } from './lists.js'
import { ordersBy, seedTied } from './orders.js'
import { NO_UUIDS, TEXTS, UUIDS } from './values.js'

const SCALARS: Readonly<Record<string, readonly Scalar[]>> = {
  title: TEXTS,
  code: ['a', 'A', 'a ', 'á', 'a\u0301', '%', '_', ''],
  count: [0, 1, -1, 10, 2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53 - 1)],
  ratio: [0, 0.1, 0.1 + 0.2, 0.3, 1, 5e-324, 1.7976931348623157e308],
  done: [true, false],
  at: ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.0Z', '2024-01-01T01:00:00+01:00'],
  owner: UUIDS
}

/** Attributes, each with a filter or scope that does not match, because its value has another type. */
export const MISTYPED: ReadonlyArray<readonly [Attributes, Scope]> = [
  [{ count: 1 }, { count: '1' }], [{ count: 1 }, { count: true }], [{ count: 0 }, { count: '' }],
  [{ count: 0 }, { count: false }], [{ count: 0 }, { count: null }], [{ count: null }, { count: 'null' }],
  [{ count: null }, { count: 0 }], [{ title: '1' }, { title: 1 }], [{ title: 'true' }, { title: true }],
  [{ title: '' }, { title: 0 }], [{ title: '' }, { title: null }], [{ title: 'null' }, { title: null }],
  [{ ratio: 0.5 }, { ratio: '0.5' }], [{ done: true }, { done: 1 }], [{ done: true }, { done: 'true' }],
  [{ done: false }, { done: 0 }], [{ done: false }, { done: null }]
]

export const filterChecks: Checks = {
  'a filter selects the rows that have its value': async (subject) => {
    for (const [name, values] of Object.entries(SCALARS)) {
      await subject.seed(values.length, (index) => ({ [name]: values[index] }))
      const rows = await subject.rows()
      for (const value of values) await finds(subject, rows, { [name]: value })
    }
  },

  'a filter with an id selects its row, if the others match': async (subject) => {
    const rows = await seedTied(subject, 6)
    for (const row of rows) {
      await holds(subject, [row], { filter: equalTo({ id: row.id }) })
      const isFirst = valueOf(row, 'shelf') === 1
      await holds(subject, isFirst ? [row] : [], { filter: equalTo({ id: row.id, shelf: 1 }) })
    }
    for (const id of subject.unknownIds()) await lists(subject, { filter: equalTo({ id }) }, [])
  },

  'a filter may use an attribute of any name': async (subject) => {
    const given = ODD_NAMES.flatMap((name) => [{ [name]: 'a' }, { [name]: 'b' }])
    const rows = await subject.seed(given.length + 1, (index) => given[index] ?? {})
    for (const name of ODD_NAMES) {
      for (const value of ['a', 'b', 'c']) await finds(subject, rows, { [name]: value })
    }
  },

  'a filter of several attributes selects the rows that match all of them': async (subject) => {
    const rows = await seedTied(subject)
    const filters = [
      { shelf: 1, title: 'a' }, { shelf: 10, title: '', done: true }, { done: false, ratio: 0.5 },
      { shelf: 1, title: 'none' }
    ]
    for (const filter of filters) await finds(subject, rows, filter)
  },

  'a filter narrows a scope, and never widens it': async (subject) => {
    const rows = await seedTied(subject)
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a')
    const expected = mine.filter((row) => valueOf(row, 'shelf') === 1)
    await holds(subject, expected, { scope: { tenant: 'a' }, filter: equalTo({ shelf: 1 }) })
    await lists(subject, { scope: { tenant: 'a' }, filter: equalTo({ tenant: 'b' }) }, [])
  },

  'a filter with a text that is not a UUID in lower case selects no rows': async (subject) => {
    await subject.seed(UUIDS.length, (index) => ({ owner: UUIDS[index] }))
    for (const owner of NO_UUIDS) await lists(subject, { filter: equalTo({ owner }) }, [])
  },

  'limit and position count only the rows that the filter selects': async (subject) => {
    const rows = inOrder(await seedTied(subject))
    const filter = equalTo({ title: 'a' })
    const expected = rows.filter((row) => valueOf(row, 'title') === 'a')
    await lists(subject, { filter, limit: 4 }, expected.slice(0, 4))
    for (const [index, { id }] of expected.entries()) {
      await lists(subject, { filter, limit: 2, after: [id] }, expected.slice(index + 1, index + 3))
    }
  },

  'a filter does not match a value of another type': async (subject) => {
    for (const [attributes, filter] of MISTYPED) {
      if (Object.values(filter).includes(null)) continue
      const { id } = await subject.create(attributes)
      await matchesNot(subject, id, { filter: equalTo(filter) })
    }
  }
}

export const orderedFilterChecks: Checks = {
  'in every order, a filter, a scope, a position and a limit work together': async (subject) => {
    const rows = await seedTied(subject, 90)
    const [scope, filter] = [{ tenant: 'a' }, equalTo({ done: true })]
    const chosen = rows.filter((row) => valueOf(row, 'tenant') === 'a' && valueOf(row, 'done') === true)
    for (const order of ordersBy(['shelf', 'title'])) {
      const expected = inOrder(chosen, order)
      const query = { order, scope, filter }
      await lists(subject, query, expected)
      for (const [index, row] of expected.entries()) {
        const following = expected.slice(index + 1, index + 4)
        await lists(subject, { ...query, limit: 3, after: positionOf(row, order) }, following)
      }
    }
  },

  'rows can be ordered by the attribute that a filter names': async (subject) => {
    const rows = await seedTied(subject)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const shelf of [2, 1]) {
        const expected = inOrder(rows.filter((row) => valueOf(row, 'shelf') === shelf), order)
        await lists(subject, { order, filter: equalTo({ shelf }) }, expected)
      }
    }
  }
}

/** Returns the conditions that the attributes have these values. */
export function equalTo (values: Scope): Filter {
  return Object.entries(values).map(([attribute, value]): Condition =>
    value === null ? { attribute, operator: 'null', value: true } : { attribute, operator: 'eq', value })
}

async function finds (subject: Subject, rows: readonly Row[], values: Scope): Promise<void> {
  const expected = rows.filter((row) => Object.entries(values).every(([name, value]) => valueOf(row, name) === value))
  await holds(subject, expected, { filter: equalTo(values) })
}
