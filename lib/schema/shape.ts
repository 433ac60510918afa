import { isObject } from '../util/own-property.js'
import { resolveReference } from './references.js'
import type { Schema, TypeName } from './types.js'

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
  /** Of an array: its items. */
  readonly items: Shape
  /** Of an object: its declared properties. */
  readonly properties: ReadonlyMap<string, Property>
  /** Of an object: properties that are not declared; undefined: there may be none. */
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

/** All types that there are. */
export const EVERY: ReadonlySet<TypeName> = new Set([
  'string',
  'integer',
  'number',
  'boolean',
  'null',
  'array',
  'object'
])

const UNTITLED: ReadonlyMap<unknown, string> = new Map()

/** The shape of a value of which nothing is declared. */
export const openShape: Shape = makeOpenShape()

function makeOpenShape (): Shape {
  const shape = {
    schema: {},
    types: EVERY,
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
  readonly #root: Schema
  readonly #made = new Map<unknown, Mutable<Shape>>()
  readonly #making = new Set<unknown>()
  readonly #numbers = new Map<unknown, number>()
  readonly #combined = new Map<string, Schema>()

  constructor (root: Schema) {
    this.#root = root
  }

  shape (schema: unknown): Shape {
    const known = this.#made.get(schema)
    if (known !== undefined) {
      known.recursive ||= this.#making.has(schema)
      return known
    }
    const flat = this.#flatten(schema, [])
    if (flat === undefined || saysNothing(flat)) return openShape
    const shape = { schema, recursive: false } as Mutable<Shape>
    this.#made.set(schema, shape)
    this.#making.add(schema)
    Object.assign(shape, this.#describe(flat))
    this.#making.delete(schema)
    return shape
  }

  #describe (flat: Flat): Omit<Shape, 'schema' | 'recursive'> {
    const { types } = flat
    const others = [...types].filter((type) => type !== 'null' && !(type === 'integer' && types.has('number')))
    return {
      types,
      only: others.length === 1 ? others[0] : undefined,
      format: flat.format,
      choices: flat.choices?.filter((choice) => choice !== null),
      titles: flat.titles,
      mixed: flat.mixed,
      items: flat.items === undefined ? openShape : this.shape(flat.items),
      ...this.#describeMembers(flat)
    }
  }

  #describeMembers (flat: Flat): Pick<Shape, 'properties' | 'rest'> {
    const properties = new Map<string, Property>()
    for (const [name, schema] of Object.entries(flat.properties ?? {})) {
      const inner = this.#flatten(schema, [])
      properties.set(name, {
        name,
        schema: isObject(schema) ? schema : {},
        shape: this.shape(schema),
        required: flat.required.has(name),
        readOnly: inner?.readOnly === true,
        writeOnly: inner?.writeOnly === true
      })
    }
    if (flat.properties === undefined && flat.rest === undefined) return { properties, rest: openShape }
    return { properties, rest: flat.rest === undefined || flat.rest === false ? undefined : this.shape(flat.rest) }
  }

  /** Undefined where nothing is said of the value. `around` are the schemas that are being followed to this one. */
  #flatten (schema: unknown, around: readonly unknown[]): Flat | undefined {
    if (schema === true) return undefined
    if (around.includes(schema)) throw new Error('a reference leads to nothing but itself')
    if (!isObject(schema)) throw new Error(`must be a JSON Schema, not ${JSON.stringify(schema)}`)
    let flat = own(schema)
    // What may follow the places of a tuple is an item, too.
    if (Array.isArray(flat.items)) {
      flat.items = this.#unite([
        ...flat.items,
        ...(schema.additionalItems === false ? [] : [schema.additionalItems ?? true])
      ])
    }
    const seen = [...around, schema]
    if (typeof schema.$ref === 'string') {
      flat = this.#both(flat, this.#flatten(resolveReference(schema.$ref, this.#root), seen))
    }
    for (const part of list(schema.allOf)) flat = this.#both(flat, this.#flatten(part, seen))
    for (const keyword of ['anyOf', 'oneOf']) {
      const parts = list(schema[keyword])
      if (parts.length > 0) {
        flat = this.#both(flat, this.#either(parts.map((part) => this.#flatten(part, seen) ?? own({}))))
      }
    }
    return flat
  }

  /** Of several alternatives what each of them says. */
  #either (known: readonly Flat[]): Flat {
    const types = new Set(known.flatMap((part) => [...part.types]))
    const valued = known.filter(({ types }) => !(types.size === 1 && types.has('null')))
    const [first, ...more] = valued
    if (first !== undefined && more.length === 0) return { ...first, types }
    const formats = new Set(valued.map(({ format }) => format))
    const objects = known.filter((part) => part.types.has('object'))
    const isOpen = objects.some(({ properties, rest }) => properties === undefined && rest === undefined)
    return {
      ...own({}),
      mixed: true,
      types,
      readOnly: known.every(({ readOnly }) => readOnly),
      // Rather too little goes out than what one of them keeps back.
      writeOnly: known.some(({ writeOnly }) => writeOnly),
      format: formats.size === 1 ? first?.format : undefined,
      choices: valued.every(({ choices }) => choices !== undefined)
        ? valued.flatMap(({ choices }) => choices as readonly unknown[])
        : undefined,
      titles: new Map(known.flatMap(({ titles }) => [...titles])),
      items: this.#unite(known.filter((part) => part.types.has('array')).map(({ items }) => items ?? true)),
      properties: objects.length === 0 ? undefined : this.#uniteMembers(objects),
      rest: this.#unite([
        ...(isOpen ? [true] : []),
        ...objects.map(({ rest }) => rest).filter((rest) => rest !== undefined && rest !== false)
      ])
    }
  }

  #uniteMembers (objects: readonly Flat[]): Record<string, unknown> {
    const all = new Map<string, unknown>()
    for (const [name, schema] of objects.flatMap(({ properties }) => Object.entries(properties ?? {}))) {
      all.set(name, all.has(name) ? this.#union(all.get(name), schema) : schema)
    }
    return Object.fromEntries(all)
  }

  #unite (schemas: readonly unknown[]): unknown {
    return schemas.length === 0 ? undefined : schemas.reduce((all, schema) => this.#union(all, schema))
  }

  #union (a: unknown, b: unknown): unknown {
    return this.#combine('anyOf', a, b)
  }

  /** The same schema for the same two, so that a circle is noticed. */
  #combine (keyword: 'anyOf' | 'allOf', a: unknown, b: unknown): unknown {
    if (a === b) return a
    const key = `${keyword} ${this.#numberOf(a)} ${this.#numberOf(b)}`
    let combined = this.#combined.get(key)
    if (combined === undefined) this.#combined.set(key, combined = { [keyword]: [a, b] })
    return combined
  }

  #numberOf (schema: unknown): number {
    let number = this.#numbers.get(schema)
    if (number === undefined) this.#numbers.set(schema, number = this.#numbers.size)
    return number
  }

  #both (a: Flat, b: Flat | undefined): Flat {
    if (b === undefined) return a
    return {
      types: common(a.types, b.types),
      format: a.format ?? b.format,
      choices: a.choices ?? b.choices,
      titles: b.titles.size > 0 ? b.titles : a.titles,
      items: this.#bothParts(a.items, b.items),
      properties: this.#bothMembers(a.properties, b.properties),
      required: new Set([...a.required, ...b.required]),
      rest: this.#bothParts(a.rest, b.rest),
      readOnly: a.readOnly || b.readOnly,
      writeOnly: a.writeOnly || b.writeOnly,
      mixed: a.mixed || b.mixed
    }
  }

  #bothParts (a: unknown, b: unknown): unknown {
    if (a === undefined || a === true) return b ?? a
    return b === undefined || b === true ? a : a === false || b === false ? false : this.#combine('allOf', a, b)
  }

  #bothMembers (a: Flat['properties'], b: Flat['properties']): Flat['properties'] {
    if (a === undefined || b === undefined) return a ?? b
    const all = new Map(Object.entries(a))
    for (const [name, schema] of Object.entries(b)) {
      all.set(name, all.has(name) ? this.#combine('allOf', all.get(name), schema) : schema)
    }
    return Object.fromEntries(all)
  }
}

