import { NotFoundError, NothingHereError } from '../errors.js'
import type { Resource } from '../resource/resource.js'
import type { Scope } from '../resource/row.js'
import type { Store } from '../stores/store.js'

/** The resource of an action, with the store and the scope of its rows. */
export interface Target {
  readonly resource: Resource
  readonly store: Store
  readonly scope: Scope
}

/** Returns the error for a row that does not exist. A singleton has no id to name. */
export function notFound ({ singular, singleton }: Resource, id: unknown): Error {
  return singleton || id === undefined
    ? new NothingHereError(singular)
    : new NotFoundError(singular, JSON.stringify(id))
}

/** Returns whether a store can list the page before a position: it reads rows in the reversed order. */
export function canReverse ({ capabilities }: Store): boolean {
  return capabilities?.order === true
}
