import type { Stored } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, settle } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import type { Subject } from './target.js'

/** @throws DuplicateError */
export function create ({ store, scope }: Subject, attributes: Attributes, context: Context): MaybePromise<Outcome> {
  return settle(store.create(attributes, scope, context), created)
}

function created (row: Stored): Outcome {
  return { kind: 'created', row }
}
