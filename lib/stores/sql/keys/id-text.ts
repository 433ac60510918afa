import type { Scalar } from '../../../schema/types.js'
import type { ColumnKind } from '../columns/kinds.js'

const NULL = '%N'
const EMPTY = '%'

/** Writes the values of a key as an id: `1,5`. In a part, `%` is `%25` and `,` is `%2C`. Null is `%N`. */
export function joinParts (values: readonly Scalar[]): string {
  return values.map((value) => value === null ? NULL : String(value).replaceAll('%', '%25').replaceAll(',', '%2C'))
    .join(',')
}

/** Returns the texts of the parts of an id, or `undefined` if `joinParts` writes no such id. */
export function splitParts (id: string, count: number): ReadonlyArray<string | null> | undefined {
  const parts = id.split(',')
  const isWritten = parts.length === count && parts.every((part) => part === NULL || !/%(?!25|2C)/.test(part))
  if (!isWritten) return undefined
  return parts.map((part) => part === NULL ? null : part.replaceAll('%2C', ',').replaceAll('%25', '%'))
}

/**
 * Writes the value of a key of a single attribute as an id, which is its text. Null, the empty text, `.` and `..` have
 * ids that begin with `%`, because no path can carry them, and so has a text that begins with `%` itself.
 */
export function writeSingle (value: Scalar): string {
  if (value === null) return NULL
  const text = String(value)
  if (text === '') return EMPTY
  if (text === '.' || text === '..') return `%2E${text.slice(1)}`
  return text.startsWith('%') ? `%25${text.slice(1)}` : text
}

/** Returns the text of an id, or `undefined` if `writeSingle` writes no such id. */
export function readSingle (id: string): string | null | undefined {
  if (id === NULL) return null
  if (id === EMPTY) return ''
  const text = id.startsWith('%25') ? id.slice(0, 1) + id.slice(3) : id.replace(/^%2E/, '.')
  return writeSingle(text) === id ? text : undefined
}

/** Returns the value that a text spells for a column, or `undefined` if the spelling is not that of `String`. */
export function parseValue (kind: ColumnKind, text: string): Scalar | undefined {
  switch (kind) {
    case 'integer':
    case 'number':
      return String(Number(text)) === text ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
    default:
      return text
  }
}
