/**
 * The routes that a Fastify user would write instead: five of them with response schemas. There is no negotiation (XML
 * has paths of its own), no entity tag, no header for caches, no link to a next page. XML is joined text.
 */
import type { Database } from 'better-sqlite3'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type Post, schema } from '../posts.js'
import { DECLARATION, many, one, type Row, writeXml } from './hand.js'

/** The rows of the routes. */
interface Rows {
  list (limit: number): readonly Row[]
  get (id: number): Row | undefined
  create (post: Post): Row
  update (id: number, changes: Partial<Post>): Row | undefined
  delete (id: number): boolean
}

type Shown = FastifyRequest<{ Params: { id: string } }>
type Listed = FastifyRequest<{ Querystring: { limit?: string } }>
type Written = FastifyRequest<{ Body: { id: number, post: Post } }>

const XML = 'application/xml; charset=utf-8'
const change = { type: 'object', properties: Object.fromEntries(Object.entries(schema.properties).map(([name, { type }]) => [name, { type }])) }

function makePlain (rows: Rows): FastifyInstance {
  const app = fastify()
  const listOf = ({ query: { limit } }: Listed): readonly Row[] => rows.list(limit === undefined ? Infinity : Number(limit))
  app.get('/posts', { schema: { response: { 200: many } } }, (request: Listed, reply) => reply.send({ posts: listOf(request) }))
  app.get('/xml/posts', (request: Listed, reply) => {
    let text = `${DECLARATION}<posts type="array">`
    for (const row of listOf(request)) text += writeXml(row)
    return reply.type(XML).send(text + '</posts>')
  })
  app.get('/posts/:id', { schema: { response: { 200: one } } }, (request: Shown, reply) => {
    const row = rows.get(Number(request.params.id))
    return row === undefined ? reply.callNotFound() : reply.send({ post: row })
  })
  app.get('/xml/posts/:id', (request: Shown, reply) => {
    const row = rows.get(Number(request.params.id))
    return row === undefined ? reply.callNotFound() : reply.type(XML).send(DECLARATION + writeXml(row))
  })
  app.post('/posts', { schema: { body: { type: 'object', required: ['post'], properties: { post: schema } }, response: { 201: one } } }, (request: Written, reply) => {
    const row = rows.create(request.body.post)
    return reply.code(201).header('location', `/posts/${row.id}`).send({ post: row })
  })
  app.put('/posts', { schema: { body: { type: 'object', required: ['id', 'post'], properties: { id: { type: 'integer' }, post: change } }, response: { 200: one } } }, (request: Written, reply) => {
    const row = rows.update(request.body.id, request.body.post)
    return row === undefined ? reply.callNotFound() : reply.send({ post: row })
  })
  app.delete('/posts', { schema: { body: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } } }, (request: Written, reply) =>
    rows.delete(request.body.id) ? reply.code(204).send() : reply.callNotFound())
  return app
}

export function makePlainInMemory (posts: readonly Post[]): FastifyInstance {
  const rows = new Map<number, Row>(posts.map((post, index) => [index + 1, { id: index + 1, version: 1, ...post }]))
  let lastId = rows.size
  return makePlain({
    list (limit) {
      const taken: Row[] = []
      for (const row of rows.values()) {
        if (taken.length === limit) break
        taken.push(row)
      }
      return taken
    },
    get: (id) => rows.get(id),
    create (post) {
      const row = { ...post, id: ++lastId, version: 1 }
      rows.set(row.id, row)
      return row
    },
    update (id, changes) {
      const before = rows.get(id)
      if (before === undefined) return undefined
      const row = { ...before, ...changes }
      rows.set(id, row)
      return row
    },
    delete: (id) => rows.delete(id)
  })
}

const COLUMNS = 'id, title, body, published, rating'

export function makePlainOnSqlite (database: Database): FastifyInstance {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const select = database.prepare<[number], Row>(`SELECT ${COLUMNS} FROM posts WHERE id = ?`)
  const list = database.prepare<[number], Row>(`SELECT ${COLUMNS} FROM posts ORDER BY id LIMIT ?`)
  const insert = database.prepare<[string, string, number, number], Row>(`INSERT INTO posts (title, body, published, rating) VALUES (?, ?, ?, ?) RETURNING ${COLUMNS}`)
  // The version stands for a column such as `updated_at`. SQLite would not even write a row that stays the same.
  const update = database.prepare<[string | null, string | null, number | null, number | null, number], Row>(`UPDATE posts SET version = version + 1, title = coalesce(?, title), body = coalesce(?, body), published = coalesce(?, published), rating = coalesce(?, rating) WHERE id = ? RETURNING ${COLUMNS}`)
  const remove = database.prepare<[number]>('DELETE FROM posts WHERE id = ?')
  const app = makePlain({
    // SQLite takes a negative limit for none. XML needs the booleans, which the serializer of JSON makes itself.
    list: (limit) => list.all(limit === Infinity ? -1 : limit).map(withBoolean),
    get: (id) => withBoolean(select.get(id)),
    // `all` runs the statement to its end, so that an error of the commit is thrown.
    create: ({ title, body, published, rating }) => withBoolean(insert.all(title, body, Number(published), rating)[0] as Row),
    update: (id, { title = null, body = null, published, rating = null }) =>
      withBoolean(update.all(title, body, published === undefined ? null : Number(published), rating, id)[0]),
    delete: (id) => remove.run(id).changes > 0
  })
  app.addHook('onClose', () => { database.close() })
  return app
}

/** Makes the number of the column a boolean, in the row itself. */
function withBoolean<R extends Row | undefined> (row: R): R {
  if (row !== undefined) (row as { published: boolean }).published = Boolean(row.published)
  return row
}
