import { setTimeout as delay } from 'node:timers/promises'
import { TransactionError, UnavailableError } from '../../core/errors.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import type { RawRow, SqlSession } from '../dialect.js'
import { checkControl } from '../session.js'
import type { PostgresClient, PostgresQuery, PostgresResult } from './client.js'
import { isBroken, isConflict, isLost, isStale } from './errors.js'

/** The time that the end of a transaction waits for its last statement, before it closes the connection. */
const PATIENCE = 2000

/** What the session of a transaction needs from the driver that has begun it. */
export interface SessionDriver {
  /** Sends a query, with a limit of time. */
  send (client: PostgresClient, query: PostgresQuery): Promise<PostgresResult>
  /** Translates the error of a COMMIT. */
  explainCommit (error: unknown): Promise<unknown>
}

/** A transaction on one connection of a pool, which returns to the pool at its end. */
export class PostgresSession implements SqlSession {
  readonly #client: PostgresClient
  readonly #driver: SessionDriver
  /** The statements so far, of which one runs after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #savepoints = 0
  /** Why the database accepts no further statement in the transaction. */
  #failure: { readonly cause: unknown } | undefined
  #isOver = false

  constructor (client: PostgresClient, driver: SessionDriver) {
    this.#client = client
    this.#driver = driver
  }

  /** Runs a statement after those before it. If it fails outside a savepoint, no other one runs. */
  async run (query: PostgresQuery): Promise<PostgresResult> {
    return this.#follow(async () => {
      this.#checkOpen()
      if (this.#failure !== undefined) throw this.#failure.cause
      try {
        return await this.#driver.send(this.#client, query)
      } catch (error) {
        if (this.#savepoints === 0 || isBroken(error) || isStale(error)) this.#failure ??= { cause: error }
        throw error
      }
    })
  }

  /** Asks the catalog about a failed statement, which is undone first. */
  async ask (query: PostgresQuery): Promise<readonly RawRow[]> {
    return this.#follow(async () => {
      this.#checkOpen()
      const undo = this.#savepoints > 0 ? `ROLLBACK TO ${nameOf(this.#savepoints)}` : 'ROLLBACK'
      await this.#driver.send(this.#client, { text: undo, values: [] })
      const { rows } = await this.#driver.send(this.#client, query)
      return rows as readonly RawRow[]
    })
  }

  #checkOpen (): void {
    if (this.#isOver) throw new TransactionError('a statement came after the end of its transaction')
  }

  async query (text: string, values: readonly unknown[]): Promise<readonly RawRow[]> {
    checkControl(text)
    try {
      const { rows } = await this.run({ text, values })
      return rows as readonly RawRow[]
    } catch (error) {
      throw isConflict(error) || isStale(error) || isLost(error) ? new UnavailableError({ cause: error }) : error
    }
  }

  async check (): Promise<void> {
    try {
      await this.run({ text: 'SET CONSTRAINTS ALL IMMEDIATE', values: [] })
    } catch (error) {
      throw await this.#driver.explainCommit(error)
    }
  }

  async savepoint<T> (call: () => MaybePromise<T>): Promise<T> {
    const name = nameOf(this.#savepoints + 1)
    await this.run({ text: `SAVEPOINT ${name}`, values: [] })
    this.#savepoints++
    try {
      const result = await call()
      await this.run({ text: `RELEASE ${name}`, values: [] })
      this.#savepoints--
      return result
    } catch (error) {
      await this.#undo(name)
      throw error
    }
  }

  /** Undoes what a savepoint contains. If that fails, the transaction cannot go on. */
  async #undo (name: string): Promise<void> {
    this.#savepoints--
    try {
      await this.run({ text: `ROLLBACK TO ${name}`, values: [] })
      await this.run({ text: `RELEASE ${name}`, values: [] })
    } catch {}
  }

  async commit (): Promise<void> {
    const result = await this.#follow(async () => {
      if (this.#failure !== undefined) return undefined
      this.#isOver = true
      return this.#driver.send(this.#client, { text: 'COMMIT', values: [] })
    }).catch(async (error: unknown) => {
      this.#client.release(isBroken(error))
      throw await this.#driver.explainCommit(error)
    })
    if (result === undefined) {
      await this.rollback()
      throw new UnavailableError({ cause: this.#failure?.cause })
    }
    this.#client.release(false)
    if (result.command === 'COMMIT') return
    throw new UnavailableError({ cause: new Error(`the database answered COMMIT with ${result.command}`) })
  }

  async rollback (): Promise<void> {
    this.#isOver = true
    const rolledBack = this.#follow(() => this.#driver.send(this.#client, { text: 'ROLLBACK', values: [] }))
      .then(() => true, () => false)
    const waiting = new AbortController()
    const late = delay(PATIENCE, false, { signal: waiting.signal }).catch(() => false)
    const isWhole = await Promise.race([rolledBack, late])
    waiting.abort()
    this.#client.release(!isWhole || isStale(this.#failure?.cause))
  }

  /** Calls a function after the statements so far. */
  async #follow<T> (call: () => Promise<T>): Promise<T> {
    const result = this.#last.then(call)
    this.#last = result.catch(() => {})
    return result
  }
}

function nameOf (savepoint: number): string {
  return `resources_${savepoint}`
}
