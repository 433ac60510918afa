import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import {
  database, describeDatabase, type PostgresTables, type TableReport, type TablesOptions
} from '../../../lib/database/index.js'
import { run } from '../../../lib/database/command/run.js'
import { loadModule } from '../../../lib/sql/sqlite/file.js'
import { start } from '../../support/command.js'
import { startPostgres } from '../../support/stores/postgres.js'

const server = await startPostgres(t)

const SQL = `
  CREATE SCHEMA shop;
  CREATE TYPE shop.mood AS ENUM ('good', 'bad');
  CREATE TABLE shop.people (
    id bigserial PRIMARY KEY,
    full_name varchar(80) NOT NULL,
    email text UNIQUE,
    born date,
    salary numeric(10,2),
    mood shop.mood,
    tags text[],
    seen timestamptz NOT NULL DEFAULT '2020-01-01Z'
  );
  CREATE TABLE shop."order" (
    "customer id" bigint NOT NULL REFERENCES shop.people,
    line integer NOT NULL,
    "select" text,
    placed timestamp,
    PRIMARY KEY ("customer id", line)
  );
  CREATE TABLE shop."😀" (
    code uuid PRIMARY KEY DEFAULT gen_random_uuid(), at interval, range int4range, data jsonb, photo bytea
  );
  CREATE VIEW shop.rich AS SELECT id, full_name FROM shop.people WHERE salary > 100;
  CREATE MATERIALIZED VIEW shop.counted AS SELECT mood, count(*) FROM shop.people GROUP BY mood;
  INSERT INTO shop.people (full_name, salary, mood, tags) VALUES
    ('Ann', 120.5, 'good', '{a,b}'),
    ('Bob', 90, NULL, NULL);
  INSERT INTO shop."order" VALUES (1, 1, 'x', '2020-01-02 03:04:05.5'), (1, 2, NULL, NULL);
  INSERT INTO shop."😀" (code, at, range, data, photo) VALUES
    ('01890a5d-ac96-774b-bcce-b302099a8057', '1 day', '[1,5)', '{"a": 1.50}', '\\x00ff');
  CREATE ROLE reader LOGIN PASSWORD 'secret';
  GRANT USAGE ON SCHEMA shop TO reader;
  GRANT SELECT ON shop.people, shop.rich TO reader;
  REFRESH MATERIALIZED VIEW shop.counted`

const pool = server.pool()
await pool.query(SQL)

t.test('the tables of a schema are served, and written', async (t) => {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  let reports: readonly TableReport[] = []
  app.register(database, {
    pool,
    schema: 'shop',
    write: true,
    report: (tables: readonly TableReport[]) => {
      reports = tables
    }
  })
  await app.ready()
  t.strictSame(reports.map(({ table: { name }, path, actions }) =>
    `${name} ${path} ${actions.slice(2).join(' ')}`.trim()).sort(), [
    'counted /counteds', 'order /orders create new update edit delete', 'people /people create new update edit delete',
    'rich /riches', '😀 /u1f600 create new update edit delete'
  ])
  t.match((await app.inject('/people/1.json')).json(), {
    person: { id: 1, full_name: 'Ann', salary: '120.50', mood: 'good', tags: ['a', 'b'] }
  })
  t.match((await app.inject('/u1f600.json')).json(), {
    u1f600: [{ at: '1 day', range: '[1,5)', data: { a: 1.5 }, photo: 'AP8=' }]
  })
  const { headers: { etag } } = await app.inject('/orders/1,2.json')
  const update = async (text: string): Promise<number> => (await app.inject({
    method: 'PUT',
    url: '/orders.json',
    headers: { 'if-match': String(etag) },
    payload: { id: '1,2', order: { select: text } }
  })).statusCode
  t.equal(await update('tea'), 200)
  t.equal(await update('coffee'), 412, 'the version is the xmin of the row')
  const { rows } = await pool.query('SELECT "select" FROM shop."order" WHERE line = 2')
  t.strictSame(rows, [{ select: 'tea' }])
  t.match(
    (await app.inject({ url: '/', headers: { accept: 'text/html' } })).body, /<a href="\/people">People<\/a>.*>2</
  )
})

