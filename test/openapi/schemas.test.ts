import swagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import resources, { type AttributesSchema, memoryStore, type Store } from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  both, checkReferences, compileIn, describe, type Document, documentOf, type Fits, info, LAX, one, type Part, schema,
  start, V30
} from '../support/openapi.js'

const string = { type: 'string' } as const
const integer = { type: 'integer' } as const
const NULL = { type: 'object', nullable: true, enum: [null] }
const object = (properties: Part, more: Part = {}): Part => ({ type: 'object', ...more, properties })
const valued = (schema: Part): Part => ({ ...schema, xml: { name: 'value' } })
const array = (items: unknown, more: Part = {}): Part => ({ type: 'array', items, xml: { wrapped: true }, ...more })

/**
 * A schema, its forms in OpenAPI 3.1 and 3.0, the values that it accepts and refuses, and those that only 3.0 accepts.
 */
type Translated = readonly [
  name: string, schema: Part, v31: unknown, v30: unknown,
  accepted?: readonly unknown[], refused?: readonly unknown[], passed?: readonly unknown[]
]

/** The form is that of the column before. */
const same = undefined

const DEFINITIONS = {
  person: object({ name: string }, { required: ['name'] }),
  short: { type: 'string', maxLength: 2 },
  'a/b c': string,
  identified: { $id: 'https://example.com/id#', ...string },
  any: true,
  node: object(
    { name: string, nodes: { type: 'array', items: { $ref: '#/definitions/node' } } }, { required: ['name'] }
  ),
  pair: object({ inner: { $ref: '#/definitions/Pair' } }),
  Pair: integer,
  words: { type: 'array', items: { $ref: '#/definitions/word' } },
  word: string,
  list: { type: 'array', items: { $ref: '#/definitions/list' } }
} as const

