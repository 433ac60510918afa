import { type FastifyInstance, type InjectOptions } from 'fastify'
import t from 'tap'
import { memoryStore, type MemoryStore, type ResourceMapper, type Scope } from '../../lib/index.js'
import { draft, types } from '../support/helper.js'
import { textStore } from '../support/stores/text-store.js'

/** Returns a store with the ids 1, 2, … and these titles. */
function keep (titles: readonly string[], scope: Scope = {}): MemoryStore {
  const store = memoryStore()
  for (const title of titles) store.create({ title }, scope)
  return store
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const submit = (url: string, fields: Record<string, string>): InjectOptions =>
  ({ method: 'POST', url, headers: form, payload: new URLSearchParams(fields).toString() })

/** Returns the routes as `GET /posts` and so on. */
const routesOf = (app: FastifyInstance): string[] => app.resourceRoutes.map(({ verb, path }) => `${verb} ${path}`)
const allowed = (header: unknown): string[] => String(header).split(', ').sort()

const WRONG = { code: 'FST_RESOURCES_INVALID_OPTION' }

// ---- requirements

/** Every request for a row, or for its nested rows. */
const attempts = (id: string): readonly InjectOptions[] => [...['', '.xml', '.html', '.json', '/edit', '/edit.html',
  '/stats', '/stats.json', '/comments', '/comments.json', '/comments/1', '/comments/new',
  '/logo'].map((rest): InjectOptions => ({ url: `/posts/${id}${rest}` })),
...['application/xml', 'text/html',
  'application/json'].map((accept): InjectOptions => ({ url: `/posts/${id}`, headers: { accept } })),
{ method: 'HEAD', url: `/posts/${id}` },
...(['PUT', 'PATCH'] as const).map(
  (method): InjectOptions => ({ method, url: `/posts/${id}`, payload: { post: { title: 'x' } } })), {
  method: 'PUT',
  url: `/posts/${id}.xml`,
  headers: { 'content-type': 'application/xml' },
  payload: '<post><title>x</title></post>'
}, { method: 'DELETE', url: `/posts/${id}` }, { method: 'DELETE', url: `/posts/${id}.json` },
{ method: 'PUT', url: '/posts', payload: { id: /^\d+$/.test(id) ? Number(id) : id, post: { title: 'x' } } }, {
  method: 'PUT',
  url: '/posts',
  headers: { 'content-type': 'application/xml' },
  payload: `<post><id>${id}</id><title>x</title></post>`
}, { method: 'DELETE', url: '/posts', headers: { 'content-type': 'application/xml' }, payload: `<id>${id}</id>` },
{ method: 'DELETE', url: `/posts?id=${id}` }, submit('/posts', { _method: 'PUT', id, 'post[title]': 'x' }),
submit('/posts', { _method: 'DELETE', id }), submit(`/posts/${id}`, { _method: 'PUT', 'post[title]': 'x' }),
submit(`/posts/${id}`, { _method: 'DELETE' }), { method: 'POST', url: `/posts/${id}/publish` },
submit(`/posts/${id}/publish`, {}),
{ method: 'POST', url: `/posts/${id}/comments`, payload: { comment: { title: 'x' } } },
submit(`/posts/${id}/comments`, { 'comment[title]': 'x' }),
{ method: 'PUT', url: `/posts/${id}/comments`, payload: { id: 1, comment: { title: 'x' } } },
submit(`/posts/${id}/comments`, { _method: 'DELETE', id: '1' }),
{ method: 'PUT', url: `/posts/${id}/logo`, payload: { logo: { title: 'x' } } },
{ method: 'POST', url: `/posts/${id}/logo`, payload: { logo: { title: 'x' } } }]

const nest = (posts: ResourceMapper): void => {
  posts.member.get('stats', ({ row }) => row())
  posts.member.post('publish', ({ row }) => row())
  posts.resources('comments', { formPages: true, writes: 'both', store: keep(['c'], { postId: 2 }) })
  posts.resource('logo')
}

t.test('requirements: an id that does not match a schema is not found by any request', async (t) => {
  const store = keep(['one', 'two'])
  const app = await draft(t, (map) => map.resources('posts',
    { store, writes: 'both', formPages: true, constraints: { id: { maximum: 1 } } }, nest))
  for (const attempt of attempts('2')) {
    t.match(await app.inject(attempt), { statusCode: 404 },
      `${attempt.method ?? 'GET'} ${String(attempt.url)} ${JSON.stringify(attempt.payload) ?? ''}`)
  }
  t.match(store.get(2, {}), { attributes: { title: 'two' }, version: '1' }, 'the row is unchanged')
  t.match(await app.inject('/posts/1.json'), { statusCode: 200, body: 'one' })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'x' } } }),
    { statusCode: 200 })
  t.match(await app.inject({ method: 'POST', url: '/posts/1/comments', payload: { comment: {} } }),
    { statusCode: 201 })
})