/** A schema with its references followed and its alternatives laid together. */
interface Flat {
  types: ReadonlySet<TypeName>
  format: string | undefined
  choices: readonly unknown[] | undefined
  titles: ReadonlyMap<unknown, string>
  items: unknown
  properties: Record<string, unknown> | undefined
  required: ReadonlySet<string>
  rest: unknown
  readOnly: boolean
  writeOnly: boolean
  mixed: boolean
}

function saysNothing ({ types, format, choices, items, properties, rest }: Flat): boolean {
  return types === EVERY && [format, choices, items, properties, rest].every((part) => part === undefined)
}

function own (schema: Schema): Flat {
  const patterns = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  return {
    types: ownTypes(schema),
    format: typeof schema.format === 'string' ? schema.format : undefined,
    choices: Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined,
    titles: 'const' in schema && typeof schema.title === 'string' ? new Map([[schema.const, schema.title]]) : UNTITLED,
    items: schema.items,
    properties: isObject(schema.properties) ? schema.properties : undefined,
    required: new Set(list(schema.required) as string[]),
    rest:
      patterns.length === 0
        ? schema.additionalProperties
        : restOf([
          ...patterns,
          ...([undefined, false].includes(schema.additionalProperties as undefined)
            ? []
            : [schema.additionalProperties])
        ]),
    readOnly: schema.readOnly === true,
    writeOnly: schema.writeOnly === true,
    mixed: false
  }
}

function restOf (parts: readonly unknown[]): unknown {
  return parts.length === 1 ? parts[0] : { anyOf: parts }
}

function ownTypes (schema: Schema): ReadonlySet<TypeName> {
  let types = EVERY
  if (schema.type !== undefined) types = new Set(list(schema.type) as TypeName[])
  if (types !== EVERY && types.has('number')) types = new Set([...types, 'integer'])
  if (schema.nullable === true) types = new Set([...types, 'null'])
  if (Array.isArray(schema.enum)) types = common(types, new Set(schema.enum.flatMap(typesOf)))
  if ('const' in schema) types = common(types, new Set(typesOf(schema.const)))
  return types
}

function common (a: ReadonlySet<TypeName>, b: ReadonlySet<TypeName>): ReadonlySet<TypeName> {
  return new Set([...a].filter((type) => b.has(type)))
}

/** The JSON types that a value fits. */
export function typesOf (value: unknown): TypeName[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  return [typeof value as TypeName]
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

function list (value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}
