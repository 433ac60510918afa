import { join } from 'node:path'
import fastify, { type FastifyInstance, type LightMyRequestResponse as Response } from 'fastify'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const json = { accept: 'application/json' }
const server = await startPostgres(t)
let schemas = 0

/** Serves an SQLite database, which programs may write by its lists and by the paths of rows. */
async function serve (t: Test, sql: string): Promise<FastifyInstance> {
  const opened = makeDatabase(sql)
  t.teardown(() => opened.close())
  return start(t, { database: opened })
}

/** Serves the tables of a new schema in PostgreSQL in the same way. */
async function servePostgres (t: Test, sql: string): Promise<FastifyInstance> {
  const schema = `odd${++schemas}`
  const pool = server.pool({ options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}; ${sql}`)
  return start(t, { pool, schema })
}

async function start (t: Test, source: DatabaseOptions): Promise<FastifyInstance> {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { ...source, write: true, defaults: { writes: 'both' } })
  await app.ready()
  return app
}

async function rowsOf (app: FastifyInstance, url: string, name: string): Promise<Array<Record<string, unknown>>> {
  return (await app.inject({ url, headers: json })).json()[name]
}

/** Normalizes a path as RFC 3986 §6.2.2 has it, with all that a program may do: letters and dots are decoded. */
function normalize (path: string): string {
  const decoded = path.replace(/%[\da-f]{2}/gi, (code) => {
    const character = decodeURIComponent(/%[89a-f]/i.test(code) ? '%20' : code)
    return /[\w.~-]/.test(character) ? character : code.toUpperCase()
  })
  const { pathname, search } = new URL(decoded, 'http://localhost')
  return pathname + search
}

const NAMES = [
  'data', 'data.xml', 'data.json', 'data.xml.json', 'data%2Exml', 'data%252Exml', 'data%2exml', '.', '..',
  '.csv', '.html', 'data.pdf', 'ü.html', 'a b.xml', '%.xml', '%25.xml', 'a/b', 'a?b', 'a#b',
  '<b>', '"', '+', '\\'
]

t.test('no normalization of a URL changes which row it names', async (t) => {
  const values = NAMES.map((name) => `('${name}', 'file ${name}')`).join(', ')
  const sql = `CREATE TABLE files (name TEXT PRIMARY KEY NOT NULL, note TEXT);
    CREATE TABLE uses (id INTEGER PRIMARY KEY, file TEXT NOT NULL REFERENCES files);
    INSERT INTO files VALUES ${values}; INSERT INTO uses (file) SELECT name FROM files`
  const app = await serve(t, sql)
  const names = async (): Promise<unknown[]> => (await rowsOf(app, '/files', 'files')).map(({ name }) => name)
  const shown = async (path: string): Promise<unknown> =>
    (await app.inject({ url: normalize(path), headers: json })).json().file?.name
  const pathsIn = (page: string): string[] =>
    [...page.matchAll(/<a href="(\/files\/[^"#]+)"/g)].map(([, path]) => path as string)

  await t.test('in the links of pages', async (t) => {
    for (const url of ['/files', '/uses']) {
      const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
      const paths = [...new Set(pathsIn(body))].filter((path) => !path.includes('?'))
      t.strictSame((await Promise.all(paths.map(shown))).sort(), [...NAMES].sort(), url)
      for (const path of paths) {
        const page = await app.inject({ url: normalize(path), headers: { accept: 'text/html' } })
        const [other] = pathsIn(page.body).filter((href) => href.endsWith('.json'))
        t.equal(await shown(other as string), await shown(path), `the page at ${path} links to its own row`)
      }
    }
  })

  await t.test('in cursors', async (t) => {
    const found: unknown[] = []
    for (let next: string | undefined = '/files?limit=1'; next !== undefined;) {
      const page: Response = await app.inject({ url: normalize(next), headers: json })
      found.push(...page.json().files.map(({ name }: { name: string }) => name))
      next = /<([^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1]
    }
    t.strictSame(found, await names())
  })

  await t.test('in Location, by which the row is changed and deleted', async (t) => {
    for (const { id } of await rowsOf(app, '/uses', 'uses')) {
      await app.inject({ method: 'DELETE', url: `/uses/${String(id)}` })
    }
    for (const { id } of await rowsOf(app, '/files', 'files')) {
      const deleted = await app.inject({ method: 'DELETE', url: '/files', payload: { id } })
      t.equal(deleted.statusCode, 204, String(id))
    }
    const locations = new Map<string, string>()
    for (const name of NAMES) {
      const created = await app.inject({ method: 'POST', url: '/files', headers: json, payload: { file: { name } } })
      locations.set(name, String(created.headers.location))
    }
    for (const [name, location] of locations) {
      const url = normalize(location)
      const changed = await app.inject({ method: 'PUT', url, headers: json, payload: { file: { note: 'changed' } } })
      t.match(changed.json(), { file: { name, note: 'changed' } }, location)
      const before = await names()
      t.equal((await app.inject({ method: 'DELETE', url })).statusCode, 204, location)
      t.strictSame(await names(), before.filter((other) => other !== name))
    }
  })
})

t.test('the white space of an id is kept, so that no other row is changed or deleted', async (t) => {
  const names = ['a', ' a', 'a ', ' ', '\n', '\t', 'a\nb', '\ufeffa']
  const values = names.map((name) => `('${name}', 'old')`).join(', ')
  const app = await serve(
    t, `CREATE TABLE files (name TEXT PRIMARY KEY NOT NULL, note TEXT); INSERT INTO files VALUES ${values}`
  )
  const notes = async (): Promise<unknown[]> => (await rowsOf(app, '/files', 'files')).map(
    ({ name, note }) => [name, note]
  )
  for (const { id, name } of await rowsOf(app, '/files', 'files')) {
    const { body: list } = await app.inject(`/files.xml?id=${encodeURIComponent(String(id))}`)
    const record = list.replaceAll(/<\/?files[^>]*>/g, '')
    const before = await notes()
    const send = async (method: 'PUT' | 'DELETE', payload: string): Promise<Response> =>
      app.inject({ method, url: '/files.xml', headers: { 'content-type': 'application/xml' }, payload })
    const changed = await send('PUT', record.replace('old', 'new'))
    t.equal(changed.statusCode, 200, `${JSON.stringify(name)}: ${changed.body}`)
    t.strictSame(await notes(), before.map((note) => (note as unknown[])[0] === name ? [name, 'new'] : note))
    t.equal((await send('DELETE', /<id[^]*<\/id>/.exec(record)?.[0] ?? '')).statusCode, 204, JSON.stringify(name))
    t.strictSame(await notes(), before.filter((note) => (note as unknown[])[0] !== name))
  }
})

type Serve = typeof serve
/** A created row, and the error without the attributes that the database does not fill in. */
type Case = readonly [serve: Serve, sql: string, path: string, given: object, created: object, missing: object]

const FILLED: readonly Case[] = [
  [
    servePostgres, 'CREATE TABLE tags (code text PRIMARY KEY DEFAULT gen_random_uuid()::text, n text)', 'tags',
    { n: 'x' }, { id: /^[\da-f-]{36}$/, code: /^[\da-f-]{36}$/, n: 'x' }, {}
  ],
  [
    servePostgres, 'CREATE TABLE parts (id bigserial, d date, n text, PRIMARY KEY (d, id))', 'parts',
    { d: '2026-01-31' }, { id: '2026-01-31,1', d: '2026-01-31', id_: 1 }, { d: ['must be given'] }
  ],
  [
    servePostgres, 'CREATE TABLE lines (d date, n text, no int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (d, no))',
    'lines', { d: '2026-01-31', n: 'x' }, { id: '2026-01-31,1', no: 1, n: 'x' }, { d: ['must be given'] }
  ],
  [
    serve, 'CREATE TABLE tags (code TEXT NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))), n TEXT)', 'tags',
    { n: 'x' }, { id: /^[\da-f]{32}$/, code: /^[\da-f]{32}$/, n: 'x' }, {}
  ],
  [
    serve,
    "CREATE TABLE parts (d TEXT NOT NULL DEFAULT (date('now')), area TEXT NOT NULL DEFAULT 'A', no INT NOT NULL, " +
      'PRIMARY KEY (d, area, no))',
    'parts',
    { no: 5 },
    { id: /^\d{4}-\d\d-\d\d,A,5$/, no: 5, area: 'A' },
    { no: ['must be given'] }
  ]
]

t.test('a create leaves out what the database fills in, and nothing else', async (t) => {
  for (const [serve, sql, path, given, created, missing] of FILLED) {
    const app = await serve(t, sql)
    const one = path.slice(0, -1)
    const post = async (payload: object): Promise<Response> =>
      app.inject({ method: 'POST', url: `/${path}`, headers: json, payload: { [one]: payload } })
    const response = await post(given)
    t.match({ status: response.statusCode, body: response.json() }, { status: 201, body: { [one]: created } }, sql)
    const { headers: { location } } = response
    t.equal((await app.inject({ url: String(location), headers: json })).json()[one].id, response.json()[one].id)
    const others = await post({})
    t.strictSame(others.json().errors ?? {}, missing, `${sql}: what is missing`)
    const form = await app.inject({
      method: 'POST',
      url: `/${path}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      payload: Object.entries(given).map(([name, value]) => `${one}[${name}]=${String(value)}`).join('&')
    })
    t.ok([303, 409].includes(form.statusCode), `${sql}: a form`)
  }
})

