import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { type AttributesSchema, memoryStore, type Store } from '../../lib/index.js'
import { build, post, types } from '../support/helper.js'

const form = 'application/x-www-form-urlencoded'

/** Posts a body of this type to /posts. */
async function send (app: FastifyInstance, type: string, payload: string,
  url = '/posts'): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url, headers: { 'content-type': type, accept: 'application/json' }, payload })
}

// Quadratic work would take minutes here.
t.test('an input of a megabyte is answered', async (t) => {
  const declared = await build(t, {
    name: 'posts', attributes: { ...post, properties: { ...post.properties, link: { type: 'string', format: 'url' } } }
  })
  const open = await build(t, { name: 'posts' })
  const names = (count: number, write: (name: string) => string): string =>
    Array.from({ length: count }, (_, index) => write(`publisheAt${index}`)).join('')
  const inputs: Array<[name: string, app: FastifyInstance, type: string, payload: string]> = [
    ['quotes in a form’s JSON', open, form, 'post[a][?]=json&post[a]=[1111111111111111' + '"\\'.repeat(500_000)],
    ['colons in a URL', declared, 'application/json',
      `{"post":{"title":"T","link":"http://[${':'.repeat(1_000_000)}"}}`],
    ['unknown names as JSON', declared, 'application/json',
      `{"post":{${names(49_000, (name) => `"${name}":1,`).slice(0, -1)}}}`],
    ['unknown names as XML', declared, 'application/xml',
      `<post>${names(20_000, (name) => `<${name}>1</${name}>`)}</post>`],
    ['names of an open resource', open, 'application/json',
      `{"post":{${names(49_000, (name) => `"${name}":1,`).slice(0, -1)}}}`],
    ['items of another type', declared, 'application/json', `{"post":{"title":"T","tags":[${'1,'.repeat(49_000)}1]}}`],
    ['items that cannot be carried', declared, 'application/json',
      `{"post":{"title":"T","tags":[${'"\\u0001",'.repeat(49_000)}1]}}`],
    ['one long number', declared, 'application/json', `{"post":{"rating":${'9'.repeat(1_000_000)}}}`],
    ['open brackets', open, 'application/json', `{"post":{"a":${'['.repeat(49_000)}1${']'.repeat(49_000)}}}`]
  ]
  for (const [name, app, type, payload] of inputs) t.equal((await send(app, type, payload)).statusCode, 422, name)
})

t.test('a URL and a query that are too long are refused, with their limit', async (t) => {
  const app = await build(t, { name: 'posts', attributes: post, writes: 'both' })
  await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  const many = (count: number, write: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => write(index)).join('&')
  const [url, query] = ['the URL must have at most 65536 characters', 'a query must have at most 100 parameters']
  const cases: Array<[name: string, query: string, status: number, says: string | RegExp]> = [
    ['a query string of 1 MiB', 'title=' + 'x'.repeat(2 ** 20), 414, url],
    ['1,000 parameters', many(1000, (index) => `a${index}=b`), 400, query],
    ['101 parameters', many(101, (index) => `a${index}=b`), 400, query],
    ['100 parameters', many(100, (index) => `a${index}=b`), 400, /^the parameter "a0" is unknown/],
    ['one parameter 1,000 times', many(1000, () => 'title=a'), 400, 'the parameter "title" must be given once']
  ]
  for (const [name, query, status, says] of cases) {
    const json = await app.inject(`/posts.json?${query}`)
    t.match(json, { statusCode: status, headers: { 'content-type': types.problem } }, name)
    t.match(json.json(), { status, detail: says }, name)
    for (const [accept, type] of [['application/xml', types.xml], ['text/html', types.html]]) {
      const { statusCode, headers, body } = await app.inject({ url: `/posts?${query}`, headers: { accept } })
      t.strictSame([statusCode, headers['content-type']], [status, type], `${name} as ${accept}`)
      t.match(body.toLowerCase().replaceAll('&quot;', '"'),
        typeof says === 'string' ? says.toLowerCase() : 'the parameter "a0" is unknown', `${name} as ${accept}`)
    }
  }
  const long = '?id=' + '1'.repeat(65_536)
  for (const [method, path] of [['GET', '/posts/1'], ['HEAD', '/posts/1'], ['PUT', '/posts'], ['DELETE', '/posts/1'],
    ['POST', '/posts']] as const) {
    t.equal((await app.inject({ method, url: path + long, headers: { accept: 'application/json' } })).statusCode, 414,
      `${method} ${path}`)
  }
  const length = (characters: number): string => '/posts.json?title='.padEnd(characters, 'x')
  t.strictSame([(await app.inject(length(65_536))).statusCode, (await app.inject(length(65_537))).statusCode],
    [400, 414], 'the longest URL, whose condition is too long')
})

