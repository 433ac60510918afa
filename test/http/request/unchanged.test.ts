import fastify from 'fastify'
import t from 'tap'
import resources, { memoryStore, type MemoryStore, type Store } from '../../../lib/index.js'
import { build, draft, types, xml as declaration } from '../../support/helper.js'
import { fill, findForm, submit } from '../../support/html/forms.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    price: { type: 'string', format: 'decimal' },
    at: { type: 'string', format: 'date-time' },
    data: { type: 'string', contentEncoding: 'base64' },
    any: {},
    tags: { type: 'array', items: { type: 'string' } },
    author: { type: 'object', properties: { first_name: { type: 'string' }, since: { type: 'string', readOnly: true }, pin: { type: 'string', writeOnly: true } } },
    secret: { type: 'string', writeOnly: true }
  }
} as const

const ROW = {
  title: 'T',
  rating: 9,
  price: '1.10',
  at: '2026-01-31T12:00:00.50+02:00',
  data: 'YWJj',
  any: { a: [1, 'x', null, true] },
  tags: ['a', 'b'],
  author: { first_name: 'A', since: '2020', pin: '1' },
  secret: 's'
}

type App = Awaited<ReturnType<typeof build>>

function make (row: object = ROW): MemoryStore {
  const store = memoryStore()
  store.create({ ...row }, {})
  return store
}

/** Notes the changes of each update that a store is asked for. */
function noting (store: MemoryStore): { readonly store: Store, readonly updates: object[] } {
  const updates: object[] = []
  return { store: { ...store, update: (id, changes, guard) => { updates.push(changes); return store.update(id, changes, guard) } }, updates }
}

function put (app: App, content: string, headers: Readonly<Record<string, string>> = {}, singular = 'post') {
  return app.inject({ method: 'PUT', url: `/${singular}s`, headers: { 'content-type': 'application/xml', ...headers }, payload: `<${singular}><id>1</id>${content}</${singular}>` })
}

t.test('of what XML sends, only what differs from the row is written', async (t) => {
  const cases: ReadonlyArray<readonly [content: string, changed: object | undefined]> = [
    ['', undefined],
    ['<title>T</title>', undefined],
    ['<title type="string">T</title>', undefined],
    ['<title>U</title><rating type="integer">9</rating>', { title: 'U' }],
    ['<rating>9</rating>', undefined],
    ['<rating type="integer">4</rating>', { rating: 4 }],
    ['<rating nil="true"/>', { rating: null }],
    ['<price type="decimal">1.1</price>', undefined],
    ['<price type="float">1.1</price>', undefined],
    ['<price>1.1</price>', { price: '1.1' }],
    ['<price type="decimal">1.11</price>', { price: '1.11' }],
    ['<at type="dateTime">2026-01-31T10:00:00.5Z</at>', undefined],
    ['<at type="datetime">2026-01-31T10:00:00Z</at>', undefined],
    ['<at type="dateTime">2026-01-31T10:00:00Z</at>', undefined],
    ['<at type="dateTime">2026-01-31T10:00:00.4Z</at>', { at: '2026-01-31T10:00:00.4Z' }],
    ['<at type="dateTime">2026-01-31T10:00:01Z</at>', { at: '2026-01-31T10:00:01Z' }],
    ['<at>2026-01-31T10:00:00.5Z</at>', { at: '2026-01-31T10:00:00.5Z' }],
    ['<data>YWJj</data>', undefined],
    ['<data type="base64Binary"> YWJj\n</data>', undefined],
    ['<any>{"a":[1,"x",null,true]}</any>', undefined],
    ['<any><a type="array"><a type="float">1.0</a><a>x</a><a nil="true"></a><a type="boolean">true</a></a></any>', undefined],
    ['<any><a type="array"><a type="float">1.0</a><a>y</a><a nil="true"></a><a type="boolean">true</a></a></any>', { any: { a: [1, 'y', null, true] } }],
    ['<tags type="array"><tag>a</tag><tag>b</tag></tags>', undefined],
    ['<tags type="array"><tag>a</tag></tags>', { tags: ['a'] }],
    ['<author><first-name>A</first-name><since>2020</since></author>', undefined],
    ['<author><first_name>A</first_name><since>1999</since></author>', undefined],
    ['<author><first_name>B</first_name></author>', { author: { first_name: 'B' } }],
    ['<author><first_name>A</first_name><pin>1</pin></author>', { author: { first_name: 'A', pin: '1' } }],
    ['<secret>s</secret>', { secret: 's' }]
  ]
  for (const [content, changed] of cases) {
    const { store, updates } = noting(make())
    const app = await build(t, { name: 'posts', attributes, store })
    const answer = await put(app, content)
    t.match(answer, { statusCode: 200, headers: { etag: changed === undefined ? /^"1\.xml-/ : /^"2\.xml-/ } }, content)
    t.strictSame(updates, changed === undefined ? [] : [changed], content)
  }
})

