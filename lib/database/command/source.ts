import { open } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { PostgresPool } from '../../sql/postgres/client.js'
import type { LoadModule } from '../../sql/sqlite/file.js'
import { findMember } from '../../core/util/own-property.js'
import type { DatabaseSource } from '../options.js'
import { CommandError, type Settings } from './settings.js'

/** The first bytes of an SQLite file ("Database File Format" §1.2). */
const MAGIC = 'SQLite format 3\0'

/** The time that a list or count of an SQLite file may take, in milliseconds. */
export const READ_TIMEOUT = 5000

type Pool = PostgresPool & {
  query (sql: string): Promise<unknown>
  on (event: 'error', listener: (error: Error) => void): unknown
  end (): Promise<void>
}

/**
 * Opens the database. The app closes it.
 * @throws CommandError if there is no such database
 */
export async function openSource (
  app: FastifyInstance,
  { source, isUrl, schema }: Settings,
  load: LoadModule
): Promise<DatabaseSource> {
  if (isUrl) return { pool: await openPool(app, source, load), ...(schema !== undefined && { schema }) }
  await checkFile(source)
  return { file: source, readTimeout: READ_TIMEOUT }
}

/** Returns the name of a database without its password. */
export function nameSource ({ source, isUrl }: Pick<Settings, 'source' | 'isUrl'>): string {
  return isUrl ? source.replace(/\/\/[^/]*@/, '//').replace(/\?.*/s, '') : source
}

/** Checks a file before SQLite opens it, which would create a missing one. */
async function checkFile (path: string): Promise<void> {
  const file = await open(path).catch((error: unknown) => {
    throw new CommandError(
      findMember(error, 'code') === 'ENOENT'
        ? `There is no file "${path}". Check the path; a URL begins with postgres://`
        : `The file "${path}" cannot be opened: ${messageOf(error)}`
    )
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new CommandError(`"${path}" is not a file. Name the file of an SQLite database.`)
    const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0)
    // An empty file is a database without tables.
    if (found.size === 0 || buffer.toString('latin1') === MAGIC) return
    throw new CommandError(`The file "${path}" is not an SQLite database. Name another file, or a postgres:// URL.`)
  } finally {
    await file.close()
  }
}

async function openPool (app: FastifyInstance, url: string, load: LoadModule): Promise<Pool> {
  const Pool = findMember(load('pg'), 'Pool') as (new (options: object) => Pool) | undefined
  if (Pool === undefined) {
    throw new CommandError('PostgreSQL needs the package pg. Run: npm install pg')
  }
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // Without a listener, a connection that breaks while it is idle would end the process.
  pool.on('error', ({ message }) => { app.log.warn(message) })
  app.addHook('onClose', () => pool.end())
  try {
    await pool.query('SELECT 1')
    return pool
  } catch (error) {
    const name = nameSource({ source: url, isUrl: true })
    throw new CommandError(`Cannot connect to ${name}: ${messageOf(error)}. Check the URL, and that the server runs.`)
  }
}

/** Returns the message of an error in one line. An error about several addresses has only a code. */
export function messageOf (error: unknown): string {
  return String(findMember(error, 'message') || findMember(error, 'code')).replace(/\.?(?:\n.*)?$/s, '')
}
