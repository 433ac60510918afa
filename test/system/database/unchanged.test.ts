import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../lib/database/index.js'
import { build } from '../../support/helper.js'
import { entriesOf, fill, findForm, refused, send, submit } from '../../support/html/forms.js'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { type Engine, openEngines } from '../../support/stores/sql-engines.js'
import { dropUntouched, Issues } from '../../../lib/core/schema/validation/issues.js'

/** An app that serves a database which others have made, and the rows of a table as the database has them. */
interface Served {
  readonly app: FastifyInstance
  read (table: string): Promise<readonly unknown[]>
}

const server: PostgresServer = await startPostgres(t)
let schemas = 0

async function serveSqlite (t: Test, sql: string): Promise<Served> {
  const opened = makeDatabase(sql)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => { await app.close(); opened.close() })
  app.register(database, { database: opened, write: true })
  await app.ready()
  return { app, read: async (table) => opened.prepare(`SELECT * FROM ${table} ORDER BY id`).all() as unknown[] }
}

async function servePostgres (t: Test, sql: string): Promise<Served> {
  const schema = `same${++schemas}`
  const pool = server.pool({ options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}; ${sql}`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool, schema, write: true })
  await app.ready()
  return { app, read: async (table) => (await pool.query(`SELECT x::text, xmin FROM ${table} x ORDER BY id`)).rows }
}

const html = { accept: 'text/html' }

/** Sends a row back as the format showed it, with these replacements, and returns the status. */
const SEND: Readonly<Record<string, (app: FastifyInstance, path: string, name?: string) => Promise<number>>> = {
  async xml (app, path, name) {
    const { body } = await app.inject(`${path}.xml`)
    const payload = name === undefined ? body : body.replace(/<name>.*?<\/name>/, `<name>${name}</name>`)
    return (await app.inject({
      method: 'PUT', url: path.replace(/\/\d+$/, '.xml'), headers: { 'content-type': 'application/xml' }, payload
    })).statusCode
  },
  async json (app, path, name) {
    const record = (await app.inject(`${path}.json`)).json() as Record<string, object>
    const [[singular, group] = ['', {}]] = Object.entries(record)
    const payload = { [singular]: name === undefined ? group : { ...group, name } }
    return (await app.inject({ method: 'PUT', url: path.replace(/\/\d+$/, '.json'), payload })).statusCode
  },
  async html (app, path, name) {
    const form = findForm(await app.inject({ url: `${path}/edit`, headers: html }), 'PUT')
    const field = form.controls.find(({ name }) => name.endsWith('[name]'))?.name ?? ''
    return (await app.inject(
      submit(name === undefined ? form : fill(form, { [field]: name }), undefined, html)
    )).statusCode
  }
}

const OK: Readonly<Record<string, number>> = { xml: 200, json: 200, html: 303 }

/** Texts of JSON that are not spelled as we would spell them, or that a format cannot show as they are. */
const TEXTS = [
  '{}', '{"x":{}}', '{"a b":1}', '{"n":12345678901234567890}', '[12345678901234567890]', '12345678901234567890',
  '{"$ref":"x","2024":[{}],"":null}', '{"u":"\\uffff"}', '{"n":1.10}', '[1, 2]', '{"a":1,"a":2}', ' {"a" : [ ] } ',
  '"x"', '1.50', 'true', '[[1,[2]], {"b":null}]', '{"c":"\\u00e9"}', 'null'
]

const insert = (text: string, index: number): string => `INSERT INTO c VALUES (${index + 1}, 'a', '${text}', 't')`
const sqlite = `CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT, d JSON, t TEXT); ${TEXTS.map(insert).join(';')};`
const postgres = (type: string): string =>
  `CREATE TABLE c (id integer PRIMARY KEY, name text, d ${type}, t text); ${TEXTS.map(insert).join(';')};`

const databases: ReadonlyArray<readonly [name: string, serve: (t: Test) => Promise<Served>]> = [
  ['SQLite', (t) => serveSqlite(t, sqlite)],
  ['SQLite, text', (t) => serveSqlite(t, sqlite.replace('JSON', 'TEXT'))],
  ['PostgreSQL, json', (t) => servePostgres(t, postgres('json'))],
  ['PostgreSQL, jsonb', (t) => servePostgres(t, postgres('jsonb'))]
]

for (const [name, serve] of databases) {
  t.test(`${name}: JSON that was not touched keeps its text`, async (t) => {
    const { app, read } = await serve(t)
    let before = await read('c')
    for (const [format, send] of Object.entries(SEND)) {
      for (const [index, text] of TEXTS.entries()) {
        t.match(await send(app, `/cs/${index + 1}`), OK[format], `${format}: ${text} as it was read`)
        if (format !== 'json') t.strictSame(await read('c'), before, `${format}: nothing was written for ${text}`)
      }
      const withoutVersion = (rows: readonly unknown[]): unknown[] => rows.map((row) => ({ ...row as object, xmin: 0 }))
      t.strictSame(withoutVersion(await read('c')), withoutVersion(before), `${format}: every byte is the same`)
      for (const [index, text] of TEXTS.entries()) {
        t.match(await send(app, `/cs/${index + 1}`, 'b'), OK[format], `${format}: ${text} beside another name`)
      }
      const named = (await read('c')).map((row) =>
        JSON.stringify({ ...row as object, xmin: 0 }).replace(/"b"|,b,/, (found) => found.replace('b', 'a')))
      t.strictSame(named, withoutVersion(before).map((row) =>
        JSON.stringify(row)), `${format}: every other byte is the same`)
      for (const index of TEXTS.keys()) await send(app, `/cs/${index + 1}`, 'a')
      before = await read('c')
    }
  })
}

const TRIGGERS = {
  sqlite: [
    "CREATE TRIGGER stamp AFTER UPDATE ON actor BEGIN UPDATE actor SET last_update = 'stamped' WHERE id = new.id; END"
  ],
  postgresql: [
    "CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.last_update = 'stamped'; RETURN new; " +
      'END $$',
    'CREATE TRIGGER stamp BEFORE UPDATE ON actor FOR EACH ROW EXECUTE FUNCTION stamp()'
  ]
}

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: no trigger runs where nothing differs`, async (t) => {
    const attributes = {
      type: 'object', properties: { name: { type: 'string' }, last_update: { type: 'string' } }
    } as const
    await run(
      `CREATE TABLE actor (id ${name === 'sqlite'
        ? 'INTEGER'
        : 'serial'} PRIMARY KEY, version integer NOT NULL DEFAULT 1, name text, last_update text)`
    )
    await run("INSERT INTO actor (name, last_update) VALUES ('PENELOPE', '2006')", ...TRIGGERS[name])
    for (const version of ['values', 'version', ...name === 'sqlite' ? [] : ['xmin']]) {
      const actors = store({ table: 'actor', version, attributes })
      const app = await build(t, { name: 'actors', attributes, store: actors, formPages: true })
      const read = () => run('SELECT * FROM actor')
      const before = await read()
      const { headers: { etag } } = await app.inject('/actors/1.json')
      for (const [format, send] of Object.entries(SEND)) {
        // JSON writes what it names. A digest of the same values is the same version.
        if (format === 'json' && version !== 'values') continue
        t.equal(await send(app, '/actors/1'), OK[format], `${version}: ${format}`)
        t.strictSame(await read(), before, `${version}: ${format} writes nothing`)
        t.equal((await app.inject('/actors/1.json')).headers.etag, etag, 'the version stays')
      }
    }
    const app = await build(t, {
      name: 'actors', attributes, store: store({ table: 'actor', version: 'values', attributes })
    })
    t.equal(await SEND.xml?.(app, '/actors/1', 'ED'), 200)
    t.match(await run('SELECT * FROM actor'), [{ name: 'ED', last_update: 'stamped' }])
  })
}

