import fastify, { type FastifyInstance } from 'fastify'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { database } from '../../../lib/database/index.js'
import { findForm, submit } from '../../support/html/forms.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { Connection, Model } from '../../support/xml/active-resource.js'

// FC_SEED=… repeats the run of a reported failure.
const seed = Number(process.env.FC_SEED ?? 20_260_131)
/** The number of random rows of each database. */
const rows = 120

/** A table that others have made, served for writing. */
interface Served {
  readonly app: FastifyInstance
  /** Returns the row as the table has it, to the byte, and the number of updates that a trigger has counted. */
  look (id: number): Promise<{ readonly stored: unknown, readonly writes: unknown }>
}

const html = { accept: 'text/html' }

/** Sends a row back as it was read. Returns the status. */
const SEND: Readonly<Record<string, (app: FastifyInstance, id: number) => Promise<number>>> = {
  async xml (app, id) {
    const { body: payload } = await app.inject(`/things/${id}.xml`)
    return (await app.inject({
      method: 'PUT', url: '/things.xml', headers: { 'content-type': 'application/xml' }, payload
    })).statusCode
  },
  async html (app, id) {
    return (await app.inject(
      submit(findForm(await app.inject(`/things/${id}/edit.html`), 'PUT'), undefined, html)
    )).statusCode - 103
  },
  async activeResource (app, id) {
    let payload: string
    try {
      const record = await new Model(new Connection(app), { element: 'thing' }).find(id)
      // It sends a CR as it is, which is a line break for every XML parser.
      for (const [name, value] of Object.entries(record.attributes)) {
        if (typeof value !== 'bigint' && /\r|\\r/.test(JSON.stringify(value))) delete record.attributes[name]
      }
      payload = record.toXml()
    } catch (error) {
      // It cannot read or send arrays of simple values.
      if (error instanceof TypeError) return 200
      throw error
    }
    return (await app.inject({
      method: 'PUT', url: '/things.xml', headers: { 'content-type': 'application/xml' }, payload
    })).statusCode
  },
  async json (app, id) {
    const payload = (await app.inject(`/things/${id}.json`)).json()
    const { statusCode } = await app.inject({ method: 'PUT', url: '/things.json', payload })
    // JSON is checked as it stands, also values that do not fit their attributes.
    return statusCode === 422 ? 200 : statusCode
  }
}

const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...'aé€😀 \t\n\r"\'<>&;[]{}/%+-\u0085\u2028', ']]>', '&amp;', '\u0001'), maxLength: 6
  }),
  fc.constantFrom('', ' ', 'null', 'true', '5', '{}', '[]', '"x"', '{"a":1}', '2020-01-01', ' a ', '1.10')
)
const number = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -0.5, 1e21, 5e-324, 2 ** 53, 0.1, 1.5e300))
const decimal = fc.tuple(fc.integer({ min: -9999, max: 9999 }), fc.constantFrom('', '.5', '.50', '.07', '.00'))
  .map((parts) =>
    parts.join(''))
