import { InvalidOptionError, UnknownOptionError } from '../../errors.js'
import type { CsvOptions } from '../../formats/csv/write.js'
import { FORM_FIELDS } from '../../formats/form/parse.js'
import { form } from '../../formats/form/read.js'
import type { Format } from '../../formats/format.js'
import type { Languages } from '../../../html/languages/language.js'
import type { HtmlOptions } from '../../../html/options.js'
import type { RowTitle } from '../../../html/values/row-names.js'
import { pluralize, singularize } from '../../resource/inflection.js'
import type { IdType } from '../../resource/resource.js'
import { isXmlName } from '../../schema/legal-text.js'
import type { Schema } from '../../schema/types.js'
import { noStore } from '../../stores/null-store.js'
import type { OnDelete, Store, Stores } from '../../stores/store.js'
import type { UniqueGroups } from '../../stores/unique.js'
import {
  checkBoolean,
  checkMembers,
  checkNames,
  checkOneOf,
  checkOptionNames,
  checkText,
  checkThat
} from '../../util/check-option.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { isObject, isStructure } from '../../util/own-property.js'
import { checkCacheControl } from '../cache-control.js'
import type { OpenapiOptions, ResourceOptions } from '../options.js'
import {
  checkAccent,
  checkPolicy,
  checkTitle,
  checkViews,
  checkXsd,
  resolveFormats
} from './formats.js'
import { checkBrand } from './brand.js'
import { checkLanguages, checkMessages, compileLabel, checkTimeZone } from './languages.js'
import { checkOrigins } from './origins.js'
import {
  checkReferences, defaultToName, type Guards, NAME, NO_GUARDS, type OptionTable, type ReadOption, readOptions,
  REGISTER_OPTIONS, resolveRouting, type Routing, ROUTING_OPTIONS
} from './routing.js'
import type { RoutingOptions } from '../routing-options.js'
import {
  checkIdType, checkOnDelete, checkScopeAttributes, checkStores, checkTable, checkTableOptions, needsStore,
  resolveStore, resolveUnique
} from './stores.js'

/** Checked options with their defaults, frozen. */
export interface ResolvedOptions {
  readonly name: string
  readonly singleton: boolean
  readonly routing: Routing
  readonly plural: string
  readonly singular: string
  /** Returns the plural name in words, as pages show it in a language. */
  readonly labelIn: (lang: string) => string
  readonly schema: Schema | undefined
  /** The store of the rows, or `noStore` as long as `stores` has not opened the table. */
  readonly store: Store
  /** The database in which the resource needs a table, or `undefined` if it needs none. */
  readonly stores: Stores | undefined
  readonly table: string
  readonly unique: UniqueGroups
  readonly onDelete: OnDelete | undefined
  readonly scopeAttributes: Readonly<Record<string, Schema>>
  readonly idType: IdType
  readonly formats: readonly Format[]
  /** The formats that the app defines. */
  readonly ownFormats: readonly Format[]
  /** Formats that are only read. */
  readonly readers: readonly Format[]
  readonly writes: 'collection' | 'member' | 'both'
  readonly trustedOrigins: ReadonlySet<string>
  readonly requireMatch: boolean
  readonly maxLimit: number
  readonly pageSize: number
  readonly sort: readonly string[] | undefined
  readonly filter: readonly string[] | undefined
  readonly search: readonly string[] | undefined
  readonly privateQueries: boolean
  /** The names of the referenced resources, by attribute. */
  readonly references: ReadonlyMap<string, string>
  readonly title: RowTitle | undefined
  readonly columns: readonly string[] | undefined
  /** The value of the option, in which the names of actions are checked later. */
  readonly cacheControl: string | Readonly<Record<string, string>>
  readonly openapi: OpenapiOptions & { readonly suffixes: boolean } | false
  readonly xsd: boolean
}

/** The names that other libraries have for the option `attributes`. */
const OTHER_NAMES = ['schema', 'properties', 'fields']
// The members that a payload may have beside the attributes.
const RESERVED = ['id', ...FORM_FIELDS]

const OPTIONS = {
  name: [checkName],
  singular: [defaultToName(checkName)],
  attributes: [resolveAttributes],
  store: [resolveStore],
  stores: [checkStores],
  table: [defaultToName(checkTable)],
  unique: [resolveUnique, []],
  onDelete: [checkOnDelete],
  scopeAttributes: [checkScopeAttributes, {}],
  id: [resolveIdType],
  formats: [resolveFormats, ['xml', 'html', 'json']],
  writes: [checkWrites, 'collection'],
  trustedOrigins: [checkOrigins, []],
  requireMatch: [checkBoolean, false],
  maxLimit: [checkRowCount, 1000],
  pageSize: [checkPageSize],
  sort: [checkNames],
  filter: [checkNames],
  search: [checkNames],
  privateQueries: [checkBoolean, false],
  references: [checkReferences, {}],
  title: [checkTitle],
  columns: [checkNames],
  views: [checkViews, {}],
  lang: [checkLanguages, 'en'],
  messages: [checkMessages, {}],
  accent: [checkAccent, '#1d5fd1'],
  brand: [checkBrand, {}],
  timeZone: [checkTimeZone],
  contentSecurityPolicy: [checkPolicy, {}],
  cacheControl: [checkCacheControl, {}],
  escapeFormulas: [checkBoolean, false],
  xsd: [checkXsd, false],
  openapi: [checkOpenapi, {}]
} as const satisfies OptionTable<Exclude<keyof ResourceOptions, keyof RoutingOptions | 'as' | 'prefix'>>

