import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreFullError, UnavailableError, UnknownOutcomeError } from '../../errors.js'
import { ConstraintError } from '../sql/constraint-errors.js'
import type { Driver, RawRow, Statement, Table, TableName } from '../sql/dialect.js'
import type { Context } from '../store.js'

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
  /** How what the database sends is read; `oid` is the number of a type (pg_type.oid). */
  readonly types: { getTypeParser (oid: number): (text: string) => unknown }
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

/** Reads every value as the database writes it, except dates and times. Ignores the parsers that the app has set. */
const TYPES: PostgresQuery['types'] = { getTypeParser: (oid) => PARSERS.get(oid) ?? asItIs }
/** How long a connection is waited for that does not even tell of its own timeout, beyond that; in milliseconds. */
const GRACE = 2000
/** What is asked of a pool, and what is made of its answers. */
export class PostgresDriver implements Driver {
  readonly sync = false
  readonly #settings: PostgresSettings
  readonly #names = new WeakMap<Statement, string>()
  /** Whether no other server can take part in a write, as `describe` has found out. */
  #isSingle = false

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
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      let waiting = true
      const end = (): boolean => {
        const was = waiting
        waiting = false
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        return was
      }
      const giveUp = (): void => {
        if (end()) reject(signal?.aborted === true ? signal.reason : new UnavailableError())
      }
      const timer = acquireTimeout === 0 ? undefined : setTimeout(giveUp, acquireTimeout)
      signal?.addEventListener('abort', giveUp)
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
    try {
      if (client[TIMEOUT] !== this.#settings.statementTimeout) await this.#introduce(client)
      const rows = await this.#send(client, this.#nameOf(statement), statement, values)
      client.release(false)
      return rows
    } catch (error) {
      if (!isStale(error as PostgresError)) {
        client.release(isBroken(error as PostgresError))
        throw error
      }
    }
    // Without a name nothing is remembered that could be out of date; with one, other statements of the connection are too.
    return this.#send(client, {}, statement, values).finally(() => {
      client.release(true)
    })
  }

  async #send (
    client: PostgresClient,
    name: { readonly name?: string },
    { text }: Statement,
    values: readonly unknown[]
  ): Promise<readonly RawRow[]> {
    const { rows } = await this.#bound(client.query({ ...name, text, values, types: TYPES }))
    return rows as RawRow[]
  }

  async #introduce (client: PostgresClient): Promise<void> {
    const { statementTimeout } = this.#settings
    try {
      // Another store of the pool may have set another timeout. `extra_float_digits` gets its default, with which
      // numbers have all their digits. `DateStyle` is what the parsers of dates and times read.
      const timeout = statementTimeout > 0 ? String(statementTimeout) : 'DEFAULT'
      const text = `SET statement_timeout TO ${timeout}; SET extra_float_digits TO 1; SET DateStyle TO ISO`
      await this.#bound(client.query({ text, values: [], types: TYPES }))
      client[TIMEOUT] = statementTimeout
    } catch (cause) {
      throw new UnavailableError({ cause })
    }
  }

  /** Not even the database's own timeout helps where it does not answer at all. */
  #bound<T>(answer: Promise<T>): Promise<T> {
    const { statementTimeout } = this.#settings
    if (statementTimeout === 0) return answer
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error('the database does not answer'))
      }, statementTimeout + GRACE)
      answer.then(
        (value) => {
          clearTimeout(timer)
          resolve(value)
        },
        (error) => {
          clearTimeout(timer)
          reject(error)
        }
      )
    })
  }

  /** So that a statement is planned once on each connection. */
  #nameOf (statement: Statement): { readonly name?: string } {
    if (!statement.kept) return {}
    let name = this.#names.get(statement)
    if (name === undefined) {
      this.#names.set(
        statement,
        (name = `resources_${createHash('sha256').update(statement.text).digest('hex').slice(0, 32)}`)
      )
    }
    return { name }
  }

  /** What an error comes to in the store's own terms. */
  async #explain (error: PostgresError, { writes }: Statement): Promise<unknown> {
    if (error instanceof UnavailableError) return error
    if (isLost(error) || (error.code === CANCELED && !this.#isSingle)) {
      return writes ? new UnknownOutcomeError({ cause: error }) : new UnavailableError({ cause: error })
    }
    const code = String(error.code)
    if (code === '53100') return new StoreFullError({ cause: error })
    if (BUSY.test(code)) return new UnavailableError({ cause: error })
    if (VALUES.has(code)) return new ConstraintError('value', [], error)
    const kind = CONSTRAINTS.get(code)
    return kind === undefined ? error : new ConstraintError(kind, await this.#columnsOf(kind, error), error)
  }

  async #columnsOf (
    kind: ConstraintError['kind'],
    { table, column, constraint, detail = '' }: PostgresError
  ): Promise<string[]> {
    // A trigger may write to other tables. A cluster may report an error of one of its shards without any names.
    if (table !== undefined && !isPart(table, this.#settings.name)) return []
    if (column !== undefined) return [column]
    if (constraint !== undefined) {
      const rows = await this.#look(kind === 'unique' ? COLUMNS_OF_INDEX : COLUMNS_OF_CONSTRAINT, constraint).catch(
        () => []
      )
      if (rows.length > 0) return rows.filter(isOfKey).map(({ column }) => column as string)
    }
    const [, told] = /^Key \((.*?)\)=/.exec(detail) ?? []
    return told === undefined ? [] : told.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1'))
  }

  /** CockroachDB sorts texts by their code points, and takes no column with a collation of that name. */
  async needsCollation (): Promise<boolean> {
    const [row] = await this.#ask('SELECT version() AS version', [])
    return !String(row?.version).startsWith('CockroachDB')
  }

  /** Asks as little of an engine that is not PostgreSQL as possible: it may lack these tables. */
  async #detectSingle (): Promise<boolean> {
    const [{ version } = {}] = await this.#ask('SELECT version() AS version', [])
    if (!POSTGRESQL.test(String(version))) return false
    const [{ others } = {}] = await this.#ask(OTHERS, [])
    return others === 'f'
  }

  async describe (): Promise<Table | undefined> {
    this.#isSingle = await this.#detectSingle()
    const columns = await this.#look(COLUMNS)
    if (columns.length === 0) return undefined
    const indexed = (await this.#look(INDEXES)).filter(isOfKey)
    const indexes = [...new Set(indexed.map(({ index }) => index))]
    return {
      columns: columns.map(({ name, type, not_null: notNull, filled, generated }) => ({
        name: name as string,
        type: type as string,
        notNull: notNull === 't',
        filled: filled === 't',
        generated: generated === 't'
      })),
      unique: indexes.map((name) =>
        indexed.filter(({ index }) => index === name).map(({ column }) => column as string)
      ),
      reusesIds: undefined
    }
  }

  async tables (): Promise<readonly TableName[]> {
    const rows = await this.#ask(TABLES, [])
    return rows.map(({ name, schema, visible }) => ({
      name: name as string,
      schema: schema as string,
      isVisible: visible === 't'
    }))
  }

  /** Asks for something about the table, which is the first value. */
  #look (text: string, ...values: unknown[]): Promise<readonly RawRow[]> {
    return this.#ask(text, [this.#settings.table, ...values])
  }

  #ask (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    return this.run({ text, writes: false, returns: true, kept: false }, values)
  }
}

