import type { Id, Row } from '../../../core/resource/row.js'
import { positionOf } from '../../../core/stores/order.js'
import type { Condition, Order, Query } from '../../../core/stores/store.js'
import { existing, idsOf, rowOf, same, valueOf } from '../../assertions.js'
import type { Checks, Subject } from '../../subject.js'
import { inOrder, lists } from '../lists.js'
import { ordersBy, seedTied, tied } from '../orders.js'

export const backwardChecks: Checks = {
  'in the reversed order, a list after a position has the rows before it': async (subject) => {
    const rows = await seedTied(subject, 30)
    for (const order of ordersBy(['shelf', 'title'])) {
      const expected = inOrder(rows, order)
      for (const [index, row] of expected.entries()) {
        const before = expected.slice(Math.max(0, index - 3), index).reverse()
        await lists(subject, { order: reverse(order), after: positionOf(row, order), limit: 3 }, before)
      }
    }
  },

  'a row that stays is on a page of the way back, whatever is written in between': async (subject) => {
    await seedTied(subject, 30)
    for (const order of ordersBy(['shelf'])) await walksBack(subject, order)
  }
}

export const queryChecks: Checks = {
  'a filter, a search, a scope, an order, a position and a limit work together': async (subject) => {
    const texts = ['Green tea', 'green', 'green', 'green']
    const rows = await subject.seed(90, (index) => ({ ...tied(index), select: texts[index % 4], email: `${index}` }))
    const filter: readonly Condition[] = [
      { attribute: 'shelf', operator: 'gte', value: 2 }, { attribute: 'done', operator: 'not', value: true }
    ]
    const search = { words: ['GREEN', '1'], attributes: ['select', 'email'] }
    const chosen = rows.filter((row) => isChosen(row))
    for (const order of ordersBy(['shelf', 'title'])) {
      const query: Partial<Query> = { order, scope: { tenant: 'a' }, filter, search }
      const expected = inOrder(chosen, order)
      await lists(subject, query, expected)
      for (const [index, row] of expected.entries()) {
        const following = expected.slice(index + 1, index + 3)
        await lists(subject, { ...query, limit: 2, after: positionOf(row, order) }, following)
      }
    }
  }
}

function isChosen (row: Row): boolean {
  return valueOf(row, 'tenant') === 'a' && Number(valueOf(row, 'shelf')) >= 2 && valueOf(row, 'done') !== true &&
    String(valueOf(row, 'email')).includes('1')
}

function reverse (order: Order): Order {
  return order.map(({ by, descending }) => ({ by, descending: !descending }))
}

/**
 * Reads forward to a row, and back from it page by page. Between two pages, it deletes the row at the position and
 * creates another one.
 */
async function walksBack (subject: Subject, order: Order): Promise<void> {
  const rows = inOrder(await subject.rows(), order)
  const start = existing(rows[20])
  const staying = new Set(idsOf(rows.slice(0, 20).filter((_, index) => index % 3 !== 1)))
  const seen: Id[] = []
  let after = positionOf(start, order)
  for (;;) {
    const page = await subject.rows({ order: reverse(order), after, limit: 3 })
    const last = page.at(-1)
    if (last === undefined) break
    for (const { id } of page) if (rows.some((row) => row.id === id)) seen.push(id)
    after = positionOf(last, order)
    if (!staying.has(last.id)) rowOf(await subject.delete(last.id))
    if (seen.length < 20) await subject.create(tied(seen.length))
  }
  const way = idsOf(rows.slice(0, 20)).reverse()
  same(seen, way.filter((id) => seen.includes(id)), `the ids on the way back in the order ${JSON.stringify(order)}`)
  for (const id of seen) staying.delete(id)
  same([...staying], [], 'rows before the position that existed all the time but were on no page')
}
