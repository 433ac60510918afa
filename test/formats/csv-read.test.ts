import fc from 'fast-check'
import assert from 'node:assert/strict'
import t from 'tap'
import type { Reader } from '../../lib/core/formats/format.js'
import { compileCsvReader, type CsvNode } from '../../lib/core/formats/csv/read.js'
import { compileCsvWriter, type CsvOptions } from '../../lib/core/formats/csv/write.js'
import { type IdType, makeResource, type Resource } from '../../lib/core/resource/resource.js'
import { compileVisible } from '../../lib/core/resource/visible.js'
import { type Property, openShape } from '../../lib/core/schema/shape.js'
import type { Schema } from '../../lib/core/schema/types.js'
import { Issues } from '../../lib/core/schema/validation/issues.js'
import { identity } from '../../lib/core/util/functions.js'
import { isSame, ownMember } from '../../lib/core/util/own-property.js'
import { memoryStore } from '../../lib/index.js'
import { build, draft, send, types } from '../support/helper.js'
import { holds, samplesOf, text as anyText } from '../support/arbitraries.js'

const text = { type: 'string' } as const
const properties: { readonly [name: string]: Schema } = {
  text,
  note: { type: ['string', 'null'] },
  count: { type: 'integer' },
  limit: { type: ['integer', 'null'] },
  long: { type: 'integer', format: 'int64' },
  ratio: { type: 'number' },
  flag: { type: 'boolean' },
  maybe: { type: ['boolean', 'null'] },
  day: { type: 'string', format: 'date' },
  until: { type: ['string', 'null'], format: 'date-time' },
  price: { type: 'string', format: 'decimal' },
  bytes: { type: 'string', contentEncoding: 'base64' },
  tags: { type: 'array', items: text },
  names: { type: ['array', 'null'], items: text },
  author: { type: 'object', properties: { name: text } },
  either: { type: ['string', 'array'] },
  mixed: { type: ['integer', 'object', 'null'] },
  any: {}
}

function declare (properties: { readonly [name: string]: Schema } | undefined, idType: IdType = 'integer'): Resource {
  const place = {
    plural: 'things',
    singular: 'thing',
    path: '/things',
    memberWrites: false,
    singleton: false,
    actions: new Set<never>(),
    foreignKey: undefined,
    longestId: 100,
    key: []
  }
  return makeResource(place, idType, properties && { type: 'object', properties })
}

const things = declare(properties)
const reader = compileCsvReader(things, {})

/** Returns the rows of a body. */
function rowsOf (body: string | Buffer, by: Reader<CsvNode> = reader): readonly CsvNode[] {
  const { things } = by.parse(Buffer.from(body))
  return by.items?.(things as CsvNode) as readonly CsvNode[]
}

/** Returns the fields of the rows of a body, by the names of their columns. */
function fieldsOf (body: string | Buffer, by: Reader<CsvNode> = reader): Array<Record<string, unknown>> {
  return rowsOf(body, by).map((row) => ({ ...by.entries(row) }))
}

/** Returns the value of a field, or the message about it. */
function convert (name: string, field: CsvNode, by: Reader<CsvNode> = reader): unknown {
  const issues = new Issues()
  const { shape } = things.attributes.get(name) as Property
  const value = by.compile(shape)(field, name, issues)
  return issues.size === 0 ? value : [...issues.messages.values()].flat().map(String)
}

function fieldOf (spelled: string, by: Reader<CsvNode> = reader): CsvNode {
  const [{ field } = {}] = fieldsOf(`other,field\nx,${spelled}\n`, by)
  return field as CsvNode
}

