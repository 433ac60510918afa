import type { Id, Stored } from '../resource/row.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, settle } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import { notFound, type Subject } from './target.js'

/** @throws NotFoundError */
export function show (subject: Subject, id: Id, context: Context): MaybePromise<Outcome> {
  return settle(subject.store.get(id, subject.scope, context), found, subject, id)
}

function found (row: Stored | undefined, { resource }: Subject, id: Id): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: 'found', row }
}
