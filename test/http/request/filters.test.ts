import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type AttributesSchema, type Capabilities, type Id, memoryStore, type MemoryStore,
  type ResourceOptions, type Row, type Store
} from '../../../lib/index.js'
import { build, types } from '../../support/helper.js'
import { findPeriods } from '../../../lib/html/values/periods.js'
import { findForm, visible } from '../../support/html/forms.js'
import { get, idsOf, isSound, linksOf, schemaOf, seeded as seededPages } from '../../support/html/page-tests.js'

const uuids = ['0190a6b0-1234-7abc-8def-000000000001', '0190a6b0-1234-7abc-8def-000000000002'] as const

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    note: { type: ['string', 'null'] },
    status: { enum: ['draft', 'sent', 'a,b', 'back\\slash'] },
    email: { type: 'string', format: 'email' },
    rating: { type: ['integer', 'null'] },
    price: { type: 'number' },
    published: { type: ['boolean', 'null'] },
    dueOn: { type: ['string', 'null'], format: 'date' },
    at: { type: 'string', format: 'time' },
    seenAt: { type: 'string', format: 'date-time' },
    owner: { type: 'string', format: 'uuid' },
    tags: { type: 'array', items: { type: 'string' } },
    secret: { type: 'string', writeOnly: true }
  }
} as const
const kinds = ['xml', 'json', 'html'] as const
type Kind = typeof kinds[number]
const problems = { xml: types.xml, json: types.problem, html: types.html }

const seeds: Attributes[] = [
  {
    title: 'Green Tea',
    note: 'hot',
    status: 'draft',
    email: 'a@tea.example',
    rating: 5,
    price: 1.5,
    published: true,
    dueOn: '2026-01-31',
    at: '12:00:00Z',
    seenAt: '2026-01-31T12:00:00Z',
    owner: uuids[0],
    secret: 'tea'
  },
  {
    title: 'black TEA, strong',
    note: '',
    status: 'sent',
    rating: 3,
    price: -1,
    published: false,
    dueOn: '2026-02-01',
    at: '08:00:00Z',
    seenAt: '2026-02-01T12:00:00Z',
    owner: uuids[1]
  },
  { title: '100% Coffee_\\', note: null, status: 'a,b', rating: null, price: 0, published: null, dueOn: null },
  { title: 'Straße Ärger', note: 'green', status: 'back\\slash', rating: 4, price: 1e21 },
  {}
]

function seeded (rows: readonly Attributes[] = seeds): MemoryStore {
  const store = memoryStore()
  for (const attributes of rows) store.create(attributes, {})
  return store
}

async function serve (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes, store: seeded(), ...options } as ResourceOptions)
}

/** Returns the ids of a list in any of the formats. */
const listed: Readonly<Record<Kind, (body: string) => number[]>> = {
  xml: (body) => [...body.matchAll(/<id[^>]*>([^<]+)<\/id>/g)].map(([, id]) => Number(id)),
  json: (body) => (JSON.parse(body) as { posts: Array<{ id: Id }> }).posts.map(({ id }) => Number(id)),
  html: (body) => [...body.matchAll(/<th[^>]*>(?:<label.*?<\/label>)?<a href="[^"]*\/posts\/([^"#]+)">/g)].map(([, id]) => Number(id))
}

const unescaped = (html: string): string => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;',
  '<').replaceAll('&amp;', '&')
const detailOf: Readonly<Record<Kind, (body: string) => string>> = {
  xml: (body) => unescaped(/<error>([^]*)<\/error>/.exec(body)?.[1] ?? body),
  json: (body) => (JSON.parse(body) as { detail: string }).detail,
  html: (body) => unescaped(body)
}

/** Checks the rows that each query finds, each in one of the formats. */
async function checkFound (t: Test, app: FastifyInstance,
  cases: ReadonlyArray<readonly [query: Record<string, string>, found: readonly number[]]>): Promise<void> {
  for (const [index, [query, found]] of cases.entries()) {
    const kind = kinds[index % kinds.length] as Kind
    const { statusCode, headers, body } = await app.inject({ url: `/posts.${kind}`, query })
    t.strictSame([statusCode, headers['content-type'], statusCode === 200 ? listed[kind](body) : body],
      [200, types[kind], found], `${kind}: ${JSON.stringify(query)}`)
  }
}

