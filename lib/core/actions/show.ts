import type { Id, Row } from '../resource/row.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/**
 * Reads a row.
 * @throws NotFoundError, NothingHereError
 */
export function show (target: Target, id: Id, context: Context): MaybePromise<Outcome> {
  return andThen(target.store.get(id, target.scope, context), found, target, id)
}

function found (row: Row | undefined, { resource }: Target, id: Id): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: 'found', row }
}

/**
 * Reads the row of a form that asks to add or remove a row in the form, and writes nothing.
 * @throws NotFoundError, NothingHereError
 */
export function redisplay ({ resource, store, scope }: Target, id: Id, context: Context): MaybePromise<Outcome> {
  return andThen(store.get(id, scope, context), (row) => {
    if (row === undefined) throw notFound(resource, id)
    return { kind: 'revised', row }
  })
}
