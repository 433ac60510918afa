import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type Mapper, memoryStore, type Query, type ResourceOptions, type Store
} from '../../../lib/index.js'
import { draft } from '../../support/helper.js'
import {
  buttonsOf, decode, defaultButton, fill, findButton, findForm, type Form, hidden, parseForms, shown, submit
} from '../../support/html/forms.js'
import { choicesOf as valuesOf } from '../../support/html/page-tests.js'

const name = { type: 'string', maxLength: 200 } as const
const author = { type: 'object', required: ['name'], properties: { name, tenant: { type: 'string' } } } as const

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

const references = {
  authorId: 'authors', editorId: 'authors', readerId: 'authors', ownerId: 'authors', levelId: 'authors'
}
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
  names?: readonly string[],
  books?: Options,
  authors?: Options,
  rows?: readonly Attributes[],
  more?: (map: Mapper) => void
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
  const options = select?.matchAll(/<option value="([^"]*)"( selected="selected")?>([^<]*)<\/option>/g)
  return options && [...options].map(([, value = '', selected, label = '']) =>
    `${decode(value)}=${decode(label)}${selected === undefined ? '' : '*'}`)
}

const ALL = ['2=ann', '5=Ann 9', '4=Ann 10', '3=Bob <b>&"', '1=Zoë']
const starred = (id: number): string[] => ALL.map((choice) => choice.startsWith(`${id}=`) ? `${choice}*` : choice)
const post = (payload: string): object => ({
  method: 'POST',
  url: '/books',
  headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
  payload
})

t.test('a form offers the rows of the other resource by their names', async (t) => {
  const stored = { title: 'T', authorId: 3, readerId: null, ownerId: 1, levelId: 1 }
  const { page } = await open(t, { rows: [stored] })
  const separate = await open(t, { rows: [stored], books: { formPages: true } })
  const cases: ReadonlyArray<readonly [string, LightMyRequestResponse, string, string[] | undefined]> = [
    ['a required reference of a new row', await page('/books'), 'authorId', ['=Choose…*', ...ALL]],
    ['an optional reference of a new row', await page('/books'), 'editorId', ['=none*', ...ALL]],
    ['a reference that may be null', await page('/books'), 'readerId', ['=none*', ...ALL]],
    ['a reference that is readOnly', await page('/books'), 'ownerId', undefined],
    ['a required reference of a row', await page('/books/1'), 'authorId', starred(3)],
    ['a reference that is absent', await page('/books/1'), 'editorId', ['=none*', ...ALL]],
    ['a reference that is null', await page('/books/1'), 'readerId', ['=none*', ...ALL]],
    ['a list that is filtered by the reference', await page('/books?authorId=4'), 'authorId', starred(4)],
    ['a form of its own for a new row', await separate.page('/books/new'), 'authorId', ['=Choose…*', ...ALL]],
    ['a form that the query fills in', await separate.page('/books/new?authorId=1'), 'authorId', starred(1)]
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
  t.strictSame(choicesOf(await page('/books/1'), 'authorId'), undefined,
    'no choice can send back a value of another type')
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
    t.equal((await app.inject(post('book[title]=T&book[authorId]=2'))).statusCode, isHidden ? 422 : 303,
      'a client sends the id of a row that it may see')
  }
})

t.test('each request sees the rows of its own scope', async (t) => {
  const { page } = await open(t, {
    authors: {
      scope: ({ headers }: FastifyRequest): Record<string, string> =>
        headers.user === 'z' ? { tenant: 'z' } : {}
    }
  })
  t.strictSame(choicesOf(await page('/books', { user: 'z' }), 'authorId'), ['=Choose…*', '1=Zoë'])
  t.strictSame(choicesOf(await page('/books'), 'authorId'), ['=Choose…*', ...ALL])
  t.strictSame(choicesOf(await page('/books', { user: 'z' }), 'editorId'), ['=none*', '1=Zoë'],
    'the page was made from a template')
})

t.test('one query for 51 rows decides, and nothing is read whole', async (t) => {
  const bounded = { after: undefined, limit: 51, scope: {}, filter: [], search: undefined }
  const fifty = await open(t, { names: Array.from({ length: 50 }, (_, index) => `Author ${index + 1}`) })
  const choices = choicesOf(await fifty.page('/books'), 'authorId') ?? []
  t.strictSame([choices.length, choices[1], choices[50]], [51, '1=Author 1', '50=Author 50'])
  t.match(fifty.asked(), [bounded, bounded, bounded], 'one for each attribute')
  const many = await open(t, {
    names: Array.from({ length: 51 }, (_, index) => `Author ${index + 1}`), rows: [{ title: 'T', authorId: 51 }]
  })
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
  t.match(books.get(1, {}, { signal: new AbortController().signal }),
    { attributes: { title: 'T', authorId: 4, editorId: 2 } })
  const emptied = fill(findForm(await page('/books/1'), 'PUT'), { 'book[editorId]': '' })
  t.equal((await app.inject(submit(emptied))).statusCode, 303)
  t.notMatch((await app.inject('/books/1.json')).json().book, { editorId: 2 }, 'the empty choice removes the value')
  asked()
})

