import type { Problem } from '../../errors.js'
import { humanize } from '../../resource/inflection.js'
import { escapeAttribute, escapeText } from '../escape.js'
import type { Format } from '../format.js'
import { compileXmlReader } from './read.js'
import { buildTags, DECLARATION } from './tags.js'
import { compileXmlRow } from './write.js'

/** `application/xml` and `text/xml` (RFC 7303), in the dialect that Rails made. */
export const xml: Format = {
  name: 'xml',
  mediaTypes: ['application/xml', 'text/xml'],
  compileReader: compileXmlReader,
  compileWriter (resource) {
    const writeRow = compileXmlRow(resource)
    const { open, close } = buildTags(resource.plural, { type: 'array' })
    return {
      record: (row) => DECLARATION + writeRow(row),
      list: { open: DECLARATION + open, row: writeRow, separator: '', close },
      problem: writeProblem
    }
  }
}

/**
 * `<errors>` as the convention's clients read it: `type="array"` on it would lose them every message, and they assign a
 * message to the attribute whose human name the text begins with.
 */
function writeProblem ({ detail, errors }: Problem): string {
  const writeError = (attribute: string, message: string): string =>
    `<error attribute="${escapeAttribute(attribute)}">${escapeText(`${humanize(attribute)} ${message}`)}</error>`
  const lines = errors === undefined
    ? [`<error>${escapeText(detail)}</error>`]
    : Object.entries(errors).flatMap(([name, messages]) => messages.map((message) => writeError(name, message)))
  return `${DECLARATION}<errors>${lines.join('')}</errors>`
}
