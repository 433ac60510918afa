import t, { type Test } from 'tap'
import fastify, { type FastifyInstance } from 'fastify'
import resources, {
  type AttributesSchema, draw, type DrawOptions, type Mapper, memoryStore, memoryStores, type ResourceOptions,
  type Store, type Stores, type TableRequest
} from '../../lib/index.js'
import { describeDatabase } from '../../lib/database/index.js'
import { type PostgresOptions, postgresStore, postgresStores } from '../../lib/sql/postgres/index.js'
import { type SqliteOptions, sqliteStore, sqliteStores, type SqlStoreOptions } from '../../lib/sql/sqlite/index.js'
import { build, draft } from '../support/helper.js'

const text = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } as const

async function serve (t: Test, declare: (map: Mapper) => unknown, options: DrawOptions): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(declare, options))
  await app.ready()
  return app
}

/** Stores in memory that keep what was asked of them. */
function recordStores (): { readonly stores: Stores, readonly requests: TableRequest[] } {
  const requests: TableRequest[] = []
  const inner = memoryStores()
  return {
    requests,
    stores: {
      open (request) {
        requests.push(request)
        return inner.open(request)
      }
    }
  }
}

/** Returns the attributes of each table: their schemas, and which of them are required. */
async function tablesOf (t: Test, declare: (map: Mapper) => unknown): Promise<Readonly<Record<string, unknown>>> {
  const { stores, requests } = recordStores()
  await serve(t, declare, { stores })
  return Object.fromEntries(requests.map(({ table, attributes }) => [table, [attributes?.properties, attributes?.required]]))
}

t.test('a table has the columns of its resource, its scope and its foreign key', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .scope({ scope: () => ({ tenant: 'a' }), scopeAttributes: { tenant: { type: 'string' } } }, (scope) => scope
      .resources('posts', { attributes: text, id: 'uuid', param: 'slug', unique: ['text'] }, (posts) => posts
        .resources('comments', { attributes: text, onDelete: 'cascade', scopeAttributes: { author: { type: 'integer' } } })
        .resource('cover', { attributes: text, foreignKey: 'post' }, (cover) => cover
          .resources('layers', { attributes: text })))), { stores })
  const { text: body } = text.properties
  const tenant = { type: 'string' }
  const uuid = { type: 'string', format: 'uuid' }
  t.strictSame(requests, [
    { table: 'posts', id: 'uuid', attributes: { ...text, properties: { text: body, tenant }, required: ['text', 'tenant'] }, unique: ['text'], references: {} },
    {
      table: 'comments',
      id: 'integer',
      attributes: { ...text, properties: { text: body, author: { type: 'integer' }, tenant, postSlug: uuid }, required: ['text', 'tenant', 'author', 'postSlug'] },
      unique: [],
      references: { postSlug: { table: 'posts', onDelete: 'cascade' } }
    },
    { table: 'cover', id: 'integer', attributes: { ...text, properties: { text: body, tenant, post: uuid }, required: ['text', 'tenant', 'post'] }, unique: [], references: { post: { table: 'posts' } } },
    { table: 'layers', id: 'integer', attributes: { ...text, properties: { text: body, tenant, coverId: { type: 'integer' } }, required: ['text', 'tenant', 'coverId'] }, unique: [], references: { coverId: { table: 'cover' } } }
  ])
})

t.test('resources with the same table need the attributes of all of them', async (t) => {
  const shared = { type: 'object', required: ['text', 'a'], $defs: { name: { type: 'string' } }, properties: { a: { $ref: '#/$defs/name' }, text: { type: 'string' } } } as const
  const other = { type: 'object', required: ['a', 'b'], $defs: { name: { type: 'string' }, size: { type: 'integer' } }, properties: { text: { type: ['string', 'null'] }, a: { $ref: '#/$defs/name' }, b: { $ref: '#/$defs/size' } } } as const
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .resources('posts', { attributes: shared, unique: ['a'] })
    .namespace('admin', (admin) => admin.resources('posts', { attributes: other, unique: ['a', ['text', 'b']] })), { stores })
  t.equal(requests.length, 1)
  t.match(requests[0], {
    attributes: {
      required: ['a'],
      $defs: { name: { type: 'string' }, size: { type: 'integer' } },
      properties: { a: { $ref: '#/$defs/name' }, text: { anyOf: [{ type: 'string' }, { type: ['string', 'null'] }] }, b: { $ref: '#/$defs/size' } }
    },
    unique: ['a', ['text', 'b']]
  })
})

