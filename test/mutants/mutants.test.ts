import { existsSync } from 'node:fs'
import ts from 'typescript'
import t from 'tap'
import { applyMutant, loadMutants, ROOT } from './load.js'

/** Returns what is wrong with the syntax. */
function findMistakes (text: string): unknown[] {
  const { parseDiagnostics } = ts.createSourceFile('mutant.ts', text, ts.ScriptTarget.ESNext) as ts.SourceFile & { readonly parseDiagnostics: ts.Diagnostic[] }
  return parseDiagnostics.map(({ messageText }) => messageText)
}

t.test('each mutant still has its one place in lib, and is a program', async (t) => {
  const mutants = await loadMutants()
  t.ok(mutants.length >= 150, `${mutants.length} mutants`)
  for (const mutant of mutants) {
    const { file, why, tests } = mutant
    t.strictSame(findMistakes(applyMutant(mutant)), [], `${file}: ${why}`)
    t.ok(mutant.find !== mutant.replace, `${file}: ${why}: it changes something`)
    for (const test of tests) t.ok(existsSync(new URL(test, ROOT)), `${test} exists`)
  }
  const names = mutants.map(({ area, why }) => `${area}: ${why}`)
  t.strictSame(names.filter((name, index) => names.indexOf(name) !== index), [], 'each mutant has a reason of its own')
})
