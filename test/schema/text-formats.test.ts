import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, { type AttributesSchema, memoryStore } from '../../lib/index.js'
import { xmlSchema } from '../../lib/xsd/index.js'
import { build, draft, xml } from '../support/helper.js'
import { compileXmlSchema } from '../support/xml/xml-schema.js'

type Schema = Readonly<Record<string, unknown>>
/** The text that is kept, or the message of a 422. */
type Outcome = { readonly kept: unknown } | { readonly says: string }

const DECIMAL = 'must be a decimal number such as -12.50, without an exponent'
const STRING = 'must be a string; write a decimal number as a string: "12.50"'
const LOCAL_DATE_TIME = 'must be a date and time without an offset, such as 2026-01-31T12:00:00'
const LOCAL_TIME = 'must be a time without an offset, such as 12:00:00'
const BASE64 = 'must be base64 with padding, such as aGVsbG8='
const DIGITS = '1234567890'.repeat(30)

const decimal = { type: 'string', format: 'decimal' } as const
const price = { ...decimal, precision: 5, scale: 2 } as const
const local = { type: 'string', format: 'date-time-local' } as const
const time = { type: 'string', format: 'time-local' } as const
const bytes = { type: 'string', contentEncoding: 'base64' } as const

/**
 * Values of JSON, each with the message of its refusal, or nothing. They are also sent as XML, where texts are alike.
 */
const VALUES: ReadonlyArray<readonly [schema: Schema, value: unknown, says?: string]> = [
  ...[
    '0', '-0', '1.10', '-12.50', '007', '9007199254740993', '0.1000000000000000055511151231257827', DIGITS,
    `-0.${DIGITS}`
  ].map((text) => [decimal, text] as const),
  ...['', '-', '1e3', '1E-3', '1,5', '0x10', 'NaN', 'Infinity', '--1', '1.2.3', '１', '1 000'].map((text) => [decimal,
    text, DECIMAL] as const),
  [decimal, 12.5, STRING], [decimal, true, STRING], [decimal, ['1'], STRING],
  [{ ...decimal, type: ['string', 'null'] }, null],
  [{ ...decimal, type: ['string', 'null'] }, 1,
    'must be a string or null; write a decimal number as a string: "12.50"'],
  ...['123.45', '-999.99', '0', '000123.4', '0.05'].map((text) => [price, text] as const),
  [price, '1000', 'must have at most 3 digits before the point'],
  [price, '-1234.5', 'must have at most 3 digits before the point'],
  [price, '1.234', 'must have at most 2 digits after the point'],
  [price, '1.100', 'must have at most 2 digits after the point'], [price, 'x', DECIMAL],
  [{ ...decimal, precision: 4, scale: 3 }, '10', 'must have at most 1 digit before the point'],
  [{ ...decimal, scale: 1 }, `${DIGITS}.1`],
  [{ ...decimal, scale: 1 }, '1.11', 'must have at most 1 digit after the point'],
  [{ ...decimal, precision: 19, scale: 0 }, '-9223372036854775808'],
  [{ ...decimal, precision: 19, scale: 0 }, '1.0', 'must be a whole number without a point'],
  [{ ...decimal, precision: 2, scale: 2 }, '-0.25'],
  [{ ...decimal, precision: 2, scale: 2 }, '1.25', 'must have no digit but 0 before the point'],
  [{ anyOf: [price, { type: 'null' }] }, '1000', 'must have at most 3 digits before the point'],
  [{ ...decimal, enum: ['1.50', '2'] }, '1.50'],
  [{ ...decimal, enum: ['1.50', '2'] }, '1.5', 'must be one of "1.50", "2"'],
  ...['2020-01-02T03:04:05', '2024-02-29T23:59:59.123456789', '9999-12-31T00:00:00.0'].map((text) => [local,
    text] as const),
  ...[
    '2020-01-02T03:04:05Z', '2020-01-02T03:04:05+02:00', '2020-01-02T24:00:00', '2023-02-29T00:00:00',
    '2020-01-02 03:04:05', '2020-01-02t03:04:05', '2016-12-31T23:59:60', '0000-01-01T00:00:00', '2020-01-02',
    '03:04:05', '2020-01-02T03:04:05.', ''
  ].map((text) => [local, text, LOCAL_DATE_TIME] as const),
  ...['00:00:00', '23:59:59.999999', '12:30:00.10'].map((text) => [time, text] as const),
  ...['24:00:00', '12:00:00Z', '12:60:00', '12:00:60', '12:00:00.', '1:00:00', 'T12:00:00', ''].map(
    (text) => [time, text, LOCAL_TIME] as const
  ),
  ...['', 'AA==', 'AAE=', 'aGVsbG8=', '+/+/', '////'].map((text) => [bytes, text] as const),
  ...['A', 'AA', 'AAA', 'AB==', 'AAF=', 'A===', '====', 'AA=A', 'AA==AA==', '-_-_', 'aGVsbG8', 'äAAA'].map(
    (text) => [bytes, text, BASE64] as const
  ),
  [{ ...bytes, maxLength: 8 }, 'aGVsbG8='], [{ ...bytes, maxLength: 7 }, 'aGVsbG8=', 'must have at most 7 characters'],
  [{ ...bytes, contentEncoding: 'quoted-printable' }, '=C3=A4 ']
]

