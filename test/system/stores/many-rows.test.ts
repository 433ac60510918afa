import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Store } from '../../../lib/index.js'
import { postgresStore } from '../../../lib/sql/postgres/index.js'
import { sqliteStore } from '../../../lib/sql/sqlite/index.js'
import { build } from '../../support/helper.js'
import { attributes, type OpenPosts, testManyRows } from '../../support/many-rows.js'
import { compareWithModel } from '../../support/many-rows-model.js'
import { openSqlitePosts, POSTS } from '../../support/stores/posts.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'
import { startPostgres } from '../../support/stores/postgres.js'

/** What a write of many posts answers in JSON. */
interface Answer {
  readonly posts?: ReadonlyArray<{ readonly title: string }>
  readonly rows?: ReadonlyArray<{ readonly index: number }>
}

for (const driver of await findDrivers()) {
  t.test(`SQLite by ${driver.name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'resources-rows-'))
    t.teardown(() => { rmSync(folder, { recursive: true }) })
    const open = openSqlitePosts(driver, folder)
    testManyRows(t, open)
    await t.test('random batches do what single writes would do, or nothing', (t) => compareWithModel(t, open, 400))
  })
}

t.test('PostgreSQL', async (t) => {
  const { pool: makePool } = await startPostgres(t)
  const pool = makePool()
  let tables = 0
  const open: OpenPosts = async () => {
    const store = postgresStore({ ...POSTS, table: `posts_${++tables}`, pool })
    await store.prepare()
    return store as Store
  }
  testManyRows(t, open)
  await t.test('random batches do what single writes would do, or nothing', (t) => compareWithModel(t, open, 400))
})

t.test('PostgreSQL inserts many rows by a few statements', async (t) => {
  const { pool: makePool } = await startPostgres(t)
  const pool = makePool()
  const inserted: string[] = []
  pool.on('connect', (client) => {
    const { query } = client
    client.query = function (this: typeof client, ...given: unknown[]): unknown {
      const { text } = Object(given[0]) as { readonly text?: string }
      if (text?.startsWith('INSERT') === true) inserted.push(text)
      return Reflect.apply(query, this, given)
    } as typeof query
  })
  const store = postgresStore({ ...POSTS, table: 'together', pool })
  await store.prepare()
  const app = await build(t, { name: 'posts', attributes, store: store as Store, maxRows: 3000 })
  const post = async (posts: readonly object[]): Promise<{ readonly statusCode: number, readonly answer: Answer }> => {
    inserted.length = 0
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/posts?format=json', payload: { posts } })
    return { statusCode, answer: JSON.parse(body) }
  }
  const titled = (count: number, name: string): Array<{ readonly title: string }> =>
    Array.from({ length: count }, (_, index) => ({ title: `${name}${index}` }))

  const given = [...titled(250, 'A'), { title: 'null', rating: null }, ...titled(2, 'B')]
  const { statusCode, answer } = await post(given)
  t.equal(statusCode, 201)
  t.same(answer.posts?.map(({ title }) => title), given.map(({ title }) => title), 'in the order of the request')
  t.equal(inserted.length, 3, '100 at a time')

  await t.test('and one by one, to find the row that it refuses', async (t) => {
    const { statusCode, answer } = await post([...titled(150, 'C'), { title: 'B1' }, ...titled(9, 'D')])
    t.equal(statusCode, 409)
    t.match(answer.rows, [{ index: 150, errors: { title: [/./] } }])
    t.equal(inserted.length, 153)
  })

  await t.test('and one by one, if a trigger suppresses a row', async (t) => {
    await pool.query(`CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RETURN CASE WHEN NEW.title <> 'E60' THEN NEW END; END $$`)
    await pool.query('CREATE TRIGGER suppress BEFORE INSERT ON together FOR EACH ROW EXECUTE FUNCTION suppress()')
    const { statusCode, answer } = await post(titled(70, 'E'))
    t.equal(statusCode, 422)
    t.match(answer.rows, [{ index: 60 }])
    t.equal(answer.rows?.length, 1)
  })

  await t.test('and one by one, if the ids do not tell the order', async (t) => {
    await pool.query('ALTER TABLE together ALTER id SET INCREMENT BY -1')
    const given = titled(5, 'F')
    const { statusCode, answer } = await post(given)
    t.equal(statusCode, 201)
    t.same(answer.posts?.map(({ title }) => title), given.map(({ title }) => title))
    t.equal(inserted.length, 6)
  })

  await t.test('and one by one, if a trigger changes the key', async (t) => {
    await pool.query('CREATE TABLE codes (code text COLLATE "C" PRIMARY KEY, version bigint NOT NULL DEFAULT 1)')
    await pool.query(`CREATE FUNCTION spell() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.code = upper(NEW.code); RETURN NEW; END $$`)
    await pool.query('CREATE TRIGGER spell BEFORE INSERT ON codes FOR EACH ROW EXECUTE FUNCTION spell()')
    const attributes = { type: 'object', properties: { code: { type: 'string' } } } as const
    const store = postgresStore({ attributes, table: 'codes', key: ['code'], pool })
    const app = await build(t, { name: 'codes', id: 'string', store: store as Store })
    const codes = [{ code: 'abc' }, { code: 'd' }]
    inserted.length = 0
    const { statusCode } = await app.inject({ method: 'POST', url: '/codes?format=json', payload: { codes } })
    t.equal(statusCode, 201)
    t.equal(inserted.length, 3)
  })
  const { rows } = await pool.query('SELECT count(*) AS count FROM together')
  t.equal(Number(rows[0].count), 258)
})

t.test('many rows may take longer in SQLite than a transaction of the app', async (t) => {
  const file = `${t.testdir()}/posts.sqlite`
  const store = sqliteStore({ ...POSTS, table: 'posts', file, busyTimeout: 5 })
  await store.prepare()
  const app = await build(t, { name: 'posts', attributes, store: store as Store, maxRows: 3000 })
  const posts = Array.from({ length: 3000 }, (_, index) => ({ title: `T${index}` }))
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/posts', payload: { posts } })
  t.equal(statusCode, 201, body.slice(0, 200))
})