// Such texts overflow the stack of a regular expression that keeps a position for each repetition.
t.test('a text of millions of characters is answered if the app allows such a body', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      size: { type: 'integer' }, body: { type: 'string' }, data: {}, email: { type: 'string', format: 'email' }
    }
  } as const
  const app = await build(t, { name: 'posts', attributes }, { server: { bodyLimit: 64e6 } })
  const long = 'a'.repeat(12e6)
  const inputs: Array<[name: string, type: string, payload: string, status: number]> = [
    ['JSON with a number of sixteen digits', 'application/json', `{"post":{"size":1234567890123456,"body":"${long}"}}`,
      201],
    ['JSON of escapes', 'application/json', `{"post":{"size":1234567890123456,"body":"${'\\n'.repeat(12e6)}"}}`, 201],
    ['JSON with a number after the text that is inexact', 'application/json',
      `{"post":{"body":"1e400\\\\\\"${long}\\\\","size":12345678901234567}}`, 422],
    ['JSON in a form', form, `post[data][?]=json&post[data]=["1234567890123456","${long}"]`, 201],
    ['the name of a field', form, `post${'[]'.repeat(6e6)}=a`, 400]
  ]
  for (const [name, type, payload, status] of inputs) t.equal((await send(app, type, payload)).statusCode, status, name)
  const refused = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form, accept: 'text/html' },
    payload: `post[size]=x&post[email]=a@b${'.a'.repeat(6e6)}`
  })
  t.match(refused, { statusCode: 422, headers: { 'content-type': types.html } }, 'the URL in a form that comes back')
  t.match((await send(app, form, 'post[a]b=1')).json(),
    { status: 400, detail: 'the field name "post[a]b" is malformed' })
  for (const name of ['post[a', 'post]', 'post[a]]', '[a]']) {
    t.equal((await send(app, form, `${name}=1`)).statusCode, 400, name)
  }
})

