import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import type { ResourceOptions } from '../../../lib/index.js'
import { build, post, types, xml } from '../../support/helper.js'
import { textStore } from '../../support/stores/text-store.js'

type Accept = string | string[] | undefined
type Expected = string | 406

const textXml = 'text/xml; charset=utf-8'
const xhtml = 'application/xhtml+xml; charset=utf-8'
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const mediaTypes = ['application/xml', 'text/xml', 'text/html', 'application/xhtml+xml', 'application/json']

const json = { post: { id: 1, title: 'T', published: false } }
const xmlRecord = '<post><id type="integer">1</id><title>T</title><published type="boolean">false</published></post>'

const bodies = {
  json: {
    type: 'application/json', post: '{"post":{"title":"T"}}', put: '{"id":1,"post":{"title":"U"}}', delete: '{"id":1}'
  },
  xml: {
    type: 'application/xml',
    post: '<post><title>T</title></post>',
    put: '<post><id>1</id><title>U</title></post>',
    delete: '<id>1</id>'
  },
  form: { type: 'application/x-www-form-urlencoded', post: 'post[title]=T', put: 'id=1&post[title]=U', delete: 'id=1' }
}

function accepting (accept: Accept, request: InjectOptions): InjectOptions {
  return accept === undefined ? request : { ...request, headers: { ...request.headers, accept } }
}

async function seeded (t: Test, options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  const app = await build(t, { name: 'posts', attributes: post, ...options })
  const [format = 'json'] = options.formats ?? ['json']
  const seeds: Record<string, [string, string]> = {
    json: ['application/json', '{"post":{"title":"T"}}'],
    xml: ['application/xml', '<post><title>T</title></post>'],
    html: ['application/x-www-form-urlencoded', 'post[title]=T']
  }
  const [type, payload] = seeds[String(format)] ?? ['', '']
  const res = await app.inject({
    method: 'POST', url: `/posts?format=${String(format)}`, headers: { 'content-type': type }, payload
  })
  t.ok([201, 303].includes(res.statusCode), 'the row to look at was created')
  return app
}

/** Checks that an answer is the one record as `expected`, or a 406. */
function isRecord (t: Test, res: LightMyRequestResponse, expected: Expected, status: number, name: string): void {
  if (expected === 406) {
    isNotAcceptable(t, res, types.xml, mediaTypes)
    return
  }
  t.strictSame([res.statusCode, res.headers['content-type']], [status, expected], name)
  if (expected === types.json) t.strictSame(res.json(), json)
  else if (expected === types.xml || expected === textXml) t.equal(res.body, xml + xmlRecord)
  else isPage(t, res)
}

function isPage (t: Test, res: LightMyRequestResponse): void {
  t.match(res.body, /^<!doctype html\b[^]*<\/html>\s*$/i, 'a complete page')
}

function isNotAcceptable (t: Test, res: LightMyRequestResponse, type: string, listed: string[]): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [406, type])
  for (const mediaType of mediaTypes) {
    t.equal(res.body.includes(mediaType), listed.includes(mediaType),
      `${mediaType} is ${listed.includes(mediaType) ? '' : 'not '}listed`)
  }
}

/** Checks the answer to `POST /posts` with a body. HTML answers to a form are redirects. */
function isCreated (t: Test, res: LightMyRequestResponse, expected: Expected, name: string): void {
  if (expected === types.html) {
    t.strictSame([res.statusCode, res.headers.location, res.body], [303, '/posts/1', ''], name)
  } else {
    isRecord(t, res, expected, 201, name)
  }
}

