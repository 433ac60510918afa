// Measures the tests: makes one mistake at a time in a copy of the repository, and runs tests until one of them fails.
// The tests of the mutant's area run first, and then all others.
//
//   npm run mutants                      all mutants, the tests in their short form
//   npm run mutants -- stores cursor.ts  the mutants whose area, file or reason has one of these words
//   npm run mutants -- --quick           only the tests of the area
//   npm run mutants -- --long            also the whole suite in its long form, for those that survive
//   npm run mutants -- --sample=100      as many of them, evenly spread
//   npm run mutants -- --workers=4       more copies at a time than two
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { applyMutant, loadMutants, type ListedMutant, ROOT } from './load.js'

const { values: { quick, long, sample, workers }, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, long: { type: 'boolean' }, sample: { type: 'string', default: '9999' }, workers: { type: 'string', default: '2' } }
})
type Form = 'short' | 'long'
/** A mistake may make a test wait for ever, which also counts as found. */
const TIMEOUT_MS: Readonly<Record<Form, number>> = { short: 4 * 60_000, long: 20 * 60_000 }
/** These tests have dependencies of their own, or look at texts and not at what the code does. */
const LEFT_OUT = /node_modules|^(?:bench|mutants|plugins|support)\/|^openapi\/(?:client|lint|proxy|traffic)\.|^(?:architecture|documentation|pages)\./
const ALL = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts') && !LEFT_OUT.test(file)).map((file) => `test/${file}`)

/** Copies what git would keep, without what is installed or built. */
function copyRepository (): URL {
  const copy = mkdtempSync(`${tmpdir()}/mutants-`)
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !/\/(?:node_modules|dist|\.git|\.tap|\.example|\.programs)(?:\/|$)/.test(path.slice(ROOT.pathname.length - 1)) })
  symlinkSync(new URL('node_modules', ROOT).pathname, `${copy}/node_modules`)
  return pathToFileURL(`${copy}/`)
}

/** Runs one test file in the copy until its first failure. Returns `ok`, `failed` or `timeout`. */
async function runTest (copy: URL, file: string, form: Form): Promise<'ok' | 'failed' | 'timeout'> {
  const env = { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: String(TIMEOUT_MS[form] / 1000), ...(form === 'long' && { LONG: '1' }) }
  // A group of its own: a test may have started processes, which must not outlive it.
  const child = spawn(process.execPath, ['--import=./test/support/loader/typescript.mjs', file], { cwd: copy, env, stdio: 'ignore', detached: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end(child)
  }, TIMEOUT_MS[form])
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  end(child)
  return isLate ? 'timeout' : code === 0 ? 'ok' : 'failed'
}

function end ({ pid }: ChildProcess): void {
  try {
    process.kill(-Number(pid), 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}

/** Which files pass without a mutant. A file that does not says nothing about one. */
const sound = new Map<string, boolean>()

/** Returns the first of the files that fails with the mutant and passes without it. */
async function findKiller (copy: URL, mutant: ListedMutant, files: readonly string[], form: Form): Promise<string | undefined> {
  for (const file of files) {
    writeFileSync(new URL(mutant.file, copy), applyMutant(mutant))
    const result = await runTest(copy, file, form)
    cpSync(new URL(mutant.file, ROOT), new URL(mutant.file, copy))
    if (result === 'ok') continue
    const key = `${file} ${form}`
    if (!sound.has(key)) sound.set(key, await runTest(copy, file, form) === 'ok')
    if (sound.get(key) === true) {
      lastKillers.set(mutant.file, file)
      return `${file}${result === 'timeout' ? ' (it does not end)' : ''}`
    }
    console.log(`        ${file} fails without any mutant, so it is left out`)
  }
  return undefined
}

/** Whether the compiler refuses the mutant, as `npm run build` would. */
function isRefused (copy: URL, mutant: ListedMutant): boolean {
  writeFileSync(new URL(mutant.file, copy), applyMutant(mutant))
  try {
    execFileSync(process.execPath, [new URL('node_modules/typescript/bin/tsc', ROOT).pathname, '--noEmit', '-p', '.'], { cwd: copy, stdio: 'ignore' })
    return false
  } catch {
    return true
  } finally {
    cpSync(new URL(mutant.file, ROOT), new URL(mutant.file, copy))
  }
}

/** The test that found the last mutant of each file of lib, which is likely to find the next one too. */
const lastKillers = new Map<string, string>()

async function judge (copy: URL, mutant: ListedMutant): Promise<string | undefined> {
  const { tests } = mutant
  const others = ALL.filter((file) => !tests.includes(file))
  const last = lastKillers.get(mutant.file)
  const rank = (file: string): number => file === last ? 0 : 1
  return await findKiller(copy, mutant, [...tests].sort((a, b) => rank(a) - rank(b)), 'short') ??
    (quick ? undefined : await findKiller(copy, mutant, others, 'short')) ??
    (long ? (isRefused(copy, mutant) ? 'tsc' : await findKiller(copy, mutant, [...tests, ...others], 'long')) : undefined)
}

const chosen = (await loadMutants()).filter(({ area, file, why }) => positionals.length === 0 || positionals.some((word) => `${area} ${file} ${why}`.includes(word)))
const share = Math.min(1, Number(sample) / chosen.length)
const mutants = chosen.filter((_, index) => Math.floor(index * share) < Math.floor((index + 1) * share))
const total = mutants.length
const survivors: ListedMutant[] = []
async function work (): Promise<void> {
  const copy = copyRepository()
  for (let mutant = mutants.shift(); mutant !== undefined; mutant = mutants.shift()) {
    const start = Date.now()
    const killer = await judge(copy, mutant)
    if (killer === undefined) survivors.push(mutant)
    console.log(`${killer === undefined ? 'SURVIVED' : 'killed  '} ${mutant.area}: ${mutant.why} (${mutant.file}) ${killer === undefined ? '' : `by ${killer} `}in ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
  rmSync(copy, { recursive: true })
}
await Promise.all(Array.from({ length: Number(workers) }, work))
for (const { area, file, find, replace, why } of survivors) console.log(`\nsurvivor of ${area}: ${why}\n  ${file}\n- ${find}\n+ ${replace}`)
console.log(`\n${total - survivors.length} of ${total} killed`)
