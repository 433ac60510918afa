import { LARGEST_BATCH_SIZE, ROW_OVERHEAD, VALUE_OVERHEAD } from '../row-size.js'
import { type Columns, isLongKind } from './column.js'
import type { RawRow } from './dialect.js'

const MOST_ROWS = 1000

/** In bytes. What the texts of a row may have at least before they are cut. */
const SHORTEST_CUT = 256

/** In bytes. A row with a longer text than this is always read alone, so that it does not make other batches small. */
const LONGEST_CUT = LARGEST_BATCH_SIZE / 8

/**
 * In characters of JSON. Rows are decoded in portions, because a short JSON text may make many objects: those of
 * `[{},{},{}]` take some thirty times as much memory as the text.
 */
const MOST_JSON = 32_768

/** So many of the rows of a batch show what rows are like. */
const SAMPLE = 20

/** How many rows are read at a time, and which of their texts come cut. */
export interface Reading {
  readonly limit: number
  /** Longer texts come cut; undefined: no row has texts, or it is a single row that is read. */
  readonly mostBytes: number | undefined
}

/**
 * Plans the batches of a table, so that none is larger than `LARGEST_BATCH_SIZE`. A database does not tell the sizes of
 * rows before it sends them. So no text in a batch may be longer than its share of the batch: a longer one is cut by the
 * database, and its row is read alone. Which share suits the table is learned from the rows that its lists have read.
 */
export class BatchPlan {
  /** The names of the columns whose values may be of any length. */
  readonly #columns: readonly string[]
  readonly #json: readonly string[]
  readonly #overhead: number
  /** In bytes: about the longest text that was read of late. */
  #longest = 0

  constructor ({ byAttribute }: Columns) {
    const columns = [...byAttribute.values()].filter(isLongKind)
    this.#columns = columns.map(({ name }) => name)
    this.#json = columns.filter(({ kind }) => kind === 'json').map(({ name }) => name)
    this.#overhead = ROW_OVERHEAD + VALUE_OVERHEAD * byAttribute.size
  }

  /** The next reading of at most so many rows. */
  next (mostRows: number): Reading {
    const share = Math.min(LONGEST_CUT, Math.max(SHORTEST_CUT, this.#longest * 1.25))
    const fitting = Math.floor(LARGEST_BATCH_SIZE / (this.#overhead + this.#columns.length * share))
    const limit = Math.max(1, Math.min(fitting, mostRows, MOST_ROWS))
    if (limit === 1 || this.#columns.length === 0) return { limit, mostBytes: undefined }
    // Where there are fewer rows, each may be larger. A power of two, so that there are few statements.
    const mostBytes = 2 ** Math.floor(Math.log2((LARGEST_BATCH_SIZE / limit - this.#overhead) / this.#columns.length))
    return { limit, mostBytes: Math.min(LONGEST_CUT, mostBytes) }
  }

  /** Where the rows end, of those from a place on, that may be decoded together. */
  findPortion (rows: readonly RawRow[], from: number): number {
    if (this.#json.length === 0) return rows.length
    let end = from
    for (let json = 0; end < rows.length && json <= MOST_JSON; end++) {
      json += sizeOfTexts(rows[end] as RawRow, this.#json)
    }
    return end
  }

  /** Learns from rows that were read together, of which the last ones are before a place. */
  learn (rows: readonly RawRow[], end: number): void {
    const sample = rows.slice(Math.max(0, end - SAMPLE), end)
    this.#longest = Math.max(this.#longest * 0.75, ...sample.map((row) => this.#longestOf(row)))
  }

  /** Learns from a row that had been cut. Whether further rows like it can be read together. */
  learnFromCut (row: RawRow): boolean {
    const longest = this.#longestOf(row)
    if (longest > LONGEST_CUT) return false
    this.#longest = Math.max(this.#longest, longest)
    return true
  }

  /** In bytes, which a text of non-ASCII characters has more of. */
  #longestOf (row: RawRow): number {
    return Math.max(0, ...this.#columns.map((name) => typeof row[name] === 'string' ? Buffer.byteLength(row[name]) : 0))
  }
}

function sizeOfTexts (row: RawRow, columns: readonly string[]): number {
  return columns.reduce((size, name) => size + String(row[name]).length, 0)
}
