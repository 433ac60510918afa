import fastify, {
  type FastifyInstance, type FastifyReply, type FastifyRequest, type InjectOptions,
  type LightMyRequestResponse
} from 'fastify'
import t, { type Test } from 'tap'
import { draw, type Hooks, type Mapper, memoryStore, type ResourceOptions } from '../../lib/index.js'
import { build, types } from '../support/helper.js'
import { type AnyContext, type AnyHandler, mapAction } from '../support/map-action.js'
import { recordingStore } from '../support/stores/recording-store.js'

const form = 'application/x-www-form-urlencoded'
const SECRET = 'hush-hush'
const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, rating: { type: ['integer', 'null'] } }
} as const
const problems = { xml: types.xml, html: types.html, json: types.problem } as const
const FORMATS = ['xml', 'html', 'json'] as const

async function drawn (t: Test, declare: (map: Mapper) => unknown,
  { before, logged }: { before?: (app: FastifyInstance) => void, logged?: string[] } = {}): Promise<FastifyInstance> {
  const app = fastify(logged === undefined
    ? {}
    : { logger: { stream: { write (line: string) { logged.push(line) } } } })
  t.teardown(() => app.close())
  before?.(app)
  app.register(draw(declare))
  await app.ready()
  return app
}

type Done = (error?: Error | null, payload?: unknown) => void

