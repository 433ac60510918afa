import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { draw, memoryStores } from '../../lib/index.js'
import { allPages } from '../support/pages.js'
import { type Program, startProgram, until, writeProgram } from '../support/program.js'

/** Returns the blocks of JavaScript of a page of the cookbook. */
function blocksOf (name: string): readonly string[] {
  const page = allPages.find(({ path }) => path === `docs/cookbook/${name}.md`)
  return page?.blocks.filter(({ language }) => language === 'js').map(({ text }) => text) ?? []
}

/** Returns a port that is free now. */
async function findPort (): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

interface Backend { readonly port: number, program: Program, isHealthy: boolean }

t.test('a rolling restart behind a proxy that asks for the health loses no request', async (t) => {
  const [text = ''] = blocksOf('rolling-restart')
  const folder = mkdtempSync(join(tmpdir(), 'rolling-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const start = async (port: number): Promise<Program> => {
    const path = writeProgram(t, `rolling-${port}-${Math.random()}`, text.replaceAll('3000', String(port)))
    return startProgram(t, path, { before: `cd '${folder}'` })
  }
  const backends: Backend[] = []
  for (const port of [await findPort(), await findPort()]) {
    backends.push({ port, program: await start(port), isHealthy: true })
  }
  const request = async ({ port }: Backend, path: string, options: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`http://localhost:${port}${path}`, {
      ...options,
      headers: {
        connection: 'close', ...options.headers as Record<string, string>
      }
    })
    await response.arrayBuffer()
    return response
  }
  const over = new AbortController()
  let requests = 0
  const statuses: number[] = []
  /** Sends requests to the healthy backends in turn, as a proxy does. */
  const work = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const healthy = backends.filter(({ isHealthy }) => isHealthy)
      const backend = healthy[++requests % healthy.length] as Backend
      const isWrite = requests % 3 === 0
      const write = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"task":{"title":"T"}}' }
      const { status } = await (isWrite ? request(backend, '/tasks', write) : request(backend, '/tasks?limit=1'))
      statuses.push(status)
    }
  }
  const works = Promise.all(Array.from({ length: 8 }, work))
  for (const backend of backends) {
    const before = statuses.length
    backend.program.process.kill('SIGTERM')
    let hasEnded = false
    const ended = backend.program.ended.finally(() => { hasEnded = true })
    await until('the process has ended', async () => {
      if (hasEnded) return true
      // The third 503 lets it close, and a later question may find its port closed.
      const { ok = false } = await request(backend, '/health').catch(() => ({ ok: false }))
      backend.isHealthy = ok
      return false
    })
    t.equal(await ended, 0, 'the process ends by itself')
    await until('the other process answers', () => statuses.length > before + 100)
    backend.program = await start(backend.port)
    backend.isHealthy = true
    const after = statuses.length
    await until('both processes answer', () => statuses.length > after + 100)
  }
  over.abort()
  await works
  t.strictSame([...new Set(statuses)].sort(), [200, 201], `${statuses.length} requests`)
  const response = await fetch(`http://localhost:${backends[0]?.port}/tasks?count=true&limit=1`)
  await response.arrayBuffer()
  t.equal(response.headers.get('total-count'), String(statuses.filter((status) => status === 201).length))
})

/** What the tests use of the provider. */
type Provider = Readonly<Record<string, (resource: string, parameters: object) => Promise<object>>>

async function loadProvider (t: Test, url: string): Promise<Provider> {
  const [, text = ''] = blocksOf('react-admin')
  t.ok(text.trimEnd().split('\n').length <= 55, 'the provider is short')
  const local = `const fetch = (path, options) => globalThis.fetch('${url}' + path, options)\n`
  const { dataProvider } = await import(writeProgram(t, 'provider', local + text))
  return dataProvider
}

t.test('the provider for react-admin reads and writes', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map
    .resources('authors', {
      attributes: {
        type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } }
      }
    })
    .resources('books', {
      attributes: { type: 'object', properties: { title: { type: 'string' }, authorId: { type: 'integer' } } },
      references: { authorId: 'authors' }
    }), { stores: memoryStores() }))
  const provider = await loadProvider(t, await app.listen({ port: 0 }))
  const { getList, getOne, getMany, getManyReference, create, update, updateMany, deleteMany, ...others } = provider
  for (const name of ['Ann', 'Bob', 'Cid']) await create?.('authors', { data: { name } })
  for (const title of ['a', 'b', 'c', 'd']) await create?.('books', { data: { title, authorId: 2 } })
  const pagination = { page: 2, perPage: 3 }
  t.strictSame(await getList?.('books', { pagination, sort: { field: 'title', order: 'DESC' }, filter: {} }), {
    data: [{ id: 1, title: 'a', authorId: 2 }], total: 4
  })
  t.match(await getList?.('authors', { filter: { name: 'Cid' } }), { data: [{ id: 3 }], total: 1 })
  t.match(await getMany?.('authors', { ids: [3, 1] }), { data: [{ id: 1 }, { id: 3 }] })
  t.match(await getManyReference?.('books', { target: 'authorId', id: 2, pagination }), { total: 4 })
  t.strictSame(await getOne?.('authors', { id: 1 }), { data: { id: 1, name: 'Ann' } })
  t.strictSame(await update?.('authors', { id: 1, data: { id: 1, name: 'Eve' } }), { data: { id: 1, name: 'Eve' } })
  await app.inject({ method: 'PUT', url: '/authors', payload: { id: 1, author: { name: 'Zoe' } } })
  t.match(await update?.('authors', { id: 1, data: { name: 'Eve' } }).catch((error) => error), { status: 412 })
  t.match(await create?.('authors', { data: { name: '' } }).catch((error) => error), {
    status: 422, body: { errors: { name: ['must not be blank'] } }
  })
  t.strictSame(await updateMany?.('books', { ids: [1, 2], data: { title: 'x' } }), { data: [1, 2] })
  t.strictSame(await deleteMany?.('books', { ids: [1, 2] }), { data: [1, 2] })
  t.strictSame(await others.delete?.('authors', { id: 3, previousData: { id: 3 } }), { data: { id: 3 } })
  t.match(await getList?.('books', { filter: { title: 'x' } }), { total: 0 })
})
