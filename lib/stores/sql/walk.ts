import { settle } from '../../settle.js'
import { positionOf } from '../order.js'
import type { Context, MaybePromise, Query, Stored } from '../store.js'
import { type Range, rangesAfter } from './keyset.js'

/** Few rows at first, since somebody waits for them. */
const FIRST_BATCH = 100
const LARGEST_BATCH = 1000
/** In characters: rows of a megabyte each do not come by the thousand. */
const BATCH_SIZE = 524_288
/** Rows that are measured to know how many there may be in the next batch. */
const SAMPLE = 20

type Result = IteratorResult<readonly Stored[], undefined>

/** A list as pages that are read one by one: between two of them it holds nothing of the database's. */
export class Walk {
  readonly #query: Query
  readonly #context: Context
  readonly #read: (range: Range, limit: number) => MaybePromise<readonly Stored[]>
  /** What is still to be read. */
  #ranges: Range[]
  #left: number
  #size = FIRST_BATCH
  #begun = false

  constructor (query: Query, context: Context, read: (range: Range, limit: number) => MaybePromise<readonly Stored[]>) {
    this.#query = query
    this.#context = context
    this.#read = read
    this.#ranges = rangesAfter(query.order, query.after)
    this.#left = query.limit ?? Infinity
  }

  next (): MaybePromise<Result> {
    const [range] = this.#ranges
    if (range === undefined || this.#left <= 0) return this.return()
    // A store that answers at once need not ask: nobody can have left before its first batch.
    if (this.#begun) this.#context.signal.throwIfAborted()
    this.#begun = true
    const limit = Math.min(this.#size, this.#left)
    return settle(this.#read(range, limit), (rows) => {
      this.#advance(rows, limit)
      return rows.length === 0 ? this.next() : { done: false, value: rows }
    })
  }

  return (): Result {
    this.#ranges = []
    return { done: true, value: undefined }
  }

  #advance (rows: readonly Stored[], limit: number): void {
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) this.#ranges.shift()
    else this.#ranges = rangesAfter(this.#query.order, positionOf(last, this.#query.order))
    this.#left -= rows.length
    if (rows.length < limit || this.#left <= 0) return
    const sample = rows.slice(-SAMPLE)
    const size = sample.reduce((sum, row) => sum + sizeOf(row), 0) / sample.length
    this.#size = Math.max(1, Math.min(LARGEST_BATCH, Math.floor(BATCH_SIZE / size)))
  }
}

/** Roughly, in characters. */
function sizeOf ({ attributes }: Stored): number {
  let size = 0
  for (const value of Object.values(attributes)) {
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) size += JSON.stringify(value).length
  }
  return size
}
