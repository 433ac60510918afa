import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type HandlerAnswer, type Attributes, type Authorize, type MaybePromise, memoryStore, type MemoryStore,
  type ResourceOptions, type Row
} from '../../../lib/index.js'
import { build, draft, post, types, xml } from '../../support/helper.js'
import type { AnyContext } from '../../support/map-action.js'
import { resettableStore } from '../../support/stores/resettable-store.js'
import { plainTag } from '../../support/plain-tag.js'

type Store = NonNullable<ResourceOptions['store']>
interface Post { id: number, title: string, published: boolean }

const form = 'application/x-www-form-urlencoded'
const row: Post = { id: 1, title: 'theirs', published: false }
const xmlRow = '<post><id type="integer">1</id><title>theirs</title><published type="boolean">false</published></post>'

/** Returns a store with one row that was written twice: its title is "theirs" and its version "2". */
function writtenTwice (attributes: Attributes = { title: 'T', published: false }): MemoryStore {
  const store = memoryStore<Attributes>()
  store.create(attributes, {})
  store.update(1, { title: 'theirs' }, { version: undefined, scope: {} })
  return store
}

/** Builds an app with one row that was written twice, and a function that puts the row back. */
async function seededAgain (t: Test): Promise<[app: FastifyInstance, reset: () => void]> {
  const store = resettableStore(writtenTwice)
  return [await seeded(t, { store }), store.reset]
}

/** Builds an app with one row that was written twice. */
async function seeded (t: Test, options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', attributes: post, writes: 'both', store: writtenTwice(), ...options })
}

async function rows (app: FastifyInstance): Promise<unknown> {
  return (await app.inject('/posts.json')).json()
}

function isPage (t: Test, res: LightMyRequestResponse, status: number): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [status, types.html])
  t.match(res.body, /^<!doctype html\b[^]*<\/html>\s*$/i, 'a complete page')
}

/** Checks a 412 for a JSON client: the current record with its tag. */
function isStale (t: Test, res: LightMyRequestResponse): void {
  t.strictSame([res.statusCode, res.headers['content-type'], plainTag(res.headers.etag)], [412, types.json, '"2.json"'])
  t.strictSame(res.json(), { post: row })
}

t.test('show, create and update send a strong tag of version and format', async t => {
  const formats: [format: 'xml' | 'json', body: string,
    changed: string][] = [['xml', '<post><title>T</title></post>', '<post><id>1</id><title>U</title></post>'],
    ['json', '{"post":{"title":"T"}}', '{"id":1,"post":{"title":"U"}}']]
  for (const [format, body, changed] of formats) {
    await t.test(format, async t => {
      const app = await build(t, { name: 'posts', attributes: post })
      const headers = { 'content-type': `application/${format}` }
      const created = await app.inject({ method: 'POST', url: '/posts', headers, payload: body })
      t.strictSame([created.statusCode, created.headers['content-type'], plainTag(created.headers.etag)],
        [201, types[format], `"1.${format}"`])
      const shown = await app.inject(`/posts/1.${format}`)
      t.strictSame([shown.statusCode, shown.headers['content-type'], plainTag(shown.headers.etag)],
        [200, types[format], `"1.${format}"`])
      t.equal(shown.body, created.body)
      const updated = await app.inject({ method: 'PUT', url: '/posts', headers, payload: changed })
      t.strictSame([updated.statusCode, updated.headers['content-type'], plainTag(updated.headers.etag)],
        [200, types[format], `"2.${format}"`])
      t.equal(plainTag((await app.inject(`/posts/1.${format}`)).headers.etag), `"2.${format}"`)
    })
  }
})

t.test('errors have no tag', async t => {
  const app = await seeded(t)
  for (const url of ['/posts/99', '/posts/abc', '/posts/1?bogus=1', '/posts/1?format=pdf']) {
    const res = await app.inject(url)
    t.ok(res.statusCode >= 400)
    t.equal(res.headers.etag, undefined, url)
  }
})

