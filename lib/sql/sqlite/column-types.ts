import { say } from '../../core/messages.js'
import { normalizeDecimal, readInteger } from '../../core/util/decimal.js'
import { isStructure } from '../../core/util/own-property.js'
import { markText } from '../../core/schema/legal-text.js'
import {
  bytesOf, type Codec, type ColumnKind, decodeJson, decodeLongInteger, markBytes, type Values
} from '../columns/kinds.js'

type Affinity = 'INTEGER' | 'TEXT' | 'BLOB' | 'REAL' | 'NUMERIC'

/** Returns the affinity of a declared type, which decides how a column converts values ("Datatypes In SQLite" §3.1). */
export function affinityOf (type: string): Affinity {
  if (/INT/i.test(type)) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'TEXT'
  if (type === '' || /BLOB/i.test(type)) return 'BLOB'
  return /REAL|FLOA|DOUB/i.test(type) ? 'REAL' : 'NUMERIC'
}

/** Finds how a column of a declared type keeps values. Any column may hold values of other types, too. */
export function findCodec (values: Values, type: string): Codec | undefined {
  const { kind, shape: { only, scale }, readOnly } = values
  const affinity = affinityOf(type)
  if (kind === 'decimal') return findDecimalCodec(affinity, scale ?? scaleOf(type))
  // A column without a type keeps numbers and texts apart, as they are given.
  const isMixed = kind === 'json' && only === undefined
  if (isMixed && affinity !== 'TEXT' && (readOnly || affinity === 'BLOB')) return MIXED
  if (kind === 'string' && affinity === 'NUMERIC') return UNCONVERTED
  const { affinities, names, codec } = KINDS[kind]
  return affinities.includes(affinity) || type === '' || names?.test(type) === true ? codec : undefined
}

/** Returns the type of the column that `migrate` creates, in a STRICT table. */
export function columnTypeOf ({ kind, shape: { scale } }: Values): string {
  return kind === 'decimal' ? (scale === 0 ? 'INTEGER' : 'REAL') : KINDS[kind].type
}

/** Decodes a value that may not be of the kind of its column. A number that JSON cannot keep is shown as a text. */
function showUnfit (raw: unknown): unknown {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : String(raw)
  if (typeof raw === 'bigint') return decodeLongInteger(raw)
  return isStructure(raw) ? markBytes(bytesOf(raw)) : raw
}

const BOOLEAN_CODEC: Codec = {
  encode: Number,
  decode (raw) {
    const value = showUnfit(raw)
    return value === 0 || value === 1 ? value === 1 : value
  }
}

/** Values of the driver are bytes in hexadecimal digits, because the statement has `unhex`. */
const BYTES_CODEC: Codec = {
  encode: (value) => Buffer.from(String(value), 'base64').toString('hex'),
  decode (raw) {
    if (isStructure(raw)) return bytesOf(raw).toString('base64')
    return typeof raw === 'string' ? markText(raw) : showUnfit(raw)
  }
}

/** The codec of a column that may hold numbers and texts. */
const MIXED: Codec = {
  findFault: (value) => typeof value === 'string' || Number.isFinite(value) ? undefined : 'must be a text or a number',
  decode: showUnfit
}

/** How columns keep the values of a kind. */
interface SqliteKind {
  /** The type of the column that `migrate` creates. */
  readonly type: string
  /** The affinities that fit. */
  readonly affinities: readonly Affinity[]
  /** Matches types with the affinity NUMERIC that fit too. It does not change texts that look like no numbers. */
  readonly names?: RegExp
  readonly codec: Codec
}

const TEXTS: SqliteKind = { type: 'TEXT', affinities: ['TEXT'], codec: { decode: showUnfit } }

