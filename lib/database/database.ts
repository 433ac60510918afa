import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { CompiledResource } from '../core/compiled-resource.js'
import { InvalidOptionError, nameOwner, ownerOf, withOwner } from '../core/errors.js'
import { type Declaration, extendInherited, mergeOptions, NO_INHERITED_OPTIONS } from '../core/options/declaration.js'
import type { ResourceOptions, ScopeOptions } from '../core/options/options.js'
import { registerDeclarations } from '../core/plugin.js'
import { normalizePrefix } from '../core/resource/path-pattern.js'
import { registryOf } from '../core/routes/route-registry.js'
import { checkBoolean, checkObject, checkOptionNames, checkThat, isFunction, show } from '../core/util/check-option.js'
import { isObject } from '../core/util/own-property.js'
import { wordsOf } from '../core/util/words.js'
import { home as homePage } from '../home/home.js'
import type { HtmlFormat } from '../html/html.js'
import type { PageMessages } from '../html/messages.js'
import type { AppearanceOptions, HtmlOptions } from '../html/options.js'
import { nameTable, type TableDescription } from '../sql/tables/description.js'
import { WINGS } from '../wings.js'
import { connect, nameDatabase, type OpenTable, openTables } from './open-tables.js'
import type { DatabaseOptions, TableOptions, TableReport } from './options.js'
import { type NameOf, type ResourceNames, nameResources } from './resource-names.js'
import { findActions, findReferences, type ReferenceTarget, tableOptionsOf } from './resource-options.js'

const OPTIONS: ReadonlyArray<keyof DatabaseOptions | keyof RegisterOptions> = [
  'pool', 'schema', 'database', 'file', 'readTimeout', 'only', 'except', 'write', 'tables', 'stamp', 'defaults',
  'nameOf', 'descriptions', 'home', 'report', 'prefix', 'logLevel', 'logSerializers'
]

/**
 * A Fastify plugin that serves the tables and views of a database as resources, which are read-only by default. The
 * page at `/` links to them.
 *
 * @example
 * app.register(database, { pool, except: ['migrations'], write: true })
 */
export const database: FastifyPluginAsync<DatabaseOptions> = fp(register, {
  fastify: '5.x',
  name: 'fastify-resources'
})

async function register (app: FastifyInstance, options: DatabaseOptions & RegisterOptions): Promise<void> {
  try {
    checkOptions(options)
    await registerTables(app, options)
  } catch (error) {
    throw withOwner(error, 'the plugin "database"')
  }
}

/** @throws InvalidOptionError, UnknownOptionError */
function checkOptions (options: DatabaseOptions): void {
  checkOptionNames(options, OPTIONS)
  const { write = false, tables = {}, defaults = {}, nameOf, report, home = '', descriptions = [] } = options
  const isHome = (home: unknown): home is NonNullable<DatabaseOptions['home']> =>
    home === false || typeof home === 'string' || isObject(home)
  checkBoolean('write', write)
  checkThat('home', home, isHome, 'a title, the options of a home page, or false')
  checkObject('defaults', defaults, 'an object of options')
  for (const [name, table] of Object.entries(checkObject('tables', tables, 'an object of options by table'))) {
    if (isObject(table)) continue
    throw new InvalidOptionError('tables', `has "${name}", which must be an object, not ${show(table)}`)
  }
  if (nameOf !== undefined) checkThat('nameOf', nameOf, isFunction<NameOf>, 'a function')
  if (report !== undefined) checkThat('report', report, isFunction<NonNullable<typeof report>>, 'a function')
  checkThat('descriptions', descriptions, Array.isArray, 'a list of descriptions as describeDatabase returns it')
}

/**
 * Registers a resource for each table that can be served, and the home page.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
async function registerTables (app: FastifyInstance, options: DatabaseOptions & RegisterOptions): Promise<void> {
  const { home = {}, prefix = '', logLevel, logSerializers, defaults = {} } = options
  const { report = (all) => { logTables(app, all) } } = options
  const path = normalizePrefix(prefix)
  if (home !== false && path.includes(':')) {
    throw new InvalidOptionError('home', `must be false, because the prefix '${prefix}' has parameters`)
  }
  const connection = await connect(app, options)
  const tables = await openTables(connection, options)
  const resources = makeResources(tables, options)
  // Each resource has a list of its actions, which these options have limited already.
  const { only, except, formPages, ...scope } = defaults
  const all = registryOf(app).resources
  const start = all.length
  const inherited = nameOwner('a scope', () => extendInherited(NO_INHERITED_OPTIONS, scope))
  const declarations = [...resources.values()].map((own): Declaration => {
    const { name, html = {}, ...others } = own
    const options = nameOwner(ownerOf(name), () => mergeOptions(inherited.shared, { ...others, html }))
    // Each table has options of pages, even if it has no pages. They count as inherited, so that they are not refused.
    const surroundings = { ...inherited, shared: { ...inherited.shared, html } }
    return {
      options: { ...options, name },
      singleton: false,
      inherited: surroundings,
      customActions: [],
      children: []
    }
  })
  const log = { ...(logLevel && { logLevel }), ...(logSerializers && { logSerializers }) }
  await registerDeclarations(app, declarations, { wings: WINGS, prefix, owner: 'a map', log })
  // The app has waited for the resources, so that no other ones are among them.
  const compiled = all.slice(start).map(({ compiled }) => compiled)
  const served = new Map([...resources.keys()].map((table, index) => [table, compiled[index] as CompiledResource]))
  const weights = weigh([...resources.values()])
  for (const [{ kind }, compiled] of served) {
    const isView = kind === 'view' || kind === 'materialized view'
    registryOf(app).tables.set(compiled, { isView, weight: isView ? -1 : weights.get(compiled.name) as number })
  }
  if (home !== false) {
    const own = typeof home === 'string' ? { title: home } : home
    const title = own.title ?? await nameDatabase(connection) ?? 'Tables'
    await app.register(homePage, { ...findAppearance(defaults), ...own, title, prefix: path })
  }
  report(tables.map(({ table }) => makeReport(table, served.get(table))))
}

/**
 * Weighs the resources of tables by how many attributes of other tables refer to them. Of equal ones, the table that
 * refers to more others is heavier.
 */
