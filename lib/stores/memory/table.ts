import { type Id, makeUuid, type Row, type Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { freezeValues, mergeMembers, ownMember } from '../../util/own-property.js'
import { compileMatcher } from '../matcher.js'
import { comparePositions, findPosition, positionOf } from '../order.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../row-size.js'
import type { Context, Count, CountQuery, Guard, OnDelete, Position, Query, SyncStore, WriteOutcome } from '../store.js'
import { type UniqueGroups, UniqueIndex } from '../unique.js'
import { deleteReferrers, ForeignKey } from './foreign-key.js'

/** A store in memory. Its methods return their results synchronously. */
export interface MemoryStore<A = Attributes> extends SyncStore<A> {
  readonly id: 'integer' | 'uuid'
  readonly capabilities: {
    readonly order: true
    readonly filter: true
    readonly search: true
    readonly count: true
  }
  list (query: Query, context?: Context): Iterable<ReadonlyArray<Row<A>>>
  count (query: CountQuery, context?: Context): Count
}

const BATCH = 512

/**
 * The most ids that a list holds if it is not ordered by id alone, including those of rows deleted meanwhile. They take
 * at most 1 MiB.
 */
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

/** The rows of a store in memory. */
export class MemoryTable {
  readonly name: string
  readonly #kind: 'integer' | 'uuid'
  /** The index of unique values, or `undefined` if no values are unique. */
  readonly #unique: UniqueIndex | undefined
  /** The foreign keys of these rows, and those of other rows that refer to these. */
  readonly #foreignKeys: ForeignKey[] = []
  readonly #referrers: ForeignKey[] = []
  readonly #rows = new Map<Id, Entry>()
  /** The ids in ascending order. Those of deleted rows stay until `#compact`. */
  #ids: Id[] = []
  #lastId = 0
  #writes = 0

  /**
   * @param options.name the name in errors about rows that refer to others
   * @param options.decimals the attributes whose unique values are compared as numbers
   */
  constructor (
    kind: 'integer' | 'uuid',
    unique: UniqueGroups,
    { name = '', decimals = new Set() }: { readonly name?: string, readonly decimals?: ReadonlySet<string> } = {}
  ) {
    this.#kind = kind
    this.name = name
    this.#unique = unique.length === 0 ? undefined : new UniqueIndex(unique, decimals)
  }

  /** Makes an attribute of the rows, of which there are none yet, refer to the rows of a table. */
  refer (attribute: string, parent: MemoryTable, onDelete: OnDelete): void {
    const foreignKey = new ForeignKey(attribute, { rows: this, parent, onDelete })
    this.#foreignKeys.push(foreignKey)
    parent.#referrers.push(foreignKey)
  }

  get referrers (): readonly ForeignKey[] {
    return this.#referrers
  }

  list (query: Query): Iterable<readonly Row[]> {
    return query.order.length === 1 ? this.#listById(query) : this.#listInOrder(query)
  }

  /** Counts the rows, which is exact and looks at all of them. */
  count ({ order, after, most = Infinity, ...query }: CountQuery): Count {
    const matches = compileMatcher(query)
    let rows = 0
    for (const { row } of this.#rows.values()) {
      if (!matches(row)) continue
      if (after !== undefined && comparePositions(order, positionOf(row, order), after) <= 0) continue
      if (++rows >= most) break
    }
    return { rows, isEstimate: false }
  }

  get (id: Id, scope: Scope): Row | undefined {
    const row = this.#rows.get(id)?.row
    return row !== undefined && hasValues(row, scope) ? row : undefined
  }

  create (given: Attributes, scope: Scope): Row {
    const attributes = Object.freeze(mergeMembers(freezeValues(given), freezeValues(scope)))
    this.#unique?.check(undefined, attributes, scope)
    for (const foreignKey of this.#foreignKeys) foreignKey.check(attributes, scope)
    const id = this.#kind === 'uuid' ? makeUuid() : ++this.#lastId
    this.#ids.push(id)
    return this.#save({ id, version: '1', attributes })
  }

  update (id: Id, changes: Attributes, guard: Guard): WriteOutcome {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    const attributes = applyChanges(checked.row.attributes, freezeValues(omit(guard.scope, changes)))
    this.#unique?.check(id, attributes, guard.scope)
    for (const foreignKey of this.#foreignKeys) foreignKey.check(attributes, guard.scope)
    return { ok: true, row: this.replace(checked.row, attributes) }
  }

  delete (id: Id, guard: Guard): WriteOutcome {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    if (this.#referrers.length > 0) deleteReferrers(this, id)
    this.remove(checked.row)
    return checked
  }

  /** Replaces a row by its next version. The caller has checked the attributes, which are frozen. */
  replace (previous: Row, attributes: Attributes): Row {
    this.#unindex(previous)
    return this.#save({ id: previous.id, version: String(Number(previous.version) + 1), attributes })
  }

  /** Removes a row to which no other row refers. */
  remove (row: Row): void {
    this.#rows.delete(row.id)
    this.#unindex(row)
    this.#compact()
  }

  #unindex (row: Row): void {
    this.#unique?.remove(row)
    for (const foreignKey of this.#foreignKeys) foreignKey.remove(row)
  }

  #check (id: Id, { version, scope }: Guard): WriteOutcome {
    const row = this.get(id, scope)
    if (row === undefined) return { ok: false, why: 'missing' }
    if (version !== undefined && version !== row.version) return { ok: false, why: 'stale', current: row }
    return { ok: true, row }
  }

  #save (row: Row): Row {
    Object.freeze(row)
    this.#unique?.add(row)
    for (const foreignKey of this.#foreignKeys) foreignKey.add(row)
    this.#rows.set(row.id, { row, size: sizeOf(row), write: ++this.#writes })
    return row
  }

  #compact (): void {
    const ids = this.#ids
    if (ids.length > 64 && ids.length > this.#rows.size * 2) this.#ids = ids.filter((id) => this.#rows.has(id))
  }

  * #listById ({ order, after, limit = Infinity, ...query }: Query): Generator<readonly Row[]> {
    const descending = order[0]?.descending === true
    const matches = compileMatcher(query)
    // In an order by id alone, the position is the id.
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
        if (entry !== undefined && matches(entry.row)) {
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

  /**
   * Finds the ids of many rows at once, but the rows batch by batch, so that an abandoned list holds only one batch.
   */
  * #listInOrder (query: Query): Generator<readonly Row[]> {
    let { after, limit: left = Infinity } = query
    let most: number = HELD_IDS[this.#kind]
    for (;;) {
      const found = this.#gather({ ...query, after, limit: Math.min(left, most) }).map(({ row: { id } }) => id)
      const since = this.#writes
      let start = 0
      while (start < found.length) {
        const { batch, end } = this.#takeBatch(found, start, since)
        // The next row has changed since its id was found, and may have another position.
        if (end === start) break
        start = end
        const last = batch.at(-1)
        if (last === undefined) continue
        after = positionOf(last, query.order)
        left -= batch.length
        yield batch
      }
      if (left <= 0 || (start === found.length && found.length < most)) return
      // If rows change during the list, fewer ids are found in advance.
      most = start < found.length ? BATCH : HELD_IDS[this.#kind]
    }
  }

  /** Returns the next rows that still exist, up to one changed by a write after `since`, and the index of the end. */
  #takeBatch (found: readonly Id[], start: number, since: number): { readonly batch: Row[], readonly end: number } {
    const batch: Row[] = []
    let size = 0
    let end = start
    for (const id of found.slice(start, start + BATCH)) {
      const entry = this.#rows.get(id)
      if (entry !== undefined) {
        size += entry.size
        if (entry.write > since || (size > LARGEST_BATCH_SIZE && batch.length > 0)) break
        batch.push(entry.row)
      }
      end++
    }
    return { batch, end }
  }

  /** Returns the rows of the query in order. During the search, it holds about twice `limit` rows and a batch. */
  #gather ({ order, after, limit = Infinity, ...query }: Query): Placed[] {
    const matches = compileMatcher(query)
    const compare = (a: Placed, b: Placed): number => comparePositions(order, a.position, b.position)
    const cut = (): Placed[] => placed.sort(compare).slice(0, limit)
    let placed: Placed[] = []
    let end: Position | undefined
    for (const { row } of this.#rows.values()) {
      if (!matches(row)) continue
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

/** Makes the store of a table, whose ids are of the type `id`. */
export function makeStore (id: MemoryStore['id'], table: MemoryTable): MemoryStore<unknown> {
  return Object.freeze<MemoryStore<unknown>>({
    id,
    capabilities: Object.freeze({ order: true, filter: true, search: true, count: true }),
    list: (query) => table.list(query),
    count: (query) => table.count(query),
    get: (id, scope) => table.get(id, scope),
    create: (attributes: Attributes, scope) => table.create(attributes, scope),
    update: (id, changes, guard) => table.update(id, changes, guard),
    delete: (id, guard) => table.delete(id, guard)
  })
}

function hasValues ({ attributes }: Row, values: Scope): boolean {
  for (const name in values) if ((ownMember(attributes, name) ?? null) !== values[name]) return false
  return true
}

/** Returns the attributes with the changes, without those that the changes remove. */
function applyChanges (attributes: Attributes, changes: Attributes): Attributes {
  const changed = mergeMembers(attributes, changes)
  for (const name in changes) if (changes[name] === undefined) delete changed[name]
  return Object.freeze(changed)
}

function omit (scope: Scope, changes: Attributes): Attributes {
  if (Object.keys(scope).length === 0) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(scope, name)))
}
