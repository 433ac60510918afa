import { InvalidOptionError, StoreFullError, UnavailableError, UnknownOutcomeError } from '../../errors.js'
import { findMember } from '../../util/own-property.js'
import { ConstraintError } from '../sql/constraint-errors.js'
import { type Driver, groupIndexes, type RawRow, type Statement, type Table, type TableName } from '../sql/dialect.js'

/** The members of a prepared statement that a store uses, in better-sqlite3, libsql and node:sqlite. */
export interface SqliteStatement {
  /** Runs the statement, and returns all rows. */
  all (...values: unknown[]): unknown
}

/** The members of an open database that a store uses, in better-sqlite3, libsql and node:sqlite. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare (sql: string): SqliteStatement
  /** Runs statements that return no rows. */
  exec (sql: string): unknown
}

/** Makes commits wait for the disk. SQLite keeps the journal mode in the file, but not the other settings. */
export function makeDurable (database: SqliteDatabase, busyTimeout: number): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeout}`)
  keepLog(database, busyTimeout)
  database.exec('PRAGMA synchronous = FULL')
  database.exec('PRAGMA foreign_keys = ON')
  const [row] = readRows<{ journal_mode: string }>(database.prepare('PRAGMA journal_mode'))
  const mode = row?.journal_mode
  // A database in memory needs no log, because nothing of it outlives the process.
  if (mode !== 'wal' && mode !== 'memory') {
    throw new InvalidOptionError('database', `must support a write-ahead log, but its journal mode is "${mode}"`)
  }
}

/** Turns the write-ahead log on. Waits for other processes here, because SQLite itself does not. */
function keepLog (database: SqliteDatabase, busyTimeout: number): void {
  const deadline = Date.now() + busyTimeout
  while (isBusyWith(database, 'PRAGMA journal_mode = WAL', deadline)) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

function isBusyWith (database: SqliteDatabase, sql: string, deadline: number): boolean {
  try {
    database.exec(sql)
    return false
  } catch (error) {
    if (isBusy(error) && Date.now() <= deadline) return true
    throw error
  }
}

/** Runs statements on a database, and translates errors. */
export class SqliteDriver implements Driver {
  readonly sync = true
  readonly #database: SqliteDatabase
  readonly #table: string
  readonly #kept = new Map<Statement, SqliteStatement>()

  constructor (database: SqliteDatabase, table: string) {
    this.#database = database
    this.#table = table
  }

  run (statement: Statement, values: readonly unknown[]): readonly RawRow[] {
    try {
      if (statement.returns) return statement.writes ? this.#write(statement, values) : this.#all(statement, values)
      this.#database.exec(statement.text)
      return []
    } catch (error) {
      throw this.#explain(error, statement)
    }
  }

  /**
   * Returns the rows of a statement. It calls `all`, because `get` hides a failed commit of INSERT … RETURNING, and
   * leaves a snapshot open in libsql.
   */
  #all (statement: Statement, values: readonly unknown[]): readonly RawRow[] {
    const prepared = this.#kept.get(statement) ?? this.#prepare(statement)
    return readRows<RawRow>(prepared, values)
  }

  /**
   * Writes in a transaction that `exec` begins and ends. Otherwise, libsql would leave a prepared statement open that
   * has found the database busy, and would lose the writes that follow.
   */
  #write (statement: Statement, values: readonly unknown[]): readonly RawRow[] {
    if (!this.#begin()) return this.#all(statement, values)
    try {
      const rows = this.#all(statement, values)
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

  #prepare (statement: Statement): SqliteStatement {
    const prepared = this.#database.prepare(statement.text)
    if (statement.kept) this.#kept.set(statement, prepared)
    return prepared
  }

  needsCollation (): boolean {
    return false
  }

  describe (): Table | undefined {
    const columns = this.#query<{
      name: string
      type: string
      notnull: number
      dflt_value: unknown
      pk: number
      hidden: number
    }>('SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)', this.#table)
    if (columns.length === 0) return undefined
    const indexed = this.#query<{ index: string; column: string | null }>(
      'SELECT list.name AS "index", info.name AS "column" FROM pragma_index_list(?) AS list, ' +
        'pragma_index_info(list.name) AS info WHERE list."unique" = 1 AND list.partial = 0',
      this.#table
    )
    const [made] = this.#query<{ sql: string }>(
      'SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE',
      this.#table
    )
    const key = columns.filter(({ pk }) => pk > 0)
    return {
      columns: columns.map(({ name, type, notnull, dflt_value: fallback, pk, hidden }) => ({
        name,
        type,
        notNull: notnull === 1 || pk > 0,
        // SQLite fills in a single primary key of this type, which is the number of the row.
        filled: fallback !== null || hidden > 0 || (pk > 0 && key.length === 1 && /^INTEGER$/i.test(type)),
        generated: hidden > 0
      })),
      unique: [key.map(({ name }) => name), ...groupIndexes(indexed)],
      reusesIds: COUNTS_UP.test(String(made?.sql).replace(COMMENTS, ' '))
        ? undefined
        : 'must be INTEGER PRIMARY KEY AUTOINCREMENT: without that, SQLite gives the id of a deleted row to another one'
    }
  }

  tables (): readonly TableName[] {
    return this.#query<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).map(({ name }) => ({ name, schema: undefined, isVisible: true }))
  }

  #query<R> (text: string, ...values: unknown[]): R[] {
    return readRows(this.#database.prepare(text), values)
  }

  /** Translates an error of a driver. Reads the message if the drivers have no code in common. */
  #explain (error: unknown, { writes }: Statement): unknown {
    const message = String(findMember(error, 'message'))
    for (const [kind, pattern] of CONSTRAINTS) {
      const [, violated] = pattern.exec(message) ?? []
      if (violated !== undefined) return new ConstraintError(kind, this.#columnsIn(kind, violated), error)
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

  #columnsIn (kind: ConstraintError['kind'], text: string): string[] {
    if (kind === 'reference') {
      return this.#query<{ from: string }>('SELECT "from" FROM pragma_foreign_key_list(?)', this.#table).map(
        ({ from }) => from
      )
    }
    // Some words of an expression may be columns. A single word is probably the name of the constraint.
    if (kind === 'check') return /^\w*$/.test(text) ? [] : [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map(([word]) => word)
    const own = `${this.#table}.`.toLowerCase()
    return text.split(', ').flatMap((column) => column.toLowerCase().startsWith(own) ? [column.slice(own.length)] : [])
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
/** Matches `PRIMARY KEY AUTOINCREMENT` in the SQL of a table, without its comments and texts. */
const COUNTS_UP = /PRIMARY\s+KEY\b[^,()]*\bAUTOINCREMENT\b/i
const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g

/** Runs a statement of this package and returns its rows, whose columns are those of `R`. */
function readRows<R> (statement: SqliteStatement, values: readonly unknown[] = []): R[] {
  return statement.all(...values) as R[]
}

function isBusy (error: unknown): boolean {
  return hasCode(error, 5, 'SQLITE_BUSY') || hasCode(error, 6, 'SQLITE_LOCKED')
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
