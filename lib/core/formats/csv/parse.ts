import { isUtf8 } from 'node:buffer'
import { MalformedBodyError } from '../../errors.js'
import { checkValueCount } from '../../schema/validation/issues.js'
import { say } from '../../messages.js'
import { Slices } from '../../util/slices.js'
import { abbreviate } from '../../util/words.js'

/** The byte order mark (Unicode §23.8). Without it, Excel takes UTF-8 for an encoding of one byte a character. */
export const MARK = '\uFEFF'

/** The text of a field, or `null` if it is empty and has no quotes. */
export type CsvField = string | null

/** The fields between two line breaks. */
interface CsvRecord {
  readonly fields: readonly CsvField[]
  /** The line of the body in which they begin, from 1. */
  readonly line: number
}

/** A record after the header. It has a field for each column. */
export interface CsvRow extends CsvRecord {
  /** The names in the header. */
  readonly columns: readonly string[]
}

/**
 * Parses a body in UTF-8: a header, then rows (RFC 4180 §2). Lines may also end with LF. A byte order mark at the
 * beginning and blank lines at the end are skipped. A row counts as one value, however many fields it has, because a
 * field is no more than a part of the body.
 * @throws MalformedBodyError, TooManyValuesError
 */
export function parseCsv (body: Buffer): readonly CsvRow[] {
  if (!isUtf8(body)) throw new MalformedBodyError('the body is not valid UTF-8')
  const scanner = new Scanner(trim(body.toString()), COMMA)
  return [...readRows(scanner, readHeader(scanner))]
}

/** The column with the faults in a file of faulty rows. */
export const FAULTS = 'errors'

/** A file with its header. */
export interface CsvFile {
  readonly columns: readonly string[]
  readonly rows: readonly CsvRow[]
  /** The character between two fields. */
  readonly separator: ',' | ';'
}

/**
 * Parses a file as spreadsheets write it: like `parseCsv`, but semicolons separate its fields if the header has more of
 * them than commas.
 * @throws MalformedBodyError, TooManyValuesError
 */
export async function parseCsvFile (file: Buffer): Promise<CsvFile> {
  // A text in UTF-16 has zeros.
  if (!isUtf8(file) || file.includes(0)) throw new MalformedBodyError(say('fileNotUtf8'))
  const text = trim(file.toString())
  const [header = ''] = text.replaceAll(/"[^"]*"/g, '').split('\n', 1)
  const separator = header.split(';').length > header.split(',').length ? ';' : ','
  const scanner = new Scanner(text, separator.charCodeAt(0))
  const columns = readHeader(scanner)
  const rows: CsvRow[] = []
  const slices = new Slices()
  for (const row of readRows(scanner, columns)) {
    rows.push(row)
    if (slices.isOver) await slices.pause()
  }
  return { columns, rows, separator }
}

function * readRows (scanner: Scanner, columns: readonly string[]): Generator<CsvRow> {
  let count = 0
  for (let record = scanner.next(); record !== undefined; record = scanner.next()) {
    const { fields, line } = record
    if (fields.length !== columns.length) {
      throw new MalformedBodyError(say('csvFieldCount', { line, fields: fields.length, columns: columns.length }))
    }
    checkValueCount(++count)
    yield { columns, fields, line }
  }
}

function trim (text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--
  return text.slice(text.startsWith(MARK) ? MARK.length : 0, end)
}

function readHeader (scanner: Scanner): readonly string[] {
  const columns = new Set<string>()
  for (const name of scanner.next()?.fields ?? []) {
    if (name === null || name === '') {
      throw refuseHeader('must be a header that names each column, but has an empty name')
    }
    if (columns.has(name)) throw refuseHeader(`names the column "${abbreviate(name)}" twice`)
    columns.add(name)
  }
  if (columns.size === 0) throw refuseHeader('must be a header that names the columns')
  return [...columns]
}

function refuseHeader (fault: string): Error {
  return new MalformedBodyError(say('csvHeaderInvalid', { fault }))
}

const LF = 10
const CR = 13
const QUOTE = 34
const COMMA = 44

/** Reads the records of a text one after the other. The cost is linear. */
class Scanner {
  /** The text, with a line break at its end. */
  readonly #text: string
  /** The code of the character between two fields. */
  readonly #separator: number
  #position = 0
  #line = 1

  constructor (text: string, separator: number) {
    this.#separator = separator
    this.#text = text === '' ? '' : `${text}\n`
  }

  /** Reads the next record, or returns `undefined` after the last one. */
  next (): CsvRecord | undefined {
    if (this.#position >= this.#text.length) return undefined
    const line = this.#line
    const fields: CsvField[] = []
    do {
      fields.push(this.#readField())
    } while (this.#text.charCodeAt(this.#position++) === this.#separator)
    this.#line++
    return { fields, line }
  }

  /** Reads a field, and stops at the separator or the LF after it. */
  #readField (): CsvField {
    const isQuoted = this.#text.charCodeAt(this.#position) === QUOTE
    const field = isQuoted ? this.#readQuoted() : this.#readPlain()
    if (this.#text.startsWith('\r\n', this.#position)) this.#position++
    const next = this.#text.charCodeAt(this.#position)
    if (next === this.#separator || next === LF) return field
    if (isQuoted) this.#refuse('has text after a closing quote')
    return this.#refuse(next === QUOTE
      ? 'has a quote in a field that does not begin with one; write "" for a quote, and quotes around the field'
      : 'has a CR without an LF outside of quotes')
  }

  #readPlain (): CsvField {
    const start = this.#position
    let end = start
    while (!this.#isDelimiter(this.#text.charCodeAt(end))) end++
    this.#position = end
    return end === start ? null : this.#text.slice(start, end)
  }

  #readQuoted (): string {
    const start = this.#position + 1
    let end = this.#text.indexOf('"', start)
    while (end !== -1 && this.#text.charCodeAt(end + 1) === QUOTE) end = this.#text.indexOf('"', end + 2)
    if (end === -1) this.#refuse('has a quote that opens a field, and no quote closes it')
    this.#position = end + 1
    const text = this.#text.slice(start, end)
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#line++
    return text.replaceAll('""', '"')
  }

  #isDelimiter (code: number): boolean {
    return code === this.#separator || code === LF || code === CR || code === QUOTE
  }

  #refuse (fault: string): never {
    throw new MalformedBodyError(say('csvLineInvalid', { line: this.#line, fault }))
  }
}
