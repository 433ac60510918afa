import type { FastifyRequest, RouteOptions } from 'fastify'
import type { CsvOptions } from '../formats/csv/csv.js'
import type { Format } from '../formats/format.js'
import type { ActionName, IdType } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { AttributesOf, ChangesOf, CreateOf } from '../schema/infer.js'
import type { Attributes, AttributesSchema, Schema } from '../schema/types.js'
import type { AjvSettings } from '../schema/validation/validators.js'
import type { CheckRow, Transitions } from '../rules/rules.js'
import type { ResourceAttributes, StoreFor } from '../stores/infer.js'
import type { Stamp } from '../stores/stamp.js'
import type { OnDelete, Store, Stores } from '../stores/store.js'
import type { UniqueGroups } from '../stores/unique.js'
import type { Authorize, FindScope } from '../actions/authorize/level.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { Handler, HandlerAnswer, ListContext } from './handler.js'
import type { Hooks } from './hooks.js'
import type { FindRole, RoleOptions } from './roles.js'

/** A reference to another resource. */
export interface ReferenceOptions {
  /** The plural name of the resource. */
  readonly to: string
  /**
   * What deleting the row does to the rows that refer to it, if both resources have the same `stores`.
   * @default 'restrict'
   */
  readonly onDelete?: OnDelete
  /** Whether the table gets a foreign key, if both resources have the same `stores`. @default true */
  readonly check?: boolean
  /**
   * The attributes that together have the key of the row, in the order of the key: `['tenantId', 'customerId']`. The
   * attribute that is called by the reference is one of them. No foreign key is made. @default only that attribute
   */
  readonly key?: readonly string[]
}

/** The options of `app.register(resources, …)`. */
export interface ResourceOptions<
  S extends AttributesSchema | undefined = AttributesSchema | undefined,
  T extends Store<unknown> = Store<unknown>
> extends DeclaredOptions<S, T> {
  /** The plural name, which is also the path: `'posts'` for `/posts`. For a singleton, the singular name. */
  readonly name: string
  /** The singular name, which contains the attributes in payloads. @default by the rules of English */
  readonly singular?: string
  /** The plural name in `app.paths`. @default `name` */
  readonly as?: string
  /** The prefix of paths as in Fastify's `register`. It may have parameters. @default '' */
  readonly prefix?: string
}

/**
 * The options of formats by their names: `html: { columns: ['title'] }`. Those of a scope or a map apply to all
 * resources in it, member by member. A format adds its own by declaration merging.
 */
// eslint-disable-next-line @typescript-eslint/no-unused-vars -- formats use it in merged declarations
export interface FormatOptions<S extends AttributesSchema | undefined = AttributesSchema | undefined> {
  /** The options of the format `csv`. @default {} */
  readonly csv?: CsvOptions
}

/** The options of a resource except its names. */
export interface DeclaredOptions<
  S extends AttributesSchema | undefined = AttributesSchema | undefined,
  T extends Store<unknown> = Store<unknown>,
  I extends Id | undefined = Id
