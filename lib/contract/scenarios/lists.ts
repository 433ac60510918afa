import assert from 'node:assert/strict'
import type { Id, Row } from '../../core/resource/row.js'
import { BY_ID, comparePositions, positionOf } from '../../core/stores/order.js'
import type { Order, Query } from '../../core/stores/store.js'
import { existing, idsOf, rowOf, same, settle } from '../assertions.js'
import { bounded, type Checks, makeContext, makeQuery, type Subject, times } from '../subject.js'

/** The largest number of rows in a batch. A larger batch would not bound the memory of a list. */
const LARGEST_BATCH = 5_000
/** The largest size of a batch without its largest row, in characters. */
const LARGEST_BATCH_SIZE = 4 * 2 ** 20

export const listChecks: Checks = {
  'a list has every row once, in the order of the ids': async (subject) => {
    const rows = await subject.seed(250)
    for (const { id } of rows.slice(40, 60)) rowOf(await subject.delete(id))
    await lists(subject, {}, inOrder([...rows.slice(0, 40), ...rows.slice(60), ...(await subject.seed(10))]))
  },

  'a list has as many rows as the limit, or all of them if there are fewer': async (subject) => {
    const rows = inOrder(await subject.seed(30))
    for (const limit of [1, 2, 7, 29, 30, 31, 1_000, Number.MAX_SAFE_INTEGER]) {
      same(await subject.rows({ limit }), rows.slice(0, limit), `the rows of a list with the limit ${limit}`)
    }
  },

  'a list after a position has the rows that follow it': async (subject) => {
    const rows = inOrder(await subject.seed(12))
    for (const [index, { id }] of rows.entries()) {
      same(await subject.rows({ after: [id] }), rows.slice(index + 1), 'the rows after a row')
      await lists(subject, { after: [id], limit: 3 }, rows.slice(index + 1, index + 4))
    }
  },

  'a list may begin after a position without a row': async (subject) => {
    const rows = inOrder(await subject.seed(12))
    const left = new Set(rows)
    for (const index of [11, 6, 5, 0]) {
      const row = existing(rows[index])
      rowOf(await subject.delete(row.id))
      left.delete(row)
      await lists(subject, { after: [row.id] }, rows.slice(index + 1).filter((row) => left.has(row)))
    }
  },

  'limit and position count only the rows of the scope': async (subject) => {
    const rows = await subject.seed(30, (index) => ({ tenant: index % 3 === 0 ? 'a' : 'b' }))
    await countsSelected(subject, rows, { scope: { tenant: 'a' } }, ({ attributes }) => attributes.tenant === 'a')
  },

  'a long list comes in batches': async (subject) => {
    const rows = await subject.seed(subject.volume.rows)
    const listed: Row[] = []
    for await (const batch of subject.batches()) {
      assert.ok(batch.length <= LARGEST_BATCH, `a batch of a list of ${rows.length} rows had ${batch.length}`)
      listed.push(...batch)
    }
    same(idsOf(listed), idsOf(inOrder(rows)), 'the ids of the list')
  },

  'a batch holds no more than 4 MiB beyond its largest row': async (subject) => {
    await seedLargeAfterSmall(subject)
    await hasBoundedBatches(subject, BY_ID)
  },

  'a row that stays is listed once, whatever is written meanwhile': (subject) =>
    staysInLists(subject, subject),

  'a list that is left before its end blocks nothing': async (subject) => {
    const rows = inOrder(await subject.seed(manyOf(subject)))
    for (const pulls of times(60, (index) => index % 3)) {
      await bounded(subject, leave(subject, pulls), 'the beginning of a list')
    }
    const { id } = existing(rows[0])
    const updated = rowOf(await bounded(subject, subject.update(id, { count: 1 }), 'an update after lists were left'))
    const listed = await bounded(subject, subject.rows({ limit: 2 }), 'a list after others were left')
    same(listed, [updated, rows[1]], 'the rows after the lists were left')
  },

  'lists that are read at the same time do not affect each other': async (subject) => {
    const rows = inOrder(await subject.seed(manyOf(subject)))
    const queries = [{}, { limit: 5 }, { after: [existing(rows[9]).id] }, {}]
    const expected = [rows, rows.slice(0, 5), rows.slice(10), rows]
    const open = queries.map((parts) => ({ batches: subject.batches(parts), rows: new Array<Row>() }))
    for (const { batches, rows } of open.slice(0, 3)) {
      const { value } = await batches.next()
      assert.ok(value !== undefined, 'a list of rows must not be empty')
      rows.push(...value)
    }
    await Promise.all(open.map(async ({ batches, rows }) => { for await (const batch of batches) rows.push(...batch) }))
    same(open.map(({ rows }) => idsOf(rows)), expected.map(idsOf), 'the ids of each list')
  }
}

