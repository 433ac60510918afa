import assert from 'node:assert/strict'
import fc from 'fast-check'
import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import { SaxesParser } from 'saxes'
import t, { type Test } from 'tap'
import resources, {
  type Attributes, type AttributesSchema, draw, type Format, json as jsonOfConfigure, type Mapper, memoryStore,
  type ResourceOptions, type Store
} from '../../lib/index.js'
import { build, xml as declaration, draft, types } from '../support/helper.js'
import { plainTag } from '../support/plain-tag.js'
import { form, get, holds, treeDefs, write } from '../support/arbitraries.js'

/** A field of CSV: its text, and whether it is quoted. */
interface CsvField { readonly text: string, readonly quoted: boolean }

/**
 * Parses CSV by the grammar of RFC 4180 §2: `file = record *(CRLF record) [CRLF]`. Unlike most parsers it accepts
 * nothing else.
 */
function parseCsv (text: string): CsvField[][] {
  const records: CsvField[][] = []
  let position = 0
  while (position < text.length) {
    const record: CsvField[] = []
    for (;;) {
      const [field = '', content] = /^"((?:[^"]|"")*)"/.exec(text.slice(position)) ??
        /^[^",\r\n]*/.exec(text.slice(position)) ?? []
      record.push({
        text: content === undefined ? field : content.replaceAll('""', '"'), quoted: content !== undefined
      })
      position += field.length
      if (text[position] !== ',') break
      position++
    }
    if (!text.startsWith('\r\n', position)) {
      throw new Error(`no CSV at ${position}: ${JSON.stringify(text.slice(position, position + 20))}`)
    }
    position += 2
    records.push(record)
  }
  return records
}

/** Parses CSV to the texts of its fields. */
function textsOfCsv (csv: string): string[][] {
  return parseCsv(csv).map((record) => record.map(({ text }) => text))
}

const csv = 'text/csv; charset=utf-8; header=present'
const formats = ['xml', 'html', 'json', 'csv'] as const

const attributes = {
  type: 'object',
  properties: {
    title: { type: ['string', 'null'] },
    rating: { type: ['number', 'null'] },
    price: { type: 'string', format: 'decimal' },
    published: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    author: { type: 'object', properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true } } },
    any: {},
    secret: { type: 'string', writeOnly: true }
  }
} as const

/** Returns a store that has these rows, with ids from 1. */
function holding (rows: readonly Attributes[]): Store {
  const store = memoryStore()
  for (const row of rows) store.create(row, {})
  return store
}

async function listed (
  t: Parameters<typeof build>[0],
  rows: readonly Attributes[],
  options: Partial<ResourceOptions> = {},
  url = '/posts.csv'
): Promise<string> {
  const app = await build(t, { name: 'posts', attributes, store: holding(rows), formats, ...options })
  const res = await app.inject(url)
  assert.deepEqual([res.statusCode, res.headers['content-type']], [200, csv])
  return res.body
}

const HEAD = 'id,title,rating,price,published,tags,author,any'

t.test('a list as CSV has a header and a record for each row', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, row: Attributes, record: string]> = [
    ['nothing', {}, '1,,,,,,,'],
    ['null', { title: null, rating: null, any: null }, '1,,,,,,,'],
    ['an empty text', { title: '' }, '1,"",,,,,,'],
    ['a text', { title: 'Tea & cake; <b>' }, '1,Tea & cake; <b>,,,,,,'],
    ['a comma', { title: 'Tea, green' }, '1,"Tea, green",,,,,,'],
    ['quotes', { title: '"Tea"' }, '1,"""Tea""",,,,,,'],
    ['ends of lines', { title: 'a\nb' }, '1,"a\nb",,,,,,'],
    ['a CR', { title: 'a\rb' }, '1,"a\rb",,,,,,'],
    ['white space at the ends', { title: ' a' }, '1," a",,,,,,'],
    ['white space at the end', { title: 'a\t' }, '1,"a\t",,,,,,'],
    ['a text like a number', { title: '007' }, '1,007,,,,,,'],
    ['numbers', { rating: -1.5, price: '-12.50', any: 1e21 }, '1,,-1.5,-12.50,,,,1e+21'],
    ['booleans', { published: false, any: true }, '1,,,,false,,,true'],
    ['a list', { tags: ['a', 'b "c"'] }, '1,,,,,"[""a"",""b \\""c\\""""]",,'],
    ['an empty list', { tags: [] }, '1,,,,,[],,'],
    ['an object', { author: { name: 'Ann', secret: 'S3' }, any: { a: [null] } },
      '1,,,,,,"{""name"":""Ann""}","{""a"":[null]}"'],
    ['what is writeOnly', { title: 'a', secret: 'S3' }, '1,a,,,,,,'],
    ['a formula', { title: '=1+1', any: '@x' }, '1,=1+1,,,,,,@x']
  ]
  for (const [name, row, record] of cases) t.equal(await listed(t, [row]), `${HEAD}\r\n${record}\r\n`, name)
  t.equal(await listed(t, []), `${HEAD}\r\n`, 'without rows, there is the header')
})

