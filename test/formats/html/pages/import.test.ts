import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { type MemoryStore, memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { sqliteStores } from '../../../../lib/sql/sqlite/index.js'
import { build } from '../../../support/helper.js'
import { decode, entriesOf, findButton, type Form, parseForms } from '../../../support/html/forms.js'
import { get, isSound } from '../../../support/html/page-tests.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    published: { type: 'boolean', default: false },
    code: { type: 'string', readOnly: true }
  }
} as const

const context = { signal: new AbortController().signal }

interface Posts {
  readonly app: FastifyInstance
  readonly store: MemoryStore
}

async function openPosts (t: Test, options: Partial<ResourceOptions> = {}, titles = ['Tea', 'Milk']): Promise<Posts> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of titles) await store.create({ title, rating: 3, published: false }, {}, context)
  const all = { attributes, store, html: { import: true }, formats: ['xml', 'html', 'json', 'csv'], ...options }
  return { app: await build(t, { ...all, name: 'posts' } as ResourceOptions), store }
}

type Fields = ReadonlyArray<readonly [name: string, value: string | Buffer]>

/** Sends fields as a browser does. The field `file` is a file. */
async function post (
  app: FastifyInstance,
  fields: Fields,
  headers: Readonly<Record<string, string>> = {}
): Promise<LightMyRequestResponse> {
  const form = new FormData()
  for (const [name, value] of fields) {
    if (name === 'file') form.append(name, new Blob([value]), 'posts.csv')
    else form.append(name, value as string)
  }
  const request = new Request('http://localhost', { method: 'POST', body: form })
  return app.inject({
    method: 'POST',
    url: '/posts/import',
    headers: { accept: 'text/html', 'content-type': request.headers.get('content-type') as string, ...headers },
    payload: Buffer.from(await request.arrayBuffer())
  })
}

async function sendFile (
  app: FastifyInstance,
  file: string | Buffer,
  more: Fields = []
): Promise<LightMyRequestResponse> {
  return post(app, [['file', file], ['text', ''], ...more])
}

/** Presses a button of the form that carries the file. */
async function press (
  app: FastifyInstance,
  page: LightMyRequestResponse,
  step: string
): Promise<LightMyRequestResponse> {
  const form = stepsOf(page) as Form
  return post(app, entriesOf(form, findButton(form, 'step', step)))
}

function stepsOf (page: LightMyRequestResponse): Form | undefined {
  return parseForms(page).find(({ controls }) => controls.some(({ name }) => name === 'data'))
}

const buttonsOf = (page: LightMyRequestResponse): string[] =>
  stepsOf(page)?.controls.filter(({ tag }) => tag === 'button').map(({ value, label }) => `${value}: ${label}`) ?? []
const notesOf = ({ body }: LightMyRequestResponse): string[] =>
  [...body.matchAll(/<p(?: class="lead")?>([^<]*)<\/p>/g)].map(([, text = '']) => text)
const problemsOf = ({ body }: LightMyRequestResponse): string[] =>
  [...body.matchAll(/<li>([^<]*)<\/li>/g)].map(([, text = '']) => decode(text))
const tableOf = ({ body }: LightMyRequestResponse): string[] =>
  [...body.matchAll(/<tr><th scope="row"[^]*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/g)].map(([, cell = '']) => decode(cell.replaceAll(/<.*?>/g, ''))).join('|'))
const headsOf = ({ body }: LightMyRequestResponse): string | undefined =>
  /<thead>.*<\/thead>/.exec(body)?.[0].replaceAll('</th>', '|').replaceAll(/<.*?>/g, '')

async function stored (app: FastifyInstance): Promise<string> {
  const { posts } = (await app.inject('/posts.json')).json<{ posts: Array<Record<string, unknown>> }>()
  return posts.map(({ title, rating, published }) => `${String(title)} ${String(rating)} ${String(published)}`).join()
}

const UNCHANGED = 'Tea 3 false,Milk 3 false'

