import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import Database from 'libsql'
import pg from 'pg'
import root, { type Test } from 'tap'
import { type Store } from '../../lib/index.js'
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '../../lib/sql/postgres/index.js'
import {
  BlogClient, checkClients, isRefusal, type Kind, kinds, listRows, type Said, total
} from '../support/blog-client.js'
import { build, post } from '../support/helper.js'
import { type PostgresServer, startPostgres } from '../support/stores/postgres.js'
import { buildExample, startProgram, until, writeProgram } from '../support/program.js'

/** The number of kills for each store. */
const CYCLES = 3
/** The number of other ends and crashes, which take turns between a busy and an idle app. */
const ENDS = Math.min(CYCLES, 2)
/** The number of rows of a request with many rows. */
const BATCH = 100
/** The number of kills of a server whose clients send their requests again, for each store. `KILLS=200` makes more. */
const KILLS = Number(process.env.KILLS ?? 4)
/** The least number of acknowledged writes before each kill, so that there is something to lose. */
const LOAD = 20

/** Starts the blog of the example with the store of this name. */
const BLOG = `
import { buildBlog } from '${buildExample(root, 'blog.ts')}'

process.once('disconnect', () => process.exit())
console.log(await buildBlog(process.argv[2]).listen({ port: 0, host: '127.0.0.1' }))
`

/** Starts a server that carries out a request with a key once. */
const KEYED = `
import fastify from 'fastify'
import pg from 'pg'
import resources from 'fastify-resources'
import { postgresStores } from 'fastify-resources/postgres'
import { sqliteStores } from 'fastify-resources/sqlite'

process.once('disconnect', () => process.exit())
const [, , name] = process.argv
const stores = name.startsWith('postgres')
  ? postgresStores({ pool: new pg.Pool({ connectionString: name }) })
  : sqliteStores({ file: name })
const app = fastify()
app.register(resources, {
  name: 'posts',
  formats: ['json'],
  stores,
  idempotency: {},
  attributes: { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } },
  actions: {
    create: {
      many: true,
      async handler (context) {
        const row = await context.proceed()
        // There is time to be killed between two writes.
        await new Promise(setImmediate)
        await context.store.update(row.row.id, { body: 'twice' }, { version: undefined, scope: {} }, context)
        return context.store.get(row.row.id, {}, context)
      }
    }
  }
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
`

const SERVER = buildExample(root, 'server.ts')

/** A store that outlives the process of a blog. */
interface Place {
  /** The name that `buildBlog` takes. */
  readonly name: string
  /** Waits until a killed process can no longer write. */
  settle (): Promise<void>
  rows (): Promise<Said[]>
  /** Returns the result of the database's integrity check. */
  inspect (): Promise<unknown>
}

const places: ReadonlyArray<readonly [name: string, make: (t: Test) => Promise<Place>]> = [
  ['SQLite', async (t) => {
    const path = makePath(t)
    return {
      name: path,
      settle: async () => {},
      rows: async () =>
        rowsIn(path),
      inspect: async () => look(path, 'PRAGMA integrity_check')
    }
  }],
  ['PostgreSQL', async () => {
    const { url } = await makeDatabase()
    return {
      name: url,
      // The database goes on with a statement after its client has been killed.
      settle: () => until('the connections are gone', async () => await countConnections(url) === 0),
      rows: async () => (await query<Said>(url, 'SELECT id, title, body FROM posts')).map(
        (row) => ({ ...row, id: Number(row.id) })
      ),
      inspect: async () => [{ integrity_check: 'ok' }]
    }
  }]
]

function makePath (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'resources-durability-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  return join(folder, 'blog.sqlite')
}

/** Queries on a connection of its own, which sees only committed rows. */
function look<R> (path: string, text: string): R[] {
  const database = new Database(path)
  try { return database.prepare(text).all() as R[] } finally { database.close() }
}

function rowsIn (path: string): Said[] {
  return look(path, 'SELECT id, title, body FROM posts')
}

let postgres: Promise<PostgresServer> | undefined
let databases = 0

/** Creates a database. All tests of this file share one server. */
async function makeDatabase (): Promise<{ readonly server: PostgresServer, readonly url: string }> {
  const server = await (postgres ??= startPostgres(root, []))
  const name = `durability${++databases}`
  await query(server.url, `CREATE DATABASE ${name}`)
  return { server, url: server.url.replace(/\w+$/, name) }
}

