// The entry `fastify-resources/postgres`: stores in tables of PostgreSQL.
export { postgresStore, postgresStores } from './store.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './client.js'
export type { PostgresOptions, PostgresStore, PostgresStoreOptions } from './store.js'
export type { SqlStoreOptions } from '../options.js'
export type { SelfDescribing, SelfDescribingOptions } from '../self-describing.js'
export type { SqlStore, SqlTransactionContext } from '../store.js'
export type { TableDescription } from '../tables/description.js'
export type { TablePlan } from '../tables/migration.js'
