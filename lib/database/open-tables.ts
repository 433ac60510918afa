import { parse } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { InvalidAttributesError, InvalidOptionError } from '../core/errors.js'
import type { ResourceOptions } from '../core/options/options.js'
import type { AttributesSchema } from '../core/schema/types.js'
import type { Store } from '../core/stores/store.js'
import { checkKnown } from '../core/util/check-option.js'
import { findMember, isObject } from '../core/util/own-property.js'
import { quoteName } from '../sql/dialect.js'
import {
  describePostgres, describePostgresIndex, namePostgres
} from '../sql/postgres/describe/describe-postgres.js'
import type { PostgresPool } from '../sql/postgres/client.js'
import { postgresStore } from '../sql/postgres/store.js'
import type { SqlStoreOptions } from '../sql/options.js'
import { optionsOf } from '../sql/self-describing.js'
import { describeSqlite, describeSqliteIndex } from '../sql/sqlite/describe/describe-sqlite.js'
import { openAtStart, shareDatabase } from '../sql/sqlite/driver.js'
import type { SqliteDatabase } from '../sql/sqlite/statement.js'
import { checkReadTimeout, shareFile } from '../sql/sqlite/file.js'
import { sqliteStore } from '../sql/sqlite/store.js'
import { nameTable, type TableDescription } from '../sql/tables/description.js'
import { checkSelection, type DescribeOptions, selectTables } from '../sql/tables/selection.js'
import { checkStamp, findLimits, limitAttributes, limitTable } from './attribute-limits.js'
import type { DatabaseOptions, TableOptions } from './options.js'
import { addTitles, tableOptionsOf } from './resource-options.js'

/** An open database. */
type Connection =
  | { readonly pool: PostgresPool, readonly database?: never }
  | {
    readonly pool?: never
    readonly database: SqliteDatabase
    /** The path of the database, if the plugin has opened it to write. Its stores have transactions. */
    readonly file?: string | undefined
    readonly readTimeout?: number | undefined
  }

/** The time that a write waits for other processes, in milliseconds: the default of `sqliteStore`. */
const BUSY_TIMEOUT = 5000

/**
 * Returns the database that the options name. A file is opened, and closed with the app.
 * @throws InvalidOptionError unless there is exactly one
 */
export async function connect (app: FastifyInstance, options: DatabaseOptions): Promise<Connection> {
  const { pool, database, file, readTimeout, schema, write = false } = options
  const given = Object.entries({ pool, database, file }).flatMap(([name, value]) => value === undefined ? [] : [name])
  const [name = 'pool', other] = given
  if (given.length === 0) {
    throw new InvalidOptionError(
      name,
      'is missing; give a pool of pg, or an open SQLite "database", or the path of a "file"'
    )
  }
  if (other !== undefined) throw new InvalidOptionError(other, `must not be given together with "${name}"`)
  if (schema !== undefined && pool === undefined) throw new InvalidOptionError('schema', 'is for PostgreSQL only')
  checkReadTimeout(readTimeout, file)
  if (pool !== undefined) {
    if (typeof findMember(pool, 'connect') === 'function') return { pool }
    throw new InvalidOptionError('pool', 'must be a pool of pg')
  }
  if (database !== undefined) return { database }
  const opened = shareFile(file, BUSY_TIMEOUT, { isReadOnly: !write, readTimeout })
  opened.retain()
  app.addHook('onClose', async () => opened.release())
  return { database: await openAtStart(opened), file: write ? file : undefined, readTimeout }
}

/** Returns the name of a database: that of its file, without the extension. A database in memory has none. */
export async function nameDatabase ({ pool, database }: Connection): Promise<string | undefined> {
  if (pool !== undefined) return namePostgres(pool)
  const [main] = database.prepare('PRAGMA database_list').all() as ReadonlyArray<{ readonly file: string | null }>
  return parse(main?.file ?? '').name || undefined
}

