import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { HtmlValidate } from 'html-validate'
import t, { type Test } from 'tap'
import resources, {
  type AttributesSchema, type AuthorizeContext, draw, home, type HomeOptions, memoryStore
} from '../../lib/index.js'
import { markup } from '../../lib/html/index.js'
import { CommandError, parseSettings } from '../../lib/database/command/settings.js'
import { nameResources } from '../../lib/database/resource-names.js'
import { addTitles, findActions, findReferences } from '../../lib/database/resource-options.js'
import { describeTable } from '../support/stores/databases/table-description.js'

const attributes = {
  type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } }
} as const
const html = { accept: 'text/html' }

async function serve (t: Test, register: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  register(app)
  await app.ready()
  return app
}

const pageOf = async (app: FastifyInstance, url: string): Promise<string> =>
  (await app.inject({ url, headers: html })).body
const listedOf = async (app: FastifyInstance, url = '/'): Promise<unknown> =>
  (await app.inject({ url, headers: { accept: 'application/json' } })).json()

/** Returns the links of the bar. The current one has a star. */
function barOf (page: string): string[] | undefined {
  const [, bar] = /<nav class="bar"[^>]*>([^]*?)<\/nav>/.exec(page) ?? []
  return bar === undefined
    ? undefined
    : [...bar.matchAll(/<a href="([^"]*)"( aria-current="\w+")?>([^<]*)<\/a>/g)].map(
        ([, href, current = '', label]) => `${label} ${href}${current && '*'}`)
}

t.test('the home page lists the resources, whenever they are registered', async (t) => {
  const app = await serve(t, (app) => {
    app.register(resources, { name: 'posts', attributes, store: memoryStore() })
    app.register(home, { title: 'Blog & more' })
    app.register(draw((map) => map.resources('people', { attributes, store: memoryStore() },
      (people) => people.resources('notes', { attributes, store: memoryStore() })).resource('about',
      { attributes, store: memoryStore() })))
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
  t.strictSame(await listedOf(app), {
    resources: [{ name: 'posts', title: 'Posts', path: '/posts', rows: 1 },
      { name: 'people', title: 'People', path: '/people', rows: 0 }, { name: 'about', title: 'About', path: '/about' }]
  })
  const page = await pageOf(app, '/')
  t.match(page, '<h1>Blog &amp; more</h1>')
  t.strictSame([...page.matchAll(/href="([^"]*)">New</g)].map(([, href]) => href), ['/posts#new', '/people#new'],
    'the only record of a singleton has no form here')
  t.strictSame(barOf(page), ['Blog &amp; more /*', 'Posts /posts', 'People /people', 'About /about'])
})

t.test('the home page ignores the parameters that trackers add, and other formats refuse them', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(resources, { name: 'posts' })
  })
  const plain = await pageOf(app, '/')
  for (const tracker of ['utm_source=a', 'fbclid=1', 'gclid=1', 'msclkid=1', '_ga=1', '_=1']) {
    t.equal(await pageOf(app, `/?${tracker}`), plain, tracker)
    t.equal((await app.inject(`/?format=json&${tracker}`)).statusCode, 400, tracker)
  }
  t.equal((await app.inject({ url: '/?other=1', headers: { accept: 'text/html' } })).statusCode, 400)
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
  t.same(await listedOf(app, '/blog/start'),
    { resources: [{ name: 'posts', title: 'Posts', path: '/blog/posts', rows: 0 }] })
  t.strictSame(barOf(await pageOf(app, '/blog/posts')), ['Blog /blog/start', 'Posts /blog/posts*'])
  t.strictSame(barOf(await pageOf(app, '/blog/2026/notes')), ['Blog /blog/start', 'Posts /blog/posts'])
  t.equal(barOf(await pageOf(app, '/blogs/posts')), undefined, 'no home page is above it')
  const [, stylesheet = ''] = /<link rel="stylesheet" href="(\/blog\/start\/home[^"]*)"/.exec(await pageOf(app,
    '/blog/start')) ?? []
  t.equal((await app.inject(stylesheet)).statusCode, 200)
})

