import fastify, { type FastifyInstance, type FastifyRequest, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type AuthorizeContext, draw, InvalidError, memoryStore, memoryStores, type ResourceOptions, type Store
} from '../../../../lib/index.js'
import { build, draft } from '../../../support/helper.js'
import {
  entriesOf, fill, findButton, findForm, type Form, hidden, parseForms, shown, submit
} from '../../../support/html/forms.js'
import { get, isSound, post, schemaOf, tagged } from '../../../support/html/page-tests.js'
import { makeMessages } from '../../../../lib/html/languages/make-messages.js'
import { findWords, KNOWN_LANGUAGES, loadLanguages } from '../../../../lib/html/languages/language.js'
import { sayNotice } from '../../../../lib/html/notices.js'
import { elementsOf } from '../../../support/html/elements.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    published: { type: 'boolean', default: false },
    note: { type: 'string', minLength: 2 },
    code: { type: 'string', readOnly: true }
  }
} as const

interface Posts {
  readonly app: FastifyInstance
  readonly store: ReturnType<typeof memoryStore>
}

const context = { signal: new AbortController().signal }

async function openPosts (
  t: Test,
  options: Partial<ResourceOptions> = {},
  titles = ['Tea', 'Coffee', 'Milk']
): Promise<Posts> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of titles) await store.create({ title, rating: 3, published: false, note: 'none' }, {}, context)
  return { app: await build(t, { attributes, store, ...options, name: 'posts' } as ResourceOptions), store }
}

/** Returns the form of the rows that a list offers to choose, if it has one. */
function selectionOf (page: LightMyRequestResponse): Form | undefined {
  return parseForms(page).find(({ id }) => id === 'chosen')
}

/** Ticks the boxes of rows in the list, and presses a button. */
async function choose (
  app: FastifyInstance,
  ids: readonly number[],
  step: 'delete' | 'change'
): Promise<LightMyRequestResponse> {
  const form = selectionOf(await get(app, '/posts')) as Form
  fill(form, { 'id[]': ids.map(String) })
  return send(app, form, findButton(form, '_step', step))
}

async function send (
  app: FastifyInstance,
  form: Form,
  button?: Form['controls'][number]
): Promise<LightMyRequestResponse> {
  return app.inject(submit(form, button, { accept: 'text/html' }))
}

async function step (app: FastifyInstance, fields: string): Promise<LightMyRequestResponse> {
  return post(app, `_step=delete&${fields}`)
}

async function stored (app: FastifyInstance): Promise<string[]> {
  const { body } = await app.inject({ url: '/posts', headers: { accept: 'application/json' } })
  return JSON.parse(body).posts.map(({ title, rating, published, note = '-' }: Record<string, unknown>) =>
    [title, rating, published, note].join(' '))
}

const rowsOf = ({ body }: LightMyRequestResponse): string[] =>
  [.../<ul class="chosen">\n([^]*?)<\/ul>/.exec(body)?.[1]?.matchAll(/<li>(.*)<\/li>/g) ?? []].map(([, row = '']) =>
    row.replaceAll(/<p class="error">(.*?)<\/p>/g, ' ($1)').replaceAll(/<.*?>/g, ''))
const titleOf = ({ body }: LightMyRequestResponse): string | undefined => /<h1>(.*)<\/h1>/.exec(body)?.[1]
const UNCHANGED = ['Tea 3 false none', 'Coffee 3 false none', 'Milk 3 false none']

t.test('rows that are chosen in a list are deleted after a page that names them', async (t) => {
  const { app } = await openPosts(t)
  const list = await get(app, '/posts')
  isSound(t, list, 200)
  const boxes = selectionOf(list)?.controls.filter(({ type }) => type === 'checkbox')
  t.strictSame(boxes?.map(({ value, attributes }) => [value, attributes['aria-label']]),
    [['1', 'Choose: Tea'], ['2', 'Choose: Coffee'], ['3', 'Choose: Milk']])
  const page = await choose(app, [1, 3], 'delete')
  isSound(t, page, 422)
  t.strictSame([titleOf(page), rowsOf(page)], ['Delete 2 posts', ['Tea', 'Milk']])
  t.match(page.body, '<p>They will be deleted permanently.</p>')
  t.match(page.body, '<a class="button plain" href="/posts">Cancel</a>')
  t.strictSame(await stored(app), UNCHANGED, 'nothing is deleted yet')
  const form = findForm(page, 'DELETE')
  t.strictSame(entriesOf(form), [
    ['_method', 'DELETE'], ['id[]', '1'], ['id[]', '3'], ['_version[]', '1'], ['_version[]', '1']
  ])
  const done = await send(app, form)
  t.strictSame([done.statusCode, done.headers.location], [303, '/posts'])
  t.strictSame(await stored(app), ['Coffee 3 false none'])
})

