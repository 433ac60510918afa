import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { SaxesParser } from 'saxes'
import t from 'tap'
import resources, { memoryStore, type Store } from '../../lib/index.js'
import { xml as declaration } from '../support/helper.js'
import {
  form, get, holds, treeDefs, write
} from '../support/arbitraries.js'

// ---- Whatever comes in

/** A body. Deeply nested ones are described by their parts, since their text may be too large to print. */
type Body = string
  | { bytes: string }
  | { before: string, open: string, times: number, inner: string, close: string, after: string }
interface Call { method: string, url: string, headers: { [name: string]: string }, body?: Body | undefined }

function payloadOf (body: Body): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if ('bytes' in body) return Buffer.from(body.bytes, 'latin1')
  const { before, open, times, inner, close, after } = body
  return Buffer.from(before + open.repeat(times) + inner + close.repeat(times) + after)
}

const thing = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    count: { type: ['integer', 'null'] },
    ratio: { type: 'number', default: 0.5 },
    flag: { type: 'boolean' },
    kind: { enum: ['a', 'b', null] },
    kinds: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
    links: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['url'],
        properties: {
          url: { type: 'string', format: 'uri' },
          at: { type: 'string', format: 'date-time' },
          tags: { type: 'array', items: { type: ['string', 'null'] } }
        }
      }
    },
    day: { type: 'string', format: 'date' },
    moment: { type: ['string', 'null'], format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    grid: { type: 'array', items: { type: 'array', items: { type: ['integer', 'null'] } } },
    author: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, age: { type: 'integer' }, secret: { type: 'string', writeOnly: true } },
      additionalProperties: false
    },
    tree: { $ref: '#/$defs/tree' },
    either: {
      anyOf: [{ type: 'boolean' }, { type: 'integer' }, { type: 'object', properties: { a: { type: 'string' } } },
        { type: 'array', items: { type: 'string' } }]
    },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    any: {},
    seal: { type: 'string', readOnly: true },
    hasOwnProperty: { type: 'string' }
  },
  ...treeDefs
} as const

const NOUNS = ['thing', 'note'] as const

const documentsOf = (noun: string): { [type: string]: string[] } => ({
  'application/json': [
    `{"${noun}":{"title":"T","count":1,"ratio":2.5,"flag":true,"day":"2026-01-31","tags":["a","b"],` +
      '"author":{"name":"A","age":3},"any":{"a":[null]}}}',
    `{"${noun}":{"title":"U","grid":[[1,null],[]],"tree":{"name":"a","children":[{"name":"b","children":[]}]},` +
      '"either":{"a":"x"},"counts":{"x":1}}}',
    `{"id":1,"${noun}":{"title":"\\u0054","count":null,"moment":"2026-01-31T12:00:00Z"}}`,
    `{"${noun}":{"id":2,"title":"T"}}`,
    '{"id":1}'
  ],
  'application/xml': [
    `${declaration}<${noun}><title>T</title><count type="integer">1</count><ratio type="float">2.5</ratio><flag ` +
      'type="boolean">true</flag><day type="date">2026-01-31</day><tags type="array"><tag>a</tag><tag/></tags>' +
      `</${noun}>`,
    `<${noun}><title><![CDATA[U]]>&amp;&#65;</title><grid type="array"><grid type="array"><grid nil="true"/></grid>` +
      `</grid><author name="A"><age>3</age></author><either>true</either><counts><x>1</x></counts></${noun}>`,
    `<${noun}><id type="integer">1</id><title/><count nil="true"/><moment type="dateTime">` +
      `2026-01-31T12:00:00Z</moment></${noun}>`,
    '<id type="integer">1</id>'
  ],
  [form]: [
    `${noun}%5Btitle%5D=T&${noun}[count]=1&${noun}[flag]=0&${noun}[flag]=on&${noun}[tags][]=a&${noun}[author][name]=A` +
      `&${noun}[counts]={"x":1}&${noun}[counts][?]=json&commit=Go`,
    `_method=PUT&id=1&_version=1&${noun}[title]=U&${noun}[count]=&${noun}[count][?]=null` +
      `&${noun}[tags]=a%0D%0Ab&${noun}[author][?]=absent` +
      `&${noun}[?][0][name]=any&${noun}[?][0][value]=1`,
    `${noun}[title]=T&${noun}[flag]=false&${noun}[flag]=true&${noun}[kinds][]=&${noun}[kinds][]=a` +
      `&${noun}[moment]=2026-01-31T12:00&${noun}[moment][?][offset]=Z&${noun}[moment][?][was]=2026-01-31t12:00:00Z` +
      `&${noun}[moment][?][keep]=yours`,
    `_method=PUT&id=1&${noun}[?][was]=title+0&${noun}[links]=&${noun}[links][0][url]=a:b` +
      `&${noun}[links][0][tags][1][?]=null&${noun}[links][0][tags][?][add]=1`,
    `${noun}[links][?]=null&${noun}[links][0][at]=2026-01-31T12:00&${noun}[links][0][at][?][offset]=z` +
      `&${noun}[links][1][url]=a:b&${noun}[links][?][remove]=0`,
    '_method=delete&id=2'
  ]
})

