import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'libsql'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { startPostgres } from '../../support/stores/postgres.js'
import { ask, startProgram, until, writeProgram } from '../../support/program.js'

const ROWS = 400_000
const SAMPLES = 5
const MOST_HELD = 32 * 2 ** 20
/** The bytes per second of a slow reader. The next constant is its time in seconds. */
const PACE = 2 ** 20
const PATIENCE = 1
/** A fast reader leaves after this many bytes, which exceed the kernel's buffers. */
const ENOUGH = 16 * 2 ** 20

/** A server of many rows. It runs in its own process, so that only its own memory is measured. */
const SERVER = `
import fastify from 'fastify'
import resources, { memoryStore } from 'fastify-resources'
import { postgresStore } from 'fastify-resources/postgres'
import { sqliteStore } from 'fastify-resources/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const place = process.argv[2]
const attributes = { type: 'object', properties: { title: { type: 'string' }, published: { type: 'boolean' } } }
const options = { table: 'posts', attributes, migrate: true }
const pool = place.startsWith('postgres:')
  ? new pg.Pool({ connectionString: place, application_name: 'blog' })
  : undefined

async function open () {
  if (place === 'memory') {
    const store = memoryStore()
    for (let id = 1; id <= ${ROWS}; id++) store.create({ title: 'Row ' + id, published: id % 2 === 0 }, {})
    return store
  }
  if (pool !== undefined) {
    const store = postgresStore({ pool, acquireTimeout: 60_000, statementTimeout: 60_000, ...options })
    await store.migrate()
    await pool.query("INSERT INTO posts (version, title, published) SELECT 1, 'Row ' || id, id % 2 = 0 " +
      'FROM generate_series(1, ${ROWS}) AS id')
    return store
  }
  const database = new Database(place)
  const store = sqliteStore({ database, ...options })
  await store.migrate()
  database.exec('WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${ROWS}) ' +
    "INSERT INTO posts (version, title, published) SELECT 1, 'Row ' || id, id % 2 = 0 FROM ids")
  return store
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
function measure () {
  gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** What has become of the lists since it was last forgotten. */
let seen
const forget = () => { seen = { rows: 0, left: 0, held: [] } }
forget()

function note (batch) {
  const before = seen.rows
  seen.rows += batch.length
  if (Math.floor(before / ${ROWS / SAMPLES}) < Math.floor(seen.rows / ${ROWS / SAMPLES})) seen.held.push(measure())
}
function * watch (batches) {
  try { for (const batch of batches) { note(batch); yield batch } } finally { seen.left++ }
}
async function * watchAsync (batches) {
  try { for await (const batch of batches) { note(batch); yield batch } } finally { seen.left++ }
}

const store = await open()
const app = fastify()
app.register(resources, {
  name: 'posts',
  attributes,
  store: {
    ...store,
    list (query, context) {
      const batches = store.list(query, context)
      return Symbol.asyncIterator in batches ? watchAsync(batches) : watch(batches)
    }
  }
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('disconnect', () => process.exit())
process.on('message', (question) => {
  if (question === 'forget') forget()
  const connections = pool && { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }
  process.send(question === 'measure' ? measure() : { ...seen, connections })
})
console.log(address)
`

type Kind = 'xml' | 'json'

const kinds = ['xml', 'json'] as const
const closings = { xml: '</posts>', json: ']}' }
const ids = { xml: /<id type="integer">(\d+)<\/id>/g, json: /\{"id":(\d+),/g }

interface Seen {
  readonly rows: number
  /** The number of abandoned lists. */
  readonly left: number
  /** The bytes held in the middle of a list. */
  readonly held: readonly number[]
  readonly connections: { readonly total: number, readonly idle: number, readonly waiting: number } | undefined
}

/** A server of many rows. */
interface Server {
  readonly url: URL
  ask (question: 'forget' | 'tell'): Promise<Seen>
  measure (): Promise<number>
}

async function startServer (t: Test, place: string): Promise<Server> {
  const program = await startProgram(t, writeProgram(t, 'long-lists', SERVER), { parameters: [place] })
  return {
    url: new URL(program.line),
    ask: (question) =>
      ask(program, question) as Promise<Seen>,
    measure: () => ask(program, 'measure') as Promise<number>
  }
}

/** Starts to read a list, then pauses. */
async function read (t: Test, { url }: Server, kind: Kind): Promise<IncomingMessage> {
  const request = http.get(new URL(`/posts.${kind}`, url), { agent: false })
  t.teardown(() => request.destroy())
  const [response] = await once(request, 'response') as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`the list is answered with ${response.statusCode}`)
  await once(response, 'readable')
  // Leaving before the end is an error for the reader.
  response.on('error', () => {})
  request.on('error', () => {})
  return response
}

