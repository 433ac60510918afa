import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import fastify, { type FastifyInstance } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import resources, { BY_ID, type Query, type Store } from '../../../lib/index.js'
import { loadModule } from '../../../lib/sql/sqlite/file.js'
import { sqliteStore, type SqliteStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { end, start } from '../../support/command.js'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startProgram, until, writeProgram } from '../../support/program.js'
import { context, every, readAll } from '../../support/stores/sql-engines.js'

/** A limit, in milliseconds, for reads that never end. */
const SHORT = 300
/** A limit that no other read reaches. */
const LONG = 60_000

const TABLES = `
  CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
  INSERT INTO notes VALUES (1, 'Milk'), (2, 'Bread');
  CREATE VIEW endless AS
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
    SELECT CAST(n AS INTEGER) AS number FROM numbers WHERE n < 0`

/**
 * The driver that opens files on this version of Node.js. Two libraries in one process do not see each other's locks.
 */
const {
  DatabaseSync: Driver = Database
} = (loadModule('node:sqlite') ?? {}) as { readonly DatabaseSync?: typeof Database }

function makeFile (t: Test, sql = TABLES): string {
  const path = `${t.testdir()}/shop.sqlite`
  const made = new Driver(path)
  made.exec(sql)
  made.close()
  return path
}

/** Returns the processes that are started from here on. */
function watchProcesses (t: Test): ChildProcess[] {
  const started: ChildProcess[] = []
  const add = (message: unknown): void => { started.push((message as { process: ChildProcess }).process) }
  subscribe('child_process', add)
  t.teardown(() => { unsubscribe('child_process', add) })
  return started
}

/** Serves all tables of a file by the plugin `database`. */
async function serve (t: Test, options: DatabaseOptions): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(database, { report: () => {}, ...options })
  await app.ready()
  return app
}

/** Opens a store that describes itself, and reads by another process. */
async function openStore (file: string, table: string, readTimeout = LONG): Promise<Store> {
  const store: Store = sqliteStore({ file, table, readTimeout })
  await store.prepare?.()
  return store
}

/** Serves a store for each table. */
async function serveStores (t: Test, file: string, readTimeout: number): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  for (const table of ['notes', 'endless']) {
    app.register(resources, { name: table, singular: `one-${table}`, store: sqliteStore({ file, table, readTimeout }) })
  }
  await app.ready()
  return app
}

const CURE = 'reading this took too long; ask for fewer rows, or filter and sort by columns that have an index'

t.test('a list that never ends is a 503 with its cure, and rows are served meanwhile', async (t) => {
  const file = makeFile(t)
  const processes = watchProcesses(t)
  const app = await serveStores(t, file, SHORT)
  const others = await serve(t, { file, prefix: '/others' })
  for (const [accept, type, body] of [
    ['application/json', /^application\/problem\+json/, `"status":503,"detail":"${CURE}"`],
    ['application/xml', /^application\/xml/, `<error>${CURE}</error>`],
    ['text/html', /^text\/html/, `<li>${CURE}</li>`]
  ] as const) {
    const order: string[] = []
    const list = app.inject({ url: '/endless', headers: { accept } }).then((answer) => {
      order.push('endless')
      return answer
    })
    t.equal((await app.inject('/notes/2.json')).statusCode, 200, 'a row')
    order.push('row')
    t.equal((await others.inject('/others/notes.json')).statusCode, 200, 'a list without a limit')
    order.push('list')
    t.match(await list, { statusCode: 503, headers: { 'content-type': type }, body }, accept)
    t.notOk((await list).headers['retry-after'], 'another attempt would take as long')
    t.strictSame(order, ['row', 'list', 'endless'])
  }
  t.strictSame(processes.map(({ signalCode }) => signalCode), ['SIGKILL', 'SIGKILL', 'SIGKILL'])
})

/** Returns a list as soon as it can be read within the limit, for which a busy machine may need several attempts. */
async function list (app: FastifyInstance, path: string): Promise<unknown> {
  let answer = await app.inject(path)
  await until(`${path} is read`, async () => (answer = await app.inject(path)).statusCode === 200)
  return answer.json()
}

