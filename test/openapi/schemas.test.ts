import swagger from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import resources, { type AttributesSchema, memoryStore } from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  both, checkReferences, compileIn, describe, type Document, documentOf, drawn, type Fits, FORM, info, LAX, one,
  type Operation, type Part, schema, start, text, V30
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
  ['not nullable', { type: ['integer'], nullable: false }, integer, same, [1], [null]],
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
  ['an enumeration without the null of its type', { type: ['string', 'null'], enum: ['a'] }, same,
    { type: 'string', nullable: true, enum: ['a'] }, ['a'], ['c', null]],
  ['an enumeration or null', { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'D' },
    same, { type: 'string', enum: ['a', 'b', null], description: 'D', nullable: true }, ['a', null], ['c', 1]],
  ['a string or null', { oneOf: [{ type: 'null' }, { type: 'string', description: 'inner' }], description: 'outer' },
    same, { type: 'string', description: 'outer', nullable: true }, ['a', null], [1]],
  ['a string or null, that clashes with what is around',
    { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], minLength: 3 }, same,
    { anyOf: [{ type: 'string', minLength: 2 }, NULL], minLength: 3 }, ['abc', null], ['ab']],
  ['either of a string that may be null, or null', { anyOf: [{ type: ['string', 'null'] }, { const: null }] }, same,
    { anyOf: [{ type: 'string', nullable: true }, { enum: [null] }] }, ['a', null], [1]],
  ['one of a string that may be null, or null', { oneOf: [{ type: ['string', 'null'] }, { const: null }] }, same,
    { oneOf: [{ type: 'string', nullable: true }, { enum: [null] }] }, ['a'], [null]],
  ['null or null', { anyOf: [{ type: 'null' }, { const: null }] }, same, { anyOf: [NULL, { enum: [null] }] }, [null],
    ['a']],
  ['more than one alternative to null', { anyOf: [string, integer, { type: 'null' }] }, same,
    { anyOf: [string, integer, NULL] }, ['a', 1, null], [true]],
  ['what is referred to, or null', { anyOf: [{ $ref: '#/definitions/person' }, { type: 'null' }] },
    { anyOf: [schema('PostPerson'), { type: 'null' }] }, { anyOf: [schema('PostPerson'), NULL] },
    [{ name: 'a' }, null], [{}, 1]],
  ['a constant', { const: 'a' }, same, { enum: ['a'] }, ['a'], ['b']],
  ['exclusive bounds', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 3 }, same,
    { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true }, [2], [1, 3]],
  ['exclusive bounds beside looser ones',
    { type: 'number', minimum: 0, exclusiveMinimum: 1, exclusiveMaximum: 3, maximum: 4 }, same,
    { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true }, [2], [1, 3]],
  ['exclusive bounds beside stricter ones',
    { type: 'number', minimum: 2, exclusiveMinimum: 1, exclusiveMaximum: 4, maximum: 3 }, same,
    { type: 'number', minimum: 2, maximum: 3 }, [2, 3], [1.5, 3.5]],
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
  ['an array', { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 2, uniqueItems: true },
    array(valued({ type: 'string', minLength: 1 }), { minItems: 1, maxItems: 2, uniqueItems: true }), same,
    [['a']], [[], [''], ['a', 'a'], ['a', 'b', 'c']]],
  ['an array of anything', { type: ['array', 'null'] }, { type: ['array', 'null'], xml: { wrapped: true } },
    { type: 'array', nullable: true, items: {}, xml: { wrapped: true } }, [[], [1], null], [{}]],
  ['an array of arrays', { type: 'array', items: { type: 'array', items: string } },
    array(array(valued(string), { xml: { name: 'value', wrapped: true } })), same, [[['a']]], [[1]]],
  ['a tuple', { type: 'array', items: [string, integer] },
    { type: 'array', prefixItems: [valued(string), valued(integer)], xml: { wrapped: true } },
    array({}), [['a', 1], ['a', 1, true], []], ['a'], [[1]]],
  ['a tuple of a length', { type: 'array', items: [string, integer], additionalItems: false },
    { type: 'array', prefixItems: [valued(string), valued(integer)], items: false, xml: { wrapped: true } },
    array({}), [['a', 1]], ['a'], [[1, 'a'], ['a', 1, 1], [true]]],
  ['a tuple of one', { type: 'array', items: [string], additionalItems: false },
    { type: 'array', prefixItems: [valued(string)], items: false, xml: { wrapped: true } },
    array({}), [['a'], []], ['a'], [['a', 'b'], [1]]],
  ['a tuple and more', { type: 'array', items: [string], additionalItems: integer },
    { type: 'array', prefixItems: [valued(string)], items: valued(integer), xml: { wrapped: true } },
    array({}), [['a', 1, 2]], ['a'], [['a', true], ['a', 'b']]],
  ['a tuple and anything', { type: 'array', items: [string], additionalItems: true },
    { type: 'array', prefixItems: [valued(string)], items: true, xml: { wrapped: true } },
    array({}), [['a', 1, true]], [], [[1]]],
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
  ['names by patterns and others',
    { type: 'object', patternProperties: { '^n': integer }, additionalProperties: string }, same, { type: 'object' },
    [{ n: 1, a: 'a' }], [1], [{ a: true }, { a: 1 }]],
  ['names that are bound', { type: 'object', propertyNames: { maxLength: 1 } }, same, { type: 'object' }, [{ a: 1 }],
    [], [{ ab: 1 }]],
  ['what depends on another', { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] }, e: true } },
    { type: 'object', dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] }, e: {} } },
    { type: 'object' }, [{ a: 1, b: 1 }, { e: 1 }], [1], [{ a: 1 }, { c: 1 }]],
  ['what depends on a name', { type: 'object', dependencies: { a: ['b'] } },
    { type: 'object', dependentRequired: { a: ['b'] } }, { type: 'object' }, [{ b: 1 }], [], [{ a: 1 }]],
  ['a condition', { if: string, then: { minLength: 2 }, else: integer }, same, {}, ['ab', 1], [], ['a', true]],
  ['all of several', { allOf: [{ minLength: 1 }, { maxLength: 2 }], type: 'string' }, same,
    { type: 'string', allOf: [{ minLength: 1 }, { maxLength: 2 }] }, ['a'], ['', 'abc']],
  ['something and nothing', { anyOf: [true, string], not: false }, { anyOf: [{}, string], not: { not: {} } }, same,
    ['a', 1]],
  ['nothing', { type: 'string', not: true }, { type: 'string', not: {} }, same, [], ['a']],
  ['what is not', { not: { type: ['string', 'null'], const: 'a' } }, same,
    { not: { type: 'string', nullable: true, enum: ['a'] } }, ['b'], ['a']],
  ['what is not, and cannot be told', { not: { contains: { const: 1 } } }, same, {}, [[0]], [], [[1]]],
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
  ['a reference of a name with signs', { $ref: '#/definitions/a~1b%20c' }, schema('PostA1b20c'), same, ['a'], [1]],
  ['a reference to an id', { $ref: 'https://example.com/id#' }, schema('PostIdentified'), same, ['a'], [1]],
  ['a reference to true', { $ref: '#/definitions/any' }, schema('PostAny'), same, ['a', 1]],
  ['what contains itself', { $ref: '#/definitions/node' }, schema('PostNode'), same,
    [{ name: 'a', nodes: [{ name: 'b', nodes: [] }] }], [{ name: 'a', nodes: [{}] }]],
  ['two names that would be one', { $ref: '#/definitions/pair' }, schema('PostPair'), same, [{ inner: 1 }],
    [{ inner: {} }]],
  ['an array elsewhere has the names of items that its attribute gives', { $ref: '#/definitions/words' },
    array(valued(schema('PostWord'))), array(valued({ allOf: [schema('PostWord')] })), [['a']], [[1]]],
  ['an array that contains itself', { $ref: '#/definitions/list' }, array(valued(schema('PostList'))),
    array(valued({ allOf: [schema('PostList')] })), [[[]]], [[1]]],
  ['the whole schema', { type: 'array', items: { $ref: '#' } }, array(valued(schema('PostAttributes'))),
    array(valued({ allOf: [schema('PostAttributes')] })), [[{ title: 'a', value: [] }]], [[{}]]],
  ['another attribute', { $ref: '#/properties/title' }, schema('PostTitle'), same, ['a'], [1]],
  ['TypeBox, recursive', Type.Recursive((This) => Type.Object({ kids: Type.Array(This) }), { $id: 'Folder' }),
    object(
      { kids: { type: 'array', items: { ...schema('PostValue'), xml: { name: 'kid' } }, xml: { wrapped: true } } },
      { required: ['kids'] }
    ),
    object(
      {
        kids: { type: 'array', items: { allOf: [schema('PostValue')], xml: { name: 'kid' } }, xml: { wrapped: true } }
      },
      { required: ['kids'] }
    ),
    [{ kids: [{ kids: [] }] }], [{}, { kids: [{}] }]],
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
    [{ kind: 1, note: null }, { kind: 'a' }], [{ kind: 'b' }, { kind: 1, note: 1 }]]
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
    // A schema that refers to itself by its $id must keep the $id.
    const { $id, ...anonymous } = schema
    const before = ajv.compile(attributesOf($id === 'Folder' ? schema : anonymous))
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
    ['in an alternative', object({ a: { anyOf: [secret, { type: 'null' }] } }, { required: ['a'] }), object({}),
      object({ a: { anyOf: [secret, { type: 'null' }] } }, { required: ['a'] })],
    ['a default, which is for what is given', object({ name: { type: 'string', default: 'a' } }),
      object({ name: string }), object({ name: { type: 'string', default: 'a' } })],
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
    ['what is filled in, in the items of an array', { type: 'array', items: object({ n }, { required: ['n'] }) },
      array(valued(object({ n: integer }, { required: ['n'] }))), array(valued(object({ n })))],
    ['how many members there are, of which some do not go out',
      object({ secret, name: string }, { minProperties: 2, maxProperties: 2 }), object({ name: string }),
      object({ secret, name: string }, { minProperties: 2, maxProperties: 2 })],
    ['how many members there are, of which some are passed over',
      object({ stamp, name: string }, { minProperties: 1, maxProperties: 1 }), object({ stamp, name: string }),
      object({ stamp, name: string })],
    ['how many members there are, of which some are filled in', object({ n }, { minProperties: 1 }),
      object({ n: integer }, { minProperties: 1 }), object({ n })],
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
    ['what sets items apart, and is passed over',
      {
        type: 'array',
        uniqueItems: true,
        contains: { maxProperties: 1 },
        items: object({ stamp, name: { type: 'string', enum: ['a'] } })
      },
      array(valued(object({ stamp, name: { type: 'string', enum: ['a'] } }))),
      array(valued(object({ stamp, name: { type: 'string', enum: ['a'] } })))],
    ['anything', object({ secret, any: true }, { required: ['secret', 'any'] }),
      object({ any: {} }, { required: ['any'] }), object({ secret, any: {} }, { required: ['secret', 'any'] })],
    ['where something beside it demands it',
      object(
        { secret, name: string },
        { anyOf: [{ required: ['secret'] }, { required: ['name'] }], dependencies: { name: ['secret'] } }
      ),
      object({ name: string }, { anyOf: [{}, { required: ['name'] }], dependentRequired: { name: [] } }),
      object(
        { secret, name: string },
        { anyOf: [{ required: ['secret'] }, { required: ['name'] }], dependentRequired: { name: ['secret'] } }
      )],
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
  const plain = await describe(
    t,
    one({
      attributes: {
        type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: string }
      } as AttributesSchema,
      formats: ['json']
    })
  )
  t.strictSame(Object.keys(plain.components.schemas), ['PostA', 'Post', 'Problem', 'NewPost', 'PostChanges'],
    'a schema that is the same in both directions has one name')
})