t.test('GET and HEAD respect If-None-Match', async t => {
  const cases: [name: string, ifNoneMatch: string, status: 200 | 304][] = [
    ['the tag', '"2.json"', 304],
    ['a list with the weak tag', '"1.json", W/"2.json"', 304],
    ['*', '*', 304],
    ['an older version', '"1.json"', 200],
    ['the tag of another format', '"2.xml"', 200],
    ['a version without format', '"2"', 200],
  ]
  const app = await seeded(t)
  const { headers: { etag } } = await app.inject('/posts/1.json')
  const [shape = ''] = /-[\da-f]{8}(?="$)/.exec(String(etag)) ?? []
  for (const [name, tags, status] of [...cases, ['the tag without its shape', '"2.json" ', 200]] as const) {
    await t.test(`a read with ${name} is ${status}`, async t => {
      for (const method of ['GET', 'HEAD'] as const) {
        const ifNoneMatch = tags === '"2.json" ' ? tags : tags.replaceAll(/(?<=\.(?:json|xml))(?=")/g, shape)
        const res = await app.inject({
          method, url: '/posts/1', headers: { accept: 'application/json', 'if-none-match': ifNoneMatch }
        })
        t.strictSame([res.statusCode, res.headers.etag, res.headers.vary], [status, etag, 'Accept'], method)
        if (status === 304) {
          t.strictSame([res.body, res.headers['content-type']], ['', undefined], method)
        } else {
          t.equal(res.headers['content-type'], types.json)
          if (method === 'GET') t.strictSame(res.json(), { post: row })
        }
      }
    })
  }
})

const matches: [name: string, ifMatch: string, outcome: 'written' | 'stale' | 400][] = [
  ['the tag', '"2.json"', 'written'],
  ['the tag of another format, for the version counts', '"2.xml"', 'written'],
  ['the version without format', '"2"', 'written'],
  ['*', '*', 'written'],
  ['a list with the tag', '"1.json", "2.json", "3.json"', 'written'],
  ['an older version', '"1.json"', 'stale'],
  ['the tag, weak', 'W/"2.json"', 'stale'],
  ['a list where only a weak tag names the version', '"1.json", W/"2.json"', 'stale'],
  ['garbage behind the tag', '"2.json" garbage', 400],
  ['*, and a tag', '*,"1"', 400]
]

for (const [method, url, body, status] of [
  ['PUT', '/posts', { id: 1, post: { title: 'mine' } }, 200],
  ['PUT', '/posts/1', { post: { title: 'mine' } }, 200],
  ['PATCH', '/posts/1', { post: { title: 'mine' } }, 200],
  ['DELETE', '/posts', { id: 1 }, 204],
  ['DELETE', '/posts/1', undefined, 204]
] as const) {
  t.test(`If-Match on ${method} ${url}`, async t => {
    const [app, reset] = await seededAgain(t)
    for (const [name, ifMatch, outcome] of matches) {
      await t.test(`${name} is ${outcome}`, async t => {
        reset()
        const headers = { accept: 'application/json', 'if-match': ifMatch }
        const res = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) })
        if (outcome === 'stale') {
          isStale(t, res)
        } else if (outcome === 400) {
          t.strictSame([res.statusCode, res.headers['content-type']], [400, types.problem])
          t.match(res.json(), { title: 'Bad Request', status: 400 })
        } else if (status === 204) {
          t.strictSame([res.statusCode, res.body], [204, ''])
        } else {
          t.strictSame([res.statusCode, res.headers['content-type'], plainTag(res.headers.etag)],
            [200, types.json, '"3.json"'])
          t.strictSame(res.json(), { post: { ...row, title: 'mine' } })
        }
        const after = outcome !== 'written' ? [row] : method === 'DELETE' ? [] : [{ ...row, title: 'mine' }]
        t.strictSame(await rows(app), { posts: after })
      })
    }
  })
}

t.test('If-Match on a missing row is a 404', async t => {
  const app = await seeded(t)
  for (const ifMatch of ['*', '"1.json"', '"2.json"']) {
    for (const request of [{ method: 'PUT', url: '/posts', payload: { id: 99, post: { title: 'mine' } } },
      { method: 'DELETE', url: '/posts?id=99' }] as const) {
      const res = await app.inject({ ...request, headers: { accept: 'application/json', 'if-match': ifMatch } })
      t.strictSame([res.statusCode, res.headers['content-type']], [404, types.problem], `${request.method} ${ifMatch}`)
    }
  }
})

