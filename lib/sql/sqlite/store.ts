import { existsSync } from 'node:fs'
import { InvalidOptionError } from '../../core/errors.js'
import type { AttributesOf } from '../../core/schema/infer.js'
import type { Attributes, AttributesSchema } from '../../core/schema/types.js'
import { checkBoolean, checkOptionNames } from '../../core/util/check-option.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import { findMember } from '../../core/util/own-property.js'
import {
  checkOptions,
  checkUndescribed,
  hasAttributes,
  requireAttributes,
  type SqlStoreOptions
} from '../options.js'
import { describeItself, type SelfDescribing, type SelfDescribingOptions } from '../self-describing.js'
import { makeSqlStore, type SqlStore } from '../store.js'
import type { TablePlan } from '../tables/migration.js'
import type { Store, Stores } from '../../core/stores/store.js'
import { describeSqliteTable } from './describe/describe-sqlite.js'
import { sqliteDialect as dialect } from './dialect.js'
import { openAtStart, shareDatabase, type SqliteConnection, SqliteDriver } from './driver.js'
import { checkReadTimeout, openFile, shareFile } from './file.js'
import type { SqliteDatabase } from './statement.js'

export type { SqliteDatabase, SqliteStatement } from './statement.js'

/** The options of `sqliteStore`. */
export type SqliteStoreOptions<S extends AttributesSchema = AttributesSchema> = SqlStoreOptions<S> & SqliteOptions

/** The database of `sqliteStore` and `sqliteStores`: the path of a file, or an open database. */
export type SqliteOptions = SqliteSource & {
  /**
   * The time that a write waits for other connections before it answers 503, in milliseconds. Meanwhile the app serves
   * other requests. @default 5000
   */
  readonly busyTimeout?: number
}

/** The database: the path of a file, or an open connection. */
export type SqliteSource =
  | {
    /**
     * The path of the file, which is created if it is missing. The first use opens it by `node:sqlite` (Node.js 22.13),
     * else by better-sqlite3 or libsql if the app has installed one. All stores of the process with the same file,
     * `busyTimeout` and `readTimeout` share one connection, and another one for transactions. They are closed when the
     * last app with one of these stores is closed.
     */
    readonly file: string
    /**
     * The time that a count, or a batch of a list, may take before a 503, in milliseconds. Another process makes these
     * reads, outside of transactions, and is killed then. The app serves other requests meanwhile. @default 0, no limit
     */
    readonly readTimeout?: number
    readonly database?: never
    readonly connect?: never
  }
  | {
    /** An open database, which the app closes itself. The write-ahead log is turned on, and each commit waits. */
    readonly database: SqliteDatabase
    readonly file?: never
    readonly readTimeout?: never
    /**
     * Opens another connection to the same database, for transactions. The store closes it. Without this option, the
     * store has no transactions.
     */
    readonly connect?: () => SqliteDatabase
  }

/** A store in SQLite. A write waits while another connection holds the lock of the database. */
export interface SqliteStore<A = Attributes> extends SqlStore<A> {
  /** Returns what must be done so that the table fits. It does not even create the file. */
  plan (): Promise<TablePlan>
  /**
   * Closes the connections of the option `file`, or that of `connect`, unless an app still uses the database. The next
   * use opens them again. A connection that the app has opened stays open. With `readTimeout`, returns a promise.
   */
  close (): MaybePromise<void>
}

/**
 * Makes a store in a table of an SQLite database (3.43 or later). A write returns when it is on the disk. Several
 * processes may have the same file open. Without `attributes`, the table describes itself.
 * @throws InvalidOptionError, UnknownOptionError or InvalidAttributesError if an option is wrong
 */
export function sqliteStore (options: SelfDescribingOptions & SqliteOptions): SelfDescribing<SqliteStore>
export function sqliteStore<const S extends AttributesSchema> (
  options: SqliteStoreOptions<S>
): SqliteStore<AttributesOf<S>>
export function sqliteStore (options: SqliteStoreOptions | (SelfDescribingOptions & SqliteOptions)): Store {
  return hasAttributes(options) ? openStore(options) : openTable(options)
}

