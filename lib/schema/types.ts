/** A type of JSON Schema. */
export type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

export const ALL_TYPES: ReadonlySet<TypeName> =
  new Set(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'])

/** Returns the JSON types that a value fits. */
export function typesOf (value: unknown): TypeName[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  return [typeof value as TypeName]
}

/**
 * A JSON Schema of the attributes: each may be `readOnly` (ignored on the way in) or `writeOnly` (never on the way
 * out), have a `default` (for a create), and whatever JSON Schema (draft-07) says of a value.
 */
export interface AttributesSchema {
  /** A row is an object. */
  readonly type: 'object'
  /** A schema for each attribute, in the order in which they are written. */
  readonly properties: object
  /** Those that a create must supply. @default none */
  readonly required?: readonly string[]
  /** May only be false: what is not declared is refused. @default false */
  readonly additionalProperties?: unknown
  /** Schemas that `$ref: '#/definitions/…'` refers to (draft-07 §9). */
  readonly definitions?: object
  /** Schemas that `$ref: '#/$defs/…'` refers to, as later drafts have it. */
  readonly $defs?: object
  /** The dialect, for other tools. Attributes are checked by draft-07. */
  readonly $schema?: string
  /** The name of the schema, for other tools. */
  readonly $id?: string
  /** A note, for other tools. */
  readonly $comment?: string
  /** What a row is called, for other tools. */
  readonly title?: string
  /** What a row is, for other tools. */
  readonly description?: string
  /** Rows as they may be, for other tools. */
  readonly examples?: readonly unknown[]
}

/** A JSON Schema object. */
export type Schema = Readonly<Record<string, unknown>>

/** The attributes of a row, as JSON knows them. */
export type Attributes = Readonly<Record<string, unknown>>

/** A value by which rows are found and put in order. */
export type Scalar = string | number | boolean | null
