import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t from 'tap'
import resources, {
  memoryStore, type MemoryStore, type Store, StoreFullError, UnavailableError
} from '../../../../lib/index.js'
import type { HtmlOptions } from '../../../../lib/html/index.js'
import {
  buttonsOf, decode, fill, findButton, findForm, hidden, parseForms, shown, submit
} from '../../../support/html/forms.js'
import {
  cellsOf, form, get, html, isSound, linksOf, listed, policy, post, schemaOf, seeded, strict,
  valuesOf
} from '../../../support/html/page-tests.js'
import { build, types } from '../../../support/helper.js'

t.test('a record shows every attribute in full', async (t) => {
  const long = `a\n\n<b>${'x'.repeat(500)}\r\n"c"\t`
  const { app } = await seeded(t, [{
    text: long,
    flag: false,
    list: ['a', '<i>'],
    empty: [],
    at: '2026-01-31T12:00:00Z',
    mail: 'a@b.c',
    noMail: `${'a'.repeat(319)}@b`,
    author: { name: 'N', site: 'https://a.example', born: null, more: { deep: [1, 2] } },
    people: [{ name: 'A\nB' }, {}],
    made: 'by us',
    secret: 'SECRET',
    inner: { seen: 1, hidden: 'SECRET' },
    numbers: [0, -1.5],
    nothing: null,
    any: { 'a b': [true, { c: null }] },
    states: ['d']
  }], {
    attributes: schemaOf({
      text: { type: 'string' },
      flag: { type: 'boolean' },
      list: { type: 'array', items: { type: 'string' } },
      empty: { type: 'array', items: { type: 'string' } },
      at: { type: 'string', format: 'date-time' },
      mail: { type: 'string', format: 'email' },
      noMail: { type: 'string', format: 'email' },
      author: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Full <name>' },
          site: { type: 'string', format: 'uri' },
          born: { type: ['string', 'null'] },
          more: { type: 'object', properties: { deep: { type: 'array', items: { type: 'integer' } } } }
        }
      },
      people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      made: { type: 'string', readOnly: true },
      secret: { type: 'string', writeOnly: true },
      inner: { type: 'object', properties: { seen: { type: 'integer' }, hidden: { type: 'string', writeOnly: true } } },
      numbers: { type: 'array', items: { type: 'number' } },
      nothing: { type: ['string', 'null'] },
      missing: { type: 'string' },
      any: {},
      states: { type: 'array', items: { oneOf: [{ const: 'd', title: 'Draft' }, { const: 'l', title: 'Live' }] } }
    })
  })
  const res = await get(app, '/posts/1')
  isSound(t, res, 200)
  t.notMatch(res.body, 'SECRET')
  t.strictSame(valuesOf(res.body.replaceAll(/[\u202f\u00a0]/g, ' ')), {
    Id: '1',
    Text: `a<br/><br/>&lt;b&gt;${'x'.repeat(500)}&#13;<br/>&quot;c&quot;&#9;`,
    Flag: 'no',
    List: '<ul class="values"><li>a</li><li>&lt;i&gt;</li></ul>',
    Empty: '',
    At: '<time datetime="2026-01-31T12:00:00Z">Jan 31, 2026, 12:00 PM UTC</time>',
    Mail: '<a href="mailto:a@b.c">a@b.c</a>',
    'No mail': `${'a'.repeat(319)}@b`,
    Author: '<dl class="values"><div><dt>Full &lt;name&gt;</dt><dd>N</dd></div><div><dt>Site</dt><dd><a ' +
      'href="https://a.example" rel="nofollow noreferrer">https://a.example</a></dd></div><div><dt>Born</dt><dd>' +
      '</dd></div><div><dt>More</dt><dd><dl class="values"><div><dt>Deep</dt><dd><ul class="values"><li>1</li><li>' +
      '2</li></ul></dd></div></dl></dd></div></dl>',
    People: '<table class="values" aria-label="People"><thead><tr><th scope="col">Name</th></tr></thead><tbody>' +
      '<tr><th scope="row" dir="auto">A<br/>B</th></tr><tr><td dir="auto"></td></tr></tbody></table>',
    Made: 'by us',
    Inner: '<dl class="values"><div><dt>Seen</dt><dd>1</dd></div></dl>',
    Numbers: '<ul class="values"><li>0</li><li>-1.5</li></ul>',
    Nothing: '',
    Missing: '',
    Any: '<dl class="values"><div><dt>a b</dt><dd><ul class="values"><li>yes</li><li><dl class="values"><div><dt>' +
      'c</dt><dd></dd></div></dl></li></ul></dd></div></dl>',
    States: '<ul class="values"><li><span class="badge">Draft</span></li></ul>'
  })
  t.strictSame(findForm(res, 'PUT').controls.filter(({ name }) => /made|inner/.test(name)), [],
    'a value that is readOnly or shown only in part is not edited')
  t.match(res.body, '<p class="kept"><strong>Inner</strong> stays as it is; this form cannot show all of it.</p>')
})