> extends RoutingOptions<ResourceAttributes<S, T>, CreateOf<S>, ChangesOf<S>, I>, FormatOptions<S> {
  /**
   * The schema of the attributes, for example a TypeBox object.
   * @default the store's, else none: any attributes are allowed
   */
  readonly attributes?: S
  /** Formats, keywords and plugins of Ajv for its schemas, as in Fastify's option `ajv`. @default {} */
  readonly ajv?: AjvSettings
  /**
   * Checks the row that a write makes, also in handlers of the app: `({ from, to }, { issues }) => { if (to < from)
   * issues.add('to', 'must not be before "from"') }`. Faults that the row had before do not refuse an update.
   * @default every row is accepted
   */
  readonly check?: CheckRow<ResourceAttributes<S, T>>
  /**
   * The values that may follow each other, by attribute: `{ status: { initial: ['draft'], draft: ['published'] } }`. A
   * value that no list names may go anywhere. @default any value may follow any other
   */
  readonly transitions?: Readonly<Record<string, Transitions>>
  /**
   * The attribute that a deletion sets to its time, such as `'deletedAt'`. The row stays in the store, and requests see
   * it no more, except those that `authorize` allows the actions `deleted`, `restore` and `purge`.
   * @default a deletion removes the row
   */
  readonly softDelete?: string
  /**
   * Attributes that each create and update sets, also in handlers of the app, by functions that return their text:
   * `{ updatedBy: (request) => request.user.name }`. Clients only read them, so they are `readOnly`. @default {}
   */
  readonly stamp?: Readonly<Record<string, Stamp>>
  /** The store of the rows. @default a table of `stores`, else a new `memoryStore` */
  readonly store?: StoreFor<AttributesOf<S>, T>
  /** The database in which the rows have a table. A resource with an own `store` ignores it. @default none */
  readonly stores?: Stores
  /** The name of the table in `stores`. Resources with the same table share its rows. @default `name` */
  readonly table?: string
  /** Attributes, or groups of attributes, whose values are unique in the table of `stores`. @default [] */
  readonly unique?: UniqueGroups
  /**
   * What deleting a parent of the same `stores` does to the rows nested in it: `'restrict'` refuses it with a 409,
   * `'cascade'` deletes the rows, and `'set null'` sets their foreign key to null.
   * @default 'restrict'
   */
  readonly onDelete?: OnDelete
  /**
   * Schemas of the attributes that `scope` returns and clients do not see: `{ tenant: { type: 'string' } }`. The table
   * of `stores` has columns for them.
   * @default {}
   */
  readonly scopeAttributes?: Readonly<Record<string, Schema>>
  /**
   * The type of ids: `'uuid'` is a time-ordered UUID v7, `'string'` any text of the app's store or handlers.
   * @default the store's, else 'integer'
   */
  readonly id?: IdType
  /**
   * The formats of answers, the default one first. A name stands for the format with its defaults: `'html'` for
   * `html()`.
   * @default ['xml', 'html', 'json']
   */
  readonly formats?: ReadonlyArray<'xml' | 'html' | 'json' | 'csv' | Format>
  /**
   * The path of PUT and DELETE: the collection's with the id in the payload, the member's (with PATCH), or both.
   * @default 'collection'
   */
  readonly writes?: 'collection' | 'member' | 'both'
  /** Other origins whose pages may write, such as `'https://app.example.com'`. @default [] */
  readonly trustedOrigins?: readonly string[]
  /** Whether an update or a delete without a version is refused with 428. @default false */
  readonly requireMatch?: boolean
  /**
   * Whether a write with the header `Idempotency-Key` is carried out once only, however often it is sent. The store
   * must have transactions. @default keys are ignored
   */
  readonly idempotency?: IdempotencyOptions
  /** The most rows that a request may write, all or none; 0 allows requests with one row only. @default 1000 */
  readonly maxRows?: number
  /** The greatest `?limit=`, in rows. @default 1000 */
  readonly maxLimit?: number
  /** The attributes that `?sort=-rating,title` may name. @default all of one simple type, if the store can order */
  readonly sort?: readonly string[]
  /** The attributes that `?rating=5` may name. @default all of one simple type, if the store can filter */
  readonly filter?: readonly string[]
  /**
   * The attributes in which `?q=tea` searches. @default those that the store names, or else the texts among those of
   * `filter`, if the store can search
   */
  readonly search?: readonly string[]
  /**
   * Whether no header of an answer to a QUERY names its parameters in a URL: neither `Location` nor `Link`.
   * @default false
   */
  readonly privateQueries?: boolean
  /**
   * The attributes that have the ids of other resources, or the values of a key of one attribute, with the plural names
   * of these: `{ authorId: 'authors' }`, or `{ authorId: { to: 'authors', onDelete: 'cascade' } }`. `?include=author`
   * then adds the author to each row. If both resources have the same `stores`, it is a foreign key of the table.
   * `'lines.productId'` is a member of the objects in an array, which each write checks.
   * @default {}
   */
  readonly references?: Readonly<Record<string, string | ReferenceOptions>>
  /**
   * The roles, each with the attributes that it does not see or write: `{ admin: {}, clerk: { hidden: ['salary'] } }`.
   * @default everybody sees and writes all attributes
   */
  readonly roles?: Readonly<Record<string, RoleOptions>>
  /** Returns the role of a request, or several, after its `onRequest` hooks. It must be given with `roles`. */
  readonly role?: FindRole
  /**
   * The header `Cache-Control` of answers: one value for all actions, or a value for each,
   * `{ list: 'public, max-age=60' }`. Errors get `private, no-cache`, or the value of their action if it has
   * `no-store`. A value that a hook or a handler of the app sets takes precedence.
   * @default 'private, no-cache'
   */
  readonly cacheControl?: string | Readonly<Record<string, string>>
  /**
   * Members of its operations in the document of `@fastify/swagger`, which must be registered before. `false` hides
   * them.
   * @default {}
   */
  readonly openapi?: OpenapiOptions | false
  /** Whether `GET /posts.xsd` answers with the XML Schema of requests and responses in XML. @default false */
  readonly xsd?: boolean
}

