import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Authorize, draw, memoryStore, memoryStores, type ResourceOptions, type Store, type Stores
} from '../../lib/index.js'
import { build } from '../support/helper.js'
import { get } from '../support/html/page-tests.js'
import { DATABASES, openDeletedWorld, readDeleted, requests } from '../support/deleted-worlds.js'
import { ask as askWorld, compareWorlds, MOST } from '../support/role-worlds.js'

const post = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, authorId: { type: ['integer', 'null'] } }
} as const
const author = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const
const json = 'application/json'

type Values = Readonly<Record<string, unknown>>

/** Sends a request in JSON. Returns the status and the document. */
async function ask (
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: Values,
  user = 'admin'
): Promise<readonly [status: number, body: Values]> {
  const { statusCode, body } = await app.inject({
    method, url, headers: { accept: json, user }, ...(payload !== undefined && { payload })
  })
  return [statusCode, body === '' ? {} : JSON.parse(body) as Values]
}

const authorize: Authorize = ({ headers: { user } }, { action }) =>
  user === 'admin' || !['deleted', 'restore', 'purge'].includes(action)

/** Authors and their posts in one database; both keep what is deleted. */
async function openBlog (t: Test, stores: Stores, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const shared = { softDelete: 'deletedAt', authorize }
  app.register(draw((map) => map
    .resources('authors', { attributes: author, ...shared }, (authors) => authors
      .resources('notes', { attributes: { type: 'object', properties: { text: { type: 'string' } } } }))
    .resources('posts', { attributes: post, references: { authorId: 'authors' }, ...shared, ...options }),
  { stores, formats: ['json', 'html'] }))
  await app.ready()
  return app
}

t.test('a deleted row is gone, and can be found, restored and purged by those who may', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'POST', '/posts', { post: { title: 'B' } })
  t.strictSame((await ask(app, 'DELETE', '/posts', { id: 1 }))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts'), [200, { posts: [{ id: 2, title: 'B' }] }])
  for (const [method, url, payload] of [
    ['GET', '/posts/1'], ['DELETE', '/posts', { id: 1 }], ['PUT', '/posts', { id: 1, post: { title: 'C' } }]
  ] as const) t.equal((await ask(app, method, url, payload))[0], 404, `${method} ${url}`)

  const [status, { deleted_posts: deleted }] = await ask(app, 'GET', '/posts/deleted')
  const time = (deleted as readonly Values[])[0]?.deletedAt
  t.strictSame([status, deleted], [200, [{ id: 1, title: 'A', deletedAt: time }]])
  t.ok(Math.abs(Date.now() - Date.parse(String(time))) < 3_600_000, 'the time of the deletion')
  t.equal((await ask(app, 'POST', '/posts/deleted/2/restore'))[0], 404)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 2 }))[0], 404)

  for (const [method, url, payload] of [
    ['GET', '/posts/deleted'], ['POST', '/posts/deleted/1/restore'],
    ['DELETE', '/posts/deleted', { id: 1 }]
  ] as const) t.equal((await ask(app, method, url, payload, 'guest'))[0], 403, `${method} ${url} by a guest`)

  t.equal((await ask(app, 'POST', '/posts/deleted/1/restore'))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts/1'), [200, { post: { id: 1, title: 'A' } }])
  t.strictSame(await ask(app, 'GET', '/posts/deleted'), [200, { deleted_posts: [] }])

  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  t.equal((await ask(app, 'POST', '/posts/deleted/restore', { id: [1, 2] }))[0], 204)
  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: [1, 2] }))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts/deleted'), [200, { deleted_posts: [] }])
})

t.test('a deleted row can no more be referred to, and hides what is nested in it', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/authors', { author: { name: 'Ada' } })
  await ask(app, 'POST', '/authors/1/notes', { note: { text: 'x' } })
  await ask(app, 'POST', '/posts', { post: { title: 'A', authorId: 1 } })
  t.equal((await ask(app, 'DELETE', '/authors', { id: 1 }))[0], 204, 'what refers to it does not restrict the deletion')
  t.strictSame(await ask(app, 'GET', '/posts/1?include=author'),
    [200, { post: { id: 1, title: 'A', authorId: 1, author: null } }])
  t.match(await ask(app, 'POST', '/posts', { post: { title: 'B', authorId: 1 } }),
    [422, { errors: { authorId: ['refers to something that does not exist'] } }])
  t.equal((await ask(app, 'GET', '/authors/1/notes'))[0], 404)
  t.equal((await ask(app, 'GET', '/authors/1/notes/1'))[0], 404)
  t.equal((await ask(app, 'DELETE', '/authors/deleted', { id: 1 }))[0], 409, 'a purge is a real deletion')
  t.equal((await ask(app, 'POST', '/authors/deleted/1/restore'))[0], 204)
  t.equal((await ask(app, 'GET', '/authors/1/notes/1'))[0], 200)
})

