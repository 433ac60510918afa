import { v7 as uuid } from 'uuid'
import { DuplicateError, InvalidOptionError, UnknownOptionError } from '../errors.js'
import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { didYouMean } from '../util/did-you-mean.js'
import { ownMember } from '../util/own-property.js'
import { comparePositions, positionOf } from './order.js'
import { LARGEST_BATCH_SIZE, sizeOf } from './row-size.js'
import type { Context, OrderBy, Filter, Guard, Position, Query, Store, Written } from './store.js'
import { areGroups, attributeAtFault, NO_GROUPS } from './unique.js'

/** What `memoryStore` may be given. */
export interface MemoryStoreOptions {
  /** What ids look like: `'integer'` counts from 1, `'uuid'` is a time-ordered UUID v7 (RFC 9562 §5.7). @default 'integer' */
  readonly id?: 'integer' | 'uuid'
  /**
   * Attributes, or groups of them (`['tenant', 'title']`), of which no two rows may have the same values; where one is
   * null or absent, the row does not count. @default []
   */
  readonly unique?: ReadonlyArray<string | readonly string[]>
}

/** The five methods, all answering at once. */
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

/** So many ids a list in another order holds: they take a megabyte at the most, also when their rows have been deleted. */
const HELD_IDS = { integer: 131_072, uuid: 16_384 } as const

/** A row as it is kept. */
interface Kept {
  readonly row: Row
  readonly size: number
  /** How many writes there had been, this one included. */
  readonly written: number
}

/** A row with its place in an order, so that this is made once and not for each comparison. */
interface Placed {
  readonly row: Row
  readonly position: Position
}

