import type { CompiledCustomAction } from '../http/compiled-resource.js'
import { camelize, capitalize } from '../resource/inflection.js'
import type { IdType, Resource } from '../resource/resource.js'
import { isPartial } from '../resource/visible.js'
import type { Property } from '../schema/shape.js'
import type { Schema } from '../schema/types.js'
import { lazy } from '../util/lazy.js'
import { type Direction, SchemaAdapter } from './adapt-schema.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './part.js'

/** The schemas of a resource in a document, each made when it is first referred to. */
export interface ResourceSchemas {
  /** As it is shown: `Post`. */
  record (): Part
  /** What a creation takes: `NewPost`. */
  creation (): Part
  /** What an update takes, or a blank record has: `PostChanges`. */
  changes (): Part
  /** What an action of the app's own takes. */
  own (own: CompiledCustomAction): Part
  /** What the query of such an action may have, by the names of the parameters. */
  queried (own: CompiledCustomAction): ReadonlyMap<string, Part>
}

export const ID_SCHEMAS: Readonly<Record<IdType, Part>> = {
  integer: { type: 'integer', minimum: 1 },
  uuid: { type: 'string', format: 'uuid' },
  string: { type: 'string', minLength: 1 }
}

type Declared = Pick<Resource, 'attributes' | 'open'> & { readonly schema: Schema }

export function makeSchemas (resource: Resource, name: string, writer: DocumentWriter): ResourceSchemas {
  const { idType, singleton, singular, itemName, attributes, schema } = resource
  const id = singleton ? {} : { id: ID_SCHEMAS[idType] }
  const makeAdapter = (schema: Schema, name: string, direction: Direction): SchemaAdapter =>
    new SchemaAdapter(schema, name, writer, direction, itemName)
  const shown = makeAdapter(schema, name, 'out')
  const given = isAlike(resource) ? shown : makeAdapter(schema, `New${name}`, 'in')

  const describe = (
    name: string,
    { schema: { description } }: Declared,
    properties: Part,
    required: readonly string[],
    more: Part = {}
  ): Part =>
    writer.define(name, () => ({
      type: 'object',
      ...(description !== undefined && { description }),
      ...(required.length > 0 && { required }),
      properties,
      ...more,
      xml: { name: singular }
    }))

  const nameOf = (own: CompiledCustomAction): string => name + capitalize(camelize(own.name))

  function describeRecord (): Part {
    const all = [...attributes.values()].filter(({ writeOnly }) => !writeOnly)
    const sure = all.filter(({ required, readOnly }) => required && !readOnly).map(({ name }) => name)
    return describe(name, resource, { ...id, ...adaptAll(all, shown, false) }, [...Object.keys(id), ...sure])
  }

  function describeGiven (name: string, declared: Declared, adapter: SchemaAdapter, isWhole: boolean, more: Part): Part {
    const all = [...declared.attributes.values()]
    const properties = { ...more, ...adaptAll(all, adapter, isWhole) }
    return describe(name, declared, properties, isWhole ? demandedOf(declared) : [], {
      additionalProperties: declared.open
    })
  }

  const owns = new Map<CompiledCustomAction, Part>()
  const changes = lazy(() => describeGiven(`${name}Changes`, resource, given, false, id))
  return {
    record: lazy(describeRecord),
    creation: lazy(() => describeGiven(`New${name}`, resource, given, true, {})),
    changes,
    own (own) {
      if (own.attributes === undefined) return changes()
      const inner = nameOf(own)
      const reference =
        owns.get(own) ??
        describeGiven(
          inner,
          { schema: own.attributes, attributes: own.supplied, open: false },
          makeAdapter(own.attributes, inner, 'in'),
          true,
          id
        )
      owns.set(own, reference)
      return reference
    },
    queried (own) {
      const adapter = makeAdapter(own.query ?? {}, nameOf(own), 'in')
      return new Map(
        [...own.queried.values()].map(({ name, schema }) => [name, writer.schema(adapter.adapt(schema, name))])
      )
    }
  }
}

/** An update leaves alone what it is not given, and what is shown is as it is: a default is for a creation. */
function adaptAll (
  attributes: ReadonlyArray<Pick<Property, 'name' | 'schema'>>,
  adapter: SchemaAdapter,
  hasDefaults: boolean
): Part {
  return Object.fromEntries(
    attributes.map(({ name, schema: { default: value, ...schema } }) => [
      name,
      { ...adapter.adapt(schema, name), ...(hasDefaults && value !== undefined && { default: value }) }
    ])
  )
}

/** Whether what is inside of attributes is the same both ways: nothing of it goes one way only, or has a default. */
function isAlike ({ attributes, schema: { definitions, $defs } }: Resource): boolean {
  const all = [...attributes.values()]
  const schemas = all.map(({ schema: { default: _, ...schema } }) => schema)
  return (
    all.every(({ shape }) => !isPartial(shape)) && !JSON.stringify([definitions, $defs, schemas]).includes('"default":')
  )
}

/** The attributes without which nothing can be made: what has a default need not be given. */
export function demandedOf ({ attributes }: Pick<Resource, 'attributes'>): string[] {
  return [...attributes.values()]
    .filter(({ required, readOnly, schema }) => required && !readOnly && schema.default === undefined)
    .map(({ name }) => name)
}
