import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { draw, memoryStore, type ResourceOptions } from '../../../lib/index.js'
import {
  accepts, first, form, isRefused, json, type Row, rows, second, seededAgain, twoRows, withHeaders, xmlRow
} from '../../support/answers.js'
import { build, draft, post, types, xml } from '../../support/helper.js'

interface Problem { type: string, title: string, status: number, detail: string, errors?: Record<string, string[]> }

t.test('each client gets a success in its own format', async t => {
  const updated = { ...first, title: 'U' }
  const created: Row = { id: 3, title: 'New', published: false }
  const xmlList = `${xml}<posts type="array">${xmlRow(first)}${xmlRow(second)}</posts>`
  const cases: [name: string, client: keyof typeof accepts, request: InjectOptions, status: number,
    type: string | undefined, location: string | undefined, body: string | object | RegExp][] = [
    ['list', 'json', { url: '/posts' }, 200, types.json, undefined, { posts: [first, second] }],
    ['list', 'xml', { url: '/posts' }, 200, types.xml, undefined, xmlList],
    ['list', 'html', { url: '/posts' }, 200, types.html, undefined, /^<!doctype html\b[^]*Taken[^]*<\/html>\s*$/i],
    ['show', 'json', { url: '/posts/1' }, 200, types.json, undefined, { post: first }],
    ['show', 'xml', { url: '/posts/1' }, 200, types.xml, undefined, xml + xmlRow(first)],
    ['show', 'html', { url: '/posts/2' }, 200, types.html, undefined, /^<!doctype html\b[^]*Taken[^]*<\/html>\s*$/i],
    ['create', 'json', { method: 'POST', url: '/posts', ...json({ post: { title: 'New' } }) }, 201, types.json,
      '/posts/3', { post: created }],
    ['create', 'xml', { method: 'POST', url: '/posts', ...json('<post><title>New</title></post>', 'application/xml') },
      201, types.xml, '/posts/3', xml + xmlRow(created)],
    ['create', 'html', { method: 'POST', url: '/posts', ...json('post[title]=New', form) }, 303, undefined,
      '/posts/3', ''],
    ['update', 'json', { method: 'PUT', url: '/posts', ...json({ id: 1, post: { title: 'U' } }) }, 200, types.json,
      undefined, { post: updated }],
    ['update', 'xml',
      { method: 'PUT', url: '/posts', ...json('<post><id>1</id><title>U</title></post>', 'application/xml') }, 200,
      types.xml, undefined, xml + xmlRow(updated)],
    ['update', 'html', { method: 'POST', url: '/posts', ...json('_method=PUT&id=1&post[title]=U', form) }, 303,
      undefined, '/posts/1', ''],
    ['update with PUT', 'html', { method: 'PUT', url: '/posts', ...json('id=1&post[title]=U', form) }, 303, undefined,
      '/posts/1', ''],
    ['delete', 'json', { method: 'DELETE', url: '/posts', ...json({ id: 1 }) }, 204, undefined, undefined, ''],
    ['delete', 'xml', { method: 'DELETE', url: '/posts', ...json('<id>1</id>', 'application/xml') }, 204, undefined,
      undefined, ''],
    ['delete', 'html', { method: 'POST', url: '/posts', ...json('_method=DELETE&id=1', form) }, 303, undefined,
      '/posts', ''],
    ['delete with DELETE', 'html', { method: 'DELETE', url: '/posts', ...json('id=1', form) }, 303, undefined,
      '/posts', '']
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, client, request, status, type, location, body] of cases) {
    const label = `${name} for ${client}`
    reset()
    const res = await app.inject(withHeaders(request, { accept: accepts[client] }))
    t.strictSame([res.statusCode, res.headers.location], [status, location], label)
    if (type !== undefined) t.equal(res.headers['content-type'], type, label)
    if (body instanceof RegExp) t.match(res.body, body, label)
    else if (typeof body === 'string') t.equal(res.body, body, label)
    else t.strictSame(res.json(), body, label)
    const after = name.startsWith('create')
      ? [first, second, created]
      : name.startsWith('update') ? [updated, second] : name.startsWith('delete') ? [second] : [first, second]
    t.strictSame(await rows(app), { posts: after }, label)
  }
})

