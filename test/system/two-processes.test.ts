import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startPostgres } from '../support/stores/postgres.js'
import { ask, startProgram, writeProgram } from '../support/program.js'
import { makeDatabase } from '../support/stores/databases/music-database.js'

const WRITES = 400
const TASKS = 10

/** A process that writes to row 1, and reports the versions it has replaced and the attributes it has incremented. */
const PROGRAM = `
import Database from 'libsql'
import pg from 'pg'
import { postgresStore } from 'fastify-resources/postgres'
import { sqliteStore } from 'fastify-resources/sqlite'

const [place, name] = process.argv.slice(2)
const integer = { type: 'integer' }
const attributes = {
  type: 'object', properties: { shared: integer, one: integer, other: integer, code: { type: ['string', 'null'] } }
}
const options = { table: 'rows', attributes, unique: ['code'] }
const pool = place.startsWith('postgres:') ? new pg.Pool({ connectionString: place }) : undefined
const store = pool === undefined
  ? sqliteStore({ database: new Database(place), busyTimeout: 50, ...options })
  : postgresStore({ pool, acquireTimeout: 60_000, statementTimeout: 60_000, ...options })
const context = { signal: new AbortController().signal }
await store.migrate()
console.log('ready')
await new Promise((resolve) => process.once('message', resolve))

const replaced = []
const codes = []
let own = 0
let left = ${WRITES}
let counting = Promise.resolve()
/** A write that has waited too long for the other process has not been made, and is made again. */
async function insist (write) {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (error.code !== 'FST_RESOURCES_UNAVAILABLE') throw error
    }
  }
}
/** Of no version, and one after the other: what the other process writes to the row must stay. */
async function countUp () {
  own++
  const any = { version: undefined, scope: {} }
  if ((await insist(() => store.update(1, { [name]: own }, any, context))).ok) replaced.push('any')
}
async function work () {
  while (left > 0) {
    const turn = left--
    const row = await store.get(1, {}, context)
    const shared = row.attributes.shared + 1
    const condition = { version: row.version, scope: {} }
    const written = await insist(() => store.update(1, { shared }, condition, context))
    if (written.ok) replaced.push(row.version)
    if (turn % 10 === 0) {
      await (counting = counting.then(countUp))
      const code = String(turn)
      try {
        await insist(() => store.create({ code }, {}, context))
        codes.push(code)
      } catch (error) {
        if (error.code !== 'FST_RESOURCES_DUPLICATE') throw error
      }
    }
    // Lets the other process at the row, too: a store that answers at once would not.
    await new Promise(setImmediate)
  }
}
await Promise.all(Array.from({ length: ${TASKS} }, work))
process.send({ replaced, codes, own }, () => process.exit())
`

interface Told {
  readonly replaced: readonly string[]
  readonly codes: readonly string[]
  readonly own: number
}

/** Starts the program. The returned function starts its work and returns its report. */
async function start (t: Test, place: string, name: string): Promise<() => Promise<Told>> {
  const program = await startProgram(t, writeProgram(
    t, `two-processes-${name}`, PROGRAM
  ), { parameters: [place, name] })
  return () => ask(program, 'go') as Promise<Told>
}

/** Lets two processes write to one table at once. */
async function race (
  t: Test, place: string, read: (text: string) => Promise<Array<Record<string, unknown>>>,
  run: (text: string) => Promise<unknown>
): Promise<void> {
  const one = await start(t, place, 'one')
  await run('INSERT INTO rows (version, shared) VALUES (1, 0)')
  const other = await start(t, place, 'other')
  const told = await Promise.all([one(), other()])
  const replaced = told.flatMap(({ replaced }) => replaced)
  const conditional = replaced.filter((version) => version !== 'any')
  t.ok(told.every(({ replaced }) => replaced.some((version) => version !== 'any')), 'both have won writes')
  t.equal(new Set(conditional).size, conditional.length, 'no version was replaced twice')
  const [row] = await read('SELECT version, shared, one, other FROM rows WHERE id = 1')
  t.strictSame(
    Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)])),
    { version: 1 + replaced.length, shared: conditional.length, one: told[0].own, other: told[1].own },
    'every write counts, and no process has undone the other\'s'
  )
  const codes = told.flatMap(({ codes }) => codes)
  t.equal(new Set(codes).size, codes.length, 'the unique value was taken once')
  t.equal(codes.length, WRITES / 10)
}

