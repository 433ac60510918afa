import type { Scalar } from '../core/schema/types.js'
import type { Filter, Order, Position, Query } from '../core/stores/store.js'

/** A comparison of a column with a value. In `= null` and `> null`, null is a value that comes before all others. */
export interface Comparison {
  readonly by: string
  readonly is: '=' | '<' | '>'
  readonly value: Scalar
}

/** The rows that meet all conditions, ordered by the criteria that the conditions do not fix. */
export interface Range {
  readonly conditions: readonly Comparison[]
  readonly order: Order
}

/**
 * Returns the ranges after a position, in their order. A database reads each of them as a plain range of an index. No
 * database does so for a condition such as `a > ? OR (a = ? AND id > ?)`.
 * @param neverNull the criteria whose values are never null
 */
export function rangesAfter (
  order: Order,
  after: Position | undefined,
  neverNull: ReadonlySet<string>
): Range[] {
  if (after === undefined) return splitNulls(order, neverNull)
  const ranges: Range[] = []
  // The rows of the first range differ from the position only in the last criterion, those of the last range in the
  // first criterion.
  for (let index = order.length - 1; index >= 0; index--) {
    const equal = order.slice(0, index)
      .map(({ by }, before): Comparison => ({ by, is: '=', value: after[before] as Scalar }))
    const { by, descending } = order[index] as Order[number]
    const value = after[index] as Scalar
    const rest = order.slice(index)
    if (!descending) ranges.push({ conditions: [...equal, { by, is: '>', value }], order: rest })
    else if (value !== null) {
      ranges.push({ conditions: [...equal, { by, is: '<', value }], order: rest })
      if (!neverNull.has(by)) ranges.push({ conditions: [...equal, { by, is: '=', value: null }], order: rest })
    }
  }
  return ranges
}

/** Returns the ranges of a query after a position, except ranges of nulls that do not meet its filter. */
export function rangesOf (
  { order, filter }: Pick<Query, 'order' | 'filter'>,
  after: Position | undefined,
  neverNull: ReadonlySet<string>
): Range[] {
  const ranges = rangesAfter(order, after, neverNull)
  if (filter.length === 0) return ranges
  return ranges.filter(({ conditions }) =>
    !conditions.some(({ by, is, value }) => is === '=' && value === null && excludesNull(filter, by)))
}

function excludesNull (filter: Filter, by: string): boolean {
  return filter.some(({ attribute, operator, value }) =>
    attribute === by && operator !== 'not' && !(operator === 'null' && value))
}

/** Puts nulls and other values into separate ranges, so that an index helps wherever it has nulls. */
function splitNulls (order: Order, neverNull: ReadonlySet<string>): Range[] {
  const { by, descending } = order[0] as Order[number]
  if (neverNull.has(by)) return [{ conditions: [], order }]
  const nulls: Range = { conditions: [{ by, is: '=', value: null }], order }
  const values: Range = { conditions: [{ by, is: '>', value: null }], order }
  return descending ? [values, nulls] : [nulls, values]
}
