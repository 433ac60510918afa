import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import {
  type Attributes, draw, type Handler, type Id, type Mapper, memoryStore, type ResourceMapper, type ResourceOptions,
  type Store
} from '../../lib/index.js'
import { draft, types, xml } from '../support/helper.js'
import { plainTag } from '../support/plain-tag.js'

/** `posts`, `GET` (or `GET|POST`), `/posts(.:format)`, `posts#index` */
type Row = readonly [helper: string, verbs: string, path: string, target: string]

interface Vector {
  readonly name: string
  readonly dsl: string
  readonly routes: readonly Row[]
  readonly requirements?: ReadonlyArray<Readonly<Record<string, string>>>
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/routes.json', import.meta.url),
  'utf8')) as readonly Vector[]

type Shared = Omit<ResourceOptions, 'name' | 'actions'>

/**
 * The options of every resource here: writes on rows as in Rails, forms, and an authorize that refuses, which tells the
 * reached action.
 */
const shared: Shared = {
  writes: 'both',
  formPages: true,
  authorize: ({ headers }, { action, resource }) => headers['x-target'] !== `${resource}#${action}`
}

const nothing: Handler<Attributes, Attributes, Id | undefined> = () => []

/** An object of handlers takes the place of a Rails controller. */
const images = {
  list: nothing,
  show: () => ({ id: 1, attributes: {} }),
  create: () => ({ id: 1, attributes: {} }),
  update: () => ({ id: 1, attributes: {} }),
  delete: () => undefined
}

/** A store with ids such as `1.2.3`, which our own stores never make. */
const releases: Store = { ...memoryStore(), id: 'string' }

const [{ id: release = '' } = {}] = vectors.find(({ name }) => name === 'constraints-id')?.requirements ?? []

const declared: Readonly<Record<string, (map: Mapper) => unknown>> = {
  resources: (map) => map.resources('posts', shared),
  'singular-resource': (map) => map.resource('account', shared),
  except: (map) => map.resources('posts', { ...shared, except: 'delete' }),
  'collection-actions': (map) => map.resources('posts', shared, ({ collection }) => {
    collection.get('rss', nothing)
    collection.get('search', nothing)
    collection.post('search', nothing)
  }),
  'new-actions': (map) => map.resources('posts', shared, (posts) => posts.new.post('preview', nothing)),
  'nested-singular': (map) => map.resources('messages', shared, (messages) => messages.resource('logo', shared)),
  shallow: (map) => map.resources('users', { ...shared, shallow: true }, (users) => {
    users.resources('posts', shared, (posts) => posts.resources('comments', shared))
  }),
  'shallow-path-and-prefix': (map) => map.scope({ shallowPath: 'sekret', shallowAs: 'sekret' }, (map) => {
    map.resources('posts', shared, (posts) => posts.resources('comments', { ...shared, shallow: true }))
  }),
  'path-nested': (map) => map.resources('products', { ...shared, path: 'productos' }, (products: ResourceMapper) => {
    products.resources('product_reviews', { ...shared, path: 'comentarios' })
  }),
  'scope-path-names': (map) => map.scope({ pathNames: { new: 'nuevo' } }, (map) => map.resources('products', shared)),
  controller: (map) => map.resources('photos', { ...shared, actions: images }),
  namespace: (map) => map.namespace('admin', (admin) => admin.resources('posts', shared)),
  'scope-path': (map) => map.scope({ path: '/admin' }, (map) => map.resources('posts', shared)),
  'scope-as': (map) => map.scope({ as: 'post' }, (map) => map.resources('messages', shared)),
  'constraints-id': (map) => map.resources('messages', {
    ...shared, id: 'string', store: releases, constraints: { id: { type: 'string', pattern: `^${release}$` } }
  }),
  uncountable: (map) => map.resources('sheep', shared),
  underscored: (map) => map.resources('blog_posts', shared),
  'format-required': (map) => map.resources('posts', { ...shared, routeConstraints: { suffix: 'required' } }),
  'direct-and-root': (map) => map.resources('posts', { ...shared, only: 'list' })
}

