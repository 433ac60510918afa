import sensible from '@fastify/sensible'
import t from 'tap'
import { build, CLIENTS, createPost, isRefused } from './helper.js'

t.test('its errors are answered in the format of the client, from a hook, a handler and authorize', async (
  t
) => {
  const app = await build(t, 'before', (app) => app.register(sensible), {
    options: (app) => ({
      hooks: {
        onRequest: async ({ headers }) => {
          if (headers['x-late'] !== undefined) throw app.httpErrors.gone('too late')
        }
      },
      actions: { show: () => { throw app.httpErrors.paymentRequired('two euros') } },
      authorize: (_request, { action }) => {
        if (action === 'create') throw app.httpErrors.locked('not today')
        return true
      }
    })
  })
  await isRefused(t, app, { url: '/posts/1' }, 402, 'Payment Required', 'two euros')
  await isRefused(t, app, { url: '/posts', headers: { 'x-late': 'yes' } }, 410, 'Gone', 'too late')
  for (const client of CLIENTS) await isRefused(t, app, createPost(client, 'Tea'), 423, 'Locked', 'not today')
  t.equal((await app.inject('/posts.json')).body, '{"posts":[]}')
})

t.test('an error that its reply sends in a hook is written in the format of the client', async (t) => {
  const app = await build(t, 'before', (app) =>
    app.register(sensible), {
    options: {
      actionHooks: {
        show: {
          preHandler: async (_request, reply) =>
            reply.notFound('gone fishing')
        }
      }
    }
  })
  await isRefused(t, app, { url: '/posts/1' }, 404, 'Not Found', 'gone fishing')
})
