import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { toLegalName } from '../../schema/legal-text.js'
import { openShape, type Property, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { ownMember } from '../../util/own-property.js'
import { escapeText } from '../escape.js'
import { compileRowTemplate, flatten, type Slot, type WriteSlots } from '../row-template.js'
import { buildEmpty, buildTags } from './tags.js'

/** The name of an array's items by the array's own: `tags` → `tag`. */
export type ItemName = (name: string) => string

/**
 * Writes a row as an element without the XML declaration: the id, then the attributes in the order of the schema.
 * What is not declared, and what is `writeOnly`, does not go out.
 */
export function compileXmlRow ({
  singular,
  singleton,
  idType,
  attributes,
  open,
  itemName
}: Resource): (row: Row) => string {
  const record = buildTags(singular)
  const id = buildTags('id', idType === 'integer' ? { type: 'integer' } : {})
  const start = flatten(record.open + (singleton ? '' : id.open))
  const before = singleton ? '' : id.close
  const writeAttributes: WriteSlots = open
    ? (text, members) => text + before + writeOthers(members, attributes, openShape, itemName) + record.close
    : compileRowTemplate(slotsOf(attributes, itemName), before, record.close)
  if (singleton) return (row) => writeAttributes(start, row.attributes)
  return idType === 'string'
    ? (row) => writeAttributes(start + escapeText(String(row.id)), row.attributes)
    : (row) => writeAttributes(start + row.id, row.attributes)
}

function slotsOf (properties: ReadonlyMap<string, Property>, itemName: ItemName): Slot[] {
  return [...properties.values()]
    .filter(({ writeOnly }) => !writeOnly)
    .map(({ name, shape }) => compileSlot(name, shape, itemName))
}

/**
 * Compiles the element of one attribute. A value that is not of the declared type is written by its own type. An empty
 * string says its type: XML tools turn `<title></title>` into `<title/>`, which is read as null.
 */
function compileSlot (name: string, shape: Shape, itemName: ItemName): Slot {
  const nil = buildEmpty(name, { nil: 'true' })
  const empty = buildTags(name, { type: 'string' })
  const others = new Map<unknown, string>([[null, nil], ['', empty.open + empty.close]])
  const { type, write } = compileContent(name, shape, itemName)
  return {
    name,
    ...buildTags(name, type === undefined ? {} : { type }),
    write,
    writeOther: (value) => others.get(value) ?? writeValue(name, value, shape, itemName)
  }
}

/** What stands between the tags for values of the one type that the shape has; undefined for others. */
interface XmlContent {
  readonly type?: string | undefined
  readonly write: Slot['write']
}

function compileContent (name: string, shape: Shape, itemName: ItemName): XmlContent {
  // Without end if it were compiled.
  if (shape.recursive) return { write: () => undefined }
  switch (shape.only) {
    case 'string':
      return {
        type: FORMATS[shape.format ?? ''],
        write: (value) => (typeof value === 'string' && value !== '' ? escapeText(value) : undefined)
      }
    case 'integer':
      return { type: 'integer', write: (value) => (Number.isSafeInteger(value) ? String(value) : undefined) }
    case 'number':
      return { type: 'float', write: (value) => (Number.isFinite(value) ? String(value) : undefined) }
    case 'boolean':
      return { type: 'boolean', write: (value) => (typeof value === 'boolean' ? String(value) : undefined) }
    case 'array':
      return { type: 'array', write: compileItems(name, shape, itemName) }
    case 'object':
      return { write: compileMembers(shape, itemName) }
    default:
      return { write: () => undefined }
  }
}

function compileItems (name: string, { items }: Shape, itemName: ItemName): Slot['write'] {
  const { open, close, write, writeOther } = compileSlot(itemName(name), items, itemName)
  const writeItem = (item: unknown): string => {
    const content = write(item)
    return content === undefined ? writeOther(item) : open + content + close
  }
  return (value) => Array.isArray(value) ? value.map(writeItem).join('') : undefined
}

function compileMembers ({ properties, rest }: Shape, itemName: ItemName): Slot['write'] {
  const write = compileRowTemplate(slotsOf(properties, itemName), '', '')
  const writeAll =
    rest === undefined
      ? write
      : (text: string, members: Attributes) => write(text, members) + writeOthers(members, properties, rest, itemName)
  return (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? writeAll('', value as Attributes) : undefined
}

/** What `type="…"` says of a text, by its `format`. */
export const FORMATS: Readonly<Record<string, string | undefined>> = { date: 'date', 'date-time': 'dateTime' }

/**
 * Writes a value that has no function of its own: of a union, of a name that is not declared, or of a type that the
 * schema does not let through. Its type is the schema's where that has one, else the value's.
 */
function writeValue (name: string, value: unknown, shape: Shape, itemName: ItemName): string {
  if (typeof value === 'string') {
    return wrap(name, value === '' ? 'string' : FORMATS[shape.format ?? ''], escapeText(value))
  }
  if (typeof value === 'number' && Number.isFinite(value)) {
    return wrap(name, shape.only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'float', String(value))
  }
  if (typeof value === 'boolean') return wrap(name, 'boolean', String(value))
  if (Array.isArray(value)) {
    const item = itemName(name)
    return wrap(name, 'array', value.map((part) => writeValue(item, part, shape.items, itemName)).join(''))
  }
  if (typeof value === 'object' && value !== null) {
    return wrap(name, undefined, writeMembers(value as Attributes, shape, itemName))
  }
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
