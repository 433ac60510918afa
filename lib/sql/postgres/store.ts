import { InvalidOptionError } from '../../core/errors.js'
import type { AttributesOf } from '../../core/schema/infer.js'
import type { Attributes, AttributesSchema } from '../../core/schema/types.js'
import { checkBoolean, checkOptionNames } from '../../core/util/check-option.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import { findMember } from '../../core/util/own-property.js'
import { quoteTable } from '../dialect.js'
import {
  checkOptions,
  checkUndescribed,
  hasAttributes,
  requireAttributes,
  type SqlStoreOptions
} from '../options.js'
import { describeItself, type SelfDescribing, type SelfDescribingOptions } from '../self-describing.js'
import { makeSqlStore, type SqlStore, type SqlTransactionContext } from '../store.js'
import type { Context, Store, Stores, TransactionOptions } from '../../core/stores/store.js'
import { describePostgresTable } from './describe/describe-postgres.js'
import { postgresDialect as dialect } from './dialect.js'
import type { PostgresPool } from './client.js'
import { PostgresDriver, type PostgresSettings } from './driver.js'

export type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './client.js'

/** The options of `postgresStore`. */
export interface PostgresStoreOptions<S extends AttributesSchema = AttributesSchema>
  extends SqlStoreOptions<S>, PostgresOptions {}

/** The options of `postgresStore` and `postgresStores` for the database. */
export interface PostgresOptions {
  /** A pool of pg. The store listens to its errors, so that a lost connection does not end the process. */
  readonly pool: PostgresPool
  /** The schema of the table. @default the one that `search_path` finds */
  readonly schema?: string
  /** The time to wait for a connection before a 503, in milliseconds. 0 sets no limit. @default 5000 */
  readonly acquireTimeout?: number
  /**
   * The time that a statement may take before a 503, in milliseconds. A write answers 504 if it may have happened: if
   * the server hangs, or if there are several servers. The connections of the pool get it as their `statement_timeout`.
   * With 0, they get their default, and the store sets no limit. @default 10000
   */
  readonly statementTimeout?: number
  /** The number of times to try a statement that conflicts with others (40001, 40P01). @default 10 */
  readonly attempts?: number
}

/** A store in PostgreSQL. */
export interface PostgresStore<A = Attributes> extends SqlStore<A> {
  /**
   * Runs a function in a transaction on one connection of the pool. It has the isolation level of the database, unless
   * the options name another. Of the rows with the ids of the options, each is locked first, in the order of the ids.
   * @throws UnavailableError if it conflicts with others, UnknownOutcomeError if the connection is lost at the end
   */
  transaction<T> (
    run: (context: SqlTransactionContext) => MaybePromise<T>,
    context: Context,
    options?: TransactionOptions
  ): Promise<T>
}

/**
 * Makes a store in a table of a PostgreSQL database (12 or later). Citus may distribute the table. Each write is one
 * statement, which is correct at every level of isolation. Without `attributes`, the table describes itself.
 * @throws InvalidOptionError, UnknownOptionError or InvalidAttributesError if an option is wrong
 */
export function postgresStore (options: SelfDescribingOptions & PostgresOptions): SelfDescribing<PostgresStore>
export function postgresStore<const S extends AttributesSchema> (
  options: PostgresStoreOptions<S>
): PostgresStore<AttributesOf<S>>
export function postgresStore (options: PostgresStoreOptions | (SelfDescribingOptions & PostgresOptions)): Store {
  return hasAttributes(options) ? openStore(options) : openTable(options)
}

/** Makes a store that describes itself. */
function openTable (options: SelfDescribingOptions & PostgresOptions): Store {
  const { table, schema, softDelete } = options
  checkUndescribed(options, POSTGRES_OPTIONS, 'postgresStore')
  const driver = makeDriver(options)
  return describeItself({
    table,
    schema,
    softDelete,
    describe: () => describePostgresTable(driver, { table, schema }),
    tables: () => driver.tables(),
    hasTransactions: true,
    createsMany: true,
    open: (described) => openStore({ ...options, ...described })
  })
}

function makeDriver (options: PostgresOptions & { readonly table: string }): PostgresDriver {
  const { table, schema } = options
  return new PostgresDriver({ ...checkDatabase(options), name: table, table: quoteTable(dialect, table, schema) })
}

function openStore (options: PostgresStoreOptions): PostgresStore {
  const { pool, schema, acquireTimeout, statementTimeout, attempts, ...common } = options
  checkOptions(common, POSTGRES_OPTIONS, 'postgresStore')
  const driver = makeDriver(options)
  // The schema has validated the rows that the store keeps.
  return makeSqlStore({ ...common, schema }, dialect, driver) as PostgresStore
}

const POSTGRES_OPTIONS: readonly string[] = ['pool', 'schema', 'acquireTimeout', 'statementTimeout', 'attempts']

function checkDatabase (
  { pool, schema, acquireTimeout = 5000, statementTimeout = 10_000, attempts = 10 }: PostgresOptions
): Omit<PostgresSettings, 'name' | 'table'> {
  if (typeof findMember(pool, 'connect') !== 'function') {
    throw new InvalidOptionError('pool', 'must be a pool of pg')
  }
  if (schema !== undefined && (typeof schema !== 'string' || schema === '')) {
    throw new InvalidOptionError('schema', 'must be the name of a schema')
  }
  for (const [name, value] of Object.entries({ acquireTimeout, statementTimeout })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new InvalidOptionError(name, 'must be a number of milliseconds')
    }
  }
  if (!Number.isSafeInteger(attempts) || attempts < 1) {
    throw new InvalidOptionError('attempts', 'must be a number from 1')
  }
  return { pool, acquireTimeout, statementTimeout, attempts }
}

/**
 * Makes stores in one PostgreSQL database, a table for each resource. With `migrate` (default true), registration
 * creates the tables, foreign keys and indexes that are missing.
 * @throws InvalidOptionError, UnknownOptionError
 *
 * @example
 * draw((map) => map.resources('posts', { attributes }), { stores: postgresStores({ pool }) })
 */
export function postgresStores (options: PostgresOptions & { readonly migrate?: boolean }): Stores {
  const { migrate = true, ...database } = options
  checkOptionNames(database, [...POSTGRES_OPTIONS, 'migrate'], 'postgresStores')
  checkBoolean('migrate', migrate)
  checkDatabase(database)
  return Object.freeze<Stores>({
    open: (request) => postgresStore({ ...database, ...requireAttributes(request), migrate })
  })
}
