/** Measures the memory that one request allocates, in a process of its own. Only Fastify and its handlers run. */
import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'
import { answerQuestions } from '../child.js'
import { makeByHand, makeOurs } from '../contenders.js'
import { type Cell, plainCells, type ServerName } from '../http/cells.js'
import { type Call, knock } from '../in-process.js'
import { makePost, type Post } from '../posts.js'
import { makeResult, median, type Result } from '../result.js'
import { makeHandOnSqlite, makeOursOnSqlite, makePlainOnFile } from '../sqlite.js'
import { makePlainInMemory } from '../yardsticks/plain.js'

const ROWS = 1_000
/** The calls after which V8 has compiled the code, which then allocates less. */
const WARM_UP = 5_000
/** The calls of a sample. What they allocate must fit into the semi-space that `measure-figures.ts` asks for. */
const CALLS = 200
const SAMPLES = 15

const makers: Readonly<Partial<Record<ServerName, (posts: readonly Post[]) => FastifyInstance | Promise<FastifyInstance>>>> = {
  ours: makeOurs,
  hand: makeByHand,
  plain: makePlainInMemory,
  'ours on SQLite': makeOursOnSqlite,
  'hand on SQLite': makeHandOnSqlite,
  'plain on SQLite': makePlainOnFile
}

/** The cells that are answered synchronously. A list of 1,000 is a stream, which needs a connection. */
const measured: readonly Cell[] = plainCells.filter(({ name }) => !name.includes('1,000'))

/** Returns the bytes of the heap that one call allocates, without the external memory of buffers. */
function measureCall (app: FastifyInstance, call: Call): number {
  const body = call.body === undefined ? undefined : Buffer.from(call.body)
  let failed = 0
  const run = (calls: number): void => {
    for (let count = 0; count < calls; count++) knock(app, call, body, ({ status }) => { if (status >= 400) failed++ })
  }
  run(WARM_UP)
  const samples = Array.from({ length: SAMPLES }, () => {
    globalThis.gc?.()
    const { heapUsed } = process.memoryUsage()
    run(CALLS)
    return (process.memoryUsage().heapUsed - heapUsed) / CALLS
  })
  assert.equal(failed, 0, `${call.method} ${call.url}`)
  return median(samples)
}

async function makeApps (): Promise<ReadonlyMap<ServerName, FastifyInstance>> {
  const posts = Array.from({ length: ROWS }, (_, index) => makePost(index + 1))
  const apps = new Map<ServerName, FastifyInstance>()
  for (const [name, make] of Object.entries(makers)) {
    const app = await make(posts)
    await app.ready()
    apps.set(name as ServerName, app)
  }
  return apps
}

async function measureAllocation (): Promise<Result[]> {
  const apps = await makeApps()
  const measure = (server: ServerName, call: Call): number => measureCall(apps.get(server) as FastifyInstance, call)
  return measured.map(({ name, contenders: [plain, ours] }) => {
    const { server, call } = ours as typeof plain
    const details = { 'by hand': measure(server.replace('ours', 'hand') as ServerName, call), plain: measure(plain.server, plain.call) }
    return makeResult(`${name.replace(' beside plain', '')}, allocated by a request`, measure(server, call), 'B', undefined, details)
  })
}

answerQuestions(measureAllocation)
