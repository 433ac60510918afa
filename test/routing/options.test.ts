import fastify from 'fastify'
import t, { type Test } from 'tap'
import resources, { draw, memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import { xmlSchema } from '../../lib/xsd/index.js'
import { build, send } from '../support/helper.js'
import { type Mistaken, Registrations } from '../support/registrations.js'

const name = 'posts'
const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, rating: { type: 'integer' } }
} as const

async function register (options: Mistaken): Promise<void> {
  const app = fastify()
  app.register(resources, options as unknown as ResourceOptions)
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

async function isRefused (
  t: Test, options: Mistaken, code: string, ...says: ReadonlyArray<string | RegExp>
): Promise<void> {
  const registrations = new Registrations()
  registrations.refused(options, code, ...says)
  await registrations.check(t)
}

const INVALID = 'FST_RESOURCES_INVALID_OPTION'
const ATTRIBUTES = 'FST_RESOURCES_INVALID_ATTRIBUTES'
const { list, get, create, update, delete: remove } = memoryStore()
const csv = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  compileWriter: () => ({
    record: () => '', problem: () => '', list: { open: '', row: () => '', separator: '', close: '' }
  })
}

t.test('an invalid value of an option throws at registration, with the cure', async t => {
  const cases: [option: string, values: unknown[], says: RegExp][] = [
    ['name', [undefined, null, '', 5, true, {}, [], '1posts', 'my posts', 'posts/x', '/posts', 'posts.xml', ':id', '*',
      'p?', 'pösts', '-posts', 'posts\n'],
    /must be a name such as 'posts' \(letters, digits, "_" and "-", no digit first\), not /],
    ['name', ['id', '_method', '_version', 'commit'],
      /must not be "\w+", which has another meaning in payloads; set "singular" to another name/],
    ['prefix', ['/..', '/.', '..', '/a/../b', '/./a', '/v1//', '//', '//v1', '/a//b'],
      /must be a path such as '\/blog', without "\." or "\.\." as a segment and without "\/\/"/],
    ['singular', ['__proto__'],
      /must not be "__proto__", which is not a valid name in all formats; set "singular" to another name/],
    ['prefix', ['/:__suffix', '/a/:__suffix(^a$)/b'],
      /must not have a parameter called "__suffix", which is a reserved name/],
    ['param', ['__suffix'], /must not name a parameter "__suffix", which is a reserved name/],
    ['prefix', ['/\ud800'], /must not contain an unpaired surrogate/],
    ['singular', ['', 5, false, {}, '1post', 'a post', 'a/b', 'a:b'], /must be a name such as 'posts'/],
    ['singular', ['id', '_method', '_version', 'commit'], /set "singular" to another name/],
    ['attributes', [null, 5, 'title', true], /must be a JSON Schema { type: 'object', properties: { … } }/],
    ['store', [null, 5, 'memory', {}, memoryStore],
      /must have the methods of a store; missing: list, get, create, update, delete\.$/],
    ['store', [{ get, create, update, delete: remove }, { list: [], get, create, update, delete: remove }],
      /missing: list\.$/],
    ['store', [{ list, update }], /missing: get, create, delete\.$/],
    ['id', ['int', 'UUID', '', 5, true, {}, ['uuid']], /must be 'integer', 'uuid' or 'string', not /],
    ['formats', [[], 'xml', 5, {}, true], /must be a list such as \['xml', 'html', 'json'\]/],
    ['formats', [[memoryStore]], /has the function memoryStore, which must be called: memoryStore\(\)\.$/],
    ['formats', [[() => csv]], /has the function format, which must be called: format\(\)\.$/],
    ['formats', [['tsv'], ['xml', 'yaml'], ['form'], ['XML'], ['']], /is not one of xml, html, json, csv/],
    ['formats', [['xml', 'xml'], ['xml', 'html', 'xml']], /has "xml" twice/],
    ['formats', [[csv, csv], ['json', csv, csv], ['csv', csv], ['csv', 'csv']], /has "csv" twice/],
    ['formats', [[null], [undefined], [5], [{}], [[]], [{ ...csv, name: undefined }], [{ ...csv, name: '' }],
      [{ ...csv, name: 'CSV' }], [{ ...csv, name: 'c s v' }], [{ ...csv, name: 'c.v' }], [{ ...csv, name: 5 }]],
    /has a format whose "name" is not made of small letters and digits/],
    ['formats', [undefined, [], 'text/csv', {}, [''], ['csv'], ['text/CSV'], ['text/'], ['/csv'], ['text csv'],
      ['text/csv '], [5], [null], ['text/csv', 'csv']].map((mediaTypes) => [{ ...csv, mediaTypes }]),
    /has "csv", whose "mediaTypes" must be a list such as \['text\/csv'\], in small letters/],
    ['formats', [undefined, null, 'text', {}].map((compileWriter) => [{ ...csv, compileWriter }]),
      /has "csv", which has no function "compileWriter"/],
    ['formats', ['', 'header', '=present', 'a=b;c=d', 'a=b; ', '; a=b', 'a="b"', 'a=b, c=d', 'a=b\r\nx: y', 5, null,
      {}].map((mediaTypeParameters) => [{ ...csv, mediaTypeParameters }]),
    /has "csv", whose "mediaTypeParameters" must be a text such as 'header=present'/],
    ['writes', ['members', 'all', 'Both', '', true, 5, [], {}], /must be 'collection', 'member' or 'both', not /],
    ['trustedOrigins', ['https://a.example', {}, 5, true, new Set(['https://a.example'])],
      /must be a list of origins such as \['https:\/\/app\.example\.com'\]/],
    ['trustedOrigins', ['a.example', '//a.example', '', '*', 'null', 'https://a.example/', 'https://a.example/x',
      'https://a.example?', 'https://A.example', 'HTTPS://a.example', 'https://a.example:443', 'http://a.example:80',
      'https://u@a.example', 'https://*.a.example', 'file:///x', 'moz-extension://a', 'https://a.example ', 5, null, undefined,
      {}].map((origin) => [origin]),
    /which is not an origin such as 'https:\/\/app\.example\.com': scheme and host in small letters, no path/],
    ['requireMatch', ['true', '', 0, 1, {}, []], /must be true or false, not /],
    ['csv.escapeFormulas', ['true', '', 0, 1, {}, []], /must be true or false, not /],
    ['maxLimit', [0, -1, 1.5, NaN, Infinity, 2 ** 53, '10', true, [5], {}],
      /must be a number of rows of at least 1, not /],
    ['sort', ['title', null, 5, true, {}, [5], [null], ['title', ['rating']]],
      /must be a list of attributes such as \['title'\]/],
    ['filter', ['title', null, 5, true, {}, [5], [null], ['title', ['rating']]],
      /must be a list of attributes such as \['title'\]/],
    ['html.pageSize', [1001, 5000], /must not be more than "maxLimit", which is 1000/],
    ['openapi', [null, true, 5, 'posts', []], /must be an object, not /],
    ['openapi', [{ suffixes: null }], /has "suffixes", which must be a boolean, not null/],
    ['openapi', [{ tag: [] }, { tagz: [] }], /has "tag\w?", which is unknown; did you mean "tags"\?/]
  ]
  const registrations = new Registrations()
  for (const [option, values, says] of cases) {
    const [format = '', member] = option.split('.')
    for (const value of values) {
      registrations.refused({
        name,
        ...(format === 'csv' && { formats: ['csv'] }),
        [format]: member === undefined ? value : { [member]: value }
      }, INVALID, `Option "${option}" of `, says)
    }
  }
  await registrations.check(t)
})

