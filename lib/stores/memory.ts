import { v7 as uuid } from 'uuid'
import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { didYouMean } from '../util/did-you-mean.js'
import { ownMember } from '../util/own-property.js'
import { comparePositions, positionOf } from './order.js'
import { LARGEST_BATCH_SIZE, sizeOf } from './row-size.js'
import type { Context, OrderBy, Filter, Guard, Position, Query, Store, Written } from './store.js'
import { areGroups, NO_GROUPS, type UniqueGroups, UniqueIndex } from './unique.js'

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The type of ids: `'integer'` counts from 1, `'uuid'` is a UUID v7 (RFC 9562 §5.7). @default 'integer' */
  readonly id?: 'integer' | 'uuid'
  /**
   * Attributes, or groups of them (`['tenant', 'title']`), whose values no two rows share. Rows in which one is null or
   * absent do not count. @default []
   */
  readonly unique?: UniqueGroups
}

/** A store whose five methods answer synchronously. */
export interface MemoryStore<A = Attributes> extends Store<A> {
  readonly id: 'integer' | 'uuid'
  readonly capabilities: { readonly order: true, readonly filter: true }
  list (query: Query, context?: Context): Iterable<ReadonlyArray<Row<A>>>
  get (id: Id, scope: Scope, context?: Context): Row<A> | undefined
  create (attributes: A, scope: Scope, context?: Context): Row<A>
  update (id: Id, changes: Partial<A>, guard: Guard, context?: Context): Written<A>
  delete (id: Id, guard: Guard, context?: Context): Written<A>
}

const BATCH = 512

/** The most ids that a list in another order holds: 1 MiB at most, including those of deleted rows. */
const HELD_IDS = { integer: 131_072, uuid: 16_384 } as const

interface Entry {
  readonly row: Row
  readonly size: number
  /** The number of the write that made this version of the row. */
  readonly write: number
}

/** A row with its position in an order, which is computed once and not for each comparison. */
interface Placed {
  readonly row: Row
  readonly position: Position
}

