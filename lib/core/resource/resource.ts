import { isLegalText, isUuid } from '../schema/legal-text.js'
import { type Property, shapeOf } from '../schema/shape.js'
import type { Attributes, Scalar, Schema } from '../schema/types.js'
import { Cache } from '../util/cache.js'
import { readInteger } from '../util/decimal.js'
import { findMember, isObject } from '../util/own-property.js'
import { declareAttributes } from './attributes.js'
import { singularize } from './inflection.js'
import { fitsPath, NO_PATH } from './path-pattern.js'
import type { Id, Row } from './row.js'

/**
 * The type of ids. An `'integer'` has at most eight bytes. A `'string'` is any text that a store, or a handler of the
 * app, makes.
 */
export type IdType = 'integer' | 'uuid' | 'string'

/** The type of ids that our stores make. */
export type GeneratedIdType = Exclude<IdType, 'string'>

/** The name of a default action. `new` and `edit` show forms. */
export type ActionName = 'list' | 'show' | 'create' | 'update' | 'delete' | 'new' | 'edit'

/** A resource as it is declared. */
export interface Resource {
  /** The plural name: `posts`. */
  readonly plural: string
  /** The singular name: `post`. */
  readonly singular: string
  /** The path of the collection with its prefix: `/blog/posts/:postId/comments`. */
  readonly path: string
  /** Whether it is a singleton: one record, without an id in paths, payloads and documents. */
  readonly singleton: boolean
  /** The attribute with the id of the parent. Clients only read it. */
  readonly foreignKey: string | undefined
  /** The attributes that form the id. A create sets them, and no update changes them. */
  readonly key: readonly string[]
  /** The names of its default actions. */
  readonly actions: ReadonlySet<ActionName>
  /** Whether updates and deletes are served only at the path of their row. */
  readonly memberWrites: boolean
  /** The length of the longest id, in characters, that the router of the app accepts in a path. */
  readonly longestId: number
  /** The type of its ids. */
  readonly idType: IdType
  /** Whether it takes any attributes, because none are declared. */
  readonly open: boolean
  /** The declared attributes by name, in their order. */
  readonly attributes: ReadonlyMap<string, Property>
  /** The attributes of its rows that are left out, because no client or no role of the request sees them. */
  readonly hidden: ReadonlySet<string>
  /** The attributes that answers may lack, because at least one role does not see them. */
  readonly hiddenFromSome: ReadonlySet<string>
  /** The schema of the attributes. */
  readonly schema: Schema
  /** Returns the version by which clients know a row, or `undefined` if they may know the one that the store gives. */
  readonly publicVersion: ((row: Row) => string) | undefined
  /** Returns the name of an array's items: `tags` → `tag`. */
  readonly itemName: (name: string) => string
}

const NONE: ReadonlySet<string> = new Set()

export type ResourcePlace = Pick<
  Resource,
  'plural' | 'singular' | 'path' | 'memberWrites' | 'singleton' | 'actions' | 'foreignKey' | 'longestId' | 'key'
>

/** The names of items. Each takes a microsecond, and every array in a row needs one. */
const itemNames = new Cache<string, string>(1000)

/**
 * Makes a resource from its place, its type of ids and the schema of its attributes.
 * @throws InvalidAttributesError
 */
export function makeResource (place: ResourcePlace, idType: IdType, schema: Schema | undefined): Resource {
  return Object.freeze({
    ...place,
    idType,
    open: schema === undefined,
    attributes: schema === undefined ? new Map<string, Property>() : declareAttributes(place.plural, schema),
    hidden: NONE,
    hiddenFromSome: NONE,
    schema: schema ?? {},
    publicVersion: undefined,
    itemName: (name: string) => itemNames.get(name, () => singularize(name))
  })
}

/** Returns the attribute whose values other rows have to reference a row: its key, or `id` if that is no attribute. */
export function referencedAttribute ({ key: [first = 'id', second] }: Pick<Resource, 'key'>): string {
  return second === undefined ? first : 'id'
}

