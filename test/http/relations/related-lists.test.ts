import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Attributes, type CountQuery, draw, type Format, type Mapper, memoryStore, memoryStores, type Query,
  type ResourceOptions, type Row, type Store, type Stores, type TextWriter, type Writer
} from '../../../lib/index.js'
import { appHooksOf } from '../../../lib/core/registration/app-internals.js'
import { draft } from '../../support/helper.js'
import { recordingStore, type RecordingStore } from '../../support/stores/recording-store.js'

const artist = { type: 'object', properties: { name: { type: 'string' } } } as const
const album = {
  type: 'object', properties: { title: { type: 'string' }, artistId: { type: ['integer', 'null'] } }
} as const
type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Returns a memory store with these rows. */
function storeOf (...rows: ReadonlyArray<Record<string, unknown>>): Store {
  const store = memoryStore()
  for (const row of rows) store.create(row, {})
  return store
}

function makeAlbums (): Store {
  return storeOf({ title: 'A', artistId: 1, tenant: 'a' }, { title: 'B', artistId: 1, tenant: 'b' },
    { title: 'C', artistId: 2, tenant: 'a' }, { title: 'D', artistId: null, tenant: 'a' })
}

const makeArtists = (): Store => storeOf({ name: 'Ann' }, { name: 'Bob' }, { name: 'Cy' })

/** Draws artists, and albums that reference them. */
function drawMusic (albums: Options = {}, artists: Options = {}): (map: Mapper) => unknown {
  return (map) => {
    map.resources('artists', { attributes: artist, store: makeArtists(), ...(artists as object) })
    map.resources('albums', {
      attributes: album, store: makeAlbums(), references: { artistId: 'artists' }, ...(albums as object)
    })
  }
}

/** Returns a store that notes the queries of its lists and counts. */
function noting (store: Store, queries: Array<Query | CountQuery>): Store {
  return {
    ...store,
    list: (query, context) => { queries.push(query); return store.list(query, context) },
    count: (query, context) => { queries.push(query); return (store as Required<Store>).count(query, context) }
  }
}

/** Returns a store that has more rows than a page shows, and counts this many. */
function crowded (rows: (query: CountQuery) => number): Store {
  const row = { version: '1', attributes: { title: 'x' } }
  return {
    ...memoryStore(),
    list: () => [Array.from({ length: 11 }, (_, index) => ({ id: index + 1, ...row }))],
    count: (query) => ({ rows: rows(query), isEstimate: false })
  }
}

