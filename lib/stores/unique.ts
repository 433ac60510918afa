import type { Scope } from './store.js'

/** Of attributes that are unique together, the one that a client can change: what the scope stamps on is not its doing. */
export function attributeAtFault (group: readonly string[], scope: Scope): string {
  return group.find((attribute) => !Object.hasOwn(scope, attribute)) ?? group[0] as string
}
