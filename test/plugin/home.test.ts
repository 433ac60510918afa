import fastify, { type FastifyInstance } from 'fastify'
import { HtmlValidate } from 'html-validate'
import t, { type Test } from 'tap'
import resources, { draw, home, type HomeOptions, memoryStore } from '../../lib/index.js'

const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } } } as const
const html = { accept: 'text/html' }

async function serve (t: Test, register: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  register(app)
  await app.ready()
  return app
}

const pageOf = async (app: FastifyInstance, url: string): Promise<string> => (await app.inject({ url, headers: html })).body
const listedOf = async (app: FastifyInstance, url = '/'): Promise<unknown> => (await app.inject({ url, headers: { accept: 'application/json' } })).json()

/** Returns the links of the bar. The current one has a star. */
function barOf (page: string): string[] | undefined {
  const [, bar] = /<nav class="bar"[^>]*>([^]*?)<\/nav>/.exec(page) ?? []
  return bar === undefined ? undefined : [...bar.matchAll(/<a href="([^"]*)"( aria-current="\w+")?>([^<]*)<\/a>/g)].map(([, href, current = '', label]) => `${label} ${href}${current && '*'}`)
}

t.test('the home page lists the resources, whenever they are registered', async (t) => {
  const app = await serve(t, (app) => {
    app.register(resources, { name: 'posts', attributes, store: memoryStore() })
    app.register(home, { title: 'Blog & more' })
    app.register(draw((map) => map.resources('people', { attributes, store: memoryStore() }, (people) => people.resources('notes', { attributes, store: memoryStore() })).resource('about', { attributes, store: memoryStore() })))
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
  t.strictSame(await listedOf(app), { resources: [{ name: 'posts', title: 'Posts', path: '/posts', rows: 1 }, { name: 'people', title: 'People', path: '/people', rows: 0 }, { name: 'about', title: 'About', path: '/about' }] })
  const page = await pageOf(app, '/')
  t.match(page, '<h1>Blog &amp; more</h1>')
  t.strictSame(barOf(page), ['Blog &amp; more /*'])
})

t.test('the home page lists only what is below its prefix and has a path of its own', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog', path: '/start', prefix: '/blog' } as HomeOptions)
    app.register(resources, { name: 'posts', attributes, prefix: '/blog' })
    app.register(resources, { name: 'posts', attributes, prefix: '/blogs' })
    app.register(resources, { name: 'notes', attributes, prefix: '/blog/:year' })
    app.register(resources, { name: 'secrets', attributes, prefix: '/blog', only: ['create', 'show'] })
    app.register(resources, { name: 'hosts', attributes, prefix: '/blog', routeConstraints: { host: 'example.com' } })
  })
  t.same(await listedOf(app, '/blog/start'), { resources: [{ name: 'posts', title: 'Posts', path: '/blog/posts', rows: 0 }] })
  t.strictSame(barOf(await pageOf(app, '/blog/posts')), ['Blog /blog/start', 'Posts /blog/posts*'])
  t.strictSame(barOf(await pageOf(app, '/blog/2026/notes')), ['Blog /blog/start', 'Posts /blog/posts'])
  t.equal(barOf(await pageOf(app, '/blogs/posts')), undefined, 'no home page is above it')
  const [, stylesheet = ''] = /<link rel="stylesheet" href="(\/blog\/start\/home[^"]*)"/.exec(await pageOf(app, '/blog/start')) ?? []
  t.equal((await app.inject(stylesheet)).statusCode, 200)
})

t.test('the bar leads home and to each list, and marks the current one', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(home, { title: 'Admin', prefix: '/admin' } as HomeOptions)
    app.register(draw((map) => map.resources('posts', { attributes, store: memoryStore() }, (posts) => posts.resources('comments', { attributes, store: memoryStore() })).resources('people', { attributes }).resources('feeds', { attributes, formats: ['json'] })))
    app.register(resources, { name: 'users', attributes, prefix: '/admin' })
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
  const bar = ['Blog /', 'Posts /posts*', 'People /people', 'Users /admin/users']
  for (const url of ['/posts', '/posts/1', '/posts/1/comments', '/posts/99']) t.strictSame(barOf(await pageOf(app, url)), bar, url)
  t.strictSame(barOf(await pageOf(app, '/people')), ['Blog /', 'Posts /posts', 'People /people*', 'Users /admin/users'])
  t.strictSame(barOf(await pageOf(app, '/admin/users')), ['Admin /admin', 'Users /admin/users*'], 'the nearest home page')
  for (const url of ['/', '/posts', '/posts/1']) {
    const { valid, results } = await new HtmlValidate({ extends: ['html-validate:recommended'], rules: { 'void-style': ['error', { style: 'selfclose' }], 'attribute-boolean-style': ['error', { style: 'name' }], 'valid-id': ['error', { relaxed: true }] } }).validateString(await pageOf(app, url))
    t.ok(valid, JSON.stringify(results))
  }
})

