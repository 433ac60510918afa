import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SlowReadError } from '../../core/errors.js'
import type { Context } from '../../core/stores/store.js'
import type { RawRow, Statement } from '../dialect.js'

/** A statement for the process that reads. */
export interface ReadRequest extends Pick<Statement, 'text' | 'kept'> {
  readonly values: readonly unknown[]
}

/** Its rows, or the members of the error of the driver. */
export type ReadAnswer = { readonly rows: readonly RawRow[] } | { readonly error: Readonly<Record<string, unknown>> }

/**
 * Reads a file in another process, one statement after the other. SQLite has no limit of time, and its drivers cannot
 * be interrupted, so a statement that takes too long is killed with its process. The next one starts another process.
 */
export class Reader {
  readonly #path: string
  readonly #timeout: number
  #child: ChildProcess | undefined
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param timeout the time that a statement may take, in milliseconds. The time until its turn comes counts, but a
   * fifth is left to it. It is refused if it has waited for twice that time.
   */
  constructor (path: string, timeout: number) {
    this.#path = path
    this.#timeout = timeout
  }

  /** @throws SlowReadError if the statement takes too long, or its process is killed */
  async run ({ text, kept }: Statement, values: readonly unknown[], context: Context): Promise<readonly RawRow[]> {
    const asked = performance.now()
    const answer = await this.#enqueue(() => this.#ask({ text, kept, values }, context, performance.now() - asked))
    if ('rows' in answer) return answer.rows
    throw Object.assign(new Error(), answer.error)
  }

  /** Ends the process when it has answered all. */
  close (): Promise<void> {
    return this.#enqueue(async () => {
      const child = this.#child
      if (child === undefined) return
      const ended = once(child, 'exit')
      child.ref()
      if (child.connected) child.disconnect()
      await ended
    })
  }

  #enqueue<T> (task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    this.#last = result.catch(() => {})
    return result
  }

  /** @param waited the time that the statement has waited for others, in milliseconds */
  async #ask (request: ReadRequest, { signal }: Context, waited: number): Promise<ReadAnswer> {
    signal.throwIfAborted()
    if (waited > 2 * this.#timeout) throw new SlowReadError()
    const child = this.#child?.killed === false ? this.#child : await this.#start()
    // The client may have left while the process started.
    signal.throwIfAborted()
    const kill = (): void => {
      // A program that waits for the error must not end before.
      child.ref()
      child.kill('SIGKILL')
    }
    const timer = setTimeout(kill, Math.max(this.#timeout - waited, this.#timeout / 5))
    signal.addEventListener('abort', kill)
    try {
      child.send(request, () => {})
      return await nextMessage(child) as ReadAnswer
    } catch (cause) {
      signal.throwIfAborted()
      throw new SlowReadError({ cause })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
    }
  }

  async #start (): Promise<ChildProcess> {
    // The package finds itself by its name, because a bundle has other folders.
    const program = import.meta.resolve('fastify-resources/sqlite').replace(/index(?=\.[jt]s$)/, 'reader-process')
    const child = fork(fileURLToPath(program), [this.#path, process.argv[1] ?? 'index.js'], {
      serialization: 'advanced',
      // The flags of the app, such as `--inspect`, are not for this program, unless it is a source that they load.
      execArgv: program.endsWith('.ts') ? process.execArgv : [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...Object.fromEntries(NEEDED.map((name) => [name, process.env[name]])), NODE_NO_WARNINGS: '1' }
    })
    child.once('exit', () => { if (this.#child === child) this.#child = undefined })
    // `nextMessage` reports errors. Without a listener, a late one would end this process.
    child.on('error', () => {})
    try {
      await nextMessage(child)
    } catch (cause) {
      throw new Error(`resources: the process that reads "${this.#path}" cannot be started`, { cause })
    }
    child.unref()
    child.channel?.unref()
    this.#child = child
    return child
  }
}

/** The variables that Node.js, SQLite and the drivers need. The others may be secrets, and are not handed on. */
const NEEDED = [
  'NODE_OPTIONS', 'NODE_PATH', 'LD_LIBRARY_PATH', 'SQLITE_TMPDIR', 'TMPDIR', 'TEMP', 'TMP', 'PATH', 'SystemRoot'
]

/**
 * Returns the next message of a process. Throws an error if the process cannot be started, or ends before. With the
 * signals of `once`, a short read would take twice as long.
 */
function nextMessage (child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = <T>(how: (value: T) => void) => (value: T): void => {
      child.off('message', take).off('exit', end).off('error', fail)
      how(value)
    }
    const take = settle(resolve)
    const fail = settle(reject)
    const end = (code: number | null, signal: string | null): void => {
      fail(new Error(`the process has ended with ${code ?? signal}`))
    }
    child.on('message', take).on('exit', end).on('error', fail)
  })
}
