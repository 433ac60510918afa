import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { type AddressInfo, connect } from 'node:net'
import { type Attributes, memoryStore, type MemoryStore, type ResourceOptions, type Store } from '../../../lib/index.js'
import { build, draft, types } from '../../support/helper.js'
import { fill, type Filled, findButton, findForm, submit } from '../../support/html/forms.js'
import { recordingStore } from '../../support/stores/recording-store.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    price: { type: 'number' },
    published: { type: 'boolean' },
    limit: { type: ['integer', 'null'] },
    secret: { type: 'string', writeOnly: true }
  }
} as const

const seeds: Attributes[] = [
  { title: 'green tea', rating: 5, price: 1.5, published: true, limit: 1, secret: 's' },
  { title: 'a,b\\c', rating: null, price: -1, published: false, limit: null },
  { title: 'a\r\nb', rating: 3, price: 1e21, published: true, limit: 2 },
  { title: 'Grün & <b>"tea"</b> 100%', rating: 5, price: 1e-7, published: false, limit: 3 },
  { title: '', rating: 1, price: 0, published: true, limit: 4 },
  { title: '\u{1f984}=+', rating: 2, price: 2, published: true, limit: null }
]

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const ACCEPTED = '"application/x-www-form-urlencoded", "application/json"'
const kinds = ['xml', 'json', 'html'] as const

function seeded (rows = seeds): MemoryStore {
  const store = memoryStore()
  for (const row of rows) store.create(row, {})
  return store
}

async function serve (t: Test, options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes, store: seeded(), ...options })
}