/** Checks the whole message of each refusal, each in one of the formats. */
async function checkRefused (t: Test, app: FastifyInstance,
  cases: ReadonlyArray<readonly [query: string, says: string]>): Promise<void> {
  for (const [index, [query, says]] of cases.entries()) {
    const kind = kinds[index % kinds.length] as Kind
    const { statusCode, headers, body } = await app.inject(`/posts.${kind}?${query}`)
    const name = `${kind}: ${query.slice(0, 80)}`
    t.strictSame([statusCode, headers['content-type']], [400, problems[kind]], name)
    const detail = detailOf[kind](body)
    // A page shows the message at the field, without the name of the parameter.
    if (kind === 'html') {
      t.ok(detail.toLowerCase().includes(says.toLowerCase().replace(/^"[^"]*" /, '')), `${name}: ${detail}`)
    } else t.equal(detail.toLowerCase(), says.toLowerCase(), name)
  }
}

t.test('each operator finds its rows', async (t) => {
  await checkFound(t, await serve(t), [
    [{ 'rating[gte]': '4' }, [1, 4]], [{ 'rating[gt]': '4' }, [1]], [{ 'rating[lte]': '4' }, [2, 4]],
    [{ 'rating[lt]': '4' }, [2]], [{ 'rating[gte]': ' +4 ' }, [1, 4]],
    [{ 'rating[gt]': '-9007199254740991' }, [1, 2, 4]],
    [{ 'rating[not]': '5' }, [2, 3, 4, 5]], [{ 'rating[in]': '5' }, [1]], [{ 'rating[in]': '5,3, 4 ,3,7' }, [1, 2, 4]],
    [{ 'rating[null]': 'true' }, [3, 5]], [{ 'rating[null]': 'false' }, [1, 2, 4]], [{ 'rating[null]': '1' }, [3, 5]],
    [{ 'rating[null]': '0' }, [1, 2, 4]],
    [{ 'price[gte]': '0' }, [1, 3, 4]], [{ 'price[gt]': '-0.0' }, [1, 4]], [{ 'price[lte]': '15e-1' }, [1, 2, 3]],
    [{ 'price[lt]': '1e21' }, [1, 2, 3]], [{ 'price[in]': '1.5,-1.0' }, [1, 2]],
    [{ 'price[not]': '0' }, [1, 2, 4, 5]], [{ 'price[null]': 'true' }, [5]],
    [{ 'published[not]': 'true' }, [2, 3, 4, 5]], [{ 'published[in]': 'true,0' }, [1, 2]],
    [{ 'published[null]': 'false' }, [1, 2]],
    [{ 'dueOn[gte]': '2026-02-01' }, [2]], [{ 'dueOn[gt]': '2026-01-31' }, [2]],
    [{ 'dueOn[lte]': '2026-02-01' }, [1, 2]], [{ 'dueOn[lt]': '2026-02-01' }, [1]],
    [{ 'dueOn[not]': '2026-02-01' }, [1, 3, 4, 5]], [{ 'dueOn[in]': '2026-02-01,2026-01-31' }, [1, 2]],
    [{ 'dueOn[null]': 'true' }, [3, 4, 5]],
    [{ 'at[gte]': '09:00:00Z' }, [1]], [{ 'at[lt]': '09:00:00Z' }, [2]],
    [{ 'seenAt[gt]': '2026-01-31T12:00:00Z' }, [2]], [{ 'seenAt[lte]': '2026-01-31T12:00:00Z' }, [1]],
    [{ 'seenAt[null]': 'true' }, [3, 4, 5]],
    [{ 'owner[in]': uuids.join() }, [1, 2]], [{ 'owner[not]': uuids[0] }, [2, 3, 4, 5]],
    [{ 'owner[null]': 'true' }, [3, 4, 5]],
    [{ 'title[contains]': 'tea' }, [1, 2]], [{ 'title[contains]': 'TEA,' }, [2]], [{ 'title[starts]': 'green' }, [1]],
    [{ 'title[starts]': 'TEA' }, []], [{ 'title[contains]': ' ' }, [1, 2, 3, 4]], [{ 'title[contains]': '%' }, [3]],
    [{ 'title[contains]': '_' }, [3]], [{ 'title[contains]': '\\' }, [3]], [{ 'title[contains]': '*' }, []],
    [{ 'title[contains]': 'ärg' }, [4]], [{ 'title[contains]': 'STRAẞE' }, [4]],
    [{ 'title[contains]': 'strasse' }, []],
    [{ 'title[not]': '' }, [1, 2, 3, 4, 5]], [{ 'title[in]': 'Green Tea,Straße Ärger' }, [1, 4]],
    [{ 'title[null]': 'true' }, [5]], [{ 'email[contains]': '@TEA.' }, [1]], [{ 'email[starts]': 'A@' }, [1]],
    [{ 'note[not]': '' }, [1, 3, 4, 5]], [{ 'note[in]': '' }, [2]], [{ 'note[in]': ',hot' }, [1, 2]],
    [{ 'note[in]': 'hot,' }, [1, 2]], [{ 'note[null]': 'true' }, [3, 5]], [{ 'note[null]': 'false' }, [1, 2, 4]],
    [{ 'status[contains]': 'RA' }, [1]], [{ 'status[in]': 'draft,sent,unknown' }, [1, 2]],
    [{ 'status[not]': 'draft' }, [2, 3, 4, 5]]
  ])
})

t.test('in a value of "in", a backslash escapes a comma and a backslash', async (t) => {
  await checkFound(t, await serve(t), [
    [{ 'status[in]': 'a\\,b' }, [3]], [{ 'status[in]': 'draft,a\\,b,sent' }, [1, 2, 3]], [{ 'status[in]': 'a,b' }, []],
    [{ 'status[in]': 'back\\\\slash,sent' }, [2, 4]], [{ 'title[in]': '100% Coffee_\\\\' }, [3]],
    [{ 'title[in]': 'black TEA\\, strong' }, [2]],
    // The other operators take one text as it is.
    [{ status: 'a,b' }, [3]], [{ status: 'back\\slash' }, [4]], [{ 'status[not]': 'a,b' }, [1, 2, 4, 5]],
    [{ 'title[contains]': 'tea\\,' }, []]
  ])
  const says = '"status[in]" has a backslash without a meaning; write "\\," for a comma, and "\\\\" for a backslash'
  await checkRefused(t, await serve(t), [['status[in]=back%5Cslash', says], ['status[in]=draft%5C', says],
    ['status[in]=%5C%5C%5C', says], ['status[in]=%5C%0A', says]])
})

t.test('conditions are combined with AND, also with a search, an order and pages', async (t) => {
  const app = await serve(t)
  await checkFound(t, app, [
    [{ 'rating[gte]': '3', 'rating[lt]': '5' }, [2, 4]], [{ 'rating[gt]': '5', 'rating[lt]': '3' }, []],
    [{ rating: '5', 'rating[in]': '4,5' }, [1]],
    [{ 'rating[gte]': '3', 'title[contains]': 'tea', sort: '-price' }, [1, 2]],
    [{ q: 'tea', 'price[lt]': '0' }, [2]],
    [{ 'rating[null]': 'false', sort: 'rating', limit: '2' }, [2, 4]]
  ])
  const first = await app.inject('/posts.json?rating%5Bnull%5D=false&sort=rating&limit=2&q=e')
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
  t.match(next, 'rating%5Bnull%5D=false')
  t.strictSame([listed.json(first.body), listed.json((await app.inject(next)).body)], [[2, 4], [1]],
    'the link keeps conditions and search')
})

const OF_NUMBER = 'gte, gt, lte, lt, not, in, null'
const OF_TEXT = 'not, in, null, contains, starts'

t.test('a value that the attribute does not have is refused', async (t) => {
  await checkRefused(t, await serve(t), [
    ...['gte', 'gt', 'lte', 'lt', 'not', 'in'].flatMap((operator): Array<[string, string]> => [
      [`rating[${operator}]=x`, `"rating[${operator}]" must be an integer`],
      [`rating[${operator}]=1.5`, `"rating[${operator}]" must be an integer`],
      [`rating[${operator}]=`,
        `"rating[${operator}]" must be an integer; for rows without a value, send "rating[null]=true"`],
      [`rating[${operator}]=9007199254740993`,
        `"rating[${operator}]" must be an integer between -9007199254740991 and 9007199254740991`],
      [`price[${operator}]=`, `"price[${operator}]" must be a number`],
      [`price[${operator}]=1e999`,
        `"price[${operator}]" has the number 1e999, which cannot be kept exactly; ` +
          'send at most 15 digits, between 1e-307 and 1e308'],
      [`dueOn[${operator}]=2026-02-30`, `"dueOn[${operator}]" must be a date such as 2026-01-31`],
      [`dueOn[${operator}]=`, `"dueOn[${operator}]" must be a date such as 2026-01-31`],
      [`at[${operator}]=12:00`, `"at[${operator}]" must be a time such as 12:00:00Z`],
      [`seenAt[${operator}]=2026-01-31`, `"seenAt[${operator}]" must be a date and time such as 2026-01-31T12:00:00Z`]
    ]),
    ['published[not]=yes', '"published[not]" must be true or false'],
    ['published[in]=true,',
      '"published[in]" must be true or false; for rows without a value, send "published[null]=true"'],
    ['rating[in]=1,,2', '"rating[in]" must be an integer; for rows without a value, send "rating[null]=true"'],
    ['rating[in]=1;2', '"rating[in]" must be an integer'],
    ['rating[in]=1,x', '"rating[in]" must be an integer'],
    ...['title', 'rating', 'price', 'published', 'dueOn', 'at', 'seenAt',
      'owner'].flatMap((name): Array<[string, string]> => ['', 'yes', 'null', 'TRUE', ' true',
      '2'].map((text) => [`${name}[null]=${text}`, `"${name}[null]" must be true or false`])),
    ...['not', 'in', 'contains', 'starts'].map((operator): [string, string] => [`title[${operator}]=%00`,
      `"title[${operator}]" must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored`]),
    ['title[contains]=', '"title[contains]" must not be empty'],
    ['title[starts]=', '"title[starts]" must not be empty'], ['note[contains]=', '"note[contains]" must not be empty']
  ])
})

t.test('an operator that the type does not have is refused, with those that it has', async (t) => {
  const operators: ReadonlyArray<readonly [name: string, has: string]> = [
    ['title', OF_TEXT], ['note', OF_TEXT], ['status', OF_TEXT], ['email', OF_TEXT], ['rating', OF_NUMBER],
    ['price', OF_NUMBER], ['dueOn', OF_NUMBER], ['at', OF_NUMBER], ['seenAt', OF_NUMBER],
    ['published', 'not, in, null'], ['owner', 'not, in, null']
  ]
  for (const [name, has] of operators) {
    const missing = ['gte', 'gt', 'lte', 'lt', 'contains', 'starts', 'not', 'in',
      'null'].filter((operator) => !has.split(', ').includes(operator))
    const other = ['eq', 'GTE', 'like', '', ' in', 'in]', 'gte][x', '__proto__', 'constructor', '0']
    await checkRefused(t, await serve(t),
      [...missing, ...other].map((operator) => [`${name}[${operator}]=1`,
        `the parameter "${name}[${operator}]" is unknown; "${name}" takes one of these operators in brackets: ${has}`]))
  }
})

t.test('brackets that are not closed, nested, or of no attribute are refused', async (t) => {
  const has = `; "rating" takes one of these operators in brackets: ${OF_NUMBER}`
  await checkRefused(t, await serve(t), [
    ...['rating[', 'rating[gte', 'rating[]', 'rating[gte][x]', 'rating[gte][]', 'rating[[gte]]', 'rating[gte]x',
      'rating[or][gte]', 'rating[in][]'].map((name): [string, string] => [`${name}=1`,
        `the parameter "${name}" is unknown${has}`]),
    ['rating]=1', 'the parameter "rating]" is unknown; did you mean "rating"?'],
    ['raiting[gte]=1', 'the parameter "raiting[gte]" is unknown; did you mean "rating[gte]"?'],
    ['tags[contains]=x', 'the parameter "tags[contains]" is unknown; did you mean "status[contains]"?'],
    ['or[0][rating]=1', 'the parameter "or[0][rating]" is unknown'],
    ['id[null]=1',
      'the parameter "id[null]" is unknown; "id" takes one of these operators in brackets: gte, gt, lte, lt, not, in']
  ])
})

t.test('no message suggests a writeOnly attribute', async (t) => {
  const app = await serve(t)
  for (const query of ['secret=tea', 'secret[contains]=tea', 'secret[null]=true', 'secre[starts]=t', 'secret[x]=y']) {
    const { statusCode, body } = await app.inject(`/posts.json?${query}`)
    t.equal(statusCode, 400)
    t.notMatch(detailOf.json(body).replace(/^the parameter "[^"]*"/, ''), 'secret')
  }
})

t.test('a parameter may be given once', async (t) => {
  await checkRefused(t, await serve(t), [
    ['rating[gte]=1&rating[gte]=2', 'the parameter "rating[gte]" must be given once'],
    ['rating[gte]=1&rating%5Bgte%5D=1', 'the parameter "rating[gte]" must be given once'],
    ['status[in]=a&status[in]=b', 'the parameter "status[in]" must be given once'],
    ['q=a&q=b', 'the parameter "q" must be given once']
  ])
})

t.test('texts, words and values have limits', async (t) => {
  const app = await serve(t)
  const statusOf = async (query: Record<string, string>): Promise<number> =>
    (await app.inject({ url: '/posts.json', query })).statusCode
  const values = (count: number): string => Array.from({ length: count }, (_, index) => index).join()
  for (const query of [
    { 'title[contains]': 'x'.repeat(200) }, { 'title[starts]': '\u{1f984}'.repeat(200) }, { q: 'x'.repeat(200) },
    { q: '\u{1f984}'.repeat(200) }, { q: 'a b c d e f g h i j' }, { 'rating[in]': values(1000) },
    { 'title[in]': ','.repeat(999) }, { 'title[in]': '\\,'.repeat(999) }, { title: 'x'.repeat(4000) }
  ]) t.equal(await statusOf(query), 200, JSON.stringify(query).slice(0, 60))
  const long = (name: string): string => `"${name}" must have at most 200 characters`
  await checkRefused(t, app, [
    ['title[contains]=' + 'x'.repeat(201), long('title[contains]')],
    ['title[contains]=' + 'x'.repeat(10_000), long('title[contains]')],
    ['title[starts]=' + '%F0%9F%A6%84'.repeat(201), long('title[starts]')], ['q=' + 'x'.repeat(201), long('q')],
    ['q=' + '+'.repeat(201), long('q')],
    ['rating[in]=' + values(1001), '"rating[in]" must have at most 1000 values'],
    ['title[in]=' + ','.repeat(1000), '"title[in]" must have at most 1000 values'],
    ['title[in]=' + ','.repeat(30_000), '"title[in]" must have at most 1000 values'],
    ['q=a+b+c+d+e+f+g+h+i+j+k', '"q" must have at most 10 words'],
    ['q=a+a+a+a+a+a+a+a+a+a+a', '"q" must have at most 10 words']
  ])
})

t.test('a search finds the rows that have each word in a text', async (t) => {
  const app = await serve(t)
  await checkFound(t, app, [
    [{ q: 'green' }, [1, 4]], [{ q: 'GREEN tea' }, [1]], [{ q: '  tea \u00a0 green ' }, [1]], [{ q: 'tea hot' }, [1]],
    [{ q: 'tea green coffee' }, []], [{ q: 'a@tea.example' }, [1]], [{ q: '%' }, [3]], [{ q: '_\\' }, [3]],
    [{ q: 'tea,' }, [2]], [{ q: 'a,b' }, [3]],
    // No dates, times, UUIDs, numbers and writeOnly attributes.
    [{ q: '2026' }, []], [{ q: '12:00' }, []], [{ q: '0190a6b0' }, []], [{ q: '5' }, []],
    [{ q: 'tea', sort: '-id' }, [2, 1]]
  ])
  await checkRefused(t, app, [['q=', '"q" must not be empty'], ['q=+', '"q" must have a word'],
    ['q=%09%C2%A0', '"q" must have a word'],
    ['q=%00', '"q" must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored']])
})

t.test('blank=any leaves out operators and searches without a value', async (t) => {
  await checkFound(t, await serve(t),
    [[{ blank: 'any', 'rating[gte]': '', 'title[contains]': '', q: '', 'rating[null]': '', rating: '' },
      [1, 2, 3, 4, 5]], [{ blank: 'any', 'rating[gte]': '4', 'rating[lt]': '' }, [1, 4]]])
  await checkRefused(t, await serve(t), [['blank=any&q=+', '"q" must have a word'],
    ['blank=any&rating[x]=',
      `the parameter "rating[x]" is unknown; "rating" takes one of these operators in brackets: ${OF_NUMBER}`]])
})

const RESERVED = ['format', 'limit', 'after', 'before', 'sort', 'blank', 'q', 'count', 'only', 'include']

t.test('an attribute with the name of a parameter takes only operators in brackets', async (t) => {
  const properties = Object.fromEntries(RESERVED.map((name) => [name, { type: 'string' }]))
  const store = seeded([Object.fromEntries(RESERVED.map((name) => [name, `a ${name}`])),
    Object.fromEntries(RESERVED.map((name) => [name, 'b']))])
  const app = await serve(t, {
    attributes: { type: 'object', properties } as AttributesSchema, store, html: { columns: [] }
  })
  for (const name of RESERVED) {
    for (const [query, found] of [[{ [`${name}[contains]`]: 'A ' }, [1]], [{ [`${name}[in]`]: 'b' }, [2]],
      [{ [`${name}[not]`]: 'b' }, [1]]] as const) {
      const { body } = await app.inject({ url: '/posts.json', query })
      t.strictSame(listed.json(body), found, JSON.stringify(query))
    }
  }
  for (const name of ['format', 'limit', 'after', 'blank']) {
    t.not((await app.inject({ url: '/posts', query: { [name]: 'b' } })).statusCode, 200, name)
  }
  t.strictSame(listed.json((await app.inject({ url: '/posts.json', query: { q: 'only' } })).body), [1],
    'q searches in all of them')
})

t.test('routes offer only what the store declares', async (t) => {
  const { capabilities: _, ...store } = seeded()
  const cases: ReadonlyArray<readonly [capabilities: Capabilities | undefined, good: readonly string[],
    bad: ReadonlyArray<readonly [query: string, says: string]>]> = [
      [undefined, [], [['rating=5', 'the parameter "rating" is unknown'],
        ['rating[in]=5', 'the parameter "rating[in]" is unknown'], ['q=tea', 'the parameter "q" is unknown'],
        ['blank=any', 'the parameter "blank" is unknown']]],
      [{ filter: false, search: false }, [], [['rating=5', 'the parameter "rating" is unknown'],
        ['q=tea', 'the parameter "q" is unknown']]],
      [{ filter: ['in'] }, ['rating=5', 'rating[in]=4,5', 'blank=any&rating='],
        [['rating[gte]=1',
          'the parameter "rating[gte]" is unknown; "rating" takes one of these operators in brackets: in'],
        ['title[contains]=x',
          'the parameter "title[contains]" is unknown; "title" takes one of these operators in brackets: in'],
        ['q=tea', 'the parameter "q" is unknown']]],
      [{ filter: [] }, ['rating=5'], [['rating[in]=5',
        'the parameter "rating[in]" is unknown; "rating" takes no operators'],
      ['rating[null]=true', 'the parameter "rating[null]" is unknown; "rating" takes no operators']]],
      [{ filter: ['eq', 'null', 'gte'] }, ['rating=5', 'rating[gte]=5', 'rating[null]=true', 'title[null]=true'],
        [['rating[gt]=1',
          'the parameter "rating[gt]" is unknown; "rating" takes one of these operators in brackets: gte, null'],
        ['title[gte]=1',
          'the parameter "title[gte]" is unknown; "title" takes one of these operators in brackets: null']]],
      [{ filter: true }, ['rating=5', 'rating[gte]=5', 'title[contains]=x'],
        [['q=tea', 'the parameter "q" is unknown']]],
      [{ filter: ['in'], search: true }, ['q=tea', 'rating=5'], []],
      // Without filters, no attribute is searched unless the app names it.
      [{ search: true }, [], [['q=tea', 'the parameter "q" is unknown'],
        ['rating=5', 'the parameter "rating" is unknown']]]
    ]
  for (const [capabilities, good, bad] of cases) {
    await t.test(JSON.stringify(capabilities), async (t) => {
      const app = await serve(t, { store: capabilities === undefined ? store : { ...store, capabilities } })
      for (const query of good) t.equal((await app.inject(`/posts.json?${query}`)).statusCode, 200, query)
      for (const [query, says] of bad) {
        const { statusCode, body } = await app.inject(`/posts.json?${query}`)
        t.strictSame([statusCode, detailOf.json(body).replace(/; did you mean.*$/, '')], [400, says], query)
      }
    })
  }
})

t.test('the options "filter" and "search" choose the attributes', async (t) => {
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions>,
    found: ReadonlyArray<readonly [query: Record<string, string>, ids: readonly number[]]>,
      refused: readonly string[]]> = [
        [{ search: ['note'] }, [[{ q: 'green' }, [4]], [{ 'title[contains]': 'green' }, [1]]], []],
        [{ search: ['title', 'note', 'title'] }, [[{ q: 'green' }, [1, 4]], [{ q: 'draft' }, []]], []],
        [{ search: [] }, [[{ 'title[contains]': 'green' }, [1]]], ['q=green']],
        [{ filter: ['note'] }, [[{ q: 'green' }, [4]], [{ 'note[starts]': 'gr' }, [4]]],
          ['title[contains]=green', 'title=Green+Tea', 'rating[gte]=1']],
        [{ filter: ['rating'] }, [[{ 'rating[gte]': '5' }, [1]]], ['q=green', 'title[contains]=green']],
        [{ filter: [] }, [], ['q=green', 'rating[gte]=1', 'blank=any']],
        // The app names what `q` reveals.
        [{ filter: [], search: ['title'] }, [[{ q: 'green' }, [1]], [{ q: 'hot' }, []],
          [{ blank: 'any', q: '' }, [1, 2, 3, 4, 5]]], ['title[contains]=green']]
      ]
  for (const [options, found, refused] of cases) {
    await t.test(JSON.stringify(options), async (t) => {
      const app = await serve(t, options)
      for (const [query, ids] of found) {
        t.strictSame(listed.json((await app.inject({ url: '/posts.json', query })).body), ids, JSON.stringify(query))
      }
      for (const query of refused) {
        t.match((await app.inject(`/posts.json?${query}`)).json(),
          { status: 400, detail: /^the parameter "[^"]+" is unknown/ }, query)
      }
    })
  }
})

t.test('an option "search" that cannot be is refused at registration', async (t) => {
  const { capabilities: _, ...plain } = memoryStore()
  const kind = 'a string, perhaps with null, and no decimal, date, time, UUID or base64'
  const cases: ReadonlyArray<readonly [options: Record<string, unknown>, says: string]> = [
    [{ search: 'title' }, 'must be a list of attributes such as [\'title\']'],
    [{ search: ['titel'] }, 'names "titel", which is not among the attributes declared; did you mean "title"?'],
    [{ search: ['id'] }, 'names "id", which is not among the attributes declared'],
    [{ search: ['secret'] }, 'names "secret", which is writeOnly: its values would be revealed'],
    ...['rating', 'price', 'published', 'dueOn', 'at', 'seenAt', 'owner',
      'tags'].map((name): [Record<string, unknown>, string] => [{ search: [name] },
        `names "${name}", which must be ${kind}`]),
    [{ search: ['title'], store: plain },
      'names attributes, but the store cannot search texts: it does not declare "capabilities.search"'],
    [{ search: ['title'], store: { ...plain, capabilities: { filter: true, search: false } } },
      'names attributes, but the store cannot search texts: it does not declare "capabilities.search"']
  ]
  for (const [options, says] of cases) {
    await t.rejects(serve(t, options as Partial<ResourceOptions>),
      {
        code: 'FST_RESOURCES_INVALID_OPTION',
        message: `Option "search" of resource "posts" ${says}${says.endsWith('?') ? '' : '.'}`
      }, JSON.stringify(options.search))
  }
  for (const search of [[], ['title', 'note', 'status', 'email']]) {
    await t.resolves(serve(t, { search }), JSON.stringify(search))
  }
  await t.resolves(serve(t, { search: [], store: plain }), 'no attributes, no search')
})

t.test('a store is given conditions with converted values, and words', async (t) => {
  const given: unknown[] = []
  const store = seeded()
  const list: Store['list'] = (query, context) => {
    given.push([query.filter, query.search])
    return store.list(query, context) as Iterable<readonly Row[]>
  }
  const app = await serve(t, { store: { ...store, list }, search: ['title'] })
  const query = {
    'rating[gte]': '3',
    'rating[in]': '5,3',
    'published[not]': '0',
    'dueOn[null]': 'true',
    note: '',
    rating: '',
    price: '1',
    'title[starts]': '5',
    q: ' a  b '
  }
  t.equal((await app.inject({ url: '/posts.json', query })).statusCode, 200)
  t.equal((await app.inject('/posts.json')).statusCode, 200)
  t.strictSame(given, [
    [[{ attribute: 'rating', operator: 'gte', value: 3 }, { attribute: 'rating', operator: 'in', value: [5, 3] },
      { attribute: 'published', operator: 'not', value: false }, { attribute: 'dueOn', operator: 'null', value: true },
      { attribute: 'note', operator: 'eq', value: '' }, { attribute: 'rating', operator: 'null', value: true },
      { attribute: 'price', operator: 'eq', value: 1 }, { attribute: 'title', operator: 'starts', value: '5' }],
    { words: ['a', 'b'], attributes: ['title'] }],
    [[], undefined]
  ])
})

t.test('a search that a page sends without a word is none', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: { type: 'object', properties: { title: { type: 'string' } } }
  })
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'x' } } })
  for (const query of ['q=', 'q=&sort=title', 'q=&title=x']) {
    t.match(await app.inject(`/posts.html?${query}`), { statusCode: 200, body: /name="q" value=""/ }, query)
    t.equal((await app.inject(`/posts.json?${query}`)).statusCode, 400, `${query} in JSON`)
  }
})

