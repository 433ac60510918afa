import type { FastifyInstance } from 'fastify'
import { buildBlog } from './blog.js'
import { seed } from './seed.js'

// The process exits after this time even if closing the app has not finished.
const GRACE_MS = 5_000

const { PORT = '3000', STORE = 'blog.sqlite', SEED = '0' } = process.env

try {
  await start(parseCount('PORT', PORT), STORE, parseCount('SEED', SEED))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function start (port: number, storeName: string, count: number): Promise<void> {
  const app = buildBlog(storeName, { logger: { level: 'warn' } })
  endConnectionsOnClose(app)
  await seed(app, count)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => { process.exit(1) }, GRACE_MS).unref()
      app.close().catch(console.error)
    })
  }
  const url = (await app.listen({ port, host: 'localhost' })).replace(/\[::1\]|127\.0\.0\.1/, 'localhost')
  const place = storeName === 'memory' ? 'in memory' : `in ${storeName.replace(/\/\/.*@/, '//')}`
  console.log(`A blog is at ${url}/posts; its posts are kept ${place}. Open it in a browser, or try:

  curl ${url}/posts
  curl -H 'Accept: application/json' ${url}/posts
  curl -H 'Content-Type: application/json' -d '{"post":{"title":"First","body":"Hello"}}' ${url}/posts

Stop it with Ctrl-C.`)
}

function parseCount (name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} is "${text}", but must be a number`)
  return Number(text)
}

/** Ends connections that are busy when the app is closed. Node.js itself closes only the idle ones. */
function endConnectionsOnClose (app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', async () => { closing = true })
  app.addHook('onResponse', async (request) => { if (closing) request.raw.socket.end() })
}
