import fc from 'fast-check'
import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { json } from '../../../lib/core/formats/json/json.js'
import resources, {
  type Attributes, type Authorize, type DeclaredOptions, draw, memoryStore, memoryStores, type ResourceOptions,
  type Stores
} from '../../../lib/index.js'
import { sqliteStore, type SqliteStore } from '../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../support/helper.js'
import { openEngines } from '../../support/stores/sql-engines.js'

const properties = {
  name: { type: 'string' },
  pin: { type: ['string', 'null'], writeOnly: true },
  settings: {
    type: ['object', 'null'], properties: { theme: { type: 'string' }, key: { type: 'string', writeOnly: true } }
  }
} as const

const card = { type: 'object', properties } as const

/** The store keeps an attribute that the resource does not have. */
const kept = { type: 'object', properties: { ...properties, owner: { type: ['string', 'null'] } } } as const

const table = { table: 'cards', attributes: kept, version: 'values', migrate: true } as const
const HIDDEN = ["pin = '4711'", "owner = 'bob'", 'settings = \'{"theme":"dark","key":"k2"}\'',
  'pin = NULL, owner = NULL']
interface Served {
  readonly app: FastifyInstance,
  readonly ask: (options: InjectOptions) => Promise<LightMyRequestResponse>
}

async function serveCards (store: object, options: object = {}): Promise<Served> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'cards', attributes: card, store, ...options } as DeclaredOptions & { name: string })
  await app.ready()
  return {
    app,
    ask: async (options) =>
      app.inject({ url: '/cards', ...options, headers: { accept: 'application/json', ...options.headers } })
  }
}

const versionIn = (page: string): string => /name="_version" value="([^"]*)"/.exec(page)?.[1] ?? ''

t.test('no version that leaves the server depends on hidden values', async (t) => {
  for (const engine of await openEngines()) {
    const { app, ask } = await serveCards(engine.store(table), { formPages: true })
    await ask({
      method: 'POST', payload: { card: { name: 'Ann', pin: '1234', settings: { theme: 'dark', key: 'k' } } }
    })
    const [{ headers }, page, stale] = [await ask({ url: '/cards/1' }), await app.inject('/cards/1/edit.html'),
      await ask({ method: 'PUT', headers: { 'if-match': '"0"' }, payload: { id: 1, card: {} } })]
    t.match([headers.etag, versionIn(page.body), stale.statusCode, stale.headers.etag],
      [/^"[\da-f]{40}\.json/, /^[\da-f]{40}$/, 412, headers.etag])
    for (const change of HIDDEN) {
      await engine.run(`UPDATE cards SET ${change} WHERE id = 1`)
      t.equal((await ask({ url: '/cards/1' })).headers.etag, headers.etag, `${engine.name} ${change}`)
      t.equal(versionIn((await app.inject('/cards/1/edit.html')).body), versionIn(page.body), 'the form')
    }
    await engine.run("UPDATE cards SET name = 'Bob' WHERE id = 1")
    const changed = await ask({ url: '/cards/1' })
    t.not(changed.headers.etag, headers.etag, 'a visible change is another version')
    const put = async (etag: unknown): Promise<LightMyRequestResponse> =>
      ask({ method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { pin: '9' } } })
    t.equal((await put(headers.etag)).statusCode, 412)
    t.match([(await put(changed.headers.etag)).statusCode, (await put(changed.headers.etag)).statusCode], [200, 200],
      'a hidden change keeps the version')
    t.equal((await ask({
      method: 'DELETE', headers: { 'if-match': String(changed.headers.etag) }, url: '/cards?id=1'
    })).statusCode, 204)
  }
})

t.test('where nothing is hidden, the version is that of the store', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({
    database,
    table: 'cards',
    version: 'values',
    migrate: true,
    attributes: { type: 'object', properties: { name: { type: 'string' } } }
  })
  const { ask } = await serveCards(store, { attributes: undefined })
  const { headers } = await ask({ method: 'POST', payload: { card: { name: 'Ann' } } })
  t.equal(String(headers.etag).slice(1, 41), (await store.get(1, {}))?.version)
  t.equal(store.versions, 'values')
})

