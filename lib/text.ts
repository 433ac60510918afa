import type { Shape, TypeName } from './shape.js'

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

/** A decimal number; undefined for anything else, for infinity and for a whole number that a double cannot hold exactly. */
export function parseNumber (text: string): number | undefined {
  if (!NUMBER.test(text) || (INTEGER.test(text) && !isExactInteger(text))) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** Whether the double nearest to these digits is that very number, or is written with these very digits. */
export function isExactInteger (digits: string): boolean {
  if (digits.length < 16) return true
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  // A megabyte of digits is no number but an attack on BigInt's quadratic parser.
  return digits.length <= 400 && (String(value) === digits || BigInt(value) === BigInt(digits.replace(/^\+/, '')))
}

// Strings are matched to be passed over; a number is caught with its fraction and exponent.
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A token that is a string is none that could be too large. */
function isFiniteNumber (token: string): boolean {
  return token.startsWith('"') || Number.isFinite(Number(token))
}

// Sixteen digits, written out: V8 passes over what cannot be, which it does not before a counted repetition (a sixth of the time).
const LONG = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/

/** The first number of a JSON text that a double cannot hold: a whole one exactly, any at all. */
export function findInexactNumber (json: string): string | undefined {
  if (!LONG.test(json) && !/\d[eE]\+?\d{3}/.test(json)) return undefined
  for (const [token] of json.matchAll(JSON_TOKENS)) {
    if (INTEGER.test(token) ? !isExactInteger(token) : !isFiniteNumber(token)) return token
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

/** The first characters of a text, not in the middle of one. */
export function clip (text: string, most: number): string {
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** What a client has named, for a message about it: a client may name something by a megabyte. */
export function abbreviate (text: string, most = 100): string {
  return text.length > most ? `${clip(text, most)}…` : text
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
