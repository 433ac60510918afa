import { InvalidOptionError } from '../core/errors.js'
import { findMember } from '../core/util/own-property.js'
import { describePostgres } from '../sql/postgres/describe/describe-postgres.js'
import type { PostgresPool } from '../sql/postgres/driver.js'
import { describeSqlite } from '../sql/sqlite/describe/describe-sqlite.js'
import type { SqliteDatabase } from '../sql/sqlite/driver.js'
import type { TableDescription } from '../sql/tables/description.js'
import { checkSelection, type DescribeOptions } from '../sql/tables/selection.js'

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