/** Leaves a list, and waits until the server has left it too. Throws if the server has read it to its end. */
async function leave (server: Server, response: IncomingMessage): Promise<void> {
  response.destroy()
  await until('the list is closed', async () => (await server.ask('tell')).left === 1)
  const { rows } = await server.ask('tell')
  if (rows >= ROWS) throw new Error('the list has been read to its end')
  await until('no connection is in use', async () => {
    const { connections } = await server.ask('tell')
    return connections === undefined || (connections.idle === connections.total && connections.waiting === 0)
  })
}

/** Reads this many bytes, at most `pace` in a second. */
async function readPart (response: IncomingMessage, most: number, pace: number): Promise<void> {
  const began = performance.now()
  for (let length = 0; length < most;) {
    const chunk = response.read() as Buffer | null
    if (response.readableEnded) throw new Error(`the list ends after ${length} bytes`)
    if (chunk === null) await once(response, 'readable')
    else length += chunk.length
    const ahead = length / pace * 1000 - (performance.now() - began)
    if (ahead > 0) await delay(ahead)
  }
}

/** Returns the number of rows and the end of a list. The rows must be complete and in order. */
async function readWhole (response: IncomingMessage, kind: Kind): Promise<{
  readonly rows: number, readonly end: string
}> {
  let rows = 0
  let rest = ''
  for await (const chunk of response) {
    const text = rest + (chunk as Buffer).toString('latin1')
    let end = 0
    for (const match of text.matchAll(ids[kind])) {
      if (Number(match[1]) !== ++rows) return { rows, end: match[0] }
      end = match.index + match[0].length
    }
    rest = text.slice(end)
  }
  return { rows, end: rest.slice(-closings[kind].length) }
}

function mebibytes (bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}

/** @param holdsNothing is called in the middle of a list whose reader has stopped */
async function tryLists (t: Test, server: Server, holdsNothing: () => Promise<boolean>): Promise<void> {
  for (const kind of kinds) {
    await t.test(kind, async (t) => {
      await server.ask('forget')
      const hasty = await read(t, server, kind)
      const { rows: first } = await server.ask('tell')
      t.ok(first < ROWS / 2, `${first} rows have been read when the first byte comes`)
      await readPart(hasty, ENOUGH, Infinity)
      await leave(server, hasty)

      const before = await server.measure()
      await server.ask('forget')
      const whole = await read(t, server, kind)
      t.strictSame(await readWhole(whole, kind), { rows: ROWS, end: closings[kind] })
      const { held } = await server.ask('tell')
      t.equal(held.length, SAMPLES)
      t.ok(Math.max(...held) - before <= MOST_HELD, `${held.map((bytes) =>
        mebibytes(bytes - before)).join(', ')} MiB are held while the list is read`)

      await server.ask('forget')
      const slow = await read(t, server, kind)
      const heldSlowly: number[] = []
      for (let second = 0; second < PATIENCE; second++) {
        await readPart(slow, PACE, PACE)
        heldSlowly.push(await server.measure())
      }
      t.ok(Math.max(...heldSlowly) - before <= MOST_HELD, `${heldSlowly.map((bytes) =>
        mebibytes(bytes - before)).join(', ')} MiB are held for a slow reader`)
      await until('nothing is held for who does not read', holdsNothing)
      const { left, rows } = await server.ask('tell')
      t.strictSame([left, rows < ROWS], [0, true], 'in the middle of the list')
      await leave(server, slow)
    })
  }
}

t.test('400,000 rows in memory', async (t) => {
  await tryLists(t, await startServer(t, 'memory'), async () => true)
})

t.test('400,000 rows in SQLite', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resources-long-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'blog.sqlite')
  const server = await startServer(t, path)
  const other = new Database(path)
  t.teardown(() => { other.close() })
  await tryLists(t, server, async () => {
    const { changes } = other.prepare('UPDATE posts SET version = version + 1 WHERE id = 1').run()
    // A held snapshot of the database would keep this checkpoint from finishing.
    const [checkpoint] = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as Array<{ busy: number, log: number }>
    return changes === 1 && checkpoint?.busy === 0 && checkpoint.log === 0
  })
})

t.test('400,000 rows in PostgreSQL', async (t) => {
  const postgres = await startPostgres(t, ['fsync=off', 'autovacuum=off'])
  const pool: pg.Pool = postgres.pool({ max: 1 })
  const server = await startServer(t, postgres.url)
  await tryLists(t, server, async () => {
    const { connections } = await server.ask('tell')
    const { rows } = await pool.query(
      "SELECT FROM pg_stat_activity WHERE application_name = 'blog' " +
        "AND (state <> 'idle' OR xact_start IS NOT NULL OR backend_xmin IS NOT NULL)"
    )
    return connections?.idle === connections?.total && rows.length === 0
  })
})
