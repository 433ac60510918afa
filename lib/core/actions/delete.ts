import type { Id } from '../resource/row.js'
import type { Context, Guard, WriteOutcome } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/**
 * Deletes a row.
 * @throws NotFoundError, NothingHereError
 */
export function remove (target: Target, id: Id, guard: Guard, context: Context): MaybePromise<Outcome> {
  return andThen(target.store.delete(id, guard, context), deleted, target, id)
}

function deleted (written: WriteOutcome, { resource }: Target, id: Id): Outcome {
  if (written.ok) return { kind: 'deleted', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