/** Our names for the actions of Rails. */
const actionNames: Readonly<Record<string, string>> = { index: 'list', destroy: 'delete' }

/** Our resources by the controllers of Rails. */
const resourceNames: Readonly<Record<string, { readonly ours: string, readonly why: string }>> = {
  accounts: { ours: 'account', why: 'a singleton is called by the name of the one' },
  logos: { ours: 'logo', why: 'a singleton is called by the name of the one' },
  'admin/posts': { ours: 'posts', why: 'there are no classes whose modules a namespace could name' },
  images: { ours: 'photos', why: 'there are no controllers: the resource is what its handlers serve' }
}

const singletons = ['account', 'logo']

/** Row actions that the path of the collection serves as well, with the id in the payload. */
const alsoOnCollection = ['PUT', 'DELETE']

/** The names of those paths that have no route in Rails, because shallow rows are listed under their parent. */
const otherCollections: Readonly<Record<string, string>> = {
  '/posts': 'posts', '/comments': 'comments', '/sekret/comments': 'sekretComments'
}

/** Rows that our routes do not express. */
const left: Readonly<Record<string, ReadonlyArray<{ readonly row: Row, readonly why: string }>>> =
  {
    'direct-and-root': [{
      row: ['root', 'GET', '/', 'posts#index'],
      why: 'a resource has a segment of its own; app.get(\'/\', …) is for what has none'
    }]
  }

interface Route {
  readonly name: string
  readonly verb: string
  readonly path: string
  readonly action: string
}

const camelize = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

function toRoutes ([helper, verbs, path, target]: Row): Route[] {
  const [controller = '', action = ''] = target.split('#')
  const resource = resourceNames[controller]?.ours ?? controller
  // Requests show whether a path needs a suffix.
  const plain = path.replace(/\(?\.:format\)?$/, '').replace(/:(\w+)/g, (_, name: string) => `:${camelize(name)}`)
  return verbs.split('|').map(
    (verb) => ({ name: camelize(helper), verb, path: plain, action: `${resource}#${actionNames[action] ?? action}` })
  )
}

function addWrites (routes: readonly Route[]): Route[] {
  const added = routes.filter(({ verb, path }) =>
    alsoOnCollection.includes(verb) && path.endsWith('/:id')).map((route) => {
    const path = route.path.slice(0, -'/:id'.length)
    const name = routes.find((other) => other.path === path)?.name ?? otherCollections[path] ?? ''
    return { ...route, name, path }
  })
  return [...routes, ...added]
}

/** Returns the routes of QUERY, which each list has. */
function queriesOf (routes: readonly Route[]): Route[] {
  return routes.filter(({ verb, action }) =>
    verb === 'GET' && action.endsWith('#list')).map((route) => ({ ...route, verb: 'QUERY' }))
}

const isLeft = ({ name }: Vector, row: Row): boolean =>
  left[name]?.some((other) => String(other.row) === String(row)) ?? false
const sorted = (routes: readonly Route[]): string[] =>
  routes.map(({ name, verb, path, action }) => `${name} ${verb} ${path} ${action}`).sort()

/** A constraint strategy that tells whether a path has a suffix. */
const suffix = {
  name: 'suffix',
  storage: () => {
    const handlers = new Map<unknown, unknown>()
    return {
      get: (value: unknown) => handlers.get(value) ?? null,
      set: (value: unknown, handler: unknown) => { handlers.set(value, handler) }
    }
  },
  deriveConstraint: ({ url = '' }: { readonly url?: string }) => /\.\w+(?:\?|$)/.test(url) ? 'required' : 'none'
}

async function start (t: Test, declare: (map: Mapper) => unknown): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  // The storage is an internal type of the router.
  app.addConstraintStrategy(suffix as never)
  app.register(draw(declare))
  await app.ready()
  return app
}

/** Returns a payload, with an id if the request writes a row that the path does not name. */
function payloadOf (verb: string, path: string, action: string, id: string): object {
  const [resource = ''] = action.split('#')
  const isOfRow = alsoOnCollection.includes(verb) && !path.endsWith('/:id') && !singletons.includes(resource)
  const group = { [resource.replace(/s$/, '')]: {} }
  return { ...(isOfRow && { id: id === '1' ? 1 : id }), ...(verb !== 'DELETE' && group) }
}

