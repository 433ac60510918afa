import view from '@fastify/view'
import { Eta } from 'eta'
import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { draw } from '../../dist/index.js'
import { defaultViews, raw } from '../../dist/html/index.js'
import { attributes, build, createPost, documents, ORDERS } from './helper.js'

const eta = new Eta({ views: new URL('views', import.meta.url).pathname })
const add = async (app: FastifyInstance): Promise<void> => {
  await app.register(view, { engine: { eta }, root: new URL('views', import.meta.url).pathname })
  app.get('/mine', async (_request, reply) => reply.view('greeting.eta', { greeting: 'Tea & cake' }))
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('its engine renders a view of a resource', async (t) => {
      const app = await build(t, order, add, {
        options: {
          html: {
            views: {
              record: (page, views) => raw(eta.render('record', {
                title: page.title,
                values: page.values.map(({ label, value }) => ({ label, text: String(value) })),
                form: page.edit === undefined ? '' : String(defaultViews.form(page.edit, page, views))
              }))
            }
          }
        }
      })
      await app.inject(createPost('json', 'Tea & <cake>'))
      const { statusCode, headers, body } = await app.inject('/posts/1.html')
      t.strictSame([statusCode, headers['content-type']], [200, documents.html])
      t.match(body, '<dt>Title</dt><dd>Tea &amp; &lt;cake&gt;</dd>')
      t.match(body, /<form [^>]*action="\/posts"/)
      t.match(body, '<link rel="stylesheet"')
      t.equal((await app.inject('/mine')).body, '<p>Tea &amp; cake</p>\n')
    })

    await t.test('a handler of a resource can answer with reply.view()', async (t) => {
      const app = fastify()
      t.teardown(() => app.close())
      if (order === 'before') await add(app)
      await app.register(draw((map) => map.resources('posts', { attributes }, (posts) =>
        posts.collection.get('welcome', ({ reply }) => reply.view('greeting.eta', { greeting: 'Hi' })))))
      if (order === 'after') await add(app)
      const { statusCode, headers, body } = await app.inject('/posts/welcome')
      t.strictSame([statusCode, headers['content-type'], body], [200, documents.html, '<p>Hi</p>\n'])
    })
  })
}
