import type { Format } from '../formats/format.js'
import type { PageMessages } from '../formats/html/messages.js'
import type { Views } from '../formats/html/views/types.js'
import type { IdType } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import type { AttributesOf, ChangesOf, CreateOf, VisibleOf } from '../schema/infer.js'
import type { AttributesSchema } from '../schema/types.js'
import type { ResourceAttributes, StoreFor } from '../stores/infer.js'
import type { Store } from '../stores/store.js'
import type { RoutingOptions } from './routing-options.js'

/** What `app.register(resources, …)` takes. */
export interface ResourceOptions<
  S extends AttributesSchema | undefined = AttributesSchema | undefined,
  T extends Store<any> = Store<any>
> extends DeclaredOptions<S, T> {
  /** The plural name, which is the path: `'posts'` for `/posts`. Of a singleton the name of the one. */
  readonly name: string
  /** The name of one, under which its attributes travel. @default the singular of `name` by the rules of English */
  readonly singular?: string
  /** The plural by which `app.paths` calls it. @default `name` */
  readonly as?: string
  /** What the paths begin with, as Fastify's `register` takes it; it may have parameters, `'/:tenant'`. @default '' */
  readonly prefix?: string
}

/** What a resource is, besides its names. */
// The attributes' type is the store author's; what reaches the store has been validated by `attributes`.
export interface DeclaredOptions<
  S extends AttributesSchema | undefined = AttributesSchema | undefined,
  T extends Store<any> = Store<any>,
  I extends Id | undefined = Id
> extends RoutingOptions<ResourceAttributes<S, T>, CreateOf<S>, ChangesOf<S>, I> {
  /**
   * The schema of the attributes, for example a TypeBox object.
   * @default the store's, else none: any attributes may be given
   */
  readonly attributes?: S
  /** Where the rows are kept. @default a new `memoryStore` */
  readonly store?: StoreFor<AttributesOf<S>, T>
  /**
   * What ids look like; `'uuid'` is a time-ordered UUID v7, `'string'` any text that a store or handlers of the app's
   * own make. @default the store's, else 'integer'
   */
  readonly id?: IdType
  /** What answers are written in; the first is for clients that do not say. @default ['xml', 'html', 'json'] */
  readonly formats?: ReadonlyArray<'xml' | 'html' | 'json' | Format>
  /**
   * Where PUT and DELETE stand: on the collection's path with the id in the payload, on the member's path (with PATCH),
   * or on both. @default 'collection'
   */
  readonly writes?: 'collection' | 'member' | 'both'
  /**
   * Origins whose browsers may write although they are not this one, such as `'https://app.example.com'`.
   * @default []
   */
  readonly trustedOrigins?: readonly string[]
  /** Whether an update or a delete must say which version it means; 428 if it does not. @default false */
  readonly requireMatch?: boolean
  /** The greatest `?limit=`, in rows. @default 1000 */
  readonly maxLimit?: number
  /** The length of a page of the HTML list, in rows. @default 50, or `maxLimit` where that is less */
  readonly pageSize?: number
  /**
   * Attributes that `?sort=-rating,title` may name.
   * @default all of one simple type, where the store can put in order
   */
  readonly sort?: readonly string[]
  /** Attributes that `?rating=5` may ask for. @default all of one simple type, where the store can find by them */
  readonly filter?: readonly string[]
  /** The columns of the HTML list, by the names of attributes. @default the first eight */
  readonly columns?: readonly string[]
  /** What pages and their parts look like, each by a function. @default ours */
  readonly views?: Partial<Views<VisibleOf<S>>>
  /** The language of the pages (BCP 47); dates are written as there, and right to left where it is. @default 'en' */
  readonly lang?: string
  /** The words of the pages, those that are not to be ours. @default English */
  readonly messages?: Partial<PageMessages>
  /**
   * The colour of links and buttons, `'#rgb'` or `'#rrggbb'`; made darker or lighter where it could not be read.
   * @default '#1d5fd1'
   */
  readonly accent?: string
  /**
   * Directives of the pages' Content-Security-Policy, beside ours or in their place: `{ 'img-src': "'self'" }`. `false`
   * sends none, for an app that sends its own. @default {}
   */
  readonly contentSecurityPolicy?: Readonly<Record<string, string>> | false
  /**
   * The header `Cache-Control` of answers: one value for all actions, or a value for each,
   * `{ list: 'public, max-age=60' }`. An error says `private, no-cache`, unless `no-store` is given. What the app sets
   * itself, by a hook or a handler, wins. @default 'private, no-cache'
   */
  readonly cacheControl?: string | Readonly<Record<string, string>>
  /** What `@fastify/swagger`, where it has been registered before, says of its routes; false: nothing. @default {} */
  readonly openapi?: OpenapiOptions | false
  /** Whether `GET /posts.xsd` gives the XML Schema of what is written and read as XML. @default false */
  readonly xsd?: boolean
}

/**
 * What OpenAPI documents say of each operation of a resource: parameters and responses beside ours, all else in the
 * place of ours.
 */
export interface OpenapiOptions {
  /** What its operations are grouped by. @default the plural name */
  readonly tags?: readonly string[]
  /** What a client must show to be let in: `[{ bearer: [] }]`. @default that of the document */
  readonly security?: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  /** Parameters, such as headers, that the app's own hooks ask for. @default none */
  readonly parameters?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** Answers of the app's own hooks, by their status: `{ 401: { description: '…' } }`. @default none */
  readonly responses?: Readonly<Record<string, unknown>>
  /** Where it is served, as an OpenAPI document says it. @default that of the document */
  readonly servers?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /** What else is to be read of it: `{ url: '…' }`. @default none */
  readonly externalDocs?: Readonly<Record<string, unknown>>
  /** Whether clients should use its operations no longer. @default false */
  readonly deprecated?: boolean
  /** Whether the paths that have a suffix are described, too. @default false */
  readonly suffixes?: boolean
}