t.test('every declaration is expressed, or listed with each of its rows', async (t) => {
  t.same(Object.keys(declared).sort(), vectors.map(({ name }) => name).sort())
  const rows = vectors.flatMap(({ name, routes }) => routes.map((row) => `${name} ${String(row)}`))
  for (const [name, list] of Object.entries(left)) {
    for (const { row } of list) t.ok(rows.includes(`${name} ${String(row)}`), `${String(row)} is a row of ${name}`)
  }
})

for (const vector of vectors) {
  const { name, dsl, routes } = vector
  const declare = declared[name]
  if (declare === undefined) continue
  const expected = addWrites(routes.filter((row) => !isLeft(vector, row)).flatMap(toRoutes))

  t.test(`${dsl.replaceAll(/\s+/g, ' ')} (${name})`, async (t) => {
    const app = await start(t, declare)
    t.same(sorted(app.resourceRoutes), sorted([...expected, ...queriesOf(expected)]))
  })

  t.test(`each path of ${name} leads to the target of its row, with and without a suffix`, async (t) => {
    const app = await start(t, declare)
    const isRequired = routes.every(([,, path]) => path.endsWith('.:format') && !path.endsWith('(.:format)'))
    const id = name === 'constraints-id' ? '1.2.3' : '1'
    for (const { name, verb, path, action } of expected) {
      const parameters = [...path.matchAll(/:\w+/g)].map(() => id)
      const url = path.replaceAll(/:\w+/g, id)
      t.equal(app.paths[name]?.(...parameters), url, `app.paths.${name}`)
      const isWrite = verb !== 'GET'
      const payload = payloadOf(verb, path, action, id)
      const ask = (url: string) =>
        app.inject({ method: verb as 'GET', url, headers: { 'x-target': action }, ...(isWrite && { payload }) })
      const [resource, asked = ''] = action.split('#')
      // The refusal of a form names the action of its submission.
      const refused = `you are not allowed to ${new Map([['new', 'create'], ['edit', 'update']]).get(
        asked
      ) ?? asked} ${resource}`
      if (isRequired) {
        t.equal((await ask(url)).statusCode, 404, `${verb} ${url}`)
      } else {
        const answer = await ask(url)
        t.match(answer, {
          statusCode: 403, headers: { 'content-type': isWrite ? 'application/problem+json' : 'application/xml' }
        }, `${verb} ${url}`)
        t.match(answer.body, refused)
      }
      for (const [format, type] of [['xml', 'application/xml'], ['json', 'application/problem+json'],
        ['html', 'text/html']] as const) {
        const answer = await ask(`${url}.${format}`)
        t.match(answer, { statusCode: 403, headers: { 'content-type': type } }, `${verb} ${url}.${format}`)
        t.match(answer.body, format === 'html' ? `<h1>Y${refused.slice(1)}</h1>` : refused)
      }
    }
  })
}

t.test('an id that violates the constraint is not found', async (t) => {
  const app = await start(t, declared['constraints-id'] as (map: Mapper) => unknown)
  for (const url of ['/messages/1', '/messages/1.2.30', '/messages/11.2.3', '/messages/a.b.c']) {
    t.match(await app.inject(url), { statusCode: 404 }, url)
  }
})

type Client = 'xml' | 'json' | 'html'
type Verb = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
type Sent = Record<string, string>
const clients: readonly Client[] = ['xml', 'json', 'html']
const accepts = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
const problems: Readonly<Record<Client, string>> = { xml: types.xml, json: types.problem, html: types.html }
const form = 'application/x-www-form-urlencoded'

const attributes = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1 }, colour: { type: 'string', default: 'red' } }
} as const

