import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import Database from 'libsql'
import pg from 'pg'
import root, { type Test } from 'tap'
import { postgresStore, type PostgresStore, type PostgresStoreOptions, sqliteStore, type Store } from '../../lib/index.js'
import { BlogClient, checkClients, isRefusal, type Kind, kinds, listRows, type Said, total } from '../support/blog-client.js'
import { BRIEF, build, post } from '../support/helper.js'
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.js'
import { exampleProgram, startProgram, until, writeProgram } from '../support/program.js'

/** How often each store is killed. */
const CYCLES = BRIEF ? 2 : 20
/** How many writes are acknowledged at least before each kill: where none is, nothing can be lost. */
const LOAD = 25
/** How much longer than it should a shared machine may take, in milliseconds. */
const MARGIN = 30_000

/** The blog of the example, in the place that it is told. */
const BLOG = `
import { buildBlog } from './blog.js'
import { openStores } from './stores.js'

process.once('disconnect', () => process.exit())
const { stores } = await openStores(process.argv[2])
console.log(await buildBlog(stores).listen({ port: 0, host: '127.0.0.1' }))
`

/** Where a blog is kept, beyond the life of its process. */
interface Place {
  /** What `openStores` calls it. */
  readonly name: string
  /** Waits until nothing that a process has left behind can be written any more. */
  settle (): Promise<void>
  rows (): Promise<Said[]>
  /** What is broken in it. */
  inspect (): Promise<unknown>
}

const places: ReadonlyArray<readonly [name: string, make: (t: Test) => Promise<Place>]> = [
  ['SQLite', async (t) => {
    const path = makePath(t)
    return { name: path, settle: async () => {}, rows: async () => rowsIn(path), inspect: async () => look(path, 'PRAGMA integrity_check') }
  }],
  ['PostgreSQL', async () => {
    const { url } = await makeDatabase()
    return {
      name: url,
      // A statement goes on in the database when the process that has sent it has been killed.
      settle: () => until('the connections are gone', async () => await countConnections(url) === 0),
      rows: async () => (await query<Said>(url, 'SELECT id, title, body FROM posts')).map((row) => ({ ...row, id: Number(row.id) })),
      inspect: async () => [{ integrity_check: 'ok' }]
    }
  }]
]

function makePath (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'resources-durability-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  return join(folder, 'blog.sqlite')
}

/** By a connection of its own, which does not see what has not been committed. */
function look<R> (path: string, text: string): R[] {
  const database = new Database(path)
  try { return database.prepare(text).all() as R[] } finally { database.close() }
}

function rowsIn (path: string): Said[] {
  return look(path, 'SELECT id, title, body FROM posts')
}

let postgres: Promise<PostgresServer> | undefined
let databases = 0

/** One server for all tests of this file, and a database for each. */
async function makeDatabase (): Promise<{ readonly server: PostgresServer, readonly url: string }> {
  const server = await (postgres ??= startPostgres(root))
  const name = `durability${++databases}`
  await query(server.url, `CREATE DATABASE ${name}`)
  return { server, url: server.url.replace(/\w+$/, name) }
}

/** By a connection of its own: those of a pool would not outlive the database. */
async function query<R> (url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try { return (await client.query(text)).rows as R[] } finally { await client.end() }
}

async function countConnections (url: string): Promise<number> {
  const [row] = await query<{ count: number }>(url, 'SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database() AND backend_type = \'client backend\' AND pid <> pg_backend_pid()')
  return row?.count ?? 0
}

function makeClients (t: Test, count: number, url: () => URL, length?: number): BlogClient[] {
  const clients = Array.from({ length: count }, (_, index) => new BlogClient(`client ${index}`, kinds[index % kinds.length] as Kind, url, length))
  t.teardown(() => { for (const client of clients) client.close() })
  return clients
}

