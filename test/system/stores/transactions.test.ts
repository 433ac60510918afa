import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import type pg from 'pg'
import t, { type Test } from 'tap'
import type { Context, Store } from '../../../lib/index.js'
import {
  type PostgresClient, type PostgresPool, type PostgresQuery, type PostgresResult, postgresStore, type PostgresStore
} from '../../../lib/sql/postgres/index.js'
import { sqliteStore, type SqliteStore, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { context, every, messageOf, readAll, thrownBy } from '../../support/stores/sql-engines.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, rank: { type: ['integer', 'null'] } }
} as const
const POSTS = { table: 'posts', attributes, unique: ['title'], migrate: true } as const satisfies SqlStoreOptions
const ANY = { version: undefined, scope: {} }
const BUSY = 'FST_RESOURCES_UNAVAILABLE'

const server = await startPostgres(t)
let schemas = 0

/** Returns options of a pool whose tables are in a schema of their own. */
async function makeSchema (): Promise<pg.PoolConfig> {
  const schema = `schema_${++schemas}`
  await server.pool().query(`CREATE SCHEMA ${schema}`)
  return { options: `-c search_path=${schema}` }
}

async function openPosts (options: pg.PoolConfig = {}): Promise<{ pool: pg.Pool, posts: PostgresStore }> {
  const pool = server.pool({ ...await makeSchema(), ...options })
  const posts = postgresStore({ ...POSTS, pool }) as PostgresStore
  await posts.migrate()
  return { pool, posts }
}

function makeFile (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'resources-transactions-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  return join(folder, 'blog.sqlite')
}

/** A pool that replaces the answers of some queries of another one. */
function altered (
  pool: pg.Pool,
  answer: (query: PostgresQuery, run: () => Promise<PostgresResult>, client: pg.PoolClient) => Promise<PostgresResult>
): PostgresPool {
  return Object.create(pool, {
    connect: {
      async value (): Promise<PostgresClient> {
        const client = await pool.connect()
        const query = (query: PostgresQuery): Promise<PostgresResult> =>
          answer(query, () => (client as unknown as PostgresClient).query(query), client)
        return Object.create(client, { query: { value: query } })
      }
    }
  })
}

async function titlesOf (store: Pick<Store, 'list'>, inner: Context = context): Promise<unknown[]> {
  return (await readAll(store.list(every, inner))).map(({ attributes }) => attributes.title)
}

/** Creates a row in a transaction. */
async function createIn (store: Pick<PostgresStore, 'create' | 'transaction'>, title: string): Promise<unknown> {
  return store.transaction((inner) => store.create({ title }, {}, inner), context)
}

t.test('a pool of one connection serves a transaction, its lists and its failures', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const ranks = postgresStore({ table: 'ranks', attributes, migrate: true, pool })
  await ranks.migrate()
  await pool.query('ALTER TABLE posts ADD CONSTRAINT small CHECK (rank < 10)')
  const seen = await posts.transaction(async (inner) => {
    const { id } = await posts.create({ title: 'A' }, {}, inner)
    await posts.update(id, { rank: 1 }, ANY, inner)
    await ranks.create({ title: 'R' }, {}, inner)
    const { rows } = await posts.count({ ...every, most: undefined, estimate: false }, inner)
    const found = await inner.sql('SELECT rank FROM posts WHERE id = $1', [id])
    return [rows, await readAll(posts.list(every, inner)), found]
  }, context)
  t.match(seen, [1, [{ attributes: { title: 'A', rank: 1 } }], [{ rank: 1 }]])
  // The catalog is asked about the constraint on the same connection.
  const error = await thrownBy(() => posts.transaction(async (inner) => {
    await posts.create({ title: 'B' }, {}, inner)
    await posts.create({ title: 'C', rank: 10 }, {}, inner)
  }, context))
  t.match(error, { statusCode: 422, errors: { rank: [/./] } })
  const attempted = await posts.transaction(async (inner) => {
    await posts.create({ title: 'D' }, {}, inner)
    const failed = await thrownBy(() => inner.openTransaction.attempt(async () => {
      await posts.create({ title: 'E' }, {}, inner)
      await posts.create({ title: 'F', rank: 10 }, {}, inner)
    }))
    await posts.create({ title: 'G' }, {}, inner)
    return failed
  }, context)
  t.match(attempted, { statusCode: 422, errors: { rank: [/./] } })
  t.same(await titlesOf(posts), ['A', 'D', 'G'])
  t.equal(pool.totalCount, 1)
})

