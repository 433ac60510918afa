import type { Row } from '../resource/row.js'
import type { Scalar } from '../schema/types.js'
import { ignoringCase } from '../util/case-folding.js'
import { isDecimal, isLongInteger, normalizeDecimal } from '../util/decimal.js'
import { identity } from '../util/functions.js'
import { compileMember } from '../util/own-property.js'
import { compareScalars } from './order.js'
import type { Condition, Query, Search } from './store.js'

type Matches = (row: Row) => boolean
type Meets = (value: unknown) => boolean

/**
 * Compiles a function that returns whether a row is one of those of a query: it has the values of the scope, meets all
 * conditions of the filter, and matches the search.
 */
export function compileMatcher ({ scope, filter, search }: Pick<Query, 'scope' | 'filter' | 'search'>): Matches {
  const tests = [
    ...Object.keys(scope).map((name) => compileTest(name, equals(scope[name] as Scalar))),
    ...filter.map(compileConditionTest),
    ...(search === undefined ? [] : compileSearch(search))
  ]
  const [first, ...others] = tests
  if (first === undefined) return matchEvery
  return others.length === 0 ? first : (row) => tests.every((test) => test(row))
}

/** Matches each row. */
export function matchEvery (): boolean {
  return true
}

function compileTest (attribute: string, meets: Meets): Matches {
  const read = compileMember(attribute)
  return ({ attributes }) => meets(read(attributes) ?? null)
}

function compileConditionTest (condition: Condition): Matches {
  const meets = compileCondition(condition)
  return condition.attribute === 'id' ? ({ id }) => meets(id) : compileTest(condition.attribute, meets)
}

function compileSearch ({ words, attributes }: Search): Matches[] {
  const reads = attributes.map(compileMember)
  return words.map((word): Matches => {
    const contains = matchesText(word, false)
    return ({ attributes }) => reads.some((read) => contains(read(attributes)))
  })
}

function compileCondition (condition: Condition): Meets {
  const { type } = condition
  const keyOf = type === 'decimal' ? keyOfDecimal : identity
  switch (condition.operator) {
    case 'eq': return equals(keyOf(condition.value), keyOf)
    case 'not': {
      const other = keyOf(condition.value)
      return (value) => keyOf(value) !== other
    }
    case 'in': {
      const values = new Set<unknown>(condition.value.map(keyOf))
      return (value) => values.has(keyOf(value))
    }
    case 'null': return (value) => (value === null) === condition.value
    case 'contains': return matchesText(condition.value, false)
    case 'starts': return matchesText(condition.value, true)
    case 'gt': return compares(condition, (order) => order > 0)
    case 'gte': return compares(condition, (order) => order >= 0)
    case 'lt': return compares(condition, (order) => order < 0)
    case 'lte': return compares(condition, (order) => order <= 0)
  }
}

function equals (wanted: unknown, keyOf: (value: unknown) => unknown = identity): Meets {
  return (value) => keyOf(value) === wanted
}

/** Returns the same text for equal decimals, and any other value as it is. */
function keyOfDecimal (value: unknown): unknown {
  return isDecimal(value) ? normalizeDecimal(value) : value
}

type Range = Pick<Condition, 'type'> & { readonly value: NonNullable<Scalar> }

/** Compares values of one type. Null, and a value of another type, are neither greater nor less. */
function compares ({ value: wanted, type }: Range, isMet: (order: number) => boolean): Meets {
  const isComparable = (value: unknown): boolean => {
    if (type === 'integer' && (typeof value === 'number' || isLongInteger(value))) return true
    return type === 'decimal' ? isDecimal(value) : typeof value === typeof wanted
  }
  return (value) => isComparable(value) && isMet(compareScalars(value as Scalar, wanted, type))
}

function matchesText (text: string, isStart: boolean): Meets {
  const pattern = ignoringCase(text, isStart)
  return (value) => typeof value === 'string' && pattern.test(value)
}
