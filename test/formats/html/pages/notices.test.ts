import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../../lib/database/index.js'
import resources, { memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { makeMessages } from '../../../../lib/html/languages/make-messages.js'
import { findWords, KNOWN_LANGUAGES, loadLanguages } from '../../../../lib/html/languages/language.js'
import { sayNotice } from '../../../../lib/html/notices.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { build } from '../../../support/helper.js'
import { elementsOf } from '../../../support/html/elements.js'
import { isSound, post, tagged } from '../../../support/html/page-tests.js'

const NAME = 'fastify-resources-notice'
const html = { accept: 'text/html' }

async function serve (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', attributes: tagged, store: memoryStore(), ...options } as ResourceOptions)
}

/** Opens a page as a browser does that has kept the cookie. */
function open (app: FastifyInstance, url: string, notice: string, headers = {}): Promise<LightMyRequestResponse> {
  return app.inject({ url: url.replace(/#.*/, ''), headers: { ...html, cookie: `${NAME}=${notice}`, ...headers } })
}

const noticesOf = (page: string): string[] =>
  elementsOf(page).filter(({ attributes }) => attributes.class === 'notice').map(({ text }) => text)

const writes = [
  ['post[title]=a', '/posts/1', 'created', 'Created.'],
  ['_method=PUT&id=1&post[title]=b', '/posts/1', 'saved', 'Saved.'],
  ['post[title]=c&commit=another', '/posts#new', 'added', 'Created.'],
  ['_method=DELETE&id=1', '/posts', 'deleted', 'Deleted.'],
  ['_method=PUT&id[]=2&post[title]=d', '/posts', 'saved.1', '1 post saved.'],
  ['_method=DELETE&id[]=2', '/posts', 'deleted.1', '1 post deleted.']
] as const

t.test('after a write, the page at the path of the redirect says once what was done', async (t) => {
  const app = await serve(t)
  for (const [payload, location, value, text] of writes) {
    const { statusCode, headers } = await post(app, payload)
    const path = location.replace('#new', '')
    t.strictSame([statusCode, headers.location, headers['set-cookie']], [
      303, location, `${NAME}=${value}; Max-Age=10; Path=${path}; HttpOnly; SameSite=Lax`
    ])
    const page = await open(app, location, value)
    isSound(t, page, 200)
    t.strictSame([noticesOf(page.body), page.headers['set-cookie'], page.headers['cache-control']], [
      [text], `${NAME}=; Max-Age=0; Path=${path}; HttpOnly; SameSite=Lax`, 'private, no-store'
    ])
    const again = await app.inject({ url: path, headers: html })
    t.strictSame([noticesOf(again.body), again.headers['set-cookie'], again.headers['cache-control']],
      [[], undefined, 'private, no-cache'], 'no page has words that it does not say')
  }
})

t.test('a page with a notice has no ETag and is never a 304', async (t) => {
  const app = await serve(t)
  await post(app, 'post[title]=a')
  const { headers: { etag } } = await app.inject({ url: '/posts/1', headers: html })
  const known = { 'if-none-match': String(etag) }
  t.equal((await app.inject({ url: '/posts/1', headers: { ...html, ...known } })).statusCode, 304)
  const page = await open(app, '/posts/1', 'saved', known)
  t.strictSame([page.statusCode, page.headers.etag, noticesOf(page.body)], [200, undefined, ['Saved.']])
})

t.test('"no-store" stands above what the app says about caches', async (t) => {
  const app = await serve(t, { cacheControl: 'public, max-age=60' })
  await post(app, 'post[title]=a')
  for (const url of ['/posts', '/posts/1']) {
    t.equal((await open(app, url, 'created')).headers['cache-control'], 'private, no-store')
    t.equal((await app.inject({ url, headers: html })).headers['cache-control'], 'public, max-age=60')
  }
})

t.test('XML, JSON and CSV neither set nor read the cookie', async (t) => {
  const app = await serve(t, { formats: ['xml', 'html', 'json', 'csv'] })
  await post(app, 'post[title]=a')
  for (const type of ['application/json', 'application/xml', 'text/csv']) {
    for (const payload of ['post[title]=a&commit=another', '_method=PUT&id=1&post[title]=b']) {
      const { statusCode, headers } = await post(app, payload, '/posts', { accept: `${type}, application/json;q=0.5` })
      t.equal(Math.floor(statusCode / 100), 2)
      t.equal(headers['set-cookie'], undefined)
    }
    for (const url of type === 'text/csv' ? ['/posts'] : ['/posts', '/posts/1']) {
      const { headers, body } = await open(app, url, 'created', { accept: type })
      t.strictSame([headers['set-cookie'], headers['cache-control']], [undefined, 'private, no-cache'])
      t.equal(body, (await app.inject({ url, headers: { accept: type } })).body)
    }
  }
})

t.test('what is no code and no number shows nothing, and is left alone', async (t) => {
  const app = await serve(t)
  await post(app, 'post[title]=a')
  const { body } = await app.inject({ url: '/posts/1', headers: html })
  for (const value of ['', 'constructor', 'Created.', 'saved.', 'saved.-1', 'saved.1.5', 'saved.01', 'saved.1e3',
    'saved.1234567890', 'saved%2E1', '"saved"', '<b>', 'saved x', `${'x'.repeat(5000)}`]) {
    const page = await open(app, '/posts/1', value)
    t.strictSame([page.body, page.headers['set-cookie']], [body, undefined], value.slice(0, 20))
  }
  t.strictSame(noticesOf((await open(app, '/posts/1', 'saved.999999999')).body), ['999,999,999 posts saved.'])
  t.strictSame(noticesOf((await open(app, '/posts/1', 'saved.0')).body), ['0 posts saved.'])
})

t.test('the cookie is found among others, and only by its whole name', async (t) => {
  const app = await serve(t)
  await post(app, 'post[title]=a')
  for (const [cookie, expected] of [
    [`a=b; ${NAME}=saved; c=d`, ['Saved.']],
    [`a=b;${NAME}=done`, ['Done.']],
    [`${NAME}=created; ${NAME}=deleted`, ['Created.']],
    [`x${NAME}=saved`, []],
    [`a=${NAME}=saved`, []],
    [`a="; ${NAME}=saved"`, []]
  ] as const) {
    const { body } = await app.inject({ url: '/posts/1', headers: { ...html, cookie } })
    t.strictSame(noticesOf(body), expected, cookie)
  }
})

t.test('only the pages that a redirect leads to show a notice, and only to a GET', async (t) => {
  const app = await serve(t, { formPages: true })
  await post(app, 'post[title]=a')
  for (const [url, expected] of [['/posts', 1], ['/posts/1', 1], ['/posts/new', 1], ['/posts/1/edit', 0],
    ['/posts/9', 0]] as const) {
    const { body, headers } = await open(app, url, 'created')
    t.strictSame([noticesOf(body).length, headers['set-cookie'] !== undefined], [expected, expected === 1], url)
  }
  const head = await app.inject({ method: 'HEAD', url: '/posts/1', headers: { ...html, cookie: `${NAME}=saved` } })
  t.strictSame([head.statusCode, head.headers['set-cookie']], [200, undefined])
})

t.test('under https, the cookie is secure', async (t) => {
  const app = fastify({ trustProxy: true })
  t.teardown(async () => app.close())
  app.register(resources, { name: 'posts', attributes: tagged, store: memoryStore() })
  const secure = { 'x-forwarded-proto': 'https' }
  const { headers } = await post(app, 'post[title]=a', '/posts', secure)
  t.equal(headers['set-cookie'], `${NAME}=created; Max-Age=10; Path=/posts/1; HttpOnly; SameSite=Lax; Secure`)
  const page = await open(app, '/posts/1', 'created', secure)
  t.equal(page.headers['set-cookie'], `${NAME}=; Max-Age=0; Path=/posts/1; HttpOnly; SameSite=Lax; Secure`)
})

t.test('cookies of the app stay', async (t) => {
  const app = fastify()
  t.teardown(async () => app.close())
  app.addHook('onRequest', async (_request, reply) => { reply.header('set-cookie', 'a=b') })
  app.register(resources, { name: 'posts', attributes: tagged, store: memoryStore() })
  const { headers } = await post(app, 'post[title]=a')
  t.strictSame(headers['set-cookie'],
    ['a=b', `${NAME}=created; Max-Age=10; Path=/posts/1; HttpOnly; SameSite=Lax`])
  t.strictSame((await open(app, '/posts/1', 'created')).headers['set-cookie'],
    ['a=b', `${NAME}=; Max-Age=0; Path=/posts/1; HttpOnly; SameSite=Lax`])
  t.equal((await open(app, '/posts/1', 'nothing')).headers['set-cookie'], 'a=b')
})

t.test('a path for which browsers keep no cookie gets none', async (t) => {
  const app = await serve(t, { formPages: true, pathNames: { new: 'a;Domain=example.com' } })
  const odd = await post(app, 'post[title]=a&commit=another')
  t.strictSame([odd.statusCode, odd.headers.location, odd.headers['set-cookie']],
    [303, '/posts/a;Domain=example.com', undefined])
  const page = await open(app, '/posts/a;Domain=example.com', 'created')
  t.strictSame([page.statusCode, page.headers['set-cookie'], noticesOf(page.body)], [200, undefined, []])
  const long = 'x'.repeat(1100)
  const other = await serve(t, { formPages: true, pathNames: { new: long } })
  const { headers } = await post(other, 'post[title]=a&commit=another')
  t.strictSame([headers.location, headers['set-cookie']], [`/posts/${long}`, undefined])
})

t.test('"Save and add another" unfolds the form again and says so in it', async (t) => {
  const app = await serve(t)
  await post(app, 'post[title]=a')
  const page = (await open(app, '/posts', 'added')).body
  t.match(page, /<section id="new" class="card" [^>]*>\n<p class="notice" [^>]*>Created\.<\/p>\n<h2/)
  t.match((await app.inject({ url: '/posts', headers: html })).body, '<section id="new" class="card new"')
  const refused = await serve(t, { authorize: (_request, { action }) => action !== 'create' })
  t.strictSame(noticesOf((await open(refused, '/posts', 'added')).body), ['Created.'], 'else above the list')
})

t.test('a list that is sent in chunks has its notice, too', async (t) => {
  const store = memoryStore()
  for (let row = 0; row < 3; row++) store.create({ title: 'x'.repeat(3_000_000) }, {})
  const app = await serve(t, { attributes: { type: 'object', properties: { title: { type: 'string' } } }, store })
  t.strictSame(noticesOf((await open(app, '/posts', 'deleted.3')).body), ['3 posts deleted.'])
})

t.test('a repeated request with a key says the same again', async (t) => {
  const app = await serve(t, { idempotency: {} })
  for (const payload of ['post[title]=a', '_method=PUT&id[]=1&post[title]=b', '_method=DELETE&id[]=1']) {
    const send = async (): Promise<unknown> =>
      (await post(app, payload, '/posts', { 'idempotency-key': payload.length.toString() })).headers['set-cookie']
    const first = await send()
    t.match(first, NAME)
    if (payload === 'post[title]=a') t.equal(await send(), first)
  }
  t.equal((await post(app, 'post[title]=a', '/posts', { 'idempotency-key': '13' })).headers['set-cookie'],
    `${NAME}=created; Max-Age=10; Path=/posts; HttpOnly; SameSite=Lax`, 'also once the row is gone')
})

t.test('a button that adds a row answers 422, which Turbo shows, and sets no cookie', async (t) => {
  const app = await serve(t)
  const { statusCode, headers } = await post(app, 'post[title]=a&post[tags][?][add]=1')
  t.strictSame([statusCode, headers['set-cookie']], [422, undefined])
})

t.test('each language says how many rows were written', async (t) => {
  const names = { plural: 'posts', singular: 'post' }
  const languages = await loadLanguages(KNOWN_LANGUAGES)
  for (const lang of KNOWN_LANGUAGES) {
    const messages = makeMessages(names, { words: findWords(lang, languages), messages: {} })
    for (const notice of ['saved', 'created', 'deleted', 'done'] as const) {
      const said = [undefined, 1, 2, 1234].map((rows) => sayNotice({ notice, rows }, messages, lang))
      t.equal(new Set(said).size, 4, lang)
      t.match(said[3], new RegExp(new Intl.NumberFormat(lang).format(1234)))
    }
  }
})

t.test('a served database says what was done', async (t) => {
  const opened = makeDatabase(`CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO authors VALUES (1, 'Ada')`)
  const app = fastify()
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened, report: () => {}, write: true })
  for (const [payload, path, value, text] of [
    ['author[name]=Bob', '/authors/2', 'created', 'Created.'],
    ['author[name]=Cyd&commit=another', '/authors/new', 'created', 'Created.'],
    ['_method=DELETE&id=1', '/authors', 'deleted', 'Deleted.']
  ] as const) {
    const { headers } = await post(app, payload, '/authors')
    t.strictSame([headers.location, headers['set-cookie']],
      [path, `${NAME}=${value}; Max-Age=10; Path=${path}; HttpOnly; SameSite=Lax`])
    t.strictSame(noticesOf((await open(app, path, value)).body), [text])
  }
})
