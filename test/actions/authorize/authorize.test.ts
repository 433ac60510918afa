import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import {
  type HandlerAnswer, type AuthorizeContext, type Authorize, draw, type FindScope, InvalidError, type Mapper,
  type MaybePromise, memoryStore, type ResourceOptions, type ResourceRoute
} from '../../../lib/index.js'
import { defaultViews } from '../../../lib/html/index.js'
import { build, types } from '../../support/helper.js'
import { type AnyContext, mapAction } from '../../support/map-action.js'
import { type RecordingStore, recordingStore } from '../../support/stores/recording-store.js'

const form = 'application/x-www-form-urlencoded'
const SECRET = 'hush-hush'
const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' }, owner: { type: 'string' } }
} as const

const WRITES = ['collection', 'member', 'both'] as const
const FORMATS = ['xml', 'html', 'json'] as const
type FormatName = (typeof FORMATS)[number]
const REFUSAL = { xml: types.xml, html: types.html, json: types.problem } as const
const MEDIA_TYPES = { xml: 'application/xml', html: 'text/html', json: 'application/json' } as const

async function drawn (t: Test, declare: (map: Mapper) => unknown, before?: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  before?.(app)
  app.register(draw(declare))
  await app.ready()
  return app
}

/** An app with a resource of each kind, each with every kind of action. */
interface World {
  readonly app: FastifyInstance
  readonly stores: Readonly<Record<string, RecordingStore>>
  /** The calls of `authorize` during the current request. */
  readonly asked: AuthorizeContext[]
  /** The actions of the app's own handlers that ran. */
  readonly reached: string[]
  answer (attempt: AuthorizeContext): unknown
}

const SINGULAR: Readonly<Record<string, string>> = { posts: 'post', comments: 'comment', replies: 'reply', notes: 'note', reports: 'report' }

async function makeWorld (t: Test, writes: (typeof WRITES)[number]): Promise<World & { answer: World['answer'] }> {
  const names = ['posts', 'comments', 'replies', 'notes', 'reports', 'logo', 'profile']
  const stores = Object.fromEntries(names.map((name) => [name, recordingStore([{ title: `${SECRET} ${name}`, body: SECRET, postId: 1, commentId: 1 }])]))
  const reached: string[] = []
  const asked: AuthorizeContext[] = []
  const handler = ({ action, store, scope }: AnyContext): readonly [] | undefined => {
    reached.push(action)
    store.list({ order: [{ by: 'id', descending: false }], after: undefined, limit: 1, scope, filter: [], search: undefined }, { signal: new AbortController().signal })
    return action === 'list' ? [] : undefined
  }
  const own = (isSingleton: boolean) => (map: object): void => {
    for (const stand of isSingleton ? ['member', 'new'] as const : ['collection', 'member', 'new'] as const) {
      for (const verb of ['get', 'post', 'put', 'patch', 'delete'] as const) mapAction(map, stand, verb, `${verb}It`, {}, handler)
      for (const verb of ['get', 'put', 'patch', 'delete'] as const) mapAction(map, stand, verb, `${verb}Shared`, { path: 'shared' }, handler)
    }
  }
  const world: World = { app: undefined as unknown as FastifyInstance, stores, asked, reached, answer: () => true }
  const authorize: Authorize = (_request, attempt) => {
    asked.push(attempt)
    // Some cases deliberately answer with something other than a boolean.
    return world.answer(attempt) as boolean
  }
  const optionsOf = (name: string): { attributes: typeof attributes, store: RecordingStore, writes: typeof writes, formPages: true } => ({ attributes, store: stores[name] as RecordingStore, writes, formPages: true })
  const app = await drawn(t, (map) => map.scope({ authorize }, (map) => {
    map.resources('posts', optionsOf('posts'), (posts) => {
      own(false)(posts)
      posts.scope({ authorize }, (posts) => {
        posts.resources('comments', optionsOf('comments'), (comments) => {
          own(false)(comments)
          comments.scope({ authorize }, (comments) => { comments.resources('replies', optionsOf('replies')) })
        })
        posts.resources('notes', { ...optionsOf('notes'), shallow: true }, own(false))
        posts.resource('logo', optionsOf('logo'), own(true))
      })
    })
    map.resource('profile', optionsOf('profile'), own(true))
    map.resources('reports', { ...optionsOf('reports'), actions: { list: handler, show: handler, create: handler, update: handler, delete: handler } })
  }))
  return Object.assign(world, { app })
}

interface Case {
  readonly name: string
  readonly request: InjectOptions
  readonly format: FormatName
  readonly resource: string
  readonly action: string
  readonly id: number | undefined
  /** True if the path of the route is inside that of its parent. */
  readonly isNested: boolean
}

/** Returns every request that the routes serve, in every format and by every form. */
function casesOf (routes: readonly ResourceRoute[]): Case[] {
  return [...routes, ...headsOf(routes)].flatMap((route) => {
    const forms = route.verb === 'PUT' || route.verb === 'DELETE' ? [undefined, route.verb] : [undefined]
    return FORMATS.flatMap((format) => forms.flatMap((override) => (['suffix', 'query', 'accept'] as const).flatMap((by) => casesFor(route, format, by, override))))
  })
}

function headsOf (routes: readonly ResourceRoute[]): ResourceRoute[] {
  return routes.filter(({ verb }) => verb === 'GET').map((route) => ({ ...route, verb: 'HEAD' }))
}

function casesFor (route: ResourceRoute, format: FormatName, by: 'suffix' | 'query' | 'accept', override: string | undefined): Case[] {
  const [resource, action] = route.action.split('#') as [string, string]
  const path = route.path.replaceAll(/:\w+/g, '1')
  const isRow = /\/:id(?:\/\w+)?$/.test(route.path)
  const isSingleton = SINGULAR[resource] === undefined
  const isByPayload = !isSingleton && !isRow && (action === 'update' || action === 'delete')
  const url = by === 'suffix' ? `${path}.${format}` : by === 'query' ? `${path}?format=${format}` : path
  const singular = SINGULAR[resource] ?? resource
  const id = isByPayload ? 1 : undefined
  const bodies = override !== undefined ? [form] : ['GET', 'HEAD'].includes(route.verb) ? [undefined] : route.verb === 'QUERY' ? [form, MEDIA_TYPES.json] : [MEDIA_TYPES.xml, MEDIA_TYPES.json]
  const whole = { resource, action, format, id: isRow || isByPayload ? 1 : undefined, isNested: resource !== 'posts' && route.path.startsWith('/posts') }
  const cases = bodies.map((type): Case => {
    const method = (override === undefined ? route.verb : 'POST') as 'POST'
    const headers = { ...(by === 'accept' && { accept: MEDIA_TYPES[format] }), ...(type !== undefined && { 'content-type': type }) }
    return { ...whole, name: `${method}${override === undefined ? '' : `+${override}`} ${url} as ${format} of ${String(type)}`, request: { method, url, headers, ...(type !== undefined && { payload: route.verb === 'QUERY' ? QUERIES[type] ?? '' : payloadOf(type, singular, id, override) }) } }
  })
  if (!isByPayload || action !== 'delete' || override !== undefined) return cases
  // DELETE also takes its id from the query, since some proxies drop the body.
  return [...cases, { ...whole, name: `DELETE ${url} by the query as ${format}`, request: { method: 'DELETE', url: `${url}${url.includes('?') ? '&' : '?'}id=1`, headers: by === 'accept' ? { accept: MEDIA_TYPES[format] } : {} } }]
}

const QUERIES: Readonly<Record<string, string>> = { [form]: 'limit=1', [MEDIA_TYPES.json]: '{"limit":1}' }

function payloadOf (type: string, singular: string, id: number | undefined, override: string | undefined): string {
  const title = 'mine'
  if (type === form) return new URLSearchParams({ ...(override !== undefined && { _method: override }), ...(id !== undefined && { id: String(id) }), [`${singular}[title]`]: title }).toString()
  if (type === MEDIA_TYPES.xml) return `<${singular}>${id === undefined ? '' : `<id>${id}</id>`}<title>${title}</title></${singular}>`
  return JSON.stringify({ ...(id !== undefined && { id }), [singular]: { title } })
}

