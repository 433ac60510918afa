import { type Said, say } from '../../core/messages.js'
import { describeTypes } from '../../core/schema/convert-text.js'
import { countDigits, normalizeDecimal } from '../../core/util/decimal.js'
import { identity } from '../../core/util/functions.js'
import {
  type Codec, type ColumnKind, decodeJson, describeMisfit, memberTest, type Values, valuesOf
} from '../columns/kinds.js'
import { LIMITED_TEXT } from '../dialect.js'

/** Finds how a column of a type keeps values. */
export function findCodec (values: Values, type: string): Codec | undefined {
  const { kind, shape } = values
  if (kind === 'json' && shape.only === 'array' && type.endsWith('[]')) return findArrayCodec(values, type)
  if (kind !== 'string' && TEXTS.has(type.replace(LENGTH, ''))) return findTextCodec(values, type)
  const [, find] = KINDS[kind]
  return find(parseType(type), values)
}

/** Returns the type of the column that `migrate` creates. */
export function columnTypeOf ({ kind, shape: { precision, scale } }: Values): string {
  const [type] = KINDS[kind]
  return kind === 'decimal' && precision !== undefined ? `${type}(${precision},${scale})` : type
}

/** Returns whether values of a type have an order, which equals that of their texts only for texts. */
export function isComparable (type: string): boolean {
  return COMPARABLE.test(parseType(type).name)
}

const LENGTH = /\(\d+\)$/
const PARAMETERS = /\((-?\d+(?:,-?\d+)*)\)/

/** Parses a type as `format_type` writes it: `timestamp(3) without time zone`. `migrate` uses shorter names. */
function parseType (type: string): NumberColumnType {
  const [, parameters] = PARAMETERS.exec(type) ?? []
  const name = type.replace(PARAMETERS, '')
  return { name: ALIASES.get(name) ?? name, parameters: parameters?.split(',').map(Number) ?? [] }
}

const ALIASES: ReadonlyMap<string, string> =
  new Map([['timestamp', 'timestamp without time zone'], ['time', 'time without time zone']])

/** The types of texts, which keep dates and times as they are written. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'folded text', 'character varying'])

/**
 * Matches the types that can be sorted and compared. An enumeration sorts as it was declared, a range by its bounds.
 * Other types, such as `json`, `xml` and `point`, are compared as texts.
 */
const COMPARABLE = new RegExp(`^(?:${[
  '(?:folded )?text|character(?: varying)?|bpchar|citext|name|enum|uuid|boolean',
  'smallint|integer|bigint|real|double precision',
  'numeric|money|date|interval.*|time(?:stamp)? with(?:out)? time zone|inet|cidr|macaddr8?|bit(?: varying)?|bytea',
  '(?:int[48]|num|ts|tstz|date)(?:multi)?range|jsonb|pg_lsn|tsvector'
].join('|')})$`)

/** The types that have a kind of their own, so that their values are not shown as other texts are. */
const OWN_KIND = new RegExp(`^(?:${[
  'uuid|boolean|smallint|integer|bigint|real|double precision|numeric|date|bytea|jsonb?',
  'time(?:stamp without| without|stamp with) time zone'
].join('|')})$`)

const PLAIN: Codec = { decode: identity }

/** Finds how a column of texts keeps dates, times and UUIDs. */
function findTextCodec ({ kind, maxLength, readOnly }: Values, type: string): Codec | undefined {
  const [, length] = LIMITED_TEXT.exec(type) ?? []
  if (kind === 'uuid') return readOnly || Number(length ?? UUID_LENGTH) >= UUID_LENGTH ? PLAIN : undefined
  if (!MOMENTS.has(kind)) return undefined
  return length === undefined || readOnly || maxLength <= Number(length) ? PLAIN : undefined
}

const MOMENTS: ReadonlySet<ColumnKind> = new Set(['date-time', 'date-time-local', 'date', 'time-local'])

/** The length of a UUID, in characters. */
const UUID_LENGTH = 36

