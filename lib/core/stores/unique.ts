import { DuplicateError, InvalidOptionError } from '../errors.js'
import type { Id, Row, Scope } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { ownMember, renderCanonicalJson } from '../util/own-property.js'
import { isDecimal, normalizeDecimal } from '../util/decimal.js'

/** The option `unique`: attributes, or groups of attributes. */
export type UniqueGroups = ReadonlyArray<string | readonly string[]>

export function checkUnique (unique: unknown): asserts unique is UniqueGroups {
  const isGroup = (group: unknown): boolean => typeof group === 'string' ||
    (Array.isArray(group) && group.length > 0 && group.every((name) => typeof name === 'string'))
  if (Array.isArray(unique) && unique.every(isGroup)) return
  throw new InvalidOptionError(
    'unique',
    "must be a list of attributes, or groups of them, such as ['email', ['tenant', 'title']]"
  )
}

export function checkSoftDelete (attribute: unknown): asserts attribute is string | undefined {
  if (attribute === undefined || (typeof attribute === 'string' && attribute !== '')) return
  throw new InvalidOptionError('softDelete', "must be the name of an attribute such as 'deletedAt'")
}

/**
 * Makes the error about the values of a group that another row has. It names the attributes outside the scope, because
 * clients can change them.
 */
export function makeDuplicateError (group: readonly string[], scope: Scope, cause?: unknown): DuplicateError {
  const named = group.filter((attribute) => !Object.hasOwn(scope, attribute))
  const [first = group[0] as string, ...others] = named
  return new DuplicateError(first, { others, cause })
}

/** An index of the ids of rows by the values of each unique group. */
export class UniqueIndex {
  readonly #groups: ReadonlyArray<{ readonly group: readonly string[], readonly owners: Map<unknown, Id> }>

  readonly #decimals: ReadonlySet<string>
  readonly #softDelete: string | undefined

  /**
   * @param decimals the attributes whose texts are compared as numbers
   * @param softDelete the attribute that is null in each row whose values count. @default all rows count
   */
  constructor (unique: UniqueGroups, decimals: ReadonlySet<string>, softDelete: string | undefined) {
    this.#decimals = decimals
    this.#softDelete = softDelete
    this.#groups = unique.map((group) => ({ group: [group].flat(), owners: new Map<unknown, Id>() }))
  }

  /** Throws `DuplicateError` if a row other than `id` has the values of a group. */
  check (id: Id | undefined, attributes: Attributes, scope: Scope): void {
    for (const { group, owners } of this.#groups) {
      const owner = owners.get(this.#keyOf(group, attributes))
      if (owner !== undefined && owner !== id) throw makeDuplicateError(group, scope)
    }
  }

  add ({ id, attributes }: Row): void {
    for (const { group, owners } of this.#groups) {
      const key = this.#keyOf(group, attributes)
      if (key !== undefined) owners.set(key, id)
    }
  }

  remove ({ attributes }: Row): void {
    for (const { group, owners } of this.#groups) owners.delete(this.#keyOf(group, attributes))
  }

  /** Returns a key that only rows with the same values share, or `undefined` if a value is absent or does not count. */
  #keyOf (group: readonly string[], attributes: Attributes): unknown {
    if (this.#softDelete !== undefined && ownMember(attributes, this.#softDelete) != null) return undefined
    const values = group.map((name) => {
      const value = ownMember(attributes, name)
      return this.#decimals.has(name) && isDecimal(value) ? normalizeDecimal(value) : value
    })
    if (values.some((value) => value == null)) return undefined
    return keyOf(values.length === 1 ? values[0] : values)
  }
}

/** Returns a key that equal values share, including equal arrays and objects. */
function keyOf (value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' ? renderCanonicalJson(value) : value
}
