/**
 * Sends a million requests of every kind to one server over HTTP. Afterwards the server must hold no more memory than
 * before, and its process must end by itself. `SOAK=100000` sets the number. `SNAPSHOT=1` writes the heap before and
 * after, which itself costs memory.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Connection, type HandlerAnswer } from './soak-connection.js'
import { type Command, LASTING_POSTS, type Measure, type Started } from './soak-server.js'
import { makeVisit, type Step } from './soak-visits.js'

const MIB = 1_048_576
const REQUESTS = Number(process.env.SOAK ?? 1_000_000)
/** These requests compile, cache and pool everything that is made once. They are not counted. */
const WARM_UP = Math.max(50_000, REQUESTS / 10)
const CONNECTIONS = 32
const MOST_HEAP = MIB
const MOST_RSS = 10 * MIB
/** The time in milliseconds. */
const PATIENCE = 10_000

class Soak {
  /** The number of answers by status, and of clients that left. */
  readonly counts = new Map<string, number>()
  readonly faults: string[] = []
  readonly #port: number
  #visits = 0
  #requests = 0

  constructor (port: number) {
    this.#port = port
  }

  /** Finishes each visit that has begun, so that its rows are deleted again. */
  async run (until: number): Promise<void> {
    await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
      const connection = new Connection(this.#port)
      while (this.#requests < until) await this.#visit(connection)
      connection.close()
    }))
  }

  async #visit (connection: Connection): Promise<void> {
    const visit = makeVisit(this.#visits++)
    let step = visit.next()
    while (step.done !== true) {
      this.#requests++
      const answer = await this.#take(step.value, connection)
      if (answer === undefined) return
      step = visit.next(answer)
    }
  }

  /** Takes one step. Returns undefined if the visit cannot go on. */
  async #take (step: Step, connection: Connection): Promise<HandlerAnswer | undefined> {
    if ('leave' in step) {
      await (step.leave === 'in the body' ? connection.leaveInBody(step) : connection.leaveInAnswer(step))
      this.#count(`left ${step.leave}`)
      return undefined
    }
    const answer = await connection.ask(step)
    this.#count(String(answer.status))
    if (answer.status === step.expect) return answer
    this.faults.push(`${step.method} ${step.target} was answered with ${answer.status}, not ${step.expect}: ${answer.body.toString().slice(0, 300)}`)
    return undefined
  }

  #count (what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  async countRows (): Promise<number> {
    const connection = new Connection(this.#port)
    const { body } = await connection.ask({ method: 'GET', target: '/posts.json?limit=1000' })
    connection.close()
    return JSON.parse(body.toString()).posts.length
  }
}

async function command<T> (server: ChildProcess, what: Command): Promise<T> {
  server.send(what)
  const [answer] = await once(server, 'message')
  return answer as T
}

/** Tells whether the server's process ends by itself. */
async function close (server: ChildProcess): Promise<boolean> {
  const ended = once(server, 'exit')
  server.send('close' satisfies Command)
  const timer = setTimeout(() => { server.kill('SIGKILL') }, PATIENCE)
  const [code] = await ended
  clearTimeout(timer)
  return code === 0
}

async function takeSnapshot (server: ChildProcess): Promise<void> {
  if (process.env.SNAPSHOT !== undefined) console.log(await command<string>(server, 'snapshot'))
}

function inMib (bytes: number): string {
  return (bytes / MIB).toFixed(2)
}

function describe (name: string, { heap, rss, handles }: Measure): string {
  return `${name.padEnd(14)} heap ${inMib(heap).padStart(7)} MiB   RSS ${inMib(rss).padStart(7)} MiB   handles ${handles.join(', ')}`
}

const server = fork(fileURLToPath(new URL('soak-server.js', import.meta.url)), { execArgv: ['--expose-gc'] })
const [{ port }] = await once(server, 'message') as [Started]
const soak = new Soak(port)
const idle = await command<Measure>(server, 'measure')
await soak.run(WARM_UP)
const before = await command<Measure>(server, 'measure')
await takeSnapshot(server)
const start = performance.now()
await soak.run(WARM_UP + REQUESTS)
const seconds = (performance.now() - start) / 1_000
const rows = await soak.countRows()
const after = await command<Measure>(server, 'measure')
await takeSnapshot(server)
const ended = await close(server)

const failed = [...soak.counts].filter(([what]) => what.startsWith('5')).reduce((sum, [, count]) => sum + count, 0)
const targets: ReadonlyArray<readonly [string, boolean]> = [
  [`the heap has grown by ${inMib(after.heap - before.heap)} MiB`, after.heap - before.heap <= MOST_HEAP],
  [`the resident memory has grown by ${inMib(after.rss - before.rss)} MiB`, after.rss - before.rss <= MOST_RSS],
  [`${after.handles.length} handles, ${idle.handles.length} at the start`, after.handles.join() === idle.handles.join()],
  [`${failed} answers of 5xx`, failed === 0],
  [`${soak.faults.length} answers other than expected`, soak.faults.length === 0],
  [`${rows} rows, ${LASTING_POSTS} at the start`, rows === LASTING_POSTS],
  [ended ? 'the server has ended by itself' : 'the server has not ended by itself', ended]
]
console.log(`${REQUESTS} requests in ${seconds.toFixed(0)} s after ${WARM_UP} to warm up: ${(REQUESTS / seconds).toFixed(0)} a second`)
console.log([...soak.counts].sort(([a], [b]) => a < b ? -1 : 1).map(([what, count]) => `${what}: ${count}`).join('   '))
for (const [name, measure] of Object.entries({ 'at the start': idle, 'warmed up': before, 'in the end': after })) console.log(describe(name, measure))
for (const [what, isMet] of targets) console.log(`${isMet ? 'ok    ' : 'MISSED'} ${what}`)
for (const fault of soak.faults.slice(0, 5)) console.log(fault)
process.exitCode = targets.every(([, isMet]) => isMet) ? 0 : 1
