import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { type SqliteDatabase, sqliteStore, sqliteStores, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { build } from '../../support/helper.js'
import { startProgram, writeProgram } from '../../support/program.js'
import { context, every, readAll } from '../../support/stores/sql-engines.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const attributes = {
  type: 'object', properties: { title: { type: 'string' }, tags: { type: 'array' }, published: { type: 'boolean' } }
} as const
const anyVersion = { version: undefined, scope: {} }

function makeFile (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'resources-sqlite-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  return join(folder, 'blog.sqlite')
}

function open (database: SqliteDatabase, options: Partial<SqlStoreOptions & {
  readonly busyTimeout: number
}> = {}): ReturnType<typeof sqliteStore> {
  return sqliteStore({ database, table: 'posts', attributes, ...options })
}

/** Returns a database with these answers by statement. Other statements have no rows. */
function fakeDatabase (answers: Readonly<Record<string, unknown>>): SqliteDatabase {
  const answer = (text: string): unknown => {
    const found = Object.entries(answers).find(([beginning]) => text.startsWith(beginning))?.[1] ?? []
    if (found instanceof Error) throw found
    return found
  }
  return { prepare: (text) => ({ all: () => answer(text) }), exec: answer }
}

for (const driver of await findDrivers()) {
  t.test(driver.name, async (t) => {
    t.test('each opening sets the pragmas for durable writes', async (t) => {
      const path = makeFile(t)
      for (const busyTimeout of [undefined, 250]) {
        const database = driver.open(path)
        open(database, busyTimeout === undefined ? {} : { busyTimeout })
        for (const [pragma, value] of [
          ['journal_mode', 'wal'], ['synchronous', 2], ['foreign_keys', 1], ['busy_timeout', 5]
        ] as const) {
          const [row] = database.prepare(`PRAGMA ${pragma}`).all() as object[]
          t.strictSame(Object.values(row ?? {}), [value], pragma)
        }
        database.close()
      }
    })

    t.test('another connection reads each write, and no statement stays open', async (t) => {
      const path = makeFile(t)
      const [one, other] = [driver.open(path), driver.open(path)]
      const store = open(one)
      await store.migrate()
      const { id } = await store.create({ title: 'T', tags: [1, null], published: true }, {})
      t.strictSame((await open(other).get(id, {}))?.attributes, { title: 'T', tags: [1, null], published: true })
      await store.update(id, { published: false }, anyVersion)
      t.equal((await open(other).get(id, {}))?.attributes.published, false)
      t.equal((await readAll(store.list(every, context))).length, 1)
      const [checkpoint] = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as Array<{
        busy: number, log: number
      }>
      t.strictSame([checkpoint?.busy, checkpoint?.log], [0, 0], 'no statement holds a snapshot')
      one.close()
      other.close()
    })

    t.test('all methods do their work', async (t) => {
      const store = open(driver.open(':memory:'))
      await store.migrate()
      const made = await store.create({ title: 'T' }, {})
      t.strictSame(made, { id: 1, version: '1', attributes: { title: 'T' } })
      t.strictSame(await store.update(1, { title: 'U' }, { version: '1', scope: {} }), {
        ok: true, row: { id: 1, version: '2', attributes: { title: 'U' } }
      })
      t.strictSame(await store.delete(1, { version: '1', scope: {} }), {
        ok: false, why: 'stale', current: { id: 1, version: '2', attributes: { title: 'U' } }
      })
      t.equal((await store.delete(1, anyVersion)).ok, true)
      t.equal((await store.create({}, {})).id, 2, 'the id of a deleted row is not used again')
    })

    t.test('a transaction that the app has begun is left to the app', async (t) => {
      const database = driver.open(':memory:')
      const store = open(database)
      await store.migrate()
      database.exec('BEGIN')
      await store.create({ title: 'T' }, {})
      database.exec('ROLLBACK')
      t.equal(await store.get(1, {}), undefined)
      t.equal((await store.create({ title: 'T' }, {})).id, 1)
    })

    t.test('a write to a full disk has not happened', async (t) => {
      const database = driver.open(makeFile(t))
      const store = open(database)
      await store.migrate()
      database.prepare('PRAGMA max_page_count = 20').all()
      const kept = new Map<unknown, string>()
      let full = 0
      for (let index = 0; index < 100; index++) {
        const title = `${index} ${'x'.repeat(2000)}`
        try {
          kept.set((await store.create({ title }, {})).id, title)
        } catch (error) {
          full++
          t.strictSame(
            [(error as { code?: unknown }).code, (error as { statusCode?: unknown }).statusCode],
            ['FST_RESOURCES_STORE_FULL', 507]
          )
        }
      }
      t.ok(full > 10 && kept.size > 10)
      database.prepare('PRAGMA max_page_count = 1000').all()
      const { id } = await store.create({ title: 'after' }, {})
      kept.set(id, 'after')
      const rows = await readAll(store.list(every, context))
      t.strictSame(new Map(rows.map((row) => [row.id, row.attributes.title])), kept)
      database.close()
    })

    t.test('the store waits for another writer only for a limited time', async (t) => {
      const path = makeFile(t)
      const [one, other] = [driver.open(path), driver.open(path)]
      const store = open(one, { busyTimeout: 50 })
      await store.migrate()
      other.exec('BEGIN IMMEDIATE')
      await t.rejects(async () => {
        await store.create({ title: 'T' }, {})
      }, { code: 'FST_RESOURCES_UNAVAILABLE', statusCode: 503, headers: { 'retry-after': '1' } })
      other.exec('ROLLBACK')
      t.equal((await store.create({ title: 'T' }, {})).id, 1)
      const rows = other.prepare('SELECT title FROM posts').all() as object[]
      t.strictSame(
        rows.map((row) => ({ ...row })), [{ title: 'T' }], 'later writes are on the disk, outside a transaction'
      )
      one.close()
      other.close()
    })

    t.test('opening a file waits for another writer', async (t) => {
      const path = makeFile(t)
      // The writer is another process: two SQLite libraries in one process do not see each other's locks.
      const other = await startProgram(t, writeProgram(t, `lock-${driver.name.replace(':', '-')}`, `
        import Database from 'libsql'
        const database = new Database(process.argv[2])
        database.exec('CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)')
        console.log('locked')
        process.once('message', () => setTimeout(() => {
          database.exec('COMMIT')
          process.exit()
        }, 300))
      `), { parameters: [path] })
      const database = driver.open(path)
      await t.rejects(async () => { await open(database, { busyTimeout: 20 }).prepare() }, { message: /locked/ })
      other.process.send('go')
      const store = open(database)
      await store.migrate()
      t.equal((await store.create({ title: 'T' }, {})).id, 1)
      t.equal(await other.ended, 0)
      database.close()
    })

    t.test('a text that a strict column does not accept is refused', async (t) => {
      const database = driver.open(':memory:')
      database.exec(
        'CREATE TABLE posts (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL DEFAULT 1, ' +
          'title INTEGER, tags TEXT, published INTEGER) STRICT'
      )
      await t.rejects(async () => {
        await open(database).create({ title: 'not a number' }, {})
      }, { statusCode: 422, message: 'title cannot be stored' })
    })
  })
}