t.test('the bar says whether the page is the current list, and a missing page has a way on', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog & more' })
    app.register(resources, { name: 'posts', attributes })
    app.register(resources, { name: 'secrets', attributes, only: ['show'] })
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
  for (const url of ['/posts', '/posts?limit=1', '/posts.html']) t.match(await pageOf(app, url), '<a href="/posts" aria-current="page">Posts</a>', url)
  for (const url of ['/posts/1', '/posts/9', '/posts?nope=1']) t.match(await pageOf(app, url), '<a href="/posts" aria-current="true">Posts</a>', url)
  const lost = (text: string, way: string): string => `<h1>Not Found</h1>\n<div class="empty" role="alert">\n<p><strong>${text}</strong></p>\n<p>${way}</p>\n</div>`
  t.match(await pageOf(app, '/posts/9'), lost('there is no post with the id 9', '<a href="/posts">Posts</a>'))
  t.match(await pageOf(app, '/secrets/9'), lost('there is no secret with the id 9', '<a href="/">Blog &amp; more</a>'))
})

t.test('the bar does not lead to lists that not everybody may see, except to the current one', async (t) => {
  const guard = async (): Promise<void> => {}
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(resources, { name: 'posts', attributes })
    app.register(resources, { name: 'drafts', attributes, authorize: () => true })
    app.register(resources, { name: 'notes', attributes, hooks: { onRequest: guard } })
    app.register(resources, { name: 'plans', attributes, hooks: { onRequest: guard } })
  })
  t.strictSame(barOf(await pageOf(app, '/posts')), ['Blog /', 'Posts /posts*'])
  t.strictSame(barOf(await pageOf(app, '/drafts')), ['Blog /', 'Posts /posts', 'Drafts /drafts*'])
  t.strictSame(barOf(await pageOf(app, '/notes')), ['Blog /', 'Posts /posts', 'Notes /notes*', 'Plans /plans'], 'the same hook guards both')
})

t.test('the bar of many resources leads to the others by the home page', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    for (let number = 1; number <= 9; number++) app.register(resources, { name: `t${number}s`, attributes })
  })
  const seven = [1, 2, 3, 4, 5, 6, 7]
  const links = (current: number): string[] => seven.map((number) => `T${number}s /t${number}s${number === current ? '*' : ''}`)
  t.strictSame(barOf(await pageOf(app, '/t1s')), ['Blog /', ...links(1), 'All resources /'])
  t.strictSame(barOf(await pageOf(app, '/t9s')), ['Blog /', ...links(9), 'T9s /t9s*', 'All resources /'])
})

t.test('a page with a bar is never a 304, because another version of the app may have another bar', async (t) => {
  for (const [register, status] of [[() => {}, 304], [(app: FastifyInstance) => { app.register(home, { title: 'Blog' }) }, 200]] as const) {
    const app = await serve(t, (app) => {
      app.register(resources, { name: 'posts', attributes })
      register(app)
    })
    await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
    const { headers: { etag } } = await app.inject({ url: '/posts/1', headers: html })
    t.equal((await app.inject({ url: '/posts/1', headers: { ...html, 'if-none-match': String(etag) } })).statusCode, status)
    const { headers: { etag: tag } } = await app.inject({ url: '/posts/1.json' })
    t.equal((await app.inject({ url: '/posts/1.json', headers: { 'if-none-match': String(tag) } })).statusCode, 304)
  }
})

t.test('wrong options of the home page are refused', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
    [{}, /Option "title" of the plugin "home" must be a text such as 'Blog', not undefined/],
    [{ title: ' ' }, /Option "title" of the plugin "home" must be a text/],
    [{ title: 'Blog', path: 'start' }, /Option "path" of the plugin "home" must be a path such as '\/' or '\/start', not 'start'/],
    [{ title: 'Blog', path: '/:id' }, /Option "path"/],
    [{ title: 'Blog', path: '/start/' }, /Option "path"/],
    [{ title: 'Blog', prefix: '/:year' }, /Option "prefix" of the plugin "home" must not have parameters, but it is '\/:year'/],
    [{ titel: 'Blog' }, /"titel"/]
  ]
  for (const [options, message] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(home, options as HomeOptions)
    await t.rejects(async () => { await app.ready() }, { message }, JSON.stringify(options))
  }
})
