import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import type { AttributesSchema } from '../../lib/index.js'
import { build, types } from '../support/helper.js'

const text = { type: 'string' } as const
const attributes = {
  type: 'object',
  properties: {
    title: text,
    body: text,
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    due: { type: 'string', format: 'date-time' },
    lang: { enum: ['de', 'en', 'fr'] },
    numbers: { type: 'array', items: { type: 'integer' } },
    people: {
      type: 'array',
      items: { type: 'object', additionalProperties: false, properties: { name: text, age: { type: 'integer' } } }
    },
    names: { type: 'object', additionalProperties: text },
    any: {}
  }
} as const satisfies AttributesSchema

const [JSON_TYPE, XML_TYPE, FORM] = ['application/json', 'application/xml', 'application/x-www-form-urlencoded']
const formats = { xml: XML_TYPE, json: JSON_TYPE, html: 'text/html', csv: 'text/csv' } as const
/** The characters that become longest when they are escaped, as a URL has them. */
const units = ['%22', '%E2%82%AC'] as const

/** Makes a request of about this many characters. */
type Make = (size: number) => InjectOptions

/** Repeats a unit in about this many characters. */
function fill (unit: string, size: number, separator = ''): string {
  return Array.from({ length: Math.max(1, Math.floor(size / (unit + separator).length)) }, () => unit).join(separator)
}

/** Numbers units in about this many characters. */
function count (size: number, write: (index: number) => string, separator: string): string {
  return Array.from({ length: Math.max(1, Math.floor(size / (write(9).length + 1))) },
    (_, index) => write(index)).join(separator)
}

const get = (url: (size: number) => string): Make => (size) => ({ method: 'GET', url: url(Math.min(size, 60_000)) })
const header = (name: string, unit: string): Make =>
  (size) => ({ method: 'GET', url: '/posts/1', headers: { [name]: fill(unit, size) } })
const send = (method: 'POST' | 'PUT' | 'QUERY', type: string, payload: (size: number) => string): Make =>
  (size) => ({ method, url: '/posts', headers: { 'content-type': type }, payload: payload(size) })
const form = (payload: (size: number) => string): Make => send('POST', FORM, payload)
const query = (payload: (size: number) => string): Make => send('QUERY', FORM, payload)

