import { InvalidQueryError } from '../core/errors.js'
import type { Row } from '../core/resource/row.js'
import type { Scalar } from '../core/schema/types.js'
import { positionOf } from '../core/stores/order.js'
import {
  type Context, type Count, type CountQuery, LARGEST_BATCH_SIZE, type Order, type Position, type Query
} from '../core/stores/store.js'
import { decodeInteger } from './columns/kinds.js'
import type { Dialect, RawRow } from './dialect.js'
import { expandQuery } from './keys/id-columns.js'
import { type Comparison, type Range, rangesAfter, rangesOf } from './keyset.js'
import type { Conditions, Predicate } from './predicates.js'
import { type BoundStatement, COUNT, makeDecoder, type Portion, SIZE, type Statements } from './statements.js'
import type { TableDefinition } from './tables/definition.js'

/**
 * The most rows of a batch: a page of the default `maxLimit`, and the row that shows whether another page follows. The
 * batch of a list without a limit is smaller at first, because a client waits for it.
 */
const MOST_ROWS = 1001
const FIRST_BATCH = 100

/** The most rows of a list that are sorted again for each batch. */
const MOST_SORTED = 50_000

/** The number of rows for which a plan is asked. For many more, a database would sort in spite of an index. */
const FEW = 100

/** A query whose order and position name columns, with its predicates. */
interface ColumnQuery<Q> {
  readonly query: Q
  readonly predicates: readonly Predicate[]
}

/** Reads and counts the rows of a table that a query selects. */
export class Lists {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #conditions: Conditions
  readonly #run: (bound: BoundStatement, context: Context) => Promise<readonly RawRow[]>
  readonly #statements: Statements
  readonly #decode: (raw: RawRow) => Row

  /** @param run runs a statement that reads */
  constructor (
    definition: TableDefinition,
    dialect: Dialect,
    statements: Statements,
    run: (bound: BoundStatement, context: Context) => Promise<readonly RawRow[]>
  ) {
    this.#definition = definition
    this.#dialect = dialect
    this.#conditions = statements.conditions
    this.#run = run
    this.#statements = statements
    this.#decode = makeDecoder(definition)
  }