t.test('the bar leads home and to each list, and marks the current one', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(home, { title: 'Admin', prefix: '/admin' } as HomeOptions)
    app.register(draw((map) => map
      .resources(
        'posts',
        { attributes, store: memoryStore() },
        (posts) => posts.resources('comments', { attributes, store: memoryStore() })
      )
      .resources('people', { attributes })
      .resources('feeds', { attributes, formats: ['json'] })))
    app.register(resources, { name: 'users', attributes, prefix: '/admin' })
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
  const bar = ['Blog /', 'Posts /posts*', 'People /people', 'Users /admin/users']
  for (const url of ['/posts', '/posts/1', '/posts/1/comments', '/posts/99']) {
    t.strictSame(barOf(await pageOf(app, url)), bar, url)
  }
  t.strictSame(barOf(await pageOf(app, '/people')), ['Blog /', 'Posts /posts', 'People /people*', 'Users /admin/users'])
  t.strictSame(barOf(await pageOf(app, '/admin/users')), ['Admin /admin', 'Users /admin/users*'],
    'the nearest home page')
  for (const url of ['/', '/posts', '/posts/1']) {
    const { valid, results } = await new HtmlValidate({
      extends: ['html-validate:recommended'],
      rules: {
        'void-style': ['error', { style: 'selfclose' }],
        'attribute-boolean-style': ['error', { style: 'name' }],
        'valid-id': ['error', { relaxed: true }]
      }
    }).validateString(await pageOf(app, url))
    t.ok(valid, JSON.stringify(results))
  }
})

t.test('the bar leads only to lists that the user may open', async (t) => {
  const hooks = { onRequest: async (): Promise<void> => {} }
  const asked: string[] = []
  const authorize = async (request: FastifyRequest, {
    action, resource, ...rest
  }: AuthorizeContext): Promise<boolean> => {
    if (action === 'list' || resource === 'account') {
      asked.push(`${resource} ${Object.keys(request.params as object).join()}${Object.keys(rest).join()}`)
    }
    if (request.headers.user === undefined) throw new Error('no user')
    return String(request.headers.user).split(' ').includes(resource) || action !== 'list'
  }
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(draw((map) => map.scope({ authorize }, (map) => map
      .resources(
        'posts',
        { attributes, store: memoryStore() },
        (posts) => posts.resources('comments', { attributes, store: memoryStore() })
      )
      .resources('drafts', { attributes, store: memoryStore() }).resource('account', {
        attributes, store: memoryStore()
      }))))
    app.register(resources, {
      name: 'teas',
      attributes,
      scope: ({ headers: { user } }) => {
        if (user === undefined) throw new Error('no tenant')
        return { title: String(user) }
      }
    })
    app.register(resources, { name: 'notes', attributes, hooks })
    app.register(resources, { name: 'plans', attributes, hooks })
    app.register(resources, { name: 'people', attributes })
    app.register(resources, {
      name: 'feeds',
      attributes,
      formats: ['json'],
      authorize: () => { throw new Error('a list without pages is in no bar') }
    })
  })
  const headersOf = (user?: string): Record<string, string> => ({ ...html, ...(user !== undefined && { user }) })
  const barFor = async (url: string, user?: string): Promise<string[] | undefined> =>
    barOf((await app.inject({ url, headers: headersOf(user) })).body)
  await app.inject({ method: 'POST', url: '/posts', headers: { user: 'posts' }, payload: { post: { title: 'a' } } })
  await app.inject({
    method: 'POST', url: '/posts/1/comments', headers: { user: 'posts' }, payload: { comment: { title: 'b' } }
  })
  const all = ['Blog /', 'Posts /posts', 'Drafts /drafts', 'Account /account', 'Teas /teas', 'People /people']
  t.strictSame(await barFor('/people', 'posts drafts'), [...all.slice(0, 5), 'People /people*'])
  t.strictSame(await barFor('/people', 'nobody'), ['Blog /', 'Account /account', 'Teas /teas', 'People /people*'])
  t.strictSame(await barFor('/people'), ['Blog /', 'People /people*'],
    'neither authorize nor a scope that throws makes an error of the page')
  t.strictSame(await barFor('/drafts', 'posts drafts'), ['Blog /', 'Posts /posts', 'Drafts /drafts*', ...all.slice(3)],
    'one authorize for all')
  t.strictSame(await barFor('/drafts', 'posts'),
    ['Blog /', 'Posts /posts', 'Account /account', 'Teas /teas', 'People /people'], 'the page of a refusal')
  t.strictSame(await barFor('/plans', 'nobody'), ['Blog /', 'Account /account', 'Teas /teas', 'Notes /notes',
    'Plans /plans*', 'People /people'], 'the same hook guards both')
  for (const [
    url, method
  ] of [['/posts/1', 'GET'], ['/posts/9', 'GET'], ['/posts', 'POST'], ['/posts/1/comments', 'GET'],
      ['/posts/1/comments/1', 'GET']] as const) {
    const [seen, hidden] = await Promise.all(['posts',
      'nobody'].map(async (user) => (await app.inject({
      url,
      method,
      headers: { ...headersOf(user), 'content-type': 'application/x-www-form-urlencoded' },
      ...(method === 'POST' && { payload: 'post[title]=' })
    })).body))
    t.match(seen, /<nav class="bar"[^]*<a href="\/posts"/, url)
    t.match(seen, /<ol class="breadcrumb"><li><a href="\/posts">Posts<\/a>/, url)
    t.notMatch(hidden, '<a href="/posts">', `${method} ${url} does not lead to the list, by no link`)
  }
  asked.length = 0
  await barFor('/posts/1', 'posts')
  t.strictSame(asked.toSorted(), ['account row', 'comments postId', 'drafts ', 'posts '],
    'each list is asked about once, with the parameters of its own path')
  asked.length = 0
  await barFor('/drafts', 'drafts')
  t.strictSame(asked.toSorted(), ['account row', 'drafts ', 'posts '], 'a list is not asked about twice')
  asked.length = 0
  await app.inject({ url: '/posts/1.json', headers: headersOf('posts') })
  t.strictSame(asked, [], 'a document has no bar')
})

