import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { startPostgres } from '../../support/stores/postgres.js'
import { ask, startProgram, until, writeProgram } from '../../support/program.js'

const ROWS = 20
const LENGTH = 1_000_000
const READERS = 2
/** The most bytes that may be held for a reader, beyond the largest row. */
const MOST_HELD = 4 * 2 ** 20 + LENGTH

/**
 * A server whose lists have large rows after small ones. It runs in its own process, so that only its own memory is
 * measured.
 */
const SERVER = `
import fastify from 'fastify'
import resources, { memoryStore } from 'fastify-resources'
import { postgresStore } from 'fastify-resources/postgres'
import { sqliteStore } from 'fastify-resources/sqlite'
import Database from 'libsql'
import pg from 'pg'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const place = process.argv[2]
const attributes = { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } }
const options = { table: 'posts', attributes, migrate: true }
const context = { signal: new AbortController().signal }

function open () {
  if (place === 'memory') return memoryStore()
  if (place === 'sqlite') return sqliteStore({ database: new Database(':memory:'), ...options })
  const pool = new pg.Pool({ connectionString: place, max: 2 })
  return postgresStore({ pool, acquireTimeout: 0, statementTimeout: 0, ...options })
}

const store = open()
await store.prepare?.()
for (let index = 0; index < 300; index++) await store.create({ title: 'a' + index, body: 'short' }, {}, context)
const makeBody = () => Buffer.alloc(${LENGTH}, 'x').toString('latin1')
const large = []
for (let index = 0; index < ${ROWS}; index++) {
  large.push((await store.create({ title: 'b' + index, body: makeBody() }, {}, context)).id)
}

/** Nobody but the readers has the rows any more that they have been given. */
async function replace () {
  for (const id of large) await store.update(id, { body: makeBody() }, { version: undefined, scope: {} }, context)
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
async function measure () {
  let least = Infinity
  for (let tries = 0; tries < 5; tries++) {
    gc()
    await new Promise(setImmediate)
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}

const app = fastify()
app.register(resources, { name: 'posts', attributes, store })
const blocked = new Set()
app.addHook('onRequest', async (_request, { raw }) => {
  const timer = setInterval(() => { if (raw.writableNeedDrain) blocked.add(raw) }, 5)
  raw.once('close', () => { clearInterval(timer); blocked.delete(raw) })
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('disconnect', () => process.exit())
process.on('message', async (question) => {
  if (question === 'replace') await replace()
  process.send(question === 'measure' ? await measure() : blocked.size)
})
console.log(address)
`

/** Starts to read an answer, then stops. */
async function stall (t: Test, url: URL): Promise<IncomingMessage> {
  const request = http.get(url, { agent: false })
  request.on('error', () => {})
  t.teardown(() => { request.destroy() })
  const [response] = await once(request, 'response') as [IncomingMessage]
  response.on('error', () => {})
  if (response.statusCode !== 200) throw new Error(`${url} is answered with ${response.statusCode}`)
  await once(response, 'readable')
  return response
}

async function readToEnd (response: IncomingMessage): Promise<number> {
  let length = 0
  for await (const chunk of response) length += (chunk as Buffer).length
  return length
}

const LISTS: readonly string[] = ['/posts.json', '/posts.xml?sort=-title', '/posts.html?limit=1000&sort=-id']

/** @param refresh runs after each reader has stopped; 'replace' makes sure that no two readers hold the same rows */
async function tryStore (t: Test, place: string, refresh: 'replace' | 'blocked' = 'blocked'): Promise<void> {
  const server = await startProgram(t, writeProgram(t, 'held-lists', SERVER), { parameters: [place] })
  for (const path of LISTS) {
    await t.test(path, async (t) => {
      const before = await ask(server, 'measure') as number
      const readers: IncomingMessage[] = []
      while (readers.length < READERS) {
        readers.push(await stall(t, new URL(path, server.line)))
        if (!path.includes('html')) {
          await until('the reader has stopped', async () => await ask(server, 'blocked') === readers.length)
        }
        await ask(server, refresh)
      }
      const held = (await ask(server, 'measure') as number - before) / READERS
      t.ok(held <= MOST_HELD, `${(held / 2 ** 20).toFixed(1)} MiB are held for each reader`)
      const [reader, ...others] = readers as [IncomingMessage, ...IncomingMessage[]]
      const length = await readToEnd(reader)
      t.ok(
        path.includes('html') ? length > ROWS * 100 : length > ROWS * LENGTH,
        'the rest arrives when the client reads on'
      )
      for (const other of others) other.destroy()
      await until('all readers have left', async () => await ask(server, 'blocked') === 0)
    })
  }
}

t.test('a list of large rows in memory holds little for stopped readers', (t) => tryStore(t, 'memory', 'replace'))

t.test('a list of large rows in SQLite holds little for stopped readers', (t) => tryStore(t, 'sqlite'))

t.test('a list of large rows in PostgreSQL holds little for stopped readers', async (t) => {
  const { url } = await startPostgres(t)
  await tryStore(t, url)
})
