import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import {
  type Attributes, type AttributesSchema, memoryStore, type MemoryStore, type MemoryStoreOptions, type ResourceOptions,
  type Store
} from '../../../lib/index.js'
import { type Element, elementsOf } from './elements.js'
import { decode, type Form, visible } from './forms.js'
import { build } from '../helper.js'

export const form = 'application/x-www-form-urlencoded'
export const html = { accept: 'text/html' }
export const policy =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const INERT = new Set([
  'blockquote', 'html', 'head', 'meta', 'title', 'link', 'body', 'header', 'nav', 'ol', 'ul', 'li', 'main', 'footer',
  'section', 'h1', 'h2', 'p', 'a', 'b', 'br', 'strong', 'span', 'div', 'details', 'summary', 'dl', 'dt', 'dd', 'time',
  'table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'form', 'fieldset', 'legend', 'label', 'input', 'select',
  'small', 'option', 'textarea', 'button'
])

/** Returns what a page has that no page may have. */
function faultsOf (elements: readonly Element[]): string[] {
  const faults = elements.filter(({ name }) => !INERT.has(name)).map(({ name }) => `an element ${name}`)
  const names = new Map<string, number>()
  const ids = new Set<string>()
  const labels = new Set<string | undefined>()
  const referred: string[] = []
  for (const { name, attributes } of elements) {
    names.set(name, (names.get(name) ?? 0) + 1)
    if (name === 'label') labels.add(attributes.for)
    for (const [key, value] of Object.entries(attributes)) {
      if (/^on|^style$|^src|^srcdoc$|^background$/i.test(key)) faults.push(`the attribute ${key}`)
      if (/^formaction$/i.test(key) && !/^\/\w/.test(value)) faults.push(`the attribute ${key}="${value}"`)
      if (key === 'id') {
        if (ids.has(value) || value === '' || /\s/.test(value)) {
          faults.push(`the id "${value}" is invalid or not unique`)
        }
        ids.add(value)
      }
      if (key === 'for') referred.push(value)
      if (key === 'aria-describedby' || key === 'aria-labelledby') referred.push(...value.split(' '))
      if (key === 'href' && value.startsWith('#')) referred.push(value.slice(1))
      if ((key === 'href' || key === 'action') && !/^(?:\/(?!\/)|#|https?:\/\/|mailto:)/i.test(value)) {
        faults.push(`a link to ${value}`)
      }
    }
  }
  for (const id of referred) {
    if (!ids.has(id) && !ids.has(decodeURIComponent(id))) faults.push(`a reference to "${id}"`)
  }
  for (const name of ['title', 'main', 'h1']) if (names.get(name) !== 1) faults.push(`not one element ${name}`)
  for (const { name, attributes } of elements) {
    const isControl = name === 'select' || name === 'textarea' || (name === 'input' && attributes.type !== 'hidden')
    if (isControl && (attributes['aria-label'] ?? attributes['aria-labelledby']) === undefined &&
      !labels.has(attributes.id)) faults.push(`${String(attributes.name)} has no label`)
  }
  return faults
}

/** Checks what every page must fulfil: its headers, no active content, valid ids, references, links and labels. */
export function isSound (
  t: Test, res: LightMyRequestResponse, status: number, about = `a page of status ${status}`
): Element[] {
  // A line separator would end the line of the report.
  const label = about.replaceAll('\u2028', ' ')
  const { statusCode, headers, body } = res
  t.match({ statusCode, headers }, {
    statusCode: status,
    headers: {
      'content-type': /^(?:text\/html|application\/xhtml\+xml); charset=utf-8$/,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin'
    }
  }, label)
  const elements = elementsOf(body)
  t.strictSame(faultsOf(elements), [], `${label} is sound`)
  return elements
}

export function schemaOf (properties: object, required: readonly string[] = []): AttributesSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

type Seeded = Omit<ResourceOptions, 'name' | 'store' | 'id'> & {
  readonly name?: string,
  readonly id?: 'integer' | 'uuid',
  readonly unique?: MemoryStoreOptions['unique'],
  readonly wrap?: (store: MemoryStore) => Store
}

/** Builds an app with these rows, and returns its store too. */
export async function seeded (
  t: Test, rows: readonly Attributes[], { unique = [], wrap, ...options }: Seeded = {}
): Promise<{ app: FastifyInstance, store: MemoryStore }> {
  const store = memoryStore({ unique, ...(options.id !== undefined && { id: options.id }) })
  for (const row of rows) store.create(row, {})
  return {
    app: await build(t, { name: 'posts', html: { title: 'id' }, ...options, store: wrap?.(store) ?? store }), store
  }
}

export async function get (app: FastifyInstance, url: string): Promise<LightMyRequestResponse> {
  return await app.inject({ url, headers: html })
}

export async function post (
  app: FastifyInstance,
  payload: string | Readonly<Record<string, string>>,
  url = '/posts',
  headers: Readonly<Record<string, string>> = {}
): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': form, ...html, ...headers },
    payload: typeof payload === 'string' ? payload : new URLSearchParams(payload).toString()
  })
}

