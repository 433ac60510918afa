/**
 * A program that starts an app and answers one request over HTTP. It prints the milliseconds of CPU time and of the
 * clock that the process has taken until then. The app is `ours`, with the bundled package, or has routes `by-hand`.
 */
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type resources from '../../../lib/index.js'
import { type Post, schema } from '../posts.js'

// The path from the compiled file.
const PACKAGE = new URL('../../../../../../dist/index.js', import.meta.url).href

/** The figures of one start, in milliseconds. */
export interface Start {
  readonly processor: number
  readonly clock: number
}

/** Adds the five routes that a user of Fastify would write, with schemas. */
function addRoutes (app: FastifyInstance): void {
  const rows = new Map<number, Post>()
  const record = { type: 'object', properties: { id: { type: 'integer' }, ...schema.properties } }
  const one = { type: 'object', properties: { post: record } }
  const many = { type: 'object', properties: { posts: { type: 'array', items: record } } }
  const params = { type: 'object', properties: { id: { type: 'integer' } } }
  const body = (required: readonly string[]): object => ({ type: 'object', required: ['post'], properties: { post: { ...schema, required } } })
  const show = (id: number): object => ({ post: { id, ...rows.get(id) } })
  app.get('/posts', { schema: { response: { 200: many } } }, () => ({ posts: [...rows].map(([id, row]) => ({ id, ...row })) }))
  app.get<{ Params: { id: number } }>('/posts/:id', { schema: { params, response: { 200: one } } }, ({ params }) => show(params.id))
  app.post<{ Body: { post: Post } }>('/posts', { schema: { body: body(schema.required), response: { 201: one } } }, ({ body }, reply) => {
    rows.set(rows.size + 1, body.post)
    reply.code(201)
    return show(rows.size)
  })
  app.put<{ Params: { id: number }, Body: { post: Post } }>('/posts/:id', { schema: { params, body: body([]), response: { 200: one } } }, ({ params, body }) => {
    rows.set(params.id, body.post)
    return show(params.id)
  })
  app.delete<{ Params: { id: number } }>('/posts/:id', { schema: { params } }, ({ params }, reply) => {
    rows.delete(params.id)
    return reply.code(204).send()
  })
}

const app = fastify()
if (process.argv[2] === 'ours') {
  const { default: plugin } = await import(PACKAGE) as { readonly default: typeof resources }
  app.register(plugin, { name: 'posts', attributes: schema })
} else addRoutes(app)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
get({ host: '127.0.0.1', port, path: '/posts', headers: { accept: 'application/json' }, agent: false }, (response) => {
  response.resume().on('end', () => {
    const { user, system } = process.cpuUsage()
    console.log(JSON.stringify({ processor: (user + system) / 1000, clock: performance.now() } satisfies Start))
    process.exit(response.statusCode === 200 ? 0 : 1)
  })
})
