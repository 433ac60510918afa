import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../../lib/database/index.js'
import {
  type Attributes, draw, type Id, type Mapper, memoryStore, type Query, type ResourceOptions, type Row, type Store
} from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { buttonsOf, decode, fill, findButton, findForm, submit } from '../../../support/html/forms.js'
import { tagged, withoutBoxes } from '../../../support/html/page-tests.js'
import { build, draft } from '../../../support/helper.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { findTitleAttributes } from '../../../../lib/html/values/row-names.js'
import { declareAttributes } from '../../../../lib/core/resource/attributes.js'
import { defaultViews, markup } from '../../../../lib/html/index.js'

const text = { type: 'string' } as const

async function serve (
  t: Test,
  rows: readonly Attributes[],
  properties: object,
  options: Partial<ResourceOptions> & { readonly required?: readonly string[] } = {}
): Promise<FastifyInstance> {
  const { required = Object.keys(properties), ...others } = options
  const store = memoryStore(others.id === 'uuid' ? { id: 'uuid' } : {})
  for (const row of rows) store.create(row, {})
  return build(t,
    { name: 'invoices', attributes: { type: 'object', required, properties }, ...others, store } as ResourceOptions)
}

const pageOf = async (app: FastifyInstance, url: string): Promise<string> => (await app.inject({
  url, headers: { accept: 'text/html' }
})).body
const headingOf = (page: string): string | undefined => elementsOf(page).find(({ name }) => name === 'h1')?.text
const tableOf = (page: string): string =>
  /<table class="list"[^]*?<\/table>/.exec(withoutBoxes(page))?.[0] ?? ''
const headsOf = (page: string): string[] => [...tableOf(page).matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/g)].map(
  ([, head = '']) => head.replaceAll(/<[^>]*>/g, '')
)
const rowsOf = (page: string): string[][] => [...tableOf(page).matchAll(/<tr>(<th scope="row".*?)<\/tr>/gs)].map(
  ([, row = '']) => [...row.matchAll(/<t[dh]([^>]*)>(.*?)<\/t[dh]>/gs)].map(([, attributes = '', content = '']) => content +
    (attributes.includes('class="id"') ? '#' : ''))
)

const cases: ReadonlyArray<readonly [what: string, properties: object, options: object, expected: string]> = [
  ['the first required text', { count: { type: 'integer' }, number: text, note: text }, {}, 'Number'],
  ['no optional text', { note: text, code: text }, { required: ['code'] }, 'Code'],
  ['no text that may be null', { note: { type: ['string', 'null'] }, code: text }, { required: ['code'] }, 'Code'],
  ['its first and last name', { title: text, last_name: text, first_name: text }, {}, 'Invoice'],
  [
    'no id, address, date or decimal',
    {
      a: { ...text, format: 'uuid' },
      b: { ...text, format: 'uri' },
      c: { ...text, format: 'email' },
      d: { ...text, format: 'date' },
      e: { ...text, format: 'decimal' },
      f: { ...text, format: 'date-time-text' },
      g: text
    },
    {},
    'G'
  ],
  ['no choice', { a: { ...text, enum: ['x'] }, b: { oneOf: [{ const: 'x', title: 'X' }] }, c: text }, {}, 'C'],
  [
    'no long text, and no bytes',
    {
      a: { ...text, maxLength: 201 },
      b: { ...text, contentMediaType: 'text/plain' },
      c: { ...text, contentEncoding: 'base64' },
      d: { ...text, maxLength: 200 }
    },
    {},
    'D'
  ],
  ['no text with a default', { a: { ...text, default: 'draft' }, b: text }, {}, 'B'],
  ['no secret', { a: { ...text, writeOnly: true }, b: text }, {}, 'B'],
  ['the id, if there is no such text', { a: { type: 'integer' } }, {}, 'Id'],
  ['another attribute', { a: text, b: { type: 'integer' } }, { html: { title: 'b' } }, 'B'],
  ['the id, if the app says so', { a: text }, { html: { title: 'id' } }, 'Id'],
  ['what a function returns', { a: text }, { html: { title: () => 'x' } }, 'Invoice']
]

for (const [what, properties, options, expected] of cases) {
  t.test(`the name of a row is ${what}`, async (t) => {
    const [first] = headsOf(await pageOf(await serve(t, [{}], properties, options), '/invoices'))
    t.equal(first, expected)
  })
}

