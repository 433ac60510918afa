import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type AttributesSchema, type Format, json, type MemoryStore, memoryStore, type Reader, type ResourceOptions
} from '../../../../lib/index.js'
import { markup } from '../../../../lib/html/index.js'
import { sqliteStores } from '../../../../lib/sql/sqlite/index.js'
import { build, draft, types } from '../../../support/helper.js'
import { decode, entriesOf, findButton, findForm, type Form, parseForms } from '../../../support/html/forms.js'
import { get, isSound, schemaOf } from '../../../support/html/page-tests.js'

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
  const { app: other } = await openPosts(t, { attributes: schemaOf({ title: { type: 'string' }, errors: {} }) })
  t.equal(headsOf(await sendFile(other, 'title,errors\nCocoa,3\n')), 'Line|Title|Errors|', 'an attribute of that name')
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
  const typed = await post(app, [['text', file]])
  t.match(entriesOf(stepsOf(typed) as Form), [['data'], ['match'], ['without'], ['faulty'], ['typed', '1']])
  const blank = await post(app, [['text', `\n${file}`]])
  t.match(blank.body, />&#10;&#10;title,rating/, 'lines that were typed come back with a blank one before them')
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

const file = { type: ['string', 'null'], contentEncoding: 'base64' }
const petAttributes = {
  ...schemaOf({
    name: { type: 'string', minLength: 1 }, photo: { ...file, contentMediaType: 'image/png' }, scan: file
  }),
  required: ['name']
} as AttributesSchema

/** The first bytes of files, and how they are served. */
const FILES = {
  png: ['89504e470d0a1a0a0000', 'image/png', 'inline', 'png', 'PNG'],
  jpeg: ['ffd8ffe000104a464946', 'image/jpeg', 'inline', 'jpg', 'JPEG'],
  gif: ['474946383961', 'image/gif', 'inline', 'gif', 'GIF'],
  webp: ['524946460000000057454250', 'image/webp', 'inline', 'webp', 'WebP'],
  avif: ['0000002066747970617669660000', 'image/avif', 'inline', 'avif', 'AVIF'],
  pdf: ['255044462d312e37', 'application/pdf', 'attachment', 'pdf', 'PDF'],
  page: [Buffer.from('<script>alert(1)</script>').toString('hex'), 'application/octet-stream', 'attachment', 'bin',
    'File'],
  svg: [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('hex'), 'application/octet-stream',
    'attachment', 'bin', 'File']
} as const

const bytesOf = (name: keyof typeof FILES): Buffer => Buffer.from(FILES[name][0], 'hex')
const base64Of = (name: keyof typeof FILES): string => bytesOf(name).toString('base64')

async function open (
  t: Test,
  options: Partial<ResourceOptions> = {}
): Promise<{ readonly app: FastifyInstance, readonly store: MemoryStore<any> }> {
  const store = memoryStore<any>()
  return { app: await build(t, { name: 'pets', attributes: petAttributes, store, ...options }), store }
}

/** Sends the form of a page as a browser does, with these fields instead of those that it has. */
async function submit (
  app: FastifyInstance,
  page: string,
  given: Readonly<Record<string, string | Buffer | undefined>>
): Promise<LightMyRequestResponse> {
  const method = page.includes('value="PUT"') ? 'PUT' : 'POST'
  t.match(page, /<form [^>]*enctype="multipart\/form-data"/)
  const body = new FormData()
  for (const { name, value, type, checked } of findForm(page, method).controls) {
    const sent = given[name]
    if (type === 'file') {
      const [content, fileName] = Buffer.isBuffer(sent) ? [[new Uint8Array(sent)], 'a.b'] : [[], '']
      body.append(name, new Blob(content), fileName)
    } else if (type === 'checkbox' ? sent === 'on' : type !== 'submit' && (type !== 'radio' || checked)) {
      body.append(name, /hidden|checkbox|radio/.test(type) || typeof sent !== 'string' ? value : sent)
    }
  }
  return app.inject({ method: 'POST', url: '/pets', headers: { accept: types.html }, payload: body })
}

t.test('a file is chosen in a form, kept by one without a choice, replaced and removed', async (t) => {
  const { app, store } = await open(t)
  const { body } = await get(app, '/pets')
  const created = await submit(app, body, { 'pet[name]': 'Rex', 'pet[photo]': bytesOf('png') })
  t.match(created, { statusCode: 303, headers: { location: '/pets/1' } })
  t.same(store.get(1, {})?.attributes, { name: 'Rex', photo: base64Of('png') })
  const change = async (given: Parameters<typeof submit>[2]): Promise<unknown> => {
    const { statusCode } = await submit(app, (await get(app, '/pets/1')).body, given)
    t.equal(statusCode, 303)
    const { name, photo, scan } = store.get(1, {})?.attributes as Record<string, unknown>
    return [name, photo, scan ?? null]
  }
  t.same(await change({ 'pet[name]': 'Max' }), ['Max', base64Of('png'), null])
  t.same(await change({ 'pet[scan]': bytesOf('pdf') }), ['Max', base64Of('png'), base64Of('pdf')])
  t.same(await change({ 'pet[scan]': bytesOf('gif') }), ['Max', base64Of('png'), base64Of('gif')])
  t.same(await change({ 'pet[scan][?]': 'on' }), ['Max', base64Of('png'), null])
  const own = await open(t, { actions: { show: ({ reply }) => reply.code(418).send('tea') } })
  t.match(await own.app.inject('/pets/1/files/photo'), { statusCode: 418, body: 'tea' })
})

t.test('a form that comes back carries the file until another one is chosen', async (t) => {
  const { app, store } = await open(t)
  const refused = await submit(app, (await get(app, '/pets')).body, { 'pet[name]': '', 'pet[scan]': bytesOf('pdf') })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, 'A file is chosen. It is sent unless you choose another one.')
  const again = await submit(app, refused.body, { 'pet[name]': '' })
  t.equal((await submit(app, again.body, { 'pet[name]': 'Rex' })).statusCode, 303)
  t.equal(store.get(1, {})?.attributes.scan, base64Of('pdf'))
  t.equal((await submit(app, again.body, { 'pet[name]': 'Tom', 'pet[scan]': bytesOf('gif') })).statusCode, 303)
  t.equal(store.get(2, {})?.attributes.scan, base64Of('gif'))
})

