import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Attributes, Context, Guard, Id, MaybePromise } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/** @throws NotFoundError, DuplicateError */
export function update ({ resource, store }: Subject, id: Id, changes: Attributes, guard: Guard, context: Context): MaybePromise<Outcome> {
  return settle(store.update(id, changes, guard, context), (written) => {
    if (written.ok) return { kind: 'updated', row: written.row }
    if (written.why === 'stale') return { kind: 'stale', row: written.current }
    throw notFound(resource, id)
  })
}
