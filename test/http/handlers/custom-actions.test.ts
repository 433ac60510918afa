import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify, { type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import {
  type ActionContext, type HandlerAnswer, type Attributes, BY_ID, type Format, type Handler, InvalidError, draw,
  type Mapper, type MaybePromise, memoryStore, type ResourceOptions, type Store, type Row
} from '../../../lib/index.js'
import { draft, post, types, xml } from '../../support/helper.js'
import type { AnyContext } from '../../support/map-action.js'
import { plainTag } from '../../support/plain-tag.js'

type Client = 'xml' | 'json' | 'html'
type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const clients: readonly Client[] = ['xml', 'json', 'html']
const accepts = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
const problems: Readonly<Record<Client, string>> = { xml: types.xml, json: types.problem, html: types.html }
const form = 'application/x-www-form-urlencoded'
const verbs: readonly Verb[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const methods = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const

const titled = { type: 'object', properties: { title: { type: 'string' } } } as const

interface Deferred<T> { promise: Promise<T>, resolve: (value: T) => void }

function deferred<T = void> (): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((_resolve) => { resolve = _resolve })
  return { promise, resolve }
}

function json (method: Verb | 'HEAD' | 'OPTIONS', url: string, payload?: object,
  headers: Record<string, string> = {}): InjectOptions {
  return { method, url, headers: { accept: accepts.json, ...headers }, ...(payload !== undefined && { payload }) }
}

function submit (url: string, payload = '', headers: Record<string, string> = {}): InjectOptions {
  return { method: 'POST', url, headers: { accept: accepts.html, 'content-type': form, ...headers }, payload }
}

type On = 'collection' | 'member' | 'new'

/** Declares an action at a place and with a verb that are known only at run time. */
function mapAction (mapper: object, on: On, verb: Verb, handler: Handler): void {
  const { [methods[verb]]: map } = (mapper as Record<On,
    Record<string, (this: unknown, name: string, handler: Handler) => unknown>>)[on]
  map?.call((mapper as Record<On, unknown>)[on], 'act', handler)
}

function row (id: number | string, title: string,
  version?: string): { id: number | string, version?: string, attributes: { title: string } } {
  return { id, ...(version !== undefined && { version }), attributes: { title } }
}

/** Returns a store with one post for each title. */
function posts (...titles: string[]): ReturnType<typeof memoryStore<{ title: string }>> {
  const store = memoryStore<{ title: string }>()
  for (const title of titles) store.create({ title }, {})
  return store
}

t.test('without a store the app\'s own handlers serve the five actions', async t => {
  const rows = new Map<string, { id: string, version: string, attributes: { title: string } }>()
  const slugs: Omit<ResourceOptions, 'name'> = {
    id: 'string',
    attributes: titled,
    writes: 'both',
    actions: {
      list: () => [...rows.values()],
      show: ({ id }) => rows.get(id as string),
      create ({ attributes }) {
        const title = String(attributes.title)
        const made = { id: title, version: '1', attributes: { title } }
        rows.set(title, made)
        return made
      },
      update ({ id, attributes, guard }) {
        const found = rows.get(id as string)
        if (found === undefined) return undefined
        if (guard.version !== undefined && guard.version !== found.version) return { kind: 'stale', row: found }
        const changed = {
          ...found, version: String(Number(found.version) + 1), attributes: { ...found.attributes, ...attributes }
        }
        rows.set(changed.id, changed)
        return changed
      },
      delete ({ id }) { rows.delete(id as string) }
    }
  }
  // The title of each row is its id. The ids are of all kinds.
  const ids: Array<[id: string, path: string]> = [
    ['tea & cake', '/posts/tea%20%26%20cake'],
    ['page.json', '/posts/page%252Ejson']
  ]
  const app = await draft(t, (map) => map.resources('posts', slugs), '/api')
  for (const [id, path] of ids) {
    await t.test(id, async t => {
      const url = `/api${path}`
      const created = await app.inject(json('POST', '/api/posts', { post: { title: id } }))
      t.strictSame([created.statusCode, created.headers.location, plainTag(created.headers.etag)],
        [201, url, '"1.json"'])
      t.strictSame(created.json(), { post: { id, title: id } })
      t.strictSame((await app.inject(json('GET', url))).json(), { post: { id, title: id } })
      t.equal((await app.inject(`${url}.xml`)).headers['content-type'], types.xml)
      t.equal((await app.inject(json('PUT', url, { post: { title: 'x' } }, { 'if-match': '"9.json"' }))).statusCode,
        412)
      t.strictSame((await app.inject(json('PUT', '/api/posts', { id, post: { title: 'x' } }))).json(),
        { post: { id, title: 'x' } })
      const browser = await app.inject(submit(url, '_method=PUT&post[title]=y'))
      t.strictSame([browser.statusCode, browser.headers.location], [303, url])
      t.equal((await app.inject(json('DELETE', url))).statusCode, 204)
      for (const client of clients) {
        const res = await app.inject({ url, headers: { accept: accepts[client] } })
        t.strictSame([res.statusCode, res.headers['content-type']], [404, problems[client]])
      }
      t.equal((await app.inject(json('PUT', url, { post: { title: 'x' } }))).statusCode, 404)
    })
  }
  t.equal((await app.inject('/api/posts')).body, `${xml}<posts type="array"></posts>`)
  await t.rejects(draft(t, (map) => map.resources('posts', { id: 'string', actions: { list: () => [] } })),
    { code: 'FST_RESOURCES_INVALID_OPTION', message: /handlers of your own for show, create, update, delete/ })
})

t.test('beside a store one of the five actions may have the app\'s own handler, which may call proceed()', async t => {
  const seen: string[] = []
  const app = await draft(t, (map) => map.resources('posts', {
    attributes: titled,
    store: posts('a', 'b'),
    actions: {
      list: ({ proceed }) => { seen.push('list'); return proceed() },
      async show ({ row }) {
        const { id, version, attributes } = await row()
        return { id, version, attributes: { title: String(attributes.title).toUpperCase() } }
      },
      async create ({ proceed }) {
        const outcome = await proceed()
        seen.push(outcome.kind)
        return outcome
      },
      update: async ({ proceed }) => await proceed(),
      delete: ({ proceed }) => proceed()
    }
  }))
  t.strictSame((await app.inject(json('GET', '/posts?limit=1'))).json(), { posts: [{ id: 1, title: 'a' }] })
  t.match((await app.inject(json('GET', '/posts?limit=1'))).headers.link, /limit=1&after=[\w-]+>; rel="next"/)
  t.strictSame((await app.inject(json('GET', '/posts/1'))).json(), { post: { id: 1, title: 'A' } })
  t.equal((await app.inject(json('GET', '/posts/9'))).json<{ detail: string }>().detail,
    'there is no post with the id 9')
  const created = await app.inject(json('POST', '/posts', { post: { title: 'c' } }))
  t.strictSame([created.statusCode, created.headers.location], [201, '/posts/3'])
  t.equal((await app.inject(json('PUT', '/posts', { id: 3, post: { title: 'd' } },
    { 'if-match': '"7.json"' }))).statusCode, 412)
  t.strictSame((await app.inject(json('PUT', '/posts', { id: 3, post: { title: 'd' } },
    { 'if-match': '"1.json"' }))).json(), {
    post: {
      id: 3, title: 'd'
    }
  })
  t.equal((await app.inject(json('PUT', '/posts', { id: 9, post: { title: 'd' } }))).statusCode, 404)
  t.equal((await app.inject(json('DELETE', '/posts', { id: 3 }))).statusCode, 204)
  t.equal((await app.inject(json('DELETE', '/posts', { id: 3 }))).statusCode, 404)
  t.strictSame(seen, ['list', 'list', 'created'])
})

/** The parts of a context that most handlers take apart. */
type Told = Pick<ActionContext, 'action' | 'attributes' | 'guard' | 'query' | 'scope'> & { id: unknown }

function tell (told: Told[]): Handler<any, any, any> { // Fits any resource and any place in it.
  return ({ action, id, attributes, guard, query, scope }) => {
    told.push({ action, id, attributes, guard, query, scope })
    return row(1, 'x')
  }
}

/** Returns a store with this number of rows. The last row has this version. */
function storeWith (count: number, version: number, attributes: Attributes = {}): Store {
  const store = memoryStore()
  for (let id = 1; id <= count; id++) store.create(attributes, {})
  for (let written = 1; written < version; written++) store.update(count, {}, { version: undefined, scope: {} })
  return store
}

t.test('a handler receives the attributes, query, guard and scope of its request', async t => {
  const told: Told[] = []
  const handler = tell(told)
  const app = await draft(t, (map) => map.resources('posts',
    {
      attributes: post,
      store: storeWith(3, 8) as never,
      actions: {
        list: (context) => { handler(context); return [] },
        show: handler,
        create: handler,
        update: handler,
        delete: handler
      }
    }, (posts) => {
      posts.collection.get('recent', {
        query: {
          type: 'object',
          required: ['since'],
          properties: {
            since: { type: 'string', format: 'date' },
            most: { type: ['integer', 'null'], minimum: 1 },
            all: { type: 'boolean' }
          }
        }
      }, handler)
      posts.collection.post('import', handler)
      posts.member.get('card', handler)
      posts.new.post('preview', { attributes: post }, handler)
    }))
  const open = { scope: {}, version: undefined }
  const nothing = { attributes: {}, guard: open, query: {}, scope: {} }
  const wanted = {
    order: BY_ID, after: undefined, before: undefined, limit: undefined, filter: [], search: undefined, count: undefined
  }
  const calls: Array<[InjectOptions, Partial<Told>]> = [
    [json('GET', '/posts'), { ...nothing, action: 'list', id: undefined, query: wanted }],
    [json('GET', '/posts?limit=2&sort=-rating&rating=5'),
      {
        ...nothing,
        action: 'list',
        id: undefined,
        query: {
          order: [{ by: 'rating', descending: true }, { by: 'id', descending: true }],
          after: undefined,
          before: undefined,
          limit: 2,
          filter: [{ attribute: 'rating', operator: 'eq', value: 5 }],
          search: undefined,
          count: undefined
        }
      }],
    [{ url: '/posts.html' }, {
      ...nothing,
      action: 'list',
      id: undefined,
      query: { ...wanted, limit: 50, count: { most: 10_001, estimate: false } }
    }],
    [json('GET', '/posts/3'), { ...nothing, action: 'show', id: 3 }],
    [json('POST', '/posts', { post: { title: 'x' } }),
      { ...nothing, action: 'create', id: undefined, attributes: { title: 'x', published: false } }],
    [json('PUT', '/posts', { id: 3, post: { rating: null } }),
      { ...nothing, action: 'update', id: 3, attributes: { rating: null } }],
    [json('PUT', '/posts', { id: 3, post: {} }, { 'if-match': '*' }),
      { ...nothing, action: 'update', id: 3, attributes: {} }],
    [submit('/posts', '_method=PUT&id=3&_version=8&post[rating]='),
      { ...nothing, action: 'update', id: 3, attributes: { rating: null }, guard: { version: '8', scope: {} } }],
    [json('DELETE', '/posts?id=3'), { ...nothing, action: 'delete', id: 3 }],
    [json('GET', '/posts/recent?since=2026-01-31'),
      { ...nothing, action: 'recent', id: undefined, query: { since: '2026-01-31' } }],
    [json('GET', '/posts/recent?since=2026-01-31&most=&all=false'),
      { ...nothing, action: 'recent', id: undefined, query: { since: '2026-01-31', most: null, all: false } }],
    [json('POST', '/posts/import'), { ...nothing, action: 'import', id: undefined }],
    [json('POST', '/posts/import', { id: 3 }), { ...nothing, action: 'import', id: 3 }],
    [json('GET', '/posts/3/card'), { ...nothing, action: 'card', id: 3 }],
    [json('POST', '/posts/new/preview', { post: { title: 'x' } }),
      { ...nothing, action: 'preview', id: undefined, attributes: { title: 'x', published: false } }]
  ]
  for (const [request, expected] of calls) {
    told.length = 0
    const res = await app.inject(request)
    t.ok(res.statusCode < 400,
      `${String(request.method ?? 'GET')} ${String(request.url)}: ${res.statusCode} ${res.body.slice(0, 200)}`)
    t.same(told, [expected])
  }
})

t.test('a handler may destructure its context and use the parts later', async t => {
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store: posts('a') }, (posts) => {
    posts.member.post('copy', async (context) => {
      const { request, reply, resource, store, scope, signal, paths, row, proceed } = context
      await null
      reply.header('x-told', [request.method, resource.plural, signal.aborted, paths.post?.(1),
        (await proceed()).kind].join(' '))
      const { attributes: { title } } = await row()
      return await store.create({ title: `${title} again` }, scope, { signal })
    })
    posts.member.get('twin', async (context) => await context.store.get(context.id, context.scope, context))
  }))
  const res = await app.inject(json('POST', '/posts/1/copy'))
  t.strictSame([res.statusCode, res.headers['x-told'], res.json()],
    [200, 'POST posts false /posts/1 done', { post: { id: 2, title: 'a again' } }])
  t.strictSame((await app.inject(json('GET', '/posts/2/twin'))).json(), { post: { id: 2, title: 'a again' } })
  t.equal((await app.inject(json('POST', '/posts/9/copy'))).statusCode, 404)
  t.equal((await app.inject(json('GET', '/posts/9/twin'))).statusCode, 404)
})

