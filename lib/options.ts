import { checkCacheControl } from './cache-control.js'
import { checkBoolean, checkMembers, checkNames, checkOneOf, show } from './checks.js'
import { InvalidOptionError, UnknownOptionError } from './errors.js'
import { form } from './formats/form/form.js'
import type { Format } from './formats/format.js'
import { parseColour } from './formats/html/colour.js'
import { makeHtmlFormat } from './formats/html/html.js'
import { makeMessages, type PageMessages } from './formats/html/messages.js'
import type { PageOptions } from './formats/html/page-options.js'
import { defaultViews, type Views } from './formats/html/views.js'
import { json } from './formats/json/json.js'
import { xml } from './formats/xml/xml.js'
import { suggest } from './nearest.js'
import { pluralize, singularize } from './inflection.js'
import { isXmlName } from './representable.js'
import type { IdType } from './resource.js'
import type { RoutingOptions } from './routing/options.js'
import { type Guards, NO_GUARDS, resolveRouting, type Routing } from './routing/resolve-routing.js'
import type { AttributesOf, ChangesOf, CreateOf, ResourceAttributes, StoreFor, VisibleOf } from './row-types.js'
import { type AttributesSchema, isSchema, type Schema } from './shape.js'
import { memoryStore } from './stores/memory.js'
import { noStore } from './stores/none.js'
import type { Id, Store } from './stores/store.js'

