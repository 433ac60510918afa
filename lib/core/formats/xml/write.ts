import { createRequire } from 'node:module'
import type { Problem } from '../../errors.js'
import { humanize } from '../../resource/inflection.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileHide, type HideWriteOnly } from '../../resource/visible.js'
import { isBytesShape, isDecimalShape, isLongShape, ORDERED_FORMATS } from '../../schema/convert-text.js'
import { isLegalText, isOpenName, isPortableName, readMarkedText } from '../../schema/legal-text.js'
import { openShape, type Property, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { isDecimal, isLongInteger } from '../../util/decimal.js'
import { lazy } from '../../util/functions.js'
import { isObject, isStructure, ownMember } from '../../util/own-property.js'
import { escapeAttribute, escapeContent, escapeText } from '../escape.js'
import type { Writer, WriterContext } from '../format.js'
import { beginsLikeJson, escapeNoncharacters, isJson, renderJsonText } from '../json/json.js'
import { compileRowTemplate, flatten, type Slot, type WriteMembers } from '../row-template.js'
import { MAX_DEPTH } from '../../schema/validation/issues.js'

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
export function compileXmlRow (resource: Resource): (row: Row) => string {
  const { singular, singleton, idType, attributes, open } = resource
  const elements = new ElementWriter(resource)
  const record = buildTags(singular)
  const id = buildTags('id', idType === 'integer' ? { type: 'integer' } : {})
  const start = flatten(record.open + (singleton ? '' : id.open))
  const before = singleton ? '' : id.close
  const writeAttributes: WriteMembers = open
    ? (text, members) => text + before + elements.writeOpen(members) + record.close
    : compileRowTemplate(elements.compileSlots(attributes), before, record.close)
  if (singleton) return (row) => writeAttributes(start, row.attributes)
  return idType === 'string'
    ? (row) => writeAttributes(start + escapeText(String(row.id)), row.attributes)
    : (row) => writeAttributes(start + row.id, row.attributes)
}

/**
 * Compiles a function that returns the text of an attribute's element if it has `type="json"`, or `undefined` if text
 * or nested elements carry the value.
 */
export function compileJsonText (resource: Resource): (value: unknown, shape: Shape) => string | undefined {
  const elements = new ElementWriter(resource)
  return (value, shape) => elements.findJsonText(value, shape, ATTRIBUTE_LEVEL)
}

/** The content of an element whose shape has one type. `write` returns `undefined` for a value of another type. */
interface XmlContent {
  readonly type?: string | undefined
  readonly write: Slot['write']
}

/** Writes the elements of values. `level` is the number of elements around a value, with its own. */
class ElementWriter {
  /** Returns the name of an array's items by the array's name: `tags` → `tag`. */
  readonly #itemName: Resource['itemName']
  readonly #isOpen: boolean
  readonly #hide: (shape: Shape) => HideWriteOnly = compileHide()

  constructor ({ itemName, open }: Pick<Resource, 'itemName' | 'open'>) {
    this.#itemName = itemName
    this.#isOpen = open
  }

  compileSlots (attributes: ReadonlyMap<string, Property>): Slot[] {
    const visible = [...attributes.values()].filter(({ writeOnly }) => !writeOnly)
    return visible.map((attribute) => this.#compileSlot(attribute))
  }

  /** Writes the attributes of a row without a schema, except those whose names a client could not send back. */
  writeOpen (members: Attributes): string {
    let text = ''
    for (const name of Object.keys(members)) {
      if (isOpenName(name)) text += this.#writeNamed(name, members[name], openShape, ATTRIBUTE_LEVEL)
    }
    return text
  }

  /** Returns the JSON text in place of a value that the content of its element cannot carry, else `undefined`. */
  findJsonText (value: unknown, shape: Shape, level: number): string | undefined {
    // Without a schema, text without a type is a string. So a client that sends the JSON text back without its type
    // must have the text of a whole attribute.
    const carried = this.#isOpen && level === ATTRIBUTE_LEVEL
      ? isCarriedWhole(value, level)
      : isCarried(value, shape, level, this.#isOpen)
    if (carried) return undefined
    // A column of JSON gives such a text for JSON that a double cannot keep.
    const stored = shape.types.has('object') || shape.types.has('array') ? readMarkedText(value) : undefined
    if (stored !== undefined && isJson(stored)) return escapeNoncharacters(stored)
    return renderJsonText(this.#hide(shape)(value))
  }

  #compileSlot ({ name, shape }: Property): Slot {
    const nil = buildEmpty(name, { nil: 'true' })
    const { type, write } = compileContent(shape)
    return {
      name,
      ...buildTags(name, type === undefined ? {} : { type }),
      write,
      writeOther: (value) => value === null ? nil : this.#writeValue(name, value, shape, ATTRIBUTE_LEVEL)
    }
  }

  /**
   * Writes a value that no slot can write: an array, an object, one of a union, one inside another, or one of a type
   * that the schema does not allow. An empty string is `<title type="string"/>`, because XML tools turn
   * `<title></title>` into `<title/>`, which is read as null.
   */
  #writeValue (name: string, value: unknown, shape: Shape, level: number): string {
    const json = this.findJsonText(value, shape, level)
    if (json !== undefined) return wrap(name, 'json', escapeText(json))
    if (value === '') return `<${name} type="string"/>`
    if (typeof value === 'string') return wrap(name, findTextType(shape, value), escapeText(value))
    if (typeof value === 'number' && Number.isFinite(value)) {
      return wrap(name, typeOfNumber(value, shape) === 'integer' ? 'integer' : 'float', String(value))
    }
    if (typeof value === 'boolean') return wrap(name, 'boolean', String(value))
    if (Array.isArray(value)) {
      const item = this.#itemName(name)
      const items = value.map((part) => this.#writeValue(item, part, shape.items, level + 1))
      return wrap(name, 'array', items.join(''))
    }
    if (!isObject(value)) return `<${name} nil="true"/>`
    return wrap(name, undefined, this.#writeMembers(value, shape, level + 1))
  }

  /** Writes a value under a name that a client has chosen. Each item of an array repeats it, however long it is. */
  #writeNamed (name: string, value: unknown, shape: Shape, level: number): string {
    const element = this.#writeValue(name, value, shape, level)
    if (element.length <= LONG || !isStructure(value)) return element
    const json = renderJsonText(this.#hide(shape)(value))
    return element.length > MOST_TIMES * json.length ? wrap(name, 'json', escapeText(json)) : element
  }

  /** Writes the declared members in the order of the schema, then the others in their own order. */
  #writeMembers (members: Attributes, { properties, rest }: Shape, level: number): string {
    let text = ''
    for (const { name, shape, writeOnly } of properties.values()) {
      const value = ownMember(members, name)
      if (!writeOnly && value !== undefined) text += this.#writeValue(name, value, shape, level)
    }
    if (rest === undefined) return text
    for (const name of Object.keys(members)) {
      const value = members[name]
      if (!properties.has(name) && value !== undefined) text += this.#writeNamed(name, value, rest, level)
    }
    return text
  }
}

/** The length beyond which an element whose name a client has chosen may be written as JSON, in characters. */
const LONG = 16_000
/** The most times that it may be longer than its JSON. */
const MOST_TIMES = 20

/** Compiles the content of the values that are of the only type of the shape, and simple. */
function compileContent (shape: Shape): XmlContent {
  const type = TEXT_TYPES[shape.format ?? '']
  switch (shape.only) {
    case 'string':
      return shape.format === undefined && shape.encoding === undefined
        ? { write: escapeContent }
        : { type, write: (value) => isWritten(value, shape, type) ? escapeContent(value) : undefined }
    case 'integer':
      return {
        type: 'integer',
        write: (value) => (Number.isSafeInteger(value) || isLong(value, shape) ? String(value) : undefined)
      }
    case 'number':
      return { type: 'float', write: (value) => (Number.isFinite(value) ? String(value) : undefined) }
    case 'boolean':
      return { type: 'boolean', write: (value) => (typeof value === 'boolean' ? String(value) : undefined) }
    default:
      return { write: () => undefined }
  }
}

function isWritten (value: unknown, shape: Shape, type: string | undefined): boolean {
  return typeof value === 'string' && isKept(value, shape) && findTextType(shape, value) === type
}

/** The `type="…"` of a string, by its `format`. */
const TEXT_TYPES: Readonly<Record<string, string | undefined>> = {
  date: 'date',
  'date-time': 'dateTime',
  decimal: 'decimal'
}

/** Matches a date and time without a leap second, which `xs:dateTime` does not have. */
const WITHOUT_LEAP_SECOND = /T\d\d:\d\d:[0-5]\d/

/**
 * Returns the `type="…"` of a text, or `undefined` if it has none. Clients of the convention decode bytes and read
 * local times as UTC, so these have none. They spell a date and time in their own way, which the reader knows.
 */
function findTextType (shape: Shape, text: string): string | undefined {
  if (isLong(text, shape)) return 'integer'
  const { format = '' } = shape
  const isTyped = format === 'decimal'
    ? isDecimal(text)
    : (format === 'date' || WITHOUT_LEAP_SECOND.test(text)) && ORDERED_FORMATS.get(format)?.isValid(text) === true
  return isTyped ? TEXT_TYPES[format] : undefined
}

function wrap (name: string, type: string | undefined, content: string): string {
  return `<${name}${type === undefined ? '' : ` type="${type}"`}>${content}</${name}>`
}

/** Loads xmlbuilder2 when it is first needed, and returns it. It takes longer to load than everything else. */
export const xmlBuilder: () => typeof import('xmlbuilder2') = lazy(
  () => createRequire(import.meta.url)('xmlbuilder2')
)

/** The two tags of an element, without the text between them. */
interface Tags {
  readonly open: string
  readonly close: string
}

/** A mark that no name contains. It takes one byte, because a wider mark would widen every text that has the tags. */
const HOLE = '|'

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/**
 * Builds the tags of an element by xmlbuilder2, which refuses a name or an attribute that would not be well-formed.
 * @throws Error if the name is not an XML name
 */
function buildTags (name: string, attributes: Readonly<Record<string, string>> = {}): Tags {
  const element = xmlBuilder().create().ele(name, attributes).txt(HOLE).end({ headless: true, wellFormed: true })
  const hole = element.lastIndexOf(HOLE)
  return { open: element.slice(0, hole), close: element.slice(hole + HOLE.length) }
}

/** Builds an element without content. */
function buildEmpty (name: string, attributes: Readonly<Record<string, string>>): string {
  return xmlBuilder().create().ele(name, attributes).end({ headless: true, wellFormed: true })
}

/** The level of the elements of attributes. The root of a document has the level 1. */
const ATTRIBUTE_LEVEL = 2

/**
 * Returns whether the element of a value can carry it as text or as nested elements, so that the reader returns the
 * same value. It says nothing about the parts of the value, which have elements of their own.
 * @param level the number of elements around the value, with its own
 * @param isOpen whether the resource has no schema
 */
function isCarried (value: unknown, shape: Shape, level: number, isOpen: boolean): boolean {
  const { types } = shape
  if (typeof value === 'string') return types.has('string') ? carriesText(value, shape, isOpen) : isLong(value, shape)
  if (typeof value === 'number') return !Number.isFinite(value) || types.has(typeOfNumber(value, shape))
  if (typeof value === 'boolean') return types.has('boolean')
  if (!isStructure(value)) return true
  if (level >= MAX_DEPTH) return false
  return Array.isArray(value) ? types.has('array') : types.has('object') && carriesMembers(value, shape, isOpen)
}

/** Returns whether a value is the text of a long integer, whose element has `type="integer"`. */
function isLong (value: unknown, shape: Shape): boolean {
  return isLongShape(shape) && isLongInteger(value)
}

/** Returns whether elements can carry the value of an attribute without a schema, with all its parts. */
function isCarriedWhole (value: unknown, level: number): boolean {
  return isCarried(value, openShape, level, true) &&
    (!isStructure(value) || Object.values(value).every((part) => isCarriedWhole(part, level + 1)))
}

/** Returns the type of a number. A whole number is an integer, unless the schema says number. */
function typeOfNumber (value: number, { only }: Shape): 'integer' | 'number' {
  return only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'number'
}

function carriesText (text: string, shape: Shape, isOpen: boolean): boolean {
  return text === '' || (isLegalText(text) && isKept(text, shape) && (isOpen || !isReadAsJson(text, shape)))
}

/** Returns whether the reader keeps all characters: those of some formats lose white space. */
function isKept (text: string, shape: Shape): boolean {
  if (isDecimalShape(shape)) return isDecimal(text)
  return isBytesShape(shape) ? !/\s/.test(text) : !ORDERED_FORMATS.has(shape.format ?? '') || text.trim() === text
}

/** Returns whether a text without a type is read as JSON, although the schema allows a string. */
export function isReadAsJson (text: string, { types }: Shape): boolean {
  return beginsLikeJson(text) && (types.has('object') || types.has('array')) && isJson(text)
}

function carriesMembers (members: object, { properties, rest }: Shape, isOpen: boolean): boolean {
  let isEmpty = true
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    const property = properties.get(name)
    if (property !== undefined) isEmpty &&= property.writeOnly
    else if (rest !== undefined) {
      if (!isCarriedName(name, isOpen)) return false
      isEmpty = false
    }
  }
  return !isEmpty
}

/**
 * Returns whether an element can have the name of an undeclared member. Clients of the convention write `-` for `_`, so
 * that such a name is certain only without a schema, where `_` is read for `-`.
 */
function isCarriedName (name: string, isOpen: boolean): boolean {
  return isPortableName(name) && !name.includes('-') && (isOpen || !name.includes('_'))
}