t.test('a schema may have definitions, or no required attributes, that another one of the table lacks', async (t) => {
  const plain = { type: 'object', properties: { size: { type: 'integer' } } } as const
  const defining = { type: 'object', required: ['name'], definitions: { name: { type: 'string' } }, properties: { name: { $ref: '#/definitions/name' } } } as const
  for (const [one, other] of [[plain, defining], [defining, plain]]) {
    const { stores, requests } = recordStores()
    await serve(t, (map) => map.resources('posts', { attributes: one as AttributesSchema }).namespace('admin', (admin) => admin.resources('posts', { attributes: other as AttributesSchema })), { stores })
    t.match(requests, [{ attributes: { properties: { ...plain.properties, ...defining.properties }, definitions: defining.definitions, required: [] } }])
  }
  const without = { attributes: { type: 'object' } } as object
  await t.rejects(serve(t, (map) => map.resources('posts', without).resources('notes', { ...without, table: 'posts' } as object), { stores: memoryStores() }), { code: 'FST_RESOURCES_INVALID_ATTRIBUTES' })
})

t.test('a foreign key may be null if a row can be without a parent, or outlive it', async (t) => {
  const tables = await tablesOf(t, (map) => map
    .resources('posts', { attributes: text }, (posts) => posts
      .resources('comments', { attributes: text })
      .resources('links', { attributes: text, onDelete: 'set null' }))
    .resources('comments', { attributes: text }))
  t.match(tables, {
    comments: [{ postId: { type: ['integer', 'null'] } }, ['text']],
    links: [{ postId: { type: ['integer', 'null'] } }, ['text', 'postId']]
  })
})

t.test('each parent has one nested record, unless a scope divides it further', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .resource('about', { attributes: text })
    .resources('posts', { attributes: text }, (posts) => posts
      .resource('cover', { attributes: text })
      .resource('vote', { attributes: text, scope: () => ({ user: 1 }), scopeAttributes: { user: { type: 'integer' } } })
      .resource('note', { attributes: text }))
    .resources('pages', { attributes: text }, (pages) => pages.resource('note', { attributes: text })), { stores })
  t.strictSame(Object.fromEntries(requests.map(({ table, unique }) => [table, unique])), { about: [], posts: [], cover: ['postId'], vote: [], pages: [], note: [] })
})

t.test('a table opens after those that it refers to', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .resources('comments', { attributes: text })
    .resources('posts', { attributes: text }, (posts) => posts.resources('comments', { attributes: text })), { stores })
  t.strictSame(requests.map(({ table }) => table), ['posts', 'comments'])
})

t.test('a store of the resource wins, and handlers need none', async (t) => {
  const { stores, requests } = recordStores()
  const store = memoryStore()
  store.create({ text: 'mine' }, {})
  const app = await serve(t, (map) => map
    .resources('posts', { attributes: text, store }, (posts) => posts.resources('comments', { attributes: text }))
    .resources('times', { attributes: text, only: ['list'], actions: { list: () => [] } })
    .scope({ stores: memoryStores() }, (scope) => scope.resources('others', { attributes: text })), { stores })
  t.strictSame(requests.map(({ table, references }) => [table, references]), [['comments', {}]])
  t.match((await app.inject('/posts.json')).json(), { posts: [{ text: 'mine' }] })
  t.equal((await app.inject({ method: 'POST', url: '/posts/1/comments.json', payload: { comment: { text: 'T' } } })).statusCode, 201)
  t.equal((await app.inject({ method: 'DELETE', url: '/posts.json?id=1' })).statusCode, 204)
})

t.test('a resource of its own has stores, and shares them with others', async (t) => {
  const stores = memoryStores()
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', stores })
  app.register(resources, { name: 'drafts', stores, table: 'posts' })
  t.equal((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { any: 1 } } })).statusCode, 201)
  t.match((await app.inject('/drafts.json')).json(), { drafts: [{ id: 1, any: 1 }] })
})

t.test('the default store has the unique groups', async (t) => {
  const app = await build(t, { name: 'posts', attributes: text, unique: ['text'] })
  const create = async (): Promise<number> => (await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { text: 'T' } } })).statusCode
  t.strictSame([await create(), await create()], [201, 409])
})

