import { DuplicateError } from '../errors.js'
import type { Id, Row, Scope } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { ownMember } from '../util/own-property.js'

/** The option `unique`: attributes, or groups of them. */
export type UniqueGroups = ReadonlyArray<string | readonly string[]>

export const NO_GROUPS = "must be a list of attributes, or groups of them, such as ['email', ['tenant', 'title']]"

/** Returns whether a value can be the option `unique`. */
export function areGroups (unique: unknown): boolean {
  return Array.isArray(unique) && unique.every((group) => typeof group === 'string' ||
    (Array.isArray(group) && group.length > 0 && group.every((name) => typeof name === 'string')))
}

/** Returns the attribute of a group that a client can change: the scope's values do not come from the client. */
export function attributeAtFault (group: readonly string[], scope: Scope): string {
  return group.find((attribute) => !Object.hasOwn(scope, attribute)) ?? group[0] as string
}

/** Knows which row has the values of each group. */
export class UniqueIndex {
  readonly #groups: ReadonlyArray<{ readonly group: readonly string[], readonly owners: Map<unknown, Id> }>

  constructor (unique: UniqueGroups) {
    this.#groups = unique.map((group) => ({ group: [group].flat(), owners: new Map<unknown, Id>() }))
  }

  /** @throws DuplicateError if a row other than `id` has the values */
  check (id: Id | undefined, attributes: Attributes, scope: Scope): void {
    for (const { group, owners } of this.#groups) {
      const owner = owners.get(keyOfGroup(group, attributes))
      if (owner !== undefined && owner !== id) throw new DuplicateError(attributeAtFault(group, scope))
    }
  }

  add ({ id, attributes }: Row): void {
    for (const { group, owners } of this.#groups) {
      const key = keyOfGroup(group, attributes)
      if (key !== undefined) owners.set(key, id)
    }
  }

  remove ({ attributes }: Row): void {
    for (const { group, owners } of this.#groups) owners.delete(keyOfGroup(group, attributes))
  }
}

/** Returns a key that only rows with the same values share, or undefined if a value is null or absent. */
function keyOfGroup (group: readonly string[], attributes: Attributes): unknown {
  const values = group.map((name) => ownMember(attributes, name))
  if (values.some((value) => value == null)) return undefined
  return keyOf(values.length === 1 ? values[0] : values)
}

/** Returns a key that equal values share, also equal arrays and objects. */
function keyOf (value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' ? JSON.stringify(value, sortNames) : value
}

function sortNames (_name: string, value: unknown): unknown {
  return typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort())
}