function everythingIn (res: LightMyRequestResponse): string {
  return JSON.stringify(res.headers) + res.body
}

function callsIn (stores: World['stores']): string[] {
  return Object.entries(stores).flatMap(([name, { calls }]) => calls.map(({ method }) => `${name}.${method}`))
}

function forgetAll ({ stores, asked, reached }: World): void {
  for (const store of Object.values(stores)) store.forget()
  asked.length = 0
  reached.length = 0
}

/** Returns the deviations of answers to requests that must all be refused. */
async function findHoles (world: World, cases: readonly Case[], status: number, wanted: (given: Case) => Array<Pick<AuthorizeContext, 'action' | 'resource' | 'id'>>): Promise<unknown[]> {
  const holes: unknown[] = []
  for (const given of cases) {
    forgetAll(world)
    const res = await world.app.inject(given.request)
    const calls = callsIn(world.stores)
    // The page of a missing singleton, or of a form whose row is missing, also asks whether it may offer to create it.
    const isOffered = status === 404 && given.format === 'html' && (['logo', 'profile'].includes(given.resource) || given.action === 'update')
    const asked = world.asked.filter(({ action }) => !isOffered || action !== 'create' || given.action === 'create').map(({ action, resource, id }) => ({ action, resource, ...(id !== undefined && { id }) }))
    const found = {
      status: res.statusCode,
      type: res.headers['content-type'],
      isShown: everythingIn(res).includes(SECRET),
      calls,
      reached: [...world.reached],
      asked: asked.slice(-1)
    }
    const right = { status, type: REFUSAL[given.format], isShown: false, calls: [], reached: [], asked: wanted(given) }
    if (JSON.stringify(found) !== JSON.stringify(right)) holes.push({ name: given.name, found, right })
  }
  return holes
}

const askedLast = ({ action, resource, id }: Case): Array<Pick<AuthorizeContext, 'action' | 'resource' | 'id'>> => [{ action, resource, ...(id !== undefined && { id }) }]

// 'both' includes all paths of 'member' in the same form.
for (const writes of WRITES.filter((writes) => writes !== 'member')) {
  t.test(`no request gets past an authorize that refuses, with writes: '${writes}'`, async t => {
    const world = await makeWorld(t, writes)
    const cases = casesOf(world.app.resourceRoutes)
    const kinds = new Set(cases.map(({ resource, action }) => `${resource}#${action}`))
    for (const resource of ['posts', 'comments', 'replies', 'notes', 'reports']) for (const action of ['list', 'show', 'create', 'update', 'delete', 'new', 'edit']) t.ok(kinds.has(`${resource}#${action}`), `${resource}#${action} is covered`)
    t.ok(cases.length > 1000, `${cases.length} requests`)

    // 'both' includes all paths of the other two.
    for (const [answer, status] of writes === 'both' ? [[false, 403], ['hide', 404]] as const : [[false, 403]] as const) {
      await t.test(`the target refuses with ${String(answer)}`, async t => {
        const holes: unknown[] = []
        for (const resource of Object.keys(world.stores)) {
          world.answer = (attempt) => attempt.resource === resource ? answer : true
          holes.push(...await findHoles(world, cases.filter((given) => given.resource === resource), status, askedLast))
        }
        t.strictSame(holes, [])
      })
    }

    await t.test('the parent refuses its own show', async t => {
      world.answer = ({ resource }) => resource !== 'posts'
      const nested = cases.filter(({ isNested }) => isNested)
      t.ok(nested.length > 100, `${nested.length} requests`)
      t.strictSame(await findHoles(world, nested, 403, () => [{ action: 'show', resource: 'posts', id: 1 }]), [])
    })

    await t.test('the parent of shallow rows refuses and no row is written', async t => {
      world.answer = ({ resource }) => resource !== 'posts'
      const shallow = cases.filter(({ request }) => String(request.url).startsWith('/notes'))
      t.ok(shallow.length > 50, `${shallow.length} requests`)
      const holes: unknown[] = []
      for (const { request, name, format } of shallow) {
        forgetAll(world)
        const res = await world.app.inject(request)
        const written = callsIn(world.stores).filter((call) => !/\.(?:get|list)$/.test(call))
        if (res.statusCode !== 403 || res.headers['content-type'] !== REFUSAL[format] || everythingIn(res).includes(SECRET) || written.length > 0 || world.reached.length > 0) holes.push([name, res.statusCode, written, world.reached, res.body.slice(0, 200)])
      }
      t.strictSame(holes, [])
    })

    await t.test('an authorize that allows everything lets each request through', async t => {
      world.answer = () => true
      const refused: unknown[] = []
      for (const { request, name } of cases) {
        const res = await world.app.inject(request)
        if ([401, 403, 405, 406, 415, 422, 500].includes(res.statusCode)) refused.push([name, res.statusCode, res.body.slice(0, 200)])
      }
      t.strictSame(refused, [])
    })
  })
}

t.test('a shallow row is neither shown nor given to a handler if authorize refuses its parent, or if it is missing', async t => {
  const reached: string[] = []
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: recordingStore([{ title: 'P' }]), authorize: ({ headers }) => headers['x-user'] === 'ann' }, (posts) => {
    posts.resources('notes', { attributes, store: recordingStore([{ title: SECRET, postId: 1 }]), writes: 'both', shallow: true }, ({ member }) => member.post('touch', ({ action }) => { reached.push(action) }))
  }))
  const answers = async (user: string, id: number): Promise<number[]> => {
    const requests: InjectOptions[] = [{ url: `/notes/${id}` }, { method: 'PUT', url: `/notes/${id}`, payload: { note: { title: 'x' } } }, { method: 'POST', url: `/notes/${id}/touch` }]
    return Promise.all(requests.map(async (request) => (await app.inject({ ...request, headers: { 'x-user': user } })).statusCode))
  }
  t.strictSame(await answers('bob', 1), [403, 403, 403])
  t.strictSame(await answers('ann', 9), [404, 404, 404])
  t.strictSame(reached, [])
  t.strictSame(await answers('ann', 1), [200, 200, 204])
  t.strictSame(reached, ['touch'])
})

t.test('a method without a route is answered with 405 before authorize is asked', async t => {
  const app = await build(t, { name: 'posts', attributes, authorize: () => { throw new Error('must not be asked') } })
  const res = await app.inject({ method: 'PATCH', url: '/posts.json' })
  t.strictSame([res.statusCode, res.headers.allow], [405, 'GET, HEAD, QUERY, POST, PUT, DELETE, OPTIONS'])
  t.equal((await app.inject({ method: 'OPTIONS', url: '/posts' })).statusCode, 204)
})

const answers: Array<[name: string, answer: unknown, status: number]> = [
  ['true', true, 200],
  ['a promise of true', Promise.resolve(true), 200],
  ['false', false, 403],
  ['a promise of false', Promise.resolve(false), 403],
  ['undefined', undefined, 403],
  ['null', null, 403],
  ['1', 1, 403],
  ['"yes"', 'yes', 403],
  ['"true"', 'true', 403],
  ['an object', {}, 403],
  ['a Boolean', Object(true), 403],
  ['a function', () => true, 403],
  ['a promise of 1', Promise.resolve(1), 403],
  ['a promise of a promise of false', Promise.resolve(Promise.resolve(false)), 403],
  ['a thenable of "yes"', { then: (resolve: (value: unknown) => void) => { resolve('yes') } }, 403],
  ['"hide"', 'hide', 404],
  ['a promise of "hide"', Promise.resolve('hide'), 404],
  ['"HIDE"', 'HIDE', 403]
]

t.test('the answer of authorize decides the status', async t => {
  const store = recordingStore([{ title: SECRET }])
  let given: unknown
  // The cases deliberately include other values than booleans.
  const app = await build(t, { name: 'posts', attributes, store, authorize: () => given as boolean })
  for (const [name, answer, status] of answers) {
    await t.test(`an answer of ${name} by authorize gives status ${status}`, async t => {
      store.reset()
      given = answer
      const res = await app.inject('/posts/1.json')
      t.equal(res.statusCode, status)
      t.equal(res.headers['content-type'], status === 200 ? types.json : types.problem)
      t.strictSame(store.calls.map(({ method }) => method), status === 200 ? ['get'] : [])
    })
  }
})

