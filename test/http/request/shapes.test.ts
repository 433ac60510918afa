import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { type Attributes, memoryStore, type ResourceOptions } from '../../../lib/index.js'
import { build, draft, types } from '../../support/helper.js'
import type { AnyContext } from '../../support/map-action.js'

const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const

function seeded (): ReturnType<typeof memoryStore<Attributes>> {
  const store = memoryStore<Attributes>()
  store.create({ title: 'Tea', price: '1.50' }, {})
  return store
}

const price = (scale: number): object => ({ type: 'object', properties: { ...attributes.properties, price: { type: 'string', format: 'decimal', scale } } })

/** What differs between two starts of an app, and the formats whose documents differ then. */
const CHANGES: ReadonlyArray<readonly [what: string, before: object, after: object, formats: readonly string[]]> = [
  ['nothing', {}, {}, []],
  ['a new attribute', { attributes }, { attributes: price(2) }, ['xml', 'html', 'json']],
  ['the scale of a decimal', { attributes: price(2) }, { attributes: price(3) }, ['xml', 'html', 'json']],
  ['an attribute that is hidden', { attributes: price(2) }, { attributes: { type: 'object', properties: { ...attributes.properties, price: { type: 'string', writeOnly: true } } } }, ['xml', 'html', 'json']],
  ['the language', { html: { lang: 'de' } }, { html: { lang: 'fr' } }, ['html']],
  ['a word', { html: { messages: { edit: () => 'Edit' } } }, { html: { messages: { edit: () => 'Change' } } }, ['html']],
  ['the colour', { html: { accent: '#123' } }, { html: { accent: '#456' } }, ['html']],
  ['the actions', {}, { only: ['show'] }, ['html']],
  ['the singular name', {}, { singular: 'entry' }, ['xml', 'html', 'json']],
  ['a format', { formats: ['xml', 'html', 'json'] }, { formats: ['json', 'html', 'xml', 'csv'] }, ['html']],
  ['who may write', {}, { requireMatch: true }, []]
]

t.test('a tag changes when the representation does, and only then', async (t) => {
  for (const [what, before, after, formats] of CHANGES) {
    const [old, new_] = [await build(t, { name: 'posts', attributes, store: seeded(), ...before } as ResourceOptions), await build(t, { name: 'posts', attributes, store: seeded(), ...after } as ResourceOptions)]
    for (const format of ['xml', 'html', 'json']) {
      const { headers: { etag } } = await old.inject(`/posts/1.${format}`)
      const answer = await new_.inject({ url: `/posts/1.${format}`, headers: { 'if-none-match': String(etag) } })
      t.strictSame([answer.statusCode, answer.headers.etag !== etag], formats.includes(format) ? [200, true] : [304, false], `${what}: ${format}`)
      t.match(etag, new RegExp(`^"1\\.${format}-[\\da-f]{8}"$`))
    }
    const { headers: { etag } } = await old.inject('/posts/1.html')
    const written = await new_.inject({ method: 'DELETE', url: '/posts.json?id=1', headers: { 'if-match': String(etag) } })
    t.equal(written.statusCode, what === 'the actions' ? 404 : 204, 'a write compares the version alone')
  }
})

t.test('a format of the app says by its settings when it writes differently', async (t) => {
  const shapeOf = async (settings: unknown): Promise<unknown> => {
    const text = { name: 'text', mediaTypes: ['text/plain'], settings, compileWriter: () => ({ record: () => '', problem: () => '', list: { open: '', row: () => '', separator: '', close: '' } }) }
    const app = await build(t, { name: 'posts', attributes, store: seeded(), formats: [text] })
    return (await app.inject('/posts/1')).headers.etag
  }
  t.equal(await shapeOf(undefined), await shapeOf(undefined))
  t.not(await shapeOf(1), await shapeOf(2))
  t.not(await shapeOf({ write: () => 'a' }), await shapeOf({ write: () => 'b' }))
})