t.test('the names of attributes tell which of them name a row', async (t) => {
  const email = { unique: ['email'] }
  const cases: ReadonlyArray<readonly [
    attributes: string,
    expected: string,
    resource?: {
      readonly required?: readonly string[],
      readonly unique?: readonly string[],
      readonly references?: readonly string[],
      readonly repeating?: readonly string[],
      readonly key?: readonly string[],
      readonly singleton?: boolean
    }
  ]> = [
    ['LastName FirstName Title', 'FirstName LastName'],
    ['name first_name last_name', 'first_name last_name'],
    ['given family', 'given family'],
    ['FirstName Title', 'Title'],
    ['first last title', 'title'],
    ['code TITLE', 'TITLE'],
    ['code CompanyName ContactName', 'CompanyName', { required: ['CompanyName', 'ContactName'] }],
    ['ship_name code', 'code', { required: ['code'] }],
    ['file_name title', 'title'],
    ['note email', 'email', email],
    ['note email name', 'name', email],
    ['email note', ''],
    ['APIKey apikey authtoken apiKey password_hash resetToken clientSecret user_uuid', '', {
      required: ['APIKey', 'apikey', 'authtoken', 'apiKey', 'password_hash', 'resetToken', 'clientSecret'],
      unique: ['apiKey', 'user_uuid']
    }],
    ['code note', 'code', { required: ['code', 'note'], unique: ['code'], key: ['code'] }],
    ['token', 'token', { required: ['token'], unique: ['token'], key: ['token'] }],
    ['base quote', '', { required: ['base', 'quote'], unique: ['base', 'quote'], key: ['base', 'quote'] }],
    ['name', '', { singleton: true }],
    ['name code', 'code', { required: ['code'], repeating: ['name'] }],
    ['name label', 'label', { repeating: ['name'] }],
    ['sku name', 'name sku', { unique: ['sku'], repeating: ['name'] }],
    ['name label', 'name', { unique: ['name'], repeating: ['name'] }],
    ['company_name note', '', { required: ['company_name'], repeating: ['company_name'] }],
    ['first_name last_name name', 'first_name last_name', { repeating: ['first_name', 'last_name'] }]
  ]
  for (const [names, expected, options = {}] of cases) {
    const { required, unique, references, repeating = [], key = [], singleton = false } = options
    const properties = Object.fromEntries(names.split(' ').map((name) =>
      [name, { type: ['string', 'null'], ...repeating.includes(name) && { 'x-repeats': true } }]))
    const attributes = declareAttributes('rows', { type: 'object', properties, required })
    t.equal(findTitleAttributes({ attributes, key, singleton },
      { unique: new Set(unique), references: new Set(references) }).join(' '), expected, names)
  }
})

t.test('a person has both names, as far as they are known', async (t) => {
  const rows = [{ first_name: 'Ada', last_name: ' Lovelace' }, { last_name: 'Plato' }, { first_name: ' ' }]
  const app = await serve(t, rows, { first_name: text, last_name: text }, { required: [] })
  const names = async (url: string): Promise<unknown[]> =>
    rowsOf(await pageOf(app, url)).map(([first = '']) => first.replaceAll(/<[^>]*>/g, ''))
  t.strictSame(await names('/invoices'), ['Ada Lovelace', 'Plato', 'Invoice 3'])
  t.strictSame(await names('/invoices?only=last_name'), ['Lovelace', 'Plato', 'Invoice 3'], 'one of them is left out')
  t.equal(headingOf(await pageOf(app, '/invoices/1')), 'Ada Lovelace')
})

const invoice = { number: text, total: { type: 'number' }, note: { type: ['string', 'null'] } }
const row = { number: 'A & <b>', total: 5, note: null }

t.test('the name is the link of the first column, and the id stands beside it', async (t) => {
  const app = await serve(t, [row, { ...row, number: ' ' }], invoice)
  const list = await pageOf(app, '/invoices')
  t.strictSame(headsOf(list), ['Number', 'Id', 'Total', 'Note'])
  t.strictSame(rowsOf(list), [['<a href="/invoices/1">A &amp; &lt;b&gt;</a>', '1#', '5', ''],
    ['<a href="/invoices/2">Invoice 2</a>', '2#', '5', '']])
  const chosen = await serve(t, [row], invoice, { html: { columns: ['total', 'number'] } })
  t.strictSame(headsOf(await pageOf(chosen, '/invoices')), ['Number', 'Id', 'Total'],
    'the name comes first even if the app names it later')
  const added = await serve(t, [row], invoice, { html: { columns: ['total'] } })
  t.strictSame(headsOf(await pageOf(added, '/invoices')), ['Number', 'Id', 'Total'], 'or not at all')
  const unlinked = await serve(t, [row], invoice, { only: ['list'] })
  t.strictSame(rowsOf(await pageOf(unlinked, '/invoices')), [['A &amp; &lt;b&gt;', '1#', '5', '']],
    'rows without pages have no link')
})