const SCHEMAS: readonly Translated[] = [
  ['what is the same',
    {
      type: 'string',
      title: 'T',
      description: 'D',
      pattern: '^a',
      minLength: 2,
      maxLength: 4,
      format: 'textarea',
      deprecated: true,
      'x-any': { a: 1 },
      xml: { name: 'other' },
      $id: 'here',
      example: 'ab'
    },
    {
      type: 'string',
      title: 'T',
      description: 'D',
      pattern: '^a',
      minLength: 2,
      maxLength: 4,
      format: 'textarea',
      deprecated: true,
      'x-any': { a: 1 },
      example: 'ab'
    },
    same, ['ab'], ['a', 'ba', 'abcde', 1]],
  ['anything', {}, same, same, [1, null, 'a', {}]],
  ['a type or null', { type: ['integer', 'null'], maximum: 3 }, same, { type: 'integer', nullable: true, maximum: 3 },
    [1, null], [4, 'a', 1.5]],
  ['nullable', { type: 'integer', nullable: true }, { type: ['integer', 'null'] }, { type: 'integer', nullable: true },
    [1, null], ['a']],
  ['null alone', { type: 'null', description: 'D' }, same, { ...NULL, description: 'D' }, [null], ['', 0, {}]],
  ['several types', { type: ['string', 'integer', 'null'] }, same,
    { anyOf: [{ type: 'string', nullable: true }, { type: 'integer', nullable: true }] }, ['a', 1, null], [true, {}]],
  ['several types and alternatives',
    {
      type: ['string', 'array'],
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'array', items: {} }, { type: 'boolean' }]
    },
    {
      type: ['string', 'array'],
      anyOf: [{ type: 'string', minLength: 1 }, array(valued({})), { type: 'boolean' }],
      xml: { wrapped: true }
    },
    {
      anyOf: [{ type: 'string', minLength: 1 }, array(valued({})), { type: 'boolean' }],
      items: {},
      xml: { wrapped: true },
      allOf: [{ anyOf: [string, { type: 'array', items: {} }] }]
    },
    ['a', [1]], ['', true]],
  ['an enumeration', { type: 'string', enum: ['a', 'b'] }, same, same, ['a'], ['c', null]],
  ['an enumeration with null', { type: ['string', 'null'], enum: ['a', null] }, same,
    { type: 'string', nullable: true, enum: ['a', null] }, ['a', null], ['c']],
  ['an enumeration or null', { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'D' },
    same, { type: 'string', enum: ['a', 'b', null], description: 'D', nullable: true }, ['a', null], ['c', 1]],
  ['what is referred to, or null', { anyOf: [{ $ref: '#/definitions/person' }, { type: 'null' }] },
    { anyOf: [schema('PostPerson'), { type: 'null' }] }, { anyOf: [schema('PostPerson'), NULL] },
    [{ name: 'a' }, null], [{}, 1]],
  ['a constant', { const: 'a' }, same, { enum: ['a'] }, ['a'], ['b']],
  ['exclusive bounds', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 3 }, same,
    { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true }, [2], [1, 3]],
  ['examples',
    {
      type: 'string', examples: ['a', 'b'], $comment: 'C', contentMediaType: 'text/markdown', contentEncoding: 'base64'
    },
    same, { type: 'string', format: 'byte', example: 'a' }],
  ['a decimal', { type: 'string', format: 'decimal' },
    { type: 'string', format: 'decimal', pattern: '^-?[0-9]+(\\.[0-9]+)?$' }, same, ['0', '-12.50', '007'], [1]],
  ['a decimal with precision and scale', { type: ['string', 'null'], format: 'decimal', precision: 5, scale: 2 },
    { type: ['string', 'null'], format: 'decimal', pattern: '^-?0*[0-9]{1,3}(\\.[0-9]{1,2})?$' },
    { type: 'string', nullable: true, format: 'decimal', pattern: '^-?0*[0-9]{1,3}(\\.[0-9]{1,2})?$' },
    ['-123.45', '000123', '0.5', null], [1]],
  ['an integer of eight bytes', { type: ['integer', 'null'], format: 'int64' },
    { type: ['integer', 'null', 'string'], format: 'int64', pattern: '^-?[1-9][0-9]{15,18}$' },
    {
      anyOf: [{ type: 'integer', nullable: true }, { type: 'string', nullable: true }],
      format: 'int64',
      pattern: '^-?[1-9][0-9]{15,18}$'
    },
    [5, null], ['5', 'x']],
  ['a whole decimal', { type: 'string', format: 'decimal', precision: 19, scale: 0 },
    { type: 'string', format: 'decimal', pattern: '^-?0*[0-9]{1,19}$' }, same, ['9223372036854775807', '-0'], [0]],
  ['an array', { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 2, uniqueItems: true },
    array(valued({ type: 'string', minLength: 1 }), { minItems: 1, maxItems: 2, uniqueItems: true }), same,
    [['a']], [[], [''], ['a', 'a'], ['a', 'b', 'c']]],
  ['an array of anything', { type: ['array', 'null'] }, { type: ['array', 'null'], xml: { wrapped: true } },
    { type: 'array', nullable: true, items: {}, xml: { wrapped: true } }, [[], [1], null], [{}]],
  ['a tuple', { type: 'array', items: [string, integer] },
    { type: 'array', prefixItems: [valued(string), valued(integer)], xml: { wrapped: true } },
    array({}), [['a', 1], ['a', 1, true], []], ['a'], [[1]]],
  ['a tuple of a length', { type: 'array', items: [string, integer], additionalItems: false },
    { type: 'array', prefixItems: [valued(string), valued(integer)], items: false, xml: { wrapped: true } },
    array({}), [['a', 1]], ['a'], [[1, 'a'], ['a', 1, 1], [true]]],
  ['a tuple and more', { type: 'array', items: [string], additionalItems: integer },
    { type: 'array', prefixItems: [valued(string)], items: valued(integer), xml: { wrapped: true } },
    array({}), [['a', 1, 2]], ['a'], [['a', true], ['a', 'b']]],
  ['one of two', { oneOf: [string, integer] }, same, same, ['a', 1], [true]],
  ['what must be among the items', { type: 'array', items: {}, contains: { const: 1 } },
    array(valued({}), { contains: { const: 1 } }), array(valued({})), [[0, 1]], [1], [[0]]],
  ['an object',
    object({ a: string, b: {} }, { required: ['a'], additionalProperties: false, minProperties: 1, maxProperties: 2 }),
    same, same, [{ a: 'a' }], [{}, { a: 1 }, { a: 'a', c: 1 }]],
  ['an object that has others',
    object(
      { a: { type: 'string', nullable: true } },
      { required: [], additionalProperties: { type: 'integer', exclusiveMinimum: 0 } }
    ),
    object({ a: { type: ['string', 'null'] } }, { additionalProperties: { type: 'integer', exclusiveMinimum: 0 } }),
    object(
      { a: { type: 'string', nullable: true } },
      { additionalProperties: { type: 'integer', minimum: 0, exclusiveMinimum: true } }
    ),
    [{ a: null, b: 1 }], [{ b: 0 }]],
  ['an object that has any others', { type: 'object', additionalProperties: true }, same, { type: 'object' },
    [{ a: 1 }]],
  ['names by a pattern', { type: 'object', patternProperties: { '^n': integer } }, same, { type: 'object' },
    [{ n: 1, a: 'a' }], [1], [{ n: 'a' }]],
  ['names by a pattern and no others',
    { type: 'object', patternProperties: { '^n': integer }, additionalProperties: false }, same, { type: 'object' },
    [{ n: 1 }], [1], [{ n: 'a' }, { a: 1 }]],
  ['what depends on another', { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] }, e: true } },
    { type: 'object', dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] }, e: {} } },
    { type: 'object' }, [{ a: 1, b: 1 }, { e: 1 }], [1], [{ a: 1 }, { c: 1 }]],
  ['a condition', { if: string, then: { minLength: 2 }, else: integer }, same, {}, ['ab', 1], [], ['a', true]],
  ['all of several', { allOf: [{ minLength: 1 }, { maxLength: 2 }], type: 'string' }, same,
    { type: 'string', allOf: [{ minLength: 1 }, { maxLength: 2 }] }, ['a'], ['', 'abc']],
  ['one of what cannot be told apart',
    { oneOf: [{ type: 'array', items: [string] }, { type: 'array', items: [integer] }] },
    {
      oneOf: [
        { type: 'array', prefixItems: [valued(string)], xml: { wrapped: true } },
        { type: 'array', prefixItems: [valued(integer)], xml: { wrapped: true } }
      ]
    },
    { anyOf: [array({}), array({})] },
    [['a'], [1]], ['a'], [[true]]],
  ['a reference and more', { $ref: '#/definitions/short', description: 'D', allOf: [{ minLength: 1 }] },
    { ...schema('PostShort'), description: 'D', allOf: [{ minLength: 1 }] },
    { description: 'D', allOf: [schema('PostShort'), { minLength: 1 }] }, ['a'], ['', 'abc']],
  ['what contains itself', { $ref: '#/definitions/node' }, schema('PostNode'), same,
    [{ name: 'a', nodes: [{ name: 'b', nodes: [] }] }], [{ name: 'a', nodes: [{}] }]],
  ['another attribute', { $ref: '#/properties/title' }, schema('PostTitle'), same, ['a'], [1]],
  ['TypeBox, literals and nothing',
    Type.Object({
      kind: Type.Union([Type.Literal('a'), Type.Literal(1)]),
      note: Type.Optional(Type.Union([Type.String(), Type.Null()]))
    }),
    object(
      {
        kind: { anyOf: [{ const: 'a', type: 'string' }, { const: 1, type: 'number' }] },
        note: { anyOf: [string, { type: 'null' }] }
      },
      { required: ['kind'] }
    ),
    object(
      {
        kind: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number', enum: [1] }] },
        note: { type: 'string', nullable: true }
      },
      { required: ['kind'] }
    ),
    [{ kind: 1, note: null }, { kind: 'a' }], [{ kind: 'b' }, { kind: 1, note: 1 }]],
  ['a string or null, that clashes with what is around',
    { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], minLength: 3 }, same,
    { anyOf: [{ type: 'string', minLength: 2 }, NULL], minLength: 3 }, ['abc', null], ['ab']],
  ['exclusive bounds beside looser ones',
    { type: 'number', minimum: 0, exclusiveMinimum: 1, exclusiveMaximum: 3, maximum: 4 }, same,
    { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true }, [2], [1, 3]],
  ['exclusive bounds beside stricter ones',
    { type: 'number', minimum: 2, exclusiveMinimum: 1, exclusiveMaximum: 4, maximum: 3 }, same,
    { type: 'number', minimum: 2, maximum: 3 }, [2, 3], [1.5, 3.5]],
  ['a decimal between -1 and 1, with a limit of digits after the point',
    {
      anyOf: [
        { type: 'string', format: 'decimal', precision: 2, scale: 2 },
        { type: 'string', format: 'decimal', scale: 1, pattern: '^7' }
      ]
    },
    {
      anyOf: [
        { type: 'string', format: 'decimal', pattern: '^-?0+(\\.[0-9]{1,2})?$' },
        { type: 'string', format: 'decimal', pattern: '^7' }
      ]
    },
    same, ['7.5'], [7.5]],
  ['names that are bound', { type: 'object', propertyNames: { maxLength: 1 } }, same, { type: 'object' }, [{ a: 1 }],
    [], [{ ab: 1 }]],
  ['something and nothing', { anyOf: [true, string], not: false }, { anyOf: [{}, string], not: { not: {} } }, same,
    ['a', 1]],
  ['what is not, and cannot be told', { not: { contains: { const: 1 } } }, same, {}, [[0]], [], [[1]]],
  ['an array elsewhere has the names of items that its attribute gives', { $ref: '#/definitions/words' },
    array(valued(schema('PostWord'))), array(valued({ allOf: [schema('PostWord')] })), [['a']], [[1]]],
  ['an array that contains itself', { $ref: '#/definitions/list' }, array(valued(schema('PostList'))),
    array(valued({ allOf: [schema('PostList')] })), [[[]]], [[1]]]
]
/**
 * Converts a schema of OpenAPI 3.0 to JSON Schema, as its specification says: nullable counts only beside a type, and
 * siblings of $ref are ignored.
 */
