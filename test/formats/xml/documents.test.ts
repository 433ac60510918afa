import t, { type Test } from 'tap'
import { memoryStore } from '../../../lib/index.js'
import { build, types, xml, xml as declaration } from '../../support/helper.js'
import { Connection, Model } from '../../support/xml/active-resource.js'
import { readFileSync } from 'node:fs'

const text = { type: 'string' } as const
const settings = { type: 'object', additionalProperties: true } as const
const attributes = {
  type: 'object',
  properties: {
    title: { type: ['string', 'null'] },
    count: { type: 'integer' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    local: { type: 'string', format: 'date-time-local' },
    price: { type: 'string', format: 'decimal' },
    data: { type: 'string', contentEncoding: 'base64' },
    tags: { type: 'array', items: text },
    settings,
    option: { type: ['object', 'null'], properties: { a: text } },
    person: {
      type: 'object',
      properties: { first_name: text, secret: { type: 'string', writeOnly: true } },
      required: ['first_name']
    },
    marked: { type: 'object', patternProperties: { '^X_': text } },
    either: { type: ['object', 'string'] },
    tree: { $ref: '#/$defs/tree' },
    any: {}
  },
  $defs: { tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } } } }
} as const

const json = { accept: types.json, 'content-type': 'application/json' }
const markup = { accept: 'application/xml', 'content-type': 'application/xml' }

/** Values as JSON texts, with their elements. */
const cases: Array<[name: string, json: string, element: string]> = [
  ['settings', '{}', '<settings type="json">{}</settings>'],
  ['settings', '{"first name":1,"2024":2,"$ref":"x"}',
    '<settings type="json">{"2024":2,"first name":1,"$ref":"x"}</settings>'],
  ['settings', '{"a":{},"b":"x"}', '<settings><a type="json">{}</a><b>x</b></settings>'],
  ['settings', '{"a":{"b c":"<&>"}}', '<settings><a type="json">{"b c":"&lt;&amp;&gt;"}</a></settings>'],
  ['settings', '{"":1}', '<settings type="json">{"":1}</settings>'],
  ['settings', '{"a":null,"b":[{}]}', '<settings><a nil="true"/><b type="array"><b type="json">{}</b></b></settings>'],
  ['settings', '{"first_name":1}', '<settings type="json">{"first_name":1}</settings>'],
  ['settings', '{"en-US":1}', '<settings type="json">{"en-US":1}</settings>'],
  ['settings', '{"😀":1,"\ufffd":2}', '<settings type="json">{"😀":1,"\ufffd":2}</settings>'],
  ['option', '{}', '<option type="json">{}</option>'],
  ['option', 'null', '<option nil="true"/>'],
  ['person', '{"first_name":"Ann"}', '<person><first_name>Ann</first_name></person>'],
  ['title', '""', '<title type="string"/>'],
  ['title', '"a\\u0001\\ufffe"', '<title type="json">"a\\u0001\\ufffe"</title>'],
  ['title', '"{}"', '<title>{}</title>'],
  ['title', '"\ufffd"', '<title>\ufffd</title>'],
  ['tags', '["a","\\u0008",""]',
    '<tags type="array"><tag>a</tag><tag type="json">"\\b"</tag><tag type="string"/></tags>'],
  ['data', '"YWJjZA=="', '<data>YWJjZA==</data>'],
  ['local', '"2026-01-31T12:00:00"', '<local>2026-01-31T12:00:00</local>'],
  ['day', '"2026-01-31"', '<day type="date">2026-01-31</day>'],
  ['at', '"2026-01-31T12:00:00Z"', '<at type="dateTime">2026-01-31T12:00:00Z</at>'],
  ['at', '"2026-01-31T12:00:00.5Z"', '<at type="dateTime">2026-01-31T12:00:00.5Z</at>'],
  ['at', '"2026-01-31T12:00:00+02:00"', '<at type="dateTime">2026-01-31T12:00:00+02:00</at>'],
  ['marked', '{"a":3}', '<marked><a type="json">3</a></marked>'],
  ['marked', '{"a":null,"b":{"c":[]}}', '<marked><a nil="true"/><b type="json">{"c":[]}</b></marked>'],
  ['either', '{}', '<either type="json">{}</either>'],
  ['either', '""', '<either type="string"/>'],
  ['marked', '{"a":true}', '<marked><a type="json">true</a></marked>'],
  ['either', '"{}"', '<either type="json">"{}"</either>'],
  ['either', '"\\"x\\""', '<either type="json">"\\"x\\""</either>'],
  ['either', '"{x}"', '<either>{x}</either>'],
  ['tree', '{"children":[{}]}', '<tree><children type="array"><child type="json">{}</child></children></tree>'],
  ['any', '[1,{"a":"5"}]', '<any type="array"><any type="integer">1</any><any><a>5</a></any></any>'],
  ['any', '"[1]"', '<any type="json">"[1]"</any>'],
  ['any', '1e21', '<any type="float">1e+21</any>']
]

