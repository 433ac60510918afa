import { InvalidOptionError } from '../../../core/errors.js'
import { didYouMean } from '../../../core/util/words.js'
import type { RawRow } from '../../dialect.js'
import { describeTable } from '../../tables/describe-table.js'
import type { TableDescription } from '../../tables/description.js'
import { type DescribeOptions, selectTables } from '../../tables/selection.js'
import { PostgresDriver, type PostgresPool } from '../driver.js'
import { CATALOG_QUERY } from './catalog-query.js'
import { type CatalogParts, readCatalog } from './catalog-reader.js'

/**
 * Describes the tables and views of a PostgreSQL database.
 * @throws InvalidOptionError if a schema or a table does not exist
 */
export async function describePostgres (
  pool: PostgresPool,
  { schema, only, except }: DescribeOptions
): Promise<TableDescription[]> {
  const limits = { acquireTimeout: 5000, statementTimeout: 10_000, attempts: 10 }
  const driver = new PostgresDriver({ pool, name: '', table: '', ...limits })
  const ask = (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> =>
    driver.run({ text, writes: false, returns: true, kept: false }, values)
  const find = async (only?: readonly string[]): Promise<CatalogParts> =>
    readParts(await ask(CATALOG_QUERY, [schema, only === undefined ? undefined : JSON.stringify(only)]))
  const parts = await find(only)
  if (parts.table.length === 0 && schema !== undefined) {
    const schemas = (await ask(SCHEMAS, [])).map(({ name }) => String(name))
    if (!schemas.includes(schema)) {
      throw new InvalidOptionError('schema', `is "${schema}", which does not exist${didYouMean(schema, schemas)}`)
    }
  }
  const names = parts.table.map(({ name }) => name)
  const isKnown = (only ?? []).every((name) => names.includes(name))
  const selected = selectTables(isKnown ? names : (await find()).table.map(({ name }) => name), { only, except })
  return readCatalog(parts, selected).map(describeTable)
}

/** Describes a table or view of a PostgreSQL database. Returns `undefined` if it is missing. */
export async function describePostgresTable (
  driver: PostgresDriver,
  { table, schema }: { readonly table: string, readonly schema: string | undefined }
): Promise<TableDescription | undefined> {
  const statement = { text: CATALOG_QUERY, writes: false, returns: true, kept: false }
  const parts = readParts(await driver.run(statement, [schema, JSON.stringify([table])]))
  const [found] = readCatalog(parts, [table])
  return found && describeTable(found)
}

const SCHEMAS = 'SELECT nspname AS name FROM pg_catalog.pg_namespace'

function readParts (rows: readonly RawRow[]): CatalogParts {
  const parts: CatalogParts = { table: [], column: [], type: [], constraint: [], index: [] }
  for (const { part, found } of rows) parts[part as keyof CatalogParts].push(JSON.parse(String(found)))
  return parts
}
