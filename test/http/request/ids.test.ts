import t, { type Test } from 'tap'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { memoryStore } from '../../../lib/index.js'
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
