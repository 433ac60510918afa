import t, { type Test } from 'tap'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import {
  type Attributes, comparePositions, type Id, memoryStore, type MemoryStore, type Order, positionOf,
  type ResourceOptions, type Store
} from '../../../lib/index.js'
import { build, post, types, xml } from '../../support/helper.js'
import { textStore } from '../../support/stores/text-store.js'

type Verb = 'PUT' | 'DELETE'
type Kind = 'JSON' | 'XML' | 'form' | 'form with _method'
type Place = 'top' | 'group' | 'query' | 'path'
/** The id in each place. JSON carries the value itself, the other places its text. */
type Places = Partial<Record<Place, unknown>>

const mediaTypes: Record<Kind, string> = {
  JSON: 'application/json',
  XML: 'application/xml',
  form: 'application/x-www-form-urlencoded',
  'form with _method': 'application/x-www-form-urlencoded'
}

/**
 * Returns the places that a request can carry. In XML `top` is a root `<id>` alone, so only deletes have it. A form
 * posted with `_method` has no query.
 */
const placesOf = (kind: Kind, verb: Verb): readonly Place[] => {
  if (kind === 'form with _method') return ['top', 'group', 'path']
  if (kind === 'XML' && verb === 'PUT') return ['group', 'query', 'path']
  return ['top', 'group', 'query', 'path']
}

const fields = (pairs: readonly (readonly [string, unknown])[]): string =>
  new URLSearchParams(pairs.filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, value === null ? '' : String(value)])).toString()

const element = (id: unknown): string => id === null ? '<id nil="true"/>' : `<id>${String(id)}</id>`

/** Returns the body of a write that changes the title to "changed", or of a delete. */
function bodyOf (kind: Kind, verb: Verb, { top, group }: Places): string | undefined {
  if (kind === 'form with _method') {
    return fields([['_method', verb], ['id', top], ['post[id]', group],
      ['post[title]', verb === 'PUT' ? 'changed' : undefined]])
  }
  if (verb === 'DELETE' && top === undefined && group === undefined) return undefined
  if (kind === 'form') {
    return fields([['id', top], ['post[id]', group], ['post[title]', verb === 'PUT' ? 'changed' : undefined]])
  }
  if (kind === 'XML' && top !== undefined) return xml + element(top)
  if (kind === 'XML') {
    const title = verb === 'PUT' ? '<title>changed</title>' : ''
    return `${xml}<post>${group === undefined ? '' : element(group)}${title}</post>`
  }
  const attributes = { ...(group !== undefined && { id: group }), ...(verb === 'PUT' && { title: 'changed' }) }
  return JSON.stringify({
    ...(top !== undefined && { id: top }), ...((verb === 'PUT' || group !== undefined) && { post: attributes })
  })
}

function requestOf (kind: Kind, verb: Verb, places: Places): InjectOptions {
  const { query, path } = places
  const payload = bodyOf(kind, verb, places)
  return {
    method: kind === 'form with _method' ? 'POST' : verb,
    url: '/posts' + (path === undefined ? '' : '/' + encodeURIComponent(String(path))) +
      (query === undefined ? '' : '?id=' + encodeURIComponent(query === null ? '' : String(query))),
    headers: { accept: 'application/json', ...(payload !== undefined && { 'content-type': mediaTypes[kind] }) },
    ...(payload !== undefined && { payload })
  }
}

interface Row { id: number | string, title: string }

async function seed (app: FastifyInstance): Promise<number | string> {
  const res = await app.inject({
    method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post: { title: 'one' } }
  })
  return res.json<{ post: Row }>().post.id
}

/** Returns what a client sees of a post, which shows any change to it. */
async function look (app: FastifyInstance, id: unknown): Promise<unknown> {
  const res = await app.inject({ url: `/posts/${String(id)}.json` })
  return { status: res.statusCode, etag: res.headers.etag, body: res.body }
}

async function works (t: Test, app: FastifyInstance, request: InjectOptions, verb: Verb,
  [id, other]: readonly unknown[], name: string): Promise<void> {
  const before = await look(app, other)
  const res = await app.inject(request)
  if (verb === 'DELETE') {
    t.match(res, { statusCode: 204, body: '' }, name)
    t.match(await look(app, id), { status: 404 }, `${name}: the row is deleted`)
  } else {
    t.match(res, { statusCode: 200, headers: { 'content-type': types.json } }, name)
    t.strictSame(res.json(), { post: { id, title: 'changed', published: false } }, `${name}: the row is changed`)
  }
  t.strictSame(await look(app, other), before, `${name}: the other row is untouched`)
}

async function refused (t: Test, app: FastifyInstance, request: InjectOptions, statusCode: number,
  ids: readonly unknown[], name: string): Promise<void> {
  const before = await Promise.all(ids.map(id => look(app, id)))
  const res = await app.inject(request)
  t.match(res, { statusCode, headers: { 'content-type': types.problem } }, name)
  t.match(res.json(), { status: statusCode }, `${name}: the problem names the id`)
  t.strictSame(await Promise.all(ids.map(id => look(app, id))), before, `${name}: nothing is changed`)
}