function weigh (resources: readonly ResourceOptions[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const { name, references = {} } of resources) {
    const targets = Object.values(references).map((target) => typeof target === 'string' ? target : target.to)
      .filter((target) => target !== name)
    for (const target of targets) weights.set(target, (weights.get(target) ?? 0) + 1)
    weights.set(name, (weights.get(name) ?? 0) + targets.length / 10_000)
  }
  return weights
}

/** Returns the options of pages that all resources have: those of `html(…)`, and those of `defaults`. */
function pageOptionsOf ({ formats = [], html: own }: ScopeOptions): HtmlOptions {
  const format = formats.find((format): format is HtmlFormat => typeof format === 'object' && format.name === 'html')
  return { ...format?.options, ...own }
}

/** Returns the options of the home page that the pages of resources have, too. */
function findAppearance (defaults: ScopeOptions): AppearanceOptions {
  const { lang, messages, accent, brand, contentSecurityPolicy } = pageOptionsOf(defaults)
  const all = { lang, messages, accent, brand, contentSecurityPolicy }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/**
 * Makes the options of the resources.
 * @throws InvalidOptionError
 */
function makeResources (
  tables: readonly OpenTable[],
  { tables: given = {}, defaults = {}, write = false, nameOf = () => undefined }: DatabaseOptions
): ReadonlyMap<TableDescription, ResourceOptions> {
  const served = tables.flatMap(({ store, ...others }) => (store === undefined ? [] : [{ ...others, store }]))
  const names = nameResources(
    served.map(({ table }) => table),
    (table) => tableOptionsOf(given, table).name ?? nameOf(table)
  )
  const findTarget = (name: string, schema: string | undefined): ReferenceTarget | undefined => {
    const named = served.filter(({ table }) => nameTable(table) === name)
    const target = (named.find(({ table }) => table.schema === schema) ?? named[0])?.table
    return target && { name: (names.get(target) as ResourceNames).name, table: target }
  }
  const shared = pageOptionsOf(defaults)
  return new Map(served.map(({ table, store, shown, stamps }) => {
    const own = tableOptionsOf(given, table)
    const { except, formPages, hide, search, ...others } = own
    // A version without the values that nobody sees would not tell a row from another one with its number.
    const isSeen = hide === undefined && own.attributes === undefined && (own.roles ?? defaults.roles) === undefined
    const acting = table.needsVersion && !isSeen ? { ...table, canUpdate: false, canDelete: false } : table
    const { messages, ...named } = names.get(table) as ResourceNames
    return [table, {
      ...named,
      references: findReferences(table, (name) => findTarget(name, table.schema)),
      ...others,
      ...(search !== undefined && !isObject(search) && { search }),
      ...(shown && { attributes: shown }),
      ...(stamps && { stamp: stamps }),
      ...(table.needsVersion && { requireMatch: true }),
      store,
      html: {
        ...own.html,
        messages: joinMessages(shared.messages, messages, own)
      },
      only: findActions(acting, write, { ...defaults, ...own })
    }]
  }))
}

/** Joins the words of all tables, the names of one, and the words that the app gives to it, which take precedence. */
function joinMessages (
  shared: HtmlOptions['messages'],
  names: ResourceNames['messages'],
  { singular, html: { messages } = {} }: TableOptions
): (lang: string) => Partial<PageMessages> {
  return (lang) => {
    const [common, own] = [shared, messages].map((words) => typeof words === 'function' ? words(lang) : words)
    const heading = own?.plural
    return {
      ...common,
      ...names,
      ...(singular !== undefined && { singular: wordsOf(singular) }),
      ...(heading !== undefined && { heading }),
      ...own
    }
  }
}

function makeReport (table: TableDescription, compiled: CompiledResource | undefined): TableReport {
  const { problems } = table
  if (compiled === undefined) return { table, name: undefined, path: undefined, actions: [], problems }
  const { name, resource: { actions }, resourcePaths: { collection } } = compiled
  return { table, name, path: collection.text, actions: [...actions], problems }
}

function logTables ({ log }: FastifyInstance, tables: readonly TableReport[]): void {
  for (const { table, path, actions, problems } of tables) {
    const name = nameTable(table)
    const reasons = problems.map(({ problem }) => problem)
    if (path === undefined) log.warn({ table: name, problems: reasons }, `the table "${name}" is not served`)
    else log.info({ table: name, path, actions, problems: reasons }, `the table "${name}" is served at ${path}`)
  }
}
