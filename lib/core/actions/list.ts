import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../resource/resource.js'
import type { Row, Scope } from '../resource/row.js'
import { comparePositions, positionOf, reverse } from '../stores/order.js'
import {
  type Batches, type Context, type Count, LARGEST_BATCH_SIZE, type Order, type Position, sizeOf, type Store
} from '../stores/store.js'
import { ownMember } from '../util/own-property.js'
import type { ListCount, ListOutcome, ListQuery, PulledBatch, Source, Total } from './outcome.js'

export type { ListQuery } from './outcome.js'

/** The resource of an action, with the store and the scope of its rows. */
export interface Target {
  readonly resource: Resource
  readonly store: Store
  readonly scope: Scope
}

/**
 * Lists rows. Without a limit, they are batches, of which the first is pulled. With a limit, they are a page, which is
 * held in memory unless its rows are large.
 */
export async function list (target: Target, query: ListQuery, context: Context): Promise<ListOutcome> {
  const { store, scope } = target
  const { order, before, limit, filter, search, count } = query
  // A literal of all members, because a spread object makes a list of 20 rows take three times as long.
  const open: Open = (order, after, limit, offset) =>
    iterate(store.list({ order, after, offset, limit, scope, filter, search }, context))
  const listed = await (
    limit === undefined
      ? listAll(query, open)
      : before === undefined
        ? listPage(query, { order, limit }, { open, context }, canReverse(store))
        : listBefore(before, { order, limit }, { open, context })
  )
  return count === undefined ? listed : addTotal(listed, target, { ...query, count }, context)
}

/** Lists the page after a position. */
async function listPage (
  { after, offset }: ListQuery,
  page: PageOfRows,
  reading: Reading,
  reverses: boolean
): Promise<ListOutcome> {
  const { order, limit } = page
  // One extra row shows whether another page follows.
  const collected = await collect(reading.open(order, after, limit + 1, offset), limit + 1, LARGEST_BATCH_SIZE)
  const hasPrevious = (after !== undefined || offset !== undefined) && reverses
  const first = hasPrevious ? collected.rows[0] ?? 'end' : undefined
  if (collected.rest !== undefined) return listLarge(collected, first, page, reading)
  const rows = collected.rows.slice(0, limit)
  const last = collected.rows.length > limit ? rows.at(-1) : undefined
  return { kind: 'listed', rows, more: undefined, order, first, last }
}

/** Returns whether a store can list the page before a position: it reads rows in the reversed order. */
export function canReverse ({ capabilities }: Store): boolean {
  return capabilities?.order === true
}

/** Returns whether a store counts rows. */
export function canCount ({ capabilities, count }: Store): boolean {
  return capabilities?.count === true && count !== undefined
}

/** Lists all rows after or before a position. */
async function listAll (query: ListQuery, open: Open): Promise<ListOutcome> {
  const { order, after, before = 'end', filter, search } = query
  const rows = open(order, after, undefined)
  const source =
    before === 'end' ? rows : endAfter(rows, (row) => comparePositions(order, positionOf(row, order), before) < 0)
  const listed = await pullFirst(source, order)
  return filter.length === 0 && search === undefined ? listed : { ...listed, isSparse: true }
}

