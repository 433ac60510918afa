import libsql from 'libsql'
import { createRequire } from 'node:module'
import type { SqliteDatabase } from '../lib/index.js'

/** A library that opens SQLite's files. */
export interface SqliteDriver {
  readonly name: string
  open (path: string): SqliteDatabase & { close (): unknown }
}

type Constructor = new (path: string) => SqliteDatabase & { close (): unknown }

/** Those there are: libsql always, node:sqlite where Node.js has it, better-sqlite3 where BETTER_SQLITE3 says where it is. */
export async function findDrivers (): Promise<SqliteDriver[]> {
  const found: Array<[string, Constructor]> = [['libsql', libsql as unknown as Constructor]]
  if (Number(process.versions.node.split('.')[0]) >= 22) {
    // By a name that the compiler, which knows Node.js 20, does not look up.
    const { DatabaseSync } = await import('node:sqlite' as string) as { DatabaseSync: Constructor }
    found.push(['node:sqlite', DatabaseSync])
  }
  const { BETTER_SQLITE3: path } = process.env
  if (path !== undefined) found.push(['better-sqlite3', createRequire(import.meta.url)(path) as Constructor])
  return found.map(([name, Database]) => ({ name, open: (path) => new Database(path) }))
}
