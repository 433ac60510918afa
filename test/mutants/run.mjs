/**
 * Changes lines of the library, one at a time, and counts the changes that tests notice. It takes ten to twenty minutes
 * for each file: `npm run mutants -- keyset` tests the files whose name contains a text, `npm run mutants` all.
 */
import { Stryker } from '@stryker-mutator/core'

/** The files where a wrong line costs data or secrets, and the tests that must notice it. */
const FILES = {
  'lib/core/actions/authorize/authorize.ts': ['test/actions/authorize/*.test.ts'],
  'lib/core/relations/hook-guards.ts': ['test/http/relations/hidden.test.ts'],
  'lib/core/request/preconditions.ts': ['test/http/request/{conditional,tags}.test.ts'],
  'lib/core/request/payload-hooks.ts': ['test/http/request/browsers.test.ts'],
  'lib/core/request/payload.ts': ['test/http/request/writes.test.ts', 'test/routing/input.test.ts'],
  'lib/core/request/list-query.ts': ['test/http/request/lists.test.ts'],
  'lib/core/formats/escape.ts': [
    'test/formats/xml/documents.test.ts', 'test/formats/html/forms/{fields,looks}.test.ts'
  ],
  'lib/core/formats/hide-write-only.ts': ['test/routing/own-formats.test.ts', 'test/http/request/writes.test.ts'],
  'lib/sql/keyset.ts': ['test/system/stores/queries/sorted-lists.test.ts'],
  'lib/sql/statements.ts': ['test/system/stores/sqlite-store.test.ts']
}
const DETECTED = ['Killed', 'Timeout']
const MISSED = ['Survived', 'NoCoverage']

const [wanted = ''] = process.argv.slice(2)
// The machine decides how long a test takes, as in .taprc.
process.env.TAP_TIMEOUT = '0'
for (const [file, tests] of Object.entries(FILES)) {
  if (!file.includes(wanted)) continue
  const mutants = await new Stryker({
    mutate: [file],
    testRunner: 'tap',
    plugins: [import.meta.resolve('@stryker-mutator/tap-runner')],
    tap: {
      testFiles: tests,
      nodeArgs: ['--import=tsx', '--conditions=fastify-resources:source', '-r', '{{hookFile}}', '{{testFile}}']
    },
    coverageAnalysis: 'perTest',
    // A test that waits for an event that never comes ends here. The unchanged tests take a tenth of it.
    timeoutMS: 60_000,
    concurrency: 2,
    tempDirName: '.tap/mutants',
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { reportTests: false, allowColor: false, logTests: false },
    ignorePatterns: ['dist', 'docs', 'test/*/node_modules', '.tap']
  }).runMutationTest()
  const count = (states) => mutants.filter(({ status }) => states.includes(status)).length
  const [detected, missed] = [count(DETECTED), count(MISSED)]
  const total = detected + missed
  console.log(`${file}: ${(100 * detected / total).toFixed(0)} % of ${total} changes are noticed`)
}