/** Returns hooks that note their run: each name once, some with a callback and some with a promise. */
function noting (ran: string[], who: string): Hooks {
  const note = (name: string): void => { ran.push(`${who} ${name}`) }
  return {
    onRequest (_request, _reply, done) { note('onRequest'); done() },
    preParsing (_request, _reply, payload, done) { note('preParsing'); done(null, payload) },
    async preValidation () { note('preValidation') },
    preHandler: [async () => { note('preHandler') },
      (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => { note('preHandler again'); done() }],
    async preSerialization (_request, _reply, payload) { note('preSerialization'); return payload },
    onSend (_request, _reply, payload, done) { note('onSend'); done(null, payload) },
    async onResponse () { note('onResponse') },
    async onError () { note('onError') },
    async onTimeout () { note('onTimeout') },
    async onRequestAbort (_request) { note('onRequestAbort') }
  }
}

/**
 * Returns the hooks that an action may have. preParsing is missing, since a form's action is known only from its body.
 */
function notingAction (ran: string[], who: string): Hooks {
  const { preParsing: _, ...hooks } = noting(ran, who)
  return hooks
}

/** Sends a request and returns the hooks that ran. */
async function runsOf (app: FastifyInstance, ran: string[],
  request: InjectOptions): Promise<{ readonly res: LightMyRequestResponse, readonly ran: string[] }> {
  ran.length = 0
  const res = await app.inject(request)
  // onResponse runs after the answer has been sent.
  await new Promise((resolve) => setImmediate(resolve))
  return { res, ran: [...ran] }
}

t.test('hooks run in Fastify\'s order: of the app, of scopes from the outermost, of the resource, of the action',
  async t => {
    const ran: string[] = []
    const app = await drawn(t, (map) => map.scope({ hooks: noting(ran, 'outer') },
      (map) => map.scope({ hooks: noting(ran, 'inner') }, (map) => {
        map.resources('posts', {
          attributes, hooks: noting(ran, 'resource'), actionHooks: { create: notingAction(ran, 'create') }
        })
      })), { before: (app) => { app.addHook('onRequest', async () => { ran.push('app onRequest') }) } })
    const order = (name: string, who = ['outer', 'inner', 'resource', 'create']): string[] =>
      who.map((who) => `${who} ${name}`)
    const { res, ran: seen } = await runsOf(app, ran,
      { method: 'POST', url: '/posts', payload: { post: { title: 'x' } } })
    t.equal(res.statusCode, 201)
    t.strictSame(seen, ['app onRequest', ...order('onRequest'), ...order('preParsing', ['outer', 'inner', 'resource']),
      ...order('preValidation'), ...['outer', 'inner', 'resource',
        'create'].flatMap((who) => [`${who} preHandler`, `${who} preHandler again`]), ...order('preSerialization'),
      ...order('onSend'), ...order('onResponse')])
    const failed = await runsOf(app, ran, { method: 'POST', url: '/posts', payload: { post: { title: '' } } })
    t.equal(failed.res.statusCode, 422)
    t.strictSame(failed.ran.filter((name) => name.endsWith('onError')), order('onError'))
  })

/** Builds an app in which the hooks of every action note their run. */
async function noted (t: Test, ran: string[], writes: NonNullable<ResourceOptions['writes']> = 'both'): Promise<
  FastifyInstance> {
  const of = (who: string): Hooks => {
    const run = async (): Promise<void> => { ran.push(who) }
    return { onRequest: run, preValidation: run, preHandler: run, onSend: run }
  }
  return drawn(t, (map) => {
    map.resources('posts', {
      attributes,
      writes,
      formPages: true,
      store: recordingStore([{ title: 'T' }, { title: 'U' }]),
      actionHooks: {
        list: of('list'),
        show: of('show'),
        create: of('create'),
        update: of('update'),
        delete: of('delete'),
        new: of('new'),
        edit: of('edit')
      }
    }, (posts) => {
      for (const stand of ['collection', 'member'] as const) {
        for (const verb of ['get', 'post', 'put', 'patch', 'delete'] as const) {
          mapAction(posts, stand, verb, 'same', { hooks: of(`same ${verb}`) }, () => [])
          mapAction(posts, stand, verb, `${verb}It`, { path: 'shared', hooks: of(`${verb}It`) }, () => [])
        }
        mapAction(posts, stand, 'put', 'putOnly', { path: 'few', hooks: of('putOnly') }, () => [])
        mapAction(posts, stand, 'delete', 'deleteOnly', { path: 'few', hooks: of('deleteOnly') }, () => [])
      }
    })
    map.resources('comments', { attributes })
  }, { before: (app) => { app.get('/mine', () => 'mine') } })
}

/** Returns requests with the action that each reaches. */
function asking (): Array<[request: InjectOptions, action: string]> {
  const json = { post: { title: 'x' } }
  const override = (url: string, method: string | undefined,
    id?: number): InjectOptions => ({
    method: 'POST',
    url,
    headers: { 'content-type': form },
    payload: `${method === undefined ? '' : `_method=${method}&`}${id === undefined ? '' : `id=${id}&`}post[title]=x`
  })
  const own = ['/posts', '/posts/1'].flatMap((base): Array<[InjectOptions, string]> => [
    ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method): Array<[InjectOptions, string]> => [
      [{ method, url: `${base}/same.json`, ...(method !== 'GET' && { payload: json }) },
        `same ${method.toLowerCase()}`],
      [{ method, url: `${base}/shared.json`, ...(method !== 'GET' && { payload: json }) }, `${method.toLowerCase()}It`]
    ]),
    [override(`${base}/same`, undefined), 'same post'],
    [override(`${base}/same`, 'PUT'), 'same put'],
    [override(`${base}/same`, 'delete'), 'same delete'],
    [override(`${base}/shared.html`, undefined), 'postIt'],
    [override(`${base}/shared`, 'put'), 'putIt'],
    [override(`${base}/shared.xml`, 'DELETE'), 'deleteIt'],
    [override(`${base}/few`, 'PUT'), 'putOnly'],
    [override(`${base}/few`, 'DELETE'), 'deleteOnly'],
    [{ method: 'PUT', url: `${base}/few`, payload: json }, 'putOnly'],
    [{ method: 'DELETE', url: `${base}/few` }, 'deleteOnly'],
    [{ method: 'HEAD', url: `${base}/shared` }, 'getIt']
  ])
  return [
    ...['', '.xml', '.html', '.json', '?format=json'].flatMap((form): Array<[InjectOptions, string]> => [
      [{ url: `/posts${form}` }, 'list'],
      [{ method: 'HEAD', url: `/posts${form}` }, 'list'],
      [{ url: `/posts/1${form}` }, 'show'],
      [{ url: `/posts/new${form}` }, 'new'],
      [{ url: `/posts/1/edit${form}` }, 'edit'],
      [{ method: 'POST', url: `/posts${form}`, payload: json }, 'create'],
      [{ method: 'PUT', url: `/posts${form}`, payload: { id: 1, ...json } }, 'update'],
      [{ method: 'PUT', url: `/posts/1${form}`, payload: json }, 'update'],
      [{ method: 'PATCH', url: `/posts/1${form}`, payload: json }, 'update'],
      [override(`/posts${form}`, undefined), 'create'],
      [override(`/posts${form}`, 'PUT', 1), 'update'],
      [override(`/posts/1${form}`, 'pUt'), 'update'],
      [override(`/posts${form}`, 'DELETE', 9), 'delete'],
      [override(`/posts/9${form}`, 'delete'), 'delete'],
      [{ method: 'DELETE', url: `/posts${form}`, payload: { id: 9 } }, 'delete'],
      [{ method: 'DELETE', url: `/posts/9${form}` }, 'delete']
    ]),
    [{ method: 'DELETE', url: '/posts?id=9' }, 'delete'],
    [{
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/xml' },
      payload: '<post><title>x</title></post>'
    }, 'create'],
    ...own
  ]
}

