import type { Row } from '../../core/resource/row.js'
import { type MaybePromise, andThen } from '../../core/util/maybe-promise.js'
import { reverse } from '../../core/stores/order.js'
import type { Context, Position, Query } from '../../core/stores/store.js'
import type { BatchPlan, Reading } from './batch-plan.js'
import type { RawRow } from '../dialect.js'
import { type Range, rangesAfter, rangesOf } from './keyset.js'
import type { Place } from './position-check.js'
import type { RowDecoder } from '../columns/row-decoder.js'
import type { Block, BlockQuery } from './sorted-blocks.js'

/**
 * The most rows of the first batch of a list without a limit, which is small because a client waits for it. A page is
 * sent when all its rows are read, and a second batch would search them again.
 */
const FIRST_BATCH = 100

/** The size of a batch of one row whose texts are not cut. */
const SINGLE: Reading = { limit: 1, mostBytes: undefined }

type Result = IteratorResult<readonly Row[], undefined>

/** The source of the rows of a reader. */
export interface BatchSource {
  readonly plan: BatchPlan
  readonly decoder: RowDecoder
  /** Whether the first batch has one row, because it may take long to find more. */
  readonly isSparse: boolean
  /** Whether each batch takes as long as the whole list, so that there should be few. */
  readonly isNumbered: boolean
  /** The criteria whose values are never null. */
  readonly neverNull: ReadonlySet<string>
  /** Whether a list that begins with its first row reads its nulls first, because an index would not serve both. */
  readonly splitsNulls: boolean
  /** The row after which the list begins, or `undefined` if it begins with its first row. */
  readonly after: Place | undefined
  /** Returns the position of a row in the order of the query. */
  positionOf (row: Row): Position
  /** Throws if the list is too long to be read without an index. */
  checkLength (): MaybePromise<void>
  /** Throws if the table holds another text than a place after which rows are read. */
  verify (place: Place): MaybePromise<void>
  /** Throws if one of the rows that were read after a place is the row at the place. */
  checkRows (rows: readonly Row[], place: Place): void
  /** Reads the first rows of a range. */
  read (range: Range, reading: Reading): MaybePromise<readonly RawRow[]>
  /** Finds the blocks of a list after a position. Returns none if an index sorts the list. */
  findBlocks (list: Omit<BlockQuery, 'query' | 'predicates'>): MaybePromise<readonly Block[]>
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
  /** The blocks that remain to be read, beginning with the current one. */
  #blocks: readonly Block[] = []
  #hasSoughtBlocks = false
  #left: number
  /** The page that was read last. Its rows from `#from` on have not been handed out yet. */
  #page: readonly RawRow[] = []
  #from = 0
  #reading: Reading = SINGLE
  /** The last row that was handed out. */
  #last: Place | undefined
  /** The row after which the ranges begin. */
  #after: Place | undefined
  #isVerified = false
  /** The most rows of the next batch. */
  #most: number
  #isNextSingle = false
  #hasBegun = false
  #isChecked = false

  constructor (query: Query, context: Context, source: BatchSource) {
    this.#query = query
    this.#context = context
    this.#source = source
    this.#after = source.after
    const isWhole = query.after === undefined && !source.splitsNulls
    const whole: Range = { conditions: [], order: query.order }
    this.#ranges = isWhole ? [whole] : rangesOf(query, query.after, source.neverNull)
    this.#left = query.limit ?? Infinity
    this.#most = query.limit !== undefined || source.isNumbered ? Infinity : source.isSparse ? 1 : FIRST_BATCH
  }