t.test('a write is refused if a hidden value changes after authorize has read the row', async (t) => {
  const database = new Database(':memory:')
  const store: SqliteStore = sqliteStore({ ...table, database })
  let asked = 0
  const { ask } = await serveCards(store, {
    authorize: async (_request: unknown, {
      action, row
    }: { action: string, row?: () => { attributes: { owner?: unknown } } }) => {
      if (action !== 'update') return true
      const { attributes: { owner } } = await row?.() ?? { attributes: {} }
      if (asked++ === 0) database.exec("UPDATE cards SET owner = 'bob'")
      return owner !== 'bob'
    }
  })
  await store.create({ name: 'Ann', owner: 'ann' }, {})
  const { headers: { etag } } = await ask({ url: '/cards/1' })
  const answer = await ask({
    method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { name: 'Eve' } }
  })
  t.match([answer.statusCode, asked, await store.get(1, {})], [403, 2, { attributes: { name: 'Ann', owner: 'bob' } }])
})

t.test('handlers, views and formats of the app get the version that clients know', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({ ...table, database })
  const seen = new Set<string>()
  const note = (row: { version: string }): string => { seen.add(row.version); return '' }
  const text = {
    name: 'text',
    mediaTypes: ['text/plain'],
    compileWriter: () => ({ record: note, problem: () => '', list: { open: '', row: note, separator: '', close: '' } })
  }
  const own = {
    ...json(),
    hidesWriteOnly: false,
    name: 'own',
    mediaTypes: ['application/own+json'],
    compileWriter: () => ({
      document: (row: { version: string }) => ({ is: note(row) }),
      serialize: JSON.stringify,
      problemType: 'application/problem+json',
      list: { open: '', row: note, separator: '', close: '' }
    })
  }
  const { app, ask } = await serveCards(store,
    {
      formats: ['json', 'html', text, own],
      html: { views: { list: ({ rows }: { rows: Array<{ version: string }> }) => rows.map(note).join('') } },
      actions: {
        update: async ({ store, id, attributes, guardFor, row }: {
          store: SqliteStore, id: number, attributes: object, guardFor: (row: object) => never, row: () => object
        }) => store.update(id, attributes, guardFor(await row()))
      }
    })
  const { version } = await store.create({ name: 'Ann', pin: '1234' }, {})
  for (const path of ['/cards/1.text', '/cards.text', '/cards/1.own', '/cards.own', '/cards.html']) {
    t.equal((await app.inject(path)).statusCode, 200, path)
  }
  const { headers: { etag } } = await ask({ url: '/cards/1' })
  t.strictSame([...seen], [String(etag).slice(1, 41)])
  t.notOk(seen.has(version), 'the version of the store stays inside')
  const put = async (etag: unknown): Promise<LightMyRequestResponse> =>
    ask({ method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { name: 'Bob' } } })
  const written = await put(etag)
  t.match([written.statusCode, (await put(etag)).statusCode], [200, 412])
  t.equal((await ask({ url: '/cards/1' })).headers.etag, written.headers.etag)
})

// FC_SEED=… makes other runs.
const seed = Number(process.env.FC_SEED ?? 20_261_123)

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    at: { type: 'string', format: 'date' },
    password: { type: 'string', writeOnly: true },
    pin: { type: 'integer', writeOnly: true },
    author: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
    tenant: { type: 'string' },
    note: { type: 'string' },
    salary: { type: 'integer' }
  }
} as const

/** Values of hidden attributes, which the two apps have in opposite order. */
const TEXTS = ['green tea', 'Secret', '', 'a,b', '%']

const NUMBERS = [0, 5, -1, 7_000_000]
interface Variant { readonly text: (index: number) => string, readonly number: (index: number) => number }

const VARIANTS: readonly [Variant, Variant] = [{
  text: (index) => TEXTS[index % TEXTS.length] as string, number: (index) => NUMBERS[index % NUMBERS.length] as number
}, {
  text: (index) => TEXTS.at(-1 - index % TEXTS.length) as string,
  number: (index) => NUMBERS.at(-1 - index % NUMBERS.length) as number
}]

/** What an app hides, and the rows that differ between the two apps. */
interface Hiding {
  readonly options: Partial<ResourceOptions>
  row (variant: Variant, index: number): Attributes
  /** Whether answers show the hidden values, so that only the ids of lists and the rest of refusals are compared. */
  readonly isShown?: boolean
}

const known = (index: number): Attributes => ({
  title: `tea ${index % 3}`, rating: index % 4 === 0 ? null : index % 6, at: `2026-01-0${index % 9 + 1}`
})

