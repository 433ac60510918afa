import { mkdirSync } from 'node:fs'
import Database from 'libsql'
import type { Browser, Locator, Page } from 'playwright-core'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Store } from '../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import { addJournal, findViolations, launchChromium, openJournal, plainSpecimen, reasonToSkip, seedJournal, showPages, specimen, takePages } from '../support/html/chromium.js'
import { build } from '../support/helper.js'
import { buildExample, startProgram } from '../support/program.js'

/** The widths of the windows, in pixels. */
const WIDTHS = [320, 1280]
/** The colour schemes of these windows. */
const SCHEMES = ['dark', 'light'] as const

/** The timeout in milliseconds. */
const NEVER = 600_000

type Row = Record<string, unknown>

t.test('in Chromium', { skip: reasonToSkip() ?? false }, testAll)

async function testAll (t: Test): Promise<void> {
  const browser = await launchChromium(t)
  // Two tests run at once, since a browser mostly waits.
  t.jobs = 2
  // The pages do not depend on the store, so that each runs over one. The contract compares the stores.
  t.test('the blog, kept in a database file', { buffered: true }, async (t) => testBlog(t, await openBlog(t, browser, `${t.testdir()}/blog.sqlite`)))
  t.test('each kind of attribute, kept in a database file', { buffered: true }, async (t) => testSpecimens(t, await openSpecimens(t, browser)))
  t.test('a journal, kept in memory', { buffered: true }, async (t) => testJournal(t, await openPosts(t, browser)))
  t.test('decimals, local times and bytes, kept in memory', { buffered: true }, async (t) => testExactTexts(t, browser))
  t.test('every page is accessible, fits the window and requests only its stylesheet', { buffered: true }, async (t) => testPages(t, browser))
  if (PICTURES !== undefined) t.test('pages are photographed', { buffered: true }, async (t) => takePictures(t, browser, PICTURES))
}

/** The tools of a test. */
interface Scene {
  readonly url: string
  /** The errors and warnings of the browser. */
  readonly complaints: readonly string[]
  /** Opens a window. */
  open (path: string): Promise<Page>
  /** Reads a path from the server as JSON. */
  read (path: string): Promise<any>
  readonly store?: Store
}

async function openBlog (t: Test, browser: Browser, place: string, seed = 120): Promise<Scene> {
  const { line } = await startProgram(t, buildExample(t, 'server.ts'), { environment: { PORT: '0', STORE: place, SEED: String(seed) } })
  return makeScene(t, browser, /http:\S+(?=\/posts;)/.exec(line)?.[0] ?? '')
}

async function openSpecimens (t: Test, browser: Browser): Promise<Scene> {
  const database = new Database(`${t.testdir()}/rows.sqlite`)
  t.teardown(() => database.close())
  const store = sqliteStore({ database: database as unknown as SqliteDatabase, table: 'specimens', attributes: specimen, unique: ['title'], migrate: true })
  const app = await build(t, { name: 'specimens', attributes: specimen, store }, { server: { forceCloseConnections: true } })
  return { ...makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' })), store }
}

async function openPosts (t: Test, browser: Browser): Promise<Scene> {
  const stores = openJournal(() => memoryStore())
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  addJournal(app, stores)
  await app.ready()
  await seedJournal(stores)
  return makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' }))
}

function makeScene (t: Test, browser: Browser, url: string): Scene {
  const complaints: string[] = []
  const windows: Page[] = []
  t.teardown(async () => {
    for (const page of windows) await page.context().close()
  })
  return {
    url,
    complaints,
    async open (path) {
      // Each window has its own context, because the browser slows down background tabs.
      const page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 1000, height: 800 }, reducedMotion: 'reduce' })
      windows.push(page)
      page.setDefaultTimeout(NEVER)
      watch(page, complaints)
      await page.goto(url + path)
      return page
    },
    async read (path) {
      const response = await fetch(url + path, { headers: { accept: 'application/json' } })
      return { status: response.status, etag: response.headers.get('etag'), ...await response.json() as object }
    }
  }
}

/** Collects the browser's complaints, except the status of a page, and requests other than pages and stylesheets. */
function watch (page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (/^(?:error|warning)$/.test(message.type()) && !/the server responded with a status of 4/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => { complaints.push(String(error)) })
  page.on('requestfailed', (request) => { complaints.push(`failed: ${request.url()}`) })
  page.on('response', (response) => { if (response.request().resourceType() === 'stylesheet' && (response.status() !== 200 || response.headers()['content-type'] !== 'text/css; charset=utf-8')) complaints.push(`no stylesheet: ${response.url()}`) })
  page.on('request', (request) => { if (!/^(?:document|stylesheet)$/.test(request.resourceType())) complaints.push(`asked for: ${request.url()}`) })
}

/** Returns the control of this name. A value selects one of several. */
function control (scope: Page | Locator, name: string, value?: string): Locator {
  return scope.locator(`[name="${name}"]:not([type="hidden"])${value === undefined ? '' : `[value="${value}"]`}`)
}

/** Presses a button and waits for the next page. */
async function press (page: Page, name: string): Promise<void> {
  await arrive(page, () => page.getByRole('button', { name, exact: true }).click())
}

async function follow (page: Page, scope: Page | Locator, name?: string): Promise<void> {
  await arrive(page, () => scope.getByRole('link', name === undefined ? {} : { name, exact: true }).click())
}

async function arrive (page: Page, act: () => Promise<void>): Promise<void> {
  const arrived = page.waitForEvent('load')
  await act()
  await arrived
}