/** Returns a page without the boxes that choose rows. */
export function withoutBoxes (page: string): string {
  return page.replaceAll(/<label class="pick">.*?<\/label>/g, '')
}

/** Returns the cells of a list row by row, without that of the id. */
export function cellsOf (page: string): Array<Array<{ attributes: string, content: string }>> {
  return [...withoutBoxes(page).matchAll(/<tr>(<th scope="row">[^]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh] (?:data-label="[^"]*"|scope="row")([^>]*)>([^]*?)<\/t[dh]>/g)]
      .slice(1)
      .map(([, attributes = '', content = '']) => ({
        attributes, content: content.replaceAll(/[\u202f\u00a0]/g, ' ')
      })))
}

export function linksOf (elements: readonly Element[], text: string): string[] {
  return elements.filter((element) => element.name === 'a' && element.text === text).map(({ attributes }) =>
    attributes.href ?? '')
}

export function idsOf (page: string): number[] {
  return [...withoutBoxes(page).matchAll(/<th scope="row"><a href="[^"]*">(\d+)</g)].map(([, id]) => Number(id))
}

/** A required text, and an array of objects, to which a button of the form adds one. */
export const tagged = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } }
  }
} as const

export const listed = schemaOf({
  title: { type: 'string', maxLength: 50 },
  rating: { type: ['integer', 'null'] },
  published: { type: 'boolean' },
  status: { enum: ['d', 'l'] },
  tags: { type: 'array', items: { type: 'string' } },
  body: { type: 'string' }
})
export const rated = Array.from({ length: 6 }, (_, index) => ({
  title: `T${index + 1}`,
  rating: index % 3,
  published: index % 2 === 0,
  status: index < 3 ? 'd' : 'l',
  tags: [],
  body: 'B'
}))

/** Returns the links of the error summary, each with its text. */
export function summaryOf (page: string): Array<[href: string | undefined, text: string]> {
  const [, summary = ''] = /<div class="problem"[^>]*>[^]*?<ul>([^]*?)<\/ul>/.exec(page) ?? []
  return [...summary.matchAll(/<li>(?:<a href="([^"]*)">)?([^<]*)/g)].map(([, href, text = '']) => [href, decode(text)])
}

/** Returns the values that a choice of a form offers. */
export function choicesOf (form: Form, name: string): string[] {
  return visible(form, name)[0]?.options.map(({ value }) => value) ?? []
}

/** Returns the values that a record's page shows, by their labels. */
export function valuesOf (page: string): Record<string, string> {
  const records = [...page.matchAll(/<dl class="record">[^]*?\n<\/dl>/g)].join('')
  return Object.fromEntries([
    ...records.matchAll(/^<div(?: class="id")?><dt>(.*?)<\/dt><dd[^>]*>(.*)<\/dd><\/div>$/gm)
  ].map(([, label = '', value = '']) => [label, value]))
}

/** Attributes of each kind, with constraints that a form may break. */
export const strict = schemaOf({
  title: { type: 'string', minLength: 2, maxLength: 9, title: 'The title' },
  rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
  state: { enum: ['a', 'b'] },
  many: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
  boxes: { type: 'array', uniqueItems: true, maxItems: 1, items: { enum: ['x', 'y'] } },
  lines: { type: 'array', items: { type: 'integer' } },
  at: { type: 'string', format: 'date-time' },
  mail: { type: 'string', format: 'email' },
  agreed: { const: true },
  author: {
    type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' } }
  },
  people: {
    type: 'array',
    minItems: 3,
    items: {
      type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2, title: 'Full name' } }
    }
  },
  json: { type: 'object', additionalProperties: { type: 'integer' } },
  secret: { type: 'string', minLength: 5, writeOnly: true },
  note: { type: 'string' }
}, ['title'])

/** Attributes of each kind that two may change at once, and a row of them. */
export const contested = schemaOf({
  title: { type: 'string', minLength: 1, maxLength: 50 },
  body: { type: 'string' },
  rating: { type: ['integer', 'null'], maximum: 5 },
  published: { type: 'boolean', default: false },
  state: { enum: ['a', 'b', 'c'] },
  tags: { type: 'array', items: { type: 'string' } },
  boxes: { type: 'array', uniqueItems: true, items: { enum: ['x', 'y'] } },
  at: { type: ['string', 'null'], format: 'date-time' },
  author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
  people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  json: { type: 'object', additionalProperties: true },
  secret: { type: 'string', writeOnly: true },
  made: { type: 'string', readOnly: true }
}, ['title', 'published', 'state'])
export const contestedRow = {
  title: 'T',
  body: 'B\nb',
  rating: 3,
  published: true,
  state: 'a',
  tags: ['a', 'b'],
  boxes: ['x'],
  at: '2026-01-31T12:00:00.000Z',
  author: { name: 'N', age: 5 },
  people: [{ name: 'P' }],
  json: { k: [1] },
  secret: 'SECRET',
  made: 'M'
}