t.test('a page with choices is never a 304', async (t) => {
  const { page } = await open(t, { rows: [{ title: 'T', authorId: 3 }] })
  const { headers: { etag } } = await page('/books/1')
  t.equal((await page('/books/1', { 'if-none-match': String(etag) })).statusCode, 200)
  const separate = await open(t, { rows: [{ title: 'T' }], books: { formPages: true } })
  const shown = await separate.page('/books/1')
  t.equal((await separate.page('/books/1', { 'if-none-match': String(shown.headers.etag) })).statusCode, 304,
    'a page without its form has none')
  t.match((await page('/authors')).body, /<input type="text" id="author:name" name="author\[name\]"/)
})

const writer = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', maxLength: 200 }, tenant: { type: 'string' } }
} as const

const title = {
  type: 'object',
  required: ['title', 'authorId'],
  properties: {
    title: { type: 'string', minLength: 1 },
    authorId: { type: 'integer', minimum: 1, title: 'Author' },
    editorId: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
    level: { type: 'string', enum: ['a', 'b'] },
    chapters: { type: 'array', items: { type: 'object', properties: { name: { type: 'string', maxLength: 20 } } } },
    parts: { type: 'array', items: { type: 'object', properties: { code: { type: 'string', writeOnly: true } } } },
    published: { type: 'boolean', default: true },
    secret: { type: 'string', writeOnly: true }
  }
} as const

type ChooseOptions = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