t.test('dates and times are filtered by a range', async (t) => {
  const kinds = {
    day: { type: ['string', 'null'], format: 'date' },
    at: { type: 'string', format: 'date-time' },
    clock: { type: 'string', format: 'time-local' },
    zoned: { type: 'string', format: 'time' },
    status: { enum: ['a', 'b'] }
  }
  const rows = [1, 2, 3].map((day) => ({
    day: `2026-01-0${day}`,
    at: `2026-01-0${day}T12:00:00Z`,
    clock: `0${day}:00:00`,
    zoned: `0${day}:00:00Z`,
    status: 'a'
  }))
  const { app } = await seededPages(t, rows, { attributes: schemaOf(kinds, ['at', 'clock', 'zoned']) })
  const open = async (query: string): Promise<LightMyRequestResponse> => get(app, `/posts?${query}`)
  const kindsOf = (res: LightMyRequestResponse): unknown => ['filter[from]', 'filter[to]'].map((name) => {
    const [control] = visible(findForm(res, 'GET'), name)
    return [control?.type, control?.value, control?.attributes.autofocus]
  })
  const cases: Array<[by: string, type: string, links: string[]]> = [
    ['day[gte]', 'date', ['Today', 'Last 7 days', 'This month', 'is blank']],
    ['zoned[gte]', 'text', []]
  ]
  for (const [by, type, links] of cases) {
    const res = await open(new URLSearchParams({ 'filter[by]': by }).toString())
    const elements = isSound(t, res, 200, by)
    t.strictSame(kindsOf(res), [[type, '', 'autofocus'], [type, '', undefined]], by)
    const all = ['Today', 'Last 7 days', 'This month', 'is blank']
    t.strictSame(all.filter((label) => linksOf(elements, label).length > 0), links, by)
  }
  const ranges: Array<[fields: Record<string, string>, ids: number[], query: string]> = [
    [{ by: 'day[gte]', from: '2026-01-02' }, [2, 3], 'day%5Bgte%5D=2026-01-02'],
    [{ by: 'day[gte]', from: '', to: '2026-01-02' }, [1, 2], 'day%5Blte%5D=2026-01-02'],
    [{ by: 'day[lte]', from: '2026-01-02', to: '2026-01-02' }, [2], 'day%5Bgte%5D=2026-01-02&day%5Blte%5D=2026-01-02'],
    [{ by: 'at[gte]', from: '2026-01-02T12:00', to: '' }, [2, 3], 'at%5Bgte%5D=2026-01-02T12%3A00%3A00Z'],
    [{ by: 'clock[gte]', from: '02:00', to: '02:30' }, [2], 'clock%5Bgte%5D=02%3A00%3A00&clock%5Blte%5D=02%3A30%3A00']
  ]
  for (const [fields, ids, query] of ranges) {
    const sent = Object.entries(fields).map(([name, value]): [string, string] => [`filter[${name}]`, value])
    const res = await open(new URLSearchParams([['status', 'a'], ['day[gte]', '2025-01-01'], ...sent]).toString())
    t.strictSame(idsOf(res.body), ids, query)
    const kept = fields.by?.startsWith('day') === true ? '' : 'day%5Bgte%5D=2025-01-01&'
    t.strictSame(linksOf(isSound(t, res, 200), 'JSON')[0], `/posts.json?status=a&${kept}${query}`)
  }
  const both = 'day[gte]=2026-01-02&day[lte]=2026-01-03&' +
    'at[gte]=2026-01-01T10:00:00Z&at[lte]=2027-01-01T10:00:00%2B01:00'
  t.strictSame(kindsOf(await open(`${both}&filter[by]=day[gte]`)),
    [['date', '2026-01-02', 'autofocus'], ['date', '2026-01-03', undefined]], 'the range can be changed')
  t.strictSame(kindsOf(await open(`${both}&filter[by]=at[gte]`)),
    [['datetime-local', '2026-01-01T10:00', 'autofocus'], ['text', '2027-01-01T10:00:00+01:00', undefined]])
  const elements = isSound(t, await open(`${both}&day[gt]=2020-01-01&filter[by]=day[gte]`), 200)
  t.match(linksOf(elements, 'is blank'), [/^\/posts\?at%5Bgte%5D=[^&]*&at%5Blte%5D=[^&]*&day%5Bnull%5D=true$/],
    'a link replaces the range')
  const refused = await open('filter[by]=day[gte]&filter[from]=2026-01-01&filter[to]=2026-02-31')
  isSound(t, refused, 400)
  t.strictSame(kindsOf(refused), [['date', '2026-01-01', undefined], ['text', '2026-02-31', 'autofocus']])
  t.match(refused.body, /id="filter!to"[^>]* aria-invalid="true" aria-describedby="filter!error"/)
  t.equal((await open('filter[by]=status&filter[from]=a')).statusCode, 400, 'an enumeration has no range')
  const { app: empty } = await seededPages(t, [], { attributes: schemaOf(kinds) })
  t.match((await get(empty, '/posts?filter[by]=day[gte]&filter[from]=2026-02-31')).body, 'id="filter!error"',
    'an empty list shows the fields, too')
  t.match((await open('filter[from]=a')).body, '&quot;filter[from]&quot; needs &quot;filter[by]&quot;')
})