t.test('the bar of an error names no list before the request has passed the hooks, or after a failure', async (t) => {
  let asked = 0
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    app.register(resources, {
      name: 'people',
      attributes,
      hooks: {
        preHandler: async ({ headers: { status } }) => {
          if (status !== undefined) throw Object.assign(new Error('no'), { statusCode: Number(status) })
        }
      }
    })
    app.register(resources, { name: 'teas', attributes, actions: { list: () => { throw new Error('broken') } } })
    app.register(resources, {
      name: 'posts', attributes, authorize: (_request, { action }) => { asked++; return action === 'list' }
    })
  })
  const all = ['Blog /', 'Teas /teas', 'Posts /posts']
  const cases: ReadonlyArray<readonly [url: string, status: number, asked: number, bar: readonly string[]]> = [
    ['/people', 401, 0, ['Blog /']], ['/people', 403, 0, ['Blog /']], ['/people', 429, 0, ['Blog /']],
    ['/people?nope=1', 400, 0, ['Blog /']], ['/people/9', 404, 1, ['Blog /', 'People /people*', ...all.slice(1)]],
    ['/teas', 500, 0, ['Blog /']], ['/teas?nope=1', 400, 1, ['Blog /', 'Teas /teas*', 'Posts /posts']],
    ['/posts/1', 403, 2, ['Blog /', 'Teas /teas', 'Posts /posts*']]
  ]
  for (const [url, status, times, bar] of cases) {
    asked = 0
    const { statusCode, body } = await app.inject({
      url, headers: { ...html, ...(url === '/people' && { status: String(status) }) }
    })
    t.strictSame([statusCode, asked, barOf(body)], [status, times, bar], `${url} ${status}`)
  }
})

t.test('the home page lists what the user may open, with the numbers of the rows that the user may see', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    const authorize = async ({
      headers: { user }
    }: FastifyRequest, { resource }: AuthorizeContext): Promise<boolean> => {
      if (user === undefined) throw new Error('no user')
      return user === resource || user === 'admin'
    }
    app.register(draw((map) => map.scope({ authorize }, (map) => map.resources('posts', {
      attributes, store: memoryStore()
    }).resources('drafts', { attributes, store: memoryStore() }))))
    app.register(resources, {
      name: 'teas', attributes, scope: ({ headers: { user = 'nobody' } }) => ({ title: String(user) })
    })
    app.register(resources, { name: 'plans', attributes, hooks: { onRequest: async () => {} }, authorize: () => false })
    app.register(resources, { name: 'people', attributes })
  })
  for (const url of ['/posts', '/posts', '/teas']) {
    await app.inject({
      method: 'POST', url, headers: { user: 'admin' }, payload: { [url.slice(1, -1)]: { title: 'admin' } }
    })
  }
  const listed = async (user?: string): Promise<unknown> => {
    const { resources } = (await app.inject({
      url: '/', headers: { accept: 'application/json', ...(user !== undefined && { user }) }
    })).json() as { resources: Array<{ name: string, rows?: number }> }
    return resources.map(({ name, rows }) => `${name} ${rows}`)
  }
  t.same(await listed('admin'), ['posts 2', 'drafts 0', 'teas 1', 'plans undefined', 'people 0'])
  t.same(await listed('drafts'), ['drafts 0', 'teas 0', 'plans undefined', 'people 0'])
  t.same(await listed(), ['teas 0', 'plans undefined', 'people 0'], 'its own hooks guard the list of plans')
  const { body } = await app.inject({ url: '/', headers: { ...html, user: 'drafts' } })
  t.strictSame(barOf(body), ['Blog /*', 'Drafts /drafts', 'Teas /teas', 'People /people'], 'the bar, too')
  t.strictSame([...body.matchAll(/<th[^>]*><a href="([^"]*)"/g)].map(([, href]) => href),
    ['/drafts', '/teas', '/plans', '/people'])
})

