import { show } from './checks.js'
import { InvalidAttributesError } from './errors.js'
import { singularize } from './inflection.js'
import { suggest } from './nearest.js'
import { keepsWriteOnly } from './write-only.js'
import { isLegalText, isXmlName } from './representable.js'
import { EVERY, isSchema, type Property, type Schema, shapeOf, shapesIn } from './shape.js'
import type { Id } from './stores/store.js'
import { subschemasOf } from './subschemas.js'

/** What ids look like: a `'string'` is any text, made by a store or a handler of the app's own. */
export type IdType = 'integer' | 'uuid' | 'string'

/** What our own stores make. */
export type GeneratedIdType = Exclude<IdType, 'string'>

/** What is done to a resource by the convention; `new` and `edit` are forms. */
export type ActionName = 'list' | 'show' | 'create' | 'update' | 'delete' | 'new' | 'edit'

/** The noun: what is known of a resource before the first request. */
export interface Resource {
  /** `posts` */
  readonly plural: string
  /** `post` */
  readonly singular: string
  /** Of the collection, under the prefix, with the names of its parameters: `/blog/posts/:postId/comments`. */
  readonly path: string
  /** Whether there is but one, without an id: neither its path nor a payload nor a document has one. */
  readonly singleton: boolean
  /** Of a nested one, the attribute that has its parent's id: it is only read. */
  readonly foreignKey: string | undefined
  /** What can be done to it. */
  readonly actions: ReadonlySet<ActionName>
  /** Whether a write may name its row by the member's path alone. */
  readonly memberWrites: boolean
  /** What ids look like. */
  readonly idType: IdType
  /** Whether no attributes are declared, so that any may be given. */
  readonly open: boolean
  /** The attributes that are declared, in their order. */
  readonly attributes: ReadonlyMap<string, Property>
  /** The schema they are declared by. */
  readonly schema: Schema
  /** The name of an array's items by the array's own: `tags` → `tag`. */
  readonly itemName: (name: string) => string
}

export type ResourcePlace = Pick<Resource, 'plural' | 'singular' | 'path' | 'memberWrites' | 'singleton' | 'actions' | 'foreignKey'>

/** @throws InvalidAttributesError */
export function makeResource (place: ResourcePlace, idType: IdType, schema: Schema | undefined): Resource {
  return Object.freeze({
    ...place,
    idType,
    open: schema === undefined,
    attributes: schema === undefined ? new Map<string, Property>() : declareAttributes(place.plural, schema),
    schema: schema ?? {},
    itemName: remember(singularize)
  })
}

/** What one calls all of it: `posts`, and of a singleton `profile`. */
export function nameOf ({ singleton, singular, plural }: Pick<Resource, 'singleton' | 'singular' | 'plural'>): string {
  return singleton ? singular : plural
}

/** Names come from clients, too. */
const MOST_REMEMBERED = 1000

/** Looks at a word once, which takes a microsecond: every array of a row asks for the name of its items. */
function remember (find: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>()
  return (name) => {
    let found = known.get(name)
    if (found === undefined) {
      if (known.size >= MOST_REMEMBERED) known.clear()
      known.set(name, found = find(name))
    }
    return found
  }
}

/** Describe, or are looked up by reference: nothing that a single attribute must be checked by. */
const HARMLESS: ReadonlySet<string> = new Set([
  'type', 'properties', 'required', 'additionalProperties', '$id', '$schema', '$defs', 'definitions', '$comment',
  'title', 'description', 'examples', 'example', 'xml', 'deprecated'
])

/**
 * The attributes that a schema declares, in its order.
 * @throws InvalidAttributesError
 */
