import { inspect } from 'node:util'
import { isLoopback } from './guards.js'
import { makeTableOptions } from './table-options.js'
import type { Settings, User } from './settings.js'
import { READ_TIMEOUT } from './source.js'

/** The formats of the command. People take lists of their tables into spreadsheets. */
export const FORMATS = ['xml', 'html', 'json', 'csv'] as const

/** Writes a program in TypeScript that serves the database as the command does. It contains no password. */
export function writeProgram (settings: Settings): string {
  const { source, isUrl, write, only, except, schema, port, host, prefix, origins, users, hidden, stamps } = settings
  const hasRoles = hidden.some(({ role }) => role !== undefined)
  const options = [
    ...(isUrl ? ['pool'] : [`file: ${quote(source)}`, `readTimeout: ${READ_TIMEOUT}`]),
    ...(schema === undefined ? [] : [`schema: ${quoteAll(schema)}`]),
    ...(only === undefined ? [] : [`only: ${quoteAll(only)}`]),
    ...(except === undefined ? [] : [`except: ${quoteAll(except)}`]),
    `write: ${write}`,
    `defaults: { formats: ${quoteAll(FORMATS)}${write ? ", writes: 'both'" : ''}${
      origins.length > 0 ? `, trustedOrigins: ${quoteAll(origins)}` : ''}${
      hasRoles ? ", role: (request) => roles.get(request.getDecorator('user')) ?? ''" : ''} }`,
    ...(stamps.length > 0 ? [`stamp: { ${stamps.map(writeStamp).join(', ')} }`] : []),
    ...(prefix === '' ? [] : [`prefix: ${quote(prefix)}`]),
    'home: { notFound: true }'
  ]
  const parts = [
    '// Keep it as server.mts. Run it by `node server.mts` (Node.js 22.18 or later), or by `npx tsx server.mts`.',
    users.length > 0 && "import { createHash, timingSafeEqual } from 'node:crypto'",
    "import fastify from 'fastify'",
    "import { database } from 'fastify-resources/database'",
    isUrl && "import pg from 'pg'",
    APP,
    isUrl && POOL,
    POLICY,
    isLoopback(host) && writeHosts(origins),
    users.length > 0 && USERS,
    hasRoles && writeRoles(users),
    `
app.register(database, {
  ${options.join(',\n  ')},
  // Options of single resources: https://www.npmjs.com/package/fastify-resources
  tables: ${inspect(makeTableOptions(settings), ON_ONE_LINE)}
})

console.log(await app.listen({ port: ${port}, host: ${quote(host)} }))`
  ]
  return `${parts.filter((part) => part !== false).join('\n')}\n`
}

const ON_ONE_LINE = { depth: Infinity, maxArrayLength: Infinity, breakLength: Infinity, compact: true }

const APP = `
const app = fastify({
  logger: { level: 'warn' },
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
  // A large database takes as long as it takes.
  pluginTimeout: 0,
  // The longest id that has a page, in characters.
  routerOptions: { maxParamLength: 2_000 }
})`

const POOL = `
// The variable is the URL of the database: postgres://user:password@host/name
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 })
pool.on('error', ({ message }) => { app.log.warn(message) })
app.addHook('onClose', () => pool.end())`

const POLICY = `
// Pages of other sites cannot find out which paths exist.
app.addHook('onRequest', async (_request, reply) => { reply.header('cross-origin-resource-policy', 'same-origin') })`

function writeHosts (origins: readonly string[]): string {
  const hosts = ['127.0.0.1', 'localhost', '::1', '[::1]', ...origins.map((origin) => new URL(origin).hostname)]
  return `
// Refuses pages of other sites that give their own name this address (DNS rebinding).
const hosts = ${quoteAll(hosts)}
app.addHook('onRequest', async ({ hostname }) => {
  if (hosts.includes(hostname.toLowerCase().replace(/\\.$/, ''))) return
  throw Object.assign(new Error(\`there is no host "\${hostname}" here; add it to hosts\`), { statusCode: 421 })
})`
}

const USERS = `
// The variable has the name and the password of each user, one in a line: name:password
const hash = (text: string) => createHash('sha256').update(text).digest()
const { DATABASE_USER } = process.env
const users = (DATABASE_USER ?? '').split('\\n').filter((user) => /^[^:]+:./.test(user))
  .map((user) => ({ name: user.replace(/:.*/, ''), expected: hash(user) }))
if (users.length === 0) throw new Error('Set DATABASE_USER to name:password')
app.decorateRequest('user', '')
app.addHook('onRequest', async (request, reply) => {
  const { authorization = '' } = request.headers
  const given = hash(Buffer.from(authorization.replace(/^Basic +/i, ''), 'base64').toString())
  const user = users.find(({ expected }) => timingSafeEqual(given, expected))
  if (user === undefined) {
    reply.header('www-authenticate', 'Basic realm="database", charset="UTF-8"')
    throw Object.assign(new Error('send the name and the password of a user'), { statusCode: 401 })
  }
  request.setDecorator('user', user.name)
})`

function writeRoles (users: readonly User[]): string {
  const pairs = users.flatMap(({ name, role }) => role === undefined ? [] : [quoteAll([name, role])])
  return `
// All others see everything.
const roles = new Map([${pairs.join(', ')}])`
}

function writeStamp (column: string): string {
  return `${quote(column)}: (request) => request.getDecorator('user')`
}

function quote (text: string): string {
  const quoted = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${quoted}'`
}

function quoteAll (texts: readonly string[]): string {
  return `[${texts.map(quote).join(', ')}]`
}
