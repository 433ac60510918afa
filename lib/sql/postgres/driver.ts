import { createHash } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import {
  ForbiddenError, StoreFullError, TransactionError, UnavailableError, UnknownOutcomeError
} from '../../core/errors.js'
import { findMember } from '../../core/util/own-property.js'
import { ConstraintError } from '../constraint-errors.js'
import type { Driver, RawRow, Statement, Table, TableName } from '../dialect.js'
import type { Context, TransactionOptions } from '../../core/stores/store.js'
import { Transactions, type TransactionSource } from '../../core/stores/transaction.js'
import { PostgresCatalog, type RunQuery } from './catalog.js'
import { type PostgresClient, type PostgresPool, type PostgresQuery, type PostgresResult, TIMEOUT } from './client.js'
import {
  BUSY,
  CANCELED,
  CONSTRAINTS,
  DISK_FULL,
  findFilled,
  FORBIDDEN,
  INVALID_VALUES,
  isBroken,
  isConflict,
  isLost,
  isStale,
  type ViolationError
} from './errors.js'
import { TYPES } from './column-types.js'
import { PostgresSession } from './session.js'

export interface PostgresSettings {
  readonly pool: PostgresPool
  readonly name: string
  /** The quoted name of the table, with its schema if that is known. */
  readonly table: string
  readonly acquireTimeout: number
  readonly statementTimeout: number
  readonly attempts: number
}

/** The time to wait beyond `statementTimeout` for a server that does not answer, in milliseconds. */
const GRACE = 2000

/** The other settings of a connection, for one statement: clusters may refuse several commands in one text. */
const SETTINGS = Object.entries({
  extra_float_digits: 1,
  DateStyle: 'ISO',
  bytea_output: 'hex',
  IntervalStyle: 'postgres'
}).map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')

/** The tables of a pool that are about to be described, and what is found. */
interface Inquiry {
  readonly tables: Set<string>
  readonly found: Promise<ReadonlyMap<string, Table>>
}

/** The next inquiries of pools. The stores that start together ask once, by a few queries for all tables. */
const inquiries = new WeakMap<PostgresPool, Inquiry>()

/** The transactions of pools. The stores of a pool take each other's contexts. */
const transactionsOf = new WeakMap<PostgresPool, Transactions<PostgresSession>>()

/** The longest time of a transaction, in milliseconds. */
const TRANSACTION_TIMEOUT = 30_000

/** A COMMIT, for the translation of its errors. */
const COMMIT = { text: 'COMMIT', writes: true, returns: false, kept: false }

/** Runs statements on the connections of a pool, and translates errors. */
export class PostgresDriver implements Driver {
  readonly #settings: PostgresSettings
  readonly #catalog: PostgresCatalog
  /** The names of prepared statements, by their texts. */
  readonly #names = new Map<string, string>()
  readonly transactions: Transactions<PostgresSession>
  readonly source: TransactionSource<PostgresSession> = {
    begin: (context, options) => this.#begin(context, options),
    timeout: TRANSACTION_TIMEOUT,
    isConflict: (error) => {
      const cause = error instanceof UnavailableError ? error.cause : undefined
      return isConflict(cause) || isStale(cause)
    }
  }

