import type { Cell, Contender } from './cells.js'
import { startChild } from '../child.js'
import { makeResult, median, type Result } from '../result.js'
import { Runner, type Sample } from './runner.js'
import type { Served } from './server.js'

export interface HttpOptions {
  /** @default 8 */
  readonly rounds?: number
  /** The length of a contender's round in milliseconds. @default 150 */
  readonly roundMs?: number
  /** The number of fresh servers for each cell. @default 2 */
  readonly processes?: number
  /** Receives the results of each cell. */
  readonly onCell?: (results: readonly Result[]) => void
}

const SERVER_CORE = 0
const CLIENT_CORE = 1

/**
 * Measures the cells over HTTP in turns, the server on one core and the client on another. The ratios are of the
 * server's CPU time.
 */
export async function measureHttp (cells: readonly Cell[], options: HttpOptions = {}): Promise<Result[]> {
  const { rounds = 8, roundMs = 150, processes = 2, onCell = () => {} } = options
  const results: Result[] = []
  for (const cell of cells) {
    const found = await measureCell(cell, rounds, roundMs, processes)
    onCell(found)
    results.push(...found)
  }
  return results
}

async function measureCell (cell: Cell, rounds: number, roundMs: number, processes: number): Promise<Result[]> {
  const tries: Sample[][][] = []
  for (let index = 0; index < processes; index++) tries.push(await measureInProcess(cell, rounds, roundMs))
  return cell.contenders.map((contender, place) => summarize(cell, contender, tries.map((samples) => [samples[0], samples[place]] as [Sample[], Sample[]])))
}

/** Returns the samples of each contender, round by round. */
async function measureInProcess (cell: Cell, rounds: number, roundMs: number): Promise<Sample[][]> {
  const server = startChild('http/server.js', SERVER_CORE, ['--expose-gc'])
  const client = startChild('http/client.js', CLIENT_CORE)
  try {
    const served = await server.ask({ serve: cell.name }) as Served[]
    const runners = cell.contenders.map((contender, index) => new Runner(contender, served[index] as Served, server, client))
    await runInTurns(runners, rounds, roundMs)
    return runners.map(({ samples }) => samples)
  } finally {
    await Promise.all([client.stop(), server.stop()])
  }
}

async function runInTurns (runners: readonly Runner[], rounds: number, roundMs: number): Promise<void> {
  for (const runner of runners) await runner.warmUp(roundMs)
  for (let round = 0; round < rounds; round++) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) await runner.measure()
  }
}

function summarize (cell: Cell, { name, target }: Contender, tries: ReadonlyArray<readonly [bare: Sample[], own: Sample[]]>): Result {
  const ratios = tries.map(([bare, own]) => median(own.map(({ cost }, round) => (bare[round] as Sample).cost / cost)))
  const all = tries.flatMap(([, own]) => own)
  const middle = (figure: keyof Sample): number => median(all.map((sample) => sample[figure]))
  const details = { µs: middle('cost'), 'requests/s': middle('requestsPerSecond'), busy: middle('busy'), from: Math.min(...ratios), to: Math.max(...ratios) }
  return makeResult(`${cell.name}: ${name}`, median(ratios), 'x', target === undefined ? undefined : { least: target }, details)
}
