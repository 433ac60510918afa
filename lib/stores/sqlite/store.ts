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

/** What `sqliteStore` takes. */
export interface SqliteStoreOptions<S extends AttributesSchema = AttributesSchema> extends SqlStoreOptions<S> {
  /** An open database. Its journal is made a write-ahead log, and each commit waits for the disk. */
  readonly database: SqliteDatabase
  /** How long a write waits for those of other processes, in milliseconds; then it is a 503. @default 5000 */
  readonly busyTimeout?: number
}

/** The five methods, all answering at once. */
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
 * A store in a table of an SQLite database (3.43 or later). A write that is answered is on the disk. Several processes
 * may have the same file open.
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
  // Its driver answers at once, and so does it; what it keeps has been validated by the schema.
  return makeSqlStore(common, dialect, new SqliteDriver(database, options.table)) as SqliteStore<any>
}