t.test('a 412 sends the current record with its tag, in the requested format', async t => {
  const app = await seeded(t)
  const headers = { 'if-match': '"1.xml"' }
  for (const request of [{ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } },
    { method: 'DELETE', url: '/posts?id=1' }] as const) {
    const asXml = await app.inject({ ...request, headers: { ...headers, accept: 'application/xml' } })
    t.strictSame([asXml.statusCode, asXml.headers['content-type'], plainTag(asXml.headers.etag), asXml.body],
      [412, types.xml, '"2.xml"', xml + xmlRow])
    isStale(t, await app.inject({ ...request, headers: { ...headers, accept: 'application/json' } }))
    const page = await app.inject({ ...request, headers: { ...headers, accept: 'text/html' } })
    isPage(t, page, 412)
    t.match(page.body, 'theirs')
  }
  t.strictSame(await rows(app), { posts: [row] })
})

t.test('the _version of a form works like If-Match', async t => {
  const cases: [name: string, body: string, ifMatch: string | undefined, outcome: 'written' | 'stale' | 400][] = [
    ['the version', '_version=2', undefined, 'written'],
    ['an older version', '_version=1', undefined, 'stale'],
    ['no version', '', undefined, 'written'],
    ['the version and an older tag', '_version=2', '"1.html"', 'stale'],
    ['an older version and the tag', '_version=1', '"2.html"', 'stale'],
    ['an older version and *', '_version=1', '*', 'stale'],
    ['the version twice', '_version=2&_version=2', undefined, 400],
  ]
  const writes: [name: string, request: InjectOptions, after: Post[]][] = [
    ['PUT', { url: '/posts', payload: '_method=PUT&id=1&post[title]=mine&' }, [{ ...row, title: 'mine' }]],
    ['DELETE', { url: '/posts', payload: '_method=DELETE&id=1&' }, []],
    ['PUT of a member', { url: '/posts/1', payload: '_method=PUT&post[title]=mine&' }, [{ ...row, title: 'mine' }]],
    ['DELETE of a member', { url: '/posts/1', payload: '_method=DELETE&' }, []]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [write, request, after] of writes) {
    for (const [name, body, ifMatch, outcome] of cases) {
      await t.test(`${write}: ${name}${ifMatch === undefined ? '' : `, If-Match ${ifMatch}`} is ${outcome}`,
        async t => {
          reset()
          const headers = {
            accept: 'text/html', 'content-type': form, ...(ifMatch === undefined ? {} : { 'if-match': ifMatch })
          }
          const res = await app.inject({
            ...request, method: 'POST', headers, payload: `${String(request.payload)}${body}`.replace(/&$/, '')
          })
          if (outcome === 'written') {
            t.strictSame([res.statusCode, res.headers.location, res.body],
              [303, after.length > 0 ? '/posts/1' : '/posts', ''])
          } else {
            isPage(t, res, outcome === 'stale' ? 412 : 400)
            if (outcome === 'stale') t.match(res.body, 'theirs')
          }
          t.strictSame(await rows(app), { posts: outcome === 'written' ? after : [row] })
        })
    }
  }
})

t.test('_version is refused in other places than beside the id', async t => {
  const cases: [name: string, status: number, request: InjectOptions][] = [
    ['beside the group of JSON', 422, { url: '/posts', payload: { id: 1, _version: '2', post: { title: 'mine' } } }],
    ['in the group of a form', 422, {
      url: '/posts', headers: { 'content-type': form }, payload: 'id=1&post[title]=mine&post[_version]=2'
    }],
    ['in the query', 400, { url: '/posts?_version=2', payload: { id: 1, post: { title: 'mine' } } }]
  ]
  for (const [name, status, request] of cases) {
    await t.test(name, async t => {
      const app = await seeded(t)
      const res = await app.inject({
        ...request, method: 'PUT', headers: { ...request.headers, accept: 'application/json' }
      })
      t.strictSame([res.statusCode, res.headers['content-type']], [status, types.problem])
      t.match(res.body, '_version', 'the error names _version')
      t.strictSame(await rows(app), { posts: [row] })
    })
  }
})

