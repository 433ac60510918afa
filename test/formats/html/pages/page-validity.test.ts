import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { HtmlValidate } from 'html-validate'
import { SaxesParser } from 'saxes'
import t, { type Test } from 'tap'
import { takePages, takeSpecimenPages } from '../../../support/html/chromium.js'
import resources, { draw, home, memoryStore, ReferencedError, type ResourceOptions } from '../../../../lib/index.js'
import { type Brand, markup } from '../../../../lib/html/index.js'
import { build } from '../../../support/helper.js'
import { elementsOf as elementsIn } from '../../../support/html/elements.js'
import { get, html, isSound, schemaOf } from '../../../support/html/page-tests.js'
import { findButton, findForm, submit } from '../../../support/html/forms.js'

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:standard', 'html-validate:recommended'],
  rules: {
    // The rule counts `&quot;` as six characters. A title has at most 50 characters beside its other words, as has that
    // of its parent.
    'long-title': ['error', { maxlength: 130 }],
    // A parser of XML reads the same pages. An empty element closes itself, and each attribute has a value.
    'void-style': ['error', { style: 'selfclose' }],
    'attribute-boolean-style': ['error', { style: 'name' }],
    // An id may have any characters except white space (HTML §3.2.6). Ours contain the names of attributes.
    'valid-id': ['error', { relaxed: true }]
  }
})

t.test('every page is valid HTML', async (t) => {
  const seen = new Set<string>()
  for (const { name, html } of [...(await takePages(t)).pages, ...(await takeSpecimenPages(t)).pages]) {
    // The validator is slow, so it skips a page whose elements and attributes others have had.
    const tags = html.match(/<[a-z]\w*(?: [\w-]+(?:="[^"]*")?)*/g)?.map((tag) => tag.replaceAll(/="[^"]*"/g, '')) ?? []
    if (tags.every((tag) => seen.has(tag))) continue
    for (const tag of tags) seen.add(tag)
    const { results } = await validator.validateString(html)
    t.strictSame(
      results.flatMap(({ messages }) => messages.map(({ ruleId, message, line, column }) => `${ruleId}: ${message} ` +
        `(${line}:${column})`)),
      [],
      name
    )
  }
})

t.test('every page is well-formed XML', async (t) => {
  const { pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const [lang, dir] = name.includes('right to left') ? ['ar', 'rtl'] : ['en', 'ltr']
    t.strictSame(elementsOf(xhtml)[0], ['html', { xmlns: 'http://www.w3.org/1999/xhtml', lang, dir }], name)
  }
})

t.test('every link within a page has a target, and every link to the stylesheet finds it', async (t) => {
  const { app, pages } = await takePages(t)
  for (const { name, xhtml } of pages) {
    const elements = elementsOf(xhtml)
    const ids = elements.flatMap(([, { id }]) => id === undefined ? [] : [id])
    const targets = elements.flatMap(([, { href = '' }]) => href.startsWith('#') ? [href.slice(1)] : [])
    t.strictSame(targets.filter((target) => !ids.includes(target)), [], name)
    const href = elements.find(([, { rel }]) => rel === 'stylesheet')?.[1].href as string
    const { statusCode, headers } = await app.inject(href)
    t.strictSame([statusCode, headers['content-type']], [200, 'text/css; charset=utf-8'], href)
  }
})

t.test('every link leads to a page', async (t) => {
  const { app, pages } = await takePages(t)
  const links = new Map(pages.flatMap(({ name, xhtml }) => linksIn(xhtml).map((href) => [href, name])))
  for (const [href, name] of links) {
    const { statusCode, headers } = await app.inject({ url: href, headers: { accept: 'text/html' } })
    // The link to a missing cover leads to the form that creates one.
    const status = /\/cover$/.test(href) && statusCode === 404 ? 404 : 200
    t.match([statusCode, headers['content-type']], [status, /^text\/html|^application\/(?:json|xml)/],
      `${name}: ${href}`)
  }
})

t.test('the page of a deleted row leads to its list', async (t) => {
  const { app } = await takePages(t)
  for (const [url, list] of [['/specimens', '/specimens'], ['/flat/comments', '/flat/posts/2/comments']] as const) {
    const { statusCode, headers } = await app.inject({
      method: 'POST',
      url,
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: '_method=DELETE&id=1'
    })
    t.strictSame([statusCode, headers.location], [303, list])
  }
})

function linksIn (xhtml: string): string[] {
  return elementsOf(xhtml).flatMap(([name, { href }]) => name === 'a' && /^\/(?!brokens\b)/.test(href ?? '')
    ? [href as string]
    : [])
}

/** Returns every element with its attributes, in the order of the page. */
function elementsOf (xhtml: string): Array<[name: string, attributes: Record<string, string>]> {
  const elements: Array<[string, Record<string, string>]> = []
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => { elements.push([name, { ...attributes as Record<string, string> }]) })
  parser.on('error', (error) => { throw error })
  parser.write(xhtml).close()
  return elements
}

