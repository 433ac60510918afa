import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Attributes, type Mapper, type Query, type ResourceOptions, type Store } from '../../../lib/index.js'
import { draft } from '../../support/helper.js'
import { decode, fill, findForm, submit } from '../../support/html/forms.js'

const author = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 200 }, tenant: { type: 'string' } } } as const
const book = {
  type: 'object',
  required: ['title', 'authorId'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 50 },
    authorId: { type: 'integer', minimum: 1 },
    editorId: { type: 'integer' },
    readerId: { type: ['integer', 'null'] },
    ownerId: { type: 'integer', readOnly: true },
    levelId: { type: 'integer', enum: [1, 2] }
  }
} as const
const references = { authorId: 'authors', editorId: 'authors', readerId: 'authors', ownerId: 'authors', levelId: 'authors' }

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

interface Library {
  readonly app: FastifyInstance
  /** The queries for authors since the last call. */
  readonly asked: () => Query[]
  readonly page: (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>
  readonly books: Store
}

const NAMES = ['Zoë', 'ann', 'Bob <b>&"', 'Ann 10', 'Ann 9']

async function open (t: Test, { names = NAMES, books = {}, authors = {}, rows = [], more }: {
  names?: readonly string[], books?: Options, authors?: Options, rows?: readonly Attributes[], more?: (map: Mapper) => void
} = {}): Promise<Library> {
  const inner = memoryStore()
  for (const name of names) inner.create({ name, tenant: name.startsWith('Z') ? 'z' : 'a' }, {})
  const queries: Query[] = []
  const store: Store = { ...inner, list (query) { queries.push(query); return inner.list(query) } }
  const own = memoryStore()
  for (const row of rows) own.create(row, {})
  const app = await draft(t, (map) => {
    more?.(map)
    map.resources('authors', { attributes: author, store, ...(authors as object) })
    map.resources('books', { attributes: book, store: own, references, ...(books as object) })
  })
  return {
    app,
    books: own,
    asked: () => queries.splice(0),
    page: (url, headers = {}) => app.inject({ url, headers: { accept: 'text/html', ...headers } })
  }
}

/** Returns the choices of a select as `value=label`, with a star after the selected one; `undefined` if it is none. */
function choicesOf ({ body }: { readonly body: string }, attribute: string): string[] | undefined {
  const select = new RegExp(`<select id="book:${attribute}"[^>]*>(.*?)</select>`, 's').exec(body)?.[1]
  return select === undefined
    ? undefined
    : [...select.matchAll(/<option value="([^"]*)"( selected="selected")?>([^<]*)<\/option>/g)].map(([, value = '', selected, label = '']) =>
    `${decode(value)}=${decode(label)}${selected === undefined ? '' : '*'}`)
}

const ALL = ['2=ann', '5=Ann 9', '4=Ann 10', '3=Bob <b>&"', '1=Zoë']
const starred = (id: number): string[] => ALL.map((choice) => choice.startsWith(`${id}=`) ? `${choice}*` : choice)
const post = (payload: string): object => ({ method: 'POST', url: '/books', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload })

t.test('a form offers the rows of the other resource by their names', async (t) => {
  const stored = { title: 'T', authorId: 3, readerId: null, ownerId: 1, levelId: 1 }
  const { page } = await open(t, { rows: [stored] })
  const separate = await open(t, { rows: [stored], books: { formPages: true } })
  const cases: ReadonlyArray<readonly [string, LightMyRequestResponse, attribute: string, expected: string[] | undefined]> = [
    ['a required reference of a new row', await page('/books'), 'authorId', ['=Choose…*', ...ALL]],
    ['an optional reference of a new row', await page('/books'), 'editorId', ['=none*', ...ALL]],
    ['a reference that may be null', await page('/books'), 'readerId', ['=none*', ...ALL]],
    ['a reference that is readOnly', await page('/books'), 'ownerId', undefined],
    ['a required reference of a row', await page('/books/1'), 'authorId', starred(3)],
    ['a reference that is absent', await page('/books/1'), 'editorId', ['=none*', ...ALL]],
    ['a reference that is null', await page('/books/1'), 'readerId', ['=none*', ...ALL]],
    ['a list that is filtered by the reference', await page('/books?authorId=4'), 'authorId', starred(4)],
    ['a form of its own for a new row', await separate.page('/books/new'), 'authorId', ['=Choose…*', ...ALL]],
    ['a form that the query fills in', await separate.page('/books/new?authorId=1'), 'authorId', starred(1)],
    ['a form of its own for a row', await separate.page('/books/1/edit'), 'authorId', starred(3)],
    ['the page of a row without its form', await separate.page('/books/1'), 'authorId', undefined],
    ['a list without a form', await separate.page('/books'), 'authorId', undefined]
  ]
  for (const [what, answer, attribute, expected] of cases) {
    t.equal(answer.statusCode, 200, what)
    t.strictSame(choicesOf(answer, attribute), expected, what)
  }
  const { body } = await page('/books')
  t.match(body, '<select id="book:authorId" name="book[authorId]" required="required">', 'a browser demands a choice')
  t.match(body, /name="book\[levelId\]" value="1"/, 'an enumeration keeps its choices')
  t.notMatch(body, '<b>', 'names are escaped')
})