  next (): MaybePromise<Result> {
    const [range] = this.#ranges
    if (range === undefined || this.#left <= 0) return this.return()
    // The first call needs no check, because no client can leave before the first batch of a synchronous store.
    if (this.#hasBegun) this.#context.signal.throwIfAborted()
    this.#hasBegun = true
    return this.#from < this.#page.length ? this.#handOut() : this.#findBlocks() ?? this.#read(range)
  }

  return (): Result {
    this.#ranges = []
    this.#blocks = []
    this.#page = []
    return { done: true, value: undefined }
  }

  /** Finds the blocks of a sorted list that needs several further batches. Returns `undefined` for other lists. */
  #findBlocks (): MaybePromise<Result> | undefined {
    const after = this.#last
    if (after === undefined || after.position.length === 1 || this.#hasSoughtBlocks) return undefined
    const left = this.#left
    const reading = this.#source.plan.next(left)
    if (left <= reading.limit) return undefined
    this.#hasSoughtBlocks = true
    return andThen(this.#source.findBlocks({ after: after.position, reading, left }), (blocks) => {
      this.#blocks = blocks
      this.#ranges = this.#rangesAfter(after)
      return this.next()
    })
  }

  #read (range: Range): MaybePromise<Result> {
    return andThen(this.#verify(), () => this.#readRange(range))
  }

  /** Checks the row after which the ranges begin, once. */
  #verify (): MaybePromise<void> {
    const after = this.#after
    if (after === undefined || this.#isVerified) return
    this.#isVerified = true
    return this.#source.verify(after)
  }

  #readRange (range: Range): MaybePromise<Result> {
    const { plan } = this.#source
    const reading = this.#isNextSingle ? SINGLE : plan.next(Math.min(this.#left, this.#most))
    this.#reading = reading
    return andThen(this.#source.read(range, reading), (page) => {
      this.#page = page
      this.#from = 0
      if (page.length === 0) {
        this.#endRange()
        return this.next()
      }
      // A range without rows leaves the next range to be read in the same way.
      this.#isNextSingle = false
      this.#most = this.#most < FIRST_BATCH ? FIRST_BATCH : Infinity
      const isAll = page.length < reading.limit && this.#ranges.length === 1
      if (this.#isChecked || isAll) return this.#handOut()
      this.#isChecked = true
      return andThen(this.#source.checkLength(), () => this.#handOut())
    })
  }

  #handOut (): MaybePromise<Result> {
    const { plan, decoder, readWhole } = this.#source
    const page = this.#page
    const rows = this.#decode(page, plan.findPortion(page, this.#from))
    if (rows.length > 0) {
      plan.learn(page, this.#from + rows.length)
      return this.#give(rows)
    }
    if (!decoder.identifiesCut) return this.#readSingle()
    const cut = page[this.#from] as RawRow
    return andThen(readWhole(cut), (whole) => this.#handOutWhole(cut, whole))
  }

  /** Decodes the rows of a page up to `end`, or up to the first one that is cut. */
  #decode (page: readonly RawRow[], end: number): readonly Row[] {
    const { decoder } = this.#source
    const { mostBytes } = this.#reading
    const rows: Row[] = []
    for (let index = this.#from; index < end; index++) {
      const raw = page[index] as RawRow
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
    if (decoder.decodeVersion(cut) !== decoder.decodeVersion(whole)) return this.#readSingle()
    const result = this.#give([decoder.decode(whole)])
    if (plan.learnFromCut(whole)) this.#readOn()
    return result
  }

  /**
   * Reads the row after the last one that was handed out, without cutting it. The row of the page may have changed, and
   * may have another position now.
   */
  #readSingle (): MaybePromise<Result> {
    this.#isNextSingle = true
    this.#readOn()
    return this.next()
  }

  #give (rows: readonly Row[]): Result {
    if (this.#after !== undefined) this.#source.checkRows(rows, this.#after)
    this.#left -= rows.length
    // The next call ends a list that has all its rows.
    if (this.#left > 0) {
      const last = rows.at(-1) as Row
      this.#last = { id: last.id, position: this.#source.positionOf(last) }
      this.#pass(rows.length)
    }
    return { done: false, value: rows }
  }

  /** Skips rows of the page. After its last row, continues behind the page, or with the next range if this one ends. */
  #pass (count: number): void {
    this.#from += count
    if (this.#from < this.#page.length) return
    if (this.#page.length < this.#reading.limit) this.#endRange()
    else this.#readOn()
  }

  /** Continues with the next range. After the last range of a block, continues with the next block. */
  #endRange (): void {
    this.#page = []
    this.#ranges.shift()
    if (this.#blocks.length === 0) return
    this.#blocks = this.#blocks.slice(1)
    const [block] = this.#blocks
    if (block === undefined) return
    if (block.ids === undefined) {
      this.#blocks = []
      this.#hasSoughtBlocks = false
    }
    this.#ranges = this.#rangesAfter(this.#last as Place)
  }

  /** Drops the page, so that the next read starts after the last row that was handed out. */
  #readOn (): void {
    this.#page = []
    if (this.#last !== undefined) this.#ranges = this.#rangesAfter(this.#last)
  }

  /** Returns the ranges after a row, or the rest of the current block. */
  #rangesAfter (place: Place): Range[] {
    this.#after = place
    this.#isVerified = false
    const { order } = this.#query
    const { neverNull } = this.#source
    const [block, next] = this.#blocks
    const after = rangesOf(this.#query, place.position, neverNull)
    if (block === undefined) return after
    const within = next === undefined ? [after] : [after, rangesAfter(reverse(order), next.first, neverNull)]
    return [{ conditions: [], order, block: { ids: block.ids, within } }]
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
