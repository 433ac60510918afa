import rateLimit from '@fastify/rate-limit'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { build, CLIENTS, createPost, isRefused, recordingStore } from './helper.js'

t.test('registered first, it limits the routes in the format of the client, before anything is read', async (t) => {
  const { store, calls } = recordingStore()
  const app = await build(t, 'before', (app) => app.register(rateLimit, { max: 2 }), { options: { store } })
  t.strictSame(
    [
      (await app.inject('/posts/1.json')).headers['x-ratelimit-remaining'],
      (await app.inject('/posts')).headers['x-ratelimit-remaining']
    ],
    ['1', '0']
  )
  calls.length = 0
  for (const request of [{ url: '/posts' }, { url: '/posts/1' }, ...CLIENTS.map((client) =>
    createPost(client, 'More'))]) {
    const answers = await isRefused(t, app, request, 429, 'Too Many Requests', 'Rate limit exceeded, retry in 1 minute')
    for (const { headers } of answers) {
      t.match(headers, { 'retry-after': '60', 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' })
    }
  }
  t.strictSame(calls, [])
})

t.test('registered after the resources, it does not see their routes', async (t) => {
  const app = await build(t, 'after', (app) => app.register(rateLimit, { max: 1 }))
  for (const url of ['/posts', '/posts', '/posts.json']) {
    const { statusCode, headers } = await app.inject(url)
    t.strictSame([statusCode, headers['x-ratelimit-limit']], [200, undefined])
  }
})

t.test('a request that is refused because of its headers is not counted', async (t) => {
  const app = await build(t, 'before', (app) => app.register(rateLimit, { max: 1 }))
  const requests: InjectOptions[] = [
    { method: 'POST', url: '/posts', headers: { 'sec-fetch-site': 'cross-site' } }, { method: 'PATCH', url: '/posts' },
    { url: '/posts', headers: { accept: 'image/png' } },
    { method: 'POST', url: '/posts', headers: { 'content-type': 'text/csv' }, payload: 'a,b' }, { url: '/posts?x=1' }
  ]
  const statuses: number[] = []
  for (const request of [...requests, ...requests]) statuses.push((await app.inject(request)).statusCode)
  t.strictSame(statuses, [403, 405, 406, 415, 400, 403, 405, 406, 415, 400])
  t.strictSame([(await app.inject('/posts')).statusCode, (await app.inject('/posts')).statusCode], [200, 429])
})

t.test('a hook limits a single action', async (t) => {
  const app = await build(t, 'before', (app) =>
    app.register(rateLimit, { global: false }), {
    options: (app) => ({ actionHooks: { create: { onRequest: app.rateLimit({ max: 1 }) } } })
  })
  t.equal((await app.inject(createPost('xml', 'Tea'))).statusCode, 201)
  await isRefused(t, app, createPost('json', 'Tea'), 429, 'Too Many Requests', 'Rate limit exceeded, retry in 1 minute')
  t.equal((await app.inject('/posts.json')).body, '{"posts":[{"id":1,"title":"Tea"}]}')
})
