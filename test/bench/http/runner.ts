import type { Contender } from './cells.js'
import type { Child } from '../child.js'
import { FIRST_ID } from './check.js'
import type { Run } from './client.js'
import type { Served } from './server.js'

/** The figures of one round of a contender. */
export interface Sample {
  /** The server's CPU time for one request, in microseconds. */
  readonly cost: number
  readonly requestsPerSecond: number
  /** The share of the time in which the server's process used its processor. */
  readonly busy: number
}

const FIRST_COUNT = 64
/** The requests of the warm-up. V8 compiles the code of a request for thousands of them, and a server answers more. */
const WARM_UP = 20_000
/** The longest warm-up in milliseconds. */
const LONGEST_WARM_UP = 6_000

/** A contender under measurement. */
export class Runner {
  readonly samples: Sample[] = []
  readonly #contender: Contender
  readonly #served: Served
  readonly #server: Child
  readonly #client: Child
  #count = FIRST_COUNT
  // `tryOut` has created and deleted the row of FIRST_ID.
  #nextId = FIRST_ID + 1

  constructor (contender: Contender, served: Served, server: Child, client: Child) {
    this.#contender = contender
    this.#served = served
    this.#server = server
    this.#client = client
  }

  /** Runs until the code is compiled, and finds the number of requests that fill a round. */
  async warmUp (roundMs: number): Promise<void> {
    for (let sent = 0, spent = 0; sent < WARM_UP && spent < LONGEST_WARM_UP;) {
      const last = await this.#run()
      sent += this.#count
      spent += last
      this.#count = Math.max(FIRST_COUNT, Math.ceil(this.#count * Math.min(4, roundMs / last)))
    }
  }

  async measure (): Promise<void> {
    await this.#fill()
    const before = await this.#usage()
    const milliseconds = await this.#ask(this.#contender.call, this.#served.status)
    const used = await this.#usage() - before
    this.samples.push({ cost: used / this.#count, requestsPerSecond: this.#count / milliseconds * 1000, busy: used / 1000 / milliseconds })
  }

  async #run (): Promise<number> {
    await this.#fill()
    return this.#ask(this.#contender.call, this.#served.status)
  }

  async #fill (): Promise<void> {
    if (this.#contender.fill !== undefined) await this.#ask(this.#contender.fill, 201)
  }

  async #ask (call: Run['call'], status: number): Promise<number> {
    const run: Run = { port: this.#served.port, call, status, count: this.#count, firstId: this.#nextId }
    const milliseconds = await this.#client.ask(run) as number
    if (this.#contender.fill !== undefined && call === this.#contender.call) this.#nextId += this.#count
    return milliseconds
  }

  async #usage (): Promise<number> {
    return await this.#server.ask({ usage: true }) as number
  }
}
