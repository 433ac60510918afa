import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type IdType, parseId } from '../core/resource/resource.js'
import type { Id, Scope, Row } from '../core/resource/row.js'
import type { Attributes } from '../core/schema/types.js'
import { findMember } from '../core/util/own-property.js'
import { BY_ID } from '../core/stores/order.js'
import type {
  Context, Count, CountQuery, Guard, Operator, Query, Store, TransactionContext, TransactionOptions, WriteOutcome
} from '../core/stores/store.js'
import { codeOf, same } from './assertions.js'
import type { Volume } from './options.js'

/** A capability of the store, or an option of the suite, without which a scenario is skipped. */
export type Requirement =
  'order' | 'offset' | 'search' | 'count' | Operator | 'unique' | 'decimals' | 'another' | 'transaction' |
  'createMany' | 'requests'

/**
 * The check of a scenario. `another` opens a second store with the rows of the subject, if the scenario requires it.
 */
export type Check = (subject: Subject, another: () => Promise<Subject>) => Promise<void>

/** Sentences of the contract, each with its check. */
export type Checks = Readonly<Record<string, Check>>

const VERSION = /^[\w-]+$/
/** The number of times to call a busy store, with waits of 1, 2, 3, … milliseconds. */
const TRIES = 60

/** Makes a query. By default, it lists all rows by id. */
export function makeQuery (parts: Partial<Query>): Query {
  return { order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined, ...parts }
}

/** Makes the context of a client that does not disconnect. */
export function makeContext (): Context {
  return { signal: new AbortController().signal }
}

/** A store under test. It freezes the values that the store receives, and checks the rows that it returns. */
export class Subject {
  readonly store: Store
  readonly id: IdType
  readonly volume: Volume
  /** Whether each write makes a new version, even if it changes no value. */
  readonly countsWrites: boolean
  /** The transaction of the calls, or `undefined` if each call has a context of its own. */
  #transaction: TransactionContext | undefined

  constructor (store: Store, id: IdType, volume: Volume, countsWrites: boolean) {
    this.store = store
    this.id = id
    this.volume = volume
    this.countsWrites = countsWrites
  }

  /** Returns a subject whose calls take part in a transaction. */
  within (transaction: TransactionContext): Subject {
    const subject = new Subject(this.store, this.id, this.volume, this.countsWrites)
    subject.#transaction = transaction
    return subject
  }

  /** Runs a function in a transaction. Its subject is the store in that transaction. */
  transaction<T> (
    run: (inner: Subject, context: TransactionContext) => Promise<T>,
    options: TransactionOptions = {},
    context: Context = this.#context
  ): Promise<T> {
    const { transaction } = this.store as Required<Store>
    return transaction.call(this.store, (inner) => run(this.within(inner), inner), context, options) as Promise<T>
  }