t.test('a list of rows without common names shows only some columns', async (t) => {
  const store = memoryStore()
  for (let row = 0; row < 100; row++) {
    store.create(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${row}_${index}`, 1])), {})
  }
  const app = await build(t, { name: 'posts', store })
  const { body } = await app.inject('/posts.html?limit=100')
  t.equal(body.match(/<th scope="col"[^>]*>a/g)?.length, 20)
})

t.test('a number beyond the range of a double is refused at any depth', async (t) => {
  const app = await build(t, { name: 'posts' })
  for (const number of ['1e400', '-1e999', '1E+309', '123e4567']) {
    t.match(await send(app, 'application/json', `{"post":{"a":{"b":${number}}}}`), { statusCode: 422 }, number)
    t.match(await send(app, form, `post[a]=[${encodeURIComponent(number)}]&post[a][?]=json`), { statusCode: 422 },
      number)
  }
  t.match((await send(app, 'application/json',
    `{"post":{"a":${'['.repeat(20_000)}1e400${']'.repeat(20_000)}}}`)).json(), {
    status: 422, errors: { body: [/cannot be kept exactly/] }
  }, 'too far down to be named')
  t.match(await send(app, 'application/json', '{"post":{"a":"1e400","b":1e300}}'), { statusCode: 201 })
  t.match((await send(app, 'application/json', '{"post":{"a":9007199254740993,"a":2}}')).json(),
    { status: 422, errors: { body: [/cannot be kept exactly/] } })
})

t.test('an id with child elements, attributes or another type is refused', async (t) => {
  const app = await build(t, { name: 'posts', attributes: post })
  await send(app, 'application/json', '{"post":{"title":"T"}}')
  for (const payload of ['<post><id>1<b>3</b></id></post>', '<id type="integer">1<b/></id>',
    '<post><id type="boolean">1</id></post>', '<post><id foo="9">1</id></post>']) {
    t.equal((await app.inject({
      method: 'DELETE', url: '/posts', headers: { 'content-type': 'application/xml' }, payload
    })).statusCode, 422, payload)
  }
  for (const payload of ['id[x]=1', 'id=1&id[x]=1']) {
    t.equal((await app.inject({
      method: 'DELETE', url: '/posts', headers: { 'content-type': form }, payload
    })).statusCode, 400, payload)
  }
  t.equal((await app.inject('/posts/1.json')).statusCode, 200)
})

t.test('a form is refused if a part of it would be lost', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: { title: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } }, meta: {} }
    }
  })
  const open = await build(t, { name: 'posts' })
  for (const [payload, status] of [
    ['post[tags][][x]=lost&post[tags][]=b', 422],
    ['post[meta][?]=json&post[meta]=1&post[meta][a]=lost', 422],
    ['post[meta][?]=json&post[meta]=1&post[meta]=2', 422],
    ['post[title][?]=bogus&post[title]=a', 422]
  ] as const) t.equal((await send(app, form, payload)).statusCode, status, payload)
  for (const [payload, status] of [
    ['post[?][0][name]=a&post[?][0][name]=b&post[?][0][value]=1', 400],
    ['post[?][0][name]=a&post[?][0][valu]=1', 400],
    ['post[?][0]=7', 400],
    ['post[?][0][name]=a', 201],
    ['post[?][0][name]=a&post[?][0][value]=1&post[?][1][name]=a&post[?][1][value]=2', 422]
  ] as const) t.equal((await send(open, form, payload)).statusCode, status, payload)
})

t.test('the headers of an error are sent if they are valid', async (t) => {
  for (const [headers, status] of [[{ 'retry-after': '5', 'x-broken': 'a\r\nb', 'b ad': '1' }, 503],
    [null, 503]] as const) {
    const store: Store = {
      ...memoryStore(), get () { throw Object.assign(new Error('away'), { statusCode: 503, headers }) }
    }
    const app = await build(t, { name: 'posts', store })
    const res = await app.inject('/posts/1.xml')
    t.match(res, { statusCode: status, headers: { 'content-type': types.xml } })
    t.equal(res.headers['retry-after'], headers?.['retry-after'])
    t.equal(res.headers['x-broken'], undefined)
  }
})

t.test('a schema that no value fits, or that refers only to itself, throws', async (t) => {
  for (const [schema, message] of [
    [{ type: 'string', enum: [1] }, /the schema of "title" allows no value/],
    [{ $ref: '#/properties/title' }, /leads only back to itself/],
    [{ type: 'object', properties: { name: null } }, /must be a JSON Schema, not null/],
    [{ anyOf: [{ type: 'null' }, { $ref: '#/properties/title' }] }, /refers only to itself/]
  ] as const) {
    await t.rejects(build(t, { name: 'posts', attributes: { type: 'object', properties: { title: schema } } }),
      { code: 'FST_RESOURCES_INVALID_ATTRIBUTES', message })
  }
})

t.test('a schema that refers to itself in its alternatives starts, or is refused with the reason', async (t) => {
  const self = { $ref: '#/definitions/n' }
  const array = { type: 'array', items: self }
  const chain = (write: (inner: object) => object): Record<string, object> => {
    const definitions: Record<string, object> = { n0: { type: 'string' } }
    for (let depth = 1; depth <= 60; depth++) definitions[`n${depth}`] = write({ $ref: `#/definitions/n${depth - 1}` })
    return { ...definitions, n: { $ref: '#/definitions/n60' } }
  }
  const rings: Record<string, object> = { n: { $ref: '#/definitions/n0' } }
  for (let index = 0; index < 6; index++) {
    const next = (step: number): object => ({ $ref: `#/definitions/n${(index * step + step) % 6}` })
    const others = index === 0 ? { type: 'string' } : next(0)
    const array = { type: 'array', items: next(1) }
    rings[`n${index}`] = { anyOf: [array, { additionalProperties: next(5), items: next(7) }, others] }
  }
  const starting: Record<string, Record<string, object>> = {
    'an array of itself, or a condition': { n: { anyOf: [array, { if: { type: 'object' }, then: self }] } },
    'a chain of equal alternatives': chain((inner) => ({ anyOf: [inner, inner] })),
    'a ring of alternatives': rings
  }
  for (const [name, definitions] of Object.entries(starting)) {
    const properties = { title: { type: 'string' }, x: self }
    const app = await build(t, { name: 'posts', xsd: true, attributes: { type: 'object', definitions, properties } })
    t.equal((await send(app, 'application/json', '{"post":{"title":"T"}}')).statusCode, 201, name)
    for (const url of ['/posts.html', '/posts/1.xml', '/posts.xsd']) {
      t.equal((await app.inject(url)).statusCode, 200, `${name}: ${url}`)
    }
  }
  const both = { allOf: [array, { items: { anyOf: [self, { minLength: 1 }] } }] }
  const parts = [both, { items: { allOf: [self, { maxLength: 9 }] } }]
  const attributes: AttributesSchema = { type: 'object', definitions: { n: { anyOf: parts } }, properties: { x: self } }
  await t.rejects(build(t, { name: 'posts', attributes }), {
    code: 'FST_RESOURCES_INVALID_ATTRIBUTES',
    message: /attributes of "posts": .* combine to more than 1000 schemas; use fewer "anyOf", "oneOf" and "allOf"/
  })
})

t.test('uniqueItems compares items by value, without comparing each with each', async (t) => {
  const list = (items: object, uniqueItems = true): object => ({ type: 'array', uniqueItems, items })
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object', properties: { any: list({}), numbers: list({ type: 'number' }), repeated: list({}, false) }
    }
  })
  const cases: Array<[same: boolean, items: string]> = [
    [true, '[1,1.0]'], [true, '[0,-0]'], [true, '["a","a"]'], [true, '[null,null]'], [true, '[[],[]]'],
    [true, '[[1,[2]],[1.0,[2e0]]]'],
    [true, '[{"a":1,"b":{"c":[{"e":1,"d":2}],"f":3}},{"b":{"f":3,"c":[{"d":2,"e":1}]},"a":1.0}]'],
    [false, '[1,"1",true,"true",null,"null",[],"[]",[1],["1"],[[1]],[null]]'],
    [false, '[{"a":1,"b":2},{"a":2,"b":1},{"a":1},"{\\"a\\":1}",{"a":[1,2]},{"a":[2,1]},[{"a":1}]]']
  ]
  for (const [same, items] of cases) {
    const { errors } = (await send(app, 'application/json', `{"post":{"any":${items}}}`)).json()
    t.equal(errors?.any?.[0] === 'must not have the same item twice', same, items)
    t.equal((await send(app, 'application/json', `{"post":{"repeated":${items}}}`)).statusCode, 201)
  }
  t.match((await send(app, 'application/json', '{"post":{"numbers":[1,2,1]}}')).json(),
    { errors: { numbers: ['must not have the same item twice'] } })
  const different = Array.from({ length: 24_000 }, (_, index) => `[${index}]`).join(',')
  t.equal((await send(app, 'application/json', `{"post":{"any":[${different}]}}`)).statusCode, 201)
  t.equal((await send(app, 'application/json', `{"post":{"any":[${different},[0]]}}`)).statusCode, 422)
})