t.test('a purge needs no version, because no answer has that of a deleted row', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: post, softDelete: 'deletedAt', authorize: () => true, requireMatch: true
  } as ResourceOptions)
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  t.equal((await ask(app, 'DELETE', '/posts', { id: 1 }))[0], 428)
  const etag = String((await get(app, '/posts/1')).headers.etag)
  const headers = { 'if-match': etag, accept: 'application/json' }
  t.equal((await app.inject({ method: 'DELETE', url: '/posts?id=1', headers })).statusCode, 204)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 1 }))[0], 204)
})

t.test('pages list the deleted rows, with buttons that restore and purge them', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'DELETE', '/posts', { id: 1 })
  const admin = { headers: { accept: 'text/html', user: 'admin' } }
  const list = await app.inject({ url: '/posts/deleted', ...admin })
  t.match(list.body, /<h1>Deleted posts<\/h1>/)
  t.match(list.body, 'formaction="/posts/deleted/restore">Restore</button>')
  t.match(list.body, 'name="_step" value="delete"')
  const restored = await app.inject({
    method: 'POST', url: '/posts/deleted/1/restore', headers: { ...admin.headers, 'sec-fetch-site': 'same-origin' }
  })
  t.equal(restored.statusCode, 303)
  t.equal((await app.inject({ url: String(restored.headers.location), ...admin })).statusCode, 200)
  t.equal((await get(app, '/posts/deleted')).statusCode, 403)
})

t.test('a page says how many rows refer to the row, before it is deleted', async (t) => {
  const app = await openBlog(t, memoryStores())
  for (const name of ['Ada', 'Bob', 'Cy']) await ask(app, 'POST', '/authors', { author: { name } })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title, authorId: 1 } })
  await ask(app, 'POST', '/authors/1/notes', { note: { text: 'x' } })
  await ask(app, 'POST', '/posts', { post: { title: 'C', authorId: 2 } })
  const cases: ReadonlyArray<readonly [path: string, text: string | undefined]> = [
    ['/authors/1', '1 note, 2 posts refer to this record. They are kept, and refer to nothing until it is restored.'],
    ['/authors/2', '1 post refers to this record. It is kept, and refers to nothing until the record is restored.'],
    ['/authors/3', undefined]
  ]
  for (const [path, text] of cases) {
    const { body } = await get(app, path)
    const [, found] = /<div class="card">(?:<p>(.*)<\/p>\n)?<form/.exec(body) ?? [path]
    t.equal(found, text, path)
    t.notMatch(body, 'permanently')
  }
})

t.test('lists lead to the deleted rows and back, for those who may see them', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/authors', { author: { name: 'Ada' } })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title, authorId: 1 } })
  const bodyOf = async (url: string, user: string): Promise<string> =>
    (await app.inject({ url, headers: { accept: 'text/html', user } })).body
  t.notMatch(await bodyOf('/authors/1', 'admin'), 'Deleted posts', 'a page has no list of deleted rows without any')
  await ask(app, 'DELETE', '/posts', { id: 2 })
  t.match(await bodyOf('/posts', 'admin'), '<a class="button plain" href="/posts/deleted">Show deleted</a>')
  t.notMatch(await bodyOf('/posts', 'guest'), 'deleted')
  t.match(await bodyOf('/posts/deleted', 'admin'), '<a href="/posts">Posts</a>')
  t.match(await bodyOf('/authors/1', 'admin'), 'Deleted posts')
  t.notMatch(await bodyOf('/authors/1', 'guest'), 'Deleted posts')
})

t.test('the page of deleted rows speaks the language of the others, and shows the time', async (t) => {
  const cases = [
    ['en', {}, 'Deleted posts', 'There are no deleted posts yet', 'Posts'],
    ['de', {}, 'Posts im Papierkorb', 'Noch keine Posts im Papierkorb', 'Posts'],
    ['fr', { phrases: { Posts: 'Billets' } }, 'Billets dans la corbeille', 'Billets dans la corbeille', 'Billets'],
    ['en', { heading: 'The news', plural: 'News' }, 'Deleted the news', 'There are no deleted news yet', 'The news']
  ] as const
  for (const [lang, messages, heading, empty, back] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(resources, {
      name: 'posts',
      attributes: { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } },
      softDelete: 'deletedAt',
      authorize: () => true,
      html: { lang, messages, columns: ['body'] }
    })
    const none = (await get(app, '/posts/deleted')).body
    t.match(none, `<h1>${heading}</h1>`)
    t.match(none, empty)
    t.match(none, `<a href="/posts">${back}</a>`)
    await ask(app, 'POST', '/posts', { post: { title: 'A', body: 'B' } })
    await ask(app, 'DELETE', '/posts', { id: 1 })
    const { body } = await get(app, '/posts/deleted')
    t.match(body, /<time /)
    t.match(body, '>B</td>')
  }
})

