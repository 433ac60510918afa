import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes, AttributesSchema, Scalar } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** Attribute values that a row must have to be listed; null also matches absence. */
export type Filter = Readonly<Record<string, Scalar>>

/**
 * Orders rows by an attribute or the `id`: numbers by size, strings by their code points (also dates, which are kept as
 * written), false before true. Null and absence come first, or, descending, last.
 */
export interface OrderBy {
  /** An attribute, or `id`. */
  readonly by: string
  /** Whether the greatest value comes first. */
  readonly descending: boolean
}

/** Criteria, of which only the last one is the `id`, so that no two rows have the same position. */
export type Order = readonly OrderBy[]

/** A position in an order: the row's value for each criterion, or null if it has none. */
export type Position = readonly Scalar[]

/** A query that the plugin makes of checked input. A store never sees a client's text. */
export interface Query {
  /** Only `id`, ascending, if the store does not declare `capabilities.order`. */
  readonly order: Order
  /** Lists only rows after this position, whose row need not exist any more. */
  readonly after: Position | undefined
  /** The largest number of rows; undefined: all. */
  readonly limit: number | undefined
  /** Lists only rows with these values. */
  readonly scope: Scope
  /** Empty if the store does not declare `capabilities.filter`. */
  readonly filter: Filter
}

/** The conditions of a write, checked in its own atomic step. */
export interface Guard {
  /** The version that the row must have; undefined: any. */
  readonly version: string | undefined
  /** The values that the row must have. */
  readonly scope: Scope
}

/** The outcome of a write: the row after it (of a deletion: before it), or why nothing was written. */
export type Written<A = Attributes> =
  | { readonly ok: true, readonly row: Row<A> }
  | { readonly ok: false, readonly why: 'missing' }
  | { readonly ok: false, readonly why: 'stale', readonly current: Row<A> }

/** Accompanies each call of a store. */
export interface Context {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
}

/** The optional abilities of a store. */
export interface Capabilities {
  /** Whether lists can be ordered by attributes of a simple type. @default false: by id alone */
  readonly order?: boolean
  /** Whether lists can be limited to rows with certain attribute values. @default false */
  readonly filter?: boolean
}

/**
 * The rows of a list in batches. Some hundred rows at a time make long lists cheap; more than 5,000 are too many. A
 * batch holds at most 4 MiB beyond its largest row, because it stays in memory until the client reads on.
 */
export type Batches<A = Attributes> = Iterable<ReadonlyArray<Row<A>>> | AsyncIterable<ReadonlyArray<Row<A>>>

/**
 * Stores the rows of a resource. Each of the five methods may answer synchronously or by a promise.
 *
 * - No method is a read followed by a write: the write's own atomic step checks the guard.
 * - A row outside the scope does not exist, for a reader or a writer.
 * - An id is given to one row only, even after its deletion.
 * - A store keeps no object that it was given and hands out none that it keeps, unless that is frozen.
 * - A list contains each row once that exists from its beginning to its end and does not move. An open list blocks no
 *   writer.
 * - No two rows have the same values of attributes that are unique together, unless one of them is null or absent.
 * - A write that answers has happened, one that throws has not. If neither is known, it throws an UnknownOutcomeError.
 */
export interface Store<A = Attributes> {
  /** The type of the ids that it makes, which must be the resource's. Undefined: not declared, not checked. */
  readonly id?: 'integer' | 'uuid' | 'string'
  /** The attributes that it can keep. A resource without attributes takes them over. Undefined: any. */
  readonly attributes?: AttributesSchema
  /** Its optional abilities. @default none */
  readonly capabilities?: Capabilities
  /** Called when a resource with this store is registered. If it throws, the app does not start. */
  prepare? (): MaybePromise<void>
  /** Lists rows in the query's order, in batches that are pulled one by one. `return` frees what the list holds. */
  list (query: Query, context: Context): Batches<A>
  /** Returns the row, or undefined if it does not exist. */
  get (id: Id, scope: Scope, context: Context): MaybePromise<Row<A> | undefined>
  /**
   * Creates a row of the attributes and the scope, with an id of its own.
   * @throws DuplicateError if a unique value exists already, InvalidError if the store cannot keep a value
   */
  create (attributes: A, scope: Scope, context: Context): MaybePromise<Row<A>>
  /**
   * Changes the version and only the named attributes.
   * @throws DuplicateError, InvalidError as `create` does
   */
  update (id: Id, changes: Partial<A>, guard: Guard, context: Context): MaybePromise<Written<A>>
  /** Deletes the row, and returns it as it was. */
  delete (id: Id, guard: Guard, context: Context): MaybePromise<Written<A>>
}