const stores = memoryStores()
const store = memoryStore() as Store
const wrong: ReadonlyArray<readonly [options: object, message: string]> = [
  [{ stores: {} }, 'Option "stores" of resource "posts" must be stores of one database, such as sqliteStores({ file: \'blog.sqlite\' }), not [object Object].'],
  [{ stores, table: '' }, 'Option "table" of resource "posts" must be the name of a table such as \'posts\', not \'\'.'],
  [{ stores, unique: 'text' }, 'Option "unique" of resource "posts" must be a list of attributes, or groups of them, such as [\'email\', [\'tenant\', \'title\']].'],
  [{ stores, onDelete: 'delete' }, 'Option "onDelete" of resource "posts" must be \'restrict\', \'cascade\' or \'set null\', not \'delete\'.'],
  [{ stores, onDelete: 'cascade' }, 'Option "onDelete" of resource "posts" can be given only to a resource that is nested in another one with the same "stores".'],
  [{ stores, scopeAttributes: [] }, 'Option "scopeAttributes" of resource "posts" must be schemas by attribute such as { tenant: { type: \'string\' } }, not .'],
  [{ stores, scopeAttributes: { tenant: 'string' } }, 'Option "scopeAttributes" of resource "posts" has "tenant", which must be a JSON Schema, not \'string\'.'],
  [{ stores, id: 'string' }, 'Option "id" of resource "posts" is \'string\', but must be \'integer\' or \'uuid\' in the table "posts".'],
  [{ table: 'posts' }, 'Option "table" of resource "posts" is about a table of the option "stores", which this resource does not have.'],
  [{ store, unique: ['text'] }, 'Option "unique" of resource "posts" is about a table of the option "stores", but this resource has a "store"; give it to the store itself.'],
  [{ store, stores, table: 'posts' }, 'Option "table" of resource "posts" is about a table of the option "stores", but this resource has a "store"; give it to the store itself.']
]