t.test('a failure is one error in three formats, and changes nothing', async t => {
  const large = 'x'.repeat(2 ** 20 + 1)
  const create = (body: unknown, type?: string): InjectOptions => ({
    method: 'POST', url: '/posts', ...json(body, type)
  })
  const update = (body: unknown, type?: string): InjectOptions => ({
    method: 'PUT', url: '/posts', ...json(body, type)
  })
  const destroy = (body: unknown, type?: string): InjectOptions => ({
    method: 'DELETE', url: '/posts', ...json(body, type)
  })
  const asXml = 'application/xml'
  const cases: [status: number, name: string, request: InjectOptions, says?: RegExp | string[]][] = [
    [400, 'JSON that breaks off', create('{"post":{"title":"New"}')],
    [422, 'JSON with a key __proto__', create('{"post":{"title":"New","__proto__":{"admin":true}}}')],
    [400, 'XML with a DOCTYPE', create('<!DOCTYPE post [<!ENTITY e "New">]><post><title>&e;</title></post>', asXml)],
    [400, 'XML that is not UTF-8', create(Buffer.from('<post><title>\xe9</title></post>', 'latin1'), asXml)],
    [400, 'clashing ids in query and body', { ...update({ id: 1, post: { title: 'New' } }), url: '/posts?id=2' }],
    [400, 'an unknown _method', create('_method=PURGE&id=1', form)],
    [400, 'an unknown parameter of a list', { url: '/posts?pgae=1' }, /pgae/],
    [400, 'a limit above the bound', { url: '/posts?limit=1001' }, /1000/],
    [404, 'an unknown id', { url: '/posts/3' }],
    [404, 'a leading zero', { url: '/posts/01' }],
    [404, 'a number that no double holds', { url: '/posts/9007199254740993' }],
    [404, 'markup', { url: '/posts/%3Cscript%3E' }],
    [404, 'a delete of an unknown id', destroy({ id: 99 })],
    [405, 'PUT on a member', { method: 'PUT', url: '/posts/1', ...json({ post: { title: 'New' } }) }],
    [409, 'a create with a title that is taken', create({ post: { title: 'Taken' } }), ['title']],
    [409, 'a create with a title that is taken, by a form', create('post[title]=Taken', form), ['title']],
    [413, 'an XML body too large', create(`<post><title>New</title><body>${large}</body></post>`, asXml)],
    [415, 'plain text', create('title=New', 'text/plain')],
    [415, 'a multipart form',
      create('--x\r\ncontent-disposition: form-data; name="post[title]"\r\n\r\nNew\r\n--x--\r\n',
        'multipart/form-data; boundary=x')],
    [415, 'a charset other than UTF-8 in JSON', create('{"post":{"title":"New"}}', 'application/json; charset=latin1')],
    [415, 'no content type', { method: 'POST', url: '/posts', payload: '{"post":{"title":"New"}}' }],
    [415, 'a compressed body', withHeaders(create('{"post":{"title":"New"}}'), { 'content-encoding': 'gzip' })],
    [422, 'a create without a required attribute', create({ post: { body: 'B' } }), ['title']],
    [422, 'a create with two faults', create({ post: { title: '', rating: 9 } }), ['title', 'rating']],
    [422, 'a form that does not convert', create('post[title]=New&post[rating]=five', form), ['rating']],
    [422, 'an unknown attribute in JSON', create({ post: { titel: 'New', title: 'New' } }), ['titel']],
    [422, 'an unknown key at the top', create({ post: { title: 'New' }, psot: {} }), /psot[^]*post/],
    [422, 'a root of the wrong name', create('<psot><title>New</title></psot>', asXml), /psot[^]*post/],
    [422, 'a create with an id', create({ post: { id: 7, title: 'New' } }), ['id']],
    [422, 'a create without a group', create({})],
    [422, 'an update without an id', update({ post: { title: 'New' } })],
    [422, 'a delete without an id', { method: 'DELETE', url: '/posts' }]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [status, name, request, says] of cases) {
    await t.test(`${status}: ${name}`, async t => {
      reset()
      const [{ errors, detail }, headers] = await isRefused(t, app, request, status)
      if (Array.isArray(says)) t.strictSame(Object.keys(errors ?? {}).sort(), says.sort())
      else if (says !== undefined) t.match(JSON.stringify([detail, errors]), says)
      if (status === 415 && !request.headers?.['content-encoding']) {
        for (const type of ['application/xml', 'text/xml', 'application/json', form]) {
          t.ok(headers.accept?.includes(type), `${type} may be sent`)
        }
        t.notMatch(headers.accept, 'html')
      } else if (status === 415) {
        t.equal(headers['accept-encoding'], 'identity')
      }
    })
  }
})