const clients: [name: string, accept: Accept, expected: Expected][] = [
  ['Chrome 120',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
    types.html],
  ['Firefox 1', 'text/xml,application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,image/png,*/*;q=0.5',
    xhtml],
  ['Internet Explorer 11', 'text/html, application/xhtml+xml, */*', types.html],
  ['w3m', 'text/html, text/*;q=0.5, image/*', types.html],
  ['an <img> of Chrome', 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', types.html],
  ['curl', '*/*', types.xml],
  ['axios', 'application/json, text/plain, */*', types.json],
  ['.NET HttpClient', undefined, types.xml],
  ['Java HttpURLConnection', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', types.html],
  ['Internet Explorer 5', 'image/gif, image/x-xbitmap, image/jpeg, image/pjpeg, */*', types.html],
  ['Dillo, which likes every text', 'text/*,image/*,*/*;q=0.2', textXml],
  ['a feed reader',
    'application/rss+xml, application/rdf+xml;q=0.8, application/atom+xml;q=0.6, application/xml;q=0.4, text/xml;q=0.4',
    types.xml]
]

const qualities: typeof clients = [
  ['the higher q-value wins, whatever the order', 'application/json;q=0.5, text/html;q=0.8', types.html],
  ['q=0 means never', 'application/json;q=0', 406],
  ['q=0 takes one type out of a wildcard', 'text/html;q=0, */*', types.xml],
  ['q=0 for one name of a format leaves its other name', '*/*, application/xml;q=0', textXml],
  ['the exact range decides over text/*, whatever the order', 'text/*, text/html;q=0', textXml],
  ['*/*;q=0 leaves nothing', '*/*;q=0', 406],
  ['q above 1 counts as 1: it wins against less', 'application/json;q=0.9, text/html;q=5', types.html],
  ['q above 1 counts as 1: it does not win against 1', 'application/json, text/html;q=5', types.json],
  ['a range with q=abc is skipped', 'application/json;q=abc, text/html;q=0.1', types.html],
  ['a header with malformed q-values only counts as absent', 'application/json;q=abc', types.xml],
  ['a tie goes to the first in the header: JSON', 'application/json, text/html', types.json],
  ['a tie of XML and HTML goes to the page, whatever the order', 'application/xml, text/html', types.html],
  ['a tie of text/xml and XHTML at a low q', 'text/xml;q=0.5, application/xhtml+xml;q=0.5, application/json;q=0.4',
    xhtml],
  ['XML that is liked better than HTML', 'application/xml, text/html;q=0.9', types.xml],
  ['images before *', 'image/gif, *', types.html],
  ['a document that is not to be had, before a wildcard', 'application/vnd.api+json, image/gif, */*', types.xml],
  ['a document that is refused, before a wildcard', 'image/gif, application/json;q=0, */*', types.xml],
  ['at equal q a named type wins against a wildcard', '*/*, application/json', types.json],
  ['at equal q half a wildcard wins against a whole one', '*/*, text/*', textXml]
]

const syntax: typeof clients = [
  ['parameters are ignored', 'application/json;version=1', types.json],
  ['parameters do not raise precedence', 'application/json, text/html;level=1', types.json],
  ['q may follow another parameter', 'application/json;charset=utf-8;q=0.1, text/html;q=0.2', types.html],
  ['a comma in a quoted string does not end a range', 'application/xml;q=0.5;x=",application/json,"', types.xml],
  ['a type in a quoted string is not asked for', 'image/png;x=", text/html, "', 406],
  ['a semicolon in a quoted string does not end a parameter', 'text/html;x=";q=0;", application/json;q=0.5',
    types.html],
  ['types are case-insensitive, and echoed in lower case', 'Text/HTML;Q=0.5, Application/Json;q=0.4', types.html],
  ['text/xml is echoed', 'text/xml', textXml],
  ['text/* is XML, for it stands first, under its text name', 'text/*', textXml],
  ['an empty header counts as absent', '', types.xml],
  ['a word without slash counts as absent', 'garbage', types.xml],
  ['a malformed range beside a good one is skipped', 'text/, application/json', types.json],
  ['two headers are one list', ['text/html;q=0.1', 'application/json'], types.json],
  ['an image is not to be had', 'image/png', 406],
  ['a type like ours is not ours', 'application/xml+json', 406],
  ['a form is read but never written', 'application/x-www-form-urlencoded', 406]
]

const hostile: typeof clients = [
  ['commas', ','.repeat(8192), types.xml],
  ['a type among commas', ','.repeat(4096) + 'application/json' + ','.repeat(4096), types.json],
  ['semicolons', 'application/json' + ';'.repeat(8192), types.json],
  ['spaces between parameters', 'application/json' + ' ; '.repeat(2700) + 'q=0.5, text/html', types.html],
  ['strange types', 'a/b,'.repeat(2000) + 'application/json', types.json],
  ['backslashes in a quoted string without end', 'text/html;a="' + '\\'.repeat(8192), types.xml],
  ['one huge type', 'x'.repeat(4096) + '/' + 'y'.repeat(4096), 406]
]

t.test('Accept decides the format of a record', async t => {
  const app = await seeded(t)
  for (const [name, accept, expected] of [...clients, ...qualities, ...syntax]) {
    isRecord(t, await app.inject(accepting(accept, { url: '/posts/1' })), expected, 200, name)
  }
})

t.test('a hostile Accept of eight kilobytes is answered', async t => {
  const app = await seeded(t)
  for (const [name, accept, expected] of hostile) {
    isRecord(t, await app.inject(accepting(accept, { url: '/posts/1' })), expected, 200, name)
  }
})

t.test('a write without preference is answered in the format of its own body', async t => {
  const cases: [name: string, body: keyof typeof bodies, accept: Accept, expected: Expected][] = [
    ['JSON without Accept', 'json', undefined, types.json],
    ['XML without Accept', 'xml', undefined, types.xml],
    ['JSON with application/*', 'json', 'application/*', types.json],
    ['JSON with */* but never JSON', 'json', 'application/json;q=0, */*', types.xml],
    ['a browser sends a form', 'form', browser, types.html],
    ['a form asks for JSON', 'form', 'application/json', types.json]
  ]
  for (const [name, body, accept, expected] of cases) {
    const app = await build(t, { name: 'posts', attributes: post })
    const request = accepting(accept,
      { method: 'POST', url: '/posts', headers: { 'content-type': bodies[body].type }, payload: bodies[body].post })
    isCreated(t, await app.inject(request), expected, name)
  }
})

t.test('the Content-Type of a GET or HEAD is ignored, because Vary does not name it', async t => {
  const app = await seeded(t)
  for (const url of ['/posts', '/posts/1', '/posts/99', '/posts?nope', '/posts/1/nope']) {
    for (const method of ['GET', 'HEAD'] as const) {
      for (const accept of [undefined, '*/*', '*']) {
        const expected = await app.inject(accepting(accept, { method, url }))
        for (const { type } of Object.values(bodies)) {
          const res = await app.inject(accepting(accept, { method, url, headers: { 'content-type': type } }))
          const told = ({ statusCode, headers, body }: LightMyRequestResponse): unknown => [statusCode,
            headers['content-type'], headers.vary, body]
          t.strictSame(told(res), told(expected), `${method} ${url} of ${type} with ${accept ?? 'no Accept'}`)
        }
      }
    }
  }
  const refused = await build(t, { name: 'posts', only: ['create'] })
  const res = await refused.inject({ url: '/posts', headers: { 'content-type': 'application/json' } })
  t.strictSame([res.statusCode, res.headers['content-type']], [405, types.xml],
    'a GET that is not allowed ignores it too')
})

t.test('a suffix beats ?format, which beats Accept', async t => {
  const app = await seeded(t)
  const cases: [url: string, accept: Accept, expected: Expected][] = [
    ['/posts/1.xml', 'text/html', types.xml],
    ['/posts/1.json', 'text/html', types.json],
    ['/posts/1.html', 'application/json', types.html],
    ['/posts/1.json', '*/*;q=0', types.json],
    ['/posts/1.xml', 'text/xml;q=0, application/xml;q=0', types.xml],
    ['/posts/1?format=json', 'text/html', types.json],
    ['/posts/1?format=html', 'application/json', types.html],
    ['/posts/1?format=json', 'image/png', types.json],
    ['/posts/1.json?format=xml', 'text/html', types.json],
    ['/posts/1.xml?format=html', 'application/json', types.xml],
    ['/posts/1?format=pdf', undefined, 406],
    ['/posts/1?format=form', undefined, 406],
    ['/posts/1?format=__proto__', undefined, 406]
  ]
  for (const [url, accept, expected] of cases) {
    isRecord(t, await app.inject(accepting(accept, { url })), expected, 200, `${url} with ${accept ?? 'no Accept'}`)
  }
})

t.test('a suffix that names no format is part of the id', async t => {
  const app = await seeded(t)
  for (const suffix of ['pdf', 'XML ', 'form', 'json.bak', 'xml.exe', '__proto__', 'constructor', '', 'json.']) {
    const res = await app.inject({
      url: `/posts/1.${encodeURIComponent(suffix)}`, headers: { accept: 'application/json' }
    })
    t.strictSame([res.statusCode, res.headers['content-type']], [404, types.problem], suffix)
  }
  t.equal((await app.inject('/posts.pdf')).statusCode, 404)
})

t.test('the option formats decides which formats are served, and in which order', async t => {
  type Formats = NonNullable<ResourceOptions['formats']>
  const cases: [formats: Formats, url: string, accept: Accept,
    expected: string | { notAcceptable: string, listed: string[] } | 404][] = [
    [['json'], '/posts/1', undefined, types.json],
    [['json'], '/posts/1', browser, types.json],
    [['json'], '/posts/1', 'application/xml', { notAcceptable: types.problem, listed: ['application/json'] }],
    [['json'], '/posts/1.json', undefined, types.json],
    [['json'], '/posts/1.xml', undefined, 404],
    [['json', 'html', 'xml'], '/posts/1', undefined, types.json],
    [['json', 'html', 'xml'], '/posts/1', '*/*', types.json],
    [['json', 'html', 'xml'], '/posts/1', browser, types.html],
    [['json', 'html', 'xml'], '/posts/1', 'image/png', { notAcceptable: types.problem, listed: mediaTypes }],
    [['html', 'json'], '/posts/1', undefined, types.html],
    [['html', 'json'], '/posts/1', 'application/xml',
      { notAcceptable: types.html, listed: ['text/html', 'application/xhtml+xml', 'application/json'] }],
    [['xml'], '/posts/1', undefined, types.xml],
    [['xml'], '/posts/1', 'application/json', { notAcceptable: types.xml, listed: ['application/xml', 'text/xml'] }]
  ]
  for (const [formats, url, accept, expected] of cases) {
    const app = await seeded(t, { formats })
    const res = await app.inject(accepting(accept, { url }))
    const name = `${formats.join(', ')}: ${url} with ${accept ?? 'no Accept'}`
    if (expected === 404) t.equal(res.statusCode, 404, name)
    else if (typeof expected === 'string') isRecord(t, res, expected, 200, name)
    else isNotAcceptable(t, res, expected.notAcceptable, expected.listed)
  }
})

t.test('Vary names Accept wherever Accept could change the answer', async t => {
  const jsonType = { 'content-type': 'application/json' }
  const cases: [name: string, request: InjectOptions, status: number, vary: string | undefined][] = [
    ['list', { url: '/posts' }, 200, 'Accept'],
    ['show', { url: '/posts/1' }, 200, 'Accept'],
    ['not modified', { url: '/posts/1', headers: { 'if-none-match': '*' } }, 304, 'Accept'],
    ['created', { method: 'POST', url: '/posts', payload: { post: { title: 'T' } } }, 201, 'Accept'],
    ['created from a page', {
      method: 'POST', url: '/posts', headers: { 'content-type': bodies.form.type }, payload: bodies.form.post
    }, 303, 'Accept'],
    ['updated', { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'U' } } }, 200, 'Accept'],
    ['deleted', { method: 'DELETE', url: '/posts?id=1' }, 204, 'Accept'],
    ['bad request', { method: 'POST', url: '/posts', headers: jsonType, payload: '{' }, 400, 'Accept'],
    ['not found', { url: '/posts/2' }, 404, 'Accept'],
    ['not acceptable', { url: '/posts', headers: { accept: 'image/png' } }, 406, 'Accept'],
    ['stale', {
      method: 'PUT', url: '/posts', headers: { 'if-match': '"0.xml"' }, payload: { id: 1, post: { title: 'U' } }
    }, 412, 'Accept'],
    ['unsupported', { method: 'POST', url: '/posts', headers: { 'content-type': 'text/plain' }, payload: 'T' }, 415,
      'Accept'],
    ['invalid', { method: 'POST', url: '/posts', payload: { post: { title: '' } } }, 422, 'Accept'],
    ['list with a suffix', { url: '/posts.json' }, 200, undefined],
    ['show with ?format', { url: '/posts/1?format=json' }, 200, undefined],
    ['not found with a suffix', { url: '/posts/2.json' }, 404, undefined],
    ['created with a suffix', { method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } }, 201,
      undefined],
    ['OPTIONS', { method: 'OPTIONS', url: '/posts' }, 204, undefined]
  ]
  for (const [name, request, status, vary] of cases) {
    const app = await seeded(t)
    const res = await app.inject(request)
    t.strictSame([res.statusCode, res.headers.vary], [status, vary], name)
  }
})

