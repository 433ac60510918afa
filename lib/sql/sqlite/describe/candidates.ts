import { FREE_MOMENT } from '../../../core/schema/convert-text.js'
import type { Schema } from '../../../core/schema/types.js'
import { BYTES as BYTES_SCHEMA, LONG_INTEGER } from '../../tables/describe-column.js'

/** A schema that a column may have, and the condition that its values fit. */
export interface Candidate {
  readonly schema: Schema
  /** Returns an SQL condition of a quoted column, which is not null. */
  readonly fits: (column: string) => string
  /** Whether paths can contain the values. */
  readonly isComparable: boolean
}

/** The schemas that a column may have, of which the first one that its values fit applies. */
export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** The candidate for a column without values. @default the first one */
  readonly whenEmpty?: Candidate
}

const isOfType = (...types: string[]) => (column: string): string =>
  `typeof(${column}) IN (${types.map((type) => `'${type}'`).join(', ')})`
const DIGITS = (count: number): string => '[0-9]'.repeat(count)
const DATE = `${DIGITS(4)}-${DIGITS(2)}-${DIGITS(2)}`
const TIME = `${DIGITS(2)}:${DIGITS(2)}:${DIGITS(2)}`
const OFFSET = `*[-+]${DIGITS(2)}:${DIGITS(2)}`
const HEX = (count: number): string => '[0-9a-f]'.repeat(count)
const UUID = [8, 4, 4, 4, 12].map(HEX).join('-')

const make = (schema: Schema, fits: Candidate['fits'], isComparable = true): Candidate =>
  ({ schema, fits, isComparable })
const text = (schema: Schema, condition: (column: string) => string, most: number): Candidate => make(
  { type: 'string', ...schema },
  // The length of a value is known before the value itself is read.
  (column) => `typeof(${column}) = 'text' AND octet_length(${column}) <= ${most} AND ${condition(column)}`
)

const INTEGER = make(
  { type: 'integer' },
  (column) => `typeof(${column}) = 'integer' AND ${column} BETWEEN -9007199254740991 AND 9007199254740991`
)
const KEY_INTEGER = make(LONG_INTEGER, isOfType('integer'))
const BIG_INTEGER = make({ type: 'string', format: 'decimal', precision: 19, scale: 0 }, isOfType('integer'))
/** Numbers that are finite, of which integers are no greater than doubles can keep. */
const isNumber = (column: string): string => `CASE typeof(${column}) WHEN 'real' THEN abs(${column}) < 9e999 ` +
  `WHEN 'integer' THEN ${column} BETWEEN -9007199254740991 AND 9007199254740991 ELSE 0 END`
const NUMBER = make({ type: 'number' }, isNumber)
const BOOLEAN = make({ type: 'boolean' }, (column) => `typeof(${column}) = 'integer' AND ${column} IN (0, 1)`)
const STRING = make({ type: 'string' }, isOfType('text'))
// Other programs write dates and times in other spellings.
const OTHER_MOMENT = make({ type: 'string', format: FREE_MOMENT }, isOfType('text'))
const BYTES = make(BYTES_SCHEMA, isOfType('blob'), false)
/** A column of the type JSON has the affinity NUMERIC, so it keeps the JSON text `5` as a number. */
const JSON_TEXT: Candidate = {
  schema: {},
  fits: (column) => `CASE typeof(${column}) WHEN 'text' THEN json_valid(${column}) ELSE ${isNumber(column)} END`,
  isComparable: false
}
const FULL_DATE = text({ format: 'date' }, (column) => `${column} GLOB '${DATE}' AND date(${column}) = ${column}`, 10)
const isMoment = (column: string): string =>
  `${column} GLOB '${DATE}T${TIME}*' AND substr(${column}, 20, 1) IN ('', '.', 'Z', '+', '-') ` +
  `AND date(substr(${column}, 1, 10)) = substr(${column}, 1, 10) AND datetime(${column}) IS NOT NULL`
const hasOffset = (column: string): string => `(${column} GLOB '*Z' OR ${column} GLOB '${OFFSET}')`
const MOMENT = text({ format: 'date-time' }, (column) => `${isMoment(column)} AND ${hasOffset(column)}`, 40)
const LOCAL_MOMENT = text(
  { format: 'date-time-local' },
  (column) => `${isMoment(column)} AND NOT ${hasOffset(column)}`,
  40
)
const LOCAL_TIME = text({ format: 'time-local' }, (column) => `${column} GLOB '${TIME}*' ` +
  `AND substr(${column}, 9, 1) IN ('', '.') AND NOT ${hasOffset(column)} AND time(${column}) IS NOT NULL`, 30)