t.test('a file of another type than its schema declares is refused, if both types are known', async (t) => {
  const { app, store } = await open(t)
  const cases = [['jpeg', 422], ['pdf', 422], ['png', 201], ['page', 201]] as const
  for (const [name, status] of cases) {
    const photo = base64Of(name)
    const json = await app.inject({
      method: 'POST', url: '/pets', headers: { accept: types.json }, payload: { pet: { name: 'A', photo } }
    })
    const xml = await app.inject({
      method: 'POST',
      url: '/pets',
      headers: { accept: types.xml, 'content-type': types.xml },
      payload: `<pet><name>A</name><photo>${photo}</photo></pet>`
    })
    t.same([json.statusCode, xml.statusCode], [status, status], name)
    if (status === 422) t.match(json.json(), { errors: { photo: ['must be a file of the type image/png'] } })
  }
  const page = await submit(app, (await get(app, '/pets')).body, { 'pet[name]': 'A', 'pet[photo]': bytesOf('gif') })
  t.match(page.body, 'Must be a file of the type image/png')
  t.notMatch(page.body, 'A file is chosen.')
  t.ok(store.get(1, {}))
})

t.test('the path of a file sends its bytes, and only known pictures are shown by browsers', async (t) => {
  const { app, store } = await open(t)
  for (const [index, name] of (Object.keys(FILES) as Array<keyof typeof FILES>).entries()) {
    store.create({ name, scan: base64Of(name) }, {})
    const [, type, disposition, extension, label] = FILES[name]
    const url = `/pets/${index + 1}/files/scan`
    const { rawPayload, headers } = await app.inject(url)
    t.same(rawPayload, bytesOf(name), name)
    t.match(headers, {
      'content-type': type,
      'content-disposition': `${disposition}; filename="pet-${index + 1}-scan.${extension}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff'
    })
    if (name === 'png') t.match((await get(app, '/pets/1')).body, 'PNG, 10 bytes')
    const [record, list] = [await get(app, `/pets/${index + 1}`), await get(app, '/pets')]
    const image = `<img src="${url}" loading="lazy"`
    const link = `<a href="${url}">${label}, `
    t.match(record.body, disposition === 'inline' ? `${image} alt="Scan"/></a> ${label}, ` : link)
    t.match(list.body, disposition === 'inline' ? `${image} alt="${label}, ` : link)
    t.match(list.headers['content-security-policy'], "img-src 'self'")
  }
  const own = await open(t, { html: { views: { list: ({ rows }) => markup`${rows.map(({ cells }) => cells)}` } } })
  own.store.create({ name: 'A', scan: base64Of('pdf') }, {})
  t.match((await get(own.app, '/pets')).body, '<a href="/pets/1/files/scan">PDF, 8 bytes</a>')
  const bare = await draft(t, (map) => map.resources('pets', {
    attributes: petAttributes, store: own.store, except: ['show']
  }, (pets) => { pets.member.get('card', ({ row }) => row()) }))
  t.match((await get(bare, '/pets/1/card')).body, '>PDF, 8 bytes</dd>', 'no page, no path')
  const { headers: { etag } } = await app.inject('/pets/1/files/scan')
  t.equal((await app.inject({ url: '/pets/1/files/scan', headers: { 'if-none-match': etag } })).statusCode, 304)
  const single = await draft(t, (map) => map.resource('pet', { attributes: petAttributes as AttributesSchema, store }))
  t.match((await single.inject('/pet/files/scan')).headers['content-disposition'], '"pet-scan.')
  const head = await app.inject({ method: 'HEAD', url: '/pets/1/files/scan' })
  t.same([head.statusCode, head.headers['content-length'], head.body], [200, '10', ''])
  t.equal((await app.inject({ method: 'PUT', url: '/pets/1/files/scan' })).statusCode, 405)
})

t.test('a picture is in a list up to 100 kB, and a file that is larger than a page is a link', async (t) => {
  const { app, store } = await open(t)
  const large = (size: number): string => Buffer.concat([bytesOf('png'), Buffer.alloc(size)]).toString('base64')
  store.create({ name: 'A', photo: large(99_000), scan: large(120_000) }, {})
  store.create({ name: 'B', scan: large(1_200_000) }, {})
  const { body } = await get(app, '/pets')
  t.match(body, 'files/photo" loading="lazy"')
  t.match(body, '<a href="/pets/1/files/scan">PNG, 120 kB</a>')
  t.match(body, '<a href="/pets/2/files/scan">PNG, 1.2 MB</a>')
  t.match((await get(app, '/pets/1')).body, 'alt="Scan"/></a> PNG, 120 kB<')
})

t.test('a file is not there for who may not see it, if there is none, or if it is never shown', async (t) => {
  const secret = { ...petAttributes, properties: { ...petAttributes.properties, key: { ...file, writeOnly: true } } }
  const { app, store } = await open(t, {
    attributes: secret as AttributesSchema,
    authorize: async (_: unknown, { id, row }: { id?: unknown, row: () => Promise<any> }) =>
      id === undefined || (await row())?.attributes.name !== 'Hidden',
    roles: { all: {}, guest: { hidden: ['scan'] } },
    role: ({ headers }: { headers: Readonly<Record<string, unknown>> }) => String(headers['x-role'])
  } as unknown as Partial<ResourceOptions>)
  store.create({ name: 'Hidden', scan: base64Of('png'), key: base64Of('png') }, {})
  store.create({ name: 'Shown', scan: base64Of('png'), photo: 'no base64', key: base64Of('png') }, {})
  const cases: ReadonlyArray<readonly [url: string, role: string, status: number]> = [
    ['/pets/2/files/scan', 'all', 200],
    ['/pets/2/files/scan', 'guest', 404],
    ['/pets/1/files/scan', 'all', 403],
    ['/pets/2/files/photo', 'all', 404],
    ['/pets/2/files/key', 'all', 404],
    ['/pets/2/files/name', 'all', 404],
    ['/pets/2/files/scan?a=1', 'all', 400]
  ]
  for (const [url, role, status] of cases) {
    const { statusCode, body } = await app.inject({ url, headers: { 'x-role': role } })
    t.equal(statusCode, status, `${role} ${url} ${body}`)
  }
  t.notMatch((await app.inject({ url: '/pets/2.html', headers: { 'x-role': 'guest' } })).body, 'scan')
})

t.test('a conflict about a file says what both are, and keeps the one that is chosen', async (t) => {
  const { app, store } = await open(t)
  store.create({ name: 'Rex', scan: base64Of('png') }, {})
  const { body } = await get(app, '/pets/1')
  store.update(1, { scan: base64Of('pdf') }, { version: undefined, scope: {} })
  const stale = await submit(app, body, { 'pet[scan]': bytesOf('gif') })
  t.equal(stale.statusCode, 412)
  t.match(stale.body, /A file is chosen[^]*PDF, 8 bytes/)
  t.equal((await submit(app, stale.body, {})).statusCode, 303)
  t.equal(store.get(1, {})?.attributes.scan, base64Of('gif'))
})

t.test('an import that is cut off inside the file, or names no field, is refused', async (t) => {
  const { app } = await openPosts(t)
  for (const head of ['name="file"; filename="a"', 'filename="a"']) {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/posts/import',
      headers: { accept: types.html, 'content-type': 'multipart/form-data; boundary=x' },
      payload: `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\nabc`
    })
    t.equal(statusCode, 400, head)
  }
})