interface Shelves {
  readonly app: FastifyInstance
  readonly asked: () => Query[]
  readonly page: (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>
  /** Presses a button of a form, and returns the page that follows. */
  readonly press: (form: Form, name?: string, value?: string) => Promise<LightMyRequestResponse>
  /** Presses the button "Back". */
  readonly leave: (form: Form) => Promise<LightMyRequestResponse>
  /** Presses a button of the form on a page by its label. */
  readonly turn: (answer: LightMyRequestResponse, label: string) => Promise<LightMyRequestResponse>
  readonly books: Store
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `Author <${index + 1}>&"`)
const context = { signal: new AbortController().signal }

async function openShelves (t: Test, { count = 60, books = {}, authors = {}, rows = [] }: {
  count?: number, books?: ChooseOptions, authors?: ChooseOptions, rows?: readonly Attributes[]
} = {}): Promise<Shelves> {
  const inner = memoryStore()
  for (const name of names(count)) inner.create({ name, tenant: name.includes('7') ? 'z' : 'a' }, {})
  const queries: Query[] = []
  const store: Store = { ...inner, list (query) { queries.push(query); return inner.list(query) } }
  const own = memoryStore()
  for (const row of rows) own.create(row, {})
  const app = await draft(t, (map) => {
    map.resources('authors', { attributes: writer, store, ...(authors as object) })
    map.resources('books', {
      attributes: title, store: own, references: { authorId: 'authors', editorId: 'authors' }, ...(books as object)
    })
  })
  const headers = { accept: 'text/html' }
  return {
    app,
    books: own,
    asked: () => queries.splice(0),
    page: (url, more = {}) => app.inject({ url, headers: { ...headers, ...more } }),
    turn (answer, label) {
      const form = formOn(answer)
      return app.inject(submit(form, buttonsOf(form).find((button) => button.label === label), headers))
    },
    leave: (form) => app.inject(submit(form, buttonsOf(form).find(({ label }) => label === 'Back'), headers)),
    press: (form, name, value) =>
      app.inject(submit(form, name === undefined ? undefined : findButton(form, name, value), headers))
  }
}

const formOn = (answer: LightMyRequestResponse): Form => parseForms(answer).find(({ method, controls }) =>
  method === 'post' && controls.some(({ name }) => name.startsWith('book['))) as Form
const ON = 'book[authorId][?][on]'
const CHOOSE = 'book[authorId][?][choose]'
const SEARCH = 'book[authorId][?][search]'
const CHOSEN = 'book[authorId][?][chosen]'
const OPEN = 'book[authorId][?][open]'

/** Returns the names of the rows that a page offers. */
const offered = ({ body }: LightMyRequestResponse): string[] => [
  ...body.matchAll(/<th scope="row" dir="auto"><button [^>]*>([^<]*)<\/button><\/th>/g)
].map(([, name = '']) => decode(name))

/** Returns the text of the field of a reference. */
const nameOn = ({ body }: LightMyRequestResponse, attribute = 'authorId'): string | undefined => {
  const text = new RegExp(
    `<input type="text" id="book:${attribute}"[^>]* value="([^"]*)"[^>]* readonly="readonly"`).exec(body)?.[1]
  return text === undefined ? undefined : decode(text)
}

t.test('beyond 50 rows, a button leads to the rows, and back with the choice and all that was typed', async (t) => {
  const { page, press, books } = await openShelves(t)
  const first = await page('/books')
  t.equal(nameOn(first), 'Choose…')
  t.match(first.body, /<label for="book:authorId">Author<\/label>/)
  const typed = {
    'book[title]': ' A "b" & <c>\r\nsecond\n', 'book[tags]': 'x\ny', 'book[level]': 'b', 'book[published]': false
  }
  const search = await press(fill(formOn(first), typed), CHOOSE)
  t.match(search, { statusCode: 422, body: /<h1>Choose: Author<\/h1>/ })
  t.match(search.body, /<input type="search"[^>]* autofocus="autofocus"/, 'the search has the focus')
  t.strictSame(offered(search), names(20))
  t.equal(defaultButton(formOn(search)).name, '', 'Enter searches')
  t.match(search.body,
    /<p class="pages"><button [^>]*>Next page<\/button><\/p>\n<p class="actions"><button [^>]*>Back<\/button><\/p>/,
    'the way back is apart from the next page')
  const found = await press(fill(formOn(search), { [SEARCH]: '<42>' }))
  t.strictSame(offered(found), ['Author <42>&"'])
  t.match(found.body, 'aria-label="Choose: Author &lt;42&gt;&amp;&quot;"')
  const back = await press(formOn(found), CHOSEN, '42')
  const form = formOn(back)
  t.equal(back.statusCode, 422)
  t.equal(nameOn(back), 'Author <42>&"')
  t.match(back.body, /<input type="text" id="book:authorId"[^>]* autofocus="autofocus"/, 'the field has the focus')
  t.equal(back.body.split('autofocus="autofocus"').length, 2)
  for (const [name, value] of Object.entries(typed)) {
    t.equal(shown(form, name), typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value, name)
  }
  t.equal((await press(form)).statusCode, 303)
  t.match(books.get(
    1, {}, context
  ), { attributes: { title: ' A "b" & <c>\nsecond\n', authorId: 42, tags: ['x', 'y'], level: 'b', published: false } })
})

t.test('the form of a row keeps its version, and its rows', async (t) => {
  const { page, press, turn, books, app } = await openShelves(t, {
    rows: [{ title: 'T', authorId: 51, editorId: 2, chapters: [{ name: 'One' }, { name: 'Two' }] }],
    books: { formPages: true }
  })
  const first = await page('/books/1/edit')
  t.equal(nameOn(first), 'Author <51>&"', 'the present row has its name')
  const form = fill(formOn(first), { 'book[title]': 'New', 'book[chapters][1][name]': 'Second' })
  const search = await press(form, CHOOSE)
  t.equal(hidden(formOn(search), '_version'), hidden(form, '_version'))
  t.equal(hidden(formOn(search), 'id'), '1')
  const third = await turn(await turn(search, 'Next page'), 'Next page')
  t.strictSame(offered(third), names(60).slice(40))
  t.equal(buttonsOf(formOn(third)).some(({ label }) => label === 'Next page'), false, 'there are no more')
  t.strictSame(offered(await turn(third, 'Previous page')), names(40).slice(20))
  const back = await press(formOn(third), CHOSEN, '60')
  t.equal(nameOn(back), 'Author <60>&"')
  t.equal((await press(formOn(back))).statusCode, 303)
  t.match(books.get(
    1, {}, context
  ), { attributes: { title: 'New', authorId: 60, editorId: 2, chapters: [{ name: 'One' }, { name: 'Second' }] } })
  const stale = await app.inject(submit(formOn(back), undefined, { accept: 'text/html' }))
  t.equal(stale.statusCode, 412, 'the version is that of the first form')
})

t.test('"Back" and "none" return to the form', async (t) => {
  const { page, press, leave } = await openShelves(t, { rows: [{ title: 'T', authorId: 3, editorId: 4 }] })
  const form = fill(formOn(await page('/books/1')), { 'book[title]': 'New' })
  const author = formOn(await press(form, CHOOSE))
  t.strictSame(buttonsOf(author).filter(({ label }) =>
    label === 'none').length, 0, 'a required reference cannot be emptied')
  const back = await leave(author)
  t.equal(nameOn(back), 'Author <3>&"')
  const editor = formOn(await press(formOn(back), 'book[editorId][?][choose]'))
  t.equal(buttonsOf(editor).find(({ label }) => label === 'Back')?.value, '4')
  const emptied = await press(editor, 'book[editorId][?][chosen]', '')
  t.equal(nameOn(emptied, 'editorId'), 'none')
  t.equal(shown(formOn(emptied), 'book[title]'), 'New')
  t.equal((await press(formOn(emptied))).statusCode, 303)
  t.notMatch((await page('/books/1', { accept: 'application/json' })).json().book, { editorId: 4 })
})

t.test('the rows have the first four columns of their list, and its filter', async (t) => {
  const writer = {
    type: 'object',
    required: ['name', 'kind'],
    properties: {
      name: { type: 'string', maxLength: 80 },
      city: { type: ['string', 'null'] },
      kind: { enum: ['poet', 'critic'] },
      born: { type: 'integer' },
      active: { type: 'boolean' },
      note: { type: 'string' }
    }
  } as const
  const store = memoryStore()
  for (let id = 1; id <= 60; id++) {
    store.create({ name: `N${id}`, city: 'Rome', kind: id % 2 === 0 ? 'poet' : 'critic', born: 1900 + id }, {})
  }
  const { page, press, turn } = await openShelves(t, { authors: { attributes: writer, store } })
  const all = await press(formOn(await page('/books')), CHOOSE)
  t.match(all.body, `<thead><tr>${['Name', 'Id', 'City', 'Kind', 'Born', 'Active'].map((label) =>
    `<th scope="col"${label === 'Born' ? ' class="number"' : ''}>${label}</th>`).join('')}</tr></thead>`)
  t.strictSame(offered(all).slice(0, 3), ['N1', 'N2', 'N3'])
  const poets = await turn(all, 'poet')
  t.strictSame(offered(poets).slice(0, 3), ['N2', 'N4', 'N6'])
  t.match(poets.body, 'aria-label="Remove: Kind is poet"')
  const next = await turn(poets, 'Next page')
  t.strictSame(offered(next).slice(0, 2), ['N42', 'N44'], 'the next page has the same condition')
  const open = await press(formOn(next), ON, 'born[gte]')
  t.match(open.body, 'id="filter!value" name="book[authorId][?][is]"')
  t.strictSame(offered(open).slice(0, 1), ['N2'], 'the list begins anew')
  const young = await press(fill(formOn(open), { 'book[authorId][?][is]': '1950' }))
  t.strictSame(offered(young), ['N50', 'N52', 'N54', 'N56', 'N58', 'N60'])
  const found = await press(fill(formOn(young), { [SEARCH]: '6' }))
  t.strictSame(offered(found), ['N56', 'N60'], 'search and conditions together')
  const critics = await press(formOn(await turn(found, 'Clear filter')), OPEN, '?kind=critic')
  t.strictSame(offered(critics).slice(0, 2), ['N1', 'N3'])
  const refused = await press(fill(formOn(open), { 'book[authorId][?][is]': '1.5' }))
  t.match(refused, { statusCode: 422, body: /<p class="error" id="filter!error">Must be an integer/ })
  t.match(await press(fill(formOn(young), { [SEARCH]: 'nobody' })), { body: 'No authors match the filter' })
  const back = await press(formOn(found), CHOSEN, '56')
  t.equal(nameOn(back), 'N56')
})

t.test('Enter in a condition applies it, even if a condition before it can be removed', async (t) => {
  const { page, press } = await openShelves(t, { authors: { search: [] } })
  const all = await press(formOn(await page('/books')), CHOOSE)
  const asked = await press(formOn(all), ON, 'tenant[contains]')
  const one = await press(fill(formOn(asked), { 'book[authorId][?][is]': 'z' }))
  const two = await press(formOn(one), ON, 'name[contains]')
  t.equal(defaultButton(formOn(two)).name, '')
  t.strictSame(offered(await press(fill(formOn(two), { 'book[authorId][?][is]': '<47>' }))), ['Author <47>&"'])
})

t.test('the buttons of a page do not repeat a long query', async (t) => {
  const { page } = await openShelves(t)
  const parameters = ['name', 'tenant'].flatMap((name) =>
    ['not', 'in', 'contains', 'starts'].map((operator): [string, string] =>
      [`${name}[${operator}]`, 'x'.repeat(operator === 'not' || operator === 'in' ? 400 : 190)]))
  for (const [count, repeated] of [[2, 2], [8, 0]] as const) {
    const choose = new URLSearchParams(parameters.slice(0, count)).toString()
    const { body } = await page(`/books?${new URLSearchParams({ 'filter[by]': 'authorId', 'filter[choose]': choose })}`)
    t.equal(body.split('aria-label="Remove: ').length - 1, repeated, `${count} conditions`)
    t.match(body, '>Clear filter</button>')
  }
})

t.test('a search that is too long shows its error above the rows, and large rows end a page early', async (t) => {
  const { page, press } = await openShelves(t)
  const refused = await press(fill(formOn(await press(formOn(await page('/books')), CHOOSE)),
    { [SEARCH]: 'x'.repeat(201) }))
  t.match(refused, { statusCode: 422, body: /aria-invalid="true" aria-describedby="filter!error"/ })
  t.match(refused.body, 'Must have at most 200 characters')
  t.strictSame(offered(refused), names(20), 'the list is shown without it')
  const store = memoryStore()
  for (const name of names(60)) store.create({ name, tenant: 'x'.repeat(300_000) }, {})
  const large = await openShelves(t, { authors: { store } })
  const first = await large.press(formOn(await large.page('/books')), CHOOSE)
  const { length } = offered(first)
  t.ok(length > 0 && length < 20)
  t.strictSame(offered(await large.turn(first, 'Next page')), names(60).slice(length, 2 * length))
})

t.test('a list is filtered by a row of the other list', async (t) => {
  const rows = [{ title: 'A', authorId: 1 }, { title: 'B', authorId: 2, editorId: 1 }, { title: 'C', authorId: 2 }]
  const filterOn = (answer: LightMyRequestResponse): Form =>
    parseForms(answer).find(({ method }) => method === 'get') as Form
  const titles = ({ body }: LightMyRequestResponse): string[] =>
    [...body.matchAll(/<a href="\/books\/\d+">([^<]*)<\/a>/g)].map(([, title = '']) => title)
  const headers = { accept: 'text/html' }
  const pressOn = async (
    { app }: Shelves,
    page: LightMyRequestResponse,
    name?: string,
    value?: string,
    texts: Record<string, string> = {}
  ): Promise<LightMyRequestResponse> => {
    const form = fill(filterOn(page), texts)
    return app.inject(submit(form, name === undefined ? undefined : findButton(form, name, value), headers))
  }

  const few = await openShelves(t, { count: 3, rows })
  const open = await few.page('/books?filter[by]=authorId&sort=-title')
  t.strictSame(valuesOf(filterOn(open), 'filter[by]'), ['authorId', 'authorId[not]'], 'no order, and no blank')
  t.strictSame(valuesOf(filterOn(open), 'filter[value]'), ['', '1', '2', '3'])
  t.match(open.body, /<option value="2">Author &lt;2&gt;&amp;&quot;<\/option>/)
  const two = await pressOn(few, open, undefined, undefined, { 'filter[value]': '2' })
  t.strictSame(titles(two), ['C', 'B'])
  t.match(two.body, 'aria-label="Remove: Author is Author &lt;2&gt;&amp;&quot;"')
  t.strictSame(valuesOf(filterOn(await few.page('/books?filter[by]=editorId[not]')), 'filter[by]'),
    ['editorId', 'editorId[not]', 'editorId[null]=true', 'editorId[null]=false'])
  t.match(await few.page('/books?authorId=x'), {
    statusCode: 400, body: /<option value="x" selected="selected">x<\/option>.*filter!error">Must be an integer/s
  })
  t.match((await few.page('/books?filter[by]=authorId[in]')).body, /<input type="text" id="filter!value"/)

  const many = await openShelves(t, { count: 60, rows })
  const long = await many.page('/books?filter[by]=authorId&sort=-title')
  t.match(long.body, 'aria-label="Choose: Author">Choose</button>')
  const heavy = await openShelves(t, {
    rows: Array.from({ length: 60 }, () => ({ title: 'x'.repeat(60_000), authorId: 1 }))
  })
  t.match((await heavy.page('/books?filter[by]=authorId&filter[choose]=')).body, '<h1>Choose: Author</h1>')
  const choose = await pressOn(many, long, 'filter[choose]')
  t.match(choose, { statusCode: 200, body: /<h1>Choose: Author<\/h1>\n<form method="get" action="\/books">/ })
  t.match(choose.body, '<a class="button" href="/books?sort=-title">Back</a>')
  t.notMatch(choose.body, '>none<')
  const found = await pressOn(many, choose, undefined, undefined, { 'filter[search]': '<2>' })
  t.strictSame(offered(found), ['Author <2>&"'])
  const chosen = await pressOn(many, found, 'filter[value]', '2')
  t.strictSame(titles(chosen), ['C', 'B'])
  const not = await many.page('/books?filter[by]=authorId[not]&filter[choose]=')
  const others = await pressOn(many, not, 'filter[value]', '2')
  t.strictSame(titles(others), ['A'], 'the operator is kept')
  const next = await many.page('/books?filter[by]=authorId&filter[choose]=after%3Dzzz')
  t.equal(next.statusCode, 400)
  t.match((await many.page('/books?filter[choose]=')).body, '&quot;filter[choose]&quot; needs &quot;filter[by]&quot;')
  t.match((await many.page('/books?filter[by]=title&filter[choose]=')).body, 'id="filter!value" name="filter[value]"',
    'an attribute that references nothing has its own field')

  const hidden = await openShelves(t, { count: 60, rows, authors: { authorize: (_, { action }) => action !== 'list' } })
  for (const query of ['filter[by]=authorId', 'filter[by]=authorId&filter[choose]=']) {
    const plain = await hidden.page(`/books?${query}`)
    t.match(plain.body, /<input type="number" id="filter!value"/, 'rows that may not be listed are asked by their ids')
    t.notMatch(plain.body, 'Author <3>')
  }
})

t.test('the access of the request decides, at each step', async (t) => {
  const scope = ({ headers }: FastifyRequest): Record<string, string> => headers.user === 'z' ? { tenant: 'z' } : {}
  let isRefused = false
  const { page, press, app } = await openShelves(t,
    { authors: { scope, authorize: (_request, { action }) => action !== 'list' || !isRefused }, count: 1000 })
  const form = formOn(await page('/books'))
  const seen = await app.inject(submit(form, findButton(form, CHOOSE), { accept: 'text/html', user: 'z' }))
  t.ok(offered(seen).length === 20 && offered(seen).every((name) => name.includes('7')))
  const chosen = formOn(await press(form, CHOOSE))
  isRefused = true
  const back = await press(form, CHOOSE)
  t.match(back, { statusCode: 422, body: /<input type="number" id="book:authorId"/ },
    'the form comes back with a plain field')
  t.match((await press(chosen, CHOSEN, '5')).body, /<input type="number" id="book:authorId"[^>]*value="5"/)
  const cross = await app.inject({
    ...submit(form, findButton(form, CHOOSE),
      { accept: 'text/html', 'sec-fetch-site': 'cross-site' })
  })
  t.equal(cross.statusCode, 403)
  isRefused = false
  const { app: guarded } = await openShelves(t, { books: { authorize: (_request, { action }) => action !== 'create' } })
  t.equal((await guarded.inject(submit(form, findButton(form, CHOOSE), { accept: 'text/html' }))).statusCode, 403,
    'whoever may not create sees no rows')
})

t.test('forged choices are values that the validation judges, and write nothing', async (t) => {
  const { app, books, page, press } = await openShelves(t)
  const send = (payload: string): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/books',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload
  })
  const cases: ReadonlyArray<readonly [string, status: number, body: RegExp | string]> = [
    ['book[authorId][?][chosen]=x"<b>', 422, 'value="x&quot;&lt;b&gt;" readonly="readonly"'],
    ['book[authorId][?][chosen]=99999', 422, /value="99999" readonly/],
    ['book[title][?][chosen]=T', 422, /autofocus="autofocus"[^>]*>T<\/textarea>/],
    ['book[title][?][choose]=', 422, /id="book:title"/],
    ['book[nothing][?][choose]=', 422, /id="book:title"/],
    ['book[chapters][0][name][?][choose]=&book[title]=T', 422, /<textarea[^>]*>T<\/textarea>/],
    ['book[authorId][?][choose]=after%3Dzzz', 400, 'must come from a'],
    ['book[authorId][?][choose]=colour%3Dred', 400, 'colour'],
    ['book[authorId][?][choose]=&book[authorId][?][on]=colour', 400, 'must be a parameter that filters the list'],
    ['book[authorId][?][choose]=&book[title][x]=1&book[tags][]=a&book[no][0][y]=%22z', 422,
      new RegExp('name="book\\[title\\]\\[x\\]" value="1"/>.*name="book\\[tags\\]\\[\\]" value="a"/>' +
        '.*name="book\\[no\\]\\[0\\]\\[y\\]" value="&quot;z"')],
    ['book[authorId][?][choose]=&book[authorId][?][search]=%00', 422, 'Must not contain U+0000'],
    ['book[authorId][?][choose]=&book[authorId][?][chosen]=3', 422, /value="Author &lt;3&gt;&amp;&quot;"/]
  ]
  for (const [payload, status, body] of cases) t.match(await send(payload), { statusCode: status, body }, payload)
  const forged = formOn(await send('book[title]=T&book[authorId][?][chosen]=x'))
  t.match(await press(forged), { statusCode: 422, body: /id="book:authorId!error"/ })
  const json = await app.inject({
    method: 'POST',
    url: '/books?format=json',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'book[authorId][?][choose]='
  })
  t.equal(json.statusCode, 400, 'only a page can show rows')
  t.strictSame([...books.list({
    order: [{ by: 'id', descending: false }], after: undefined, limit: undefined, scope: {}, filter: []
  }, context) as Iterable<unknown>].flat(), [], 'nothing was written')
  t.equal((await page('/books?book[authorId][?][choose]=')).statusCode, 400, 'a GET has no such parameter')
})

