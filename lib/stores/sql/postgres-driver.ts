import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreFullError, UnavailableError, UnknownOutcomeError } from '../../errors.js'
import type { Context } from '../store.js'
import { ConstraintError, type Driver, type RawRow, type Statement, type Table } from './dialect.js'

/** The timeout that a connection has been given last, whichever store of its pool did it. */
const TIMEOUT: unique symbol = Symbol('fastify-resources.statement_timeout')

/** A query as pg takes it; `types` keeps the app's own parsers of types away from our rows. */
export interface PostgresQuery {
  /** By which a connection remembers how the statement is planned. */
  readonly name?: string
  /** With `$1`, `$2`… for the values. */
  readonly text: string
  /** In their order. */
  readonly values: readonly unknown[]
  /** How what the database sends is read. */
  readonly types: { getTypeParser (): (text: string) => unknown }
}

/** What is used of a connection: that of pg. */
export interface PostgresClient {
  /** Runs a statement. */
  query (query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Gives it back to its pool, or, with `true`, throws it away. */
  release (destroy?: boolean): void
  /** Listens for a connection that is lost while nobody uses it. */
  on (event: 'error', listener: (error: Error) => void): unknown
  /** Who listens already. */
  listeners (event: 'error'): unknown[]
  [TIMEOUT]?: number
}

/** What is used of a pool of connections: that of pg. */
export interface PostgresPool {
  /** A connection, when there is one. */
  connect (): Promise<PostgresClient>
  /** Listens for connections: lost ones, and those that are given out. */
  on (event: 'error', listener: (error: Error) => void): unknown
  on (event: 'acquire', listener: (client: PostgresClient) => void): unknown
  /** Who listens already. */
  listeners (event: 'error' | 'acquire'): unknown[]
}

export interface PostgresSettings {
  readonly pool: PostgresPool
  /** Of the table. */
  readonly name: string
  /** The table as it stands in a statement. */
  readonly table: string
  readonly acquireTimeout: number
  readonly statementTimeout: number
  readonly attempts: number
}

/** Every value as the database writes it, whatever parsers of types the app has set. */
const TYPES = { getTypeParser: () => (text: string): unknown => text }
/** How long a connection is waited for that does not even tell of its own timeout, beyond that; in milliseconds. */
const GRACE = 2000
/** What is asked of a pool, and what is made of its answers. */
export class PostgresDriver implements Driver {
  readonly sync = false
  readonly #settings: PostgresSettings
  readonly #names = new WeakMap<Statement, string>()

  constructor (settings: PostgresSettings) {
    this.#settings = settings
    const { pool } = settings
    // Once for all stores of a pool.
    if (!pool.listeners('error').includes(ignore)) pool.on('error', ignore)
    if (!pool.listeners('acquire').includes(watch)) pool.on('acquire', watch)
  }

  async run (statement: Statement, values: readonly unknown[], context?: Context): Promise<readonly RawRow[]> {
    let conflict: unknown
    for (let attempt = 0; attempt < this.#settings.attempts; attempt++) {
      if (attempt > 0) await delay(Math.random() * 2 ** Math.min(attempt, 7))
      const client = await this.#acquire(context?.signal)
      try {
        return await this.#query(client, statement, values)
      } catch (error) {
        if (!isConflict(error as PostgresError)) throw await this.#explain(error as PostgresError, statement)
        conflict = error
      }
    }
    throw new UnavailableError({ cause: conflict })
  }

  /** A connection of the pool; one that comes too late goes back unused. */
  #acquire (signal: AbortSignal | undefined): Promise<PostgresClient> {
    const { pool, acquireTimeout } = this.#settings
    return new Promise((resolve, reject) => {
      let waiting = true
      const end = (): boolean => {
        const was = waiting
        waiting = false
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        return was
      }
      const giveUp = (): void => { if (end()) reject(signal?.aborted === true ? signal.reason : new UnavailableError()) }
      const timer = acquireTimeout === 0 ? undefined : setTimeout(giveUp, acquireTimeout)
      signal?.addEventListener('abort', giveUp)
      pool.connect().then((client) => { if (end()) resolve(client); else client.release() }, (cause) => { if (end()) reject(new UnavailableError({ cause })) })
    })
  }

