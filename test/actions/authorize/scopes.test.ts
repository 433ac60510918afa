import fastify, {
  type FastifyInstance, type FastifyRequest, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type AttributesSchema, draw, type Mapper, memoryStore, type Scope, type Store
} from '../../../lib/index.js'
import { everythingIn, SECRET } from '../../support/authorize.js'
import { types } from '../../support/helper.js'
import { recordingStore } from '../../support/stores/recording-store.js'

const form = 'application/x-www-form-urlencoded'
const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1 },
    body: { type: 'string' },
    tenant: { type: 'string' },
    postId: { type: 'integer' },
    commentId: { type: 'integer' },
    replyId: { type: 'integer' },
    profileId: { type: 'integer' },
    article: { type: 'integer' }
  }
} as const satisfies AttributesSchema

const context = { signal: new AbortController().signal }
const anyone: Scope = {}
type MakeStore =
  (name: string, rows?: readonly Attributes[], unique?: ReadonlyArray<string | readonly string[]>) => Promise<Store>

/** Runs a test with stores of these rows. The store contract holds what scopes mean in each store. */
function each (name: string, body: (t: Test, makeStore: MakeStore) => Promise<void>): void {
  t.test(name, async (t) => await body(t, async (_name, rows = [], unique = []) => {
    const store = memoryStore({ unique })
    for (const row of rows) store.create(row, {})
    return store
  }))
}

async function drawn (t: Test, declare: (map: Mapper) => unknown, logged?: string[]): Promise<FastifyInstance> {
  const logger = { stream: { write (line: string) { logged?.push(line) } } }
  const app = fastify(logged === undefined ? {} : { logger })
  t.teardown(() => app.close())
  app.register(draw(declare))
  await app.ready()
  return app
}

const tenantOf = ({ headers }: FastifyRequest): Scope => ({ tenant: String(headers['x-tenant']) })
const by = (tenant: string): Record<string, string> => ({ 'x-tenant': tenant, accept: 'application/json' })
const problems: Readonly<Record<string, string>> = { xml: types.xml, html: types.html, json: types.problem }

/** Returns every request for a row of the collection of this path. */
function requestsFor (collection: string, singular: string, id: number): InjectOptions[] {
  const member = `${collection}/${id}`
  return ['xml', 'html', 'json'].flatMap((format): InjectOptions[] => {
    const write = { headers: { 'content-type': 'application/json' } }
    const filled = JSON.stringify({ [singular]: { title: 'x' } })
    const named = JSON.stringify({ id, [singular]: { title: 'x' } })
    const xml = `<${singular}><id>${id}</id><title>x</title></${singular}>`
    const override = (method: string): string => `_method=${method}&id=${id}&${singular}[title]=x`
    const forms = ['PUT', 'DELETE'].flatMap((method) => [collection, member].map((url): InjectOptions => ({
      method: 'POST', url: `${url}.${format}`, headers: { 'content-type': form }, payload: override(method)
    })))
    const own = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method): InjectOptions => ({
      method, url: `${member}/own.${format}`, ...(method !== 'GET' && { ...write, payload: filled })
    }))
    return [
      { url: `${member}.${format}` },
      { url: `${member}?format=${format}` },
      { method: 'HEAD', url: `${member}.${format}` },
      { url: `${member}/edit.${format}` },
      { method: 'PUT', url: `${collection}.${format}`, ...write, payload: named },
      { method: 'PUT', url: `${collection}.${format}`, headers: { 'content-type': 'application/xml' }, payload: xml },
      { method: 'PUT', url: `${collection}.${format}?id=${id}`, ...write, payload: filled },
      { method: 'PUT', url: `${member}.${format}`, ...write, payload: filled },
      ...['"1.json"', '"1.json", "7.json"'].map((tags): InjectOptions => ({
        method: 'PUT', url: `${member}.${format}`, headers: { ...write.headers, 'if-match': tags }, payload: filled
      })),
      { method: 'PATCH', url: `${member}.${format}`, ...write, payload: filled },
      { method: 'DELETE', url: `${collection}.${format}`, ...write, payload: JSON.stringify({ id }) },
      { method: 'DELETE', url: `${collection}.${format}?id=${id}` },
      { method: 'DELETE', url: `${member}.${format}` },
      { method: 'DELETE', url: `${member}.${format}`, headers: { 'if-match': '"9.json"' } },
      ...forms,
      ...own
    ]
  })
}

const FORMATS = ['xml', 'html', 'json']

/** Returns the format that the URL of a request names. */
function formatOf ({ url }: InjectOptions): string {
  return /\.(xml|html|json)|format=(\w+)/.exec(String(url))?.slice(1).find((name) => name !== undefined) as string
}

/**
 * Checks that each request is answered like one for a missing row. The requests are the same ones for each format. Each
 * is sent in one format, and its neighbours in the others.
 */