t.test('objects in an array are the rows of a table if their members are single values', async (t) => {
  const line = {
    type: 'object',
    properties: {
      title: { type: 'string', title: 'What <b>' },
      price: { type: 'string', format: 'decimal', scale: 2 },
      count: { type: ['integer', 'null'] },
      note: { type: 'string' }
    }
  }
  const lists = '<ul class="values"><li>'
  const cases: ReadonlyArray<readonly [items: object, value: unknown[], expected: string]> = [
    [line, [{ title: 'A', price: '1.5', count: null }, { price: '1234', title: 'B' }],
      '<table class="values" aria-label="Lines"><thead><tr><th scope="col">What &lt;b&gt;</th>' +
      '<th scope="col" class="number">Price</th><th scope="col" class="number">Count</th></tr></thead><tbody>' +
      '<tr><th scope="row" dir="auto">A</th>' +
      '<td class="number">1.50</td><td class="number"></td></tr><tr><th scope="row" dir="auto">B</th>' +
      '<td class="number">1,234.00</td><td class="number"></td></tr></tbody></table>'],
    [line, [{}, {}], lists],
    [line, [], ''],
    [{ type: ['object', 'null'], properties: line.properties }, [{ title: 'A' }, null], lists],
    [{ ...line, additionalProperties: true }, [{ title: 'A', other: 'x' }], lists],
  ]
  for (const [items, lines, expected] of cases) {
    const { app } = await seeded(t, [{ lines }], { attributes: schemaOf({ lines: { type: 'array', items } }) })
    const res = await get(app, '/posts/1')
    isSound(t, res, 200)
    const shown = valuesOf(res.body).Lines ?? ''
    t.equal(expected === lists ? shown.slice(0, lists.length) : shown, expected, JSON.stringify(lines))
  }
})

t.test('an undeclared value of a row is not sent in a form', async (t) => {
  const open = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const { app } = await seeded(
    t,
    [{ group: { a: 'x', inside: 'SECRET' }, json: [[{ a: 'x', inside: 'SECRET' }]] }],
    { attributes: schemaOf({ group: open, json: { type: 'array', items: { type: 'array', items: open } } }) }
  )
  for (const res of [
    await get(app, '/posts'), await get(app, '/posts/1'),
    await post(app, '_method=PUT&id=1&_version=0&post[group][a]=y&post[json]=[]&post[json][?]=json'),
    await post(app, '_method=PUT&id=1&_version=1&post[group][nope]=y')
  ]) {
    t.notMatch(res.body, 'SECRET', String(res.statusCode))
  }
})

t.test('a record is deleted after a confirmation that needs no script', async (t) => {
  for (const writes of ['collection', 'member'] as const) {
    const { app, store } = await seeded(t, [{ title: 'T' }], { attributes: listed, writes })
    const res = await get(app, '/posts/1')
    isSound(t, res, 200)
    const [, asked = ''] = /<details class="danger">([^]*?)<\/details>/.exec(res.body) ?? []
    t.match(
      asked,
      new RegExp(String.raw`^\s*<summary class="button plain">Delete this post</summary>\s*` +
        String.raw`<div class="card"><p>Post 1 will be deleted permanently\.</p>`)
    )
    const deletion = findForm(asked, 'DELETE')
    t.match(buttonsOf(deletion), [{ label: 'Yes, delete it' }])
    t.equal(hidden(deletion, '_version'), '1')
    store.update(1, { title: 'U' }, { version: undefined, scope: {} })
    const stale = await app.inject(submit(deletion, undefined, html))
    isSound(t, stale, 412)
    t.equal(valuesOf(stale.body).Title, 'U')
    t.match(await app.inject(submit(findForm(stale, 'DELETE'), undefined, html)), {
      statusCode: 303, headers: { location: '/posts' }
    })
    t.equal(store.get(1, {}), undefined)
    isSound(t, await app.inject(submit(deletion, undefined, html)), 404)
  }
})

