/** A type of JSON Schema. */
export type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

export const ALL_TYPES: ReadonlySet<TypeName> =
  new Set(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'])

/** The types of values that are one text, number or boolean. */
export const SIMPLE_TYPES: ReadonlySet<TypeName | undefined> = new Set(['string', 'integer', 'number', 'boolean'])

/** Returns the JSON types that a value fits. NaN and the infinite numbers fit none. */
export function typesOf (value: unknown): TypeName[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (Number.isInteger(value)) return ['integer', 'number']
  if (typeof value === 'number') return Number.isFinite(value) ? ['number'] : []
  return [typeof value as TypeName]
}

/**
 * A JSON Schema (draft-07) of the attributes. Each attribute may be `readOnly` (ignored in requests) or `writeOnly`
 * (never sent), and may have a `default` (for creates). The other keywords of JSON Schema describe its values.
 */
export interface AttributesSchema {
  /** The type of a row, which is an object. */
  readonly type: 'object'
  /** The schema of each attribute. Documents and forms have the attributes in this order. */
  readonly properties: object
  /** The names of the attributes that a create must supply. @default none */
  readonly required?: readonly string[]
  /** Schemas all of which a row must fit (draft-07 §6.7.1). @default none */
  readonly allOf?: readonly unknown[]
  /** Schemas of which a row must fit at least one (§6.7.2). @default none */
  readonly anyOf?: readonly unknown[]
  /** Schemas of which a row must fit exactly one (§6.7.3). @default none */
  readonly oneOf?: readonly unknown[]
  /** A schema that a row must not fit. @default none */
  readonly not?: unknown
  /** A schema that decides whether a row must fit `then` or `else` (§6.6). @default none */
  readonly if?: unknown
  /** A schema for rows that fit `if`. @default any row */
  readonly then?: unknown
  /** A schema for rows that do not fit `if`. @default any row */
  readonly else?: unknown
  /** What a row with an attribute must have, or a schema that it must fit, by attribute (§6.5.7). @default {} */
  readonly dependencies?: object
  /** The attributes that a row with an attribute must have, by attribute (2019-09 §6.5.4). @default {} */
  readonly dependentRequired?: object
  /** The schemas that a row with an attribute must fit, by attribute (2019-09 §9.2.2.4). @default {} */
  readonly dependentSchemas?: object
  /** The least number of attributes that a row has, without those that are null. @default 0 */
  readonly minProperties?: number
  /** Whether other attributes are allowed. Only `false` is accepted. @default false */
  readonly additionalProperties?: unknown
  /** Schemas that `$ref: '#/definitions/…'` refers to (draft-07 §9). */
  readonly definitions?: object
  /** Schemas that `$ref: '#/$defs/…'` refers to, as in later drafts. */
  readonly $defs?: object
  /** The dialect of the schema, for other tools. The attributes are always validated by draft-07. */
  readonly $schema?: string
  /** The name of the schema, for other tools. */
  readonly $id?: string
  /** A note, for other tools. */
  readonly $comment?: string
  /** The name of a row, for other tools. */
  readonly title?: string
  /** The description of a row, for other tools. */
  readonly description?: string
  /** Examples of rows, for other tools. */
  readonly examples?: readonly unknown[]
}

/** A JSON Schema object. */
export type Schema = Readonly<Record<string, unknown>>

/** The attributes of a row by name, with values of JSON. */
export type Attributes = Readonly<Record<string, unknown>>

/** A simple value, by which rows can be filtered and ordered. */
export type Scalar = string | number | boolean | null