const thrown: Array<[name: string, authorize: Authorize, status: number, detail: string]> = [
  ['an error with a status', () => { throw Object.assign(new Error('log in first'), { statusCode: 401 }) }, 401, 'log in first'],
  ['a rejection with a status', async () => { throw Object.assign(new Error('pay first'), { statusCode: 402 }) }, 402, 'pay first'],
  ['an error of ours', () => { throw new InvalidError({ title: ['must be yours'] }) }, 422, 'title must be yours'],
  ['an error without one', () => { throw new Error(SECRET) }, 500, 'something went wrong on the server'],
  ['a rejection without one', async () => { throw new Error(SECRET) }, 500, 'something went wrong on the server'],
  ['what is no error', () => { throw SECRET }, 500, 'something went wrong on the server']
]

t.test('an error that authorize throws is the answer', async t => {
  const store = recordingStore([{ title: 'T' }])
  let policy: Authorize = () => true
  const app = await build(t, { name: 'posts', attributes, store, authorize: (request, attempt) => policy(request, attempt) })
  for (const [name, authorize, status, detail] of thrown) {
    await t.test(`${name} thrown by authorize is answered with its status`, async t => {
      store.reset()
      policy = authorize
      const requests: InjectOptions[] = [
        { url: '/posts/1' },
        { method: 'DELETE', url: '/posts?id=1' },
        { method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'application/json' }, payload: '_method=PUT&id=1&post[title]=x' }
      ]
      for (const request of requests) {
        const res = await app.inject({ ...request, headers: { accept: 'application/json', ...request.headers } })
        t.match(res, { statusCode: status, headers: { 'content-type': types.problem } })
        t.equal(res.json().detail, detail)
      }
      const page = await app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: '_method=PUT&id=1&post[title]=x' })
      t.match(page, { statusCode: status, headers: { 'content-type': types.html } })
      t.notMatch(page.body, SECRET)
      t.strictSame(store.calls, [])
      const unwritten = await app.inject({ url: '/posts/1', headers: { accept: 'application/xml' } })
      t.match(unwritten, { statusCode: status, headers: { 'content-type': types.xml } })
    })
  }
})

t.test('authorize receives each action to be done, from the outermost resource inwards', async t => {
  const seen: unknown[] = []
  const authorize: Authorize = (_request, { row, ...attempt }) => {
    seen.push({ ...attempt, hasRow: row !== undefined })
    return true
  }
  const rows = [{ title: 'T', postId: 1, commentId: 1 }]
  const app = await drawn(t, (map) => {
    map.resources('posts', { attributes, store: recordingStore(rows), authorize, formPages: true, writes: 'both' }, (posts) => {
      posts.collection.get('recent', () => [])
      posts.member.post('publish', ({ row }) => row())
      posts.new.post('preview', () => {})
      posts.resources('comments', { attributes, store: recordingStore(rows), authorize }, (comments) => {
        comments.resources('replies', { attributes, store: recordingStore(rows), authorize })
      })
      posts.resource('logo', { attributes, store: recordingStore(rows), authorize })
    })
    map.resource('profile', { attributes, store: recordingStore([]), authorize, formPages: true })
  })
  const post = { action: 'show', resource: 'posts', id: 1, hasRow: true }
  const comment = { action: 'show', resource: 'comments', id: 1, hasRow: true }
  const cases: Array<[request: InjectOptions, seen: unknown[]]> = [
    [{ url: '/posts' }, [{ action: 'list', resource: 'posts', hasRow: false }]],
    [{ url: '/posts/1' }, [post]],
    [{ method: 'HEAD', url: '/posts/1' }, [post]],
    [{ url: '/posts/new' }, [{ action: 'new', resource: 'posts', hasRow: false }]],
    [{ url: '/posts/1/edit' }, [{ action: 'edit', resource: 'posts', id: 1, hasRow: true }]],
    [{ method: 'POST', url: '/posts', payload: { post: { title: 'x' } } }, [{ action: 'create', resource: 'posts', hasRow: false }]],
    [{ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'x' } } }, [{ action: 'update', resource: 'posts', id: 1, hasRow: true }]],
    [{ method: 'PATCH', url: '/posts/1', payload: { post: { title: 'x' } } }, [{ action: 'update', resource: 'posts', id: 1, hasRow: true }]],
    [{ url: '/posts/recent' }, [{ action: 'recent', resource: 'posts', hasRow: false }]],
    [{ method: 'POST', url: '/posts/1/publish' }, [{ action: 'publish', resource: 'posts', id: 1, hasRow: true }]],
    [{ method: 'POST', url: '/posts/new/preview' }, [{ action: 'preview', resource: 'posts', hasRow: false }]],
    [{ url: '/posts/1/comments' }, [post, { action: 'list', resource: 'comments', hasRow: false }]],
    [{ method: 'POST', url: '/posts/1/comments', payload: { comment: { title: 'x' } } }, [post, { action: 'create', resource: 'comments', hasRow: false }]],
    [{ method: 'PUT', url: '/posts/1/comments/1/replies', payload: { id: 1, reply: { title: 'x' } } }, [post, comment, { action: 'update', resource: 'replies', id: 1, hasRow: true }]],
    [{ url: '/posts/1/logo' }, [post, { action: 'show', resource: 'logo', hasRow: true }]],
    [{ method: 'POST', url: '/profile', payload: { profile: { title: 'x' } } }, [{ action: 'create', resource: 'profile', hasRow: false }]],
    [{ url: '/profile/new' }, [{ action: 'new', resource: 'profile', hasRow: false }]],
    [{ method: 'PUT', url: '/profile', payload: { profile: { title: 'x' } } }, [{ action: 'update', resource: 'profile', hasRow: true }]],
    [{ method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=delete&id=1' }, [{ action: 'delete', resource: 'posts', id: 1, hasRow: true }]]
  ]
  for (const [request, wanted] of cases) {
    seen.length = 0
    const res = await app.inject(request)
    t.ok(res.statusCode < 400, `${request.method ?? 'GET'} ${String(request.url)} succeeds: ${res.statusCode}`)
    t.strictSame(seen, wanted, `${request.method ?? 'GET'} ${String(request.url)}`)
  }
})

t.test('for a page, authorize is asked for the actions that exist and no others', async (t) => {
  const cases: ReadonlyArray<readonly [only: NonNullable<ResourceOptions['only']>, url: string, wanted: readonly string[]]> = [
    [['list', 'show'], '/posts.html', ['list']],
    [['list', 'show'], '/posts/1.html', ['list', 'show']],
    ['show', '/posts/1.html', ['show']],
    [['list', 'show', 'create'], '/posts.html', ['create', 'list']],
    [['list', 'show', 'delete'], '/posts/1.html', ['delete', 'list', 'show']]
  ]
  for (const [only, url, wanted] of cases) {
    const asked = new Set<string>()
    const app = await build(t, { name: 'posts', attributes, only, store: recordingStore([{ title: 'a' }]), authorize: (_, { action }) => { asked.add(action); return true } })
    t.equal((await app.inject(url)).statusCode, 200)
    t.strictSame([...asked].sort(), wanted, `${String(only)} ${url}`)
  }
})

t.test('each authorize is asked, the scope\'s first, and all must allow', async t => {
  for (const [outer, inner, status, wanted] of [[true, true, 200, ['outer', 'inner']], [false, true, 403, ['outer']], [true, false, 403, ['outer', 'inner']], ['hide', true, 404, ['outer']]] as const) {
    const asked: string[] = []
    const app = await drawn(t, (map) => map.scope({ authorize: () => { asked.push('outer'); return outer } }, (map) => map.resources('posts', { attributes, authorize: () => { asked.push('inner'); return inner } })))
    t.equal((await app.inject('/posts.json')).statusCode, status)
    t.strictSame(asked, wanted)
  }
})

t.test('a refusal calls authorize once, also for a browser\'s form', async t => {
  for (const payload of ['_method=PUT&id=1&post[title]=x', '_method=DELETE&id=1', 'post[title]=x']) {
    let asked = 0
    const app = await build(t, { name: 'posts', attributes, store: recordingStore([{ title: SECRET }]), authorize: () => ++asked > 1 })
    const res = await app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload })
    t.equal(res.statusCode, 403)
    t.equal(asked, 1, payload)
    t.notMatch(res.body, SECRET)
  }
})