function upgrade (part: unknown): unknown {
  if (Array.isArray(part)) return part.map(upgrade)
  if (typeof part !== 'object' || part === null) return part
  const {
    nullable, type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, example, enum: choices, default: _, ...more
  } = part as Part
  if (typeof more.$ref === 'string') return { $ref: more.$ref }
  return {
    ...Object.fromEntries(Object.entries(more).map(([keyword, value]) => [keyword, upgrade(value)])),
    ...(choices !== undefined && { enum: choices }),
    ...(type !== undefined && { type: nullable === true ? [upgrade(type), 'null'] : upgrade(type) }),
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum })
  }
}

t.test('a schema means the same in each version of OpenAPI, as far as possible', async (t) => {
  const attributesOf = (value: Part) => object({ title: string, value }, {
    required: ['title'], definitions: DEFINITIONS
  }) as unknown as AttributesSchema
  const app = await start(t, async (app) => {
    await app.register(swagger, { openapi: { openapi: V30, info }, decorator: 'swagger30' as 'swagger' })
    for (const [index, [, schema]] of SCHEMAS.entries()) {
      app.register(resources, {
        name: 'posts',
        attributes: attributesOf(
          schema
        ),
        formats: ['json'],
        only: ['show', 'create'],
        prefix: `/c${index}`
      })
    }
  })
  const documents = [documentOf(app), (app as unknown as { swagger30 (): Document }).swagger30()] as const
  for (const document of documents) checkReferences(t, document)
  const ajv = new Ajv(LAX)
  const [in31, in30] = [compileIn(documents[0]), compileIn(upgrade(documents[1]))] as const
  for (const [index, row] of SCHEMAS.entries()) {
    const [name, schema, v31 = schema, v30 = v31, accepted = [], refused = [], passed = []] = row
    const [given31, given30] = documents.map(({ components: { schemas } }) => ['', 'New'].map((direction) => {
      const { value } = schemas[`${direction}C${index}Post`]?.properties as Part
      return JSON.parse(JSON.stringify(value).replaceAll(`/C${index}Post`, '/Post')) as unknown
    }))
    t.strictSame(given31, [v31, v31], `${name}, in OpenAPI 3.1, for input and output`)
    t.strictSame(given30, [v30, v30], `${name}, in OpenAPI 3.0, for input and output`)
    const { $id: _, ...anonymous } = schema
    const before = ajv.compile(attributesOf(anonymous))
    const [fits31, fits30] = [in31, in30].map((compile) => compile(
      `/components/schemas/NewC${index}Post/properties/value`
    )) as [Fits, Fits]
    const check = (values: readonly unknown[], ...expected: readonly boolean[]): void => {
      t.strictSame(values.map((value) => [before({ title: 'a', value }), fits31(value), fits30(value)]),
        values.map(() => expected), `${name}: ${JSON.stringify(values)}`)
    }
    check(accepted, true, true, true)
    check(refused, false, false, false)
    check(passed, false, false, true)
  }
})

