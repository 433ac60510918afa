import type { Schema } from './types.js'

/** A JSON Pointer (RFC 6901) within the schema, or the `$id` of a part of it: also `#name` (draft-07 §8.2.3). */
export function resolveReference (reference: string, root: Schema): unknown {
  const target = /^#(\/|$)/.test(reference) ? resolvePointer(reference, root) : findId(reference, root)
  if (target === undefined) throw new Error(`the reference "${reference}" leads nowhere in the schema`)
  return target
}

function resolvePointer (reference: string, root: Schema): unknown {
  let target: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    target =
      typeof target === 'object' && target !== null && Object.hasOwn(target, key) ? (target as Schema)[key] : undefined
  }
  return target
}

function findId (id: string, within: unknown): unknown {
  if (typeof within !== 'object' || within === null) return undefined
  if ((within as Schema).$id === id) return within
  for (const part of Object.values(within)) {
    const found = findId(id, part)
    if (found !== undefined) return found
  }
  return undefined
}
