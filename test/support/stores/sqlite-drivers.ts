import libsql from 'libsql'
import { createRequire } from 'node:module'
import type { SqliteDatabase } from '../../../lib/index.js'

/** A library that opens SQLite's files. */
export interface SqliteDriver {
  readonly name: string
  open (path: string): SqliteDatabase & { close (): unknown }
}

type Constructor = new (path: string) => SqliteDatabase & { close (): unknown }

/** libsql, and node:sqlite where Node.js has it; better-sqlite3 alone, where BETTER_SQLITE3 says where it is. */
export async function findDrivers (): Promise<SqliteDriver[]> {
  const { BETTER_SQLITE3: path } = process.env
  const found: Array<[string, Constructor]> = []
  if (path !== undefined) {
    found.push(['better-sqlite3', createRequire(import.meta.url)(path) as Constructor])
  } else {
    found.push(['libsql', libsql as unknown as Constructor])
    // By a name that the compiler, which knows Node.js 20, does not look up.
    if (Number(process.versions.node.split('.')[0]) >= 22) found.push(['node:sqlite', (await import('node:sqlite' as string) as { DatabaseSync: Constructor }).DatabaseSync])
  }
  return found.map(([name, Database]) => ({ name, open: (path) => new Database(path) }))
}