async function areMissing (
  t: Test, app: FastifyInstance, all: readonly InjectOptions[], headers: Record<string, string> = {}
): Promise<void> {
  const wrong: unknown[] = []
  const isSent = (request: InjectOptions, index: number): boolean =>
    FORMATS.indexOf(formatOf(request)) === index % FORMATS.length
  const requests = FORMATS.flatMap((format) => all.filter((request) => formatOf(request) === format).filter(isSent))
  for (const request of requests) {
    const res = await app.inject({ ...request, headers: { ...request.headers, ...headers } })
    const format = formatOf(request)
    const isRight = res.statusCode === 404 && res.headers['content-type'] === problems[format] &&
      !everythingIn(res).includes(SECRET)
    if (!isRight) wrong.push([request, res.statusCode, res.headers['content-type'], res.body.slice(0, 300)])
  }
  t.strictSame(wrong, [], `${requests.length} requests`)
}

/** Returns a map of posts, their comments and the replies to those. */
async function blog (makeStore: MakeStore): Promise<{
  readonly stores: Record<'posts' | 'comments' | 'replies', Store>, draw (map: Mapper): void
}> {
  const stores = {
    posts: await makeStore('posts', [{ title: 'P1' }, { title: 'P2' }]),
    comments: await makeStore('comments', [{ title: 'C1', postId: 1 }, { title: SECRET, body: SECRET, postId: 2 }]),
    replies: await makeStore('replies', [{ title: 'R1', commentId: 1 }, { title: SECRET, body: SECRET, commentId: 2 }])
  }
  return {
    stores,
    draw (map) {
      map.resources('posts', { attributes, store: stores.posts, writes: 'both' }, (posts) => {
        posts.resources('comments', { attributes, store: stores.comments, writes: 'both', formPages: true },
          (comments) => {
            for (const verb of verbs) comments.member[verb]('own', ({ row }) => row())
            comments.resources('replies', { attributes, store: stores.replies, writes: 'both', formPages: true },
              (replies) => {
                for (const verb of verbs) replies.member[verb]('own', ({ row }) => row())
              })
          })
      })
    }
  }
}

each('a comment of another post is not found by any request', async (t, makeStore) => {
  const { stores, draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  const before = await stores.comments.get(2, anyone, context)
  await areMissing(t, app, requestsFor('/posts/1/comments', 'comment', 2))
  await areMissing(t, app, requestsFor('/posts/1/comments/1/replies', 'reply', 2))
  t.strictSame(await stores.comments.get(2, anyone, context), before, 'the comment is unchanged')
  t.match(await stores.replies.get(2, anyone, context),
    { version: before?.version as string, attributes: { title: SECRET, commentId: 2 } })
  t.equal((await app.inject('/posts/2/comments/2.json')).statusCode, 200, 'its own post has it')
})

each('an invalid form comes back without a comment of another post', async (t, makeStore) => {
  const { draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  for (const url of ['/posts/1/comments', '/posts/1/comments/2']) {
    const res = await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': form, accept: 'text/html' },
      payload: '_method=PUT&id=2&comment[title]='
    })
    t.match(res, { statusCode: 422, headers: { 'content-type': types.html } })
    t.notMatch(res.body, SECRET)
  }
})

