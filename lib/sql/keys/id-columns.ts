import { InvalidError, InvalidOptionError, type Messages } from '../../core/errors.js'
import { NO_PATH } from '../../core/resource/path-pattern.js'
import { type GeneratedIdType, type IdType, joinKey, parseId } from '../../core/resource/resource.js'
import type { Id, Scope } from '../../core/resource/row.js'
import { isLegalText, replaceIllegal } from '../../core/schema/legal-text.js'
import type { Attributes, Scalar } from '../../core/schema/types.js'
import type { OrderBy, Query } from '../../core/stores/store.js'
import { readInteger } from '../../core/util/decimal.js'
import { identity } from '../../core/util/functions.js'
import { isEmpty, ownMember } from '../../core/util/own-property.js'
import { requireColumn } from '../columns/column.js'
import { type ColumnKind, decodeLongInteger, isText } from '../columns/kinds.js'
import { REFUSALS } from '../constraint-errors.js'
import type { ComparedColumn, RawRow, SqlColumn } from '../dialect.js'

/** A column that holds an id or a part of it. */
export interface IdPart extends ComparedColumn {
  /** The name in orders and conditions: `id`, or the attribute of the key. */
  readonly by: string
  /** The name of the column. */
  readonly name: string
  readonly allowsNull: boolean
  /** Whether a create must give a value, because it is an attribute that neither is null nor filled by the database. */
  readonly isGiven: boolean
}

/** The columns that hold the ids of a table. */
export interface IdColumns {
  readonly type: IdType
  readonly parts: readonly [IdPart, ...IdPart[]]
  /** Whether the database or the store makes the ids. If not, the parts are attributes. */
  readonly isGenerated: boolean
  /** What a statement selects for the id besides the attributes. */
  readonly selected: readonly string[]
  /** Returns the values of the parts, or `undefined` if no row can have the id. */
  parse (id: Id): readonly Scalar[] | undefined
  /** Returns the id of a row. */
  decode (raw: RawRow): Id
}

/** Matches the names of the number that SQLite gives to each row, which is a column of its own in no description. */
export const ROW_NUMBER: RegExp = /^(?:rowid|_rowid_|oid)$/i

/** Makes the column of ids that the database or the store makes. */
export function makeGeneratedId (
  column: Pick<IdPart, 'name' | 'quoted'>,
  type: GeneratedIdType
): IdColumns {
  const { name, quoted } = column
  const fits = (id: unknown): boolean => parseId(type, String(id)) === id
  const part: IdPart = {
    ...column,
    by: 'id',
    type: '',
    allowsNull: false,
    isGiven: false,
    kind: type,
    fits,
    keeps: fits,
    compare: identity
  }
  return {
    type,
    parts: [part],
    isGenerated: true,
    // Without the alias, SQLite gives `rowid` the name of the table's own key.
    selected: [ROW_NUMBER.test(name) ? `${quoted} AS ${quoted}` : quoted],
    parse: (id) => fits(id) ? [id] : undefined,
    decode: type === 'uuid' ? (raw) => raw[name] as string : (raw) => decodeLongInteger(raw[name])
  }
}

/**
 * Makes the columns of a key of attributes, whose values clients choose.
 * @param isText whether the ids are texts, even if the key is a single integer or UUID
 * @param filled the columns that the database fills in if a create does not give them
 * @throws InvalidOptionError if an attribute is unknown, repeated, or kept as JSON
 */
export function makeKey (
  key: readonly string[],
  byAttribute: ReadonlyMap<string, SqlColumn>,
  isText: boolean,
  filled: ReadonlySet<string> = new Set()
): IdColumns {
  const parts = key.map((attribute, index): KeyPart => {
    if (key.indexOf(attribute) !== index) throw new InvalidOptionError('key', `names "${attribute}" twice`)
    const column = requireColumn(byAttribute, attribute, 'key', 'part of an id')
    const isGiven = !column.allowsNull && !column.readOnly && !filled.has(column.name)
    return { ...column, by: attribute, isGiven }
  }) as [KeyPart, ...KeyPart[]]
  const [part, ...others] = parts
  if (others.length > 0) return makeText(parts, (id) => splitParts(id, parts.length), joinKey)
  const { kind } = part
  if (isText || (kind !== 'integer' && kind !== 'uuid')) {
    return makeText(parts, readSingle, ([text]) => writeSingle(text as string))
  }
  return {
    type: kind,
    parts,
    isGenerated: false,
    selected: [],
    parse: (id) => parseId(kind, String(id)) === id ? [id] : undefined,
    decode: (raw) => decodePart(part, raw) as Id
  }
}

