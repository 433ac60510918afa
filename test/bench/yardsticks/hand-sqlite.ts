/**
 * The routes of `hand.ts` on better-sqlite3: one prepared statement for each request. A write is on the disk when it is
 * answered, as with the plugin.
 */
import type { Database } from 'better-sqlite3'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Post, schema } from '../posts.js'
import { addHeaders, DECLARATION, linksOf, many, one, QUERIES, type Row, writeXml } from './hand.js'

/** A row of the table, in which a boolean is 0 or 1. */
type Stored = Omit<Row, 'published'> & { readonly published: number }
type Shown = FastifyRequest<{ Params: { id: string } }>
type Listed = FastifyRequest<{ Querystring: { limit?: string } }>
type Created = FastifyRequest<{ Body: { post: Post } }>
type Updated = FastifyRequest<{ Body: { id: number, post: Partial<Post> } }>

const COLUMNS = 'id, version, title, body, published, rating'

function writeStored (row: Stored): string {
  return writeXml({ ...row, published: row.published === 1 })
}

function sendRow (row: Stored, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  addHeaders(reply)
  const format = headers.accept === 'application/json' ? 'json' : 'xml'
  const tag = `"${row.version}.${format}"`
  reply.header('etag', tag)
  if (headers['if-none-match'] === tag) return reply.code(304).send()
  // The serializer of the response schema writes 0 and 1 as booleans.
  if (format === 'json') return reply.type('application/json; charset=utf-8').send({ post: row })
  return reply.type('application/xml; charset=utf-8').send(DECLARATION + writeStored(row))
}

export function makeSqliteByHand (database: Database): FastifyInstance {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const app = fastify()
  app.addHook('onClose', () => { database.close() })
  const select = database.prepare<[number], Stored>(`SELECT ${COLUMNS} FROM posts WHERE id = ?`)
  const list = database.prepare<[number], Stored>(`SELECT ${COLUMNS} FROM posts ORDER BY id LIMIT ?`)
  const insert = database.prepare<[string, string, number, number], Stored>(`INSERT INTO posts (title, body, published, rating) VALUES (?, ?, ?, ?) RETURNING ${COLUMNS}`)
  const update = database.prepare<[string | null, string | null, number | null, number | null, number], Stored>(`UPDATE posts SET version = version + 1, title = coalesce(?, title), body = coalesce(?, body), published = coalesce(?, published), rating = coalesce(?, rating) WHERE id = ? RETURNING ${COLUMNS}`)

  app.get('/posts', { schema: { response: { 200: many } } }, ({ headers: { accept }, query }: Listed, reply) => {
    const limit = query.limit === undefined ? undefined : Number(query.limit)
    // One more row shows whether there is a next page. SQLite takes a negative limit for none.
    const found = list.all(limit === undefined ? -1 : limit + 1)
    addHeaders(reply).header('accept-query', QUERIES)
    if (limit !== undefined && found.length > limit) {
      found.pop()
      reply.header('link', linksOf(limit, (found.at(-1) as Stored).id))
    }
    if (accept === 'application/json') return reply.type('application/json; charset=utf-8').send({ posts: found })
    let text = `${DECLARATION}<posts type="array">`
    for (const row of found) text += writeStored(row)
    return reply.type('application/xml; charset=utf-8').send(text + '</posts>')
  })

  app.get('/posts/:id', { schema: { response: { 200: one } } }, (request: Shown, reply) => {
    const row = select.get(Number(request.params.id))
    return row === undefined ? reply.callNotFound() : sendRow(row, request, reply)
  })

  app.post('/posts', { schema: { body: { type: 'object', required: ['post'], properties: { post: schema } }, response: { 201: one } } }, (request: Created, reply) => {
    const { title, body, published, rating } = request.body.post
    // `all` runs the statement to its end, so that an error of the commit is thrown.
    const [row] = insert.all(title, body, Number(published), rating) as [Stored]
    return sendRow(row, request, reply.code(201).header('location', `/posts/${row.id}`))
  })

  app.put('/posts', { schema: { body: { type: 'object', required: ['id', 'post'], properties: { id: { type: 'integer' }, post: { type: 'object', properties: { ...schema.properties, published: { type: 'boolean' }, rating: { type: 'integer' } } } } }, response: { 200: one } } }, (request: Updated, reply) => {
    const { id, post: { title = null, body = null, published, rating = null } } = request.body
    const [row] = update.all(title, body, published === undefined ? null : Number(published), rating, id)
    return row === undefined ? reply.callNotFound() : sendRow(row, request, reply)
  })

  return app
}
