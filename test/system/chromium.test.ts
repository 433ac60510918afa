import { mkdirSync } from 'node:fs'
import type { Browser, Locator, Page } from 'playwright-core'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore } from '../../lib/index.js'
import {
  addJournal, arrive, choices, control, fieldsOf, findViolations, focusOf, formOf, launchChromium, makeScene,
  openJournal, press, reasonToSkip, type Scene, seedJournal, showPages, takePages, textsOf, watch
} from '../support/html/chromium.js'
import { buildExample, startProgram } from '../support/program.js'

/** The widths of the windows, in pixels. */
const WIDTHS = [320, 1280]
/** The colour schemes of these windows. */
const SCHEMES = ['dark', 'light'] as const

t.test('in Chromium', { skip: reasonToSkip() ?? false }, testAll)

async function testAll (t: Test): Promise<void> {
  const browser = await launchChromium(t)
  // Two tests run at once, since a browser mostly waits.
  t.jobs = 2
  // The pages do not depend on the store, so that each test runs over one. The contract compares the stores.
  t.test('the blog, kept in a database file', { buffered: true }, async (t) =>
    testBlog(t, await openBlog(t, browser, `${t.testdir()}/blog.sqlite`)))
  t.test('a journal, kept in memory', { buffered: true }, async (t) => testJournal(t, await openPosts(t, browser)))
  t.test('every page is accessible, fits the window and requests only its stylesheet', { buffered: true }, (t) =>
    testPages(t, browser))
  if (PICTURES !== undefined) {
    t.test('pages are photographed', { buffered: true }, (t) => takePictures(t, browser, PICTURES))
  }
}

