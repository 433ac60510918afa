import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { HtmlValidate } from 'html-validate'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import { html as htmlFormat } from '../../../lib/html/index.js'
import type { PageMessages } from '../../../lib/html/messages.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const SQL = `
  CREATE TABLE few (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE many (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE guarded (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE "<b>" (id INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO few (name) VALUES ('a'), ('b');
  INSERT INTO many (name) SELECT 'x'
    FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) SELECT i FROM n)`

async function serve (
  t: Test, options: Partial<DatabaseOptions> = {}, prepare: (app: FastifyInstance) => void = () => {}
): Promise<FastifyInstance> {
  const opened = makeDatabase(SQL)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  prepare(app)
  app.register(database, {
    database: opened,
    report: () => {},
    tables: {
      guarded: {
        authorize: () =>
          true
      }
    },
    ...options
  } as DatabaseOptions)
  await app.ready()
  return app
}

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

t.test('the home page links to each list, with the number of its rows', async (t) => {
  const app = await serve(t)
  const { statusCode, headers, body } = await app.inject({ url: '/', headers: html })
  t.equal(statusCode, 200)
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    vary: 'Accept'
  })
  const rows = [
    ...body.matchAll(/<a href="([^"]*)">([^<]*)<\/a><\/th><td class="number">([^<]*)</g)
  ].map(([, ...cells]) =>
    cells)
  t.strictSame(rows, [
    ['/bs', 'B', '0'], ['/fews', 'Few', '2'], ['/guardeds', 'Guarded', '0'],
    ['/manies', 'Many', 'more than 10,000']
  ])
  t.notMatch(body, '<script')
  const { valid, results } = await new HtmlValidate({
    extends: ['html-validate:recommended'], rules: { 'no-trailing-whitespace': 'off', 'void-style': 'off' }
  }).validateString(body)
  t.ok(valid, JSON.stringify(results))
  const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(body) ?? []
  const css = await app.inject(stylesheet)
  t.match(css, {
    statusCode: 200,
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' }
  })
})

t.test('the home page is also XML and JSON', async (t) => {
  const app = await serve(t, { only: ['few', 'many'], tables: {} })
  const resources = [
    { name: 'fews', title: 'Few', path: '/fews', rows: 2 },
    { name: 'manies', title: 'Many', path: '/manies', rows: 10_000, hasMoreRows: true }
  ]
  t.same((await app.inject({ url: '/', headers: { accept: 'application/json' } })).json(), { resources })
  t.same((await app.inject('/?format=json')).json(), { resources })
  const xml = await app.inject('/')
  t.equal(xml.headers['content-type'], 'application/xml; charset=utf-8')
  t.equal(xml.body, '<?xml version="1.0" encoding="UTF-8"?>\n<resources ' +
    'type="array"><resource><name>fews</name><title>Few</title><path>/fews</path><rows ' +
      'type="integer">2</rows></resource>' +
    '<resource><name>manies</name><title>Many</title><path>/manies</path><rows ' +
      'type="integer">10000</rows><hasMoreRows type="boolean">true</hasMoreRows></resource></resources>\n')
  t.match(await app.inject({ url: '/', headers: { accept: 'image/png' } }), {
    statusCode: 406, body: /none of the types in Accept is available here; choose one of application\/xml/
  })
  t.match(await app.inject('/?format=csv'), { statusCode: 406, body: /there is no such format; choose one of/ })
  t.match(await app.inject('/?from=5'), { statusCode: 400, body: /<error>the parameter "from" is unknown/ })
})

t.test('the home page has the language and the face of the defaults', async (t) => {
  const own = { accent: '#0a7d4f', brand: { name: 'Laden' }, messages: { resourceRows: 'Anzahl' } }
  for (const defaults of [{ html: { lang: 'de', ...own } }, { formats: [htmlFormat({ lang: 'de', ...own })] }]) {
    const app = await serve(t, { only: ['few'], tables: {}, defaults })
    const { body } = await app.inject({ url: '/', headers: html })
    t.match(body, /lang="de"[^]*<title>Tables &#8211; Laden<\/title>[^]*>Anzahl</)
    const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(body) ?? []
    t.match((await app.inject(stylesheet)).body, '--accent:#0a774b', 'a shade of it that can be read')
  }
})

t.test('the home page has the Content-Security-Policy of the defaults', async (t) => {
  const cases = [
    [undefined, /^default-src 'none'/], [{ 'default-src': "'self'" }, /^default-src 'self'/], [false, undefined]
  ] as const
  for (const [contentSecurityPolicy, sent] of cases) {
    const app = await serve(t, {
      only: ['few'],
      tables: {},
      defaults: contentSecurityPolicy === undefined ? {} : { html: { contentSecurityPolicy } }
    })
    for (const url of ['/', '/fews']) {
      const policy = (await app.inject({ url, headers: html })).headers['content-security-policy']
      if (sent === undefined) t.equal(policy, undefined, url)
      else t.match(policy, sent, url)
    }
  }
})

t.test('the words of the defaults may depend on the language', async (t) => {
  const messages = (lang: string): Pick<PageMessages, 'phrases'> => ({
    phrases: lang === 'de' ? { Tables: 'Tabellen', Few: 'Wenige', few: 'Weniges', Name: 'Bezeichnung' } : {}
  })
  const app = await serve(t, {
    only: ['few'],
    write: true,
    tables: { few: { html: { messages: (lang) => ({ save: lang === 'de' ? 'Sichern' : 'Keep' }) } } },
    defaults: { html: { lang: ['en', 'de'], messages } }
  })
  const read = async (url: string, language: string): Promise<string> => (await app.inject({
    url, headers: { ...html, 'accept-language': language }
  })).body
  t.match(await read('/', 'de'), /<h1>Tabellen<\/h1>[^]*<a href="\/fews">Wenige<\/a>/)
  t.match(
    await read('/fews', 'de'), /<a href="\/">Tabellen<\/a>[^]*<h1>Wenige<\/h1>[^]*>Weniges anlegen<[^]*>Bezeichnung</
  )
  t.match(await read('/fews/1/edit', 'de'), '>Sichern</button>')
  t.match(await read('/fews', 'en'), /<a href="\/">Tables<\/a>[^]*<h1>Few<\/h1>[^]*>Name</)
  t.match(await read('/fews/1/edit', 'en'), '>Keep</button>')
})

t.test('the home page is below the prefix', async (t) => {
  const app = fastify({ pluginTimeout: 0 })
  const opened = makeDatabase(SQL)
  t.teardown(() => app.close())
  app.register(async (app) => {
    await app.register(database, {
      database: opened, prefix: 'data/', report: () => {}, tables: { guarded: { only: 'show' } }
    })
  }, { prefix: '/api' })
  await app.ready()
  const { body } = await app.inject({ url: '/api/data', headers: html })
  t.match(
    body, /href="\/api\/data\/home\.[\da-f]+\.css"[^]*href="\/api\/data\?format=json"[^]*href="\/api\/data\/fews"/
  )
  t.notMatch(body, 'Guarded', 'a resource without a list is left out')
  t.equal((await app.inject('/api/data/')).statusCode, 404)
  const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(body) ?? []
  t.equal((await app.inject(stylesheet)).statusCode, 200)
})

t.test('rows are counted unless hooks or a handler of the app guard them', async (t) => {
  const rowsOf = async (options: object): Promise<unknown> => {
    const app = await serve(t, { only: ['few'], tables: { few: options } })
    return ((await app.inject('/?format=json')).json() as { resources: Array<{ rows?: number }> }).resources[0]?.rows
  }
  const cases: ReadonlyArray<readonly [options: object, rows: number | undefined]> = [
    [{}, 2],
    [{ authorize: () => true }, 2],
    [{ scope: () => ({ name: 'b' }) }, 1],
    [{ hooks: { onRequest: async () => {} } }, undefined],
    [{ actionHooks: { list: { onRequest: async () => {} } } }, undefined],
    [{ actions: { list: () => [] } }, undefined],
    [{ store: { list: () => [], get () {}, create () {}, update () {}, delete () {} }, id: 'integer' }, undefined]
  ]
  for (const [options, rows] of cases) t.equal(await rowsOf(options), rows, Object.keys(options).join())
})

t.test('a table that cannot be counted has no number', async (t) => {
  const count = (): never => { throw new Error('too slow') }
  const store = {
    list: () => [], get () {}, create () {}, update () {}, delete () {}, count, capabilities: { count: true }
  }
  const app = await serve(t, { only: ['few'], tables: { few: { store } as object } })
  t.same((await app.inject('/?format=json')).json(), { resources: [{ name: 'fews', title: 'Few', path: '/fews' }] })
  t.match((await app.inject('/?format=xml')).body, '<path>/fews</path></resource>')
})

/** A database with more tables than a bar has room for. */
const SHOP = `
  CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE b (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES b);
  CREATE VIEW c AS SELECT id, name FROM a;
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE lines (id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders, product INTEGER REFERENCES products);
  CREATE TABLE notes (id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders, customer INTEGER REFERENCES customers);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers);
  CREATE TABLE products (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES makers);
  CREATE TABLE makers (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE z (id INTEGER PRIMARY KEY, name TEXT)`

const barOf = (page: string): string[] =>
  [...(/<nav class="bar"[^>]*>([^]*?)<\/nav>/.exec(page)?.[1] ?? '').matchAll(/<a [^>]*>([^<]*)</g)].map(([, text]) =>
    String(text))

async function serveShop (t: Test, options: object = {}): Promise<FastifyInstance> {
  const opened = makeDatabase(SHOP)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened, report: () => {}, ...options })
  await app.ready()
  return app
}

const visit = async (app: FastifyInstance, url: string, headers: object = {}): Promise<string> =>
  (await app.inject({ url, headers: { ...html, ...headers } })).body

/** Returns the headings of a home page, the names of its tables and what each row of a table says. */
function readHome (page: string): string[] {
  const parts = page.matchAll(/<h[12]>([^<]*)|<table aria-label="([^"]*)"|<tr>(<th id=.*?)<\/tr>/g)
  return [...parts].map(([, heading, label, row = '']) =>
    heading ?? (label === undefined ? row.replaceAll(/(?:<[^>]*>)+/g, ' ').trim() : `(${label})`))
}

t.test('the home page shows views apart, and the bar the tables to which others refer', async (t) => {
  const app = await serveShop(t)
  const tables = ['A 0', 'B 0', 'Customers 0', 'Lines 0', 'Makers 0', 'Notes 0', 'Orders 0', 'Products 0', 'Z 0']
  const page = await visit(app, '/')
  t.strictSame(readHome(page), ['Tables', 'Tables', '(Tables)', ...tables, 'Views', '(Views)', 'C 0'])
  const { resources } = (await app.inject('/?format=json')).json<{ resources: Array<{ name: string }> }>()
  t.equal(resources.at(-1)?.name, 'cs', 'views come last in every format')
  const main = ['Customers', 'Lines', 'Makers', 'Notes', 'Orders', 'Products']
  t.strictSame(barOf(page), ['Tables', 'A', ...main])
  t.strictSame(barOf(await visit(app, '/orders')), ['Tables', 'A', ...main, 'All tables'])
  t.match(await visit(app, '/orders'), '<li class="all"><a href="/">All tables</a></li>')
  t.strictSame(barOf(await visit(app, '/cs')), ['Tables', 'A', ...main, 'C', 'All tables'])
  const few = await serveShop(t, { only: ['a', 'c', 'z'] })
  t.strictSame(barOf(await visit(few, '/as')), ['Tables', 'A', 'Z', 'C'])
  const only = async (...only: readonly string[]): Promise<string[]> =>
    readHome(await visit(await serveShop(t, { only }), '/'))
  t.strictSame(await only('a', 'z'), ['Tables', '(Tables)', 'A 0', 'Z 0'])
  t.strictSame(await only('c'), ['Tables', 'Views', '(Views)', 'C 0'])
})

t.test('the home page links to the form of each table in which the user may create a row', async (t) => {
  const formsOf = (page: string): string[] =>
    [...page.matchAll(/<td><a id="(new-\d+)" aria-labelledby="\1 (list-\d+)" href="([^"]*)">New<\/a><\/td>/g)].map(
      ([, , head, href]) => `${href} ${new RegExp(`<th id="${head}"[^>]*><a [^>]*>([^<]*)`).exec(page)?.[1]}`)
  const app = await serveShop(t, {
    write: true,
    only: ['a', 'b', 'c', 'customers', 'lines', 'makers', 'notes', 'z'],
    tables: {
      b: { except: 'create' },
      customers: {
        authorize: async ({ headers: { user } }: FastifyRequest, { action }: { action: string }) =>
          action !== 'create' || user === 'ann'
      },
      lines: { formPages: false },
      makers: { actionHooks: { new: { onRequest: async () => {} } } },
      notes: { formats: ['json'] }
    }
  })
  const all = ['/as/new A', '/lines#new Lines', '/zs/new Z']
  t.strictSame(formsOf(await visit(app, '/')), all)
  const page = await visit(app, '/', { user: 'ann' })
  t.strictSame(formsOf(page), [all[0], '/customers/new Customers', ...all.slice(1)])
  t.notMatch((await app.inject('/?format=json')).body, 'new')
  t.strictSame(formsOf(await visit(await serveShop(t), '/')), [], 'a database is read-only by default')
})

t.test('the home page is called like the database', async (t) => {
  const file = `${t.testdir()}/Tea shop.2026.sqlite`
  const opened = new Database(file)
  t.teardown(() => { opened.close() })
  opened.exec('CREATE TABLE teas (id INTEGER PRIMARY KEY)')
  const cases: ReadonlyArray<readonly [options: DatabaseOptions, title: string]> = [
    [{ file }, 'Tea shop.2026'],
    [{ database: opened }, 'Tea shop.2026'],
    [{ file, home: 'Teas' }, 'Teas'],
    [{ file, home: { title: 'Teas' } }, 'Teas'],
    [{ file, home: { notFound: true } }, 'Tea shop.2026'],
    [{ database: makeDatabase(SQL) }, 'Tables']
  ]
  for (const [options, title] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(database, { report: () => {}, ...options })
    t.match(await visit(app, '/'), `<h1>${title}</h1>`, title)
    const missing = await app.inject({ url: '/nope', headers: html })
    const hasPage = typeof options.home === 'object' && options.home.notFound === true
    t.equal(missing.headers['content-type'], hasPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8')
  }
})
