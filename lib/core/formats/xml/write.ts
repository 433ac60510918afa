import { createRequire } from 'node:module'
import type { Messages, Problem } from '../../errors.js'
import { humanize } from '../../resource/inflection.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileHide, type HideWriteOnly } from '../../resource/visible.js'
import { isBytesShape, isDecimalShape, isLongShape, ORDERED_FORMATS } from '../../schema/convert-text.js'
import { isLegalText, isOpenName, isPortableName, readMarkedText } from '../../schema/legal-text.js'
import { isDate, isDateTime } from '../../schema/date-time.js'
import { openShape, type Property, type Shape } from '../../schema/shape.js'
import { type Attributes, SIMPLE_TYPES } from '../../schema/types.js'
import { isDecimal, isLongInteger } from '../../util/decimal.js'
import { lazy } from '../../util/functions.js'
import { compileMember, isStructure, ownMember } from '../../util/own-property.js'
import { MAX_DEPTH } from '../../schema/validation/issues.js'
import { escapeAttribute, escapeLegal, escapeText } from '../escape.js'
import type { Writer, WriterContext } from '../format.js'
import { beginsLikeJson, escapeNoncharacters, isJson, renderJsonText } from '../json/json.js'

/** Compiles the XML writer of a resource. */
export function compileXmlWriter (whole: Resource, { selection }: Pick<WriterContext, 'selection'>): Writer {
  const resource = selection?.resource ?? whole
  const tags = lazy(() => buildTags(resource.plural, { type: 'array' }))
  const write = lazy(() => compileXmlRow(resource))
  return {
    record: (row) => DECLARATION + write()(row),
    list: {
      get open () { return DECLARATION + tags().open },
      row: (row) => write()(row),
      separator: '',
      get close () { return tags().close }
    },
    problem: writeProblem
  }
}

/**
 * Writes `<errors>` as Rails clients read it. With `type="array"` they would lose every message. They assign a message
 * to the attribute whose human name begins the text.
 */
export function writeProblem ({ detail, errors, rows }: Pick<Problem, 'detail' | 'errors' | 'rows'>): string {
  const lines = rows === undefined
    ? writeErrors('', { detail, errors })
    : rows.flatMap(({ index, id, line, ...fault }) => {
      const place = Object.entries({ index, id, line }).filter(([, value]) => value !== undefined)
      return writeErrors(place.map(([name, value]) => ` ${name}="${escapeAttribute(String(value))}"`).join(''), fault)
    })
  return `${DECLARATION}<errors>${lines.join('')}</errors>`
}

/** @param place the XML attributes that name the row of a request with many rows */
function writeErrors (
  place: string,
  { detail = '', errors }: { readonly detail?: string, readonly errors?: Messages | undefined }
): string[] {
  if (errors === undefined) return [`<error${place}>${escapeText(detail)}</error>`]
  return Object.entries(errors).flatMap(([name, messages]) => messages.map((message) =>
    `<error${place} attribute="${escapeAttribute(name)}">${escapeText(`${humanize(name)} ${message}`)}</error>`))
}

/**
 * Compiles a function that writes a row as an element, without the XML declaration: the id, then the attributes in the
 * order of the schema. It leaves out `writeOnly` attributes, and undeclared ones unless the resource is open.
 */
export function compileXmlRow (resource: Resource): (row: Row) => string {
  const { singular, singleton, idType, attributes, open } = resource
  const elements = new ElementWriter(resource)
  const root = buildTags(singular)
  const id = buildTags('id', idType === 'integer' ? { type: 'integer' } : {})
  const spell = idType === 'string' ? (row: Row) => escapeText(String(row.id)) : (row: Row) => row.id
  const writeId = singleton ? () => '' : (row: Row) => id.open + spell(row) + id.close
  if (open) return (row) => root.open + writeId(row) + elements.writeOpen(row.attributes) + root.close
  const visible = [...attributes.values()].filter(({ writeOnly }) => !writeOnly)
  const written = visible.map((attribute) =>
    ({ read: compileMember(attribute.name), write: elements.compileAttribute(attribute) }))
  return (row) => {
    let text = root.open + writeId(row)
    for (const { read, write } of written) {
      const value = read(row.attributes)
      if (value !== undefined) text += write(value)
    }
    return text + root.close
  }
}

/**
 * Compiles a function that returns the text of an attribute's element if it has `type="json"`, or `undefined` if text
 * or nested elements carry the value.
 */
