import { type Id, makeUuid, type Row, type Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { freezeValues, mergeMembers, ownMember } from '../../util/own-property.js'
import { comparePositions, compileMatcher, findFirst, matchEvery, positionOf, reverse } from '../order.js'
import {
  checkScope, type Context, type Count, type CountQuery, type Guard, LARGEST_BATCH_SIZE, omitScope, type OnDelete,
  type Order, type Position, type Query, sizeOf, type SyncStore, type WriteOutcome
} from '../store.js'
import { type UniqueGroups, UniqueIndex } from '../unique.js'
import { InvalidError, NO_SUCH_REFERENCE, ReferencedError } from '../../errors.js'
import { SortedRows } from './sorted-rows.js'

/** A store in memory. Its methods return their results synchronously. */
export interface MemoryStore<A = Attributes> extends SyncStore<A> {
  readonly id: 'integer' | 'uuid'
  readonly capabilities: {
    readonly order: true
    readonly offset: true
    readonly filter: true
    readonly search: true
    readonly count: true
  }
  list (query: Query, context?: Context): Iterable<ReadonlyArray<Row<A>>>
  count (query: CountQuery, context?: Context): Count
}

const BATCH = 512

/** The most orders to keep. Each takes 8 bytes a row, and some microseconds of each write. */
const MOST_ORDERS = 16

/** The rows of a store in memory. */
export class MemoryTable {
  readonly name: string
  readonly #kind: 'integer' | 'uuid'
  readonly unique: UniqueGroups
  /** The index of unique values, or `undefined` if no values are unique. */
  readonly #unique: UniqueIndex | undefined
  /** The foreign keys of these rows, and those of other rows that refer to these. */
  readonly #foreignKeys: MemoryForeignKey[] = []
  readonly #referrers: MemoryForeignKey[] = []
  readonly #rows = new Map<Id, Row>()
  /** The size of the largest row that was ever saved. It lets most lists skip measuring rows. */
  #largest = 0
  /** The ids in ascending order. Those of deleted rows stay until `#compact`. */
  #ids: Id[] = []
  /** The rows in the orders of the latest lists, the latest one last. */
  readonly #sorted = new Map<string, SortedRows>()
  #lastId = 0

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
    this.unique = unique
    this.#unique = unique.length === 0 ? undefined : new UniqueIndex(unique, decimals)
  }

  /** Makes an attribute of the rows, of which there are none yet, refer to the rows of a table. */
  refer (attribute: string, parent: MemoryTable, onDelete: OnDelete): void {
    const foreignKey = new MemoryForeignKey(attribute, { rows: this, parent, onDelete })
    this.#foreignKeys.push(foreignKey)
    parent.#referrers.push(foreignKey)
  }

  get referrers (): readonly MemoryForeignKey[] {
    return this.#referrers
  }

  list (query: Query): Iterable<readonly Row[]> {
    if (query.offset !== undefined) return this.#listFrom(query.offset, { ...query, offset: undefined })
    return query.order.length === 1 ? this.#listById(query) : this.#listInOrder(query)
  }

  /** Counts the rows, which is exact. It looks at all of them, unless all of them are asked for. */
  count ({ order, after, most = Infinity, ...query }: CountQuery): Count {
    const matches = compileMatcher(query)
    if (matches === matchEvery && after === undefined) {
      return { rows: Math.min(most, this.#rows.size), isEstimate: false }
    }
    let rows = 0
    for (const row of this.#rows.values()) {
      if (!matches(row)) continue
      if (after !== undefined && comparePositions(order, positionOf(row, order), after) <= 0) continue
      if (++rows >= most) break
    }
    return { rows, isEstimate: false }
  }

  get (id: Id, scope: Scope): Row | undefined {
    const row = this.#rows.get(id)
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
    checkScope(changes, guard.scope)
    const attributes = applyChanges(checked.row.attributes, freezeValues(omitScope(changes, guard.scope)))
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
    for (const sorted of this.#sorted.values()) sorted.remove(row)
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
    for (const sorted of this.#sorted.values()) sorted.add(row)
    for (const foreignKey of this.#foreignKeys) foreignKey.add(row)
    this.#rows.set(row.id, row)
    this.#largest = Math.max(this.#largest, sizeOf(row))
    return row
  }

  #compact (): void {
    const ids = this.#ids
    if (ids.length > 64 && ids.length > this.#rows.size * 2) this.#ids = ids.filter((id) => this.#rows.has(id))
  }

  /** Lists the rows after the first ones, which it reads too. */
  * #listFrom (offset: number, query: Query): Generator<readonly Row[]> {
    const skipped = [...this.list({ ...query, limit: offset })].flat()
    if (skipped.length < offset) return
    yield * this.list({ ...query, after: positionOf(skipped.at(-1) as Row, query.order) })
  }

  * #listById ({ order, after, limit = Infinity, ...query }: Query): Generator<readonly Row[]> {
    const descending = order[0]?.descending === true
    const matches = compileMatcher(query)
    // In an order by id alone, the position is the id.
    let last = after?.[0] as Id | undefined
    let left = limit
    // The map has the rows in the order of their ids. Looking each of them up takes a fifth of the time of a long list.
    const all = last === undefined && !descending ? this.#rows.values() : undefined
    while (left > 0) {
      const batch: Row[] = []
      const most = Math.min(BATCH, left)
      if (all !== undefined && !this.#hasLargeRows) {
        for (const row of all) if (matches(row) && batch.push(row) === most) break
        last = batch.at(-1)?.id
      } else {
        let size = 0
        // Each batch finds its start again, because `#compact` may have moved the ids.
        for (let index = this.#findStart(last, descending); batch.length < most; index += descending ? -1 : 1) {
          const id = this.#ids[index]
          if (id === undefined) break
          const row = this.#rows.get(id)
          if (row !== undefined && matches(row)) {
            size += this.#sizeIn(row)
            if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
            batch.push(row)
          }
          last = id
        }
      }
      if (batch.length === 0) return
      left -= batch.length
      yield batch
    }
  }

  /** Whether a batch can be too large. */
  get #hasLargeRows (): boolean {
    return this.#largest * BATCH > LARGEST_BATCH_SIZE
  }

  /** Returns the size of a row in a batch, or 0 if no batch can be too large. */
  #sizeIn (row: Row): number {
    return this.#hasLargeRows ? sizeOf(row) : 0
  }

  #findStart (last: Id | undefined, descending: boolean): number {
    const ids = this.#ids
    if (descending) return (last === undefined ? ids.length : findFirst(ids, (id) => id >= last)) - 1
    return last === undefined ? 0 : findFirst(ids, (id) => id > last)
  }

  /** Lists rows in an order by attributes. Each batch finds its start again, because rows may have moved. */
  * #listInOrder ({ order, after, limit: left = Infinity, ...query }: Query): Generator<readonly Row[]> {
    const matches = compileMatcher(query)
    while (left > 0) {
      const batch: Row[] = []
      let size = 0
      for (const row of this.#rowsAfter(after, order)) {
        if (!matches(row)) continue
        size += this.#sizeIn(row)
        if (size > LARGEST_BATCH_SIZE && batch.length > 0) break
        batch.push(row)
        if (batch.length === Math.min(BATCH, left)) break
      }
      const last = batch.at(-1)
      if (last === undefined) return
      after = positionOf(last, order)
      left -= batch.length
      yield batch
    }
  }

  /** Returns the rows after a position. The first list in an order sorts all rows, and each write keeps them sorted. */
  #rowsAfter (after: Position | undefined, order: Order): Iterable<Row> {
    const isReverse = order[0]?.descending === true
    const forwards = isReverse ? reverse(order) : order
    const key = JSON.stringify(forwards)
    const sorted = this.#sorted.get(key) ?? new SortedRows(forwards, this.#rows.values())
    this.#sorted.delete(key)
    this.#sorted.set(key, sorted)
    const [oldest] = this.#sorted.keys()
    if (this.#sorted.size > MOST_ORDERS) this.#sorted.delete(oldest as string)
    return isReverse ? sorted.backwards(after) : sorted.forwards(after)
  }
}

