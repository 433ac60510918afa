import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../lib/database/index.js'
import { build } from '../../support/helper.js'
import { fill, findForm, submit } from '../../support/html/forms.js'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { openEngines } from '../../support/stores/sql-engines.js'

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
    return (await app.inject({ method: 'PUT', url: path.replace(/\/\d+$/, '.xml'), headers: { 'content-type': 'application/xml' }, payload })).statusCode
  },
  async json (app, path, name) {
    const record = (await app.inject(`${path}.json`)).json() as Record<string, object>
    const [[singular, group] = ['', {}]] = Object.entries(record)
    const payload = { [singular]: name === undefined ? group : { ...group, name } }
    return (await app.inject({ method: 'PUT', url: path.replace(/\/\d+$/, '.json'), payload })).statusCode
  },
  async html (app, path, name) {
    const form = findForm(await app.inject({ url: path, headers: html }), 'PUT')
    const field = form.controls.find(({ name }) => name.endsWith('[name]'))?.name ?? ''
    return (await app.inject(submit(name === undefined ? form : fill(form, { [field]: name }), undefined, html))).statusCode
  }
}

const OK: Readonly<Record<string, number>> = { xml: 200, json: 200, html: 303 }

/** Texts of JSON that are not spelled as we would spell them, or that a format cannot show as they are. */
const TEXTS = [
  '{}', '{"x":{}}', '{"a b":1}', '{"n":12345678901234567890}', '[12345678901234567890]', '12345678901234567890', '{"$ref":"x","2024":[{}],"":null}', '{"u":"\\uffff"}',
  '{"n":1.10}', '[1, 2]', '{"a":1,"a":2}', ' {"a" : [ ] } ', '"x"', '1.50', 'true', '[[1,[2]], {"b":null}]', '{"c":"\\u00e9"}', 'null'
]

const insert = (text: string, index: number): string => `INSERT INTO c VALUES (${index + 1}, 'a', '${text}', 't')`
const sqlite = `CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT, d JSON, t TEXT); ${TEXTS.map(insert).join(';')};`
const postgres = (type: string): string => `CREATE TABLE c (id integer PRIMARY KEY, name text, d ${type}, t text); ${TEXTS.map(insert).join(';')};`

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
      for (const [index, text] of TEXTS.entries()) t.match(await send(app, `/cs/${index + 1}`, 'b'), OK[format], `${format}: ${text} beside another name`)
      const named = (await read('c')).map((row) => JSON.stringify({ ...row as object, xmin: 0 }).replace(/"b"|,b,/, (found) => found.replace('b', 'a')))
      t.strictSame(named, withoutVersion(before).map((row) => JSON.stringify(row)), `${format}: every other byte is the same`)
      for (const index of TEXTS.keys()) await send(app, `/cs/${index + 1}`, 'a')
      before = await read('c')
    }
  })
}

const TRIGGERS = {
  sqlite: ["CREATE TRIGGER stamp AFTER UPDATE ON actor BEGIN UPDATE actor SET last_update = 'stamped' WHERE id = new.id; END"],
  postgresql: [
    "CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.last_update = 'stamped'; RETURN new; END $$",
    'CREATE TRIGGER stamp BEFORE UPDATE ON actor FOR EACH ROW EXECUTE FUNCTION stamp()'
  ]
}

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: no trigger runs where nothing differs`, async (t) => {
    const attributes = { type: 'object', properties: { name: { type: 'string' }, last_update: { type: 'string' } } } as const
    await run(`CREATE TABLE actor (id ${name === 'sqlite' ? 'INTEGER' : 'serial'} PRIMARY KEY, version integer NOT NULL DEFAULT 1, name text, last_update text)`)
    await run("INSERT INTO actor (name, last_update) VALUES ('PENELOPE', '2006')", ...TRIGGERS[name])
    for (const version of ['values', 'version', ...name === 'sqlite' ? [] : ['xmin']]) {
      const app = await build(t, { name: 'actors', attributes, store: store({ table: 'actor', version, attributes }) })
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
    const app = await build(t, { name: 'actors', attributes, store: store({ table: 'actor', version: 'values', attributes }) })
    t.equal(await SEND.xml?.(app, '/actors/1', 'ED'), 200)
    t.match(await run('SELECT * FROM actor'), [{ name: 'ED', last_update: 'stamped' }])
  })
}

const teams = (id: string): string => `CREATE TABLE teams (id ${id} PRIMARY KEY, name TEXT); CREATE TABLE players (id ${id} PRIMARY KEY, name TEXT, team_id INTEGER`
const PLAYERS = "INSERT INTO teams VALUES (1, 'Reds'); INSERT INTO players VALUES (1, 'a', 99)"

t.test('a reference to no row is checked only where it differs', async (t) => {
  const served: ReadonlyArray<readonly [string, Served]> = [
    ['SQLite', await serveSqlite(t, `PRAGMA foreign_keys = OFF; ${teams('INTEGER')} REFERENCES teams); ${PLAYERS}; PRAGMA foreign_keys = ON`)],
    ['PostgreSQL', await servePostgres(t, `${teams('serial')}); ${PLAYERS}; ALTER TABLE players ADD FOREIGN KEY (team_id) REFERENCES teams NOT VALID`)]
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
    t.match((await put({ name: 'b', team_id: 98 })).json(), { status: 422, detail: /does not exist/ }, `${name}: another value is checked`)
    t.strictSame(await read(), { player: { id: 1, name: 'html', team_id: 99 } })
    t.equal((await put({ name: 'b', team_id: 1 })).statusCode, 200)
    t.equal((await put({ team_id: 99 })).statusCode, 422)
  }
})
