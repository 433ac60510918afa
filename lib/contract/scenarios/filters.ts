import type { Row, Scope } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { positionOf } from '../../core/stores/order.js'
import type { Condition, Filter } from '../../core/stores/store.js'
import { valueOf } from '../assertions.js'
import { type Checks, holds } from '../subject.js'
import { countsSelected, inOrder, lists } from './lists.js'
import { ordersBy, seedTied } from './orders.js'
import { NO_UUIDS, UUIDS } from './values.js'

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
  'a filter with an id selects its row, if the others match': async (subject) => {
    const rows = await seedTied(subject, 6)
    for (const row of rows) {
      await holds(subject, [row], { filter: equalTo({ id: row.id }) })
      const isFirst = valueOf(row, 'shelf') === 1
      await holds(subject, isFirst ? [row] : [], { filter: equalTo({ id: row.id, shelf: 1 }) })
    }
    for (const id of subject.unknownIds()) await lists(subject, { filter: equalTo({ id }) }, [])
  },

  'a filter of several attributes selects the rows that match all of them': async (subject) => {
    const rows = await seedTied(subject)
    const filters = [
      { shelf: 1, title: 'a' }, { shelf: 10, title: '', done: true }, { done: false, ratio: 0.5 },
      { shelf: 1, title: 'none' }
    ]
    for (const filter of filters) {
      const isMet = ([name, value]: [string, unknown], row: Row): boolean => valueOf(row, name) === value
      const expected = rows.filter((row) => Object.entries(filter).every((one) => isMet(one, row)))
      await holds(subject, expected, { filter: equalTo(filter) })
    }
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
    const rows = await seedTied(subject)
    await countsSelected(subject, rows, { filter: equalTo({ title: 'a' }) }, (row) => valueOf(row, 'title') === 'a')
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
