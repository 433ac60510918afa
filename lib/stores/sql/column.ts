import { InvalidError, InvalidOptionError } from '../../errors.js'
import { declareAttributes } from '../../resource/attributes.js'
import type { Property, Shape } from '../../schema/shape.js'
import type { AttributesSchema } from '../../schema/types.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { isUuid } from '../../util/is-uuid.js'
import type { Column, Dialect, ColumnKind } from './dialect.js'

/** The kinds that every database keeps as texts, so that their columns may need a collation. */
export const TEXTUAL: ReadonlySet<ColumnKind> = new Set(['string', 'date-time', 'date'])

/** Returns whether the values of a column may have any length. */
export function isLongKind ({ kind }: Pick<Column, 'kind'>): boolean {
  return kind === 'json' || kind === 'string'
}

/** The columns of a table. */
export interface Columns {
  /** The name of the column of the id. */
  readonly id: string
  /** The name of the column of the version. */
  readonly version: string
  readonly byAttribute: ReadonlyMap<string, Column>
}

export interface ColumnsOptions {
  readonly table: string
  readonly attributes: AttributesSchema
  /** The names of columns that differ from those of their attributes, by attribute or `id`. */
  readonly columns: Readonly<Record<string, string>>
  readonly version: string
}

/**
 * Makes the columns of a table.
 * @throws InvalidAttributesError if the schema is invalid, InvalidOptionError if names of columns are invalid or
 * repeated
 */
export function makeColumns ({ table, attributes, columns, version }: ColumnsOptions, dialect: Dialect): Columns {
  const properties = declareAttributes(table, { ...attributes })
  for (const attribute of Object.keys(columns)) {
    if (attribute !== 'id' && !properties.has(attribute)) {
      throw new InvalidOptionError(
        'columns',
        `names "${attribute}", which is not among the attributes${didYouMean(attribute, [...properties.keys()])}`
      )
    }
  }
  const nameOf = (attribute: string): string =>
    checkName(Object.hasOwn(columns, attribute) ? columns[attribute] : attribute, dialect)
  const made = [...properties.values()].map((property) => makeColumn(property, nameOf(property.name), dialect))
  const owners = new Map<string, string>()
  const claim = (name: string, owner: string): void => {
    const key = dialect.sameCase ? name : name.toLowerCase()
    const other = owners.get(key)
    if (other !== undefined) {
      throw new InvalidOptionError('columns', `would keep ${other} and ${owner} both in the column "${name}"; ` +
        'give one of them another column (the option "version" names the column of the version)')
    }
    owners.set(key, owner)
  }
  claim(nameOf('id'), 'the id')
  claim(checkName(version, dialect), 'the version')
  for (const { attribute, name } of made) claim(name, `"${attribute}"`)
  return { id: nameOf('id'), version, byAttribute: new Map(made.map((column) => [column.attribute, column])) }
}

function checkName (name: unknown, { longestName }: Dialect): string {
  if (typeof name !== 'string' || name === '' || name === '__proto__' || name.includes('\0')) {
    throw new InvalidOptionError('columns', 'must contain names of columns')
  }
  if (Buffer.byteLength(name) > longestName) {
    throw new InvalidOptionError('columns', `has the column "${name}", whose name is longer than ${longestName} bytes`)
  }
  return name
}

function makeColumn (
  { name: attribute, shape, schema, required, readOnly }: Property,
  name: string,
  dialect: Dialect
): Column {
  const kind = kindOf(shape)
  const allowsNull = shape.types.has('null')
  const absent = allowsNull ? null : undefined
  const isOfKind = FITS[kind] ?? isText
  const write = dialect.encode[kind] ?? asItIs
  const read = dialect.decode[kind] ?? decodeText
  return {
    attribute,
    name,
    quoted: dialect.quote(name),
    kind,
    allowsNull,
    required: required && !allowsNull && !readOnly,
    readOnly,
    maxLength: typeof schema.maxLength === 'number' ? schema.maxLength : Infinity,
    fits: (value) => value === null || isOfKind(value),
    encode (value) {
      if (value === null) return null
      if (!isOfKind(value)) throw new InvalidError({ [attribute]: [MISFITS[kind] ?? NO_TEXT] })
      return write(value)
    },
    decode: (raw) => (raw === null ? absent : read(raw))
  }
}

function kindOf ({ only, format, types }: Shape): ColumnKind {
  if (only === undefined || only === 'array' || only === 'object') return 'json'
  if (only === 'string') return format === 'date-time' || format === 'date' || format === 'uuid' ? format : 'string'
  if (types.has('number')) return 'number'
  return only === 'boolean' ? only : 'integer'
}

type PerKind<T> = Readonly<Partial<Record<ColumnKind, T>>>

/**
 * Returns whether a value is a text that every database can keep. SQLite's drivers cut a text at U+0000, PostgreSQL
 * rejects it, and both change lone surrogates.
 */
function isText (value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
}

const FITS: PerKind<(value: unknown) => boolean> = {
  // PostgreSQL also accepts other spellings, but would return another text.
  uuid: isUuid,
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  json: () => true
}

const NO_TEXT = 'must be a text without U+0000 and unpaired surrogates'
const MISFITS: PerKind<string> = {
  uuid: 'must be a UUID in lower case',
  integer: 'must be an integer between -9007199254740991 and 9007199254740991',
  number: 'must be a number',
  boolean: 'must be true or false',
  json: 'must be JSON'
}

const asItIs = (value: unknown): unknown => value

/** The encoders for a driver that accepts values of all types. They never receive null. */
export const ENCODE: Dialect['encode'] = { json: JSON.stringify }

/** The decoders for the values of a driver, except booleans. */
export const DECODE: Dialect['decode'] = {
  integer: decodeInteger,
  number: decodeNumber,
  json: (raw) => JSON.parse(decodeText(raw))
}

function decodeText (raw: unknown): string {
  if (typeof raw !== 'string') throw new TypeError('a column of texts contains another type of value')
  return raw
}

function decodeNumber (raw: unknown): number {
  const value = numberOf(raw)
  if (!Number.isFinite(value)) throw new RangeError(`a column of numbers contains ${describe(raw)}`)
  return value
}

export function decodeInteger (raw: unknown): number {
  const value = numberOf(raw)
  if (Number.isSafeInteger(value)) return value
  throw new RangeError(`a column of integers contains ${describe(raw)}, ` +
    'which JavaScript cannot represent exactly as an integer')
}

/** Converts a number, a BigInt, or the text of a number. Returns NaN for `''` and null, which `Number` takes for 0. */
function numberOf (raw: unknown): number {
  return typeof raw === 'number' || typeof raw === 'bigint' || (typeof raw === 'string' && raw.trim() !== '')
    ? Number(raw)
    : NaN
}

function describe (raw: unknown): string {
  return typeof raw === 'string' ? JSON.stringify(raw.slice(0, 40)) : String(raw)
}
