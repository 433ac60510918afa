import { InvalidError, InvalidOptionError, NO_SUCH_REFERENCE, ReferencedError, UnavailableError } from '../errors.js'
import { say } from '../messages.js'
import { type Id, makeUuid, type Row, type Scope } from '../resource/row.js'
import { isDecimalShape } from '../schema/convert-text.js'
import { shapeOf } from '../schema/shape.js'
import type { Attributes, AttributesSchema } from '../schema/types.js'
import { checkOneOf, checkOptionNames } from '../util/check-option.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { freezeValues, mergeMembers, ownMember } from '../util/own-property.js'
import { comparePositions, compileMatcher, matchEvery, positionOf } from './order.js'
import {
  checkScope, type Context, type Count, type CountQuery, type Guard, type KeptRequest, type KeptRequests,
  LARGEST_BATCH_SIZE, omitScope, type OnDelete, type Position, type Query, rulesOf, type RunInTransaction,
  sizeOf, type Stores, type SyncStore, type TableRequest, type TransactionOptions, type WriteOutcome
} from './store.js'
import { type Session, Transactions } from './transaction.js'
import { checkSoftDelete, checkUnique, type UniqueGroups, UniqueIndex } from './unique.js'

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
  /** Writes outside of it throw `UnavailableError` until it is over. */
  transaction<T> (run: RunInTransaction<T>, context: Context, options?: TransactionOptions): Promise<T>
  idle (): Promise<void> | undefined
  readonly requests: KeptRequests
}

/** The options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The type of ids: `'integer'` (counted from 1) or `'uuid'` (UUID v7, RFC 9562 §5.7). @default 'integer' */
  readonly id?: 'integer' | 'uuid'
  /**
   * Attributes, or groups of attributes (`['tenant', 'title']`), whose values are unique. A row in which one of them is
   * null or absent never conflicts. @default []
   */
  readonly unique?: UniqueGroups
  /**
   * The attribute with the time of a soft deletion. Only rows in which it is null have unique values.
   * @default all rows have them
   */
  readonly softDelete?: string | undefined
}

/**
 * Makes a store in memory for up to 100,000 rows, which are lost when the process ends. A page of a list reads all rows
 * if it has another order than that of the ids. An open list holds one batch of bounded size, and includes later writes
 * to rows that it has not reached. A write replaces a frozen row and never changes it, so readers of a list need no
 * copy. The rows have the type that the variable declares: `const posts: Store<Post> = memoryStore()`.
 * @throws InvalidOptionError or UnknownOptionError if an option is wrong
 */
export function memoryStore<A = Attributes> (options: MemoryStoreOptions = {}): MemoryStore<A> {
  checkOptionNames(options, ['id', 'unique', 'softDelete'], 'memoryStore')
  const { id = 'integer', unique = [], softDelete } = options
  checkOneOf('id', id, ['integer', 'uuid'])
  checkUnique(unique)
  checkSoftDelete(softDelete)
  // The rows hold the attributes that the caller gives, so they have the type that the caller declares.
  return makeStore(new MemoryTable({ id, unique, softDelete }), new MemoryDatabase()) as MemoryStore<A>
}

/**
 * Makes the stores of several resources in memory. A row can refer only to a row that exists. The option `onDelete` of
 * a resource says what deleting that row does.
 */
