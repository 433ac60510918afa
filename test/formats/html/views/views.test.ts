import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Attributes, draw, type Mapper, memoryStore, memoryStores, type ResourceOptions
} from '../../../../lib/index.js'
import {
  type Content, defaultViews, type Field, type Form, markup, Markup, type Page, raw, type
  Views
} from '../../../../lib/html/index.js'
import { fill, findForm, submit } from '../../../support/html/forms.js'
import { build } from '../../../support/helper.js'
import { elementsOf } from '../../../support/html/elements.js'
import { plainTag } from '../../../support/plain-tag.js'

const form = 'application/x-www-form-urlencoded'
const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 9 },
    author: { type: 'object', properties: { name: { type: 'string' } } },
    secret: { type: 'string', writeOnly: true },
    rating: { type: 'integer' }
  }
} as const
const row = { title: 'T & <b>', author: { name: 'N' }, secret: 'SECRET', rating: 5 }

async function seeded (
  t: Test, options: Omit<ResourceOptions, 'name'> = {}, rows: readonly Attributes[] = [row]
): Promise<FastifyInstance> {
  const store = memoryStore({ unique: ['title'] })
  for (const row of rows) store.create(row, {})
  return await build(t, { name: 'posts', attributes, store, ...options })
}

async function get (app: FastifyInstance, url: string): Promise<LightMyRequestResponse> {
  return await app.inject({ url, headers: { accept: 'text/html' } })
}

/**
 * The kinds of pages of any resource. A page to choose a row has its test in `test/http/relations`, and the import in
 * `test/formats/html/pages`.
 */
type Kind = Exclude<Page['kind'], 'choose' | 'import'>

/** A request for each of them. */
const requests: Readonly<Record<Kind, readonly [status: number, request: InjectOptions]>> = {
  list: [200, { url: '/posts' }],
  record: [200, { url: '/posts/1' }],
  edit: [422,
    { method: 'POST', url: '/posts', payload: '_method=PUT&id=1&_version=1&post[title]=&post[secret]=SECRET' }],
  chosen: [422, { method: 'POST', url: '/posts', payload: '_step=delete&id[]=1' }],
  stale: [412,
    { method: 'POST', url: '/posts', payload: '_method=PUT&id=1&_version=0&post[title]=mine&post[secret]=SECRET' }],
  error: [404, { url: '/posts/99' }]
}
const kinds = Object.keys(requests) as Kind[]

async function ask (app: FastifyInstance, kind: Kind): Promise<LightMyRequestResponse> {
  const [, request] = requests[kind]
  return await app.inject({
    ...request, headers: { accept: 'text/html', ...(request.method === 'POST' && { 'content-type': form }) }
  })
}

function mainOf (page: string): string | undefined {
  return /<main id="main">\n([^]*)<\/main>/.exec(page)?.[1]
}

t.test('a page by the app\'s own view never gives a 304, because it may show other data', async (t) => {
  for (const [
    what, views, statusCode
  ] of [['ours', {}, 304], ['one of its own', { record: () => String(Math.random()) }, 200]] as const) {
    const app = await seeded(t, { html: { views } })
    const { headers: { etag } } = await get(app, '/posts/1')
    t.equal(plainTag(etag), '"1.html"', what)
    t.equal((await app.inject({ url: '/posts/1', headers: { accept: 'text/html', 'if-none-match': etag } })).statusCode,
      statusCode, what)
    t.equal((await app.inject({ url: '/posts/1.json', headers: { 'if-none-match': '*' } })).statusCode, 304, what)
  }
})

t.test('the view of a page receives its model, and returns the content of the layout', async (t) => {
  for (const kind of kinds) {
    await t.test(kind, async (t) => {
      const seen: Page[] = []
      const view = (page: Page): Content => { seen.push(page); return markup`<p title="${page.title}">${kind}</p>` }
      const app = await seeded(t, { html: { views: { [kind]: view } } })
      for (const other of kinds) {
        const [status] = requests[other]
        const res = await ask(app, other)
        t.equal(res.statusCode, status)
        t.equal(mainOf(res.body)?.startsWith('<p title='), other === kind, other)
      }
      t.equal(seen.length, 1)
      const [page] = seen
      t.match(page, {
        kind,
        title: String,
        resource: { plural: 'posts', singular: 'post', path: '/posts' },
        stylesheet: /^\/posts\/pages\./,
        lang: 'en',
        dir: 'ltr',
        messages: { save: 'Save changes' },
        xhtml: false
      })
      t.equal(mainOf((await ask(app, kind)).body), markup`<p title="${page?.title}">${kind}</p>`.toString())
      t.notMatch(JSON.stringify({ ...page, request: undefined }), 'SECRET', 'no model has writeOnly values')
    })
  }
})

