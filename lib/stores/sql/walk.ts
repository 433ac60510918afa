import type { Row } from '../../resource/row.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import { positionOf } from '../order.js'
import type { Context, Position, Query } from '../store.js'
import type { BatchPlan, Reading } from './batch-plan.js'
import type { RawRow } from './dialect.js'
import { type Range, rangesAfter } from './keyset.js'

/** Few rows at first, since somebody waits for them. */
const FIRST_BATCH = 100

/** One row that is read whole. */
const SINGLE: Reading = { limit: 1, mostBytes: undefined }

type Result = IteratorResult<readonly Row[], undefined>

/** What a walk reads from. */
export interface Rows {
  readonly plan: BatchPlan
  /** The first rows of a range, so many at the most. */
  read (range: Range, reading: Reading): MaybePromise<readonly RawRow[]>
  /** The row that was read as `row`, as it is now and whole; undefined: it is gone. */
  readWhole (row: RawRow): MaybePromise<RawRow | undefined>
  /** Whether they are the same version of a row. */
  isSame (row: RawRow, other: RawRow): boolean
  /** Undefined: a text of the row is cut. */
  decode (row: RawRow, mostBytes: number | undefined): Row | undefined
}

/**
 * A list as pages that are read one by one. Between two of them it holds nothing of the database's, and of the rows no
 * more than one page, of which no text is longer than the plan allows.
 */
export class Walk {
  readonly #query: Query
  readonly #context: Context
  readonly #rows: Rows
  /** What is still to be read. */
  #ranges: Range[]
  #left: number
  /** The page that has been read, from `#from` on not handed out yet. */
  #page: readonly RawRow[] = []
  #from = 0
  #reading: Reading = SINGLE
  /** Where the last row stood that was handed out. */
  #last: Position | undefined
  #next: 'first' | 'planned' | 'single' = 'first'
  #begun = false

  constructor (query: Query, context: Context, rows: Rows) {
    this.#query = query
    this.#context = context
    this.#rows = rows
    this.#ranges = rangesAfter(query.order, query.after)
    this.#left = query.limit ?? Infinity
  }

  next (): MaybePromise<Result> {
    const [range] = this.#ranges
    if (range === undefined || this.#left <= 0) return this.return()
    // A store that answers at once need not ask: nobody can have left before its first batch.
    if (this.#begun) this.#context.signal.throwIfAborted()
    this.#begun = true
    return this.#from < this.#page.length ? this.#handOut() : this.#read(range)
  }

  return (): Result {
    this.#ranges = []
    this.#page = []
    return { done: true, value: undefined }
  }

  #read (range: Range): MaybePromise<Result> {
    const { plan } = this.#rows
    const reading =
      this.#next === 'single'
        ? SINGLE
        : plan.next(Math.min(this.#left, this.#next === 'first' ? FIRST_BATCH : Infinity))
    this.#next = 'planned'
    this.#reading = reading
    return andThen(this.#rows.read(range, reading), (page) => {
      this.#page = page
      this.#from = 0
      if (page.length > 0) return this.#handOut()
      this.#ranges.shift()
      return this.next()
    })
  }

  #handOut (): MaybePromise<Result> {
    const page = this.#page
    const from = this.#from
    const rows = this.#decode(page, from, this.#rows.plan.findPortion(page, from))
    if (rows.length > 0) {
      this.#rows.plan.learn(page, from + rows.length)
      return this.#give(rows)
    }
    const cut = page[from] as RawRow
    return andThen(this.#rows.readWhole(cut), (whole) => this.#handOutWhole(cut, whole))
  }

  /** The rows between two places of a page, up to one that is cut. */
  #decode (page: readonly RawRow[], from: number, to: number): readonly Row[] {
    const rows: Row[] = []
    for (let index = from; index < to; index++) {
      const row = this.#rows.decode(page[index] as RawRow, this.#reading.mostBytes)
      if (row === undefined) break
      rows.push(row)
    }
    return rows
  }

  #handOutWhole (cut: RawRow, whole: RawRow | undefined): MaybePromise<Result> {
    if (whole === undefined) {
      this.#pass(1)
      return this.next()
    }
    if (!this.#rows.isSame(cut, whole)) {
      // The row has changed since, and may stand elsewhere. A single row is read whole, in its place.
      this.#next = 'single'
      this.#readOn()
      return this.next()
    }
    const result = this.#give([this.#rows.decode(whole, undefined) as Row])
    if (this.#rows.plan.learnFromCut(whole)) this.#readOn()
    return result
  }

  #give (rows: readonly Row[]): Result {
    this.#last = positionOf(rows.at(-1) as Row, this.#query.order)
    this.#left -= rows.length
    this.#pass(rows.length)
    return { done: false, value: rows }
  }

  /** Goes on behind so many rows of the page, or, where there are no more, behind the page. */
  #pass (count: number): void {
    this.#from += count
    if (this.#from < this.#page.length) return
    if (this.#page.length < this.#reading.limit) {
      this.#page = []
      this.#ranges.shift()
    } else this.#readOn()
  }

  /** Leaves the page, and reads on behind the last row that was handed out. */
  #readOn (): void {
    this.#page = []
    if (this.#last !== undefined) this.#ranges = rangesAfter(this.#query.order, this.#last)
  }
}
