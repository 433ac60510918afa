import type { Outcome } from '../outcome.js'
import { settle } from '../settle.js'
import type { Attributes, Context, MaybePromise, Stored } from '../stores/store.js'
import type { Subject } from './action.js'

/** @throws DuplicateError */
export function create ({ store, scope }: Subject, attributes: Attributes, context: Context): MaybePromise<Outcome> {
  return settle(store.create(attributes, scope, context), created)
}

function created (row: Stored): Outcome {
  return { kind: 'created', row }
}