t.test('escapeFormulas puts an apostrophe before texts that a spreadsheet would run', async (t) => {
  const cases: ReadonlyArray<readonly [row: Attributes, record: string]> = [
    [{ title: '=1+1' }, "1,'=1+1,,,,,,"], [{ title: '+1' }, "1,'+1,,,,,,"], [{ title: '-1' }, "1,'-1,,,,,,"],
    [{ title: '@SUM(A1)' }, "1,'@SUM(A1),,,,,,"], [{ title: '\t=1' }, "1,'\t=1,,,,,,"],
    [{ title: '\r=1' }, '1,"\'\r=1",,,,,,'], [{ title: '\n=1' }, '1,"\'\n=1",,,,,,'],
    [{ title: '＝1+1', any: '＋1' }, "1,'＝1+1,,,,,,'＋1"], [{ title: '－1', any: '＠SUM(A1)' }, "1,'－1,,,,,,'＠SUM(A1)"],
    [{ title: '=HYPERLINK("a","b")' }, '1,"\'=HYPERLINK(""a"",""b"")",,,,,,'],
    [{ title: 'a=1', any: '=' }, "1,a=1,,,,,,'="],
    [{ title: '', rating: -5, price: '-12.50', any: -1 }, '1,"",-5,-12.50,,,,-1'],
    [{ price: '-1+1', any: ['=1'] }, '1,,,\'-1+1,,,,"[""=1""]"']
  ]
  for (const [row, record] of cases) {
    t.equal(await listed(t, [row], { csv: { escapeFormulas: true } }), `${HEAD}\r\n${record}\r\n`, JSON.stringify(row))
  }
  const store: Store = {
    ...memoryStore(), id: 'string', get: () => ({ id: '=1', version: '1', attributes: { title: 'a' } })
  }
  const app = await build(t, { name: 'posts', attributes, store, formats, csv: { escapeFormulas: true } })
  t.equal((await app.inject('/posts/=1.csv')).body, `${HEAD}\r\n'=1,a,,,,,,\r\n`, 'an id may be such a text too')
})

t.test('a list as CSV has all rows of the filter', async (t) => {
  const rows = Array.from({ length: 120 }, (_, index) => ({ title: `T${index + 1}`, rating: index % 2 }))
  const idsOf = async (url: string): Promise<number[]> => textsOfCsv(await listed(t, rows,
    { html: { pageSize: 10 }, maxLimit: 100 }, url)).slice(1).map(([id]) => Number(id))
  t.equal((await idsOf('/posts.csv')).length, 120, 'without a limit, there are no pages')
  t.equal((await idsOf('/posts?format=csv&rating=1')).length, 60)
  t.strictSame(await idsOf('/posts.csv?rating[gte]=1&sort=-id&limit=2'), [120, 118])
  t.strictSame((await textsOfCsv(await listed(t, rows.slice(0, 1), {}, '/posts.csv?only=rating'))),
    [['id', 'rating'], ['1', '0']])
})

t.test('the list page links to the CSV with its filter', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: holding([{ title: 'a' }]), formats })
  const page = async (url: string): Promise<string> => (await app.inject({
    url, headers: { accept: 'text/html' }
  })).body
  const cases: ReadonlyArray<readonly [page: string, link: string]> = [
    ['/posts', '/posts?format=csv-bom'],
    ['/posts?title=a&sort=-rating', '/posts?format=csv-bom&amp;title=a&amp;sort=-rating'],
    ['/posts.html?limit=1', '/posts?format=csv-bom&amp;limit=1'],
    ['/posts?format=html&only=title', '/posts?format=csv-bom&amp;only=title'],
    ['/posts/1', '/posts/1?format=csv-bom']
  ]
  for (const [url, link] of cases) {
    t.ok((await page(url)).includes(`<a href="${link}" type="text/csv">CSV</a>`), url)
    const res = await app.inject(link.replaceAll('&amp;', '&'))
    t.strictSame([res.statusCode, res.headers['content-type']], [200, csv])
    t.ok(res.body.startsWith('\uFEFFid,title'), link)
    const plain = await app.inject(link.replaceAll('&amp;', '&').replace('csv-bom', 'csv'))
    t.equal(res.body, `\uFEFF${plain.body}`, 'nothing else differs')
  }
})

