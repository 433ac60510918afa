import { isObject } from '../util/own-property.js'
import { ALL_TYPES, type Schema, type TypeName, typesOf } from './types.js'
import { resolveReference } from './subschemas.js'

/** The titles of choices that have none. */
const UNTITLED: ReadonlyMap<unknown, string> = new Map()

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

/** A schema whose references are resolved and whose alternatives are combined. */
interface FlatSchema extends
  Pick<Shape, 'types' | 'format' | 'precision' | 'scale' | 'encoding' | 'choices' | 'titles' | 'mixed'> {
  readonly items: unknown
  readonly properties: Schema | undefined
  readonly required: ReadonlySet<string>
  readonly rest: unknown
  readonly readOnly: boolean
  readonly writeOnly: boolean
}

/**
 * The most schemas that the flattening of one schema combines. A schema that refers to itself in `anyOf` inside `allOf`
 * may combine ever more of them.
 */
const MOST_COMBINED = 1000

/** Makes the flat schemas of one schema and its parts, each of them once. */
class SchemaFlattener {
  readonly #root: Schema
  readonly #flat = new Map<unknown, FlatSchema | undefined>()
  /** The schemas of the same value that contain the current one or refer to it. */
  readonly #ancestors = new Set<unknown>()
  readonly #numbers = new Map<unknown, number>()
  readonly #combined = new Map<string, Schema>()

  constructor (root: Schema) {
    this.#root = root
  }