  /**
   * Reads a list batch by batch. Between two batches it holds no connection or cursor of the database.
   * @throws InvalidQueryError if the list is too long to be read without an index, or begins after one of several rows
   * with the same key
   */
  async * read (given: Query, context: Context): AsyncGenerator<readonly Row[], void> {
    const selection = this.#select(given)
    if (selection === undefined) return
    const { query, predicates } = selection
    const { order, scope, limit: wanted, offset = 0 } = query
    const { isKeyUnique } = this.#definition
    const { neverNull } = this.#conditions
    let { after } = query
    if (!isKeyUnique && after !== undefined) await this.#checkAlone(order, after, context)
    // It may take long to find more than one row. A sort finds all rows before the first one.
    const isSparse = predicates.length > 0 && given.order.length === 1 && isKeyUnique
    let ranges = this.#beginningOf(query)
    let left = wanted ?? Infinity
    let skipped = offset
    let most = wanted !== undefined ? MOST_ROWS : isSparse ? 1 : FIRST_BATCH
    let isChecked = wanted !== undefined && wanted <= MOST_SORTED
    for (let [range] = ranges; range !== undefined && left > 0; [range] = ranges) {
      const limit = await this.#fit(selection, range, { limit: Math.min(left, most), offset: skipped }, context)
      const bound = this.#statements.selectRange(range, scope, predicates, { limit, offset: skipped })
      const rows = (await this.#run(bound, context)).map(this.#decode)
      const last = rows.at(-1)
      // Such a list would have no end.
      if (isKeyUnique && rows.some((row) => isAt(positionOf(row, order), after))) throw this.#refuseText()
      left -= rows.length
      const isEnd = rows.length < limit
      if (isEnd) ranges = ranges.slice(1)
      else if (isKeyUnique) ranges = rangesOf(query, after = positionOf(last as Row, order), neverNull)
      skipped = isEnd || isKeyUnique ? 0 : skipped + rows.length
      if (last === undefined) continue
      most = MOST_ROWS
      if (!isChecked && !isEnd) {
        await this.#checkLength(selection, ranges, context)
        isChecked = true
      }
      yield rows
      context.signal.throwIfAborted()
    }
  }

  /** Counts rows. After a position, it adds up the ranges there. */
  async count (given: CountQuery, context: Context): Promise<Count> {
    const selection = this.#select(given)
    if (selection === undefined) return { rows: 0, isEstimate: false }
    const { query: { scope, order, after, most, estimate: isEnough }, predicates } = selection
    // The statistics of the database know the rows outside the scope, so that an estimate would tell about them.
    const mayEstimate = isEnough && after === undefined && Object.keys(scope).length === 0
    const estimate = mayEstimate ? this.#statements.estimate(predicates) : undefined
    if (estimate !== undefined) {
      return { rows: estimate.read(await this.#run(estimate.bound, context)), isEstimate: true }
    }
    const { neverNull } = this.#conditions
    const ranges = after === undefined ? [[]] : rangesAfter(order, after, neverNull).map(({ conditions }) => conditions)
    let rows = 0
    for (const bounds of ranges) {
      const left = most === undefined ? undefined : most - rows
      if (left === 0) break
      rows += await this.#countRange(bounds, { scope, most: left }, predicates, context)
    }
    return { rows, isEstimate: false }
  }

  /** Returns what a query selects, or `undefined` if that is no row. */
  #select<Q extends CountQuery | Query> (given: Q): ColumnQuery<Q> | undefined {
    const query = expandQuery(this.#definition.ids, given)
    if (query === undefined || !this.#conditions.canFit(query.scope)) return undefined
    const predicates = this.#conditions.makePredicates(query.filter, query.search)
    return predicates && { query, predicates }
  }

  /** Returns the ranges with which a list begins. Nulls have one of their own if an index would not serve both. */
  #beginningOf (query: Query): readonly Range[] {
    const { order, after, offset } = query
    const isWhole = after === undefined &&
      (this.#dialect.nullsFirst || offset !== undefined || !this.#definition.isKeyUnique)
    return isWhole ? [{ conditions: [], order }] : rangesOf(query, after, this.#conditions.neverNull)
  }

  /** Returns how many of the first rows of a range may be held together. Returns `limit` if all of them may. */
  async #fit (
    { query: { scope }, predicates }: ColumnQuery<Query>,
    range: Range,
    { limit, offset }: Portion,
    context: Context
  ): Promise<number> {
    // A view should be evaluated once for a page or a short list.
    const isWhole = limit === 1 || (!this.#definition.isKeyUnique && limit <= FIRST_BATCH)
    if (!this.#statements.hasSizes || isWhole) return limit
    const bound = this.#statements.selectRange(range, scope, predicates, { limit, offset, what: 'sizes' })
    let size = 0
    const index = (await this.#run(bound, context))
      .findIndex((raw) => (size += Number(raw[SIZE])) > LARGEST_BATCH_SIZE)
    return index < 0 ? limit : Math.max(1, index)
  }

  /** Throws `InvalidQueryError` if each further batch would sort very many rows again. */
  async #checkLength (selection: ColumnQuery<Query>, ranges: readonly Range[], context: Context): Promise<void> {
    const { query: { order, scope }, predicates } = selection
    const range = ranges.find((range) => range.order.length === order.length)
    if (range === undefined || !await this.#sorts(selection, range, context)) return
    if (await this.#countRange([], { scope, most: MOST_SORTED + 1 }, predicates, context) <= MOST_SORTED) return
    throw new InvalidQueryError(
      `this list has more than ${MOST_SORTED} rows, and no index has them in its order; read it by pages, with "limit"`
    )
  }

  /** Returns whether the database finds and sorts all rows of a range for each batch. */
  async #sorts ({ query, predicates }: ColumnQuery<Query>, range: Range, context: Context): Promise<boolean> {
    if (predicates.some(({ isWhole }) => isWhole)) return true
    // An id that the database or the store makes has an index.
    if (this.#definition.ids.isGenerated && query.order.length === 1) return false
    const { sorting } = this.#dialect
    const portion = { limit: FEW, offset: 0 }
    const { statement, values } = this.#statements.selectRange(range, query.scope, predicates, portion)
    const text = sorting.explain(statement.text)
    try {
      return sorting.sorts(await this.#run({ statement: { ...statement, text, kept: false }, values }, context))
    } catch (error) {
      // Some engines cannot explain a statement. A transaction cannot go on after it.
      if (context.openTransaction !== undefined) throw error
      return false
    }
  }

  /** Throws `InvalidQueryError` if several rows have the position after which a page begins. */
  async #checkAlone (order: Order, after: Position, context: Context): Promise<void> {
    const equal = order.map(({ by }, index): Comparison => ({ by, is: '=', value: after[index] as Scalar }))
    if (await this.#countRange(equal, { scope: {}, most: 2 }, [], context) <= 1) return
    throw new InvalidQueryError(
      'several rows have the key after which this page begins; read the list by "limit" and "offset"'
    )
  }

  async #countRange (
    bounds: readonly Comparison[],
    query: Pick<CountQuery, 'scope' | 'most'>,
    predicates: readonly Predicate[],
    context: Context
  ): Promise<number> {
    const [found] = await this.#run(this.#statements.count(bounds, query, predicates), context)
    return decodeInteger(found?.[COUNT])
  }

  #refuseText (): Error {
    return new Error(
      `resources: a list of the table ${this.#definition.quoted} cannot continue after a row, because the driver ` +
      'does not return a text of the row as the table holds it; docs/existing-tables.md says how to repair it, in ' +
      'the section "Texts that a driver changes"')
  }
}

function isAt (position: Position, after: Position | undefined): boolean {
  return after !== undefined && position.every((value, index) => value === after[index])
}
