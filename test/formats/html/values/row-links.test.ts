import t from 'tap'
import {
  draw, type Id, type Mapper, memoryStore, type Query, type ResourceOptions, type Row, type Store
} from '../../../../lib/index.js'
import { defaultViews, markup } from '../../../../lib/html/index.js'
import { draft } from '../../../support/helper.js'
import fastify, { type FastifyInstance } from 'fastify'

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
      ['an integer', 7, integer, link('/artists/7', '7')],
      ['null', null, integer, ''],
      ['a negative integer', -1, integer, link('/artists/-1', '-1')],
      ['not even an integer', 1.5, integer, '1.5'],
      ['a text instead of an integer', '7', integer, '7'],
      ['a UUID', uuid, { type: 'string', format: 'uuid' }, link(`/artists/${uuid}`, uuid), uuids],
      ['no UUID', uuid.toUpperCase(), { type: 'string' }, uuid.toUpperCase(), uuids],
      ['a text', 'a/b?&"é', string, link('/artists/a%2Fb%3F%26%22%C3%A9', 'a/b?&amp;&quot;é'), text],
      ['a text that ends like a suffix', 'a.json', string, link('/artists/a%252Ejson', 'a.json'), text],
      ['a text that is no segment', '..', string, '..', text],
      ['an address, which is a link by itself', 'https://a.example', { type: 'string', format: 'uri' },
        link('/artists/https%3A%2F%2Fa.example', 'https://a.example'), text],
      ['a title', 'a', { type: 'string', oneOf: [{ const: 'a', title: 'A <title>' }] }, link('/artists/a', 'a'), text],
      ['an open resource', 7, undefined, link('/artists/7', '7')],
      ['a value of another type in an open resource', { id: 7 }, undefined, ''],
      ['a page that does not exist', 7, integer, '&lt;7&gt;', { except: ['show'] }],
      ['a row that does not exist', 7, integer, '7', { store: memoryStore() }],
      ['a row without a title', 7, integer, '<a href="/artists/7">Artist 7</a>', { html: { title: 'id' } }],
      ['a resource without pages', 7, integer, '<a href="/artists/7">7</a>', { formats: ['json'] }],
      ['an address without a name, which is one link', 'https://a.example', { type: 'string', format: 'uri' },
        '<a href="/artists/https%3A%2F%2Fa.example">https://a.example</a>', { ...text, formats: ['json'] }],
      ['a handler of the app', 7, integer, '<a href="/artists/7">7</a>',
        { actions: { show: ({ proceed }) => proceed() } }],
      ['a hook of the app', 7, integer, '<a href="/artists/7">7</a>', { hooks: { preHandler: async () => {} } }],
      ['a row that authorize refuses', 7, integer, '7', { authorize: (_request, { id }) => id !== 7 }],
      ['an id that a constraint excludes', 7, integer, '7', { constraints: { id: { maximum: 6 } } }],
      ['an id that a constraint allows', 6, integer, link('/artists/6', '6'), { constraints: { id: { maximum: 6 } } }],
      ['an open resource that is long', long, undefined, '']
    ]
  for (const [name, value, schema, found, artists = {}] of cases) {
    const app = await draft(t, drawAlbums([value], schema, artists))
    const [[cell, whole] = []] = await valuesOn(app)
    if (found !== '' || value === null) t.strictSame([cell, whole], [found, found], name)
    else t.notMatch(`${cell}${whole}`, 'href="/artists', name)
  }
})

t.test('an id without a name keeps the title of its schema, which is clipped without a link in the link', async (t) => {
  const title = 't'.repeat(150)
  const app = await draft(
    t,
    drawAlbums(
      ['a'], { type: 'string', oneOf: [{ const: 'a', title }] }, { store: everyRow('string'), formats: ['json'] }
    )
  )
  t.strictSame(await valuesOn(app),
    [[`<a href="/artists/a">${'t'.repeat(100)}&#8230;</a>`, `<a href="/artists/a">${title}</a>`]])
})

t.test('the paths have the prefix and the parameters of the request', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(drawAlbums([7], { type: 'integer' })), { prefix: '/of/:tenant' })
  t.strictSame(await valuesOn(app, '/of/a'), [[link('/of/a/artists/7', '7'), link('/of/a/artists/7', '7')]])
  t.strictSame(await valuesOn(app, '/of/b%20c'), [[link('/of/b%20c/artists/7', '7'), link('/of/b%20c/artists/7', '7')]])
})

t.test('an id is a link on the page of a conflict and in cells for a view, and nowhere else', async (t) => {
  const declare = drawAlbums([7], { type: 'integer' }, {}, {
    html: {
      views: {
        list: (page, views) => defaultViews.list(
          { ...page, table: markup`${page.rows.map(({ cells }) => markup`<p>${cells}</p>`)}` }, views
        )
      }
    }
  })
  const app = await draft(t, declare)
  t.match((await app.inject('/albums.html')).body, `<p><a href="/albums/1">1</a>${link('/artists/7', '7')}</p>`)
  const send = async (payload: string): Promise<string> => (await app.inject({
    method: 'POST',
    url: '/albums',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload
  })).body
  t.match(await send('_method=DELETE&id=1&_version=old'), `dir="auto">${link('/artists/7', '7')}</dd>`)
  t.match(await send('_method=PUT&id=1&_version=old&album[artistId]=8'), '<div class="value" dir="auto">7</div>')
  t.strictSame((await app.inject('/albums/1.json')).json(), { album: { id: 1, artistId: 7 } })
  t.notMatch((await app.inject('/albums/1.xml')).body, 'href')
})
