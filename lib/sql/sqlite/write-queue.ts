import { setTimeout as pause } from 'node:timers/promises'
import type { MaybePromise } from '../../core/util/maybe-promise.js'

/** The pauses between two attempts, in milliseconds. Each is twice as long as the one before. */
const SHORTEST_PAUSE = 5
const LONGEST_PAUSE = 50

/**
 * The writes of a connection that wait while another connection holds the lock of the database. They wait in the event
 * loop, so that everything else is served meanwhile, and one after the other, so that only the first of them tries.
 */
export class WriteQueue {
  readonly #timeout: number
  readonly #isBusy: (error: unknown) => boolean
  /** The last write that waits, or `undefined` if none does. */
  #last: Promise<unknown> | undefined

  /** @param timeout the time that a write waits, in milliseconds */
  constructor (timeout: number, isBusy: (error: unknown) => boolean) {
    this.#timeout = timeout
    this.#isBusy = isBusy
  }

  /**
   * Writes, and tries again until the time is over. Returns a promise if the write has to wait.
   * @throws the last error, if the lock was never free
   */
  run<T> (write: () => T): MaybePromise<T> {
    const deadline = Date.now() + this.#timeout
    const before = this.#last
    if (before === undefined) {
      try {
        return write()
      } catch (error) {
        this.#check(error, deadline)
      }
    }
    const result = this.#retry(write, deadline, before)
    const last = result.catch(() => {}).then(() => { if (this.#last === last) this.#last = undefined })
    this.#last = last
    return result
  }

  async #retry<T> (write: () => T, deadline: number, before: Promise<unknown> | undefined): Promise<T> {
    await (before ?? pause(SHORTEST_PAUSE))
    for (let length = SHORTEST_PAUSE; ; length = Math.min(2 * length, LONGEST_PAUSE)) {
      try {
        return write()
      } catch (error) {
        this.#check(error, deadline)
      }
      await pause(length)
    }
  }

  /** Throws an error after which no further attempt is made. */
  #check (error: unknown, deadline: number): void {
    if (!this.#isBusy(error) || Date.now() >= deadline) throw error
  }
}
