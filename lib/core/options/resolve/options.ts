import { InvalidOptionError, UnknownOptionError } from '../../errors.js'
import { FORM_FIELDS } from '../../formats/form/parse.js'
import { form } from '../../formats/form/read.js'
import type { ConfiguredResource, Format } from '../../formats/format.js'
import { pluralize, singularize } from '../../resource/inflection.js'
import type { IdType } from '../../resource/resource.js'
import { isXmlName } from '../../schema/legal-text.js'
import { hasRowKeywords, withoutRowKeywords } from '../../schema/row-keywords.js'
import type { Schema } from '../../schema/types.js'
import type { AjvSettings } from '../../schema/validation/validators.js'
import type { Stamp } from '../../stores/stamp.js'
import { noStore, type OnDelete, type Store, type Stores } from '../../stores/store.js'
import { checkUnique, type UniqueGroups } from '../../stores/unique.js'
import {
  checkBoolean, checkEach, checkMembers, checkNames, checkObject, checkOneOf, checkOptionNames, checkText, checkThat,
  isFunction, show
} from '../../util/check-option.js'
import { didYouMean } from '../../util/words.js'
import { findMember, isObject, isStructure } from '../../util/own-property.js'
import { checkCacheControl } from '../cache-control.js'
import { checkIdempotency, type Idempotency } from '../idempotency.js'
import type { CheckRow, RuleOptions } from '../../rules/rules.js'
import type { OpenapiOptions, ResourceOptions } from '../options.js'
import type { FindRole, RoleOptions, Roles } from '../roles.js'
import { memoryStore } from '../../stores/memory.js'
import { type Guards, NAME, NO_GUARDS, REGISTER_OPTIONS, resolveRouting, type Routing } from './routing.js'

const METHODS = ['list', 'get', 'create', 'update', 'delete'] as const satisfies ReadonlyArray<keyof Store>

/** Returns the actions that need a store, because no handler of the app replaces them. */
function actionsOfStore ({ actions, handlers }: Routing): readonly string[] {
  return [...actions].filter((action) => !handlers.has(action === 'edit' ? 'show' : action) && action !== 'new')
}

/** Returns the given store, or a new one, or `noStore` if handlers of the app replace all actions that need one. */
function resolveStore (
  { store, id, softDelete }: ResourceOptions,
  unique: UniqueGroups,
  routing: Routing
): Store {
  if (store === undefined) {
    const idType = checkIdType(id)
    const left = actionsOfStore(routing)
    if (left.length === 0) return noStore
    if (idType !== 'string') return memoryStore({ id: idType, unique, softDelete })
    throw new InvalidOptionError(
      'id',
      'is \'string\', but the memory store makes no such ids; give a "store" that does, or handlers of your own for ' +
        left.join(', ')
    )
  }
  const missing = METHODS.filter((method) => typeof findMember(store, method) !== 'function')
  if (missing.length > 0) {
    throw new InvalidOptionError('store', `must have the methods of a store; missing: ${missing.join(', ')}`)
  }
  // The parameters of a method cannot be checked.
  return store as Store
}

function checkStores (stores: unknown): Stores {
  const hasOpen = (value: unknown): value is Stores => typeof findMember(value, 'open') === 'function'
  return checkThat('stores', stores, hasOpen, "stores of one database, such as sqliteStores({ file: 'blog.sqlite' })")
}

function checkTable (table: unknown): string {
  const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''
  return checkThat('table', table, isName, "the name of a table such as 'posts'")
}

function checkOnDelete (rule: unknown): OnDelete | undefined {
  return rule === undefined ? undefined : checkOneOf<OnDelete>('onDelete', rule, ['restrict', 'cascade', 'set null'])
}