t.test('the list links to the form, which asks for a file or its lines', async (t) => {
  const { app } = await openPosts(t)
  t.match((await get(app, '/posts')).body, '<a class="button plain" href="/posts/import">Import</a>')
  const page = await get(app, '/posts/import')
  isSound(t, page, 200)
  const [form] = parseForms(page)
  t.match(page.body, 'names the columns: <span class="code" dir="ltr">id, title, rating, published</span>')
  t.strictSame(form?.controls.map(({ name, type }) => `${name} ${type}`),
    ['file file', 'text textarea', 'match select', ' submit'])
  t.strictSame(form?.controls[2]?.options.map(({ value }) => value), ['', 'title'])
  t.match(page.body, /<a class="button plain" href="\/posts">Cancel<\/a>/)
  t.match(page.body, /enctype="multipart\/form-data"/)
})

t.test('a file without ids creates records, after a page that says so and writes nothing', async (t) => {
  const { app } = await openPosts(t)
  const page = await sendFile(app, 'title,rating\r\nCoffee,\r\nCocoa,5\r\n')
  isSound(t, page, 422)
  t.strictSame([notesOf(page).filter((note) => note.includes('reate')), headsOf(page), tableOf(page)],
    [['Create 2'], 'Line|Title|Rating|', ['2|Coffee|', '3|Cocoa|5']])
  t.match(page.body, '<table class="list" aria-label="Import posts">')
  t.match(page.body, '<tr><th scope="row" data-label="Line" class="number">2</th><td', 'a line is the head of its row')
  t.strictSame(buttonsOf(page), ['write: Create 2'])
  t.equal(await stored(app), UNCHANGED)
  const done = await press(app, page, 'write')
  t.strictSame([done.statusCode, done.headers.location], [303, '/posts'])
  t.equal(await stored(app), `${UNCHANGED},Coffee undefined false,Cocoa 5 false`)
})

t.test('a file with ids changes records, and never creates one', async (t) => {
  const { app } = await openPosts(t)
  const page = await sendFile(app, 'id,title,rating\n1,Tea,4\n2,Milk,3\n')
  t.strictSame([headsOf(page), tableOf(page), buttonsOf(page)],
    ['Line|Id|Title|Rating|', ['2|1|Tea|4', '3|2|Milk|3'], ['write: Change 1']])
  t.match(notesOf(page), ['Change 1', 'Unchanged: 1'].filter(Boolean))
  const done = await press(app, page, 'write')
  t.strictSame([done.statusCode, done.headers.location], [303, '/posts'])
  t.equal(await stored(app), 'Tea 4 false,Milk 3 false')
  const missing = await sendFile(app, 'id,title\n1,Tee\n9,Cocoa\n')
  isSound(t, missing, 404)
  t.strictSame(tableOf(missing), ['3||There is no post with the id 9'])
  t.match((await press(app, missing, 'faulty')).body, '"9","Cocoa","There is no post with the id 9"\r\n')
  t.equal(await stored(app), 'Tea 4 false,Milk 3 false')
})

t.test('records are found by a unique attribute, and what is not found is created', async (t) => {
  const { app } = await openPosts(t)
  const file = 'id,title,rating\n7,Tea,5\n,Cocoa,1\n,Milk,3\n'
  const page = await sendFile(app, file, [['match', 'title']])
  isSound(t, page, 422)
  t.strictSame([headsOf(page), tableOf(page), buttonsOf(page)],
    ['Line|Title|Rating|', ['2|Tea|5', '3|Cocoa|1', '4|Milk|3'], ['write: Create 1 and change 1']])
  t.equal((await press(app, page, 'write')).statusCode, 303)
  t.equal(await stored(app), 'Tea 5 false,Milk 3 false,Cocoa 1 false')
  const wrong = await sendFile(app, file, [['match', 'rating']])
  isSound(t, wrong, 400)
  t.strictSame(problemsOf(wrong).at(-1), '"match" must be title')
})