  async #query (client: PostgresClient, statement: Statement, values: readonly unknown[]): Promise<readonly RawRow[]> {
    try {
      if (client[TIMEOUT] !== this.#settings.statementTimeout) await this.#introduce(client)
      const rows = await this.#send(client, this.#nameOf(statement), statement, values)
      client.release(false)
      return rows
    } catch (error) {
      if (!isStale(error as PostgresError)) {
        client.release(isLost(error as PostgresError))
        throw error
      }
    }
    // Without a name nothing is remembered that could be out of date; with one, other statements of the connection are too.
    return this.#send(client, {}, statement, values).finally(() => { client.release(true) })
  }

  async #send (client: PostgresClient, name: { readonly name?: string }, { text }: Statement, values: readonly unknown[]): Promise<readonly RawRow[]> {
    const { rows } = await this.#bound(client.query({ ...name, text, values, types: TYPES }))
    return rows as RawRow[]
  }

  async #introduce (client: PostgresClient): Promise<void> {
    const { statementTimeout } = this.#settings
    try {
      // Another store of the pool may have set it. All digits of a number, as is the default: with fewer it would be another one.
      const timeout = statementTimeout > 0 ? String(statementTimeout) : 'DEFAULT'
      await this.#bound(client.query({ text: `SET statement_timeout TO ${timeout}; SET extra_float_digits TO 1`, values: [], types: TYPES }))
      client[TIMEOUT] = statementTimeout
    } catch (cause) {
      throw new UnavailableError({ cause })
    }
  }

  /** Not even the database's own timeout helps where it does not answer at all. */
  #bound<T> (answer: Promise<T>): Promise<T> {
    const { statementTimeout } = this.#settings
    if (statementTimeout === 0) return answer
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => { reject(new Error('the database does not answer')) }, statementTimeout + GRACE)
      answer.then((value) => {
        clearTimeout(timer)
        resolve(value)
      }, (error) => {
        clearTimeout(timer)
        reject(error)
      })
    })
  }

  /** So that a statement is planned once on each connection. */
  #nameOf (statement: Statement): { readonly name?: string } {
    if (!statement.kept) return {}
    let name = this.#names.get(statement)
    if (name === undefined) this.#names.set(statement, name = `resources_${createHash('sha256').update(statement.text).digest('hex').slice(0, 32)}`)
    return { name }
  }

  /** What an error comes to in the store's own terms. */
  async #explain (error: PostgresError, { writes }: Statement): Promise<unknown> {
    if (error instanceof UnavailableError) return error
    if (isLost(error)) return writes ? new UnknownOutcomeError({ cause: error }) : new UnavailableError({ cause: error })
    const code = String(error.code)
    if (code === '53100') return new StoreFullError({ cause: error })
    if (BUSY.test(code)) return new UnavailableError({ cause: error })
    if (VALUES.has(code)) return new ConstraintError('value', [], error)
    const kind = CONSTRAINTS.get(code)
    return kind === undefined ? error : new ConstraintError(kind, await this.#columnsOf(kind, error), error)
  }

  async #columnsOf (kind: ConstraintError['kind'], { table, column, constraint, detail = '' }: PostgresError): Promise<string[]> {
    // A trigger may write to other tables; a shard has a number at the end of its name.
    if (table?.replace(/_\d+$/, '') !== this.#settings.name.replace(/_\d+$/, '')) return []
    if (column !== undefined) return [column]
    const rows = await this.#look(kind === 'unique' ? COLUMNS_OF_INDEX : COLUMNS_OF_CONSTRAINT, constraint).catch(() => [])
    if (rows.length > 0) return rows.filter(isOfKey).map(({ column }) => column as string)
    const [, told] = /^Key \((.*?)\)=/.exec(detail) ?? []
    return told === undefined ? [] : told.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1'))
  }

  /** CockroachDB sorts texts by their code points, and takes no column with a collation of that name. */
  async needsCollation (): Promise<boolean> {
    const [row] = await this.#ask('SELECT version() AS version', [])
    return !String(row?.version).startsWith('CockroachDB')
  }

  async describe (): Promise<Table | undefined> {
    const columns = await this.#look(COLUMNS)
    if (columns.length === 0) return undefined
    const indexed = (await this.#look(INDEXES)).filter(isOfKey)
    const indexes = [...new Set(indexed.map(({ index }) => index))]
    return {
      columns: columns.map(({ name, type, not_null: notNull, filled, generated }) => ({ name: name as string, type: type as string, notNull: notNull === 't', filled: filled === 't', generated: generated === 't' })),
      unique: indexes.map((name) => indexed.filter(({ index }) => index === name).map(({ column }) => column as string)),
      reusesIds: undefined
    }
  }

  /** Asks for something about the table, which is the first value. */
  #look (text: string, ...values: unknown[]): Promise<readonly RawRow[]> {
    return this.#ask(text, [this.#settings.table, ...values])
  }

  #ask (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.run({ text, writes: false, returns: true, kept: false }, values)
  }
}

