import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type AuthorizeContext, InvalidError, memoryStore, memoryStores, type ResourceOptions, type Store
} from '../../lib/index.js'
import { attributes, openPosts, type OpenPosts, type Post, shortFaults } from '../support/many-rows.js'
import { build, draft } from '../support/helper.js'
import { type AnyContext, type AnyHandler, mapAction } from '../support/map-action.js'
import { openKeyed, testIdempotency } from '../support/idempotency.js'

const entryAttributes = {
  type: 'object', properties: { post: { type: 'integer' }, what: { type: 'string' } }
} as const

/** Opens posts and entries in one database, with actions of a post. */
async function openWithActions (
  t: Test,
  actions: Readonly<Record<string, AnyHandler>>,
  options: object = {}
): Promise<FastifyInstance> {
  const stores = memoryStores()
  const app = await draft(t, (map) => map
    .resources('posts', { attributes, stores, unique: ['title'], writes: 'both', ...options }, (posts) => {
      for (const [name, handler] of Object.entries(actions)) {
        mapAction(posts, 'member', 'post', name, { many: true }, handler)
      }
    })
    .resources('entries', { attributes: entryAttributes, stores, scope: () => ({ what: 'scoped' }) }))
  for (const title of ['A', 'B', 'C']) await send(app, 'POST', '/posts', { post: { title } })
  return app
}

async function send (app: FastifyInstance, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) {
  const answer = await app.inject({ method, url, headers: { accept: 'application/json' }, ...(payload && { payload }) })
  return { status: answer.statusCode, json: answer.body === '' ? undefined : answer.json() }
}

const published = async (app: FastifyInstance): Promise<string> =>
  (await send(app, 'GET', '/posts')).json.posts
    .filter(({ published }: Post) => published).map(({ title }: Post) => title).join()

t.test('a handler writes to several rows in one transaction, or to none', async (t) => {
  const cases: ReadonlyArray<readonly [what: string, handler: AnyHandler, status: number, published: string]> = [
    ['writes both', ({ transaction, store, id, guard }) => transaction(async (context) => {
      await store.update(2, { published: true }, guard, context)
      return store.update(id, { published: true }, guard, context)
    }), 200, 'A,B'],
    ['writes none if another finds no row', ({ transaction, store, id, guard }) => transaction(async (context) => {
      await store.update(id, { published: true }, guard, context)
      return store.update(99, { published: true }, guard, context)
    }), 404, ''],
    ['writes none even if it catches that', ({ transaction, store, id, guard }) => transaction(async (context) => {
      await store.update(id, { published: true }, guard, context)
      await Promise.resolve(store.update(99, {}, guard, context)).catch(() => {})
      return store.get(id, {}, context)
    }), 404, ''],
    ['writes none if it throws', ({ transaction, store, id, guard }) => transaction(async (context) => {
      await store.update(id, { published: true }, guard, context)
      throw new InvalidError({ title: ['is not finished'] })
    }), 422, ''],
    ['is an error if a call leaves the context out', ({ transaction, store, id, guard, signal }) =>
      transaction(async (context) => {
        await store.update(id, { published: true }, guard, context)
        return store.get(id, {}, { signal })
      }), 500, '']
  ]
  for (const [what, handler, status, expected] of cases) {
    await t.test(what, async (t) => {
      const app = await openWithActions(t, { publish: handler })
      t.equal((await send(app, 'POST', '/posts/1/publish', {})).status, status)
      t.equal(await published(app), expected)
    })
  }
})

