import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import t from 'tap'
import resources, {
  type AuthorizeContext, memoryStore, memoryStores, type ResourceOptions, type Store
} from '../../lib/index.js'
import { build, draft } from '../support/helper.js'
import { openKeyed, testIdempotency } from '../support/idempotency.js'
import type { OpenPosts } from '../support/many-rows.js'

const open: OpenPosts = async () => memoryStore({ unique: ['title'] }) as Store
const D = '{"post":{"title":"D"}}'
const context = { signal: new AbortController().signal }
const FORM = 'application/x-www-form-urlencoded'

testIdempotency(t, open)

t.test('a key is a text in double quotes, or the same text alone', async (t) => {
  const { send, stored } = await openKeyed(t, open)
  const refused = ['', '""', '"a', 'a b', 'a, a', 'ä', `"${'a'.repeat(256)}"`, 'a'.repeat(256), '"a\\b"']
  for (const key of refused) {
    const { status, text } = await send('POST', D, { key })
    t.strictSame([status, /Idempotency-Key must have 1 to 255/.test(text)], [400, true], key)
  }
  t.equal((await stored()).length, 3)
  const alike: ReadonlyArray<readonly [string, string]> = [
    ['aA0._:-', '"aA0._:-"'], ['"a b"', '"a b"'], ['"a\\\\\\"b"', '"a\\\\\\"b"'], ['"ä"'.replace('ä', '~'), '"~"'],
    ['a'.repeat(255), `"${'a'.repeat(255)}"`]
  ]
  for (const [index, [one, other]] of alike.entries()) {
    const body = `{"post":{"title":"T${index}"}}`
    t.strictSame((await send('POST', body, { key: one })).status, 201, one)
    t.equal((await send('POST', body, { key: other })).replayed, 'true', other)
  }
})

t.test('without the option, and in a GET, a key is ignored', async (t) => {
  const app = await build(t, { name: 'posts', store: await open(t) })
  const headers = { 'idempotency-key': 'a b' }
  for (const id of [1, 2]) {
    const answer = await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: 'x' } }, headers })
    t.equal(answer.headers.location, `/posts/${id}`)
  }
  const form = '_key=k&post[body]=x'
  const answer = await app.inject({ method: 'POST', url: '/posts', payload: form, headers: { 'content-type': FORM } })
  t.equal(answer.statusCode, 303)
  const { app: keyed } = await openKeyed(t, open, { required: true })
  t.equal((await keyed.inject({ url: '/posts', headers })).statusCode, 200)
})

t.test('with "required", a write without a key is refused, except forms that do not create', async (t) => {
  const { send } = await openKeyed(t, open, { required: true })
  const refused: ReadonlyArray<Parameters<typeof send>> = [
    ['POST', D],
    ['POST', '{"posts":[{"title":"D"}]}'],
    ['PUT', '{"id":1,"post":{"rating":4}}'],
    ['DELETE', undefined, { url: '/posts?id=1' }],
    ['POST', undefined, { url: '/posts/1/publish' }],
    ['POST', 'post[title]=D', { type: FORM }]
  ]
  for (const request of refused) {
    const { status, text } = await send(...request)
    t.strictSame([status, /send the header Idempotency-Key/.test(text)], [400, true])
  }
  const served: ReadonlyArray<readonly [status: number, ...Parameters<typeof send>]> = [
    [200, 'POST', D, { url: '/posts?dry_run=true' }],
    [201, 'POST', D, { key: 'k' }],
    [303, 'POST', '_key=f&post[title]=E', { type: FORM, accept: 'text/html' }],
    [303, 'POST', '_method=PUT&id=1&post[rating]=4', { type: FORM, accept: 'text/html' }],
    [303, 'POST', '_method=DELETE&id=1', { type: FORM, accept: 'text/html' }]
  ]
  for (const [expected, ...request] of served) {
    const { status, text } = await send(...request)
    t.equal(status, expected, text)
  }
})

t.test('the keys of one user are nothing to another', async (t) => {
  const { send, stored } = await openKeyed(t, open, { principal: async ({ headers }) => String(headers.user) }, {
    scope: ({ headers }) => ({ published: headers.user === 'ann' })
  })
  const as = (user: string): object => ({ key: 'k', headers: { user } })
  t.strictSame((await send('POST', D, as('ann'))).location, '/posts/4')
  t.match(await send('POST', '{"post":{"title":"E"}}', as('bob')), { status: 201, location: '/posts/5' })
  t.match(await send('POST', D, as('ann')), { status: 201, replayed: 'true', location: '/posts/4' })
  t.equal((await stored()).length, 4, 'bob and strangers see their own rows')
})