const csv: Format = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  compileWriter ({ attributes }) {
    const names = [...attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name }) => name)
    const quote = (value: unknown): string => `"${String(value ?? '').replaceAll('"', '""')}"`
    const head = `${['id', ...names].join(',')}\r\n`
    const line = (row: Row): string => `${[row.id, ...names.map((name) => quote(row.attributes[name]))].join(',')}\r\n`
    return {
      record: (row) => head + line(row),
      list: { open: head, row: line, separator: '', close: '' },
      problem: ({ status, detail }) => `status,detail\r\n${status},${quote(detail)}\r\n`
    }
  }
}

t.test('a blank record has the defaults and no id', async t => {
  const declared: Array<[name: string, options: Omit<ResourceOptions, 'name'>, xml: string, json: object,
    csv: string]> = [
      ['declared attributes', { attributes: post }, '<post><published type="boolean">false</published></post>',
        { post: { published: false } },
        'id,title,body,published,rating,tags,publishedAt\r\n,"","","false","","",""\r\n'],
      ['open attributes', {}, '<post></post>', { post: {} }, 'id\r\n\r\n'],
      ['what is never shown', {
        attributes: {
          type: 'object',
          properties: {
            secret: { type: 'string', default: 'x', writeOnly: true },
            made: { type: 'string', default: 'now', readOnly: true },
            tags: { type: 'array', items: { type: 'string' }, default: [] }
          }
        }
      }, '<post><made>now</made><tags type="array"></tags></post>', { post: { made: 'now', tags: [] } },
      'id,made,tags\r\n,"now",""\r\n']
    ]
  for (const [name, options, document, object, lines] of declared) {
    await t.test(name, async t => {
      const app = await draft(t, (map) => map.resources('posts',
        { formPages: true, formats: ['xml', 'html', 'json', csv], ...options }))
      const answers: Array<[url: string, type: string, body: string]> = [
        ['/posts/new.xml', types.xml, xml + document],
        ['/posts/new.json', types.json, JSON.stringify(object)],
        ['/posts/new.csv', 'text/csv; charset=utf-8', lines]
      ]
      for (const [url, type, body] of answers) {
        const res = await app.inject(url)
        t.strictSame([res.statusCode, res.headers['content-type'], res.body, res.headers.etag],
          [200, type, body, undefined], url)
        const head = await app.inject({ method: 'HEAD', url })
        t.strictSame([head.statusCode, head.headers['content-type'], head.body], [200, type, ''])
      }
      const page = await app.inject({ url: '/posts/new', headers: { accept: accepts.html } })
      t.strictSame([page.statusCode, page.headers['content-type']], [200, types.html])
      if (options.only === undefined) t.match(page.body, '<form method="post" action="/posts"')
      t.notMatch(page.body, /name="id"/)
    })
  }
})