function checkScopeAttributes (given: unknown): Readonly<Record<string, Schema>> {
  const option = 'scopeAttributes'
  const schemas = checkObject(option, given, "schemas by attribute such as { tenant: { type: 'string' } }")
  return Object.fromEntries(checkEach(schemas, (name, schema) => {
    if (isObject(schema)) return schema
    throw new InvalidOptionError(option, `has "${name}", which must be a JSON Schema, not ${show(schema)}`)
  }))
}

/** Returns the references to other resources, by attribute. */
function checkReferences (given: unknown): ReadonlyMap<string, ResolvedReference> {
  const option = 'references'
  const references = checkObject(option, given, "an object of attributes and resources such as { authorId: 'authors' }")
  return checkEach(references, (attribute, target) => {
    const refuse = (reason: string): never => { throw new InvalidOptionError(option, `has "${attribute}", ${reason}`) }
    const given = typeof target === 'string' ? { to: target } : target
    if (!isObject(given)) return refuse(`which must name a resource, not ${show(target)}`)
    if (given.to === undefined) refuse("which must name a resource, as in { to: 'authors' }")
    const members = { to: '', onDelete: '', check: true, key: [] as readonly string[] }
    const { to = '', onDelete, check = true, key } = checkMembers(option, given, members)
    if (!check && onDelete !== undefined) refuse('which has "onDelete", but no foreign key with "check: false"')
    if (key !== undefined && onDelete !== undefined) refuse('which has "onDelete", but no foreign key with a "key"')
    if (key !== undefined && !checkNames(option, key)?.includes(attribute)) refuse('whose "key" must name it, too')
    return { to, onDelete: checkOnDelete(onDelete), check, key, target: undefined }
  })
}

/** Throws `InvalidOptionError` if there is an option about a table, but no `stores` that have it. */
function checkTableOptions ({ store, ...options }: ResourceOptions): void {
  const tableOptions = store === undefined ? ['table', 'onDelete'] as const : ['table', 'onDelete', 'unique'] as const
  const other = tableOptions.find((name) => options[name] !== undefined)
  if (other === undefined) return
  throw new InvalidOptionError(other, store === undefined
    ? 'is about a table of the option "stores", which this resource does not have'
    : 'is about a table of the option "stores", but this resource has a "store"; give it to the store itself')
}

function checkStamps (given: unknown = {}): ReadonlyMap<string, Stamp> {
  const wanted = 'functions by attribute such as { updatedBy: (request) => request.user.name }'
  return checkEach(checkObject('stamp', given, wanted), (name, find) =>
    checkThat(`stamp.${name}`, find, isFunction<Stamp>, 'a function that returns a text'))
}

function checkTransitions (given: unknown = {}): RuleOptions['transitions'] {
  const isMap = (value: unknown): value is RuleOptions['transitions'] => isObject(value)
  const wanted = "values that may follow each other, by attribute, such as { status: { draft: ['published'] } }"
  return checkThat('transitions', given, isMap, wanted)
}

/** Returns the roles, whose attributes are checked later. */
function checkRoles ({ roles, role }: ResourceOptions): Roles | undefined {
  if (roles === undefined && role === undefined) return undefined
  if (roles === undefined) throw new InvalidOptionError('role', 'needs "roles", which says what each role lacks')
  if (role === undefined) throw new InvalidOptionError('roles', 'needs "role", which returns the role of a request')
  const given = checkObject('roles', roles, "roles by name such as { admin: {}, clerk: { hidden: ['salary'] } }")
  const declared = checkEach(given, (name, lack) => {
    const lists = Object.entries(checkMembers<RoleOptions>('roles', lack, ROLE))
    return Object.fromEntries(lists.map(([list, names]) => [list, checkNames(`roles.${name}.${list}`, names)]))
  })
  return { declared, find: checkThat('role', role, isFunction<FindRole>, 'a function') }
}

const ROLE: Required<RoleOptions> = { hidden: [], visible: [], readOnly: [] }

function checkIdType (id: unknown = 'integer'): IdType {
  return checkOneOf('id', id, ['integer', 'uuid', 'string'])
}

