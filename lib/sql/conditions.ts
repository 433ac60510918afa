import type { Id, Scope } from '../core/resource/row.js'
import type { Scalar } from '../core/schema/types.js'
import type { Filter, Search } from '../core/stores/store.js'
import type { SqlColumn, ComparedColumn, Dialect } from './dialect.js'
import { findNeverNull, type IdPart } from './keys/id-columns.js'
import type { Comparison } from './lists/keyset.js'
import { makePredicates, type NextPlaceholder, type Predicate, writeComparison } from './predicates.js'
import type { TableDefinition } from './tables/definition.js'

const NONE: readonly Predicate[] = []
const AND = ' AND '

/** Makes the conditions of statements on a table. */
export class Conditions {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  /** The column of an id that is no attribute. */
  readonly #id: IdPart | undefined
  /** The criteria whose values are never null. */
  readonly neverNull: ReadonlySet<string>

  constructor (definition: TableDefinition, dialect: Dialect) {
    const { ids } = definition
    this.#definition = definition
    this.#dialect = dialect
    this.#id = ids.own
    this.neverNull = new Set([...findNeverNull(ids), ...definition.notNull])
  }

  /** Returns whether rows can have these values. For example, a column of integers never contains `'1'`. */
  canFit (scope: Scope): boolean {
    for (const by in scope) if (!this.#attributeColumn(by).keeps(scope[by])) return false
    return true
  }

  /** Makes the predicates of a filter and a search. Returns `undefined` if no row can meet them. */
  makePredicates (filter: Filter, search: Search | undefined): readonly Predicate[] | undefined {
    if (filter.length === 0 && search === undefined) return NONE
    const { ids } = this.#definition
    return makePredicates(filter, search, { ids, find: (name) => this.columnOf(name) }, this.#dialect)
  }

  /** Returns the comparisons that find the row of an id, which the store has checked, within a scope. */
  ofRow (id: Id, scope: Scope): Comparison[] {
    const { parts, parse } = this.#definition.ids
    const values = parse(id) as readonly Scalar[]
    return [...parts.map(({ by }, index): Comparison => ({ by, is: '=', value: values[index] as Scalar })),
      ...conditionsOf(scope)]
  }

  columnOf (by: string): ComparedColumn {
    return by === this.#id?.by ? this.#id : this.#attributeColumn(by)
  }

  /** Returns a function that returns placeholders from a position on. */
  placeholders (from: number): NextPlaceholder {
    let position = from
    return (kind) => this.#dialect.placeholder(position++, kind)
  }

  /** Returns the values of conditions and predicates, in the order of their placeholders. */
  valuesOf (conditions: readonly Comparison[], predicates: readonly Predicate[] = NONE): unknown[] {
    const values: unknown[] = []
    for (const { by, value } of conditions) if (value !== null) values.push(this.columnOf(by).compare(value))
    for (const predicate of predicates) values.push(...predicate.values)
    return values
  }

  /** Writes conditions and predicates, each after ` AND `. */
  write (
    conditions: readonly Comparison[],
    next: NextPlaceholder,
    predicates: readonly Predicate[] = NONE
  ): string {
    const written = conditions.map((condition) =>
      `${AND}${writeComparison(condition, this.columnOf(condition.by), this.#dialect, next)}`)
    return written.join('') + predicates.map(({ write }) => `${AND}${write(next)}`).join('')
  }

  #attributeColumn (attribute: string): SqlColumn {
    const { table, columns } = this.#definition
    const column = columns.byAttribute.get(attribute)
    if (column === undefined) throw new TypeError(`resources: the table "${table}" has no column for "${attribute}"`)
    return column
  }
}

/** Returns the comparisons that find the rows of a scope. */
export function conditionsOf (scope: Scope): Comparison[] {
  return Object.keys(scope).map((by) => ({ by, is: '=', value: scope[by] as Comparison['value'] }))
}

/** Returns written conditions without the ` AND ` before the first one. */
export function withoutAnd (conditions: string): string {
  return conditions.slice(AND.length)
}

/** Returns a WHERE clause of written conditions, or nothing if there are none. */
export function whereOf (conditions: string): string {
  return conditions === '' ? '' : ` WHERE ${withoutAnd(conditions)}`
}

/** Returns a key that conditions with the same text share. Names contain none of its separators. */
export function keyOf (conditions: readonly Comparison[], predicates: readonly Predicate[] = NONE): string {
  const key = conditions.map(({ by, is, value }) => `${by}${is}${value === null ? 'null' : ''}`).join()
  return predicates.length === 0 ? key : `${key} and ${predicates.map(({ key }) => key).join()}`
}
