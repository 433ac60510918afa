import t, { type Test } from 'tap'
import { run } from '../../../lib/database/command/run.js'
import { findForm, submit } from '../../support/html/forms.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { database } from '../../../lib/database/index.js'

/** What both databases have, in the manner of real ones. `JSON` and `BIG` are types, `NOW` is a default. */
const SHARED = `
  CREATE TABLE users (id BIG PRIMARY KEY, name text NOT NULL, settings JSON NOT NULL DEFAULT '{}', extra JSON,
    at timestamp);
  CREATE TABLE posts (id BIG PRIMARY KEY, user_id BIG NOT NULL REFERENCES users (id), body text, score numeric(10,2),
    flags JSON DEFAULT '[]', parent_id BIG REFERENCES posts (id));
  CREATE TABLE memberships (user_id BIG NOT NULL REFERENCES users (id), team varchar(20) NOT NULL, role text,
    since date, PRIMARY KEY (user_id, team));
  CREATE TABLE files (name text PRIMARY KEY, size integer, checksum char(4));
  CREATE TABLE audit (id integer, what text);
  CREATE VIEW busy AS SELECT users.id AS user_id, users.name, CAST(count(*) AS integer) AS n
    FROM users JOIN posts ON posts.user_id = users.id GROUP BY users.id, users.name;
  INSERT INTO users (id, name, settings, extra, at) VALUES
    (1119360021460566017, 'Ann', '{"a b":1,"n":1.10,"x":{}}', '{}', '2020-01-02 03:04:05'),
    (7, 'Bob', '{}', 'null', NULL), (8, 'C & <D>', '[1, 2,3]', NULL, NULL),
    (9, '', '"text"', '12345678901234567890', NULL);
  INSERT INTO posts VALUES (1119360021460566018, 1119360021460566017, '  two  blanks ', 1.5, '["a",null,{}]', NULL),
    (2, 7, NULL, -0.01, NULL, 1119360021460566018), (3, 7, '', NULL, '[]', 2);
  INSERT INTO memberships VALUES (1119360021460566017, 'a,b/c', 'x', '2020-02-29'), (7, 'data.xml', NULL, NULL),
    (7, '.', '', NULL);
  INSERT INTO files VALUES ('data', 1, 'ab'), ('data.xml', 2, NULL), ('..', NULL, 'abcd'), ('%2E', 3, 'a');
  ${Array.from({ length: 390 }, (_, index) => `
  CREATE TABLE part_${index} (id integer PRIMARY KEY, label text,
    part_id integer REFERENCES part_${Math.max(0, index - 1)});`).join('')}
  INSERT INTO part_5 VALUES (1, 'only', NULL);`

const write = (words: Readonly<Record<string, string>>): string =>
  SHARED.replaceAll(/\b(?:JSON|BIG)\b/g, (word) => words[word] as string)

const SQLITE = `${write({ JSON: 'json', BIG: 'integer' })}
  CREATE TRIGGER stamped AFTER UPDATE ON users BEGIN INSERT INTO audit VALUES (old.id, 'users'); END;
  CREATE TRIGGER noted AFTER UPDATE ON posts BEGIN INSERT INTO audit VALUES (old.id, 'posts'); END;`
const POSTGRES = `${write({ JSON: 'json', BIG: 'bigint' })}
  ALTER TABLE audit ALTER id TYPE bigint;
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO audit VALUES (OLD.id, TG_TABLE_NAME); RETURN NEW; END $$;
  CREATE TRIGGER stamped AFTER UPDATE ON users FOR EACH ROW EXECUTE FUNCTION note();
  CREATE TRIGGER noted AFTER UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION note();`

const TABLES = ['users', 'posts', 'memberships', 'files', 'audit', 'part_5']

/** Starts the command, and returns its URL and what it has printed. */
async function start (t: Test, source: string): Promise<{ readonly url: string, readonly printed: string }> {
  const stop = new AbortController()
  let ended: Promise<number> | undefined
  let complained = ''
  const printed = await new Promise<string>((resolve, reject) => {
    const complain = (text: string): void => { complained += text }
    ended = run([source, '--write', '--port', '0'], { env: {}, print: resolve, complain, signal: stop.signal })
    ended.then(() => { reject(new Error(complained)) }, reject)
  })
  t.teardown(async () => {
    stop.abort()
    await ended
  })
  return { url: / is at (\S+)\/$/m.exec(printed)?.[1] as string, printed }
}

const server = await startPostgres(t)

