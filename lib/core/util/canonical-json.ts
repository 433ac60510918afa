import { isObject, isStructure } from './own-property.js'

/** Returns whether two values are the same JSON. The members of an object may have any order. Absence equals null. */
export function isSame (a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isStructure(a) || !isStructure(b)) return (a ?? null) === null && (b ?? null) === null
  return renderCanonicalJson(a) === renderCanonicalJson(b)
}

/** Renders equal values as the same JSON text, with members in the order of their names. */
export function renderCanonicalJson (value: unknown): string {
  return JSON.stringify(sortMembers(value))
}

/**
 * Sorts the members of a value by name. If they are sorted, as in JSON that we have written, returns the value itself.
 */
function sortMembers (value: unknown): unknown {
  if (Array.isArray(value)) return sortItems(value)
  return isObject(value) ? sortObject(value) : value
}

function sortItems (items: readonly unknown[]): readonly unknown[] {
  let sorted: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (typeof item !== 'object') continue
    const inner = sortMembers(item)
    if (inner !== item) (sorted ??= [...items])[index] = inner
  }
  return sorted ?? items
}

function sortObject (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sorted: Array<[string, unknown]> = []
  let isSame = true
  let last = ''
  for (const name of Object.keys(members)) {
    const member = members[name]
    const inner = sortMembers(member)
    isSame &&= name >= last && inner === member
    last = name
    sorted.push([name, inner])
  }
  return isSame ? members : Object.fromEntries(sorted.sort(([a], [b]) => a < b ? -1 : 1))
}
