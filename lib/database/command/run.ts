import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type LoadModule, loadModule } from '../../sql/sqlite/file.js'
import { findMember } from '../../core/util/own-property.js'
import { registryOf } from '../../core/routes/route-registry.js'
import { findOtherSchemas } from '../../sql/postgres/describe/describe-postgres.js'
import { nameTable } from '../../sql/tables/description.js'
import { database } from '../database.js'
import type { TableReport } from '../options.js'
import { findDifference } from './diff.js'
import { addGuards, isLoopback, SAME_ORIGIN, userOf } from './guards.js'
import { FORMATS, writeProgram } from './program.js'
import { CommandError, HELP, parseSettings, type Settings } from './settings.js'
import { messageOf, nameSource, openSource } from './source.js'
import { makeTableOptions, NO_ROLE } from './table-options.js'

/** The surroundings of the command. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  /** Writes to the standard output. */
  readonly print: (text: string) => void
  /** Writes to the standard error. */
  readonly complain: (text: string) => void
  /** Stops the server. */
  readonly signal: AbortSignal
  /** Loads the package pg. @default from the app, or from the working directory */
  readonly load?: LoadModule
}

/**
 * Runs the command `fastify-resources` with its arguments. Returns the exit code when the server has stopped, or at
 * once if none was started.
 */
export async function run (argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, print, complain } = surroundings
  try {
    const settings = parseSettings(argv, env)
    if (settings === 'help') print(HELP)
    else if (settings === 'version') print(`${await readVersion()}\n`)
    else if ('module' in settings) {
      const { script, fits } = await findDifference(settings.module)
      print(script)
      return fits ? 0 : 1
    } else if (settings.print) print(writeProgram(settings))
    else await serve(settings, surroundings)
    return 0
  } catch (error) {
    if (!(error instanceof CommandError)) {
      complain(`${nameFlag(messageOf(error)).replace(/(?<!\?)$/, '.')}\n`)
      return 1
    }
    complain(`${error.message}\n`)
    return error.exitCode
  }
}

/** Names a flag of the command, or its file, where a message names the option of the plugin. */
function nameFlag (message: string): string {
  return message
    .replace(/^Option "file" of the plugin "database"/, 'The file')
    .replace(/^Option "tables" of the plugin "database"(?= has )/, '--hide or --search')
    .replace(/^Option "tables" of the plugin "database"/, '--hide')
    .replace(/^Option "roles" of resource/, '--hide: resource')
    .replace(/^Option "search" of resource/, '--search: resource')
    .replace(/; give it a default, let the role .*$/, '; give its column a default, or hide it from everybody')
    .replace(/^Option "(\w+)" of the plugin "database"/, '--$1')
}

/** Serves the database until the signal comes. */
async function serve (settings: Settings, surroundings: Surroundings): Promise<void> {
  const { print, complain, signal, load = loadModule } = surroundings
  const { host, port, prefix, origins, users, hidden, stamps, write, only, except } = settings
  const app: FastifyInstance = fastify({
    logger: { level: 'warn', stream: { write: complain } },
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    // A large database takes as long as it takes.
    pluginTimeout: 0,
    // The longest id that has a page, in characters.
    routerOptions: { maxParamLength: 2_000 },
    frameworkErrors: (error, request, reply) => {
      reply.header(...SAME_ORIGIN)
      for (const home of registryOf(app).homes) home.sendError(error, request, reply)
    }
  })
  const waiting = setTimeout(() => {
    complain(`Waiting for ${nameSource(settings)}: its tables are being read. --only and --except select some.\n`)
  }, PATIENCE)
  try {
    addGuards(app, settings)
    let reports: readonly TableReport[] = []
    const source = await openSource(app, settings, load)
    app.register(database, {
      ...source,
      write,
      ...(only && { only }),
      ...(except && { except }),
      tables: makeTableOptions(settings),
      stamp: Object.fromEntries(stamps.map((column) => [column, nameUser])),
      defaults: {
        formats: FORMATS,
        ...(write && { writes: 'both' }),
        trustedOrigins: origins,
        ...(hidden.some(({ role }) => role !== undefined) && {
          role: (request: FastifyRequest) => userOf(request).role ?? NO_ROLE
        })
      },
      prefix,
      home: { notFound: true },
      report: (tables) => { reports = tables }
    })
    const url = `${await listen(app, host, port)}${prefix}/`
    const others = source.pool === undefined ? [] : await findOtherSchemas(source.pool, settings.schema)
    clearTimeout(waiting)
    print(describe(settings, url, reports, others))
    if (!isLoopback(host) && users.length === 0) {
      const what = write ? 'change' : 'read'
      complain(`Warning: everybody who reaches ${host} can ${what} the data. Add --user NAME:PASSWORD.\n`)
    }
    if (settings.open) openBrowser(url, surroundings)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    clearTimeout(waiting)
    await app.close()
  }
}

