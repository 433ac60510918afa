import { readdirSync, readFileSync } from 'node:fs'

/** A mistake that the tests should find: one place in a file of `lib`, and what stands there instead. */
export interface Mutant {
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly why: string
}

/** A mutant with the name of the file that lists it, and the tests that are most likely to find it. */
export interface ListedMutant extends Mutant {
  readonly area: string
  readonly tests: readonly string[]
}

const areas = new URL('areas/', import.meta.url)
export const ROOT = new URL('../../', import.meta.url)

export async function loadMutants (): Promise<ListedMutant[]> {
  const listed: ListedMutant[] = []
  for (const file of readdirSync(areas).sort()) {
    const { tests, mutants } = await import(new URL(file, areas).href) as { tests: readonly string[], mutants: readonly Mutant[] }
    listed.push(...mutants.map((mutant) => ({ area: file.replace(/\.ts$/, ''), tests, ...mutant })))
  }
  return listed
}

/** Returns the text of the file with the mistake in it. Throws if its place is not found, or is found twice. */
export function applyMutant ({ file, find, replace }: Mutant): string {
  const [before, after, ...more] = readFileSync(new URL(file, ROOT), 'utf8').split(find)
  if (before === undefined || after === undefined) throw new Error(`${file} has no «${find}» any more: repair or delete the mutant`)
  if (more.length > 0) throw new Error(`${file} has «${find}» ${more.length + 1} times: the mutant must name one place`)
  return before + replace + after
}
