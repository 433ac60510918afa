import { startChild } from '../child.js'
import { makeResult, median, type Result } from '../result.js'
import type { Load } from './cold-start.js'
import type { Growth } from './growth.js'

const CORE = 0
const FRESH = 10
const PLUGIN = new URL('../../../lib/index.js', import.meta.url).href
const PARTS = ['ajv', 'ajv-formats', '@fastify/error', '@fastify/formbody', 'fastest-levenshtein', 'fastify-plugin', 'pluralize', 'saxes', 'uuid', 'xmlbuilder2'] as const

/** Starts a fresh process, asks it one question and stops it. */
async function askFresh (module: string, question: object): Promise<unknown> {
  const child = startChild(`figures/${module}`, CORE, ['--expose-gc'])
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

/** Returns the median of several fresh processes that have already loaded Fastify. */
async function measureLoad (load: string): Promise<Load> {
  const loads: Load[] = []
  for (let index = 0; index < FRESH; index++) loads.push(await askFresh('cold-start.js', { load }) as Load)
  return { clock: median(loads.map(({ clock }) => clock)), processor: median(loads.map(({ processor }) => processor)) }
}

/** Measures the plugin, then each dependency alone. The parts share modules, so their sum exceeds the whole. */
export async function measureColdStart (): Promise<Result[]> {
  const parts: Record<string, number> = {}
  for (const part of PARTS) parts[part] = (await measureLoad(part)).clock
  const { clock, processor } = await measureLoad(PLUGIN)
  return [makeResult('cold start: import after Fastify', clock, 'ms', { most: 60 }, { 'CPU ms': processor, ...parts })]
}
