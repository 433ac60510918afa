import { TransactionError } from '../../core/errors.js'
import { type TransactionSource, Transactions } from '../../core/stores/transaction.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import type { RawRow, SqlSession } from '../dialect.js'
import { checkControl } from '../session.js'
import { close, readRows, type SqliteDatabase } from './statement.js'
import type { WriteQueue } from './write-queue.js'

/** The longest time of a transaction, in milliseconds. */
const LONGEST = 30_000

/** The part of `busyTimeout` that a transaction may take, so that a write that waits for it does not fail. */
const PART = 0.8

/** A second connection to a database, for its transactions. It opens with the first of them. */
export class TransactionConnection {
  readonly transactions: Transactions<SqliteSession>
  /** Opens the connection; `undefined` if there is no way to open one. */
  open: (() => SqliteDatabase) | undefined
  readonly #queue: WriteQueue
  #database: SqliteDatabase | undefined

  constructor (queue: WriteQueue, open: (() => SqliteDatabase) | undefined) {
    this.#queue = queue
    this.open = open
    this.transactions = new Transactions(this.sourceFor((error) => error))
  }

  /**
   * Returns how transactions begin. While one is open, the writes of the process wait for it.
   * @param explain translates an error of the database
   */
  sourceFor (explain: (error: unknown) => unknown): TransactionSource<SqliteSession> {
    const { timeout } = this.#queue
    return {
      begin: async () => {
        try {
          const [database, release] = await this.#queue.hold(() => this.#begin())
          return new SqliteSession(database, explain, (isWhole) => {
            if (!isWhole) this.#discard(database)
            release()
          })
        } catch (error) {
          throw explain(error)
        }
      },
      timeout: timeout === 0 ? LONGEST : Math.min(PART * timeout, LONGEST)
    }
  }

  close (): void {
    if (this.#database !== undefined) this.#discard(this.#database)
  }

  #begin (): SqliteDatabase {
    const database = this.#database ??= (this.open as () => SqliteDatabase)()
    try {
      database.exec('BEGIN IMMEDIATE')
      return database
    } catch (error) {
      // In libsql, a later COMMIT of the connection would fail.
      this.#discard(database)
      throw error
    }
  }

  #discard (database: SqliteDatabase): void {
    if (this.#database === database) this.#database = undefined
    close(database)
  }
}

/** A transaction on the connection for transactions. */
export class SqliteSession implements SqlSession {
  readonly #database: SqliteDatabase
  readonly #explain: (error: unknown) => unknown
  readonly #end: (isWhole: boolean) => void
  #savepoints = 0
  /** Why the transaction cannot go on. */
  #failure: { readonly cause: unknown } | undefined

  /** @param end is called at the end, and learns whether the connection can be used again */
  constructor (database: SqliteDatabase, explain: (error: unknown) => unknown, end: (isWhole: boolean) => void) {
    this.#database = database
    this.#explain = explain
    this.#end = end
  }

  /** The connection, whose statements are in the transaction. Another transaction has it after this one. */
  get database (): SqliteDatabase {
    if (this.#failure !== undefined) throw this.#failure.cause
    return this.#database
  }

  async query (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    checkControl(text)
    const statement = this.database.prepare(text)
    // libsql ends the process if it gets a boolean.
    const bound = values.map((value) => typeof value === 'boolean' ? Number(value) : value)
    if (statement.reader !== false || statement.run === undefined) return readRows<RawRow>(statement, bound)
    statement.run(...bound)
    return []
  }

  async savepoint<T> (call: () => MaybePromise<T>): Promise<T> {
    const name = `resources_${++this.#savepoints}`
    try {
      this.database.exec(`SAVEPOINT ${name}`)
      const result = await call()
      this.database.exec(`RELEASE ${name}`)
      return result
    } catch (error) {
      this.#undo(name, error)
      throw error
    } finally {
      this.#savepoints--
    }
  }

  /** Undoes what a savepoint contains. An error such as that of a full disk has ended the transaction itself. */
  #undo (name: string, cause: unknown): void {
    try {
      this.database.exec(`ROLLBACK TO ${name}`)
      this.database.exec(`RELEASE ${name}`)
    } catch {
      this.#failure ??= { cause }
    }
  }

  commit (): void {
    try {
      this.database.exec('COMMIT')
    } catch (error) {
      this.rollback()
      throw this.#explain(error)
    }
    this.#leave(true)
  }

  rollback (): void {
    let isWhole = true
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      isWhole = false
    }
    this.#leave(isWhole)
  }

  #leave (isWhole: boolean): void {
    this.#failure = { cause: new TransactionError('a statement came after the end of its transaction') }
    this.#end(isWhole)
  }
}
