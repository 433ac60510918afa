import { isObject } from '../util/own-property.js'
import { type FlatSchema, saysNothing, SchemaFlattener, UNTITLED } from './flatten-schema.js'
import { ALL_TYPES, type Schema, type TypeName } from './types.js'

/**
 * What the attribute schema says of the form of a value: enough to convert text, to write markup and to know what may
 * go out. Whether the value is valid is for the JSON Schema validator to say.
 */
export interface Shape {
  /** What it was made of. */
  readonly schema: Schema
  /** The JSON types that the schema lets through. */
  readonly types: ReadonlySet<TypeName>
  /** The one type besides null, or undefined where there are several. */
  readonly only: TypeName | undefined
  /** `format` of a string. */
  readonly format: string | undefined
  /** The values of an enumeration, null left out. */
  readonly choices: readonly unknown[] | undefined
  /** What choices are called: of `oneOf: [{ const: 'a', title: 'A' }]` each its title. */
  readonly titles: ReadonlyMap<unknown, string>
  /** The items of an array. */
  readonly items: Shape
  /** The declared properties of an object. */
  readonly properties: ReadonlyMap<string, Property>
  /** The undeclared properties of an object; undefined if it may have none. */
  readonly rest: Shape | undefined
  /** Whether it contains itself. */
  readonly recursive: boolean
  /** Whether its properties are those of several alternatives. */
  readonly mixed: boolean
}

/** A declared attribute, or a property of an object in one. */
export interface Property {
  /** By which it travels. */
  readonly name: string
  /** What its values look like. */
  readonly shape: Shape
  /** As it was declared. */
  readonly schema: Schema
  /** Whether a create must supply it. */
  readonly required: boolean
  /** Ignored on the way in. */
  readonly readOnly: boolean
  /** Never on the way out. */
  readonly writeOnly: boolean
}

/** The shape of a value of which nothing is declared. */
export const openShape: Shape = makeOpenShape()

function makeOpenShape (): Shape {
  const shape = {
    schema: {},
    types: ALL_TYPES,
    only: undefined,
    format: undefined,
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
 * The shape of `schema`, in which references are looked up. A schema that refers to itself makes a shape that contains
 * itself.
 * @throws Error where a reference leads nowhere, or a subschema is none
 */
export function shapeOf (schema: Schema): Shape {
  return new Shaper(schema).shape(schema)
}

/** The same for each part of it, made when it is asked for. */
export function shapesOf (root: Schema): (part: Schema) => Shape {
  const shaper = new Shaper(root)
  return (part) => shaper.shape(part)
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Makes the shapes of one schema, each once. */
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
    if (flat === undefined || saysNothing(flat)) return openShape
    const shape = { schema, recursive: false } as Mutable<Shape>
    this.#made.set(schema, shape)
    this.#making.add(schema)
    Object.assign(shape, this.#read(flat))
    this.#making.delete(schema)
    return shape
  }

  #read (flat: FlatSchema): Omit<Shape, 'schema' | 'recursive'> {
    const { types, format, titles, mixed, rest } = flat
    const others = [...types].filter((type) => type !== 'null' && !(type === 'integer' && types.has('number')))
    const isOpen = flat.properties === undefined && rest === undefined
    return {
      types,
      only: others.length === 1 ? others[0] : undefined,
      format,
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

/** The shapes that a value of this shape may hold, itself first. */
export function * shapesIn (shape: Shape, seen: Set<Shape> = new Set()): Generator<Shape> {
  if (seen.has(shape)) return
  seen.add(shape)
  yield shape
  for (const { shape: inner } of shape.properties.values()) yield * shapesIn(inner, seen)
  if (shape.types.has('array')) yield * shapesIn(shape.items, seen)
  if (shape.rest !== undefined && shape.types.has('object')) yield * shapesIn(shape.rest, seen)
}
