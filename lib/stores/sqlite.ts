import { InvalidOptionError, StoreFullError, UnavailableError } from '../errors.js'
import { decodeInteger, decodeNumber, decodeText, type Kind } from './sql/column.js'
import { ConstraintError, type Dialect, type Driver, type RawRow, type Statement, type Table } from './sql/dialect.js'
import { checkOptions, makeSqlStore, type SqlStore, type SqlStoreOptions } from './sql/store.js'
import type { Attributes, Guard, Id, Query, Scope, Stored, Written } from './store.js'

/** What is used of a prepared statement: that of better-sqlite3, libsql and node:sqlite. */
export interface SqliteStatement {
  all (...values: unknown[]): unknown
  run (...values: unknown[]): unknown
}

/** What is used of an open database: that of better-sqlite3, libsql and node:sqlite. */
export interface SqliteDatabase {
  prepare (sql: string): SqliteStatement
}

export interface SqliteStoreOptions extends SqlStoreOptions {
  /** An open database. Its journal is made a write-ahead log, and each commit waits for the disk. */
  readonly database: SqliteDatabase
  /** How long a write waits for those of other processes, in milliseconds; then it is a 503. @default 5000 */
  readonly busyTimeout?: number
}

/** The five methods, all answering at once. */
export interface SqliteStore extends SqlStore {
  migrate (): void
  prepare (): void
  list (query: Query, context: Parameters<SqlStore['list']>[1]): Iterable<readonly Stored[]>
  get (id: Id, scope: Scope): Stored | undefined
  create (attributes: Attributes, scope: Scope): Stored
  update (id: Id, changes: Attributes, guard: Guard): Written
  delete (id: Id, guard: Guard): Written
}

/**
 * A store in a table of an SQLite database (3.37 or later). A write that is answered is on the disk. Several processes
 * may have the same file open.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function sqliteStore (options: SqliteStoreOptions): SqliteStore {
  const { database, busyTimeout = 5000, ...common } = options
  checkOptions(common, ['database', 'busyTimeout'])
  if (typeof (database as Partial<SqliteDatabase> | undefined)?.prepare !== 'function') throw new InvalidOptionError('database', 'must be an open database of better-sqlite3, libsql or node:sqlite')
  if (!Number.isSafeInteger(busyTimeout) || busyTimeout < 0) throw new InvalidOptionError('busyTimeout', 'must be a number of milliseconds')
  makeDurable(database, busyTimeout)
  // Its driver answers at once, and so does it.
  return makeSqlStore(common, dialect, new SqliteDriver(database, options.table)) as SqliteStore
}

/** On each opening: SQLite keeps the journal's mode in the file, and forgets how far a commit goes. */
function makeDurable (database: SqliteDatabase, busyTimeout: number): void {
  // By `all` what answers, by `run` what does not: the other way round better-sqlite3 throws, and libsql leaves the
  // statement open, and with it a transaction that swallows every write that follows.
  database.prepare(`PRAGMA busy_timeout = ${busyTimeout}`).all()
  const [mode] = database.prepare('PRAGMA journal_mode = WAL').all() as Array<{ journal_mode: string }>
  database.prepare('PRAGMA synchronous = FULL').run()
  database.prepare('PRAGMA foreign_keys = ON').run()
  // A database in memory has a journal of its own, and nothing to lose.
  if (mode?.journal_mode !== 'wal' && mode?.journal_mode !== 'memory') throw new InvalidOptionError('database', `must be able to keep a write-ahead log; its journal is "${mode?.journal_mode}"`)
}

const toText = (value: unknown): unknown => value
const dialect: Dialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  placeholder: () => '?',
  longestName: Infinity,
  sameCase: false,
  nullsFirst: true,
  columnType: { string: 'TEXT', 'date-time': 'TEXT', date: 'TEXT', integer: 'INTEGER', number: 'REAL', boolean: 'INTEGER', json: 'TEXT' },
  collation: ' COLLATE BINARY',
  idType: { integer: 'INTEGER PRIMARY KEY AUTOINCREMENT', uuid: 'TEXT PRIMARY KEY NOT NULL' },
  versionType: 'INTEGER NOT NULL DEFAULT 1',
  tableOptions: ' STRICT',
  fits: (kind, type) => FITTING[kind].test(type),
  fitsId: (id, type) => id === 'integer' ? /^INTEGER$/i.test(type) : FITTING.string.test(type),
  encode: { string: toText, 'date-time': toText, date: toText, integer: toText, number: toText, boolean: (value) => value === true ? 1 : 0, json: JSON.stringify },
  decode: {
    string: decodeText,
    'date-time': decodeText,
    date: decodeText,
    integer: decodeInteger,
    number: decodeNumber,
    boolean: (raw) => raw !== 0 && raw !== 0n,
    json: (raw) => JSON.parse(String(raw))
  }
}

