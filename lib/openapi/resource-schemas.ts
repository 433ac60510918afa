import type { CompiledCustomAction, CompiledResource } from '../core/compiled-resource.js'
import type { Relations } from '../core/relations/relations.js'
import { camelize } from '../core/resource/inflection.js'
import { ID_SCHEMAS, type Resource } from '../core/resource/resource.js'
import { isPartial } from '../core/resource/visible.js'
import type { Property } from '../core/schema/shape.js'
import { ROW_KEYWORDS } from '../core/schema/row-keywords.js'
import type { Schema } from '../core/schema/types.js'
import { lazy } from '../core/util/functions.js'
import { capitalize } from '../core/util/words.js'
import { type Direction, SchemaAdapter } from './adapt-schema.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './part.js'

/** The parts of a compiled resource that schemas show besides its attributes. */
type SchemaSources = Pick<CompiledResource, 'rules'> & { readonly relations: Pick<Relations, 'all'> }

const NONE: SchemaSources = { relations: { all: [] }, rules: undefined }

/** The version beside the id of a row that is sent. */
export const VERSION = {
  _version: {
    type: 'string',
    description: 'The version that was read. It has the effect of If-Match. In a form it is beside the group.'
  }
} as const

/** The object in place of a list that is too long to be included. */
const LINK = { type: 'object', required: ['href'], properties: { href: { type: 'string', format: 'uri-reference' } } }

type DeclaredAttributes =
  Pick<Resource, 'attributes' | 'open'> & Partial<Pick<Resource, 'hiddenFromSome'>> & { readonly schema: Schema }

/** The properties of a described record, and the names of those that are required. */
interface RecordParts {
  readonly properties: Part
  readonly required: readonly string[]
  readonly additionalProperties?: boolean
  /** What the document says in words. @default nothing */
  readonly description?: string
}

/** The schemas of a resource in a document. Each is made when it is first used. */
export class ResourceSchemas {
  readonly #resource: Resource
  readonly #name: string
  readonly #writer: DocumentWriter
  readonly #id: Part
  /** The members beside the attributes that are sent. */
  readonly #named: Part
  readonly #surroundings: SchemaSources
  readonly #custom = new Map<CompiledCustomAction, Part>()
  #shared: Part | undefined
  /** Returns the schema of a shown record: `Post`. */
  readonly record: () => Part
  /** Returns the schema of the attributes for a create: `NewPost`. */
  readonly creation: () => Part
  /** Returns the schema of the attributes for an update, and of a blank record: `PostChanges`. */
  readonly changes: () => Part
  /** Returns the schema of the attributes of a merge patch: `PostPatch`. */
  readonly patch: () => Part
  /** Returns the schema of the attributes that several rows get, with these ids inside: `PostSharedChanges`. */
  readonly shared: (ids: Part) => Part