const teams = (id: string): string =>
  `CREATE TABLE teams (id ${id} PRIMARY KEY, name TEXT); CREATE TABLE players (id ${id} PRIMARY KEY, name TEXT, ` +
    'team_id INTEGER'
const PLAYERS = "INSERT INTO teams VALUES (1, 'Reds'); INSERT INTO players VALUES (1, 'a', 99)"

t.test('a reference to no row is checked only where it differs', async (t) => {
  const served: ReadonlyArray<readonly [string, Served]> = [
    [
      'SQLite',
      await serveSqlite(
        t, `PRAGMA foreign_keys = OFF; ${teams('INTEGER')} REFERENCES teams); ${PLAYERS}; PRAGMA foreign_keys = ON`
      )
    ],
    [
      'PostgreSQL',
      await servePostgres(
        t, `${teams('serial')}); ${PLAYERS}; ALTER TABLE players ADD FOREIGN KEY (team_id) REFERENCES teams NOT VALID`
      )
    ]
  ]
  for (const [name, { app }] of served) {
    const read = async (): Promise<unknown> => (await app.inject('/players/1.json')).json()
    for (const [format, send] of Object.entries(SEND)) {
      t.equal(await send(app, '/players/1'), OK[format], `${name}: ${format} as it was read`)
      // SQLite checks each reference that a statement names, and JSON names all that it sends.
      if (name === 'SQLite' && format === 'json') {
        t.equal(await send(app, '/players/1', format), 422)
        continue
      }
      t.equal(await send(app, '/players/1', format), OK[format], `${name}: ${format} with another name`)
      t.strictSame(await read(), { player: { id: 1, name: format, team_id: 99 } })
    }
    const put = (player: object) => app.inject({ method: 'PUT', url: '/players.json', payload: { id: 1, player } })
    t.match(
      (await put({ name: 'b', team_id: 98 })).json(), { status: 422, detail: /does not exist/ },
      `${name}: another value is checked`
    )
    t.strictSame(await read(), { player: { id: 1, name: 'html', team_id: 99 } })
    t.equal((await put({ name: 'b', team_id: 1 })).statusCode, 200)
    t.equal((await put({ team_id: 99 })).statusCode, 422)
  }
})

