import fastify from 'fastify'
import t from 'tap'
import resources from '../../lib/index.js'
import { LONG, SHORT_ONLY } from '../support/long.js'

/** Values of keywords. Some are valid for each keyword, and some are not. */
const VALUES: readonly unknown[] = [
  'string', 'array', 'date', 'uuid', 'decimal', 'textarea', 'date-time-text', 'hostname', 'base64', '^a+$', '(', '\\-', -1, 0, 0.5, 2, NaN, Infinity, true, false, null,
  [], ['string'], ['string', 'null'], ['string', 'string'], ['a', 1, null], [NaN], [{ a: 1 }], [[1], [1]],
  { type: 'string' }, { type: 'text' }, { maxLength: 2, title: 'T' }, { pattern: '(' }, {}
]
const KEYWORDS: readonly string[] = [
  'type', 'const', 'enum', 'format', 'contentEncoding', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'precision', 'scale', 'minimum',
  'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'items', 'uniqueItems', 'readOnly', 'writeOnly', 'title', 'description', 'minimun'
]

interface Verdict {
  /** The message of the error at registration. */
  readonly refused?: string
  /** The statuses of creates. */
  readonly statuses?: readonly number[]
}

async function register (schema: object, others: object, root: object = {}): Promise<Verdict> {
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: { type: 'object', properties: { part: schema, ...others }, ...root } })
  try {
    await app.ready()
    const create = async (part: unknown): Promise<number> =>
      (await app.inject({ method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post: { part } } })).statusCode
    return { statuses: await Promise.all(['a', 'aaa', '2026-01-01', 1, -0.5, true, null, ['a'], ['a', 'a', 'a']].map(create)) }
  } catch (error) {
    return { refused: (error as Error).message }
  } finally {
    await app.close()
  }
}

// A schema with a keyword that is not plain needs an Ajv of its own, which checks it by the metaschema.
const OWN_AJV = { other: { anyOf: [{ type: 'string' }, { type: 'null' }] } }

// The short form tries some of the values, the long form all others.
for (const [index, keyword] of KEYWORDS.entries()) {
  t.test(`the values of "${keyword}" are as valid without Ajv as with it`, async (t) => {
    for (const value of VALUES.filter((_, position) => ((index + position) % 6 === 0) !== LONG)) {
      const schema = { ...(['type', 'const', 'enum'].includes(keyword) ? {} : { type: ['string', 'number', 'array'] }), [keyword]: value }
      t.strictSame(await register(schema, {}), await register(schema, OWN_AJV), JSON.stringify(schema))
    }
  })
}

t.test('the keywords beside the attributes are as valid without Ajv as with it', { skip: SHORT_ONLY }, async (t) => {
  for (const root of [{ title: 1 }, { title: 'T' }, { description: true }, { required: ['part'] }, { required: [] }, { required: [1] }, { required: ['part', 'part'] }, { additionalProperties: false }, { additionalProperties: true }, { additionalProperties: 1 }, { additionalProperties: { type: 'string' } }]) {
    t.strictSame(await register({}, {}, root), await register({}, OWN_AJV, root), JSON.stringify(root))
  }
})

t.test('a default is as valid without Ajv as with it', async (t) => {
  for (const value of ['a', 1, 0.5, NaN, Infinity, true, null, [], {}]) {
    for (const type of LONG ? ['string', 'boolean', 'array', 'object', ['string', 'null']] : ['integer', 'number']) {
      const schema = { type, default: value }
      t.strictSame(await register(schema, {}), await register(schema, OWN_AJV), JSON.stringify(schema))
    }
  }
})