/** The type of the column that `migrate` creates for values of a kind, and how columns of other types keep them. */
type PostgresKind = readonly [type: string, find: (type: NumberColumnType, values: Values) => Codec | undefined]

const KINDS: Readonly<Record<ColumnKind, PostgresKind>> = {
  string: ['text', findStringCodec],
  uuid: ['uuid', ({ name }) => (name === 'uuid' ? PLAIN : undefined)],
  'date-time': ['text', (type) => findMomentCodec(type, 'timestamp with time zone')],
  'date-time-local': ['timestamp', (type) => findMomentCodec(type, 'timestamp without time zone')],
  date: ['text', ({ name }) => (name === 'date' ? PLAIN : undefined)],
  'time-local': ['time', (type) => findMomentCodec(type, 'time without time zone')],
  decimal: ['numeric', findDecimalCodec],
  bytes: ['bytea', ({ name }) => (name === 'bytea' ? BYTES : undefined)],
  integer: ['bigint', findIntegerCodec],
  number: [
    'double precision',
    ({ name }) => (name === 'double precision' ? NUMBER : name === 'real' ? REAL : undefined)
  ],
  boolean: ['boolean', ({ name }) => (name === 'boolean' ? BOOLEAN : undefined)],
  json: ['jsonb', ({ name }) => (name === 'jsonb' || name === 'json' ? JSON_TEXT : undefined)]
}

/**
 * Finds how a column keeps texts. A type without a kind of its own, such as `inet` or `interval`, accepts and returns
 * texts in its own spelling.
 */
function findStringCodec (
  { name, parameters: [length] }: NumberColumnType,
  { maxLength, readOnly }: Values
): Codec | undefined {
  const isLimited = name === 'character varying' || name === 'character'
  // PostgreSQL cuts off surplus spaces without an error, so a text must not be longer than the column.
  if (isLimited && length !== undefined && !readOnly && maxLength > length) return undefined
  if (name === 'character' || name === 'bpchar') return PADDED
  if (OWN_KIND.test(name)) return undefined
  return PLAIN
}

const PADDED: Codec = {
  findFault: (value) =>
    String(value).endsWith(' ') ? 'must not end with a space, which the column would drop' : undefined,
  decode: (raw) => withoutEnd(String(raw), ' ')
}

const DIGITS_OF_SECOND = 6
const TIME = /:(\d\d)(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)?$/

/** Finds how a column of a type keeps moments, up to the digits of the second that it has. */
function findMomentCodec (
  { name, parameters: [most = DIGITS_OF_SECOND] }: NumberColumnType,
  wanted: string
): Codec | undefined {
  if (name !== wanted) return undefined
  return {
    ...PLAIN,
    findFault (value) {
      const [, seconds, fraction = ''] = TIME.exec(String(value)) ?? []
      if (seconds === '60') return 'must not have the second 60, which the column would change'
      if (/^0*$/.test(fraction.slice(most))) return undefined
      return most === 0
        ? 'must not have digits after the point of the seconds'
        : `must have at most ${most} digits after the point of the seconds`
    }
  }
}

const BOOLEAN: Codec = { decode: (raw) => raw === 't' }

const JSON_TEXT: Codec = { encode: JSON.stringify, decode: (raw) => decodeJson(String(raw)) }

const BYTES: Codec = {
  encode: (value) => `\\x${Buffer.from(String(value), 'base64').toString('hex')}`,
  decode: (raw) => Buffer.from(String(raw).slice(2), 'hex').toString('base64')
}

