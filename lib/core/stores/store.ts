import type { FastifyRequest } from 'fastify'
import type { Id, Row, Scope } from '../resource/row.js'
import type { Attributes, AttributesSchema, Scalar } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { ScopeChangeError } from '../errors.js'
import { isEmpty, isObject } from '../util/own-property.js'
import type { UniqueGroups } from './unique.js'

/**
 * The type of texts that are compared as the numbers that they spell, exactly: `9` is less than `10`, and `1.10` equals
 * `1.1`. The plugin sets `'decimal'` for attributes with the format `decimal`, and `'integer'` for those with the
 * format `int64`, whose values are numbers, or texts beyond ±(2^53 − 1). A store with a column of numbers can ignore
 * it.
 */
export type ComparedType = 'decimal' | 'integer'

/** How a condition compares an attribute with its value. */
export type Operator = Condition['operator']

/**
 * A condition that a row must meet to be listed. Null stands for an absent value too, and meets only `not` and
 * `null: true`. Values are compared exactly: `'1'` does not equal 1.
 *
 * - `eq`: the value is this one. `not`: the value is another one, or null.
 * - `gt`, `gte`, `lt`, `lte`: the value is greater or less, in the order of `OrderBy`.
 * - `in`: the value is one of these.
 * - `null`: the value is null (`true`), or is not null (`false`).
 * - `contains`, `starts`: the text contains or begins with this one. Letters of both cases are the same by Unicode's
 *   simple case folding (`CaseFolding.txt`, status C and S), as a regular expression with the flags `iu` has it.
 */
export type Condition = {
  /** The name of an attribute, or `id`. */
  readonly attribute: string
  /** How values are compared, if not exactly and as `OrderBy` has it. Values of another kind are unequal. */
  readonly type?: ComparedType | undefined
} & (
  | { readonly operator: 'eq' | 'not' | 'gt' | 'gte' | 'lt' | 'lte', readonly value: NonNullable<Scalar> }
  | { readonly operator: 'in', readonly value: ReadonlyArray<NonNullable<Scalar>> }
  | { readonly operator: 'null', readonly value: boolean }
  | { readonly operator: 'contains' | 'starts', readonly value: string }
)

/** The conditions of a list, all of which a row must meet. */
export type Filter = readonly Condition[]

/** A search. At least one of the attributes must contain each word, as the operator `contains` has it. */
export interface Search {
  /** The words: 1 to 10 of them, none empty. */
  readonly words: readonly string[]
  /** The names of the attributes, all of which are texts. */
  readonly attributes: readonly string[]
}

/**
 * A criterion of an order: an attribute or the `id`. Numbers are ordered by size, strings by their code points, and
 * false comes before true. Dates are strings, which are kept as written. Null and missing values come first in
 * ascending order, and last in descending order.
 */
export interface OrderBy {
  /** The name of an attribute, or `id`. */
  readonly by: string
  /** Whether the greatest value comes first. */
  readonly descending: boolean
  /** How values are compared, if not by their own type. Texts of another kind come after all others, as texts. */
  readonly type?: ComparedType | undefined
}

/**
 * The criteria of an order. The last one, and no other, is the `id`, so that no two rows have the same position. It has
 * the direction of the one before it, unless a client names another.
 */
export type Order = readonly OrderBy[]

/** A position in an order: the row's value for each criterion, or null if it has none. */
export type Position = readonly Scalar[]

/** A query for a list. The plugin makes it from checked input, so a store never sees a client's text. */
export interface Query {
  /** The order of the rows: `id`, ascending, if the store does not declare `capabilities.order`. */
  readonly order: Order
  /** The position after which the list begins, or `undefined` for all rows. The row at the position may be deleted. */
  readonly after: Position | undefined
  /**
   * The number of rows that the list leaves out at its beginning, from 1 to 10,000. It is `undefined` or absent if
   * there is an `after`, or if the store does not declare `capabilities.offset`. @default undefined
   */
  readonly offset?: number | undefined
  /** The largest number of rows, or `undefined` for all. */
  readonly limit: number | undefined
  /** The values that each row must have. */
  readonly scope: Scope
  /** Conditions that each row must meet. It is empty if the store does not declare `capabilities.filter`. */
  readonly filter: Filter
  /** A search that each row must match; `undefined` if there is none, or without `capabilities.search`. */
  readonly search?: Search | undefined
}

