import { InvalidPreconditionError } from '../errors.js'
import { parseId, type Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'

/** An entity tag, such as `W/"1.xml"` (RFC 9110 §8.8.3). */
export interface EntityTag {
  readonly weak: boolean
  /** The text between the quotes. */
  readonly opaque: string
}

/** The entity tags of a header, or `'*'` for any tag, or `undefined` without that header. */
export type EntityTags = readonly EntityTag[] | '*' | undefined

// The syntax of entity tags (RFC 9110 §8.8.3).
const OPAQUE = '[!#-~\\x80-\\xff]*'
const TAG = `(W/)?"(${OPAQUE})"`
const WHOLE_OPAQUE = new RegExp(`^${OPAQUE}$`)
const WHOLE_TAG = new RegExp(`^${TAG}$`)
// RFC 9110 §5.6.1.2 lets a recipient skip empty elements. The expression is sticky, so each character is read once.
const ELEMENT = new RegExp(`[\\t ,]*(?:${TAG}[\\t ]*(?=,|$))?`, 'y')

/** Returns whether a text may stand between the quotes of an entity tag. */
export function isOpaque (text: string): boolean {
  return WHOLE_OPAQUE.test(text)
}

/**
 * Parses the entity tags of `If-Match` or `If-None-Match`. Returns `undefined` without that header.
 * @throws InvalidPreconditionError
 */
export function parseEntityTags (header: string | undefined, name: string): EntityTags {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  const tags: EntityTag[] = []
  ELEMENT.lastIndex = 0
  while (ELEMENT.lastIndex < header.length) {
    const [, weak, opaque] = ELEMENT.exec(header) as RegExpExecArray
    if (opaque !== undefined) tags.push({ weak: weak !== undefined, opaque })
    else if (ELEMENT.lastIndex < header.length) throw new InvalidPreconditionError(name)
  }
  if (tags.length === 0) throw new InvalidPreconditionError(name)
  return tags
}

/** Parses one entity tag. Returns `undefined` if the text is not exactly one. */
export function parseEntityTag (text: string): EntityTag | undefined {
  const [, weak, opaque] = WHOLE_TAG.exec(text) ?? []
  return opaque === undefined ? undefined : { weak: weak !== undefined, opaque }
}

/** The demands of the headers and the form of a write on its row. At least one of them is present. */
export interface Preconditions {
  /** The versions that `If-Match` names, without format and shape, or `'*'` for any version. */
  readonly match: readonly string[] | '*' | undefined
  /** The versions that `If-None-Match` names, without format and shape, or `'*'` for any version. */
  readonly noneMatch: readonly string[] | '*' | undefined
  /** A form's `_version`. */
  readonly formVersion: string | undefined
  /** Whether they name a version that the row must have; `If-Match: *` does not. */
  readonly nameVersion: boolean
  /** Whether the version of an existing row decides if they hold. */
  readonly dependOnRow: boolean
  /** The only version that the row may have: `''` if no version is allowed, `undefined` if it is not just one. */
  readonly soleVersion: string | undefined
}

/** The headers with entity tags. */
export interface ConditionalHeaders {
  readonly 'if-match'?: string | undefined
  readonly 'if-none-match'?: string | undefined
}

/** The entity tags of a GET, which are compared as a whole. */
export interface ReadConditions {
  readonly match: EntityTags
  readonly noneMatch: EntityTags
}

/**
 * Parses the preconditions of a GET. Returns `undefined` if there are none.
 * @throws InvalidPreconditionError
 */
export function findReadConditions (headers: ConditionalHeaders): ReadConditions | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return undefined
  return { match: parseEntityTags(match, 'If-Match'), noneMatch: parseEntityTags(noneMatch, 'If-None-Match') }
}

/**
 * Parses the preconditions of a write. Returns `undefined` if there are none.
 * @param formats the formats whose names may stand after a version
 * @throws InvalidPreconditionError
 */