async function openBlog (t: Test, browser: Browser, place: string, seed = 120): Promise<Scene> {
  const environment = { PORT: '0', STORE: place, SEED: String(seed) }
  const { line } = await startProgram(t, buildExample(t, 'server.ts'), { environment })
  return makeScene(t, browser, /http:\S+(?=\/posts;)/.exec(line)?.[0] ?? '')
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

/** Follows a link to the next page. */
async function follow (page: Page, scope: Page | Locator, name?: string): Promise<void> {
  await arrive(page, () => scope.getByRole('link', name === undefined ? {} : { name, exact: true }).click())
}

/** Opens the fields of one more condition. */
async function filterBy (page: Page, attribute: string): Promise<void> {
  await press(page, `+ ${attribute}`)
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
    const others = (await fieldsOf(formOf(page))).filter(([name]) => !/\[links\]\[0\]/.test(name))
    t.strictSame(others, typed, 'one more row, and the others unchanged')
    t.equal(await focusOf(page), 'post:links:0:label', 'the first field of the new row has the focus')
    await control(page, 'post[links][0][label]').fill('Tea')
    await control(page, 'post[links][0][url]').fill('http://example.com/té')

    const sent = await fieldsOf(formOf(page))
    await press(page, 'Create post')
    t.strictSame(await fieldsOf(formOf(page)), sent, 'the typed value is still there')
    t.match(await page.title(), /^Problem: New post/)
    const summary = page.locator('.problem')
    t.equal(await page.evaluate('document.activeElement.className'), 'problem', 'the summary has the focus')
    t.strictSame(await textsOf(summary.getByRole('listitem')), [
      'Tags must not have the same item twice', 'Author: Name must not be blank', 'Link 1: URL must be an absolute URL'
    ])
    for (const [name, target] of [
      ['Tags', 'post:tags'], ['Author: Name', 'post:author:name'], ['Link 1: URL', 'post:links:0:url']
    ] as const) {
      await summary.getByRole('link', { name }).click()
      t.equal(await focusOf(page), target, `${name} is one click away`)
      const field = page.locator(`[id="${target}"]`)
      t.equal(await field.getAttribute('aria-invalid'), 'true')
      const described = (await field.getAttribute('aria-describedby') ?? '').split(' ')
      t.ok(described.includes(`${target}!error`), 'the field is described by its error')
      t.ok(await page.locator(`[id="${target}!error"]`).isVisible(), 'the error is beside the field')
    }
    t.equal((await read('/posts')).posts.length, 120, 'nothing was written')

    await control(page, 'post[tags]').fill('food\ndrink')
    await control(page, 'post[author][name]').fill('Ada')
    await control(page, 'post[links][0][url]').fill('http://example.com/tea')
    await press(page, 'Create post')
    id = Number(/\/posts\/(\d+)$/.exec(page.url())?.[1])
    const notice = page.locator('.notice')
    t.strictSame(await textsOf(notice), ['Created.'])
    t.equal(await page.locator('.notice:focus').count(), 1, 'a screen reader reads the notice')
    await page.reload()
    t.equal(await notice.count(), 0, 'it is shown once')
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
    const page = await open(`/posts/${id}/edit`)
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
    t.match(page.url(), new RegExp(`/posts/${id}$`))
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
    await follow(page, page.locator('.tools'), 'Edit')
    await press(page, 'Remove link 1')
    await press(page, 'Save changes')
    t.strictSame((await read(`/posts/${id}`)).post.links, [], 'the last row can be removed too')
  })

  await t.test('the list is sorted by its columns, filtered, and read page by page', async (t) => {
    const page = await open('/posts')
    const rows = page.locator('table.list tbody tr')
    const ids = async (): Promise<number[]> => (await textsOf(rows.locator('td.id'))).map(Number)
    const expected = async (query: string): Promise<number[]> =>
      (await read(`/posts?${query}`)).posts.map(({ id }: { id: number }) => id)
    t.strictSame(await ids(), await expected('limit=50'))

    const heading = page.getByRole('columnheader', { name: 'Rating' })
    await follow(page, heading)
    t.strictSame(await ids(), await expected('sort=rating&limit=50'))
    t.equal(await heading.getAttribute('aria-sort'), 'ascending')
    await follow(page, heading)
    t.strictSame(await ids(), await expected('sort=-rating&limit=50'))
    t.equal(await heading.getAttribute('aria-sort'), 'descending')

    await filterBy(page, 'Published')
    await control(page, 'filter[value]').selectOption('yes')
    await press(page, 'Apply filter')
    await filterBy(page, 'Rating')
    t.equal(await focusOf(page), 'filter!value', 'the value has the focus')
    await control(page, 'filter[by]').selectOption('is')
    await control(page, 'filter[value]').fill('5')
    await press(page, 'Apply filter')
    const filtered = await expected('sort=-rating&published=true&rating=5&limit=50')
    t.strictSame(await ids(), filtered, 'the filtered list is still in order')
    const offered = ['+ Title', '+ Published', '+ Published at', '+ Rating']
    const chips = ['Published is yes \u00d7', 'Rating is 5 \u00d7', ...offered, 'yes 12 \u00d7', 'no 6', 'Sum', '']
    t.strictSame(await textsOf(page.locator('.chip')), chips, 'the conditions stand beside the search')
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
    const mine = await open(`/posts/${id}/edit`)
    const theirs = await open(`/posts/${id}/edit`)
    await control(theirs, 'post[title]').fill('Their title')
    await control(theirs, 'post[rating]').fill('2')
    await control(theirs, 'post[tags]').fill('theirs')
    await press(theirs, 'Save changes')
    await control(mine, 'post[title]').fill('My title')
    await control(mine, 'post[body]').fill('My body')
    await control(mine, 'post[author][name]').fill('My name')
    await press(mine, 'Save changes')
    t.equal(await mine.getByRole('heading', { level: 1 }).innerText(), 'This post has been changed meanwhile')
    const written = { title: 'Their title', rating: 2, tags: ['theirs'] }
    t.match((await read(`/posts/${id}`)).post, written, 'nothing was written')
    const chosen = { title: 'yours', rating: 'theirs', tags: 'theirs' }
    t.strictSame(await choices(mine), chosen, 'what only the other one changed is taken over')
    t.strictSame(await textsOf(mine.locator('h2')), [
      'Changed by both of you', 'Changed by somebody else', 'Changed by you'
    ])
    t.equal(await control(mine, 'post[body]').inputValue(), 'My body')
    t.equal(await control(mine, 'post[title]').inputValue(), 'My title')
    t.equal(await mine.locator('.conflict').first().locator('.theirs .value').innerText(), 'Their title')

    await control(mine, 'post[title][?][keep]', 'theirs').check()
    await control(mine, 'post[rating][?][keep]', 'yours').check()
    await press(mine, 'Save changes')
    t.match((await read(`/posts/${id}`)).post, {
      title: 'Their title', body: 'My body', rating, tags: ['theirs'], author: { name: 'My name' }
    })
  })

  await t.test('a conflict during a conflict loses no typed or chosen value', async (t) => {
    const mine = await open(`/posts/${id}/edit`)
    const theirs = await open(`/posts/${id}/edit`)
    await control(theirs, 'post[title]').fill('Theirs')
    await press(theirs, 'Save changes')
    await control(mine, 'post[title]').fill('Mine')
    await control(mine, 'post[tags]').fill('mine')
    await press(mine, 'Save changes')
    await control(mine, 'post[title][?][keep]', 'theirs').check()
    await follow(theirs, theirs.locator('.tools'), 'Edit')
    await control(theirs, 'post[body]').fill('Their second thought')
    await control(theirs, 'post[title]').fill('Theirs, again')
    await press(theirs, 'Save changes')
    await press(mine, 'Save changes')
    t.strictSame(await choices(mine), { title: 'theirs', body: 'theirs' })
    t.equal(await control(mine, 'post[title]').inputValue(), 'Mine')
    t.equal(await control(mine, 'post[tags]').inputValue(), 'mine')
    await control(mine, 'post[title][?][keep]', 'yours').check()
    await press(mine, 'Save changes')
    t.match((await read(`/posts/${id}`)).post, { title: 'Mine', body: 'Their second thought', tags: ['mine'] })
  })

  await t.test('a changed record is not deleted unseen, and no deletion takes a single click', async (t) => {
    const page = await open(`/posts/${id}`)
    const other = await open(`/posts/${id}/edit`)
    await control(other, 'post[title]').fill('Changed meanwhile')
    await press(other, 'Save changes')
    await follow(other, other.locator('.tools'), 'Edit')
    t.equal(await page.getByRole('button', { name: 'Yes, delete it' }).count(), 0, 'the button is not there yet')
    await page.locator('summary', { hasText: 'Delete this post' }).click()
    await press(page, 'Yes, delete it')
    t.match(await page.locator('main').innerText(), /This post has been changed meanwhile[^]*Changed meanwhile/)
    t.equal((await read(`/posts/${id}`)).post.title, 'Changed meanwhile')
    await press(page, 'Yes, delete it')
    t.match(page.url(), /\/posts$/)
    t.equal((await read(`/posts/${id}`)).status, 404)
    await press(other, 'Save changes')
    t.equal(await other.getByRole('heading', { level: 1 }).innerText(), 'This post does not exist any more')
    t.equal(await control(other, 'post[title]').inputValue(), 'Changed meanwhile', 'the typed value is still there')
    await press(other, 'Create it again')
    t.match(other.url(), /\/posts\/\d+$/)
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
  await t.test('a nested singleton is created, changed and deleted, with a form on its own page', (t) =>
    testOne(t, scene, '/apart'))
  t.strictSame(scene.complaints, [], 'no request failed, and the browser did not complain')
}

async function testNested (t: Test, { open, read }: Scene, { prefix, isApart, missing }: Way): Promise<void> {
  const list = `${prefix}/posts/1/comments`
  const above = [['Posts', `${prefix}/posts`], ['Post 1', `${prefix}/posts/1`], ['Comments', list]]
  const page = await open(`${prefix}/posts`)
  const field = (page: Page, name: string): Locator => control(page, `comment[${name}]`)
  const edit = async (page: Page): Promise<void> => {
    t.equal(await formOf(page).filter({ visible: true }).count(), 0, 'the form is not there yet')
    if (isApart) await follow(page, page.locator('.tools'), 'Edit')
    else await page.getByRole('link', { name: 'Edit' }).click()
  }

  await follow(page, page.locator('table.list'), '1')
  await press(page, 'Publish')
  t.equal(pathOf(page), `${prefix}/posts/1`)
  t.equal((await read('/posts/1')).post.published, true, 'one click publishes the post')
  await press(page, 'Back to the drafts')
  t.equal(pathOf(page), `${prefix}/posts/1`)
  t.equal((await read('/posts/1')).post.published, false, 'another click takes it back')
  await follow(page, page.locator('.tools'), 'Posts like this one')
  t.equal(pathOf(page), `${prefix}/posts/1/similar`)
  t.equal(await page.locator('h1').innerText(), 'Posts like this one')
  t.equal(await page.locator('tbody tr').count(), 2)
  await page.setViewportSize({ width: 320, height: 800 })
  t.notOk(await page.locator('thead').isVisible(), 'on a narrow screen each row has its own labels, without the head')
  await page.goBack()
  await page.setViewportSize({ width: 1000, height: 800 })

  await follow(page, page.locator('main'), 'Comments')
  const empty = await page.locator('.empty').innerText()
  t.match(empty, /There are no comments yet/, 'the comment of the other post is not in the list')
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
  const body = '\nA first line that is blank,\n  and a second.\n'
  t.strictSame(made, { id, author: 'Grace', body, stars: null, tags: ['b', 'a'] })

  await edit(page)
  if (isApart) t.strictSame([pathOf(page), await crumbsOf(page)], [`${path}/edit`, [...above, [`Comment ${id}`, path]]])
  await press(page, 'Save changes')
  t.strictSame([pathOf(page), (await read(path)).comment], [path, made], 'an untouched form changes nothing')

  await edit(page)
  const theirs = await open(`${path}${isApart ? '/' : '#'}edit`)
  await field(theirs, 'author').fill('Theirs')
  await field(theirs, 'stars').fill('3')
  await press(theirs, 'Save changes')
  await field(page, 'author').fill('Mine')
  await field(page, 'body').fill('My words')
  await press(page, 'Save changes')
  t.strictSame(await choices(page), { author: 'yours', stars: 'theirs' })
  t.strictSame(await crumbsOf(page), [...above, [`Comment ${id}`, path]])
  await press(page, 'Save changes')
  t.equal(pathOf(page), path)
  t.strictSame((await read(path)).comment, { ...made, author: 'Mine', body: 'My words', stars: 3 })

  await page.goto(new URL(missing, page.url()).href)
  t.equal(await page.locator('h1').innerText(), 'This comment does not exist')
  const missingId = /\/(\d+)(?:\/edit)?$/.exec(missing)?.[1]
  t.strictSame(await textsOf(page.locator('.empty p').first()), [`There is no comment with the id ${missingId}`])
  t.strictSame(await linksOf(page.locator('.empty')), [['Comments', list]], 'the page leads to the list')
  await page.goto(new URL(path, page.url()).href)
  await page.locator('summary', { hasText: 'Delete this comment' }).click()
  await press(page, 'Yes, delete it')
  t.equal(pathOf(page), list, 'back at the list of that post')
  t.strictSame([(await read(list)).comments, (await read(path)).status], [[], 404])
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
  t.equal(await page.locator('h1').innerText(), 'This cover does not exist')
  t.strictSame(await textsOf(page.locator('.empty p')), ['There is no cover here', 'Post 1'])
  t.strictSame(await crumbsOf(page), [['Posts', `${prefix}/posts`], ['Post 1', `${prefix}/posts/1`]])
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
  return scope.locator('a').evaluateAll((links) =>
    links.map((link) => [String(link.textContent), link.getAttribute('href')]))
}

type Finding = readonly [page: string, ...what: unknown[]]

async function testPages (t: Test, browser: Browser): Promise<void> {
  const taken = await takePages(t)
  const { pages } = taken
  const { url, requests } = await showPages(t, taken)
  const findings: { axe: Finding[], wide: Finding[], complaints: string[] } = { axe: [], wide: [], complaints: [] }
  const queue = pages.map(({ name }, index) =>
    ({ name, address: `${url}/pages/${index}`, look: index % WIDTHS.length }))

  async function work (): Promise<void> {
    const context = await browser.newContext({ reducedMotion: 'reduce' })
    t.teardown(() => context.close())
    const page = await context.newPage()
    watch(page, findings.complaints)
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await page.goto(next.address)
      // Opens each `details` element and shows each form, so that their content is checked too.
      await page.evaluate(`
        for (const details of document.querySelectorAll('details')) details.open = true
        for (const form of document.querySelectorAll('.card')) form.classList.remove('edit', 'new')`)
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
  const requested = /^\/pages\/\d+$|^\/[a-z/]+(?:\/|\.)pages\.[0-9a-f]{16}\.css$/
  t.strictSame(requests.filter((path) => !requested.test(path)), [], 'only pages and stylesheets are requested')
}

/** The folder of the pictures, if they are to be taken. */
const PICTURES = process.env.SCREENSHOTS === undefined
  ? undefined
  : new URL('../../example/screenshots/', import.meta.url)
const PICTURE = { width: 1000, height: 1000 }

async function takePictures (t: Test, browser: Browser, folder: URL): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const take = (page: Page, name: string): Promise<void> => photograph(t, page, folder, name)
  const { url, open } = await openBlog(t, browser, 'memory', 8)
  await fetch(`${url}/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ post: picturedPost })
  })
  const list = await open('/posts?sort=-id')
  await take(list, 'list')
  const record = await open('/posts/9')
  await take(record, 'record')
  await follow(record, record.locator('.tools'), 'Edit')

  const errors = await open('/posts/9/edit')
  await control(errors, 'post[title]').fill('A short guide to forms, revised')
  await control(errors, 'post[tags]').fill('forms\nweb\nforms')
  await control(errors, 'post[links][0][url]').fill('https://example.com/über-uns')
  await press(errors, 'Save changes')
  await take(errors, 'errors')

  await control(record, 'post[title]').fill('A guide to forms')
  await control(record, 'post[rating]').fill('5')
  const other = await open('/posts/9/edit')
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
    const clip = { x: 0, y: 0, ...PICTURE }
    const picture = await page.screenshot({ path: pathname, type: 'jpeg', quality: 70, clip })
    t.ok(picture.length < 80_000, `${name}-${colorScheme}.jpg has ${picture.length} bytes`)
  }
}