/** Returns every choice of at least one place that one request can carry. */
function choices (kind: Kind, places: readonly Place[]): Place[][] {
  const all = places.reduce<Place[][]>((chosen, place) => [...chosen, ...chosen.map(some => [...some, place])], [[]])
  return all.filter(some => some.length > 0 && !(kind === 'XML' && some.includes('top') && some.includes('group')))
}

const kinds = Object.keys(mediaTypes) as Kind[]
const verbs: readonly Verb[] = ['PUT', 'DELETE']
const uuid = '0b5c4c9e-8f0e-4c39-9d6a-1f0c5a1f4b11'

/** Unknown ids, and texts and JSON values that cannot be ids. `id` exists. */
const strangers = {
  integer: {
    unknown: 4711,
    texts: () => ['abc', '0', '-1', '+1', '01', '1.0', '1e0', '0x1', '1,2', '１', 'NaN', 'null', 'true', '__proto__',
      '9007199254740992', '99999999999999999999'],
    values: (id: unknown) => [String(id), 'abc', Number(id) + 0.5, 0, -1, 9007199254740992, true, false, [[id]], { id }]
  },
  uuid: {
    unknown: uuid,
    texts: (id: unknown) => ['abc', '1', String(id).toUpperCase(), String(id).replaceAll('-', ''), `{${String(id)}}`,
      `${String(id)}0`, `urn:uuid:${String(id)}`, '__proto__'],
    values: (id: unknown) => [1, 'abc', String(id).toUpperCase(), true, [[id]], { id }]
  }
} as const

for (const idType of ['integer', 'uuid'] as const) {
  t.test(`with ${idType} ids`, async t => {
    const app = await build(t, { name: 'posts', attributes: post, writes: 'both', id: idType })
    const pair = async (): Promise<[unknown, unknown]> => [await seed(app), await seed(app)]

    for (const kind of kinds) {
      for (const verb of verbs) {
        const places = placesOf(kind, verb)

        t.test(`${kind}: a ${verb} takes its id from any place, and from several that agree`, async t => {
          for (const chosen of choices(kind, places)) {
            const ids = await pair()
            await works(t, app, requestOf(kind, verb, Object.fromEntries(chosen.map(place => [place, ids[0]]))), verb,
              ids, chosen.join(' and '))
          }
        })

        t.test(`${kind}: a ${verb} whose ids clash is a bad request`, async t => {
          const ids = await pair()
          for (const chosen of choices(kind, places).filter(some => some.length === 2)) {
            const [first, second] = chosen as [Place, Place]
            await refused(t, app, requestOf(kind, verb, { [first]: ids[0], [second]: ids[1] }), 400, ids,
              `${first} against ${second}`)
            await refused(t, app, requestOf(kind, verb, { [first]: ids[1], [second]: ids[0] }), 400, ids,
              `${second} against ${first}`)
            await refused(t, app, requestOf(kind, verb, { [first]: ids[0], [second]: 'abc' }), 400, ids,
              `${first} against what is no id in ${second}`)
          }
        })

        t.test(`${kind}: a ${verb} without an id is unprocessable`, async t => {
          const ids = await pair()
          await refused(t, app, requestOf(kind, verb, {}), 422, ids, 'none anywhere')
          for (const place of places.filter(place => place !== 'path')) {
            await refused(t, app, requestOf(kind, verb, { [place]: null }), 422, ids, `null in ${place}`)
          }
        })

        t.test(`${kind}: a ${verb} with an empty id in one place takes it from another`, async t => {
          for (const chosen of choices(kind, places).filter(some => some.length === 2)) {
            for (const [empty, filled] of [chosen, chosen.toReversed()] as [Place, Place][]) {
              if (empty === 'path') continue
              const ids = await pair()
              await works(t, app, requestOf(kind, verb, { [empty]: null, [filled]: ids[0] }), verb, ids,
                `null in ${empty}, the id in ${filled}`)
              const others = await pair()
              await works(t, app, requestOf(kind, verb, { [empty]: '', [filled]: others[0] }), verb, others,
                `an empty text in ${empty}, the id in ${filled}`)
            }
          }
        })

        t.test(`${kind}: a ${verb} with an unknown or impossible id is not found`, async t => {
          const ids = await pair()
          const { unknown, texts, values } = strangers[idType]
          for (const place of places) {
            const isJson = kind === 'JSON' && (place === 'top' || place === 'group')
            const cases = [unknown, ...(isJson ? values(ids[0]) : texts(ids[0]))]
            for (const id of cases) {
              // A number that stands for two ids is told apart from an unknown one.
              const status = id === 9007199254740992 ? 422 : 404
              await refused(t, app, requestOf(kind, verb, { [place]: id }), status, ids,
                `${JSON.stringify(id)} in ${place}`)
            }
          }
        })
      }
    }

    t.test('a PATCH of a member works like a PUT', async t => {
      const ids = await pair()
      for (const kind of ['JSON', 'XML', 'form'] as const) {
        const patch = (places: Places): InjectOptions => ({ ...requestOf(kind, 'PUT', places), method: 'PATCH' })
        await works(t, app, patch({ path: ids[0] }), 'PUT', ids, `${kind}: path`)
        await works(t, app, patch({ path: ids[0], group: ids[0] }), 'PUT', ids, `${kind}: path and group`)
        await refused(t, app, patch({ path: ids[0], group: ids[1] }), 400, ids, `${kind}: path against group`)
      }
    })
  })
}