const attributes = {
  type: 'object',
  required: ['name', 'day', 'code'],
  properties: {
    name: { type: 'string' },
    day: { type: 'string', format: 'date' },
    mail: { type: ['string', 'null'], format: 'email' },
    moment: { type: ['string', 'null'], format: 'date-time' },
    code: { type: 'string', maxLength: 3, pattern: '^[a-z]+$' },
    blank: { type: 'string', minLength: 1, maxLength: 9 },
    count: { type: 'integer', minimum: 10, maximum: 20 },
    tags: { type: 'array', items: { type: 'string', maxLength: 2 } }
  }
} as const

const ROW = {
  name: 'Ann',
  day: 'abc',
  mail: 'not a mail',
  moment: 'yesterday',
  code: 'WXYZ 1',
  blank: '',
  count: 99,
  tags: ['long', 'b']
}

const INSERT = `
  INSERT INTO words (name, "day", mail, "moment", "code", "blank", "count", tags)
  VALUES ('Ann', 'abc', 'not a mail', 'yesterday', 'WXYZ 1', '', 99, '["long","b"]')`
const json = { accept: 'application/json' }

const [{ store, run }] = await openEngines() as [Engine]

t.test('a form leaves stored values as they are that break the schema', async (t) => {
  const words = store({ table: 'words', migrate: true, attributes })
  const app = await build(t, { name: 'words', attributes, store: words })
  await run(INSERT)
  const read = async () => (await app.inject({ url: '/words/1', headers: json })).json().word
  const edit = async () => findForm(await app.inject({ url: '/words/1', headers: html }), 'PUT')
  t.match(await read(), ROW)

  const form = await edit()
  t.strictSame(refused(form), [], 'the browser sends the form')
  t.match(await app.inject(submit(form, undefined, html)), { statusCode: 303 })
  t.match(await read(), ROW)
  t.match(await app.inject(submit(fill(await edit(), { 'word[name]': 'Bob' }), undefined, html)), { statusCode: 303 })
  t.match(await read(), { ...ROW, name: 'Bob' })

  // A field that was touched is checked. The form that comes back still knows the others.
  const failed = await app.inject(
    submit(fill(await edit(), { 'word[name]': 'Cid', 'word[day]': 'abd' }), undefined, html)
  )
  t.equal(failed.statusCode, 422)
  t.match(failed.body, 'Day must be a date')
  t.notMatch(failed.body, /Mail must|Code must|Blank must|Count must/)
  t.match(
    await app.inject(submit(fill(findForm(failed, 'PUT'), { 'word[day]': '2020-01-02' }), undefined, html)),
    { statusCode: 303 }
  )
  t.match(await read(), { ...ROW, name: 'Cid', day: '2020-01-02' })

  // Other clients leave an attribute out to keep it. A value that they send is checked.
  const put = (word: object) => app.inject({ method: 'PUT', url: '/words', headers: json, payload: { id: 1, word } })
  t.match(await put({ name: 'Dan' }), { statusCode: 200 })
  t.match((await put({ mail: 'not a mail' })).json(), {
    status: 422, errors: { mail: ['must be an e-mail address'] }
  })
  const xml = (content: string) => app.inject({
    method: 'PUT',
    url: '/words',
    headers: { 'content-type': 'application/xml', ...json },
    payload: `<word><id>1</id>${content}</word>`
  })
  t.match(await xml('<name>Eve</name>'), { statusCode: 200 })
  t.equal((await xml('<code>WXYZ 1</code>')).statusCode, 200, 'XML that has the stored value changes nothing')
  t.equal((await xml('<code>WXYZ 2</code>')).statusCode, 422)
  t.match(await read(), { ...ROW, name: 'Eve', day: '2020-01-02' })
})

t.test('all attributes are checked if a form has too many faults to be read to its end', async (t) => {
  const issues = new Issues()
  for (let index = 0; index < 100; index++) issues.add(`a${index}`, 'is wrong')
  dropUntouched(issues.messages.keys(), {}, issues, () => true)
  t.equal(issues.size, 100)
  issues.remove('a99')
  dropUntouched([...issues.messages.keys()], {}, issues, (name) => name !== 'a1')
  t.strictSame([...issues.messages.keys()], ['a1'])
})