/** The version of PostgreSQL itself, as it comes and as some packages call it: its relatives put their names there. */
const POSTGRESQL =
  /^PostgreSQL \d+(?:\.\d+)?(?: \((?:Debian|Homebrew|Ubuntu)\b[^()]*\))?(?: on \S+)?, compiled by .*, \d\d-bit$/
/** Whether statements can reach other servers: by foreign tables, or by an extension. */
const OTHERS = `SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server)
  OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname IN ('bdr', 'citus', 'dblink', 'plproxy')) AS others`
const COLUMNS = `SELECT a.attname AS name,
  CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END AS type,
  a.attnotnull AS not_null, a.atthasdef OR a.attidentity <> '' AS filled, a.attgenerated <> '' AS generated
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
const TABLES = `SELECT c.relname AS name, n.nspname AS schema, pg_catalog.pg_table_is_visible(c.oid) AS visible
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  ORDER BY visible DESC, schema, name`
const INDEXED = `SELECT i.indexrelid AS index, i.indkey AS key, i.indnkeyatts AS size, a.attnum AS number, a.attname AS column
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
  WHERE i.indrelid = to_regclass($1)`
const INDEXES = `${INDEXED} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL`
const COLUMNS_OF_INDEX = `${INDEXED} AND c.relname = $2`
const COLUMNS_OF_CONSTRAINT = `SELECT a.attname AS column
  FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
  WHERE c.conrelid = to_regclass($1) AND c.conname = $2`

/** Returns whether it is the table of that name, or a shard of it, whose name ends with a number. */
function isPart (table: string, name: string): boolean {
  return table === name || table.replace(/_\d+$/, '') === name
}

function asItIs (text: string): string {
  return text
}

/**
 * Writes a moment as RFC 3339 does: PostgreSQL's `2026-01-31 12:00:00.5+00` becomes `2026-01-31T12:00:00.5+00:00`.
 * The server's `to_jsonb` does the same, but depends on the time zone, which Citus does not allow in RETURNING.
 */
function formatMoment (text: string): string {
  const [, date, time, minutes = ':00', era = ''] = MOMENT.exec(text) ?? []
  if (date !== undefined) return `${date}T${time}${minutes}${era}`
  return checkStyle(text, INFINITE)
}

/** @throws TypeError if the app has changed the style of the connection's dates */
function checkStyle (text: string, style: RegExp): string {
  if (style.test(text)) return text
  throw new TypeError(`the connection writes a date or time as "${text}"; its DateStyle must be ISO`)
}

const INFINITE = /^-?infinity$/
const DATE = /^(?:\d{4,}-\d\d-\d\d(?: BC)?|-?infinity)$/
const MOMENT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(:\d\d(?::\d\d)?)?( BC)?$/
/** The types `date` and `timestamp with time zone`, whose numbers never change. */
const PARSERS: ReadonlyMap<number, (text: string) => string> = new Map([
  [1082, (text) => checkStyle(text, DATE)],
  [1184, formatMoment]
])

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
  ['23505', 'unique'],
  ['23P01', 'unique'],
  ['23502', 'required'],
  ['23503', 'reference'],
  ['23001', 'reference'],
  ['23514', 'check'],
  ['P0001', 'check']
])
/**
 * Query canceled, mostly by `statement_timeout`. PostgreSQL rolls the statement back. In a cluster, another server may
 * commit its part of the statement after the one that was asked has given up.
 */
const CANCELED = '57014'
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

/** Returns whether the connection is broken, or about to break: the server ends it after FATAL, PANIC and 57P. */
function isBroken ({ severity, code = '' }: PostgresError): boolean {
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC' || code.startsWith('57P')
}

/**
 * Returns whether the error leaves open what became of the statement. A distributed database reports a lost connection
 * between its own machines (08006) as an ordinary ERROR: the connection to the client is healthy.
 */
function isLost (error: PostgresError): boolean {
  const { code = '' } = error
  return isBroken(error) || /^(?:08|40003)/.test(code)
}

/** A connection that breaks says so to whoever has it, also before its first query, and ends the process if nobody listens. */
function watch (client: PostgresClient): void {
  if (!client.listeners('error').includes(ignore)) client.on('error', ignore)
}

function ignore (): void {}