t.test('a URL is absolute, and has at most 2,048 characters', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: { type: 'object', properties: { link: { type: 'string', format: 'url' } } }
  })
  const good = ['http://a.example', 'HTTPS://a.example/b?c#d', 'ftp://a.example', 'http://u@a.example',
    'http://u:p@a.example', 'http://u:p:q@a.example', 'http://u@v:w@a.example', 'http://:@a.example',
    'http://@@a.example', 'http://a.example:80/@', 'http://1.2.3.4', 'http://\u00e9.example',
        `http://${':@'.repeat(1000)}a.example`, `http://a.example/${'x'.repeat(2031)}`]
  const bad = ['a.example', '//a.example', 'mailto:a@b.example', 'http://a', 'http://10.0.0.1', 'http://@a.example',
    'http://u p@a.example', 'http://a.example/b c', 'http://a.example ', 'http://u@', 'http://u:p@/',
      `http://${':@'.repeat(1000)}a`, `http://a.example/${'x'.repeat(2032)}`]
  for (const [links, status] of [[good, 201], [bad, 422]] as const) {
    for (const link of links) {
      t.equal((await send(app, 'application/json', JSON.stringify({ post: { link } }))).statusCode, status,
        link.slice(0, 60))
    }
  }
})

t.test('recursive alternatives do not double the work with each level', async (t) => {
  const branch = (kind: string): object => ({
    type: 'object', required: ['kind'], properties: { child: { $ref: '#/definitions/node' }, kind: { const: kind } }
  })
  const schema = {
    type: 'object',
    properties: { node: { $ref: '#/definitions/node' } },
    definitions: { node: { oneOf: ['a', 'b', 'c', 'd'].map(branch) } }
  } as const
  const app = await build(t, { name: 'posts', attributes: schema })
  const nested = (depth: number, last: string): object => depth === 0
    ? { kind: last }
    : { child: nested(depth - 1, last), kind: 'd' }
  for (const [depth, last, status] of [[5, 'd', 201], [5, 'x', 422], [30, 'd', 422], [30, 'x', 422]] as const) {
    const res = await send(app, 'application/json', JSON.stringify({ post: { node: nested(depth, last) } }))
    t.equal(res.statusCode, status)
    if (depth === 30) t.strictSame(res.json().errors, { node: ['is too complex to be checked'] })
  }
  t.equal((await send(app, 'application/json', JSON.stringify({ post: { node: nested(4, 'a') } }))).statusCode, 201,
    'the limit counts anew for each body')
})