t.test('row() and proceed() take part in the transaction of a handler', async (t) => {
  const handler = ({ transaction, row, proceed, stores, action }: AnyContext) => transaction(async (context) => {
    if (action === 'update') await row()
    const outcome = await proceed()
    const written = 'row' in outcome ? outcome.row : undefined
    await stores.entries?.create({ post: written?.id }, await context.scopeOf('entries'), context)
    if (written?.attributes.title === 'Z') throw new InvalidError({ title: ['is refused'] })
    return outcome
  })
  const many = { handler, many: true }
  const app = await openWithActions(t, {}, { actions: { create: many, update: many } })
  const cases: ReadonlyArray<readonly [method: 'POST' | 'PUT', payload: object, status: number]> = [
    ['POST', { post: { title: 'D' } }, 201],
    ['POST', { post: { title: 'Z' } }, 422],
    ['PUT', { id: 1, post: { title: 'Z' } }, 422],
    ['PUT', { posts: [{ id: 1, title: 'E' }, { id: 2, title: 'F' }] }, 200],
    ['PUT', { posts: [{ id: 1, title: 'G' }, { id: 2, title: 'Z' }] }, 422]
  ]
  for (const [method, payload, status] of cases) {
    const sent = await send(app, method, '/posts', payload)
    t.equal(sent.status, status, JSON.stringify([payload, sent.json]))
  }
  const { json: { posts } } = await send(app, 'GET', '/posts')
  t.strictSame(posts.map(({ title }: Post) => title), ['E', 'F', 'C', 'D'])
  const { json: { entries } } = await send(app, 'GET', '/entries')
  t.equal(entries.length, 3 + 1 + 2)
})

t.test('a handler finds the stores and the scopes of other resources', async (t) => {
  const found: unknown[] = []
  const app = await openWithActions(t, {
    publish: ({ stores, transaction }: AnyContext) => transaction(async ({ scopeOf }) => {
      found.push(Object.keys(stores).sort(), await scopeOf('entries'))
      await t.rejects(scopeOf('nothing'), { code: 'FST_RESOURCES_TRANSACTION' })
      return undefined
    })
  })
  t.equal((await send(app, 'POST', '/posts/1/publish', {})).status, 204)
  t.strictSame(found, [['entries', 'posts'], { what: 'scoped' }])
})

t.test('a handler without a row or a store with transactions has none', async (t) => {
  const { transaction: _, ...store } = memoryStore()
  const app = await draft(t, (map) => map.resources('posts', { attributes, store }, (posts) => {
    mapAction(posts, 'collection', 'post', 'row', {}, ({ row }) => row())
    mapAction(posts, 'collection', 'post', 'write', {}, async ({ transaction, reply }) =>
      reply.send(await transaction(() => {}).catch(({ message }: Error) => message)))
  }))
  t.match(await send(app, 'POST', '/posts/row', {}), { status: 422, json: { errors: { id: ['must be given'] } } })
  t.match((await app.inject({ method: 'POST', url: '/posts/write' })).body, 'the store of "posts" has no transactions')
})

t.test('a function that waits for the commit is called after it, and never otherwise', async (t) => {
  const sent: number[] = []
  const app = await openWithActions(t, {
    publish: ({ transaction, store, id, guard }: AnyContext) => transaction(async (context) => {
      context.afterCommit(() => { sent.push(id) })
      return store.update(id, { published: true }, guard, context)
    })
  })
  t.equal((await send(app, 'POST', '/posts/publish', { id: [1, 99] })).status, 404)
  t.equal((await send(app, 'POST', '/posts/publish?dry_run=true', { id: [1, 2] })).status, 200)
  t.strictSame(sent, [])
  t.equal((await send(app, 'POST', '/posts/publish', { id: [1, 2] })).status, 200)
  t.strictSame(sent, [1, 2])
})