/** Returns the fields that the form of a page would send. */
function fieldsOf (form: Locator): Promise<Array<[string, string]>> {
  return form.evaluate((form) => {
    const fields = Reflect.construct(FormData, [form]) as FormData
    return [...fields].map(([name, value]): [string, string] => [name, String(value)]).filter(([name]) => !name.endsWith('[was]'))
  })
}

function formOf (page: Page): Locator {
  return page.locator('form.form').filter({ has: page.locator('.primary', { hasText: /Create|Save/ }) })
}

function textsOf (locator: Locator): Promise<string[]> {
  return locator.allInnerTexts()
}

/** Opens the fields of one more condition. */
async function filterBy (page: Page, attribute: string): Promise<void> {
  await page.locator('form.filter summary').click()
  await page.getByLabel('Filter by').selectOption(attribute)
  await press(page, 'Choose')
}

/** Describes the focused element. */
function focusOf (page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id')
}

async function testBlog (t: Test, { open, read, complaints }: Scene): Promise<void> {
  let id = 0

  await t.test('a post is created: errors are shown, and typed values stay', async (t) => {
    const page = await open('/posts')
    await page.getByRole('link', { name: 'New post' }).click()
    await control(page, 'post[title]').fill('Tea & "cake"')
    await control(page, 'post[body]').fill('\n\nTwo lines before, two  spaces within.\n')
    await control(page, 'post[published]').check()
    await control(page, 'post[rating]').fill('4')
    await control(page, 'post[tags]').fill('food\nfood')
    await control(page, 'post[author][email]').fill('ada@example.com')
    const typed = await fieldsOf(formOf(page))
    await press(page, 'Add a link')
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'New post')
    t.strictSame((await fieldsOf(formOf(page))).filter(([name]) => !/\[links\]\[0\]/.test(name)), typed, 'one more row, and the others unchanged')
    t.equal(await focusOf(page), 'post:links:0:label', 'the first field of the new row has the focus')
    await control(page, 'post[links][0][label]').fill('Tea')
    await control(page, 'post[links][0][url]').fill('http://example.com/té')

    const sent = await fieldsOf(formOf(page))
    await press(page, 'Create post')
    t.strictSame(await fieldsOf(formOf(page)), sent, 'the typed value is still there')
    t.match(await page.title(), /^Problem: New post/)
    const summary = page.locator('.problem')
    t.equal(await page.evaluate('document.activeElement.className'), 'problem', 'the summary has the focus')
    t.strictSame(await textsOf(summary.getByRole('listitem')), ['Tags must not have the same item twice', 'Author: Name must not be blank', 'Link 1: URL must be an absolute URL'])
    for (const [name, target] of [['Tags', 'post:tags'], ['Author: Name', 'post:author:name'], ['Link 1: URL', 'post:links:0:url']] as const) {
      await summary.getByRole('link', { name }).click()
      t.equal(await focusOf(page), target, `${name} is one click away`)
      const field = page.locator(`[id="${target}"]`)
      t.equal(await field.getAttribute('aria-invalid'), 'true')
      const described = (await field.getAttribute('aria-describedby') ?? '').split(' ')
      t.ok(described.includes(`${target}!error`) && await page.locator(`[id="${target}!error"]`).isVisible(), 'the error is beside the field')
    }
    t.equal((await read('/posts')).posts.length, 120, 'nothing was written')

    await control(page, 'post[tags]').fill('food\ndrink')
    await control(page, 'post[author][name]').fill('Ada')
    await control(page, 'post[links][0][url]').fill('http://example.com/tea')
    await press(page, 'Create post')
    id = Number(/\/posts\/(\d+)#created$/.exec(page.url())?.[1])
    t.equal(await focusOf(page), 'created', 'a screen reader reads the notice')
    t.strictSame(await textsOf(page.locator('.notice:visible')), ['Created.'])
    t.strictSame((await read(`/posts/${id}`)).post, {
      id,
      title: 'Tea & "cake"',
      body: '\n\nTwo lines before, two  spaces within.\n',
      published: true,
      publishedAt: null,
      rating: 4,
      tags: ['food', 'drink'],
      author: { name: 'Ada', email: 'ada@example.com' },
      links: [{ label: 'Tea', url: 'http://example.com/tea' }]
    })
  })

  await t.test('a post is edited: nested attributes, more and fewer rows, and Enter saves', async (t) => {
    const page = await open(`/posts/${id}`)
    await press(page, 'Add a link')
    await control(page, 'post[links][1][label]').fill('Cake')
    await control(page, 'post[links][1][url]').fill('http://example.com/cake')
    await press(page, 'Add a link')
    await press(page, 'Remove link 1')
    t.equal(await control(page, 'post[links][0][label]').inputValue(), 'Cake', 'the second row is now the first')
    await press(page, 'Remove link 2')
    await control(page, 'post[author][email]').fill('')
    await control(page, 'post[author][name]').fill('Ada L.')
    await control(page, 'post[tags]').fill('drink\n\nsweet\nfood')
    await control(page, 'post[published]').uncheck()
    await control(page, 'post[rating]').fill('')
    await control(page, 'post[publishedAt]').fill('2026-01-31T12:30')
    await page.locator('.offset summary').click()
    await control(page, 'post[publishedAt][?][offset]').fill('+02:00')
    await arrive(page, () => control(page, 'post[title]').press('Enter'))
    t.match(page.url(), new RegExp(`/posts/${id}#saved$`))
    t.strictSame((await read(`/posts/${id}`)).post, {
      id,
      title: 'Tea & "cake"',
      body: '\n\nTwo lines before, two  spaces within.\n',
      published: false,
      publishedAt: '2026-01-31T12:30:00+02:00',
      rating: null,
      tags: ['drink', 'sweet', 'food'],
      author: { name: 'Ada L.' },
      links: [{ label: 'Cake', url: 'http://example.com/cake' }]
    })
    await press(page, 'Remove link 1')
    await press(page, 'Save changes')
    t.strictSame((await read(`/posts/${id}`)).post.links, [], 'the last row can be removed too')
  })

  await t.test('the list is sorted by its columns, filtered, and read page by page', async (t) => {
    const page = await open('/posts')
    const rows = page.locator('table.list tbody tr')
    const ids = async (): Promise<number[]> => (await textsOf(rows.locator('td.id'))).map(Number)
    const expected = async (query: string): Promise<number[]> => (await read(`/posts?${query}`)).posts.map(({ id }: { id: number }) => id)
    t.strictSame(await ids(), await expected('limit=50'))

    const heading = page.getByRole('columnheader', { name: 'Rating' })
    await follow(page, heading)
    t.strictSame([await ids(), await heading.getAttribute('aria-sort')], [await expected('sort=rating&limit=50'), 'ascending'])
    await follow(page, heading)
    t.strictSame([await ids(), await heading.getAttribute('aria-sort')], [await expected('sort=-rating&limit=50'), 'descending'])

    await filterBy(page, 'Published')
    await control(page, 'filter[value]').selectOption('yes')
    await press(page, 'Apply filter')
    await filterBy(page, 'Rating')
    t.equal(await focusOf(page), 'filter!value', 'the value has the focus')
    await control(page, 'filter[by]').selectOption('is')
    await control(page, 'filter[value]').fill('5')
    await press(page, 'Apply filter')
    t.strictSame(await ids(), await expected('sort=-rating&published=true&rating=5&limit=50'), 'the filtered list is still in order')
    t.strictSame(await textsOf(page.locator('.chip')), ['Published is yes \u00d7', 'Rating is 5 \u00d7', '+ Filter'], 'the conditions stand beside the search')
    await filterBy(page, 'Title')
    await page.getByRole('textbox', { name: 'Title contains' }).fill('Nothing')
    await press(page, 'Apply filter')
    t.match(await page.locator('.empty').innerText(), /No posts match the filter/)
    await follow(page, page, 'Clear filter')
    t.strictSame(await ids(), await expected('sort=-rating&limit=50'))

    const seen = await ids()
    for (const name of ['Next page', 'Next page']) {
      await follow(page, page, name)
      seen.push(...await ids())
    }
    t.equal(await page.getByRole('link', { name: 'Next page' }).count(), 0, 'the last page has no next one')
    t.strictSame(seen, await expected('sort=-rating'), 'each row comes once, in order')
    await follow(page, page, 'First page')
    t.strictSame(await ids(), await expected('sort=-rating&limit=50'))
  })

  await t.test('two windows conflict, and each attribute keeps the chosen side', async (t) => {
    const { rating } = (await read(`/posts/${id}`)).post
    const mine = await open(`/posts/${id}`)
    const theirs = await open(`/posts/${id}`)
    await control(theirs, 'post[title]').fill('Their title')
    await control(theirs, 'post[rating]').fill('2')
    await control(theirs, 'post[tags]').fill('theirs')
    await press(theirs, 'Save changes')
    await control(mine, 'post[title]').fill('My title')
    await control(mine, 'post[body]').fill('My body')
    await control(mine, 'post[author][name]').fill('My name')
    await press(mine, 'Save changes')
    t.equal(await mine.getByRole('heading', { level: 1 }).innerText(), 'This post has been changed meanwhile')
    t.match((await read(`/posts/${id}`)).post, { title: 'Their title', rating: 2, tags: ['theirs'] }, 'nothing was written')
    t.strictSame(await choices(mine), { title: 'yours', rating: 'theirs', tags: 'theirs' }, 'what only the other one changed is taken over')
    t.strictSame(await textsOf(mine.locator('h2')), ['Changed by both of you', 'Changed by somebody else', 'Not changed by anybody else'])
    t.equal(await control(mine, 'post[body]').inputValue(), 'My body')
    t.equal(await control(mine, 'post[title]').inputValue(), 'My title')
    t.equal(await mine.locator('.conflict').first().locator('.theirs .value').innerText(), 'Their title')

    await control(mine, 'post[title][?][keep]', 'theirs').check()
    await control(mine, 'post[rating][?][keep]', 'yours').check()
    await press(mine, 'Save changes')
    t.match((await read(`/posts/${id}`)).post, { title: 'Their title', body: 'My body', rating, tags: ['theirs'], author: { name: 'My name' } })
  })

  await t.test('a conflict during a conflict loses no typed or chosen value', async (t) => {
    const mine = await open(`/posts/${id}`)
    const theirs = await open(`/posts/${id}`)
    await control(theirs, 'post[title]').fill('Theirs')
    await press(theirs, 'Save changes')
    await control(mine, 'post[title]').fill('Mine')
    await control(mine, 'post[tags]').fill('mine')
    await press(mine, 'Save changes')
    await control(mine, 'post[title][?][keep]', 'theirs').check()
    await control(theirs, 'post[body]').fill('Their second thought')
    await control(theirs, 'post[title]').fill('Theirs, again')
    await press(theirs, 'Save changes')
    await press(mine, 'Save changes')
    t.strictSame(await choices(mine), { title: 'theirs', body: 'theirs' })
    t.strictSame([await control(mine, 'post[title]').inputValue(), await control(mine, 'post[tags]').inputValue()], ['Mine', 'mine'])
    await control(mine, 'post[title][?][keep]', 'yours').check()
    await press(mine, 'Save changes')
    t.match((await read(`/posts/${id}`)).post, { title: 'Mine', body: 'Their second thought', tags: ['mine'] })
  })

  await t.test('an error during a conflict is shown like any other', async (t) => {
    const mine = await open(`/posts/${id}`)
    const theirs = await open(`/posts/${id}`)
    await control(theirs, 'post[body]').fill('Their third thought')
    await press(theirs, 'Save changes')
    await control(mine, 'post[body]').fill('My third thought')
    await press(mine, 'Save changes')
    await control(mine, 'post[tags]').fill('a\na')
    await press(mine, 'Save changes')
    t.match(await textsOf(mine.locator('.problem li')), ['Tags must not have the same item twice'])
    t.equal(await control(mine, 'post[body]').inputValue(), 'My third thought')
    await control(mine, 'post[tags]').fill('a')
    await press(mine, 'Save changes')
    t.match((await read(`/posts/${id}`)).post, { body: 'My third thought', tags: ['a'] })
  })

  await t.test('a changed record is not deleted unseen, and no deletion takes a single click', async (t) => {
    const page = await open(`/posts/${id}`)
    const other = await open(`/posts/${id}`)
    await control(other, 'post[title]').fill('Changed meanwhile')
    await press(other, 'Save changes')
    t.equal(await page.getByRole('button', { name: 'Yes, delete it' }).count(), 0, 'the button is not there yet')
    await page.locator('summary', { hasText: 'Delete this post' }).click()
    await press(page, 'Yes, delete it')
    t.match(await page.locator('main').innerText(), /This post has been changed meanwhile[^]*Changed meanwhile/)
    t.equal((await read(`/posts/${id}`)).post.title, 'Changed meanwhile')
    await press(page, 'Yes, delete it')
    t.match(page.url(), /\/posts#deleted$/)
    t.equal((await read(`/posts/${id}`)).status, 404)
    await press(other, 'Save changes')
    t.equal(await other.getByRole('heading', { level: 1 }).innerText(), 'This post does not exist any more')
    t.equal(await control(other, 'post[title]').inputValue(), 'Changed meanwhile', 'the typed value is still there')
    await press(other, 'Create it again')
    t.match(other.url(), /\/posts\/\d+#created$/)
  })
  t.strictSame(complaints, [], 'no request failed, and the browser did not complain')
}

/** Returns the side that each attribute of a conflict keeps. */
async function choices (page: Page): Promise<Record<string, string>> {
  const sent = await fieldsOf(formOf(page))
  return Object.fromEntries(sent.flatMap(([field, side]) => /^\w+\[(\w+)\]\[\?\]\[keep\]$/.exec(field)?.slice(1).map((name) => [name, side]) ?? []))
}

/** Rows that an untouched form must not change. */
const untouched: Array<[name: string, row: Row]> = [
  ['all there is', { certain: true, shown: false, found: '2024-02-29', boughtAt: '2026-01-31T12:30:15.250+02:00', amount: 0, mail: 'a@example.com', site: 'https://example.com/?a=b&c', note: 'A note', keeper: { name: 'Ada', address: { street: '', town: 'Ulm' } }, parts: [{ label: 'One', grams: 0.1, broken: true }, { label: 'Two', grams: null, broken: false }], marks: ['stamp', 'signature'], tags: ['b', 'a'], extra: { a: [1, null, { b: '' }] }, any: 'any' }],
  ['null, false and empty', { certain: null, shown: false, boughtAt: null, amount: null, site: null, note: null, parts: [], marks: [], tags: [], extra: null }],
  ['line breaks at each end', { body: '\n\n  Text\n\n', note: '\n' }],
  ['white space and signs', { title: ' " <b>&amp;\' ', body: '\tTab  and spaces ', tags: [' a ', '&lt;', 'é', '😀'] }],
  ['a carriage return', { body: 'a\r\nb\rc', note: '\r' }],
  ['items with line breaks', { tags: ['a\nb', 'c'] }],
  ['a time in microseconds', { boughtAt: '2026-01-31T12:30:15.123456Z' }],
  ['choices in another order', { marks: ['signature', 'stamp'] }],
  ['a great number', { weight: 9_007_199_254_740_991, amount: -9_007_199_254_740_991, parts: [{ label: 'One', grams: 1.7976931348623157e308, broken: false }] }],
  ['a very long text', { body: 'word '.repeat(2_000), note: 'n'.repeat(4_000), title: 't'.repeat(120) }],
  ['rows as many as a form has', { parts: Array.from({ length: 50 }, (_, index) => ({ label: `Part ${index}`, grams: index, broken: index % 2 === 0 })) }],
  ['an open value that is an object', { any: { a: [] } }],
  ['right to left', { title: 'كتاب', body: 'שלום' }]
]

async function testSpecimens (t: Test, { open, read, store, complaints }: Scene): Promise<void> {
  await t.test('each kind of control is filled in; the server\'s errors are shown, and no typed value is lost', async (t) => {
    const page = await open('/specimens')
    t.match(await page.locator('.empty').innerText(), /There are no specimens yet/)
    const field = (name: string, value?: string): Locator => control(page, `specimen[${name.replaceAll('.', '][')}]`, value)
    await field('title').fill('Amber')
    await field('body').fill('\nAn insect.')
    await field('status', 'review').check()
    await field('origin').selectOption('Europe')
    await field('certain', 'false').check()
    await field('shown').uncheck()
    await field('found').fill('2024-02-29')
    await field('boughtAt').fill('2026-01-31T12:30')
    await page.locator('.offset summary').click()
    await field('boughtAt.?.offset').fill('-03:30')
    await field('weight').fill('2.25')
    await field('amount').fill('3')
    await field('mail').fill('ada@example.com')
    await field('secret').fill('open sesame')
    await field('note').fill('A note\nof two lines')
    await field('keeper.address.town').fill('Ulm')
    await field('marks.', 'seal').check()
    await field('tags').fill('b\nb')
    await field('extra').fill('{"a": [1, null]}')
    await press(page, 'Add a part')
    await field('parts.0.label').fill('One')
    await field('parts.0.broken').check()
    await press(page, 'Add a part')
    await field('parts.1.label').fill('Two')
    await field('parts.1.grams').fill('0.1')
    await field('secret').fill('open sesame')

    const sent = await fieldsOf(formOf(page))
    await press(page, 'Create specimen')
    t.strictSame(await textsOf(page.locator('.problem li')), ['Keeper: Name must not be blank', 'Tags must not have the same item twice'])
    t.strictSame(await fieldsOf(formOf(page)), sent.map(([name, value]) => [name, name === 'specimen[secret]' ? '' : value]), 'all values are kept except the password, which is never shown')
    t.match(await page.locator('[id="specimen:secret!hint"]').innerText(), /Type it again/)

    await store?.create({ ...plainSpecimen }, {}, { signal: new AbortController().signal })
    await field('tags').fill('b\na')
    await field('keeper.name').fill('Ada')
    await field('secret').fill('open sesame')
    await press(page, 'Create specimen')
    t.strictSame(await textsOf(page.locator('.problem li')), ['Title is already taken'])
    await page.locator('.problem').getByRole('link').click()
    t.equal(await focusOf(page), 'specimen:title')
    t.equal(await field('parts.1.grams').inputValue(), '0.1')
    await field('title').fill('Amber, too')
    await field('secret').fill('open sesame')
    await press(page, 'Create specimen')
    const { specimen } = await read(page.url().replace(/.*(?=\/specimens)|#.*/g, ''))
    // A database stores an absent value as null.
    t.strictSame(withoutNulls(specimen), {
      id: specimen.id,
      title: 'Amber, too',
      body: '\nAn insect.',
      status: 'review',
      origin: 'Europe',
      certain: false,
      shown: false,
      found: '2024-02-29',
      boughtAt: '2026-01-31T12:30:00-03:30',
      weight: 2.25,
      amount: 3,
      mail: 'ada@example.com',
      note: 'A note\nof two lines',
      keeper: { name: 'Ada', address: { town: 'Ulm' } },
      parts: [{ label: 'One', broken: true }, { label: 'Two', grams: 0.1, broken: false }],
      marks: ['seal'],
      tags: ['b', 'a'],
      extra: { a: [1, null] }
    })
  })

  await t.test('an untouched form changes nothing', async (t) => {
    const page = await open('/specimens')
    for (const [name, row] of untouched) {
      const created = await store?.create({ ...plainSpecimen, title: `Untouched: ${name}`, code: 'M-1', ...row }, {}, { signal: new AbortController().signal })
      const path = `/specimens/${created?.id}`
      const before = await read(path)
      const kept = await store?.get(created?.id as number, {}, { signal: new AbortController().signal })
      await page.goto(new URL(path, page.url()).href)
      await press(page, 'Save changes')
      const after = await read(path)
      t.strictSame(await textsOf(page.locator('.problem li')), [], `${name}: there is no error`)
      t.match(page.url(), /#/, `${name}: the form was submitted`)
      t.equal(after.etag, before.etag, `${name}: nothing was written`)
      t.equal(JSON.stringify(after.specimen), JSON.stringify(before.specimen), `${name}: the record is unchanged`)
      t.strictSame((await store?.get(created?.id as number, {}, { signal: new AbortController().signal }))?.attributes, kept?.attributes, `${name}: the stored row is unchanged`)
    }
  })

  await t.test('each kind of control can be emptied and filled again', async (t) => {
    const created = await store?.create({ ...plainSpecimen, ...untouched[0]?.[1], title: 'Emptied' }, {}, { signal: new AbortController().signal })
    const page = await open(`/specimens/${created?.id}`)
    const field = (name: string, value?: string): Locator => control(page, `specimen[${name.replaceAll('.', '][')}]`, value)
    await field('certain', '').check()
    await field('shown').check()
    for (const name of ['boughtAt', 'amount', 'site', 'note', 'tags', 'extra', 'any', 'keeper.address.town']) await field(name).fill('')
    for (const mark of ['stamp', 'signature']) await field('marks.', mark).uncheck()
    await press(page, 'Remove part 1')
    await press(page, 'Remove part 1')
    await field('secret').fill('another word')
    await press(page, 'Save changes')
    t.strictSame(await textsOf(page.locator('.problem li')), [], 'there is no error')
    const { specimen } = await read(`/specimens/${created?.id}`)
    t.match(specimen, { certain: null, shown: true, boughtAt: null, amount: null, site: null, parts: [], marks: [], tags: [], extra: null, any: null })
    t.equal((await store?.get(created?.id as number, {}, { signal: new AbortController().signal }))?.attributes.secret, 'another word')
  })

  await t.test('two windows conflict over each kind of control', async (t) => {
    const created = await store?.create({ ...plainSpecimen, ...untouched[0]?.[1], title: 'Contested' }, {}, { signal: new AbortController().signal })
    const path = `/specimens/${created?.id}`
    for (const side of ['yours', 'theirs'] as const) {
      const mine = await open(path)
      const theirs = await open(path)
      const [seven, eight, asia, sea, draft, no] = side === 'yours' ? ['7', '8', 'Asia', 'Sea', 'draft', 'false'] as const : ['5', '6', 'Space', 'Africa', 'live', 'true'] as const
      for (const [page, word, number, box, other] of [[theirs, `Their ${side}`, seven, side === 'yours' ? 'stamp' : 'signature', asia], [mine, `My ${side}`, eight, side === 'yours' ? 'seal' : 'stamp', sea]] as const) {
        const field = (name: string, value?: string): Locator => control(page, `specimen[${name.replaceAll('.', '][')}]`, value)
        for (const name of ['title', 'body', 'note', 'keeper.name', 'parts.1.label', 'tags']) await field(name).fill(word)
        for (const name of ['weight', 'amount', 'parts.0.grams']) await field(name).fill(number)
        await field('origin').selectOption(other)
        await field('status', page === mine ? draft : 'review').check()
        await field('certain', page === mine ? no : '').check()
        for (const mark of ['stamp', 'seal', 'signature']) await field('marks.', mark).setChecked(mark === box)
        await field('found').fill(`2024-03-0${number}`)
        await field('boughtAt').fill(`2026-03-0${number}T12:00:00`)
        await field('extra').fill(`["${word}"]`)
        await field('secret').fill(`the word of ${word}`)
        await press(page, 'Save changes')
      }
      const before = (await read(path)).specimen
      t.equal(before.title, `Their ${side}`)
      const differ = ['title', 'body', 'status', 'origin', 'certain', 'found', 'boughtAt', 'weight', 'amount', 'note', 'keeper', 'parts', 'marks', 'tags', 'extra']
      t.strictSame(await choices(mine), Object.fromEntries(differ.map((name) => [name, 'yours'])), 'both changed it, so mine is selected by default')
      for (const name of differ) await control(mine, `specimen[${name}][?][keep]`, side).check()
      await press(mine, 'Save changes')
      const after = (await read(path)).specimen
      if (side === 'theirs') t.strictSame(after, before)
      else {
        t.match(after, {
          title: 'My yours',
          body: 'My yours',
          note: 'My yours',
          keeper: { name: 'My yours', address: { town: 'Ulm' } },
          parts: [{ label: 'One', grams: 8 }, { label: 'My yours' }],
          tags: ['My yours'],
          weight: 8,
          amount: 8,
          origin: 'Sea',
          status: 'draft',
          certain: false,
          marks: ['seal'],
          found: '2024-03-08',
          boughtAt: '2026-03-08T12:00:00+02:00',
          extra: ['My yours']
        })
      }
    }
  })
  t.strictSame(complaints, [], 'no request failed, and the browser did not complain')
}

/** The paths of a post's comments and of their forms. */
interface Way {
  readonly prefix: string
  readonly isApart: boolean
  /** The path of a missing row. */
  readonly missing: string
}

const plainWay: Way = { prefix: '', isApart: false, missing: '/posts/1/comments/1' }
const apartWay: Way = { prefix: '/apart', isApart: true, missing: '/apart/posts/1/comments/1/edit' }

async function testJournal (t: Test, scene: Scene): Promise<void> {
  await t.test('a nested row is created, changed and deleted', (t) => testNested(t, scene, plainWay))
  await t.test('the same with forms on pages of their own', (t) => testNested(t, scene, apartWay))
  await t.test('a nested singleton is created, changed and deleted, with a form on its own page', (t) => testOne(t, scene, '/apart'))
  t.strictSame(scene.complaints, [], 'no request failed, and the browser did not complain')
}

async function testNested (t: Test, { open, read }: Scene, { prefix, isApart, missing }: Way): Promise<void> {
  const list = `${prefix}/posts/1/comments`
  const above = [['Posts', `${prefix}/posts`], ['Post 1', `${prefix}/posts/1`], ['Comments', list]]
  const page = await open(`${prefix}/posts`)
  const field = (page: Page, name: string): Locator => control(page, `comment[${name}]`)
  const edit = async (page: Page): Promise<void> => { if (isApart) await follow(page, page.locator('.tools'), 'Edit') }

  await follow(page, page.locator('table.list'), '1')
  await press(page, 'Publish')
  t.strictSame([pathOf(page), (await read('/posts/1')).post.published], [`${prefix}/posts/1`, true], 'one click publishes the post')
  await press(page, 'Back to the drafts')
  t.strictSame([pathOf(page), (await read('/posts/1')).post.published], [`${prefix}/posts/1`, false], 'another click takes it back')
  await follow(page, page.locator('.tools'), 'Posts like this one')
  t.strictSame([pathOf(page), await page.locator('h1').innerText(), await page.locator('tbody tr').count()], [`${prefix}/posts/1/similar`, 'Posts like this one', 2])
  await page.setViewportSize({ width: 320, height: 800 })
  t.notOk(await page.locator('thead').isVisible(), 'on a narrow screen each row has its own labels, and the table\'s head only sorts')
  await page.goBack()
  await page.setViewportSize({ width: 1000, height: 800 })

  await follow(page, page.locator('main'), 'Comments')
  t.match(await page.locator('.empty').innerText(), /There are no comments yet/, 'the comment of the other post is not in the list')
  if (isApart) await follow(page, page.locator('.tools'), 'New comment')
  t.equal(pathOf(page), isApart ? `${list}/new` : list)
  await field(page, 'author').fill('Grace')
  await field(page, 'body').fill('\nA first line that is blank,\n  and a second.\n')
  await field(page, 'tags').fill('a\na')
  const typed = await fieldsOf(formOf(page))
  await press(page, 'Create comment')
  t.strictSame(await textsOf(page.locator('.problem li')), ['Tags must not have the same item twice'])
  t.strictSame(await fieldsOf(formOf(page)), typed, 'all typed values are still there')
  await field(page, 'tags').fill('b\na')
  await press(page, 'Create comment')
  const id = Number(pathOf(page).slice(list.length + 1))
  const path = `${list}/${id}`
  t.strictSame([pathOf(page), await crumbsOf(page)], [path, above])
  const made = (await read(path)).comment
  t.strictSame(made, { id, author: 'Grace', body: '\nA first line that is blank,\n  and a second.\n', stars: null, tags: ['b', 'a'] })

  await edit(page)
  if (isApart) t.strictSame([pathOf(page), await crumbsOf(page)], [`${path}/edit`, [...above, [`Comment ${id}`, path]]])
  await press(page, 'Save changes')
  t.strictSame([pathOf(page), (await read(path)).comment], [path, made], 'an untouched form changes nothing')

  await edit(page)
  const theirs = await open(isApart ? `${path}/edit` : path)
  await field(theirs, 'author').fill('Theirs')
  await field(theirs, 'stars').fill('3')
  await press(theirs, 'Save changes')
  await field(page, 'author').fill('Mine')
  await field(page, 'body').fill('My words')
  await press(page, 'Save changes')
  t.strictSame(await choices(page), { author: 'yours', stars: 'theirs' })
  t.strictSame(await crumbsOf(page), [...above, [`Comment ${id}`, path]])
  await press(page, 'Save changes')
  t.strictSame([pathOf(page), (await read(path)).comment], [path, { ...made, author: 'Mine', body: 'My words', stars: 3 }])

  await page.goto(new URL(missing, page.url()).href)
  t.strictSame([await page.locator('h1').innerText(), await textsOf(page.locator('.empty strong'))], ['Not Found', [`There is no comment with the id ${/\/(\d+)(?:\/edit)?$/.exec(missing)?.[1]}`]])
  t.strictSame(await linksOf(page.locator('.empty')), [['Comments', list]], 'the page leads to the list')
  await page.goto(new URL(path, page.url()).href)
  await page.locator('summary', { hasText: 'Delete this comment' }).click()
  await press(page, 'Yes, delete it')
  t.strictSame([pathOf(page), (await read(list)).comments, (await read(path)).status], [list, [], 404], 'back at the list of that post')
  for (const [name, target] of [['Post 1', `${prefix}/posts/1`], ['Posts', `${prefix}/posts`]] as const) {
    await follow(page, page.locator('.breadcrumb'), name)
    t.equal(pathOf(page), target, 'the way back')
  }
}

async function testOne (t: Test, { open, read }: Scene, prefix: string): Promise<void> {
  const path = `${prefix}/posts/1/cover`
  const page = await open(`${prefix}/posts/1`)
  const edit = (): Promise<void> => follow(page, page.locator('.tools'), 'Edit')
  await follow(page, page.locator('main'), 'Cover')
  t.strictSame([await page.locator('h1').innerText(), await textsOf(page.locator('.empty p')), await crumbsOf(page)], ['Not Found', ['There is no cover here', 'Post 1'], [['Posts', `${prefix}/posts`], ['Post 1', `${prefix}/posts/1`]]])
  await control(page, 'cover[caption]').fill('  A cover ')
  await press(page, 'Create cover')
  t.equal(pathOf(page), path)
  const made = (await read(path)).cover
  t.strictSame(made, { caption: '  A cover ', width: null })
  await press(page, 'Touch')
  await edit()
  await press(page, 'Save changes')
  t.strictSame([pathOf(page), (await read(path)).cover], [path, made], 'an untouched form changes nothing')
  await edit()
  await control(page, 'cover[width]').fill('7')
  await press(page, 'Save changes')
  t.strictSame([pathOf(page), (await read(path)).cover], [path, { ...made, width: 7 }])
  await page.locator('summary', { hasText: 'Delete this cover' }).click()
  await press(page, 'Yes, delete it')
  t.strictSame([pathOf(page), (await read(path)).status], [`${prefix}/posts/1`, 404], 'back at the parent')
}

function pathOf (page: Page): string {
  return new URL(page.url()).pathname
}

function crumbsOf (page: Page): Promise<Array<[text: string, path: string | null]>> {
  return linksOf(page.locator('.breadcrumb'))
}

function linksOf (scope: Locator): Promise<Array<[text: string, path: string | null]>> {
  return scope.locator('a').evaluateAll((links) => links.map((link) => [String(link.textContent), link.getAttribute('href')]))
}

function withoutNulls (row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

type Finding = readonly [page: string, ...what: unknown[]]

/** Values of one attribute each, which a form must not change unless somebody types. */
const EXACT: ReadonlyArray<readonly [schema: object, values: readonly string[], typed: string, kept: string]> = [
  [{ type: 'string', format: 'decimal' }, ['-0.10', '007.0', '100000000000000000000.10', '1,5'], '12345678901234567890.10', '12345678901234567890.10'],
  [{ type: 'string', format: 'decimal', precision: 20, scale: 2 }, ['3.125', '123456789012345678.90'], '.5', '0.5'],
  [{ type: 'string', format: 'date-time-local' }, ['2020-01-02T03:04:00', '2020-01-02T03:04:05.5', '2020-01-02T03:04:05.123456', '0001-01-01T00:00:00'], '2024-02-29T12:30', '2024-02-29T12:30:00'],
  [{ type: 'string', format: 'time-local' }, ['03:04:00', '03:04:05.10', '23:59:59.999999'], '12:30', '12:30:00'],
  [{ type: 'string', contentEncoding: 'base64' }, ['', 'AA==', 'aGVsbG8='.slice(0, 4).repeat(100)], 'aGVs\nbG8=', 'aGVsbG8=']
]

async function testExactTexts (t: Test, browser: Browser): Promise<void> {
  for (const [schema, values, typed, kept] of EXACT) {
    const store = memoryStore()
    for (const it of values) store.create({ it, title: 'Before' }, {})
    const attributes = { type: 'object', properties: { title: { type: 'string', maxLength: 9 }, it: schema } } as const
    const app = await build(t, { name: 'posts', attributes, store }, { server: { forceCloseConnections: true } })
    const scene = makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' }))
    const page = await scene.open('/posts')
    for (const [index, value] of values.entries()) {
      const id = index + 1
      await page.goto(`${scene.url}/posts/${id}`)
      await control(formOf(page), 'post[title]').fill('After')
      await press(page, 'Save changes')
      const { title, it } = (await scene.read(`/posts/${id}`)).post as Row
      // The schema does not allow two of the values, which stay as they are because nobody has touched them.
      t.strictSame([title, it], ['After', value], `${JSON.stringify(schema)} ${value}`)
    }
    await page.goto(`${scene.url}/posts/1`)
    await control(formOf(page), 'post[it]').fill(typed)
    await press(page, 'Save changes')
    t.equal(((await scene.read('/posts/1')).post as Row).it, kept, `${JSON.stringify(schema)} ${typed}`)
  }
}

async function testPages (t: Test, browser: Browser): Promise<void> {
  const taken = await takePages(t)
  const { pages } = taken
  const { url, requests } = await showPages(t, taken)
  const findings: { axe: Finding[], wide: Finding[], complaints: string[] } = { axe: [], wide: [], complaints: [] }
  const queue = pages.map(({ name }, index) => ({ name, address: `${url}/pages/${index}`, look: index % WIDTHS.length }))

  async function work (): Promise<void> {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    t.teardown(() => context.close())
    const page = await context.newPage()
    watch(page, findings.complaints)
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await page.goto(next.address)
      // Opens each `details` element, so that its content is checked too.
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
      for (const [index, width] of WIDTHS.entries()) {
        await page.setViewportSize({ width, height: 800 })
        const needed = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (needed > width) findings.wide.push([next.name, width, needed])
        // axe looks at half of the pages in each window.
        if (index !== next.look) continue
        await page.emulateMedia({ colorScheme: SCHEMES[index] as typeof SCHEMES[number] })
        for (const found of await findViolations(page)) findings.axe.push([next.name, width, found])
      }
    }
  }

  await Promise.all([work(), work()])
  t.strictSame(findings.axe, [], 'axe finds nothing')
  t.strictSame(findings.wide, [], 'no page is wider than its window')
  t.strictSame(findings.complaints, [], 'the browser does not complain')
  t.strictSame(requests.filter((path) => !/^\/pages\/\d+$|^\/[a-z/]+(?:\/|\.)pages\.[0-9a-f]{16}\.css$/.test(path)), [], 'only pages and stylesheets are requested')
}

/** The folder of the pictures, if they are to be taken. */
const PICTURES = process.env.SCREENSHOTS === undefined ? undefined : new URL('../../example/screenshots/', import.meta.url)
const PICTURE = { width: 1000, height: 1000 }

async function takePictures (t: Test, browser: Browser, folder: URL): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const take = (page: Page, name: string): Promise<void> => photograph(t, page, folder, name)
  const { url, open } = await openBlog(t, browser, 'memory', 8)
  await fetch(`${url}/posts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ post: picturedPost }) })
  const list = await open('/posts?sort=-id')
  await take(list, 'list')
  const record = await open('/posts/9')
  await take(record, 'record')

  const errors = await open('/posts/9')
  await control(errors, 'post[title]').fill('A short guide to forms, revised')
  await control(errors, 'post[tags]').fill('forms\nweb\nforms')
  await control(errors, 'post[links][0][url]').fill('https://example.com/über-uns')
  await press(errors, 'Save changes')
  await take(errors, 'errors')

  await control(record, 'post[title]').fill('A guide to forms')
  await control(record, 'post[rating]').fill('5')
  const other = await open('/posts/9')
  await control(other, 'post[title]').fill('Forms, explained')
  await control(other, 'post[tags]').fill('forms\nweb\nhtml')
  await press(other, 'Save changes')
  await press(record, 'Save changes')
  await take(record, 'conflict')
}

const picturedPost = {
  title: 'A short guide to forms',
  body: 'A form asks for one thing at a time.\n\nIt says what it wants before, and what is wrong beside the field.',
  published: true,
  publishedAt: '2026-03-01T09:30:00+01:00',
  rating: 4,
  tags: ['forms', 'web'],
  author: { name: 'Ada Example', email: 'ada@example.com' },
  links: [{ label: 'Form controls', url: 'https://html.spec.whatwg.org/multipage/forms.html' }]
}

async function photograph (t: Test, page: Page, folder: URL, name: string): Promise<void> {
  await page.setViewportSize(PICTURE)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const { pathname } = new URL(`${name}-${colorScheme}.jpg`, folder)
    const picture = await page.screenshot({ path: pathname, type: 'jpeg', quality: 70, clip: { x: 0, y: 0, ...PICTURE } })
    t.ok(picture.length < 80_000, `${name}-${colorScheme}.jpg has ${picture.length} bytes`)
  }
}
