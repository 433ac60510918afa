import type { Problem } from '../../errors.js'
import { humanize } from '../../resource/inflection.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { isBytesShape } from '../../schema/convert-text.js'
import { toLegalName } from '../../schema/legal-text.js'
import { openShape, type Property, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { lazy } from '../../util/functions.js'
import type { WriteMembers } from '../../util/generated-code.js'
import { isObject, ownMember } from '../../util/own-property.js'
import { escapeAttribute, escapeContent, escapeText } from '../escape.js'
import type { Writer, WriterContext } from '../format.js'
import { compileRowTemplate, flatten, type Slot } from '../row-template.js'
import { buildEmpty, buildTags, DECLARATION } from './tags.js'

/** Returns the name of an array's items by the array's name: `tags` → `tag`. */
export type ItemName = (name: string) => string

/** Compiles the XML writer of a resource. */
export function compileXmlWriter (whole: Resource, { selection }: Pick<WriterContext, 'selection'>): Writer {
  const resource = selection?.resource ?? whole
  const list = lazy(() => {
    const { open, close } = buildTags(resource.plural, { type: 'array' })
    return { open: flatten(DECLARATION + open), row: compileXmlRow(resource), close }
  })
  return {
    record: (row) => DECLARATION + list().row(row),
    list: {
      get open () { return list().open },
      get row () { return list().row },
      separator: '',
      get close () { return list().close }
    },
    problem: writeProblem
  }
}

/**
 * Writes `<errors>` as Rails clients read it. With `type="array"` they would lose every message. They assign a message
 * to the attribute whose human name begins the text.
 */
export function writeProblem ({ detail, errors }: Pick<Problem, 'detail' | 'errors'>): string {
  const writeError = (attribute: string, message: string): string =>
    `<error attribute="${escapeAttribute(attribute)}">${escapeText(`${humanize(attribute)} ${message}`)}</error>`
  const lines = errors === undefined
    ? [`<error>${escapeText(detail)}</error>`]
    : Object.entries(errors).flatMap(([name, messages]) => messages.map((message) => writeError(name, message)))
  return `${DECLARATION}<errors>${lines.join('')}</errors>`
}

/**
 * Compiles a function that writes a row as an element, without the XML declaration: the id, then the attributes in the
 * order of the schema. It leaves out `writeOnly` attributes, and undeclared ones unless the resource is open.
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
  const writeAttributes: WriteMembers = open
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
 * Compiles the element of one attribute. A value that does not have the declared type is written by its own type. An
 * empty string gets `type="string"`, because XML tools turn `<title></title>` into `<title/>`, which is read as null.
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

/** The content of an element whose shape has one type. `write` returns `undefined` for a value of another type. */
interface XmlContent {
  readonly type?: string | undefined
  readonly write: Slot['write']
}

function compileContent (name: string, shape: Shape, itemName: ItemName): XmlContent {
  // The compilation of a recursive shape would never end.
  if (shape.recursive) return { write: () => undefined }
  switch (shape.only) {
    case 'string':
      return {
        type: findTextType(shape),
        write: escapeContent
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
  return (value) => isObject(value) ? writeAll('', value) : undefined
}

/** The `type="…"` of a string, by its `format`. */
const FORMATS: Readonly<Record<string, string | undefined>> = {
  date: 'date',
  'date-time': 'dateTime',
  'date-time-local': 'dateTime',
  decimal: 'decimal'
}

/** Returns the `type="…"` of the strings of a shape, or `undefined` if they have none. */
export function findTextType (shape: Shape): string | undefined {
  return isBytesShape(shape) ? 'base64Binary' : FORMATS[shape.format ?? '']
}

/**
 * Writes a value that no slot can write: one of a union, of an undeclared name, of a recursive shape, or of a type that
 * the schema does not allow. A string has the `type` of its `format`. A whole number is an integer, unless the schema
 * says number.
 */
function writeValue (name: string, value: unknown, shape: Shape, itemName: ItemName): string {
  if (typeof value === 'string') {
    return wrap(name, value === '' ? 'string' : findTextType(shape), escapeText(value))
  }
  if (typeof value === 'number' && Number.isFinite(value)) {
    return wrap(name, shape.only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'float', String(value))
  }
  if (typeof value === 'boolean') return wrap(name, 'boolean', String(value))
  if (Array.isArray(value)) {
    const item = itemName(name)
    return wrap(name, 'array', value.map((part) => writeValue(item, part, shape.items, itemName)).join(''))
  }
  if (isObject(value)) return wrap(name, undefined, writeMembers(value, shape, itemName))
  return `<${name} nil="true"/>`
}

function wrap (name: string, type: string | undefined, content: string): string {
  return `<${name}${type === undefined ? '' : ` type="${type}"`}>${content}</${name}>`
}

/** Writes the declared members in the order of the schema, then the others in their own order. */
function writeMembers (members: Attributes, { properties, rest }: Shape, itemName: ItemName): string {
  let text = ''
  for (const { name, shape, writeOnly } of properties.values()) {
    const value = ownMember(members, name)
    if (!writeOnly && value !== undefined) text += writeValue(name, value, shape, itemName)
  }
  return rest === undefined ? text : text + writeOthers(members, properties, rest, itemName)
}

/** Writes the members that are not among the properties. */
function writeOthers (members: Attributes, properties: Shape['properties'], rest: Shape, itemName: ItemName): string {
  let text = ''
  for (const name of Object.keys(members)) {
    if (!properties.has(name)) text += writeValue(toLegalName(name), members[name], rest, itemName)
  }
  return text
}