const FORMED: ReadonlyArray<readonly [serve: Serve, sql: string, path: string, fault: string]> = [
  [serve, 'CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, n TEXT)', 'as', 'consists of "id_"; send that instead'],
  [servePostgres, 'CREATE TABLE a (id text PRIMARY KEY, n text)', 'as', 'consists of "id_"; send that instead'],
  [serve, 'CREATE TABLE a (b TEXT, c TEXT, PRIMARY KEY (b, c))', 'as', 'consists of "b", "c"; send that instead'],
  [serve, 'CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT)', 'as', 'is assigned by the server; leave it out']
]

t.test('a create that gives the id is told what to send', async (t) => {
  for (const [serve, sql, path, fault] of FORMED) {
    const app = await serve(t, sql)
    const [resource] = (await app.inject({ url: `/${path}`, headers: json })).body.match(/\w+/) ?? []
    t.equal(resource, path)
    for (const payload of [{ a: { id: 'k' } }, { id: 'k', a: {} }]) {
      const answer = await app.inject({ method: 'POST', url: `/${path}`, headers: json, payload })
      t.strictSame([answer.statusCode, answer.json().errors], [422, { id: [fault] }], sql)
    }
  }
})

const xml = { accept: 'application/xml' }
const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
const BIG = '1119360021460566017'
/** Its neighbour has the same double. */
const NEXT = '1119360021460566018'
const LEAST = '-9223372036854775808'
const MOST = '9223372036854775807'
/** The ids of tweets in their order. */
const IDS = [LEAST, 20, BIG, MOST]

