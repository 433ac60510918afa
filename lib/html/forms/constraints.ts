import { hasSpelledDates, isDecimalShape, LOOSE_FORMATS } from '../../core/schema/convert-text.js'
import type { Shape } from '../../core/schema/shape.js'
import type { Schema } from '../../core/schema/types.js'
import { isObject } from '../../core/util/own-property.js'
import type { Constraints, ControlWidth } from '../views/model.js'

/**
 * Compiles the checks that a browser can do by itself. The user could not overrule a browser that refuses a valid
 * value. So the server alone checks what HTML cannot express. Exception: `maxlength` counts UTF-16 code units.
 */
export function compileConstraints (shape: Shape, schema: Schema): Constraints {
  const keywords = keywordsOf(schema)
  if (isDecimalShape(shape)) return { ...compileTextConstraints(keywords), ...compileDecimalConstraints(shape) }
  if (shape.only === 'string') return compileTextConstraints(keywords)
  return shape.only === 'integer' || shape.only === 'number' ? compileNumberConstraints(keywords, shape.only) : {}
}

/** The constraints of each control that may show an attribute. */
export interface ControlConstraints {
  readonly number: Constraints
  /** The constraints of a number that is on no step. */
  readonly anyNumber: Constraints
  readonly line: Constraints
  readonly textarea: Constraints
}

/**
 * Compiles the constraints of each control that may show an attribute.
 * @param isHidden whether the value is never shown: then an input has no constraints
 */
export function compileControlConstraints (all: Constraints, isHidden: boolean): ControlConstraints {
  const { min, max, step, minlength, maxlength, ...others } = all
  const lengths = { ...(minlength !== undefined && { minlength }), ...(maxlength !== undefined && { maxlength }) }
  const bounds = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
  return {
    number: isHidden ? {} : { ...bounds, ...(step !== undefined && { step }) },
    anyNumber: isHidden ? {} : { ...bounds, step: 'any' },
    line: isHidden ? {} : { ...lengths, ...others },
    textarea: lengths
  }
}

/** Returns whether the empty text is a valid value. */
export function takesEmptyText (shape: Shape, schema: Schema): boolean {
  const { types, format, choices } = shape
  const { minLength, pattern } = keywordsOf(schema)
  const isLoose = format === undefined || LOOSE_FORMATS.has(format)
  if (!types.has('string') || !isLoose || hasSpelledDates({ shape, schema }) || Number(minLength) > 0) return false
  return choices === undefined ? typeof pattern !== 'string' || new RegExp(pattern, 'u').test('') : choices.includes('')
}

/**
 * Returns the keywords of the value, also if `null` is an alternative: `anyOf: [{ type: 'string' }, { type: 'null' }]`.
 */
export function keywordsOf (schema: Schema): Schema {
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined
  const others = (alternatives ?? []).filter((part) => isObject(part) && part.type !== 'null')
  return others.length === 1 ? { ...others[0] as Schema, ...schema } : schema
}

function compileTextConstraints ({ minLength, maxLength, pattern }: Schema): Constraints {
  return {
    ...(typeof minLength === 'number' && minLength > 0 && { minlength: minLength }),
    ...(typeof maxLength === 'number' && { maxlength: maxLength }),
    ...(typeof pattern === 'string' && { pattern: convertPattern(pattern) })
  }
}

/** Matches an escaped character or a class of characters. */
const TOKEN = /\\[^]|\[(?:\\[^]|[^\]\\])*\]/g

