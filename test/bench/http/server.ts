/** The server process: serves each contender of a cell on a port of its own. */
import type { FastifyInstance } from 'fastify'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeByHand, makeOurs } from '../contenders.js'
import { makePost, type Post } from '../posts.js'
import { makeHandOnSqlite, makeOursOnSqlite, makePlainOnFile } from '../sqlite.js'
import { makeExpress } from '../yardsticks/express.js'
import { serveFeathers } from '../yardsticks/feathers.js'
import { builders, makeLibraries } from '../yardsticks/libraries.js'
import { type ConstantAnswer, makeLimit } from '../yardsticks/limit.js'
import { makePlainInMemory } from '../yardsticks/plain.js'
import { type Cell, cells, type ServerName } from './cells.js'
import { checkAnswer, tryOut } from './check.js'
import { answerQuestions } from '../child.js'
import { renderMarkedPages } from '../marked-pages.js'

/** Asks for a cell to be served, or for the CPU time of this process. */
export type ServerQuestion = { readonly serve: string } | { readonly usage: true }

/** The address of a contender. */
export interface Served {
  readonly port: number
  readonly status: number
}

const HOST = '127.0.0.1'
const ROWS = 1000
/** The keep-alive time in milliseconds. It is Fastify's default, so that all contenders keep their connections. */
const KEEP_ALIVE = 72_000

type Start = (posts: readonly Post[]) => Promise<Server>

const starts: Readonly<Record<Exclude<ServerName, 'limit'>, Start>> = {
  ours: async (posts) => listenFastify(await makeOurs(posts)),
  hand: async (posts) => listenFastify(await makeByHand(posts)),
  xmlbuilder2: async (posts) => listenFastify(makeLibraries(builders.xmlbuilder2, await renderMarkedPages(), posts)),
  'fast-xml-parser': async (posts) => listenFastify(makeLibraries(builders['fast-xml-parser'], await renderMarkedPages(), posts)),
  'ours on SQLite': async (posts) => listenFastify(await makeOursOnSqlite(posts)),
  'hand on SQLite': async (posts) => listenFastify(await makeHandOnSqlite(posts)),
  plain: async (posts) => listenFastify(makePlainInMemory(posts)),
  'plain on SQLite': async (posts) => listenFastify(await makePlainOnFile(posts)),
  express: (posts) => listen(createServer(makeExpress(posts))),
  feathers: async (posts) => serveFeathers(posts, HOST)
}

async function listenFastify (app: FastifyInstance): Promise<Server> {
  await app.listen({ port: 0, host: HOST })
  return app.server
}

async function listen (server: Server): Promise<Server> {
  server.listen(0, HOST)
  if (!server.listening) await once(server, 'listening')
  return server
}

async function portOf (starting: Promise<Server>): Promise<number> {
  const server = await starting
  if (!server.listening) await once(server, 'listening')
  server.keepAliveTimeout = KEEP_ALIVE
  return (server.address() as AddressInfo).port
}

/** Starts the servers of a cell, in the order of its contenders. Contenders of one server share its port. */
async function serve (name: string): Promise<Served[]> {
  const { contenders } = cells.find((cell) => cell.name === name) as Cell
  const [first] = contenders
  const posts = Array.from({ length: ROWS }, (_, index) => makePost(index + 1))
  const ports = new Map<ServerName, number>()
  const served: Served[] = []
  let reference: ConstantAnswer | undefined
  for (const contender of contenders) {
    const { server } = contender
    const port = ports.get(server) ?? await portOf(server === 'limit' ? listen(makeLimit(reference as ConstantAnswer)) : starts[server](posts))
    ports.set(server, port)
    const answer = await tryOut(port, contender)
    reference ??= answer
    checkAnswer(contender, answer, first, reference)
    served.push({ port, status: answer.status })
  }
  return served
}

/** Returns the CPU time of this process in microseconds. */
function usage (): number {
  // Collects the garbage of earlier rounds, so that the next contender does not pay for it.
  globalThis.gc?.({ type: 'minor' })
  const { user, system } = process.cpuUsage()
  return user + system
}

answerQuestions<ServerQuestion>((question) => 'serve' in question ? serve(question.serve) : usage())