const HIDINGS: Readonly<Record<string, Hiding>> = {
  'attributes that are writeOnly': {
    options: {},
    row: ({ text, number }, index) => ({
      ...known(index), password: text(index), pin: number(index), author: { name: 'Ann', key: text(index) }
    })
  },
  'the rows of other scopes': {
    options: { scope: () => ({ tenant: 'mine' }) },
    row: ({ text, number }, index) => index % 2 === 0
      ? { ...known(index), tenant: 'mine' }
      : { title: text(index), rating: number(index), tenant: text(index), note: text(index), salary: number(index) }
  },
  'attributes that `filter` and `sort` leave out': {
    options: { filter: ['title', 'rating'], sort: ['title'] },
    row: ({ text, number }, index) => ({ ...known(index), note: text(index), salary: number(index) }),
    isShown: true
  },
  'attributes that `search` leaves out': {
    options: { filter: ['title'], sort: [], search: ['title'] },
    row: ({ text, number }, index) => ({ ...known(index), note: text(index), salary: number(index) }),
    isShown: true
  }
}

const names = fc.constantFrom(...Object.keys(attributes.properties), 'author.key', 'id', 'nothing')
const operators = fc.constantFrom('', '[gte]', '[gt]', '[lte]', '[lt]', '[not]', '[in]', '[null]', '[contains]',
  '[starts]', '[x]', '[in][0]')
const values = fc.constantFrom(...TEXTS, ...NUMBERS.map(String), 'true', 'false', 'tea', 'TEA', 'mine', 'other',
  '2026-01-03', 'tea 1,tea 2', 'g', 's')

const parameter = fc.oneof({
  weight: 6,
  arbitrary: fc.tuple(names, operators,
    values).map(([name, operator, value]): [string, string] => [name + operator, value])
}, fc.tuple(fc.constant('q'), values), fc.tuple(fc.constant('count'), fc.constantFrom('true', 'estimate')),
fc.tuple(fc.constant('sort'), fc.tuple(fc.constantFrom('', '-'), names).map((parts) => parts.join(''))),
fc.tuple(fc.constant('only'), names), fc.tuple(fc.constant('limit'), fc.constantFrom('1', '3', '20')),
fc.tuple(fc.constant('blank'), fc.constant('any')))

/** A condition as the filter bar of a page sends it. */
const fromBar = fc.tuple(names, fc.oneof(operators, fc.constantFrom('[null]=true', '[null]=false')), values)
  .map(
    ([name, operator, value]): Array<[string, string]> => [['filter[by]', name + operator], ['filter[value]', value]]
  )

const query = fc.tuple(fc.uniqueArray(parameter, { maxLength: 4, selector: ([name]) => name }),
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fromBar)).map(([pairs, bar]) =>
  new URLSearchParams([...pairs, ...bar]).toString())

const format = fc.constantFrom('json', 'xml', 'html')

async function open (t: Test, { options, row }: Hiding, variant: Variant): Promise<FastifyInstance> {
  const store = memoryStore()
  for (let index = 0; index < 24; index++) store.create(row(variant, index), {})
  return build(t, { name: 'posts', attributes, store, ...options })
}

// The page of a refused condition has the rows of the list without it. These cells may differ, and nothing else.
const SHOWN = /<td data-label="(?:Note|Salary)"[^>]*>[^<]*<\/td>/g

