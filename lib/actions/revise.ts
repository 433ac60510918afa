import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Context, Id, MaybePromise } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/**
 * A form that has been given other rows goes back with the row that it is about; of a new one there is none.
 * @throws NotFoundError
 */
export function revise ({ resource, store, scope }: Subject, id: Id | undefined, context: Context): MaybePromise<Outcome> {
  if (id === undefined) return { kind: 'revised', row: undefined }
  return settle(store.get(id, scope, context), (row) => {
    if (row === undefined) throw notFound(resource, id)
    return { kind: 'revised', row }
  })
}
