import { AsyncLocalStorage } from 'node:async_hooks'
import { TransactionError, UnavailableError, UnwrittenError } from '../errors.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import type { Context, RunInTransaction, Transaction, TransactionContext, TransactionOptions } from './store.js'

/** What a database does for one transaction. */
export interface Session {
  /**
   * Makes the writes of the transaction lasting.
   * @throws UnavailableError if nothing was written, UnknownOutcomeError if that is not known
   */
  commit (): MaybePromise<void>
  /** Undoes the writes of the transaction. If that fails, the session must undo them itself later. */
  rollback (): MaybePromise<void>
  /** Checks what COMMIT would check, before a dry run is rolled back. @default nothing */
  check? (): MaybePromise<void>
  /**
   * Calls a function, and undoes its writes if it throws. The transaction goes on then.
   * @default the function is called, and dooms the transaction if it throws
   */
  savepoint? <T>(call: () => MaybePromise<T>): Promise<T>
}

/** How the transactions of a database begin. */
export interface TransactionSource<S extends Session> {
  /** Begins a transaction. */
  begin (context: Context, options: TransactionOptions): MaybePromise<S>
  /** The longest time of a transaction, in milliseconds. @default 30000 */
  readonly timeout?: number | undefined
  /** Returns whether an error says that the transaction conflicts with others, and may begin again. @default never */
  isConflict? (error: unknown): boolean
}

/** The longest time of a transaction, in milliseconds. */
export const TIMEOUT = 30_000

/** The longest pause before the first new attempt of a transaction, in milliseconds. It doubles with each attempt. */
const PAUSE = 2
const LONGEST_PAUSE = 128

/**
 * The innermost transaction around a call, in whichever database. All databases share it, because until Node 24 each
 * `AsyncLocalStorage` makes each promise of the process slower.
 */
const currentTransaction = new AsyncLocalStorage<OpenTransaction<Session>>()

/** Returns the innermost transaction around a call that is not over, of one database or of any. */
function findCurrent (owner?: unknown): OpenTransaction<Session> | undefined {
  for (let found = currentTransaction.getStore(); found !== undefined; found = found.outer) {
    if (!found.isOver && (owner === undefined || found.owner === owner)) return found
  }
  return undefined
}

/**
 * The transactions of the stores of one database. It gives each call of a store the session of its transaction, and
 * keeps the promises of all transactions: whatever fails in one dooms it, a transaction inside another joins it, and a
 * call that would wait for the transaction around it is refused.
 */
export class Transactions<S extends Session> {
  readonly #source: TransactionSource<S>
  #open = 0

  constructor (source: TransactionSource<S>) {
    this.#source = source
  }

  /**
   * Runs a function in a transaction, as the method `transaction` of a store does.
   * @param source how this transaction begins, if stores of the database begin theirs in different ways
   */
  async run<T> (
    run: RunInTransaction<T>,
    context: Context,
    options: TransactionOptions = {},
    source: TransactionSource<S> = this.#source
  ): Promise<T> {
    const outer = this.#find(context)
    if (outer !== undefined) return outer.call(() => run(outer.context))
    const { attempts = 1 } = options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#runOnce(run, context, options, source)
      } catch (error) {
        if (attempt >= attempts || source.isConflict?.(error) !== true) throw error
      }
      const length = Math.random() * Math.min(PAUSE ** attempt, LONGEST_PAUSE)
      await new Promise((resolve) => { setTimeout(resolve, length) })
    }
  }

  async #runOnce<T> (
    run: RunInTransaction<T>,
    context: Context,
    options: TransactionOptions,
    source: TransactionSource<S>
  ): Promise<T> {
    const session = await source.begin(context, options)
    const { timeout = source.timeout ?? TIMEOUT } = options
    const open = new OpenTransaction(this, session, context, { ...options, timeout })
    this.#open++
    try {
      const result = await open.until(currentTransaction.run(open, async () => run(open.context)))
      await open.end(options.dryRun === true)
      return result
    } catch (error) {
      await open.rollBack()
      throw error
    } finally {
      this.#open--
    }
  }

  /**
   * Makes a call of a store in the transaction of its context, or outside of any. In a transaction, a call that throws,
   * or whose outcome is not ok, dooms the transaction.
   * @throws TransactionError if the context is that of another database, or of a transaction that is over, or if the
   * call comes from inside a transaction without its context
   */
  call<R> (context: Context | undefined, perform: (session: S | undefined) => R): R {
    // Fast path: no transaction is open.
    if (context?.openTransaction === undefined && this.#open === 0) return perform(undefined)
    const open = this.#find(context)
    return open === undefined ? perform(undefined) : open.write(() => perform(open.session))
  }

  /** Returns the session of the transaction of a context, for a call that may take long, such as a list. */
  sessionOf (context: Context | undefined): S | undefined {
    const open = this.#find(context)
    open?.check()
    return open?.session
  }

  #find (context: Context | undefined): OpenTransaction<S> | undefined {
    const transaction = context?.openTransaction
    if (transaction === undefined) {
      const around = this.#open === 0 ? undefined : findCurrent(this)
      if (around === undefined) return undefined
      throw around.fail(new TransactionError(
        'a store was called inside a transaction without its context, and would wait for the transaction; ' +
        'pass on the context that the function gets: store.get(id, scope, context)'
      ))
    }
    if (transaction instanceof OpenTransaction && transaction.owner === this) return transaction as OpenTransaction<S>
    const error = new TransactionError('a store was called with the context of a transaction in another database')
    throw transaction instanceof OpenTransaction ? transaction.fail(error) : error
  }
}