/**
 * Describes the tables and views of a database: their attributes, keys, references and rights. `source` is a pool of pg
 * or an open SQLite database. Nothing in the database changes.
 *
 * In SQLite, where a column may contain values of any type, it also looks at the first and the last 500 rows.
 * @throws InvalidOptionError if a schema or table does not exist, UnknownOptionError if an option is unknown,
 * UnavailableError if the database cannot be reached
 */
export async function describeDatabase (
  source: PostgresPool | SqliteDatabase,
  options: DescribeOptions = {}
): Promise<TableDescription[]> {
  checkSelection(options)
  if (typeof findMember(source, 'connect') === 'function') return describePostgres(source as PostgresPool, options)
  if (typeof findMember(source, 'prepare') !== 'function') {
    throw new InvalidOptionError('database', 'must be a pool of pg, or an open database of SQLite')
  }
  if (options.schema !== undefined) {
    throw new InvalidOptionError('schema', 'works only with PostgreSQL, because databases of SQLite have no schemas')
  }
  return describeSqlite(source as SqliteDatabase, options)
}

/** A table with its store, which is `undefined` if the table cannot be served. */
export interface OpenTable {
  readonly table: TableDescription
  readonly store: Store | undefined
  /** The attributes that clients see, if they are not those of the store. */
  readonly shown?: AttributesSchema
  /** What each write sets. */
  readonly stamps?: ResourceOptions['stamp']
}

/**
 * Describes the tables, and opens the stores of those that can be served.
 * @throws InvalidOptionError if an option names an unknown table, or a description of the app does not fit its table
 */
export async function openTables (connection: Connection, options: DatabaseOptions): Promise<readonly OpenTable[]> {
  const { tables: given = {}, descriptions } = options
  const tables = await describe(connection, options)
  // Without a write, nothing in a file changes, not even its journal mode. The description says what writes it allows.
  const { file, readTimeout, write } = options
  if (connection.database !== undefined && file !== undefined && write !== true) {
    connection.database.exec('PRAGMA query_only = ON')
    const { reader } = shareFile(file, BUSY_TIMEOUT, { isReadOnly: true, readTimeout })
    shareDatabase(connection.database, BUSY_TIMEOUT, undefined).reader = reader
  }
  const names = tables.map(nameTable)
  // An app may describe a table twice, with other names.
  const twice = descriptions === undefined && names.find((name, index) => names.indexOf(name) !== index)
  if (typeof twice === 'string') throw new InvalidOptionError('schema', `has two tables that are called "${twice}"`)
  // SQLite finds a table whatever the case of its letters.
  const indexes = new Set(Object.values(given).map((own) => indexOf(own)?.toLowerCase()))
  for (const name of Object.keys(given)) checkKnown('tables', name, names)
  const stamps = checkStamp(options.stamp ?? {}, tables)
  return Promise.all(tables.map(async (found): Promise<OpenTable> => {
    if (!found.isServed) return { table: found, store: undefined }
    // It would show the texts of all rows.
    if (options.only === undefined && connection.pool === undefined && indexes.has(found.name.toLowerCase())) {
      const problem = `The table "${found.name}" is a full text index, which is served only if "only" names it.`
      return { table: { ...found, isServed: false, problems: [{ problem }] }, store: undefined }
    }
    const own = tableOptionsOf(given, found) as TableOptions & { readonly store?: Store }
    const { store, attributes, search, stamp = {} } = own
    const ofTable = checkStamp(stamp, [found], `tables.${nameTable(found)}.stamp`)
    const limits = findLimits(found, hideIndex(found, own), { ...stamps, ...ofTable })
    const table = limitTable(found, limits)
    try {
      const opened = await (store ?? openStore(table, connection, own))
      if (limits.hidden.length + limits.stamps.length === 0) return { table, store: opened }
      return {
        table: { ...table, attributes: limitAttributes(table.attributes, limits) },
        store: opened,
        stamps: Object.fromEntries(limits.stamps),
        shown: limitAttributes(attributes ?? opened.attributes ?? table.attributes, limits)
      }
    } catch (error) {
      const isUnfit = error instanceof InvalidOptionError || error instanceof InvalidAttributesError
      // What the app has given is to be repaired. Our own description must not keep the other tables from being served.
      if (!isUnfit || descriptions !== undefined || isObject(search)) throw error
      return {
        table: { ...found, isServed: false, problems: [...table.problems, { problem: error.message }] },
        store: undefined
      }
    }
  }))
}