each('a comment is found under its own post', async (t, makeStore) => {
  const { draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  const wrong: unknown[] = []
  for (const request of requestsFor('/posts/1/comments', 'comment', 1).filter(({ method, payload }) =>
    method !== 'DELETE' && !String(payload).includes('DELETE'))) {
    const res = await app.inject({ ...request, headers: { ...request.headers, 'if-match': '*' } })
    if (res.statusCode >= 400) wrong.push([request, res.statusCode, res.body])
  }
  t.strictSame(wrong, [])
})

each('a list has only the comments of its post', async (t, makeStore) => {
  const { draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  const ids = async (url: string): Promise<number[]> =>
    (await app.inject(url)).json<{ comments: Array<{ id: number }> }>().comments.map(({ id }) => id)
  t.strictSame(await ids('/posts/1/comments.json'), [1])
  t.strictSame(await ids('/posts/2/comments.json'), [2])
  t.strictSame(await ids('/posts/1/comments.json?postId=2'), [], 'a filter does not widen the list')
  t.strictSame(await ids('/posts/1/comments.json?postId=1&sort=-title'), [1])
  t.strictSame(await ids(`/posts/1/comments.json?title=${SECRET}`), [])
  for (const url of ['/posts/1/comments.xml', '/posts/1/comments.html', '/posts/1/comments/1/replies.html']) {
    t.notMatch((await app.inject(url)).body, SECRET, url)
  }
})

each('the foreign key of a new row comes from the path, and no update changes it', async (t, makeStore) => {
  const { stores, draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  const bodies: Array<[type: string, create: string, update: (id: number) => string]> = [
    ['application/json', '{"comment":{"title":"x","postId":2}}', (id) =>
      JSON.stringify({ id, comment: { title: 'y', postId: 2 } })],
    ['application/xml', '<comment><title>x</title><postId type="integer">2</postId></comment>', (id) =>
      `<comment><id>${id}</id><title>y</title><postId>2</postId></comment>`],
    [form, 'comment[title]=x&comment[postId]=2', (id) => `_method=PUT&id=${id}&comment[title]=y&comment[postId]=2`]
  ]
  for (const [index, [type, create, update]] of bodies.entries()) {
    const id = index + 3
    const created = await app.inject({
      method: 'POST', url: '/posts/1/comments', headers: { 'content-type': type }, payload: create
    })
    t.strictSame([created.statusCode, created.headers.location],
      type === form ? [303, `/posts/1/comments/${id}`] : [201, `/posts/1/comments/${id}`])
    t.match(await stores.comments.get(id, anyone, context), { attributes: { title: 'x', postId: 1 } })
    const updated = await app.inject({
      method: type === form ? 'POST' : 'PUT',
      url: '/posts/1/comments',
      headers: { 'content-type': type },
      payload: update(id)
    })
    t.equal(updated.statusCode, type === form ? 303 : 200)
    t.match(await stores.comments.get(id, anyone, context), { attributes: { title: 'y', postId: 1 } })
  }
  t.equal((await app.inject({
    method: 'POST', url: '/posts/1/comments/1/replies', payload: { reply: { title: 'x' } }
  })).statusCode, 201)
  t.match(await stores.replies.get(3, anyone, context), { attributes: { commentId: 1 } })
})

t.test('an undeclared foreign key is refused as unknown and never shown', async t => {
  const store = memoryStore()
  const app = await drawn(t, (map) => map.resources('posts', { store: recordingStore([{ title: 'P' }]) }, (posts) =>
    posts.resources('comments', { store, attributes: { type: 'object', properties: { title: { type: 'string' } } } })))
  const refused = await app.inject({
    method: 'POST', url: '/posts/1/comments', payload: { comment: { title: 'x', postId: 2 } }
  })
  t.match(refused.json(), { status: 422, errors: { postId: ['is unknown'] } })
  const res = await app.inject({ method: 'POST', url: '/posts/1/comments', payload: { comment: { title: 'x' } } })
  t.strictSame(res.json(), { comment: { id: 1, title: 'x' } })
  t.match(store.get(1, anyone), { attributes: { postId: 1 } })
})

t.test('with open attributes the foreign key also comes from the path', async t => {
  const store = memoryStore()
  const seen: unknown[] = []
  const hooks = { preHandler: async ({ body }: FastifyRequest) => { seen.push(body) } }
  const app = await drawn(t,
    (map) => map.resources('posts', { store: recordingStore([{ title: 'P' }, { title: 'P' }]) }, (posts) =>
      posts.resources('comments', { store, writes: 'both', hooks })))
  t.equal((await app.inject({
    method: 'POST', url: '/posts/1/comments', payload: { comment: { postId: 2, a: 1 } }
  })).statusCode, 201)
  t.equal((await app.inject({
    method: 'PATCH', url: '/posts/1/comments/1', payload: { comment: { postId: 2, a: 2 } }
  })).statusCode, 200)
  t.match(store.get(1, anyone), { attributes: { postId: 1, a: 2 } })
  t.strictSame(seen, [{ comment: { a: 1 } }, { id: 1, comment: { a: 2 } }], 'no hook and no handler gets the other one')
})

each('the foreign key may have another name', async (t, makeStore) => {
  const comments = await makeStore('comments', [{ title: 'C', article: 1 }, { title: SECRET, article: 2, postId: 1 }])
  const above = await makeStore('posts', [{ title: 'P' }])
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: above }, (posts) =>
    posts.resources('comments', { attributes, store: comments, foreignKey: 'article' })))
  t.match((await app.inject('/posts/1/comments.json')).json(), { comments: [{ id: 1, article: 1 }] })
  t.equal((await app.inject('/posts/1/comments/2')).statusCode, 404)
  t.equal((await app.inject({
    method: 'POST', url: '/posts/1/comments', payload: { comment: { title: 'x', article: 2, postId: 7 } }
  })).statusCode, 201)
  t.match(await comments.get(3, anyone, context), { attributes: { article: 1, postId: 7 } },
    'the foreign key is read-only, and postId is an ordinary attribute')
})

/** Returns every request for a collection whose parent is missing. */
function requestsIn (collection: string, singular: string): InjectOptions[] {
  return [
    ...requestsFor(collection, singular, 1),
    ...['xml', 'html', 'json'].flatMap((format): InjectOptions[] => [
      { url: `${collection}.${format}` },
      { url: `${collection}.${format}?limit=1` },
      { url: `${collection}/new.${format}` },
      { method: 'POST', url: `${collection}.${format}`, payload: { [singular]: { title: 'x' } } },
      {
        method: 'POST',
        url: `${collection}.${format}`,
        headers: { 'content-type': form },
        payload: `${singular}[title]=x`
      }
    ])
  ]
}

each('nothing is found under a missing post', async (t, makeStore) => {
  const { stores, draw } = await blog(makeStore)
  const app = await drawn(t, draw)
  const before = [await stores.comments.get(1, anyone, context), await stores.comments.get(2, anyone, context),
    await stores.replies.get(1, anyone, context)]
  for (const parent of ['9', 'abc', '1x', '0', '-1', '01', '1.5', '%31%20']) {
    await t.test(`/posts/${parent}`, (t) => areMissing(t, app, requestsIn(`/posts/${parent}/comments`, 'comment')))
  }
  for (const parents of ['/posts/9/comments/1', '/posts/1/comments/9', '/posts/1/comments/2', '/posts/2/comments/1',
    '/posts/9/comments/9']) {
    await t.test(parents, (t) => areMissing(t, app, requestsIn(`${parents}/replies`, 'reply')))
  }
  t.strictSame([await stores.comments.get(1, anyone, context), await stores.comments.get(2, anyone, context),
    await stores.replies.get(1, anyone, context)], before)
  t.equal(await stores.comments.get(3, anyone, context), undefined, 'nothing was created')
  t.equal(await stores.replies.get(3, anyone, context), undefined)
})