export function memoryStores (): Stores {
  const database = new MemoryDatabase()
  const opened = new Map<string, { readonly key: string, readonly table: MemoryTable, readonly store: MemoryStore }>()
  /** The foreign keys to tables that are not open yet, by the names of these. */
  const waiting = new Map<string, Array<(target: MemoryTable) => void>>()
  return Object.freeze<Stores>({
    open ({ table: name, attributes, id, unique, softDelete, references }: TableRequest) {
      const key = JSON.stringify({ id, unique, softDelete, references })
      const known = opened.get(name)
      if (known?.key === key) return known.store
      if (known !== undefined) {
        const what = 'whose type of ids, "unique", "softDelete" and "onDelete" differ'
        throw new InvalidOptionError('stores', `has the table "${name}" already, of another registration ${what}`)
      }
      const table = new MemoryTable({ id, unique, softDelete, name, decimals: decimalsOf(attributes) })
      const store = makeStore(table, database, rulesOf(references)) as MemoryStore
      opened.set(name, { key, table, store })
      for (const [attribute, { table: parent, onDelete = 'restrict', optional }] of Object.entries(references)) {
        const refer = (target: MemoryTable): void => {
          table.refer(new MemoryReference(attribute, table, target, onDelete))
        }
        const target = opened.get(parent)
        if (target !== undefined) refer(target.table)
        else if (optional === true) waiting.set(parent, [...waiting.get(parent) ?? [], refer])
        else throw new InvalidOptionError('stores', `must open the table "${parent}" first`)
      }
      for (const refer of waiting.get(name) ?? []) refer(table)
      waiting.delete(name)
      return store
    }
  })
}

/** Returns the names of the attributes that are decimals. */
function decimalsOf (attributes: AttributesSchema | undefined): ReadonlySet<string> {
  if (attributes === undefined) return new Set()
  return new Set([...shapeOf({ ...attributes }).properties].flatMap(([name, { shape }]) =>
    isDecimalShape(shape) ? [name] : []))
}

function makeStore (
  table: MemoryTable,
  database: MemoryDatabase,
  onDelete?: MemoryStore['onDelete']
): MemoryStore<unknown> {
  database.add(table)
  return Object.freeze<MemoryStore<unknown>>({
    id: table.id,
    unique: table.unique,
    onDelete,
    capabilities: Object.freeze({ order: true, offset: true, filter: true, search: true, count: true }),
    list: (query, context) => database.read(table, context).list(query),
    count: (query, context) => database.read(table, context).count(query),
    get: (id, scope, context) => database.read(table, context).get(id, scope),
    create: (attributes: Attributes, scope, context) =>
      database.write(table, context, (rows) => rows.create(attributes, scope)),
    update: (id, changes, guard, context) => database.write(table, context, (rows) => rows.update(id, changes, guard)),
    delete: (id, guard, context) => database.write(table, context, (rows) => rows.delete(id, guard)),
    transaction: (run, context, options) => database.transactions.run(run, context, options),
    idle: () => database.idle,
    requests: database.requests
  })
}