t.test('the next list is read by another process, which ends with the app', async (t) => {
  const processes = watchProcesses(t)
  const app = await serveStores(t, makeFile(t), SHORT)
  for (let round = 0; round < 2; round++) {
    t.equal((await app.inject('/endless.json')).statusCode, 503)
    t.match(await list(app, '/notes.json?sort=-id'), { notes: [{ title: 'Bread' }, { title: 'Milk' }] })
  }
  const last = processes.at(-1)
  await app.close()
  t.equal(last?.exitCode, 0, 'the end of the app waits for that of the process')
})

t.test('the plugin database limits lists and counts, also of a file that it only reads', async (t) => {
  for (const write of [false, true]) {
    const file = makeFile(t)
    const before = readFileSync(file)
    const processes = watchProcesses(t)
    const app = await serve(t, { file, write, readTimeout: SHORT })
    t.match(await app.inject('/endlesses.json'), { statusCode: 503, body: CURE })
    t.match(await list(app, '/notes.json'), { notes: [{ id: 1, title: 'Milk' }, { id: 2 }] })
    // The home page counts the rows, and shows a view without their number.
    const home = await app.inject({ url: '/', headers: { accept: 'application/json' } })
    t.match(home.json(), { resources: [{ name: 'notes' }, { name: 'endlesses', rows: undefined }] })
    if (write) {
      const note = { title: 'Eggs' }
      t.equal((await app.inject({ method: 'POST', url: '/notes.json', payload: { note } })).statusCode, 201)
      t.match(await list(app, '/notes.json?sort=-id'), { notes: [{ id: 3, title: 'Eggs' }, {}, {}] })
    }
    await app.close()
    for (const { exitCode, signalCode } of processes) t.ok(exitCode === 0 || signalCode === 'SIGKILL')
    // libsql closes a file only when its statements are collected as garbage.
    if (!write || loadModule('node:sqlite') !== undefined) t.notOk(existsSync(`${file}-wal`), 'the log is in the file')
    t.equal(before.equals(readFileSync(file)), !write)
  }
})

t.test('the command limits the time of reads', async (t) => {
  const file = makeFile(t)
  const processes = watchProcesses(t)
  const { url, stop } = await start(t, [file])
  t.equal(await (await fetch(`${url}notes.csv`)).text(), 'id,title\r\n1,Milk\r\n2,Bread\r\n')
  t.equal(processes.length, 1)
  t.equal(await stop(), 0)
  t.equal(processes[0]?.exitCode, 0)
  t.match((await end([file, '--print'])).printed, `file: '${file}',\n  readTimeout: 5000,\n`)
})

/** A table with values of all kinds, also such as its columns do not declare. */
const KINDS = `
  CREATE TABLE kinds (id INTEGER PRIMARY KEY, whole INTEGER, real REAL, text TEXT, bytes BLOB, yes BOOLEAN, list JSON,
    price NUMERIC(20,2), at DATETIME, any_ ANY, __proto__ TEXT, constructor TEXT);
  INSERT INTO kinds VALUES
    (1, 9223372036854775807, 1e308, 'é 😀 ' || char(10) || char(0) || 'x', x'00ff80', TRUE, '[1, {"a": null}]', 12.5,
      '2026-01-31T12:00:00Z', 'x', 'p', 'c'),
    (2, -9007199254740993, -0.0, '', x'', FALSE, '{}', 9999999999999999.99, '2026-01-31', x'01', NULL, NULL),
    (3, NULL, 9e999, 'z', NULL, NULL, NULL, NULL, NULL, 7, '', ''),
    (9007199254740993, 0, 0.1, char(0xD7FF, 0xE000, 0xFFFD), zeroblob(3000), 2, 'no JSON', 'dear', 17, NULL, 'p', 'c')`

t.test('another process reads the same rows', async (t) => {
  const file = makeFile(t, KINDS)
  const processes = watchProcesses(t)
  const stores = await Promise.all([0, LONG].map((readTimeout) => openStore(file, 'kinds', readTimeout)))
  const queries: Query[] = [
    every,
    { ...every, order: [{ by: 'real', descending: true }, ...BY_ID] },
    { ...every, limit: 2, offset: 1 },
    { ...every, filter: [{ attribute: 'text', operator: 'starts', value: 'É' }] },
    { ...every, search: { words: ['é'], attributes: ['text'] } }
  ]
  for (const query of queries) {
    const [rows, same] = await Promise.all(stores.map((store) => readAll(store.list(query, context))))
    t.ok((rows as unknown[]).length > 0)
    t.strictSame(same, rows)
    const counts = await Promise.all(stores.map((store) =>
      store.count?.({ ...query, most: undefined, estimate: false }, context)))
    t.strictSame(counts[1], counts[0])
  }
  for (const store of stores) await store.close?.()
  t.strictSame(processes.map(({ exitCode }) => exitCode), [0])
})