/** The requests that repeat a unit wherever a client may write a text. */
function requestsOf (unit: string): Record<string, Make> {
  const decoded = (size: number): string => decodeURIComponent(fill(unit, size))
  return {
    ...Object.fromEntries(['title', 'title[in]', 'title[not]', 'title[contains]', 'rating[gte]', 'q', 'sort', 'only',
      'include', 'after', 'before', 'limit', 'count', 'blank', 'format', 'filter[by]', 'unknown'].flatMap((name) => [
      [`GET ${name}`, get((size) => `/posts?${name}=${fill(unit, size)}&limit=1`)],
      [`QUERY ${name}`, query((size) => `${name}=${fill(unit, size)}&limit=1`)],
      [`GET ${name} of many`, get((size) => `/posts?${name}=${fill(unit, size, ',')}`)]
    ])),
    'GET several conditions': get((size) =>
      `/posts?title=${fill(unit, size / 3)}&body=${fill(unit, size / 3)}&body[not]=${fill(unit, size / 3)}`),
    'GET a condition of a form': get((size) =>
      `/posts?filter[by]=rating[gte]&filter[value]=${fill(unit, size)}&title[not]=${fill(unit, size / 10)}`),
    'GET a name': get((size) => `/posts?${fill(unit, size)}=1`),
    'GET an operator': get((size) => `/posts?title[${fill(unit, size)}]=1`),
    'GET an id': get((size) => `/posts/${fill(unit, size)}`),
    'GET a blank form': get((size) => `/posts/new?title=${fill(unit, size)}`),
    'DELETE an id': (size) => ({ method: 'DELETE', url: `/posts?id=${fill(unit, Math.min(size, 60_000))}` }),
    'QUERY several conditions': query((size) => ['title', 'body', 'title[not]', 'body[not]', 'title[in]', 'body[in]',
      'lang'].map((name) => `${name}=${fill(unit, size / 7)}`).join('&')),
    'QUERY a name': query((size) => `${fill(unit, size)}=1`),
    'QUERY as JSON': send('QUERY', JSON_TYPE, (size) => JSON.stringify({ title: { not: decoded(size) }, limit: 1 })),
    'form: a value of another type': form((size) =>
      `post[rating]=${fill(unit, size)}&post[due]=${fill(unit, size)}&post[lang]=${fill(unit, size)}`),
    'form: a value beside a fault': form((size) => `post[rating]=x&post[body]=${fill(unit, size)}`),
    'form: lines': form((size) => `post[numbers]=${fill(unit, size, '%0A')}`),
    'form: an unknown name': form((size) => `post[${fill(unit, size)}]=1`),
    'form: an unknown field': form((size) => `${fill(unit, size)}=1`),
    'form: another method': form((size) => `_method=${fill(unit, size)}`),
    'form: two ids': form((size) => `_method=PUT&id=1&id=${fill(unit, size)}&post[body]=x`),
    'form: an old version': form((size) => `_method=PUT&id=1&_version=7&post[body]=${fill(unit, size)}`),
    'JSON: a text': send('POST', JSON_TYPE, (size) => JSON.stringify({ post: { body: decoded(size) } })),
    'JSON: an unknown name': send('POST', JSON_TYPE, (size) => JSON.stringify({ post: { [decoded(size)]: 1 } })),
    'JSON: an unknown member': send('POST', JSON_TYPE, (size) => JSON.stringify({ [decoded(size)]: 1 })),
    'JSON: an id': send('PUT', JSON_TYPE, (size) => JSON.stringify({ id: decoded(size), post: {} })),
    'JSON: many names': send('POST', JSON_TYPE,
      (size) => JSON.stringify({
        post: Object.fromEntries(Array.from({ length: Math.ceil(size / 500) },
          (_, index) => [decoded(490) + index, 1]))
      })),
    'JSON: integers below a long name': send('POST', JSON_TYPE,
      (size) =>
        JSON.stringify(
          {
            post: {
              names: {
                [unit.startsWith('%E2')
                  ? '\u00e9'.repeat(190)
                  : 'n'.repeat(190)]: Array.from({ length: Math.ceil(size / 2) }, () => 1)
              }
            }
          })),
    'JSON: malformed': send('POST', JSON_TYPE, (size) => `{"post":${decoded(size)}`),
    'XML: malformed': send('POST', XML_TYPE, (size) => `<post><title>${decoded(size)}`),
    'Accept-Language': header('accept-language', unit),
    'If-None-Match': header('if-none-match', unit),
    'Content-Type': (size) => ({
      method: 'POST', url: '/posts', headers: { 'content-type': fill(unit, size) }, payload: 'x'
    }),
    'Content-Encoding': (size) => ({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': JSON_TYPE, 'content-encoding': fill(unit, size) },
      payload: '{}'
    }),
    Origin: (size) => ({ method: 'POST', url: '/posts', headers: { origin: fill(unit, size) }, payload: '' })
  }
}

/** The requests of many small parts. */
const ofParts: Record<string, Make> = {
  'form: rows with a fault': form((size) => 'post[rating]=x&' + count(size, (index) => `post[people][${index}][age]=`,
    '&')),
  'form: rows of faults': form((size) => count(size, (index) => `post[people][${index}][age]=x`, '&')),
  'form: members': form((size) => 'post[rating]=x&' + count(size, (index) => `post[names][${index}]=`, '&')),
  'form: line breaks': form((size) => 'post[rating]=x&post[body]=' + fill('\n', size)),
  'form: JSON': form((size) => `post[rating]=x&post[any][?]=json&post[any]=[${fill('[]', size, ',')}]`),
  'JSON: integers': send('POST', JSON_TYPE, (size) => `{"post":{"numbers":[${fill('1', size, ',')}]}}`),
  'JSON: faults': send('POST', JSON_TYPE, (size) => `{"post":{"numbers":[${fill('""', size, ',')}]}}`),
  'JSON: arrays': send('POST', JSON_TYPE, (size) => `{"post":{"any":[${fill('[[[[]]]]', size, ',')}]}}`),
  'JSON: objects': send('POST', JSON_TYPE, (size) => `{"post":{"people":[${fill('{}', size, ',')}]}}`),
  'XML: elements': send('POST', XML_TYPE,
    (size) => `<post><numbers type="array">${fill('<a>1</a>', size)}</numbers></post>`),
  'XML: references': send('POST', XML_TYPE, (size) => `<post><body>${fill('&amp;', size)}</body></post>`),
  'XML: unknown elements': send('POST', XML_TYPE,
    (size) => `<post>${count(size, (index) => `<a${index}/>`, '')}</post>`)
}

