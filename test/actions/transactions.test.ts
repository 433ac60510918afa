import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { InvalidError, memoryStores, type Store } from '../../lib/index.js'
import { attributes, openPosts, type Post, shortFaults } from '../support/many-rows.js'
import { memoryStore } from '../../lib/index.js'
import { draft } from '../support/helper.js'
import { type AnyContext, type AnyHandler, mapAction } from '../support/map-action.js'

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
    list: () => []
  })
  t.equal((await send(app, 'POST', '/posts/send', { id: [1, 2] })).status, 500)
  t.equal((await send(app, 'POST', '/posts/list', { id: [1, 2] })).status, 500)
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
