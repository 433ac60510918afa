import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type AttributesSchema, type Count, type CountQuery, type Format, memoryStore, type MemoryStore,
  type Query, type ResourceOptions, type Row, type Store
} from '../../../lib/index.js'
import { build, draft, types } from '../../support/helper.js'
import { plainTag } from '../../support/plain-tag.js'

const priced = {
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

const pricedRows: readonly Attributes[] = [
  { price: '10', ratio: 'abc', at: '2020-01-02T03:04:05.5', opens: '08:00:00' },
  { price: '9', at: '2020-01-02T03:04:05', opens: '07:59:59.9' }, { price: '9.00' },
  { price: null }, {}, { price: '-9.5' }, { price: '9007199254740993' }, { price: '9007199254740992' },
  { price: '1.10', ratio: '1e3' }, { price: '1.1', ratio: '5' }
]

function makePriced (): MemoryStore {
  const store = memoryStore()
  for (const row of pricedRows) store.create(row, {})
  return store
}

const servePriced = (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> =>
  build(t, { name: 'posts', attributes: priced, store: makePriced(), ...options } as ResourceOptions)

async function idsOf (app: FastifyInstance, query: string): Promise<number[] | string> {
  const res = await app.inject({ url: `/posts?${query}`, headers: { accept: 'application/json' } })
  return res.statusCode === 200
    ? res.json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) =>
      id)
    : res.json<{ detail: string }>().detail
}

const DECIMAL = 'must be a decimal number such as -12.50, without an exponent'

t.test('decimals are filtered and sorted as numbers, local times by their order', async (t) => {
  const app = await servePriced(t)
  const cases: ReadonlyArray<readonly [query: string, expected: number[] | string]> = [
    ['price=9', [2, 3]], ['price=%2B9.0', [2, 3]], ['price=1.100', [9, 10]], ['price=09', [2, 3]],
    ['price[not]=9.000', [1, 4, 5, 6, 7, 8, 9, 10]], ['price[in]=9,1.1,-9.50', [2, 3, 6, 9, 10]],
    ['price[gt]=9', [1, 7, 8]], ['price[gte]=9', [1, 2, 3, 7, 8]], ['price[lt]=1.1', [6]],
    ['price[lte]=1.1', [6, 9, 10]],
    ['price[gt]=9007199254740992', [7]], ['price[gt]=9007199254740992.5', [7]], ['price[lt]=.5', [6]],
    ['price[null]=true', [4, 5]], ['price[null]=false', [1, 2, 3, 6, 7, 8, 9, 10]],
    ['price[gte]=1.1&price[lt]=10', [2, 3, 9, 10]],
    ['sort=price', [4, 5, 6, 9, 10, 2, 3, 1, 8, 7]], ['sort=-price', [7, 8, 1, 3, 2, 10, 9, 6, 5, 4]],
    ['sort=-price,id', [7, 8, 1, 2, 3, 9, 10, 6, 4, 5]],
    ['price=', `"price" ${DECIMAL}`], ['price=1e3', `"price" ${DECIMAL}`], ['price[gte]=x', `"price[gte]" ${DECIMAL}`],
    ['price[in]=1,,2', `"price[in]" ${DECIMAL}`],
    ...['contains', 'starts'].map(
      (operator): [string, string] => [`price[${operator}]=1`,
        `the parameter "price[${operator}]" is unknown; "price" takes one of these operators in brackets: gte, gt, ` +
          'lte, lt, not, in, null']
    ),
    ['at[gt]=2020-01-02T03:04:05', [1]], ['at[gte]=2020-01-02T03:04:05', [1, 2]], ['opens[lt]=08:00:00', [2]],
    ['at[gt]=2020-01-02T03:04:05Z', '"at[gt]" must be a date and time without an offset, such as 2026-01-31T12:00:00'],
    ['opens=08:00', '"opens" must be a time without an offset, such as 12:00:00'],
    ['data=AA', 'the parameter "data" is unknown; did you mean "at"?'],
    ['sort=data', '"sort" names "data", by which this list cannot be sorted; did you mean "at"?'],
    // A row may have a text that the schema does not allow.
    ['ratio[gte]=0', [10]], ['ratio[lte]=2000', [10]], ['ratio[not]=1000', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['sort=-ratio&limit=2', [1, 9]]
  ]
  for (const [query, expected] of cases) t.strictSame(await idsOf(app, query), expected, query)
})

t.test('pages of decimals follow each other, and a cursor with another text is refused', async (t) => {
  const app = await servePriced(t)
  for (const [sort, expected] of [['price', [4, 5, 6, 9, 10, 2, 3, 1, 8, 7]],
    ['-price', [7, 8, 1, 3, 2, 10, 9, 6, 5, 4]], ['ratio', [2, 3, 4, 5, 6, 7, 8, 10, 9, 1]]] as const) {
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
  t.strictSame(await idsOf(app, `sort=price&after=${cursor('price', '9.0', 2)}`), [3, 1, 8, 7],
    'another text of the number')
  for (const [by, text] of [['price', 'x'], ['price', '1e3'], ['price', ''], ['at', '2020'], ['opens', '8']] as const) {
    t.match(await idsOf(app, `sort=${by}&after=${cursor(by, text, 2)}`), /^"after" must come from a "next" link/, text)
  }
})

t.test('a store learns which attributes are decimals', async (t) => {
  const queries: Query[] = []
  const store = makePriced()
  const app = await servePriced(t, {
    store: {
      ...store,
      list: (query: Query) => {
        queries.push(query)
        return store.list(query)
      }
    }
  })
  await idsOf(app, 'price[gte]=.50&price[null]=false&title=a&price=1&sort=-price,title')
  t.strictSame(queries[0]?.filter, [
    { attribute: 'price', type: 'decimal', operator: 'gte', value: '0.50' },
    { attribute: 'price', type: 'decimal', operator: 'null', value: false },
    { attribute: 'title', operator: 'eq', value: 'a' },
    { attribute: 'price', type: 'decimal', operator: 'eq', value: '1' }
  ])
  t.strictSame(queries[0]?.order, [{ by: 'price', descending: true, type: 'decimal' },
    { by: 'title', descending: false }, { by: 'id', descending: false }])
})

t.test('texts that are decimals, times or base64 are not searched', async (t) => {
  const app = await servePriced(t)
  t.strictSame(await idsOf(app, 'q=9'), [])
  for (const name of ['price', 'at', 'opens', 'data']) {
    await t.rejects(servePriced(t, { search: [name] } as Partial<ResourceOptions>),
      {
        message:
          `Option "search" of resource "posts" names "${name}", which must be a string, perhaps with null, and no ` +
            'decimal, date, time, UUID or base64.'
      }, name)
  }
  for (const option of ['sort', 'filter']) {
    await t.rejects(servePriced(t, { [option]: ['data'] } as Partial<ResourceOptions>),
      {
        message:
          `Option "${option}" of resource "posts" names "data", which must be a string, an integer, a number or a ` +
            'boolean, or one of them and null, and no base64.'
      }, option)
  }
})

const secretive = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: 'integer' },
    constructor: { type: 'string' },
    author: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
    secret: { type: 'string', writeOnly: true }
  }
} as const

