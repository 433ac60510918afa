import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions, type Store } from '../../../lib/index.js'
import { applyMergePatch } from '../../../lib/core/formats/json/json.js'
import { build, draft, types } from '../../support/helper.js'

const MERGE = 'application/merge-patch+json'
const attributes = {
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
const ROW = { title: 'T', rating: 5, price: 2, tags: ['a'], author: { name: 'N', mail: 'm', age: 40, secret: 's', since: '2020', address: { city: 'Lima', zip: '1' } } }

interface Patched {
  readonly store: Store
  patch (post: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>
  stored (): unknown
}

async function patched (t: Test, options: Partial<ResourceOptions> = {}, row: Record<string, unknown> = ROW): Promise<Patched> {
  const own = memoryStore<any>()
  own.create(row, {})
  const { store = own } = options
  const app = await build(t, { name: 'posts', attributes, writes: 'both', ...options, store } as ResourceOptions)
  return {
    store: own as Store,
    patch: (post, headers = {}) => app.inject({ method: 'PATCH', url: '/posts/1', headers: { accept: 'application/json', 'content-type': MERGE, ...headers }, payload: JSON.stringify({ post }) }),
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
  const { author } = ROW
  const cases: ReadonlyArray<readonly [name: string, post: Record<string, unknown>, changed: Record<string, unknown>]> = [
    ['an optional attribute is removed', { rating: null }, { rating: undefined }],
    ['null is set where the schema allows it', { price: null }, { price: null }],
    ['an array is removed', { tags: null }, { tags: undefined }],
    ['an array is replaced', { tags: ['b'] }, { tags: ['b'] }],
    ['an object is removed', { author: null }, { author: undefined }],
    ['a value is changed', { title: 'U', rating: 6 }, { title: 'U', rating: 6 }],
    ['a member is changed, and the others stay, also those that the client cannot see or write', { author: { mail: 'n' } }, { author: { ...author, mail: 'n' } }],
    ['a member is removed', { author: { mail: null }, rating: 1 }, { author: { name: 'N', age: 40, secret: 's', since: '2020', address: author.address }, rating: 1 }],
    ['a default is filled in again', { author: { age: null } }, { author: { ...author, age: 30 } }],
    ['objects are merged at any depth', { author: { address: { zip: null, street: 'S' } } }, { author: { ...author, address: { city: 'Lima', street: 'S' } } }],
    ['a read-only member is ignored', { author: { since: '1999', mail: 'n' }, at: null }, { author: { ...author, mail: 'n' } }],
    ['nothing is changed', {}, {}]
  ]
  for (const [name, post, changed] of cases) {
    await t.test(name, async (t) => {
      const { patch, stored } = await patched(t)
      const answer = await patch(post)
      t.match(answer, { statusCode: 200, headers: { 'content-type': types.json, etag: Object.keys(changed).length === 0 ? /^"1\.json-/ : /^"2\.json-/ } }, answer.body)
      const { ...expected } = { ...ROW, ...changed }
      for (const name of Object.keys(expected)) if (expected[name as keyof typeof expected] === undefined) delete expected[name as keyof typeof expected]
      t.strictSame(stored(), expected)
    })
  }
})

t.test('merged values keep to the limits of values that are sent whole', async (t) => {
  const members = (prefix: string, count: number): Record<string, number> => Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]))
  const app = await draft(t, (map) => {
    map.resources('posts', { attributes: { type: 'object', properties: { meta: {} } }, store: memoryStore(), writes: 'member' })
    map.resources('notes', { store: memoryStore(), writes: 'member' })
  })
  for (const [path, group] of [['/posts', 'post'], ['/notes', 'note']] as const) {
    await app.inject({ method: 'POST', url: path, payload: { [group]: { meta: members('a', 60) } } })
    const patch = (meta: object): Promise<LightMyRequestResponse> => app.inject({ method: 'PATCH', url: `${path}/1`, headers: { accept: 'application/json', 'content-type': MERGE }, payload: JSON.stringify({ [group]: { meta } }) })
    t.equal((await patch(members('b', 40))).statusCode, 200)
    const refused = await patch({ c: 1 })
    t.strictSame([refused.statusCode, refused.json().errors], [422, { meta: ['must not have more than 100 names'] }])
    t.equal((await patch({ a0: null, c: 1 })).statusCode, 200)
    const read = await app.inject({ url: `${path}/1`, headers: { accept: 'application/json' } })
    t.equal((await app.inject({ method: 'PUT', url: `${path}/1`, headers: { accept: 'application/json' }, payload: read.json() })).statusCode, 200, 'a client can send back what it reads')
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
  t.strictSame(stored(), ROW)
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
    const { author } = store.get(1, {})?.attributes as typeof ROW
    t.strictSame(Object.keys(author.address).sort(), names)
  }
})

