import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import { list, type ListQuery } from './list.js'
import type { Target } from './target.js'

const FIRST: ListQuery =
  { order: BY_ID, after: undefined, before: undefined, limit: 1, filter: [], search: undefined, count: undefined }

/** Finds the row of a singleton: the only one in its scope, or the first if there are several. */
export function findSingleton (target: Target, context: Context): MaybePromise<Row | undefined> {
  return andThen(
    list(target, FIRST, context),
    ({ rows: first }) => first[0]
  )
}

/** Finds the row of an id within the scope, or the row of a singleton, which needs no id. */
export function findRow (target: Target, id: Id | undefined, context: Context): MaybePromise<Row | undefined> {
  const { resource, store, scope } = target
  return resource.singleton ? findSingleton(target, context) : store.get(id as Id, scope, context)
}