t.test('an error about an option names the resource, the found value and the allowed values', async t => {
  const registrations = new Registrations()
  const says = (options: unknown, message: string): void => {
    registrations.add(options as Mistaken, (t, error) => { t.equal(error?.message, message) })
  }
  says({ name, writes: 'all' },
    'Option "writes" of resource "posts" must be \'collection\', \'member\' or \'both\', not \'all\'.')
  says({ name, writs: 'both' }, 'There is no option "writs" of resource "posts"; did you mean "writes"?')
  says({ name, requireMatch: 1 }, 'Option "requireMatch" of resource "posts" must be true or false, not 1.')
  says({ name, html: { columns: ['titel'] }, attributes },
    'Option "html.columns" of resource "posts" names "titel", which is not among the attributes declared; did you ' +
      'mean "title"?')
  const badges = (given: object): object => ({ name, html: { badges: given }, attributes })
  says(badges({ titel: {} }), 'Option "html.badges" of resource "posts" names "titel", which is not among the ' +
    'attributes declared; did you mean "title"?')
  says(badges({ title: { paid: 'good' } }),
    'Option "html.badges" of resource "posts" names "title", which has no "enum".')
  const state = { type: 'object', properties: { state: { enum: ['paid'] } } }
  says({ ...badges({ state: { payd: 'good' } }), attributes: state },
    'Option "html.badges.state" of resource "posts" has "payd", which is not one of paid; did you mean "paid"?')
  says(badges({ title: 'good' }), 'Option "html.badges.title" of resource "posts" must be an object such as ' +
    "{ paid: 'good' }, not 'good'.")
  says(badges({ title: { paid: 'red' } }),
    'Option "html.badges.title.paid" of resource "posts" must be \'good\' or \'bad\', not \'red\'.')
  says({ name, prefix: 5 }, 'Option "prefix" of resource "posts" must be a path such as \'/blog\', not 5.')
  says({}, 'Option "name" of a resource must be a name such as \'posts\' (letters, digits, ' +
    '"_" and "-", no digit first), not ' + 'undefined.')
  for (const wrong of ['schema', 'properties', 'fields']) {
    says({ name, [wrong]: attributes },
      `There is no option "${wrong}" of resource "posts"; the schema of the attributes is the option "attributes".`)
  }
  says({ name, escapeFormulas: true }, 'There is no option "escapeFormulas" of resource "posts"; it is an option of ' +
    'the format csv: write csv: { escapeFormulas: … }.')
  const object =
    "Option \"name\" must be in an object of options, as in app.register(resources, { name: 'posts' }), not in "
  says('posts', `${object}'posts'.`)
  says(['posts'], `${object}posts.`)
  says(7, `${object}7.`)
  says(undefined, 'Option "name" of a resource must be a name such as \'posts\' (letters, digits, ' +
    '"_" and "-", no digit first), not ' + 'undefined.')
  await registrations.check(t)
  t.throws(() => xmlSchema({ name, id: 'int' } as never),
    { message: 'Option "id" of resource "posts" must be \'integer\', \'uuid\' or \'string\', not \'int\'.' })
})

