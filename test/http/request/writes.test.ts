import fastify, { type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { applyMergePatch } from '../../../lib/core/formats/json/json.js'
import resources, { memoryStore, type MemoryStore, type ResourceOptions, type Store } from '../../../lib/index.js'
import { build, xml as declaration, draft, types } from '../../support/helper.js'
import { fill, findForm, submit } from '../../support/html/forms.js'

const MERGE = 'application/merge-patch+json'

const patchable = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1 },
    rating: { type: 'integer' },
    price: { type: ['number', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    at: { type: 'string', readOnly: true },
    author: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1 },
        mail: { type: 'string' },
        age: { type: 'integer', default: 30 },
        secret: { type: 'string', writeOnly: true },
        since: { type: 'string', readOnly: true },
        address: { type: 'object', additionalProperties: { type: 'string' } }
      }
    }
  }
} as const

const PATCHABLE = {
  title: 'T',
  rating: 5,
  price: 2,
  tags: ['a'],
  author: { name: 'N', mail: 'm', age: 40, secret: 's', since: '2020', address: { city: 'Lima', zip: '1' } }
}

interface Patched {
  readonly store: Store
  patch (post: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  stored (): unknown
}

async function patched (
  t: Test, options: Partial<ResourceOptions> = {}, row: Record<string, unknown> = PATCHABLE
): Promise<Patched> {
  const own = memoryStore<any>()
  own.create(row, {})
  const { store = own } = options
  const app = await build(t,
    { name: 'posts', attributes: patchable, writes: 'both', ...options, store } as ResourceOptions)
  return {
    store: own as Store,
    patch: (post, headers = {}) => app.inject({
      method: 'PATCH',
      url: '/posts/1',
      headers: { accept: 'application/json', 'content-type': MERGE, ...headers },
      payload: JSON.stringify({ post })
    }),
    stored: () => own.get(1, {})?.attributes
  }
}

t.test('a merge patch is applied as RFC 7396 says', async (t) => {
  // The examples of its appendix A.
  const cases: ReadonlyArray<readonly [value: unknown, patch: unknown, result: unknown]> = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [['a', 'b'], ['c', 'd'], ['c', 'd']],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [undefined, JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')]
  ]
  for (const [value, patch, result] of cases) t.strictSame(applyMergePatch(value, patch), result, JSON.stringify(patch))
})

t.test('a merge patch removes, changes and merges attributes', async (t) => {
  const { author } = PATCHABLE
  const cases: ReadonlyArray<readonly [name: string, post: Record<string, unknown>,
    changed: Record<string, unknown>]> = [
      ['an optional attribute is removed', { rating: null }, { rating: undefined }],
      ['null is set where the schema allows it', { price: null }, { price: null }],
      ['an array is removed', { tags: null }, { tags: undefined }],
      ['an array is replaced', { tags: ['b'] }, { tags: ['b'] }],
      ['an object is removed', { author: null }, { author: undefined }],
      ['a value is changed', { title: 'U', rating: 6 }, { title: 'U', rating: 6 }],
      ['a member is changed, and the others stay, also those that the client cannot see or write',
        { author: { mail: 'n' } }, { author: { ...author, mail: 'n' } }],
      ['a member is removed', { author: { mail: null }, rating: 1 },
        { author: { name: 'N', age: 40, secret: 's', since: '2020', address: author.address }, rating: 1 }],
      ['a default is filled in again', { author: { age: null } }, { author: { ...author, age: 30 } }],
      ['objects are merged at any depth', { author: { address: { zip: null, street: 'S' } } },
        { author: { ...author, address: { city: 'Lima', street: 'S' } } }],
      ['a read-only member is ignored', { author: { since: '1999', mail: 'n' }, at: null },
        { author: { ...author, mail: 'n' } }],
      ['nothing is changed', {}, {}]
    ]
  for (const [name, post, changed] of cases) {
    await t.test(name, async (t) => {
      const { patch, stored } = await patched(t)
      const answer = await patch(post)
      t.match(answer, {
        statusCode: 200,
        headers: { 'content-type': types.json, etag: Object.keys(changed).length === 0 ? /^"1\.json-/ : /^"2\.json-/ }
      }, answer.body)
      const { ...expected } = { ...PATCHABLE, ...changed }
      for (const name of Object.keys(expected)) {
        if (expected[name as keyof typeof expected] === undefined) delete expected[name as keyof typeof expected]
      }
      t.strictSame(stored(), expected)
    })
  }
})

t.test('merged values keep to the limits of values that are sent whole', async (t) => {
  const members = (prefix: string, count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]))
  const app = await draft(t, (map) => {
    map.resources('posts', {
      attributes: { type: 'object', properties: { meta: {} } }, store: memoryStore(), writes: 'member'
    })
    map.resources('notes', { store: memoryStore(), writes: 'member' })
  })
  for (const [path, group] of [['/posts', 'post'], ['/notes', 'note']] as const) {
    await app.inject({ method: 'POST', url: path, payload: { [group]: { meta: members('a', 60) } } })
    const patch = (meta: object): Promise<LightMyRequestResponse> => app.inject({
      method: 'PATCH',
      url: `${path}/1`,
      headers: { accept: 'application/json', 'content-type': MERGE },
      payload: JSON.stringify({ [group]: { meta } })
    })
    t.equal((await patch(members('b', 40))).statusCode, 200)
    const refused = await patch({ c: 1 })
    t.strictSame([refused.statusCode, refused.json().errors], [422, { meta: ['must not have more than 100 names'] }])
    t.equal((await patch({ a0: null, c: 1 })).statusCode, 200)
    const read = await app.inject({ url: `${path}/1`, headers: { accept: 'application/json' } })
    t.equal((await app.inject({
      method: 'PUT', url: `${path}/1`, headers: { accept: 'application/json' }, payload: read.json()
    })).statusCode, 200, 'a client can send back what it reads')
  }
})

