import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListQuery } from '../actions/list.js'
import type { Outcome, Total } from '../actions/outcome.js'
import type { Paths } from '../routes/path-helpers.js'
import type { Resource } from '../resource/resource.js'
import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type {
  Context, Guard, Order, Store, TransactionContext, TransactionOptions, WriteOutcome
} from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** A row that a handler returns. Without a version it has no ETag, and forms do not notice other writes. */
export interface HandlerRow<A = Attributes> {
  /** The id in paths and documents. */
  readonly id: Id
  /** The version for the ETag: letters, digits, `-` and `_`. */
  readonly version?: string
  /** The attributes. If the resource declares some, the answer has no others. */
  readonly attributes: A
}

/** A row that a handler has found. Where a resource hides values, its version for clients is made of the attributes. */
export type FoundRow = Pick<HandlerRow, 'id' | 'version'> & { readonly attributes?: object }

/** Rows that are streamed in batches. */
export type HandlerBatches<A = Attributes> =
  Iterable<ReadonlyArray<HandlerRow<A>>> | AsyncIterable<ReadonlyArray<HandlerRow<A>>>

/**
 * The answer of a handler: a row, rows (an array, or batches, which are streamed), a store's answer to a write, an
 * outcome, or nothing. If the handler of a GET or an update returns nothing, the answer is a 404; a `list` must always
 * return rows. For other actions nothing means a 204 or a redirect. A handler that has sent an answer by `reply` itself
 * returns the reply.
 */
export type HandlerAnswer<A = Attributes> =
  | HandlerRow<A>
  | ReadonlyArray<HandlerRow<A>>
  | HandlerBatches<A>
  | WriteOutcome<A>
  | HandlerOutcome<A>
  | Outcome
  | FastifyReply
  | undefined
  | void

/**
 * An outcome. A handler returns it if a plain row would mean another outcome. `etag` replaces the ETag, for an answer
 * that depends on more than the row, such as the user. It is an entity tag with its quotes, `'"ann-3"'`, or false for
 * none. Without it, a header `etag` that the handler has set by `reply` counts.
 */
export type HandlerOutcome<A = Attributes> =
  | {
    readonly kind: 'found' | 'created' | 'updated' | 'stale'
    readonly row: HandlerRow<A>
    readonly etag?: string | false
  }
  | { readonly kind: 'deleted' | 'done' }
  | HandlerList<A>

/**
 * A list of rows with their order and the row before the next page. An array needs neither: if it has more rows than
 * `query.limit`, the page ends there, and links to the next one.
 */
export interface HandlerList<A = Attributes> {
  /** The kind of the outcome. */
  readonly kind: 'listed'
  /** The rows of the page, in their order. */
  readonly rows: ReadonlyArray<HandlerRow<A>>
  /** Further batches, which only the outcome of `proceed()` has. */
  readonly more?: undefined
  /** The order of the rows. @default that of the query, else by id */
  readonly order?: Order
  /**
   * The row before which the previous page of `list` ends: the first row, if others precede it. The links to previous
   * pages then have `query.before`. `end` is only for an empty page.
   * @default none, or the first one of the page if the rows before it are here too
   */
  readonly first?: HandlerRow<A> | 'end' | undefined
  /**
   * The row after which the next page of `list` begins, mostly the last row.
   * @default none, or the last one within `query.limit`
   */
  readonly last?: HandlerRow<A> | undefined
  /** The number of all rows, which only the outcome of `proceed()` has. */
  readonly total?: Total | undefined
}

/** A function of the app that performs an action. It may answer at once or by a promise. */
export type Handler<A = Attributes, Supplied = Attributes, I extends Id | undefined = Id, Q = Attributes> = (
  context: ActionContext<A, Supplied, I, Q>
) => MaybePromise<HandlerAnswer<A>>

/**
 * The context of a handler. The request has been parsed, validated and authorized. Pass the context on in calls of the
 * store: `store.get(id, scope, context)`.
 */
export interface ActionContext<
  A = Attributes,
  Supplied = Attributes,
  I extends Id | undefined = Id,
  Q = Attributes
> extends Context {
  /** The request of Fastify. */
  readonly request: FastifyRequest
  /** The reply of Fastify, for headers or for an answer that the handler sends itself. */
  readonly reply: FastifyReply
  /** The name of the action: `list`, `update`, `publish`. */
  readonly action: string
  /** The resource. */
  readonly resource: Resource
  /** The store of the resource. */
  readonly store: Store<A>
  /**
   * The attribute values that all rows have that the request may see and change. They come from the parents and from
   * the option `scope`.
   */
  readonly scope: Scope
  /** The id that the request names, or `undefined` if it names none. */
  readonly id: I
  /**
   * The supplied attributes, converted and checked. For a create they include defaults. For an update, those that it
   * removes are `undefined`.
   */
  readonly attributes: Supplied
  /**
   * The conditions of a write: the scope, and the version of `If-Match` or of the form. A second write takes the
   * version of the first, `{ ...guard, version: first.row.version }`. `proceed()` updates the version here.
   */
  readonly guard: Guard
  /**
   * Returns the conditions of a write to a row that the handler has found itself. Without an `id`, `guard` matches no
   * row if the request names a version by `If-Match`, `If-None-Match` or `_version`.
   */
  guardFor(row: FoundRow): Guard
  /**
   * The parsed query. For `list` it is a `ListQuery`. For an action with a `query` schema it has the parameters,
   * converted and checked. Otherwise it is an empty object.
   */
  readonly query: Q
  /** The same as `app.paths`. */
  readonly paths: Paths
  /** The stores of all resources of the server, by the names of the resources. */
  readonly stores: Readonly<Record<string, Store>>
  /**
   * Runs a function in a transaction of the store: all writes in it happen, or none. Each call of a store in it gets
   * its context; `row()` and `proceed()` take part by themselves. A write whose outcome is not ok throws, and so ends
   * the transaction. In an action that runs once for each row of a request, it joins the transaction of the request.
   * @throws TransactionError if the store has no transactions; otherwise what the method of the store throws
   */
  transaction<T>(run: (context: ActionTransaction) => MaybePromise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Returns the row of `id`, or the singleton, within the scope.
   * @throws NotFoundError, NothingHereError
   */
  row(): Promise<Row<A>>
  /** Runs the default action, for a handler that only adds to it. */
  proceed(): Promise<Outcome>
}

/** The context of the calls in a transaction of a handler. */
export interface ActionTransaction extends TransactionContext {
  /** Returns the scope of another resource for this request. */
  scopeOf(resource: string): Promise<Scope>
}

/** The context of a handler of `list`. */
export interface ListContext<A = Attributes> extends ActionContext<A, Attributes, undefined, ListQuery> {}