t.test('row() reads the row within the scope, and only when it is called', async t => {
  const store = recordingStore([{ title: 'a', owner: 'a' }, { title: 'b', owner: 'b' }])
  const rows: unknown[] = []
  let isAsking = false
  const scope: FindScope = () => ({ owner: 'a' })
  const authorize: Authorize = async (_request, { row }) => {
    if (isAsking) rows.push((await row?.())?.attributes.title)
    return true
  }
  const app = await build(t, { name: 'posts', attributes, store, scope, authorize })
  t.equal((await app.inject('/posts/1.json')).statusCode, 200)
  t.strictSame(store.calls, [{ method: 'get', scope: { owner: 'a' } }], 'only the action reads the row')
  store.forget()
  isAsking = true
  t.equal((await app.inject('/posts/2.json')).statusCode, 404)
  t.strictSame(rows, [undefined], 'a row outside the scope is undefined')
  t.ok(store.calls.every(({ scope }) => scope.owner === 'a'))
  store.forget()
  t.equal((await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'x' } } })).statusCode, 200)
  t.strictSame(store.calls.map(({ method }) => method), ['get', 'update'])
})

t.test('several calls of row() read the row once', async t => {
  const store = recordingStore([{ title: 'T' }])
  const authorize: Authorize = async (_request, { row }) => {
    const first = await row?.()
    return first === await row?.()
  }
  const app = await drawn(t, (map) => map.scope({ authorize }, (map) => map.resources('posts', { attributes, store, authorize })))
  t.equal((await app.inject({ method: 'DELETE', url: '/posts?id=1' })).statusCode, 204)
  t.strictSame(store.calls.map(({ method }) => method), ['get', 'delete'])
})

/** Builds an app that allows owners alone. `meanwhile` runs right after the first read of a row, and again after `reset`. */
async function owned (t: Test, meanwhile: (store: RecordingStore) => unknown, options: Partial<ResourceOptions> = {}): Promise<{ app: FastifyInstance, store: RecordingStore, asked: unknown[], reset: (meanwhile: (store: RecordingStore) => unknown) => void }> {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const asked: unknown[] = []
  const reset = (meanwhile: (store: RecordingStore) => unknown): void => {
    store.reset()
    asked.length = 0
    store.meanwhile = () => meanwhile(store)
  }
  reset(meanwhile)
  const authorize: Authorize = async (_request, { row }) => {
    const found = await row?.()
    asked.push(found?.attributes.owner)
    return found?.attributes.owner === 'me'
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize, writes: 'both', ...options })
  return { app, store, asked, reset }
}

const given = { version: undefined, scope: {} }
const context = { signal: new AbortController().signal }
const giveAway = ({ inner }: RecordingStore): unknown => inner.update(1, { owner: 'them', body: SECRET }, given, context)
const touch = ({ inner }: RecordingStore): unknown => inner.update(1, { body: 'touched' }, given, context)

const writesOfRow: Array<[name: string, request: InjectOptions]> = [
  ['PUT', { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } }],
  ['PATCH', { method: 'PATCH', url: '/posts/1', payload: { post: { title: 'mine' } } }],
  ['DELETE', { method: 'DELETE', url: '/posts/1' }],
  ['a form of PUT', { method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: '_method=PUT&id=1&post[title]=mine' }],
  ['a form of DELETE', { method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: '_method=DELETE&id=1' }]
]

/** The versions a client may send: none, any, the one authorize sees, the next one, several. */
const versions: Array<[name: string, tag: string | undefined]> = [
  ['no If-Match', undefined],
  ['If-Match: *', '*'],
  ['the version that was', '"1.json"'],
  ['the version that comes', '"2.json"'],
  ['both versions', '"1.json", "2.json"'],
  ['another version', '"9.json"']
]

t.test('authorize sees the row that is written', async t => {
  const { app, store, asked, reset } = await owned(t, giveAway)
  for (const [name, request] of writesOfRow) {
    for (const [version, tag] of versions) {
      const headers = { ...request.headers, ...(tag !== undefined && { 'if-match': tag }) }
      await t.test(`a row that is given away between row() and the write is not written by ${name} with ${version}`, async t => {
        reset(giveAway)
        const res = await app.inject({ ...request, headers })
        t.equal(res.statusCode, 403)
        t.notMatch(everythingIn(res), SECRET)
        t.strictSame(asked, ['me', 'them'], 'authorize is asked again for the new row')
        t.match(store.inner.get(1, {}, context), { version: '2', attributes: { title: 'T', owner: 'them' } })
      })

      await t.test(`a row that is touched between row() and the write is authorized again by ${name} with ${version}`, async t => {
        reset(touch)
        const res = await app.inject({ ...request, headers })
        const isStale = tag === '"1.json"' || tag === '"9.json"'
        t.equal(res.statusCode, isStale ? 412 : name.includes('form') ? 303 : name === 'DELETE' ? 204 : 200)
        t.strictSame(asked, isStale ? ['me', 'me', 'me', ...(name.includes('form') ? [undefined] : [])] : ['me', 'me'], 'a 412 also asks whether the row may be shown, and its page whether the list may be')
        const row = store.inner.get(1, {}, context) as unknown
        if (isStale) t.match(row, { version: '2', attributes: { title: 'T' } })
        else t.match(row, name.includes('DELETE') ? undefined : { version: '3', attributes: { title: 'mine', body: 'touched' } })
      })
    }
  }
})

t.test('the _version of a form works like If-Match, and a row that was given away is not shown beside it', async t => {
  const { app, store, reset } = await owned(t, giveAway)
  for (const version of ['1', '2', '9']) {
    reset(giveAway)
    const res = await app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: `_method=PUT&id=1&_version=${version}&post[title]=mine` })
    t.equal(res.statusCode, 403)
    t.notMatch(everythingIn(res), SECRET)
    t.match(store.inner.get(1, {}, context), { version: '2' })
  }
})

t.test('a row that changes on every attempt is given up with 503, and nothing is written', async t => {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  let times = 0
  const authorize: Authorize = async (_request, { row }) => {
    await row?.()
    store.inner.update(1, { body: String(++times) }, given, context)
    return true
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize })
  const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
  t.equal(res.statusCode, 503)
  t.ok(times > 1 && times < 500, `${times} attempts`)
  t.match(store.inner.get(1, {}, context), { attributes: { title: 'T' } })
})

t.test('a row that is deleted between row() and the write is not found', async t => {
  const { app } = await owned(t, ({ inner }) => inner.delete(1, given, context))
  t.equal((await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })).statusCode, 404)
})

t.test('the answer shows the row that authorize has seen', async t => {
  for (const url of ['/posts/1.json', '/posts/1.xml', '/posts/1.html', '/posts/1/edit.json', '/posts/1/edit.html', '/posts/1/peek.json', '/posts/1/peek.html']) {
    const store = recordingStore([{ title: 'T', owner: 'me' }])
    store.meanwhile = () => giveAway(store)
    const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'me'
    const app = await drawn(t, (map) => map.resources('posts', { attributes, store, authorize, formPages: true }, (posts) => posts.member.get('peek', ({ row }) => row())))
    const res = await app.inject(url)
    t.notMatch(everythingIn(res), SECRET, url)
    t.equal((await app.inject(url)).statusCode, 403)
  }
})

t.test('a form with added rows comes back with the row that authorize has seen', async t => {
  const tags = { ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } } } as const
  const { app } = await owned(t, giveAway, { attributes: tags })
  const send = (): Promise<LightMyRequestResponse> => app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: '_method=PUT&id=1&post[title]=x&post[tags][?][add]=1' })
  const revised = await send()
  t.equal(revised.statusCode, 200)
  t.notMatch(revised.body, SECRET)
  t.equal((await send()).statusCode, 403)
})

