import type { Scope } from '../../core/resource/row.js'
import { BY_ID } from '../../core/stores/order.js'
import type { CountQuery, Order, OrderBy } from '../../core/stores/store.js'
import type { SqlColumn, Dialect, Estimate } from '../dialect.js'
import { type Conditions, conditionsOf, keyOf, whereOf } from '../conditions.js'
import type { Predicate } from '../predicates.js'
import { type BoundStatement, rowOf, StatementCache } from '../statements.js'
import type { TableDefinition } from '../tables/definition.js'
import type { Comparison, Range } from './keyset.js'

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
    const found = this.#cache.find(key)
    if (found !== undefined) return { statement: found, values }
    const selected = what === 'rows' ? this.#row : this.#size
    const text = this.#writeRange({ conditions, order }, predicates, isSkipping, selected)
    const isSelective = areSelective(predicates)
    // Every list without a filter and an order uses this statement.
    const isKept = predicates.length === 0 && !isSkipping && this.#isById(order, bounds)
    return { statement: this.#cache.add(key, text, { isSelective, isKept }), values }
  }

  #writeRange (
    { conditions, order }: Range,
    predicates: readonly Predicate[],
    isSkipping: boolean,
    selected: string
  ): string {
    const next = this.#conditions.placeholders(1)
    const where = whereOf(this.#conditions.write(conditions, next, predicates))
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
    const found = this.#cache.find(key)
    if (found !== undefined) return { statement: found, values }
    const next = this.#conditions.placeholders(1)
    const from = `FROM ${this.#definition.quoted}${whereOf(this.#conditions.write(conditions, next, predicates))}`
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
