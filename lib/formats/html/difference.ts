import { isSchema } from '../../shape.js'

/** Whether two values say the same; the members of an object may stand in any order. */
export function isSame (a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b)
}

/** A short text that tells whether a value is still the one it was made of (FNV-1a, 32 bits). */
export function digest (value: unknown): string {
  const text = typeof value === 'string' ? `"${value}` : canonical(value)
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}

/** Absence is null: a form says both in the same way. */
function canonical (value: unknown): string {
  return JSON.stringify(value ?? null, sortMembers)
}

function sortMembers (_name: string, value: unknown): unknown {
  return isSchema(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)) : value
}
