import { InvalidAnswerError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import { openShape, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { isObject, readMember } from '../../util/own-property.js'

/** The deepest nesting of a value, in levels. The limit ends a value that contains itself. */
const DEPTH = 1000

/** The declared members of an object, and the shape of others if they may be written too. */
type Members = Pick<Shape, 'properties' | 'rest'>

/** The attribute that a value belongs to, and how deep in it the value is. */
interface Owner {
  readonly action: string
  readonly name: string
  readonly depth: number
}

/**
 * Converts the attributes of a handler's row to values that every format can write. A value with `toJSON`, such as a
 * date, becomes its result, and undefined members are left out. Returns the same object if nothing changes.
 * @throws InvalidAnswerError
 */
export function toPlain (
  attributes: Attributes,
  { open, attributes: properties }: Resource,
  action: string
): Attributes {
  return plainMembers(attributes, open ? openShape : { properties, rest: undefined }, (value, name, shape) =>
    plain(value, name, shape, { action, name, depth: 1 })
  )
}

function refuse ({ action, name }: Owner, what: string): never {
  throw new InvalidAnswerError(action, `has returned a row whose "${name}" ${what}`)
}

function plain (value: unknown, key: string, shape: Shape, owner: Owner): unknown {
  if (typeof value === 'string') return value
  const given = hasSpelling(value) ? value.toJSON(key) : value
  switch (typeof given) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return given
    case 'number':
      return Number.isFinite(given) ? given : refuse(owner, `contains ${given}, which is not a number in JSON`)
    case 'object': {
      const inner = { ...owner, depth: owner.depth + 1 }
      if (owner.depth > DEPTH) return refuse(owner, `is nested deeper than ${DEPTH} levels`)
      if (Array.isArray(given)) {
        return plainItems(given, (item, index) => plain(item, String(index), shape.items, inner))
      }
      // An object that is declared as something else is written with all its members.
      return isObject(given)
        ? plainMembers(given, shape.types.has('object') ? shape : openShape, (member, name, shape) =>
          plain(member, name, shape, inner)
        )
        : null
    }
    default:
      return refuse(owner, `contains a ${typeof given}, which no format can write`)
  }
}

function hasSpelling (value: unknown): value is { toJSON (key: string): unknown } {
  return typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === 'function'
}

function plainMembers (
  members: Attributes,
  { properties, rest }: Members,
  plain: (value: unknown, name: string, shape: Shape) => unknown
): Attributes {
  const values = new Map<string, unknown>()
  let isSame = true
  for (const name of rest === undefined ? properties.keys() : Object.keys(members)) {
    const property = properties.get(name)
    if (property?.writeOnly === true) continue
    const value = readMember(members, name)
    const plainValue = plain(value, name, property?.shape ?? (rest as Shape))
    values.set(name, plainValue)
    isSame &&= plainValue === value && (value !== undefined || !Object.hasOwn(members, name))
  }
  return isSame
    ? members
    : Object.fromEntries(
      [...Object.entries(members).filter(([name]) => !values.has(name)), ...values].filter(
        ([, value]) => value !== undefined
      )
    )
}

/** Converts items. An undefined item becomes null, so that the others keep their positions. */
function plainItems (items: readonly unknown[], plain: (item: unknown, index: number) => unknown): readonly unknown[] {
  // `map` would skip the holes that JSON fills with null.
  const values = Array.from(items, (item, index) => plain(item, index) ?? null)
  return values.every((value, index) => value === items[index]) ? items : values
}
