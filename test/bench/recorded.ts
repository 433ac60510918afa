import { readFileSync, writeFileSync } from 'node:fs'
import { renderReadmeTables } from './readme-table.js'
import type { Result } from './result.js'

/** The results of the last full run. docs/performance.md shows them, and the quick run compares with them. */
export interface Recorded {
  /** The version of Node.js and the number of cores. */
  readonly where: string
  readonly results: readonly Result[]
}

// The path from the compiled file.
const file = new URL('../../../recorded.json', import.meta.url)

export function readRecorded (): Recorded {
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
}

/** Replaces the recorded results by these. Results that were not measured this time stay. */
export function record (where: string, results: readonly Result[]): void {
  const before = readRecorded().results
  const known = new Set(before.map(({ name }) => name))
  const found = new Map(results.map((result) => [result.name, result]))
  const recorded = { where, results: [...before.map((result) => found.get(result.name) ?? result), ...results.filter(({ name }) => !known.has(name))] }
  writeFileSync(file, `${JSON.stringify(recorded, undefined, 2)}\n`)
  const text = readFileSync(page, 'utf8')
  writeFileSync(page, text.replace(TABLES, (_, before: string, after: string) => `${before}\n${renderReadmeTables(recorded)}\n${after}`))
}

const page = new URL('../../../../../docs/performance.md', import.meta.url)
const TABLES = /(<!-- What `npm run bench -- --record` has found -->\n)[^]*?(\n<!-- End -->)/
