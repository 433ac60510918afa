import type { Id, Scope } from '../core/resource/row.js'
import type { Scalar } from '../core/schema/types.js'
import type { Condition, Filter, Position, Search } from '../core/stores/store.js'
import { type ColumnKind, isText } from './columns/kinds.js'
import type { ComparedColumn, Dialect, SqlColumn, TextPattern } from './dialect.js'
import { findNeverNull, type IdColumns, type IdPart } from './keys/id-columns.js'
import { type Comparison, rangesAfter } from './keyset.js'
import type { TableDefinition } from './tables/definition.js'

/** A condition of WHERE on the columns of attributes. */
export interface Predicate {
  /** Predicates with the same key have the same text. */
  readonly key: string
  /** The values of the placeholders, encoded for the driver. */
  readonly values: readonly unknown[]
  /** Whether the values decide how many rows match, as in a range and in a search. @default false */
  readonly isSelective?: boolean
  write (next: NextPlaceholder): string
}

/** Returns the next placeholder of a statement, which is compared with a column of this kind. */
export type NextPlaceholder = (kind?: ColumnKind) => string

/** The columns of a table: those that hold the id, and that of each attribute. */
export interface ComparedColumns {
  readonly ids: IdColumns
  /** Finds the column of an attribute, or of an id that the database makes. */
  readonly find: (name: string) => ComparedColumn
}

const COMPARISONS = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/**
 * Makes the predicates of a filter and a search. Returns `undefined` if no row can meet them: a column of integers, for
 * example, never contains `'1'`.
 */
export function makePredicates (
  filter: Filter,
  search: Search | undefined,
  columns: ComparedColumns,
  dialect: Dialect
): readonly Predicate[] | undefined {
  const predicates: Predicate[] = []
  for (const condition of filter) {
    const isOfKey = condition.attribute === 'id' && !columns.ids.isGenerated
    const predicate = isOfKey
      ? makeKeyPredicate(condition, columns, dialect)
      : makeColumnPredicate(condition, columns.find(condition.attribute), dialect)
    if (predicate === 'none') return undefined
    if (predicate !== 'all') predicates.push(predicate)
  }
  if (search === undefined) return predicates
  const searched = search.attributes.map(columns.find)
  const key = `search ${search.attributes.join()}`
  return [...predicates, ...search.words.map((word) => makeWordPredicate(word, key, searched, dialect))]
}

/** Writes a comparison. A comparison with null has no placeholder. */
export function writeComparison (
  { is, value }: Comparison,
  column: ComparedColumn,
  { sortable }: Dialect,
  next: NextPlaceholder
): string {
  if (value === null) return `${column.quoted} IS ${is === '=' ? 'NULL' : 'NOT NULL'}`
  return `${sortable(column)} ${is} ${next(column.kind)}`
}

function makeColumnPredicate (
  condition: Condition,
  column: ComparedColumn,
  dialect: Dialect
): Predicate | 'all' | 'none' {
  const fitting = fitCondition(condition, column)
  return typeof fitting === 'string' ? fitting : makePredicate(fitting, column, dialect)
}

/** Returns the condition with only the values that the column can have, or which rows meet it whatever they have. */
function fitCondition (condition: Condition, column: ComparedColumn): Condition | 'all' | 'none' {
  const { operator, value } = condition
  if (operator === 'null') return condition
  // A part of a UUID is no UUID.
  if (operator === 'contains' || operator === 'starts') return isText(value) ? condition : 'none'
  if (operator === 'in') {
    const fitting = value.filter((item) => column.keeps(item))
    return fitting.length === 0 ? 'none' : { ...condition, operator, value: fitting }
  }
  const canMatch = operator === 'eq' || operator === 'not' ? column.keeps(value) : column.fits(value)
  if (canMatch) return condition
  return operator === 'not' ? 'all' : 'none'
}

function makePredicate (condition: Condition, column: ComparedColumn, dialect: Dialect): Predicate {
  const { attribute, operator, value } = condition
  const { quoted, kind } = column
  const key = `${attribute}[${operator}]`
  switch (operator) {
    case 'null':
      return { key: `${key}=${value}`, values: [], write: () => `${quoted} IS ${value ? 'NULL' : 'NOT NULL'}` }
    case 'in': {
      const values = padList(value.map(column.compare))
      return {
        key: `${key}${values.length}`,
        values,
        write: (next) => `${dialect.anyValue(column)} IN (${values.map(() => next(kind)).join(', ')})`
      }
    }
    case 'contains':
    case 'starts': {
      const patterns = dialect.textPatterns(value, operator === 'starts')
      return {
        key: `${key} ${operatorsOf(patterns)}`,
        values: patterns.map(({ pattern }) => pattern),
        isSelective: true,
        write: (next) => matchAll(patterns, column, next, dialect)
      }
    }
    case 'not':
      return {
        key,
        values: [column.compare(value)],
        write: (next) => `${dialect.anyValue(column)} IS DISTINCT FROM ${next(kind)}`
      }
    default:
      return {
        key,
        values: [column.compare(value)],
        isSelective: operator !== 'eq',
        write: (next) => `${dialect.sortable(column)} ${COMPARISONS[operator]} ${next(kind)}`
      }
  }
}

