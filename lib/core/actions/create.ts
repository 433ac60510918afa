import type { Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Context } from '../stores/store.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import type { Outcome } from './outcome.js'
import type { Target } from './target.js'

/**
 * Creates a row.
 * @throws DuplicateError
 */
export function create ({ store, scope }: Target, attributes: Attributes, context: Context): MaybePromise<Outcome> {
  return andThen(store.create(attributes, scope, context), created)
}

function created (row: Row): Outcome {
  return { kind: 'created', row }
}