const tables = (id: string): string => `
  CREATE TABLE tweets (id ${id} PRIMARY KEY, name TEXT, reply_to ${id} REFERENCES tweets);
  CREATE TABLE likes (tweet ${id} NOT NULL REFERENCES tweets, day TEXT NOT NULL, PRIMARY KEY (tweet, day));
  INSERT INTO tweets VALUES (20, 'first', NULL), (${BIG}, 'second', 20);
  INSERT INTO tweets VALUES (${LEAST}, 'least', ${BIG}), (${MOST}, 'most', ${BIG});
  INSERT INTO likes VALUES (20, 'Mon'), (${BIG}, 'Tue'), (${LEAST}, 'Wed')`

const serverBig = await startPostgres(t)

/** Serves the tables, in a database that is called by its name. */
type ServeBig = (t: Test) => Promise<FastifyInstance>
const engines: Array<[name: string, serve: ServeBig]> = []
for (const { name, open } of await findDrivers()) {
  engines.push([name, async (t) => {
    const opened = open(':memory:')
    opened.exec(tables('INTEGER'))
    t.teardown(() => opened.close())
    return startBig(t, { database: opened })
  }])
}
let schemasBig = 0
// A sequence may begin anywhere, and other programs give the ids themselves.
for (const type of ['bigint GENERATED BY DEFAULT AS IDENTITY', 'bigint']) {
  engines.push([`postgresql ${type}`, async (t) => {
    const schema = `big${++schemasBig}`
    const pool = serverBig.pool({ options: `-c search_path=${schema}` })
    const sql = tables('bigint').replace('id bigint', `id ${type}`)
    await pool.query(`CREATE SCHEMA ${schema}; ${sql}`)
    return startBig(t, { pool, schema })
  }])
}