t.test('rows are changed by a page that leaves each attribute as it is at first', async (t) => {
  const { app } = await openPosts(t)
  const page = await choose(app, [1, 2], 'change')
  isSound(t, page, 422)
  t.strictSame([titleOf(page), rowsOf(page)], ['Change 2 posts', ['Tea', 'Coffee']])
  const same = await send(app, findForm(page, 'PUT'))
  t.strictSame([same.statusCode, same.headers.location], [303, '/posts'])
  t.match(same.headers['set-cookie'], 'saved.0;', 'the next page says that nothing was changed')
  t.strictSame(await stored(app), UNCHANGED)
  const form = fill(findForm(page, 'PUT'), {
    'post[rating]': '5',
    'post[rating][?][keep]': 'yours',
    'post[published]': true,
    'post[published][?][keep]': 'yours',
    'post[note]': 'This is left out'
  })
  t.equal((await send(app, form)).statusCode, 303)
  t.strictSame(await stored(app), ['Tea 5 true none', 'Coffee 5 true none', 'Milk 3 false none'])
  const blank = fill(findForm(await choose(app, [1, 3], 'change'), 'PUT'), {
    'post[rating][?][keep]': 'yours', 'post[note][?][keep]': 'yours'
  })
  t.equal((await send(app, blank)).statusCode, 303)
  t.strictSame(await stored(app), ['Tea  true -', 'Coffee 5 true none', 'Milk  false -'], 'blank fields empty them')
})

t.test('changes that are refused come back, with the faults at their fields or beside their rows', async (t) => {
  const { app } = await openPosts(t)
  const page = await choose(app, [1, 2], 'change')
  const wrong = { 'post[rating]': '9', 'post[rating][?][keep]': 'yours', 'post[title]': 'Milk' }
  const refused = await send(app, fill(findForm(page, 'PUT'), wrong))
  isSound(t, refused, 422)
  t.strictSame(rowsOf(refused), ['Tea', 'Coffee'])
  t.match(refused.body, /<li>2 of 2 rows are at fault; nothing was written<\/li>\n<li><a href="#post:rating">Rating must be/)
  const dated = await openPosts(t, {
    attributes: schemaOf({ at: { type: 'string', format: 'date-time' }, title: { type: 'string', maxLength: 9 } })
  })
  const was = 'post[at][?][was]=2026-01-31T12:00:00Z'
  const long = await post(dated.app,
    `_method=PUT&id[]=1&post[at]=2026-01-31T13:00&post[at][?][offset]=Z&${was}&post[at][?][keep]=yours&` +
      'post[title]=1234567890&post[title][?][keep]=yours')
  t.equal(hidden(findForm(long, 'PUT'), 'post[at][?][was]'), '2026-01-31T12:00:00Z')
  const again = fill(findForm(refused, 'PUT'), { 'post[rating]': '4', 'post[title][?][keep]': 'yours' })
  t.equal(again.controls.find(({ name, checked }) => name === 'post[rating][?][keep]' && checked)?.value, 'yours')
  const taken = await send(app, again)
  isSound(t, taken, 409)
  t.match(taken.body, /Title is already taken/)
  t.strictSame(await stored(app), UNCHANGED)
})

t.test('a row that has changed meanwhile is told, and then deleted all the same', async (t) => {
  const { app, store } = await openPosts(t)
  const page = await choose(app, [1, 2, 3], 'delete')
  await store.update(2, { rating: 1 }, { version: undefined, scope: {} }, context)
  const stale = await send(app, findForm(page, 'DELETE'))
  isSound(t, stale, 412)
  t.strictSame(rowsOf(stale), ['Tea', 'Coffee (This post has been changed meanwhile)', 'Milk'])
  t.equal((await stored(app)).length, 3)
  t.equal((await send(app, findForm(stale, 'DELETE'))).statusCode, 303)
  t.strictSame(await stored(app), [])
})