const FRAGMENTS = [
  '', '\0', '\ud800', '\ufffe', '\ufffd', '\r\n', ' ', '<', '</', '>', '/>', '&', ';', '=', '%', '%ff', '%00', '+',
  '[', ']', '[]', '[0]', '[?]', '{', '}', '"', '\\', '\\ud800', ',', ':', '-', '.', '1e999', '9007199254740993', '-0',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'null', 'true', 'id', 'id=3&',
  'type="integer"', 'type="array"', 'type="yaml"', 'nil="true"', 'x:', 'xmlns="a"', '<!DOCTYPE a>', '<!--', '-->',
  '<![CDATA[', ']]>', '<?a?>', '&#0;', '&a;',
  '"id":1,', '"thing":', '{"thing":{}}', '[?]=json', '[?][offset]=Z&', '[?][was]=1&', '[?][keep]=theirs&', '[?][add]=1',
  '[?][add]=1&', '[?][remove]=0&', '[?][?]', '_method=PUT&', '_version=9&', 'a'.repeat(70)
]

/** Removes, inserts or repeats parts of a text. */
function mutated (texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const mutation = fc.record({
    at: fc.nat({ max: 400 }),
    removed: fc.nat({ max: 12 }),
    repeated: fc.nat({ max: 3 }),
    inserted: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 3 }))
  })
  return fc
    .tuple(texts, fc.oneof(fc.constant([]), fc.array(mutation, { minLength: 1, maxLength: 3 })))
    .map(([text, mutations]) => mutations.reduce((before, { at, removed, repeated, inserted }) => {
      const start = at % (before.length + 1)
      return before.slice(0, start) + before.slice(start, start + removed).repeat(repeated) + inserted +
      before.slice(start + removed)
    }, text))
}

function nestedOf (noun: string): fc.Arbitrary<Body> {
  const nest = (before: string, open: string, inner: string, close: string, after: string): Body => ({
    before, open, times: 1, inner, close, after
  })
  const nests = ['any', 'grid', 'tree', 'either', 'title', 'unknown'].flatMap((name) => [
    ...['1', '9007199254740993', ''].map((inner) => nest(`{"${noun}":{"${name}":`, '[', inner, ']', '}}')),
    nest(`{"${noun}":{"${name}":`, '{"a":', '9007199254740993', '}', '}}'),
    nest(`{"${noun}":{"${name}":`, '{"children":[', '{}', ']}', '}}'),
    nest(`<${noun}><${name}>`, '<a>', '', '</a>', `</${name}></${noun}>`),
    nest(`<${noun}><${name} type="array">`, '<a type="array">', '', '</a>', `</${name}></${noun}>`),
    nest(`${noun}[${name}]`, '[a]', '=1', '', ''),
    nest(`${noun}[${name}][?]=json&${noun}[${name}]=`, '[', '9007199254740993', ']', '')
  ])
  const flat = [
    ...['[', '<a>', '<a b="a" '].map((open) => nest('', open, '', '', '')),
    nest('', `${noun}[title]=1&`, '', '', ''),
    nest(`{"${noun}":{"any":[`, '{},', '1', '', ']}}'),
    nest(`{"${noun}":{`, '"a":1,', '"title":"T"', '', '}}')
  ]
  return fc
    .tuple(fc.constantFrom(...nests, ...flat), fc.constantFrom(2, 7, 8, 9, 31, 33, 200, 1001, 20_000))
    .map(([body, times]) => ({ ...body as object, times }) as Body)
}