/** Makes the store of a table, whose ids are of the type `id`. */
export function makeStore (id: MemoryStore['id'], table: MemoryTable): MemoryStore<unknown> {
  return Object.freeze<MemoryStore<unknown>>({
    id,
    unique: table.unique,
    capabilities: Object.freeze({ order: true, offset: true, filter: true, search: true, count: true }),
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

/** The members of a table that foreign keys use. */
interface Rows {
  readonly name: string
  /** The foreign keys of other rows that refer to these. */
  readonly referrers: readonly MemoryForeignKey[]
  get (id: Id, scope: Scope): Row | undefined
  replace (previous: Row, attributes: Attributes): Row
  remove (row: Row): void
}

/** The rows of a foreign key, the rows that it refers to, and what a deletion of these does. */
interface ForeignKeyRows {
  readonly rows: Rows
  readonly parent: Rows
  readonly onDelete: OnDelete
}

/** A foreign key, with an index of the rows by the id to which they refer. */
class MemoryForeignKey {
  readonly attribute: string
  readonly rows: Rows
  readonly onDelete: OnDelete
  readonly #parent: Rows
  readonly #ids = new Map<unknown, Set<Id>>()

  constructor (attribute: string, { rows, parent, onDelete }: ForeignKeyRows) {
    this.attribute = attribute
    this.rows = rows
    this.onDelete = onDelete
    this.#parent = parent
  }

  /** Throws `InvalidError` if the attribute refers to no row. Null refers to none on purpose. */
  check (attributes: Attributes, scope: Scope): void {
    const id = ownMember(attributes, this.attribute)
    if (id == null || this.#parent.get(id as Id, {}) !== undefined) return
    // A client cannot change an attribute of the scope.
    throw Object.hasOwn(scope, this.attribute)
      ? new InvalidError({}, { detail: `it ${NO_SUCH_REFERENCE}` })
      : new InvalidError({ [this.attribute]: [NO_SUCH_REFERENCE] })
  }

  add ({ id, attributes }: Row): void {
    const parent = ownMember(attributes, this.attribute)
    if (parent == null) return
    const ids = this.#ids.get(parent)
    if (ids === undefined) this.#ids.set(parent, new Set([id]))
    else ids.add(id)
  }

  remove ({ id, attributes }: Row): void {
    const parent = ownMember(attributes, this.attribute)
    const ids = this.#ids.get(parent)
    ids?.delete(id)
    if (ids?.size === 0) this.#ids.delete(parent)
  }

  /** Returns the rows that refer to a row. */
  rowsOf (id: Id): readonly Row[] {
    return [...this.#ids.get(id) ?? []].map((id) => this.rows.get(id, {}) as Row)
  }
}

/**
 * Deletes or changes the rows that refer to a row which is to be deleted, and those that refer to them in turn. Nothing
 * is written if one of them restricts the deletion.
 * @throws ReferencedError
 */
function deleteReferrers (table: Rows, id: Id): void {
  const deleted = new Map<Rows, Map<Id, Row>>()
  const freed: Array<readonly [MemoryForeignKey, Row]> = []
  const left: Array<readonly [Rows, Id]> = [[table, id]]
  const isDeleted = (rows: Rows, row: Row): boolean =>
    (rows === table && row.id === id) || deleted.get(rows)?.has(row.id) === true
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [rows, parent] = next
    for (const foreignKey of rows.referrers) {
      for (const row of foreignKey.rowsOf(parent)) {
        if (isDeleted(foreignKey.rows, row)) continue
        if (foreignKey.onDelete === 'restrict') throw new ReferencedError(foreignKey.rows.name)
        if (foreignKey.onDelete === 'set null') freed.push([foreignKey, row])
        else {
          deleted.set(foreignKey.rows, (deleted.get(foreignKey.rows) ?? new Map<Id, Row>()).set(row.id, row))
          left.push([foreignKey.rows, row.id])
        }
      }
    }
  }
  for (const [rows, found] of deleted) for (const row of found.values()) rows.remove(row)
  for (const [{ rows, attribute }, { id }] of freed) {
    const row = rows.get(id, {})
    if (row !== undefined) rows.replace(row, Object.freeze(mergeMembers(row.attributes, { [attribute]: null })))
  }
}
