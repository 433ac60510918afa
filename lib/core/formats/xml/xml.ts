import type { Format } from '../format.js'
import { compileXmlReader } from './read.js'
import { compileXmlWriter } from './write.js'

/** The formats `application/xml` and `text/xml` (RFC 7303), in the dialect of Rails. */
export const xml: Format = {
  name: 'xml',
  mediaTypes: ['application/xml', 'text/xml'],
  compileReader: compileXmlReader,
  compileWriter: compileXmlWriter
}