t.test('the number of queries at the start does not depend on the number of tables', async (t) => {
  await pool.query(`CREATE SCHEMA many; ${Array.from({ length: 60 }, (_, index) => `
    CREATE TABLE many.t${index} (id bigserial PRIMARY KEY, name text UNIQUE, parent bigint REFERENCES many.t${Math.max(
      0, index - 1
    )});`)
      .join('')}`)
  const texts: string[] = []
  let open = 0
  let most = 0
  // A pool with one connection serves any number of tables.
  const counted = server.pool({ max: 1 })
  counted.on('acquire', () => { most = Math.max(most, ++open) })
  counted.on('release', () => { open-- })
  counted.on('connect', (client) => {
    const { query } = client
    client.query = ((config: { text: string }, ...others: unknown[]) => {
      texts.push(config.text)
      return (query as (...call: unknown[]) => unknown).call(client, config, ...others)
    }) as typeof query
  })
  const start = async (only?: readonly string[]): Promise<FastifyInstance> => {
    texts.length = 0
    const app = fastify({ pluginTimeout: 0 })
    t.teardown(() => app.close())
    app.register(database, { pool: counted, schema: 'many', ...(only && { only }), write: true, report: () => {} })
    await app.ready()
    return app
  }
  await start(['t1'])
  const few = texts.filter((text) => !text.includes('set_config')).length
  const app = await start()
  t.equal(texts.length, few)
  t.ok(few <= 6, `${few} queries`)
  t.equal(most, 1)
  t.equal((await app.inject({ method: 'POST', url: '/t59.json', payload: { t59: { name: 'T' } } })).statusCode, 201)
})

t.test('the command serves what the user of the database may read', async (t) => {
  const url = server.url.replace(/\/\/.*@/, '//reader:secret@')
  const stop = new AbortController()
  let complained = ''
  let ended: Promise<number> | undefined
  const printed = await new Promise<string>((resolve, reject) => {
    ended = run(['--schema', 'shop', '--write', '--port', '0'], {
      env: { DATABASE_URL: url },
      print: resolve,
      complain: (text) => {
        complained += text
      },
      signal: stop.signal
    })
    ended.then(() => { reject(new Error(complained)) }, reject)
  })
  t.notMatch(printed, 'secret')
  t.match(printed, /^ {2}\/people {2}people \(read-only\)\n {2}\/riches {2}rich \(view; read-only\)\n$/m)
  t.match(printed, /^ {2}people: The database does not let you write "people"\.$/m)
  const [, home = ''] = / is at (\S+)$/m.exec(printed) ?? []
  t.same(await (await fetch(`${home}riches?format=json`)).json(), {
    riches: [{ id: '1,Ann', id_: '1', full_name: 'Ann' }]
  })
  const page = await (await fetch(home, { headers: { accept: 'text/html' } })).text()
  t.match(page, `<h1>${new URL(url).pathname.slice(1)}</h1>`, 'the home page is called like the database')
  stop.abort()
  t.equal(await ended, 0)
})

t.test('a connection that breaks while it is idle is logged', async (t) => {
  const { Pool } = loadModule(
    'pg'
  ) as { Pool: new (options: object) => { on (event: string, listener: (error: Error) => void): unknown } }
  // The connection breaks as soon as somebody listens.
  class BreakingPool extends Pool {
    override on (event: string, listener: (error: Error) => void): unknown {
      if (event === 'error') listener(new Error('the connection broke'))
      return super.on(event, listener)
    }
  }
  let complained = ''
  const code = await run([server.url, '--port', '0'], {
    env: {},
    print: () => {},
    complain: (text) => {
      complained += text
    },
    signal: AbortSignal.abort(),
    load: () => ({ Pool: BreakingPool })
  })
  t.equal(code, 0)
  t.match(complained, /"level":40.*the connection broke/)
})

const serverSecured = await startPostgres(t)
await serverSecured.pool().query(`
  CREATE TABLE notes (id serial PRIMARY KEY, owner text NOT NULL, body text);
  INSERT INTO notes (owner, body) VALUES ('member', 'mine'), ('admin', 'hidden'), ('public', 'shown');
  ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
  CREATE POLICY readable ON notes FOR SELECT USING (owner IN (current_user, 'public'));
  CREATE POLICY added ON notes FOR INSERT WITH CHECK (owner = current_user);
  CREATE POLICY changed ON notes FOR UPDATE USING (true) WITH CHECK (owner = current_user);
  CREATE POLICY removed ON notes FOR DELETE USING (owner = current_user);
  CREATE TABLE plain (id serial PRIMARY KEY, name text);
  CREATE ROLE member LOGIN PASSWORD 'secret';
  GRANT SELECT, INSERT, UPDATE, DELETE ON notes, plain TO member;
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO member`)
const poolSecured = serverSecured.pool({
  connectionString: serverSecured.url.replace('postgres:secret', 'member:secret')
})

