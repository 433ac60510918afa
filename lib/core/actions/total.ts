import { positionOf, reverse } from '../stores/order.js'
import type { Context, Count, Order, Position } from '../stores/store.js'
import { andThen, catchError, type MaybePromise } from '../util/maybe-promise.js'
import type { ListCount, ListOutcome, ListQuery, Total } from './outcome.js'
import { canReverse, type Target } from './target.js'

/** Pages for people show a total up to this number, so that no page is slow. One more row shows that there are more. */
export const COUNT_OF_PAGES: ListCount = { most: 10_001, estimate: false }

/** Adds the total to a list. If the store cannot count, the list is closed. */
export function addTotal (
  listed: ListOutcome,
  target: Target,
  query: ListQuery & { readonly count: ListCount },
  context: Context
): MaybePromise<ListOutcome> {
  const { rows, more, last } = listed
  const { after, before, offset } = query
  const isFirst = after === undefined && before === undefined && offset === undefined
  if (isFirst && more === undefined && last === undefined) {
    // The page is the whole list.
    return withTotal(listed, { rows: rows.length, isEstimate: false, most: undefined, offset: 0, size: rows.length })
  }
  return catchError<MaybePromise<ListOutcome>>(
    () => andThen(findTotal(listed, target, query, context), (total) => withTotal(listed, total)),
    (error) => andThen(more?.return?.(), () => { throw error })
  ) as MaybePromise<ListOutcome>
}

/** Names all members, because V8 takes microseconds to spread an object whose members vary. */
function withTotal (listed: ListOutcome, total: Total): ListOutcome {
  const { kind, rows, more, isSparse = false, order, first, last } = listed
  return { kind, rows, more, isSparse, order, first, last, total }
}

function findTotal (
  listed: ListOutcome,
  { store, scope }: Target,
  { order, after, before, offset: given = 0, limit, filter, search, count }: ListQuery & { readonly count: ListCount },
  context: Context
): MaybePromise<Total> {
  const { rows: [begin], more, first, last } = listed
  const countAfter: CountAfter = (order, after, most) =>
    // The caller has verified that the store counts.
    store.count?.({ order, after, scope, filter, search, most, estimate: false }, context) as MaybePromise<Count>

  function place (total: Count, offset: number | undefined): Total {
    const rest = last !== undefined ? limit : offset === undefined ? undefined : total.rows - offset
    const size = more === undefined ? listed.rows.length : before === undefined ? rest : first && limit
    const { isEstimate } = total
    // An estimate may be less than the rows that are here.
    return { rows: Math.max(total.rows, listed.rows.length), isEstimate, most: count.most, offset, size }
  }

  const counted = store.count?.({ order, after: undefined, scope, filter, search, ...count }, context)
  return andThen(counted as MaybePromise<Count>, (total) => {
    if (begin === undefined) return place(total, undefined)
    if (before === undefined && after === undefined) return place(total, given)
    if (after === undefined && first === undefined) return place(total, 0)
    if (total.isEstimate || total.rows >= (count.most ?? Infinity)) return place(total, undefined)
    if (last === undefined && more === undefined) return place(total, Math.max(0, total.rows - listed.rows.length))
    const position = positionOf(begin, order)
    if (canReverse(store)) return findOffset(total.rows, order, position, countAfter).then((rows) => place(total, rows))
    const following = countAfter(order, position, undefined)
    return andThen(following, ({ rows }) => place(total, Math.max(0, total.rows - rows - 1)))
  })
}

/** Counts the rows after a position in an order, at most `most` of them. */
type CountAfter = (order: Order, after: Position, most: number | undefined) => MaybePromise<Count>

/** The most rows that are counted on each side of a page at first. */
const FIRST_COUNT = 10_000

/** Returns the number of the rows before a position. It counts on both sides, and ends with the one that has fewer. */
async function findOffset (total: number, order: Order, position: Position, countAfter: CountAfter): Promise<number> {
  for (let most = FIRST_COUNT; ; most *= 4) {
    const { rows: preceding } = await countAfter(reverse(order), position, most)
    if (preceding < most) return preceding
    const { rows: following } = await countAfter(order, position, most)
    if (following < most) return Math.max(0, total - following - 1)
  }
}
