import type { Id, Stored } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, settle } from '../util/maybe-promise.js'
import { list } from './list.js'
import type { Subject } from './target.js'

/** The row of a singleton: the only one in its scope, or, should there be several, the first. */
export function findOnly (subject: Subject, context: Context): MaybePromise<Stored | undefined> {
  return settle(list(subject, { order: BY_ID, after: undefined, limit: 1, filter: {} }, context), ({ first }) => first[0])
}

/** The row of an id, within the scope; of a singleton, which has none, the one that there is. */
export function findRow (subject: Subject, id: Id | undefined, context: Context): MaybePromise<Stored | undefined> {
  const { resource, store, scope } = subject
  return resource.singleton ? findOnly(subject, context) : store.get(id as Id, scope, context)
}