/** Makes a store that describes itself. */
function openTable (options: SelfDescribingOptions & SqliteOptions): Store {
  const { table, softDelete } = options
  checkUndescribed(options, SQLITE_OPTIONS, 'sqliteStore')
  checkReserved(table)
  const connection = connect(options)
  return describeItself({
    table,
    schema: undefined,
    softDelete,
    describe: async () => describeSqliteTable(await openAtStart(connection), table),
    tables: () => new SqliteDriver(connection, table).tables(),
    open: (described) => openStore({ ...options, ...described }),
    hasTransactions: connection.second.open !== undefined,
    retain () { connection.retain() },
    close () { return connection.release() }
  })
}

function openStore (options: SqliteStoreOptions): SqliteStore {
  const { database, file, connect: _, busyTimeout = BUSY_TIMEOUT, readTimeout: _limit, ...common } = options
  checkOptions(common, SQLITE_OPTIONS, 'sqliteStore')
  checkReserved(options.table)
  if (common.search?.configuration !== undefined) {
    throw new InvalidOptionError('search', 'has "configuration", which only PostgreSQL has')
  }
  const connection = connect(options)
  const store: SqlStore<unknown> = makeSqlStore(common, dialect, new SqliteDriver(connection, options.table))
  // The schema has validated the rows.
  return Object.freeze({
    ...store,
    async plan () {
      if (file === undefined) return store.plan()
      // An empty database stands for a file that is missing. The other connection would change the journal mode.
      const reader = existsSync(file) ? shareFile(file, busyTimeout, { isReadOnly: true }) : openFile(':memory:', 0)
      reader.retain()
      try {
        return await makeSqlStore(common, dialect, new SqliteDriver(reader, options.table)).plan()
      } finally {
        reader.release()
      }
    },
    async migrate () {
      await openAtStart(connection)
      await store.migrate()
    },
    async prepare () {
      connection.retain()
      await openAtStart(connection)
      return store.prepare()
    },
    close () { return connection.release() }
  }) as SqliteStore
}

/**
 * Makes stores in one SQLite database, a table for each resource. With `migrate` (default true), registration creates
 * the tables, foreign keys and indexes that are missing.
 * @throws InvalidOptionError, UnknownOptionError
 *
 * @example
 * draw((map) => map.resources('posts', { attributes }), { stores: sqliteStores({ file: 'blog.sqlite' }) })
 */
export function sqliteStores (options: SqliteOptions & { readonly migrate?: boolean }): Stores {
  const { migrate = true, ...database } = options
  checkOptionNames(database, [...SQLITE_OPTIONS, 'migrate'], 'sqliteStores')
  checkBoolean('migrate', migrate)
  connect(database)
  return Object.freeze<Stores>({
    open: (request) => sqliteStore({ ...database, ...requireAttributes(request), migrate })
  })
}

/** Refuses the names that SQLite keeps for its own tables, in any case ("CREATE TABLE" §2). */
function checkReserved (table: string): void {
  if (!/^sqlite_/i.test(table)) return
  const reason = 'names that begin with "sqlite_" are those of SQLite itself'
  throw new InvalidOptionError('table', `must not be "${table}": ${reason}`)
}

/** The options that SQLite has besides those of all SQL stores. */
export const SQLITE_OPTIONS: readonly string[] = ['database', 'file', 'connect', 'busyTimeout', 'readTimeout']

/** The time that a write waits for other processes, in milliseconds. */
const BUSY_TIMEOUT = 5000

/** Returns the connection to the database that the options name. @throws InvalidOptionError */
function connect (
  { database, file, connect: open, busyTimeout = BUSY_TIMEOUT, readTimeout }: SqliteOptions
): SqliteConnection {
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) {
    throw new InvalidOptionError('busyTimeout', 'must be a number of milliseconds')
  }
  checkReadTimeout(readTimeout, file)
  if (file !== undefined && database !== undefined) {
    throw new InvalidOptionError('file', 'must not be given together with "database", which is open already')
  }
  if (open !== undefined && (typeof open !== 'function' || file !== undefined)) {
    throw new InvalidOptionError('connect', 'must be a function that opens the "database" once more')
  }
  if (file !== undefined) return shareFile(file, busyTimeout, { readTimeout })
  if (typeof findMember(database, 'prepare') !== 'function') {
    throw new InvalidOptionError(
      'database',
      'must be an open database of better-sqlite3, libsql or node:sqlite; or give the path of a "file"'
    )
  }
  return shareDatabase(database, busyTimeout, open)
}
