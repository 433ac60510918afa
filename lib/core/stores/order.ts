import type { Row } from '../resource/row.js'
import type { Scalar } from '../schema/types.js'
import { compareDecimals, isDecimal, isLongInteger, normalizeDecimal } from '../util/decimal.js'
import { compileMember, ownMember } from '../util/own-property.js'
import { ignoringCase } from '../util/case-folding.js'
import { identity } from '../util/functions.js'
import type { Condition, Order, OrderBy, Position, Query, Search } from './store.js'

/** The default order of lists. */
export const BY_ID: Order = Object.freeze([Object.freeze({ by: 'id', descending: false })])

/** Returns the position of a row in an order. */
export function positionOf ({ id, attributes }: Row, order: Order): Position {
  // Rows can only be ordered by attributes of simple types.
  return order.map(({ by }) => by === 'id' ? id : (ownMember(attributes, by) ?? null) as Scalar)
}

/** Returns the order that begins with the last row. */
export function reverse (order: Order): Order {
  return order.map((criterion) => ({ ...criterion, descending: !criterion.descending }))
}

/** Returns a negative number if `a` comes before `b`, a positive one if it comes after, and 0 if they are the same. */
export function comparePositions (order: Order, a: Position, b: Position): number {
  for (let index = 0; index < order.length; index++) {
    const { type, descending } = order[index] as OrderBy
    const compared = compareScalars(a[index] ?? null, b[index] ?? null, type)
    if (compared !== 0) return descending ? -compared : compared
  }
  return 0
}

/** Compares two values as `OrderBy` has it. */
export function compareScalars (a: Scalar, b: Scalar, type: OrderBy['type']): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  if (typeof a !== 'string' || typeof b !== 'string') return a < b ? -1 : 1
  return type === undefined ? compareTexts(a, b) : compareNumerals(a, b)
}

/** Compares decimals as numbers. A stored text that is no decimal comes after them. */
function compareNumerals (a: string, b: string): number {
  const isNumber = isDecimal(a)
  if (isNumber !== isDecimal(b)) return isNumber ? -1 : 1
  return isNumber ? compareDecimals(a, b) : compareTexts(a, b)
}

/** Compares texts by their code points. `<` would compare surrogates, which sort differently. */
function compareTexts (a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let index = 0
  while (index < length && a.charCodeAt(index) === b.charCodeAt(index)) index++
  if (index === length) return a.length - b.length
  const one = a.charCodeAt(index)
  const other = b.charCodeAt(index)
  // A surrogate belongs to a code point that is greater than all code points without surrogates.
  return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1
}

function isSurrogate (unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

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

type CharacterRange = Pick<Condition, 'type'> & { readonly value: NonNullable<Scalar> }

/** Compares values of one type. Null, and a value of another type, are neither greater nor less. */
function compares ({ value: wanted, type }: CharacterRange, isMet: (order: number) => boolean): Meets {
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
