import type { CompiledResource } from '../http/compiled-resource.js'
import type { Route, RoutePath } from '../http/route.js'
import { camelize, capitalize } from '../resource/inflection.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './media.js'
import type { ResourceSchemas } from './resource-schemas.js'

/** What operations are described by. */
export interface DescribedResource {
  readonly compiled: CompiledResource
  readonly names: OperationNames
  /** What the parameters of its paths are like. */
  readonly parameters: ReadonlyMap<string, Part>
  readonly schemas: ResourceSchemas
  readonly writer: DocumentWriter
}

/** An operation: what `method` does on a path. */
export interface Operated {
  readonly path: RoutePath
  readonly route: Route
  readonly method: string
  /** Whether it stands at the path with a suffix. */
  readonly isSuffixed: boolean
}

/** What can be said of an operation beside where it stands. */
export interface Purpose {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly query: readonly Part[]
  readonly headers: readonly Part[]
  readonly body?: Part
  readonly answers: Readonly<Record<string, Part>>
  readonly refusals: readonly number[]
}

/** A resource as a document calls it. */
export interface OperationNames {
  /** `Posts`, with what its path begins with: `BlogPosts`. */
  readonly many: string
  /** `Post` */
  readonly one: string
}

/**
 * Of the names of its paths: for a description of the whole app, where the same names may stand under other prefixes.
 */
export function nameDescribed (
  prefix: string,
  { collection, member }: { readonly collection: string; readonly member: string }
): OperationNames {
  // What a parameter's expression restricts it to is no name: `/:year(^\\d{4}$)`.
  const before = prefix
    .replaceAll(/\([^()]*\)/g, '')
    .split('/')
    .map((segment) => segment.replaceAll(/[^\w-]+/g, ''))
    .filter((segment) => segment !== '')
  const name = (path: string): string => capitalize(camelize([...before, path].join('_')))
  return { many: name(collection), one: name(member) }
}
