import { type Said, say } from '../../core/messages.js'
import { describeTypes, UNSAFE_INTEGER } from '../../core/schema/convert-text.js'
import { isLocalDateTime, isLocalTime } from '../../core/schema/date-time.js'
import { isBase64, isUuid, markText } from '../../core/schema/legal-text.js'
import type { Shape } from '../../core/schema/shape.js'
import { findInexactNumber, isDecimal, isLongInteger } from '../../core/util/decimal.js'

/** The kind of values in a column. An attribute that is not of a single simple type has the kind `json`. */
export type ColumnKind =
  | 'string'
  | 'uuid'
  | 'date-time'
  | 'date-time-local'
  | 'date'
  | 'time-local'
  | 'decimal'
  | 'bytes'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'json'

/** The kinds that every database keeps as texts, so that their columns may need a collation. */
export const TEXTUAL: ReadonlySet<ColumnKind> = new Set(['string', 'date-time', 'date'])

/** The values that a column is to keep. */
export interface Values {
  readonly kind: ColumnKind
  readonly shape: Shape
  /** The length of the longest text that the schema allows, in characters, or `Infinity`. */
  readonly maxLength: number
  /** Whether the attribute is `readOnly`, so that requests never write it. */
  readonly readOnly: boolean
}

/** Returns which values of a shape a column is to keep. */
export function valuesOf (shape: Shape, readOnly: boolean): Values {
  const { maxLength } = shape.schema
  return { kind: kindOf(shape), shape, maxLength: typeof maxLength === 'number' ? maxLength : Infinity, readOnly }
}

const STRINGS: ReadonlySet<unknown> =
  new Set<ColumnKind>(['uuid', 'date-time', 'date-time-local', 'date', 'time-local', 'decimal'])

function kindOf ({ only, format, encoding, types }: Shape): ColumnKind {
  if (only === undefined || only === 'array' || only === 'object') return 'json'
  if (only === 'string') {
    if (encoding === 'base64') return 'bytes'
    return STRINGS.has(format) ? format as ColumnKind : 'string'
  }
  if (types.has('number')) return 'number'
  return only === 'boolean' ? only : 'integer'
}

/**
 * Returns whether a value is a text that every database can keep. SQLite's drivers cut a text at U+0000, PostgreSQL
 * rejects it, and both change lone surrogates.
 */
export function isText (value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
}

const textTest = (isOfFormat: (text: string) => boolean) => (value: unknown): boolean =>
  typeof value === 'string' && isOfFormat(value)

/** Tells whether a value is of a kind, and the message about one that is not. */
type KindTest = readonly [isMember: (value: unknown) => boolean, misfit: Said]

const ANY_TEXT: KindTest = [isText, 'must be a text without U+0000 and unpaired surrogates']
const TESTS: Readonly<Partial<Record<ColumnKind, KindTest>>> = {
  // PostgreSQL also accepts other spellings, but would return another text.
  uuid: [isUuid, say('mustBeUuid')],
  // PostgreSQL would ignore an offset.
  'date-time-local': [textTest(isLocalDateTime), say('mustBeLocalDateTime')],
  'time-local': [textTest(isLocalTime), say('mustBeLocalTime')],
  decimal: [isDecimal, say('mustBeDecimal')],
  bytes: [textTest(isBase64), 'must be base64'],
  integer: [(value) => Number.isSafeInteger(value) || isLongInteger(value), UNSAFE_INTEGER],
  number: [Number.isFinite, describeTypes(['number'])],
  boolean: [(value) => typeof value === 'boolean', describeTypes(['boolean'])],
  json: [() => true, say('mustBeJson')]
}

/** Returns a function that tells whether a value, which is not null, is of a kind. */
export function memberTest (kind: ColumnKind): (value: unknown) => boolean {
  return (TESTS[kind] ?? ANY_TEXT)[0]
}

/** Returns the message about a value that is not of a kind. */
export function describeMisfit (kind: ColumnKind): Said {
  return (TESTS[kind] ?? ANY_TEXT)[1]
}

/** How a column of a type keeps values of a kind. No function receives null. */
export interface Codec {
  /**
   * Returns the message about a value that the column would change, or `undefined` if it keeps the value as it is.
   * @default every value is kept
   */
  readonly findFault?: (value: unknown) => Said | undefined
  /** Encodes a value for the driver. @default the value unchanged */
  readonly encode?: (value: unknown) => unknown
  /** Encodes a value that is only compared with the column. The column need not keep it. @default `encode` */
  readonly compare?: (value: unknown) => unknown
  /** Decodes a value of the driver. A value that is not of the kind is returned as it is, so that it can be shown. */
  readonly decode: (raw: unknown) => unknown
}

/** Returns a text that stands for stored bytes. */
export function markBytes (bytes: Buffer): string {
  return markText(`x'${bytes.toString('hex')}'`)
}

/** Returns bytes as a driver of SQLite returns them: libsql as an ArrayBuffer, the others as an Uint8Array. */
export function bytesOf (raw: object): Buffer {
  if (raw instanceof Uint8Array) return Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  return Buffer.from(raw as ArrayBuffer)
}

/** Decodes a JSON text. If it is none, or a double would round one of its numbers, the text itself is returned. */
export function decodeJson (text: string): unknown {
  if (findInexactNumber(text) !== undefined) return markText(text)
  try {
    return JSON.parse(text)
  } catch {
    return markText(text)
  }
}

/** Decodes an integer of the database that may be beyond 2^53 − 1. It is then a text. */
export function decodeLongInteger (raw: unknown): number | string {
  const value = Number(raw)
  return Number.isSafeInteger(value) ? value : String(raw)
}

/**
 * Decodes an integer of the database, such as the result of `count`.
 * @throws RangeError if a double cannot keep it
 */
export function decodeInteger (raw: unknown): number {
  const value = Number(raw)
  if (raw !== null && Number.isSafeInteger(value)) return value
  throw new RangeError(`the database returned the integer ${String(raw)}, ` +
    'which JavaScript cannot represent exactly as an integer')
}
