import { TooManyValuesError } from '../errors.js'
import { isStructure } from '../util/own-property.js'

/** So many values one body may have: elements of XML, values of JSON, items of a form. */
export const MAX_VALUES = 50_000

/** So deep a document may be nested, and a value. A deeper one would make recursive functions fail. */
export const MAX_DEPTH = 32

/** @throws TooManyValuesError */
export function checkValueCount (count: number): void {
  if (count > MAX_VALUES) throw new TooManyValuesError(MAX_VALUES)
}

/**
 * How many values a JSON value is made of, itself among them.
 * @throws TooManyValuesError
 */
export function countValues (value: unknown): number {
  let count = 1
  // Each adds what stands in it. Not by calling itself: a value may be nested as deep as a body is long.
  const structures = [value].filter(isStructure)
  for (const structure of structures) {
    const parts: readonly unknown[] = Array.isArray(structure) ? structure : Object.values(structure)
    checkValueCount(count += parts.length)
    for (const part of parts) if (isStructure(part)) structures.push(part)
  }
  return count
}
