import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes, AttributesSchema, Scalar } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** Attribute values that a row must have to be listed; null stands for absence too. */
export type Filter = Readonly<Record<string, Scalar>>

/**
 * What rows are put in order by: an attribute, or `id`. Numbers by size, strings (dates among them, which are kept as
 * they were written) by their code points, false before true; null and absence before all of them, or, descending, after.
 */
export interface OrderBy {
  /** An attribute, or `id`. */
  readonly by: string
  /** Whether the greatest comes first. */
  readonly descending: boolean
}

/** Criteria, of which the last one, and no other, is the `id`: no two rows stand in the same place. */
export type Order = readonly OrderBy[]

/** A place in an order: for each criterion the value that the row there has, null where it has none. */
export type Position = readonly Scalar[]

/** Built by the plugin from checked input; a store never sees a client's text. */
export interface Query {
  /** By id alone, ascending, where the store does not declare `capabilities.order`. */
  readonly order: Order
  /** Only rows that come after this place; the row that stood there need not be there any more. */
  readonly after: Position | undefined
  /** At most so many rows; undefined: all. */
  readonly limit: number | undefined
  /** Only rows that carry these values. */
  readonly scope: Scope
  /** Empty where the store does not declare `capabilities.filter`. */
  readonly filter: Filter
}

/** What a write demands of the row, checked in the same atomic step as the write. */
export interface Guard {
  /** The version that the row must have; undefined: any. */
  readonly version: string | undefined
  /** The values that the row must carry. */
  readonly scope: Scope
}

/** What became of a write: the row as it is afterwards (of a deletion: as it was), or why nothing was written. */
export type Written<A = Attributes> =
  | { readonly ok: true, readonly row: Row<A> }
  | { readonly ok: false, readonly why: 'missing' }
  | { readonly ok: false, readonly why: 'stale', readonly current: Row<A> }

/** What accompanies each call. */
export interface Context {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
}

/** What a store can do beyond what every store must. */
export interface Capabilities {
  /** Whether lists come in any order by attributes of a simple type. @default false: by id alone */
  readonly order?: boolean
  /** Whether lists can be narrowed down to rows with certain attribute values. @default false */
  readonly filter?: boolean
}

/**
 * Some hundred rows at a time are what makes long lists cheap; more than 5,000 are too many. A batch holds at most 4 MiB
 * beyond its largest row, whatever rows came before: it is held for as long as a client does not read on.
 */
export type Batches<A = Attributes> = Iterable<ReadonlyArray<Row<A>>> | AsyncIterable<ReadonlyArray<Row<A>>>

/**
 * Where the rows of a resource are kept: five methods, each of which may answer at once or by a promise.
 *
 * - No method is a read followed by a write: the guard is checked in the write's own atomic step.
 * - A row outside the scope does not exist, for a reader or a writer.
 * - An id is given to one row only, also when that has been deleted.
 * - A store keeps no object that it was given and hands out none that it keeps, unless that is frozen.
 * - A row that is there from the beginning of a list to its end, and does not move, is in it once; an open list keeps
 *   nobody from writing.
 * - Of attributes that are unique together no two rows have the same values; a row in which one of them is null or
 *   absent does not count.
 * - A write that is answered has happened, one that throws has not: where that cannot be known, an UnknownOutcomeError.
 */
export interface Store<A = Attributes> {
  /** The kind of ids it makes; must be the resource's. Undefined: not declared, not checked. */
  readonly id?: 'integer' | 'uuid' | 'string'
  /** The attributes that it can keep, which a resource that declares none takes over. Undefined: any. */
  readonly attributes?: AttributesSchema
  /** What it can do beside what every store must. @default nothing */
  readonly capabilities?: Capabilities
  /** Called when a resource with this store is registered; what it throws ends the start of the app. */
  prepare? (): MaybePromise<void>
  /** The rows in the query's order, in batches that are pulled one by one. Its `return` frees what it holds. */
  list (query: Query, context: Context): Batches<A>
  /** The row, or undefined where there is none. */
  get (id: Id, scope: Scope, context: Context): MaybePromise<Row<A> | undefined>
  /**
   * Makes a row of the attributes and the scope, with an id of its own.
   * @throws DuplicateError where a unique attribute's value exists already, InvalidError where the store cannot keep
   * an attribute's value
   */
  create (attributes: A, scope: Scope, context: Context): MaybePromise<Row<A>>
  /**
   * Changes the attributes named and no other, and the version.
   * @throws DuplicateError, InvalidError as `create` does
   */
  update (id: Id, changes: Partial<A>, guard: Guard, context: Context): MaybePromise<Written<A>>
  /** Deletes the row, and gives it as it was. */
  delete (id: Id, guard: Guard, context: Context): MaybePromise<Written<A>>
}
