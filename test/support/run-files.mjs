// Runs test files one after the other in this process, and tells the parent process the counts of each. Loading lib,
// Fastify and tap takes longer than most files do, and code that has run for a while is faster.
import { readFileSync } from 'node:fs'
import t from 'tap'

/** The names of the tests that mark where the results of a file begin. No test of a file has such a name. */
const PREFIX = 'run the file '
const files = process.argv.slice(2)

let file
let counts
t.parser.on('result', ({ name, ok, skip }) => {
  if (!name.startsWith(PREFIX)) return counts[skip ? 'skip' : ok ? 'pass' : 'fail']++
  if (file !== undefined) process.send({ file, ...counts })
  file = name.slice(PREFIX.length)
  counts = { pass: 0, fail: 0, skip: 0 }
})

/** Tells whether only some tests of a file have a long form, and it is the long form that runs. */
function isPartlyLong (file) {
  const text = readFileSync(file, 'utf8')
  return process.env.LONG !== undefined && /\bLONG_FORM\b/.test(text) && !/\bLONG\b/.test(text)
}

// The import puts the tests of a file into tap's queue. It is a test itself, because tap may end if no test is left.
for (const file of files) {
  let failure
  t.runOnly = isPartlyLong(file)
  await t.test(PREFIX + file, { only: true }, () => {
    // The record of the traffic says which test has caused it (test/openapi/record.mjs).
    process.argv[1] = file
    return import(`../../${file}`).then(() => {}, (error) => { failure = error })
  })
  if (failure !== undefined) t.error(failure)
}
// The last mark only ends the results of the last file.
await t.test(`${PREFIX}-`, { only: true }, async () => {})