/** Returns a request as that client sends it. A browser's form can only POST. */
function ask (
  client: Client, method: Verb, url: string, sent?: Sent, headers: Record<string, string> = {}
): InjectOptions {
  const name = url.split('/').at(-1) as string
  const accept = { accept: accepts[client], ...headers }
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return { method, url, headers: accept }
  if (client === 'html') {
    const fields = new URLSearchParams(method === 'POST' ? {} : { _method: method })
    for (const [attribute, value] of Object.entries(sent ?? {})) fields.set(`${name}[${attribute}]`, value)
    return { method: 'POST', url, headers: { ...accept, 'content-type': form }, payload: fields.toString() }
  }
  if (sent === undefined) return { method, url, headers: accept }
  const payload = client === 'json'
    ? JSON.stringify({ [name]: sent })
    : `<${name}>${Object.entries(sent).map(([attribute, value]) =>
    `<${attribute}>${value}</${attribute}>`).join('')}</${name}>`
  return { method, url, headers: { ...accept, 'content-type': accepts[client] }, payload }
}

/** Returns the name in a document. */
function nameIn ({ body }: LightMyRequestResponse): string | undefined {
  return /<name>([^<]*)<|"name":"([^"]*)"|id=":name"[^>]*>([^<]*)</.exec(body)?.slice(1).find((name) =>
    name !== undefined)
}

function json (method: Verb, url: string, payload?: object, headers: Record<string, string> = {}): InjectOptions {
  return { method, url, headers: { accept: accepts.json, ...headers }, ...(payload !== undefined && { payload }) }
}

const places: Array<[name: string, declare: (map: Mapper) => unknown, url: string]> = [
  ['at the top', (map) => map.resource('profile', { attributes }), '/profile'],
  ['in a namespace', (map) =>
    map.namespace('admin', (admin) => admin.resource('profile', { attributes })), '/admin/profile'],
  ['below a row', (map) => {
    const store = memoryStore()
    store.create({}, {})
    map.resources('posts', { store }, (posts) => posts.resource('profile', { attributes }))
  }, '/posts/1/profile'],
  ['below another one', (map) => {
    const store = memoryStore()
    store.create({}, {})
    map.resource('account', { store }, (account) => account.resource('profile', { attributes }))
  }, '/account/profile']
]

t.test('a singleton is created, shown, changed and deleted at one path, in each format', async t => {
  for (const [place, declare, url] of places) {
    for (const client of clients) {
      await t.test(`${place}, ${client}`, async t => {
        const app = await draft(t, declare, '/api')
        const path = `/api${url}`
        const isBrowser = client === 'html'
        async function is (
          method: Verb, sent: Sent | undefined, status: number, name?: string
        ): Promise<LightMyRequestResponse> {
          const res = await app.inject(ask(client, method, path, sent))
          t.equal(res.statusCode, status, `${method} ${status}: ${res.body.slice(0, 200)}`)
          if (res.body !== '') t.equal(res.headers['content-type'], status < 400 ? types[client] : problems[client])
          if (name !== undefined) t.equal(nameIn(res), name)
          return res
        }
        await is('GET', undefined, 404)
        await is('HEAD', undefined, 404)
        await is('PUT', { name: 'Ann' }, 404)
        await is('DELETE', undefined, 404)
        const created = await is('POST', { name: 'Ann' }, isBrowser ? 303 : 201, isBrowser ? undefined : 'Ann')
        t.equal(created.headers.location, path)
        t.equal(plainTag(created.headers.etag), isBrowser ? undefined : `"1-1.${client}"`)
        await is('GET', undefined, 200, 'Ann')
        t.equal((await is('HEAD', undefined, 200)).body, '')
        await is('POST', { name: 'Bob' }, 409)
        await is('POST', { name: '' }, 422)
        await is('GET', undefined, 200, 'Ann')
        const updated = await is('PUT', { name: 'Bob' }, isBrowser ? 303 : 200, isBrowser ? undefined : 'Bob')
        t.equal(updated.headers.location, isBrowser ? path : undefined)
        await is('GET', undefined, 200, 'Bob')
        await is('PUT', { name: '' }, 422)
        const deleted = await is('DELETE', undefined, isBrowser ? 303 : 204)
        t.equal(deleted.body, '')
        await is('GET', undefined, 404)
        await is('POST', { name: 'Cy' }, isBrowser ? 303 : 201)
        await is('GET', undefined, 200, 'Cy')
      })
    }
  }
})

