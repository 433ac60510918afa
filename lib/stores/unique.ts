import type { Scope } from '../resource/row.js'

export const NO_GROUPS = 'must be a list of attributes, or groups of them, such as [\'email\', [\'tenant\', \'title\']]'

/** Whether a value can be the option `unique`. */
export function areGroups (unique: unknown): boolean {
  return (
    Array.isArray(unique) &&
    unique.every(
      (group) =>
        typeof group === 'string' ||
        (Array.isArray(group) && group.length > 0 && group.every((name) => typeof name === 'string'))
    )
  )
}

/** Of attributes that are unique together, the one that a client can change: what the scope stamps on is not its doing. */
export function attributeAtFault (group: readonly string[], scope: Scope): string {
  return group.find((attribute) => !Object.hasOwn(scope, attribute)) ?? group[0] as string
}
