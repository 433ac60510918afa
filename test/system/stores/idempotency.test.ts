import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { type Store } from '../../../lib/index.js'
import { postgresStore } from '../../../lib/sql/postgres/index.js'
import { sqliteStore, sqliteStores } from '../../../lib/sql/sqlite/index.js'
import { describeDatabase } from '../../../lib/database/index.js'
import type { SqlTransactionContext } from '../../../lib/sql/store.js'
import { build } from '../../support/helper.js'
import { type Context, openKeyed, testIdempotency } from '../../support/idempotency.js'
import { attributes, type OpenPosts } from '../../support/many-rows.js'
import { until } from '../../support/program.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { openSqlitePosts, POSTS } from '../../support/stores/posts.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const TABLE = 'fastify_resources_requests'
const D = '{"post":{"title":"D"}}'
const MISSING =
  /"idempotency" of resource "posts" needs the table "fastify_resources_requests" .* CREATE TABLE IF NOT EXISTS .*/

for (const driver of await findDrivers()) {
  t.test(`SQLite by ${driver.name}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'resources-keys-'))
    t.teardown(() => { rmSync(folder, { recursive: true }) })
    const open = openSqlitePosts(driver, folder)
    testIdempotency(t, open)

    await t.test('the table is created with the others, or must exist', async (t) => {
      const file = join(folder, 'made.sqlite')
      const app = await build(t, { name: 'posts', attributes, stores: sqliteStores({ file }), idempotency: {} })
      await app.close()
      const database = driver.open(file)
      t.teardown(() => { database.close() })
      t.strictSame((await describeDatabase(database)).map(({ name }) => name), ['posts'], 'it is no resource')
      t.strictSame((await describeDatabase(database, { only: [TABLE] })).map(({ name }) => name), [TABLE])
      database.exec(`DROP TABLE ${TABLE}; CREATE TABLE ${TABLE} (key text)`)
      await t.rejects(build(t, { name: 'posts', attributes, stores: sqliteStores({ file }), idempotency: {} }),
        { message: MISSING })
      database.exec(`DROP TABLE ${TABLE}`)
      const store = (): Store => sqliteStore({ attributes, table: 'posts', file }) as Store
      await t.rejects(build(t, { name: 'posts', store: store(), idempotency: {} }), { message: MISSING })
      await t.rejects(build(t, { name: 'posts', store: sqliteStore({ table: 'posts', file }), idempotency: {} }),
        { message: MISSING })
      await build(t, { name: 'posts', store: store() })
      const withoutConnect = sqliteStore({ attributes, table: 'posts', database }) as Store
      await t.rejects(build(t, { name: 'posts', store: withoutConnect, idempotency: {} }),
        { message: /needs a store with transactions/ })
    })
  })
}

t.test('PostgreSQL', async (t) => {
  const { pool: makePool } = await startPostgres(t)
  const pool = makePool()
  let tables = 0
  const open: OpenPosts = async () => {
    const store = postgresStore({ ...POSTS, table: `posts_${++tables}`, pool })
    await store.prepare()
    await pool.query(`DROP TABLE IF EXISTS ${TABLE}`)
    return store as Store
  }
  testIdempotency(t, open)

  await t.test('a request waits for another with its key', async (t) => {
    let waiting = (): void => {}
    let goOn = (): void => {}
    const begun = new Promise<void>((resolve) => { waiting = resolve })
    const held = new Promise<void>((resolve) => { goOn = resolve })
    const settings: unknown[] = []
    const { send, stored } = await openKeyed(t, open, {}, {
      actions: {
        create: ({ store, attributes, transaction }) => transaction(async (context) => {
          const { sql } = context as typeof context & SqlTransactionContext
          settings.push(...await sql('SHOW lock_timeout'))
          waiting()
          await held
          return store.create(attributes, {}, context)
        })
      }
    })
    const first = send('POST', D, { key: 'k' })
    await begun
    const second = send('POST', D, { key: 'k' })
    await until('the second waits', async () => (await pool.query(WAITING)).rowCount === 1)
    goOn()
    t.match(await first, { status: 201, replayed: undefined })
    t.match(await second, { status: 201, replayed: 'true' })
    t.equal((await stored()).length, 4)
    t.strictSame(settings, [{ lock_timeout: '0' }], 'the wait for other locks has no new limit')
  })

  await t.test('a request that would wait for too long is a 409', async (t) => {
    const { app, send } = await openKeyed(t, open)
    const key = createHash('sha256').update('["","k"]').digest('base64url')
    const other = await pool.connect()
    await other.query('BEGIN')
    await other.query(`INSERT INTO ${TABLE} (key, digest, expires) VALUES ($1, '', '3000')`, [key])
    const answer = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'idempotency-key': 'k' },
      payload: D
    })
    t.strictSame([answer.statusCode, answer.headers['retry-after']], [409, '1'])
    t.match(answer.json().detail, 'is still being carried out')
    await other.query('ROLLBACK')
    other.release()
    t.equal((await send('POST', D, { key: 'k' })).status, 201)
  })

  await t.test('serializable transactions with one key are carried out once', async (t) => {
    const { pool: makePool } = await startPostgres(t)
    const serializable = makePool({ options: '-c default_transaction_isolation=serializable' })
    for (const actions of [{}, { create: ({ proceed }: Context) => proceed() }]) {
      const store = postgresStore({ ...POSTS, table: `posts_${++tables}`, pool: serializable }) as Store
      const { send, stored } = await openKeyed(t, async () => {
        await store.prepare?.()
        return store
      }, {}, { actions })
      for (const key of ['1', '2', '3', '4', '5']) {
        const body = JSON.stringify({ post: { title: key } })
        const answers = await Promise.all([1, 2, 3, 4].map(() => send('POST', body, { key: `${tables}-${key}` })))
        t.strictSame(answers.map(({ status }) => status), [201, 201, 201, 201])
      }
      t.equal((await stored()).length, 8)
    }
  })

  await t.test('expired requests are deleted by later ones', async (t) => {
    const { send } = await openKeyed(t, open)
    await pool.query(`INSERT INTO ${TABLE} SELECT n, '', '', '2020' FROM generate_series(1, 150) AS n`)
    const left = async (): Promise<unknown> =>
      (await pool.query(`SELECT FROM ${TABLE} WHERE expires = '2020'`)).rowCount
    for (let index = 0; index <= 10; index++) {
      t.equal((await send('PUT', `{"id":1,"post":{"rating":${index}}}`, { key: `k${index}` })).status, 200)
      t.equal(await left(), index < 10 ? 50 : 0)
    }
  })

  await t.test('the table is created in the schema of the others, or must exist', async (t) => {
    await pool.query('CREATE SCHEMA shop')
    const store = (migrate: boolean): Store =>
      postgresStore({ attributes, table: 'posts', schema: 'shop', pool, migrate }) as Store
    await build(t, { name: 'posts', store: store(true), idempotency: {} })
    await pool.query(`TABLE shop.${TABLE}`)
    await Promise.all([1, 2, 3].map(() => build(t, { name: 'posts', store: store(false), idempotency: {} })))
    await pool.query(`DROP TABLE shop.${TABLE}`)
    await t.rejects(build(t, { name: 'posts', store: store(false), idempotency: {} }), { message: MISSING })
    await pool.query('CREATE ROLE reader; GRANT USAGE ON SCHEMA shop TO reader; GRANT ALL ON shop.posts TO reader')
    const reader = makePool({ options: '-c role=reader' })
    const created = postgresStore({ attributes, table: 'posts', schema: 'shop', pool: reader, migrate: true }) as Store
    await t.rejects(build(t, { name: 'posts', store: created, idempotency: {} }), { message: MISSING })
    const gone = postgresStore({ attributes, table: 'posts', pool: makePool({ port: 1 }) })
    const unreachable: Store = { ...store(false), prepare: () => {}, requests: gone.requests }
    await t.rejects(build(t, { name: 'posts', store: unreachable, idempotency: {} }),
      { code: 'FST_RESOURCES_UNAVAILABLE' })
  })
})

const WAITING = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