t.test('an empty XML id counts as absent', async t => {
  const app = await build(t, { name: 'posts', attributes: post })
  const ids = [await seed(app)]
  const headers = { accept: 'application/json', 'content-type': 'application/xml' }
  for (const id of ['<id/>', '<id></id>', '<id nil="true"/>', '<id type="integer"/>',
    '<id type="integer" nil="true"/>']) {
    await refused(t, app, {
      method: 'PUT', url: '/posts', headers, payload: `<post>${id}<title>changed</title></post>`
    }, 422, ids, `PUT ${id}`)
    await refused(t, app, { method: 'DELETE', url: '/posts', headers, payload: `<post>${id}</post>` }, 422, ids,
      `DELETE ${id}`)
    await refused(t, app, { method: 'DELETE', url: '/posts', headers, payload: id }, 422, ids, `DELETE ${id} alone`)
  }
})

t.test('an id beyond the precision of a double is not rounded', async t => {
  const app = await build(t, { name: 'posts', attributes: post })
  const ids = [await seed(app)]
  const headers = { accept: 'application/json', 'content-type': 'application/json' }
  await refused(t, app, {
    method: 'PUT', url: '/posts', headers, payload: '{"id":9007199254740993,"post":{"title":"changed"}}'
  }, 422, ids, 'PUT')
  await refused(t, app, { method: 'DELETE', url: '/posts', headers, payload: '{"id":9007199254740993}' }, 422, ids,
    'DELETE')
})

t.test('an id that is given twice in one place is refused', async t => {
  const app = await build(t, { name: 'posts', attributes: post })
  const ids = [await seed(app), await seed(app)]
  const accept = 'application/json'
  await refused(t, app, { method: 'DELETE', url: '/posts?id=1&id=1', headers: { accept } }, 400, ids, 'query')
  await refused(t, app, { method: 'DELETE', url: '/posts?id=1&id=2', headers: { accept } }, 400, ids, 'query, another')
  for (const payload of ['id=1&id=2', 'post[id]=1&post[id]=2']) {
    await refused(t, app, {
      method: 'DELETE', url: '/posts', headers: { accept, 'content-type': mediaTypes.form }, payload
    }, 400, ids, payload)
  }
  await refused(t, app, {
    method: 'DELETE',
    url: '/posts',
    headers: { accept, 'content-type': mediaTypes.XML },
    payload: '<post><id>1</id><id>2</id></post>'
  }, 422, ids, 'XML')
})

t.test('a create cannot choose its id', async t => {
  const app = await build(t, { name: 'posts', attributes: post })
  await seed(app)
  const cases: [Kind, string][] = [
    ['JSON', '{"id":7,"post":{"title":"x"}}'], ['JSON', '{"post":{"id":7,"title":"x"}}'],
    ['JSON', '{"post":{"id":1,"title":"x"}}'],
    ['XML', '<post><id type="integer">7</id><title>x</title></post>'], ['form', 'id=7&post[title]=x'],
    ['form', 'post[id]=7&post[title]=x']
  ]
  for (const [kind, payload] of cases) {
    const res = await app.inject({
      method: 'POST', url: '/posts', headers: { accept: 'application/json', 'content-type': mediaTypes[kind] }, payload
    })
    t.match(res, { statusCode: 422, headers: { 'content-type': types.problem } }, payload)
    t.strictSame(Object.keys(res.json<{ errors?: object }>().errors ?? {}), ['id'], payload)
  }
  t.match(await app.inject({
    method: 'POST', url: '/posts?id=7', headers: { accept: 'application/json' }, payload: { post: { title: 'x' } }
  }), { statusCode: 400 })
  t.strictSame((await app.inject({ url: '/posts.json' })).json(),
    { posts: [{ id: 1, title: 'one', published: false }] })
})

t.test('a create with a null or empty id gets a new id', async t => {
  const app = await build(t, { name: 'posts', attributes: post })
  const cases: [Kind, string][] = [
    ['JSON', '{"id":null,"post":{"title":"x"}}'], ['JSON', '{"post":{"id":null,"title":"x"}}'],
    ['XML', '<post><id nil="true"/><title>x</title></post>'], ['form', 'id=&post[title]=x'],
    ['form', 'post[id]=&post[title]=x']
  ]
  for (const [index, [kind, payload]] of cases.entries()) {
    const res = await app.inject({
      method: 'POST', url: '/posts', headers: { accept: 'application/json', 'content-type': mediaTypes[kind] }, payload
    })
    t.match(res, { statusCode: 201, headers: { 'content-type': types.json, location: `/posts/${index + 1}` } }, payload)
    t.strictSame(res.json(), { post: { id: index + 1, title: 'x', published: false } }, payload)
  }
})