export function findPreconditions (
  headers: ConditionalHeaders,
  formVersion: string | undefined,
  formats: ReadonlyArray<{ readonly name: string }>
): Preconditions | undefined {
  const matchTags = parseEntityTags(headers['if-match'], 'If-Match')
  const noneMatchTags = parseEntityTags(headers['if-none-match'], 'If-None-Match')
  const versionIn = ({ opaque }: EntityTag): string => findVersion(opaque, formats)
  if (matchTags === undefined && noneMatchTags === undefined && formVersion === undefined) return undefined
  // A weak tag matches nothing (RFC 9110 §13.1.1).
  const match = typeof matchTags === 'object' ? matchTags.filter(({ weak }) => !weak).map(versionIn) : matchTags
  const noneMatch = typeof noneMatchTags === 'object' ? noneMatchTags.map(versionIn) : noneMatchTags
  const nameVersion = formVersion !== undefined || typeof match === 'object'
  return {
    match,
    noneMatch,
    formVersion,
    nameVersion,
    dependOnRow: nameVersion || noneMatch !== undefined,
    soleVersion: noneMatch === undefined ? findSoleVersion(match, formVersion) : undefined
  }
}

function findSoleVersion (match: Preconditions['match'], formVersion: string | undefined): string | undefined {
  if (typeof match !== 'object') return formVersion
  if (match.length === 0) return ''
  const versions = new Set(formVersion === undefined ? match : [...match, formVersion])
  return versions.size === 1 ? match[0] : undefined
}

/** Matches the format, a variant of it such as `csv-bom`, and the shape after a version. */
const VARIANT = /\.([a-z\d]+)(?:-[a-z]+)?(?:-[\da-f]{8})?$/

/** Returns `3` of `3.xml-5d41402a`: a write compares versions, in whichever format and shape they were read. */
function findVersion (opaque: string, formats: ReadonlyArray<{ readonly name: string }>): string {
  const [variant = '', format] = VARIANT.exec(opaque) ?? []
  return formats.some(({ name }) => name === format) ? opaque.slice(0, -variant.length) : opaque
}

/**
 * Returns whether the preconditions hold for an existing row (RFC 9110 §13.1.1, §13.1.2).
 * @param isNamed whether the request names the row by its path or an id, so that a version needs no id before it
 */
export function areMet ({ match, noneMatch, formVersion }: Preconditions, row: RowKey, isNamed: boolean): boolean {
  const qualified = qualifyVersion(row)
  // A handler's row without a version cannot be named.
  const names = (version: string): boolean =>
    row.version !== '' && (version === qualified || (isNamed && version === row.version))
  if (noneMatch === '*' || noneMatch?.some(names) === true) return false
  return (formVersion === undefined || names(formVersion)) && (typeof match !== 'object' || match.some(names))
}

/** The members that identify a row in one of its states. */
export type RowKey = Pick<Row, 'id' | 'version'>

/**
 * Returns the version with the id before it, `7-3`, for a path that does not name the row. Two rows never have the same
 * result, because an encoded id has no `-`, unless it is a UUID, whose length is known. Nor has it a `.`, after which
 * a format could stand.
 */
function qualifyVersion ({ id, version }: RowKey): string {
  return version === '' ? '' : `${encodeId(id)}-${version}`
}

/** Returns the version of a row in its tag or form. Unless the request names the row by its id, that precedes it. */
export function taggedVersion ({ singleton }: Pick<Resource, 'singleton'>, row: RowKey, isNamed = true): string {
  return isNamed && !singleton ? row.version : qualifyVersion(row)
}

/** Encodes an id in characters that an entity tag can carry (RFC 9110 §8.8.3). */
function encodeId (id: Id): string {
  if (typeof id === 'number' || parseId('uuid', id) !== undefined) return String(id)
  return encodeURIComponent(id.toWellFormed()).replaceAll('-', '%2D').replaceAll('.', '%2E')
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
export function isNamed (tags: EntityTags, { opaque }: EntityTag): boolean {
  return tags === '*' || tags?.some((tag) => tag.opaque === opaque) === true
}

/**
 * Returns whether an answer with this tag, or without one, meets `If-Match`, by strong comparison (RFC 9110 §13.1.1).
 */
export function isMatched (tags: EntityTags, own: EntityTag | undefined): boolean {
  if (tags === undefined || tags === '*') return true
  return own?.weak === false && tags.some(({ weak, opaque }) => !weak && opaque === own.opaque)
}