t.test('the rows of a body have their fields by the names of the columns', (t) => {
  const one = [{ id: '1', title: 'a' }]
  const cases: ReadonlyArray<readonly [body: string, rows: ReadonlyArray<Record<string, unknown>>]> = [
    ['id,title\r\n1,a\r\n', one],
    ['id,title\n1,a\n', one],
    ['id,title\r\n1,a', one],
    ['\uFEFFid,title\r\n1,a\r\n', one],
    ['\uFEFF"id","title"\r\n"1","a"\r\n', one],
    ['id,title\r\n1,a\r\n\r\n\n\r\n', one],
    ['id,title\n1,a\r\n2,b\n', [...one, { id: '2', title: 'b' }]],
    ['id,title\r\n', []],
    ['id', []],
    ['id,title\n,\n', [{ id: null, title: null }]],
    ['id,title\n"",""\n', [{ id: '', title: '' }]],
    ['id,title\n1,"a, ""b""\r\nc\n\rd"\n', [{ id: '1', title: 'a, "b"\r\nc\n\rd' }]],
    ['id,title\n1,""""\n', [{ id: '1', title: '"' }]],
    ['id,title\n1,"\n"\n\n', [{ id: '1', title: '\n' }]],
    ['id,title\n 1 ,\ta \n', [{ id: ' 1 ', title: '\ta ' }]],
    ['id,title\n1,\uFEFFé😀\n', [{ id: '1', title: '\uFEFFé😀' }]],
    ['title\na\n\nb\n\n', [{ title: 'a' }, { title: null }, { title: 'b' }]],
    ['titel,__proto__,constructor\na,b,c', [{ titel: 'a', ['__proto__']: 'b', constructor: 'c' }]]
  ]
  for (const [body, rows] of cases) t.strictSame(fieldsOf(body), rows, JSON.stringify(body))
  t.equal(reader.entries(reader.parse(Buffer.from('id\n1')).things as CsvNode), undefined, 'a list is no group')
  t.equal(reader.items?.(rowsOf('id\n1')[0] as CsvNode), undefined, 'a row is no list')
  t.end()
})

t.test('a body that is no table is malformed, and the message names the line', (t) => {
  const cases: ReadonlyArray<readonly [body: string | Buffer, message: string]> = [
    ['', 'line 1 must be a header that names the columns'],
    ['\uFEFF\r\n\r\n', 'line 1 must be a header that names the columns'],
    ['id,,title\n1,2,3', 'line 1 must be a header that names each column, but has an empty name'],
    ['id,""\n1,2', 'line 1 must be a header that names each column, but has an empty name'],
    ['\nid\n1', 'line 1 must be a header that names each column, but has an empty name'],
    ['id,title,id\n1,2,3', 'line 1 names the column "id" twice'],
    ['id,title\n1,a\n2\n', 'line 3 has another number of fields (1) than the header (2)'],
    ['id,title\n1,a\n\n2,b\n', 'line 3 has another number of fields (1) than the header (2)'],
    ['id,title\n1,"a\nb"\n2,b,c\n', 'line 4 has another number of fields (3) than the header (2)'],
    ['id,title\n1,a\n2,"b\n3,c\n', 'line 3 has a quote that opens a field, and no quote closes it'],
    ['id,title\n1,"""', 'line 2 has a quote that opens a field, and no quote closes it'],
    ['id,title\n1,"a" b\n', 'line 2 has text after a closing quote'],
    ['id,title\n1,"a\nb"c"\n', 'line 3 has text after a closing quote'],
    ['id,title\n1,"a"\r', 'ok'],
    ['id,title\n1,"a"\r2,b', 'line 2 has text after a closing quote'],
    ['id,title\n1,5" disk\n',
      'line 2 has a quote in a field that does not begin with one; write "" for a quote, and quotes around the field'],
    ['id,title\n1, "a"\n',
      'line 2 has a quote in a field that does not begin with one; write "" for a quote, and quotes around the field'],
    ['id,title\r1,a\r2,b', 'line 1 has a CR without an LF outside of quotes'],
    ['id,title\n1,a\rb', 'line 2 has a CR without an LF outside of quotes'],
    [Buffer.from('id,title\n1,é', 'latin1'), 'the body is not valid UTF-8'],
    [Buffer.from('\uFEFFid,title\n1,é', 'utf16le'), 'the body is not valid UTF-8'],
    [`id\n${'1\n'.repeat(50_001)}`, 'the body has more than 50000 values']
  ]
  for (const [body, message] of cases) {
    const name = JSON.stringify(String(body).slice(0, 40))
    if (message === 'ok') t.doesNotThrow(() => rowsOf(body), name)
    else t.throws(() => rowsOf(body), { message }, name)
  }
  t.end()
})

