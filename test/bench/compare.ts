export type Operation = (index: number) => unknown

const ROUNDS = 15

/** In microseconds of CPU time for each call. */
async function measure (operation: Operation, calls: number): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) {
    const answer = operation(index)
    if (answer instanceof Promise) await answer
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

function median (figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1] as number
}

/** Prints how much CPU time this process needs for ours beside the bare one: in turns, in one run, the median of the rounds. */
export async function compare (name: string, bare: Operation, ours: Operation, calls: number): Promise<void> {
  const ratios: number[] = []
  const costs: number[] = []
  await measure(bare, calls)
  await measure(ours, calls)
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = round % 2 === 0 ? [await measure(bare, calls), await measure(ours, calls)] : [await measure(ours, calls), await measure(bare, calls)].reverse() as [number, number]
    ratios.push(other / one)
    costs.push(one)
  }
  console.log(`${name.padEnd(28)} ${median(ratios).toFixed(2)}x of the bare one's ${median(costs).toFixed(1)} µs`)
}