/** The sizes of requests, in characters. A head has at most 16 KiB by default; a body has at most 1 MiB. */
const SIZES = [300, 60_000]
/** What an answer may have besides: the links of a page, and the messages of an error. */
const CONSTANT = 28_000
/** The same for a form, whose rows have all their fields although only one was sent. */
const ROWS = 300_000

function sizeOf ({ method = '', url, headers = {}, payload = '' }: InjectOptions): number {
  const head = Object.entries(headers).reduce((size, [name, value]) => size + name.length + String(value).length + 4, 0)
  return method.length + String(url).length + head + Buffer.byteLength(String(payload))
}

function headOf ({ headers }: LightMyRequestResponse): number {
  return Object.entries(headers).reduce((size, [name, value]) => size + name.length + String(value).length + 4, 0)
}

async function serve (t: Test, hasSchema = true): Promise<FastifyInstance> {
  const app = await build(t, {
    name: 'posts', writes: 'both', formats: ['xml', 'html', 'json', 'csv'], ...(hasSchema && { attributes })
  }, { server: { routerOptions: { maxParamLength: 65_000 } } })
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  return app
}

t.test('no request costs more than twenty times its bytes', async (t) => {
  const [declared, open] = [await serve(t), await serve(t, false)]
  const requests = [...units.flatMap((unit) =>
    Object.entries(requestsOf(unit)).map(([name, make]) => [`${name} of ${unit}`, make] as const)),
  ...Object.entries(ofParts)]
  for (const [kind, app] of Object.entries({ declared, open })) {
    for (const [index, [name, make]] of requests.entries()) {
      if (kind === 'open' && /^(?:GET|QUERY|[A-Z][\w-]+ of)/.test(name)) continue
      // Each request has a page, and one of the documents in turn.
      const others = name.startsWith('GET') ? ['xml', 'json', 'csv'] as const : ['xml', 'json'] as const
      for (const format of ['html', others[index % others.length] as 'xml'] as const) {
        const accept = formats[format]
        const ask = async (size: number): Promise<readonly [request: InjectOptions,
          answer: LightMyRequestResponse]> => {
          const made = make(size)
          const request = { ...made, headers: { ...made.headers, accept } }
          return [request, await app.inject(request)]
        }
        const [, tiny] = await ask(1)
        for (const size of SIZES) {
          const [request, answer] = await ask(size)
          const label = `${kind}, ${name}, as ${format}, ${size}`
          const most = 20 * sizeOf(request) + tiny.rawPayload.length + (name.startsWith('form: rows') ? ROWS : CONSTANT)
          // Thousands of assertions that pass would take longer than the requests.
          if (answer.rawPayload.length > most) {
            t.fail(`${label}: ${answer.rawPayload.length} bytes for ${sizeOf(request)}`)
          }
          if (headOf(answer) > 14_500) t.fail(`${label}: ${headOf(answer)} bytes of headers`)
          if (answer.statusCode >= 500) t.fail(`${label}: ${answer.statusCode}`)
        }
      }
    }
  }
})

t.test('the items of an array whose name is long come as JSON, and back', async (t) => {
  const app = await serve(t, false)
  const name = 'n'.repeat(200)
  const items = Array.from({ length: 20_000 }, (_, index) => index % 10)
  const created = await app.inject({
    method: 'POST', url: '/posts', headers: { accept: XML_TYPE }, payload: { post: { [name]: items } }
  })
  t.equal(created.statusCode, 201)
  t.match(created.body, `<${name} type="json">[0,1,2,`)
  const sent = await app.inject({
    method: 'PUT', url: '/posts/2', headers: { 'content-type': XML_TYPE, accept: JSON_TYPE }, payload: created.body
  })
  t.strictSame([sent.statusCode, (sent.json() as { post: Record<string, unknown> }).post[name]], [200, items])
})

