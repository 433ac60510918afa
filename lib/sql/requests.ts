import { InvalidOptionError, KeyInUseError, UnavailableError } from '../core/errors.js'
import type { Context, KeptRequest, KeptRequests } from '../core/stores/store.js'
import { findMember } from '../core/util/own-property.js'
import { type Dialect, type Driver, quoteTable, type RawRow, type Statement } from './dialect.js'
import type { TableDefinitionOptions } from './tables/definition.js'

/** The table of the requests that were carried out with an `Idempotency-Key`. All stores of a database share it. */
export const REQUESTS = 'fastify_resources_requests'

/** The number of added requests after which expired ones are deleted. */
const SWEEP_EACH = 10
/** The most expired requests that are deleted at once: many more than are added between two deletions. */
const MOST_EXPIRED = 100

/** The SQLSTATE of a lock that was not free in time. */
const LOCKED = '55P03'

const COMMON = { returns: true, kept: true }

/** The requests that are kept in an SQL database. Their times are texts, as `toISOString` writes them. */
export class SqlRequests implements KeptRequests {
  readonly #driver: Driver
  /** Whether a missing table is created. */
  readonly #migrate: boolean
  readonly #create: readonly [table: string, index: string]
  readonly #find: Statement
  readonly #insert: Statement
  readonly #finish: Statement
  readonly #sweep: Statement
  #added = 0

  constructor ({ schema, migrate = false }: TableDefinitionOptions, dialect: Dialect, driver: Driver) {
    const { collation, lockRows, placeholder, tableOptions } = dialect
    const table = quoteTable(dialect, REQUESTS, schema)
    const [one, two] = [placeholder(1), placeholder(2)]
    const skip = lockRows === undefined ? '' : ' FOR UPDATE SKIP LOCKED'
    const expired = `SELECT key FROM ${table} WHERE expires <= ${one} ORDER BY expires LIMIT ${MOST_EXPIRED}${skip}`
    const change = (text: string): Statement => ({ ...COMMON, text: `${text} RETURNING key`, writes: true })
    this.#driver = driver
    this.#migrate = migrate
    this.#create = [
      `CREATE TABLE IF NOT EXISTS ${table} (key text PRIMARY KEY NOT NULL, digest text NOT NULL, result text, ` +
        `expires text${collation} NOT NULL)${tableOptions}`,
      `CREATE INDEX IF NOT EXISTS ${dialect.quote(`${REQUESTS}_expires`)} ON ${table} (expires)`
    ]
    this.#find = {
      ...COMMON,
      text: `SELECT digest, result FROM ${table} WHERE key = ${one} AND expires > ${two}`,
      writes: false
    }
    this.#insert = { ...COMMON, text: dialect.insertRequest(table), writes: true }
    this.#finish = change(`UPDATE ${table} SET result = ${one} WHERE key = ${two}`)
    this.#sweep = change(`DELETE FROM ${table} WHERE key IN (${expired})`)
  }

  /** @throws InvalidOptionError if the table is missing, and may not be created */
  async prepare (): Promise<void> {
    let fault = await this.#findFault()
    if (fault === undefined) return
    const [table, index] = this.#create
    let failure: unknown
    if (this.#migrate) {
      const create = { text: index, steps: [table], writes: true, returns: false, kept: false }
      // Another process may create it at the same time, so a failure counts only if the table is still missing.
      await this.#driver.run(create, []).catch((error: unknown) => { failure = error })
      fault = await this.#findFault()
    }
    if (fault === undefined) return
    const why = String(findMember(failure ?? fault, 'message'))
    throw new InvalidOptionError(
      'idempotency',
      `needs the table "${REQUESTS}" in the database of the store (${why}); create it: ${table}; ${index}`
    )
  }

  /** Returns why the table cannot be read, or `undefined` if it can. */
  async #findFault (): Promise<unknown> {
    try {
      await this.#driver.run(this.#find, ['', ''])
      return undefined
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      return error
    }
  }

  async find (key: string, context: Context): Promise<KeptRequest | undefined> {
    const [kept] = await this.#run(this.#find, [key, now()], context)
    return kept && { digest: String(kept.digest), result: String(kept.result) }
  }

  async add (
    key: string,
    { digest, expires }: { readonly digest: string, readonly expires: number },
    context: Context
  ): Promise<boolean> {
    const values = [key, digest, new Date(expires).toISOString(), now()]
    const [added] = await this.#run(this.#insert, values, context).catch((error: unknown) => {
      const isLocked = findMember(findMember(error, 'cause'), 'code') === LOCKED
      throw isLocked ? new KeyInUseError() : error
    })
    if (added === undefined) return false
    if (this.#added++ % SWEEP_EACH === 0) await this.#run(this.#sweep, [now()], context)
    return true
  }

  async finish (key: string, result: string, context: Context): Promise<void> {
    await this.#run(this.#finish, [result, key], context)
  }

  #run (statement: Statement, values: readonly unknown[], context: Context): Promise<readonly RawRow[]> {
    const { transactions } = this.#driver
    return transactions.call(context, (session) => this.#driver.run(statement, values, undefined, session))
  }
}

function now (): string {
  return new Date().toISOString()
}