t.test('an id that the columns show has none itself, and the first of them leads to the row', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(database, {
    database: makeDatabase(`
      CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE items (part_id INTEGER NOT NULL REFERENCES parts, line INTEGER, PRIMARY KEY (part_id, line));
      CREATE TABLE rooms (floor INTEGER NOT NULL, door INTEGER NOT NULL, area REAL, PRIMARY KEY (floor, door));
      CREATE TABLE bills (no TEXT NOT NULL PRIMARY KEY, total REAL);
      CREATE TABLE lands (code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
      CREATE VIEW sales AS SELECT name AS part, CAST(id + 4 AS INTEGER) AS sold FROM parts;
      INSERT INTO parts VALUES (1, 'A & <b>'), (2, '');
      INSERT INTO items VALUES (1, 7);
      INSERT INTO rooms VALUES (0, 3, 5);
      INSERT INTO bills VALUES ('B1', 2);
      INSERT INTO lands VALUES ('fr', 'France')`),
    report: () => {}
  })
  const cases: ReadonlyArray<readonly [url: string, heads: readonly string[], first: string]> = [
    ['/rooms', ['Floor', 'Door', 'Area'], '<a href="/rooms/0,3">0</a>'],
    ['/rooms?only=door,floor', ['Floor', 'Door'], '<a href="/rooms/0,3">0</a>'],
    ['/rooms?only=door', ['Id', 'Door'], '<a href="/rooms/0,3">0,3</a>'],
    ['/sales?sold=5', ['Part', 'Sold'], '<a href="/sales/A%20%26%20%3Cb%3E,5">A &amp; &lt;b&gt;</a>'],
    ['/sales?sold=6', ['Part', 'Sold'], '<a href="/sales/,6">,6</a>'],
    ['/bills', ['No', 'Total'], '<a href="/bills/B1">B1</a>'],
    ['/lands', ['Name', 'Code'], '<a href="/lands/fr">France</a>'],
    ['/lands?only=name', ['Name', 'Id'], '<a href="/lands/fr">France</a>'],
    ['/items', ['Id', 'Part', 'Line'], '<a href="/items/1,7">1,7</a>'],
    ['/parts', ['Name', 'Id'], '<a href="/parts/1">A &amp; &lt;b&gt;</a>']
  ]
  for (const [url, heads, first] of cases) {
    const page = await pageOf(app, url)
    t.strictSame(headsOf(page), heads, url)
    t.equal(rowsOf(page)[0]?.[0], first, url)
  }
  t.match(await pageOf(app, '/rooms'), '<th scope="col"><a href="/rooms?sort=floor">Floor</a></th>')

  const store: Store = { ...memoryStore(), key: ['site', 'line'] }
  const properties = { site: { ...text, format: 'uri' }, line: { type: 'integer' } } as const
  const linked = await build(t, { name: 'visits', attributes: { type: 'object', properties }, store })
  await store.create({ site: 'https://a.example/', line: 7 }, {}, { signal: new AbortController().signal })
  const [first] = rowsOf(await pageOf(linked, '/visits'))
  t.strictSame(first?.[0], '<a href="/visits/1">1</a>', 'a link has no other one inside')
})

t.test('a long id is shown by its end', async (t) => {
  const app = await serve(t, [row], invoice, { id: 'uuid' })
  const list = await pageOf(app, '/invoices')
  const [, id = ''] = /href="\/invoices\/([0-9a-f-]{36})"/.exec(list) ?? []
  t.match(list, `<td data-label="Id" class="id" title="${id}">&#8230;${id.slice(-6)}</td>`)
})

t.test('a name stands in headings, titles, links and warnings', async (t) => {
  const app = await serve(t, [row, { ...row, number: '' }], invoice, { formPages: true })
  const record = await pageOf(app, '/invoices/1')
  t.equal(headingOf(record), row.number)
  t.match(decode(record), '<title>A & <b> – Invoices</title>')
  t.match(record, '<p>A &amp; &lt;b&gt; will be deleted permanently.</p>')
  const edit = await pageOf(app, '/invoices/1/edit')
  t.equal(headingOf(edit), 'Edit A & <b>')
  t.match(edit, '<li><a href="/invoices/1">A &amp; &lt;b&gt;</a></li>')
  t.equal(headingOf(await pageOf(app, '/invoices/2')), 'Invoice 2', 'a blank title is none')
  t.match(await pageOf(app, '/invoices/2'), '<p>Invoice 2 will be deleted permanently.</p>')
  t.equal(headingOf(await pageOf(app, '/invoices/2/edit')), 'Edit invoice 2')
})