t.test('a text that is never shown is left out, and asked for again', async (t) => {
  const { page, press } = await openShelves(t)
  const form = fill(formOn(await page('/books')), { 'book[title]': 'T', 'book[secret]': 'swordfish' })
  const added = formOn(await press(form, 'book[parts][?][add]'))
  const search = await press(fill(added, { 'book[secret]': 'swordfish', 'book[parts][0][code]': 'herring' }), CHOOSE)
  t.notMatch(search.body, /swordfish|herring/)
  const back = await press(formOn(search), CHOSEN, '1')
  t.notMatch(back.body, /swordfish|herring/)
  t.match(back.body, 'id="book:secret!hint">Type it again: it is never shown.')
  t.match(back.body, 'name="book[parts][0][code]"', 'the row is there')
  const blank = await press(formOn(await press(formOn(await page('/books')), CHOOSE)), CHOSEN, '1')
  t.notMatch(blank.body, 'Type it again', 'nothing had been typed')
})

t.test('a form that was refused, and a conflict, lead to the rows and back', async (t) => {
  const { page, press, leave, books, app } = await openShelves(t, { rows: [{ title: 'T', authorId: 3 }] })
  const refused = await press(fill(formOn(await page('/books')), { 'book[title]': '' }))
  t.equal(refused.statusCode, 422)
  const search = formOn(await press(formOn(refused), CHOOSE))
  t.equal(nameOn(await press(search, CHOSEN, '9')), 'Author <9>&"')
  const form = formOn(await page('/books/1'))
  const changed = formOn(await press(formOn(await press(form, CHOOSE)), CHOSEN, '8'))
  await app.inject({ method: 'PUT', url: '/books', payload: { id: 1, book: { authorId: 4 } } })
  const conflict = await press(changed)
  t.match(conflict, { statusCode: 412, body: /Keep yours/ })
  t.equal(nameOn(conflict), 'Author <8>&"')
  const theirs = fill(formOn(conflict), { 'book[authorId][?][keep]': 'theirs' })
  const same = formOn(await leave(formOn(await press(theirs, CHOOSE))))
  t.equal(shown(same, 'book[authorId][?][keep]'), 'theirs', '"Back" changes nothing')
  const other = await press(formOn(await press(theirs, CHOOSE)), CHOSEN, '7')
  t.equal(shown(formOn(other), 'book[authorId][?][keep]'), 'yours', 'a new choice is kept')
  t.equal(nameOn(other), 'Author <7>&"')
  t.equal((await press(formOn(other))).statusCode, 303)
  t.match(books.get(1, {}, context), { attributes: { authorId: 7 } })
})

