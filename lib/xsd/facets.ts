import { resolveReference } from '../core/schema/subschemas.js'
import type { Shape } from '../core/schema/shape.js'
import type { Schema } from '../core/schema/types.js'
import { isObject } from '../core/util/own-property.js'

/** A constraint of a simple type (XML Schema 1.0 Part 2 §4.3). */
export interface Facet {
  readonly name: string
  readonly value: string
  /** The title of an enumerated value. */
  readonly title?: string | undefined
}

/** Returns the schemas that a value must fit, each once. An alternative counts if it is the only one besides null. */
export function schemasOf (schema: unknown, root: Schema): readonly Schema[] {
  const found = new Set([schema].filter(isObject))
  // The set grows during the loop.
  for (const { $ref, allOf, anyOf, oneOf } of found) {
    const referred = typeof $ref === 'string' ? [resolveReference($ref, root)] : []
    const only = [anyOf, oneOf]
      .map((parts) => list(parts).filter((part) => !isObject(part) || part.type !== 'null'))
      .filter(({ length }) => length === 1)
      .flat()
    for (const part of [...referred, ...list(allOf), ...only]) if (isObject(part)) found.add(part)
  }
  return [...found]
}

function list (value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The greatest length that libxml2 reads correctly: it reads only the last eight digits. */
const MAX_LENGTH = 99_999_999

/** Returns the facets of texts: their values, or else length and pattern. */
export function textFacets ({ choices, titles }: Shape, schemas: readonly Schema[]): readonly Facet[] {
  if (choices !== undefined) return enumerate(choices.filter((choice) => typeof choice === 'string'), titles)
  const least = Math.max(0, ...numbersOf(schemas, 'minLength'))
  const longest = Math.min(Infinity, ...numbersOf(schemas, 'maxLength'))
  const most = longest > MAX_LENGTH ? Infinity : longest
  // XML Schema takes several patterns as alternatives, so only one is used.
  const patterns = schemas.map(({ pattern }) => pattern).filter((pattern) => typeof pattern === 'string')
  const [pattern] = patterns.flatMap((pattern) => findCommonPattern(pattern) ?? [])
  return [
    ...(least <= most
      ? [...(least > 0 ? facet('minLength', least) : []), ...(most < Infinity ? facet('maxLength', most) : [])]
      : []),
    ...(pattern === undefined ? [] : facet('pattern', pattern))
  ]
}

/**
 * Returns the facets of decimals. The pattern is necessary, because the other facets do not limit the digits before the
 * point, and ignore zeros at the end.
 */
export function decimalFacets ({ precision, scale }: Shape): readonly Facet[] {
  if (scale === undefined) return []
  const whole = precision === undefined ? '*' : `{0,${precision - scale}}`
  return [
    ...(precision === undefined ? [] : facet('totalDigits', precision)),
    ...facet('fractionDigits', scale),
    ...facet('pattern', `[+\\-]?0*[0-9]${whole}${scale === 0 ? '\\.?' : `(\\.[0-9]{0,${scale}})?`}`)
  ]
}

/** Returns the facets of bytes. XML Schema counts the bytes, and JSON Schema the characters of their base64. */
export function bytesFacets (schemas: readonly Schema[]): readonly Facet[] {
  const longest = Math.min(Infinity, ...numbersOf(schemas, 'maxLength'))
  const most = Math.floor(longest / 4) * 3
  return most > MAX_LENGTH ? [] : facet('maxLength', most)
}

/** Returns the facets of safe integers. */
export function integerFacets ({ choices, titles }: Shape, schemas: readonly Schema[]): readonly Facet[] {
  if (choices !== undefined) return enumerate(choices.filter(Number.isSafeInteger), titles)
  const least = Math.max(
    Number.MIN_SAFE_INTEGER,
    ...numbersOf(schemas, 'minimum').map(Math.ceil),
    ...numbersOf(schemas, 'exclusiveMinimum').map((bound) => Math.floor(bound) + 1)
  )
  const most = Math.min(
    Number.MAX_SAFE_INTEGER,
    ...numbersOf(schemas, 'maximum').map(Math.floor),
    ...numbersOf(schemas, 'exclusiveMaximum').map((bound) => Math.ceil(bound) - 1)
  )
  if (least > most) return []
  return [
    ...(least > Number.MIN_SAFE_INTEGER ? facet('minInclusive', least) : []),
    ...(most < Number.MAX_SAFE_INTEGER ? facet('maxInclusive', most) : [])
  ]
}

export function numberFacets ({ choices, titles }: Shape, schemas: readonly Schema[]): readonly Facet[] {
  if (choices !== undefined) return enumerate(choices.filter(Number.isFinite), titles)
  const above = Math.max(...numbersOf(schemas, 'exclusiveMinimum'))
  const below = Math.min(...numbersOf(schemas, 'exclusiveMaximum'))
  const least = Math.max(...numbersOf(schemas, 'minimum'))
  const most = Math.min(...numbersOf(schemas, 'maximum'))
  const [from, to] = [Math.max(above, least), Math.min(below, most)]
  if (from > to || (from === to && (above === from || below === to))) return []
  return [
    ...(from === -Infinity ? [] : facet(above === from ? 'minExclusive' : 'minInclusive', from)),
    ...(to === Infinity ? [] : facet(below === to ? 'maxExclusive' : 'maxInclusive', to))
  ]
}

/** Returns the facets of booleans: a pattern, because XML Schema does not allow them an enumeration. */
export function booleanFacets ({ choices }: Shape): readonly Facet[] {
  const known = choices?.filter((choice) => typeof choice === 'boolean') ?? []
  return new Set(known).size === 1 ? facet('pattern', known[0] === true ? 'true|1' : 'false|0') : []
}

/** Returns the least and the greatest number of items that an array may have. */
export function countItems (schemas: readonly Schema[]): { readonly least: number, readonly most: number } {
  const least = Math.max(0, ...numbersOf(schemas, 'minItems'))
  const most = Math.min(Infinity, ...numbersOf(schemas, 'maxItems'))
  return least <= most ? { least, most } : { least: 0, most: Infinity }
}

function numbersOf (schemas: readonly Schema[], keyword: string): number[] {
  return schemas.map((schema) => schema[keyword]).filter((value) => typeof value === 'number')
}

function facet (name: string, value: number | string): readonly [Facet] {
  // `String` turns -0 into 0, because XML Schema distinguishes the two.
  return [{ name, value: String(value) }]
}

function enumerate (choices: readonly unknown[], titles: Shape['titles']): readonly Facet[] {
  return [...new Set(choices)].map((choice) => ({
    name: 'enumeration',
    value: String(choice),
    title: titles.get(choice)
  }))
}

// These mean the same in ECMAScript (ECMA-262 §22.2.1) and in XML Schema 1.0 (Part 2 §F). `\d` and `.` do not.
const ESCAPE = String.raw`\\[\\|.?*+(){}[\]^nrt]`
const MEMBER = String.raw`(?:[^\\[\]^-]|\\-|${ESCAPE})`
const SET = String.raw`\[\^?(?:${MEMBER}(?:-${MEMBER})?)+\]`
const REPEAT = String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})?`
const COMMON = new RegExp(String.raw`^\^((?:[(|]|(?:[^\\^$.*+?()[\]{}|]|\)|${ESCAPE}|${SET})${REPEAT})*)\$$`, 'u')

/**
 * Returns a pattern of ECMAScript without its anchors, or undefined if XML Schema reads it differently. XML Schema
 * always matches the whole text.
 */
function findCommonPattern (pattern: string): string | undefined {
  const [, source] = COMMON.exec(pattern) ?? []
  // A `|` outside groups, escapes and sets divides the anchors: `^a|b$` has one in each alternative.
  let outside = source?.replaceAll(/\\[^]|\[(?:\\[^]|[^\\\]])+\]/g, '') ?? '|'
  for (let before = ''; before !== outside;) {
    before = outside
    outside = outside.replaceAll(/\([^()]*\)/g, '')
  }
  return outside.includes('|') ? undefined : source
}
