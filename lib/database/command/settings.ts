import { parseArgs } from 'node:util'
import { isOrigin } from '../../core/options/resolve/options.js'
import { didYouMean } from '../../core/util/words.js'

/** What the command is asked to do. */
export interface Settings {
  /** The path of a file, or a `postgres://` URL. */
  readonly source: string
  /** Whether the source is a URL of PostgreSQL. */
  readonly isUrl: boolean
  readonly write: boolean
  readonly only: readonly string[] | undefined
  readonly except: readonly string[] | undefined
  readonly schema: readonly string[] | undefined
  readonly port: number
  readonly host: string
  /** The path below which everything is served, or the empty text. */
  readonly prefix: string
  /** The origins by which browsers reach the server through a proxy. */
  readonly origins: readonly string[]
  /** The users, one of which a client must be. Without any, everybody is served. */
  readonly users: readonly User[]
  /** The attributes that clients do not see. */
  readonly hidden: readonly HiddenAttribute[]
  /** The full text indexes by which tables are searched. */
  readonly indexes: ReadonlyArray<{ readonly table: string, readonly index: string }>
  /** The attributes that each write sets to the name of its user. */
  readonly stamps: readonly string[]
  readonly open: boolean
  readonly print: boolean
}

/** A user whom the command serves. */
export interface User {
  readonly name: string
  /** What a client sends: `name:password`. */
  readonly credentials: string
  readonly role: string | undefined
}

/** An attribute of a table that does not exist for clients, or for those of one role. */
export interface HiddenAttribute {
  readonly table: string
  readonly attribute: string
  readonly role: string | undefined
}

/** What the command is asked to compare. */
export interface DiffSettings {
  /** The path of the module that exports the app. */
  readonly module: string
}

/** Thrown when the command cannot do what it is asked to. The message is one line, and says what to do. */
export class CommandError extends Error {
  /** The exit code of the process: 2 for a mistake in the arguments, 1 for everything else. */
  readonly exitCode: number

