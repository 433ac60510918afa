import autoload from '@fastify/autoload'
import fastify from 'fastify'
import t from 'tap'
import { isServed } from './helper.js'

t.test('a file of a folder registers a resource, and a file of a subfolder one under its name', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(autoload, { dir: new URL('autoload', import.meta.url).pathname, forceESM: true })
  await app.ready()
  await isServed(t, app)
  const created = await app.inject({
    method: 'POST', url: '/blog/comments', payload: { comment: { body: 'With milk' } }
  })
  t.strictSame(
    [created.statusCode, created.headers.location, created.body],
    [201, '/blog/comments/1', '{"comment":{"id":1,"body":"With milk"}}']
  )
})