t.test('each fault in a small array or object is named, and only the first one in a larger one', async (t) => {
  const child = { properties: { child: { $ref: '#/definitions/twin' } } }
  const twin = { type: 'object', allOf: [child, child] }
  const shape = {
    oneOf: [{
      type: 'object', required: ['radius'], properties: { radius: { type: 'number' }, unit: { type: 'string' } }
    }, {
      type: 'object',
      required: ['width', 'height'],
      properties: { width: { type: 'number' }, height: { type: 'number' } }
    }]
  }
  const tree = {
    type: 'object', required: ['name'], properties: { name: { type: 'string' }, next: { $ref: '#/definitions/tree' } }
  }
  const line = {
    type: 'object',
    required: ['label', 'count'],
    properties: {
      label: { type: 'string', minLength: 1 },
      count: { type: 'integer', minimum: 1 },
      kind: { oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }
    }
  }
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: {
        lines: { type: 'array', maxItems: 3000, items: line },
        author: {
          type: 'object', required: ['name', 'mail'], properties: { name: { type: 'string' }, mail: { type: 'string' } }
        },
        tags: { type: 'array', items: { type: 'string', minLength: 2 } },
        shape,
        tree: { $ref: '#/definitions/tree' },
        twins: { type: 'array', items: twin }
      },
      definitions: { tree, twin }
    } as unknown as AttributesSchema
  })
  const faultsOf = async (post: object, type = 'application/json',
    body = JSON.stringify({ post })): Promise<Record<string, string[]>> => (await send(app, type, body)).json().errors
  t.strictSame(await faultsOf({
    lines: [{ label: '', count: 0, kind: 'x' }, {}, 5, { label: 'L', count: 1 }], author: {}, tags: ['a', 'bc', '']
  }), {
    'lines.0.label': ['must not be blank'],
    'lines.0.count': ['must be at least 1'],
    'lines.0.kind': ['must be one of "a", "b"'],
    'lines.1.label': ['must be given'],
    'lines.1.count': ['must be given'],
    'lines.2': ['must be an object'],
    'author.name': ['must be given'],
    'author.mail': ['must be given'],
    'tags.0': ['must have at least 2 characters'],
    'tags.2': ['must have at least 2 characters']
  })
  const blank = {
    'lines.0.label': ['must not be blank'],
    'lines.0.count': ['must be an integer'],
    'lines.1.count': ['must be at least 1']
  }
  t.strictSame(await faultsOf({}, form,
    'post[lines][0][label]=&post[lines][0][count]=&post[lines][1][label]=x&post[lines][1][count]=0'), blank,
  'also beside a part that cannot be read')
  t.strictSame(await faultsOf({}, 'application/xml',
    '<post><lines type="array"><line><label></label><count>x</count></line>' +
      '<line><label>x</label><count>0</count></line></lines></post>'), blank)
  t.strictSame(await faultsOf({ lines: [{ label: '', count: 0, more: 1 }, { label: 5 }] }),
    {
      'lines.0.more': ['is unknown'],
      'lines.0.label': ['must not be blank'],
      'lines.0.count': ['must be at least 1'],
      'lines.1.count': ['must be given'],
      'lines.1.label': ['must be a string']
    })
  const many = Array.from({ length: 400 }, () => ({ label: '', count: 0 }))
  t.strictSame(await faultsOf({ lines: many }), { 'lines.0.label': ['must not be blank'] }, 'a large array')
  t.strictSame(Object.keys(await faultsOf({ lines: many.slice(0, 300) })).length, 100, 'an answer has at most 100')
  t.strictSame(await faultsOf({ shape: { unit: 5 } }),
    { 'shape.radius': ['must be given'], 'shape.width': ['must be given'] }, 'of each alternative, the first fault')
  t.strictSame(await faultsOf({ tree: { next: { next: {} } } }),
    { 'tree.name': ['must be given'], 'tree.next.name': ['must be given'], 'tree.next.next.name': ['must be given'] })
  const nested = (depth: number): object => depth === 0 ? {} : { child: nested(depth - 1) }
  t.strictSame(await faultsOf({ twins: [5, nested(3), 6] }),
    { 'twins.0': ['must be an object'], 'twins.2': ['must be an object'] })
  const unknown = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`n${index}`, 1]))
  t.equal(Object.keys(await faultsOf({ tree: unknown })).length, 100)
  t.strictSame(await faultsOf({ lines: [{ label: nested(40), count: 1 }] }),
    { 'lines.0.label': ['is nested deeper than 32 levels'] })
  t.strictSame(await faultsOf({ twins: [5, nested(25), 6] }), { 'twins.0': ['must be an object'] },
    'a search that takes too long')
})