/** Returns the parts of an answer that must not depend on hidden values: all of it, or without the values it shows. */
async function ask (app: FastifyInstance, url: string, isShown: boolean): Promise<string> {
  const { statusCode, headers, body } = await app.inject(url)
  const ids = [
    ...body.matchAll(/"id":(\d+)|<id type="integer">(\d+)|<th scope="row">(?:<label.*?<\/label>)?<a href="\/posts\/(\d+)/g)
  ].flat()
    .join()
  const { link, 'total-count': total, 'content-range': range } = headers
  return JSON.stringify([statusCode, link, total, range,
    !isShown ? body : statusCode === 200 ? ids : body.replace(SHOWN, '')])
}

for (const [what, hiding] of Object.entries(HIDINGS)) {
  t.test(`no parameter of a list reveals ${what}`, async (t) => {
    const [one, other] = [await open(t, hiding, VARIANTS[0]), await open(t, hiding, VARIANTS[1])]
    const seen = { 200: 0, 400: 0 }
    const details = await fc.check(fc.asyncProperty(query, format, async (query, format) => {
      const url = `/posts.${format}?${query}`
      const [answer, same] = [await ask(one, url, hiding.isShown === true),
        await ask(other, url, hiding.isShown === true)]
      seen[JSON.parse(answer)[0] as 200 | 400]++
      return answer === same
    }), { seed, numRuns: 300 })
    t.notOk(details.failed, fc.stringify(details.counterexample))
    t.ok(seen[200] > 50 && seen[400] > 50, `${seen[200]} answers and ${seen[400]} refusals`)
  })
}

t.test('the comparison finds an attribute that is not hidden', async (t) => {
  const hiding = { ...HIDINGS['attributes that `search` leaves out'] as Hiding, options: { filter: ['title', 'note'] } }
  const [one, other] = [await open(t, hiding, VARIANTS[0]), await open(t, hiding, VARIANTS[1])]
  t.not(await ask(one, '/posts.json?q=green', true), await ask(other, '/posts.json?q=green', true))
})

/** Opens posts with authors and comments, of which half are those of another tenant. */
async function openRelated (t: Test, { text, number }: Variant): Promise<FastifyInstance> {
  const scope = (): { readonly tenant: string } => ({ tenant: 'mine' })
  const [posts, authors, comments] = [memoryStore(), memoryStore(), memoryStore()]
  for (let index = 0; index < 24; index++) {
    const isMine = index % 2 === 0
    const hidden = { password: text(index), pin: number(index), author: { name: 'Ann', key: text(index) } }
    posts.create({ ...known(index), parentId: index % 5 === 0 ? null : index % 7 + 1, ...hidden }, {})
    authors.create(isMine
      ? { ...known(index), tenant: 'mine', ...hidden }
      : {
          title: text(index), rating: number(index), tenant: text(index)
        }, {})
    comments.create({
      ...known(index),
      postId: index % 6 + 1,
      ...isMine ? { tenant: 'mine', ...hidden } : { title: text(index), tenant: text(index) }
    }, {})
  }
  const { tenant: _, ...properties } = attributes.properties
  return draft(t, (map) => {
    map.resources('posts', {
      attributes: { type: 'object', properties: { ...properties, parentId: { type: ['integer', 'null'] } } },
      store: posts,
      references: { parentId: 'authors' }
    }, (posts) => posts.resources('comments', { attributes, store: comments, scope }))
    map.resources('authors', { attributes, store: authors, scope })
  })
}

t.test('`include` reveals neither rows of other scopes nor attributes that are writeOnly', async (t) => {
  const [one, other] = [await openRelated(t, VARIANTS[0]), await openRelated(t, VARIANTS[1])]
  const include = fc.constantFrom('parent', 'comments', 'parent,comments', 'comments,parent')
  const path = fc.constantFrom('/posts', '/posts/1', '/posts/2', '/posts/6', '/posts/24')
  const seen = { 200: 0, 400: 0, 404: 0 }
  const details = await fc.check(fc.asyncProperty(path, query, include, format, async (
    path, query, include, format
  ) => {
    const url = `${path}.${format}?include=${include}&${path === '/posts' ? query : ''}`
    const [answer, same] = [await ask(one, url, false), await ask(other, url, false)]
    seen[JSON.parse(answer)[0] as 200 | 400]++
    return answer === same
  }), { seed, numRuns: 300 })
  t.notOk(details.failed, fc.stringify(details.counterexample))
  t.ok(seen[200] > 50 && seen[400] > 10, `${seen[200]} answers and ${seen[400]} refusals`)
  t.match((await one.inject('/posts/2.json?include=parent,comments')).json().post, { parent: null, comments: [] })
  const { parent, comments } = (await one.inject('/posts/3.json?include=parent,comments')).json().post
  t.match([parent.id, parent.tenant, comments.length], [3, 'mine', 4])
})

const customer = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const
const invoice = {
  type: 'object',
  properties: {
    customerId: { type: ['integer', 'null'] }, note: { type: 'string' }, more: { type: ['object', 'null'] }
  }
} as const
const scopeAttributes = { tenant: { type: 'string' } } as const
const scope = ({ headers }: { headers: Record<string, unknown> }): { tenant: string } =>
  ({ tenant: String(headers['x-tenant']) })

const ofOwner: Authorize = async ({ headers }, { action, row }) =>
  action !== 'list' && (row === undefined || (await row())?.attributes.name === headers['x-tenant'])

const hiding: Authorize = async (request, attempt) => await ofOwner(request, attempt) || 'hide'

/** How the customers are guarded: by `scope` or by `authorize`. */
const GUARDS: ReadonlyArray<readonly [name: string, options: object]> = [['scope', { scope, scopeAttributes }],
  ['authorize', { authorize: ofOwner }], ['authorize that hides', { authorize: hiding }]]

const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }

