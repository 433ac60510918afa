import { InvalidQueryError } from '../../core/errors.js'
import type { Row } from '../../core/resource/row.js'
import { positionOf } from '../../core/stores/order.js'
import type { Context, Position, Query } from '../../core/stores/store.js'
import { type Range, rangesOf } from './keyset.js'

/**
 * The most rows of a batch: a page of the default `maxLimit`, and the row that shows whether another page follows. The
 * batch of a list without a limit is smaller at first, because a client waits for it.
 */
const MOST_ROWS = 1001
export const FIRST_BATCH = 100

/** The most rows of a list that are sorted again for each batch. */
const MOST_SORTED = 50_000

/** How the rows of a list are read. */
export interface BatchSource {
  /** The criteria whose values are never null. */
  readonly neverNull: ReadonlySet<string>
  /** Whether a list that begins with its first row reads its nulls first, because an index would not serve both. */
  readonly splitsNulls: boolean
  /** Whether the first batch has one row, because it may take long to find more. */
  readonly isSparse: boolean
  /** Whether no two rows have the same position. If not, the list counts the rows that it has read. */
  readonly isKeyUnique: boolean
  /** Returns how many of the first rows of a range may be held together. Returns `limit` if all of them may. */
  fit (range: Range, limit: number, offset: number): Promise<number>
  /** Reads the first rows of a range. */
  read (range: Range, limit: number, offset: number): Promise<readonly Row[]>
  /** Returns whether the database sorts all rows of a range for each batch. */
  sorts (range: Range): Promise<boolean>
  /** Counts the rows of the list, up to `most`. */
  count (most: number): Promise<number>
  /** Makes the error about a text that the driver does not return as the table holds it. */
  refuseText (): Error
}

/**
 * Reads a list batch by batch. Between two batches it holds no connection or cursor of the database.
 * @throws InvalidQueryError if the list is too long to be read without an index
 */
export async function * readBatches (
  query: Query,
  { signal }: Context,
  source: BatchSource
): AsyncGenerator<readonly Row[], void> {
  const { order, limit: wanted, offset = 0 } = query
  const { neverNull, isKeyUnique } = source
  let { after } = query
  let ranges = beginningOf(query, source)
  let left = wanted ?? Infinity
  let skipped = offset
  let most = wanted !== undefined ? MOST_ROWS : source.isSparse ? 1 : FIRST_BATCH
  let isChecked = wanted !== undefined && wanted <= MOST_SORTED
  for (let [range] = ranges; range !== undefined && left > 0; [range] = ranges) {
    const limit = await source.fit(range, Math.min(left, most), skipped)
    const rows = await source.read(range, limit, skipped)
    const last = rows.at(-1)
    // Such a list would have no end.
    if (isKeyUnique && rows.some((row) => isAt(positionOf(row, order), after))) throw source.refuseText()
    left -= rows.length
    const isEnd = rows.length < limit
    if (isEnd) ranges = ranges.slice(1)
    else if (isKeyUnique) ranges = rangesOf(query, after = positionOf(last as Row, order), neverNull)
    skipped = isEnd || isKeyUnique ? 0 : skipped + rows.length
    if (last === undefined) continue
    most = MOST_ROWS
    if (!isChecked && !isEnd) {
      await checkLength(order.length, ranges, source)
      isChecked = true
    }
    yield rows
    signal.throwIfAborted()
  }
}

/** Returns the ranges with which a list begins. */
function beginningOf (query: Query, { neverNull, splitsNulls, isKeyUnique }: BatchSource): readonly Range[] {
  const { order, after, offset } = query
  const isWhole = after === undefined && (!splitsNulls || offset !== undefined || !isKeyUnique)
  return isWhole ? [{ conditions: [], order }] : rangesOf(query, after, neverNull)
}

function isAt (position: Position, after: Position | undefined): boolean {
  return after !== undefined && position.every((value, index) => value === after[index])
}

/** Throws `InvalidQueryError` if each further batch would sort very many rows again. */
async function checkLength (criteria: number, ranges: readonly Range[], source: BatchSource): Promise<void> {
  const range = ranges.find(({ order }) => order.length === criteria)
  if (range === undefined || !await source.sorts(range) || await source.count(MOST_SORTED + 1) <= MOST_SORTED) return
  throw new InvalidQueryError(
    `this list has more than ${MOST_SORTED} rows, and no index has them in its order; read it by pages, with "limit"`
  )
}