const ROW = { title: 'Tea', rating: 4, constructor: 'c', author: { name: 'Ann', key: 'hidden' }, secret: 'hidden' }

/** A format of an app. It knows nothing of `only`. */
const lines: Format = {
  name: 'txt',
  mediaTypes: ['text/plain'],
  compileWriter: () => {
    const row = ({ id, attributes }: Row): string => `${id} ${JSON.stringify(attributes)}\n`
    return { list: { open: '', row, separator: '', close: '' }, record: row, problem: ({ detail }) => detail }
  }
}

function makeSecretive (): ReturnType<typeof memoryStore> {
  const store = memoryStore()
  store.create(ROW, {})
  store.create({ rating: 1 }, {})
  return store
}

t.test('`only` selects the attributes of lists and rows, in the order of the schema', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: secretive, store: makeSecretive(), formats: ['xml', 'html', 'json', lines]
  })
  const cases: ReadonlyArray<readonly [only: string, json: object, xml: string]> = [
    ['title', { title: 'Tea' }, '<title>Tea</title>'],
    ['rating,title', { title: 'Tea', rating: 4 }, '<title>Tea</title><rating type="integer">4</rating>'],
    ['id', {}, ''],
    ['id,constructor', { constructor: 'c' }, '<constructor>c</constructor>'],
    ['author', { author: { name: 'Ann' } }, '<author><name>Ann</name></author>']
  ]
  for (const [only, json, xml] of cases) {
    const one = await app.inject(`/posts/1.json?only=${only}`)
    t.match(one, { statusCode: 200, headers: { etag: /^"1\.json-[\da-f]{8}"$/ } }, only)
    t.strictSame(one.json(), { post: { id: 1, ...json } })
    t.strictSame((await app.inject(`/posts.json?only=${only}&limit=1`)).json(), { posts: [{ id: 1, ...json }] })
    t.equal((await app.inject(`/posts/1.xml?only=${only}`)).body,
      `<?xml version="1.0" encoding="UTF-8"?>\n<post><id type="integer">1</id>${xml}</post>`)
    t.equal((await app.inject(`/posts.xml?only=${only}&limit=1`)).body,
      '<?xml version="1.0" encoding="UTF-8"?>\n<posts type="array">' +
      `<post><id type="integer">1</id>${xml}</post></posts>`)
    t.equal((await app.inject(`/posts/1.txt?only=${only}`)).body, `1 ${JSON.stringify(json)}\n`, 'a format of the app')
    t.equal((await app.inject(`/posts.txt?only=${only}&limit=1`)).body, `1 ${JSON.stringify(json)}\n`)
  }
  t.strictSame((await app.inject('/posts.json?only=title')).json(), { posts: [{ id: 1, title: 'Tea' }, { id: 2 }] })
  t.strictSame((await app.inject('/posts/1.json')).json().post,
    { id: 1, title: 'Tea', rating: 4, constructor: 'c', author: { name: 'Ann' } }, 'a whole row as before')
})

t.test('a page shows the selected attributes, keeps the selection, and its forms have all fields', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: secretive, store: makeSecretive(), html: { columns: ['title'], pageSize: 1 }
  })
  const list = await app.inject('/posts.html?only=rating')
  t.match(list, { statusCode: 200, headers: { 'content-type': types.html } })
  t.match(list.body, /<th scope="col"[^>]*><a href="\/posts.html\?only=rating&amp;sort=rating">Rating<\/a><\/th><\/tr>/)
  t.match(list.body, '<input type="hidden" name="only" value="rating"/>')
  t.match(list.body, /href="\/posts.html\?only=rating&amp;after=[\w-]+"/)
  t.match(list.body, 'name="post[title]"')
  t.notMatch(list.body, 'data-label="Title"')
  const show = await app.inject('/posts/1.html?only=rating')
  t.match(show.body, new RegExp('<dl class="record">\\n<div><dt>Rating</dt><dd id=":rating"[^>]*>4</dd></div>\\n' +
    '<div class="id"><dt>Id</dt><dd>1</dd></div>\\n</dl>'))
  t.match(show.body, 'name="post[title]"')
})