t.test('the home page and the bar are in the language of the client', async (t) => {
  const words = (lang: string): object => lang === 'de' ? { plural: 'Beiträge', singular: 'Beitrag' } : {}
  const app = await serve(t, (app) => {
    app.register(home, {
      title: 'Blog', lang: 'auto', messages: (lang) => lang === 'de' ? { resourceName: 'Was' } : {}
    })
    app.register(draw((map) => map.resources('posts', {
      attributes, html: { lang: ['en', 'de'], messages: words }
    }).resource('leadArticle', { attributes, html: { lang: ['en', 'de'], messages: words } })))
  })
  const pageIn = async (url: string, lang: string): Promise<string> =>
    (await app.inject({ url, headers: { ...html, 'accept-language': lang } })).body
  const german = await pageIn('/', 'de-AT')
  t.match(german, /<html[^>]* lang="de"[^]*<th scope="col">Was<\/th>/)
  for (const url of ['/', '/posts']) {
    t.strictSame(barOf(await pageIn(url, 'de'))?.map((link) => link.replace('*', '')),
      ['Blog /', 'Beiträge /posts', 'Beitrag /leadArticle'], url)
  }
  t.strictSame(barOf(await pageIn('/', 'fr')), ['Blog /*', 'Posts /posts', 'Lead article /leadArticle'],
    'a resource without the language has its first one')
  t.match(await pageIn('/', 'ar'),
    /<html[^>]* lang="ar" dir="rtl"[^]*<th scope="col">[^a-zA-Z<]+<\/th><th scope="col" class="number">[^a-zA-Z<]+</)
})

t.test('errors of the home page have the format and the language of the client', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog & more', lang: ['en', 'de'] })
    app.register(resources, { name: 'posts', attributes })
    app.register(resources, { name: 'drafts', attributes, authorize: () => false })
  })
  const page = await app.inject({ url: '/?x=1', headers: html })
  t.match(page, {
    statusCode: 400,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': /default-src 'none'/,
      'cache-control': 'private, no-cache',
      vary: 'Accept, Accept-Language'
    }
  })
  t.match(page.body,
    '<div class="problem" role="alert">\n<h1>The parameter &quot;x&quot; is unknown</h1>\n</div>\n' +
      '<p><a href="/">Blog &amp; more</a></p>\n</main>')
  t.match(page.body, '<title>The parameter &quot;x&quot; is unknown</title>')
  t.strictSame(barOf(page.body), ['Blog &amp; more /', 'Posts /posts'])
  const german = (await app.inject({ url: '/?x=1', headers: { ...html, 'accept-language': 'de' } })).body
  t.match(german, /lang="de"[^]*<h1>Den Parameter „x“ gibt es nicht\.<\/h1>/)
  t.match(await app.inject({ url: '/?x=1', headers: { accept: 'application/json' } }), {
    statusCode: 400, headers: { 'content-type': /^application\/problem\+json/ }, payload: /"detail":"the parameter /
  })
  t.match(await app.inject('/?x=1'), {
    statusCode: 400,
    headers: { 'content-type': 'application/xml; charset=utf-8' },
    body: /<errors><error>the parameter /
  })
  t.match(await app.inject({ url: '/?format=csv', headers: html }),
    { statusCode: 406, body: /<h1>There is a problem<\/h1>[^]*<li>there is no such format; choose one of app/ },
    'an unknown format is left to Accept')
})

t.test('a home page answers unknown paths if it is asked to', async (t) => {
  const app = await serve(t, (app) => {
    app.addHook('onRequest', async ({ headers: { stranger } }) => {
      if (stranger !== undefined) {
        throw Object.assign(new Error('who are you?'), { statusCode: 401, headers: { 'www-authenticate': 'Basic' } })
      }
    })
    app.register(home, { title: 'Blog', lang: 'auto', notFound: true })
    app.register(resources, { name: 'posts', attributes })
    app.register(resources, { name: 'drafts', attributes, authorize: async ({ headers: { user } }) => user === 'ann' })
  })
  const page = await app.inject({ url: '/nope?a=b', headers: html })
  t.match(page, { statusCode: 404, headers: { 'content-type': 'text/html; charset=utf-8' } })
  t.match(page.body,
    '<div class="empty" role="alert">\n<h1>This page does not exist</h1>\n<p>there is no page here</p>\n<p><a ' +
      'href="/">Blog</a></p>\n</div>\n')
  t.strictSame(barOf(page.body), ['Blog /', 'Posts /posts'])
  t.strictSame(barOf((await app.inject({ url: '/nope', headers: { ...html, user: 'ann' } })).body),
    ['Blog /', 'Posts /posts', 'Drafts /drafts'])
  t.match((await app.inject({ url: '/nope', headers: { ...html, 'accept-language': 'fr' } })).body,
    /lang="fr"[^]*<h1>Cette page n’existe pas<\/h1>/)
  for (const [url, accept, type, body] of [
    ['/nope', 'application/json', /^application\/problem\+json/,
      '{"type":"about:blank","title":"Not Found","status":404,"detail":"there is no page here"}'],
    ['/nope.json', '*/*', /^application\/problem\+json/, /"detail":"there is no page here"/],
    ['/nope?format=json', 'text/html', /^application\/problem\+json/, /"detail":"there is no page here"/],
    ['/nope', '*/*', /^application\/xml/, /<errors><error>there is no page here<\/error><\/errors>$/],
    ['/nope', 'image/png', /^application\/xml/, /<errors>/],
    ['/posts/1/nope', 'text/html', /^text\/html/, /there is no page here/]
  ] as const) {
    t.match(await app.inject({ url, headers: { accept } }),
      { statusCode: 404, headers: { 'content-type': type }, body }, url)
  }
  t.match(await app.inject({ method: 'DELETE', url: '/nope', headers: html }),
    { statusCode: 404, body: /<h1>This page does not exist<\/h1>/ })
  const stranger = await app.inject({ url: '/nope', headers: { ...html, stranger: 'yes' } })
  t.match(stranger, { statusCode: 401, headers: { 'www-authenticate': 'Basic' }, body: /<h1>Who are you\?<\/h1>/ })
  t.strictSame(barOf(stranger.body), ['Blog /'], 'a stranger learns no names')
})