/** Texts of XML and forms that are converted. */
const TEXTS: ReadonlyArray<readonly [schema: Schema, text: string, kept: string]> = [
  [decimal, '+1.50', '1.50'], [decimal, '.5', '0.5'], [decimal, '-.50', '-0.50'], [decimal, '5.', '5'],
  [decimal, '+.5', '0.5'], [decimal, ' \n-007. ', '-007'],
  [bytes, ' aGVs\r\nbG8= ', 'aGVsbG8='], [bytes, ' ', '']
]

const declare = (it: Schema): AttributesSchema => ({ type: 'object', properties: { it } })

/** Serves each schema under a path of its own, and returns the path by the schema. */
async function serve (
  t: Test, schemas: readonly Schema[], withDocument = false
): Promise<[app: FastifyInstance, paths: ReadonlyMap<string, string>]> {
  const app = fastify()
  t.teardown(() => app.close())
  if (withDocument) await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  const paths = new Map([...new Set(schemas.map((schema) => JSON.stringify(schema)))].map((schema, index) => [schema,
    `/r${index}`] as const))
  for (const [schema, prefix] of paths) {
    app.register(resources, { name: 'posts', attributes: declare(JSON.parse(schema) as Schema), prefix })
  }
  await app.ready()
  return [app, paths]
}

async function post (app: FastifyInstance, path: string, type: string, payload: string): Promise<Outcome> {
  const res = await app.inject({
    method: 'POST', url: `${path}/posts`, headers: { 'content-type': type, accept: 'application/json' }, payload
  })
  if (res.statusCode === 201) return { kept: res.json<{ post: { it: unknown } }>().post.it }
  return { says: res.json<{ errors: { it: [string] } }>().errors.it[0] }
}

const FORM = 'application/x-www-form-urlencoded'
const element = (text: string, type?: string): string =>
  `${xml}<post><it${type === undefined ? '' : ` type="${type}"`}>${text}</it></post>`

t.test('decimals, local times and base64 are kept exactly, and other values are refused with a cure', async (t) => {
  const [app, paths] = await serve(t, VALUES.map(([schema]) => schema))
  for (const [schema, value, says] of VALUES) {
    const path = paths.get(JSON.stringify(schema)) as string
    const expected = says === undefined ? { kept: value } : { says }
    const name = JSON.stringify([schema, value]).slice(0, 120)
    t.strictSame(await post(app, path, 'application/json', JSON.stringify({ post: { it: value } })), expected, name)
    if (typeof value !== 'string') continue
    t.strictSame(await post(app, path, FORM, `post[it]=${encodeURIComponent(value)}`), expected, `${name} in a form`)
    if (value !== '') t.strictSame(await post(app, path, 'application/xml', element(value)), expected, `${name} in XML`)
  }
})

t.test('XML and forms accept other spellings of a decimal, and white space in base64', async (t) => {
  const [app, paths] = await serve(t, TEXTS.map(([schema]) => schema))
  for (const [schema, text, kept] of TEXTS) {
    const path = paths.get(JSON.stringify(schema)) as string
    t.strictSame(await post(app, path, FORM, `post[it]=${encodeURIComponent(text)}`), { kept }, `${text} in a form`)
    t.strictSame(await post(app, path, 'application/xml', element(text)), { kept }, `${text} in XML`)
    t.strictSame(await post(app, path, 'application/json', JSON.stringify({ post: { it: text } })),
      { says: schema === bytes ? BASE64 : DECIMAL }, `${text} in JSON`)
  }
})

