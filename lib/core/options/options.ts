import type { Format } from '../formats/format.js'
import type { PageMessages } from '../../html/messages.js'
import type { Brand } from '../../html/style/brand.js'
import type { RowTitle } from '../../html/values/row-names.js'
import type { Views } from '../../html/views/types.js'
import type { IdType } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { AttributesOf, ChangesOf, CreateOf, VisibleOf } from '../schema/infer.js'
import type { AttributesSchema, Schema } from '../schema/types.js'
import type { ResourceAttributes, StoreFor } from '../stores/infer.js'
import type { OnDelete, Store, Stores } from '../stores/store.js'
import type { UniqueGroups } from '../stores/unique.js'
import type { RoutingOptions } from './routing-options.js'

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

/** The options of a resource except its names. */
export interface DeclaredOptions<
  S extends AttributesSchema | undefined = AttributesSchema | undefined,
  T extends Store<unknown> = Store<unknown>,
  I extends Id | undefined = Id
> extends RoutingOptions<ResourceAttributes<S, T>, CreateOf<S>, ChangesOf<S>, I> {
  /**
   * The schema of the attributes, for example a TypeBox object.
   * @default the store's, else none: any attributes are allowed
   */
  readonly attributes?: S
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
  /** The formats of answers, the default one first. @default ['xml', 'html', 'json'] */
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
  /** The greatest `?limit=`, in rows. @default 1000 */
  readonly maxLimit?: number
  /** The length of a page of the HTML list, in rows. @default 50, at most `maxLimit` */
  readonly pageSize?: number
  /** The attributes that `?sort=-rating,title` may name. @default all of one simple type, if the store can order */
  readonly sort?: readonly string[]
  /** The attributes that `?rating=5` may name. @default all of one simple type, if the store can filter */
  readonly filter?: readonly string[]
  /** The attributes in which `?q=tea` searches. @default the texts among those of `filter`, if the store can search */
  readonly search?: readonly string[]
  /**
   * Whether no header of an answer to a QUERY names its parameters in a URL: neither `Location` nor `Link`.
   * @default false
   */
  readonly privateQueries?: boolean
  /**
   * The attributes that have the ids of other resources, or the values of a key of one attribute, with the plural names
   * of these: `{ authorId: 'authors' }`. `?include=author` then adds the author to each row.
   * @default {}
   */
  readonly references?: Readonly<Record<string, string>>
  /**
   * What names a row on pages: an attribute, a function of the row, or `'id'`.
   * @default the first required text that is short and has no format, default or choices, or else the id
   */
  readonly title?: RowTitle
  /** The columns of the HTML list besides the name and the id, by the names of attributes. @default the first eight */
  readonly columns?: readonly string[]
  /** Functions that render pages and their parts. @default the views in `defaultViews` */
  readonly views?: Partial<Views<VisibleOf<S>>>
  /**
   * The language of the pages (BCP 47), also for numbers, dates and the direction of texts. Of several languages, each
   * request gets the one that its `Accept-Language` prefers, or else the first. `'auto'` offers all languages that the
   * package has words for.
   * @default 'en'
   */
  readonly lang?: string | readonly string[]
  /** Words that replace those of the language, or a function that returns them for a language. @default {} */
  readonly messages?: Partial<PageMessages> | ((lang: string) => Partial<PageMessages>)
  /**
   * The colour of links and buttons, `'#rgb'` or `'#rrggbb'`, which is adjusted for contrast.
   * @default '#1d5fd1'
   */
  readonly accent?: string
  /** The name, the logo and further parts of the pages' face. @default {} */
  readonly brand?: Brand
  /**
   * The time zone of dates and times on pages, such as `'Europe/Berlin'` (IANA). Forms keep the offset of each value.
   * @default none: each is shown with its own offset
   */
  readonly timeZone?: string
  /**
   * Directives of the pages' Content-Security-Policy, which are added to the default ones or replace those of the same
   * name: `{ 'img-src': "'self'" }`. `false` sends no such header, for an app that sends its own.
   * @default {}
   */
  readonly contentSecurityPolicy?: Readonly<Record<string, string>> | false
  /**
   * The header `Cache-Control` of answers: one value for all actions, or a value for each,
   * `{ list: 'public, max-age=60' }`. Errors get `private, no-cache`, or the value of their action if it has
   * `no-store`. A value that a hook or a handler of the app sets takes precedence.
   * @default 'private, no-cache'
   */
  readonly cacheControl?: string | Readonly<Record<string, string>>
  /**
   * Whether a text in CSV that begins with `=`, `+`, `-`, `@`, a tab or a CR gets an apostrophe before it. Otherwise a
   * spreadsheet may run it as a formula. It changes what programs read.
   * @default false
   */
  readonly escapeFormulas?: boolean
  /**
   * Members of its operations in the document of `@fastify/swagger`, which must be registered before. `false` hides
   * them.
   * @default {}
   */
  readonly openapi?: OpenapiOptions | false
  /** Whether `GET /posts.xsd` answers with the XML Schema of requests and responses in XML. @default false */
  readonly xsd?: boolean
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

/** The name of an option that a resource does not get from a scope around it. */
export type OwnOption =
  | 'name'
  | 'singular'
  | 'actions'
  | 'actionHooks'
  | 'prefix'
  | 'foreignKey'
  | 'table'
  | 'unique'
  | 'onDelete'

export const OWN_OPTIONS: readonly OwnOption[] =
  ['name', 'singular', 'actions', 'actionHooks', 'prefix', 'foreignKey', 'table', 'unique', 'onDelete']