interface KeyPart extends IdPart, Pick<SqlColumn, 'decode'> {}

/** Makes ids that are texts. A row whose values no id can spell gets one without a path. */
function makeText (
  parts: readonly [KeyPart, ...KeyPart[]],
  read: (id: string) => readonly string[] | undefined,
  write: (texts: readonly string[]) => string
): IdColumns {
  const isSpelled = (value: Scalar, index: number): boolean =>
    value !== null && (parts[index] as KeyPart).fits(value) && fitsId(String(value))
  const parse = (id: Id): readonly Scalar[] | undefined => {
    const withoutPath = readWithoutPath(String(id), parts)
    if (withoutPath !== undefined) return withoutPath.every(isSpelled) ? undefined : withoutPath
    const texts = typeof id === 'string' && fitsId(id) ? read(id) : undefined
    const values = texts?.map((text, index) => parseValue((parts[index] as KeyPart).kind, text))
    return values?.every((value, index) => value !== undefined && isSpelled(value, index)) === true
      ? values as Scalar[]
      : undefined
  }
  return {
    type: 'string',
    parts,
    isGenerated: false,
    selected: [],
    parse,
    decode (raw) {
      const values = parts.map((part) => decodePart(part, raw))
      return values.every(isSpelled) ? write(values.map(String)) : writeWithoutPath(values)
    }
  }
}

function decodePart ({ name, decode }: KeyPart, raw: RawRow): Scalar {
  return (decode(raw[name]) ?? null) as Scalar
}

/**
 * Replaces the id in the order of a query, and in its position, by the attributes that form it and that the order does
 * not name otherwise. Returns `undefined` if no row can be at the position.
 */
export function expandQuery<Q extends Pick<Query, 'order' | 'after'>> (
  { isGenerated, parts, parse }: IdColumns,
  query: Q
): Q | undefined {
  if (isGenerated) return query
  const { order, after } = query
  const { descending } = order.at(-1) as OrderBy
  const isUnnamed = ({ by }: IdPart): boolean => !order.some((criterion) => criterion.by === by)
  const criteria = [...order.slice(0, -1), ...parts.filter(isUnnamed).map(({ by }) => ({ by, descending }))]
  if (after === undefined) return { ...query, order: criteria }
  const values = parse(after.at(-1) as Id)?.filter((_, index) => isUnnamed(parts[index] as IdPart))
  return values && { ...query, order: criteria, after: [...after.slice(0, -1), ...values] }
}

/** Throws `InvalidError` if a create lacks a part of the key that the database does not fill. */
export function checkGiven ({ parts }: IdColumns, attributes: Attributes, scope: Scope): void {
  const missing = parts.filter(({ by, isGiven }) => isGiven && ownMember({ ...attributes, ...scope }, by) === undefined)
  if (missing.length > 0) {
    throw new InvalidError(Object.fromEntries(missing.map(({ by }) => [by, [REFUSALS.required.message]])))
  }
}

/** The changes of an update without the attributes of the key, and messages about those that would change, if any. */
export interface KeptKey {
  readonly changes: Attributes
  readonly errors: Messages | undefined
}

/** Separates the attributes of the key from the changes of an update, which must repeat their values. */
export function keepKey (
  { isGenerated, parts, parse }: IdColumns,
  id: Id,
  given: Attributes,
  scope: Scope
): KeptKey {
  if (isGenerated) return { changes: given, errors: undefined }
  const values = parse(id) ?? []
  const changes = { ...given }
  const errors: Record<string, readonly string[]> = {}
  for (const [index, { by }] of parts.entries()) {
    if (Object.hasOwn(given, by) && given[by] !== values[index] && !Object.hasOwn(scope, by)) {
      errors[by] = ['cannot be changed, because the id contains it']
    }
    delete changes[by]
  }
  return { changes, errors: isEmpty(errors) ? undefined : errors }
}

/** Returns the criteria whose values are never null, so that a list needs no range of its own for null. */
export function findNeverNull ({ parts }: IdColumns): ReadonlySet<string> {
  return new Set(parts.filter(({ allowsNull }) => !allowsNull).map(({ by }) => by))
}

const EMPTY = '%'

/** Returns the texts of the parts of an id, or `undefined` if `joinKey` writes no such id. */
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

/** Returns the text of an id as the only part, or `undefined` if `writeSingle` writes no such id. */
export function readSingle (id: string): readonly string[] | undefined {
  if (id === EMPTY) return ['']
  const text = id.startsWith('%25') ? id.slice(0, 1) + id.slice(3) : id.replace(/^%2E/, '.')
  return writeSingle(text) === id ? [text] : undefined
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