t.test('two processes share one file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resources-two-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'rows.sqlite')
  const { default: Database } = await import('libsql')
  const open = <R>(use: (database: InstanceType<typeof Database>) => R): R => {
    const database = new Database(path)
    try { return use(database) } finally { database.close() }
  }
  await race(t, path,
    async (text) => open((database) => database.prepare(text).all() as Array<Record<string, unknown>>),
    async (text) => open((database) => database.prepare(text).run()))
})

t.test('two processes share one PostgreSQL', async (t) => {
  const server = await startPostgres(t)
  const pool = server.pool()
  await race(t, server.url, async (text) => (await pool.query<Record<string, unknown>>(text)).rows, (text) =>
    pool.query(text))
})

/** The number of writes. `RACES=10000` takes some six minutes. */
const RACES = Number(process.env.RACES ?? 60)
/** The number of clients of each process. All of them write to one row. */
const CLIENTS = 2
const COMMAND = new URL('../../dist/database/command/bin.js', import.meta.url).pathname
const JSON_TYPES = { accept: 'application/json', 'content-type': 'application/json' }

const COUNTED = /^"\d+\.json-[\da-f]{8}"$/
const DIGESTED = /^"[\da-f]{40}\.json-[\da-f]{8}"$/

type Names = readonly [plural: string, singular: string]

interface Read {
  readonly tag: string
  readonly wins: number
}

async function read (url: string, [plural, singular]: Names): Promise<Read> {
  const response = await fetch(`${url}${plural}/1`, { headers: JSON_TYPES })
  const document = await response.json() as Readonly<Record<string, { readonly wins: number }>>
  return { tag: String(response.headers.get('etag')), wins: Number(document[singular]?.wins) }
}

/** Adds one to the number that a client has read. Returns the status. */
async function write (url: string, [plural, singular]: Names, { tag, wins }: Read): Promise<number> {
  const body = JSON.stringify({ id: 1, [singular]: { wins: wins + 1 } })
  const response = await fetch(`${url}${plural}`, { method: 'PUT', headers: { ...JSON_TYPES, 'if-match': tag }, body })
  await response.arrayBuffer()
  return response.status
}

/** Lets clients of two processes of the command count in one row, each with the version that it has read. */
async function raceRace (t: Test, source: string, names: Names, versions: RegExp): Promise<void> {
  const parameters = [source, '--write', '--port', '0']
  const programs = await Promise.all([1, 2].map(() => startProgram(t, COMMAND, { parameters })))
  const urls = programs.map(({ line }) => / is at (\S+)$/.exec(line)?.[1] ?? '')
  const outcomes = urls.map(() => ({ won: 0, lost: 0, others: new Array<number>() }))
  let left = RACES
  // All clients have read the same version, so that only one of their first writes can win.
  const first = await read(urls[0] as string, names)
  const compete = async (url: string, outcome: typeof outcomes[number]): Promise<void> => {
    for (let last = first; left-- > 0; last = await read(url, names)) {
      const status = await write(url, names, last)
      if (status === 200) outcome.won++
      else if (status === 412) outcome.lost++
      else outcome.others.push(status)
    }
  }
  await Promise.all(urls.flatMap((url, process) =>
    Array.from({ length: CLIENTS }, () => compete(url, outcomes[process] as typeof outcomes[number]))))
  t.comment(JSON.stringify(outcomes))
  const sum = (kind: 'won' | 'lost'): number => outcomes.reduce((sum, outcome) => sum + outcome[kind], 0)
  t.equal(sum('won') + sum('lost'), RACES, 'each write wins, or loses to another one')
  t.ok(sum('lost') >= urls.length * CLIENTS - 1, 'writes have lost to others')
  for (const url of urls) {
    const { tag, wins } = await read(url, names)
    t.equal(wins, sum('won'), 'no update is lost')
    t.match(tag, versions)
  }
}

t.test('two processes on one file lose no update, by values', async (t) => {
  const path = `${t.testdir()}/games.sqlite`
  makeDatabase(
    'CREATE TABLE games (id INTEGER PRIMARY KEY, wins INTEGER NOT NULL); INSERT INTO games VALUES (1, 0)', path
  )
    .close()
  await raceRace(t, path, ['games', 'game'], DIGESTED)
})

