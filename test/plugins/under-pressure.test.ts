import underPressure from '@fastify/under-pressure'
import t from 'tap'
import { build, CLIENTS, createPost, isRefused, recordingStore } from './helper.js'

t.test('under pressure a request is a 503 in the format of the client, before anything is read', async (
  t
) => {
  const { store, calls } = recordingStore()
  const app = await build(t, 'before', (app) =>
    app.register(underPressure, {
      healthCheck: async () =>
        false,
      healthCheckInterval: 60_000,
      retryAfter: 5
    }), { options: { store } })
  for (const request of [{ url: '/posts' }, { url: '/posts/1' }, ...CLIENTS.map((client) =>
    createPost(client, 'More'))]) {
    for (const { headers } of await isRefused(
      t, app, request, 503, 'Service Unavailable', 'something went wrong on the server'
    )) {
      t.equal(headers['retry-after'], '5')
    }
  }
  t.strictSame(calls, [])
})
