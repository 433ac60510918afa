import { NotFoundError, NothingHereError } from '../errors.js'
import type { Resource } from '../resource/resource.js'
import type { Scope } from '../resource/row.js'
import type { Store } from '../stores/store.js'

/** What every action works with. */
export interface Target {
  readonly resource: Resource
  readonly store: Store
  readonly scope: Scope
}

/** Returns the error of a row that is not there. A singleton has no id to name. */
export function notFound ({ singular, singleton }: Resource, id: unknown): Error {
  return singleton || id === undefined
    ? new NothingHereError(singular)
    : new NotFoundError(singular, JSON.stringify(id))
}
