/**
 * Routes written by hand for speed: a Map, response schemas, and XML joined from constant texts. Their answers equal
 * those of a resource, headers included. Negotiation by weight, guards, conversion and messages are left out.
 */
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { type Post, posts, schema } from '../posts.js'
import { HEADERS, linksOf, QUERIES, type Row, writeXmlList, writeXmlRow } from './rows.js'
import { serve } from './served.js'

const record = { type: 'object', properties: { id: { type: 'integer' }, ...schema.properties } } as const
const one = { type: 'object', properties: { post: record } } as const
const many = { type: 'object', properties: { posts: { type: 'array', items: record } } } as const
const created = { type: 'object', required: ['post'], properties: { post: schema } } as const
const updated = {
  type: 'object',
  required: ['id', 'post'],
  properties: { id: { type: 'integer' }, post: { type: 'object', properties: schema.properties } }
} as const

const app = fastify()
const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
let lastId = rows.size

function sendRow (row: Row, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isJson = headers.accept === 'application/json'
  const tag = `"${row.version}.${isJson ? 'json' : 'xml'}"`
  reply.headers(HEADERS).header('etag', tag)
  if (headers['if-none-match'] === tag) return reply.code(304).send()
  if (isJson) return reply.type('application/json; charset=utf-8').send({ post: row })
  return reply.type('application/xml; charset=utf-8').send(writeXmlRow(row))
}

function take (limit: number): Row[] {
  const taken: Row[] = []
  for (const row of rows.values()) {
    taken.push(row)
    if (taken.length === limit) break
  }
  return taken
}

type Listed = FastifyRequest<{ Querystring: { limit?: string } }>
app.get('/posts', { schema: { response: { 200: many } } }, ({ headers, query }: Listed, reply) => {
  const limit = query.limit === undefined ? Infinity : Number(query.limit)
  const found = take(limit)
  reply.headers(HEADERS).header('accept-query', QUERIES)
  if (found.length < rows.size) reply.header('link', linksOf(limit, found.at(-1)?.id as number))
  if (headers.accept === 'application/json') return reply.type('application/json; charset=utf-8').send({ posts: found })
  return reply.type('application/xml; charset=utf-8').send(writeXmlList(found))
})

type Shown = FastifyRequest<{ Params: { id: string } }>
app.get('/posts/:id', { schema: { response: { 200: one } } }, (request: Shown, reply) => {
  const row = rows.get(Number(request.params.id))
  return row === undefined ? reply.callNotFound() : sendRow(row, request, reply)
})

type Written = FastifyRequest<{ Body: { id: number, post: Post } }>
app.post('/posts', { schema: { body: created, response: { 201: one } } }, (request: Written, reply) => {
  const row = { ...request.body.post, id: ++lastId, version: 1 }
  rows.set(row.id, row)
  reply.code(201).header('location', `/posts/${row.id}`)
  return sendRow(row, request, reply)
})

app.put('/posts', { schema: { body: updated, response: { 200: one } } }, (request: Written, reply) => {
  const { id, post } = request.body
  const before = rows.get(id)
  if (before === undefined) return reply.callNotFound()
  const row = { ...before, ...post, version: before.version + 1 }
  rows.set(id, row)
  return sendRow(row, request, reply)
})

await app.listen({ host: '127.0.0.1', port: 0 })
serve(app.server)