const credited = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', maxLength: 50 },
    credits: {
      type: 'array',
      items: {
        type: 'object',
        required: ['authorId'],
        additionalProperties: false,
        properties: {
          authorId: { type: 'integer' }, editorId: { type: 'integer', title: 'Edited by' }, share: { type: 'integer' }
        }
      }
    }
  }
} as const
const CREDITS: Options = {
  attributes: credited, references: { 'credits.authorId': 'authors', 'credits.editorId': 'authors' }
}

t.test('a reference inside an array is chosen by name in the row of the form', async (t) => {
  const { app, page } = await open(t, {
    names: ['Ann', 'Bob'], books: CREDITS, rows: [{ title: 'T', credits: [{ authorId: 2, share: 3 }, { authorId: 9 }] }]
  })
  const first = await page('/books/1')
  const ROWS = 'book:credits:'
  const choicesIn = (answer: LightMyRequestResponse, field: string): string[] | undefined =>
    choicesOf(answer, `credits:${field}`)
  t.strictSame(choicesIn(first, '0:authorId'), ['1=Ann', '2=Bob*'])
  t.strictSame(choicesIn(first, '1:authorId'), ['9=9*', '1=Ann', '2=Bob'], 'a row that is missing is called by its id')
  t.strictSame(choicesIn(first, '0:editorId'), ['=none*', '1=Ann', '2=Bob'])
  const heads = /<div class="row heads"[^>]*>.*<\/div>/.exec(first.body)?.[0] ?? ''
  t.match(heads, '<div class="field select">Author</div><div class="field select">Edited by')
  const shownIn = /<table class="values" aria-label="Credits">.*?<\/table>/.exec(first.body)?.[0] ?? ''
  t.match(shownIn, '<th scope="col">Author</th><th scope="col" class="number">Share</th>')
  t.match(shownIn, '<td dir="auto"><a href="/authors/2">Bob</a></td><td class="number">3</td>')
  t.match(shownIn, '<td dir="auto">9</td>')
  const form = fill(formOn(first), { 'book[credits][0][editorId]': '1', 'book[credits][1][authorId]': '1' })
  t.equal((await app.inject(submit(form, undefined, { accept: 'text/html' }))).statusCode, 303)
  t.strictSame((await page('/books/1', { accept: 'application/json' })).json().book.credits,
    [{ authorId: 2, editorId: 1, share: 3 }, { authorId: 1 }])
  const wrong = await app.inject(post('book[title]=T&book[credits][0][authorId]=1&book[credits][1][authorId]=7'))
  t.equal(wrong.statusCode, 422)
  t.match(wrong.body, `<a href="#${ROWS}1:authorId">Credit 2: Author refers to something that does not exist</a>`)
  t.strictSame(choicesIn(wrong, '0:authorId'), ['1=Ann*', '2=Bob'])
})