/** Lets the clients write until so many more writes have been acknowledged; what it gives ends when the last client does. */
async function load (clients: readonly BlogClient[], more: number, mayGoOn: (client: BlogClient) => boolean = () => true): Promise<{ readonly work: Promise<unknown> }> {
  const wanted = total(clients, 'acknowledged') + more
  const enough = new Promise<void>((resolve) => {
    for (const client of clients) client.onAcknowledged = () => { if (total(clients, 'acknowledged') >= wanted) resolve() }
  })
  const work = Promise.all(clients.map((client) => client.work(() => mayGoOn(client))))
  await Promise.race([enough, work.then(() => { throw new Error('the server has gone') })])
  return { work }
}

for (const [name, make] of places) {
  root.test(`what ${name} has acknowledged survives a kill -9`, async (t) => {
    const place = await make(t)
    const program = writeProgram(t, `kill-${name}`, BLOG)
    let url = new URL('http://localhost')
    const clients = makeClients(t, 8, () => url)
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const { process: child, line, ended } = await startProgram(t, program, { parameters: [place.name] })
      url = new URL(line)
      t.strictSame(checkClients(clients, await listRows(url)), [], `after ${cycle} kills`)
      const { work } = await load(clients, LOAD + Math.floor(Math.random() * LOAD * 2))
      await delay(Math.random() * 20)
      child.kill('SIGKILL')
      t.equal(await ended, 'SIGKILL')
      await work
      await place.settle()
    }
    t.strictSame(checkClients(clients, await place.rows()), [], 'after the last kill')
    t.strictSame(await place.inspect(), [{ integrity_check: 'ok' }])
    t.ok(total(clients, 'acknowledged') >= LOAD * CYCLES, `${total(clients, 'acknowledged')} writes were acknowledged`)
  })

  root.test(`a blog in ${name} that is told to stop answers all it has accepted`, async (t) => {
    const place = await make(t)
    let url = new URL('http://localhost')
    const clients = makeClients(t, 8, () => url)
    let owed = 0
    for (let cycle = 0; cycle < Math.min(CYCLES, 4); cycle++) {
      const { process: child, line, ended } = await startProgram(t, exampleProgram('server.js'), { environment: { PORT: '0', STORE: place.name } })
      url = new URL(/http:\S+(?=\/posts;)/.exec(line)?.[0] ?? '')
      for (const client of clients) {
        client.isClosing = false
        // From here on its connection is there, and the server knows of it.
        await client.create()
      }
      // Most fall silent when it is told, and keep their connections; the others go on asking.
      const silent = clients.filter(({ kind }) => kind !== 'html')
      const { work } = await load(clients, LOAD + cycle * 7, (client) => !client.isClosing || !silent.includes(client))
      await until('one of them waits for an answer', () => silent.some(({ owed }) => owed !== undefined))
      const answers = clients.flatMap((client) => client.owed ?? [])
      owed += answers.length
      for (const client of clients) client.isClosing = true
      child.kill('SIGTERM')
      const statuses = (await Promise.allSettled(answers)).map((answer) => answer.status === 'fulfilled' ? answer.value.status : String(answer.reason))
      t.strictSame(statuses.filter((status) => !(Number(status) < 400)), [], 'what had been sent is done')
      // It gives itself five seconds, and ends with 1 then.
      t.equal(await ended, 0)
      await work
      t.strictSame(checkClients(clients, await place.rows()), [], 'what was acknowledged is there')
    }
    t.ok(owed > 0, `${owed} answers were owed`)
  })
}

