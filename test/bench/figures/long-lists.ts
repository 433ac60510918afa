import { type Child, startChild } from '../child.js'
import { makeResult, median, type Result } from '../result.js'
import type { Drain, Drained } from './drain.js'
import type { LongListQuestion } from './long-list-server.js'

const ROWS = 1_000_000
const FEW = 10_000
const ROUNDS = 5
const CLIENTS = 4
const SERVER = 'figures/long-list-server.js'
const DRAIN = 'figures/drain.js'
const XML = { url: '/posts', accept: 'application/xml' }

/** Two processes: one sends the lists, the other discards them. */
interface Pair {
  ask (question: LongListQuestion): Promise<unknown>
  drain (port: number, clients?: number): Promise<Drained>
  stop (): Promise<unknown>
}

function startPair (): Pair {
  const server: Child = startChild(SERVER, 0, ['--expose-gc'])
  const client: Child = startChild(DRAIN, 1)
  return {
    ask: (question) => server.ask(question),
    drain: async (port, clients = 1) => await client.ask({ port, clients, ...XML } satisfies Drain) as Drained,
    stop: () => Promise.all([server.stop(), client.stop()])
  }
}

/** The speed of one long answer, in bytes per nanosecond of wall time and of the server's CPU time. */
interface Speed {
  readonly clock: number
  readonly processor: number
}

async function measureSpeed (pair: Pair, port: number): Promise<Speed> {
  const before = await pair.ask({ tell: 'usage' }) as number
  const { bytes, milliseconds } = await pair.drain(port)
  const used = await pair.ask({ tell: 'usage' }) as number - before
  return { clock: bytes / milliseconds / 1e6, processor: bytes / used / 1e3 }
}

/** Measures a million rows of a memory store as XML, beside constant chunks of the same total length. */
export async function measureThroughput (): Promise<Result[]> {
  const pair = startPair()
  const port = await pair.ask({ serve: 'memory', rows: ROWS }) as number
  const { bytes } = await pair.drain(port)
  const bare = await pair.ask({ pipe: bytes }) as number
  await pair.drain(bare)
  const speeds: Array<{ ours: Speed, pipe: Speed }> = []
  for (let round = 0; round < ROUNDS; round++) {
    const pipe = await measureSpeed(pair, bare)
    speeds.push({ pipe, ours: await measureSpeed(pair, port) })
  }
  await pair.stop()
  const middle = (read: (speed: { ours: Speed, pipe: Speed }) => number): number => median(speeds.map(read))
  const details = { 'by CPU time': middle(({ ours, pipe }) => ours.processor / pipe.processor), 'pipe GB/s': middle(({ pipe }) => pipe.clock), 'ours GB per CPU second': middle(({ ours }) => ours.processor), MB: bytes / 1e6 }
  return [
    makeResult('1,000,000 rows as XML', middle(({ ours }) => ours.clock), 'GB/s'),
    makeResult('1,000,000 rows as XML: beside constant chunks', middle(({ ours, pipe }) => ours.clock / pipe.clock), 'x', { least: 0.25 }, details)
  ]
}

interface Held {
  readonly held: number
  readonly resident: number
}

/** Returns the MiB held beyond those of an idle server. Rows are made on demand, and one list has been read before. */
async function measureHeld (rows: number): Promise<Held> {
  const pair = startPair()
  const port = await pair.ask({ serve: 'made', rows }) as number
  await pair.drain(port)
  const idle = await pair.ask({ tell: 'held' }) as Held
  await pair.ask({ tell: 'forget' })
  await pair.drain(port)
  const most = await pair.ask({ tell: 'most held' }) as Held
  await pair.stop()
  return { held: (most.held - idle.held) / 2 ** 20, resident: (most.resident - idle.resident) / 2 ** 20 }
}

export async function measureMemory (): Promise<Result[]> {
  const few = await measureHeld(FEW)
  const many = await measureHeld(ROWS)
  return [
    makeResult('held for 10,000 rows as XML', few.held, 'MiB', { most: 32 }, { RSS: few.resident }),
    makeResult('held for 1,000,000 rows as XML', many.held, 'MiB', { most: 32 }, { RSS: many.resident }),
    makeResult('RSS for 1,000,000 rows as XML', many.resident, 'MiB', { most: 32 })
  ]
}

/** Measures the delay of timers while four clients read a million rows each. */
export async function measureEventLoop (): Promise<Result[]> {
  const pair = startPair()
  const port = await pair.ask({ serve: 'memory', rows: ROWS }) as number
  await pair.ask({ tell: 'watch' })
  await pair.drain(port, CLIENTS)
  const { p50, p99, most } = await pair.ask({ tell: 'delay' }) as Record<'p50' | 'p99' | 'most', number>
  await pair.stop()
  return [makeResult('event loop, 4 × 1,000,000 rows as XML, p99', p99, 'ms', { most: 30 }, { p50, most })]
}
