import type { FastifyInstance } from 'fastify'
import { InvalidOptionError } from '../core/errors.js'
import type { PostgresPool } from '../sql/postgres/driver.js'
import { openAtStart, type SqliteDatabase } from '../sql/sqlite/driver.js'
import { shareFile } from '../sql/sqlite/file.js'
import { findMember } from '../core/util/own-property.js'
import type { DatabaseOptions } from './options.js'

/** An open database. */
export type Connection =
  | { readonly pool: PostgresPool, readonly database?: never }
  | { readonly pool?: never, readonly database: SqliteDatabase }

/** The time that a write waits for other processes, in milliseconds: the default of `sqliteStore`. */
const BUSY_TIMEOUT = 5000

/**
 * Returns the database that the options name. A file is opened, and closed with the app.
 * @throws InvalidOptionError unless there is exactly one
 */
export async function connect (app: FastifyInstance, options: DatabaseOptions): Promise<Connection> {
  const { pool, database, file, schema, write = false } = options
  const given = Object.entries({ pool, database, file }).flatMap(([name, value]) => value === undefined ? [] : [name])
  const [name = 'pool', other] = given
  if (given.length === 0) {
    throw new InvalidOptionError(
      name,
      'is missing; give a pool of pg, or an open SQLite "database", or the path of a "file"'
    )
  }
  if (other !== undefined) throw new InvalidOptionError(other, `must not be given together with "${name}"`)
  if (schema !== undefined && pool === undefined) throw new InvalidOptionError('schema', 'is for PostgreSQL only')
  if (pool !== undefined) {
    if (typeof findMember(pool, 'connect') === 'function') return { pool }
    throw new InvalidOptionError('pool', 'must be a pool of pg')
  }
  if (database !== undefined) return { database }
  const opened = shareFile(file, BUSY_TIMEOUT, !write)
  opened.retain()
  app.addHook('onClose', async () => { opened.release() })
  return { database: await openAtStart(opened) }
}
