// The entry `fastify-resources/sqlite`: stores in tables of SQLite.
export { sqliteStore, sqliteStores } from './store.js'
export type { SqliteDatabase, SqliteStatement } from './statement.js'
export type { SqliteOptions, SqliteSource, SqliteStore, SqliteStoreOptions } from './store.js'
export type { SqlStoreOptions } from '../options.js'
export type { SelfDescribing, SelfDescribingOptions } from '../self-describing.js'
export type { SqlStore, SqlTransactionContext } from '../store.js'
export type { TableDescription } from '../tables/description.js'
export type { TablePlan } from '../tables/migration.js'
