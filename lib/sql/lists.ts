import { InvalidQueryError } from '../core/errors.js'
import type { Row, Scope } from '../core/resource/row.js'
import { BY_ID, positionOf } from '../core/stores/order.js'
import type { Context, CountQuery, Order, OrderBy, Position, Query } from '../core/stores/store.js'
import type { Dialect, Estimate, SqlColumn } from './dialect.js'
import { type Comparison, type Range, rangesOf } from './keyset.js'
import { type Conditions, conditionsOf, keyOf, type Predicate } from './predicates.js'
import { type BoundStatement, rowOf, StatementCache } from './statements.js'
import type { TableDefinition } from './tables/definition.js'

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

/** The column of a count. */
export const COUNT = 'rows'

/** The column of the size of a row. */
export const SIZE = 'size'

interface Portion {
  readonly limit: number
  readonly offset: number
  /** What the statement selects. @default 'rows' */
  readonly what?: 'rows' | 'sizes'
}

/** Makes the statements that list and count rows. */
export class ListStatements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #conditions: Conditions
  readonly #row: string
  readonly #size: string
  readonly #cache = new StatementCache(false)

  constructor (definition: TableDefinition, dialect: Dialect, conditions: Conditions) {
    this.#definition = definition
    this.#dialect = dialect
    this.#conditions = conditions
    this.#row = rowOf(definition)
    const sizes = findLong(definition).map((column) => dialect.sizeOf(column))
    this.#size = `${sizes.join(' + ')} AS ${SIZE}`
  }

  /**
   * Makes the statement that selects the first rows of a range, behind those that `offset` skips, or only their sizes.
   */
  selectRange (
    { conditions: bounds, order }: Range,
    scope: Scope,
    predicates: readonly Predicate[],
    { limit, offset, what = 'rows' }: Portion
  ): BoundStatement {
    const conditions = conditionsOf(scope).concat(bounds)
    const values = [...this.#conditions.valuesOf(conditions, predicates), limit]
    const isSkipping = offset > 0
    if (isSkipping) values.push(offset)
    const key = `${keyOf(conditions, predicates)} by ${keyOfOrder(order)}${isSkipping ? ' skip' : ''}${what}`
    const statement = this.#cache.get(key, () => ({
      text: this.#writeRange({ conditions, order }, predicates, isSkipping, what === 'rows' ? this.#row : this.#size),
      isSelective: areSelective(predicates),
      // Every list without a filter and an order uses this statement.
      isKept: predicates.length === 0 && !isSkipping && this.#isById(order, bounds)
    }))
    return { statement, values }
  }

  #writeRange (
    { conditions, order }: Range,
    predicates: readonly Predicate[],
    isSkipping: boolean,
    selected: string
  ): string {
    const next = this.#conditions.placeholders(1)
    const where = this.#conditions.where(conditions, next, predicates)
    const orderBy = order.map((criterion) => this.#orderBy(criterion, conditions)).join(', ')
    const limit = predicates.length === 0 ? this.#dialect.fixedLimit(next()) : next()
    const offset = isSkipping ? ` OFFSET ${next()}` : ''
    return `SELECT ${selected} FROM ${this.#definition.quoted}${where} ORDER BY ${orderBy} LIMIT ${limit}${offset}`
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
    const statement = this.#cache.get(key, () => {
      const next = this.#conditions.placeholders(1)
      const from = `FROM ${this.#definition.quoted}${this.#conditions.where(conditions, next, predicates)}`
      const counted = most === undefined ? from : `FROM (SELECT 1 AS one ${from} LIMIT ${next()}) AS counted`
      return { text: `SELECT count(*) AS ${COUNT} ${counted}`, isSelective: areSelective(predicates) }
    })
    return { statement, values }
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

  /** Returns whether rows are in the order of their ids, behind parts of an id that are the same in all rows. */
  #isById (order: Order, bounds: readonly Comparison[]): boolean {
    const { parts } = this.#definition.ids
    const rest = parts.slice(-order.length)
    return order.every(({ by, descending }, index) =>
      by === rest[index]?.by && descending === order[0]?.descending) &&
      bounds.every((bound) => parts.some(({ by }) => by === bound.by))
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

const LONG: ReadonlySet<unknown> = new Set(['string', 'json', 'bytes'])

/** Returns the columns whose values may have any length. */
export function findLong ({ columns }: TableDefinition): readonly SqlColumn[] {
  return [...columns.byAttribute.values()].filter(({ kind }) => LONG.has(kind))
}
