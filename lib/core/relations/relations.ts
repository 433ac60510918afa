import type { FastifyRequest } from 'fastify'
import {
  compileFindReferenced, compileLoadMany, compileLoadOne, type FindReferenced, type Nested, type Referenced
} from './include/load-many.js'
import type { Relation } from './include/relation.js'
import { type GuardedResource, isGuarded } from '../actions/authorize/level.js'
import { InvalidOptionError, InvalidQueryError } from '../errors.js'
import type { FindRelatedList, RowChoices, RowLinks } from '../formats/format.js'
import type { FindLocation } from '../resource/location.js'
import { REFERENCE, singularize } from '../resource/inflection.js'
import { nameOf, openingAction } from '../modes.js'
import {
  findReferencing, type PlacedValue, referencedAttribute, type ReferencePlace, referencesIn, type Resource,
  splitReference
} from '../resource/resource.js'
import type { Attributes } from '../schema/types.js'
import type { ResolvedReference } from '../options/resolve/options.js'
import type { Store } from '../stores/store.js'
import { describeTypes } from '../schema/convert-text.js'
import type { TypeName } from '../schema/types.js'
import { didYouMean } from '../util/words.js'
import { lazy } from '../util/functions.js'
import { guardsMore } from './hook-guards.js'
import { compileChoiceFinder, type ChoiceFinder } from './choices.js'
import { compileNestedList, compileRelatedList, type ListedResource } from './related-lists.js'
import { compileFindLinks, type LinkedResource } from './row-links.js'
import { type PerVariant, perVariant, type Varied } from './variants.js'

/** What relations need of a compiled resource. */
interface RelatedResource extends LinkedResource, ListedResource, Varied<RelatedResource> {
  readonly findLocation: FindLocation
  readonly levels: readonly GuardedResource[]
  readonly level: GuardedResource
  readonly relations: Relations
}

/** A reference of an attribute, or of a member of its objects, to a resource. */
interface ResourceReference {
  readonly attribute: string
  readonly place: ReferencePlace
  readonly from: RelatedResource
  /** Finds the resource, once the app is ready. */
  readonly find: () => RelatedResource
  /** Returns the function that finds its rows, once the app is ready. */
  readonly findRows: () => FindReferenced
  /** Returns the values of the attribute in a row. */
  readonly valuesIn: (attributes: Attributes) => readonly PlacedValue[]
}

/** A reference that is checked before a write. */
export interface CheckedReference extends Pick<ResourceReference, 'attribute' | 'place' | 'valuesIn'> {
  /** The resource whose rows it references. */
  readonly target: Pick<Resource, 'key'>
  /** Finds the rows that values reference, as far as the request may see them. */
  readonly find: FindReferenced
}

/** The relations of a resource. Those to resources that are registered later are complete once the app is ready. */
export class Relations {
  readonly #resource: Resource
  readonly #made = new Map<string, MadeRelation>()
  readonly #references: Array<ResourceReference & Pick<RowChoices, 'findLinks'>> = []
  /**
   * The references to rows that some requests may not see, and those that no database checks. They are complete once
   * the app is ready.
   */
  readonly checked: CheckedReference[] = []
  /** The attributes that reference other resources, and where they are. */
  readonly references: Map<string, ReferencePlace> = new Map()
  /** The links to the rows that they name. They can be found once the app is ready. */
  readonly links: RowLinks[] = []
  /** The same for the members of objects. */
  readonly memberLinks: RowLinks[] = []
  /** The rows that the attributes of forms can reference. They are complete once the app is ready. */
  readonly choices: RowChoices[] = []
  /** The functions that find the lists of the rows that belong to a row. They are complete once the app is ready. */
  readonly lists: FindRelatedList[] = []

  constructor (resource: Resource) {
    this.#resource = resource
  }

