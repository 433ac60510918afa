/**
 * What the plugin costs beside routes by hand and other software, measured in one run.
 *
 * `npm run bench` measures all there is (some ten minutes), `npm run bench -- http growth` what has such a name,
 * `npm run bench -- --quick` what can be told in a minute, and fails where it has fallen. `--record` keeps what was found,
 * for the README and for the quick run.
 */
import { availableParallelism } from 'node:os'
import { isPinned } from './child.js'
import { measureEventLoop, measureMemory, measureThroughput } from './figures/long-lists.js'
import { measureColdStart, measureGrowth, measureStreams, measureWriters } from './figures/measure-figures.js'
import { findFallen } from './guard.js'
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
  http: () => measureHttp(),
  throughput: measureThroughput,
  streams: measureStreams,
  memory: measureMemory,
  loop: measureEventLoop,
  growth: measureGrowth,
  writers: measureWriters,
  start: measureColdStart,
  worst: measureWorst,
  // When it is needed: the PostgreSQL that it brings ends a process with 0, whatever the process has failed with.
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
  if (!isPinned) console.log('There is no taskset, or but one core: server and client share what there is.')
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
  // Which takes minutes, and only says whether all is well.
  if (names.includes('soak')) await import('./soak.js')
  const results = names.includes('soak') && names.length === 1 ? [] : await measureFully(names)
  if (parameters.includes('--record')) record(`Node.js ${process.versions.node}, ${availableParallelism()} cores`, results)
}