t.test('options that are wrong are refused', async (t) => {
  for (const [options, message] of wrong) {
    await t.rejects(build(t, { name: 'posts', attributes: text, ...options } as ResourceOptions), { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
  t.throws(() => draw((map) => map, { store: stores } as DrawOptions), { code: 'FST_RESOURCES_UNKNOWN_OPTION', message: 'There is no option "store" of draw; did you mean "stores"?' })
})

t.test('a unique group without an attribute of the scope is a warning at the start', async (t) => {
  const scope = (): { tenant: string } => ({ tenant: 'acme' })
  const stores = { scopeAttributes: { tenant: { type: 'string' } } }
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, groups: readonly string[]]> = [
    ['an attribute', { scope, ...stores, unique: ['text'] }, ["['text']"]],
    ['a group that has one', { scope, ...stores, unique: [['tenant', 'text']] }, []],
    ['two groups', { scope, ...stores, unique: [['tenant', 'text'], ['text', 'id2'], 'id2'] }, ["['text', 'id2']", "['id2']"]],
    ['no scope', { ...stores, unique: ['text'] }, []],
    ['a store of its own', { scope, store: memoryStore({ unique: ['text'] }) }, ["['text']"]],
    ['a group whose scope is unknown', { scope, store: memoryStore({ unique: [['owner', 'text']] }) }, []]
  ]
  for (const [name, options, groups] of cases) {
    const lines: string[] = []
    const app = fastify({ requestTimeout: 1000, logger: { level: 'warn', stream: { write: (line: string) => { lines.push((JSON.parse(line) as { msg: string }).msg) } } } })
    t.teardown(() => app.close())
    const properties = { ...text.properties, id2: { type: 'string' } } as const
    app.register(draw((map) => map.resources('posts', { ...options, attributes: { ...text, properties } } as object), { stores: memoryStores() }))
    await app.ready()
    t.strictSame(lines, groups.map((group) => `resource "posts": "unique" has ${group} without an attribute of its "scope", so a 409 tells which values rows outside the scope have; if it must not, add the attribute to the group`), name)
  }
})

t.test('an unknown option is named with its owner and the place where it belongs', async (t) => {
  const place = 'options of resources belong in map.resources or map.scope'
  const register = (options: object) => async () => {
    const app = fastify()
    t.teardown(() => app.close())
    await app.register(draw((map) => map.resources('posts')), options)
  }
  const cases: ReadonlyArray<readonly [make: () => unknown, message: string]> = [
    [() => draw((map) => map, { writes: 'member' } as DrawOptions), `There is no option "writes" of draw; ${place}.`],
    [() => draw((map) => map, { lang: 'de' } as DrawOptions), 'There is no option "lang" of draw; it is an option of the format html: write html: { lang: … }.'],
    [register({ formats: ['json'] }), `There is no option "formats" of the registration of a map; ${place}.`],
    [async () => await draft(t, (map) => map.resources('posts', { formats: ['json'], html: { columns: [] } })), 'There is no option "html" of resource "posts"; the format "html" is not among its "formats", so it would have no effect.'],
    [async () => await draft(t, (map) => map.resources('posts', { csv: { escapeFormulas: true } })), 'There is no option "csv" of resource "posts"; the format "csv" is not among its "formats", so it would have no effect.'],
    [async () => await draft(t, (map) => map.scope({ html: { acent: '#000' } as object }, (map) => { map.resources('posts', { formats: ['json'] }) })), 'There is no option "html.acent" of resource "posts"; did you mean "accent"?'],
    [register({ prefx: '/a' }), 'There is no option "prefx" of the registration of a map; did you mean "prefix"?'],
    [() => memoryStore({ uniqe: [] } as object), 'There is no option "uniqe" of memoryStore; did you mean "unique"?'],
    [() => memoryStore({ formats: [] } as object), 'There is no option "formats" of memoryStore.'],
    [() => sqliteStores({ fiel: 'a' } as object as SqliteOptions), 'There is no option "fiel" of sqliteStores; did you mean "file"?'],
    [() => postgresStores({ migrat: false } as object as PostgresOptions), 'There is no option "migrat" of postgresStores; did you mean "migrate"?'],
    [() => sqliteStore({ table: 'a', databse: 1 } as object as SqliteOptions & SqlStoreOptions), 'There is no option "databse" of sqliteStore; did you mean "database"?'],
    [() => postgresStore({ table: 'a', attributes: text, poool: 1 } as object as PostgresOptions & SqlStoreOptions), 'There is no option "poool" of postgresStore; did you mean "pool"?'],
    [async () => await describeDatabase({ prepare: () => ({}) } as never, { tables: ['a'] } as object), 'There is no option "tables" of describeDatabase.'],
    [async () => await draft(t, (map) => map.scope({ format: ['json'] } as object, (map) => { map.resources('posts') })), 'There is no option "format" of resource "posts"; did you mean "formats"?'],
    [async () => await draft(t, (map) => map.resources('posts', { limit: 5 } as object)), 'There is no option "limit" of resource "posts"; did you mean "maxLimit"?'],
    [async () => await draft(t, (map) => map.resources('posts', {}, (posts) => { posts.member.post('publish', { formats: [] } as object, () => undefined) })), 'There is no option "formats" of action "publish" of resource "posts".']
  ]
  for (const [make, message] of cases) await t.rejects(async () => { await make() }, { code: 'FST_RESOURCES_UNKNOWN_OPTION', message }, message)
})

const defined = (name: object): object => ({ attributes: { ...text, definitions: { name } } })
const contradicting: ReadonlyArray<readonly [declare: (map: Mapper) => unknown, message: string]> = [
  [(map) => map.resources('posts', { attributes: text }).namespace('admin', (admin) => admin.resources('posts', { attributes: text, id: 'uuid' })),
    'Option "id" of resource "posts" is \'uuid\', but \'integer\' in another resource of the table "posts".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) => posts.resources('links', { attributes: text, onDelete: 'cascade' })).resources('posts', { attributes: text, as: 'others', path: 'others' }, (posts) => posts.resources('links', { attributes: text, onDelete: 'restrict' })),
    'Option "onDelete" of resource "links" is \'restrict\', but \'cascade\' in another resource of the table "links".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) => posts.resources('links', { attributes: text, foreignKey: 'on' })).resources('pages', { attributes: text }, (pages) => pages.resources('links', { attributes: text, foreignKey: 'on' })),
    'Option "foreignKey" of resource "links" is "on", which refers to "posts" in another resource of the table "links".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) => posts.resources('users', { attributes: text })).resources('users', { attributes: text }, (users) => users.resources('posts', { attributes: text })),
    'Option "stores" of resource "users" cannot have tables that refer to each other: posts, users; give one of them a "store" of its own.'],
  [(map) => map.resources('posts', defined({ type: 'string' })).namespace('admin', (admin) => admin.resources('posts', defined({ type: 'integer' }))),
    'Option "attributes" of resource "posts" defines "name" otherwise than another resource of the same table.'],
  [(map) => map.scope({ unique: ['text'] } as object, (scope) => scope.resources('posts', { attributes: text })),
    'Option "unique" of a scope belongs to a single resource, not to a scope.']
]

t.test('resources that contradict each other are refused', async (t) => {
  for (const [declare, message] of contradicting) await t.rejects(serve(t, declare, { stores: memoryStores() }), { code: 'FST_RESOURCES_INVALID_OPTION', message })
})

t.test('two resources that agree on what a deletion does need not repeat it', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .resources('posts', { attributes: text }, (posts) => posts.resources('links', { attributes: text, onDelete: 'cascade' }))
    .resources('posts', { attributes: text, as: 'others', path: 'others' }, (posts) => posts.resources('links', { attributes: text })), { stores })
  t.match(requests, [{}, { references: { postId: { table: 'posts', onDelete: 'cascade' } } }])
})
