import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { buildSync } from 'esbuild'
import type { Test } from 'tap'

/** The folder of programs that tests write. It is inside the repository, where programs find the dependencies. */
const folder = new URL('../../.programs/', import.meta.url)

/** Makes Node.js read TypeScript, and import the package by its name from its sources. */
export const FROM_SOURCES = [`--import=${import.meta.resolve('tsx')}`, '--conditions=fastify-resources:source']

// Removes tap's settings for child processes: they would count the child as part of the library and catch its signals.
// tap sets them while it spawns, so that only a shell in between can remove them.
export const ALONE = 'unset NODE_OPTIONS NODE_V8_COVERAGE'

export interface Program {
  readonly process: ChildProcess
  /** The first line that the program printed. */
  readonly line: string
  /** The exit code of the program, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Writes a program to a file, which is removed when the test ends. */
export function writeProgram (t: Test, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const { pathname } = new URL(`${name}-${process.pid}.mjs`, folder)
  writeFileSync(pathname, text)
  t.teardown(() => { rmSync(pathname) })
  return pathname
}

/** Returns the path of a file of the example. */
export function exampleFile (name: string): string {
  return new URL(`../../example/${name}`, import.meta.url).pathname
}

/** Writes a program of the example as one file of JavaScript. */
export function buildExample (t: Test, name: string): string {
  const { outputFiles: [file] } = buildSync({
    entryPoints: [exampleFile(name)], bundle: true, packages: 'external', platform: 'node', format: 'esm', write: false
  })
  return writeProgram(t, name.replace('.ts', ''), file?.text ?? '')
}

export interface ProgramOptions {
  readonly parameters?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** A command that `sh` runs before it becomes the program. */
  readonly before?: string
}

/**
 * Starts a program and waits for its first line. The program is killed when the test ends. A program in TypeScript
 * imports the sources of the package. Another one starts faster, and imports the package as `npm run build` left it.
 */
export async function startProgram (
  t: Test,
  path: string,
  { parameters = [], environment = {}, before = ':' }: ProgramOptions = {}
): Promise<Program> {
  const flags = path.endsWith('.ts') ? FROM_SOURCES : []
  const command = ['-c', `${ALONE}; ${before}; exec "$0" "$@"`, process.execPath, ...flags, path, ...parameters]
  const env = { ...process.env, ...environment }
  const child = spawn('sh', command, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env })
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  let complained = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    complained += chunk.toString()
    process.stderr.write(chunk)
  })
  let printed = ''
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes('\n')) resolve(printed.slice(0, printed.indexOf('\n')))
    })
    // `close` comes after the last output of the program.
    child.once('close', (code, signal) => {
      const said = `${printed}${complained}`
      reject(new Error(`the program ended with ${code ?? signal} before it printed a line: ${said}`))
    })
  })
  return { process: child, line: await line, ended }
}

/** Sends a message to a program and returns its next message. Throws if the program ends instead. */
export async function ask ({ process: child, ended }: Program, question: string): Promise<unknown> {
  const answered = once(child, 'message')
  child.send(question)
  const [answer] = await Promise.race([answered, ended.then((how) => {
    throw new Error(`the program ended with ${how} before it answered "${question}"`)
  })])
  return answer
}

/** Waits until a condition holds. */
export async function until (what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 600_000
  while (!await holds()) {
    if (Date.now() > end) throw new Error(`waited for ten minutes, but it did not happen that ${what}`)
    await delay(5)
  }
}
