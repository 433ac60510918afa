import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { SaxesParser } from 'saxes'
import type { Test } from 'tap'
import {
  type AttributesSchema, memoryStore, StoreFullError, UnavailableError, UnknownOutcomeError
} from '../../../lib/index.js'
import type { HtmlOptions } from '../../../lib/html/index.js'
import { build } from '../helper.js'

/** The texts that the app gives to each attribute. */
export interface AttributeTexts {
  readonly title: string
  readonly description: string
}

/** Returns attributes of every kind. */
function attributesOf (texts: AttributeTexts): AttributesSchema {
  const worded = (schema: object): object => ({ ...texts, ...schema })
  return {
    type: 'object',
    required: ['line', 'bool'],
    properties: {
      line: worded({ type: 'string', minLength: 1, maxLength: 9, pattern: '^[0-9]*$' }),
      long: worded({ type: 'string', maxLength: 900 }),
      int: worded({ type: 'integer', minimum: 1, maximum: 5, multipleOf: 2 }),
      num: worded({ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 5 }),
      nullable: worded({ type: ['integer', 'null'] }),
      bool: worded({ type: 'boolean' }),
      flag: worded({ type: 'boolean', default: true }),
      choice: worded({ enum: [1, 2] }),
      choices: worded({ type: 'array', uniqueItems: true, minItems: 1, items: { enum: [1, 2] } }),
      many: worded({ enum: [1, 2, 3, 4, 5, 6, null] }),
      date: worded({ type: 'string', format: 'date' }),
      moment: worded({ type: 'string', format: 'date-time' }),
      precise: worded({ type: 'string', format: 'date-time' }),
      local: worded({ type: 'string', format: 'date-time-local' }),
      opens: worded({ type: 'string', format: 'time-local' }),
      price: worded({ type: 'string', format: 'decimal', precision: 4, scale: 2 }),
      share: worded({ type: 'string', format: 'decimal', precision: 1, scale: 1 }),
      whole: worded({ type: 'string', format: 'decimal', precision: 1, scale: 0 }),
      bytes: worded({ type: 'string', contentEncoding: 'base64', maxLength: 100 }),
      mail: worded({ type: 'string', format: 'email' }),
      link: worded({ type: 'string', format: 'uri' }),
      lines: worded({ type: 'array', maxItems: 2, items: { type: 'integer' } }),
      group: worded({ type: 'object', required: ['inner'], properties: { inner: worded({ type: 'integer' }) } }),
      rows: worded({ type: 'array', items: { type: 'object', properties: { inner: worded({ type: 'boolean' }) } } }),
      json: worded({ type: 'object', additionalProperties: { type: 'integer' } }),
      secret: worded({ type: 'string', minLength: 3, writeOnly: true }),
      partial: worded({ type: 'object', properties: { inner: worded({ type: 'integer', readOnly: true }) } }),
      fixed: worded({ const: 5 })
    }
  }
}

const numbers = {
  line: '1',
  long: '2'.repeat(150),
  int: 2,
  num: 2.5,
  nullable: null,
  bool: true,
  flag: false,
  choice: 1,
  choices: [1],
  many: 2,
  date: '2026-05-31',
  moment: '2026-12-31T12:00:00Z',
  precise: '2026-10-31T12:00:00.123456Z',
  local: '2026-12-31T12:00:00',
  opens: '12:00:00',
  price: '12.50',
  share: '0.5',
  whole: '1',
  bytes: '1111',
  mail: '1@2.3',
  lines: [1],
  group: { inner: 1 },
  rows: [{ inner: true }],
  json: { 1: 2 },
  partial: { inner: 3 }
}

const bad = [
  'post[line]=x', 'post[long]=', 'post[int]=7', 'post[num]=9', 'post[nullable]=x', 'post[bool]=x', 'post[choice]=9',
  'post[choices][]=', 'post[date]=x', 'post[moment]=x', 'post[local]=x', 'post[opens]=x', 'post[price]=x',
  'post[share]=0.25', 'post[whole]=1.5', 'post[bytes]=x', 'post[mail]=x', 'post[link]=x', 'post[lines]=1%0Ax%0A3',
  'post[group][inner]=x', 'post[rows][0][inner]=x', 'post[json]={', 'post[json][?]=json', 'post[secret]=x',
  'post[many]=0', 'post[fixed]=6'
].join('&')
const gets = [
  '/posts', '/posts?sort=-int', '/posts?int=2&bool=true', '/posts?int=4', '/posts?limit=1&sort=line', '/posts/1',
  '/posts/99', '/posts?nope=1', '/posts?ints=1', '/posts?limit=0', '/posts?limit=1&limit=2', '/posts?sort=nope',
  '/posts?sort=inte', '/posts?after=x', '/posts?format=9', '/posts?nullable=x', '/posts/500', '/posts/503',
  '/posts/504', '/posts/507'
]
const writes = [
  bad, `_method=PUT&id=1&_version=1&${bad}`, 'post[line]=', 'post[line]=1234567890', 'post[line]=1&post[bool]=true',
  'post[rows][?][add]=1', '_method=PUT&id=1&_version=1&post[rows][0][inner]=true&post[rows][?][remove]=0',
  '_method=PUT&id=1&_version=0&post[line]=3&post[bool]=false&post[rows][]=', '_method=DELETE&id=1&_version=0',
  'post[9]=9', '_method=PUT&id=99&post[line]=1', 'id=9&post[line]=1', '_method=PUT&post[line]=1', '_method=PUT&id=1',
  Array.from({ length: 1001 }, () => 'a=1').join('&'), 'post[price]=123&post[share]=1.5&post[whole]=12',
  'post[price]=1.234', 'post[json]=[1e999]&post[json][?]=json', 'post[line]=%00', 'post[int]=9007199254740993',
  'post[choices][]=1&post[choices][]=1', 'post[fixed]=6', 'post[lines]=1%0A2%0A3', 'post[int]=3', 'post[num]=1',
  'x'.repeat(30_000)
]

