import type { Schema } from './types.js'

/**
 * The keywords of a schema that are about the whole row: those of draft-07 (§6.5 to §6.7), and two of 2019-09 (§6.5.4,
 * §9.2.2.4).
 */
export const ROW_KEYWORDS = [
  'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'not', 'dependencies', 'dependentRequired', 'dependentSchemas',
  'minProperties'
] as const

/** Returns a schema of attributes without the keywords of the whole row. */
export function withoutRowKeywords (schema: Schema): Schema {
  if (!hasRowKeywords(schema)) return schema
  // The spread also copies symbols, under which TypeBox keeps its kinds.
  const copy: Record<string | symbol, unknown> = { ...schema }
  for (const keyword of ROW_KEYWORDS) delete copy[keyword]
  return copy
}

export function hasRowKeywords (schema: Schema): boolean {
  return ROW_KEYWORDS.some((keyword) => schema[keyword] !== undefined)
}