/** Escapes the literal characters of a class that the flag `v` forbids or reads as operators (ECMA-262 §22.2.1). */
function escapeClass (token: string): string {
  const open = token.startsWith('[^') ? '[^' : '['
  const content = token.slice(open.length, -1)
  const escaped = content.replaceAll(
    /(\\[^])|^-|-$|[()[\]{}/|&!#$%*+,.:;<=>?@^`~]/g,
    (character, pair: string | undefined) => pair ?? `\\${character}`
  )
  return `${open}${escaped}]`
}

/**
 * Converts a pattern of JSON Schema, which may match a part of the text. HTML matches the whole text, with the flag
 * `v`, which reads some characters in brackets differently. A browser ignores a pattern that it cannot parse
 * (§4.10.5.3.6).
 */
function convertPattern (pattern: string): string {
  const escaped = pattern.replaceAll(TOKEN, (token) => token.startsWith('[') ? escapeClass(token) : token)
  return /^\^([^|]*[^\\|])\$$/.exec(escaped)?.[1] ?? `.*(?:${escaped}).*`
}

/** Compiles the constraints of a decimal. */
function compileDecimalConstraints ({ scale }: Shape): Constraints {
  return { inputmode: scale === 0 ? 'numeric' : 'decimal', step: scale === undefined ? 'any' : Number(`1e-${scale}`) }
}

/** Compiles the constraints of a number. The steps begin at `min`, so `min` itself must be one of them. */
function compileNumberConstraints (
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Schema,
  type: 'integer' | 'number'
): Constraints {
  const isInteger = type === 'integer'
  const step = typeof multipleOf === 'number' ? multipleOf : isInteger ? 1 : undefined
  const min = least(numberOf(minimum), numberOf(exclusiveMinimum), isInteger)
  const max = least(negate(numberOf(maximum)), negate(numberOf(exclusiveMaximum)), isInteger)
  return {
    inputmode: isInteger ? 'numeric' : 'decimal',
    step: step ?? 'any',
    ...(min !== undefined && { min: step === undefined ? min : toStep(min, step) }),
    ...(max !== undefined && { max: negate(max) as number })
  }
}

/** Returns the least number that both bounds allow. An exclusive bound is only exact for integers. */
function least (bound: number | undefined, exclusive: number | undefined, isInteger: boolean): number | undefined {
  const bounds = [
    ...(bound === undefined ? [] : [isInteger ? Math.ceil(bound) : bound]),
    ...(exclusive === undefined ? [] : [isInteger ? Math.floor(exclusive) + 1 : exclusive])
  ]
  return bounds.length === 0 ? undefined : Math.max(...bounds)
}

function toStep (min: number, step: number): number {
  const steps = Math.ceil(min / step)
  return Number((steps * step).toPrecision(15))
}

function numberOf (value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function negate (value: number | undefined): number | undefined {
  // A subtraction, because `-value` would be -0 for 0.
  return value === undefined ? undefined : 0 - value
}

/** The widths of short controls, in characters. The last one has room for any number, with its exponent. */
const WIDTHS: ReadonlyArray<ControlWidth & number> = [4, 10, 20]

/** Returns the width of a line that suits its longest value, or `undefined` for the whole width. */
export function compileWidth (shape: Shape, schema: Schema): ControlWidth {
  const { only, format, precision, scale } = shape
  const { maxLength, minimum, maximum, multipleOf } = keywordsOf(schema)
  if (isDecimalShape(shape)) return precision === undefined ? 20 : findWidth(precision + (scale === 0 ? 0 : 1))
  if (only === 'string') return format === undefined && typeof maxLength === 'number' ? findWidth(maxLength) : undefined
  if (only !== 'integer' && only !== 'number') return undefined
  const places = findPlaces(multipleOf)
  if (only === 'number' && places === undefined && !Number.isInteger(multipleOf)) return 20
  if (typeof maximum !== 'number') return 10
  const digits = Math.max(String(maximum).length, String(minimum ?? '').length)
  return findWidth(places === undefined ? digits : digits + places + 1) ?? 20
}

/** The most decimal places that a double can have besides one digit before the point. */
const MOST_PLACES = 14

function findWidth (characters: number): ControlWidth {
  return WIDTHS.find((width) => characters <= width)
}

/** Returns the decimal places that a step such as 0.01 gives to each number, or `undefined` for any other step. */
export function findPlaces (step: unknown): number | undefined {
  const places = typeof step === 'number' ? Math.round(-Math.log10(step)) : 0
  return places > 0 && places <= MOST_PLACES && step === Number(`1e-${places}`) ? places : undefined
}