t.test('the current value is always among the choices', async (t) => {
  const cases: ReadonlyArray<readonly [string, Options, value: number, first: string]> = [
    ['a row that is missing', {}, 99, '99=99*'],
    ['a row out of scope', { scope: () => ({ tenant: 'a' }) }, 1, '1=1*'],
    ['a row that may not be shown, but listed', { authorize: (_request, { action }) => action === 'list' }, 2, '2=ann*']
  ]
  for (const [what, authors, authorId, expected] of cases) {
    const { page } = await open(t, { authors, rows: [{ title: 'T', authorId }] })
    const choices = choicesOf(await page('/books/1'), 'authorId') ?? []
    t.ok(choices.includes(expected), `${what}: ${choices.join()}`)
    t.equal(choices.filter((choice) => choice.endsWith('*')).length, 1)
    t.equal(choices.some((choice) => choice.startsWith('=')), false, 'a required value cannot be emptied')
  }
  const { page } = await open(t, { rows: [{ title: 'T', authorId: 'x' }, { title: 'T' }] })
  t.strictSame(choicesOf(await page('/books/1'), 'authorId'), undefined, 'no choice can send back a value of another type')
  t.strictSame(choicesOf(await page('/books/2'), 'authorId'), ['=Choose…*', ...ALL], 'a required value that is absent')
})

t.test('names that several rows have are told apart by the ids', async (t) => {
  const { page } = await open(t, { names: ['Ann', 'Bob', 'Ann'] })
  t.strictSame(choicesOf(await page('/books'), 'authorId'), ['=Choose…*', '1=Ann (1)', '3=Ann (3)', '2=Bob'])
})

t.test('whoever may not list the rows gets the plain field', async (t) => {
  const hook = async (): Promise<void> => {}
  const cases: ReadonlyArray<readonly [string, Options, books: Options, isOffered: boolean]> = [
    ['authorize refuses the list', { authorize: (_request, { action }) => action !== 'list' }, {}, false],
    ['authorize refuses all but the list', { authorize: (_request, { action }) => action === 'list' }, {}, true],
    ['scope throws a 403', { scope: () => { throw Object.assign(new Error('no'), { statusCode: 403 }) } }, {}, false],
    ['there is no list', { only: ['show'] }, {}, false],
    ['a handler lists other rows', { actions: { list: () => [] } }, {}, false],
    ['a hook guards the list', { hooks: { preHandler: hook } }, {}, false],
    ['the same hook guards the form', { hooks: { preHandler: hook } }, { hooks: { preHandler: hook } }, true],
    ['there are no pages', { formats: ['json'] }, {}, false]
  ]
  for (const [what, authors, books, isOffered] of cases) {
    const { page, app } = await open(t, { authors, books })
    const answer = await page('/books')
    t.equal(answer.statusCode, 200, what)
    t.equal(choicesOf(answer, 'authorId') !== undefined, isOffered, what)
    if (!isOffered) t.match(answer.body, /<input type="number" id="book:authorId"/, what)
    const isHidden = ['authorize refuses all but the list', 'scope throws a 403'].includes(what)
    t.equal((await app.inject(post('book[title]=T&book[authorId]=2'))).statusCode, isHidden ? 422 : 303, 'a client sends the id of a row that it may see')
  }
})

t.test('each request sees the rows of its own scope', async (t) => {
  const { page } = await open(t, { authors: { scope: ({ headers }: FastifyRequest): Record<string, string> => headers.user === 'z' ? { tenant: 'z' } : {} } })
  t.strictSame(choicesOf(await page('/books', { user: 'z' }), 'authorId'), ['=Choose…*', '1=Zoë'])
  t.strictSame(choicesOf(await page('/books'), 'authorId'), ['=Choose…*', ...ALL])
  t.strictSame(choicesOf(await page('/books', { user: 'z' }), 'editorId'), ['=none*', '1=Zoë'], 'the page was made from a template')
})

t.test('one query for 51 rows decides, and nothing is read whole', async (t) => {
  const bounded = { after: undefined, limit: 51, scope: {}, filter: [], search: undefined }
  const fifty = await open(t, { names: Array.from({ length: 50 }, (_, index) => `Author ${index + 1}`) })
  const choices = choicesOf(await fifty.page('/books'), 'authorId') ?? []
  t.strictSame([choices.length, choices[1], choices[50]], [51, '1=Author 1', '50=Author 50'])
  t.match(fifty.asked(), [bounded, bounded, bounded], 'one for each attribute')
  const many = await open(t, { names: Array.from({ length: 51 }, (_, index) => `Author ${index + 1}`), rows: [{ title: 'T', authorId: 51 }] })
  t.strictSame(choicesOf(await many.page('/books'), 'authorId'), undefined)
  t.strictSame(many.asked().map(({ limit }) => limit).sort(), [1, 51, 51, 51], 'and one for the name in the list')
  for (const url of ['/books.json', '/books.xml', '/books/1.json', '/books/new.json']) await many.app.inject(url)
  t.strictSame(many.asked(), [], 'documents have no forms')
  const none = await open(t, { books: { only: ['list', 'show'] } })
  t.equal((await none.page('/books')).statusCode, 200)
  t.strictSame(none.asked(), [], 'neither has a page without forms')
  const refused = await open(t, { books: { authorize: (_request, { action }) => action !== 'create' } })
  t.equal((await refused.page('/books')).statusCode, 200)
  t.strictSame(refused.asked(), [], 'nor the page of whoever may not create')
})