t.test('an action of a row is performed on several rows, all or none', async (t) => {
  const publish: AnyHandler = ({ store, id, guard, openTransaction, signal }) =>
    store.update(id, { published: true }, guard, { openTransaction, signal })
  const app = await openWithActions(t, { publish })
  const missing = await send(app, 'POST', '/posts/publish', { id: [1, 99] })
  t.strictSame([missing.status, shortFaults(missing.json)], [404, { 1: '404' }])
  t.equal(await published(app), '')
  const done = await send(app, 'POST', '/posts/publish', { id: [3, 1] })
  t.strictSame([done.status, done.json.posts.map(({ title }: Post) => title)], [200, ['C', 'A']])
  t.equal(await published(app), 'A,C')
  t.equal((await send(app, 'POST', '/posts/publish', { id: 1 })).status, 422, 'one id is no list')
  t.equal((await send(app, 'POST', '/posts/publish', {})).status, 422)
  t.equal((await send(app, 'POST', '/posts/1/publish', {})).status, 200, 'the action of one row stays')
  const browser = await app.inject({
    method: 'POST',
    url: '/posts/publish',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'id[]=1&id[]=2'
  })
  t.strictSame([browser.statusCode, browser.headers.location], [303, '/posts'])
  const pins = await draft(t, (map) => map.resources('posts', { attributes, stores: memoryStores() }, (posts) => {
    for (const verb of ['put', 'delete'] as const) {
      mapAction(posts, 'member', verb, `${verb}Pin`, { many: true, path: 'pin' }, ({ row }) => row())
    }
  }))
  await send(pins, 'POST', '/posts', { post: { title: 'A' } })
  for (const [query, status] of [['', 303], ['?dry_run=false', 303], ['?dry_run=true', 400], ['?x=1', 400]] as const) {
    const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    const { statusCode, body } = await pins.inject({
      method: 'POST', url: `/posts/pin${query}`, headers: form, payload: '_method=PUT&id[]=1'
    })
    t.equal(statusCode, status, query)
    t.equal(body.includes('is not answered by a page; ask for another format'), query === '?dry_run=true')
  }
})

t.test('a write that finds no row ends a request with many rows, whatever the handler makes of it', async (t) => {
  const app = await openWithActions(t, {
    publish: ({ transaction, stores, id, guard }: AnyContext) => transaction(async (context) => {
      await Promise.resolve(stores.posts?.update(id, { published: true }, guard, context)).catch(() => {})
    })
  })
  const { status, json } = await send(app, 'POST', '/posts/publish', { id: [1, 99, 2] })
  t.strictSame([status, shortFaults(json)], [404, { 1: '404' }])
  t.equal(await published(app), '')
})

t.test('a handler sends no answer for one of many rows, and its headers are not those of all', async (t) => {
  const app = await openWithActions(t, {
    send: async ({ reply, store, id, guard, openTransaction, signal }) => {
      await store.update(id, { published: true }, guard, { openTransaction, signal })
      return reply.send({ ok: true })
    },
    tag: ({ reply, store, id, guard, openTransaction, signal }) => {
      reply.header('etag', '"x"').header('location', '/x').header('x-seen', '1')
      return store.update(id, { published: true }, guard, { openTransaction, signal })
    },
    list: () => [],
    take: async ({ reply, store, id, guard, openTransaction, signal }) => {
      await store.update(id, { published: true }, guard, { openTransaction, signal })
      reply.hijack().raw.end('sent')
    }
  })
  t.equal((await send(app, 'POST', '/posts/send', { id: [1, 2] })).status, 500)
  t.equal((await send(app, 'POST', '/posts/list', { id: [1, 2] })).status, 500)
  t.equal((await app.inject({ method: 'POST', url: '/posts/take', payload: { id: [1, 2] } })).body, 'sent')
  t.equal(await published(app), '')
  const { statusCode, headers } = await app.inject({ method: 'POST', url: '/posts/tag', payload: { id: [1] } })
  t.strictSame([statusCode, headers.etag, headers.location, headers['x-seen']], [200, undefined, undefined, '1'])
})

t.test('a function after the commit may throw anything', async (t) => {
  const warnings: Error[] = []
  const listen = (warning: Error): void => { warnings.push(warning) }
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const app = await openWithActions(t, {
    publish: ({ transaction, store, id, guard }: AnyContext) => transaction(async (context) => {
      context.afterCommit(() => { throw Object.create(null) })
      context.afterCommit(() => Promise.reject(new Error('no mail')))
      return store.update(id, { published: true }, guard, context)
    })
  })
  t.equal((await send(app, 'POST', '/posts/1/publish', {})).status, 200)
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => { setImmediate(resolve) })
  const message = 'a function of afterCommit has failed'
  t.strictSame(warnings.map(({ message }) => message), [message, message])
})

