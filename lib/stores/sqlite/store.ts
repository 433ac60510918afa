import { InvalidOptionError } from '../../errors.js'
import type { AttributesOf } from '../../schema/infer.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { findMember } from '../../util/own-property.js'
import { checkOptions, type SqlStoreOptions } from '../sql/options.js'
import { makeSqlStore, type SqlStore } from '../sql/store.js'
import type { SyncStore } from '../store.js'
import { sqliteDialect as dialect } from './dialect.js'
import { makeDurable, type SqliteDatabase, SqliteDriver } from './driver.js'

export type { SqliteDatabase, SqliteStatement } from './driver.js'

/** The options of `sqliteStore`. */
export interface SqliteStoreOptions<S extends AttributesSchema = AttributesSchema> extends SqlStoreOptions<S> {
  /** An open database. The store turns the write-ahead log on, and each commit waits for the disk. */
  readonly database: SqliteDatabase
  /** The time that a write waits for other processes before it answers 503, in milliseconds. @default 5000 */
  readonly busyTimeout?: number
}

/** A store in SQLite. Its methods return their results synchronously. */
export interface SqliteStore<A = Attributes> extends SyncStore<A> {
  readonly id: SqlStore['id']
  readonly attributes: AttributesSchema
  readonly capabilities: SqlStore['capabilities']
  /** Creates the table and its unique indexes if they are missing. */
  migrate (): void
  prepare (): void
}

/**
 * Makes a store in a table of an SQLite database (3.43 or later). A write returns when it is on the disk. Several
 * processes may have the same file open.
 * @throws InvalidOptionError, UnknownOptionError or InvalidAttributesError if an option is wrong
 */
export function sqliteStore<const S extends AttributesSchema> (
  options: SqliteStoreOptions<S>
): SqliteStore<AttributesOf<S>> {
  const { database, busyTimeout = 5000, ...common } = options
  checkOptions(common, ['database', 'busyTimeout'])
  if (typeof findMember(database, 'prepare') !== 'function') {
    throw new InvalidOptionError('database', 'must be an open database of better-sqlite3, libsql or node:sqlite')
  }
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw new InvalidOptionError('busyTimeout', 'must be a number of milliseconds')
  }
  makeDurable(database, busyTimeout)
  const store: SqlStore<unknown> = makeSqlStore(common, dialect, new SqliteDriver(database, options.table))
  // The driver is synchronous, so the store is synchronous too. The schema has validated the rows that the store keeps.
  return store as SqliteStore<AttributesOf<S>>
}
