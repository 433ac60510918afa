import { InvalidOptionError } from '../../errors.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { AttributesOf } from '../../schema/infer.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { checkOptions, type SqlStoreOptions } from '../sql/options.js'
import { makeSqlStore, type SqlStore } from '../sql/store.js'
import type { Context, Guard, Query, Written } from '../store.js'
import { sqliteDialect as dialect } from './dialect.js'
import { makeDurable, type SqliteDatabase, SqliteDriver } from './driver.js'

export type { SqliteDatabase, SqliteStatement } from './driver.js'

/** The options of `sqliteStore`. */
export interface SqliteStoreOptions<S extends AttributesSchema = AttributesSchema> extends SqlStoreOptions<S> {
  /** An open database. The store turns the write-ahead log on, and each commit waits for the disk. */
  readonly database: SqliteDatabase
  /** In milliseconds: how long a write waits for other processes before it answers 503. @default 5000 */
  readonly busyTimeout?: number
}

/** A store whose five methods answer synchronously. */
export interface SqliteStore<A = Attributes> extends SqlStore<A> {
  migrate (): void
  prepare (): void
  list (query: Query, context: Context): Iterable<ReadonlyArray<Row<A>>>
  get (id: Id, scope: Scope, context?: Context): Row<A> | undefined
  create (attributes: A, scope: Scope, context?: Context): Row<A>
  update (id: Id, changes: Partial<A>, guard: Guard, context?: Context): Written<A>
  delete (id: Id, guard: Guard, context?: Context): Written<A>
}

/**
 * Makes a store in a table of an SQLite database (3.43 or later). A write that answers is on the disk. Several
 * processes may have the same file open.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function sqliteStore<const S extends AttributesSchema> (
  options: SqliteStoreOptions<S>
): SqliteStore<AttributesOf<S>> {
  const { database, busyTimeout = 5000, ...common } = options
  checkOptions(common, ['database', 'busyTimeout'])
  if (typeof (database as Partial<SqliteDatabase> | undefined)?.prepare !== 'function') {
    throw new InvalidOptionError('database', 'must be an open database of better-sqlite3, libsql or node:sqlite')
  }
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw new InvalidOptionError('busyTimeout', 'must be a number of milliseconds')
  }
  makeDurable(database, busyTimeout)
  // The driver is synchronous, so the store is. The schema has validated what it keeps.
  return makeSqlStore(common, dialect, new SqliteDriver(database, options.table)) as SqliteStore<any>
}
