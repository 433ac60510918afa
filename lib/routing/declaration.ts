import type { CustomAction } from './custom-action.js'
import type { ResourceOptions } from './options.js'
import type { Guards } from './resolve-routing.js'

/** What scopes around a declaration give it. */
export interface InheritedOptions {
  /** Of the path, from the resource around it, or else from the beginning: `['admin']`. */
  readonly path: readonly string[]
  /** What names begin with, besides that of the resource around it. */
  readonly as: readonly string[]
  readonly guards: Guards
  /** Options that it has where it gives none itself. */
  readonly shared: Partial<ResourceOptions>
  readonly shallow: boolean
  /** What paths of rows begin with that are shallow. */
  readonly shallowPath: readonly string[]
  readonly shallowAs: readonly string[]
}

/** A resource as an app has declared it. */
export interface Declaration {
  readonly options: ResourceOptions
  readonly singleton: boolean
  readonly inherited: InheritedOptions
  readonly customActions: readonly CustomAction[]
  readonly children: readonly Declaration[]
}