t.test('a form that comes back keeps the choice', async (t) => {
  const { app, page, asked, books } = await open(t, { rows: [{ title: 'T', authorId: 3 }] })
  const cases: ReadonlyArray<readonly [string, payload: string, status: number, expected: string[] | undefined]> = [
    ['a refused create', 'book[title]=&book[authorId]=4', 422, starred(4)],
    ['a reference without a choice', 'book[title]=&book[authorId]=', 422, ['=Choose…*', ...ALL]],
    ['a reference that is no id', 'book[title]=T&book[authorId]=x"<b>', 422, ['x"<b>=x"<b>*', ...ALL]],
    ['a refused update', '_method=PUT&id=1&book[title]=&book[authorId]=4', 422, starred(4)],
    ['a refused update without the reference', '_method=PUT&id=1&book[title]=', 422, starred(3)],
    ['a conflict', '_method=PUT&id=1&_version=9&book[title]=T&book[authorId]=4', 412, starred(4)],
    ['a body that is no form', '{}', 400, undefined]
  ]
  for (const [what, payload, status, expected] of cases) {
    const answer = await app.inject(post(payload))
    t.equal(answer.statusCode, status, what)
    t.strictSame(choicesOf(answer, 'authorId'), expected, what)
  }
  const form = fill(findForm(await page('/books/1'), 'PUT'), { 'book[authorId]': '4', 'book[editorId]': '2' })
  t.equal((await app.inject(submit(form))).statusCode, 303)
  t.match(books.get(1, {}, { signal: new AbortController().signal }), { attributes: { title: 'T', authorId: 4, editorId: 2 } })
  const emptied = fill(findForm(await page('/books/1'), 'PUT'), { 'book[editorId]': '' })
  t.equal((await app.inject(submit(emptied))).statusCode, 303)
  t.notMatch((await app.inject('/books/1.json')).json().book, { editorId: 2 }, 'the empty choice removes the value')
  asked()
})

t.test('a store that fails leaves the plain field in a form that comes back', async (t) => {
  let isBroken = false
  const inner = memoryStore()
  const store: Store = { ...inner, list (query) { if (isBroken) throw new Error('broken'); return inner.list(query) } }
  const { app, page } = await open(t, { authors: { store } })
  isBroken = true
  const answer = await app.inject(post('book[title]=&book[authorId]=4'))
  t.match(answer, { statusCode: 422, body: /<input type="number" id="book:authorId"[^>]* value="4"/ })
  t.equal((await page('/books')).statusCode, 500)
})

t.test('a form without references has the same fields as ever, and a page with choices is never a 304', async (t) => {
  const { page, app } = await open(t, { rows: [{ title: 'T', authorId: 3 }] })
  const { headers: { etag } } = await page('/books/1')
  t.equal((await page('/books/1', { 'if-none-match': String(etag) })).statusCode, 200)
  const separate = await open(t, { rows: [{ title: 'T' }], books: { formPages: true } })
  const shown = await separate.page('/books/1')
  t.equal((await separate.page('/books/1', { 'if-none-match': String(shown.headers.etag) })).statusCode, 304, 'a page without its form has none')
  t.match((await page('/authors')).body, /<input type="text" id="author:name" name="author\[name\]"/)
  t.equal((await app.inject({ method: 'POST', url: '/books', payload: { book: { title: 'T', authorId: 77 } } })).statusCode, 201, 'a client sends any id')
})

t.test('a resource below a path with parameters is asked with those of the request', async (t) => {
  const store = memoryStore()
  for (const tenant of ['a', 'b']) store.create({ name: `Room ${tenant}`, tenant }, {})
  const note = { type: 'object', properties: { roomId: { type: 'integer' } } } as const
  const app = await draft(t, (map) => map.scope({ path: '/:tenant' }, (scope) => {
    scope.resources('rooms', { attributes: author, store, scope: ({ params }: FastifyRequest): Record<string, string> => ({ tenant: (params as { tenant: string }).tenant }) })
    scope.resources('notes', { attributes: note, references: { roomId: 'rooms' } })
  }))
  for (const tenant of ['a', 'b']) {
    const { body } = await app.inject({ url: `/${tenant}/notes`, headers: { accept: 'text/html' } })
    t.match(body, new RegExp(`<select id="note:roomId" [^>]*><option value="" selected="selected">none</option><option value="\\d">Room ${tenant}</option></select>`))
  }
})
