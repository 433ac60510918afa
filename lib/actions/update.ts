import type { Id } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Context, Guard, Written } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/** @throws NotFoundError, DuplicateError */
export function update (
  target: Target,
  id: Id,
  changes: Attributes,
  guard: Guard,
  context: Context
): MaybePromise<Outcome> {
  return andThen(target.store.update(id, changes, guard, context), updated, target, id)
}

function updated (written: Written, { resource }: Target, id: Id): Outcome {
  if (written.ok) return { kind: 'updated', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