t.test('requirements: a regular expression restricts a string id', async (t) => {
  const store = textStore(['1.2.3', '1.2', 'latest'])
  const app = await draft(t, (map) => map.resources('posts',
    { store, writes: 'both', formPages: true, constraints: { id: { pattern: '^\\d+\\.\\d+\\.\\d+$' } } }, nest))
  t.match(await app.inject('/posts/1.2.3.json'), { statusCode: 200, body: '"id":"1.2.3"' })
  for (const id of ['1.2', 'latest']) {
    for (const attempt of attempts(id)) {
      t.match(await app.inject(attempt), { statusCode: 404 }, `${attempt.method ?? 'GET'} ${String(attempt.url)}`)
    }
  }
})

t.test('requirements: a child may restrict its parent\'s parameter', async (t) => {
  const posts = keep(['one', 'two'])
  const comments = keep(['c'], { postId: 2 })
  const app = await draft(t, (map) => map.resources('posts', { store: posts }, (inner) => {
    inner.resources('comments', {
      store: comments, writes: 'both', formPages: true, constraints: { postId: { maximum: 1 } }
    }, ({ member }) => member.post('hide', ({ row }) => row()))
  }))
  t.match(await app.inject('/posts/2'), { statusCode: 200 }, 'the parent itself is found')
  for (const attempt of attempts('2').filter(({ url }) => String(url).includes('/comments'))) {
    t.match(await app.inject(attempt), { statusCode: 404 }, `${attempt.method ?? 'GET'} ${String(attempt.url)}`)
  }
  t.match(await app.inject({ method: 'POST', url: '/posts/2/comments/1/hide' }), { statusCode: 404 })
  t.match(await app.inject('/posts/1/comments'), { statusCode: 200 })
})

t.test('requirements: a parameter of the enclosing scope may be restricted', async (t) => {
  const app = await draft(t, (map) => map.scope({ path: ':year' },
    (map) => map.resources('posts', { store: keep(['one']), constraints: { year: { pattern: '^\\d{4}$' } } })))
  t.match(await app.inject('/2024/posts'), { statusCode: 200 })
  for (const url of ['/24/posts', '/abcd/posts', '/20245/posts.json', '/24/posts/1', '/24/posts/1.html']) {
    t.match(await app.inject(url), { statusCode: 404 }, url)
  }
  t.match(await app.inject({ method: 'POST', url: '/24/posts', payload: { post: {} } }), { statusCode: 404 })
  t.match(await app.inject(submit('/24/posts', { _method: 'DELETE', id: '1' })), { statusCode: 404 })
})

