import { checkBoolean, checkOptionNames } from '../../util/check-option.js'
import type { Format } from '../format.js'
import { MARK } from './parse.js'
import { compileCsvReader } from './read.js'
import { compileCsvWriter, type CsvOptions } from './write.js'

export type { CsvOptions } from './write.js'

/**
 * Returns the format `text/csv` (RFC 4180), of lists of rows. Its errors are `application/problem+json`.
 * @param options the options of all resources with this format, which those of a resource precede
 */
export function csv (options: CsvOptions = {}): Format {
  const format: Format = {
    name: 'csv',
    mediaTypes: ['text/csv'],
    mediaTypeParameters: 'header=present',
    hidesWriteOnly: true,
    settings: options,
    compileReader: (resource) => compileCsvReader(resource, options),
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