t.test('each place must spell the id exactly, not only the first', async t => {
  const store = memoryStore()
  store.create({ title: 'T' }, {})
  const app = await build(t, { name: 'posts', attributes: post, store, writes: 'both' })
  const put = (url: string, payload: object): Promise<number> =>
    app.inject({ method: 'PUT', url, payload }).then(({ statusCode }) => statusCode)
  // A JSON integer differs from a string, but the path and the query contain text.
  t.equal(await put('/posts/1', { id: '1', post: { title: 'mine' } }), 404)
  t.equal(await put('/posts?id=1', { post: { id: '1', title: 'mine' } }), 404)
  t.equal(await put('/posts', { id: 1, post: { id: '1', title: 'mine' } }), 404)
  t.equal(await put('/posts/1', { id: 1, post: { id: 2, title: 'mine' } }), 400,
    'two places agree, and the third differs')
  t.match(store.get(1, {}), { version: '1', attributes: { title: 'T' } })
  t.equal(await put('/posts/1', { id: 1, post: { id: 1, title: 'mine' } }), 200)
})

t.test('a value of any kind has at most 8 levels, and one less in a record without a schema', async (t) => {
  const declared = await build(t, { name: 'posts', attributes: { type: 'object', properties: { value: {} } } })
  const open = await build(t, { name: 'posts' })
  const statusOf = async (app: FastifyInstance, levels: number): Promise<number> =>
    (await app.inject({
      method: 'POST',
      url: '/posts.json',
      payload: { post: { value: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) } }
    })).statusCode
  const deepest = async (app: FastifyInstance): Promise<number> => {
    let levels = 1
    while (await statusOf(app, levels + 1) === 201) levels++
    return levels
  }
  t.strictSame([await deepest(declared), await deepest(open)], [8, 7])
})

t.test('an id of any text is escaped in each format', async (t) => {
  const id = 'a&b<c>"d'
  const app = await build(t, { name: 'files', id: 'string', store: textStore([id]) })
  const read = async (format: string): Promise<string> =>
    (await app.inject(`/files/${encodeURIComponent(id)}.${format}`)).body
  t.match(await read('xml'), '<id>a&amp;b&lt;c&gt;"d</id>')
  t.equal((JSON.parse(await read('json')) as { file: { id: string } }).file.id, id)
  t.notMatch(await read('html'), id)
})

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 5000 },
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    price: { type: 'number' },
    published: { type: 'boolean' },
    note: { type: ['string', 'null'] },
    constructor: { enum: ['a', 'b', null] },
    tags: { type: 'array', items: { type: 'string' } },
    author: { type: 'object', properties: { name: { type: 'string' } } },
    mixed: { type: ['string', 'integer'] },
    secret: { type: 'string', writeOnly: true }
  }
} as const
const formats = ['xml', 'json', 'html'] as const
type FormatName = typeof formats[number]
const problems = { xml: types.xml, json: types.problem, html: types.html }
const guard = { version: undefined, scope: {} }

const seeds: Attributes[] = [
  { title: 'b', rating: 5, price: 1.5, published: true, tags: ['x'], secret: 's1' },
  { title: 'a', rating: null, price: -1, published: false, secret: 's2' },
  { title: 'c', price: 1e21, published: true, note: null },
  { title: 'a', rating: 5, published: false, note: '' },
  { title: '\u{1f984}', rating: 1, price: 1.5 },
  { title: '\ufffd, "quoted" & <b>', rating: 3, price: 0, note: 'n' },
  {},
  { title: '', rating: 5, price: 1.5, published: true, constructor: 'b' }
]

function seeded (rows: readonly Attributes[] = seeds, id: 'integer' | 'uuid' = 'integer'): MemoryStore {
  const store = memoryStore({ id })
  for (const attributes of rows) store.create(attributes, {})
  return store
}

async function serve (t: Test, store: Store = seeded(),
  options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes, store, ...options })
}

/** Returns the ids of a list in any of the formats. */
const listed: Readonly<Record<FormatName, (body: string) => string[]>> = {
  xml: (body) => [...body.matchAll(/<id[^>]*>([^<]+)<\/id>/g)].map(([, id = '']) => id),
  json: (body) => (JSON.parse(body) as { posts: Array<{ id: Id }> }).posts.map(({ id }) => String(id)),
  html: (body) => [...body.matchAll(/<th[^>]*>(?:<label.*?<\/label>)?<a href="[^"]*\/posts\/([^"#]+)">/g)].map(([, id = '']) => id)
}

function nextOf ({ headers }: LightMyRequestResponse): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1]
}

function cursorOf (res: LightMyRequestResponse): string {
  return new URL(nextOf(res) ?? '', 'http://blog.example').searchParams.get('after') ?? ''
}

const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
const decode = (cursor: string): unknown => JSON.parse(Buffer.from(cursor, 'base64url').toString())

function orderOf (sort: string): Order {
  const named = sort.split(',').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
  return named.at(-1)?.by === 'id' ? named : [...named, { by: 'id', descending: named.at(-1)?.descending === true }]
}

function inOrder (store: MemoryStore, sort: string): string[] {
  const order = orderOf(sort)
  const rows = [...store.list({
    order: orderOf('id'), after: undefined, limit: undefined, scope: {}, filter: [], search: undefined
  })].flat()
  return rows.sort((a, b) => comparePositions(order, positionOf(a, order), positionOf(b, order)))
    .map(({ id }) => String(id))
}

const sorts = ['id', '-id', 'title', '-title', 'rating', '-rating', 'price', '-price', 'published', '-published',
  'note', '-note', 'constructor', '-constructor', '-rating,title', 'rating,-title', 'title,id', 'title,-id',
  '-rating,-id', 'published,-rating,price,-title,-id', 'note,constructor,rating']