t.test('errors of statements are the same', async (t) => {
  const file = makeFile(t)
  const options = { file, table: 'notes', attributes: { type: 'object', properties: { title: { type: 'string' } } } }
  const errors: unknown[] = []
  for (const readTimeout of [undefined, LONG]) {
    const store = sqliteStore({ ...options, version: 'values', readTimeout } as unknown as SqliteStoreOptions)
    const other = new Driver(file)
    const fail = async (): Promise<void> => {
      try {
        await readAll(store.list(every, context))
      } catch (error) {
        const { message, code, errcode } = error as Record<string, unknown>
        errors.push({ message, code, errcode })
      }
    }
    t.equal((await readAll(store.list(every, context))).length, 2)
    other.exec('ALTER TABLE notes RENAME title TO heading')
    await fail()
    other.exec('ALTER TABLE notes RENAME heading TO title')
    t.equal((await readAll(store.list(every, context))).length, 2, 'a later read succeeds')
    await store.close()
    other.close()
  }
  t.match(errors[0], { message: /no such column: / })
  t.strictSame(errors[1], errors[0])
})

t.test('a file that a writer keeps readers out of is the same 503', async (t) => {
  const file = makeFile(t)
  const writer = new Driver(file)
  t.teardown(() => { writer.close() })
  const answers: unknown[] = []
  for (const readTimeout of [0, LONG]) {
    const app = await serve(t, { file, readTimeout })
    writer.exec('BEGIN EXCLUSIVE')
    const { statusCode, headers, body } = await app.inject('/notes.json')
    answers.push({ statusCode, retry: headers['retry-after'], body })
    writer.exec('ROLLBACK')
    t.equal((await app.inject('/notes.json')).statusCode, 200)
    await app.close()
  }
  t.match(answers, [{ statusCode: 503, retry: '1' }, {}])
  t.strictSame(answers[1], answers[0])
})

t.test('a process that is killed is a 503, and the next list is read', async (t) => {
  const processes = watchProcesses(t)
  const app = await serveStores(t, makeFile(t), LONG)
  t.equal((await app.inject('/notes.json')).statusCode, 200)
  const [first] = processes as [ChildProcess]
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(first.pid as number, signal)
  t.equal((await app.inject('/notes.json')).statusCode, 200, 'the signals of a terminal do not end it')
  const { send } = first
  const sent = new Promise<void>((resolve) => {
    first.send = (...message: unknown[]) => {
      resolve()
      return send.call(first, ...message as [string])
    }
  })
  const endless = app.inject('/endless.json')
  await sent
  const notes = app.inject('/notes.json')
  process.kill(first.pid as number, 'SIGKILL')
  t.match(await endless, { statusCode: 503, body: CURE })
  t.equal((await notes).statusCode, 200, 'another process reads what has waited')
  t.equal(processes.length, 2)
})

t.test('a client that leaves ends its read, and does not wait in the queue', async (t) => {
  const processes = watchProcesses(t)
  const file = makeFile(t)
  const [endless, notes] = await Promise.all([openStore(file, 'endless'), openStore(file, 'notes')])
  const left = new AbortController()
  t.equal((await readAll(notes.list(every, context))).length, 2)
  const reads = [endless, notes].map((store) => readAll(store.list(every, { signal: left.signal })))
  const waiting = readAll(notes.list(every, context))
  await nextTurn()
  left.abort(new Error('left'))
  const reasons = (await Promise.allSettled(reads)).map((outcome) => 'reason' in outcome && outcome.reason.message)
  t.strictSame(reasons, ['left', 'left'])
  t.equal((await waiting).length, 2)
  t.strictSame(processes.map(({ killed }) => killed), [true, false])
  for (const store of [endless, notes]) await store.close?.()
  t.equal(processes[1]?.exitCode, 0)
})

