import { readFileSync } from 'node:fs'
import t from 'tap'
import { startProgram, writeProgram } from '../support/program.js'
import { startPostgres } from '../support/stores/postgres.js'

const dist = new URL('../../dist/', import.meta.url).href

/** Makes four requests, each a second time, and prints the files of the package in which a function was called then. */
const PROGRAM = `
import { Session } from 'node:inspector/promises'
const { default: fastify } = await import('fastify')
const { default: pg } = await import('pg')
const { default: resources, memoryStore } = await import('fastify-resources')
const { postgresStores } = await import('fastify-resources/postgres')

const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' } } }
const store = memoryStore()
await store.create({ title: 'One' }, {}, { signal: new AbortController().signal })
const posts = fastify()
posts.register(resources, { name: 'posts', store, attributes })

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const tables = fastify()
tables.register(async (app) => {
  const stores = postgresStores({ pool })
  const comment = { type: 'object', properties: { postId: { type: 'integer' }, text: { type: 'string' } } }
  app.register(resources, { name: 'posts', stores, attributes })
  app.register(resources, { name: 'comments', stores, attributes: comment, references: { postId: 'posts' }, only: ['list', 'show'] })
})
await tables.ready()
await pool.query("INSERT INTO posts (title) VALUES ('One')")
await pool.query('INSERT INTO comments ("postId", text) VALUES (1, $1)', ['Yes'])

const json = { accept: 'application/json', 'content-type': 'application/json' }
const requests = [
  { url: '/posts/1', headers: { accept: 'application/xml' } },
  { method: 'PUT', url: '/posts', headers: { ...json, 'if-match': '"1.json"' }, payload: '{"id":1,"post":{"title":"New"}}' },
  { method: 'POST', url: '/posts', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload: 'post[title]=&post[body]=x' },
  { url: '/comments?text[contains]=yes', headers: { accept: 'text/html' } }
]
const session = new Session()
session.connect()
await session.post('Profiler.enable')
const entered = []
for (const request of requests) {
  const app = request.url.startsWith('/comments') ? tables : posts
  // What is made by a first request of its kind is no part of the way.
  await app.inject(request.method === 'PUT' ? { ...request, headers: { ...request.headers, 'if-match': '"none.json"' } } : request)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const { statusCode } = await app.inject(request)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const called = result.filter(({ functions }) => functions.some(({ functionName, ranges: [{ count }] }) => count > 0))
  entered.push({ statusCode, files: called.map(({ url }) => url) })
}
await pool.end()
console.log(JSON.stringify(entered))
`

interface Entered {
  readonly statusCode: number
  readonly files: readonly string[]
}

/** The most files that each request may enter. */
const LIMITS = [16, 23, 39, 63]

t.test('docs/architecture.md names exactly the files that four requests enter', async (t) => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
  const sections = page.split(/^## /m).slice(1)
  const { url } = await startPostgres(t)
  const environment = { DATABASE_URL: url }
  const { line } = await startProgram(t, writeProgram(t, 'architecture', PROGRAM), { environment })
  const entered = JSON.parse(line) as readonly Entered[]
  t.strictSame(entered.map(({ statusCode }) => statusCode), [200, 200, 422, 200])
  t.equal(sections.length, entered.length)
  for (const [index, { files }] of entered.entries()) {
    const section = sections[index] as string
    const heading = section.slice(0, section.indexOf('\n'))
    const named = new Set([...section.matchAll(/`([\w/-]+)\.ts`/g)].map(([, name]) => name))
    const ours = files.filter((url) => url.startsWith(dist) && !url.startsWith(`${dist}core/util/`))
    const real = new Set(ours.map((url) => url.slice(dist.length).replace(/\.js$/, '')))
    t.strictSame([...named].sort(), [...real].sort(), heading)
    t.ok(real.size <= (LIMITS[index] ?? 0), `${heading}: ${real.size} files`)
  }
})