const page = { accept: 'text/html' }

async function refusal (options: object): Promise<string | undefined> {
  const app = fastify()
  try {
    app.register(resources, { name: 'posts', ...options })
    await app.ready()
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await app.close()
  }
}

t.test('a brand is on every page, and the policy allows its files', async (t) => {
  const brand: Brand = {
    name: 'A & B',
    logo: 'https://img.example/l.svg',
    font: '"My Font", serif',
    density: 'compact',
    stylesheet: 'https://css.example/a.css?b=1',
    head: markup`<meta name="x" content="y"/>`,
    header: '<b>',
    footer: ({ request, lang }) => markup`<p>${request.headers['x-user']} ${lang}</p>`
  }
  const app = await build(t, { name: 'posts', html: { brand } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { a: '1' } } })
  for (const url of ['/posts', '/posts/1', '/posts/9', '/posts?limit=x']) {
    for (const user of ['Ann', '<i>']) {
      const { body, headers } = await app.inject({ url, headers: { ...page, 'x-user': user } })
      t.match(body, / &#8211; A &amp; B<\/title>|<title>[^<]*A &amp; B<\/title>/)
      t.match(
        body,
        '<div class="bar"><ul><li class="brand"><span><img src="https://img.example/l.svg" alt=""/>A &amp; B</span>' +
          '</li></ul></div>'
      )
      t.match(body, '<link rel="stylesheet" href="https://css.example/a.css?b=1"/>')
      t.match(body, '<meta name="x" content="y"/>\n</head>')
      t.match(body, '<header>&lt;b&gt;')
      t.match(body, `<p>${user === 'Ann' ? 'Ann' : '&lt;i&gt;'} en</p></footer>`)
      t.match(
        headers['content-security-policy'],
        "style-src 'self' https://css.example; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
          'font-src https://css.example; img-src https://img.example'
      )
    }
  }
  const { headers: { etag } } = await app.inject({ url: '/posts/1', headers: page })
  t.equal((await app.inject({ url: '/posts/1', headers: { ...page, 'if-none-match': String(etag) } })).statusCode, 200,
    'a part may depend on the user')
  const [, url = ''] = /<link rel="stylesheet" href="(\/[^"]*)"/.exec(
    (await app.inject({ url: '/posts', headers: page })).body
  ) ?? []
  const css = (await app.inject(url)).body
  t.match(css, 'body,.list td::before{font-family:"My Font", serif}')
  t.ok(css.length <= 18_432, `${css.length} bytes`)
})

t.test('a brand without functions leaves a page unchanged for all, and own directives come first', async (t) => {
  const app = await build(t, {
    name: 'posts',
    html: {
      brand: { name: 'N', logo: '/l.svg', stylesheet: '/s.css', footer: 'f', head: null, header: false },
      contentSecurityPolicy: { 'img-src': '*' }
    }
  })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { a: '1' } } })
  const { headers, body } = await app.inject({ url: '/posts/1', headers: page })
  t.match(headers['content-security-policy'], /style-src 'self';.*font-src 'self'; img-src \*/)
  t.match(body, 'f</footer>')
  t.equal(
    (await app.inject({ url: '/posts/1', headers: { ...page, 'if-none-match': String(headers.etag) } })).statusCode, 304
  )
})

