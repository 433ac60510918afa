import fastify, { type FastifyInstance, type LightMyRequestResponse as Response } from 'fastify'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'

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
  '.csv', '.html', 'data.pdf', 'ü.html', 'a b.xml', '%.xml', '%25.xml'
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
  const app = await serve(t, `CREATE TABLE files (name TEXT PRIMARY KEY NOT NULL, note TEXT); INSERT INTO files VALUES ${values}`)
  const notes = async (): Promise<unknown[]> => (await rowsOf(app, '/files', 'files')).map(({ name, note }) => [name, note])
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
    servePostgres,
    'CREATE TABLE tags (code text PRIMARY KEY DEFAULT gen_random_uuid()::text, n text)',
    'tags',
    { n: 'x' },
    { id: /^[\da-f-]{36}$/, code: /^[\da-f-]{36}$/, n: 'x' },
    {}
  ],
  [
    servePostgres,
    'CREATE TABLE parts (id bigserial, d date, n text, PRIMARY KEY (d, id))',
    'parts',
    { d: '2026-01-31' },
    { id: '2026-01-31,1', d: '2026-01-31', id_: 1 },
    { d: ['must be given'] }
  ],
  [
    servePostgres,
    'CREATE TABLE lines (d date, n text, no int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (d, no))',
    'lines',
    { d: '2026-01-31', n: 'x' },
    { id: '2026-01-31,1', no: 1, n: 'x' },
    { d: ['must be given'] }
  ],
  [
    serve,
    'CREATE TABLE tags (code TEXT NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))), n TEXT)',
    'tags',
    { n: 'x' },
    { id: /^[\da-f]{32}$/, code: /^[\da-f]{32}$/, n: 'x' },
    {}
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
  [serve, 'CREATE TABLE a (id INT PRIMARY KEY NOT NULL, n TEXT)', 'as', 'consists of "id_"; send that instead'],
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