t.test('a beginner\'s mistake is answered with its cure', async t => {
  const asJson = (body: string): InjectOptions => ({ method: 'POST', url: '/posts', ...json(body) })
  const asForm = (body: string): InjectOptions => ({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: body
  })
  const untyped = (type?: string): InjectOptions => ({
    method: 'POST',
    url: '/posts',
    headers: type === undefined ? {} : { 'content-type': type },
    payload: '{"post":{"title":"New"}}'
  })
  const port = { 'sec-fetch-site': 'same-site', origin: 'http://localhost:5173' }
  const byId = "with the id, or set the option writes to 'both'"
  const cases: Array<[name: string, request: InjectOptions, status: number, says: string,
    options?: Omit<ResourceOptions, 'name'>]> = [
      ['attributes without their group', asJson('{"title":"Tea"}'), 422,
        'title must be inside "post": send {"post":{"title":…}}'],
      ['an attribute beside its group', asJson('{"post":{"title":"Tea"},"body":"B"}'), 422,
        'body must be inside "post": send {"post":{"body":…}}'],
      ['attributes without their group, in a form', asForm('title=Tea'), 422,
        'title must be inside "post": send post[title]=…'],
      ['any name where none is declared', asJson('{"a\\"b":1}'), 422,
        'a"b must be inside "note": send {"note":{"a\\"b":…}}',
        { attributes: undefined, store: memoryStore(), singular: 'note' }],
      ['the group misspelt where no name is declared', asJson('{"nite":{}}'), 422,
        'nite is unknown beside "note"; did you mean "note"?',
        { attributes: undefined, store: memoryStore(), singular: 'note' }],
      ['a body without its type', untyped(), 415,
        'a body without a Content-Type cannot be read here; send application/xml, text/xml, application/json, ' +
        'application/x-www-form-urlencoded; set the header Content-Type to the type of the body'],
      ['a body that fetch calls a text', untyped('text/plain;charset=UTF-8'), 415,
        'text/plain cannot be read here; send application/xml, text/xml, application/json, ' +
        'application/x-www-form-urlencoded; set the header Content-Type to the type of the body'],
      ['JSON that curl calls a form', asForm('{"post":{"title":"New","tags":["a&b"]}}'), 400,
        'the body looks like JSON, but its Content-Type says that it is a form; send the header Content-Type: ' +
        'application/json'],
      ['XML that curl calls a form', asForm('<post/>'), 400,
        'the body looks like XML, but its Content-Type says that it is a form; send the header Content-Type: ' +
        'application/xml'],
      ['PUT of a member', { method: 'PUT', url: '/posts/1', ...json({ post: { title: 'U' } }) }, 405,
      `PUT is not allowed here; use GET, HEAD, OPTIONS; to write, send PUT /posts ${byId}`],
      ['DELETE of a member under a prefix', { method: 'DELETE', url: '/a%20b/posts/1' }, 405,
      `DELETE is not allowed here; use GET, HEAD, OPTIONS; to write, send DELETE /a%20b/posts ${byId}`,
      { prefix: '/:tenant', store: memoryStore() }],
      ['DELETE of a member that cannot be deleted', { method: 'DELETE', url: '/posts/1' }, 405,
        'DELETE is not allowed here; use GET, HEAD, OPTIONS', { except: 'delete' }],
      ['PUT of a collection', { method: 'PUT', url: '/posts', ...json({ id: 1, post: {} }) }, 405,
        'PUT is not allowed here; use GET, HEAD, QUERY, POST, OPTIONS', { writes: 'member' }],
      ['a browser app on another port', { method: 'DELETE', url: '/posts?id=1', headers: port }, 403,
        'the request comes from another origin of this site: Sec-Fetch-Site is same-site; ' +
          'if its pages may write here, ' + 'add "http://localhost:5173" to the option trustedOrigins'],
      ['an older browser', { method: 'DELETE', url: '/posts?id=1', headers: { origin: 'http://localhost:5173' } }, 403,
        'the request comes from another origin: Origin is http://localhost:5173; if its pages may write here, add ' +
        '"http://localhost:5173" to the option trustedOrigins'],
      ['a page without an origin', { method: 'DELETE', url: '/posts?id=1', headers: { origin: 'null' } }, 403,
        'the request comes from another origin: Origin is null; if its pages may write here, add its origin to the ' +
        'option trustedOrigins']
    ]
  const usual = await build(t, { name: 'posts', attributes: post })
  for (const [name, request, status, says, options] of cases) {
    await t.test(name, async t => {
      const app = options === undefined ? usual : await build(t, { name: 'posts', attributes: post, ...options })
      const [byJson, byXml, byHtml] = await Promise.all(Object.values(accepts).map((accept) =>
        app.inject(withHeaders(request, { accept }))))
      const written = (text = ''): string => text.replaceAll(/&(quot|#39|lt|gt|amp);/g,
        (_, entity: string) => ({ quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' })[entity] as string)
      // XML documents and pages spell an attribute's name differently.
      const cure = status === 422 ? says.slice(says.indexOf(' ')) : says
      t.strictSame([byXml?.statusCode, byXml?.headers['content-type']], [status, types.xml])
      t.ok(written(byXml?.body).endsWith(`${cure}</error></errors>`), name)
      if (request.url === '/posts/1.xml') return
      t.strictSame([byJson?.statusCode, byJson?.json<Problem>().detail], [status, says])
      t.ok(written(byHtml?.body.replaceAll(/<[^>]*>/g, '')).includes(cure), name)
    })
  }
})

/** Three writes that need no body, of an app that has both kinds of paths. */
const BODILESS: ReadonlyArray<readonly [method: 'DELETE' | 'POST', url: string]> = [['DELETE', '/posts/2'],
  ['DELETE', '/posts?id=1'], ['POST', '/posts/3/publish']]

async function withPublish (t: Test, server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('posts', { attributes: post, store: twoRows(), writes: 'both' }, (posts) => {
      posts.member.post('publish', () => undefined)
    })
  }))
  await app.ready()
  return app
}

t.test('a write without a body may have any Content-Type', async t => {
  const contentTypes = ['text/plain', 'text/plain;charset=UTF-8', 'application/octet-stream',
    'application/json; charset=utf-16', form, 'application/xml', 'multipart/form-data; boundary=x', 'no type', '']
  for (const contentType of contentTypes) {
    for (const encoding of ['identity', 'gzip']) {
      const app = await withPublish(t)
      for (const [method, url] of BODILESS) {
        const headers = { accept: accepts.json, 'content-type': contentType, 'content-encoding': encoding }
        const res = await app.inject({ method, url, headers })
        t.strictSame([res.statusCode, res.body], [204, ''], `${method} ${url} as "${contentType}" in ${encoding}`)
      }
    }
  }
})

t.test('HTTP/2 tells by a flag whether a write has a body', async t => {
  const app = await withPublish(t, { http2: true } as object)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => { client.destroy() })
  const send = async (method: string, path: string, body?: string): Promise<unknown> => {
    const headers = { ':method': method, ':path': path, 'content-type': 'text/plain' }
    const stream = client.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [answer] = await once(stream, 'response') as [IncomingHttpHeaders]
    stream.close()
    return answer[':status']
  }
  for (const [method, url] of BODILESS) {
    t.equal(await send(method, url, 'x'), 415, `${method} ${url} with a text`)
    t.equal(await send(method, url), 204, `${method} ${url} without a body`)
  }
})

