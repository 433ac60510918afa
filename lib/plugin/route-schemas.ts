import type { RouteOptions } from 'fastify'
import type { CompiledCustomAction, CompiledResource } from '../http/compiled-resource.js'
import type { Route } from '../http/route.js'
import { demandedOf, ID_SCHEMAS } from '../openapi/resource-schemas.js'
import { mapReferences } from '../schema/bundle.js'
import type { Schema } from '../schema/types.js'
import { lazy } from '../util/lazy.js'

type Schemas = Pick<RouteOptions, 'schema' | 'serializerCompiler' | 'validatorCompiler'>

/**
 * The schemas by which Fastify writes what the routes of a resource answer with, and which show what they read. Each is
 * made once, however many routes have it.
 */
export class RouteSchemas {
  readonly #compiled: CompiledResource
  readonly #answers: Readonly<Record<NonNullable<Route['document']>, () => Schemas>>
  readonly #group: () => Schema
  readonly #bodies = new Map<CompiledCustomAction | string, Schema>()

  constructor (compiled: CompiledResource) {
    this.#compiled = compiled
    this.#answers = {
      record: lazy(() => describeAnswer(compiled, 'record')),
      blank: lazy(() => describeAnswer(compiled, 'blank'))
    }
    this.#group = lazy(() => moveInto(compiled.resource.singular, compiled.resource.schema))
  }

  of (route: Route): Schemas {
    const answer = route.document === undefined ? {} : this.#answers[route.document]()
    if (route.payload === undefined) return answer
    const schema = { ...(answer.schema as Schema | undefined), body: this.#bodyOf(route) }
    // A body has been checked when it was read.
    return { ...answer, schema, validatorCompiler: acceptAll }
  }

  #bodyOf ({ customAction, actions: [{ name }] }: Route): Schema {
    const key = customAction ?? name
    const body = this.#bodies.get(key) ?? this.#describeBody(name, customAction)
    this.#bodies.set(key, body)
    return body
  }

  /** The document that a body is after it has been read: the id, and the group as a create or an update takes it. */
  #describeBody (name: string, action: CompiledCustomAction | undefined): Schema {
    const { resource } = this.#compiled
    const { singleton, singular, idType } = resource
    const isNew = name === 'create'
    const isWhole = action === undefined ? isNew : action.attributes !== undefined
    const declared = action === undefined ? resource : { attributes: action.supplied }
    const group = {
      ...(action?.attributes === undefined ? this.#group() : moveInto(singular, action.attributes)),
      type: 'object',
      required: isWhole ? demandedOf(declared) : []
    }
    const id = singleton || isNew ? {} : { id: ID_SCHEMAS[idType] }
    return { type: 'object', properties: { ...id, [singular]: group } }
  }
}

const acceptAll = (): (() => true) => accept
const accept = (): true => true

/** A schema's references to itself, where the schema stands in a body under the name of the group. */
function moveInto (singular: string, schema: Schema): Schema {
  return mapReferences(schema, (reference) =>
    reference.startsWith('#') ? `#/properties/${singular}${reference.slice(1)}` : reference
  )
}

/** What Fastify serializes as JSON: records by the writer made of the schema, which lets out what is declared. */
function describeAnswer ({ resource, representations }: CompiledResource, kind: 'record' | 'blank'): Schemas {
  const [serialize] = representations.flatMap(({ writer, blank }) => {
    const used = writer.document === undefined || kind === 'record' ? writer : blank()
    return used.document === undefined ? [] : [used.serialize]
  })
  if (serialize === undefined) return {}
  const properties = Object.fromEntries(
    [...resource.attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, schema }) => [name, schema])
  )
  const id =
    resource.singleton || kind === 'blank' ? {} : { id: { type: resource.idType === 'integer' ? 'integer' : 'string' } }
  const record = {
    type: 'object',
    properties: { [resource.singular]: { type: 'object', properties: { ...id, ...properties } } }
  }
  return {
    schema: { response: { 200: record, 201: record, 412: record } },
    serializerCompiler: () => serialize as (document: unknown) => string
  }
}
