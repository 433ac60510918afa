import { FREE_MOMENT } from '../../../core/schema/convert-text.js'
import type { Schema } from '../../../core/schema/types.js'
import { type Expression, type FindColumn, type Literal, parseExpression } from './expression.js'
import type { Token } from './tokens.js'

/** What a CHECK demands of the values of a column. Null always meets it. */
export interface Demand {
  readonly column: string
  /** Whether it concerns the length of a text. */
  readonly isLength: boolean
  readonly by: string
  readonly values: readonly Literal[]
}

const FLIPPED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

/**
 * Reads the demands of a CHECK, as far as it consists of simple conditions. A condition that it cannot read is left to
 * the database.
 */
export function readCheck (tokens: readonly Token[], findColumn: FindColumn): Demand[] {
  return demandsOf(parseExpression(tokens, findColumn))
}

function demandsOf (expression: Expression): Demand[] {
  if (expression.is === 'and') return expression.parts.flatMap(demandsOf)
  if (expression.is === 'or') return alternativesOf(expression.parts)
  return expression.is === 'compare' ? comparisonOf(expression) : []
}

function comparisonOf ({ by, left, right }: Extract<Expression, { is: 'compare' }>): Demand[] {
  if (left.is === 'value' && right.is !== 'value') {
    return by === 'in' ? [] : comparisonOf({ is: 'compare', by: FLIPPED[by] ?? by, left: right, right: left })
  }
  if (left.is !== 'column' && left.is !== 'length') return []
  const items = right.is === 'list' && by === 'in' ? right.items : [right]
  const values = items.flatMap((item) => (item.is === 'value' ? [item.value] : []))
  if (values.length < items.length || (by === 'in' && right.is !== 'list')) return []
  return [{ column: left.name, isLength: left.is === 'length', by, values }]
}

/** Reads the demands of conditions of which one must be met: `a IS NULL OR a > 0`, `a = 'x' OR a = 'y'`. */
function alternativesOf (parts: readonly Expression[]): Demand[] {
  const others = parts.filter(({ is }) => is !== 'null')
  const nullable = parts.flatMap((part) =>
    part.is === 'null' ? [part.operand.is === 'column' ? part.operand.name : undefined] : [])
  const groups = others.map(demandsOf)
  const choices = groups.flatMap((group) => group.find(isChoice) ?? [])
  const isOfOne = (column: string): boolean =>
    [...nullable, ...choices.map((choice) => choice.column)].every((name) => name === column)
  if (groups.length === 1) return groups.flat().filter(({ column }) => nullable.every((name) => name === column))
  const [choice] = choices
  if (choice === undefined || choices.length < groups.length || !isOfOne(choice.column)) return []
  return [{ ...choice, by: 'in', values: choices.flatMap(({ values }) => values) }]
}

function isChoice ({ by, isLength }: Demand): boolean {
  return !isLength && CHOICES.has(by)
}

const CHOICES: ReadonlySet<string> = new Set(['=', '==', 'in'])

/**
 * Adds the keywords of demands to the schema of a column. `isExact` is false if the database takes different texts of
 * the column for equal, such as those in another case.
 */
export function addKeywords (schema: Schema, demands: readonly Demand[], isExact: boolean): Schema {
  let result = schema
  for (const demand of demands) {
    const keywords = keywordsOf(result, demand, isExact)
    result = { ...result, ...tighten(result, keywords) }
  }
  return result
}

/** Returns whether a schema allows every text, apart from its other keywords. */
export function isFreeText ({ type, format = FREE_MOMENT, contentEncoding }: Schema): boolean {
  return type === 'string' && format === FREE_MOMENT && contentEncoding === undefined
}

type Keywords = Readonly<Record<string, number | readonly Literal[]>>

function keywordsOf (schema: Schema, { by, isLength, values }: Demand, isExact: boolean): Keywords {
  const [value] = values
  const isText = isFreeText(schema)
  if (isLength) return isText && isExact && typeof value === 'number' ? lengthKeywords(by, value) : {}
  if (by === '<>' || by === '!=') return isText && isExact && value === '' ? { minLength: 1 } : {}
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  if (CHOICES.has(by)) {
    const fits = isNumber ? Number.isFinite : (choice: unknown) => typeof choice === 'string'
    // With null among the values, the condition is never false.
    return (isNumber || (isText && isExact)) && values.every(fits) ? { enum: [...new Set(values)] } : {}
  }
  const keyword = BOUNDS[by]
  return isNumber && keyword !== undefined && typeof value === 'number' ? { [keyword]: value } : {}
}

const BOUNDS: Readonly<Record<string, string>> = {
  '>=': 'minimum', '>': 'exclusiveMinimum', '<=': 'maximum', '<': 'exclusiveMaximum'
}

function lengthKeywords (by: string, length: number): Keywords {
  const least = Math.max(0, Math.ceil(by === '>' ? Math.floor(length) + 1 : length))
  const most = Math.floor(by === '<' ? Math.ceil(length) - 1 : length)
  if (by === '>' || by === '>=') return { minLength: least }
  if (most < 0) return {}
  if (by === '<' || by === '<=') return { maxLength: most }
  return by === '=' || by === '==' ? { minLength: least, maxLength: most } : {}
}

/** Keeps the tighter one of two bounds, and the values that both lists have. */
function tighten (schema: Schema, keywords: Keywords): Schema {
  return Object.fromEntries(Object.entries(keywords).map(([keyword, value]) => {
    const known = schema[keyword]
    if (Array.isArray(known) && Array.isArray(value)) {
      const both = known.filter((item) => value.includes(item))
      return [keyword, both.length > 0 ? both : known]
    }
    if (typeof known !== 'number' || typeof value !== 'number') return [keyword, value]
    return [keyword, /max/i.test(keyword) ? Math.min(known, value) : Math.max(known, value)]
  }))
}