const NO_BOOLEAN = ['must be true or false']
const NO_INTEGER = ['must be an integer']

t.test('a field is converted by its attribute', (t) => {
  const cases: { readonly [name: string]: ReadonlyArray<readonly [spelled: string, value: unknown]> } = {
    text: [['abc', 'abc'], ['5', '5'], ['TRUE', 'TRUE'], ['""', ''], ['', ''], ['" a "', ' a '], ["'=x", "'=x"]],
    note: [['', null], ['""', ''], ['null', 'null'], [' ', ' ']],
    count: [['5', 5], [' 5 ', 5], ['-5', -5], ['007', 7], ['', NO_INTEGER], ['""', NO_INTEGER], ['1.5', NO_INTEGER],
      ['"1,000"', NO_INTEGER]],
    limit: [['', null], ['""', null], [' ', null], ['5', 5]],
    long: [['9007199254740993', '9007199254740993'], ['7', 7], ['x', NO_INTEGER], ['9223372036854775808',
      ['must be an integer between -9223372036854775808 and 9223372036854775807']]],
    ratio: [['2.5', 2.5], ['1E+21', 1e21], ['1e-10', 1e-10], ['0.10', 0.1], ['x', ['must be a number']]],
    flag: [['true', true], ['TRUE', true], ['False', false], ['1', true], ['0', false], ['yes', NO_BOOLEAN],
      ['', NO_BOOLEAN]],
    maybe: [['', null], ['FALSE', false]],
    day: [['2026-01-31', '2026-01-31'], [' 2026-01-31 ', '2026-01-31'], ['', ''], ['31.1.2026', '31.1.2026']],
    until: [['', null], ['""', null], ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z']],
    price: [['3.20', '3.20'], ['.5', '0.5'], ['+1', '1'], ['-1', '-1'], ['3 €', '3 €']],
    bytes: [['"QUJD\nREVG"', 'QUJDREVG']],
    tags: [['"[""a"",""b""]"', ['a', 'b']], ['[]', []], ['[ ]', []], ['', ['must be an array']],
      ['a', ['must be JSON']], ['[a]', ['must be JSON']], ['{}', {}]],
    names: [['', null], ['[]', []]],
    author: [['"{""name"":""Ann""}"', { name: 'Ann' }], ['{}', {}], ['', ['must be an object']],
      ['"{""age"":9007199254740993}"', ['has the number 9007199254740993, which cannot be kept exactly; send at most ' +
        '15 digits, between 1e-307 and 1e308']]],
    either: [['[]', []], ['{}', '{}'], ['[x]', '[x]'], ['"""a"""', '"a"'], ['', '']],
    mixed: [['5', 5], ['"{""a"":1}"', { a: 1 }], ['', null], ['x', ['must be an integer or an object or null']]],
    any: [['5', '5'], ['true', 'true'], ['[1]', [1]], ['{}', {}], ['', null], ['""', '']]
  }
  for (const [name, fields] of Object.entries(cases)) {
    for (const [spelled, value] of fields) t.strictSame(convert(name, fieldOf(spelled)), value, `${name}: ${spelled}`)
  }
  t.end()
})

t.test('with escapeFormulas, one apostrophe is taken off where the writer puts one on', (t) => {
  const escaping = compileCsvReader(declare(properties), { escapeFormulas: true })
  const cases: ReadonlyArray<readonly [name: string, spelled: string, value: unknown]> = [
    ['text', "'=1", '=1'], ['text', "'-5", '-5'], ['text', "\"'\rx\"", '\rx'], ['text', "'＝1", '＝1'],
    ['text', "''=1", "''=1"], ['text', "'a", "'a"], ['text', "'", "'"], ['text', '=1', '=1'],
    ['price', '-5', '-5'], ['price', "'-5", "'-5"], ['price', "'-x", '-x'],
    ['long', '-9007199254740993', '-9007199254740993'],
    ['either', "'=1", '=1'], ['any', "'+1", '+1']
  ]
  for (const [name, spelled, value] of cases) {
    t.strictSame(convert(name, fieldOf(spelled, escaping), escaping), value, `${name}: ${spelled}`)
  }
  const { shape } = things.attributes.get('text') as Property
  for (const stored of ['=1', "'=1"]) t.equal(escaping.isShown?.(fieldOf("'=1", escaping), stored, shape), true, stored)
  t.equal(escaping.isShown?.(fieldOf("'a", escaping), 'a', shape), false)
  const scalarOf = (idType: IdType): unknown => {
    const ids = compileCsvReader(declare(properties, idType), { escapeFormulas: true })
    return ids.scalar(fieldOf("'-7", ids))
  }
  t.equal(scalarOf('string'), '-7')
  t.equal(scalarOf('integer'), "'-7", 'the writer shows the number -7 without an apostrophe')
  t.end()
})

t.test('without a schema, the column "attributes" has all attributes, and other columns have texts', (t) => {
  const open = declare(undefined)
  const by = compileCsvReader(open, {})
  const read = (body: string): Record<string, unknown> => Object.fromEntries(
    Object.entries(by.entries(rowsOf(body, by)[0] as CsvNode) ?? {})
      .map(([name, node]) => [name, by.compile(openShape)(node, name, new Issues())])
  )
  const cases: ReadonlyArray<readonly [body: string, attributes: Record<string, unknown>]> = [
    ['id,attributes\n1,"{""a"":1,""b"":null,""c"":[""x""]}"', { id: '1', a: 1, b: null, c: ['x'] }],
    ['id,attributes\n1,{}', { id: '1' }],
    ['id,attributes\n1,', { id: '1' }],
    ['attributes\n"{""attributes"":5}"', { attributes: 5 }],
    ['id,title,attributes\n1,5,"{""a"":5}"', { id: '1', title: '5', a: 5 }],
    ['id,title\n1,', { id: '1', title: null }]
  ]
  for (const [body, attributes] of cases) t.strictSame(read(body), attributes, body)
  const faults: ReadonlyArray<readonly [body: string, message: string]> = [
    ['attributes\nx', 'attributes must be JSON'],
    ['attributes\n""', 'attributes must be JSON'],
    ['attributes\n[1]', 'attributes must be a JSON object'],
    ['attributes\n"{""a"":1e999}"', 'attributes has the number 1e999, which cannot be kept exactly; ' +
      'send at most 15 digits, between 1e-307 and 1e308'],
    ['a,attributes\n1,"{""a"":1}"', 'a is given by a column and inside "attributes"']
  ]
  for (const [body, message] of faults) t.throws(() => read(body), { message }, body)
  const [row] = rowsOf('attributes\n"{""id"":7,""_version"":""x""}"', by)
  const { id, _version } = by.entries(row as CsvNode) ?? {}
  t.strictSame([by.scalar(id as CsvNode), by.scalar(_version as CsvNode)], ['7', 'x'])
  t.equal(by.isShown?.({ value: 1 }, 1, openShape), false, 'the values themselves are compared')
  t.end()
})

t.test('a body may have 10,000 rows of 10 fields, or fewer rows with more fields', (t) => {
  for (const [rows, columns] of [[10_000, 10], [1_000, 60], [1, 1_000]] as const) {
    const names = Array.from({ length: columns }, (_, index) => `c${index}`)
    const body = `${names.join()}\n${`${names.map(() => '"a, b"').join()}\r\n`.repeat(rows)}`
    const all = fieldsOf(body)
    t.equal(all.length, rows)
    t.strictSame(all.at(-1), Object.fromEntries(names.map((name) => [name, 'a, b'])))
  }
  t.end()
})

const options: ReadonlyArray<CsvOptions> = [{}, { escapeFormulas: true }]
/** Texts that begin as formulas do, or like the JSON of another value. */
const text8 = fc.tuple(fc.constantFrom('', '', "'", '=', '-1', '\t', '\r', '[1]', '{}', '"'), anyText)
  .map(([begin, rest]) => begin + rest)

t.test('what the writer writes is read as it was, and is shown', async (t) => {
  await holds(t, 500, fc.asyncProperty(samplesOf(text8), async ({ attributes, records }) => {
    const resource = declare(attributes?.properties)
    const visible = compileVisible(resource)
    for (const chosen of options) {
      const by = compileCsvReader(resource, chosen)
      const { list } = compileCsvWriter(resource, chosen, '\uFEFF')
      const stored = records.map((attributes, index) => ({ id: index + 1, version: '1', attributes }))
      const rows = rowsOf(list.open + stored.map(list.row).join('') + list.close, by)
      assert.equal(rows.length, records.length)
      for (const [index, record] of records.entries()) {
        const { id, ...fields } = by.entries(rows[index] as CsvNode) ?? {}
        assert.equal(by.scalar(id as CsvNode), String(index + 1))
        if (attributes === undefined) assert.deepEqual(Object.keys(fields), Object.keys(record))
        for (const [name, field] of Object.entries(fields)) {
          const { shape } = resource.attributes.get(name) ?? { shape: openShape }
          const value = (visible.get(name) ?? identity)(ownMember(record, name))
          if (attributes !== undefined) assert.equal(by.isShown?.(field, value, shape), true, name)
          if (isCertain(value, shape.types, chosen)) {
            const issues = new Issues()
            const read = by.isAbsent?.(field) === true ? undefined : by.compile(shape)(field, name, issues)
            assert.deepEqual([...issues.messages], [], name)
            assert.ok(isSame(read, value), `${name}: ${JSON.stringify(read)} for ${JSON.stringify(value)}`)
          }
        }
      }
    }
  }))
})

/** Returns whether no other value of these types has the same field. */
function isCertain (value: unknown, types: ReadonlySet<string>, { escapeFormulas = false }: CsvOptions): boolean {
  if (!types.has('string')) return true
  if (typeof value !== 'string') return value === null || value === undefined || typeof value === 'object'
  const isJson = (types.has('array') && value.startsWith('[')) || (types.has('object') && value.startsWith('{'))
  return !isJson && !(escapeFormulas && value.startsWith("'"))
}

/** The media type of an answer in CSV. */
const csv = 'text/csv; charset=utf-8; header=present'
const formats = ['xml', 'html', 'json', 'csv'] as const
const post = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1 },
    note: { type: ['string', 'null'] },
    rating: { type: ['integer', 'null'] },
    published: { type: 'boolean', default: false },
    price: { type: 'string', format: 'decimal' },
    tags: { type: 'array', items: text }
  }
} as const
const HEAD = 'id,title,note,rating,published,price,tags\r\n'