t.test('what elements cannot carry is JSON text, and comes back from each client as it was', async (t) => {
  const app = await build(t, { name: 'things', attributes, writes: 'both' })
  for (const [name, value, element] of cases) {
    await t.test(`${name}: ${JSON.stringify(value)}`, async (t) => {
      const made = await app.inject({
        method: 'POST', url: '/things', headers: json, payload: `{"thing":{"${name}":${value}}}`
      })
      t.equal(made.statusCode, 201, made.body)
      const { id } = made.json<{ thing: { id: number } }>().thing
      const url = `/things/${id}`
      const kept = { thing: { id, [name]: JSON.parse(value) as unknown } }
      const document = `${xml}<thing><id type="integer">${id}</id>${element}</thing>`
      const isKept = async (what: string): Promise<void> => {
        t.strictSame((await app.inject(`${url}.json`)).json(), kept, what)
        t.equal((await app.inject(`${url}.xml`)).body, document, what)
      }
      await isKept('as JSON')
      for (const [headers, payload] of [[json, JSON.stringify(kept)], [markup, document]] as const) {
        const { statusCode, body } = await app.inject({ method: 'PUT', url, headers, payload })
        t.equal(statusCode, 200, body)
        await isKept(`sent back as ${headers.accept}`)
      }
    })
  }
  t.equal((await app.inject('/things.xml')).body.match(/<thing>/g)?.length, cases.length)
})

t.test('a client that does not know the type sends the JSON of an object or an array without it', async (t) => {
  const app = await build(t, { name: 'things', attributes, writes: 'both' })
  const Thing = new Model(new Connection(app), { element: 'thing', prefix: '/' })
  const thing = {
    data: 'YWJjZA==',
    local: '2026-01-31T12:00:00',
    at: '2026-01-31T12:00:00.123Z',
    title: '',
    settings: { a_b: 1 },
    option: {},
    either: '"x"',
    any: { a: {}, b: '{"c":1}', 'd e': null },
    tree: { children: [{}] }
  }
  await app.inject({ method: 'POST', url: '/things', headers: json, payload: { thing } })
  const found = await Thing.find(1)
  t.match(found.attributes, { data: 'YWJjZA==', local: '2026-01-31T12:00:00', settings: '{"a_b":1}', option: '{}' })
  found.attributes.count = 3
  delete found.attributes.tree
  t.equal(await found.save(), true)
  t.strictSame((await app.inject('/things/1.json')).json(), { thing: { id: 1, ...thing, count: 3 } })
})