  /** @param name the name of one record in the document */
  constructor (resource: Resource, name: string, writer: DocumentWriter, surroundings: SchemaSources = NONE) {
    this.#resource = resource
    this.#name = name
    this.#writer = writer
    this.#surroundings = surroundings
    this.#id = resource.singleton ? {} : { id: ID_SCHEMAS[resource.idType] }
    this.#named = { ...this.#id, ...VERSION }
    const shown = this.#adapter(resource.schema, name, 'out')
    const given = hasOneSchema(resource) ? shown : this.#adapter(resource.schema, `New${name}`, 'in')
    this.record = lazy(() => this.#describeRecord(shown))
    this.creation = lazy(() => this.#describe(`New${name}`, resource, {
      ...describeGiven(resource, given), ...this.#describeRules(given)
    }))
    const describeChanges = (name: string, named: Part, required: readonly string[]): Part =>
      this.#describe(name, resource, {
        properties: { ...named, ...adaptAll([...resource.attributes.values()], given, false) },
        required,
        additionalProperties: resource.open
      })
    this.changes = lazy(() => describeChanges(`${name}Changes`, this.#named, []))
    this.shared = (ids) => {
      this.#shared ??= describeChanges(`${name}SharedChanges`, { id: ids }, ['id'])
      return this.#shared
    }
    this.patch = lazy(() => this.#describe(`${name}Patch`, resource, {
      properties: { ...this.#named, ...adaptPatches([...resource.attributes.values()], given) },
      required: [],
      additionalProperties: resource.open
    }))
  }

  /** Returns the schema of the attributes for a custom action. */
  custom (action: CompiledCustomAction): Part {
    if (action.attributes === undefined) return this.changes()
    const known = this.#custom.get(action)
    if (known !== undefined) return known
    const name = this.#nameOf(action)
    const declared = { schema: action.attributes, attributes: action.supplied, open: false }
    const given = describeGiven(declared, this.#adapter(action.attributes, name, 'in'))
    const reference = this.#describe(name, declared, { ...given, properties: { ...this.#named, ...given.properties } })
    this.#custom.set(action, reference)
    return reference
  }

  /** Returns the schemas of the query parameters of a custom action, by their names. */
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
    const { attributes, hiddenFromSome } = this.#resource
    const all = [...attributes.values()].filter(({ writeOnly }) => !writeOnly)
    const sure = all.filter(({ name, required, readOnly }) => required && !readOnly && !hiddenFromSome.has(name))
      .map(({ name }) => name)
    return this.#describe(this.#name, this.#resource, {
      properties: { ...this.#id, ...adaptAll(all, adapter, false), ...this.#describeRelations() },
      required: [...Object.keys(this.#id), ...sure]
    })
  }

  /** Describes the rows that a record may include. If it may have any attributes, one may have the same name. */
  #describeRelations (): Part {
    const others = this.#resource.open ? [{}] : []
    return Object.fromEntries(this.#surroundings.relations.all.map(({ name, resource, isMany }) => {
      const component = `${this.#name}Included${capitalize(camelize(name))}`
      const one = new ResourceSchemas(resource, component, this.#writer).record()
      const included = isMany ? [{ type: 'array', items: one }, LINK] : [one, { type: 'null' }]
      return [name, { anyOf: [...included, ...others] }]
    }))
  }

  /**
   * Describes the keywords about the whole row: in the schema of a create if clients send all attributes that these
   * name, and none of them can be null, and in words if not, or if the document cannot have some of them.
   */
  #describeRules (adapter: SchemaAdapter): Part {
    const { keywords } = this.#surroundings.rules ?? {}
    if (keywords === undefined) return {}
    const { attributes, plural } = this.#resource
    const own = Object.fromEntries(ROW_KEYWORDS.flatMap((name) =>
      keywords.schema[name] === undefined ? [] : [[name, keywords.schema[name]]]))
    // In OpenAPI, an attribute that is null is there.
    const isGiven = [...keywords.reads ?? attributes.keys()].map((name) => attributes.get(name))
      .every((property) => property?.readOnly === false && !property.shape.types.has('null'))
    if (isGiven && this.#writer.hasConditions) return adapter.adapt(own, plural)
    return { description: `A row without its nulls must fit ${JSON.stringify(own)}.` }
  }

  #describe (name: string, { schema }: DeclaredAttributes, parts: RecordParts): Part {
    const { properties, required, description: about, ...more } = parts
    const description = [schema.description, about].filter((text) => text !== undefined).join(' ')
    return this.#writer.define(name, () => ({
      type: 'object',
      ...(description !== '' && { description }),
      ...(required.length > 0 && { required }),
      properties,
      ...more,
      xml: { name: this.#resource.singular }
    }))
  }
}

/** A resource with its names, schemas and writer in one document. */
export interface DescribedResource {
  readonly compiled: CompiledResource
  /** Its names: `Posts` and `Post`, or with the prefix of its path `BlogPosts` and `BlogPost`. */
  readonly names: { readonly many: string, readonly one: string }
  /** The schemas of the parameters of its paths. */
  readonly parameters: ReadonlyMap<string, Part>
  readonly schemas: ResourceSchemas
  readonly writer: DocumentWriter
}

/** Describes the attributes that create something new: all properties, the required ones and the defaults. */
function describeGiven (declared: DeclaredAttributes, adapter: SchemaAdapter): RecordParts {
  return {
    properties: adaptAll([...declared.attributes.values()], adapter, true),
    // A role that does not see an attribute cannot give it.
    required: requiredNames(declared).filter((name) => declared.hiddenFromSome?.has(name) !== true),
    additionalProperties: declared.open
  }
}

/**
 * Adapts the schemas of attributes. Only a create has defaults, because an update leaves absent attributes unchanged.
 */
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

/** Adapts the schemas of attributes for a merge patch: null removes an attribute, and an object may lack members. */
function adaptPatches (attributes: readonly Property[], adapter: SchemaAdapter): Part {
  return Object.fromEntries(
    attributes.map((property) => {
      const { name, required, shape: { types } } = property
      if (types.has('object')) return [name, { description: 'An object is merged with the stored one (RFC 7396).' }]
      const own = adaptAll([property], adapter, false)[name]
      return [name, required || types.has('null') ? own : { anyOf: [own, { type: 'null' }] }]
    })
  )
}

/**
 * Returns whether requests and responses can share components: no member is `readOnly` or `writeOnly`, or has a
 * default.
 */
function hasOneSchema ({ attributes, schema: { definitions, $defs } }: Resource): boolean {
  const all = [...attributes.values()]
  const schemas = all.map(({ schema: { default: _, ...schema } }) => schema)
  return (
    all.every(({ shape }) => !isPartial(shape)) && !JSON.stringify([definitions, $defs, schemas]).includes('"default":')
  )
}

/** Returns the names of the attributes that a create must supply. An attribute with a default is optional. */
export function requiredNames ({ attributes }: Pick<Resource, 'attributes'>): string[] {
  return [...attributes.values()]
    .filter(({ required, readOnly, schema }) => required && !readOnly && schema.default === undefined)
    .map(({ name }) => name)
}