t.test('a resource is described without attributes, and with the description of its attributes', async (t) => {
  const open = await describe(t, one({ formats: ['json'] }))
  t.strictSame(open.components.schemas.Post, {
    type: 'object', required: ['id'], properties: { id: integer }, xml: { name: 'post' }
  })
  t.strictSame(open.components.schemas.NewPost, {
    type: 'object', properties: {}, additionalProperties: true, xml: { name: 'post' }
  })
  const described = await describe(
    t,
    one({
      attributes: {
        type: 'object', title: 'Title', description: 'What is written here.', properties: {}
      } as AttributesSchema,
      formats: ['json']
    })
  )
  t.strictSame(described.components.schemas.Post, {
    type: 'object',
    description: 'What is written here.',
    required: [
      'id'
    ],
    properties: { id: integer },
    xml: { name: 'post' }
  })
})

// ---- Requests and answers

/** Returns the operation that a request reaches, and its JSON pointer in the document. */
function findOperation (
  { paths }: Document, method: string, url: string
): { readonly operation: Operation, readonly pointer: string } {
  const asked = new URL(url, 'http://localhost').pathname.split('/')
  const fits = (path: string): boolean => {
    const steps = path.split('/')
    return steps.length === asked.length && steps.every((step, index) => step.startsWith('{') || step === asked[index])
  }
  const path = Object
    .keys(paths)
    .filter((path) => fits(path) && paths[path]?.[method] !== undefined)
    .sort((a, b) => a.split('{').length - b.split('{').length)[0] as string
  const escape = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
  return { operation: paths[path]?.[method] as Operation, pointer: `/paths/${escape(path)}/${method}` }
}