/** The options of requests with an `Idempotency-Key`. */
export interface IdempotencyOptions {
  /** How long a key is kept: a number of milliseconds, or a text such as `'30m'`, `'24h'` or `'7d'`. @default '24h' */
  readonly keep?: number | string
  /** Whether a write without a key is refused. Of forms, only those that create a row need one. @default false */
  readonly required?: boolean
  /**
   * Returns the user of a request, whose keys are nothing to others. It must be given with `authorize` or `scope`.
   * @default all requests have the same one
   */
  readonly principal?: (request: FastifyRequest) => MaybePromise<string>
}

/** Members of each OpenAPI operation. Parameters and responses are added to the generated ones; others replace them. */
export interface OpenapiOptions {
  /** The groups of its operations. @default the plural name; for a singleton, the singular one */
  readonly tags?: readonly string[]
  /** The security requirements: `[{ bearer: [] }]`. @default those of the document */
  readonly security?: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  /** Parameters of the app's hooks, such as headers. @default none */
  readonly parameters?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** Responses of the app's hooks by status: `{ 401: { description: '…' } }`. @default none */
  readonly responses?: Readonly<Record<string, unknown>>
  /** The servers as in an OpenAPI document. @default those of the document */
  readonly servers?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** A link to more documentation: `{ url: '…' }`. @default none */
  readonly externalDocs?: Readonly<Record<string, unknown>>
  /** Whether clients should stop using its operations. @default false */
  readonly deprecated?: boolean
  /** Whether paths with a suffix are described, too. @default false */
  readonly suffixes?: boolean
}

export const OWN_OPTIONS = [
  'name', 'singular', 'actions', 'actionHooks', 'prefix', 'foreignKey', 'table', 'unique', 'onDelete', 'check',
  'softDelete', 'stamp', 'transitions'
] as const

/** The name of an option that a resource does not get from a scope around it. */
export type OwnOption = typeof OWN_OPTIONS[number]

/** The option of nested resources. */
export interface NestedOptions<Shallow extends boolean = boolean> {
  /**
   * Whether the paths of its rows leave out the parents: `/comments/1`. Resources that are nested in it inherit the
   * option.
   * @default that of the scope or resource around it, else false
   */
  readonly shallow?: Shallow
}

/** The options of `scope`, which apply to all resources in it. */
export interface ScopeOptions<As extends string = string, Path extends string = string>
  extends
  Omit<ResourceOptions, OwnOption | 'path' | 'as'>,
  NestedOptions {
  /** The first segments of the paths, which may have parameters: `':tenant'`. @default none */
  readonly path?: Path
  /** The prefix of the names in `app.paths`: `'admin'` for `adminPosts`. @default none */
  readonly as?: As
  /** The first segments of the paths of shallow rows. @default `path` */
  readonly shallowPath?: string
  /** The prefix of the names of shallow rows. @default `as` */
  readonly shallowAs?: string
}

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
  readonly create?: WriteHandler<Handler<A, Created, undefined>>
  /** Handles `PUT /posts`, and returns the changed row. */
  readonly update?: WriteHandler<Handler<A, Changes, I>>
  /** Handles `DELETE /posts`. If it returns nothing, the answer is a 204. */
  readonly delete?: WriteHandler<Handler<A, Attributes, I>>
}

/** A handler of a write, alone or with its options. */
export type WriteHandler<H> = H | ManyHandler<H>

/** A handler with its options. */
export interface ManyHandler<H = Handler> {
  readonly handler: H
  /**
   * Whether requests may have many rows. The handler then runs once for each row, in the transaction of the request.
   * @default false: requests with many rows are refused
   */
  readonly many?: boolean
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
  /** Whether `/posts/new` and `/posts/1/edit` show forms. @default false, or true with `stores` */
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