const KINDS: Readonly<Record<Exclude<ColumnKind, 'decimal'>, SqliteKind>> = {
  string: TEXTS,
  uuid: { ...TEXTS, names: /^(?:UUID|GUID|UNIQUEIDENTIFIER)/i },
  'date-time': { ...TEXTS, names: /^(?:DATETIME|TIMESTAMP)/i },
  'date-time-local': { ...TEXTS, names: /^(?:DATETIME|TIMESTAMP)/i },
  date: { ...TEXTS, names: /^DATE/i },
  'time-local': { ...TEXTS, names: /^TIME(?!STAMP)/i },
  bytes: { type: 'BLOB', affinities: ['BLOB', 'NUMERIC'], codec: BYTES_CODEC },
  integer: {
    type: 'INTEGER',
    affinities: ['INTEGER', 'NUMERIC'],
    codec: { encode: (value) => typeof value === 'string' ? BigInt(value) : value, decode: showUnfit }
  },
  number: {
    type: 'REAL',
    affinities: ['REAL', 'NUMERIC'],
    codec: { decode: (raw) => typeof raw === 'bigint' && BigInt(Number(raw)) === raw ? Number(raw) : showUnfit(raw) }
  },
  boolean: { type: 'INTEGER', affinities: ['INTEGER'], names: /^BOOL/i, codec: BOOLEAN_CODEC },
  json: {
    ...TEXTS,
    names: /^JSON/i,
    codec: { encode: JSON.stringify, decode: (raw) => typeof raw === 'string' ? decodeJson(raw) : showUnfit(raw) }
  }
}

/** The codec of texts in a column that turns those which look like numbers into numbers, such as DATETIME. */
const UNCONVERTED: Codec = {
  decode: showUnfit,
  findFault: (value) => LIKE_NUMBER.test(String(value)) ? 'must not look like a number' : undefined
}

/** Matches the texts that a numeric affinity converts to a number. Of white space, SQLite skips that of ASCII only. */
const LIKE_NUMBER = /^[ \t\n\v\f\r]*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?[ \t\n\v\f\r]*$/i

/** Returns the scale of a type such as `DECIMAL(10,2)`. */
function scaleOf (type: string): number {
  return Number(/\(\s*\d+\s*,\s*(\d+)\s*\)/.exec(type)?.[1] ?? 0)
}

const LONG_RANGE = { least: '-9223372036854775808', most: '9223372036854775807' } as const

/** Finds how a column keeps decimals: as integers of eight bytes, or else as doubles. */
function findDecimalCodec (affinity: Affinity, scale: number): Codec | undefined {
  if (affinity === 'TEXT' || affinity === 'BLOB') return undefined
  return {
    findFault (value) {
      const number = normalizeDecimal(String(value))
      if (affinity !== 'REAL' && readInteger(number) !== undefined) return undefined
      if (affinity === 'INTEGER') return say('mustBeIntegerBetween', LONG_RANGE)
      const double = Number(number)
      const isKept = Number.isFinite(double) && spellNumber(double) === number
      return isKept ? undefined : 'must have at most 15 significant digits'
    },
    encode: encodeDecimal,
    decode (raw) {
      if (typeof raw === 'bigint') return padFraction(String(raw), scale)
      return typeof raw === 'number' && Number.isFinite(raw) ? padFraction(spellNumber(raw), scale) : showUnfit(raw)
    }
  }
}

function encodeDecimal (value: unknown): unknown {
  const number = normalizeDecimal(String(value))
  return readInteger(number) === undefined ? Number(number) : BigInt(number)
}

/** Spells a number without an exponent, by the fewest digits that tell it from other doubles. */
function spellNumber (value: number): string {
  const [, sign, first, rest = '', exponent] = EXPONENTIAL.exec(value.toExponential()) as RegExpExecArray
  const digits = `${first}${rest}`
  const point = Number(exponent) + 1
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  const whole = digits.slice(0, point).padEnd(point, '0')
  return digits.length > point ? `${sign}${whole}.${digits.slice(point)}` : `${sign}${whole}`
}

/** Matches a number as `toExponential` spells it. */
const EXPONENTIAL = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/

/** Adds zeros until a decimal has as many digits after its point as its column shows. */
function padFraction (text: string, scale: number): string {
  const [whole, fraction = ''] = text.split('.')
  return scale === 0 || fraction.length >= scale ? text : `${whole}.${fraction.padEnd(scale, '0')}`
}
