import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Context, Id, MaybePromise } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/** @throws NotFoundError */
export function show ({ resource, store, scope }: Subject, id: Id, context: Context): MaybePromise<Outcome> {
  return settle(store.get(id, scope, context), (row) => {
    if (row === undefined) throw notFound(resource, id)
    return { kind: 'found', row }
  })
}
