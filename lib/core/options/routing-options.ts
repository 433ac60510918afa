import type { RouteOptions } from 'fastify'
import type { Authorize, FindScope } from '../actions/authorize/level.js'
import type { ActionName } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { Attributes, Schema } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { HandlerAnswer, Handler, ListContext } from './handler.js'
import type { Hooks } from './hooks.js'

/** Handlers that replace default actions. */
export interface ActionHandlers<
  A = Attributes,
  Created = Attributes,
  Changes = Attributes,
  I extends Id | undefined = Id
> {
  /** Handles `GET /posts`, and returns rows. */
  readonly list?: (context: ListContext<A>) => MaybePromise<HandlerAnswer<A>>
  /** Handles `GET /posts/1`, and returns a row. */
  readonly show?: Handler<A, Attributes, I>
  /** Handles `POST /posts`. If it returns a row, the answer is a 201. */
  readonly create?: Handler<A, Created, undefined>
  /** Handles `PUT /posts`, and returns the changed row. */
  readonly update?: Handler<A, Changes, I>
  /** Handles `DELETE /posts`. If it returns nothing, the answer is a 204. */
  readonly delete?: Handler<A, Attributes, I>
}

/** The options for the routes of a resource, and for their guards. */
export interface RoutingOptions<
  A = Attributes,
  Created = Attributes,
  Changes = Attributes,
  I extends Id | undefined = Id
> {
  /** The segment of the path (or several). @default `name` */
  readonly path?: string
  /** The only actions that it has. @default all, but `new` and `edit` only by `formPages` */
  readonly only?: ActionName | readonly ActionName[]
  /** The actions to leave out. @default none */
  readonly except?: ActionName | readonly ActionName[]
  /** Whether `/posts/new` and `/posts/1/edit` show forms. @default false, unless `only` names one */
  readonly formPages?: boolean
  /** The segments of `new` and `edit`. @default { new: 'new', edit: 'edit' } */
  readonly pathNames?: { readonly new?: string; readonly edit?: string }
  /** The path parameter of the id. @default 'id' */
  readonly param?: string
  /** JSON Schemas of path parameters: `{ id: { maximum: 999 } }`. Other values get a 404. @default {} */
  readonly constraints?: Readonly<Record<string, Schema>>
  /** Fastify's route constraints, such as `{ host: 'admin.example.com' }`. @default {} */
  readonly routeConstraints?: RouteOptions['constraints']
  /** Handlers that replace default actions. @default {} */
  readonly actions?: ActionHandlers<A, Created, Changes, I>
  /** Hooks of Fastify for all routes. @default {} */
  readonly hooks?: Hooks
  /**
   * Hooks by action. The body of a form names its action, so for a form they run after the body is read. @default {}
   */
  readonly actionHooks?: { readonly [K in ActionName]?: Hooks }
  /** Decides whether a request may do its action, before anything is read or written. @default everything is allowed */
  readonly authorize?: Authorize<A>
  /**
   * Returns attribute values that limit a request to its rows in each call of the store, for tenants and ownership.
   * @default all rows
   */
  readonly scope?: FindScope
  /** The attribute with the id of the parent. @default the parent's parameter: `postId` */
  readonly foreignKey?: string
}