t.test('the page of an error has the same design and reveals nothing', async (t) => {
  const inside = new Error('INSIDE /etc/secret')
  const broken = (store: MemoryStore): Store => ({
    ...store,
    get (id) {
      if (id === 500) throw inside
      if (id === 503) throw new UnavailableError({ cause: inside })
      if (id === 507) throw new StoreFullError({ cause: inside })
      return store.get(id, {})
    },
    list () { throw inside }
  })
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed, requireMatch: true, wrap: broken })
  const cases: Array<[status: number, title: string, request: InjectOptions | string, says?: RegExp]> = [
    [400, 'The parameter "nope" is unknown', { url: '/posts?nope=<b>' }],
    [400, '"_method" must be PUT or DELETE, and given once', '_method=PATCH'],
    [404, 'This post does not exist', { url: '/posts/%3Cb%3E' },
      /<p>there is no post with the id &quot;&lt;b&gt;&quot;<\/p>/],
    [405, 'There is a problem', { method: 'DELETE', url: '/posts/1' },
      /<li>DELETE is not allowed here; use GET, HEAD, OPTIONS; to write, /],
    [406, 'There is a problem', { url: '/posts?format=yaml' }, /<li>there is no format &quot;yaml&quot;; choose one of /],
    [413, 'Request body is too large', `post[title]=${'x'.repeat(2_000_000)}`],
    [428, 'Send If-Match with the ETag of the post that you have read', '_method=DELETE&id=1'],
    [500, 'Something went wrong on the server', { url: '/posts' }],
    [500, 'Something went wrong on the server', { url: '/posts/500' }],
    [503, 'The store is not available now, and nothing was written; try again', { url: '/posts/503' }],
    [507, 'The store is full, and nothing was written', { url: '/posts/507' }]
  ]
  for (const [status, title, request, says] of cases) {
    const res = typeof request === 'string' ? await post(app, request) : await app.inject({ ...request, headers: html })
    const elements = isSound(t, res, status)
    t.equal(elements.find(({ name }) => name === 'h1')?.text, title)
    t.equal(elements.find(({ name }) => name === 'title')?.text,
      `${title.length > 50 ? `${title.slice(0, 50)}…` : title} – Posts`)
    t.match(res.body, says ?? /<div class="problem" role="alert">\n<h1>[^<]+<\/h1>\n<\/div>/)
    t.notMatch(res.body, /INSIDE|secret|node_modules|at \w+ \(/)
    t.strictSame(linksOf(elements, 'Posts'), ['/posts', '/posts'])
  }
})

t.test('pages have our policy, with the directives that the app adds or replaces', async (t) => {
  const own = {
    'content-security-policy': "img-src 'none'", 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer'
  }
  const cases: Array<[option: HtmlOptions['contentSecurityPolicy'], header: string | undefined]> = [
    [undefined, policy],
    [{}, policy],
    [{ 'img-src': "'self' https://a.example" }, `${policy}; img-src 'self' https://a.example`],
    [
      { 'frame-ancestors': "'self'", 'style-src': "'self' 'unsafe-inline'" },
      "default-src 'none'; style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors " +
        "'self'"
    ],
    [{ 'upgrade-insecure-requests': '' }, `${policy}; upgrade-insecure-requests`],
    [false, undefined]
  ]
  for (const [contentSecurityPolicy, header] of cases) {
    const { app } = await seeded(t, [{ title: 'T' }], {
      attributes: listed, ...(contentSecurityPolicy !== undefined && { html: { contentSecurityPolicy } })
    })
    for (const url of ['/posts', '/posts/99']) {
      const { headers } = await get(app, url)
      t.strictSame([headers['content-security-policy'], headers['referrer-policy']], [header, 'same-origin'],
        `${url} ${JSON.stringify(contentSecurityPolicy)}`)
    }
    t.equal((await app.inject('/posts.json')).headers['content-security-policy'], undefined)
  }
  const app = await build(
    t,
    { name: 'posts', attributes: listed, html: { contentSecurityPolicy: false } },
    { before: (app) => { app.addHook('onRequest', async (_request, reply) => { reply.headers(own) }) } }
  )
  t.match((await app.inject('/posts.json')).headers, own, 'the app\'s other headers stay')
  t.equal((await get(app, '/posts')).headers['content-security-policy'], "img-src 'none'")
})

