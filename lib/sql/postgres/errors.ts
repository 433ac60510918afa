import { findMember } from '../../core/util/own-property.js'
import type { ConstraintError } from '../constraint-errors.js'

/** An error of pg about a violated constraint. Each part is absent if the database does not know it. */
export interface ViolationError {
  readonly detail?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
}

/** The SQLSTATEs of integrity constraint violations (PostgreSQL, Appendix A). Triggers raise P0001. */
export const CONSTRAINTS: ReadonlyMap<string, ConstraintError['kind']> = new Map([
  ['23505', 'unique'],
  ['23P01', 'unique'],
  ['23502', 'required'],
  ['23503', 'reference'],
  ['23001', 'reference'],
  ['23514', 'check'],
  ['P0001', 'check']
])

/** The SQLSTATE of a write that a policy of row security or a missing privilege forbids. */
export const FORBIDDEN = '42501'

/**
 * The SQLSTATE of a canceled query, mostly by `statement_timeout`. PostgreSQL rolls the statement back. In a cluster,
 * another server may commit its part of the statement after the first server has given up.
 */
export const CANCELED = '57014'

/** The SQLSTATE of a full disk. */
export const DISK_FULL = '53100'

/**
 * Matches the SQLSTATEs of a busy database: insufficient resources, lock not available, query canceled, read-only
 * transaction (a standby).
 */
export const BUSY: RegExp = /^(?:53|55P03|57014|25006)/

/**
 * The SQLSTATEs of unfit values: too long, out of range, wrongly encoded, no date, not in an enumeration, no range, no
 * XML, of the wrong number of bits, or too large for an index.
 */
export const INVALID_VALUES: ReadonlySet<string> =
  new Set([
    ...['22000', '22001', '22003', '22007', '22008', '22009', '22015', '22021', '22026', '2200M', '2200N', '2202E'],
    ...['22P02', '22P05', '54000']
  ])

/** Matches the context of an error about a placeholder, but not that of a function. */
const PARAMETER = /^(?!PL\/)[^\n']*\$(\d+)/

/**
 * Returns the column that the refused value was for. PostgreSQL 14 and later name the placeholder in the context of the
 * error.
 */
export function findFilled (error: unknown, fills: readonly string[]): readonly string[] {
  const [, position] = PARAMETER.exec(String(findMember(error, 'where'))) ?? []
  const column = fills[Number(position) - 1]
  return column === undefined ? [] : [column]
}

/** Returns whether the statement conflicted with others, so that the database has rolled it back. */
export function isConflict (error: unknown): boolean {
  const code = findMember(error, 'code')
  return code === '40001' || code === '40P01'
}

/** Returns whether the prepared statement is outdated, unknown or repeated, so that the database has not run it. */
export function isStale (error: unknown): boolean {
  const code = findMember(error, 'code')
  if (code === '0A000') return findMember(error, 'routine') === 'RevalidateCachedQuery'
  return code === '26000' || code === '42P05'
}

/**
 * Returns whether the connection is broken or about to break: the server ends it after FATAL, PANIC and class 57P.
 * Errors of the network have no severity.
 */
export function isBroken (error: unknown): boolean {
  const severity = findMember(error, 'severity')
  if (severity === undefined || severity === 'FATAL' || severity === 'PANIC') return true
  return String(findMember(error, 'code')).startsWith('57P')
}

/**
 * Returns whether the outcome of the statement is unknown. A distributed database reports a lost connection between its
 * own machines (08006) as an ordinary ERROR: the connection to the client is healthy.
 */
export function isLost (error: unknown): boolean {
  return isBroken(error) || /^(?:08|40003)/.test(String(findMember(error, 'code')))
}