t.test('an error about an option of a nested resource names that resource', async t => {
  for (const [options, message] of [
    [{ writes: 'all' },
      'Option "writes" of resource "comments" must be \'collection\', \'member\' or \'both\', not \'all\'.'],
    [{ only: ['index'] },
      'Option "only" of resource "comments" names \'index\', which is not one of list, show, create, update, delete, ' +
        'new, edit.'],
    [{ store: { ...memoryStore(), prepare () { throw new TypeError('no table') } } }, 'no table'],
    [{ as: 'url' }, 'Option "as" of resource "comments" must not be "url", because app.paths.url makes absolute URLs.']
  ] as const) {
    const app = fastify()
    app.register(draw((map) => 'as' in options
      ? map.resources('comments', options as object)
      : map.resources('posts',
        {}, (posts) => posts.resources('comments', options as object))))
    await t.rejects(async () => { await app.ready() }, { message })
    await app.close()
  }
})

t.test('contradicting options throw', async t => {
  const cases: [options: Mistaken, option: string, says: RegExp][] = [
    [{ id: 'integer', store: memoryStore({ id: 'uuid' }) }, 'id',
      /is 'integer', but the store makes 'uuid' ids; leave it out, or give the store the same "id"/],
    [{ id: 'uuid', store: memoryStore() }, 'id', /is 'uuid', but the store makes 'integer' ids; leave it out/],
    [{ maxLimit: 10, html: { pageSize: 11 } }, 'html.pageSize', /must not be more than "maxLimit", which is 10/]
  ]
  const registrations = new Registrations()
  for (const [options, option, says] of cases) {
    registrations.refused({ name, ...options }, INVALID, `Option "${option}" of `, says)
  }
  await registrations.check(t)
})

