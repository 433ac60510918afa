import type { FastifyRequest } from 'fastify'
import type { Subject } from './actions/action.js'
import { InvalidOptionError } from './errors.js'
import type { Format, JsonWriter, ListWriter, PageWriter, Reader, Surroundings, TextWriter, Writer } from './formats/format.js'
import { compileJsonReader } from './formats/json/read.js'
import { compileListing, type Listing } from './listing.js'
import { type Choice, compileNegotiation, type Negotiate } from './negotiation.js'
import { suggest } from './nearest.js'
import type { ResolvedOptions } from './options.js'
import { compilePayload, type Payload, type ReadPayload } from './payload.js'
import { declareAttributes, type Resource } from './resource.js'
import type { AttributesSchema, Schema, TypeName } from './shape.js'
import { describeTypes } from './text.js'
import { compileValidation, type Validation } from './validation.js'

/** A format with its writer for one resource. */
export interface Representation extends Format {
  readonly writer: Writer
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
}

/** Where the wings meet: all that is made of a resource at registration and serves its requests. */
export interface Hall {
  readonly options: ResolvedOptions
  readonly resource: Resource
  readonly subject: Subject
  readonly representations: readonly Representation[]
  readonly bodies: readonly BodyFormat[]
  readonly negotiate: Negotiate<Representation>
  readonly validation: Validation
  readonly listing: Listing
  /** Reads the payload of a request without a body. */
  readonly readBodiless: ReadPayload
}

export function buildHall (options: ResolvedOptions, resource: Resource): Hall {
  checkKept(resource, options.store.attributes)
  checkColumns(resource, options.columns ?? [])
  // First, since it refuses a schema that is none.
  const validation = compileValidation(resource)
  const listing = compileListing(options, resource)
  const surroundings: Surroundings = { formats: options.formats, sortable: listing.sortable, filterable: listing.filterable }
  const representations = options.formats.map((format): Representation => {
    const writer = (format.compileWriter as NonNullable<Format['compileWriter']>)(resource, surroundings)
    checkWriter(format.name, writer)
    return { ...format, writer, headers: Object.entries(writer.list === undefined ? writer.headers ?? {} : {}) }
  })
  const browser = representations.find((representation) => representation.browser === true)
  const bodies = [...representations, ...options.readers].flatMap((format): BodyFormat[] => {
    if (format.compileReader === undefined) return []
    const reader = format.compileReader(resource)
    return [{ mediaTypes: format.mediaTypes, reader, readPayload: compilePayload(resource, reader), answer: representations.find(({ name }) => name === format.name) ?? browser }]
  })
  return {
    options,
    resource,
    subject: { resource, store: options.store, scope: {} },
    representations,
    bodies,
    negotiate: compileNegotiation(representations),
    validation,
    listing,
    readBodiless: bodies[0]?.readPayload ?? compilePayload(resource, compileJsonReader(resource))
  }
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
  readonly choice: Choice<Representation>
  /** Of the collection, with the suffix that was asked for. */
  readonly path: string
  /** The id in the path of a member, its suffix taken off. */
  readonly member: string | undefined
  /** Set once the body has been read. */
  payload: Payload | undefined
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