t.test('a QUERY of a megabyte is refused where it is too long, and its page repeats nothing of the rest', async (t) => {
  const app = await serve(t)
  const ask = async (payload: string, accept: string): Promise<LightMyRequestResponse> =>
    await app.inject({ method: 'QUERY', url: '/posts', headers: { 'content-type': FORM, accept }, payload })
  for (const accept of Object.values(formats)) {
    const refused = await ask(`title[not]=${'x'.repeat(1_000_000)}`, accept)
    t.equal(refused.statusCode, 400, accept)
    t.match(refused.body, /must have at most 4000 characters/)
    t.ok(refused.body.length < 10_000, accept)
  }
  const long = await ask(['title', 'body'].map((name) => `${name}[not]=${'x'.repeat(4000)}`).join('&') + '&limit=1',
    'text/html')
  t.strictSame([long.statusCode, long.headers.link, long.headers.location, long.headers['next-after']],
    [200, undefined, undefined, undefined])
  t.notMatch(long.body, 'xxxx')
  t.match(long.body, /<a href="\/posts\?limit=1">Clear/)
})

t.test('the value of a condition has at most 4,000 characters', async (t) => {
  const app = await serve(t)
  for (const parameter of ['title', 'title[not]', 'title[in]', 'title[contains]', 'q']) {
    for (const accept of Object.values(formats)) {
      const { statusCode, body } = await app.inject({
        url: `/posts?${parameter}=${'1'.repeat(4001)}`, headers: { accept }
      })
      t.equal(statusCode, 400, `${parameter} as ${accept}`)
      t.match(body, /must have at most (?:4000|200) characters/i)
      t.notMatch(body, '1'.repeat(4001))
    }
  }
  for (const parameter of ['title', 'title[not]', 'title[in]']) {
    t.equal((await app.inject(`/posts.json?${parameter}=${'1'.repeat(4000)}`)).statusCode, 200, parameter)
  }
})

t.test('links beyond 4,000 characters, and a header beyond 8,000, are left out', async (t) => {
  const app = await serve(t)
  for (let count = 0; count < 3; count++) {
    await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  }
  const relations = async (length: number): Promise<string[]> => {
    const { headers: { link } } = await app.inject(`/posts.json?limit=1&after=WzFd&title[not]=${'x'.repeat(length)}`)
    return [...String(link).matchAll(/rel="(\w+)"/g)].map(([, relation]) => String(relation))
  }
  t.strictSame(await relations(1900), ['self', 'first', 'prev', 'next'])
  t.strictSame(await relations(2100), ['prev', 'next'])
  t.strictSame(await relations(3900), ['prev', 'next'])
  t.strictSame(await relations(3990), [])
  const linked = await app.inject({
    url: `/posts?limit=1&title[not]=${'x'.repeat(3990)}`, headers: { accept: 'text/html' }
  })
  t.strictSame([linked.statusCode, linked.headers.link], [200, undefined])
  t.notMatch(linked.body, 'rel="next"')
})

t.test('a page whose query is long keeps the links to the pages around it, and the one that clears the filter',
  async (t) => {
    const app = await serve(t)
    await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
    const page = async (length: number): Promise<string> =>
      (await app.inject({
        url: `/posts?limit=1&title[not]=${'x'.repeat(length)}`, headers: { accept: 'text/html' }
      })).body
    const links = (body: string): number => body.split('x'.repeat(100)).length - 1
    const [short, long] = [await page(100), await page(3000)]
    t.match(short, /sort=body/)
    t.match(short, /rel="alternate"[^>]*x{100}/)
    t.notMatch(long, /sort=body|rel="alternate"|type="search"/)
    t.match(long, /rel="next">/)
    t.match(long, /Clear/)
    t.ok(links(short) > 10)
    t.equal(long.split('x'.repeat(3000)).length - 1, 1, 'once')
  })

t.test('a condition that is refused keeps its field, unless its value is too long', async (t) => {
  const app = await serve(t)
  const page = async (value: string): Promise<LightMyRequestResponse> =>
    await app.inject({
      url: `/posts?filter[by]=rating[gte]&filter[value]=${value}&title[not]=${'y'.repeat(3000)}`,
      headers: { accept: 'text/html' }
    })
  const [kept, refused] = [await page('x'.repeat(2000)), await page('x'.repeat(4001))]
  t.strictSame([kept.statusCode, kept.headers['content-type']], [400, types.html])
  t.match(kept.body, /value="x{2000}"[^]*Must be an integer/)
  t.equal(refused.statusCode, 400)
  t.match(refused.body, /must be an integer/)
  t.notMatch(refused.body, 'x'.repeat(1000))
})