t.test('each valid value of an option is accepted', async t => {
  const registrations = new Registrations()
  const cases: [option: keyof ResourceOptions, values: unknown[]][] = [
    ['name',
      ['posts', 'Posts', 'blog-posts', 'blog_posts', '_posts', 'p1', 'sheep', 'x', 'constructor', 'errors', 's']],
    ['formats', [['xml'], ['html'], ['json'], ['json', 'xml'], ['html', 'json', 'xml'], [csv], ['json', csv],
      ['xml', 'html', 'json', 'csv'], [{ ...csv, mediaTypeParameters: 'header=present; profile=x' }],
      Object.freeze(['json'])]],
    ['trustedOrigins', [[], ['https://app.example.com'],
      ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080', 'https://xn--bcher-kva.example']]],
    ['prefix', ['', '/', '/blog', 'blog/', '/a/b', '/.a/b..']],
    ['openapi', [false, {}, { suffixes: true },
      Object.freeze({
        tags: ['x'], security: [], parameters: [], responses: {}, servers: [], externalDocs: {}, deprecated: true
      })]]
  ]
  for (const [option, values] of cases) {
    for (const value of values) registrations.accepted({ name, [option]: value }, `${option}: ${JSON.stringify(value)}`)
  }
  for (const csv of [{}, { escapeFormulas: true }, { escapeFormulas: false }]) {
    registrations.accepted({ name, formats: ['json', 'csv'], csv })
  }
  await registrations.check(t)
})

t.test('an attribute that cannot be sorted or filtered by throws, with the cure', async t => {
  const registrations = new Registrations()
  const text = { type: 'string' }
  const declared = {
    type: 'object',
    properties: {
      title: text,
      rating: { type: ['integer', 'null'] },
      tags: { type: 'array', items: text },
      author: { type: 'object', properties: {} },
      any: {},
      mixed: { type: ['string', 'boolean'] },
      nothing: { type: 'null' },
      secret: { type: 'string', writeOnly: true },
      format: text,
      limit: text,
      after: text,
      sort: text
    }
  }
  const { capabilities, ...plain } = memoryStore()
  for (const option of ['sort', 'filter'] as const) {
    const refused = (names: string[], says: string, options: Mistaken = {}): void => {
      registrations.refused({ name, attributes: declared, [option]: names, ...options }, INVALID,
        `Option "${option}" of resource "posts" names "${names.at(-1)}", which ${says}`)
    }
    refused(['title', 'titel'], 'is not among the attributes declared; did you mean "title"?')
    refused(['xxxxxxxxx'], 'is not among the attributes declared')
    refused(['constructor'], 'is not among the attributes declared')
    for (const attribute of ['tags', 'author', 'any', 'mixed', 'nothing']) {
      refused(['rating', attribute], 'must be a string, an integer, a number or a boolean, or one of them and null')
    }
    refused(['secret'], 'is writeOnly: its values would be revealed')
    for (const attribute of ['format', 'limit', 'after', 'sort']) {
      registrations.accepted({ name, attributes: declared, [option]: [attribute] })
    }
    const capability = option === 'sort' ? 'order' : 'filter'
    for (const store of [plain, { ...plain, capabilities: {} },
      { ...plain, capabilities: { ...capabilities, [capability]: false } },
      { ...plain, capabilities: { ...capabilities, [capability]: 'yes' } }]) {
      registrations.refused({ name, attributes: declared, store, [option]: ['title'] }, INVALID,
        `Option "${option}" of resource "posts" names attributes, but the store cannot`,
        `it does not declare "capabilities.${capability}"`)
    }
  }
  await registrations.check(t)
})

t.test('a resource has the attributes of its store, or some of them', async t => {
  const store = { ...memoryStore(), attributes }
  const app = await build(t, { name, store })
  t.match((await app.inject(send('POST', '/posts', 'application/json', '{"post":{"titel":"T"}}'))).json(),
    { errors: { titel: ['is unknown; did you mean "title"?'], title: ['must be given'] } })
  t.equal((await app.inject(send('POST', '/posts', 'application/json', '{"post":{"title":"T"}}'))).statusCode, 201)
  const title = { type: 'string' }
  const registrations = new Registrations()
  for (const properties of [{}, { title }, { title, rating: { type: 'integer', maximum: 5 } }]) {
    registrations.accepted({ name, store, attributes: { type: 'object', properties } })
  }
  for (const [properties, says] of [
    [{ titel: title }, /declares "titel", which is not an attribute of the store; did you mean "title"\?/],
    [{ title, xxxxxxxx: title }, /declares "xxxxxxxx", which is not an attribute of the store\.$/],
    [{ constructor: title }, /declares "constructor", which is not an attribute of the store/]
  ] as const) {
    registrations.refused({ name, store, attributes: { type: 'object', properties } }, INVALID,
      'Option "attributes" of resource "posts"', says)
  }
  registrations.refused({ name, store, attributes: { type: 'object' } }, ATTRIBUTES, 'must be a JSON Schema')
  registrations.refused({ name, store: { ...store, attributes: 5 } }, INVALID,
    'Option "attributes" of resource "posts"', 'must be a JSON Schema')
  await registrations.check(t)
})

t.test('a store is prepared before its first call, once for each resource', async t => {
  const calls: string[] = []
  const rows = memoryStore()
  const store: Store = {
    ...rows,
    async prepare () {
      await new Promise(setImmediate)
      calls.push('prepare')
    },
    list (query) { calls.push('list'); return rows.list(query) }
  }
  const app = await build(t, { name, store }, {
    before: (app) => {
      app.register(resources, { name: 'notes', store })
    }
  })
  t.strictSame(calls, ['prepare', 'prepare'])
  t.equal((await app.inject('/posts')).statusCode, 200)
  t.strictSame(calls, ['prepare', 'prepare', 'list'])
  for (const prepare of [() => {
    throw new Error('there is no such table')
  }, async () => { throw new Error('there is no such table') }]) {
    await t.rejects(register({ name, store: { ...rows, prepare } }), { message: 'there is no such table' })
  }
  let isPrepared = false
  await isRefused(t, {
    name,
    store: {
      ...rows,
      prepare: () => {
        isPrepared = true
      }
    },
    attributes: { type: 'object', properties: { id: {} } }
  }, ATTRIBUTES)
  t.notOk(isPrepared, 'wrong options are reported first')
})

t.test('an unusable schema throws, with the cure', async t => {
  const registrations = new Registrations()
  const title = { type: 'string' }
  const object = (properties: Mistaken, rest: Mistaken = {}): Mistaken => ({ type: 'object', properties, ...rest })
  const cases: [name: string, schema: unknown, says: RegExp | string][] = [
    ['no type', { properties: { title } }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['no properties', { type: 'object' }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['an attribute id', object({ id: { type: 'integer' } }), /"id" is not an attribute; leave it out/],
    ...['first name', '1st', 'a:b', '', '?', 'a<b', 'a"b', '-a', '.a', 'a\u0000', '\ud800', '__proto__', 'a[b]', '@a',
      '#text'].map((illegal): [string, unknown, string] =>
      [`an attribute ${JSON.stringify(illegal)}`,
        JSON.parse(`{"type":"object","properties":{${JSON.stringify(illegal)}:{"type":"string"}}}`),
        'is not a valid name in XML; use letters, digits, "-", "_" and ".", and no digit first']),
    ['additionalProperties: true', object({ title }, { additionalProperties: true }),
      /"additionalProperties" can only be false.*leave it out, or leave out the whole schema/],
    ['required of an unknown property', object({ title }, { required: ['title', 'titel'] }),
      '"required" names "titel", which is not among the properties'],
    ['required that is no list', object({ title }, { required: 'title' }), /required must be array/],
    ...['maxProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties', '$ref', 'enum', 'const',
      'default', 'nullable', 'propertis'].map((keyword): [string, unknown, string] =>
      [`${keyword} at the top`, object({ title }, { [keyword]: {} }),
        `"${keyword}" has no effect beside "properties"; put it into a property, or leave it out`]),
    ['a keyword that is none', object({ title: { type: 'string', maxlength: 3 } }), /unknown keyword: "maxlength"/],
    ['a keyword with a wrong value', object({ title: { type: 'string', maxLength: '3' } }),
      /title\/maxLength must be integer/],
    ['a type that is none', object({ title: { type: 'text' } }),
      new RegExp('"title" has the type \'text\', which is not one of ' +
        'string, integer, number, boolean, null, array, object; did you mean "string"\\?')],
    ['a member that is no schema', object({ author: object({ name: 'string' }) }),
      /must be a JSON Schema|must be object,boolean/],
    ['a type and a constant of another', object({ title: { type: 'string', const: 5 } }),
      'the schema of "title" allows no value'],
    ['a format that is none', object({ mail: { type: 'string', format: 'emial' } }),
      /"mail" has the format 'emial', which is not one of binary, .*did you mean "email"\?/],
    ['an empty enum', object({ title: { enum: [] } }), /title\/enum must NOT have fewer than 1 items/],
    ['a reference to nothing', object({ title: { $ref: '#/$defs/nothing' } }),
      'the reference "#/$defs/nothing" has no target in the schema'],
    ['a reference that is not encoded well', object({ title: { $ref: '#/%E0' } }),
      'the reference "#/%E0" has no target in the schema'],
    ['a reference to elsewhere', object({ title: { $ref: 'https://schemas.example/title' } }),
      'the reference "https://schemas.example/title" has no target in the schema'],
    ['another draft', object({ title }, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      'https://json-schema.org/draft/2020-12/schema']
  ]
  for (const [label, schema, says] of cases) {
    registrations.label = `${label}: `
    registrations.refused({ name, attributes: schema }, ATTRIBUTES, 'attributes of "posts"', says)
  }
  await registrations.check(t)
})

t.test('a nested name that XML cannot carry throws like a name at the top', async t => {
  const registrations = new Registrations()
  for (const illegal of ['first name', '1st', 'a:b', '', '?', '__proto__']) {
    const inner = JSON.parse(
      `{"type":"object","properties":{${JSON.stringify(illegal)}:{"type":"string"}}}`) as Mistaken
    for (const schema of [{ author: inner }, { authors: { type: 'array', items: inner } },
      { author: { anyOf: [inner, { type: 'null' }] } }, { author: { $ref: '#/properties/other' }, other: inner }]) {
      registrations.refused({ name, attributes: { type: 'object', properties: schema } }, ATTRIBUTES,
        'is not a valid name in XML')
    }
  }
  await registrations.check(t)
})

t.test('a property that is no schema, or that no value fits, throws', async t => {
  const registrations = new Registrations()
  for (const schema of ['string', null, 5, [], false]) {
    registrations.refused({ name, attributes: { type: 'object', properties: { title: schema } } }, ATTRIBUTES, 'title')
  }
  registrations.refused({ name, attributes: { type: 'object', properties: {}, definitions: { t: { type: 'sting' } } } },
    ATTRIBUTES, "the schema has the type 'sting', which is not one of ", 'did you mean "string"?')
  await registrations.check(t)
})

t.test('the same holds inside an attribute', async t => {
  const level = { type: 'string', pattern: '^x', default: 'bad' }
  const registrations = new Registrations()
  for (const [schema, path] of [
    [{ type: 'object', properties: { level } }, 'it.level'],
    [{ type: 'object', properties: { 'a.b-c': { type: 'object', properties: { level } } } }, 'it.a.b-c.level'],
    [{ type: 'array', items: { type: 'object', properties: { level } } }, 'it.level'],
    [{ allOf: [{ type: 'object', properties: { level } }] }, 'it.level'],
    [{ type: 'object', patternProperties: { '^[p~/% ]': { type: 'object', properties: { level } } } }, 'it.level'],
    [{ type: 'object', properties: { many: { type: ['integer', 'null'], default: 'x' } } }, 'it.many']
  ] as const) {
    registrations.refused({ name, attributes: { type: 'object', properties: { it: schema } } }, ATTRIBUTES,
      path, 'does not fit')
  }
  await registrations.check(t)
  const app = await build(t, {
    name,
    attributes: {
      type: 'object',
      properties: {
        it: {
          type: 'object',
          properties: { level: { type: 'string', default: 'set' }, kind: { enum: [{ properties: { level } }] } }
        }
      }
    }
  })
  t.strictSame((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { it: {} } } })).json(),
    { post: { id: 1, it: { level: 'set' } } })
})

t.test('a default that does not fit its own schema throws at registration', async t => {
  const registrations = new Registrations()
  for (const schema of [{ type: 'string', default: 5 }, { type: 'string', maxLength: 2, default: 'abc' },
    { type: 'integer', default: null }, { enum: ['a'], default: 'b' }]) {
    registrations.refused({ name, attributes: { type: 'object', properties: { title: schema } } }, ATTRIBUTES, 'title',
      'default')
  }
  await registrations.check(t)
})

t.test('an unusable format throws at registration', async t => {
  const registrations = new Registrations()
  for (const type of ['text/csv;header=present', 'text/*', '*/*', 'a/b/c', 'text/csv,text/plain', 'text/"csv"',
    'text/(csv)']) {
    registrations.refused({ name, formats: [{ ...csv, mediaTypes: [type] }] }, INVALID, 'mediaTypes')
  }
  registrations.refused({ name, formats: ['json', { ...csv, mediaTypes: ['application/json'] }] }, INVALID,
    'application/json')
  registrations.refused({
    name, formats: ['json', { ...csv, mediaTypes: ['application/json'], compileReader: () => ({}) }]
  }, INVALID, 'application/json')
  registrations.refused({ name, formats: [{ ...csv, compileReader: 5 }] }, INVALID, 'compileReader')
  registrations.refused({ name, formats: [{ ...csv, compileRader: () => ({}) }] }, INVALID,
    'has "csv" with "compileRader", which is not a member of a format; did you mean "compileReader"?')
  registrations.accepted({ name, formats: [{ ...csv, delimiter: ';' }] }, 'a format may have members of its own')
  const { list, record, problem } = csv.compileWriter()
  for (const writer of [undefined, null, {}, { record, problem }, { list, problem }, { list, record },
    { list: { open: '' }, record, problem }]) {
    registrations.refused({ name, formats: [{ ...csv, compileWriter: () => writer }] }, INVALID, 'csv')
  }
  await registrations.check(t)
})
