import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { draw, memoryStores } from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { form, html, isSound, schemaOf } from '../../../support/html/page-tests.js'

const attributes = schemaOf({ title: { type: 'string', minLength: 1 } }, ['title'])

/** Makes a blog whose posts have 2 notes and 1 link, which go with them, and comments, which stay. */
async function openBlog (t: Test, comments: number): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('posts', { attributes }, (posts) => {
      posts.resources('comments', { attributes })
      posts.resources('notes', { attributes, onDelete: 'cascade' })
      posts.resources('links', { attributes, onDelete: 'cascade' })
      posts.resources('marks', { attributes, onDelete: 'set null' })
    })
  }, { stores: memoryStores() }))
  const add = async (url: string, name: string): Promise<unknown> =>
    app.inject({ method: 'POST', url: `${url}.json`, payload: { [name]: { title: 'T' } } })
  await add('/posts', 'post')
  for (const [list, name, rows] of [
    ['comments', 'comment', comments], ['notes', 'note', 2], ['links', 'link', 1], ['marks', 'mark', 1]
  ] as const) {
    for (let row = 0; row < rows; row++) await add(`/posts/1/${list}`, name)
  }
  return app
}

t.test('a map with stores knows what a deletion deletes, and what refuses it', async (t) => {
  const app = await openBlog(t, 2)
  const page = await app.inject({ url: '/posts/1', headers: html })
  isSound(t, page, 200)
  t.match(page.body, '<p>T will be deleted permanently.</p>\n<p>2 notes, 1 link will be deleted too.</p>\n<form')
  const remove = { method: 'POST', url: '/posts', payload: '_method=DELETE&id=1' } as const
  const refused = await app.inject({ ...remove, headers: { ...html, 'content-type': form } })
  isSound(t, refused, 409)
  const [main = ''] = /<main[^]*<\/main>/.exec(refused.body) ?? []
  t.strictSame(elementsOf(main).flatMap(({ name, text, attributes: { href } }) =>
    name === 'h1' || name === 'a' ? [[text, href]] : []), [
    ['T cannot be deleted: 2 comments refer to this record', undefined], ['2 comments', '/posts/1/comments'],
    ['T', '/posts/1']
  ])
  const asJson = await app.inject({ ...remove, headers: { accept: 'application/json', 'content-type': form } })
  t.strictSame(asJson.json(), {
    type: 'about:blank',
    title: 'Conflict',
    status: 409,
    detail: 'comments still refer to it; delete or change them first'
  })
})

t.test('a record that nothing refers to is deleted with what belongs to it', async (t) => {
  const app = await openBlog(t, 0)
  const payload = '_method=DELETE&id=1'
  t.equal((await app.inject({ method: 'POST', url: '/posts', headers: { ...html, 'content-type': form }, payload }))
    .statusCode, 303)
  t.equal((await app.inject({ url: '/posts/1', headers: html })).statusCode, 404)
})
