import { isStructure } from '../../core/util/own-property.js'
import { clip } from '../../core/util/words.js'

/** The maximum length of a value on a page, in characters. A form has no field for a longer value. */
export const MAX_SHOWN_LENGTH = 100_000

/** Returns whether a value is too long for a page. */
export function isLong (value: unknown): boolean {
  return typeof value === 'string'
    ? value.length > MAX_SHOWN_LENGTH
    : typeof value === 'object' && measure(value, MAX_SHOWN_LENGTH) < 0
}

/** Returns the part of a long value that a page shows: the first characters, items or members. */
export function beginningOf (value: unknown): unknown {
  return cut(value, MAX_SHOWN_LENGTH)
}

/** Returns the room that a value leaves. It is negative if the value does not fit. Names and separators count, too. */
function measure (value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length
  if (!isStructure(value)) return room - 1
  let left = room - 2
  for (const [name, part] of partsOf(value)) {
    if (left < 0) return left
    left = measure(part, left) - lengthOf(name) - 1
  }
  return left
}

/** Returns as much of a long value as there is room for. */
function cut (value: unknown, room: number): unknown {
  if (typeof value === 'string') return clip(value, room)
  const whole = value as object
  const parts: Part[] = []
  let left = room - 2
  for (const [name, part] of partsOf(whole)) {
    const before = left - lengthOf(name) - 1
    left = measure(part, before)
    if (left >= 0) parts.push([name, part])
    else if (before > 0 && (typeof part === 'string' || isStructure(part))) parts.push([name, cut(part, before)])
    if (left < 0) break
  }
  return Array.isArray(whole) ? parts.map(([, part]) => part) : Object.fromEntries(parts)
}

/** A member of an object, or an item of an array with its index. */
type Part = [name: string | number, part: unknown]

function partsOf (whole: object): Iterable<Part> {
  return Array.isArray(whole) ? whole.entries() : Object.entries(whole)
}

function lengthOf (name: string | number): number {
  return typeof name === 'string' ? name.length : 0
}