t.test('requirements: a constraint without effect throws at startup', async (t) => {
  const cases: ReadonlyArray<readonly [constraints: object, message: RegExp]> = [
    [{ ids: { minimum: 1 } }, /"ids", which is not a parameter of the path; did you mean "id"\?/],
    [{ id: { type: 'string', maximum: 9 } }, /has "id": "type" must be given and suit/],
    [{ id: { maximum: 9, pattern: '^1' } }, /has "id": "type" must be given and suit/],
    [{ id: { maximun: 9 } }, /maximun/],
    [{ id: { pattern: '(' } }, /has "id"/],
    [{ id: /\d+/ }, /has "id", which must be a JSON Schema; write a regular expression as \{ pattern/],
    [{ id: 9 }, /JSON Schemas by parameter/]
  ]
  for (const [constraints, message] of cases) {
    await t.rejects(draft(t, (map) => map.resources('posts', { constraints } as object)), { ...WRONG, message },
      JSON.stringify(constraints))
  }
})

t.test('conditions: one path may serve several hosts or versions', async (t) => {
  const app = await draft(t, (map) => {
    map.resources('posts', { routeConstraints: { host: 'a.example.com' }, store: keep(['of a']) })
    map.resources('posts', { routeConstraints: { host: /^b\./ }, store: keep(['of b']) })
    map.resources('posts', { routeConstraints: { host: /^c\./ }, store: keep(['of c']) })
    map.resources('notes', { routeConstraints: { version: '1.2.0' }, store: keep(['first']) })
    map.resources('notes', { routeConstraints: { version: '2.0.0' }, store: keep(['second']) })
  })
  for (const name of ['a', 'b', 'c']) {
    t.match(await app.inject({ url: '/posts.json', headers: { host: `${name}.example.com` } }),
      { statusCode: 200, body: `of ${name}` })
    t.match(await app.inject({ url: '/posts/1', headers: { host: `${name}.example.com` } }),
      { statusCode: 200, body: `of ${name}` })
  }
  const page = await app.inject({ url: '/posts', headers: { host: 'b.example.com', accept: 'text/html' } })
  const [, stylesheet = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page.body) ?? []
  t.match(await app.inject({ url: stylesheet, headers: { host: 'b.example.com' } }),
    { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8' } },
    'the files of a page have the same condition')
  t.match(await app.inject({ url: stylesheet, headers: { host: 'd.example.com' } }), { statusCode: 404 })
  t.match(await app.inject({ url: '/notes', headers: { 'accept-version': '1.x' } }), { statusCode: 200, body: 'first' })
  t.match(await app.inject({ url: '/notes', headers: { 'accept-version': '2.x' } }),
    { statusCode: 200, body: 'second' })
  t.match(await app.inject({ url: '/notes', headers: { 'accept-version': '3.x' } }), { statusCode: 404 })
})

t.test('conditions: a row named "recent" is reached if the condition of the action "recent" does not hold',
  async (t) => {
    const store = textStore(['recent', 'other'])
    const app = await draft(t, (map) => map.resources('posts', { store, writes: 'both' }, ({ collection }) => {
      collection.get('recent', { routeConstraints: { host: 'lists.example.com' } },
        () => [{ id: 'other', attributes: {} }])
    }))
    const at = (host: string, options: InjectOptions): InjectOptions =>
      ({ ...options, headers: { ...options.headers, host } })
    for (const url of ['/posts/recent', '/posts/recent.xml', '/posts/recent.json']) {
      t.match(await app.inject(at('lists.example.com', { url })), { statusCode: 200, body: /posts/ }, url)
      t.match(await app.inject(at('example.com', { url })), { statusCode: 200, body: /of recent/ }, url)
    }
    t.match(await app.inject(at('example.com',
      { method: 'PUT', url: '/posts/recent', payload: { post: { title: 'changed' } } })),
    { statusCode: 200, body: 'changed' })
    t.same(allowed((await app.inject(at('example.com', { method: 'POST', url: '/posts/recent' }))).headers.allow),
      ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT'])
    const refused = await app.inject(at('lists.example.com', { method: 'DELETE', url: '/posts/recent' }))
    t.same(allowed(refused.headers.allow),
      ['GET', 'HEAD', 'OPTIONS'])
  })

t.test('path_names: other words replace new and edit', async (t) => {
  const app = await draft(t, (map) => {
    map.resources('posts', { formPages: true, pathNames: { new: 'nuevo', edit: 'editar' }, store: keep(['one']) },
      (posts) => posts.new.post('preview', () => undefined))
    map.scope({ pathNames: { new: 'nuevo' } }, (map) => map.resource('profile', { formPages: true }))
  })
  t.same([app.paths.newPost?.(), app.paths.editPost?.(1), app.paths.previewNewPost?.(), app.paths.newProfile?.(),
    app.paths.editProfile?.()], ['/posts/nuevo', '/posts/1/editar', '/posts/nuevo/preview', '/profile/nuevo',
    '/profile/edit'])
  t.match(await app.inject('/posts/nuevo.html'), { statusCode: 200, headers: { 'content-type': types.html } })
  t.match(await app.inject('/posts/1/editar.html'), { statusCode: 200, headers: { 'content-type': types.html } })
  for (const url of ['/posts/new', '/posts/1/edit']) t.match(await app.inject(url), { statusCode: 404 }, url)
})

t.test('param: the option renames the id', async (t) => {
  const app = await draft(t, (map) => map.resources('posts',
    { param: 'slug', store: textStore(['hello']), writes: 'both', constraints: { slug: { pattern: '^[a-z]+$' } } },
    (posts) => {
      posts.resources('comments')
      posts.member.get('stats', ({ id }) => ({ id, attributes: {} }))
    }))
  t.ok(['GET /posts/:slug', 'GET /posts/:postSlug/comments',
    'GET /posts/:slug/stats'].every((route) => routesOf(app).includes(route)))
  t.match(await app.inject('/posts/hello.json'), { statusCode: 200, body: '"id":"hello"' })
  t.match(await app.inject('/posts/hello/stats.json'), { statusCode: 200, body: '"id":"hello"' })
  t.match(await app.inject({ method: 'POST', url: '/posts/hello/comments', payload: { comment: { title: 'x' } } }),
    { statusCode: 201, headers: { location: '/posts/hello/comments/1' } })
  t.match(await app.inject({ method: 'PUT', url: '/posts/hello', payload: { post: { title: 'x' } } }),
    { statusCode: 200 })
})

// ---- only and except

const everything = ['list', 'show', 'create', 'update', 'delete', 'new', 'edit'] as const

t.test('only and except: each action can be selected, and each left out', async (t) => {
  const routes: Readonly<Record<(typeof everything)[number], readonly string[]>> = {
    list: ['GET /posts', 'QUERY /posts'],
    show: ['GET /posts/:id'],
    create: ['POST /posts'],
    update: ['PUT /posts', 'PUT /posts/:id', 'PATCH /posts/:id'],
    delete: ['DELETE /posts', 'DELETE /posts/:id'],
    new: ['GET /posts/new'],
    edit: ['GET /posts/:id/edit']
  }
  for (const action of everything) {
    const one = await draft(t, (map) => map.resources('posts', { only: action, writes: 'both' }))
    t.same(routesOf(one).sort(), [...routes[action]].sort(), `only ${action}`)
    const others = await draft(t, (map) => map.resources('posts',
      { except: [action], writes: 'both', formPages: true }))
    t.same(routesOf(others).sort(), everything.filter((other) => other !== action).flatMap((other) => routes[other])
      .sort(), `all except ${action}`)
  }
})

t.test('only and except: a form cannot reach an action that is left out', async (t) => {
  const store = keep(['one'])
  const app = await draft(t, (map) => {
    map.resources('posts', { only: ['list', 'show', 'update'], writes: 'both', store })
    map.resources('notes', { only: 'list', writes: 'both', store })
    map.resources('drafts', { except: ['delete', 'update'], writes: 'both', store })
  })
  const cases: ReadonlyArray<readonly [options: InjectOptions, status: number, allow?: string[]]> = [
    [submit('/posts', { _method: 'DELETE', id: '1' }), 405, ['GET', 'HEAD', 'OPTIONS', 'PUT', 'QUERY']],
    [submit('/posts/1', { _method: 'DELETE' }), 405, ['GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT']],
    [{ method: 'POST', url: '/posts', payload: { post: { title: 'new' } } }, 405,
      ['GET', 'HEAD', 'OPTIONS', 'PUT', 'QUERY']],
    [submit('/notes', { _method: 'DELETE', id: '1' }), 405, ['GET', 'HEAD', 'OPTIONS', 'QUERY']],
    [{ url: '/notes/1' }, 404],
    [submit('/drafts', { _method: 'DELETE', id: '1' }), 405, ['GET', 'HEAD', 'OPTIONS', 'POST', 'QUERY']],
    [submit('/drafts', { _method: 'PUT', id: '1', 'draft[title]': 'new' }), 405,
      ['GET', 'HEAD', 'OPTIONS', 'POST', 'QUERY']]
  ]
  for (const [options, statusCode, allow] of cases) {
    const answer = await app.inject(options)
    t.equal(answer.statusCode, statusCode,
      `${options.method ?? 'GET'} ${String(options.url)} ${String(options.payload ?? '')}`)
    if (allow !== undefined) t.same(allowed(answer.headers.allow), allow)
  }
  t.match(store.get(1, {}), { version: '1', attributes: { title: 'one' } })
  t.match(await app.inject(submit('/posts', { _method: 'PUT', id: '1', 'post[title]': 'changed' })),
    { statusCode: 303 }, 'the other actions work')
})

t.test('only and except: unknown names throw, with the nearest known one', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
    [{ only: 'lits' },
      /"only" of resource "posts" names 'lits', which is not one of list, show, .*; did you mean "list"\?/],
    [{ only: ['list', 'shwo'] }, /'shwo'.*did you mean "show"\?/],
    [{ except: 'deleted' }, /"except" of resource "posts" names 'deleted'.*did you mean "delete"\?/],
    [{ except: 'index' }, /'index'/],
    [{ only: 7 }, /names 7/],
    [{ only: 'list', except: 'show' }, /"except" of resource "posts" must not be given together with "only"/]
  ]
  for (const [options, message] of cases) {
    await t.rejects(draft(t, (map) => map.resources('posts', options)), { ...WRONG, message }, JSON.stringify(options))
  }
  await t.rejects(draft(t, (map) => map.resource('profile', { only: 'list' })),
    { ...WRONG, message: /'list', which is not one of show/ }, 'a singleton has no list')
})

// ---- Nesting

t.test('has_many and has_one: resources nest several levels deep', async (t) => {
  const stores = { posts: keep(['p1', 'p2']), comments: memoryStore(), replies: memoryStore(), authors: memoryStore() }
  const app = await draft(t, (map) => map.resources('posts', { store: stores.posts }, (posts) => {
    posts.resources('comments', { store: stores.comments }, (comments) => {
      comments.resources('replies', { store: stores.replies },
        (replies) => replies.resource('author', { store: stores.authors }))
    })
  }))
  t.ok(routesOf(app).includes('GET /posts/:postId/comments/:commentId/replies/:replyId/author'))
  t.equal(app.paths.postCommentReplyAuthor?.(1, 2, 3), '/posts/1/comments/2/replies/3/author')
  const create = async (url: string, name: string) =>
    await app.inject({ method: 'POST', url, payload: { [name]: { title: 'x' } } })
  t.match(await create('/posts/1/comments', 'comment'),
    { statusCode: 201, headers: { location: '/posts/1/comments/1' } })
  t.match(await create('/posts/1/comments/1/replies', 'reply'),
    { statusCode: 201, headers: { location: '/posts/1/comments/1/replies/1' } })
  t.match(await create('/posts/1/comments/1/replies/1/author', 'author'),
    { statusCode: 201, headers: { location: '/posts/1/comments/1/replies/1/author' } })
  t.match(stores.comments.get(1, {}), { attributes: { postId: 1 } })
  t.match(stores.replies.get(1, {}), { attributes: { commentId: 1 } })
  t.match(stores.authors.get(1, {}), { attributes: { replyId: 1 } })
  t.match(await app.inject('/posts/1/comments/1/replies/1/author.json'), { statusCode: 200, body: '"title":"x"' })
  for (const url of ['/posts/2/comments/1', '/posts/3/comments', '/posts/2/comments/1/replies',
    '/posts/2/comments/1/replies/1', '/posts/2/comments/1/replies/1/author', '/posts/1/comments/2/replies/1/author']) {
    t.match(await app.inject(url), { statusCode: 404 }, url)
  }
  t.match(await create('/posts/1/comments/1/replies/1/author', 'author'), { statusCode: 409 },
    'the singleton exists already')
})

t.test('shallow: rows have paths without their parents, lists do not', async (t) => {
  const comments = memoryStore()
  const app = await draft(t, (map) => map.resources('posts', { store: keep(['p1', 'p2']), shallow: true }, (posts) => {
    posts.resources('comments', { store: comments, writes: 'both', formPages: true }, ({ member, collection }) => {
      member.post('hide', ({ row }) => row())
      collection.get('recent', () => [])
    })
  }))
  t.same([app.paths.postComments?.(1), app.paths.comments?.(), app.paths.comment?.(1), app.paths.newPostComment?.(1),
    app.paths.editComment?.(1), app.paths.hideComment?.(1), app.paths.recentPostComments?.(1)],
  ['/posts/1/comments', '/comments', '/comments/1', '/posts/1/comments/new', '/comments/1/edit', '/comments/1/hide',
    '/posts/1/comments/recent'])
  t.match(await app.inject({ method: 'POST', url: '/posts/2/comments', payload: { comment: { title: 'c' } } }),
    { statusCode: 201, headers: { location: '/comments/1' } })
  t.match(comments.get(1, {}), { attributes: { postId: 2 } })
  t.match(await app.inject(submit('/posts/2/comments', { 'comment[title]': 'd' })),
    { statusCode: 303, headers: { location: '/comments/2' } })
  t.match(await app.inject({ url: '/posts/2/comments', headers: { accept: 'text/html' } }),
    { statusCode: 200, body: 'href="/comments/1"' })
  t.match(await app.inject('/comments/1.json'), { statusCode: 200 })
  t.match(await app.inject({ method: 'PUT', url: '/comments/1', payload: { comment: { title: 'e' } } }),
    { statusCode: 200 })
  t.match(await app.inject({ method: 'PUT', url: '/comments', payload: { id: 1, comment: { title: 'f' } } }),
    { statusCode: 200, body: '"title":"f"' })
  t.match(await app.inject({ url: '/comments/1', headers: { accept: 'text/html' } }),
    { statusCode: 200, body: 'href="/posts/2' })
  t.match(await app.inject(submit('/comments/2', { _method: 'DELETE' })),
    { statusCode: 303, headers: { location: '/posts/2/comments' } },
    'a deletion redirects to the list that had the row')
  t.match(await app.inject(submit('/comments', { _method: 'DELETE', id: '1' })),
    { statusCode: 303, headers: { location: '/posts/2/comments' } })
  for (const url of ['/posts/2/comments/1', '/comments']) t.not((await app.inject(url)).statusCode, 200, url)
})

t.test('namespace: paths and names have the namespace, to any depth, and each may use another word', async (t) => {
  const app = await draft(t, (map) => {
    map.namespace('admin', (admin) => {
      admin.resources('posts', { formPages: true, store: keep(['one']) })
      admin.namespace('back_office', (office) => office.resource('desk'))
    })
    map.namespace('internal', { path: 'i', as: 'in' }, (internal) => internal.resources('posts'))
  })
  t.same([app.paths.adminPosts?.(), app.paths.newAdminPost?.(), app.paths.editAdminPost?.(1),
    app.paths.adminBackOfficeDesk?.(), app.paths.inPost?.(1)],
  ['/admin/posts', '/admin/posts/new', '/admin/posts/1/edit', '/admin/back_office/desk', '/i/posts/1'])
  t.match(await app.inject('/admin/posts/1'), { statusCode: 200 })
  t.match(await app.inject('/posts/1'), { statusCode: 404 })
})

t.test('concern: a part of the map can be drawn in several places', async (t) => {
  const app = await draft(t, (map) => {
    map.concern('commentable', (resource) => resource.resources('comments'))
    map.concern('countable', (resource) => resource.collection.get('count', () => []))
    map.resources('posts', {}, (posts) => posts.concerns('commentable', 'countable'))
    map.resources('photos', {}, (photos) => photos.concerns('commentable'))
    map.namespace('admin', (admin) => admin.resources('posts', {}, (posts) => posts.concerns('commentable')))
  })
  t.same([app.paths.postComments?.(1), app.paths.countPosts?.(), app.paths.photoComments?.(1),
    app.paths.adminPostComments?.(1)],
  ['/posts/1/comments', '/posts/count', '/photos/1/comments', '/admin/posts/1/comments'])
  await t.rejects(draft(t, (map) => {
    map.concern('commentable', () => {})
    map.resources('posts', {}, (posts) => posts.concerns('comentable'))
  }), { ...WRONG, message: /"comentable", which is not declared before this call; did you mean "commentable"\?/ })
})

// ---- 405

t.test('a wrong verb is refused on every path, with the allowed ones', async (t) => {
  const app = await draft(t, (map) => {
    map.resources('posts', { store: keep(['one']), writes: 'both', formPages: true }, (posts) => {
      posts.collection.get('recent', () => [])
      posts.collection.put('sort', () => undefined)
      posts.member.post('publish', () => undefined)
      posts.member.delete('stars', () => undefined)
      posts.new.post('preview', () => undefined)
      posts.resources('comments', { store: keep(['c'], { postId: 1 }) })
      posts.resource('logo')
    })
    map.resource('profile', { formPages: true })
    map.resource('account', { writes: 'both' })
  })
  const served: Readonly<Record<string, string>> = {
    '/posts': 'GET HEAD QUERY POST PUT DELETE',
    '/posts/1': 'GET HEAD PUT PATCH DELETE',
    '/posts/new': 'GET HEAD',
    '/posts/1/edit': 'GET HEAD',
    '/posts/recent': 'GET HEAD',
    '/posts/sort': 'PUT',
    '/posts/1/publish': 'POST',
    '/posts/1/stars': 'DELETE',
    '/posts/new/preview': 'POST',
    '/posts/1/comments': 'GET HEAD QUERY POST PUT DELETE',
    '/posts/1/comments/1': 'GET HEAD',
    '/posts/1/logo': 'GET HEAD POST PUT DELETE',
    '/profile': 'GET HEAD POST PUT DELETE',
    '/profile/new': 'GET HEAD',
    '/profile/edit': 'GET HEAD',
    '/account': 'GET HEAD POST PUT PATCH DELETE'
  }
  for (const [path, verbs] of Object.entries(served)) {
    const right = [...verbs.split(' '), 'OPTIONS'].sort()
    for (const [suffix, type] of [['', types.xml], ['.xml', types.xml], ['.html', types.html],
      ['.json', types.problem]]) {
      const url = `${path}${suffix}`
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'] as const) {
        if (right.includes(method)) continue
        const answer = await app.inject({ method: method as 'GET', url })
        t.match(answer, { statusCode: 405, headers: { 'content-type': type } }, `${method} ${url}`)
        t.same(allowed(answer.headers.allow), right, `${method} ${url}: ${String(answer.headers.allow)}`)
      }
      const options = await app.inject({ method: 'OPTIONS', url })
      t.match(options, { statusCode: 204, body: '' }, `OPTIONS ${url}`)
      t.same(allowed(options.headers.allow), right)
    }
  }
})

