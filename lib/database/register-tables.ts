import type { FastifyInstance, RegisterOptions } from 'fastify'
import { InvalidOptionError } from '../core/errors.js'
import type { CompiledResource } from '../core/compiled-resource.js'
import type { ResourceOptions } from '../core/options/options.js'
import type { PageMessages } from '../html/messages.js'
import type { TableDescription } from '../sql/tables/description.js'
import { draw, normalizePrefix } from '../core/plugin.js'
import { registryOf } from '../core/routes/route-registry.js'
import { home as homePage } from '../home/home.js'
import { type OpenTable, openTables } from './open-tables.js'
import type { DatabaseOptions, TableReport } from './options.js'
import { type ResourceNames, nameResources } from './resource-names.js'
import { findActions, findReferences, findTitle, tableOptionsOf, type Target } from './resource-options.js'
import { connect } from './source.js'

/**
 * Registers a resource for each table that can be served, and the home page.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export async function registerTables (
  app: FastifyInstance,
  options: DatabaseOptions & RegisterOptions
): Promise<void> {
  const { home = 'Tables', prefix = '', logLevel, logSerializers, defaults = {} } = options
  const { report = (all) => { logTables(app, all) } } = options
  const path = normalizePrefix(prefix)
  if (home !== false && path.includes(':')) {
    throw new InvalidOptionError('home', `must be false, because the prefix '${prefix}' has parameters`)
  }
  const tables = await openTables(await connect(app, options), options)
  const resources = makeResources(tables, options)
  // Each resource has a list of its actions, which these options have limited already.
  const { only, except, formPages, ...scope } = defaults
  const { lang, messages, accent, brand, contentSecurityPolicy: policy } = defaults
  const words = { ...(lang && { lang }), ...(messages && { messages }) }
  const face = {
    ...(accent && { accent }),
    ...(brand && { brand }),
    ...(policy !== undefined && { contentSecurityPolicy: policy })
  }
  const all = registryOf(app).resources
  const start = all.length
  const plugin = draw((map) => map.scope(scope, (map) => {
    for (const { name, ...others } of resources.values()) map.resources(name, others)
  }))
  await app.register(plugin, { prefix, ...(logLevel && { logLevel }), ...(logSerializers && { logSerializers }) })
  // The app has waited for the resources, so that no other ones are among them.
  const compiled = all.slice(start).map(({ compiled }) => compiled)
  if (home !== false) await app.register(homePage, { ...words, ...face, title: home, prefix: path })
  const served = new Map([...resources.keys()].map((table, index) => [table, compiled[index]]))
  report(tables.map(({ table }) => makeReport(table, served.get(table))))
}

/**
 * Makes the options of the resources.
 * @throws InvalidOptionError
 */
function makeResources (
  tables: readonly OpenTable[],
  { tables: given = {}, defaults = {}, write = false, nameOf = () => undefined }: DatabaseOptions
): ReadonlyMap<TableDescription, ResourceOptions> {
  const served = tables.flatMap(({ table, store }) => (store === undefined ? [] : [{ table, store }]))
  const names = nameResources(
    served.map(({ table }) => table),
    (table) => tableOptionsOf(given, table).name ?? nameOf(table)
  )
  const findTarget = (name: string, schema: string | undefined): Target | undefined => {
    const named = served.filter(({ table }) => table.name === name)
    const target = (named.find(({ table }) => table.schema === schema) ?? named[0])?.table
    return target && { name: (names.get(target) as ResourceNames).name, table: target }
  }
  return new Map(served.map(({ table, store }) => {
    const own = tableOptionsOf(given, table)
    const { except, formPages, ...others } = own
    const { messages, ...named } = names.get(table) as ResourceNames
    return [table, {
      ...named,
      ...findTitle(table),
      references: findReferences(table, (name) => findTarget(name, table.schema)),
      ...others,
      store,
      messages: joinMessages([defaults.messages, messages, own.messages]),
      only: findActions(table, write, { ...defaults, ...own })
    }]
  }))
}

/** Joins words of several origins, each of which may depend on the language. The last ones take precedence. */
function joinMessages (all: ReadonlyArray<ResourceOptions['messages']>): (lang: string) => Partial<PageMessages> {
  return (lang) => Object.assign({}, ...all.map((words) => typeof words === 'function' ? words(lang) : words))
}

function makeReport (table: TableDescription, compiled: CompiledResource | undefined): TableReport {
  const { problems } = table
  if (compiled === undefined) return { table, name: undefined, path: undefined, actions: [], problems }
  const { name, resource: { actions }, resourcePaths: { collection } } = compiled
  return { table, name, path: collection.text, actions: [...actions], problems }
}

function logTables ({ log }: FastifyInstance, tables: readonly TableReport[]): void {
  for (const { table: { name }, path, actions, problems } of tables) {
    const reasons = problems.map(({ problem }) => problem)
    if (path === undefined) log.warn({ table: name, problems: reasons }, `the table "${name}" is not served`)
    else log.info({ table: name, path, actions, problems: reasons }, `the table "${name}" is served at ${path}`)
  }
}