/** What `app.register(resources, …)` takes. */
export interface ResourceOptions<S extends AttributesSchema | undefined = AttributesSchema | undefined, T extends Store<any> = Store<any>> extends DeclaredOptions<S, T> {
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
export interface DeclaredOptions<S extends AttributesSchema | undefined = AttributesSchema | undefined, T extends Store<any> = Store<any>, I extends Id | undefined = Id> extends RoutingOptions<ResourceAttributes<S, T>, CreateOf<S>, ChangesOf<S>, I> {
  /** The schema of the attributes, for example a TypeBox object. @default the store's, else none: any attributes may be given */
  readonly attributes?: S
  /** Where the rows are kept. @default a new `memoryStore` */
  readonly store?: StoreFor<AttributesOf<S>, T>
  /**
   * What ids look like; `'uuid'` is a time-ordered UUID v7, `'string'` any text that a store or handlers of the app's own
   * make. @default the store's, else 'integer'
   */
  readonly id?: IdType
  /** What answers are written in; the first is for clients that do not say. @default ['xml', 'html', 'json'] */
  readonly formats?: ReadonlyArray<'xml' | 'html' | 'json' | Format>
  /**
   * Where PUT and DELETE stand: on the collection's path with the id in the payload, on the member's path (with PATCH),
   * or on both. @default 'collection'
   */
  readonly writes?: 'collection' | 'member' | 'both'
  /** Origins whose browsers may write although they are not this one, such as `'https://app.example.com'`. @default [] */
  readonly trustedOrigins?: readonly string[]
  /** Whether an update or a delete must say which version it means; 428 if it does not. @default false */
  readonly requireMatch?: boolean
  /** The greatest `?limit=`, in rows. @default 1000 */
  readonly maxLimit?: number
  /** The length of a page of the HTML list, in rows. @default 50, or `maxLimit` where that is less */
  readonly pageSize?: number
  /** Attributes that `?sort=-rating,title` may name. @default all of one simple type, where the store can put in order */
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
  /** The colour of links and buttons, `'#rgb'` or `'#rrggbb'`; made darker or lighter where it could not be read. @default '#1d5fd1' */
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
 * What OpenAPI documents say of each operation of a resource: parameters and responses beside ours, all else in the place
 * of ours.
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

/** Options as the rest of the plugin reads them: checked, complete, frozen. */
export interface ResolvedOptions {
  /** As the app has declared it. */
  readonly name: string
  readonly singleton: boolean
  readonly routing: Routing
  readonly plural: string
  readonly singular: string
  readonly schema: Schema | undefined
  readonly store: Store
  readonly idType: IdType
  readonly formats: readonly Format[]
  /** Those of them that are the app's own. */
  readonly ownFormats: readonly unknown[]
  /** What is only read. */
  readonly readers: readonly Format[]
  readonly writes: 'collection' | 'member' | 'both'
  readonly trustedOrigins: ReadonlySet<string>
  readonly requireMatch: boolean
  readonly maxLimit: number
  readonly pageSize: number
  /** Undefined: all that can serve. */
  readonly sort: readonly string[] | undefined
  /** Undefined: all that can serve. */
  readonly filter: readonly string[] | undefined
  /** Undefined: the first that there are. */
  readonly columns: readonly string[] | undefined
  /** Checked, but for the names of actions. */
  readonly cacheControl: string | Readonly<Record<string, string>>
  readonly openapi: OpenapiOptions & { readonly suffixes: boolean } | false
  readonly xsd: boolean
}

// The last two are Fastify's own.
const OPTIONS = [
  'name', 'singular', 'attributes', 'store', 'id', 'formats', 'writes', 'trustedOrigins', 'requireMatch', 'maxLimit',
  'pageSize', 'sort', 'filter', 'columns', 'views', 'lang', 'messages', 'accent', 'contentSecurityPolicy', 'cacheControl', 'xsd', 'openapi',
  'path', 'only', 'except', 'formPages', 'pathNames', 'param', 'constraints', 'conditions', 'as', 'actions', 'hooks', 'actionHooks', 'authorize', 'scope',
  'foreignKey', 'prefix', 'logLevel', 'logSerializers'
]
/** Names that other libraries give to options of ours, and what to say of them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(['schema', 'properties', 'fields'].map((name) => [name, '; the schema of the attributes is the option "attributes"']))
const FORMATS = ['xml', 'html', 'json']
const FORMAT: readonly string[] = ['name', 'mediaTypes', 'browser', 'compileWriter', 'compileReader'] satisfies Array<keyof Format>
const METHODS = ['list', 'get', 'create', 'update', 'delete'] as const
const NAME = /^[A-Za-z_][\w-]*$/
// RFC 9110 §8.3.1, in lower case and without parameters.
const MEDIA_TYPE = /^[!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+$/
// What stands beside the group in a payload.
const RESERVED = ['id', '_method', '_version', 'commit']

/**
 * Checks what a caller passed and fills in the rest; the caller's object is left as it is.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function resolveOptions (options: ResourceOptions, singleton = false, guards: Guards = NO_GUARDS): ResolvedOptions {
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key)) throw new UnknownOptionError(key, OTHER_NAMES.get(key) ?? suggest(key, OPTIONS))
  }
  const name = checkName('name', options.name)
  const plural = singleton ? pluralize(name) : name
  const { id, singular = singleton ? name : singularize(name), writes = 'collection', trustedOrigins = [], requireMatch = false, xsd = false } = options
  const routing = resolveRouting(name, options, singleton, guards)
  const store = options.store === undefined ? makeStore(checkIdType(id === undefined ? 'integer' : id), routing) : checkStore(options.store)
  const { formats: given = ['xml', 'html', 'json'], maxLimit: most = 1000, openapi = {}, cacheControl = {} } = options
  const formats = resolveFormats(given, resolvePages(options))
  const maxLimit = checkCount('maxLimit', most)
  const { pageSize = Math.min(50, maxLimit) } = options
  return Object.freeze({
    name,
    singleton,
    routing,
    plural,
    singular: checkName('singular', singular),
    schema: resolveAttributes(options.attributes, store),
    store,
    idType: resolveIdType(id === undefined ? store.id : id, store),
    formats,
    ownFormats: given.filter((format) => typeof format !== 'string'),
    readers: formats.some(({ browser }) => browser === true) ? [form] : [],
    writes: checkOneOf('writes', writes, ['collection', 'member', 'both']),
    trustedOrigins: new Set(checkOrigins(trustedOrigins)),
    requireMatch: checkBoolean('requireMatch', requireMatch),
    maxLimit,
    pageSize: checkPageSize(pageSize, maxLimit),
    sort: checkNames('sort', options.sort),
    filter: checkNames('filter', options.filter),
    columns: checkNames('columns', options.columns),
    cacheControl: checkCacheControl(cacheControl),
    openapi: openapi === false ? false : { suffixes: false, ...checkMembers('openapi', openapi, OPENAPI) },
    xsd: checkXsd(xsd, formats)
  })
}

function checkName (option: string, name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) throw new InvalidOptionError(option, `must be a name such as 'posts' (letters, digits, "_" and "-", no digit first), not ${show(name)}`)
  if (RESERVED.includes(name)) throw new InvalidOptionError(option, `must not be "${name}", which stands beside the attributes in a payload; set "singular" to another name`)
  if (!isXmlName(name)) throw new InvalidOptionError(option, `must not be "${name}", which no attributes can travel under`)
  return name
}

/** The resource's own, of which the store must be able to keep each, or else the store's. */
function resolveAttributes (given: unknown, store: Store): Schema | undefined {
  const attributes = checkAttributes(given === undefined ? store.attributes : given)
  const kept = store.attributes?.properties
  if (kept === undefined || !isSchema(attributes?.properties)) return attributes
  for (const name of Object.keys(attributes.properties)) {
    if (!Object.hasOwn(kept, name)) throw new InvalidOptionError('attributes', `declares "${name}", which the store does not keep${suggest(name, Object.keys(kept))}`)
  }
  return attributes
}

function checkAttributes (attributes: unknown): Schema | undefined {
  if (attributes !== undefined && (typeof attributes !== 'object' || attributes === null)) throw new InvalidOptionError('attributes', 'must be a JSON Schema { type: \'object\', properties: { … } }')
  return attributes as Schema | undefined
}

/** In memory, but where each action that would need it is the app's own. */
function makeStore (id: IdType, { actions, handlers }: Routing): Store {
  const left = [...actions].filter((action) => !handlers.has(action === 'edit' ? 'show' : action) && action !== 'new')
  if (left.length === 0) return noStore
  if (id === 'string') throw new InvalidOptionError('id', `is 'string', for which there must be a "store" that makes such ids, or handlers of your own of ${left.join(', ')}`)
  return memoryStore({ id })
}

function checkStore (store: unknown): Store {
  const missing = METHODS.filter((method) => typeof (store as Partial<Store> | null)?.[method] !== 'function')
  if (missing.length > 0) throw new InvalidOptionError('store', `must have the methods of a store; missing: ${missing.join(', ')}`)
  return store as Store
}

function resolveIdType (id: unknown, store: Store): IdType {
  const resolved = checkIdType(id === undefined ? 'integer' : id)
  if (store.id !== undefined && store.id !== resolved) throw new InvalidOptionError('id', `is '${resolved}', but the store makes '${store.id}' ids; leave it out, or make the store with the same`)
  return resolved
}

function checkIdType (id: unknown): IdType {
  return checkOneOf('id', id, ['integer', 'uuid', 'string'])
}

function resolveFormats (given: unknown, pages: PageOptions): readonly Format[] {
  if (!Array.isArray(given) || given.length === 0) throw new InvalidOptionError('formats', 'must be a list such as [\'xml\', \'html\', \'json\']')
  const known = new Map([['xml', xml], ['html', makeHtmlFormat(pages)], ['json', json]])
  const formats = given.map((format: unknown) => typeof format === 'string' ? findFormat(format, known) : checkFormat(format))
  for (const [index, { name, mediaTypes }] of formats.entries()) {
    if (formats.findIndex((other) => other.name === name) !== index) throw new InvalidOptionError('formats', `has "${name}" twice`)
    const taken = mediaTypes.find((type) => formats.findIndex((other) => other.mediaTypes.includes(type)) !== index)
    if (taken !== undefined) throw new InvalidOptionError('formats', `has two formats of the media type "${taken}"`)
  }
  return formats
}

function findFormat (name: string, known: ReadonlyMap<string, Format>): Format {
  const format = known.get(name)
  if (format === undefined) throw new InvalidOptionError('formats', `has "${name}", which is none of ${FORMATS.join(', ')}${suggest(name, FORMATS)}`)
  return format
}

function checkFormat (format: unknown): Format {
  const { name, mediaTypes, compileWriter, compileReader } = (format ?? {}) as Partial<Format>
  if (typeof name !== 'string' || !/^[a-z\d]+$/.test(name)) throw new InvalidOptionError('formats', 'has a format whose "name" is not made of small letters and digits')
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0 || mediaTypes.some((type) => !MEDIA_TYPE.test(type))) {
    throw new InvalidOptionError('formats', `has "${name}", whose "mediaTypes" must be a list such as ['text/csv'], in small letters`)
  }
  if (typeof compileWriter !== 'function') throw new InvalidOptionError('formats', `has "${name}", which has no function "compileWriter"`)
  if (compileReader !== undefined && typeof compileReader !== 'function') throw new InvalidOptionError('formats', `has "${name}", whose "compileReader" is no function`)
  // Members of its own it may have: it may be an instance of a class.
  const misspelt = Object.keys(format as Format).find((member) => !FORMAT.includes(member) && suggest(member, FORMAT) !== '')
  if (misspelt !== undefined) throw new InvalidOptionError('formats', `has "${name}" with "${misspelt}", which is no member of a format${suggest(misspelt, FORMAT)}`)
  return format as Format
}

/** It tells what our own format writes and reads, under the path that one called so would have. */
function checkXsd (xsd: unknown, formats: readonly Format[]): boolean {
  if (!checkBoolean('xsd', xsd)) return false
  if (!formats.includes(xml)) throw new InvalidOptionError('xsd', 'is about the format \'xml\', which is not among the "formats"')
  if (formats.some(({ name }) => name === 'xsd')) throw new InvalidOptionError('xsd', 'adds the path that a format called "xsd" has; give the format another name')
  return true
}

function resolvePages ({ lang = 'en', messages = {}, views = {}, accent = '#1d5fd1', columns, contentSecurityPolicy = {} }: ResourceOptions): PageOptions {
  return {
    lang: checkLanguage(lang),
    messages: checkMessages(messages),
    views: checkMembers('views', views, defaultViews),
    accent: checkAccent(accent),
    columns: checkNames('columns', columns),
    contentSecurityPolicy: contentSecurityPolicy === false ? undefined : checkPolicy(contentSecurityPolicy)
  }
}

function checkLanguage (lang: unknown): string {
  try {
    const [canonical] = typeof lang === 'string' ? Intl.getCanonicalLocales(lang) : []
    if (canonical !== undefined) return canonical
  } catch {}
  throw new InvalidOptionError('lang', `must be a language tag such as 'de' or 'pt-BR', not ${show(lang)}`)
}

function checkMessages (given: unknown): Partial<PageMessages> {
  const messages = checkMembers<PageMessages>('messages', given, makeMessages({ plural: '', singular: '' }, {}))
  for (const [phrase, words] of Object.entries(messages.phrases ?? {})) {
    if (typeof words !== 'string') throw new InvalidOptionError('messages', `has the phrase "${phrase}", whose translation is no text`)
  }
  return messages
}

function checkAccent (accent: unknown): string {
  if (typeof accent !== 'string' || parseColour(accent) === undefined) throw new InvalidOptionError('accent', `must be a colour such as '#1d5fd1', not ${show(accent)}`)
  return accent
}

/** A directive that had a semicolon or a comma in it would be another one, or another policy (CSP Level 3 §2.2). */
function checkPolicy (policy: unknown): Readonly<Record<string, string>> {
  if (!isSchema(policy)) throw new InvalidOptionError('contentSecurityPolicy', `must be false or directives such as { 'img-src': "'self'" }, not ${show(policy)}`)
  for (const [name, value] of Object.entries(policy)) {
    if (!/^[a-z][a-z-]*$/.test(name) || typeof value !== 'string' || !/^[!-+\--:<-~ ]*$/.test(value)) throw new InvalidOptionError('contentSecurityPolicy', `has the directive "${name}", which must be a name in small letters with its values in one text`)
  }
  return policy as Readonly<Record<string, string>>
}

const OPENAPI: Required<OpenapiOptions> = { tags: [], security: [], parameters: [], responses: {}, servers: [], externalDocs: {}, deprecated: false, suffixes: false }

function checkCount (option: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new InvalidOptionError(option, `must be a number of rows from 1, not ${show(value)}`)
  return value as number
}

function checkPageSize (value: unknown, maxLimit: number): number {
  const pageSize = checkCount('pageSize', value)
  if (pageSize > maxLimit) throw new InvalidOptionError('pageSize', `must not be more than "maxLimit", which is ${maxLimit}`)
  return pageSize
}

function checkOrigins (origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) throw new InvalidOptionError('trustedOrigins', 'must be a list of origins such as [\'https://app.example.com\']')
  for (const origin of origins) {
    if (typeof origin !== 'string' || origin.includes('*') || !URL.canParse(origin) || new URL(origin).origin !== origin) throw new InvalidOptionError('trustedOrigins', `has ${show(origin)}, which is no origin such as 'https://app.example.com': scheme, host in small letters, no path`)
  }
  return origins
}
