import { randomUUID } from 'node:crypto'
import { DuplicateError } from '../../../../lib/core/errors.js'
import type { StoreRequirements } from '../../../../lib/contract/index.js'
import { comparePositions, positionOf } from '../../../../lib/core/stores/order.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type {
  Batches, Condition, Context, Count, Filter, Guard, KeptRequest, KeptRequests, Order, Position, Query, Search, Store,
  WriteOutcome
} from '../../../../lib/core/stores/store.js'
import { type Session, Transactions } from '../../../../lib/core/stores/transaction.js'
import type { MaybePromise } from '../../../../lib/core/util/maybe-promise.js'
import type { Id, Scope, Row } from '../../../../lib/core/resource/row.js'

export type Method = 'get' | 'list' | 'update' | 'delete'

interface TimedRequest extends KeptRequest {
  readonly expires: number
}

/** The rows, which several stores may share. */
export class Table {
  readonly rows = new Map<Id, Row>()
  readonly requests = new Map<string, TimedRequest>()
  lastId = 0
  /** Resolves when the open transaction is over. */
  idle: Promise<void> | undefined
  readonly transactions: Transactions<TableSession> = new Transactions<TableSession>({
    begin: () => TableSession.begin(this, steps)
  })

  /** Replaces the rows by those of another table. */
  fill ({ rows, requests }: Table): void {
    const copied = [...rows]
    this.rows.clear()
    for (const [id, row] of copied) this.rows.set(id, row)
    const kept = [...requests]
    this.requests.clear()
    for (const [key, request] of kept) this.requests.set(key, request)
  }
}

/** A transaction, which works on a copy of a table. */
export class TableSession implements Session {
  readonly copy = new Table()
  readonly savepoint?: Required<Session>['savepoint']
  readonly #table: Table
  readonly #end: () => void

  private constructor (table: Table, undoes: Steps['undoes'], end: () => void) {
    this.#table = table
    this.#end = end
    this.copy.fill(table)
    if (undoes !== undefined) this.savepoint = (call) => this.#attempt(call, undoes)
  }

  static async begin (table: Table, { excludes, undoes }: Pick<Steps, 'excludes' | 'undoes'>): Promise<TableSession> {
    if (excludes) while (table.idle !== undefined) await table.idle
    let end = (): void => {}
    table.idle = new Promise((resolve) => {
      end = () => {
        table.idle = undefined
        resolve()
      }
    })
    return new TableSession(table, undoes, end)
  }

  commit (): void {
    this.#table.fill(this.copy)
    this.#end()
  }

  rollback (): void {
    this.#end()
  }

  async #attempt<T> (call: () => MaybePromise<T>, undoes: boolean): Promise<T> {
    const before = new Table()
    before.fill(this.copy)
    try {
      return await call()
    } catch (error) {
      if (undoes) this.copy.fill(before)
      throw error
    }
  }
}

/** The steps of the store. Each can be replaced by a wrong one. */
export interface Steps {
  /** Waits before and after each atomic step. */
  pause (context: Context): Promise<void>
  /** Copies a given value before it is kept. */
  take<T> (given: T): T
  /** Copies a kept row before it is handed out. */
  hand (row: Row, method: Method | 'create' | 'stale'): Row
  nextId (table: Table, kind: 'integer' | 'uuid'): Id
  stamp (attributes: Attributes, scope: Scope): Attributes
  merge (attributes: Attributes, changes: Attributes, scope: Scope): Attributes
  versionAfter (row: Row, changes: Attributes): string
  isIn (row: Row, scope: Scope, method: Method): boolean
  fits (version: string | undefined, row: Row, method: Method): boolean
  /** Waits between the check of the guard and the write. */
  hesitate (): Promise<void> | undefined
  refuse (current: Row): WriteOutcome
  checkUnique (table: Pick<Table, 'rows'>, row: Row, unique: StoreRequirements['unique']): void
  compare (order: Order, a: Position, b: Position): number
  /** Tells whether a row comes after the position. @default as `compare` says */
  isAfter? (order: Order, row: Row, after: Position): boolean
  /** Tells whether a value meets a condition. */
  meets (value: Scalar, condition: Condition): boolean
  /** Tells whether a row meets a filter. @default as `meets` says of each condition */
  matches? (row: Row, filter: Filter): boolean
  finds (row: Row, search: Search): boolean
  total (rows: number, most: number | undefined): Count
  limit (limit: number | undefined): number
  /** Whether a transaction waits for the one before it. */
  readonly excludes: boolean
  /** Whether a failed attempt is undone; `undefined` if it dooms its transaction. */
  readonly undoes: boolean | undefined
  readonly batch: number
  /** The limit of a batch beyond its largest row, in characters. */
  batchSize (order: Order): number
}

/** Returns a deep copy of a JSON value. It is faster than structuredClone, which copies each text too. */
export function copy<T> (value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy) as T
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copy(member)])) as T
}

