import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import { form } from '../formats/form/read.js'
import type { Format } from '../formats/format.js'
import { makeHtmlFormat } from '../formats/html/html.js'
import { makeMessages, type PageMessages } from '../formats/html/messages.js'
import type { PageOptions } from '../formats/html/options.js'
import { parseColour } from '../formats/html/style/colour.js'
import { defaultViews } from '../formats/html/views/views.js'
import { json } from '../formats/json/json.js'
import { xml } from '../formats/xml/xml.js'
import { pluralize, singularize } from '../resource/inflection.js'
import type { IdType } from '../resource/resource.js'
import { isXmlName } from '../schema/legal-text.js'
import type { Schema } from '../schema/types.js'
import { memoryStore } from '../stores/memory.js'
import { noStore } from '../stores/null-store.js'
import type { Store } from '../stores/store.js'
import { checkBoolean, checkMembers, checkNames, checkOneOf, show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import { checkCacheControl } from './cache-control.js'
import type { OpenapiOptions, ResourceOptions } from './options.js'
import { type Guards, NO_GUARDS, resolveRouting, type Routing } from './resolve-routing.js'

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
  'name',
  'singular',
  'attributes',
  'store',
  'id',
  'formats',
  'writes',
  'trustedOrigins',
  'requireMatch',
  'maxLimit',
  'pageSize',
  'sort',
  'filter',
  'columns',
  'views',
  'lang',
  'messages',
  'accent',
  'contentSecurityPolicy',
  'cacheControl',
  'xsd',
  'openapi',
  'path',
  'only',
  'except',
  'formPages',
  'pathNames',
  'param',
  'constraints',
  'routeConstraints',
  'as',
  'actions',
  'hooks',
  'actionHooks',
  'authorize',
  'scope',
  'foreignKey',
  'prefix',
  'logLevel',
  'logSerializers'
]
/** Names that other libraries give to options of ours, and what to say of them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  ['schema', 'properties', 'fields'].map((name) => [name, '; the schema of the attributes is the option "attributes"'])
)
const FORMATS = ['xml', 'html', 'json']
const FORMAT: readonly string[] = ['name', 'mediaTypes', 'browser', 'compileWriter', 'compileReader'] satisfies Array<
  keyof Format
>
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
export function resolveOptions (
  options: ResourceOptions,
  singleton = false,
  guards: Guards = NO_GUARDS
): ResolvedOptions {
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key)) throw new UnknownOptionError(key, OTHER_NAMES.get(key) ?? didYouMean(key, OPTIONS))
  }
  const name = checkName('name', options.name)
  const plural = singleton ? pluralize(name) : name
  const {
    id,
    singular = singleton ? name : singularize(name),
    writes = 'collection',
    trustedOrigins = [],
    requireMatch = false,
    xsd = false
  } = options
  const routing = resolveRouting(name, options, singleton, guards)
  const store =
    options.store === undefined
      ? makeStore(checkIdType(id === undefined ? 'integer' : id), routing)
      : checkStore(options.store)
  const { formats: given = ['xml', 'html', 'json'], maxLimit: most = 1000, openapi = {}, cacheControl = {} } = options
  const formats = resolveFormats(given, resolvePages(options))
  const maxLimit = checkValueCount('maxLimit', most)
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
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new InvalidOptionError(
      option,
      `must be a name such as 'posts' (letters, digits, "_" and "-", no digit first), not ${show(name)}`
    )
  }
  if (RESERVED.includes(name)) {
    throw new InvalidOptionError(
      option,
      `must not be "${name}", which stands beside the attributes in a payload; set "singular" to another name`
    )
  }
  if (!isXmlName(name)) {
    throw new InvalidOptionError(option, `must not be "${name}", which no attributes can travel under`)
  }
  return name
}

/** The resource's own, of which the store must be able to keep each, or else the store's. */
function resolveAttributes (given: unknown, store: Store): Schema | undefined {
  const attributes = checkAttributes(given === undefined ? store.attributes : given)
  const kept = store.attributes?.properties
  if (kept === undefined || !isObject(attributes?.properties)) return attributes
  for (const name of Object.keys(attributes.properties)) {
    if (!Object.hasOwn(kept, name)) {
      throw new InvalidOptionError(
        'attributes',
        `declares "${name}", which the store does not keep${didYouMean(name, Object.keys(kept))}`
      )
    }
  }
  return attributes
}

