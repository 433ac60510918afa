// The entry `fastify-resources/database`: a database that exists already as resources.
export { database } from './database.js'
export { describeDatabase } from './open-tables.js'
export type {
  DatabaseOptions, DatabaseSource, PostgresTables, SqliteFileTables, SqliteTables, TableOptions, TableReport,
  TablesOptions
} from './options.js'
export type { NameOf } from './resource-names.js'
export type { TableDescription } from '../sql/tables/description.js'
export type { DescribeOptions } from '../sql/tables/selection.js'