t.test('the policies of row security hide rows and refuse writes', async (t) => {
  const [notes, plain] = await describeDatabase(poolSecured)
  t.strictSame(notes?.problems, [
    {
      problem:
        '"notes" has row security: rows that its policies hide are not shown, and writes that they forbid are refused.'
    }
  ])
  t.strictSame(plain?.problems, [])
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool: poolSecured, write: true })
  await app.ready()
  const json = { accept: 'application/json' }
  const send = async (method: 'POST' | 'PUT' | 'DELETE', payload: object) =>
    app.inject({ method, url: '/notes', headers: json, payload })
  t.strictSame((await app.inject({ url: '/notes', headers: json })).json().notes.map(({ id }: { id: number }) =>
    id), [1, 3])
  t.equal((await app.inject({ url: '/notes/2', headers: json })).statusCode, 404)
  const forbidden = {
    type: 'about:blank', title: 'Forbidden', status: 403, detail: 'you are not allowed to make this change'
  }
  t.strictSame((await send('POST', { note: { owner: 'admin' } })).json(), forbidden)
  t.strictSame((await send('PUT', { id: 1, note: { owner: 'admin' } })).json(), forbidden)
  t.equal((await send('DELETE', { id: 3 })).statusCode, 404)
  t.equal((await send('PUT', { id: 2, note: { body: 'x' } })).statusCode, 404)
  t.equal((await send('PUT', { id: 1, note: { body: 'changed' } })).statusCode, 200)

  // A privilege that is taken away later is refused in the same way.
  await serverSecured.pool().query('REVOKE INSERT ON plain FROM member')
  t.match(
    (await app.inject({ method: 'POST', url: '/plains', headers: json, payload: { plain: { name: 'a' } } })).json(),
    forbidden
  )
})

t.test('a write beyond the columns that a role may write says which were ignored', async (t) => {
  await serverSecured.pool().query(`
    CREATE TABLE clerks (id serial PRIMARY KEY, name text, salary integer, "größe" integer);
    INSERT INTO clerks (name, salary, "größe") VALUES ('Ann', 100, 170);
    GRANT SELECT, INSERT, UPDATE (name) ON clerks TO member;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO member`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool: poolSecured, write: true, only: ['clerks'] })
  await app.ready()
  const form = 'clerk[name]=Bob&clerk[salary]=5&id=1'
  const cases: ReadonlyArray<readonly [type: string, payload: string, ignored: string | undefined, method?: 'POST']> = [
    ['application/json', '{"id":1,"clerk":{"name":"Bob"}}', undefined],
    ['application/json', '{"id":1,"clerk":{"name":"Bob","salary":5}}', 'salary'],
    ['application/json', '{"id":1,"clerk":{"name":"Bob","größe":1,"salary":5}}', 'salary, gr%C3%B6%C3%9Fe'],
    ['application/xml', '<clerk><id>1</id><name>Bob</name><salary>5</salary></clerk>', 'salary'],
    ['application/x-www-form-urlencoded', form, 'salary'],
    ['application/json', '{"clerk":{"name":"Eve","salary":5}}', 'salary', 'POST']
  ]
  for (const [type, payload, ignored, method = 'PUT'] of cases) {
    const res = await app.inject({
      method, url: '/clerks', headers: { 'content-type': type, accept: 'application/json' }, payload
    })
    t.strictSame([res.statusCode, res.headers['ignored-attributes']], [method === 'POST' ? 201 : 200, ignored], payload)
    t.match((await app.inject('/clerks/1.json')).json(), { clerk: { name: 'Bob', salary: 100 } })
  }
})