async function stylesheetOf (app: FastifyInstance, url: string): Promise<string> {
  const [, href = ''] = /<link rel="stylesheet" href="([^"]*)"\/>/.exec((await get(app, url)).body) ?? []
  return decode(href)
}

t.test('the stylesheet is a separate file that never changes', async (t) => {
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed })
  const url = await stylesheetOf(app, '/posts')
  t.match(url, /^\/posts\/pages\.[\da-f]{16}\.css$/)
  for (const page of ['/posts/1', '/posts/99', '/posts?nope']) t.equal(await stylesheetOf(app, page), url, page)
  for (const accept of ['text/css,*/*;q=0.1', 'text/html', undefined]) {
    const res = await app.inject({ url, headers: accept === undefined ? {} : { accept } })
    t.match(
      res,
      {
        statusCode: 200,
        headers: {
          'content-type': 'text/css; charset=utf-8',
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff'
        }
      },
      String(accept)
    )
    t.match(res.body, /^:root\{/)
    t.notMatch(res.body, /@import|url\(|expression|<\//)
  }
  const head = await app.inject({ method: 'HEAD', url })
  t.match(head, { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, body: '' })
  t.equal(Number(head.headers['content-length']), Buffer.byteLength((await app.inject(url)).body))
  t.equal((await get(app, `${url}?v=1`)).statusCode, 200)
  t.match(
    await get(app, url.replace(/[\da-f]{16}/, '0000000000000000')),
    { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'private, no-cache' } },
    'a page of another process gets the current stylesheet, which it may not cache'
  )
  for (const other of [url.replace(/[\da-f]{16}/, ''), url.replace(/[\da-f]{16}/, 'x'), `${url}x`,
    url.replace('.css', '.css.map'), url.replace('pages', 'page')]) {
    isSound(t, await get(app, other), 404, other)
  }
  isSound(t, await app.inject({ method: 'DELETE', url, headers: html }), 405)
  t.equal((await post(app, 'post[title]=x', url)).statusCode, 405)
})

t.test('every link and every form of a page under a prefix works', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const store = memoryStore({ id: 'uuid' })
  const rows = [store.create({ title: 'x'.repeat(200) }, {}), store.create({ title: 'b' }, {})]
  app.register(resources, {
    name: 'blog-posts',
    store,
    id: 'uuid',
    attributes: schemaOf({ title: { type: 'string' }, n: { type: 'integer' } }),
    prefix: '/a & "b"/é',
    html: { pageSize: 1 }
  })
  await app.ready()
  const path = encodeURI('/a & "b"/é/blog-posts')
  for (const start of [path, `${path}.html?sort=-n`, `${path}/${String(rows[0]?.id)}`, `${path}/nope`]) {
    const res = await get(app, start)
    const elements = isSound(t, res, start.endsWith('nope') ? 404 : 200, start)
    const hrefs = new Set(elements.flatMap(({ attributes: { href } }) => href === undefined || href.startsWith('#')
      ? []
      : [href.split('#')[0] as string]))
    for (const href of hrefs) t.equal((await get(app, href)).statusCode, 200, href)
    for (const form of parseForms(res).filter((form) => form.method === 'get')) {
      t.equal((await app.inject(submit(form, undefined, html))).statusCode, 200, form.action)
    }
  }
  const record = await get(app, `${path}/${String(rows[0]?.id)}`)
  t.match(
    await app.inject(submit(fill(findForm(record, 'PUT'), { 'blog-post[title]': 'new' }), undefined, html)),
    { statusCode: 303, headers: { location: `${path}/${String(rows[0]?.id)}` } }
  )
  t.match(await app.inject(submit(findForm(await get(app, path), 'POST'), undefined, html)), { statusCode: 303 })
})