t.test('an id in the payload is refused in each place', async t => {
  const refused: Array<[string, InjectOptions]> = [
    ['JSON, beside the group', json('POST', '/profile', { id: 1, profile: { name: 'Ann' } })],
    ['JSON, in the group of an update', json('PUT', '/profile', { profile: { id: 1, name: 'Ann' } })],
    ['JSON, of a deletion', json('DELETE', '/profile', { id: 1 })],
    ['XML, as a child', {
      method: 'POST',
      url: '/profile',
      headers: { 'content-type': accepts.xml },
      payload: '<profile><id type="integer">1</id><name>Ann</name></profile>'
    }],
    ['XML, as the root of a deletion',
      { method: 'DELETE', url: '/profile', headers: { 'content-type': accepts.xml }, payload: '<id>1</id>' }],
    ['a form, beside the group',
      { method: 'POST', url: '/profile', headers: { 'content-type': form }, payload: 'id=1&profile[name]=Ann' }]
  ]
  for (const options of [{ attributes }, {}]) {
    const app = await draft(t, (map) => map.resource('profile', options))
    for (const [name, request] of refused) {
      const res = await app.inject(request)
      t.equal(res.statusCode, 422, name)
      t.match(res.body, /id is unknown|attribute "id", which is not allowed/i, name)
    }
    t.equal((await app.inject('/profile')).statusCode, 404, 'nothing was created')
    t.equal((await app.inject(json('POST', '/profile?id=1', { profile: { name: 'Ann' } }))).statusCode, 400,
      'in the query')
  }
})

t.test('custom actions work beside the singleton', async t => {
  const app = await draft(t, (map) => map.resource('profile', { attributes }, (profile) => {
    profile.member.get('card', (context) => context.row())
    profile.member.post('rename', async ({ attributes, store, guard, row, signal }) =>
      await store.update((await row()).id, attributes, guard, { signal }))
    profile.member.put('touch', () => {})
    profile.collection.get('colours', () => [{ id: 1, attributes: { name: 'red' } }])
    profile.new.get('sample', () => ({ id: 1, attributes: { name: 'Sample' } }))
  }))
  t.equal((await app.inject('/profile/card')).statusCode, 404)
  t.equal((await app.inject(json('POST', '/profile/rename', { profile: { name: 'Bob' } }))).statusCode, 404)
  await app.inject(json('POST', '/profile', { profile: { name: 'Ann' } }))
  t.equal((await app.inject('/profile/card.xml')).body, `${xml}<profile><name>Ann</name><colour>red</colour></profile>`)
  t.match((await app.inject(json('POST', '/profile/rename', { profile: { name: 'Bob' } }))).json(),
    { profile: { name: 'Bob', colour: 'red' } })
  t.equal((await app.inject(json('POST', '/profile/rename', { profile: { name: '' } }))).statusCode, 422)
  t.equal((await app.inject(json('POST', '/profile/rename', { profile: { name: 'Eve' } },
    { 'if-match': '"1-1.json"' }))).statusCode, 412)
  t.equal((await app.inject(json('POST', '/profile/rename', { profile: { name: 'Cy' } },
    { 'if-match': '"1-1.json", "1-2.xml"' }))).statusCode, 200)
  const renamed = await app.inject(ask('html', 'POST', '/profile/rename'))
  t.strictSame([renamed.statusCode, renamed.headers.location], [303, '/profile'])
  t.equal((await app.inject(json('PUT', '/profile/touch'))).statusCode, 204)
  t.equal((await app.inject('/profile/colours.xml')).body,
    `${xml}<profiles type="array"><profile><name>red</name></profile></profiles>`)
  t.strictSame((await app.inject('/profile/colours.json')).json(), { profiles: [{ name: 'red' }] })
  t.strictSame((await app.inject('/profile/new/sample.json')).json(), { profile: { name: 'Sample' } })
  t.strictSame([app.paths.cardProfile?.(), app.paths.coloursProfile?.(), app.paths.sampleNewProfile?.()],
    ['/profile/card', '/profile/colours', '/profile/new/sample'])
})