t.test('the options of a scope reach every resource in it, nested or not', async (t) => {
  const asked: string[] = []
  const hooked: string[] = []
  const app = await draft(t, (map) => map.scope({
    writes: 'both',
    formats: ['json'],
    authorize: (_request, { action, resource }) => { asked.push(`${resource}#${action}`); return true },
    hooks: { onRequest: (request, _reply, done) => { hooked.push(request.url); done() } }
  },
  (map) => map.resources('cats', {}, (cats) => cats.resources('kittens', {},
    (kittens) => kittens.resource('collar')))))
  const send = (method: 'POST' | 'PUT', url: string, payload: object): Promise<{ statusCode: number }> =>
    app.inject({ method, url, payload })
  t.equal((await send('POST', '/cats', { cat: { name: 'A' } })).statusCode, 201)
  t.equal((await send('POST', '/cats/1/kittens', { kitten: { name: 'B' } })).statusCode, 201)
  t.equal((await send('PUT', '/cats/1/kittens/1', { kitten: { name: 'C' } })).statusCode, 200,
    'with the scope\'s writes')
  t.equal((await send('POST', '/cats/1/kittens/1/collar', { collar: { colour: 'red' } })).statusCode, 201)
  t.strictSame(asked, ['cats#create', 'cats#show', 'kittens#create', 'cats#show', 'kittens#update', 'cats#show',
    'kittens#show', 'collar#create'])
  t.strictSame(hooked, ['/cats', '/cats/1/kittens', '/cats/1/kittens/1', '/cats/1/kittens/1/collar'])
  t.equal((await app.inject({ url: '/cats/1/kittens/1/collar', headers: { accept: 'application/xml' } })).statusCode,
    406, 'in the scope\'s formats')
})