t.test('a model has the data of its page', async (t) => {
  const pages = new Map<string, Page>()
  const note = (page: Page): Content => { pages.set(page.kind, page); return '' }
  const app = await seeded(
    t,
    { html: { views: { list: note, record: note, edit: note, stale: note, error: note }, pageSize: 1 } },
    [row, { title: 'U' }]
  )
  for (const kind of kinds) await ask(app, kind)
  t.match(pages.get('list'), {
    title: 'Posts',
    parent: undefined,
    alternates: [{ label: 'XML', href: '/posts.xml', mediaType: 'application/xml' },
      { label: 'JSON', href: '/posts.json', mediaType: 'application/json' }],
    columns: [
      { name: 'title', numeric: false, sort: { label: 'Title', href: '/posts?sort=title' }, sorted: undefined },
      { name: 'id', label: 'Id', numeric: false, sort: { href: '/posts?sort=-id' } },
      { name: 'author', sort: undefined },
      { name: 'rating', numeric: true }
    ],
    rows: [{
      id: 1,
      version: '1',
      title: 'T & <b>',
      href: '/posts/1',
      attributes: { title: 'T & <b>', author: { name: 'N' }, rating: 5 },
      cells: [Markup, Markup, Markup, Markup]
    }],
    table: Markup,
    next: { label: 'Next page', href: /^\/posts\?after=/ },
    first: undefined,
    filter: { action: '/posts', add: { name: 'filter[by]' }, open: undefined, clear: undefined },
    create: { kind: 'create', action: '/posts', submit: 'Create post', errors: [] }
  })
  const list = pages.get('list') as Page & { kind: 'list' }
  t.strictSame(list.rows[0]?.cells.map(String), ['<a href="/posts/1">T &amp; &lt;b&gt;</a>', '1', 'N', '5'])
  t.strictSame(Object.keys(list.rows[0]?.attributes ?? {}), ['title', 'author', 'rating'])
  t.match(pages.get('record'), {
    title: 'T & <b>',
    parent: { label: 'Posts', href: '/posts' },
    id: 1,
    version: '1',
    values: [{ name: 'title', label: 'Title', anchor: ':title', value: 'T & <b>', markup: Markup },
      { name: 'author', value: { name: 'N' } }, { name: 'rating', value: 5 }],
    edit: {
      kind: 'update',
      hidden: [{ name: '_method', value: 'PUT' }, { name: 'id', value: '1' }, { name: '_version', value: '1' },
        { name: 'post[?][was]', value: /^title [\w-]+ author [\w-]+ rating [\w-]+$/ }],
      submit: 'Save changes'
    },
    delete: {
      kind: 'delete',
      hidden: [{ name: '_method', value: 'DELETE' }, { name: 'id', value: '1' }, { name: '_version', value: '1' }]
    }
  })
})

t.test('the views of a form and of a field are used in every page', async (t) => {
  const fields: Field[] = []
  const forms: Form[] = []
  const app = await seeded(t, {
    html: {
      views: {
        form (form, page, views) {
          forms.push(form)
          return markup`<form class="mine" action="${form.action}">${form.fields.map((field) => views.field(field, page,
            views))}</form>`
        },
        field (field, page, views) {
          fields.push(field)
          return field.control === 'group' ? defaultViews.field(field, page, views) : markup`<i>${field.label}</i>`
        }
      }
    }
  })
  const expected: Array<[kind: Kind, forms: string[], fields: string[]]> = [
    ['list', ['create'], ['title', 'author', 'author][name', 'secret', 'rating']],
    ['record', ['delete', 'update'], ['title', 'author', 'author][name', 'secret', 'rating']],
    ['edit', ['update'], ['title', 'author', 'author][name', 'secret', 'rating']],
    // The page of a conflict is a form of its own, with choices between its fields. What nobody has changed comes last.
    ['stale', [], ['title', 'secret', 'author', 'author][name', 'rating']],
    ['error', [], []]
  ]
  for (const [kind, kindsOfForms, names] of expected) {
    fields.length = forms.length = 0
    const { body } = await ask(app, kind)
    t.strictSame(forms.map(({ kind }) => kind), kindsOfForms, kind)
    t.strictSame(fields.map(({ name }) => name), names.map((name) => `post[${name}]`), kind)
    t.equal(body.match(/<i>/g)?.length ?? 0, names.length === 0 ? 0 : 4, kind)
    t.notMatch(JSON.stringify(fields), 'SECRET')
  }
})

