/** The routes of `by-hand.ts` in Express: Express serializes JSON, and texts are joined to XML. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Ajv } from 'ajv'
import express, { type Request, type Response } from 'express'
import { type Post, posts, schema } from '../posts.js'
import { HEADERS, linksOf, QUERIES, type Row, writeXmlList, writeXmlRow } from './rows.js'
import { serve } from './served.js'

const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
let lastId = rows.size
const ajv = new Ajv({ useDefaults: true, coerceTypes: 'array' })
const isPost = ajv.compile<Post>(schema)
const isChange = ajv.compile<Partial<Post>>({ type: 'object', properties: schema.properties })
const app = express()
// Both would cost Express time, and the other contenders send neither.
app.disable('x-powered-by').disable('etag')
app.use(express.json())

const withoutVersion = ({ version: _, ...row }: Row): Omit<Row, 'version'> => row

function sendRow (row: Row, { headers }: Request, response: Response): void {
  const isJson = headers.accept === 'application/json'
  response.set({ ...HEADERS, etag: `"${row.version}.${isJson ? 'json' : 'xml'}"` })
  if (isJson) response.json({ post: withoutVersion(row) })
  else response.type('application/xml').send(writeXmlRow(row))
}

app.get('/posts', ({ query, headers }, response) => {
  const limit = query.limit === undefined ? Infinity : Number(query.limit)
  const found = [...rows.values()].slice(0, limit)
  response.set({ ...HEADERS, 'accept-query': QUERIES })
  if (found.length < rows.size) response.set('link', linksOf(limit, found.at(-1)?.id as number))
  if (headers.accept === 'application/json') response.json({ posts: found.map(withoutVersion) })
  else response.type('application/xml').send(writeXmlList(found))
})

app.get('/posts/:id', (request, response) => {
  const row = rows.get(Number(request.params.id))
  if (row === undefined) response.sendStatus(404)
  else sendRow(row, request, response)
})

app.post('/posts', (request, response) => {
  const { post } = request.body as { post: unknown }
  if (!isPost(post)) return response.status(422).json(isPost.errors)
  const row = { id: ++lastId, version: 1, ...post }
  rows.set(row.id, row)
  response.status(201).location(`/posts/${row.id}`)
  return sendRow(row, request, response)
})

app.put('/posts', (request, response) => {
  const { id, post } = request.body as { id: number, post: unknown }
  const before = rows.get(id)
  if (before === undefined) return response.sendStatus(404)
  if (!isChange(post)) return response.status(422).json(isChange.errors)
  const row = { ...before, ...post, version: before.version + 1 }
  rows.set(id, row)
  return sendRow(row, request, response)
})

const server = createServer(app).listen(0, '127.0.0.1')
await once(server, 'listening')
serve(server)