t.test('a resource without a schema has the columns of its rows', async (t) => {
  const { app } = await seeded(t, [{ title: 'T', n: 5 }, { n: true, firstName: 'F', nested: { a: [1] } }])
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  const heads = elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'col')
  t.strictSame(heads.map(({ text }) => text),
    ['Id', 'title', 'n', 'firstName', 'nested', 'Name', 'Value'])
  t.strictSame(cellsOf(res.body).map((row) => row.map(({ content }) => content)),
    [['T', '5', '', ''], ['', 'yes', 'F', 'a 1']])
  t.strictSame(parseForms(res).map(({ id, method }) => id ?? method), ['chosen', 'post'])
  const { app: chosen } = await seeded(t, [{ title: 'T', n: 5 }], { html: { columns: ['n', 'nope'] } })
  t.strictSame(cellsOf((await get(chosen, '/posts')).body).map((row) => row.map(({ content }) => content)), [['5', '']])
  isSound(t, await get((await seeded(t, [])).app, '/posts'), 200)
})

t.test('a resource without a schema is created and changed by rows of name and value', async (t) => {
  const { app, store } = await seeded(t, [])
  const created = await app.inject(submit(
    fill(findForm(await get(app, '/posts'), 'POST'), {
      'post[?][0][name]': 'title', 'post[?][0][value]': ' T\n', 'post[?][2][name]': 'empty'
    }),
    undefined,
    html
  ))
  t.match(created, { statusCode: 303, headers: { location: '/posts/1' } })
  t.strictSame(store.get(1, {})?.attributes, { title: ' T', empty: '' })
  store.update(1, { n: 5, list: ['a'], nested: { a: null }, nothing: null }, { version: undefined, scope: {} })
  const record = await get(app, '/posts/1')
  isSound(t, record, 200)
  const edit = findForm(record, 'PUT')
  t.strictSame(['title', 'n', 'list', 'nested', 'nothing'].map((name) => shown(edit, `post[${name}]`)),
    [' T', '5', '[\n  "a"\n]', '{\n  "a": null\n}', ''])
  t.equal((await app.inject(submit(edit, undefined, html))).statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes,
    { title: ' T', empty: '', n: 5, list: ['a'], nested: { a: null }, nothing: null }, 'nothing has changed')
  const more = await app.inject(submit(fill(edit, { 'post[title]': 'typed', 'post[?][0][name]': 'more' }),
    findButton(edit, 'post[?][?][add]'), html))
  isSound(t, more, 422)
  t.strictSame([shown(findForm(more, 'PUT'), 'post[title]'), shown(findForm(more, 'PUT'), 'post[more]')], ['typed', ''])
})

t.test('a row with an invalid name comes back as a row, so that it can be renamed', async (t) => {
  const { app, store } = await seeded(t, [])
  for (const name of ['my name', 'a[b]', '<b>', '?', '', '__proto__']) {
    await t.test(name === '' ? 'no name' : name, async (t) => {
      const res = await app.inject(submit(
        fill(findForm(await get(app, '/posts'), 'POST'), {
          'post[?][0][name]': name, 'post[?][0][value]': 'V', 'post[?][1][name]': 'good', 'post[?][1][value]': 'W'
        }),
        undefined,
        html
      ))
      isSound(t, res, 422)
      const again = findForm(res, 'POST')
      const row = again.controls.find((control) => control.name.endsWith('][name]') && control.value === name &&
        name !== '') ?? again.controls.find(
        (control) => control.name.endsWith('][name]')
      )
      t.ok(row !== undefined && (name === '' || row.value === name), 'the name can be changed')
      if (row === undefined) return
      t.equal((await app.inject(submit(fill(again, { [row.name]: 'better' }), undefined, html))).statusCode, 303)
      t.match((await app.inject('/posts.json')).json(), { posts: [{ better: 'V', good: 'W' }] })
      for (const { id } of (await app.inject('/posts.json')).json<{ posts: Array<{ id: number }> }>().posts) {
        store.delete(id, { version: undefined, scope: {} })
      }
    })
  }
})

t.test('a stored name that no client could send is shown, and survives saving the form', async (t) => {
  const odd = {
    'a b': 1, 'x"y<z>': 2, 'q[r]': 3, '?': 4, '': 5, 'a\tb': 6, '\ud800': 7, 'é:ü': 8, a_b: 9, constructor: 10
  }
  const { app, store } = await seeded(t, [{ ...odd, good: 'G' }])
  isSound(t, await get(app, '/posts'), 200)
  const record = await get(app, '/posts/1')
  isSound(t, record, 200)
  const saved = await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[good]': 'H' }), undefined, html))
  t.equal(saved.statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, { ...odd, good: 'H' })
})

