import type { FastifyRequest } from 'fastify'
import type { ActionOutcome } from './action-event.js'
import type { Subject } from './actions/action.js'
import { compileCacheControl, type FindCacheControl } from './cache-control.js'
import type { AjvSettings } from './app-schemas.js'
import { compileConstraint } from './constraints.js'
import { compileEntry, constrain, type Enter, isFitFor, type Level } from './access.js'
import { InvalidOptionError } from './errors.js'
import type { ActionLink, ChildLink, Format, JsonWriter, ListWriter, PageWriter, Place, Reader, Surroundings, TextWriter, Writer } from './formats/format.js'
import { showOnly } from './formats/show-only.js'
import { json } from './formats/json/json.js'
import { compileJsonReader } from './formats/json/read.js'
import { compileListing, type Listing } from './listing.js'
import { type Choice, compileNegotiation, type Negotiate } from './negotiation.js'
import { suggest } from './nearest.js'
import { once } from './once.js'
import type { ResolvedOptions } from './options.js'
import { compileOwn, type Own } from './own-actions.js'
import type { Parameters, PathPattern } from './path-pattern.js'
import { compilePayload, type Payload, type ReadPayload } from './payload.js'
import { compileRefusals, type Refusals, type Refused } from './refusals.js'
import { declareAttributes, type Resource } from './resource.js'
import type { OwnAction, Stand } from './routing/own-action.js'
import type { Paths } from './routing/paths.js'
import type { Routing } from './routing/resolve-routing.js'
import type { AttributesSchema, Schema, TypeName } from './shape.js'
import { compilePlace, type FindPlace, type Site } from './site.js'
import type { Id } from './stores/store.js'
import { describeTypes } from './text.js'
import { compileValidation, type Validation } from './validation.js'
import { compileVisibleRow } from './visible.js'

