import type { FastifyInstance, FastifyServerOptions, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type MemoryStore, type ResourceOptions } from '../../../lib/index.js'
import { build, post, types, xml } from '../../support/helper.js'
import { resettableStore } from '../../support/stores/resettable-store.js'

type Verdict = 'served' | 'refused'

const form = 'application/x-www-form-urlencoded'
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const row = { id: 1, title: 'T', published: false }
const created = { id: 2, title: 'New', published: false }
const updated = { ...row, title: 'New' }
const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' },
  { origin: 'http://evil.example' }, { origin: 'null' }]
const domestic: Record<string, string>[] = [{ 'sec-fetch-site': 'same-origin' },
  { host: 'blog.example', origin: 'http://blog.example' }]

const done = { nothing: [row], created: [row, created], updated: [updated], deleted: [] }

const writes = {
  POST: { method: 'POST', url: '/posts', payload: { post: { title: 'New' } } },
  PUT: { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'New' } } },
  DELETE: { method: 'DELETE', url: '/posts', payload: { id: 1 } },
  'PUT of a member': { method: 'PUT', url: '/posts/1', payload: { post: { title: 'New' } } },
  'PATCH of a member': { method: 'PATCH', url: '/posts/1', payload: { post: { title: 'New' } } },
  'DELETE of a member': { method: 'DELETE', url: '/posts/1' },
  'POST of a form': { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: 'post[title]=New' },
  'PUT by a form': {
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PUT&id=1&post[title]=New'
  },
  'DELETE by a form': {
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=DELETE&id=1'
  },
  'DELETE by a form on a member': {
    method: 'POST', url: '/posts/1', headers: { 'content-type': form }, payload: '_method=DELETE'
  }
} as const satisfies Record<string, InjectOptions>

function withHeaders (request: InjectOptions, headers: Record<string, string>): InjectOptions {
  return { ...request, headers: { ...request.headers, ...headers } }
}

function oneRow (): MemoryStore {
  const store = memoryStore()
  store.create({ title: 'T', published: false }, {})
  return store
}

/** Builds an app with one row. */
async function seeded (t: Test, options: Omit<ResourceOptions, 'name'> = {},
  server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', attributes: post, store: oneRow(), ...options }, { server })
}

/** Builds an app with one row, and a function that puts it back. */
async function seededAgain (t: Test, options: Omit<ResourceOptions, 'name'> = {},
  server: FastifyServerOptions = {}): Promise<[app: FastifyInstance, reset: () => void]> {
  const store = resettableStore(oneRow)
  return [await seeded(t, { store, ...options }, server), store.reset]
}

async function rows (app: FastifyInstance): Promise<unknown> {
  return (await app.inject('/posts.json')).json<{ posts: unknown }>().posts
}

function isProblem (t: Test, res: LightMyRequestResponse, status: number, title: string): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [status, types.problem])
  t.match(res.json(), { type: 'about:blank', title, status, detail: /\S/ })
}

function isPage (t: Test, res: LightMyRequestResponse, status: number): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [status, types.html])
  t.match(res.body, /^<!doctype html\b[^]*<\/html>\s*$/i, 'a complete page')
}