t.test('readOnly and writeOnly properties are described for one direction only, at any depth', async (t) => {
  const secret = { type: 'string', writeOnly: true } as const
  const stamp = { type: 'string', readOnly: true } as const
  const n = { type: 'integer', default: 4 } as const
  const login = {
    type: 'object',
    properties: { secret, name: string, others: { type: 'array', items: { $ref: '#/definitions/login' } } }
  } as const
  const cases: ReadonlyArray<readonly [name: string, value: Part, out: unknown, inwards: unknown]> = [
    ['an attribute', secret, undefined, secret],
    ['an attribute that is only read', stamp, stamp, stamp],
    ['inside', object({ secret, stamp, name: string }, { required: ['secret', 'stamp', 'name'] }),
      object({ stamp, name: string }, { required: ['name'] }),
      object({ secret, stamp, name: string }, { required: ['secret', 'name'] })],
    ['by a reference',
      object(
        { a: { $ref: '#/definitions/secret' }, b: { allOf: [{ $ref: '#/definitions/stamp' }] } },
        { required: ['a', 'b'] }
      ),
      object({ b: { allOf: [schema('PostStamp')] } }),
      object({ a: schema('NewPostSecret'), b: { allOf: [schema('NewPostStamp')] } }, { required: ['a'] })],
    ['what is filled in where it is not given',
      object(
        { n, name: string },
        { required: ['n', 'name'], anyOf: [{ required: ['n'] }], dependencies: { name: ['n'], n: { required: ['n'] } } }
      ),
      object(
        { n: integer, name: string },
        {
          required: ['n', 'name'],
          anyOf: [{ required: ['n'] }],
          dependentRequired: { name: ['n'] },
          dependentSchemas: { n: { required: ['n'] } }
        }
      ),
      object(
        { n, name: string },
        { required: ['name'], anyOf: [{}], dependentRequired: { name: [] }, dependentSchemas: { n: {} } }
      )],
    ['how many members there are, of which some do not go out',
      object({ secret, name: string }, { minProperties: 2, maxProperties: 2 }), object({ name: string }),
      object({ secret, name: string }, { minProperties: 2, maxProperties: 2 })],
    ['how many members there are, of which some are passed over',
      object({ stamp, name: string }, { minProperties: 1, maxProperties: 1 }), object({ stamp, name: string }),
      object({ stamp, name: string })],
    ['what sets items apart, and does not go out',
      {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        contains: { maxProperties: 2 },
        items: { $ref: '#/definitions/login' }
      },
      array(valued(schema('PostLogin')), { minItems: 1 }),
      array(valued(schema('NewPostLogin')), { minItems: 1 })],
    ['where a condition asks for it',
      object(
        { secret, name: string },
        {
          oneOf: [{ required: ['secret'] }, { required: ['name'] }],
          if: { required: ['secret'] },
          then: { required: ['name'] }
        }
      ),
      object({ name: string }, { anyOf: [{}, { required: ['name'] }] }),
      object(
        { secret, name: string },
        {
          oneOf: [{ required: ['secret'] }, { required: ['name'] }],
          if: { required: ['secret'] },
          then: { required: ['name'] }
        }
      )]
  ]
  const document = await describe(
    t,
    both(
      ...cases.map(([, value], index) => one({
        prefix: `/c${index}`,
        formats: ['json'],
        attributes: {
          type: 'object',
          required: ['value', 'title'],
          properties: { value, title: { type: 'string', default: '' } },
          definitions: { secret, stamp, login }
        } as AttributesSchema
      }))
    )
  )
  checkReferences(t, document)
  for (const [index, [name, value, out, inwards]] of cases.entries()) {
    const [shown, given] = ['', 'New'].map((direction) => JSON.parse(JSON.stringify(
      document.components.schemas[`${direction}C${index}Post`]
    ).replaceAll(`C${index}Post`, 'Post')) as {
      readonly properties: Part,
      readonly required?: readonly string[]
    })
    t.strictSame([shown?.properties.value, given?.properties.value], [out, inwards], name)
    t.strictSame([shown?.properties.title, given?.properties.title], [string, { type: 'string', default: '' }],
      `${name}: the default of the title`)
    t.strictSame(
      shown?.required,
      ['id', ...value.writeOnly === true || value.readOnly === true ? [] : ['value'], 'title'],
      `${name}: the required properties of an answer`
    )
    t.strictSame(given?.required, value.readOnly === true ? undefined : ['value'],
      `${name}: the required properties of the input, without those that have a default`)
  }
})

