import { checkBoolean, checkOptionNames } from '../../util/check-option.js'
import type { Format, ListWriter, TextWriter } from '../format.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileRead, compileVisible } from '../../resource/visible.js'
import { isDecimalShape, isLongShape } from '../../schema/convert-text.js'
import type { Property } from '../../schema/shape.js'
import { isDecimal } from '../../util/decimal.js'

/**
 * Returns the format `text/csv` (RFC 4180), which is only written. Its errors are `application/problem+json`.
 * @param options the options of all resources with this format, which those of a resource precede
 */
export function csv (options: CsvOptions = {}): Format {
  const format: Format = {
    name: 'csv',
    mediaTypes: ['text/csv'],
    mediaTypeParameters: 'header=present',
    hidesWriteOnly: true,
    settings: options,
    compileWriter: (resource, { selection }) => compileCsvWriter(selection?.resource ?? resource, options, '')
  }
  return {
    ...format,
    spreadsheet: {
      ...format,
      name: 'csv-bom',
      compileWriter: (resource, { selection }) => compileCsvWriter(selection?.resource ?? resource, options, MARK)
    },
    configure (own) {
      checkOptionNames({ ...options, ...own }, ['escapeFormulas'], 'the format "csv"')
      const { escapeFormulas = false }: CsvOptions = { ...options, ...own }
      return csv({ escapeFormulas: checkBoolean('csv.escapeFormulas', escapeFormulas) })
    }
  }
}

/** The options of the format `csv`. */
export interface CsvOptions {
  /**
   * Whether a text that begins with `=`, `+`, `-`, `@`, a tab or a CR gets an apostrophe before it. Otherwise a
   * spreadsheet may run it as a formula. It changes what programs read.
   * @default false
   */
  readonly escapeFormulas?: boolean
}

/** The byte order mark (Unicode §23.8). Without it, Excel takes UTF-8 for an encoding of one byte a character. */
const MARK = '\uFEFF'

/** The end of a record (RFC 4180 §2). */
const END = '\r\n'

// Matches what only a quoted field can have (RFC 4180 §2), and what some readers would trim or take for null.
const QUOTED = /[",\r\n]|^\s|\s$|^$/

/** Matches the beginning of a text that spreadsheets run as a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A column: its name in the header, and the function that writes its field of a row. */
interface CsvColumn {
  readonly name: string
  write (row: Row): string
}

/** Compiles the CSV writer of a resource, whose texts begin with a mark. A row alone is a list of one row. */
function compileCsvWriter (
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
function compileColumns (resource: Resource, { escapeFormulas = false }: CsvOptions): readonly CsvColumn[] {
  const { attributes, idType, open, singleton } = resource
  const writeAny = escapeFormulas ? writeSafely : write
  const writeId = idType === 'integer' ? writeDecimal(writeAny) : writeAny
  const id: CsvColumn = { name: 'id', write: ({ id }) => writeId(id) }
  const all: CsvColumn = { name: 'attributes', write: ({ attributes }) => write(attributes) }
  const each = [...compileVisible(resource)].map(([name, hide]): CsvColumn => {
    const read = compileRead(name, hide)
    // `compileVisible` names attributes of the resource only.
    const { shape } = attributes.get(name) as Property
    // A decimal and a long integer are texts, but numbers to a spreadsheet.
    const writeValue = isDecimalShape(shape) || isLongShape(shape) ? writeDecimal(writeAny) : writeAny
    return { name, write: ({ attributes }) => writeValue(read(attributes)) }
  })
  return [...(singleton ? [] : [id]), ...(open ? [all] : each)]
}

type WriteField = (value: unknown) => string

/** Writes a value as a field: nothing for null, a text as it is, and other values as JSON. */
function write (value: unknown): string {
  if (value === undefined || value === null) return ''
  return writeText(typeof value === 'string' ? value : JSON.stringify(value))
}

function writeSafely (value: unknown): string {
  return write(typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value)
}

function writeDecimal (writeOther: WriteField): WriteField {
  return (value) => isDecimal(value) ? value : writeOther(value)
}

function writeText (text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
