import { InvalidOptionError, StoreFullError, UnavailableError, UnknownOutcomeError } from '../../core/errors.js'
import { findMember } from '../../core/util/own-property.js'
import { ConstraintError } from '../constraint-errors.js'
import type { Context } from '../../core/stores/store.js'
import type { Transactions, TransactionSource } from '../../core/stores/transaction.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import {
  type Driver, groupIndexes, quoteName, type RawRow, type Statement, type Table, type TableName
} from '../dialect.js'
import type { Reader } from './reader.js'
import { type SqliteSession, TransactionConnection } from './session.js'
import { close, prepare, readRows, type RunPrepared, type SqliteDatabase } from './statement.js'
import { type PragmaReference, type ReadRows, readStructure } from './structure.js'
import { WriteQueue } from './write-queue.js'

/** A database, and another connection to it for transactions. */
export class SqliteConnection {
  readonly queue: WriteQueue
  readonly second: TransactionConnection
  /** Reads lists in another process; `undefined` if they have no limit of time. */
  reader: Reader | undefined
  readonly #open: () => SqliteDatabase
  readonly #isOwn: boolean
  #database: SqliteDatabase | undefined
  #users = 0

  /**
   * @param open opens the database, or throws an error if it finds the database locked
   * @param isOwn whether the connection closes the database, and opens the second connection in the same way
   */
  constructor (busyTimeout: number, open: () => SqliteDatabase, isOwn: boolean, reader?: Reader) {
    this.queue = new WriteQueue(busyTimeout, isBusy)
    this.second = new TransactionConnection(this.queue, isOwn ? open : undefined)
    this.#open = open
    this.#isOwn = isOwn
    this.reader = reader
  }

  /** Returns the open database. It opens at the first use, and again at a use after it was closed. */
  use (): SqliteDatabase {
    this.#database ??= this.#open()
    return this.#database
  }

  /** Keeps what was opened until `release` was called as often as `retain`. */
  retain (): void {
    this.#users++
  }

  release (): MaybePromise<void> {
    this.#users = Math.max(0, this.#users - 1)
    if (this.#users > 0) return
    this.second.close()
    if (!this.#isOwn) return
    // The last connection writes the log to the file, which a reader cannot do.
    return this.reader === undefined ? this.#close() : this.reader.close().then(() => { this.#close() })
  }

  #close (): void {
    if (this.#users > 0) return
    close(this.#database)
    this.#database = undefined
  }
}

/** Opens a connection at the start of an app, when it may have to wait for other processes. */
export function openAtStart (connection: SqliteConnection): Promise<SqliteDatabase> {
  return connection.queue.run(() => connection.use())
}

/** The databases that the app has opened, by their timeouts. */
const DATABASES = new WeakMap<SqliteDatabase, Map<number, SqliteConnection>>()

/** Returns a database that the app has opened. All stores with the same timeout get the same one. */
export function shareDatabase (
  database: SqliteDatabase,
  busyTimeout: number,
  connect: (() => SqliteDatabase) | undefined
): SqliteConnection {
  const known = DATABASES.get(database) ?? new Map<number, SqliteConnection>()
  DATABASES.set(database, known)
  const shared = known.get(busyTimeout) ?? new SqliteConnection(busyTimeout, () => makeDurable(database), false)
  try {
    // Opens the database at once, so that one that does not fit is refused early.
    shared.use()
  } catch (error) {
    if (!isBusy(error)) throw error
  }
  known.set(busyTimeout, shared)
  shared.second.open ??= connect && (() => makeDurable(connect()))
  return shared
}

/**
 * The time that the driver itself waits for a lock, in milliseconds. The process does nothing else meanwhile. A read
 * meets a lock only while another connection begins or ends with the file.
 */
const DRIVER_TIMEOUT = 5

/**
 * Makes commits wait for the disk. SQLite keeps the journal mode in the file, but not the other settings. A database
 * that allows only queries keeps its journal mode.
 */
export function makeDurable (database: SqliteDatabase): SqliteDatabase {
  database.exec(`PRAGMA busy_timeout = ${DRIVER_TIMEOUT}`)
  const [access] = readRows<{ query_only: number }>(database.prepare('PRAGMA query_only'))
  if (access?.query_only === 1) return database
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec('PRAGMA foreign_keys = ON')
  const [row] = readRows<{ journal_mode: string }>(database.prepare('PRAGMA journal_mode'))
  const mode = row?.journal_mode
  // A database in memory needs no log, because nothing of it outlives the process.
  if (mode !== 'wal' && mode !== 'memory') {
    throw new InvalidOptionError('database', `must support a write-ahead log, but its journal mode is "${mode}"`)
  }
  return database
}

/** Runs statements on a database, and translates errors. */
export class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection
  readonly #table: string
  /** The prepared statements of each database, by their texts. A closed database is collected together with them. */
  readonly #kept = new WeakMap<SqliteDatabase, Map<string, RunPrepared>>()
  readonly transactions: Transactions<SqliteSession>
  readonly source: TransactionSource<SqliteSession> | undefined

  constructor (connection: SqliteConnection, table: string) {
    this.#connection = connection
    this.#table = table
    const { second } = connection
    this.transactions = second.transactions
    this.source = second.open && second.sourceFor((error) => this.#explain(error, true))
  }

  get #database (): SqliteDatabase {
    return this.#connection.use()
  }

  async run (
    statement: Statement,
    values: readonly unknown[],
    context?: Context,
    session?: SqliteSession
  ): Promise<readonly RawRow[]> {
    const { reader } = this.#connection
    const execute = (): readonly RawRow[] => this.#execute(statement, values)
    try {
      if (session !== undefined) return this.#prepare(statement, session.database)(values)
      if (reader !== undefined && context !== undefined) return await reader.run(statement, values, context)
      return statement.writes ? await this.#connection.queue.run(execute) : execute()
    } catch (error) {
      const explained = this.#explain(error, statement.writes && session === undefined)
      throw explained instanceof ConstraintError && explained.kind === 'reference'
        ? this.#blame(explained, statement, values, session?.database)
        : explained
    }
  }

  #execute (statement: Statement, values: readonly unknown[]): readonly RawRow[] {
    if (statement.returns) {
      const run = this.#prepare(statement)
      return statement.writes ? this.#write(() => run(values)) : run(values)
    }
    this.#database.exec([...statement.steps ?? [], statement.text].join('; '))
    return []
  }

  /**
   * Writes in a transaction, unless the app has begun one itself. Without it, libsql would leave a statement open that
   * has found the database busy, and would lose the writes that follow.
   */
  #write (run: () => readonly RawRow[]): readonly RawRow[] {
    if (!this.#begin()) return run()
    try {
      const rows = run()
      this.#database.exec('COMMIT')
      return rows
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** Begins a transaction. Returns false if the app has begun one itself. */
  #begin (): boolean {
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      return true
    } catch (error) {
      if (/within a transaction/.test(String(error))) return false
      throw error
    }
  }

  /** Rolls the transaction back. Ignores errors, because the failure may have ended the transaction already. */
  #rollBack (): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {}
  }