function checkOrigins (origins: unknown): ReadonlySet<string> {
  const option = 'trustedOrigins'
  if (!Array.isArray(origins)) {
    throw new InvalidOptionError(option, "must be a list of origins such as ['https://app.example.com']")
  }
  const [other] = origins.filter((origin) => !isOrigin(origin)).map(show)
  if (other === undefined) return new Set(origins)
  throw new InvalidOptionError(
    option,
    `has ${other}, which is not an origin such as 'https://app.example.com': scheme and host in small letters, no path`
  )
}

/** Returns whether a value is an origin in the spelling of browsers (RFC 6454 §6.1). */
export function isOrigin (value: unknown): value is string {
  return typeof value === 'string' && !value.includes('*') && URL.canParse(value) && new URL(value).origin === value
}

/** A reference to another resource. */
export interface ResolvedReference {
  /** The plural name of the resource. */
  readonly to: string
  readonly onDelete: OnDelete | undefined
  readonly check: boolean
  /** The attributes that together have the key of the row; `undefined` if the attribute has it alone. */
  readonly key: readonly string[] | undefined
  /** The resource, if the attribute is a foreign key to its table. */
  readonly target: Pick<ResolvedOptions, 'table' | 'idType'> | undefined
}

/** Checked options with their defaults, frozen. */
export interface ResolvedOptions extends ConfiguredResource, RuleOptions {
  readonly name: string
  readonly routing: Routing
  /** The schema of the attributes, without keywords that are about the whole row. */
  readonly schema: Schema | undefined
  readonly ajv: AjvSettings
  /** The store of the rows, or `noStore` as long as `stores` has not opened the table. */
  readonly store: Store
  /** The attribute with the time of a deletion, and the rows of the resource; `undefined` if deletions remove rows. */
  readonly softDelete: { readonly attribute: string, readonly rows: 'live' | 'deleted' } | undefined
  readonly stamp: ReadonlyMap<string, Stamp>
  /** The database in which the resource needs a table, or `undefined` if it needs none. */
  readonly stores: Stores | undefined
  readonly table: string
  readonly unique: UniqueGroups
  readonly onDelete: OnDelete | undefined
  readonly scopeAttributes: Readonly<Record<string, Schema>>
  readonly idType: IdType
  readonly formats: readonly Format[]
  /** Formats that are only read. */
  readonly readers: readonly Format[]
  readonly writes: 'collection' | 'member' | 'both'
  readonly trustedOrigins: ReadonlySet<string>
  readonly requireMatch: boolean
  /** How requests with a key are kept, or `undefined` if keys are ignored. */
  readonly idempotency: Idempotency | undefined
  readonly maxRows: number
  readonly maxLimit: number
  /** The length of a page of a list in a format that makes pages. */
  readonly pageSize: number
  readonly sort: readonly string[] | undefined
  readonly filter: readonly string[] | undefined
  readonly search: readonly string[] | undefined
  readonly privateQueries: boolean
  readonly references: ReadonlyMap<string, ResolvedReference>
  /** The roles, or `undefined` if everybody sees and writes all attributes. */
  readonly roles: Roles | undefined
  /** The value of the option, in which the names of actions are checked later. */
  readonly cacheControl: string | Readonly<Record<string, string>>
  readonly openapi: OpenapiOptions & { readonly suffixes: boolean } | false
  readonly xsd: boolean
}

/** The names that other libraries have for the option `attributes`. */
const OTHER_NAMES = ['schema', 'properties', 'fields']
// The members that a payload may have beside the attributes.
const RESERVED = ['id', ...FORM_FIELDS]