const nameUser = (request: FastifyRequest): string => userOf(request).name

/** The time after which the command says what it waits for, in milliseconds. */
const PATIENCE = 2000

/** @throws CommandError if the address cannot be had */
async function listen (app: FastifyInstance, host: string, port: number): Promise<string> {
  // The app gets ready first, so that errors of the database are not taken for errors of the address.
  await app.ready()
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw new CommandError(
      findMember(error, 'code') === 'EADDRINUSE'
        ? `Port ${port} is in use. Choose another one: --port ${port + 1}`
        : `Cannot listen on ${host}, port ${port}: ${messageOf(error)}. Choose another --host or --port.`
    )
  }
}

/** Describes what is served, and what is not and why. */
function describe (settings: Settings, url: string, reports: readonly TableReport[], schemas: string[]): string {
  const served = reports.filter(({ path }) => path !== undefined)
  const width = Math.max(0, ...served.map(({ path }) => String(path).length))
  const lines = served.map(({ path, table, table: { kind }, actions }) => {
    const writes = actions.filter((action) => action === 'create' || action === 'update' || action === 'delete')
    const notes = [
      ...(kind === 'table' ? [] : [kind]),
      ...(settings.write ? [writes.join(', ') || 'read-only'] : [])
    ]
    return `  ${String(path).padEnd(width)}  ${nameTable(table)}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`
  })
  const views: string[] = []
  const problems = reports.flatMap(({ table, table: { name, kind }, path, problems }) =>
    problems
      // A problem of a whole table that is served is about its writes.
      .filter(({ column }) => settings.write || path === undefined || column !== undefined)
      .flatMap(({ problem }) => {
        const isView = kind === 'view' && path !== undefined && problem === `The view "${name}" is read-only.`
        if (isView) views.push(nameTable(table))
        return isView ? [] : [`  ${nameTable(table)}${path === undefined ? ' is not served' : ''}: ${problem}`]
      }))
  if (views.length > 0) problems.push(`  Views are read-only: ${views.join(', ')}`)
  const access = settings.write ? 'Clients can change the rows.' : 'It is read-only; --write allows changes.'
  return [
    `${nameSource(settings)} is at ${url}`,
    served.length === 0 ? 'No table is served.' : access,
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(schemas.length > 0 ? ['', describeSchemas(schemas)] : []),
    ...(problems.length > 0 ? ['', 'What is not served or cannot be written:', ...problems] : []),
    '',
    'Stop it with Ctrl-C.',
    ''
  ].join('\n')
}

/** Says which other schemas have tables. There may be hundreds. */
function describeSchemas (names: readonly string[]): string {
  const more = names.length > MOST_SCHEMAS ? `, and ${names.length - MOST_SCHEMAS} more` : ''
  return `Other schemas with tables: ${names.slice(0, MOST_SCHEMAS).join(', ')}${more}. Serve them with --schema.`
}

const MOST_SCHEMAS = 10

/** Opens a page in the browser of the user. */
function openBrowser (url: string, { env, complain }: Surroundings): void {
  const [command, ...parameters] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...parameters, url], { env, stdio: 'ignore', detached: true })
  child.on('error', (error) => { complain(`Cannot open a browser: ${messageOf(error)}. Open ${url} yourself.\n`) })
  child.unref()
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '']
}

async function readVersion (): Promise<string> {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
