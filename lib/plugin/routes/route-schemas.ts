import type { RouteOptions } from 'fastify'
import type { CompiledCustomAction, CompiledResource } from '../../http/compiled-resource.js'
import type { Route } from '../../http/route.js'
import { requiredNames, ID_SCHEMAS } from '../../openapi/resource-schemas.js'
import { mapReferences } from '../../schema/bundle.js'
import type { Schema } from '../../schema/types.js'
import { lazy } from '../../util/functions.js'

/** The options of a Fastify route that have schemas. */
export type Schemas = Pick<RouteOptions, 'schema' | 'serializerCompiler' | 'validatorCompiler'>

/**
 * The Fastify schemas of a resource's routes. Fastify serializes records by those of responses; those of bodies only
 * describe the input. Each is made once, even if several routes have it.
 */
export class RouteSchemas {
  readonly #compiled: CompiledResource
  readonly #describesBodies: boolean
  readonly #answers: Readonly<Record<NonNullable<Route['document']>, () => Schemas>>
  readonly #group: () => Schema
  readonly #bodies = new Map<CompiledCustomAction | string, Schema>()

  /** @param describesBodies whether somebody reads the schemas of bodies: an `onRoute` hook */
  constructor (compiled: CompiledResource, describesBodies: boolean) {
    this.#compiled = compiled
    this.#describesBodies = describesBodies
    this.#answers = {
      record: lazy(() => describeAnswer(compiled, 'record')),
      blank: lazy(() => describeAnswer(compiled, 'blank'))
    }
    this.#group = lazy(() => moveInto(compiled.resource.singular, compiled.resource.schema))
  }

  of (route: Route): Schemas {
    const answer = route.document === undefined ? {} : this.#answers[route.document]()
    if (route.readPayload === undefined || !this.#describesBodies) return answer
    const schema = { ...answer.schema, body: this.#bodyOf(route) }
    // Our own readers and validators check the body.
    return { ...answer, schema, validatorCompiler: acceptAll }
  }

  #bodyOf ({ customAction, actions: [{ name }] }: Route): Schema {
    const key = customAction ?? name
    const body = this.#bodies.get(key) ?? this.#describeBody(name, customAction)
    this.#bodies.set(key, body)
    return body
  }

  /** Describes a body after it is read: the id, and the group of attributes as the action takes it. */
  #describeBody (name: string, action: CompiledCustomAction | undefined): Schema {
    const { resource } = this.#compiled
    const { singleton, singular, idType } = resource
    const isNew = name === 'create'
    const isWhole = action === undefined ? isNew : action.attributes !== undefined
    const declared = action === undefined ? resource : { attributes: action.supplied }
    const group = {
      ...(action?.attributes === undefined ? this.#group() : moveInto(singular, action.attributes)),
      type: 'object',
      required: isWhole ? requiredNames(declared) : []
    }
    const id = singleton || isNew ? {} : { id: ID_SCHEMAS[idType] }
    return { type: 'object', properties: { ...id, [singular]: group } }
  }
}

const acceptAll = (): (() => boolean) => accept
const accept = Boolean.bind(undefined, true)

/** Adapts a schema's references to itself to its place in a body, under the name of the group. */
function moveInto (singular: string, schema: Schema): Schema {
  return mapReferences(schema, (reference) =>
    reference.startsWith('#') ? `#/properties/${singular}${reference.slice(1)}` : reference
  )
}

/** Describes the records that Fastify serializes, and names the format's serializer for them. */
function describeAnswer ({ resource, representations }: CompiledResource, kind: 'record' | 'blank'): Schemas {
  const [used] = representations.flatMap(({ mediaTypes, writer, blank }) => {
    const used = writer.document === undefined || kind === 'record' ? writer : blank()
    return used.document === undefined ? [] : [{ mediaTypes, serialize: used.serialize }]
  })
  if (used === undefined) return {}
  const properties = Object.fromEntries(
    [...resource.attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, schema }) => [name, schema])
  )
  const id =
    resource.singleton || kind === 'blank' ? {} : { id: { type: resource.idType === 'integer' ? 'integer' : 'string' } }
  const record = {
    type: 'object',
    properties: { [resource.singular]: { type: 'object', properties: { ...id, ...properties } } }
  }
  // A number as status would cost each route about 5 KiB, because V8 makes room for all smaller numbers. The only
  // refusal with a record is 412; the others have the media type of problems.
  const refused = { content: Object.fromEntries(used.mediaTypes.map((mediaType) => [mediaType, { schema: record }])) }
  return {
    schema: { response: { '2xx': record, '4xx': refused } },
    serializerCompiler: () => used.serialize
  }
}
