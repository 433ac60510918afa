import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { describeDatabase } from '../../lib/database/index.js'
import resources, {
  type Attributes, draw, type DrawOptions, type Mapper, memoryStore, memoryStores, type OnDelete,
  type ReferenceOptions, type ResourceOptions, type Row, type Store, type Stores, type TableRequest
} from '../../lib/index.js'
import { keepDeleted } from '../../lib/core/stores/soft-delete.js'
import { build, draft, xml } from '../support/helper.js'
import type { AnyContext } from '../support/map-action.js'

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
  return Object.fromEntries(requests.map(({ table, attributes }) => [table,
    [attributes?.properties, attributes?.required]]))
}

t.test('a table has the columns of its resource, its scope and its foreign key', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map
    .scope({ scope: () => ({ tenant: 'a' }), scopeAttributes: { tenant: { type: 'string' } } }, (scope) => scope
      .resources('posts', { attributes: text, id: 'uuid', param: 'slug', unique: ['text'] }, (posts) => posts
        .resources('comments', {
          attributes: text, onDelete: 'cascade', scopeAttributes: { author: { type: 'integer' } }
        })
        .resource('cover', { attributes: text, foreignKey: 'post' }, (cover) => cover
          .resources('layers', { attributes: text })))), { stores })
  const { text: body } = text.properties
  const tenant = { type: 'string' }
  const uuid = { type: 'string', format: 'uuid' }
  t.strictSame(requests, [
    {
      table: 'posts',
      id: 'uuid',
      attributes: { ...text, properties: { text: body, tenant }, required: ['text', 'tenant'] },
      unique: ['text'],
      references: {}
    },
    {
      table: 'comments',
      id: 'integer',
      attributes: {
        ...text,
        properties: { text: body, author: { type: 'integer' }, tenant, postSlug: uuid },
        required: ['text', 'tenant', 'author', 'postSlug']
      },
      unique: [],
      references: { postSlug: { table: 'posts', onDelete: 'cascade' } }
    },
    {
      table: 'cover',
      id: 'integer',
      attributes: { ...text, properties: { text: body, tenant, post: uuid }, required: ['text', 'tenant', 'post'] },
      unique: [],
      references: { post: { table: 'posts' } }
    },
    {
      table: 'layers',
      id: 'integer',
      attributes: {
        ...text,
        properties: { text: body, tenant, coverId: { type: 'integer' } },
        required: ['text', 'tenant', 'coverId']
      },
      unique: [],
      references: { coverId: { table: 'cover' } }
    }
  ])
})

t.test('resources with the same table need the attributes of all of them', async (t) => {
  const shared = {
    type: 'object',
    required: ['text', 'a'],
    $defs: { name: { type: 'string' } },
    properties: { a: { $ref: '#/$defs/name' }, text: { type: 'string' } }
  } as const
  const other = {
    type: 'object',
    required: ['a', 'b'],
    $defs: { name: { type: 'string' }, size: { type: 'integer' } },
    properties: { text: { type: ['string', 'null'] }, a: { $ref: '#/$defs/name' }, b: { $ref: '#/$defs/size' } }
  } as const
  const { stores, requests } = recordStores()
  await serve(t, (map) => map.resources('posts', { attributes: shared, unique: ['a'] })
    .namespace('admin', (admin) =>
      admin.resources('posts', { attributes: other, unique: ['a', ['text', 'b']] })), { stores })
  t.equal(requests.length, 1)
  t.match(requests[0], {
    attributes: {
      required: ['a'],
      $defs: { name: { type: 'string' }, size: { type: 'integer' } },
      properties: {
        a: { $ref: '#/$defs/name' },
        text: { anyOf: [{ type: 'string' }, { type: ['string', 'null'] }] },
        b: { $ref: '#/$defs/size' }
      }
    },
    unique: ['a', ['text', 'b']]
  })
})