t.test('a write that a browser marks as cross-site is refused', async t => {
  const own = 'http://blog.example'
  const evil = 'http://evil.example'
  const cases: [name: string, headers: Record<string, string>, verdict: Verdict][] = [
    ['neither header: not a browser', { host: 'blog.example' }, 'served'],
    ['same-origin', { host: 'blog.example', 'sec-fetch-site': 'same-origin' }, 'served'],
    ['none', { host: 'blog.example', 'sec-fetch-site': 'none' }, 'served'],
    ['same-site', { host: 'blog.example', 'sec-fetch-site': 'same-site' }, 'refused'],
    ['cross-site', { host: 'blog.example', 'sec-fetch-site': 'cross-site' }, 'refused'],
    ['a word nobody knows', { host: 'blog.example', 'sec-fetch-site': 'sideways' }, 'refused'],
    ['two words', { host: 'blog.example', 'sec-fetch-site': 'same-origin, cross-site' }, 'refused'],
    ['same-origin and its own Origin', { host: 'blog.example', 'sec-fetch-site': 'same-origin', origin: own },
      'served'],
    ['same-origin behind a proxy that changes Host',
      { host: 'internal:3000', 'sec-fetch-site': 'same-origin', origin: 'https://blog.example' }, 'served'],
    ['same-origin with the Origin null of a no-referrer page',
      { host: 'blog.example', 'sec-fetch-site': 'same-origin', origin: 'null' }, 'served'],
    ['none with an Origin', { host: 'blog.example', 'sec-fetch-site': 'none', origin: evil }, 'served'],
    ['cross-site and its own Origin', { host: 'blog.example', 'sec-fetch-site': 'cross-site', origin: own }, 'refused'],
    ['its own Origin', { host: 'blog.example', origin: own }, 'served'],
    ['its own Origin, the default port told in Host', { host: 'blog.example:80', origin: own }, 'served'],
    ['its own Origin, Host in upper case', { host: 'BLOG.example', origin: own }, 'served'],
    ['its own Origin as an absolute name', { host: 'blog.example:3000', origin: `${own}.:3000` }, 'served'],
    ['its own Origin in upper case', { host: 'blog.example', origin: 'HTTP://BLOG.example' }, 'served'],
    ['its own Origin, an IPv6 address', { host: '[::1]:3000', origin: 'http://[::1]:3000' }, 'served'],
    ['the Origin of another host', { host: 'blog.example', origin: evil }, 'refused'],
    ['the Origin of another port', { host: 'blog.example:3000', origin: `${own}:3001` }, 'refused'],
    ['the Origin of the default port for a Host of another', { host: 'blog.example:3000', origin: own }, 'refused'],
    ['the Origin of a subdomain', { host: 'blog.example', origin: 'http://www.blog.example' }, 'refused'],
    ['the Origin of the parent domain', { host: 'www.blog.example', origin: own }, 'refused'],
    ['an Origin that begins like its own', { host: 'blog.example', origin: `${own}.evil.example` }, 'refused'],
    ['an Origin that ends like its own', { host: 'blog.example', origin: 'http://evilblog.example' }, 'refused'],
    ['its own Origin as an absolute name without a port', { host: 'blog.example', origin: `${own}.` }, 'served'],
    ['an Origin of another scheme that ends like its own', { host: 'blog.example', origin: `x${own}` }, 'refused'],
    ['an Origin with a dot more', { host: 'blogexample', origin: own }, 'refused'],
    ['an Origin whose port begins with 80', { host: 'blog.example80', origin: `${own}:8080` }, 'refused'],
    ['an Origin whose port begins with 443', { host: 'blog.example0', origin: 'https://blog.example:4430' }, 'refused'],
    ['an Origin of HTTPS with the port of HTTP', { host: 'blog.example', origin: 'https://blog.example:80' },
      'refused'],
    ['an Origin of HTTP with the port of HTTPS', { host: 'blog.example', origin: `${own}:443` }, 'refused'],
    ['an Origin of HTTPS, the default port told in Host', { host: 'blog.example:443', origin: 'https://blog.example' },
      'served'],
    ['an Origin with its own as user name', { host: 'blog.example', origin: `${own}@evil.example` }, 'refused'],
    ['the Origin null', { host: 'blog.example', origin: 'null' }, 'refused'],
    ['the Origin null for a host of that name', { host: 'null', origin: 'null' }, 'refused'],
    ['an Origin that is no URL', { host: 'blog.example', origin: 'blog.example' }, 'refused'],
    ['two Origins', { host: 'blog.example', origin: `${own} ${evil}` }, 'refused'],
    ['a forwarded host, which nobody said to trust',
      { host: 'internal', 'x-forwarded-host': 'blog.example', origin: own }, 'refused'],
    ['a forwarded host that an attacker made up',
      { host: 'blog.example', 'x-forwarded-host': 'evil.example', origin: evil }, 'refused'],
    ['a Forwarded header that an attacker made up',
      { host: 'blog.example', forwarded: 'host=evil.example', origin: evil }, 'refused'],
    ['the Origin of another host beside a Referer of its own', { host: 'blog.example', referer: own, origin: evil },
      'refused']
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, headers, verdict] of cases) {
    await t.test(`a write with ${name} is ${verdict}`, async t => {
      reset()
      const res = await app.inject(withHeaders(writes.POST, { accept: 'application/json', ...headers }))
      if (verdict === 'served') {
        t.strictSame([res.statusCode, res.headers['content-type']], [201, types.json])
        t.strictSame(res.json(), { post: created })
      } else {
        isProblem(t, res, 403, 'Forbidden')
      }
      t.strictSame(await rows(app), verdict === 'served' ? [row, created] : [row])
    })
  }
})

