import { readFileSync, writeFileSync } from 'node:fs'
import { renderReadmeTables } from './readme-table.js'
import type { Result } from './result.js'

/** What the last full run has come to: the README shows it, and the quick run is held against it. */
export interface Recorded {
  /** Of Node.js, and of the machine what matters. */
  readonly where: string
  readonly results: readonly Result[]
}

// From where it is compiled to.
const file = new URL('../../../recorded.json', import.meta.url)

export function readRecorded (): Recorded {
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
}

/** What was not measured this time stays as it was. */
export function record (where: string, results: readonly Result[]): void {
  const before = readRecorded().results
  const known = new Set(before.map(({ name }) => name))
  const found = new Map(results.map((result) => [result.name, result]))
  const recorded = { where, results: [...before.map((result) => found.get(result.name) ?? result), ...results.filter(({ name }) => !known.has(name))] }
  writeFileSync(file, `${JSON.stringify(recorded, undefined, 2)}\n`)
  const text = readFileSync(readme, 'utf8')
  writeFileSync(readme, text.replace(TABLES, (_, before: string, after: string) => `${before}\n${renderReadmeTables(recorded)}\n${after}`))
}

const readme = new URL('../../../../../README.md', import.meta.url)
const TABLES = /(<!-- What `npm run bench -- --record` has found -->\n)[^]*?(\n<!-- End -->)/
