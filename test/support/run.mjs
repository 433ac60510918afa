// Runs test files, each in a process of its own and several at a time, and prints one line for each file. The command
// `tap` would first compile its plugins, and would load a TypeScript compiler into each process.
//
//   node test/support/run.mjs                     all files, in their short form
//   LONG=1 node test/support/run.mjs              the files that have a long form, in that form
//   node test/support/run.mjs test/http a.test.ts these folders and files
//
// The exit code is 1 if a file fails. The last line has the totals of all assertions: `# { total: 3, pass: 2, fail: 1 }`.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** These folders have dependencies of their own, which only .ci/run installs. */
const SEPARATE = /^test\/(?:bench|plugins)\/|^test\/openapi\/(?:client|lint|proxy|traffic)\./
/** A file that takes longer has failed. The machines are shared, so that it is far more than any file needs. */
const TIMEOUT_MS = 20 * 60_000
/** Many tests wait for a disk, a database or a browser, so that one more than the processors keeps them busy. */
const JOBS = availableParallelism() + 1

const hasLongForm = (file) => /support\/long\.js|^test\/system\//.test(`${file}\n${readFileSync(file, 'utf8')}`)

/** Returns the test files of a folder, or the file itself. */
function findFiles (path) {
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { recursive: true }).map((file) => `${path.replace(/\/$/, '')}/${file}`).filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
}

/** Returns the files to run. Long files are first, so that none of them starts when all others have ended. */
function selectFiles (paths) {
  if (paths.length > 0) return paths.flatMap(findFiles)
  const files = findFiles('test').filter((file) => !SEPARATE.test(file) && (process.env.LONG === undefined || hasLongForm(file)))
  const rank = (file) => statSync(file).size + (/system|contract/.test(file) ? 1e6 : 0)
  return files.sort((a, b) => rank(b) - rank(a))
}

/** Runs one file and returns its totals. Only a file that fails prints what tap, and the file itself, say. */
async function runFile (file) {
  const start = Date.now()
  // Long forms in test/system start hundreds of programs. Each would write a report of what the short forms cover too.
  const measuresNothing = process.env.LONG !== undefined && file.startsWith('test/system/')
  const child = spawn(process.execPath, [...process.execArgv, '--import=./test/support/loader/typescript.mjs', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_MS / 1000), ...(measuresNothing && { NODE_V8_COVERAGE: undefined }) }
  })
  let printed = ''
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { printed += text })
  child.stderr.setEncoding('utf8').on('data', (text) => { complaints += text })
  const exit = await new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)))
  const [, total = 0, pass = 0] = /^# \{ total: (\d+), pass: (\d+)/m.exec(printed)?.map(Number) ?? []
  const failed = exit === 0 ? 0 : Math.max(1, total - pass)
  console.log(`${failed === 0 ? 'ok    ' : 'not ok'} ${file} (${pass} passed, ${((Date.now() - start) / 1000).toFixed(1)} s)`)
  if (failed > 0) console.log(`${findFailures(printed)}\n${complaints}\n${file} ended with ${exit}`)
  return { pass, failed }
}

/** Returns each line that says `not ok` with the lines after it, which explain it. */
function findFailures (printed) {
  const lines = printed.split('\n')
  const shown = lines.flatMap((line, index) => /^ *not ok /.test(line) ? lines.slice(index, index + 40) : [])
  return shown.slice(0, 400).join('\n')
}

const files = selectFiles(process.argv.slice(2))
const totals = { pass: 0, fail: 0 }
async function work () {
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    const { pass, failed } = await runFile(file)
    totals.pass += pass
    totals.fail += failed
  }
}
await Promise.all(Array.from({ length: JOBS }, work))
console.log(`# { total: ${totals.pass + totals.fail}, pass: ${totals.pass}, fail: ${totals.fail} }`)
if (totals.fail > 0) process.exitCode = 1
