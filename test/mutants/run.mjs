/**
 * Changes lines of the library, one at a time, and counts the changes that tests notice. `npm run mutants` tests all
 * subjects, `npm run mutants -- keyset` those whose name contains a text, and
 * `npm run mutants -- keyset lib/sql/keyset.ts:30-40` only some lines. CONCURRENCY sets the number of processes.
 */
import { readFileSync } from 'node:fs'
import { Stryker } from '@stryker-mutator/core'

/** The subjects where a wrong line costs data or secrets: their lines, and the test file that must notice a change. */
const SUBJECTS = {
  authorize: {
    lines: ['lib/core/actions/authorize/authorize.ts', 'lib/core/actions/authorize/level.ts'],
    test: 'test/actions/authorize/access.test'
  },
  preconditions: { lines: ['lib/core/request/preconditions.ts'], test: 'test/http/request/preconditions.test' },
  'cross-site': {
    lines: [linesFrom('lib/core/request/negotiate.ts', '/** The methods that change nothing.')],
    test: 'test/http/request/browsers.test'
  },
  payload: { lines: ['lib/core/request/payload.ts'], test: 'test/http/request/payload.test' },
  cursor: {
    lines: [linesFrom('lib/core/request/list-query.ts', 'const LONGEST')], test: 'test/http/request/payload.test'
  },
  escape: { lines: ['lib/core/formats/escape.ts'], test: 'test/formats/hide-write-only.test' },
  'hide-write-only': { lines: ['lib/core/formats/hide-write-only.ts'], test: 'test/formats/hide-write-only.test' },
  transactions: { lines: ['lib/core/stores/transaction.ts'], test: 'test/stores/statements.test' },
  keyset: { lines: ['lib/sql/keyset.ts'], test: 'test/stores/statements.test' },
  statements: { lines: ['lib/sql/statements.ts'], test: 'test/stores/statements.test' }
}
const DETECTED = ['Killed', 'Timeout']
const MISSED = ['Survived', 'NoCoverage']

// The machine decides how long a test takes, as in .taprc.
process.env.TAP_TIMEOUT = '0'
const [wanted = '', ...ranges] = process.argv.slice(2)
const sum = { detected: 0, total: 0 }
for (const [subject, { lines, test }] of Object.entries(SUBJECTS)) {
  if (!subject.includes(wanted)) continue
  const mutants = await new Stryker({
    mutate: ranges.length > 0 ? ranges : lines,
    plugins: [import.meta.resolve('./runner.mjs')],
    testRunner: 'in-process',
    buildCommand: 'esbuild --bundle --packages=external --conditions=fastify-resources:source --platform=node ' +
      '--format=esm --log-level=warning --alias:tap=./test/mutants/collect.mjs --out-extension:.js=.mjs --outbase=. ' +
      `--outdir=. ${test}.ts`,
    bundle: `${test}.mjs`,
    ignorers: ['texts'],
    warnings: { unknownOptions: false, slow: false },
    coverageAnalysis: 'perTest',
    // A test that waits for an event that never comes ends here.
    timeoutMS: 20_000,
    concurrency: Number(process.env.CONCURRENCY ?? 2),
    tempDirName: `.tap/mutants-${process.pid}`,
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { reportTests: false, allowColor: false, logTests: false },
    ignorePatterns: ['dist', 'docs', 'test/*/node_modules', '.tap']
  }).runMutationTest()
  const count = (states) => mutants.filter(({ status }) => states.includes(status)).length
  const detected = count(DETECTED)
  report(subject, detected, detected + count(MISSED))
  sum.detected += detected
  sum.total += detected + count(MISSED)
}
report('all', sum.detected, sum.total)

function report (subject, detected, total) {
  console.log(`${subject}: ${(100 * detected / total).toFixed(1)} % of ${total} changes are noticed`)
}

/** Returns the lines of a file from the first one that begins with a text, as Stryker writes them. */
function linesFrom (file, beginning) {
  const lines = readFileSync(file, 'utf8').split('\n')
  return `${file}:${lines.findIndex((line) => line.startsWith(beginning)) + 1}-${lines.length}`
}