t.test('a form with an error has the name of the stored row', async (t) => {
  const app = await serve(t, [row], invoice)
  const payload = '_method=PUT&id=1&invoice%5Bnumber%5D=typed&invoice%5Btotal%5D=many'
  const answer = await app.inject({
    method: 'POST',
    url: '/invoices',
    payload,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.strictSame([answer.statusCode, headingOf(answer.body)], [422, 'Edit A & <b>'])
})

t.test('a function names rows, also those of a resource without a schema', async (t) => {
  const store = memoryStore()
  store.create({ first: 'Ann', last: 'Smith', age: 5 }, {})
  store.create({}, {})
  const title = ({ id, attributes: { first, last } }: { readonly id: unknown, readonly attributes: Attributes }): string
    | undefined => first === undefined
    ? undefined
    : `${id}: ${first} ${last}`
  const app = await build(t, { name: 'people', store, html: { title } })
  t.equal(headingOf(await pageOf(app, '/people/1')), '1: Ann Smith')
  t.equal(headingOf(await pageOf(app, '/people/2')), 'Person 2')
  const list = await pageOf(app, '/people')
  t.strictSame(headsOf(list), ['Person', 'Id', 'first', 'last', 'age'])
  t.strictSame(rowsOf(list).map(([first]) => first),
    ['<a href="/people/1">1: Ann Smith</a>', '<a href="/people/2">Person 2</a>'])
})

t.test('a title that pages cannot show is refused', async (t) => {
  const attributes = { type: 'object', properties: { name: text, pin: { ...text, writeOnly: true } } }
  const refused = [
    [
      'nam',
      /"html.title" of resource "posts" names "nam", which is not among the attributes declared; did you mean "name"\?/
    ],
    ['pin', /"html.title" of resource "posts" names "pin", which is writeOnly and is never shown/],
    [5, /"html.title" of resource "posts" must be an attribute such as 'name', a function of the row, or 'id'/]
  ] as const
  for (const [title, message] of refused) {
    await t.rejects(
      build(t, { name: 'posts', attributes, html: { title } } as unknown as ResourceOptions),
      { code: 'FST_RESOURCES_INVALID_OPTION', message }
    )
  }
})

const artist = { type: 'object', properties: { name: { type: 'string' } } } as const

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Returns a store that has a row for each id that it is asked for. */
function everyRow (id: 'integer' | 'string' | 'uuid'): Store {
  const { capabilities, count: _, ...store } = memoryStore()
  const rowsOf = ({ filter }: Query): Row[] => filter.flatMap(({ value }) => value as Id[]).map((id) => ({
    id, version: '1', attributes: { name: `<${id}>` }
  }))
  return {
    ...store, capabilities: { ...capabilities, count: false }, id, list: (query: Query) => [rowsOf(query)]
  } as Store
}

/** Draws albums with these values of an attribute, which has the ids of artists. */
function drawAlbums (
  values: readonly unknown[], schema: object | undefined, artists: Options = {}, albums: Options = {}
): (map: Mapper) => unknown {
  const store = memoryStore()
  for (const artistId of values) store.create({ artistId }, {})
  return (map) => {
    map.resources('artists', {
      attributes: artist,
      ...(!('formats' in artists) && { html: { title: 'name' } }),
      store: everyRow('integer'),
      ...(artists as object)
    })
    map.resources('albums', {
      ...(schema !== undefined && { attributes: { type: 'object', properties: { artistId: schema } } as never }),
      store,
      references: { artistId: 'artists' },
      ...(albums as object)
    })
  }
}

/** Returns the content of the attribute in the list, and on the page of each row. */
async function valuesOn (app: FastifyInstance, base = ''): Promise<Array<readonly [cell: string, value: string]>> {
  const list = await app.inject(`${base}/albums.html?sort=id`)
  const cells = [...list.body.matchAll(/<td data-label="(?:Artist|artistId)"[^>]*>(.*?)<\/td>/gs)].map(
    ([, cell = '']) => cell
  )
  return Promise.all(cells.map(async (cell, index) => {
    const { body } = await app.inject(`${base}/albums/${index + 1}.html`)
    return [cell, /<dd id=":artistId" dir="auto">(.*?)<\/dd>/s.exec(body)?.[1] ?? 'nothing'] as const
  }))
}

const link = (path: string, id: unknown): string => `<a href="${path}">&lt;${String(id)}&gt;</a>`

t.test('an id of another resource is a link to its row, on lists and records', async (t) => {
  const long = 'x'.repeat(200)
  const uuid = '0b6e2b0c-3b5f-4b0e-8f0a-2f5d9d1f7a11'
  const text: Options = { store: everyRow('string') }
  const uuids: Options = { store: everyRow('uuid') }
  const integer = { type: ['integer', 'null'] }
  const string = { type: ['string', 'null'] }
  const cases: ReadonlyArray<readonly [name: string, value: unknown, schema: object
    | undefined, found: string, artists?: Options]> = [
      ['no UUID', uuid.toUpperCase(), { type: 'string' }, uuid.toUpperCase(), uuids],
      ['a text', 'a/b?&"é', string, link('/artists/a%2Fb%3F%26%22%C3%A9', 'a/b?&amp;&quot;é'), text],
      ['a text that ends like a suffix', 'a.json', string, link('/artists/a%252Ejson', 'a.json'), text],
      ['a text that is no segment', '..', string, '..', text],
      ['a title', 'a', { type: 'string', oneOf: [{ const: 'a', title: 'A <title>' }] }, link('/artists/a', 'a'), text],
      ['a page that does not exist', 7, integer, '&lt;7&gt;', { except: ['show'] }],
      ['a row that does not exist', 7, integer, '7', { store: memoryStore() }],
      ['a row without a title', 7, integer, '<a href="/artists/7">Artist 7</a>', { html: { title: 'id' } }],
      ['a resource without pages', 7, integer, '<a href="/artists/7">7</a>', { formats: ['json'] }],
      ['a handler of the app', 7, integer, '<a href="/artists/7">7</a>',
        { actions: { show: ({ proceed }) => proceed() } }],
      ['a hook of the app', 7, integer, '<a href="/artists/7">7</a>', { hooks: { preHandler: async () => {} } }],
      ['a row that authorize refuses', 7, integer, '7', { authorize: (_request, { id }) => id !== 7 }],
      ['an id that a constraint excludes', 7, integer, '7', { constraints: { id: { maximum: 6 } } }],
      ['an open resource that is long', long, undefined, '']
    ]
  for (const [name, value, schema, found, artists = {}] of cases) {
    const app = await draft(t, drawAlbums([value], schema, artists))
    const [[cell, whole] = []] = await valuesOn(app)
    if (found !== '' || value === null) t.strictSame([cell, whole], [found, found], name)
    else t.notMatch(`${cell}${whole}`, 'href="/artists', name)
  }
})

t.test('the paths have the prefix and the parameters of the request', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(drawAlbums([7], { type: 'integer' })), { prefix: '/of/:tenant' })
  t.strictSame(await valuesOn(app, '/of/a'), [[link('/of/a/artists/7', '7'), link('/of/a/artists/7', '7')]])
  t.strictSame(await valuesOn(app, '/of/b%20c'), [[link('/of/b%20c/artists/7', '7'), link('/of/b%20c/artists/7', '7')]])
})

