import { InvalidOptionError } from '../../errors.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { AttributesOf } from '../../schema/infer.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { quoteTable } from '../sql/dialect.js'
import { checkOptions, type SqlStoreOptions } from '../sql/options.js'
import { makeSqlStore, type SqlStore } from '../sql/store.js'
import type { Context, Guard, Query, Written } from '../store.js'
import { postgresDialect as dialect } from './dialect.js'
import { PostgresDriver, type PostgresPool } from './driver.js'

export type { PostgresClient, PostgresPool, PostgresQuery } from './driver.js'

/** The options of `postgresStore`. */
export interface PostgresStoreOptions<S extends AttributesSchema = AttributesSchema> extends SqlStoreOptions<S> {
  /** A pool of pg. The store listens to its errors, so that a lost connection does not end the process. */
  readonly pool: PostgresPool
  /** The schema of the table. @default where `search_path` finds it */
  readonly schema?: string
  /** In milliseconds: how long to wait for a connection before a 503. 0: forever. @default 5000 */
  readonly acquireTimeout?: number
  /**
   * In milliseconds: how long a statement may take before a 503. If there are several servers, a write answers 504,
   * because another server may have written. The pool's connections get it as their `statement_timeout`. 0: they keep
   * their own, and statements may take forever. @default 10000
   */
  readonly statementTimeout?: number
  /** How often to try a statement that conflicts with others (40001, 40P01). @default 10 */
  readonly attempts?: number
}

/** A store whose five methods answer by promises. */
export interface PostgresStore<A = Attributes> extends SqlStore<A> {
  migrate (): Promise<void>
  prepare (): Promise<void>
  list (query: Query, context: Context): AsyncIterable<ReadonlyArray<Row<A>>>
  get (id: Id, scope: Scope, context: Context): Promise<Row<A> | undefined>
  create (attributes: A, scope: Scope, context: Context): Promise<Row<A>>
  update (id: Id, changes: Partial<A>, guard: Guard, context: Context): Promise<Written<A>>
  delete (id: Id, guard: Guard, context: Context): Promise<Written<A>>
}

/**
 * Makes a store in a table of a PostgreSQL database (12 or later), which Citus may have distributed. Each method is one
 * statement, right at every level of isolation.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function postgresStore<const S extends AttributesSchema> (
  options: PostgresStoreOptions<S>
): PostgresStore<AttributesOf<S>> {
  const { pool, schema, acquireTimeout = 5000, statementTimeout = 10_000, attempts = 10, ...common } = options
  checkOptions(common, ['pool', 'schema', 'acquireTimeout', 'statementTimeout', 'attempts'])
  if (typeof (pool as Partial<PostgresPool> | undefined)?.connect !== 'function') {
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
  const table = quoteTable(dialect, options.table, schema)
  const driver = new PostgresDriver({ pool, name: options.table, table, acquireTimeout, statementTimeout, attempts })
  const store = makeSqlStore({ ...common, schema }, dialect, driver)
  // Answers that need no database are promises too.
  return Object.freeze<PostgresStore>({
    ...store,
    list: store.list as PostgresStore['list'],
    migrate: async () => store.migrate(),
    prepare: async () => store.prepare(),
    get: async (id: Id, scope: Scope, context: Context) => store.get(id, scope, context),
    create: async (attributes: Attributes, scope: Scope, context: Context) => store.create(attributes, scope, context),
    update: async (id: Id, changes: Attributes, guard: Guard, context: Context) =>
      store.update(id, changes, guard, context),
    delete: async (id: Id, guard: Guard, context: Context) => store.delete(id, guard, context)
    // The schema has validated what the store keeps.
  }) as PostgresStore<any>
}