t.test('the edit action shows the row, and its page the form', async t => {
  const store = posts('Tea & cake')
  const app = await draft(t, (map) => map.resources('posts',
    { attributes: titled, store, formPages: true, formats: ['xml', 'html', 'json', csv] }))
  const answers: Array<[url: string, body: string]> = [
    ['/posts/1/edit.xml', `${xml}<post><id type="integer">1</id><title>Tea &amp; cake</title></post>`],
    ['/posts/1/edit.json', '{"post":{"id":1,"title":"Tea & cake"}}'],
    ['/posts/1/edit.csv', 'id,title\r\n1,"Tea & cake"\r\n']
  ]
  for (const [url, body] of answers) {
    const res = await app.inject(url)
    t.strictSame([res.statusCode, res.body, plainTag(res.headers.etag)],
      [200, body, `"1.${url.slice(-4).replace('.', '')}"`], url)
    t.equal((await app.inject({ url, headers: { 'if-none-match': res.headers.etag as string } })).statusCode, 304)
  }
  const page = await app.inject({ url: '/posts/1/edit', headers: { accept: accepts.html } })
  t.match(page.body,
    /<form method="post" action="\/posts"[^]*name="_method" value="PUT"[^]*name="_version" value="1"[^]*Tea &amp; cake/)
  const own = await draft(t, (map) => map.resources('posts', {
    attributes: titled, store, formPages: true, actions: { show: ({ reply }) => reply.code(418).send('tea') }
  }))
  t.match(await own.inject('/posts/1/edit'), { statusCode: 418, body: 'tea' }, 'a handler of the app answers itself')
})

