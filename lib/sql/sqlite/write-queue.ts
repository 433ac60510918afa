import { setTimeout as pause } from 'node:timers/promises'

/** The pauses between two attempts, in milliseconds. Each is twice as long as the one before. */
const SHORTEST_PAUSE = 5
const LONGEST_PAUSE = 50

/**
 * The writes of a connection that wait while another connection holds the lock of the database. They wait in the event
 * loop, so that everything else is served meanwhile, and one after the other, so that only the first of them tries.
 */
export class WriteQueue {
  /** The time that a write waits, in milliseconds. */
  readonly timeout: number
  readonly #isBusy: (error: unknown) => boolean
  /** The last write, or `undefined` if there was none. */
  #last: Promise<unknown> | undefined

  constructor (timeout: number, isBusy: (error: unknown) => boolean) {
    this.timeout = timeout
    this.#isBusy = isBusy
  }

  /**
   * Writes, after all writes that wait already, and tries again until the time is over.
   * @throws the last error, if the lock was never free
   */
  run<T> (write: () => T): Promise<T> {
    const result = this.#try(write, Date.now() + this.timeout, this.#last)
    this.#last = result.catch(() => {})
    return result
  }

  /**
   * Begins what keeps the writes after it waiting, until the function that it returns is called. It waits and tries as
   * a write does.
   */
  async hold<T> (begin: () => T): Promise<readonly [begun: T, release: () => void]> {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => { release = resolve })
    const beginning = this.#try(begin, Date.now() + this.timeout, this.#last)
    this.#last = beginning.then(() => released, () => {})
    return [await beginning, release]
  }

  async #try<T> (write: () => T, deadline: number, before: Promise<unknown> | undefined): Promise<T> {
    await before
    for (let length = SHORTEST_PAUSE; ; length = Math.min(2 * length, LONGEST_PAUSE)) {
      try {
        return write()
      } catch (error) {
        if (!this.#isBusy(error) || Date.now() >= deadline) throw error
      }
      await pause(length)
    }
  }
}
