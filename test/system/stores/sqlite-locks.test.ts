import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import resources, { draw } from '../../../lib/index.js'
import { database } from '../../../lib/database/index.js'
import { type SqliteDatabase, sqliteStore, sqliteStores } from '../../../lib/sql/sqlite/index.js'
import { startProgram, writeProgram } from '../../support/program.js'
import { findDrivers, type SqliteDriver } from '../../support/stores/sqlite-drivers.js'

const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const

async function serve (t: Test, opened: SqliteDatabase, busyTimeout: number): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = sqliteStores({ database: opened, busyTimeout })
  app.register(draw((map) => {
    map.resources('posts', { attributes, writes: 'both' })
    map.resources('notes', { attributes })
  }, { stores }))
  await app.ready()
  return app
}

async function write (app: FastifyInstance, title: string, url = '/posts.json', method: 'POST' | 'PUT' = 'POST'): Promise<LightMyRequestResponse> {
  return await app.inject({ method, url, payload: { [url.startsWith('/notes') ? 'note' : 'post']: { title } } })
}

/** Opens a file by a driver. It is closed when the test ends. */
function open (t: Test, driver: SqliteDriver, path: string): SqliteDatabase {
  const opened = driver.open(path)
  t.teardown(() => { opened.close() })
  return opened
}

/** Starts another process that holds the lock of a file until it gets a message. */
async function lockByProcess (t: Test, path: string, name: string): Promise<{ release: () => Promise<unknown> }> {
  const other = await startProgram(t, writeProgram(t, `holder-${name.replace(':', '-')}`, `
    import Database from 'libsql'
    const database = new Database(process.argv[2])
    database.exec('BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS held (a); INSERT INTO held VALUES (1)')
    console.log('locked')
    process.once('message', () => {
      database.exec('COMMIT')
      database.close()
      process.exit()
    })
  `), { parameters: [path] })
  return {
    async release () {
      other.process.send('go')
      return await other.ended
    }
  }
}

/** Returns the titles of a list. */
async function titlesOf (app: FastifyInstance, plural = 'posts'): Promise<unknown[]> {
  const rows = (await app.inject(`/${plural}.json`)).json() as Record<string, Array<{ title: string }>>
  return (rows[plural] ?? []).map(({ title }) => title)
}