t.test('a handler in place of a default action takes many rows only if it says so', async (t) => {
  const calls: unknown[] = []
  const handler: AnyHandler = ({ proceed, attributes }) => {
    calls.push(attributes.title)
    return proceed()
  }
  const without = await openWithActions(t, {}, { actions: { create: { handler } } })
  t.equal((await send(without, 'POST', '/posts', { posts: [{ title: 'D' }] })).status, 400)
  t.match(await send(without, 'POST', '/posts?dry_run=true', { post: { title: 'D' } }),
    { status: 400, json: { detail: /cannot undo what the app does when it handles "create" itself/ } })
  const app = await openWithActions(t, {}, { actions: { create: { handler, many: true } } })
  calls.length = 0
  const created = await send(app, 'POST', '/posts', { posts: [{ title: 'D' }, { title: 'E' }] })
  t.strictSame([created.status, created.json.posts.length, calls], [201, 2, ['D', 'E']])
  calls.length = 0
  const invalid = await send(app, 'POST', '/posts', { posts: [{ title: 'F' }, { title: '' }] })
  t.strictSame([invalid.status, calls], [422, []], 'it is not called for a request that cannot succeed')
  const refused = await send(app, 'POST', '/posts', { posts: [{ title: 'F' }, { title: 'A' }] })
  t.strictSame([refused.status, shortFaults(refused.json)], [409, { 1: 'title' }])
  t.equal((await send(app, 'GET', '/posts')).json.posts.length, 5)
})

t.test('many rows are declared where they are possible', async (t) => {
  const list = () => []
  const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
    [{ actions: { list: { handler: list, many: true } } }, /"many" at "list"/],
    [{ actions: { create: { many: true } } }, /must be a function/],
    [{ actions: { create: { handler: list, many: 1 } } }, /must be a boolean/],
    [{ maxRows: -1 }, /maxRows/]
  ]
  for (const [options, message] of cases) await t.rejects(openWithActions(t, {}, options), { message })
  await t.rejects(draft(t, (map) => map.resources('posts', { attributes }, (posts) => {
    mapAction(posts, 'collection', 'post', 'publish', { many: true }, () => undefined)
  })), { message: /"many".*belongs to an action of a row/ })
})

t.test('a write waits for an open transaction of the memory store', async (t) => {
  const store = memoryStore({ unique: ['title'] }) as Store
  const { send, stored } = await openPosts(t, async () => store)
  let finish = (): void => {}
  const context = { signal: new AbortController().signal }
  const waiting = new Promise<void>((resolve) => { finish = resolve })
  const transaction = store.transaction?.(async (context) => {
    await store.update(1, { title: 'A2' }, { version: undefined, scope: {} }, context)
    await waiting
  }, context)
  let isCreated = false
  const created = send('POST', '{"post":{"title":"D"}}').finally(() => { isCreated = true })
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => { setImmediate(resolve) })
  const listed = await stored()
  t.equal(listed.map(({ title }) => title).join(), 'A,B,C', 'reads see what is committed')
  t.notOk(isCreated)
  finish()
  await transaction
  t.equal((await created).status, 201)
  t.equal((await stored()).map(({ title }) => title).join(), 'A2,B,C,D')
})

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

t.test('wrong options are refused at the start', async (t) => {
  const { transaction, ...withoutTransactions } = memoryStore()
  const { requests, ...withoutRequests } = memoryStore()
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions>, message: RegExp]> = [
    [{ idempotency: true as never }, /"idempotency" of resource "posts" must be an object such as \{ keep: '24h' \}/],
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
})