/** The tables of stores that share their transactions. Only one transaction is open at a time. */
class MemoryDatabase {
  readonly transactions: Transactions<MemorySession> = new Transactions<MemorySession>({ begin: () => this.#begin() })
  readonly requests: KeptRequests = new MemoryRequests(this.transactions)
  readonly #tables: MemoryTable[] = []
  #session: MemorySession | undefined

  add (table: MemoryTable): void {
    this.#tables.push(table)
  }

  /** A promise that resolves when the open transaction is over; `undefined` if none is open. */
  get idle (): Promise<void> | undefined {
    return this.#session?.over
  }

  /** Returns the rows of a table as a call sees them: those of its transaction, or those that are committed. */
  read (table: MemoryTable, context: Context | undefined): MemoryTable {
    return this.transactions.sessionOf(context)?.copyOf(table) ?? table
  }

  /** @throws UnavailableError if a transaction is open that the call does not take part in */
  write<R> (table: MemoryTable, context: Context | undefined, perform: (rows: MemoryTable) => R): R {
    return this.transactions.call(context, (session) => {
      if (session === undefined && this.#session !== undefined) throw new UnavailableError()
      return perform(session?.copyOf(table) ?? table)
    })
  }

  async #begin (): Promise<MemorySession> {
    while (this.#session !== undefined) await this.#session.over
    return (this.#session = new MemorySession(this.#tables, () => { this.#session = undefined }))
  }
}

/**
 * A transaction in memory. It works on copies of the tables, which are made when it reads the first of them. A commit
 * repeats its writes on the tables themselves, whose open lists go on.
 */
class MemorySession implements Session {
  readonly over: Promise<void>
  readonly #tables: readonly MemoryTable[]
  readonly #journal: Journal = []
  #copies: ReadonlyMap<MemoryTable, MemoryTable> | undefined
  #end: () => void = () => {}

  /** @param leave is called at the end, before those that wait go on */
  constructor (tables: readonly MemoryTable[], leave: () => void) {
    this.#tables = tables
    this.over = new Promise((resolve) => {
      this.#end = () => {
        leave()
        resolve()
      }
    })
  }

  copyOf (table: MemoryTable): MemoryTable {
    this.#copies ??= copyTables(this.#tables, this.#journal)
    return this.#copies.get(table) as MemoryTable
  }

  /** Calls a function at the commit. */
  note (repeat: () => void): void {
    this.#journal.push({ repeat, undo: () => {} })
  }

  commit (): void {
    for (const { repeat } of this.#journal) repeat()
    this.#end()
  }

  async savepoint<T> (call: () => MaybePromise<T>): Promise<T> {
    const { length } = this.#journal
    try {
      return await call()
    } catch (error) {
      for (const { undo } of this.#journal.splice(length).reverse()) undo()
      throw error
    }
  }

  rollback (): void {
    this.#end()
  }
}

interface MemoryRequest extends KeptRequest {
  readonly expires: number
}

type AddedRequest = Pick<MemoryRequest, 'digest' | 'expires'>

/** The most expired requests that a new one deletes. */
const MOST_EXPIRED = 10

/** The requests that are kept in memory, the oldest first. */
class MemoryRequests implements KeptRequests {
  readonly #transactions: Transactions<MemorySession>
  readonly #kept = new Map<string, MemoryRequest>()
  /** The request of the open transaction, of which there is only one at a time. */
  #added: AddedRequest = { digest: '', expires: 0 }

  constructor (transactions: Transactions<MemorySession>) {
    this.#transactions = transactions
  }

  find (key: string): KeptRequest | undefined {
    const kept = this.#kept.get(key)
    return kept !== undefined && kept.expires > Date.now() ? kept : undefined
  }

  add (key: string, request: AddedRequest): boolean {
    this.#added = request
    return this.find(key) === undefined
  }

  finish (key: string, result: string, context: Context): void {
    const request = { ...this.#added, result }
    this.#transactions.sessionOf(context)?.note(() => {
      let looked = 0
      for (const [old, { expires }] of this.#kept) {
        if (looked++ === MOST_EXPIRED) break
        if (expires <= Date.now()) this.#kept.delete(old)
      }
      this.#kept.set(key, request)
    })
  }
}

/** The writes of a transaction. */
type Journal = NotedWrite[]

interface NotedWrite {
  /** Repeats the write on the table itself. */
  repeat (): void
  /** Undoes the write in the copy. */
  undo (): void
}

/** Copies tables, their rows and their foreign keys. The writes to the copies are noted in the journal. */
function copyTables (tables: readonly MemoryTable[], journal: Journal): ReadonlyMap<MemoryTable, MemoryTable> {
  const copies = new Map(tables.map((table) => [table, table.makeCopy()]))
  for (const { attribute, rows, parent, onDelete } of tables.flatMap(({ referrers }) => referrers)) {
    const [copy, target] = [copies.get(rows), copies.get(parent)] as [MemoryTable, MemoryTable]
    copy.refer(new MemoryReference(attribute, copy, target, onDelete))
  }
  for (const [table, copy] of copies) copy.fill(table, journal)
  return copies
}

/** The most rows of a batch. */
const BATCH = 512

/** The most rows that a list finds at once in another order than that of the ids. */
const MOST_FOUND = 8_192

interface MemoryTableOptions {
  readonly id: 'integer' | 'uuid'
  readonly unique: UniqueGroups
  readonly softDelete: string | undefined
  /** The name in errors about rows that refer to others. */
  readonly name?: string
  /** The attributes whose unique values are compared as numbers. */
  readonly decimals?: ReadonlySet<string>
}

/** The rows of a store in memory. */
class MemoryTable {
  readonly id: 'integer' | 'uuid'
  readonly unique: UniqueGroups
  readonly #softDelete: string | undefined
  readonly name: string
  readonly #decimals: ReadonlySet<string>
  /** The foreign keys of other rows that refer to these. */
  readonly referrers: MemoryReference[] = []
  readonly #foreignKeys: MemoryReference[] = []
  /** The index of unique values, or `undefined` if no values are unique. */
  readonly #unique: UniqueIndex | undefined
  /** The rows in the order of their ids, which is that of their creation. */
  readonly #rows = new Map<Id, Row>()
  /** The table whose copy this one is, or this one itself. It counts the ids, of which none is used twice. */
  readonly #original: MemoryTable
  #journal: Journal | undefined
  #lastId = 0
  /** The number of writes. */
  #writes = 0

  constructor (
    { id, unique, softDelete, name = '', decimals = new Set() }: MemoryTableOptions, original?: MemoryTable
  ) {
    this.id = id
    this.unique = unique
    this.#softDelete = softDelete
    this.name = name
    this.#decimals = decimals
    this.#original = original ?? this
    this.#unique = unique.length === 0 ? undefined : new UniqueIndex(unique, decimals, softDelete)
  }

  /** Adds a foreign key of the rows, of which there are none yet. */
  refer (foreignKey: MemoryReference): void {
    this.#foreignKeys.push(foreignKey)
    foreignKey.parent.referrers.push(foreignKey)
  }

  list ({ offset = 0, limit = Infinity, ...query }: Query): Iterable<readonly Row[]> {
    const isById = query.order.length === 1 && query.order[0]?.descending === false
    return isById ? this.#listById(query, offset, limit) : this.#listInOrder(query, offset, limit)
  }

  /** Counts the rows, which is exact. It looks at all of them, unless all of them are asked for. */
  count ({ most = Infinity, ...query }: CountQuery): Count {
    const isListed = compileListed(query)
    if (isListed === matchEvery) return { rows: Math.min(most, this.#rows.size), isEstimate: false }
    let rows = 0
    for (const row of this.#rows.values()) if (isListed(row) && ++rows >= most) break
    return { rows, isEstimate: false }
  }

  get (id: Id, scope: Scope): Row | undefined {
    const row = this.#rows.get(id)
    return row !== undefined && hasValues(row, scope) ? row : undefined
  }

  create (given: Attributes, scope: Scope): Row {
    const attributes = Object.freeze(mergeMembers(freezeValues(given), freezeValues(scope)))
    this.#checkKeys(undefined, attributes, scope)
    return this.#save({ id: this.id === 'uuid' ? makeUuid() : ++this.#original.#lastId, version: '1', attributes })
  }

  update (id: Id, changes: Attributes, guard: Guard): WriteOutcome {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    checkScope(changes, guard.scope)
    const attributes = applyChanges(checked.row.attributes, freezeValues(omitScope(changes, guard.scope)))
    this.#checkKeys(id, attributes, guard.scope)
    return { ok: true, row: this.replace(checked.row, attributes) }
  }

  delete (id: Id, guard: Guard): WriteOutcome {
    const checked = this.#check(id, guard)
    if (!checked.ok) return checked
    deleteWithReferrers(checked.row, this)
    return checked
  }

  /** Replaces a row by its next version. The caller has checked the attributes, which are frozen. */
  replace (previous: Row, attributes: Attributes): Row {
    this.#unindex(previous)
    return this.#save({ id: previous.id, version: String(Number(previous.version) + 1), attributes }, previous)
  }

  /** Removes a row to which no other row refers. */
  remove (row: Row): void {
    this.#drop(row)
    this.#journal?.push({ repeat: () => { this.#original.remove(row) }, undo: () => { this.#putBack(row) } })
  }

  #drop (row: Row): void {
    this.#rows.delete(row.id)
    this.#writes++
    this.#unindex(row)
  }

  /** Puts a row back to its place among the others, which is that of its id. */
  #putBack (row: Row): void {
    const later = [...this.#rows.values()].filter(({ id }) => id > row.id)
    for (const { id } of later) this.#rows.delete(id)
    this.#add(row)
    for (const other of later) this.#rows.set(other.id, other)
  }

  /** Makes a table like this one, without its rows and its foreign keys. */
  makeCopy (): MemoryTable {
    const { id, unique, name } = this
    return new MemoryTable({ id, unique, softDelete: this.#softDelete, name, decimals: this.#decimals }, this)
  }

  /** Takes over the rows of a table, and notes later writes in a journal. */
  fill (table: MemoryTable, journal: Journal): void {
    for (const row of table.#rows.values()) this.#save(row)
    this.#journal = journal
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

  /** Throws if a value is taken, or if the attributes refer to no row. */
  #checkKeys (id: Id | undefined, attributes: Attributes, scope: Scope): void {
    this.#unique?.check(id, attributes, scope)
    for (const foreignKey of this.#foreignKeys) foreignKey.check(attributes, scope)
  }

  /** @param previous the row that this one replaces, or `undefined` if it is new */
  #save (row: Row, previous?: Row): Row {
    this.#add(Object.freeze(row))
    this.#journal?.push({
      repeat: () => { this.#original.#repeat(row) },
      undo: () => {
        if (previous === undefined) return this.#drop(row)
        this.#unindex(row)
        this.#add(previous)
      }
    })
    return row
  }

  #add (row: Row): void {
    this.#unique?.add(row)
    for (const foreignKey of this.#foreignKeys) foreignKey.add(row)
    this.#rows.set(row.id, row)
    this.#writes++
  }

  /** Saves a row of a copy. */
  #repeat (row: Row): void {
    const previous = this.#rows.get(row.id)
    if (previous !== undefined) this.#unindex(previous)
    this.#save(row)
  }

  /** Lists rows in the order of their ids. The iterator of the map goes on correctly while rows change. */
  * #listById (query: Matched, offset: number, limit: number): Generator<readonly Row[]> {
    const isListed = compileListed(query)
    let batch: Row[] = []
    let size = 0
    let index = 0
    for (const row of limit > 0 ? this.#rows.values() : []) {
      if (!isListed(row) || index++ < offset) continue
      batch.push(row)
      size += sizeOf(row)
      const isLast = index >= offset + limit
      if (batch.length < BATCH && size <= LARGEST_BATCH_SIZE && !isLast) continue
      yield batch
      if (isLast) return
      batch = []
      size = 0
    }
    if (batch.length > 0) yield batch
  }

  /**
   * Lists rows in another order. After a write, the next batch finds its start again, because rows may have moved.
   * Between batches the list holds ids, so that a slow reader keeps no replaced rows in memory.
   */
  * #listInOrder ({ after, ...query }: Matched, offset: number, limit: number): Generator<readonly Row[]> {
    let ids: Id[] = []
    let writes = this.#writes
    for (let left = limit; left > 0;) {
      if (ids.length === 0 || writes !== this.#writes) {
        ids = this.#findFirst({ ...query, after }, offset + Math.min(MOST_FOUND, left)).slice(offset)
        writes = this.#writes
        offset = 0
      }
      const batch = this.#firstBatch(ids)
      const last = batch.at(-1)
      if (last === undefined) return
      after = positionOf(last, query.order)
      left -= batch.length
      ids = ids.slice(batch.length)
      yield batch
    }
  }

  #firstBatch (ids: readonly Id[]): Row[] {
    const rows = ids.slice(0, BATCH).map((id) => this.#rows.get(id) as Row)
    let size = 0
    const full = rows.findIndex((row) => (size += sizeOf(row)) > LARGEST_BATCH_SIZE)
    return full < 0 ? rows : rows.slice(0, full + 1)
  }

  /** Returns the first ids of a list. It looks at all rows, and sorts only those that may be among the first. */
  #findFirst (query: Matched, most: number): Id[] {
    const { order } = query
    const isListed = compileListed(query)
    const compare = (a: Placed, b: Placed): number => comparePositions(order, a.position, b.position)
    let first: Placed[] = []
    let last: Placed | undefined
    for (const row of this.#rows.values()) {
      if (!isListed(row)) continue
      const placed = { id: row.id, position: positionOf(row, order) }
      if (last !== undefined && compare(placed, last) > 0) continue
      if (first.push(placed) < most * 2) continue
      first = first.sort(compare).slice(0, most)
      last = first.at(-1)
    }
    return first.sort(compare).slice(0, most).map(({ id }) => id)
  }
}

/** A query without what bounds the number of its rows. */
type Matched = Omit<Query, 'offset' | 'limit'>

interface Placed {
  readonly id: Id
  readonly position: Position
}

/** Compiles a function that returns whether a row is in a list: it matches the query, and is after its position. */
function compileListed ({ order, after, ...query }: Matched): (row: Row) => boolean {
  const matches = compileMatcher(query)
  if (after === undefined) return matches
  return (row: Row): boolean => matches(row) && comparePositions(order, positionOf(row, order), after) > 0
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

/** A foreign key, with an index of the rows by the id to which they refer. */
class MemoryReference {
  readonly attribute: string
  readonly rows: MemoryTable
  readonly parent: MemoryTable
  readonly onDelete: OnDelete
  readonly #ids = new Map<unknown, Set<Id>>()

  constructor (attribute: string, rows: MemoryTable, parent: MemoryTable, onDelete: OnDelete) {
    this.attribute = attribute
    this.rows = rows
    this.parent = parent
    this.onDelete = onDelete
  }

  /** Throws `InvalidError` if the attribute refers to no row. Null refers to none on purpose. */
  check (attributes: Attributes, scope: Scope): void {
    const id = ownMember(attributes, this.attribute)
    if (id == null || this.parent.get(id as Id, {}) !== undefined) return
    // A client cannot change an attribute of the scope.
    throw Object.hasOwn(scope, this.attribute)
      ? new InvalidError({}, { detail: say('referenceBroken') })
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
 * Deletes a row, and deletes or changes the rows that refer to it, and those that refer to them in turn. Nothing is
 * written if one of them restricts the deletion.
 * @throws ReferencedError
 */
function deleteWithReferrers (row: Row, table: MemoryTable): void {
  const deleted = new Map([[row, table]])
  const freed: Array<readonly [MemoryReference, Id]> = []
  // The loop also reaches the rows that it adds.
  for (const [{ id }, { referrers }] of deleted) {
    for (const foreignKey of referrers) {
      for (const referrer of foreignKey.rowsOf(id)) {
        if (deleted.has(referrer)) continue
        if (foreignKey.onDelete === 'restrict') throw new ReferencedError(foreignKey.rows.name)
        if (foreignKey.onDelete === 'cascade') deleted.set(referrer, foreignKey.rows)
        else freed.push([foreignKey, referrer.id])
      }
    }
  }
  for (const [row, rows] of deleted) rows.remove(row)
  for (const [{ rows, attribute }, id] of freed) {
    const row = rows.get(id, {})
    if (row !== undefined) rows.replace(row, Object.freeze(mergeMembers(row.attributes, { [attribute]: null })))
  }
}