const serverOfSchemas = await startPostgres(t)
const poolOfSchemas = serverOfSchemas.pool()
await poolOfSchemas.query(`
  CREATE SCHEMA sales; CREATE SCHEMA hr; CREATE SCHEMA "Big Data"; CREATE SCHEMA empty; CREATE SCHEMA secret;
  CREATE TABLE hr.departments (id serial PRIMARY KEY, name text NOT NULL);
  CREATE TABLE hr.employees (
    id serial PRIMARY KEY, name text NOT NULL, salary integer, department_id integer REFERENCES hr.departments
  );
  CREATE TABLE sales.employees (id serial PRIMARY KEY, region text);
  CREATE TABLE sales.orders (
    id serial PRIMARY KEY, seller_id integer REFERENCES hr.employees, rep_id integer REFERENCES sales.employees,
    source_id integer
  );
  CREATE TABLE sales.hr_departments (id serial PRIMARY KEY);
  CREATE TABLE "Big Data"."Click" (id serial PRIMARY KEY, order_id integer REFERENCES sales.orders);
  ALTER TABLE sales.orders ADD FOREIGN KEY (source_id) REFERENCES "Big Data"."Click";
  CREATE VIEW hr.paid AS SELECT id, name FROM hr.employees WHERE salary > 0;
  CREATE TABLE secret.plans (id serial PRIMARY KEY);
  INSERT INTO hr.departments (name) VALUES ('Law');
  INSERT INTO hr.employees (name, salary, department_id) VALUES ('Ann', 5, 1);
  INSERT INTO sales.employees (region) VALUES ('North');
  INSERT INTO sales.orders (seller_id, rep_id) VALUES (1, 1);
  CREATE ROLE seller LOGIN PASSWORD 'secret';
  GRANT USAGE ON SCHEMA sales, hr, "Big Data" TO seller;
  GRANT SELECT ON ALL TABLES IN SCHEMA sales, hr, "Big Data" TO seller;
  GRANT SELECT ON secret.plans TO seller`)

type SchemaOptions = Partial<TablesOptions> & Pick<PostgresTables, 'schema'>

/** Serves schemas, and returns what the report says. */
async function serveSchemas (t: Test, options: SchemaOptions) {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  let reports: readonly TableReport[] = []
  app.register(database, { pool: poolOfSchemas, report: (tables) => { reports = tables }, ...options })
  await app.ready()
  const json = async (url: string): Promise<object> =>
    (await app.inject({ url, headers: { accept: 'application/json' } })).json()
  const names = reports.map(({ table: { qualifiedName, name }, path }) => `${qualifiedName ?? name} ${path}`)
  return { app, reports, names, json }
}

t.test('tables of the first schema have plain names, and all others those of their schema', async (t) => {
  const { app, reports, names, json } = await serveSchemas(t, { schema: ['sales', 'hr', 'Big Data'] })
  t.strictSame(names, [
    'employees /employees', 'hr_departments /hr-departments', 'orders /orders', 'Big Data.Click /big-data-clicks',
    'hr.departments /hr-departments-2', 'hr.employees /hr-employees', 'hr.paid /hr-paids'
  ])
  t.match(reports.find(({ path }) => path === '/hr-employees'), {
    name: 'hrEmployees', table: { name: 'employees', schema: 'hr', qualifiedName: 'hr.employees' }
  })
  t.match(await json('/orders/1?include=seller,rep'), {
    order: { id: 1, seller_id: 1, rep_id: 1, seller: { name: 'Ann', salary: 5 }, rep: { region: 'North' } }
  }, 'a foreign key leads into the schema that it names')
  t.match(await json('/hr-employees/1?include=department'), { hrEmployee: { department: { name: 'Law' } } })
  const page = async (url: string): Promise<string> =>
    (await app.inject({ url, headers: { accept: 'text/html' } })).body
  t.match(await page('/hr-employees'), '<h1>Hr employees</h1>')
  t.match(await page('/orders'), '<a href="/hr-employees/1">Ann</a>')
  const home = await page('/')
  for (const title of ['Employees', 'Hr employees', 'Big data click']) t.match(home, `>${title}</a>`)

  // Which tables another schema has changes no name.
  t.strictSame((await serveSchemas(t, { schema: ['hr', 'sales'], only: ['employees', 'sales.orders'] })).names,
    ['employees /employees', 'sales.orders /sales-orders'])
  const single = await serveSchemas(t, { schema: 'sales' })
  t.strictSame(single.names, ['employees /employees', 'hr_departments /hr-departments', 'orders /orders'])
  t.strictSame(single.reports.map(({ table: { references } }) => references), [{}, {}, { rep_id: 'employees' }],
    'a foreign key to a schema that is not served is none')
})