t.test('a body in CSV always has many rows, and is answered in CSV', async (t) => {
  const app = await build(t, { name: 'posts', attributes: post, formats, writes: 'both' })
  const rows = '1,"A, ""b""",,5,true,3.20,"[""x""]"\r\n2,B,"",,false,,\r\n'
  const cases: ReadonlyArray<readonly [
    method: 'POST' | 'PUT' | 'DELETE', payload: string, status: number, body: string
  ]> = [
    ['POST', 'title,note,rating,published,price,tags\r\n"A, ""b""",,5,TRUE,3.20,"[""x""]"\r\nB,"",,,,\r\n', 201,
      HEAD + rows],
    ['POST', '\uFEFFtitle\nC', 201, `${HEAD}3,C,,,false,,\r\n`],
    ['POST', 'title\n', 201, HEAD],
    ['PUT', 'id,rating\n3,4\n', 200, `${HEAD}3,C,,4,false,,\r\n`],
    ['PUT', 'id,rating,note\n3,,\n', 200, `${HEAD}3,C,,,false,,\r\n`],
    ['DELETE', 'id\n3\n', 204, '']
  ]
  for (const [method, payload, status, body] of cases) {
    const res = await app.inject(send(method, '/posts', 'text/csv', payload))
    t.strictSame([res.statusCode, res.headers['content-type'], res.body],
      [status, status === 204 ? undefined : csv, body], `${method} ${JSON.stringify(payload)}`)
  }
  const faulty = await app.inject(send('PUT', '/posts', 'text/csv', 'id,title,raiting\n1,"\n",5\n2,x,\n9,y,\n'))
  t.match(faulty, { statusCode: 422, headers: { 'content-type': types.problem } })
  const errors = { raiting: ['is unknown; did you mean "rating"?'] }
  t.match(faulty.json(), { rows: [{ id: 1, line: 2, errors }, { id: 2, line: 4, errors }, { id: 9, line: 5 }] })
  const malformed = await app.inject(send('POST', '/posts', 'text/csv', 'title\n"'))
  t.match([malformed.statusCode, malformed.headers['content-type'], malformed.json()],
    [400, types.problem, { detail: 'line 2 has a quote that opens a field, and no quote closes it' }])
  t.equal((await app.inject('/posts.csv')).body, HEAD + rows, 'nothing was written')
})