t.test('two processes on one PostgreSQL lose no update', async (t) => {
  const server = await startPostgres(t)
  await server.pool().query(`
    CREATE TABLE games (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, wins integer NOT NULL);
    CREATE TABLE matches (LIKE games INCLUDING ALL) PARTITION BY HASH (id);
    CREATE TABLE matches_1 PARTITION OF matches FOR VALUES WITH (MODULUS 1, REMAINDER 0);
    INSERT INTO games (wins) VALUES (0);
    INSERT INTO matches (wins) VALUES (0)`)
  await t.test('by xmin', async (t) => { await raceRace(t, server.url, ['games', 'game'], COUNTED) })
  // The rows of a partitioned table have no xmin of their own.
  await t.test('by values', async (t) => { await raceRace(t, server.url, ['matches', 'match'], DIGESTED) })
})

/** The number of updates of each process. `UPDATES=5000` takes some minutes. */
const UPDATES = Number(process.env.UPDATES ?? 150)
const ROWS = 5

/** A process that gives one attribute of some rows a value, or takes it away, and reports the statuses. */
const RULED = `
import fastify from 'fastify'
import Database from 'libsql'
import pg from 'pg'
import resources from 'fastify-resources'
import { postgresStore } from 'fastify-resources/postgres'
import { sqliteStore } from 'fastify-resources/sqlite'

const [place, name] = process.argv.slice(2)
const integer = { type: ['integer', 'null'] }
const attributes = {
  type: 'object',
  properties: { one: integer, other: integer },
  anyOf: [{ required: ['one'] }, { required: ['other'] }]
}
const options = { table: 'rows', attributes }
const times = { acquireTimeout: 60_000, statementTimeout: 60_000 }
const store = place.startsWith('postgres:')
  ? postgresStore({ pool: new pg.Pool({ connectionString: place }), ...times, ...options })
  : sqliteStore({ database: new Database(place), busyTimeout: 50, ...options })
await store.migrate()
const app = fastify()
app.register(resources, { name: 'rows', store, formats: ['json'] })
const send = async (method, payload) => (await app.inject({ method, url: '/rows', payload })).statusCode
if (name === 'one') for (let row = 1; row <= ${ROWS}; row++) await send('POST', { row: { one: 0, other: 0 } })
console.log('ready')
await new Promise((resolve) => process.once('message', resolve))
const statuses = {}
const work = async (start) => {
  for (let turn = start; turn < ${UPDATES}; turn += 5) {
    const status = await send('PUT', { id: 1 + turn % ${ROWS}, row: { [name]: turn % 3 === 0 ? turn : null } })
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}
await Promise.all([0, 1, 2, 3, 4].map(work))
process.send(statuses, () => process.exit())
`

/** Lets two processes make updates that are each right, and can be wrong together. */
async function raceRules (
  t: Test, place: string, read: (text: string) => Promise<Array<Record<string, unknown>>>
): Promise<void> {
  const programs = []
  for (const name of ['one', 'other']) {
    programs.push(await startProgram(t, writeProgram(t, `ruled-${name}`, RULED), { parameters: [place, name] }))
  }
  const told = await Promise.all(programs.map((program) => ask(program, 'go'))) as Array<Record<string, number>>
  t.comment(JSON.stringify(told))
  const count = (status: number): number => told.reduce((sum, { [status]: found = 0 }) => sum + found, 0)
  t.ok(count(422) > 0, 'some updates would have broken the rule')
  t.equal(count(200) + count(422) + count(503), 2 * UPDATES, 'no update ends in another way')
  const rows = await read('SELECT one, other FROM rows')
  t.equal(rows.length, ROWS)
  t.strictSame(rows.filter(({ one, other }) => one === null && other === null), [], 'each stored row obeys the rule')
}

t.test('updates of two processes cannot break a rule together', async (t) => {
  await t.test('in one file', async (t) => {
    const path = `${t.testdir()}/rows.sqlite`
    const { default: Database } = await import('libsql')
    await raceRules(t, path, async (text) => {
      const database = new Database(path)
      try { return database.prepare(text).all() as Array<Record<string, unknown>> } finally { database.close() }
    })
  })
  await t.test('in one PostgreSQL', async (t) => {
    const server = await startPostgres(t)
    const pool = server.pool()
    await raceRules(t, server.url, async (text) => (await pool.query<Record<string, unknown>>(text)).rows)
  })
})