t.test('an id is a link on the page of a conflict and in cells for a view, and nowhere else', async (t) => {
  const declare = (options: Options): (map: Mapper) => unknown => drawAlbums([7], { type: 'integer' }, {}, {
    ...options,
    html: {
      views: {
        list: (page, views) => defaultViews.list(
          { ...page, table: markup`${page.rows.map(({ cells }) => markup`<p>${cells}</p>`)}` }, views
        )
      }
    }
  })
  const app = await draft(t, declare({}))
  const bare = await draft(t, declare({ except: ['show'] }))
  t.match((await bare.inject('/albums.html')).body, '<p>1<a href="/artists/7')
  t.match((await app.inject('/albums.html')).body, `<p><a href="/albums/1">1</a>${link('/artists/7', '7')}</p>`)
  const send = async (payload: string): Promise<string> => (await app.inject({
    method: 'POST',
    url: '/albums',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload
  })).body
  t.match(await send('_method=DELETE&id=1&_version=old'), `dir="auto">${link('/artists/7', '7')}</dd>`)
  t.match(await send('_method=PUT&id=1&_version=old&album[artistId]=8'), '<div class="value" dir="auto">7</div>')
})

const albumAttributes = {
  type: 'object',
  properties: {
    artistId: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    local: { type: 'string', format: 'date-time-local' },
    day: { type: 'string', format: 'date' },
    opens: { type: 'string', format: 'time-local' },
    status: { type: 'string', oneOf: [{ const: 'a', title: 'Draft' }, { const: 'b', title: 'Sent' }] }
  }
} as const

