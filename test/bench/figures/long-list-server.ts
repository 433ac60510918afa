/** The server process: sends long lists and reports their cost. */
import fastify from 'fastify'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import resources, { memoryStore, type Store, type Row } from '../../../lib/index.js'
import { answerQuestions } from '../child.js'
import { makePost, schema } from '../posts.js'

export type LongListQuestion =
  | { readonly serve: 'memory' | 'made', readonly rows: number }
  /** Constant chunks, in all so many bytes. */
  | { readonly pipe: number }
  | { readonly tell: 'held' | 'usage' | 'watch' | 'delay' | 'forget' | 'most held' }

const HOST = '127.0.0.1'
const CHUNK = Buffer.alloc(65_536, 'x')
const BATCH = 512
/** The memory is measured once in so many rows. */
const INTERVAL = 50_000
/** The resolution of the event loop's histogram in milliseconds. */
const RESOLUTION = 2

let delays: IntervalHistogram | undefined
let mostHeld = 0
let mostResident = 0

/** Returns the bytes that are held after a garbage collection. */
function measureHeld (): number {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  mostResident = Math.max(mostResident, rss)
  return heapUsed + external
}

/** Measures the held memory while the rows pass. */
function * watch (batches: Iterable<readonly Row[]>): Generator<readonly Row[]> {
  let seen = 0
  for (const batch of batches) {
    if (isWatched && Math.floor((seen + batch.length) / INTERVAL) > Math.floor(seen / INTERVAL)) mostHeld = Math.max(mostHeld, measureHeld())
    seen += batch.length
    yield batch
  }
  if (isWatched) mostHeld = Math.max(mostHeld, measureHeld())
}

let isWatched = false

/** Returns a memory store that already holds all rows. */
function fillStore (rows: number): Store {
  const store = memoryStore()
  for (let id = 1; id <= rows; id++) store.create({ ...makePost(id) }, {})
  return { ...store, list: (query) => watch(store.list(query)) }
}

/** Returns a store that makes each row on demand, so that the store itself holds no memory. */
function makeStore (rows: number): Store {
  function * make (): Generator<readonly Row[]> {
    for (let start = 1; start <= rows; start += BATCH) {
      yield Array.from({ length: Math.min(BATCH, rows + 1 - start) }, (_, index) => ({ id: start + index, version: '1', attributes: { ...makePost(start + index) } }))
    }
  }
  return { ...memoryStore(), list: () => watch(make()) }
}

async function serve (store: Store): Promise<number> {
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: schema, store })
  await app.listen({ port: 0, host: HOST })
  return (app.server.address() as AddressInfo).port
}

async function servePipe (length: number): Promise<number> {
  const server = createServer((_request, response) => { pipeConstant(length, response) })
  server.listen(0, HOST)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function pipeConstant (length: number, response: ServerResponse): void {
  let left = length
  const read = function (this: Readable): void {
    const size = Math.min(left, CHUNK.length)
    left -= size
    this.push(size === 0 ? null : CHUNK.subarray(0, size))
  }
  new Readable({ read }).pipe(response)
}

function measureUsage (): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function forget (): void {
  isWatched = true
  mostHeld = 0
  mostResident = 0
}

function tell (what: 'held' | 'usage' | 'watch' | 'delay' | 'forget' | 'most held'): unknown {
  if (what === 'held') return { held: measureHeld(), resident: process.memoryUsage.rss() }
  if (what === 'usage') return measureUsage()
  if (what === 'most held') return { held: mostHeld, resident: mostResident }
  if (what === 'forget') return forget()
  if (what === 'watch') return startWatching()
  return { p50: percentile(50), p99: percentile(99), most: (delays?.max ?? 0) / 1e6 }
}

function startWatching (): void {
  delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  delays.enable()
}

/** Returns the delays of the event loop in milliseconds. */
function percentile (part: number): number {
  return (delays?.percentile(part) ?? 0) / 1e6
}

answerQuestions<LongListQuestion>((question) => {
  if ('serve' in question) return serve(question.serve === 'memory' ? fillStore(question.rows) : makeStore(question.rows))
  return 'pipe' in question ? servePipe(question.pipe) : tell(question.tell)
})