export function declareAttributes (plural: string, schema: Schema): ReadonlyMap<string, Property> {
  const refuse = (reason: string): never => { throw new InvalidAttributesError(plural, reason) }
  if (schema.type !== 'object' || !isSchema(schema.properties)) refuse('must be a JSON Schema { type: \'object\', properties: { … } }')
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) refuse('"additionalProperties" can only be false: an attribute that is not declared is refused, leave it out; or declare no attributes at all, which leaves them open')
  for (const keyword of Object.keys(schema)) {
    if (!HARMLESS.has(keyword) && !keyword.startsWith('x-')) refuse(`"${keyword}" has no effect beside "properties": an update checks only the attributes it is given; put it into a property, or leave it out`)
  }
  const properties = schema.properties as Schema
  for (const name of Object.keys(properties)) {
    if (name === 'id') refuse('"id" belongs to the resource (see the option "id"), leave it out')
    if (!isXmlName(name)) refuse(`"${name}" is not a name that XML can carry: letters, digits, "-", "_" and ".", and no digit first`)
  }
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  for (const name of required) {
    if (!Object.hasOwn(properties, String(name))) refuse(`"required" names "${String(name)}", which is not among the properties`)
  }
  const declared = new Map<string, Property>()
  for (const [name, property] of shapeProperties(schema, refuse)) {
    for (const { properties } of shapesIn(property.shape)) {
      for (const inner of properties.keys()) if (!isXmlName(inner)) refuse(`"${inner}" in "${name}" is not a name that XML can carry`)
    }
    declared.set(name, property)
  }
  return declared
}

const TYPES: readonly string[] = [...EVERY]
/** Names that other languages have for the types. */
const OTHER_TYPES: ReadonlyMap<unknown, string> = new Map([
  ...['text', 'varchar', 'char', 'uuid', 'date', 'datetime', 'date-time', 'timestamp', 'email', 'url'].map((name) => [name, 'string'] as const),
  ...['int', 'bigint', 'long'].map((name) => [name, 'integer'] as const),
  ...['float', 'double', 'decimal', 'real'].map((name) => [name, 'number'] as const),
  ...['list', 'set'].map((name) => [name, 'array'] as const),
  ...['json', 'map', 'dict'].map((name) => [name, 'object'] as const)
])

function suggestType (type: unknown): string {
  const meant = OTHER_TYPES.get(type)
  return meant === undefined ? suggest(String(type), TYPES) : `; did you mean "${meant}"?`
}

function shapeProperties (schema: Schema, refuse: (reason: string) => never): ReadonlyMap<string, Property> {
  for (const [name, property] of Object.entries(schema.properties as Schema)) {
    if (!isSchema(property)) refuse(`"${name}" must be a JSON Schema object, not ${JSON.stringify(property)}`)
  }
  for (const { name, schema: part } of subschemasOf(schema)) {
    const other = [part.type ?? []].flat().find((type) => !TYPES.includes(type as string))
    if (other !== undefined) refuse(`${name === '' ? 'the schema' : `"${name}"`} has the type ${show(other)}, which is none of ${TYPES.join(', ')}${suggestType(other)}`)
  }
  try {
    const { properties } = shapeOf(schema)
    if (keepsWriteOnly(schema)) return properties
    throw new Error('"writeOnly" is heeded in a property only, at any depth; put what must not go out into a property of its own')
  } catch (error) {
    return refuse((error as Error).message)
  }
}

/** In characters: as many as Fastify's router lets a parameter have. */
const LONGEST_ID = 100
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Whether the value is a UUID in the one spelling that RFC 9562 §4 has for output. */
export function isUuid (value: unknown): boolean {
  return typeof value === 'string' && UUID.test(value)
}

/** The id that a text spells canonically, or undefined. A database might take `' 1'` or `'1e0'` for 1; we do not. */
export function parseId (idType: IdType, text: string): Id | undefined {
  if (idType === 'uuid') return isUuid(text) ? text : undefined
  if (idType === 'string') return isTextId(text) ? text : undefined
  const id = Number(text)
  return id > 0 && Number.isSafeInteger(id) && String(id) === text ? id : undefined
}

/** What a path can carry as one segment: `.` and `..` mean other paths, however they are spelled (WHATWG URL §4.4). */
function isTextId (text: string): boolean {
  return text !== '' && text.length <= LONGEST_ID && text !== '.' && text !== '..' && isLegalText(text)
}