t.test('the hooks of an action run for it alone, however it is requested', async t => {
  const ran: string[] = []
  const app = await noted(t, ran)
  const wrong: unknown[] = []
  const cases = asking()
  for (const [request, action] of cases) {
    const { res, ran: seen } = await runsOf(app, ran, request)
    const isRight = res.statusCode < 500 && res.statusCode !== 405 &&
      JSON.stringify(seen) === JSON.stringify([action, action, action, action])
    if (!isRight) wrong.push([request, action, seen, res.statusCode, res.body.slice(0, 200)])
  }
  t.strictSame(wrong, [], `${cases.length} requests`)
})

t.test('no hook of a resource runs for another one, or for the app\'s own routes', async t => {
  const ran: string[] = []
  const app = await drawn(t, (map) => {
    map.resources('posts', { attributes, store: recordingStore([{ title: 'T' }]), hooks: noting(ran, 'posts') },
      (posts) => { posts.resources('comments', { attributes }) })
    map.scope({ hooks: noting(ran, 'scope') }, (map) => map.resources('notes', { attributes }))
    map.resources('users', { attributes })
  }, { before: (app) => { app.get('/mine', () => 'mine') } })
  for (const url of ['/users', '/users/1', '/mine', '/nothing', '/posts/1/comments']) {
    t.strictSame((await runsOf(app, ran, { url })).ran, [], url)
  }
  t.ok((await runsOf(app, ran, { url: '/notes' })).ran.every((name) => name.startsWith('scope')))
  t.ok((await runsOf(app, ran, { url: '/posts' })).ran.length > 0)
})

const kinds: Array<[name: string, hook: (error: Error) => unknown]> = [
  ['throws', (error) => () => { throw error }],
  ['rejects with', (error) => async () => { throw error }],
  ['passes to its callback', (error) => (_request: FastifyRequest, _reply: FastifyReply, done: Done) => { done(error) }]
]

for (const [kind, make] of kinds) {
  t.test(`an error that a hook ${kind} is answered in the client's own format, and nothing is read`, async t => {
    for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) {
      const store = recordingStore([{ title: SECRET }])
      const hook = { [name]: make(Object.assign(new Error('log in first'), { statusCode: 401 })) } as Hooks
      for (const options of [{ hooks: hook },
        { actionHooks: { list: hook, show: hook, create: hook, update: hook, delete: hook } }]) {
        const app = await build(t, { name: 'posts', attributes, store, ...options })
        for (const format of FORMATS) {
          const asForm = { 'content-type': form }
          const requests: InjectOptions[] = [
            { url: `/posts.${format}` },
            { url: `/posts/1.${format}` },
            { method: 'POST', url: `/posts.${format}`, payload: { post: { title: 'x' } } },
            { method: 'POST', url: `/posts.${format}`, headers: asForm, payload: '_method=PUT&id=1&post[title]=x' },
            { method: 'POST', url: `/posts.${format}`, headers: asForm, payload: '_method=DELETE&id=1' }
          ]
          for (const request of requests) {
            const res = await app.inject(request)
            t.strictSame([res.statusCode, res.headers['content-type']], [401, problems[format]],
              `${name} ${request.method ?? 'GET'} ${String(request.url)}`)
            t.match(res.body, /log in first/i)
            t.notMatch(res.body, SECRET)
          }
        }
      }
      t.strictSame(store.calls, [])
    }
  })
}

t.test('a hook that replies itself ends the request', async t => {
  const replies: Array<[string, unknown]> = [['by a callback',
    (_request: FastifyRequest, reply: FastifyReply) => { reply.code(418).send('teapot') }],
  ['by a promise', async (_request: FastifyRequest, reply: FastifyReply) => reply.code(418).send('teapot')]]
  for (const [how, hook] of replies) {
    for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) {
      const store = recordingStore([{ title: 'T' }])
      const app = await build(t, { name: 'posts', attributes, store, actionHooks: { delete: { [name]: hook } } })
      for (const request of [{ method: 'DELETE', url: '/posts?id=1' },
        { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=DELETE&id=1' }
      ] as const) {
        const res = await app.inject(request)
        t.strictSame([res.statusCode, res.body], [418, 'teapot'], `${name} ${how} ${request.method}`)
      }
      t.strictSame(store.calls, [])
      t.equal((await app.inject('/posts/1')).statusCode, 200, 'other requests go on')
    }
  }
})

