import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Authorize, type AuthorizeContext, type FindScope, InvalidError, type ResourceOptions, type ResourceRoute
} from '../../../lib/index.js'
import { drawn, everythingIn, MEDIA_TYPES, REFUSAL, SECRET } from '../../support/authorize.js'
import { build, types } from '../../support/helper.js'
import { type AnyContext, mapAction } from '../../support/map-action.js'
import { type RecordingStore, recordingStore } from '../../support/stores/recording-store.js'

const form = 'application/x-www-form-urlencoded'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' }, owner: { type: 'string' } }
} as const

const FORMATS = ['xml', 'html', 'json'] as const
type FormatName = (typeof FORMATS)[number]

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

const SINGULAR: Readonly<Record<string, string>> = {
  posts: 'post', comments: 'comment', replies: 'reply', notes: 'note', reports: 'report'
}

async function makeWorld (t: Test, writes: 'both'): Promise<World & { answer: World['answer'] }> {
  const names = ['posts', 'comments', 'replies', 'notes', 'reports', 'logo', 'profile']
  const stores = Object.fromEntries(names.map((name) => [name,
    recordingStore([{ title: `${SECRET} ${name}`, body: SECRET, postId: 1, commentId: 1 }])]))
  const reached: string[] = []
  const asked: AuthorizeContext[] = []
  const handler = ({ action, store, scope }: AnyContext): readonly [] | undefined => {
    reached.push(action)
    store.list({
      order: [{ by: 'id', descending: false }], after: undefined, limit: 1, scope, filter: [], search: undefined
    }, { signal: new AbortController().signal })
    return action === 'list' ? [] : undefined
  }
  const own = (isSingleton: boolean) => (map: object): void => {
    for (const stand of isSingleton ? ['member', 'new'] as const : ['collection', 'member', 'new'] as const) {
      for (const verb of ['get', 'post', 'put', 'patch', 'delete'] as const) {
        mapAction(map, stand, verb, `${verb}It`, {}, handler)
      }
      for (const verb of ['get', 'put', 'patch', 'delete'] as const) {
        mapAction(map, stand, verb, `${verb}Shared`, { path: 'shared' }, handler)
      }
    }
  }
  const world: World = { app: undefined as unknown as FastifyInstance, stores, asked, reached, answer: () => true }
  const authorize: Authorize = (_request, attempt) => {
    asked.push(attempt)
    // Some cases deliberately answer with something other than a boolean.
    return world.answer(attempt) as boolean
  }
  const optionsOf = (name: string): {
    attributes: typeof attributes, store: RecordingStore, writes: typeof writes, formPages: true
  } => ({ attributes, store: stores[name] as RecordingStore, writes, formPages: true })
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
    map.resources('reports', {
      ...optionsOf('reports'),
      actions: { list: handler, show: handler, create: handler, update: handler, delete: handler }
    })
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

/** How a request names its format. */
const WAYS = [['xml', 'suffix'], ['html', 'query'], ['json', 'accept'], ['html', 'accept']] as const

/** Returns every request that the routes serve, in every format and by every form. */
function casesOf (routes: readonly ResourceRoute[]): Case[] {
  return [...routes, ...headsOf(routes)].flatMap((route) => {
    const forms = route.verb === 'PUT' || route.verb === 'DELETE' ? [undefined, route.verb] : [undefined]
    return WAYS.flatMap(([format, by]) => forms.flatMap((override) => casesFor(route, format, by, override)))
  })
}

function headsOf (routes: readonly ResourceRoute[]): ResourceRoute[] {
  return routes.filter(({ verb }) => verb === 'GET').map((route) => ({ ...route, verb: 'HEAD' }))
}

function casesFor (route: ResourceRoute, format: FormatName, by: 'suffix' | 'query' | 'accept', override: string
  | undefined): Case[] {
  const [resource, action] = route.action.split('#') as [string, string]
  const path = route.path.replaceAll(/:\w+/g, '1')
  const isRow = /\/:id(?:\/\w+)?$/.test(route.path)
  const isSingleton = SINGULAR[resource] === undefined
  const isByPayload = !isSingleton && !isRow && (action === 'update' || action === 'delete')
  const url = by === 'suffix' ? `${path}.${format}` : by === 'query' ? `${path}?format=${format}` : path
  const singular = SINGULAR[resource] ?? resource
  const id = isByPayload ? 1 : undefined
  const bodies = override !== undefined
    ? [form]
    : ['GET', 'HEAD'].includes(route.verb)
        ? [undefined]
        : route.verb === 'QUERY' ? [form, MEDIA_TYPES.json] : [MEDIA_TYPES.xml, MEDIA_TYPES.json]
  const whole = {
    resource,
    action,
    format,
    id: isRow || isByPayload ? 1 : undefined,
    isNested: resource !== 'posts' && route.path.startsWith('/posts')
  }
  const cases = bodies.map((type): Case => {
    const method = (override === undefined ? route.verb : 'POST') as 'POST'
    const headers = {
      ...(by === 'accept' && { accept: MEDIA_TYPES[format] }), ...(type !== undefined && { 'content-type': type })
    }
    return {
      ...whole,
      name: `${method}${override === undefined ? '' : `+${override}`} ${url} as ${format} of ${String(type)}`,
      request: {
        method,
        url,
        headers,
        ...(type !== undefined &&
          { payload: route.verb === 'QUERY' ? QUERIES[type] ?? '' : payloadOf(type, singular, id, override) })
      }
    }
  })
  if (!isByPayload || action !== 'delete' || override !== undefined) return cases
  // DELETE also takes its id from the query, since some proxies drop the body.
  return [...cases, {
    ...whole,
    name: `DELETE ${url} by the query as ${format}`,
    request: {
      method: 'DELETE',
      url: `${url}${url.includes('?') ? '&' : '?'}id=1`,
      headers: by === 'accept' ? { accept: MEDIA_TYPES[format] } : {}
    }
  }]
}

const QUERIES: Readonly<Record<string, string>> = { [form]: 'limit=1', [MEDIA_TYPES.json]: '{"limit":1}' }

function payloadOf (type: string, singular: string, id: number | undefined, override: string | undefined): string {
  const title = 'mine'
  if (type === form) {
    return new URLSearchParams({
      ...(override !== undefined && { _method: override }),
      ...(id !== undefined && { id: String(id) }),
      [`${singular}[title]`]: title
    }).toString()
  }
  if (type === MEDIA_TYPES.xml) {
    return `<${singular}>${id === undefined ? '' : `<id>${id}</id>`}<title>${title}</title></${singular}>`
  }
  return JSON.stringify({ ...(id !== undefined && { id }), [singular]: { title } })
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
async function findHoles (world: World, cases: readonly Case[], status: number, wanted: (
  given: Case
) => Array<Pick<AuthorizeContext, 'action' | 'resource' | 'id'>>): Promise<unknown[]> {
  const holes: unknown[] = []
  for (const given of cases) {
    forgetAll(world)
    const res = await world.app.inject(given.request)
    const calls = callsIn(world.stores)
    // The page of a missing singleton, or of a form whose row is missing, also asks whether it may offer to create it.
    const isOffered = status === 404 && given.format === 'html' &&
      (['logo', 'profile'].includes(given.resource) || given.action === 'update')
    const asked = world.asked.filter(({ action }) => !isOffered || action !== 'create' || given.action === 'create')
      .map(({ action, resource, id }) => ({ action, resource, ...(id !== undefined && { id }) }))
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

const askedLast = ({ action, resource, id }: Case): Array<Pick<AuthorizeContext,
  'action' | 'resource' | 'id'>> => [{ action, resource, ...(id !== undefined && { id }) }]

t.test('no request gets past an authorize that refuses', async t => {
  // This value of the option serves all paths of the others.
  const world = await makeWorld(t, 'both')
  const cases = casesOf(world.app.resourceRoutes)
  const kinds = new Set(cases.map(({ resource, action }) => `${resource}#${action}`))
  for (const resource of ['posts', 'comments', 'replies', 'notes', 'reports']) {
    for (const action of ['list', 'show', 'create', 'update', 'delete', 'new', 'edit']) {
      t.ok(kinds.has(`${resource}#${action}`), `${resource}#${action} is covered`)
    }
  }
  t.ok(cases.length > 700, `${cases.length} requests`)

  for (const [answer, status] of [[false, 403], ['hide', 404]] as const) {
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
      if (res.statusCode !== 403 || res.headers['content-type'] !== REFUSAL[format] ||
        everythingIn(res).includes(SECRET) || written.length > 0 || world.reached.length > 0) {
        holes.push([name, res.statusCode, written, world.reached, res.body.slice(0, 200)])
      }
    }
    t.strictSame(holes, [])
  })

  await t.test('an authorize that allows everything lets each request through', async t => {
    world.answer = () => true
    const refused: unknown[] = []
    for (const { request, name } of cases) {
      const res = await world.app.inject(request)
      if ([401, 403, 405, 406, 415, 422, 500].includes(res.statusCode)) {
        refused.push([name, res.statusCode, res.body.slice(0, 200)])
      }
    }
    t.strictSame(refused, [])
  })
})

t.test('a shallow row is neither shown nor given to a handler if its parent is refused or missing', async t => {
  const reached: string[] = []
  const app = await drawn(t,
    (map) => map.resources('posts', {
      attributes, store: recordingStore([{ title: 'P' }]), authorize: ({ headers }) => headers['x-user'] === 'ann'
    }, (posts) => {
      posts.resources('notes', {
        attributes, store: recordingStore([{ title: SECRET, postId: 1 }]), writes: 'both', shallow: true
      }, ({ member }) => member.post('touch', ({ action }) => { reached.push(action) }))
    }))
  const answers = async (user: string, id: number): Promise<number[]> => {
    const requests: InjectOptions[] = [{ url: `/notes/${id}` },
      { method: 'PUT', url: `/notes/${id}`, payload: { note: { title: 'x' } } },
      { method: 'POST', url: `/notes/${id}/touch` }]
    return Promise.all(requests.map(async (request) =>
      (await app.inject({ ...request, headers: { 'x-user': user } })).statusCode))
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
  ['false', false, 403],
  ['a promise of false', Promise.resolve(false), 403],
  ['undefined', undefined, 403],
  ['"yes"', 'yes', 403],
  ['an object', {}, 403],
  ['a thenable of "yes"', { then: (resolve: (value: unknown) => void) => { resolve('yes') } }, 403],
  ['"hide"', 'hide', 404],
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
  ['an error with a status', () => {
    throw Object.assign(new Error('log in first'), { statusCode: 401 })
  }, 401, 'log in first'],
  ['a rejection with a status', async () => {
    throw Object.assign(new Error('pay first'), { statusCode: 402 })
  }, 402, 'pay first'],
  ['an error of ours', () => { throw new InvalidError({ title: ['must be yours'] }) }, 422, 'title must be yours'],
  ['an error without one', () => { throw new Error(SECRET) }, 500, 'something went wrong on the server'],
  ['a rejection without one', async () => { throw new Error(SECRET) }, 500, 'something went wrong on the server'],
  ['what is no error', () => { throw SECRET }, 500, 'something went wrong on the server']
]

t.test('an error that authorize throws is the answer', async t => {
  const store = recordingStore([{ title: 'T' }])
  let policy: Authorize = () => true
  const app = await build(t, {
    name: 'posts', attributes, store, authorize: (request, attempt) => policy(request, attempt)
  })
  for (const [name, authorize, status, detail] of thrown) {
    await t.test(`${name} thrown by authorize is answered with its status`, async t => {
      store.reset()
      policy = authorize
      const requests: InjectOptions[] = [
        { url: '/posts/1' },
        { method: 'DELETE', url: '/posts?id=1' },
        {
          method: 'POST',
          url: '/posts',
          headers: { 'content-type': form, accept: 'application/json' },
          payload: '_method=PUT&id=1&post[title]=x'
        }
      ]
      for (const request of requests) {
        const res = await app.inject({ ...request, headers: { accept: 'application/json', ...request.headers } })
        t.match(res, { statusCode: status, headers: { 'content-type': types.problem } })
        t.equal(res.json().detail, detail)
      }
      const page = await app.inject({
        method: 'POST',
        url: '/posts',
        headers: { 'content-type': form, accept: 'text/html' },
        payload: '_method=PUT&id=1&post[title]=x'
      })
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
    map.resources('posts', { attributes, store: recordingStore(rows), authorize, formPages: true, writes: 'both' },
      (posts) => {
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
    [{ method: 'POST', url: '/posts', payload: { post: { title: 'x' } } },
      [{ action: 'create', resource: 'posts', hasRow: false }]],
    [{ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'x' } } },
      [{ action: 'update', resource: 'posts', id: 1, hasRow: true }]],
    [{ method: 'PATCH', url: '/posts/1', payload: { post: { title: 'x' } } },
      [{ action: 'update', resource: 'posts', id: 1, hasRow: true }]],
    [{ url: '/posts/recent' }, [{ action: 'recent', resource: 'posts', hasRow: false }]],
    [{ method: 'POST', url: '/posts/1/publish' }, [{ action: 'publish', resource: 'posts', id: 1, hasRow: true }]],
    [{ method: 'POST', url: '/posts/new/preview' }, [{ action: 'preview', resource: 'posts', hasRow: false }]],
    [{ url: '/posts/1/comments' }, [post, { action: 'list', resource: 'comments', hasRow: false }]],
    [{ method: 'POST', url: '/posts/1/comments', payload: { comment: { title: 'x' } } },
      [post, { action: 'create', resource: 'comments', hasRow: false }]],
    [{ method: 'PUT', url: '/posts/1/comments/1/replies', payload: { id: 1, reply: { title: 'x' } } },
      [post, comment, { action: 'update', resource: 'replies', id: 1, hasRow: true }]],
    [{ url: '/posts/1/logo' }, [post, { action: 'show', resource: 'logo', hasRow: true }]],
    [{ method: 'POST', url: '/profile', payload: { profile: { title: 'x' } } },
      [{ action: 'create', resource: 'profile', hasRow: false }]],
    [{ url: '/profile/new' }, [{ action: 'new', resource: 'profile', hasRow: false }]],
    [{ method: 'PUT', url: '/profile', payload: { profile: { title: 'x' } } },
      [{ action: 'update', resource: 'profile', hasRow: true }]],
    [{ method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=delete&id=1' },
      [{ action: 'delete', resource: 'posts', id: 1, hasRow: true }]]
  ]
  for (const [request, wanted] of cases) {
    seen.length = 0
    const res = await app.inject(request)
    t.ok(res.statusCode < 400, `${request.method ?? 'GET'} ${String(request.url)} succeeds: ${res.statusCode}`)
    t.strictSame(seen, wanted, `${request.method ?? 'GET'} ${String(request.url)}`)
  }
})

t.test('for a page, authorize is asked for the actions that exist and no others', async (t) => {
  const cases: ReadonlyArray<readonly [only: NonNullable<ResourceOptions['only']>, url: string,
    wanted: readonly string[]]> = [
      [['list', 'show'], '/posts.html', ['list']],
      [['list', 'show'], '/posts/1.html', ['list', 'show']],
      ['show', '/posts/1.html', ['show']],
      [['list', 'show', 'create'], '/posts.html', ['create', 'list']],
      [['list', 'show', 'delete'], '/posts/1.html', ['delete', 'list', 'show']]
    ]
  for (const [only, url, wanted] of cases) {
    const asked = new Set<string>()
    const app = await build(t, {
      name: 'posts',
      attributes,
      only,
      store: recordingStore([{ title: 'a' }]),
      authorize: (_, { action }) => {
        asked.add(action)
        return true
      }
    })
    t.equal((await app.inject(url)).statusCode, 200)
    t.strictSame([...asked].sort(), wanted, `${String(only)} ${url}`)
  }
})

t.test('each authorize is asked, the scope\'s first, and all must allow', async t => {
  for (const [outer, inner, status, wanted] of [[true, true, 200, ['outer', 'inner']], [false, true, 403, ['outer']],
    [true, false, 403, ['outer', 'inner']], ['hide', true, 404, ['outer']]] as const) {
    const asked: string[] = []
    const app = await drawn(t, (map) => map.scope({ authorize: () => { asked.push('outer'); return outer } }, (map) =>
      map.resources('posts', { attributes, authorize: () => { asked.push('inner'); return inner } })))
    t.equal((await app.inject('/posts.json')).statusCode, status)
    t.strictSame(asked, wanted)
  }
})

t.test('a refusal calls authorize once, also for a browser\'s form', async t => {
  for (const payload of ['_method=PUT&id=1&post[title]=x', '_method=DELETE&id=1', 'post[title]=x']) {
    let asked = 0
    const app = await build(t, {
      name: 'posts', attributes, store: recordingStore([{ title: SECRET }]), authorize: () => ++asked > 1
    })
    const res = await app.inject({
      method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload
    })
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
  t.equal((await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'x' } } })).statusCode,
    200)
  t.strictSame(store.calls.map(({ method }) => method), ['get', 'update'])
})

const given = { version: undefined, scope: {} }
const context = { signal: new AbortController().signal }

t.test('a hidden row is answered to the byte like a missing one', async t => {
  const rows = [{ title: SECRET, owner: 'them' }, { title: 'mine', owner: 'me' }]
  const policies: Array<[string, Authorize]> = [
    ['by the id', (_request, { id }) => id === 1 ? 'hide' : true],
    ['by the row', async (_request, { row }) =>
      row === undefined || (await row())?.attributes.owner !== 'them' || 'hide'],
    ['by the row, those that are not there included', async (_request, { row }) =>
      row === undefined || (await row())?.attributes.owner === 'me' || 'hide']
  ]
  const requests: InjectOptions[] = [
    ...['', '.xml', '.html', '.json', '/edit', '/edit.json', '/edit.html', '/peek', '/peek.html'].flatMap(
      (suffix): InjectOptions[] => [{ url: `/posts/1${suffix}` }, { method: 'HEAD', url: `/posts/1${suffix}` }]
    ),
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
        {
          method: 'PATCH',
          url: '/posts/1.xml',
          headers: { ...headers, 'content-type': 'application/xml' },
          payload: '<post><title>x</title></post>'
        },
        { method: 'DELETE', url: '/posts/1', headers },
        { method: 'DELETE', url: '/posts?id=1', headers },
        { method: 'POST', url: '/posts/1/poke', headers }
      ]
    }),
    ...['_method=PUT&id=1&post[title]=x', '_method=PUT&id=1&post[title]=', '_method=PUT&id=1&_version=1&post[title]=x',
      '_method=PUT&id=1&_version=9&post[title]=mine', '_method=DELETE&id=1', '_method=DELETE&id=1&_version=9'].map(
      (payload): InjectOptions => ({
        method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload
      })
    ),
    { url: '/posts/1/comments' },
    { url: '/posts/1/comments/1.json' },
    { method: 'POST', url: '/posts/1/comments.json', payload: { comment: { title: 'x' } } },
    { url: '/posts/1/comments.html' }
  ]

  /** Opens the app with the row, or without it. */
  const open = (t: Test, authorize: Authorize, requireMatch: boolean, isThere: boolean): Promise<FastifyInstance> => {
    const store = recordingStore(rows, { unique: ['title'] })
    if (!isThere) store.inner.delete(1, given, context)
    return drawn(t, (map) => map.resources('posts',
      { attributes, store, authorize, writes: 'both', formPages: true, requireMatch }, (posts) => {
        posts.member.get('peek', { query: { type: 'object', properties: { loud: { type: 'boolean' } } } }, ({ row }) =>
          row())
        posts.member.post('poke', ({ row }) => row())
        posts.resources('comments', { attributes, store: recordingStore() })
      }))
  }
  const told = ({ statusCode, headers: { date: _, ...headers }, body }: LightMyRequestResponse): unknown =>
    ({ statusCode, headers, body })
  for (const requireMatch of [false, true]) {
    const missing = await open(t, () => true, requireMatch, false)
    const expected: unknown[] = []
    for (const request of requests) expected.push(told(await missing.inject(request)))
    for (const [name, authorize] of requireMatch ? policies.slice(1, 2) : policies) {
      await t.test(`${name}${requireMatch ? ', with requireMatch' : ''}`, async t => {
        const hiding = await open(t, authorize, requireMatch, true)
        for (const [index, request] of requests.entries()) {
          const what = `${request.method ?? 'GET'} ${String(
            request.url
          )} ${JSON.stringify(request.headers)} ${JSON.stringify(request.payload)}`
          t.strictSame(told(await hiding.inject(request)), expected[index], what)
        }
      })
    }
  }
})

t.test('a hidden singleton is answered to the byte like a missing one', async t => {
  const open = (authorize: Authorize, isThere: boolean): Promise<FastifyInstance> => drawn(t,
    (map) => map.resource('profile', {
      attributes, store: recordingStore(isThere ? [{ title: SECRET, owner: 'them' }] : []), authorize, formPages: true
    }))
  const hiding = await open(async (_request, { row }) =>
    row === undefined || (await row())?.attributes.owner !== 'them' || 'hide', true)
  const missing = await open(() => true, false)
  const told = ({ statusCode, headers: { date: _, ...headers }, body }: LightMyRequestResponse): unknown =>
    ({ statusCode, headers, body })
  for (const format of FORMATS) {
    const requests: InjectOptions[] = [
      { url: `/profile.${format}` },
      { method: 'HEAD', url: `/profile.${format}` },
      { url: `/profile/edit.${format}` },
      { method: 'PUT', url: `/profile.${format}`, payload: { profile: { title: 'x' } } },
      { method: 'DELETE', url: `/profile.${format}` },
      {
        method: 'POST',
        url: `/profile.${format}`,
        headers: { 'content-type': form },
        payload: '_method=PUT&profile[title]=x'
      },
      { method: 'POST', url: `/profile.${format}`, headers: { 'content-type': form }, payload: '_method=DELETE' }
    ]
    for (const request of requests) {
      t.strictSame(told(await hiding.inject(request)), told(await missing.inject(request)),
        `${request.method ?? 'GET'} ${String(request.url)} ${String(request.payload)}`)
    }
  }
})

t.test('a client that may not open a form is told which action is refused', async t => {
  const app = await drawn(t, (map) => {
    map.resources('posts', { attributes, formPages: true, authorize: () => false })
  })
  for (const [url, detail] of [['/posts/new.json', 'you are not allowed to create posts'],
    ['/posts/1/edit.json', 'you are not allowed to update posts'],
    ['/posts/1.json', 'you are not allowed to show posts']] as const) {
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
  for (const request of [{ url: '/posts.json' },
    { method: 'POST', url: '/posts.json', payload: { post: { title: 'x' } } }] as const) {
    const res = await app.inject(request)
    t.match(res, { statusCode: 404, headers: { 'content-type': types.problem } })
    t.equal(res.json().detail, 'there is no post here')
  }
  t.equal((await app.inject('/profile.json')).json().detail, 'there is no profile here')
})