t.test('a foreign key may be null if a row can be without a parent, or outlive it', async (t) => {
  const tables = await tablesOf(t, (map) => map
    .resources('posts', { attributes: text }, (posts) => posts.resources('comments', { attributes: text })
      .resources('links', { attributes: text, onDelete: 'set null' }))
    .resources('comments', { attributes: text }))
  t.match(tables, {
    comments: [{ postId: { type: ['integer', 'null'] } }, ['text']],
    links: [{ postId: { type: ['integer', 'null'] } }, ['text', 'postId']]
  })
})

t.test('each parent has one nested record, unless a scope divides it further', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map.resource('about', { attributes: text })
    .resources('posts', { attributes: text }, (posts) => posts.resource('cover', { attributes: text })
      .resource('vote', {
        attributes: text, scope: () => ({ user: 1 }), scopeAttributes: { user: { type: 'integer' } }
      })
      .resource('note', { attributes: text }))
    .resources('pages', { attributes: text }, (pages) => pages.resource('note', { attributes: text })), { stores })
  t.strictSame(Object.fromEntries(requests.map(({ table, unique }) => [table, unique])),
    { about: [], posts: [], cover: ['postId'], vote: [], pages: [], note: [] })
})

t.test('a table opens after those that it refers to', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map.resources('comments', { attributes: text })
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
  t.equal((await app.inject({
    method: 'POST', url: '/posts/1/comments.json', payload: { comment: { text: 'T' } }
  })).statusCode, 201)
  t.equal((await app.inject({ method: 'DELETE', url: '/posts.json?id=1' })).statusCode, 204)
})

const stores = memoryStores()
const store = memoryStore() as Store

const wrong: ReadonlyArray<readonly [options: object, message: string]> = [
  [{ stores: {} }, 'Option "stores" of resource "posts" must be stores of one database, such as ' +
    'sqliteStores({ file: \'blog.sqlite\' ' + '}), not [object Object].'],
  [{ stores, unique: 'text' },
    'Option "unique" of resource "posts" must be a list of attributes, or groups of them, such as [\'email\', ' +
      '[\'tenant\', \'title\']].'],
  [{ stores, onDelete: 'cascade' },
    'Option "onDelete" of resource "posts" can be given only to a resource that is nested in another one with the ' +
      'same "stores".'],
  [{ stores, scopeAttributes: [] },
    'Option "scopeAttributes" of resource "posts" must be schemas by attribute such as ' +
      '{ tenant: { type: \'string\' } ' + '}, not .'],
  [{ stores, scopeAttributes: { tenant: 'string' } },
    'Option "scopeAttributes" of resource "posts" has "tenant", which must be a JSON Schema, not \'string\'.'],
  [{ stores, id: 'string' },
    'Option "id" of resource "posts" is \'string\', but must be \'integer\' or \'uuid\' in the table "posts".'],
  [{ table: 'posts' },
    'Option "table" of resource "posts" is about a table of the option "stores", which this resource does not have.'],
  [{ store, unique: ['text'] },
    'Option "unique" of resource "posts" is about a table of the option "stores", but this resource has a "store"; ' +
      'give it to the store itself.']
]

