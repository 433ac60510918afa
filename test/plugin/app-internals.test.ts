import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import swagger from '@fastify/swagger'
import t, { type Test } from 'tap'
import resources, { draw, type Mapper, type ResourceOptions } from '../../lib/index.js'
import { post } from '../support/helper.js'

const money = {
  $id: 'money',
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['amount'],
  properties: { amount: { $ref: '#/definitions/amount' }, currency: { $ref: 'currency#' }, fee: { $ref: '#' } },
  definitions: { amount: { type: 'integer', minimum: 0 } }
}
const currency = { $id: 'currency', type: 'string', enum: ['EUR', 'USD'] }

async function start (
  t: Test, options: ResourceOptions, server?: FastifyServerOptions, before?: (app: FastifyInstance) => unknown
): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  for (const schema of [money, currency]) app.addSchema(schema)
  await before?.(app)
  app.register(resources, options)
  await app.ready()
  return app
}

const priced = {
  type: 'object',
  properties: {
    price: { $ref: 'money#' },
    rest: { $ref: 'money#/definitions/amount' },
    default: { $ref: 'currency' },
    list: { type: 'array', items: { $ref: 'currency#' } }
  },
  definitions: { money: { type: 'boolean' } }
} as const

t.test('attributes may refer to schemas of the app, in each format', async (t) => {
  const app = await start(
    t,
    { name: 'posts', attributes: priced, xsd: true },
    undefined,
    async (app) => {
      await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'T', version: '1' } } })
    }
  )
  const create = async (type: string, payload: string): Promise<{ status: number, body: string }> => {
    const { statusCode, body } = await app.inject({
      method: 'POST', url: '/posts.json', headers: { 'content-type': type }, payload
    })
    return { status: statusCode, body }
  }
  const given = { price: { amount: 5, currency: 'EUR', fee: { amount: 1 } }, rest: 7, default: 'USD', list: ['EUR'] }
  const body = (id: number): string => JSON.stringify({ post: { id, ...given } })
  t.strictSame(await create('application/json', JSON.stringify({ post: given })), { status: 201, body: body(1) })
  t.strictSame(
    await create(
      'application/xml',
      '<post><price><amount>5</amount><currency>EUR</currency><fee><amount>1</amount></fee></price><rest>7</rest>' +
        '<default>USD</default><list type="array"><list>EUR</list></list></post>'
    ),
    { status: 201, body: body(2) }
  )
  t.match(await create('application/json', '{"post":{"price":{"amount":-1},"default":"GBP"}}'), {
    status: 422, body: /price\.amount must be at least 0.*default must be one of/
  })
  t.match(await create('application/json', '{"post":{"price":{"fee":{"amount":"x"}}}}'), {
    status: 422, body: /price\.amount must be given|price\.fee\.amount must be an integer/
  })
  t.match((await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })).body, 'value="EUR"',
    'pages have a select')
  t.match((await app.inject('/posts.xsd')).body, /EUR/, 'the XML Schema has an enumeration')
  t.match(JSON.stringify((app as unknown as { swagger: () => unknown }).swagger()), /"enum":\["EUR","USD"\]/,
    'OpenAPI has an enumeration')
})

t.test('a schema of the app may describe the attributes and the input of actions', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.addSchema({ $id: 'post', ...post })
  app.addSchema(currency)
  app.register(draw((map: Mapper) => map.resources('posts', { attributes: { $ref: 'post#' } as never }, (posts) => posts
    .collection.post(
      'sell',
      { attributes: { type: 'object', required: ['in'], properties: { in: { $ref: 'currency#' } } } },
      ({ attributes }) => [{ id: 1, attributes: { title: JSON.stringify(attributes) } }]
    )
    .collection.get(
      'sold',
      { query: { type: 'object', properties: { in: { $ref: 'currency#' } } } },
      ({ query }) => [{ id: 1, attributes: { title: JSON.stringify(query) } }]
    ))))
  await app.ready()
  t.match((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { body: 'B' } } })).body,
    'title must be given')
  t.match((await app.inject({ method: 'POST', url: '/posts/sell.json', payload: { post: { in: 'GBP' } } })).body,
    'in must be one of')
  t.match((await app.inject('/posts/sold.json?in=GBP')).body, 'in must be one of')
  t.match((await app.inject('/posts/sold.json?in=EUR')).body, 'EUR')
})

t.test('a reference to nothing, or to the schema itself, is not resolved by the app\'s schemas', async (t) => {
  const refused = async (schema: object): Promise<void> => {
    await t.rejects(
      start(t, { name: 'posts', attributes: { type: 'object', properties: { a: schema } } }),
      { code: 'FST_RESOURCES_INVALID_ATTRIBUTES', message: /has no target/ }
    )
  }
  for (const $ref of ['mony#', 'money#anchor', '#anchor', 'money#/definitions/mount', 'toString']) {
    await refused({ $ref })
  }
  const app = await start(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { a: { $ref: 'currency' }, b: { $id: 'currency', type: 'integer' } } }
  })
  t.equal((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { a: 1 } } })).statusCode, 201)
})

const sku = { type: 'object', properties: { sku: { type: 'string', format: 'sku' } } } as const