t.test('a handler may copy the store to replace a method of it', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const kept: string[] = []
  app.register(resources, {
    name: 'posts',
    attributes: post,
    softDelete: 'deletedAt',
    authorize: () => true,
    actions: {
      create: async (context) => {
        const { store } = context
        kept.push(...['list', 'get', 'create', 'update', 'delete', 'nothing'].filter((name) => name in store))
        const copy: Store = { ...store, get: async () => undefined }
        t.equal(await copy.get(1, {}, context), undefined)
        return context.proceed()
      },
      show: async ({ store, id, guard, ...context }) => ({ ...store }).get(id, guard.scope, context as never)
    }
  } as ResourceOptions)
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  t.strictSame(kept, ['list', 'get', 'create', 'update', 'delete'])
  t.equal((await ask(app, 'GET', '/posts/1'))[0], 200)
  await ask(app, 'DELETE', '/posts', { id: 1 })
  t.equal((await ask(app, 'GET', '/posts/1'))[0], 404, 'the copy has no deleted rows')
})

t.test('without authorize, nobody sees deleted rows', async (t) => {
  const store = memoryStore() as Store
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', attributes: post, store, softDelete: 'deletedAt' } as ResourceOptions)
  await app.ready()
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'DELETE', '/posts', { id: 1 })
  t.equal((await ask(app, 'GET', '/posts/deleted'))[0], 404)
  t.notMatch((await get(app, '/posts')).body, 'deleted')
  const kept = await store.get(1, {}, { signal: new AbortController().signal })
  t.match(kept, { attributes: { title: 'A', deletedAt: String } })
})

t.test('a deletion obeys its version', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  const old = (await app.inject({ url: '/posts/1', headers: { accept: json } })).headers.etag as string
  await ask(app, 'PUT', '/posts', { id: 1, post: { title: 'B' } })
  const remove = async (etag: string): Promise<number> =>
    (await app.inject({ method: 'DELETE', url: '/posts?id=1', headers: { accept: json, 'if-match': etag } })).statusCode
  t.equal(await remove(old), 412)
  t.equal(await remove((await app.inject({ url: '/posts/1', headers: { accept: json } })).headers.etag as string), 204)
})

t.test('what cannot work is refused at the start', async (t) => {
  const { capabilities: _, ...unfiltered } = memoryStore()
  const few = { ...memoryStore(), capabilities: { filter: ['in'] as const } }
  const cases: ReadonlyArray<readonly [options: Values, message: RegExp]> = [
    [{ softDelete: 5 }, /must be the name of an attribute such as 'deletedAt', not 5/],
    [{ softDelete: 'id' }, /must be the name of an attribute/],
    [{ softDelete: 'title' }, /names "title", which clients can write/],
    [{ softDelete: 'gone', attributes: { type: 'object', properties: { gone: { type: 'integer', readOnly: true } } } },
      /names "gone", which has another type; declare it as \{"type":\["string","null"\],"format":"date-time"/],
    [{ softDelete: 'constructor', only: 'create', actions: { create: () => undefined } }, /needs a "store"/],
    [{ softDelete: 'x', only: 'create', actions: { create: () => undefined } }, /needs a "store", whose rows it keeps/],
    [{ softDelete: 'x', store: { ...memoryStore(), attributes: post } },
      /names "x", which is not an attribute of the store/],
    [{ softDelete: 'x', store: unfiltered, authorize }, /a store that can filter rows by "null"/],
    [{ softDelete: 'x', store: few, authorize }, /a store that can filter rows by "null"/],
    [{ softDelete: 'x', authorize: 'admin' }, /must be a function/]
  ]
  for (const [options, message] of cases) {
    const app = fastify()
    app.register(resources, { name: 'posts', attributes: post, ...options } as ResourceOptions)
    await t.rejects(async () => { await app.ready() }, { message }, JSON.stringify(options))
  }
  const app = fastify()
  app.register(draw((map) => map.resource('profile', { softDelete: 'deletedAt' })))
  await t.rejects(async () => { await app.ready() }, { message: /cannot be given to a single record/ })
})

t.test('a page offers to restore and purge rows, wherever rows are written', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const shared = { attributes: post, softDelete: 'deletedAt', authorize: () => true } as const
  app.register(draw((map) => map
    .resources('posts', { ...shared, writes: 'member' })
    .resources('blogs', { attributes: author }, (blogs) => blogs
      .resources('notes', { ...shared, shallow: true })), { stores: memoryStores(), formats: ['json', 'html'] }))
  await app.ready()
  await ask(app, 'POST', '/blogs', { blog: { name: 'B' } })
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'POST', '/blogs/1/notes', { note: { title: 'A' } })
  t.notMatch((await get(app, '/posts/1')).body, 'permanently')
  t.equal((await ask(app, 'DELETE', '/posts/1'))[0], 204)
  t.equal((await ask(app, 'DELETE', '/notes', { id: 1 }))[0], 204)
  for (const url of ['/posts/deleted', '/blogs/1/notes/deleted']) {
    const { body } = await get(app, url)
    t.match(body, `formaction="${url}/restore">Restore</button>`)
    t.match(body, 'name="_step" value="delete"')
  }
  t.equal((await ask(app, 'POST', '/blogs/1/notes/deleted/1/restore'))[0], 204)
  t.equal((await ask(app, 'GET', '/notes/1'))[0], 200)
})

