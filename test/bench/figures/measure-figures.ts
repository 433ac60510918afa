import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startChild } from '../child.js'
import { makeResult, median, type Result } from '../result.js'
import type { Start } from './first-answer.js'
import type { Growth } from './growth.js'

const CORE = 0
const PAIRS = 20
const PROGRAM = fileURLToPath(new URL('first-answer.js', import.meta.url))

/** Starts a fresh process, asks it one question and stops it. */
async function askFresh (module: string, question: object, nodeOptions: readonly string[] = []): Promise<unknown> {
  const child = startChild(`figures/${module}`, CORE, ['--expose-gc', ...nodeOptions])
  try {
    return await child.ask(question)
  } finally {
    await child.stop()
  }
}

export async function measureGrowth (): Promise<Result[]> {
  const results: Result[] = []
  const measurements: readonly Growth[] = ['rows', 'rows by hand', 'resources', 'registration']
  for (const measure of measurements) results.push(...await askFresh('growth.js', { measure }) as Result[])
  return results
}

export async function measureStreams (): Promise<Result[]> {
  return await askFresh('streams.js', {}) as Result[]
}

export async function measureWriters (): Promise<Result[]> {
  return await askFresh('writers.js', {}) as Result[]
}

/** Measures allocation with a semi-space (in MiB) that no sample fills, so that no garbage is collected meanwhile. */
export async function measureAllocation (): Promise<Result[]> {
  return await askFresh('allocation.js', {}, ['--min-semi-space-size=64', '--max-semi-space-size=64']) as Result[]
}

/** Starts a whole program, and returns what it took until its first answer. */
function startApp (kind: 'ours' | 'by-hand'): Start {
  return JSON.parse(execFileSync(process.execPath, [PROGRAM, kind], { encoding: 'utf8' })) as Start
}

/** Measures how much longer an app with the bundled package takes until its first answer, in pairs of programs. */
export function measureStart (): Result[] {
  const pairs = Array.from({ length: PAIRS }, () => ({ hand: startApp('by-hand'), ours: startApp('ours') }))
  const differenceOf = (figure: keyof Start): number => median(pairs.map(({ hand, ours }) => ours[figure] - hand[figure]))
  const details = { 'by the clock': differenceOf('clock'), 'CPU by hand': median(pairs.map(({ hand }) => hand.processor)) }
  return [makeResult('start of an app until its first answer', differenceOf('processor'), 'ms', { most: 60 }, details)]
}