t.test('each level is read from its own store and scope, outermost first, until a row is missing', async t => {
  const order: string[] = []
  const open = (name: string, row: Attributes): Store => {
    const store = recordingStore([row])
    const get: Store['get'] = (id, scope) => {
      order.push(`${name} ${JSON.stringify(scope)}`)
      return store.inner.get(id, scope, context)
    }
    return { ...store, get }
  }
  const app = await drawn(t,
    (map) => map.resources('posts', { attributes, store: open('posts', { title: 'P', tenant: 'a' }), scope: tenantOf },
      (posts) => {
        posts.resources('comments', { attributes, store: open('comments', { title: 'C', postId: 1 }) }, (comments) => {
          comments.resources('replies',
            { attributes, store: open('replies', { title: 'R', commentId: 1, tenant: 'a' }), scope: tenantOf },
            (replies) => {
              replies.resources('notes', { attributes, store: open('notes', { title: 'N', replyId: 1 }) })
            })
        })
      }))
  t.equal((await app.inject({ url: '/posts/1/comments/1/replies/1/notes/1', headers: by('a') })).statusCode, 200)
  t.strictSame(order, ['posts {"tenant":"a"}', 'comments {"postId":1}', 'replies {"tenant":"a","commentId":1}',
    'notes {"replyId":1}'])
  order.length = 0
  t.equal((await app.inject({ url: '/posts/1/comments/1/replies/1/notes/1', headers: by('b') })).statusCode, 404)
  t.strictSame(order, ['posts {"tenant":"b"}'])
})

each('a singleton\'s collection belongs to the row of the singleton', async (t, makeStore) => {
  const photos = await makeStore('photos', [{ title: SECRET, profileId: 9 }])
  const profiles = await makeStore('profiles', [{ title: 'theirs', tenant: 'b' }])
  const app = await drawn(t,
    (map) => map.resource('profile', { attributes, store: profiles, scope: tenantOf }, (profile) => {
      profile.resources('photos', { attributes, store: photos, writes: 'both' })
    }))
  const headers = by('a')
  for (const request of [{ url: '/profile/photos' }, { url: '/profile/photos/1' },
    { method: 'POST', url: '/profile/photos', payload: { photo: { title: 'x' } } },
    { method: 'DELETE', url: '/profile/photos/1' }] as const) {
    const res = await app.inject({ ...request, headers })
    t.match(res.json(), { status: 404, detail: 'there is no profile here' })
  }
  t.equal((await app.inject({
    method: 'POST', url: '/profile', headers, payload: { profile: { title: 'mine' } }
  })).statusCode, 201)
  t.equal((await app.inject({
    method: 'POST', url: '/profile/photos', headers, payload: { photo: { title: 'x' } }
  })).statusCode, 201)
  t.match(await photos.get(2, anyone, context), { attributes: { profileId: 2 } })
  t.match((await app.inject({ url: '/profile/photos', headers })).json(), { photos: [{ id: 2 }] })
  t.equal((await app.inject({ url: '/profile/photos/1', headers })).statusCode, 404)
  t.strictSame((await app.inject({ url: '/profile/photos', headers: by('b') })).json(), { photos: [] })
})

each('a singleton nested in a post belongs to that post', async (t, makeStore) => {
  const logos = await makeStore('logos', [{ title: SECRET, postId: 2 }])
  const above = await makeStore('posts', [{ title: 'P1' }, { title: 'P2' }])
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: above }, (posts) => {
    posts.resource('logo', { attributes, store: logos })
  }))
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    t.equal((await app.inject({
      method, url: '/posts/1/logo', ...(method === 'PUT' && { payload: { logo: { title: 'x' } } })
    })).statusCode, 404)
  }
  t.match(await logos.get(1, anyone, context), { attributes: { title: SECRET } })
  t.equal((await app.inject({ method: 'POST', url: '/posts/9/logo', payload: { logo: { title: 'x' } } })).statusCode,
    404)
  const created = await app.inject({
    method: 'POST', url: '/posts/1/logo', payload: { logo: { title: 'x', postId: 2 } }
  })
  t.strictSame([created.statusCode, created.headers.location], [201, '/posts/1/logo'])
  t.match(await logos.get(2, anyone, context), { attributes: { postId: 1 } })
  t.equal((await app.inject({ method: 'POST', url: '/posts/1/logo', payload: { logo: { title: 'y' } } })).statusCode,
    409, 'the post has a logo already')
})

