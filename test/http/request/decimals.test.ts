import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import resources, { type Attributes, type AttributesSchema, memoryStore, type MemoryStore, type Query, type ResourceOptions } from '../../../lib/index.js'
import { build } from '../../support/helper.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    price: { type: ['string', 'null'], format: 'decimal', precision: 20, scale: 2 },
    ratio: { type: 'string', format: 'decimal' },
    at: { type: 'string', format: 'date-time-local' },
    opens: { type: 'string', format: 'time-local' },
    data: { type: 'string', contentEncoding: 'base64' }
  }
} as const satisfies AttributesSchema

const rows: readonly Attributes[] = [
  { price: '10', ratio: 'abc', at: '2020-01-02T03:04:05.5', opens: '08:00:00' }, { price: '9', at: '2020-01-02T03:04:05', opens: '07:59:59.9' }, { price: '9.00' },
  { price: null }, {}, { price: '-9.5' }, { price: '9007199254740993' }, { price: '9007199254740992' }, { price: '1.10', ratio: '1e3' }, { price: '1.1', ratio: '5' }
]

function seeded (): MemoryStore {
  const store = memoryStore()
  for (const row of rows) store.create(row, {})
  return store
}

const serve = (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> => build(t, { name: 'posts', attributes, store: seeded(), ...options } as ResourceOptions)

async function idsOf (app: FastifyInstance, query: string): Promise<number[] | string> {
  const res = await app.inject({ url: `/posts?${query}`, headers: { accept: 'application/json' } })
  return res.statusCode === 200 ? res.json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id) : res.json<{ detail: string }>().detail
}

const DECIMAL = 'must be a decimal number such as -12.50, without an exponent'

t.test('decimals are filtered and sorted as numbers, local times by their order', async (t) => {
  const app = await serve(t)
  const cases: ReadonlyArray<readonly [query: string, expected: number[] | string]> = [
    ['price=9', [2, 3]], ['price=%2B9.0', [2, 3]], ['price=1.100', [9, 10]], ['price=09', [2, 3]],
    ['price[not]=9.000', [1, 4, 5, 6, 7, 8, 9, 10]], ['price[in]=9,1.1,-9.50', [2, 3, 6, 9, 10]],
    ['price[gt]=9', [1, 7, 8]], ['price[gte]=9', [1, 2, 3, 7, 8]], ['price[lt]=1.1', [6]], ['price[lte]=1.1', [6, 9, 10]],
    ['price[gt]=9007199254740992', [7]], ['price[gt]=9007199254740992.5', [7]], ['price[lt]=.5', [6]], ['price[null]=true', [4, 5]], ['price[null]=false', [1, 2, 3, 6, 7, 8, 9, 10]],
    ['price[gte]=1.1&price[lt]=10', [2, 3, 9, 10]],
    ['sort=price', [4, 5, 6, 9, 10, 2, 3, 1, 8, 7]], ['sort=-price', [7, 8, 1, 3, 2, 10, 9, 6, 5, 4]], ['sort=-price,id', [7, 8, 1, 2, 3, 9, 10, 6, 4, 5]],
    ['price=', `"price" ${DECIMAL}`], ['price=1e3', `"price" ${DECIMAL}`], ['price[gte]=x', `"price[gte]" ${DECIMAL}`], ['price[in]=1,,2', `"price[in]" ${DECIMAL}`],
    ...['contains', 'starts'].map((operator): [string, string] => [`price[${operator}]=1`, `the parameter "price[${operator}]" is unknown; "price" takes one of these operators in brackets: gte, gt, lte, lt, not, in, null`]),
    ['at[gt]=2020-01-02T03:04:05', [1]], ['at[gte]=2020-01-02T03:04:05', [1, 2]], ['opens[lt]=08:00:00', [2]],
    ['at[gt]=2020-01-02T03:04:05Z', '"at[gt]" must be a date and time without an offset, such as 2026-01-31T12:00:00'], ['opens=08:00', '"opens" must be a time without an offset, such as 12:00:00'],
    ['data=AA', 'the parameter "data" is unknown; did you mean "at"?'], ['sort=data', '"sort" names "data", by which this list cannot be sorted; did you mean "at"?'],
    // A row may have a text that the schema does not allow.
    ['ratio[gte]=0', [10]], ['ratio[lte]=2000', [10]], ['ratio[not]=1000', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]], ['sort=-ratio&limit=2', [1, 9]]
  ]
  for (const [query, expected] of cases) t.strictSame(await idsOf(app, query), expected, query)
})