t.test('rows that do not exist any more are told and left out', async (t) => {
  const { app, store } = await openPosts(t)
  const page = await choose(app, [1, 2], 'delete')
  await store.delete(2, { version: undefined, scope: {} }, context)
  const gone = await send(app, findForm(page, 'DELETE'))
  isSound(t, gone, 404)
  t.strictSame([titleOf(gone), rowsOf(gone)], ['Delete 1 post', ['Tea']])
  t.match(gone.body, '<p class="lead">Not there any more: 1</p>')
  t.equal((await send(app, findForm(gone, 'DELETE'))).statusCode, 303)
  t.strictSame(await stored(app), ['Milk 3 false none'])
  const change = await post(app, '_step=change&id[]=3&id[]=1')
  t.strictSame([titleOf(change), rowsOf(change), shown(findForm(change, 'PUT'), 'post[rating]')],
    ['Change 1 post', ['Milk'], ''])
  const none = await step(app, 'id[]=1&id[]=nonsense')
  isSound(t, none, 422)
  t.equal(titleOf(none), 'Not there any more: 2')
  t.strictSame(parseForms(none), [])
  const { capabilities: _, ...plain } = store
  const bounded = await draft(t, (map) => map.resources('posts',
    { attributes, store: plain as Store, constraints: { id: { minimum: 2 } } }))
  await store.create({ title: 'Rum' }, {}, context)
  const found = await step(bounded, 'id[]=1&id[]=2&id[]=3&id[]=4')
  t.strictSame([rowsOf(found), /Not there any more: \d/.exec(found.body)?.[0]], [['Milk', 'Rum'], 'Not there any more: 2'])
})

t.test('the page names 20 rows, and carries more than a form may have fields', async (t) => {
  const titles = Array.from({ length: 700 }, (_, index) => `T${index + 1}`)
  const { app } = await openPosts(t, {}, titles)
  const page = await step(app, titles.map((_, index) => `id[]=${index + 1}`).join('&'))
  t.strictSame(rowsOf(page), [...titles.slice(0, 20), 'and 680 more'])
  const form = findForm(page, 'DELETE')
  t.equal(entriesOf(form).length, 1401)
  t.equal((await send(app, form)).statusCode, 303)
  t.strictSame(await stored(app), [])
})

t.test('rows that authorize or the scope hides are told as missing, and their names are not shown', async (t) => {
  const { app } = await openPosts(t, {
    authorize: async (_request, { action, row }) =>
      action !== 'show' || (await row?.())?.attributes.title !== 'Tea' || 'hide',
    scope: ({ headers }) => headers['x-all'] === undefined ? { rating: 3 } : {}
  })
  await app.inject({ method: 'PUT', url: '/posts', headers: { 'x-all': '1' }, payload: { id: 2, post: { rating: 1 } } })
  const page = await step(app, 'id[]=1&id[]=2&id[]=3')
  t.strictSame([titleOf(page), rowsOf(page)], ['Delete 1 post', ['Milk']])
  t.match(page.body, 'Not there any more: 2')
  t.notMatch(page.body, /Tea|Coffee/)
})

t.test('a row that the request may not delete is named with the reason, as a link if it has a page', async (t) => {
  const authorize: ResourceOptions['authorize'] = async (_request, { action, row }) =>
    action !== 'delete' || (await row?.())?.attributes.title !== 'Tea'
  const cases = [[[], '<a href="/posts/1" dir="auto">Tea</a>'], [['show'], '<span dir="auto">Tea</span>']] as const
  for (const [except, tag] of cases) {
    const { app } = await openPosts(t, { authorize, except })
    t.match((await step(app, 'id[]=1')).body, `<li>${tag}</li>`)
    const refused = await post(app, '_method=DELETE&id[]=1&id[]=2')
    t.match(refused.body, `<li>${tag}<p class="error">You are not allowed to delete`)
  }
})

t.test('rows are chosen without the link to a list, or their versions, if there are none', async (t) => {
  const apart = await draft(t, (map) => map.resources('shops', { attributes }, (shop) => {
    shop.resources('posts', { attributes, shallow: true })
  }))
  await post(apart, 'shop[title]=A', '/shops')
  await post(apart, 'post[title]=Tea', '/shops/1/posts')
  const stale = await post(apart, '_method=DELETE&id[]=1&_version[]=0', '/posts')
  isSound(t, stale, 412)
  t.strictSame(rowsOf(stale), ['Tea (This post has been changed meanwhile)'])
  t.notMatch(stale.body, 'Cancel')
  const inner = memoryStore()
  await inner.create({ title: 'Tea' }, {}, context)
  const store: Store = {
    ...inner,
    * list (query) {
      for (const rows of inner.list(query)) yield rows.map((row) => ({ ...row, version: '' }))
    }
  }
  const { app } = await openPosts(t, { store })
  t.strictSame(entriesOf(findForm(await step(app, 'id[]=1'), 'DELETE')), [['_method', 'DELETE'], ['id[]', '1']])
  const texts: Store = {
    ...inner, id: 'string', list: () => [['a\rb', 'c'].map((id) => ({ id, version: '1', attributes: { title: 'T' } }))]
  }
  const odd = await openPosts(t, { store: texts })
  t.strictSame(selectionOf(await get(odd.app, '/posts'))?.controls.flatMap(({ name, value }) =>
    name === 'id[]' ? [value] : []), ['c'], 'no form can send a carriage return')
})