t.test('the layout receives the content as markup', async (t) => {
  const app = await seeded(t, {
    html: {
      views: {
        layout: (page, content, views) =>
          markup`<!DOCTYPE html><html><title>${page.title}</title>${content instanceof Markup}${Object.keys(
          views
        ).join()}<body>${content}</body></html>`,
        error: () => raw('<hr/>')
      }
    }
  })
  t.equal(
    (await ask(app, 'error')).body,
    '<!DOCTYPE html><html><title>This post does not exist</title>truelayout,list,record,edit,choose,chosen,' +
      'import,stale,error,form,field<body><hr/></body></html>'
  )
})

t.test('the text of a view is escaped unless it is markup', async (t) => {
  const bold = markup`<b>${'<i>'}</b>`
  const cases: Array<[name: string, content: Content, text: string]> = [
    ['a text', '<script>alert("1")</script>\n\'&', '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#10;\'&amp;'],
    ['markup', bold, '<b>&lt;i&gt;</b>'], ['raw markup', raw('<b>"&amp;"</b>'), '<b>"&amp;"</b>'],
    ['a list', ['<', bold, ['>', 1, [null]], undefined], '&lt;<b>&lt;i&gt;</b>&gt;1'], ['a number', -0.5, '-0.5'],
    ['zero', 0, '0'], ['true', true, 'true'], ['false', false, ''], ['null', null, ''], ['undefined', undefined, ''],
    ['the empty text', '', ''], ['half a character', '\ud800', '\ufffd'],
    ['what no document can have', '\u0000\u0007', '\ufffd\ufffd'],
    ['what only looks like markup', { toString: () => '<b>' } as unknown as Content, '&lt;b&gt;']
  ]
  let shown: Content
  const apps = new Map<Kind, FastifyInstance>()
  for (const kind of ['list', 'error'] as const) {
    apps.set(kind, await seeded(t, { html: { views: { [kind]: () => shown } } }))
  }
  const editing = await seeded(t, {
    html: {
      views: {
        field: () => shown,
        form: ({ fields }, page, views) => markup`[${fields.map((field) => views.field(field, page, views))}]`
      }
    }
  })
  for (const [name, content, text] of cases) {
    await t.test(name, async (t) => {
      shown = content
      for (const [kind, app] of apps) t.equal(mainOf((await ask(app, kind)).body), text, kind)
      t.match((await ask(editing, 'edit')).body, `[${text.repeat(4)}]`, 'field')
      t.equal(markup`${content}`.toString(), text, 'in a template')
      t.equal(markup`<p title="${content}">${[content]}</p>`.toString(), `<p title="${text}">${text}</p>`)
    })
  }
})

t.test('a template keeps its own markup, and escapes its values once', async (t) => {
  t.equal(markup`<p>\n&amp;"'</p>`.toString(), '<p>\n&amp;"\'</p>')
  t.equal(markup`${'a&b'}${markup`${'a&b'}${markup`${'<'}`}`}`.toString(), 'a&amp;ba&amp;b&lt;')
  t.equal(markup``.toString(), '')
  t.equal(`${markup`<b/>`}`, '<b/>', 'in an ordinary template string too')
  t.equal(markup`${'"><script>'}`.toString(), '&quot;&gt;&lt;script&gt;')
  t.equal(markup`${JSON.parse('{"text":"<b>","#text":"<b>"}') as Content}`.toString(), '[object Object]',
    'an object of other code is not markup')
  t.equal(markup`${{ toString: () => '<b>' } as unknown as Content}`.toString(), '&lt;b&gt;', 'its text is escaped')
})