t.test('a client that leaves while the process starts does not keep the others waiting', async (t) => {
  const file = makeFile(t)
  const [endless, notes] = await Promise.all([openStore(file, 'endless'), openStore(file, 'notes')])
  const left = new AbortController()
  const read = readAll(endless.list(every, { signal: left.signal }))
  const waiting = readAll(notes.list(every, context))
  await nextTurn()
  left.abort(new Error('left'))
  await t.rejects(read, { message: 'left' })
  t.equal((await waiting).length, 2)
  for (const store of [endless, notes]) await store.close?.()
})

t.test('slow reads that wait for others are refused before they begin', async (t) => {
  const processes = watchProcesses(t)
  const endless = await openStore(makeFile(t), 'endless', SHORT)
  const reads = await Promise.allSettled(Array.from({ length: 20 }, () => readAll(endless.list(every, context))))
  t.ok(reads.every((read) => 'reason' in read && read.reason.code === 'FST_RESOURCES_SLOW_READ'))
  t.ok(processes.length <= 8, `${processes.length} processes`)
  await endless.close?.()
})

t.test('lists in a transaction are read in it', async (t) => {
  const processes = watchProcesses(t)
  const notes = await openStore(makeFile(t), 'notes')
  const titles = await notes.transaction?.(async (inner) => {
    await notes.update(1, { title: 'Tea' }, { version: undefined, scope: {} }, inner)
    return (await readAll(notes.list(every, inner))).map(({ attributes: { title } }) => title)
  }, context)
  t.strictSame(titles, ['Tea', 'Bread'])
  t.equal(processes.length, 0)
  await notes.close?.()
})

t.test('a process that cannot be started is an error', async (t) => {
  const notes = await openStore(makeFile(t), 'notes')
  const { execPath } = process
  t.teardown(() => { process.execPath = execPath })
  process.execPath = '/nothing'
  const message = /^resources: the process that reads ".*shop\.sqlite" cannot be started$/
  await t.rejects(readAll(notes.list(every, context)), { message, cause: { code: 'ENOENT' } })
  process.execPath = execPath
  t.equal((await readAll(notes.list(every, context))).length, 2)
  await notes.close?.()
})

t.test('a process ends with its program, which it does not keep alive', async (t) => {
  const program = (end: string): string => writeProgram(t, `reader-${end.replaceAll(/\W/g, '')}`, `
    import { sqliteStore } from 'fastify-resources/sqlite'
    const context = { signal: new AbortController().signal }
    const query = { order: [{ by: 'id', descending: false }], scope: {}, filter: [] }
    const options = { file: process.argv[2], readTimeout: ${LONG} }
    const [notes, endless] = ['notes', 'endless'].map((table) => sqliteStore({ ...options, table }))
    for (const store of [notes, endless]) await store.prepare()
    for await (const rows of notes.list(query, context)) console.log(rows.length)
    ${end}`)
  const path = makeFile(t)
  const parameters = [path]
  const idle = await startProgram(t, program(''), { parameters })
  t.equal(await idle.ended, 0)
  const busy = await startProgram(t, program('await endless.list(query, context).next()'), { parameters })
  // The process has the standard error of its program.
  const closed = once(busy.process, 'close')
  busy.process.kill('SIGKILL')
  t.strictSame(await closed, [null, 'SIGKILL'])
})

t.test('a limit that cannot be had is refused', async (t) => {
  const attributes = { type: 'object', properties: { title: { type: 'string' } } }
  const opened = new Driver(':memory:')
  const whole = 'must be a number of milliseconds.'
  const file = 'needs the path of a "file" of SQLite.'
  for (const [options, reason] of [
    [{ file: 'a.sqlite', readTimeout: -1 }, whole],
    [{ file: 'a.sqlite', readTimeout: 2 ** 31 }, whole],
    [{ file: 'a.sqlite', readTimeout: '5' }, whole],
    [{ database: opened, readTimeout: 5 }, file]
  ] as const) {
    const error = { code: 'FST_RESOURCES_INVALID_OPTION', message: `Option "readTimeout" ${reason}` }
    t.throws(() => sqliteStore({ table: 'notes', attributes, ...options } as unknown as SqliteStoreOptions), error)
    await t.rejects(serve(t, options as unknown as DatabaseOptions), {
      ...error, message: `Option "readTimeout" of the plugin "database" ${reason}`
    })
  }
  const pool = { connect () {} }
  await t.rejects(serve(t, { pool, readTimeout: 5 } as unknown as DatabaseOptions), { message: file })
})
