import { compileMember, ownMember } from '../../members.js'
import { toLegalName } from '../../representable.js'
import type { Resource } from '../../resource.js'
import { openShape, type Property, type Shape } from '../../shape.js'
import type { Attributes, Stored } from '../../stores/store.js'
import { escapeText } from '../escape.js'
import { buildEmpty, buildTags } from './markup.js'

type Write = (value: unknown) => string

/** The name of an array's items by the array's own: `tags` → `tag`. */
export type ItemName = (name: string) => string

/**
 * Writes a row as an element without the XML declaration: the id, then the attributes in the order of the schema.
 * What is not declared, and what is `writeOnly`, does not go out.
 */
export function compileXmlRow ({ singular, idType, attributes, open, itemName }: Resource): (row: Stored) => string {
  const record = buildTags(singular)
  const id = buildTags('id', idType === 'integer' ? { type: 'integer' } : {})
  const start = record.open + id.open
  const writeAttributes = open ? (members: Attributes) => writeOthers(members, attributes, openShape, itemName) : compileMembers(attributes, itemName)
  return (row) => start + row.id + id.close + writeAttributes(row.attributes) + record.close
}

function compileMembers (properties: ReadonlyMap<string, Property>, itemName: ItemName): (members: Attributes) => string {
  const parts = [...properties.values()]
    .filter(({ writeOnly }) => !writeOnly)
    .map(({ name, shape }) => ({ read: compileMember(name), write: compileElement(name, shape, itemName) }))
  return (members) => {
    let text = ''
    for (const { read, write } of parts) {
      const value = read(members)
      if (value !== undefined) text += write(value)
    }
    return text
  }
}

/** The element of one attribute. A value that is not of the declared type is written by its own. */
function compileElement (name: string, shape: Shape, itemName: ItemName): Write {
  const write = compileOnly(name, shape, itemName)
  const nil = buildEmpty(name, { nil: 'true' })
  return (value) => value === null ? nil : write(value) ?? writeValue(name, value, shape, itemName)
}

/** The element for values of the one type that the shape has; its answer for others is undefined. */
function compileOnly (name: string, shape: Shape, itemName: ItemName): (value: unknown) => string | undefined {
  // Without end if it were compiled.
  if (shape.recursive) return () => undefined
  switch (shape.only) {
    case 'string': return compileString(name, shape.format)
    case 'integer': return compileNumber(name, 'integer', Number.isSafeInteger)
    case 'number': return compileNumber(name, 'float', Number.isFinite)
    case 'boolean': return compileBoolean(name)
    case 'array': return compileArray(name, shape, itemName)
    case 'object': return compileObject(name, shape, itemName)
    default: return () => undefined
  }
}

const FORMATS: Readonly<Record<string, string>> = { date: 'date', 'date-time': 'dateTime' }

function compileString (name: string, format: string | undefined): (value: unknown) => string | undefined {
  const type = format === undefined ? undefined : FORMATS[format]
  const { open, close } = buildTags(name, type === undefined ? {} : { type })
  return (value) => typeof value === 'string' ? open + escapeText(value) + close : undefined
}

function compileNumber (name: string, type: string, fits: (value: unknown) => boolean): (value: unknown) => string | undefined {
  const { open, close } = buildTags(name, { type })
  return (value) => fits(value) ? open + String(value) + close : undefined
}

function compileBoolean (name: string): (value: unknown) => string | undefined {
  const { open, close } = buildTags(name, { type: 'boolean' })
  return (value) => typeof value === 'boolean' ? open + value + close : undefined
}

function compileArray (name: string, { items }: Shape, itemName: ItemName): (value: unknown) => string | undefined {
  const { open, close } = buildTags(name, { type: 'array' })
  const write = compileElement(itemName(name), items, itemName)
  return (value) => Array.isArray(value) ? open + value.map(write).join('') + close : undefined
}

function compileObject (name: string, { properties, rest }: Shape, itemName: ItemName): (value: unknown) => string | undefined {
  const { open, close } = buildTags(name)
  const write = compileMembers(properties, itemName)
  const writeAll = rest === undefined ? write : (members: Attributes) => write(members) + writeOthers(members, properties, rest, itemName)
  return (value) => typeof value === 'object' && !Array.isArray(value) ? open + writeAll(value as Attributes) + close : undefined
}

/**
 * Writes a value that has no function of its own: of a union, of a name that is not declared, or of a type that the
 * schema does not let through. Its type is the schema's where that has one, else the value's.
 */
function writeValue (name: string, value: unknown, shape: Shape, itemName: ItemName): string {
  if (typeof value === 'string') return wrap(name, FORMATS[shape.format ?? ''], escapeText(value))
  if (typeof value === 'number' && Number.isFinite(value)) return wrap(name, shape.only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'float', String(value))
  if (typeof value === 'boolean') return wrap(name, 'boolean', String(value))
  if (Array.isArray(value)) {
    const item = itemName(name)
    return wrap(name, 'array', value.map((part) => writeValue(item, part, shape.items, itemName)).join(''))
  }
  if (typeof value === 'object' && value !== null) return wrap(name, undefined, writeMembers(value as Attributes, shape, itemName))
  return `<${name} nil="true"/>`
}

function wrap (name: string, type: string | undefined, content: string): string {
  return `<${name}${type === undefined ? '' : ` type="${type}"`}>${content}</${name}>`
}

/** Those that are declared in the order of the schema, then the others in their own. */
function writeMembers (members: Attributes, { properties, rest }: Shape, itemName: ItemName): string {
  let text = ''
  for (const { name, shape, writeOnly } of properties.values()) {
    const value = ownMember(members, name)
    if (!writeOnly && value !== undefined) text += writeValue(name, value, shape, itemName)
  }
  return rest === undefined ? text : text + writeOthers(members, properties, rest, itemName)
}

/** Members that are not among the properties. */
function writeOthers (members: Attributes, properties: Shape['properties'], rest: Shape, itemName: ItemName): string {
  let text = ''
  for (const name of Object.keys(members)) {
    if (!properties.has(name)) text += writeValue(toLegalName(name), members[name], rest, itemName)
  }
  return text
}