/** The names of all options, except those of formats. */
const KNOWN: readonly string[] = [
  'name', 'singular', 'attributes', 'ajv', 'store', 'stores', 'table', 'unique', 'onDelete', 'scopeAttributes', 'id',
  'writes', 'trustedOrigins', 'requireMatch', 'idempotency', 'maxRows', 'maxLimit', 'sort', 'filter', 'search',
  'privateQueries', 'references', 'check', 'transitions', 'softDelete', 'stamp', 'roles', 'role', 'cacheControl', 'xsd',
  'openapi', 'formats', 'path', 'only', 'except', 'formPages', 'pathNames', 'param', 'constraints', 'routeConstraints',
  'as', 'actions', 'hooks', 'actionHooks', 'authorize', 'scope', 'foreignKey',
  ...REGISTER_OPTIONS
] satisfies Array<keyof ResourceOptions | typeof REGISTER_OPTIONS[number]>
/** The options of pages that were once options of a resource. */
const OF_PAGES = [
  'lang', 'messages', 'accent', 'brand', 'timeZone', 'contentSecurityPolicy', 'title', 'columns', 'pageSize', 'views'
]

/**
 * Checks the options and fills in the defaults. The caller's object stays as it is. `checkAllNames` has checked the
 * names of the options.
 * @param names the names of the resource
 * @param formats the formats with their options
 * @throws InvalidOptionError
 */
export function resolveOptions (
  options: ResourceOptions,
  names: ConfiguredResource,
  formats: readonly Format[],
  guards: Guards = NO_GUARDS
): ResolvedOptions {
  const { name, id, unique = [], scopeAttributes = {}, table = name, maxLimit: most = 1000, openapi = {} } = options
  const { ajv = {}, writes = 'collection', trustedOrigins = [], requireMatch = false, privateQueries = false } = options
  const { references = {}, cacheControl = {}, xsd = false } = options
  const routing = resolveRouting(options, names.singleton, guards)
  const needsStores = options.store === undefined && options.stores !== undefined && actionsOfStore(routing).length > 0
  checkUnique(unique)
  const store = needsStores ? noStore : resolveStore(options, unique, routing)
  if (!needsStores) checkTableOptions(options)
  const { search: searched } = store.capabilities ?? {}
  const maxLimit = checkRowCount('maxLimit', most)
  const schema = resolveAttributes(options.attributes, store)
  return Object.freeze({
    ...names,
    name,
    routing,
    schema: schema && withoutRowKeywords(schema),
    rowSchema: schema !== undefined && hasRowKeywords(schema) ? schema : undefined,
    check: options.check && checkThat('check', options.check, isFunction<CheckRow>, 'a function'),
    transitions: checkTransitions(options.transitions),
    ajv: checkMembers<AjvSettings>('ajv', ajv, { customOptions: {}, plugins: [] }),
    store,
    softDelete: undefined,
    stamp: checkStamps(options.stamp),
    stores: needsStores ? checkStores(options.stores) : undefined,
    table: checkTable(table),
    unique,
    onDelete: checkOnDelete(options.onDelete),
    scopeAttributes: checkScopeAttributes(scopeAttributes),
    idType: resolveIdType(id, store),
    formats,
    readers: formats.some(({ browser }) => browser === true) ? [form] : [],
    writes: checkOneOf<ResolvedOptions['writes']>('writes', writes, ['collection', 'member', 'both']),
    trustedOrigins: checkOrigins(trustedOrigins),
    requireMatch: checkBoolean('requireMatch', requireMatch),
    idempotency: checkIdempotency(options.idempotency),
    maxRows: checkMaxRows(options.maxRows),
    maxLimit,
    pageSize: findPageSize(formats, maxLimit),
    sort: checkNames('sort', options.sort),
    filter: checkNames('filter', options.filter),
    search: checkNames('search', options.search ?? (typeof searched === 'object' ? searched : undefined)),
    privateQueries: checkBoolean('privateQueries', privateQueries),
    references: checkReferences(references),
    roles: checkRoles(options),
    cacheControl: checkCacheControl('cacheControl', cacheControl),
    openapi: openapi === false ? false : { suffixes: false, ...checkMembers('openapi', openapi, OPENAPI) },
    xsd: checkXsd(xsd, formats)
  })
}