/** Why a transaction, or an attempt in it, can only be rolled back. */
interface Doom {
  readonly cause: unknown
}

/** A transaction that was begun. */
class OpenTransaction<S extends Session> implements Transaction {
  readonly owner: Transactions<S>
  /** The transaction of another database in which this one began. */
  readonly outer = findCurrent()
  readonly session: S
  readonly context: TransactionContext
  readonly #signal: Context
  readonly #timeout: number
  readonly #returnsRefused: boolean
  readonly #callbacks: Array<() => unknown> = []
  /** The first error in the transaction, which can then only be rolled back. */
  doom: Doom | undefined
  /** The attempt that goes on, with the first error in it. A refused write in it is returned. */
  #attempt: { doom?: Doom } | undefined
  isOver = false

  constructor (
    owner: Transactions<S>,
    session: S,
    context: Context,
    { timeout, returnsRefused = false }: TransactionOptions & { readonly timeout: number }
  ) {
    this.owner = owner
    this.session = session
    this.#signal = context
    this.#timeout = timeout
    this.#returnsRefused = returnsRefused
    this.context = {
      get signal () { return context.signal },
      openTransaction: this,
      afterCommit: (call) => { this.#callbacks.push(call) }
    }
  }

  /** Waits for the function of the transaction, until the time is over or the client leaves. */
  async until<T> (done: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const { signal } = this.#signal
    let leave: (() => void) | undefined
    const ended = new Promise<never>((_resolve, reject) => {
      const end = (cause: unknown): void => {
        this.doom ??= { cause }
        reject(cause)
      }
      timer = setTimeout(() => { end(new UnavailableError({ cause: new Error('the transaction took too long') })) },
        this.#timeout)
      leave = () => { end(signal.reason) }
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave)
    })
    // Nobody waits for what the function throws after the end.
    done.catch(() => {})
    try {
      return await Promise.race([done, ended])
    } finally {
      clearTimeout(timer)
      if (leave !== undefined) signal.removeEventListener('abort', leave)
    }
  }

  /** @throws TransactionError, or what has doomed the transaction */
  check (): void {
    if (this.isOver) throw new TransactionError('a store was called in a transaction that is over')
    const doom = this.doom ?? this.#attempt?.doom
    if (doom !== undefined) throw doom.cause
  }

  /** Calls a function. What it throws dooms the transaction. */
  async call<T> (call: () => MaybePromise<T>): Promise<T> {
    this.check()
    try {
      return await call()
    } catch (error) {
      throw this.fail(error)
    }
  }

  /** Makes a call of a store, which may answer at once. */
  write<R> (perform: () => R): R {
    this.check()
    try {
      const result = perform()
      if (!isPromise(result)) return this.#accept<R>(result as R)
      return result.then((value) => this.#accept(value), (error) => { throw this.fail(error) }) as R
    } catch (error) {
      throw this.fail(error)
    }
  }

  get isDoomed (): boolean {
    return this.doom !== undefined
  }

  async attempt<T> (call: () => MaybePromise<T>): Promise<T> {
    this.check()
    const { session } = this
    const outer = this.#attempt
    const attempt: { doom?: Doom } = this.#attempt = {}
    const attempted = async (): Promise<T> => {
      const result = await call()
      if (attempt.doom !== undefined) throw attempt.doom.cause
      return result
    }
    try {
      return await (session.savepoint === undefined ? attempted() : session.savepoint(attempted))
    } catch (error) {
      if (session.savepoint === undefined) this.doom ??= { cause: error }
      throw error
    } finally {
      this.#attempt = outer
    }
  }

  #accept<T> (result: T): T {
    const { ok, why }: { readonly ok?: unknown, readonly why?: unknown } = Object(result)
    if (this.#attempt !== undefined || this.#returnsRefused || ok !== false) return result
    throw this.fail(new UnwrittenError(why === 'stale'))
  }

  /** Dooms the attempt that goes on, or else the transaction. Returns the error. */
  fail (error: unknown): unknown {
    const doomed = this.#attempt ?? this
    doomed.doom ??= { cause: error }
    return error
  }

  /** Commits, or rolls a dry run back after everything that a COMMIT would check. */
  async end (isDryRun: boolean): Promise<void> {
    this.check()
    if (isDryRun) {
      await this.session.check?.()
      return this.rollBack()
    }
    this.isOver = true
    await this.session.commit()
    for (const call of this.#callbacks) {
      // The writes have happened, whatever becomes of the function.
      Promise.resolve().then(call).catch((cause: unknown) => {
        process.emitWarning(new Error('a function of afterCommit has failed', { cause }))
      })
    }
  }

  async rollBack (): Promise<void> {
    if (this.isOver) return
    this.isOver = true
    await this.session.rollback()
  }
}