t.test('an answer that is given again shows only what the request may see', async (t) => {
  let refused: string[] = []
  const authorize = (_request: unknown, { action }: AuthorizeContext): boolean => !refused.includes(action)
  const { send } = await openKeyed(t, open, { principal: () => 'ann' }, { authorize })
  const put = '{"id":1,"post":{"rating":4}}'
  t.equal((await send('PUT', put, { key: 'k' })).status, 200)
  refused = ['update']
  t.match(await send('PUT', put, { key: 'k' }), { status: 200, text: '{"post":{"id":1,"title":"A"' })
  refused = ['show']
  t.match(await send('PUT', put, { key: 'k' }), { status: 200, replayed: 'true', text: '' })
  refused = []
  const { send: sendAgain, store } = await openKeyed(t, open, { principal: () => 'ann' }, {
    authorize: async (_request, { row }) => row === undefined || (await row())?.attributes.published !== true
  })
  t.equal((await sendAgain('PUT', put, { key: 'k' })).status, 200)
  t.match(await sendAgain('PUT', put, { key: 'k' }), { status: 200, replayed: 'true', text: '{"post":{"id":1' })
  await store.update(1, { published: true }, { version: undefined, scope: {} }, context)
  t.match(await sendAgain('PUT', put, { key: 'k' }), { status: 200, replayed: 'true', text: '' })
})

t.test('a write with a key may refer to rows of another database that not everybody sees', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'authors', store: memoryStore(), authorize: (_request, { id }) => id !== 2 })
  app.register(resources, {
    name: 'notes',
    attributes: { type: 'object', properties: { authorId: { type: 'integer' } } },
    store: memoryStore(),
    references: { authorId: 'authors' },
    idempotency: {}
  })
  const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload: object): Promise<number> =>
    (await app.inject({ method, url, payload, headers: { 'idempotency-key': randomUUID() } })).statusCode
  for (const name of ['Ada', 'Bob']) await send('POST', '/authors', { author: { name } })
  t.equal(await send('POST', '/notes', { note: { authorId: 1 } }), 201)
  t.equal(await send('POST', '/notes', { note: { authorId: 2 } }), 422)
  t.equal(await send('PUT', '/notes', { id: 1, note: { authorId: 1 } }), 200)
  t.equal(await send('PUT', '/notes', { id: 1, note: { authorId: 2 } }), 422)
  t.equal(await send('DELETE', '/notes', { id: 1, note: { authorId: 2 } }), 204)
})

t.test('a failure while the rows are read is no refusal', async (t) => {
  let fails = false
  const authorize = (): boolean => {
    if (fails) throw Object.assign(new Error('no access to the users'), { statusCode: 503 })
    return true
  }
  const { send } = await openKeyed(t, open, { principal: () => 'ann' }, { authorize })
  t.equal((await send('POST', D, { key: 'k' })).status, 201)
  fails = true
  t.match(await send('POST', D, { key: 'k' }), { status: 503, replayed: undefined })
})

t.test('rows that are too large together are not shown again', async (t) => {
  const { send, store } = await openKeyed(t, open)
  const two = '{"posts":[{"title":"D"},{"title":"E"}]}'
  t.equal((await send('POST', two, { key: 'k' })).status, 201)
  for (const id of [4, 5]) {
    await store.update(id, { title: `${id}`.repeat(20_000_000) }, { version: undefined, scope: {} }, context)
  }
  t.match(await send('POST', two, { key: 'k' }), { status: 201, replayed: 'true', text: '' })
})

t.test('a handler of a request with a key returns its answer', async (t) => {
  const { send, stored } = await openKeyed(t, open)
  for (const name of ['send', 'stream']) {
    t.equal((await send('POST', undefined, { url: `/posts/${name}` })).status, 200)
    t.equal((await send('POST', undefined, { url: `/posts/${name}`, key: name })).status, 500)
  }
  const ended = await openKeyed(t, open, {}, {
    actions: {
      async create (context) {
        await context.store.create(context.attributes, {}, context)
        context.reply.raw.end('sent')
      }
    }
  })
  t.match(await ended.send('POST', D, { key: 'k' }), { status: 200, text: 'sent' })
  t.equal((await ended.stored()).length, 3, 'what it has written is undone')
  t.equal((await stored()).length, 3)
})

t.test('a principal must be a text', async (t) => {
  const { send } = await openKeyed(t, open, { principal: (() => undefined) as never })
  t.equal((await send('POST', D)).status, 201)
  t.equal((await send('POST', D, { key: 'k' })).status, 500)
})

t.test('the log tells an answer that is given again', async (t) => {
  const lines: Array<Record<string, unknown>> = []
  const stream = { write: (line: string) => { lines.push(JSON.parse(line)) } }
  const server = { logger: { stream } }
  const app = await build(t, { name: 'posts', store: await open(t), idempotency: {} }, { server })
  const request = { method: 'POST', url: '/posts', payload: { post: { title: 'A' } } } as const
  for (const headers of [{ 'idempotency-key': 'k' }, { 'idempotency-key': 'k' }]) {
    t.equal((await app.inject({ ...request, headers })).statusCode, 201)
  }
  t.strictSame(lines.filter(({ resource }) => resource === 'posts').map(({ id, outcome, replayed }) =>
    [id, outcome, replayed]), [[1, 'created', undefined], [1, 'created', true]])
})

