import { channel, type Channel } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf, withOwner } from '../errors.js'
import type { ResolvedDeclaration } from '../options/declaration.js'
import type { ResolvedOptions, ResolvedReference } from '../options/resolve/options.js'
import { ID_SCHEMAS, type IdType, splitReference } from '../resource/resource.js'
import { findNamed, type ReferencePlace, registryOf } from '../routes/route-registry.js'
import { shapeOf } from '../schema/shape.js'
import type { AttributesSchema, Schema } from '../schema/types.js'
import { noStore, type OnDelete, type Reference, type Store, type Stores, type TableRequest } from '../stores/store.js'
import { asObject, renderCanonicalJson } from '../util/own-property.js'
import type { Registration } from './prepare.js'

/** A store whose table registration is about to prepare. */
export interface StorePreparation {
  readonly store: Store
  /** Whether the store is only planned. A subscriber sets it, so that no table changes. @default false */
  isPlanned: boolean
}

/** The channel of all preparations. Each copy of this package in a process has the same one. */
export const preparations: Channel = channel('fastify-resources.prepare')

/** Prepares the stores of resources, first those of opened tables. */
export async function prepareStores (
  app: FastifyInstance,
  resources: readonly ResolvedOptions[],
  { stores, late }: OpenedTables
): Promise<void> {
  const rankOf = ({ store }: ResolvedOptions): number => stores.indexOf(store)
  const warnings = new Map<Store, readonly string[]>()
  for (const { store, name, idempotency } of resources.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    const preparation: StorePreparation = { store, isPlanned: false }
    preparations.publish(preparation)
    if (preparation.isPlanned) continue
    warnings.set(store, await callStore(app, store, name, 'prepare'))
    if (idempotency === undefined) continue
    try {
      await store.requests?.prepare?.()
    } catch (error) {
      throw withOwner(error, ownerOf(name))
    }
  }
  for (const [store, first] of warnings) {
    const { name } = resources.find((resource) => resource.store === store) as ResolvedOptions
    const all = late.has(store) ? await callStore(app, store, name, 'prepare') : first
    for (const warning of all) app.log.warn(`${ownerOf(name)}: ${warning}`)
  }
}

/**
 * Calls a method that throws if the store cannot keep the rows, and `close` when the app closes. Returns the warnings.
 */
export async function callStore (
  app: FastifyInstance,
  store: Store,
  name: string,
  method: 'describe' | 'prepare'
): Promise<readonly string[]> {
  app.addHook('onClose', async () => { await store.close?.() })
  try {
    const warnings: unknown = await store[method]?.()
    // A store of the app may return anything, such as what a driver has returned.
    return Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : []
  } catch (error) {
    throw withOwner(error, `the store of ${ownerOf(name)}`)
  }
}

/** The resources that share a table. */
type TableUsers = readonly [ResolvedDeclaration, ...ResolvedDeclaration[]]

/** The stores of tables that are open. */
export interface OpenedTables {
  /** The stores in the order in which they are prepared. */
  readonly stores: readonly Store[]
  /** The stores whose tables refer to others that come later. */
  readonly late: ReadonlySet<Store>
}

/**
 * Opens the tables of the option `stores`, each after those of the parents of its rows, and after those that it refers
 * to if these do not need it themselves. Resources with the same table share its store.
 * @throws InvalidOptionError
 */
