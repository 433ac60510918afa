import fastify from 'fastify'
import t from 'tap'
import { draw, type Query, type Store } from '../../../lib/index.js'
import { context, openEngines } from '../../support/stores/sql-engines.js'

const author = { type: 'object', properties: { name: { type: 'string' }, password: { type: 'string', writeOnly: true } } } as const
const post = { type: 'object', properties: { title: { type: 'string' }, authorId: { type: ['integer', 'null'] } } } as const
const comment = { type: 'object', properties: { body: { type: 'string' }, postId: { type: 'integer' } } } as const

/** Returns a store that notes the queries of its lists. */
function recording (store: Store, queries: Query[]): Store {
  return { ...store, list: (query, context) => { queries.push(query); return store.list(query, context) } }
}

t.test('`include` reads related rows from SQL stores with one query for each relation and batch', async (t) => {
  for (const engine of await openEngines()) {
    await t.test(engine.name, async (t) => {
      const migrate = true
      const authors = engine.store({ table: 'include_authors', attributes: author, migrate })
      const posts = engine.store({ table: 'include_posts', attributes: post, migrate })
      const comments = engine.store({ table: 'include_comments', attributes: comment, migrate })
      const queries: Query[] = []
      const app = fastify()
      t.teardown(() => app.close())
      app.register(draw((map) => {
        map.resources('posts', { store: posts, references: { authorId: 'authors' } }, (posts) => {
          posts.resources('comments', { attributes: { type: 'object', properties: { body: { type: 'string' } } }, store: recording(comments, queries) })
        })
        map.resources('authors', { store: recording(authors, queries) })
      }))
      await app.ready()
      for (const name of ['Ann', 'Bob']) await authors.create({ name, password: 'secret' }, {}, context)
      for (let index = 1; index <= 150; index++) {
        await posts.create({ title: `Post ${index}`, authorId: index % 3 === 0 ? null : index % 3 }, {}, context)
        await comments.create({ body: `On ${index}`, postId: index }, {}, context)
      }
      for (let index = 1; index <= 101; index++) await comments.create({ body: `More ${index}`, postId: 150 }, {}, context)

      const { statusCode, body } = await app.inject('/posts.json?include=author,comments&limit=150&sort=-title')
      t.equal(statusCode, 200)
      const rows: ReadonlyArray<Readonly<Record<string, unknown>>> = JSON.parse(body).posts
      t.equal(rows.length, 150)
      for (const { id, authorId, author, comments } of rows) {
        t.strictSame(author, authorId === null ? null : { id: authorId, name: authorId === 1 ? 'Ann' : 'Bob' })
        t.strictSame(comments, id === 150 ? { href: '/posts/150/comments' } : [{ id, body: `On ${id}` }])
      }
      t.ok(queries.length >= 2 && queries.length <= 12, `${queries.length} queries for 150 rows`)
      const record = (await app.inject('/posts/2.json?include=author,comments')).json().post
      t.strictSame(record, { id: 2, title: 'Post 2', authorId: 2, comments: [{ id: 2, body: 'On 2' }], author: { id: 2, name: 'Bob' } })
    })
  }
})
