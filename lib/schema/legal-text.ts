import { isObject } from '../util/own-property.js'

// XML 1.0 §2.2: what no document may contain, not even as a character reference.
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/ // eslint-disable-line no-control-regex

// XML 1.0 §2.3 Name, without the colon, which belongs to namespaces.
const NAME =
  /^[A-Z_a-z\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{2ff}\u{370}-\u{37d}\u{37f}-\u{1fff}\u{200c}-\u{200d}\u{2070}-\u{218f}\u{2c00}-\u{2fef}\u{3001}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{fffd}\u{10000}-\u{effff}][-.0-9A-Z_a-z\u{b7}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{37d}\u{37f}-\u{1fff}\u{200c}-\u{200d}\u{203f}-\u{2040}\u{2070}-\u{218f}\u{2c00}-\u{2fef}\u{3001}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{fffd}\u{10000}-\u{effff}]*$/u

/** In characters: so long a name that comes in may be. */
export const MAX_NAME_LENGTH = 200
/** How many names one open object may have, and how deep open values may be nested. */
export const MAX_OPEN_NAMES = 100

// Those and the halves of characters. What is not among the others is found faster than what is among these.
const SUSPECT = /[^\t\n\r -\ud7ff\ue000-\ufffd]/

/** Whether each of our formats can carry the text. */
export function isLegalText (text: string): boolean {
  return !SUSPECT.test(text) || (!ILLEGAL.test(text) && text.isWellFormed())
}

/** Whether the texts and names within a value are such. */
export function isLegalValue (value: unknown, isName: (name: string) => boolean = isLegalName): boolean {
  if (typeof value === 'string') return isLegalText(value)
  if (Array.isArray(value)) return value.every((item) => isLegalValue(item, isName))
  return !isObject(value) || Object.entries(value).every(([name, inner]) => isName(name) && isLegalValue(inner, isName))
}

/** Whether XML can carry the name of an attribute: without a colon, and not `__proto__`. */
export function isXmlName (name: string): boolean {
  return NAME.test(name) && name !== '__proto__'
}

/** Whether a client may give such a name. */
export function isLegalName (name: string): boolean {
  return findNameFault(name) === undefined
}

/** Why a client may not give such a name. */
export function findNameFault (name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `is a name of more than ${MAX_NAME_LENGTH} characters`
  return isXmlName(name) ? undefined : 'is not a name that XML can carry'
}

/** Returns why a client may not give such a name to an attribute that no schema declares, nor to a member of one. */
export function findOpenNameFault (name: string): string | undefined {
  const fault = findNameFault(name)
  if (fault !== undefined || !name.includes('-')) return fault
  return `has a "-" in its name, which XML clients write for "_"; send "${underscore(name)}"`
}

/** Whether a client may give such a name to an attribute that no schema declares. */
export function isOpenName (name: string): boolean {
  return findOpenNameFault(name) === undefined
}

/** Returns `first_name` for `first-name`, which is how clients of the convention write it in XML. */
export function underscore (name: string): string {
  return name.replaceAll('-', '_')
}

/** A name that XML can carry for one that a store holds in spite of it: U+FFFD for what it cannot. */
export function toLegalName (name: string): string {
  if (isXmlName(name)) return name
  const legal = [...name].map((character) => NAME.test(`_${character}`) ? character : '\ufffd').join('')
  return NAME.test(legal) ? legal : `\ufffd${legal}`
}