t.test('a list comes in the requested order', async t => {
  const app = await serve(t)
  for (const [index, sort] of sorts.entries()) {
    const kind = formats[index % formats.length] as FormatName
    const res = await app.inject({ url: `/posts.${kind}`, query: { sort } })
    t.strictSame([res.statusCode, res.headers['content-type'], nextOf(res)], [200, types[kind], undefined], sort)
    t.strictSame(listed[kind](res.body), inOrder(seeded(), sort), `${kind}: ${sort}`)
  }
  t.strictSame(listed.json((await app.inject('/posts.json?sort=-rating,title')).body),
    ['8', '4', '1', '6', '5', '7', '2', '3'], 'another spelling of the same order')
})

t.test('a list can be filtered', async t => {
  const app = await serve(t)
  const cases: [query: Record<string, string>, found: number[]][] = [
    [{ title: 'a' }, [2, 4]], [{ title: '' }, [8]], [{ title: 'A' }, []], [{ title: '\ufffd, "quoted" & <b>' }, [6]],
    [{ title: '\u{1f984}' }, [5]], [{ title: ' a' }, []],
    [{ rating: '5' }, [1, 4, 8]], [{ rating: ' +5 ' }, [1, 4, 8]], [{ rating: '' }, [2, 3, 7]],
    [{ rating: ' ' }, [2, 3, 7]], [{ rating: '9' }, []], [{ rating: '-3' }, []],
    [{ price: '1.5' }, [1, 5, 8]], [{ price: '15e-1' }, [1, 5, 8]], [{ price: '0' }, [6]], [{ price: '-0' }, [6]],
    [{ price: '1e21' }, [3]],
    [{ published: 'true' }, [1, 3, 8]], [{ published: '1' }, [1, 3, 8]], [{ published: 'false' }, [2, 4]],
    [{ note: '' }, [4]], [{ note: 'n' }, [6]], [{ constructor: 'b' }, [8]], [{ constructor: 'neither' }, []],
    [{ rating: '5', published: 'true' }, [1, 8]], [{ rating: '5', published: 'true', title: 'b' }, [1]],
    [{ rating: '5', sort: '-title' }, [1, 4, 8]], [{ rating: '5', limit: '2' }, [1, 4]]
  ]
  for (const [index, [query, found]] of cases.entries()) {
    const kind = formats[index % formats.length] as FormatName
    const res = await app.inject({ url: `/posts.${kind}`, query })
    t.strictSame([res.statusCode, res.headers['content-type'], listed[kind](res.body)],
      [200, types[kind], found.map(String)], `${kind}: ${JSON.stringify(query)}`)
  }
})