const PRIVATE = 'private, no-cache'
type Client = keyof typeof accepts

async function cached (t: Test, options: Omit<ResourceOptions, 'name'> = {},
  before: (app: FastifyInstance) => void = () => {}): Promise<FastifyInstance> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of ['T', 'U']) store.create({ title }, {})
  return await build(t, { name: 'posts', attributes: post, store, ...options }, { before })
}

/** Checks the status and the Cache-Control of an answer, and that it sends nosniff. */
async function isCached (t: Test, app: FastifyInstance, client: Client, request: InjectOptions, status: number,
  value: string, label = ''): Promise<void> {
  const { statusCode, headers } = await app.inject({
    ...request, headers: { accept: accepts[client], ...request.headers }
  })
  t.strictSame([statusCode, headers['cache-control'], headers['x-content-type-options']], [status, value, 'nosniff'],
    `${label} ${client}: ${request.method ?? 'GET'} ${String(request.url)}`)
}

const created = { post: { title: 'New' } }
const submitted = (payload: string): InjectOptions => ({
  method: 'POST', url: '/posts', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload
})

t.test('every answer is private, whatever its status', async (t) => {
  const failing = {
    show: ({ id, proceed }: { id: unknown, proceed: () => unknown }) => {
      if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  for (const client of ['xml', 'json', 'html'] as const) {
    const isPage = client === 'html'
    const cases: Array<[status: number, request: InjectOptions]> = [
      [200, { url: '/posts' }],
      [200, { url: '/posts/1' }],
      [200, { method: 'HEAD', url: '/posts' }],
      [304, { url: '/posts/1', headers: { 'if-none-match': '*' } }],
      [200, { url: '/posts.xsd' }],
      [isPage ? 303 : 201, { method: 'POST', url: '/posts', payload: created }],
      [isPage ? 303 : 200, { method: 'PUT', url: '/posts', payload: { id: 1, post: { rating: 1 } } }],
      [isPage ? 303 : 200, submitted('_method=PUT&id=1&post[rating]=2')],
      [isPage ? 303 : 204, { method: 'DELETE', url: '/posts?id=3' }],
      [204, { method: 'OPTIONS', url: '/posts' }],
      [400, { url: '/posts?nope' }],
      [400, { method: 'POST', url: '/posts', headers: { 'content-type': 'application/json' }, payload: '{' }],
      [200, { url: '/posts/1', headers: { 'x-answer': '1' } }],
      [403, { method: 'DELETE', url: '/posts?id=1', headers: { 'sec-fetch-site': 'cross-site' } }],
      [404, { url: '/posts/99' }],
      [405, { method: 'DELETE', url: '/posts/1' }],
      [406, { url: '/posts?format=csv' }],
      [409, { method: 'POST', url: '/posts', payload: { post: { title: 'U' } } }],
      [412, { method: 'PUT', url: '/posts', headers: { 'if-match': '"9.json"' }, payload: { id: 1, post: {} } }],
      [413, { method: 'POST', url: '/posts', payload: { post: { body: 'x'.repeat(1_100_000) } } }],
      [415, { method: 'POST', url: '/posts', headers: { 'content-type': 'a/b' }, payload: 'x' }],
      [422, { method: 'POST', url: '/posts', payload: { post: {} } }],
      [422, submitted('post[title]=')],
      [500, { url: '/posts/2' }]
    ]
    const app = await cached(t, { xsd: true, actions: failing }, (app) => {
      app.addHook('onRequest', async ({ headers }, reply) => {
        if (headers['x-refuse'] !== undefined) throw Object.assign(new Error('who are you?'), { statusCode: 401 })
        if (headers['x-answer'] !== undefined) return await reply.send('mine')
      })
    })
    for (const [status, request] of cases) await isCached(t, app, client, request, status, PRIVATE)
    const [, sheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec((await app.inject('/posts.html')).body) ?? []
    await isCached(t, app, client, { url: sheet }, 200, 'public, max-age=31536000, immutable')
    await isCached(t, app, client, { url: sheet, headers: { 'x-refuse': '1' } }, 401, PRIVATE)
  }
})

t.test('the app\'s own Cache-Control stays, but an error discards an earlier one that is not no-store', async (t) => {
  const own = 'public, max-age=60'
  const byHook = (value: string, name: 'onRequest' | 'preHandler' | 'onSend') => (app: FastifyInstance): void => {
    app.addHook(name, async (_request: unknown, reply: { header: (name: string, value: string) => unknown }) => {
      reply.header('Cache-Control', value)
    })
  }
  const handlers = {
    show: ({ id, reply, proceed }: {
      id: unknown, reply: { header: (name: string, value: string) => unknown }, proceed: () => unknown
    }) => {
      reply.header('cache-control', own); if (id === 2) {
        throw new Error('no')
      } return proceed()
    }
  } as never
  const apps: Array<[name: string, app: FastifyInstance, found: string, failed: string]> = [
    ['a hook before everything', await cached(t, {}, byHook(own, 'onRequest')), own, PRIVATE],
    ['a hook that forbids to store', await cached(t, {}, byHook('No-Store', 'onRequest')), 'No-Store', 'No-Store'],
    ['a hook that sees all that is sent', await cached(t, {}, byHook(own, 'onSend')), own, own],
    ['a handler', await cached(t, { actions: handlers }), own, PRIVATE]
  ]
  for (const [name, app, found, failed] of apps) {
    for (const client of ['xml', 'json', 'html'] as const) {
      await isCached(t, app, client, { url: '/posts/1' }, 200, found, name)
      await isCached(t, app, client, { url: '/posts/1', headers: { 'if-none-match': '*' } }, 304, found, name)
      await isCached(t, app, client, { url: '/posts/99' }, 404, name.startsWith('a handler') ? PRIVATE : failed, name)
    }
  }
  await isCached(t, apps.at(-1)?.[1] as FastifyInstance, 'json', { url: '/posts/2' }, 500, PRIVATE, 'what has failed')
  const app = await cached(t, {}, (app) => {
    app.addHook('onRequest', async () => {
      throw Object.assign(new Error('gone'), { statusCode: 410, headers: { 'cache-control': own } })
    })
  })
  await isCached(t, app, 'json', { url: '/posts/1' }, 410, own, 'an error that says it')
})

t.test('the option cacheControl overrides the header, for all actions or for each', async (t) => {
  const month = 'public, max-age=2592000'
  for (const client of ['xml', 'json', 'html'] as const) {
    const tag = { 'if-none-match': '*' }
    const all = await cached(t, { cacheControl: month, xsd: true, formPages: true })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [200, { url: '/posts/1' }, month],
      [200, { method: 'HEAD', url: '/posts/1' }, month], [304, { url: '/posts/1', headers: tag }, month],
      [200, { url: '/posts/new' }, month], [200, { url: '/posts/1/edit' }, month],
      [client === 'html' ? 303 : 201, { method: 'POST', url: '/posts', payload: created }, month],
      [404, { url: '/posts/99' }, PRIVATE], [400, { url: '/posts?nope' }, PRIVATE],
      [412, { method: 'DELETE', url: '/posts?id=1', headers: { 'if-match': '"9.json"' } }, PRIVATE],
      [405, { method: 'PUT', url: '/posts/1' }, PRIVATE], [204, { method: 'OPTIONS', url: '/posts' }, PRIVATE],
      [200, { url: '/posts.xsd' }, PRIVATE]
    ] as const) await isCached(t, all, client, request, status, value, 'for all')

    const some = await draft(t, (map) => map.resources('posts',
      {
        attributes: post,
        cacheControl: { list: month, top: 'no-store', publish: 'no-cache', delete: undefined as never }
      }, (posts) => posts
        .collection.get('top', ({ query }) => { if (query.no !== undefined) throw new Error('no'); return [] })
        .collection.get('bottom', () => [])
        .member.post('publish', ({ id, attributes, store, guard, signal }) =>
          store.update(id, { published: true, ...attributes }, guard, { signal }))))
    await some.inject({ method: 'POST', url: '/posts', payload: created })
    for (const [status, request, value] of [
      [200, { url: '/posts' }, month], [404, { url: '/posts/9' }, PRIVATE], [200, { url: '/posts/1' }, PRIVATE],
      [200, { url: '/posts/top' }, 'no-store'], [200, { url: '/posts/bottom' }, PRIVATE],
      [400, { url: '/posts/top?no=1' }, 'no-store'],
      [client === 'html' ? 303 : 200, { method: 'POST', url: '/posts/1/publish' }, 'no-cache'],
      [404, { method: 'POST', url: '/posts/9/publish' }, PRIVATE]
    ] as const) await isCached(t, some, client, request, status, value, 'for some')
  }
})

t.test('an answer of the app\'s hook does not get the header of the action', async (t) => {
  const month = 'public, max-age=2592000'
  const hook = (app: FastifyInstance): void => {
    app.addHook('preHandler', async ({ headers }, reply) => {
      if (headers['x-redirect'] !== undefined) return await reply.redirect('/login')
      if (headers['x-answer'] !== undefined) return await reply.send('mine')
    })
  }
  const handled =
    { show: ({ reply }: { reply: { send: (body: string) => unknown } }) => { reply.send('own') } } as never
  const app = await cached(t, { cacheControl: month, actions: handled }, hook)
  const unstored = await cached(t, { cacheControl: 'no-store' }, hook)
  for (const client of ['xml', 'json', 'html'] as const) {
    for (const url of ['/posts', '/posts/1']) {
      await isCached(t, app, client, { url }, 200, month)
      for (const [status, header] of [[302, 'x-redirect'], [200, 'x-answer']] as const) {
        await isCached(t, app, client, { url, headers: { [header]: '1' } }, status, PRIVATE)
        await isCached(t, unstored, client, { url, headers: { [header]: '1' } }, status, 'no-store')
      }
    }
  }
})

t.test('an invalid cacheControl throws at registration', async (t) => {
  const cases: Array<[cacheControl: unknown, says: string | RegExp]> = [
    [60,
      'must be directives such as \'public, max-age=60\', or directives by action such as ' +
        '{ list: \'public, max-age=60\' }, not 60'],
    ...['', ' ', 'public max-age=60', 'max-age = 60', 'public,', 'public\r\nset-cookie: a=b', 'öffentlich',
      'a="b'].flatMap((value): Array<[unknown, string | RegExp]> => [
      [value, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`],
      [{ list: value }, `must be directives such as 'public, max-age=60', separated by commas, not '${value}'`]
    ]),
    [{ list: 60 }, /separated by commas, not 60\.$/],
    [{ lists: 'public' }, 'has "lists", which is not one of list, show, create, update, delete; did you mean "list"?'],
    [{ edit: 'public' }, 'has "edit", which is not one of list, show, create, update, delete']
  ]
  for (const [cacheControl, says] of cases) {
    const message = typeof says === 'string'
      ? `Option "cacheControl" of resource "posts" ${says}${says.endsWith('?') ? '' : '.'}`
      : says
    const refused = build(t, { name: 'posts', cacheControl: cacheControl as string })
    await t.rejects(refused, { code: 'FST_RESOURCES_INVALID_OPTION', message }, JSON.stringify(cacheControl))
  }
  for (const cacheControl of [undefined, {}, 'no-store',
    'max-age=60, private="set-cookie, x", stale-while-revalidate=5 , immutable',
    { list: 'public', show: undefined as never }]) {
    await t.resolves(build(t, { name: 'posts', cacheControl } as ResourceOptions), JSON.stringify(cacheControl))
  }
})
