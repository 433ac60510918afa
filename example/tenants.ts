// Notes of several companies in one store. Users sign in, and see and change the notes of their own company alone.
//
//   npm run example example/tenants.ts    then open http://localhost:3000 and sign in as "ann" with the password "tea"
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import session from '@fastify/session'
import fastify from 'fastify'
import resources, { memoryStore } from 'fastify-resources'
import { markup } from 'fastify-resources/html'

interface User { readonly name: string, readonly company: string, readonly role: 'editor' | 'reader' }

declare module 'fastify' {
  interface Session { user?: User }
}

const salt = randomBytes(16)
const hash = (password: string): Buffer => scryptSync(password, salt, 32)
const accounts = new Map<string, { readonly user: User, readonly password: Buffer }>([
  ['ann', { user: { name: 'ann', company: 'acme', role: 'editor' }, password: hash('tea') }],
  ['bob', { user: { name: 'bob', company: 'acme', role: 'reader' }, password: hash('milk') }],
  ['eve', { user: { name: 'eve', company: 'umbrella', role: 'editor' }, password: hash('wine') }]
])

const app = fastify({
  logger: { level: 'warn' },
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
})
app.register(formbody)
app.register(cookie)
app.register(session, {
  // A real app keeps the secret and the sessions elsewhere, and sets `secure: true` behind HTTPS.
  secret: process.env.SECRET ?? randomBytes(32).toString('hex'), cookie: { secure: false, sameSite: 'lax' }
})

app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(String(markup`<!DOCTYPE html>
<html lang="en"><title>Sign in</title>
<form method="post" action="/session">
<p><label>Name <input name="name" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p>
</form></html>
`)))

app.post<{ Body: Record<string, unknown> }>('/session', async (request, reply) => {
  const { name, password } = request.body ?? {}
  const account = accounts.get(String(name))
  if (account === undefined || !timingSafeEqual(account.password, hash(String(password)))) return reply.redirect('/', 303)
  // A new session id keeps an id that somebody else has planted from becoming a signed-in one.
  await request.session.regenerate()
  request.session.user = account.user
  return reply.redirect('/notes', 303)
})

app.register(resources, {
  name: 'notes',
  attributes: {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 120 },
      body: { type: 'string' }
    }
  },
  // Two companies may have a note of the same title, one company may not.
  store: memoryStore({ unique: [['company', 'title']] }),
  hooks: {
    onRequest: async ({ session }) => {
      if (session.user === undefined) throw Object.assign(new Error('Sign in at / first.'), { statusCode: 401 })
    }
  },
  // The scope is part of each read and write, so that no id, filter or sort leads to another company.
  scope: ({ session }) => ({ company: session.user?.company ?? '' }),
  authorize: ({ session }, { action }) => session.user?.role === 'editor' || action === 'list' || action === 'show'
})

const url = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`Notes of two companies are at ${url}. Sign in as ann (tea), bob (milk) or eve (wine). Stop it with Ctrl-C.`)
