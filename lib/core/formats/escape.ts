import { isLegalText } from '../schema/legal-text.js'
import type { Writer } from './format.js'

// Matches markup, CR (which a reader would turn into LF, XML 1.0 §2.11), and characters that no document may contain.
const SPECIALS = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g // eslint-disable-line no-control-regex

// Matches the same in an attribute, where a reader would turn white space into a space (XML 1.0 §3.3.3).
const SPECIALS_OF_ATTRIBUTE = new RegExp(`["\\t\\n${SPECIALS.source.slice(1)}`, 'g')

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;'
}

/** In characters. A longer text with much to escape is escaped as bytes, which takes a third of the time. */
const LONG = 200
/** The distance, in characters, between the samples that estimate how much of a text must be escaped. */
const STRIDE = 13

// Matches all of the above, and surrogates. As a negated class of the clean characters it is 1.2 times faster.
const UNCLEAN = /[^\t\n -%'-;=?-\ud7ff\ue000-\ufffd]/
// Matches, in addition, the characters that must be escaped in an attribute.
const UNCLEAN_ATTRIBUTE = /[^ !#-%'-;=?-\ud7ff\ue000-\ufffd]/

/** Escapes a text as the content of an element. Characters that XML cannot carry become U+FFFD. */
export function escapeText (text: string): string {
  if (!UNCLEAN.test(text)) return text
  return isDense(text, BYTES) ? escapeBytes(text, BYTES) : text.toWellFormed().replace(SPECIALS, refer)
}

/**
 * Escapes a value as the content of an element. Returns `undefined` if it is not a string, is empty, or has a character
 * that XML cannot carry.
 */
export function escapeContent (value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  if (!UNCLEAN.test(value)) return value
  return isLegalText(value) ? escapeText(value) : undefined
}

/** Escapes a text as the value of an attribute in double quotes. */
export function escapeAttribute (text: string): string {
  if (!UNCLEAN_ATTRIBUTE.test(text)) return text
  return isDense(text, BYTES_OF_ATTRIBUTE)
    ? escapeBytes(text, BYTES_OF_ATTRIBUTE)
    : text.toWellFormed().replace(SPECIALS_OF_ATTRIBUTE, refer)
}

function refer (character: string): string {
  return REFERENCES[character] ?? '\ufffd'
}

/** For each byte of UTF-8, the bytes that replace it, or `undefined` if it stays. */
type References = ReadonlyArray<Uint8Array | undefined>

const BYTES = referencesOf(SPECIALS)
const BYTES_OF_ATTRIBUTE = referencesOf(SPECIALS_OF_ATTRIBUTE)

function referencesOf (specials: RegExp): References {
  const characters = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte))
  return characters.map((character) => character.search(specials) === -1 ? undefined : Buffer.from(refer(character)))
}

/** Returns whether a text is long, and about an eighth of it or more must be escaped. */
function isDense (text: string, references: References): boolean {
  if (text.length <= LONG) return false
  let count = 0
  for (let index = 0; index < text.length; index += STRIDE) {
    const code = text.charCodeAt(index)
    if (code < references.length && references[code] !== undefined) count++
  }
  return count * STRIDE * 8 >= text.length
}

/** The length of the longest reference, `&quot;`, in bytes. */
const LONGEST_REFERENCE = 6

/** A shared buffer for shorter texts, whose allocation would take as long as their escaping. No call keeps it. */
const SCRATCH = Buffer.allocUnsafe(64 * 1024)

/** Escapes a text byte by byte. The encoding turns unpaired surrogates into U+FFFD. */
function escapeBytes (text: string, references: References): string {
  const bytes = Buffer.from(text.replaceAll(/[\ufffe\uffff]/g, '\ufffd'))
  const most = bytes.length * LONGEST_REFERENCE
  const escaped = most > SCRATCH.length ? Buffer.allocUnsafe(most) : SCRATCH
  let length = 0
  // The loop counts indices, because an iterator would take up to twice as long.
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    const reference = references[byte]
    if (reference === undefined) escaped[length++] = byte
    else for (let part = 0; part < reference.length; part++) escaped[length++] = reference[part] as number
  }
  return escaped.toString('utf8', 0, length)
}

/** The byte order mark (Unicode §23.8). Without it, Excel takes UTF-8 for an encoding of one byte a character. */
const MARK = '\uFEFF'

/** Returns the name in `?format=` of a format whose texts begin with a byte order mark. */
export function nameMarked (name: string): string {
  return `${name}-bom`
}

/** Returns a writer whose texts begin with a byte order mark. */
export function addMark (writer: Writer): Writer {
  if (writer.list === undefined || writer.document !== undefined) return writer
  const { list, record } = writer
  return { ...writer, list: { ...list, open: MARK + list.open }, record: (row, view) => MARK + record(row, view) }
}