t.test('a download that is sent back changes nothing', async (t) => {
  const { app } = await openPosts(t)
  const list = await get(app, '/posts?rating=3&sort=-title')
  const [, href = ''] = /<a class="button plain" href="([^"]*)">Download CSV/.exec(list.body) ?? []
  t.equal(href, '/posts?format=csv-bom&amp;rating=3&amp;sort=-title')
  const { body } = await app.inject(href.replaceAll('&amp;', '&'))
  t.equal(body, '\uFEFFid,title,rating,published,code\r\n1,Tea,3,false,\r\n2,Milk,3,false,\r\n')
  const page = await sendFile(app, body)
  isSound(t, page, 422)
  t.match(notesOf(page), ['Nothing changes', 'Unchanged: 2'])
  t.strictSame(buttonsOf(page), [])
})

t.test('faults are named by line and column, the file comes back, and the rest is written without them', async (t) => {
  const { app } = await openPosts(t)
  const file = 'title,rating\nCoffee,9\nTea,1\n,7\nCocoa,2\n"Two\nlines",1\nGreen,3\n'
  const page = await sendFile(app, file)
  isSound(t, page, 422)
  t.match(page.body, '<title>Problem: Import posts &#8211; Posts</title>')
  t.match(problemsOf(page), /3 of 6 rows are at fault; nothing was written/)
  t.equal(headsOf(page), 'Line|Column|Problem|')
  t.strictSame(tableOf(page), [
    '2|rating|Must be at most 5', '3|title|Is already taken', '4|title|Must be given', '4|rating|Must be at most 5'
  ])
  t.strictSame(buttonsOf(page), ['rest: Go on without them', 'faulty: Download the faulty rows'])
  t.equal(await stored(app), UNCHANGED)

  const faulty = await press(app, page, 'faulty')
  t.match(faulty, {
    statusCode: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8', 'content-disposition': 'attachment; filename="errors.csv"'
    },
    body: '\uFEFF"title","rating","errors"\r\n"Coffee","9","rating must be at most 5"\r\n' +
      '"Tea","1","title is already taken"\r\n,"7","title must be given; rating must be at most 5"\r\n'
  })
  const again = await sendFile(app, faulty.body.replace('9', '5').replace('"Tea"', '"Thé"').replace(',"7"', 'Oolong,1'))
  t.strictSame(buttonsOf(again), ['write: Create 3'], 'the column of the faults is left out')

  const rest = await press(app, page, 'rest')
  isSound(t, rest, 422)
  t.match(notesOf(rest), ['Create 3', 'Left out: 3'])
  t.strictSame(tableOf(rest), ['5|Cocoa|2', '6|Two\nlines|1', '8|Green|3'])
  t.equal((await press(app, rest, 'write')).statusCode, 303)
  t.equal(await stored(app), `${UNCHANGED},Cocoa 2 false,Two\nlines 1 false,Green 3 false`)
})

t.test('what has become a fault since the page was opened is told, and nothing is written', async (t) => {
  const { app, store } = await openPosts(t)
  const page = await sendFile(app, 'title\nCoffee\nCocoa\nGreen\n', [['without', '4']])
  t.match(notesOf(page), ['Create 2', 'Left out: 1'])
  await store.create({ title: 'Cocoa', rating: 3, published: false }, {}, context)
  const refused = await press(app, page, 'write')
  isSound(t, refused, 409)
  t.strictSame(tableOf(refused), ['3|title|Is already taken'])
  t.equal(await stored(app), `${UNCHANGED},Cocoa 3 false`)
  const rest = await press(app, refused, 'rest')
  t.match(notesOf(rest), ['Create 1', 'Left out: 2'])
  t.equal((await press(app, rest, 'write')).statusCode, 303)
  t.equal(await stored(app), `${UNCHANGED},Cocoa 3 false,Coffee undefined false`)
  // The download of faults that are gone shows the page.
  isSound(t, await sendFile(app, 'title\nBlack\n', [['step', 'faulty']]), 422)
})