function checkAttributes (attributes: unknown): Schema | undefined {
  if (attributes !== undefined && (typeof attributes !== 'object' || attributes === null)) {
    throw new InvalidOptionError('attributes', "must be a JSON Schema { type: 'object', properties: { … } }")
  }
  return attributes as Schema | undefined
}

/** In memory, but where each action that would need it is the app's own. */
function makeStore (id: IdType, { actions, handlers }: Routing): Store {
  const left = [...actions].filter((action) => !handlers.has(action === 'edit' ? 'show' : action) && action !== 'new')
  if (left.length === 0) return noStore
  if (id === 'string') {
    throw new InvalidOptionError(
      'id',
      'is \'string\', for which there must be a "store" that makes such ids, or handlers of your own of ' +
        `${left.join(', ')}`
    )
  }
  return memoryStore({ id })
}

function checkStore (store: unknown): Store {
  const missing = METHODS.filter((method) => typeof (store as Partial<Store> | null)?.[method] !== 'function')
  if (missing.length > 0) {
    throw new InvalidOptionError('store', `must have the methods of a store; missing: ${missing.join(', ')}`)
  }
  return store as Store
}

function resolveIdType (id: unknown, store: Store): IdType {
  const resolved = checkIdType(id === undefined ? 'integer' : id)
  if (store.id !== undefined && store.id !== resolved) {
    throw new InvalidOptionError(
      'id',
      `is '${resolved}', but the store makes '${store.id}' ids; leave it out, or make the store with the same`
    )
  }
  return resolved
}

function checkIdType (id: unknown): IdType {
  return checkOneOf('id', id, ['integer', 'uuid', 'string'])
}

function resolveFormats (given: unknown, pages: PageOptions): readonly Format[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw new InvalidOptionError('formats', "must be a list such as ['xml', 'html', 'json']")
  }
  const known = new Map([['xml', xml], ['html', makeHtmlFormat(pages)], ['json', json]])
  const formats = given.map((format: unknown) =>
    typeof format === 'string' ? findFormat(format, known) : checkFormat(format)
  )
  for (const [index, { name, mediaTypes }] of formats.entries()) {
    if (formats.findIndex((other) => other.name === name) !== index) {
      throw new InvalidOptionError('formats', `has "${name}" twice`)
    }
    const taken = mediaTypes.find((type) => formats.findIndex((other) => other.mediaTypes.includes(type)) !== index)
    if (taken !== undefined) throw new InvalidOptionError('formats', `has two formats of the media type "${taken}"`)
  }
  return formats
}

function findFormat (name: string, known: ReadonlyMap<string, Format>): Format {
  const format = known.get(name)
  if (format === undefined) {
    throw new InvalidOptionError(
      'formats',
      `has "${name}", which is none of ${FORMATS.join(', ')}${didYouMean(name, FORMATS)}`
    )
  }
  return format
}