t.test('a shallow row is found only if all its ancestors are visible to the client', async (t) => {
  const asked: string[] = []
  const users = memoryStore()
  users.create({ name: 'Ada' }, { tenant: 'a' })
  users.create({ name: 'Eve' }, { tenant: 'b' })
  const posts = memoryStore()
  posts.create({ title: 'T' }, { userId: 1 })
  const comments = memoryStore()
  comments.create({ body: 'B' }, { postId: 1 })
  comments.create({ body: 'nobody\'s' }, {})
  comments.create({ body: 'of a post that is gone' }, { postId: 9 })
  const likes = memoryStore()
  likes.create({ by: 'Bob' }, { commentId: 1 })
  const app = await draft(t, (map) => map.resources('users', {
    store: users,
    shallow: true,
    scope: ({ headers }) => ({ tenant: String(headers['x-tenant']) }),
    authorize: async ({ headers }, { action, resource, row }) => {
      asked.push(`${resource}#${action} ${String((await row?.())?.attributes.name)}`)
      return headers['x-tenant'] === 'locked' ? 'hide' : true
    }
  }, (users) => users.resources('posts', { store: posts, writes: 'both' },
    (posts) => posts.resources('comments', { store: comments, writes: 'both' },
      (comments) => comments.resources('likes', { store: likes, shallow: false })))))
  const ask = async (tenant: string, method: 'GET' | 'PUT' | 'DELETE' | 'POST', url: string,
    payload?: object): Promise<number> =>
    (await app.inject({
      method,
      url,
      headers: { 'x-tenant': tenant, accept: 'application/json' },
      ...(payload !== undefined && { payload })
    })).statusCode
  t.equal(await ask('a', 'GET', '/comments/1'), 200)
  t.strictSame(asked, ['users#show Ada'])
  for (const tenant of ['b', 'locked', '']) {
    for (const [method, url, payload] of [
      ['GET', '/comments/1'], ['PUT', '/comments/1', { comment: { body: 'x' } }],
      ['PUT', '/comments', { id: 1, comment: { body: 'x' } }], ['DELETE', '/comments/1'],
      ['DELETE', '/comments?id=1'],
      ['GET', '/posts/1'], ['DELETE', '/posts/1'], ['GET', '/posts/1/comments'],
      ['POST', '/posts/1/comments', { comment: { body: 'x' } }], ['GET', '/comments/1/likes'],
      ['GET', '/comments/1/likes/1'], ['GET', '/users/1/posts']
    ] as const) t.equal(await ask(tenant, method, url, payload), 404, `${tenant} ${method} ${url}`)
  }
  t.equal(await ask('a', 'GET', '/comments/2'), 404, 'the row has no parent')
  t.equal(await ask('a', 'GET', '/comments/3'), 404, 'the parent is deleted')
  t.equal(await ask('a', 'GET', '/comments/9'), 404)
  t.equal(await ask('a', 'GET', '/posts/9/comments'), 404)
  t.equal(await ask('a', 'GET', '/comments/1/likes/1'), 200)
  t.equal(await ask('a', 'POST', '/posts/1/comments', { comment: { body: 'x' } }), 201)
  t.equal(await ask('a', 'PUT', '/comments/1', { comment: { body: 'y' } }), 200)
  t.equal(await ask('a', 'DELETE', '/comments?id=1'), 204)
  t.equal(comments.get(1, {}), undefined)
})

t.test('the 404 page below a missing parent has no links and no forms', async (t) => {
  const app = await draft(t, (map) => map.resources('posts', {},
    (posts) => posts.resources('comments').resource('cover')))
  const accept = 'text/html'
  for (const url of ['/posts/9/comments', '/posts/9/comments/1', '/posts/x/comments', '/posts/9/cover']) {
    const { statusCode, body } = await app.inject({ url, headers: { accept } })
    t.equal(statusCode, 404, url)
    t.notMatch(body, /<a href="\/|<form/, url)
  }
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
  t.match((await app.inject({ url: '/posts/1/comments/9', headers: { accept } })).body,
    /<a href="\/posts\/1\/comments">/, 'the 404 page of a row links to its list')
  t.match((await app.inject({ url: '/posts/1/cover', headers: { accept } })).body,
    /<form method="post" action="\/posts\/1\/cover"/, 'the 404 page of a singleton has the form that creates it')
})
