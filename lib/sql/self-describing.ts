import { InvalidOptionError } from '../core/errors.js'
import type { AttributesSchema } from '../core/schema/types.js'
import type { Capabilities, Store } from '../core/stores/store.js'
import type { MaybePromise } from '../core/util/maybe-promise.js'
import type { SearchIndex, TableName } from './dialect.js'
import type { SqlStoreOptions } from './options.js'
import type { TableDescription } from './tables/description.js'
import { missingTable } from './tables/table-check.js'

/** The options of a store that finds its attributes, its key and the rest in the table itself. */
export interface SelfDescribingOptions {
  /** The name of the table or view. */
  readonly table: string
  /** The attribute with the time of a soft deletion. @default none */
  readonly softDelete?: string
  /** The full text index by which lists are searched. @default none */
  readonly search?: SearchIndex | undefined
  readonly attributes?: never
}

/** A store `T` that describes itself. What it tells about itself is known after `describe`. */
export type SelfDescribing<T extends Store> =
  Omit<T, 'id' | 'attributes' | 'key' | 'unique' | 'onDelete' | 'versions' | 'capabilities' | 'plan' | 'migrate'> &
  Pick<Store, 'id' | 'attributes' | 'key' | 'unique' | 'onDelete' | 'versions' | 'capabilities'> &
  Required<Pick<T, 'prepare'>> & { describe: T['prepare'] & {} }

/** What the options of a store say about its table. */
export type DescribedOptions = Pick<SqlStoreOptions, 'attributes' | 'id' | 'key' | 'columns' | 'version' | 'unique'>

/** Returns the options of the store of a table that was described, whose rows have a soft deletion. */
export function optionsOf (
  { attributes, id, key, columns, version, unique: whole, uniqueWhereNull = {} }: TableDescription,
  softDelete?: string
): DescribedOptions {
  const partial = new Map(Object.entries(uniqueWhereNull)).get(softDelete ?? '') ?? []
  const unique = [...whole, ...partial]
  // A key determines the type of its ids, except that rows with the same key have texts as their ids.
  const ids = key === undefined ? { id } : { key, ...(id === 'string' && { id }) }
  return { attributes, columns, version, unique, ...ids }
}

/** How a store finds out about its table. */
export interface TableSource {
  readonly table: string
  /** The schema of the option, or `undefined`. */
  readonly schema: string | undefined
  readonly softDelete: string | undefined
  /** Describes the table. Returns `undefined` if it is missing. */
  describe (): Promise<TableDescription | undefined>
  /** Lists the tables of the database. */
  tables (): Promise<readonly TableName[]>
  /** Makes the store of the described table. */
  open (options: DescribedOptions): Store
  /** Whether the store has transactions. */
  readonly hasTransactions: boolean
  /** Whether the store creates several rows together. @default false */
  readonly createsMany?: boolean
  /** Keeps what the store has opened until `close` is called. */
  retain? (): void
  close? (): MaybePromise<void>
}

/** Makes a store that opens another one as soon as the table is described. */
export function describeItself (source: TableSource): Store {
  const { table, softDelete, close, hasTransactions, createsMany } = source
  let opened: Store | undefined
  let attributes: AttributesSchema | undefined
  let capabilities: Capabilities | undefined
  let onDelete: Store['onDelete']
  const known = (): Store => {
    if (opened !== undefined) return opened
    throw new InvalidOptionError('attributes', `of "${table}" are unknown; await prepare() of the store first`)
  }
  const learn = async (): Promise<void> => {
    if (opened !== undefined) return
    const description = await findTable(source)
    const store = source.open(optionsOf(description, softDelete))
    const { canCreate, canUpdate, canDelete, needsVersion } = description
    onDelete = description.onDelete
    // A store cannot demand that a request names a version.
    capabilities = Object.freeze({
      ...store.capabilities,
      create: canCreate && !needsVersion,
      update: canUpdate && !needsVersion,
      delete: canDelete && !needsVersion
    })
    // The store itself takes each attribute of a key for required.
    attributes = description.attributes
    opened = store
  }
  return Object.freeze<Store>({
    get id () { return opened?.id },
    get attributes () { return attributes },
    get key () { return opened?.key },
    get unique () { return opened?.unique },
    get onDelete () { return onDelete },
    get versions () { return opened?.versions },
    get capabilities () { return capabilities },
    get requests () { return opened?.requests },
    describe () {
      source.retain?.()
      return learn()
    },
    async prepare () {
      await learn()
      return (known() as Required<Store>).prepare()
    },
    list: (...call) => known().list(...call),
    count: (...call) => (known() as Required<Store>).count(...call),
    get: (...call) => known().get(...call),
    create: (...call) => known().create(...call),
    ...(createsMany === true && { createMany: (...call) => (known() as Required<Store>).createMany(...call) }),
    update: (...call) => known().update(...call),
    delete: (...call) => known().delete(...call),
    ...(hasTransactions && { transaction: (...call) => (known() as Required<Store>).transaction(...call) }),
    ...(close && { close })
  })
}

/** @throws InvalidOptionError if the table is missing or cannot be served */
async function findTable (source: TableSource): Promise<TableDescription> {
  const { table, schema } = source
  const description = await source.describe()
  if (description === undefined) {
    const tables = await source.tables()
    throw missingTable(source, tables, listTables(schema, tables))
  }
  if (description.isServed) return description
  const problems = description.problems.map(({ problem }) => problem).join(' ').replace(/\.$/, '')
  throw new InvalidOptionError('table', `is "${table}", which cannot be served: ${problems}`)
}

/** The most tables that an error lists. */
const MOST_TABLES = 10

/** Says what to do about a missing table. Lists the tables of the schema if they are few. */
function listTables (schema: string | undefined, tables: readonly TableName[]): string {
  const names = tables
    .filter((table) => schema === undefined ? table.isVisible : table.schema === schema)
    .map(({ name }) => `"${name}"`)
  const cure = 'create it, or give the store "attributes" and "migrate: true"'
  return names.length === 0 || names.length > MOST_TABLES ? cure : `${cure}; the tables are ${names.join(', ')}`
}