/** Makes the predicate of a condition on ids that consist of attributes. */
function makeKeyPredicate (
  condition: Condition,
  { ids, find }: ComparedColumns,
  dialect: Dialect
): Predicate | 'all' | 'none' {
  const { operator } = condition
  if (operator === 'null') return condition.value ? 'none' : 'all'
  if (operator === 'contains' || operator === 'starts') {
    throw new TypeError('resources: ids that consist of attributes cannot be searched; search the attributes')
  }
  const given = operator === 'in' ? condition.value : [condition.value]
  const values = given.map((id) => ids.parse(id as Id)).filter((parts) => parts !== undefined)
  if (values.length === 0) return operator === 'not' ? 'all' : 'none'
  const [{ by }, ...others] = ids.parts
  if (others.length === 0 && operator === 'in') {
    const wanted = values.flat().filter((value) => value !== null)
    const isWhole = wanted.length === values.length
    if (isWhole) return makeColumnPredicate({ attribute: by, operator, value: wanted }, find(by), dialect)
  }
  const alternatives = padList(values).flatMap((parts) => alternativesOf(operator, parts, ids))
  return makeAlternatives(`id[${operator}]`, alternatives, find, dialect)
}

/** Returns lists of comparisons. The ids meet the operator if they meet all comparisons of one list. */
function alternativesOf (
  operator: Exclude<Condition['operator'], 'null' | 'contains' | 'starts'>,
  values: Position,
  ids: IdColumns
): ReadonlyArray<readonly Comparison[]> {
  const equal = ids.parts.map(({ by }, index): Comparison => ({ by, is: '=', value: values[index] as Scalar }))
  const beyond = (descending: boolean): ReadonlyArray<readonly Comparison[]> => {
    const order = ids.parts.map(({ by }) => ({ by, descending }))
    return rangesAfter(order, values, findNeverNull(ids)).map(({ conditions }) => conditions)
  }
  switch (operator) {
    case 'gt': return beyond(false)
    case 'gte': return [...beyond(false), equal]
    case 'lt': return beyond(true)
    case 'lte': return [...beyond(true), equal]
    case 'not': return [...beyond(false), ...beyond(true)]
    default: return [equal]
  }
}

/** Makes the predicate that all comparisons of at least one list are met. */
function makeAlternatives (
  key: string,
  alternatives: ReadonlyArray<readonly Comparison[]>,
  find: ComparedColumns['find'],
  dialect: Dialect
): Predicate {
  const compared = alternatives.flat()
  const shape = alternatives.map((list) => list.map(({ by, is, value }) => `${by}${is}${value === null}`).join('&'))
  return {
    key: `${key} ${shape.join('|')}`,
    values: compared.filter(({ value }) => value !== null).map(({ by, value }) => find(by).compare(value)),
    write: (next) => joinOr(alternatives.map((list) =>
      list.map((comparison) => writeComparison(comparison, find(comparison.by), dialect, next)).join(' AND ')))
  }
}

/** The most terms of one OR. SQLite limits the depth of an expression to 1,000, and each OR adds one. */
const MOST_TERMS = 100

function joinOr (terms: readonly string[]): string {
  if (terms.length <= MOST_TERMS) return `(${terms.map((term) => `(${term})`).join(' OR ')})`
  const groups: string[] = []
  for (let from = 0; from < terms.length; from += MOST_TERMS) groups.push(joinOr(terms.slice(from, from + MOST_TERMS)))
  return joinOr(groups)
}

/** Repeats the last value until the length is a power of two, which keeps the number of statements small. */
function padList<T> (values: readonly T[]): readonly T[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...Array.from({ length: length - values.length }, () => values.at(-1) as T)]
}

function makeWordPredicate (
  word: string,
  key: string,
  columns: readonly ComparedColumn[],
  dialect: Dialect
): Predicate {
  const patterns = dialect.textPatterns(word, false)
  return {
    key: `${key} ${operatorsOf(patterns)}`,
    values: columns.flatMap(() => patterns.map(({ pattern }) => pattern)),
    isSelective: true,
    write: (next) => `(${columns.map((column) => matchAll(patterns, column, next, dialect)).join(' OR ')})`
  }
}

function operatorsOf (patterns: readonly TextPattern[]): string {
  return patterns.map(({ operator }) => operator).join(' ')
}

function matchAll (
  patterns: readonly TextPattern[],
  column: ComparedColumn,
  next: NextPlaceholder,
  { matchText }: Dialect
): string {
  return patterns.map(({ operator }) => matchText(column, next(), operator)).join(' AND ')
}

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