t.test('an onRequest hook of an action runs for a form\'s override before the store is read', async t => {
  const ran: string[] = []
  const store = recordingStore([{ title: SECRET }])
  const refuse = async (): Promise<never> => {
    ran.push(`after ${store.calls.length} calls`)
    throw Object.assign(new Error('log in first'), { statusCode: 401 })
  }
  const app = await build(t, {
    name: 'posts',
    attributes,
    store,
    writes: 'both',
    actionHooks: { create: { onRequest: refuse }, update: { onRequest: refuse }, delete: { onRequest: [refuse] } }
  })
  for (const payload of ['_method=DELETE&id=1', '_method=PUT&id=1&post[title]=x', '_method=PUT&id=1&post[title]=',
    '_method=PUT&id=1&post[titel]=x', 'post[title]=']) {
    for (const url of ['/posts', '/posts.html', '/posts/1'].filter((url) =>
      url !== '/posts/1' || payload.startsWith('_method'))) {
      ran.length = 0
      store.reset()
      const res = await app.inject({
        method: 'POST', url, headers: { 'content-type': form, accept: 'text/html' }, payload
      })
      t.strictSame([res.statusCode, ran], [401, ['after 0 calls']], `${url} ${payload}`)
      t.notMatch(res.body, SECRET)
      t.strictSame(store.calls, [])
    }
  }
})

t.test('an onRequest hook of one action does not see a form that overrides to another', async t => {
  const app = await build(t, {
    name: 'posts',
    attributes,
    store: recordingStore([{ title: 'T' }]),
    actionHooks: { create: { async onRequest () { throw Object.assign(new Error('no'), { statusCode: 403 }) } } }
  })
  t.equal((await app.inject({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PUT&id=1&post[title]=x'
  })).statusCode, 303)
  t.equal((await app.inject({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: 'post[title]=x'
  })).statusCode, 403)
  t.equal((await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'x' } } })).statusCode, 403)
})

const pass = (): void => {}
const refused: Array<[name: string, options: unknown, message: RegExp]> = [
  ['a hook with a slip', { hooks: { onRequst: pass } },
    /Option "hooks" of resource "posts" has "onRequst", which is not one of onRequest, .*"onRequest"/],
  ['a hook that is none', { hooks: { preHandler: 'pass' } },
    /"hooks" of resource "posts" has "preHandler", which must be a function/],
  ['an async hook with done',
    { actionHooks: { update: { preHandler: async (_request: unknown, _reply: unknown, _done: unknown) => {} } } },
    /"actionHooks" of resource "posts" has "preHandler", which is async and has "done" as a parameter; omit either/],
  ['an async hook of an aborted request with done',
    { actionHooks: { update: { onRequestAbort: async (_request: unknown, _done: unknown) => {} } } },
    /"actionHooks" of resource "posts" has "onRequestAbort", which is async and has "done" as a parameter/],
  ['a list with no hook in it', { hooks: { preHandler: [pass, undefined] } },
    /"preHandler", which must be a function, or a list of them/],
  ['hooks of the whole app', { hooks: { onReady: pass } }, /has "onReady", which is not one of/],
  ['hooks that are none', { hooks: pass }, /"hooks" of resource "posts" must be hooks such as/],
  ['an action with a slip', { actionHooks: { updat: { preHandler: pass } } },
    /"actionHooks" of resource "posts" has "updat", which is not one of .*"update"/],
  ['an action that there is not', { only: ['list'], actionHooks: { show: { preHandler: pass } } },
    /"actionHooks" of resource "posts" has "show", which is not one of list/],
  ['a hook of an action with a slip', { actionHooks: { list: { prehandler: pass } } },
    /"actionHooks" of resource "posts" has "prehandler", which is not one of .*"preHandler"/],
  ['a hook of an action before it is known', { actionHooks: { create: { preParsing: pass } } },
    /"actionHooks" of resource "posts" has "preParsing", which is not one of/],
  ['actions that are none', { actionHooks: [] }, /"actionHooks" of resource "posts" (must be hooks by action|has)/]
]

