import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startPostgres } from '../support/stores/postgres.js'
import { ask, startProgram, writeProgram } from '../support/program.js'

const WRITES = 400
const TASKS = 10

/** A process that writes to row 1, and reports the versions it has replaced and the attributes it has incremented. */
const PROGRAM = `
import Database from 'libsql'
import pg from 'pg'
import { postgresStore } from 'fastify-resources/postgres'
import { sqliteStore } from 'fastify-resources/sqlite'

const [place, name] = process.argv.slice(2)
const attributes = { type: 'object', properties: { shared: { type: 'integer' }, one: { type: 'integer' }, other: { type: 'integer' }, code: { type: ['string', 'null'] } } }
const options = { table: 'rows', attributes, unique: ['code'] }
const pool = place.startsWith('postgres:') ? new pg.Pool({ connectionString: place }) : undefined
const store = pool === undefined ? sqliteStore({ database: new Database(place), busyTimeout: 50, ...options }) : postgresStore({ pool, acquireTimeout: 60_000, statementTimeout: 60_000, ...options })
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
  if ((await insist(() => store.update(1, { [name]: own }, { version: undefined, scope: {} }, context))).ok) replaced.push('any')
}
async function work () {
  while (left > 0) {
    const turn = left--
    const row = await store.get(1, {}, context)
    const written = await insist(() => store.update(1, { shared: row.attributes.shared + 1 }, { version: row.version, scope: {} }, context))
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
  const program = await startProgram(t, writeProgram(t, `two-processes-${name}`, PROGRAM), { parameters: [place, name] })
  return () => ask(program, 'go') as Promise<Told>
}

/** Lets two processes write to one table at once. */
async function race (t: Test, place: string, read: (text: string) => Promise<Array<Record<string, unknown>>>, run: (text: string) => Promise<unknown>): Promise<void> {
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
  await race(t, server.url, async (text) => (await pool.query<Record<string, unknown>>(text)).rows, (text) => pool.query(text))
})