t.test('beyond 50 rows, a button in the row of the form leads to the rows and back', async (t) => {
  const { app, page, press, leave, books } = await openShelves(t, {
    books: CREDITS, rows: [{ title: 'T', credits: [{ authorId: 3 }, { authorId: 4 }] }]
  })
  const first = await page('/books/1')
  t.strictSame([0, 1].map((row) => nameOn(first, `credits:${row}:authorId`)), ['Author <3>&"', 'Author <4>&"'])
  const typed = fill(formOn(first), { 'book[title]': 'New', 'book[credits][0][share]': '5' })
  const all = await press(typed, 'book[credits][1][authorId][?][choose]')
  t.match(all, { statusCode: 422, body: /<h1>Choose: Author<\/h1>/ })
  const found = await press(fill(formOn(all), { 'book[credits][1][authorId][?][search]': '<42>' }))
  t.strictSame(offered(found), ['Author <42>&"'])
  t.equal(nameOn(await leave(formOn(found)), 'credits:1:authorId'), 'Author <4>&"')
  t.strictSame(buttonsOf(formOn(found)).filter(({ label }) => label === 'none'), [], 'it is required')
  const back = await press(formOn(found), 'book[credits][1][authorId][?][chosen]', '42')
  t.equal(nameOn(back, 'credits:1:authorId'), 'Author <42>&"')
  const crafted = await app.inject(post(`book[title]=T&book[credits][${'9'.repeat(10_000)}][authorId][?][choose]=`))
  t.equal(crafted.statusCode, 422)
  t.notMatch(crafted.body, 'Choose: Author</h1>', 'a page would repeat the number of the row in each button')
  const added = await press(formOn(back), 'book[credits][?][add]')
  t.equal(nameOn(added, 'credits:2:authorId'), 'Choose…')
  const third = await press(formOn(await press(formOn(added), 'book[credits][2][editorId][?][choose]')),
    'book[credits][2][editorId][?][chosen]', '7')
  t.equal(nameOn(third, 'credits:2:editorId'), 'Author <7>&"')
  t.equal((await press(formOn(third))).statusCode, 422, 'the author of the new row is missing')
  const fewer = await press(formOn(third), 'book[credits][?][remove]', '2')
  t.equal((await press(formOn(fewer))).statusCode, 303)
  t.match(await books.get(1, {}, context),
    { attributes: { title: 'New', credits: [{ authorId: 3, share: 5 }, { authorId: 42 }] } })
})

