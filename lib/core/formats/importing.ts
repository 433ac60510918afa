import type { Row } from '../resource/row.js'
import type { RowsError } from '../errors.js'
import type { CsvFile } from './csv/parse.js'

/** The segment of the page that imports rows, after the path of the list. */
export const IMPORT = 'import'

/** The default actions that a file of rows can ask for. */
export type ImportActions = ReadonlySet<'create' | 'update'>

/** How pages import rows from a file. */
export interface Importing {
  /** The most rows of a file. */
  readonly rows: number
  /** The size of the largest file, in bytes. */
  readonly bytes: number
  /** The size of the largest body that has such a file, in bytes. */
  readonly bodyLimit: number
  /**
   * Reads the fields of a form.
   * @param contentType the header Content-Type
   * @throws MalformedBodyError, and an error with the status 413 if a bound is exceeded
   */
  parse (body: Buffer, contentType: string): Promise<ImportForm>
}

/** A form that imports rows. */
export interface ImportForm {
  /** Whether it asks to write the rows, for a page that says what would happen, or for the faulty rows as a file. */
  readonly step: 'write' | 'preview' | 'faulty'
  /** The file. */
  readonly content: Buffer
  /** Whether a user has typed it. */
  readonly isTyped: boolean
  /** The attribute by which rows are found, or the empty text for the id. */
  readonly match: string
  /** The lines of the rows that are left out. */
  readonly without: readonly number[]
  /** The key by which a second sending is recognized, or `undefined` without one. */
  readonly key: string | undefined
}

/** A file that is imported, as far as it could be read. */
export interface ImportedFile extends ImportForm {
  /** The header and the rows; `undefined` if the file is malformed. */
  readonly csv: CsvFile | undefined
}

/** What an import would do. */
export interface ImportPreview {
  /** The first rows, as they would be, with their lines. */
  readonly rows: ReadonlyArray<{ readonly line: number, readonly row: Row }>
  /** How many rows would be created and changed, and how many would stay as they are. */
  readonly counts: { readonly created: number, readonly changed: number, readonly unchanged: number }
}

/** What a page that imports rows is about. */
export interface ImportState {
  /** The file, or `undefined` before one is sent. */
  readonly file: ImportedFile | undefined
  /** What it would do, or `undefined` if it is refused. */
  readonly preview: ImportPreview | undefined
  /** The faults of its rows, for the file that lists them. */
  readonly faults: RowsError | undefined
}