/** Finds how a column of arrays keeps them: by the type of the items. */
function findArrayCodec ({ shape, readOnly }: Values, type: string): Codec | undefined {
  const itemType = type.slice(0, -2)
  const { items } = shape
  const values = valuesOf(items, readOnly)
  // The items of a box are separated by `;`.
  const item = itemType === 'box' ? undefined : findCodec(values, itemType)
  if (item === undefined) return undefined
  const isMember = memberTest(values.kind)
  const { decode, encode = identity, findFault } = item
  const parse = parserOf(parseType(itemType).name)
  const findItemFault = (item: unknown): Said | undefined =>
    item === null ? undefined : isMember(item) ? findFault?.(item) : describeMisfit(values.kind)
  const encodeItem = (item: unknown): string | null => (item === null ? null : String(encode(item)))
  /** Returns the value of an item, or `undefined` if the schema of the items does not have it. */
  const decodeItem = (item: string | null): unknown => {
    if (item === null) return items.types.has('null') ? null : undefined
    const value = decode(parse(item))
    return isMember(value) ? value : undefined
  }
  return {
    findFault (value) {
      if (!Array.isArray(value)) return 'must be an array'
      const faults = value.map(findItemFault)
      const index = faults.findIndex((fault) => fault !== undefined)
      return index < 0 ? undefined : `has an item at position ${index + 1} that ${faults[index]}`
    },
    encode: (value) => writeArray((value as readonly unknown[]).map(encodeItem)),
    // An array of several dimensions, or with items that the schema does not have, stays a text.
    decode (raw) {
      const decoded = parseArray(String(raw))?.map(decodeItem)
      return decoded === undefined || decoded.includes(undefined) ? raw : decoded
    }
  }
}