/** A blog in this process, over a store of the test's own. */
async function serve (t: Test, store: Store): Promise<{ readonly app: FastifyInstance, readonly url: URL }> {
  const app = await build(t, { name: 'posts', attributes: post, store })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url: new URL(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`) }
}

root.test('a PostgreSQL that crashes is told as that, loses nothing that was acknowledged, and is used again when it is back', async (t) => {
  for (const listens of [false, true]) {
    await t.test(listens ? 'the app listens to errors of the pool' : 'the app does not listen to errors of the pool', async (t) => {
      const { server, url: database } = await makeDatabase()
      const pool = new pg.Pool({ connectionString: database, max: 5 })
      if (listens) pool.on('error', () => {})
      t.teardown(() => pool.end())
      const acquireTimeout = 1_000
      const store = postgresStore({ pool, table: 'posts', attributes: post, acquireTimeout, migrate: true })
      const { url } = await serve(t, store)
      const clients = makeClients(t, 9, () => url)
      const comebacks: number[] = []
      for (let cycle = 0; cycle < Math.min(CYCLES, 4); cycle++) {
        // With connections at work and with idle ones.
        const isBusy = cycle % 2 === 0
        let mayGoOn = true
        let { work } = await load(clients, LOAD, () => mayGoOn)
        if (!isBusy) {
          mayGoOn = false
          await work
          t.equal(pool.idleCount, pool.totalCount)
        }
        await server.crash()
        if (!isBusy) {
          mayGoOn = true
          work = Promise.all(clients.map((client) => client.work(() => mayGoOn)))
        }
        const refused = new Map(clients.map((client) => [client, client.refused]))
        await Promise.race([work, until('all are refused', () => clients.every((client) => client.refused >= (refused.get(client) ?? 0) + 3))])
        const back = new Promise<number>((resolve) => { for (const client of clients) client.onAcknowledged = () => { resolve(performance.now()) } })
        await server.start()
        const started = performance.now()
        comebacks.push(await Promise.race([back, work.then(() => Infinity)]) - started)
        mayGoOn = false
        await work
        t.strictSame(checkClients(clients, await listRows(url)), [], 'what was acknowledged is there, what was refused is not')
      }
      const best = Math.min(...comebacks)
      t.ok(best <= MARGIN, `the first success comes ${comebacks.map(Math.round).join(', ')} ms after the database`)
      const slowest = Math.max(...clients.map(({ slowest }) => slowest))
      t.ok(slowest <= acquireTimeout + MARGIN, `no answer takes longer than ${Math.round(slowest)} ms`)
      t.ok(total(clients, 'acknowledged') > LOAD, `${total(clients, 'acknowledged')} acknowledged, ${total(clients, 'refused')} refused, ${total(clients, 'unknown')} unknown`)
      t.ok(pool.totalCount <= 5)
      t.strictSame([pool.waitingCount, pool.idleCount], [0, pool.totalCount], 'no connection is lost')
      await until('the connections that broke are gone', async () => await countConnections(database) <= pool.totalCount)
    })
  }
})

/** Creates until each client has been refused so often. */
async function fill (t: Test, clients: readonly BlogClient[], times: number): Promise<void> {
  for (const client of clients) {
    for (let full = 0, tries = 0; full < times; tries++) {
      if (tries > 20_000) throw new Error('it does not become full')
      const answer = await client.create()
      if (answer.status !== 507) continue
      full++
      t.ok(isRefusal(answer, 507, client.kind), `${client.kind}: ${answer.headers['content-type']}`)
    }
  }
}

/** Whatever else there is, to a store that is full. */
async function tryEverything (clients: readonly BlogClient[]): Promise<void> {
  for (const client of clients) {
    let left = 40
    await client.work(() => left-- > 0)
  }
}

root.test('an SQLite that may not grow refuses what it cannot keep, and recovers by itself', async (t) => {
  const path = makePath(t)
  const database = new Database(path)
  t.teardown(() => { database.close() })
  const { url } = await serve(t, sqliteStore({ database, table: 'posts', attributes: post, migrate: true }))
  const clients = makeClients(t, kinds.length, () => url, 3_000)
  database.prepare('PRAGMA max_page_count = 100').all()
  await fill(t, clients, 5)
  await tryEverything(clients)
  for (const client of clients) t.strictSame(await client.readAll(), [], 'reads go on')
  t.strictSame(checkClients(clients, rowsIn(path)), [])
  const before = total(clients, 'acknowledged')
  t.ok(before > 20, `${before} writes were acknowledged`)
  database.prepare('PRAGMA max_page_count = 10000').all()
  for (const client of clients) for (let count = 0; count < 20; count++) await client.create()
  t.equal(total(clients, 'acknowledged'), before + clients.length * 20, 'there is room again')
  t.strictSame(checkClients(clients, rowsIn(path)), [])
})

for (const [what, blocks] of [['log', 4_096], ['log and table', 12_288]] as const) {
  root.test(`a file system that has no room for the ${what} of an SQLite loses nothing that was acknowledged`, async (t) => {
    const path = makePath(t)
    const program = writeProgram(t, `full-${blocks}`, BLOG)
    const limited = await startProgram(t, program, { parameters: [path], before: `trap '' XFSZ; ulimit -f ${blocks}` })
    let url = new URL(limited.line)
    const clients = makeClients(t, kinds.length, () => url, 20_000)
    await fill(t, clients, 5)
    await tryEverything(clients)
    for (const client of clients) t.strictSame(await client.readAll(), [], 'reads go on')
    t.strictSame(checkClients(clients, await listRows(url)), [])
    limited.process.kill('SIGKILL')
    t.equal(await limited.ended, 'SIGKILL')
    const { line } = await startProgram(t, program, { parameters: [path] })
    url = new URL(line)
    t.strictSame(checkClients(clients, await listRows(url)), [], 'after a kill -9, too')
    const before = total(clients, 'acknowledged')
    t.ok(before > 30, `${before} writes were acknowledged`)
    for (const client of clients) await client.create()
    t.equal(total(clients, 'acknowledged'), before + clients.length)
  })
}

/** Holds the lock of all writers until it is told otherwise. */
const LOCKER = `
import Database from 'libsql'

process.once('disconnect', () => process.exit())
const database = new Database(process.argv[2])
database.exec('BEGIN IMMEDIATE')
console.log('locked')
process.once('message', () => {
  database.exec('ROLLBACK')
  process.exit()
})
`

root.test('an SQLite that another process writes to for too long is unavailable, until it does no more', async (t) => {
  const path = makePath(t)
  const database = new Database(path)
  t.teardown(() => { database.close() })
  const { url } = await serve(t, sqliteStore({ database, table: 'posts', attributes: post, migrate: true, busyTimeout: 20 }))
  const clients = makeClients(t, kinds.length, () => url)
  for (const client of clients) for (let count = 0; count < 5; count++) await client.create()
  const locker = await startProgram(t, writeProgram(t, 'locker', LOCKER), { parameters: [path] })
  for (const client of clients) {
    for (let count = 0; count < 3; count++) t.ok(isRefusal(await client.create(), 503, client.kind), client.kind)
    t.strictSame(await client.readAll(), [], 'reads go on')
  }
  await tryEverything(clients)
  t.equal(total(clients, 'acknowledged'), clients.length * 5)
  locker.process.send('leave')
  t.equal(await locker.ended, 0)
  t.strictSame(checkClients(clients, rowsIn(path)), [], 'nothing was written')
  for (const client of clients) {
    await client.create()
    t.strictSame(checkClients(clients, rowsIn(path)), [], 'what is acknowledged has been committed')
  }
  await tryEverything(clients)
  t.ok(total(clients, 'acknowledged') > clients.length * 6)
  t.strictSame(checkClients(clients, rowsIn(path)), [])
})

/** A pool that ends with the test, and a store in a database of its own. */
async function openPostgres (t: Test, poolOptions: pg.PoolConfig, options: Partial<PostgresStoreOptions> = {}): Promise<{ readonly database: string, readonly pool: pg.Pool, readonly store: PostgresStore }> {
  const { url } = await makeDatabase()
  const pool = new pg.Pool({ connectionString: url, ...poolOptions })
  t.teardown(() => pool.end())
  return { database: url, pool, store: postgresStore({ pool, table: 'posts', attributes: post, migrate: true, ...options }) }
}

root.test('a PostgreSQL of which no connection is free is unavailable, and the one that comes too late goes back', async (t) => {
  const { database, pool, store } = await openPostgres(t, { max: 1 }, { acquireTimeout: 50 })
  // To connect may take longer on a busy machine; a connection that is there is given before any time passes.
  ;(await pool.connect()).release()
  const { url } = await serve(t, store)
  const clients = makeClients(t, kinds.length, () => url)
  for (const client of clients) await client.create()
  const held = await pool.connect()
  for (const client of clients) t.ok(isRefusal(await client.create(), 503, client.kind), client.kind)
  await Promise.all(clients.map((client) => client.work(() => client.refused < 4)))
  t.equal(pool.waitingCount, 12)
  held.release()
  await until('those that came too late are back', () => pool.waitingCount === 0 && pool.idleCount === 1)
  t.equal(pool.totalCount, 1)
  t.strictSame(checkClients(clients, await listRows(url)), [], 'nothing was written')
  await tryEverything(clients)
  t.strictSame(checkClients(clients, await listRows(url)), [])
  await until('no connection is lost', async () => await countConnections(database) === 1)
})

root.test('a PostgreSQL that takes too long for a statement is unavailable, and has not done it', async (t) => {
  const { database, pool, store } = await openPostgres(t, { max: 4 }, { statementTimeout: 100 })
  const { app } = await serve(t, store)
  t.equal((await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'before' } } })).statusCode, 201)
  const locker = new pg.Client({ connectionString: database })
  await locker.connect()
  t.teardown(() => locker.end())
  await locker.query('BEGIN')
  await locker.query('SELECT FROM posts WHERE id = 1 FOR UPDATE')
  const writes = [
    { method: 'PUT', payload: { id: 1, post: { title: 'after' } } },
    { method: 'PUT', payload: { id: 1, post: { title: 'after' } }, headers: { 'if-match': '"1.json"' } },
    { method: 'DELETE', payload: { id: 1 } }
  ] as const
  for (const answer of await Promise.all(writes.map((write) => app.inject({ url: '/posts', ...write })))) {
    t.strictSame([answer.statusCode, answer.headers['retry-after']], [503, '1'])
  }
  t.match((await app.inject('/posts/1.json')).body, 'before', 'reads go on')
  await locker.query('ROLLBACK')
  const [row] = await query(database, 'SELECT title, version::integer FROM posts')
  t.strictSame(row, { title: 'before', version: 1 })
  t.equal((await app.inject({ url: '/posts', ...writes[1] })).statusCode, 200)
  t.strictSame([pool.waitingCount, pool.idleCount], [0, pool.totalCount])
})

root.test('of writes that are serialized none is lost', async (t) => {
  const TASKS = 20
  const UPDATES = 50
  const names = Array.from({ length: TASKS }, (_, task) => `count${task}`)
  const counters = { type: 'object', properties: Object.fromEntries([...names, 'winner'].map((name) => [name, { type: 'integer' }])) } as const
  const { database, store } = await openPostgres(t, { options: '-c default_transaction_isolation=serializable' }, { attributes: counters })
  const app = await build(t, { name: 'rows', store })
  t.equal((await app.inject({ method: 'POST', url: '/rows', payload: { row: {} } })).statusCode, 201)
  const put = async (row: object, headers: Record<string, string> = {}): Promise<number> => (await app.inject({ method: 'PUT', url: '/rows', payload: { id: 1, row }, headers })).statusCode
  const unexpected: number[] = []

  await Promise.all(names.map(async (name) => {
    for (let count = 1; count <= UPDATES;) {
      const status = await put({ [name]: count })
      if (status === 200) count++
      // Too many others: nothing was written.
      else if (status !== 503) unexpected.push(status)
    }
  }))
  const [row] = await query<Record<string, string>>(database, 'SELECT * FROM posts')
  t.strictSame(names.map((name) => Number(row?.[name])), names.map(() => UPDATES))
  t.equal(Number(row?.version), 1 + TASKS * UPDATES, 'each counts once')

  for (let round = 0; round < UPDATES; round++) {
    const version = 1 + TASKS * UPDATES + round
    const statuses = await Promise.all(names.map((_, task) => put({ winner: task }, { 'if-match': `"${version}.json"` })))
    const winners = statuses.flatMap((status, task) => status === 200 ? [task] : [])
    if (winners.length !== 1) t.fail(`version ${version} was replaced ${winners.length} times: ${statuses.join()}`)
    unexpected.push(...statuses.filter((status) => ![200, 412, 503].includes(status)))
    const [row] = await query<{ version: number, winner: number }>(database, 'SELECT version::integer, winner::integer FROM posts')
    t.strictSame(row, { version: version + 1, winner: winners[0] })
  }
  t.strictSame(unexpected, [])
})
