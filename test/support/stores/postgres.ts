import pg from 'pg'
import root, { type Test } from 'tap'
import { type Server, startServer } from './postgres-server.js'

/** A database of the test's own. Its server is removed when the process ends. */
export interface PostgresServer extends Server {
  /** Returns a pool that ends with the test. */
  pool (options?: pg.PoolConfig): pg.Pool
}

/** The settings of a server that may lose the last commits when it crashes. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

let shared: Promise<Server> | undefined
let databases = 0

/** Returns the server that all tests of this process share, with the URL of an empty database in it. */
async function share (): Promise<Server> {
  const server = await (shared ??= startServer(FAST).then((server) => {
    root.teardown(() => server.stop())
    return server
  }))
  if (databases++ === 0) return server
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`CREATE DATABASE database${databases}`)
  await client.end()
  return { ...server, url: server.url.replace(/\w+$/, `database${databases}`) }
}

/** Gives a test an empty database. With flags, its server is its own, and is stopped when the test ends. */
export async function startPostgres (t: Test, flags?: readonly string[]): Promise<PostgresServer> {
  const server = flags === undefined ? await share() : await startServer(flags)
  if (flags !== undefined) t.teardown(() => server.stop())
  return {
    ...server,
    pool (options) {
      const { host, port, url } = server
      const database = url.slice(url.lastIndexOf('/') + 1)
      const pool = new pg.Pool({ host, port, user: 'postgres', password: 'secret', database, ...options })
      const clients = new Set<pg.PoolClient>()
      pool.on('connect', (client) => { clients.add(client) })
      t.teardown(async () => {
        // An ended pool may still be closing connections when the server stops. Without a listener their errors would
        // end the process.
        for (const client of clients) client.on('error', () => {})
        pool.on('error', () => {})
        if (!pool.ended) await pool.end()
      })
      return pool
    }
  }
}