interface Sent {
  readonly url?: string
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a QUERY. A text is a form, and other values are JSON, unless `type` says otherwise. */
async function query (app: FastifyInstance, payload: unknown, {
  url = '/posts.json', headers = {}, ...sent
}: Sent = {}): Promise<LightMyRequestResponse> {
  const type = 'type' in sent ? sent.type : typeof payload === 'string' ? FORM : JSON_TYPE
  return await app.inject({
    method: 'QUERY',
    url,
    headers: { ...headers, ...(type !== undefined && { 'content-type': type }) },
    payload: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  })
}

const encode = (parameters: Readonly<Record<string, string>>): string => new URLSearchParams(parameters).toString()

/** Returns the headers without those that only a QUERY has. */
function sharedHeaders ({
  headers: { date: _date, location: _location, 'next-after': _after, ...shared }
}: LightMyRequestResponse): object {
  return shared
}

// The parameters of a GET, and bodies in JSON that ask for the same.
const same: ReadonlyArray<readonly [parameters: Readonly<Record<string, string>>, ...bodies: unknown[]]> = [
  [{}, {}],
  [{ limit: '2' }, { limit: 2 }, { limit: '2' }],
  [{ limit: '2', sort: '-rating,title' }, { limit: 2, sort: '-rating,title' }],
  [{ rating: '5' }, { rating: 5 }, { rating: '5' }],
  [{ 'rating[gte]': '2', 'rating[lt]': '5' }, { 'rating[gte]': 2, 'rating[lt]': 5 }, { rating: { gte: 2, lt: 5 } },
    { rating: { gte: '2' }, 'rating[lt]': 5 }],
  [{ 'rating[null]': 'true' }, { rating: null }, { 'rating[null]': true }, { rating: { null: true } }],
  [{ 'limit[null]': 'true', limit: '1' }, { 'limit[null]': true, limit: 1 }],
  [{ 'rating[in]': '5,3' }, { 'rating[in]': [5, 3] }, { rating: { in: [5, '3'] } }, { rating: { in: '5,3' } }],
  [{ 'title[in]': 'a\\,b\\\\c,green tea' }, { 'title[in]': ['a,b\\c', 'green tea'] },
    { title: { in: 'a\\,b\\\\c,green tea' } }],
  [{ published: 'true', 'price[gte]': '1e+21' }, { published: true, 'price[gte]': 1e21 }],
  [{ 'price[lte]': '1e-7' }, { price: { lte: 1e-7 } }],
  [{ title: 'a\r\nb' }, { title: 'a\r\nb' }],
  [{ title: '' }, { title: '' }],
  [{ title: 'Grün & <b>"tea"</b> 100%' }, { title: 'Grün & <b>"tea"</b> 100%' }],
  [{ title: '\u{1f984}=+' }, { title: '\u{1f984}=+' }],
  [{ q: 'TEA gr' }, { q: 'TEA gr' }],
  [{ blank: 'any', rating: '', 'price[lt]': '2', limit: '1' }, { blank: 'any', rating: '', price: { lt: 2 }, limit: 1 }]
]

for (const kind of kinds) {
  t.test(`a QUERY has the answer of its GET: ${kind}`, async (t) => {
    const app = await serve(t)
    const url = `/posts.${kind}`
    for (const [parameters, ...bodies] of same) {
      const text = encode(parameters)
      const got = await app.inject(text === '' ? url : `${url}?${text}`)
      t.equal(got.statusCode, 200, text)
      t.equal(got.headers['accept-query'], ACCEPTED)
      for (const body of [text, ...bodies]) {
        const res = await query(app, body, { url })
        const name = `${text}: ${JSON.stringify(body)}`
        t.equal(res.statusCode, 200, name)
        t.ok(res.rawPayload.equals(got.rawPayload), name)
        t.strictSame(sharedHeaders(res), sharedHeaders(got), name)
        const equivalent = await app.inject(String(res.headers.location))
        t.ok(equivalent.rawPayload.equals(got.rawPayload), `${name}: ${String(res.headers.location)}`)
      }
    }
  })
}

t.test('the format of the answer is chosen as for a GET', async (t) => {
  const app = await serve(t)
  const cases: ReadonlyArray<readonly [name: string, body: unknown, sent: Sent, status: number, type: string]> = [
    ['nothing', {}, { url: '/posts' }, 200, types.xml],
    ['a form', '', { url: '/posts' }, 200, types.xml],
    ['Accept', {}, { url: '/posts', headers: { accept: 'text/html' } }, 200, types.html],
    ['the URL', {}, { url: '/posts?format=json' }, 200, types.json],
    ['the body', { format: 'json' }, { url: '/posts' }, 200, types.json],
    ['the body, before Accept', 'format=json', { url: '/posts', headers: { accept: 'image/png' } }, 200, types.json],
    ['an unknown format in the body', { format: 'csv' }, { url: '/posts' }, 406, types.xml],
    ['a format in both', { format: 'json' }, { url: '/posts?format=json' }, 400, types.problem]
  ]
  for (const [name, body, sent, status, type] of cases) {
    const res = await query(app, body, sent)
    t.strictSame([res.statusCode, res.headers['content-type']], [status, type], name)
  }
})

t.test('a faulty QUERY is refused with the name of what is wrong', async (t) => {
  const app = await serve(t)
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&')
  const cases: ReadonlyArray<readonly [body: unknown, status: number, detail: RegExp, sent?: Sent]> = [
    ['rating=5', 400, /^send the header Content-Type: application\/x-www-form-urlencoded or application\/json$/,
      { type: undefined }],
    ['', 400, /^the body is not valid JSON/, { type: JSON_TYPE }],
    [Buffer.from('{"title":"\xff"}', 'latin1'), 400, /^the body is not valid UTF-8$/, { type: JSON_TYPE }],
    ['title=%ff', 400, /percent escape/],
    ['{"rating":5}', 400, /looks like JSON/],
    ['<posts/>', 415,
      /^application\/xml cannot be read here; send application\/x-www-form-urlencoded, application\/json/,
      { type: 'application/xml' }],
    ['rating=5', 415, /^the content coding "gzip" cannot be read here/, { headers: { 'content-encoding': 'gzip' } }],
    [[], 400, /^the body must be an object that has the parameters$/],
    [{ raiting: 5 }, 400, /^the parameter "raiting" is unknown; did you mean "rating"\?$/],
    [{ secret: 's' }, 400, /^the parameter "secret" is unknown/],
    [{ rating: { like: 5 } }, 400, /^the parameter "rating\[like\]" is unknown; .*gte/],
    ['{"__proto__":{"limit":1}}', 400, /^the parameter "__proto__\[limit\]" is unknown/, { type: JSON_TYPE }],
    [{ rating: {} }, 400, /^"rating" must have an operator$/],
    [{ rating: { gte: { lt: 5 } } }, 400, /^"rating\[gte\]" must be a text, a number or a boolean, not an object$/],
    [{ rating: { gte: null } }, 400, /^"rating\[gte\]" must be .*, not null$/],
    [{ rating: { in: [[1]] } }, 400, /^"rating\[in\]" must be .*, not a list$/],
    [{ sort: ['title'] }, 400, /^"sort" must have one value, not a list$/],
    [{ rating: { in: [] } }, 400, /^"rating\[in\]" must have a value$/],
    [{ rating: { in: Array.from({ length: 1001 }, (_, index) => index) } }, 400,
      /^"rating\[in\]" must have at most 1000 values$/],
    [{ rating: true }, 400, /^"rating" must be an integer/],
    ['{"price":12345678901234567890}', 400,
      /^"price" has the number 12345678901234567890, which cannot be kept exactly/, { type: JSON_TYPE }],
    [{ rating: { gte: 5 }, 'rating[gte]': 5 }, 400, /^the parameter "rating\[gte\]" must be given once$/],
    ['limit=2', 400, /^the parameter "limit" must be in the body of a QUERY, whose URL may have "format" only$/,
      { url: '/posts.json?limit=2' }],
    ['', 400, /^the parameter "format" must be given once$/, { url: '/posts.json?format=json&format=json' }],
    [many(101), 400, /^a query must have at most 100 parameters$/],
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, 1])), 400,
      /^a query must have at most 100 parameters$/],
    [`title=${'x'.repeat(1024 * 1024)}`, 413, /too large/]
  ]
  for (const [body, status, detail, sent] of cases) {
    const res = await query(app, body, sent)
    const name = `${JSON.stringify(body).slice(0, 80)} ${JSON.stringify(sent ?? {})}`
    t.strictSame([res.statusCode, res.headers['content-type']], [status, types.problem], name)
    t.match((JSON.parse(res.body) as { detail: string }).detail, detail, name)
    t.notOk(res.headers.location, name)
    if (status === 415) t.strictSame([res.headers['accept-query'], res.headers.accept], [ACCEPTED, undefined], name)
  }
})

