import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { draw, memoryStore, type ResourceOptions } from '../../../lib/index.js'
import {
  accepts, first, form, isRefused, json, type Row, rows, second, seededAgain, twoRows, withHeaders, xmlRow
} from '../../support/answers.js'
import { build, post, types, xml } from '../../support/helper.js'

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