/**
 * A store in memory: gone with the process, right in everything else. Rows are frozen and replaced, never changed,
 * so readers of a list need no copy. A list that is being read holds one batch, which is bounded by the size of its rows,
 * and sees the writes that happen behind its position. Its rows are of the type that is asked for where it is made: `const posts: Store<Post> = memoryStore()`.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function memoryStore<A = Attributes> (options: MemoryStoreOptions = {}): MemoryStore<A> {
  const { id: kind = 'integer', unique = [] } = checkOptions(options)
  const rows = new Map<Id, Kept>()
  // Ids in the order they were made, which is their own order; those of deleted rows stay until `compact`.
  let ids: Id[] = []
  let lastId = 0
  let writes = 0
  const taken = unique.map((group) => ({ group: [group].flat(), owners: new Map<unknown, Id>() }))

  function find (id: Id, scope: Scope): Row | undefined {
    const row = rows.get(id)?.row
    return row !== undefined && hasValues(row, scope) ? row : undefined
  }

  function check (id: Id, guard: Guard): Written {
    const row = find(id, guard.scope)
    if (row === undefined) return { ok: false, why: 'missing' }
    if (guard.version !== undefined && guard.version !== row.version) return { ok: false, why: 'stale', current: row }
    return { ok: true, row }
  }

  function checkUnique (id: Id | undefined, attributes: Attributes, scope: Scope): void {
    for (const { group, owners } of taken) {
      const owner = owners.get(keyOfGroup(group, attributes))
      if (owner !== undefined && owner !== id) throw new DuplicateError(attributeAtFault(group, scope))
    }
  }

  function keep (row: Row, previous: Row | undefined): Row {
    if (previous !== undefined) release(previous)
    for (const { group, owners } of taken) {
      const key = keyOfGroup(group, row.attributes)
      if (key !== undefined) owners.set(key, row.id)
    }
    rows.set(row.id, { row, size: sizeOf(row), written: ++writes })
    return row
  }

  function release ({ attributes }: Row): void {
    for (const { group, owners } of taken) owners.delete(keyOfGroup(group, attributes))
  }

  function compact (): void {
    if (ids.length > 64 && ids.length > rows.size * 2) ids = ids.filter((id) => rows.has(id))
  }

  function * listById ({ order, after, limit = Infinity, scope, filter }: Query): Generator<readonly Row[]> {
    const { descending } = order[0] as OrderBy
    const isAnyWanted = isEmpty(scope) && isEmpty(filter)
    let last = after?.[0] as Id | undefined
    let left = limit
    while (left > 0) {
      const batch: Row[] = []
      // Looked up anew for each batch, since `compact` may have moved the ids.
      let position = findStart(last, descending)
      const most = Math.min(BATCH, left)
      let size = 0
      while (batch.length < most) {
        const id = ids[position]
        if (id === undefined) break
        const kept = rows.get(id)
        if (kept !== undefined && (isAnyWanted || (hasValues(kept.row, scope) && hasValues(kept.row, filter)))) {
          size += kept.size
          if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
          batch.push(kept.row)
        }
        position += descending ? -1 : 1
        last = id
      }
      if (batch.length === 0) return
      left -= batch.length
      yield batch
    }
  }

  function findStart (last: Id | undefined, descending: boolean): number {
    if (descending) return (last === undefined ? ids.length : findPosition(ids, (id) => id >= last)) - 1
    return last === undefined ? 0 : findPosition(ids, (id) => id > last)
  }

  /** Finds the ids of a great many rows at once, and the rows batch by batch: who stops reading holds no rows but a batch. */
  function * listInOrder (query: Query): Generator<readonly Row[]> {
    let { after, limit: left = Infinity } = query
    let most: number = HELD_IDS[kind]
    for (;;) {
      const found = gather({ ...query, after, limit: Math.min(left, most) }).map(({ row: { id } }) => id)
      const since = writes
      let start = 0
      while (start < found.length) {
        const { batch, end } = takeBatch(found, start, since)
        // The next row has changed since, and may stand elsewhere.
        if (end === start) break
        start = end
        const last = batch.at(-1)
        if (last === undefined) continue
        after = positionOf(last, query.order)
        left -= batch.length
        yield batch
      }
      if (left <= 0 || (start === found.length && found.length < most)) return
      // Where rows change while they are listed, few are looked up in advance.
      most = start < found.length ? BATCH : HELD_IDS[kind]
    }
  }

  /** Rows that are still there, up to one that has changed since then. */
  function takeBatch (
    found: readonly Id[],
    start: number,
    since: number
  ): { readonly batch: readonly Row[]; readonly end: number } {
    const batch: Row[] = []
    let size = 0
    let end = start
    for (; end < found.length && batch.length < BATCH; end++) {
      const kept = rows.get(found[end] as Id)
      if (kept === undefined) continue
      if (kept.written > since) break
      size += kept.size
      if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
      batch.push(kept.row)
    }
    return { batch, end }
  }

  /** The rows that are wanted, in order: of a page never many more than it has. */
  function gather ({ order, after, limit = Infinity, scope, filter }: Query): Placed[] {
    const compare = (a: Placed, b: Placed): number => comparePositions(order, a.position, b.position)
    const cut = (): Placed[] => placed.sort(compare).slice(0, limit)
    let placed: Placed[] = []
    let end: Position | undefined
    for (const { row } of rows.values()) {
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

  return Object.freeze<MemoryStore>({
    id: kind,
    capabilities: Object.freeze({ order: true, filter: true }),
    list: (query) => query.order.length === 1 ? listById(query) : listInOrder(query),
    get: find,
    create (attributes, scope) {
      const whole = Object.freeze({ ...copyValues(attributes), ...copyValues(scope) })
      checkUnique(undefined, whole, scope)
      const id = kind === 'uuid' ? uuid() : ++lastId
      ids.push(id)
      return keep(Object.freeze({ id, version: '1', attributes: whole }), undefined)
    },
    update (id, changes, guard) {
      const checked = check(id, guard)
      if (!checked.ok) return checked
      const previous = checked.row
      const whole = Object.freeze({ ...previous.attributes, ...copyValues(outside(guard.scope, changes)) })
      checkUnique(id, whole, guard.scope)
      const version = String(Number(previous.version) + 1)
      return { ok: true, row: keep(Object.freeze({ id, version, attributes: whole }), previous) }
    },
    delete (id, guard) {
      const checked = check(id, guard)
      if (!checked.ok) return checked
      rows.delete(id)
      release(checked.row)
      compact()
      return checked
    }
    // What is in the rows is what the caller gives: any type of attributes that is asked for.
  }) as MemoryStore<any>
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

function outside (scope: Scope, changes: Attributes): Attributes {
  if (isEmpty(scope)) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(scope, name)))
}

/** Where the first of the sorted `ids` stands that is beyond what is looked for. */
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

/** What rows share that have the same values of the attributes; undefined where one has none. */
function keyOfGroup (group: readonly string[], attributes: Attributes): unknown {
  const values = group.map((name) => ownMember(attributes, name))
  if (values.some((value) => value == null)) return undefined
  return keyOf(values.length === 1 ? values[0] : values)
}

/** What equal values share and different ones do not, so that arrays and objects can be unique too. */
function keyOf (value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' ? JSON.stringify(value, sortNames) : value
}

function sortNames (_name: string, value: unknown): unknown {
  return typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort())
}

/** For a copy of the members: nothing is shared that could be changed. */
function copyValues (members: Attributes): Attributes {
  for (const name in members) if (typeof members[name] === 'object') return copy(members)
  return members
}

/** A frozen copy, all the way down. */
function copy<T> (value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(copy)) as T
  const result: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) result[name] = copy(part)
  return Object.freeze(result) as T
}