t.test('an invalid query is a bad request, answered in the client\'s own format', async t => {
  const app = await serve(t)
  const cases: [query: string, says: string][] = [
    ['sort=', '"sort" must be names separated by commas, such as "-title,rating"'], ['sort=-', '"sort" must be names'],
    ['sort=,', '"sort" must be names'],
    ['sort=titel', '"sort" names "titel", by which this list cannot be sorted; did you mean "title"?'],
    ['sort=-Rating', 'did you mean "rating"?'], ['sort=%2Btitle', 'did you mean "title"?'],
    ['sort=xxxxxxxxxxxx', '"sort" names "xxxxxxxxxxxx", by which this list cannot be sorted'],
    ['sort=__proto__', 'cannot be sorted'], ['sort=toString', 'cannot be sorted'],
    ['sort=tags', '"sort" names "tags", by which'], ['sort=author', '"sort" names "author", by which'],
    ['sort=secret', '"sort" names "secret", by which this list cannot be sorted'],
    ['sort=secre', '"sort" names "secre", by which this list cannot be sorted'],
    ['sort=title,rating,title', '"sort" names "title" twice'], ['sort=title,-title', '"sort" names "title" twice'],
    ['sort=title,rating,a,b,c,d', '"sort" must name at most 5 attributes'],
    ['sort=id,title', '"sort" names "title" after "id", where it can have no effect'],
    ['sort=title&sort=rating', 'the parameter "sort" must be given once'],
    ['rating=1.5', '"rating" must be an integer or null'],
    ['published=', '"published" must be true or false'],
    ['author=x', 'the parameter "author" is unknown'],
    ['secret=s1', 'the parameter "secret" is unknown'],
    ['id[null]=true', '"id" takes one of these operators in brackets: gte, gt, lte, lt, not, in'],
    ['ratin=5', 'the parameter "ratin" is unknown; did you mean "rating"?'], ['srot=title', 'did you mean "sort"?']
  ]
  for (const [index, [query, says]] of cases.entries()) {
    const kind = formats[index % formats.length] as FormatName
    const res = await app.inject(`/posts.${kind}?${query}`)
    t.strictSame([res.statusCode, res.headers['content-type']], [400, problems[kind]], `${kind}: ${query}`)
    const text = kind === 'json' ? res.json<{ detail: string }>().detail : res.body.replaceAll('&quot;', '"')
    // A page shows the message about a condition at its field, without the name of the parameter.
    const isShown = text.includes(says) ||
      (kind === 'html' && text.toLowerCase().includes(says.replace(/^"[^"]*" /, '').toLowerCase()))
    t.ok(isShown, `${query}: ${text}`)
    if (says.startsWith('"sort" names "secr') || says.includes('parameter "secr')) {
      t.notMatch(text, /did you mean "secret"/, 'a writeOnly attribute is not suggested')
    }
  }
})

t.test('pages ignore the parameters that trackers add, and repeat them nowhere', async (t) => {
  const properties = { title: { type: 'string' }, _ga: { type: 'string' } } as const
  const schema = { type: 'object', properties } as const
  const app = await build(t, { name: 'posts', store: seeded(), attributes: schema, formPages: true })
  const accept = { accept: 'text/html' }
  const trackers = ['utm_source=a%26b', 'utm_=1', 'fbclid=1', 'gclid=1', 'msclkid=1', '_=1700000000000',
    'gclid=1&gclid=2']
  const lists = ['/posts', '/posts?limit=2', '/posts?title[in]=a&sort=-title']
  for (const tracker of trackers) {
    for (const path of [...lists, '/posts/1', '/posts/new', '/posts/1/edit']) {
      const query = `${path.includes('?') ? '&' : '?'}${tracker}`
      const [plain, tracked] = await Promise.all(['', query].map(async (more) =>
        await app.inject({ url: path + more, headers: accept })))
      t.strictSame([tracked?.statusCode, tracked?.headers.link], [200, plain?.headers.link], `${path}${query}`)
      t.equal(tracked?.body, plain?.body, `${path}${query}`)
    }
    const payload = { post: { title: 'a' } }
    const posted = await app.inject({ method: 'POST', url: `/posts?${tracker}`, headers: accept, payload })
    t.equal(posted.statusCode, 400, 'a write')
    for (const url of ['/posts.json', '/posts.xml', '/posts/1.json']) {
      t.equal((await app.inject(`${url}?${tracker}`)).statusCode, 400, url)
    }
  }
  for (const query of ['_gat=1', 'utm=1', 'UTM_source=1', '__=1', 'fbclid[in]=1']) {
    t.equal((await app.inject({ url: `/posts?${query}`, headers: accept })).statusCode, 400, query)
  }
  t.equal(listed.html((await app.inject('/posts.html?_ga=x')).body).length, 0, 'an attribute of that name is filtered')
})

t.test('only lists take sort and filters', async t => {
  const app = await serve(t)
  for (const url of ['/posts/1', '/posts/1.json']) {
    for (const query of [{ sort: 'title' }, { rating: '5' }]) {
      t.equal((await app.inject({ url, query })).statusCode, 400)
    }
  }
  t.equal((await app.inject({ method: 'DELETE', url: '/posts?id=1&rating=5' })).statusCode, 400)
  t.equal((await app.inject({ method: 'POST', url: '/posts?sort=title', payload: { post: {} } })).statusCode, 400)
})

t.test('the next link keeps the query', async t => {
  const rows = Array.from({ length: 60 },
    (_, index) => ({ title: 'a & "b" <c> é,+', rating: index % 2 === 0 ? 5 : null, published: true }))
  const app = await serve(t, seeded(rows), { prefix: '/blog' })
  const cases: [url: string, link: RegExp][] = [
    ['/blog/posts.json?limit=2', /^\/blog\/posts\.json\?limit=2&after=[\w-]+$/],
    ['/blog/posts.json?sort=-rating,title&limit=2', /^\/blog\/posts\.json\?sort=-rating%2Ctitle&limit=2&after=[\w-]+$/],
    ['/blog/posts?limit=2&sort=title,id&format=json&rating=5',
      /^\/blog\/posts\?limit=2&sort=title%2Cid&format=json&rating=5&after=[\w-]+$/],
    ['/blog/posts.json?rating=&published=1&limit=2', /^\/blog\/posts\.json\?rating=&published=1&limit=2&after=[\w-]+$/],
    ['/blog/posts.json?title=a%20%26%20%22b%22%20%3Cc%3E%20%C3%A9%2C%2B&limit=2',
      /^\/blog\/posts\.json\?title=a\+%26\+%22b%22\+%3Cc%3E\+%C3%A9%2C%2B&limit=2&after=[\w-]+$/]
  ]
  for (const [url, link] of cases) {
    const ids: string[] = []
    let next: string | undefined = url
    for (let pages = 0; next !== undefined && pages < 40; pages++) {
      const res: LightMyRequestResponse = await app.inject(next)
      t.equal(res.statusCode, 200, next)
      ids.push(...listed.json(res.body))
      next = nextOf(res)
      if (next !== undefined) t.match(next, link)
    }
    t.strictSame(ids, listed.json((await app.inject(url.replace('limit=2', 'limit=1000'))).body))
  }
  const page = await app.inject(
    '/blog/posts.html?sort=-rating,title&published=true&title=a+%26+%22b%22+%3Cc%3E+%C3%A9,%2B')
  const shown = /<a href="([^"]+)" rel="next">/.exec(page.body)?.[1]?.replaceAll('&amp;', '&')
  t.equal(shown, nextOf(page))
  t.match(shown,
    /^\/blog\/posts\.html\?sort=-rating%2Ctitle&published=true&title=a\+%26\+%22b%22\+%3Cc%3E\+%C3%A9%2C%2B&after=/)
  t.equal(listed.html((await app.inject(shown ?? '')).body).length, 10)
})

