import type { Id } from '../resource/row.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/**
 * A form that has been given other rows goes back with the row that it is about; of a new one there is none.
 * @throws NotFoundError
 */
export function redisplay (
  { resource, store, scope }: Target,
  id: Id | undefined,
  context: Context
): MaybePromise<Outcome> {
  if (id === undefined) return { kind: 'revised', row: undefined }
  return andThen(store.get(id, scope, context), (row) => {
    if (row === undefined) throw notFound(resource, id)
    return { kind: 'revised', row }
  })
}
