/** Returns an own member. An attribute may be called `constructor` or `toString`, which every object inherits. */
export function ownMember (members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** Returns a member, which may be inherited, but not from `Object.prototype`. */
export function readMember (members: Readonly<Record<string, unknown>>, name: string): unknown {
  return name in Object.prototype ? ownMember(members, name) : members[name]
}

/** Compiles a function that returns a member. Only names that all objects inherit need the check for own members. */
export function compileMember (name: string): (members: Readonly<Record<string, unknown>>) => unknown {
  return name in Object.prototype ? (members) => ownMember(members, name) : (members) => members[name]
}

/** Sets an own member, whatever its name is: an assignment to `__proto__` would set the prototype. */
export function setMember (members: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') members[name] = value
  else Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Returns a member of any value, or `undefined` if it has none. Null and undefined have none. */
export function findMember (value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}

/** Returns whether a value is an object, and neither an array nor null. */
export function isObject (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether an object has no members of its own. */
export function isEmpty (members: Readonly<Record<string, unknown>>): boolean {
  for (const name in members) if (Object.hasOwn(members, name)) return false
  return true
}

/** Returns the value if it is an object and no array, else `undefined`. */
export function asObject (value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined
}

/** Returns whether a value is an object or an array. */
export function isStructure (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns members whose values cannot change: `members` itself if no value is an object, otherwise a frozen copy. */
export function freezeValues (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const name in members) if (typeof members[name] === 'object') return freezeMembers(members)
  return members
}

/**
 * Returns an object with the members of both. A spread would do the same, but V8 gives each object of a spread a hidden
 * class of its own when it is frozen, so that lists of such objects take 1.4 times as long (`npm run bench -- http`).
 */
export function mergeMembers (
  members: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, unknown>>
): Record<string, unknown> {
  return Object.assign({}, members, others)
}

function freezeMembers (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.freeze(Object.fromEntries(Object.entries(members).map(([name, value]) => [name, freezeCopy(value)])))
}

function freezeCopy (value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(freezeCopy))
  return isObject(value) ? freezeMembers(value) : value
}

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

function sortMembers (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers)
  if (!isObject(value)) return value
  const sorted = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1)
  return Object.fromEntries(sorted.map(([name, member]) => [name, sortMembers(member)]))
}
