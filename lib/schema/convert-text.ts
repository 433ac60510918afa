import { isExactNumber } from '../util/decimal.js'
import { abbreviate } from '../util/truncate.js'
import type { Shape } from './shape.js'
import type { TypeName } from './types.js'

/** Returned where a text does not convert. */
export const UNFIT: unique symbol = Symbol('unfit')

const INTEGER = /^[+-]?\d+$/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([['true', true], ['1', true], ['false', false], ['0', false]])

/** Decimal digits with an optional sign; undefined for anything else and for what a double cannot hold exactly. */
export function parseInteger (text: string): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(value) ? value : undefined
}

/** A decimal number; undefined for anything else, and for one that a double does not keep. */
export function parseNumber (text: string): number | undefined {
  return NUMBER.test(text) && isExactNumber(text) ? Number(text) : undefined
}

// A number with its fraction and exponent, or the quote that begins a string.
const JSON_TOKENS = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Returns the index of the quote that ends the string which begins at `start`. A regular expression for a whole string
 * would keep a stack frame for each of its characters, and overflow with a string of 12 MB.
 */
function findEndOfString (json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

/** Whether an odd number of backslashes stands before this place. */
function isEscaped (json: string, index: number): boolean {
  let first = index
  while (json[first - 1] === '\\') first--
  return (index - first) % 2 === 1
}

// Sixteen digits of one number, with or without a point among them. They are written out, since V8 skips what cannot
// match only if nothing is a counted repetition (a sixth of the time).
const LONG = /[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]/
// An exponent of three digits. One in a string, such as a UUID, is followed by a quote or a letter in most cases.
const FAR = /\d[eE][+-]?\d\d\d+(?:[\s,\]}]|$)/

/** A number of a JSON text, and where it stands there. */
export interface NumberToken {
  readonly text: string
  readonly index: number
}

/** Returns the first number of a JSON text that a double does not keep, or undefined if there is none. */
export function findInexactNumber (json: string): NumberToken | undefined {
  if (!LONG.test(json) && !FAR.test(json)) return undefined
  // A copy, since it remembers where it is.
  const tokens = new RegExp(JSON_TOKENS)
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const { 0: text, index } = found
    if (text === '"') tokens.lastIndex = findEndOfString(json, index) + 1
    else if (!isExactNumber(text)) return { text, index }
  }
  return undefined
}

/** `true`, `false`, `1` and `0`, as XML Schema spells booleans. */
export function parseBoolean (text: string): boolean | undefined {
  return BOOLEANS.get(text)
}

type Parse = (text: string) => unknown

const PARSERS: ReadonlyArray<readonly [TypeName, Parse]> = [
  ['integer', parseInteger],
  ['number', parseNumber],
  ['boolean', parseBoolean]
]

/**
 * The conversion of a text that says nothing of its own type: a string where the shape allows one, else the first of
 * integer, number and boolean that it allows and the text fits. Blank is null where those allow null.
 */
export function compileText ({ types }: Shape): (text: string) => unknown {
  if (types.has('string')) return (text) => text
  const parsers = PARSERS.filter(([type]) => types.has(type)).map(([, parse]) => parse)
  const blank = types.has('null') ? null : UNFIT
  return (text) => {
    const trimmed = text.trim()
    if (trimmed === '') return blank
    for (const parse of parsers) {
      const value = parse(trimmed)
      if (value !== undefined) return value
    }
    return UNFIT
  }
}

const PHRASES: Readonly<Record<TypeName, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null'
}

/** "must be an integer or null" */
export function describeTypes (types: Iterable<TypeName>): string {
  const all = [...types]
  const named = all.filter((type) => !(type === 'integer' && all.includes('number')))
  return `must be ${named.map((type) => PHRASES[type]).join(' or ')}`
}

/** What is wrong with a whole number that a double does not tell from its neighbours. */
export const UNSAFE_INTEGER = 'must be an integer between -9007199254740991 and 9007199254740991'

/** Says what is wrong with a number that a double does not keep. */
export function describeInexact (text: string): string {
  const cure = 'send at most 15 digits, between 1e-307 and 1e308'
  return `has the number ${abbreviate(text, 40)}, which cannot be kept exactly; ${cure}`
}

/** Says why a text does not convert to one of these types. */
export function describeUnfit (types: ReadonlySet<TypeName>, text: string): string {
  const trimmed = text.trim()
  if (types.has('number') && NUMBER.test(trimmed)) return describeInexact(trimmed)
  return types.has('integer') && INTEGER.test(trimmed) ? UNSAFE_INTEGER : describeTypes(types)
}
