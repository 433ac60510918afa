import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../../lib/database/index.js'
import {
  type Attributes, draw, type Mapper, memoryStore, memoryStores, type ResourceOptions, type Store
} from '../../../../lib/index.js'
import { draft } from '../../../support/helper.js'
import {
  buttonsOf, fill, findButton, findForm, type Form, hidden, parseForms, shown, submit
} from '../../../support/html/forms.js'
import { choicesOf, form, get, html, isSound, schemaOf, seeded } from '../../../support/html/page-tests.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { type Call, recordingStore } from '../../../support/stores/recording-store.js'
import { elementsOf } from '../../../support/html/elements.js'

const attributes = schemaOf({ name: { type: 'string', maxLength: 50 } }, ['name'])
const line = schemaOf({
  orderId: { type: 'integer' },
  productId: { type: 'integer' },
  quantity: { type: 'integer', minimum: 1, default: 1 },
  gift: { type: 'boolean' },
  due: { type: 'string', format: 'date-time' },
  number: { type: 'integer', readOnly: true }
}, ['orderId', 'productId'])
const references = { orderId: 'orders', productId: 'products' }

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Returns a memory store with this many rows. */
function storeOf (rows: number): Store {
  const store = memoryStore()
  for (let row = 1; row <= rows; row++) store.create({ name: `Row ${row}` }, {})
  return store
}

/** Opens a shop with 2 orders, whose lines reference products. */
async function openShop (
  t: Test, lines: Options = {}, { products = storeOf(3), orders = {} }: { products?: Store, orders?: Options } = {}
): Promise<FastifyInstance> {
  return draft(t, (map) => {
    const scope = map.scope({ formPages: true }, (map: Mapper) => {
      map.resources('orders', { attributes, store: storeOf(2), ...(orders as object) })
      map.resources('products', { attributes, store: products })
      map.resources('lines', { attributes: line, references, ...(lines as object) })
    })
    return scope
  })
}

/** Returns the form that adds a row on a page, or `undefined` if there is none. */
function addFormOf (page: LightMyRequestResponse, action = '/lines'): Form | undefined {
  return parseForms(page).find((form) => form.action === action && hidden(form, '_method') === undefined)
}

/** Returns the form that adds a line to an order. */
async function openForm (app: FastifyInstance, url = '/orders/2'): Promise<Form> {
  const page = await get(app, url)
  isSound(t, page, 200)
  return addFormOf(page) as Form
}

/** Returns the link that leaves the form of a page. */
function cancelOf ({ body }: LightMyRequestResponse): string | undefined {
  return /<a class="button plain" href="([^"]*)">Cancel</.exec(body)?.[1]
}

const linesOf = async (app: FastifyInstance): Promise<Attributes[]> => (await app.inject('/lines.json')).json().lines

t.test('the page of a row has a small form for one more row, which leads back', async (t) => {
  const app = await openShop(t)
  const form = await openForm(app)
  t.strictSame(choicesOf(form, 'line[productId]'), ['', '1', '2', '3'])
  t.strictSame(form.controls.filter(({ type, tag }) => type !== 'hidden' && tag !== 'button').map(({ name, value }) =>
    [name, value]), [
    ['line[productId]', ''], ['line[quantity]', '1'], ['line[gift]', ''], ['line[due]', ''],
    ['line[due][?][offset]', 'Z']
  ], 'without the reference, and with defaults')
  const res = await app.inject(submit(fill(form, { 'line[productId]': '3' })))
  t.match(res, { statusCode: 303, headers: { location: '/orders/2#related-lines.orderId' } })
  t.match(res.headers['set-cookie'], '-notice=saved; Max-Age=10; Path=/orders/2;', 'no order was created')
  t.match(await linesOf(app), [{ orderId: 2, productId: 3, quantity: 1 }])
  const { body } = await get(app, '/orders/2')
  t.match(body, '<h2 id="related-lines.orderId">', 'the answer leads to their list')
  t.match(body, 'Row 3', 'the page lists it')
  t.notMatch(body, '/lines/new', 'the form takes the place of the link')
})

