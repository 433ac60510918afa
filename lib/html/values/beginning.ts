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
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) return left
      left = measure(item, left) - 1
    }
    return left
  }
  for (const [name, member] of Object.entries(value)) {
    if (left < 0) return left
    left = measure(member, left) - name.length - 1
  }
  return left
}

/** Returns as much of a long value as there is room for. */
function cut (value: unknown, room: number): unknown {
  if (typeof value === 'string') return clip(value, room)
  if (!Array.isArray(value)) return cutMembers(value as object, room - 2)
  const items: unknown[] = []
  let left = room - 2
  for (const item of value) {
    const after = measure(item, left) - 1
    if (after >= 0) items.push(item)
    else if (left > 0 && isDivisible(item)) items.push(cut(item, left))
    if (after < 0) break
    left = after
  }
  return items
}

function cutMembers (value: object, room: number): object {
  const members: Array<[name: string, member: unknown]> = []
  let left = room
  for (const [name, member] of Object.entries(value)) {
    const before = left - name.length - 1
    left = measure(member, before)
    if (left >= 0) members.push([name, member])
    else if (before > 0 && isDivisible(member)) members.push([name, cut(member, before)])
    if (left < 0) break
  }
  return Object.fromEntries(members)
}

function isDivisible (value: unknown): boolean {
  return typeof value === 'string' || isStructure(value)
}