t.test('a view may wrap the default one', async (t) => {
  const app = await seeded(t, {
    html: {
      views: {
        layout: (page, content, views) => markup`${raw(String(defaultViews.layout(
          page, markup`<aside>mine</aside>${content}`, views
        )).replace('</head>', '<meta name="author" content="me"/></head>'))}`,
        list: (page, views) => [markup`<p>before</p>`, defaultViews.list(page, views)],
        field: (field, page, views) => markup`<div class="mine">${defaultViews.field(
          { ...field, label: `${field.label}!` }, page, views
        )}</div>`
      }
    }
  })
  const { body } = await ask(app, 'list')
  t.match(body, '<meta name="author" content="me"/></head>')
  t.match(mainOf(body), /^<aside>mine<\/aside><p>before<\/p><div class="title">/)
  t.match(body, '<legend>Author! ')
  t.match(body, '>Name! <')
  t.equal((await app.inject(submit(fill(findForm(body, 'POST'), { 'post[title]': 'new' })))).statusCode, 303,
    'the form still works')
})

t.test('the views of one resource do not affect another', async (t) => {
  const before = { ...defaultViews }
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', attributes, html: { views: { list: () => 'mine' } } })
  app.register(resources, { name: 'people', attributes })
  await app.ready()
  t.equal(mainOf((await get(app, '/posts')).body), 'mine')
  t.match(mainOf((await get(app, '/people')).body), 'There are no people yet')
  t.strictSame(defaultViews, before)
  t.ok(Object.isFrozen(defaultViews), 'the default views are frozen')
})

t.test('a view that fails gives a 500 that reveals nothing', async (t) => {
  const fail = (): never => { throw new Error('INSIDE') }
  const cases: Array<[views: Partial<Views>, kind: Kind, isPage: boolean]> = [
    [{ list: fail }, 'list', true], [{ record: fail }, 'record', true], [{ form: fail }, 'list', true],
    [{ field: fail }, 'record', true], [{ edit: fail }, 'edit', false], [{ form: fail }, 'edit', false],
    [{ stale: fail }, 'stale', true], [{ field: fail }, 'stale', true], [{ error: fail }, 'error', false],
    [{ layout: fail }, 'list', false], [{ layout: fail }, 'error', false], [{ list: fail, error: fail }, 'list', false],
    [{ list: (page, views) => views.list(page, views) }, 'list', true],
    [{ field: (field, page, views) => views.field(field, page, views) }, 'record', true]
  ]
  for (const [views, kind, isPage] of cases) {
    await t.test(`${Object.keys(views).join()} of ${kind}`, async (t) => {
      const lines: string[] = []
      const app = fastify({ logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } })
      t.teardown(() => app.close())
      const store = memoryStore()
      store.create(row, {})
      app.register(resources, { name: 'posts', attributes, store, html: { views } })
      await app.ready()
      const res = await ask(app, kind)
      t.equal(res.statusCode, 500)
      t.notMatch(res.body, /INSIDE|call stack|node_modules/)
      t.equal(res.headers['content-security-policy'],
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
      t.equal(res.headers.etag, undefined)
      t.ok(lines.some((line) => /INSIDE|call stack/.test(line)), 'the error is logged')
      // The error page of a refused form may fail and become text. The error page of a read must not.
      if (isPage && kind !== 'stale') t.match(mainOf(res.body), '<h1>Something went wrong on the server</h1>')
      t.match(res.headers['content-type'], /^text\/(?:html|plain); charset=utf-8$/)
      t.equal((await app.inject('/posts.json')).statusCode, 200, 'the app still works')
    })
  }
})

t.test('a view that returns a promise gives a 500, and no text of it is shown', async (t) => {
  const app = await seeded(t, {
    html: { views: { list: (() => Promise.resolve('later')) as unknown as Views['list'] } }
  })
  const res = await ask(app, 'list')
  t.equal(res.statusCode, 500)
  t.notMatch(res.body, '[object Promise]')
})

t.test('a page declares its language and direction', async (t) => {
  const cases: Array<[lang: string, tag: string, dir: string]> = [
    ['fa', 'fa', 'rtl'], ['ur', 'ur', 'rtl'], ['yi', 'yi', 'rtl'], ['iw', 'he', 'rtl'],
  ]
  for (const [lang, tag, dir] of cases) {
    const app = await seeded(t, { html: { lang } })
    for (const kind of ['list', 'error'] as const) {
      t.match((await ask(app, kind)).body, `lang="${tag}" dir="${dir}">`, `${lang} ${kind}`)
    }
  }
})