t.test('a transaction that the database has rolled back is a failure, whatever the app has caught', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const rollsBack = postgresStore({
    ...POSTS,
    pool: altered(pool, async ({ text }, run) => {
      const result = await run()
      return text === 'COMMIT' ? { ...result, command: 'ROLLBACK' } : result
    })
  })
  t.match(await thrownBy(() => createIn(rollsBack, 'A')), {
    code: BUSY, cause: { message: 'the database answered COMMIT with ROLLBACK' }
  })
  const error = await thrownBy(() => posts.transaction(async (inner) => {
    await posts.create({ title: 'B' }, {}, inner)
    await inner.sql('SELECT nonsense').catch(() => {})
  }, context))
  t.match(error, { code: '42703' })
  t.same(await titlesOf(posts), ['A'])
})

t.test('the outcome of a lost COMMIT is unknown, and the connection is closed', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const lost = postgresStore({
    ...POSTS,
    pool: altered(pool, async (query, run, client) => {
      if (query.text !== 'COMMIT') return run()
      const { rows: [{ pid }] } = await client.query('SELECT pg_backend_pid() AS pid')
      await server.pool().query('SELECT pg_terminate_backend($1)', [pid])
      return run()
    })
  })
  t.equal((await thrownBy(() => createIn(lost, 'A'))).code, 'FST_RESOURCES_UNKNOWN_OUTCOME')
  t.same(await titlesOf(posts), [])
})

t.test('a connection that is lost in a transaction has written nothing', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  for (const isForgiven of [false, true]) {
    const error = await thrownBy(() => posts.transaction(async (inner) => {
      await posts.create({ title: 'A' }, {}, inner)
      const [{ pid }] = await inner.sql('SELECT pg_backend_pid() AS pid') as [{ pid: number }]
      await server.pool().query('SELECT pg_terminate_backend($1)', [pid])
      const write = async (): Promise<unknown> => posts.create({ title: 'B' }, {}, inner)
      await (isForgiven ? inner.openTransaction.attempt(write).catch(() => {}) : write())
    }, context))
    t.equal(error.code, BUSY)
    t.same(await titlesOf(posts), [])
  }
  t.equal(pool.totalCount, 1)
})

t.test('a transaction that cannot begin, or whose statement fails beside another, has written nothing', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const refused = postgresStore({
    ...POSTS,
    pool: altered(pool, async ({ text }, run) => {
      if (text === 'BEGIN') throw Object.assign(new Error('going away'), { code: '57P01' })
      return run()
    })
  })
  t.match(await thrownBy(() => createIn(refused, 'A')), { code: BUSY, cause: { message: 'going away' } })
  t.equal(pool.totalCount, 0)
  await thrownBy(() => posts.transaction(async ({ sql }) => {
    const [one, two] = await Promise.allSettled([sql('SELECT nothing'), sql('SELECT 1')])
    t.match([one, two], Array(2).fill({ status: 'rejected', reason: { message: 'column "nothing" does not exist' } }))
  }, context))
  t.same(await titlesOf(posts), [])
})