/** Returns the usual value in most cases, and each odd one in a few. */
function mostly<T> (usual: fc.Arbitrary<T>, ...odd: Array<fc.Arbitrary<T>>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6 * odd.length, arbitrary: usual }, ...odd)
}

/** Text that a header may have, as Node.js reads it. */
const garbage = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code < 0x7f || code > 0xa0)
    .map((code) => String.fromCharCode(code)),
  maxLength: 12
})

const ODD_TYPES = ['application/json; charset=utf-8', 'Text/XML;charset="utf-8"', 'application/json;charset=latin1',
  'text/plain', 'multipart/form-data', 'application/problem+json', '']
const ODD_MEMBERS = [
  '/3', '/01', '/-1', '/', '/1/2', '/%31', '/%zz', '/%00', '/__proto__', '/9007199254740993', '/1.0', '.', '.xmlx'
]
const ODD_QUERIES = [
  '?', '?format=xml', '?format=html', '?format=json', '?format=', '?format=a&format=b', '?limit=1',
  '?limit=1&after=WzFd', '?after=WzFd', '?after=x', '?limit=0',
  '?id=1', '?id=2&id=1', '?__proto__=1', '?a[b]=c', '?%ff=%'
]

const none = fc.constant(undefined)
const headers = fc.record<{ [name: string]: string | undefined }>({
  accept: fc.oneof(
    none,
    mostly(
      fc.constantFrom('*/*', 'application/xml', 'text/html', 'application/xhtml+xml', 'application/json',
        'application/json;q=0', 'text/*;q=0.5, application/json;q=0.1', ''),
      garbage
    )
  ),
  'if-match': mostly(none, fc.constantFrom('*', '"1"', '"1.xml"', '"2.json"', 'W/"1"', '"1", "2"', '"'), garbage),
  'if-none-match': mostly(none, fc.constantFrom('*', '"1.xml"', 'W/"1.json"', '"1.html", '), garbage),
  origin: mostly(none, fc.constantFrom('http://localhost:80', 'http://evil.example', 'null'), garbage),
  'sec-fetch-site': mostly(none, fc.constantFrom('same-origin', 'none', 'cross-site'), garbage),
  'content-encoding': mostly(none, fc.constantFrom('identity', 'gzip'), garbage)
})

function bodyOf (noun: string): fc.Arbitrary<[type: string, body: Body]> {
  const documents = documentsOf(noun)
  const types = Object.keys(documents)
  const type = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...types, 'text/xml') }, fc.constantFrom(...ODD_TYPES),
    garbage)
  const json = fc.oneof(fc.json(), fc.json().map((json) => `{"${noun}":${json}}`),
    fc.json().map((json) => `{"${noun}":{"title":"T","any":${json}}}`))
  const bytes = fc.string({ unit: fc.nat({ max: 0xff }).map((byte) => String.fromCharCode(byte)) }).map(
    (bytes) => ({ bytes })
  )
  return fc.oneof<Array<fc.MaybeWeightedArbitrary<[string, Body]>>>(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...types).chain((type) => fc.tuple(fc.constant(type),
        mutated(fc.constantFrom(...documents[type] as string[]))))
    },
    fc.tuple(type, mutated(fc.constantFrom(...Object.values(documents).flat()))),
    fc.tuple(type, bytes),
    fc.tuple(fc.constant('application/json'), json),
    {
      weight: 2,
      arbitrary: nestedOf(noun).chain((body) => fc.tuple(mostly(fc.constant(typeNested(body)), type),
        fc.constant(body)))
    }
  )
}

function callOf (noun: string): fc.Arbitrary<Call> {
  const path = fc.tuple(
    mostly(fc.constantFrom('', '', '', '', '/1', '/2'), fc.constantFrom(...ODD_MEMBERS),
      garbage.map((text) => `/${encodeURIComponent(text)}`)),
    mostly(fc.constant(''), fc.constantFrom('.xml', '.json', '.html', '.csv', '.xml.json')),
    mostly(fc.constant(''), fc.constantFrom(...ODD_QUERIES), garbage.map((text) => `?${text.replaceAll('#', '')}`))
  )
  return fc.record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('POST', 'PUT', 'POST') },
      fc.constantFrom('GET', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE')),
    url: path.map((parts) => `/${noun}s${parts.join('')}`),
    headers,
    body: mostly<[type?: string, body?: Body]>(bodyOf(noun), fc.constant([]))
  }).map(({ method, url, headers, body: [type, body] }) => ({
    method,
    url,
    headers: Object.fromEntries(Object
      .entries({ ...headers, 'content-type': type })
      .filter((entry): entry is [string, string] => entry[1] !== undefined)),
    body
  }))
}