/** Lists batches, and pulls the first one, so that a source that fails does so before the first byte. */
export async function pullFirst (batches: Source, order: Order): Promise<ListOutcome> {
  const pulled = await batches.next()
  const [rows, more] = pulled.done === true ? [[], undefined] : [pulled.value, batches]
  return { kind: 'listed', rows, more, order, first: undefined, last: undefined }
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
  { order, limit }: PageOfRows,
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
async function listBefore (
  before: NonNullable<ListQuery['before']>,
  page: PageOfRows,
  reading: Reading
): Promise<ListOutcome> {
  const { order, limit } = page
  const end = before === 'end' ? undefined : before
  const collected = await collect(reading.open(reverse(order), end, limit + 1), limit + 1, LARGEST_BATCH_SIZE)
  const last = end === undefined ? undefined : collected.rows[0]
  if (collected.rest !== undefined) return listLargeBefore(collected, last, page, reading)
  const rows = collected.rows.slice(0, limit).reverse()
  const first = collected.rows.length > limit ? rows[0] : undefined
  return { kind: 'listed', rows, more: undefined, order, first, last }
}

/** Lists such a page if its rows are too large to be held together: it finds where the page begins, and reads on. */
async function listLargeBefore (
  { rows, rest }: CollectedRows,
  last: Row | undefined,
  { order, limit }: PageOfRows,
  { open, context }: Reading
): Promise<ListOutcome> {
  const { next } = await findEnd(rows.at(-1) as Row, rest as Source, { order, limit: limit - rows.length }, context)
  const source = open(order, next && positionOf(next, order), undefined)
  const listed = await pullFirst(endAt(source, order, rows[0] as Row), order)
  return { ...listed, first: next && listed.rows[0], last }
}

/** Pages for people show a total up to this number, so that no page is slow. One more row shows that there are more. */
export const COUNT_OF_PAGES: ListCount = { most: 10_001, estimate: false }

/** Adds the total to a list. If the store cannot count, the list is closed. */
async function addTotal (
  listed: ListOutcome,
  target: Target,
  query: ListQuery & { readonly count: ListCount },
  context: Context
): Promise<ListOutcome> {
  const { rows, more, last } = listed
  const { after, before, offset } = query
  const isFirst = after === undefined && before === undefined && offset === undefined
  if (isFirst && more === undefined && last === undefined) {
    // The page is the whole list.
    return { ...listed, total: { rows: rows.length, isEstimate: false, most: undefined, offset: 0, size: rows.length } }
  }
  try {
    return { ...listed, total: await findTotal(listed, target, query, context) }
  } catch (error) {
    await more?.return?.()
    throw error
  }
}

async function findTotal (
  listed: ListOutcome,
  { store, scope }: Target,
  { order, after, before, offset: given = 0, limit, filter, search, count }: ListQuery & { readonly count: ListCount },
  context: Context
): Promise<Total> {
  const { rows: [begin], more, first, last } = listed
  // The caller has verified that the store counts.
  const countRows = store.count?.bind(store) as NonNullable<Store['count']>
  const countAfter: CountAfter = async (order, after, most) =>
    countRows({ order, after, scope, filter, search, most, estimate: false }, context)

  function place (total: Count, offset: number | undefined): Total {
    const rest = last !== undefined ? limit : offset === undefined ? undefined : total.rows - offset
    const size = more === undefined ? listed.rows.length : before === undefined ? rest : first && limit
    const { isEstimate } = total
    // An estimate may be less than the rows that are here.
    return { rows: Math.max(total.rows, listed.rows.length), isEstimate, most: count.most, offset, size }
  }

  const total = await countRows({ order, after: undefined, scope, filter, search, ...count }, context)
  if (begin === undefined) return place(total, undefined)
  if (before === undefined && after === undefined) return place(total, given)
  if (after === undefined && first === undefined) return place(total, 0)
  if (total.isEstimate || total.rows >= (count.most ?? Infinity)) return place(total, undefined)
  if (last === undefined && more === undefined) return place(total, Math.max(0, total.rows - listed.rows.length))
  const position = positionOf(begin, order)
  if (canReverse(store)) return place(total, await findOffset(total.rows, order, position, countAfter))
  const { rows } = await countAfter(order, position, undefined)
  return place(total, Math.max(0, total.rows - rows - 1))
}

/** Counts the rows after a position in an order, at most `most` of them. */
type CountAfter = (order: Order, after: Position, most: number | undefined) => Promise<Count>

/** The most rows that are counted on each side of a page at first. */
const FIRST_COUNT = 10_000

/** Returns the number of the rows before a position. It counts on both sides, and ends with the one that has fewer. */
async function findOffset (total: number, order: Order, position: Position, countAfter: CountAfter): Promise<number> {
  for (let most = FIRST_COUNT; ; most *= 4) {
    const { rows: preceding } = await countAfter(reverse(order), position, most)
    if (preceding < most) return preceding
    const { rows: following } = await countAfter(order, position, most)
    if (following < most) return Math.max(0, total - following - 1)
  }
}

/** The order of a page, and the number of its rows. */
interface PageOfRows {
  readonly order: Order
  readonly limit: number
}

/** The end of a page. Its rows have only the attributes of the order. */
interface PageEnd {
  /** The last row of the page. */
  readonly last: Row
  /** The row that follows the page, or `undefined` if there is none. */
  readonly next: Row | undefined
}

/** Finds the end of a page that has `held` and at most `limit` further rows. */
async function findEnd (
  held: Row,
  source: Source,
  { order, limit }: PageOfRows,
  { signal }: Context
): Promise<PageEnd> {
  let count = 0
  let last = held
  for (;;) {
    const pulled = await source.next()
    if (pulled.done === true) return { last, next: undefined }
    for (const { id, version, attributes } of pulled.value) {
      const named = Object.fromEntries(order.map(({ by }) => [by, ownMember(attributes, by)]))
      const row = { id, version, attributes: named }
      if (++count > limit) {
        await source.return?.()
        return { last, next: row }
      }
      last = row
    }
    // A store that answers at once would leave no turn to others, not even to notice that the client leaves.
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** Ends a source before the first row that is not within the bounds. */
function endAfter (source: Source, isWithin: (row: Row) => boolean): Source {
  let isOver = false
  const leave = async (): Promise<PulledBatch> => {
    await source.return?.()
    return { done: true, value: undefined }
  }
  return {
    async next () {
      if (isOver) return leave()
      const pulled = await source.next()
      if (pulled.done === true) return pulled
      const rows = pulled.value.filter(isWithin)
      isOver = rows.length < pulled.value.length
      return { done: false, value: rows }
    },
    return: leave
  }
}

/** Closes a source after an error, which is the one that is reported. */
export async function closeQuietly (source: Source | undefined): Promise<void> {
  try {
    await source?.return?.()
  } catch {}
}

export function iterate (batches: Batches): Source {
  if (Symbol.asyncIterator in batches) return batches[Symbol.asyncIterator]()
  if (Symbol.iterator in batches) return batches[Symbol.iterator]()
  // The list of a store in JavaScript may be an async function, whose rejection must not end the process.
  Promise.resolve(batches).catch(() => {})
  throw new TypeError('"list" of the store has returned neither an iterable nor an async iterable of batches')
}

/** Collected rows. */
export interface CollectedRows {
  readonly rows: readonly Row[]
  /** The rows that were not collected because of their size, or `undefined` if there are none. */
  readonly rest: Source | undefined
}

/** Returns a source that begins with a batch that was already pulled. */
function putBack (batch: readonly Row[], batches: Source): Source {
  let held: readonly Row[] | undefined = batch
  return {
    next () {
      if (held === undefined) return batches.next()
      const value = held
      held = undefined
      return { done: false, value }
    },
    return: () => batches.return?.()
  }
}

/**
 * Collects batches until there are enough rows, and then closes the source. The last batch may bring more rows.
 * @param most the number of rows that is enough
 * @param mostSize the size of all rows, in characters, above which no further batch is added
 */
export async function collect (batches: Source, most: number, mostSize: number = Infinity): Promise<CollectedRows> {
  const rows: Row[] = []
  let size = 0
  while (rows.length < most) {
    const pulled = await batches.next()
    if (pulled.done === true) return { rows, rest: undefined }
    if (size > mostSize) return { rows, rest: putBack(pulled.value, batches) }
    for (const row of pulled.value) rows.push(row)
    if (mostSize !== Infinity && rows.length < most) for (const row of pulled.value) size += sizeOf(row)
  }
  await batches.return?.()
  return { rows, rest: undefined }
}
