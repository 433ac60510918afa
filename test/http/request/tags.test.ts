import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type ActionContext, type Attributes, type HandlerRow, memoryStore, type ResourceOptions, type Row
} from '../../../lib/index.js'
import { build, draft, types } from '../../support/helper.js'
import type { AnyContext } from '../../support/map-action.js'
import { plainTag } from '../../support/plain-tag.js'

const form = 'application/x-www-form-urlencoded'
const attributes = { type: 'object', properties: { name: { type: 'string', minLength: 1 } } } as const
const FORMATS = ['xml', 'html', 'json'] as const
const open = { version: undefined, scope: {} }
type Asked = Omit<InjectOptions, 'headers'> & { readonly headers?: Record<string, string> }

/** Builds an app with one profile per user, who is named by a header. */
async function profiles (t: Test, options: object = {}): Promise<{
  app: FastifyInstance,
  store: ReturnType<typeof memoryStore<Attributes>>,
  as (user: string, asked?: Asked): Promise<LightMyRequestResponse>
}> {
  const store = memoryStore<Attributes>()
  for (const userId of ['ann', 'bob']) store.create({ name: userId, userId }, {})
  const app = await draft(t, (map) => map.resource('profile',
    { attributes, store, scope: ({ headers }) => ({ userId: String(headers['x-user']) }), ...options }))
  return {
    app,
    store,
    as: (user, { headers, ...asked } = {}) =>
      app.inject({ url: '/profile', ...asked, headers: { accept: 'application/json', 'x-user': user, ...headers } })
  }
}

t.test('the tag of one user\'s singleton does not match another user\'s', async t => {
  const { as } = await profiles(t)
  for (const format of FORMATS) {
    const url = `/profile.${format}`
    const { headers: { etag } } = await as('ann', { url })
    t.equal(plainTag(etag), `"1-1.${format}"`)
    t.equal((await as('ann', { url, headers: { 'if-none-match': String(etag) } })).statusCode, 304)
    for (const tag of [String(etag), `W/${String(etag)}`, `"1.${format}"`, `"1-2.${format}"`]) {
      const res = await as('bob', { url, headers: { 'if-none-match': tag } })
      t.match(res, { statusCode: 200, headers: { etag: new RegExp(`^"2-1\\.${format}-`) } }, tag)
      t.match(res.body, 'bob')
    }
  }
})

