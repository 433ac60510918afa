import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import Database from 'libsql'
import t from 'tap'
import { json } from '../../../lib/core/formats/json/json.js'
import resources, { type DeclaredOptions } from '../../../lib/index.js'
import { sqliteStore, type SqliteStore } from '../../../lib/sql/sqlite/index.js'
import { openEngines } from '../../support/stores/sql-engines.js'

const properties = {
  name: { type: 'string' },
  pin: { type: ['string', 'null'], writeOnly: true },
  settings: { type: ['object', 'null'], properties: { theme: { type: 'string' }, key: { type: 'string', writeOnly: true } } }
} as const
const attributes = { type: 'object', properties } as const
/** The store keeps an attribute that the resource does not have. */
const kept = { type: 'object', properties: { ...properties, owner: { type: ['string', 'null'] } } } as const
const table = { table: 'cards', attributes: kept, version: 'values', migrate: true } as const
const HIDDEN = ["pin = '4711'", "owner = 'bob'", 'settings = \'{"theme":"dark","key":"k2"}\'', 'pin = NULL, owner = NULL']

interface Served { readonly app: FastifyInstance, readonly ask: (options: InjectOptions) => Promise<LightMyRequestResponse> }

async function serve (store: object, options: object = {}): Promise<Served> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'cards', attributes, store, ...options } as DeclaredOptions & { name: string })
  await app.ready()
  return { app, ask: async (options) => app.inject({ url: '/cards', ...options, headers: { accept: 'application/json', ...options.headers } }) }
}

const versionIn = (page: string): string => /name="_version" value="([^"]*)"/.exec(page)?.[1] ?? ''

t.test('no version that leaves the server depends on hidden values', async (t) => {
  for (const engine of await openEngines()) {
    const { app, ask } = await serve(engine.store(table), { formPages: true })
    await ask({ method: 'POST', payload: { card: { name: 'Ann', pin: '1234', settings: { theme: 'dark', key: 'k' } } } })
    const [{ headers }, page, stale] = [await ask({ url: '/cards/1' }), await app.inject('/cards/1/edit.html'), await ask({ method: 'PUT', headers: { 'if-match': '"0"' }, payload: { id: 1, card: {} } })]
    t.match([headers.etag, versionIn(page.body), stale.statusCode, stale.headers.etag], [/^"[\da-f]{40}\.json/, /^[\da-f]{40}$/, 412, headers.etag])
    for (const change of HIDDEN) {
      await engine.run(`UPDATE cards SET ${change} WHERE id = 1`)
      t.equal((await ask({ url: '/cards/1' })).headers.etag, headers.etag, `${engine.name} ${change}`)
      t.equal(versionIn((await app.inject('/cards/1/edit.html')).body), versionIn(page.body), 'the form')
    }
    await engine.run("UPDATE cards SET name = 'Bob' WHERE id = 1")
    const changed = await ask({ url: '/cards/1' })
    t.not(changed.headers.etag, headers.etag, 'a visible change is another version')
    const put = async (etag: unknown): Promise<LightMyRequestResponse> => ask({ method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { pin: '9' } } })
    t.equal((await put(headers.etag)).statusCode, 412)
    t.match([(await put(changed.headers.etag)).statusCode, (await put(changed.headers.etag)).statusCode], [200, 200], 'a hidden change keeps the version')
    t.equal((await ask({ method: 'DELETE', headers: { 'if-match': String(changed.headers.etag) }, url: '/cards?id=1' })).statusCode, 204)
  }
})

t.test('where nothing is hidden, the version is that of the store', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({ database, table: 'cards', version: 'values', migrate: true, attributes: { type: 'object', properties: { name: { type: 'string' } } } })
  const { ask } = await serve(store, { attributes: undefined })
  const { headers } = await ask({ method: 'POST', payload: { card: { name: 'Ann' } } })
  t.equal(String(headers.etag).slice(1, 41), (await store.get(1, {}))?.version)
  t.equal(store.versions, 'values')
})

t.test('a write is refused if a hidden value changes after authorize has read the row', async (t) => {
  const database = new Database(':memory:')
  const store: SqliteStore = sqliteStore({ ...table, database })
  let asked = 0
  const { ask } = await serve(store, {
    authorize: async (_request: unknown, { action, row }: { action: string, row?: () => { attributes: { owner?: unknown } } }) => {
      if (action !== 'update') return true
      const { attributes: { owner } } = await row?.() ?? { attributes: {} }
      if (asked++ === 0) database.exec("UPDATE cards SET owner = 'bob'")
      return owner !== 'bob'
    }
  })
  await store.create({ name: 'Ann', owner: 'ann' }, {})
  const { headers: { etag } } = await ask({ url: '/cards/1' })
  const answer = await ask({ method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { name: 'Eve' } } })
  t.match([answer.statusCode, asked, await store.get(1, {})], [403, 2, { attributes: { name: 'Ann', owner: 'bob' } }])
})

t.test('handlers, views and formats of the app get the version that clients know', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({ ...table, database })
  const seen = new Set<string>()
  const note = (row: { version: string }): string => { seen.add(row.version); return '' }
  const text = { name: 'text', mediaTypes: ['text/plain'], compileWriter: () => ({ record: note, problem: () => '', list: { open: '', row: note, separator: '', close: '' } }) }
  const own = { ...json(), hidesWriteOnly: false, name: 'own', mediaTypes: ['application/own+json'], compileWriter: () => ({ document: (row: { version: string }) => ({ is: note(row) }), serialize: JSON.stringify, problemType: 'application/problem+json', list: { open: '', row: note, separator: '', close: '' } }) }
  const { app, ask } = await serve(store, {
    formats: ['json', 'html', text, own],
    html: { views: { list: ({ rows }: { rows: Array<{ version: string }> }) => rows.map(note).join('') } },
    actions: {
      update: async ({ store, id, attributes, guardFor, row }: { store: SqliteStore, id: number, attributes: object, guardFor: (row: object) => never, row: () => object }) =>
        store.update(id, attributes, guardFor(await row()))
    }
  })
  const { version } = await store.create({ name: 'Ann', pin: '1234' }, {})
  for (const path of ['/cards/1.text', '/cards.text', '/cards/1.own', '/cards.own', '/cards.html']) t.equal((await app.inject(path)).statusCode, 200, path)
  const { headers: { etag } } = await ask({ url: '/cards/1' })
  t.strictSame([...seen], [String(etag).slice(1, 41)])
  t.notOk(seen.has(version), 'the version of the store stays inside')
  const put = async (etag: unknown): Promise<LightMyRequestResponse> => ask({ method: 'PUT', headers: { 'if-match': String(etag) }, payload: { id: 1, card: { name: 'Bob' } } })
  const written = await put(etag)
  t.match([written.statusCode, (await put(etag)).statusCode], [200, 412])
  t.equal((await ask({ url: '/cards/1' })).headers.etag, written.headers.etag)
})
