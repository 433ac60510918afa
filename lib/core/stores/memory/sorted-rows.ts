import type { Row } from '../../resource/row.js'
import type { Scalar } from '../../schema/types.js'
import { compileMember } from '../../util/own-property.js'
import { compareScalars, findFirst, positionOf } from '../order.js'
import type { Order, OrderBy, Position } from '../store.js'

/** The most rows of a block. */
const BLOCK = 512

/** Compares a row with a position: a negative number means that the row comes before it. */
type CompareRow = (row: Row, position: Position) => number

/**
 * The rows of a table in an order. To find a row takes logarithmic time. To add or remove one also moves the references
 * of its block, and rarely those of the blocks.
 */
export class SortedRows {
  readonly #order: Order
  readonly #compare: CompareRow
  readonly #blocks: Row[][] = []

  constructor (order: Order, rows: Iterable<Row>) {
    this.#order = order
    this.#compare = compileCompare(order)
    const sorted = sortRows([...rows], order)
    for (let start = 0; start < sorted.length; start += BLOCK / 2) {
      this.#blocks.push(sorted.slice(start, start + BLOCK / 2))
    }
  }

  add (row: Row): void {
    const [number, index] = this.#find(positionOf(row, this.#order), 0)
    const block = this.#blocks[number]
    if (block === undefined) {
      this.#blocks.push([row])
      return
    }
    block.splice(index, 0, row)
    if (block.length > BLOCK) this.#blocks.splice(number + 1, 0, block.splice(BLOCK / 2))
  }

  remove (row: Row): void {
    const [number, index] = this.#find(positionOf(row, this.#order), 0)
    const block = this.#blocks[number] as Row[]
    block.splice(index, 1)
    if (block.length === 0) this.#blocks.splice(number, 1)
  }

  /** Yields the rows after a position, or all rows. No row may be added or removed before the last one is taken. */
  * forwards (after: Position | undefined): Generator<Row> {
    let [number, index] = after === undefined ? [0, 0] : this.#find(after, 1)
    for (; number < this.#blocks.length; number++, index = 0) {
      const block = this.#blocks[number] as Row[]
      for (; index < block.length; index++) yield block[index] as Row
    }
  }

  /** Yields the rows before a position, or all rows, from the last to the first. */
  * backwards (before: Position | undefined): Generator<Row> {
    let [number, end] = before === undefined ? [this.#blocks.length, 0] : this.#find(before, 0)
    for (; number >= 0; number--, end = Infinity) {
      const block = this.#blocks[number] ?? []
      for (let index = Math.min(end, block.length) - 1; index >= 0; index--) yield block[index] as Row
    }
  }

  /**
   * Returns the block and the index of the first row that comes at a position or later (`beyond` is 0), or later (1).
   * If there is none, returns the end of the last block.
   */
  #find (position: Position, beyond: 0 | 1): [number: number, index: number] {
    const isReached = (row: Row): boolean => this.#compare(row, position) >= beyond
    const number = findFirst(this.#blocks, (block) => isReached(block.at(-1) as Row))
    const found = Math.min(number, Math.max(this.#blocks.length - 1, 0))
    return [found, findFirst(this.#blocks[found] ?? [], isReached)]
  }
}

/** Compares two items by their indices. */
type CompareItems = (one: number, other: number) => number

/** Sorts indices instead of rows, by values that are read once. That is two to three times as fast if they differ. */
function sortRows (rows: readonly Row[], order: Order): Row[] {
  const columns = order.map((criterion) => compileColumn(rows.map(compileRead(criterion)), criterion))
  const compare = columns.reduceRight<CompareItems>(
    (next, column) => (one, other) => column(one, other) || next(one, other),
    () => 0
  )
  return Array.from(Uint32Array.from(rows.keys()).sort(compare), (index) => rows[index] as Row)
}

function compileColumn (values: readonly Scalar[], { type, descending }: OrderBy): CompareItems {
  const sign = descending ? -1 : 1
  if (values.every((value) => typeof value === 'number')) {
    const numbers = Float64Array.from(values)
    return (one, other) => sign * ((numbers[one] as number) - (numbers[other] as number))
  }
  // Without surrogates, `<` compares texts by their code points.
  if (type !== 'decimal' && values.every((value) => typeof value === 'string' && !/[\ud800-\udfff]/.test(value))) {
    const texts = values as readonly string[]
    return (one, other) => {
      const text = texts[one] as string
      const otherText = texts[other] as string
      return text === otherText ? 0 : text < otherText ? -sign : sign
    }
  }
  return (one, other) => sign * compareScalars(values[one] as Scalar, values[other] as Scalar, type)
}

function compileRead ({ by }: OrderBy): (row: Row) => Scalar {
  if (by === 'id') return ({ id }) => id
  const read = compileMember(by)
  return ({ attributes }) => (read(attributes) ?? null) as Scalar
}

function compileCompare (order: Order): CompareRow {
  const reads = order.map(compileRead)
  return (row, position) => {
    for (let index = 0; index < order.length; index++) {
      const { type, descending } = order[index] as OrderBy
      const compared = compareScalars(reads[index]?.(row) as Scalar, position[index] as Scalar, type)
      if (compared !== 0) return descending ? -compared : compared
    }
    return 0
  }
}