t.test('writes wait for the transactions of requests with many rows', async (t) => {
  const app = await openBlog(t, memoryStores(), { check: () => {} })
  const posts = Array.from({ length: 40 }, (_, index) => ({ title: `T${index}` }))
  await ask(app, 'POST', '/posts', { posts })
  const asked = Array.from({ length: 20 }, (_, index) => [
    ask(app, 'PUT', '/posts', { posts: [{ id: 1, title: `A${index}` }, { id: 2, title: `B${index}` }] }),
    ask(app, 'PUT', '/posts', { id: 1, post: { title: `C${index}` } }),
    ask(app, 'POST', '/posts', { post: { title: `D${index}` } }),
    ask(app, 'DELETE', '/posts', { id: 10 + index }),
    ask(app, 'DELETE', '/posts', { id: 10 + index })
  ])
  const statuses = (await Promise.all(asked.flat())).map(([status]) => status)
  t.strictSame([...new Set(statuses)].sort(), [200, 201, 204, 404])
})

t.test('authorize sees the deleted row, whose time can be declared', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      gone: { type: ['string', 'null'], format: 'date-time', readOnly: true, title: 'Thrown away' }
    }
  } as const
  const app = await openBlog(t, memoryStores(), {
    attributes: attributes as unknown as ResourceOptions['attributes'],
    references: {},
    softDelete: 'gone',
    sort: ['gone'],
    cacheControl: 'private, max-age=1',
    as: 'articles',
    authorize: async (_request, { action, row }) => action !== 'purge' || (await row?.())?.attributes.title === 'A'
  })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title } })
  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  const [status, { deleted_posts: deleted }] = await ask(app, 'GET', '/posts/deleted?sort=-gone')
  t.match([status, deleted], [200, [{ title: 'B', gone: String }, { title: 'A', gone: String }]])
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 2 }))[0], 403)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 1 }))[0], 204)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 9 }))[0], 403)
  t.match(app.printResources(), 'deletedArticles')
})

// FC_SEED=… makes other runs, FC_RUNS=… more requests.
const seed = Number(process.env.FC_SEED ?? 20_261_129)
const numRuns = Number(process.env.FC_RUNS ?? 400)
/** The folder of the databases. */
const folder = mkdtempSync(join(tmpdir(), 'resources-deleted-'))
t.teardown(() => { rmSync(folder, { recursive: true }) })

const seen = new Map<string, number>()

const databases = Object.entries(DATABASES)

for (const [index, [where, make]] of databases.entries()) {
  t.test(`worlds in ${where} that differ only in deleted rows answer alike`, async (t) => {
    const fault = await compareWorlds({
      role: 'guest',
      open: async (isOther) => openDeletedWorld(make(folder), isOther),
      requests,
      readKept: readDeleted,
      mayVanish: false,
      note: (key) => { seen.set(key, (seen.get(key) ?? 0) + 1) }
    }, { seed: seed + index, numRuns: Math.ceil(numRuns / MOST / databases.length) })
    t.equal(String(fault), 'undefined')
  })
}

t.test('the requests reach all methods and statuses', async (t) => {
  for (const key of ['200', '201', '204', '400', '403', '404', '412', '422', 'replayed', 'GET', 'HEAD', 'POST', 'PUT',
    'PATCH', 'DELETE', 'QUERY']) t.ok((seen.get(key) ?? 0) > 0, `${key}: ${seen.get(key)} times`)
  t.ok((seen.get('200') ?? 0) > numRuns / 10)
})

t.test('the comparison finds what an admin sees', async (t) => {
  for (const [where, make] of databases) {
    const worlds = [await openDeletedWorld(make(folder), false), await openDeletedWorld(make(folder), true)] as const
    for (const url of ['/people/deleted.json', '/teams/deleted.json', '/people/1/notes/deleted.json']) {
      const asked = { options: { url }, condition: undefined }
      const one = await askWorld(worlds[0], 'admin', asked, '')
      const other = await askWorld(worlds[1], 'admin', asked, '')
      t.not(one.answer, other.answer, `${url} in ${where}`)
    }
    for (const { app } of worlds) await app.close()
  }
})
