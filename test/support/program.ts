import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'

/** Where the example is built, and where programs find the package by its own name. */
const folder = new URL('../../.example/', import.meta.url)

// What tap makes of each child: it counts it as a part of the library, and listens to its signals. It sets this while it
// spawns, so that only a shell in between can take it away.
export const ALONE = 'unset NODE_OPTIONS NODE_V8_COVERAGE'

export interface Program {
  readonly process: ChildProcess
  /** The first line that it printed. */
  readonly line: string
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Writes a program beside those of the example; it is gone when the test ends. */
export function writeProgram (t: Test, name: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const { pathname } = new URL(`${name}-${process.pid}.mjs`, folder)
  writeFileSync(pathname, text)
  t.teardown(() => { rmSync(pathname) })
  return pathname
}

export function exampleProgram (name: string): string {
  return new URL(name, folder).pathname
}

export interface ProgramOptions {
  readonly parameters?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Run by `sh` before the program takes its place. */
  readonly before?: string
}

/** Starts a program and waits for the first line that it prints; it does not outlive the test. */
export async function startProgram (t: Test, path: string, { parameters = [], environment = {}, before = ':' }: ProgramOptions = {}): Promise<Program> {
  const child = spawn('sh', ['-c', `${ALONE}; ${before}; exec "$0" "$@"`, process.execPath, path, ...parameters], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...environment } })
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
    // When nothing more of what it said can come.
    child.once('close', (code, signal) => { reject(new Error(`the program ended with ${code ?? signal} before it printed a line: ${printed}${complained}`)) })
  })
  return { process: child, line: await line, ended }
}

/** Sends a message to a program and gives the next one that comes back; one that ends instead is an error. */
export async function ask ({ process: child, ended }: Program, question: string): Promise<unknown> {
  const answered = once(child, 'message')
  child.send(question)
  const [answer] = await Promise.race([answered, ended.then((how) => { throw new Error(`the program ended with ${how} before it answered "${question}"`) })])
  return answer
}

/** Waits for what has to come some time. */
export async function until (what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000
  while (!await holds()) {
    if (Date.now() > end) throw new Error(`it never comes that ${what}`)
    await delay(5)
  }
}
