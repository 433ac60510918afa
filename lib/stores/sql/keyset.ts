import type { Scalar } from '../../schema/types.js'
import type { Order, Position } from '../store.js'

/** What a column is compared with; `= null` and `> null` are meant as an order with nulls first has them. */
export interface Condition {
  readonly by: string
  readonly is: '=' | '<' | '>'
  readonly value: Scalar
}

/** A part of an order: rows that fit all conditions, put in order by what the conditions leave open. */
export interface Range {
  readonly conditions: readonly Condition[]
  readonly order: Order
}

/**
 * What follows a place in an order, as ranges that are read one after the other. Each is a plain range of an index,
 * which a condition such as `a > ? OR (a = ? AND id > ?)` is to no database.
 */
export function rangesAfter (order: Order, after: Position | undefined): Range[] {
  if (after === undefined) return splitNulls([], order)
  const ranges: Range[] = []
  // First the rows that differ from the place in the last criterion only, last those that differ in the first.
  for (let index = order.length - 1; index >= 0; index--) {
    const equal = order
      .slice(0, index)
      .map(({ by }, before): Condition => ({ by, is: '=', value: after[before] as Scalar }))
    const { by, descending } = order[index] as Order[number]
    const value = after[index] as Scalar
    const rest = order.slice(index)
    if (!descending) ranges.push({ conditions: [...equal, { by, is: '>', value }], order: rest })
    else if (value !== null) {
      ranges.push({ conditions: [...equal, { by, is: '<', value }], order: rest })
      if (by !== 'id') ranges.push({ conditions: [...equal, { by, is: '=', value: null }], order: rest })
    }
  }
  return ranges
}

/** Nulls by themselves, so that an index serves wherever its own order has them. */
function splitNulls (conditions: readonly Condition[], order: Order): Range[] {
  const { by, descending } = order[0] as Order[number]
  if (by === 'id') return [{ conditions, order }]
  const nulls: Range = { conditions: [...conditions, { by, is: '=', value: null }], order }
  const values: Range = { conditions: [...conditions, { by, is: '>', value: null }], order }
  return descending ? [values, nulls] : [nulls, values]
}