/** Creates rows whose sizes mislead a store that plans a batch by the sizes of earlier rows. */
export async function seedLargeAfterSmall (subject: Subject): Promise<void> {
  const long = 'x'.repeat(500_000)
  await subject.seed(150, (index) => ({ shelf: index }))
  await subject.seed(16, (index) =>
    ({ ...(index % 2 === 0 ? { title: long } : { details: { long } }), shelf: 1000 + index }))
}

export async function hasBoundedBatches (subject: Subject, order: Order): Promise<void> {
  const rows: Row[] = []
  for await (const batch of subject.batches({ order })) {
    const sizes = batch.map(({ attributes }) => JSON.stringify(attributes).length)
    const beyond = sizes.reduce((sum, size) => sum + size, 0) - Math.max(...sizes, 0)
    assert.ok(beyond <= LARGEST_BATCH_SIZE, `a batch held ${beyond} characters beyond its largest row`)
    rows.push(...batch)
  }
  same(idsOf(rows), idsOf(inOrder(rows, order)), 'the ids in the order of the list')
  same(rows.length, 166, 'the number of rows')
}

export function inOrder (rows: readonly Row[], order: Order = BY_ID): Row[] {
  const placed = rows.map((row) => ({ row, position: positionOf(row, order) }))
  return placed.sort((a, b) => comparePositions(order, a.position, b.position)).map(({ row }) => row)
}

/** Checks that a query lists these rows and no others, in their order. */
export async function lists (subject: Subject, parts: Partial<Query>, expected: readonly Row[]): Promise<void> {
  same(idsOf(await subject.rows(parts)), idsOf(expected), `the ids of the list for ${JSON.stringify(parts)}`)
}

/** Checks that limit and position count only the rows that a query selects. */
export async function countsSelected (
  subject: Subject,
  given: readonly Row[],
  parts: Partial<Query>,
  isSelected: (row: Row) => boolean
): Promise<void> {
  const rows = inOrder(given)
  await lists(subject, { ...parts, limit: 4 }, rows.filter(isSelected).slice(0, 4))
  for (const [index, { id }] of rows.entries()) {
    const following = rows.slice(index + 1).filter(isSelected)
    await lists(subject, { ...parts, limit: 2, after: [id] }, following.slice(0, 2))
  }
}

/** Checks that a query does not list a row. A store may also refuse the query. */
export async function matchesNot (subject: Subject, id: Id, parts: Partial<Query>): Promise<void> {
  const listed = await settle(subject.rows(parts))
  if (listed.answered) assert.ok(!idsOf(listed.value).includes(id), `no row must match ${JSON.stringify(parts)}`)
}

/** Returns a number of rows that fill several batches. */
export function manyOf ({ volume }: Subject): number {
  return Math.ceil(volume.rows / 4)
}

/** Reads some batches, and abandons the list. */
async function leave (subject: Subject, pulls: number): Promise<void> {
  const list = subject.store.list(makeQuery({}), makeContext())
  const batches = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]()
  for (let pull = 0; pull < pulls; pull++) await batches.next()
  await batches.return?.()
}

/**
 * Checks that one store lists each lasting row of a long list, while another one, or the same, creates, changes and
 * deletes rows.
 */
export async function staysInLists (reader: Subject, writer: Subject): Promise<void> {
  const rows = await writer.seed(manyOf(reader), () => ({ count: 0 }))
  const doomed = new Set(idsOf(rows.filter((_, index) => index % 10 === 3)))
  const staying = rows.filter(({ id }) => !doomed.has(id))
  const seen: Row[] = []
  for await (const batch of reader.batches()) {
    seen.push(...batch)
    for (const id of doomed) rowOf(await writer.delete(id))
    for (const { id } of batch.slice(-1)) await writer.update(id, { count: 1 })
    if (doomed.size > 0) await writer.seed(20)
    doomed.clear()
  }
  const ids = new Set(idsOf(seen))
  same(idsOf(staying).filter((id) => !ids.has(id)), [], 'ids of rows that existed all the time but are not in the list')
  same(idsOf(seen), idsOf(inOrder(seen)), 'the ids in the order of the list')
}
