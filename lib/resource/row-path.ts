import type { Id } from './row.js'

// Matches an id that needs no encoding and has no suffix.
const PLAIN = /^[\w-]+$/

/**
 * Returns the path of a row. If the id ends like a suffix, its last dot becomes `%2E`.
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
  const segment = encodeSegment(id)
  const dot = segment.lastIndexOf('.')
  return dot !== -1 && suffixes.includes(segment.slice(dot + 1))
    ? `${segment.slice(0, dot)}%2E${segment.slice(dot + 1)}`
    : segment
}
