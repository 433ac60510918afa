/**
 * What the attribute schema says of the form of a value: enough to convert text, to write markup and to know what may
 * go out. Whether the value is valid is for the JSON Schema validator to say.
 */
export interface Shape {
  /** The JSON types that the schema lets through. */
  readonly types: ReadonlySet<TypeName>
  /** The one type besides null, or undefined where there are several. */
  readonly only: TypeName | undefined
  /** `format` of a string. */
  readonly format: string | undefined
  /** The values of an enumeration, null left out. */
  readonly choices: readonly unknown[] | undefined
  /** Of an array: its items. */
  readonly items: Shape
  /** Of an object: its declared properties. */
  readonly properties: ReadonlyMap<string, Property>
  /** Of an object: properties that are not declared; undefined: there may be none. */
  readonly rest: Shape | undefined
}

export interface Property {
  readonly name: string
  readonly shape: Shape
  readonly schema: Schema
  readonly required: boolean
  /** Ignored on the way in. */
  readonly readOnly: boolean
  /** Never on the way out. */
  readonly writeOnly: boolean
}

export type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** A JSON Schema object. */
export type Schema = Readonly<Record<string, unknown>>

const EVERY: ReadonlySet<TypeName> = new Set(['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'])

/** The shape of a value of which nothing is declared. */
export const openShape: Shape = makeOpenShape()

function makeOpenShape (): Shape {
  const shape = { types: EVERY, only: undefined, format: undefined, choices: undefined, properties: new Map<string, Property>() }
  const open: Shape = { ...shape, get items () { return open }, get rest () { return open } }
  return open
}

/**
 * The shape of `schema`. References are looked up in `root`; one that leads back to itself is taken as open.
 * @throws Error where a reference leads nowhere
 */
export function shapeOf (schema: unknown, root: Schema, ancestors: readonly unknown[] = []): Shape {
  const flat = flatten(schema, root, ancestors)
  if (flat === undefined) return openShape
  const below = [...ancestors, ...flat.sources]
  const { types } = flat
  const others = [...types].filter((type) => type !== 'null' && !(type === 'integer' && types.has('number')))
  return {
    types,
    only: others.length === 1 ? others[0] : undefined,
    format: flat.format,
    choices: flat.choices?.filter((choice) => choice !== null),
    items: isSchema(flat.items) ? shapeOf(flat.items, root, below) : openShape,
    ...objectShape(flat, root, below)
  }
}

function objectShape (flat: Flat, root: Schema, ancestors: readonly unknown[]): Pick<Shape, 'properties' | 'rest'> {
  const properties = new Map<string, Property>()
  for (const [name, schema] of Object.entries(flat.properties ?? {})) {
    const inner = flatten(schema, root, ancestors)
    properties.set(name, {
      name,
      schema: isSchema(schema) ? schema : {},
      shape: shapeOf(schema, root, ancestors),
      required: flat.required.has(name),
      readOnly: inner?.readOnly === true,
      writeOnly: inner?.writeOnly === true
    })
  }
  if (flat.properties === undefined && flat.rest === undefined) return { properties, rest: openShape }
  if (flat.rest === undefined || flat.rest === false) return { properties, rest: undefined }
  return { properties, rest: shapeOf(flat.rest, root, ancestors) }
}

/** A schema with its references followed and its alternatives laid together. */
interface Flat {
  types: ReadonlySet<TypeName>
  format: string | undefined
  choices: readonly unknown[] | undefined
  items: unknown
  properties: Record<string, unknown> | undefined
  required: Set<string>
  rest: unknown
  readOnly: boolean
  writeOnly: boolean
  /** The schemas it is made of, by which a circle is noticed. */
  sources: unknown[]
}

function flatten (schema: unknown, root: Schema, ancestors: readonly unknown[]): Flat | undefined {
  if (!isSchema(schema) || ancestors.includes(schema)) return undefined
  let flat = own(schema)
  const seen = [...ancestors, schema]
  if (typeof schema.$ref === 'string') flat = both(flat, flatten(resolve(schema.$ref, root), root, seen))
  for (const part of list(schema.allOf)) flat = both(flat, flatten(part, root, seen))
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts = list(schema[keyword])
    if (parts.length > 0) flat = both(flat, either(parts.map((part) => flatten(part, root, seen))))
  }
  return flat
}

function own (schema: Schema): Flat {
  const patterns = isSchema(schema.patternProperties) ? Object.values(schema.patternProperties) : []
  const rest = schema.additionalProperties
  return {
    types: ownTypes(schema),
    format: typeof schema.format === 'string' ? schema.format : undefined,
    choices: Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined,
    items: schema.items,
    properties: isSchema(schema.properties) ? schema.properties : undefined,
    required: new Set(list(schema.required) as string[]),
    rest: patterns.length === 1 ? patterns[0] : patterns.length > 1 ? true : rest,
    readOnly: schema.readOnly === true,
    writeOnly: schema.writeOnly === true,
    sources: [schema]
  }
}

function ownTypes (schema: Schema): ReadonlySet<TypeName> {
  let types = EVERY
  if (schema.type !== undefined) types = new Set(list(schema.type) as TypeName[])
  if (types.has('number')) types = new Set([...types, 'integer'])
  if (schema.nullable === true) types = new Set([...types, 'null'])
  if (Array.isArray(schema.enum)) types = common(types, new Set(schema.enum.flatMap(typesOf)))
  if ('const' in schema) types = common(types, new Set(typesOf(schema.const)))
  return types
}

function both (a: Flat, b: Flat | undefined): Flat {
  if (b === undefined) return a
  return {
    types: common(a.types, b.types),
    format: a.format ?? b.format,
    choices: a.choices ?? b.choices,
    items: a.items ?? b.items,
    properties: a.properties === undefined ? b.properties : { ...b.properties, ...a.properties },
    required: new Set([...a.required, ...b.required]),
    rest: a.rest ?? b.rest,
    readOnly: a.readOnly || b.readOnly,
    writeOnly: a.writeOnly || b.writeOnly,
    sources: [...a.sources, ...b.sources]
  }
}

/** Of several alternatives the types of all; what else they say holds only where a single one says it. */
function either (parts: ReadonlyArray<Flat | undefined>): Flat | undefined {
  const known = parts.filter((part) => part !== undefined)
  if (known.length < parts.length) return undefined
  const types = new Set(known.flatMap((part) => [...part.types]))
  const [first, ...more] = known.filter((part) => !isOnlyNull(part))
  if (first !== undefined && more.length === 0) return { ...first, types }
  const formats = new Set(known.map((part) => part.format))
  const choices = known.flatMap((part) => part.choices ?? [])
  return {
    ...own({}),
    types,
    format: formats.size === 1 ? first?.format : undefined,
    choices: known.every((part) => part.choices !== undefined) ? choices : undefined,
    sources: known.flatMap((part) => part.sources)
  }
}

function isOnlyNull ({ types }: Flat): boolean {
  return types.size === 1 && types.has('null')
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

/** RFC 6901, within the schema itself. */
function resolve (reference: string, root: Schema): unknown {
  let target: unknown = root
  for (const step of reference.replace(/^#\/?/, '').split('/').filter((step) => step !== '')) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isSchema(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  if (!reference.startsWith('#') || target === undefined) throw new Error(`the reference "${reference}" leads nowhere in the schema`)
  return target
}

export function isSchema (value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function list (value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}