t.test('`only` refuses names that it cannot select', async (t) => {
  const app = await build(t, { name: 'posts', attributes: secretive, store: makeSecretive() })
  const cases: ReadonlyArray<readonly [only: string, detail: string]> = [
    ['', '"only" must be names separated by commas, such as "title,rating"'],
    ['title,', '"only" must be names separated by commas, such as "title,rating"'],
    ['titel', '"only" names "titel", which is not an attribute of posts; did you mean "title"?'],
    ['secret', '"only" names "secret", which is not an attribute of posts'],
    ['author.name', '"only" names "author.name", which is not an attribute of posts'],
    ['toString', '"only" names "toString", which is not an attribute of posts'],
    ['title,id,title', '"only" names "title" twice']
  ]
  for (const [only, detail] of cases) {
    for (const path of ['/posts', '/posts/1', '/posts/9']) {
      const refused = await app.inject(`${path}.json?only=${only}`)
      t.match(refused, { statusCode: 400, headers: { 'content-type': types.problem } }, `${path} ${only}`)
      t.equal(refused.json().detail, detail)
    }
  }
  t.match((await app.inject('/posts.xml?only=titel')).body, '<error>"only" names "titel"')
  const open = await build(t, { name: 'notes', store: makeSecretive() })
  for (const path of ['/notes', '/notes/1']) {
    t.match((await open.inject(`${path}.json?only=title`)).json(),
      { status: 400, detail: 'the parameter "only" is unknown' }, 'without a schema')
  }
  const nothing = await build(t, { name: 'posts', attributes: { type: 'object', properties: {} } })
  t.match((await nothing.inject('/posts.json?only=')).json(),
    { detail: '"only" must be names separated by commas, such as "id"' })
})

t.test('the entity tag of a selection revalidates only the selection, and a write compares its version', async (t) => {
  const app = await build(t, { name: 'posts', attributes: secretive, store: makeSecretive() })
  const { headers: { etag } } = await app.inject('/posts/1.json?only=title')
  t.equal(plainTag(etag), '"1.json"')
  for (const path of ['/posts/1.json', '/posts/1.json?only=title,rating', '/posts/1.json?only=rating']) {
    t.equal((await app.inject({ url: path, headers: { 'if-none-match': String(etag) } })).statusCode, 200, path)
  }
  t.equal(
    (await app.inject({ url: '/posts/1.json?only=title', headers: { 'if-none-match': String(etag) } })).statusCode, 304
  )
  const payload = { id: 1, post: { title: 'Coffee' } }
  const write = { method: 'PUT', url: '/posts.json', payload } as const
  t.equal((await app.inject({ ...write, headers: { 'if-match': String(etag) } })).statusCode, 200)
  t.equal((await app.inject({ ...write, headers: { 'if-match': String(etag) } })).statusCode, 412)
})

t.test('a singleton and a handler of the app are selected from too', async (t) => {
  const one = memoryStore()
  one.create(ROW, {})
  const app = await draft(t, (map) => {
    map.resource('profile', { attributes: secretive, store: one })
    map.resources('posts', {
      attributes: { type: 'object', properties: { title: { type: 'string' }, rating: { type: 'integer' } } },
      actions: { list: () => [{ id: 7, attributes: { title: 'own', rating: 2 } }] }
    })
  })
  t.strictSame((await app.inject('/profile.json?only=rating')).json(), { profile: { rating: 4 } })
  t.strictSame((await app.inject('/posts.json?only=rating')).json(), { posts: [{ id: 7, rating: 2 }] })
})

t.test('more selections than are kept work as well', async (t) => {
  const names = Array.from({ length: 70 }, (_, index) => `a${index}`)
  const store = memoryStore()
  store.create(Object.fromEntries(names.map((name) => [name, 'x'])), {})
  const app = await build(t, {
    name: 'posts',
    attributes: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
    store
  })
  for (const name of [...names, ...names]) {
    t.strictSame((await app.inject(`/posts/1.json?only=${name}`)).json(), { post: { id: 1, [name]: 'x' } })
  }
})

const attributes = {
  type: 'object', properties: { title: { type: 'string' }, rating: { type: ['integer', 'null'] } }
} as const

const text = { type: 'object', properties: { title: { type: 'string' } } } as const

function seeded (count = 45): MemoryStore {
  const store = memoryStore()
  for (let index = 0; index < count; index++) {
    store.create({ title: index % 3 === 0 ? 'tea' : 'coffee', rating: index % 5 === 4 ? null : index % 5 }, {})
  }
  return store
}

async function serve (t: Test, store: Store, options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes, store, ...options })
}

/** Returns a store whose calls of `count` are kept, and which may answer with an estimate. */
function recording (store: MemoryStore, estimate?: number): { readonly store: Store, readonly calls: CountQuery[] } {
  const calls: CountQuery[] = []
  const count = (query: CountQuery): Count => {
    calls.push(query)
    return query.estimate && estimate !== undefined ? { rows: estimate, isEstimate: true } : store.count(query)
  }
  return { calls, store: { ...store, count } }
}

const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

