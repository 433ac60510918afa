/** The routes of `hand.ts` in Express 5: Express serializes JSON, string concatenation writes XML. */
import { Ajv } from 'ajv'
import express, { type Express, type Request, type Response } from 'express'
import { type Post, schema } from '../posts.js'
import { linksOf, QUERIES, type Row, writeXml } from './hand.js'

/** The headers of every answer. */
const HEADERS = { vary: 'Accept', 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff' }
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

export function makeExpress (posts: readonly Post[]): Express {
  const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
  let lastId = rows.size
  const ajv = new Ajv({ useDefaults: true, coerceTypes: 'array' })
  const isPost = ajv.compile<Post>(schema)
  const isChange = ajv.compile<Partial<Post>>({ type: 'object', properties: schema.properties })
  const app = express()
  // Both would cost Express time, and the other contenders send neither.
  app.disable('x-powered-by').disable('etag')
  app.use(express.json())

  app.get('/posts', ({ query, headers }, response) => {
    const limit = query.limit === undefined ? Infinity : Number(query.limit)
    const found = [...rows.values()].slice(0, limit)
    response.set({ ...HEADERS, 'accept-query': QUERIES })
    const next = found.length < rows.size ? found.at(-1) : undefined
    if (next !== undefined) response.set('link', linksOf(limit, next.id))
    if (headers.accept === 'application/json') response.json({ posts: found.map(withoutVersion) })
    else response.type('application/xml').send(`${DECLARATION}<posts type="array">${found.map(writeXml).join('')}</posts>`)
  })

  app.get('/posts/:id', (request, response) => {
    const row = rows.get(Number(request.params.id))
    if (row === undefined) refuse(404, null, response)
    else sendRow(row, request, response)
  })

  app.post('/posts', (request, response) => {
    const { post } = request.body as { post: unknown }
    if (!isPost(post)) return refuse(422, isPost.errors, response)
    const row = { id: ++lastId, version: 1, ...post }
    rows.set(row.id, row)
    response.status(201).location(`/posts/${row.id}`)
    sendRow(row, request, response)
  })

  app.put('/posts', (request, response) => {
    const { id, post } = request.body as { id: number, post: unknown }
    const before = rows.get(id)
    if (before === undefined) return refuse(404, null, response)
    if (!isChange(post)) return refuse(422, isChange.errors, response)
    const row = { ...before, ...post, version: before.version + 1 }
    rows.set(id, row)
    sendRow(row, request, response)
  })

  app.delete('/posts', (request, response) => {
    const { id } = request.body as { id: number }
    response.status(rows.delete(id) ? 204 : 404).set(HEADERS).end()
  })

  return app
}

function refuse (status: number, reason: unknown, response: Response): void {
  response.status(status).json(reason)
}

function sendRow (row: Row, { headers }: Request, response: Response): void {
  const isJson = headers.accept === 'application/json'
  response.set({ ...HEADERS, etag: `"${row.version}.${isJson ? 'json' : 'xml'}"` })
  if (isJson) response.json({ post: withoutVersion(row) })
  else response.type('application/xml').send(DECLARATION + writeXml(row))
}

function withoutVersion ({ id, title, body, published, rating }: Row): Post & { readonly id: number } {
  return { id, title, body, published, rating }
}
