import { TooManyValuesError } from '../errors.js'
import { isStructure } from '../util/own-property.js'

/** The largest number of values in a body: XML elements, JSON values or form items. */
export const MAX_VALUES = 50_000

/**
 * The deepest nesting of a document or a value. Without a limit, it could overflow the stack of recursive functions.
 */
export const MAX_DEPTH = 32

/** Throws `TooManyValuesError` if the count is greater than `MAX_VALUES`. */
export function checkValueCount (count: number): void {
  if (count > MAX_VALUES) throw new TooManyValuesError(MAX_VALUES)
}

/**
 * Counts a JSON value and all values inside it.
 * @throws TooManyValuesError if there are more than `MAX_VALUES`
 */
export function countValues (value: unknown): number {
  let count = 1
  // This is a loop, because a value may be nested too deep for recursion.
  const structures = [value].filter(isStructure)
  for (const structure of structures) {
    const parts: readonly unknown[] = Array.isArray(structure) ? structure : Object.values(structure)
    checkValueCount(count += parts.length)
    for (const part of parts) if (isStructure(part)) structures.push(part)
  }
  return count
}

/** Returns whether a value has more levels of arrays and objects. */
export function isDeeper (value: unknown, levels: number): boolean {
  if (!isStructure(value)) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
