import type { Format } from '../format.js'
import { compileJsonReader } from './read.js'
import { compileJsonWriter } from './write.js'

/** The format `application/json` (RFC 8259). Its errors are `application/problem+json` (RFC 9457). */
export const json: Format = {
  name: 'json',
  mediaTypes: ['application/json'],
  compileReader: compileJsonReader,
  compileWriter: compileJsonWriter
}