t.test('a home page with a prefix answers only unknown paths below it, and none without the option', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog', prefix: '/blog', notFound: true } as HomeOptions)
    app.register(home, { title: 'Shop', prefix: '/shop' } as HomeOptions)
  })
  t.match(await app.inject({ url: '/blog/nope', headers: html }),
    { statusCode: 404, body: /<h1>This page does not exist<\/h1>/ })
  for (const url of ['/nope', '/shop/nope']) {
    t.match((await app.inject({ url, headers: html })).json(), { message: `Route GET:${url} not found` })
  }
})

t.test('the home page sends the Content-Security-Policy that its brand needs', async (t) => {
  const brand = { head: markup`<script src="/menu.js"></script>` } as const
  const cases: ReadonlyArray<readonly [policy: HomeOptions['contentSecurityPolicy'], sent: string | undefined]> = [
    [undefined, "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"],
    [
      { 'script-src': "'self'", 'style-src': '*' },
      "default-src 'none'; style-src *; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; script-src 'self'"
    ],
    [false, undefined]
  ]
  for (const [policy, sent] of cases) {
    const app = await serve(t, (app) => {
      app.register(home, {
        title: 'Blog', brand, notFound: true, ...(policy !== undefined && { contentSecurityPolicy: policy })
      })
    })
    for (const url of ['/', '/nope']) {
      const { headers, body } = await app.inject({ url, headers: html })
      t.equal(headers['content-security-policy'], sent, url)
      t.match(body, '<script src="/menu.js"></script>')
    }
  }
  const app = fastify()
  t.teardown(() => app.close())
  const mistaken = { title: 'Blog', contentSecurityPolicy: { 'Img-Src': '*' } }
  await t.rejects(async () => { await app.register(home, mistaken) },
    { message: /^Option "contentSecurityPolicy" of the plugin "home" has the directive "Img-Src"/ })
})

t.test('a home page whose brand fails answers with a plain text', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog', brand: { footer: () => { throw new Error('broken') } } })
  })
  t.match(await app.inject({ url: '/', headers: html }),
    { statusCode: 500, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'Internal Server Error' })
  t.match(await app.inject('/'), { statusCode: 200 })
})

t.test('the bar of many resources leads to the others by the home page', async (t) => {
  const app = await serve(t, (app) => {
    app.register(home, { title: 'Blog' })
    for (let number = 1; number <= 9; number++) app.register(resources, { name: `t${number}s`, attributes })
  })
  const seven = [1, 2, 3, 4, 5, 6, 7]
  const links = (current: number): string[] => seven.map((number) =>
    `T${number}s /t${number}s${number === current ? '*' : ''}`)
  t.strictSame(barOf(await pageOf(app, '/t1s')), ['Blog /', ...links(1), 'All resources /'])
  t.strictSame(barOf(await pageOf(app, '/t9s')), ['Blog /', ...links(9), 'T9s /t9s*', 'All resources /'])
  t.strictSame(barOf(await pageOf(app, '/')), ['Blog /*', ...links(0)])
})

t.test('a page with a bar is never a 304, because another version of the app may have another bar', async (t) => {
  for (const [
    register, status
  ] of [[() => {}, 304], [(app: FastifyInstance) => { app.register(home, { title: 'Blog' }) }, 200]] as const) {
    const app = await serve(t, (app) => {
      app.register(resources, { name: 'posts', attributes })
      register(app)
    })
    await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'a' } } })
    const { headers: { etag } } = await app.inject({ url: '/posts/1', headers: html })
    t.equal((await app.inject({ url: '/posts/1', headers: { ...html, 'if-none-match': String(etag) } })).statusCode,
      status)
    const { headers: { etag: tag } } = await app.inject({ url: '/posts/1.json' })
    t.equal((await app.inject({ url: '/posts/1.json', headers: { 'if-none-match': String(tag) } })).statusCode, 304)
  }
})

