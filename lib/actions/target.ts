import { NotFoundError } from '../errors.js'
import type { Resource } from '../resource/resource.js'
import type { Scope } from '../resource/row.js'
import type { Store } from '../stores/store.js'

/** What every action works with. */
export interface Target {
  readonly resource: Resource
  readonly store: Store
  readonly scope: Scope
}

export function notFound ({ singular }: Resource, id: unknown): Error {
  return new NotFoundError(singular, JSON.stringify(id))
}