/** Returns the links to the lists of related rows on a page, as `label (number) href`. */
async function linksOn (app: FastifyInstance, url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html', ...headers } })
  if (statusCode !== 200) return [String(statusCode)]
  return [
    ...body.matchAll(
      /<h2 id="related-[^"]*"><a href="([^"]*)">([^<]*)<\/a>(?: <span class="total">([^<]*)<\/span>)?<\/h2>/g)].map(
    ([, href = '', label = '', total]) =>
          `${label}${total === undefined ? '' : ` (${total})`} ${href.replaceAll('&amp;', '&')}`)
}

t.test('the page of a row links to the rows that reference it, with their number', async (t) => {
  const app = await draft(t, drawMusic(), '/music')
  for (const [id, number] of [[1, 2], [2, 1], [3, 0], [1, 2]] as const) {
    const all = number === 2 ? 'See all 2 albums' : number === 1 ? 'See all albums' : 'There are no albums yet'
    t.match((await app.inject(`/music/artists/${id}.html`)).body, `>${all}<`)
    t.strictSame(await linksOn(app, `/music/artists/${id}`), [`Albums (${number}) /music/albums?artistId=${id}`])
    t.equal((await app.inject(`/music/albums.json?artistId=${id}`)).json().albums.length, number,
      'the link leads to as many rows')
  }
  await app.inject({ method: 'POST', url: '/music/albums.json', payload: { album: { title: 'E', artistId: 3 } } })
  t.strictSame(await linksOn(app, '/music/artists/3.html'), ['Albums (1) /music/albums?artistId=3'],
    'the number is a new one for each page')
  t.strictSame(await linksOn(app, '/music/albums/1'), [], 'nothing references albums')
  t.strictSame(await linksOn(app, '/music/artists/9'), ['404'])
})

t.test('only pages of rows read related rows, each relation by one query of 11 rows, or two', async (t) => {
  const queries: Array<Query | CountQuery> = []
  const many = storeOf(...Array.from({ length: 12 }, (_, index) => ({ title: `A${index}`, artistId: 2 })),
    { title: 'B', artistId: 1 })
  const app = await draft(t, drawMusic({ store: noting(many, queries) }))
  for (const url of ['/artists/1.json', '/artists/1.xml', '/artists.json', '/artists.html', '/artists/9.html']) {
    await app.inject(url)
  }
  await app.inject({
    method: 'POST',
    url: '/artists',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'artist[name]=Dee'
  })
  t.strictSame(queries, [])
  const query = (value: number): object => ({
    order: [{ by: 'id', descending: false }],
    after: undefined,
    scope: {},
    filter: [{ attribute: 'artistId', operator: 'eq', value }],
    search: undefined
  })
  t.strictSame(await linksOn(app, '/artists/1.html'), ['Albums (1) /albums?artistId=1'])
  t.strictSame(queries.splice(0), [{ ...query(1), limit: 11 }])
  t.strictSame(await linksOn(app, '/artists/2.html'), ['Albums (12) /albums?artistId=2'])
  t.strictSame(queries, [{ ...query(2), limit: 11 }, { ...query(2), most: 10_001, estimate: false }])
})

t.test('a page with related rows is never a 304, because their number may change', async (t) => {
  const app = await draft(t, drawMusic())
  const ask = async (url: string): Promise<number> => {
    const { headers: { etag } } = await app.inject(url)
    return (await app.inject({ url, headers: { 'if-none-match': String(etag) } })).statusCode
  }
  t.equal(await ask('/artists/1.html'), 200)
  t.equal(await ask('/artists/1.json'), 304)
  t.equal(await ask('/albums/1.html'), 200, 'the name of the artist may change')
  t.equal(await ask('/albums/4.html'), 200, 'the form offers artists, whose names may change')
  const refused = await draft(t, drawMusic({ authorize: () => false }))
  const { headers: { etag } } = await refused.inject('/artists/1.html')
  t.equal((await refused.inject({ url: '/artists/1.html', headers: { 'if-none-match': String(etag) } })).statusCode,
    200, 'other requests may see a number')
})

t.test('more rows than 10,000 are not counted', async (t) => {
  const rows = (total: number): Store => crowded(({ most = Infinity }) => Math.min(total, most))
  const cases: ReadonlyArray<readonly [number, string]> = [[9_999, '9,999'], [10_000, '10,000'],
    [10_001, 'more than 10,000'], [5_000_000, 'more than 10,000']]
  for (const [total, text] of cases) {
    const app = await draft(t, drawMusic({ store: rows(total) }))
    t.strictSame(await linksOn(app, '/artists/1'), [`Albums (${text}) /albums?artistId=1`])
  }
})

const user = ({ headers }: FastifyRequest): string => String(headers.user)

t.test('the guards of the list decide, and hidden rows are not counted', async (t) => {
  const asked: unknown[] = []
  const app = await draft(t, drawMusic({
    scope: async (request) => ['a', 'b', 'c'].includes(user(request)) ? { tenant: user(request) } : {},
    authorize: async (request, { action, id, row, resource }) => {
      asked.push([action, resource, id, row, request.params, request.url])
      if (user(request) === 'stranger') throw Object.assign(new Error('no'), { statusCode: 401 })
      if (user(request) === 'broken') throw new Error('broken')
      return user(request) === 'hidden' ? 'hide' : action === 'list' && user(request) !== 'blocked'
    }
  }))
  const cases: ReadonlyArray<readonly [string, string[]]> = [
    ['ann', ['Albums (2) /albums?artistId=1']],
    ['a', ['Albums (1) /albums?artistId=1']],
    ['c', ['Albums (0) /albums?artistId=1']],
    ['blocked', []],
    ['hidden', []],
    ['stranger', []],
    ['broken', ['500']]
  ]
  for (const [user, links] of cases) {
    t.strictSame(await linksOn(app, '/artists/1', { user }), links, user)
    const list = await app.inject({ url: '/albums.json?artistId=1&count=true', headers: { user } })
    if (list.statusCode === 200) {
      t.match(links[0], `(${String(list.headers['total-count'])})`, 'the list has the same number')
    } else t.notOk(links.join().includes('Albums'), 'the list is refused')
  }
  t.strictSame(asked[0], ['list', 'albums', undefined, undefined, {}, '/artists/1'])
})

t.test('without a right to count, or where the app guards the list, the link has no number', async (t) => {
  const store = makeAlbums()
  const { count: _, ...uncounted } = crowded(() => 7)
  const hook = async (): Promise<void> => {}
  const link = ['Albums /albums?artistId=1']
  const number = ['Albums (2) /albums?artistId=1']
  const cases: ReadonlyArray<readonly [string, string[], Options, Options?]> = [
    ['a store without the capability', link,
      { store: { ...crowded(() => 7), capabilities: { order: true, filter: true } } }],
    ['a store without the method', link, { store: { ...uncounted, capabilities: { order: true, filter: true } } }],
    ['a store that cannot count few rows', number,
      { store: { ...store, capabilities: { order: true, filter: true } } }],
    ['a store with some operators', number, { store: { ...store, capabilities: { filter: ['in'], count: true } } }],
    ['a handler', link, { actions: { list: ({ proceed }) => proceed() } }],
    ['a handler of another action', number, { actions: { create: ({ proceed }) => proceed() } }],
    ['a hook', link, { hooks: { preHandler: hook } }],
    ['a hook of the list', link, { actionHooks: { list: { onRequest: [hook] } } }],
    ['a hook of another action', number, { actionHooks: { show: { onRequest: [hook] } } }],
    ['a hook after the handler', number, { hooks: { onResponse: hook } }],
    ['a hook that both have', number, { hooks: { preHandler: hook } },
      { hooks: { preHandler: [async () => {}, hook] } }],
    ['a right of both', link, { hooks: { preHandler: hook }, authorize: () => true }],
    ['no right', [], { hooks: { preHandler: hook }, authorize: () => false }],
    ['a filter with the attribute', number, { filter: ['artistId'] }],
    ['a filter without the attribute', [], { filter: ['title'] }],
    ['no list', [], { except: ['list'] }]
  ]
  for (const [name, links, albums, artists] of cases) {
    const app = await draft(t, drawMusic(albums, artists))
    t.strictSame(await linksOn(app, '/artists/1'), links, name)
  }
})

t.test('rows behind hooks of the app are not counted on pages that do not pass them', async (t) => {
  const guard = async (request: FastifyRequest): Promise<void> => {
    if (user(request) !== 'admin') throw Object.assign(new Error('no'), { statusCode: 403 })
  }
  const artists = { name: 'artists', attributes: artist, store: makeArtists() } as const
  const albums = {
    name: 'albums', attributes: album, store: makeAlbums(), references: { artistId: 'artists' }
  } as const
  const start = async (t: Test, add: (app: FastifyInstance) => unknown): Promise<FastifyInstance> => {
    const app = fastify()
    t.teardown(() => app.close())
    await add(app)
    await app.ready()
    return app
  }
  const [link, number] = ['Albums /albums?artistId=1', 'Albums (2) /albums?artistId=1']
  const inner = await start(t, (app) => {
    app.register(resources, artists)
    app.register(async (app) => {
      app.addHook('onRequest', guard)
      app.register(resources, albums)
    })
  })
  t.strictSame(await linksOn(inner, '/artists/1'), [link])
  t.equal((await inner.inject('/albums')).statusCode, 403)
  const later = await start(t, (app) => {
    app.register(resources, artists)
    app.register(async (app) => {
      await app.register(resources, albums)
      app.addHook('preHandler', guard)
    })
  })
  t.strictSame(await linksOn(later, '/artists/1'), [link], 'a hook that is added later')
  t.equal((await later.inject('/albums')).statusCode, 403)
  const around = await start(t, async (app) => {
    app.addHook('onRequest', guard)
    await app.register(resources, artists)
    app.addHook('preHandler', guard)
    await app.register(resources, albums)
  })
  t.strictSame(await linksOn(around, '/artists/1', { user: 'admin' }), [number], 'hooks around both')
  const outer = await start(t, (app) => {
    app.register(resources, albums)
    app.register(async (app) => {
      app.addHook('onRequest', guard)
      app.register(resources, artists)
    })
  })
  t.strictSame(await linksOn(outer, '/artists/1', { user: 'admin' }), [number], 'a hook of the parent alone')
  const unknown = [{}, {}].map((app) => appHooksOf(app as FastifyInstance).get('onRequest')?.[0])
  for (const hook of unknown as Array<() => unknown>) t.equal(hook(), undefined)
  t.not(unknown[0], unknown[1], 'unknown hooks are those of no other instance')
})

t.test('a list has no table if no page shows its rows', async (t) => {
  const app = await draft(t, drawMusic({ formats: ['json'] }))
  t.strictSame(await linksOn(app, '/artists/1'), ['Albums (2) /albums?artistId=1'])
  t.notMatch((await app.inject('/artists/1.html')).body, '<table')
})

t.test('a deletion of several rows counts the rows that refer to them, if the store finds them', async (t) => {
  const references = { artistId: { to: 'artists', onDelete: 'cascade' } } as const
  for (const filter of [true, ['eq']] as const) {
    const stores: Stores = {
      open (request) {
        const store = memory.open(request)
        return request.table === 'artists' ? store : { ...store, capabilities: { ...store.capabilities, filter } }
      }
    }
    const memory = memoryStores()
    const app = await draft(t, (map) => map.scope({ stores }, (map) => {
      map.resources('artists', { attributes: artist }).resources('albums', { attributes: album, references })
    }))
    const payload = { artists: [{ name: 'Ann' }, { name: 'Bob' }] }
    t.equal((await app.inject({ method: 'POST', url: '/artists', payload })).statusCode, 201)
    await app.inject({ method: 'POST', url: '/albums', payload: { album: { artistId: 2 } } })
    const { body } = await app.inject({
      method: 'POST',
      url: '/artists',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: '_step=delete&id[]=1&id[]=2'
    })
    t.match(body, '<h1>Delete 2 artists</h1>')
    t.equal(body.includes('1 album'), filter === true)
  }
})

t.test('several references have labels that tell them apart, and a resource can reference itself', async (t) => {
  const order = {
    type: 'object', properties: { billingAddressId: { type: 'integer' }, shipping_address_id: { type: 'integer' } }
  } as const
  const employee = { type: 'object', properties: { reportsTo: { type: ['integer', 'null'] } } } as const
  const app = await draft(t, (map) => {
    map.resources('orders', {
      attributes: order,
      store: storeOf({ billingAddressId: 1, shipping_address_id: 1 }, { billingAddressId: 1, shipping_address_id: 2 }),
      references: { billingAddressId: 'addresses', shipping_address_id: 'addresses' }
    })
    map.resources('addresses', { attributes: artist, store: makeArtists() })
    map.resources('employees', {
      attributes: employee,
      store: storeOf({ reportsTo: null }, { reportsTo: 1 }, { reportsTo: 1 }, { reportsTo: 2 }),
      references: { reportsTo: 'employees' }
    })
  })
  t.strictSame(await linksOn(app, '/addresses/1'), ['Orders: billing address (2) /orders?billingAddressId=1',
    'Orders: shipping address (1) /orders?shipping_address_id=1'])
  t.strictSame(await linksOn(app, '/employees/1'), ['Employees: reports to (2) /employees?reportsTo=1'])
  t.strictSame(await linksOn(app, '/employees/4'), ['Employees: reports to (0) /employees?reportsTo=4'])
})

t.test('the path parameters of a list must be those of the row', async (t) => {
  const stores = {
    rooms: storeOf({ name: 'r', houseId: 1 }), lamps: storeOf({ roomId: 1, houseId: 1 }, { roomId: 1, houseId: 2 })
  }
  const lamp = { type: 'object', properties: { roomId: { type: 'integer' } } } as const
  const declare = (authorize: boolean) => (map: Mapper): void => {
    map.resources('houses', { attributes: artist, store: makeArtists(), authorize: () => authorize }, (houses) => {
      houses.resources('lamps', { attributes: lamp, store: stores.lamps, references: { roomId: 'rooms' } })
    })
    map.resources('rooms', { attributes: artist, store: stores.rooms })
  }
  const app = await draft(t, declare(true), '/x')
  t.strictSame(await linksOn(app, '/x/rooms/1'), [], 'the house is unknown')
  const apart = fastify()
  t.teardown(() => apart.close())
  apart.register(resources, { name: 'artists', attributes: artist, store: makeArtists() })
  apart.register(resources, {
    name: 'albums', prefix: '/:tenant', attributes: album, store: makeAlbums(), references: { artistId: 'artists' }
  })
  t.strictSame(await linksOn(apart, '/artists/1'), [], 'the tenant is unknown')
  t.match((await apart.inject('/a/albums/1.html')).body, '<a href="/artists/1">Ann</a>', 'the other way is known')
  const tenants = fastify()
  t.teardown(() => tenants.close())
  tenants.register(draw(drawMusic({
    constraints: { tenant: { enum: ['a', 'b c'] } },
    scope: ({ params }) => ({ tenant: (params as { tenant: string }).tenant })
  })), { prefix: '/:tenant' })
  t.strictSame(await linksOn(tenants, '/a/artists/1'), ['Albums (1) /a/albums?artistId=1'])
  t.strictSame(await linksOn(tenants, '/b%20c/artists/1'), ['Albums (0) /b%20c/albums?artistId=1'])
  t.strictSame(await linksOn(tenants, '/d/artists/1'), [], 'the constraints of the list refuse its path')
})

t.test('the guards of a singleton around the list decide too', async (t) => {
  const signals: AbortSignal[] = []
  const stored = storeOf({ name: 'of a', tenant: 'a' }, { name: 'of b', tenant: 'b' })
  const accounts: Store = {
    ...stored,
    list: (query, context) => {
      signals.push(context.signal)
      return stored.list(query, context)
    }
  }
  const app = await draft(t, (map) => {
    map.resource('account', {
      attributes: artist,
      store: accounts,
      scope: (request) => ({ tenant: user(request) }),
      authorize: (request) => user(request) !== 'blocked'
    }, (account) => {
      account.resources('bills', {
        attributes: album,
        store: storeOf({ artistId: 1, accountId: 1 }, { artistId: 1, accountId: 2 }, { artistId: 1, accountId: 2 }),
        references: { artistId: 'artists' }
      })
    })
    map.resources('artists', { attributes: artist, store: makeArtists() })
  })
  for (const [user, links] of [['a', ['Bills (1) /account/bills?artistId=1']],
    ['b', ['Bills (2) /account/bills?artistId=1']], ['c', []], ['blocked', []]] as const) {
    t.strictSame(await linksOn(app, '/artists/1', { user }), links, user)
  }
  t.match(signals, [AbortSignal, AbortSignal, AbortSignal], 'the stores of parents get the signal of the request')
})

t.test('the form or the link that adds a related row is only there if authorize allows it', async (t) => {
  for (const [formPages, href] of [[true, '/albums'], [false, '/albums?artistId=1#new']] as const) {
    const app = await draft(t, drawMusic({
      formPages, authorize: async (request, { action }) => action !== user(request)
    }))
    const linkFor = async (refused: string): Promise<string | undefined> =>
      /(?:<a class="button plain" href|<form method="post" action)="(\/albums[^"]*)"/.exec(
        (await app.inject({ url: '/artists/1.html', headers: { user: refused } })).body)?.[1]
    t.equal(await linkFor('delete'), href)
    t.equal(await linkFor('create'), undefined, 'creates are refused')
    t.equal(await linkFor('list'), undefined, 'the list is refused')
    t.equal(await linkFor('new'), formPages ? undefined : href, 'the page of the form is refused, if there is one')
  }
  const app = await draft(t, drawMusic({ except: ['create'] }))
  t.notMatch((await app.inject('/artists/1.html')).body, '/albums/new')
})

