import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Context, Guard, Id, MaybePromise } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/** @throws NotFoundError */
export function remove ({ resource, store }: Subject, id: Id, guard: Guard, context: Context): MaybePromise<Outcome> {
  return settle(store.delete(id, guard, context), (written) => {
    if (written.ok) return { kind: 'deleted' }
    if (written.why === 'stale') return { kind: 'stale', row: written.current }
    throw notFound(resource, id)
  })
}