t.test('a refused form comes back as that of the row, and leads back once it is saved', async (t) => {
  const app = await openShop(t)
  const refused = await app.inject(submit(fill(await openForm(app), { 'line[quantity]': '0' })))
  isSound(t, refused, 422)
  const again = findForm(refused, 'POST')
  t.strictSame(choicesOf(again, 'line[orderId]'), ['1', '2'])
  const filled = fill(again, { 'line[productId]': '1', 'line[quantity]': '5' })
  t.match((await app.inject(submit(filled))).headers.location, /^\/orders\/2(?:#|$)/)
  t.match(await linesOf(app), [{ orderId: 2, productId: 1, quantity: 5 }])
  const another = await app.inject(submit(filled, findButton(filled, 'commit', 'another')))
  t.match(another.headers.location, '/lines/new?orderId=2', 'the blank form keeps the reference')
  const moved = fill(filled, { 'line[orderId]': '1' })
  t.match((await app.inject(submit(moved))).headers.location, /^\/orders\/1(?:#|$)/, 'it leads to the row it belongs to')
})

t.test('what leaves such a form leads back as well', async (t) => {
  const app = await openShop(t, {}, { products: storeOf(60) })
  const back = '/orders/2#related-lines.orderId'
  const form = fill(await openForm(app), { 'line[quantity]': '0' })
  const refused = await app.inject(submit(form))
  isSound(t, refused, 422)
  t.equal(cancelOf(refused), back)
})

t.test('a reference to one of many rows is chosen on the usual page', async (t) => {
  const app = await openShop(t, {}, { products: storeOf(60) })
  const form = await openForm(app)
  const chooser = await app.inject(submit(form, findButton(form, 'line[productId][?][choose]')))
  isSound(t, chooser, 422)
  const rows = findForm(chooser, 'POST')
  const chosen = await app.inject(submit(rows, findButton(rows, 'line[productId][?][chosen]', '7')))
  const res = await app.inject(submit(findForm(chosen, 'POST')))
  t.match(res, { statusCode: 303, headers: { location: /^\/orders\/2(?:#|$)/ } })
  t.match(await linesOf(app), [{ orderId: 2, productId: 7 }])
})

t.test('the form costs one query for each choice, and nothing where there is no form', async (t) => {
  const rows = recordingStore([{ name: 'A' }])
  const calls = async (options: Options): Promise<Call[]> => {
    const app = await openShop(t, options, { products: rows })
    rows.forget()
    isSound(t, await get(app, '/orders/1'), 200)
    return rows.calls
  }
  t.strictSame(await calls({}), [{ method: 'list', scope: {} }])
  t.strictSame(await calls({ formPages: false }), [])
  t.strictSame(await calls({ except: ['create'] }), [])
})

t.test('rows that are nested get a form, too', async (t) => {
  const app = await draft(t, (map) => {
    map.resources('posts', { attributes, store: storeOf(1) }, (posts) =>
      posts.resources('comments', { attributes, formPages: true }))
  })
  const page = await get(app, '/posts/1')
  isSound(t, page, 200)
  const form = addFormOf(page, '/posts/1/comments') as Form
  const cancelled = await app.inject(submit(fill(form, { 'comment[name]': 'x'.repeat(51) })))
  isSound(t, cancelled, 422)
  const { headers: { location } } = await app.inject(submit(fill(form, { 'comment[name]': 'Hi' })))
  t.equal(location, '/posts/1#related-posts%2F%3ApostId%2Fcomments.postId')
  t.equal(cancelOf(cancelled), location)
  t.match((await get(app, '/posts/1')).body, `<h2 id="${String(location).slice('/posts/1#'.length)}">`)
  t.match((await app.inject('/posts/1/comments.json')).json(), { comments: [{ name: 'Hi' }] })
})

const wide = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, { type: 'string' }]))
const isAllowed = (refused: string) => (_: unknown, { action }: { action: string }): boolean => action !== refused
const without: Readonly<Record<string, Options>> = {
  'without form pages': { formPages: false },
  'with many attributes': {
    attributes: schemaOf({ orderId: { type: 'integer' }, ...wide }), references: { orderId: 'orders' }
  },
  'without a schema': { attributes: undefined, references: { orderId: 'orders' } } as unknown as Options,
  'with a reference that is readOnly': {
    attributes: schemaOf({ orderId: { type: 'integer', readOnly: true }, name: { type: 'string' } }),
    references: { orderId: 'orders' }
  },
  'whose creation is refused': { authorize: isAllowed('create') },
  'whose form has a hook': { actionHooks: { new: { preHandler: async () => {} } } }
}

t.test('other rows have no such form', async (t) => {
  for (const [about, options] of Object.entries(without)) {
    const app = await openShop(t, options)
    t.equal(addFormOf(await get(app, '/orders/1')), undefined, `rows ${about}`)
  }
})

t.test('a form leads back only to a page that the request may see', async (t) => {
  const payload = 'line[productId]=1&line[?][back]='
  const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
  const locationOf = async (
    app: FastifyInstance, back: string, { order = 2, accept = 'text/html' } = {}
  ): Promise<unknown> => (await app.inject({
    method: 'POST',
    url: '/lines',
    headers: { ...headers, accept },
    payload: `${payload}${back}&line[orderId]=${order}`
  })).headers.location
  const own = /^\/lines\/\d+(?:#|$)/
  const app = await openShop(t)
  t.match(await locationOf(app, 'orderId'), /^\/orders\/2(?:#|$)/)
  t.match(await locationOf(app, 'quantity'), own, 'no reference')
  t.match(await locationOf(app, '//example.com'), own, 'no attribute')
  t.match(await locationOf(app, 'orderId', { order: 99 }), own, 'no row')
  t.equal(await locationOf(app, 'orderId', { accept: 'application/json' }), '/lines/5', 'a program gets its own path')
  const hidden = await openShop(t, {}, { orders: { scope: () => ({ name: 'Row 1' }) } })
  t.equal(await locationOf(hidden, 'orderId'), undefined, 'a row outside the scope is refused')
})

const tagging = schemaOf({ orderId: { type: 'integer' }, tagId: { type: 'integer' } }, ['orderId', 'tagId'])

/** Opens a shop whose first order has tag 2, and the third, which does not exist. */
async function openTags (t: Test, taggings: Options = {}, products?: Store): Promise<FastifyInstance> {
  const store = memoryStore()
  store.create({ orderId: 1, tagId: 2 }, {})
  store.create({ orderId: 1, tagId: 9 }, {})
  return openShop(t, {
    path: 'taggings',
    singular: 'tagging',
    attributes: tagging,
    store,
    references: { orderId: 'orders', tagId: 'products' },
    ...taggings
  }, { ...(products !== undefined && { products }) })
}

/** Returns the buttons that remove rows on a page, as `name action`. */
function removalsOf ({ body }: LightMyRequestResponse): string[] {
  return [...body.matchAll(/<th [^>]*>(?:<a [^>]*>)?([^<]*)(?:<\/a>)?<form method="post" action="([^"]*)">/g)].map(
    ([, name, action]) => `${name} ${action}`)
}

t.test('the page of a row shows the rows of a join table by their other reference, and removes them', async (t) => {
  const app = await openTags(t)
  const page = await get(app, '/orders/1')
  isSound(t, page, 200)
  t.strictSame(removalsOf(page), ['Row 2 /taggings', '9 /taggings'])
  t.match(page.body, '<a href="/products/2">Row 2</a><form')
  t.match(page.body, 'aria-label="Remove: Row 2">Remove</button>')
  t.match(page.body, '<button type="submit">Add a tag</button>')
  const [removal] = parseForms(page).filter((form) => hidden(form, 'id') === '1' && form.action === '/taggings')
  t.match(await app.inject(submit(removal as Form)), { statusCode: 303, headers: { location: /^\/orders\/1(?:#|$)/ } })
  const gone = await app.inject(submit(removal as Form))
  isSound(t, gone, 404)
  t.notMatch(gone.body, '<form', 'a second press finds nothing to delete, and shows no form')
  const added = fill(addFormOf(await get(app, '/orders/1'), '/taggings') as Form, { 'tagging[tagId]': '3' })
  t.match((await app.inject(submit(added))).headers.location, /^\/orders\/1(?:#|$)/)
  t.strictSame(removalsOf(await get(app, '/orders/1')), ['9 /taggings', 'Row 3 /taggings'])
})

t.test('the buttons that remove rows are only there if the request may delete them', async (t) => {
  const buttons = async (options: Options): Promise<string[]> =>
    removalsOf(await get(await openTags(t, options), '/orders/1'))
  t.strictSame(await buttons({ authorize: isAllowed('delete') }), [])
  t.strictSame(await buttons({ authorize: isAllowed('update') }), ['Row 2 /taggings', '9 /taggings'])
  t.strictSame(await buttons({ except: ['delete'] }), [])
  t.strictSame(await buttons({ actionHooks: { delete: { preHandler: async () => {} } } }), [])
  t.strictSame(await buttons({ writes: 'member' }), ['Row 2 /taggings/1', '9 /taggings/2'])
})

t.test('a served database shows its join tables so', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const opened = makeDatabase(`
    CREATE TABLE playlist (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE playlist_track (
      playlist_id INTEGER NOT NULL REFERENCES playlist,
      track_id INTEGER NOT NULL REFERENCES track,
      PRIMARY KEY (playlist_id, track_id)
    );
    INSERT INTO playlist VALUES (1, 'Evening'), (2, 'Morning');
    INSERT INTO track VALUES (5, 'Hush'), (6, 'Wake up');
    INSERT INTO playlist_track VALUES (1, 5)`)
  app.register(database, { database: opened, write: true, report: () => {} })
  const page = await get(app, '/playlists/1')
  isSound(t, page, 200)
  t.strictSame(removalsOf(page), ['Hush /playlist-tracks'])
  t.notMatch(page.body, '/playlist-tracks/1', 'the composite id has no link')
  const added = fill(addFormOf(page, '/playlist-tracks') as Form, { 'playlistTrack[track_id]': '6' })
  t.match((await app.inject(submit(added))).headers.location, /^\/playlists\/1(?:#|$)/)
  const [removal] = parseForms(page).filter(({ action, controls }) =>
    action === '/playlist-tracks' && controls.some(({ value }) => value === 'DELETE'))
  t.match((await app.inject(submit(removal as Form))).headers.location, /^\/playlists\/1(?:#|$)/)
  t.strictSame(removalsOf(await get(app, '/playlists/1')), ['Wake up /playlist-tracks'])
  t.strictSame(removalsOf(await get(app, '/tracks/6')), ['Evening /playlist-tracks'], 'also from the other side')
})

t.test('several rows of a join table are added at once: all of them, or none', async (t) => {
  const store = memoryStore({ unique: [['orderId', 'tagId']] }) as Store
  const app = await openTags(t, { store }, storeOf(60))
  const form = addFormOf(await get(app, '/orders/1'), '/taggings') as Form
  const chooser = await app.inject(submit(form, findButton(form, 'tagging[tagId][?][choose]')))
  isSound(t, chooser, 422)
  t.match(chooser.body, 'aria-label="Choose: Row 7"/></label>Row 7</th>')
  const rows = findForm(chooser, 'POST')
  const add = async (...ids: string[]): Promise<LightMyRequestResponse> => app.inject(
    submit(fill(rows, { 'tagging[tagId][]': ids }), findButton(rows, 'tagging[?][each]', 'tagId'))
  )
  t.match(await add('5', '7', '9'), { statusCode: 303, headers: { location: /^\/orders\/1#/ } })
  const tags = ['Row 5 /taggings', 'Row 7 /taggings', 'Row 9 /taggings']
  t.strictSame(removalsOf(await get(app, '/orders/1')), tags)
  const refused = await add('1', '5')
  isSound(t, refused, 409)
  t.match(refused.body, /1 of 2 rows is at fault; nothing was written.*<li>Row 5: Order is already taken together with Tag</s)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  const together = 'is already taken together with Tag'
  for (const [id, body] of [
    ['99', ''], ['99', `<li>99: Order ${together}`], ['x', '<li>Line 1: Tag must be an integer']
  ] as const) {
    const payload = `tagging[orderId]=2&tagging[?][each]=tagId&tagging[tagId][]=${id}`
    t.match(await app.inject({ method: 'POST', url: '/taggings', headers, payload }), { body }, 'a row without a name')
  }
  t.strictSame(removalsOf(await get(app, '/orders/1')), tags)
  const none = await add()
  isSound(t, none, 422)
  t.match(none.body, '<h1>Choose: Tag</h1>', 'without a box, the page comes back')
})

t.test('what is ticked stays so on other pages of the choice, and is added once', async (t) => {
  const app = await openTags(t, { store: memoryStore() as Store }, storeOf(60))
  const form = addFormOf(await get(app, '/orders/1'), '/taggings') as Form
  const first = findForm(await app.inject(submit(form, findButton(form, 'tagging[tagId][?][choose]'))), 'POST')
  const [further] = buttonsOf(first).filter(({ name }) => name.endsWith('[?][open]'))
  const turned = await app.inject(submit(fill(first, { 'tagging[tagId][]': ['3', '4'] }), further))
  t.match(turned.body, '>Add the chosen ones (+2)</button>', 'the button says how many others there are')
  const next = findForm(turned, 'POST')
  const [previous] = buttonsOf(next).filter(({ name }) => name.endsWith('[?][open]'))
  const back = findForm(await app.inject(submit(fill(next, { 'tagging[tagId][]': ['30'] }), previous)), 'POST')
  t.strictSame(shown(back, 'tagging[tagId][]'), ['3', '4'])
  const changed = fill(back, { 'tagging[tagId][]': ['3'] })
  const twice = { ...changed, controls: [...changed.controls, ...changed.controls.filter(({ checked }) => checked)] }
  t.equal((await app.inject(submit(twice, findButton(changed, 'tagging[?][each]')))).statusCode, 303)
  t.strictSame(removalsOf(await get(app, '/orders/1')), ['Row 30 /taggings', 'Row 3 /taggings'])
})

t.test('values make rows only of an attribute that a client may write, and are named in each error', async (t) => {
  const app = await openTags(t)
  const send = async (payload: string, accept: string): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST', url: '/taggings', headers: { 'content-type': 'application/x-www-form-urlencoded', accept }, payload
  })
  for (const name of ['id', 'nothing', '__proto__', 'constructor']) {
    t.equal((await send(`tagging[?][each]=${name}&tagging[${name}][]=1`, 'text/html')).statusCode, 400, name)
  }
  t.match(await send('tagging[?][each]=tagId&tagging[tagId][]=', 'application/json'), {
    statusCode: 422, body: /"tagId"/
  }, 'no value makes one row')
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const payload = `{"lines":[{"orderId":1,"${name}":1},{"orderId":1,"valueOf":2}]}`
    const headers = { 'content-type': 'application/json', accept: 'text/html' }
    const refused = await app.inject({ method: 'POST', url: '/taggings', headers, payload })
    t.equal(refused.statusCode, 422)
    t.match(refused.body, name)
  }
})

t.test('boxes are only there if the store can write several rows, and a row has nothing else', async (t) => {
  const boxes = async (options: Options): Promise<boolean> => {
    const app = await openTags(t, options, storeOf(60))
    const form = addFormOf(await get(app, '/orders/1'), '/taggings') as Form
    const [name] = form.controls.flatMap(({ name }) => /\[\?\]\[choose\]$/.test(name) ? [name] : [])
    return (await app.inject(submit(form, findButton(form, String(name))))).body.includes('type="checkbox"')
  }
  t.equal(await boxes({}), true)
  t.equal(await boxes({ maxRows: 0 }), false)
  t.equal(await boxes({ store: { ...memoryStore(), transaction: undefined } as unknown as Store }), false)
  t.equal(await boxes({ actions: { create: async (context) => context.proceed() } }), false)
  t.equal(await boxes({ attributes: line, references: { orderId: 'orders', productId: 'products' } }), false)
})

t.test('values that make a row each cost no more than such rows', async (t) => {
  const properties = { orderId: { type: 'integer' }, tagId: { type: 'integer' }, note: { type: 'string' } }
  const app = await openTags(t, { attributes: schemaOf(properties) })
  const values = Array.from({ length: 500 }, (_, index) => `tagging[tagId][]=${index}`).join('&')
  const payload = (length: number): string => `tagging[?][each]=tagId&tagging[note]=${'x'.repeat(length)}&${values}`
  const send = async (length: number): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/taggings',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    payload: payload(length)
  })
  t.equal((await send(100_000)).statusCode, 413)
  t.equal((await send(10)).statusCode, 201)
})

t.test('a row of a join table is named by what the request may see', async (t) => {
  const inner = memoryStore()
  inner.create({ orderId: 1, tagId: 2 }, {})
  const store: Store = { ...inner, key: ['orderId', 'tagId'] }
  const nameWith = async (products: Options, orders: Options): Promise<string | undefined> => {
    const app = await draft(t, (map) => {
      map.resources('orders', { attributes, store: storeOf(2), ...(orders as object) })
      map.resources('products', { attributes, store: storeOf(2), ...(products as object) })
      return map.resources('taggings', {
        singular: 'tagging', attributes: tagging, store, references: { orderId: 'orders', tagId: 'products' }
      })
    })
    return /<a href="\/taggings\/1">([^<]*)/.exec((await get(app, '/taggings')).body)?.[1]
  }
  const refused = { authorize: () => false }
  t.equal(await nameWith({}, {}), 'Row 1 \u00b7 Row 2')
  t.equal(await nameWith(refused, {}), 'Row 1 \u00b7 2')
  t.equal(await nameWith(refused, refused), 'Tagging 1')
})

const copied = schemaOf({
  title: { type: 'string', maxLength: 50 },
  code: { type: ['string', 'null'], maxLength: 10 },
  secret: { type: 'string', writeOnly: true },
  total: { type: 'integer', readOnly: true },
  photo: { type: 'string', contentEncoding: 'base64' },
  body: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  login: {
    type: 'object', properties: { name: { type: 'string' }, password: { type: 'string', writeOnly: true } }
  },
  owner: { type: 'string', maxLength: 10 },
  state: { type: 'string', maxLength: 10, default: 'new' }
}, ['title'])

const row = {
  title: 'First',
  code: 'A1',
  secret: 's3cret',
  total: 9,
  photo: 'AAAA',
  body: 'B\nC',
  tags: ['x', 'y'],
  login: { name: 'ann', password: 'pass' },
  owner: 'ann'
}
const long = { title: 'Long', body: 'x'.repeat(100_001), owner: 'bob', state: 'old' }

type CopyOptions = Partial<Omit<ResourceOptions, 'name' | 'store' | 'id'>>

async function open (t: Test, options: CopyOptions = {}): Promise<FastifyInstance> {
  const { app } = await seeded(t, [row, long], { attributes: copied, unique: ['code'], formPages: true, ...options })
  return app
}

/** Returns the link to the form for a copy on a page, or `undefined` if there is none. */
async function linkOn (app: FastifyInstance, url = '/posts/1'): Promise<string | undefined> {
  const page = await get(app, url)
  isSound(t, page, 200)
  return /<a class="button plain" href="([^"]*)">Duplicate</.exec(page.body)?.[1]
}

const fieldsOf = (form: Form): Record<string, unknown> => Object.fromEntries(
  form.controls.filter(({ type, tag }) => type !== 'hidden' && tag !== 'button').map(({ name }) =>
    [name, shown(form, name)]))

t.test('a record has a link to the form for a copy of it', async (t) => {
  const app = await open(t)
  t.equal(await linkOn(app), '/posts/new?_from=1')
  const page = await get(app, '/posts/new?_from=1')
  isSound(t, page, 200)
  t.notMatch(page.body, 's3cret')
  t.notMatch(page.body, '"pass"')
  const form = findForm(page, 'POST')
  t.strictSame(fieldsOf(form), {
    'post[title]': 'First',
    'post[code]': '',
    'post[secret]': '',
    'post[photo]': '',
    'post[body]': 'B\nC',
    'post[tags]': 'x\ny',
    'post[login][name]': '',
    'post[login][password]': '',
    'post[owner]': 'ann',
    'post[state]': 'new'
  }, 'without values that are unique, never shown, read-only or files')
  t.match((await app.inject(submit(form))).headers.location, /^\/posts\/3(?:#|$)/)
  const copy = (await app.inject('/posts/3.json')).json().post
  t.match(copy, { title: 'First', body: 'B\nC', tags: ['x', 'y'], owner: 'ann' })
  t.notOk(Object.hasOwn(copy, 'code'))
})

t.test('a copy leaves out what a form cannot send, and the query comes first', async (t) => {
  const app = await open(t)
  const form = findForm(await get(app, '/posts/new?_from=2&title=Other'), 'POST')
  t.match(fieldsOf(form), { 'post[title]': 'Other', 'post[body]': '', 'post[state]': 'old' })
  t.match((await app.inject('/posts/new.json?_from=1&state=x')).json().post, { title: 'First', state: 'x' })
})

t.test('only who may see a record gets its values', async (t) => {
  const statusOf = async (app: FastifyInstance, id: string): Promise<number> =>
    (await get(app, `/posts/new?_from=${id}`)).statusCode
  const app = await open(t)
  const missing = await get(app, '/posts/new?_from=9')
  isSound(t, missing, 404)
  t.match(missing.body, 'This post does not exist')
  const scoped = await open(t, { scope: () => ({ owner: 'ann' }) })
  t.equal(await statusOf(scoped, '1'), 200)
  t.equal(await statusOf(scoped, '2'), 404)
  t.match(fieldsOf(findForm(await get(scoped, '/posts/new?_from=1'), 'POST')), { 'post[owner]': '' })
  const hidden = await open(t, {
    authorize: async (_, { action, row }) => action !== 'show' || (await row?.())?.attributes.owner === 'ann' || 'hide'
  })
  t.equal(await statusOf(hidden, '1'), 200)
  t.equal(await statusOf(hidden, '2'), 404)
  const refused = await open(t, { authorize: (_, { action }) => action !== 'show' })
  t.equal(await statusOf(refused, '1'), 403)
})

t.test('only who may create a record gets the link', async (t) => {
  const app = async (refused: string): Promise<FastifyInstance> =>
    open(t, { authorize: (_, { action }) => action !== refused })
  t.equal(await linkOn(await app('update')), '/posts/new?_from=1')
  t.equal(await linkOn(await app('create')), undefined)
  t.equal(await linkOn(await app('new')), undefined)
})

const NOT_COPIED: ReadonlyArray<readonly [about: string, options: CopyOptions]> = [
  ['form pages', { formPages: false }],
  ['creates', { except: ['create'] }],
  ['a schema', { attributes: undefined } as unknown as CopyOptions]
]

t.test('other records have no copies', async (t) => {
  for (const [about, options] of NOT_COPIED) {
    const app = await open(t, options)
    t.equal(await linkOn(app), undefined, `without ${about}`)
    if (about === 'form pages' || about === 'creates') continue
    t.equal((await get(app, '/posts/new?_from=1')).statusCode, 400, `without ${about}`)
  }
})

t.test('nested records are copied into the same list', async (t) => {
  const comment = schemaOf({ text: { type: 'string', maxLength: 50 } })
  const store = memoryStore()
  const comments = memoryStore()
  store.create({ text: 'P' }, {})
  comments.create({ text: 'C', postId: 1 }, {})
  for (const shallow of [false, true]) {
    const app = await draft(t, (map) => {
      map.resources('posts', { attributes: comment, store }, (posts) =>
        posts.resources('comments', { attributes: comment, store: comments, formPages: true, shallow }))
    })
    const page = shallow ? '/comments/1' : '/posts/1/comments/1'
    t.equal(await linkOn(app, page), '/posts/1/comments/new?_from=1')
    const form = findForm(await get(app, '/posts/1/comments/new?_from=1'), 'POST')
    t.strictSame(fieldsOf(form), { 'comment[text]': 'C' })
  }
})

const relatedAttributes = schemaOf({ title: { type: 'string', minLength: 1 } }, ['title'])

/** Makes a blog whose posts have 2 notes and 1 link, which go with them, and comments, which stay. */
async function openBlog (t: Test, comments: number): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('posts', { attributes: relatedAttributes }, (posts) => {
      posts.resources('comments', { attributes: relatedAttributes })
      posts.resources('notes', { attributes: relatedAttributes, onDelete: 'cascade' })
      posts.resources('links', { attributes: relatedAttributes, onDelete: 'cascade' })
      posts.resources('marks', { attributes: relatedAttributes, onDelete: 'set null' })
    })
  }, { stores: memoryStores() }))
  const add = async (url: string, name: string): Promise<unknown> =>
    app.inject({ method: 'POST', url: `${url}.json`, payload: { [name]: { title: 'T' } } })
  await add('/posts', 'post')
  for (const [list, name, rows] of [
    ['comments', 'comment', comments], ['notes', 'note', 2], ['links', 'link', 1], ['marks', 'mark', 1]
  ] as const) {
    for (let row = 0; row < rows; row++) await add(`/posts/1/${list}`, name)
  }
  return app
}

t.test('a map with stores knows what a deletion deletes, and what refuses it', async (t) => {
  const app = await openBlog(t, 2)
  const page = await app.inject({ url: '/posts/1', headers: html })
  isSound(t, page, 200)
  t.match(page.body, '<p>T will be deleted permanently.</p>\n<p>2 notes, 1 link will be deleted too.</p>\n<form')
  const remove = { method: 'POST', url: '/posts', payload: '_method=DELETE&id=1' } as const
  const refused = await app.inject({ ...remove, headers: { ...html, 'content-type': form } })
  isSound(t, refused, 409)
  const [main = ''] = /<main[^]*<\/main>/.exec(refused.body) ?? []
  t.strictSame(elementsOf(main).flatMap(({ name, text, attributes: { href } }) =>
    name === 'h1' || name === 'a' ? [[text, href]] : []), [
    ['T cannot be deleted: 2 comments refer to this record', undefined], ['2 comments', '/posts/1/comments'],
    ['T', '/posts/1']
  ])
  const children = ['notes', 'links', 'marks', 'pins']
  const many = fastify()
  t.teardown(() => many.close())
  many.register(draw((map) => map.resources('posts', { attributes: relatedAttributes }, (posts) => {
    for (const name of children) posts.resources(name, { attributes: relatedAttributes })
  }), { stores: memoryStores() }))
  for (const [url, name] of [['/posts', 'post'], ...children.map((name) => [`/posts/1/${name}`, name.slice(0, -1)])]) {
    await many.inject({ method: 'POST', url: `${url}.json`, payload: { [name as string]: { title: 'T' } } })
  }
  const kept = await many.inject({ ...remove, headers: { ...html, 'content-type': form } })
  t.match(kept.body, '<h1>T cannot be deleted: other records refer to it</h1>')
  t.equal(kept.body.match(/<a href="\/posts\/1\/[a-z]+">1 /g)?.length, 4)
})
