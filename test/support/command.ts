import type { Test } from 'tap'
import { run, type Surroundings } from '../../lib/database/command/run.js'

/** Matches what a busy machine may make the command say. */
const WAITING = /^Waiting for /

export interface Started {
  readonly url: string
  readonly printed: string
  readonly complained: () => string
  /** Stops the command, and returns its exit code. */
  stop (): Promise<number>
}

/** Runs the command until it has printed something. */
export async function start (
  t: Test,
  argv: readonly string[],
  surroundings: Partial<Surroundings> = {}
): Promise<Started> {
  const stop = new AbortController()
  let complained = ''
  let ended: Promise<number> | undefined
  const printed = await new Promise<string>((resolve, reject) => {
    ended = run([...argv, '--port', '0'], {
      env: {},
      print: resolve,
      complain: (text) => {
        if (!WAITING.test(text)) complained += text
      },
      signal: stop.signal,
      ...surroundings
    })
    ended.then((code) => { reject(new Error(`ended with ${code}: ${complained}`)) }, reject)
  })
  t.teardown(async () => {
    stop.abort()
    await ended
  })
  const [, url = ''] = / is at (\S+)$/m.exec(printed) ?? []
  return {
    url,
    printed,
    complained: () => complained,
    async stop () {
      stop.abort()
      return await (ended as Promise<number>)
    }
  }
}

/** Runs the command, which ends at once. */
export async function end (argv: readonly string[], surroundings: Partial<Surroundings> = {}): Promise<{
  code: number, printed: string, complained: string
}> {
  let printed = ''
  let complained = ''
  const code = await run(argv, {
    env: {},
    print: (text) => { printed += text },
    complain: (text) => { if (!WAITING.test(text)) complained += text },
    signal: AbortSignal.abort(),
    ...surroundings
  })
  return { code, printed, complained }
}