t.test('a list that asks for it says how many rows there are, and which these are', async (t) => {
  const app = await serve(t, seeded(), { html: { pageSize: 20 }, maxLimit: 100 })
  const scoped = await serve(t, seeded(), { scope: () => ({ title: 'tea' }), name: 'posts' } as never)
  const empty = await serve(t, memoryStore())
  const cases: Array<[app: FastifyInstance, url: string, total: string | undefined, range: string | undefined]> = [
    [app, '/posts.json', undefined, undefined],
    [app, '/posts.json?limit=20', undefined, undefined],
    [app, '/posts.html', undefined, undefined],
    [app, '/posts.json?count=true', '45', 'posts 0-44/45'],
    [app, '/posts.xml?count=estimate', '45', 'posts 0-44/45'],
    [app, '/posts.html?count=true', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=true&limit=20', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=estimate&limit=20', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=true&limit=45', '45', 'posts 0-44/45'],
    [app, '/posts.json?count=true&limit=100', '45', 'posts 0-44/45'],
    [app, `/posts.json?count=true&limit=20&after=${cursor(20)}`, '45', 'posts 20-39/45'],
    [app, `/posts.html?count=true&after=${cursor(40)}`, '45', 'posts 40-44/45'],
    [app, `/posts.json?count=true&limit=20&after=${cursor(45)}`, '45', 'posts */45'],
    [app, `/posts.json?count=true&after=${cursor(20)}`, '45', 'posts 20-44/45'],
    [app, `/posts.json?count=true&after=${cursor(45)}`, '45', 'posts */45'],
    [app, `/posts.json?count=true&before=${cursor(20)}`, '45', undefined],
    [app, `/posts.json?count=true&limit=10&before=${cursor(41)}`, '45', 'posts 30-39/45'],
    [app, `/posts.json?count=true&limit=10&before=${cursor(6)}`, '45', 'posts 0-4/45'],
    [app, `/posts.json?count=true&limit=10&before=${cursor(1)}`, '45', 'posts */45'],
    [app, '/posts.json?count=true&limit=10&before=', '45', 'posts 35-44/45'],
    [app, '/posts.json?count=true&limit=4&rating=3', '9', 'posts 0-3/9'],
    [app, '/posts.json?count=true&limit=4&q=tea', '15', 'posts 0-3/15'],
    [app, '/posts.json?count=true&limit=4&rating[gte]=3&title[contains]=offe', '6', 'posts 0-3/6'],
    [app, `/posts.json?count=true&limit=4&sort=-rating&after=${cursor('-rating,-id', 4, 100)}`, '45', 'posts 0-3/45'],
    [app, `/posts.json?count=true&limit=4&sort=rating&after=${cursor('rating', 0, 1)}`, '45', 'posts 10-13/45'],
    [scoped, '/posts.json?count=true&limit=4', '15', 'posts 0-3/15'],
    [scoped, `/posts.json?count=true&limit=4&after=${cursor(13)}`, '15', 'posts 5-8/15'],
    [empty, '/posts.json?count=true', '0', 'posts */0'],
    [empty, '/posts.html?count=true', '0', 'posts */0'],
    [empty, '/posts.json?count=true&limit=4&before=', '0', 'posts */0']
  ]
  for (const [app, url, total, range] of cases) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await app.inject({ method, url })
      t.strictSame([statusCode, headers['total-count'], headers['content-range']], [200, total, range],
        `${method} ${url}`)
    }
  }
})

t.test('an estimate is marked, and exact numbers stay exact', async (t) => {
  const { store, calls } = recording(seeded(), 40_000)
  const app = await serve(t, store)
  const few = await serve(t, recording(seeded(), 3).store)
  const cases: Array<[app: FastifyInstance, url: string, total: string, range: string | undefined]> = [
    [app, '/posts.json?limit=20&count=estimate', '40000;estimate', 'posts 0-19/*'],
    [app, '/posts.json?limit=20&count=true', '45', 'posts 0-19/45'],
    [app, '/posts.json?limit=50&count=estimate', '45', 'posts 0-44/45'],
    [app, `/posts.json?limit=20&count=estimate&after=${cursor(20)}`, '40000;estimate', undefined],
    [app, `/posts.json?limit=20&count=estimate&after=${cursor(45)}`, '40000;estimate', undefined],
    [few, '/posts.json?limit=20&count=estimate', '20;estimate', 'posts 0-19/*']
  ]
  for (const [app, url, total, range] of cases) {
    const { headers } = await app.inject(url)
    t.strictSame([headers['total-count'], headers['content-range']], [total, range], url)
  }
  t.ok(calls.every(({ estimate, after }) => !estimate || after === undefined), 'only the whole list is estimated')
})

t.test('nothing is counted unless a total is needed', async (t) => {
  const { store, calls } = recording(seeded())
  const app = await serve(t, store, { html: { pageSize: 20 } })
  const cases: Array<[url: string, counted: number]> = [
    ['/posts.json', 0], ['/posts.xml?limit=20', 0], [`/posts.json?limit=20&after=${cursor(20)}`, 0],
    ['/posts/1.json', 0],
    ['/posts.json?limit=100&count=true', 0], ['/posts.json?limit=20&count=true', 1],
    [`/posts.json?limit=20&count=true&after=${cursor(40)}`, 1],
    [`/posts.json?limit=20&count=true&after=${cursor(20)}`, 2], ['/posts.html?limit=100', 0], ['/posts.html', 1]
  ]
  for (const [url, counted] of cases) {
    calls.length = 0
    t.equal((await app.inject(url)).statusCode, 200, url)
    t.equal(calls.length, counted, url)
  }
  t.match(calls, [{ most: 10_001, estimate: false, after: undefined }], 'a page for people asks for a bounded number')
})

