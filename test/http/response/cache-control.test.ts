import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions } from '../../../lib/index.js'
import { build, draft, post } from '../../support/helper.js'

const PRIVATE = 'private, no-cache'
const accepts = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
type Client = keyof typeof accepts

async function seeded (t: Test, options: Omit<ResourceOptions, 'name'> = {},
  before: (app: FastifyInstance) => void = () => {}): Promise<FastifyInstance> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of ['T', 'U']) store.create({ title }, {})
  return await build(t, { name: 'posts', attributes: post, store, ...options }, { before })
}

/** Checks the status and the Cache-Control of an answer, and that it sends nosniff. */
async function isCached (t: Test, app: FastifyInstance, client: Client, request: InjectOptions, status: number,
  value: string, label = ''): Promise<void> {
  const { statusCode, headers } = await app.inject({
    ...request, headers: { accept: accepts[client], ...request.headers }
  })
  t.strictSame([statusCode, headers['cache-control'], headers['x-content-type-options']], [status, value, 'nosniff'],
    `${label} ${client}: ${request.method ?? 'GET'} ${String(request.url)}`)
}

const created = { post: { title: 'New' } }
const form = (payload: string): InjectOptions => ({
  method: 'POST', url: '/posts', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload
})

t.test('every answer is private, whatever its status', async (t) => {
  const failing = {
    show: ({ id, proceed }: { id: unknown, proceed: () => unknown }) => {
      if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  for (const client of ['xml', 'json', 'html'] as const) {
    const isPage = client === 'html'
    const cases: Array<[status: number, request: InjectOptions]> = [
      [200, { url: '/posts' }],
      [200, { url: '/posts?limit=1' }],
      [200, { url: '/posts/1' }],
      [200, { method: 'HEAD', url: '/posts' }],
      [200, { method: 'HEAD', url: '/posts/1' }],
      [304, { url: '/posts/1', headers: { 'if-none-match': '*' } }],
      [200, { url: '/posts.xsd' }],
      [405, { method: 'PUT', url: '/posts.xsd' }],
      [204, { method: 'OPTIONS', url: '/posts.xsd' }],
      [isPage ? 303 : 201, { method: 'POST', url: '/posts', payload: created }],
      [isPage ? 303 : 200, { method: 'PUT', url: '/posts', payload: { id: 1, post: { rating: 1 } } }],
      [isPage ? 303 : 200, form('_method=PUT&id=1&post[rating]=2')],
      [isPage ? 303 : 204, { method: 'DELETE', url: '/posts?id=3' }],
      [204, { method: 'OPTIONS', url: '/posts' }],
      [204, { method: 'OPTIONS', url: '/posts/1' }],
      [400, { url: '/posts?nope' }],
      [400, { method: 'POST', url: '/posts', headers: { 'content-type': 'application/json' }, payload: '{' }],
      [401, { url: '/posts/1', headers: { 'x-refuse': '1' } }],
      [200, { url: '/posts/1', headers: { 'x-answer': '1' } }],
      [403, { method: 'DELETE', url: '/posts?id=1', headers: { 'sec-fetch-site': 'cross-site' } }],
      [404, { url: '/posts/99' }],
      [404, { method: 'HEAD', url: '/posts/99' }],
      [405, { method: 'DELETE', url: '/posts/1' }],
      [406, { url: '/posts?format=csv' }],
      [409, { method: 'POST', url: '/posts', payload: { post: { title: 'U' } } }],
      [412, { method: 'PUT', url: '/posts', headers: { 'if-match': '"9.json"' }, payload: { id: 1, post: {} } }],
      [413, { method: 'POST', url: '/posts', payload: { post: { body: 'x'.repeat(1_100_000) } } }],
      [415, { method: 'POST', url: '/posts', headers: { 'content-type': 'a/b' }, payload: 'x' }],
      [422, { method: 'POST', url: '/posts', payload: { post: {} } }],
      [422, form('post[title]=')],
      [500, { url: '/posts/2' }]
    ]
    const app = await seeded(t, { xsd: true, actions: failing }, (app) => {
      app.addHook('onRequest', async ({ headers }, reply) => {
        if (headers['x-refuse'] !== undefined) throw Object.assign(new Error('who are you?'), { statusCode: 401 })
        if (headers['x-answer'] !== undefined) return await reply.send('mine')
      })
    })
    for (const [status, request] of cases) await isCached(t, app, client, request, status, PRIVATE)
    const [, sheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec((await app.inject('/posts.html')).body) ?? []
    await isCached(t, app, client, { url: sheet }, 200, 'public, max-age=31536000, immutable')
    await isCached(t, app, client, { url: sheet, headers: { 'x-refuse': '1' } }, 401, PRIVATE)
  }
})

t.test('the app\'s own Cache-Control stays, but an error discards an earlier one that is not no-store', async (t) => {
  const own = 'public, max-age=60'
  const byHook = (value: string, name: 'onRequest' | 'preHandler' | 'onSend') => (app: FastifyInstance): void => {
    app.addHook(name, async (_request: unknown, reply: { header: (name: string, value: string) => unknown }) => {
      reply.header('Cache-Control', value)
    })
  }
  const handlers = {
    show: ({ id, reply, proceed }: {
      id: unknown, reply: { header: (name: string, value: string) => unknown }, proceed: () => unknown
    }) => {
      reply.header('cache-control', own); if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  const apps: Array<[name: string, app: FastifyInstance, found: string, failed: string]> = [
    ['a hook before the answer', await seeded(t, {}, byHook(own, 'preHandler')), own, PRIVATE],
    ['a hook before everything', await seeded(t, {}, byHook(own, 'onRequest')), own, PRIVATE],
    ['a hook before everything, and an option', await seeded(t, { cacheControl: 'max-age=5' },
      byHook(own, 'onRequest')), own, PRIVATE],
    ['a hook that forbids to store', await seeded(t, {}, byHook('No-Store', 'onRequest')), 'No-Store', 'No-Store'],
    ['a hook that sees all that is sent', await seeded(t, {}, byHook(own, 'onSend')), own, own],
    ['a hook of the resource that sees all that is sent',
      await seeded(t, { hooks: { onSend: async (_request, reply) => { reply.header('cache-control', own) } } }), own,
      own],
    ['a handler', await seeded(t, { actions: handlers }), own, PRIVATE]
  ]
  for (const [name, app, found, failed] of apps) {
    for (const client of ['xml', 'json', 'html'] as const) {
      await isCached(t, app, client, { url: '/posts/1' }, 200, found, name)
      await isCached(t, app, client, { url: '/posts/1', headers: { 'if-none-match': '*' } }, 304, found, name)
      await isCached(t, app, client, { url: '/posts/99' }, 404, name.startsWith('a handler') ? PRIVATE : failed, name)
    }
  }
  await isCached(t, apps.at(-1)?.[1] as FastifyInstance, 'json', { url: '/posts/2' }, 500, PRIVATE, 'what has failed')
  const app = await seeded(t, {}, (app) => {
    app.addHook('onRequest', async () => {
      throw Object.assign(new Error('gone'), { statusCode: 410, headers: { 'cache-control': own } })
    })
  })
  await isCached(t, app, 'json', { url: '/posts/1' }, 410, own, 'an error that says it')
})

t.test('an answer that could not be sent has the header of an error', async (t) => {
  const app = await seeded(t,
    {
      cacheControl: 'public',
      hooks: {
        onSend: async (_request, reply) => {
          if (reply.statusCode < 400) {
            throw new Error('no')
          }
        }
      }
    })
  for (const client of ['xml', 'json', 'html'] as const) await isCached(t, app, client, { url: '/posts' }, 500, PRIVATE)
})

t.test('the option cacheControl overrides the header, for all actions or for each', async (t) => {
  const month = 'public, max-age=2592000'
  for (const client of ['xml', 'json', 'html'] as const) {
    const tag = { 'if-none-match': '*' }
    const all = await seeded(t, { cacheControl: month, xsd: true, formPages: true })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [200, { url: '/posts/1' }, month],
      [200, { method: 'HEAD', url: '/posts/1' }, month], [304, { url: '/posts/1', headers: tag }, month],
      [200, { url: '/posts/new' }, month], [200, { url: '/posts/1/edit' }, month],
      [client === 'html' ? 303 : 201, { method: 'POST', url: '/posts', payload: created }, month],
      [404, { url: '/posts/99' }, PRIVATE], [400, { url: '/posts?nope' }, PRIVATE],
      [412, { method: 'DELETE', url: '/posts?id=1', headers: { 'if-match': '"9.json"' } }, PRIVATE],
      [405, { method: 'PUT', url: '/posts/1' }, PRIVATE], [204, { method: 'OPTIONS', url: '/posts' }, PRIVATE],
      [200, { url: '/posts.xsd' }, PRIVATE]
    ] as const) await isCached(t, all, client, request, status, value, 'for all')

    const some = await draft(t, (map) => map.resources('posts',
      {
        attributes: post,
        cacheControl: { list: month, top: 'no-store', publish: 'no-cache', delete: undefined as never }
      }, (posts) => posts
        .collection.get('top', ({ query }) => { if (query.no !== undefined) throw new Error('no'); return [] })
        .collection.get('bottom', () => [])
        .member.post('publish', ({ id, attributes, store, guard, signal }) =>
          store.update(id, { published: true, ...attributes }, guard, { signal }))))
    await some.inject({ method: 'POST', url: '/posts', payload: created })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [404, { url: '/posts/9' }, PRIVATE], [200, { url: '/posts/1' }, PRIVATE],
      [200, { url: '/posts/top' }, 'no-store'], [200, { url: '/posts/bottom' }, PRIVATE],
      [400, { url: '/posts/top?no=1' }, 'no-store'],
      [client === 'html' ? 303 : 200, { method: 'POST', url: '/posts/1/publish' }, 'no-cache'],
      [404, { method: 'POST', url: '/posts/9/publish' }, PRIVATE]
    ] as const) await isCached(t, some, client, request, status, value, 'for some')
  }
})

t.test('an answer of the app\'s hook does not get the header of the action', async (t) => {
  const month = 'public, max-age=2592000'
  const hook = (app: FastifyInstance): void => {
    app.addHook('preHandler', async ({ headers }, reply) => {
      if (headers['x-redirect'] !== undefined) return await reply.redirect('/login')
      if (headers['x-answer'] !== undefined) return await reply.send('mine')
    })
  }
  const handled =
    { show: ({ reply }: { reply: { send: (body: string) => unknown } }) => { reply.send('own') } } as never
  const app = await seeded(t, { cacheControl: month, actions: handled }, hook)
  const unstored = await seeded(t, { cacheControl: 'no-store' }, hook)
  for (const client of ['xml', 'json', 'html'] as const) {
    for (const url of ['/posts', '/posts/1']) {
      await isCached(t, app, client, { url }, 200, month)
      for (const [status, header] of [[302, 'x-redirect'], [200, 'x-answer']] as const) {
        await isCached(t, app, client, { url, headers: { [header]: '1' } }, status, PRIVATE)
        await isCached(t, unstored, client, { url, headers: { [header]: '1' } }, status, 'no-store')
      }
    }
  }
})

t.test('an invalid cacheControl throws at registration', async (t) => {
  const cases: Array<[cacheControl: unknown, says: string | RegExp]> = [
    [60,
      'must be directives such as \'public, max-age=60\', or directives by action such as ' +
        '{ list: \'public, max-age=60\' }, not 60'],
    [null, /by action such as .* not null/],
    [false, /by action such as .* not false/],
    [['public'], /by action such as .* not public/],
    ...['', ' ', 'public max-age=60', 'max-age = 60', 'public,', 'public\r\nset-cookie: a=b', 'öffentlich',
      'a="b'].flatMap((value): Array<[unknown, string | RegExp]> => [
      [value, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`],
      [{ list: value }, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`]
    ]),
    [{ list: 60 }, /separated by commas, not 60\.$/],
    [{ lists: 'public' }, 'has "lists", which is not one of list, show, create, update, delete; did you mean "list"?'],
    [{ edit: 'public' }, 'has "edit", which is not one of list, show, create, update, delete']
  ]
  for (const [cacheControl, says] of cases) {
    const message = typeof says === 'string'
      ? `Option "cacheControl" of resource "posts" ${says}${says.endsWith('?') ? '' : '.'}`
      : says
    const refused = build(t, { name: 'posts', cacheControl: cacheControl as string })
    await t.rejects(refused, { code: 'FST_RESOURCES_INVALID_OPTION', message }, JSON.stringify(cacheControl))
  }
  for (const cacheControl of [undefined, {}, 'no-store',
    'max-age=60, private="set-cookie, x", stale-while-revalidate=5 , immutable',
    { list: 'public', show: undefined as never }]) {
    await t.resolves(build(t, { name: 'posts', cacheControl } as ResourceOptions), JSON.stringify(cacheControl))
  }
})
