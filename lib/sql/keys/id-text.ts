import { isLegalText, replaceIllegal } from '../../core/schema/legal-text.js'
import type { Scalar } from '../../core/schema/types.js'
import { readInteger } from '../../core/util/long-integer.js'
import type { ColumnKind } from '../columns/kinds.js'

/** The text of a value in an id. */
export interface IdText {
  readonly text: string
  /** How the text is to be read if it is not of the kind of its column, as SQLite may keep one, or else `''`. */
  readonly mark: '' | '%T' | '%D' | '%M'
}

const NULL = '%N'
const EMPTY = '%'
/** The marks of texts, of numbers, and of texts that stand for other values. */
const MARK = /^%[TDM]/

/** Writes the values of a key as an id: `1,5`. In a part, `%` is `%25` and `,` is `%2C`. Null is `%N`. */
export function joinParts (values: ReadonlyArray<IdText | null>): string {
  return values.map((value) =>
    value === null ? NULL : value.mark + value.text.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')
}

/** Returns the texts of the parts of an id, or `undefined` if `joinParts` writes no such id. */
export function splitParts (id: string, count: number): ReadonlyArray<IdText | null> | undefined {
  const parts = id.split(',').map((part) => part === NULL ? null : readMark(part))
  const isWritten = parts.length === count && parts.every((part) => part === null || !/%(?!25|2C)/.test(part.text))
  if (!isWritten) return undefined
  return parts.map((part) =>
    part && { ...part, text: part.text.replaceAll('%2C', ',').replaceAll('%25', '%') })
}

/** Separates the mark of a text. */
function readMark (marked: string): IdText {
  const [mark = ''] = MARK.exec(marked) ?? []
  return { mark: mark as IdText['mark'], text: marked.slice(mark.length) }
}

/**
 * Writes the value of a key of a single attribute as an id, which is its text. Null, the empty text, `.` and `..` have
 * ids that begin with `%`, because no path can carry them, and so has a text that begins with `%` itself.
 */
export function writeSingle (value: IdText | null): string {
  if (value === null) return NULL
  const { mark, text } = value
  if (mark !== '') return mark + text
  if (text === '') return EMPTY
  if (text === '.' || text === '..') return `%2E${text.slice(1)}`
  return text.startsWith('%') ? `%25${text.slice(1)}` : text
}

/** Returns the text of an id, or `undefined` if `writeSingle` writes no such id. */
export function readSingle (id: string): IdText | null | undefined {
  if (id === NULL) return null
  if (id === EMPTY) return { mark: '', text: '' }
  if (MARK.test(id)) return readMark(id)
  const text = id.startsWith('%25') ? id.slice(0, 1) + id.slice(3) : id.replace(/^%2E/, '.')
  const value: IdText = { mark: '', text }
  return writeSingle(value) === id ? value : undefined
}

/** The mark of an id in which characters are percent-encoded. No other id begins with it. */
const ENCODED = '%C'
/** Matches the percent-encoded characters of such an id. */
const ENCODED_CHARACTER = /%(?:[01][\dA-F]|25|EF%BF%B[EF])/g

/**
 * Writes an id that may contain characters that no XML document can carry, such as U+0001, or CR, which a browser sends
 * as CR LF in a form (HTML §4.10.22.4): `%C`, and the id with these characters and `%` percent-encoded. Another id is
 * returned as it is.
 */
export function encodeIllegal (id: string): string {
  if (isLegalText(id) && !id.includes('\r')) return id
  return ENCODED + replaceIllegal(id.replaceAll('%', '%25'), encodeURIComponent).replaceAll('\r', '%0D')
}

/** Returns the id that `encodeIllegal` has written in this way, or `undefined` if it writes no such id. */
export function decodeIllegal (written: string): string | undefined {
  const id = written.startsWith(ENCODED)
    ? written.slice(ENCODED.length).replace(ENCODED_CHARACTER, decodeURIComponent)
    : written
  return encodeIllegal(id) === written ? id : undefined
}

/** Returns the value that a text spells for a column, or `undefined` if the spelling is not that of `String`. */
export function parseValue (kind: ColumnKind, text: string): Scalar | undefined {
  switch (kind) {
    case 'integer':
      return readInteger(text)
    case 'number':
      return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    default:
      return text
  }
}
