import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListQuery } from '../actions/list.js'
import type { Outcome } from '../actions/outcome.js'
import type { Paths } from '../resource/path-helpers.js'
import type { Resource } from '../resource/resource.js'
import type { Id, Scope, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Context, Guard, Order, Store, Written } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** A row that a handler answers with; one without a version has no ETag, and its forms do not notice other writes. */
export interface HandlerRow<A = Attributes> {
  /** By which paths and documents name it. */
  readonly id: Id
  /** Letters, digits, `-` and `_`: it stands in the ETag. */
  readonly version?: string
  /** Those that are declared go out; null and absence as they are. */
  readonly attributes: A
}

/** Rows that are streamed, some at a time. */
export type HandlerBatches<A = Attributes> =
  Iterable<ReadonlyArray<HandlerRow<A>>> | AsyncIterable<ReadonlyArray<HandlerRow<A>>>

/**
 * What a handler answers with: a row, rows (an array, or batches of them, which are streamed), what became of a write
 * (as a store tells it), an outcome, or nothing. Of a GET, and of an update, nothing means that there is no such row
 * (404); of anything else that it is done (204, or a redirect). What the handler has sent itself by `reply` is left as
 * it is: then it returns the reply.
 */
export type HandlerAnswer<A = Attributes> =
  | HandlerRow<A>
  | ReadonlyArray<HandlerRow<A>>
  | HandlerBatches<A>
  | Written<A>
  | HandlerOutcome<A>
  | Outcome
  | FastifyReply
  | undefined
  | void

/**
 * What a handler says that has come of a request, where a row alone would say something else. `etag` replaces the ETag
 * of the answer, for one that depends on more than the row, such as on the user: an entity tag with its quotes,
 * `'"ann-3"'`, or false for none. Without it, a header `etag` that the handler has set by `reply` counts.
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
 * Rows that a handler lists, where an array of them would not say enough. Of an array with more rows than the query
 * asks for (`query.limit`), the page has that many, and a link to the next one.
 */
export interface HandlerList<A = Attributes> {
  /** Tells the outcomes apart. */
  readonly kind: 'listed'
  /** The rows of the page, in their order. */
  readonly rows: ReadonlyArray<HandlerRow<A>>
  /** An outcome of `proceed()` alone has more batches. */
  readonly more?: undefined
  /** What the rows are put in order by. @default that of the query, else by id */
  readonly order?: Order
  /**
   * The row after which the next page of the action `list` begins, mostly the last.
   * @default none, or that of an array which is too long
   */
  readonly last?: HandlerRow<A> | undefined
}

/** An action of the app's own. It may answer at once or by a promise. */
export type Handler<A = Attributes, Supplied = Attributes, I extends Id | undefined = Id, Q = Attributes> = (
  context: ActionContext<A, Supplied, I, Q>
) => MaybePromise<HandlerAnswer<A>>

/**
 * What a handler works with: a request whose format is known, whose payload has been read and checked, and that has
 * been authorized. It is the context of a store's calls, too: `store.get(id, scope, context)`.
 */
export interface ActionContext<
  A = Attributes,
  Supplied = Attributes,
  I extends Id | undefined = Id,
  Q = Attributes
> extends Context {
  /** Fastify's. */
  readonly request: FastifyRequest
  /** Fastify's: for headers, or for an answer of the handler's own. */
  readonly reply: FastifyReply
  /** `list`, `update`, `publish` */
  readonly action: string
  /** What is known of the resource since it was registered. */
  readonly resource: Resource
  /** The resource's. */
  readonly store: Store<A>
  /** What the rows that this request may see and touch have in common: of the parents, and of the option `scope`. */
  readonly scope: Scope
  /** The id of the row that the request is about; undefined if it names none. */
  readonly id: I
  /** Those supplied, converted and checked; for a create with defaults. */
  readonly attributes: Supplied
  /**
   * What a write is to demand of the row: the scope, and the version of `If-Match` or of the form. It holds for one
   * write: for a second one take the version that the first has given, `{ ...guard, version: first.row.version }`.
   * `proceed()` changes the version here.
   */
  readonly guard: Guard
  /**
   * What a write is to demand of a row that the handler has found itself, where the request names none (no `id`). Then
   * `guard` lets no row through if the request names a version by `If-Match`, `If-None-Match` or `_version`.
   */
  guardFor(row: Pick<HandlerRow, 'id' | 'version'>): Guard
  /**
   * The query of the URL, parsed: for the action `list` a `ListQuery`, which says which rows the page has; for an
   * action with its own `query` schema the parameters, converted and checked; otherwise an empty object.
   */
  readonly query: Q
  /** The same as `app.paths`. */
  readonly paths: Paths
  /**
   * The row of `id`, within the scope; of a singleton the one that there is.
   * @throws NotFoundError, NothingHereError
   */
  row(): MaybePromise<Row<A>>
  /** Does what the resource itself does for the action: for a handler that only adds to it. */
  proceed(): MaybePromise<Outcome>
}

/** What a handler of `list` works with: of that it is always known which rows the query asks for. */
export interface ListContext<A = Attributes> extends ActionContext<A, Attributes, undefined, ListQuery> {}
