import type { Format, ListWriter, TextWriter } from '../../../lib/core/formats/format.js'
import { writeXmlSchema } from '../../../lib/xsd/xsd.js'
import { xml } from '../../../lib/core/formats/xml/xml.js'
import { Issues } from '../../../lib/core/schema/validation/issues.js'
import type { Resource } from '../../../lib/core/resource/resource.js'
import type { Row } from '../../../lib/core/resource/row.js'
import { compileValidation } from '../../../lib/core/schema/validation/validation.js'

/** The number of documents that are kept per schema, so that a list of a million rows stays cheap. */
const MOST = 1000

type XmlWriter = TextWriter & { readonly list: ListWriter }

/** The documents of a resource, each with the row that it shows. */
interface Kept {
  readonly resource: Resource
  readonly relations: readonly string[]
  readonly documents: Map<string, Row | undefined>
}

/** Returns a key of everything that the XML Schema of a resource depends on. */
function keyOf ({ singular, plural, singleton, idType, open, schema }: Resource): string {
  return JSON.stringify([singular, plural, singleton, idType, open, schema])
}

/**
 * Tells whether a document cannot fit the XML Schema: XML Schema 1.0 has no year 0, the type of a text has no JSON, and
 * a store's row may break the JSON Schema.
 */
function isBeyond (document: string, row: Row | undefined, resource: Resource): boolean {
  if (/ type="date">0000-| type="json">"/.test(document)) return true
  try {
    if (row !== undefined) compileValidation(resource).update(structuredClone({ ...row.attributes }), new Issues())
    return false
  } catch {
    return true
  }
}

/**
 * Keeps the documents that our XML format writes in this process. At exit it validates them by the XML Schema of their
 * resource; if one is invalid, the process fails.
 */
export function watchXmlAnswers (): void {
  const kept = new Map<string, Kept>()
  // The type declares the writer readonly.
  const format = xml() as { compileWriter: NonNullable<Format['compileWriter']> }
  const { compileWriter } = format

  format.compileWriter = (resource, surroundings) => {
    const writer = compileWriter(resource, surroundings) as XmlWriter
    const { list: { open, row, close, separator } } = writer
    const relations = surroundings.selection?.include ?? []
    const key = `${keyOf(resource)} ${relations.join()}`
    const { documents } = kept.get(key) ?? { documents: new Map<string, Row | undefined>() }
    kept.set(key, { resource, relations, documents })
    const keep = (document: string, row?: Row): string => {
      if (documents.size < MOST) documents.set(document, row)
      return document
    }
    keep(open + close)
    return {
      ...writer,
      record: (stored, view) => keep(writer.record(stored, view), stored),
      problem: (problem, view) => keep(writer.problem(problem, view)),
      list: {
        open,
        row (stored) {
          const text = row(stored)
          // The text is joined only if it will be kept.
          if (documents.size < MOST) keep(open + text + separator + text + close, stored)
          return text
        },
        separator,
        close
      }
    }
  }

  process.once('beforeExit', async () => {
    // A list that was prepared and not sent is no answer.
    const answers = [...kept.values()].filter(({ documents }) => documents.size > 1)
    if (answers.length === 0) return
    // Its compiled library takes a second to load.
    const { compileXmlSchema } = await import('./xml-schema.js')
    for (const { resource, relations, documents } of answers) {
      const schema = writeXmlSchema(resource, relations)
      const { validate, dispose } = compileXmlSchema(schema)
      for (const [document, row] of documents) {
        const fault = validate(document)
        if (fault === undefined || isBeyond(document, row, resource)) continue
        console.error(`An answer does not fit its XML Schema: ${fault}\n${document.slice(0, 1000)}\n${schema}`)
        process.exitCode = 1
      }
      dispose()
    }
  })
}