function typeNested (body: Body): string {
  const { before, open } = body as { before: string, open: string }
  return /^[[{]/.test(before + open) ? 'application/json' : /^</.test(before + open) ? 'application/xml' : form
}

/** Checks that a body is valid in its own media type. */
function isWellFormed ({ body, headers, statusCode }: LightMyRequestResponse, method: string): void {
  if (method === 'HEAD' || [204, 303, 304].includes(statusCode)) {
    return assert.equal(body, '', `${method} ${statusCode} has no body`)
  }
  const type = String(headers['content-type'])
  if (/^application\/(problem\+)?json(;|$)/.test(type)) JSON.parse(body)
  else if (/^text\/html;/.test(type)) {
    assert.match(body,
      /^<!DOCTYPE html>\n<html .*<main id="main">.+<\/main>\n(?:<footer>.+<\/footer>\n)?<\/body>\n<\/html>\n$/s)
  } else {
    assert.match(type, /^(application|text)\/xml;|^application\/xhtml\+xml;/)
    const parser = new SaxesParser({ xmlns: true })
    parser.on('error', (error) => { throw error })
    parser.write(body).close()
  }
}

/** Returns a store that can be cleared, so that one app serves all runs. */
function makeStore (): Store & { clear: () => void } {
  let store = memoryStore({ unique: ['day'] })
  return {
    clear: () => { store = memoryStore({ unique: ['day'] }) },
    list: (query) => store.list(query),
    get: (id, scope) => store.get(id, scope),
    create: (attributes, scope) => store.create(attributes, scope),
    update: (id, changes, guard) => store.update(id, changes, guard),
    delete: (id, guard) => store.delete(id, guard)
  }
}

t.test('any request gets a well-formed answer without a server error, and a refusal changes nothing', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = [makeStore(), makeStore()] as const
  await app.register(resources, { name: 'things', attributes: thing, store: stores[0], writes: 'both' })
  await app.register(resources, { name: 'notes', store: stores[1], writes: 'both' })
  const state = async (): Promise<string[]> => Promise.all(NOUNS.map(async (noun) => (await get(app, `/${noun}s`,
    'application/json')).body))

  const calls = fc.array(fc.oneof(...NOUNS.map(callOf)), { minLength: 1, maxLength: 8 })
  await holds(t, 250, fc.asyncProperty(calls, async (calls) => {
    for (const store of stores) store.clear()
    for (const noun of NOUNS) {
      for (const document of documentsOf(noun)['application/json']?.slice(0, 2) ?? []) {
        await write(app, 'POST', 'application/json', document, 'a row', `/${noun}s`)
      }
    }
    for (const { method, url, headers, body } of calls) {
      const before = await state()
      const res = await app.inject({
        method: method as 'GET', url, headers, ...(body !== undefined && { payload: payloadOf(body) })
      })
      const what = `${method} ${url}: ${res.statusCode}`
      assert.ok(res.statusCode < 500, what)
      isWellFormed(res, method)
      const isPage = res.statusCode === 200 && /html/.test(String(res.headers['content-type']))
      if (res.statusCode >= 400 || isPage || !['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) {
        assert.deepEqual(await state(), before, `${what} changes nothing`)
      }
    }
    await canBeRead(app)
  }))
})

/** Checks that each stored record can be read in each format. */
async function canBeRead (app: FastifyInstance): Promise<void> {
  for (const noun of NOUNS) {
    const rows = (await get(app, `/${noun}s`,
      'application/json')).json<{ [plural: string]: Array<{ id: number }> }>()[`${noun}s`] ?? []
    for (const url of [`/${noun}s`, ...rows.map(({ id }) => `/${noun}s/${id}`)]) {
      for (const type of ['application/json', 'application/xml', 'text/html', 'application/xhtml+xml']) {
        isWellFormed(await get(app, url, type), 'GET')
      }
    }
  }
}