t.test('dates in a spelling of their own are compared by day, if an example tells the spelling', async (t) => {
  const at = { type: ['string', 'null'], format: 'date-time-text', examples: ['2000-01-31 13:45:00'] }
  const odd = { type: 'string', format: 'date-time-text' }
  const rows = ['2026-01-01 00:00:00', '2026-01-02 00:00:00', '2026-01-02 23:59:59', '2026-01-03 08:00:00', null]
    .map((at) => ({ at, odd: '1 May' }))
  const { app } = await seededPages(t, rows, { attributes: schemaOf({ at, odd }) })
  const cases: Array<[query: string, ids: number[]]> = [
    ['at[gte]=2026-01-02', [2, 3, 4]],
    ['at[gt]=2026-01-02', [4]],
    ['at[lte]=2026-01-02', [1, 2, 3]],
    ['at[lt]=2026-01-02', [1]],
    ['at[gte]=2026-01-02&at[lte]=2026-01-02', [2, 3]],
    ['at[lte]=9999-12-31', [1, 2, 3, 4]],
    ['at=2026-01-02%2000:00:00', [2]],
    ['at[starts]=2026-01-02', [2, 3]],
    ['filter[by]=at[gte]&filter[from]=2026-01-02&filter[to]=2026-01-02', [2, 3]]
  ]
  for (const [query, ids] of cases) {
    const url = query.startsWith('filter') ? `/posts?${query}` : `/posts.json?${query}`
    const { body } = await get(app, url)
    const found = query.startsWith('filter')
      ? [...body.matchAll(/<a href="\/posts\/(\d)">/g)].map(([, id]) => Number(id))
      : JSON.parse(body).posts.map(({ id }: { id: number }) => id)
    t.strictSame(found, ids, query)
  }
  for (const query of ['at[gte]=2026-01-02%2000:00:00', 'at[lte]=2026-02-31', 'at[gt]=', 'odd[gte]=2026-01-01']) {
    t.equal((await get(app, `/posts.json?${query}`)).statusCode, 400, query)
  }
  const form = await get(app, '/posts?filter[by]=at[gte]')
  isSound(t, form, 200)
  t.match(form.body, /<input type="date"[^>]* name="filter\[from\]"|name="filter\[from\]"[^>]* type="date"/)
  t.match(form.body, '>Last 7 days</a>')
  const shown = await get(app, '/posts?at[gte]=2026-01-02')
  t.match(shown.body, /At[^<]*Jan 2, 2026/)
  t.match((await get(app, '/posts?filter[by]=odd[contains]')).body, 'id="filter!value"', 'other dates are texts')
})

