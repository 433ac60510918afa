import fastify from 'fastify'
import t from 'tap'
import { database, describeDatabase } from '../../../lib/database/index.js'
import { startPostgres } from '../../support/stores/postgres.js'

const server = await startPostgres(t)
await server.pool().query(`
  CREATE TABLE notes (id serial PRIMARY KEY, owner text NOT NULL, body text);
  INSERT INTO notes (owner, body) VALUES ('reader', 'mine'), ('admin', 'hidden'), ('public', 'shown');
  ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
  CREATE POLICY readable ON notes FOR SELECT USING (owner IN (current_user, 'public'));
  CREATE POLICY added ON notes FOR INSERT WITH CHECK (owner = current_user);
  CREATE POLICY changed ON notes FOR UPDATE USING (true) WITH CHECK (owner = current_user);
  CREATE POLICY removed ON notes FOR DELETE USING (owner = current_user);
  CREATE TABLE plain (id serial PRIMARY KEY, name text);
  CREATE ROLE reader LOGIN PASSWORD 'secret';
  GRANT SELECT, INSERT, UPDATE, DELETE ON notes, plain TO reader;
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO reader`)
const pool = server.pool({ connectionString: server.url.replace('postgres:secret', 'reader:secret') })

t.test('the policies of row security hide rows and refuse writes', async (t) => {
  const [notes, plain] = await describeDatabase(pool)
  t.strictSame(notes?.problems, [{ problem: '"notes" has row security: rows that its policies hide are not shown, and writes that they forbid are refused.' }])
  t.strictSame(plain?.problems, [])
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool, write: true })
  await app.ready()
  const json = { accept: 'application/json' }
  const send = async (method: 'POST' | 'PUT' | 'DELETE', payload: object, accept = 'application/json') =>
    app.inject({ method, url: '/notes', headers: { accept }, payload })
  t.strictSame((await app.inject({ url: '/notes', headers: json })).json().notes.map(({ id }: { id: number }) => id), [1, 3])
  t.equal((await app.inject({ url: '/notes/2', headers: json })).statusCode, 404)
  const forbidden = { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'you are not allowed to make this change' }
  t.strictSame((await send('POST', { note: { owner: 'admin' } })).json(), forbidden)
  t.strictSame((await send('PUT', { id: 1, note: { owner: 'admin' } })).json(), forbidden)
  t.match(await send('PUT', { id: 1, note: { owner: 'admin' } }, 'application/xml'), { statusCode: 403, body: /<error>you are not allowed to make this change<\/error>/i })
  t.match(await send('PUT', { id: 1, note: { owner: 'admin' } }, 'text/html'), { statusCode: 403, body: /not allowed to make this change/ })
  t.equal((await send('DELETE', { id: 3 })).statusCode, 404)
  t.equal((await send('PUT', { id: 2, note: { body: 'x' } })).statusCode, 404)
  t.equal((await send('PUT', { id: 1, note: { body: 'changed' } })).statusCode, 200)

  // A privilege that is taken away later is refused in the same way.
  await server.pool().query('REVOKE INSERT ON plain FROM reader')
  t.match((await app.inject({ method: 'POST', url: '/plains', headers: json, payload: { plain: { name: 'a' } } })).json(), forbidden)
})

t.test('a write beyond the columns that a role may write says which were ignored', async (t) => {
  await server.pool().query(`
    CREATE TABLE clerks (id serial PRIMARY KEY, name text, salary integer, "größe" integer);
    INSERT INTO clerks (name, salary, "größe") VALUES ('Ann', 100, 170);
    GRANT SELECT, INSERT, UPDATE (name) ON clerks TO reader;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO reader`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { pool, write: true, only: ['clerks'] })
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
    const res = await app.inject({ method, url: '/clerks', headers: { 'content-type': type, accept: 'application/json' }, payload })
    t.strictSame([res.statusCode, res.headers['ignored-attributes']], [method === 'POST' ? 201 : 200, ignored], payload)
    t.match((await app.inject('/clerks/1.json')).json(), { clerk: { name: 'Bob', salary: 100 } })
  }
})