t.test('a transaction has the isolation level that it asks for, and begins again after a conflict', async (t) => {
  const { pool, posts } = await openPosts()
  const levels: unknown[] = []
  for (const isolation of [undefined, 'repeatable read', 'serializable'] as const) {
    await posts.transaction(async ({ sql }) => { levels.push(...await sql('SHOW transaction_isolation')) }, context, {
      ...(isolation !== undefined && { isolation })
    })
  }
  t.same(levels.map((row) => Object.values(row as object)[0]), ['read committed', 'repeatable read', 'serializable'])
  const { id } = await posts.create({ title: 'A', rank: 0 }, {}, context)
  const count = (attempts: number): Promise<unknown> => {
    let runs = 0
    return posts.transaction(async (inner) => {
      const row = await posts.get(id, {}, inner)
      if (runs++ === 0) await pool.query('UPDATE posts SET rank = rank + 1')
      await posts.update(id, { rank: Number(row?.attributes.rank) + 1 }, ANY, inner)
      return runs
    }, context, { isolation: 'repeatable read', attempts })
  }
  t.equal((await thrownBy(() => count(1))).code, BUSY)
  t.equal(await count(2), 2)
  t.match(await posts.get(id, {}, context), { attributes: { rank: 3 } })
})

t.test('two batches that overlap lock their rows in one order, and without it one is refused', async (t) => {
  const { posts } = await openPosts()
  const [a, b] = [await posts.create({ title: 'A' }, {}, context), await posts.create({ title: 'B' }, {}, context)]
  const ids = [a.id, b.id]
  /** Updates the rows in both orders at the same time. Returns the codes of the errors. */
  const cross = async (isLocked: boolean): Promise<unknown[]> => {
    let begun = 0
    let go = (): void => {}
    const both = new Promise<void>((resolve) => { go = resolve })
    const batch = (order: typeof ids): Promise<unknown> => posts.transaction(async (inner) => {
      for (const id of order) {
        await posts.update(id, { rank: 1 }, ANY, inner)
        if (++begun === 2) go()
        if (!isLocked) await both
      }
    }, context, isLocked ? { ids: order } : {})
    const settled = await Promise.allSettled([batch(ids), batch([...ids].reverse())])
    return settled.flatMap((one) => one.status === 'rejected' ? [(one.reason as { code: unknown }).code] : [])
  }
  t.same(await cross(false), [BUSY])
  t.same(await cross(true), [])
})

t.test('a table whose rows cannot be locked is written without that', async (t) => {
  const { pool, posts } = await openPosts()
  const [one, two] = [await posts.create({ title: 'A' }, {}, context), await posts.create({ title: 'B' }, {}, context)]
  await pool.query('CREATE VIEW counted AS SELECT id, version, title, count(*) AS rank FROM posts GROUP BY id')
  const view = postgresStore({ table: 'counted', attributes, pool })
  for (const ids of [[one.id, two.id], [two.id, one.id]]) {
    t.same(await view.transaction((inner) => titlesOf(view, inner), context, { ids }), ['A', 'B'])
  }
})

t.test('a deferred constraint is a fault of the transaction, also on a dry run', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const { rows } = await pool.query(
    "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname !~ 'pkey'"
  )
  for (const { indexname } of rows) await pool.query(`DROP INDEX "${indexname}"`)
  await pool.query('ALTER TABLE posts ADD CONSTRAINT once UNIQUE (title) DEFERRABLE INITIALLY DEFERRED')
  const [one, two] = [await posts.create({ title: 'A' }, {}, context), await posts.create({ title: 'B' }, {}, context)]
  const rename = (titles: readonly string[], dryRun: boolean): Promise<void> => posts.transaction(async (inner) => {
    for (const [index, { id }] of [one, two].entries()) await posts.update(id, { title: titles[index] }, ANY, inner)
  }, context, { dryRun })
  for (const dryRun of [true, false]) {
    t.match(await thrownBy(() => rename(['B', 'B'], dryRun)), {
      code: 'FST_RESOURCES_DUPLICATE', errors: { title: [/./] }
    })
  }
  await rename(['B', 'A'], false)
  t.same(await titlesOf(posts), ['B', 'A'])
})