t.test('a singleton that is replaced after authorize has seen it is neither shown nor written', async t => {
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const inner = memoryStore()
    inner.create({ title: 'T', owner: 'me' }, {})
    const authorize: Authorize = async (_request, { row }) => {
      const found = await row?.()
      inner.delete(1, given)
      inner.create({ title: SECRET, owner: 'them' }, {})
      return found?.attributes.owner === 'me'
    }
    const app = await drawn(t, (map) => map.resource('profile', { attributes, store: inner, authorize }))
    const res = await app.inject({ method, url: '/profile.json', ...(method === 'PUT' && { payload: { profile: { title: 'mine' } } }) })
    t.notMatch(res.body, SECRET)
    t.match(inner.get(2, {}), { version: '1', attributes: { title: SECRET } }, `${method} has not written the new row`)
  }
})

t.test('a singleton that changes between row() and the write is authorized again, without an id', async t => {
  const inner = memoryStore()
  inner.create({ title: 'T', owner: 'me' }, {})
  const asked: unknown[] = []
  const authorize: Authorize = async (_request, { row, ...attempt }) => {
    const found = await row?.()
    if (asked.push({ ...attempt, version: found?.version }) === 1) inner.update(1, { body: 'touched' }, given)
    return found?.attributes.owner === 'me'
  }
  const app = await drawn(t, (map) => map.resource('profile', { attributes, store: inner, authorize }))
  const res = await app.inject({ method: 'PUT', url: '/profile.json', payload: { profile: { title: 'mine' } } })
  t.match(res, { statusCode: 200, headers: { etag: /^"1-3\.json-/ } })
  t.strictSame(asked, ['1', '2'].map((version) => ({ action: 'update', resource: 'profile', version })))
})

t.test('the app\'s own handler is called once, and a row that changed meanwhile gives a 412', async t => {
  const calls: unknown[] = []
  const update = (context: AnyContext): MaybePromise<HandlerAnswer> => {
    const { store, id, attributes, guard } = context
    calls.push(guard.version)
    return store.update(id, attributes, guard, context)
  }
  const { app, store, asked } = await owned(t, touch, { actions: { update } })
  const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
  t.match(res, { statusCode: 412, headers: { 'content-type': types.json, etag: /^"2\.json-/ } })
  t.strictSame(res.json(), { post: { id: 1, title: 'T', owner: 'me', body: 'touched' } })
  t.strictSame(calls, ['1'])
  t.strictSame(asked, ['me', 'me'], 'the second call asks whether the row may be shown')
  t.match(store.inner.get(1, {}, context), { version: '2', attributes: { title: 'T', body: 'touched' } })
})

/** Handlers that write their row more than once, with the status and the final version. */
const writesTwice: Array<[name: string, update: (context: AnyContext) => Promise<HandlerAnswer>, status: number, version: string]> = [
  ['twice under the guard it received', async ({ store, id, attributes, guard, signal }) => {
    await store.update(id, { body: 'first' }, guard, { signal })
    return await store.update(id, attributes, guard, { signal })
  }, 412, '2'],
  ['twice, the second time under the version that its first write has given', async ({ store, id, attributes, guard, signal }) => {
    const first = await store.update(id, { body: 'first' }, guard, { signal })
    return first.ok ? await store.update(id, attributes, { ...guard, version: first.row.version }, { signal }) : first
  }, 200, '3'],
  ['and then calls proceed()', async ({ store, id, guard, proceed, signal }) => {
    await store.update(id, { body: 'first' }, guard, { signal })
    return await proceed()
  }, 412, '2'],
  ['after proceed(), under the guard it received', async ({ store, id, attributes, guard, proceed, signal }) => {
    await proceed()
    return await store.update(id, attributes, guard, { signal })
  }, 200, '3'],
  ['by proceed() twice', async ({ proceed }) => {
    await proceed()
    return await proceed()
  }, 200, '3']
]

for (const [name, update, status, version] of writesTwice) {
  t.test(`a handler that writes ${name} runs once, even if authorize has read the row`, async t => {
    let calls = 0
    const { app, store, reset } = await owned(t, () => {}, { actions: { update: (context: AnyContext) => { calls++; return update(context) } } })
    for (const tag of [undefined, '"1.json"']) {
      reset(() => {})
      calls = 0
      const res = await app.inject({ method: 'PUT', url: '/posts', headers: tag === undefined ? {} : { 'if-match': tag }, payload: { id: 1, post: { title: 'mine' } } })
      t.match(res, { statusCode: status, headers: { 'content-type': types.json, etag: new RegExp(`^"${version}\\.json-`) } }, String(tag))
      t.equal(calls, 1)
      t.match(store.inner.get(1, {}, context), { version })
    }
  })
}

t.test('an action of the app\'s own on a row also runs once', async t => {
  let calls = 0
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'me'
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store, authorize }, (posts) => posts.member.post('stamp', async ({ store, id, guard, signal }) => {
    calls++
    await store.update(id, { body: 'first' }, guard, { signal })
    return await store.update(id, { body: 'second' }, guard, { signal })
  })))
  const res = await app.inject({ method: 'POST', url: '/posts/1/stamp', headers: { accept: 'application/json' } })
  t.strictSame([res.statusCode, calls], [412, 1])
  t.match(store.inner.get(1, {}, context), { version: '2', attributes: { body: 'first' } })
})

t.test('a handler that reports a stale row without its version is called once', async t => {
  let calls = 0
  let version: unknown
  const update = ({ id }: AnyContext): HandlerAnswer => {
    calls++
    return { kind: 'stale', row: { id, version, attributes: { title: 'theirs' } } } as HandlerAnswer
  }
  const { app } = await owned(t, () => {}, { actions: { update } })
  for (version of [undefined, null, '']) {
    calls = 0
    const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
    t.strictSame([res.statusCode, res.headers.etag, calls], [412, undefined, 1], String(version))
    t.match(res.body, 'theirs')
  }
})

/** Policies that let a client write a row but not see it. */
const blind: Array<[name: string, authorize: Authorize]> = [
  ['false', (_request, { action }) => action !== 'show'],
  ['a promise of \'hide\'', async (_request, { action }) => action !== 'show' || 'hide'],
  ['false by the row', async (_request, { action, row }) => (await row?.())?.attributes.owner === 'them' && action !== 'show'],
  ['an error', (_request, { action }) => { if (action === 'show') throw new Error(SECRET); return true }]
]

const blindRow = { title: SECRET, body: SECRET, owner: 'them', tags: [SECRET], postId: 1 }

/** Builds an app with a row at each kind of path. `authorize` may show none of them; the parents have none. */
async function blinded (t: Test, authorize: Authorize, options: { readonly requireMatch?: boolean } = {}): Promise<{ app: FastifyInstance, stores: RecordingStore[] }> {
  const tagged = { ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } } } as const
  const stores = ['posts', 'comments', 'notes', 'profile'].map(() => recordingStore([blindRow, { title: 'taken', owner: 'them', postId: 1 }], { unique: ['title'] }))
  const optionsOf = (index: number): { attributes: typeof tagged, store: RecordingStore, authorize: Authorize, writes: 'both', requireMatch?: boolean } => ({ attributes: tagged, store: stores[index] as RecordingStore, authorize, writes: 'both', ...options })
  const app = await drawn(t, (map) => {
    const touch = ({ store, id, guard, signal }: AnyContext): MaybePromise<HandlerAnswer> => store.update(id, {}, guard, { signal })
    map.resources('posts', optionsOf(0), (map) => { mapAction(map, 'member', 'post', 'touch', {}, touch) })
    map.resources('blogs', { store: recordingStore([{ title: 'blog' }]) }, (blogs) => {
      blogs.resources('comments', { ...optionsOf(1), foreignKey: 'postId' })
      blogs.resources('notes', { ...optionsOf(2), foreignKey: 'postId', shallow: true })
    })
    map.resource('profile', optionsOf(3))
  })
  return { app, stores }
}

const STALE = '"9.json"'
const blindWrites: Array<[name: string, singular: string, url: string, method: 'PUT' | 'PATCH' | 'DELETE' | 'POST', id?: number]> = [
  ['an update', 'post', '/posts', 'PUT', 1],
  ['an update of a member', 'post', '/posts/1', 'PATCH'],
  ['a deletion', 'post', '/posts/1', 'DELETE'],
  ['an action of the app\'s own', 'post', '/posts/1/touch', 'POST'],
  ['an update of a nested row', 'comment', '/blogs/1/comments', 'PUT', 1],
  ['a deletion of a shallow row', 'note', '/notes/1', 'DELETE'],
  ['an update of a shallow row', 'note', '/notes', 'PUT', 1],
  ['an update of a singleton', 'profile', '/profile', 'PUT'],
  ['a deletion of a singleton', 'profile', '/profile', 'DELETE']
]

for (const [how, authorize] of blind) {
  t.test(`a stale write shows nothing of a row if authorize refuses to show it by ${how}`, async t => {
    const { app, stores } = await blinded(t, authorize)
    for (const [name, singular, url, method, id] of blindWrites) {
      for (const format of FORMATS) {
        const payload = method === 'DELETE' || method === 'POST' ? undefined : { ...(id !== undefined && { id }), [singular]: { body: 'mine' } }
        const res = await app.inject({ method, url, headers: { accept: MEDIA_TYPES[format], 'if-match': STALE }, ...(payload !== undefined && { payload }) })
        const what = `${name} as ${format}`
        t.match(res, { statusCode: 412, headers: { 'content-type': REFUSAL[format], etag: undefined, location: undefined } }, what)
        t.notMatch(everythingIn(res), SECRET, what)
        t.match(res.body, `the ${singular} does not meet the If-Match`, what)
        if (format === 'json') t.match(res.json(), { title: 'Precondition Failed', status: 412 })
        if (format === 'html' && singular === 'note') t.notMatch(res.body, '/blogs/1', `${what}: the parent stays hidden too`)
      }
    }
    for (const { inner } of stores) t.match(inner.get(1, {}, context), { version: '1', attributes: blindRow }, 'nothing is written')
  })

  t.test(`a form that comes back has the sent values, but nothing of a row that authorize refuses to show by ${how}`, async t => {
    for (const requireMatch of [false, true]) {
      const { app } = await blinded(t, authorize, { requireMatch })
      const version = requireMatch ? '' : '_version=1&'
      const forms: Array<[payload: string, status: number]> = [
        ['_version=9&post[title]=&post[body]=mine', 422],
        ['_version=9&post[body]=mine', 412],
        ...(requireMatch ? [['post[body]=mine', 428] as [string, number]] : []),
        [`${version}post[body]=mine&post[tags][?][add]=1`, 200],
        ...(requireMatch ? [] : [['_version=1&post[title]=taken&post[body]=mine', 409] as [string, number]])
      ]
      for (const [resource, url, id] of [['post', '/posts', 'id=1&'], ['post', '/posts/1', ''], ['comment', '/blogs/1/comments', 'id=1&'], ['note', '/notes', 'id=1&'], ['profile', '/profile', '']] as const) {
        for (const [payload, status] of forms) {
          // The version of a singleton includes the id of its row.
          const sent = `_method=PUT&${id}${payload.replaceAll('post[', `${resource}[`).replace('_version=1', resource === 'profile' ? '_version=1-1' : '_version=1')}`
          const res = await app.inject({ method: 'POST', url, headers: { 'content-type': form, accept: 'text/html' }, payload: sent })
          t.match(res, { statusCode: status, headers: { 'content-type': types.html } }, `${url} ${sent}`)
          t.notMatch(everythingIn(res), SECRET, `${url} ${sent}`)
          t.match(res.body, />mine</, `${url} ${sent}`)
        }
      }
    }
  })
}

t.test('a stale write shows the row that authorize has seen, if it may be shown', async t => {
  const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'them'
  for (const [isLooking, how] of [[true, authorize], [false, () => true]] as const) {
    const { app } = await blinded(t, how)
    for (const [name, singular, url, method, id] of blindWrites) {
      const payload = method === 'DELETE' || method === 'POST' ? undefined : { ...(id !== undefined && { id }), [singular]: { body: 'mine' } }
      const res = await app.inject({ method, url, headers: { accept: 'application/json', 'if-match': STALE }, ...(payload !== undefined && { payload }) })
      t.match(res, { statusCode: 412, headers: { 'content-type': types.json } }, `${name}, reading the row: ${String(isLooking)}`)
      t.match(res.json(), { [singular]: { body: SECRET } })
    }
  }
})

t.test('a stale row is not shown if it is deleted or given away before authorize decides about showing it', async t => {
  for (const meanwhile of [giveAway, ({ inner }: RecordingStore) => inner.delete(1, given, context)]) {
    const store = recordingStore([{ title: SECRET, owner: 'me' }])
    const authorize: Authorize = async (_request, { action, row }) => {
      if (action !== 'show') return true
      meanwhile(store)
      return (await row?.())?.attributes.owner !== 'them'
    }
    const app = await build(t, { name: 'posts', attributes, store, authorize })
    const res = await app.inject({ method: 'DELETE', url: '/posts?id=1', headers: { accept: 'application/json', 'if-match': STALE } })
    t.match(res, { statusCode: 412, headers: { 'content-type': types.problem } })
    t.notMatch(everythingIn(res), SECRET)
  }
})

t.test('a stale row that changes once more is shown as authorize has seen it', async t => {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const authorize: Authorize = async (_request, { action, row }) => {
    if (action === 'show') touch(store)
    return action !== 'show' || (await row?.())?.attributes.owner === 'me'
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize })
  const res = await app.inject({ method: 'DELETE', url: '/posts?id=1', headers: { accept: 'application/json', 'if-match': STALE } })
  t.match(res, { statusCode: 412, headers: { 'content-type': types.json, etag: /^"2\.json-/ } })
  t.strictSame(res.json(), { post: { id: 1, title: 'T', owner: 'me', body: 'touched' } })
})

t.test('a row that a handler reports as stale is shown only if authorize allows to show it', async t => {
  const seen: unknown[] = []
  const authorize: Authorize = (_request, { action, id }) => { seen.push([action, id]); return action !== 'show' || id === 2 }
  const app = await drawn(t, (map) => map.resources('posts', { attributes, authorize }, (posts) => posts.collection.post('claim', ({ request }) => ({ kind: 'stale', row: { id: Number(request.headers['x-row']), version: '3', attributes: { title: SECRET } } }))))
  const claim = (row: string): Promise<LightMyRequestResponse> => app.inject({ method: 'POST', url: '/posts/claim', headers: { accept: 'application/json', 'x-row': row } })
  const hidden = await claim('1')
  t.match(hidden, { statusCode: 412, headers: { 'content-type': types.problem } })
  t.notMatch(everythingIn(hidden), SECRET)
  t.match(await claim('2'), { statusCode: 412, headers: { 'content-type': types.json }, body: SECRET })
  t.strictSame(seen, [['claim', undefined], ['show', 1], ['claim', undefined], ['show', 2]])
})

/** Forms that usually come back, e.g. with an invalid attribute, a taken unique value or an old version. */
const formsAgain: Array<[name: string, payload: string]> = [
  ['an invalid attribute', '_method=PUT&id=1&post[title]='],
  ['an unknown attribute', '_method=PUT&id=1&post[titel]=x'],
  ['a taken title', '_method=PUT&id=1&post[title]=taken'],
  ['an old version', '_method=PUT&id=1&_version=7&post[title]=x'],
  ['an old version of a deletion', '_method=DELETE&id=1&_version=7'],
  ['both', '_method=PUT&id=1&_version=7&post[title]='],
  ['nothing amiss', '_method=PUT&id=1&post[title]=x'],
  ['rows that are added', '_method=PUT&id=1&post[tags][?][add]=1']
]

for (const hook of ['none', 'passing', 'async', 'of the action'] as const) {
  t.test(`the page that answers a form shows nothing of a refused row, with a preHandler hook: ${hook}`, async t => {
    const store = recordingStore([{ title: SECRET, body: SECRET, tags: [SECRET] }, { title: 'taken' }], { unique: ['title'] })
    const pass = async (): Promise<void> => {}
    let answer: false | 'hide' = false
    const app = await build(t, {
      name: 'posts',
      attributes: { ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } } },
      store,
      writes: 'both',
      authorize: () => answer,
      ...(hook === 'passing' && { hooks: { preHandler: (_request, _reply, done) => { done() } } }),
      ...(hook === 'async' && { hooks: { preHandler: [pass, pass] } }),
      ...(hook === 'of the action' && { actionHooks: { update: { preHandler: pass }, delete: { preHandler: pass } } })
    } satisfies ResourceOptions)
    for (const [name, payload] of formsAgain) {
      for (answer of [false, 'hide'] as const) {
        for (const url of ['/posts', '/posts/1']) {
          store.reset()
          const what = `${name} at ${url}, answered by ${answer}`
          const res = await app.inject({ method: 'POST', url, headers: { 'content-type': form, accept: 'text/html' }, payload })
          t.ok([403, 404, 422].includes(res.statusCode), `${what}: ${res.statusCode}`)
          t.equal(res.headers['content-type'], types.html, what)
          t.notMatch(everythingIn(res), SECRET, what)
          t.strictSame(store.calls, [], what)
        }
      }
    }
  })
}

t.test('a page that shows the form again shows the row if authorize allows it', async t => {
  const app = await build(t, { name: 'posts', attributes, store: recordingStore([{ title: 'T', body: 'whole' }]), authorize: () => true })
  const res = await app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload: '_method=PUT&id=1&post[title]=' })
  t.equal(res.statusCode, 422)
  t.match(res.body, 'whole')
})

