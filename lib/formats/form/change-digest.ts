import { renderCanonicalJson } from '../../util/canonical-json.js'
import { type FormNode, markerOf } from './parse.js'

/** Returns whether two values are equal. The members of an object may have any order. */
export function isSame (a: unknown, b: unknown): boolean {
  return a === b || canonical(a) === canonical(b)
}

// A signed 32-bit number, as `Math.imul` returns it. A larger number would make the loop three times as slow.
const OFFSET = 0x811c9dc5 | 0
const PRIME = 0x01000193
const QUOTE = hashText('"', OFFSET)

/**
 * Returns a short digest that shows whether a value has changed (FNV-1a, 31 of its 32 bits). The digits are decimal,
 * because another base takes seven times as long.
 */
export function digest (value: unknown): string {
  return String((typeof value === 'string' ? hashText(value, QUOTE) : hashText(canonical(value), OFFSET)) >>> 1)
}

function hashText (text: string, before: number): number {
  let hash = before
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), PRIME)
  return hash
}

/** Returns canonical JSON. Absence becomes `null`, because a form sends both in the same way. */
function canonical (value: unknown): string {
  if (typeof value === 'boolean' || Number.isFinite(value)) return String(value)
  return renderCanonicalJson(value ?? null)
}

/**
 * Returns whether an attribute still has the value of which the form has a digest.
 * @param value the value that was read, or `undefined` if the text of the field could not be converted
 */
export function isUntouched (group: FormNode, name: string, value: unknown): boolean {
  const was = markerOf(group, 'was')
  if (was === undefined) return false
  const words = was.split(' ')
  const at = words.findIndex((word, index) => index % 2 === 0 && word === name)
  // Without a schema, an attribute that was absent has no digest.
  if (at === -1) return value === null
  return words[at + 1] === digest(value === undefined ? group.children.get(name)?.texts.at(-1) : value)
}