t.test('CSV for spreadsheets is chosen by its name alone, and has tags of its own', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: holding([{ title: 'Ü' }]), formats, writes: 'both' })
  const marked = await app.inject('/posts/1?format=csv-bom')
  t.equal(marked.rawPayload.toString('latin1', 0, 3), '\xEF\xBB\xBF')
  const plain = await app.inject('/posts/1?format=csv')
  t.not(marked.headers.etag, plain.headers.etag)
  const again = { url: '/posts/1?format=csv-bom', headers: { 'if-none-match': String(marked.headers.etag) } }
  t.equal((await app.inject(again)).statusCode, 304)
  t.equal((await app.inject('/posts/1.csv-bom')).statusCode, 404)
  t.match((await app.inject('/posts?format=csv-bom&limit=1')).headers.link,
    '</posts?format=csv-bom&limit=1>; rel="self"')
  t.equal((await app.inject('/posts/9?format=csv-bom')).headers['content-type'], types.problem)
  const without = await build(t, { name: 'posts', attributes })
  t.equal((await without.inject('/posts?format=csv-bom')).statusCode, 406)
})

t.test('CSV is chosen like any format, and a row alone is a list of one row', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: holding([{ title: 'a' }]), formats, writes: 'both' })
  const record = `${HEAD}\r\n1,a,,,,,,\r\n`
  const cases: ReadonlyArray<readonly [request: InjectOptions, status: number, type: string | undefined, body: string
    | RegExp]> = [
      [{ url: '/posts', headers: { accept: 'text/csv' } }, 200, csv, record],
      [{ url: '/posts', headers: { accept: 'text/csv;header=present' } }, 200, csv, record],
      [{ url: '/posts/1', headers: { accept: 'text/csv' } }, 200, csv, record],
      [{ url: '/posts/1.csv' }, 200, csv, record],
      [{ method: 'PUT', url: '/posts/1.csv', payload: { post: { title: 'a' } } }, 200, csv, record],
      [{ method: 'POST', url: '/posts.csv', payload: { post: { title: 'b' } } }, 201, csv, `${HEAD}\r\n2,b,,,,,,\r\n`],
      [{ url: '/posts/9.csv' }, 404, types.problem,
        '{"type":"about:blank","title":"Not Found","status":404,"detail":"there is no post with the id 9"}'],
      [{ url: '/posts.csv?x=1' }, 400, types.problem, /the parameter \\"x\\" is unknown/],
      [{ method: 'POST', url: '/posts.csv', payload: { post: { titel: 'b' } } }, 422, types.problem,
        /"errors":{"titel":/],
      [
        {
          method: 'POST',
          url: '/posts',
          headers: { 'content-type': 'text/plain', accept: 'application/json' },
          payload: 'a'
        },
        415,
        types.problem,
        /text\/csv/
      ],
      [{ url: '/posts', headers: { accept: 'application/pdf' } }, 406, types.xml, /text\/csv \(csv\)/]
    ]
  for (const [request, status, type, body] of cases) {
    const res = await app.inject(request)
    t.match([res.statusCode, res.headers['content-type'], res.body], [status, type, body],
      `${request.method ?? 'GET'} ${String(request.url)} ${status}`)
  }
  t.equal(plainTag((await app.inject('/posts/1.csv')).headers.etag), '"2.csv"')
  const failing: FastifyInstance = await build(t, {
    name: 'posts', attributes, store: { ...memoryStore(), list () { throw new Error('no') } }, formats: ['csv']
  })
  t.match(await failing.inject('/posts'), { statusCode: 500, headers: { 'content-type': types.problem } },
    'a failure too')
})

t.test('without a schema, all attributes are one JSON text', async (t) => {
  const app = await build(t, { name: 'posts', formats, store: holding([{ b: 1, a: '"' }]) })
  t.strictSame(textsOfCsv((await app.inject('/posts.csv')).body), [['id', 'attributes'], ['1', '{"b":1,"a":"\\""}']])
})

t.test('a singleton has no id, and included rows are JSON', async (t) => {
  const profile = await draft(t, (map) => map.resource('profile', {
    attributes: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }, formats
  }))
  await profile.inject({ method: 'POST', url: '/profile', payload: { profile: { name: 'Ann', age: 5 } } })
  t.equal((await profile.inject('/profile.csv')).body, 'name,age\r\nAnn,5\r\n')
  const app = await build(t, { name: 'other' }, {
    before: (app) => {
      app.register(draw((map) => {
        map.resources('authors', {
          attributes: { type: 'object', properties: { name: { type: 'string' } } }, store: holding([{ name: 'Ann' }])
        })
        map.resources('posts', {
          attributes: { type: 'object', properties: { authorId: { type: 'integer' } } },
          references: { authorId: 'authors' },
          store: holding([{ authorId: 1 }, { authorId: 9 }]),
          formats
        })
      }))
    }
  })
  t.strictSame(textsOfCsv((await app.inject('/posts.csv?include=author')).body),
    [['id', 'authorId', 'author'], ['1', '1', '{"id":1,"name":"Ann"}'], ['2', '9', '']])
})