t.test('JSON text is read for every attribute, and its faults name the attribute', async (t) => {
  const app = await build(t, { name: 'things', attributes })
  const inexact = 'has the number 12345678901234567890, which cannot be kept exactly; send at most 15 digits, ' +
    'between 1e-307 and 1e308'
  const accepted: Array<[element: string, value: object]> = [
    ['<title type="JSON"> "x" </title>', { title: 'x' }],
    ['<count type="json">5</count>', { count: 5 }],
    ['<tags>["a","b"]</tags>', { tags: ['a', 'b'] }],
    ['<settings> {"a b":[1]}\n</settings>', { settings: { 'a b': [1] } }],
    ['<settings><a>[1]</a><b>[x]</b><c>5</c></settings>', { settings: { a: [1], b: '[x]', c: '5' } }],
    ['<any type="string">[1]</any>', { any: '[1]' }],
    ['<any>{"a":1}</any>', { any: { a: 1 } }],
    ['<any>5</any>', { any: '5' }],
    ['<any type="json">null</any>', { any: null }],
    ['<person><first-name>Ann</first-name></person>', { person: { first_name: 'Ann' } }]
  ]
  for (const [element, value] of accepted) {
    const res = await app.inject({
      method: 'POST',
      url: '/things.json',
      headers: { 'content-type': 'application/xml' },
      payload: `<thing>${element}</thing>`
    })
    t.equal(res.statusCode, 201, `${element} ${res.body}`)
    const { id: _, ...kept } = res.json<{ thing: { id: number } }>().thing
    t.strictSame(kept, value, element)
  }
  const refused: Array<[element: string, path: string, message: string]> = [
    ['<settings type="json">{"a":}</settings>', 'settings', 'must be JSON'],
    ['<title type="json">x</title>', 'title', 'must be JSON'],
    ['<settings>{"a":}</settings>', 'settings', 'must be JSON'],
    ['<settings>x</settings>', 'settings', 'must be an object'],
    ['<any type="json"></any>', 'any', 'must be JSON'],
    ['<any type="json">{"n":12345678901234567890}</any>', 'any', inexact],
    ['<any>{"n":12345678901234567890}</any>', 'any', inexact],
    ['<any><a type="json">12345678901234567890</a></any>', 'any.a', inexact],
    ['<any type="json"><a/></any>', 'any', 'says type="json" but contains elements'],
    ['<count type="json">"5"</count>', 'count', 'must be an integer'],
    ['<count type="json">{"a":1}</count>', 'count', 'must be an integer'],
    ['<count nil="true"/>', 'count', 'must be an integer'],
    ['<any type="json">{"a":"\\u0000"}</any>', 'any.a',
      'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored'],
    ['<marked type="json">{"a":["\\u0000"]}</marked>', 'marked.a',
      'must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored'],
    ['<any type="json">{"__proto__":1}</any>', 'any.__proto__', 'is not a valid name']
  ]
  for (const [element, path, message] of refused) {
    const res = await app.inject({
      method: 'POST',
      url: '/things.json',
      headers: { 'content-type': 'application/xml' },
      payload: `<thing>${element}</thing>`
    })
    t.strictSame([res.statusCode, res.json<{ errors: object }>().errors], [422, { [path]: [message] }], element)
  }
})

t.test('without a schema, an attribute that elements cannot carry is JSON text as a whole', async (t) => {
  const app = await build(t, { name: 'things' })
  const elements: Array<[value: string, element: string]> = [
    ['{}', '<a type="json">{}</a>'], ['{"b":{"c":{}}}', '<a type="json">{"b":{"c":{}}}</a>'],
    ['[1,{"b-c":2}]', '<a type="json">[1,{"b-c":2}]</a>'],
    [
      '{"b_c":[1,{"d":null}]}', '<a><b_c type="array"><b_c type="integer">1</b_c><b_c><d nil="true"/></b_c></b_c></a>'
    ], ['"{}"', '<a>{}</a>'], ['"\\u0001"', '<a type="json">"\\u0001"</a>']
  ]
  for (const [value, element] of elements) {
    const made = await app.inject({
      method: 'POST', url: '/things', headers: json, payload: `{"thing":{"a":${value}}}`
    })
    t.equal(made.statusCode, 201, made.body)
    const { id } = made.json<{ thing: { id: number } }>().thing
    const { body } = await app.inject(`/things/${id}.xml`)
    t.equal(body, `${xml}<thing><id type="integer">${id}</id>${element}</thing>`)
    t.equal((await app.inject({ method: 'PUT', url: '/things', headers: markup, payload: body })).statusCode, 200)
    t.strictSame((await app.inject(`/things/${id}.json`)).json(), { thing: { id, a: JSON.parse(value) as unknown } })
  }
})

t.test('a value that is nested as deep as JSON may be comes back by XML', async (t) => {
  const app = await build(t, {
    name: 'things',
    attributes: {
      type: 'object',
      properties: { list: { $ref: '#/$defs/list' } },
      $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } }
    }
  })
  for (const [depth, status] of [[29, 201], [30, 201], [31, 201], [32, 201], [33, 422]] as const) {
    const made = await app.inject({
      method: 'POST',
      url: '/things',
      headers: json,
      payload: `{"thing":{"list":${'['.repeat(depth)}${']'.repeat(depth)}}}`
    })
    t.equal(made.statusCode, status, made.body)
    if (status !== 201) continue
    const { id } = made.json<{ thing: { id: number } }>().thing
    const { body } = await app.inject(`/things/${id}.xml`)
    t.match(await app.inject({ method: 'PUT', url: '/things', headers: markup, payload: body }), { statusCode: 200 },
      `${depth} levels`)
    t.equal((await app.inject(`/things/${id}.json`)).body, made.body)
  }
})

