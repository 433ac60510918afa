import { isObject } from '../util/own-property.js'
import type { Schema } from './types.js'

/** A part of a schema that is a schema itself. */
export interface Subschema {
  /** The property that it is about, `author.name`; empty: the whole. */
  readonly name: string
  readonly schema: Schema
}

/** Keywords whose value is one schema, or a list of them (draft-07 §6). */
const DIRECT = [
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf'
]
/** Keywords whose value has schemas by name. Those of the first are properties. */
const BY_NAME = ['properties', 'patternProperties', 'dependencies', 'definitions', '$defs']

/** Gives each schema in a schema, itself first. Values of keywords that JSON Schema does not know are left out. */
export function * subschemasOf (schema: unknown, name = ''): Generator<Subschema> {
  if (!isObject(schema)) return
  yield { name, schema }
  for (const keyword of DIRECT) {
    for (const part of [schema[keyword]].flat()) yield * subschemasOf(part, name)
  }
  for (const keyword of BY_NAME) {
    const parts = schema[keyword]
    for (const [member, part] of isObject(parts) ? Object.entries(parts) : []) {
      yield *
      subschemasOf(part, keyword === 'properties' ? [name, member].filter((step) => step !== '').join('.') : name)
    }
  }
}