  #prepare (statement: Statement, database = this.#database): RunPrepared {
    const { text, kept } = statement
    const known = this.#kept.get(database) ?? new Map<string, RunPrepared>()
    this.#kept.set(database, known)
    const prepared = known.get(text) ?? prepare(database.prepare(text), statement)
    if (kept) known.set(text, prepared)
    return prepared
  }

  async describe (): Promise<Table | undefined> {
    const [{ type = 'table', wr = 0 } = {}] =
      this.#query<{ type?: string, wr?: number }>('SELECT type, wr FROM pragma_table_list(?)', this.#table)
    const query: ReadRows = (text, ...values) => this.#query(text, ...values)
    const { columns, indexes, partial, references, primaryKey, alias } = readStructure(query, this.#table, wr === 1)
    if (columns.length === 0) return undefined
    return {
      columns: columns.map(({ name, type, notnull, dflt_value: fallback, pk, hidden }) => ({
        name,
        type,
        notNull: notnull === 1 || name === alias || (pk > 0 && wr === 1),
        isKey: pk > 0,
        filled: fallback !== null || hidden > 0 || name === alias,
        generated: hidden > 0
      })),
      unique: [primaryKey, ...groupIndexes(indexes)],
      partial,
      references: references.filter(({ id }, index) => references.every((other, at) => at === index || other.id !== id))
        .map(({ from, table, onDelete }) => ({ column: from, table, onDelete })),
      kind: type === 'view' ? 'view' : 'table',
      hasRowNumber: type !== 'view' && wr === 0
    }
  }

  async tables (): Promise<readonly TableName[]> {
    return this.#query<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).map(({ name }) => ({ name, schema: undefined, isVisible: true }))
  }

  #query<R> (text: string, ...values: unknown[]): R[] {
    return readRows(this.#database.prepare(text), values)
  }

  /**
   * Translates an error of a driver. Reads the message if the drivers have no code in common.
   * @param writes whether the statement may have made a write lasting
   */
  #explain (error: unknown, writes: boolean): unknown {
    const message = String(findMember(error, 'message'))
    for (const [kind, pattern] of CONSTRAINTS) {
      const [, violated] = pattern.exec(message) ?? []
      if (violated === undefined) continue
      const tables = kind === 'reference' ? this.#findReferrers() : []
      return new ConstraintError(kind, this.#columnsIn(kind, violated), error, tables)
    }
    // A trigger raises this error with a message of its own.
    if (hasCode(error, 1811, 'SQLITE_CONSTRAINT_TRIGGER')) return new ConstraintError('check', [], error)
    if (isBusy(error)) return new UnavailableError({ cause: error })
    // SQLITE_IOERR_WRITE reports an exhausted quota.
    if (hasCode(error, 13, 'SQLITE_FULL') || hasCode(error, 778, 'SQLITE_IOERR_WRITE')) {
      return new StoreFullError({ cause: error })
    }
    // The write may still come back from the log when the machine restarts.
    if (writes && hasCode(error, 1034, 'SQLITE_IOERR_FSYNC')) return new UnknownOutcomeError({ cause: error })
    return error
  }

  /** Names a column that refers to nothing. SQLite does not say which of the foreign keys has refused a write. */
  #blame (
    error: ConstraintError,
    { fills = [] }: Statement,
    values: readonly unknown[],
    database = this.#database
  ): ConstraintError {
    const keys = this.#query<Pick<PragmaReference, 'table' | 'from'> & { to: string }>(FOREIGN_KEYS, this.#table)
    const broken = keys.find(({ table, from, to }) => {
      const value = values[fills.indexOf(from)] ?? null
      if (value === null) return false
      const text = `SELECT 1 FROM ${quoteName(table)} WHERE ${quoteName(to)} = ?`
      return readRows(database.prepare(text), [value]).length === 0
    })
    return broken === undefined ? error : new ConstraintError(error.kind, [broken.from], error.cause, error.tables)
  }

  /** Returns the tables whose foreign keys restrict deletions. SQLite does not say which of them has refused one. */
  #findReferrers (): string[] {
    return this.#query<{ name: string }>(REFERRERS, this.#table).map(({ name }) => name)
  }

  #columnsIn (kind: ConstraintError['kind'], text: string): string[] {
    if (kind === 'reference') {
      return this.#query<{ from: string }>('SELECT "from" FROM pragma_foreign_key_list(?)', this.#table).map(
        ({ from }) => from
      )
    }
    // Some words of an expression may be columns. A single word is probably the name of the constraint.
    if (kind === 'check') return /^\w*$/.test(text) ? [] : [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map(([word]) => word)
    // Each column follows the name of its table, in the spelling of CREATE TABLE. Names may contain commas.
    const own = text.slice(0, this.#table.length + 1)
    if (own.toLowerCase() !== `${this.#table}.`.toLowerCase()) return []
    return text.slice(own.length).split(`, ${own}`)
  }
}