t.test('large related rows are read only as far as memory allows', async (t) => {
  const titles = Array.from({ length: 12 }, () => 'x'.repeat(300_000))
  const app = await draft(t, drawMusic({ store: storeOf(...titles.map((title) => ({ title, artistId: 1 }))) }))
  t.strictSame(await linksOn(app, '/artists/1'), ['Albums (12) /albums?artistId=1'])
  const { body } = await app.inject({ url: '/artists/1', headers: { accept: 'text/html' } })
  t.ok(body.split('<tr>').length < 12, 'the page shows some of them')
})

const band = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const
const id = { type: ['integer', 'null'] } as const
const record = { type: 'object', properties: { title: { type: 'string' }, artistId: id, editorId: id } } as const
type LinkOptions = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

interface Music {
  readonly app: FastifyInstance
  readonly artists: RecordingStore
  /** Returns the names of the referenced rows on a page. */
  readonly names: (url: string, user?: string) => Promise<string[]>
}

async function play (
  t: Test, rows: readonly Attributes[], albums: LinkOptions = {}, artists: LinkOptions = {}
): Promise<Music> {
  const store = recordingStore(Array.from({ length: 1200 },
    (_, index) => ({ name: `Artist <${index + 1}>`, secret: index === 1 })))
  const own = memoryStore()
  for (const row of rows) own.create(row, {})
  const app = await draft(t, (map) => {
    map.resources('artists', { attributes: band, store, ...(artists as object) })
    map.resources('albums', {
      attributes: record,
      store: own,
      references: { artistId: 'artists', editorId: 'artists' },
      formPages: true,
      ...(albums as object)
    })
  })
  const names = async (url: string, user = 'ann'): Promise<string[]> => {
    store.forget()
    const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html', user } })
    t.equal(statusCode, 200)
    return [...body.matchAll(/<a href="(?:\/artists\/\d+)">([^<]*)<\/a>/g)].map(([, name = '']) =>
      name.replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
  }
  return { app, artists: store, names }
}

const listed = (times: number): object[] => Array.from({ length: times }, () => ({ method: 'list', scope: {} }))

t.test('one query finds the names of all rows that an attribute references', async (t) => {
  const rows = Array.from({ length: 60 }, (_, index) => ({ title: `t${index}`, artistId: index % 40 + 1 }))
  const { app, artists, names } = await play(t, rows)
  t.strictSame(await names('/albums'), [...Array(50).keys()].map((index) => `Artist <${index % 40 + 1}>`))
  t.strictSame(artists.calls, listed(1), 'no row has an editor')
  t.strictSame(await names('/albums/3'), ['Artist <3>'])
  t.strictSame(artists.calls, listed(1))
  for (const url of ['/albums.json', '/albums.xml', '/albums/3.json', '/albums/99.html']) await app.inject(url)
  t.strictSame(artists.calls, listed(1), 'documents and errors have no links')
  t.strictSame(await names('/artists/3'), [])
  t.strictSame(artists.calls, [{ method: 'get', scope: {} }, ...listed(2)],
    'nothing is added to pages without references, besides the choices of the two forms that add albums')
})

t.test('a page of more than 1,000 names, and one of large rows, has a few queries', async (t) => {
  const many = await play(t, Array.from({ length: 1200 }, (_, index) => ({ artistId: index + 1 })), { maxLimit: 1200 })
  t.equal((await many.names('/albums?limit=1200')).length, 1200)
  t.strictSame(many.artists.calls, listed(2))
  const rows = Array.from({ length: 50 }, (_, index) => ({ title: 'x'.repeat(200_000), artistId: index % 7 + 1 }))
  const large = await play(t, rows)
  const found: string[] = []
  let next: string | undefined = '/albums'
  while (next !== undefined) {
    found.push(...await large.names(next))
    next = /<([^>]*)>; rel="next"/.exec(
      String((await large.app.inject({ url: next, headers: { accept: 'text/html' } })).headers.link))?.[1]
  }
  t.strictSame(found, [...Array(50).keys()].map((index) => `Artist <${index % 7 + 1}>`))
})

t.test('a row that the request may not see is shown by its id, without a link', async (t) => {
  const asked: unknown[] = []
  const { names, app } = await play(t, [{ artistId: 1 }, { artistId: 2 }, { artistId: 3 }], {}, {
    scope: ({ headers }: FastifyRequest): Record<string, boolean> => headers.user === 'ann' ? {} : { secret: false },
    authorize: (_request, { action, id, resource }) => {
      asked.push([action, id, resource])
      return id !== 3 && action === 'show'
    }
  })
  t.strictSame(await names('/albums'), ['Artist <1>', 'Artist <2>'])
  t.strictSame(asked.filter((question) =>
    String(question).startsWith('show')), [1, 2, 3].map((id) => ['show', id, 'artists']))
  t.strictSame(await names('/albums', 'bob'), ['Artist <1>'])
  t.match((await app.inject({ url: '/albums', headers: { accept: 'text/html', user: 'bob' } })).body,
    '<td data-label="Artist" dir="auto">2</td>')
  t.strictSame(await names('/albums/3'), [])
})

t.test('an error of the store of a referenced row is one of the page, and it is freed of its source', async (t) => {
  const broken: Store = { ...memoryStore(), list () { throw new Error('broken') } }
  const { app } = await play(t, [{ artistId: 1 }], {}, { store: broken })
  t.equal((await app.inject({ url: '/albums', headers: { accept: 'text/html' } })).statusCode, 500)
  const large = await play(t, Array.from({ length: 50 }, () => ({ title: 'x'.repeat(200_000), artistId: 1 })))
  t.equal((await large.app.inject({ method: 'HEAD', url: '/albums', headers: { accept: 'text/html' } })).body, '',
    'a HEAD reads no further rows')
})

t.test('a page without a row, and a value that no row can have as its id, have no links', async (t) => {
  const { app, names, artists } = await play(t, [{ artistId: 1.5 }, { artistId: 2 }], { formPages: true },
    { hooks: { preHandler: async () => {} } })
  const { body } = await app.inject({ url: '/albums', headers: { accept: 'text/html' } })
  t.strictSame([...body.matchAll(/<a href="(\/artists\/[^"]*)">/g)].map(([, href]) => href), ['/artists/2'])
  t.strictSame(await names('/albums/new'), [])
  const created = await app.inject({
    method: 'POST',
    url: '/albums',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'album[title]=T'
  })
  t.equal(created.statusCode, 303)
  t.strictSame(artists.calls, [])
})

t.test('the names and tables of rows in a format of the app lack the values that are writeOnly', async (t) => {
  const seen: string[] = []
  const write = (row: Row): string => { seen.push(JSON.stringify(row.attributes)); return 'row' }
  const prepare: NonNullable<TextWriter['prepare']> = async (outcome, services) => {
    const row = (outcome as { readonly row: Row }).row
    for (const list of services.lists) await list(row, services)
    for (const choice of services.choices) await choice.list(services)
    for (const { find } of services.links) for await (const [id] of find([1], services)) t.equal(id, 1)
    return { content: undefined }
  }
  const writer: Writer = {
    prepare,
    record: write,
    problem: () => '',
    page: (rows) => rows.map(write).join(''),
    title: write,
    table: (rows) => rows.map(write).join('')
  }
  const own: Format = { name: 'own', mediaTypes: ['text/html'], browser: true, compileWriter: () => writer }
  const attributes = {
    type: 'object',
    properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true }, artistId: { type: 'integer' } }
  } as const
  const [artists, albums] = [memoryStore(), memoryStore()]
  artists.create({ name: 'Ann', secret: 'swordfish' }, {})
  albums.create({ name: 'A', secret: 'swordfish', artistId: 1 }, {})
  const app = await draft(t, (map) => {
    map.resources('artists', { attributes, store: artists, formats: [own] })
    map.resources('albums', { attributes, store: albums, references: { artistId: 'artists' }, formats: [own] })
  })
  for (const url of ['/artists/1', '/albums/1']) t.match(await app.inject(url), { statusCode: 200, body: 'row' })
  t.strictSame(seen.sort(), ['{"name":"A","artistId":1}', '{"name":"A","artistId":1}', '{"name":"Ann"}',
    '{"name":"Ann"}', '{"name":"Ann"}'], 'as a link, in a table and as a choice')
})