/**
 * Returns the names of a resource.
 * @throws InvalidOptionError
 */
export function nameResource (options: ResourceOptions, singleton: boolean): ConfiguredResource {
  const name = checkName('name', options.name)
  const { singular = singleton ? name : singularize(name) } = options
  return { plural: singleton ? pluralize(name) : name, singular: checkName('singular', singular), singleton }
}

/**
 * Checks that all options are known.
 * @param formats the names of formats that have options
 * @throws UnknownOptionError
 */
export function checkAllNames (options: ResourceOptions, formats: readonly string[] = []): void {
  const known = [...KNOWN, ...formats]
  for (const name of Object.keys(options).filter((name) => !known.includes(name))) {
    const cure = findCure(name)
    if (cure !== undefined) throw new UnknownOptionError(name, cure)
  }
  checkOptionNames(options, known)
}

/** Returns what to write in place of an option that exists elsewhere, or under another name. */
export function findCure (name: string): string | undefined {
  if (OTHER_NAMES.includes(name)) return '; the schema of the attributes is the option "attributes"'
  const format = OF_PAGES.includes(name) ? 'html' : name === 'escapeFormulas' ? 'csv' : undefined
  return format && `; it is an option of the format ${format}: write ${format}: { ${name}: … }`
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
function resolveAttributes (given: unknown, store: Store): Schema | undefined {
  const schema = (given === undefined ? store.attributes : given) as Schema | undefined
  if (schema === undefined) return undefined
  // `declareAttributes` refuses arrays later.
  if (!isStructure(schema)) {
    throw new InvalidOptionError('attributes', "must be a JSON Schema { type: 'object', properties: { … } }")
  }
  const kept = store.attributes?.properties
  if (kept === undefined || !isObject(schema.properties)) return schema
  const other = Object.keys(schema.properties).find((name) => !Object.hasOwn(kept, name))
  if (other === undefined) return schema
  const hint = didYouMean(other, Object.keys(kept))
  throw new InvalidOptionError('attributes', `declares "${other}", which is not an attribute of the store${hint}`)
}

function resolveIdType (id: unknown, store: Store): IdType {
  const resolved = checkIdType(id === undefined ? store.id : id)
  if (store.id === undefined || store.id === resolved) return resolved
  throw new InvalidOptionError(
    'id',
    `is '${resolved}', but the store makes '${store.id}' ids; leave it out, or give the store the same "id"`
  )
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

function checkRowCount (option: string, value: unknown): number {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1
  return checkThat(option, value, isCount, 'a number of rows of at least 1')
}

function checkMaxRows (value: unknown = 1000): number {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
  return checkThat('maxRows', value, isCount, 'a number of rows, or 0 for requests with one row only')
}

function findPageSize (formats: readonly Format[], maxLimit: number): number {
  const format = formats.find(({ pageSize }) => pageSize !== undefined)
  if (format?.pageSize === undefined) return Math.min(50, maxLimit)
  const option = `${format.name}.pageSize`
  const pageSize = checkRowCount(option, format.pageSize)
  if (pageSize <= maxLimit) return pageSize
  throw new InvalidOptionError(option, `must not be more than "maxLimit", which is ${maxLimit}`)
}

/** Checks the option `xsd`. Its path would also be that of a format called `xsd`. */
function checkXsd (xsd: unknown, formats: readonly Format[]): boolean {
  const option = 'xsd'
  if (!checkBoolean(option, xsd)) return false
  if (!formats.some(({ name }) => name === 'xml')) {
    throw new InvalidOptionError(option, 'needs the format \'xml\', which is not among the "formats"')
  }
  if (formats.some(({ name }) => name === 'xsd')) {
    throw new InvalidOptionError(option, 'adds a path that the format "xsd" has already; give the format another name')
  }
  return true
}