/** Returns the conditions that the page of a list shows. */
async function conditionsOf (
  t: Test,
  query: Readonly<Record<string, string>>,
  options: Partial<ResourceOptions> = {},
  headers: Readonly<Record<string, string>> = {}
): Promise<string[]> {
  const artists = memoryStore()
  for (const name of ['Ann & Co', 'Bob', undefined]) artists.create({ name }, {})
  const store = memoryStore()
  for (const artistId of [1, 2, 3]) {
    store.create(
      { artistId, at: '2026-01-31T12:00:00Z', local: '2026-01-31T12:00:00', day: '2026-01-31', status: 'a' }, {}
    )
  }
  const lang = ['en', 'de', 'fr', 'es']
  const app = await draft(t, (map) => {
    map.resources('artists', {
      attributes: { type: 'object', properties: { name: { type: 'string' } } },
      html: { title: 'name', lang, messages: (lang: string) => lang === 'de' ? { singular: 'Künstler' } : {} },
      store: artists
    })
    map.resources('albums', {
      attributes: albumAttributes, store, references: { artistId: 'artists' }, html: { lang }, ...options as object
    })
  })
  const { statusCode, body } = await app.inject({
    url: `/albums?${new URLSearchParams(query).toString()}`, headers: { accept: 'text/html', ...headers }
  })
  t.equal(statusCode, 200, JSON.stringify(query))
  return [...body.matchAll(/<a class="chip"[^>]*>([^<]*) <span>&#215;/g)].map(([, chip = '']) => chip)
}

t.test('the conditions of a list show dates and times as its rows do', async (t) => {
  const moment = '2026-01-31T12:00:00+00:00'
  t.strictSame(await conditionsOf(t, { 'at[gte]': moment }), ['At is on or after Jan 31, 2026, 12:00 PM UTC'])
  t.strictSame(await conditionsOf(t, { 'at[gte]': '2026-01-31T14:00:00+02:00' }),
    ['At is on or after Jan 31, 2026, 2:00 PM +02:00'])
  t.strictSame(await conditionsOf(t, { 'at[gte]': moment }, { html: { timeZone: 'Asia/Tokyo' } }),
    ['At is on or after Jan 31, 2026, 9:00 PM'])
  t.strictSame(await conditionsOf(t, { 'local[lt]': '2026-02-01T09:30:00' }), ['Local is before Feb 1, 2026, 9:30 AM'])
})

t.test('the conditions of a list show referenced rows by their names, if the list has rows of them', async (t) => {
  t.strictSame(await conditionsOf(t, { artistId: '1' }), ['Artist is Ann &amp; Co'])
  t.strictSame(await conditionsOf(t, { 'artistId[in]': '1,2,9' }), ['Artist is one of Ann &amp; Co, Bob, 9'])
  t.strictSame(await conditionsOf(t, { artistId: '3' }, {}, { 'accept-language': 'de' }), ['Artist: Künstler 3'],
    'a row without a title is named in the language of the page')
  t.strictSame(await conditionsOf(t, { artistId: '9' }), ['Artist is 9'])
})

const attributes = {
  type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } }
} as const

type OptionsOfCrumbs = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Draws shops with shelves, which have books. */
async function shop (
  t: Test,
  { shops = {}, shelves = {}, books = {}, shallow = false }: {
    readonly shops?: OptionsOfCrumbs,
    readonly shelves?: OptionsOfCrumbs,
    readonly books?: OptionsOfCrumbs,
    readonly shallow?: boolean
  } = {}
): Promise<FastifyInstance> {
  const app = await draft(t, (map: Mapper) => {
    map.resources('shops', { attributes, ...(shops as object) }, (shop) => {
      shop.resources('shelves', { attributes, ...(shelves as object), shallow }, (shelf) => {
        shelf.resources('books', { attributes, ...(books as object), shallow })
        shelf.resource('label', { attributes })
      })
    })
  })
  const send = async (url: string, payload: object): Promise<void> => {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
  await send('/shops', { shop: { name: 'Foyles & Co' } })
  await send('/shops/1/shelves', { shelf: { name: 'Poems' } })
  await send(shallow ? '/shelves/1/books' : '/shops/1/shelves/1/books', { book: { name: 'Duino' } })
  return app
}

/** Returns the breadcrumbs of a page, with the paths of the links. */
async function crumbsOn (
  app: FastifyInstance, url: string, method: 'GET' | 'POST' = 'GET', payload = ''
): Promise<string[]> {
  const { body } = await app.inject({
    method,
    url,
    headers: { accept: 'text/html', ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }) },
    payload
  })
  const [, crumbs = ''] = /<ol class="breadcrumb">(.*?)<\/ol>/.exec(body) ?? []
  return [...crumbs.matchAll(/<li[^>]*>(?:<a href="([^"]*)">)?([^<]*)/g)].map(([, href, label = '']) =>
    href === undefined
      ? label
      : `${label} ${href}`)
}

