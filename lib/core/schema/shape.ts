import { isObject } from '../util/own-property.js'
import { type FlatSchema, allowsAnything, SchemaFlattener, UNTITLED } from './flatten-schema.js'
import { ALL_TYPES, type Schema, type TypeName } from './types.js'

/**
 * The structure of a value, read from its schema. It serves to convert text, to write markup and to hide values. Ajv
 * validates values by the schema itself.
 */
export interface Shape {
  /** The schema of the value. */
  readonly schema: Schema
  /** The JSON types that the schema allows. */
  readonly types: ReadonlySet<TypeName>
  /** The only type besides null, or `undefined` if there are several or none. */
  readonly only: TypeName | undefined
  /** The `format` of a string, or `undefined` if it has none. */
  readonly format: string | undefined
  /** The most digits of a decimal: `precision - scale` before the point and `scale` after it, or `undefined`. */
  readonly precision: number | undefined
  /** The most digits of a decimal after its point, or `undefined` if there is no limit. */
  readonly scale: number | undefined
  /** The `contentEncoding` of a string, or `undefined` if it has none. Only `base64` has an effect. */
  readonly encoding: string | undefined
  /** The values of `enum` or `const` except null, or `undefined` if the schema lists none. */
  readonly choices: readonly unknown[] | undefined
  /** The titles of the choices, by value, as in `oneOf: [{ const: 'a', title: 'A' }]`. */
  readonly titles: ReadonlyMap<unknown, string>
  /** The shape of the items of an array. */
  readonly items: Shape
  /** The declared properties of an object, by name. */
  readonly properties: ReadonlyMap<string, Property>
  /** The shape of the undeclared properties of an object, or `undefined` if it may have none. */
  readonly rest: Shape | undefined
  /** Whether the shape contains itself. */
  readonly recursive: boolean
  /** Whether the schema combines several alternatives (`anyOf`, `oneOf`) besides null. */
  readonly mixed: boolean
}

/** A declared attribute, or a property of an object inside an attribute. */
export interface Property {
  /** The name in every format. */
  readonly name: string
  /** The shape of its values. */
  readonly shape: Shape
  /** The schema as it was declared. */
  readonly schema: Schema
  /** Whether `required` lists it. A create must then supply it, unless it is `readOnly` or has a default. */
  readonly required: boolean
  /** Whether its values in requests are ignored. */
  readonly readOnly: boolean
  /** Whether its values are never sent. */
  readonly writeOnly: boolean
}

/** The shape of a value without a schema, which may be anything. */
export const openShape: Shape = makeOpenShape()

function makeOpenShape (): Shape {
  const shape = {
    schema: {},
    types: ALL_TYPES,
    only: undefined,
    format: undefined,
    precision: undefined,
    scale: undefined,
    encoding: undefined,
    choices: undefined,
    titles: UNTITLED,
    properties: new Map<string, Property>(),
    recursive: true,
    mixed: false
  }
  const open: Shape = { ...shape, get items () { return open }, get rest () { return open } }
  return open
}

/**
 * Returns the shape of a schema. If the schema refers to itself, the shape contains itself.
 * @throws Error if a reference has no target or leads back to itself, or if a subschema is invalid
 */
export function shapeOf (schema: Schema): Shape {
  return new Shaper(schema).shape(schema)
}

/** Returns a function that returns the shapes of parts of a schema. */
export function shapesOf (root: Schema): (part: Schema) => Shape {
  const shaper = new Shaper(root)
  return (part) => shaper.shape(part)
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Makes the shapes of one schema and its parts, each of them once. */
class Shaper {
  readonly #flattener: SchemaFlattener
  readonly #made = new Map<unknown, Mutable<Shape>>()
  readonly #making = new Set<unknown>()

  constructor (root: Schema) {
    this.#flattener = new SchemaFlattener(root)
  }

  shape (schema: unknown): Shape {
    const known = this.#made.get(schema)
    if (known !== undefined) {
      known.recursive ||= this.#making.has(schema)
      return known
    }
    const flat = this.#flattener.flatten(schema)
    if (flat === undefined || allowsAnything(flat)) return openShape
    const shape = { schema, recursive: false } as Mutable<Shape>
    this.#made.set(schema, shape)
    this.#making.add(schema)
    Object.assign(shape, this.#read(flat))
    this.#making.delete(schema)
    return shape
  }

  #read (flat: FlatSchema): Omit<Shape, 'schema' | 'recursive'> {
    const { types, format, precision, scale, encoding, titles, mixed, rest } = flat
    const others = [...types].filter((type) => type !== 'null' && !(type === 'integer' && types.has('number')))
    const isOpen = flat.properties === undefined && rest === undefined
    return {
      types,
      only: others.length === 1 ? others[0] : undefined,
      format,
      precision,
      scale,
      encoding,
      choices: flat.choices?.filter((choice) => choice !== null),
      titles,
      mixed,
      items: flat.items === undefined ? openShape : this.shape(flat.items),
      properties: this.#readProperties(flat),
      rest: isOpen ? openShape : rest === undefined || rest === false ? undefined : this.shape(rest)
    }
  }

  #readProperties ({ properties = {}, required }: FlatSchema): ReadonlyMap<string, Property> {
    return new Map(
      Object.entries(properties).map(([name, schema]): [string, Property] => {
        const flat = this.#flattener.flatten(schema)
        return [name, {
          name,
          schema: isObject(schema) ? schema : {},
          shape: this.shape(schema),
          required: required.has(name),
          readOnly: flat?.readOnly === true,
          writeOnly: flat?.writeOnly === true
        }]
      })
    )
  }
}

/** Yields a shape and all shapes inside it, each of them once. */
export function * shapesIn (shape: Shape, seen: Set<Shape> = new Set()): Generator<Shape> {
  if (seen.has(shape)) return
  seen.add(shape)
  yield shape
  for (const { shape: inner } of shape.properties.values()) yield * shapesIn(inner, seen)
  if (shape.types.has('array')) yield * shapesIn(shape.items, seen)
  if (shape.rest !== undefined && shape.types.has('object')) yield * shapesIn(shape.rest, seen)
}