export const steps: Steps = {
  pause: async () => {},
  take: copy,
  hand: copy,
  nextId: (table, kind) => kind === 'uuid' ? randomUUID() : ++table.lastId,
  stamp: (attributes, scope) => ({ ...attributes, ...scope }),
  merge: (attributes, changes, scope) => ({ ...attributes, ...changes, ...scope }),
  versionAfter: ({ version }) => String(Number(version) + 1),
  isIn: has,
  fits: (version, row) => version === undefined || version === row.version,
  hesitate: () => undefined,
  refuse: (current) => ({ ok: false, why: 'stale', current }),
  checkUnique (table, row, unique) {
    for (const group of unique.map((names) => [names].flat())) {
      if (isTaken(table, row, group)) throw new DuplicateError(group.at(-1) as string)
    }
  },
  compare: comparePositions,
  meets,
  finds: (row, { words, attributes }) =>
    words.every((word) => attributes.some((name) => hasText(valueOf(row, name), word))),
  total: (rows, most = Infinity) => ({ rows: Math.min(rows, most), isEstimate: false }),
  limit: (limit = Infinity) => limit,
  excludes: true,
  undoes: true,
  batch: 500,
  batchSize: () => 2 ** 20
}

const sizes = new WeakMap<Row, number>()

function sizeOf (row: Row): number {
  let size = sizes.get(row)
  if (size === undefined) sizes.set(row, size = JSON.stringify(row.attributes).length)
  return size
}

/** Returns the first rows that fit into this size together, at least one. */
function cutBatch (rows: readonly Row[], most: number): readonly Row[] {
  let size = 0
  const end = rows.findIndex((row, index) => (size += sizeOf(row)) > most && index > 0)
  return end === -1 ? rows : rows.slice(0, end)
}

/** Returns the value of an attribute, or null if it is absent. */
export function valueOf ({ attributes }: Row, name: string): Scalar {
  return Object.hasOwn(attributes, name) ? (attributes[name] ?? null) as Scalar : null
}

export function has (row: Row, values: Scope): boolean {
  return Object.entries(values).every(([name, value]) => valueOf(row, name) === value)
}

function meets (value: Scalar, { operator, value: wanted, type }: Condition): boolean {
  if (operator === 'null') return (value === null) === wanted
  if (type === 'decimal' && (operator === 'in' || operator === 'not')) {
    return [wanted].flat().some((one) =>
      comparePositions([{ by: 'price', descending: false, type }], [value], [one]) === 0) === (operator === 'in')
  }
  if (operator === 'not') return value !== wanted
  if (value === null) return false
  if (operator === 'in') return wanted.includes(value)
  if (operator === 'contains') return hasText(value, wanted)
  if (operator === 'starts') return hasText(value, wanted, '^')
  if (typeof value !== typeof wanted) return false
  const compared = comparePositions([{ by: 'title', descending: false, type }], [value], [wanted])
  return { eq: compared === 0, gt: compared > 0, gte: compared >= 0, lt: compared < 0, lte: compared <= 0 }[operator]
}