t.test('a QUERY is served where a list is, and Allow and Accept-Query say so', async (t) => {
  const app = await serve(t)
  const allow = 'GET, HEAD, QUERY, POST, PUT, DELETE, OPTIONS'
  for (const url of ['/posts', '/posts.xml']) {
    const options = await app.inject({ method: 'OPTIONS', url })
    t.strictSame([options.statusCode, options.headers.allow, options.headers['accept-query']], [204, allow, ACCEPTED])
    const refused = await app.inject({ method: 'PATCH', url })
    t.strictSame([refused.statusCode, refused.headers.allow], [405, allow])
    t.equal((await app.inject({ method: 'HEAD', url })).headers['accept-query'], ACCEPTED)
  }
  const member = await app.inject({ method: 'OPTIONS', url: '/posts/1' })
  t.strictSame([member.headers.allow, member.headers['accept-query']], ['GET, HEAD, OPTIONS', undefined])
  t.equal((await query(app, {}, { url: '/posts/1' })).statusCode, 405)
  t.equal((await query(app, {}, { url: '/posts/' })).statusCode, 404)
  t.same(app.resourceRoutes.filter(({ verb }) =>
    verb === 'QUERY').map(({ name, path, action }) => [name, path, action]), [['posts', '/posts', 'posts#list']])
  t.match(app.printResources(), /^ *posts +QUERY +\/posts +posts#list/m)
})

t.test('a browser may send a QUERY from another site, and nothing is written', async (t) => {
  const store = seeded()
  const app = await serve(t, { store })
  const before = (await app.inject('/posts.json')).body
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  t.equal((await query(app, {}, { headers })).statusCode, 200)
  t.equal((await query(app, { id: 1, post: { title: 'T' } }, { headers })).statusCode, 400)
  t.equal((await query(app, '_method=DELETE&id=1', { headers })).statusCode, 400)
  t.equal((await app.inject('/posts.json')).body, before)
})

t.test('hooks, authorize and scope apply as for a GET', async (t) => {
  const calls: unknown[] = []
  const app = await serve(t, {
    hooks: { onRequest: async ({ method, query }) => { calls.push(['onRequest', method, { ...query as object }]) } },
    actionHooks: {
      list: {
        preValidation: async ({ method, query, body }) => {
          calls.push(['list', method, { ...query as object }, body])
        }
      },
      create: { preValidation: async () => { calls.push('create') } }
    },
    scope: ({ headers }) => headers.only === undefined ? {} : { published: true },
    authorize: ({ headers }, { action }) => {
      calls.push(action)
      return headers.refuse === undefined
    },
    cacheControl: { list: 'public, max-age=60' }
  })
  const res = await query(app, { rating: { gte: 5 } }, { headers: { only: 'published' } })
  t.same((JSON.parse(res.body) as { posts: unknown[] }).posts.length, 1)
  t.equal(res.headers['cache-control'], 'public, max-age=60')
  t.strictSame(calls, [['onRequest', 'QUERY', {}], ['list', 'QUERY', { 'rating[gte]': '5' }, undefined], 'list'])
  const refused = await query(app, { rating: 5 }, { headers: { refuse: 'yes' } })
  t.strictSame([refused.statusCode, refused.headers.location, refused.headers['cache-control']],
    [403, undefined, 'private, no-cache'])
})

/** Reads a list page by page, with the cursor of each answer in the next QUERY. */
async function walk (app: FastifyInstance, body: object): Promise<{
  ids: number[], answers: LightMyRequestResponse[]
}> {
  const ids: number[] = []
  const answers: LightMyRequestResponse[] = []
  for (let after: string | undefined, more = true; more;) {
    const res = await query(app, { ...body, ...(after !== undefined && { after }) })
    answers.push(res)
    ids.push(...(JSON.parse(res.body) as { posts: Array<{ id: number }> }).posts.map(({ id }) => id))
    after = res.headers['next-after'] as string | undefined
    more = after !== undefined
  }
  return { ids, answers }
}

t.test('a QUERY pages by Next-After', async (t) => {
  for (const privateQueries of [false, true]) {
    const app = await serve(t, { privateQueries })
    for (const sort of ['id', '-rating', 'title,-price']) {
      const whole = JSON.parse((await app.inject(`/posts.json?sort=${sort}`)).body) as { posts: Array<{ id: number }> }
      const { ids, answers } = await walk(app, { sort, limit: 2 })
      t.same(ids, whole.posts.map(({ id }) => id), sort)
      t.equal(answers.length, 3)
      t.equal(answers.some(({ headers }) =>
        headers.location !== undefined || headers.link !== undefined), !privateQueries, sort)
    }
  }
})

t.test('the headers of a private QUERY have none of its values', async (t) => {
  const app = await serve(t, { privateQueries: true })
  const body = { title: { contains: 'tea' }, price: { lt: 77 }, limit: 1 }
  for (const kind of kinds) {
    const res = await query(app, body, { url: `/posts.${kind}` })
    t.equal(res.statusCode, 200)
    t.notMatch(JSON.stringify(res.headers), /tea|77|price/)
    t.match(res.headers['next-after'], /^[\w-]+$/)
    t.notOk('prev-before' in res.headers, 'the first page')
    const next = await query(app, { ...body, after: String(res.headers['next-after']) }, { url: `/posts.${kind}` })
    const back = await query(app, { ...body, before: String(next.headers['prev-before']) }, { url: `/posts.${kind}` })
    const beyond = await query(app, { ...body, after: 'Wzk5OTld' }, { url: `/posts.${kind}` })
    t.strictSame([beyond.statusCode, beyond.headers['prev-before'], beyond.headers['next-after']], [200, '', undefined],
      'an empty page')
    t.strictSame([back.statusCode, back.headers['next-after']], [200, res.headers['next-after']],
      'back on the first page')
    t.equal(res.body, (await app.inject(`/posts.${kind}?title[contains]=tea&price[lt]=77&limit=1`)).body)
  }
  t.notMatch((await app.inject('/posts?title=a&limit=1&sort=title')).headers.link, 'next')
  t.match((await app.inject('/posts?limit=1')).headers.link, /rel="next"/, 'a GET has chosen its URL itself')
  await t.rejects(serve(t, { privateQueries: 'yes' as unknown as boolean }), { code: 'FST_RESOURCES_INVALID_OPTION' })
})

t.test('a QUERY that is too long for a URL has no URL in its headers', async (t) => {
  const app = await serve(t)
  const lengthOf = (title: string): number => `/posts.json?title%5Bnot%5D=${title}&limit=2`.length
  for (const [excess, isLinked] of [[0, true], [1, false]] as const) {
    const title = 'x'.repeat(4000 + excess - lengthOf(''))
    const { ids, answers } = await walk(app, { 'title[not]': title, limit: 2 })
    t.same(ids, [1, 2, 3, 4, 5, 6])
    t.strictSame(answers.map(({ headers: { location, link } }) => [location !== undefined, link !== undefined]),
      [[isLinked, isLinked], [false, false], [false, false]])
  }
})

t.test('an answer that fails has no header of its query', async (t) => {
  const fails = (): never => { throw new Error('the view is broken') }
  const app = await serve(t, { html: { views: { list: fails } } })
  const res = await query(app, { limit: 1 }, { url: '/posts.html' })
  t.strictSame([res.statusCode, res.headers.location, res.headers['next-after'], res.headers.link],
    [500, undefined, undefined, undefined])
})

t.test('a QUERY travels over a socket', async (t) => {
  const app = await serve(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const body = '{"rating":{"gte":5},"limit":1}'
  socket.end(`QUERY /posts.json HTTP/1.1\r\nHost: blog.example\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ` +
    `${body.length}\r\nConnection: close\r\n\r\n${body}`)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, /\r\nlocation: \/posts\.json\?rating%5Bgte%5D=5&limit=1\r\n/)
  t.ok(answer.endsWith((await app.inject('/posts.json?rating[gte]=5&limit=1')).body))
})

const person = { type: 'object', properties: { name: { type: 'string' } } } as const

const task = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', maxLength: 9 },
    personId: { type: ['integer', 'null'], minimum: 1 },
    bossId: { type: 'integer', readOnly: true },
    hours: { type: 'number', default: 1.5 },
    cost: { type: 'string', format: 'decimal', precision: 6, scale: 2 },
    due: { type: 'string', format: 'date' },
    open: { type: 'boolean', default: true },
    level: { enum: ['low', 'high'], type: 'string' },
    code: { type: 'string', writeOnly: true },
    made: { type: 'string', readOnly: true },
    tags: { type: 'array', items: { type: 'string' } },
    format: { type: 'string' }
  }
} as const

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>
type App = Awaited<ReturnType<typeof draft>>
const NEW = { formPages: true } as const

