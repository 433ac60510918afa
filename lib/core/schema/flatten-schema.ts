import { isObject } from '../util/own-property.js'
import { resolveReference } from './subschemas.js'
import { ALL_TYPES, type Schema, type TypeName, typesOf } from './types.js'

/** A schema whose references are resolved and whose alternatives are combined. */
export interface FlatSchema {
  readonly types: ReadonlySet<TypeName>
  readonly format: string | undefined
  readonly precision: number | undefined
  readonly scale: number | undefined
  readonly encoding: string | undefined
  readonly choices: readonly unknown[] | undefined
  readonly titles: ReadonlyMap<unknown, string>
  readonly items: unknown
  readonly properties: Schema | undefined
  readonly required: ReadonlySet<string>
  readonly rest: unknown
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly mixed: boolean
}

export const UNTITLED: ReadonlyMap<unknown, string> = new Map()

/**
 * The most schemas that the flattening of one schema combines. A schema that refers to itself in `anyOf` inside `allOf`
 * may combine ever more of them.
 */
const MOST_COMBINED = 1000

/** Makes the flat schemas of one schema and its parts, each of them once. */
export class SchemaFlattener {
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

export function allowsAnything (
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