t.test('the attribute type of XML may be any that suits the value', async (t) => {
  const nullable = { ...decimal, type: ['string', 'null'] }
  const open = { type: ['string', 'number'] }
  const cases: ReadonlyArray<readonly [schema: Schema, type: string, text: string, expected: Outcome]> = [
    ...['decimal', 'integer', 'float', 'double', 'string', 'Decimal'].map((type) => [decimal, type, '5',
      { kept: '5' }] as const),
    [decimal, 'decimal', ' +.50 ', { kept: '0.50' }], [decimal, 'decimal', '1e3', { says: DECIMAL }],
    [decimal, 'decimal', '', { says: DECIMAL }],
    [decimal, 'boolean', '1', { says: 'says type="boolean", but must be a string' }],
    [nullable, 'decimal', ' ', { kept: null }],
    [price, 'decimal', '1.234', { says: 'must have at most 2 digits after the point' }],
    [open, 'decimal', '1.50', { kept: 1.5 }], [open, 'base64Binary', ' AA== ', { kept: 'AA==' }],
    [open, 'base64Binary', 'AA', { says: BASE64 }],
    [local, 'dateTime', ' 2020-01-02T03:04:05 ', { kept: '2020-01-02T03:04:05' }],
    [local, 'dateTime', '2020-01-02T03:04:05Z', { says: LOCAL_DATE_TIME }],
    [bytes, 'base64Binary', 'AA\nE=', { kept: 'AAE=' }], [bytes, 'string', '', { kept: '' }],
    [bytes, 'base64Binary', 'AA', { says: BASE64 }],
    [bytes, 'date', 'AAE=', { kept: 'AAE=' }]
  ]
  const [app, paths] = await serve(t, cases.map(([schema]) => schema))
  for (const [schema, type, text, expected] of cases) {
    t.strictSame(await post(app, paths.get(JSON.stringify(schema)) as string, 'application/xml', element(text, type)),
      expected, `${type} ${text}`)
  }
})

t.test('a blank element of a decimal or a time is null, if the schema allows it', async (t) => {
  for (const [
    format, kept
  ] of [['decimal', null], ['date-time-local', null], ['time-local', null], ['email', undefined]] as const) {
    const app = await build(t, { name: 'posts', attributes: declare({ type: ['string', 'null'], format }) })
    const outcome = await post(app, '', 'application/xml', element(' '))
    t.strictSame(outcome, kept === null ? { kept } : { says: 'must be an e-mail address' }, format)
  }
})

t.test('an answer in XML has the type of the value, and comes back unchanged', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      price,
      at: local,
      opens: time,
      data: bytes,
      either: { anyOf: [price, { type: 'integer' }] },
      prices: { type: 'array', items: price }
    }
  } as const
  const store = memoryStore()
  store.create(
    { price: '1.50', at: '2020-01-02T03:04:05.10', opens: '08:00:00', data: 'AA==', either: '2.50', prices: ['1.0'] },
    {}
  )
  store.create({ data: '' }, {})
  const app = await build(t, { name: 'posts', attributes, store })
  const whole = '<id type="integer">1</id><price type="decimal">1.50</price><at>2020-01-02T03:04:05.10</at><opens>' +
    '08:00:00</opens><data>AA==</data><either>2.50</either><prices type="array"><price type="decimal">1.0</price>' +
    '</prices>'
  const { body } = await app.inject('/posts/1.xml')
  t.equal(body, `${xml}<post>${whole}</post>`)
  t.match((await app.inject('/posts/2.xml')).body, '<data type="string"/>')
  for (const id of [1, 2]) {
    const before = await app.inject(`/posts/${id}.json`)
    const { statusCode } = await app.inject({
      method: 'PUT',
      url: '/posts',
      headers: { 'content-type': 'application/xml' },
      payload: (await app.inject(`/posts/${id}.xml`)).body
    })
    t.equal(statusCode, 200)
    t.equal((await app.inject(`/posts/${id}.json`)).body, before.body)
  }
})

