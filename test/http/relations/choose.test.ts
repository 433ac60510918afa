import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Attributes, type Query, type ResourceOptions, type Store } from '../../../lib/index.js'
import { defaultViews, markup, type HtmlOptions } from '../../../lib/html/index.js'
import { draft } from '../../support/helper.js'
import { buttonsOf, decode, defaultButton, fill, findButton, type Form, hidden, parseForms, shown, submit } from '../../support/html/forms.js'

const author = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 200 }, tenant: { type: 'string' } } } as const
const book = {
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

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

interface Library {
  readonly app: FastifyInstance
  readonly asked: () => Query[]
  readonly page: (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>
  /** Presses a button of a form, and returns the page that follows. */
  readonly press: (form: Form, name?: string, value?: string) => Promise<LightMyRequestResponse>
  /** Presses the button "Back". */
  readonly leave: (form: Form) => Promise<LightMyRequestResponse>
  readonly books: Store
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `Author <${index + 1}>&"`)
const context = { signal: new AbortController().signal }

async function open (t: Test, { count = 60, books = {}, authors = {}, rows = [] }: {
  count?: number, books?: Options, authors?: Options, rows?: readonly Attributes[]
} = {}): Promise<Library> {
  const inner = memoryStore()
  for (const name of names(count)) inner.create({ name, tenant: name.includes('7') ? 'z' : 'a' }, {})
  const queries: Query[] = []
  const store: Store = { ...inner, list (query) { queries.push(query); return inner.list(query) } }
  const own = memoryStore()
  for (const row of rows) own.create(row, {})
  const app = await draft(t, (map) => {
    map.resources('authors', { attributes: author, store, ...(authors as object) })
    map.resources('books', { attributes: book, store: own, references: { authorId: 'authors', editorId: 'authors' }, ...(books as object) })
  })
  const headers = { accept: 'text/html' }
  return {
    app,
    books: own,
    asked: () => queries.splice(0),
    page: (url, more = {}) => app.inject({ url, headers: { ...headers, ...more } }),
    leave: (form) => app.inject(submit(form, buttonsOf(form).find(({ label }) => label === 'Back'), headers)),
    press: (form, name, value) => app.inject(submit(form, name === undefined ? undefined : findButton(form, name, value), headers))
  }
}

const formOn = (answer: LightMyRequestResponse): Form => parseForms(answer).find(({ method, controls }) => method === 'post' && controls.some(({ name }) => name.startsWith('book['))) as Form
const CHOOSE = 'book[authorId][?][choose]'
const CHOSEN = 'book[authorId][?][chosen]'
const AFTER = 'book[authorId][?][after]'

/** Returns the names of the rows that a page offers. */
const offered = ({ body }: LightMyRequestResponse): string[] => [...body.matchAll(/<td data-label="Name" dir="auto"><button [^>]*>([^<]*)<\/button><\/td>/g)].map(([, name = '']) => decode(name))
/** Returns the text of the field of a reference. */
const nameOn = ({ body }: LightMyRequestResponse, attribute = 'authorId'): string | undefined => {
  const text = new RegExp(`<input type="text" id="book:${attribute}"[^>]* value="([^"]*)"[^>]* readonly="readonly"`).exec(body)?.[1]
  return text === undefined ? undefined : decode(text)
}

t.test('the page of a choice has headings in its language', async (t) => {
  const { page, press } = await open(t, { books: { html: { lang: 'de' } } })
  const { body } = await press(formOn(await page('/books')), CHOOSE)
  t.match(body, '<h1>Author auswählen</h1>')
  t.match(body, '<th scope="col">Name</th><th scope="col">ID</th></tr>')
})

t.test('beyond 50 rows, a button leads to the rows, and back with the choice and all that was typed', async (t) => {
  const { page, press, books } = await open(t)
  const first = await page('/books')
  t.equal(nameOn(first), 'Choose…')
  t.match(first.body, /<label for="book:authorId">Author<\/label>/)
  const typed = { 'book[title]': ' A "b" & <c>\r\nsecond\n', 'book[tags]': 'x\ny', 'book[level]': 'b', 'book[published]': false }
  const search = await press(fill(formOn(first), typed), CHOOSE)
  t.match(search, { statusCode: 200, body: /<h1>Choose: Author<\/h1>/ })
  t.match(search.body, /<input type="search"[^>]* autofocus="autofocus"/, 'the search has the focus')
  t.strictSame(offered(search), names(20))
  t.equal(defaultButton(formOn(search)).name, '', 'Enter searches')
  t.match(search.body, /<p class="pages"><button [^>]*>Next page<\/button><\/p>\n<p class="actions"><button [^>]*>Back<\/button><\/p>/, 'the way back is apart from the next page')
  const found = await press(fill(formOn(search), { [CHOOSE]: '<42>' }))
  t.strictSame(offered(found), ['Author <42>&"'])
  t.match(found.body, 'aria-label="Choose: Author &lt;42&gt;&amp;&quot;"')
  const back = await press(formOn(found), CHOSEN, '42')
  const form = formOn(back)
  t.equal(back.statusCode, 200)
  t.equal(nameOn(back), 'Author <42>&"')
  t.match(back.body, /<input type="text" id="book:authorId"[^>]* autofocus="autofocus"/, 'the field has the focus')
  t.equal(back.body.split('autofocus="autofocus"').length, 2)
  for (const [name, value] of Object.entries(typed)) t.equal(shown(form, name), typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value, name)
  t.equal((await press(form)).statusCode, 303)
  t.match(books.get(1, {}, context), { attributes: { title: ' A "b" & <c>\nsecond\n', authorId: 42, tags: ['x', 'y'], level: 'b', published: false } })
})

t.test('the form of a row keeps its version, and its rows', async (t) => {
  const { page, press, books, app } = await open(t, { rows: [{ title: 'T', authorId: 51, editorId: 2, chapters: [{ name: 'One' }, { name: 'Two' }] }], books: { formPages: true } })
  const first = await page('/books/1/edit')
  t.equal(nameOn(first), 'Author <51>&"', 'the present row has its name')
  const form = fill(formOn(first), { 'book[title]': 'New', 'book[chapters][1][name]': 'Second' })
  const search = await press(form, CHOOSE)
  t.equal(hidden(formOn(search), '_version'), hidden(form, '_version'))
  t.equal(hidden(formOn(search), 'id'), '1')
  const third = await press(formOn(await press(formOn(search), AFTER)), AFTER)
  t.strictSame(offered(third), names(60).slice(40))
  t.equal(buttonsOf(formOn(third)).some(({ name }) => name === AFTER), false, 'there are no more')
  const back = await press(formOn(third), CHOSEN, '60')
  t.equal(nameOn(back), 'Author <60>&"')
  t.equal((await press(formOn(back))).statusCode, 303)
  t.match(books.get(1, {}, context), { attributes: { title: 'New', authorId: 60, editorId: 2, chapters: [{ name: 'One' }, { name: 'Second' }] } })
  const stale = await app.inject(submit(formOn(back), undefined, { accept: 'text/html' }))
  t.equal(stale.statusCode, 412, 'the version is that of the first form')
})

t.test('"Back" and "none" return to the form', async (t) => {
  const { page, press, leave } = await open(t, { rows: [{ title: 'T', authorId: 3, editorId: 4 }] })
  const form = fill(formOn(await page('/books/1')), { 'book[title]': 'New' })
  const author = formOn(await press(form, CHOOSE))
  t.strictSame(buttonsOf(author).filter(({ label }) => label === 'none').length, 0, 'a required reference cannot be emptied')
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

t.test('the search asks what the other list can do', async (t) => {
  const cases: ReadonlyArray<readonly [string, Options, text: string, expected: Partial<Query> | undefined]> = [
    ['its search', {}, ' ann  bob ', { search: { words: ['ann', 'bob'], attributes: ['name', 'tenant'] }, filter: [] }],
    ['its option search', { search: ['tenant'] }, 'z', { search: { words: ['z'], attributes: ['tenant'] }, filter: [] }],
    ['a filter by the title', { search: [] }, ' ann  bob ', { search: undefined, filter: [{ attribute: 'name', operator: 'contains', value: 'ann  bob' }] }],
    ['a filter by another title', { search: [], html: { title: 'tenant' } }, 'z', { search: undefined, filter: [{ attribute: 'tenant', operator: 'contains', value: 'z' }] }],
    ['no filter by the title', { search: [], filter: ['tenant'] }, 'z', undefined],
    ['a title that is a function', { search: [], html: { title: ({ id }) => `Nr. ${id}` } }, 'z', undefined],
    ['rows without a title', { search: [], html: { title: 'id' } }, 'z', undefined],
    ['only blanks', {}, '  ', { search: undefined, filter: [] }]
  ]
  for (const [what, authors, text, expected] of cases) {
    const { page, press, asked } = await open(t, { authors })
    const search = await press(formOn(await page('/books')), CHOOSE)
    t.match(asked().at(-1), { limit: 21, after: undefined, filter: [] }, what)
    if (expected === undefined) {
      t.notMatch(search.body, 'type="search"', what)
      t.match(search.body, /<button [^>]*value="1"[^>]*autofocus="autofocus">(?:Author 1|Nr\. 1|Author &lt;1&gt;&amp;&quot;)</, 'the first row has the focus')
      continue
    }
    await press(fill(formOn(search), { [CHOOSE]: text }))
    t.strictSame(asked().map(({ search, filter, limit }) => ({ search, filter, limit })), [{ ...expected, limit: 21 }], what)
  }
  const starts = memoryStore()
  for (const name of names(60)) starts.create({ name }, {})
  const limited: Store = { ...starts, capabilities: { filter: ['in', 'starts'] } }
  const { page, press } = await open(t, { authors: { store: limited } })
  const search = await press(formOn(await page('/books')), CHOOSE)
  t.strictSame(offered(await press(fill(formOn(search), { [CHOOSE]: 'author <6' }))), ['Author <6>&"', 'Author <60>&"'], 'a store that finds beginnings')
})

t.test('the rows of 100,000 are read in pages of 20', async (t) => {
  const { page, press, asked } = await open(t, { count: 100_000 })
  const form = formOn(await page('/books'))
  const search = await press(form, CHOOSE)
  const next = await press(formOn(search), AFTER)
  t.strictSame(asked().map(({ limit, after }) => [limit, after]), [[51, undefined], [51, undefined], [21, undefined], [21, [20]]])
  t.strictSame(offered(next), names(40).slice(20))
  const refused = await press(fill(formOn(next), { [CHOOSE]: 'x'.repeat(201) }))
  t.match(refused, { statusCode: 200, body: /aria-invalid="true" aria-describedby="filter!error"/ })
  t.match(refused.body, 'Must have at most 200 characters')
  t.strictSame(asked(), [], 'a refused search asks nothing')
  t.match((await press(fill(formOn(next), { [CHOOSE]: 'nobody' }))).body, 'No authors match the filter')
})

t.test('the access of the request decides, at each step', async (t) => {
  const scope = ({ headers }: FastifyRequest): Record<string, string> => headers.user === 'z' ? { tenant: 'z' } : {}
  let isRefused = false
  const { page, press, app } = await open(t, { authors: { scope, authorize: (_request, { action }) => action !== 'list' || !isRefused }, count: 1000 })
  const form = formOn(await page('/books'))
  const seen = await app.inject(submit(form, findButton(form, CHOOSE), { accept: 'text/html', user: 'z' }))
  t.ok(offered(seen).length === 20 && offered(seen).every((name) => name.includes('7')))
  const chosen = formOn(await press(form, CHOOSE))
  isRefused = true
  const back = await press(form, CHOOSE)
  t.match(back, { statusCode: 200, body: /<input type="number" id="book:authorId"/ }, 'the form comes back with a plain field')
  t.match((await press(chosen, CHOSEN, '5')).body, /<input type="number" id="book:authorId"[^>]*value="5"/)
  const cross = await app.inject({ ...submit(form, findButton(form, CHOOSE), { accept: 'text/html', 'sec-fetch-site': 'cross-site' }) })
  t.equal(cross.statusCode, 403)
  isRefused = false
  const { app: guarded } = await open(t, { books: { authorize: (_request, { action }) => action !== 'create' } })
  t.equal((await guarded.inject(submit(form, findButton(form, CHOOSE), { accept: 'text/html' }))).statusCode, 403, 'whoever may not create sees no rows')
})

t.test('forged choices are values that the validation judges, and write nothing', async (t) => {
  const { app, books, page, press } = await open(t)
  const send = (payload: string): Promise<LightMyRequestResponse> => app.inject({ method: 'POST', url: '/books', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload })
  const cases: ReadonlyArray<readonly [string, status: number, body: RegExp | string]> = [
    ['book[authorId][?][chosen]=x"<b>', 200, 'value="x&quot;&lt;b&gt;" readonly="readonly"'],
    ['book[authorId][?][chosen]=99999', 200, /value="99999" readonly/],
    ['book[title][?][chosen]=T', 200, /autofocus="autofocus"[^>]*>T<\/textarea>/],
    ['book[title][?][choose]=', 200, /id="book:title"/],
    ['book[nothing][?][choose]=', 200, /id="book:title"/],
    ['book[chapters][0][name][?][choose]=&book[title]=T', 200, /<textarea[^>]*>T<\/textarea>/],
    ['book[authorId][?][choose]=&book[authorId][?][after]=zzz', 400, 'must come from a'],
    ['book[authorId][?][choose]=&book[title][x]=1&book[tags][]=a&book[no][0][y]=%22z', 200, /name="book\[title\]\[x\]" value="1"\/>.*name="book\[tags\]\[\]" value="a"\/>.*name="book\[no\]\[0\]\[y\]" value="&quot;z"/],
    ['book[authorId][?][choose]=%00', 200, 'Must not contain U+0000'],
    ['book[authorId][?][choose]=&book[authorId][?][chosen]=3', 200, /value="Author &lt;3&gt;&amp;&quot;"/]
  ]
  for (const [payload, status, body] of cases) t.match(await send(payload), { statusCode: status, body }, payload)
  const forged = formOn(await send('book[title]=T&book[authorId][?][chosen]=x'))
  t.match(await press(forged), { statusCode: 422, body: /id="book:authorId!error"/ })
  const json = await app.inject({ method: 'POST', url: '/books?format=json', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload: 'book[authorId][?][choose]=' })
  t.equal(json.statusCode, 400, 'only a page can show rows')
  t.strictSame([...books.list({ order: [{ by: 'id', descending: false }], after: undefined, limit: undefined, scope: {}, filter: [] }, context) as Iterable<unknown>].flat(), [], 'nothing was written')
  t.equal((await page('/books?book[authorId][?][choose]=')).statusCode, 400, 'a GET has no such parameter')
})

t.test('a text that is never shown is left out, and asked for again', async (t) => {
  const { page, press } = await open(t)
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
  const { page, press, leave, books, app } = await open(t, { rows: [{ title: 'T', authorId: 3 }] })
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

t.test('a row that was deleted while a choice was asked for can be created again with one', async (t) => {
  const { page, press, books } = await open(t, { rows: [{ title: 'T', authorId: 3 }] })
  const form = fill(formOn(await page('/books/1')), { 'book[title]': 'New' })
  await books.delete(1, { scope: {}, version: undefined }, context)
  const gone = await press(form, CHOOSE)
  t.match(gone, { statusCode: 404, body: 'Create it again' })
  t.equal(nameOn(gone), 'Author <3>&"')
  const back = await press(formOn(await press(formOn(gone), CHOOSE)), CHOSEN, '8')
  t.equal((await press(formOn(back))).statusCode, 303)
  t.match(books.get(2, {}, context), { attributes: { title: 'New', authorId: 8 } })
})

t.test('a singleton, and a template of a page, have the same button', async (t) => {
  const store = memoryStore()
  for (const name of names(51)) store.create({ name }, {})
  const own = memoryStore()
  own.create({ authorId: 2, title: 'T' }, {})
  const app = await draft(t, (map) => {
    map.resources('authors', { attributes: author, store })
    map.resource('book', { attributes: book, store: own, references: { authorId: 'authors' } })
  })
  const headers = { accept: 'text/html' }
  const form = formOn(await app.inject({ url: '/book', headers }))
  const search = formOn(await app.inject(submit(form, findButton(form, CHOOSE), headers)))
  t.equal(hidden(search, 'id'), undefined)
  const back = formOn(await app.inject(submit(search, findButton(search, CHOSEN, '9'), headers)))
  t.equal((await app.inject(submit(back, undefined, headers))).statusCode, 303)
  t.match((await app.inject('/book.json')).json(), { book: { authorId: 9 } })
  const few = await draft(t, (map) => {
    map.resources('authors', { attributes: author, store, scope: ({ headers }: FastifyRequest): Record<string, string> => headers.user === 'z' ? { name: 'none' } : {} })
    map.resources('books', { attributes: book, store: memoryStore(), references: { authorId: 'authors' } })
  })
  const kinds: string[] = []
  for (const user of ['a', 'z', 'a', 'z']) {
    const { body } = await few.inject({ url: '/books', headers: { ...headers, user } })
    kinds.push(`${/id="book:authorId"[^>]*readonly/.test(body)} ${body.includes('class="default"')}`)
  }
  t.strictSame(kinds, ['true true', 'false true', 'true true', 'false true'])
})

t.test('views of the app can render the field and the page', async (t) => {
  const views: HtmlOptions['views'] = {
    field: (field, page, all) => field.control === 'reference' ? markup`<b>${field.text}</b>${field.choose.label}` : defaultViews.field(field, page, all),
    choose: (page, all) => markup`<i>${page.rows.length}</i>${defaultViews.choose(page, all)}`
  }
  const { page, press, app } = await open(t, { rows: [{ title: 'T', authorId: 3 }], books: { html: { views } } })
  t.match((await page('/books/1')).body, '<b>Author &lt;3&gt;&amp;&quot;</b>Choose')
  const plain = await open(t)
  const form = formOn(await plain.page('/books'))
  const search = await app.inject(submit(form, findButton(form, CHOOSE), { accept: 'text/html' }))
  t.match(search.body, /<i>20<\/i><h1>Choose: Author<\/h1>/)
  t.equal(await press(formOn(search), CHOSEN, '2').then(({ statusCode }) => statusCode), 200)
})

t.test('an error of the store while it is searched is one of the page', async (t) => {
  const inner = memoryStore()
  for (const name of names(60)) inner.create({ name }, {})
  let isBroken = false
  const store: Store = { ...inner, list (query) { if (isBroken) throw new Error('broken'); return inner.list(query) } }
  const { page, press } = await open(t, { authors: { store } })
  const form = formOn(await page('/books'))
  isBroken = true
  t.equal((await press(form, CHOOSE)).statusCode, 500)
})
