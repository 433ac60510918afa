import { InvalidPreconditionError } from '../../errors.js'
import { parseId } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'

/** `W/"1.xml"` (RFC 9110 §8.8.3) */
export interface EntityTag {
  readonly weak: boolean
  /** The text between the quotes. */
  readonly opaque: string
}

type EntityTags = readonly EntityTag[] | '*' | undefined

// RFC 9110 §8.8.3
const OPAQUE = '[!#-~\\x80-\\xff]*'
const TAG = `(W/)?"(${OPAQUE})"`
const WHOLE_OPAQUE = new RegExp(`^${OPAQUE}$`)
const WHOLE_TAG = new RegExp(`^${TAG}$`)
// RFC 9110 §5.6.1.2 lets a recipient skip empty elements. Sticky, so that each character is looked at once.
const ELEMENT = new RegExp(`[\\t ,]*(?:${TAG}[\\t ]*(?=,|$))?`, 'y')

/** Returns whether a text may stand between the quotes of an entity tag. */
export function isOpaque (text: string): boolean {
  return WHOLE_OPAQUE.test(text)
}

/**
 * Parses the entity tags of `If-Match` or `If-None-Match`; undefined without that header.
 * @throws InvalidPreconditionError
 */
export function parseEntityTags (header: string | undefined, name: string): EntityTags {
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

/** Parses one entity tag; undefined if the text is not exactly one. */
export function parseEntityTag (text: string): EntityTag | undefined {
  const [, weak, opaque] = WHOLE_TAG.exec(text) ?? []
  return opaque === undefined ? undefined : { weak: weak !== undefined, opaque }
}

/** What the headers and the form of a write demand of its row. At least one of them is there. */
export interface Preconditions {
  /** The versions that `If-Match` names, without the format; `'*'`: any version. */
  readonly match: readonly string[] | '*' | undefined
  /** The versions that `If-None-Match` names, without the format; `'*'`: any version. */
  readonly noneMatch: readonly string[] | '*' | undefined
  /** A form's `_version`. */
  readonly formVersion: string | undefined
}

/** Returns the preconditions of a write; undefined if there are none. */
export function findPreconditions (
  match: EntityTags,
  noneMatch: EntityTags,
  formVersion: string | undefined
): Preconditions | undefined {
  if (match === undefined && noneMatch === undefined && formVersion === undefined) return undefined
  return {
    // A weak tag matches nothing (RFC 9110 §13.1.1).
    match: typeof match === 'object' ? match.filter(({ weak }) => !weak).map(versionIn) : match,
    noneMatch: typeof noneMatch === 'object' ? noneMatch.map(versionIn) : noneMatch,
    formVersion
  }
}

/** Returns `3` of `3.xml`: a write compares versions, whichever format they were read in. */
function versionIn ({ opaque }: EntityTag): string {
  return opaque.replace(/\.[^.]*$/, '')
}

/** Returns whether the preconditions name a version that the row must have; `If-Match: *` does not. */
export function namesVersion (preconditions: Preconditions | undefined): boolean {
  return (
    preconditions !== undefined && (preconditions.formVersion !== undefined || typeof preconditions.match === 'object')
  )
}

/** Returns whether the version of an existing row decides if the preconditions hold. */
export function dependsOnRow (preconditions: Preconditions | undefined): preconditions is Preconditions {
  return namesVersion(preconditions) || preconditions?.noneMatch !== undefined
}

/** Returns the version that the row must have: `''` if no version is accepted, undefined if several are. */
export function soleVersion ({ match, noneMatch, formVersion }: Preconditions): string | undefined {
  if (noneMatch !== undefined) return undefined
  const versions = new Set([
    ...(typeof match === 'object' ? match : []),
    ...(formVersion === undefined ? [] : [formVersion])
  ])
  if (typeof match === 'object' && match.length === 0) return ''
  return versions.size === 1 ? [...versions][0] : undefined
}

/**
 * Returns whether the preconditions hold for an existing row (RFC 9110 §13.1.1, §13.1.2).
 * @param isNamed whether the request names the row by its path or an id: then a version needs no id before it
 */
export function areMet ({ match, noneMatch, formVersion }: Preconditions, row: RowKey, isNamed: boolean): boolean {
  const qualified = qualifyVersion(row)
  // No version can name a handler's row that has none.
  const names = (version: string): boolean =>
    row.version !== '' && (version === qualified || (isNamed && version === row.version))
  if (noneMatch === '*' || noneMatch?.some(names) === true) return false
  return (formVersion === undefined || names(formVersion)) && (typeof match !== 'object' || match.some(names))
}

/** The members that identify a row in one of its states. */
export type RowKey = Pick<Row, 'id' | 'version'>

/**
 * Returns `7-3`: the version with the id before it, for a path that does not name the row. Two rows never have the
 * same, because an encoded id has no `-`, unless it is a UUID, whose length is known.
 */
export function qualifyVersion ({ id, version }: RowKey): string {
  return version === '' ? '' : `${encodeId(id)}-${version}`
}

/** An id in characters that an entity tag can carry (RFC 9110 §8.8.3). */
function encodeId (id: Id): string {
  if (typeof id === 'number' || parseId('uuid', id) !== undefined) return String(id)
  return encodeURIComponent(id.toWellFormed()).replaceAll('-', '%2D')
}

/** Returns whether a version may have this id before it. */
export function mayBeQualified (version: string, id: Id): boolean {
  return version.startsWith(`${encodeId(id)}-`)
}

/** Returns whether a version may have any id before it. */
export function namesRow (version: string): boolean {
  return version.includes('-')
}

/** Returns whether `If-None-Match` names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function noneMatches (tags: readonly EntityTag[] | '*', opaque: string): boolean {
  return tags === '*' || tags.some((tag) => tag.opaque === opaque)
}
