import { InvalidError, InvalidOptionError } from '../../core/errors.js'
import { declareAttributes } from '../../core/resource/attributes.js'
import { readMarkedText } from '../../core/schema/legal-text.js'
import { withoutRowKeywords } from '../../core/schema/row-keywords.js'
import type { Property } from '../../core/schema/shape.js'
import type { AttributesSchema } from '../../core/schema/types.js'
import { identity } from '../../core/util/functions.js'
import { didYouMean } from '../../core/util/words.js'
import type { SqlColumn, Dialect } from '../dialect.js'
import { type Codec, describeMisfit, memberTest, valuesOf } from './kinds.js'

/** The columns of a table. */
export interface Columns {
  /** The name of the column of an id that the database or the store makes, or `undefined` if attributes form the id. */
  readonly id: string | undefined
  /** The name of the column of the version, or `undefined` if the version has none. */
  readonly version: string | undefined
  readonly byAttribute: ReadonlyMap<string, SqlColumn>
}

/**
 * Returns the column of an attribute that an option names. `use` says what JSON cannot be, such as `'unique'`.
 * @throws InvalidOptionError if the attribute is unknown, or kept as JSON
 */
export function requireColumn (
  byAttribute: ReadonlyMap<string, SqlColumn>,
  attribute: string,
  option: string,
  use?: string
): SqlColumn {
  const column = byAttribute.get(attribute)
  if (column === undefined) {
    const hint = didYouMean(attribute, [...byAttribute.keys()])
    throw new InvalidOptionError(option, `names "${attribute}", which is not among the attributes${hint}`)
  }
  if (use === undefined || column.kind !== 'json') return column
  throw new InvalidOptionError(option, `names "${attribute}", which is kept as JSON and cannot be ${use}`)
}

export interface ColumnsOptions {
  readonly table: string
  readonly attributes: AttributesSchema
  /** The names of columns that differ from those of their attributes, by attribute or `id`. */
  readonly columns: Readonly<Record<string, string>>
  /** Whether attributes form the id, so that it has no column of its own. */
  readonly hasKey: boolean
  /** The name of the column of the version, or `undefined` if the version has none. */
  readonly version: string | undefined
  /** The types of the table's columns, by name. @default the types that `migrate` creates */
  readonly types?: ReadonlyMap<string, string> | undefined
}

/**
 * Makes the columns of a table.
 * @throws InvalidAttributesError if the schema is invalid, InvalidOptionError if names of columns are invalid or
 * repeated
 */
export function makeColumns (
  { table, attributes, columns, hasKey, version, types }: ColumnsOptions,
  dialect: Dialect
): Columns {
  const properties = declareAttributes(table, withoutRowKeywords({ ...attributes }))
  for (const attribute of Object.keys(columns)) {
    if (attribute === 'id' && hasKey) {
      throw new InvalidOptionError('columns', 'names a column for "id", but the attributes of "key" form the id')
    }
    if (attribute !== 'id' && !properties.has(attribute)) {
      throw new InvalidOptionError(
        'columns',
        `names "${attribute}", which is not among the attributes${didYouMean(attribute, [...properties.keys()])}`
      )
    }
  }
  const nameOf = (attribute: string): string =>
    checkName(Object.hasOwn(columns, attribute) ? columns[attribute] : attribute, dialect)
  const made = [...properties.values()].map((property) => {
    const name = nameOf(property.name)
    return makeColumn(property, { name, type: types?.get(name) }, dialect)
  })
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
  const id = hasKey ? undefined : nameOf('id')
  if (id !== undefined) claim(id, 'the id')
  if (version !== undefined) claim(checkName(version, dialect), 'the version')
  for (const { attribute, name } of made) claim(name, `"${attribute}"`)
  return { id, version, byAttribute: new Map(made.map((column) => [column.attribute, column])) }
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

/** The column of a table that keeps an attribute. */
interface Place {
  readonly name: string
  /** The type of the column, or `undefined` if `migrate` creates it. */
  readonly type: string | undefined
}

function makeColumn (
  { name: attribute, shape, schema, required, readOnly }: Property,
  { name, type: found }: Place,
  dialect: Dialect
): SqlColumn {
  const values = valuesOf(shape, readOnly)
  const { kind } = values
  const allowsNull = shape.types.has('null')
  const absent = allowsNull ? null : undefined
  const type = found ?? dialect.columnType(values)
  // The check of the table has refused a column that does not fit, and `migrate` creates columns that do.
  const codec = dialect.findCodec(values, type) as Codec
  const isMember = memberTest(kind)
  const { decode, findFault = noFault, encode = identity, compare = encode } = codec
  return {
    ...values,
    attribute,
    name,
    quoted: dialect.quote(name),
    type,
    allowsNull,
    required: required && !allowsNull && !readOnly,
    default: schema.default,
    fits: (value) => value === null || isMember(value),
    keeps: (value) => value === null || (isMember(value) && findFault(value) === undefined),
    encode (value) {
      if (value === null) return null
      const fault = isMember(value) ? findFault(value) : describeMisfit(kind)
      if (fault !== undefined) throw new InvalidError({ [attribute]: [fault] })
      return encode(value)
    },
    compare: (value) =>
      isMember(value) && readMarkedText(value) === undefined ? compare(value) : dialect.compareUnfit(value),
    decode: (raw) => (raw === null ? absent : decode(raw))
  }
}

const noFault = (): undefined => undefined
