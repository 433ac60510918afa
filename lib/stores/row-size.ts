import type { Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'

/** In characters, as `sizeOf` counts: the size of a batch beyond its largest row. A character takes up to 2 bytes. */
export const LARGEST_BATCH_SIZE = 1_048_576

/** In characters: the overhead of a row, and of each of its values. */
export const ROW_OVERHEAD = 64
export const VALUE_OVERHEAD = 16

/** Estimates the memory of a row, in characters. */
export function sizeOf ({ attributes }: Row): number {
  let size = ROW_OVERHEAD
  for (const name in attributes) size += sizeOfValue(attributes[name])
  return size
}

function sizeOfValue (value: unknown): number {
  if (typeof value === 'string') return VALUE_OVERHEAD + value.length
  if (typeof value !== 'object' || value === null) return VALUE_OVERHEAD
  let size = ROW_OVERHEAD
  if (Array.isArray(value)) {
    for (const part of value) size += sizeOfValue(part)
    return size
  }
  // The names count, because each parsed object may have other ones.
  for (const name in value) size += name.length + sizeOfValue((value as Attributes)[name])
  return size
}

/** Returns whether the rows together are larger than `most` characters. */
export function areLarger (rows: readonly Row[], most: number): boolean {
  let size = 0
  for (const row of rows) {
    size += sizeOf(row)
    if (size > most) return true
  }
  return false
}
