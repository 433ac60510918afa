import type { Format } from '../format.js'
import { compileXmlReader } from './read.js'
import { compileXmlWriter } from './write.js'

/** The formats `application/xml` and `text/xml` (RFC 7303), in the dialect of Rails. */
export const XML: Format = {
  name: 'xml',
  mediaTypes: ['application/xml', 'text/xml'],
  hidesWriteOnly: true,
  compileReader: compileXmlReader,
  compileWriter: compileXmlWriter
}

/** Returns the format `application/xml`, in the dialect of Rails. */
export function xml (): Format {
  return XML
}
