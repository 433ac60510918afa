import { mkdirSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import resources from '../../../lib/index.js'
import { type SqliteStore, sqliteStore, type SqliteStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { type LoadModule, loadModule, SqliteFile } from '../../../lib/sql/sqlite/file.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } as const

function open (file: string, table = 'notes', busyTimeout = 5000): SqliteStore<{ title: string }> {
  return sqliteStore({ file, table, attributes, migrate: true, busyTimeout })
}

async function serve (t: Test, ...stores: readonly SqliteStore[]): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  for (const [index, store] of stores.entries()) app.register(resources, { name: `notes${index}`, singular: `note${index}`, store })
  await app.ready()
  return app
}

/** The class of the driver that opens files on this version of Node.js. */
const { DatabaseSync: Driver = Database } = (loadModule('node:sqlite') ?? {}) as { readonly DatabaseSync?: typeof Database }

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
  t.equal((await one.inject({ method: 'POST', url: '/notes0.json', payload: { note0: { title: 'Milk' } } })).statusCode, 201)
  await one.close()
  t.equal(closed(), 0, 'another app uses the file')
  t.match((await other.inject('/notes0.json')).json(), { notes0: [{ id: 1, title: 'Milk' }] })
  await other.close()
  t.equal(closed(), 1, 'no app uses the file')

  const again = await serve(t, notes)
  t.match((await again.inject('/notes0.json')).json(), { notes0: [{ id: 1, title: 'Milk' }] }, 'a new app opens it again')
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
  await t.rejects(async () => { await app.ready() }, { message: /Option "table" of the store of resource "notes" is "notes", which is not in the database/ })
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
  for (const [name, exported] of [['node:sqlite', { DatabaseSync: Recorded }], ['better-sqlite3', Recorded], ['libsql', Recorded]] as const) {
    const file = new SqliteFile(`${t.testdir()}/a.sqlite`, 100, { isReadOnly: true, load: (asked) => asked === name ? exported : undefined })
    file.database.prepare('SELECT 1').all()
    file.release()
  }
  t.strictSame(options, [{ readOnly: true }, { readonly: true }, undefined])
  t.end()
})

const invalid: ReadonlyArray<readonly [options: object, message: string]> = [
  [{}, 'Option "database" must be an open database of better-sqlite3, libsql or node:sqlite; or give the path of a "file".'],
  [{ file: 'a.sqlite', database: new Database(':memory:') }, 'Option "file" must not be given together with "database", which is open already.'],
  [{ file: '' }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: 7 }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: 'a\0b' }, 'Option "file" must be the path of a file such as \'blog.sqlite\'.'],
  [{ file: ':memory:' }, 'Option "file" must not be \':memory:\'; use memoryStore, or give an open "database".'],
  [{ file: 'a.sqlite', busyTimeout: -1 }, 'Option "busyTimeout" must be a number of milliseconds.']
]

t.test('options that are wrong are refused', async (t) => {
  for (const [options, message] of invalid) {
    t.throws(() => sqliteStore({ table: 'notes', attributes, ...options } as unknown as SqliteStoreOptions), { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
})

t.test('a file that cannot be opened names its path', async (t) => {
  const file = `${t.testdir()}/missing/blog.sqlite`
  await t.rejects(serve(t, open(file)), { message: new RegExp(`^Option "file" of the store of resource "notes0" is "${file}", which cannot be opened: .*[^.]\\.$`) })
  const text = `${t.testdir()}/text.sqlite`
  writeFileSync(text, 'This is a text, and no database, although its name ends so. '.repeat(20))
  await t.rejects(async () => { await open(text).prepare() }, { message: /which cannot be opened: file is (?:encrypted or is )?not a database\.$/ })
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
    const file = new SqliteFile(`${folder}/blog.sqlite`, 100, { load })
    const [row] = file.database.prepare('PRAGMA busy_timeout').all() as object[]
    t.strictSame(Object.values(row ?? {}), [5], 'the driver itself hardly waits')
    t.equal(tried.at(-1), driver.name)
    file.release()
    const reader = new SqliteFile(path, 100, { load, isReadOnly: true })
    // The file keeps its journal mode, and no driver but libsql writes to it.
    const [mode] = reader.database.prepare('PRAGMA journal_mode').all() as object[]
    t.strictSame(Object.values(mode ?? {}), ['delete'])
    if (driver.name !== 'libsql') t.throws(() => reader.database.exec('CREATE TABLE made (id INTEGER)'), /readonly/)
    reader.release()
  })
}

t.test('the fastest driver is taken, and the error names what to install if there is none', async (t) => {
  const tried: string[] = []
  const file = new SqliteFile('blog.sqlite', 0, { load: (name) => { tried.push(name) } })
  t.throws(() => file.database, { code: 'FST_RESOURCES_INVALID_OPTION', message: 'Option "file" needs a driver of SQLite: "npm install libsql", or "npm install better-sqlite3", which may have to be compiled; or run the app on Node.js 22.13 or later.' })
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
