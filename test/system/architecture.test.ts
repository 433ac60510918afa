import { readFileSync } from 'node:fs'
import t from 'tap'
import { startProgram, writeProgram } from '../support/program.js'

const dist = new URL('../../dist/', import.meta.url).href

/** Makes three requests, each a second time, and prints the files of the package in which a function was called then. */
const PROGRAM = `
import { Session } from 'node:inspector/promises'
import fastify from 'fastify'
import resources, { memoryStore } from 'fastify-resources'

const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' } } }
const store = memoryStore()
await store.create({ title: 'One' }, {}, { signal: new AbortController().signal })
const app = fastify()
app.register(resources, { name: 'posts', store, attributes })
const json = { accept: 'application/json', 'content-type': 'application/json' }
const requests = [
  { url: '/posts/1', headers: { accept: 'application/xml' } },
  { method: 'PUT', url: '/posts', headers: { ...json, 'if-match': '"1.json"' }, payload: '{"id":1,"post":{"title":"New"}}' },
  { method: 'POST', url: '/posts', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload: 'post[title]=&post[body]=x' }
]
const session = new Session()
session.connect()
await session.post('Profiler.enable')
const entered = []
for (const request of requests) {
  // What is made by a first request of its kind is no part of the way.
  await app.inject({ ...request, headers: { ...request.headers, 'if-match': '"none.json"' } })
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const { statusCode } = await app.inject(request)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const called = result.filter(({ functions }) => functions.some(({ functionName, ranges: [{ count }] }) => count > 0))
  entered.push({ statusCode, files: called.map(({ url }) => url) })
}
console.log(JSON.stringify(entered))
`

t.test('docs/architecture.md names each file that three requests enter, and no other', async (t) => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
  const sections = page.split(/^## /m).slice(1)
  const { line } = await startProgram(t, writeProgram(t, 'architecture', PROGRAM))
  const entered = JSON.parse(line) as ReadonlyArray<{ readonly statusCode: number, readonly files: readonly string[] }>
  t.strictSame(entered.map(({ statusCode }) => statusCode), [200, 200, 422])
  t.equal(sections.length, entered.length)
  for (const [index, { files }] of entered.entries()) {
    const section = sections[index] as string
    const named = new Set([...section.matchAll(/`([\w/-]+)\.ts`/g)].map(([, name]) => name))
    const ours = files.filter((url) => url.startsWith(dist) && !url.startsWith(`${dist}util/`))
    const real = ours.map((url) => url.slice(dist.length).replace(/\.js$/, ''))
    t.strictSame([...named].sort(), [...new Set(real)].sort(), section.slice(0, section.indexOf('\n')))
  }
})