/** Queries on a connection of its own, because those of a pool would keep the database open. */
async function query<R> (url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try { return (await client.query(text)).rows as R[] } finally { await client.end() }
}

async function countConnections (url: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    url,
    'SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database() AND backend_type = \'client ' +
      'backend\' AND pid <> pg_backend_pid()'
  )
  return row?.count ?? 0
}

function makeClients (t: Test, count: number, url: () => URL, length?: number): BlogClient[] {
  const clients = Array.from({ length: count }, (_, index) =>
    new BlogClient(`client ${index}`, kinds[index % kinds.length] as Kind, url, length))
  t.teardown(() => { for (const client of clients) client.close() })
  return clients
}

/**
 * Lets the clients write until this many more writes are acknowledged. The returned promise ends with the last client.
 */
async function load (clients: readonly BlogClient[], more: number, mayGoOn: (client: BlogClient) => boolean = () =>
  true): Promise<{ readonly work: Promise<unknown> }> {
  const wanted = total(clients, 'acknowledged') + more
  const enough = new Promise<void>((resolve) => {
    for (const client of clients) {
      client.onAcknowledged = () => { if (total(clients, 'acknowledged') >= wanted) resolve() }
    }
  })
  const work = Promise.all(clients.map((client) => client.work(() => mayGoOn(client))))
  await Promise.race([enough, work.then(() => { throw new Error('the server has gone') })])
  return { work }
}

/** A promise that is resolved from outside. */
class Deferred<T> {
  resolve: (value: T) => void = () => {}
  readonly promise = new Promise<T>((resolve) => { this.resolve = resolve })
}