/** A format with its writer for one resource. */
export interface Representation extends Format {
  readonly writer: Writer
  /** For a row that is yet to be made, and has no id. */
  readonly blank: () => Writer
  /** What each answer is sent with. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
}

/** What is read, for one resource. */
export interface BodyFormat {
  readonly mediaTypes: readonly string[]
  readonly reader: Reader
  readonly readPayload: ReadPayload
  /** In what such a body is answered where the client does not say; a form counts as HTML. */
  readonly answer: Representation | undefined
  /** The reader of another resource. */
  readonly compileReader: (resource: Resource) => Reader
}

/** Where the wings meet: all that is made of a resource at registration and serves its requests. */
export interface Hall {
  readonly options: ResolvedOptions
  readonly resource: Resource
  /** All that there is: where nothing narrows what a request may see. */
  readonly subject: Subject
  readonly site: Site
  readonly findPlace: FindPlace
  /** Whether the app's constraints let an id be one. */
  isId (id: Id): boolean
  /** What stands before the collection, and before a row; undefined: nothing. */
  entryOf (isMember: boolean): Enter | undefined
  /** What a resource that is nested in this one has before it. */
  readonly levels: readonly Level[]
  readonly representations: readonly Representation[]
  readonly bodies: readonly BodyFormat[]
  /** How a request without a body is read. */
  readonly bodiless: BodyFormat
  readonly negotiate: Negotiate<Representation>
  readonly validation: Validation
  readonly listing: Listing
  readonly own: readonly Own[]
  /** Undefined where there is no `authorize`. */
  readonly refusals: Refusals | undefined
  readonly paths: Paths
  readonly cacheControl: FindCacheControl
}

/** What a resource has around it. */
export interface Setting {
  readonly site: Site
  /** The one in whose row it is nested. */
  readonly parent: Hall | undefined
  readonly own: readonly OwnAction[]
  readonly children: readonly ChildLink[]
  /** Those of the instance on which it is registered. */
  readonly paths: Paths
  /** Formats and keywords of the app's own. */
  readonly ajv: AjvSettings
}

export function buildHall (options: ResolvedOptions, resource: Resource, { site, parent, own, children, paths, ajv }: Setting): Hall {
  checkKept(resource, options.store.attributes)
  if (parent !== undefined) checkForeignKey(resource, parent.resource, options.store.attributes)
  checkColumns(resource, options.columns ?? [])
  // First, since it refuses a schema that is none.
  const validation = compileValidation(resource, ajv)
  const listing = compileListing(options, resource)
  const surroundings = surround(options, listing, own, children, paths)
  const representations = compileRepresentations(options, resource, surroundings)
  const bodies = compileBodies(options, resource, representations)
  const bodiless = bodies[0] ?? compileBody({ ...json, compileReader: compileJsonReader }, resource, undefined)
  const subject: Subject = { resource, store: options.store, scope: {} }
  return {
    options,
    resource,
    subject,
    site,
    findPlace: compilePlace(site),
    ...guard(subject, options.routing, site, parent),
    representations,
    bodies,
    bodiless,
    negotiate: compileNegotiation(representations),
    validation,
    listing,
    own: own.map((action) => compileOwn(action, { resource, validation, bodies: [...bodies, bodiless], ajv })),
    refusals: compileRefusals(options.routing.authorize, resource, surroundings.collectionActions, surroundings.memberActions),
    paths,
    cacheControl: compileCacheControl(options.cacheControl, [...new Set([...resource.actions, ...own.map(({ name }) => name)])])
  }
}

/** What may be read and written here, and by whom. */
function guard (subject: Subject, { authorize, scope, constraints, param }: Routing, { collection, members, isShallow, parent: link }: Site, parent: Hall | undefined): Pick<Hall, 'isId' | 'entryOf' | 'levels'> {
  // A singleton may share constraints on ids with others in its scope: it has none.
  const names = [...collection.names, param]
  const fits = new Map(Object.entries(constraints).map(([name, schema]) => {
    if (!names.includes(name)) throw new InvalidOptionError('constraints', `names "${name}", which is no parameter of the path${suggest(name, names)}`)
    return [name, compileConstraint(name, schema)]
  }))
  const own = [...fits].flatMap(([name, isFit]) => name === param ? [isFit] : [])
  const around = [...fits].filter(([name]) => collection.names.includes(name))
  const levels = parent?.levels.map((level, index, { length }): Level => index === length - 1 ? { ...level, param: link?.param } : level) ?? []
  const above = levels.at(-1)
  const over = above === undefined || link === undefined ? undefined : { level: above, foreignKey: link.foreignKey, param: link.param, fits: above.fits }
  const nested = constrain({ subject, authorize, scope, param: undefined, fits: own, around, foreignKey: link?.foreignKey, over }, around)
  // Of a shallow row also those of what it is nested in, of which its path has parameters, too.
  const self: Level = { ...nested, around: [...levels, nested].flatMap(({ around }) => around).filter(([name]) => members.names.includes(name)), foreignKey: undefined }
  const atCollection = compileEntry([...levels, nested])
  const atRow = isShallow ? compileEntry([self]) : atCollection
  return {
    isId: (id) => isFitFor(own, id),
    entryOf: (isMember) => isMember ? atRow : atCollection,
    levels: isShallow ? [self] : [...levels, nested]
  }
}

function surround (options: ResolvedOptions, { sortable, filterable }: Listing, own: readonly OwnAction[], children: readonly ChildLink[], paths: Paths): Surroundings {
  const linksTo = (stand: Stand): ActionLink[] => own.flatMap(({ name, on, verb, segment, label, attributes, query }): ActionLink[] => {
    // What must be given more than a click has no button, nor has a PATCH, which no form can ask for.
    const isSimple = on === stand && verb !== 'PATCH' && label !== false && attributes === undefined && query?.required === undefined
    return isSimple ? [{ name, label, method: verb, segment: encodeURI(segment) }] : []
  })
  const { actions, pathNames } = options.routing
  const segmentOf = (action: 'new' | 'edit'): string | undefined => actions.has(action) ? encodeURI(pathNames[action]) : undefined
  return { formats: options.formats, sortable, filterable, collectionActions: linksTo('collection'), memberActions: linksTo('member'), children, newSegment: segmentOf('new'), editSegment: segmentOf('edit'), paths }
}

function compileRepresentations ({ formats, ownFormats }: ResolvedOptions, resource: Resource, surroundings: Surroundings): readonly Representation[] {
  return formats.map((format): Representation => {
    const compile = (resource: Resource): Writer => {
      const writer = (format.compileWriter as NonNullable<Format['compileWriter']>)(resource, surroundings)
      checkWriter(format.name, writer)
      return ownFormats.includes(format) ? showOnly(writer, compileVisibleRow(resource)) : writer
    }
    const writer = compile(resource)
    return { ...format, writer, blank: once(() => compile({ ...resource, singleton: true })), headers: Object.entries(writer.list === undefined ? writer.headers ?? {} : {}) }
  })
}

function compileBodies ({ readers }: ResolvedOptions, resource: Resource, representations: readonly Representation[]): readonly BodyFormat[] {
  const browser = representations.find((representation) => representation.browser === true)
  return [...representations, ...readers].flatMap((format): BodyFormat[] => {
    const answer = representations.find(({ name }) => name === format.name) ?? browser
    return format.compileReader === undefined ? [] : [compileBody(format as Format & Required<Pick<Format, 'compileReader'>>, resource, answer)]
  })
}

function compileBody ({ mediaTypes, compileReader }: Format & Required<Pick<Format, 'compileReader'>>, resource: Resource, answer: Representation | undefined): BodyFormat {
  const reader = compileReader(resource)
  return { mediaTypes, reader, readPayload: compilePayload(resource, reader), answer, compileReader }
}

/** @throws InvalidOptionError where the store keeps an attribute as another type, and would refuse each of its values */
function checkKept ({ plural, attributes }: Resource, kept: AttributesSchema | undefined): void {
  if (kept === undefined) return
  const stored = declareAttributes(plural, kept as unknown as Schema)
  for (const { name, shape } of attributes.values()) {
    const types = stored.get(name)?.shape.types
    const other = [...shape.types].find((type) => types?.has(type) === false)
    if (other !== undefined) throw new InvalidOptionError('attributes', `declares "${name}", which may be ${describeTypes([other]).slice('must be '.length)}, but in the store it ${describeTypes(types as Iterable<TypeName>)}`)
  }
}

/** @throws InvalidOptionError where the store has no place for the id of the row that a row is nested in */
function checkForeignKey ({ plural, foreignKey }: Resource, parent: Resource, kept: AttributesSchema | undefined): void {
  if (kept === undefined) return
  const name = foreignKey as string
  const type = parent.idType === 'integer' ? 'integer' : 'string'
  const stored = declareAttributes(plural, kept as unknown as Schema).get(name)
  if (stored?.shape.types.has(type) !== true) throw new InvalidOptionError('store', `must keep "${name}", which has the id of the ${parent.singular} that a row is in: declare it in the store's own "attributes" as ${describeTypes([type]).slice('must be '.length)}${parent.idType === 'uuid' ? ' of the format uuid' : ''}`)
}

/** @throws InvalidOptionError where a column would be of an attribute that there is not, or that is never shown */
function checkColumns ({ open, attributes }: Resource, columns: readonly string[]): void {
  for (const name of open ? [] : columns) {
    const attribute = attributes.get(name)
    if (attribute === undefined) throw new InvalidOptionError('columns', `names "${name}", which is not among the attributes declared${suggest(name, [...attributes.keys()])}`)
    if (attribute.writeOnly) throw new InvalidOptionError('columns', `names "${name}", which is writeOnly and never goes out`)
  }
}

/** @throws InvalidOptionError where a format of the app's own lacks what a writer must have */
function checkWriter (name: string, writer: Partial<Writer> | null | undefined): void {
  const { document, record, problem, list, page } = (writer ?? {}) as Partial<Record<keyof TextWriter | keyof JsonWriter | keyof PageWriter, unknown>> & { readonly list?: Partial<ListWriter> }
  const hasList = typeof list?.open === 'string' && typeof list.row === 'function' && typeof list.separator === 'string' && typeof list.close === 'string'
  const hasRecord = document !== undefined || (typeof record === 'function' && typeof problem === 'function')
  if (!hasRecord) throw new InvalidOptionError('formats', `has "${name}", whose writer must have the functions "record" and "problem"`)
  if (!hasList && typeof page !== 'function') throw new InvalidOptionError('formats', `has "${name}", whose writer must have "list", made of open, row, separator and close, or the function "page"`)
}

/** What is known of a request on its way. */
export interface State {
  readonly entrance: Entrance
  readonly choice: Choice<Representation>
  readonly place: Place
  /** Of the path; of a shallow row also those that it tells. */
  parameters: Parameters
  /** Whether the path has a suffix that says the format. */
  readonly isSuffixed: boolean
  /** The id in the path of a member, its suffix taken off. */
  readonly member: string | undefined
  /** What is to be done; undefined as long as the body of a form, which may say it, has not been read. */
  action: string | undefined
  /** Set once the body has been read. */
  payload: Payload | undefined
  /** The action of the app's own that is asked for, once that is known. */
  own: Own | undefined
  /** The parameters of the query, as that action has them. */
  query: Readonly<Record<string, unknown>>
  /** What may be read and written; undefined as long as the request has not been let in. */
  subject: Subject | undefined
  /** What a page of the answer does not offer; undefined: nobody has been asked. */
  refused: Refused | undefined
  /** Of a write what has become of it, once that is known. */
  outcome: ActionOutcome | undefined
  /** Whether the action answers, by the responder or by a handler of the app's own; else a hook of the app has. */
  isAnswered: boolean
  /** Whether it is told as an event. */
  isTraced: boolean
  /** The links that the app had set before the link to the next page was added; undefined: none was added. */
  linksBefore: ReadonlyArray<string | number> | undefined
}

/** A path, some methods of it, and what they lead to. */
export interface Entrance {
  /** The path without a suffix. */
  readonly path: PathPattern
  /** The suffix of a path that has the one alone. */
  readonly suffix: string | undefined
  /** Whether it is about rows, and not about the collection: of a shallow resource others may do that. */
  readonly isMember: boolean
  /** The parameter that has the id of the row that the path is about; undefined: it has none. */
  readonly param: string | undefined
  /** Whether that stands at the end of the path, where it may have a suffix. */
  readonly isLast: boolean
  /** The methods that are served, as `Allow` names them. */
  readonly allow: string
  /** Whether the request's method is one of them. */
  readonly allowed: boolean
  /** Whether what it does is only read, and has no body: then there is less to look at. */
  readonly safe: boolean
  /** The parameters that the query may have. */
  readonly parameters: readonly string[]
  /** What the method asks for. */
  readonly action: string
  /** Whether the body of a form may ask for something else. */
  readonly isAmbiguous: boolean
}

/** Where a request keeps its state; decorated in our own scope alone. */
export const STATE: unique symbol = Symbol('fastify-resources.state')

interface Stateful extends FastifyRequest {
  [STATE]: State | undefined
}

export function findState (request: FastifyRequest): State | undefined {
  return (request as Stateful)[STATE]
}

export function keepState (request: FastifyRequest, state: State): void {
  (request as Stateful)[STATE] = state
}
