import type { ListQuery } from '../actions/list.js'
import type { Row } from '../resource/row.js'
import { BY_ID, comparePositions, positionOf } from '../stores/order.js'
import type { Order, Position } from '../stores/store.js'

/** Finds the page among all rows: the index of its first row, and the index after its last row. */
export function findPage (
  all: readonly Row[],
  { order = BY_ID, after, before, limit = all.length }: Partial<ListQuery>
): { readonly begin: number, readonly end: number } {
  if (before === undefined) {
    const begin = after === undefined ? 0 : findPosition(all, order, after).after
    return { begin, end: begin + limit }
  }
  const end = before === 'end' ? all.length : findPosition(all, order, before).before
  return { begin: Math.max(0, end - limit), end }
}

/**
 * Returns the number of the rows before a position, and of those that are not after it. Both are 0 if a row at the
 * position is missing, and the rows are not in the order.
 */
export function findPosition (
  rows: readonly Row[],
  order: Order,
  place: Position
): { readonly before: number, readonly after: number } {
  const positions = rows.map((row) => positionOf(row, order))
  const sides = positions.map((position) => comparePositions(order, position, place))
  const found = sides.indexOf(0)
  const isInOrder = (position: Position, index: number): boolean =>
    index === 0 || comparePositions(order, positions[index - 1] as Position, position) < 0
  if (found !== -1) return { before: found, after: found + 1 }
  // That row is gone: the page begins with the first row after its position, or ends with the last row before it.
  const before = positions.every(isInOrder) ? sides.findLastIndex((side) => side < 0) + 1 : 0
  return { before, after: before }
}