/** Tells whether a text contains another one, in letters of either case. */
export function hasText (value: Scalar, text: string, before = ''): boolean {
  const escaped = Array.from(text, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`).join('')
  return typeof value === 'string' && new RegExp(before + escaped, 'iu').test(value)
}

export function isTaken ({ rows }: Pick<Table, 'rows'>, row: Row, group: readonly string[]): boolean {
  if (group.some((name) => valueOf(row, name) === null)) return false
  return [...rows.values()].some((other) =>
    other.id !== row.id && group.every((name) => valueOf(other, name) === valueOf(row, name)))
}

/** Returns a correct store. It answers slowly and writes atomically, and its steps can be replaced by wrong ones. */
export function referenceStore (
  needs: StoreRequirements, replaced: Partial<Steps> = {}, table: Table = new Table()
): Store {
  const does: Steps = { ...steps, ...replaced }
  const { transactions } = table
  const outside = storeOn(table, needs, does)
  const inside = new WeakMap<TableSession, Required<Store>>()
  const call = async <T>(context: Context, perform: (store: Required<Store>) => MaybePromise<T>): Promise<T> =>
    transactions.call(context, async (session) => {
      if (session === undefined) return perform(outside)
      const nextId: Steps['nextId'] = (_copy, kind) => does.nextId(table, kind)
      const store = inside.get(session) ?? storeOn(session.copy, needs, { ...does, nextId })
      inside.set(session, store)
      return perform(store)
    })
  const write: typeof call = (context, perform) => call(context, async (store) => {
    if (store === outside) while (table.idle !== undefined) await table.idle
    return perform(store)
  })
  return {
    ...outside,
    async * list (query, context) {
      const store = await call(context, (store) => store)
      yield * store.list(query, context)
    },
    count: (query, context) => call(context, (store) => store.count(query, context)),
    get: (id, scope, context) => call(context, (store) => store.get(id, scope, context)),
    create: (attributes, scope, context) => write(context, (store) => store.create(attributes, scope, context)),
    createMany: (many, scope, context) => write(context, async (store) => {
      const rows: Row[] = []
      for (const attributes of many) rows.push(await store.create(attributes, scope, context))
      return rows
    }),
    update: (id, changes, guard, context) => write(context, (store) => store.update(id, changes, guard, context)),
    delete: (id, guard, context) => write(context, (store) => store.delete(id, guard, context)),
    transaction: (run, context, options) =>
      transactions.run(run, context, options, { begin: () => TableSession.begin(table, does) }),
    requests: requestsOn(table)
  }
}

/** Returns the requests that are kept beside a table. */
function requestsOn (table: Table): KeptRequests {
  const call = async <T>(context: Context, perform: (requests: Table['requests']) => T): Promise<T> =>
    table.transactions.call(context, async (session) => perform((session?.copy ?? table).requests))
  const isLive = (request: TimedRequest | undefined): boolean =>
    request !== undefined && request.expires > Date.now()
  return {
    find: (key, context) => call(context, (requests) => {
      const request = requests.get(key)
      return isLive(request) ? request : undefined
    }),
    add: (key, request, context) => call(context, (requests) => {
      if (isLive(requests.get(key))) return false
      requests.set(key, { ...request, result: '' })
      return true
    }),
    finish: (key, result, context) => call(context, (requests) => {
      const { digest, expires } = requests.get(key) as TimedRequest
      requests.set(key, { digest, expires, result })
    })
  }
}

/** Returns a store without transactions. */
export function storeOn (table: Table, { id: kind, unique }: StoreRequirements, does: Steps): Required<Store> {
  const { rows } = table
  const {
    isAfter = (order, row, after) => does.compare(order, positionOf(row, order), after) > 0,
    matches = (row, filter) => filter.every((condition) =>
      does.meets(condition.attribute === 'id' ? row.id : valueOf(row, condition.attribute), condition))
  } = does

  function find (id: Id, scope: Scope, method: Method): Row | undefined {
    const row = rows.get(id)
    return row !== undefined && does.isIn(row, scope, method) ? row : undefined
  }

  function keep (row: Row): Row {
    does.checkUnique(table, row, unique)
    rows.set(row.id, row)
    return row
  }

  async function write (id: Id, {
    scope, version
  }: Guard, method: 'update' | 'delete', context: Context, change: (row: Row) => Row): Promise<WriteOutcome> {
    await does.pause(context)
    const row = find(id, scope, method)
    if (row === undefined) return { ok: false, why: 'missing' }
    if (!does.fits(version, row, method)) return does.refuse(does.hand(row, 'stale'))
    const hesitation = does.hesitate()
    if (hesitation !== undefined) await hesitation
    const written = does.hand(change(row), method)
    await steps.pause(context)
    return { ok: true, row: written }
  }

  function read ({
    order, scope, filter, search
  }: Omit<Query, 'limit'>, after: Position | undefined, limit: number): Row[] {
    const found = [...rows.values()].filter((row) =>
      does.isIn(row, scope, 'list') && matches(row, filter) && (search === undefined || does.finds(row, search)))
    const places = found.filter((row) =>
      after === undefined || isAfter(order, row, after)).map((row) => ({ row, place: positionOf(row, order) }))
    places.sort((a, b) => does.compare(order, a.place, b.place))
    return places.slice(0, limit).map(({ row }) => row)
  }

  return {
    id: kind,
    capabilities: { order: true, offset: true, filter: true, search: true, count: true },
    async * list (query, context): Batches {
      let after = query.after
      let left = does.limit(query.limit)
      if (query.offset !== undefined) {
        const skipped = read(query, undefined, query.offset)
        if (skipped.length < query.offset) return
        after = positionOf(skipped.at(-1) as Row, query.order)
      }
      while (left > 0) {
        await does.pause(context)
        const batch = cutBatch(read(query, after, Math.min(left, does.batch)), does.batchSize(query.order)).map((row) =>
          does.hand(row, 'list'))
        const last = batch.at(-1)
        if (last === undefined) return
        after = positionOf(last, query.order)
        left -= batch.length
        yield batch
      }
    },
    async count (query, context) {
      await does.pause(context)
      return does.total(read(query, query.after, Infinity).length, query.most)
    },
    async get (id, scope, context) {
      await does.pause(context)
      const row = find(id, scope, 'get')
      const read = row === undefined ? undefined : does.hand(row, 'get')
      await steps.pause(context)
      return read
    },
    async create (attributes, scope, context) {
      await does.pause(context)
      const row = keep({
        id: does.nextId(table, kind), version: '1', attributes: does.stamp(does.take(attributes), scope)
      })
      const created = does.hand(row, 'create')
      await steps.pause(context)
      return created
    },
    update: (id, changes, guard, context) => write(id, guard, 'update', context, (row) => {
      return keep({
        id,
        version: does.versionAfter(row, changes),
        attributes: does.merge(row.attributes, does.take(changes), guard.scope)
      })
    }),
    delete: (id, guard, context) => write(id, guard, 'delete', context, (row) => {
      rows.delete(id)
      return row
    })
  } as Store as Required<Store>
}
