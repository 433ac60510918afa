import fastify, { type FastifyInstance } from 'fastify'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Attributes, draw, type Handler, type Id, type Mapper, memoryStore, type ResourceMapper, type ResourceOptions, type Store } from '../../lib/index.js'

/** `posts`, `GET` (or `GET|POST`), `/posts(.:format)`, `posts#index` */
type Row = readonly [helper: string, verbs: string, path: string, target: string]

interface Vector {
  readonly name: string
  readonly dsl: string
  readonly routes: readonly Row[]
  readonly requirements?: ReadonlyArray<Readonly<Record<string, string>>>
}

const vectors = JSON.parse(readFileSync(new URL('../vectors/routes.json', import.meta.url), 'utf8')) as readonly Vector[]

// ---- The declarations in our module

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
  'constraints-id': (map) => map.resources('messages', { ...shared, id: 'string', store: releases, constraints: { id: { type: 'string', pattern: `^${release}$` } } }),
  uncountable: (map) => map.resources('sheep', shared),
  underscored: (map) => map.resources('blog_posts', shared),
  'format-required': (map) => map.resources('posts', { ...shared, routeConstraints: { suffix: 'required' } }),
  'direct-and-root': (map) => map.resources('posts', { ...shared, only: 'list' })
}

// ---- The differences of our convention

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
const otherCollections: Readonly<Record<string, string>> = { '/posts': 'posts', '/comments': 'comments', '/sekret/comments': 'sekretComments' }

/** Rows that our routes do not express. */
const left: Readonly<Record<string, ReadonlyArray<{ readonly row: Row, readonly why: string }>>> = {
  'direct-and-root': [{ row: ['root', 'GET', '/', 'posts#index'], why: 'a resource has a segment of its own; app.get(\'/\', …) is for what has none' }]
}

// ---- Comparing

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
  return verbs.split('|').map((verb) => ({ name: camelize(helper), verb, path: plain, action: `${resource}#${actionNames[action] ?? action}` }))
}

function addWrites (routes: readonly Route[]): Route[] {
  const added = routes.filter(({ verb, path }) => alsoOnCollection.includes(verb) && path.endsWith('/:id')).map((route) => {
    const path = route.path.slice(0, -'/:id'.length)
    const name = routes.find((other) => other.path === path)?.name ?? otherCollections[path] ?? ''
    return { ...route, name, path }
  })
  return [...routes, ...added]
}

/** Returns the routes of QUERY, which each list has. */
function queriesOf (routes: readonly Route[]): Route[] {
  return routes.filter(({ verb, action }) => verb === 'GET' && action.endsWith('#list')).map((route) => ({ ...route, verb: 'QUERY' }))
}

const isLeft = ({ name }: Vector, row: Row): boolean => left[name]?.some((other) => String(other.row) === String(row)) ?? false
const sorted = (routes: readonly Route[]): string[] => routes.map(({ name, verb, path, action }) => `${name} ${verb} ${path} ${action}`).sort()

/** A constraint strategy that tells whether a path has a suffix. */
const suffix = {
  name: 'suffix',
  storage: () => {
    const handlers = new Map<unknown, unknown>()
    return { get: (value: unknown) => handlers.get(value) ?? null, set: (value: unknown, handler: unknown) => { handlers.set(value, handler) } }
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

t.test('each listed difference belongs to a declaration', async (t) => {
  const targets = vectors.flatMap(({ routes }) => routes.map(([,,, target]) => target.split('#')))
  for (const controller of Object.keys(resourceNames)) t.ok(targets.some(([name]) => name === controller), controller)
  for (const action of Object.keys(actionNames)) t.ok(targets.some(([, name]) => name === action), action)
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
      const ask = (url: string) => app.inject({ method: verb as 'GET', url, headers: { 'x-target': action }, ...(isWrite && { payload }) })
      const [resource, asked = ''] = action.split('#')
      // The refusal of a form names the action of its submission.
      const refused = `you are not allowed to ${new Map([['new', 'create'], ['edit', 'update']]).get(asked) ?? asked} ${resource}`
      if (isRequired) {
        t.equal((await ask(url)).statusCode, 404, `${verb} ${url}`)
      } else {
        const answer = await ask(url)
        t.match(answer, { statusCode: 403, headers: { 'content-type': isWrite ? 'application/problem+json' : 'application/xml' } }, `${verb} ${url}`)
        t.match(answer.body, refused)
      }
      for (const [format, type] of [['xml', 'application/xml'], ['json', 'application/problem+json'], ['html', 'text/html']] as const) {
        const answer = await ask(`${url}.${format}`)
        t.match(answer, { statusCode: 403, headers: { 'content-type': type } }, `${verb} ${url}.${format}`)
        t.match(answer.body, refused)
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
