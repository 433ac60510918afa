import { mkdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import resources, { draw } from '../../../lib/index.js'
import {
  type SqliteDatabase, type SqliteStore, sqliteStore, type SqliteStoreOptions, sqliteStores
} from '../../../lib/sql/sqlite/index.js'
import { type LoadModule, loadModule, openFile } from '../../../lib/sql/sqlite/file.js'
import { findDrivers, type SqliteDriver } from '../../support/stores/sqlite-drivers.js'
import { setTimeout as pause } from 'node:timers/promises'
import { startProgram, writeProgram } from '../../support/program.js'

const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } as const

function open (file: string, table = 'notes', busyTimeout = 5000): SqliteStore<{ title: string }> {
  return sqliteStore({ file, table, attributes, migrate: true, busyTimeout })
}

async function serve (t: Test, ...stores: readonly SqliteStore[]): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  for (const [index, store] of stores.entries()) {
    app.register(resources, { name: `notes${index}`, singular: `note${index}`, store })
  }
  await app.ready()
  return app
}

/** The class of the driver that opens files on this version of Node.js. */
const {
  DatabaseSync: Driver = Database
} = (loadModule('node:sqlite') ?? {}) as { readonly DatabaseSync?: typeof Database }

/** Counts the connections that are closed. libsql closes a file only when its statements are collected as garbage. */
function countClosed (t: Test): () => number {
  const calls = t.capture(Driver.prototype, 'close', Driver.prototype.close)
  let closed = 0
  return () => {
    closed += calls().length
    return closed
  }
}

t.test('a store opens its file, and the last app closes it', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  const closed = countClosed(t)
  const [notes, tasks] = [open(file), open(file, 'tasks')]
  const one = await serve(t, notes, tasks)
  const other = await serve(t, notes)
  t.equal(
    (await one.inject({ method: 'POST', url: '/notes0.json', payload: { note0: { title: 'Milk' } } })).statusCode, 201
  )
  await one.close()
  t.equal(closed(), 0, 'another app uses the file')
  t.match((await other.inject('/notes0.json')).json(), { notes0: [{ id: 1, title: 'Milk' }] })
  await other.close()
  t.equal(closed(), 1, 'no app uses the file')

  const again = await serve(t, notes)
  t.match(
    (await again.inject('/notes0.json')).json(), { notes0: [{ id: 1, title: 'Milk' }] }, 'a new app opens it again'
  )
  notes.close()
  t.equal(closed(), 2)
  t.equal((await again.inject('/notes0.json')).statusCode, 200, 'and it can be used even if somebody has closed it')
})

t.test('a store that no app uses is closed by hand', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  const closed = countClosed(t)
  const notes = open(file)
  notes.close()
  t.equal(closed(), 0, 'no connection is open yet')
  await notes.migrate()
  t.equal((await notes.create({ title: 'Milk' }, {})).id, 1)
  notes.close()
  notes.close()
  t.equal(closed(), 1)
  t.equal((await notes.get(1, {}))?.attributes.title, 'Milk')
  notes.close()
})

t.test('stores of the same file share one connection', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  const closed = countClosed(t)
  const [notes, same, slow] = [open(file), open(relative('.', file), 'tasks'), open(file, 'others', 100)]
  for (const store of [notes, same, slow]) await store.prepare()
  notes.close()
  t.equal(closed(), 0, 'another store uses the connection')
  same.close()
  t.equal(closed(), 1)
  slow.close()
  t.equal(closed(), 2, 'a store with another timeout has a connection of its own')
})

t.test('an app that fails to start closes the file', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  const closed = countClosed(t)
  const app = fastify()
  app.register(resources, { name: 'notes', store: sqliteStore({ file, table: 'notes', attributes }) })
  await t.rejects(async () => {
    await app.ready()
  }, { message: /Option "table" of the store of resource "notes" is "notes", which is not in the database/ })
  await app.close()
  t.equal(closed(), 1)
})

t.test('a file that is only read is opened so, if the driver can', (t) => {
  const options: unknown[] = []
  class Recorded extends Database {
    constructor (path: string, given?: object) {
      super(path)
      options.push(given)
    }
  }
  for (const [name, exported] of [
    ['node:sqlite', { DatabaseSync: Recorded }], ['better-sqlite3', Recorded], ['libsql', Recorded]
  ] as const) {
    const file = openFile(`${t.testdir()}/a.sqlite`, 100, {
      isReadOnly: true,
      load: (asked) =>
        asked === name ? exported : undefined
    })
    file.use().prepare('SELECT 1').all()
    file.release()
  }
  t.strictSame(options, [{ readOnly: true }, { readonly: true }, undefined])
  t.end()
})

