import type { CompiledResource } from '../core/compiled-resource.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { camelize } from '../core/resource/inflection.js'
import { capitalize } from '../core/util/words.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './media.js'
import type { ResourceSchemas } from './resource-schemas.js'

/** A resource with its names, schemas and writer in one document. */
export interface DescribedResource {
  readonly compiled: CompiledResource
  readonly names: OperationNames
  /** The schemas of the parameters of its paths. */
  readonly parameters: ReadonlyMap<string, Part>
  readonly schemas: ResourceSchemas
  readonly writer: DocumentWriter
}

export interface DescribedOperation {
  readonly path: RoutePath
  readonly route: Route
  readonly method: string
  /** Whether its path ends with a suffix. */
  readonly isSuffixed: boolean
}

/** The description of an operation without its path. */
export interface OperationDescription {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly query?: readonly Part[]
  readonly headers?: readonly Part[]
  readonly body?: Part
  readonly answers: Readonly<Record<string, Part>>
  readonly refusals: readonly number[]
}

/** The names of a resource in a document. */
export interface OperationNames {
  /** The plural: `Posts`, or with the prefix of its path `BlogPosts`. */
  readonly many: string
  /** The singular: `Post`. */
  readonly one: string
}

/** Makes the names from those of the paths and from the prefix, because another prefix may have the same path names. */
export function nameDescribed (
  prefix: string,
  { collection, member }: { readonly collection: string; readonly member: string }
): OperationNames {
  // Leaves out the expression of a parameter: `/:year(^\\d{4}$)`.
  const before = prefix
    .replaceAll(/\([^()]*\)/g, '')
    .split('/')
    .map((segment) => segment.replaceAll(/[^\w-]+/g, ''))
    .filter((segment) => segment !== '')
  const name = (path: string): string => capitalize(camelize([...before, path].join('_')))
  return { many: name(collection), one: name(member) }
}
