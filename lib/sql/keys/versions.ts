import { createHash } from 'node:crypto'
import { InvalidOptionError } from '../../core/errors.js'
import { isStructure } from '../../core/util/own-property.js'
import { bytesOf } from '../columns/kinds.js'
import type { Bind, SqlColumn, Dialect, RawRow } from '../dialect.js'

/** Writes the condition of a guarded write that a row has a version. */
export type VersionGuard = (bind: Bind) => string

/** How a table keeps the versions of its rows. */
export interface Versions {
  readonly kind: 'column' | 'xmin' | 'values'
  /** The quoted name of the column that counts the writes of a row, or `undefined` if there is none. */
  readonly counter: string | undefined
  /** What a statement selects for the version, or `undefined` if the values of the other columns are enough. */
  readonly selected: string | undefined
  /** Returns the version of a row whose texts are not cut. */
  decode (raw: RawRow): string
  /**
   * Returns the condition that a row has a version, or `undefined` if no row can have it. `raw` is the row with this
   * version, if `needsRow`.
   */
  guard (version: string, raw: RawRow | undefined): VersionGuard | undefined
  /** Whether a guard needs the row that was read, because the database cannot compute versions. */
  readonly needsRow: boolean
}

/**
 * Makes the versions of a table.
 * @param version the option: the name of a column, `'xmin'` or `'values'`
 * @throws InvalidOptionError if the database has no such versions
 */
export function makeVersions (version: string, columns: readonly SqlColumn[], dialect: Dialect): Versions {
  if (version === 'values') {
    const { versions } = dialect
    return 'digest' in versions ? makeDigest(columns, versions.digest) : makeComparedValues(columns, versions.isSame)
  }
  if (version !== 'xmin') return makeNumbers('column', version, dialect)
  if (dialect.hasXmin) return makeNumbers('xmin', version, dialect)
  throw new InvalidOptionError('version', "is 'xmin', which only PostgreSQL has; use 'values', or name a column")
}

/** The version is a number: that of a column, or that of the transaction that wrote the row. */
function makeNumbers (kind: 'column' | 'xmin', name: string, { quote }: Dialect): Versions {
  const selected = quote(name)
  const isColumn = kind === 'column'
  return {
    kind,
    counter: isColumn ? selected : undefined,
    selected,
    decode: (raw) => String(raw[name]),
    guard (version) {
      const value = parseCounter(version, isColumn ? Number.MAX_SAFE_INTEGER : MOST_TRANSACTIONS)
      if (value === undefined) return undefined
      return (bind) => `${selected} = ${isColumn ? bind(value, 'integer') : `${bind(version)}::xid`}`
    },
    needsRow: false
  }
}

/** The largest number of a transaction. */
const MOST_TRANSACTIONS = 2 ** 32 - 1

/** The version is a digest that the database makes, in reads and in the condition of a write. */
function makeDigest (columns: readonly SqlColumn[], digest: (columns: readonly string[]) => string): Versions {
  const expression = digest(columns.map(({ quoted }) => quoted))
  let name = 'version'
  while (columns.some((column) => column.name === name)) name += '_'
  return {
    kind: 'values',
    counter: undefined,
    selected: `${expression} AS ${name}`,
    decode: (raw) => String(raw[name]),
    guard: (version) => DIGEST.test(version) ? (bind) => `${expression} = ${bind(version)}` : undefined,
    needsRow: false
  }
}

/** The version is a digest that the store makes. A write compares every value that the store has read for it. */
function makeComparedValues (
  columns: readonly SqlColumn[],
  isSame: (column: SqlColumn, placeholder: string) => string
): Versions {
  const decode = (raw: RawRow): string => digestValues(columns.map(({ name }) => raw[name]))
  return {
    kind: 'values',
    counter: undefined,
    selected: undefined,
    decode,
    guard (version, raw) {
      if (raw === undefined || decode(raw) !== version) return undefined
      // libsql returns BLOBs in a form that it does not accept.
      const valueOf = ({ name }: SqlColumn): unknown =>
        isStructure(raw[name]) ? bytesOf(raw[name]) : raw[name]
      return (bind) => columns.map((column) => isSame(column, bind(valueOf(column)))).join(' AND ')
    },
    needsRow: true
  }
}

/** The length of a digest, in hexadecimal digits. */
export const DIGEST_LENGTH = 40
const DIGEST = new RegExp(`^[\\da-f]{${DIGEST_LENGTH}}$`)

/** Returns a digest of the values of a driver: null, numbers, texts and BLOBs. */
function digestValues (values: readonly unknown[]): string {
  const hash = createHash('sha256')
  for (const value of values) {
    // The type and the length keep values apart that would otherwise be the same text.
    if (typeof value === 'string') hash.update(`s${Buffer.byteLength(value)}:`).update(value)
    else if (isStructure(value)) hash.update(`b${bytesOf(value).length}:`).update(bytesOf(value))
    else hash.update(`${String(value)};`)
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH)
}

/** Returns a version as a number, or `undefined` if no row can have the version. */
function parseCounter (version: string, most: number): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(version) && Number(version) <= most ? Number(version) : undefined
}