t.test('a merge patch is checked', async (t) => {
  const cases: ReadonlyArray<readonly [post: unknown, errors: Record<string, string[]>]> = [
    [{ title: null }, { title: ['must not be blank'] }],
    [{ title: 5 }, { title: ['must be a string'] }],
    [{ titel: null }, { titel: ['is unknown; did you mean "title"?'] }],
    [{ author: { name: null } }, { 'author.name': ['must be given'] }],
    [{ author: { name: '' }, rating: 'x' }, { 'author.name': ['must not be blank'], rating: ['must be an integer'] }],
    [{ author: { nmae: null } }, { 'author.nmae': ['is unknown; did you mean "name"?'] }],
    [{ title: { a: 1 } }, { title: ['must be a string'] }],
    [null, { post: ['must be a group of attributes'] }]
  ]
  const { patch, stored } = await patched(t)
  for (const [post, errors] of cases) {
    const answer = await patch(post)
    t.match(answer, { statusCode: 422, headers: { 'content-type': types.problem } })
    t.strictSame(answer.json().errors, errors)
  }
  t.strictSame(stored(), PATCHABLE)
})

t.test('an attribute without a schema is removed by null', async (t) => {
  const { patch, stored } = await patched(t, { attributes: undefined as never }, { a: 1, b: { c: 1, d: null } })
  t.equal((await patch({ a: null, b: { c: null, e: 2 } })).statusCode, 200)
  t.strictSame(stored(), { b: { d: null, e: 2 } })
})

t.test('of concurrent merges none is lost', async (t) => {
  for (const guard of [{}, { authorize: () => true }]) {
    const store = memoryStore<any>()
    store.create({ title: 'T', author: { name: 'N' } }, {})
    const slow: Store = {
      ...store as Store,
      get: async (...given) => {
        const row = store.get(...given)
        // Other requests read the same version of the row meanwhile.
        await new Promise(setImmediate)
        return row as never
      }
    }
    const { patch } = await patched(t, { store: slow, ...guard })
    const names = Array.from({ length: 10 }, (_, index) => `x${index}`)
    const answers = await Promise.all(names.map((name) => patch({ author: { address: { [name]: name } } })))
    t.strictSame(answers.map(({ statusCode }) => statusCode), names.map(() => 200))
    const { author } = store.get(1, {})?.attributes as typeof PATCHABLE
    t.strictSame(Object.keys(author.address).sort(), names)
  }
})

t.test('a merge patch keeps its precondition', async (t) => {
  const { patch, stored } = await patched(t)
  t.equal((await patch({ author: { mail: 'n' } }, { 'if-match': '"7.json"' })).statusCode, 412)
  t.strictSame(stored(), PATCHABLE)
  t.equal((await patch({ author: { mail: 'n' } }, { 'if-match': '"1.json"' })).statusCode, 200)
  t.equal((await patch({ author: { mail: null } }, { 'if-match': '"1.json"' })).statusCode, 412)
})