t.test('a database that cannot keep a write-ahead log throws', async (t) => {
  t.throws(() =>
    open(fakeDatabase({ 'PRAGMA journal_mode': [{ journal_mode: 'delete' }] })), {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message: 'Option "database" must support a write-ahead log, but its journal mode is "delete".'
  })
  t.throws(() => open(fakeDatabase({})), { message: /its journal mode is "undefined"/ })
})

t.test('a name of SQLite itself is no table of a resource', async (t) => {
  const database = fakeDatabase({ 'PRAGMA journal_mode': [{ journal_mode: 'memory' }] })
  const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const
  const message = (table: string): string =>
    `must not be "${table}": names that begin with "sqlite_" are those of SQLite itself.`
  for (const table of ['sqlite_posts', 'SQLite_Sequence']) {
    t.throws(() => sqliteStore({ database, table, attributes }), { message: `Option "table" ${message(table)}` })
    t.throws(() => sqliteStore({ database, table }), { message: `Option "table" ${message(table)}` })
  }
  t.doesNotThrow(() => sqliteStore({ database, table: 'sqlite', attributes }))
  const stores = sqliteStores({ database })
  await t.rejects(build(t, { name: 'sqlite_posts', attributes, stores }), {
    message: `Option "table" of resource "sqlite_posts" ${message('sqlite_posts')}`
  })
})

t.test('invalid options throw', async (t) => {
  const database = fakeDatabase({ 'PRAGMA journal_mode': [{ journal_mode: 'memory' }] })
  t.throws(() =>
    open(undefined as unknown as SqliteDatabase), {
    message:
        'Option "database" must be an open database of better-sqlite3, libsql or node:sqlite; ' +
          'or give the path of a "file".'
  })
  t.throws(() => open({} as unknown as SqliteDatabase), { message: /must be an open database/ })
  t.throws(() =>
    open(database, { busyTimeout: -1 }), { message: 'Option "busyTimeout" must be a number of milliseconds.' })
  t.throws(() => open(database, { busyTimeout: 1.5 }), { message: /must be a number of milliseconds/ })
  t.throws(() =>
    open(database, { databse: 1 } as object), {
    message: 'There is no option "databse" of sqliteStore; did you mean "database"?'
  })
})

