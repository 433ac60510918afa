import type { Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'

/** How large a batch may be beyond its largest row, as `sizeOf` counts: a character takes up to two bytes in memory. */
export const LARGEST_BATCH_SIZE = 1_048_576

/** What a row takes besides its values, and what each value takes besides its characters. */
const ROW = 64
const VALUE = 16

/** Roughly what a row takes in memory, in characters. */
export function sizeOf ({ attributes }: Row): number {
  let size = ROW
  for (const name in attributes) size += sizeOfValue(attributes[name])
  return size
}

function sizeOfValue (value: unknown): number {
  if (typeof value === 'string') return VALUE + value.length
  if (typeof value !== 'object' || value === null) return VALUE
  let size = ROW
  if (Array.isArray(value)) {
    for (const part of value) size += sizeOfValue(part)
    return size
  }
  // The names are counted, because an object that has been parsed may have names of its own.
  for (const name in value) size += name.length + sizeOfValue((value as Attributes)[name])
  return size
}

/** Whether the rows together are larger than so many characters. */
export function areLarger (rows: readonly Row[], most: number): boolean {
  let size = 0
  for (const row of rows) {
    size += sizeOf(row)
    if (size > most) return true
  }
  return false
}