t.test('the home page has the brand, and leads home from the bar', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const brand: Brand = { name: 'Shop', logo: '/l.svg', font: 'serif', header: ({ lang }) => `in ${lang}` }
  app.register(home, { title: 'Home', accent: '#0a7d4f', brand })
  app.register(draw((map) => map.resources('posts'), { html: { brand, lang: 'de', timeZone: 'Asia/Tokyo' } }))
  const { body, headers } = await app.inject({ url: '/', headers: page })
  t.match(
    body,
    new RegExp('<title>Home &#8211; Shop</title>[^]*<a href="/" aria-current="page"><img src="/l.svg" alt=""/>' +
      'Shop</a>[^]*<header>in en</header>')
  )
  t.match(headers['content-security-policy'], "img-src 'self'")
  t.match((await app.inject({ url: '/posts', headers: page })).body,
    /lang="de"[^]*<li class="brand"><a href="\/"><img src="\/l.svg" alt=""\/>Shop<\/a>/)
})

t.test('the resources of a map share one stylesheet, unless their hooks or constraints differ', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const hooks = { onRequest: async () => {} }
  app.register(draw((map) => map
    .resources('posts', { store: memoryStore() }, (posts) => posts.resources('comments'))
    .resources('guarded', { hooks }).resources('beside', { hooks })
    .resources('red', { html: { accent: '#f00' } })
    .resources('hosted', { routeConstraints: { host: 'a.example' } })
    .resources('forms', { only: [] as never[], store: memoryStore() }, (forms) => forms.resources('fields'))))
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { a: '1' } } })
  const sheetOf = async (url: string, host = 'x'): Promise<string> => {
    const { body } = await app.inject({ url, headers: { ...page, host } })
    const [, path = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(body) ?? []
    const res = await app.inject({ url: path, headers: { host } })
    t.match(res,
      { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': /immutable/ } }, url)
    return path.replace(/\.[\da-f]+\./, '.')
  }
  t.equal(await sheetOf('/posts'), '/posts/pages.css')
  t.equal(await sheetOf('/posts/1/comments'), '/posts/pages.css')
  t.equal(await sheetOf('/forms/1/fields'), '/posts/pages.css')
  t.equal(await sheetOf('/guarded'), '/guarded/pages.css')
  t.equal(await sheetOf('/beside'), '/guarded/pages.css')
  t.equal(await sheetOf('/red'), '/red/pages.css')
  t.equal(await sheetOf('/hosted', 'a.example'), '/hosted/pages.css')
})

t.test('an invalid brand or time zone throws at registration, with the cure', async (t) => {
  const cases: Array<[options: object, says: RegExp]> = [
    [{ brand: null }, /"html.brand" of resource "posts" must be an object such as \{ name: 'Tea shop' \}, not null/],
    [{ brand: { nam: 'x' } }, /has "nam", which is unknown; did you mean "name"\?/],
    [{ brand: { name: ' ' } }, /has "name", which must be a text/],
    [{ brand: { name: 'x', logo: 'logo.svg' } }, /has "logo", which must be a path/],
    [{ brand: { logo: '/l.svg' } }, /has a "logo", but no "name"/],
    [{ brand: { font: 'a;}b' } }, /has "font", which must be a list of fonts/],
    [{ brand: { density: 'tight' } }, /has "density", which must be 'comfortable' or 'compact', not 'tight'/],
    ...['//x.example/a.css', 'a.css', 'https://', '/a b', 'javascript:1', 5].map((stylesheet): [object, RegExp] => [
      { brand: { stylesheet } }, /has "stylesheet", which must be a path/
    ]),
    [{ timeZone: 'Mars' },
      /"html.timeZone" of resource "posts" must be a time zone such as 'Europe\/Berlin', not 'Mars'/],
    [{ timeZone: 5 }, /must be a time zone/]
  ]
  for (const [options, says] of cases) t.match(await refusal({ html: options }), says, JSON.stringify(options))
  t.equal(await refusal({ html: { brand: { name: 'x', font: undefined } } }), undefined)
})

t.test('dates and times are shown in the time zone of the app', async (t) => {
  const store = memoryStore()
  store.create({ at: '2026-07-01T22:30:00-05:00' }, {})
  const options: ResourceOptions = {
    name: 'posts', attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }, store
  }
  const shown = async (more: { readonly timeZone?: string }, url: string): Promise<string | undefined> =>
    /<time datetime="2026-07-01T22:30:00-05:00">([^<]*)</.exec(
      (await (await build(t, { ...options, html: { lang: 'de', ...more } })).inject({ url, headers: page })).body
    )?.[1]
  for (const url of ['/posts', '/posts/1']) {
    t.equal(await shown({}, url), '01.07.2026, 22:30 -05:00')
    t.equal(await shown({ timeZone: 'Europe/Berlin' }, url), '02.07.2026, 05:30')
  }
})