t.test('a handler receives the precondition of a write', async t => {
  const withStore = await draft(t, (map) => map.resource('profile',
    {
      attributes,
      requireMatch: true,
      actions: {
        update: async ({ store, guard, attributes, row, signal }) =>
          await store.update((await row()).id, attributes, guard, { signal })
      }
    }))
  const put = (app: FastifyInstance, headers: Record<string, string>): Promise<LightMyRequestResponse> =>
    app.inject(json('PUT', '/profile', { profile: { name: 'Bob' } }, headers))
  t.equal((await put(withStore, {})).statusCode, 404, 'a missing singleton needs no version')
  await withStore.inject(json('POST', '/profile', { profile: { name: 'Ann' } }))
  t.equal((await put(withStore, {})).statusCode, 428)
  t.equal((await put(withStore, { 'if-match': '"1-9.json"' })).statusCode, 412)
  t.equal((await put(withStore, { 'if-match': '"1-9.json", "1-1.json"' })).statusCode, 200)

  const guards: unknown[] = []
  const without = await draft(t,
    (map) => map.resource('profile', {
      attributes,
      only: 'update',
      requireMatch: true,
      actions: {
        update: ({ guard }) => {
          guards.push(guard)
        }
      }
    }))
  t.equal((await put(without, {})).statusCode, 428, 'without a store only the handler knows whether the row exists')
  t.equal((await put(without, { 'if-match': '"9.json"' })).statusCode, 404)
  t.strictSame(guards, [{ version: '', scope: {} }],
    'without a store only the handler knows the row of the version: see guardFor')
})

t.test('a singleton has PUT and DELETE with any value of "writes", PATCH only if members are written', async t => {
  for (const writes of ['collection', 'member', 'both'] as const) {
    const app = await draft(t, (map) => map.resource('profile', { attributes, writes }))
    const allow = `GET, HEAD, POST, PUT, ${writes === 'collection' ? '' : 'PATCH, '}DELETE, OPTIONS`
    const options = await app.inject({ method: 'OPTIONS', url: '/profile' })
    t.strictSame([options.statusCode, options.headers.allow, options.body], [204, allow, ''], writes)
    await app.inject(json('POST', '/profile', { profile: { name: 'Ann' } }))
    const patched = await app.inject(json('PATCH', '/profile', { profile: { name: 'Bob' } }))
    t.equal(patched.statusCode, writes === 'collection' ? 405 : 200)
    if (writes === 'collection') t.equal(patched.headers.allow, allow)
    t.equal((await app.inject(json('PUT', '/profile', { profile: { colour: 'green' } }))).statusCode, 200)
    t.equal((await app.inject(json('DELETE', '/profile'))).statusCode, 204)
  }
})

t.test('an excluded action is a 405, and a singleton has neither list nor member', async t => {
  const app = await draft(t, (map) => map.resource('profile', { attributes, only: ['show', 'update'] }))
  for (const client of clients) {
    for (const method of ['POST', 'DELETE'] as const) {
      const res = await app.inject(ask(client, method, '/profile', method === 'POST' ? { name: 'Ann' } : undefined))
      t.strictSame([res.statusCode, res.headers.allow, res.headers['content-type']],
        [405, 'GET, HEAD, PUT, OPTIONS', problems[client]], `${client}: ${method}`)
    }
  }
  for (const url of ['/profile/1', '/profiles', '/profile/new', '/profile/edit', '/profile.csv']) {
    t.equal((await app.inject(url)).statusCode, 404, url)
  }
  for (const url of ['/profile?limit=1', '/profile?sort=name', '/profile?name=Ann', '/profile?id=1']) {
    t.equal((await app.inject(url)).statusCode, 400, url)
  }
  await t.rejects(draft(t, (map) => map.resource('profile', { only: 'list' })), {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message: /names 'list', which is not one of show, create, update, delete, new, edit/
  })
  await t.rejects(draft(t, (map) => map.resource('profile', { actions: { list: () => [] } })),
    { code: 'FST_RESOURCES_INVALID_OPTION', message: /"list"/ })
})
