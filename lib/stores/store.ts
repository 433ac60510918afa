/** What names a row: a positive integer up to 2^53 - 1, or a UUID in lower case. */
export type Id = number | string

/** The attributes of a row, as JSON knows them. */
export type Attributes = Readonly<Record<string, unknown>>

/** A row as it is kept. It belongs to whoever receives it: a store never changes one that it has handed out. */
export interface Stored<A = Attributes> {
  readonly id: Id
  /** Changes with each write; letters, digits, `-` and `_` only, since it stands in the ETag. */
  readonly version: string
  readonly attributes: A
}

/**
 * Attribute values that every row must carry (`{ tenant: 'a' }`): reads see no other row, writes touch no other,
 * creates get them stamped on. Compared with `===`.
 */
export type Scope = Attributes

/** Built by the plugin from checked input; a store never sees a client's text. */
export interface Query {
  /** Only rows that come after this id. */
  readonly after: Id | undefined
  /** At most so many rows; undefined: all. */
  readonly limit: number | undefined
  readonly scope: Scope
}

/** What a write demands of the row, checked in the same atomic step as the write. */
export interface Guard {
  /** The version that the row must have; undefined: any. */
  readonly version: string | undefined
  readonly scope: Scope
}

/** What became of a write: the row as it is afterwards (of a deletion: as it was), or why nothing was written. */
export type Written<A = Attributes> =
  | { readonly ok: true, readonly row: Stored<A> }
  | { readonly ok: false, readonly why: 'missing' }
  | { readonly ok: false, readonly why: 'stale', readonly current: Stored<A> }

/** What accompanies each call. */
export interface Context {
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
}

export type MaybePromise<T> = T | PromiseLike<T>

/** Some hundred rows at a time are what makes long lists cheap. */
export type Batches<A = Attributes> = Iterable<ReadonlyArray<Stored<A>>> | AsyncIterable<ReadonlyArray<Stored<A>>>

/**
 * Where the rows of a resource are kept: five methods, each of which may answer at once or by a promise.
 *
 * - No method is a read followed by a write: the guard is checked in the write's own atomic step.
 * - A row outside the scope does not exist, for a reader or a writer.
 * - A store keeps no object that it was given and hands out none that it keeps, unless that is frozen.
 */
export interface Store<A = Attributes> {
  /** The kind of ids it makes; must be the resource's. Undefined: not declared, not checked. */
  readonly id?: 'integer' | 'uuid'
  /** The rows in the order of their ids, in batches that are pulled one by one. Its `return` frees what it holds. */
  list (query: Query, context: Context): Batches<A>
  /** The row, or undefined where there is none. */
  get (id: Id, scope: Scope, context: Context): MaybePromise<Stored<A> | undefined>
  /** @throws DuplicateError where a unique attribute's value exists already. */
  create (attributes: A, scope: Scope, context: Context): MaybePromise<Stored<A>>
  /**
   * Changes the attributes named and no other.
   * @throws DuplicateError where a unique attribute's value exists already.
   */
  update (id: Id, changes: Partial<A>, guard: Guard, context: Context): MaybePromise<Written<A>>
  delete (id: Id, guard: Guard, context: Context): MaybePromise<Written<A>>
}
