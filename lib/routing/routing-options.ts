import type { RouteOptions } from 'fastify'
import type { Authorize, FindScope } from '../actions/authorize/level.js'
import type { ActionName } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { Attributes, Schema } from '../schema/types.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { HandlerAnswer, Handler, ListContext } from './handler.js'
import type { Hooks } from './hooks.js'

/** Handlers of the app's own in the place of what the resource would do. */
export interface ActionHandlers<
  A = Attributes,
  Created = Attributes,
  Changes = Attributes,
  I extends Id | undefined = Id
> {
  /** `GET /posts`: answers with rows. */
  readonly list?: (context: ListContext<A>) => MaybePromise<HandlerAnswer<A>>
  /** `GET /posts/1`: answers with a row. */
  readonly show?: Handler<A, Attributes, I>
  /** `POST /posts`: a row that it answers with is a 201. */
  readonly create?: Handler<A, Created, undefined>
  /** `PUT /posts`: answers with the row as it is afterwards. */
  readonly update?: Handler<A, Changes, I>
  /** `DELETE /posts`: nothing that it answers with is a 204. */
  readonly delete?: Handler<A, Attributes, I>
}

/** How a resource is mapped onto routes, and what guards these. */
export interface RoutingOptions<
  A = Attributes,
  Created = Attributes,
  Changes = Attributes,
  I extends Id | undefined = Id
> {
  /** The segment of the path (or several). @default `name` */
  readonly path?: string
  /** Actions that there are, no others. @default all */
  readonly only?: ActionName | readonly ActionName[]
  /** Actions that there are not. @default none */
  readonly except?: ActionName | readonly ActionName[]
  /**
   * Whether there are `new` and `edit`: `/posts/new` and `/posts/1/edit`, pages with forms.
   * @default false, unless `only` names one
   */
  readonly formPages?: boolean
  /** What `new` and `edit` are called in paths. @default { new: 'new', edit: 'edit' } */
  readonly pathNames?: { readonly new?: string; readonly edit?: string }
  /** The name of the parameter that has the id. @default 'id' */
  readonly param?: string
  /**
   * What ids must be like, and those of parents: by parameter a JSON Schema, `{ id: { maximum: 999 } }`; others are a
   * 404.
   * @default {}
   */
  readonly constraints?: Readonly<Record<string, Schema>>
  /**
   * Fastify's route constraints, such as `{ host: 'admin.example.com' }`: without them the routes are not there.
   * @default {}
   */
  readonly routeConstraints?: RouteOptions['constraints']
  /** Actions of the convention that are the app's own. @default {} */
  readonly actions?: ActionHandlers<A, Created, Changes, I>
  /** Hooks of Fastify, for all of its routes. @default {} */
  readonly hooks?: Hooks
  /**
   * Hooks of one action each; they run when it is known which it is: of a form, after its body has been read.
   * @default {}
   */
  readonly actionHooks?: { readonly [K in ActionName]?: Hooks }
  /** Asked before anything is read or written. @default everything is allowed */
  readonly authorize?: Authorize<A>
  /**
   * Narrows what a request may see and touch, for tenants and ownership: each call of the store has it.
   * @default everything
   */
  readonly scope?: FindScope
  /** The attribute of a nested resource that has the parent's id. @default the parent's parameter, `postId` */
  readonly foreignKey?: string
}