t.test('periods begin and end with the days of a time zone', async (t) => {
  const at = new Date('2026-03-29T22:30:00Z')
  t.strictSame(findPeriods('date', undefined, at).map(({ conditions }) => conditions), [
    { gte: '2026-03-29', lte: '2026-03-29' },
    { gte: '2026-03-23', lte: '2026-03-29' },
    { gte: '2026-03-01', lte: '2026-03-31' }
  ])
  t.strictSame(findPeriods('date-time', 'Europe/Berlin', at).map(({ conditions }) => conditions), [
    { gte: '2026-03-30T00:00:00+02:00', lt: '2026-03-31T00:00:00+02:00' },
    { gte: '2026-03-24T00:00:00+01:00', lt: '2026-03-31T00:00:00+02:00' },
    { gte: '2026-03-01T00:00:00+01:00', lt: '2026-04-01T00:00:00+02:00' }
  ], 'the clocks were changed on March 29')
  t.strictSame(findPeriods('date-time-local', 'Asia/Tokyo', new Date('2026-12-31T16:00:00Z'))[2], {
    period: 'thisMonth', conditions: { gte: '2027-01-01T00:00:00', lt: '2027-02-01T00:00:00' }
  })
  t.strictSame(findPeriods('date-time', undefined, at)[0]?.conditions,
    { gte: '2026-03-29T00:00:00Z', lt: '2026-03-30T00:00:00Z' })
  t.strictSame(findPeriods('time', undefined), [])
})

