import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import { InvalidError, MalformedBodyError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import {
  BASE64, compileText, describeMismatch, describeTypes, isBytesShape, isDecimalShape, isLongShape, ORDERED_FORMATS,
  parseBoolean, parseInteger, parseLongInteger, parseNumber, UNCONVERTIBLE
} from '../../schema/convert-text.js'
import { isSameMoment, MOMENT_FORMATS, type TextFormat, withoutFraction } from '../../schema/date-time.js'
import { findNameFault, isLegalText, underscore } from '../../schema/legal-text.js'
import { compilePerShape, type Shape } from '../../schema/shape.js'
import type { TypeName } from '../../schema/types.js'
import { checkValueCount, type Issues, MAX_DEPTH } from '../../schema/validation/issues.js'
import { findExcess } from '../../schema/validation/value-check.js'
import { isObject, isSame } from '../../util/own-property.js'
import { compareDecimals, isDecimal, readDecimal } from '../../util/decimal.js'
import { abbreviate } from '../../util/words.js'
import type { Convert, Entries, Reader } from '../format.js'
import { beginsLikeJson, isJson, readJsonText, renderJsonText } from '../json/json.js'
import { lazy } from '../../util/functions.js'
import { compileJsonText, isReadAsJson } from './write.js'

/** The last of the sibling elements of one name. `repeated` says whether there are several. */
interface XmlNode {
  readonly element: Element
  readonly repeated: boolean
}

/** Compiles the reader of `<post>…</post>`, and of `<id>1</id>` if a client sends only the id. */
export function compileXmlReader (resource: Resource): Reader<XmlNode> {
  const { singular, plural, attributes, open, idType } = resource
  const findJsonText = compileJsonText(resource)
  const spelling = spell([singular, plural])
  const spelledAttributes = open ? underscore : spell([...attributes.keys()])
  return {
    form: false,
    typed: false,
    parse (body) {
      const root = parseXml(body)
      return { [spelling(root.name)]: { element: root, repeated: false } }
    },
    entries ({ element }) {
      const { type } = element.attributes
      if (type !== undefined) {
        refuse(singular, `says type="${abbreviate(type, 40)}", but the element of a record has no type; leave it out`)
      }
      return isGroup(element) ? collect(element, spelledAttributes) : undefined
    },
    items ({ element: { name, attributes: { type }, children } }) {
      if (type !== 'array') return undefined
      const item = spelling(name) === plural ? singular : 'id'
      const other = children.find((child) => spelling(child.name) !== item)
      if (other !== undefined) refuse(name, `has an element "${abbreviate(other.name)}"; each must be called "${item}"`)
      return children.map((element) => ({ element, repeated: false }))
    },
    scalar ({ element, repeated }) {
      const { name, text, attributes: { type } } = element
      if (repeated) refuse(name, 'is given more than once')
      if (element.children.length > 0) refuse(name, 'must contain text only')
      if (type !== undefined && !SCALARS.has(type.toLowerCase())) {
        const found = `says type="${abbreviate(type, 40)}"`
        refuse(name, `${found}, but the type of an id is integer, string or uuid; leave it out`)
      }
      if (isNil(element)) return ''
      // The white space of a text belongs to it: another row can have the id without it.
      return idType === 'string' ? text : text.trim()
    },
    compile: compilePerShape((shape, compile) => makeConvert(shape, compile, open)),
    isShown: ({ element, repeated }, value, shape) => !repeated &&
      (isShownAs(element, value) || (isTextOf(element) && element.text === findJsonText(value, shape)))
  }
}

function refuse (name: string, message: string): never {
  throw new InvalidError({ [name]: [message] })
}

/** Returns whether an element is a group: it has no text, and has children or is not null. */
function isGroup ({ text, children, attributes }: Element): boolean {
  return text.trim() === '' && (children.length > 0 || !isNil({ attributes }))
}

type Spell = (name: string) => string

/** Compiles a function that returns the declared name for a name with hyphens in place of underscores, as in Rails. */
function spell (declared: readonly string[]): Spell {
  const spellings = new Map(declared.map((name) => [name.replaceAll('_', '-'), name]))
  const known = new Set(declared)
  return (name) => known.has(name) ? name : spellings.get(name) ?? name
}

/** Returns the children of an element by name. */
function collect ({ children }: Element, spelling: Spell): Entries<XmlNode> {
  const members: Record<string, XmlNode> = Object.create(null)
  for (const element of children) {
    const name = spelling(element.name)
    members[name] = { element, repeated: members[name] !== undefined }
  }
  return members
}

/** Returns whether an element has `nil="true"`, as in Rails, or `xsi:nil="true"` (XML Schema Structures §2.6.2). */
function isNil ({ attributes }: Pick<Element, 'attributes'>): boolean {
  return Object.entries(attributes).some(([name, text]) =>
    (name === 'nil' || name.endsWith(':nil')) && parseBoolean(text) === true)
}

/** The values of `type="…"` that an id may have, in lower case. */
const SCALARS: ReadonlySet<string> = new Set(['integer', 'string', 'uuid'])

interface XmlType {
  readonly type: TypeName
  /** The format that a text must have if the schema has none. */
  readonly format?: TextFormat | undefined
}

/** The values of `type="…"`, in lower case, with their meaning. */
const TYPES: ReadonlyMap<string, XmlType> = new Map<string, XmlType>([
  ['string', { type: 'string' }],
  ['integer', { type: 'integer' }],
  ['float', { type: 'number' }],
  ['double', { type: 'number' }],
  ['decimal', { type: 'number' }],
  ['boolean', { type: 'boolean' }],
  ['array', { type: 'array' }],
  ['date', { type: 'string', format: MOMENT_FORMATS.get('date') }],
  ['datetime', { type: 'string', format: MOMENT_FORMATS.get('date-time') }],
  ['base64binary', { type: 'string', format: BASE64 }]
])
const DECIMAL: XmlType = { type: 'string', format: ORDERED_FORMATS.get('decimal') }
const TYPES_HINT =
  'send string, integer, float, decimal, boolean, date, dateTime, base64Binary, array or json, or leave it out'

const PARSERS: Readonly<Partial<Record<TypeName, (text: string) => unknown>>> = {
  integer: parseInteger,
  number: parseNumber,
  boolean: parseBoolean
}

/** @param isOpen whether the resource has no schema */
function makeConvert (shape: Shape, compile: (shape: Shape) => Convert<XmlNode>, isOpen: boolean): Convert<XmlNode> {
  const convertArray = compileArray(shape, compile)
  const convertTyped = compileTyped(shape, convertArray)
  const convertUntyped = compileUntyped(shape, convertArray, compileObject(shape, compile, isOpen), isOpen)
  return ({ element, repeated }, path, issues) => {
    if (repeated) return issues.add(path, 'is given more than once')
    if (isNil(element)) {
      if (element.children.length > 0 || element.text.trim() !== '') {
        return issues.add(path, 'says that it is nil, but has content')
      }
      // The validator decides whether null is allowed.
      return null
    }
    const { type } = element.attributes
    if (type === undefined) return convertUntyped(element, path, issues)
    return type.toLowerCase() === JSON_TYPE ? readJson(element, path, issues) : convertTyped(element, path, issues)
  }
}

/** The type of a JSON text in place of a value, in lower case. */
const JSON_TYPE = 'json'

function readJson (element: Element, path: string, issues: Issues): unknown {
  return element.children.length > 0
    ? issues.add(path, 'says type="json" but contains elements')
    : readJsonText(element.text, path, issues)
}

type ConvertElement = (element: Element, path: string, issues: Issues) => unknown

/** Compiles the conversion of an element that has `type="…"`. */
function compileTyped (shape: Shape, convertArray: ConvertElement): ConvertElement {
  const { types } = shape
  const isNullable = types.has('null')
  const isDecimal = isDecimalShape(shape)
  const isLong = isLongShape(shape)
  const hasFormat = shape.format !== undefined || isBytesShape(shape)
  const convertText = compileText(shape)
  return (element, path, issues) => {
    const named = element.attributes.type as string
    const known = TYPES.get(named.toLowerCase())
    if (known === undefined) {
      return issues.add(path, `has the unknown type "${abbreviate(named)}"; ${TYPES_HINT}`)
    }
    // A client may call `5` an integer, although the attribute is a decimal.
    const { type, format } = isDecimal && (known.type === 'integer' || known.type === 'number') ? DECIMAL : known
    if (!types.has(type)) return issues.add(path, `says type="${named}", but ${describeTypes(types).text}`)
    if (type === 'array') return convertArray(element, path, issues)
    if (element.children.length > 0) return issues.add(path, `says type="${named}" but contains elements`)
    if (type === 'string' && format === undefined) return element.text
    const text = element.text.trim()
    if (text === '' && isNullable) return null
    if (format === undefined) {
      const parse = type === 'integer' && isLong ? parseLongInteger : PARSERS[type]
      return parse?.(text) ?? issues.add(path, describeMismatch(new Set([type]), text, isLong))
    }
    // If the schema has a format, the check of that format decides.
    return hasFormat || format.isValid(text) ? convertText(text) : issues.add(path, format.wants)
  }
}

/**
 * Compiles the conversion of an element that does not have `type="…"`. If the schema allows an object or an array, a
 * text may be its JSON, because some clients do not send the type back. Without a schema, a text is a string.
 */
function compileUntyped (
  shape: Shape,
  convertArray: ConvertElement,
  convertObject: ConvertElement,
  isOpen: boolean
): ConvertElement {
  const { types } = shape
  const convertText = compileText(shape)
  const isNullable = types.has('null')
  // White space around a decimal, a date or a time is ignored.
  const isToken = types.has('string') && ORDERED_FORMATS.has(shape.format ?? '')
  const mayBeJson = (text: string): boolean =>
    types.has('string') ? !isOpen && isReadAsJson(text, shape) : beginsLikeJson(text) && hasStructures
  const hasStructures = types.has('object') || types.has('array')
  return (element, path, issues) => {
    const isBlank = element.text.trim() === ''
    if (element.children.length > 0) {
      if (!isBlank) return issues.add(path, 'must not mix text and elements')
      if (types.has('object')) return convertObject(element, path, issues)
      return types.has('array') ? convertArray(element, path, issues) : issues.add(path, describeTypes(types))
    }
    if ((element.selfClosing || (isBlank && isToken)) && isNullable) return null
    if (isBlank && !types.has('string')) {
      // An array usually has `type="array"`, but nothing else marks an empty object.
      if (types.has('object')) return {}
      if (types.has('array')) return []
    }
    if (mayBeJson(element.text)) return readJsonText(element.text, path, issues)
    const value = convertText(isToken ? element.text.trim() : element.text)
    return value === UNCONVERTIBLE ? issues.add(path, describeMismatch(types, element.text, isLongShape(shape))) : value
  }
}

function compileArray ({ items }: Shape, compile: (shape: Shape) => Convert<XmlNode>): ConvertElement {
  const convert = compile(items)
  return ({ text, children }, path, issues) => {
    if (text.trim() !== '') return issues.add(path, 'must be an array with one child element for each item')
    const [first] = children
    if (children.some(({ name }) => name !== first?.name)) {
      return issues.add(path, 'must be an array whose child elements all have the same name')
    }
    return children.map((element, index) => convert({ element, repeated: false }, `${path}.${index}`, issues))
  }
}

function compileObject (shape: Shape, compile: (shape: Shape) => Convert<XmlNode>, isOpen: boolean): ConvertElement {
  const { properties, rest } = shape
  const declared = [...properties.values()].filter(({ readOnly }) => !readOnly)
  const converts = new Map(declared.map(({ name, shape }) => [name, compile(shape)]))
  const convertRest = rest === undefined ? undefined : compile(rest)
  // A declared object that allows any names keeps their spelling: "en-US" is not "en_US" there.
  const spelling = isOpen ? underscore : spell([...properties.keys()])
  return (element, path, issues) => {
    const members = collect(element, spelling)
    const excess = findExcess(shape, Object.keys(members).length)
    if (excess !== undefined) return issues.add(path, excess)
    const value: Record<string, unknown> = Object.create(null)
    for (const name in members) {
      const convert = converts.get(name) ?? (findNameFault(name) === undefined ? convertRest : undefined)
      // Read-only, undeclared and invalid names stay, because the check removes or refuses them.
      value[name] = convert === undefined ? null : convert(members[name] as XmlNode, `${path}.${name}`, issues)
    }
    return { ...value }
  }
}

/**
 * Returns whether an element has a stored value, as we have written it or as a client has written it again. Values are
 * compared as those of the type that the client names: a client that knows the type may spell them in another way, and
 * one that does not sends the text alone.
 */
function isShownAs (element: Element, value: unknown): boolean {
  const { text, children, attributes: { type } } = element
  if (isNil(element)) return value === null && text.trim() === '' && children.length === 0
  if (type === 'array') {
    return Array.isArray(value) && children.length === value.length &&
      children.every((child, index) => isShownAs(child, value[index]))
  }
  if (children.length > 0) return isObject(value) && hasMembersOf(element, value)
  if (type !== undefined) return Object.hasOwn(IS_SHOWN, type) && IS_SHOWN[type]?.(text, value) === true
  // A text that XML cannot carry was shown as JSON. In place of another, such a text in quotes is a change.
  const isShownAsJson = typeof value !== 'string' || !isLegalText(value)
  return text === value || (isShownAsJson && text === renderJsonText(value))
}

/** Returns whether an element has a text that may be JSON: a client that does not know the type leaves it out. */
function isTextOf (element: Element): boolean {
  const { type = JSON_TYPE } = element.attributes
  return type.toLowerCase() === JSON_TYPE && element.children.length === 0 && !isNil(element)
}

function hasMembersOf (element: Element, value: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(value)
  const members = collect(element, spell(names))
  return element.text.trim() === '' && names.length === Object.keys(members).length && names.every((name) => {
    const member = members[name]
    return member !== undefined && !member.repeated && isShownAs(member.element, value[name])
  })
}

const isShownNumber = (text: string, value: unknown): boolean =>
  (typeof value === 'number' || isDecimal(value)) && text.trim() !== '' && Number(text) === Number(value)

const isShownDecimal = (text: string, value: unknown): boolean => {
  if (!isDecimal(value)) return isShownNumber(text, value)
  const decimal = readDecimal(text.trim())
  return decimal !== undefined && compareDecimals(decimal, value) === 0
}

/** Returns whether a text is the same moment. Clients of the convention drop the fraction of the second. */
function isMoment (text: string, value: unknown): boolean {
  return typeof value === 'string' &&
    (isSameMoment(text.trim(), value) || isSameMoment(text.trim(), withoutFraction(value)))
}

/** Returns for each `type="…"` whether its text stands for a value. */
const IS_SHOWN: Readonly<Record<string, (text: string, value: unknown) => boolean>> = {
  string: (text, value) => text === value,
  integer: isShownDecimal,
  decimal: isShownDecimal,
  float: isShownNumber,
  double: isShownNumber,
  boolean: (text, value) => parseBoolean(text.trim()) === value,
  date: (text, value) => text.trim() === value,
  dateTime: isMoment,
  // Rails 2 spells the type so.
  datetime: isMoment,
  json: (text, value) => isJson(text) && isSame(JSON.parse(text), value),
  base64Binary: (text, value) => text.replaceAll(/\s+/g, '') === value
}

/** Loads saxes when the first document is parsed, and returns it. */
const loadSaxes: () => typeof import('saxes') = lazy(() => createRequire(import.meta.url)('saxes'))

/** A parsed element. */
interface Element {
  /** The name without its prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** The text directly inside, without that of the children. */
  text: string
  readonly children: Element[]
  /** Whether it is written `<a/>`, not `<a></a>`. */
  readonly selfClosing: boolean
}

/**
 * Parses the bytes of a document, and returns its root element. The parser is strict, and knows only the five entities
 * of XML 1.0 §4.6.
 * @throws MalformedBodyError if the document is not well-formed or not UTF-8, has a DOCTYPE, or is nested too deep
 * @throws TooManyValuesError if there are too many elements
 * @throws InvalidError if an element has an XML attribute that says neither a type nor null
 */
function parseXml (body: Buffer): Element {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  const parser = new (loadSaxes().SaxesParser)({ xmlns: false, position: false })
  const open: Element[] = []
  const roots: Element[] = []
  let count = 0
  const append = (text: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  }
  parser.on('error', ({ message }) => {
    throw new MalformedBodyError(`the body is not well-formed XML: ${abbreviate(message)}`)
  })
  parser.on('doctype', () => { throw new MalformedBodyError('a DOCTYPE is not accepted') })
  parser.on('xmldecl', checkDeclaration)
  parser.on('opentag', ({ name: prefixed, attributes, isSelfClosing }) => {
    checkValueCount(++count)
    if (open.length >= MAX_DEPTH) {
      throw new MalformedBodyError(`the document is nested deeper than ${MAX_DEPTH} levels`)
    }
    const name = prefixed.slice(prefixed.indexOf(':') + 1)
    checkAttributes(name, attributes)
    const element: Element = { name, attributes, text: '', children: [], selfClosing: isSelfClosing }
    open.at(-1)?.children.push(element)
    if (open.length === 0) roots.push(element)
    open.push(element)
  })
  parser.on('closetag', () => { open.pop() })
  parser.on('text', append)
  parser.on('cdata', append)
  // XML 1.0 §2.11. The parser would take a hundred times as long to replace the breaks.
  parser.write(body.toString().replaceAll(/\r\n?/g, '\n')).close()
  // A document without an element is not well-formed.
  return roots[0] as Element
}

/** Checks that an element has no XML attributes but `type`, `nil` and those of a namespace. */
function checkAttributes (element: string, attributes: Element['attributes']): void {
  for (const name in attributes) {
    if (name === 'type' || name === 'nil' || name === 'xmlns' || name.includes(':')) continue
    refuse(element, `has the XML attribute "${abbreviate(name, 40)}", which is not allowed here; leave it out`)
  }
}

function checkDeclaration ({ encoding }: { encoding?: string | undefined }): void {
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) {
    throw new MalformedBodyError(`the document says that it is in ${abbreviate(encoding)}; send UTF-8`)
  }
}
