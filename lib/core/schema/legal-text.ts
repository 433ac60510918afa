import { type Message, say } from '../messages.js'
import { isObject } from '../util/own-property.js'

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
export const UNSTORABLE_TEXT: Message = say('mustBeStorable')

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
export function findNameFault (name: string): Message | undefined {
  if (name.length > MAX_NAME_LENGTH) return say('isLongName', { most: MAX_NAME_LENGTH })
  return isStorableText(name) && name !== '__proto__' ? undefined : say('isInvalidName')
}

/** Returns why a client may not use the name for an undeclared attribute, or `undefined` if it may. */
export function findOpenNameFault (name: string): Message | undefined {
  if (name.length > MAX_NAME_LENGTH) return say('isLongName', { most: MAX_NAME_LENGTH })
  if (!isPortableName(name)) return say('isInvalidXmlName')
  return name.includes('-') ? say('hasHyphen', { cure: underscore(name) }) : undefined
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

// XML 1.0, fourth edition, appendix B: the characters that begin a name, in hexadecimal, without the colon. The fifth
// edition has more, but the parsers of Java, Python (expat) and Ruby (REXML) refuse them.
const STARTS = [
  '41-5a 5f 61-7a c0-d6 d8-f6 f8-131 134-13e 141-148 14a-17e 180-1c3 1cd-1f0 1f4-1f5 1fa-217 250-2a8 2bb-2c1 386 ',
  '388-38a 38c 38e-3a1 3a3-3ce 3d0-3d6 3da 3dc 3de 3e0 3e2-3f3 401-40c 40e-44f 451-45c 45e-481 490-4c4 4c7-4c8 ',
  '4cb-4cc 4d0-4eb 4ee-4f5 4f8-4f9 531-556 559 561-586 5d0-5ea 5f0-5f2 621-63a 641-64a 671-6b7 6ba-6be 6c0-6ce ',
  '6d0-6d3 6d5 6e5-6e6 905-939 93d 958-961 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9dc-9dd 9df-9e1 9f0-9f1 ',
  'a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39 a59-a5c a5e a72-a74 a85-a8b a8d a8f-a91 a93-aa8 aaa-ab0 ',
  'ab2-ab3 ab5-ab9 abd ae0 b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b36-b39 b3d b5c-b5d b5f-b61 b85-b8a b8e-b90 ',
  'b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb5 bb7-bb9 c05-c0c c0e-c10 c12-c28 c2a-c33 c35-c39 c60-c61 ',
  'c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cde ce0-ce1 d05-d0c d0e-d10 d12-d28 d2a-d39 d60-d61 e01-e2e e30 e32-e33 ',
  'e40-e45 e81-e82 e84 e87-e88 e8a e8d e94-e97 e99-e9f ea1-ea3 ea5 ea7 eaa-eab ead-eae eb0 eb2-eb3 ebd ec0-ec4 ',
  'f40-f47 f49-f69 10a0-10c5 10d0-10f6 1100 1102-1103 1105-1107 1109 110b-110c 110e-1112 113c 113e 1140 114c 114e ',
  '1150 1154-1155 1159 115f-1161 1163 1165 1167 1169 116d-116e 1172-1173 1175 119e 11a8 11ab 11ae-11af 11b7-11b8 ',
  '11ba 11bc-11c2 11eb 11f0 11f9 1e00-1e9b 1ea0-1ef9 1f00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b ',
  '1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc ',
  '2126 212a-212b 212e 2180-2182 3007 3021-3029 3041-3094 30a1-30fa 3105-312c 4e00-9fa5 ac00-d7a3'
].join('')

// The further characters of a name: digits, marks and extenders.
const FOLLOWERS = [
  '2d-2e 30-39 b7 2d0-2d1 300-345 360-361 387 483-486 591-5a1 5a3-5b9 5bb-5bd 5bf 5c1-5c2 5c4 640 64b-652 660-669 ',
  '670 6d6-6e4 6e7-6e8 6ea-6ed 6f0-6f9 901-903 93c 93e-94d 951-954 962-963 966-96f 981-983 9bc 9be-9c4 9c7-9c8 ',
  '9cb-9cd 9d7 9e2-9e3 9e6-9ef a02 a3c a3e-a42 a47-a48 a4b-a4d a66-a71 a81-a83 abc abe-ac5 ac7-ac9 acb-acd ae6-aef ',
  'b01-b03 b3c b3e-b43 b47-b48 b4b-b4d b56-b57 b66-b6f b82-b83 bbe-bc2 bc6-bc8 bca-bcd bd7 be7-bef c01-c03 c3e-c44 ',
  'c46-c48 c4a-c4d c55-c56 c66-c6f c82-c83 cbe-cc4 cc6-cc8 cca-ccd cd5-cd6 ce6-cef d02-d03 d3e-d43 d46-d48 d4a-d4d ',
  'd57 d66-d6f e31 e34-e3a e46-e4e e50-e59 eb1 eb4-eb9 ebb-ebc ec6 ec8-ecd ed0-ed9 f18-f19 f20-f29 f35 f37 f39 ',
  'f3e-f3f f71-f84 f86-f8b f90-f95 f97 f99-fad fb1-fb7 fb9 20d0-20dc 20e1 3005 302a-302f 3031-3035 3099-309a ',
  '309d-309e 30fc-30fe'
].join('')

function classOf (ranges: string): string {
  return ranges.replaceAll(/[\da-f]+/g, String.raw`\u{$&}`).replaceAll(' ', '')
}

const PORTABLE = new RegExp(`^[${classOf(STARTS)}][${classOf(STARTS)}${classOf(FOLLOWERS)}]*$`, 'u')

/** Returns whether each XML parser accepts the text as a name. No name has a colon, and `__proto__` is invalid. */
export function isPortableName (name: string): boolean {
  return PORTABLE.test(name) && name !== '__proto__'
}
