import { createHash } from 'node:crypto'
import type { AttributesSchema } from '../schema/types.js'
import { identity } from '../util/functions.js'
import type { Resource } from './resource.js'
import type { Row } from './row.js'
import { compileVisible, compileVisibleRow } from './visible.js'

/**
 * Compiles the version by which clients know a row whose own version is a digest of all its values: a digest of those
 * that every client may read. With the other one, a client that knows the rest of a row could try out what is hidden.
 * Returns `undefined` if nothing is hidden.
 * @param stored the attributes that the store keeps, or `undefined` if they are unknown
 */
export function compilePublicVersion (
  resource: Resource,
  stored: AttributesSchema | undefined
): Resource['publicVersion'] {
  const visible = compileVisible(resource)
  const isWhole = [...visible.values()].every((hide) => hide === identity)
  const names = Object.keys(stored?.properties ?? {})
  if (resource.open || (stored !== undefined && isWhole && names.every((name) => visible.has(name)))) return undefined
  const see = compileVisibleRow(resource)
  return (row) => createHash('sha256').update(JSON.stringify(see(row).attributes)).digest('hex').slice(0, 40)
}

/** Returns the version of a row as clients know it. */
export function versionOf (row: Row, { publicVersion }: Pick<Resource, 'publicVersion'>): string {
  return publicVersion === undefined || row.version === '' ? row.version : publicVersion(row)
}

/** Returns a row as it may leave the server, with the version that clients know. */
export function publish (row: Row, resource: Pick<Resource, 'publicVersion'>): Row {
  return resource.publicVersion === undefined ? row : { ...row, version: versionOf(row, resource) }
}