export function openTables (
  registration: Pick<Registration, 'app'>,
  declarations: readonly ResolvedDeclaration[]
): OpenedTables {
  const all = declarations.flatMap(listNested)
  findTargets(registration, declarations, all)
  const opened: Store[] = []
  const late = new Set<Store>()
  const usersOf = (stores: Stores, table: string): ResolvedDeclaration[] =>
    all.filter(({ options }) => options.stores === stores && options.table === table)
  const isOpen = (stores: Stores, table: string): boolean =>
    usersOf(stores, table).every(({ options }) => options.store !== noStore)
  const open = (stores: Stores, table: string, path: readonly string[]): void => {
    if (isOpen(stores, table)) return
    const users = usersOf(stores, table) as [ResolvedDeclaration, ...ResolvedDeclaration[]]
    const { options: { name } } = users.find(({ options }) => options.schema === undefined) ?? users[0]
    nameOwner(ownerOf(name), () => {
      for (const parent of parentsOf(users, table)) {
        if (path.includes(parent)) {
          throw new InvalidOptionError(
            'stores',
            `cannot have tables that refer to each other: ${path.join(', ')}; give one of them a "store" of its own`
          )
        }
        open(stores, parent, [...path, parent])
      }
      const request = requestTable(table, users)
      const others = Object.values(request.references).map((reference) => reference.table)
      for (const other of others) {
        const isFree = [...ancestorsOf(other, (one) => parentsOf(usersOf(stores, one), one))]
          .every((one) => !path.includes(one))
        if (isFree) open(stores, other, [...path, other])
      }
      const store = stores.open(request)
      opened.push(store)
      if (others.some((other) => other !== table && !isOpen(stores, other))) late.add(store)
      for (const user of users) user.options = Object.freeze({ ...user.options, store })
    })
  }
  for (const { options: { stores, table } } of all) if (stores !== undefined) open(stores, table, [table])
  return { stores: opened, late }
}

/** Returns the tables of the same database in whose rows the users of a table are nested. */
function parentsOf (users: readonly ResolvedDeclaration[], table: string): readonly string[] {
  return users.flatMap(({ parent, options: { stores } }) =>
    parent === undefined || parent.options.stores !== stores || parent.options.table === table
      ? []
      : [parent.options.table])
}

