import { FREE_MOMENT } from '../../../core/schema/convert-text.js'
import type { Schema } from '../../../core/schema/types.js'
import { quoteName } from '../../dialect.js'
import { BYTES as BYTES_SCHEMA, LONG_INTEGER, markRepeating, type ValueCounts } from '../../tables/describe-table.js'
import type { ReadRows } from '../structure.js'

/** A schema that a column may have, and the condition that its values fit. */
interface SampledColumn extends Contents {
  /** Returns an SQL condition of a quoted column, which is not null. */
  readonly fits: (column: string) => string
}

/** What a column contains. */
export interface Contents {
  readonly schema: Schema
  /** Whether paths can contain the values, and lists can be sorted and filtered by them. */
  readonly isComparable: boolean
  /** Whether no schema fits all values. */
  readonly isMixed?: boolean
}

/** The schemas that a column may have, of which the first one that its values fit applies. */
interface Candidates {
  readonly candidates: readonly SampledColumn[]
  /** The candidate for a column without values. @default the first one */
  readonly whenEmpty?: SampledColumn
}

const isOfType = (...types: string[]) => (column: string): string =>
  `typeof(${column}) IN (${types.map((type) => `'${type}'`).join(', ')})`
const DIGITS = (count: number): string => '[0-9]'.repeat(count)
const DATE = `${DIGITS(4)}-${DIGITS(2)}-${DIGITS(2)}`
const TIME = `${DIGITS(2)}:${DIGITS(2)}:${DIGITS(2)}`
const OFFSET = `*[-+]${DIGITS(2)}:${DIGITS(2)}`
const HEX = (count: number): string => '[0-9a-f]'.repeat(count)
const UUID = [8, 4, 4, 4, 12].map(HEX).join('-')

const make = (schema: Schema, fits: SampledColumn['fits'], isComparable = true): SampledColumn =>
  ({ schema, fits, isComparable })