t.test('an untouched form does not change a text that no format can carry', async (t) => {
  const string = { type: 'string' }
  for (const value of ['\ud800', 'a\u0000b', '\uffff']) {
    const row = { text: value, line: value, list: [value] }
    const { app, store } = await seeded(t, [{ ...row, other: 'x' }], {
      attributes: schemaOf({
        text: string, line: { ...string, maxLength: 20 }, list: { type: 'array', items: string }, other: string
      })
    })
    const record = await get(app, '/posts/1')
    isSound(t, record, 200)
    await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[other]': 'y' }), undefined, html))
    t.strictSame(store.get(1, {})?.attributes, { ...row, other: 'y' }, JSON.stringify(value))
  }
})

/** Texts that break out of their context unless they are escaped. */
const attacks = [
  '"><script>alert(1)</script>', '\'><img src=x onerror=alert(1)>{{alert(1)}}<%= alert(1) %>&lt;script&gt;]]>',
  '</textarea></title></style><!--\u2028<b>\u202e', 'javascript:alert(1)//https://a.example'
]

t.test('a malicious stored value is shown as text', async (t) => {
  const kinds = {
    line: { type: 'string', maxLength: 200 },
    text: { type: 'string' },
    uri: { type: 'string', format: 'uri' },
    url: { type: 'string', format: 'url' },
    mail: { type: 'string', format: 'email' },
    date: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    list: { type: 'array', items: { type: 'string' } },
    object: { type: 'object', properties: { a: { type: 'string' } } },
    rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
    json: { type: 'object', additionalProperties: true },
    any: {},
    choice: { enum: ['a', 'b'] },
    many: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
    flag: { type: 'boolean' },
    number: { type: 'integer' }
  }
  for (const attack of attacks) {
    const long = attack.repeat(20)
    const row = {
      line: attack,
      text: long,
      uri: `https://${attack}`,
      url: `https://a.example/${attack}`,
      mail: attack,
      date: attack,
      at: attack,
      list: [attack, long],
      object: { a: attack, [attack]: attack },
      rows: [{ a: attack }],
      json: { [attack]: attack },
      any: [attack, { a: attack }],
      choice: attack,
      many: attack,
      flag: attack,
      number: attack
    }
    for (const attributes of [schemaOf(kinds), undefined]) {
      const { app } = await seeded(t, [attributes === undefined ? { ...row, [attack]: attack } : row, {}],
        attributes === undefined ? {} : { attributes })
      for (const url of ['/posts', '/posts/1']) {
        const elements = isSound(t, await get(app, url), 200, `${url} ${attack}`)
        t.ok(elements.some(({ name, text }) => (name === 'td' || name === 'dd') && text.includes(attack)),
          'the text can be read')
      }
      if (attributes === undefined) continue
      const conflict = await post(
        app,
        new URLSearchParams([
          ['_method', 'PUT'], ['id', '1'], ['_version', '0'],
          ...['line', 'text', 'uri'].map((name): [string, string] => [`post[${name}]`,
            name === 'uri' ? 'https://a.example' : `mine ${attack}`])
        ]).toString()
      )
      t.ok(isSound(t, conflict, 412, attack).some(({ name, text }) => name === 'div' && text === attack),
        'their text beside mine')
    }
  }
})

