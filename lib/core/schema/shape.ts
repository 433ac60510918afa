import { isObject } from '../util/own-property.js'
import { ALL_TYPES, type Schema, type TypeName, typesOf } from './types.js'
import { resolveReference } from './subschemas.js'

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

/** The keywords of texts. A value with alternatives has one only if it is the same in all of them. */
type Facets = Pick<Shape, 'format' | 'precision' | 'scale' | 'encoding'>

const NO_FACETS: Facets = { format: undefined, precision: undefined, scale: undefined, encoding: undefined }
const FACETS = Object.keys(NO_FACETS) as ReadonlyArray<keyof Facets>

/** The shape of a value without a schema, which may be anything. */
export const openShape: Shape = {
  ...NO_FACETS,
  schema: {},
  types: ALL_TYPES,
  only: undefined,
  choices: undefined,
  titles: new Map(),
  get items () { return openShape },
  properties: new Map(),
  get rest () { return openShape },
  recursive: true,
  mixed: false
}

/**
 * Returns the shape of a schema. If the schema refers to itself, the shape contains itself.
 * @throws Error if a reference has no target or leads back to itself, or if a subschema is invalid
 */
export function shapeOf (schema: Schema): Shape {
  return shapesOf(schema)(schema)
}

/** Returns a function that returns the shapes of parts of a schema. */
export function shapesOf (root: Schema): (part: Schema) => Shape {
  const reader = new ShapeReader(root)
  return (part) => reader.read(part)
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
interface FlatSchema extends Facets, Pick<Shape, 'types' | 'choices' | 'titles' | 'mixed'> {
  readonly items: unknown
  readonly properties: Schema | undefined
  readonly required: ReadonlySet<string>
  readonly rest: unknown
  readonly readOnly: boolean
  readonly writeOnly: boolean
}

/** The keyword that combines schemas for the same value: all of them must fit, or any of them. */
type Combination = 'allOf' | 'anyOf'

/**
 * The most schemas that the flattening of one schema combines. A schema that refers to itself in `anyOf` inside `allOf`
 * may combine ever more of them.
 */
const MOST_COMBINED = 1000

/** Reads the shapes of one schema and its parts, each of them once. */
class ShapeReader {
  readonly #root: Schema
  readonly #shapes = new Map<unknown, { -readonly [K in keyof Shape]: Shape[K] }>()
  /** The schemas whose shapes are not complete yet. */
  readonly #incomplete = new Set<unknown>()
  readonly #flat = new Map<unknown, FlatSchema>()
  /** The schemas of the same value that contain the current one or refer to it. */
  readonly #ancestors = new Set<unknown>()
  readonly #combined = new Map<string, Schema>()
  readonly #numbers = new Map<unknown, number>()

  constructor (root: Schema) {
    this.#root = root
  }

  read (schema: unknown): Shape {
    const known = this.#shapes.get(schema)
    if (known !== undefined) {
      known.recursive ||= this.#incomplete.has(schema)
      return known
    }
    const { properties, required, readOnly, writeOnly, items, rest, ...flat } = this.#flatten(schema)
    const { types, choices } = flat
    const isOpen = properties === undefined && rest === undefined
    const limits = [choices, items, ...FACETS.map((name) => flat[name])]
    if (types === ALL_TYPES && isOpen && limits.every((limit) => limit === undefined)) return openShape
    const others = [...types].filter((type) => type !== 'null' && !(type === 'integer' && types.has('number')))
    const shape = {
      ...openShape,
      ...flat,
      schema: schema as Schema,
      only: others.length === 1 ? others[0] : undefined,
      choices: choices?.filter((choice) => choice !== null),
      recursive: false
    }
    this.#shapes.set(schema, shape)
    this.#incomplete.add(schema)
    if (items !== undefined) shape.items = this.read(items)
    shape.properties = this.#readProperties(properties, required)
    if (!isOpen) shape.rest = rest === undefined || rest === false ? undefined : this.read(rest)
    this.#incomplete.delete(schema)
    return shape
  }

  #readProperties (properties: Schema = {}, required: ReadonlySet<string>): ReadonlyMap<string, Property> {
    return new Map(Object.entries(properties).map(([name, schema]): [string, Property] => {
      const { readOnly, writeOnly } = this.#flatten(schema)
      const shape = this.read(schema)
      const own = isObject(schema) ? schema : {}
      return [name, { name, schema: own, shape, required: required.has(name), readOnly, writeOnly }]
    }))
  }

  /**
   * @throws Error if a reference has no target or leads back to itself, if a subschema is invalid, or if too many
   * schemas must be combined
   */
  #flatten (schema: unknown): FlatSchema {
    if (schema === true) return readKeywords({})
    const known = this.#flat.get(schema)
    if (known !== undefined) return known
    if (this.#ancestors.has(schema)) throw new Error('a reference refers only to itself')
    if (!isObject(schema)) throw new Error(`must be a JSON Schema, not ${JSON.stringify(schema)}`)
    this.#ancestors.add(schema)
    const parts = list(schema.allOf).map((part) => this.#flatten(part))
    if (typeof schema.$ref === 'string') parts.unshift(this.#flatten(resolveReference(schema.$ref, this.#root)))
    for (const alternatives of [list(schema.anyOf), list(schema.oneOf)]) {
      if (alternatives.length > 0) parts.push(this.#either(alternatives.map((part) => this.#flatten(part))))
    }
    const own = { ...readKeywords(schema), items: this.#itemsOf(schema), rest: this.#restOf(schema) }
    const flat = parts.reduce<FlatSchema>((flat, part) => this.#both(flat, part), own)
    this.#ancestors.delete(schema)
    this.#flat.set(schema, flat)
    return flat
  }

  /** Returns the schema of the items of an array. In a tuple, an item fits any of its schemas or `additionalItems`. */
  #itemsOf ({ items, additionalItems = true }: Schema): unknown {
    if (!Array.isArray(items)) return items
    return this.#combine('anyOf', additionalItems === false ? items : [...items, additionalItems])
  }

  #restOf ({ patternProperties, additionalProperties }: Schema): unknown {
    const patterns = isObject(patternProperties) ? Object.values(patternProperties) : []
    if (patterns.length === 0) return additionalProperties
    return this.#combine('anyOf', [...patterns, additionalProperties ?? false].filter((schema) => schema !== false))
  }

  /** Combines the alternatives of `anyOf` or `oneOf` into a schema that allows whatever one of them allows. */
  #either (known: readonly FlatSchema[]): FlatSchema {
    const types = new Set(known.flatMap((part) => [...part.types]))
    const valued = known.filter(({ types }) => !(types.size === 1 && types.has('null')))
    const [first, ...more] = valued
    if (first !== undefined && more.length === 0) return { ...first, types }
    const facets = FACETS.filter((name) => valued.every((part) => part[name] === first?.[name]))
    const choices = valued.map(({ choices }) => choices)
    const objects = known.filter(({ types }) => types.has('object'))
    const isOpen = objects.some(({ properties, rest }) => properties === undefined && rest === undefined)
    const rests = objects.map(({ rest }) => rest).filter((rest) => rest !== undefined && rest !== false)
    return {
      ...NO_FACETS,
      ...Object.fromEntries(facets.map((name) => [name, first?.[name]])),
      types,
      mixed: true,
      required: new Set(),
      readOnly: known.every(({ readOnly }) => readOnly),
      // One alternative is enough to hide the value.
      writeOnly: known.some(({ writeOnly }) => writeOnly),
      choices: choices.includes(undefined) ? undefined : choices.flat(),
      titles: new Map(known.flatMap(({ titles }) => [...titles])),
      items: this.#combine('anyOf', known.flatMap(({ types, items = true }) => types.has('array') ? [items] : [])),
      properties: objects.length === 0 ? undefined : this.#mergeMembers('anyOf', objects),
      rest: this.#combine('anyOf', isOpen ? [true, ...rests] : rests)
    }
  }

  #both (a: FlatSchema, b: FlatSchema): FlatSchema {
    const facets = FACETS.map((name) => [name, a[name] ?? b[name]])
    return {
      ...NO_FACETS,
      ...Object.fromEntries(facets),
      types: intersect(a.types, b.types),
      choices: a.choices ?? b.choices,
      titles: b.titles.size > 0 ? b.titles : a.titles,
      items: this.#bothParts(a.items, b.items),
      properties: a.properties === undefined || b.properties === undefined
        ? a.properties ?? b.properties
        : this.#mergeMembers('allOf', [a, b]),
      required: new Set([...a.required, ...b.required]),
      rest: this.#bothParts(a.rest, b.rest),
      readOnly: a.readOnly || b.readOnly,
      writeOnly: a.writeOnly || b.writeOnly,
      mixed: a.mixed || b.mixed
    }
  }

  #bothParts (a: unknown, b: unknown): unknown {
    if (a === undefined || a === true) return b ?? a
    return b === undefined || b === true ? a : a === false || b === false ? false : this.#combine('allOf', [a, b])
  }

  #mergeMembers (keyword: Combination, objects: readonly FlatSchema[]): Schema {
    const all = new Map<string, unknown[]>()
    for (const [name, schema] of objects.flatMap(({ properties = {} }) => Object.entries(properties))) {
      all.set(name, [...all.get(name) ?? [], schema])
    }
    return Object.fromEntries([...all].map(([name, schemas]) => [name, this.#combine(keyword, schemas)]))
  }

  /**
   * Combines schemas. The same ones always give the same object, in any order and however often they are combined, so
   * that a schema that refers to itself is flattened once. Returns `undefined` if there are none.
   */
  #combine (keyword: Combination, schemas: readonly unknown[]): unknown {
    const parts = [...new Set(schemas.flatMap((schema) => partsOf(keyword, schema)))]
    if (parts.length <= 1) return schemas[0]
    const numbers = parts.map((part) => {
      const number = this.#numbers.get(part) ?? this.#numbers.size
      this.#numbers.set(part, number)
      return number
    })
    const key = `${keyword} ${numbers.sort((a, b) => a - b).join(' ')}`
    const combined = this.#combined.get(key) ?? { [keyword]: parts }
    this.#combined.set(key, combined)
    if (this.#combined.size > MOST_COMBINED) {
      throw new Error(`its alternatives combine to more than ${MOST_COMBINED} schemas; ` +
        'use fewer "anyOf", "oneOf" and "allOf" that refer to each other, or declare the attribute as {}')
    }
    return combined
  }
}

/** Returns the parts of a combined schema, or the schema itself. */
function partsOf (keyword: Combination, schema: unknown): readonly unknown[] {
  const isCombined = isObject(schema) && Object.keys(schema).length === 1 && Array.isArray(schema[keyword])
  return isCombined ? schema[keyword] as readonly unknown[] : [schema]
}

/** Reads the keywords of the schema itself. `#flatten` adds `items`, `rest` and the combined schemas. */
function readKeywords (schema: Schema): FlatSchema {
  const hasConst = 'const' in schema
  return {
    types: readTypes(schema),
    format: typeof schema.format === 'string' ? schema.format : undefined,
    precision: typeof schema.precision === 'number' ? schema.precision : undefined,
    scale: typeof schema.scale === 'number' ? schema.scale : undefined,
    encoding: typeof schema.contentEncoding === 'string' ? schema.contentEncoding : undefined,
    choices: Array.isArray(schema.enum) ? schema.enum : hasConst ? [schema.const] : undefined,
    titles: new Map(hasConst && typeof schema.title === 'string' ? [[schema.const, schema.title]] : []),
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
  if (a === ALL_TYPES) return b
  return b === ALL_TYPES ? a : new Set([...a].filter((type) => b.has(type)))
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