t.test('a function that never ends is rolled back after a time, and later calls of it fail', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const sqlite = sqliteStore({ ...POSTS, file: makeFile(t), busyTimeout: 250 })
  await sqlite.migrate()
  t.teardown(() => { sqlite.close() })
  for (const store of [posts, sqlite as Store as PostgresStore]) {
    mock.timers.enable({ apis: ['setTimeout'] })
    let wake = (): void => {}
    const asleep = new Promise<void>((resolve) => { wake = resolve })
    let late: Promise<unknown> = Promise.resolve()
    const begun = new Promise<void>((resolve) => {
      late = store.transaction(async (inner) => {
        await store.create({ title: 'A' }, {}, inner)
        resolve()
        await asleep
        late = thrownBy(() => store.create({ title: 'B' }, {}, inner))
      }, context)
    })
    await begun
    const error = thrownBy(() => late)
    mock.timers.tick(30_000)
    mock.timers.reset()
    t.match(await error, { code: BUSY, cause: { message: 'the transaction took too long' } })
    wake()
    await new Promise(setImmediate)
    t.match(await late, { code: 'FST_RESOURCES_TRANSACTION' })
    t.same(await titlesOf(store), [])
  }
  t.equal(pool.idleCount, 1)
})

t.test('a statement that hangs does not keep the end of its transaction waiting', async (t) => {
  const { pool, posts } = await openPosts({ max: 1 })
  const client = new AbortController()
  const error = thrownBy(() => posts.transaction(async (inner) => {
    const slow = inner.sql('SELECT pg_sleep(600)')
    setImmediate(() => { client.abort() })
    await slow
  }, { signal: client.signal }))
  t.equal((await error).name, 'AbortError')
  t.equal(pool.totalCount, 0)
  await server.pool().query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
  )
})

t.test('context.sql neither begins nor ends a transaction', async (t) => {
  const { posts } = await openPosts()
  for (const text of ['COMMIT', ' rollback', '-- now\n/* at last */ END', 'SAVEPOINT a', 'begin', 'ABORT']) {
    const error = await thrownBy(() => posts.transaction(({ sql }) => sql(text), context))
    t.equal(error.code, 'FST_RESOURCES_TRANSACTION')
  }
  t.same(await posts.transaction(({ sql }) => sql('/* BEGIN */ SELECT 1 AS commit'), context), [{ commit: 1 }])
})