t.test('several rows are changed by the names of other rows, unless there are more than 50', async (t) => {
  const properties = { ...title.properties, credits: credited.properties.credits }
  const books = { attributes: { ...title, properties }, references: { ...CREDITS.references, editorId: 'authors' } }
  const offers = async (count: number): Promise<string[]> => {
    const { app } = await openShelves(t, { count, books: books as ChooseOptions, rows: [{ title: 'T', authorId: 3 }] })
    const { body } = await app.inject(post('_step=change&id[]=1'))
    return [...body.matchAll(/name="book\[(\w+Id|credits)\]\[\?\]\[keep\]" value="yours"|<select id="([\w:]+)/g)]
      .map(([, change, select]) => change ?? select ?? '')
  }
  t.strictSame(await offers(50), ['authorId', 'editorId', 'book:editorId', 'credits'])
  t.strictSame(await offers(51), ['authorId'], 'no rows are asked for by their ids')
})

t.test('the rows to choose from name others without links, by the labels of their list', async (t) => {
  const attributes = { ...writer, properties: { ...writer.properties, mentorId: { type: 'integer' } } } as const
  const store = memoryStore()
  for (const name of names(60)) store.create({ name, mentorId: 60 }, {})
  const { page, press } = await openShelves(t, { authors: { attributes, store, references: { mentorId: 'authors' } } })
  const list = await page('/authors')
  t.match(list.body, '<td data-label="Mentor" dir="auto"><a href="/authors/60">Author &lt;60&gt;&amp;&quot;</a></td>')
  const { body } = await press(formOn(await page('/books')), CHOOSE)
  t.match(body, '<td data-label="Mentor" dir="auto">Author &lt;60&gt;&amp;&quot;</td>')
  t.notMatch(body, '<a href="/authors/60"', 'a link would lose what was typed')
  t.match(body, '>+ Mentor</button>')
})