/** A query for the number of the rows that a list would have. */
export interface CountQuery extends Omit<Query, 'limit' | 'offset'> {
  /** The number at which counting may end, or `undefined` for an exact total. */
  readonly most: number | undefined
  /** Whether an estimate is enough. */
  readonly estimate: boolean
}

/** The number of rows. */
export interface Count {
  /** How many rows there are, at most the number at which counting ended. */
  readonly rows: number
  /** Whether the number is an estimate. */
  readonly isEstimate: boolean
}

/** The conditions of a write. The store checks them in the atomic step of the write itself. */
export interface Guard {
  /** The version that the row must have, or `undefined` for any. */
  readonly version: string | undefined
  /** The values that the row must have. */
  readonly scope: Scope
}

/** The changes of an update: new values, and `undefined` for each attribute that the row loses. */
export type Changes<A = Attributes> = { readonly [Name in keyof A]?: A[Name] | undefined }

/** The outcome of a write: the row after it (for a deletion, the row before it), or why nothing was written. */
export type WriteOutcome<A = Attributes> =
  | { readonly ok: true, readonly row: Row<A> }
  | { readonly ok: false, readonly why: 'missing' }
  | { readonly ok: false, readonly why: 'stale', readonly current: Row<A> }

/** The context of a call to a store. */
export interface Context {
  /** The signal that aborts when the client has disconnected. */
  readonly signal: AbortSignal
  /** The request that the call serves. @default none */
  readonly request?: FastifyRequest
  /** The transaction that the call takes part in. @default none */
  readonly openTransaction?: Transaction | undefined
}

/** A transaction in one database, whose stores take each other's contexts. */
export interface Transaction {
  /**
   * Calls a function whose failure does not doom the transaction, and whose writes are undone then. A write in it whose
   * outcome is not ok returns that outcome. No other call of the transaction may run meanwhile.
   */
  attempt<T> (call: () => MaybePromise<T>): Promise<T>
  /** Whether something in it has failed, so that it will be rolled back. */
  readonly isDoomed: boolean
}

/** The context of the calls in a transaction. */
export interface TransactionContext extends Context {
  readonly openTransaction: Transaction
  /** Calls a function once the transaction is committed, such as one that sends a mail. A dry run never calls it. */
  afterCommit (call: () => unknown): void
}

/** A function that runs in a transaction. */
export type RunInTransaction<T> = (context: TransactionContext) => MaybePromise<T>

/** The options of a transaction. */
export interface TransactionOptions {
  /** Whether it is rolled back at its end, after everything that a COMMIT would check. @default false */
  readonly dryRun?: boolean
  /** Whether a write whose outcome is not ok returns that outcome, and the transaction goes on. @default false */
  readonly returnsRefused?: boolean
  /** How often it may begin if it conflicts with others; the function then runs again. @default 1 */
  readonly attempts?: number
  /** The isolation level, if it must be higher than that of the database. @default that of the database */
  readonly isolation?: 'repeatable read' | 'serializable'
  /** The longest time, in milliseconds. @default that of the database */
  readonly timeout?: number
  /** The ids of the rows of this store that it will change, which a database may lock in one order. @default none */
  readonly ids?: readonly Id[]
}

/** A request with an `Idempotency-Key` that was carried out. */
export interface KeptRequest {
  /** The digest of the request. */
  readonly digest: string
  /** What it has done: JSON text with the ids of rows, and without their values. */
  readonly result: string
}

/**
 * The requests with an `Idempotency-Key` that were carried out in a database. Its stores share them. A key is a digest
 * of 43 characters.
 */
export interface KeptRequests {
  /** Prepares the table. If it throws, the app does not start. @default nothing */
  prepare? (): MaybePromise<void>
  /** Returns a request that was carried out and has not expired, or `undefined` if there is none. */
  find (key: string, context: Context): MaybePromise<KeptRequest | undefined>
  /**
   * Notes a request in the transaction of the context, and deletes some expired ones. While another transaction has
   * noted the same key, it waits for the end of that one. Returns false if the key is kept already.
   * @param expires the time until which it is kept, in milliseconds since 1970
   * @throws KeyInUseError if the other transaction takes too long
   */
  add (key: string, request: { readonly digest: string, readonly expires: number }, context: Context):
  MaybePromise<boolean>
  /** Keeps the result of a request that was noted in the same transaction. */
  finish (key: string, result: string, context: Context): MaybePromise<void>
}

