import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import { list } from './list.js'
import type { Target } from './target.js'

/** The row of a singleton: the only one in its scope, or, should there be several, the first. */
export function findSingleton (target: Target, context: Context): MaybePromise<Row | undefined> {
  return andThen(
    list(target, { order: BY_ID, after: undefined, limit: 1, filter: {} }, context),
    ({ rows: first }) => first[0]
  )
}

/** The row of an id, within the scope; of a singleton, which has none, the one that there is. */
export function findRow (target: Target, id: Id | undefined, context: Context): MaybePromise<Row | undefined> {
  const { resource, store, scope } = target
  return resource.singleton ? findSingleton(target, context) : store.get(id as Id, scope, context)
}
