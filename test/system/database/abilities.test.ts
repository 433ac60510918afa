import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions, type TableReport } from '../../../lib/database/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'

/** What a column of each type of PostgreSQL keeps, by the type. */
const VALUES: Readonly<Record<string, string>> = {
  money: '1234.56',
  dues: '-5',
  xml: '<a/>',
  json: '{"a":1}',
  'box[]': '{(1,1),(0,0);(2,2),(0,0)}',
  tsvector: 'a b',
  pg_lsn: '0/16B3748',
  interval: '1 day',
  int4range: '[1,5)',
  frange: '[1,2)',
  oid: '5',
  regclass: 'pg_class',
  '"char"': 'a',
  pair: '(1,b)',
  mood: 'good',
  tags: '{a,b}',
  'text COLLATE ci': 'Abc',
  folded: 'Abc',
  xid8: '5',
  aclitem: 'postgres=r/postgres'
}

async function serve (
  t: Test,
  options: DatabaseOptions
): Promise<{ readonly app: FastifyInstance, readonly reports: ReadonlyMap<string, TableReport> }> {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  const reports = new Map<string, TableReport>()
  const report = (all: readonly TableReport[]): void => {
    for (const one of all) reports.set(one.table.name, one)
  }
  app.register(database, { write: true, defaults: { formats: ['json', 'xml', 'html', 'csv'] }, ...options, report })
  await app.ready()
  return { app, reports }
}

const server = await startPostgres(t)
const pool = server.pool()

/** The actions of a table that can be written. */
const ALL = ['list', 'show', 'create', 'new', 'update', 'edit', 'delete']

t.test('a column of any type of PostgreSQL is served, sorted, filtered and written', async (t) => {
  await pool.query(`
    CREATE SCHEMA types;
    SET search_path TO types;
    CREATE TYPE pair AS (a int, b text);
    CREATE TYPE mood AS ENUM ('good', 'bad');
    CREATE TYPE frange AS RANGE (subtype = float8);
    CREATE DOMAIN dues AS money;
    CREATE DOMAIN tags AS text[];
    CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE DOMAIN folded AS text COLLATE ci;
    ${Object.entries(VALUES).map(([type, value], index) => `
    CREATE TABLE t${index} (id serial PRIMARY KEY, n text, v ${type});
    INSERT INTO t${index} (n, v) VALUES ('a', '${value}'), ('b', NULL);`).join('')}
    RESET search_path`)
  const { app, reports } = await serve(t, { pool, schema: 'types' })
  for (const [index, type] of Object.keys(VALUES).entries()) {
    const { path, actions, problems } = reports.get(`t${index}`) as TableReport
    t.strictSame({ actions, problems }, { actions: ALL, problems: [] }, type)
    const get = async (query: string): Promise<{ statusCode: number, body: string }> =>
      app.inject(encodeURI(`${path}${query}`).replaceAll('+', '%2B'))
    const before = await pool.query(`SELECT * FROM types.t${index} WHERE id = 1`)
    const shown = await get('/1.json')
    const [[name, record]] = Object.entries<{ v: unknown }>(JSON.parse(shown.body)) as [[string, { v: unknown }]]
    const value = typeof record.v === 'string' ? record.v : JSON.stringify(record.v)
    const conditions = ['eq', 'not', 'in', 'gt', 'contains', 'starts'].map((operator) => `?v[${operator}]=${value}`)
    for (const query of [
      '.xml', '.html', '.csv', '?sort=v', '?sort=-v&limit=1', '?v[null]=true', '?q=b', ...conditions
    ]) {
      const { statusCode, body } = await get(query)
      t.ok(statusCode < 500, `${type} ${query}: ${statusCode} ${statusCode < 500 ? '' : body}`)
    }
    const answers = [
      await app.inject({ method: 'PUT', url: `${path}.json`, payload: { id: 1, [name]: record } }),
      await app.inject({ method: 'PUT', url: `${path}.json`, payload: { id: 1, [name]: { n: 'a' } } }),
      await app.inject({ method: 'POST', url: `${path}.json`, payload: { [name]: { ...record, id: undefined } } })
    ]
    t.strictSame(answers.map(({ statusCode }) =>
      statusCode), [200, 200, 201], `${type} ${answers.map(({ body }) => body)}`)
    t.strictSame((await pool.query(`SELECT * FROM types.t${index} WHERE id = 1`)).rows, before.rows, type)
    const texts = await pool.query(`SELECT v::text FROM types.t${index} WHERE n = 'a' ORDER BY id`)
    t.strictSame(texts.rows[0], texts.rows[1], `a new row has the value of ${type}`)
  }
})

