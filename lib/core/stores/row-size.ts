import type { Row } from '../resource/row.js'
import { isObject } from '../util/own-property.js'

/**
 * The largest size of a batch without its largest row, in characters as `sizeOf` counts them. A character takes up to 2
 * bytes.
 */
export const LARGEST_BATCH_SIZE = 1_048_576

/** The memory of a row besides its values, in characters. */
export const ROW_OVERHEAD = 64
/** The memory of a value besides its text, in characters. */
export const VALUE_OVERHEAD = 16

/** Estimates the memory of a row, in characters. */
export function sizeOf ({ attributes }: Row): number {
  let size = ROW_OVERHEAD
  for (const name in attributes) size += sizeOfValue(attributes[name])
  return size
}

function sizeOfValue (value: unknown): number {
  if (typeof value === 'string') return VALUE_OVERHEAD + value.length
  if (Array.isArray(value)) return value.reduce<number>((size, part) => size + sizeOfValue(part), ROW_OVERHEAD)
  if (!isObject(value)) return VALUE_OVERHEAD
  let size = ROW_OVERHEAD
  // The names of members count too, because each parsed object may have different ones.
  for (const name in value) size += name.length + sizeOfValue(value[name])
  return size
}

export function areLarger (rows: readonly Row[], most: number): boolean {
  let size = 0
  for (const row of rows) {
    size += sizeOf(row)
    if (size > most) return true
  }
  return false
}
