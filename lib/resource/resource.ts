import { isLegalText } from '../schema/legal-text.js'
import type { Property } from '../schema/shape.js'
import type { Schema } from '../schema/types.js'
import { isUuid } from '../util/uuid.js'
import { declareAttributes } from './attributes.js'
import { singularize } from './inflection.js'
import type { Id } from './row.js'

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
  /** The path of the collection, with the prefix and the names of its parameters: `/blog/posts/:postId/comments`. */
  readonly path: string
  /** Whether there is but one, without an id: neither its path nor a payload nor a document has one. */
  readonly singleton: boolean
  /** The attribute of a nested resource that has its parent's id. Clients only read it. */
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

export type ResourcePlace = Pick<
  Resource,
  'plural' | 'singular' | 'path' | 'memberWrites' | 'singleton' | 'actions' | 'foreignKey'
>

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

/** In characters: as many as Fastify's router lets a parameter have. */
const LONGEST_ID = 100

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
