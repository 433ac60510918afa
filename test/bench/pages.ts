/**
 * What a page costs beside the same page by hand: constant texts with the escaped values between them, to the same bytes.
 */
import assert from 'node:assert/strict'
import type { PageView, PageWriter, TextWriter } from '../../lib/formats/format.js'
import { makeHtmlFormat } from '../../lib/formats/html/html.js'
import { type AttributesSchema, BY_ID, type Stored } from '../../lib/index.js'
import { makeResource } from '../../lib/resource.js'
import type { Schema } from '../../lib/shape.js'
import { compare } from './compare.js'

const post = {
  type: 'object',
  required: ['title', 'body'],
  properties: { title: { type: 'string', maxLength: 120 }, body: { type: 'string' }, published: { type: 'boolean' }, rating: { type: ['integer', 'null'] } }
} as const
const view: PageView = { mediaType: 'text/html', input: undefined, next: '/posts?after=x', path: '/posts', parameters: {}, order: BY_ID, after: undefined }
const FIELDS = 60

type Values = Record<string, unknown>

function makeWriter (attributes: AttributesSchema): TextWriter & PageWriter {
  const options = { lang: 'en', messages: {}, views: {}, accent: '#1d5fd1', columns: undefined, contentSecurityPolicy: {} }
  const resource = makeResource({ plural: 'posts', singular: 'post', path: '/posts', memberWrites: false }, 'integer', attributes as unknown as Schema)
  const names = Object.keys(attributes.properties)
  return makeHtmlFormat(options).compileWriter?.(resource, { formats: [{ name: 'xml', mediaTypes: ['application/xml'] }, { name: 'json', mediaTypes: ['application/json'] }], sortable: names, filterable: names }) as TextWriter & PageWriter
}

function makeRow (id: number, attributes: Values): Stored {
  return { id, version: '1', attributes }
}

/** As one writes it by hand: nearly every text is clean. */
function escape (text: string): string {
  return /[&<>"\n\r\t]/.test(text) ? text.replace(/[&<>"\n\r\t]/g, (character) => `&#${character.charCodeAt(0)};`) : text
}

/** The page of a row by its constant parts: where a value stands is found out by rows that differ in it alone. */
function byHand (write: (row: Stored) => string, names: readonly string[]): (row: Stored) => string {
  const mark = (name: string): string => `@${name}@`
  const page = write(makeRow(1, Object.fromEntries(names.map((name) => [name, mark(name)]))))
  const parts = page.split(new RegExp(`@(${names.join('|')})@`))
  return ({ attributes }) => {
    let text = parts[0] as string
    for (let index = 1; index < parts.length; index += 2) text += escape(attributes[parts[index] as string] as string) + (parts[index + 1] as string)
    return text
  }
}

function listByHand (page: string): (rows: readonly Stored[]) => string {
  const start = page.indexOf('<tbody>\n') + '<tbody>\n'.length
  const head = page.slice(0, start)
  const tail = page.slice(page.indexOf('</tbody>'))
  return (rows) => {
    let text = head
    for (const { id, attributes: { title, body, published, rating } } of rows) {
      text += `<tr><td data-label="Id"><a href="/posts/${id}">${id}</a></td><td data-label="Title" dir="auto">${escape(title as string)}</td><td data-label="Body" dir="auto">${escape((body as string).slice(0, 100))}… <a class="more" href="/posts/${id}#:body" aria-label="more of Body">more</a></td><td data-label="Published" dir="auto">${published === true ? 'yes' : 'no'}</td><td data-label="Rating" class="number">${String(rating)}</td></tr>\n`
    }
    return text + tail
  }
}

/** What a server does with a text first; until then a text that has been joined may be no more than a plan of one. */
function send (text: string): number {
  return Buffer.byteLength(text)
}

const writer = makeWriter(post)
const makePost = (id: number): Stored => makeRow(id, { title: 'A title of 24 characters', body: 'x'.repeat(200), published: true, rating: 4 })

for (const [length, calls] of [[20, 2000], [1000, 60]] as const) {
  const rows = Array.from({ length }, (_, index) => makePost(index + 1))
  const hand = listByHand(writer.page(rows, view))
  assert.equal(hand(rows), writer.page(rows, view))
  await compare(`list of ${length}`, () => send(hand(rows)), () => send(writer.page(rows, view)), calls)
}

const names = Array.from({ length: FIELDS }, (_, index) => `field${index}x`)
for (const [name, few, calls] of [['record of 4 texts', names.slice(0, 4), 5000], [`record of ${FIELDS} texts`, names, 500]] as const) {
  const { record } = makeWriter({ type: 'object', properties: Object.fromEntries(few.map((field) => [field, { type: 'string', maxLength: 120 }])) })
  const write = (row: Stored): string => record(row, view)
  // Each value has a digest of its own in the form, which by hand would be computed as well.
  const withoutDigests = (page: string): string => page.replace(/<input type="hidden" name="post\[\?\]\[was\]"[^>]*>/, '')
  const hand = byHand(write, few)
  const row = makeRow(1, Object.fromEntries(few.map((field) => [field, 'A title of 24 characters'])))
  assert.equal(withoutDigests(hand(row)), withoutDigests(write(row)))
  await compare(name, () => send(hand(row)), () => send(write(row)), calls)
}
