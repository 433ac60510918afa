import type { Id } from './row.js'

// What no path spells otherwise, and what has no suffix.
const PLAIN = /^[\w-]+$/

/**
 * The path of a row. Where a text ends as if it had a suffix, its last dot is written `%2E`, so that the suffix is not
 * taken off.
 * @param members the path that all rows are under
 * @param suffixes the names of the formats
 */
export function memberPath (members: string, id: Id, suffixes: readonly string[]): string {
  return `${members}/${memberSegment(id, suffixes)}`
}

/** What such a path has for the id: characters that need no escape in markup either. */
export function memberSegment (id: Id, suffixes: readonly string[]): string {
  if (typeof id === 'number') return String(id)
  if (PLAIN.test(id)) return id
  const segment = encodeURIComponent(id.toWellFormed())
  const dot = segment.lastIndexOf('.')
  return dot !== -1 && suffixes.includes(segment.slice(dot + 1))
    ? `${segment.slice(0, dot)}%2E${segment.slice(dot + 1)}`
    : segment
}