t.test('a malicious sent value comes back as text', async (t) => {
  const names = Object.keys(strict.properties)
  const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict, singular: 'post' })
  const { app: open } = await seeded(t, [{ title: 'Old' }])
  // Each attack meets one half of the payloads with a schema, and the other half without one.
  let turn = 0
  const nextTarget = (): FastifyInstance => turn++ % 2 === 0 ? app : open
  for (const attack of attacks.slice(0, 3)) {
    const encoded = encodeURIComponent(attack)
    const noBrackets = encodeURIComponent(attack.replaceAll(/[[\]]/g, ''))
    const payloads = [
      names.map((name) => `post[${name}]=${encoded}`).join('&'),
      names.map((name) => `post[${name}][]=${encoded}&post[${name}][]=`).join('&'),
      names.map((name) => `post[${name}][0][name]=${encoded}&post[${name}][${noBrackets}]=x`).join('&'),
      ...['?', '?][was', '?][offset', '?][keep', '?][add', '?][remove', '?][x'].map((mark) => names.map(
        (name) => `post[${name}][${encodeURIComponent(mark).replaceAll('%5D%5B', '][')}]=${encoded}&post[${name}]=x`
      ).join('&')),
      `post[?][was]=${encoded}&post[title]=`, `post[?][0][name]=${encoded}&post[?][0][value]=${encoded}`,
      `post[?][${noBrackets}][name]=x&post[title]=`, `post[${noBrackets}]=${encoded}`, `${noBrackets}=x`,
      `_method=${encoded}`, `_method=PUT&id=${encoded}&post[title]=x`,
      `_method=PUT&id=1&_version=${encoded}&post[title]=x`,
      `_method=PUT&id=1&_version=${encoded}&post[title]=typed&post[title][?][keep]=${encoded}&post[?][was]=${encoded}`,
      `id=${encoded}&id=2`, `commit=${encoded}&post[title]=`, `post[title]=${encoded}&post[title]=${encoded}`
    ]
    for (const payload of payloads) {
      const res = await post(nextTarget(), payload)
      if (res.statusCode !== 303) isSound(t, res, res.statusCode, payload)
      t.ok(res.statusCode < 500, payload)
    }
    for (const url of [
      `/posts?${encoded}=x`, `/posts?sort=${encoded}`, `/posts?title=${encoded}`,
      `/posts?title=${encoded}&sort=-title&limit=1`, `/posts?format=${encoded}`, `/posts?after=${encoded}`,
      `/posts?limit=${encoded}`, `/posts?blank=${encoded}`, `/posts/${encoded}`, `/posts/1?x=${encoded}`,
      `/posts/${encoded}.html`
    ]) {
      const res = await get(nextTarget(), url)
      isSound(t, res, res.statusCode, url)
      t.ok(res.statusCode < 500, url)
    }
    turn++
  }
})

t.test('no header of a request gets into a page unescaped', async (t) => {
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed })
  const [attack = ''] = attacks
  for (const request of [{ url: '/posts' }, { method: 'POST', url: '/posts', payload: 'post[title]=' }] as const) {
    for (const header of [
      'host', 'origin', 'referer', 'x-forwarded-host', 'x-forwarded-prefix', 'forwarded', 'content-type',
      'content-encoding', 'if-match', 'if-none-match', 'sec-fetch-site', 'user-agent', 'accept-language', 'accept'
    ]) {
      const res = await app.inject({
        ...request,
        headers: { 'content-type': form, ...html, [header]: header === 'accept' ? `text/html, ${attack}` : attack }
      })
      t.ok(res.statusCode < 500, `${header}: ${attack}`)
      if (String(res.headers['content-type']).startsWith('text/html')) {
        isSound(t, res, res.statusCode, `${header}: ${attack}`)
      }
      const links = [...res.body.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, href]) => href)
      t.strictSame(links.filter((href) => !/^[/#]/.test(href ?? '')), [], header)
    }
  }
})

t.test('the texts of an app are escaped', async (t) => {
  for (const attack of attacks.slice(0, 3)) {
    const words = { title: attack, description: attack }
    const { app } = await seeded(t, [{ a: 'x', b: ['x'], c: { d: 'x' }, e: [{ d: 'x' }], f: 'x'.repeat(200) }], {
      attributes: schemaOf({
        a: { oneOf: [{ const: 'x', title: attack }, { const: attack, title: 'y' }], ...words },
        b: { type: 'array', items: { type: 'string', ...words }, ...words },
        c: { type: 'object', properties: { d: { type: 'string', pattern: '"><b>', ...words } }, ...words },
        e: { type: 'array', items: { type: 'object', properties: { d: { type: 'integer', ...words } } }, ...words },
        f: { type: 'string', ...words },
        g: { enum: [attack, `${attack}2`] },
        h: { type: 'array', uniqueItems: true, items: { enum: [attack, 'z'] } },
        i: { type: 'string', default: attack }
      }),
      html: {
        messages: {
          plural: attack,
          singular: attack,
          id: attack,
          save: attack,
          optional: attack,
          skip: attack,
          breadcrumb: attack,
          next: attack,
          asJson: attack,
          oneALine: attack,
          problemTitle: () => attack,
          phrases: { 'is unknown': attack }
        }
      }
    })
    for (const url of ['/posts', '/posts?g=', '/posts/1', '/posts/9']) {
      isSound(t, await get(app, url), url.endsWith('9') ? 404 : 200, `${url} ${attack}`)
    }
    isSound(t, await post(app, 'post[zzzzzzzzz]=1&post[a]=no&post[c][d]=x&post[e][0][d]=x'), 422, attack)
    isSound(t, await post(app, '_method=PUT&id=1&_version=0&post[f]=1&post[i]=2'), 412, attack)
  }
})