  get names (): readonly string[] {
    return [...this.#made.keys()]
  }

  /** All relations, once the app is ready. */
  get all (): readonly Relation[] {
    return [...this.#made.values()].map(({ make }) => make().own)
  }

  /**
   * Finds the referenced resources, when all are registered, and adds the lists of the rows here to their pages.
   * @throws InvalidOptionError if one is unusable
   */
  complete (): void {
    for (const { make } of this.#made.values()) make()
    for (const reference of this.#references) {
      const { attribute, place, from, find, findLinks, findRows, valuesIn } = reference
      const { member, key } = place
      const resource = find()
      const isPlain = member === undefined && key === undefined
      const { check } = isPlain ? checkForeignKey(attribute, from, resource) : checkTarget(reference)
      if (isGuarded(resource.level) || (member !== undefined && check)) {
        this.checked.push({ attribute, place, valuesIn, target: resource.resource, find: findRows() })
      }
      const by = { resource, attribute, key, relation: stemOf(attribute) }
      const list = member !== undefined ? undefined : findListOf(from, (seen) => compileRelatedList(seen, by))
      if (list !== undefined) resource.relations.lists.push(list)
      const rows = key === undefined && hasLine(this.#resource, attribute) ? findRowsOf(resource, from) : undefined
      const byDefault = findReferencing(attribute, this.#resource)?.schema.default
      if (rows !== undefined) this.choices.push({ ...rows, attribute, valuesIn, byDefault, findLinks })
    }
  }

  /** Returns the complete relations of a variant of the resource, which has fewer attributes. */
  narrow (resource: Resource): Relations {
    const narrowed = new Relations(resource)
    const isSeen = ({ attribute }: { readonly attribute: string | undefined }): boolean =>
      attribute === undefined || (this.references.get(attribute)?.key ?? [attribute])
        .every((name) => findReferencing(name, resource) !== undefined)
    for (const [name, made] of this.#made) if (isSeen(made)) narrowed.#made.set(name, made)
    for (const [attribute, place] of this.references) {
      if (isSeen({ attribute })) narrowed.references.set(attribute, place)
    }
    // The stored row has the parts of a key that the role does not see.
    const isWritten = ({ attribute }: CheckedReference): boolean => findReferencing(attribute, resource) !== undefined
    narrowed.checked.push(...this.checked.filter(isWritten))
    narrowed.links.push(...this.links.filter(isSeen))
    narrowed.memberLinks.push(...this.memberLinks.filter(isSeen))
    narrowed.choices.push(...this.choices.filter(({ attribute }) => hasLine(resource, attribute)))
    narrowed.lists.push(...this.lists)
    return narrowed
  }

  /**
   * Adds the list of a nested resource to the pages of rows, and the relation to it, if its rows can be found by their
   * parents.
   */
  addChild (from: RelatedResource, child: RelatedResource): void {
    const list = findListOf(child, (seen) => compileNestedList(seen, from, nestedIn(from, seen)))
    if (!child.resource.singleton && list !== undefined) this.lists.push(list)
    const name = nameOf(child.resource)
    const { store, routing: { handlers } } = child.options
    const action = openingAction(child.resource)
    // Hooks and a handler of the app may protect the rows in ways that only a request of their own path passes.
    const isPlain = !handlers.has(action) && !guardsMore(child, from, action)
    if (!isPlain || store.capabilities?.order !== true || !canFind(store)) return
    if (this.#resource.attributes.has(name)) return
    const make = lazy(() => perVariant(child, (seen) => makeChild(name, from, seen)))
    this.#made.set(name, { attribute: undefined, make })
  }

  /**
   * Adds the reference to the resource whose ids an attribute has, or a member of its objects. Only an attribute has a
   * relation, which rows can include.
   * @throws InvalidOptionError
   */
  addReference (
    from: RelatedResource,
    attribute: string,
    { to: target, key }: Pick<ResolvedReference, 'to' | 'key'>,
    find: () => RelatedResource
  ): void {
    const { attributes, open } = this.#resource
    const refuse = (reason: string): never => { throw new InvalidOptionError('references', reason) }
    for (const name of key ?? [attribute]) {
      const property = findReferencing(name, this.#resource)
      if (!open && property === undefined) {
        const hint = didYouMean(name, [...attributes.keys()])
        refuse(`names "${name}", which is not among the attributes declared${hint}`)
      }
      if (property?.writeOnly === true) refuse(`names "${name}", which is writeOnly: its values would be revealed`)
    }
    const findTarget = lazy(find)
    const findRows = lazy(() => compileFindReferenced(referencedBy(findTarget())))
    const findLinks = lazy(() => perVariant(findTarget(), (seen) => compileFindLinks(seen, from, findRows())))
    const place = splitReference(attribute, (name) => open || attributes.has(name), key)
    const reference = {
      attribute,
      place,
      valuesIn: (row: Attributes) => referencesIn(place, row),
      from,
      find: findTarget,
      findRows
    }
    const links: RowLinks = {
      attribute,
      valuesIn: reference.valuesIn,
      find: (ids, context) => findLinks().of(context.request)(ids, context)
    }
    this.#references.push({ ...reference, findLinks: links.find })
    this.references.set(attribute, place)
    if (place.member !== undefined) this.memberLinks.push(links)
    else {
      this.links.push(links)
      this.#addRelation(target, reference)
    }
  }

  #addRelation (target: string, reference: ResourceReference): void {
    const { attribute, find } = reference
    const { attributes } = this.#resource
    const isTaken = (name: string): boolean => attributes.has(name) || name === 'id' || this.#made.has(name)
    const name = nameReference(attribute, target, isTaken)
    if (isTaken(name)) {
      const what = this.#made.has(name) ? 'relation' : 'attribute'
      throw new InvalidOptionError(
        'references',
        `gives "${attribute}" the relation "${name}", which is the name of another ${what}`
      )
    }
    const make = lazy(() => perVariant(find(), (seen) => makeReference(name, { ...reference, find: () => seen })))
    this.#made.set(name, { attribute, make })
  }

  /**
   * Returns the relations that `?include=author,comments` names, as a request sees them.
   * @throws InvalidQueryError
   */
  parse (text: string, request: FastifyRequest): readonly Relation[] {
    const { names } = this
    const known = names.join(', ')
    const named = new Set<string>()
    for (const name of text.split(',')) {
      if (!names.includes(name)) {
        const hint = didYouMean(name, names)
        throw new InvalidQueryError(
          `"include" names "${name}", which is not a relation of ${this.#resource.plural}; ` +
            `the relations are: ${known}${hint}`
        )
      }
      if (named.has(name)) throw new InvalidQueryError(`"include" names "${name}" twice`)
      named.add(name)
    }
    return [...this.#made].flatMap(([name, { make }]) => named.has(name) ? make().of(request) : [])
  }
}

/** A relation that is made once the app is ready, and the attribute that references the other resource, if one does. */
interface MadeRelation {
  readonly attribute: string | undefined
  readonly make: () => PerVariant<Relation>
}

/** Returns whether forms have a field for the attribute that is not a choice already. */
function hasLine (resource: Resource, attribute: string): boolean {
  const property = findReferencing(attribute, resource)
  return property?.readOnly === false && property.shape.choices === undefined
}

/** Returns the function that finds a list of related rows, or `undefined` if no request has one. */
function findListOf (
  listed: RelatedResource,
  compile: (seen: RelatedResource) => FindRelatedList | undefined
): FindRelatedList | undefined {
  const lists = perVariant(listed, compile)
  return lists.own && (async (row, context, others) => lists.of(context.request)?.(row, context, others))
}

/** Returns the functions that find the rows which a form can reference, or `undefined` if no request may list them. */
function findRowsOf (listed: RelatedResource, from: RelatedResource): ChoiceFinder | undefined {
  const rows = perVariant(listed, (seen) => compileChoiceFinder(seen, from))
  return rows.own && {
    list: async (context) => rows.of(context.request)?.list(context),
    search: async (query, context) => rows.of(context.request)?.search(query, context)
  }
}

/**
 * Returns the name of the relation of an attribute: `author` for `authorId`, or else the singular of its target. If
 * this name is taken, as for an attribute `artist` that references `artists`, returns `artistRow`, or
 * `first_artist_row`.
 */
export function nameReference (attribute: string, target: string, isTaken: (name: string) => boolean): string {
  const stem = stemOf(attribute)
  const name = stem === attribute ? singularize(target) : stem
  return isTaken(name) ? `${attribute}${attribute.includes('_') ? '_row' : 'Row'}` : name
}

/** Returns what an attribute calls the row that it references: `author` for `authorId`, and `artist` for itself. */
function stemOf (attribute: string): string {
  return attribute.replace(REFERENCE, '')
}

function makeChild (name: string, from: RelatedResource, child: RelatedResource): Relation {
  const { resource } = child
  return { name, resource, isMany: !resource.singleton, load: compileLoadMany(nestedIn(from, child)) }
}

function nestedIn (from: RelatedResource, child: RelatedResource): Nested {
  const { level, findLocation, resourcePaths: { collection, parent } } = child
  const { routing: { handlers } } = from.options
  return {
    level,
    parent: from.levels.at(-1) as GuardedResource,
    foreignKey: level.foreignKey as string,
    parameters: collection.names,
    param: parent?.param,
    isHandled: handlers.has('list') || handlers.has('show'),
    locate: (parameters) => findLocation(parameters).collection
  }
}

function referencedBy ({ level, options: { routing }, resourcePaths: { members } }: RelatedResource): Referenced {
  return { level, parameters: members.names, param: routing.param }
}

/** @throws InvalidOptionError if the referenced resource cannot be included */
function makeReference (name: string, reference: ResourceReference): Relation {
  const { find, findRows, valuesIn } = reference
  checkTarget(reference)
  const target = find()
  const load = compileLoadOne(findRows(), referencedBy(target), ({ attributes }) => valuesIn(attributes)[0]?.value)
  return { name, resource: target.resource, isMany: false, load }
}

/**
 * Checks that the rows of the referenced resource can be found by the values of the attribute.
 * @throws InvalidOptionError
 */
function checkTarget ({ attribute, place, from, find }: ResourceReference): ResolvedReference {
  const { resource, options, resourcePaths: { members } } = find()
  const refuse = (reason: string): never => {
    throw new InvalidOptionError('references', `names "${resource.plural}" for "${attribute}", ${reason}`)
  }
  if (!canFind(options.store)) {
    refuse('whose store cannot find rows by their ids: it does not declare "capabilities.filter"')
  }
  const missing = members.names.find((param) => !from.resourcePaths.members.names.includes(param))
  if (missing !== undefined) refuse(`whose path has the parameter "${missing}", which the path here has not`)
  const { member, key } = place
  if (key !== undefined && key.length !== resource.key.length) {
    refuse(`whose key has not ${key.length} attributes, but ${resource.key.length}`)
  }
  for (const [index, part] of (key ?? [attribute]).entries()) {
    const name = resource.key[index] ?? 'id'
    const type = key === undefined ? referencedType(resource) : typeOf(resource, name)
    const property = findReferencing(part, from.resource)
    if (property === undefined || type === undefined || property.shape.only === type) continue
    const values = key === undefined && referencedAttribute(resource) === 'id' ? 'ids' : 'keys'
    const what = key === undefined ? 'the attribute' : `"${part}"`
    refuse(`whose ${values} have another type: ${what} ${describeTypes([type]).text}`)
  }
  const own = from.options.references.get(attribute) as ResolvedReference
  if (member !== undefined && own.onDelete !== undefined) {
    refuse('with "onDelete", but no deletion changes members of objects')
  }
  return own
}

/**
 * Checks that a reference to a resource with the same `stores` is a foreign key, and that only a foreign key says what
 * a deletion does.
 * @throws InvalidOptionError
 */
function checkForeignKey (
  attribute: string,
  from: RelatedResource,
  { options: { stores, name } }: RelatedResource
): ResolvedReference {
  const own = from.options.references.get(attribute) as ResolvedReference
  const { check, onDelete, target } = own
  if (target !== undefined || !check) return own
  const refuse = (reason: string): never => {
    throw new InvalidOptionError('references', `names "${name}" for "${attribute}", ${reason}`)
  }
  if (stores !== undefined && stores === from.options.stores) {
    refuse('which is registered later, so it is no foreign key yet; register it before, or both in one draw(…)')
  }
  if (onDelete !== undefined) refuse('with "onDelete", but only resources with the same "stores" have foreign keys')
  return own
}

/** Returns the type of the values that reference a row, or `undefined` if they can have several. */
function referencedType ({ key, idType, attributes }: Resource): TypeName | undefined {
  const attribute = referencedAttribute({ key })
  if (attribute === 'id') return idType === 'integer' ? 'integer' : 'string'
  return typeOf({ attributes }, attribute)
}

function typeOf ({ attributes }: Pick<Resource, 'attributes'>, attribute: string): TypeName | undefined {
  return attributes.get(attribute)?.shape.only
}

/** Returns whether a store finds rows by a list of their ids. */
export function canFind ({ capabilities: { filter = false } = {} }: Store): boolean {
  return typeof filter === 'object' ? filter.includes('in') : filter
}
