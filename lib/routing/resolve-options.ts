import { InvalidOptionError, UnknownOptionError } from '../errors.js'
import { form } from '../formats/form/read.js'
import type { Format } from '../formats/format.js'
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
import {
  checkAccent,
  checkLanguage,
  checkMessages,
  checkPolicy,
  checkViews,
  checkXsd,
  resolveFormats
} from './resolve-formats.js'
import {
  type Guards,
  NO_GUARDS,
  OF_REGISTER,
  type OptionTable,
  readOptions,
  resolveRouting,
  type Routing,
  ROUTING_OPTIONS
} from './resolve-routing.js'
import type { RoutingOptions } from './routing-options.js'

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

/** Names that other libraries give to options of ours, and what to say of them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  ['schema', 'properties', 'fields'].map((name) => [name, '; the schema of the attributes is the option "attributes"'])
)
const METHODS = ['list', 'get', 'create', 'update', 'delete'] as const
const NAME = /^[A-Za-z_][\w-]*$/
// What stands beside the group in a payload.
const RESERVED = ['id', '_method', '_version', 'commit']

const OPTIONS = {
  name: [checkName],
  singular: [checkSingular],
  attributes: [resolveAttributes],
  store: [resolveStore],
  id: [resolveIdType],
  formats: [resolveFormats, ['xml', 'html', 'json']],
  writes: [checkWrites, 'collection'],
  trustedOrigins: [checkOrigins, []],
  requireMatch: [checkBoolean, false],
  maxLimit: [checkRowCount, 1000],
  pageSize: [checkPageSize],
  sort: [checkNames],
  filter: [checkNames],
  columns: [checkNames],
  views: [checkViews, {}],
  lang: [checkLanguage, 'en'],
  messages: [checkMessages, {}],
  accent: [checkAccent, '#1d5fd1'],
  contentSecurityPolicy: [checkPolicy, {}],
  cacheControl: [checkCacheControl, {}],
  xsd: [checkXsd, false],
  openapi: [checkOpenapi, {}]
} as const satisfies OptionTable<Exclude<keyof ResourceOptions, keyof RoutingOptions | 'as' | 'prefix'>>

const KNOWN = [...Object.keys(OPTIONS), ...ROUTING_OPTIONS, ...OF_REGISTER]

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
    if (!KNOWN.includes(key)) throw new UnknownOptionError(key, OTHER_NAMES.get(key) ?? didYouMean(key, KNOWN))
  }
  const read = readOptions(OPTIONS, options)
  const name = read('name')
  const routing = resolveRouting(name, options, singleton, guards)
  const store = read('store', options.id, routing)
  const formats = read('formats', {
    lang: read('lang'),
    messages: read('messages'),
    views: read('views'),
    accent: read('accent'),
    columns: read('columns'),
    contentSecurityPolicy: read('contentSecurityPolicy')
  })
  const maxLimit = read('maxLimit')
  return Object.freeze({
    name,
    singleton,
    routing,
    plural: singleton ? pluralize(name) : name,
    singular: read('singular', singleton ? name : singularize(name)),
    schema: read('attributes', store),
    store,
    idType: read('id', store),
    formats,
    ownFormats: options.formats?.filter((format) => typeof format !== 'string') ?? [],
    readers: formats.some(({ browser }) => browser === true) ? [form] : [],
    writes: read('writes'),
    trustedOrigins: new Set(read('trustedOrigins')),
    requireMatch: read('requireMatch'),
    maxLimit,
    pageSize: read('pageSize', maxLimit),
    sort: read('sort'),
    filter: read('filter'),
    columns: read('columns'),
    cacheControl: read('cacheControl'),
    openapi: read('openapi'),
    xsd: read('xsd', formats)
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

function checkSingular (option: string, name: unknown, usual: string): string {
  return checkName(option, name === undefined ? usual : name)
}

/** The resource's own, of which the store must be able to keep each, or else the store's. */
function resolveAttributes (option: string, given: unknown, store: Store): Schema | undefined {
  const attributes: unknown = given === undefined ? store.attributes : given
  if (attributes === undefined) return undefined
  if (typeof attributes !== 'object' || attributes === null) {
    throw new InvalidOptionError(option, "must be a JSON Schema { type: 'object', properties: { … } }")
  }
  const schema = attributes as Schema
  const kept = store.attributes?.properties
  if (kept === undefined || !isObject(schema.properties)) return schema
  for (const name of Object.keys(schema.properties)) {
    if (!Object.hasOwn(kept, name)) {
      throw new InvalidOptionError(
        option,
        `declares "${name}", which the store does not keep${didYouMean(name, Object.keys(kept))}`
      )
    }
  }
  return schema
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

function resolveStore (option: string, store: unknown, id: unknown, routing: Routing): Store {
  if (store === undefined) return makeStore(checkIdType('id', id), routing)
  const missing = METHODS.filter((method) => typeof (store as Partial<Store> | null)?.[method] !== 'function')
  if (missing.length > 0) {
    throw new InvalidOptionError(option, `must have the methods of a store; missing: ${missing.join(', ')}`)
  }
  return store as Store
}

function resolveIdType (option: string, id: unknown, store: Store): IdType {
  const resolved = checkIdType(option, id === undefined ? store.id : id)
  if (store.id !== undefined && store.id !== resolved) {
    throw new InvalidOptionError(
      option,
      `is '${resolved}', but the store makes '${store.id}' ids; leave it out, or make the store with the same`
    )
  }
  return resolved
}

function checkIdType (option: string, id: unknown = 'integer'): IdType {
  return checkOneOf(option, id, ['integer', 'uuid', 'string'])
}

function checkWrites (option: string, writes: unknown): ResolvedOptions['writes'] {
  return checkOneOf(option, writes, ['collection', 'member', 'both'])
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

function checkOpenapi (option: string, given: unknown): ResolvedOptions['openapi'] {
  return given === false ? false : { suffixes: false, ...checkMembers(option, given, OPENAPI) }
}

function checkRowCount (option: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new InvalidOptionError(option, `must be a number of rows from 1, not ${show(value)}`)
  }
  return value as number
}

function checkPageSize (option: string, value: unknown, maxLimit: number): number {
  const pageSize = checkRowCount(option, value === undefined ? Math.min(50, maxLimit) : value)
  if (pageSize > maxLimit) {
    throw new InvalidOptionError(option, `must not be more than "maxLimit", which is ${maxLimit}`)
  }
  return pageSize
}

function checkOrigins (option: string, origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) {
    throw new InvalidOptionError(option, "must be a list of origins such as ['https://app.example.com']")
  }
  for (const origin of origins) {
    if (
      typeof origin !== 'string' ||
      origin.includes('*') ||
      !URL.canParse(origin) ||
      new URL(origin).origin !== origin
    ) {
      throw new InvalidOptionError(
        option,
        `has ${show(origin)}, which is no origin such as 'https://app.example.com': scheme, host in small letters, ` +
          'no path'
      )
    }
  }
  return origins
}
