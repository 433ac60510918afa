import { isObject } from '../util/own-property.js'
import { isPortableName } from './portable-name.js'

// XML 1.0 §2.2: a document must not contain these characters, not even as character references.
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/ // eslint-disable-line no-control-regex
const EACH_ILLEGAL = new RegExp(ILLEGAL, 'g')

// XML 1.0 §2.3 defines NameStartChar and Name. The colon is left out, because it belongs to namespaces.
const NAME_START = [
  String.raw`A-Z_a-z\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{2ff}\u{370}-\u{37d}\u{37f}-\u{1fff}\u{200c}-\u{200d}`,
  String.raw`\u{2070}-\u{218f}\u{2c00}-\u{2fef}\u{3001}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{fffd}\u{10000}-\u{effff}`
].join('')
const NAME = new RegExp(
  String.raw`^[${NAME_START}][\u{300}-\u{36f}${NAME_START}\u{b7}\u{203f}-\u{2040}0-9.-]*$`,
  'u'
)

/** The length of the longest name that a client may send, in characters. */
export const MAX_NAME_LENGTH = 200
/** The largest number of names in an object without a schema, and of attributes of a resource without one. */
export const MAX_OPEN_NAMES = 100

/** Matches illegal characters and all surrogates, which are legal only in pairs. V8 finds a complement faster. */
export const SUSPECT_CHARACTERS: RegExp = /[^\t\n\r -\ud7ff\ue000-\ufffd]/

/** Returns whether XML and pages can carry the text. */
export function isLegalText (text: string): boolean {
  return !SUSPECT_CHARACTERS.test(text) || (!ILLEGAL.test(text) && text.isWellFormed())
}

/**
 * The first character of a text that stands for a stored value of another type: a BLOB, a text that is no JSON, or a
 * value that would otherwise look like one of another type. No request may contain the character, so that no client
 * writes the text back in place of the value.
 */
export const MARK = '\uffff'

/** Returns a text that stands for a stored text that a client must not write back. */
export function markText (text: string): string {
  return MARK + text
}

/** Returns the text that a marked text stands for, or `undefined` if the value is no such text. */
export function readMarkedText (value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined
}

// Databases cut or refuse a text with U+0000, and change unpaired surrogates.
const UNSTORABLE = /[\0\uffff]/

/** Returns whether every store can keep the text as it is. */
export function isStorableText (text: string): boolean {
  return !SUSPECT_CHARACTERS.test(text) || (!UNSTORABLE.test(text) && text.isWellFormed())
}

/** The message about a text that is not storable. */
export const UNSTORABLE_TEXT = 'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored'

/** Returns whether every store can keep the texts and names in a value. */
export function isStorableValue (value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value)
  if (Array.isArray(value)) return value.every(isStorableValue)
  return !isObject(value) ||
    Object.entries(value).every(([name, inner]) => findNameFault(name) === undefined && isStorableValue(inner))
}

/** Replaces each character that no XML document can carry. Unpaired surrogates stay. */
export function replaceIllegal (text: string, replace: (character: string) => string): string {
  return text.replace(EACH_ILLEGAL, replace)
}

/** Returns whether XML and pages can carry the texts and names in a value. */
export function isLegalValue (value: unknown): boolean {
  if (typeof value === 'string') return isLegalText(value)
  if (Array.isArray(value)) return value.every(isLegalValue)
  return !isObject(value) ||
    Object.entries(value).every(([name, inner]) => isLegalText(name) && isLegalValue(inner))
}

/** Returns whether XML can carry the name of an attribute. A name with a colon is invalid, and so is `__proto__`. */
export function isXmlName (name: string): boolean {
  return NAME.test(name) && name !== '__proto__'
}

/** Returns why a client may not use the name inside an attribute, or `undefined` if it may. */
export function findNameFault (name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `is a name of more than ${MAX_NAME_LENGTH} characters`
  return isStorableText(name) && name !== '__proto__' ? undefined : 'is not a valid name'
}

/** Returns why a client may not use the name for an undeclared attribute, or `undefined` if it may. */
export function findOpenNameFault (name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `is a name of more than ${MAX_NAME_LENGTH} characters`
  if (!isPortableName(name)) return 'is not a valid name in XML'
  return name.includes('-')
    ? `has a "-" in its name, which XML clients write for "_"; send "${underscore(name)}"`
    : undefined
}

export function isOpenName (name: string): boolean {
  return findOpenNameFault(name) === undefined
}

/** Replaces each `-` by `_`, because some XML clients write `first-name` for `first_name`. */
export function underscore (name: string): string {
  return name.replaceAll('-', '_')
}

const NOT_BASE64 = /[^A-Za-z\d+/]/
// Matches the last four characters. The bits that belong to no byte are zero, so that bytes have only one spelling.
const BASE64_END = /^(?:[A-Za-z\d+/]{4}|[A-Za-z\d+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z\d+/][AQgw]==)$/

/** Returns whether a text is base64 (RFC 4648 §4) with padding and without white space. The empty text is. */
export function isBase64 (text: string): boolean {
  // One expression for the whole text would keep a stack frame for each group of four characters.
  if (text === '') return true
  return text.length % 4 === 0 && !NOT_BASE64.test(text.slice(0, -4)) && BASE64_END.test(text.slice(-4))
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Returns whether a value is a UUID in the spelling that RFC 9562 §4 requires of output: lower case, with hyphens. */
export function isUuid (value: unknown): boolean {
  return typeof value === 'string' && UUID.test(value)
}