t.test('requireMatch demands a version for each update and delete', async t => {
  const asForm = { accept: 'text/html', 'content-type': form }
  const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, headers = {},
    payload?: object): InjectOptions =>
    ({ method, url, headers: { accept: 'application/json', ...headers }, ...(payload !== undefined && { payload }) })
  const put = (headers = {}, id = 1): InjectOptions => send('PUT', '/posts', headers, { id, post: { title: 'mine' } })
  const submit = (payload: string, headers = {}): InjectOptions =>
    ({ method: 'POST', url: '/posts', headers: { ...asForm, ...headers }, payload })
  const change = '_method=PUT&id=1&post[title]=mine'
  const cases: [name: string, request: InjectOptions, status: number][] = [
    ['a create', send('POST', '/posts', {}, { post: { title: 'mine' } }), 201],
    ['PUT without', put(), 428],
    ['PATCH of a member without', send('PATCH', '/posts/1', {}, { post: { title: 'mine' } }), 428],
    ['DELETE without', send('DELETE', '/posts', {}, { id: 1 }), 428],
    ['DELETE of a member without', send('DELETE', '/posts/1'), 428],
    ['PUT with If-None-Match only', put({ 'if-none-match': '"1.json"' }), 428],
    ['PUT with the tag', put({ 'if-match': '"2.json"' }), 200],
    ['PUT with an older tag', put({ 'if-match': '"1.json"' }), 412],
    ['PUT with *, which names no version', put({ 'if-match': '*' }), 428],
    ['PUT with * and If-None-Match', put({ 'if-match': '*', 'if-none-match': '"1.json"' }), 428],
    ['DELETE with the tag', send('DELETE', '/posts?id=1', { 'if-match': '"2.json"' }), 204],
    ['PUT of an unknown id', put({}, 99), 404],
    ['DELETE of an unknown id', send('DELETE', '/posts?id=99'), 404],
    ['a form without _version', submit(change), 428],
    ['a form without _version, to delete', submit('_method=DELETE&id=1'), 428],
    ['a form with _version', submit(`${change}&_version=2`), 303],
    ['a form with _version, to delete', submit('_method=DELETE&_version=2&id=1'), 303],
    ['a form with an older _version', submit(`${change}&_version=1`), 412],
    ['a form with If-Match', submit(change, { 'if-match': '"2.html"' }), 303],
    ['a form with * and no _version', submit(change, { 'if-match': '*' }), 428],
    ['a form with * and _version', submit(`${change}&_version=2`, { 'if-match': '*' }), 303]
  ]
  for (const [name, request, status] of cases) {
    await t.test(`with requireMatch, ${name} is ${status}`, async t => {
      const app = await seeded(t, { requireMatch: true })
      const before = await rows(app)
      const res = await app.inject(request)
      t.equal(res.statusCode, status)
      if (status === 428) {
        if (request.headers?.accept === asForm.accept) isPage(t, res, 428)
        else t.match(res.json(), { type: 'about:blank', title: 'Precondition Required', status: 428, detail: /\S/ })
      } else if (status === 412 && request.headers?.accept !== asForm.accept) {
        isStale(t, res)
      }
      if (status >= 400) t.strictSame(await rows(app), before)
      else if (request.method !== undefined) t.notSame(await rows(app), before)
    })
  }
})

/** Returns the same store with asynchronous answers that come after the other requests had their turn. */
function slow (store: Store): Store {
  return {
    ...store,
    get: async (...values) => { await setImmediate(); return store.get(...values) },
    update: async (...values) => { await setImmediate(); return store.update(...values) },
    delete: async (...values) => { await setImmediate(); return store.delete(...values) }
  }
}