t.test('XML Schema and OpenAPI accept a text exactly if the server does', async (t) => {
  const texts = VALUES.filter(([, value]) => typeof value === 'string')
  const [app, paths] = await serve(t, texts.map(([schema]) => schema), true)
  const validators = new Map([...paths.keys()].map((schema) => {
    const validator = compileXmlSchema(xmlSchema({ name: 'posts', attributes: declare(JSON.parse(schema) as Schema) }))
    t.teardown(() => { validator.dispose() })
    return [schema, validator] as const
  }))
  const { components } = app.swagger() as unknown as {
    components: { schemas: Record<string, { properties: { it: { pattern?: string } } }> }
  }
  const patterns = Object
    .values(components.schemas)
    .map(({ properties }) => properties?.it?.pattern)
    .filter((pattern) => pattern !== undefined)
  t.equal(new Set(patterns).size, 6)
  for (const [schema, value, says] of texts) {
    const text = value as string
    const name = JSON.stringify([schema, text]).slice(0, 120)
    if (schema.format === 'decimal' && schema.enum === undefined) {
      const path = paths.get(JSON.stringify(schema)) as string
      const { pattern } = components.schemas[`${path.slice(1).toUpperCase()}Post`]?.properties.it as { pattern: string }
      t.equal(new RegExp(pattern, 'u').test(text), says === undefined, `${name} by OpenAPI`)
    }
    // libxml2 keeps at most 24 digits of a decimal, and accepts any base64. An empty element is null or an empty text.
    if (text === '' || text.length > 24 || schema.contentEncoding !== undefined) continue
    const fault = (validators.get(JSON.stringify(schema)) as {
      validate (document: string): string | undefined
    }).validate(element(text))
    t.equal(fault === undefined, says === undefined, `${name} by XML Schema: ${fault}`)
  }
})

t.test('an XML Schema has the facets of decimals and bytes', async (t) => {
  const facets = (schema: Schema): string[] => [
    ...xmlSchema({ name: 'posts', attributes: declare(schema) }).matchAll(
      /<xs:restriction base="xs:(?:decimal|base64Binary)">(.*?)<\/xs:restriction>/gs
    )
  ].flatMap(([, inner = '']) => [...inner.matchAll(/<xs:(\w+) value="([^"]*)"/g)].map(([, name, value]) =>
    `${name} ${value}`))
  t.strictSame(facets(price), ['totalDigits 5', 'fractionDigits 2', 'pattern [+\\-]?0*[0-9]{0,3}(\\.[0-9]{0,2})?'])
  t.strictSame(facets({ ...decimal, precision: 19, scale: 0 }),
    ['totalDigits 19', 'fractionDigits 0', 'pattern [+\\-]?0*[0-9]{0,19}\\.?'])
  t.strictSame(facets({ ...decimal, scale: 1 }), ['fractionDigits 1', 'pattern [+\\-]?0*[0-9]*(\\.[0-9]{0,1})?'])
  t.strictSame(facets(decimal), [])
  t.strictSame(facets({ ...bytes, maxLength: 8 }), ['maxLength 6'])
  t.strictSame(facets({ ...bytes, maxLength: 2_000_000_000 }), [])
})

t.test('a mistake in the schema of a decimal is refused at registration', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, says: RegExp]> = [
    [{ type: 'number', format: 'decimal' },
      /"it" has the format 'decimal', which belongs to texts, so that no digit is lost; write type: 'string'/],
    [{ type: ['integer', 'null'], format: 'decimal' }, /"it" has the format 'decimal', which belongs to texts/],
    [{ type: 'string', precision: 5, scale: 2 },
      /"it" has "precision", which works only beside the format 'decimal'; add the format/],
    [{ type: 'number', scale: 2 }, /"it" has "scale", which works only beside the format 'decimal'/],
    [{ ...decimal, precision: 5 },
      /"it" has "precision", but no "scale"; add the number of digits after the point, such as 0/],
    ...[-1, 1.5, '2', null].map((scale): [Schema, RegExp] => [{ ...decimal, scale },
      /"it" has the "scale" .*; write the number of digits after the point, such as 2/]),
    ...[0, 1, -5, 2.5, '5', null].map((precision): [Schema, RegExp] => [{ ...decimal, precision, scale: 2 },
      /"it" has the "precision" .*; write the number of all digits, before and after the point, which is at least 2/]),
    [{ ...decimal, precision: 0, scale: 0 }, /"precision" 0; .* at least 1/],
    [{ $ref: '#/definitions/money' }, /has "precision", but no "scale"/],
    [{ ...decimal, default: 1 }, /the default of "it" does not fit its schema: it must be a string; write a decimal/],
    [{ type: 'object', properties: { inner: { ...price, default: '1.234' } } },
      /the default of "it.inner" does not fit its schema: it.inner must have at most 2 digits after the point/],
    [{ ...bytes, default: 'AA' }, /the default of "it" does not fit its schema: it must be base64/],
    [{ type: 'decimal' },
      /has the type 'decimal', which is not one of .*; did you mean "string" with the format 'decimal'\?/]
  ]
  for (const [schema, message] of cases) {
    const attributes = {
      ...declare(schema), definitions: schema.$ref === undefined ? {} : { money: { ...decimal, precision: 5 } }
    }
    await t.rejects(build(t, { name: 'posts', attributes }), { code: 'FST_RESOURCES_INVALID_ATTRIBUTES', message },
      JSON.stringify(schema))
  }
})

