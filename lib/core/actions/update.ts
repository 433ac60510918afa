import type { Id, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { omitScope } from '../stores/scope.js'
import type { Context, Guard, WriteOutcome } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import { isEmpty } from '../util/own-property.js'
import type { Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/** The attributes to change, and the guard of their row. */
export interface Change {
  readonly id: Id
  readonly attributes: Attributes
  readonly guard: Guard
}

/**
 * Updates a row. Without attributes to change, nothing is written.
 * @throws DuplicateError, NotFoundError, NothingHereError
 */
export function update (target: Target, change: Change, context: Context): MaybePromise<Outcome> {
  const { id, attributes, guard } = change
  if (isEmpty(attributes)) return andThen(target.store.get(id, guard.scope, context), keep, target, change)
  // A client may send an attribute of the scope, which no write changes.
  return andThen(target.store.update(id, omitScope(attributes, guard.scope), guard, context), updated, target, id)
}

function keep (row: Row | undefined, { resource }: Target, { id, guard: { version } }: Change): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: version === undefined || version === row.version ? 'updated' : 'stale', row }
}

function updated (written: WriteOutcome, { resource }: Target, id: Id): Outcome {
  if (written.ok) return { kind: 'updated', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
