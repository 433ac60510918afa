import type { InProcess } from './measure-in-process.js'
import type { Recorded } from './recorded.js'
import type { Result } from './result.js'

/**
 * A ratio has fallen if it is below this share of the recorded one. The same code differed by 17 % between two
 * machines.
 */
const FALL = 0.8
/** A fall counts only if so many measurements in a row show it. */
const TIMES = 3

/** Returns the cells whose speed relative to handwritten routes has fallen since the recorded run. */
export function findFallen (measured: readonly Result[], { results }: Recorded, inProcess: InProcess, rounds: number): string[] {
  return measured.flatMap((result) => {
    const before = ratioOf(results.find(({ name }) => name === result.name))
    if (before === undefined) return []
    let ratio = ratioOf(result) as number
    for (let times = 1; times < TIMES && ratio < before * FALL; times++) {
      ratio = ratioOf(inProcess.measure(result.name.replace(', in-process', ''), rounds)) as number
    }
    return ratio < before * FALL ? [`${result.name}: ${ratio.toFixed(3)} of the speed by hand, was ${before.toFixed(3)}`] : []
  })
}

function ratioOf (result: Result | undefined): number | undefined {
  return result?.details?.ratio
}
