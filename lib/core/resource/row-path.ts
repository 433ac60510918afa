import type { Id } from './row.js'

// Matches an id that needs no encoding and has no suffix.
const PLAIN = /^[\w-]+$/

/** Matches a dot before the word at the end of an id, which would begin a suffix, and its codes (`spellId`). */
const DOT = /(?:\.|%(?:25)*2E)(?=[a-z\d]+$)/

/**
 * Returns the text of an id in a path, before it is percent-encoded. If the id ends like a suffix, its last dot becomes
 * `%2E`, which a URL writes as `%252E`. A dot that is only percent-encoded is no other character (RFC 3986 §6.2.2.2):
 * many programs decode it, so that the id would lose its end. An id that ends with such a code gets another one.
 * @param suffixes the names of the formats, if one may follow the id
 */
export function spellId (id: Id, suffixes: readonly string[] = []): string {
  return String(id).replace(DOT, (dot, at: number, text: string) =>
    dot === '.' ? (suffixes.includes(text.slice(at + 1)) ? '%2E' : dot) : `%25${dot.slice(1)}`)
}

/** Returns the id that `spellId` has written as a text. */
export function readSpelling (text: string): string {
  return text.replace(DOT, (dot) => dot.length <= 3 ? '.' : `%${dot.slice(3)}`)
}

/** The beginning of the id of a row whose key no path can have. Such an id only names a position in a list. */
export const NO_PATH = '%['

/**
 * Returns whether a path can have an id: it is so short that `spellId` needs no more characters than a path parameter
 * may have.
 */
export function fitsPath (id: Id, longest: number): boolean {
  if (typeof id === 'number') return true
  return id.length + (DOT.test(id) ? 2 : 0) <= longest && !id.startsWith(NO_PATH)
}

/**
 * Returns the path of a row.
 * @param members the path before the ids of rows
 * @param suffixes the names of the formats
 */
export function memberPath (members: string, id: Id, suffixes: readonly string[]): string {
  return `${members}/${memberSegment(id, suffixes)}`
}

/** Encodes a text as a segment of a path. The comma, which joins the parts of an id, needs no code (RFC 3986 §3.3). */
export function encodeSegment (text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%2C', ',')
}

/** Returns the segment of an id. It needs no escape in markup either. */
export function memberSegment (id: Id, suffixes: readonly string[]): string {
  if (typeof id === 'number') return String(id)
  if (PLAIN.test(id)) return id
  return encodeSegment(spellId(id, suffixes))
}
