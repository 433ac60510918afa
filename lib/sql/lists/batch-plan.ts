import { isStructure } from '../../core/util/own-property.js'
import { LARGEST_BATCH_SIZE, ROW_OVERHEAD, VALUE_OVERHEAD } from '../../core/stores/row-size.js'
import { bytesOf } from '../columns/codec.js'
import type { Columns } from '../columns/column.js'
import type { RawRow } from '../dialect.js'

/**
 * The most rows of a batch: a page of the default `maxLimit`, and the row that shows whether another page follows. A
 * second batch for that row would search it from the beginning.
 */
const MOST_ROWS = 1001

/** The smallest limit for the length of texts, in bytes. */
const SHORTEST_CUT = 256

/**
 * The largest limit for the length of texts, in bytes. A row with a longer text is always read alone, so that it does
 * not make other batches small.
 */
const LONGEST_CUT = LARGEST_BATCH_SIZE / 8

/**
 * The size of a portion of rows, in characters of JSON. Rows are decoded in portions, because the objects of a text
 * such as `[{},{},{}]` take some 30 times the memory of the text.
 */
const MOST_JSON = 32_768

/** The number of rows of a batch from which the plan learns. */
const SAMPLE = 20

/** The size of the next batch to read. */
export interface Reading {
  readonly limit: number
  /** The length in bytes at which the database cuts texts, or `undefined` if no text can be long or one row is read. */
  readonly mostBytes: number | undefined
}

/**
 * Plans the batches of a table, so that none of several rows is larger than `LARGEST_BATCH_SIZE`. The sizes of rows are
 * unknown before they arrive, so each text has a share of the batch. The database cuts a longer text, and its row is
 * then read alone. The plan learns the share from the rows that lists have read.
 */
export class BatchPlan {
  /** The columns whose values may have any length. */
  readonly #columns: readonly string[]
  readonly #json: readonly string[]
  readonly #overhead: number
  /** The approximate length of the longest text that was read recently, in bytes. */
  #longest = 0

  constructor ({ byAttribute }: Columns) {
    const columns = [...byAttribute.values()].filter(({ isLong }) => isLong)
    this.#columns = columns.map(({ name }) => name)
    this.#json = columns.filter(({ kind }) => kind === 'json').map(({ name }) => name)
    this.#overhead = ROW_OVERHEAD + VALUE_OVERHEAD * byAttribute.size
  }

  /** Returns the size of the next batch, which has at most `mostRows` rows. */
  next (mostRows: number): Reading {
    const share = Math.min(LONGEST_CUT, Math.max(SHORTEST_CUT, this.#longest * 1.25))
    const fitting = Math.floor(LARGEST_BATCH_SIZE / (this.#overhead + this.#columns.length * share))
    const limit = Math.max(1, Math.min(fitting, mostRows, MOST_ROWS))
    if (limit === 1 || this.#columns.length === 0) return { limit, mostBytes: undefined }
    // If there are fewer rows, their texts may be longer. Powers of two keep the number of statements small.
    const mostBytes = 2 ** Math.floor(Math.log2((LARGEST_BATCH_SIZE / limit - this.#overhead) / this.#columns.length))
    return { limit, mostBytes: Math.min(LONGEST_CUT, mostBytes) }
  }

  /** Returns the index at which the rows end that may be decoded together with the one at `from`. */
  findPortion (rows: readonly RawRow[], from: number): number {
    if (this.#json.length === 0) return rows.length
    let end = from
    for (let json = 0; end < rows.length && json <= MOST_JSON; end++) {
      json += sizeOfTexts(rows[end] as RawRow, this.#json)
    }
    return end
  }

  /** Learns the length of texts from the last rows before `end`, which were read together. */
  learn (rows: readonly RawRow[], end: number): void {
    let longest: unknown
    let most = 0
    for (let index = Math.max(0, end - SAMPLE); index < end; index++) {
      const row = rows[index] as RawRow
      for (const name of this.#columns) {
        const length = lengthOf(row[name])
        if (length <= most) continue
        most = length
        longest = row[name]
      }
    }
    // Counting the bytes of each text would take longer than decoding the rows.
    this.#longest = Math.max(this.#longest * 0.75, sizeOf(longest))
  }

  /** Learns from the whole of a row that was cut. Returns whether further rows like it can be read together. */
  learnFromCut (row: RawRow): boolean {
    const longest = this.#longestOf(row)
    if (longest > LONGEST_CUT) return false
    this.#longest = Math.max(this.#longest, longest)
    return true
  }

  #longestOf (row: RawRow): number {
    return Math.max(0, ...this.#columns.map((name) => sizeOf(row[name])))
  }
}

function sizeOfTexts (row: RawRow, columns: readonly string[]): number {
  return columns.reduce((size, name) => size + String(row[name]).length, 0)
}

/** Returns the length of a text in characters, or that of bytes. */
function lengthOf (raw: unknown): number {
  return typeof raw === 'string' ? raw.length : sizeOf(raw)
}

/** Returns the size of a text or of bytes. */
function sizeOf (raw: unknown): number {
  if (typeof raw === 'string') return Buffer.byteLength(raw)
  return isStructure(raw) ? bytesOf(raw).length : 0
}
