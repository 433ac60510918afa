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
import { type IdType, singularize } from './resource.js'
import { type AttributesSchema, isSchema, type Schema } from './shape.js'
import { memoryStore } from './stores/memory.js'
import type { Store } from './stores/store.js'

/** What `app.register(resources, …)` takes. */
export interface ResourceOptions {
  /** The plural name, which is the path: `'posts'` for `/posts`. */
  readonly name: string
  /** The name of one, under which its attributes travel. @default the singular of `name` by the rules of English */
  readonly singular?: string
  /** The schema of the attributes, for example a TypeBox object. @default the store's, else none: any attributes may be given */
  readonly attributes?: AttributesSchema
  /** Where the rows are kept. @default a new `memoryStore` */
  // The attributes' type is the store author's; what reaches the store has been validated by `attributes`.
  readonly store?: Store<any>
  /** What ids look like; `'uuid'` is a time-ordered UUID v7. @default the store's, else 'integer' */
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
  readonly views?: Partial<Views>
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
  /** What the paths begin with, as Fastify's `register` takes it. @default '' */
  readonly prefix?: string
}

/** Options as the rest of the plugin reads them: checked, complete, frozen. */
export interface ResolvedOptions {
  readonly plural: string
  readonly singular: string
  readonly schema: Schema | undefined
  readonly store: Store
  readonly idType: IdType
  readonly formats: readonly Format[]
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
}

// The last two are Fastify's own.
const OPTIONS = [
  'name', 'singular', 'attributes', 'store', 'id', 'formats', 'writes', 'trustedOrigins', 'requireMatch', 'maxLimit',
  'pageSize', 'sort', 'filter', 'columns', 'views', 'lang', 'messages', 'accent', 'contentSecurityPolicy', 'prefix', 'logLevel', 'logSerializers'
]
const FORMATS = ['xml', 'html', 'json']
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
export function resolveOptions (options: ResourceOptions): ResolvedOptions {
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key)) throw new UnknownOptionError(key, suggest(key, OPTIONS))
  }
  const plural = checkName('name', options.name)
  const { id, singular = singularize(plural), writes = 'collection', trustedOrigins = [], requireMatch = false } = options
  const store = options.store === undefined ? memoryStore({ id: checkIdType(id === undefined ? 'integer' : id) }) : checkStore(options.store)
  const { formats: given = ['xml', 'html', 'json'], maxLimit: most = 1000 } = options
  const formats = resolveFormats(given, resolvePages(options))
  const maxLimit = checkCount('maxLimit', most)
  const { pageSize = Math.min(50, maxLimit) } = options
  return Object.freeze({
    plural,
    singular: checkName('singular', singular),
    schema: resolveAttributes(options.attributes, store),
    store,
    idType: resolveIdType(id === undefined ? store.id : id, store),
    formats,
    readers: formats.some(({ browser }) => browser === true) ? [form] : [],
    writes: checkOneOf('writes', writes, ['collection', 'member', 'both']),
    trustedOrigins: new Set(checkOrigins(trustedOrigins)),
    requireMatch: checkBoolean('requireMatch', requireMatch),
    maxLimit,
    pageSize: checkPageSize(pageSize, maxLimit),
    sort: checkNames('sort', options.sort),
    filter: checkNames('filter', options.filter),
    columns: checkNames('columns', options.columns)
  })
}

function checkName (option: string, name: unknown): string {
  if (typeof name !== 'string' || !NAME.test(name)) throw new InvalidOptionError(option, 'must be a name such as \'posts\': letters, digits, "_" and "-", no digit first')
  if (RESERVED.includes(name)) throw new InvalidOptionError(option, `must not be "${name}", which stands beside the attributes in a payload; set "singular" to another name`)
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
  return checkOneOf('id', id, ['integer', 'uuid'])
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
  return format as Format
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

/** Each member must be one of those known, and of the same type. */
function checkMembers<T extends object> (option: string, given: unknown, known: T): Partial<T> {
  if (!isSchema(given)) throw new InvalidOptionError(option, `must be an object, not ${show(given)}`)
  const names = Object.keys(known)
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw new InvalidOptionError(option, `has "${name}", which there is none of${suggest(name, names)}`)
    const wanted = typeOf(known[name as keyof T])
    if (typeOf(value) !== wanted) throw new InvalidOptionError(option, `has "${name}", which must be a ${wanted}, not ${show(value)}`)
  }
  return given as Partial<T>
}

function typeOf (value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
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

function checkOneOf<T extends string> (option: string, value: unknown, known: readonly T[]): T {
  if (!known.includes(value as T)) throw new InvalidOptionError(option, `must be ${known.map((word) => `'${word}'`).join(' or ')}, not ${show(value)}`)
  return value as T
}

function checkBoolean (option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new InvalidOptionError(option, `must be true or false, not ${show(value)}`)
  return value
}

function checkCount (option: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new InvalidOptionError(option, `must be a number of rows from 1, not ${show(value)}`)
  return value as number
}

function checkPageSize (value: unknown, maxLimit: number): number {
  const pageSize = checkCount('pageSize', value)
  if (pageSize > maxLimit) throw new InvalidOptionError('pageSize', `must not be more than "maxLimit", which is ${maxLimit}`)
  return pageSize
}

function checkNames (option: string, names: unknown): readonly string[] | undefined {
  if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string'))) throw new InvalidOptionError(option, 'must be a list of attributes such as [\'title\']')
  return names
}

function checkOrigins (origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) throw new InvalidOptionError('trustedOrigins', 'must be a list of origins such as [\'https://app.example.com\']')
  for (const origin of origins) {
    if (typeof origin !== 'string' || origin.includes('*') || !URL.canParse(origin) || new URL(origin).origin !== origin) throw new InvalidOptionError('trustedOrigins', `has ${show(origin)}, which is no origin such as 'https://app.example.com': scheme, host in small letters, no path`)
  }
  return origins
}

function show (value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
