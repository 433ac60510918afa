import libsql from 'libsql'
import { createRequire } from 'node:module'
import type { SqliteDatabase } from '../../../lib/sql/sqlite/index.js'

/** A library that opens SQLite's files. */
export interface SqliteDriver {
  readonly name: string
  open (path: string): SqliteDatabase & { close (): unknown }
}

type Constructor = new (path: string) => SqliteDatabase & { close (): unknown }

/**
 * Returns libsql, and node:sqlite if Node.js has it. If BETTER_SQLITE3 gives a path, it returns only better-sqlite3.
 */
export async function findDrivers (): Promise<SqliteDriver[]> {
  const { BETTER_SQLITE3: path } = process.env
  const found: Array<[string, Constructor]> = []
  if (path !== undefined) {
    found.push(['better-sqlite3', createRequire(import.meta.url)(path) as Constructor])
  } else {
    found.push(['libsql', libsql as unknown as Constructor])
    // `as string` hides the name from the compiler, whose types are those of Node.js 20.
    if (Number(process.versions.node.split('.')[0]) >= 22) {
      found.push(['node:sqlite', (await import('node:sqlite' as string) as { DatabaseSync: Constructor }).DatabaseSync])
    }
  }
  return found.map(([name, Database]) => ({ name, open: (path) => new Database(path) }))
}