/** Returns the contrast ratio of WCAG 2.2. */
function contrast (a: string, b: string): number {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\da-f]{2}/gi) ?? []).map((pair) => parseInt(pair,
      16) / 255).map((share) => share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

async function coloursOf (app: FastifyInstance): Promise<Array<Record<string, string>>> {
  const [, url = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec((await get(app, '/posts')).body) ?? []
  const { body } = await app.inject(url)
  return [...body.matchAll(/:root\{([^}]*)\}/g)].map(([, rules = '']) => Object.fromEntries(
    rules.split(';').map((rule) => rule.replace(/^--/, '').split(':') as [string, string])
  )).filter((rules) => rules['on-fill'] !== undefined)
}

const accents = ['#fff', '#000', '#ff0', '#777', '#1d5fd1', '#00ff00', '#ff00ff', '#767676', '#e60']

t.test('texts are readable with any accent', async (t) => {
  for (const accent of accents) {
    const schemes = await coloursOf(await seeded(t, { html: { accent } }))
    t.equal(schemes.length, 2, 'light and dark')
    for (const [index, colours] of schemes.entries()) {
      const scheme = `${accent} ${index === 0 ? 'light' : 'dark'}`
      const {
        page = '', surface = '', accent: shown = '', fill = '', 'on-fill': ink = '', text = '', muted = '', wash = '',
        hover = '', danger = '', 'on-danger': onDanger = ''
      } = colours
      for (const [
        name, front, back
      ] of [
          ['accent on page', shown, page], ['accent on surface', shown, surface],
          ['accent on a row that is pointed at', shown, hover], ['ink on a button', ink, fill],
          ['text on page', text, page], ['text on surface', text, surface], ['text on wash', text, wash],
          ['text on hover', text, hover], ['muted on page', muted, page], ['muted on surface', muted, surface],
          ['muted on hover', muted, hover], ['danger on surface', danger, surface], ['danger on page', danger, page],
          ['danger on wash', danger, wash], ['ink on danger', onDanger, danger]
        ] as const) {
        t.ok(contrast(front, back) >= 4.5, `${scheme}: ${name} has ${contrast(front, back).toFixed(2)} of 4.5`)
      }
    }
  }
})

/** Options that a caller without TypeScript may write. */
type Mistaken = Readonly<Record<string, unknown>>

async function refusal (options: Mistaken): Promise<{ code?: string, message: string } | undefined> {
  const app = fastify()
  app.register(resources, { name: 'posts', attributes, ...options } as unknown as ResourceOptions)
  try {
    await app.ready()
    return undefined
  } catch (error) {
    return error as { message: string }
  } finally {
    await app.close()
  }
}

t.test('an invalid option of the pages throws at registration, with the cure', async (t) => {
  const cases: Array<[option: string, values: unknown[], says: RegExp]> = [
    ['views', [null, 'list', [], () => ''], /must be an object, not /],
    ['views', [{ lists: () => '' }], /has "lists", which is unknown; did you mean "list"\?/],
    ['views', [{ toString: () => '' }], /has "\w+", which is unknown\.$/],
    ['views', [{ list: 'text' }], /has "list", which must be a function, not /],
    ['messages', [5, [], () => null], /must be an object, not /],
    ['messages', [{ svae: 'x' }], /has "svae", which is unknown; did you mean "save"\?/],
    ['messages', [{ save: 5 }], /has "save", which must be a string, not /],
    ['messages', [{ record: 'Post' }], /has "record", which must be a function, not /],
    ['messages', [{ phrases: [] }], /has "phrases", which must be an? object/],
    ['messages', [{ phrases: { 'is unknown': 5 } }], /has the phrase "is unknown", whose translation must be a string/],
    ['messages', [{ phrases: { 'at most {0}': 'x' } }], /has the phrase "at most \{0\}" with a placeholder/],
    ['accent', [null, 'red', '#12', '#fff;}body{display:none', '#fff\n', { toString: () => '#fff' }],
      /must be a colour such as '#1d5fd1', not /],
    ['lang', [5, '', 'e', 'de_DE', '<b>', ['de', 5], ['auto']], /must be a language tag such as 'de' or 'pt-BR', not /],
    ['lang', [[]], /must name a language such as 'de', or be 'auto'/],
    ['lang', [['DE', 'de']], /has 'de' twice/],
    ['columns', ['title', [5]], /must be a list of attributes such as \['title'\]/],
    ['columns', [['titel']], /names "titel", which is not among the attributes declared; did you mean "title"\?/],
    ['columns', [['constructor']], /names "\w*", which is not among the attributes declared/],
    ['columns', [['title', 'secret']], /names "secret", which is writeOnly and is never shown/],
    ['contentSecurityPolicy', ['x', true, []], /must be false or directives such as \{ 'img-src': "'self'" \}, not /],
    ['contentSecurityPolicy',
      [{ 'img-src': '*; script-src *' }, { 'img-src': "'self', default-src *" }, { 'img-src': '*\r\nset-cookie: a=b' },
        { 'img-src': 'é' }, { 'script-src *; img-src': '*' }, { imgSrc: '*' }, { '': '*' }, { 'img-src,x': '*' }],
      /has the directive "[^]*", which must be a name in small letters/]
  ]
  for (const [option, values, says] of cases) {
    for (const value of values) {
      const error = await refusal({ html: { [option]: value } })
      t.match(
        error,
        { code: 'FST_RESOURCES_INVALID_OPTION', message: says },
        `${option}: ${JSON.stringify(value, (_key, part: unknown) => typeof part === 'function' ? 'a function' : part)}`
      )
      t.ok(error?.message.startsWith(`Option "html.${option}" of resource "posts" `) ?? false)
    }
  }
  t.match(await refusal({ html: { view: {} } }), {
    code: 'FST_RESOURCES_UNKNOWN_OPTION', message: /did you mean "views"\?/
  })
})

t.test('a list without a schema passes its cells to a view', async (t) => {
  const store = memoryStore()
  store.create({ a: '<1>', b: true }, {})
  const app = await build(t, {
    name: 'posts',
    store,
    html: {
      views: {
        list: ({ columns, rows }) => markup`<p>${columns.map(({ label }) =>
          label).join()} ${rows.map(({ id, cells }) => markup`${id}: ${cells}`)}</p>`
      }
    }
  })
  t.equal(mainOf((await get(app, '/posts')).body), '<p>Id,a,b 1: <a href="/posts/1">1</a>&lt;1&gt;yes</p>')
})

t.test('each view receives the request', async (t) => {
  const seen: unknown[] = []
  const see = (page: { readonly request: { readonly headers: { readonly 'x-user'?: unknown } } }): string => {
    seen.push(page.request.headers['x-user'])
    return ''
  }
  const app = await seeded(t, {
    html: { views: { list: see, record: see, edit: see, error: see, layout: see } as unknown as Views }, formPages: true
  })
  for (const url of ['/posts', '/posts/1', '/posts/1/edit', '/posts/new', '/posts/99']) {
    seen.length = 0
    await app.inject({ url, headers: { accept: 'text/html', 'x-user': url } })
    t.strictSame(seen, [url, url])
  }
})

/** Draws resources of each kind, with the same pages and these views. */
function drawKinds (views: Partial<Views>, count: () => void): (map: Mapper) => unknown {
  const html = { views, messages: { new: (singular: string) => { count(); return `New <${singular}>` } } }
  const nothing = (): undefined => undefined
  return (map) => {
    map.resources('posts', { attributes, html }, (posts) => {
      posts.resources('comments', { html, writes: 'both', formPages: true })
      posts.resources('notes', { html, attributes, shallow: true, formPages: false })
      posts.resource('cover', { html, attributes })
      posts.collection.get('recent', nothing).collection.post('approve-all', nothing)
      posts.member.put('reset', { label: 'Reset & go' }, nothing).member.delete('archive', nothing)
    })
    map.resources('tags', { html, attributes, except: ['update', 'show'] })
    map.resources('links', { html, attributes, except: ['list', 'delete'] })
  }
}

t.test('a page of cached parts equals that of its views to the byte, under any parent', async (t) => {
  const stores = memoryStores()
  const apps = await Promise.all([{}, { layout: defaultViews.layout }].map(async (views) => {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(draw(drawKinds(views, () => {}), { stores }))
    await app.ready()
    return app
  }))
  const create = async (url: string, payload: object): Promise<void> => {
    t.equal((await apps[0]?.inject({ method: 'POST', url, payload }))?.statusCode, 201, url)
  }
  for (const id of [1, 2]) {
    await create('/posts', { post: { ...row, title: `T&<${id}>` } })
    for (const a of ['1', '2']) await create(`/posts/${id}/comments`, { comment: { a } })
    await create(`/posts/${id}/notes`, { note: { title: 'N' } })
  }
  await create('/posts/1/cover', { cover: { title: 'C' } })
  await create('/tags', { tag: { title: 'tag' } })
  await create('/links', { link: { title: 'link' } })
  for (const url of [
    '/posts', '/posts.html?limit=1&sort=-title', '/posts?title=none', '/posts/1', '/posts/2',
    '/posts/9', '/posts/1/comments', '/posts/2/comments?limit=1', '/posts/2/comments/3', '/posts/1/comments/new',
    '/posts/1/comments/1/edit', '/posts/1/notes', '/notes/1', '/notes/2', '/posts/1/cover', '/posts/2/cover', '/tags',
    '/links/1'
  ]) {
    for (const accept of ['text/html', 'application/xhtml+xml']) {
      const [quick, slow] = await Promise.all(apps.map((app) => app.inject({ url, headers: { accept } })))
      t.equal(quick?.body, slow?.body, `${url} ${accept}`)
      t.match(quick?.body, '</html>')
    }
  }
})

t.test('the pages of another parent are neither rendered nor cached anew', async (t) => {
  let made = 0
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(drawKinds({}, () => { made++ }), { stores: memoryStores() }))
  const visit = async (id: number): Promise<void> => {
    await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: `T ${id}` } } })
    t.match((await get(app, `/posts/${id}/notes`)).body, `action="/posts/${id}/notes"`)
  }
  await visit(1)
  const once = made
  t.ok(once > 0)
  for (let id = 2; id < 20; id++) await visit(id)
  t.equal(made, once)
})