/** Returns a table with all that must be opened before it. */
function ancestorsOf (table: string, parentsOf: (table: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set([table])
  for (const one of found) for (const parent of parentsOf(one)) found.add(parent)
  return found
}

/** Finds the references that are foreign keys: those to a resource with the same `stores` that is declared by now. */
function findTargets (
  registration: Pick<Registration, 'app'>,
  declarations: readonly ResolvedDeclaration[],
  all: readonly ResolvedDeclaration[]
): void {
  const { app, app: { prefix } } = registration
  const place = ({ options, inherited: { path } }: ResolvedDeclaration): ReferencePlace =>
    ({ options, registration, path: path.join('/'), prefix })
  const known = [...declarations.map(place), ...registryOf(app).resources]
  for (const one of all) {
    const { stores, references, schema } = one.options
    if (stores === undefined) continue
    const isAttribute = (name: string): boolean => Object.hasOwn(asObject(schema?.properties) ?? {}, name)
    const find = (attribute: string, reference: ResolvedReference): ResolvedReference => {
      const [target, ...others] = findNamed(reference.to, place(one), known)
      const isMember = splitReference(attribute, isAttribute).member !== undefined
      const canBeKey = !isMember && reference.key === undefined && reference.check && others.length === 0
      const isKey = canBeKey && target?.options.stores === stores
      return { ...reference, target: isKey ? target?.options : undefined }
    }
    const found = new Map([...references].map(([attribute, reference]) => [attribute, find(attribute, reference)]))
    one.options = Object.freeze({ ...one.options, references: found })
  }
}

function listNested (declaration: ResolvedDeclaration): ResolvedDeclaration[] {
  return [declaration, ...declaration.children.flatMap(listNested)]
}

/**
 * Returns the table that all its users together need.
 * @throws InvalidOptionError if they contradict each other
 */
function requestTable (table: string, users: TableUsers): TableRequest {
  const references = joinReferences(users)
  return {
    table,
    id: joinIds(users),
    attributes: joinAttributes(users, references),
    unique: joinUnique(users),
    ...joinSoftDelete(users),
    references: Object.fromEntries(references)
  }
}

/** Returns the foreign keys to tables of the same database, by attribute. */
function joinReferences (users: readonly ResolvedDeclaration[]): ReadonlyMap<string, Reference> {
  const references = new Map<string, Reference>()
  for (const { options, parent, foreignKey } of users) {
    if (foreignKey === undefined || parent === undefined || parent.options.stores !== options.stores) continue
    const { table } = parent.options
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
  for (const { options } of users) {
    for (const [attribute, { target, onDelete = 'restrict' }] of options.references) {
      if (target === undefined) continue
      const { table } = target
      checkKey(options, attribute, target.idType, onDelete)
      const known = references.get(attribute) ?? { table, onDelete, optional: true }
      if (known.table !== table || (known.onDelete ?? 'restrict') !== onDelete) {
        const other = `refers to "${known.table}" with '${known.onDelete ?? 'restrict'}' in another resource of`
        refuse(options, 'references', `has "${attribute}" with '${onDelete}' to "${table}", which ${other}`)
      }
      references.set(attribute, known)
    }
  }
  return references
}

/** Checks that an attribute can be a foreign key. An undeclared attribute is refused later. */
function checkKey (options: ResolvedOptions, attribute: string, idType: IdType, onDelete: OnDelete): void {
  const { shape, required } = shapeOf(options.schema ?? {}).properties.get(attribute) ?? {}
  if (shape === undefined) return
  const isFit = idType === 'uuid' ? shape.format === 'uuid' : shape.only === 'integer'
  const wanted = idType === 'uuid' ? "UUIDs, so it needs the format 'uuid'" : "integers, so it needs the type 'integer'"
  if (!isFit) refuse(options, 'references', `has "${attribute}", whose values are ${wanted} in`)
  if (onDelete === 'set null' && required === true && !shape.types.has('null')) {
    refuse(options, 'references', `has "${attribute}" with 'set null', but the attribute cannot be null in`)
  }
}

function joinIds (users: TableUsers): 'integer' | 'uuid' {
  const [{ options: { idType: first } }] = users
  for (const { options } of users) {
    const { idType } = options
    if (idType === 'string') refuse(options, 'id', "is 'string', but must be 'integer' or 'uuid' in")
    if (idType !== first) refuse(options, 'id', `is '${idType}', but '${first}' in another resource of`)
  }
  return first === 'uuid' ? first : 'integer'
}

/** Returns the unique groups of all users. A nested singleton without a scope of its own is unique for each parent. */
function joinUnique (users: readonly ResolvedDeclaration[]): TableRequest['unique'] {
  const groups = users.flatMap(({ options: { unique } }) => unique)
  const keys = users.map(({ singleton, options: { routing }, foreignKey }) =>
    singleton && routing.scope.length === 0 ? foreignKey : undefined)
  const [key] = keys
  if (key !== undefined && keys.every((other) => other === key)) groups.push(key)
  return [...new Map(groups.map((group) => [JSON.stringify([group].flat()), group])).values()]
}

/** Returns the attribute with the time of a deletion. A resource without the option shares it. */
function joinSoftDelete (users: TableUsers): Pick<TableRequest, 'softDelete'> {
  const [first, ...others] = users.filter(({ options: { softDelete } }) => softDelete !== undefined)
  const attribute = first?.options.softDelete?.attribute
  for (const { options } of others) {
    const other = options.softDelete?.attribute
    if (other !== attribute) refuse(options, 'softDelete', `is '${other}', but '${attribute}' in another resource of`)
  }
  return attribute === undefined ? {} : { softDelete: attribute }
}

/**
 * Returns the schema of the attributes of all users, with those of their scopes and foreign keys. An attribute is
 * required if each user requires it.
 */
function joinAttributes (users: TableUsers, references: ReadonlyMap<string, Reference>): AttributesSchema | undefined
// Each user's schema has been checked to be one of attributes, or will be when its resource is compiled.
function joinAttributes (users: TableUsers, references: ReadonlyMap<string, Reference>): object | undefined {
  const schemas: Schema[] = []
  for (const { options: { schema, scopeAttributes }, parent, foreignKey } of users) {
    if (schema === undefined) return undefined
    const key = foreignKey === undefined || parent === undefined
      ? {}
      : { [foreignKey]: ID_SCHEMAS[parent.options.idType] }
    const own = { ...asObject(schema.properties), ...scopeAttributes, ...key }
    const required = [...requiredOf(schema), ...Object.keys(scopeAttributes), ...Object.keys(key)]
    schemas.push({ ...schema, properties: own, required })
  }
  const all = schemas.reduce((joined, schema) => joinSchemas(joined, schema))
  const properties = { ...all.properties as Schema }
  const required = requiredOf(all)
  for (const { parent, foreignKey } of users) {
    if (parent === undefined || foreignKey === undefined) continue
    const { type, ...rest } = ID_SCHEMAS[parent.options.idType]
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
