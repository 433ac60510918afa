import type { Format } from '../format.js'
import { compileCsvWriter, type CsvOptions } from './write.js'

/** Makes the format `text/csv` (RFC 4180), which is only written. Its errors are `application/problem+json`. */
export function makeCsvFormat (options: CsvOptions): Format {
  return {
    name: 'csv',
    mediaTypes: ['text/csv'],
    mediaTypeParameters: 'header=present',
    spreadsheet: true,
    settings: options,
    compileWriter: (resource, { selection }) => compileCsvWriter(selection?.resource ?? resource, options)
  }
}