t.test('a text of a nondeterministic collation is searched as it is, and compared as its collation says', async (t) => {
  await pool.query(`
    CREATE SCHEMA folded;
    CREATE TABLE folded.words (id int PRIMARY KEY, word text COLLATE types.ci);
    INSERT INTO folded.words VALUES (1, 'Tea'), (2, 'COFFEE')`)
  const { app } = await serve(t, { pool, schema: 'folded' })
  const find = async (query: string): Promise<unknown> => (await app.inject(`/words.json?${query}`)).json().words
    .map(({ id_: id }: { id_: number }) => id)
  t.strictSame(await find('word[contains]=offe'), [2])
  t.strictSame(await find('word[starts]=te'), [1])
  t.strictSame(await find('word=TEA'), [1])
  t.strictSame(await find('word[in]=tea,coffee'), [1, 2])
  t.strictSame(await find('sort=word'), [2, 1])
})

/** What a program with a collation and functions of its own has made, which nobody else has. */
const FOREIGN = `
  CREATE TABLE log (n text);
  CREATE TABLE layers (id integer PRIMARY KEY, name text);
  CREATE TABLE parents (id integer PRIMARY KEY, name text);
  CREATE TABLE children (id integer PRIMARY KEY, parent integer REFERENCES parents ON DELETE CASCADE);
  CREATE TABLE words (id integer PRIMARY KEY, word text COLLATE NOCASE, mark text COLLATE NOCASE UNIQUE, n integer);
  CREATE TABLE codes (code text COLLATE NOCASE PRIMARY KEY, n integer);
  CREATE TABLE sizes (id integer PRIMARY KEY, name text, size integer AS (length(name)), other integer AS (abs(id)));
  CREATE TABLE checked (id integer PRIMARY KEY, name text CHECK (length(name) > 0));
  CREATE TABLE plain (id integer PRIMARY KEY, name text);
  CREATE VIEW spoken AS SELECT id, word, n FROM words;
  INSERT INTO layers VALUES (1, 'roads');
  INSERT INTO parents VALUES (1, 'Ann');
  INSERT INTO children VALUES (1, 1);
  INSERT INTO words VALUES (1, 'b', 'x', 7), (2, 'a', 'y', 8);
  INSERT INTO codes VALUES ('b', 1), ('a', 2);
  INSERT INTO sizes (id, name) VALUES (1, 'abc');
  INSERT INTO checked VALUES (1, 'x');
  INSERT INTO plain VALUES (1, 'x');
  CREATE TRIGGER added AFTER INSERT ON layers BEGIN INSERT INTO log SELECT nofunc(new.name); END;
  CREATE TRIGGER changed AFTER UPDATE OF name ON layers BEGIN INSERT INTO log SELECT nofunc(new.name); END;
  CREATE TRIGGER removed AFTER DELETE ON children BEGIN SELECT nofunc(old.id); END;
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'nocoll') WHERE name IN ('words', 'codes');
  UPDATE sqlite_schema SET sql = replace(sql, 'length(', 'nofunc(') WHERE name IN ('sizes', 'checked');
  PRAGMA writable_schema = RESET`

