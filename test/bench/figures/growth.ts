/** Measures how the cost of a request grows with the numbers of rows and resources; in a process of its own. */
import fastify, { type FastifyInstance } from 'fastify'
import resources, { memoryStore } from '../../../lib/index.js'
import { makeByHand } from '../contenders.js'
import { answerQuestions } from '../child.js'
import { makeResult, median, type Result } from '../result.js'
import { type Call, knock } from '../in-process.js'
import { makePost, schema } from '../posts.js'

const FEW = 1_000
const MANY = 1_000_000
const RESOURCES = 1_000
const ROUNDS = 60
const CALLS = 2_000
/** A prime that does not divide the number of rows, so that the calls are spread over all rows. */
const STRIDE = 7_919
const json = { accept: 'application/json' }

/** Makes the call of this number. */
type MakeCall = (index: number) => Call

const body = JSON.stringify({ post: makePost(1) })
const create: MakeCall = () => ({ method: 'POST', url: '/posts', headers: { ...json, 'content-type': 'application/json' }, body })
const showOf = (rows: number): MakeCall => (index) => ({ method: 'GET', url: `/posts/${index * STRIDE % rows + 1}`, headers: json })

async function makeApp (rows: number, others: number): Promise<FastifyInstance> {
  const app = fastify()
  const store = memoryStore()
  for (let index = 1; index <= rows; index++) store.create({ ...makePost(index) }, {})
  app.register(resources, { name: 'posts', attributes: schema, store })
  for (let index = 1; index <= others; index++) app.register(resources, { name: `things${index}`, attributes: schema })
  await app.ready()
  return app
}

/** Returns the CPU time of one call in microseconds. */
function measure (app: FastifyInstance, calls: readonly Call[]): number {
  const bodies = calls.map(({ body }) => body === undefined ? undefined : Buffer.from(body))
  let answered = 0
  const before = process.cpuUsage()
  for (const [index, call] of calls.entries()) knock(app, call, bodies[index], ({ status }) => { if (status < 300) answered++ })
  const { user, system } = process.cpuUsage(before)
  if (answered !== calls.length) throw new Error(`${calls.length - answered} calls of ${calls[0]?.url} have failed`)
  return (user + system) / calls.length
}

/** Returns by how many percent the second app is dearer than the first: the median of rounds that alternate. */
function compare (name: string, [few, callFew]: [FastifyInstance, MakeCall], [many, callMany]: [FastifyInstance, MakeCall], most?: number): Result {
  const increases: number[] = []
  const costs: number[] = []
  for (let round = 0; round < ROUNDS + 10; round++) {
    const makeCalls = (makeCall: MakeCall): Call[] => Array.from({ length: CALLS }, (_, index) => makeCall(round * CALLS + index))
    const [one, other] = [makeCalls(callFew), makeCalls(callMany)]
    globalThis.gc?.({ type: 'minor' })
    let cost = round % 2 === 0 ? measure(few, one) : 0
    const more = measure(many, other)
    if (round % 2 !== 0) cost = measure(few, one)
    if (round < 10) continue
    increases.push((more / cost - 1) * 100)
    costs.push(cost)
  }
  return makeResult(name, median(increases), '%', most === undefined ? undefined : { most }, { 'µs before': median(costs) })
}

async function measureRows (): Promise<Result[]> {
  const few = await makeApp(FEW, 0)
  const many = await makeApp(MANY, 0)
  return [
    compare('show of 10^6 records, beside 10^3', [few, showOf(FEW)], [many, showOf(MANY)], 10),
    compare('show of 10^6 records, the same 1,000 of them', [few, showOf(FEW)], [many, showOf(FEW)], 5),
    compare('create among 10^6 records, beside 10^3', [few, create], [many, create], 5)
  ]
}

/** Measures the same on a plain Map, to show the share of the processor's caches. */
async function measureRowsByHand (): Promise<Result[]> {
  const makeHand = (rows: number): Promise<FastifyInstance> => makeByHand(Array.from({ length: rows }, (_, index) => makePost(index + 1)))
  const few = await makeHand(FEW)
  const many = await makeHand(MANY)
  return [
    compare('by hand: show of 10^6 records, beside 10^3', [few, showOf(FEW)], [many, showOf(MANY)]),
    compare('by hand: show of 10^6 records, the same 1,000', [few, showOf(FEW)], [many, showOf(FEW)]),
    compare('by hand: create among 10^6 records', [few, create], [many, create])
  ]
}

async function measureResources (): Promise<Result[]> {
  const few = await makeApp(FEW, 0)
  const many = await makeApp(FEW, RESOURCES - 1)
  return [compare('show with 1,000 resources, beside 1', [few, showOf(FEW)], [many, showOf(FEW)], 5)]
}

function heldNow (): { readonly heap: number, readonly resident: number } {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

async function measureRegistration (): Promise<Result[]> {
  await makeApp(0, 0)
  const before = heldNow()
  const start = process.cpuUsage()
  const app = await makeApp(0, RESOURCES - 1)
  const { user, system } = process.cpuUsage(start)
  const after = heldNow()
  await app.close()
  return [
    makeResult('1,000 resources: registration', (user + system) / 1e6, 's', { most: 2 }),
    makeResult('1,000 resources: held', (after.heap - before.heap) / 2 ** 20, 'MiB', { most: 100 }, { RSS: (after.resident - before.resident) / 2 ** 20 })
  ]
}

const measurements = { rows: measureRows, 'rows by hand': measureRowsByHand, resources: measureResources, registration: measureRegistration }

export type Growth = keyof typeof measurements

answerQuestions<{ readonly measure: Growth }>(({ measure }) => measurements[measure]())