t.test('behind a trusted proxy the forwarded host counts as the own host', async t => {
  const behind = (origin: string, forwarded = 'blog.example', protocol?: string): Record<string, string> => ({
    host: 'internal:3000', 'x-forwarded-host': forwarded, origin, ...(protocol && { 'x-forwarded-proto': protocol })
  })
  const cases: [name: string, trustProxy: boolean, headers: Record<string, string>, verdict: Verdict][] = [
    ['the forwarded host', true, behind('http://blog.example'), 'served'],
    ['the forwarded host and protocol', true, behind('https://blog.example', undefined, 'https'), 'served'],
    ['the forwarded host with a port', true,
      behind('https://blog.example:8443', 'blog.example:8443', 'https'), 'served'],
    ['the forwarded host with the default port told', true,
      behind('https://blog.example', 'blog.example:443', 'https'), 'served'],
    ['no forwarded host', true, { host: 'blog.example', origin: 'http://blog.example' }, 'served'],
    ['another host than the forwarded', true, behind('http://evil.example'), 'refused'],
    ['the inner host', true, behind('http://internal:3000'), 'refused'],
    ['another port than the forwarded', true, behind('http://blog.example:3000'), 'refused'],
    ['the Origin null', true, behind('null'), 'refused'],
    ['the forwarded host, not trusted', false, behind('http://blog.example'), 'refused'],
    ['the inner host, forwarded not trusted', false, behind('http://internal:3000'), 'served']
  ]
  const [trusting, distrustful] = [await seededAgain(t, {}, { trustProxy: true }),
    await seededAgain(t, {}, { trustProxy: false })]
  for (const [name, trustProxy, headers, verdict] of cases) {
    await t.test(`a write behind a proxy with ${name} is ${verdict}`, async t => {
      const [app, reset] = trustProxy ? trusting : distrustful
      reset()
      const res = await app.inject(withHeaders(writes.POST, { accept: 'application/json', ...headers }))
      if (verdict === 'served') t.strictSame([res.statusCode, res.json()], [201, { post: created }])
      else isProblem(t, res, 403, 'Forbidden')
      t.strictSame(await rows(app), verdict === 'served' ? [row, created] : [row])
    })
  }
})

t.test('trustedOrigins matches exactly', async t => {
  const admin = 'https://admin.example'
  const cases: [name: string, headers: Record<string, string>, verdict: Verdict][] = [
    ['the origin', { origin: admin }, 'served'],
    ['the origin, cross-site', { origin: admin, 'sec-fetch-site': 'cross-site' }, 'served'],
    ['the second origin', { origin: 'http://localhost:5173', 'sec-fetch-site': 'cross-site' }, 'served'],
    ['the own origin', { origin: 'http://blog.example' }, 'served'],
    ['neither header', {}, 'served'],
    ['cross-site without Origin', { 'sec-fetch-site': 'cross-site' }, 'refused'],
    ['cross-site with another Origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 'refused'],
    ['cross-site with the own Origin', { origin: 'http://blog.example', 'sec-fetch-site': 'cross-site' }, 'refused'],
    ['another Origin', { origin: 'https://evil.example' }, 'refused'],
    ['another scheme', { origin: 'http://admin.example' }, 'refused'],
    ['a subdomain', { origin: 'https://x.admin.example' }, 'refused'],
    ['a longer name', { origin: `${admin}.evil.example` }, 'refused'],
    ['the Origin null', { origin: 'null' }, 'refused']
  ]
  const [app, reset] = await seededAgain(t, { trustedOrigins: [admin, 'http://localhost:5173'] })
  for (const [name, headers, verdict] of cases) {
    await t.test(`a write with trusted origins and ${name} is ${verdict}`, async t => {
      reset()
      const res = await app.inject(withHeaders(writes.POST,
        { accept: 'application/json', host: 'blog.example', ...headers }))
      if (verdict === 'served') t.strictSame([res.statusCode, res.json()], [201, { post: created }])
      else isProblem(t, res, 403, 'Forbidden')
      t.strictSame(await rows(app), verdict === 'served' ? [row, created] : [row])
    })
  }
})

t.test('each unsafe method is guarded', async t => {
  const [app, reset] = await seededAgain(t, { writes: 'both' })
  for (const [name, request] of Object.entries<InjectOptions>(writes)) {
    for (const headers of foreign) {
      await t.test(`${name} with ${JSON.stringify(headers)} changes nothing`, async t => {
        reset()
        isProblem(t, await app.inject(withHeaders(request, { accept: 'application/json', ...headers })), 403,
          'Forbidden')
        t.strictSame(await rows(app), [row])
      })
    }
    for (const headers of domestic) {
      await t.test(`${name} with ${JSON.stringify(headers)} is executed`, async t => {
        reset()
        const res = await app.inject(withHeaders(request, headers))
        t.ok(res.statusCode < 400)
        t.notSame(await rows(app), [row])
      })
    }
  }
})

t.test('safe requests may come from anywhere', async t => {
  const app = await seeded(t)
  const cases: [method: 'GET' | 'HEAD' | 'OPTIONS', url: string, status: number, body: string][] = [
    ['GET', '/posts/1.json', 200, '{"post":{"id":1,"title":"T","published":false}}'],
    ['GET', '/posts.json', 200, '{"posts":[{"id":1,"title":"T","published":false}]}'],
    ['HEAD', '/posts/1', 200, ''],
    ['OPTIONS', '/posts', 204, ''],
    ['OPTIONS', '/posts/1', 204, '']
  ]
  for (const headers of foreign) {
    for (const [method, url, status, body] of cases) {
      const res = await app.inject({ method, url, headers })
      t.strictSame([res.statusCode, res.body], [status, body], `${method} ${url} ${JSON.stringify(headers)}`)
    }
  }
})

t.test('a safe method that a path does not serve is a 405 from anywhere', async t => {
  const app = await seeded(t, { only: ['create'] })
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'] as const) {
    const request = { method: method as 'GET', url: '/posts' }
    const { statusCode } = await app.inject(request)
    t.equal((await app.inject({ ...request, headers: { 'sec-fetch-site': 'cross-site' } })).statusCode, statusCode)
    t.not(statusCode, 403, method)
  }
})

