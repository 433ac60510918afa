import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { memoryStore, postgresStore, sqliteStore, type Store } from 'fastify-resources'
import Database from 'libsql'
import pg from 'pg'
import { post } from './blog.js'

export interface Opened {
  readonly store: Store
  /** Does many writes as fast as the store can. */
  inBulk (work: () => Promise<void>): Promise<void>
  close (): Promise<void>
}

/** `memory`, a `postgres://` URL, or else the path of a file. */
export async function openStore (name: string): Promise<Opened> {
  if (name === 'memory') return { store: memoryStore(), inBulk: (work) => work(), close: async () => {} }
  return /^postgres(?:ql)?:\/\//.test(name) ? openPostgres(name) : openFile(name)
}

async function openFile (path: string): Promise<Opened> {
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path)
  const store = sqliteStore({ database, table: 'posts', attributes: post })
  store.migrate()
  return {
    store,
    async inBulk (work) {
      // One wait for the disk instead of one for each post.
      database.exec('BEGIN')
      await work()
      database.exec('COMMIT')
    },
    close: async () => { database.close() }
  }
}

async function openPostgres (connectionString: string): Promise<Opened> {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 })
  const store = postgresStore({ pool, table: 'posts', attributes: post })
  await store.migrate()
  return { store, inBulk: (work) => work(), close: () => pool.end() }
}