t.test('what SQLite cannot do with a table is said at the start, and no request fails because of it', async (t) => {
  const opened = makeDatabase(FOREIGN)
  const { app, reports } = await serve(t, { database: opened })
  const readOnly = (name: string): string => `Rows of "${name}" are read-only: no such function: nofunc.`
  const cases: Readonly<Record<string, readonly [actions: readonly string[], problems: readonly string[]]>> = {
    layers: [[], [readOnly('layers')]],
    parents: [[], [readOnly('parents')]],
    children: [[], [readOnly('children')]],
    checked: [[], ['Rows of "checked" are read-only: unknown function: nofunc().']],
    plain: [ALL.slice(2), []]
  }
  for (const [name, problem] of Object.entries({
    spoken: 'no such collation sequence: nocoll',
    words: 'no such collation sequence: nocoll',
    codes: 'no such collation sequence: nocoll',
    sizes: 'unknown function: nofunc()'
  })) {
    t.match(reports.get(
      name
    ), { path: undefined, problems: [{ problem: `SQLite cannot read "${name}": ${problem}.` }] })
  }
  for (const [name, [writes, problems]] of Object.entries(cases)) {
    const { path, actions, problems: found } = reports.get(name) as TableReport
    t.strictSame(actions.slice(2), writes, name)
    t.strictSame(found.map(({ problem }) => problem), problems, name)
    t.equal((await app.inject(`${path}.json`)).statusCode, 200, name)
  }
  await app.close()
  opened.close()
})

t.test('a view is never evaluated at the start, and once for a list', async (t) => {
  const sql = `
    CREATE TABLE sales (id integer PRIMARY KEY, name text, price real, day date);
    INSERT INTO sales VALUES (1, 'a', 1.5, '2020-01-01'), (2, 'b', 2.5, '2020-01-02'), (3, 'a', 3, NULL);
    CREATE VIEW slow AS SELECT name, day, CAST(count(*) AS integer) AS n, sum(price) AS total FROM sales GROUP BY 1, 2;
    CREATE VIEW brief AS SELECT id, name, day FROM sales`
  const opened = makeDatabase(sql)
  const schema = 'seen'
  await pool.query(`CREATE SCHEMA ${schema}; SET search_path TO ${schema}; ${sql}; RESET search_path`)
  let evaluated: string[] = []
  const note = (text: string): void => {
    if (/"(?:slow|brief)"/.test(text) && !/^PRAGMA|pragma_/.test(text)) evaluated.push(text)
  }
  const counted = {
    exec: (text: string) => opened.exec(text),
    prepare (text: string) {
      const statement = opened.prepare(text)
      const all = statement.all.bind(statement)
      return Object.assign(statement, { all: (...values: unknown[]) => { note(text); return all(...values) } })
    }
  }
  const clients = server.pool()
  clients.on('connect', (client) => {
    const query = client.query.bind(client) as (...call: unknown[]) => unknown
    Object.assign(client, { query: (config: { text: string }) => { note(config.text); return query(config) } })
  })
  for (const [engine, options] of Object.entries({
    SQLite: { database: counted }, PostgreSQL: { pool: clients, schema }
  })) {
    evaluated = []
    const { app, reports } = await serve(t, options)
    t.strictSame(evaluated, [], `${engine}: the start`)
    const { attributes: { properties } } = (reports.get('slow') as TableReport).table
    t.match(properties, { name: { type: ['string', 'null'] }, day: { format: 'date' }, n: { type: /integer|string/ } })
    const forms = ['.json', '.xml', '.csv', '.html', '.json?limit=2', '.json?sort=-name', '.json?sort=day&limit=1']
    for (const url of forms.flatMap((form) => [`/slows${form}`, `/briefs${form}`])) {
      evaluated = []
      t.equal((await app.inject(url)).statusCode, 200)
      t.equal(evaluated.length, 1, `${engine} ${url}: ${evaluated.join('\n')}`)
    }
    await app.close()
  }
  opened.close()
})
