import { readFileSync, writeFileSync } from 'node:fs'
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

export function writeRecorded (recorded: Recorded): void {
  writeFileSync(file, `${JSON.stringify(recorded, undefined, 2)}\n`)
}