t.test('our keywords replace those of the app', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: declare(price),
    ajv: { customOptions: { keywords: ['precision', { keyword: 'scale', validate: () => false }] } }
  })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1.25"}}'), { kept: '1.25' })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1000"}}'), {
    says: 'must have at most 3 digits before the point'
  })
})

t.test('several schemas of one decimal limit its digits together', async (t) => {
  const attributes = {
    type: 'object',
    properties: { it: { allOf: [price, { ...decimal, scale: 1 }] }, or: { anyOf: [price, { ...decimal, scale: 1 }] } }
  } as const
  const app = await build(t, { name: 'posts', attributes })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1.25"}}'), {
    says: 'must have at most 1 digit after the point'
  })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1.2","or":"1.25"}}'), { kept: '1.2' })
  t.match((await app.inject('/posts.html')).body, /name="post\[or\]"[^>]*step="any"/)
})

t.test('a browser leaves out seconds that are zero', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, text: string, expected: Outcome]> = [
    [local, '2020-01-02T03:04', { kept: '2020-01-02T03:04:00' }],
    [local, '03:04', { says: LOCAL_DATE_TIME }], [local, '2020-01-02T3:04', { says: LOCAL_DATE_TIME }],
    [time, '03:04', { kept: '03:04:00' }], [time, '2020-01-02T03:04', { says: LOCAL_TIME }],
    [time, '25:04', { says: LOCAL_TIME }]
  ]
  const [app, paths] = await serve(t, cases.map(([schema]) => schema))
  for (const [schema, text, expected] of cases) {
    const path = paths.get(JSON.stringify(schema)) as string
    t.strictSame(await post(app, path, FORM, `post[it]=${encodeURIComponent(text)}`), expected, text)
    // Only browsers do so.
    t.strictSame(await post(app, path, 'application/xml', element(text)),
      { says: schema === local ? LOCAL_DATE_TIME : LOCAL_TIME }, `${text} in XML`)
  }
})

/** Attributes that differ only in the length of their texts. */
function makeAttributes (count: number): AttributesSchema {
  const names = Array.from({ length: count }, (_, index) => [`text${index + 1}`,
    { type: 'string', maxLength: index + 1 }])
  return { type: 'object', properties: Object.fromEntries(names) } as AttributesSchema
}

t.test('attributes with different schemas are checked by their own ones, however many there are', async (t) => {
  const attributes = makeAttributes(1100)
  const app = await build(t, { name: 'posts', attributes })
  const create = async (post: object): Promise<object> => (await app.inject({
    method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post }
  })).json()
  // The first write with an attribute compiles its validator. This one compiles them all.
  t.match(
    await create(Object.fromEntries(Object.keys(attributes.properties).map((name) => [name, 'x']))),
    { post: { text1100: 'x' } }
  )
  for (const length of [1, 2, 500, 999, 1000, 1001, 1100]) {
    const name = `text${length}`
    t.match(await create({ [name]: 'x'.repeat(length) }), { post: { [name]: 'x'.repeat(length) } })
    t.match(await create({ [name]: 'x'.repeat(length + 1) }), {
      errors: { [name]: [`must have at most ${length} character${length === 1 ? '' : 's'}`] }
    })
  }
})

t.test('an attribute with a schema of its own stands beside shared ones', async (t) => {
  const code = { type: 'object', properties: { part: { type: 'string', maxLength: 2 } } } as const
  const app = await draft(t, (map) => {
    map.resources('posts', {
      attributes: { type: 'object', properties: { title: { type: 'string', maxLength: 3, title: 'Heading' }, code } }
    })
    map.resources('notes', {
      attributes: {
        type: 'object', properties: { text: { type: 'string', maxLength: 3, description: 'What it says' } }
      }
    })
  })
  const create = async (name: string, attributes: object): Promise<unknown> => (await app.inject({
    method: 'POST', url: `/${name}s`, headers: { accept: 'application/json' }, payload: { [name]: attributes }
  })).json().errors
  t.strictSame(await create('post', { title: 'long', code: { part: 'long' } }), {
    title: ['must have at most 3 characters'], 'code.part': ['must have at most 2 characters']
  })
  t.strictSame(await create('note', { text: 'long' }), { text: ['must have at most 3 characters'] })
  t.strictSame(await create('note', { text: 'new' }), undefined)
})