t.test('a form leaves numbers as they are that the store of SQLite does not write', async (t) => {
  const attributes = {
    type: 'object', properties: { name: { type: 'string' }, sum: { type: 'string', format: 'decimal' } }
  } as const
  await run(
    'CREATE TABLE sums (id INTEGER PRIMARY KEY, version INTEGER NOT NULL DEFAULT 1, name TEXT, sum NUMERIC)',
    "INSERT INTO sums (name, sum) VALUES ('a', 0.1 + 0.2)"
  )
  const app = await build(t, { name: 'sums', attributes, store: store({ table: 'sums', attributes }) })
  const edit = async (filled: object) => app.inject(
    submit(fill(findForm(await app.inject({ url: '/sums/1', headers: html }), 'PUT'), { ...filled }), undefined, html)
  )
  t.match(await edit({ 'sum[name]': 'b' }), { statusCode: 303 })
  t.strictSame(await run('SELECT name, sum = 0.1 + 0.2 AS same FROM sums'), [{ name: 'b', same: 1 }])
  t.match(await edit({ 'sum[name]': 'c', 'sum[sum]': '0.30000000000000001' }), { statusCode: 422 })
  t.match(await edit({ 'sum[sum]': '0.5' }), { statusCode: 303 })
  t.strictSame(await run('SELECT name, sum FROM sums'), [{ name: 'b', sum: 0.5 }])
})

t.test('stored bytes may be longer than the schema allows', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      title: { type: 'string' }, data: { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 1_000_000 }
    }
  } as const
  const app = await build(t, {
    name: 'files', attributes, store: store({ table: 'files', migrate: true, attributes })
  })
  const size = 750_003
  await run(`INSERT INTO files (title, data) VALUES ('a', zeroblob(${size}))`)
  const data = Buffer.alloc(size).toString('base64')
  const read = async () => (await app.inject({ url: '/files/1', headers: json })).json().file
  t.ok((await read()).data === data)
  t.match((await app.inject('/files/1.xml')).body, '<data>AAAA')
  for (const url of ['/files.html', '/files/1.html']) t.equal((await app.inject(url)).statusCode, 200, url)
  t.match(
    await app.inject(
      submit(fill(findForm(await app.inject('/files/1.html'), 'PUT'), { 'file[title]': 'b' }), undefined, html)
    ),
    { statusCode: 303 }
  )
  const put = (file: object) => app.inject({ method: 'PUT', url: '/files', headers: json, payload: { id: 1, file } })
  t.equal((await put({ title: 'c' })).statusCode, 200)
  const row = await read()
  t.ok(row.title === 'c' && row.data === data, 'the bytes stay as they are')
  t.match((await put({ data })).json(), { status: 422, errors: { data: ['must have at most 1000000 characters'] } })
  t.equal((await put({ data: data.slice(4) })).statusCode, 200, 'the longest value fits into a request')
})

t.test('a form leaves stored JSON as it is that no client may send', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      title: { type: 'string', maxLength: 9 },
      data: {},
      counts: { type: 'array', items: { type: ['integer', 'null'] } }
    }
  } as const
  const app = await build(t, {
    name: 'settings', attributes, store: store({ table: 'settings', migrate: true, attributes })
  })
  const data = ['{"a b":{}}', '{"__proto__":{}}', '[{}]']
  for (const text of data) await run(`INSERT INTO settings (title, data, counts) VALUES ('a', '${text}', '[1,null]')`)
  for (const [index, text] of data.entries()) {
    const open = async () => findForm(await app.inject({ url: `/settings/${index + 1}`, headers: html }), 'PUT')
    const edit = async (filled: Readonly<Record<string, string>>) =>
      app.inject(submit(fill(await open(), filled), undefined, html))
    const read = async () => (await app.inject({ url: `/settings/${index + 1}`, headers: json })).json().setting
    t.match(await edit({ 'setting[title]': 'b' }), { statusCode: 303 }, text)
    t.strictSame(await read(), { id: index + 1, title: 'b', data: JSON.parse(text), counts: [1, null] })
    t.match(await edit({ 'setting[data]': '{"b":"\\u0000"}' }), { statusCode: 422, body: 'ust not contain U+0000' })
    t.match(await edit({ 'setting[data]': `${'['.repeat(50_000)}${']'.repeat(50_000)}` }), {
      statusCode: 422, body: 'is nested deeper'
    })
    const form = await open()
    const typed = entriesOf(form).map(
      ([name, value]): [string, string] => [name, name === 'setting[counts][1]' ? 'x' : value]
    )
    t.match(
      await app.inject(send(form, typed, html)), { statusCode: 422, body: 'Must be an integer' },
      'a value that was read in part was touched'
    )
    t.match(await edit({ 'setting[data]': '{"b":1}' }), { statusCode: 303 })
    t.strictSame((await read()).data, { b: 1 })
  }
})
