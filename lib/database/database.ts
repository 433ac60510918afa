import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError, withOwner } from '../core/errors.js'
import { checkBoolean, checkObject, checkOptionNames, checkThat, isFunction, show } from '../core/util/check-option.js'
import { lazy } from '../core/util/functions.js'
import { isObject } from '../core/util/own-property.js'
import type { DatabaseOptions } from './options.js'
import type { NameOf } from './resource-names.js'

/** Imports the registration when the first database is registered, because it imports nearly all other modules. */
const loadRegistration: () => Promise<typeof import('./register-tables.js')> =
  lazy(() => import('./register-tables.js'))

const OPTIONS: ReadonlyArray<keyof DatabaseOptions | keyof RegisterOptions> = [
  'pool', 'schema', 'database', 'file', 'only', 'except', 'write', 'tables', 'defaults', 'nameOf', 'descriptions',
  'home', 'report', 'prefix', 'logLevel', 'logSerializers'
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
  await withinTimeout(app, serve(app, options))
}

async function serve (app: FastifyInstance, options: DatabaseOptions & RegisterOptions): Promise<void> {
  try {
    checkOptions(options)
    const { registerTables } = await loadRegistration()
    await registerTables(app, options)
  } catch (error) {
    throw withOwner(error, 'the plugin "database"')
  }
}

/** The part of Fastify's `pluginTimeout` after which our own error comes, before that of Fastify. */
const MOST_OF_TIMEOUT = 0.9

/**
 * Waits for the tables as long as Fastify waits for the plugin. Fastify's own error would ask for a call of `done`.
 * @throws InvalidOptionError if that takes too long
 */
async function withinTimeout ({ initialConfig }: FastifyInstance, tables: Promise<void>): Promise<void> {
  const { pluginTimeout = 10_000 } = initialConfig
  if (pluginTimeout === 0) return tables
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new InvalidOptionError(
        'pluginTimeout',
        `is ${pluginTimeout} ms, in which not all tables could be read and served; start the app with ` +
          'fastify({ pluginTimeout: 0 }), or select tables by "only" and "except"',
        ' of Fastify'
      ))
    }, pluginTimeout * MOST_OF_TIMEOUT)
  })
  await Promise.race([tables, end]).finally(() => { clearTimeout(timer) })
}

/** @throws InvalidOptionError, UnknownOptionError */
function checkOptions (options: DatabaseOptions): void {
  checkOptionNames(options, OPTIONS)
  const { write = false, tables = {}, defaults = {}, nameOf, report, home = '', descriptions = [] } = options
  const isTitle = (home: unknown): home is string | false => home === false || typeof home === 'string'
  checkBoolean('write', write)
  checkThat('home', home, isTitle, 'a title or false')
  checkObject('defaults', defaults, 'an object of options')
  for (const [name, table] of Object.entries(checkObject('tables', tables, 'an object of options by table'))) {
    if (isObject(table)) continue
    throw new InvalidOptionError('tables', `has "${name}", which must be an object, not ${show(table)}`)
  }
  if (nameOf !== undefined) checkThat('nameOf', nameOf, isFunction<NameOf>, 'a function')
  if (report !== undefined) checkThat('report', report, isFunction<NonNullable<typeof report>>, 'a function')
  checkThat('descriptions', descriptions, Array.isArray, 'a list of descriptions as describeDatabase returns it')
}