async function start (t: Parameters<typeof draft>[0], options: Options = NEW, store: Store = recordingStore(
  [{ title: 'T', personId: 1, bossId: 1, tenant: 'a' }]
)): Promise<App> {
  return draft(t, (map) => {
    map.resources('people', { attributes: person, store: recordingStore([{ name: 'Ann' }]) })
    map.resources('tasks', {
      attributes: task, store, references: { personId: 'people', bossId: 'people' }, ...(options as object)
    })
  })
}

/** Returns the values with which the fields of the form for a new row begin. */
async function fieldsOn (app: App, url: string, headers: Record<string, string> = {}): Promise<Record<string, string>> {
  const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html', ...headers } })
  const form = /<form [^>]*action="\/tasks"(?:(?!<\/form>)[^])*name="task\[(?:(?!<\/form>)[^])*/.exec(body)?.[0] ?? ''
  const inputs = [
    ...form.matchAll(new RegExp('<input (?=[^>]*name="task\\[([a-zA-Z]+)\\]")(?=[^>]*\\bvalue="([^"]*)")' +
      '(?![^>]*type="(?:hidden|radio|checkbox)")[^>]*>', 'g'))]
  const checked = [
    ...form.matchAll(/<input (?=[^>]*name="task\[([a-zA-Z]+)\]")(?=[^>]*\bvalue="([^"]*)")(?=[^>]*checked)[^>]*>/g)]
  const texts = [...form.matchAll(/<textarea [^>]*name="task\[([a-zA-Z]+)\]"[^>]*>([^<]*)</g)]
  const selected = [
    ...form.matchAll(/<select [^>]*name="task\[([a-zA-Z]+)\]"(?:(?!<\/select>)[^])*<option value="([^"]*)" selected/g)]
  return {
    ...(statusCode !== 200 && { status: String(statusCode) }),
    ...Object.fromEntries([...inputs, ...checked, ...texts, ...selected].map(
      ([, name = '', value = '']) => [name, value.trim()]
    )
      .filter(([, value]) => value !== ''))
  }
}

const QUERY = 'title=Tea%20%3C&personId=7&hours=2&cost=9.50&due=2024-02-29&open=false&level=high'

t.test('the query fills in the form for a new row, and its record in XML and JSON', async (t) => {
  const app = await start(t)
  t.strictSame((await app.inject(`/tasks/new.json?${QUERY}`)).json(),
    { task: { title: 'Tea <', personId: 7, hours: 2, cost: '9.50', due: '2024-02-29', open: false, level: 'high' } })
  t.strictSame((await app.inject(`/tasks/new?${QUERY}&format=json`)).json().task.personId, 7)
  t.match((await app.inject(`/tasks/new.xml?${QUERY}`)).body,
    '<title>Tea &lt;</title><personId type="integer">7</personId>')
  t.strictSame(await fieldsOn(app, `/tasks/new?${QUERY}`),
    { title: 'Tea &lt;', personId: '7', hours: '2', cost: '9.50', due: '2024-02-29', level: 'high' },
    'the box is not ticked')
  t.strictSame(await fieldsOn(app, '/tasks/new'), { hours: '1.5', open: 'true' }, 'the next form has the defaults')
  t.strictSame((await app.inject('/tasks/new.json')).json(), { task: { hours: 1.5, open: true } })
  t.strictSame(await fieldsOn(app, '/tasks/new?personId='), { hours: '1.5', open: 'true' },
    'a blank text is null, where the schema allows it')
  t.strictSame((await app.inject('/tasks/new.json?personId=')).json().task.personId, null)
})

t.test('a refused value is a 400 that names the parameter, in the format of the client', async (t) => {
  const app = await start(t)
  const cases: ReadonlyArray<readonly [string, string]> = [
    ['personId=x', '"personId" must be an integer or null'],
    ['personId=0', 'PersonId must be at least 1'],
    ['title=much%20too%20long', 'Title must have at most 9 characters'],
    ['title=%00', '"title" must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored'],
    ['hours=', '"hours" must be a number'],
    ['cost=1.234', 'Cost must'],
    ['due=2023-02-29', 'Due must'],
    ['level=middle', 'Level must'],
    ['title=a&title=b', 'the parameter "title" must be given once'],
    ...['bossId', 'made', 'code', 'tags', 'id', 'nothing', 'title[not]'].map(
      (name) => [`${name}=1`, `the parameter "${name}" is unknown`] as const
    ),
    ['format=nothing', 'there is no format "nothing"']
  ]
  for (const [query, reason] of cases) {
    const {
      statusCode, body
    } = await app.inject({ url: `/tasks/new?${query}`, headers: { accept: 'application/json' } })
    t.equal(statusCode, query === 'format=nothing' ? 406 : 400, query)
    t.match(JSON.parse(body).detail.toLowerCase().replaceAll('"', ''), reason.toLowerCase().replaceAll('"', ''), query)
  }
  t.match((await app.inject({ url: '/tasks/new?personId=x', headers: { accept: 'application/xml' } })).body,
    'must be an integer or null')
  const page = await app.inject({ url: '/tasks/new?personId=x', headers: { accept: 'text/html' } })
  t.equal(page.statusCode, 400)
  t.match(page.body, 'must be an integer or null')
})

t.test('links to a new row lead to a form with the reference', async (t) => {
  const apart = await start(t)
  const linkOn = async (app: App, url: string): Promise<string | undefined> =>
    />New task<\/a>/.test((await app.inject({ url, headers: { accept: 'text/html' } })).body)
      ? [...(await app.inject({ url, headers: { accept: 'text/html' } })).body.matchAll(
          /href="([^"]*)"[^>]*>New task<\/a>/g)].map(([, href]) => href).join(' ')
      : undefined
  t.equal(await linkOn(apart, '/people/1'), '/tasks/new?personId=1 /tasks/new',
    'a query has no attribute that is readOnly')
  t.equal((await fieldsOn(apart, '/tasks/new?personId=1')).personId, '1')
  t.equal(await linkOn(apart, '/tasks?personId=1'), '/tasks/new?personId=1')
  t.equal(await linkOn(apart, '/tasks?personId='), '/tasks/new?personId=')
  for (const query of ['', '?title=T', '?personId[gte]=1', '?bossId=1', '?personId=x']) {
    t.equal(await linkOn(apart, `/tasks${query}`), '/tasks/new', query)
  }
  const within = await start(t, {})
  t.equal(await linkOn(within, '/people/1'), '/tasks?personId=1#new /tasks?bossId=1#new')
  t.equal((await fieldsOn(within, '/tasks?personId=1')).personId, '1')
  t.equal((await fieldsOn(within, '/tasks?title=T&personId=1&limit=1')).personId, '1', 'beside other parameters')
  for (const query of ['', '?title=T', '?personId[in]=1', '?bossId=1']) {
    t.strictSame(await fieldsOn(within, `/tasks${query}`), { hours: '1.5', open: 'true' }, query)
  }
  t.equal((await fieldsOn(within, '/tasks?personId=x')).personId, undefined, 'a refused condition')
})

t.test('the scope of the request decides about its attributes', async (t) => {
  const scope = (): { personId: number } => ({ personId: 3 })
  const apart = await start(t, { ...NEW, scope })
  t.strictSame((await apart.inject('/tasks/new.json?personId=4&title=T')).json(),
    { task: { title: 'T', hours: 1.5, open: true } })
  t.strictSame(await fieldsOn(apart, '/tasks/new?personId=4'), { hours: '1.5', open: 'true' })
  const within = await start(t, { scope })
  t.strictSame(await fieldsOn(within, '/tasks?personId=3'), { hours: '1.5', open: 'true' })
  const refused = await start(t, { ...NEW, authorize: (_request, { action }) => action !== 'new' })
  t.equal((await refused.inject('/tasks/new.json?personId=x')).statusCode, 403, 'before the query is read')
})

t.test('"Save and add another" keeps the references with which the form began', async (t) => {
  const cases: ReadonlyArray<readonly [options: Options, opened: string, filled: Filled, location: string]> = [
    [NEW, '/tasks/new?personId=7', {}, '/tasks/new?personId=7'],
    [NEW, '/tasks/new?personId=7', { 'task[personId]': '1' }, '/tasks/new?personId=1'],
    [NEW, '/tasks/new?personId=7', { 'task[personId]': '' }, '/tasks/new'],
    [NEW, '/tasks/new?title=T&hours=2', {}, '/tasks/new'],
    [NEW, '/tasks/new', { 'task[personId]': '1' }, '/tasks/new'],
    [{}, '/tasks?personId=7', {}, '/tasks?personId=7#new'],
    [{ filter: [] }, '/tasks', { 'task[personId]': '1' }, '/tasks#new'],
    [{}, '/tasks', {}, '/tasks#new']
  ]
  for (const [options, opened, filled, location] of cases) {
    const app = await start(t, options, memoryStore())
    const page = findForm(await app.inject({ url: opened, headers: { accept: 'text/html' } }), 'POST')
    // The form comes back once, because its title is too long.
    const refused = await app.inject(submit(fill(page, { ...filled, 'task[title]': 'far too long' }), undefined,
      { accept: 'text/html' }))
    t.equal(refused.statusCode, 422)
    const form = fill(findForm(refused, 'POST'), { 'task[title]': 'Tea' })
    const { statusCode, headers } = await app.inject(submit(form, findButton(form, 'commit'), { accept: 'text/html' }))
    t.strictSame([statusCode, headers.location], [303, location], opened)
    t.equal((await app.inject({ url: location.replace(/#.*/, ''), headers: { accept: 'text/html' } })).statusCode, 200)
  }
  for (const [options, again, location] of [[NEW, 'title personId made nope', '/tasks/new?personId=7'],
    [{ filter: [] }, 'personId', '/tasks#new']] as const) {
    const app = await start(t, options, memoryStore())
    const { headers } = await app.inject({
      method: 'POST',
      url: '/tasks',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: `task[title]=T&task[personId]=7&commit=another&task[?][again]=${again.replaceAll(' ', '+')}`
    })
    t.equal(headers.location, location, 'invented names are left out')
  }
})

t.test('"Save and add another" leads on where no blank form is, and needs no row', async (t) => {
  const cases: ReadonlyArray<readonly [options: Options, location: string]> = [
    [{ only: ['create', 'show'] }, '/tasks/1'],
    [{ actions: { create: () => undefined } }, '/tasks#new'],
    [{ ...NEW, actions: { create: () => undefined } }, '/tasks/new']
  ]
  for (const [options, location] of cases) {
    const app = await start(t, options, memoryStore())
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url: '/tasks',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'task[title]=T&task[personId]=7&commit=another&task[?][again]=personId'
    })
    t.strictSame([statusCode, headers.location], [303, location], JSON.stringify(options))
  }
})
