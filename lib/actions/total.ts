import { positionOf } from '../stores/order.js'
import type { Context, Count, Position } from '../stores/store.js'
import { andThen, catchError, type MaybePromise } from '../util/maybe-promise.js'
import type { ListCount, ListOutcome, ListQuery, Total } from './outcome.js'
import type { Target } from './target.js'

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
  const { after, before } = query
  if (more === undefined && last === undefined && after === undefined && before === undefined) {
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
  { order, after, before, limit, filter, search, count }: ListQuery & { readonly count: ListCount },
  context: Context
): MaybePromise<Total> {
  const { rows: [begin], more, first, last } = listed
  const countAfter = (position: Position | undefined, how: ListCount): MaybePromise<Count> =>
    // The caller has verified that the store counts.
    store.count?.({ order, after: position, scope, filter, search, ...how }, context) as MaybePromise<Count>

  function place (total: Count, offset: number | undefined): Total {
    const rest = last !== undefined ? limit : offset === undefined ? undefined : total.rows - offset
    const size = more === undefined ? listed.rows.length : before === undefined ? rest : first && limit
    const { isEstimate } = total
    // An estimate may be less than the rows that are here.
    return { rows: Math.max(total.rows, listed.rows.length), isEstimate, most: count.most, offset, size }
  }

  return andThen(countAfter(undefined, count), (total) => {
    if (begin === undefined) return place(total, undefined)
    if (after === undefined && first === undefined) return place(total, 0)
    if (total.isEstimate || total.rows >= (count.most ?? Infinity)) return place(total, undefined)
    if (last === undefined && more === undefined) return place(total, Math.max(0, total.rows - listed.rows.length))
    const following = countAfter(positionOf(begin, order), { most: undefined, estimate: false })
    return andThen(following, ({ rows }) => place(total, Math.max(0, total.rows - rows - 1)))
  })
}
