import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { Format } from '../formats/format.js'
import { idParameter } from '../resource/location.js'
import type { Declaration } from '../options/declaration.js'
import type { ResourceOptions } from '../options/options.js'
import { type ResolvedOptions, resolveOptions } from '../options/resolve/options.js'
import { bundleSchema, type SharedSchemas } from '../schema/bundle.js'
import type { Reference, Store, Stores, TableRequest } from '../stores/store.js'
import { asObject, isObject, renderCanonicalJson } from '../util/own-property.js'
import { ID_SCHEMAS } from '../resource/resource.js'
import type { AttributesSchema, Schema } from '../schema/types.js'

/** The checked options of declarations. The stores of those with `stores` are open. */
export interface ResolvedDeclarations {
  readonly options: ReadonlyMap<Declaration, ResolvedOptions>
  /** The stores that were opened, in the order in which they must be prepared: a foreign key needs its target. */
  readonly opened: readonly Store[]
}

/**
 * Checks the options of declarations and those nested in them, and opens their tables. Resources with the same table
 * share its store.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function resolveDeclarations (
  app: FastifyInstance,
  declarations: readonly Declaration[],
  formats: ReadonlyMap<Declaration, readonly Format[]>
): ResolvedDeclarations {
  const shared = app.getSchemas()
  const options = new Map<Declaration, ResolvedOptions>()
  const tables = new Tables()
  const visit = (declaration: Declaration, parent: ResolvedOptions | undefined): void => {
    const { singleton, inherited, children } = declaration
    const resolved = nameOwner(ownerOf(declaration.options.name), () => {
      const own = bundleAttributes(declaration.options, shared)
      const resolved = resolveOptions(own, singleton, inherited.guards, formats.get(declaration))
      checkOnDelete(resolved, parent)
      return resolved
    })
    options.set(declaration, resolved)
    tables.add(resolved, parent)
    for (const child of children) visit(child, resolved)
  }
  for (const declaration of declarations) visit(declaration, undefined)
  const stores = tables.open()
  for (const [declaration, resolved] of options) {
    const store = stores.get(resolved)
    if (store !== undefined) options.set(declaration, Object.freeze({ ...resolved, store }))
  }
  return { options, opened: [...new Set(stores.values())] }
}

/**
 * Adds the shared schemas that the attributes refer to. Attributes that are not an object stay, and are refused later.
 */
function bundleAttributes (options: ResourceOptions, shared: SharedSchemas): ResourceOptions {
  const { attributes } = options
  if (attributes === undefined || !isObject(attributes)) return options
  return { ...options, attributes: bundleSchema(attributes, shared) }
}

function checkOnDelete ({ onDelete, stores }: ResolvedOptions, parent: ResolvedOptions | undefined): void {
  if (onDelete === undefined || (parent !== undefined && parent.stores === stores)) return
  throw new InvalidOptionError(
    'onDelete',
    'can be given only to a resource that is nested in another one with the same "stores"'
  )
}

/** The tables of all databases, each with the resources that use it. */
class Tables {
  readonly #users = new Map<Stores, Map<string, [TableUser, ...TableUser[]]>>()
  readonly #opened = new Map<ResolvedOptions, Store>()

  add (options: ResolvedOptions, parent: ResolvedOptions | undefined): void {
    const { stores, table } = options
    if (stores === undefined) return
    const user = { options, parent: parent && { foreignKey: foreignKeyOf(options, parent), options: parent } }
    const tables = this.#users.get(stores) ?? new Map<string, [TableUser, ...TableUser[]]>()
    this.#users.set(stores, tables)
    const users = tables.get(table)
    if (users === undefined) tables.set(table, [user])
    else users.push(user)
  }

