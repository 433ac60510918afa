import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { InvalidOptionError } from '../../core/errors.js'
import { findMember } from '../../core/util/own-property.js'
import { makeDurable, SqliteConnection } from './driver.js'
import { Reader } from './reader.js'
import { close, type SqliteDatabase } from './statement.js'

/** Loads a module of Node.js or of the app. Returns `undefined` if there is no such module. */
export type LoadModule = (name: string) => unknown

type Constructor = new (path: string, options?: Readonly<Record<string, boolean>>) => SqliteDatabase

/**
 * The drivers, the fastest first. The class of a driver is the member of its module, or the module itself. The last
 * name is that of the option which opens a file for reading only. libsql has none.
 */
const DRIVERS = [
  ['node:sqlite', 'DatabaseSync', 'readOnly'],
  ['better-sqlite3', undefined, 'readonly'],
  ['libsql', undefined, undefined]
] as const

/**
 * The time that a read of a file without a write-ahead log waits for a commit of another process, in milliseconds. This
 * process does nothing else meanwhile.
 */
const READER_TIMEOUT = 50

/** The files of this process, by their options and paths. */
const FILES = new Map<string, SqliteConnection>()

/** Makes the connections to a database file, which open when they are used. */
export function openFile (
  path: string,
  busyTimeout: number,
  { isReadOnly = false, load = loadModule, readTimeout = 0 }: FileOptions & { readonly load?: LoadModule } = {}
): SqliteConnection {
  const reader = readTimeout > 0 ? new Reader(path, readTimeout) : undefined
  return new SqliteConnection(busyTimeout, () => open(path, isReadOnly, load), true, reader)
}

interface FileOptions {
  readonly isReadOnly?: boolean
  /** The time that a statement of a list may take, in milliseconds. @default 0, no limit */
  readonly readTimeout?: number | undefined
}

/** @throws InvalidOptionError if there is no driver, or the file cannot be opened */
function open (path: string, isReadOnly: boolean, load: LoadModule): SqliteDatabase {
  const { Database, readOnly } = findDriver(load)
  let database: SqliteDatabase | undefined
  try {
    const isLimited = isReadOnly && readOnly !== undefined
    database = isLimited ? new Database(path, { [readOnly]: true }) : new Database(path)
    if (!isReadOnly) return makeDurable(database)
    database.exec(`PRAGMA busy_timeout = ${READER_TIMEOUT}`)
    return database
  } catch (error) {
    close(database)
    const message = String(findMember(error, 'message'))
    const reason = `is "${path}", which cannot be opened: ${message.replace(/\.$/, '')}`
    throw Object.assign(new InvalidOptionError('file', reason), { cause: error })
  }
}

/**
 * Returns the file at a path. All stores of this process with the same path and options get the same one. A read-only
 * connection changes nothing, not even the journal mode of the file.
 * @throws InvalidOptionError if the path is not that of a file
 */
export function shareFile (
  path: unknown,
  busyTimeout: number,
  { isReadOnly = false, readTimeout = 0 }: FileOptions = {}
): SqliteConnection {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new InvalidOptionError('file', "must be the path of a file such as 'blog.sqlite'")
  }
  if (path === ':memory:') {
    throw new InvalidOptionError('file', "must not be ':memory:'; use memoryStore, or give an open \"database\"")
  }
  const key = `${busyTimeout} ${isReadOnly} ${readTimeout} ${resolve(path)}`
  const file = FILES.get(key) ?? openFile(resolve(path), busyTimeout, { isReadOnly, readTimeout })
  FILES.set(key, file)
  return file
}

/** @throws InvalidOptionError if there is no file that another process could open, or timers cannot wait so long */
export function checkReadTimeout (timeout: number | undefined, file: unknown): void {
  if (timeout === undefined) return
  if (!Number.isSafeInteger(timeout) || timeout < 0 || timeout > 2_147_483_647) {
    throw new InvalidOptionError('readTimeout', 'must be a number of milliseconds')
  }
  if (file === undefined) throw new InvalidOptionError('readTimeout', 'needs the path of a "file" of SQLite')
}

function findDriver (load: LoadModule): { readonly Database: Constructor, readonly readOnly: string | undefined } {
  for (const [name, member, readOnly] of DRIVERS) {
    const found = load(name)
    const Database = member === undefined ? found : findMember(found, member)
    if (typeof Database === 'function') return { Database: Database as Constructor, readOnly }
  }
  throw new InvalidOptionError(
    'file',
    'needs a driver of SQLite: "npm install libsql", or "npm install better-sqlite3", which may have to be compiled; ' +
      'or run the app on Node.js 22.13 or later'
  )
}

/** Searches a module of npm from the main program, from the working directory, and from this package. */
export const loadModule: LoadModule = (name) => {
  if (name.startsWith('node:')) return process.getBuiltinModule(name)
  for (const place of [resolve(process.argv[1] ?? 'index.js'), resolve('index.js'), import.meta.url]) {
    try {
      return createRequire(place)(name)
    } catch (error) {
      if (!isMissing(error, name)) throw error
    }
  }
  return undefined
}

/** Returns whether the module itself is missing, and not another one that it needs. */
function isMissing (error: unknown, name: string): boolean {
  return findMember(error, 'code') === 'MODULE_NOT_FOUND' && String(findMember(error, 'message')).includes(`'${name}'`)
}
