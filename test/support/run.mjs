// Runs test files in several processes, and prints one line for each file. The command `tap` would first compile its
// plugins, and would load a TypeScript compiler into each process.
//
//   node test/support/run.mjs                     the files that have a short form, in that form
//   LONG=1 node test/support/run.mjs              the files that have a long form, in that form
//   node test/support/run.mjs test/http a.test.ts these folders and files
//
// The exit code is 1 if a file fails. The last line has the totals of all assertions: `# { total: 3, pass: 2, fail: 1 }`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** These folders have dependencies of their own, which only .ci/run installs. */
const SEPARATE = /^test\/(?:bench|plugins|nu-validator)\/|^test\/openapi\/(?:client|lint|proxy|traffic)\./
/** The requests of these files are recorded in the folder OPENAPI_TRAFFIC, if it is set. */
const RECORDED = /^test\/(?:actions|formats|http|openapi|plugin|resource|routing|schema)\//
/** All tests of these files belong to the long form. */
const LONG_FILES = /^test\/(?:system\/(?:chromium|page-layout|lists\/long-lists)|formats\/html\/pages\/page-validity)\./
/** Only the long forms of these files run code that the short forms do not. Reports of the others would cost time alone. */
const MEASURED_LONG = /^test\/(?:stores\/contract|formats\/xml\/xsd)\//
/** The short forms of these files run no code of `lib` that others do not. Measuring costs a tenth of their time. */
const UNMEASURED_SHORT = /^test\/(?:.*property|system\/(?:architecture|cluster|durability|examples|postgres-server|readme|two-processes|lists\/.*|database\/(?:many-tables|races)|stores\/(?:include|postgres-contract|keys\/(?:names|paths)|queries\/id-conditions)))\./
/** A process that takes longer has failed. The machines are shared, so that it is far more than any needs. */
const TIMEOUT_MS = 20 * 60_000
/** These files start processes, or take as long as a group. */
const ALONE = /^test\/(?:system|openapi\/(?:client|lint|proxy|traffic)|stores\/contract)|property\.test/
/** Many tests wait for a disk, a database or a browser. One more than there are processors keeps these busy. */
const JOBS = availableParallelism() + 1

const hasLongForm = (file) => /\/support\/(?:long\.js'|html\/chromium\.js')/.test(readFileSync(file, 'utf8'))

/** Returns the test files of a folder, or the file itself. */
function findFiles (path) {
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true }).map((file) => `${path.replace(/\/$/, '')}/${file}`).filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
}

function selectFiles (paths) {
  if (paths.length > 0) return paths.flatMap(findFiles)
  return findFiles('test').filter((file) => !SEPARATE.test(file) && (process.env.LONG === undefined ? !LONG_FILES.test(file) : hasLongForm(file)))
}

/**
 * Returns the files of each process. Those that start processes themselves have one of their own, and come first so that
 * none of them starts when all others have ended. The others share some processes evenly.
 */
function groupFiles (files) {
  const bySize = files.sort((a, b) => statSync(b).size - statSync(a).size)
  // These are short files that take long.
  const isSlow = (file) => /contract|cluster|durability|migrations|long-lists/.test(file)
  const alone = bySize.filter((file) => ALONE.test(file)).sort((a, b) => isSlow(b) - isSlow(a))
  const groups = Array.from({ length: 2 * JOBS }, () => [])
  for (const [index, file] of bySize.filter((file) => !ALONE.test(file)).entries()) groups[index % groups.length].push(file)
  return [...alone.map((file) => [file]), ...groups.filter((group) => group.length > 0)]
}

/** Runs files in one process, and prints a line for each. Only if one fails, what tap and the files say is printed too. */
async function runGroup (files) {
  const measuresNothing = process.env.LONG === undefined ? files.every((file) => UNMEASURED_SHORT.test(file)) : !files.some((file) => MEASURED_LONG.test(file))
  const isRecorded = process.env.OPENAPI_TRAFFIC !== undefined && files.some((file) => RECORDED.test(file))
  const imports = ['--import=./test/support/loader/typescript.mjs', ...isRecorded ? ['--import=./test/openapi/record.mjs'] : []]
  const child = spawn(process.execPath, [...process.execArgv, ...imports, './test/support/run-files.mjs', ...files], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    timeout: TIMEOUT_MS,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_MS / 1000), ...(measuresNothing && { NODE_V8_COVERAGE: undefined }) }
  })
  let printed = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { printed += text })
  child.stderr.setEncoding('utf8').on('data', (text) => { complaints += text })
  const unfinished = new Set(files)
  let failures = 0
  let start = Date.now()
  child.on('message', ({ file, pass, fail }) => {
    // Tap sends messages too.
    if (!unfinished.delete(file)) return
    console.log(`${fail === 0 ? 'ok    ' : 'not ok'} ${file} (${pass} passed, ${((Date.now() - start) / 1000).toFixed(1)} s)`)
    start = Date.now()
    totals.pass += pass
    failures += fail
  })
  const [[code, signal]] = await Promise.all([once(child, 'close'), once(child, 'disconnect')])
  const exit = code ?? signal
  for (const file of unfinished) console.log(`not ok ${file} (its process ended with ${exit})`)
  failures = exit === 0 ? failures + unfinished.size : Math.max(1, failures + unfinished.size)
  totals.fail += failures
  if (failures > 0) console.log(`${findFailures(printed)}\n${complaints}\n${files.join(' ')} ended with ${exit}`)
}

/** Returns each line that says `not ok` with the lines after it, which explain it. */
function findFailures (printed) {
  const lines = printed.split('\n')
  const shown = lines.flatMap((line, index) => /^ *not ok /.test(line) ? lines.slice(index, index + 40) : [])
  return shown.slice(0, 400).join('\n')
}

const totals = { pass: 0, fail: 0 }
const groups = groupFiles(selectFiles(process.argv.slice(2)))
async function work () {
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) await runGroup(group)
}
await Promise.all(Array.from({ length: JOBS }, work))
console.log(`# { total: ${totals.pass + totals.fail}, pass: ${totals.pass}, fail: ${totals.fail} }`)
if (totals.fail > 0) process.exitCode = 1
