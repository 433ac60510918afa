import { findMember } from '../../core/util/own-property.js'
import type { RawRow } from '../dialect.js'

/** The members of an open database that a store uses, in better-sqlite3, libsql and node:sqlite. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare (sql: string): SqliteStatement
  /** Runs statements that return no rows. */
  exec (sql: string): unknown
}

/** The members of a prepared statement that a store uses, in better-sqlite3, libsql and node:sqlite. */
export interface SqliteStatement {
  /** Runs the statement, and returns all rows. */
  all (...values: unknown[]): unknown
  /** Runs the statement, and returns the first row. */
  get? (...values: unknown[]): unknown
  /** Runs a statement without rows. */
  run? (...values: unknown[]): unknown
  /** Whether the statement returns rows, in better-sqlite3 and libsql. Only then may `all` be called. */
  readonly reader?: boolean
  /** Makes integers BigInts, in better-sqlite3 and libsql. */
  safeIntegers? (isOn: boolean): unknown
  /** Makes integers BigInts, in node:sqlite. */
  setReadBigInts? (isOn: boolean): unknown
  /** Describes the columns of the rows. */
  columns? (): ReadonlyArray<{ readonly name: string }>
}

/** Closes a database. */
export function close (database: SqliteDatabase | undefined): void {
  const end = findMember(database, 'close')
  if (typeof end === 'function') end.call(database)
}

/** Runs a prepared statement with values, and returns its rows. */
export type RunPrepared = (values: readonly unknown[]) => readonly RawRow[]

/** The beginning of a statement that explains another one. */
export const EXPLAIN = 'EXPLAIN QUERY PLAN '

/** The members of a statement that its preparation depends on. */
interface PreparedText {
  readonly text: string
  /** Whether it writes, so that it cannot run again to read BigInts. */
  readonly writes: boolean
}

/** Prepares a statement. */
export function prepare (statement: SqliteStatement, { writes, text }: PreparedText): RunPrepared {
  if (writes) returnBigInts(statement, true)
  const read = writes ? readRows<RawRow> : text.startsWith(EXPLAIN) ? readPlan : readNumbers
  return (values) => read(statement, values)
}

function returnBigInts (statement: SqliteStatement, isOn: boolean): void {
  statement.safeIntegers?.(isOn)
  statement.setReadBigInts?.(isOn)
}

/**
 * Reads rows whose integers are numbers, because the decoding of BigInts takes as long as everything else. A number
 * would round an integer beyond 2^53, so rows that may have one are read again, as BigInts.
 */
function readNumbers (statement: SqliteStatement, values: readonly unknown[]): readonly RawRow[] {
  try {
    const rows = readRows<RawRow>(statement, values)
    if (!rows.some(mayBeRounded)) return rows
  } catch (error) {
    // node:sqlite does not round.
    if (findMember(error, 'code') !== 'ERR_OUT_OF_RANGE') throw error
  }
  returnBigInts(statement, true)
  try {
    return readRows<RawRow>(statement, values)
  } finally {
    returnBigInts(statement, false)
  }
}

function mayBeRounded (row: RawRow): boolean {
  for (const value of Object.values(row)) {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return true
  }
  return false
}

/**
 * Runs a statement of this package and returns its rows, whose columns are those of `R`. It calls `all`, because `get`
 * hides a failed commit of INSERT … RETURNING, and leaves a snapshot open in libsql.
 */
export function readRows<R> (statement: SqliteStatement, values: readonly unknown[] = []): R[] {
  return statement.all(...isTakenForNames(statement, values) ? [values] : values) as R[]
}

/**
 * Runs a statement that explains another one, and returns its rows. After `all`, libsql would leave it open: the
 * connection would read the rows as they are now for ever, and could not write. `get` ends it.
 */
export function readPlan (statement: SqliteStatement, values: readonly unknown[]): readonly RawRow[] {
  try {
    return readRows(statement, values)
  } finally {
    statement.get?.(...isTakenForNames(statement, values) ? [values] : values)
  }
}

/**
 * Returns whether the driver would take a single null or BLOB for an object of named parameters. libsql does, unless
 * the value is in a list. node:sqlite, whose statements have `sourceSQL`, refuses lists.
 */
function isTakenForNames (statement: SqliteStatement, values: readonly unknown[]): boolean {
  return values.length === 1 && typeof values[0] === 'object' && !('sourceSQL' in statement)
}