// Every character but surrogates, which a store may hold but UTF-8 cannot carry.
const text = fc.array(
  fc.oneof(fc.constantFrom(...'",\r\n\t =+-@\'', '""', '\r\n', '\ufeff', '\u2028', 'é', '😀'),
    fc.string({ unit: 'grapheme', maxLength: 2 })),
  { maxLength: 8 }
).map((parts) => parts.join(''))
const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })

t.test('an RFC 4180 reader reads the values that were written', async (t) => {
  const row = fc.record({
    title: fc.option(text),
    rating: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    published: fc.boolean(),
    tags: fc.array(text, { maxLength: 3 }),
    any: json
  }, { requiredKeys: [] })
  await fc.assert(fc.asyncProperty(fc.array(row, { maxLength: 5 }), async (rows) => {
    const store: Store = {
      ...memoryStore(),
      * list () { yield rows.map((attributes, index) => ({ id: index + 1, version: '1', attributes })) }
    }
    const app = await build(t, { name: 'posts', attributes, store, formats: ['csv'] })
    const [head = [], ...records] = parseCsv((await app.inject('/posts')).body)
    assert.deepEqual(head.map(({ text }) => text), HEAD.split(','))
    assert.equal(records.length, rows.length)
    for (const [index, record] of records.entries()) {
      const fields = new Map(head.map(({ text: name }, column) => [name, record[column]]))
      assert.equal(record.length, head.length)
      assert.equal(fields.get('id')?.text, String(index + 1))
      for (const [name, value] of Object.entries(rows[index] as Attributes)) {
        const field = fields.get(name)
        // Null is an empty field, and an empty text is a quoted one.
        if (value === null || value === undefined) assert.deepEqual(field, { text: '', quoted: false }, name)
        else if (typeof value === 'string') assert.equal(field?.text, value, name)
        else assert.deepEqual(JSON.parse(field?.text ?? ''), JSON.parse(JSON.stringify(value)), name)
        if (value === '') assert.equal(field?.quoted, true)
      }
    }
  }), { numRuns: 150, seed: 20_260_131 })
})

/** The options of the format of this test. */
interface LineOptions { readonly begin?: string, readonly end?: string }

declare module '../../lib/core/options/options.js' {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- a merged interface has the same parameters
  interface FormatOptions<S extends AttributesSchema | undefined> { readonly lines?: LineOptions }
}

/** A format that writes each title between two texts, and refuses other options than these. */
function lines (given: LineOptions = {}): Format {
  const { begin = '<', end = '>' } = given
  const show = ({ attributes }: { readonly attributes: Readonly<Record<string, unknown>> }): string =>
    `${begin}${String(attributes.title)}${end}`
  return {
    name: 'lines',
    mediaTypes: ['text/plain'],
    settings: given,
    async configure (own, { plural }) {
      if ('middle' in own) throw new TypeError(`${plural} have no middle`)
      return lines({ ...given, ...own })
    },
    compileWriter: () => ({
      list: { open: '', row: show, separator: ' ', close: '' }, record: show, problem: ({ title }) => title
    })
  }
}

async function serve (t: Test, declare: (map: Mapper) => unknown, format: Format = lines()): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(declare, { formats: [format, jsonOfConfigure()], lines: { end: '.' } }))
  await app.ready()
  return app
}

t.test('a format of the app has the options of the call, the map, the scope and the resource', async (t) => {
  const store = memoryStore()
  store.create({ title: 'Tea' }, {})
  const app = await serve(t, (map) => map
    .resources('posts', { store })
    .scope({ lines: { begin: '(' } }, (map) => map
      .resources('notes', { store })
      .resources('cards', { store, lines: { begin: '[', end: ']' } })), lines({ begin: '{' }))
  const answers = await Promise.all(['/posts', '/notes/1', '/cards'].map((url) => app.inject(url)))
  t.strictSame(answers.map(({ body }) => body), ['{Tea.', '(Tea.', '[Tea]'])
  const tags = await Promise.all(['/posts/1', '/notes/1', '/cards/1'].map(async (url) => (await app.inject(
    url
  )).headers.etag))
  t.equal(new Set(tags).size, 3, 'the options are a part of what an answer shows')
})

t.test('what a format throws about its options stops the start', async (t) => {
  await t.rejects(serve(t, (map) => map.resources('posts', { lines: { middle: '' } as object })), {
    message: 'posts have no middle'
  })
  await t.rejects(serve(t, (map) => map.resources('posts', { lines: 'x' as LineOptions })), {
    message: 'Option "lines" of resource "posts" must be an object with the options of the format "lines", not \'x\'.'
  })
})

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
