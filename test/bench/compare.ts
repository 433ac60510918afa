import { makeResult, median, type Result } from './result.js'

export type Operation = (index: number) => unknown

const ROUNDS = 15

/** Returns the CPU time of one call in microseconds. */
async function measure (operation: Operation, calls: number): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) {
    const answer = operation(index)
    if (answer instanceof Promise) await answer
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** Returns the ratio of our CPU time to that of the bare driver: the median of rounds that alternate in one run. */
export async function compare (name: string, bare: Operation, ours: Operation, calls: number): Promise<Result> {
  const ratios: number[] = []
  const costs: number[] = []
  await measure(bare, calls)
  await measure(ours, calls)
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = round % 2 === 0 ? [await measure(bare, calls), await measure(ours, calls)] : [await measure(ours, calls), await measure(bare, calls)].reverse() as [number, number]
    ratios.push(other / one)
    costs.push(one)
  }
  return makeResult(`${name}, beside the bare driver`, median(ratios), 'x', undefined, { 'µs bare': median(costs) })
}