// The declared type decides how a column changes what it is given (SQLite, "Datatypes In SQLite" §3.1).
const TEXTUAL = /CHAR|CLOB|TEXT/i
const FITTING: Readonly<Record<Kind, RegExp>> = {
  string: TEXTUAL,
  'date-time': /CHAR|CLOB|TEXT|^(?:DATETIME|TIMESTAMP)/i,
  date: /CHAR|CLOB|TEXT|^DATE/i,
  integer: /INT/i,
  number: /REAL|FLOA|DOUB|^(?:NUMERIC|DECIMAL)/i,
  boolean: /INT|^BOOL/i,
  json: /CHAR|CLOB|TEXT|^JSON$/i
}

class SqliteDriver implements Driver {
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
      const prepared = this.#kept.get(statement) ?? this.#prepare(statement)
      // Never by `get`: of an INSERT … RETURNING it hides that the commit has failed, and in libsql it leaves a snapshot open.
      if (statement.returns) return prepared.all(...values) as RawRow[]
      prepared.run(...values)
      return []
    } catch (error) {
      throw this.#explain(error as SqliteError)
    }
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
    const columns = this.#query<{ name: string, type: string, notnull: number, dflt_value: unknown, pk: number, hidden: number }>('SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)', this.#table)
    if (columns.length === 0) return undefined
    const indexed = this.#query<{ index: string, column: string | null }>('SELECT list.name AS "index", info.name AS "column" FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info WHERE list."unique" = 1 AND list.partial = 0', this.#table)
    const indexes = [...new Set(indexed.map(({ index }) => index))]
    const [made] = this.#query<{ sql: string }>('SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE', this.#table)
    return {
      columns: columns.map(({ name, type, notnull, dflt_value: fallback, pk, hidden }) => ({ name, type, notNull: notnull === 1 || pk > 0, filled: fallback !== null || hidden > 0 || (pk > 0 && /^INTEGER$/i.test(type)) })),
      unique: [columns.filter(({ pk }) => pk > 0).map(({ name }) => name), ...indexes.map((name) => indexed.filter(({ index }) => index === name).map(({ column }) => column ?? ''))],
      reusesIds: /AUTOINCREMENT/i.test(String(made?.sql)) ? undefined : 'must be INTEGER PRIMARY KEY AUTOINCREMENT: without that, SQLite gives the id of a deleted row to another one'
    }
  }

  #query<R> (text: string, ...values: unknown[]): R[] {
    return this.#database.prepare(text).all(...values) as R[]
  }

  /** Its text is the only thing in which the drivers agree. */
  #explain (error: SqliteError): unknown {
    const { message } = error
    for (const [kind, pattern] of CONSTRAINTS) {
      const [, told] = pattern.exec(message) ?? []
      if (told !== undefined) return new ConstraintError(kind, this.#columnsIn(kind, told), error)
    }
    if (hasCode(error, 5, 'SQLITE_BUSY') || hasCode(error, 6, 'SQLITE_LOCKED')) return new UnavailableError({ cause: error })
    // The latter is what a quota's end comes as.
    if (hasCode(error, 13, 'SQLITE_FULL') || hasCode(error, 778, 'SQLITE_IOERR_WRITE')) return new StoreFullError({ cause: error })
    return error
  }

  #columnsIn (kind: ConstraintError['kind'], told: string): string[] {
    if (kind === 'reference') return this.#query<{ from: string }>('SELECT "from" FROM pragma_foreign_key_list(?)', this.#table).map(({ from }) => from)
    // The words of an expression or of a constraint's name, of which some may be columns.
    if (kind === 'check') return [...told.matchAll(/[\p{L}\p{N}_]+/gu)].map(([word]) => word)
    return told.split(', ').map((column) => column.slice(this.#table.length + 1))
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

/** better-sqlite3 and libsql tell a code's name, node:sqlite its number. */
interface SqliteError extends Error {
  readonly code?: unknown
  readonly errcode?: unknown
}

/** `number` of up to 255 stands for all codes that extend it. */
function hasCode ({ code, errcode }: SqliteError, number: number, name: string): boolean {
  if (typeof errcode === 'number') return errcode === number || (errcode & 0xff) === number
  return typeof code === 'string' && code.startsWith(name)
}