  /**
   * Returns the flat schema, or `undefined` if the schema is `true`.
   * @throws Error if a reference has no target or leads back to itself, if a subschema is invalid, or if too many
   * schemas must be combined
   */
  flatten (schema: unknown): FlatSchema | undefined {
    if (schema === true) return undefined
    if (this.#flat.has(schema)) return this.#flat.get(schema)
    if (this.#ancestors.has(schema)) throw new Error('a reference refers only to itself')
    if (!isObject(schema)) throw new Error(`must be a JSON Schema, not ${JSON.stringify(schema)}`)
    this.#ancestors.add(schema)
    const flat = this.#join(schema)
    this.#ancestors.delete(schema)
    this.#flat.set(schema, flat)
    return flat
  }

  /** Joins the keywords of a schema with those of the schemas for the same value. */
  #join (schema: Schema): FlatSchema {
    const parts = list(schema.allOf).map((part) => this.flatten(part))
    if (typeof schema.$ref === 'string') parts.unshift(this.flatten(resolveReference(schema.$ref, this.#root)))
    for (const alternatives of [list(schema.anyOf), list(schema.oneOf)]) {
      if (alternatives.length === 0) continue
      parts.push(this.#either(alternatives.map((part) => this.flatten(part) ?? readKeywords({}))))
    }
    const own = { ...readKeywords(schema), items: this.#itemsOf(schema), rest: this.#restOf(schema) }
    return parts.reduce<FlatSchema>((flat, part) => part === undefined ? flat : this.#both(flat, part), own)
  }

  /** Returns the schema of the items of an array. In a tuple, an item fits any of its schemas or `additionalItems`. */
  #itemsOf ({ items, additionalItems = true }: Schema): unknown {
    if (!Array.isArray(items)) return items
    return this.#unite(additionalItems === false ? items : [...items, additionalItems])
  }

  #restOf ({ patternProperties, additionalProperties }: Schema): unknown {
    const patterns = isObject(patternProperties) ? Object.values(patternProperties) : []
    if (patterns.length === 0) return additionalProperties
    const isClosed = additionalProperties === undefined || additionalProperties === false
    return this.#unite(isClosed ? patterns : [...patterns, additionalProperties])
  }

  /** Combines the alternatives of `anyOf` or `oneOf` into a schema that allows whatever one of them allows. */
  #either (known: readonly FlatSchema[]): FlatSchema {
    const types = new Set(known.flatMap((part) => [...part.types]))
    const valued = known.filter(({ types }) => !(types.size === 1 && types.has('null')))
    const [first, ...more] = valued
    if (first !== undefined && more.length === 0) return { ...first, types }
    const choices = valued.map(({ choices }) => choices)
    const objects = known.filter((part) => part.types.has('object'))
    const isOpen = objects.some(({ properties, rest }) => properties === undefined && rest === undefined)
    const rests = objects.map(({ rest }) => rest).filter((rest) => rest !== undefined && rest !== false)
    return {
      types,
      mixed: true,
      required: new Set(),
      readOnly: known.every(({ readOnly }) => readOnly),
      // One alternative is enough to hide the value.
      writeOnly: known.some(({ writeOnly }) => writeOnly),
      format: shared(valued, 'format'),
      precision: shared(valued, 'precision'),
      scale: shared(valued, 'scale'),
      encoding: shared(valued, 'encoding'),
      choices: choices.includes(undefined) ? undefined : choices.flat(),
      titles: new Map(known.flatMap(({ titles }) => [...titles])),
      items: this.#unite(known.filter((part) => part.types.has('array')).map(({ items }) => items ?? true)),
      properties: objects.length === 0
        ? undefined
        : this.#mergeMembers('anyOf', objects.map(({ properties }) => properties ?? {})),
      rest: this.#unite(isOpen ? [true, ...rests] : rests)
    }
  }

  #unite (schemas: readonly unknown[]): unknown {
    return schemas.length === 0 ? undefined : schemas.reduce((all, schema) => this.#combine('anyOf', all, schema))
  }

  /**
   * Combines two schemas. The same ones always give the same object, in any order and however often they are combined,
   * so that a schema that refers to itself is flattened once.
   */
  #combine (keyword: 'anyOf' | 'allOf', a: unknown, b: unknown): unknown {
    const parts = [...new Set([a, b].flatMap((schema) => this.#partsOf(keyword, schema)))]
    if (parts.length === 1) return a
    const key = `${keyword} ${parts.map((part) => this.#numberOf(part)).sort((a, b) => a - b).join(' ')}`
    const combined = this.#combined.get(key) ?? { [keyword]: parts }
    this.#combined.set(key, combined)
    if (this.#combined.size > MOST_COMBINED) {
      throw new Error(`its alternatives combine to more than ${MOST_COMBINED} schemas; ` +
        'use fewer "anyOf", "oneOf" and "allOf" that refer to each other, or declare the attribute as {}')
    }
    return combined
  }

  /** Returns the parts of a combined schema, or the schema itself. */
  #partsOf (keyword: 'anyOf' | 'allOf', schema: unknown): readonly unknown[] {
    const isCombined = isObject(schema) && Object.keys(schema).length === 1 && Array.isArray(schema[keyword])
    return isCombined ? schema[keyword] as readonly unknown[] : [schema]
  }

  #numberOf (schema: unknown): number {
    const number = this.#numbers.get(schema) ?? this.#numbers.size
    this.#numbers.set(schema, number)
    return number
  }

  #both (a: FlatSchema, b: FlatSchema): FlatSchema {
    return {
      types: intersect(a.types, b.types),
      format: a.format ?? b.format,
      precision: a.precision ?? b.precision,
      scale: a.scale ?? b.scale,
      encoding: a.encoding ?? b.encoding,
      choices: a.choices ?? b.choices,
      titles: b.titles.size > 0 ? b.titles : a.titles,
      items: this.#bothParts(a.items, b.items),
      properties: a.properties === undefined || b.properties === undefined
        ? a.properties ?? b.properties
        : this.#mergeMembers('allOf', [a.properties, b.properties]),
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

  #mergeMembers (keyword: 'anyOf' | 'allOf', objects: readonly Schema[]): Schema {
    const all = new Map<string, unknown>()
    for (const [name, schema] of objects.flatMap((properties) => Object.entries(properties))) {
      all.set(name, all.has(name) ? this.#combine(keyword, all.get(name), schema) : schema)
    }
    return Object.fromEntries(all)
  }
}

function allowsAnything (
  { types, format, encoding, choices, items, properties, rest }: FlatSchema
): boolean {
  return types === ALL_TYPES && [format, encoding, choices, items, properties, rest].every((part) => part === undefined)
}

/** Returns the value that all alternatives have, or `undefined` if they differ. */
function shared<K extends keyof FlatSchema> (parts: readonly FlatSchema[], keyword: K): FlatSchema[K] | undefined {
  const values = new Set(parts.map((part) => part[keyword]))
  return values.size === 1 ? parts[0]?.[keyword] : undefined
}

/** Reads the keywords of the schema itself. `flatten` adds `items`, `rest` and the combined schemas. */
function readKeywords (schema: Schema): FlatSchema {
  const hasConst = 'const' in schema
  return {
    types: readTypes(schema),
    format: typeof schema.format === 'string' ? schema.format : undefined,
    precision: typeof schema.precision === 'number' ? schema.precision : undefined,
    scale: typeof schema.scale === 'number' ? schema.scale : undefined,
    encoding: typeof schema.contentEncoding === 'string' ? schema.contentEncoding : undefined,
    choices: Array.isArray(schema.enum) ? schema.enum : hasConst ? [schema.const] : undefined,
    titles: hasConst && typeof schema.title === 'string' ? new Map([[schema.const, schema.title]]) : UNTITLED,
    items: undefined,
    properties: isObject(schema.properties) ? schema.properties : undefined,
    required: new Set(list(schema.required).map(String)),
    rest: undefined,
    readOnly: schema.readOnly === true,
    writeOnly: schema.writeOnly === true,
    mixed: false
  }
}

function readTypes (schema: Schema): ReadonlySet<TypeName> {
  let types = ALL_TYPES
  if (schema.type !== undefined) types = new Set(list(schema.type) as TypeName[])
  if (types !== ALL_TYPES && types.has('number')) types = new Set([...types, 'integer'])
  if (schema.nullable === true) types = new Set([...types, 'null'])
  if (Array.isArray(schema.enum)) types = intersect(types, new Set(schema.enum.flatMap(typesOf)))
  if ('const' in schema) types = intersect(types, new Set(typesOf(schema.const)))
  return types
}

function intersect (a: ReadonlySet<TypeName>, b: ReadonlySet<TypeName>): ReadonlySet<TypeName> {
  return new Set([...a].filter((type) => b.has(type)))
}

function list (value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value].flat()
}

/**
 * Returns a compiler that makes one function for each shape. If a shape contains itself, the function for the inner
 * shape calls the one for the outer shape.
 */
export function compilePerShape<F extends (...parameters: never[]) => unknown> (
  make: (shape: Shape, compile: (shape: Shape) => F) => F
): (shape: Shape) => F {
  const made = new Map<Shape, F>()
  return function compile (shape: Shape): F {
    const known = made.get(shape)
    if (known !== undefined) return known
    const late = {} as { call: F }
    made.set(shape, ((...parameters) => late.call(...parameters)) as F)
    late.call = make(shape, compile)
    made.set(shape, late.call)
    return late.call
  }
}