const UUID_TEXT = text({ format: 'uuid' }, (column) => `${column} GLOB '${UUID}'`, 36)

/** What a column without conversions may contain. */
const ANYTHING = [STRING, INTEGER, BIG_INTEGER, NUMBER, BYTES]

/**
 * Returns the schemas that a column of a declared type may have ("Datatypes In SQLite" §3.1). `isKey` says whether its
 * integers are ids. `fallback` is the SQL of its
 * default.
 */
export function findCandidates (type: string, isKey: boolean, fallback: string): Candidates {
  if (/INT/i.test(type)) {
    if (isKey) return { candidates: [KEY_INTEGER] }
    return { candidates: /BIG|INT8/i.test(type) ? [BIG_INTEGER] : [INTEGER, BIG_INTEGER] }
  }
  if (/CHAR|CLOB|TEXT/i.test(type)) return { candidates: [...limitLength(type), STRING] }
  if (type === '' || /^ANY$/i.test(type)) return { candidates: ANYTHING }
  if (/BLOB/i.test(type)) return { candidates: ANYTHING, whenEmpty: BYTES }
  if (/REAL|FLOA|DOUB/i.test(type)) return { candidates: [NUMBER] }
  if (/^BOOL/i.test(type)) return { candidates: [BOOLEAN, INTEGER, STRING] }
  if (/^JSON/i.test(type)) return { candidates: [JSON_TEXT, STRING] }
  if (/^(?:UUID|GUID|UNIQUEIDENTIFIER)/i.test(type)) return { candidates: [UUID_TEXT, STRING, BYTES] }
  if (/^DATE$/i.test(type)) return { candidates: [FULL_DATE, OTHER_MOMENT, INTEGER, NUMBER] }
  if (/^TIME$/i.test(type)) return { candidates: [LOCAL_TIME, OTHER_MOMENT, INTEGER, NUMBER] }
  if (/^(?:DATETIME|TIMESTAMP)/i.test(type)) {
    const moments = /CURRENT_|datetime\(|strftime\(/i.test(fallback) ? [] : [MOMENT, LOCAL_MOMENT]
    // A table without rows does not say how its moments are spelled.
    return { candidates: [...moments, OTHER_MOMENT, INTEGER, NUMBER], whenEmpty: OTHER_MOMENT }
  }
  if (/NUM|DEC|MONEY|CURRENCY/i.test(type)) return { candidates: [...limitDigits(type), DECIMAL, STRING] }
  return { candidates: [/DATE|TIME/i.test(type) ? OTHER_MOMENT : STRING, INTEGER, DECIMAL, BYTES] }
}

const DECIMAL = make({ type: 'string', format: 'decimal' }, (column) =>
  `CASE typeof(${column}) WHEN 'real' THEN abs(${column}) < 9e999 WHEN 'integer' THEN 1 ELSE 0 END`)

function limitLength (type: string): Candidate[] {
  const [, digits] = /\(\s*(\d+)\s*\)/.exec(type) ?? []
  if (digits === undefined) return []
  const most = Number(digits)
  return [make({ type: 'string', maxLength: most }, (column) => `typeof(${column}) = 'text' AND ` +
    `CASE WHEN octet_length(${column}) <= ${most} THEN 1 WHEN octet_length(${column}) > ${4 * most} THEN 0 ` +
    `ELSE length(${column}) <= ${most} END`)]
}

/** The digits that a double keeps. SQLite turns a decimal with a fraction into a double. */
const DOUBLE_DIGITS = 15
/** The digits that each integer of SQLite can have. */
const INTEGER_DIGITS = 18

function limitDigits (type: string): Candidate[] {
  const [, all, after = '0'] = /\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/.exec(type) ?? []
  const scale = Number(after)
  const precision = Math.min(Number(all ?? 0), scale === 0 ? INTEGER_DIGITS : DOUBLE_DIGITS)
  if (precision < Math.max(scale, 1)) return []
  const isInScale = (column: string): string => scale === 0
    ? `typeof(${column}) = 'integer'`
    : `typeof(${column}) IN ('integer', 'real') AND round(${column}, ${scale}) = ${column}`
  const limit = `1e${precision - scale}`
  return [make(
    { type: 'string', format: 'decimal', precision, scale },
    (column) => `${isInScale(column)} AND ${column} > -${limit} AND ${column} < ${limit}`
  )]
}
