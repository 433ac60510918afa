import { type Message, type Said, say } from '../messages.js'
import { isDecimal, isExactNumber, isLongInteger, normalizeDecimal, readDecimal, readInteger } from '../util/decimal.js'
import { identity } from '../util/functions.js'
import { abbreviate } from '../util/words.js'
import { MOMENT_FORMATS, type TextFormat } from './date-time.js'
import { isBase64 } from './legal-text.js'
import type { Property, Shape } from './shape.js'
import { type Schema, type TypeName, typesOf } from './types.js'

/** The result for a text that cannot be converted. */
export const UNCONVERTIBLE: unique symbol = Symbol('unconvertible')

const INTEGER = /^[+-]?\d+$/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([['true', true], ['1', true], ['false', false], ['0', false]])

/** Parses an integer. Returns `undefined` if the text is not one, or if a double cannot tell it from its neighbours. */
export function parseInteger (text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** Parses an integer of eight bytes. Beyond ±(2^53 − 1), it is the text of its digits. */
export function parseLongInteger (text: string): number | string | undefined {
  if (!INTEGER.test(text)) return undefined
  return readInteger(normalizeDecimal(text.replace('+', '')))
}

/** Parses a decimal number. Returns `undefined` if the text is not one, or if a double cannot keep all its digits. */
export function parseNumber (text: string): number | undefined {
  return NUMBER.test(text) && isExactNumber(text) ? Number(text) : undefined
}

/** Parses `true`, `false`, `1` or `0`, as XML Schema spells booleans. Returns `undefined` for other texts. */
export function parseBoolean (text: string): boolean | undefined {
  return BOOLEANS.get(text)
}

const DECIMAL: TextFormat = {
  isValid: isDecimal,
  wants: say('mustBeDecimal')
}

/** The text of bytes, which `contentEncoding: 'base64'` asks for. */
export const BASE64: TextFormat = {
  isValid: isBase64,
  wants: say('mustBeBase64')
}

/** The formats of strings that have a range: decimals, dates and times. */
export const ORDERED_FORMATS: ReadonlyMap<string, TextFormat> = new Map([...MOMENT_FORMATS, ['decimal', DECIMAL]])

/** The format of a text that is a date or a time, spelled as the database or another program spells it. */
export const FREE_MOMENT = 'date-time-text'

/** Returns whether an attribute has dates in one spelling, of which its schema has an example: lists compare days. */
export function hasSpelledDates ({ shape: { only, format }, schema }: Pick<Property, 'shape' | 'schema'>): boolean {
  return only === 'string' && format === FREE_MOMENT && exampleOf(schema) !== undefined
}

/** Returns the first example of a schema, if it is a text. Forms write dates of `date-time-text` in its spelling. */
export function exampleOf ({ examples }: Schema): string | undefined {
  const first: unknown = Array.isArray(examples) ? examples[0] : undefined
  return typeof first === 'string' ? first : undefined
}

/** The formats that only say what a text is or how it is edited. Every text fits them. */
export const LOOSE_FORMATS: ReadonlySet<unknown> = new Set(['textarea', 'password', FREE_MOMENT])

type ParseText = (text: string) => unknown

const PARSERS: ReadonlyArray<readonly [TypeName, ParseText]> = [
  ['integer', parseInteger],
  ['number', parseNumber],
  ['boolean', parseBoolean]
]

/** Returns whether a shape is a decimal number, which is a text that keeps all digits. */
export function isDecimalShape ({ only, format }: Shape): boolean {
  return only === 'string' && format === 'decimal'
}

/** Returns whether a shape is an integer of eight bytes, such as a reference to an id. */
export function isLongShape ({ only, format }: Pick<Shape, 'only' | 'format'>): boolean {
  return only === 'integer' && format === 'int64'
}

/** Returns whether a value is of a type that its schema allows. */
export function isOfShape (value: unknown, shape: Shape): boolean {
  return typesOf(value).some((type) => shape.types.has(type)) || (isLongShape(shape) && isLongInteger(value))
}

/** Returns whether a shape is bytes, written as base64. */
export function isBytesShape ({ only, encoding }: Shape): boolean {
  return only === 'string' && encoding === 'base64'
}

/**
 * Compiles the conversion of a text to a value of the shape. The text stays as it is if the shape allows a string,
 * except that a decimal is written with digits around its point, and white space is removed from base64.
 * Otherwise it becomes the first of integer, number and boolean that fits. A blank text becomes null if the shape
 * allows null. If nothing fits, the result is `UNCONVERTIBLE`.
 */
export function compileText (shape: Shape): (text: string) => unknown {
  const { types } = shape
  if (isDecimalShape(shape)) return (text) => readDecimal(text.trim()) ?? text
  if (isBytesShape(shape)) return (text) => text.replaceAll(/\s+/g, '')
  if (types.has('string')) return identity
  const parsers = isLongShape(shape)
    ? [parseLongInteger]
    : PARSERS.filter(([type]) => types.has(type)).map(([, parse]) => parse)
  const blank = types.has('null') ? null : UNCONVERTIBLE
  return (text) => {
    const trimmed = text.trim()
    if (trimmed === '') return blank
    for (const parse of parsers) {
      const value = parse(trimmed)
      if (value !== undefined) return value
    }
    return UNCONVERTIBLE
  }
}

/** Returns a message such as "must be an integer or null". */
export function describeTypes (types: Iterable<TypeName>): Message {
  const all = [...types]
  return say('mustBeOfType', { types: all.filter((type) => !(type === 'integer' && all.includes('number'))) })
}

/** Returns such a message about the types of a shape. The usual mistake about a decimal is a JSON number. */
export function describeShape (shape: Shape): Said {
  const message = describeTypes(shape.types)
  return isDecimalShape(shape) ? `${message.text}; write a decimal number as a string: "12.50"` : message
}

/** The message about an integer that a double cannot tell from its neighbours. */
export const UNSAFE_INTEGER: Message =
  say('mustBeIntegerBetween', { least: '-9007199254740991', most: '9007199254740991' })

/** The message about a JSON number in place of the text of a long integer. Two ids could have the same double. */
export const LONG_AS_NUMBER =
  'must be a text of digits beyond 9007199254740991, such as "9007199254740993", because a number would be rounded'

const OUT_OF_RANGE = say('mustBeIntegerBetween', { least: '-9223372036854775808', most: '9223372036854775807' })

export function describeInexact (text: string): Message {
  return say('hasInexactNumber', { number: abbreviate(text, 40) })
}

/** Returns the message about a text that no value of these types spells. `isLong` says that of `isLongShape`. */
export function describeMismatch (types: ReadonlySet<TypeName>, text: string, isLong = false): Message {
  const trimmed = text.trim()
  if (types.has('number') && NUMBER.test(trimmed)) return describeInexact(trimmed)
  if (!types.has('integer') || !INTEGER.test(trimmed)) return describeTypes(types)
  return isLong ? OUT_OF_RANGE : UNSAFE_INTEGER
}