t.test('rows that refer to those that are to be deleted are linked, unless the link is too long', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('authors', { attributes: schemaOf({ name: { type: 'string' } }), id: 'uuid' })
    map.resources('books', {
      attributes: schemaOf({ authorId: { type: 'string', format: 'uuid' } }), references: { authorId: 'authors' }
    })
  }, { stores: memoryStores() }))
  const ids: string[] = []
  for (let number = 0; number < 110; number++) {
    const created = await app.inject({ method: 'POST', url: '/authors', payload: { author: { name: 'A' } } })
    ids.push(created.json().author.id)
    await app.inject({ method: 'POST', url: '/books', payload: { book: { authorId: ids.at(-1) } } })
  }
  for (const [count, link] of [[2, `<a href="/books?authorId%5Bin%5D=${ids[0]}%2C${ids[1]}">2 books</a>`],
    [110, '110 books']] as const) {
    const fields = ids.slice(0, count).map((id) => `id[]=${id}`).join('&')
    const refused = await post(app, `_method=DELETE&${fields}`, '/authors')
    isSound(t, refused, 409)
    t.match(refused.body, `<li>${link}</li>`)
  }
})

t.test('a list offers only what a request may do with several rows', async (t) => {
  const { transaction, ...plain } = memoryStore()
  await plain.create({ title: 'Tea' }, {}, context)
  const cases: ReadonlyArray<readonly [what: string, options: Partial<ResourceOptions>, steps: string | undefined]> = [
    ['all', {}, 'change,delete'],
    ['nothing if writes name the row in their path', { writes: 'member' }, undefined],
    ['not what the app handles itself', { actions: { delete: () => undefined } }, 'change'],
    ['not what is not served', { except: ['update'] }, 'delete'],
    ['not what authorize refuses', { authorize: (_request, { action }) => action !== 'update' }, 'delete'],
    ['not what authorize refuses for several', { authorize: (_request, { rows }) => rows === undefined }, undefined],
    ['no changes without a schema', { attributes: undefined }, 'delete']
  ]
  for (const [what, options, steps] of cases) {
    const { app } = await openPosts(t, options)
    const form = selectionOf(await get(app, '/posts'))
    t.equal(form?.controls.filter(({ name }) => name === '_step').map(({ value }) => value).join(), steps, what)
    t.equal(form?.controls.some(({ name }) => name === 'id[]'), steps === undefined ? undefined : true)
  }
})

t.test('a field that asks for the next step never writes', async (t) => {
  const cases: ReadonlyArray<readonly [body: string, status: number, headers?: Record<string, string>]> = [
    ['_step=delete&_method=DELETE&id[]=1', 400],
    ['_step=delete&id=1', 422],
    ['_step=remove&id[]=1', 400],
    ['_step=delete&_step=change&id[]=1', 400],
    ['_step=change&id[]=1&post[title]=X', 422],
    ['_step=delete&id[]=1', 400, { accept: 'application/json' }],
    ['_method=PUT&id[]=1&post[title][?][add]=1', 422]
  ]
  for (const [body, status, headers] of cases) {
    const { app } = await openPosts(t)
    t.equal((await post(app, body, '/posts', headers)).statusCode, status, body)
    t.strictSame(await stored(app), UNCHANGED, body)
  }
  const { app } = await openPosts(t, { writes: 'both' })
  t.match(await post(app, '_step=delete', '/posts/1'), { statusCode: 400, body: 'is about many rows' })
})