t.test('a merge patch of an unknown row is a 404', async (t) => {
  const store = memoryStore()
  const { patch } = await patched(t, { store })
  for (const post of [{ rating: null }, { author: { mail: null } }]) t.equal((await patch(post)).statusCode, 404)
})

t.test('a handler of the app receives merged attributes, and the guard of the row that was read', async (t) => {
  const seen: unknown[] = []
  const { patch, stored } = await patched(t, {
    actions: {
      update: ({ attributes, guard, proceed }) => {
        seen.push([attributes, guard.version])
        return proceed()
      }
    }
  })
  t.equal((await patch({ rating: null, author: { address: null } })).statusCode, 200)
  const { address, ...author } = PATCHABLE.author
  const { rating, ...others } = PATCHABLE
  t.strictSame(seen, [[{ rating: undefined, author }, '1']])
  t.strictSame(stored(), { ...others, author })
  t.equal((await patch({ author: { mail: 'n' } }, { 'if-match': '"2.json"' })).statusCode, 200)
})

t.test('a handler without a store gets no objects to merge', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: patchable,
    writes: 'both',
    actions: { update: ({ id, attributes }) => ({ id, attributes }) },
    only: ['update'],
    store: undefined as never
  })
  const patch = (post: unknown) => app.inject({
    method: 'PATCH',
    url: '/posts/1',
    headers: { accept: 'application/json', 'content-type': MERGE },
    payload: JSON.stringify({ post })
  })
  const refused = await patch({ author: { mail: null } })
  t.equal(refused.statusCode, 422)
  t.strictSame(refused.json().errors,
    { author: ['cannot be merged, because the resource has no store; send the whole value by PUT'] })
  t.match(await patch({ title: 'U', rating: null }), { statusCode: 200 })
})

t.test('a singleton is merged', async (t) => {
  const store = memoryStore<any>()
  store.create({ author: { name: 'N', mail: 'm' } }, {})
  const app = await draft(t, (map) => map.resource('profile', { attributes: patchable, writes: 'member', store }))
  const answer = await app.inject({
    method: 'PATCH',
    url: '/profile',
    headers: { accept: 'application/json', 'content-type': MERGE },
    payload: '{"profile":{"author":{"mail":null}}}'
  })
  t.match(answer, { statusCode: 200 }, answer.body)
  t.strictSame(store.get(1, {})?.attributes, { author: { name: 'N', age: 30 } })
})

t.test('only a PATCH of a row has merge patches, and Accept-Patch names them', async (t) => {
  const others = 'application/xml, text/xml, application/json, application/x-www-form-urlencoded'
  const app = await build(t, { name: 'posts', attributes: patchable, writes: 'both' })
  const merge = { 'content-type': MERGE, accept: 'application/json' }
  const payload = '{"post":{"title":"T"}}'
  for (const [method, url] of [['POST', '/posts'], ['PUT', '/posts'], ['PUT', '/posts/1']] as const) {
    t.match(await app.inject({ method, url, headers: merge, payload }),
      { statusCode: 415, headers: { accept: others, 'accept-patch': undefined } }, `${method} ${url}`)
  }
  t.match(await app.inject({
    method: 'PATCH',
    url: '/posts/1',
    headers: { ...merge, 'content-type': 'application/json-patch+json' },
    payload: '[]'
  }), { statusCode: 415, headers: { 'accept-patch': `${MERGE}, ${others}` } })
  for (const [url, value] of [['/posts/1', `${MERGE}, ${others}`], ['/posts/1.json', `${MERGE}, ${others}`],
    ['/posts', undefined]] as const) {
    const { statusCode, headers } = await app.inject({ method: 'OPTIONS', url })
    t.strictSame([statusCode, headers['accept-patch']], [204, value], url)
  }
  const plain = await build(t, { name: 'posts', attributes: patchable, writes: 'member', formats: ['xml'] })
  t.equal((await plain.inject({ method: 'OPTIONS', url: '/posts/1' })).headers['accept-patch'],
    'application/xml, text/xml')
  t.equal((await plain.inject({
    method: 'PATCH', url: '/posts/1', headers: { 'content-type': MERGE }, payload
  })).statusCode, 415)
})

