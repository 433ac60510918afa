/**
 * Measures filtered and searched lists of 100,000 rows, with indexes, beside a handwritten route with the same statement
 * and `JSON.stringify`: in turns, in one run.
 */
import Database from 'better-sqlite3'
import fastify, { type FastifyInstance } from 'fastify'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import resources from '../../../lib/index.js'
import { postgresStore } from '../../../lib/sql/postgres/index.js'
import { sqliteStore } from '../../../lib/sql/sqlite/index.js'
import { startServer } from '../../support/stores/postgres-server.js'
import { type HandlerAnswer, knock } from '../in-process.js'
import { makePost, schema } from '../posts.js'
import { makeResult, median, type Result } from '../result.js'

const ROWS = 100_000
const ROUNDS = 15
/** The most requests before the measurement. V8 compiles code for several hundred requests. */
const WARM = 3000
/** The most time that a list takes, as a multiple of that of the handwritten route. */
const MOST = 1.3
const TABLE = { table: 'posts', attributes: schema } as const
const COLUMNS = 'id, title, body, published, rating'
/** The one of a hundred ratings that the filter finds. */
const RATING = 99
/** The word that the search finds in one of a hundred titles. */
const WORD = 'topic42x'

/** A statement for the rows of a list, and the parameters of the list without its limit. */
interface Listing {
  readonly name: string
  readonly parameters: string
  readonly where: string
  readonly value: unknown
}

/** Reads the first rows of a list by hand. */
type Select = (listing: Listing, limit: number) => unknown[] | Promise<unknown[]>

const FILTERED = { name: 'rating[gte]', parameters: `rating[gte]=${RATING}`, where: 'rating >=', value: RATING } as const

function titleOf (index: number): string {
  return `topic${index % 100}x of post ${index}`
}

/** Adds routes by hand below `/hand` to an app of the plugin. */
function addByHand (app: FastifyInstance, listings: readonly Listing[], select: Select): void {
  for (const listing of listings) {
    app.get<{ Querystring: { readonly limit: string } }>(`/hand/${listing.name}`, async ({ query }, reply) => {
      const limit = Number(query.limit)
      // One more row shows whether there is a next page.
      const rows = await select(listing, limit + 1)
      reply.type('application/json; charset=utf-8')
      return JSON.stringify({ posts: rows.slice(0, limit) })
    })
  }
}

async function get (app: FastifyInstance, url: string): Promise<string> {
  const { status, body } = await new Promise<HandlerAnswer>((resolve) => { knock(app, { method: 'GET', url, headers: { accept: 'application/json' } }, undefined, resolve) })
  assert.equal(status, 200, body)
  return body
}

interface Cost {
  readonly clock: number
  readonly processor: number
}

/** Returns the time of a request in microseconds. */
async function measure (app: FastifyInstance, url: string, calls: number): Promise<Cost> {
  const before = process.cpuUsage()
  const start = performance.now()
  for (let call = 0; call < calls; call++) await get(app, url)
  const clock = (performance.now() - start) * 1000 / calls
  const { user, system } = process.cpuUsage(before)
  return { clock, processor: (user + system) / calls }
}

/** Compares the lists of an app with those by hand. The time of PostgreSQL's own process counts only by the clock. */
async function compareLists (database: string, app: FastifyInstance, listings: readonly Listing[], kind: keyof Cost): Promise<Result[]> {
  const results: Result[] = []
  for (const { name, parameters } of listings) {
    for (const limit of [20, 1000]) {
      const [own, hand] = [`/posts?${parameters}&limit=${limit}`, `/hand/${encodeURIComponent(name)}?limit=${limit}`]
      assert.equal(await get(app, own), await get(app, hand))
      const { clock } = await measure(app, own, 3)
      const calls = Math.ceil(Math.min(200, 100_000 / clock))
      for (const url of [own, hand]) await measure(app, url, Math.ceil(Math.min(WARM, 3_000_000 / clock)))
      const rounds: Array<readonly [own: Cost, hand: Cost]> = []
      for (let round = 0; round < ROUNDS; round++) {
        const first = await measure(app, round % 2 === 0 ? own : hand, calls)
        const second = await measure(app, round % 2 === 0 ? hand : own, calls)
        rounds.push(round % 2 === 0 ? [first, second] : [second, first])
      }
      const ratio = (kind: keyof Cost): number => median(rounds.map(([own, hand]) => own[kind] / hand[kind]))
      const details = { clock: ratio('clock'), processor: ratio('processor'), 'µs by hand': median(rounds.map(([, hand]) => hand[kind])) }
      results.push(makeResult(`${database}: ${name}, ${limit.toLocaleString('en')} of ${ROWS.toLocaleString('en')} rows`, ratio(kind), 'x', { most: MOST }, details))
    }
  }
  return results
}

