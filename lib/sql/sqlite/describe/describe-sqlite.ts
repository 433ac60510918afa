import { findMember } from '../../../core/util/own-property.js'
import { describeTable } from '../../tables/describe-table.js'
import type { TableDescription } from '../../tables/description.js'
import { type DescribeOptions, selectTables } from '../../tables/selection.js'
import type { SqliteDatabase } from '../driver.js'
import type { RunSampleQuery } from './sample.js'
import { fold, type ListedTable, SchemaReader } from './schema-reader.js'

/**
 * Describes the tables and views of an SQLite database.
 * @throws InvalidOptionError if a table does not exist
 */
export function describeSqlite (database: SqliteDatabase, options: DescribeOptions): TableDescription[] {
  const { tables, describe } = readSchema(database)
  const selected = selectTables(tables.map(({ name }) => name), options)
  return tables.filter(({ name }) => selected.includes(name)).map(describe)
}

/** Describes a table or view of an SQLite database. Returns `undefined` if it is missing. */
export function describeSqliteTable (database: SqliteDatabase, table: string): TableDescription | undefined {
  const { tables, describe } = readSchema(database)
  const found = tables.find(({ name }) => fold(name) === fold(table))
  return found && describe(found)
}

/** The tables and views of a database, and a function that describes one of them. */
interface SqliteSchema {
  readonly tables: readonly ListedTable[]
  readonly describe: (table: ListedTable) => TableDescription
}

function readSchema (database: SqliteDatabase): SqliteSchema {
  const query: RunSampleQuery = <R>(text: string, ...values: unknown[]) => database.prepare(text).all(...values) as R[]
  const tables = query<ListedTable>(TABLES)
  const reader = new SchemaReader(database, query, tables)
  return {
    tables,
    describe (table) {
      try {
        return describeTable(reader.read(table))
      } catch (error) {
        // A view may name a column that is missing, and a virtual table may need an extension.
        return describeTable(reader.readBroken(table, String(findMember(error, 'message'))))
      }
    }
  }
}

/** Selects the tables and views, except those of SQLite and those that belong to a virtual table. */
const TABLES = `SELECT l.name, l.type, l.wr AS isWithoutRowid, s.sql
  FROM pragma_table_list AS l JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
  WHERE l.schema = 'main' AND l.type <> 'shadow' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name`