/** The ways to write a row: by the id in the payload, at its own path, by a form, and by custom actions. */
const WRITES: Array<[name: string, request: InjectOptions, done: number]> = [
  ['PUT', { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } }, 200],
  ['PUT of a member', { method: 'PUT', url: '/posts/1', payload: { post: { title: 'mine' } } }, 200],
  ['PATCH of a member', { method: 'PATCH', url: '/posts/1', payload: { post: { title: 'mine' } } }, 200],
  ['DELETE', { method: 'DELETE', url: '/posts', payload: { id: 1 } }, 204],
  ['DELETE of a member', { method: 'DELETE', url: '/posts/1' }, 204],
  ['a form of PUT', {
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PUT&id=1&post[title]=mine'
  }, 200],
  ['a form of DELETE', {
    method: 'POST', url: '/posts/1', headers: { 'content-type': form }, payload: '_method=DELETE'
  }, 204],
  ['an action of the app\'s own', { method: 'POST', url: '/posts/1/stamp', payload: { post: { title: 'mine' } } }, 200],
  ['an action of the app\'s own that heeds no guard',
    { method: 'PUT', url: '/posts/1/force', payload: { post: { title: 'mine' } } }, 200],
  ['an action of the collection that names the row',
    { method: 'POST', url: '/posts/stamp', payload: { id: 1, post: { title: 'mine' } } }, 200],
  ['an update by the app\'s own handler', { method: 'PUT', url: '/mine', payload: { id: 1, mine: { title: 'mine' } } },
    200],
  ['a nested row', { method: 'PUT', url: '/blogs/1/notes', payload: { id: 1, note: { title: 'mine' } } }, 200],
  ['a shallow row', { method: 'DELETE', url: '/cards/1' }, 204],
  ['a singleton', { method: 'PUT', url: '/profile', payload: { profile: { title: 'mine' } } }, 200],
  ['a deletion of a singleton', { method: 'DELETE', url: '/profile' }, 204]
]

/** Permits a request whose row it has read, so that the write is bound to that version of it. */
const reads: Authorize = async (_request, { row }) => (await row?.()) !== undefined

const titled = { type: 'object', properties: { title: { type: 'string', minLength: 1 } } } as const

/**
 * Builds an app with a row in each kind of resource. Each was written twice: its title is "theirs" and its version "2".
 */
async function draftAll (t: Test, wrap = (store: Store): Store => store,
  options: { readonly authorize?: Authorize } = {}): Promise<{
    app: FastifyInstance, calls: string[], stores: Store[], reset: () => void
  }> {
  const calls: string[] = []
  const stores = Array.from({ length: 6 }, () => resettableStore(() => writtenTwice({ title: 'T', blogId: 1 })))
  const reset = (): void => {
    calls.length = 0
    for (const store of stores) store.reset()
  }
  const optionsOf = (index: number): {
    attributes: typeof titled, store: Store, writes: 'both', authorize?: Authorize
  } => ({
    attributes: titled, store: wrap(stores[index] as Store), writes: 'both', ...options
  })
  const stamp = (context: AnyContext): MaybePromise<HandlerAnswer> => {
    calls.push(context.action)
    return context.store.update(context.id, context.attributes, context.guard, context)
  }
  const app = await draft(t, (map) => map
    .resources('posts', optionsOf(0), (posts) => {
      posts.member.post('stamp', stamp)
      posts.collection.post('stamp', stamp)
      posts.member.put('force', (context: AnyContext) => {
        calls.push(context.action)
        return context.store.update(context.id, context.attributes, { version: undefined, scope: {} }, context)
      })
    })
    .resources('mine', { ...optionsOf(1), singular: 'mine', actions: { update: stamp } })
    .resources('blogs', optionsOf(2), (map) => {
      map.resources('notes', optionsOf(3))
      map.resources('cards', { ...optionsOf(4), shallow: true })
    })
    .resource('profile', optionsOf(5)))
  return { app, calls, stores, reset }
}

