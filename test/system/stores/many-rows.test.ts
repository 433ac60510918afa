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

t.test('many rows may take longer in SQLite than a transaction of the app', async (t) => {
  const file = `${t.testdir()}/posts.sqlite`
  const store = sqliteStore({ ...POSTS, table: 'posts', file, busyTimeout: 5 })
  await store.prepare()
  const app = await build(t, { name: 'posts', attributes, store: store as Store, maxRows: 3000 })
  const posts = Array.from({ length: 3000 }, (_, index) => ({ title: `T${index}` }))
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/posts', payload: { posts } })
  t.equal(statusCode, 201, body.slice(0, 200))
})