for (const writes of ['collection', 'member', 'both'] as const) {
  each(`shallow comments are listed under their post and found by id alone, with writes: '${writes}'`, async (
    t, makeStore
  ) => {
    const comments = await makeStore('comments', [{ title: 'C1', postId: 1, tenant: 'a' },
      { title: SECRET, postId: 2, tenant: 'b' }])
    const above = await makeStore('posts', [{ title: 'P1' }, { title: 'P2' }])
    const app = await drawn(t, (map) => map.resources('posts', { attributes, store: above }, (posts) => {
      posts.resources('comments', { attributes, store: comments, writes, shallow: true, scope: tenantOf })
    }))
    const headers = by('a')
    t.match((await app.inject({ url: '/posts/1/comments', headers })).json(), { comments: [{ id: 1 }] })
    t.strictSame((await app.inject({ url: '/posts/2/comments', headers })).json(), { comments: [] })
    t.equal((await app.inject({ url: '/posts/9/comments', headers })).statusCode, 404)
    t.equal((await app.inject({
      method: 'POST', url: '/posts/9/comments', headers, payload: { comment: { title: 'x' } }
    })).statusCode, 404)
    const created = await app.inject({
      method: 'POST', url: '/posts/2/comments', headers, payload: { comment: { title: 'x', postId: 1 } }
    })
    t.strictSame([created.statusCode, created.headers.location], [201, '/comments/3'])
    t.match(await comments.get(3, anyone, context), { attributes: { postId: 2, tenant: 'a' } })
    t.equal((await app.inject({ url: '/comments/1', headers })).statusCode, 200)
    t.equal((await app.inject({ url: '/comments/2', headers })).statusCode, 404, 'the comment is another tenant\'s')
    const update = (id: number): InjectOptions => writes === 'member'
      ? { method: 'PUT', url: `/comments/${id}`, payload: { comment: { title: 'y', postId: 7, tenant: 'z' } } }
      : { method: 'PUT', url: '/comments', payload: { id, comment: { title: 'y', postId: 7, tenant: 'z' } } }
    t.equal((await app.inject({ ...update(1), headers })).statusCode, 200)
    t.match(await comments.get(1, anyone, context), { attributes: { title: 'y', postId: 1, tenant: 'a' } })
    t.equal((await app.inject({ ...update(2), headers })).statusCode, 404)
    t.equal((await app.inject({
      method: 'DELETE', url: writes === 'member' ? '/comments/2' : '/comments?id=2', headers
    })).statusCode, 404)
    t.ok(await comments.get(2, anyone, context))
  })
}

/** Builds an app of two tenants: a has the posts 1 and 3, b has 2 and 4. */
async function tenants (t: Test, makeStore: MakeStore, more: Parameters<Mapper['resources']>[1] = {}): Promise<{
  readonly app: FastifyInstance, readonly store: Store
}> {
  const store = await makeStore('posts', [{ title: 'A1', tenant: 'a' }, { title: `${SECRET} 1`, tenant: 'b' },
    { title: 'A2', tenant: 'a' }, { title: `${SECRET} 2`, tenant: 'b' }], [['tenant', 'title']])
  const app = await drawn(t,
    (map) => map.resources('posts', { attributes, store, scope: tenantOf, writes: 'both', formPages: true, ...more },
      (posts) => {
        for (const verb of verbs) posts.member[verb]('own', ({ row }) => row())
      }))
  return { app, store }
}

each('another tenant\'s row is not found by any request', async (t, makeStore) => {
  const { app, store } = await tenants(t, makeStore)
  const before = await store.get(2, anyone, context)
  await areMissing(t, app, requestsFor('/posts', 'post', 2), { 'x-tenant': 'a' })
  t.strictSame(await store.get(2, anyone, context), before)
  const page = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'x-tenant': 'a', 'content-type': form, accept: 'text/html' },
    payload: '_method=PUT&id=2&post[title]='
  })
  t.equal(page.statusCode, 422)
  t.notMatch(page.body, SECRET)
})

each('no list has another tenant\'s rows', async (t, makeStore) => {
  const { app } = await tenants(t, makeStore)
  for (const query of ['', '?limit=1', '?limit=10', '?sort=title', '?sort=-tenant,title', '?tenant=b',
    `?title=${SECRET}%201`]) {
    for (const format of ['xml', 'html', 'json']) {
      const res = await app.inject({ url: `/posts.${format}${query}`, headers: { 'x-tenant': 'a' } })
      t.equal(res.statusCode, 200)
      // The page of the list shows the filter.
      if (!query.includes(SECRET)) t.notMatch(everythingIn(res), SECRET, `${format} ${query}`)
    }
  }
  t.strictSame((await app.inject({ url: '/posts?tenant=b', headers: by('a') })).json(), { posts: [] })
  t.strictSame((await app.inject({ url: `/posts?title=${SECRET}%201`, headers: by('a') })).json(), { posts: [] })
})

each('a cursor of another tenant reveals nothing', async (t, makeStore) => {
  const { app, store } = await tenants(t, makeStore)
  await store.create({ title: `${SECRET} ${'x'.repeat(4000)}` }, { tenant: 'b' }, context)
  for (const sort of ['id', 'title', '-title', '-tenant,title']) {
    const urls = ['', '?limit=1', '?limit=2'].map((limit) => `/posts${limit === '' ? '?' : `${limit}&`}sort=${sort}`)
    for (const url of urls) {
      let next: string | undefined = url
      const seen = new Set<string>()
      while (next !== undefined && !seen.has(next)) {
        seen.add(next)
        const theirs: LightMyRequestResponse = await app.inject({ url: next, headers: by('b') })
        next = /<([^>]+)>; rel="next"/.exec(String(theirs.headers.link ?? ''))?.[1]
        if (next === undefined) continue
        const ours = await app.inject({ url: next, headers: by('a') })
        // Only the body is checked, because the Link header repeats the given cursor.
        t.notMatch(ours.body, SECRET, next.slice(0, 80))
        t.ok([200, 400].includes(ours.statusCode))
        if (ours.statusCode === 200) {
          t.ok(ours.json<{ posts: Array<{ tenant: string }> }>().posts.every(({ tenant }) => tenant === 'a'))
        }
      }
    }
  }
})