t.test('JSON of a column that a double cannot keep is written as it is stored', async (t) => {
  const store = memoryStore()
  store.create({ any: '\uffff{"n":12345678901234567890}', title: '\uffffx' }, {})
  const app = await build(t, { name: 'things', attributes, store })
  t.equal(
    (await app.inject('/things/1.xml')).body,
    `${xml}<thing><id type="integer">1</id><title type="json">"\\uffffx"</title><any type="json">` +
      '{"n":12345678901234567890}</any></thing>'
  )
})

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Members = { [name: string]: Json }

const read = <Row>(file: string): Row => JSON.parse(readFileSync(new URL(`../../vectors/${file}`, import.meta.url),
  'utf8')) as Row

// ---- Reading

interface XmlIn { name: string, xml: string, value?: Members, error?: string }

/** The result of reading a document: its value, or the status of the refusal. */
type Outcome = { value: Json } | { refused: number }

interface Difference<Ours> { ours: Ours, why: string }

const refused = (status: 400 | 422, why: string): Difference<Outcome> => ({ ours: { refused: status }, why })
const value = (value: Json, why: string): Difference<Outcome> => ({ ours: { value }, why })

const unconverted = 'text that does not convert is a 422, never 0, false or a guess'
const unknownType = 'unknown types are refused'
const textGroup = 'a group is an object: a root that holds text alone has no attributes'

/** Our deliberate differences from the software that made the vectors. */
const differencesIn: { [name: string]: Difference<Outcome> } = {
  'nil-with-content': refused(422, 'nil="true" with content contradicts itself'),
  'xsi-nil': value({ a: null }, 'nil is known under any prefix, and declarations of namespaces are no data'),
  'integer-word': refused(422, unconverted),
  'integer-underscore': refused(422, unconverted),
  'integer-hex': refused(422, unconverted),
  'integer-spaces-only': value({ a: null },
    'text that is not a string is trimmed first, and empty is null where null is allowed'),
  'float-word': refused(422, unconverted),
  'float-infinity': refused(422, unconverted),
  'boolean-TRUE': refused(422, unconverted),
  'date-words': refused(422, 'a date is RFC 3339'),
  'dateTime-offset-no-colon': refused(422, 'an offset is spelled as RFC 3339 and XML Schema have it'),
  'dateTime-no-zone': refused(422, 'a dateTime names its zone'),
  binary: refused(422, unknownType),
  'binary-bytes': refused(422, unknownType),
  file: refused(422, unknownType),
  'file-empty': refused(422, unknownType),
  'unknown-type': refused(422, unknownType),
  'unknown-type-empty': refused(422, unknownType),
  'array-mixed-names': refused(422, 'the items of an array all have one name: none is lost'),
  'array-nil': value({ a: null }, '<a nil="true"/> is null, whatever its type'),
  attributes: refused(422, 'data is in elements'),
  'attribute-and-child': refused(422, 'data is in elements'),
  repeated: refused(422, 'lists are told by schema and type="array", never guessed by count'),
  'mixed-content': refused(422, 'mixed content is refused: none is lost'),
  'root-text': refused(422, textGroup),
  'with-declaration': refused(422, textGroup),
  'root-array': refused(422, 'a write is about one resource'),
  'undefined-entity': refused(400, 'there are no entities but the five'),
  'internal-entity': refused(400, 'a DOCTYPE is refused'),
  'depth-90': refused(400, 'a document is at most 32 deep')
}

/** Returns the value of a vector as JSON, or undefined if JSON has none. */
function plain (value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(item => plain(item) ?? null)
  if (value === null || typeof value !== 'object') return value
  if ('$int' in value) return Number(value.$int)
  if ('$float' in value) return Number.isFinite(Number(value.$float)) ? Number(value.$float) : undefined
  if ('$decimal' in value) return Number(value.$decimal)
  if ('$bytes' in value || '$file' in value) return undefined
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => {
    const kept = plain(member)
    return kept === undefined ? [] : [[name, kept]]
  }))
}