t.test('pages follow one another to the end', async t => {
  async function walk (app: FastifyInstance, query: Record<string, string>,
    between: (page: string[]) => void = () => {}): Promise<string[]> {
    const ids: string[] = []
    let url: string | undefined = `/posts.json?${new URLSearchParams(query).toString()}`
    while (url !== undefined) {
      const res: LightMyRequestResponse = await app.inject(url)
      if (res.statusCode !== 200) throw new Error(`${url}: ${res.body}`)
      const page = listed.json(res.body)
      ids.push(...page)
      between(page)
      url = nextOf(res)
    }
    return ids
  }

  await t.test('pages follow one another by texts too long for a link', async t => {
    const rows = [1990, 3000, 1000, 4000, 1400, 1490,
      1500].map((length, index) => ({ title: 'é'.repeat(length / 2) + 'x'.repeat(length / 2), rating: index }))
    const store = seeded(rows)
    const app = await serve(t, store)
    for (const sort of ['title', '-title,rating', 'rating,title,-id']) {
      t.strictSame(await walk(app, { sort, limit: '1' }), inOrder(store, sort))
    }
  })

  await t.test('pages follow one another by values that break the schema', async t => {
    const rows = ['a\u0000', '\ud800', 'b',
      '\ud800'].map((title, index) => ({
      title, rating: index - 0.5, published: String(index), price: index > 2, note: index
    }))
    const store = seeded(rows)
    const app = await serve(t, store)
    for (const sort of ['title', '-rating', '-published', 'price', 'note']) {
      const ids = await walk(app, { sort, limit: '1' })
      t.strictSame(ids, inOrder(store, sort), sort)
    }
  })
})

t.test('a row with a value too long for a link is looked up', async t => {
  const long = 'x'.repeat(3000)
  const store = seeded([{ title: long }, { title: `${long}y` }, { title: `${long}z` }])
  const app = await serve(t, { ...store, get: async (id, scope) => store.get(id, scope) })
  const first = await app.inject('/posts.json?sort=title&limit=1')
  t.ok((nextOf(first) ?? '').length < 200)
  t.strictSame(decode(cursorOf(first)), ['title', [1]])
  t.strictSame(listed.json((await app.inject(nextOf(first) ?? '')).body), ['2'])
  store.update(1, { title: `${long}yy` }, guard)
  t.strictSame(listed.json((await app.inject(nextOf(first) ?? '')).body), ['3'],
    'the position is that of the row\'s current value')
  store.delete(1, guard)
  for (const kind of formats) {
    const res = await app.inject((nextOf(first) ?? '').replace('.json', `.${kind}`))
    t.strictSame([res.statusCode, res.headers['content-type']], [400, problems[kind]])
    t.match(res.body, /the row at which the page begins has been deleted; start again without/i)
  }
})

t.test('a cursor holds only the values that its page needs', async t => {
  const app = await serve(t)
  const cases: [sort: string | undefined, parts: unknown][] = [
    [undefined, [1]], ['id', [1]], ['-id', ['-id', 8]], ['-rating,title', ['-rating,title', 5, '', 8]],
    ['-rating,title,id', ['-rating,title', 5, '', 8]], ['price,-id', ['price,-id', null, 7]],
    ['-published', ['-published,-id', true, 8]]
  ]
  for (const [sort, parts] of cases) {
    const res = await app.inject({ url: '/posts.json', query: { limit: '1', ...(sort !== undefined && { sort }) } })
    t.strictSame(decode(cursorOf(res)), parts, String(sort))
  }
})

