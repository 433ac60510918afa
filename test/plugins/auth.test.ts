import auth from '@fastify/auth'
import bearerAuth, { type FastifyBearerAuthOptions } from '@fastify/bearer-auth'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import t from 'tap'
import {
  accepts, build, CLIENTS, createPost, isRefused, isServed, ORDERS, type Order, recordingStore
} from './helper.js'

const KEY = 'a-key'
const allowed = { authorization: `Bearer ${KEY}` }
const MISSING = 'missing authorization header'
const INVALID = 'invalid authorization header'
const requests = [{
  url: '/posts'
}, { url: '/posts/1' }, { url: '/posts?x=1' }, { method: 'PATCH', url: '/posts' } as const, ...CLIENTS.map((client) =>
  createPost(client, 'Tea'))]

/** Returns the error itself, so that it is thrown and the plugin answers it in the client's format. */
const errorResponse = ((error: Error) => error) as unknown as NonNullable<FastifyBearerAuthOptions['errorResponse']>

const ways: Array<[
  name: string,
  (order: Order) => {
    add: (app: FastifyInstance) => unknown, hooks?: (app: FastifyInstance) => { onRequest: onRequestHookHandler }
  }
]> = [
  ['bearer-auth with an errorResponse that is the error', () => ({
    add: (app) =>
      app.register(bearerAuth, { keys: [KEY], errorResponse })
  })],
  ['auth with bearer-auth, for the whole app', () => ({
    async add (app) {
      await app.register(auth)
      await app.register(bearerAuth, { keys: [KEY], addHook: false })
      app.addHook('onRequest', app.auth([app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>]))
    }
  })],
  ['auth with bearer-auth, as a hook of the resource', (order) => ({
    async add (app) {
      await app.register(auth)
      await app.register(bearerAuth, { keys: [KEY], addHook: false })
    },
    hooks: (app) => {
      // A plugin that is registered after ours exists when the first request comes.
      const guard = (): onRequestHookHandler =>
        app.auth([app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>])
      return {
        onRequest: order === 'before'
          ? guard()
          : function (request, reply, done) {
            guard().call(this, request, reply, done)
          }
      }
    }
  })]
]

for (const order of ORDERS) {
  for (const [name, make] of ways) {
    t.test(`${name}, registered ${order} the resources`, async (t) => {
      const { add, hooks } = make(order)

      await t.test('its errors are answered in the format of the client, before anything is read', async (t) => {
        const { store, calls } = recordingStore()
        const app = await build(t, order, add, {
          options: (app) => ({ store, ...hooks !== undefined && { hooks: hooks(app) } })
        })
        for (const request of requests) {
          const headers = 'headers' in request ? request.headers : {}
          await isRefused(t, app, request, 401, 'Unauthorized', MISSING)
          await isRefused(
            t, app, { ...request, headers: { ...headers, authorization: 'Bearer b-key' } }, 401, 'Unauthorized', INVALID
          )
        }
        t.strictSame(calls, [])
        t.equal((await app.inject({ url: '/posts/1.json', headers: allowed })).body, '{"post":{"id":1,"title":"Tea"}}')
      })

      await t.test('authorized clients are served', async (t) => {
        await isServed(t, await build(t, order, add, {
          options: (app) =>
            hooks === undefined ? {} : { hooks: hooks(app) }
        }), allowed)
      })
    })
  }

  t.test(`bearer-auth alone, registered ${order} the resources, sends its own answer in JSON`, async (t) => {
    const { store, calls } = recordingStore()
    const app = await build(t, order, (app) => app.register(bearerAuth, { keys: [KEY] }), { options: { store } })
    for (const client of CLIENTS) {
      const res = await app.inject({ url: '/posts', headers: { accept: accepts[client] } })
      t.strictSame(
        [res.statusCode, res.headers['content-type'], res.body],
        [401, 'application/json; charset=utf-8', `{"error":"${MISSING}"}`]
      )
    }
    t.strictSame(calls, [])
  })
}