  get #context (): Context {
    return this.#transaction ?? makeContext()
  }

  /** Calls the store. Outside a transaction, calls it again while it is busy. */
  async #call<T> (call: () => T | PromiseLike<T>): Promise<T> {
    return this.#transaction === undefined ? patiently(call) : call()
  }

  async create (attributes: Attributes = {}, scope: Scope = {}): Promise<Row> {
    const given = freeze({ title: 'T', ...attributes })
    return this.#check(await this.#call(() => this.store.create(given, freeze({ ...scope }), this.#context)))
  }

  async createMany (many: readonly Attributes[], scope: Scope = {}): Promise<Row[]> {
    const { store } = this
    const given = freeze(many.map((attributes) => ({ title: 'T', ...attributes })))
    const rows = await (store as Required<Store>).createMany(given, freeze({ ...scope }), this.#context)
    return rows.map((row) => this.#check(row))
  }

  async get (id: Id, scope: Scope = {}): Promise<Row | undefined> {
    const row = await this.#call(() => this.store.get(id, freeze({ ...scope }), this.#context))
    return row === undefined ? undefined : this.#check(row)
  }

  async update (id: Id, changes: Attributes, { version, scope = {} }: Partial<Guard> = {}): Promise<WriteOutcome> {
    const given = freeze({ ...changes })
    return this.#checkWritten(
      await this.#call(() => this.store.update(id, given, freeze({ version, scope }), this.#context))
    )
  }

  async delete (id: Id, { version, scope = {} }: Partial<Guard> = {}): Promise<WriteOutcome> {
    return this.#checkWritten(await this.#call(() => this.store.delete(id, freeze({ version, scope }), this.#context)))
  }

  async * batches (parts: Partial<Query> = {}, context: Context = this.#context): AsyncGenerator<readonly Row[], void> {
    const seen = new Set<Id>()
    for await (const batch of this.store.list(freeze(makeQuery(parts)), context)) {
      for (const row of batch) {
        const { id } = this.#check(row)
        // Without this check, a list that repeats itself would be read without end.
        assert.ok(seen.size < seen.add(id).size, `the row ${id} was in a list twice`)
      }
      yield batch
    }
  }

  async rows (parts: Partial<Query> = {}): Promise<Row[]> {
    const rows: Row[] = []
    for await (const batch of this.batches(parts)) rows.push(...batch)
    return rows
  }

  /** Counts the rows of a query. By default, the count is exact and has no end. */
  async count (parts: Partial<CountQuery> = {}): Promise<Count> {
    const { limit, ...query } = makeQuery({})
    const given = freeze({ ...query, most: undefined, estimate: false, ...parts })
    const { count } = this.store
    assert.ok(count !== undefined, 'a store that declares capabilities.count must have the method count')
    const counted = await this.#call(() => count.call(this.store, given, this.#context))
    const what = `count returned ${JSON.stringify(counted)} for ${JSON.stringify(given)}`
    assert.ok(Number.isSafeInteger(counted.rows) && counted.rows >= 0, `${what}, where rows must be an integer`)
    assert.ok(typeof counted.isEstimate === 'boolean', `${what}, where isEstimate must be true or false`)
    assert.ok(given.estimate || !counted.isEstimate, `${what}, which must not be an estimate`)
    return counted
  }

  /** Creates rows, at most `volume.tasks` of them concurrently. */
  async seed (count: number, attributesOf: (index: number) => Attributes = () => ({})): Promise<Row[]> {
    const rows: Row[] = []
    while (rows.length < count) {
      const size = Math.min(this.volume.tasks, count - rows.length)
      rows.push(...await Promise.all(times(size, (index) => this.create(attributesOf(rows.length + index)))))
    }
    return rows
  }

  /** Returns ids that no row has. */
  unknownIds (): readonly [Id, ...Id[]] {
    return this.id === 'integer'
      ? [Number.MAX_SAFE_INTEGER, 4_000_000_000, 999_999]
      : ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff']
  }

  #check (row: Row): Row {
    assert.ok(typeof row === 'object' && row !== null, `${String(row)} is not a row`)
    const { id, version, attributes } = row
    const isId = parseId(this.id, String(id)) === id
    assert.ok(isId, `${JSON.stringify(id)} is not an id of the type '${this.id}'`)
    assert.ok(
      typeof version === 'string' && VERSION.test(version),
      `the version ${JSON.stringify(version)} must be letters, digits, - and _`
    )
    assert.ok(typeof attributes === 'object' && attributes !== null, 'a row must have attributes')
    return row
  }

  #checkWritten (written: WriteOutcome): WriteOutcome {
    assert.ok(isWritten(written), `a write returned ${JSON.stringify(written)}, which is not a result of a write`)
    if (written.ok) this.#check(written.row)
    else if (written.why === 'stale') this.#check(written.current)
    return written
  }
}

export function times<T> (count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Waits for a promise. Throws if it takes longer than `patienceMs`. */
export async function bounded<T> ({ volume }: Subject, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => { timer = setTimeout(resolve, volume.patienceMs, 'late') })
  const first = await Promise.race([promise, late]).finally(() => { clearTimeout(timer) })
  assert.ok(first !== 'late', `${what} was still going on after ${volume.patienceMs} ms`)
  return first
}

async function patiently<T> (call: () => T | PromiseLike<T>, tries = 1): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (codeOf(error) !== 'FST_RESOURCES_UNAVAILABLE' || tries === TRIES) throw error
    await delay(tries)
    return patiently(call, tries + 1)
  }
}

function isWritten (written: unknown): written is WriteOutcome {
  const ok = findMember(written, 'ok')
  const why = findMember(written, 'why')
  return ok === true || (ok === false && (why === 'missing' || why === 'stale'))
}

/** Freezes a value and all values inside it, because a store must not change the values that it receives. */
function freeze<T> (value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

/** Checks that the store, or a query of it, has the expected rows, in any order. */
export async function holds (subject: Subject, expected: readonly Row[], parts: Partial<Query> = {}): Promise<void> {
  const [actual, wanted] = [byId(await subject.rows(parts)), byId(expected)]
  const what = `the rows of the list for ${JSON.stringify(parts)}`
  same([...actual.keys()].filter((id) => !wanted.has(id)), [], `${what}: ids of rows that must not be in it`)
  for (const [id, row] of wanted) same(actual.get(id), row, what)
}

function byId (rows: readonly Row[]): Map<Id, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
