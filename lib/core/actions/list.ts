import type { Row } from '../resource/row.js'
import { comparePositions, positionOf, reverse } from '../stores/order.js'
import { LARGEST_BATCH_SIZE } from '../stores/row-size.js'
import type { Context, Order, Position, Store } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { ListOutcome, ListQuery, Source } from './outcome.js'
import { collect, type CollectedRows, endAfter, findEnd, iterate, type Page } from './sources.js'
import { canReverse, type Target } from './target.js'
import { addTotal } from './total.js'

export type { ListQuery } from './outcome.js'

/**
 * Lists rows. Without a limit, they are batches, of which the first is pulled. With a limit, they are a page, which is
 * held in memory unless its rows are large.
 */
export function list (target: Target, query: ListQuery, context: Context): MaybePromise<ListOutcome> {
  const listed = listRows(target, query, context)
  const { count } = query
  return count === undefined
    ? listed
    : andThen(listed, (listed) => addTotal(listed, target, { ...query, count }, context))
}

function listRows ({ store, scope }: Target, query: ListQuery, context: Context): MaybePromise<ListOutcome> {
  const { order, after, before, offset, limit, filter, search } = query
  // A literal of all members, because a spread object makes a list of 20 rows take three times as long.
  const open: Open = (order, after, limit, offset) =>
    iterate(store.list({ order, after, offset, limit, scope, filter, search }, context))
  if (limit === undefined) return listAll(query, open)
  const page = { order, limit }
  if (before !== undefined) return listBefore(before, page, open, context)
  // One extra row shows whether another page follows.
  const pulled = collect(open(order, after, limit + 1, offset), limit + 1, LARGEST_BATCH_SIZE)
  const hasPrevious = (after !== undefined || offset !== undefined) && canReverse(store)
  return andThen(pulled, (collected): MaybePromise<ListOutcome> => {
    const first = hasPrevious ? collected.rows[0] ?? 'end' : undefined
    if (collected.rest !== undefined) return listLarge(collected, first, page, { open, context })
    const rows = collected.rows.slice(0, limit)
    const last = collected.rows.length > limit ? rows.at(-1) : undefined
    return { kind: 'listed', rows, more: undefined, order, first, last }
  })
}

/** Returns whether a store counts rows. */
export function canCount ({ capabilities, count }: Store): boolean {
  return capabilities?.count === true && count !== undefined
}

/** Lists all rows after or before a position. */
function listAll (query: ListQuery, open: Open): MaybePromise<ListOutcome> {
  const { order, after, before = 'end', filter, search } = query
  const rows = open(order, after, undefined)
  const listed = pullFirst(
    before === 'end' ? rows : endAfter(rows, (row) => comparePositions(order, positionOf(row, order), before) < 0),
    order
  )
  if (filter.length === 0 && search === undefined) return listed
  return andThen(listed, (listed) => ({ ...listed, isSparse: true }))
}

/** Lists batches, and pulls the first one, so that a source that fails does so before the first byte. */
export function pullFirst (batches: Source, order: Order): MaybePromise<ListOutcome> {
  return andThen(batches.next(), (pulled): ListOutcome =>
    pulled.done === true
      ? { kind: 'listed', rows: [], more: undefined, order, first: undefined, last: undefined }
      : { kind: 'listed', rows: pulled.value, more: batches, order, first: undefined, last: undefined }
  )
}

/** Reads the same list in an order, after a position, or without its first rows. */
type Open = (order: Order, after: Position | undefined, limit: number | undefined, offset?: number) => Source

/** What the reading of large rows needs besides the page. */
interface Reading {
  readonly open: Open
  readonly context: Context
}

/**
 * Lists a page of rows that are too large to be held together. Its header names the position where it ends, so the rows
 * are read twice: first to find that position, then to be written as the client reads.
 */
async function listLarge (
  { rows, rest }: CollectedRows,
  first: ListOutcome['first'],
  { order, limit }: Page,
  { open, context }: Reading
): Promise<ListOutcome> {
  const held = rows.at(-1) as Row
  const remaining = limit - rows.length
  const { last, next } = await findEnd(held, rest as Source, { order, limit: remaining }, context)
  const page = { kind: 'listed', rows, order, first } as const
  if (next === undefined) return { ...page, more: open(order, positionOf(held, order), remaining), last: undefined }
  if (last === held) return { ...page, more: undefined, last }
  // Rows that were created meanwhile must not push others off the page: the next page begins after its old end.
  return { ...page, more: endAt(open(order, positionOf(held, order), undefined), order, last), last }
}

/** Ends a source at the position of a row. */
function endAt (source: Source, order: Order, row: Row): Source {
  const end = positionOf(row, order)
  return endAfter(source, (row) => comparePositions(order, positionOf(row, order), end) <= 0)
}

/**
 * Lists the page before a position, in one reading: rows that are created or deleted meanwhile cannot move its bounds.
 * Its link to the next page is not checked: only a deletion of all further rows makes that page empty.
 */
function listBefore (
  before: NonNullable<ListQuery['before']>,
  page: Page,
  open: Open,
  context: Context
): MaybePromise<ListOutcome> {
  const { order, limit } = page
  const end = before === 'end' ? undefined : before
  const pulled = collect(open(reverse(order), end, limit + 1), limit + 1, LARGEST_BATCH_SIZE)
  return andThen(pulled, (collected): MaybePromise<ListOutcome> => {
    const last = end === undefined ? undefined : collected.rows[0]
    if (collected.rest !== undefined) return listLargeBefore(collected, last, page, { open, context })
    const rows = collected.rows.slice(0, limit).reverse()
    const first = collected.rows.length > limit ? rows[0] : undefined
    return { kind: 'listed', rows, more: undefined, order, first, last }
  })
}

/** Lists such a page if its rows are too large to be held together: it finds where the page begins, and reads on. */
async function listLargeBefore (
  { rows, rest }: CollectedRows,
  last: Row | undefined,
  { order, limit }: Page,
  { open, context }: Reading
): Promise<ListOutcome> {
  const { next } = await findEnd(rows.at(-1) as Row, rest as Source, { order, limit: limit - rows.length }, context)
  const source = open(order, next && positionOf(next, order), undefined)
  const listed = await pullFirst(endAt(source, order, rows[0] as Row), order)
  return { ...listed, first: next && listed.rows[0], last }
}
