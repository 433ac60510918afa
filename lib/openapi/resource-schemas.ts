import type { CompiledCustomAction } from '../http/compiled-resource.js'
import { camelize, capitalize } from '../resource/inflection.js'
import type { IdType, Resource } from '../resource/resource.js'
import { isPartial } from '../resource/visible.js'
import type { Property } from '../schema/shape.js'
import type { Schema } from '../schema/types.js'
import { lazy } from '../util/lazy.js'
import { type Direction, SchemaAdapter } from './adapt-schema.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './media.js'

export const ID_SCHEMAS: Readonly<Record<IdType, Part>> = {
  integer: { type: 'integer', minimum: 1 },
  uuid: { type: 'string', format: 'uuid' },
  string: { type: 'string', minLength: 1 }
}

type Declared = Pick<Resource, 'attributes' | 'open'> & { readonly schema: Schema }

/** How a record is described: with which properties, of which some are required. */
interface RecordParts {
  readonly properties: Part
  readonly required: readonly string[]
  readonly additionalProperties?: boolean
}

/** The schemas of a resource in a document, each made when it is first referred to. */
export class ResourceSchemas {
  readonly #resource: Resource
  readonly #name: string
  readonly #writer: DocumentWriter
  readonly #id: Part
  readonly #custom = new Map<CompiledCustomAction, Part>()
  /** As it is shown: `Post`. */
  readonly record: () => Part
  /** What a creation takes: `NewPost`. */
  readonly creation: () => Part
  /** What an update takes, or a blank record has: `PostChanges`. */
  readonly changes: () => Part

  /** @param name what the document calls one */
  constructor (resource: Resource, name: string, writer: DocumentWriter) {
    this.#resource = resource
    this.#name = name
    this.#writer = writer
    this.#id = resource.singleton ? {} : { id: ID_SCHEMAS[resource.idType] }
    const shown = this.#adapter(resource.schema, name, 'out')
    const given = isAlike(resource) ? shown : this.#adapter(resource.schema, `New${name}`, 'in')
    this.record = lazy(() => this.#describeRecord(shown))
    this.creation = lazy(() => this.#describe(`New${name}`, resource, describeGiven(resource, given)))
    this.changes = lazy(() => this.#describe(`${name}Changes`, resource, {
      properties: { ...this.#id, ...adaptAll([...resource.attributes.values()], given, false) },
      required: [],
      additionalProperties: resource.open
    }))
  }

  /** What an action of the app's own takes. */
  custom (action: CompiledCustomAction): Part {
    if (action.attributes === undefined) return this.changes()
    const known = this.#custom.get(action)
    if (known !== undefined) return known
    const name = this.#nameOf(action)
    const declared = { schema: action.attributes, attributes: action.supplied, open: false }
    const given = describeGiven(declared, this.#adapter(action.attributes, name, 'in'))
    const reference = this.#describe(name, declared, { ...given, properties: { ...this.#id, ...given.properties } })
    this.#custom.set(action, reference)
    return reference
  }

  /** What the query of such an action may have, by the names of the parameters. */
  queried (action: CompiledCustomAction): ReadonlyMap<string, Part> {
    const adapter = this.#adapter(action.query ?? {}, this.#nameOf(action), 'in')
    return new Map(
      [...action.queried.values()].map(({ name, schema }) => [name, this.#writer.schema(adapter.adapt(schema, name))])
    )
  }

  #adapter (schema: Schema, name: string, direction: Direction): SchemaAdapter {
    return new SchemaAdapter(schema, { name, writer: this.#writer, direction, itemName: this.#resource.itemName })
  }

  #nameOf ({ name }: CompiledCustomAction): string {
    return this.#name + capitalize(camelize(name))
  }

  #describeRecord (adapter: SchemaAdapter): Part {
    const all = [...this.#resource.attributes.values()].filter(({ writeOnly }) => !writeOnly)
    const sure = all.filter(({ required, readOnly }) => required && !readOnly).map(({ name }) => name)
    return this.#describe(this.#name, this.#resource, {
      properties: { ...this.#id, ...adaptAll(all, adapter, false) },
      required: [...Object.keys(this.#id), ...sure]
    })
  }

  #describe (name: string, { schema: { description } }: Declared, parts: RecordParts): Part {
    const { properties, required, ...more } = parts
    return this.#writer.define(name, () => ({
      type: 'object',
      ...(description !== undefined && { description }),
      ...(required.length > 0 && { required }),
      properties,
      ...more,
      xml: { name: this.#resource.singular }
    }))
  }
}

/** What must be given, and may be: all of it, for something new. */
function describeGiven (declared: Declared, adapter: SchemaAdapter): RecordParts {
  return {
    properties: adaptAll([...declared.attributes.values()], adapter, true),
    required: demandedOf(declared),
    additionalProperties: declared.open
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