t.test('the formats, keywords and plugins of the option `ajv` are used, but not its other options', async (t) => {
  const even = {
    keyword: 'even',
    type: 'number',
    schemaType: 'boolean',
    validate: (_schema: boolean, value: number) => value % 2 === 0
  }
  const attributes = {
    type: 'object',
    properties: {
      sku: { type: 'string', format: 'sku' },
      isbn: { type: 'string', format: 'isbn' },
      n: { type: 'integer', even: true },
      odd: { type: 'integer', odd: true },
      at: { type: 'string', format: 'date-time' }
    }
  } as const
  const addIsbn = (ajv: {
    addFormat: (name: string, format: RegExp) => unknown,
    addKeyword: (definition: object) => unknown
  }, pattern = /^\d{13}$/): void => {
    ajv.addFormat('isbn', pattern)
    ajv.addFormat('date-time', /./)
    ajv.addKeyword({ ...even, keyword: 'odd', validate: (_schema: boolean, value: number) => value % 2 !== 0 })
  }
  const needsAllErrors = ({ opts }: { opts: { allErrors?: boolean } }): void => {
    if (opts.allErrors !== true) throw new Error('ajv-errors: Ajv option allErrors must be true')
  }
  const customOptions = {
    formats: { sku: /^[A-Z]{3}$/ },
    keywords: [even],
    coerceTypes: true,
    removeAdditional: true,
    strict: false,
    allErrors: true
  } as const
  for (const [plugins, isbn] of [[[addIsbn, needsAllErrors], '1234567890123'], [[[addIsbn, /^x$/]], 'x']] as const) {
    const ajv = { customOptions, plugins }
    const app = await start(t, { name: 'posts', attributes, ajv }, { ajv: ajv as never }, (app) => {
      app.post('/own', { schema: { body: { type: 'object', properties: attributes.properties } } }, () => 'fits')
    })
    const send = async (payload: object): Promise<string> => {
      const { statusCode, body } = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: payload } })
      return `${statusCode} ${body}`
    }
    t.match(await send({ sku: 'ABC', isbn, n: 2, odd: 1 }), /^201/)
    for (const [
      wrong, says
    ] of [[{ sku: 'abc' }, /^422 .*sku must be a valid sku/], [{ isbn: 'y' }, /^422 .*isbn must be a valid isbn/],
        [{ n: 1 }, /^422 .*n must pass/], [{ odd: 2 }, /^422 .*odd must pass/]] as const) {
      t.match(await send(wrong), says)
      t.equal((await app.inject({ method: 'POST', url: '/own', payload: wrong })).statusCode, 400,
        'the same result as for a route of the app')
    }
    t.match(await send({ n: '2' }), /^422 .*n must be an integer/, 'nothing is coerced')
    t.match(await send({ other: 2 }), /^422 .*other is unknown/, 'nothing is removed')
    t.match(await send({ at: 'now' }), /^422 .*at must be a date and time/, 'our formats stay ours')
  }
  await t.rejects(
    start(t, {
      name: 'posts',
      attributes: { type: 'object', properties: { a: { type: 'string', errorMessage: 'x' } } } as never,
      ajv: { customOptions: { strict: false } as never, plugins: [needsAllErrors] }
    }),
    { message: /unknown keyword: "errorMessage"/ }
  )
  await t.rejects(
    start(t, { name: 'posts', attributes }, { ajv: { customOptions: { formats: { sku: /x/ } } } }),
    { message: /"sku" has the format 'sku', which is not one of/ }
  )
  await t.rejects(start(t, { name: 'posts', ajv: { formats: {} } as never }), {
    code: 'FST_RESOURCES_INVALID_OPTION', message: /"ajv" of resource "posts" has "formats", which is unknown/
  })
  const inherited = fastify()
  t.teardown(() => inherited.close())
  inherited.register(draw(
    (map: Mapper) => map.resources('posts', { attributes: sku }),
    { ajv: { customOptions: { formats: { sku: /^[A-Z]{3}$/ } } } }
  ))
  inherited.register(draw((map: Mapper) => map.scope(
    { path: 'in', ajv: { customOptions: { formats: { sku: /^[A-Z]{3}$/ } } } },
    (map) => map.resources('notes', { attributes: sku })
  )))
  for (const [url, name] of [['/posts.json', 'post'], ['/in/notes.json', 'note']] as const) {
    for (const [sku, status] of [['ABC', 201], ['abc', 422]] as const) {
      t.equal((await inherited.inject({ method: 'POST', url, payload: { [name]: { sku } } })).statusCode, status, url)
    }
  }
  const unused = {
    type: 'object', properties: { a: { type: 'string' } }, definitions: { price: { type: 'string', format: 'money' } }
  }
  await t.resolves(start(t, { name: 'posts', attributes: unused as never }), 'an unused definition')
})

t.test('an error of the app\'s keyword is a failure of the app, not of the client', async (t) => {
  const broken = { keyword: 'broken', validate: () => { throw new TypeError('SECRET') } }
  const schema = { type: 'object', properties: { a: { type: 'string', broken: true } } } as const
  const app = fastify()
  t.teardown(() => app.close())
  const failed: unknown[] = []
  app.addHook('onError', async (_request, _reply, error) => { failed.push(error.message) })
  app.register(draw(
    (map: Mapper) => map.resources(
      'posts',
      { attributes: schema as never },
      (posts) => posts.collection.get('sold', { query: schema as never }, () => [])
    ),
    { ajv: { customOptions: { keywords: [broken] } } }
  ))
  await app.ready()
  for (const request of [{ method: 'POST', url: '/posts.json', payload: { post: { a: 'x' } } },
    { url: '/posts/sold.json?a=x' }] as const) {
    const { statusCode, body } = await app.inject(request)
    t.equal(statusCode, 500, request.url)
    t.notMatch(body, 'SECRET')
  }
  t.strictSame(failed, ['SECRET', 'SECRET'])
})