const stands: Array<[On, string, string]> = [['collection', '/posts/act', '/posts'],
  ['member', '/posts/1/act', '/posts/1'], ['new', '/posts/new/act', '/posts']]

t.test('each verb can be mapped at each place, in each format', async t => {
  for (const [on, url, location] of stands) {
    for (const verb of verbs) {
      await t.test(`${verb} ${url}`, async t => {
        let count = 0
        const declare = (answer: () => HandlerAnswer<{ title: string }>) =>
          (map: Mapper): unknown => map.resources('posts', { attributes: titled, store: posts('a') }, (posts) => {
            mapAction(posts, on, verb, () => { count++; return answer() })
          })
        const showing = await draft(t, declare(() => row(1, 'x', '5')), '/api')
        const silent = await draft(t, declare(() => {}), '/api')
        const isRead = verb === 'GET'
        for (const client of clients) {
          const isBrowser = client === 'html'
          const ask = (path = url, more: Record<string, string> = {}): InjectOptions =>
            isBrowser && !isRead && verb !== 'PATCH'
              ? submit(`/api${path}`, verb === 'POST' ? '' : `_method=${verb}`,
                more)
              : { method: verb, url: `/api${path}`, headers: { accept: accepts[client], ...more } }
          const isRedirect = isBrowser && !isRead
          count = 0
          const res = await showing.inject(ask())
          t.strictSame([res.statusCode, res.headers.location, count],
            isRedirect ? [303, '/api/posts/1', 1] : [200, undefined, 1], `${client}: a row`)
          if (!isRedirect) {
            t.strictSame([res.headers['content-type'], plainTag(res.headers.etag)],
              [types[client], on === 'member' ? `"5.${client}"` : `"1-5.${client}"`])
          }
          const empty = await silent.inject(ask())
          t.strictSame([empty.statusCode, empty.headers.location],
            isRead ? [404, undefined] : isRedirect ? [303, `/api${location}`] : [204, undefined],
              `${client}: no answer`)

          count = 0
          const cross = await showing.inject(ask(url, { 'sec-fetch-site': 'cross-site' }))
          t.strictSame([cross.statusCode, count], isRead ? [200, 1] : [403, 0], `${client}: from another site`)
          if (!isRead) t.equal(cross.headers['content-type'], problems[client])
        }
        count = 0
        const served = isRead ? ['GET', 'HEAD'] : [verb]
        const allow = [...served, 'OPTIONS'].join(', ')
        const options = await showing.inject({ method: 'OPTIONS', url: `/api${url}` })
        t.strictSame([options.statusCode, options.headers.allow], [204, allow])
        for (const other of verbs.filter((other) => other !== verb)) {
          for (const client of clients) {
            const res = await showing.inject({ method: other, url: `/api${url}.${client}` })
            t.strictSame([res.statusCode, res.headers.allow, res.headers['content-type']],
              [405, allow, problems[client]], `${other} is not served for ${client}`)
          }
        }
        t.equal(count, 0, 'a refused request calls no handler')
      })
    }
  }
})