t.test('rows of parents, and paths of rows, are answered again, too', async (t) => {
  const app = await draft(t, (map) => map.resources('posts', { stores: memoryStores() }, (posts) => {
    posts.resources('comments', { shallow: true, writes: 'member', idempotency: {}, stores: memoryStores() })
  }))
  await app.inject({ method: 'POST', url: '/posts', payload: { post: {} } })
  const send = async (method: 'POST' | 'PUT' | 'PATCH', url: string, accept = 'application/json'): Promise<unknown> => {
    const headers = { 'idempotency-key': method, accept, 'content-type': 'application/json' }
    const answer = await app.inject({ method, url, headers, payload: '{"comment":{"text":"x"}}' })
    const { 'idempotency-replayed': replayed, location } = answer.headers
    return [answer.statusCode, replayed, location, answer.body.includes('<text>') ? 'xml' : 'other']
  }
  t.strictSame(await send('POST', '/posts/1/comments'), [201, undefined, '/comments/1', 'other'])
  t.strictSame(await send('POST', '/posts/1/comments'), [201, 'true', '/comments/1', 'other'])
  t.strictSame(await send('POST', '/posts/1/comments', 'text/html'), [303, 'true', '/comments/1', 'other'])
  t.strictSame(await send('POST', '/posts/2/comments'), [422, undefined, undefined, 'other'], 'of another parent')
  for (const method of ['PUT', 'PATCH'] as const) {
    t.strictSame(await send(method, '/comments/1'), [200, undefined, undefined, 'other'])
    t.strictSame(await send(method, '/comments/1.xml'), [200, 'true', undefined, 'xml'])
    t.strictSame(await send(method, '/comments/1', 'text/html'), [303, 'true', '/comments/1', 'other'])
  }
})

t.test('a singleton is created and changed once', async (t) => {
  const app = await draft(t, (map) => map.resource('profile', {
    store: memoryStore(), idempotency: { principal: () => 'ann' }, scope: () => ({ owner: 1 })
  }))
  for (const [method, status] of [['POST', 201], ['PUT', 200], ['DELETE', 204]] as const) {
    const headers = { 'idempotency-key': method, accept: 'application/json' }
    const payload = method === 'DELETE' ? {} : { payload: { profile: { name: method } } }
    const request = { method, url: '/profile', headers, ...payload }
    const [first, second] = [await app.inject(request), await app.inject(request)]
    t.strictSame([first, second].map(({ statusCode, headers }) => [statusCode, headers['idempotency-replayed']]),
      [[status, undefined], [status, 'true']])
    t.equal(first.body, second.body)
  }
})

t.test('many expired requests are deleted, the oldest first', async (t) => {
  const { send, store } = await openKeyed(t, open, { keep: 1 })
  for (let index = 0; index < 30; index++) {
    const { status } = await send('PUT', `{"id":1,"post":{"rating":${index}}}`, { key: `k${index}` })
    t.equal(status, 200)
  }
  t.equal(await store.requests?.find('k', context), undefined)
})

t.test('wrong options are refused at the start', async (t) => {
  const { transaction, ...withoutTransactions } = memoryStore()
  const { requests, ...withoutRequests } = memoryStore()
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions>, message: RegExp]> = [
    [{ idempotency: true as never }, /"idempotency" of resource "posts" must be an object such as \{ keep: '24h' \}/],
    [{ idempotency: { kept: 1 } as never }, /no option "kept" of "idempotency"/],
    [{ idempotency: { required: 'yes' as never } }, /"idempotency.required" .* must be true or false/],
    [{ idempotency: { principal: 'ann' as never } }, /"idempotency.principal" .* must be a function/],
    ...['24', 'x', '0h', '401d', 0, NaN, true, -1].map((keep): [Partial<ResourceOptions>, RegExp] =>
      [{ idempotency: { keep: keep as string } }, /"idempotency.keep" .* must be a number of milliseconds, or a text/]),
    [{ idempotency: {}, store: withoutTransactions as Store }, /needs a store with transactions that keeps requests/],
    [{ idempotency: {}, store: withoutRequests as Store }, /needs a store with transactions that keeps requests/],
    [{ idempotency: {}, authorize: () => true }, /needs "principal", because "authorize", "scope" or "roles" tell users apart/],
    [{ idempotency: {}, scope: () => ({}) }, /needs "principal"/]
  ]
  for (const [options, message] of cases) {
    await t.rejects(build(t, { name: 'posts', ...options }), { message })
  }
  for (const keep of ['30m', '7d', '10s', '400d', 1000]) {
    await build(t, { name: 'posts', idempotency: { keep } })
  }
})