const text = (schema: Schema, condition: (column: string) => string, most: number): SampledColumn => make(
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
const JSON_TEXT: SampledColumn = {
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
/** Dates, or dates and times, in one spelling, of which the example is one. A date may have a time that is midnight. */
const spelled = (example: string, pattern: string): SampledColumn =>
  text({ format: FREE_MOMENT, examples: [example] }, (column) => `${column} GLOB '${DATE}${pattern}'`, 40)
const CLOCK = `${DIGITS(2)}:${DIGITS(2)}`
const SPACED_MOMENT = spelled('2000-01-31 13:45:00', ` ${TIME}`)
const SPELLED_MOMENTS = [
  spelled('2000-01-31', ''),
  spelled('2000-01-31 00:00:00', ' 00:00:00'),
  spelled('2000-01-31 00:00:00.000', ' 00:00:00.000'),
  spelled('2000-01-31 13:45', ` ${CLOCK}`),
  SPACED_MOMENT,
  spelled('2000-01-31 13:45:00.000', ` ${TIME}.000`)
]
const UUID_TEXT = text({ format: 'uuid' }, (column) => `${column} GLOB '${UUID}'`, 36)

/** What a column without conversions may contain besides bytes. */
const ANYTHING = [STRING, INTEGER, BIG_INTEGER, NUMBER]

/** A column as far as its declaration says what it contains. */
export interface DeclaredColumn {
  readonly name: string
  readonly type: string
  /** Whether its integers are ids. */
  readonly isKey: boolean
  /** The SQL of its default. */
  readonly fallback: string
}

/** What a column may contain about which nothing is known. Lists can be neither sorted nor filtered by it. */
export const UNKNOWN: Contents = { schema: { type: ['string', 'number'] }, isComparable: false }

/** Returns what a column of a declared type contains, without looking at its values. */
export function contentsOfType (type: string): Contents {
  const { candidates: [first], whenEmpty = first } = findCandidates({ name: '', type, isKey: false, fallback: '' })
  return whenEmpty ?? UNKNOWN
}

/** Returns the schemas that a column may have ("Datatypes In SQLite" §3.1). */
function findCandidates ({ type, isKey, fallback }: DeclaredColumn): Candidates {
  if (/INT/i.test(type)) {
    if (isKey) return { candidates: [KEY_INTEGER] }
    return { candidates: /BIG|INT8/i.test(type) ? [BIG_INTEGER] : [INTEGER, BIG_INTEGER] }
  }
  if (/CHAR|CLOB|TEXT/i.test(type)) return { candidates: [...limitLength(type), STRING] }
  if (type === '' || /^ANY$/i.test(type)) return { candidates: [...ANYTHING, BYTES] }
  if (/BLOB/i.test(type)) return { candidates: [BYTES, ...ANYTHING] }
  if (/REAL|FLOA|DOUB/i.test(type)) return { candidates: [NUMBER] }
  if (/^BOOL/i.test(type)) return { candidates: [BOOLEAN, INTEGER, STRING] }
  if (/^JSON/i.test(type)) return { candidates: [JSON_TEXT, STRING] }
  if (/^(?:UUID|GUID|UNIQUEIDENTIFIER)/i.test(type)) return { candidates: [UUID_TEXT, STRING, BYTES] }
  if (/^DATE$/i.test(type)) return { candidates: [FULL_DATE, ...SPELLED_MOMENTS, OTHER_MOMENT, INTEGER, NUMBER] }
  if (/^TIME$/i.test(type)) return { candidates: [LOCAL_TIME, OTHER_MOMENT, INTEGER, NUMBER] }
  if (/^(?:DATETIME|TIMESTAMP)/i.test(type)) {
    const isMade = /CURRENT_|datetime\(|strftime\(/i.test(fallback)
    const moments = [...isMade ? [] : [MOMENT, LOCAL_MOMENT], ...SPELLED_MOMENTS]
    // A table without rows does not say how its moments are spelled, unless SQLite makes them.
    const whenEmpty = /CURRENT_TIMESTAMP|datetime\(/i.test(fallback) ? SPACED_MOMENT : OTHER_MOMENT
    return { candidates: [...moments, OTHER_MOMENT, INTEGER, NUMBER], whenEmpty }
  }
  if (/NUM|DEC|MONEY|CURRENCY/i.test(type)) return { candidates: [...limitDigits(type), DECIMAL, STRING] }
  return { candidates: [/DATE|TIME/i.test(type) ? OTHER_MOMENT : STRING, INTEGER, DECIMAL, BYTES] }
}

const DECIMAL = make({ type: 'string', format: 'decimal' }, (column) =>
  `CASE typeof(${column}) WHEN 'real' THEN abs(${column}) < 9e999 WHEN 'integer' THEN 1 ELSE 0 END`)

function limitLength (type: string): SampledColumn[] {
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

function limitDigits (type: string): SampledColumn[] {
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

/** The rows to look at, at each end of a table. */
const SAMPLE = 500

/**
 * Returns what the columns of a table contain, by their names: the first candidate of each that the values in the first
 * and the last 500 rows fit. `order` are columns by which both can be found without sorting; none means only the first.
 */
export function sampleColumns (
  query: ReadRows,
  { table, order }: { readonly table: string, readonly order: readonly string[] },
  columns: readonly DeclaredColumn[]
): ReadonlyMap<string, Contents> {
  const found = columns.map((column) => ({ ...findCandidates(column), name: quoteName(column.name), refuted: 0 }))
  const samples = (order.length === 0 ? [''] : ['', ' DESC']).map((direction) => {
    const criteria = order.map((column) => `${quoteName(column)}${direction}`).join(', ')
    return `FROM ${quoteName(table)}${criteria === '' ? '' : ` ORDER BY ${criteria}`} LIMIT ${SAMPLE}`
  })
  for (const sample of samples) {
    // Each row with values that do not fit refutes a candidate of their columns, until all rows fit.
    for (let row: Record<string, number> | undefined = {}; row !== undefined;) {
      const tried = found.filter(({ candidates, refuted }) => refuted < candidates.length)
      const fits = tried.map(({ name, candidates, refuted }, index) =>
        `(${name} IS NULL OR ${(candidates[refuted] as SampledColumn).fits(name)}) AS f${index}`)
      const all = tried.map((_, index) => `f${index}`).join(' AND ')
      if (tried.length === 0) break
      const text = `SELECT * FROM (SELECT ${fits.join(', ')} ${sample}) WHERE NOT (${all}) LIMIT 1`
      row = query<Record<string, number>>(text)[0]
      for (const [index, column] of tried.entries()) if (row?.[`f${index}`] === 0) column.refuted++
    }
  }
  const counts = countValues(query, samples[0] as string, columns)
  const isEmpty = (name: string): boolean => samples.every((sample) =>
    query(`SELECT 1 FROM (SELECT ${name} AS f ${sample}) WHERE f IS NOT NULL LIMIT 1`).length === 0)
  return new Map(found.map(({ name, candidates, whenEmpty, refuted }, index) => {
    const { name: column, type } = columns[index] as DeclaredColumn
    if (refuted === 0 && whenEmpty !== undefined && isEmpty(name)) return [column, whenEmpty]
    const mixed = { ...(/CHAR|CLOB|TEXT/i.test(type) ? STRING : UNKNOWN), isComparable: false, isMixed: true }
    const contents = candidates[refuted] ?? mixed
    const counted = counts.get(column)
    return [column, counted === undefined
      ? contents
      : { ...contents, schema: markRepeating(contents.schema, counted) }]
  }))
}

/** The longest text that may name a row, in bytes. */
const LONGEST_NAME = 200

/** Counts the values in the columns of texts, as far as they may name a row. */
function countValues (
  query: ReadRows,
  sample: string,
  columns: readonly DeclaredColumn[]
): ReadonlyMap<string, ValueCounts> {
  const texts = columns.filter(({ type }) => /CHAR|CLOB|TEXT/i.test(type))
  if (texts.length === 0) return new Map()
  const counts = texts.map(({ name }, index) => {
    const value = `CASE WHEN octet_length(${quoteName(name)}) <= ${LONGEST_NAME} THEN ${quoteName(name)} END`
    return `count(${value}) AS v${index}, count(DISTINCT ${value}) AS d${index}`
  }).join(', ')
  const [found = {}] = query<Record<string, number>>(`SELECT ${counts} FROM (SELECT * ${sample})`)
  return new Map(texts.map(({ name }, index) =>
    [name, { values: Number(found[`v${index}`]), distinct: Number(found[`d${index}`]) }]))
}
