import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row } from '../resource/row.js'
import { comparePositions, positionOf } from '../stores/order.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../stores/row-size.js'
import type { Batches, Context, Order, Position, Query } from '../stores/store.js'
import { isPromise, type MaybePromise, andThen } from '../util/maybe-promise.js'
import { ownMember } from '../util/own-property.js'
import type { ListOutcome, PulledBatch, Source } from './outcome.js'
import type { Target } from './target.js'

/** The query of a list. The scope comes from the target. */
export type ListQuery = Omit<Query, 'scope'>

/**
 * Lists rows. Without a limit, they are batches, of which the first is pulled. With a limit, they are a page, which is
 * held in memory unless its rows are large.
 */
export function list ({ store, scope }: Target, query: ListQuery, context: Context): MaybePromise<ListOutcome> {
  const { order, after, limit, filter } = query
  // A literal of all members, because a spread object makes a list of 20 rows take three times as long.
  const open: Open = (after, limit) => iterate(store.list({ order, after, limit, scope, filter }, context))
  if (limit === undefined) return pullFirst(open(after, undefined), order)
  // One extra row shows whether another page follows.
  const pulled = collect(open(after, limit + 1), limit + 1, LARGEST_BATCH_SIZE)
  return andThen(pulled, (collected): MaybePromise<ListOutcome> => {
    if (collected.rest !== undefined) return listLarge(collected, { order, limit }, open, context)
    const rows = collected.rows.slice(0, limit)
    const last = collected.rows.length > limit ? rows.at(-1) : undefined
    return { kind: 'listed', rows, more: undefined, order, last }
  })
}

/** Lists batches, and pulls the first one, so that a source that fails does so before the first byte. */
export function pullFirst (batches: Source, order: Order): MaybePromise<ListOutcome> {
  return andThen(batches.next(), (pulled) =>
    pulled.done === true
      ? { kind: 'listed', rows: [], more: undefined, order, last: undefined }
      : { kind: 'listed', rows: pulled.value, more: batches, order, last: undefined }
  )
}

/** Reads the same list after a position. */
type Open = (after: Position | undefined, limit: number | undefined) => Source

/** The order of a page, and the number of its rows. */
interface Page {
  readonly order: Order
  readonly limit: number
}

/**
 * Lists a page of rows that are too large to be held together. Its header names the position where it ends, so the rows
 * are read twice: first to find that position, then to be written as the client reads.
 */
async function listLarge (
  { rows, rest }: CollectedRows,
  { order, limit }: Page,
  open: Open,
  context: Context
): Promise<ListOutcome> {
  const held = rows.at(-1) as Row
  const remaining = limit - rows.length
  const last = await findEnd(held, rest as Source, { order, limit: remaining }, context)
  if (last === held) return { kind: 'listed', rows, more: undefined, order, last }
  const after = positionOf(held, order)
  if (last === undefined) return { kind: 'listed', rows, more: open(after, remaining), order, last }
  // Rows that were created meanwhile must not push others off the page: the next page begins after its old end.
  return { kind: 'listed', rows, more: endAt(open(after, undefined), order, positionOf(last, order)), order, last }
}

/** Finds the last of `limit` rows after `held`, with the attributes of the order; `undefined` if no row follows it. */
async function findEnd (
  held: Row,
  source: Source,
  { order, limit }: Page,
  { signal }: Context
): Promise<Row | undefined> {
  let count = 0
  let last = held
  for (;;) {
    const pulled = await source.next()
    if (pulled.done === true) return undefined
    for (const { id, version, attributes } of pulled.value) {
      if (++count > limit) {
        await source.return?.()
        return last
      }
      last = { id, version, attributes: Object.fromEntries(order.map(({ by }) => [by, ownMember(attributes, by)])) }
    }
    // A store that answers at once would leave no turn to others, not even to notice that the client leaves.
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** Ends a source at a position. */
function endAt (source: Source, order: Order, end: Position): Source {
  let isOver = false
  const leave = (): MaybePromise<PulledBatch> => andThen(source.return?.(), () => ({ done: true, value: undefined }))
  const check = (pulled: PulledBatch): PulledBatch => {
    if (pulled.done === true) return pulled
    const rows = pulled.value.filter((row) => comparePositions(order, positionOf(row, order), end) <= 0)
    isOver = rows.length < pulled.value.length
    return { done: false, value: rows }
  }
  return { next: () => isOver ? leave() : andThen(source.next(), check), return: leave }
}

export function iterate (batches: Batches): Source {
  return Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]()
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
 * Collects batches until there are enough rows, and then closes the source. The last batch may bring more rows. The
 * result is a promise only if the source returns one.
 * @param most the number of rows that is enough
 * @param mostSize the size of all rows, in characters, above which no further batch is added
 */
export function collect (batches: Source, most: number, mostSize: number = Infinity): MaybePromise<CollectedRows> {
  let rows: readonly Row[] = []
  let gathered: Row[] | undefined
  let measured = 0
  let size = 0
  function isLarge (): boolean {
    if (mostSize === Infinity) return false
    while (measured < rows.length) size += sizeOf(rows[measured++] as Row)
    return size > mostSize
  }
  // The first batch is not copied, because it is usually the only one.
  function add (batch: readonly Row[]): void {
    if (rows.length === 0) {
      rows = batch
    } else {
      rows = gathered ??= [...rows]
      for (const row of batch) gathered.push(row)
    }
  }
  /** Adds a batch. Returns `undefined` if more batches are needed. */
  function take (pulled: PulledBatch): MaybePromise<CollectedRows> | undefined {
    if (pulled.done === true) return { rows, rest: undefined }
    if (isLarge()) return { rows, rest: putBack(pulled.value, batches) }
    add(pulled.value)
    return rows.length < most ? undefined : andThen(batches.return?.(), () => ({ rows, rest: undefined }))
  }
  function pull (): MaybePromise<CollectedRows> {
    for (;;) {
      const pulled = batches.next()
      if (isPromise(pulled)) return pulled.then((pulled) => take(pulled) ?? pull())
      const collected = take(pulled)
      if (collected !== undefined) return collected
    }
  }
  return pull()
}