/** Requests that no page leads to. Their errors are those of programs, and in English. */
const crafted = {
  gets: ['/posts?blank=x', '/posts?sort=int,int', '/posts?sort='],
  writes: [
    'posts[line]=1', '9=9', '_method=9', 'id=1&id=2&_method=DELETE', '_version=1&_version=2&_method=DELETE&id=1',
    'a[=1', 'post[line]=%FF', '%FF', 'post[line]=1&post[line]=2', 'post[line]=1&post[line][x]=2', 'post[line][?]=9',
    '{"post":{}}', 'line=1'
  ]
}

const BROKEN = { 500: Error, 503: UnavailableError, 504: UnknownOutcomeError, 507: StoreFullError }

async function get (app: FastifyInstance, url: string): Promise<LightMyRequestResponse> {
  return await app.inject({ url, headers: { accept: 'text/html' } })
}

async function post (app: FastifyInstance, payload: string): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    payload
  })
}

/**
 * Visits pages of every kind: lists, records, forms, conflicts and errors.
 * @param options the options of the words
 * @param visit gets each page, and whether no page leads to its request
 */
export async function visitEveryPage (
  t: Test, options: Pick<HtmlOptions, 'lang' | 'messages'>, texts: AttributeTexts,
  visit: (label: string, answer: LightMyRequestResponse, isCrafted: boolean) => void
): Promise<void> {
  const attributes = attributesOf(texts)
  const store = memoryStore({ unique: ['line'] })
  store.create(numbers, {})
  store.create({ ...numbers, line: '2' }, {})
  const app = await build(t, {
    name: 'posts',
    attributes,
    store: {
      ...store,
      get (id, scope) {
        if (id in BROKEN) throw new BROKEN[id as 500]()
        return store.get(id, scope)
      }
    },
    html: { pageSize: 1, columns: ['long', 'bool', 'date', 'moment', 'lines', 'nullable', 'choice'], ...options }
  }, { server: { bodyLimit: 20_000 } })
  const seen = new Set<number>()
  const check = (label: string, answer: LightMyRequestResponse, isCrafted = false): void => {
    seen.add(answer.statusCode)
    visit(label, answer, isCrafted)
  }
  for (const url of gets) check(url, await get(app, url))
  const [next = ''] = /\/posts\?after=[\w-]+/.exec((await get(app, '/posts')).body) ?? []
  check('the last page', await get(app, next))
  for (const payload of writes) check(payload.slice(0, 80), await post(app, payload))
  for (const url of crafted.gets) check(url, await get(app, url), true)
  for (const payload of crafted.writes) check(payload, await post(app, payload), true)
  check(
    '415',
    await app.inject({
      method: 'POST', url: '/posts', headers: { 'content-type': 'a/b', accept: 'text/html' }, payload: '1'
    }),
    true
  )
  check('405', await app.inject({ method: 'DELETE', url: '/posts/1', headers: { accept: 'text/html' } }))
  check(
    '403',
    await app.inject({
      method: 'POST', url: '/posts', headers: { 'sec-fetch-site': 'cross-site', accept: 'text/html' }
    })
  )
  for (const headers of [{ 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) {
    check('403', await app.inject({ method: 'POST', url: '/posts', headers: { ...headers, accept: 'text/html' } }))
  }
  t.strictSame(
    [...seen].sort(), [200, 400, 403, 404, 405, 406, 409, 412, 413, 415, 422, 500, 503, 504, 507],
    'all of these statuses occurred'
  )
  for (const open of [{ attributes }, {}]) {
    const empty = await build(t, { name: 'posts', requireMatch: true, html: options, ...open })
    check('empty', await get(empty, '/posts'))
    if ('attributes' in open) continue
    check('created', await post(empty, 'post[?][0][name]=1'))
    await post(empty, 'post[a9]=1')
    check('428', await post(empty, '_method=DELETE&id=1'), true)
  }
}

/** Returns the words of a page that a person reads or hears. `strip` removes those that do not count. */
export function wordsOf (page: string, strip: (text: string) => string): string[] {
  const texts: string[] = []
  let inTime = 0
  const parser = new SaxesParser({ xmlns: false })
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'time') inTime++
    for (const spoken of ['aria-label', 'title', 'placeholder', 'alt', 'data-label', 'content', 'label']) {
      if (name !== 'meta') texts.push(attributes[spoken] ?? '')
    }
  })
  parser.on('text', (text) => { if (inTime === 0) texts.push(text) })
  parser.on('closetag', ({ name }) => { if (name === 'time') inTime-- })
  parser.write(page).close()
  return texts.flatMap((text) => strip(text).match(/\p{L}{2,}/gu) ?? [])
}