t.test('the values of enumerations and flags are links, up to eight of three attributes', async (t) => {
  const kinds = {
    text: { type: 'string' },
    status: { enum: ['draft', 'live'] },
    many: { enum: [1, 2, 3, 4, 5, 6, 7, 8, 9].map(String) },
    flag: { type: 'boolean' },
    third: { enum: ['x'] },
    fourth: { enum: ['y'] }
  }
  const row = { text: 'A', status: 'draft', many: '1', flag: true, third: 'x', fourth: 'y' }
  const { app } = await seededPages(t, [row, { ...row, status: 'live' }], { attributes: schemaOf(kinds) })
  const groups = ({ body }: LightMyRequestResponse): string[] =>
    [...body.matchAll(/<div class="conditions" role="group" aria-label="([^"]*)">/g)].map(([, label = '']) => label)
  const res = await get(app, '/posts?sort=text')
  const elements = isSound(t, res, 200)
  t.strictSame(groups(res), ['Filter by', 'Status', 'Flag', 'Third'])
  t.strictSame(linksOf(elements, 'live 1'), ['/posts?sort=text&status=live'])
  t.strictSame(linksOf(elements, 'yes 2'), ['/posts?sort=text&flag=true'])
  const live = await get(app, '/posts?status=live')
  t.strictSame([idsOf(live.body), groups(live)], [[2], ['Filter by', 'Status', 'Flag', 'Third']],
    'the links of a chosen value stay')
  t.strictSame(groups(await get(app, '/posts?status[not]=live')), ['Filter by', 'Flag', 'Third'])
  const { app: narrow } = await seededPages(t, [row], { attributes: schemaOf(kinds), html: { columns: ['flag'] } })
  t.strictSame(groups(await get(narrow, '/posts')), ['Filter by', 'Flag'], 'only the attributes that the filter offers')
})