for (const driver of await findDrivers()) {
  t.test(`${driver.name}: while another process holds the lock, everything but writes is answered`, async (t) => {
    const path = `${t.testdir()}/a.sqlite`
    const app = await serve(t, open(t, driver, path), 60_000)
    t.equal((await write(app, 'first')).statusCode, 201)
    const holder = await lockByProcess(t, path, driver.name)
    const order: string[] = []
    const note = async (name: string, answer: Promise<LightMyRequestResponse>): Promise<LightMyRequestResponse> => {
      const res = await answer
      order.push(`${name} ${res.statusCode}`)
      return res
    }
    const writes = [note('create', write(app, 'second')), note('update', write(app, 'changed', '/posts/1.json', 'PUT')), note('other', write(app, 'note', '/notes.json'))]
    for (let round = 0; round < 5; round++) {
      await note('list', app.inject('/posts.json'))
      await note('show', app.inject('/posts/1.json'))
      await note('another resource', app.inject('/notes.json'))
      await note('none', app.inject('/nothing'))
      await pause(20)
    }
    const readings = ['list 200', 'show 200', 'another resource 200', 'none 404']
    t.strictSame(order, Array.from({ length: 5 }, () => readings).flat(), 'no write was answered, and no reading waited for one')
    await holder.release()
    t.strictSame((await Promise.all(writes)).map(({ statusCode }) => statusCode), [201, 200, 201])
    t.strictSame(await titlesOf(app), ['changed', 'second'])
    t.strictSame(await titlesOf(app, 'notes'), ['note'])
    t.equal((await write(app, 'third')).statusCode, 201, 'the connection is as good as before')
    const reader = open(t, driver, path)
    t.equal((reader.prepare('SELECT count(*) AS count FROM posts').all() as Array<{ count: number }>)[0]?.count, 3, 'the writes are on the disk')
  })

  t.test(`${driver.name}: writes wait in their order, each until busyTimeout has passed`, async (t) => {
    const path = `${t.testdir()}/a.sqlite`
    const app = await serve(t, open(t, driver, path), 200)
    const other = open(t, driver, path)
    other.exec('BEGIN IMMEDIATE')
    let turns = 0
    const counter = setInterval(() => { turns++ }, 1)
    const refused = await Promise.all(['a', 'b', 'c'].map(async (title) => await write(app, title)))
    clearInterval(counter)
    for (const { statusCode, headers, body } of refused) {
      t.strictSame([statusCode, headers['retry-after']], [503, '1'])
      t.match(body, /the store is not available now, and nothing was written; try again/)
    }
    t.ok(turns > 5, `the event loop has turned ${turns} times meanwhile`)
    const waiting = ['d', 'e', 'f'].map(async (title) => await write(app, title))
    await pause(20)
    other.exec('ROLLBACK')
    t.strictSame((await Promise.all(waiting)).map(({ statusCode }) => statusCode), [201, 201, 201])
    t.strictSame(await titlesOf(app), ['d', 'e', 'f'])
  })

  t.test(`${driver.name}: the start waits for another process, and the app is served meanwhile`, async (t) => {
    const path = `${t.testdir()}/a.sqlite`
    const old = driver.open(path)
    // The log of this file is not on yet, and its tables are missing.
    old.exec('CREATE TABLE old (id INTEGER PRIMARY KEY)')
    old.close()
    const holder = await lockByProcess(t, path, `start-${driver.name}`)
    const opened = open(t, driver, path)
    await t.rejects(serve(t, opened, 30), { message: /locked/ })
    const app = fastify({ pluginTimeout: 0 })
    t.teardown(() => app.close())
    app.register(resources, { name: 'posts', store: sqliteStore({ database: opened, table: 'posts', attributes, migrate: true, busyTimeout: 60_000 }) })
    let isReady = false
    const ready = app.ready().then(() => { isReady = true })
    for (let turn = 0; turn < 5; turn++) await pause(10)
    t.notOk(isReady)
    await holder.release()
    await ready
    t.equal((await write(app, 'T')).statusCode, 201)
  })

  t.test(`${driver.name}: tables of a database that exists are served beside the program that owns it`, async (t) => {
    const path = `${t.testdir()}/a.sqlite`
    const owner = open(t, driver, path)
    owner.exec('PRAGMA journal_mode = WAL; CREATE TABLE posts (id INTEGER PRIMARY KEY, title TEXT)')
    const app = fastify()
    t.teardown(() => app.close())
    app.register(database, { database: open(t, driver, path), write: true, home: false, tables: { posts: { formats: ['json'] } } })
    await app.ready()
    owner.exec("BEGIN IMMEDIATE; INSERT INTO posts (title) VALUES ('owner')")
    const waiting = write(app, 'ours')
    t.strictSame(await titlesOf(app), [])
    owner.exec('COMMIT')
    t.equal((await waiting).statusCode, 201)
    t.strictSame(await titlesOf(app), ['owner', 'ours'])
  })
}

t.test('a file is opened at the start without stopping the process', async (t) => {
  const path = `${t.testdir()}/a.sqlite`
  const holder = await lockByProcess(t, path, 'file')
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', store: sqliteStore({ file: path, table: 'posts', attributes, migrate: true, busyTimeout: 60_000 }) })
  const quick = sqliteStore({ file: path, table: 'posts', attributes, migrate: true, busyTimeout: 20 })
  await t.rejects(async () => { await quick.prepare() }, { message: /Option "file" is ".*", which cannot be opened: database is locked/ })
  quick.close()
  const ready = app.ready()
  await holder.release()
  await ready
  t.equal((await write(app, 'T')).statusCode, 201)
})
