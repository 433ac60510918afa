import Database from 'better-sqlite3'
import fastify, { type FastifyInstance } from 'fastify'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import resources from '../../lib/index.js'
import { sqliteStore } from '../../lib/sql/sqlite/index.js'
import { type Post, schema } from './posts.js'
import { makeSqliteByHand } from './yardsticks/hand-sqlite.js'
import { makePlainOnSqlite } from './yardsticks/plain.js'

const TABLE = { table: 'posts', attributes: schema } as const

/** Makes a file with these posts in the table that the plugin creates. The file is removed when the process ends. */
async function makeFile (posts: readonly Post[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'resources-bench-'))
  process.once('exit', () => { rmSync(folder, { recursive: true }) })
  const file = join(folder, 'posts.sqlite')
  const store = sqliteStore({ file, ...TABLE })
  await store.migrate()
  store.close()
  const database = new Database(file)
  const insert = database.prepare('INSERT INTO posts (title, body, published, rating) VALUES (?, ?, ?, ?)')
  database.transaction(() => {
    for (const { title, body, published, rating } of posts) insert.run(title, body, Number(published), rating)
  })()
  database.close()
  return file
}

/** Returns the plugin on a file that better-sqlite3 opens where Node.js has no SQLite of its own. */
export async function makeOursOnSqlite (posts: readonly Post[]): Promise<FastifyInstance> {
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: schema, store: sqliteStore({ file: await makeFile(posts), ...TABLE }) })
  await app.ready()
  return app
}

export async function makeHandOnSqlite (posts: readonly Post[]): Promise<FastifyInstance> {
  return makeSqliteByHand(new Database(await makeFile(posts)))
}

export async function makePlainOnFile (posts: readonly Post[]): Promise<FastifyInstance> {
  return makePlainOnSqlite(new Database(await makeFile(posts)))
}