t.test('real requests and answers fit their description', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title', 'published'],
    properties: {
      ...post.properties,
      secret: { type: 'string', writeOnly: true },
      author: {
        type: 'object',
        required: ['name', 'password', 'since', 'level'],
        properties: {
          name: string,
          password: { type: 'string', writeOnly: true },
          since: { type: 'string', readOnly: true },
          level: { type: 'integer', default: 4 }
        },
        additionalProperties: { type: 'integer' }
      },
      parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] }
    }
  } as AttributesSchema
  const app = await start(t, one({
    attributes,
    store: memoryStore({ unique: ['title'] }) as Store,
    writes: 'both',
    authorize: ({ headers }, { action }) => headers['x-no'] === undefined ? true : action === 'list' ? 'hide' : false
  }))
  const document = documentOf(app)
  const compile = compileIn(document)
  const full = {
    title: 'a',
    rating: null,
    tags: ['x'],
    secret: 's',
    author: { name: 'n', password: 'p', age: 3 },
    parent: { title: 'p', published: true, parent: null }
  }
  const stale = { 'if-match': '"0.json"' }
  const requests: ReadonlyArray<readonly [
    status: number, request: string, payload?: object | undefined, headers?: Readonly<Record<string, string>>
  ]> = [
    [201, 'POST /posts', { post: full }], [201, 'POST /posts', { posts: [{ title: 'b' }, { title: 'c' }] }],
    [409, 'POST /posts', { post: { title: 'b' } }], [422, 'POST /posts', { post: { title: '' } }],
    [422, 'POST /posts', { posts: [{ title: 'd' }, { title: '' }] }], [412, 'POST /posts', { post: full }, stale],
    [200, 'GET /posts?rating=&sort=-title&limit=1&count=true'], [400, 'GET /posts?limit=0'],
    [406, 'GET /posts', undefined, { accept: 'text/csv' }],
    [404, 'GET /posts', undefined, { 'x-no': '1' }],
    [403, 'GET /posts/1', undefined, { 'x-no': '1' }], [200, 'GET /posts/1'], [404, 'GET /posts/a'],
    [304, 'GET /posts/1', undefined, { 'if-none-match': '*' }], [200, 'PUT /posts', { id: 1, post: { rating: 3 } }],
    [412, 'PUT /posts', { post: { id: 1, rating: 4 } }, stale],
    [200, 'PUT /posts', { id: [1, 2], post: { rating: 4 } }],
    [200, 'PATCH /posts/1', { post: { rating: 5 } }], [204, 'DELETE /posts', { id: 1 }],
    [403, 'DELETE /posts', { id: 1 }, { 'sec-fetch-site': 'cross-site' }], [404, 'DELETE /posts/1']
  ]
  for (const [status, request, payload, headers = {}] of requests) {
    const [method = '', url = ''] = request.split(' ')
    const answer = await app.inject({
      method, url, headers: { accept: 'application/json', ...headers }, ...(payload !== undefined && { payload })
    } as InjectOptions)
    const label = `${request} ${status}`
    t.equal(answer.statusCode, status, label)
    const path = url.startsWith('/posts/') ? '/posts/{id}' : '/posts'
    const pointer = `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}`
    if (payload !== undefined && status !== 422) {
      t.ok(compile(`${pointer}/requestBody/content/application~1json/schema`)(payload), `${label}: the body`)
    }
    const response = document.paths[path]?.[method.toLowerCase()]?.responses[status]
    const described = response?.$ref === undefined
      ? response
      : document.components.responses[response.$ref.split('/').at(-1) as string]
    const mediaType = String(answer.headers['content-type']).split(';')[0] as string
    t.ok(answer.body === '' ? described : described?.content?.[mediaType], `${label}: the status`)
    if (mediaType.endsWith('json')) {
      const at = `${response?.$ref?.slice(1) ?? `${pointer}/responses/${status}`}/content/${
        encodeURIComponent(mediaType.replace('/', '~1'))}/schema`
      t.ok(compile(at)(answer.json()), `${label}: the answer`)
    }
    const known = Object.keys(described?.headers ?? {}).map((name) => name.toLowerCase())
    t.strictSame(['etag', 'location', 'link', 'total-count', 'content-range'].filter((name) => name in answer.headers &&
      !known.includes(name)), [], `${label}: the headers`)
  }
  const fits = compile('/components/schemas/NewPost')
  for (const wrong of [{}, { title: '' }, { title: 'a', id: 1 }, { title: 'a', author: { name: 'n' } },
    { title: 'a', author: { name: 'n', password: 'p', age: 'x' } }, { title: 'a', parent: {} }]) {
    t.notOk(fits(wrong), JSON.stringify(wrong))
  }
})
