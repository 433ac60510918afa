import { InvalidPreconditionError } from './errors.js'

/** `W/"1.xml"` (RFC 9110 §8.8.3) */
export interface EntityTag {
  readonly weak: boolean
  /** What stands between the quotes. */
  readonly opaque: string
}

// RFC 9110 §5.6.1.2 lets a recipient pass over empty elements. Sticky, so that each character is looked at once.
const ELEMENT = /[\t\x20,]*(?:(W\/)?"([!#-~\x80-\xff]*)"[\t\x20]*(?=,|$))?/y

/**
 * The tags of `If-Match` or `If-None-Match`, or `'*'`; undefined where there is no such header.
 * @throws InvalidPreconditionError
 */
export function parseEntityTags (header: string | undefined, name: string): readonly EntityTag[] | '*' | undefined {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  const tags: EntityTag[] = []
  ELEMENT.lastIndex = 0
  while (ELEMENT.lastIndex < header.length) {
    const start = ELEMENT.lastIndex
    const [, weak, opaque] = ELEMENT.exec(header) as RegExpExecArray
    if (opaque !== undefined) tags.push({ weak: weak !== undefined, opaque })
    else if (ELEMENT.lastIndex === start || ELEMENT.lastIndex < header.length) throw new InvalidPreconditionError(name)
  }
  if (tags.length === 0) throw new InvalidPreconditionError(name)
  return tags
}

/**
 * The versions that `If-Match` lets through, whatever format they were read in; undefined: any. A weak tag lets none
 * through (RFC 9110 §13.1.1).
 */
export function matchedVersions (tags: readonly EntityTag[] | '*' | undefined): readonly string[] | undefined {
  if (tags === undefined || tags === '*') return undefined
  return tags.filter(({ weak }) => !weak).map(({ opaque }) => opaque.replace(/\.[^.]*$/, ''))
}

/** Whether `If-None-Match` names the tag, weakly compared (RFC 9110 §13.1.2). */
export function noneMatches (tags: readonly EntityTag[] | '*', opaque: string): boolean {
  return tags === '*' || tags.some((tag) => tag.opaque === opaque)
}
