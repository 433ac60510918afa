import type { Id } from '../../resource/row.js'
import { isObject } from '../../util/own-property.js'
import type { Format } from '../format.js'
import { compileJsonReader } from './read.js'
import { compileJsonRow, compileRecord } from './write.js'

/** What we send for a row. An app's preSerialization hooks may put another object into its place. */
class RecordDocument {
  [singular: string]: unknown

  constructor (singular: string, record: unknown) {
    this[singular] = record
  }
}

/** `application/json` (RFC 8259); errors as `application/problem+json` (RFC 9457). */
export const json: Format = {
  name: 'json',
  mediaTypes: ['application/json'],
  compileReader: compileJsonReader,
  compileWriter (resource) {
    const { plural, singular } = resource
    const makeRecord = compileRecord(resource)
    const writeRow = compileJsonRow(resource)
    return {
      document: (row) => new RecordDocument(singular, makeRecord(row)),
      serialize (document) {
        const record = document instanceof RecordDocument ? document[singular] : undefined
        return isObject(record) ? `{"${singular}":${writeRow(record.id as Id, record)}}` : JSON.stringify(document)
      },
      list: {
        open: `{"${plural}":[`,
        row: ({ id, attributes }) => writeRow(id, attributes),
        separator: ',',
        close: ']}'
      },
      problemType: 'application/problem+json'
    }
  }
}
