import { InvalidAnswerError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import { openShape, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { isObject, readMember } from '../../util/own-property.js'

/** So deep a value may be: one that holds itself has no end. */
const DEPTH = 1000

/** What goes out of an object: what is declared, and what else there may be. */
type Members = Pick<Shape, 'properties' | 'rest'>

/** The attribute that a value stands in. */
interface Place {
  readonly action: string
  readonly name: string
}

/**
 * The attributes of a handler's row as every format can write them: what has a `toJSON`, as dates do, is what that gives,
 * and what is undefined is left out. The same object where there is nothing of it; what does not go out stays as it is.
 * @throws InvalidAnswerError
 */
export function toPlain (
  attributes: Attributes,
  { open, attributes: properties }: Resource,
  action: string
): Attributes {
  return plainMembers(attributes, open ? openShape : { properties, rest: undefined }, (value, name, shape) =>
    plain(value, name, shape, { action, name }, 1)
  )
}

function refuse ({ action, name }: Place, what: string): never {
  throw new InvalidAnswerError(action, `has answered a row whose "${name}" ${what}`)
}

function plain (value: unknown, key: string, shape: Shape, place: Place, depth: number): unknown {
  if (typeof value === 'string') return value
  const given = hasSpelling(value) ? value.toJSON(key) : value
  switch (typeof given) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return given
    case 'number':
      return Number.isFinite(given) ? given : refuse(place, `has ${given} in it, which is no number of JSON's`)
    case 'object':
      if (depth > DEPTH) return refuse(place, `is nested deeper than ${DEPTH} levels`)
      if (Array.isArray(given)) {
        return plainItems(given, (item, index) => plain(item, String(index), shape.items, place, depth + 1))
      }
      // Of what is declared as something else all goes out.
      return isObject(given)
        ? plainMembers(given, shape.types.has('object') ? shape : openShape, (member, name, shape) =>
          plain(member, name, shape, place, depth + 1)
        )
        : null
    default:
      return refuse(place, `has a ${typeof given} in it, which no format can write`)
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

/** Of what is undefined there is null: the others keep their places. */
function plainItems (items: readonly unknown[], plain: (item: unknown, index: number) => unknown): readonly unknown[] {
  // Not `map`, which would leave the holes that JSON fills.
  const values = Array.from(items, (item, index) => plain(item, index) ?? null)
  return values.every((value, index) => value === items[index]) ? items : values
}