t.test('all rows of a list can be chosen, and the list comes back as it was', async (t) => {
  const titles = Array.from({ length: 30 }, (_, index) => `T${index + 1}`)
  const { app, store } = await openPosts(t, {}, titles)
  for (let id = 1; id <= 25; id++) await store.update(id, { rating: 1 }, { version: undefined, scope: {} }, context)
  const query = 'rating=1&sort=-title&limit=5'
  const form = fill(selectionOf(await get(app, `/posts?${query}`)) as Form, { 'id[]': ['9'] })
  const page = await send(app, form, findButton(form, '_step', 'delete'))
  isSound(t, page, 422)
  t.strictSame([titleOf(page), rowsOf(page)], ['Delete 1 post', ['T9']])
  t.match(page.body, `<a class="button plain" href="/posts?${query.replaceAll('&', '&amp;')}">Cancel</a>`)
  const chooseAll = parseForms(page).find(({ controls }) => controls.some(({ name }) => name === '_step')) as Form
  t.match(page.body, '<button type="submit">Choose all 25 posts of the list</button>')
  const all = await send(app, chooseAll)
  isSound(t, all, 422)
  t.strictSame([titleOf(all), rowsOf(all).length], ['Delete 25 posts', 21])
  t.notMatch(all.body, 'Choose all')
  await store.create({ title: 'later', rating: 1 }, {}, context)
  const done = await send(app, findForm(all, 'DELETE'))
  t.strictSame([done.statusCode, done.headers.location], [303, `/posts?${query}`])
  t.strictSame((await stored(app)).map((row) => row.split(' ')[0]), ['T26', 'T27', 'T28', 'T29', 'T30', 'later'])
})

t.test('all rows of a list are offered only where they can be chosen', async (t) => {
  const titles = Array.from({ length: 8 }, (_, index) => `T${index + 1}`)
  const seeded = memoryStore({ unique: ['title'] })
  for (const title of titles) await seeded.create({ title }, {}, context)
  const { count: _, ...uncounted } = seeded
  const { capabilities: { count: _count, ...capabilities } } = uncounted
  const cases: ReadonlyArray<readonly [what: string, options: Partial<ResourceOptions>, offered: boolean]> = [
    ['eight rows', {}, true],
    ['more rows than a request may have', { maxRows: 7 }, false],
    ['a list of the app', { actions: { list: ({ proceed }) => proceed() } }, false],
    ['a store that does not count', { store: { ...uncounted, capabilities } as Store }, false]
  ]
  for (const [what, options, offered] of cases) {
    const { app } = await openPosts(t, options, titles)
    const page = await post(app, '_step=delete&id[]=1&_list=')
    t.equal(page.body.includes('Choose all'), offered, what)
  }
  const { app } = await openPosts(t, { maxRows: 7 }, titles)
  const many = await post(app, '_step=delete-all&_list=')
  t.equal(many.statusCode, 413)
  t.match(many.body, '<h1>The list has more than 7 rows; filter it first</h1>')
  t.equal((await post(app, '_step=delete-all&_list=rating%3Dmany')).statusCode, 400)
  // Without a condition that the list does not know, all rows would be chosen.
  t.equal((await post(app, '_step=delete-all&_list=raiting%3D1')).statusCode, 400)
  t.equal((await post(app, '_step=delete-all&_list=q%3Dnothing')).statusCode, 422)
  const handled = await openPosts(t, { actions: { list: () => [] } }, titles)
  t.equal((await post(handled.app, '_step=delete-all&_list=')).statusCode, 403)
  const hidden = await openPosts(t, { scope: () => ({ rating: 1 }) }, titles)
  t.equal(titleOf(await post(hidden.app, '_step=delete-all')), 'No posts are chosen')
  const refused = await openPosts(t, { authorize: (_request, { action }) => action !== 'list' }, titles)
  t.equal((await post(refused.app, '_step=delete-all&_list=')).statusCode, 403)
})

t.test('rows that are too large together are not chosen', async (t) => {
  const { app, store } = await openPosts(t)
  for (const id of [1, 2, 3]) {
    await store.update(id, { note: 'x'.repeat(12_000_000) }, { version: undefined, scope: {} }, context)
  }
  const cases = [
    ['_step=delete-all', 'filter the list first'], ['_step=delete&id[]=1&id[]=2&id[]=3', 'choose fewer']
  ] as const
  for (const [fields, cure] of cases) {
    const page = await post(app, fields)
    t.equal(page.statusCode, 413, fields)
    t.match(page.body, `<h1>The rows are too large together; ${cure}</h1>`)
  }
  t.equal((await post(app, '_step=delete&id[]=1&id[]=2')).statusCode, 422)
})