each('a new row gets the tenant of its creator, and no update changes it', async (t, makeStore) => {
  const { app, store } = await tenants(t, makeStore)
  const created = await app.inject({
    method: 'POST', url: '/posts', headers: by('a'), payload: { post: { title: 'x', tenant: 'b' } }
  })
  t.equal(created.statusCode, 201)
  t.match(await store.get(5, anyone, context), { attributes: { tenant: 'a' } })
  t.equal((await app.inject({
    method: 'PUT', url: '/posts', headers: by('a'), payload: { id: 5, post: { title: 'y', tenant: 'b' } }
  })).statusCode, 200)
  t.match(await store.get(5, anyone, context), { attributes: { title: 'y', tenant: 'a' } })
})

each('a value that is unique in one tenant may be used in another', async (t, makeStore) => {
  const { app } = await tenants(t, makeStore)
  const create = (tenant: string): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'POST', url: '/posts', headers: by(tenant), payload: { post: { title: 'A1' } } })
  t.equal((await create('a')).statusCode, 409)
  t.equal((await create('b')).statusCode, 201)
  t.match((await create('b')).json(), { status: 409, errors: { title: ['is already taken'] } })
})

each('requireMatch demands a version for one\'s own row, and another tenant\'s row is not found', async (
  t, makeStore
) => {
  const { app, store } = await tenants(t, makeStore, { requireMatch: true })
  const version = (await store.get(1, anyone, context))?.version as string
  const write = (id: number, tag: string | undefined): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'PUT',
      url: '/posts',
      headers: { ...by('a'), ...(tag !== undefined && { 'if-match': tag }) },
      payload: { id, post: { title: 'x' } }
    })
  const remove = (id: number, tag: string | undefined): Promise<LightMyRequestResponse> => app.inject(
    { method: 'DELETE', url: `/posts/${id}`, headers: { ...by('a'), ...(tag !== undefined && { 'if-match': tag }) } }
  )
  for (const act of [write, remove]) {
    t.equal((await act(1, undefined)).statusCode, 428)
    t.equal((await act(2, undefined)).statusCode, 404)
    t.equal((await act(99, undefined)).statusCode, 404)
    t.equal((await act(2, `"${version}.json"`)).statusCode, 404)
    t.equal((await act(2, '*')).statusCode, 404)
    const stale = await act(1, '"nothing.json"')
    t.equal(stale.statusCode, 412)
    t.notMatch(stale.body, SECRET)
  }
  t.equal((await write(1, `"${version}.json"`)).statusCode, 200)
})

t.test('every call of the store receives the scope', async t => {
  const store = recordingStore([{ title: 'A', tenant: 'a' }, { title: 'B', tenant: 'a' }])
  const app = await drawn(t,
    (map) => map.resources('posts', { attributes, store, scope: tenantOf, writes: 'both', formPages: true },
      (posts) => {
        posts.member.post('own', ({ row }) => row())
      }))
  const requests: InjectOptions[] = [
    ...requestsFor('/posts', 'post', 1),
    { url: '/posts' },
    { url: '/posts?limit=1&sort=title' },
    { method: 'POST', url: '/posts', payload: { post: { title: 'x' } } },
    {
      method: 'PUT',
      url: '/posts',
      headers: { 'if-match': '"1.json", "2.json"' },
      payload: { id: 2, post: { title: 'x' } }
    },
    {
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': form, accept: 'text/html' },
      payload: '_method=PUT&id=2&post[title]='
    }
  ]
  for (const request of requests) await app.inject({ ...request, headers: { ...request.headers, 'x-tenant': 'a' } })
  t.strictSame(new Set(store.calls.map(({ method }) => method)), new Set(['list', 'get', 'create', 'update', 'delete']))
  t.strictSame(store.calls.filter(({ scope }) => JSON.stringify(scope) !== '{"tenant":"a"}'), [])
})

t.test('the scopes of the map and of the resource are combined', async t => {
  const store = recordingStore([{ title: 'x', body: 'b', tenant: 'a' }, { title: SECRET, body: 'c', tenant: 'a' },
    { title: SECRET, body: 'b', tenant: 'b' }])
  const app = await drawn(t,
    (map) => map.scope({ scope: tenantOf }, (map) => map.scope({ scope: async () => ({ body: 'b' }) }, (map) =>
      map.resources('posts', { attributes, store, scope: (request) => ({ ...tenantOf(request) }) }))))
  t.match((await app.inject({ url: '/posts', headers: by('a') })).json(), { posts: [{ id: 1 }] })
  t.strictSame(store.calls, [{ method: 'list', scope: { tenant: 'a', body: 'b' } }],
    'the same value twice is no contradiction')
  for (const id of [2, 3]) t.equal((await app.inject({ url: `/posts/${id}`, headers: by('a') })).statusCode, 404)
})