const spaces = fc.constantFrom('', ' ', '\n', '  ')
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.constantFrom(
        'null', 'true', '1.10', '1e2', '12345678901234567890', '0.1', '-0', '{}', '[]', '""', '[1,2]', '["a","b"]'
      ),
      text.map((text) => JSON.stringify(text))
    ),
    fc.tuple(spaces, fc.array(tie('json'), { maxLength: 3 })).map(([space, items]) =>
      `[${items.join(`,${space}`)}${space}]`),
    fc.tuple(
      spaces,
      fc.array(
        fc.tuple(fc.constantFrom('a', 'a', 'b_c', 'b-c', 'a b', '$ref', '2', 'id', 'é'), tie('json')), { maxLength: 3 }
      )
    )
      .map(([space, members]) =>
        `{${members.map(([name, value]) => `${JSON.stringify(name)}${space}:${value}`).join(',')}}`)
  )
}))
const day = fc.date({ min: new Date('1000-01-01'), max: new Date('9000-01-01'), noInvalidDate: true }).map((date) =>
  date.toISOString())

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`
const orNull = (sql: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 5, arbitrary: sql }, fc.constant('NULL'))
const quoted = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> => texts.map(quote)
const bytes = fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes).toString('hex'))

/** The columns of a table, with the SQL of their values. */
type Columns = ReadonlyArray<readonly [name: string, type: string, sql: fc.Arbitrary<string>]>

const anything = fc.oneof(quoted(text), number.map(String), bytes.map((hex) => `x'${hex}'`), quoted(json), quoted(day))

const SQLITE: Columns = [
  ['name', 'TEXT', quoted(text)],
  [
    'whole', 'INTEGER',
    fc.oneof({ weight: 4, arbitrary: fc.integer().map(String) }, fc.constant('1119360021460566017'), anything)
  ],
  ['size', 'REAL', fc.oneof({ weight: 4, arbitrary: number.map(String) }, anything)],
  ['price', 'NUMERIC(10,2)', fc.oneof({ weight: 4, arbitrary: decimal }, anything)],
  ['done', 'BOOLEAN', fc.oneof({ weight: 4, arbitrary: fc.constantFrom('0', '1') }, anything)],
  ['born', 'DATE', fc.oneof({ weight: 4, arbitrary: quoted(day.map((day) => day.slice(0, 10))) }, anything)],
  ['at', 'DATETIME', fc.oneof({
    weight: 4,
    arbitrary: quoted(fc.oneof(day, day.map((day) =>
      day.slice(0, 19).replace('T', ' '))))
  }, anything)],
  ['photo', 'BLOB', fc.oneof({ weight: 4, arbitrary: bytes.map((hex) => `x'${hex}'`) }, anything)],
  ['data', 'JSON', fc.oneof({ weight: 4, arbitrary: quoted(json) }, anything)],
  ['mood', "TEXT CHECK (mood IN ('good', 'bad', ''))", quoted(fc.constantFrom('good', 'bad', ''))],
  ['free', '', anything],
  ['owner', 'INTEGER REFERENCES owners (id)', fc.constantFrom('1', '99', '1119360021460566017')]
]

const POSTGRES: Columns = [
  ['name', 'text', quoted(text)],
  ['code', 'varchar(9)', quoted(text.map((text) => [...text].slice(0, 9).join('')))],
  ['fixed', 'char(4)', quoted(fc.constantFrom('a', 'ab  ', '', 'abcd'))],
  ['whole', 'bigint', fc.oneof(fc.integer().map(String), fc.constant('1119360021460566017'))],
  ['size', 'double precision', number.map((number) => `${number}::text::float8`)],
  ['small', 'real', fc.constantFrom('0.1', '1.5', '-2e10')],
  ['price', 'numeric(10,2)', decimal],
  ['exact', 'numeric', decimal],
  ['done', 'boolean', fc.constantFrom('true', 'false')],
  ['born', 'date', quoted(day.map((day) => day.slice(0, 10)))],
  ['at', 'timestamptz', quoted(day)],
  ['local', 'timestamp', quoted(day.map((day) => day.slice(0, -1)))],
  ['clock', 'time', quoted(day.map((day) => day.slice(11, -1)))],
  ['photo', 'bytea', bytes.map((hex) => `'\\x${hex}'`)],
  ['key', 'uuid', quoted(fc.uuid())],
  ['data', 'json', quoted(json)],
  ['binary', 'jsonb', quoted(json.filter((json) => !json.includes('\\u0000')))],
  ['mood', 'mood', quoted(fc.constantFrom('good', 'bad'))],
  ['tags', 'text[]', fc.array(text.map((text) => text.replaceAll('\u0001', '')), { maxLength: 3 }).map((texts) =>
    `ARRAY[${texts.map(quote).join()}]::text[]`)],
  ['counts', 'integer[]', fc.constantFrom("'{}'", "'{1,2}'", "'{1,NULL}'", "'{{1},{2}}'", "'[0:1]={1,2}'")],
  ['net', 'inet', fc.constantFrom("'10.0.0.1'", "'10.0.0.0/8'")],
  ['span', 'interval', fc.constantFrom("'1 day'", "'1 mon -2:00'")],
  ['owner', 'integer', fc.constantFrom('1', '99')]
]

function insert (columns: Columns): string[] {
  const row = fc.tuple(...columns.map(([, , sql]) => orNull(sql)))
  const names = columns.map(([name]) => `"${name}"`).join()
  return fc.sample(row, { seed, numRuns: rows }).map((values, index) =>
    `INSERT INTO things (id, ${names}) VALUES (${index + 1}, ${values.join()})`)
}

const define = (columns: Columns): string => columns.map(([name, type]) => `"${name}" ${type}`).join()

async function serveSqlite (t: Test): Promise<Served> {
  const opened = makeDatabase(`
    PRAGMA foreign_keys = OFF;
    CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE things (id INTEGER PRIMARY KEY, ${define(SQLITE)});
    CREATE TABLE writes (count INTEGER);
    INSERT INTO writes VALUES (0); INSERT INTO owners VALUES (1, 'Ann');
    ${insert(SQLITE).join(';\n')};
    PRAGMA foreign_keys = ON;
    CREATE TRIGGER counted AFTER UPDATE ON things BEGIN UPDATE writes SET count = count + 1; END;`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => { await app.close(); opened.close() })
  app.register(database, { database: opened, write: true })
  await app.ready()
  const row = opened.prepare(`SELECT ${SQLITE.map(([name]) =>
    `hex("${name}"), typeof("${name}")`).join()} FROM things WHERE id = ?`)
  const writes = opened.prepare('SELECT count FROM writes')
  return { app, look: async (id) => ({ stored: row.all(id), writes: writes.all() }) }
}

async function servePostgres (t: Test): Promise<Served> {
  const { pool: makePool } = await startPostgres(t)
  const pool = makePool()
  await pool.query(`
    CREATE TYPE mood AS ENUM ('good', 'bad');
    CREATE TABLE owners (id integer PRIMARY KEY, name text);
    CREATE TABLE things (id serial PRIMARY KEY, ${define(POSTGRES)});
    INSERT INTO owners VALUES (1, 'Ann');
    ${insert(POSTGRES).join(';\n')};
    ALTER TABLE things ADD FOREIGN KEY (owner) REFERENCES owners NOT VALID`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool, write: true })
  await app.ready()
  return {
    app,
    async look (id) {
      const { rows: [row] } = await pool.query<{ stored: string, writes: string }>(
        'SELECT x::text AS stored, xmin AS writes FROM things x WHERE id = $1', [id]
      )
      return { stored: row?.stored, writes: row?.writes }
    }
  }
}

function isSame (a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

for (const [name, serve] of [['SQLite', serveSqlite], ['PostgreSQL', servePostgres]] as const) {
  t.test(`${name}: a row that is sent back as it was read keeps every byte`, async (t) => {
    const { app, look } = await serve(t)
    const failures: unknown[] = []
    for (let id = 1; id <= rows && failures.length < 5; id++) {
      for (const [format, send] of Object.entries(SEND)) {
        const before = await look(id)
        const status = await send(app, id)
        const after = await look(id)
        // JSON writes what it names.
        const isWritten = format !== 'json' && !isSame(before.writes, after.writes)
        if (status === 200 && !isWritten && isSame(before.stored, after.stored)) continue
        failures.push({ format, status, before, after, row: (await app.inject(`/things/${id}.xml`)).body })
      }
    }
    t.strictSame(failures, [], `seed ${seed}`)
  })
}

t.test('the form of a table that has nothing to fill in creates a row', async (t) => {
  const opened = makeDatabase(
    'CREATE TABLE tickets (id INTEGER PRIMARY KEY); CREATE TABLE stamps (id INTEGER PRIMARY KEY, text TEXT AS (id || ' +
      '1))'
  )
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => { await app.close(); opened.close() })
  app.register(database, { database: opened, write: true })
  for (const url of ['/tickets', '/stamps']) {
    const response = await app.inject(
      submit(findForm(await app.inject({ url: `${url}/new`, headers: html }), 'POST'), undefined, html)
    )
    t.equal(response.statusCode, 303, url)
    t.match(response.headers.location, `${url}/1`)
  }
})