t.test('the app\'s own Vary is kept', async t => {
  const app = await build(t, { name: 'posts', attributes: post },
    { before: app => { app.addHook('onRequest', async (_request, reply) => { reply.header('vary', 'Origin') }) } })
  const cases: [url: string, status: number, vary: string[]][] = [['/posts', 200, ['accept', 'origin']],
    ['/posts/1', 404, ['accept', 'origin']], ['/posts.json', 200, ['origin']]]
  for (const [url, status, vary] of cases) {
    const res = await app.inject(url)
    const names = String(res.headers.vary).toLowerCase().split(',').map(name => name.trim())
    t.strictSame([res.statusCode, names.sort()], [status, vary], url)
  }
})

t.test('a Vary that names Accept already, or everything, stays as it is', async (t) => {
  for (const vary of ['*', 'accept', 'Origin, Accept', 'Accept,Origin']) {
    const app = await build(t, { name: 'posts' },
      { before: (app) => { app.addHook('onRequest', async (_request, reply) => { reply.header('vary', vary) }) } })
    t.equal((await app.inject('/posts')).headers.vary, vary)
  }
  const longer = await build(t, { name: 'posts' },
    {
      before: (app) => {
        app.addHook('onRequest', async (_request, reply) => { reply.header('vary', 'Accept-Encoding') })
      }
    })
  t.equal((await longer.inject('/posts')).headers.vary, 'Accept-Encoding, Accept')
})