async function measureSqlite (): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), 'resources-bench-'))
  const database = new Database(join(folder, 'posts.sqlite'))
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: schema, store: sqliteStore({ database, ...TABLE, migrate: true }), filter: ['rating'], search: ['title'] })
  const listings = [FILTERED, { name: 'q', parameters: `q=${WORD}`, where: 'title GLOB', value: `*${Array.from(WORD, (character) => /\d/.test(character) ? character : `[${character}${character.toUpperCase()}]`).join('')}*` }]
  const statements = new Map<Listing, Database.Statement<[unknown, number], { published: number | boolean }>>()
  addByHand(app, listings, (listing, limit) => {
    const rows = (statements.get(listing) as Database.Statement<[unknown, number], { published: number | boolean }>).all(listing.value, limit)
    for (const row of rows) row.published = row.published === 1
    return rows
  })
  await app.ready()
  const insert = database.prepare('INSERT INTO posts (title, body, published, rating) VALUES (?, ?, ?, ?)')
  database.transaction(() => {
    for (let index = 1; index <= ROWS; index++) insert.run(titleOf(index), makePost(index).body, index % 2, index % (RATING + 1))
  })()
  database.exec('CREATE INDEX posts_rating ON posts (rating, id); ANALYZE')
  for (const listing of listings) statements.set(listing, database.prepare(`SELECT ${COLUMNS} FROM posts WHERE ${listing.where} ? ORDER BY id LIMIT ?`))
  const results = await compareLists('SQLite', app, listings, 'processor')
  await app.close()
  database.close()
  rmSync(folder, { recursive: true })
  return results
}

async function measurePostgres (): Promise<Result[]> {
  const server = await startServer(['fsync=off'])
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: schema, store: postgresStore({ pool, ...TABLE, migrate: true }), filter: ['rating'], search: ['title'] })
  const listings = [FILTERED, { name: 'q', parameters: `q=${WORD}`, where: 'title ~*', value: WORD }]
  // The statement has no name, as most programs write it. By name, PostgreSQL would plan it without its values.
  addByHand(app, listings, async ({ where, value }, limit) =>
    (await pool.query<object>({ text: `SELECT ${COLUMNS.replace('id', 'id::integer').replace('rating', 'rating::integer')} FROM posts WHERE ${where} $1 ORDER BY posts.id LIMIT $2`, values: [value, limit] })).rows)
  await app.ready()
  await pool.query(`INSERT INTO posts (version, title, body, published, rating) SELECT 1, 'topic' || n % 100 || 'x of post ' || n, $1, n % 2 = 1, n % ${RATING + 1} FROM generate_series(1, ${ROWS}) n`, [makePost(1).body])
  await pool.query('CREATE EXTENSION pg_trgm; CREATE INDEX ON posts USING gin (title gin_trgm_ops); CREATE INDEX ON posts (rating, id); ANALYZE posts')
  const results = await compareLists('PostgreSQL', app, listings, 'clock')
  await app.close()
  await pool.end()
  await server.stop()
  return results
}

export async function measureFilteredLists (): Promise<Result[]> {
  return [...await measureSqlite(), ...await measurePostgres()]
}
