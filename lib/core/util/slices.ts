import { setImmediate } from 'node:timers/promises'

/** The longest time in which long work may keep other requests waiting, in milliseconds. */
const LONGEST = 8

/** Divides long work into slices, between which the process answers other requests. */
export class Slices {
  #start = performance.now()

  /** Whether the slice is over, so that the work should pause. */
  get isOver (): boolean {
    return performance.now() - this.#start > LONGEST
  }

  /** Waits until the process has done what else there is to do. */
  async pause (): Promise<void> {
    await setImmediate()
    this.#start = performance.now()
  }
}