t.test('a hook that refuses a form answers with nothing of the row', async t => {
  const refuse = async (): Promise<never> => { throw Object.assign(new Error('log in first'), { statusCode: 401 }) }
  const options: Array<[string, Partial<ResourceOptions>]> = [
    ['preHandler of the resource', { hooks: { preHandler: refuse } }],
    ['preHandler of the action', { actionHooks: { update: { preHandler: refuse }, delete: { preHandler: refuse } } }],
    ['preValidation of the resource', { hooks: { preValidation: refuse } }],
    ['preValidation of the action', { actionHooks: { update: { preValidation: refuse }, delete: { preValidation: refuse } } }],
    ['onRequest of the action', { actionHooks: { update: { onRequest: refuse }, delete: { onRequest: refuse } } }]
  ]
  for (const [name, option] of options) {
    const store = recordingStore([{ title: SECRET, body: SECRET }])
    const app = await build(t, { name: 'posts', attributes, store, ...option })
    for (const payload of ['_method=PUT&id=1&post[title]=x', '_method=DELETE&id=1']) {
      store.reset()
      const res = await app.inject({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload })
      t.match(res, { statusCode: 401, headers: { 'content-type': types.html } }, name)
      t.notMatch(res.body, SECRET, name)
      t.strictSame(store.calls, [], name)
    }
  }
})