t.test('wrong options of the home page are refused', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
    [{}, /Option "title" of the plugin "home" must be a text such as 'Blog', not undefined/],
    [{ title: ' ' }, /Option "title" of the plugin "home" must be a text/],
    [{ title: 'Blog', path: 'start' },
      /Option "path" of the plugin "home" must be a path such as '\/' or '\/start', not 'start'/],
    [{ title: 'Blog', path: '/:id' }, /Option "path"/],
    [{ title: 'Blog', path: '/start/' }, /Option "path"/],
    [{ title: 'Blog', prefix: '/:year' },
      /Option "prefix" of the plugin "home" must not have parameters, but it is '\/:year'/],
    [{ title: 'Blog', notFound: 'yes' }, /Option "notFound" of the plugin "home" must be true or false, not 'yes'/],
    [{ titel: 'Blog' }, /"titel"/]
  ]
  for (const [options, message] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(home, options as HomeOptions)
    await t.rejects(async () => { await app.ready() }, { message }, JSON.stringify(options))
  }
})

const named = (names: readonly string[], schemas: readonly string[] = []) => {
  const tables = names.map((name, index) =>
    describeTable({ name, ...(schemas[index] !== undefined && { schema: schemas[index] }) }))
  return [...nameResources(tables, () => undefined).values()]
}

type Case = readonly [
  table: string, name: string, singular: string, path: string, heading?: string, one?: string, many?: string
]

const cases: readonly Case[] =
  [
    ['InvoiceLine', 'invoiceLines', 'invoiceLine', 'invoice-lines', 'Invoice line', 'invoice line'],
    ['invoice_line', 'invoiceLines', 'invoiceLine', 'invoice-lines', 'Invoice line', 'invoice line'],
    ['Order Details', 'orderDetails', 'orderDetail', 'order-details', 'Order Details', 'order detail', 'Order details'],
    ['Product Sales for 1997', 'productSalesFor1997', 'productSalesFor1997', 'product-sales-for-1997',
      'Product Sales for 1997', ''],
    ['news', 'news', 'news', 'news', 'News', '', 'News'],
    ['Address2Line', 'address2Lines', 'address2Line', 'address2-lines', 'Address2 line', 'address2 line'],
    ['URLMap', 'urlMaps', 'urlMap', 'url-maps', 'URL map', 'URL map'],
    ['url', 'urlRows', 'urlRow', 'urls', 'Url', 'url'],
    ['2020_sales', '_2020Sales', '_2020Sale', '2020-sales', '2020 sales', '2020 sale', '2020 sales'],
    ['weird name!"; drop', 'weirdNameDrops', 'weirdNameDrop', 'weird-name-drops', 'Weird name!"; drop',
      'weird name drop'],
    ['Café', 'cafe', 'cafe', 'café', 'Café', ''],
    ['Товар', 'u442u43eu432u430u440', 'u442u43eu432u430u440', 'товар', 'Товар', ''],
    ['🦄', 'u1f984', 'u1f984', 'u1f984', '🦄', ''],
    ['', 'tables', 'table', 'tables', 'Table', ''],
    ['__proto__', 'protos', 'proto', 'protos', 'Proto', 'proto']
  ]

t.test('a resource has its name from its table', async (t) => {
  for (const [table, name, singular, path, heading, one, many = ''] of cases) {
    const messages = { heading, plural: many, singular: one }
    const expected = { name, singular, path, ...(heading !== undefined && { messages }) }
    t.strictSame(named([table]), [expected], table)
  }
})

t.test('no two tables have the same name', async (t) => {
  t.strictSame(named(['User', 'users', 'user']).map(({ name }) => name), ['users', 'users2', 'users3'])
  t.strictSame(named(['users', 'users', 'Users'],
    ['public', 'sales', 'sales']).map(({ name, path }) => `${name} ${path}`),
  ['users users', 'salesUsers sales-users', 'users2 users-2'])
  const messages = { heading: 'Users 2', plural: 'Users', singular: 'user' }
  t.match(named(['users', 'Users'])[1], { singular: 'user2', messages })
  t.match(named(['user', 'users'])[1], { name: 'users2', messages: { heading: 'Users' } }, 'pages tell them apart')
  t.match(named(['users', 'users'], ['a', 'b'])[1], { name: 'bUsers', messages: undefined })
})

