import type { FastifyInstance, FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type Format, memoryStore, type ResourceOptions, type Row, type Store, type TextWriter,
  type Writer
} from '../../../lib/index.js'
import { defaultViews, type HtmlOptions } from '../../../lib/html/index.js'
import { draft } from '../../support/helper.js'
import { recordingStore, type RecordingStore } from '../../support/stores/recording-store.js'

const artist = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const
const id = { type: ['integer', 'null'] } as const
const album = { type: 'object', properties: { title: { type: 'string' }, artistId: id, editorId: id } } as const

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

interface Music {
  readonly app: FastifyInstance
  readonly artists: RecordingStore
  /** Returns the names of the referenced rows on a page. */
  readonly names: (url: string, user?: string) => Promise<string[]>
}

async function play (t: Test, rows: readonly Attributes[], albums: Options = {}, artists: Options = {}): Promise<Music> {
  const store = recordingStore(Array.from({ length: 1200 }, (_, index) => ({ name: `Artist <${index + 1}>`, secret: index === 1 })))
  const own = memoryStore()
  for (const row of rows) own.create(row, {})
  const app = await draft(t, (map) => {
    map.resources('artists', { attributes: artist, store, ...(artists as object) })
    map.resources('albums', { attributes: album, store: own, references: { artistId: 'artists', editorId: 'artists' }, formPages: true, ...(albums as object) })
  })
  const names = async (url: string, user = 'ann'): Promise<string[]> => {
    store.forget()
    const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html', user } })
    t.equal(statusCode, 200)
    return [...body.matchAll(/<a href="(?:\/artists\/\d+)">([^<]*)<\/a>/g)].map(([, name = '']) => name.replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
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
  t.strictSame(artists.calls, [{ method: 'get', scope: {} }], 'nothing is added to pages without references')
})

t.test('each attribute has a query of its own', async (t) => {
  const { artists, names } = await play(t, [{ artistId: 1, editorId: 2 }, { artistId: 2, editorId: null }, { artistId: 5000, editorId: 2 }])
  t.strictSame(await names('/albums'), ['Artist <1>', 'Artist <2>', 'Artist <2>', 'Artist <2>'])
  t.strictSame(artists.calls, listed(2))
})

t.test('a page of more than 1,000 names, and one of large rows, has a few queries', async (t) => {
  const many = await play(t, Array.from({ length: 1200 }, (_, index) => ({ artistId: index + 1 })), { maxLimit: 1200 })
  t.equal((await many.names('/albums?limit=1200')).length, 1200)
  t.strictSame(many.artists.calls, listed(2))
  const rows = Array.from({ length: 50 }, (_, index) => ({ title: 'x'.repeat(200_000), artistId: index % 7 + 1 }))
  const views: NonNullable<HtmlOptions['views']> = { layout: defaultViews.layout }
  for (const options of [{}, { html: { views } }]) {
    const large = await play(t, rows, options)
    const found: string[] = []
    let next: string | undefined = '/albums'
    while (next !== undefined) {
      found.push(...await large.names(next))
      next = /<([^>]*)>; rel="next"/.exec(String((await large.app.inject({ url: next, headers: { accept: 'text/html' } })).headers.link))?.[1]
    }
    t.strictSame(found, [...Array(50).keys()].map((index) => `Artist <${index % 7 + 1}>`))
  }
})

t.test('a row that the request may not see is shown by its id, without a link', async (t) => {
  const asked: unknown[] = []
  const { names, app } = await play(t, [{ artistId: 1 }, { artistId: 2 }, { artistId: 3 }], {}, {
    scope: ({ headers }: FastifyRequest): Record<string, boolean> => headers.user === 'ann' ? {} : { secret: false },
    authorize: (_request, { action, id, resource }) => { asked.push([action, id, resource]); return id !== 3 && action === 'show' }
  })
  t.strictSame(await names('/albums'), ['Artist <1>', 'Artist <2>'])
  t.strictSame(asked.filter((question) => String(question).startsWith('show')), [1, 2, 3].map((id) => ['show', id, 'artists']))
  t.strictSame(await names('/albums', 'bob'), ['Artist <1>'])
  t.match((await app.inject({ url: '/albums', headers: { accept: 'text/html', user: 'bob' } })).body, '<td data-label="Artist" dir="auto">2</td>')
  t.strictSame(await names('/albums/3'), [])
})

t.test('an error of the store of a referenced row is one of the page, and it is freed of its source', async (t) => {
  const broken: Store = { ...memoryStore(), list () { throw new Error('broken') } }
  const { app } = await play(t, [{ artistId: 1 }], {}, { store: broken })
  t.equal((await app.inject({ url: '/albums', headers: { accept: 'text/html' } })).statusCode, 500)
  const large = await play(t, Array.from({ length: 50 }, () => ({ title: 'x'.repeat(200_000), artistId: 1 })))
  t.equal((await large.app.inject({ method: 'HEAD', url: '/albums', headers: { accept: 'text/html' } })).body, '', 'a HEAD reads no further rows')
})

t.test('a page without a row, and a value that no row can have as its id, have no links', async (t) => {
  const { app, names, artists } = await play(t, [{ artistId: 1.5 }, { artistId: 2 }], { formPages: true }, { hooks: { preHandler: async () => {} } })
  const { body } = await app.inject({ url: '/albums', headers: { accept: 'text/html' } })
  t.strictSame([...body.matchAll(/<a href="(\/artists\/[^"]*)">/g)].map(([, href]) => href), ['/artists/2'])
  t.strictSame(await names('/albums/new'), [])
  const created = await app.inject({ method: 'POST', url: '/albums', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload: 'album[title]=T' })
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
  const writer: Writer = { prepare, record: write, problem: () => '', page: (rows) => rows.map(write).join(''), title: write, table: (rows) => rows.map(write).join('') }
  const own: Format = { name: 'own', mediaTypes: ['text/html'], browser: true, compileWriter: () => writer }
  const attributes = { type: 'object', properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true }, artistId: { type: 'integer' } } } as const
  const [artists, albums] = [memoryStore(), memoryStore()]
  artists.create({ name: 'Ann', secret: 'swordfish' }, {})
  albums.create({ name: 'A', secret: 'swordfish', artistId: 1 }, {})
  const app = await draft(t, (map) => {
    map.resources('artists', { attributes, store: artists, formats: [own] })
    map.resources('albums', { attributes, store: albums, references: { artistId: 'artists' }, formats: [own] })
  })
  for (const url of ['/artists/1', '/albums/1']) t.match(await app.inject(url), { statusCode: 200, body: 'row' })
  t.strictSame(seen.sort(), ['{"name":"A","artistId":1}', '{"name":"A","artistId":1}', '{"name":"Ann"}', '{"name":"Ann"}', '{"name":"Ann"}'], 'as a link, in a table and as a choice')
})