t.test('a 403 says where the request comes from, and names its origin if developers can trust it', async t => {
  const app = await seeded(t)
  const longest = `http://${'a'.repeat(93)}`
  const cases: [headers: Record<string, string>, where: string, why: string, whose: string][] = [
    [{ 'sec-fetch-site': 'same-site', origin: 'http://localhost:3001' }, 'another origin of this site',
      'Sec-Fetch-Site is same-site', '"http://localhost:3001"'],
    [{ 'sec-fetch-site': 'cross-site' }, 'another site', 'Sec-Fetch-Site is cross-site', 'its origin'],
    [{ 'sec-fetch-site': 'x'.repeat(41) }, 'another site', `Sec-Fetch-Site is ${'x'.repeat(40)}`, 'its origin'],
    [{ origin: 'null' }, 'another origin', 'Origin is null', 'its origin'],
    [{ origin: longest }, 'another origin', `Origin is ${longest}`, `"${longest}"`],
    [{ origin: `${longest}a` }, 'another origin', `Origin is ${longest}`, 'its origin']
  ]
  for (const [headers, where, why, whose] of cases) {
    const { detail } = (await app.inject(withHeaders(writes.POST, { accept: 'application/json', ...headers }))).json()
    t.ok(detail.includes(`${where}: ${why}; if its pages may write here, add ${whose} to the option trustedOrigins`),
      detail)
  }
})

t.test('the origin is checked before anything else', async t => {
  const elsewhere = { 'sec-fetch-site': 'cross-site' }
  const cases: [name: string, request: InjectOptions][] = [
    ['a malformed body', {
      method: 'POST', url: '/posts', headers: { 'content-type': 'application/json' }, payload: '{'
    }],
    ['a multipart form', {
      method: 'POST', url: '/posts', headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: '--x--'
    }],
    ['an impossible Accept', {
      method: 'POST', url: '/posts', headers: { accept: 'image/png' }, payload: { post: { title: 'New' } }
    }],
    ['an unknown parameter', { method: 'POST', url: '/posts?bogus=1', payload: { post: { title: 'New' } } }],
    ['a wrong method on the collection', { method: 'PATCH', url: '/posts', payload: { id: 1 } }],
    ['invalid attributes', { method: 'POST', url: '/posts', payload: { post: {} } }],
    ['a stale version', {
      method: 'PUT', url: '/posts', headers: { 'if-match': '"9.json"' }, payload: { id: 1, post: { title: 'New' } }
    }],
    ['a body too large', {
      method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: 'x'.repeat(2 ** 20 + 1)
    }]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, request] of cases) {
    await t.test(`the origin is checked before ${name}`, async t => {
      reset()
      t.equal((await app.inject(withHeaders(request, elsewhere))).statusCode, 403)
      t.strictSame(await rows(app), [row])
    })
  }
})

