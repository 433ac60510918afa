import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { InvalidOptionError } from '../../core/errors.js'
import { findMember } from '../../core/util/own-property.js'
import { isBusy, makeDurable, type SqliteConnection } from './driver.js'
import { TransactionConnection } from './session.js'
import type { SqliteDatabase } from './statement.js'
import { WriteQueue } from './write-queue.js'

/** Loads a module of Node.js or of the app. Returns `undefined` if there is no such module. */
export type LoadModule = (name: string) => unknown

type OpenedDatabase = SqliteDatabase & { close (): unknown }
type Constructor = new (path: string, options?: Readonly<Record<string, boolean>>) => OpenedDatabase

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

/** The files of this process, by their timeouts and paths. */
const FILES = new Map<string, SqliteFile>()

/**
 * A database file with one connection, and another one for transactions. Each opens at the first use, and again at a
 * use after it was closed.
 */
export class SqliteFile implements SqliteConnection {
  readonly queue: WriteQueue
  readonly second: TransactionConnection
  readonly #path: string
  readonly #isReadOnly: boolean
  readonly #load: LoadModule
  #database: OpenedDatabase | undefined
  #users = 0

  constructor (
    path: string,
    busyTimeout: number,
    { isReadOnly = false, load = loadModule }: { readonly isReadOnly?: boolean, readonly load?: LoadModule } = {}
  ) {
    this.#path = path
    this.queue = new WriteQueue(busyTimeout, isBusy)
    this.second = new TransactionConnection(this.queue, () => this.#open())
    this.#isReadOnly = isReadOnly
    this.#load = load
  }

  /** @throws InvalidOptionError if there is no driver, or the file cannot be opened */
  get database (): SqliteDatabase {
    this.#database ??= this.#open()
    return this.#database
  }

  retain (): void {
    this.#users++
  }

  release (): void {
    this.#users = Math.max(0, this.#users - 1)
    if (this.#users > 0) return
    this.second.close()
    this.#database?.close()
    this.#database = undefined
  }

  #open (): OpenedDatabase {
    const { Database, readOnly } = findDriver(this.#load)
    let database: OpenedDatabase | undefined
    try {
      const isLimited = this.#isReadOnly && readOnly !== undefined
      database = isLimited ? new Database(this.#path, { [readOnly]: true }) : new Database(this.#path)
      if (this.#isReadOnly) database.exec(`PRAGMA busy_timeout = ${READER_TIMEOUT}`)
      else makeDurable(database)
      return database
    } catch (error) {
      database?.close()
      const message = String(findMember(error, 'message'))
      const reason = `is "${this.#path}", which cannot be opened: ${message.replace(/\.$/, '')}`
      throw Object.assign(new InvalidOptionError('file', reason), { cause: error })
    }
  }
}

/**
 * Returns the file at a path. All stores of this process with the same path and timeout get the same one. A read-only
 * connection changes nothing, not even the journal mode of the file.
 * @throws InvalidOptionError if the path is not that of a file
 */
export function shareFile (path: unknown, busyTimeout: number, isReadOnly = false): SqliteFile {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new InvalidOptionError('file', "must be the path of a file such as 'blog.sqlite'")
  }
  if (path === ':memory:') {
    throw new InvalidOptionError('file', "must not be ':memory:'; use memoryStore, or give an open \"database\"")
  }
  const key = `${busyTimeout} ${isReadOnly} ${resolve(path)}`
  const file = FILES.get(key) ?? new SqliteFile(resolve(path), busyTimeout, { isReadOnly })
  FILES.set(key, file)
  return file
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