t.test('a scope of null has the rows without a value, and makes such rows', async t => {
  const store = recordingStore([{ title: 'P1' }, { title: SECRET, tenant: 'a' }])
  const nullable = {
    ...attributes, properties: { ...attributes.properties, tenant: { type: ['string', 'null'] } }
  } as const
  const app = await drawn(t, (map) =>
    map.resources('posts', { attributes: nullable, store, scope: () => ({ tenant: null }) }))
  t.match((await app.inject('/posts.json')).json(), { posts: [{ id: 1 }] })
  t.equal((await app.inject('/posts/2')).statusCode, 404)
  t.equal((await app.inject({
    method: 'POST', url: '/posts', payload: { post: { title: 'P3', tenant: 'a' } }
  })).statusCode, 201)
  t.match(store.get(3, anyone, context), { attributes: { title: 'P3', tenant: null } })
})

const wrong: Array<[name: string, scope: () => unknown, status: number, code: string | undefined]> = [
  ['contradicts the one around it', () => ({ tenant: 'z' }), 500, 'FST_RESOURCES_INVALID_ANSWER'],
  ['is nothing', () => undefined, 500, 'FST_RESOURCES_INVALID_ANSWER'],
  ['is no plain object', () => new (class { readonly tenant = 'a' })(), 500, 'FST_RESOURCES_INVALID_ANSWER'],
  ['gives an id', () => ({ id: 1 }), 500, 'FST_RESOURCES_INVALID_ANSWER'],
  ...['__proto__', 'first name'].map((name): (typeof wrong)[number] => [`gives "${name}"`, () =>
    Object.fromEntries([[name, 1]]), 500, 'FST_RESOURCES_INVALID_ANSWER']),
  ['rejects', async () => { throw new Error(SECRET) }, 500, undefined],
  ['throws with a status', () => {
    throw Object.assign(new Error('log in first'), { statusCode: 401 })
  }, 401, undefined]
]

t.test('a wrong scope refuses every request', async t => {
  const store = recordingStore([{ title: SECRET, tenant: 'a' }])
  const logged: string[] = []
  let given: () => unknown = () => ({})
  const app = await drawn(t, (map) => map.scope({ scope: tenantOf }, (map) =>
    map.resources('posts', { attributes, store, writes: 'both', scope: () => given() as Scope })), logged)
  const requests: InjectOptions[] = [
    { url: '/posts' },
    { url: '/posts/1' },
    { method: 'POST', url: '/posts', payload: { post: { title: 'x' } } },
    { method: 'DELETE', url: '/posts/1' },
    { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PUT&id=1&post[title]=x' },
    { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PUT&id=1&post[title]=' }
  ]
  for (const [name, scope, status, code] of wrong) {
    await t.test(`no request gets through a scope that ${name}`, async t => {
      store.reset()
      logged.length = 0
      given = scope
      for (const request of requests) {
        for (const [accept, type] of [['application/json', types.problem], ['application/xml', types.xml],
          ['text/html', types.html]] as const) {
          const res = await app.inject({ ...request, headers: { ...request.headers, 'x-tenant': 'a', accept } })
          t.equal(res.statusCode, String(request.payload).endsWith('=') ? 422 : status)
          t.equal(res.headers['content-type'], type)
          t.notMatch(everythingIn(res), SECRET)
        }
      }
      t.strictSame(store.calls, [])
      if (code !== undefined) t.ok(logged.some((line) => line.includes(code)), 'the error is logged')
    })
  }
})

each('no request gets through a scope whose parent differs from the path\'s', async (t, makeStore) => {
  const comments = await makeStore('comments', [{ title: 'C1', postId: 1 }, { title: SECRET, postId: 2 }])
  const above = await makeStore('posts', [{ title: 'P1' }, { title: 'P2' }])
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: above }, (posts) => {
    posts.resources('comments',
      { attributes, store: comments, writes: 'both', formPages: true, scope: () => ({ postId: 1 }) }, (comments) => {
        for (const verb of verbs) comments.member[verb]('own', ({ row }) => row())
      })
  }))
  await areMissing(t, app, requestsIn('/posts/2/comments', 'comment'))
  await areMissing(t, app, requestsFor('/posts/2/comments', 'comment', 2))
  for (const url of ['/comments', '/comments/2', '/comments/new']) {
    const [other, missing] = [await app.inject(`/posts/2${url}.html`), await app.inject(`/posts/9${url}.html`)]
    t.equal(other.body, missing.body.replaceAll('id 9', 'id 2'), `${url} equals the page of a missing post`)
  }
  t.match(await comments.get(2, anyone, context), { attributes: { title: SECRET, postId: 2 } })
  t.equal(await comments.get(3, anyone, context), undefined, 'nothing was created')
  t.match((await app.inject('/posts/1/comments.json')).json(), { comments: [{ id: 1 }] })
})