t.test('a hidden row is answered to the byte like a missing one', async t => {
  const rows = [{ title: SECRET, owner: 'them' }, { title: 'mine', owner: 'me' }]
  const policies: Array<[string, Authorize]> = [
    ['by the id', (_request, { id }) => id === 1 ? 'hide' : true],
    ['by the row', async (_request, { row }) => row === undefined || (await row())?.attributes.owner !== 'them' || 'hide'],
    ['by the row, those that are not there included', async (_request, { row }) => row === undefined || (await row())?.attributes.owner === 'me' || 'hide']
  ]
  const requests: InjectOptions[] = [
    ...['', '.xml', '.html', '.json', '/edit', '/edit.json', '/edit.html', '/peek', '/peek.html'].flatMap((suffix): InjectOptions[] => [{ url: `/posts/1${suffix}` }, { method: 'HEAD', url: `/posts/1${suffix}` }]),
    { url: '/posts/1', headers: { 'if-none-match': '*' } },
    { url: '/posts/1', headers: { 'if-match': '"1.xml"' } },
    { url: '/posts/1', headers: { 'if-match': 'no tag' } },
    { url: '/posts/1', headers: { 'if-none-match': 'no tag' } },
    { url: '/posts/1/peek?loud=perhaps' },
    ...[undefined, '*', '"1.json"', '"9.json"', '"1.json", "9.json"', 'no tag'].flatMap((tag): InjectOptions[] => {
      const headers = tag === undefined ? {} : { 'if-match': tag }
      return [
        { method: 'PUT', url: '/posts.json', headers, payload: { id: 1, post: { title: 'x' } } },
        { method: 'PUT', url: '/posts.json', headers, payload: { id: 1, post: { title: '' } } },
        { method: 'PUT', url: '/posts.json', headers, payload: { id: 1, post: { title: 'mine' } } },
        { method: 'PATCH', url: '/posts/1.xml', headers: { ...headers, 'content-type': 'application/xml' }, payload: '<post><title>x</title></post>' },
        { method: 'DELETE', url: '/posts/1', headers },
        { method: 'DELETE', url: '/posts?id=1', headers },
        { method: 'POST', url: '/posts/1/poke', headers }
      ]
    }),
    ...['_method=PUT&id=1&post[title]=x', '_method=PUT&id=1&post[title]=', '_method=PUT&id=1&_version=1&post[title]=x', '_method=PUT&id=1&_version=9&post[title]=mine', '_method=DELETE&id=1', '_method=DELETE&id=1&_version=9'].map((payload): InjectOptions => ({ method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload })),
    { url: '/posts/1/comments' },
    { url: '/posts/1/comments/1.json' },
    { method: 'POST', url: '/posts/1/comments.json', payload: { comment: { title: 'x' } } },
    { url: '/posts/1/comments.html' }
  ]

  /** Opens the app with the row, or without it. */
  const open = (t: Test, authorize: Authorize, requireMatch: boolean, isThere: boolean): Promise<FastifyInstance> => {
    const store = recordingStore(rows, { unique: ['title'] })
    if (!isThere) store.inner.delete(1, given, context)
    return drawn(t, (map) => map.resources('posts', { attributes, store, authorize, writes: 'both', formPages: true, requireMatch }, (posts) => {
      posts.member.get('peek', { query: { type: 'object', properties: { loud: { type: 'boolean' } } } }, ({ row }) => row())
      posts.member.post('poke', ({ row }) => row())
      posts.resources('comments', { attributes, store: recordingStore() })
    }))
  }
  const told = ({ statusCode, headers: { date: _, ...headers }, body }: LightMyRequestResponse): unknown => ({ statusCode, headers, body })
  for (const requireMatch of [false, true]) {
    const missing = await open(t, () => true, requireMatch, false)
    const expected: unknown[] = []
    for (const request of requests) expected.push(told(await missing.inject(request)))
    for (const [name, authorize] of policies) {
      await t.test(`${name}${requireMatch ? ', with requireMatch' : ''}`, async t => {
        const hiding = await open(t, authorize, requireMatch, true)
        for (const [index, request] of requests.entries()) {
          const what = `${request.method ?? 'GET'} ${String(request.url)} ${JSON.stringify(request.headers)} ${JSON.stringify(request.payload)}`
          t.strictSame(told(await hiding.inject(request)), expected[index], what)
        }
      })
    }
  }
})

t.test('a hidden singleton is answered to the byte like a missing one', async t => {
  const open = (authorize: Authorize, isThere: boolean): Promise<FastifyInstance> => drawn(t, (map) => map.resource('profile', { attributes, store: recordingStore(isThere ? [{ title: SECRET, owner: 'them' }] : []), authorize, formPages: true }))
  const hiding = await open(async (_request, { row }) => row === undefined || (await row())?.attributes.owner !== 'them' || 'hide', true)
  const missing = await open(() => true, false)
  const told = ({ statusCode, headers: { date: _, ...headers }, body }: LightMyRequestResponse): unknown => ({ statusCode, headers, body })
  for (const format of FORMATS) {
    const requests: InjectOptions[] = [
      { url: `/profile.${format}` },
      { method: 'HEAD', url: `/profile.${format}` },
      { url: `/profile/edit.${format}` },
      { method: 'PUT', url: `/profile.${format}`, payload: { profile: { title: 'x' } } },
      { method: 'DELETE', url: `/profile.${format}` },
      { method: 'POST', url: `/profile.${format}`, headers: { 'content-type': form }, payload: '_method=PUT&profile[title]=x' },
      { method: 'POST', url: `/profile.${format}`, headers: { 'content-type': form }, payload: '_method=DELETE' }
    ]
    for (const request of requests) t.strictSame(told(await hiding.inject(request)), told(await missing.inject(request)), `${request.method ?? 'GET'} ${String(request.url)} ${String(request.payload)}`)
  }
})

