/**
 * Measures the plugin beside handwritten routes and other software in one run.
 *
 * `npm run bench` measures everything (some ten minutes). `npm run bench -- http growth` measures the groups of these
 * names. `npm run bench -- --quick` takes about a minute and fails if a figure has fallen. `--record` writes the
 * figures into docs/performance.md, and into the file that the quick run compares with.
 */
import { availableParallelism } from 'node:os'
import { isPinned } from './child.js'
import { measureEventLoop, measureMemory, measureThroughput } from './figures/long-lists.js'
import { measureAllocation, measureGrowth, measureStart, measureStreams, measureWriters } from './figures/measure-figures.js'
import { findFallen } from './guard.js'
import { memoryCells, plainCells, sqliteCells } from './http/cells.js'
import { measureHttp } from './http/measure-http.js'
import { InProcess } from './measure-in-process.js'
import { readRecorded, record } from './recorded.js'
import { makeResult, renderTable, type Result } from './result.js'
import { measureWorstInputs, TARGET } from './worst-inputs.js'

const ROUNDS = 200
const QUICK_ROUNDS = 60

const print = (results: readonly Result[]): void => { console.log(renderTable(results)) }

async function measureWorst (): Promise<Result[]> {
  const [worst] = await measureWorstInputs()
  return worst === undefined ? [] : [makeResult('worst single input', worst.milliseconds, 'ms', { most: TARGET })]
}

const measurements: Readonly<Record<string, () => Promise<Result[]>>> = {
  'in-process': async () => (await InProcess.start()).measureAll(ROUNDS),
  http: () => measureHttp(memoryCells),
  sqlite: () => measureHttp(sqliteCells),
  plain: () => measureHttp(plainCells),
  throughput: measureThroughput,
  streams: measureStreams,
  memory: measureMemory,
  loop: measureEventLoop,
  allocation: measureAllocation,
  growth: measureGrowth,
  writers: measureWriters,
  start: async () => measureStart(),
  worst: measureWorst,
  // Imported only on demand: embedded PostgreSQL makes the process exit with 0 even after a failure.
  filters: async () => (await import('./figures/filtered-lists.js')).measureFilteredLists(),
  stores: async () => (await import('./stores.js')).measureStores()
}

async function measureQuickly (): Promise<void> {
  const inProcess = await InProcess.start()
  const results = inProcess.measureAll(QUICK_ROUNDS)
  print(results)
  const fallen = findFallen(results, readRecorded(), inProcess, QUICK_ROUNDS)
  for (const line of fallen) console.log(`FALLEN ${line}`)
  process.exitCode = fallen.length > 0 ? 1 : 0
}

async function measureFully (names: readonly string[]): Promise<Result[]> {
  if (!isPinned) console.log('taskset is missing, or there is only one core: the server and the client share all cores.')
  const results: Result[] = []
  for (const [name, measure] of Object.entries(measurements)) {
    if (names.length > 0 && !names.includes(name)) continue
    const found = await measure()
    print(found)
    results.push(...found)
  }
  return results
}

const parameters = process.argv.slice(2)
const names = parameters.filter((parameter) => !parameter.startsWith('--'))
if (parameters.includes('--quick')) {
  await measureQuickly()
} else {
  // The soak takes minutes. It reports only success or failure.
  if (names.includes('soak')) await import('./soak.js')
  const results = names.includes('soak') && names.length === 1 ? [] : await measureFully(names)
  if (parameters.includes('--record')) record(`Node.js ${process.versions.node}, ${availableParallelism()} cores`, results)
}
