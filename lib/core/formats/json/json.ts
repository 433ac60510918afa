import type { Format } from '../format.js'
import { compileJsonReader } from './read.js'
import { compileJsonWriter } from './write.js'

/** The format `application/json` (RFC 8259). Its errors are `application/problem+json` (RFC 9457). */
export const JSON: Format = {
  name: 'json',
  mediaTypes: ['application/json'],
  hidesWriteOnly: true,
  compileReader: compileJsonReader,
  compileWriter: compileJsonWriter
}

/** Returns the format `application/json`. */
export function json (): Format {
  return JSON
}
