import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Row } from '../resource/row.js'
import { comparePositions, positionOf } from '../stores/order.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../stores/row-size.js'
import type { Batches, Context, Order, Position, Query } from '../stores/store.js'
import { isPromise, type MaybePromise, andThen } from '../util/maybe-promise.js'
import { ownMember } from '../util/own-property.js'
import type { Listed, Source } from './outcome.js'
import type { Target } from './target.js'

/** Which rows are wanted, of those in the subject's scope. */
export type ListQuery = Omit<Query, 'scope'>

/** Rows from the store, the first batch pulled; of a page all of it, unless that is large, and whether another follows. */
export function list ({ store, scope }: Target, query: ListQuery, context: Context): MaybePromise<Listed> {
  const { order, after, limit, filter } = query
  // A literal of all members: a list of 20 rows takes three times as long with an object that is spread.
  const open: Open = (after, limit) => iterate(store.list({ order, after, limit, scope, filter }, context))
  if (limit === undefined) {
    const batches = open(after, undefined)
    return andThen(batches.next() as MaybePromise<Pulled>, ({ done, value }) => ({
      kind: 'listed',
      rows: done === true ? [] : value,
      more: done === true ? undefined : batches,
      order,
      last: undefined
    }))
  }
  return andThen(
    collect(open(after, limit + 1), limit + 1, LARGEST_BATCH_SIZE),
    ({ rows, rest }): MaybePromise<Listed> => {
      if (rest !== undefined) return listLarge({ rows, rest }, { ...query, limit }, open, context)
      const first = rows.slice(0, limit)
      return {
        kind: 'listed',
        rows: first,
        more: undefined,
        order,
        last: rows.length > limit ? first.at(-1) : undefined
      }
    }
  )
}

type Pulled = IteratorResult<readonly Row[]>

/** Reads the same list from a place on. */
type Open = (after: Position | undefined, limit: number | undefined) => Source

/**
 * A page of rows that are too large to be held together. Its header names the place where it ends, so the rows are read
 * twice: first to find that place, and then, as the client reads, to be written.
 */
async function listLarge (
  { rows, rest }: Required<Collected>,
  { order, limit }: ListQuery & { readonly limit: number },
  open: Open,
  context: Context
): Promise<Listed> {
  const held = rows.at(-1) as Row
  const last = await findEnd(held, rest as Source, limit - rows.length, order, context)
  if (last === held) return { kind: 'listed', rows, more: undefined, order, last }
  const after = positionOf(held, order)
  if (last === undefined) return { kind: 'listed', rows, more: open(after, limit - rows.length), order, last }
  // Rows that have come since must not push others off the page, because the next page begins after its end.
  const source = open(after, undefined)
  return { kind: 'listed', rows, more: endAt(source, order, positionOf(last, order)), order, last }
}

/** The last of so many rows after `held`, with no more of it than its place; undefined: no row follows it. */
async function findEnd (
  held: Row,
  source: Source,
  most: number,
  order: Order,
  { signal }: Context
): Promise<Row | undefined> {
  let count = 0
  let last = held
  for (;;) {
    const { done, value } = await source.next()
    if (done === true) return undefined
    for (const { id, version, attributes } of value) {
      if (++count > most) {
        await source.return?.()
        return last
      }
      last = { id, version, attributes: Object.fromEntries(order.map(({ by }) => [by, ownMember(attributes, by)])) }
    }
    // A store that answers at once would leave nobody else a turn, not even the client to go.
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** The rows up to a place. */
function endAt (source: Source, order: Order, end: Position): Source {
  let isOver = false
  const leave = (): MaybePromise<Pulled> => andThen(source.return?.(), () => ({ done: true, value: undefined }))
  const check = (pulled: Pulled): Pulled => {
    if (pulled.done === true) return pulled
    const rows = pulled.value.filter((row) => comparePositions(order, positionOf(row, order), end) <= 0)
    isOver = rows.length < pulled.value.length
    return { done: false, value: rows }
  }
  return {
    next: () => (isOver ? leave() : andThen(source.next() as MaybePromise<Pulled>, check)),
    return: leave
  } as Source
}

export function iterate (batches: Batches): Source {
  return Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]()
}

/** Rows that have been collected. */
export interface Collected {
  readonly rows: readonly Row[]
  /** What gives the rows that follow; undefined: these are all that were wanted. */
  readonly rest: Source | undefined
}

/** The batches with one before them that has been pulled already. */
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
  } as Source
}

/**
 * So many rows at the most: at once where they come at once. A store that has more than it was asked for is left.
 * @param mostSize rows that are larger than that together are not joined by others
 */
export function collect (batches: Source, most: number, mostSize: number = Infinity): MaybePromise<Collected> {
  let rows: readonly Row[] = []
  let gathered: Row[] | undefined
  let measured = 0
  let size = 0
  function isLarge (): boolean {
    if (mostSize === Infinity) return false
    while (measured < rows.length) size += sizeOf(rows[measured++] as Row)
    return size > mostSize
  }
  // The first batch is mostly all there is, and is taken as it stands.
  function add (batch: readonly Row[]): void {
    if (rows.length === 0) {
      rows = batch
    } else {
      rows = gathered ??= [...rows]
      for (const row of batch) gathered.push(row)
    }
  }
  function pull (): MaybePromise<Collected> {
    for (;;) {
      const result: MaybePromise<Pulled> = batches.next()
      if (isPromise(result)) return result.then(take)
      if (result.done === true) return end()
      if (isLarge()) return { rows, rest: putBack(result.value, batches) }
      add(result.value)
      if (rows.length >= most) return leave()
    }
  }
  function take ({ done, value }: Pulled): MaybePromise<Collected> {
    if (done === true) return end()
    if (isLarge()) return { rows, rest: putBack(value, batches) }
    add(value)
    return rows.length >= most ? leave() : pull()
  }
  function leave (): MaybePromise<Collected> {
    return andThen(batches.return?.(), end)
  }
  function end (): Collected {
    return { rows, rest: undefined }
  }
  return pull()
}
