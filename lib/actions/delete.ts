import type { Id } from '../resource/row.js'
import type { Context, Guard, Written } from '../stores/store.js'
import { type MaybePromise, settle } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Subject } from './target.js'

/** @throws NotFoundError */
export function remove (subject: Subject, id: Id, guard: Guard, context: Context): MaybePromise<Outcome> {
  return settle(subject.store.delete(id, guard, context), deleted, subject, id)
}

function deleted (written: Written, { resource }: Subject, id: Id): Outcome {
  if (written.ok) return { kind: 'deleted', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