t.test('one path can have several verbs, and the _method of a form selects one', async t => {
  const calls: string[] = []
  const call = (name: string) => (): void => { calls.push(name) }
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store: posts('a') }, (posts) => {
    posts.member.get('pin', (context) => { calls.push('get'); return context.row() })
    posts.member.post('pin', call('post'))
    posts.member.put('pin', call('put'))
    posts.member.delete('pin', call('delete'))
    posts.member.put('star', call('star'))
    posts.member.delete('unstar', { path: 'star' }, call('unstar'))
  }))
  const requests: Array<[InjectOptions, number, string[], allow?: string]> = [
    [json('GET', '/posts/1/pin'), 200, ['get']],
    [json('POST', '/posts/1/pin'), 204, ['post']],
    [json('PUT', '/posts/1/pin'), 204, ['put']],
    [json('DELETE', '/posts/1/pin'), 204, ['delete']],
    [json('PATCH', '/posts/1/pin'), 405, [], 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    [submit('/posts/1/pin'), 303, ['post']],
    [submit('/posts/1/pin', '_method=PUT'), 303, ['put']],
    [submit('/posts/1/pin', '_method=delete'), 303, ['delete']],
    [submit('/posts/1/star', '_method=PUT'), 303, ['star']],
    [submit('/posts/1/star', '_method=DELETE'), 303, ['unstar']],
    [submit('/posts/1/star'), 405, [], 'PUT, DELETE, OPTIONS'],
    [submit('/posts/1/star', '_method=PUT', { 'sec-fetch-site': 'same-site' }), 403, []]
  ]
  for (const [request, status, called, allow] of requests) {
    calls.length = 0
    const res = await app.inject(request)
    t.strictSame([res.statusCode, calls, res.headers.allow], [status, called, allow],
      `${String(request.method)} ${String(request.url)} ${String(request.payload)}: ${res.body.slice(0, 100)}`)
    if (status === 303) t.equal(res.headers.location, '/posts/1')
  }
})