/** Returns the descriptions of the tables that the options select. */
async function describe (
  { pool, database }: Connection,
  { descriptions, schema, only, except }: DatabaseOptions
): Promise<readonly TableDescription[]> {
  if (descriptions === undefined) return describeDatabase(pool ?? database, { schema, only, except })
  const selected = selectTables(descriptions.map(nameTable), { only, except })
  return descriptions.filter((table) => selected.includes(nameTable(table)))
}

/** Makes the store of a table, and checks that the table fits. */
async function openStore (table: TableDescription, connection: Connection, own: TableOptions): Promise<Store> {
  const { name, schema } = table
  const { softDelete } = own
  const attributes = addTitles(table)
  const index = await findIndex(own, table, connection)
  const options = { ...optionsOf(table, softDelete), table: name, attributes, softDelete, ...index }
  const opened: Store = connection.pool === undefined
    ? openSqlite(options, connection)
    : postgresStore({ ...options, pool: connection.pool, ...(schema !== undefined && { schema }) })
  const { prepare, ...store } = opened
  await prepare?.()
  // The plugin itself keeps the file open.
  await store.close?.()
  // The registration of the resource need not check the table once more. The description says what a create must give.
  return { ...store, attributes, onDelete: table.onDelete }
}

/** Returns the full text index of a table that the options name. */
function indexOf ({ search }: TableOptions): string | undefined {
  return isObject(search) ? search.index : undefined
}

/** Hides the column that is a full text index, too, because it would show the words of hidden columns. */
function hideIndex ({ columns, attributes }: TableDescription, own: TableOptions): TableOptions['hide'] {
  const { hide = [] } = own
  const index = indexOf(own)
  const [attribute = ''] = Object.entries(columns).find(([, column]) => column === index) ?? [index]
  return Array.isArray(hide) && Object.hasOwn(attributes.properties, attribute) ? [...hide, attribute] : hide
}

/** Returns the option about a full text index, with what it leaves out and the database knows. */
async function findIndex (
  { search }: TableOptions,
  { name, schema, columns: names }: TableDescription,
  { pool, database }: Connection
): Promise<Pick<SqlStoreOptions, 'search'>> {
  if (!isObject(search)) return {}
  const index = String(search.index)
  const { columns, ...found } = pool === undefined
    ? { columns: describeSqliteIndex(database, index) }
    : await describePostgresIndex(pool, `${quoteName(schema as string)}.${quoteName(name)}`, index)
  const attributes = new Map(Object.entries(names).map(([attribute, column]) => [column, attribute]))
  const known = columns.map((column) => attributes.get(column) ?? column)
  const { of = known } = search
  const other = pool === undefined ? undefined : known.find((attribute) => !of.includes(attribute))
  if (other !== undefined) {
    throw new InvalidOptionError('search', `names "${index}", which also has "${other}"; add it to "of"`)
  }
  if (of.length > 0) return { search: { ...found, ...search, of } }
  throw new InvalidOptionError('search', `names "${index}", whose attributes are unknown; correct it, or add "of"`)
}

function openSqlite (
  options: SqlStoreOptions,
  { database, file, readTimeout = 0 }: Connection & { readonly pool?: never }
): Store {
  return file === undefined
    ? sqliteStore({ ...options, database })
    : sqliteStore({ ...options, file, busyTimeout: BUSY_TIMEOUT, readTimeout })
}
