/**
 * A member of the object's own: an attribute may be called `constructor` or `toString`, which every object answers to.
 */
export function ownMember (members: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** How to read a member by its name: without a question where no object inherits one of that name. */
export function compileMember (name: string): (members: Readonly<Record<string, unknown>>) => unknown {
  return name in Object.prototype ? (members) => ownMember(members, name) : (members) => members[name]
}