const above = ['Shops /shops', 'Foyles &amp; Co /shops/1', 'Shelves /shops/1/shelves', 'Poems /shops/1/shelves/1']

t.test('the breadcrumbs name every level', async (t) => {
  const app = await shop(t)
  t.strictSame(await crumbsOn(app, '/shops'), [])
  t.strictSame(await crumbsOn(app, '/shops/1'), ['Shops /shops', 'Foyles &amp; Co'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves'), [...above.slice(0, 2), 'Shelves'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books'), [...above, 'Books'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books/1'), [...above, 'Books /shops/1/shelves/1/books', 'Duino'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books/9'),
    [...above, 'Books /shops/1/shelves/1/books', 'This book does not exist'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/label'), [...above, 'This label does not exist'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/9/books'), [], 'a missing parent leads nowhere')
  t.strictSame(
    await crumbsOn(app, '/shops/1/shelves/1/books', 'POST', '_method=PUT&id=1&_version=old&book[name]=x'),
    [...above, 'Books /shops/1/shelves/1/books', 'Duino /shops/1/shelves/1/books/1',
      'This book has been changed meanwhile']
  )
})

t.test('the page of a shallow row names its parent, if the request may see it', async (t) => {
  const app = await shop(t, { shallow: true })
  t.strictSame(await crumbsOn(app, '/shelves/1'), [...above.slice(0, 2), 'Shelves /shops/1/shelves', 'Poems'])
  t.strictSame(await crumbsOn(app, '/shelves/1/books'), ['Poems /shelves/1', 'Books'])
  t.strictSame(await crumbsOn(app, '/books/1'), ['Shops /shops', 'Shop 1 /shops/1', 'Shelves /shops/1/shelves',
    'Poems /shelves/1', 'Books /shelves/1/books', 'Duino'])
})

t.test('a parent that has no pages or no list is called by its id, or is left out', async (t) => {
  const documents = await shop(t, { shelves: { formats: ['json'] } })
  t.strictSame(await crumbsOn(documents, '/shops/1/shelves/1/books'),
    ['Shops /shops', 'Shop 1 /shops/1', 'Shelves /shops/1/shelves', 'Shelf 1 /shops/1/shelves/1', 'Books'])
  const unlisted = await shop(t, { shelves: { except: ['list'] } })
  t.strictSame(await crumbsOn(unlisted, '/shops/1/shelves/1/books'), [...above.slice(0, 2), above[3], 'Books'])
})

t.test('the name of a parent may change, so the page of a nested row is never a 304', async (t) => {
  const app = await shop(t)
  for (const [url, status] of [['/shops/1/shelves/1.html', 200], ['/shops/1/shelves/1.json', 304]] as const) {
    const { headers: { etag } } = await app.inject(url)
    t.equal((await app.inject({ url, headers: { 'if-none-match': String(etag) } })).statusCode, status, url)
  }
})

t.test('a parent that `authorize` hides is called by its id on the page of a shallow row', async (t) => {
  const store = memoryStore()
  const app = await draft(t, (map) => {
    map.resources(
      'shops',
      { attributes, authorize: (_request, { action }) => action === 'show' ? 'hide' : true },
      (shop) => shop.resources('shelves', { attributes, store, shallow: true })
    )
  })
  store.create({ name: 'of a hidden shop', shopId: 1 }, {})
  t.strictSame(await crumbsOn(app, '/shelves/1'), [])
})

t.test('a browser that creates a shallow row is led to its page, and one that deletes it to its list', async (t) => {
  const app = await shop(t, { shallow: true })
  const created = await app.inject({
    method: 'POST', url: '/shelves/1/books', headers: { ...html, ...form }, payload: 'book[name]=Elegies'
  })
  t.strictSame([created.statusCode, created.headers.location], [303, '/books/2'])
  const page = await app.inject({ url: '/books/1', headers: html })
  const { statusCode, headers } = await app.inject(submit(findForm(page, 'DELETE'), undefined, html))
  t.strictSame([statusCode, headers.location], [303, '/shelves/1/books'])
})

const html = { accept: 'text/html' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const serveTagged = (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> => build(
  t, { name: 'posts', attributes: tagged, store: memoryStore(), ...options }
)
const pageOfTagged = async (app: FastifyInstance, url: string): Promise<string> => (await app.inject({
  url: url.replace(/#.*/, ''), headers: html
})).body
const cancelOf = (page: string): string | undefined => /<a class="button plain" href="([^"]*)">Cancel<\/a>/.exec(
  page
)?.[1]

async function post (app: FastifyInstance, url: string, payload: string): Promise<string> {
  const { statusCode, headers: { location } } = await app.inject({ method: 'POST', url, headers: form, payload })
  t.equal(statusCode, 303)
  return String(location)
}