t.test('a 403 is answered in each format', async t => {
  const app = await seeded(t)
  const request = withHeaders(writes['DELETE by a form'],
    { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' })
  const asJson = await app.inject(withHeaders(request, { accept: 'application/json' }))
  isProblem(t, asJson, 403, 'Forbidden')
  const asXml = await app.inject(withHeaders(request, { accept: 'application/xml' }))
  t.strictSame([asXml.statusCode, asXml.headers['content-type']], [403, types.xml])
  t.match(asXml.body, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<errors><error>[^<]+<\/error><\/errors>$/)
  t.ok(asXml.body.startsWith(xml))
  isPage(t, await app.inject(withHeaders(request, { accept: browser })), 403)
  isPage(t, await app.inject(request), 403)
  t.strictSame(await rows(app), [row])
})

t.test('a form may override its method with PUT or DELETE', async t => {
  const cases: [name: string, url: string, body: string, headers: Record<string, string>, status: number,
    location: string | undefined, after: keyof typeof done][] = [
    ['PUT', '/posts', '_method=PUT&id=1&post[title]=New', {}, 303, '/posts/1', 'updated'],
    ['put', '/posts', '_method=put&id=1&post[title]=New', {}, 303, '/posts/1', 'updated'],
    ['DELETE', '/posts', '_method=DELETE&id=1', {}, 303, '/posts', 'deleted'],
    ['DeLeTe', '/posts', '_method=DeLeTe&id=1', {}, 303, '/posts', 'deleted'],
    ['as the last field', '/posts', 'id=1&post[title]=New&_method=PUT', {}, 303, '/posts/1', 'updated'],
    ['with escapes, as browsers write brackets', '/posts', '_method=PUT&id=1&post%5Btitle%5D=New', {}, 303,
      '/posts/1', 'updated'],
    ['with the id in the group', '/posts', '_method=PUT&post[id]=1&post[title]=New', {}, 303, '/posts/1',
      'updated'],
    ['with a charset', '/posts', '_method=PUT&id=1&post[title]=New', { 'content-type': `${form}; charset=UTF-8` }, 303,
      '/posts/1', 'updated'],
    ['PUT, asking for JSON', '/posts', '_method=PUT&id=1&post[title]=New', { accept: 'application/json' }, 200,
      undefined, 'updated'],
    ['DELETE, asking for XML', '/posts', '_method=DELETE&id=1', { accept: 'application/xml' }, 204, undefined,
      'deleted'],
    ['DELETE, with a group that does not matter', '/posts', '_method=DELETE&id=1&post[title]=', { accept: browser },
      303, '/posts', 'deleted'],
    ['without _method a form creates', '/posts', 'post[title]=New', {}, 303, '/posts/2', 'created']
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, url, body, headers, status, location, after] of cases) {
    await t.test(`a form overrides its method: ${name}`, async t => {
      reset()
      const res = await app.inject({
        method: 'POST', url, headers: { 'content-type': form, ...headers }, payload: body
      })
      t.strictSame([res.statusCode, res.headers.location], [status, location])
      if (status === 200) t.strictSame([res.headers['content-type'], res.json()], [types.json, { post: updated }])
      else t.equal(res.body, '')
      t.strictSame(await rows(app), done[after])
    })
  }
})

t.test('any other override is refused, and nothing changes', async t => {
  const field = (value: string): InjectOptions => ({
    method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: `${value}&id=1&post[title]=New`
  })
  const sent = (body: string, type: string, request: InjectOptions = {}): InjectOptions =>
    ({
      method: 'POST', url: '/posts', ...request, headers: { ...request.headers, 'content-type': type }, payload: body
    })
  const cases: [name: string, status: number | number[], request: InjectOptions, after?: keyof typeof done][] = [
    ['PATCH', 400, field('_method=PATCH')],
    ['POST', 400, field('_method=POST')],
    ['GET', 400, field('_method=GET')],
    ['an unknown word', 400, field('_method=PURGE')],
    ['a space before', 400, field('_method=+PUT')],
    ['a space behind', 400, field('_method=DELETE%20')],
    ['a NUL behind', 400, field('_method=DELETE%00')],
    ['a list', 400, field('_method=PUT,DELETE')],
    ['a word of the prototype', 400, field('_method=constructor')],
    ['twice the same', 400, field('_method=PUT&_method=PUT')],
    ['twice, PUT and DELETE', 400, field('_method=PUT&_method=DELETE')],
    ['an array', [400, 422], field('_method[]=DELETE')],
    ['an object', [400, 422], field('_method[x]=DELETE')],
    ['a name in upper case', 422, field('_METHOD=DELETE')],
    ['in the group', 422, sent('post[title]=New&post[_method]=DELETE', form)],
    ['in the query', 400, sent('post[title]=New', form, { url: '/posts?_method=DELETE' })],
    ['in the query of a GET', 400, { url: '/posts?_method=DELETE&id=1' }],
    ['in the body of a GET', 200, sent('_method=DELETE&id=1', form, { method: 'GET', url: '/posts' })],
    ['in JSON', 422, { method: 'POST', url: '/posts', payload: { _method: 'DELETE', id: 1 } }],
    ['in XML', 422, sent('<post><_method>DELETE</_method><id>1</id></post>', 'application/xml')],
    ['in the header X-HTTP-Method-Override', 303,
      sent('post[title]=New', form, { headers: { 'x-http-method-override': 'DELETE' } }), 'created'],
    ['in the header X-Method-Override', 303, sent('post[title]=New', form, { headers: { 'x-method-override': 'PUT' } }),
      'created'],
    ['in a form that calls itself text', 415, sent('_method=DELETE&id=1', 'text/plain')],
    ['in a form that calls itself JSON', 400, sent('_method=DELETE&id=1', 'application/json')],
    ['in a multipart form', 415,
      sent('--x\r\ncontent-disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--x--\r\n',
        'multipart/form-data; boundary=x')],
    ['in a form sent by PUT', 400, sent('_method=PUT&id=1&post[title]=New', form, { method: 'PUT' })],
    ['in a form sent by DELETE', 400, sent('_method=DELETE&id=1', form, { method: 'DELETE' })],
    ['on a member that has no writes', 405, sent('_method=DELETE', form, { url: '/posts/1' })],
    ['PUT without an id', 422, sent('_method=PUT&post[title]=New', form)],
    ['PUT of an unknown id', 404, sent('_method=PUT&id=99&post[title]=New', form)],
    ['DELETE without an id', 422, sent('_method=DELETE', form)],
    ['DELETE of an unknown id', 404, sent('_method=DELETE&id=99', form)]
  ]
  const [app, reset] = await seededAgain(t)
  for (const [name, status, request, after = 'nothing'] of cases) {
    await t.test(`${name} is ${String(status)}`, async t => {
      reset()
      const res = await app.inject(withHeaders(request, { accept: browser }))
      t.ok([status].flat().includes(res.statusCode), `${res.statusCode}`)
      if (res.statusCode === 200 || res.statusCode >= 400) isPage(t, res, res.statusCode)
      t.strictSame(await rows(app), done[after])
    })
  }
})

t.test('a form on a member may override its method where members are written', async t => {
  const cases: [name: string, body: string, status: number, location: string | undefined,
    after: keyof typeof done][] = [
    ['PUT', '_method=PUT&post[title]=New', 303, '/posts/1', 'updated'],
    ['DELETE', '_method=DELETE', 303, '/posts', 'deleted'],
    ['PUT with the same id', '_method=PUT&id=1&post[title]=New', 303, '/posts/1', 'updated'],
    ['PUT with another id', '_method=PUT&id=2&post[title]=New', 400, undefined, 'nothing'],
    ['PATCH', '_method=PATCH&post[title]=New', 400, undefined, 'nothing'],
    ['twice', '_method=DELETE&_method=DELETE', 400, undefined, 'nothing'],
    ['no _method', 'post[title]=New', 405, undefined, 'nothing']
  ]
  for (const writes of ['member', 'both'] as const) {
    const [app, reset] = await seededAgain(t, { writes })
    for (const [name, body, status, location, after] of cases) {
      await t.test(`${writes}: ${name} is ${status}`, async t => {
        reset()
        const res = await app.inject({
          method: 'POST', url: '/posts/1', headers: { 'content-type': form, accept: browser }, payload: body
        })
        t.strictSame([res.statusCode, res.headers.location], [status, location])
        if (status === 303) t.equal(res.body, '')
        else isPage(t, res, status)
        t.strictSame(await rows(app), done[after])
      })
    }
  }
})