t.test('the app names resources first', async (t) => {
  const tables = ['users', 'T_USR', 'T_ORD'].map((name) => describeTable({ name }))
  const names = nameResources(tables, ({ name }) => ({ T_USR: 'users', T_ORD: 'webOrders' })[name])
  t.strictSame([...names].map(([{ name }, made]) => `${name} ${made.name} ${made.singular} ${made.path}`).sort(),
    ['T_ORD webOrders webOrder web-orders', 'T_USR users user users', 'users users2 user2 users-2'])
  t.throws(() => nameResources(tables, () => 'all'),
    {
      code: 'FST_RESOURCES_INVALID_OPTION',
      message: 'Option "nameOf" must not give the name "all" to both "users" and "T_USR".'
    })
  t.throws(() => nameResources(tables, () => 5 as never),
    { message: 'Option "nameOf" must return a name or undefined, not 5.' })
})

t.test('a table has the actions that it allows, if the app allows writes', async (t) => {
  const all = describeTable()
  const limited = describeTable({ canUpdate: false, canDelete: false })
  const cases: ReadonlyArray<readonly [...Parameters<typeof findActions>, expected: string]> = [
    [all, false, {}, 'list show'],
    [all, true, {}, 'list show create new update edit delete'],
    [all, true, { formPages: false }, 'list show create update delete'],
    [limited, true, {}, 'list show create new'],
    [all, true, { except: 'delete' }, 'list show create new update edit']
  ]
  for (const [table, write, options, expected] of cases) {
    t.equal(findActions(table, write, options).join(' '), expected, JSON.stringify({ write, options }))
  }
  t.throws(() => findActions(all, false, { only: ['list', 'create'] }),
    { message: 'Option "tables" has "posts", whose "only" names \'create\', which needs the option "write: true".' })
  t.throws(() => findActions(limited, true, { only: 'update' }),
    { message: 'Option "tables" has "posts", whose "only" names \'update\', which its database does not allow.' })
})

const attributesOf = (...names: readonly string[]): AttributesSchema =>
  ({
    type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
  }) as AttributesSchema

t.test('attributes get titles if their names would look bad', async (t) => {
  const titlesOf = (names: readonly string[], columns = {}): unknown[] =>
    Object.values(addTitles(describeTable({ attributes: attributesOf(...names), columns })).properties as Record<string,
      { title?: string }>).map(({ title }) => title)
  t.strictSame(titlesOf(['UnitPrice', 'first_name', 'SKU', 'homeURL']), [undefined, undefined, undefined, undefined])
  t.strictSame(titlesOf(['FIRST_NAME', 'VAT']), ['First name', 'Vat'])
  t.strictSame(titlesOf(['first_name', 'id_', '🦄'], { id: 'key', first_name: 'first name?', id_: 'id' }),
    [undefined, 'Id', undefined])
  t.strictSame(titlesOf(['constructor', 'toString']), [undefined, undefined], 'names that every object inherits')
  const own = describeTable({
    attributes: { type: 'object', properties: { NAME: { type: 'string', title: 'Full name' } } }
  })
  t.same(addTitles(own), own.attributes)
})

t.test('references lead to served tables whose ids have the type of the attribute', async (t) => {
  const find = (attributes: AttributesSchema, references: Record<string, string>): unknown =>
    findReferences(describeTable({ attributes, references }), (table) => ({
      Artist: { name: 'artists', table: describeTable() },
      users: { name: 'users', table: describeTable({ id: 'uuid' }) }
    })[table])
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Artist' }), { ArtistId: 'artists' })
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Missing' }), {}, 'the table is not served')
  t.strictSame(find(attributesOf('user_id'), { user_id: 'users' }), {}, 'the ids have another type')
  t.strictSame(find(attributesOf('artist'), { artist: 'Artist' }), { artist: 'artists' },
    'the relation is not called like the attribute')
  t.strictSame(find(attributesOf('first', 'second'), { first: 'Artist', second: 'Artist' }),
    { first: 'artists', second: 'artists' }, 'two relations have different names')
  t.strictSame(find(attributesOf('artist', 'artistRow'), { artist: 'Artist' }), {},
    'both names of the relation are those of attributes')
  t.strictSame(find(attributesOf('ArtistId'), { AlbumId: 'Artist' }), {}, 'the attribute is not served')
  const hidden = { type: 'object', properties: { ArtistId: { type: 'integer', writeOnly: true } } } as const
  t.strictSame(find(hidden, { ArtistId: 'Artist' }), {}, 'the attribute is never shown')
  const nullable = { type: 'object', properties: { user_id: { type: ['string', 'null'], format: 'uuid' } } } as const
  t.strictSame(find(nullable, { user_id: 'users' }), { user_id: 'users' })
  const mixed = { type: 'object', properties: { ArtistId: { type: ['integer', 'string'] } } } as const
  t.strictSame(find(mixed, { ArtistId: 'Artist' }), {}, 'the attribute may have another type')
})

