import { InvalidError } from '../../errors.js'
import type { Resource } from '../../resource/resource.js'
import {
  compileText, describeMismatch, isDecimalShape, isLongShape, ORDERED_FORMATS, parseNumber, UNCONVERTIBLE
} from '../../schema/convert-text.js'
import { compilePerShape, type Shape } from '../../schema/shape.js'
import { SIMPLE_TYPES } from '../../schema/types.js'
import { Issues } from '../../schema/validation/issues.js'
import { compareDecimals, isDecimal, readDecimal } from '../../util/decimal.js'
import { isObject } from '../../util/own-property.js'
import type { Convert, Entries, Reader } from '../format.js'
import { isJson, readJsonText } from '../json/json.js'
import { type CsvField, type CsvRow, parseCsv } from './parse.js'
import { ALL_ATTRIBUTES, compileShow, compileUnescape, type CsvOptions, isNumeric } from './write.js'

/** A part of a body: all rows, a row, or a field. */
export type CsvNode = readonly CsvRow[] | CsvRow | CsvField | CsvMember

/** The value of an attribute in the JSON text that has all attributes of a row. */
interface CsvMember {
  readonly value: unknown
}

/** Compiles the reader of a header and rows. A body is a list of rows, even if it has only one of them. */
export function compileCsvReader (resource: Resource, options: CsvOptions): Reader<CsvNode> {
  const { plural, idType, open } = resource
  const unescapeId = compileUnescape(options, idType === 'integer')
  const showOf = compilePerShape((shape) => compileShow(options, isNumeric(shape)))
  return {
    form: false,
    typed: false,
    onlyLists: true,
    parse: (body) => ({ [plural]: parseCsv(body) }),
    entries (node) {
      if (!isRow(node)) return undefined
      const { columns, fields } = node
      const entries: Record<string, CsvField> = Object.create(null)
      columns.forEach((name, index) => { entries[name] = fields[index] as CsvField })
      return open ? expandAttributes(entries) : entries
    },
    items: (node) => Array.isArray(node) ? node : undefined,
    lineOf: (node) => (node as CsvRow).line,
    scalar (node) {
      if (!isMember(node)) return unescapeId((node as CsvField) ?? '')
      return typeof node.value === 'string' ? node.value : JSON.stringify(node.value)
    },
    compile: (shape) => compileConvert(shape, options),
    isAbsent: (node) => node === null,
    isShown: (node, value, shape) => !isMember(node) &&
      (node === showOf(shape)(value) || standsFor(node as CsvField, value, shape))
  }
}

function isRow (node: CsvNode): node is CsvRow {
  return isObject(node) && 'columns' in node
}

function isMember (node: CsvNode): node is CsvMember {
  return isObject(node) && 'value' in node
}

/**
 * Puts the members of the JSON text that has all attributes of a row in place of that text.
 * @throws InvalidError if the text is no JSON object, or a column has the name of a member
 */
function expandAttributes ({ [ALL_ATTRIBUTES]: text, ...others }: Record<string, CsvField>): Entries<CsvNode> {
  if (typeof text !== 'string') return others
  const issues = new Issues()
  const members = readJsonText(text, ALL_ATTRIBUTES, issues)
  if (issues.size === 0 && !isObject(members)) issues.add(ALL_ATTRIBUTES, 'must be a JSON object')
  const entries: Record<string, CsvNode> = Object.assign(Object.create(null), others)
  for (const [name, value] of isObject(members) ? Object.entries(members) : []) {
    if (Object.hasOwn(others, name)) issues.add(name, `is given by a column and inside "${ALL_ATTRIBUTES}"`)
    entries[name] = { value }
  }
  if (issues.size > 0) throw new InvalidError(Object.fromEntries(issues.messages))
  return entries
}

/**
 * Compiles the conversion of a field. A text is read as the writer writes it: JSON if the shape allows an array or an
 * object, or else as other texts are.
 */
function compileConvert (shape: Shape, options: CsvOptions): Convert<CsvNode> {
  const { types } = shape
  const unescape = compileUnescape(options, isNumeric(shape))
  const convertText = compileText(shape)
  const isNullable = types.has('null')
  const isText = types.has('string')
  // White space around a decimal, a date or a time is ignored.
  const isToken = isText && ORDERED_FORMATS.has(shape.format ?? '')
  const isScalar = [...types].some((type) => SIMPLE_TYPES.has(type))
  const begins = (text: string): boolean =>
    (types.has('object') && text.startsWith('{')) || (types.has('array') && text.startsWith('['))
  const mayBeJson = (text: string): boolean => isText ? begins(text) && isJson(text) : begins(text) || !isScalar
  return (node, path, issues) => {
    if (isMember(node)) return node.value
    const field = unescape((node as CsvField) ?? '')
    const text = isText && !isToken ? field : field.trim()
    if (isNullable && (node === null || (text === '' && (isToken || !isText)))) return null
    if (text !== '' && mayBeJson(text)) return readJsonText(text, path, issues)
    // A spreadsheet writes TRUE and FALSE.
    const value = convertText(isText ? text : text.toLowerCase())
    return value === UNCONVERTIBLE ? issues.add(path, describeMismatch(types, text, isLongShape(shape))) : value
  }
}

/**
 * Returns whether a field stands for a stored value although the writer spells it in another way. A spreadsheet drops
 * the quotes of an empty text and the zeros after a number, and writes `true` as `TRUE`.
 */
function standsFor (field: CsvField, value: unknown, shape: Shape): boolean {
  if (field === null) return value === ''
  if (typeof value === 'boolean') return field.toLowerCase() === String(value)
  if (typeof value === 'number') return parseNumber(field) === value
  const decimal = isDecimalShape(shape) && isDecimal(value) ? readDecimal(field.trim()) : undefined
  return decimal !== undefined && compareDecimals(decimal, value as string) === 0
}