t.test('wrong hooks throw at startup', async t => {
  for (const [name, options, message] of refused) {
    await t.rejects(build(t, { name: 'posts', attributes, ...options as Omit<ResourceOptions, 'name'> }),
      { code: 'FST_RESOURCES_INVALID_OPTION', message }, name)
  }
})

t.test('wrong hooks of a scope or of a custom action throw where they are declared', async t => {
  const slip = { onRequst: pass } as Hooks
  await t.rejects(drawn(t, (map) => map.scope({ hooks: slip }, (map) => map.resources('posts'))),
    { code: 'FST_RESOURCES_INVALID_OPTION', message: /"hooks" of a scope has "onRequst".*"onRequest"/ })
  await t.rejects(drawn(t, (map) => map.resources('posts', {},
    (posts) => posts.member.post('publish', { hooks: slip }, pass))), {
    code: 'FST_RESOURCES_INVALID_OPTION', message: /"onRequst".*"onRequest"/
  })
})

/** Builds an app with one custom action, which returns this answer. */
async function answering (t: Test, answer: AnyHandler,
  { options = {}, logged }: { options?: Partial<ResourceOptions>, logged?: string[] } = {}): Promise<FastifyInstance> {
  return drawn(t, (map) => map.resources('posts',
    { attributes, store: recordingStore([{ title: 'T' }, { title: 'U' }]), ...options }, (posts) => {
      for (const verb of ['get', 'post', 'put', 'patch', 'delete'] as const) {
        mapAction(posts, 'member', verb, 'act', {}, answer)
        mapAction(posts, 'collection', verb, 'act', {}, answer)
      }
    }), logged === undefined ? {} : { logged })
}