t.test('two tables with one name are refused', async (t) => {
  await poolOfSchemas.query('CREATE SCHEMA odd; CREATE TABLE odd."hr.employees" (id serial PRIMARY KEY)')
  await t.rejects(serveSchemas(t, { schema: ['odd', 'hr'] }), {
    message: 'Option "schema" of the plugin "database" has two tables that are called "hr.employees".'
  })
  await poolOfSchemas.query('DROP SCHEMA odd CASCADE')
})

t.test('options name a table outside of the first schema with its schema', async (t) => {
  const schema = ['sales', 'hr']
  const { names, json } = await serveSchemas(t, {
    schema,
    only: ['orders', 'employees', 'hr.employees', 'hr.paid'],
    except: ['hr.paid'],
    nameOf: ({ qualifiedName }) => qualifiedName === 'hr.employees' ? 'staff' : undefined,
    tables: { 'hr.employees': { hide: ['salary'] }, employees: { html: { pageSize: 5 } } }
  })
  t.strictSame(names, ['employees /employees', 'orders /orders', 'hr.employees /staff'])
  t.match(await json('/orders/1?include=seller'), { order: { seller: { name: 'Ann', salary: undefined } } })
  const described = await describeDatabase(poolOfSchemas, { schema, only: ['orders', 'hr.employees'] })
  t.strictSame(described.map(({ name, references }) => [name, references]), [
    ['orders', { seller_id: 'hr.employees', rep_id: 'employees' }], ['employees', { department_id: 'hr.departments' }]
  ])
  t.strictSame((await serveSchemas(t, { schema, descriptions: described, only: ['hr.employees'] })).names,
    ['hr.employees /hr-employees'])

  const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
    [{ only: ['departments'] }, /"only".* names "departments", which is not a table or view/],
    [{ except: ['hr.employes'] }, /"except".* names "hr.employes".*; did you mean "hr.employees"\?/],
    [{ tables: { 'hr.employees': { hide: ['id'] } } }, /names "id" of the table "hr.employees"/],
    [{ tables: { 'hr.employees': { stamp: { at: () => '' } } } }, /"tables.hr.employees.stamp"/],
    [{ tables: { 'hr.employees': { only: ['create'] } } }, /has "hr.employees", whose "only"/],
    [{ nameOf: () => 'all' }, /to both "employees" and "hr_departments"/],
    [{ schema: ['sales', 'hrr'] }, /is "hrr", which does not exist; did you mean "hr"\?/],
    ...[[], ['sales', ''], 1, ''].map((schema) =>
      [{ schema }, /"schema".* must be the name of a schema, or a list/] as const)
  ]
  for (const [options, message] of cases) {
    await t.rejects(serveSchemas(t, { schema, ...options }), { message }, String(message))
  }
})

t.test('the command says which other schemas have tables', async (t) => {
  const url = serverOfSchemas.url.replace(/\/\/.*@/, '//seller:secret@')
  const said = async (...flags: string[]): Promise<string> => (await start(t, [url, ...flags])).printed
  const bare = await said()
  t.match(bare, /^No table is served\.\n\nOther schemas with tables: Big Data, hr, sales\. Serve them with --schema\.\n$/m)
  const both = await said('--schema', 'sales,hr', '--hide', 'hr.employees.salary', '--write')
  t.match(both, /^ {2}\/hr-employees {4} {2}hr\.employees \(read-only\)\n/m)
  t.match(both, /^ {2}hr\.departments: The database does not let you write "departments"\.\n/m)
  t.match(both, /^ {2}Views are read-only: hr\.paid\n/m)
  t.match(both, /^Other schemas with tables: Big Data\. /m)
  t.notMatch(await said('--schema', 'sales', '--schema', 'hr,Big Data'), 'Other schemas')

  await poolOfSchemas.query(Array.from({ length: 12 }, (_, index) =>
    `CREATE SCHEMA tenant${index}; CREATE TABLE tenant${index}.notes (id serial PRIMARY KEY)`).join('; '))
  t.match((await start(t, [serverOfSchemas.url])).printed, 'Other schemas with tables: Big Data, hr, sales, secret, ' +
    'tenant0, tenant1, tenant10, tenant11, tenant2, tenant3, and 6 more. Serve them with --schema.\n')
})
