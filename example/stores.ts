import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type AttributesOf, memoryStore, postgresStore, sqliteStore, type Store } from 'fastify-resources'
import Database from 'libsql'
import pg from 'pg'
import { about, keptComment, post } from './schemas.js'

/** The store of each resource of the blog. */
export interface Stores {
  readonly posts: Store<AttributesOf<typeof post>>
  readonly comments: Store<AttributesOf<typeof keptComment>>
  readonly about: Store<AttributesOf<typeof about>>
}

export interface Opened {
  readonly stores: Stores
  /** Runs many writes in the fastest way that the store offers. */
  inBulk (work: () => Promise<void>): Promise<void>
  close (): Promise<void>
}

/** Opens the stores. `name` is `memory`, a `postgres://` URL, or the path of a database file. */
export async function openStores (name: string): Promise<Opened> {
  if (name === 'memory') return { stores: { posts: memoryStore(), comments: memoryStore(), about: memoryStore() }, inBulk: (work) => work(), close: async () => {} }
  return /^postgres(?:ql)?:\/\//.test(name) ? openPostgres(name) : openFile(name)
}

async function openFile (path: string): Promise<Opened> {
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path)
  const stores = {
    posts: sqliteStore({ database, table: 'posts', attributes: post }),
    comments: sqliteStore({ database, table: 'comments', attributes: keptComment }),
    about: sqliteStore({ database, table: 'about', attributes: about })
  }
  for (const store of Object.values(stores)) store.migrate()
  // This index serves the list of a post's comments, which filters by `postId`.
  database.exec('CREATE INDEX IF NOT EXISTS comments_of_post ON comments (postId)')
  return {
    stores,
    async inBulk (work) {
      // One transaction waits for the disk once instead of once for each post.
      database.exec('BEGIN')
      await work()
      database.exec('COMMIT')
    },
    close: async () => { database.close() }
  }
}

async function openPostgres (connectionString: string): Promise<Opened> {
  const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 })
  const stores = {
    posts: postgresStore({ pool, table: 'posts', attributes: post }),
    comments: postgresStore({ pool, table: 'comments', attributes: keptComment }),
    about: postgresStore({ pool, table: 'about', attributes: about })
  }
  for (const store of Object.values(stores)) await store.migrate()
  await pool.query('CREATE INDEX IF NOT EXISTS comments_of_post ON comments ("postId")')
  return { stores, inBulk: (work) => work(), close: () => pool.end() }
}
