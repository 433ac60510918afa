import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Context, Id, MaybePromise, Stored } from '../stores/store.js'
import { notFound, type Subject } from './action.js'

/** @throws NotFoundError */
export function show (subject: Subject, id: Id, context: Context): MaybePromise<Outcome> {
  return settle(subject.store.get(id, subject.scope, context), found, subject, id)
}

function found (row: Stored | undefined, { resource }: Subject, id: Id): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: 'found', row }
}