t.test('a merge patch keeps its precondition', async (t) => {
  const { patch, stored } = await patched(t)
  t.equal((await patch({ author: { mail: 'n' } }, { 'if-match': '"7.json"' })).statusCode, 412)
  t.strictSame(stored(), ROW)
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
  const { address, ...author } = ROW.author
  const { rating, ...others } = ROW
  t.strictSame(seen, [[{ rating: undefined, author }, '1']])
  t.strictSame(stored(), { ...others, author })
  t.equal((await patch({ author: { mail: 'n' } }, { 'if-match': '"2.json"' })).statusCode, 200)
})

t.test('a handler without a store gets no objects to merge', async (t) => {
  const app = await build(t, { name: 'posts', attributes, writes: 'both', actions: { update: ({ id, attributes }) => ({ id, attributes }) }, only: ['update'], store: undefined as never })
  const patch = (post: unknown) => app.inject({ method: 'PATCH', url: '/posts/1', headers: { accept: 'application/json', 'content-type': MERGE }, payload: JSON.stringify({ post }) })
  const refused = await patch({ author: { mail: null } })
  t.equal(refused.statusCode, 422)
  t.strictSame(refused.json().errors, { author: ['cannot be merged, because the resource has no store; send the whole value by PUT'] })
  t.match(await patch({ title: 'U', rating: null }), { statusCode: 200 })
})

t.test('a singleton is merged', async (t) => {
  const store = memoryStore<any>()
  store.create({ author: { name: 'N', mail: 'm' } }, {})
  const app = await draft(t, (map) => map.resource('profile', { attributes, writes: 'member', store }))
  const answer = await app.inject({ method: 'PATCH', url: '/profile', headers: { accept: 'application/json', 'content-type': MERGE }, payload: '{"profile":{"author":{"mail":null}}}' })
  t.match(answer, { statusCode: 200 }, answer.body)
  t.strictSame(store.get(1, {})?.attributes, { author: { name: 'N', age: 30 } })
})

t.test('only a PATCH of a row has merge patches, and Accept-Patch names them', async (t) => {
  const others = 'application/xml, text/xml, application/json, application/x-www-form-urlencoded'
  const app = await build(t, { name: 'posts', attributes, writes: 'both' })
  const merge = { 'content-type': MERGE, accept: 'application/json' }
  const payload = '{"post":{"title":"T"}}'
  for (const [method, url] of [['POST', '/posts'], ['PUT', '/posts'], ['PUT', '/posts/1']] as const) {
    t.match(await app.inject({ method, url, headers: merge, payload }), { statusCode: 415, headers: { accept: others, 'accept-patch': undefined } }, `${method} ${url}`)
  }
  t.match(await app.inject({ method: 'PATCH', url: '/posts/1', headers: { ...merge, 'content-type': 'application/json-patch+json' }, payload: '[]' }), { statusCode: 415, headers: { 'accept-patch': `${MERGE}, ${others}` } })
  for (const [url, value] of [['/posts/1', `${MERGE}, ${others}`], ['/posts/1.json', `${MERGE}, ${others}`], ['/posts', undefined]] as const) {
    const { statusCode, headers } = await app.inject({ method: 'OPTIONS', url })
    t.strictSame([statusCode, headers['accept-patch']], [204, value], url)
  }
  const plain = await build(t, { name: 'posts', attributes, writes: 'member', formats: ['xml'] })
  t.equal((await plain.inject({ method: 'OPTIONS', url: '/posts/1' })).headers['accept-patch'], 'application/xml, text/xml')
  t.equal((await plain.inject({ method: 'PATCH', url: '/posts/1', headers: { 'content-type': MERGE }, payload })).statusCode, 415)
})

t.test('a PATCH with JSON means what a PUT means', async (t) => {
  const { patch, stored } = await patched(t)
  t.strictSame((await patch({ rating: null }, { 'content-type': 'application/json' })).json().errors, { rating: ['must be an integer'] })
  t.equal((await patch({ author: { name: 'M' } }, { 'content-type': 'application/json' })).statusCode, 200)
  t.strictSame(stored(), { ...ROW, author: { name: 'M', age: 30 } })
})
