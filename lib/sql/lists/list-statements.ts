import { BY_ID } from '../../core/stores/order.js'
import type { CountQuery, Order, OrderBy, Position, Query } from '../../core/stores/store.js'
import type { Dialect, Estimate } from '../dialect.js'
import { type Conditions, conditionsOf, keyOf, whereOf, withoutAnd } from '../conditions.js'
import type { NextPlaceholder, Predicate } from '../predicates.js'
import { type BoundStatement, rowOf, StatementCache } from '../statements.js'
import type { TableDefinition } from '../tables/definition.js'
import type { Reading } from './batch-plan.js'
import { type Comparison, type Range, rangesAfter } from './keyset.js'

/** The column of a count. */
export const COUNT = 'rows'

/** The length at which the texts of the first row of a block are cut, in bytes. */
export const LONGEST_BOUND = 256

/** The sizes of the blocks of a list. */
export interface BlockSizes {
  /** The number of ids in each block. */
  readonly size: number
  /** The most ids of all blocks. */
  readonly most: number
}

/** Makes the statements that list and count rows. */
export class ListStatements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #conditions: Conditions
  readonly #row: string
  readonly #cache = new StatementCache(false)

  constructor (definition: TableDefinition, dialect: Dialect, conditions: Conditions) {
    this.#definition = definition
    this.#dialect = dialect
    this.#conditions = conditions
    this.#row = rowOf(definition)
  }

  /** Makes the statement that selects the first rows of a range. */
  selectRange (
    { conditions: bounds, order, block }: Range,
    { scope, offset }: Pick<Query, 'scope' | 'offset'>,
    predicates: readonly Predicate[],
    { limit, mostBytes }: Reading
  ): BoundStatement {
    const conditions = conditionsOf(scope).concat(bounds)
    const values = this.#conditions.valuesOf(conditions, predicates)
    if (block !== undefined) values.push(block.ids, ...block.within.flatMap((ranges) => this.#valuesOf(ranges)))
    values.push(limit)
    const isSkipping = offset !== undefined
    if (isSkipping) values.push(offset)
    const keyOfBlock = block === undefined ? '' : `in ${block.within.map(keyOfRanges).join(' and ')}`
    const cut = `cut ${mostBytes}${isSkipping ? ' skip' : ''}`
    const key = `${keyOf(conditions, predicates)} by ${keyOfOrder(order)} ${cut} ${keyOfBlock}`
    const found = this.#cache.find(key)
    if (found !== undefined) return { statement: found, values }
    const text = this.#writeRange({ conditions, order, block }, predicates, { mostBytes, isSkipping })
    const isSelective = areSelective(predicates)
    // Every list without a filter and an order uses this statement.
    const isKept = predicates.length === 0 && !isSkipping && this.#isById(order, bounds)
    return { statement: this.#cache.add(key, text, { isSelective, isKept }), values }
  }

  #writeRange (
    { conditions, order, block }: Range,
    predicates: readonly Predicate[],
    { mostBytes, isSkipping }: Pick<Reading, 'mostBytes'> & { readonly isSkipping: boolean }
  ): string {
    const next = this.#conditions.placeholders(1)
    let where = this.#conditions.write(conditions, next, predicates)
    if (block !== undefined) {
      where += ` AND ${this.#dialect.blocks.contains(this.#conditions.columnOf('id').quoted, next())}`
      where += block.within.map((ranges) => this.#writeAny(ranges, next)).join('')
    }
    const row = mostBytes === undefined ? this.#row : this.#cutRow(mostBytes)
    const orderBy = order.map((criterion) => this.#orderBy(criterion, conditions)).join(', ')
    const limit = predicates.length === 0 ? this.#dialect.fixedLimit(next()) : next()
    const offset = isSkipping ? ` OFFSET ${next()}` : ''
    const from = `${this.#definition.source}${whereOf(where)}`
    return `SELECT ${row} FROM ${from} ORDER BY ${orderBy} LIMIT ${limit}${offset}`
  }

  /**
   * Makes the statement that sorts the rows after a position, and selects their ids in blocks. A row of its result
   * contains the ids of a block and, as `c0`, `c1`…, the position of its first row.
   */
  selectBlocks (
    { order, scope }: Pick<Query, 'order' | 'scope'>,
    after: Position,
    predicates: readonly Predicate[],
    { size, most }: BlockSizes
  ): BoundStatement {
    const conditions = conditionsOf(scope)
    const ranges = rangesAfter(order, after, this.#conditions.neverNull)
    const key = `blocks ${size} ${keyOf(conditions, predicates)} by ${keyOfOrder(order)} after ${keyOfRanges(ranges)}`
    const values = [...this.#conditions.valuesOf(conditions, predicates), ...this.#valuesOf(ranges), most]
    const found = this.#cache.find(key)
    if (found !== undefined) return { statement: found, values }
    const { blocks: { collect, pick } } = this.#dialect
    const next = this.#conditions.placeholders(1)
    const where = whereOf(this.#conditions.write(conditions, next, predicates) + this.#writeAny(ranges, next))
    const columns = order.map(({ by }, index) => `${this.#conditions.columnOf(by).quoted} AS c${index}`).join(', ')
    const orderBy = order.map((criterion) => this.#orderBy(criterion, [])).join(', ')
    const numbered = `SELECT ${columns}, row_number() OVER (ORDER BY ${orderBy}) - 1 AS n ` +
      `FROM ${this.#definition.source}${where}`
    // CockroachDB divides integers with a fraction, so the number of a block is that of its first row.
    const first = order.map((_, index) => `${pick(`c${index}`, `n % ${size} = 0`)} AS c${index}`).join(', ')
    const grouped = `SELECT n - n % ${size} AS n, ${collect(`c${order.length - 1}`)} AS ids, ${first} ` +
      `FROM (${numbered}) AS numbered WHERE n < ${next()} GROUP BY n - n % ${size}`
    const text = `SELECT ids, ${this.#cutBounds(order)} FROM (${grouped}) AS grouped ORDER BY n`
    return { statement: this.#cache.add(key, text, { isSelective: areSelective(predicates) }), values }
  }

  /** Makes the statement that counts the rows that meet conditions. It ends at `most` rows. */
  count (
    bounds: readonly Comparison[],
    { scope, most }: Pick<CountQuery, 'scope' | 'most'>,
    predicates: readonly Predicate[]
  ): BoundStatement {
    const conditions = [...conditionsOf(scope), ...bounds]
    const values = this.#conditions.valuesOf(conditions, predicates)
    if (most !== undefined) values.push(most)
    const key = `count ${keyOf(conditions, predicates)} ${most === undefined ? '' : 'most'}`
    const found = this.#cache.find(key)
    if (found !== undefined) return { statement: found, values }
    const next = this.#conditions.placeholders(1)
    const from = `FROM ${this.#definition.source}${whereOf(this.#conditions.write(conditions, next, predicates))}`
    const text = most === undefined
      ? `SELECT count(*) AS ${COUNT} ${from}`
      : `SELECT count(*) AS ${COUNT} FROM (SELECT 1 AS one ${from} LIMIT ${next()}) AS counted`
    return { statement: this.#cache.add(key, text, { isSelective: areSelective(predicates) }), values }
  }

  /** Makes the statement that estimates their number, or returns `undefined` if the database estimates none. */
  estimate (
    predicates: readonly Predicate[]
  ): { readonly bound: BoundStatement, readonly read: Estimate['read'] } | undefined {
    const { estimate } = this.#dialect
    if (estimate === undefined) return undefined
    const { statement, values } = this.count([], { scope: {}, most: undefined }, predicates)
    const text = estimate.explain(statement.text.replace(`count(*) AS ${COUNT}`, '1'))
    return { bound: { statement: { ...statement, text, kept: false }, values }, read: estimate.read }
  }

  #cutRow (mostBytes: number): string {
    return rowOf(this.#definition, (column) =>
      column.isLong ? this.#dialect.selectCut(column, mostBytes) : column.quoted)
  }

  #cutBounds (order: Order): string {
    return order.map(({ by }, index) => {
      const column = this.#conditions.columnOf(by)
      const quoted = `c${index}`
      return column.isLong ? this.#dialect.selectCut({ ...column, quoted }, LONGEST_BOUND) : quoted
    }).join(', ')
  }

  #valuesOf (ranges: readonly Range[]): unknown[] {
    return ranges.flatMap(({ conditions }) => this.#conditions.valuesOf(conditions))
  }

  /** Returns whether rows are in the order of their ids, behind parts of an id that are the same in all rows. */
  #isById (order: Order, bounds: readonly Comparison[]): boolean {
    const { parts } = this.#definition.ids
    const rest = parts.slice(-order.length)
    return order.every(({ by, descending }, index) =>
      by === rest[index]?.by && descending === order[0]?.descending) &&
      bounds.every((bound) => parts.some(({ by }) => by === bound.by))
  }

  /** Writes that a row is in one of the ranges. */
  #writeAny (ranges: readonly Range[], next: NextPlaceholder): string {
    const any = ranges.map(({ conditions }) => withoutAnd(this.#conditions.write(conditions, next)))
    return ` AND (${any.join(' OR ')})`
  }

  /**
   * Returns a criterion of ORDER BY. It names the place of nulls only if the range may contain nulls and other values.
   */
  #orderBy ({ by, descending }: OrderBy, conditions: readonly Comparison[]): string {
    const { quote, nullsFirst, sortable } = this.#dialect
    const column = this.#conditions.columnOf(by)
    // A name without its table would mean a column of the result.
    const quoted = `${quote(this.#definition.table)}.${column.quoted}`
    const direction = `${sortable({ ...column, quoted })}${descending ? ' DESC' : ''}`
    const { neverNull } = this.#conditions
    if (nullsFirst || neverNull.has(by) || conditions.some((condition) => condition.by === by)) return direction
    return `${direction} NULLS ${descending ? 'LAST' : 'FIRST'}`
  }
}

function areSelective (predicates: readonly Predicate[]): boolean {
  return predicates.some(({ isSelective }) => isSelective)
}

function keyOfOrder (order: Order): string {
  if (order === BY_ID) return 'id'
  return order.map(({ by, descending }) => (descending ? `-${by}` : by)).join()
}

function keyOfRanges (ranges: readonly Range[]): string {
  return ranges.map(({ conditions }) => keyOf(conditions)).join(' or ')
}