/**
 * Makes a store in memory, which is lost with the process. Rows are frozen and replaced, never changed, so readers of a
 * list need no copy. An open list holds one batch of bounded size, and sees writes behind its position. Its rows have
 * the type that its variable declares: `const posts: Store<Post> = memoryStore()`.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function memoryStore<A = Attributes> (options: MemoryStoreOptions = {}): MemoryStore<A> {
  const { id = 'integer', unique = [] } = checkOptions(options)
  const table = new MemoryTable(id, unique)
  return Object.freeze<MemoryStore>({
    id,
    capabilities: Object.freeze({ order: true, filter: true }),
    list: (query) => table.list(query),
    get: (id, scope) => table.get(id, scope),
    create: (attributes, scope) => table.create(attributes, scope),
    update: (id, changes, guard) => table.update(id, changes, guard),
    delete: (id, guard) => table.delete(id, guard)
    // The rows hold what the caller gives, so they have whatever type the caller declares.
  }) as MemoryStore<any>
}

class MemoryTable {
  readonly #kind: 'integer' | 'uuid'
  readonly #unique: UniqueIndex
  readonly #rows = new Map<Id, Entry>()
  /** The ids in ascending order. Those of deleted rows stay until `#compact`. */
  #ids: Id[] = []
  #lastId = 0
  #writes = 0

  constructor (kind: 'integer' | 'uuid', unique: UniqueGroups) {
    this.#kind = kind
    this.#unique = new UniqueIndex(unique)
  }

  list (query: Query): Iterable<readonly Row[]> {
    return query.order.length === 1 ? this.#listById(query) : this.#listInOrder(query)
  }

  get (id: Id, scope: Scope): Row | undefined {
    const row = this.#rows.get(id)?.row
    return row !== undefined && hasValues(row, scope) ? row : undefined
  }

  create (given: Attributes, scope: Scope): Row {
    const attributes = Object.freeze({ ...freezeValues(given), ...freezeValues(scope) })
    this.#unique.check(undefined, attributes, scope)
    const id = this.#kind === 'uuid' ? uuid() : ++this.#lastId
    this.#ids.push(id)
    return this.#save({ id, version: '1', attributes })
  }

  update (id: Id, changes: Attributes, guard: Guard): Written {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    const { row: previous } = checked
    const attributes = Object.freeze({ ...previous.attributes, ...freezeValues(omit(guard.scope, changes)) })
    this.#unique.check(id, attributes, guard.scope)
    this.#unique.remove(previous)
    return { ok: true, row: this.#save({ id, version: String(Number(previous.version) + 1), attributes }) }
  }

  delete (id: Id, guard: Guard): Written {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    this.#rows.delete(id)
    this.#unique.remove(checked.row)
    this.#compact()
    return checked
  }

  #check (id: Id, { version, scope }: Guard): Written {
    const row = this.get(id, scope)
    if (row === undefined) return { ok: false, why: 'missing' }
    if (version !== undefined && version !== row.version) return { ok: false, why: 'stale', current: row }
    return { ok: true, row }
  }

  #save (row: Row): Row {
    this.#unique.add(Object.freeze(row))
    this.#rows.set(row.id, { row, size: sizeOf(row), write: ++this.#writes })
    return row
  }

  #compact (): void {
    const ids = this.#ids
    if (ids.length > 64 && ids.length > this.#rows.size * 2) this.#ids = ids.filter((id) => this.#rows.has(id))
  }

  * #listById ({ order, after, limit = Infinity, scope, filter }: Query): Generator<readonly Row[]> {
    const { descending } = order[0] as OrderBy
    const isAnyWanted = isEmpty(scope) && isEmpty(filter)
    let last = after?.[0] as Id | undefined
    let left = limit
    while (left > 0) {
      const batch: Row[] = []
      const most = Math.min(BATCH, left)
      let size = 0
      // Each batch finds its start again, because `#compact` may have moved the ids.
      for (let index = this.#findStart(last, descending); batch.length < most; index += descending ? -1 : 1) {
        const id = this.#ids[index]
        if (id === undefined) break
        const entry = this.#rows.get(id)
        if (entry !== undefined && (isAnyWanted || (hasValues(entry.row, scope) && hasValues(entry.row, filter)))) {
          size += entry.size
          if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
          batch.push(entry.row)
        }
        last = id
      }
      if (batch.length === 0) return
      left -= batch.length
      yield batch
    }
  }

  #findStart (last: Id | undefined, descending: boolean): number {
    const ids = this.#ids
    if (descending) return (last === undefined ? ids.length : findPosition(ids, (id) => id >= last)) - 1
    return last === undefined ? 0 : findPosition(ids, (id) => id > last)
  }

  /** Finds the ids of many rows at once, and the rows batch by batch, so that an abandoned list holds one batch. */
  * #listInOrder (query: Query): Generator<readonly Row[]> {
    let { after, limit: left = Infinity } = query
    let most: number = HELD_IDS[this.#kind]
    for (;;) {
      const found = this.#gather({ ...query, after, limit: Math.min(left, most) }).map(({ row: { id } }) => id)
      const since = this.#writes
      let start = 0
      while (start < found.length) {
        const { batch, end } = this.#takeBatch(found, start, since)
        // The next row has changed since then, and may have another position.
        if (end === start) break
        start = end
        const last = batch.at(-1)
        if (last === undefined) continue
        after = positionOf(last, query.order)
        left -= batch.length
        yield batch
      }
      if (left <= 0 || (start === found.length && found.length < most)) return
      // If rows change while they are listed, few are looked up in advance.
      most = start < found.length ? BATCH : HELD_IDS[this.#kind]
    }
  }

  /** Returns rows that still exist, up to one that a later write than `since` has changed. */
  #takeBatch (found: readonly Id[], start: number, since: number): { readonly batch: Row[], readonly end: number } {
    const batch: Row[] = []
    let size = 0
    let end = start
    for (; end < found.length && batch.length < BATCH; end++) {
      const entry = this.#rows.get(found[end] as Id)
      if (entry === undefined) continue
      if (entry.write > since) break
      size += entry.size
      if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
      batch.push(entry.row)
    }
    return { batch, end }
  }

  /** Returns the rows of the query in order. While it searches, it holds little more than `limit` of them. */
  #gather ({ order, after, limit = Infinity, scope, filter }: Query): Placed[] {
    const compare = (a: Placed, b: Placed): number => comparePositions(order, a.position, b.position)
    const cut = (): Placed[] => placed.sort(compare).slice(0, limit)
    let placed: Placed[] = []
    let end: Position | undefined
    for (const { row } of this.#rows.values()) {
      if (!hasValues(row, scope) || !hasValues(row, filter)) continue
      const position = positionOf(row, order)
      if (after !== undefined && comparePositions(order, position, after) <= 0) continue
      if (end !== undefined && comparePositions(order, position, end) > 0) continue
      placed.push({ row, position })
      if (placed.length > limit * 2 + BATCH) {
        placed = cut()
        end = placed.at(-1)?.position
      }
    }
    return cut()
  }
}

function checkOptions (options: MemoryStoreOptions): MemoryStoreOptions {
  for (const key of Object.keys(options)) {
    if (key !== 'id' && key !== 'unique') throw new UnknownOptionError(key, didYouMean(key, ['id', 'unique']))
  }
  const { id, unique } = options
  if (id !== undefined && id !== 'integer' && id !== 'uuid') {
    throw new InvalidOptionError('id', "must be 'integer' or 'uuid'")
  }
  if (unique !== undefined && !areGroups(unique)) throw new InvalidOptionError('unique', NO_GROUPS)
  return options
}

function hasValues ({ attributes }: Row, values: Scope | Filter): boolean {
  for (const name in values) if ((ownMember(attributes, name) ?? null) !== values[name]) return false
  return true
}

function isEmpty (values: Scope | Filter): boolean {
  return Object.keys(values).length === 0
}

function omit (scope: Scope, changes: Attributes): Attributes {
  if (isEmpty(scope)) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(scope, name)))
}

/** Returns the index of the first of the sorted `ids` that is beyond the wanted one. */
function findPosition (ids: readonly Id[], isBeyond: (id: Id) => boolean): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeyond(ids[middle] as Id)) high = middle
    else low = middle + 1
  }
  return low
}

/** Returns members whose values cannot change: `members` itself if it has no objects, else a frozen copy. */
function freezeValues (members: Attributes): Attributes {
  for (const name in members) if (typeof members[name] === 'object') return freezeCopy(members)
  return members
}

/** Returns a deeply frozen copy. */
function freezeCopy<T> (value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(freezeCopy)) as T
  const result: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) result[name] = freezeCopy(part)
  return Object.freeze(result) as T
}