t.test('options that are wrong are refused', async (t) => {
  for (const [options, message] of wrong) {
    await t.rejects(build(t, { name: 'posts', attributes: text, ...options } as ResourceOptions),
      { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
  t.throws(() => draw((map) => map, { store: stores } as DrawOptions),
    { code: 'FST_RESOURCES_UNKNOWN_OPTION', message: 'There is no option "store" of draw; did you mean "stores"?' })
})

t.test('a unique group without an attribute of the scope is a warning at the start', async (t) => {
  const scope = (): { tenant: string } => ({ tenant: 'acme' })
  const stores = { scopeAttributes: { tenant: { type: 'string' } } }
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, groups: readonly string[]]> = [
    ['an attribute', { scope, ...stores, unique: ['text'] }, ["['text']"]],
    ['a group that has one', { scope, ...stores, unique: [['tenant', 'text']] }, []],
    ['two groups', { scope, ...stores, unique: [['tenant', 'text'], ['text', 'id2'], 'id2'] },
      ["['text', 'id2']", "['id2']"]],
    ['no scope', { ...stores, unique: ['text'] }, []],
    ['a scope that is unknown beside deletions',
      { scope, softDelete: 'deletedAt', store: memoryStore({ unique: ['text', ['text', 'id2']] }) }, ["['text']"]],
    ['a store of its own', { scope, store: memoryStore({ unique: ['text'] }) }, ["['text']"]],
    ['a group whose scope is unknown', { scope, store: memoryStore({ unique: [['owner', 'text']] }) }, []]
  ]
  for (const [name, options, groups] of cases) {
    const lines: string[] = []
    const app = fastify({
      requestTimeout: 1000,
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push((JSON.parse(line) as { msg: string }).msg)
          }
        }
      }
    })
    t.teardown(() => app.close())
    const properties = { ...text.properties, id2: { type: 'string' } } as const
    app.register(draw((map) => map.resources('posts', { ...options, attributes: { ...text, properties } } as object),
      { stores: memoryStores() }))
    await app.ready()
    t.strictSame(lines,
      groups.map((group) =>
        `resource "posts": "unique" has ${group} without an attribute of its "scope", so a 409 tells which values ` +
          'rows outside the scope have; if it must not, add the attribute to the group'), name)
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
    [() => draw((map) => map, { lang: 'de' } as DrawOptions),
      'There is no option "lang" of draw; it is an option of the format html: write html: { lang: … }.'],
    [register({ formats: ['json'] }), `There is no option "formats" of the registration of a map; ${place}.`],
    [async () => await draft(t, (map) => map.resources('posts', { formats: ['json'], html: { columns: [] } })),
      'There is no option "html" of resource "posts"; the format "html" is not among its "formats", so it would have ' +
        'no effect.'],
    [register({ prefx: '/a' }), 'There is no option "prefx" of the registration of a map; did you mean "prefix"?'],
    [() => memoryStore({ uniqe: [] } as object), 'There is no option "uniqe" of memoryStore; did you mean "unique"?'],
    [() => memoryStore({ formats: [] } as object), 'There is no option "formats" of memoryStore.'],
    [async () => await describeDatabase({ prepare: () => ({}) } as never, { tables: ['a'] } as object),
      'There is no option "tables" of describeDatabase.'],
    [async () => await draft(t, (map) => map.resources('posts', { limit: 5 } as object)),
      'There is no option "limit" of resource "posts"; did you mean "maxLimit"?'],
    [async () => await draft(t, (map) => map.resources('posts', {}, (posts) => {
      posts.member.post('publish', { formats: [] } as object, () => undefined)
    })), 'There is no option "formats" of action "publish" of resource "posts".']
  ]
  for (const [make, message] of cases) {
    await t.rejects(async () => { await make() }, { code: 'FST_RESOURCES_UNKNOWN_OPTION', message }, message)
  }
})

const defined = (name: object): object => ({ attributes: { ...text, definitions: { name } } })

