import { renderCanonicalJson } from '../../../util/canonical-json.js'

/** Whether two values say the same; the members of an object may stand in any order. */
export function isSame (a: unknown, b: unknown): boolean {
  return a === b || canonical(a) === canonical(b)
}

// In 32 bits with a sign, as `imul` gives them: a number beyond that would make the loop three times as slow.
const OFFSET = 0x811c9dc5 | 0
const PRIME = 0x01000193
const QUOTE = hashText('"', OFFSET)

/**
 * A short text that tells whether a value is still the one it was made of (FNV-1a, 31 of its 32 bits). The digits are
 * decimal: in another base a number is written seven times as slowly.
 */
export function digest (value: unknown): string {
  return String((typeof value === 'string' ? hashText(value, QUOTE) : hashText(canonical(value), OFFSET)) >>> 1)
}

function hashText (text: string, before: number): number {
  let hash = before
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME)
  return hash
}

/** Absence is null: a form says both in the same way. */
function canonical (value: unknown): string {
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  return renderCanonicalJson(value ?? null)
}
