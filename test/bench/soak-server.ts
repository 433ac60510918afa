/** The server of a soak: `soak.ts` starts it with --expose-gc and speaks to it by messages. */
import fastify, { type FastifyInstance } from 'fastify'
import { setTimeout as wait } from 'node:timers/promises'
import resources, { type AttributesSchema, memoryStore } from '../../lib/index.js'

export type Command = 'measure' | 'snapshot' | 'close'

/** The memory and the handles of an idle server. */
export interface Measure {
  /** The bytes of the heap after a garbage collection. */
  readonly heap: number
  /** The resident bytes. */
  readonly rss: number
  /** The kinds of handles that keep the process alive, sorted. */
  readonly handles: readonly string[]
}

export interface Started {
  readonly port: number
}

/** Rows that are never deleted, for lists. */
export const LASTING_POSTS = 20
/** So many long rows that their list exceeds the buffers of a socket. */
const ARCHIVES = 4_000
const LONG_TEXT = 'archive '.repeat(250)

const posts = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    body: { type: 'string' },
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    tags: { type: 'array', items: { type: 'string' } },
    people: { type: 'array', items: { type: 'object', additionalProperties: false, properties: { name: { type: 'string' } } } }
  }
} as const satisfies AttributesSchema

const archives = { type: 'object', properties: { text: { type: 'string' } } } as const satisfies AttributesSchema

async function start (): Promise<FastifyInstance> {
  const app = fastify()
  const store = memoryStore({ unique: ['title'] })
  const archive = memoryStore()
  for (let index = 0; index < LASTING_POSTS; index++) store.create({ title: `Lasting ${index}`, rating: index % 5 + 1 }, {})
  for (let index = 0; index < ARCHIVES; index++) archive.create({ text: makeFlat(`${index} ${LONG_TEXT}`) }, {})
  app.register(resources, { name: 'posts', attributes: posts, store, writes: 'both' })
  app.register(resources, { name: 'archives', attributes: archives, store: archive })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/**
 * Flattens a concatenated string. The engine would allocate its memory on the first read, which a soak would count as
 * growth.
 */
function makeFlat (text: string): string {
  return Buffer.from(text).toString()
}

/** Collects garbage several times, since some objects are released only in a later turn. */
async function measure (app: FastifyInstance): Promise<Measure> {
  while (await countConnections(app) > 0) await wait(50)
  for (let count = 0; count < 10; count++) {
    globalThis.gc?.()
    await wait(50)
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss, handles: process.getActiveResourcesInfo().sort() }
}

function countConnections ({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => { if (error === null) resolve(count); else reject(error) })
  })
}

async function obey (command: Command, app: FastifyInstance): Promise<void> {
  if (command === 'measure') process.send?.(await measure(app))
  if (command === 'snapshot') process.send?.((await import('node:v8')).writeHeapSnapshot())
  if (command === 'close') {
    await app.close()
    // Any handle that is left keeps the process alive, and `soak.ts` waits for its end.
    process.disconnect()
  }
}

if (process.send !== undefined) {
  const app = await start()
  process.on('message', (command: Command) => obey(command, app))
  process.send({ port: (app.server.address() as { port: number }).port } satisfies Started)
}
