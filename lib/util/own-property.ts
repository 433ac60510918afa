/**
 * A member of the object's own: an attribute may be called `constructor` or `toString`, which every object answers to.
 */
export function ownMember (members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** A member, which an object of the app's own may inherit, but not from `Object`. */
export function readMember (members: Readonly<Record<string, unknown>>, name: string): unknown {
  return name in Object.prototype ? ownMember(members, name) : members[name]
}

/** How to read a member by its name: without a question where no object inherits one of that name. */
export function compileMember (name: string): (members: Readonly<Record<string, unknown>>) => unknown {
  return name in Object.prototype ? (members) => ownMember(members, name) : (members) => members[name]
}

/** Returns whether a value is an object that is no array, as the objects of JSON are. */
export function isObject (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns whether a value is an object or an array. */
export function isStructure (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
