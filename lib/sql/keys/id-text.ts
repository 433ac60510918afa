import { NO_PATH } from '../../core/resource/path-pattern.js'
import { isLegalText, replaceIllegal } from '../../core/schema/legal-text.js'
import type { Scalar } from '../../core/schema/types.js'
import { readInteger } from '../../core/util/decimal.js'
import { type ColumnKind, isText } from '../columns/kinds.js'
import type { ComparedColumn } from '../dialect.js'

const EMPTY = '%'

/** Writes the values of a key as an id: `1,5`. In a part, `%` is `%25` and `,` is `%2C`. */
export function joinParts (texts: readonly string[]): string {
  return texts.map((text) => text.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')
}

/** Returns the texts of the parts of an id, or `undefined` if `joinParts` writes no such id. */
export function splitParts (id: string, count: number): readonly string[] | undefined {
  const parts = id.split(',')
  if (parts.length !== count || /%(?!25|2C)/.test(id)) return undefined
  return parts.map((part) => part.replaceAll('%2C', ',').replaceAll('%25', '%'))
}

/**
 * Writes the value of a key of a single attribute as an id, which is its text. The empty text, `.` and `..` have ids
 * that begin with `%`, because no path can carry them, and so has a text that begins with `%` itself.
 */
export function writeSingle (text: string): string {
  if (text === '') return EMPTY
  if (text === '.' || text === '..') return `%2E${text.slice(1)}`
  return text.startsWith('%') ? `%25${text.slice(1)}` : text
}

/** Returns the text of an id, or `undefined` if `writeSingle` writes no such id. */
export function readSingle (id: string): string | undefined {
  if (id === EMPTY) return ''
  const text = id.startsWith('%25') ? id.slice(0, 1) + id.slice(3) : id.replace(/^%2E/, '.')
  return writeSingle(text) === id ? text : undefined
}

/**
 * Returns whether an id can contain a text. It cannot contain what XML documents cannot carry, such as U+0001, and CR,
 * which a browser sends as CR LF in a form (HTML §4.10.22.4).
 */
export function fitsId (text: string): boolean {
  return isLegalText(text) && !text.includes('\r')
}

/** Writes the id of a row that has no path: its key as JSON. The id only names a position in a list. */
export function writeWithoutPath (values: readonly Scalar[]): string {
  return NO_PATH + replaceIllegal(JSON.stringify(values).slice(1), (character) =>
    `\\u${character.charCodeAt(0).toString(16)}`)
}

/** Returns the values of such an id, or `undefined` if no columns of these kinds can have them. */
export function readWithoutPath (
  id: string,
  columns: ReadonlyArray<Pick<ComparedColumn, 'fits'>>
): readonly Scalar[] | undefined {
  if (!id.startsWith(NO_PATH)) return undefined
  let values: unknown
  try {
    values = JSON.parse(id.slice(1))
  } catch {
    return undefined
  }
  // A column of SQLite may also hold texts and numbers that are not of its kind.
  const canHold = ({ fits }: Pick<ComparedColumn, 'fits'>, value: unknown): boolean =>
    fits(value) || isText(value) || typeof value === 'number'
  const isKey = Array.isArray(values) && values.length === columns.length &&
    columns.every((column, index) => canHold(column, (values as unknown[])[index]))
  return isKey ? values as Scalar[] : undefined
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