for (const driver of await findDrivers()) {
  t.test(driver.name, async (t) => {
    /** Opens stores of one database, and another connection to it. */
    async function openTwo (t: Test, busyTimeout?: number): Promise<{
      readonly path: string, readonly posts: Required<SqliteStore>, readonly ranks: Required<SqliteStore>
    }> {
      const path = makeFile(t)
      const database = driver.open(path)
      const common = {
        database, connect: () => driver.open(path), ...(busyTimeout !== undefined && { busyTimeout })
      }
      const posts = sqliteStore({ ...POSTS, ...common }) as SqliteStore as Required<SqliteStore>
      const ranks = sqliteStore({ ...POSTS, ...common, table: 'ranks' }) as SqliteStore as Required<SqliteStore>
      await posts.migrate()
      await ranks.migrate()
      t.teardown(() => {
        posts.close()
        database.close()
      })
      return { path, posts, ranks }
    }

    t.test('two stores of one database share a transaction, and other writes wait for it', async (t) => {
      const { posts, ranks } = await openTwo(t)
      let open = (): void => {}
      const opened = new Promise<void>((resolve) => { open = resolve })
      const transaction = posts.transaction(async (inner) => {
        await posts.create({ title: 'A' }, {}, inner)
        await ranks.create({ title: 'R' }, {}, inner)
        open()
        await new Promise(setImmediate)
        return titlesOf(posts, inner)
      }, context)
      await opened
      // This test is outside of the transaction, and reads what is committed.
      t.same(await titlesOf(posts), [])
      const outside = ranks.create({ title: 'S' }, {}, context)
      t.same(await transaction, ['A'])
      t.match(await outside, { id: 2 })
      t.same(await titlesOf(ranks), ['R', 'S'])
    })

    t.test('a transaction waits for another process, and commits after that', async (t) => {
      const { path, posts } = await openTwo(t)
      const lock = driver.open(path)
      t.teardown(() => { lock.close() })
      lock.exec('BEGIN IMMEDIATE')
      const writes = [1, 2, 3].map((number) => posts.transaction(async (inner) => {
        await posts.create({ title: `T${number}` }, {}, inner)
      }, context))
      await new Promise((resolve) => { setTimeout(resolve, 60) })
      lock.exec('COMMIT')
      await Promise.all(writes)
      const reader = driver.open(path)
      t.teardown(() => { reader.close() })
      const rows = reader.prepare('SELECT title FROM posts ORDER BY id').all()
      t.match(rows, [{ title: 'T1' }, { title: 'T2' }, { title: 'T3' }])
    })

    t.test('a transaction that never gets the lock is refused', async (t) => {
      const { path, posts } = await openTwo(t, 20)
      const lock = driver.open(path)
      t.teardown(() => { lock.close() })
      lock.exec('BEGIN IMMEDIATE')
      t.equal((await thrownBy(() => posts.transaction(() => {}, context))).code, BUSY)
      lock.exec('ROLLBACK')
      await posts.transaction((inner) => posts.create({ title: 'A' }, {}, inner), context)
      t.same(await titlesOf(posts), ['A'])
    })

    t.test('context.sql runs statements with and without rows', async (t) => {
      const { posts } = await openTwo(t)
      await posts.transaction(async (inner) => {
        t.same(await inner.sql('CREATE TABLE counters (name TEXT, value INTEGER)'), [])
        t.same(await inner.sql('INSERT INTO counters VALUES (?, ?)', ['posts', true]), [])
        t.match(await inner.sql('UPDATE counters SET value = value + 1 RETURNING value'), [{ value: 2 }])
        t.match(await inner.sql('SELECT ? AS value', [null]), [{ value: null }])
      }, context)
    })

    t.test('a statement that ends the transaction itself makes it fail', async (t) => {
      const { posts } = await openTwo(t)
      const error = await thrownBy(() => posts.transaction(async (inner) => {
        await posts.create({ title: 'A' }, {}, inner)
        const insert = "INSERT OR ROLLBACK INTO posts (title) VALUES ('A')"
        await inner.openTransaction.attempt(() => inner.sql(insert)).catch(() => {})
        await posts.create({ title: 'B' }, {}, inner)
      }, context))
      t.equal(error.message, 'title is already taken')
      t.same(await titlesOf(posts), [])
      await posts.transaction((inner) => posts.create({ title: 'A' }, {}, inner), context)
      t.same(await titlesOf(posts), ['A'])
    })

    t.test('a deferred foreign key is checked at the end', async (t) => {
      const { posts } = await openTwo(t)
      const error = await thrownBy(() => posts.transaction(async (inner) => {
        await inner.sql('CREATE TABLE notes (post INTEGER REFERENCES posts (id) DEFERRABLE INITIALLY DEFERRED)')
        await inner.sql('INSERT INTO notes VALUES (99)')
      }, context))
      t.equal(error.statusCode, 422)
      await posts.transaction((inner) => posts.create({ title: 'A' }, {}, inner), context)
      t.same(await titlesOf(posts), ['A'])
    })
  })
}

t.test('stores of one file share transactions, and an open database has none without connect', async (t) => {
  const file = makeFile(t)
  const [posts, ranks] = ['posts', 'ranks'].map((table) =>
    sqliteStore({ ...POSTS, table, file }) as SqliteStore as Required<SqliteStore>) as [
    Required<SqliteStore>, Required<SqliteStore>
  ]
  await posts.prepare()
  await ranks.prepare()
  t.teardown(() => {
    posts.close()
    ranks.close()
  })
  await posts.transaction(async (inner) => {
    await posts.create({ title: 'A' }, {}, inner)
    await ranks.create({ title: 'R' }, {}, inner)
  }, context)
  t.same([await titlesOf(posts), await titlesOf(ranks)], [['A'], ['R']])
  const [driver] = await findDrivers()
  const database = driver?.open(file) as ReturnType<NonNullable<typeof driver>['open']>
  t.teardown(() => { database.close() })
  const bare = sqliteStore({ ...POSTS, database })
  t.notOk('transaction' in bare)
  await posts.transaction(async (inner: Context) => {
    t.match(await messageOf(() => bare.get(1, {}, inner)), /another database/)
  }, context).catch(() => {})
})