/** Keeps dates as they are spelled in the vector's document. */
const dates = (vector: XmlIn, value: Json): Json => {
  if (Array.isArray(value)) return value.map(item => dates(vector, item))
  if (value === null || typeof value !== 'object') return value
  const date = value.$date ?? value.$dateTime
  if (typeof date === 'string') return vector.xml.includes(date) ? date : { read: date }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, dates(vector, member)]))
}

/** Returns the other software's result in our terms: parser errors are our 400, refused values our 422. */
function theirs (vector: XmlIn, root: string): Outcome {
  if (vector.error !== undefined) return { refused: vector.error.includes('ParseException') ? 400 : 422 }
  const value = plain(dates(vector, vector.value ?? {})) as Members
  return { value: value[root] ?? null }
}

async function ours (t: Test, vector: XmlIn, root: string): Promise<Outcome> {
  const app = await build(t, { name: `${root}s`, singular: root })
  const res = await app.inject({
    method: 'POST',
    url: `/${root}s`,
    headers: { accept: 'application/json', 'content-type': 'application/xml' },
    payload: vector.xml
  })
  if (res.statusCode !== 201) return { refused: res.statusCode }
  const read = await app.inject({ url: `/${root}s/1.json` })
  const { id, ...attributes } = read.json<{ [root: string]: Members }>()[root] ?? {}
  t.equal(id, 1)
  return { value: attributes }
}

t.test('XML is read like the convention\'s own software reads it, except for the listed differences', async t => {
  const vectors = read<XmlIn[]>('xml-in.json')
  t.ok(vectors.length > 60)
  for (const vector of vectors) {
    const difference = differencesIn[vector.name]
    t.test(`${vector.name} is read ${difference ? `differently, because ${difference.why}` : 'alike'}`, async t => {
      const root = /^\s*(?:<[?!][^>]*(?:\[[^\]]*\]>|>)\s*)*<a\b/.test(vector.xml) ? 'a' : 'p'
      const [we, they] = [await ours(t, vector, root), theirs(vector, root)]
      if (!difference) return t.strictSame(we, they)
      t.strictSame(we, difference.ours)
      t.strictNotSame(we, they, 'the results really differ')
    })
  }
  t.strictSame(Object.keys(differencesIn).filter(name => !vectors.some(vector => vector.name === name)), [],
    'every difference belongs to a vector')
})

// ---- Writing

interface XmlOut { name: string, value: Members | Members[], options: { root?: string, indent?: number }, xml: string }

interface Resource { name: string, singular: string, attributes?: object }

/** The resource name of each vector's root, and a schema where the types need one. */
const numbers = {
  type: 'object',
  properties: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'zero'].map(name => [name, { type: 'number' }]))
}
const resources: { [root: string]: Resource } = {
  post: { name: 'posts', singular: 'post' },
  posts: { name: 'posts', singular: 'post' },
  person: { name: 'people', singular: 'person' },
  people: { name: 'people', singular: 'person' },
  p: { name: 'ps', singular: 'p' },
  blog_post: { name: 'blog_posts', singular: 'blog_post' },
  blog_posts: { name: 'blog_posts', singular: 'blog_post' }
}

const differencesOut: { [name: string]: Difference<string | number> } = {
  'float-forms': {
    ours: '<post><a type="float">1e20</a><b type="float">1e15</b><c type="float">1e16</c><d type="float">1e-4</d><e ' +
      'type="float">1e-5</e><zero type="float">0</zero></post>',
    why: 'JSON carries neither NaN nor Infinity'
  },
  symbol: { ours: '<person><resident>yes</resident></person>', why: 'JSON has no symbols: it is a string' },
  'control-characters': { ours: 422, why: 'U+0000 cannot be stored, and is refused on the way in' },
  camelize: { ours: '<blog_post><first_name>x</first_name></blog_post>', why: 'names are written as declared' },
  'skip-types': {
    ours: '<post><id type="integer">1</id><tags type="array"><tag>a</tag></tags><none nil="true"/></post>',
    why: 'types are always written'
  }
}