t.test('errors of each driver are recognised', async (t) => {
  // The failed statement may already have ended the transaction.
  const ended = new Error('cannot rollback - no transaction is active')
  const failing = (error: object): ReturnType<typeof sqliteStore> => open(
    fakeDatabase({
      'PRAGMA journal_mode': [{ journal_mode: 'wal' }],
      INSERT: Object.assign(new Error('message'), error),
      ROLLBACK: ended
    })
  )
  for (const [error, code] of [
    [{ code: 'SQLITE_BUSY' }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'SQLITE_BUSY_SNAPSHOT' }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 5 }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 517 }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'SQLITE_LOCKED_SHAREDCACHE' }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 6 }, 'FST_RESOURCES_UNAVAILABLE'],
    [{ code: 'SQLITE_FULL' }, 'FST_RESOURCES_STORE_FULL'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'FST_RESOURCES_STORE_FULL'],
    [{ code: 'SQLITE_IOERR_WRITE' }, 'FST_RESOURCES_STORE_FULL'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 778 }, 'FST_RESOURCES_STORE_FULL'],
    [{ code: 'SQLITE_IOERR_FSYNC' }, 'FST_RESOURCES_UNKNOWN_OUTCOME'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 1034 }, 'FST_RESOURCES_UNKNOWN_OUTCOME'],
    [{ code: 'ERR_OUT_OF_RANGE' }, 'ERR_OUT_OF_RANGE'],
    [{ code: 'SQLITE_CONSTRAINT_TRIGGER' }, 'FST_RESOURCES_INVALID'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 1811 }, 'FST_RESOURCES_INVALID'],
    [{ message: 'CHECK constraint failed: title' }, 'FST_RESOURCES_INVALID'],
    [{ message: 'UNIQUE constraint failed: other.title' }, 'FST_RESOURCES_INVALID'],
    [{ message: 'UNIQUE constraint failed: POSTS.title' }, 'FST_RESOURCES_DUPLICATE'],
    [{ code: 'SQLITE_IOERR_READ' }, 'SQLITE_IOERR_READ'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 10 }, 'ERR_SQLITE_ERROR'],
    [{ message: 'string or blob too big' }, 'FST_RESOURCES_INVALID'],
    [{ message: 'UNIQUE constraint failed: index \'lower_title\'' }, 'FST_RESOURCES_INVALID'],
    [{}, undefined]
  ] as const) {
    try {
      await failing(error).create({ title: 'T' }, {})
      t.fail('it is accepted')
    } catch (thrown) {
      t.equal((thrown as { code?: unknown }).code, code, JSON.stringify(error))
    }
  }
})

t.test('a read that fails is not repeated for the sake of long integers', async (t) => {
  const failed = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' })
  const fake = fakeDatabase({ 'PRAGMA journal_mode': [{ journal_mode: 'wal' }] })
  let reads = 0
  const fail = (): never => {
    reads++
    throw failed
  }
  const store = open({ ...fake, prepare: (text) => text.startsWith('SELECT') ? { all: fail } : fake.prepare(text) })
  await t.rejects(async () => await store.get(1, {}), failed)
  t.equal(reads, 1)
})

/** The members of the statements of each driver, by which a store asks for integers of eight bytes. */
const DRIVERS = [
  { name: 'better-sqlite3', integers: 'safeIntegers', others: { database: undefined } },
  { name: 'libsql', integers: 'safeIntegers', others: {} },
  { name: 'node:sqlite', integers: 'setReadBigInts', others: { sourceSQL: '' } }
] as const

for (const { name, integers, others } of DRIVERS) {
  t.test(`the members of ${name} are used`, async (t) => {
    const asked: string[] = []
    const real = new Database(':memory:')
    const database: SqliteDatabase = {
      exec (text) {
        if (text.startsWith('BEGIN')) asked.push(text)
        return real.exec(text)
      },
      prepare (text) {
        const statement = real.prepare(text)
        let areBigInts = false
        return {
          ...others,
          all (...values) {
            const rows = statement.all(...values) as object[]
            const isRounded = rows.some((row) =>
              Object.values(row).some((value) => typeof value === 'number' && !Number.isSafeInteger(value)))
            // node:sqlite refuses what the others round.
            if (isRounded && integers === 'setReadBigInts') {
              throw Object.assign(new RangeError('too large'), { code: 'ERR_OUT_OF_RANGE' })
            }
            return rows
          },
          [integers] (isOn: boolean) {
            if (isOn !== areBigInts) asked.push(`${integers} ${isOn}`)
            areBigInts = isOn
            statement.safeIntegers(isOn)
          }
        }
      }
    }
    const store = open(database)
    await store.migrate()
    asked.length = 0
    t.match(await store.create({ title: 'T', published: true }, {}), {
      id: 1, version: '1', attributes: { title: 'T', published: true }
    })
    t.strictSame(asked, [`${integers} true`, 'BEGIN IMMEDIATE'])
    await readAll(store.list(every, context))
    asked.length = 0
    t.match(await readAll(store.list(every, context)), [{ id: 1 }])
    t.strictSame(asked, [], 'integers that a number keeps are read once')
    real.exec('INSERT INTO posts (id) VALUES (9007199254740993)')
    t.match(await readAll(store.list(every, context)), [{ id: 1 }, { id: '9007199254740993' }])
    t.strictSame(asked, [`${integers} true`, `${integers} false`], 'others are read again')
    real.exec('DELETE FROM posts WHERE id > 1')
    t.match(await store.get(1, {}), { id: 1, attributes: { published: true } })
  })
}