t.test('a name of a megabyte is refused, and no answer repeats it', async (t) => {
  const names = { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } }
  const declared = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: { names, tree: { $ref: '#/definitions/tree' } },
      definitions: { tree: { type: 'object', additionalProperties: { $ref: '#/definitions/tree' } } }
    } as AttributesSchema
  })
  const open = await build(t, { name: 'posts' })
  const long = 'a'.repeat(400_000)
  const faults = Array.from({ length: 120 }, () => '"\\u0001"').join(',')
  const elements = '<i>x</i>'.repeat(120)
  const path = Array.from({ length: 30 }, (_, index) => `${'b'.repeat(190)}${index}`)
  const nul = Array.from({ length: 120 }, (_, index) => `"${index}\\u0000":{}`).join(',')
  const cases: Array<[app: FastifyInstance, type: string, payload: string, message: RegExp, status?: number]> = [
    [open, 'application/json', `{"post":{"${long}":[${faults}]}}`, /a{100}….*is a name of more than 200 characters/],
    [open, 'application/json', `{"post":{"x":{"${long}":[${faults}]}}}`,
      /x\.a+….*is a name of more than 200 characters/],
    [open, 'application/xml', `<post><${long}/></post>`, /is a name of more than 200 characters/],
    [open, 'application/xml', `<post><x type="${long}"/></post>`, /has the unknown type \\"a{100}…/],
    [open, form, `post[${long}]=1`, /is a name of more than 200 characters/],
    [declared, 'application/json', `{"post":{"names":{"${long}":[${faults}]}}}`,
      /is a name of more than 200 characters/],
    [declared, 'application/json',
      `{"post":{"tree":${path.map((name) => `{"${name}":`).join('')}{${nul}}${'}'.repeat(path.length)}}}`,
      /….*is not a valid name/],
    [declared, 'application/xml', `<post><names><${long} type="array">${elements}</${long}></names></post>`,
      /is a name of more than 200 characters/],
    [declared, 'application/json', `{"id":"${long}","post":{"id":"b${long}"}}`, /names two ids: \\"a{100}…/, 400],
    [declared, 'application/xml', `<post><a></${long}></post>`, /not well-formed/, 400]
  ]
  for (const [app, type, payload, message, status = 422] of cases) {
    const label = `${type}: ${payload.slice(0, 40)}`
    const { statusCode, body } = await send(app, type, payload)
    t.equal(statusCode, status, label)
    t.match(body, message, label)
    t.ok(body.length < 150_000, `${label}: ${body.length}`)
  }
  const legal = 'a'.repeat(200)
  t.equal((await send(open, 'application/json', `{"post":{"${legal}":{"${legal}":1}}}`)).statusCode, 201)
})

t.test('a body has at most 50,000 values', async (t) => {
  const app = await build(t, {
    name: 'posts',
    attributes: {
      type: 'object',
      properties: {
        tags: { type: 'array', items: { type: 'string' } },
        more: { type: 'array', items: { type: 'string' } },
        text: { type: 'string' },
        data: {}
      }
    }
  })
  const list = (count: number): string => `[${'1,'.repeat(count - 1)}1]`
  const repeated = (text: string, count: number): string => text.repeat(count)
  const cases: Array<[name: string, type: string, most: number, write: (count: number) => string, status: number]> = [
    // The body, the group and the list are values themselves.
    ['values of JSON', 'application/json', 49_997, (count) => `{"post":{"data":${list(count)}}}`, 201],
    ['values of JSON, deep inside', 'application/json', 49_994,
      (count) => `{"post":{"data":{"a":[{"b":${list(count)}}]}}}`, 201],
    ['members of JSON', 'application/json', 49_998,
      (count) => `{"post":{${Array.from({ length: count }, (_, index) => `"a${index}":1`).join(',')}}}`, 422],
    ['JSON that is no object', 'application/json', 49_999, list, 422],
    ['elements of XML', 'application/xml', 49_998,
      (count) => `<post><tags type="array">${repeated('<a/>', count)}</tags></post>`, 201],
    ['lines of a form', form, 50_000, (count) => `post[tags]=${repeated('%0A', count - 1)}a`, 201],
    ['lines of two fields of a form', form, 25_000,
      (count) => `post[tags]=${repeated('%0A', count - 1)}a&post[more]=${repeated('%0A', 24_999)}a`, 201],
    ['values of JSON in a form', form, 49_999, (count) => `post[data][?]=json&post[data]=${list(count)}`, 201]
  ]
  for (const [name, type, most, write, status] of cases) {
    t.equal((await send(app, type, write(most))).statusCode, status, name)
    const refused = await app.inject({
      method: 'POST', url: '/posts', headers: { 'content-type': type }, payload: write(most + 1)
    })
    t.match(refused, {
      statusCode: 413,
      headers: {
        'content-type': {
          'application/json': types.problem, 'application/xml': types.xml, [form]: types.html
        }[type]
      }
    }, name)
    t.match(refused.body, /the body has more than 50000 values/i)
  }
  t.equal((await send(app, form, `post[text]=${repeated('%0A', 300_000)}`)).statusCode, 201,
    'a text of many lines is one value')
})

t.test('a long name is not repeated for each of many items', async (t) => {
  const lists = { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } }
  const app = await build(t, { name: 'posts', attributes: { type: 'object', properties: { lists } } })
  const payload = JSON.stringify({ post: { lists: { [`${'x'.repeat(190)}cities`]: Array(20_000).fill(1) } } })
  const { statusCode, body } = await app.inject({
    method: 'POST', url: '/posts.xml', headers: { 'content-type': 'application/json' }, payload
  })
  t.equal(statusCode, 201)
  t.match(body, /cities type="json">\[1,1,/)
  t.ok(body.length < 20 * payload.length)
})

t.test('an object with open names has at most a thousand', async (t) => {
  const numbers = {
    type: 'object', properties: { known: { type: 'integer' } }, additionalProperties: { type: 'integer' }
  }
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`a${index}`, { type: 'integer' }]))
  const app = await build(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { numbers, declared: { type: 'object', properties: many } } }
  })
  const members = (count: number): object => Object.fromEntries(Array.from({ length: count },
    (_, index) => [`a${index}`, 1]))
  for (const [post, status] of [[{ numbers: members(1000) }, 201], [{ declared: members(1001) }, 201],
    [{ numbers: members(1001) }, 422]] as const) {
    const res = await send(app, 'application/json', JSON.stringify({ post }))
    t.equal(res.statusCode, status)
    if (status === 422) t.strictSame(res.json().errors, { numbers: ['must not have more than 1000 names'] })
  }
  const elements = Array.from({ length: 1001 }, (_, index) => `<a${index}>x</a${index}>`).join('')
  t.strictSame((await send(app, 'application/xml', `<post><numbers>${elements}</numbers></post>`)).json().errors,
    { numbers: ['must not have more than 1000 names'] })
})

t.test('if any name may be given, a hyphen differs from an underscore', async (t) => {
  const schema = { type: 'object', properties: { a_b: { type: 'string' } }, additionalProperties: { type: 'string' } }
  const app = await build(t, {
    name: 'posts', attributes: { type: 'object', properties: { names: schema, first_name: { type: 'string' } } }
  })
  const names = { 'a-b': 'x', a_b: 'y' }
  await send(app, 'application/json', JSON.stringify({ post: { names } }))
  const { body } = await app.inject('/posts/1.xml')
  const res = await app.inject({
    method: 'PUT',
    url: '/posts.json',
    headers: { 'content-type': 'application/xml' },
    payload: body.replace('</post>', '<first-name>F</first-name></post>')
  })
  t.strictSame(res.json(), { post: { id: 1, names: { a_b: 'y', 'a-b': 'x' }, first_name: 'F' } })
})
