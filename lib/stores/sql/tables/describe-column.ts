import type { Schema } from '../../../schema/types.js'
import { addKeywords, type Demand, isFreeText } from './checks/keywords.js'
import type { FoundColumn } from './found-table.js'

/**
 * The schema of a column of bytes. `maxLength` is the number of characters that fit into a request of 1 MiB, Fastify's
 * default of `bodyLimit`, besides other attributes. A stored value may be longer.
 */
export const BYTES: Schema = { type: 'string', contentEncoding: 'base64', maxLength: 1_000_000 }

/** Returns the schema of the attribute of a column. */
export function describeColumn (column: FoundColumn, demands: readonly Demand[], isReadOnly: boolean): Schema {
  const { name, isExact, isNullable, description } = column
  const schema = addKeywords(column.schema, demands.filter((demand) => demand.column === name), isExact)
  return {
    ...(isNullable ? allowNull(schema) : schema),
    ...(!isReadOnly && isFitting(column.default, schema) ? { default: column.default } : {}),
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

/** Returns whether a default is certain to be valid. A text with a format may need another spelling. */
function isFitting (value: unknown, schema: Schema): boolean {
  const { type, enum: choices } = schema
  if (Array.isArray(choices)) return choices.includes(value)
  if (type === 'integer') return Number.isInteger(value) && isWithin(value as number, schema)
  if (type === 'number') return Number.isFinite(value) && isWithin(value as number, schema)
  if (type === 'boolean') return typeof value === 'boolean'
  return isFreeText(schema) && isOfLength(value, schema)
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
