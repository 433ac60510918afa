import type { Shape } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import { isObject } from '../../../util/own-property.js'
import type { Constraints } from '../views/model.js'

/**
 * What a browser may check by itself. A browser that refused what the schema lets through could not be overruled, so
 * whatever HTML cannot say is left to the server; but for `maxlength`, which counts in units of UTF-16.
 */
export function compileConstraints (shape: Shape, schema: Schema): Constraints {
  const keywords = keywordsOf(schema)
  if (shape.only === 'string') return compileTextConstraints(keywords)
  return shape.only === 'integer' || shape.only === 'number' ? compileNumberConstraints(keywords, shape.only) : {}
}

/** The constraints of each control that may show a value of an attribute; the same objects for each of its values. */
export interface ControlConstraints {
  readonly number: Constraints
  /** Of a number that is on no step. */
  readonly anyNumber: Constraints
  readonly line: Constraints
  readonly textarea: Constraints
}

/** @param isHidden whether the value is never shown: then no line says what it must be */
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

/** Formats that say how a text is edited, and nothing of what it must be. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['textarea', 'password'])

/** Whether the empty text is a value of its own, and not one that is refused. */
export function takesEmptyText ({ types, format, choices }: Shape, schema: Schema): boolean {
  const { minLength, pattern } = keywordsOf(schema)
  if (!types.has('string') || (format !== undefined && !ANNOTATIONS.has(format)) || Number(minLength) > 0) return false
  return choices === undefined ? typeof pattern !== 'string' || new RegExp(pattern, 'u').test('') : choices.includes('')
}

/** The keywords of the value, also where null is the alternative: `anyOf: [{ type: 'string' }, { type: 'null' }]`. */
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

/** An escaped character, or a class of characters. */
const TOKEN = /\\[^]|\[(?:\\[^]|[^\]\\])*\]/g

/** What stands for itself in a class, but must be escaped by the flag v, or would be an operator (ECMA-262 §22.2.1). */
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
 * JSON Schema searches the text, where HTML matches the whole of it, by a syntax (the flag v) that reads some
 * characters within brackets in another way. A browser passes over a pattern that it cannot read (§4.10.5.3.6).
 */
function convertPattern (pattern: string): string {
  const escaped = pattern.replaceAll(TOKEN, (token) => token.startsWith('[') ? escapeClass(token) : token)
  return /^\^([^|]*[^\\|])\$$/.exec(escaped)?.[1] ?? `.*(?:${escaped}).*`
}

/** `min` is where the steps begin, so it must be one of them. */
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

/** The least number that the two bounds let through, as far as it can be named. */
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
  // Not -0, which would be written as such.
  return value === undefined ? undefined : 0 - value
}