t.test('a malformed form with files is refused with a reason, and nothing is stored', async (t) => {
  const { app, store } = await open(t)
  const send = async (type: string, payload: string | Buffer): Promise<[number, string]> => {
    const { statusCode, body } = await app.inject({
      method: 'POST', url: '/pets', headers: { accept: types.json, 'content-type': type }, payload
    })
    return [statusCode, body]
  }
  const part = (head: string, content = ''): string =>
    `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const type = 'multipart/form-data; boundary=x'
  const cases: ReadonlyArray<readonly [string, string, number, RegExp]> = [
    ['multipart/form-data', 'a', 400, /Boundary/],
    [type, 'a', 400, /multipart/],
    [type, `${part('name="pet[scan]"; filename="empty.png"')}--x--`, 400, /the file \\"empty.png\\" is empty/],
    [type, `${part('name="a"').repeat(1001)}--x--`, 413, /more than 1000 fields/],
    [type, `${part(`name="${'a'.repeat(1001)}"`)}--x--`, 413, /more than 1000 bytes/],
    [type, `${part('name="pet[a]b"')}--x--`, 400, /malformed/],
    [type, part('name="pet[scan]"; filename="a"', 'cut off').slice(0, -2), 400, /Unexpected end/],
    [type, `${part('filename="a"', 'x')}--x--`, 400, /a part of the form has no name/],
    [type, `${part("name*=utf-16le''%00%d8", 'x')}--x--`, 400, /a part of the form has no name/],
    [type, `${part('name="pet[scan]"; filename="a"', 'a').repeat(2)}--x--`, 422, /more than once/],
    [type, `${part('name="pet[name]"', 'A')}${part('name="pet[scan]"', 'no base64!')}--x--`, 422, /base64/]
  ]
  for (const [type, body, status, reason] of cases) {
    const [found, text] = await send(type, body)
    t.equal(found, status, text)
    t.match(text, reason)
  }
  const [status] = await send(type, Buffer.from(`${part('name="pet[name]"', '\xff')}--x--`, 'latin1'))
  t.equal(status, 400)
  t.equal(store.get(1, {}), undefined)
  const foreign = await app.inject({
    method: 'POST', url: '/pets', headers: { 'sec-fetch-site': 'cross-site', 'content-type': type }, payload: '--x--'
  })
  t.equal(foreign.statusCode, 403)
})

t.test('the largest body of a write follows the largest files', async (t) => {
  const { app } = await open(t)
  const post = async (name: string, length: number): Promise<number> => (await app.inject({
    method: 'POST', url: '/pets', payload: { pet: { name, scan: 'A'.repeat(length) } }
  })).statusCode
  t.equal(await post('five megabytes', 6_990_508), 201)
  t.equal(await post('more', 30_000_000), 413)
  const small = await open(t, {
    attributes: schemaOf({ scan: { ...file, maxLength: 1000 } })
  })
  const refused = await small.app.inject({ method: 'POST', url: '/pets', payload: { pet: { scan: 'A'.repeat(1004) } } })
  t.equal(refused.statusCode, 422)
})

t.test('files have no field where many rows are changed, in an object, or without pages', async (t) => {
  const { app, store } = await open(t, { formPages: true })
  store.create({ name: 'Rex', scan: base64Of('png') }, {})
  const chosen = await app.inject({
    method: 'POST',
    url: '/pets',
    headers: { accept: types.html, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ 'id[]': '1', _step: 'change' }).toString()
  })
  t.match(chosen.body, 'pet[name]')
  t.notMatch(chosen.body, 'pet[scan]')
  const inside = await build(t, {
    name: 'pets',
    attributes: schemaOf({ it: { type: 'object', properties: { scan: file }, additionalProperties: false } })
  })
  const [form] = parseForms((await get(inside, '/pets')).body).filter(({ method }) => method === 'post')
  t.notOk(form?.controls.some(({ type }) => type === 'file'))
  const plain = await open(t, { formats: ['json'] })
  plain.store.create({ name: 'Rex', scan: base64Of('png') }, {})
  t.equal((await plain.app.inject('/pets/1/files/scan')).statusCode, 404)
})

t.test('a form that is not ours keeps a file that it does not choose, and a text with U+FFFD is kept', async (t) => {
  const { app, store } = await open(t)
  store.create({ name: 'A', scan: base64Of('png') }, {})
  const body = new FormData()
  for (const [name, value] of [['_method', 'PUT'], ['id', '1'], ['pet[name]', 'B \ufffd']] as const) {
    body.append(name, value)
  }
  body.append('pet[scan]', new Blob([]), '')
  const headers = { accept: types.html }
  const { statusCode } = await app.inject({ method: 'POST', url: '/pets', headers, payload: body })
  t.equal(statusCode, 303)
  t.same(store.get(1, {})?.attributes, { name: 'B \ufffd', scan: base64Of('png') })
})

t.test('a format of the app reads the forms with files, and attributes with alike names are files', async (t) => {
  const raw: Format = {
    ...json(),
    name: 'raw',
    mediaTypes: ['multipart/form-data'],
    compileReader: (resource) =>
      ({ ...json().compileReader?.(resource) as Reader, parse: (body) => JSON.parse(String(body)) })
  }
  for (const own of [['json', raw], ['html', 'json', raw]] as const) {
    const { app } = await open(t, { formats: [...own] })
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/pets',
      headers: { accept: types.json, 'content-type': 'multipart/form-data; boundary=x' },
      payload: '{"pet":{"name":"A"}}'
    })
    t.equal(statusCode, 201)
  }
  const { app, store } = await open(t, { attributes: schemaOf({ photo_a: file, photoA: file }) })
  store.create({ photo_a: base64Of('png'), photoA: base64Of('gif') }, {})
  for (const [name, type] of [['photo_a', 'image/png'], ['photoA', 'image/gif']] as const) {
    const { headers } = await app.inject({ url: `/pets/1/files/${name}`, headers: { accept: 'image/*' } })
    t.equal(headers['content-type'], type)
  }
})
