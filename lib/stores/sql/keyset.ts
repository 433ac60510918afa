import type { Scalar } from '../../schema/types.js'
import type { Order, Position } from '../store.js'

/** A comparison of a column with a value. In `= null` and `> null`, null is a value that comes before all others. */
export interface Condition {
  readonly by: string
  readonly is: '=' | '<' | '>'
  readonly value: Scalar
}

/** The rows that meet all conditions, ordered by the criteria that the conditions do not fix. */
export interface Range {
  readonly conditions: readonly Condition[]
  readonly order: Order
}

/**
 * Returns the ranges after a position, in their order. A database reads each of them as a plain range of an index. No
 * database does so for a condition such as `a > ? OR (a = ? AND id > ?)`.
 */
export function rangesAfter (order: Order, after: Position | undefined): Range[] {
  if (after === undefined) return splitNulls([], order)
  const ranges: Range[] = []
  // The rows of the first range differ from the position only in the last criterion, those of the last range in the
  // first criterion.
  for (let index = order.length - 1; index >= 0; index--) {
    const equal = order.slice(0, index)
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

/** Puts nulls and other values into separate ranges, so that an index helps wherever it has nulls. */
function splitNulls (conditions: readonly Condition[], order: Order): Range[] {
  const { by, descending } = order[0] as Order[number]
  if (by === 'id') return [{ conditions, order }]
  const nulls: Range = { conditions: [...conditions, { by, is: '=', value: null }], order }
  const values: Range = { conditions: [...conditions, { by, is: '>', value: null }], order }
  return descending ? [values, nulls] : [nulls, values]
}
