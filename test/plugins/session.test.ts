import cookie from '@fastify/cookie'
import session from '@fastify/session'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, CLIENTS, createPost, isRefused, isServed, ORDERS, recordingStore } from './helper.js'

declare module 'fastify' {
  interface Session {
    user?: string
  }
}

async function add (app: FastifyInstance): Promise<void> {
  await app.register(cookie)
  await app.register(session, { secret: 'a secret of thirty-two characters', cookie: { secure: false } })
  app.post<{ Body: { user: string } }>('/login', async (request) => {
    request.session.user = request.body.user
    return { user: request.session.user }
  })
}

async function logIn (app: FastifyInstance, user: string): Promise<Record<string, string>> {
  const { cookies } = await app.inject({ method: 'POST', url: '/login', payload: { user } })
  return { cookie: cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ') }
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('all requests are served, and each starts a session', async (t) => {
      const app = await build(t, order, add)
      await isServed(t, app)
      for (const client of CLIENTS) {
        for (const url of ['/posts', '/posts/9']) {
          const { cookies } = await app.inject({ url: `${url}.${client}` })
          t.match(cookies, [{ name: 'sessionId', httpOnly: true, path: '/' }])
        }
      }
    })

    await t.test('authorize can use the session', async (t) => {
      const { store, calls } = recordingStore()
      const app = await build(t, order, add, {
        options: {
          store,
          authorize: ({ session }, { action }) =>
            session.user === 'ada' || (session.user === 'bob' && action !== 'create')
        }
      })
      const words = { list: 'you are not allowed to list posts', create: 'you are not allowed to create posts' }
      await isRefused(t, app, { url: '/posts' }, 403, 'Forbidden', words.list)
      const [ada, bob] = [await logIn(app, 'ada'), await logIn(app, 'bob')]
      for (const client of CLIENTS) {
        const request = createPost(client, 'More')
        await isRefused(t, app, { ...request, headers: { ...request.headers, ...bob } }, 403, 'Forbidden', words.create)
        await isRefused(t, app, request, 403, 'Forbidden', words.create)
      }
      t.strictSame(calls, [])
      t.equal((await app.inject({ url: '/posts.json', headers: bob })).body, '{"posts":[{"id":1,"title":"Tea"}]}')
      for (const client of CLIENTS) {
        const request = createPost(client, 'More')
        t.ok((await app.inject({ ...request, headers: { ...request.headers, ...ada } })).statusCode < 400)
      }
      t.equal((await app.inject({ url: '/posts.json', headers: ada })).json<{ posts: unknown[] }>().posts.length, 4)
    })

    await t.test(order === 'before'
      ? 'an onRequest hook of a resource finds the session'
      : 'an onRequest hook of a resource comes before the session, and finds none', async (t) => {
      const seen: unknown[] = []
      const app = await build(t, order, add, {
        options: {
          hooks: {
            onRequest: async ({ session }) => {
              seen.push(session?.user)
            },
            preValidation: async ({ session }) => { seen.push(session.user) }
          }
        }
      })
      t.equal((await app.inject({ url: '/posts', headers: await logIn(app, 'ada') })).statusCode, 200)
      t.strictSame(seen, [order === 'before' ? 'ada' : undefined, 'ada'])
    })

    await t.test('a handler of a resource can write to the session', async (t) => {
      const app = await build(t, order, add, {
        options: {
          actions: {
            create: ({ request, proceed }) => {
              request.session.user = 'ada'
              return proceed()
            }
          },
          authorize: ({ session }, { action }) =>
            action === 'create' || session.user === 'ada'
        }
      })
      for (const client of CLIENTS) {
        const { cookies } = await app.inject(createPost(client, 'Tea'))
        const session = cookies.find(({ name }) => name === 'sessionId')
        const headers = { cookie: `sessionId=${encodeURIComponent(String(session?.value))}` }
        t.equal((await app.inject({ url: `/posts.${client}`, headers })).statusCode, 200)
      }
      t.equal((await app.inject('/posts')).statusCode, 403)
    })
  })
}
