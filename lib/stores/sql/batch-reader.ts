import type { Row } from '../../resource/row.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import { positionOf } from '../order.js'
import type { Context, Position, Query } from '../store.js'
import type { BatchPlan, Reading } from './batch-plan.js'
import type { RawRow } from './dialect.js'
import { type Range, rangesAfter } from './keyset.js'
import type { RowDecoder } from './row-decoder.js'

/** The most rows of the first batch, which is small because a client waits for it. */
const FIRST_BATCH = 100

/** The size of a batch of one row whose texts are not cut. */
const SINGLE: Reading = { limit: 1, mostBytes: undefined }

type Result = IteratorResult<readonly Row[], undefined>

/** The source of the rows of a reader. */
export interface BatchSource {
  readonly plan: BatchPlan
  readonly decoder: RowDecoder
  /** Reads the first rows of a range. */
  read (range: Range, reading: Reading): MaybePromise<readonly RawRow[]>
  /** Reads a row again, without cutting its texts. Returns `undefined` if the row has been deleted. */
  readWhole (raw: RawRow): MaybePromise<RawRow | undefined>
}

/**
 * Reads a list page by page. Between two pages it holds no connection or cursor of the database. It holds at most one
 * page of rows, whose texts are no longer than the plan allows.
 */
export class BatchReader {
  readonly #query: Query
  readonly #context: Context
  readonly #source: BatchSource
  /** The ranges that remain to be read. */
  #ranges: Range[]
  #left: number
  /** The page that was read last. Its rows from `#from` on have not been handed out yet. */
  #page: readonly RawRow[] = []
  #from = 0
  #reading: Reading = SINGLE
  /** The position of the last row that was handed out. */
  #last: Position | undefined
  #next: 'first' | 'planned' | 'single' = 'first'
  #hasBegun = false

  constructor (query: Query, context: Context, source: BatchSource) {
    this.#query = query
    this.#context = context
    this.#source = source
    this.#ranges = rangesAfter(query.order, query.after)
    this.#left = query.limit ?? Infinity
  }

  next (): MaybePromise<Result> {
    const [range] = this.#ranges
    if (range === undefined || this.#left <= 0) return this.return()
    // The first call needs no check, because no client can leave before the first batch of a synchronous store.
    if (this.#hasBegun) this.#context.signal.throwIfAborted()
    this.#hasBegun = true
    return this.#from < this.#page.length ? this.#handOut() : this.#read(range)
  }

  return (): Result {
    this.#ranges = []
    this.#page = []
    return { done: true, value: undefined }
  }

  #read (range: Range): MaybePromise<Result> {
    const { plan } = this.#source
    const reading = this.#next === 'single'
      ? SINGLE
      : plan.next(Math.min(this.#left, this.#next === 'first' ? FIRST_BATCH : Infinity))
    this.#next = 'planned'
    this.#reading = reading
    return andThen(this.#source.read(range, reading), (page) => {
      this.#page = page
      this.#from = 0
      if (page.length > 0) return this.#handOut()
      this.#ranges.shift()
      return this.next()
    })
  }

  #handOut (): MaybePromise<Result> {
    const { plan, readWhole } = this.#source
    const page = this.#page
    const rows = this.#decode(page, plan.findPortion(page, this.#from))
    if (rows.length > 0) {
      plan.learn(page, this.#from + rows.length)
      return this.#give(rows)
    }
    const cut = page[this.#from] as RawRow
    return andThen(readWhole(cut), (whole) => this.#handOutWhole(cut, whole))
  }

  /** Decodes the rows of a page up to `end`, or up to the first one that is cut. */
  #decode (page: readonly RawRow[], end: number): readonly Row[] {
    const { decoder } = this.#source
    const { mostBytes } = this.#reading
    const rows: Row[] = []
    for (const raw of page.slice(this.#from, end)) {
      if (mostBytes !== undefined && decoder.isCut(raw, mostBytes)) break
      rows.push(decoder.decode(raw))
    }
    return rows
  }

  #handOutWhole (cut: RawRow, whole: RawRow | undefined): MaybePromise<Result> {
    if (whole === undefined) {
      this.#pass(1)
      return this.next()
    }
    const { plan, decoder } = this.#source
    if (decoder.decodeVersion(cut) !== decoder.decodeVersion(whole)) {
      // The row has changed and may have another position, so the next read takes a single row, without cutting it.
      this.#next = 'single'
      this.#readOn()
      return this.next()
    }
    const result = this.#give([decoder.decode(whole)])
    if (plan.learnFromCut(whole)) this.#readOn()
    return result
  }

  #give (rows: readonly Row[]): Result {
    this.#last = positionOf(rows.at(-1) as Row, this.#query.order)
    this.#left -= rows.length
    this.#pass(rows.length)
    return { done: false, value: rows }
  }

  /** Skips rows of the page. After its last row, continues behind the page, or with the next range if this one ends. */
  #pass (count: number): void {
    this.#from += count
    if (this.#from < this.#page.length) return
    if (this.#page.length < this.#reading.limit) {
      this.#page = []
      this.#ranges.shift()
    } else this.#readOn()
  }

  /** Drops the page, so that the next read starts after the last row that was handed out. */
  #readOn (): void {
    this.#page = []
    if (this.#last !== undefined) this.#ranges = rangesAfter(this.#query.order, this.#last)
  }
}

/**
 * An asynchronous iterator of the batches of a reader. As with generators, concurrent calls wait for each other, and an
 * error ends the list. A generator itself would hold the last batch until the next one is requested.
 */
export class AsyncBatchReader implements AsyncIterator<readonly Row[]> {
  readonly #reader: BatchReader
  /** A promise that resolves when no call is in progress. */
  #idle: Promise<unknown> = Promise.resolve()

  constructor (reader: BatchReader) {
    this.#reader = reader
  }

  next (): Promise<IteratorResult<readonly Row[]>> {
    const result = this.#idle.then(() => this.#reader.next())
    this.#idle = result.then(() => {}, () => { this.#reader.return() })
    return result
  }

  return (): Promise<IteratorResult<readonly Row[]>> {
    return this.#idle.then(() => this.#reader.return())
  }
}