  constructor (message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const HELP = `Usage: fastify-resources FILE|URL [options]
       fastify-resources diff MODULE

Serves the tables and views of an SQLite file or a PostgreSQL database as pages, XML and JSON.
FILE is the path of an SQLite file. URL is a postgres:// URL, by default the variable DATABASE_URL.

"diff" prints the SQL that adds what the tables of an app lack, and changes nothing. MODULE is the
path of a module that exports the Fastify app. The exit code is 1 if a table does not fit.

  --write               allow clients to create, update and delete rows (default: read-only)
  --only NAME,NAME      serve only these tables and views
  --except NAME,NAME    leave out these tables and views
  --schema NAME,NAME    serve the tables of these schemas of PostgreSQL (default: search_path)
  --port NUMBER         listen on this port (default: 3000)
  --host ADDRESS        listen on this address (default: 127.0.0.1)
  --prefix PATH         serve everything below this path, such as /tables
  --origin URL          answer requests for this origin too, such as https://tables.example.com
  --user NAME:PASSWORD  ask clients for this name and password (HTTP Basic); can be given several
                        times, and with a role of --hide: NAME:PASSWORD:ROLE
  --hide TABLE.COLUMN   hide a column from all clients, or from a role: ROLE:TABLE.COLUMN
  --search TABLE=INDEX  search a table by a full text index: an FTS5 table, or a tsvector column
  --stamp COLUMN        set a column to the name of the user at each write, in all tables
  --open                open the home page in a browser
  --print               print the program as a TypeScript file, and end
  --help                print this text, and end
  --version             print the version, and end
`

const OPTIONS = {
  write: { type: 'boolean' },
  only: { type: 'string', multiple: true },
  except: { type: 'string', multiple: true },
  schema: { type: 'string', multiple: true },
  port: { type: 'string' },
  host: { type: 'string' },
  prefix: { type: 'string' },
  origin: { type: 'string', multiple: true },
  user: { type: 'string', multiple: true },
  hide: { type: 'string', multiple: true },
  search: { type: 'string', multiple: true },
  stamp: { type: 'string', multiple: true },
  open: { type: 'boolean' },
  print: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' }
} as const

/**
 * Parses the arguments of the command. Returns `'help'` or `'version'` if they ask for it.
 * @throws CommandError
 */
export function parseSettings (
  argv: readonly string[],
  { DATABASE_URL: url }: NodeJS.ProcessEnv
): Settings | DiffSettings | 'help' | 'version' {
  const { values, positionals } = parse(argv)
  if (values.help === true) return 'help'
  if (values.version === true) return 'version'
  if (positionals[0] === 'diff') return parseDiff(positionals.slice(1), Object.keys(values))
  const { write = false, open = false, print = false, host = '127.0.0.1', prefix = '' } = values
  const [source = url, other] = positionals
  if (source === undefined || source === '') throw new CommandError('Name a database: fastify-resources FILE|URL', 2)
  if (other !== undefined) {
    throw new CommandError(`Name one database, not also "${other}". Separate names of tables by commas only.`, 2)
  }
  const isUrl = /^postgres(?:ql)?:\/\//.test(source)
  if (!isUrl && /^\w+:\/\//.test(source)) {
    const [scheme] = source.split('//')
    throw new CommandError(`A URL must begin with postgres://, not with ${scheme}// Other databases are not served.`, 2)
  }
  if (values.schema && !isUrl) throw new CommandError('--schema is for PostgreSQL. Leave it out for a file.', 2)
  const split = (lists: readonly string[] | undefined): string[] | undefined =>
    lists?.flatMap((list) => list.split(','))
  const hidden = split(values.hide)?.map(parseHidden) ?? []
  const users = parseUsers(values.user, hidden)
  const stamps = split(values.stamp) ?? []
  if (stamps.length > 0 && (users.length === 0 || !write)) {
    const [option, reason] = write
      ? ['--user NAME:PASSWORD', 'it sets columns to the name of the user']
      : ['--write', 'without it nothing is written']
    throw new CommandError(`--stamp needs ${option}, because ${reason}.`, 2)
  }
  const address = { port: parsePort(values.port), host, ...checkPlace(prefix, values.origin) }
  const selection = { only: split(values.only), except: split(values.except), schema: split(values.schema) }
  const indexes = split(values.search)?.map(parseIndex) ?? []
  return { source, isUrl, write, ...selection, ...address, users, hidden, indexes, stamps, open, print }
}

function parseHidden (text: string): HiddenAttribute {
  const [, role, table, attribute] = /^(?:([^:]+):)?([^:]+)\.([^.:]+)$/.exec(text) ?? []
  if (table !== undefined && attribute !== undefined) return { table, attribute, role }
  throw new CommandError(
    `--hide must name columns with their tables, as in --hide orders.note or --hide clerk:orders.note, not "${text}"`, 2
  )
}

function parseIndex (text: string): Settings['indexes'][number] {
  const [, table, index] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (table !== undefined && index !== undefined) return { table, index }
  throw new CommandError(`--search must name a table and its index, as in --search posts=posts_fts, not "${text}"`, 2)
}

/**
 * Parses the users. Passwords may have colons. If some columns are hidden from roles, the last colon begins the role.
 * A message repeats nothing that may be a part of a password.
 */
function parseUsers (given: readonly string[] = [], hidden: readonly HiddenAttribute[]): readonly User[] {
  const roles = new Set(hidden.flatMap(({ role }) => role ?? []))
  const users = given.map((text): User => {
    const [, name = '', rest = ''] = /^([^:]+):(.+)$/s.exec(text) ?? []
    const [, password, role] = (roles.size > 0 && /^(.*):([^:]*)$/s.exec(rest)) || [rest, rest]
    if (password === '') throw new CommandError('--user must be a name and a password, as in --user ann:secret', 2)
    if (role === undefined || roles.has(role)) return { name, credentials: `${name}:${password}`, role }
    const known = [...roles].join(', ')
    throw new CommandError(`--user "${name}" has a colon in its password, or a role that no --hide names: ${known}`, 2)
  })
  const twice = users.find(({ name }, index) => users.findIndex((other) => other.name === name) !== index)
  if (twice !== undefined) throw new CommandError(`--user names "${twice.name}" twice. Give each user one password.`, 2)
  const idle = [...roles].find((role) => users.every((user) => user.role !== role))
  if (idle === undefined) return users
  throw new CommandError(`--hide names the role "${idle}", which no --user has, as in --user ann:secret:${idle}`, 2)
}

/** Checks by which path and which origins clients reach the server. */
function checkPlace (prefix: string, origins: readonly string[] = []): Pick<Settings, 'prefix' | 'origins'> {
  const segments = prefix.split('/').slice(1)
  const isPath = segments.every((segment) => /^[\w~.-]+$/.test(segment) && !/^\.\.?$/.test(segment))
  if (prefix !== '' && !(prefix.startsWith('/') && isPath)) {
    throw new CommandError(`--prefix must be a path such as /tables, not "${prefix}"`, 2)
  }
  const other = origins.find((origin) => !isOrigin(origin) || !/^https?:/.test(origin))
  if (other === undefined) return { prefix, origins }
  throw new CommandError(`--origin must be a scheme and a host such as https://tables.example.com, not "${other}"`, 2)
}

function parseDiff ([module, ...others]: readonly string[], options: readonly string[]): DiffSettings {
  if (module !== undefined && others.length === 0 && options.length === 0) return { module }
  throw new CommandError('Name one module and nothing else: fastify-resources diff app.js', 2)
}

/** Parses the arguments strictly. The messages of Node.js are long, so only its tokens are used. */
function parse (argv: readonly string[]) {
  const config = { args: [...argv], options: OPTIONS, allowPositionals: true } as const
  const { tokens } = parseArgs({ ...config, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue = false } = token
    if (!Object.hasOwn(OPTIONS, name)) {
      const hint = didYouMean(name, Object.keys(OPTIONS)).replace(/"(.*)"/, '--$1')
      throw new CommandError(`There is no option ${rawName}${hint}${hint === '' ? '.' : ''} See --help.`, 2)
    }
    const { type } = OPTIONS[name as keyof typeof OPTIONS]
    if (type === 'string' && (value === undefined || value === '' || (!inlineValue && /^-./.test(value)))) {
      throw new CommandError(`${rawName} needs a value, as in ${rawName}=VALUE. See --help.`, 2)
    }
    if (type === 'boolean' && value !== undefined) throw new CommandError(`${rawName} takes no value.`, 2)
  }
  return parseArgs(config)
}

function parsePort (text = '3000'): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new CommandError(`--port must be a number up to 65535, not "${text}"`, 2)
}
