/** Measures a store beside its bare driver: the same statement on the same rows, in turns, in one run. */
import Database from 'libsql'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Store } from '../../lib/index.js'
import { postgresStore } from '../../lib/sql/postgres/index.js'
import { sqliteStore } from '../../lib/sql/sqlite/index.js'
import { startServer } from '../support/stores/postgres-server.js'
import { compare } from './compare.js'
import type { Result } from './result.js'

const attributes = {
  type: 'object',
  required: ['title', 'body'],
  properties: { title: { type: 'string' }, body: { type: 'string' }, published: { type: 'boolean' }, rating: { type: ['integer', 'null'] } }
} as const
const row = { title: 'A title of 24 characters', body: 'x'.repeat(200), published: true, rating: 4 }
const columns = '"id", "version", "title", "body", "published", "rating"'
const context = { signal: new AbortController().signal }
const ROWS = 1000

async function fill (store: Store): Promise<void> {
  for (let index = 0; index < ROWS; index++) await store.create(row, {}, context)
}

async function measureSqlite (): Promise<Result[]> {
  // A durable store keeps its rows in a file.
  const folder = mkdtempSync(join(tmpdir(), 'resources-bench-'))
  const database = new Database(join(folder, 'posts.sqlite'))
  const store = sqliteStore({ database, table: 'posts', attributes })
  await store.migrate()
  await fill(store)
  const select = database.prepare(`SELECT ${columns} FROM "posts" WHERE "id" = ?`)
  const insert = database.prepare(`INSERT INTO "posts" ("version", "title", "body", "published", "rating") VALUES (?, ?, ?, ?, ?) RETURNING ${columns}`)
  const results = [
    await compare('sqlite (libsql) get', (index) => select.all(index % ROWS + 1), (index) => store.get(index % ROWS + 1, {}), 20_000),
    await compare('sqlite (libsql) insert', () => insert.all(1, row.title, row.body, 1, row.rating), () => store.create(row, {}), 2_000)
  ]
  database.close()
  rmSync(folder, { recursive: true })
  return results
}

async function measurePostgres (): Promise<Result[]> {
  const server = await startServer(['fsync=off'])
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  const store = postgresStore({ pool, table: 'posts', attributes })
  await store.migrate()
  await fill(store)
  const text = `SELECT ${columns} FROM "posts" WHERE "id" = $1`
  const insert = `INSERT INTO "posts" ("version", "title", "body", "published", "rating") VALUES ($1, $2, $3, $4, $5) RETURNING ${columns}`
  const results = [
    await compare('postgresql (pg) get', (index) => pool.query({ name: 'get', text, values: [index % ROWS + 1] }), (index) => store.get(index % ROWS + 1, {}, context), 4_000),
    await compare('postgresql (pg) insert', () => pool.query({ name: 'insert', text: insert, values: [1, row.title, row.body, true, row.rating] }), () => store.create(row, {}, context), 4_000)
  ]
  await pool.end()
  await server.stop()
  return results
}

export async function measureStores (): Promise<Result[]> {
  return [...await measureSqlite(), ...await measurePostgres()]
}