const COLUMNS = `SELECT a.attname AS name,
  CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END AS type,
  a.attnotnull AS not_null, a.atthasdef OR a.attidentity <> '' AS filled, a.attgenerated <> '' AS generated
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
const INDEXED = `SELECT i.indexrelid AS index, i.indkey AS key, i.indnkeyatts AS size, a.attnum AS number, a.attname AS column
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
  WHERE i.indrelid = to_regclass($1)`
const INDEXES = `${INDEXED} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL`
const COLUMNS_OF_INDEX = `${INDEXED} AND c.relname = $2`
const COLUMNS_OF_CONSTRAINT = `SELECT a.attname AS column
  FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
  WHERE c.conrelid = to_regclass($1) AND c.conname = $2`

/** Whether a column of an index is one that it goes by, and not one that it only carries along (INCLUDE). */
function isOfKey ({ key, size, number }: RawRow): boolean {
  return key === undefined || (key as string).split(' ').slice(0, Number(size)).includes(number as string)
}

/** What pg throws: of the database's errors it has the severity and the SQLSTATE, of the network's neither. */
interface PostgresError extends Error {
  readonly severity?: string
  /** Of the network's, something else than SQLSTATE. */
  readonly code?: string
  readonly detail?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
  /** The function of PostgreSQL's that says so. */
  readonly routine?: string
}

// PostgreSQL, Appendix A. Integrity constraint violations.
// The last is what a trigger raises, in words of its own.
const CONSTRAINTS: ReadonlyMap<string, ConstraintError['kind']> = new Map([
  ['23505', 'unique'], ['23P01', 'unique'], ['23502', 'required'], ['23503', 'reference'], ['23001', 'reference'], ['23514', 'check'], ['P0001', 'check']
])
/** Insufficient resources, lock not available, query canceled, read-only transaction (a standby). */
const BUSY = /^(?:53|55P03|57014|25006)/

/** A value that is too long, out of range, of another encoding, no date, none of an enumeration, too large for an index. */
const VALUES: ReadonlySet<string> = new Set(['22001', '22003', '22007', '22008', '22021', '22P02', '22P05', '54000'])

/** Whether others were in the way of a statement: nothing of it has happened. */
function isConflict ({ code }: PostgresError): boolean {
  return code === '40001' || code === '40P01'
}

/** Whether what the connection has prepared is not good any more, or forgotten: nothing has happened yet. */
function isStale ({ code, routine }: PostgresError): boolean {
  return code === '26000' || code === '42P05' || (code === '0A000' && routine === 'RevalidateCachedQuery')
}

/** Whether the connection broke, or is about to, before it was told that the statement is done. */
function isLost ({ severity, code = '' }: PostgresError): boolean {
  return severity === undefined || /^(?:08|57P|40003)/.test(code)
}

/** A connection that breaks says so to whoever has it, also before its first query, and ends the process if nobody listens. */
function watch (client: PostgresClient): void {
  if (!client.listeners('error').includes(ignore)) client.on('error', ignore)
}

function ignore (): void {}
