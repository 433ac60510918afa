import { InvalidAttributesError, InvalidOptionError } from '../core/errors.js'
import { postgresStore } from '../sql/postgres/store.js'
import { optionsOf } from '../sql/self-describing.js'
import { describeDatabase } from './describe-database.js'
import type { TableDescription } from '../sql/tables/description.js'
import { selectTables } from '../sql/tables/selection.js'
import { sqliteStore } from '../sql/sqlite/store.js'
import type { Store } from '../core/stores/store.js'
import { checkKnown } from '../core/util/check-option.js'
import type { DatabaseOptions } from './options.js'
import { addTitles, tableOptionsOf } from './resource-options.js'
import type { Connection } from './source.js'

/** A table with its store, which is `undefined` if the table cannot be served. */
export interface OpenTable {
  readonly table: TableDescription
  readonly store: Store | undefined
}

/**
 * Describes the tables, and opens the stores of those that can be served.
 * @throws InvalidOptionError if an option names an unknown table, or a description of the app does not fit its table
 */
export async function openTables (connection: Connection, options: DatabaseOptions): Promise<readonly OpenTable[]> {
  const { tables: given = {}, descriptions } = options
  const tables = await describe(connection, options)
  // Without a write, nothing in a file changes, not even its journal mode. The description says what writes it allows.
  if (options.file !== undefined && options.write !== true) connection.database?.exec('PRAGMA query_only = ON')
  const names = tables.map(({ name }) => name)
  for (const name of Object.keys(given)) checkKnown('tables', name, names)
  return Promise.all(tables.map(async (table): Promise<OpenTable> => {
    if (!table.isServed) return { table, store: undefined }
    try {
      const { store } = tableOptionsOf(given, table) as { readonly store?: Store }
      return { table, store: await (store ?? openStore(table, connection)) }
    } catch (error) {
      const isUnfit = error instanceof InvalidOptionError || error instanceof InvalidAttributesError
      // A description of the app is to be repaired. Our own one must not keep the other tables from being served.
      if (!isUnfit || descriptions !== undefined) throw error
      return {
        table: { ...table, isServed: false, problems: [...table.problems, { problem: error.message }] },
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
  const selected = selectTables(descriptions.map(({ name }) => name), { only, except })
  return descriptions.filter(({ name }) => selected.includes(name))
}

/** Makes the store of a table, and checks that the table fits. */
async function openStore (table: TableDescription, { pool, database }: Connection): Promise<Store> {
  const { name, schema } = table
  const attributes = addTitles(table)
  const options = { ...optionsOf(table), table: name, attributes }
  const opened: Store = pool === undefined
    ? sqliteStore({ ...options, database })
    : postgresStore({ ...options, pool, ...(schema !== undefined && { schema }) })
  const { prepare, ...store } = opened
  await prepare?.()
  // The registration of the resource need not check the table once more. The description says what a create must give.
  return { ...store, attributes }
}