  constructor (settings: PostgresSettings) {
    this.#settings = settings
    const { pool, name, table } = settings
    const ask = (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> =>
      this.run({ text, writes: false, returns: true, kept: false }, values)
    this.#catalog = new PostgresCatalog(ask, name, table)
    this.transactions = transactionsOf.get(pool) ?? new Transactions(this.source)
    transactionsOf.set(pool, this.transactions)
    // All stores of a pool share one listener.
    if (!pool.listeners('error').includes(ignore)) pool.on('error', ignore)
    if (!pool.listeners('acquire').includes(watch)) pool.on('acquire', watch)
  }

  async run (
    statement: Statement,
    values: readonly unknown[],
    context?: Context,
    session?: PostgresSession
  ): Promise<readonly RawRow[]> {
    if (session !== undefined) return this.#runIn(session, statement, values)
    let conflict: unknown
    for (let attempt = 0; attempt < this.#settings.attempts; attempt++) {
      if (attempt > 0) await delay(Math.random() * 2 ** Math.min(attempt, 7))
      const client = await this.#acquire(context)
      try {
        return await this.#query(client, statement, values)
      } catch (error) {
        if (!isConflict(error)) throw await this.#explain(error, statement)
        conflict = error
      }
    }
    throw new UnavailableError({ cause: conflict })
  }

  async #runIn (
    session: PostgresSession,
    statement: Statement,
    values: readonly unknown[]
  ): Promise<readonly RawRow[]> {
    try {
      const { rows } = await session.run({ name: this.#nameOf(statement), text: statement.text, values, types: TYPES })
      return rows as readonly RawRow[]
    } catch (error) {
      throw await this.#explain(error, statement, session)
    }
  }

  async #begin (context: Context, { isolation }: TransactionOptions): Promise<PostgresSession> {
    const client = await this.#acquire(context)
    try {
      if (client[TIMEOUT] !== this.#settings.statementTimeout) await this.#configure(client)
      const level = isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation.toUpperCase()}`
      await this.#send(client, { text: `BEGIN${level}`, values: [] })
      // The server itself rolls back what a process leaves behind that hangs.
      const limit = TRANSACTION_TIMEOUT + GRACE
      await this.#send(client, { text: `SET LOCAL idle_in_transaction_session_timeout = ${limit}`, values: [] })
    } catch (error) {
      client.release(true)
      throw await this.#explain(error, { ...COMMIT, writes: false })
    }
    return new PostgresSession(client, {
      send: (client, query) => this.#send(client, query),
      explainCommit: (error) => this.#explain(error, COMMIT)
    })
  }

  /** Describes the table together with all others for which stores ask in this turn of the event loop. */
  async describe (): Promise<Table | undefined> {
    const { pool, table } = this.#settings
    const inquiry = inquiries.get(pool) ?? this.#inquire()
    inquiry.tables.add(table)
    return (await inquiry.found).get(table)
  }

  #inquire (): Inquiry {
    const { pool } = this.#settings
    const tables = new Set<string>()
    const ask = async (): Promise<ReadonlyMap<string, Table>> => {
      await nextTurn()
      inquiries.delete(pool)
      return this.#catalog.describe([...tables])
    }
    const inquiry = { tables, found: ask() }
    inquiries.set(pool, inquiry)
    return inquiry
  }

  tables (): Promise<readonly TableName[]> {
    return this.#catalog.tables()
  }

  /** Waits for a connection. A connection that comes too late returns to the pool unused. */
  #acquire (context: Context | undefined): Promise<PostgresClient> {
    const { pool, acquireTimeout } = this.#settings
    return new Promise((resolve, reject) => {
      let isWaiting = true
      let signal: AbortSignal | undefined
      let timer: NodeJS.Timeout | undefined
      const end = (): boolean => {
        const was = isWaiting
        isWaiting = false
        clearImmediate(patience)
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        return was
      }
      const giveUp = (): void => {
        if (end()) reject(signal?.aborted === true ? signal.reason : new UnavailableError())
      }
      // A pool hands out an idle connection before this, and nearly all queries get one. A request makes its signal
      // when the signal is first read, which takes a tenth of the time of a short list.
      const patience = setImmediate(() => {
        signal = context?.signal
        if (signal?.aborted === true) return giveUp()
        signal?.addEventListener('abort', giveUp)
        if (acquireTimeout > 0) timer = setTimeout(giveUp, acquireTimeout)
      })
      pool.connect().then(
        (client) => {
          if (end()) resolve(client)
          else client.release()
        },
        (cause) => {
          if (end()) reject(new UnavailableError({ cause }))
        }
      )
    })
  }

  async #query (client: PostgresClient, statement: Statement, values: readonly unknown[]): Promise<readonly RawRow[]> {
    const { text, steps = [] } = statement
    const isTransaction = steps.length > 0
    try {
      if (client[TIMEOUT] !== this.#settings.statementTimeout) await this.#configure(client)
      for (const text of isTransaction ? ['BEGIN', ...steps] : []) {
        await this.#send(client, { text, values: [], types: TYPES })
      }
      const { rows } = await this.#send(client, { name: this.#nameOf(statement), text, values, types: TYPES })
      if (isTransaction) await this.#send(client, { text: 'COMMIT', values: [], types: TYPES })
      client.release(false)
      return rows as readonly RawRow[]
    } catch (error) {
      if (!isStale(error)) {
        // A transaction that has failed ends with its connection.
        client.release(isTransaction || isBroken(error))
        throw error
      }
    }
    // The other prepared statements of the connection are outdated too, so it is closed after an unnamed statement.
    const { rows } = await this.#send(client, { text, values, types: TYPES }).finally(() => { client.release(true) })
    return rows as readonly RawRow[]
  }

  async #configure (client: PostgresClient): Promise<void> {
    const { statementTimeout } = this.#settings
    try {
      // Another store of the pool may have set another timeout. The default of `extra_float_digits` gives numbers all
      // their digits. The parsers of dates, times and bytes need `DateStyle` and `bytea_output`.
      const timeout = statementTimeout > 0 ? `'${statementTimeout}'` : 'NULL'
      const text = `SELECT set_config('statement_timeout', ${timeout}, false), ${SETTINGS}`
      await this.#send(client, { text, values: [], types: TYPES })
      client[TIMEOUT] = statementTimeout
    } catch (cause) {
      throw new UnavailableError({ cause })
    }
  }

  /** Sends a query with a timeout of its own, because a server that hangs does not obey `statement_timeout`. */
  #send (client: PostgresClient, query: PostgresQuery): Promise<PostgresResult> {
    const { statementTimeout } = this.#settings
    // A race of two promises would take a twentieth of the time of a short list.
    return new Promise((resolve, reject) => {
      const answer = client.query(query)
      const giveUp = (): void => { reject(new Error('the database does not answer')) }
      const timer = statementTimeout > 0 ? setTimeout(giveUp, statementTimeout + GRACE) : undefined
      answer.then((result) => {
        clearTimeout(timer)
        resolve(result)
      }, (error) => {
        clearTimeout(timer)
        reject(error)
      })
    })
  }

  /**
   * Returns the name under which each connection prepares a kept statement once. After five executions, PostgreSQL may
   * plan such a statement without its values. A search by an index on trigrams then took ten times as long.
   */
  #nameOf ({ text, kept, isSelective }: Statement): string | undefined {
    if (!kept || isSelective === true) return undefined
    const name = this.#names.get(text) ??
      `resources_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
    this.#names.set(text, name)
    return name
  }

  /** @param session the transaction of the statement, in which nothing has happened before its COMMIT */
  async #explain (
    error: unknown,
    { writes, returns, fills = [] }: Statement,
    session?: PostgresSession
  ): Promise<unknown> {
    if (error instanceof UnavailableError || error instanceof TransactionError) return error
    const code = String(findMember(error, 'code'))
    if (isConflict(error) || (session !== undefined && isStale(error))) return new UnavailableError({ cause: error })
    const mayHappen = writes && session === undefined
    if (isLost(error) || (code === CANCELED && mayHappen && !await this.#catalog.isSingle())) {
      return mayHappen ? new UnknownOutcomeError({ cause: error }) : new UnavailableError({ cause: error })
    }
    if (code === DISK_FULL) return new StoreFullError({ cause: error })
    // A statement that writes and returns no rows is one of a migration, which the developer must be told about.
    if (code === FORBIDDEN && writes && returns) {
      return Object.assign(new ForbiddenError('make', 'this change'), { cause: error })
    }
    if (BUSY.test(code)) return new UnavailableError({ cause: error })
    if (INVALID_VALUES.has(code)) return new ConstraintError('value', findFilled(error, fills), error)
    const kind = CONSTRAINTS.get(code)
    if (kind === undefined) return error
    const { table } = error as ViolationError
    // A pool may have no second connection to ask the catalog.
    const ask: RunQuery | undefined = session && ((text, values) => session.ask({ text, values, types: TYPES }))
    const columns = await this.#catalog.columnsOf(kind, error as ViolationError, ask)
    return new ConstraintError(kind, columns, error, table === undefined ? [] : [table])
  }
}

/** Adds a listener for errors to a connection, because an error without a listener ends the process. */
function watch (client: PostgresClient): void {
  if (!client.listeners('error').includes(ignore)) client.on('error', ignore)
}

function ignore (): void {}
