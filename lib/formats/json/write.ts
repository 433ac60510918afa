import { compileMember } from '../../members.js'
import type { Resource } from '../../resource.js'
import { openShape, type Shape } from '../../shape.js'
import type { Attributes, Id } from '../../stores/store.js'

type Write = (value: unknown) => string

/** Anything that JSON.stringify would change in a string. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/ // eslint-disable-line no-control-regex

/**
 * Writes a record, `{ id, …attributes }`, as a JSON object: the id, then the attributes in the order of the schema.
 * What is not declared, and what is `writeOnly`, does not go out; values are written by their own type, nothing is coerced.
 */
export function compileJsonRecord ({ attributes, open }: Resource): (id: Id, attributes: Attributes) => string {
  const writeAttributes = open ? writeOpen : compileMembers(attributes)
  return (id, members) => `{"id":${typeof id === 'number' ? id : `"${id}"`}${writeAttributes(members)}}`
}

/** Members after the first, each with its comma. */
function writeOpen ({ id, ...attributes }: Attributes): string {
  const text = JSON.stringify(attributes)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

function compileMembers (properties: Shape['properties']): (members: Attributes) => string {
  const parts = [...properties.values()]
    .filter(({ writeOnly }) => !writeOnly)
    .map(({ name, shape }) => ({ read: compileMember(name), key: `,${JSON.stringify(name)}:`, write: compileValue(shape) }))
  return (members) => {
    let text = ''
    for (const { read, key, write } of parts) {
      const value = read(members)
      if (value !== undefined) text += key + write(value)
    }
    return text
  }
}

function compileValue (shape: Shape): Write {
  if (hidesNothing(shape)) return writeValue
  const writeDeclared = compileMembers(shape.properties)
  const writeMembers = shape.rest === undefined ? writeDeclared : withOthers(shape, shape.rest, writeDeclared)
  const writeItem = compileValue(shape.items)
  return (value) => {
    if (Array.isArray(value)) return `[${value.map(writeItem).join(',')}]`
    return typeof value === 'object' && value !== null ? `{${writeMembers(value as Attributes).slice(1)}}` : writeValue(value)
  }
}

/** Adds the members that are not among the properties. */
function withOthers ({ properties }: Shape, rest: Shape, writeDeclared: (members: Attributes) => string): (members: Attributes) => string {
  const write = compileValue(rest)
  return (members) => {
    let text = writeDeclared(members)
    for (const name of Object.keys(members)) {
      if (!properties.has(name)) text += `,${JSON.stringify(name)}:${write(members[name])}`
    }
    return text
  }
}

/** Whether all that a value of this shape may hold goes out. */
function hidesNothing (shape: Shape): boolean {
  if (shape === openShape) return true
  const { types, properties, rest, items } = shape
  if (types.has('object') && (properties.size > 0 || rest === undefined || !hidesNothing(rest))) return false
  return !types.has('array') || hidesNothing(items)
}

function writeValue (value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`
}