const CONSTRAINTS: ReadonlyArray<readonly [ConstraintError['kind'], RegExp]> = [
  ['unique', /^UNIQUE constraint failed: (.*)/s],
  ['required', /^NOT NULL constraint failed: (.*)/s],
  ['check', /^CHECK constraint failed: (.*)/s],
  ['reference', /^(FOREIGN KEY) constraint failed/],
  ['value', /^cannot store \w+ value in \w+ column (.*)/s],
  ['value', /^string or blob (too big)/]
]
/** Selects the foreign keys of one column, with the column of the other table. */
const FOREIGN_KEYS = `SELECT own."table", own."from",
    coalesce(own."to", (SELECT name FROM pragma_table_info(own."table") WHERE pk = 1)) AS "to"
  FROM pragma_foreign_key_list(?) AS own GROUP BY own.id HAVING count(*) = 1`
const REFERRERS = `SELECT DISTINCT made.name AS name
  FROM sqlite_master AS made, pragma_foreign_key_list(made.name) AS referring
  WHERE made.type = 'table' AND referring."table" = ? COLLATE NOCASE
  AND referring.on_delete IN ('NO ACTION', 'RESTRICT') ORDER BY name`

/** Returns whether another connection has locked the database, or has kept a file from being opened. */
export function isBusy (error: unknown): boolean {
  return hasCode(error, 5, 'SQLITE_BUSY') || hasCode(error, 6, 'SQLITE_LOCKED') ||
    (error instanceof InvalidOptionError && isBusy(error.cause))
}

/**
 * Returns whether an error has a code, or an extension of it. The codes of better-sqlite3 and libsql are names. Those
 * of node:sqlite are numbers, whose lowest eight bits are the code without its extension.
 */
function hasCode (error: unknown, number: number, name: string): boolean {
  const code = findMember(error, 'code')
  const errcode = findMember(error, 'errcode')
  if (typeof errcode === 'number') return errcode === number || (errcode & 0xff) === number
  return typeof code === 'string' && code.startsWith(name)
}