const invalid: ReadonlyArray<readonly [options: object, message: string]> = [
  [
    {},
    'Option "database" must be an open database of better-sqlite3, libsql or node:sqlite; or give the path of a "file".'
  ],
  [
    { file: 'a.sqlite', database: new Database(':memory:') },
    'Option "file" must not be given together with "database", which is open already.'
  ],
  [{ file: '' }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: 7 }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: 'a\0b' }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: ':memory:' }, 'Option "file" must not be \':memory:\'; use memoryStore, or give an open "database".'],
  [{ file: 'a.sqlite', busyTimeout: -1 }, 'Option "busyTimeout" must be a number of milliseconds.'],
  [
    { file: 'a.sqlite', connect: () => new Database('a.sqlite') },
    'Option "connect" must be a function that opens the "database" once more.'
  ]
]

t.test('options that are wrong are refused', async (t) => {
  for (const [options, message] of invalid) {
    t.throws(() =>
      sqliteStore({ table: 'notes', attributes, ...options } as unknown as SqliteStoreOptions), {
      code: 'FST_RESOURCES_INVALID_OPTION', message
    })
  }
})

t.test('a resource without a schema has no table', async (t) => {
  const stores = sqliteStores({ database: new Database(':memory:') })
  await t.rejects(async () => fastify().register(draw((map) => map.resources('notes', {}), { stores })), {
    message: /"attributes".* must be a JSON Schema \{ type: 'object', properties: \{ … \} \}: each property has a column/
  })
})

t.test('a file that cannot be opened names its path', async (t) => {
  const file = `${t.testdir()}/missing/blog.sqlite`
  await t.rejects(serve(t, open(file)), {
    message: new RegExp(
      `^Option "file" of the store of resource "notes0" is "${file}", which cannot be opened: .*[^.]\\.$`
    )
  })
  const text = `${t.testdir()}/text.sqlite`
  writeFileSync(text, 'This is a text, and no database, although its name ends so. '.repeat(20))
  await t.rejects(async () => {
    await open(text).prepare()
  }, { message: /which cannot be opened: file is (?:encrypted or is )?not a database\.$/ })
})

for (const driver of await findDrivers()) {
  t.test(`${driver.name} opens a file`, async (t) => {
    const member = driver.name === 'node:sqlite' ? 'DatabaseSync' : undefined
    const tried: string[] = []
    const load: LoadModule = (name) => {
      tried.push(name)
      // The class is taken from an open database.
      const opened = driver.open(':memory:').constructor
      return name !== driver.name ? undefined : member === undefined ? opened : { [member]: opened }
    }
    const folder = t.testdir()
    const path = `${folder}/old.sqlite`
    const old = driver.open(path)
    old.exec('CREATE TABLE old (id INTEGER)')
    old.close()
    const file = openFile(`${folder}/blog.sqlite`, 100, { load })
    const [row] = file.use().prepare('PRAGMA busy_timeout').all() as object[]
    t.strictSame(Object.values(row ?? {}), [5], 'the driver itself hardly waits')
    t.equal(tried.at(-1), driver.name)
    file.release()
    const reader = openFile(path, 100, { load, isReadOnly: true })
    // The file keeps its journal mode, and no driver but libsql writes to it.
    const [mode] = reader.use().prepare('PRAGMA journal_mode').all() as object[]
    t.strictSame(Object.values(mode ?? {}), ['delete'])
    if (driver.name !== 'libsql') t.throws(() => reader.use().exec('CREATE TABLE made (id INTEGER)'), /readonly/)
    reader.release()
  })
}

t.test('the fastest driver is taken, and the error names what to install if there is none', async (t) => {
  const tried: string[] = []
  const file = openFile('blog.sqlite', 0, { load: (name) => { tried.push(name) } })
  t.throws(() =>
    file.use(), {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message:
        'Option "file" needs a driver of SQLite: "npm install libsql", or "npm install better-sqlite3", ' +
          'which may have to be compiled; or run the app on Node.js 22.13 or later.'
  })
  t.strictSame(tried, ['node:sqlite', 'better-sqlite3', 'libsql'])
})

t.test('a driver is a module of the app', async (t) => {
  t.equal(loadModule('libsql'), Database)
  t.equal(loadModule('no-driver-of-this-name'), undefined)
  // The app has a driver that cannot be loaded. Another one in its place would hide that.
  const folder = t.testdir()
  mkdirSync(`${folder}/node_modules/broken-driver`, { recursive: true })
  writeFileSync(`${folder}/node_modules/broken-driver/index.js`, "require('what-it-needs')")
  const { argv } = process
  t.teardown(() => { process.argv = argv })
  process.argv = [process.execPath, `${folder}/app.js`]
  t.throws(() => loadModule('broken-driver'), { code: 'MODULE_NOT_FOUND', message: /what-it-needs/ })
  process.argv = [process.execPath]
  t.equal(loadModule('broken-driver'), undefined)
})

