import assert from 'node:assert/strict'
import type { Id, Row } from '../../core/resource/row.js'
import { BY_ID, comparePositions, positionOf, reverse } from '../../core/stores/order.js'
import type { Condition, Order, Position, Query } from '../../core/stores/store.js'
import { existing, idsOf, rowOf, same, valueOf } from '../assertions.js'
import type { Checks, Subject } from '../subject.js'
import { equalTo } from './filters.js'
import { inOrder, lists } from './lists.js'
import { ordersBy, seedTied, tied } from './orders.js'

const SIZES = [1, 3, 7]
const A = { tenant: 'a' }
/** Positions in lists: the values of `shelf` and `title`, and the index of the row that has the id. */
const PLACES: ReadonlyArray<readonly [number | null, string, number]> = [
  [null, '', 0], [null, 'Z', 39], [null, 'b', 20], [-1, 'a', 5], [1, '', 0], [1, 'A', 20], [1, 'a', 39], [1, 'b', 13],
  [5, 'm', 20], [10, 'zzz', 39], [11, '', 0]
]

export const pageChecks: Checks = {
  'each row is on exactly one page': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const size of SIZES) await readsEachOnce(subject, rows, { order: BY_ID, limit: size })
  },

  'each row of a scope is on exactly one page': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const size of SIZES) await readsEachOnce(subject, rows, { order: BY_ID, limit: size, scope: A })
  },

  'a row that stays is on exactly one page, whatever is written in between': (subject) =>
    readsAmidWrites(subject, [BY_ID])
}

export const orderedPageChecks: Checks = {
  'in every order, each row is on exactly one page': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const limit of SIZES) await readsEachOnce(subject, rows, { order, limit })
    }
    for (const names of [['ratio', 'done'], ['at', 'a.b', 'toString'], ['title']]) {
      for (const order of ordersBy(names)) await readsEachOnce(subject, rows, { order, limit: 3 })
    }
  },

  'a page may begin after a position that no row ever had': async (subject) => {
    const rows = await seedTied(subject, 40)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const [shelf, title, index] of PLACES) {
        const after = [shelf, title, existing(rows[index]).id]
        const following = rows.filter((row) => comparePositions(order, positionOf(row, order), after) > 0)
        await lists(subject, { order, after }, inOrder(following, order))
      }
    }
  },

  'in every order, each row of a scope is on exactly one page': async (subject) => {
    const rows = (await seedTied(subject, 40)).filter(({ attributes }) => attributes.tenant === 'a')
    for (const order of ordersBy(['shelf', 'title'])) {
      await readsEachOnce(subject, rows, { order, limit: 3, scope: A })
    }
  },

  'in every order, a row that stays is on exactly one page, whatever is written in between': (subject) =>
    readsAmidWrites(subject, [...ordersBy(['shelf', 'title']), ...ordersBy(['done'])])
}

export const offsetChecks: Checks = {
  'in every order, a list with an offset leaves out that many of its rows': async (subject) => {
    const rows = await seedTied(subject, 40)
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a' && valueOf(row, 'title') === 'a')
    for (const order of [BY_ID, ...ordersBy(['shelf', 'title'])]) {
      for (const offset of [1, 7, 16, 39, 40, 41, 10_000]) {
        await lists(subject, { order, offset, limit: 5 }, inOrder(rows, order).slice(offset, offset + 5))
        await lists(subject, { order, offset }, inOrder(rows, order).slice(offset))
      }
      for (const offset of [1, mine.length - 1, mine.length]) {
        const query = { order, offset, scope: A, filter: equalTo({ title: 'a' }) }
        await lists(subject, { ...query, limit: 2 }, inOrder(mine, order).slice(offset, offset + 2))
      }
    }
  }
}

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

type PageQuery = Pick<Query, 'order'> & Partial<Query> & { readonly limit: number }

async function readsEachOnce (subject: Subject, rows: readonly Row[], query: PageQuery): Promise<void> {
  const seen: Row[] = []
  for await (const page of pages(subject, query)) seen.push(...page)
  same(idsOf(seen), idsOf(inOrder(rows, query.order)), `the ids, page by page, for ${JSON.stringify(query)}`)
}

/** Yields the pages of a query. Each page begins after the last row of the page before. */
async function * pages (subject: Subject, query: PageQuery): AsyncGenerator<readonly Row[]> {
  const { order, limit } = query
  const seen = new Set<Id>()
  let after: Position | undefined
  for (;;) {
    const page = await subject.rows({ ...query, after })
    const last = page.at(-1)
    if (last === undefined) return
    assert.ok(page.length <= limit, `a page of ${limit} had ${page.length} rows`)
    for (const { id } of page) {
      // Without this check, a store that repeats a page would be read without end.
      assert.ok(seen.size < seen.add(id).size, `the row ${id} was seen twice, for ${JSON.stringify(query)}`)
    }
    yield page
    after = positionOf(last, order)
  }
}

/**
 * Checks that each lasting row is read once. After each page, it deletes the page's last row and a later one, unless
 * they must stay, and creates a row.
 */
async function readsAmidWrites (subject: Subject, orders: readonly Order[]): Promise<void> {
  await seedTied(subject, 30)
  for (const order of orders) {
    const shown = JSON.stringify(order)
    const ids = idsOf(inOrder(await subject.rows(), order))
    const staying = new Set(ids.filter((_, index) => index % 3 !== 2))
    const doomed = ids.filter((_, index) => index % 6 === 5)
    const gone = new Set<Id>()
    const seen: Row[] = []
    for await (const page of pages(subject, { order, limit: 3 })) {
      same(idsOf(page).filter((id) => gone.has(id)), [], `rows that were deleted before, in the order ${shown}`)
      seen.push(...page)
      for (const id of [...idsOf(page.slice(-1)), ...doomed.splice(-1)]) {
        if (!staying.has(id) && !gone.has(id)) gone.add(rowOf(await subject.delete(id)).id)
      }
      if (seen.length < 30) await subject.create(tied(seen.length))
    }
    for (const { id } of seen) staying.delete(id)
    same([...staying], [], `rows that existed all the time but were on no page, in the order ${shown}`)
    same(idsOf(seen), idsOf(inOrder(seen, order)), `the ids in the order ${shown}`)
  }
}

function isChosen (row: Row): boolean {
  return valueOf(row, 'tenant') === 'a' && Number(valueOf(row, 'shelf')) >= 2 && valueOf(row, 'done') !== true &&
    String(valueOf(row, 'email')).includes('1')
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
