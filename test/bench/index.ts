/**
 * Compares the CPU time of servers in one run, in which they take turns.
 *
 * `npm run bench` compares a resource with routes by hand, Express and Feathers; `--record` writes the table into
 * docs/performance.md. `npm run bench -- --against COMMIT` compares this commit with another one. Names of scenarios
 * measure only these, and `--rounds N` sets how often each contender has its turn.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { checkOut } from './commit.js'
import { Contender } from './contender.js'
import { type Request, resourceScenarios, type Scenario, scenarios } from './scenarios.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, record: { type: 'boolean' }, rounds: { type: 'string', default: '9' } }
})
const ROUNDS = Number(values.rounds)
const program = (name: string): URL => new URL(`servers/${name}.js`, import.meta.url)

function median (figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1] as number
}

const requestTo = ({ request, feathers }: Scenario, { name }: Contender): Request | undefined =>
  name === 'Feathers' ? feathers : request

/** Tells whether an answer must equal that of the first contender. Feathers has a format of its own. */
function isComparable ({ request }: Scenario, { name }: Contender): boolean {
  return request.method === 'GET' && name !== 'Feathers' && values.against === undefined
}

/** Throws if the contenders answer differently. */
async function checkAnswers (scenario: Scenario, contenders: readonly Contender[]): Promise<void> {
  const { status, body } = await (contenders[0] as Contender).ask(scenario.request)
  for (const contender of contenders) {
    const request = requestTo(scenario, contender)
    if (request === undefined) continue
    const answer = await contender.ask(request)
    const isEqual = isComparable(scenario, contender) ? answer.body === body : true
    if (answer.status === status && isEqual) continue
    throw new Error(`${scenario.name}: ${contender.name} answers with ${answer.status}: ${answer.body.slice(0, 300)}`)
  }
}

/** Returns the speed of each contender relative to the first one. */
async function compare (scenario: Scenario, contenders: readonly Contender[]): Promise<Array<number | undefined>> {
  await checkAnswers(scenario, contenders)
  const able = contenders.filter((contender) => requestTo(scenario, contender) !== undefined)
  const costs = new Map(able.map((contender) => [contender, [] as number[]]))
  // The first round compiles the code.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const contender of round % 2 === 0 ? able : able.toReversed()) {
      const cost = await contender.measure(requestTo(scenario, contender) as Request, scenario.count)
      if (round > 0) costs.get(contender)?.push(cost)
    }
  }
  const first = median(costs.get(contenders[0] as Contender) as number[])
  return contenders.map((contender) => {
    const own = costs.get(contender)
    return own === undefined ? undefined : first / median(own)
  })
}

/** Measures the scenarios and returns a table for Markdown. */
async function tabulate (all: readonly Scenario[], contenders: readonly Contender[]): Promise<string> {
  const names = contenders.slice(1).map(({ name }) => name)
  const lines = [`| | ${names.join(' | ')} |`, `|---|${names.map(() => '---|').join('')}`]
  for (const scenario of all.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    const [, ...speeds] = await compare(scenario, contenders)
    const line = `| ${scenario.name} | ${speeds.map((speed) => speed?.toFixed(2) ?? '').join(' | ')} |`
    lines.push(line)
    console.log(line)
  }
  return lines.join('\n')
}

async function compareCommits (commit: string): Promise<void> {
  const checkout = checkOut(commit)
  const contenders = [
    await Contender.start(commit, checkout.program ?? program('resource'), [checkout.folder]),
    await Contender.start('this commit', program('resource'), [process.cwd()])
  ]
  try {
    console.log(`The speed relative to ${commit}:`)
    await tabulate([...scenarios, ...resourceScenarios], contenders)
  } finally {
    for (const contender of contenders) contender.stop()
    checkout.remove()
  }
}

async function compareSoftware (): Promise<void> {
  const contenders = [
    await Contender.start('by hand', program('by-hand')),
    await Contender.start('resource', program('resource'), [process.cwd()]),
    await Contender.start('Express', program('express')),
    await Contender.start('Feathers', program('feathers'))
  ]
  console.log('The speed of a resource, Express and Feathers relative to routes by hand:')
  const table = await tabulate(scenarios, contenders)
  for (const contender of contenders) contender.stop()
  if (values.record !== true) return
  const page = readFileSync('docs/performance.md', 'utf8')
  const recorded = `$1\n${table}\n\nMeasured on Node.js ${process.versions.node}, ${availableParallelism()} cores.\n$2`
  writeFileSync('docs/performance.md', page.replace(/(<!-- Recorded -->\n)[^]*?(\n<!-- End -->)/, recorded))
}

await (values.against === undefined ? compareSoftware() : compareCommits(values.against))