// Quadratic work would take minutes here.
t.test('a field of a megabyte is answered', async (t) => {
  const size = 1_000_000
  const { app } = await seeded(t, [{ title: 'T' }], {
    attributes: schemaOf({
      title: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      date: { type: 'string', format: 'date' },
      number: { type: 'number' },
      mail: { type: 'string', format: 'email' },
      uri: { type: 'string', format: 'uri' },
      list: { type: 'array', items: { type: 'string', format: 'date-time' } },
      rows: { type: 'array', items: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } },
      json: {}
    })
  })
  const zeros = '0'.repeat(size)
  const moment = '2026-01-31T12:00:00'
  const payloads: Array<[name: string, payload: string]> = [
    ['zeros in an offset', `post[at]=${moment}&post[at][?][was]=${moment}Z&post[at][?][offset]=.${zeros}x`],
    ['a long fraction', `post[at]=${moment}.${zeros}Z`],
    ['a long fraction with an offset', `post[at]=${moment}.${zeros}&post[at][?][offset]=Z&post[at][?][was]=${moment}Z`],
    ['lines of times', `post[list]=${`${moment}%0A`.repeat(size / 30)}`],
    ['a number of zeros', `post[number]=0.${zeros}x`],
    ['an address', `post[mail]=${'a.'.repeat(size / 2)}`],
    ['a URL', `post[uri]=http://${'a:'.repeat(size / 2)}`],
    ['brackets as JSON', `post[json][?]=json&post[json]=${'['.repeat(size)}`],
    ['what was there before', `_method=PUT&id=1&_version=0&post[title]=x&post[?][was]=${'title+'.repeat(size / 6)}`],
    ['percent signs before', `_method=PUT&id=1&_version=0&post[title]=x&post[?][was]=${'%25+'.repeat(size / 4)}`],
    ['a choice', `_method=PUT&id=1&_version=0&post[title]=x&post[title][?][keep]=${zeros}`],
    ['a mark', `post[title][?]=${zeros}&post[title]=`],
    ['the name of a button', `post[rows][?][remove]=${zeros}`],
    ['the number of a row', `post[rows][${zeros}1][at]=x&post[rows][?][add]=1`],
    ['a thousand rows',
      Array.from({ length: 999 }, (_, index) => `post[rows][${index}][at]=${'x'.repeat(1000)}`).join('&')],
    ['a thousand rows and one more',
      `${Array.from({ length: 998 }, (_, index) => `post[rows][${index}][at]=x`).join('&')}&post[rows][?][add]=1`],
    ['a thousand names', Array.from({ length: 1000 }, (_, index) => `post[${'n'.repeat(900)}${index}]=x`).join('&')],
    [
      'a thousand rows of names',
      Array.from({ length: 500 }, (_, index) =>
        `post[?][${index}][name]=${'n'.repeat(900)}${index}&post[?][${index}][value]=v`).join('&')
    ]
  ]
  for (const [name, payload] of payloads) {
    const res = await post(app, payload)
    t.ok(res.statusCode < 500, `${name}: ${res.statusCode}`)
    if (res.statusCode !== 303) t.match(res.headers['content-type'], types.html)
  }
})

t.test('an undeclared property of an object stays as it is', async (t) => {
  const { app, store } = await seeded(
    t,
    [{ g: { a: '1', extra: 'kept' }, t: 'x' }],
    { attributes: schemaOf({ g: { type: 'object', properties: { a: { type: 'string' } } }, t: { type: 'string' } }) }
  )
  const record = await get(app, '/posts/1')
  t.notMatch(record.body, 'extra')
  t.match(record.body, '<strong>G</strong> stays as it is')
  for (const status of [303, 412]) {
    const page = await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[t]': 'y' }), undefined, html))
    t.equal(page.statusCode, status)
    t.notMatch(page.body, 'extra')
    t.strictSame(store.get(1, {})?.attributes, { g: { a: '1', extra: 'kept' }, t: 'y' })
  }
})
