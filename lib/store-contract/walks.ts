import assert from 'node:assert/strict'
import { BY_ID, comparePositions, positionOf } from '../stores/order.js'
import type { Id, Order, Position, Query, Stored } from '../stores/store.js'
import { idsOf, rowOf, same } from './assertions.js'
import { inOrder } from './lists.js'
import { ordersBy, seedTied, show, tied } from './orders.js'
import type { Checks } from './scenario.js'
import type { Subject } from './subject.js'

const SIZES = [1, 2, 3, 7]
/** Values for `shelf` and `title`, and which of the rows the id is from. */
const PLACES: ReadonlyArray<readonly [number | null, string, number]> = [[null, '', 0], [null, 'Z', 39], [null, 'b', 20], [-1, 'a', 5], [1, '', 0], [1, 'A', 20], [1, 'a', 39], [1, 'b', 13], [5, 'm', 20], [10, 'zzz', 39], [11, '', 0]]

export const walkChecks: Checks = {
  'page by page each row is seen once': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const size of SIZES) await walks(subject, rows, BY_ID, size)
  },

  'page by page each row of a scope is seen once': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const size of SIZES) await walks(subject, rows, BY_ID, size, { scope: { tenant: 'a' } })
  },

  'a row that stays is seen once, page by page, whatever is written in between': (subject) => walksAmidWrites(subject, [BY_ID])
}

export const orderedWalkChecks: Checks = {
  'page by page each row is seen once in every order': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of [...ordersBy(['shelf', 'title']), ...ordersBy(['ratio', 'done'])]) {
      for (const size of SIZES) await walks(subject, rows, order, size)
    }
    for (const order of [...ordersBy(['at', 'a.b', 'toString']), ...ordersBy(['title'])]) await walks(subject, rows, order, 3)
  },

  'a place is one also where no row ever stood': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const after of PLACES.map(([shelf, title, index]): Position => [shelf, title, (rows[index] as Stored).id])) {
        const following = rows.filter((row) => comparePositions(order, positionOf(row, order), after) > 0)
        same(idsOf(await subject.rows({ order, after })), idsOf(inOrder(following, order)), `the ids after ${JSON.stringify(after)}, by ${show(order)}`)
      }
    }
  },

  'page by page each row of a scope is seen once in every order': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const order of ordersBy(['shelf', 'title'])) await walks(subject, rows, order, 3, { scope: { tenant: 'a' } })
  },

  'a row that stays is seen once in every order, page by page, whatever is written in between': (subject) => walksAmidWrites(subject, [...ordersBy(['shelf', 'title']), ...ordersBy(['done'])])
}

async function walks (subject: Subject, rows: readonly Stored[], order: Order, size: number, parts: Partial<Query> = {}): Promise<void> {
  const seen: Stored[] = []
  for await (const page of pages(subject, order, size, parts)) seen.push(...page)
  same(idsOf(seen), idsOf(inOrder(rows, order)), `the ids, ${size} by ${size}, by ${show(order)}`)
}

/** Reads on from the last row of a page until there are no more. */
async function * pages (subject: Subject, order: Order, size: number, parts: Partial<Query> = {}): AsyncGenerator<readonly Stored[]> {
  const seen = new Set<Id>()
  let after: Position | undefined
  for (;;) {
    const page = await subject.rows({ ...parts, order, limit: size, after })
    const last = page.at(-1)
    if (last === undefined) return
    assert.ok(page.length <= size, `a page of ${size} had ${page.length} rows`)
    // Else a store that stays where it is would be asked without end.
    for (const { id } of page) assert.ok(seen.size < seen.add(id).size, `the row ${id} was seen twice, ${size} by ${size}, by ${show(order)}`)
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
    const seen: Stored[] = []
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