/** Writes the values of a key of several attributes as an id: `1,5`. In a part, `%` is `%25` and `,` is `%2C`. */
export function joinKey (texts: readonly string[]): string {
  return texts.map((text) => text.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')
}

/** Returns the value that other rows have to reference a row. The id of a key can be another text than its value. */
export function referenceTo ({ id, attributes }: Row, resource: Pick<Resource, 'key'>): NonNullable<Scalar> {
  return attributes[referencedAttribute(resource)] as Scalar ?? id
}

/** Returns whether the page of a row with this id can be requested. */
export function hasPage ({ actions, longestId }: Pick<Resource, 'actions' | 'longestId'>, id: Id): boolean {
  return actions.has('show') && fitsPath(id, longestId)
}

/**
 * Returns the id that a text spells, or `undefined` if the spelling is not canonical. A database might take `' 1'` or
 * `'1e0'` for 1.
 */
export function parseId (idType: IdType, text: string): Id | undefined {
  if (idType === 'uuid') return isUuid(text) ? text : undefined
  if (idType === 'string') return isTextId(text) && !text.startsWith(NO_PATH) ? text : undefined
  return readInteger(text)
}

/** The JSON Schemas of ids. */
export const ID_SCHEMAS: Readonly<Record<IdType, Schema>> = {
  integer: { type: 'integer' },
  uuid: { type: 'string', format: 'uuid' },
  string: { type: 'string', minLength: 1 }
}

/** Returns the description of ids that an attribute of the same type would have. */
export function idProperty (idType: IdType): Property {
  const schema = ID_SCHEMAS[idType]
  return { name: 'id', shape: shapeOf(schema), schema, required: true, readOnly: true, writeOnly: false }
}

/** Returns whether a text can be an id. `.` and `..` mean other paths, even percent-encoded (WHATWG URL §4.4). */
function isTextId (text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && isLegalText(text)
}

/** A value that references a row, and its path in errors: `lines.0.productId`. */
export interface PlacedValue {
  readonly path: string
  readonly value: unknown
}

/** The attributes that reference a row. */
export interface ReferencePlace {
  readonly attribute: string
  /** The member of the objects in the attribute; `undefined` if the attribute itself references a row. */
  readonly member: string | undefined
  /** The attributes that together have the key of the row, in its order; `undefined` if one attribute references it. */
  readonly key: readonly string[] | undefined
}

/**
 * Splits the name of a reference: `lines.productId` is the member `productId` of each object in the array `lines`. An
 * attribute may itself have such a name.
 */
export function splitReference (
  name: string,
  isAttribute: (name: string) => boolean,
  key?: readonly string[]
): ReferencePlace {
  const dot = isAttribute(name) ? -1 : name.indexOf('.')
  return dot < 0
    ? { attribute: name, member: undefined, key }
    : { attribute: name.slice(0, dot), member: name.slice(dot + 1), key }
}

/** Returns the declared attribute that a reference names, or the member of its objects. */
export function findReferencing (name: string, { attributes }: Pick<Resource, 'attributes'>): Property | undefined {
  const { attribute, member } = splitReference(name, (name) => attributes.has(name))
  const property = attributes.get(attribute)
  if (property === undefined || member === undefined) return property
  const inner = property.shape.only === 'array' ? property.shape.items.properties.get(member) : undefined
  return inner && {
    ...inner,
    readOnly: inner.readOnly || property.readOnly,
    writeOnly: inner.writeOnly || property.writeOnly
  }
}

/** Returns the values by which attributes reference rows. */
export function referencesIn (
  { attribute, member, key }: ReferencePlace,
  attributes: Attributes
): readonly PlacedValue[] {
  if (key !== undefined) {
    const values = key.map((name) => findMember(attributes, name) ?? undefined)
    return [{ path: attribute, value: values.includes(undefined) ? undefined : joinKey(values.map(String)) }]
  }
  const value = findMember(attributes, attribute)
  if (member === undefined) return [{ path: attribute, value }]
  return !Array.isArray(value)
    ? []
    : value.flatMap((item, index) =>
      isObject(item) && Object.hasOwn(item, member)
        ? { path: `${attribute}.${index}.${member}`, value: item[member] }
        : [])
}