t.test('a write with the tag of another user\'s singleton, or with a bare version, is a 412', async t => {
  for (const requireMatch of [false, true]) {
    for (const authorize of [undefined,
      async (_request: unknown, { row }: { row?: () => unknown }) => (await row?.()) !== undefined]) {
      const { as, store } = await profiles(t, { requireMatch, ...(authorize !== undefined && { authorize }) })
      const payload = { profile: { name: 'Eve' } }
      const asForm = { 'content-type': form, accept: 'text/html' }
      for (const tag of ['"1-1.json"', '"1.json"', '"2.json"', '"2-2.json"', '"21-1.json"']) {
        for (const method of ['PUT', 'DELETE'] as const) {
          const res = await as('bob', { method, ...(method === 'PUT' && { payload }), headers: { 'if-match': tag } })
          t.match(res, { statusCode: 412, headers: { etag: /^"2-1\.json-/ } }, `${method} ${tag}`)
        }
      }
      for (const version of ['1-1', '1', '2', '2-2']) {
        t.equal((await as('bob', {
          method: 'POST', payload: `_method=PUT&_version=${version}&profile[name]=Eve`, headers: asForm
        })).statusCode, 412, version)
        t.equal((await as('bob', {
          method: 'POST', payload: `_method=DELETE&_version=${version}`, headers: asForm
        })).statusCode, 412, version)
      }
      t.match(store.get(2, {}), { version: '1', attributes: { name: 'bob' } }, 'nothing is written')
      t.equal((await as('bob', { method: 'PUT', payload, headers: { 'if-match': '"2-1.xml"' } })).statusCode, 200)
      t.equal((await as('bob', { method: 'POST', payload: '_method=DELETE&_version=2-2', headers: asForm })).statusCode,
        303)
    }
  }
})

t.test('a singleton that was deleted and created again is not overwritten under its old tag', async t => {
  for (const requireMatch of [false, true]) {
    const { as, store } = await profiles(t, { requireMatch, formPages: true })
    const { body, headers: { etag } } = await as('ann', { headers: { accept: 'text/html' } })
    const [, version = ''] = /name="_version" value="([^"]*)"/.exec(body) ?? []
    t.strictSame([version, plainTag(etag)], ['1-1', '"1-1.html"'])
    t.equal((await as('ann', { method: 'DELETE', headers: { 'if-match': '"1-1.json"' } })).statusCode, 204)
    t.equal((await as('ann', { method: 'POST', payload: { profile: { name: 'new' } } })).statusCode, 201)
    const payload = `_method=PUT&_version=${version}&profile[name]=old`
    const stale = await as('ann', { method: 'POST', payload, headers: { 'content-type': form, accept: 'text/html' } })
    t.match(stale, { statusCode: 412, headers: { 'content-type': types.html } })
    t.match(stale.body, 'name="_version" value="3-1"', 'the page of the conflict has the version of the new row')
    t.equal((await as('ann', {
      method: 'PUT', payload: { profile: { name: 'old' } }, headers: { 'if-match': '"1-1.json"' }
    })).statusCode, 412)
    t.match(store.get(3, {}), { version: '1', attributes: { name: 'new' } })
    const invalid = await as('ann', {
      method: 'POST', payload: '_method=PUT&profile[name]=', headers: { 'content-type': form, accept: 'text/html' }
    })
    t.match(invalid, { statusCode: 422 })
    t.match(invalid.body, 'name="_version" value="3-1"', 'a form that comes back has it too')
  }
})

t.test('a singleton that is replaced while the app\'s own handler runs is left alone', async t => {
  const handlers: Array<(context: AnyContext) => Promise<unknown>> = [
    async ({ store, attributes, guard, row, signal }) => await store.update((await row()).id, attributes, guard,
      { signal }), async ({ proceed }) => await proceed()]
  for (const handler of handlers) {
    for (const authorize of [undefined,
      async (_request: unknown, { row }: { row?: () => unknown }) => (await row?.()) !== undefined]) {
      const store = memoryStore<Attributes>()
      store.create({ name: 'old' }, {})
      const update = async (context: AnyContext): Promise<never> => {
        store.delete(1, open)
        store.create({ name: 'new' }, {})
        return await handler(context) as never
      }
      const app = await draft(t, (map) => map.resource('profile',
        { attributes, store, actions: { update }, ...(authorize !== undefined && { authorize }) }))
      const res = await app.inject({
        method: 'PUT',
        url: '/profile.json',
        headers: { 'if-match': '"1-1.json"' },
        payload: { profile: { name: 'mine' } }
      })
      t.ok([404, 412].includes(res.statusCode), String(res.statusCode))
      t.match(store.get(2, {}), { version: '1', attributes: { name: 'new' } })
    }
  }
})

t.test('a row that the path does not name has its id in the tag', async t => {
  const store = memoryStore<Attributes>()
  store.create({ name: 'first' }, {})
  const latest = ({ store, signal }: AnyContext): unknown => store.list(
    { order: [{ by: 'id', descending: true }], after: undefined, limit: 1, scope: {}, filter: [], search: undefined },
    { signal }
  )
  const find = async (context: AnyContext): Promise<Row> => {
    for await (const [row] of latest(context) as AsyncIterable<readonly Row[]>) if (row !== undefined) return row
    throw new Error('there is none')
  }
  const app = await draft(t, (map) => map.resources('posts', { attributes, store, writes: 'both' }, (posts) => {
    posts.collection.get('latest', find)
    posts.collection.put('latest', async (context: AnyContext) => {
      const row = await find(context)
      return await context.store.update(row.id, context.attributes, context.guardFor(row), { signal: context.signal })
    })
    posts.new.get('sample', () => ({ id: 1, version: '5', attributes: { name: 'x' } }))
    posts.member.get('card', ({ row }: AnyContext) => row())
    posts.member.get('next', ({ id }: AnyContext) => store.get(Number(id) + 1, {}))
  }))
  const get = (url: string, tag?: string): Promise<LightMyRequestResponse> =>
    app.inject({ url, headers: { accept: 'application/json', ...(tag !== undefined && { 'if-none-match': tag }) } })
  const { headers: { etag } } = await get('/posts/latest')
  t.equal(plainTag(etag), '"1-1.json"')
  t.equal((await get('/posts/latest', String(etag))).statusCode, 304)
  store.create({ name: 'second' }, {})
  const newer = await get('/posts/latest', String(etag))
  t.match(newer, { statusCode: 200, headers: { etag: /^"2-1\.json-/ } })
  t.match(newer.json(), { post: { name: 'second' } })
  t.equal(plainTag((await get('/posts/new/sample')).headers.etag), '"1-5.json"')
  t.equal(plainTag((await get('/posts/1')).headers.etag), '"1.json"',
    'a path that names the row gives a tag of the version alone')
  t.equal(plainTag((await get('/posts/1/card')).headers.etag), '"1.json"')
  t.equal(plainTag((await get('/posts/1/next')).headers.etag), '"2-1.json"', 'another row has its id in the tag')

  const put = (url: string, tag: string, id?: number): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'PUT',
      url,
      headers: { accept: 'application/json', 'if-match': tag },
      payload: { ...(id !== undefined && { id }), post: { name: 'mine' } }
    })
  t.equal((await put('/posts/latest', '"1-1.json"')).statusCode, 412, 'the row of the tag is not the latest')
  const plain = await put('/posts/latest', '"1.json"')
  t.match(plain, { statusCode: 412, headers: { 'content-type': types.problem } })
  t.match(plain.json(), { detail: /does not say which row it belongs to/ })
  const version = await app.inject({
    method: 'POST',
    url: '/posts/latest',
    headers: { 'content-type': form, accept: 'text/html' },
    payload: '_method=PUT&_version=1&post[name]=mine'
  })
  t.match(version, { statusCode: 412, headers: { 'content-type': types.html } })
  t.equal((await put('/posts/latest', '"2-1.json"')).statusCode, 200)
  t.match(store.get(1, {}), { version: '1', attributes: { name: 'first' } })
  t.match(await put('/posts', '"2-2.json"', 2), { statusCode: 200, headers: { etag: /^"3\.json-/ } },
    'a write with an id accepts either tag')
  t.equal((await put('/posts', '"2-3.json"', 1)).statusCode, 412, 'the tag of another row is refused')
  t.equal((await put('/posts/1', '"1-2.json"')).statusCode, 412)
  t.equal((await put('/posts/1', '"1-1.json"')).statusCode, 200)
})

t.test('tags of different ids and versions differ, whatever characters an id has', async t => {
  const ids = ['a', 'a-1', 'a b', 'x"y', 'käse', '100%', 'a,b', 'v1.0', 'a\\b', '-', '0197f3a0',
    '0197f3a0-0000-7000-8000-000000000001', '日本', '%2D', 'a%2D1']
  const rows: HandlerRow[] = ids.flatMap((id) => ['1', '1-1',
    '2'].map((version) => ({ id, version, attributes: { name: id } })))
  let current = rows[0] as HandlerRow
  const app = await draft(t, (map) => map
    .resource('profile', {
      attributes,
      id: 'string',
      actions: {
        show: () => current,
        create: () => current,
        delete: () => {},
        update: ({ guardFor }) =>
          guardFor(current).version === current.version ? { ...current, version: '7' } : { kind: 'stale', row: current }
      }
    }))
  const tags: string[] = []
  for (current of rows) {
    const res = await app.inject('/profile.json')
    t.equal(res.statusCode, 200)
    t.match(res.headers.etag, /^"[!#-~]*\.json-[\da-f]{8}"$/, 'the version fits an entity tag')
    tags.push(String(res.headers.etag))
    const other = await app.inject({
      url: '/profile.json', headers: { 'if-none-match': tags.slice(0, -1).join(', ') || '"x"' }
    })
    t.equal(other.statusCode, 200, `${String(current.id)} ${String(current.version)} has a unique tag`)
    t.equal((await app.inject({
      url: '/profile.json', headers: { 'if-none-match': String(res.headers.etag) }
    })).statusCode, 304)
  }
  t.equal(new Set(tags).size, rows.length)
  t.ok(tags.some((tag) => plainTag(tag) === '"0197f3a0-0000-7000-8000-000000000001-2.json"'), 'a UUID is not escaped')
  for (const [index, row] of rows.entries()) {
    current = row
    const put = (tag: string): Promise<LightMyRequestResponse> => app.inject({
      method: 'PUT', url: '/profile.json', headers: { 'if-match': tag }, payload: { profile: { name: 'x' } }
    })
    t.equal((await put(tags[index] as string)).statusCode, 200)
    t.equal((await put(tags.filter((_, other) => other !== index).join(', '))).statusCode, 412)
  }
})

t.test('a handler may set an entity tag of its own, or none', async t => {
  const row = { id: 1, version: '3', attributes: { name: 'x' } }
  const answer: Array<[name: string, handler: (context: ActionContext<any, any, any>) => any,
    tag: string | undefined]> = [
      ['by the reply', ({ reply }) => { reply.header('etag', '"ann-3"'); return row }, '"ann-3"'],
      ['weak', ({ reply }) => { reply.header('etag', 'W/"ann-3"'); return row }, 'W/"ann-3"'],
      ['of a row without a version', ({ reply }) => {
        reply.header('etag', '"ann-3"')
        return { ...row, version: '' }
      }, '"ann-3"'],
      ['by its outcome', () => ({ kind: 'found', row, etag: '"ann-3"' }), '"ann-3"'],
      ['by its outcome, in spite of the reply', ({ reply }) => {
        reply.header('etag', '"bob-3"')
        return { kind: 'found', row, etag: '"ann-3"' }
      }, '"ann-3"'],
      ['none', () => ({ kind: 'found', row, etag: false }), undefined],
      ['none, in spite of the reply', ({ reply }) => {
        reply.header('etag', '"ann-3"')
        return { kind: 'found', row, etag: false }
      }, undefined]
    ]
  for (const [name, handler, tag] of answer) {
    const app = await draft(t,
      (map) => map.resources('posts', { attributes, only: ['show', 'edit'], actions: { show: handler } }, (posts) =>
        posts.collection.get('mine', handler)))
    for (const url of ['/posts/1', '/posts/1/edit', '/posts/mine']) {
      for (const format of FORMATS) {
        const ask = (match: string): Promise<LightMyRequestResponse> =>
          app.inject({ url: `${url}.${format}`, headers: { 'if-none-match': match } })
        const res = await ask('"other"')
        t.strictSame([res.statusCode, res.headers.etag], [200, tag], `${name}: ${url}.${format}`)
        for (const ours of [`"3.${format}"`, `"1-3.${format}"`]) {
          t.equal((await ask(ours)).statusCode, 200, `${name}: the plugin adds no tag`)
        }
        if (tag !== undefined) {
          t.strictSame([(await ask(tag)).statusCode, (await ask(tag)).headers.etag], [304, tag], name)
        }
      }
    }
  }
  for (const wrong of ['ann-3', '"ann-3', '*', '"a", "b"', '']) {
    for (const handler of [({ reply }: AnyContext) => {
      reply.header('etag', wrong)
      return row
    }, () => ({ kind: 'found', row, etag: wrong }) as const]) {
      const app = await draft(t, (map) =>
        map.resources('posts', { attributes, only: 'show', actions: { show: handler } }))
      const res = await app.inject('/posts/1.json')
      t.match(res, { statusCode: 500, headers: { 'content-type': types.problem, etag: undefined } }, wrong)
    }
  }
})

t.test('a singleton of a handler without versions has no tag, and its forms have no version', async t => {
  const row = { id: 1, attributes: { name: 'x' } }
  const app = await draft(t, (map) => map.resource('profile', {
    attributes,
    actions: {
      show: () => row,
      create: () => row,
      update: ({ guardFor }) => guardFor(row).version === undefined ? row : { kind: 'stale', row },
      delete: () => {}
    }
  }))
  const page = await app.inject('/profile.html')
  t.match(page, { statusCode: 200, headers: { etag: undefined } })
  t.match(page.body, '<form')
  t.notMatch(page.body, '_version')
  const put = (headers: Record<string, string>): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'PUT', url: '/profile.json', headers, payload: { profile: { name: 'y' } } })
  t.match(await put({}), { statusCode: 200, headers: { etag: undefined } })
  for (const tag of ['"1-.json"', '""', '".json"', '"1.json"']) {
    t.equal((await put({ 'if-match': tag })).statusCode, 412, `${tag} matches no version`)
  }
})

t.test('a handler that answers with another row than the path names adds its id to the tag', async t => {
  const rows: Record<string, HandlerRow> = {
    ann: { id: 'ann', version: '1', attributes: { name: 'Ann' } },
    bob: { id: 'bob', version: '1', attributes: { name: 'Bob' } }
  }
  const find = ({ id, request }: AnyContext): HandlerRow | undefined =>
    rows[id === 'me' ? String(request.headers['x-user']) : String(id)]
  const app = await draft(t, (map) => map.resources('users', {
    id: 'string',
    attributes,
    writes: 'both',
    only: ['list', 'show', 'update'],
    actions: {
      list: ((context: AnyContext) => ({ kind: 'found', row: find({ ...context, id: 'me' }) })) as never,
      show: find as never,
      update: ((context: AnyContext) => {
        const row = find(context) as HandlerRow
        const { version } = context.guardFor(row)
        return version !== undefined && version !== row.version ? { kind: 'stale', row } : { ...row, version: '2' }
      }) as never
    }
  }))
  const ask = (user: string, asked: Asked): Promise<LightMyRequestResponse> =>
    app.inject({ ...asked, headers: { 'x-user': user, ...asked.headers } })
  t.equal(plainTag((await ask('ann', { url: '/users/ann.json' })).headers.etag), '"1.json"', 'the path names the row')
  for (const url of ['/users/me.json', '/users.json']) {
    const { headers: { etag } } = await ask('ann', { url })
    t.equal(plainTag(etag), '"ann-1.json"', url)
    t.equal((await ask('ann', { url, headers: { 'if-none-match': String(etag) } })).statusCode, 304, url)
    t.equal((await ask('bob', { url, headers: { 'if-none-match': String(etag) } })).statusCode, 200, url)
  }
  const write = { method: 'PUT', url: '/users/me.json', payload: { user: { name: 'A' } } } as const
  t.equal((await ask('bob', { ...write, headers: { 'if-match': '"ann-1.json"' } })).statusCode, 412)
  t.equal((await ask('ann', { ...write, headers: { 'if-match': '"ann-1.json"' } })).statusCode, 200)
})

t.test('a precondition that demands a row prevents the handler if the store has no row', async t => {
  let calls = 0
  const app = await draft(t, (map) => map.resources('posts', {
    attributes,
    store: memoryStore<Attributes>() as never,
    writes: 'both',
    actions: {
      update: (({ id }: AnyContext) => {
        calls++
        return { id, version: '1', attributes: { name: 'made' } }
      }) as never
    }
  }, (posts) => posts.member.post('ping', (() => { calls++ }) as never)))
  for (const [method, url] of [['PUT', '/posts/7.json'], ['POST', '/posts/7/ping.json']] as const) {
    const payload = method === 'PUT' ? { post: { name: 'T' } } : undefined
    for (const tag of ['"9.json"', '*']) {
      const res = await app.inject({ method, url, headers: { 'if-match': tag }, ...(payload && { payload }) })
      t.equal(res.statusCode, 404, `${method} ${tag}`)
    }
    t.equal(calls, 0, method)
    const res = await app.inject({ method, url, headers: { 'if-none-match': '*' }, ...(payload && { payload }) })
    t.ok(res.statusCode < 300, `${method}: If-None-Match holds`)
    t.equal(calls, 1, method)
    calls = 0
  }
})

t.test('If-Match: * demands a row of any version, with a store and without', async t => {
  const guards: unknown[] = []
  const update = (({ guard }: AnyContext) => {
    guards.push(guard.version)
    return { id: 1, version: '2', attributes: { name: 'N' } }
  }) as never
  const store = memoryStore<Attributes>()
  store.create({ name: 'N' }, {})
  const without = await draft(t, (map) => map.resources('posts', { attributes, only: 'update', actions: { update } }))
  const looked = await draft(t, (map) => map.resources('posts', {
    attributes,
    store: store as never,
    authorize: async (_request, { row }) => { await row?.(); return true },
    actions: { update }
  }))
  const seen = await draft(t, (map) =>
    map.resources('posts', { attributes, store: store as never, actions: { update } }))
  for (const app of [without, looked, seen]) {
    const res = await app.inject({
      method: 'PUT', url: '/posts', headers: { 'if-match': '*' }, payload: { id: 1, post: { name: 'N' } }
    })
    t.equal(res.statusCode, 200, res.body)
  }
  t.strictSame(guards, [undefined, '1', undefined])
  const single = await draft(t, (map) =>
    map.resource('profile', { attributes, store: memoryStore<Attributes>() as never, actions: { update } }))
  const res = await single.inject({
    method: 'PUT', url: '/profile', headers: { 'if-match': '*' }, payload: { profile: { name: 'N' } }
  })
  t.equal(res.statusCode, 404, 'the singleton is missing')
})

const titled = { type: 'object', properties: { title: { type: 'string' } } } as const

function makeTea (): ReturnType<typeof memoryStore<Attributes>> {
  const store = memoryStore<Attributes>()
  store.create({ title: 'Tea', price: '1.50' }, {})
  return store
}

const price = (scale: number): object => ({
  type: 'object', properties: { ...titled.properties, price: { type: 'string', format: 'decimal', scale } }
})

/** What differs between two starts of an app, and the formats whose documents differ then. */
const CHANGES: ReadonlyArray<readonly [what: string, before: object, after: object, formats: readonly string[]]> = [
  ['nothing', {}, {}, []],
  ['a new attribute', { attributes: titled }, { attributes: price(2) }, ['xml', 'html', 'json']],
  ['the scale of a decimal', { attributes: price(2) }, { attributes: price(3) }, ['xml', 'html', 'json']],
  ['an attribute that is hidden', { attributes: price(2) },
    {
      attributes: { type: 'object', properties: { ...titled.properties, price: { type: 'string', writeOnly: true } } }
    }, ['xml', 'html', 'json']],
  ['the language', { html: { lang: 'de' } }, { html: { lang: 'fr' } }, ['html']],
  ['a word', { html: { messages: { edit: () => 'Edit' } } }, { html: { messages: { edit: () => 'Change' } } },
    ['html']],
  ['the colour', { html: { accent: '#123' } }, { html: { accent: '#456' } }, ['html']],
  ['the actions', {}, { only: ['show'] }, ['html']],
  ['the singular name', {}, { singular: 'entry' }, ['xml', 'html', 'json']],
  ['a format', { formats: ['xml', 'html', 'json'] }, { formats: ['json', 'html', 'xml', 'csv'] }, ['html']],
  ['who may write', {}, { requireMatch: true }, []]
]

t.test('a tag changes when the representation does, and only then', async (t) => {
  for (const [what, before, after, formats] of CHANGES) {
    const [old, new_] = [await build(t,
      { name: 'posts', attributes: titled, store: makeTea(), ...before } as ResourceOptions),
    await build(t, { name: 'posts', attributes: titled, store: makeTea(), ...after } as ResourceOptions)]
    for (const format of ['xml', 'html', 'json']) {
      const { headers: { etag } } = await old.inject(`/posts/1.${format}`)
      const answer = await new_.inject({ url: `/posts/1.${format}`, headers: { 'if-none-match': String(etag) } })
      t.strictSame([answer.statusCode, answer.headers.etag !== etag],
        formats.includes(format) ? [200, true] : [304, false], `${what}: ${format}`)
      t.match(etag, new RegExp(`^"1\\.${format}-[\\da-f]{8}"$`))
    }
    const { headers: { etag } } = await old.inject('/posts/1.html')
    const written = await new_.inject({
      method: 'DELETE', url: '/posts.json?id=1', headers: { 'if-match': String(etag) }
    })
    t.equal(written.statusCode, what === 'the actions' ? 404 : 204, 'a write compares the version alone')
  }
})

t.test('a format of the app says by its settings when it writes differently', async (t) => {
  const shapeOf = async (settings: unknown): Promise<unknown> => {
    const text = {
      name: 'text',
      mediaTypes: ['text/plain'],
      settings,
      compileWriter: () => ({
        record: () => '', problem: () => '', list: { open: '', row: () => '', separator: '', close: '' }
      })
    }
    const app = await build(t, { name: 'posts', attributes: titled, store: makeTea(), formats: [text] })
    return (await app.inject('/posts/1')).headers.etag
  }
  t.equal(await shapeOf(undefined), await shapeOf(undefined))
  t.not(await shapeOf(1), await shapeOf(2))
  t.not(await shapeOf({ write: () => 'a' }), await shapeOf({ write: () => 'b' }))
})

const READS: ReadonlyArray<readonly [url: string, tag: string, status: number]> = [
  ['/posts/1.json', '*', 200], ['/posts/1.json', 'own', 200], ['/posts/1.json', '"x", own', 200],
  ['/posts/1.json', 'W/own', 412],
  ['/posts/1.json', '"1"', 412], ['/posts/1.json', '"1.json"', 412], ['/posts/1.json', '"x"', 412],
  ['/posts/1.json', 'x', 400],
  ['/posts/1/edit.json', 'own', 200], ['/posts/1/edit.json', '"x"', 412],
  ['/posts/1.json?include=comments', '*', 200], ['/posts/1.json?include=comments', '"x"', 412],
  ['/posts/9.json', '"x"', 404], ['/posts/9.json', '*', 404], ['/posts/1.json?x=1', '"x"', 400],
  ['/posts.json', '*', 200], ['/posts.json', '"x"', 412], ['/posts.json', 'x', 400],
  ['/posts.json?limit=1', '"x"', 412],
  ['/posts/new.json', '"x"', 412], ['/posts/new.json', '*', 200],
  ['/posts/1/look.json', 'own', 200], ['/posts/1/look.json', '"x"', 412], ['/posts/own.json', '"own"', 200],
  ['/posts/own.json', '"x"', 412], ['/posts/weak.json', 'W/"own"', 412],
  ['/posts/1.html', '*', 200], ['/posts/1.html', '"x"', 412], ['/posts.html', '"x"', 412],
  ['/posts.xsd', 'own', 200], ['/posts.xsd', '"x"', 412]
]

t.test('a GET or HEAD whose answer does not have a tag of If-Match is a 412', async (t) => {
  let open = 0
  const many = {
    ...makeTea(),
    async * list () {
      open++
      try {
        for (let id = 1; id < 4; id++) yield [{ id, version: '1', attributes: { title: 'Tea' } }]
      } finally { open-- }
    }
  }
  const tagged = (etag: string) => ({ reply, store }: AnyContext) => {
    reply.header('etag', etag)
    return store.get(1, {}, {} as never)
  }
  const app = await draft(t,
    (map) => map.resources('posts', { attributes: titled, store: many as never, formPages: true, xsd: true },
      (posts) => {
        posts.resources('comments', { attributes: titled })
        posts.member.get('look', ({ row }) =>
          row()).collection.get('own', tagged('"own"') as never).collection.get('weak', tagged('W/"own"') as never)
      }))
  for (const [url, tag, status] of READS) {
    const own = String((await app.inject(url)).headers.etag)
    for (const method of ['GET', 'HEAD'] as const) {
      const answer: LightMyRequestResponse = await app.inject({
        method, url, headers: { 'if-match': tag.replace('own', tag.includes('"own"') ? 'own' : own) }
      })
      t.equal(answer.statusCode, status, `${method} ${url} ${tag}`)
      if (status === 412 && !url.endsWith('xsd')) {
        t.strictSame([answer.headers.etag, answer.headers['content-type']],
          [undefined, url.includes('html') ? types.html : types.problem])
        if (method === 'GET' && !url.includes('html')) {
          t.match(answer.json(), {
            title: 'Precondition Failed', detail: /^the (?:post|list) does not meet the If-Match, /
          })
        }
      }
    }
  }
  t.equal(open, 0, 'no list stays open')
  const both = await app.inject({ url: '/posts/1.json', headers: { 'if-match': '"x"', 'if-none-match': '*' } })
  t.equal(both.statusCode, 412, 'If-Match comes first')
})

t.test('a text with a byte order mark has a tag of its own, whose version a write accepts', async (t) => {
  const app = await build(t, { name: 'posts', attributes: titled, store: makeTea(), formats: ['json', 'csv'] })
  const [plain, marked] = [await app.inject('/posts/1?format=csv'),
    await app.inject('/posts/1?format=csv-bom')].map(({ headers }) => String(headers.etag))
  t.not(marked, plain)
  t.equal((await app.inject({
    method: 'PUT', url: '/posts', headers: { 'if-match': String(marked) }, payload: { id: 1, post: {} }
  })).statusCode, 200)
})

t.test('an id with a dot is told from a format', async (t) => {
  const rows = new Map<string, object>()
  const app = await draft(t,
    (map) => map.resource('profile', {
      attributes: titled,
      id: 'string',
      only: ['show', 'update'],
      actions: {
        show: ({ request }) => rows.get(String(request.headers['x-id'])) as never,
        update: ({ guardFor, request }) => guardFor(rows.get(String(request.headers['x-id'])) as never).version === ''
          ? { kind: 'stale', row: rows.get('a') as never }
          : { id: 'a', attributes: {} }
      }
    }))
  for (const id of ['a', 'a.json', 'a.json-12345678', 'a.b', 'a-b']) {
    rows.set(id, { id, version: '12345678', attributes: { title: id } })
  }
  for (const id of rows.keys()) {
    const { headers: { etag } } = await app.inject({ url: '/profile.json', headers: { 'x-id': id } })
    for (const other of rows.keys()) {
      const write = (tag: string): Promise<LightMyRequestResponse> => app.inject({
        method: 'PUT', url: '/profile.json', headers: { 'x-id': other, 'if-match': tag }, payload: { profile: {} }
      })
      for (const tag of [String(etag), String(etag).replace(/\.json-[\da-f]{8}"$/, '"')]) {
        t.equal((await write(tag)).statusCode, id === other ? 200 : 412, `${tag} of ${other}`)
      }
    }
  }
})