t.test('pages of large rows have the same totals', async (t) => {
  const store = memoryStore()
  for (let index = 0; index < 14; index++) store.create({ title: 'x'.repeat(700_000) }, {})
  const app = await serve(t, store, { attributes: text })
  const whole = await serve(t, store, {
    attributes: text, html: { views: { list: (page: { readonly table: unknown }) => page.table } as never }
  })
  const cases: Array<[app: FastifyInstance, url: string, range: string | undefined]> = [
    [app, '/posts.json?count=true', 'posts 0-13/14'],
    [app, '/posts.json?limit=8&count=true', 'posts 0-7/14'],
    [app, `/posts.json?limit=8&count=true&after=${cursor(2)}`, 'posts 2-9/14'],
    [app, `/posts.json?limit=8&count=true&after=${cursor(6)}`, 'posts 6-13/14'],
    [app, '/posts.html?limit=8&count=true&before=', 'posts 6-13/14'],
    [app, `/posts.json?limit=8&count=true&before=${cursor(8)}`, undefined]
  ]
  for (const [app, url, range] of cases) {
    const { headers } = await app.inject(url)
    t.strictSame([headers['total-count'], headers['content-range']], ['14', range], url)
  }
  const { headers, body } = await whole.inject('/posts.html?limit=8&count=true')
  const rows = body.match(/<tr><th scope="row"/g)?.length ?? 0
  t.ok(rows < 8)
  t.equal(headers['content-range'], `posts 0-${rows - 1}/14`, 'a page that ends early')
})

t.test('a failed count is answered with an error, and closes the list', async (t) => {
  const store = seeded()
  const closed: string[] = []
  let isFailing = false
  const app = await serve(t, {
    ...store,
    * list (query) {
      try {
        yield * store.list(query)
        yield []
      } finally {
        closed.push('closed')
      }
    },
    count () {
      if (isFailing) throw new Error('no')
      return { rows: 45, isEstimate: false }
    }
  }, { hooks: { onSend: async () => { if (!isFailing) throw new Error('not sent') } } })
  const after = await app.inject('/posts.json?count=true&limit=20')
  t.strictSame([after.statusCode, after.headers['total-count'], after.headers['content-range']],
    [500, undefined, undefined], 'an error has no total')
  isFailing = true
  closed.length = 0
  for (const url of ['/posts.json?count=true', '/posts.json?count=true&limit=20', '/posts.html?limit=20']) {
    const { statusCode, headers } = await app.inject(url)
    t.strictSame([statusCode, headers['total-count']], [500, undefined], url)
  }
  t.equal(closed.length, 3)
})

