import { isDeepStrictEqual } from 'node:util'
import type { ResolvedOptions } from '../options/resolve/options.js'

/** A resource that serves a file, also to the pages of others. */
export interface AssetOwner {
  readonly file: string
  readonly path: string
  readonly routing: ResolvedOptions['routing']
}

/**
 * Returns the path of the resource that serves a file. Browsers load the file once for all resources that share it. Its
 * hooks guard the file, so only a resource with the same hooks shares it.
 */
export function findAssetOwner (
  owners: AssetOwner[],
  file: string,
  path: string,
  { routing }: Pick<ResolvedOptions, 'routing'>
): string {
  // A resource without actions has no routes.
  if (routing.actions.size === 0) return path
  const owner = owners.find((other) => other.file === file &&
    isDeepStrictEqual(other.routing.hooks, routing.hooks) &&
    isDeepStrictEqual(other.routing.routeConstraints, routing.routeConstraints))
  if (owner !== undefined) return owner.path
  owners.push({ file, path, routing })
  return path
}