/** Matches an item of an array, in quotes or without. */
const ITEM = /"([^"\\]*(?:\\.[^"\\]*)*)"|[^,{}"\\]+/gs

/** Parses the text of an array of one dimension, such as `{1,NULL,"a b"}` (PostgreSQL §8.15.6). */
function parseArray (text: string): Array<string | null> | undefined {
  if (!/^\{(?!\{)/.test(text)) return undefined
  return [...text.matchAll(ITEM)].map(([item, quoted]) =>
    quoted === undefined ? (item === 'NULL' ? null : item) : quoted.replaceAll(/\\(.)/gs, '$1'))
}

/** Writes the text of an array. Each text is in quotes, so that none reads as null or as an array. */
function writeArray (items: ReadonlyArray<string | null>): string {
  return `{${items.map((item) => item === null ? 'NULL' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** A type without its parameters, such as `numeric`, and its parameters. */
export interface NumberColumnType {
  readonly name: string
  readonly parameters: readonly number[]
}

const INTEGERS: ReadonlyMap<string, readonly [least: bigint, most: bigint]> = new Map([
  ['smallint', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['integer', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['bigint', [-(2n ** 63n), 2n ** 63n - 1n]]
])

/** Finds how a column keeps integers. */
export function findIntegerCodec ({ name }: NumberColumnType): Codec | undefined {
  const range = INTEGERS.get(name)
  return range && {
    findFault: (value) => findRangeFault(String(value), range),
    decode: (raw) => Number.isSafeInteger(Number(raw)) ? Number(raw) : raw
  }
}

/** The length of the longest text of an integer of eight bytes, in characters. */
const LONGEST_INTEGER = 20

function findRangeFault (text: string, [least, most]: readonly [bigint, bigint]): Said | undefined {
  const isInside = text.length <= LONGEST_INTEGER && BigInt(text) >= least && BigInt(text) <= most
  return isInside ? undefined : say('mustBeIntegerBetween', { least: String(least), most: String(most) })
}

/** The digits that a column of the type `numeric` has if it does not limit them (PostgreSQL §8.1.2). */
const MOST_DIGITS = [131_072, 16_383] as const

/** Finds how a column keeps decimals. A column with a negative scale, or one beyond the precision, is only read. */
export function findDecimalCodec ({ name, parameters }: NumberColumnType, { readOnly }: Values): Codec | undefined {
  const range = INTEGERS.get(name)
  if (range !== undefined) {
    return {
      decode: identity,
      findFault (value) {
        const number = normalizeDecimal(String(value))
        return number.includes('.') ? describeTypes(['integer']) : findRangeFault(number, range)
      },
      encode: (value) => normalizeDecimal(String(value)),
      compare: identity
    }
  }
  const [precision, scale = 0] = parameters
  const isOdd = precision !== undefined && (scale < 0 || scale > precision)
  if (name !== 'numeric' || (isOdd && !readOnly)) return undefined
  const [most, places] = precision === undefined ? MOST_DIGITS : [precision - scale, scale]
  return {
    decode: identity,
    findFault (value) {
      const { whole, fraction } = countDigits(normalizeDecimal(String(value)))
      const isKept = whole <= most && fraction <= places
      return isKept ? undefined : `must have at most ${most} digits before the point and ${places} after it`
    }
  }
}

export const NUMBER: Codec = { decode: decodeNumber }

/** PostgreSQL writes a number of four bytes by the fewest digits that tell it from others. */
export const REAL: Codec = {
  findFault (value) {
    const spelled = spellReal(value as number)
    const [nearest] = spelled
    if (spelled.includes(value as number)) return undefined
    return Number.isFinite(nearest)
      ? `must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is ${nearest}`
      : 'must be a number between -3.4e38 and 3.4e38'
  },
  compare: (value) => Math.fround(value as number),
  decode: decodeNumber
}

/** Returns the number that a column of four bytes returns, or both if two with as many digits are equally near. */
function spellReal (value: number): readonly [number, ...number[]] {
  const kept = Math.fround(value)
  for (let digits = 1; digits < 9; digits++) {
    const [first, ...others] = [kept, kept * (1 - 1e-12)].map((number) => Number(number.toPrecision(digits)))
      .filter((number) => Math.fround(number) === kept)
    if (first !== undefined) return [first, ...others]
  }
  return [Number(kept.toPrecision(9))]
}

/** Decodes a number. `NaN` and the infinities, which JSON does not have, stay texts. */
function decodeNumber (raw: unknown): unknown {
  const value = Number(raw)
  return Number.isFinite(value) ? value : raw
}

/** Returns a text without the given characters at its end. A regular expression would take quadratic time. */
export function withoutEnd (text: string, character: string): string {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}

type Parse = (text: string) => string

/** The parsers of dates and times, by the names of their types. */
const PARSERS: ReadonlyMap<string, Parse> = new Map([
  ['date', (text) => checkStyle(text, DATE)],
  ['timestamp without time zone', (text) => formatMoment(text, LOCAL)],
  ['timestamp with time zone', (text) => formatMoment(text, MOMENT)]
])

/** The names of these types, by their numbers, which never change. */
const NAMES: ReadonlyMap<number, string> =
  new Map([[1082, 'date'], [1114, 'timestamp without time zone'], [1184, 'timestamp with time zone']])

const asItIs: Parse = (text) => text

/** Returns the parser of a type. It returns the text of the database, except for dates and times. */
export function parserOf (name: string): Parse {
  return PARSERS.get(name) ?? asItIs
}

/** The parsers of values, in place of the app's. */
export const TYPES = { getTypeParser: (oid: number): Parse => parserOf(NAMES.get(oid) ?? '') }

const INFINITE = /^-?infinity$/
const DATE = /^(?:\d{4,}-\d\d-\d\d(?: BC)?|-?infinity)$/
const MOMENT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(:\d\d(?::\d\d)?)?( BC)?$/
const LOCAL = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)()( BC)?$/

/**
 * Writes a moment as RFC 3339 does: PostgreSQL's `2026-01-31 12:00:00.5+00` becomes `2026-01-31T12:00:00.5+00:00`. The
 * server's `to_jsonb` does the same, but depends on the time zone. Citus does not allow such functions in RETURNING.
 */
function formatMoment (text: string, style: typeof MOMENT): string {
  const [, date, time, minutes = ':00', era = ''] = style.exec(text) ?? []
  return date === undefined ? checkStyle(text, INFINITE) : `${date}T${time}${minutes}${era}`
}

/** Returns the text. Throws `TypeError` if the app has changed the style of the connection's dates. */
function checkStyle (text: string, style: RegExp): string {
  if (style.test(text)) return text
  throw new TypeError(`the connection writes a date or time as "${text}"; its DateStyle must be ISO`)
}