async function startBig (t: Test, source: DatabaseOptions): Promise<FastifyInstance> {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { ...source, write: true, defaults: { writes: 'both', formPages: true } })
  await app.ready()
  return app
}

function each (name: string, body: (t: Test, app: FastifyInstance) => Promise<void>): void {
  t.test(name, async (t) => {
    for (const [engine, serve] of engines) await t.test(engine, async (t) => body(t, await serve(t)))
  })
}

const get = async (app: FastifyInstance, url: string, headers = json): Promise<Response> => app.inject({ url, headers })
const idsOf = async (app: FastifyInstance, url: string): Promise<unknown> =>
  (await get(app, url)).json().tweets?.map(({ id }: { id: unknown }) => id)

each('rows with big ids are listed, shown and paged in the order of their numbers', async (t, app) => {
  t.strictSame(await idsOf(app, '/tweets'), IDS)
  t.strictSame(await idsOf(app, '/tweets?sort=-id'), [...IDS].reverse())
  t.strictSame(await idsOf(app, '/tweets?sort=-reply_to,id'), [LEAST, MOST, BIG, 20])
  for (const sort of ['', '&sort=-id', '&sort=reply_to', '&sort=-reply_to', '&sort=name']) {
    const found: unknown[] = []
    for (let next: string | undefined = `/tweets?limit=1${sort}`; next !== undefined;) {
      const page: Response = await get(app, next)
      found.push(...page.json().tweets.map(({ id }: { id: unknown }) => id))
      next = /<([^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1]
    }
    t.strictSame(found, await idsOf(app, `/tweets?limit=100${sort}`), sort)
  }
  for (const id of IDS) {
    t.match((await get(app, `/tweets/${id}`)).json(), { tweet: { id } })
    t.match((await get(app, `/tweets/${id}.xml`)).body, new RegExp(`<tweet><id type="integer">${id}</id>`))
    t.match((await get(app, '/tweets', { accept: 'text/html' })).body, `<a href="/tweets/${id}">`)
    t.equal((await get(app, `/tweets/${id}`, { accept: 'text/html' })).statusCode, 200)
  }
  for (const id of [NEXT, '1119360021460566000', `0${BIG}`, `${BIG}.0`, '9223372036854775808', '1e18', `+${BIG}`]) {
    t.equal((await get(app, `/tweets/${encodeURIComponent(id)}`)).statusCode, 404, id)
  }
})

each('references to big ids are filtered, included, linked and chosen', async (t, app) => {
  const cases: ReadonlyArray<readonly [query: string, ids: readonly unknown[]]> = [
    [`id=${BIG}`, [BIG]],
    [`id=${NEXT}`, []],
    [`id[in]=20,${MOST}`, [20, MOST]],
    [`id[gt]=${BIG}`, [MOST]],
    [`id[lte]=${BIG}&sort=-id`, [BIG, 20, LEAST]],
    [`reply_to=${BIG}`, [LEAST, MOST]],
    ['reply_to=20', [BIG]],
    [`reply_to=${NEXT}`, []],
    [`reply_to[in]=20,${BIG}`, [LEAST, BIG, MOST]],
    [`reply_to[not]=${BIG}`, [20, BIG]],
    ['reply_to[gt]=20', [LEAST, MOST]],
    [`reply_to[gte]=${BIG}`, [LEAST, MOST]],
    [`reply_to[gt]=${BIG}`, []],
    [`reply_to[lt]=${BIG}`, [BIG]],
    [`reply_to[lt]=${NEXT}`, [LEAST, BIG, MOST]],
    [`reply_to[gt]=${LEAST}`, [LEAST, BIG, MOST]]
  ]
  for (const [query, ids] of cases) {
    t.strictSame(await idsOf(app, `/tweets?${query}`), ids, query)
    t.equal((await get(app, `/tweets?${query}&count=true&limit=1`)).statusCode, 200)
  }
  t.match((await get(app, '/tweets?reply_to=9223372036854775808')).json(), {
    status: 400,
    detail: '"reply_to" must be an integer between -9223372036854775808 and 9223372036854775807'
  })
  const included = await get(app, `/tweets/${LEAST}?include=tweet`)
  t.match(included.json(), { tweet: { id: LEAST, reply_to: BIG, tweet: { id: BIG, reply_to: 20 } } })
  const nested = (await get(app, `/tweets/${LEAST}.xml?include=tweet`)).body
  t.match(nested, `<tweet><id type="integer">${BIG}</id>`)
  t.match((await get(app, `/tweets/${LEAST}.xml`)).body, `<reply_to type="integer">${BIG}</reply_to>`)
  const page = (await get(app, `/tweets/${LEAST}`, { accept: 'text/html' })).body
  t.match(page, `<a href="/tweets/${BIG}">`)
  t.match((await get(app, `/tweets/${BIG}`, { accept: 'text/html' })).body, `/tweets?reply_to=${BIG}`)
  t.match((await get(app, `/tweets/${LEAST}/edit`, { accept: 'text/html' })).body, `value="${BIG}"`)
  t.match((await get(app, '/likes')).json(), {
    likes: [{ id: `${LEAST},Wed`, tweet: LEAST }, { id: '20,Mon', tweet: 20 }, { id: `${BIG},Tue`, tweet: BIG }]
  })
  const like = (await get(app, `/likes/${BIG},Tue?include=tweetRow`)).json()
  t.match(like, { like: { tweet: BIG, tweetRow: { id: BIG } } })
})

each('rows with big ids, and references to them, are written', async (t, app) => {
  type Method = 'POST' | 'PUT' | 'DELETE'
  const send = async (method: Method, url: string, payload: object | string, headers = {}): Promise<Response> =>
    app.inject({ method, url, payload, headers: { ...json, ...headers } })
  const created = await send('POST', '/tweets', { tweet: { name: 'new', reply_to: BIG, ...await givenKey(app) } })
  t.match(created, { statusCode: 201 }, created.body)
  t.match(created.json(), { tweet: { name: 'new', reply_to: BIG } })
  // Only the digits as a text name a big id, and only the number names a small one.
  for (const [given, answer] of [
    [`{"id":"${BIG}","tweet":{"name":"a"}}`, { tweet: { id: BIG, name: 'a' } }],
    [`{"tweet":{"id":"${BIG}","name":"b"}}`, { tweet: { id: BIG, name: 'b' } }],
    [`{"id":${BIG},"tweet":{"name":"c"}}`, { status: 422, errors: { id: [/^must be a text of digits/] } }],
    ['{"id":1119360021460566016,"tweet":{"name":"c"}}', { status: 422, errors: { id: [/^must be a text of digits/] } }],
    ['{"id":"20","tweet":{"name":"c"}}', { status: 404 }],
    [`{"id":20,"tweet":{"reply_to":"${BIG}"}}`, { tweet: { id: 20, reply_to: BIG } }],
    [`{"id":20,"tweet":{"reply_to":${BIG}}}`, { status: 422, errors: { reply_to: [/^must be a text of digits/] } }],
    ['{"id":20,"tweet":{"reply_to":9007199254740992}}', { status: 422, errors: { reply_to: [/^must be a text of/] } }],
    ['{"id":20,"tweet":{"reply_to":"20"}}', { status: 422, errors: { reply_to: ['must be an integer or null'] } }],
    [`{"id":20,"tweet":{"reply_to":"0${BIG}"}}`, { status: 422, errors: { reply_to: ['must be an integer or null'] } }],
    [`{"id":20,"tweet":{"reply_to":"${NEXT}"}}`, { status: 422, errors: { reply_to: [/^refers to something/] } }]
  ] as const) {
    const answered = await send('PUT', '/tweets', given, { 'content-type': 'application/json' })
    t.match(answered.json(), answer, given)
  }
  const asXml = { ...xml, 'content-type': 'application/xml' }
  const changed = await send('PUT', `/tweets/${BIG}`, `<tweet><id type="integer">${BIG}</id><name>x</name>` +
    `<reply_to type="integer">${MOST}</reply_to></tweet>`, asXml)
  t.match(changed.body, `<id type="integer">${BIG}</id>`)
  t.match(changed.body, `<name>x</name><reply_to type="integer">${MOST}</reply_to>`)
  t.equal((await send('PUT', `/tweets/${BIG}`, `<tweet><reply_to>${LEAST}</reply_to></tweet>`, asXml)).statusCode, 200)
  t.match((await get(app, `/tweets/${BIG}`)).json(), { tweet: { reply_to: LEAST } })
  const tooLarge = `<tweet><reply_to type="integer">${MOST}0</reply_to></tweet>`
  const refused = await send('PUT', `/tweets/${BIG}`, tooLarge, asXml)
  t.match(refused.body, `Reply to must be an integer between ${LEAST} and ${MOST}`)
  const submitted = await send('POST', '/tweets', `_method=PUT&id=${BIG}&tweet[reply_to]=${MOST}`, form)
  t.match(submitted, { statusCode: 303, headers: { location: `/tweets/${BIG}` } })
  t.match((await get(app, `/tweets/${BIG}`)).json(), { tweet: { reply_to: MOST } })
  // The whole record comes back as it was read.
  const read = await get(app, `/tweets/${LEAST}`)
  t.strictSame((await send('PUT', '/tweets', read.json())).json(), read.json())
  const asRead = await get(app, `/tweets/${LEAST}`, xml)
  t.equal((await send('PUT', `/tweets/${LEAST}`, asRead.body, asXml)).body, asRead.body)
  const like = await send('POST', '/likes', { like: { tweet: MOST, day: 'Sun' } })
  t.match(like, { statusCode: 201, headers: { location: `/likes/${MOST},Sun` } })
  t.equal((await send('DELETE', `/likes/${MOST},Sun`, '')).statusCode, 204)
  await send('PUT', '/tweets', { id: BIG, tweet: { reply_to: null } })
  for (const deleted of [
    await send('DELETE', `/likes/${LEAST},Wed`, ''),
    await app.inject({ method: 'DELETE', url: `/tweets?id=${LEAST}` }),
    await send('DELETE', '/tweets', { id: MOST })
  ]) t.equal(deleted.statusCode, 204, deleted.body)
  const { tweet: { id } } = created.json()
  t.strictSame((await idsOf(app, '/tweets') as unknown[]).filter((other) => other !== id), [20, BIG])
})

/** Returns the key of a new row, if the database does not make it. */
async function givenKey (app: FastifyInstance): Promise<object> {
  const { tweet } = (await get(app, '/tweets/20')).json()
  return Object.hasOwn(tweet, 'id_') ? { id_: '1119360021460566999' } : {}
}

t.test('rows without a key are written by their numbers, and each write of one names its version', async (t) => {
  const file = join(t.testdir(), 'visits.sqlite')
  makeDatabase(`CREATE TABLE visits (at TEXT, page TEXT);
    INSERT INTO visits VALUES ('1', 'a'), ('2', 'b')`, file).close()
  const app = await start(t, { file, tables: { visits: { requireMatch: false } } })
  const send = async (method: 'PUT' | 'DELETE' | 'POST', payload: object, headers = {}): Promise<number> =>
    (await app.inject({ method, url: '/visits', headers: { ...json, ...headers }, payload })).statusCode
  const tagOf = async (id: number): Promise<string> =>
    String((await app.inject({ url: `/visits/${id}`, headers: json })).headers.etag)
  const tag = await tagOf(2)
  t.equal(await send('PUT', { id: 2, visit: { page: 'c' } }), 428)
  t.equal(await send('PUT', { visits: [{ id: 2, page: 'c' }] }), 428)
  t.equal(await send('DELETE', { id: 2 }), 428)
  t.equal(await send('DELETE', { id: [1, 2] }), 428)
  t.equal(await send('PUT', { id: 2, visit: { page: 'c' } }, { 'if-match': tag }), 200)
  t.equal(await send('DELETE', { id: 2 }, { 'if-match': await tagOf(2) }), 204)
  // The next row gets the number of the last one.
  t.equal(await send('POST', { visit: { at: '3', page: 'd' } }), 201)
  t.equal(await send('DELETE', { id: 2 }, { 'if-match': tag }), 412)
  t.match(await rowsOf(app, '/visits', 'visits'), [{ id: 1, page: 'a' }, { id: 2, page: 'd' }])
  const page = await app.inject({ url: '/visits/2/edit', headers: { accept: 'text/html' } })
  t.match(page.body, 'name="_version"')
  const some = { type: 'object', properties: { at: { type: 'string' } } } as const
  for (const visits of [{ hide: ['page'] }, { attributes: some }]) {
    const narrow = await start(t, { file, tables: { visits } })
    const refused = await narrow.inject({ method: 'DELETE', url: '/visits', headers: json, payload: { id: 2 } })
    t.equal(refused.statusCode, 405, 'a version without hidden values does not tell rows apart')
  }
})