/** The writes of an invoice that name a customer. The invoice 2 has the customer 2. */
const WRITES: ReadonlyArray<readonly [name: string, write: (id: number) => InjectOptions]> = [
  ['create', (customerId) => ({ method: 'POST', url: '/invoices.json', payload: { invoice: { customerId } } })],
  ['create by XML',
    (id) => ({
      method: 'POST',
      url: '/invoices.xml',
      headers: { 'content-type': 'application/xml' },
      payload: `<invoice><customerId>${id}</customerId></invoice>`
    })],
  ['create by a form',
    (id) => ({ method: 'POST', url: '/invoices', headers: form, payload: `invoice[customerId]=${id}` })],
  ['update', (customerId) => ({ method: 'PUT', url: '/invoices.json', payload: { id: 2, invoice: { customerId } } })],
  ['update of a member',
    (customerId) => ({ method: 'PATCH', url: '/invoices/2.json', payload: { invoice: { customerId } } })],
  ['merge',
    (customerId) => ({
      method: 'PATCH',
      url: '/invoices/2.json',
      headers: { 'content-type': 'application/merge-patch+json' },
      payload: JSON.stringify({ invoice: { customerId, more: { a: 1 } } })
    })],
  ['update by a form',
    (id) => ({
      method: 'POST', url: '/invoices', headers: form, payload: `_method=PUT&id=2&invoice[customerId]=${id}`
    })],
  ['custom action of a row',
    (customerId) => ({ method: 'POST', url: '/invoices/2/assign.json', payload: { invoice: { customerId } } })],
  ['custom action of the collection',
    (customerId) => ({ method: 'POST', url: '/invoices/assign.json', payload: { invoice: { customerId } } })]
]

interface World {
  readonly app: FastifyInstance,
  as (
    tenant: string, asked: InjectOptions
  ): Promise<LightMyRequestResponse>
}

/** Serves the customers 1 of A and 2 of B, and an invoice of each. */
async function serve (stores: Stores, guard: object): Promise<World> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('customers', { attributes: customer, ...guard })
    map.resources('invoices',
      { attributes: invoice, references: { customerId: 'customers' }, writes: 'both', scope, scopeAttributes },
      (invoices) => {
        invoices.member.post('assign', () => undefined)
        invoices.collection.post('assign', () => undefined)
      })
  }, { stores }))
  await app.ready()
  const as: World['as'] = async (tenant, asked) =>
    app.inject({ ...asked, headers: { accept: 'application/json', ...asked.headers, 'x-tenant': tenant } })
  for (const [index, tenant] of ['A', 'B'].entries()) {
    await as(tenant, { method: 'POST', url: '/customers.json', payload: { customer: { name: tenant } } })
    const { statusCode } = await as(tenant,
      { method: 'POST', url: '/invoices.json', payload: { invoice: { customerId: index + 1 } } })
    if (statusCode !== 201) throw new Error(`the invoice is a ${statusCode}`)
  }
  return { app, as }
}