const READS: ReadonlyArray<readonly [url: string, tag: string, status: number]> = [
  ['/posts/1.json', '*', 200], ['/posts/1.json', 'own', 200], ['/posts/1.json', '"x", own', 200], ['/posts/1.json', 'W/own', 412],
  ['/posts/1.json', '"1"', 412], ['/posts/1.json', '"1.json"', 412], ['/posts/1.json', '"x"', 412], ['/posts/1.json', 'x', 400],
  ['/posts/1/edit.json', 'own', 200], ['/posts/1/edit.json', '"x"', 412],
  ['/posts/1.json?include=comments', '*', 200], ['/posts/1.json?include=comments', '"x"', 412],
  ['/posts/9.json', '"x"', 404], ['/posts/9.json', '*', 404], ['/posts/1.json?x=1', '"x"', 400],
  ['/posts.json', '*', 200], ['/posts.json', '"x"', 412], ['/posts.json', 'x', 400], ['/posts.json?limit=1', '"x"', 412],
  ['/posts/new.json', '"x"', 412], ['/posts/new.json', '*', 200],
  ['/posts/1/look.json', 'own', 200], ['/posts/1/look.json', '"x"', 412], ['/posts/own.json', '"own"', 200], ['/posts/own.json', '"x"', 412], ['/posts/weak.json', 'W/"own"', 412],
  ['/posts/1.html', '*', 200], ['/posts/1.html', '"x"', 412], ['/posts.html', '"x"', 412],
  ['/posts.xsd', 'own', 200], ['/posts.xsd', '"x"', 412]
]

t.test('a GET or HEAD whose answer does not have a tag of If-Match is a 412', async (t) => {
  let open = 0
  const many = {
    ...seeded(),
    async * list () {
      open++
      try {
        for (let id = 1; id < 4; id++) yield [{ id, version: '1', attributes: { title: 'Tea' } }]
      } finally { open-- }
    }
  }
  const tagged = (etag: string) => ({ reply, store }: AnyContext) => { reply.header('etag', etag); return store.get(1, {}, {} as never) }
  const app = await draft(t, (map) => map.resources('posts', { attributes, store: many as never, formPages: true, xsd: true }, (posts) => {
    posts.resources('comments', { attributes })
    posts.member.get('look', ({ row }) => row()).collection.get('own', tagged('"own"') as never).collection.get('weak', tagged('W/"own"') as never)
  }))
  for (const [url, tag, status] of READS) {
    const own = String((await app.inject(url)).headers.etag)
    for (const method of ['GET', 'HEAD'] as const) {
      const answer: LightMyRequestResponse = await app.inject({ method, url, headers: { 'if-match': tag.replace('own', tag.includes('"own"') ? 'own' : own) } })
      t.equal(answer.statusCode, status, `${method} ${url} ${tag}`)
      if (status === 412 && !url.endsWith('xsd')) {
        t.strictSame([answer.headers.etag, answer.headers['content-type']], [undefined, url.includes('html') ? types.html : types.problem])
        if (method === 'GET' && !url.includes('html')) t.match(answer.json(), { title: 'Precondition Failed', detail: /^the (?:post|list) does not meet the If-Match, / })
      }
    }
  }
  t.equal(open, 0, 'no list stays open')
  const both = await app.inject({ url: '/posts/1.json', headers: { 'if-match': '"x"', 'if-none-match': '*' } })
  t.equal(both.statusCode, 412, 'If-Match comes first')
})

t.test('a text with a byte order mark has a tag of its own, whose version a write accepts', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: seeded(), formats: ['json', 'csv'] })
  const [plain, marked] = [await app.inject('/posts/1?format=csv'), await app.inject('/posts/1?format=csv-bom')].map(({ headers }) => String(headers.etag))
  t.not(marked, plain)
  t.equal((await app.inject({ method: 'PUT', url: '/posts', headers: { 'if-match': String(marked) }, payload: { id: 1, post: {} } })).statusCode, 200)
})

t.test('an id with a dot is told from a format', async (t) => {
  const rows = new Map<string, object>()
  const app = await draft(t, (map) => map.resource('profile', { attributes, id: 'string', only: ['show', 'update'], actions: { show: ({ request }) => rows.get(String(request.headers['x-id'])) as never, update: ({ guardFor, request }) => guardFor(rows.get(String(request.headers['x-id'])) as never).version === '' ? { kind: 'stale', row: rows.get('a') as never } : { id: 'a', attributes: {} } } }))
  for (const id of ['a', 'a.json', 'a.json-12345678', 'a.b', 'a-b']) rows.set(id, { id, version: '12345678', attributes: { title: id } })
  for (const id of rows.keys()) {
    const { headers: { etag } } = await app.inject({ url: '/profile.json', headers: { 'x-id': id } })
    for (const other of rows.keys()) {
      const write = (tag: string): Promise<LightMyRequestResponse> => app.inject({ method: 'PUT', url: '/profile.json', headers: { 'x-id': other, 'if-match': tag }, payload: { profile: {} } })
      for (const tag of [String(etag), String(etag).replace(/\.json-[\da-f]{8}"$/, '"')]) t.equal((await write(tag)).statusCode, id === other ? 200 : 412, `${tag} of ${other}`)
    }
  }
})
