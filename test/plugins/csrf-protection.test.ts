import { AsyncLocalStorage } from 'node:async_hooks'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import t from 'tap'
import { defaultViews, type Form } from '../../dist/html/index.js'
import { accepts, build, CLIENTS, createPost, FORM, isRefused, isServed } from './helper.js'

async function add (app: FastifyInstance): Promise<void> {
  await app.register(cookie)
  await app.register(csrf)
  app.get('/token', async (_request, reply) => ({ token: reply.generateCsrf() }))
  app.post('/mine', {
    onRequest: (request, reply, done) => {
      app.csrfProtection(request, reply, done)
    }
  }, async () => ({ mine: true }))
}

async function ask (app: FastifyInstance): Promise<Record<string, string>> {
  const res = await app.inject('/token')
  return { cookie: `_csrf=${String(res.cookies[0]?.value)}`, 'csrf-token': res.json<{ token: string }>().token }
}

t.test('it guards the app\'s own routes, and our routes need no token', async (t) => {
  const app = await build(t, 'before', add)
  await isServed(t, app)
  t.equal((await app.inject({ method: 'POST', url: '/mine' })).statusCode, 403)
  t.equal((await app.inject({ method: 'POST', url: '/mine', headers: await ask(app) })).body, '{"mine":true}')
  const forged = createPost('html', 'Forged')
  await isRefused(
    t, app, { ...forged, headers: { ...forged.headers, 'sec-fetch-site': 'cross-site' } }, 403, 'Forbidden',
    'the request comes from another site: Sec-Fetch-Site is cross-site; if its pages may write here, add its ' +
      'origin to the option trustedOrigins'
  )
})

t.test('as a hook of a resource it reads the token from a header', async (t) => {
  const app = await build(t, 'before', add, {
    options: (app) => ({
      hooks: {
        preValidation (request, reply, done) {
          if (request.method === 'GET') done(); else app.csrfProtection(request, reply, done)
        }
      }
    })
  })
  for (const client of CLIENTS) {
    const request = createPost(client, 'Tea')
    await isRefused(t, app, request, 403, 'Forbidden', 'Missing csrf secret')
    const headers = { ...request.headers, ...await ask(app) }
    t.ok((await app.inject({ ...request, headers })).statusCode < 400)
    await isRefused(
      t, app, { ...request, headers: { ...headers, 'csrf-token': 'forged' } }, 403, 'Forbidden',
      'Invalid csrf token'
    )
  }
  t.equal((await app.inject('/posts.json')).json<{ posts: unknown[] }>().posts.length, 3)
})

t.test('a view adds the token to a form, and a hook removes it from the body', async (t) => {
  const tokens = new AsyncLocalStorage<string>()
  // The fields of a form are nodes in a body that is not read yet. An unknown field would be a 422.
  const takeToken = (request: FastifyRequest): void => {
    const body = request.body as Record<string, { texts: string[] }> | undefined
    const [token] = body?._csrf?.texts ?? []
    if (body === undefined || token === undefined) return
    request.headers['csrf-token'] = token
    delete body._csrf
  }
  const withToken = (form: Form): Form => ({
    ...form, hidden: [...form.hidden, { name: '_csrf', value: tokens.getStore() as string }]
  })
  const app = await build(t, 'before', add, {
    options: (app) => ({
      hooks: {
        preValidation (request, reply, done) {
          takeToken(request)
          if (request.method === 'GET') done()
          else app.csrfProtection(request, reply, done)
        },
        preHandler (_request, reply, done) { tokens.run(reply.generateCsrf(), done) }
      },
      html: { views: { form: (form, page, views) => defaultViews.form(withToken(form), page, views) } }
    })
  })
  const fieldsOf = (page: string): string[] => [
    ...page.matchAll(/name="_csrf" value="([^"]+)"/g)
  ].map(([, token]) =>
    String(token))
  const page = await app.inject('/posts.html')
  const [token = '', ...others] = fieldsOf(page.body)
  t.strictSame(others, [])
  const headers = { 'content-type': FORM, accept: accepts.html, cookie: `_csrf=${String(page.cookies[0]?.value)}` }
  const send = (fields: Record<string, string>): InjectOptions => ({
    method: 'POST', url: '/posts', headers, payload: new URLSearchParams(fields).toString()
  })
  const created = await app.inject(send({ 'post[title]': 'Tea', _csrf: token }))
  t.strictSame([created.statusCode, created.headers.location], [303, '/posts/1'])
  const refused = await app.inject(send({ 'post[title]': '', _csrf: token }))
  t.strictSame(
    [refused.statusCode, fieldsOf(refused.body).length], [422, 1], 'the form that comes back has a token too'
  )
  t.match((await app.inject(send({ 'post[title]': 'Forged' }))).body, '<h1>Invalid csrf token</h1>')
  const record = await app.inject({ url: '/posts/1.html', headers: { cookie: headers.cookie } })
  const [update = '', remove = ''] = fieldsOf(record.body)
  t.equal(
    (await app.inject(send({ _method: 'PUT', id: '1', 'post[title]': 'Cake', _csrf: update }))).statusCode, 303
  )
  t.equal((await app.inject('/posts/1.json')).body, '{"post":{"id":1,"title":"Cake"}}')
  t.equal((await app.inject(send({ _method: 'DELETE', id: '1', _csrf: remove }))).statusCode, 303)
  t.equal((await app.inject('/posts.json')).body, '{"posts":[]}')
})