export function compileJsonText (resource: Resource): (value: unknown, shape: Shape) => string | undefined {
  const elements = new ElementWriter(resource)
  return (value, shape) => elements.findJsonText(value, shape)
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

  /** Compiles the writing of an attribute. */
  compileAttribute ({ name, shape }: Property): (value: unknown) => string {
    const { items, only } = shape
    if (only !== 'array' || !SIMPLE_TYPES.has(items.only)) return this.#compile(name, shape, ATTRIBUTE_LEVEL)
    const { open, close } = buildTags(name, { type: 'array' })
    const writeItem = this.#compile(this.#itemName(name), items, ATTRIBUTE_LEVEL + 1)
    return (value) => Array.isArray(value)
      ? open + value.map(writeItem).join('') + close
      : this.#write(name, value, shape, ATTRIBUTE_LEVEL)
  }

  /** Compiles the writing of a value. Most values need no more than the tags of their declared type. */
  #compile (name: string, shape: Shape, level: number): (value: unknown) => string {
    const { only, format, encoding } = shape
    const nil = `<${name} nil="true"/>`
    const write = (value: unknown): string => value === null ? nil : this.#write(name, value, shape, level)
    if (only === 'string' && format === undefined && encoding === undefined) {
      const { open, close } = buildTags(name)
      return (value) => {
        const text = typeof value === 'string' && value !== '' ? escapeLegal(value) : undefined
        return text === undefined ? write(value) : open + text + close
      }
    }
    const { type, isFit } = PLAIN_TYPES.get(only === 'string' ? format : only) ?? {}
    if (type === undefined || isFit === undefined) return write
    const { open, close } = buildTags(name, { type })
    return (value) => isFit(value) ? open + String(value) + close : write(value)
  }

  /** Writes the attributes of a row without a schema, except those whose names a client could not send back. */
  writeOpen (members: Attributes): string {
    const names = Object.keys(members).filter(isOpenName)
    return names.map((name) => this.#writeNamed(name, members[name], openShape, ATTRIBUTE_LEVEL)).join('')
  }

  /** Returns the JSON text in place of an attribute that elements cannot carry, or `undefined` if they can. */
  findJsonText (value: unknown, shape: Shape): string | undefined {
    return this.#carry('value', value, shape, ATTRIBUTE_LEVEL) === undefined ? this.#toJson(value, shape) : undefined
  }

  #toJson (value: unknown, shape: Shape): string {
    // A column of JSON gives such a text for JSON that a double cannot keep.
    const stored = shape.types.has('object') || shape.types.has('array') ? readMarkedText(value) : undefined
    if (stored !== undefined && isJson(stored)) return escapeNoncharacters(stored)
    return renderJsonText(this.#hide(shape)(value))
  }

  #write (name: string, value: unknown, shape: Shape, level: number): string {
    return this.#carry(name, value, shape, level) ?? wrap(name, 'json', escapeText(this.#toJson(value, shape)))
  }

  /**
   * Writes a part of a value. Without a schema, a text without a type is a string. So a client that sends JSON back
   * without its type must have the JSON of the whole attribute.
   */
  #carryPart (name: string, value: unknown, shape: Shape, level: number): string | undefined {
    return this.#isOpen ? this.#carry(name, value, shape, level) : this.#write(name, value, shape, level)
  }

  /**
   * Writes a value as text or as nested elements, or returns `undefined` if the reader would not get the same value. An
   * empty string is `<title type="string"/>`, because XML tools turn `<title></title>` into `<title/>`, which is read
   * as null.
   */
  #carry (name: string, value: unknown, shape: Shape, level: number): string | undefined {
    const { types } = shape
    if (value === '') return types.has('string') ? `<${name} type="string"/>` : undefined
    if (typeof value === 'string') {
      const isCarried = types.has('string') ? carriesText(value, shape, this.#isOpen) : isLong(value, shape)
      return isCarried ? wrap(name, findTextType(value, shape), escapeText(value)) : undefined
    }
    if (typeof value === 'boolean') return types.has('boolean') ? wrap(name, 'boolean', String(value)) : undefined
    if (typeof value === 'number' && Number.isFinite(value)) {
      const type = shape.only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'number'
      return types.has(type) ? wrap(name, type === 'integer' ? type : 'float', String(value)) : undefined
    }
    if (!isStructure(value)) return `<${name} nil="true"/>`
    if (level >= MAX_DEPTH) return undefined
    if (Array.isArray(value)) return types.has('array') ? this.#carryItems(name, value, shape, level) : undefined
    return types.has('object') ? this.#carryMembers(name, value as Attributes, shape, level) : undefined
  }

  #carryItems (name: string, items: readonly unknown[], shape: Shape, level: number): string | undefined {
    const item = this.#itemName(name)
    const parts = items.map((part) => this.#carryPart(item, part, shape.items, level + 1))
    return parts.includes(undefined) ? undefined : wrap(name, 'array', parts.join(''))
  }

  /** Writes the declared members in the order of the schema, then the others in their own order. */
  #carryMembers (name: string, members: Attributes, { properties, rest }: Shape, level: number): string | undefined {
    const parts: Array<string | undefined> = []
    for (const { name, shape, writeOnly } of properties.values()) {
      const value = ownMember(members, name)
      if (!writeOnly && value !== undefined) parts.push(this.#carryPart(name, value, shape, level + 1))
    }
    for (const [name, value] of rest === undefined ? [] : Object.entries(members)) {
      if (properties.has(name) || value === undefined) continue
      const isCarried = isCarriedName(name, this.#isOpen)
      parts.push(isCarried ? this.#writeNamed(name, value, rest as Shape, level + 1) : undefined)
    }
    return parts.length === 0 || parts.includes(undefined) ? undefined : wrap(name, undefined, parts.join(''))
  }

  /** Writes a value under a name that a client has chosen. Each item of an array repeats it, however long it is. */
  #writeNamed (name: string, value: unknown, shape: Shape, level: number): string | undefined {
    const element = level === ATTRIBUTE_LEVEL
      ? this.#write(name, value, shape, level)
      : this.#carryPart(name, value, shape, level)
    if (element === undefined || element.length <= LONG || !isStructure(value)) return element
    const json = renderJsonText(this.#hide(shape)(value))
    return element.length > MOST_TIMES * json.length ? wrap(name, 'json', escapeText(json)) : element
  }
}

/** A type of XML, and whether a value is written with it as it is. */
interface PlainType {
  readonly type: string
  readonly isFit: (value: unknown) => boolean
}

/** The types of values whose text needs no escaping, by their type or format. */
const PLAIN_TYPES: ReadonlyMap<string | undefined, PlainType> = new Map<string | undefined, PlainType>([
  ['boolean', { type: 'boolean', isFit: (value) => typeof value === 'boolean' }],
  ['integer', { type: 'integer', isFit: Number.isSafeInteger }],
  ['number', { type: 'float', isFit: Number.isFinite }],
  ['date', { type: 'date', isFit: (value) => typeof value === 'string' && isDate(value) }],
  ['date-time', { type: 'dateTime', isFit: (value) => typeof value === 'string' && isPlainMoment(value) }]
])

/** Returns whether a text is a date and time without a leap second, which `xs:dateTime` does not have. */
function isPlainMoment (text: string): boolean {
  return WITHOUT_LEAP_SECOND.test(text) && isDateTime(text)
}

/** The level of the elements of attributes. The root of a document has the level 1. */
const ATTRIBUTE_LEVEL = 2
/** The length beyond which an element whose name a client has chosen may be written as JSON, in characters. */
const LONG = 16_000
/** The most times that it may be longer than its JSON. */
const MOST_TIMES = 20

/** The `type="…"` of a string, by its `format`. */
const TEXT_TYPES: ReadonlyMap<string, string> =
  new Map([['date', 'date'], ['date-time', 'dateTime'], ['decimal', 'decimal']])

/** Matches a date and time without a leap second. */
const WITHOUT_LEAP_SECOND = /T\d\d:\d\d:[0-5]\d/

/**
 * Returns the `type="…"` of a text, or `undefined` if it has none. Clients of the convention decode bytes and read
 * local times as UTC, so these have none. They spell a date and time in their own way, which the reader knows.
 */
function findTextType (text: string, shape: Shape): string | undefined {
  if (isLong(text, shape)) return 'integer'
  const { format = '' } = shape
  const type = TEXT_TYPES.get(format)
  const isTyped = ORDERED_FORMATS.get(format)?.isValid(text) === true
  return isTyped && (format !== 'date-time' || WITHOUT_LEAP_SECOND.test(text)) ? type : undefined
}

function wrap (name: string, type: string | undefined, content: string): string {
  return `<${name}${type === undefined ? '' : ` type="${type}"`}>${content}</${name}>`
}

/** Returns whether a value is the text of a long integer, whose element has `type="integer"`. */
function isLong (value: unknown, shape: Shape): boolean {
  return isLongShape(shape) && isLongInteger(value)
}

/** Returns whether the reader gets the same text from an element. Those of some formats lose white space. */
function carriesText (text: string, shape: Shape, isOpen: boolean): boolean {
  if (!isLegalText(text) || (!isOpen && isReadAsJson(text, shape))) return false
  if (isDecimalShape(shape)) return isDecimal(text)
  return isBytesShape(shape) ? !/\s/.test(text) : !ORDERED_FORMATS.has(shape.format ?? '') || text.trim() === text
}

/** Returns whether a text without a type is read as JSON, although the schema allows a string. */
export function isReadAsJson (text: string, { types }: Shape): boolean {
  return (types.has('object') || types.has('array')) && beginsLikeJson(text) && isJson(text)
}

/**
 * Returns whether an element can have the name of an undeclared member. Clients of the convention write `-` for `_`, so
 * that such a name is certain only without a schema, where `_` is read for `-`.
 */
function isCarriedName (name: string, isOpen: boolean): boolean {
  return isPortableName(name) && !name.includes('-') && (isOpen || !name.includes('_'))
}

/** The two tags of an element, without the text between them. */
interface Tags {
  readonly open: string
  readonly close: string
}

/** A mark that no name contains. */
const HOLE = '|'

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

/**
 * Builds the tags of an element by xmlbuilder2, which refuses a name or an attribute that would not be well-formed.
 * @throws Error if the name is not an XML name
 */
function buildTags (name: string, attributes: Readonly<Record<string, string>> = {}): Tags {
  const element = xmlBuilder().create().ele(name, attributes).txt(HOLE).end({ headless: true, wellFormed: true })
  const [open = '', close = ''] = element.split(HOLE)
  return { open, close }
}

/** Loads xmlbuilder2 when it is first needed, and returns it. It takes longer to load than everything else. */
export const xmlBuilder: () => typeof import('xmlbuilder2') = lazy(
  () => createRequire(import.meta.url)('xmlbuilder2')
)