t.test('a value that does not fit its schema is refused unless the row has it', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: make({ title: 5, rating: 9, tags: [1] }) })
  const { body } = await app.inject('/posts/1.xml')
  const whole = body.slice(declaration.length).replace('<id type="integer">1</id>', '').replaceAll(/<\/?post>/g, '')
  t.match(await put(app, whole), { statusCode: 200, headers: { etag: /^"1\.xml-/ } }, whole)
  t.match(await put(app, '<rating>8</rating>'), { statusCode: 422, body: 'Rating must be at most 5' })
  t.match(await put(app, '<rating>9</rating><titel>x</titel>'), { statusCode: 422, body: 'Titel is unknown' })
  t.match(await put(app, '<rating>9</rating><tags type="array"><tag type="integer">2</tag></tags>'), { statusCode: 422 })
  t.match(await app.inject({ method: 'PUT', url: '/posts', headers: { 'content-type': 'application/xml' }, payload: '<post><id>2</id><rating>9</rating></post>' }), { statusCode: 422 })
  t.match(await put(app, '<rating>9</rating>', { 'if-match': '"7"' }), { statusCode: 412 })
})

t.test('nothing is written where nothing differs, and preconditions come first', async (t) => {
  const store = make()
  const app = await build(t, { name: 'posts', attributes, store })
  t.match(await put(app, '<title>T</title>', { 'if-match': '"1.xml"' }), { statusCode: 200, headers: { etag: /^"1\.xml-/ } })
  t.match(await put(app, '<title>T</title>', { 'if-match': '"0.xml"' }), { statusCode: 412, headers: { etag: /^"1\.xml-/ } })
  t.match(await put(app, '<title>T</title>', { 'if-none-match': '*' }), { statusCode: 412 })
  t.match(await app.inject({ method: 'PUT', url: '/posts', headers: { 'content-type': 'application/xml' }, payload: '<post><id>2</id><title>T</title></post>' }), { statusCode: 404 })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: {} } }), { statusCode: 200, headers: { etag: /^"1\.json-/ } })
  t.match(await app.inject({ method: 'PUT', url: '/posts', headers: { 'if-match': '"0"' }, payload: { id: 1, post: {} } }), { statusCode: 412 })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 2, post: {} } }), { statusCode: 404 })
  const demanding = await build(t, { name: 'posts', attributes, store, requireMatch: true })
  t.match(await put(demanding, '<title>T</title>'), { statusCode: 428 })
  t.equal(store.get(1, {})?.version, '1')
})

t.test('an unchanged form writes nothing, and a changed one only what was changed', async (t) => {
  const { store, updates } = noting(make())
  const app = await build(t, { name: 'posts', attributes, store })
  const edit = async () => findForm(await app.inject('/posts/1.html'), 'PUT')
  const html = { accept: 'text/html' }
  t.match(await app.inject(submit(await edit(), undefined, html)), { statusCode: 303 })
  t.strictSame(updates, [])
  const stale = await edit()
  t.match(await app.inject(submit(fill(await edit(), { 'post[title]': 'U' }), undefined, html)), { statusCode: 303 })
  t.strictSame(updates, [{ title: 'U' }])
  t.match(await app.inject(submit(stale, undefined, html)), { statusCode: 412 }, 'an unchanged form of another version')
  const removal = await edit()
  t.match(await app.inject(submit(fill(removal, { 'post[secret][?]': true }), undefined, html)), { statusCode: 303 })
  t.strictSame(updates[1], { secret: undefined }, 'a value that is never shown can be removed')
})

t.test('singletons and open attributes are compared too', async (t) => {
  for (const path of ['/profile', '/notes']) {
    const { store, updates } = noting(make({ first_name: 'A', n: 5, list: [1], empty: '', none: null }))
    const app = await draft(t, (map) => path === '/notes' ? map.resources('notes', { store }) : map.resource('profile', { store }))
    const { body } = await app.inject({ url: path === '/notes' ? '/notes/1' : path, headers: { accept: 'application/xml' } })
    const send = (payload: string) => app.inject({ method: 'PUT', url: path, headers: { 'content-type': 'application/xml' }, payload })
    t.equal((await send(body)).statusCode, 200, body)
    t.strictSame(updates, [])
    t.equal((await send(body.replace('<n type="integer">5<', '<n type="integer">6<'))).statusCode, 200)
    t.strictSame(updates, [{ n: 6 }])
    t.equal((await send(body.replace('<n type="integer">5<', '<new>x</new><n type="integer">6<'))).statusCode, 200)
    t.strictSame(updates[1], { new: 'x' })
  }
})

t.test('a row that changes before the write is compared again', async (t) => {
  const inner = make()
  const updates: object[] = []
  let races = 0
  const store: Store = {
    ...inner,
    update (id, changes, guard) {
      // Another client gives the row what this one sends, or the opposite.
      if (races > 0) inner.update(id, { title: --races % 2 === 0 ? 'T' : 'U', rating: races }, { version: undefined, scope: {} })
      updates.push(changes)
      return inner.update(id, changes, guard)
    }
  }
  for (const authorize of [undefined, () => true]) {
    const app = await build(t, { name: 'posts', attributes, store, ...(authorize && { authorize }) })
    const version = () => Number(inner.get(1, {})?.version)
    inner.update(1, { title: 'U', rating: 1 }, { version: undefined, scope: {} })
    updates.length = 0
    races = 1
    const before = version()
    t.equal((await put(app, '<title>T</title><rating>0</rating>')).statusCode, 200)
    t.strictSame(updates, [{ title: 'T', rating: 0 }], 'the other client has written the same')
    t.equal(version(), before + 1)
    races = 2
    updates.length = 0
    t.equal((await put(app, '<title>U</title><rating>0</rating>')).statusCode, 200)
    t.strictSame(updates, [{ title: 'U' }, { rating: 0 }, { title: 'U' }], 'what the other client has written is compared')
    t.match(inner.get(1, {})?.attributes, { title: 'U', rating: 0 })
  }
  races = Infinity
  const app = await build(t, { name: 'posts', attributes, store })
  t.equal((await put(app, '<price>5</price>')).statusCode, 503, 'it ends')
  races = 1
  t.equal((await put(app, '<price>5</price>', { 'if-match': `"${inner.get(1, {})?.version}"` })).statusCode, 412)
})

t.test('a handler gets what was sent, and proceed() compares', async (t) => {
  const { store, updates } = noting(make())
  const seen: unknown[] = []
  const app = await build(t, {
    name: 'posts',
    attributes,
    store,
    actions: {
      update: async ({ attributes, proceed }) => {
        seen.push({ ...attributes })
        return proceed()
      }
    }
  })
  t.equal((await put(app, '<title>T</title><rating>9</rating>')).statusCode, 200)
  t.strictSame([seen, updates], [[{ title: 'T' }], []])
  t.equal((await put(app, '<title>T</title><rating>3</rating>')).statusCode, 200)
  t.strictSame([seen[1], updates], [{ title: 'T', rating: 3 }, [{ rating: 3 }]])
  t.match(await put(app, '<title>T</title>', { 'if-match': '"9"' }), { statusCode: 412 })
})

t.test('what a hook makes of a value is compared, and not what was sent', async (t) => {
  const { store, updates } = noting(make())
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, {
    name: 'posts',
    attributes,
    store,
    hooks: {
      preHandler: (request, _reply, done) => {
        const { post } = request.body as { post: Record<string, unknown> }
        post.title = 'hooked'
        ;(post.any as { a: unknown[] } | undefined)?.a.pop()
        done()
      }
    }
  })
  t.equal((await put(app, '<title>T</title><any><a type="array"><a type="float">1.0</a><a>x</a><a nil="true"></a><a type="boolean">true</a></a></any>')).statusCode, 200)
  t.strictSame(updates, [{ title: 'hooked', any: { a: [1, 'x', null] } }])
})

t.test('JSON writes what it names', async (t) => {
  const { store, updates } = noting(make())
  const app = await build(t, { name: 'posts', attributes, store })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'T' } } }), { statusCode: 200, headers: { etag: /^"2\.json-/, 'content-type': types.json } })
  t.strictSame(updates, [{ title: 'T' }])
})
