// Runs test files one after the other in this process, and tells the parent process the counts of each. Loading lib,
// Fastify and tap takes longer than most files do, and code that has run for a while is faster.
import t from 'tap'

const END = 'the end'
const files = process.argv.slice(2)

let file
let counts
t.parser.on('result', ({ name, ok, skip }) => {
  if (name !== END && !files.includes(name)) return counts[skip ? 'skip' : ok ? 'pass' : 'fail']++
  if (file !== undefined) process.send({ file, ...counts })
  file = name
  counts = { pass: 0, fail: 0, skip: 0 }
})

// The import puts the tests of a file into tap's queue. It is a test itself, because tap may end if no test is left.
for (const file of files) {
  let failure
  await t.test(file, () => {
    // The record of the traffic says which test has caused it (test/openapi/record.mjs).
    process.argv[1] = file
    return import(`../../${file}`).then(() => {}, (error) => { failure = error })
  })
  if (failure !== undefined) t.error(failure)
}
await t.test(END, async () => {})