t.test('after a write a browser is redirected to the result', async t => {
  const store = posts('a', 'b')
  const told: Array<[string, Omit<ResourceOptions, 'name'>, HandlerAnswer<{ title: string }>, string, string,
    string]> = [
      ['the row that it was about', {}, row(1, 'x'), '/posts/1/act', '/posts/1', 'saved'],
      ['another row', {}, row(2, 'x'), '/posts/1/act', '/posts/2', 'saved'],
      ['nothing, of a row', {}, undefined, '/posts/1/act', '/posts/1', 'done'],
      ['nothing, of the collection', {}, undefined, '/posts/act', '/posts', 'done'],
      ['a row that has been deleted', {}, { kind: 'deleted' }, '/posts/1/act', '/posts', 'deleted'],
      ['one that has been made', {}, { kind: 'created', row: { id: 2, version: '1', attributes: { title: 'x' } } },
        '/posts/1/act', '/posts/2', 'created'],
      ['a row that no page shows', { except: 'show' }, row(2, 'x'), '/posts/1/act', '/posts', 'saved']
    ]
  for (const [name, options, answer, url, location, notice] of told) {
    const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store, ...options }, (posts) => {
      posts.collection.post('act', () => answer as HandlerAnswer)
      posts.member.post('act', () => answer as HandlerAnswer)
    }))
    const res = await app.inject(submit(url))
    t.strictSame([res.statusCode, res.headers.location, res.body], [303, location, ''], name)
    t.match(res.headers['set-cookie'], `fastify-resources-notice=${notice}; Max-Age=10; Path=${location};`)
  }
})