for (const engine of ['SQLite', 'PostgreSQL']) {
  t.test(`${engine}: a database of 400 tables is served, and each row is sent back unchanged`, async (t) => {
    const path = `${t.testdir()}/real.sqlite`
    const pool = server.pool()
    const opened = makeDatabase(engine === 'SQLite' ? SQLITE : '', path)
    t.teardown(() => opened.close())
    if (engine === 'PostgreSQL') await pool.query(POSTGRES)
    const query = async (text: string): Promise<unknown> =>
      engine === 'SQLite' ? opened.prepare(text).all() : (await pool.query(text)).rows
    /** Returns the bytes of all rows, as the database itself writes them. */
    const dump = async (): Promise<string> => {
      const texts = await Promise.all(TABLES.map(async (table) => {
        const [row] = await query(`SELECT * FROM ${table} LIMIT 1`) as object[]
        const columns = Object.keys(row ?? {}).map((name) => `CAST(${name} AS text) AS ${name}`)
        const rows = row === undefined ? [] : await query(`SELECT ${columns.join(', ')} FROM ${table}`) as object[]
        return [table, ...rows.map((row) => JSON.stringify(row)).sort()]
      }))
      return JSON.stringify(texts, undefined, 1)
    }
    const { url, printed } = await start(t, engine === 'SQLite' ? path : server.url)
    const paths = [...printed.matchAll(/^ {2}(\/\S+) {2,}\S/gm)].map(([, path]) => path as string)
    t.equal(paths.length, 396)
    const answer = async (path: string, options: RequestInit = {}): Promise<{ status: number, body: string }> => {
      const response = await fetch(url + path, { redirect: 'manual', ...options })
      return { status: response.status, body: await response.text() }
    }
    const isPart = (path: string): boolean => path.startsWith('/part')
    for (const path of [...paths.filter((path) => !isPart(path)), ...paths.filter(isPart).slice(0, 8)]) {
      for (const format of ['json', 'xml', 'csv', 'html']) {
        const { status, body } = await answer(`${path}.${format}`)
        t.equal(status, 200, `${path}.${format} ${status === 200 ? '' : body}`)
      }
    }
    const before = await dump()
    const rows: string[] = []
    for (const path of ['/users', '/posts', '/memberships', '/files', '/part-5']) {
      const page = (await answer(`${path}.html`)).body
      const links = [...page.matchAll(new RegExp(`href="(${path}/[^"?#]+)"`, 'g'))].map(([, link]) => link as string)
      rows.push(...new Set(links.filter((link) => !/\.css$|\/new$/.test(link))))
    }
    t.equal(rows.length, 15, rows.join(' '))
    const sendBack = async (row: string, format: 'xml' | 'html' | 'json'): Promise<void> => {
      const types = { xml: 'application/xml', html: 'text/html', json: 'application/json' }
      const shown = await answer(format === 'html' ? `${row}/edit` : row, { headers: { accept: types[format] } })
      t.equal(shown.status, 200, `${row} ${format}`)
      const list = row.replace(/\/[^/]*$/, '')
      if (format === 'html') {
        const { method, url, payload, headers } = submit(findForm(shown.body, 'PUT'), undefined, {})
        const form = { method: String(method), body: String(payload), headers: headers as Record<string, string> }
        const { status, body } = await answer(String(url), form)
        t.equal(status, 303, `${row} as a form: ${body.slice(0, 2000)}`)
        return
      }
      const headers = { 'content-type': types[format], accept: 'application/json' }
      const { status, body } = await answer(list, { method: 'PUT', body: shown.body, headers })
      t.equal(status, 200, `${row} as ${format}: ${shown.body} ${body}`)
    }
    for (const row of rows) for (const format of ['xml', 'html'] as const) await sendBack(row, format)
    t.equal(await dump(), before, 'neither XML nor a form writes anything')
    for (const row of rows) await sendBack(row, 'json')
    await query('DELETE FROM audit')
    t.equal(await dump(), before, 'JSON changes no byte')
  })
}

const COUNT = 100
const SQL = Array.from({ length: COUNT }, (_, index) => `
  CREATE TABLE table_${index} (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    price NUMERIC(10,2),
    at DATETIME,
    parent INTEGER REFERENCES table_${Math.max(0, index - 1)}
  );`).join('')

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: object }
}

t.test('the OpenAPI document of 100 tables is complete', async (t) => {
  const opened = makeDatabase(SQL)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Many', version: '1.0.0' } } })
  app.register(database, { database: opened, write: true, report: () => {} })
  await app.ready()
  const document = app.swagger() as unknown as Document
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  t.equal(operations.length, COUNT * 7, 'each table has seven operations, and the home page has none')
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length, 'their ids are unique')
  // Each reference has a target.
  const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)].map(([, path = '']) => path)
  const find = (path: string): unknown => path.split('/').reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    document
  )
  t.ok(targets.length > COUNT)
  t.strictSame([...new Set(targets)].filter((path) => find(path) === undefined), [])
  t.equal((await app.inject('/table-99s')).statusCode, 404)
  t.equal((await app.inject('/table-99')).statusCode, 200)
})