const KNOWN = [...Object.keys(OPTIONS), ...ROUTING_OPTIONS, ...REGISTER_OPTIONS]

/**
 * Checks the options and fills in the defaults. The caller's object stays as it is.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function resolveOptions (
  options: ResourceOptions,
  singleton = false,
  guards: Guards = NO_GUARDS,
  loaded: Languages = new Map()
): ResolvedOptions {
  checkAllNames(options)
  const read = readOptions(OPTIONS, options)
  const name = read('name')
  const routing = resolveRouting(name, options, singleton, guards)
  const stores = needsStore(options, routing) ? read('stores') : undefined
  const unique = read('unique')
  const store = stores === undefined ? read('store', { id: options.id, unique }, routing) : noStore
  if (stores === undefined) checkTableOptions(options)
  const plural = singleton ? pluralize(name) : name
  const singular = read('singular', singleton ? name : singularize(name))
  const languages = read('messages', read('lang'), loaded)
  const formats = read('formats', { ...readFormatOptions(read), languages })
  const maxLimit = read('maxLimit')
  return Object.freeze({
    name,
    singleton,
    routing,
    plural,
    singular,
    labelIn: compileLabel({ plural, singular, singleton }, languages),
    schema: read('attributes', store),
    store,
    stores,
    table: read('table', name),
    unique,
    onDelete: read('onDelete'),
    scopeAttributes: read('scopeAttributes'),
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
    search: read('search'),
    privateQueries: read('privateQueries'),
    references: read('references'),
    title: read('title'),
    columns: read('columns'),
    cacheControl: read('cacheControl'),
    openapi: read('openapi'),
    xsd: read('xsd', formats)
  })
}

/** Returns the options of the formats, except the languages. */
function readFormatOptions (read: ReadOption<typeof OPTIONS>): Omit<HtmlOptions, 'languages'> & CsvOptions {
  return {
    views: read('views'),
    accent: read('accent'),
    brand: read('brand'),
    timeZone: read('timeZone'),
    title: read('title'),
    columns: read('columns'),
    contentSecurityPolicy: read('contentSecurityPolicy'),
    escapeFormulas: read('escapeFormulas')
  }
}

function checkAllNames (options: ResourceOptions): void {
  const other = OTHER_NAMES.find((name) => Object.hasOwn(options, name))
  if (other === undefined) return checkOptionNames(options, KNOWN)
  throw new UnknownOptionError(other, '; the schema of the attributes is the option "attributes"')
}

function checkName (option: string, given: unknown): string {
  const name = checkText(option, given, NAME, 'a name such as \'posts\' (letters, digits, "_" and "-", no digit first)')
  if (RESERVED.includes(name)) {
    throw new InvalidOptionError(
      option,
      `must not be "${name}", which has another meaning in payloads; set "singular" to another name`
    )
  }
  if (isXmlName(name)) return name
  throw new InvalidOptionError(
    option,
    `must not be "${name}", which is not a valid name in all formats; set "singular" to another name`
  )
}

/**
 * Returns the schema of the resource, or else of the store. The store must keep each attribute in it.
 * @throws InvalidOptionError
 */
function resolveAttributes (option: string, given: unknown, store: Store): Schema | undefined {
  const schema = (given === undefined ? store.attributes : given) as Schema | undefined
  if (schema === undefined) return undefined
  // `declareAttributes` refuses arrays later.
  if (!isStructure(schema)) {
    throw new InvalidOptionError(option, "must be a JSON Schema { type: 'object', properties: { … } }")
  }
  const kept = store.attributes?.properties
  if (kept === undefined || !isObject(schema.properties)) return schema
  const other = Object.keys(schema.properties).find((name) => !Object.hasOwn(kept, name))
  if (other === undefined) return schema
  const hint = didYouMean(other, Object.keys(kept))
  throw new InvalidOptionError(option, `declares "${other}", which is not an attribute of the store${hint}`)
}

function resolveIdType (option: string, id: unknown, store: Store): IdType {
  const resolved = checkIdType(option, id === undefined ? store.id : id)
  if (store.id === undefined || store.id === resolved) return resolved
  throw new InvalidOptionError(
    option,
    `is '${resolved}', but the store makes '${store.id}' ids; leave it out, or give the store the same "id"`
  )
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
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1
  return checkThat(option, value, isCount, 'a number of rows of at least 1')
}

function checkPageSize (option: string, value: unknown, maxLimit: number): number {
  const pageSize = checkRowCount(option, value === undefined ? Math.min(50, maxLimit) : value)
  if (pageSize <= maxLimit) return pageSize
  throw new InvalidOptionError(option, `must not be more than "maxLimit", which is ${maxLimit}`)
}