  /** Opens all tables, and returns the stores of the resources. */
  open (): ReadonlyMap<ResolvedOptions, Store> {
    for (const tables of this.#users.values()) for (const table of tables.keys()) this.#openTable(tables, [table])
    return this.#opened
  }

  /**
   * Opens a table after those that it refers to.
   * @param path the tables that refer to each other, the last of which is opened
   */
  #openTable (tables: ReadonlyMap<string, [TableUser, ...TableUser[]]>, path: readonly string[]): void {
    const table = path.at(-1) as string
    const users = tables.get(table) as [TableUser, ...TableUser[]]
    const [{ options: first }] = users
    if (this.#opened.has(first)) return
    const owner = ownerOf((users.find(({ options }) => options.schema === undefined)?.options ?? first).name)
    nameOwner(owner, () => {
      for (const { parent } of users) {
        if (parent === undefined || parent.options.stores !== first.stores || parent.options.table === table) continue
        if (path.includes(parent.options.table)) {
          throw new InvalidOptionError(
            'stores',
            `cannot have tables that refer to each other: ${path.join(', ')}; give one of them a "store" of its own`
          )
        }
        this.#openTable(tables, [...path, parent.options.table])
      }
      const store = (first.stores as Stores).open(requestTable(table, users))
      for (const { options } of users) this.#opened.set(options, store)
    })
  }
}

/** Returns the attribute with the id of the parent. */
function foreignKeyOf ({ routing }: ResolvedOptions, parent: ResolvedOptions): string {
  return routing.foreignKey ?? idParameter(parent.singular, parent.singleton ? 'id' : parent.routing.param)
}

/** A resource with rows in a table. */
interface TableUser {
  readonly options: ResolvedOptions
  /** Its foreign key and the resource in which it is nested, or `undefined` if it is not nested. */
  readonly parent: { readonly foreignKey: string, readonly options: ResolvedOptions } | undefined
}

/**
 * Returns the table that all its users together need.
 * @throws InvalidOptionError if they contradict each other
 */
function requestTable (table: string, users: readonly [TableUser, ...TableUser[]]): TableRequest {
  const references = joinReferences(users)
  return {
    table,
    id: joinIds(users),
    attributes: joinAttributes(users, references),
    unique: joinUnique(users),
    references: Object.fromEntries(references)
  }
}

/** Returns the foreign keys to tables of the same database, by attribute. */
function joinReferences (users: readonly TableUser[]): ReadonlyMap<string, Reference> {
  const references = new Map<string, Reference>()
  for (const { options, parent } of users) {
    if (parent === undefined || parent.options.stores !== options.stores) continue
    const { foreignKey, options: { table } } = parent
    const known = references.get(foreignKey)
    if (known !== undefined && known.table !== table) {
      refuse(options, 'foreignKey', `is "${foreignKey}", which refers to "${known.table}" in another resource of`)
    }
    const { onDelete = known?.onDelete } = options
    if (known?.onDelete !== undefined && known.onDelete !== onDelete) {
      refuse(options, 'onDelete', `is '${onDelete}', but '${known.onDelete}' in another resource of`)
    }
    references.set(foreignKey, { table, ...(onDelete !== undefined && { onDelete }) })
  }
  return references
}

function joinIds (users: readonly [TableUser, ...TableUser[]]): 'integer' | 'uuid' {
  const [{ options: { idType: first } }] = users
  for (const { options } of users) {
    const { idType } = options
    if (idType === 'string') refuse(options, 'id', "is 'string', but must be 'integer' or 'uuid' in")
    if (idType !== first) refuse(options, 'id', `is '${idType}', but '${first}' in another resource of`)
  }
  return first === 'uuid' ? first : 'integer'
}

/** Returns the unique groups of all users. A nested singleton without a scope of its own is unique for each parent. */
function joinUnique (users: readonly TableUser[]): TableRequest['unique'] {
  const groups = users.flatMap(({ options: { unique } }) => unique)
  const keys = users.map(({ options: { singleton, routing }, parent }) =>
    singleton && routing.scope.length === 0 ? parent?.foreignKey : undefined)
  const [key] = keys
  if (key !== undefined && keys.every((other) => other === key)) groups.push(key)
  return [...new Map(groups.map((group) => [JSON.stringify([group].flat()), group])).values()]
}

/**
 * Returns the schema of the attributes of all users, with those of their scopes and foreign keys. An attribute is
 * required if each user requires it.
 */
function joinAttributes (
  users: readonly TableUser[],
  references: ReadonlyMap<string, Reference>
): AttributesSchema | undefined
// Each user's schema has been checked to be one of attributes, or will be when its resource is compiled.
function joinAttributes (users: readonly TableUser[], references: ReadonlyMap<string, Reference>): object | undefined {
  const schemas: Schema[] = []
  for (const { options, parent } of users) {
    const { schema, scopeAttributes } = options
    if (schema === undefined) return undefined
    const key: Schema = parent === undefined ? {} : { [parent.foreignKey]: ID_SCHEMAS[parent.options.idType] }
    const own = { ...asObject(schema.properties), ...scopeAttributes, ...key }
    const required = [...requiredOf(schema), ...Object.keys(scopeAttributes), ...Object.keys(key)]
    schemas.push({ ...schema, properties: own, required })
  }
  const all = schemas.reduce((joined, schema) => joinSchemas(joined, schema))
  const properties = { ...all.properties as Schema }
  const required = requiredOf(all)
  for (const { parent } of users) {
    if (parent === undefined) continue
    const { foreignKey, options: { idType } } = parent
    const { type, ...rest } = ID_SCHEMAS[idType]
    const isRequired = required.includes(foreignKey) && references.get(foreignKey)?.onDelete !== 'set null'
    properties[foreignKey] = { ...rest, type: isRequired ? type : [type, 'null'] }
  }
  return { ...all, properties }
}

function requiredOf ({ required = [] }: Schema): readonly unknown[] {
  return [required].flat()
}

/** Joins the schemas of two users. An attribute with two schemas has a column for the values of both. */
function joinSchemas (one: Schema, other: Schema): Schema {
  const properties = { ...one.properties as Schema }
  for (const [name, schema] of Object.entries(other.properties as Schema)) {
    const known = properties[name]
    const isSame = known === undefined || renderCanonicalJson(known) === renderCanonicalJson(schema)
    properties[name] = isSame ? schema : { anyOf: [known, schema] }
  }
  const required = requiredOf(other)
  return {
    ...one,
    ...joinDefinitions(one, other),
    properties,
    required: requiredOf(one).filter((name) => required.includes(name))
  }
}

/** @throws InvalidOptionError if a definition of both schemas differs */
function joinDefinitions (one: Schema, other: Schema): Schema {
  const joined: Record<string, unknown> = {}
  for (const keyword of ['$defs', 'definitions']) {
    const known = asObject(one[keyword]) ?? {}
    const added = asObject(other[keyword]) ?? {}
    const twice = Object.keys(added).find((name) =>
      Object.hasOwn(known, name) && renderCanonicalJson(known[name]) !== renderCanonicalJson(added[name]))
    if (twice !== undefined) {
      throw new InvalidOptionError('attributes', `defines "${twice}" otherwise than another resource of the same table`)
    }
    if (other[keyword] !== undefined) joined[keyword] = { ...known, ...added }
  }
  return joined
}

function refuse ({ name, table }: ResolvedOptions, option: string, reason: string): never {
  throw new InvalidOptionError(option, `${reason} the table "${table}"`, ` of ${ownerOf(name)}`)
}