t.test('names in headers may be in upper case or in quotes, and a wildcard is the whole type', async (t) => {
  const app = await build(t, { name: 'posts', attributes: post })
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await app.inject({
      method: 'POST',
      url: '/posts.json',
      headers: { 'content-type': 'application/json', ...headers },
      payload: '{"post":{"title":"T"}}'
    })).statusCode
  const cases: ReadonlyArray<readonly [headers: Record<string, string>, status: number]> = [
    [{ 'content-encoding': 'Identity' }, 201],
    [{ 'content-encoding': 'GZIP' }, 415],
    [{ 'content-type': 'application/json; charset="UTF-8"' }, 201],
    [{ 'content-type': 'application/json; charset="utf-16"' }, 415]
  ]
  for (const [headers, status] of cases) t.equal(await statusOf(headers), status, JSON.stringify(headers))
  const res = await app.inject({ url: '/posts', headers: { accept: '*/html, application/json;q=0.1' } })
  t.equal(res.headers['content-type'], types.json)
  t.equal((await app.inject({ url: '/posts', headers: { accept: '*/html' } })).statusCode, 200,
    'a header without a range is ignored')
})

t.test('the suffix of an id begins at its last dot, unless the dot is encoded', async (t) => {
  const app = await build(t, { name: 'files', id: 'string', store: textStore(['a.b', 'c.json']) })
  const res = await app.inject('/files/a.b.json')
  t.equal((await app.inject({
    url: '/files/c%2Ejson', headers: { accept: 'application/xml' }
  })).headers['content-type'], types.xml)
  t.equal((await app.inject('/files/c%2Ejson')).statusCode, 200)
  t.strictSame([res.statusCode, res.headers['content-type']], [200, types.json])
})