t.test('a page links and sends its forms to the paths of its actions alone', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(drawKinds({}, () => {}), { stores: memoryStores() }))
  for (const [url, payload] of [
    ['/posts', { post: { title: 'T' } }], ['/posts/1/comments', { comment: { a: '1' } }],
    ['/posts/1/notes', { note: { title: 'N' } }], ['/tags', { tag: { title: 'tag' } }],
    ['/links', { link: { title: 'link' } }]
  ] as const) await app.inject({ method: 'POST', url, payload })
  const cases: ReadonlyArray<readonly [url: string, targets: readonly string[]]> = [
    ['/posts', ['/posts/recent', '/posts/approve-all', '/posts/new', '/posts', '/posts/1', '/posts']],
    ['/posts/1', [
      '/posts/1/reset', '/posts/1/archive', '/posts/1/edit', '/posts', '/posts/1/cover', '/posts/1/comments',
      '/posts/1/comments/new', '/posts/1/comments/1', '/posts/1/comments', '/posts/1/notes', '/notes/1',
      '/posts/1/notes'
    ]],
    ['/posts/1/comments', ['/posts/1/comments/new', '/posts/1/comments/1', '/posts/1/comments']],
    ['/posts/1/comments/1', ['/posts/1/comments/1/edit', '/posts/1/comments']],
    ['/posts/1/comments/1/edit', ['/posts/1/comments', '/posts/1/comments/1']],
    ['/posts/1/notes', ['/posts/1/notes', '/notes/1', '/posts/1/notes']],
    ['/notes/1', ['/notes', '/notes', '/notes/1']],
    ['/posts/1/cover', ['/posts/1', '/posts/1/cover']],
    ['/tags', ['/tags/new', '/tags', '/tags']],
    ['/links/1', ['/links/1/edit']]
  ]
  for (const [url, targets] of cases) {
    const { body } = await get(app, url)
    const found = elementsOf(`<main>${String(mainOf(body))}</main>`)
      .flatMap(({ attributes: { href, action } }) => href ?? action ?? [])
    t.strictSame(found.filter((target) => !/[#?]|\.(?:xml|json)$/.test(target)), targets, url)
  }
})