const DESCRIBED = ['etag', 'location', 'link', 'total-count', 'content-range']

t.test('real requests and answers fit their description', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title', 'published'],
    properties: {
      ...post.properties,
      secret: { type: 'string', writeOnly: true },
      madeAt: { type: 'string', readOnly: true },
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
      answers: { type: 'array', items: { $ref: '#/definitions/answer' } },
      parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] }
    },
    definitions: {
      answer: {
        type: 'object', properties: { text, answers: { type: 'array', items: { $ref: '#/definitions/answer' } } }
      }
    }
  } as AttributesSchema
  const store = memoryStore({ unique: ['title'] })
  const app = await start(t, drawn((map) => map
    .resources('posts', {
      attributes,
      store,
      writes: 'both',
      formPages: true,
      authorize: ({ headers }, { action }) => headers['x-no'] === undefined
        ? headers['x-blind'] === undefined || action !== 'show'
        : action === 'list' ? 'hide' : false
    }, (posts) => {
      posts.resources('comments', {})
      posts.resource('cover', { attributes: { type: 'object', properties: { url: text } } })
      posts.collection.get(
        'recent',
        { query: { type: 'object', properties: { n: { type: 'integer' } } } },
        () => [{ id: 1, attributes: { title: 'a', published: true } }]
      )
      posts.collection.get('first', ({ signal }) => store.get(1, {}, { signal }))
      posts.member.post('publish', ({ id, guard }) => store.update(id, { published: true }, guard))
      posts.member.put(
        'rate',
        { attributes: { type: 'object', required: ['stars'], properties: { stars: { type: 'integer' } } } },
        () => undefined
      )
      posts.collection.post('import', ({ attributes }) => ({
        kind: 'created', row: store.create({ published: true, ...attributes }, {})
      }))
    })
    .resources('strict', { singular: 'one', requireMatch: true, formats: ['json'] })))
  const document = documentOf(app)
  const compile = compileIn(document)
  const full = {
    title: 'a',
    body: '',
    published: true,
    rating: null,
    tags: ['x'],
    secret: 's',
    author: { name: 'n', password: 'p', age: 3 },
    answers: [{ text: 'b', answers: [{ answers: [] }] }],
    parent: { title: 'p', published: true, parent: null }
  }
  const own = { 'if-match': '"1.json"' }
  const form = { 'content-type': FORM }
  const requests: ReadonlyArray<readonly [status: number, method: 'GET'
    | 'POST'
    | 'PUT'
    | 'PATCH'
    | 'DELETE', url: string, payload?: Part
    | string
    | undefined, headers?: Readonly<Record<string, string>>]> = [
      [200, 'GET', '/posts'], [201, 'POST', '/posts', { post: full }],
      [201, 'POST', '/posts', { post: { title: 'b' } }], [409, 'POST', '/posts', { post: { title: 'b' } }],
      [412, 'POST', '/posts', { post: { title: 'c' } }, own],
      [412, 'POST', '/posts', { post: { title: 'c' } }, { ...own, accept: 'text/xml' }],
      [422, 'POST', '/posts', { post: { title: '' } }], [200, 'GET', '/posts'],
      [200, 'GET', '/posts?rating=&sort=-title&limit=1'], [200, 'GET', '/posts?published=true&blank=any&body='],
      [200, 'GET', '/posts', undefined, { accept: 'application/xhtml+xml' }], [400, 'GET', '/posts?limit=0'],
      [406, 'GET', '/posts', undefined, { accept: 'text/csv' }], [404, 'GET', '/posts', undefined, { 'x-no': '1' }],
      [403, 'GET', '/posts/1', undefined, { 'x-no': '1' }], [200, 'GET', '/posts/1'],
      [200, 'GET', '/posts/1', undefined, { accept: 'text/xml' }],
      [304, 'GET', '/posts/1', undefined, { 'if-none-match': '*' }], [404, 'GET', '/posts/9'], [404, 'GET', '/posts/a'],
      [200, 'GET', '/posts/new'], [200, 'GET', '/posts/1/edit'], [200, 'GET', '/posts/recent?n=1'],
      [200, 'GET', '/posts/first'], [200, 'PUT', '/posts', { id: 1, post: { rating: 3 } }, own],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, own],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, { ...own, 'x-blind': '1' }],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, { ...own, 'x-blind': '1', accept: 'text/xml' }],
      [404, 'PUT', '/posts?id=9', { post: { rating: 4 } }], [422, 'PUT', '/posts', { id: 1, post: { rating: 9 } }],
      [200, 'PUT', '/posts/1', { post: { ...full, id: 1, title: 'c' } }],
      [200, 'PATCH', '/posts/1', { post: { madeAt: 'ignored' } }], [409, 'PATCH', '/posts/1', { post: { title: 'b' } }],
      [415, 'POST', '/posts', 'a', { 'content-type': 'text/plain' }],
      [303, 'POST', '/posts', 'post[title]=d', { ...form, accept: 'text/html' }],
      [200, 'POST', '/posts/1', '_method=PUT&post[body]=y', form], [200, 'POST', '/posts/1/publish'],
      [204, 'PUT', '/posts/1/rate', { post: { stars: 3 } }], [422, 'PUT', '/posts/1/rate', { post: {} }],
      [201, 'POST', '/posts/import', { post: { title: 'e' } }],
      [201, 'POST', '/posts/1/comments', { comment: { any: [1, { a: null }] } }], [200, 'GET', '/posts/1/comments'],
      [404, 'GET', '/posts/9/comments'], [404, 'GET', '/posts/1/cover'],
      [201, 'POST', '/posts/1/cover', { cover: { url: '/x' } }], [409, 'POST', '/posts/1/cover', { cover: {} }],
      [200, 'GET', '/posts/1/cover'], [200, 'PUT', '/posts/1/cover', { cover: { url: '/y' } }],
      [204, 'DELETE', '/posts/1/cover'], [201, 'POST', '/strict', { one: {} }],
      [428, 'PUT', '/strict', { id: 1, one: {} }],
      [204, 'DELETE', '/strict?id=1', undefined, { 'if-match': '"1.json"' }],
      [403, 'DELETE', '/posts', { id: 1 }, { 'sec-fetch-site': 'cross-site' }], [204, 'DELETE', '/posts', { id: 1 }],
      [404, 'DELETE', '/posts/1']
    ]
  for (const [status, method, url, payload, headers = {}] of requests) {
    const answer = await app.inject(
      {
        method, url, headers: { accept: 'application/json', ...headers }, ...(payload !== undefined && { payload })
      } as InjectOptions
    )
    const { operation, pointer } = findOperation(document, method.toLowerCase(), url)
    const label = `${method} ${url} ${status}`
    t.equal(answer.statusCode, status, label)
    const known = operation.parameters.map(({ name }) => name)
    t.strictSame([...new URL(url, 'http://localhost').searchParams.keys()].filter((name) => !known.includes(name)), [],
      `${label}: the query`)
    if (typeof payload === 'object' && ![400, 422].includes(status)) {
      t.ok(compile(`${pointer}/requestBody/content/application~1json/schema`)(payload), `${label}: the body`)
    }

    const { $ref } = operation.responses[status] ?? { description: '' }
    const at = $ref === undefined ? `${pointer}/responses/${status}` : $ref.slice(1)
    const described = $ref === undefined
      ? operation.responses[status]
      : document.components.responses[$ref.split('/').at(-1) as string]
    t.ok(described, `${label}: the status`)
    const mediaType = String(answer.headers['content-type']).split(';')[0] as string
    if (answer.body !== '') t.ok(described?.content?.[mediaType], `${label}: ${mediaType}`)
    if (mediaType.endsWith('json')) {
      t.ok(compile(`${at}/content/${mediaType.replace('/', '~1').replace('+', '%2B')}/schema`)(answer.json()),
        `${label}: the answer`)
    }
    const unknown = DESCRIBED.filter((name) => answer.headers[name] !== undefined &&
      !Object.keys(described?.headers ?? {}).some((header) => header.toLowerCase() === name))
    t.strictSame(unknown, [], `${label}: the headers`)
  }
  const fits = compile('/components/schemas/NewPost')
  for (const wrong of [{}, { title: '' }, { title: 'a', id: 1 }, { title: 'a', author: { name: 'n' } },
    { title: 'a', author: { name: 'n', password: 'p', age: 'x' } }, { title: 'a', parent: {} }]) {
    t.notOk(fits(wrong), JSON.stringify(wrong))
  }
})

// ---- In an app