const contradicting: ReadonlyArray<readonly [declare: (map: Mapper) => unknown, message: string]> = [
  [(map) => map.resources('posts', { attributes: text }).namespace('admin', (admin) =>
    admin.resources('posts', { attributes: text, id: 'uuid' })),
  'Option "id" of resource "posts" is \'uuid\', but \'integer\' in another resource of the table "posts".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) =>
    posts.resources('links', { attributes: text, onDelete: 'cascade' })).resources('posts',
    { attributes: text, as: 'others', path: 'others' }, (posts) =>
      posts.resources('links', { attributes: text, onDelete: 'restrict' })),
  'Option "onDelete" of resource "links" is \'restrict\', but \'cascade\' in another resource of the table "links".'],
  [(map) => map.resources('posts', { attributes: text, softDelete: 'goneAt' }).namespace('admin', (admin) =>
    admin.resources('posts', { attributes: text, softDelete: 'deletedAt' })),
  'Option "softDelete" of resource "posts" is \'deletedAt\', but \'goneAt\' in another resource of the table "posts".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) =>
    posts.resources('links', { attributes: text, foreignKey: 'on' })).resources('pages', { attributes: text },
    (pages) => pages.resources('links', { attributes: text, foreignKey: 'on' })),
  'Option "foreignKey" of resource "links" is "on", which refers to "posts" in another resource of the table "links".'],
  [(map) => map.resources('posts', { attributes: text }, (posts) =>
    posts.resources('users', { attributes: text })).resources('users', { attributes: text }, (users) =>
    users.resources('posts', { attributes: text })),
  'Option "stores" of resource "users" cannot have tables that refer to each other: posts, users; give one of them ' +
      'a "store" of its own.'],
  [(map) => map.resources('posts', defined({ type: 'string' })).namespace('admin', (admin) =>
    admin.resources('posts', defined({ type: 'integer' }))),
  'Option "attributes" of resource "posts" defines "name" otherwise than another resource of the same table.'],
  [(map) => map.scope({ unique: ['text'] } as object, (scope) => scope.resources('posts', { attributes: text })),
    'Option "unique" of a scope belongs to a single resource, not to a scope.']
]

const key = (schema: object, required: readonly string[] = []): object =>
  ({ attributes: { type: 'object', required, properties: { by: schema } } })
const number = { type: 'integer' }

const referring: ReadonlyArray<readonly [declare: (map: Mapper) => unknown, message: string]> = [
  [(map) => map.resources('posts', { ...key(number), references: { by: { onDelete: 'cascade' } as ReferenceOptions } }),
    'Option "references" of resource "posts" has "by", which must name a resource, as in { to: \'authors\' }.'],
  [(map) => map.resources('posts', {
    ...key(number), references: { by: { to: 'users', onDelete: 'none' as OnDelete } }
  }),
  'Option "onDelete" of resource "posts" must be \'restrict\', \'cascade\' or \'set null\', not \'none\'.'],
  [(map) => map.resources('posts', {
    ...key(number), references: { by: { to: 'users', onDelete: 'cascade', check: false } }
  }), 'Option "references" of resource "posts" has "by", which has "onDelete", but no foreign key with "check: ' +
    'false".'],
  [(map) => map.resources('users', key(number))
    .resources('posts', { ...key({ type: 'string' }), references: { by: 'users' } }),
  'Option "references" of resource "posts" has "by", whose values are integers, so it needs the type \'integer\' in ' +
    'the table "posts".'],
  [(map) => map.resources('users', key(number))
    .resources('posts', { ...key(number, ['by']), references: { by: { to: 'users', onDelete: 'set null' } } }),
  'Option "references" of resource "posts" has "by" with \'set null\', but the attribute cannot be null in the table ' +
    '"posts".'],
  [(map) => map.resources('users', key(number)).resources('posts', { ...key(number), references: { by: 'users' } })
    .namespace('admin', (admin) => admin.resources('posts',
      { ...key(number), references: { by: { to: 'users', onDelete: 'cascade' } } })),
  'Option "references" of resource "posts" has "by" with \'cascade\' to "users", which refers to "users" with ' +
    '\'restrict\' in another resource of the table "posts".'],
  [(map) => map.resources('users', key(number), (users) => users.resources('notes',
    { ...key(number), foreignKey: 'by', references: { by: { to: 'users', onDelete: 'cascade' } } })),
  'Option "references" of resource "notes" has "by" with \'cascade\' to "users", which refers to "users" with ' +
    '\'restrict\' in another resource of the table "notes".'],
  [(map) => map.resources('users', { ...key(number), store: memoryStore() })
    .resources('posts', { ...key(number), references: { by: { to: 'users', onDelete: 'cascade' } } }),
  'Option "references" of resource "posts" names "users" for "by", with "onDelete", but only resources with the same ' +
    '"stores" have foreign keys.'],
  [(map) => map.resources('posts', { ...key(number), references: { other: 'posts' } }),
    'Option "references" of resource "posts" names "other", which is not among the attributes declared.']
]

