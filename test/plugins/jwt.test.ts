import jwt from '@fastify/jwt'
import t from 'tap'
import { build, CLIENTS, createPost, isRefused, isServed, recordingStore } from './helper.js'

const secret = 'a secret of thirty-two characters'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    user: { sub: string, tenant: string }
  }
}

t.test('a client without a token is refused in its own format before anything is read', async (t) => {
  const { store, calls } = recordingStore()
  const app = await build(t, 'before', (app) =>
    app.register(jwt, { secret }), {
    options: {
      store,
      hooks: {
        onRequest: async (request) => {
          await request.jwtVerify()
        }
      }
    }
  })
  for (const request of [{ url: '/posts' }, { url: '/posts/1' }, ...CLIENTS.map((client) =>
    createPost(client, 'More'))]) {
    const headers = 'headers' in request ? request.headers : {}
    await isRefused(t, app, request, 401, 'Unauthorized', 'No Authorization was found in request.headers')
    await isRefused(
      t, app, { ...request, headers: { ...headers, authorization: 'Bearer a.b.c' } }, 401, 'Unauthorized',
      'Authorization token is invalid: The token header is not a valid base64url serialized JSON.'
    )
  }
  t.strictSame(calls, [])
})

t.test('a client with a token is served', async (t) => {
  const app = await build(t, 'before', (app) =>
    app.register(jwt, { secret }), {
    options: {
      hooks: {
        onRequest: async (request) => {
          await request.jwtVerify()
        }
      }
    }
  })
  await isServed(t, app, { authorization: `Bearer ${app.jwt.sign({ sub: 'ada', tenant: 'acme' })}` })
})

t.test('scope and authorize can use the token\'s claims', async (t) => {
  const app = await build(t, 'before', (app) => app.register(jwt, { secret }), {
    options: {
      hooks: { onRequest: async (request) => { await request.jwtVerify() } },
      scope: ({ user }) => ({ tenant: (user as { tenant: string }).tenant }),
      authorize: ({ user }, { action }) => action !== 'delete' || (user as { sub: string }).sub === 'ada'
    }
  })
  const as = (sub: string, tenant: string): Record<string, string> => ({
    authorization: `Bearer ${app.jwt.sign({ sub, tenant })}`
  })
  const request = createPost('json', 'Tea')
  t.equal((await app.inject({ ...request, headers: { ...request.headers, ...as('bob', 'acme') } })).statusCode, 201)
  t.equal(
    (await app.inject({ url: '/posts.json', headers: as('bob', 'acme') })).body,
    '{"posts":[{"id":1,"title":"Tea"}]}'
  )
  t.equal((await app.inject({ url: '/posts.json', headers: as('eve', 'other') })).body, '{"posts":[]}')
  await isRefused(
    t, app, { method: 'DELETE', url: '/posts?id=1', headers: as('bob', 'acme') }, 403, 'Forbidden',
    'you are not allowed to delete posts'
  )
  t.equal((await app.inject({ method: 'DELETE', url: '/posts?id=1', headers: as('ada', 'acme') })).statusCode, 204)
})
