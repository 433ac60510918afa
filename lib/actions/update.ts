import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Attributes, Context, Guard, Id, MaybePromise, Written } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/** @throws NotFoundError, DuplicateError */
export function update (subject: Subject, id: Id, changes: Attributes, guard: Guard, context: Context): MaybePromise<Outcome> {
  return settle(subject.store.update(id, changes, guard, context), updated, subject, id)
}

function updated (written: Written, { resource }: Subject, id: Id): Outcome {
  if (written.ok) return { kind: 'updated', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
