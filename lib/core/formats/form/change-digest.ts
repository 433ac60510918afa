import { createHash } from 'node:crypto'
import { renderCanonicalJson } from '../../util/canonical-json.js'
import { completeSeconds, isSameSpelling } from './date-time.js'
import { type FormNode, markerOf } from './parse.js'

/** The length of a digest, in characters of six bits each: two values never have the same one by chance. */
const LENGTH = 16

/**
 * Returns a short digest that shows whether a value has changed. Absence has the digest of null, because a form sends
 * both in the same way.
 */
export function digest (value: unknown): string {
  return createHash('sha256').update(renderCanonicalJson(value ?? null)).digest('base64url').slice(0, LENGTH)
}

/** Returns the digest that the form has of an attribute, or `undefined` if it has none. */
export function findDigest (group: FormNode, name: string): string | undefined {
  const words = markerOf(group, 'was')?.split(' ') ?? []
  const at = words.findIndex((word, index) => index % 2 === 0 && word === name)
  return at === -1 ? undefined : words[at + 1]
}

/**
 * Returns whether an attribute still has the value that its form showed.
 * @param value the value that was read, or `undefined` if the text of the field could not be converted
 */
export function isUntouched (group: FormNode, name: string, value: unknown): boolean {
  const shown = findDigest(group, name)
  if (shown === undefined) return false
  if (value !== undefined && shown === digest(value)) return true
  const field = group.children.get(name)
  const was = field && markerOf(field, 'was')
  if (was !== undefined) return isSameSpelling(was, value) && shown === digest(was)
  const text = field?.texts.at(-1)
  if (text === undefined || (value !== undefined && value !== text && value !== completeSeconds(text))) return false
  // A stored value of another type than its attribute has is shown as a text: the number 5 as the text `5`.
  return shown === digest(text) || shown === digest(parseScalar(text) ?? text)
}

/** Returns the number or the boolean that is shown as this text, or `undefined` if there is none. */
function parseScalar (text: string): number | boolean | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : undefined
}
