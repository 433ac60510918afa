import assert from 'node:assert/strict'
import { positionOf } from '../stores/order.js'
import type { Attributes, Filter, Scalar, Stored } from '../stores/store.js'
import { idsOf, same, settle, valueOf } from './assertions.js'
import { inOrder } from './lists.js'
import { ODD_NAMES } from './needs.js'
import { ordersBy, seedTied, show } from './orders.js'
import type { Checks } from './scenario.js'
import { type Subject, holds } from './subject.js'
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

const MISTYPED: ReadonlyArray<readonly [Attributes, Filter]> = [
  [{ count: 1 }, { count: '1' }], [{ count: 1 }, { count: true }], [{ count: 0 }, { count: '' }], [{ count: 0 }, { count: false }], [{ count: 0 }, { count: null }], [{ count: null }, { count: 'null' }], [{ count: null }, { count: 0 }],
  [{ title: '1' }, { title: 1 }], [{ title: 'true' }, { title: true }], [{ title: '' }, { title: 0 }], [{ title: '' }, { title: null }], [{ title: 'null' }, { title: null }], [{ ratio: 0.5 }, { ratio: '0.5' }],
  [{ done: true }, { done: 1 }], [{ done: true }, { done: 'true' }], [{ done: false }, { done: 0 }], [{ done: false }, { done: null }]
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
    const rows = [await subject.create({ shelf: null }), await subject.create(), await subject.create({ shelf: 0 }), await subject.create({ code: '', ratio: 0, done: false, at: null })]
    for (const name of ['shelf', 'code', 'ratio', 'done', 'at']) await finds(subject, rows, { [name]: null })
  },

  'a filter may go by any name': async (subject) => {
    const rows = [await subject.create()]
    for (const name of ODD_NAMES) rows.push(await subject.create({ [name]: 'a' }), await subject.create({ [name]: 'b' }))
    for (const name of ODD_NAMES) for (const value of ['a', 'b', 'c', null]) await finds(subject, rows, { [name]: value })
  },

  'a filter of several attributes wants them all': async (subject) => {
    const rows = await seedTied(subject)
    for (const filter of [{ shelf: 1, title: 'a' }, { shelf: null, title: 'b' }, { shelf: 10, title: '', done: true }, { done: false, ratio: null }, { shelf: 1, title: 'none' }]) await finds(subject, rows, filter)
  },

  'a filter narrows a scope down, and is none': async (subject) => {
    const rows = await seedTied(subject)
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a')
    const expected = mine.filter((row) => valueOf(row, 'shelf') === 1)
    await holds(subject, expected, 'the rows of scope and filter', { scope: { tenant: 'a' }, filter: { shelf: 1 } })
    same(await subject.rows({ scope: { tenant: 'a' }, filter: { tenant: 'b' } }), [], 'the rows of a filter that contradicts its scope')
  },

  'a filter with what is no UUID in lower case leaves no rows': async (subject) => {
    await subject.seed(UUIDS.length, (index) => ({ owner: UUIDS[index] }))
    for (const owner of NO_UUIDS) same(await subject.rows({ filter: { owner } }), [], `the rows of the owner ${JSON.stringify(owner)}`)
  },

  'limit and place count the rows of the filter alone': async (subject) => {
    const rows = inOrder(await seedTied(subject))
    const filter = { title: 'a' }
    const expected = rows.filter((row) => valueOf(row, 'title') === 'a')
    same(idsOf(await subject.rows({ filter, limit: 4 })), idsOf(expected).slice(0, 4), 'four ids of the filter')
    for (const [index, { id }] of expected.entries()) {
      same(idsOf(await subject.rows({ filter, limit: 2, after: [id] })), idsOf(expected).slice(index + 1, index + 3), 'two ids of the filter, after a row')
    }
  },

  'a filter does not match a value of another type': async (subject) => {
    for (const [attributes, filter] of MISTYPED) {
      const { id } = await subject.create(attributes)
      const listed = await settle(subject.rows({ filter }))
      // A store that refuses such a filter does not match it either.
      if (listed.answered) assert.ok(!idsOf(listed.value).includes(id), `${JSON.stringify(attributes)} in the list for ${JSON.stringify(filter)}`)
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

async function finds (subject: Subject, rows: readonly Stored[], filter: Filter): Promise<void> {
  const expected = rows.filter((row) => Object.entries(filter).every(([name, value]) => valueOf(row, name) === value))
  await holds(subject, expected, `the rows of ${JSON.stringify(filter)}`, { filter })
}
