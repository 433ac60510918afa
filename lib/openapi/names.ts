import { camelize, capitalize } from '../resource/inflection.js'

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