t.test('the answer of a handler decides the status', async t => {
  const stored = { id: 1, version: '4', attributes: { title: 'x' } }
  const answers: Array<[name: string, verb: Verb, answer: (context: ActionContext) => unknown, status: number,
    body: unknown, headers?: object]> = [
      ['a row', 'POST', () => row(1, 'x', '4'), 200, { post: { id: 1, title: 'x' } }, { etag: /^"4\.json-/ }],
      ['a row without a version', 'POST', () => row(1, 'x'), 200, { post: { id: 1, title: 'x' } }, { etag: undefined }],
      ['a row with more than is declared', 'POST', () => ({ id: 1, attributes: { title: 'x', secret: 'y' } }), 200,
        { post: { id: 1, title: 'x' } }],
      ['no rows', 'GET', () => [], 200, { posts: [] }],
      ['rows', 'GET', () => [row(2, 'b'), row(1, 'a')], 200, { posts: [{ id: 2, title: 'b' }, { id: 1, title: 'a' }] }],
      ['rows of a POST', 'POST', () => [row(2, 'b')], 200, { posts: [{ id: 2, title: 'b' }] }],
      ['batches', 'GET', function * () {
        yield [row(1, 'a', '1')]
        yield []
        yield [row(2, 'b', '1'), row(3, 'c', '1')]
      },
      200, { posts: [{ id: 1, title: 'a' }, { id: 2, title: 'b' }, { id: 3, title: 'c' }] }],
      ['batches in a list', 'GET', () => [[row(1, 'a', '1')], [row(2, 'b', '1')]], 200,
        { posts: [{ id: 1, title: 'a' }, { id: 2, title: 'b' }] }],
      ['an outcome', 'POST', () => ({ kind: 'created', row: stored }), 201, { post: { id: 1, title: 'x' } },
        { etag: /^"4\.json-/, location: '/posts/1' }],
      ['a deletion', 'POST', () => ({ kind: 'deleted' }), 204, undefined],
      ['a write that a store has done', 'POST', () => ({ ok: true, row: stored }), 200,
        { post: { id: 1, title: 'x' } }],
      ['one that came too late', 'POST', () => ({ ok: false, why: 'stale', current: stored }), 412,
        { post: { id: 1, title: 'x' } }, { etag: /^"4\.json-/ }],
      ['one of a row that there is not', 'POST', () => ({ ok: false, why: 'missing' }), 404,
        { status: 404, detail: 'there is no post with the id 1' }],
      ['nothing, of a read', 'GET', () => undefined, 404, { status: 404, detail: 'there is no post with the id 1' }],
      ['nothing, of a write', 'POST', () => undefined, 204, undefined],
      ['what it has sent itself', 'POST', ({ reply }) => reply.code(202).send({ mine: true }), 202, { mine: true }],
      ['what it sends later, by its reply', 'POST',
        ({ reply }) => { setImmediate(() => { reply.code(202).send({ mine: true }) }); return reply }, 202,
        { mine: true }],
      ['what is invalid', 'POST', () => { throw new InvalidError({ title: ['is not nice'] }) }, 422,
        { status: 422, errors: { title: ['is not nice'] } }],
      ['what is refused', 'POST', () => { throw Object.assign(new Error('not you'), { statusCode: 403 }) }, 403,
        { status: 403, detail: 'not you' }],
      ['a failure', 'POST', () => { throw new Error('secret') }, 500,
        { status: 500, detail: 'something went wrong on the server' }],
      ['a failure of the first batch', 'GET', function * () { throw new Error('secret') }, 500,
        { status: 500, detail: 'something went wrong on the server' }]
    ]
  let current: Handler = () => undefined
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store: posts('a') }, (posts) => {
    for (const verb of ['GET', 'POST'] as const) mapAction(posts, 'member', verb, (context) => current(context))
  }))
  for (const [name, verb, answer, status, body, headers = {}] of answers) {
    current = answer as Handler
    const res = await app.inject(json(verb, '/posts/1/act'))
    t.equal(res.statusCode, status, `${name}: ${res.body}`)
    t.match(res.body === '' ? undefined : res.json(), body, name)
    if (body !== undefined && status < 300) t.strictSame(res.json(), body)
    t.match({ ...res.headers, etag: res.headers.etag }, headers, name)
  }
})

/** Starts a server on a port, and returns a function that sends it requests. */
async function serve (t: Test, declare: (map: Mapper) => unknown): Promise<
  (path: string, options?: http.RequestOptions) => http.ClientRequest> {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  app.register(draw(declare))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return (path, options = {}) => http.request({ host: '127.0.0.1', port, path, ...options })
}

t.test('a client that leaves aborts the signal of a handler', async t => {
  const begun = deferred()
  const aborted = deferred<boolean>()
  const ask = await serve(t, (map) => map.resources('posts', { attributes: titled, store: posts() }, (posts) => {
    posts.collection.post('slow', async ({ signal }) => {
      begun.resolve()
      await once(signal, 'abort')
      aborted.resolve(signal.aborted)
    })
  }))
  const request = ask('/posts/slow', { method: 'POST' })
  request.on('error', () => {})
  request.end()
  await begun.promise
  request.destroy()
  t.equal(await aborted.promise, true)
})

t.test('the guard of an action on no row has the scope of its request', async t => {
  const store = memoryStore<{ title: string, tenant: string }>()
  for (const tenant of ['acme', 'other']) store.create({ title: 'T', tenant }, {})
  const scopes: unknown[] = []
  const touch = ({ guard, request: { headers } }: AnyContext): MaybePromise<HandlerAnswer> => {
    scopes.push(guard.scope)
    return store.update(Number(headers['x-row']), { title: 'touched' }, guard)
  }
  const app = await draft(t, (map) => map.resources('posts',
    { attributes: titled, store, scope: () => ({ tenant: 'acme' }) }, (posts) => {
      posts.collection.post('touch', touch).collection.get('peek', touch).new.post('touch', touch)
    }))
  for (const [method, url] of [['POST', '/posts/touch'], ['GET', '/posts/peek'],
    ['POST', '/posts/new/touch']] as const) {
    for (const [id, status] of [[1, 200], [2, 404]] as const) {
      const res = await app.inject(json(method, url, undefined, { 'x-row': String(id) }))
      t.equal(res.statusCode, status, `${method} ${url}: row ${id}`)
    }
  }
  t.strictSame(scopes, Array(6).fill({ tenant: 'acme' }))
  t.match(store.get(2, {}), { version: '1', attributes: { title: 'T' } }, 'a row of another tenant is left alone')
})

t.test('a query has only the parameters that were sent, also if they are named like inherited properties', async t => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const query = {
    type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  } as const
  const queries: unknown[] = []
  const note = (context: AnyContext): undefined => { queries.push(context.query) }
  const app = await draft(t, (map) => map.resources('posts', { attributes: titled, store: posts('T') }, (posts) => {
    mapOwn(posts.collection, query, note)
    mapOwn(posts.member, query, note)
  }))
  for (const url of ['/posts/act', '/posts/1/act']) {
    const without = await app.inject(json('POST', url))
    t.equal(without.statusCode, 204, without.body)
    t.equal((await app.inject(json('POST', `${url}?constructor=a&valueOf=b`))).statusCode, 204)
  }
  const given: unknown = { constructor: 'a', valueOf: 'b' }
  t.strictSame(queries, [{}, given, {}, given])
})

/** Declares a query whose parameters are known only at run time. */
function mapOwn (mapper: object, query: object, handler: (context: AnyContext) => undefined): void {
  (mapper as { post: (name: string, options: object, handler: unknown) => unknown }).post('act', { query }, handler)
}