t.test('a client that may only write does not read the names of rows', async (t) => {
  const { app } = await openPosts(t, { only: ['create', 'update', 'delete'] })
  for (const fields of ['_step=delete-all', '_step=delete&id[]=1', '_method=DELETE&id[]=1&id[]=9']) {
    const page = await post(app, fields)
    t.equal(page.statusCode, fields.startsWith('_step') ? 403 : 404, fields)
    t.notMatch(page.body, 'Tea', fields)
  }
})

t.test('actions of the app are performed on the rows that are chosen', async (t) => {
  const done: unknown[] = []
  const drafts = new Set<unknown>([2])
  const store = memoryStore({ unique: ['title'] })
  for (const title of ['Tea', 'Coffee', 'Milk']) await store.create({ title, rating: 3, published: false }, {}, context)
  const authorize = ({ headers }: FastifyRequest, { action }: AuthorizeContext): boolean =>
    action !== 'hide' || headers.editor === 'yes'
  const app = await draft(t, (map) => map.resources('posts', { attributes, store, authorize }, (posts) => {
    posts.member.post('publish', { many: true }, async ({ id, transaction, store, guard }) => {
      if (drafts.has(id)) throw new InvalidError({ title: ['is a draft'] })
      done.push(id)
      return transaction((context) => store.update(id, { published: true }, guard, context))
    })
    posts.member.delete('hide', { many: true, label: 'Hide…' }, ({ id }) => { done.push(`hide ${String(id)}`) })
    posts.member.post('print', () => undefined)
    posts.member.post('count', { many: true, attributes: { type: 'object', properties: {} } }, () => undefined)
  }))
  const press = async (ids: readonly string[], path: string, headers = {}): Promise<LightMyRequestResponse> => {
    const page = await app.inject({ url: '/posts', headers: { accept: 'text/html', ...headers } })
    const form = fill(selectionOf(page) as Form, { 'id[]': ids })
    const button = form.controls.find(({ attributes }) => attributes.formaction === path)
    return app.inject(submit({ ...form, action: path }, button, { accept: 'text/html', ...headers }))
  }
  const buttons = (page: LightMyRequestResponse): unknown => selectionOf(page)?.controls
    .filter(({ type }) => type === 'submit').map(({ name, value, attributes }) => [name, value, attributes.formaction])
  const list = await get(app, '/posts')
  isSound(t, list, 200)
  const publish = ['commit', 'Publish', '/posts/publish']
  const steps = [['_step', 'change', undefined], publish, ['_step', 'delete', undefined]]
  t.strictSame(buttons(list), steps)
  const editor = { editor: 'yes' }
  t.strictSame(buttons(await app.inject({ url: '/posts', headers: { accept: 'text/html', ...editor } })),
    [...steps.slice(0, 2), ['_method', 'DELETE', '/posts/hide'], ...steps.slice(2)])
  const published = await press(['1', '3'], '/posts/publish')
  t.strictSame([published.statusCode, published.headers.location, done], [303, '/posts', [1, 3]])
  const refused = await press(['1', '2'], '/posts/publish')
  isSound(t, refused, 422)
  t.strictSame([titleOf(refused), rowsOf(refused)], ['Publish', ['Tea', 'Coffee (Title is a draft)']])
  const [again] = parseForms(refused)
  drafts.clear()
  t.strictSame([again?.action, entriesOf(again as Form)], ['/posts/publish',
    [['id[]', '1'], ['id[]', '2'], ['_version[]', '2'], ['_version[]', '1']]])
  t.equal((await app.inject(submit(again as Form, undefined, { accept: 'text/html' }))).statusCode, 303)
  t.strictSame(done, [1, 3, 1, 1, 2], 'the first row ran in the refused request, too')
  t.equal((await press(['3'], '/posts/hide', editor)).headers.location, '/posts')
  t.equal(done.at(-1), 'hide 3')
  t.equal((await press([], '/posts/publish')).statusCode, 422)
})

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

t.test('only pages set and read the cookie', async (t) => {
  const app = await serve(t)
  const json = { accept: 'application/json' }
  const created = await post(app, 'post[title]=a&commit=another', '/posts', json)
  t.strictSame([created.statusCode, created.headers['set-cookie']], [201, undefined])
  for (const url of ['/posts', '/posts/1']) {
    const { headers, body } = await open(app, url, 'created', json)
    t.strictSame([headers['set-cookie'], headers['cache-control']], [undefined, 'private, no-cache'])
    t.equal(body, (await app.inject({ url, headers: json })).body)
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
  t.strictSame(noticesOf((await open(app, '/posts/1', 'saved.0')).body), ['Nothing was changed.'])
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