t.test('a cursor that no page of this order has returned is a bad request', async t => {
  const app = await serve(t)
  const raw = (text: string): string => Buffer.from(text).toString('base64url')
  const uuid = '0190a6b0-1234-7abc-8def-0123456789ab'
  const cases: [sort: string | undefined, good: unknown[], bad: unknown[]][] = [
    [undefined, [[5], [4711], [-5], [0]], [['', 5], ['id', 5], ['-id', 5], [null, 5], [[5]], ['', [5]], [5, 6], ['5'],
      [uuid], [5.5], [2 ** 53], [null], [true], [], {}, [{ toString: 1 }], [[{ toString: 1 }]], 5, 'x', null]],
    ['id', [[5]], [['id', 5], ['-id', 5], ['id', [5]]]],
    ['-id', [['-id', 5]], [[5], ['id', 5], ['-id'], ['-id', 5, 6], ['-id', [5]], ['-id', null], ['-id', '5'],
      ['-title', 'a', 5]]],
    ['rating', [['rating', 5, 1], ['rating', null, 1], ['rating', 99, 1], ['rating', [1]]],
      [[1], ['-rating', 5, 1], ['rating,id', 5, 1], ['rating', 5], ['rating', 1], ['rating', 5, 1, 1],
        ['rating', '5', 1], ['rating', true, 1], ['rating', 1.5, 1], ['rating', [5], 1], ['rating', {}, 1],
        ['rating', 5, [1]], ['rating', 5, null], ['rating', 5, '1'], ['rating', 5, uuid], ['rating', []],
        ['rating', [1, 2]], ['rating', ['1']], ['rating', [null]], ['rating', [[1]]],
        ['rating', { 0: 1, length: 1 }], ['rating', [{ toString: 1 }]], ['rating', 5, { toString: 1 }],
        ['title', 'a', 1]]],
    ['title,-price', [['title,-price,-id', 'a', 1.5, 1], ['title,-price,-id', null, null, 1],
      ['title,-price,-id', '', -1e300, 1], ['title,-price,-id', [1]]],
    [['title,-price', 'a', 1.5, 1], ['title,-price,-id', 5, 1.5, 1], ['title,-price,-id', 'a', '1.5', 1],
      ['title,-price,-id', 'a', false, 1], ['title,-price,-id', '\u0000', 1, 1],
      ['title,-price,-id', '\ud800', 1, 1], ['title,-price,-id', 'a', 1], ['title', 'a', 1],
      ['title,price', 'a', 1.5, 1], ['title,-price,id', 'a', 1.5, 1],
      ['title,-price,-id', 'x'.repeat(2000), 1, 1]]],
    ['published', [['published', true, 1], ['published', false, 1]],
      [['published', 1, 1], ['published', 'true', 1], ['published', 0, 1]]],
    ['constructor', [['constructor', 'a', 1], ['constructor', null, 1]],
      [['constructor', 1, 1], ['constructor', true, 1]]]
  ]
  for (const [sort, good, bad] of cases) {
    const query = (after: string): Record<string,
      string> => ({ after, limit: '5', ...(sort !== undefined && { sort }) })
    for (const parts of good) {
      t.equal((await app.inject({ url: '/posts', query: query(encode(parts)) })).statusCode, 200,
        `${sort}: ${JSON.stringify(parts)}`)
    }
    const spelled = good.flatMap((parts) => {
      const text = JSON.stringify(parts)
      return [`${encode(parts)}=`, ` ${encode(parts)}`, `${encode(parts)}A`, raw(text.replace('[', '[ ')),
        raw(`${text} `), raw(text.slice(0, -1)), raw(text.replace(/(\d)\]/, '$1.0]')),
        raw(text.replace(/(\d)\]/, '$1e0]')), raw(text.replace(/(\d+)\]/, '0$1]'))]
    })
    for (const after of [...bad.map(encode), ...spelled, 'null', '', '!', encode('['.repeat(5000)),
      raw('['.repeat(9000)), raw('['.repeat(5000) + ']'.repeat(5000))]) {
      const kind = formats[after.length % 3] as FormatName
      const res = await app.inject({ url: `/posts.${kind}`, query: query(after) })
      t.strictSame([res.statusCode, res.headers['content-type']], [400, problems[kind]],
        `${sort}: ${Buffer.from(after, 'base64url').toString().slice(0, 60)}`)
      t.match(res.body, /after(?:&quot;|\\?") must come from a/)
    }
  }
})

t.test('a list can be sorted and filtered only if the store supports it', async t => {
  const { capabilities, ...plain } = seeded()
  const stores: [name: string, store: Store, sort: boolean, filter: boolean][] = [
    ['nothing declared', plain, false, false],
    ['declared by half', { ...plain, capabilities: { filter: true } }, false, true],
    ['both', { ...plain, capabilities }, true, true]
  ]
  for (const [name, store, sort, filter] of stores) {
    const app = await serve(t, store)
    for (const [url, can] of [['/posts.json?sort=title', sort], ['/posts.json?rating=5', filter]] as const) {
      const res = await app.inject(url)
      t.equal(res.statusCode, can ? 200 : 400, `${name}: ${url}`)
      if (!can) t.match(res.json(), { detail: /^the parameter "(?:sort|rating)" is unknown(?:;|$)/ })
    }
    t.equal((await app.inject('/posts.json?limit=2')).statusCode, 200)
  }
})

t.test('options choose the attributes to sort and filter by', async t => {
  const cases: [options: Partial<ResourceOptions>, good: string[], bad: string[]][] = [
    [{ sort: ['title'] }, ['sort=title', 'sort=-title,-id', 'sort=id', 'rating=5'], ['sort=rating']],
    [{ sort: [] }, ['rating=5'], ['sort=title', 'sort=id', 'sort=']],
    [{ filter: ['title', 'title'] }, ['title=a', 'sort=rating'], ['rating=5']],
    [{ filter: [] }, ['sort=title'], ['title=a', 'rating=5']],
    [{ sort: ['rating', 'price'], filter: ['published'] }, ['sort=price,-rating&published=true'],
      ['sort=published', 'rating=5']]
  ]
  for (const [options, good, bad] of cases) {
    const app = await serve(t, seeded(), options)
    for (const query of good) t.equal((await app.inject(`/posts?${query}`)).statusCode, 200, query)
    for (const query of bad) t.equal((await app.inject(`/posts?${query}`)).statusCode, 400, query)
  }
})

t.test('a store that fails to look up the position of a page gives an ordinary error', async t => {
  for (const get of [() => { throw new Error('secret') }, async () => { throw new Error('secret') }]) {
    const app = await serve(t, { ...seeded(), get })
    const res = await app.inject({ url: '/posts.json', query: { sort: 'title', after: encode(['title', [1]]) } })
    t.equal(res.statusCode, 500)
    t.notMatch(res.body, 'secret')
  }
})