for (const [name, make] of places) {
  root.test(`every write that ${name} has acknowledged survives a kill -9`, async (t) => {
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

  root.test(`a kill -9 amid requests with many rows leaves all or none of each in ${name}`, async (t) => {
    const place = await make(t)
    const program = writeProgram(t, `kill-rows-${name}`, BLOG)
    let sent = 0
    const acknowledged = new Set<string>()
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const { process: child, line, ended } = await startProgram(t, program, { parameters: [place.name] })
      let enough = (): void => {}
      const loaded = new Promise<void>((resolve) => { enough = resolve })
      const wanted = acknowledged.size + 2 + Math.floor(Math.random() * 4)
      const work = Promise.all([0, 1].map(async () => {
        for (;;) {
          const batch = `batch${++sent}`
          const posts = Array.from({ length: BATCH }, (_, index) => ({ title: `${batch} ${index}`, body: 'x' }))
          const answer = await fetch(new URL('/posts', line), {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json' },
            body: JSON.stringify({ posts })
          }).catch(() => undefined)
          if (answer === undefined) return
          t.equal(answer.status, 201)
          if (acknowledged.add(batch).size >= wanted) enough()
        }
      }))
      await loaded
      await delay(Math.random() * 20)
      child.kill('SIGKILL')
      t.equal(await ended, 'SIGKILL')
      await work
      await place.settle()
    }
    const counts = new Map<string, number>()
    for (const { title } of await place.rows()) {
      const [batch = ''] = title.split(' ')
      if (/^batch\d+$/.test(batch)) counts.set(batch, (counts.get(batch) ?? 0) + 1)
    }
    t.strictSame([...counts].filter(([, count]) => count !== BATCH), [], 'no request was written in part')
    t.strictSame([...acknowledged].filter((batch) => !counts.has(batch)), [], 'no acknowledged request was lost')
    t.comment(`${sent} requests with ${BATCH} rows, ${acknowledged.size} of them acknowledged`)
  })

  root.test(`a client that sends its requests again with a key writes each once in ${name}`, async (t) => {
    const place = await make(t)
    const program = writeProgram(t, `kill-keys-${name}`, KEYED)
    let server = new Deferred<string>()
    let acknowledge = (): void => {}
    const over = new AbortController()
    let [sent, repeated, replayed] = [0, 0, 0]
    const expected = new Map<string, number>()
    /** Sends a request until it is answered. */
    const insist = async (key: string, body: string): Promise<void> => {
      for (let attempt = 0; ; attempt++) {
        const answer = await fetch(new URL('/posts', await server.promise), {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body
        }).then(async (answer) => ({ answer, text: await answer.text() })).catch(() => undefined)
        if (attempt > 0) repeated++
        if (answer?.answer.status === 201) {
          if (answer.answer.headers.has('idempotency-replayed')) replayed++
          return acknowledge()
        }
        if (answer !== undefined && ![409, 503].includes(answer.answer.status)) throw new Error(answer.text)
        await delay(5)
      }
    }
    const work = Promise.all([0, 1, 2, 3].map(async () => {
      while (!over.signal.aborted) {
        const key = `key${++sent}`
        const count = sent % 2 === 0 ? 1 : 3
        const posts = Array.from({ length: count }, () => ({ title: key }))
        expected.set(key, count)
        await insist(key, JSON.stringify(count === 1 ? { post: posts[0] } : { posts }))
      }
    }))
    for (let kill = 0; kill <= KILLS; kill++) {
      const { process: child, line, ended } = await startProgram(t, program, { parameters: [place.name] })
      const enough = new Deferred<void>()
      let left = 2 + Math.floor(Math.random() * 4)
      acknowledge = () => { if (--left <= 0) enough.resolve() }
      server.resolve(line)
      await Promise.race([enough.promise, work])
      if (kill === KILLS) break
      await delay(Math.random() * 10)
      server = new Deferred()
      child.kill('SIGKILL')
      t.equal(await ended, 'SIGKILL')
    }
    over.abort()
    await work
    const counts = new Map<string, number>()
    for (const { title, body } of await place.rows()) {
      counts.set(title, (counts.get(title) ?? 0) + 1)
      t.equal(body, 'twice')
    }
    t.strictSame([...counts].sort(), [...expected].sort())
    t.strictSame(await place.inspect(), [{ integrity_check: 'ok' }])
    t.comment(`${sent} requests, ${repeated} sent again, ${replayed} of them answered again`)
  })

  root.test(`a blog in ${name} answers all accepted requests after SIGTERM`, async (t) => {
    const place = await make(t)
    let url = new URL('http://localhost')
    const clients = makeClients(t, 8, () => url)
    let owed = 0
    for (let cycle = 0; cycle < ENDS; cycle++) {
      const {
        process: child, line, ended
      } = await startProgram(t, SERVER, { environment: { PORT: '0', STORE: place.name } })
      url = new URL(/http:\S+(?=\/posts;)/.exec(line)?.[0] ?? '')
      for (const client of clients) {
        client.isClosing = false
        // The request opens the client's connection.
        await client.create()
      }
      // Most clients stop at the signal and keep their connections. The others go on asking.
      const silent = clients.filter(({ kind }) => kind !== 'html')
      const { work } = await load(clients, LOAD + cycle * 7, (client) => !client.isClosing || !silent.includes(client))
      await until('a client waits for an answer', () => silent.some(({ owed }) => owed !== undefined))
      const answers = clients.flatMap((client) => client.owed ?? [])
      owed += answers.length
      for (const client of clients) client.isClosing = true
      child.kill('SIGTERM')
      const statuses = (await Promise.allSettled(answers)).map((answer) =>
        answer.status === 'fulfilled' ? answer.value.status : String(answer.reason))
      t.strictSame(statuses.filter((status) =>
        !(Number(status) < 400)), [], 'every request that had been sent succeeds')
      // The example exits with 1 if it has not stopped after five seconds.
      t.equal(await ended, 0)
      await work
      t.strictSame(checkClients(clients, await place.rows()), [], 'every acknowledged write is there')
    }
    t.ok(owed > 0, `${owed} answers were owed`)
  })
}

/** Serves the blog in this process, with the test's own store. */
async function serve (t: Test, store: Store): Promise<{ readonly app: FastifyInstance, readonly url: URL }> {
  const app = await build(t, { name: 'posts', attributes: post, store })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url: new URL(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`) }
}

root.test('a crashed PostgreSQL gives 503 or 504, loses no acknowledged write, and is used again', async (t) => {
  const { server, url: database } = await makeDatabase()
  const pool = new pg.Pool({ connectionString: database, max: 5 })
  t.teardown(() => pool.end())
  const store = postgresStore({ pool, table: 'posts', attributes: post, acquireTimeout: 1_000, migrate: true })
  const { url } = await serve(t, store)
  const clients = makeClients(t, 9, () => url)
  for (let cycle = 0; cycle < ENDS; cycle++) {
    // The connections are busy in every other cycle.
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
    await Promise.race([work, until('all are refused', () =>
      clients.every((client) => client.refused >= (refused.get(client) ?? 0) + 3))])
    const back = new Promise<void>((resolve) => {
      for (const client of clients) client.onAcknowledged = () => { resolve() }
    })
    await server.start()
    await Promise.race([back, work.then(() => { throw new Error('no write succeeds when the database is back') })])
    mayGoOn = false
    await work
    t.strictSame(
      checkClients(clients, await listRows(url)), [], 'every acknowledged write is there, and no refused one'
    )
  }
  t.ok(
    total(clients, 'acknowledged') > LOAD,
    `${total(
      clients, 'acknowledged'
    )} acknowledged, ${total(clients, 'refused')} refused, ${total(clients, 'unknown')} unknown`
  )
  t.ok(pool.totalCount <= 5)
  t.strictSame([pool.waitingCount, pool.idleCount], [0, pool.totalCount], 'no connection is lost')
  await until('the broken connections are closed', async () => await countConnections(database) <= pool.totalCount)
})

/** Creates rows until each client has been refused this often. */
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

/** Makes other requests to a full store. */
async function tryEverything (clients: readonly BlogClient[]): Promise<void> {
  for (const client of clients) {
    let left = 15
    await client.work(() => left-- > 0)
  }
}

for (const [what, blocks] of [['log', 4_096], ['log and table', 12_288]] as const) {
  root.test(`a file system without room for the ${what} of an SQLite loses no acknowledged write`, async (t) => {
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
    t.strictSame(checkClients(clients, await listRows(url)), [], 'the same after a kill -9')
    const before = total(clients, 'acknowledged')
    t.ok(before > 30, `${before} writes were acknowledged`)
    for (const client of clients) await client.create()
    t.equal(total(clients, 'acknowledged'), before + clients.length)
  })
}

/** Opens a store in its own database, with a pool that ends with the test. */
async function openPostgres (
  t: Test, poolOptions: pg.PoolConfig, options: Partial<PostgresStoreOptions> = {}
): Promise<{
  readonly database: string, readonly pool: pg.Pool, readonly store: PostgresStore
}> {
  const { url } = await makeDatabase()
  const pool = new pg.Pool({ connectionString: url, ...poolOptions })
  t.teardown(() => pool.end())
  return {
    database: url, pool, store: postgresStore({ pool, table: 'posts', attributes: post, migrate: true, ...options })
  }
}

root.test('a PostgreSQL statement that takes too long is a 503 and writes nothing', async (t) => {
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

root.test('no serializable write is lost', async (t) => {
  const TASKS = 20
  const UPDATES = 10
  const names = Array.from({ length: TASKS }, (_, task) => `count${task}`)
  const counters = {
    type: 'object', properties: Object.fromEntries([...names, 'winner'].map((name) => [name, { type: 'integer' }]))
  } as const
  const {
    database, store
  } = await openPostgres(t, { options: '-c default_transaction_isolation=serializable' }, { attributes: counters })
  const app = await build(t, { name: 'rows', store })
  t.equal((await app.inject({ method: 'POST', url: '/rows', payload: { row: {} } })).statusCode, 201)
  const put = async (row: object, headers: Record<string, string> = {}): Promise<number> => (await app.inject(
    { method: 'PUT', url: '/rows', payload: { id: 1, row }, headers }
  )).statusCode
  const unexpected: number[] = []

  await Promise.all(names.map(async (name) => {
    for (let count = 1; count <= UPDATES;) {
      const status = await put({ [name]: count })
      if (status === 200) count++
      // A 503 means that other writes were in the way, and nothing was written.
      else if (status !== 503) unexpected.push(status)
    }
  }))
  const [row] = await query<Record<string, string>>(database, 'SELECT * FROM posts')
  t.strictSame(names.map((name) => Number(row?.[name])), names.map(() => UPDATES))
  t.equal(Number(row?.version), 1 + TASKS * UPDATES, 'each write counts once')

  for (let round = 0; round < UPDATES; round++) {
    const version = 1 + TASKS * UPDATES + round
    const statuses = await Promise.all(names.map((_, task) =>
      put({ winner: task }, { 'if-match': `"${version}.json"` })))
    const winners = statuses.flatMap((status, task) => status === 200 ? [task] : [])
    if (winners.length !== 1) t.fail(`version ${version} was replaced ${winners.length} times: ${statuses.join()}`)
    unexpected.push(...statuses.filter((status) => ![200, 412, 503].includes(status)))
    const [row] = await query<{ version: number, winner: number }>(
      database, 'SELECT version::integer, winner::integer FROM posts'
    )
    t.strictSame(row, { version: version + 1, winner: winners[0] })
  }
  t.strictSame(unexpected, [])
})