const attributesLock = { type: 'object', properties: { title: { type: 'string' } } } as const

async function serveLock (t: Test, opened: SqliteDatabase, busyTimeout: number): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = sqliteStores({ database: opened, busyTimeout })
  app.register(draw((map) => {
    map.resources('posts', { attributes: attributesLock, writes: 'both' })
    map.resources('notes', { attributes: attributesLock })
  }, { stores }))
  await app.ready()
  return app
}

async function write (
  app: FastifyInstance, title: string, url = '/posts.json', method: 'POST' | 'PUT' = 'POST'
): Promise<LightMyRequestResponse> {
  return await app.inject({ method, url, payload: { [url.startsWith('/notes') ? 'note' : 'post']: { title } } })
}

/** Opens a file by a driver. It is closed when the test ends. */
function openLock (t: Test, driver: SqliteDriver, path: string): SqliteDatabase {
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
    const app = await serveLock(t, openLock(t, driver, path), 60_000)
    t.equal((await write(app, 'first')).statusCode, 201)
    const holder = await lockByProcess(t, path, driver.name)
    const order: string[] = []
    const note = async (name: string, answer: Promise<LightMyRequestResponse>): Promise<LightMyRequestResponse> => {
      const res = await answer
      order.push(`${name} ${res.statusCode}`)
      return res
    }
    const writes = [
      note('create', write(app, 'second')), note('update', write(app, 'changed', '/posts/1.json', 'PUT')),
      note('other', write(app, 'note', '/notes.json'))
    ]
    for (let round = 0; round < 5; round++) {
      await note('list', app.inject('/posts.json'))
      await note('show', app.inject('/posts/1.json'))
      await note('another resource', app.inject('/notes.json'))
      await note('none', app.inject('/nothing'))
      await pause(20)
    }
    const readings = ['list 200', 'show 200', 'another resource 200', 'none 404']
    t.strictSame(order, Array.from({ length: 5 }, () =>
      readings).flat(), 'no write was answered, and no reading waited for one')
    await holder.release()
    t.strictSame((await Promise.all(writes)).map(({ statusCode }) => statusCode), [201, 200, 201])
    t.strictSame(await titlesOf(app), ['changed', 'second'])
    t.strictSame(await titlesOf(app, 'notes'), ['note'])
    t.equal((await write(app, 'third')).statusCode, 201, 'the connection is as good as before')
    const reader = openLock(t, driver, path)
    t.equal(
      (reader.prepare('SELECT count(*) AS count FROM posts').all() as Array<{ count: number }>)[0]?.count, 3,
      'the writes are on the disk'
    )
  })

  t.test(`${driver.name}: writes wait in their order, each until busyTimeout has passed`, async (t) => {
    const path = `${t.testdir()}/a.sqlite`
    const app = await serveLock(t, openLock(t, driver, path), 200)
    const other = openLock(t, driver, path)
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
    const opened = openLock(t, driver, path)
    await t.rejects(serveLock(t, opened, 30), { message: /locked/ })
    const app = fastify({ pluginTimeout: 0 })
    t.teardown(() => app.close())
    app.register(resources, {
      name: 'posts',
      store: sqliteStore({
        database: opened, table: 'posts', attributes: attributesLock, migrate: true, busyTimeout: 60_000
      })
    })
    let isReady = false
    const ready = app.ready().then(() => { isReady = true })
    for (let turn = 0; turn < 5; turn++) await pause(10)
    t.notOk(isReady)
    await holder.release()
    await ready
    t.equal((await write(app, 'T')).statusCode, 201)
  })
}

t.test('a list that the database sorts keeps no old rows, and locks nothing', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = sqliteStores({ file: `${t.testdir()}/notes.sqlite` })
  app.register(draw((map) => map.resources('notes', { attributes, formats: ['json'] }), { stores }))
  await app.ready()
  const notes = Array.from({ length: 200 }, (_, index) => ({ title: `T${index}` }))
  await app.inject({ method: 'POST', url: '/notes', payload: { notes } })
  t.equal((await app.inject('/notes?sort=title')).statusCode, 200)
  // Requests with many rows have a connection of their own.
  await app.inject({ method: 'PUT', url: '/notes', payload: { notes: [{ id: 1, title: 'new' }] } })
  t.equal((await app.inject('/notes/1')).json<{ note: { title: string } }>().note.title, 'new')
  const single = await app.inject({ method: 'PUT', url: '/notes', payload: { id: 2, note: { title: 'x' } } })
  t.equal(single.statusCode, 200)
})