const attributes = schemaOf({ title: { type: 'string', minLength: 1 }, rating: { type: 'integer', maximum: 5 } })
const long = 'x'.repeat(81)
const put = { method: 'PUT', url: '/posts', headers: { ...html, 'content-type': 'application/json' } } as const

function thrown (message: string, statusCode: number): Error {
  return Object.assign(new Error(message), { statusCode })
}

const cases: ReadonlyArray<[
  what: string, request: InjectOptions | string, status: number, says: readonly string[], german: readonly string[]
]> = [
  ['a record', '/posts/9', 404, ['This post does not exist', 'there is no post with the id 9'],
    ['Beitrag existiert nicht', 'Es gibt keinen Eintrag mit der ID 9.']],
  ['a parent of the path', '/posts/9/comments', 404, ['This post does not exist', 'there is no post with the id 9'],
    ['Beitrag existiert nicht', 'Es gibt keinen Eintrag mit der ID 9.']],
  ['a single record', '/posts/1/cover', 404, ['This cover does not exist', 'there is no cover here'],
    ['Cover existiert nicht', 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.']],
  ['a list that is hidden', '/drafts', 404, ['This page does not exist', 'there is no draft here'],
    ['Diese Seite existiert nicht', 'Hier gibt es nichts. Vielleicht wurde der Eintrag gelöscht.']],
  ['a 404 of the app without a message', '/posts?bare', 404, ['This page does not exist'],
    ['Diese Seite existiert nicht']],
  ['a 404 of the app', '/posts?gone', 404, ['Gone fishing'], ['Gone fishing']],
  ['an error of the app without a message', '/posts?stop', 403, ['Forbidden'], ['Keine Berechtigung']],
  ['a refused deletion, before the row is known', { method: 'DELETE', url: '/posts?tied', headers: html }, 409,
    ['Other rows still refer to it; delete or change them first'],
    ['Es gibt ein Problem',
      'Andere Einträge verweisen noch darauf (other rows). Löschen oder ändern Sie diese zuerst.']],
  ['a refusal', '/rules', 403, ['You are not allowed to list rules'],
    ['Für diese Aktion fehlt Ihnen die Berechtigung.']],
  ['one message about an attribute', { ...put, payload: { id: 1, post: { rating: 9 } } }, 422,
    ['Rating must be at most 5'], ['„rating“ darf höchstens 5 sein']],
  ['several messages', { ...put, payload: { id: 1, post: { title: '', rating: 9 } } }, 422,
    ['There is a problem', 'title must not be blank', 'rating must be at most 5'],
    ['Es gibt ein Problem', '„title“ darf nicht leer sein', '„rating“ darf höchstens 5 sein']]
]

t.test('the page of an error says in a sentence what is wrong', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async ({ url }) => {
    if (url.endsWith('?bare')) throw thrown('Not Found', 404)
    if (url.endsWith('?gone')) throw thrown('gone fishing', 404)
    if (url.endsWith('?stop')) throw thrown('', 403)
    if (url.endsWith('?tied')) throw new ReferencedError()
    if (url.endsWith('?long')) throw thrown(long, 400)
  })
  const phrases = { post: 'Beitrag' }
  const shared = {
    attributes, html: { lang: ['en', 'de'], messages: (lang: string) => lang === 'de' ? { phrases } : {} }
  }
  app.register(draw((map) => {
    map.resources('posts', shared, (posts) => {
      posts.resources('comments', shared)
      posts.resource('cover', shared)
    })
    map.resource('profile', shared, (profile) => profile.resources('links', shared))
    map.resources('side_notes', { ...shared, path: 'side-notes' })
    map.resources('drafts', { ...shared, authorize: () => 'hide' })
    map.resources('rules', { ...shared, authorize: () => false })
  }))
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T', rating: 1 } } })
  for (const [what, request, status, ...languages] of cases) {
    for (const [index, [title = '', ...texts]] of languages.entries()) {
      const asked = typeof request === 'string' ? { url: request, headers: html } : request
      const page = await app.inject({
        ...asked, headers: { ...asked.headers, 'accept-language': ['en', 'de'][index] }
      })
      const elements = isSound(t, page, status)
      const textsOf = (name: string): string[] =>
        elements.filter((element) => element.name === name).map(({ text }) => text)
      t.strictSame(textsOf('h1'), [title], what)
      t.match(textsOf('title')[0]?.split('…')[0], title.slice(0, 50), what)
      const alert = /<div class="(?:empty|problem)" role="alert">[^]*?<\/div>/.exec(page.body)?.[0] ?? ''
      const said = elementsIn(alert).filter(({ name }) => name === 'p' || name === 'li').map(({ text }) => text)
      t.strictSame(said.slice(0, texts.length), texts, what)
      t.equal(said.length - texts.length, status === 404 && elementsIn(alert).some(({ name }) => name === 'a') ? 1 : 0)
    }
  }
})