t.test('a PATCH with JSON means what a PUT means', async (t) => {
  const { patch, stored } = await patched(t)
  t.strictSame((await patch({ rating: null }, { 'content-type': 'application/json' })).json().errors,
    { rating: ['must be an integer'] })
  t.equal((await patch({ author: { name: 'M' } }, { 'content-type': 'application/json' })).statusCode, 200)
  t.strictSame(stored(), { ...PATCHABLE, author: { name: 'M', age: 30 } })
})

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
    author: {
      type: 'object',
      properties: {
        first_name: { type: 'string' },
        since: { type: 'string', readOnly: true },
        pin: { type: 'string', writeOnly: true }
      }
    },
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
  return {
    store: {
      ...store,
      update: (id, changes, guard) => {
        updates.push(changes)
        return store.update(id, changes, guard)
      }
    },
    updates
  }
}

function put (app: App, content: string, headers: Readonly<Record<string, string>> = {}, singular = 'post') {
  return app.inject({
    method: 'PUT',
    url: `/${singular}s`,
    headers: { 'content-type': 'application/xml', ...headers },
    payload: `<${singular}><id>1</id>${content}</${singular}>`
  })
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
    ['<any><a type="array"><a type="float">1.0</a><a>x</a><a nil="true"></a><a type="boolean">true</a></a></any>',
      undefined],
    ['<any><a type="array"><a type="float">1.0</a><a>y</a><a nil="true"></a><a type="boolean">true</a></a></any>',
      { any: { a: [1, 'y', null, true] } }],
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
  t.match(await put(app, '<rating>9</rating><tags type="array"><tag type="integer">2</tag></tags>'),
    { statusCode: 422 })
  t.match(await app.inject({
    method: 'PUT',
    url: '/posts',
    headers: { 'content-type': 'application/xml' },
    payload: '<post><id>2</id><rating>9</rating></post>'
  }), { statusCode: 422 })
  t.match(await put(app, '<rating>9</rating>', { 'if-match': '"7"' }), { statusCode: 412 })
})

t.test('nothing is written where nothing differs, and preconditions come first', async (t) => {
  const store = make()
  const app = await build(t, { name: 'posts', attributes, store })
  t.match(await put(app, '<title>T</title>', { 'if-match': '"1.xml"' }),
    { statusCode: 200, headers: { etag: /^"1\.xml-/ } })
  t.match(await put(app, '<title>T</title>', { 'if-match': '"0.xml"' }),
    { statusCode: 412, headers: { etag: /^"1\.xml-/ } })
  t.match(await put(app, '<title>T</title>', { 'if-none-match': '*' }), { statusCode: 412 })
  t.match(await app.inject({
    method: 'PUT',
    url: '/posts',
    headers: { 'content-type': 'application/xml' },
    payload: '<post><id>2</id><title>T</title></post>'
  }), { statusCode: 404 })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: {} } }),
    { statusCode: 200, headers: { etag: /^"1\.json-/ } })
  t.match(await app.inject({
    method: 'PUT', url: '/posts', headers: { 'if-match': '"0"' }, payload: { id: 1, post: {} }
  }), { statusCode: 412 })
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
    const app = await draft(t, (map) =>
      path === '/notes' ? map.resources('notes', { store }) : map.resource('profile', { store }))
    const {
      body
    } = await app.inject({ url: path === '/notes' ? '/notes/1' : path, headers: { accept: 'application/xml' } })
    const send = (payload: string) =>
      app.inject({ method: 'PUT', url: path, headers: { 'content-type': 'application/xml' }, payload })
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
      if (races > 0) {
        inner.update(id, { title: --races % 2 === 0 ? 'T' : 'U', rating: races }, { version: undefined, scope: {} })
      }
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
    t.strictSame(updates, [{ title: 'U' }, { rating: 0 }, { title: 'U' }],
      'what the other client has written is compared')
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
        post.rating = 4; (post.any as { a: unknown[] } | undefined)?.a.pop()
        done()
      }
    }
  })
  t.equal((await put(app, '<title>T</title><any><a type="array"><a type="float">1.0</a><a>x</a><a nil="true"></a><a ' +
    'type="boolean">true</a></a></any>')).statusCode, 200)
  t.strictSame(updates, [{ title: 'hooked', any: { a: [1, 'x', null] }, rating: 4 }])
})

t.test('JSON writes what it names', async (t) => {
  const { store, updates } = noting(make())
  const app = await build(t, { name: 'posts', attributes, store })
  t.match(await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'T' } } }),
    { statusCode: 200, headers: { etag: /^"2\.json-/, 'content-type': types.json } })
  t.strictSame(updates, [{ title: 'T' }])
})