type Other = readonly [what: string, options: Partial<ResourceOptions>, page: string, location: string]
const another: readonly Other[] =
  [
    ['beneath the list', {}, '/posts', '/posts#new'],
    ['on a page of its own', { formPages: true }, '/posts/new', '/posts/new'],
    ['on a page with another path', { formPages: true, pathNames: { new: 'neü' } }, '/posts/ne%C3%BC',
      '/posts/ne%C3%BC']
  ]

for (const [what, options, url, location] of another) {
  t.test(`"Save and add another" leads back to the form ${what}`, async (t) => {
    const app = await serveTagged(t, options)
    const blank = findForm(await app.inject({ url, headers: html }), 'POST')
    t.strictSame(buttonsOf(blank).map(({ name, value }) => [name, value]).at(-1), ['commit', 'another'])
    const created = await app.inject(submit(fill(blank, { 'post[title]': 'a' }), findButton(blank, 'commit'), html))
    t.strictSame([created.statusCode, created.headers.location], [303, location])
    const refused = findForm(
      await app.inject(submit(fill(blank, { 'post[title]': '' }), findButton(blank, 'commit'), html)), 'POST'
    )
    t.ok(findButton(refused, 'commit'), 'a refused form offers it again')
  })
}

t.test('"Cancel" leaves a page that only has a form', async (t) => {
  const apart = await serveTagged(t, { formPages: true })
  await post(apart, '/posts', 'post[title]=a')
  for (const [
    url, target
  ] of [['/posts/new', '/posts'], ['/posts/1/edit', '/posts/1'], ['/posts', undefined],
      ['/posts/1', undefined]] as const) {
    t.equal(cancelOf(await pageOfTagged(apart, url)), target, url)
  }
  const plain = await serveTagged(t)
  await post(plain, '/posts', 'post[title]=a')
  const refuse = async (app: FastifyInstance, payload: string, url = '/posts'): Promise<string> => (await app.inject(
    { method: 'POST', url, headers: { ...html, ...form }, payload }
  )).body
  t.equal(cancelOf(await refuse(plain, 'post[title]=')), '/posts')
  t.equal(cancelOf(await refuse(plain, '_method=PUT&id=1&post[title]=')), '/posts/1')
  const fixed = await draft(t, (map) => map.resource('cover', { attributes: tagged, except: ['create'] }))
  t.match(await refuse(fixed, '_method=PUT&cover[title]=', '/cover'), '<main id="main">\n<h1>New cover</h1>\n</main>',
    'nobody may create the record')
  const unshown = await serveTagged(t, { except: ['show'] })
  await post(unshown, '/posts', 'post[title]=a')
  t.equal(cancelOf(await refuse(unshown, '_method=PUT&id=1&post[title]=')), '/posts')
  const stale = await refuse(unshown, '_method=PUT&id=1&_version=0&post[title]=b')
  t.match(stale, 'This post has been changed meanwhile')
  t.notMatch(stale, '/posts/1', 'a row without a page has no link')
})

t.test('a list that is sent in chunks, because its rows are large, equals one of small rows', async (t) => {
  const attributes = {
    type: 'object',
    properties: { title: { type: 'string', maxLength: 9 }, body: { type: 'string' }, done: { type: 'boolean' } }
  } as const
  const queries = [
    '', '?sort=-title', '?limit=70&after=WzIwXQ', '?filter[by]=title', '?only=title,body'
  ]
  const looks = [{}, { html: { brand: { name: 'Shop', header: () => 'Top', footer: 'Bottom' } } },
    { formPages: true }] as const
  for (const look of looks) {
    // A cell shows the first hundred characters.
    const apps = await Promise.all([60_000, 200].map((length) => {
      const store = memoryStore()
      const body = 'x'.repeat(length)
      for (let number = 1; number <= 90; number++) store.create({ title: `Title ${number}`, body, done: true }, {})
      return build(t, { name: 'posts', store, attributes, html: { pageSize: 80 }, ...look })
    }))
    for (const query of queries) {
      for (const accept of ['text/html', 'application/xhtml+xml']) {
        const url = `/posts${query}`
        const [large, small] = await Promise.all(apps.map((app) => app.inject({ url, headers: { accept } })))
        t.equal(large?.headers['content-length'], undefined, `${query} comes in chunks`)
        t.type(small?.headers['content-length'], 'string')
        t.match(large?.body, /<\/html>\n$/)
        t.equal(large?.body, small?.body, `${Object.keys(look).join()} ${query} ${accept}`)
      }
    }
  }
})
