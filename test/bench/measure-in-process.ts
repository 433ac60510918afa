/** Measures the plugin beside handwritten routes without a network: only Fastify and its handlers run. */
import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'
import { makeByHand, makeOurs } from './contenders.js'
import { type Cell, memoryCells } from './http/cells.js'
import { ID } from './http/request.js'
import { type HandlerAnswer, type Call, knock } from './in-process.js'
import { makePost } from './posts.js'
import { makeResult, median, type Result } from './result.js'

const ROWS = 1_000
/**
 * The CPU time of a round in microseconds, for each of the two. It is long for the clock and short beside disturbances.
 */
const ROUND = 3_000
const MOST_CALLS = 2_000

/** The cells in which both contenders answer synchronously. */
const inProcess: readonly Cell[] = memoryCells.filter(({ name, contenders: [first, second] }) => first.name === 'hand' && second?.name === 'ours' && !name.includes('1,000'))

/** The most that ours may cost beyond the handwritten routes: a difference in microseconds, or a factor. */
const TARGETS: ReadonlyArray<readonly [names: RegExp, unit: 'µs' | 'x', most: number]> = [
  [/^show/, 'µs', 0.25],
  [/^list/, 'x', 1.05],
  [/^(?:create|update|delete)/, 'µs', 1]
]

/**
 * Measures both in turns. `details.ratio` is the speed relative to the handwritten routes, the median of the rounds.
 */
export class InProcess {
  readonly #hand: FastifyInstance
  readonly #ours: FastifyInstance
  #nextId = ROWS + 1

  static async start (): Promise<InProcess> {
    const posts = Array.from({ length: ROWS }, (_, index) => makePost(index + 1))
    const both = new InProcess(await makeByHand(posts), await makeOurs(posts))
    // Every cell runs once before, because a real server has answered all kinds of requests.
    for (const cell of inProcess) both.#warmUp(cell)
    return both
  }

  constructor (hand: FastifyInstance, ours: FastifyInstance) {
    this.#hand = hand
    this.#ours = ours
  }

  measureAll (rounds: number): Result[] {
    return inProcess.map((cell) => this.#measure(cell, rounds))
  }

  measure (name: string, rounds: number): Result {
    return this.#measure(inProcess.find((cell) => cell.name === name) as Cell, rounds)
  }

  #warmUp (cell: Cell): void {
    const [byHand, own] = this.#round(cell, 1, (app, call, bodies) => answer(app, call, bodies[0]))
    assert.deepEqual(own, byHand, cell.name)
    for (let times = 0; times < 5; times++) this.#round(cell, MOST_CALLS, measureCalls)
  }

  #measure (cell: Cell, rounds: number): Result {
    const [cost] = this.#round(cell, MOST_CALLS, measureCalls)
    const calls = Math.max(50, Math.min(MOST_CALLS, Math.round(ROUND / cost)))
    const samples = Array.from({ length: rounds }, (_, round) => this.#round(cell, calls, measureCalls, round % 2 === 0))
    return summarize(cell.name, samples)
  }

  /** Runs one round of each. Rounds that delete rows create them first. */
  #round<T> ({ contenders: [{ call, fill }] }: Cell, calls: number, run: (app: FastifyInstance, call: Call, bodies: ReadonlyArray<Buffer | undefined>) => T, handFirst = true): [hand: T, ours: T] {
    if (fill !== undefined) {
      for (const app of [this.#hand, this.#ours]) measureCalls(app, fill, bodiesOf(fill, calls, 0))
      // Collects the garbage of the filling, so that the measured calls do not pay for it.
      globalThis.gc?.({ type: 'minor' })
    }
    const bodies = bodiesOf(call, calls, this.#nextId)
    if (fill !== undefined || call.method === 'POST') this.#nextId += calls
    if (handFirst) {
      const hand = run(this.#hand, call, bodies)
      return [hand, run(this.#ours, call, bodies)]
    }
    const ours = run(this.#ours, call, bodies)
    return [run(this.#hand, call, bodies), ours]
  }
}

function summarize (name: string, samples: ReadonlyArray<readonly [hand: number, ours: number]>): Result {
  const details = { ratio: median(samples.map(([hand, ours]) => hand / ours)), 'µs by hand': median(samples.map(([hand]) => hand)) }
  const [, unit, most] = TARGETS.find(([names]) => names.test(name)) as typeof TARGETS[number]
  const value = median(samples.map(([hand, ours]) => unit === 'x' ? ours / hand : ours - hand))
  return makeResult(`${name}, in-process`, value, unit, { most }, details)
}

function bodiesOf ({ body }: Call, calls: number, firstId: number): Array<Buffer | undefined> {
  if (body?.includes(ID) === true) return Array.from({ length: calls }, (_, index) => Buffer.from(body.replace(ID, String(firstId + index))))
  return new Array<Buffer | undefined>(calls).fill(body === undefined ? undefined : Buffer.from(body))
}

/** Returns the CPU time of one call in microseconds. */
function measureCalls (app: FastifyInstance, call: Call, bodies: ReadonlyArray<Buffer | undefined>): number {
  let failed = 0
  const note = ({ status }: HandlerAnswer): void => { if (status >= 400) failed++ }
  const before = process.cpuUsage()
  for (const body of bodies) knock(app, call, body, note)
  const { user, system } = process.cpuUsage(before)
  assert.equal(failed, 0, `${call.method} ${call.url}`)
  return (user + system) / bodies.length
}

function answer (app: FastifyInstance, call: Call, body: Buffer | undefined): HandlerAnswer {
  const answers: HandlerAnswer[] = []
  knock(app, call, body, (answer) => { answers.push(answer) })
  return answers[0] as HandlerAnswer
}