/** The optional abilities of a store. */
export interface Capabilities {
  /** Whether lists can be ordered by attributes of a simple type, not only by id. @default false */
  readonly order?: boolean
  /** Whether lists can be filtered: `true` by all operators, or by these and `eq`. @default false */
  readonly filter?: boolean | readonly Operator[]
  /** Whether lists can leave out rows at their beginning. @default false */
  readonly offset?: boolean
  /** Whether lists can be searched: `true`, or by default in these attributes. @default false */
  readonly search?: boolean | readonly string[]
  /** Whether the store has the method `count`. @default false */
  readonly count?: boolean
  /** Whether rows can be created. Without it, a resource has no such action. @default true */
  readonly create?: boolean
  /** Whether rows can be updated. @default true */
  readonly update?: boolean
  /** Whether rows can be deleted. @default true */
  readonly delete?: boolean
}

/**
 * The rows of a list in batches. Batches of some hundred rows make long lists cheap; more than 5,000 rows are too many.
 * Besides its largest row, a batch holds at most 4 MiB, because it stays in memory until the client reads on.
 */
export type Batches<A = Attributes> = Iterable<ReadonlyArray<Row<A>>> | AsyncIterable<ReadonlyArray<Row<A>>>

/**
 * A store for the rows of a resource. Each of its methods may return its result directly or asynchronously.
 *
 * - A write checks its guard in its own atomic step, not by a read before it.
 * - For reads and writes, a row outside the scope does not exist.
 * - A store never gives an id to a second row, even after the first one was deleted.
 * - A store copies the objects that it receives and returns, unless they are frozen.
 * - A list contains a row exactly once if the row exists and keeps its position from the beginning to the end of the
 *   list. An open list blocks no writer.
 * - No two rows have the same values of a unique group of attributes, unless one of the values is null or absent.
 * - A write that returns has happened, and a write that throws has not. If the store does not know, it throws an
 *   `UnknownOutcomeError`.
 */