t.test('the body of an action is validated by its own schema, or like an update, in every type', async t => {
  const seen: unknown[] = []
  const given = {
    type: 'object',
    required: ['reason'],
    properties: { reason: { type: 'string', minLength: 3 }, times: { type: 'integer', default: 1 } }
  } as const
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: recordingStore([{ title: 'T' }]) },
    (posts) => {
      const note = ({ attributes }: AnyContext): undefined => { seen.push(attributes) }
      posts.member.post('close', { attributes: given }, note)
      posts.member.post('touch', note)
    }))
  const bodies = (members: Record<string, string | number>): Array<[type: string, body: string]> => [
    ['application/json', JSON.stringify({ post: members })],
    ['application/xml',
      `<post>${Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`).join('')}</post>`],
    [form, Object.entries(members).map(([name, value]) => `post[${name}]=${value}`).join('&')]
  ]
  const good: Array<[string, Record<string, string | number>, unknown]> = [
    ['close', { reason: 'spam', times: 2 }, { reason: 'spam', times: 2 }],
    ['close', { reason: 'spam' }, { reason: 'spam', times: 1 }],
    ['touch', { rating: 3 }, { rating: 3 }]
  ]
  const bad: Array<[string, Record<string, string | number>, RegExp]> = [
    ['close', { reason: 'no' }, /reason must have at least 3 characters/i],
    ['close', { times: 2 }, /reason must be given/i],
    ['close', { reason: 'spam', times: 'two' }, /times/i],
    ['close', { reason: 'spam', title: 'x' }, /title is unknown/i],
    ['touch', { title: '' }, /title must not be blank/i],
    ['touch', { titel: 'x' }, /titel is unknown/i],
    ['touch', { rating: 'x' }, /rating/i]
  ]
  const sendEach = async (action: string,
    members: Record<string, string | number>): Promise<LightMyRequestResponse[]> =>
    Promise.all(bodies(members).map(([type, payload]) => app.inject({
      method: 'POST', url: `/posts/1/${action}.json`, headers: { 'content-type': type }, payload
    })))
  for (const [action, members, wanted] of good) {
    seen.length = 0
    for (const { statusCode } of await sendEach(action, members)) t.equal(statusCode, 204, action)
    t.strictSame(seen, [wanted, wanted, wanted])
  }
  seen.length = 0
  for (const [action, members, message] of bad) {
    for (const res of await sendEach(action, members)) {
      t.strictSame([res.statusCode, res.headers['content-type']], [422, types.problem], action)
      t.match(Object.entries(res.json<{ errors: Record<string, string[]> }>().errors)
        .map(([name, [text]]) => `${name} ${text as string}`).join(), message)
    }
  }
  t.strictSame(seen, [], 'none of them reached the handler')
})

t.test('an action needs no body and accepts an empty one of any type', async t => {
  let times = 0
  const app = await answering(t, () => { times++ })
  const bodies: Array<Partial<InjectOptions>> = [
    {},
    { headers: { 'content-type': 'application/xml' } },
    { headers: { 'content-type': 'application/json' }, payload: '' },
    { headers: { 'content-type': form }, payload: '' },
    { headers: { 'content-type': 'application/xml' }, payload: '<post/>' },
    { headers: { 'content-type': 'application/json' }, payload: '{}' }
  ]
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    for (const body of bodies) {
      for (const url of ['/posts/1/act.xml', '/posts/act.xml']) {
        const res = await app.inject({ method, url, ...body })
        t.equal(res.statusCode, 204, `${method} ${url} ${JSON.stringify(body)}: ${res.body}`)
      }
    }
  }
  t.equal(times, 4 * bodies.length * 2)
})

const row = { id: 7, version: 'v', attributes: { title: 'T', rating: null } }

const wrong: Array<[name: string, answer: unknown]> = [
  ['a number', 1],
  ['a symbol', Symbol(SECRET)],
  ['a function', () => SECRET],
  ['an object that is no row', { secret: SECRET }],
  ['attributes without an id', { title: SECRET }],
  ['a row without attributes', { id: 1, secret: SECRET }],
  ['a row whose attributes are a list', { id: 1, attributes: [SECRET] }],
  ['a list with a text in it', [row, SECRET]],
  ['a list with an object that is no row', [{ secret: SECRET }]],
  ['batches that are rows', (function * () { yield row })()],
  ['an outcome of another kind', { kind: SECRET }],
  ['a list outcome without rows', { kind: 'listed', secret: SECRET }],
  ['a write without its row', { ok: true, secret: SECRET }],
  ['a write that failed for no reason', { ok: false, why: SECRET }],
  ['a stale write without the row', { ok: false, why: 'stale' }],
  ['a date', new Date(0)],
  ['an error', new Error(SECRET)],
  ['a map', new Map([[SECRET, row]])]
]

t.test('a handler that returns no answer gives a 500, and only the log tells why', async t => {
  const logged: string[] = []
  let handler: AnyHandler = pass
  const app = await answering(t, (context) => handler(context), { logged })
  for (const [name, answer] of wrong) {
    for (const make of [() => answer, async () => answer]) {
      logged.length = 0
      handler = make as AnyHandler
      const res = await app.inject('/posts/1/act.json')
      t.strictSame([res.statusCode, res.headers['content-type']], [500, types.problem], name)
      t.notMatch(res.body, SECRET)
      t.match(res.body, /something went wrong on the server/i)
      t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('act')),
        `the error is logged: ${logged.filter((line) => line.includes('"level":50')).join().slice(0, 300)}`)
      // A generator can be read only once.
      if (name === 'batches that are rows') break
    }
  }
})

t.test('a list that returns undefined is a 500', async t => {
  const logged: string[] = []
  const app = await answering(t, pass, { logged, options: { actions: { list: pass } } })
  const res = await app.inject('/posts.json')
  t.match(res, { statusCode: 500, headers: { 'content-type': types.problem } })
  t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('empty list')))
})

t.test('a handler of a singleton gets the version that the client demands, and the row that authorize has seen',
  async t => {
    const guards: unknown[] = []
    const store = memoryStore()
    store.create({ title: 'T' }, {})
    const note = ({ guard }: AnyContext): undefined => { guards.push(guard.version) }
    for (const isAsking of [false, true]) {
      guards.length = 0
      const app = await drawn(t, (map) => map.resource('profile',
        {
          attributes,
          store,
          actions: { update: note, delete: note },
          authorize: async (_request, { row }) => !isAsking || (await row?.()) !== undefined
        }, (profile) => { profile.member.post('touch', note) }))
      for (const [method, url] of [['PUT', '/profile'], ['DELETE', '/profile'], ['POST', '/profile/touch']] as const) {
        for (const tag of [undefined, '"1-1.json"', '"1-9.json"', '"1.json"', '"2-1.json"']) {
          await app.inject({
            method, url, headers: tag === undefined ? {} : { 'if-match': tag }, payload: { profile: { title: 'x' } }
          })
        }
      }
      // Another version is refused before the handler is called.
      const wanted = isAsking ? ['1', '1'] : [undefined, '1']
      t.strictSame(guards, [...wanted, ...wanted, ...wanted])
    }
  })