const text = { type: 'string', maxLength: 40 } as const

async function serveOwn (t: Test): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(async () => app.close())
  const stores = { authors: memoryStore(), books: memoryStore() }
  for (let id = 1; id <= 51; id++) stores.authors.create({ name: `Author ${id}` }, {})
  stores.books.create({
    title: 'Notes',
    authorId: 1,
    parts: [{ label: 'A', pages: 3 }, { label: '', pages: 4 }],
    sizes: [{ pages: 3, label: 'A' }],
    inner: { more: [[{ label: 'B' }]] }
  }, {})
  const parts = { type: 'array', items: { type: 'object', properties: { label: text, pages: { type: 'integer' } } } }
  const sizes = { type: 'array', items: { type: 'object', properties: { pages: { type: 'integer' }, label: text } } }
  const more = { type: 'array', items: parts, title: 'Lists' }
  app.register(draw((map) => map
    .resources('authors', {
      attributes: { type: 'object', required: ['name'], properties: { name: text } }, store: stores.authors
    })
    .resources('books', {
      attributes: {
        type: 'object',
        required: ['title'],
        properties: {
          title: text,
          authorId: { type: 'integer' },
          parts: { ...parts, title: 'Parts & "pieces"' },
          sizes,
          inner: { type: 'object', properties: { more } }
        }
      } as const,
      references: { authorId: 'authors' },
      store: stores.books
    })))
  return app
}

/** Returns the names of the tables of a page, and the heads of the rows of all of them. */
function tablesOf (page: string): [names: Array<string | undefined>, heads: string[]] {
  const elements = elementsIn(page)
  return [
    elements.filter(({ name }) => name === 'table').map(({ attributes }) => attributes['aria-label']),
    elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'row').map(({ text }) => text)
  ]
}

t.test('each table has a name, and each row a head', async (t) => {
  const app = await serveOwn(t)
  const list = await get(app, '/books')
  isSound(t, list, 200)
  t.strictSame(tablesOf(list.body), [['Books'], ['Notes']])
  const record = await get(app, '/books/1')
  isSound(t, record, 200)
  t.strictSame(tablesOf(record.body), [['Parts & "pieces"', 'Sizes', 'Lists'], ['A', 'B']],
    'a number and a blank text name no row')
  t.strictSame(tablesOf((await get(app, '/authors/1')).body), [['Books'], ['Notes']], 'the rows that refer to a row')
  const form = findForm(list, 'POST')
  const chosen = await app.inject(submit(form, findButton(form, 'book[authorId][?][choose]'), html))
  const [names, heads] = tablesOf(chosen.body)
  t.strictSame([chosen.statusCode, names, heads.length], [422, ['Authors'], 20], 'the rows to choose from')
})