t.test('pages of decimals follow each other, and a cursor with another text is refused', async (t) => {
  const app = await serve(t)
  for (const [sort, expected] of [['price', [4, 5, 6, 9, 10, 2, 3, 1, 8, 7]], ['-price', [7, 8, 1, 3, 2, 10, 9, 6, 5, 4]], ['ratio', [2, 3, 4, 5, 6, 7, 8, 10, 9, 1]]] as const) {
    for (const limit of [1, 2, 3]) {
      const found: number[] = []
      let url: string | undefined = `/posts?sort=${sort}&limit=${limit}`
      while (url !== undefined) {
        const res: LightMyRequestResponse = await app.inject({ url, headers: { accept: 'application/json' } })
        found.push(...res.json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id))
        url = /<([^>]*)>; rel="next"/.exec(String(res.headers.link ?? ''))?.[1]
      }
      t.strictSame(found, expected, `${sort} by ${limit}`)
    }
  }
  const cursor = (...position: unknown[]): string => Buffer.from(JSON.stringify(position)).toString('base64url')
  t.strictSame(await idsOf(app, `sort=price&after=${cursor('price', '9.0', 2)}`), [3, 1, 8, 7], 'another text of the number')
  for (const [by, text] of [['price', 'x'], ['price', '1e3'], ['price', ''], ['at', '2020'], ['opens', '8']] as const) {
    t.match(await idsOf(app, `sort=${by}&after=${cursor(by, text, 2)}`), /^"after" must come from a "next" link/, text)
  }
})

t.test('a store learns which attributes are decimals', async (t) => {
  const queries: Query[] = []
  const store = seeded()
  const app = await serve(t, { store: { ...store, list: (query: Query) => { queries.push(query); return store.list(query) } } })
  await idsOf(app, 'price[gte]=.50&price[null]=false&title=a&price=1&sort=-price,title')
  t.strictSame(queries[0]?.filter, [
    { attribute: 'price', type: 'decimal', operator: 'gte', value: '0.50' }, { attribute: 'price', type: 'decimal', operator: 'null', value: false },
    { attribute: 'title', operator: 'eq', value: 'a' }, { attribute: 'price', type: 'decimal', operator: 'eq', value: '1' }
  ])
  t.strictSame(queries[0]?.order, [{ by: 'price', descending: true, type: 'decimal' }, { by: 'title', descending: false }, { by: 'id', descending: false }])
})

t.test('the body of a QUERY may have decimals as numbers or texts', async (t) => {
  const app = await serve(t)
  for (const [body, ids] of [['{"price":{"gte":10}}', [1, 7, 8]], ['{"price":{"gt":"9007199254740992"}}', [7]], ['{"price":{"in":[9,"1.1"]}}', [2, 3, 9, 10]], ['{"price":null}', [4, 5]]] as const) {
    const res = await app.inject({ method: 'QUERY' as 'GET', url: '/posts', headers: { accept: 'application/json', 'content-type': 'application/json' }, payload: body })
    t.strictSame(res.json<{ posts: Array<{ id: number }> }>().posts?.map(({ id }) => id), ids, body)
  }
})

t.test('texts that are decimals, times or base64 are not searched', async (t) => {
  const app = await serve(t)
  t.strictSame(await idsOf(app, 'q=9'), [])
  for (const name of ['price', 'at', 'opens', 'data']) {
    await t.rejects(serve(t, { search: [name] } as Partial<ResourceOptions>), { message: `Option "search" of resource "posts" names "${name}", which must be a string, perhaps with null, and no decimal, date, time, UUID or base64.` }, name)
  }
  for (const option of ['sort', 'filter']) {
    await t.rejects(serve(t, { [option]: ['data'] } as Partial<ResourceOptions>), { message: `Option "${option}" of resource "posts" names "data", which must be a string, an integer, a number or a boolean, or one of them and null, and no base64.` }, option)
  }
})

t.test('a page has a field for decimals, and OpenAPI describes their parameters', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  app.register(resources, { name: 'posts', attributes, store: seeded() })
  await app.ready()
  const page = async (query: string): Promise<string> => (await app.inject({ url: `/posts?${query}`, headers: { accept: 'text/html' } })).body
  t.match(await page('price=1.10'), '<a class="chip" href="/posts" aria-label="Remove: Price is 1.10">')
  t.match(await page('filter[by]=price'), /<input type="number" id="filter!value" name="filter\[value\]"[^>]* value="" step="any"\/>/)
  const { parameters = [] } = (app.swagger() as unknown as { paths: Record<string, { get: { parameters: Array<{ name: string, schema: object }> } }> }).paths['/posts']?.get ?? {}
  const schemaOf = (name: string): object | undefined => parameters.find((parameter) => parameter.name === name)?.schema
  const decimal = { type: 'string', format: 'decimal', pattern: '^-?[0-9]+(\\.[0-9]+)?$' }
  t.strictSame(schemaOf('price'), decimal)
  t.strictSame(schemaOf('price[gte]'), decimal)
  t.match(schemaOf('price[in]'), { items: decimal })
  t.strictSame(schemaOf('at[lt]'), { type: 'string', format: 'date-time-local' })
  t.equal(schemaOf('data'), undefined)
})
