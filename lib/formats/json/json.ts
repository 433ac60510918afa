import type { Attributes, Id } from '../../stores/store.js'
import type { Format } from '../format.js'
import { compileJsonReader } from './read.js'
import { compileJsonRecord } from './write.js'

/** `application/json` (RFC 8259); errors as `application/problem+json` (RFC 9457). */
export const json: Format = {
  name: 'json',
  mediaTypes: ['application/json'],
  compileReader: compileJsonReader,
  compileWriter (resource) {
    const writeRecord = compileJsonRecord(resource)
    const { plural, singular } = resource
    return {
      document: ({ id, attributes }) => ({ [singular]: { id, ...attributes } }),
      serialize (document) {
        const record = document[singular] as Attributes & { id: Id }
        return `{"${singular}":${writeRecord(record.id, record)}}`
      },
      list: { open: `{"${plural}":[`, row: ({ id, attributes }) => writeRecord(id, attributes), separator: ',', close: ']}' },
      problemType: 'application/problem+json'
    }
  }
}