export interface Store<A = Attributes> {
  /** The type of the ids that the store makes. It must be that of the resource; `undefined` is not checked. */
  readonly id?: 'integer' | 'uuid' | 'string' | undefined
  /** The attributes that the store can keep, or `undefined` for any. A resource without attributes takes them over. */
  readonly attributes?: AttributesSchema | undefined
  /**
   * The attributes whose values form the id, which no update changes. Other rows reference a single one by its value.
   * @default none
   */
  readonly key?: readonly string[] | undefined
  /**
   * `'values'` if the version of a row is a digest of its values. The plugin then shows a digest of those values that
   * clients may read. @default a version tells nothing about the values
   */
  readonly versions?: 'values' | undefined
  /**
   * The attributes, or groups of attributes, whose values are unique. With `scope`, the plugin warns of those whose 409
   * tells what rows beyond the scope have. @default unknown
   */
  readonly unique?: UniqueGroups | undefined
  /**
   * What deleting a row does to the rows that refer to it, by their attribute. Pages say what a deletion deletes, too,
   * and which rows refuse it. @default unknown
   */
  readonly onDelete?: Readonly<Record<string, OnDelete>> | undefined
  /** The optional abilities of the store. @default none */
  readonly capabilities?: Capabilities | undefined
  /**
   * Finds out what `id`, `attributes`, `key` and `capabilities` are. The plugin calls it before it reads the options of
   * the resources. It changes nothing.
   */
  describe? (): MaybePromise<void>
  /**
   * Prepares the store when a resource with it is registered. If it throws, the app does not start. If the table
   * refers to one that is opened later, it is called once more when that one is prepared.
   * @returns what the log of the app should warn of, as sentences
   */
  prepare? (): MaybePromise<readonly string[] | void>
  /**
   * Closes what the store has opened itself, such as a file. When an app closes, the plugin calls it once for each call
   * of `describe` and of `prepare`.
   */
  close? (): MaybePromise<void>
  /**
   * Lists rows in the order of the query, in batches that the plugin requests one by one. The iterator's `return` frees
   * the memory and the connection of the list.
   */
  list (query: Query, context: Context): Batches<A>
  /** Counts the rows of a list without a limit. */
  count? (query: CountQuery, context: Context): MaybePromise<Count>
  /** Returns the row, or `undefined` if it does not exist. */
  get (id: Id, scope: Scope, context: Context): MaybePromise<Row<A> | undefined>
  /**
   * Creates a row with a new id, the attributes, and the values of the scope, which take precedence.
   * @throws DuplicateError if a unique value exists already, InvalidError if the store cannot keep a value
   */
  create (attributes: A, scope: Scope, context: Context): MaybePromise<Row<A>>
  /**
   * Creates several rows, each as `create` does, and returns them in the same order. It is called in transactions
   * alone. If it throws, the plugin begins another transaction and creates the rows one by one, to find each fault.
   * @default the plugin calls `create` for each row
   */
  createMany? (rows: readonly A[], scope: Scope, context: Context): MaybePromise<ReadonlyArray<Row<A>>>
  /**
   * Changes the version and only the named attributes. Those of the scope stay as they are: the plugin names none, and
   * a store may refuse one that a handler of the app gives another value. Removes the attributes that are
   * `undefined` in the changes: they are then absent, or null if their schema allows null.
   * @throws DuplicateError or InvalidError, as `create` does
   */
  update (id: Id, changes: Changes<A>, guard: Guard, context: Context): MaybePromise<WriteOutcome<A>>
  /** Deletes the row, and returns it as it was before. */
  delete (id: Id, guard: Guard, context: Context): MaybePromise<WriteOutcome<A>>
  /**
   * Runs a function in a transaction: all writes with its context happen, or none. `Transactions` does the following.
   *
   * - A call in it that throws, or a write whose outcome is not ok, dooms the transaction, even if the function catches
   *   the error: it is rolled back.
   * - In a transaction of the same database, the function joins that transaction.
   * - A call inside the function without its context is an error, because it would wait for the transaction.
   * - It is rolled back if the client leaves, or after a limit of time.
   * @throws what the function throws, UnavailableError if it conflicts with others, UnknownOutcomeError
   */
  transaction? <T>(run: RunInTransaction<T>, context: Context, options?: TransactionOptions): Promise<T>
  /** The requests that are kept for the option `idempotency`. @default a resource cannot have the option */
  readonly requests?: KeptRequests | undefined
  /**
   * Returns a promise while a transaction keeps other writes waiting, which resolves when it is over. The plugin waits
   * for it before a write. Other writes then throw `UnavailableError`. @default writes wait in the store itself
   */
  idle? (): Promise<void> | undefined
}

/** A store whose five methods return their results synchronously. */
export interface SyncStore<A = Attributes> extends Store<A> {
  describe? (): void
  prepare? (): readonly string[] | void
  close? (): void
  list (query: Query, context: Context): Iterable<ReadonlyArray<Row<A>>>
  count? (query: CountQuery, context?: Context): Count
  get (id: Id, scope: Scope, context?: Context): Row<A> | undefined
  create (attributes: A, scope: Scope, context?: Context): Row<A>
  update (id: Id, changes: Changes<A>, guard: Guard, context?: Context): WriteOutcome<A>
  delete (id: Id, guard: Guard, context?: Context): WriteOutcome<A>
}

/**
 * What deleting a row does to the rows that refer to it: `'restrict'` refuses the deletion, `'cascade'` deletes them,
 * too, and `'set null'` sets their foreign key to null.
 */
export type OnDelete = 'restrict' | 'cascade' | 'set null'

/** A foreign key: the attribute holds ids of rows of a table, or the values of its key of one attribute. */
export interface Reference {
  /** The name of the table. */
  readonly table: string
  /** What happens when the row that it refers to is deleted. @default 'restrict' */
  readonly onDelete?: OnDelete
  /**
   * Whether a table that exists may lack the foreign key. The store then adds it only if no row has a value there, and
   * `prepare` warns else. The other table may be opened later. @default false
   */
  readonly optional?: boolean
}

