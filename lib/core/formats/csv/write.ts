import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileRead, compileVisible } from '../../resource/visible.js'
import { isDecimalShape, isLongShape } from '../../schema/convert-text.js'
import type { Property, Shape } from '../../schema/shape.js'
import { isDecimal } from '../../util/decimal.js'
import { identity } from '../../util/functions.js'
import type { ListWriter, TextWriter } from '../format.js'

/** The options of the format `csv`. */
export interface CsvOptions {
  /**
   * Whether a text that begins with `=`, `+`, `-`, `@`, a tab or a CR gets an apostrophe before it. Otherwise a
   * spreadsheet may run it as a formula. It changes what programs read.
   * @default false
   */
  readonly escapeFormulas?: boolean
}

/** The end of a record (RFC 4180 §2). */
const END = '\r\n'

// Matches what only a quoted field can have (RFC 4180 §2), and what some readers would trim or take for null.
const QUOTED = /[",\r\n]|^\s|\s$|^$/

/** Matches the beginning of a text that spreadsheets run as a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** The column of a resource without a schema, which has all attributes of a row as one JSON text. */
export const ALL_ATTRIBUTES = 'attributes'

/** A column: its name in the header, and the function that writes its field of a row. */
interface CsvColumn {
  readonly name: string
  write (row: Row): string
}

/** Compiles the CSV writer of a resource, whose texts begin with a mark. A row alone is a list of one row. */
export function compileCsvWriter (
  resource: Resource,
  options: CsvOptions,
  mark: string
): TextWriter & { readonly list: ListWriter } {
  const columns = compileColumns(resource, options)
  const open = mark + columns.map(({ name }) => writeText(name)).join(',') + END
  const row = (row: Row): string => columns.map(({ write }) => write(row)).join(',') + END
  return {
    list: { open, row, separator: '', close: '' },
    record: (record) => open + row(record),
    problem: (problem) => JSON.stringify(problem),
    problemType: 'application/problem+json'
  }
}

/** Compiles the columns: the id, then the attributes in the order of the schema, or all of them as one JSON text. */
function compileColumns (resource: Resource, options: CsvOptions): readonly CsvColumn[] {
  const { attributes, idType, open, singleton } = resource
  const showId = compileShow(options, idType === 'integer')
  const id: CsvColumn = { name: 'id', write: ({ id }) => writeField(showId(id)) }
  const all: CsvColumn = { name: ALL_ATTRIBUTES, write: ({ attributes }) => writeField(show(attributes)) }
  const each = [...compileVisible(resource)].map(([name, hide]): CsvColumn => {
    const read = compileRead(name, hide)
    // `compileVisible` names attributes of the resource only.
    const { shape } = attributes.get(name) as Property
    const show = compileShow(options, isNumeric(shape))
    return { name, write: ({ attributes }) => writeField(show(read(attributes))) }
  })
  return [...(singleton ? [] : [id]), ...(open ? [all] : each)]
}

/** Returns whether texts of a shape are numbers to a spreadsheet: those of a decimal or a long integer. */
export function isNumeric (shape: Shape): boolean {
  return isDecimalShape(shape) || isLongShape(shape)
}

/** Returns the text of the field that shows a value, before it is quoted; `null` for an empty field. */
export type ShowText = (value: unknown) => string | null

/**
 * Compiles the function that shows values.
 * @param numeric whether the column has numbers that are texts, which are no formulas
 */
export function compileShow ({ escapeFormulas = false }: CsvOptions, numeric: boolean): ShowText {
  if (!escapeFormulas) return show
  return (value) => typeof value === 'string' && isEscaped(value, numeric) ? `'${value}` : show(value)
}

/**
 * Compiles the function that takes the apostrophe off a text, where `compileShow` puts one on.
 * @param numeric whether the column has numbers that are texts
 */
export function compileUnescape ({ escapeFormulas = false }: CsvOptions, numeric: boolean): (text: string) => string {
  if (!escapeFormulas) return identity
  return (text) => text.startsWith("'") && isEscaped(text.slice(1), numeric) ? text.slice(1) : text
}

function isEscaped (text: string, numeric: boolean): boolean {
  return FORMULA.test(text) && !(numeric && isDecimal(text))
}

/** Shows nothing for null, a text as it is, and other values as JSON. */
function show (value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Writes a line of a file with another separator, whose fields are all quoted, as spreadsheets accept them. */
export function writeCsvLine (fields: ReadonlyArray<string | null>, separator: string): string {
  return fields.map((text) => text === null ? '' : `"${text.replaceAll('"', '""')}"`).join(separator) + END
}

function writeField (text: string | null): string {
  return text === null ? '' : writeText(text)
}

function writeText (text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
