import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row } from '../resource/row.js'
import { sizeOf } from '../stores/row-size.js'
import type { Batches, Context, Order } from '../stores/store.js'
import { isPromise, type MaybePromise, andThen } from '../util/maybe-promise.js'
import { ownMember } from '../util/own-property.js'
import type { PulledBatch, Source } from './outcome.js'

/** The order of a page, and the number of its rows. */
export interface Page {
  readonly order: Order
  readonly limit: number
}

/** The end of a page. Its rows have only the attributes of the order. */
export interface PageEnd {
  /** The last row of the page. */
  readonly last: Row
  /** The row that follows the page, or `undefined` if there is none. */
  readonly next: Row | undefined
}

/** Finds the end of a page that has `held` and at most `limit` further rows. */
export async function findEnd (
  held: Row,
  source: Source,
  { order, limit }: Page,
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
export function endAfter (source: Source, isWithin: (row: Row) => boolean): Source {
  let isOver = false
  const leave = (): MaybePromise<PulledBatch> => andThen(source.return?.(), () => ({ done: true, value: undefined }))
  const check = (pulled: PulledBatch): PulledBatch => {
    if (pulled.done === true) return pulled
    const rows = pulled.value.filter(isWithin)
    isOver = rows.length < pulled.value.length
    return { done: false, value: rows }
  }
  return { next: () => isOver ? leave() : andThen(source.next(), check), return: leave }
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
