/**
 * Runs the tests for all mutants in one process: it imports the bundle of a test file once, and then runs for each
 * mutant the tests that reach its line, until one fails. `@stryker-mutator/tap-runner` would start a process for each
 * mutant, and run the whole file.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { commonTokens, declareClassPlugin, declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'
import { determineHitLimitReached, toMutantRunResult } from '@stryker-mutator/api/test-runner'

// `tap` sends objects to the process that has started it. Stryker expects texts.
const send = process.send?.bind(process)
if (send !== undefined) process.send = (message, ...rest) => typeof message !== 'string' || send(message, ...rest)

const SUCCESS = 0
const FAILED = 1

class InProcessRunner {
  static inject = [commonTokens.options]
  #bundle
  #tests
  /** The number of changes that were tested in this process. */
  #tested = 0
  /** Whether a test fails here without any change, because an earlier change has left something behind. */
  #isTainted = false

  constructor ({ bundle }) {
    this.#bundle = bundle
  }

  capabilities () {
    return { reloadEnvironment: false }
  }

  async dryRun () {
    const tests = await this.#run(await this.#load())
    return { status: 'complete', tests, mutantCoverage: globalThis.__stryker__.mutantCoverage }
  }

  async mutantRun ({ activeMutant, hitLimit, mutantActivation, testFilter }) {
    // Stryker starts another process then, and tests the change there.
    if (this.#isTainted) throw new Error('an earlier change has left something behind')
    // The changed lines have kept this object.
    const found = Object.assign(globalThis.__stryker__ ??= {}, { hitCount: 0, hitLimit })
    if (mutantActivation === 'static') found.activeMutant = activeMutant.id
    const all = await this.#load()
    found.activeMutant = activeMutant.id
    const chosen = testFilter === undefined ? all : all.filter(({ id }) => testFilter.includes(id))
    const tests = await this.#run(chosen, true)
    const timeout = determineHitLimitReached(found.hitCount, hitLimit)
    Object.assign(found, { activeMutant: undefined, hitLimit: undefined })
    const failed = tests.find(({ status }) => status === FAILED)
    if (failed !== undefined && mutantActivation !== 'static') {
      const [again] = await this.#run(all.filter(({ id }) => id === failed.id))
      this.#isTainted = again.status === FAILED
      if (this.#isTainted && this.#tested > 0) throw new Error('an earlier change may be the reason')
    }
    this.#tested++
    return toMutantRunResult(timeout ?? { status: 'complete', tests })
  }

  /** Imports the bundle when tests are first run, so that a mutant of code that runs at the import is active then. */
  async #load () {
    if (this.#tests !== undefined) return this.#tests
    globalThis.__stryker__ ??= {}
    await import(pathToFileURL(resolve(this.#bundle)))
    this.#tests = globalThis.collectedTests.map((parts) => ({ id: parts[0], parts }))
    return this.#tests
  }

  async #run (tests, bails = false) {
    const results = []
    for (const { id, parts } of tests) {
      globalThis.__stryker__.currentTestId = id
      const before = performance.now()
      const failure = await runTest(parts)
      globalThis.__stryker__.currentTestId = undefined
      const result = { id, name: id, timeSpentMs: performance.now() - before }
      results.push(failure === undefined
        ? { ...result, status: SUCCESS }
        : { ...result, status: FAILED, failureMessage: failure })
      if (bails && failure !== undefined) {
        // The same test often notices the next change too.
        this.#tests.sort((one, other) => Number(other.id === id) - Number(one.id === id))
        break
      }
    }
    return results
  }
}

/** Runs one test. Returns the name of what failed. */
async function runTest (parts) {
  const { Test } = await import('tap')
  const root = new Test({ name: 'root', timeout: 0 })
  const failures = []
  root.parser.on('fail', ({ fullname, name }) => { failures.push(`${fullname}: ${name}`) })
  const done = new Promise((resolve) => { root.on('complete', resolve) })
  root.resume()
  root.test(...parts)
  root.end()
  await done
  return root.results.ok ? undefined : failures[0] ?? 'failed'
}

/** Leaves out the texts of errors: what they say costs no data. */
const texts = {
  shouldIgnore (path) {
    if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined
    const call = path.findParent((parent) => parent.isNewExpression() || parent.isCallExpression())
    const name = call?.node.callee.name ?? ''
    return /Error$|^(?:refuse|say|describe)$/.test(name) ? 'the text of an error' : undefined
  }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner),
  declareValuePlugin(PluginKind.Ignore, 'texts', texts)
]
