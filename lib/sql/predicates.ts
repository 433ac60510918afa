import type { Id, Scope } from '../core/resource/row.js'
import type { Scalar } from '../core/schema/types.js'
import type { Condition, Filter, Position, Search } from '../core/stores/store.js'
import { isText } from './columns/kinds.js'
import type { Bind, ComparedColumn, Dialect, SqlColumn, TextPattern } from './dialect.js'
import { findNeverNull, type IdColumns } from './keys/id-columns.js'
import { type Comparison, rangesAfter } from './keyset.js'
import type { TableDefinition } from './tables/definition.js'

/** A condition of WHERE on the columns of attributes. */
export interface Predicate {
  /** Whether the values decide how many rows match, as in a range and in a search. @default false */
  readonly isSelective?: boolean
  /** Whether the database finds all rows that meet it before the first one. @default false */
  readonly isWhole?: boolean
  write (bind: Bind): string
}

/** Returns the function that adds values to a list, in the order of their placeholders. */
export function bindTo (values: unknown[], { placeholder }: Dialect): Bind {
  return (value, kind) => placeholder(values.push(value), kind)
}

/** A predicate, or which rows meet a condition whatever values they have. */
type Met = Predicate | 'all' | 'none'

const COMPARISONS = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Makes the conditions of statements on a table. */
export class Conditions {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  /** The criteria whose values are never null. */
  readonly neverNull: ReadonlySet<string>

  constructor (definition: TableDefinition, dialect: Dialect) {
    this.#definition = definition
    this.#dialect = dialect
    this.neverNull = new Set([...findNeverNull(definition.ids), ...definition.notNull])
  }

  /** Returns whether rows can have these values. For example, a column of integers never contains `'1'`. */
  canFit (scope: Scope): boolean {
    return Object.keys(scope).every((by) => this.#attributeColumn(by).keeps(scope[by]))
  }

  /** Makes the predicates of a filter and a search. Returns `undefined` if no row can meet them. */
  makePredicates (filter: Filter, search: Search | undefined): readonly Predicate[] | undefined {
    const predicates: Predicate[] = []
    for (const condition of filter) {
      const isOfKey = condition.attribute === 'id' && !this.#definition.ids.isGenerated
      const predicate = isOfKey ? this.#compareKey(condition) : this.#compareColumn(condition)
      if (predicate === 'none') return undefined
      if (predicate !== 'all') predicates.push(predicate)
    }
    if (search !== undefined) predicates.push(...this.#search(search))
    return predicates
  }

  /** Returns the comparisons that find the row of an id, which the store has checked, within a scope. */
  ofRow (id: Id, scope: Scope): Comparison[] {
    const { parts, parse } = this.#definition.ids
    const values = parse(id) as readonly Scalar[]
    return [...parts.map(({ by }, index): Comparison => ({ by, is: '=', value: values[index] as Scalar })),
      ...conditionsOf(scope)]
  }

  /** Finds the column of an attribute, or of an id that the database makes. */
  columnOf (by: string): ComparedColumn {
    const { isGenerated, parts: [own] } = this.#definition.ids
    return isGenerated && by === own.by ? own : this.#attributeColumn(by)
  }

  /** Writes the WHERE clause of conditions and predicates, or nothing if there are none. */
  where (conditions: readonly Comparison[], bind: Bind, predicates: readonly Predicate[] = []): string {
    const compared = conditions.map((one) => this.#compare(one, bind))
    const written = [...compared, ...predicates.map(({ write }) => write(bind))]
    return written.length === 0 ? '' : ` WHERE ${written.join(' AND ')}`
  }

  /** Writes a comparison. A comparison with null has no placeholder. */
  #compare ({ by, is, value }: Comparison, bind: Bind): string {
    const column = this.columnOf(by)
    if (value === null) return `${column.quoted} IS ${is === '=' ? 'NULL' : 'NOT NULL'}`
    return `${this.#dialect.sortable(column)} ${is} ${bind(column.compare(value), column.kind)}`
  }

  #compareColumn (condition: Condition): Met {
    const column = this.columnOf(condition.attribute)
    const fitting = fitCondition(condition, column)
    return typeof fitting === 'string' ? fitting : this.#makePredicate(fitting, column)
  }

  #makePredicate ({ operator, value }: Condition, column: ComparedColumn): Predicate {
    const { anyValue, sortable, textPatterns } = this.#dialect
    const { quoted, kind, compare } = column
    switch (operator) {
      case 'null':
        return { write: () => `${quoted} IS ${value ? 'NULL' : 'NOT NULL'}` }
      case 'in': {
        const values = padList(value)
        return {
          write: (bind) => `${anyValue(column)} IN (${values.map((item) => bind(compare(item), kind)).join(', ')})`
        }
      }
      case 'contains':
      case 'starts':
        return this.#matchTexts(textPatterns(value, operator === 'starts'), [column])
      case 'not':
        return { write: (bind) => `${anyValue(column)} IS DISTINCT FROM ${bind(compare(value), kind)}` }
      default:
        return {
          isSelective: operator !== 'eq',
          write: (bind) => `${sortable(column)} ${COMPARISONS[operator]} ${bind(compare(value), kind)}`
        }
    }
  }

  /** Makes the predicate of a condition on ids that consist of attributes. */
  #compareKey (condition: Condition): Met {
    const { operator } = condition
    const { ids } = this.#definition
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
      if (wanted.length === values.length) return this.#compareColumn({ attribute: by, operator, value: wanted })
    }
    return this.#meetAny(padList(values).flatMap((parts) => alternativesOf(operator, parts, ids)))
  }

  /** Makes the predicate that all comparisons of at least one list are met. */
  #meetAny (alternatives: ReadonlyArray<readonly Comparison[]>): Predicate {
    return {
      write: (bind) => joinOr(alternatives.map((list) => list.map((one) => this.#compare(one, bind)).join(' AND ')))
    }
  }

  /** Makes the predicates of a search. A full text index also has texts that a role does not see, so it must fit. */
  #search ({ words, attributes }: Search): Predicate[] {
    const { search: index } = this.#definition
    const fits = index?.of.every((name) => attributes.includes(name)) === true &&
      attributes.every((name) => index.of.includes(name))
    if (!fits) return words.map((word) => this.#findWord(word, attributes))
    return [{ isSelective: true, isWhole: true, write: (bind) => this.#dialect.matchIndex(index, words, bind) }]
  }

  /** Makes the predicate that one of the attributes contains a word. */
  #findWord (word: string, attributes: readonly string[]): Predicate {
    const columns = attributes.map((name) => this.columnOf(name))
    return this.#matchTexts(this.#dialect.textPatterns(word, false), columns)
  }

  /** Makes the predicate that one of the columns matches all patterns. */
  #matchTexts (patterns: readonly TextPattern[], columns: readonly ComparedColumn[]): Predicate {
    const { matchText } = this.#dialect
    return {
      isSelective: true,
      write: (bind) => `(${columns.map((column) => patterns.map(({ operator, pattern }) =>
        matchText(column, bind(pattern), operator)).join(' AND ')).join(' OR ')})`
    }
  }

  #attributeColumn (attribute: string): SqlColumn {
    const { table, columns } = this.#definition
    const column = columns.byAttribute.get(attribute)
    if (column === undefined) throw new TypeError(`resources: the table "${table}" has no column for "${attribute}"`)
    return column
  }
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

/** Returns the comparisons that find the rows of a scope. */
export function conditionsOf (scope: Scope): Comparison[] {
  return Object.keys(scope).map((by) => ({ by, is: '=', value: scope[by] as Comparison['value'] }))
}