t.test('the parameter has two values, and only stores that count have it', async (t) => {
  const app = await serve(t, seeded(3))
  const other = await serve(t, { ...seeded(3), capabilities: { order: true } })
  for (const [on, query, detail] of [
    [app, 'count=', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=false', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=TRUE', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=true&count=true', 'the parameter "count" must be given once'],
    [other, 'count=true', 'the parameter "count" is unknown']
  ] as const) {
    const res = await on.inject(`/posts.json?${query}`)
    t.match([res.statusCode, res.headers['content-type'], res.json()],
      [400, types.problem, { detail: new RegExp(detail) }], query)
  }
  t.equal((await app.inject('/posts/1.json?count=true')).statusCode, 400, 'a row has no total')
  t.equal((await other.inject('/posts.html?limit=1')).statusCode, 200,
    'pages of a store that cannot count have no total')
  const { count: _, ...without } = seeded(3)
  await t.rejects(serve(t, without as never),
    { message: /store" of resource "posts" declares "capabilities.count", but has no method "count"/ })
})

t.test('a handler that proceeds has the totals of its store', async (t) => {
  const app = await serve(t, seeded(), {
    actions: {
      list: async ({ proceed, query }: { proceed: () => Promise<{ rows: object[] }>, query: { count: unknown } }) => {
        const outcome = await proceed()
        return query.count === undefined ? outcome : { ...outcome, rows: [...outcome.rows] }
      }
    }
  } as never)
  for (const [url, range] of [['/posts.json?limit=20&count=true', 'posts 0-19/45'],
    ['/posts.json?limit=50&count=true', 'posts 0-44/45'], ['/posts.json?count=true', 'posts 0-44/45'],
    ['/posts.json', undefined]] as const) {
    t.equal((await app.inject(url)).headers['content-range'], range, url)
  }
})

const anyText = { type: 'string' } as const
const amplified = {
  type: 'object',
  properties: {
    title: anyText,
    body: anyText,
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    due: { type: 'string', format: 'date-time' },
    lang: { enum: ['de', 'en', 'fr'] },
    numbers: { type: 'array', items: { type: 'integer' } },
    people: {
      type: 'array',
      items: { type: 'object', additionalProperties: false, properties: { name: anyText, age: { type: 'integer' } } }
    },
    names: { type: 'object', additionalProperties: anyText },
    any: {}
  }
} as const satisfies AttributesSchema

const [JSON_TYPE, XML_TYPE, FORM] = ['application/json', 'application/xml', 'application/x-www-form-urlencoded']
const formats = { xml: XML_TYPE, json: JSON_TYPE, html: 'text/html', csv: 'text/csv' } as const
/** The characters that become longest when they are escaped, as a URL has them. */
const units = ['%22', '%E2%82%AC'] as const

/** Makes a request of about this many characters. */
type Make = (size: number) => InjectOptions

/** Repeats a unit in about this many characters. */
function fill (unit: string, size: number, separator = ''): string {
  return Array.from({ length: Math.max(1, Math.floor(size / (unit + separator).length)) }, () => unit).join(separator)
}

/** Numbers units in about this many characters. */
function count (size: number, write: (index: number) => string, separator: string): string {
  return Array.from({ length: Math.max(1, Math.floor(size / (write(9).length + 1))) },
    (_, index) => write(index)).join(separator)
}

const get = (url: (size: number) => string): Make => (size) => ({ method: 'GET', url: url(Math.min(size, 60_000)) })
const header = (name: string, unit: string): Make =>
  (size) => ({ method: 'GET', url: '/posts/1', headers: { [name]: fill(unit, size) } })
const send = (method: 'POST' | 'PUT' | 'QUERY', type: string, payload: (size: number) => string): Make =>
  (size) => ({ method, url: '/posts', headers: { 'content-type': type }, payload: payload(size) })
const form = (payload: (size: number) => string): Make => send('POST', FORM, payload)
const query = (payload: (size: number) => string): Make => send('QUERY', FORM, payload)

/** The requests that repeat a unit wherever a client may write a text. */
function requestsOf (unit: string): Record<string, Make> {
  const decoded = (size: number): string => decodeURIComponent(fill(unit, size))
  return {
    ...Object.fromEntries(['title', 'title[in]', 'title[not]', 'title[contains]', 'rating[gte]', 'q', 'sort', 'only',
      'include', 'after', 'before', 'limit', 'count', 'blank', 'format', 'filter[by]', 'unknown'].flatMap((name) => [
      [`GET ${name}`, get((size) => `/posts?${name}=${fill(unit, size)}&limit=1`)],
      [`QUERY ${name}`, query((size) => `${name}=${fill(unit, size)}&limit=1`)],
      [`GET ${name} of many`, get((size) => `/posts?${name}=${fill(unit, size, ',')}`)]
    ])),
    'GET several conditions': get((size) =>
      `/posts?title=${fill(unit, size / 3)}&body=${fill(unit, size / 3)}&body[not]=${fill(unit, size / 3)}`),
    'GET a condition of a form': get((size) =>
      `/posts?filter[by]=rating[gte]&filter[value]=${fill(unit, size)}&title[not]=${fill(unit, size / 10)}`),
    'GET a name': get((size) => `/posts?${fill(unit, size)}=1`),
    'GET an operator': get((size) => `/posts?title[${fill(unit, size)}]=1`),
    'GET an id': get((size) => `/posts/${fill(unit, size)}`),
    'GET a blank form': get((size) => `/posts/new?title=${fill(unit, size)}`),
    'DELETE an id': (size) => ({ method: 'DELETE', url: `/posts?id=${fill(unit, Math.min(size, 60_000))}` }),
    'QUERY several conditions': query((size) => ['title', 'body', 'title[not]', 'body[not]', 'title[in]', 'body[in]',
      'lang'].map((name) => `${name}=${fill(unit, size / 7)}`).join('&')),
    'QUERY a name': query((size) => `${fill(unit, size)}=1`),
    'QUERY as JSON': send('QUERY', JSON_TYPE, (size) => JSON.stringify({ title: { not: decoded(size) }, limit: 1 })),
    'form: a value of another type': form((size) =>
      `post[rating]=${fill(unit, size)}&post[due]=${fill(unit, size)}&post[lang]=${fill(unit, size)}`),
    'form: a value beside a fault': form((size) => `post[rating]=x&post[body]=${fill(unit, size)}`),
    'form: lines': form((size) => `post[numbers]=${fill(unit, size, '%0A')}`),
    'form: an unknown name': form((size) => `post[${fill(unit, size)}]=1`),
    'form: an unknown field': form((size) => `${fill(unit, size)}=1`),
    'form: another method': form((size) => `_method=${fill(unit, size)}`),
    'form: two ids': form((size) => `_method=PUT&id=1&id=${fill(unit, size)}&post[body]=x`),
    'form: an old version': form((size) => `_method=PUT&id=1&_version=7&post[body]=${fill(unit, size)}`),
    'JSON: a text': send('POST', JSON_TYPE, (size) => JSON.stringify({ post: { body: decoded(size) } })),
    'JSON: an unknown name': send('POST', JSON_TYPE, (size) => JSON.stringify({ post: { [decoded(size)]: 1 } })),
    'JSON: an unknown member': send('POST', JSON_TYPE, (size) => JSON.stringify({ [decoded(size)]: 1 })),
    'JSON: an id': send('PUT', JSON_TYPE, (size) => JSON.stringify({ id: decoded(size), post: {} })),
    'JSON: many names': send('POST', JSON_TYPE,
      (size) => JSON.stringify({
        post: Object.fromEntries(Array.from({ length: Math.ceil(size / 500) },
          (_, index) => [decoded(490) + index, 1]))
      })),
    'JSON: integers below a long name': send('POST', JSON_TYPE,
      (size) =>
        JSON.stringify(
          {
            post: {
              names: {
                [unit.startsWith('%E2')
                  ? '\u00e9'.repeat(190)
                  : 'n'.repeat(190)]: Array.from({ length: Math.ceil(size / 2) }, () => 1)
              }
            }
          })),
    'JSON: malformed': send('POST', JSON_TYPE, (size) => `{"post":${decoded(size)}`),
    'XML: malformed': send('POST', XML_TYPE, (size) => `<post><title>${decoded(size)}`),
    'Accept-Language': header('accept-language', unit),
    'If-None-Match': header('if-none-match', unit),
    'Content-Type': (size) => ({
      method: 'POST', url: '/posts', headers: { 'content-type': fill(unit, size) }, payload: 'x'
    }),
    'Content-Encoding': (size) => ({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': JSON_TYPE, 'content-encoding': fill(unit, size) },
      payload: '{}'
    }),
    Origin: (size) => ({ method: 'POST', url: '/posts', headers: { origin: fill(unit, size) }, payload: '' })
  }
}

/** The requests of many small parts. */
const ofParts: Record<string, Make> = {
  'form: rows with a fault': form((size) => 'post[rating]=x&' + count(size, (index) => `post[people][${index}][age]=`,
    '&')),
  'form: rows of faults': form((size) => count(size, (index) => `post[people][${index}][age]=x`, '&')),
  'form: members': form((size) => 'post[rating]=x&' + count(size, (index) => `post[names][${index}]=`, '&')),
  'form: line breaks': form((size) => 'post[rating]=x&post[body]=' + fill('\n', size)),
  'form: JSON': form((size) => `post[rating]=x&post[any][?]=json&post[any]=[${fill('[]', size, ',')}]`),
  'JSON: integers': send('POST', JSON_TYPE, (size) => `{"post":{"numbers":[${fill('1', size, ',')}]}}`),
  'JSON: faults': send('POST', JSON_TYPE, (size) => `{"post":{"numbers":[${fill('""', size, ',')}]}}`),
  'JSON: arrays': send('POST', JSON_TYPE, (size) => `{"post":{"any":[${fill('[[[[]]]]', size, ',')}]}}`),
  'JSON: objects': send('POST', JSON_TYPE, (size) => `{"post":{"people":[${fill('{}', size, ',')}]}}`),
  'XML: elements': send('POST', XML_TYPE,
    (size) => `<post><numbers type="array">${fill('<a>1</a>', size)}</numbers></post>`),
  'XML: references': send('POST', XML_TYPE, (size) => `<post><body>${fill('&amp;', size)}</body></post>`),
  'XML: unknown elements': send('POST', XML_TYPE,
    (size) => `<post>${count(size, (index) => `<a${index}/>`, '')}</post>`)
}

/** The sizes of requests, in characters. A head has at most 16 KiB by default; a body has at most 1 MiB. */
const SIZES = [300, 60_000]
/** What an answer may have besides: the links of a page, and the messages of an error. */
const CONSTANT = 28_000
/** The same for a form, whose rows have all their fields although only one was sent. */
const ROWS = 300_000

function sizeOf ({ method = '', url, headers = {}, payload = '' }: InjectOptions): number {
  const head = Object.entries(headers).reduce((size, [name, value]) => size + name.length + String(value).length + 4, 0)
  return method.length + String(url).length + head + Buffer.byteLength(String(payload))
}

function headOf ({ headers }: LightMyRequestResponse): number {
  return Object.entries(headers).reduce((size, [name, value]) => size + name.length + String(value).length + 4, 0)
}

async function serveAmplified (t: Test, hasSchema = true): Promise<FastifyInstance> {
  const app = await build(t, {
    name: 'posts', writes: 'both', formats: ['xml', 'html', 'json', 'csv'], ...(hasSchema && { attributes: amplified })
  }, { server: { routerOptions: { maxParamLength: 65_000 } } })
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  return app
}

t.test('no request costs more than twenty times its bytes', async (t) => {
  const [declared, open] = [await serveAmplified(t), await serveAmplified(t, false)]
  const requests = [...units.flatMap((unit) =>
    Object.entries(requestsOf(unit)).map(([name, make]) => [`${name} of ${unit}`, make] as const)),
  ...Object.entries(ofParts)]
  for (const [kind, app] of Object.entries({ declared, open })) {
    for (const [index, [name, make]] of requests.entries()) {
      if (kind === 'open' && /^(?:GET|QUERY|[A-Z][\w-]+ of)/.test(name)) continue
      // Each request has a page, and one of the documents in turn.
      const others = name.startsWith('GET') ? ['xml', 'json', 'csv'] as const : ['xml', 'json'] as const
      for (const format of ['html', others[index % others.length] as 'xml'] as const) {
        const accept = formats[format]
        const ask = async (size: number): Promise<readonly [request: InjectOptions,
          answer: LightMyRequestResponse]> => {
          const made = make(size)
          const request = { ...made, headers: { ...made.headers, accept } }
          return [request, await app.inject(request)]
        }
        const [, tiny] = await ask(1)
        for (const size of SIZES) {
          const [request, answer] = await ask(size)
          const label = `${kind}, ${name}, as ${format}, ${size}`
          const most = 20 * sizeOf(request) + tiny.rawPayload.length + (name.startsWith('form: rows') ? ROWS : CONSTANT)
          // Thousands of assertions that pass would take longer than the requests.
          if (answer.rawPayload.length > most) {
            t.fail(`${label}: ${answer.rawPayload.length} bytes for ${sizeOf(request)}`)
          }
          if (headOf(answer) > 14_500) t.fail(`${label}: ${headOf(answer)} bytes of headers`)
          if (answer.statusCode >= 500) t.fail(`${label}: ${answer.statusCode}`)
        }
      }
    }
  }
})

t.test('the items of an array whose name is long come as JSON, and back', async (t) => {
  const app = await serveAmplified(t, false)
  const name = 'n'.repeat(200)
  const items = Array.from({ length: 20_000 }, (_, index) => index % 10)
  const created = await app.inject({
    method: 'POST', url: '/posts', headers: { accept: XML_TYPE }, payload: { post: { [name]: items } }
  })
  t.equal(created.statusCode, 201)
  t.match(created.body, `<${name} type="json">[0,1,2,`)
  const sent = await app.inject({
    method: 'PUT', url: '/posts/2', headers: { 'content-type': XML_TYPE, accept: JSON_TYPE }, payload: created.body
  })
  t.strictSame([sent.statusCode, (sent.json() as { post: Record<string, unknown> }).post[name]], [200, items])
})

t.test('a QUERY of a megabyte is refused where it is too long, and its page repeats nothing of the rest', async (t) => {
  const app = await serveAmplified(t)
  const ask = async (payload: string, accept: string): Promise<LightMyRequestResponse> =>
    await app.inject({ method: 'QUERY', url: '/posts', headers: { 'content-type': FORM, accept }, payload })
  for (const accept of Object.values(formats)) {
    const refused = await ask(`title[not]=${'x'.repeat(1_000_000)}`, accept)
    t.equal(refused.statusCode, 400, accept)
    t.match(refused.body, /must have at most 4000 characters/)
    t.ok(refused.body.length < 10_000, accept)
  }
  const long = await ask(['title', 'body'].map((name) => `${name}[not]=${'x'.repeat(4000)}`).join('&') + '&limit=1',
    'text/html')
  t.strictSame([long.statusCode, long.headers.link, long.headers.location, long.headers['next-after']],
    [200, undefined, undefined, undefined])
  t.notMatch(long.body, 'xxxx')
  t.match(long.body, /<a href="\/posts\?limit=1">Clear/)
})

t.test('the value of a condition has at most 4,000 characters', async (t) => {
  const app = await serveAmplified(t)
  for (const parameter of ['title', 'title[not]', 'title[in]', 'title[contains]', 'q']) {
    for (const accept of Object.values(formats)) {
      const { statusCode, body } = await app.inject({
        url: `/posts?${parameter}=${'1'.repeat(4001)}`, headers: { accept }
      })
      t.equal(statusCode, 400, `${parameter} as ${accept}`)
      t.match(body, /must have at most (?:4000|200) characters/i)
      t.notMatch(body, '1'.repeat(4001))
    }
  }
  for (const parameter of ['title', 'title[not]', 'title[in]']) {
    t.equal((await app.inject(`/posts.json?${parameter}=${'1'.repeat(4000)}`)).statusCode, 200, parameter)
  }
})

t.test('links beyond 4,000 characters, and a header beyond 8,000, are left out', async (t) => {
  const app = await serveAmplified(t)
  for (let count = 0; count < 3; count++) {
    await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  }
  const relations = async (length: number): Promise<string[]> => {
    const { headers: { link } } = await app.inject(`/posts.json?limit=1&after=WzFd&title[not]=${'x'.repeat(length)}`)
    return [...String(link).matchAll(/rel="(\w+)"/g)].map(([, relation]) => String(relation))
  }
  t.strictSame(await relations(1900), ['self', 'first', 'prev', 'next'])
  t.strictSame(await relations(2100), ['prev', 'next'])
  t.strictSame(await relations(3900), ['prev', 'next'])
  t.strictSame(await relations(3990), [])
  const linked = await app.inject({
    url: `/posts?limit=1&title[not]=${'x'.repeat(3990)}`, headers: { accept: 'text/html' }
  })
  t.strictSame([linked.statusCode, linked.headers.link], [200, undefined])
  t.notMatch(linked.body, 'rel="next"')
})

t.test('a page whose query is long keeps the links to the pages around it, and the one that clears the filter',
  async (t) => {
    const app = await serveAmplified(t)
    await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
    const page = async (length: number): Promise<string> =>
      (await app.inject({
        url: `/posts?limit=1&title[not]=${'x'.repeat(length)}`, headers: { accept: 'text/html' }
      })).body
    const links = (body: string): number => body.split('x'.repeat(100)).length - 1
    const [short, long] = [await page(100), await page(3000)]
    t.match(short, /sort=body/)
    t.match(short, /rel="alternate"[^>]*x{100}/)
    t.notMatch(long, /sort=body|rel="alternate"|type="search"/)
    t.match(long, /rel="next">/)
    t.match(long, /Clear/)
    t.ok(links(short) > 10)
    t.equal(long.split('x'.repeat(3000)).length - 1, 1, 'once')
  })

t.test('a condition that is refused keeps its field, unless its value is too long', async (t) => {
  const app = await serveAmplified(t)
  const page = async (value: string): Promise<LightMyRequestResponse> =>
    await app.inject({
      url: `/posts?filter[by]=rating[gte]&filter[value]=${value}&title[not]=${'y'.repeat(3000)}`,
      headers: { accept: 'text/html' }
    })
  const [kept, refused] = [await page('x'.repeat(2000)), await page('x'.repeat(4001))]
  t.strictSame([kept.statusCode, kept.headers['content-type']], [400, types.html])
  t.match(kept.body, /value="x{2000}"[^]*Must be an integer/)
  t.equal(refused.statusCode, 400)
  t.match(refused.body, /must be an integer/)
  t.notMatch(refused.body, 'x'.repeat(1000))
})