t.test('a file whose rows are all at fault can only be downloaded, and names 100 of them', async (t) => {
  const { app } = await openPosts(t)
  const page = await sendFile(app, `title,colour\n${Array.from({ length: 120 }, (_, i) => `T${i},red\n`).join('')}`)
  isSound(t, page, 422)
  t.equal(tableOf(page).length, 100)
  t.match(notesOf(page), ['and 20 more'])
  t.strictSame(buttonsOf(page), ['faulty: Download the faulty rows'])
  t.equal((await press(app, page, 'faulty')).body.split('\r\n').length, 122)
})

t.test('files of spreadsheets are read: semicolons, a byte order mark, quotes, and booleans in capitals', async (t) => {
  const { app } = await openPosts(t)
  const page = await sendFile(app, '\uFEFFtitle;rating;published\r\n"A;b, ""c""";1;TRUE\r\n')
  t.strictSame(tableOf(page), ['2|A;b, "c"|1|✓'])
  t.equal((await press(app, page, 'write')).statusCode, 303)
  t.equal(await stored(app), `${UNCHANGED},A;b, "c" 1 true`)
  const bad = await sendFile(app, 'title;rating\nCoffee;9\n')
  t.equal((await press(app, bad, 'faulty')).body,
    '\uFEFF"title";"rating";"errors"\r\n"Coffee";"9";"rating must be at most 5"\r\n')
  t.strictSame(buttonsOf(await sendFile(app, '"title"\n"a;b"\n')), ['write: Create 1'], 'a quoted header')
})

t.test('what cannot be read is told on the page', async (t) => {
  const { app } = await openPosts(t, { html: { import: { rows: 3, bytes: '1kB' } } })
  const big = 'x'.repeat(1025)
  const boundary = { 'content-type': 'multipart/form-data; boundary=x' }
  const part = (name: string, text: string): string =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
  const raw = async (payload: string | Buffer, headers: Readonly<Record<string, string>> = boundary) =>
    app.inject({ method: 'POST', url: '/posts/import', headers: { accept: 'text/html', ...headers }, payload })
  const cases: ReadonlyArray<
    readonly [what: string, sent: Promise<LightMyRequestResponse>, status: number, problem: RegExp]
  > = [
    ['no file', sendFile(app, ''), 400, /line 1 must be a header/],
    ['a header alone', sendFile(app, 'title\n'), 400, /the file has no rows/],
    ['an empty name', sendFile(app, 'title,\nA,B\n'), 400, /line 1 must be a header that names each column/],
    ['a column twice', sendFile(app, 'title,title\nA,B\n'), 400, /line 1 names the column "title" twice/],
    ['a missing field', sendFile(app, 'title,rating\nA\n'), 400, /line 2 has another number of fields \(1\)/],
    ['an open quote', sendFile(app, 'title\n"A\n'), 400, /line 2 has a quote that opens a field/],
    ['UTF-16', sendFile(app, Buffer.from('\uFEFFtitle\nA\n', 'utf16le')), 400, /save it as CSV in UTF-8/],
    ['UTF-16 without a mark', sendFile(app, Buffer.from('title\nA\n', 'utf16le')), 400, /save it as CSV in UTF-8/],
    ['Latin-1', sendFile(app, Buffer.from('title\nThé\n', 'latin1')), 400, /save it as CSV in UTF-8/],
    ['too many rows', sendFile(app, 'title\nA\nB\nC\nD\n'), 413, /the file has more than 3 rows/],
    ['too large a file', sendFile(app, big), 413, /the file has more than 1 kB/],
    ['too large a text', post(app, [['text', big]]), 413, /the file has more than 1 kB/],
    ['a text that is cut', post(app, [['text', 'x'.repeat(2000)]]), 413, /the file has more than 1 kB/],
    ['neither field', post(app, [['step', 'preview']]), 400, /line 1 must be a header/],
    ['too large a carried file', post(app, [['data', Buffer.from(big).toString('base64')]]), 413, /more than 1 kB/],
    ['too large a body', post(app, [['text', 'x'.repeat(600_000)]]), 413, /Request body is too large/],
    ['too many parts', post(app, Array.from({ length: 11 }, (_, index) => [`f${index}`, ''])), 413, /more than 10 fields/],
    ['a long name', post(app, [['x'.repeat(101), '']]), 413, /more than 100 bytes/],
    ['an unknown field', post(app, [['post[title]', 'A']]), 400, /an unknown field "post\[title\]"/],
    ['a field twice', post(app, [['text', 'A'], ['text', 'B']]), 400, /the field "text" twice/],
    ['an unknown step', sendFile(app, 'title\nA\n', [['step', 'x']]), 400, /"step" must be one of preview, write/],
    ['a cut body', raw(part('text', 'title')), 400, /not valid multipart\/form-data/],
    ['bytes that are no UTF-8', raw(Buffer.from(`${part('text', 'title\n\xff')}--x--`, 'latin1')), 400,
      /the body is not valid UTF-8/],
    ['no boundary', raw(part('text', 'title'), { 'content-type': 'multipart/form-data' }), 400, /Boundary not found/],
    ['no body', raw('', {}), 422, /must be given/]
  ]
  for (const [what, sent, status, problem] of cases) {
    const page = await sent
    isSound(t, page, status, what)
    t.match(problemsOf(page).at(-1), problem, what)
    t.equal(parseForms(page).length, 1, what)
  }
  t.equal(await stored(app), UNCHANGED)
})