t.test('a reference to a row that the request may not see is answered as one to a row that does not exist', async (
  t
) => {
  const databases = [{ name: 'memory', open: memoryStores },
    ...(await Promise.all(GUARDS.map(openEngines))).flat().map(({ name, stores }) => ({ name, open: () => stores }))]
  for (const [index, [guard, options]] of GUARDS.entries()) {
    for (const { name, open } of [databases[0], databases[1 + 2 * index],
      databases[2 + 2 * index]] as typeof databases) {
      const { as } = await serve(open(), options)
      for (const [what, write] of WRITES) {
        const [hidden, missing, own] = [await as('B', write(1)), await as('B', write(9)), await as('B', write(2))]
        t.strictSame([hidden.statusCode, hidden.body.replaceAll(/value="1"/g, 'value="9"').replace('>1</option>',
          '>9</option>')], [422, missing.body], `${name}, ${guard}: ${what}`)
        t.match(hidden.body, 'refers to something that does not exist')
        const { date: _, ...headers } = hidden.headers
        t.match(missing.headers, headers)
        t.ok(own.statusCode < 400, `${what}: the own customer is a ${own.statusCode}`)
      }
      t.equal((await as('B', {
        method: 'PUT',
        url: '/invoices.json',
        headers: { 'if-match': '"77"' },
        payload: { id: 2, invoice: { customerId: 1 } }
      })).statusCode, 412, 'a stale version comes first')
      t.equal((await as('B', {
        method: 'PUT', url: '/invoices.json', payload: { id: 99, invoice: { customerId: 1 } }
      })).statusCode, 404, 'so does a row that does not exist')
      t.equal((await as('B', {
        method: 'PUT', url: '/invoices.json', payload: { id: 2, invoice: { customerId: null } }
      })).statusCode, 200)
      t.equal((await as('A', { method: 'DELETE', url: '/invoices.json?id=1' })).statusCode, 204)
      t.equal((await as('A', { method: 'DELETE', url: '/customers.json?id=1' })).statusCode, 204,
        'nobody else refers to the customer')
    }
  }
})

t.test('a reference that is sent back as it is stored is kept, also if its row is hidden', async (t) => {
  let hidden = false
  const authorize: Authorize = (_request, { action }) => !hidden || action !== 'show'
  const { as } = await serve(memoryStores(), { authorize })
  hidden = true
  for (const [what, write] of WRITES.slice(3, 8)) {
    const { statusCode } = await as('B', write(2))
    t.ok(statusCode < 400, `${what} is a ${statusCode}`)
  }
  for (const [what, write] of [...WRITES.slice(0, 3), ...WRITES.slice(8)]) {
    t.equal((await as('B', write(2))).statusCode, 422, `${what}: a new reference`)
  }
})

t.test('a reference to rows that everybody may see costs no query', async (t) => {
  const [engine] = await openEngines()
  if (engine === undefined) throw new Error('there is no engine')
  let listed = 0
  const { stores } = engine
  const counting: Stores = {
    open: (request) => {
      const store = stores.open(request)
      return { ...store, list: (...call) => { listed++; return store.list(...call) } }
    }
  }
  const { as } = await serve(counting, {})
  listed = 0
  for (const [id, status] of [[1, 201], [2, 201]] as const) {
    t.equal((await as('B', {
      method: 'POST', url: '/invoices.json', payload: { invoice: { customerId: id } }
    })).statusCode, status)
  }
  t.equal(listed, 0)
})

/** Serves orders whose lines reference products 1 and 2, and the order 1 with a line of product 1. */
async function serveOrders (
  t: Test,
  stores: Stores,
  { products = {}, reference = 'products' }: { products?: object, reference?: unknown } = {}
): Promise<(asked: InjectOptions) => Promise<LightMyRequestResponse>> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('products', { attributes: { type: 'object', properties: { name: { type: 'string' } } }, ...products })
    const formats = ['json', 'xml', 'csv'] as const
    map.resources('orders', { attributes: order, references: { 'lines.productId': reference as string }, formats })
  }, { stores }))
  await app.ready()
  for (const name of ['Tea', 'Jam']) {
    await app.inject({ ...JSON_POST, url: '/products', payload: { product: { name } } })
  }
  await app.inject({ ...JSON_POST, url: '/orders', payload: { order: { lines: [{ productId: 1 }] } } })
  return async (asked) => app.inject({ ...asked, headers: { accept: 'application/json', ...asked.headers } })
}

const line = {
  type: 'object',
  required: ['productId'],
  additionalProperties: false,
  properties: { productId: { type: ['integer', 'null'] }, count: { type: 'integer' } }
} as const
const order = {
  type: 'object', properties: { name: { type: 'string' }, lines: { type: ['array', 'null'], items: line } }
} as const
const JSON_POST = { method: 'POST', headers: { accept: 'application/json' } } as const

