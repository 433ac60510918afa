import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes, AttributesSchema, Scalar } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** Attribute values that a row must have to be listed. Null also matches a missing attribute. */
export type Filter = Readonly<Record<string, Scalar>>

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
}

/** The criteria of an order. The last one, and no other, is the `id`, so that no two rows have the same position. */
export type Order = readonly OrderBy[]

/** A position in an order: the row's value for each criterion, or null if it has none. */
export type Position = readonly Scalar[]

/** A query for a list. The plugin makes it from checked input, so a store never sees a client's text. */
export interface Query {
  /** The order of the rows: `id`, ascending, if the store does not declare `capabilities.order`. */
  readonly order: Order
  /** The position after which the list begins, or `undefined` for all rows. The row at the position may be deleted. */
  readonly after: Position | undefined
  /** The largest number of rows, or `undefined` for all. */
  readonly limit: number | undefined
  /** The values that each row must have. */
  readonly scope: Scope
  /** Further values that each row must have. It is empty if the store does not declare `capabilities.filter`. */
  readonly filter: Filter
}

/** The conditions of a write. The store checks them in the atomic step of the write itself. */
export interface Guard {
  /** The version that the row must have, or `undefined` for any. */
  readonly version: string | undefined
  /** The values that the row must have. */
  readonly scope: Scope
}

/** The outcome of a write: the row after it (for a deletion, the row before it), or why nothing was written. */
export type WriteOutcome<A = Attributes> =
  | { readonly ok: true, readonly row: Row<A> }
  | { readonly ok: false, readonly why: 'missing' }
  | { readonly ok: false, readonly why: 'stale', readonly current: Row<A> }

/** The context of a call to a store. */
export interface Context {
  /** The signal that aborts when the client has disconnected. */
  readonly signal: AbortSignal
}

/** The optional abilities of a store. */
export interface Capabilities {
  /** Whether lists can be ordered by attributes of a simple type, not only by id. @default false */
  readonly order?: boolean
  /** Whether lists can be limited to rows with certain attribute values. @default false */
  readonly filter?: boolean
}

/**
 * The rows of a list in batches. Batches of some hundred rows make long lists cheap; more than 5,000 rows are too many.
 * Besides its largest row, a batch holds at most 4 MiB, because it stays in memory until the client reads on.
 */
export type Batches<A = Attributes> = Iterable<ReadonlyArray<Row<A>>> | AsyncIterable<ReadonlyArray<Row<A>>>

/**
 * A store for the rows of a resource. Each of the five methods may return its result directly or asynchronously.
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
  readonly id?: 'integer' | 'uuid' | 'string'
  /** The attributes that the store can keep, or `undefined` for any. A resource without attributes takes them over. */
  readonly attributes?: AttributesSchema
  /** The optional abilities of the store. @default none */
  readonly capabilities?: Capabilities
  /** Prepares the store when a resource with it is registered. If it throws, the app does not start. */
  prepare? (): MaybePromise<void>
  /**
   * Lists rows in the order of the query, in batches that the plugin requests one by one. The iterator's `return` frees
   * the memory and the connection of the list.
   */
  list (query: Query, context: Context): Batches<A>
  /** Returns the row, or `undefined` if it does not exist. */
  get (id: Id, scope: Scope, context: Context): MaybePromise<Row<A> | undefined>
  /**
   * Creates a row with a new id, the attributes, and the values of the scope, which take precedence.
   * @throws DuplicateError if a unique value exists already, InvalidError if the store cannot keep a value
   */
  create (attributes: A, scope: Scope, context: Context): MaybePromise<Row<A>>
  /**
   * Changes the version and only the named attributes, except those of the scope.
   * @throws DuplicateError or InvalidError, as `create` does
   */
  update (id: Id, changes: Partial<A>, guard: Guard, context: Context): MaybePromise<WriteOutcome<A>>
  /** Deletes the row, and returns it as it was before. */
  delete (id: Id, guard: Guard, context: Context): MaybePromise<WriteOutcome<A>>
}

/** A store whose five methods return their results synchronously. */
export interface SyncStore<A = Attributes> extends Store<A> {
  prepare? (): void
  list (query: Query, context: Context): Iterable<ReadonlyArray<Row<A>>>
  get (id: Id, scope: Scope, context?: Context): Row<A> | undefined
  create (attributes: A, scope: Scope, context?: Context): Row<A>
  update (id: Id, changes: Partial<A>, guard: Guard, context?: Context): WriteOutcome<A>
  delete (id: Id, guard: Guard, context?: Context): WriteOutcome<A>
}