t.test('a form is read only where an import is, and an import reads nothing else', async (t) => {
  const { app } = await openPosts(t)
  const send = async (url: string, headers: Readonly<Record<string, string>>, payload = 'a=b') =>
    (await app.inject({ method: 'POST', url, headers, payload })).statusCode
  t.equal(await send('/posts', { 'content-type': 'multipart/form-data; boundary=x' }), 415)
  t.equal(await send('/posts/import', { 'content-type': 'application/x-www-form-urlencoded' }), 415)
  t.equal(await send('/posts/import', { 'content-type': 'text/csv' }), 415)
  t.equal((await post(app, [['text', 'title\nA']], { accept: 'application/json' })).statusCode, 406)
  t.equal((await post(app, [['text', 'title\nA']], { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  t.equal((await app.inject({ method: 'PUT', url: '/posts/import' })).statusCode, 405)
  t.equal((await app.inject({ url: '/posts/import', headers: { accept: 'application/json' } })).statusCode, 406)
  t.equal((await app.inject({ url: '/posts/import', headers: { accept: '*/*' } })).headers['content-type'],
    'text/html; charset=utf-8')
  t.equal((await app.inject('/posts/import?x=1')).statusCode, 400)
})

t.test('a list offers only what can be imported', async (t) => {
  const { transaction, ...plain } = memoryStore()
  const cases: ReadonlyArray<
    readonly [what: string, options: Partial<ResourceOptions>, columns: string | undefined]
  > = [
    ['all', {}, 'id, title, rating, published'],
    ['nothing without the option', { html: {} }, undefined],
    ['nothing if it is false', { html: { import: false } }, undefined],
    ['nothing without transactions', { store: plain }, undefined],
    ['nothing if maxRows is 0', { maxRows: 0 }, undefined],
    ['nothing without a list', { except: ['list'] }, undefined],
    ['nothing that is not served', { only: ['list', 'delete'] }, undefined],
    ['only new records', { except: ['update'] }, 'title, rating, published'],
    ['only new records if the app handles updates itself', { actions: { update: () => undefined } },
      'title, rating, published'],
    ['all by an own handler for many', {
      actions: { create: { handler: async ({ proceed }) => proceed(), many: true } }
    }, 'id, title, rating, published'],
    ['open attributes', { attributes: undefined }, 'id, attributes']
  ]
  for (const [what, options, columns] of cases) {
    const { app } = await openPosts(t, options)
    const page = await get(app, '/posts/import')
    t.equal(/dir="ltr">(.*?)<\/span>/.exec(page.body)?.[1], columns, what)
    t.equal(page.statusCode, columns === undefined ? 404 : 200, what)
    t.equal((await get(app, '/posts')).body.includes('href="/posts/import"'), columns !== undefined, what)
  }
  const { app } = await openPosts(t, { except: ['update'] })
  isSound(t, await sendFile(app, 'id,title\n1,A\n'), 405)
})

t.test('access is that of many rows', async (t) => {
  const asked: string[] = []
  const { app } = await openPosts(t, {
    authorize: (request, { action, rows, dryRun }) => {
      if (rows !== undefined) asked.push(`${action} ${rows} ${String(dryRun)}`)
      return request.headers['x-user'] !== undefined || action === 'list' || false
    }
  })
  t.notMatch((await get(app, '/posts')).body, '/posts/import')
  isSound(t, await get(app, '/posts/import'), 200)
  asked.length = 0
  const refused = await sendFile(app, 'title\nCoffee\nCocoa\n')
  isSound(t, refused, 403)
  t.strictSame(tableOf(refused).map((row) => row.split('|')[0]), ['2', '3'])
  t.strictSame(asked, ['create 2 true', 'create 2 true'])
  const headers = { 'x-user': 'ann' }
  t.equal((await post(app, [['text', 'title\nCoffee'], ['step', 'write']], headers)).statusCode, 303)
  t.strictSame(asked.slice(2), ['create 1 undefined'])

  const scoped = await openPosts(t, { scope: () => ({ rating: 4 }) })
  const hidden = await sendFile(scoped.app, 'id,title\n1,Tee\n')
  isSound(t, hidden, 404)
  t.strictSame(tableOf(hidden), ['2||There is no post with the id 1'])
})

t.test('records are found by what is unique within the scope', async (t) => {
  const store = memoryStore({ unique: [['code', 'title'], ['rating', 'title']] })
  const { app } = await openPosts(t, { store, scope: () => ({ code: 'tea' }), html: { import: true } })
  const [form] = parseForms(await get(app, '/posts/import'))
  t.strictSame(form?.controls[2]?.options.map(({ value }) => value), ['', 'title', 'rating,title'])
  const file = 'title,rating\nGreen,1\n'
  t.equal((await press(app, await sendFile(app, file, [['match', 'title']]), 'write')).statusCode, 303)
  t.strictSame(buttonsOf(await sendFile(app, file.replace('1', '2'), [['match', 'title']])), ['write: Change 1'])
})

t.test('hooks of the action run, and see the rows', async (t) => {
  const seen: unknown[] = []
  const { app } = await openPosts(t, {
    actionHooks: {
      create: { preHandler: async ({ body }) => { seen.push(body) } },
      update: { onRequest: async (_request, reply) => reply.code(401).send('who?') }
    }
  })
  t.equal((await sendFile(app, 'title\nCoffee\n')).statusCode, 422)
  t.strictSame(seen, [{ posts: [{ post: { title: 'Coffee', published: false } }] }])
  t.equal((await sendFile(app, 'id,title\n1,Coffee\n')).statusCode, 401)
})

t.test('an id that is called like the page is reached with a suffix', async (t) => {
  const { app } = await openPosts(t, {
    store: { ...memoryStore(), id: 'string' },
    actions: { show: ({ id }) => ({ id: String(id), attributes: { title: 'Mine' } }) }
  })
  t.match((await app.inject('/posts/import.json')).json(), { post: { id: 'import', title: 'Mine' } })
  t.match((await get(app, '/posts/import.html')).body, 'Mine')
  t.match((await get(app, '/posts/import')).body, 'Import posts')
})

t.test('a second click on the button writes nothing', async (t) => {
  const { app } = await openPosts(t, { idempotency: { required: true } })
  const page = await sendFile(app, 'title\nCoffee\n')
  isSound(t, page, 422)
  for (const replayed of [undefined, 'true']) {
    const done = await press(app, page, 'write')
    t.strictSame([done.statusCode, done.headers['idempotency-replayed']], [303, replayed])
  }
  t.equal(await stored(app), `${UNCHANGED},Coffee undefined false`)
  const entries = entriesOf(stepsOf(page) as Form, findButton(stepsOf(page) as Form, 'step', 'write'))
  const other = await post(app, entries.map(([name, value]) =>
    [name, name === 'data' ? Buffer.from('title\nCocoa\n').toString('base64') : value]))
  isSound(t, other, 422)
  t.equal(await stored(app), `${UNCHANGED},Coffee undefined false`)
})

t.test('the page speaks the language of the app', async (t) => {
  const { app } = await openPosts(t, { html: { lang: 'de', import: true } })
  const page = await sendFile(app, 'title,rating\nCoffee,9\n')
  t.match(page.body, '<h1>Posts importieren</h1>')
  t.strictSame(tableOf(page), ['2|rating|Darf höchstens 5 sein'])
  t.match((await press(app, page, 'faulty')).body, '„rating“ darf höchstens 5 sein')
})

t.test('bounds that make no sense are refused', async (t) => {
  const cases: ReadonlyArray<readonly [given: unknown, message: RegExp]> = [
    [1, /"html.import" .*must be true, false or bounds/],
    [{ rows: 0 }, /"html.import.rows" .*must be a number of rows from 1 to 50000, not 0/],
    [{ rows: 50_001 }, /"html.import.rows"/],
    [{ bytes: '16' }, /"html.import.bytes" .*must be a size up to 100 MB, such as '16MB', not '16'/],
    [{ bytes: '101MB' }, /"html.import.bytes"/],
    [{ bytes: 1.5 }, /"html.import.bytes"/],
    [{ row: 1 }, /"html.import" .*has "row", which is unknown; did you mean "rows"/]
  ]
  for (const [given, message] of cases) {
    await t.rejects(openPosts(t, { html: { import: given as boolean } }), { message })
  }
  for (const bytes of [1000, '500 kB', '2MB', 1_600_000]) {
    const { app } = await openPosts(t, { html: { import: { bytes } } })
    t.equal((await sendFile(app, 'title\nCoffee\n')).statusCode, 422)
  }
  const { app } = await openPosts(t, { html: { import: { bytes: 1_600_000 } } })
  t.match(problemsOf(await sendFile(app, randomBytes(1_600_001))).at(-1), /more than 1\.5 MB/)
})

t.test('rows are imported into SQLite', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'import-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const app = await build(t, {
    name: 'posts',
    attributes,
    unique: ['title'],
    html: { import: true },
    formats: ['html', 'json', 'csv'],
    stores: sqliteStores({ file: join(folder, 'posts.sqlite') })
  } as ResourceOptions)
  const file = `title,rating\n${Array.from({ length: 70 }, (_, index) => `T${index},${index % 5}\n`).join('')}`
  t.equal((await press(app, await sendFile(app, file), 'write')).statusCode, 303)
  const again = await sendFile(app, `${file}New,1\n`)
  isSound(t, again, 409)
  t.equal(tableOf(again).length, 70)
  t.strictSame(buttonsOf(await press(app, again, 'rest')), ['write: Create 1'])
  const matched = await sendFile(app, `${file.replace('T1,1', 'T1,5')}New,1\n`, [['match', 'title']])
  t.strictSame([buttonsOf(matched), notesOf(matched).filter((note) => note.startsWith('Unchanged'))],
    [['write: Create 1 and change 1'], ['Unchanged: 69']])
  t.equal((await press(app, matched, 'write')).statusCode, 303)
  t.equal((await app.inject('/posts.json?rating=5')).json<{ posts: unknown[] }>().posts.length, 1)
})