function checkFormat (format: unknown): Format {
  const { name, mediaTypes, compileWriter, compileReader } = (format ?? {}) as Partial<Format>
  if (typeof name !== 'string' || !/^[a-z\d]+$/.test(name)) {
    throw new InvalidOptionError('formats', 'has a format whose "name" is not made of small letters and digits')
  }
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0 || mediaTypes.some((type) => !MEDIA_TYPE.test(type))) {
    throw new InvalidOptionError(
      'formats',
      `has "${name}", whose "mediaTypes" must be a list such as ['text/csv'], in small letters`
    )
  }
  if (typeof compileWriter !== 'function') {
    throw new InvalidOptionError('formats', `has "${name}", which has no function "compileWriter"`)
  }
  if (compileReader !== undefined && typeof compileReader !== 'function') {
    throw new InvalidOptionError('formats', `has "${name}", whose "compileReader" is no function`)
  }
  // Members of its own it may have: it may be an instance of a class.
  const misspelt = Object.keys(format as Format).find(
    (member) => !FORMAT.includes(member) && didYouMean(member, FORMAT) !== ''
  )
  if (misspelt !== undefined) {
    throw new InvalidOptionError(
      'formats',
      `has "${name}" with "${misspelt}", which is no member of a format${didYouMean(misspelt, FORMAT)}`
    )
  }
  return format as Format
}

/** It tells what our own format writes and reads, under the path that one called so would have. */
function checkXsd (xsd: unknown, formats: readonly Format[]): boolean {
  if (!checkBoolean('xsd', xsd)) return false
  if (!formats.includes(xml)) {
    throw new InvalidOptionError('xsd', 'is about the format \'xml\', which is not among the "formats"')
  }
  if (formats.some(({ name }) => name === 'xsd')) {
    throw new InvalidOptionError('xsd', 'adds the path that a format called "xsd" has; give the format another name')
  }
  return true
}

function resolvePages ({
  lang = 'en',
  messages = {},
  views = {},
  accent = '#1d5fd1',
  columns,
  contentSecurityPolicy = {}
}: ResourceOptions): PageOptions {
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
    if (typeof words !== 'string') {
      throw new InvalidOptionError('messages', `has the phrase "${phrase}", whose translation is no text`)
    }
  }
  return messages
}

function checkAccent (accent: unknown): string {
  if (typeof accent !== 'string' || parseColour(accent) === undefined) {
    throw new InvalidOptionError('accent', `must be a colour such as '#1d5fd1', not ${show(accent)}`)
  }
  return accent
}

/** A directive that had a semicolon or a comma in it would be another one, or another policy (CSP Level 3 §2.2). */
function checkPolicy (policy: unknown): Readonly<Record<string, string>> {
  if (!isObject(policy)) {
    throw new InvalidOptionError(
      'contentSecurityPolicy',
      `must be false or directives such as { 'img-src': "'self'" }, not ${show(policy)}`
    )
  }
  for (const [name, value] of Object.entries(policy)) {
    if (!/^[a-z][a-z-]*$/.test(name) || typeof value !== 'string' || !/^[!-+\--:<-~ ]*$/.test(value)) {
      throw new InvalidOptionError(
        'contentSecurityPolicy',
        `has the directive "${name}", which must be a name in small letters with its values in one text`
      )
    }
  }
  return policy as Readonly<Record<string, string>>
}

const OPENAPI: Required<OpenapiOptions> = {
  tags: [],
  security: [],
  parameters: [],
  responses: {},
  servers: [],
  externalDocs: {},
  deprecated: false,
  suffixes: false
}

function checkValueCount (option: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new InvalidOptionError(option, `must be a number of rows from 1, not ${show(value)}`)
  }
  return value as number
}

function checkPageSize (value: unknown, maxLimit: number): number {
  const pageSize = checkValueCount('pageSize', value)
  if (pageSize > maxLimit) {
    throw new InvalidOptionError('pageSize', `must not be more than "maxLimit", which is ${maxLimit}`)
  }
  return pageSize
}

function checkOrigins (origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) {
    throw new InvalidOptionError('trustedOrigins', "must be a list of origins such as ['https://app.example.com']")
  }
  for (const origin of origins) {
    if (
      typeof origin !== 'string' ||
      origin.includes('*') ||
      !URL.canParse(origin) ||
      new URL(origin).origin !== origin
    ) {
      throw new InvalidOptionError(
        'trustedOrigins',
        `has ${show(origin)}, which is no origin such as 'https://app.example.com': scheme, host in small letters, ` +
          'no path'
      )
    }
  }
  return origins
}