for (const [how, wrap, authorize] of [['at once', undefined, undefined],
  ['by promises, after authorize', slow, reads]] as const) {
  t.test(`If-None-Match on a write, in a store that answers ${how}`, async t => {
    const { app, calls, stores, reset } = await draftAll(t, wrap, { ...(authorize !== undefined && { authorize }) })
    for (const [name, request, done] of WRITES) {
      const isSingleton = String(request.url).startsWith('/profile')
      const tag = (version: string): string => isSingleton ? `1-${version}` : version
      const cases: Array<[ifNoneMatch: string, isMet: boolean]> = [
        ['*', false],
        [`"${tag('2')}.json"`, false],
        [`"${tag('2')}.xml"`, false],
        [`W/"${tag('2')}.json"`, false],
        [`"${tag('1')}.json", "${tag('2')}.json"`, false],
        [`"${tag('1')}.json"`, true],
        [`"${tag('1')}.json", "${tag('3')}.json"`, true],
        ['""', true]
      ]
      for (const [ifNoneMatch, isMet] of cases) {
        reset()
        const res = await app.inject({
          ...request, headers: { accept: 'application/json', ...request.headers, 'if-none-match': ifNoneMatch }
        })
        const what = `${name}: ${ifNoneMatch}`
        t.equal(res.statusCode, isMet ? done : 412, what)
        const written = stores.some((store) =>
          (store.get(1, {},
            { signal: new AbortController().signal }) as { version: string } | undefined)?.version !== '2')
        t.equal(written, isMet, `${what}: the write is executed or not`)
        if (isMet) continue
        const etag = request.url === '/posts/stamp' ? /^"1-2\.json-/ : new RegExp(`^"${tag('2')}\\.json-`)
        t.match(res, { headers: { 'content-type': types.json, etag }, body: '"theirs"' },
          `${what}: the row is unchanged`)
        t.strictSame(calls, [], `${what}: no handler is called`)
      }
    }
  })
}

t.test('If-Match and If-None-Match must both hold', async t => {
  const cases: Array<[ifMatch: string, ifNoneMatch: string, status: number]> = [
    ['"2.json"', '"1.json"', 200],
    ['"2.json"', '"2.json"', 412],
    ['"1.json"', '"1.json"', 412],
    ['*', '"1.json"', 200],
    ['*', '*', 412],
    ['"1.json", "2.json"', '"3.json"', 200],
    ['W/"2.json"', '"3.json"', 412]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [ifMatch, ifNoneMatch, status] of cases) {
    reset()
    const res = await app.inject({
      method: 'PUT',
      url: '/posts',
      headers: { 'if-match': ifMatch, 'if-none-match': ifNoneMatch },
      payload: { id: 1, post: { title: 'mine' } }
    })
    t.equal(res.statusCode, status, `${ifMatch} and ${ifNoneMatch}`)
    if (status === 412) isStale(t, res)
  }
})

t.test('If-None-Match on a write of a missing row is a 404, a malformed one a 400', async t => {
  const app = await seeded(t)
  for (const request of [{ method: 'PUT', url: '/posts', payload: { id: 99, post: { title: 'mine' } } },
    { method: 'DELETE', url: '/posts?id=99' }] as const) {
    for (const ifNoneMatch of ['*', '"2.json"']) {
      const res = await app.inject({
        ...request, headers: { accept: 'application/json', 'if-none-match': ifNoneMatch }
      })
      t.strictSame([res.statusCode, res.headers['content-type']], [404, types.problem])
    }
  }
  for (const request of [{ method: 'POST', url: '/posts', payload: { post: { title: 'mine' } } },
    { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } }] as const) {
    const res = await app.inject({ ...request, headers: { accept: 'application/json', 'if-none-match': '2.json' } })
    t.strictSame([res.statusCode, res.headers['content-type']], [400, types.problem])
    t.match(res.json(), { detail: 'If-None-Match is not a list of entity tags such as "1.xml"' })
  }
  t.strictSame(await rows(app), { posts: [row] })
})

t.test('a write is authorized again if the row meanwhile matches If-None-Match or no longer matches If-Match',
  async t => {
    const cases: Array<[headers: Record<string, string>, status: number]> = [
      [{ 'if-none-match': '"3.json"' }, 412],
      [{ 'if-none-match': '"2.json", "4.json"' }, 200],
      [{ 'if-none-match': '"1.json", "4.json"' }, 200],
      [{ 'if-match': '"2.json", "3.json"' }, 200],
      [{ 'if-match': '"1.json", "2.json"' }, 412]
    ]
    for (const [headers, status] of cases) {
      const { app, stores: [store] } = await draftAll(t, (inner) => {
        let isRead = false
        return {
          ...inner,
          get (id, scope, context) {
            const found = inner.get(id, scope, context)
            if (!isRead) inner.update(id, { title: 'newer' }, { version: undefined, scope: {} }, context)
            isRead = true
            return found
          }
        }
      })
      const res = await app.inject({
        method: 'PUT', url: '/posts', headers, payload: { id: 1, post: { title: 'mine' } }
      })
      t.equal(res.statusCode, status, JSON.stringify(headers))
      if (status === 412) {
        t.match(store?.get(1, {}, { signal: new AbortController().signal }),
          { version: '3', attributes: { title: 'newer' } })
      }
    }
  })

t.test('If-Match on a create is a 412, because a new row has no version', async t => {
  const creates: Array<[name: string, request: InjectOptions]> = [
    ['JSON', { url: '/posts', payload: { post: { title: 'mine' } } }],
    ['XML', {
      url: '/posts', headers: { 'content-type': 'application/xml' }, payload: '<post><title>mine</title></post>'
    }],
    ['a form', { url: '/posts', headers: { 'content-type': form }, payload: 'post[title]=mine' }],
    ['a nested row', { url: '/blogs/1/notes', payload: { note: { title: 'mine' } } }],
    ['a handler of the app\'s own', { url: '/made', payload: { made: { title: 'mine' } } }],
    ['a singleton that is there', { url: '/profile', payload: { profile: { title: 'mine' } } }],
    ['a singleton that is not there', { url: '/about', payload: { about: { title: 'mine' } } }]
  ]
  let calls = 0
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled })
    .resources('blogs', { attributes: titled, store: seededStore() },
      (blogs) => blogs.resources('notes', { attributes: titled }))
    .resources('made', {
      attributes: titled,
      singular: 'made',
      actions: { create: ({ attributes }) => { calls++; return { id: 1, attributes } } }
    })
    .resource('profile', { attributes: titled, store: seededStore() })
    .resource('about', { attributes: titled }))
  for (const [name, request] of creates) {
    for (const headers of [{ 'if-match': '*' }, { 'if-match': '"1.json"' }, { 'if-match': 'W/"1.json"' },
      { 'if-match': '*', 'if-none-match': '*' }]) {
      const res = await app.inject({
        ...request, method: 'POST', headers: { accept: 'application/json', ...request.headers, ...headers }
      })
      t.match(res, {
        statusCode: 412, headers: { 'content-type': types.problem, etag: undefined, location: undefined }
      }, `${name}: ${JSON.stringify(headers)}`)
      t.match(res.json(), { title: 'Precondition Failed', detail: /has no version yet/ })
    }
  }
  const versioned = await app.inject({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_version=1&post[title]=mine'
  })
  isPage(t, versioned, 412)
  t.match(versioned.body, 'mine', 'a form keeps the sent values')
  t.strictSame((await app.inject('/posts.json')).json(), { posts: [] })
  t.equal((await app.inject('/about')).statusCode, 404)
  t.equal(calls, 0, 'no handler is called')
})

t.test('If-None-Match on a create demands that the row does not exist', async t => {
  const other = { id: 7, attributes: { title: 'made' } }
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store: seededStore() })
    .resource('profile', { attributes: titled, store: seededStore() })
    .resource('draft', { attributes: titled, store: seededStore(), actions: { create: () => other } })
    .resource('made', { attributes: titled, actions: { create: () => other } })
    .resource('about', { attributes: titled }))
  const create = (name: string, url: string, ifNoneMatch: string): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url,
      headers: { accept: 'application/json', 'if-none-match': ifNoneMatch },
      payload: { [name]: { title: 'mine' } }
    })
  for (const tag of ['*', '"1.json"']) {
    t.equal((await create('post', '/posts', tag)).statusCode, 201, 'a new row does not exist yet')
  }
  for (const [name, url] of [['profile', '/profile'], ['draft', '/draft']] as const) {
    for (const tag of ['*', '"1-1.json"', 'W/"1-1.xml"']) {
      const res = await create(name, url, tag)
      t.match(res, { statusCode: 412, headers: { 'content-type': types.problem } }, tag)
      t.match(res.json(), { detail: `the ${name} exists already` })
    }
  }
  t.equal((await create('profile', '/profile', '"9-9.json"')).statusCode, 409, 'another tag than the excluded one')
  t.equal((await create('draft', '/draft', '"9-9.json"')).statusCode, 201,
    'a handler decides about the row that it makes')
  t.equal((await create('made', '/made', '*')).statusCode, 201, 'without a store only the handler knows the row')
  t.equal((await create('about', '/about', '*')).statusCode, 201)
  t.equal((await create('about', '/about', '*')).statusCode, 412)
})

t.test('requireMatch gives an action on no row a guard that matches no row, and guardFor gives one for a row',
  async t => {
    const store = seededStore()
    store.create({ title: 'second' }, {})
    const asked: unknown[] = []
    const touch = (context: AnyContext): MaybePromise<HandlerAnswer> => {
      const { guard, guardFor, scope, request } = context
      const found = store.get(Number(request.headers['x-row']), scope) as Row
      asked.push([guard.version, guardFor(found)])
      return store.update(found.id, { title: 'touched' },
        request.headers['x-plain'] === undefined ? guardFor(found) : guard)
    }
    const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store, scope: () => ({}) },
      (posts) => { posts.collection.put('latest', touch).new.post('touch', touch) }))
    const put = async (headers: Record<string, string>, url = '/posts/latest'): Promise<[number, unknown]> => {
      asked.length = 0
      const { statusCode } = await app.inject({
        method: url === '/posts/latest' ? 'PUT' : 'POST',
        url,
        headers: { accept: 'application/json', 'x-row': '1', ...headers }
      })
      return [statusCode, asked[0]]
    }
    const scope = {}
    t.strictSame(await put({}), [200, [undefined, { version: undefined, scope }]], 'the request demands nothing')
    t.strictSame(await put({ 'if-match': '*' }), [200, [undefined, { version: undefined, scope }]],
      'the request allows any version')
    t.strictSame(await put({ 'if-match': '"1-3.json"' }), [200, ['', { version: '3', scope }]],
      'the request names the current version')
    t.strictSame(await put({ 'if-match': '"1-3.json"' }), [412, ['', { version: '', scope }]],
      'the request names an older version')
    t.strictSame(await put({ 'if-match': '"1-4.json"', 'x-plain': '1' }), [412, ['', { version: '4', scope }]],
      'a handler that does not call guardFor writes no row')
    t.strictSame(await put({ 'if-none-match': '*' }), [412, ['', { version: '', scope }]], 'the row exists')
    t.strictSame(await put({ 'if-none-match': '"1-4.json"' }), [412, ['', { version: '', scope }]])
    t.strictSame(await put({ 'if-none-match': '"1-3.json"' }), [200, ['', { version: '4', scope }]])
    t.strictSame(await put({ 'if-none-match': '*' }, '/posts/new/touch'), [412, ['', { version: '', scope }]])
  })

t.test('guardFor demands the row that authorize has seen', async t => {
  const store = seededStore()
  store.create({ title: 'second' }, {})
  const guards: unknown[] = []
  const app = await draft(t, (map) => map.resources('posts',
    { attributes: titled, store, authorize: async (_request, { row }) => (await row?.()) !== undefined },
    (posts) => posts.member.post('touch', ({ guardFor }) => {
      store.update(1, {}, { version: undefined, scope: {} })
      guards.push(...[1, 2].map((id) => guardFor(store.get(id, {}) as Row).version))
    })))
  for (const headers of [{}, { 'if-match': '"2.json"' }]) {
    t.equal((await app.inject({ method: 'POST', url: '/posts/1/touch', headers })).statusCode, 204)
  }
  t.strictSame(guards, ['1', undefined, '2', ''])
  const properties = { ...titled.properties, secret: { type: 'string', writeOnly: true } } as const
  const hidden = await draft(t, (map) => map.resources('posts',
    { attributes: { ...titled, properties }, store: { ...store, versions: 'values' } },
    (posts) => posts.member.post('touch', ({ guardFor, reply }) => {
      try { guardFor({ id: 1, version: '1' } as Row) } catch (error) { return reply.send((error as Error).message) }
    })))
  t.match((await hidden.inject({ method: 'POST', url: '/posts/1/touch' })).body,
    'has called guardFor with a row without "attributes"')
})

/** Returns a store with one row of version "1". */
function seededStore (): ReturnType<typeof memoryStore<Attributes>> {
  const store = memoryStore<Attributes>()
  store.create({ title: 'T' }, {})
  return store
}
