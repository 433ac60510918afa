import type { Resource } from '../../resource/resource.js'
import { isObject } from '../../util/own-property.js'
import type { Format, Reader } from '../format.js'
import { compileJsonReader } from './json.js'

/** The format `application/merge-patch+json` (RFC 7396), which only a PATCH has. It is only read. */
export const mergePatch: Format & Required<Pick<Format, 'compileReader'>> = {
  name: 'json',
  mediaTypes: ['application/merge-patch+json'],
  compileReader: compileMergePatchReader
}

/** Compiles the reader of `{"post":{"rating":null}}`, which removes attributes and merges objects. */
function compileMergePatchReader (resource: Resource): Reader {
  return {
    ...compileJsonReader(resource),
    // Without a schema, null could not be sent in any other meaning that a client needs.
    removes: (node, { types }) => node === null && (resource.open || !types.has('null')),
    merges: isObject
  }
}

/** Applies a merge patch to a value, and returns the result (RFC 7396 §2). The value stays as it is. */
export function applyMergePatch (value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(isObject(value) ? Object.entries(value) : [])
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) members.delete(name)
    else members.set(name, applyMergePatch(members.get(name), part))
  }
  return Object.fromEntries(members)
}
