import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findBinaries, findTemporaryFolder, findUser, shareBinaries, type User } from './postgres-binaries.js'

export interface Server {
  /** `postgres://…` */
  readonly url: string
  /** The folder of the server's Unix socket, or `127.0.0.1` on Windows, where `pg` cannot use one. */
  readonly host: string
  readonly port: number
  /** The folder of the server's programs. */
  readonly binaries: string
  /**
   * Crashes the server. SIGQUIT is what `pg_ctl stop -m immediate` sends; SIGKILL is what the kernel sends when memory
   * runs out.
   */
  crash (signal?: 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Starts the server again after a crash. */
  start (): Promise<void>
  stop (): Promise<void>
}

/** A round trip takes half the time through a Unix socket. */
const HAS_SOCKETS = process.platform !== 'win32'

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The parameters of a program of PostgreSQL. */
interface Installation {
  readonly binaries: string
  readonly user: User
  /** The folder of this server: its data, and its password while the data are created. */
  readonly folder: string
}

/** The running servers. They are killed when this process ends. */
const running = new Set<ChildProcess>()

/**
 * Starts a server. `flags` are its settings, such as `['fsync=off']`; `binaries` is the folder of another installation.
 * @throws Error with one line that says why PostgreSQL cannot start
 */
export async function startServer (flags: readonly string[] = [], binaries?: string): Promise<Server> {
  try {
    return await launch(flags, binaries ?? await findBinaries())
  } catch (cause) {
    throw new Error(`PostgreSQL cannot start: ${(cause as Error).message}`, { cause })
  }
}

async function launch (flags: readonly string[], binaries: string): Promise<Server> {
  if (!existsSync(join(binaries, 'bin'))) throw new Error(`there is no folder ${join(binaries, 'bin')}; run npm ci`)
  const user = findUser()
  const temporary = findTemporaryFolder(user)
  const installation = {
    user,
    binaries: shareBinaries(binaries, user, temporary),
    folder: mkdtempSync(join(temporary, 'resources-postgres-'))
  }
  const { folder } = installation
  give(folder, user)
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${HAS_SOCKETS ? folder : ''}`, ...flags]
  let server: ChildProcess | undefined
  async function start (): Promise<void> {
    const end = Date.now() + 600_000
    for (;;) {
      try {
        server = await startPostmaster(installation, [
          '-D', join(folder, 'data'), '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])
        ])
        return
      } catch (error) {
        // The other processes of a killed server take a moment to notice its end.
        if (!/pre-existing shared memory|lock file/.test((error as Error).message) || Date.now() > end) throw error
        await delay(50)
      }
    }
  }
  async function end (signal: NodeJS.Signals): Promise<void> {
    if (server === undefined) return
    const gone = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined
    server.kill(signal)
    await gone
    server = undefined
  }
  async function stop (): Promise<void> {
    await end('SIGINT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    await initialise(installation)
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    host: HAS_SOCKETS ? folder : '127.0.0.1',
    port,
    binaries: installation.binaries,
    start,
    stop,
    crash: (signal = 'SIGQUIT') => end(signal)
  }
}

// The default collation is ICU's. A store that relies on the database's order instead of code points fails.
const FLAGS = [
  '--no-sync', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C', '--auth=password',
  '--username=postgres'
]

/**
 * Puts the data of an empty database into the folder. Creating them takes twenty times as long as copying, so that all
 * processes share them. They stay in the temporary folder for later runs.
 */
async function initialise (installation: Installation): Promise<void> {
  const { binaries, folder, user } = installation
  const data = join(folder, 'data')
  // There is no `cp` on Windows.
  if (process.platform === 'win32') return await create(installation, data)
  const digest = createHash('sha256').update(
    JSON.stringify([binaries, statSync(join(binaries, 'bin/initdb')).mtimeMs, FLAGS])
  )
    .digest('hex')
  const shared = join(dirname(folder), `resources-postgres-data-${digest.slice(0, 16)}`)
  if (!existsSync(shared)) {
    const created = join(folder, 'created')
    await create(installation, created)
    // Renaming makes the data appear as a whole. It fails if another process was faster, and its data are as good.
    try { renameSync(created, shared) } catch {}
  }
  if (statSync(shared).uid !== (user.uid ?? process.getuid?.())) {
    throw new Error(`the folder ${shared} belongs to somebody else; remove it`)
  }
  await succeed(run(installation, 'cp', ['-R', shared, data]))
}

async function create (installation: Installation, data: string): Promise<void> {
  const passwordFile = join(installation.folder, 'password')
  writeFileSync(passwordFile, 'secret\n')
  give(passwordFile, installation.user)
  await succeed(
    run(installation, join(
      installation.binaries, 'bin/initdb'
    ), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...FLAGS])
  )
}

async function succeed ({ output, ended }: Run): Promise<void> {
  if (await ended !== 0) throw new Error(causeIn(output))
}

/** Resolves when the server accepts connections. */
async function startPostmaster (installation: Installation, flags: readonly string[]): Promise<ChildProcess> {
  const { child, output, ended } = run(installation, join(installation.binaries, 'bin/postgres'), flags)
  stopWithProcess()
  running.add(child)
  child.once('exit', () => running.delete(child))
  const ready = new Promise<void>((resolve) => {
    child.stderr?.on('data', () => {
      if (output.join('').includes('database system is ready to accept connections')) resolve()
    })
  })
  await Promise.race([ready, ended.then(() => { throw new Error(causeIn(output)) })])
  // The later output is discarded.
  child.stderr?.removeAllListeners('data').resume()
  return child
}

interface Run {
  readonly child: ChildProcess
  /** The output of the program. */
  readonly output: readonly string[]
  /** The exit code, or the signal that ended the program. Rejects if it cannot run at all. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

function run ({ user, folder }: Installation, program: string, flags: readonly string[]): Run {
  const output: string[] = []
  const child = spawn(program, flags, {
    ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe']
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => { output.push(text) })
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => { resolve(code ?? signal) })
  })
  return { child, output, ended }
}

/** Joins the lines that name the error. */
function causeIn (output: readonly string[]): string {
  const lines = output.join('').split('\n').map((line) =>
    line.replace(/^\S+ \S+ \S+ \[\d+\] /, '').trim()).filter((line) =>
    line !== '')
  const telling = lines.filter((line) => /FATAL|PANIC|error|could not|cannot|denied/i.test(line))
  return (telling.length > 0 ? telling : lines.slice(-3)).join('; ')
}

/** Gives a path to the user and closes it to others. */
function give (path: string, { uid, gid }: User): void {
  chmodSync(path, 0o700)
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

let isWatched = false

function stopWithProcess (): void {
  if (isWatched) return
  isWatched = true
  process.once('exit', () => { for (const child of running) child.kill('SIGQUIT') })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
}
