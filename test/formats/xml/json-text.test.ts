import t from 'tap'
import { memoryStore } from '../../../lib/index.js'
import { build, types, xml } from '../../support/helper.js'
import { Connection, Model } from '../../support/xml/active-resource.js'

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