t.test('references that cannot be foreign keys are refused', async (t) => {
  for (const [declare, message] of referring) {
    await t.rejects(serve(t, declare, { stores: memoryStores() }), { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
})

t.test('a foreign key to a resource that is registered later is refused', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = memoryStores()
  app.register(resources, { name: 'posts', stores, references: { by: 'users' } })
  app.register(resources, { name: 'users', stores })
  await t.rejects(async () => { await app.ready() }, {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message: 'Option "references" of resource "posts" names "users" for "by", which is registered later, so it is no ' +
      'foreign key yet; register it before, or both in one draw(…).'
  })
})

t.test('a reference that several resources share is one foreign key', async (t) => {
  const { stores, requests } = recordStores()
  await serve(t, (map) => map.resources('users', key(number), (users) => users
    .resources('notes', { ...key(number), foreignKey: 'by', references: { by: 'users' } }))
    .resources('posts', { ...key(number), references: { by: 'users' } })
    .namespace('admin', (admin) =>
      admin.resources('posts', { ...key(number), references: { by: 'users' } }))
    .resources('open', { references: { by: 'users' } }), { stores })
  t.strictSame(requests.map(({ table, references }) => [table, references]), [
    ['users', {}],
    ['notes', { by: { table: 'users' } }],
    ['posts', { by: { table: 'users', onDelete: 'restrict', optional: true } }],
    ['open', { by: { table: 'users', onDelete: 'restrict', optional: true } }]
  ])
})

t.test('resources that contradict each other are refused', async (t) => {
  for (const [declare, message] of contradicting) {
    await t.rejects(serve(t, declare, { stores: memoryStores() }), { code: 'FST_RESOURCES_INVALID_OPTION', message })
  }
})

t.test('a row may hold values that no client could send', async t => {
  let row: Row = { id: 1, version: '1', attributes: {} }
  const store: Store = { ...memoryStore(), get: () => row, list: () => [[row]] }
  const declared = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      rating: { type: 'integer' },
      price: { type: 'number' },
      published: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      author: { type: 'object', properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true } } }
    }
  } as const
  const cases: [attributes: Attributes, content: string, json: object][] = [
    [{ rating: 'x' }, '<rating type="json">"x"</rating>', { rating: 'x' }],
    [{ rating: NaN }, '<rating nil="true"/>', { rating: null }],
    [{ price: Infinity }, '<price nil="true"/>', { price: null }],
    [{ published: 1 }, '<published type="json">1</published>', { published: 1 }],
    [{ tags: 'a' }, '<tags type="json">"a"</tags>', { tags: 'a' }],
    [{ tags: [1, null, 'a'] }, '<tags type="array"><tag type="json">1</tag><tag nil="true"/><tag>a</tag></tags>',
      { tags: [1, null, 'a'] }],
    [{ author: ['N'] }, '<author type="json">["N"]</author>', { author: ['N'] }],
    [{ author: null }, '<author nil="true"/>', { author: null }],
    [{ title: 'a\u0000b\ud800c\uffff' }, '<title type="json">"a\\u0000b\\ud800c\\uffff"</title>',
      { title: 'a\u0000b\ud800c\uffff' }],
    [{ nothing: 'known' }, '', {}],
    [{ title: undefined }, '', {}]
  ]
  const app = await build(t, { name: 'posts', attributes: declared, store })
  for (const [attributes, content, json] of cases) {
    row = { id: 1, version: '1', attributes }
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id>${content}</post>`)
    t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, ...json } })
    for (const url of ['/posts/1.html', '/posts.html']) t.equal((await app.inject(url)).statusCode, 200, content)
  }

  await t.test('the same holds without declared attributes', async t => {
    // A client could not send back an element with such a name, so that XML leaves the attribute out.
    const names: [name: string, isWritten: boolean][] = [...['first name', '1st', '', 'a:b', '<a>', '😀', '\ud800',
      '-'].map((name): [string, boolean] => [name, false]), ['toString', true]]
    const app = await build(t, { name: 'posts', store })
    for (const [name_, isWritten] of names) {
      row = { id: 1, version: '1', attributes: { [name_]: 'x' } }
      t.equal((await app.inject('/posts/1.xml')).body,
        `${xml}<post><id type="integer">1</id>${isWritten ? `<${name_}>x</${name_}>` : ''}</post>`)
      t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, [name_]: 'x' } })
      t.equal((await app.inject('/posts/1.html')).statusCode, 200)
    }
  })
})

const note = {
  type: 'object', required: ['title', 'tenant'], properties: { title: { type: 'string' }, tenant: { type: 'string' } }
} as const
async function serveNotes (options: object): Promise<{ app: FastifyInstance, logged: string[] }> {
  const logged: string[] = []
  const app = fastify({ logger: { level: 'error', stream: { write: (line: string) => { logged.push(line) } } } })
  t.teardown(() => app.close())
  app.register(resources, { name: 'notes', attributes: note, ...options } as ResourceOptions)
  await app.ready()
  return { app, logged }
}

const createNote = async (app: FastifyInstance, note: object): Promise<LightMyRequestResponse> =>
  app.inject({ method: 'POST', url: '/notes', headers: { accept: 'application/json' }, payload: { note } })

t.test('a handler that changes an attribute of its own scope is told so', async (t) => {
  for (const [what, rest, status] of [['the whole guard', {}, 500],
    ['a guard without it', { scope: {} }, 204]] as const) {
    const { app, logged } = await serveNotes({
      scope: () => ({ deletedAt: null }),
      actions: {
        delete: ({ store, id, guard, signal }: AnyContext) =>
          store.update(id, { deletedAt: 'now' }, { ...guard, ...rest }, { signal })
      }
    })
    const { id } = (await createNote(app, { title: 'Tea', tenant: 'a' })).json().note
    t.equal((await app.inject({ method: 'DELETE', url: `/notes.json?id=${id}` })).statusCode, status, what)
    t.equal((await app.inject(`/notes/${id}.json`)).statusCode, status === 500 ? 200 : 404, 'the row')
    t.match(logged.join('\n'), status === 500
      ? /an update changes \\"deletedAt\\", which the scope of its guard keeps.*FST_RESOURCES_SCOPE_CHANGE/s
      : /^$/)
  }
})

t.test('what a client sends for an attribute of the scope is ignored, and scope meets what is required', async (t) => {
  const { app } = await serveNotes({ scope: () => ({ tenant: 'a' }) })
  const created = await createNote(app, { title: 'Tea' })
  t.match([created.statusCode, created.json()], [201, { note: { title: 'Tea', tenant: 'a' } }])
  t.match((await createNote(app, { title: 'Tea', tenant: 'b' })).json(), { note: { tenant: 'a' } })
  const { id } = created.json().note
  const changed = await app.inject({
    method: 'PUT', url: '/notes.json', payload: { id, note: { title: 'Milk', tenant: 'b' } }
  })
  t.match([changed.statusCode, changed.json()], [200, { note: { title: 'Milk', tenant: 'a' } }])
  const refused = (await createNote(app, {})).json()
  t.match(refused, { status: 422, errors: { title: ['must be given'], tenant: undefined } }, 'nothing else is met')
})

t.test('a deletion that keeps the row fails with its update', async (t) => {
  const store = memoryStore()
  store.create({}, {})
  const outcome = { ok: false, why: 'missing' } as const
  const kept = keepDeleted({ ...store, update: () => outcome } as unknown as Store, 'gone')
  const guard = { version: undefined, scope: {} }
  t.strictSame(await kept.delete(1, guard, { signal: new AbortController().signal }), outcome)
})