t.test('a reference inside an array is checked at each write, in each format', async (t) => {
  const xml = (lines: string): InjectOptions => ({
    method: 'POST',
    url: '/orders',
    headers: { accept: 'application/xml', 'content-type': 'application/xml' },
    payload: `<order><lines type="array">${lines}</lines></order>`
  })
  const create = (lines: unknown): InjectOptions => ({ ...JSON_POST, url: '/orders', payload: { order: { lines } } })
  const update = (lines: unknown): InjectOptions =>
    ({ method: 'PUT', url: '/orders', payload: { id: 1, order: { lines } } })
  const cases: ReadonlyArray<readonly [string, InjectOptions, status: number, paths: readonly string[]]> = [
    ['a create', create([{ productId: 2 }, { productId: 1 }, { productId: 2 }]), 201, []],
    ['no lines', create([]), 201, []],
    ['null', create(null), 201, []],
    ['an absent array', { ...JSON_POST, url: '/orders', payload: { order: { name: 'N' } } }, 201, []],
    ['a reference that is null', create([{ productId: null }]), 201, []],
    ['an orphan', create([{ productId: 1 }, { productId: 7 }]), 422, ['lines.1.productId']],
    ['two orphans', create([{ productId: 8 }, { productId: 2 }, { productId: 9 }]), 422,
      ['lines.0.productId', 'lines.2.productId']],
    ['an update', update([{ productId: 2 }]), 200, []],
    ['an update with an orphan', update([{ productId: 1 }, { productId: 5 }]), 422, ['lines.1.productId']],
    ['XML', xml('<line><productId type="integer">2</productId></line>'), 201, []],
    ['XML with an orphan', xml('<line><productId type="integer">3</productId></line>'), 422, ['lines.0.productId']]
  ]
  const many: typeof cases = [
    ['a batch', { ...JSON_POST, url: '/orders', payload: { orders: [{ lines: [{ productId: 3 }] }] } }, 422, []],
    ['CSV', {
      method: 'POST',
      url: '/orders',
      headers: { accept: 'application/json', 'content-type': 'text/csv' },
      payload: 'name,lines\nN,"[{""productId"":3}]"\n'
    }, 422, []]
  ]
  const [engine] = await openEngines()
  // The database of the engine has no transactions.
  for (const [stores, all] of [[memoryStores(), [...cases, ...many]], [engine?.stores as Stores, cases]] as const) {
    const ask = await serveOrders(t, stores)
    for (const [what, asked, status, paths] of all) {
      const { statusCode, body } = await ask(asked)
      t.equal(statusCode, status, `${what}: ${body}`)
      for (const path of paths) t.match(body, path, what)
      t.equal(body.includes('refers to something that does not exist'), status === 422, what)
    }
  }
})

t.test('a reference inside an array restricts no deletion, and stays as it is stored', async (t) => {
  const ask = await serveOrders(t, memoryStores())
  t.equal((await ask({ method: 'DELETE', url: '/products.json?id=1' })).statusCode, 204)
  const update = (lines: unknown): InjectOptions =>
    ({ method: 'PUT', url: '/orders', payload: { id: 1, order: { lines } } })
  t.equal((await ask(update([{ productId: 1, count: 2 }, { productId: 2 }]))).statusCode, 200, 'the stored orphan')
  t.equal((await ask(update([{ productId: 3 }]))).statusCode, 422, 'another orphan')
  const many = Array.from({ length: 20_000 }, (_, index) => ({ productId: index + 1 }))
  t.equal((await ask(update(many))).statusCode, 422, 'very many orphans')
})

t.test('a reference inside an array tells nothing about a row that the request may not see', async (t) => {
  const products = {
    authorize: (_request: unknown, { action, id }: { action: string, id?: unknown }) =>
      action !== 'show' || id !== 2
  }
  const cases: ReadonlyArray<readonly [reference: unknown, hidden: number, missing: number]> = [
    ['products', 422, 422],
    [{ to: 'products' }, 422, 422],
    // Without the check, a row that is hidden must not be told from one that is missing either.
    [{ to: 'products', check: false }, 422, 422]
  ]
  for (const [reference, hidden, missing] of cases) {
    const ask = await serveOrders(t, memoryStores(), { products, reference })
    const create = (productId: number): InjectOptions =>
      ({ ...JSON_POST, url: '/orders', payload: { order: { lines: [{ productId }] } } })
    const [one, other] = [await ask(create(2)), await ask(create(9))]
    t.strictSame([one.statusCode, one.body], [hidden, other.body])
    t.equal(other.statusCode, missing)
    t.equal((await ask(create(1))).statusCode, 201)
  }
  const ask = await serveOrders(t, memoryStores(), { reference: { to: 'products', check: false } })
  t.equal((await ask({ ...JSON_POST, url: '/orders', payload: { order: { lines: [{ productId: 9 }] } } })).statusCode,
    201, 'an open resource is not asked')
})
