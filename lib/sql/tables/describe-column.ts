import type { Schema } from '../../core/schema/types.js'
import { countDigits, isDecimal } from '../../core/util/decimal.js'
import { addKeywords, type Demand, isFreeText } from './checks/keywords.js'
import type { FoundColumn } from './found-table.js'

/**
 * The schema of a column of bytes. `maxLength` is the number of characters that fit into a request of 1 MiB, Fastify's
 * default of `bodyLimit`, besides other attributes. A stored value may be longer.
 */
export const BYTES: Schema = { type: 'string', contentEncoding: 'base64', maxLength: 1_000_000 }

/** The schema of an integer of eight bytes in a key, or in a reference to a key. */
export const LONG_INTEGER: Schema = { type: 'integer', format: 'int64' }

/** Returns the schema of the attribute of a column. */
export function describeColumn (column: FoundColumn, demands: readonly Demand[], isReadOnly: boolean): Schema {
  const { name, isExact, isNullable, description } = column
  const schema = addKeywords(column.schema, demands.filter((demand) => demand.column === name), isExact)
  const fallback = schema.format === 'decimal' ? spellDecimal(column.default, schema) : column.default
  return {
    ...(isNullable ? allowNull(schema) : refuseNull(schema)),
    ...(!isReadOnly && isFitting(fallback, schema) ? { default: fallback } : {}),
    ...(isReadOnly ? { readOnly: true } : {}),
    ...(description === undefined ? {} : { description })
  }
}

/** Allows null beside the values of a schema. A schema without a type allows it already. */
function allowNull (schema: Schema): Schema {
  if (schema.type === undefined) return schema
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'].flat(), ...choices }
}

/** The types of JSON besides null. */
const ALL_BUT_NULL = ['object', 'array', 'string', 'number', 'boolean']

/** Refuses null in a column of JSON that must not be null. A schema without a type would allow it. */
function refuseNull (schema: Schema): Schema {
  return schema.type === undefined && schema.enum === undefined ? { type: ALL_BUT_NULL, ...schema } : schema
}

/** Returns whether a default is certain to be valid. A text with a format may need another spelling. */
function isFitting (value: unknown, schema: Schema): boolean {
  const { type, enum: choices } = schema
  if (Array.isArray(choices)) return choices.includes(value)
  if (type === 'integer') return Number.isInteger(value) && isWithin(value as number, schema)
  if (type === 'number') return Number.isFinite(value) && isWithin(value as number, schema)
  if (type === 'boolean') return typeof value === 'boolean'
  if (schema.format === 'decimal') return value !== undefined
  return isFreeText(schema) && isOfLength(value, schema)
}

/** The most digits after the point of a decimal that has all digits of its scale. */
const MOST_PLACES = 20

/** Spells a number with the places that its column shows. Returns `undefined` if the schema does not allow it. */
function spellDecimal (value: unknown, { precision, scale }: Schema): string | undefined {
  if (typeof value !== 'number') return undefined
  const text = typeof scale === 'number' ? value.toFixed(Math.min(scale, MOST_PLACES)) : String(value)
  if (!isDecimal(text) || Number(text) !== value) return undefined
  return countDigits(text).whole <= bound(precision, Infinity) - bound(scale, 0) ? text : undefined
}

function isWithin (value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): boolean {
  return value >= bound(minimum, -Infinity) && value <= bound(maximum, Infinity) &&
    value > bound(exclusiveMinimum, -Infinity) && value < bound(exclusiveMaximum, Infinity)
}

function isOfLength (value: unknown, { minLength, maxLength }: Schema): boolean {
  if (typeof value !== 'string') return false
  const { length } = Array.from(value)
  return length >= bound(minLength, 0) && length <= bound(maxLength, Infinity)
}

function bound (value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
