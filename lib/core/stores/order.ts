import type { Row } from '../resource/row.js'
import type { Scalar } from '../schema/types.js'
import { compareDecimals, isDecimal } from '../util/decimal.js'
import { ownMember } from '../util/own-property.js'
import type { Order, OrderBy, Position } from './store.js'

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

/** Returns the index of the first of sorted items for which `isBeyond` returns true, or their number if none is. */
export function findFirst<T> (items: readonly T[], isBeyond: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeyond(items[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