/** Returns the JSON text of a value. Floats keep their spelling, so that they stay floats. */
function jsonText (value: Json): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (typeof value.$int === 'string') return value.$int
  if (typeof value.$float === 'string') return value.$float
  if (typeof value.$symbol === 'string') return JSON.stringify(value.$symbol)
  const given = Object.entries(value).filter(([, member]) => plain(member) !== undefined)
  return `{${given.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join()}}`
}

/** Returns every name in a value. */
const names = (value: Json): string[] => value === null || typeof value !== 'object'
  ? []
  : Array.isArray(value)
    ? value.flatMap(names)
    : Object.entries(value).flatMap(([name, member]) => [name, ...names(member)])

/**
 * Applies the contract's general differences: a newline after the declaration, no indentation, names as declared, and
 * floats as JavaScript writes them.
 */
function normalise (text: string, declared: readonly string[], indented: boolean): string {
  let result = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n?/, '')
  if (indented) result = result.replace(/>\n */g, '>')
  for (const name of declared) {
    result = result.replace(new RegExp(`(?<=</?)${name.replace(/(?<=.)_(?=.)/g, '-')}(?=[ />])`, 'g'), name)
  }
  return withFloats(result)
}

const withFloats = (text: string): string =>
  text.replace(/(?<= type="float">)[^<]*/g, number => String(Number(number) + 0)).replace(/<(\w+) type="array"><\/\1>/g,
    '<$1 type="array"/>')

/** Removes the server's id if the vector has none. */
const withoutId = (text: string): string => text.replace(/^(<\w+>)<id type="integer">1<\/id>/, '$1')

async function written (t: Test, { value, options, name }: XmlOut): Promise<string | number> {
  const resource = resources[options.root ?? ''] ?? { name: 'objects', singular: 'object' }
  const app = await build(
    t,
    {
      name: resource.name, singular: resource.singular, ...(name === 'float-forms' && { attributes: numbers })
    } as Parameters<typeof build>[1]
  )
  for (const [index, record] of [value].flat().entries()) {
    const { id, ...attributes } = record
    if (id !== undefined) t.strictSame(plain(id), index + 1, 'the ids of the vector equal the server\'s')
    const res = await app.inject({
      method: 'POST',
      url: `/${resource.name}`,
      headers: { accept: 'application/xml', 'content-type': 'application/json' },
      payload: `{"${resource.singular}":${jsonText(attributes)}}`
    })
    if (res.statusCode !== 201) return res.statusCode
  }
  const { body } = await app.inject({ url: `/${resource.name}${Array.isArray(value) ? '' : '/1'}.xml` })
  t.ok(body.startsWith(declaration), 'the declaration and a newline come first')
  const text = withFloats(body.slice(declaration.length).trimEnd())
  return Array.isArray(value) || 'id' in value ? text : withoutId(text)
}

t.test('XML is written like the convention\'s own software writes it, except for the listed differences', async t => {
  const vectors = read<XmlOut[]>('xml-out.json')
  t.ok(vectors.length > 12)
  for (const vector of vectors) {
    const difference = differencesOut[vector.name]
    t.test(`${vector.name} is written ${difference ? `differently, because ${difference.why}` : 'alike'}`, async t => {
      const { root } = vector.options
      const declared = [...names(vector.value),
        ...(root === undefined ? [] : [root, resources[root]?.singular ?? root])]
      const theirs = normalise(vector.xml, declared, vector.options.indent !== 0).trimEnd()
      const we = await written(t, vector)
      if (!difference) return t.equal(we, theirs)
      t.equal(we, typeof difference.ours === 'string' ? withFloats(difference.ours) : difference.ours)
      t.not(we, theirs, 'the results really differ')
    })
  }
  t.strictSame(Object.keys(differencesOut).filter(name => !vectors.some(vector => vector.name === name)), [],
    'every difference belongs to a vector')
})

t.test('a stored text that XML cannot carry is written as JSON', async t => {
  const vector = read<XmlOut[]>('xml-out.json').find(({ name }) => name === 'control-characters')
  const store = memoryStore()
  store.create(vector?.value as Members, {})
  const app = await build(t, { name: 'ps', singular: 'p', store })
  const { body } = await app.inject({ url: '/ps/1.xml' })
  t.equal(withoutId(body.slice(declaration.length).trimEnd()),
    '<p><a type="json">"x\\u0000y\\u0001z\\u000b\\ttab"</a></p>')
})