each('another tenant\'s parent is not found, even if its comments have no tenant', async (t, makeStore) => {
  const comments = await makeStore('comments', [{ title: 'C1', postId: 1 }, { title: SECRET, postId: 2 }])
  const above = await makeStore('posts', [{ title: 'P1', tenant: 'a' }, { title: 'P2', tenant: 'b' }])
  const app = await drawn(t, (map) => map.resources('posts', { attributes, store: above, scope: tenantOf }, (posts) => {
    posts.resources('comments', { attributes, store: comments, writes: 'both', formPages: true }, (comments) => {
      for (const verb of verbs) comments.member[verb]('own', ({ row }) => row())
    })
  }))
  await areMissing(t, app, requestsIn('/posts/2/comments', 'comment'), { 'x-tenant': 'a' })
  await areMissing(t, app, requestsFor('/posts/2/comments', 'comment', 2), { 'x-tenant': 'a' })
  t.match(await comments.get(2, anyone, context), { attributes: { title: SECRET } })
  t.equal(await comments.get(3, anyone, context), undefined)
  t.equal((await app.inject({ url: '/posts/1/comments', headers: by('a') })).statusCode, 200)
})

const acme = { tenant: { enum: ['acme'] } }
const whole = { writes: 'both', formPages: true } as const
type Constraints = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Constraints that also hold for shallow comments, whose paths may lack the constrained parameter. */
const constrained: Array<[name: string, where: { readonly path?: string, readonly prefix?: string },
  ofPosts: Constraints, ofComments: Constraints, right: string, wrong: string, id: number]> = [
    ['a parameter of the scope around the parent', { path: ':tenant' }, acme, {}, '/acme', '/evil', 1],
    ['a parameter of the prefix', { prefix: '/:tenant' }, acme, {}, '/acme', '/evil', 1],
    ['the id of the parent', {}, { id: { maximum: 1 } }, {}, '', '', 2],
    ['the id of the parent, by what is nested in it,', {}, {}, { postId: { maximum: 1 } }, '', '', 2]
  ]

for (const [name, { path = '', prefix = '' }, ofPosts, ofComments, right, wrong, id] of constrained) {
  each(`a constraint on ${name} holds for shallow rows`, async (t, makeStore) => {
    const { stores } = await blog(makeStore)
    const app = fastify()
    t.teardown(() => app.close())
    await app.register(draw((map) => map.scope({ path },
      (map) => map.resources('posts', { attributes, store: stores.posts, constraints: ofPosts }, (posts) => {
        posts.resources('comments',
          { ...whole, attributes, store: stores.comments, shallow: true, constraints: ofComments }, (comments) => {
            for (const verb of verbs) comments.member[verb]('own', ({ row }) => row())
            const options = { ...whole, attributes, store: stores.replies, shallow: false }
            comments.resources('replies', options, (replies) => {
              for (const verb of verbs) replies.member[verb]('own', ({ row }) => row())
            })
          })
      }))), { prefix })
    const before = [await stores.comments.get(id, anyone, context), await stores.replies.get(id, anyone, context)]
    await areMissing(t, app, requestsFor(`${wrong}/comments`, 'comment', id))
    await areMissing(t, app, requestsFor(`${wrong}/comments/${id}/replies`, 'reply', id))
    await areMissing(t, app, requestsIn(`${wrong}/comments/${id}/replies`, 'reply'))
    t.equal((await app.inject(`${wrong}/posts/${id}/comments`)).statusCode, 404)
    t.strictSame([await stores.comments.get(id, anyone, context), await stores.replies.get(id, anyone, context)],
      before, 'the rows are unchanged')
    for (const url of ['/posts/1/comments', '/comments/1', '/comments/1/own', '/comments/1/replies',
      '/comments/1/replies/1']) {
      t.equal((await app.inject(right + url)).statusCode, 200, url)
    }
    t.equal((await app.inject({ method: 'DELETE', url: `${right}/comments?id=1` })).statusCode, 204)
  })
}

each('constraints on the ids of ancestors hold for shallow rows, whichever level declares them', async (
  t, makeStore
) => {
  const posts = await makeStore('posts', [{ title: 'P1' }, { title: 'P2' }])
  const comments = await makeStore('comments', [{ title: 'C1', postId: 1 }, { title: SECRET, postId: 2 }])
  const replies = await makeStore('replies', [{ title: 'R1', commentId: 1 }, { title: SECRET, commentId: 2 },
    { title: SECRET }, { title: SECRET, commentId: 9 }])
  const bound = { postId: { maximum: 1 } }
  const ways: Array<[ofPosts: Constraints, ofComments: Constraints, ofReplies: Constraints]> = [[{ id: { maximum: 1 } },
    {}, {}], [{}, bound, {}], [{}, {}, bound], [{ id: { maximum: 1 } }, { postId: { minimum: 0 } }, {}]]
  for (const [ofPosts, ofComments, ofReplies] of ways) {
    const app = await drawn(t,
      (map) => map.resources('posts', { attributes, store: posts, constraints: ofPosts }, (posts) => {
        posts.resources('comments', { attributes, store: comments, constraints: ofComments }, (comments) => {
          comments.resources('replies', { ...whole, attributes, store: replies, shallow: true, constraints: ofReplies },
            (replies) => {
              for (const verb of verbs) replies.member[verb]('own', ({ row }) => row())
            })
        })
      }))
    // The post of a reply is unknown if its comment is missing.
    for (const id of [2, 3, 4]) await areMissing(t, app, requestsFor('/replies', 'reply', id))
    t.equal((await app.inject('/replies/1')).statusCode, 200)
  }
})