t.test('a client that may not open a form is told which action is refused', async t => {
  const app = await drawn(t, (map) => { map.resources('posts', { attributes, formPages: true, authorize: () => false }) })
  for (const [url, detail] of [['/posts/new.json', 'you are not allowed to create posts'], ['/posts/1/edit.json', 'you are not allowed to update posts'], ['/posts/1.json', 'you are not allowed to show posts']] as const) {
    const res = await app.inject(url)
    t.match(res, { statusCode: 403, headers: { 'content-type': types.problem } })
    t.equal(res.json().detail, detail)
  }
})

t.test('a refused action of the app\'s own is named in the message, whatever its name', async t => {
  const names = ['publish', 'new', 'edit', 'toString', 'constructor']
  const app = await drawn(t, (map) => {
    map.resources('posts', { attributes, authorize: () => false }, (posts) => {
      for (const name of names) posts.collection.get(name, () => []).member.post(name, ({ row }) => row())
    })
  })
  for (const name of names) {
    for (const request of [{ url: `/posts/${name}.json` }, { method: 'POST', url: `/posts/1/${name}.json` }] as const) {
      const res = await app.inject(request)
      t.match(res, { statusCode: 403, headers: { 'content-type': types.problem } })
      t.equal(res.json().detail, `you are not allowed to ${name} posts`)
    }
  }
})

t.test('a hidden resource is answered as if it were empty', async t => {
  const app = await drawn(t, (map) => {
    map.resources('posts', { attributes, authorize: () => 'hide' })
    map.resource('profile', { attributes, authorize: () => 'hide' })
  })
  for (const request of [{ url: '/posts.json' }, { method: 'POST', url: '/posts.json', payload: { post: { title: 'x' } } }] as const) {
    const res = await app.inject(request)
    t.match(res, { statusCode: 404, headers: { 'content-type': types.problem } })
    t.equal(res.json().detail, 'there is no post here')
  }
  t.equal((await app.inject('/profile.json')).json().detail, 'there is no profile here')
})

/** Returns the forms and links that a page offers, each by its target. */
function offersOf (page: string): string[] {
  return [...page.matchAll(/<form method="post" action="([^"]*)"[^>]*>\s*(?:<input type="hidden" name="_method" value="(\w+)")?|<a class="button[^"]*" href="([^"]*)"/g)].map(([, action, method, href]) => href ?? `${method ?? 'POST'} ${action}`)
}

for (const [kind, formPages] of [['forms of their own', true], ['forms within', false]] as const) {
  for (const views of [{}, { form: defaultViews.form }]) {
    const given = Object.keys(views).length === 0 ? 'our views' : 'views of the app'
    t.test(`pages with ${kind} and ${given} offer what authorize allows without the row`, async t => {
      let isAllowed: Authorize = () => true
      const app = await drawn(t, (map) => map.resources('posts', { attributes, formPages, html: { views }, store: recordingStore([{ title: 'T' }]), authorize: (request, attempt) => isAllowed(request, attempt) }, (posts) => posts
        .collection.post('purge', () => {}).collection.get('recent', () => []).member.post('publish', () => {}).member.delete('hide', () => {})))
      const get = async (url: string): Promise<string[]> => offersOf((await app.inject({ url, headers: { accept: 'text/html' } })).body)
      const list = ['POST /posts/purge', '/posts/recent', ...(formPages ? ['/posts/new'] : ['#new', 'POST /posts'])]
      const record = await get('/posts/1')
      t.strictSame(await get('/posts'), list)
      t.ok(record.length >= 4)
      const refuse = (...refused: string[]): void => { isAllowed = (_request, { action }) => !refused.includes(action) }

      refuse('create', 'purge')
      t.strictSame(await get('/posts'), ['/posts/recent'])
      t.strictSame(await get('/posts/1'), record)
      refuse('new')
      t.strictSame(await get('/posts'), formPages ? list.slice(0, 2) : list)
      refuse('update', 'delete', 'publish', 'hide')
      t.strictSame(await get('/posts/1'), [])
      t.strictSame(await get('/posts'), list)
      refuse('edit', 'delete', 'publish')
      t.strictSame(await get('/posts/1'), ['DELETE /posts/1/hide', ...(formPages ? [] : ['#edit', 'PUT /posts', '/posts/1'])], 'a form within needs `update` alone')
      isAllowed = async (_request, { action }) => action === 'show'
      t.strictSame(await get('/posts/1'), [], 'promises work as well')
      isAllowed = (_request, { action }) => action === 'show' || 'hide'
      t.strictSame(await get('/posts/1'), [])
      isAllowed = async (_request, { action, row }) => action === 'show' || (await row?.())?.attributes.title === 'U'
      t.strictSame(await get('/posts/1'), record, 'a page offers actions whose refusal depends on the row')
      isAllowed = async (_request, { action, row }) => action === 'show' || await Promise.resolve().then(() => row?.()).then(() => false, () => false)
      t.strictSame(await get('/posts/1'), record, 'the same if authorize catches the error')
      const loadUser = async (): Promise<never> => { await new Promise(setImmediate); throw new Error('no user') }
      isAllowed = async (_request, { action, row }) => action === 'show' || (await Promise.all([loadUser(), row?.()])).length > 0
      t.strictSame(await get('/posts/1'), record, 'the same beside a later error, which does not end the process')
      isAllowed = (_request, { action, row }) => action === 'show' || row?.() === undefined
      t.strictSame(await get('/posts/1'), record, 'the same if nobody awaits row()')
      isAllowed = (_request, { action }) => { if (action === 'show') return true; throw new Error('no') }
      t.strictSame(await get('/posts/1'), record, 'an error does not remove an offer')
      isAllowed = (_request, { action }) => action === 'show'
      t.equal((await app.inject({ url: '/posts/1', headers: { accept: 'text/html', 'if-none-match': '*' } })).statusCode, 200, 'another user\'s page is not answered with 304')
      const asked: string[] = []
      isAllowed = (_request, { action }) => asked.push(action) > 0
      for (const format of ['xml', 'json']) for (const path of ['posts', 'posts/1']) await app.inject(`/${path}.${format}`)
      t.strictSame(asked, ['list', 'show', 'list', 'show'], 'XML and JSON ask for nothing else')
    })
  }
}

t.test('the page of a missing singleton offers to create it if authorize allows it', async t => {
  let allowed: boolean | 'hide' = true
  const app = await drawn(t, (map) => map.resource('profile', { attributes, authorize: (_request, { action }) => action === 'show' || allowed }))
  const get = async (): Promise<string[]> => offersOf((await app.inject({ url: '/profile', headers: { accept: 'text/html' } })).body)
  t.strictSame(await get(), ['POST /profile'])
  allowed = false
  t.strictSame(await get(), [])
})

t.test('pages of many combinations of refused actions are right, also if not all of them are cached', async t => {
  const names = Array.from({ length: 8 }, (_, index) => `act${index}`)
  let refused: readonly string[] = []
  const app = await drawn(t, (map) => map.resources('posts', { attributes, only: ['list', 'show'], store: recordingStore([{ title: 'T' }]), authorize: (_request, { action }) => !refused.includes(action) }, (posts) => {
    for (const name of names) posts.member.post(name, () => {})
  }))
  for (let bits = 0; bits < 200; bits++) {
    refused = names.filter((_, index) => (bits >> index) % 2 === 1)
    const { body } = await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })
    t.strictSame(offersOf(body), names.filter((name) => !refused.includes(name)).map((name) => `POST /posts/1/${name}`))
  }
})

t.test('the page of a singleton offers what authorize allows', async (t) => {
  const store = memoryStore()
  store.create({ line: 'about' }, {})
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map.resource('profile', { store, attributes: { type: 'object', properties: { line: { type: 'string' } } }, authorize: (_request, { action, id }) => action === 'show' && id === undefined })))
  const { body, statusCode } = await app.inject('/profile.html')
  t.equal(statusCode, 200)
  t.match(body, 'about')
  t.notMatch(body, '<form')
})
