/**
 * The five routes, written by hand for speed: a Map, response schemas, XML and pages joined from constant texts. The
 * answers equal the plugin's to the byte, headers included. Negotiation by weight, guards, conversion and messages are
 * left out.
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
// A store may hold any text, so handwritten code would have to escape it the same way.
import { escapeText } from '../../../lib/core/formats/escape.js'
import { type Post, schema } from '../posts.js'

export interface Row extends Post {
  readonly id: number
  readonly version: number
}

/** The plugin's two pages. */
export interface PagesByHand {
  record (row: Row): string
  list (rows: readonly Row[], next: number | undefined, total: number): string
}

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
/** The header Accept-Query of lists. */
export const QUERIES = '"application/x-www-form-urlencoded", "application/json"'

/** Returns the plugin's opaque cursor of this id. */
export function cursorAfter (id: number): string {
  return Buffer.from(`[${id}]`).toString('base64url')
}

/** Returns the header Link of the first page of a list, which has a next page. */
export function linksOf (limit: number, last: number): string {
  return `</posts?limit=${limit}>; rel="self", </posts?limit=${limit}>; rel="first", </posts?limit=${limit}&after=${cursorAfter(last)}>; rel="next"`
}

export function writeXml ({ id, title, body, published, rating }: Row): string {
  return `<post><id type="integer">${id}</id><title>${escapeText(title)}</title><body>${escapeText(body)}</body><published type="boolean">${published}</published><rating type="integer">${rating}</rating></post>`
}

const record = { type: 'object', properties: { id: { type: 'integer' }, title: { type: 'string' }, body: { type: 'string' }, published: { type: 'boolean' }, rating: { type: 'integer' } } } as const
export const one = { type: 'object', properties: { post: record } } as const
export const many = { type: 'object', properties: { posts: { type: 'array', items: record } } } as const

type Shown = FastifyRequest<{ Params: { id: string } }>
type Listed = FastifyRequest<{ Querystring: { limit?: string } }>
type WriteOutcome = FastifyRequest<{ Body: { id: number, post: Post } }>

export function makeHand (pages: PagesByHand, posts: readonly Post[]): FastifyInstance {
  const app = fastify()
  const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
  let lastId = rows.size

  function sendRow (row: Row, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { accept } = headers
    addHeaders(reply)
    if (accept === 'application/json') {
      const tag = `"${row.version}.json"`
      reply.header('etag', tag)
      if (headers['if-none-match'] === tag) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send({ post: row })
    }
    if (accept?.startsWith('text/html')) {
      const tag = `"${row.version}.html"`
      reply.header('etag', tag)
      if (headers['if-none-match'] === tag) return reply.code(304).send()
      return addPageHeaders(reply).send(pages.record(row))
    }
    const tag = `"${row.version}.xml"`
    reply.header('etag', tag)
    if (headers['if-none-match'] === tag) return reply.code(304).send()
    return reply.type('application/xml; charset=utf-8').send(DECLARATION + writeXml(row))
  }

  function take (limit: number): Row[] {
    const taken: Row[] = []
    for (const row of rows.values()) {
      taken.push(row)
      if (taken.length === limit) break
    }
    return taken
  }

  app.get('/posts', { schema: { response: { 200: many } } }, (request: Listed, reply) => {
    const { accept } = request.headers
    const limit = request.query.limit === undefined ? Infinity : Number(request.query.limit)
    const found = take(limit)
    addHeaders(reply).header('accept-query', QUERIES)
    const next = found.length < rows.size ? found.at(-1)?.id : undefined
    if (next !== undefined) reply.header('link', linksOf(limit, next))
    if (accept === 'application/json') return reply.type('application/json; charset=utf-8').send({ posts: found })
    if (accept?.startsWith('text/html')) return addPageHeaders(reply).send(pages.list(found, next, rows.size))
    let text = `${DECLARATION}<posts type="array">`
    for (const row of found) text += writeXml(row)
    return reply.type('application/xml; charset=utf-8').send(text + '</posts>')
  })

  app.get('/posts/:id', { schema: { response: { 200: one } } }, (request: Shown, reply) => {
    const row = rows.get(Number(request.params.id))
    return row === undefined ? reply.callNotFound() : sendRow(row, request, reply)
  })

  app.post('/posts', { schema: { body: { type: 'object', required: ['post'], properties: { post: schema } }, response: { 201: one } } }, (request: WriteOutcome, reply) => {
    const row = { ...request.body.post, id: ++lastId, version: 1 }
    rows.set(row.id, row)
    reply.code(201).header('location', `/posts/${row.id}`)
    return sendRow(row, request, reply)
  })

  app.put('/posts', { schema: { body: { type: 'object', required: ['id', 'post'], properties: { id: { type: 'integer' }, post: { type: 'object', properties: schema.properties } } }, response: { 200: one, 412: one } } }, (request: WriteOutcome, reply) => {
    const { id, post } = request.body
    const before = rows.get(id)
    if (before === undefined) return reply.callNotFound()
    const match = request.headers['if-match']
    if (match !== undefined && match.slice(1, match.indexOf('.')) !== String(before.version)) return sendRow(before, request, reply.code(412))
    const row = { ...before, ...post, version: before.version + 1 }
    rows.set(id, row)
    return sendRow(row, request, reply)
  })

  app.delete('/posts', { schema: { body: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } } }, (request: WriteOutcome, reply) => {
    if (!rows.delete(request.body.id)) return reply.callNotFound()
    return addHeaders(reply.code(204)).send()
  })

  return app
}

/** Adds the headers of every answer. */
export function addHeaders (reply: FastifyReply): FastifyReply {
  return reply
    .header('vary', 'Accept')
    .header('cache-control', 'private, no-cache')
    .header('x-content-type-options', 'nosniff')
}

export function addPageHeaders (reply: FastifyReply): FastifyReply {
  return reply
    .header('content-security-policy', "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
    .header('referrer-policy', 'same-origin')
    .type('text/html; charset=utf-8')
}
