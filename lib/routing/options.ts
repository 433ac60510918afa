import type { FastifyRequest, RouteOptions } from 'fastify'
import type { Hooks } from './hooks.js'
import type { ActionName } from '../resource.js'
import type { Schema } from '../shape.js'
import type { Attributes, Id, MaybePromise, Scope, Stored } from '../stores/store.js'
import type { Answer, Handler, ListContext } from './handler.js'

/** What a request is about to do. */
export interface Attempt<A = Attributes> {
  /** `list`, `show`, `create`, `update`, `delete`, `new`, `edit`, or the name of an action of the app's own. */
  readonly action: string
  /** The plural name, of a singleton the singular one. */
  readonly resource: string
  /** Of a row that is shown, changed or deleted. */
  readonly id?: Id
  /**
   * Reads that row, within the scope; undefined where there is none. What is then written is written only if the row is
   * still the same. Absent where it is about no row.
   */
  readonly row?: () => MaybePromise<Stored<A> | undefined>
}

/** Whether a request may do what it is about to: true; false for a 403; `'hide'` for a 404, as though there were nothing. */
export type Authorize<A = Attributes> = (request: FastifyRequest, attempt: Attempt<A>) => MaybePromise<boolean | 'hide'>

/** Attribute values that each row must have that a request may see and touch, and that each row is made with. */
export type FindScope = (request: FastifyRequest) => MaybePromise<Scope>

/** Handlers of the app's own in the place of what the resource would do. */
export interface ActionHandlers<A = Attributes, Created = Attributes, Changes = Attributes, I extends Id | undefined = Id> {
  /** `GET /posts`: answers with rows. */
  readonly list?: (context: ListContext<A>) => MaybePromise<Answer<A>>
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
export interface RoutingOptions<A = Attributes, Created = Attributes, Changes = Attributes, I extends Id | undefined = Id> {
  /** The segment of the path (or several). @default `name` */
  readonly path?: string
  /** Actions that there are, no others. @default all */
  readonly only?: ActionName | readonly ActionName[]
  /** Actions that there are not. @default none */
  readonly except?: ActionName | readonly ActionName[]
  /** Whether there are `new` and `edit`: `/posts/new` and `/posts/1/edit`, pages with forms. @default false, unless `only` names one */
  readonly formPages?: boolean
  /** What `new` and `edit` are called in paths. @default { new: 'new', edit: 'edit' } */
  readonly pathNames?: { readonly new?: string, readonly edit?: string }
  /** The name of the parameter that has the id. @default 'id' */
  readonly param?: string
  /** What ids must be like, and those of parents: by parameter a JSON Schema, `{ id: { maximum: 999 } }`; others are a 404. @default {} */
  readonly constraints?: Readonly<Record<string, Schema>>
  /** Fastify's route constraints, such as `{ host: 'admin.example.com' }`: without them the routes are not there. @default {} */
  readonly conditions?: RouteOptions['constraints']
  /** Actions of the convention that are the app's own. @default {} */
  readonly actions?: ActionHandlers<A, Created, Changes, I>
  /** Hooks of Fastify, for all of its routes. @default {} */
  readonly hooks?: Hooks
  /** Hooks of one action each; they run when it is known which it is: of a form, after its body has been read. @default {} */
  readonly actionHooks?: { readonly [K in ActionName]?: Hooks }
  /** Asked before anything is read or written. @default everything is allowed */
  readonly authorize?: Authorize<A>
  /** Narrows what a request may see and touch, for tenants and ownership: each call of the store has it. @default everything */
  readonly scope?: FindScope
  /** Of a nested resource: the attribute that has the parent's id. @default the parent's parameter, `postId` */
  readonly foreignKey?: string
}