/** Returns what deletions do to rows with these foreign keys, by attribute. */
export function rulesOf (references: Readonly<Record<string, Reference>>): Readonly<Record<string, OnDelete>> {
  return Object.fromEntries(Object.entries(references).map(([attribute, { onDelete = 'restrict' }]) =>
    [attribute, onDelete]))
}

/** The table that one or more resources need. */
export interface TableRequest {
  /** The name of the table: the name of the resources. */
  readonly table: string
  /** The schema of all attributes, including foreign keys. `undefined` stands for any attributes. */
  readonly attributes: AttributesSchema | undefined
  /** The type of the ids. */
  readonly id: 'integer' | 'uuid'
  /** Attributes, or groups of attributes, whose values are unique. */
  readonly unique: UniqueGroups
  /**
   * The attribute with the time of a soft deletion. Only rows in which it is null have unique values.
   * @default all rows have them
   */
  readonly softDelete?: string | undefined
  /** The foreign keys, by attribute. Each table that they name is opened before, or is this one. */
  readonly references: Readonly<Record<string, Reference>>
}

/** The tables of one database, which are the stores of several resources. */
export interface Stores {
  /**
   * Returns the store of a table. The plugin calls it once per table of a map, when the map is registered.
   * @throws InvalidOptionError if the database cannot have such a table
   */
  open (request: TableRequest): Store
}

/** The store of a resource whose actions are all custom. It has no rows and accepts none. */
export const noStore: Store = Object.freeze({
  list: () => [],
  get: () => undefined,
  create: refuse,
  update: () => ({ ok: false as const, why: 'missing' as const }),
  delete: () => ({ ok: false as const, why: 'missing' as const })
})

function refuse (): never {
  throw new TypeError('this resource has no store: give it one by the option "store"')
}

/** Writes once no transaction keeps the write waiting. Between the wait and the write, none can begin. */
export async function writeWhenIdle<T> (
  store: Store,
  { openTransaction }: Context,
  write: () => MaybePromise<T>
): Promise<T> {
  if (openTransaction === undefined) {
    for (let open = store.idle?.(); open !== undefined; open = store.idle?.()) await open
  }
  return write()
}

/** Returns the changes without the attributes of the scope, which no write changes. */
export function omitScope (changes: Attributes, scope: Scope): Attributes {
  if (isEmpty(scope)) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !Object.hasOwn(scope, name)))
}

/**
 * Checks that changes leave the scope as it is. A client's values for it are left out before, so that only a handler of
 * the app can have them: it would never learn that its change was ignored.
 * @throws ScopeChangeError
 */
export function checkScope (changes: Attributes, scope: Scope): void {
  for (const name in scope) {
    if (Object.hasOwn(changes, name) && (changes[name] ?? null) !== scope[name]) throw new ScopeChangeError(name)
  }
}

/**
 * The largest size of a batch without its largest row, in characters as `sizeOf` counts them. A character takes up to 2
 * bytes.
 */
export const LARGEST_BATCH_SIZE = 1_048_576

/** The memory of a row besides its values, in characters. */
const ROW_OVERHEAD = 64
/** The memory of a value besides its text, in characters. */
const VALUE_OVERHEAD = 16

/** Estimates the memory of a row, in characters. */
export function sizeOf ({ attributes }: Row): number {
  let size = ROW_OVERHEAD
  for (const name in attributes) size += sizeOfValue(attributes[name])
  return size
}

function sizeOfValue (value: unknown): number {
  if (typeof value === 'string') return VALUE_OVERHEAD + value.length
  if (Array.isArray(value)) return value.reduce<number>((size, part) => size + sizeOfValue(part), ROW_OVERHEAD)
  if (!isObject(value)) return VALUE_OVERHEAD
  let size = ROW_OVERHEAD
  // The names of members count too, because each parsed object may have different ones.
  for (const name in value) size += name.length + sizeOfValue(value[name])
  return size
}

export function areLarger (rows: readonly Row[], most: number): boolean {
  let size = 0
  for (const row of rows) {
    size += sizeOf(row)
    if (size > most) return true
  }
  return false
}