t.test('a download sent back changes nothing, also after a spreadsheet has saved it', async (t) => {
  for (const csv of [{}, { escapeFormulas: true }]) {
    const store = memoryStore()
    const stored = [
      { title: "'=1", note: '=1', price: '-3.20', rating: -5 }, { title: '', note: '', tags: [''] },
      { note: null, published: true, price: '1.50' }, { title: '\r\n"', rating: 'n/a', tags: null }
    ].map((attributes) => store.create(attributes, {}))
    const app = await build(t, { name: 'posts', attributes: post, store, formats, csv })
    const { body } = await app.inject('/posts.csv')
    const saved = body.replaceAll('true', 'TRUE').replaceAll('1.50', '1.5').replaceAll(/,""(?=,)/g, ',')
    t.equal(saved.length, body.length - 5)
    for (const payload of [body, saved]) {
      const res = await app.inject(send('PUT', '/posts', 'text/csv', payload))
      t.strictSame([res.statusCode, res.body], [200, body], JSON.stringify(csv))
    }
    t.strictSame(stored.map((row) => 'id' in row && store.get(row.id, {})), stored)
  }
})

t.test('CSV cannot be sent where a request has one row', async (t) => {
  const app = await draft(t, (map) => {
    map.resources('posts', { attributes: post, formats, writes: 'both' }, (posts) => {
      posts.collection.post('clear', () => [])
    })
    map.resource('profile', { attributes: post, formats })
  })
  const others = 'application/xml, text/xml, application/json, application/x-www-form-urlencoded'
  const places = [
    ['PUT', '/posts/1'], ['DELETE', '/posts/1'], ['POST', '/posts/clear'], ['POST', '/profile'], ['PUT', '/profile']
  ] as const
  for (const [method, url] of places) {
    const res = await app.inject(send(method, url, 'text/csv', 'title\na\n'))
    t.strictSame([res.statusCode, res.headers.accept], [415, others], `${method} ${url}`)
  }
  t.equal((await app.inject(send('POST', '/posts', 'text/plain', 'a'))).headers.accept,
    'application/xml, text/xml, application/json, text/csv, application/x-www-form-urlencoded')
})
