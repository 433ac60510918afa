import type { InProcess } from './measure-in-process.js'
import type { Recorded } from './recorded.js'
import type { Result } from './result.js'

/** A ratio that is lower than the recorded one by more than that has fallen (by 17 % the same code has differed on two machines), */
const FALL = 0.8
/** if so many measurements, one after the other, say so. */
const TIMES = 3

/** Those cells that have become slower beside routes by hand than they were when they were recorded. */
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