const defaults = {
  source: 'a.sqlite',
  isUrl: false,
  write: false,
  only: undefined,
  except: undefined,
  schema: undefined,
  port: 3000,
  host: '127.0.0.1',
  prefix: '',
  origins: [],
  users: [],
  hidden: [],
  indexes: [],
  stamps: [],
  open: false,
  print: false
}

const userOf = (name: string, password: string, role?: string): object =>
  ({ name, credentials: `${name}:${password}`, role })

t.test('arguments become settings', async (t) => {
  const url = 'postgres://ann:secret@localhost/shop'
  const cases: ReadonlyArray<readonly [argv: string, settings: unknown, environment?: NodeJS.ProcessEnv]> = [
    ['a.sqlite', defaults],
    ['a.sqlite --write --open --print', { ...defaults, write: true, open: true, print: true }],
    ['--port 8080 a.sqlite --host=0.0.0.0', { ...defaults, port: 8080, host: '0.0.0.0' }],
    ['a.sqlite --only a,b --only c --except=d', { ...defaults, only: ['a', 'b', 'c'], except: ['d'] }],
    ['a.sqlite --user ann:se:cret', { ...defaults, users: [userOf('ann', 'se:cret')] }],
    ['a.sqlite --hide a.b,a.b.c', {
      ...defaults,
      hidden: [
        { table: 'a', attribute: 'b', role: undefined }, { table: 'a.b', attribute: 'c', role: undefined }
      ]
    }],
    ['a.sqlite --user ann:se:cret:clerk --user bob:b --hide clerk:a.b', {
      ...defaults,
      users: [userOf('ann', 'se:cret', 'clerk'), userOf('bob', 'b')],
      hidden: [{ table: 'a', attribute: 'b', role: 'clerk' }]
    }],
    ['a.sqlite --write --user ann:a --stamp by --stamp c,d', {
      ...defaults, write: true, users: [userOf('ann', 'a')], stamps: ['by', 'c', 'd']
    }],
    ['a.sqlite --prefix /a/b-1.c', { ...defaults, prefix: '/a/b-1.c' }],
    ['a.sqlite --origin https://a.example --origin http://b:81',
      { ...defaults, origins: ['https://a.example', 'http://b:81'] }],
    ['a.sqlite', defaults, { DATABASE_URL: url }],
    ['', { ...defaults, source: url, isUrl: true }, { DATABASE_URL: url }],
    [`${url} --schema sales --schema hr,b`, { ...defaults, source: url, isUrl: true, schema: ['sales', 'hr', 'b'] }],
    ['a.sqlite --search a=b,c.d=e --search f=g=h', {
      ...defaults,
      indexes: [{ table: 'a', index: 'b' }, { table: 'c.d', index: 'e' }, { table: 'f', index: 'g=h' }]
    }],
    ['--help', 'help'],
    ['--version', 'version']
  ]
  for (const [argv, settings, environment = {}] of cases) {
    t.strictSame(parseSettings(argv.split(' ').filter((text) => text !== ''), environment), settings, argv)
  }
})

t.test('wrong arguments throw an error of one line', async (t) => {
  const cases: ReadonlyArray<readonly [argv: string, message: string]> = [
    ['', 'Name a database: fastify-resources FILE|URL'],
    ['a.sqlite b.sqlite', 'Name one database, not also "b.sqlite". Separate names of tables by commas only.'],
    ['a.sqlite --wirte', 'There is no option --wirte; did you mean --write? See --help.'],
    ['a.sqlite --authentication', 'There is no option --authentication. See --help.'],
    ['a.sqlite --write=1', '--write takes no value.'],
    ['a.sqlite --port', '--port needs a value, as in --port=VALUE. See --help.'],
    ['a.sqlite --only=', '--only needs a value, as in --only=VALUE. See --help.'],
    ['a.sqlite --port 3k', '--port must be a number up to 65535, not "3k"'],
    ['a.sqlite --user ann', '--user must be a name and a password, as in --user ann:secret'],
    ...['tables', '/', '/a/', '/a//b', '/:a', '/a/..', '/a?b'].map((prefix) =>
      [`a.sqlite --prefix ${prefix}`, `--prefix must be a path such as /tables, not "${prefix}"`] as const),
    ...['a.example', 'https://a.example/', 'https://A.example', 'file://a', 'null'].map((origin) =>
      [`a.sqlite --origin ${origin}`,
        `--origin must be a scheme and a host such as https://tables.example.com, not "${origin}"`] as const),
    ['a.sqlite --schema sales', '--schema is for PostgreSQL. Leave it out for a file.'],
    ['mysql://localhost/shop', 'A URL must begin with postgres://, not with mysql:// Other databases are not served.']
  ]
  for (const [argv, message] of cases) {
    const parse = (): unknown => parseSettings(argv.split(' ').filter((text) => text !== ''), {})
    t.throws(parse, { constructor: CommandError, message, exitCode: 2 }, argv)
  }
})
