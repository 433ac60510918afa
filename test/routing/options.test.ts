import { Type } from '@sinclair/typebox'
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Attributes, type AttributesSchema, draw, DuplicateError, type Format, memoryStore, type Problem, type
  ResourceOptions, type Store, type Row, type View, type Writer
} from '../../lib/index.js'
import { xmlSchema } from '../../lib/xsd/index.js'
import { type Browser, decode, defaultButton, entriesOf, fill, findForm, type Form, parseForms, refused, send as sendForm, shown, submit } from '../support/html/forms.js'
import { build, types, xml } from '../support/helper.js'
import { resettableStore } from '../support/stores/resettable-store.js'
import { plainTag } from '../support/plain-tag.js'

const form = 'application/x-www-form-urlencoded'
const name = 'posts'
const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 }, rating: { type: 'integer' } } } as const

/** Options that a caller without TypeScript may write. */
type Mistaken = Record<string, unknown>

async function register (options: Mistaken): Promise<void> {
  const app = fastify()
  app.register(resources, options as unknown as ResourceOptions)
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

/** Checks what registering throws: `undefined` if it throws nothing. */
type Check = (t: Test, error: Error | undefined) => void

/**
 * Options that must be refused or accepted. `check` registers them in one app, each in a scope of its own, because making
 * an app costs far more.
 */
class Registrations {
  /** Begins the messages of all assertions that are added next. */
  label = ''
  readonly #declared: Array<[options: Mistaken, check: Check]> = []

  add (options: Mistaken, check: Check): void {
    this.#declared.push([options, check])
  }

  accepted (options: Mistaken, label = JSON.stringify(options)): void {
    this.add(options, (t, error) => { t.equal(error, undefined, label) })
  }

  refused (options: Mistaken, code: string, ...says: ReadonlyArray<string | RegExp>): void {
    const label = this.label + JSON.stringify(options, (_key, value: unknown) => typeof value === 'function' ? 'a function' : typeof value === 'number' && !Number.isFinite(value) ? String(value) : value)
    this.add(options, (t, error) => {
      if (error === undefined) {
        t.fail(`${label} is accepted`)
        return
      }
      t.type(error, TypeError)
      t.equal((error as { code?: string }).code, code, label)
      for (const part of says) t.match(error.message, part, label)
    })
  }

  async check (t: Test): Promise<void> {
    const app = fastify()
    t.teardown(() => app.close())
    const errors: Array<Error | undefined> = []
    for (const [index, [options]] of this.#declared.entries()) {
      app.register(async (scope) => {
        scope.register(resources, options as unknown as ResourceOptions).after((error) => { errors[index] = error ?? undefined })
      }, { prefix: `/${index}` })
    }
    await app.ready()
    for (const [index, [, check]] of this.#declared.entries()) check(t, errors[index])
  }
}

/** Registers options that must be refused. */
async function isRefused (t: Test, options: Mistaken, code: string, ...says: ReadonlyArray<string | RegExp>): Promise<void> {
  const registrations = new Registrations()
  registrations.refused(options, code, ...says)
  await registrations.check(t)
}

function send (method: 'POST' | 'PUT' | 'DELETE', url: string, type: string, payload: string): InjectOptions {
  return { method, url, headers: { 'content-type': type }, payload }
}

const INVALID = 'FST_RESOURCES_INVALID_OPTION'
const UNKNOWN = 'FST_RESOURCES_UNKNOWN_OPTION'
const ATTRIBUTES = 'FST_RESOURCES_INVALID_ATTRIBUTES'
const { list, get, create, update, delete: remove } = memoryStore()
const csv = { name: 'csv', mediaTypes: ['text/csv'], compileWriter: () => ({ record: () => '', problem: () => '', list: { open: '', row: () => '', separator: '', close: '' } }) }

t.test('an invalid value of an option throws at registration, with the cure', async t => {
  const cases: [option: string, values: unknown[], says: RegExp][] = [
    ['name', [undefined, null, '', 5, true, {}, [], '1posts', 'my posts', 'posts/x', '/posts', 'posts.xml', ':id', '*', 'p?', 'pösts', '-posts', 'posts\n'], /must be a name such as 'posts' \(letters, digits, "_" and "-", no digit first\), not /],
    ['name', ['id', '_method', '_version', 'commit'], /must not be "\w+", which has another meaning in payloads; set "singular" to another name/],
    ['name', ['__proto__'], /must not be "__proto__", which is not a valid name in all formats; set "singular" to another name/],
    ['singular', ['__proto__'], /must not be "__proto__"/],
    ['prefix', ['/..', '/.', '..', '/a/../b', '/./a', '/v1//', '//', '//v1', '/a//b'], /must be a path such as '\/blog', without "\." or "\.\." as a segment and without "\/\/"/],
    ['prefix', ['/:__suffix', '/a/:__suffix(^a$)/b'], /must not have a parameter called "__suffix", which is a reserved name/],
    ['prefix', ['/\ud800'], /must not contain an unpaired surrogate/],
    ['param', ['__suffix'], /must not name a parameter "__suffix"/],
    ['singular', ['', 5, false, {}, '1post', 'a post', 'a/b', 'a:b'], /must be a name such as 'posts'/],
    ['singular', ['id', '_method', '_version', 'commit'], /set "singular" to another name/],
    ['attributes', [null, 5, 'title', true], /must be a JSON Schema { type: 'object', properties: { … } }/],
    ['store', [null, 5, 'memory', {}, memoryStore], /must have the methods of a store; missing: list, get, create, update, delete\.$/],
    ['store', [{ get, create, update, delete: remove }, { list: [], get, create, update, delete: remove }], /missing: list\.$/],
    ['store', [{ list, create, update, delete: remove }], /missing: get\.$/],
    ['store', [{ list, get, update, delete: remove }], /missing: create\.$/],
    ['store', [{ list, get, create, delete: remove }, { list, get, create, update: null, delete: remove }], /missing: update\.$/],
    ['store', [{ list, get, create, update }], /missing: delete\.$/],
    ['store', [{ list, update }], /missing: get, create, delete\.$/],
    ['id', ['int', 'UUID', '', 5, true, {}, ['uuid']], /must be 'integer', 'uuid' or 'string', not /],
    ['formats', [[], 'xml', 5, {}, true], /must be a list such as \['xml', 'html', 'json'\]/],
    ['formats', [['tsv'], ['xml', 'yaml'], ['form'], ['XML'], ['']], /is not one of xml, html, json, csv/],
    ['formats', [['xm'], ['xnl']], /did you mean "xml"\?/],
    ['formats', [['jsn'], ['json5'], ['Json']], /did you mean "json"\?/],
    ['formats', [['xml', 'xml'], ['xml', 'html', 'xml']], /has "xml" twice/],
    ['formats', [[csv, csv], ['json', csv, csv], ['csv', csv], ['csv', 'csv']], /has "csv" twice/],
    ['formats', [[{ ...csv, name: 'xml' }, 'xml']], /has "xml" twice/],
    ['formats', [[null], [undefined], [5], [{}], [[]], [{ ...csv, name: undefined }], [{ ...csv, name: '' }], [{ ...csv, name: 'CSV' }], [{ ...csv, name: 'c s v' }], [{ ...csv, name: 'c.v' }], [{ ...csv, name: 5 }]], /has a format whose "name" is not made of small letters and digits/],
    ['formats', [undefined, [], 'text/csv', {}, [''], ['csv'], ['text/CSV'], ['text/'], ['/csv'], ['text csv'], ['text/csv '], [5], [null], ['text/csv', 'csv']].map((mediaTypes) => [{ ...csv, mediaTypes }]), /has "csv", whose "mediaTypes" must be a list such as \['text\/csv'\], in small letters/],
    ['formats', [undefined, null, 'text', {}].map((compileWriter) => [{ ...csv, compileWriter }]), /has "csv", which has no function "compileWriter"/],
    ['formats', ['', 'header', '=present', 'a=b;c=d', 'a=b; ', '; a=b', 'a="b"', 'a=b, c=d', 'a=b\r\nx: y', 5, null, {}].map((mediaTypeParameters) => [{ ...csv, mediaTypeParameters }]), /has "csv", whose "mediaTypeParameters" must be a text such as 'header=present'/],
    ['writes', ['members', 'all', 'Both', '', true, 5, [], {}], /must be 'collection', 'member' or 'both', not /],
    ['trustedOrigins', ['https://a.example', {}, 5, true, new Set(['https://a.example'])], /must be a list of origins such as \['https:\/\/app\.example\.com'\]/],
    ['trustedOrigins', ['a.example', '//a.example', '', '*', 'null', 'https://a.example/', 'https://a.example/x', 'https://a.example?', 'https://A.example', 'HTTPS://a.example', 'https://a.example:443', 'http://a.example:80', 'https://u@a.example', 'file:///x', 'moz-extension://a', 'https://a.example ', 5, null, undefined, {}].map((origin) => [origin]), /which is not an origin such as 'https:\/\/app\.example\.com': scheme and host in small letters, no path/],
    ['requireMatch', ['true', '', 0, 1, {}, []], /must be true or false, not /],
    ['csv.escapeFormulas', ['true', '', 0, 1, {}, []], /must be true or false, not /],
    ['maxLimit', [0, -1, 1.5, NaN, Infinity, 2 ** 53, '10', true, [5], {}], /must be a number of rows of at least 1, not /],
    ['html.pageSize', [0, -1, 1.5, NaN, Infinity, 2 ** 53, '10', true, [5], {}], /must be a number of rows of at least 1, not /],
    ['sort', ['title', null, 5, true, {}, [5], [null], ['title', ['rating']]], /must be a list of attributes such as \['title'\]/],
    ['filter', ['title', null, 5, true, {}, [5], [null], ['title', ['rating']]], /must be a list of attributes such as \['title'\]/],
    ['html.pageSize', [1001, 5000], /must not be more than "maxLimit", which is 1000/],
    ['openapi', [null, true, 5, 'posts', []], /must be an object, not /],
    ['openapi', [{ tag: [] }, { tagz: [] }], /has "tag\w?", which is unknown; did you mean "tags"\?/],
    ['openapi', [{ operationId: 'x' }, { suffixes: true, x: 1 }], /has "\w+", which is unknown/],
    ['openapi', [{ tags: 'posts' }, { security: {} }, { parameters: {} }, { servers: '/' }], /has "\w+", which must be a list, not /],
    ['openapi', [{ responses: [] }, { externalDocs: 'x' }, { responses: null }], /has "\w+", which must be an object, not /],
    ['openapi', [{ suffixes: 1 }, { deprecated: 'true' }], /has "\w+", which must be a boolean, not /]
  ]
  const registrations = new Registrations()
  for (const [option, values, says] of cases) {
    const [format = '', member] = option.split('.')
    for (const value of values) registrations.refused({ name, ...(format === 'csv' && { formats: ['csv'] }), [format]: member === undefined ? value : { [member]: value } }, INVALID, `Option "${option}" of `, says)
  }
  await registrations.check(t)
})

t.test('an error about an option names the resource, the found value and the allowed values', async t => {
  const registrations = new Registrations()
  const says = (options: unknown, message: string): void => {
    registrations.add(options as Mistaken, (t, error) => { t.equal(error?.message, message) })
  }
  says({ name, writes: 'all' }, 'Option "writes" of resource "posts" must be \'collection\', \'member\' or \'both\', not \'all\'.')
  says({ name, writs: 'both' }, 'There is no option "writs" of resource "posts"; did you mean "writes"?')
  says({ name, requireMatch: 1 }, 'Option "requireMatch" of resource "posts" must be true or false, not 1.')
  says({ name, html: { columns: ['titel'] }, attributes }, 'Option "html.columns" of resource "posts" names "titel", which is not among the attributes declared; did you mean "title"?')
  says({ name, prefix: 5 }, 'Option "prefix" of resource "posts" must be a path such as \'/blog\', not 5.')
  says({}, 'Option "name" of a resource must be a name such as \'posts\' (letters, digits, "_" and "-", no digit first), not undefined.')
  for (const wrong of ['schema', 'properties', 'fields']) {
    says({ name, [wrong]: attributes }, `There is no option "${wrong}" of resource "posts"; the schema of the attributes is the option "attributes".`)
  }
  const object = "Option \"name\" must be in an object of options, as in app.register(resources, { name: 'posts' }), not in "
  says('posts', `${object}'posts'.`)
  says(['posts'], `${object}posts.`)
  says(7, `${object}7.`)
  says(undefined, 'Option "name" of a resource must be a name such as \'posts\' (letters, digits, "_" and "-", no digit first), not undefined.')
  await registrations.check(t)
  t.throws(() => xmlSchema({ name, id: 'int' } as never), { message: 'Option "id" of resource "posts" must be \'integer\', \'uuid\' or \'string\', not \'int\'.' })
})

t.test('an error about an option of a nested resource names that resource', async t => {
  for (const [options, message] of [
    [{ writes: 'all' }, 'Option "writes" of resource "comments" must be \'collection\', \'member\' or \'both\', not \'all\'.'],
    [{ only: ['index'] }, 'Option "only" of resource "comments" names \'index\', which is not one of list, show, create, update, delete, new, edit.'],
    [{ store: { ...memoryStore(), prepare () { throw new TypeError('no table') } } }, 'no table'],
    [{ as: 'url' }, 'Option "as" of resource "comments" must not be "url", because app.paths.url makes absolute URLs.']
  ] as const) {
    const app = fastify()
    app.register(draw((map) => 'as' in options ? map.resources('comments', options as object) : map.resources('posts', {}, (posts) => posts.resources('comments', options as object))))
    await t.rejects(async () => { await app.ready() }, { message })
    await app.close()
  }
})

t.test('contradicting options throw', async t => {
  const cases: [options: Mistaken, option: string, says: RegExp][] = [
    [{ id: 'integer', store: memoryStore({ id: 'uuid' }) }, 'id', /is 'integer', but the store makes 'uuid' ids; leave it out, or give the store the same "id"/],
    [{ id: 'uuid', store: memoryStore() }, 'id', /is 'uuid', but the store makes 'integer' ids; leave it out/],
    [{ store: { ...memoryStore(), id: 'snowflake' } }, 'id', /must be 'integer', 'uuid' or 'string', not 'snowflake'/],
    [{ store: { ...memoryStore(), id: 'UUID' } }, 'id', /must be 'integer', 'uuid' or 'string', not 'UUID'/],
    [{ maxLimit: 10, html: { pageSize: 11 } }, 'html.pageSize', /must not be more than "maxLimit", which is 10/],
    [{ name: 'ids' }, 'singular', /must not be "id", .*set "singular" to another name/],
    [{ name: 'commits' }, 'singular', /must not be "commit", .*set "singular" to another name/]
  ]
  const registrations = new Registrations()
  for (const [options, option, says] of cases) registrations.refused({ name, ...options }, INVALID, `Option "${option}" of `, says)
  await registrations.check(t)
})

t.test('an unknown option throws, with the nearest known one', async t => {
  const cases: [option: string, meant: string | undefined][] = [
    ['atributes', 'attributes'], ['attribute', 'attributes'], ['Name', 'name'], ['nmae', 'name'], ['singlar', 'singular'], ['format', 'formats'], ['write', 'writes'],
    ['trustedOrigin', 'trustedOrigins'], ['requireMatches', 'requireMatch'], ['maxlimit', 'maxLimit'], ['max_limit', 'maxLimit'], ['prefx', 'prefix'], ['loglevel', 'logLevel'],
    ['onRequest', undefined], ['plural', undefined], ['constructor', 'constraints'], ['x'.repeat(1000), undefined]
  ]
  const registrations = new Registrations()
  for (const [option, meant] of cases) {
    registrations.refused({ name, [option]: 'x' }, UNKNOWN, `There is no option "${option}" of resource "posts"`, meant === undefined ? /"\.$/ : `; did you mean "${meant}"?`)
  }
  await registrations.check(t)
})

t.test('each valid value of an option is accepted', async t => {
  const registrations = new Registrations()
  const cases: [option: keyof ResourceOptions, values: unknown[]][] = [
    ['name', ['posts', 'Posts', 'blog-posts', 'blog_posts', '_posts', 'p1', 'sheep', 'x', 'constructor', 'errors', 's']],
    ['singular', ['post', 'entry', 'posts', 'blog-post', 'Post']],
    ['attributes', [{ type: 'object', properties: {} }]],
    ['store', [memoryStore(), memoryStore({ id: 'uuid' }), memoryStore({ unique: ['title'] }), { list, get, create, update, delete: remove }]],
    ['id', ['integer', 'uuid']],
    ['formats', [['xml'], ['html'], ['json'], ['json', 'xml'], ['html', 'json', 'xml'], [csv], ['json', csv], ['xml', 'html', 'json', 'csv'], [{ ...csv, mediaTypeParameters: 'header=present; profile=x' }], Object.freeze(['json'])]],
    ['writes', ['collection', 'member', 'both']],
    ['trustedOrigins', [[], ['https://app.example.com'], ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080', 'https://xn--bcher-kva.example']]],
    ['requireMatch', [true, false]],
    ['maxLimit', [1, 10, 1000, 1_000_000, Number.MAX_SAFE_INTEGER]],
    ['html', [{}, { pageSize: 1 }, { pageSize: 50 }, { pageSize: 1000 }]],
    ['sort', [[], Object.freeze([])]],
    ['filter', [[], Object.freeze([])]],
    ['prefix', ['', '/', '/blog', 'blog/', '/a/b', '/.a/b..']],
    ['openapi', [false, {}, { suffixes: true }, Object.freeze({ tags: ['x'], security: [], parameters: [], responses: {}, servers: [], externalDocs: {}, deprecated: true })]]
  ]
  for (const [option, values] of cases) {
    for (const value of values) registrations.accepted({ name, [option]: value }, `${option}: ${JSON.stringify(value)}`)
  }
  for (const csv of [{}, { escapeFormulas: true }, { escapeFormulas: false }]) registrations.accepted({ name, formats: ['json', 'csv'], csv })
  registrations.accepted({ name, maxLimit: 5 }, 'the default pageSize adapts to maxLimit')
  registrations.accepted({ name, id: 'uuid', store: memoryStore({ id: 'uuid' }) })
  registrations.accepted({ name, singular: undefined, attributes: undefined, store: undefined, id: undefined, formats: undefined, writes: undefined, trustedOrigins: undefined, requireMatch: undefined, maxLimit: undefined, html: { pageSize: undefined }, sort: undefined, filter: undefined, openapi: undefined, prefix: undefined }, 'undefined means the default')
  await registrations.check(t)
})

t.test('an attribute that cannot be sorted or filtered by throws, with the cure', async t => {
  const registrations = new Registrations()
  const text = { type: 'string' }
  const declared = { type: 'object', properties: { title: text, rating: { type: ['integer', 'null'] }, tags: { type: 'array', items: text }, author: { type: 'object', properties: {} }, any: {}, mixed: { type: ['string', 'boolean'] }, nothing: { type: 'null' }, secret: { type: 'string', writeOnly: true }, format: text, limit: text, after: text, sort: text } }
  const { capabilities, ...plain } = memoryStore()
  for (const option of ['sort', 'filter'] as const) {
    const refused = (names: string[], says: string, options: Mistaken = {}): void => { registrations.refused({ name, attributes: declared, [option]: names, ...options }, INVALID, `Option "${option}" of resource "posts" names "${names.at(-1)}", which ${says}`) }
    refused(['title', 'titel'], 'is not among the attributes declared; did you mean "title"?')
    refused(['xxxxxxxxx'], 'is not among the attributes declared')
    refused(['constructor'], 'is not among the attributes declared')
    refused(['secre'], 'is not among the attributes declared')
    refused(['id'], 'is not among the attributes declared')
    refused(['title'], 'is not among the attributes declared', { attributes: undefined })
    for (const attribute of ['tags', 'author', 'any', 'mixed', 'nothing']) refused(['rating', attribute], 'must be a string, an integer, a number or a boolean, or one of them and null')
    refused(['secret'], 'is writeOnly: its values would be revealed')
    for (const attribute of ['format', 'limit', 'after', 'sort']) registrations.accepted({ name, attributes: declared, [option]: [attribute] })
    const capability = option === 'sort' ? 'order' : 'filter'
    for (const store of [plain, { ...plain, capabilities: {} }, { ...plain, capabilities: { ...capabilities, [capability]: false } }, { ...plain, capabilities: { ...capabilities, [capability]: 'yes' } }]) {
      registrations.refused({ name, attributes: declared, store, [option]: ['title'] }, INVALID, `Option "${option}" of resource "posts" names attributes, but the store cannot`, `it does not declare "capabilities.${capability}"`)
      registrations.accepted({ name, attributes: declared, store, [option]: [] })
      registrations.accepted({ name, attributes: declared, store })
    }
    registrations.accepted({ name, attributes: declared, [option]: ['title', 'rating'] })
    registrations.accepted({ name, store: { ...memoryStore(), attributes: declared }, [option]: ['title'] }, 'one of the store\'s attributes')
  }
  await registrations.check(t)
})

t.test('a resource has the attributes of its store, or some of them', async t => {
  const store = { ...memoryStore(), attributes }
  const app = await build(t, { name, store })
  t.match((await app.inject(send('POST', '/posts', 'application/json', '{"post":{"titel":"T"}}'))).json(), { errors: { titel: ['is unknown; did you mean "title"?'], title: ['must be given'] } })
  t.equal((await app.inject(send('POST', '/posts', 'application/json', '{"post":{"title":"T"}}'))).statusCode, 201)
  const title = { type: 'string' }
  const registrations = new Registrations()
  for (const properties of [{}, { title }, { title, rating: { type: 'integer', maximum: 5 } }]) registrations.accepted({ name, store, attributes: { type: 'object', properties } })
  for (const [properties, says] of [[{ titel: title }, /declares "titel", which is not an attribute of the store; did you mean "title"\?/], [{ title, xxxxxxxx: title }, /declares "xxxxxxxx", which is not an attribute of the store\.$/], [{ constructor: title }, /declares "constructor", which is not an attribute of the store/]] as const) {
    registrations.refused({ name, store, attributes: { type: 'object', properties } }, INVALID, 'Option "attributes" of resource "posts"', says)
  }
  registrations.refused({ name, store, attributes: { type: 'object' } }, ATTRIBUTES, 'must be a JSON Schema')
  registrations.refused({ name, store: { ...store, attributes: 5 } }, INVALID, 'Option "attributes" of resource "posts"', 'must be a JSON Schema')
  await registrations.check(t)
})

t.test('a store is prepared before its first call, once for each resource', async t => {
  const calls: string[] = []
  const rows = memoryStore()
  const store: Store = { ...rows, async prepare () { await new Promise(setImmediate); calls.push('prepare') }, list (query) { calls.push('list'); return rows.list(query) } }
  const app = await build(t, { name, store }, { before: (app) => { app.register(resources, { name: 'notes', store }) } })
  t.strictSame(calls, ['prepare', 'prepare'])
  t.equal((await app.inject('/posts')).statusCode, 200)
  t.strictSame(calls, ['prepare', 'prepare', 'list'])
  for (const prepare of [() => { throw new Error('there is no such table') }, async () => { throw new Error('there is no such table') }]) {
    await t.rejects(register({ name, store: { ...rows, prepare } }), { message: 'there is no such table' })
  }
  let isPrepared = false
  await isRefused(t, { name, store: { ...rows, prepare: () => { isPrepared = true } }, attributes: { type: 'object', properties: { id: {} } } }, ATTRIBUTES)
  t.notOk(isPrepared, 'wrong options are reported first')
})

t.test('an unusable schema throws, with the cure', async t => {
  const registrations = new Registrations()
  const title = { type: 'string' }
  const object = (properties: Mistaken, rest: Mistaken = {}): Mistaken => ({ type: 'object', properties, ...rest })
  const cases: [name: string, schema: unknown, says: RegExp | string][] = [
    ['no type', { properties: { title } }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['another type', { type: 'array', items: title }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['object or null', { type: ['object', 'null'], properties: { title } }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['no properties', { type: 'object' }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['properties in a list', { type: 'object', properties: ['title'] }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['properties null', { type: 'object', properties: null }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['a list', [], "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['an empty object', {}, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['properties without the schema around', { title }, "must be a JSON Schema { type: 'object', properties: { … } }"],
    ['an attribute id', object({ id: { type: 'integer' } }), /"id" is not an attribute; leave it out/],
    ...['first name', '1st', 'a:b', '', '?', 'a<b', 'a"b', '-a', '.a', 'a\u0000', '\ud800', '__proto__', 'a[b]', '@a', '#text'].map((illegal): [string, unknown, string] =>
      [`an attribute ${JSON.stringify(illegal)}`, JSON.parse(`{"type":"object","properties":{${JSON.stringify(illegal)}:{"type":"string"}}}`), 'is not a valid name in XML; use letters, digits, "-", "_" and ".", and no digit first']),
    ['additionalProperties: true', object({ title }, { additionalProperties: true }), /"additionalProperties" can only be false.*leave it out, or leave out the whole schema/],
    ['additionalProperties with a schema', object({ title }, { additionalProperties: title }), /"additionalProperties" can only be false/],
    ['required of an unknown property', object({ title }, { required: ['title', 'titel'] }), '"required" names "titel", which is not among the properties'],
    ['required of a property of the prototype', object({ title }, { required: ['toString'] }), '"required" names "toString"'],
    ['required of the id', object({ title }, { required: ['id'] }), '"required" names "id"'],
    ['required that is no list', object({ title }, { required: 'title' }), /required must be array/],
    ['required as in draft 3', object({ title: { type: 'string', required: true } }), /title\/required must be array/],
    ...['allOf', 'anyOf', 'oneOf'].map((keyword): [string, unknown, string] => [`${keyword} at the top`, object({ title }, { [keyword]: [{ required: ['title'] }] }), `"${keyword}" has no effect beside "properties": an update checks only the attributes it is given; put it into a property, or leave it out`]),
    ...['not', 'if', 'then', 'else', 'minProperties', 'maxProperties', 'patternProperties', 'propertyNames', 'dependencies', 'dependentRequired', 'unevaluatedProperties', '$ref', 'enum', 'const', 'default', 'nullable', 'propertis'].map((keyword): [string, unknown, string] =>
      [`${keyword} at the top`, object({ title }, { [keyword]: {} }), `"${keyword}" has no effect beside "properties"`]),
    ['a keyword that is none', object({ title: { type: 'string', maxlength: 3 } }), /unknown keyword: "maxlength"/],
    ['a keyword that is none, inside', object({ author: object({ name: { type: 'string', maxlength: 3 } }) }), /unknown keyword: "maxlength"/],
    ['a keyword that is none, behind a reference', object({ title: { $ref: '#/$defs/t' } }, { $defs: { t: { type: 'string', maxlength: 3 } } }), /unknown keyword: "maxlength"/],
    ['a keyword with a wrong value', object({ title: { type: 'string', maxLength: '3' } }), /title\/maxLength must be integer/],
    ['a type that is none', object({ title: { type: 'text' } }), /"title" has the type 'text', which is not one of string, integer, number, boolean, null, array, object; did you mean "string"\?/],
    ['a type with a slip', object({ title: { type: 'sting' } }), /"title" has the type 'sting', .*did you mean "string"\?/],
    ['a type that is none, of the whole', object({ title }, { definitions: { t: { type: 'txt' } } }), /the schema has the type 'txt', which is not one of/],
    ['a member that is no schema', object({ author: object({ name: 'string' }) }), /must be a JSON Schema|must be object,boolean/],
    ['items that are no schema', object({ tags: { type: 'array', items: 'string' } }), /must be a JSON Schema|must be object,boolean/],
    ['an alternative that is no schema', object({ it: { anyOf: ['string', 'null'] } }), /must be a JSON Schema|must be object,boolean/],
    ['a type and a constant of another', object({ title: { type: 'string', const: 5 } }), 'the schema of "title" allows no value'],
    ['a type and choices of another', object({ title: { type: 'string', enum: [5, null] } }), 'the schema of "title" allows no value'],
    ['a type that is none, in a list', object({ title: { type: ['text', 'null'] } }), /"title" has the type 'text'/],
    ['a type that is no name', object({ title: { type: String } }), /"title" has the type function String/],
    ['a type that is none, inside', object({ tags: { type: 'array', items: { type: 'text' } } }), /"tags" has the type 'text'/],
    ['a format that is none', object({ mail: { type: 'string', format: 'emial' } }), /"mail" has the format 'emial', which is not one of binary, .*did you mean "email"\?/],
    ['a format that is none, inside', object({ author: object({ born: { type: 'string', format: 'datetime' } }) }), /"author\.born" has the format 'datetime', which is not one of .*date, date-time, .*did you mean "date-time"\?/],
    ['a pattern that is none', object({ title: { type: 'string', pattern: '(' } }), /the pattern '\(', which is not a regular expression/],
    ['an empty enum', object({ title: { enum: [] } }), /title\/enum must NOT have fewer than 1 items/],
    ['a tuple of no items', object({ tags: { type: 'array', items: [] } }), /tags\/items must NOT have fewer than 1 items/],
    ['a reference to nothing', object({ title: { $ref: '#/$defs/nothing' } }), 'the reference "#/$defs/nothing" has no target in the schema'],
    ['a reference to nothing, inside', object({ tags: { type: 'array', items: { $ref: '#/definitions/nothing' } } }), 'the reference "#/definitions/nothing" has no target in the schema'],
    ['a reference to no id', object({ title: { $ref: '#nothing' } }), 'the reference "#nothing" has no target in the schema'],
    ['a reference into the prototype', object({ title: { $ref: '#/constructor' } }), 'the reference "#/constructor" has no target in the schema'],
    ['a reference to elsewhere', object({ title: { $ref: 'https://schemas.example/title' } }), 'the reference "https://schemas.example/title" has no target in the schema'],
    ['a reference that is no text', object({ title: { $ref: 5 } }), /title\/\$ref must be string/],
    ['a reference that is its own target', object({ title: { $ref: '#/properties/title' } }), /./],
    ['another draft', object({ title }, { $schema: 'https://json-schema.org/draft/2020-12/schema' }), 'https://json-schema.org/draft/2020-12/schema']
  ]
  for (const [label, schema, says] of cases) {
    registrations.label = `${label}: `
    registrations.refused({ name, attributes: schema }, ATTRIBUTES, 'attributes of "posts"', says)
    registrations.refused({ name, attributes: schema, formats: ['json'] }, ATTRIBUTES, says)
  }
  await registrations.check(t)
})

t.test('a nested name that XML cannot carry throws like a name at the top', async t => {
  const registrations = new Registrations()
  for (const illegal of ['first name', '1st', 'a:b', '', '?', '__proto__']) {
    const inner = JSON.parse(`{"type":"object","properties":{${JSON.stringify(illegal)}:{"type":"string"}}}`) as Mistaken
    for (const schema of [{ author: inner }, { authors: { type: 'array', items: inner } }, { author: { anyOf: [inner, { type: 'null' }] } }, { author: { $ref: '#/properties/other' }, other: inner }]) {
      registrations.refused({ name, attributes: { type: 'object', properties: schema } }, ATTRIBUTES, 'is not a valid name in XML')
      registrations.refused({ name, attributes: { type: 'object', properties: schema }, formats: ['json'] }, ATTRIBUTES, 'is not a valid name in XML')
    }
  }
  await registrations.check(t)
})

t.test('a property that is no schema, or that no value fits, throws', async t => {
  const registrations = new Registrations()
  for (const schema of ['string', null, 5, [], false]) {
    registrations.refused({ name, attributes: { type: 'object', properties: { title: schema } } }, ATTRIBUTES, 'title')
  }
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
  ] as const) registrations.refused({ name, attributes: { type: 'object', properties: { it: schema } } }, ATTRIBUTES, path, 'does not fit')
  await registrations.check(t)
  const app = await build(t, { name, attributes: { type: 'object', properties: { it: { type: 'object', properties: { level: { type: 'string', default: 'set' }, kind: { enum: [{ properties: { level } }] } } } } } })
  t.strictSame((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { it: {} } } })).json(), { post: { id: 1, it: { level: 'set' } } })
})

t.test('extensions and annotations are not read as schemas', async t => {
  const extra = { 'x-ui': { required: true, items: 'abc', allOf: 5, dependencies: 'a', properties: { a: { type: 'string', default: 5 } } }, externalDocs: { url: 'x', required: 1, properties: null } }
  const properties = { text: { type: 'string', ...extra }, object: { type: 'object', properties: { n: { type: 'string', ...extra } }, ...extra }, list: { type: 'array', items: { type: 'string', ...extra }, ...extra } }
  const app = await build(t, { name, attributes: { type: 'object', properties, ...{ 'x-ui': extra['x-ui'] } } })
  t.equal((await app.inject({ method: 'POST', url: '/posts.json', payload: { post: {} } })).statusCode, 201)
})

t.test('a default that does not fit its own schema throws at registration', async t => {
  const registrations = new Registrations()
  for (const schema of [{ type: 'string', default: 5 }, { type: 'string', maxLength: 2, default: 'abc' }, { type: 'integer', default: null }, { enum: ['a'], default: 'b' }]) {
    registrations.refused({ name, attributes: { type: 'object', properties: { title: schema } } }, ATTRIBUTES, 'title', 'default')
  }
  await registrations.check(t)
})

t.test('an origin with a wildcard throws, because no browser sends one', async t => {
  const registrations = new Registrations()
  for (const origin of ['https://*.example.com', 'https://*']) registrations.refused({ name, trustedOrigins: [origin] }, INVALID, 'trustedOrigins', origin)
  await registrations.check(t)
})

t.test('an unusable format throws at registration', async t => {
  const registrations = new Registrations()
  for (const type of ['text/csv;header=present', 'text/*', '*/*', 'a/b/c', 'text/csv,text/plain', 'text/"csv"', 'text/(csv)']) {
    registrations.refused({ name, formats: [{ ...csv, mediaTypes: [type] }] }, INVALID, 'mediaTypes')
  }
  registrations.refused({ name, formats: ['json', { ...csv, mediaTypes: ['application/json'] }] }, INVALID, 'application/json')
  registrations.refused({ name, formats: ['json', { ...csv, mediaTypes: ['application/json'], compileReader: () => ({}) }] }, INVALID, 'application/json')
  registrations.refused({ name, formats: [{ ...csv, compileReader: 5 }] }, INVALID, 'compileReader')
  registrations.refused({ name, formats: [{ ...csv, compileRader: () => ({}) }] }, INVALID, 'has "csv" with "compileRader", which is not a member of a format; did you mean "compileReader"?')
  registrations.accepted({ name, formats: [{ ...csv, delimiter: ';' }] }, 'a format may have members of its own')
  const { list, record, problem } = csv.compileWriter()
  for (const writer of [undefined, null, {}, { record, problem }, { list, problem }, { list, record }, { list: { open: '' }, record, problem }]) {
    registrations.refused({ name, formats: [{ ...csv, compileWriter: () => writer }] }, INVALID, 'csv')
  }
  await registrations.check(t)
})

t.test('a TypeBox schema is accepted as it is', async t => {
  const Post = Type.Object({
    title: Type.String({ minLength: 1 }),
    body: Type.Optional(Type.String()),
    rating: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    state: Type.Optional(Type.Union([Type.Literal('draft'), Type.Literal('live')])),
    level: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2), Type.Null()])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    scores: Type.Optional(Type.Record(Type.String(), Type.Number())),
    at: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
    author: Type.Optional(Type.Object({ name: Type.String(), mail: Type.Optional(Type.String({ format: 'email' })) }))
  }, { $id: 'Post', title: 'A post' })
  const row = { title: 'T', rating: 3, state: 'live', level: 2, tags: ['a', 'b'], scores: { x: 1.5 }, at: null, author: { name: 'N' } }
  const document = '<title>T</title><rating type="integer">3</rating><state>live</state><level type="float">2</level><tags type="array"><tag>a</tag><tag>b</tag></tags><scores><x type="float">1.5</x></scores><at nil="true"/><author><name>N</name></author>'

  await t.test('each format reads and writes its values', async t => {
    const bodies: [type: string, payload: string][] = [
      ['application/json', JSON.stringify({ post: row })],
      ['application/xml', `<post>${document}</post>`],
      ['application/xml', '<post><title>T</title><rating>3</rating><state>live</state><level>2</level><tags><tag>a</tag><tag>b</tag></tags><scores><x>1.5</x></scores><at/><author><name>N</name></author></post>'],
      [form, 'post[title]=T&post[rating]=3&post[state]=live&post[level]=2&post[tags][]=a&post[tags][]=b&post[scores][x]=1.5&post[at][?]=null&post[author][name]=N']
    ]
    const store = resettableStore(memoryStore)
    const app = await build(t, { name, attributes: Post, store })
    for (const [type, payload] of bodies) {
      store.reset()
      const res = await app.inject(send('POST', '/posts.json', type, payload))
      t.strictSame([res.statusCode, res.json()], [201, { post: { id: 1, ...row } }], type)
      t.equal((await app.inject('/posts/1')).body, `${xml}<post><id type="integer">1</id>${document}</post>`)
      t.equal(shown(findForm(await app.inject('/posts/1.html'), 'PUT'), 'post[state]'), 'live')
    }
  })

  await t.test('an invalid value is reported', async t => {
    const app = await build(t, { name, attributes: Post })
    const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { rating: 'x', tags: ['a', 5], scores: { a: 'b' }, author: { mail: 'x', nmae: 'N' }, at: 'now' } })))
    t.equal(res.statusCode, 422)
    t.match(res.json<Problem>().errors, {
      title: ['must be given'],
      rating: ['must be an integer or null'],
      'tags.1': ['must be a string'],
      'scores.a': ['must be a number'],
      'author.nmae': ['is unknown; did you mean "name"?']
    })
    for (const attribute of Object.keys(Post.properties)) {
      const wrong = await app.inject({ method: 'PUT', url: '/posts.json', payload: { id: 1, post: { [attribute]: true } } })
      t.equal(wrong.statusCode, 422, attribute)
      t.strictSame(Object.keys(wrong.json<Problem>().errors ?? {}), [attribute])
    }
  })

  await t.test('a union of literals is reported as one of them', async t => {
    const app = await build(t, { name, attributes: Post })
    const res = await app.inject(send('POST', '/posts.json', 'application/json', '{"post":{"title":"T","state":"gone"}}'))
    t.strictSame(res.json<Problem>().errors, { state: ['must be one of "draft", "live"'] })
  })

  await t.test('a recursive schema works', async t => {
    const Tree = Type.Object({ tree: Type.Recursive((This) => Type.Object({ name: Type.String(), children: Type.Array(This) }), { $id: 'Node' }) })
    const app = await build(t, { name: 'woods', attributes: Tree })
    const tree = { name: 'a', children: [{ name: 'b', children: [] }, { name: 'c', children: [{ name: 'd', children: [] }] }] }
    const res = await app.inject(send('POST', '/woods.json', 'application/json', JSON.stringify({ wood: { tree } })))
    t.strictSame([res.statusCode, res.json()], [201, { wood: { id: 1, tree } }])
    t.equal((await app.inject(send('POST', '/woods.json', 'application/json', '{"wood":{"tree":{"name":"a","children":[{"nmae":"b"}]}}}'))).statusCode, 422)
  })

  await t.test('a schema that exists only in TypeScript throws', async t => {
    const registrations = new Registrations()
    for (const type of [Type.Date(), Type.Undefined(), Type.BigInt(), Type.Function([], Type.String())]) {
      registrations.refused({ name, attributes: Type.Object({ title: type }) }, ATTRIBUTES, 'title')
    }
    await registrations.check(t)
  })

  await t.test('alternatives may share a part', async t => {
    const author = Type.Object({ name: Type.String(), born: Type.Integer() })
    const app = await build(t, { name, attributes: Type.Object({ it: Type.Union([Type.Object({ author, page: Type.Integer() }), Type.Object({ author, url: Type.String() })]) }) })
    for (const part of ['<page>5</page>', '<url>x</url>']) {
      const res = await app.inject(send('POST', '/posts', 'application/xml', `<post><it><author><name>N</name><born>1900</born></author>${part}</it></post>`))
      t.equal(res.statusCode, 201, res.body)
      t.match(res.body, '<it><author><name>N</name><born type="integer">1900</born></author>')
    }
    t.equal((await app.inject(send('POST', '/posts', 'application/xml', '<post><it><author><name>N</name><born>x</born></author><url>x</url></it></post>'))).statusCode, 422)
  })

  await t.test('intersections, enumerations and undeclared names work', async t => {
    const app = await build(t, {
      name,
      attributes: Type.Object({
        both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
        choice: Type.Enum({ A: 'a', B: 'b' }),
        anything: Type.Optional(Type.Any()),
        unknown: Type.Optional(Type.Unknown()),
        nothing: Type.Optional(Type.Null()),
        seen: Type.Readonly(Type.Optional(Type.Boolean()))
      }, { additionalProperties: false })
    })
    const row = { both: { a: '5', b: 5 }, choice: 'b', anything: { deep: [1] }, unknown: 'x', nothing: null, seen: true }
    const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: row })))
    t.equal(res.statusCode, 201)
    t.same(res.json(), { post: { id: 1, ...row } })
    const asXml = await app.inject(send('POST', '/posts.json', 'application/xml', '<post><both><a>5</a><b>5</b></both><choice>b</choice></post>'))
    t.same(asXml.json(), { post: { id: 2, both: { a: '5', b: 5 }, choice: 'b' } })
  })
})

t.test('references may point into the schema itself', async t => {
  for (const place of ['$defs', 'definitions'] as const) {
    await t.test(place, async t => {
      const schema = {
        type: 'object',
        required: ['stars'],
        properties: {
          stars: { $ref: `#/${place}/stars` },
          all: { type: 'array', items: { $ref: `#/${place}/stars` } },
          author: { $ref: `#/${place}/a~1person` },
          tree: { $ref: `#/${place}/node` },
          same: { $ref: '#/properties/stars' }
        },
        [place]: {
          stars: { type: 'integer', maximum: 5 },
          'a/person': { type: 'object', required: ['name'], properties: { name: { type: 'string' }, born: { $ref: `#/${place}/year` } } },
          year: { type: ['integer', 'null'] },
          node: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: `#/${place}/node` } } } }
        }
      } as const
      const row = { stars: 5, all: [1, 2], author: { name: 'N', born: null }, tree: { name: 'a', children: [{ name: 'b' }] }, same: 4 }
      const document = '<post><stars>5</stars><all><one>1</one><one>2</one></all><author><name>N</name><born/></author><tree><name>a</name><children><child><name>b</name></child></children></tree><same>4</same></post>'
      const app = await build(t, { name, attributes: schema })
      for (const [type, payload] of [['application/json', JSON.stringify({ post: row })], ['application/xml', document]] as const) {
        const res = await app.inject(send('POST', '/posts.json', type, payload))
        t.equal(res.statusCode, 201, res.body)
        t.match(res.json(), { post: row })
      }
      const { body } = await app.inject('/posts/1.xml')
      t.match(body, '<stars type="integer">5</stars>')
      t.equal((await app.inject(send('PUT', '/posts.json?id=2', 'application/xml', body.replace('<id type="integer">1</id>', '')))).statusCode, 200, 'a written value can be read')
      const wrong = await app.inject(send('POST', '/posts.json', 'application/json', '{"post":{"stars":6,"all":["1"],"author":{"born":"x"},"tree":{"children":[{"name":5}]},"same":7}}'))
      t.strictSame(wrong.json<Problem>().errors, {
        stars: ['must be at most 5'],
        'all.0': ['must be an integer'],
        'author.name': ['must be given'],
        'author.born': ['must be an integer or null'],
        'tree.children.0.name': ['must be a string'],
        same: ['must be at most 5']
      })
    })
  }
})

t.test('a reference may name the $id of a part of the schema', async t => {
  for (const $id of ['#stars', 'https://schemas.example/stars']) {
    const app = await build(t, { name, attributes: { type: 'object', properties: { stars: { $ref: $id } }, definitions: { stars: { $id, type: 'integer' } } } })
    for (const [type, payload] of [['application/json', '{"post":{"stars":5}}'], ['application/xml', '<post><stars>5</stars></post>'], ['application/x-www-form-urlencoded', 'post[stars]=5']] as const) {
      t.match((await app.inject(send('POST', '/posts.json', type, payload))).json(), { post: { stars: 5 } }, `${$id} ${type}`)
    }
  }
})

t.test('a reference means the same in each format, with an $id anywhere', async t => {
  const integer = { type: 'integer' } as const
  const text = { type: 'string' } as const
  const definitions = { a: integer }
  const cases: ReadonlyArray<readonly [what: string, schema: object, isInner?: boolean]> = [
    ['an $id beside the reference', { properties: { it: { $id: 'x', $ref: '#/definitions/a' } }, definitions }],
    [
      'an $id beside the reference and definitions of its own',
      { properties: { it: { $id: 'x', $ref: '#/definitions/a', definitions: { a: text } } }, definitions }
    ],
    ['an absolute $id beside it', { properties: { it: { $id: 'https://s.example/it', $ref: '#/definitions/a' } }, definitions }],
    ['a name beside it', { properties: { it: { $id: '#it', $ref: '#/definitions/a' } }, definitions }],
    ['other keywords beside it', { properties: { it: { $ref: '#/definitions/a', minimum: 1 } }, definitions }],
    ['the $id of the whole', { $id: 'Whole', properties: { it: { $ref: 'Whole#/definitions/a' } }, definitions }],
    [
      'a relative $id',
      { $id: 'https://s.example/root', properties: { it: { $ref: 'sub/a' } }, definitions: { a: { $id: 'sub/a', ...integer } } }
    ],
    [
      'an absolute reference to a relative $id inside another one',
      {
        properties: { it: { $ref: 'https://s.example/sub/n' } },
        definitions: { a: { $id: 'https://s.example/sub/a', definitions: { n: { $id: 'n', ...integer } } } }
      }
    ],
    [
      'a pointer inside a part with an $id',
      {
        properties: {
          it: { $id: 'x', type: 'object', properties: { in: { $ref: '#/definitions/a' } }, definitions: { a: integer } }
        },
        definitions: { a: text }
      },
      true
    ],
    [
      'a name inside a part with an $id',
      {
        properties: { it: { $ref: 'https://s.example/b#n' } },
        definitions: { n: { $id: '#n', ...text }, b: { $id: 'https://s.example/b', definitions: { c: { $id: '#n', ...integer } } } }
      }
    ]
  ]
  for (const [what, schema, isInner = false] of cases) {
    const app = await build(t, { name, attributes: { type: 'object', ...schema } as never })
    const bodies = [
      ['application/json', (value: unknown) => JSON.stringify({ post: { it: isInner ? { in: value } : value } })],
      ['application/xml', (value: unknown) => `<post><it>${isInner ? `<in>${String(value)}</in>` : String(value)}</it></post>`],
      ['application/x-www-form-urlencoded', (value: unknown) => `post[it]${isInner ? '[in]' : ''}=${String(value)}`]
    ] as const
    for (const [type, write] of bodies) {
      const res = await app.inject(send('POST', '/posts.json', type, write(5)))
      t.match([res.statusCode, res.json()], [201, { post: { it: isInner ? { in: 5 } : 5 } }], `${what} ${type}`)
      t.equal((await app.inject(send('POST', '/posts.json', type, write('x')))).statusCode, 422, `${what} ${type} of a text`)
    }
  }
})

t.test('a fault of a schema is named with its attribute and its cure', async t => {
  const draft = 'https://json-schema.org/draft/2020-12/schema'
  const pattern = (text: string, reason: string): string =>
    `has the pattern '${text}', which is not a regular expression (${reason}); it is read with the flag "u", so escape each ` +
    'character that has a meaning in patterns, and no other one'
  const missing = (reference: string): string =>
    `has a reference without a target: the reference "${reference}" has no target in the schema; declare it in "definitions", or share it by app.addSchema`
  const string = { type: 'string' } as const
  const cases: ReadonlyArray<readonly [schema: object, message: string]> = [
    [{ $schema: draft, properties: { a: string } }, `"$schema" is '${draft}', but schemas are read as draft-07; leave it out`],
    [{ properties: { a: { $ref: '#/definitions/x' } } }, `"a" ${missing('#/definitions/x')}`],
    [{ properties: { a: { type: 'object', properties: { b: { $ref: 'Nope' } } } } }, `"a.b" ${missing('Nope')}`],
    [{ properties: { a: { if: { $ref: 'Nope' }, then: {} } } }, `"a" ${missing('Nope')}`],
    [{ properties: { a: { $ref: '#/definitions/%' } } }, `"a" ${missing('#/definitions/%')}`],
    [{ properties: { a: { $ref: '#/properties/a' } } }, '"a" has the reference \'#/properties/a\', which leads only back to itself; refer to a schema that has a type'],
    [
      { properties: { a: { $ref: '#/definitions/b' } }, definitions: { b: { $ref: '#/definitions/c' }, c: { $ref: '#/definitions/b' } } },
      '"a" has the reference \'#/definitions/b\', which leads only back to itself; refer to a schema that has a type'
    ],
    [{ properties: { a: { ...string, pattern: '[' } } }, `"a" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { ...string, pattern: '\\-x' } } }, `"a" ${pattern('\\-x', 'Invalid escape')}`],
    [{ properties: { a: { type: 'array', items: { type: 'object', properties: { b: { ...string, pattern: '(' } } } } } }, `"a.b" ${pattern('(', 'Unterminated group')}`],
    [{ properties: { a: { type: 'object', patternProperties: { '(': string } } } }, `"a" ${pattern('(', 'Unterminated group')}`],
    [{ properties: { a: { $ref: '#/definitions/x' } }, definitions: { x: { ...string, pattern: '[' } } }, `the definition "x" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { ...string, maxlength: 5 } } }, '"a" cannot be compiled: strict mode: unknown keyword: "maxlength"']
  ]
  for (const [schema, message] of cases) {
    await t.rejects(build(t, { name, attributes: { type: 'object', ...schema } as never }), { message: `resources: attributes of "posts": ${message}` }, message)
  }
  await build(t, { name, attributes: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: string } } as never })
})

t.test('a schema that refers to itself applies at every depth', async t => {
  const app = await build(t, {
    name,
    attributes: {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            secret: { type: 'string', writeOnly: true },
            path: { type: 'string', readOnly: true },
            children: { type: 'array', items: { $ref: '#/$defs/node' } }
          }
        }
      }
    } as unknown as typeof attributes
  })
  const nested = '<size>1</size><secret>swordfish</secret><path>/</path>'
  const bodies: [type: string, payload: string][] = [
    ['application/json', '{"post":{"tree":{"size":1,"secret":"swordfish","path":"/","children":[{"size":1,"secret":"swordfish","path":"/","children":[{"size":1,"secret":"swordfish","path":"/","children":[]}]}]}}}'],
    ['application/xml', `<post><tree>${nested}<children><child>${nested}<children><child>${nested}<children/></child></children></child></children></tree></post>`]
  ]
  for (const [type, payload] of bodies) {
    const res = await app.inject(send('POST', '/posts.json', type, payload))
    t.strictSame([res.statusCode, res.json<{ post: Attributes }>().post.tree], [201, { size: 1, children: [{ size: 1, children: [{ size: 1, children: [] }] }] }], type)
    const { body } = await app.inject(`${String(res.headers.location)}.xml`)
    t.notMatch(body, 'swordfish')
    t.equal(body.match(/<size type="integer">1<\/size>/g)?.length, 3)
  }
})

/** Returns attributes `it0`, `it1` and so on of these schemas, so that one resource serves many cases. */
function propertiesOf (schemas: readonly unknown[]): Record<string, object> {
  return Object.fromEntries(schemas.map((schema, index) => [`it${index}`, schema as object]))
}

t.test('a writeOnly value is never sent, at any depth', async t => {
  const secret = { type: 'string', writeOnly: true } as const
  const account = { type: 'object', properties: { name: { type: 'string' }, secret } } as const
  const value = { name: 'N', secret: 'swordfish' }
  const cases: [name: string, schema: object, value: unknown][] = [
    ['at the top', secret, 'swordfish'],
    ['in an object', account, value],
    ['in an object that may be null', { anyOf: [account, { type: 'null' }] }, value],
    ['in the items of an array', { type: 'array', items: account }, [value]],
    ['in two objects', { type: 'object', properties: { inner: account } }, { inner: value }],
    ['in a part of allOf', { allOf: [account, { type: 'object', properties: { more: { type: 'string' } } }] }, value],
    ['in one of several alternatives', { anyOf: [account, { type: 'object', properties: { other: { type: 'string' } }, required: ['other'] }] }, value],
    ['in an alternative to text', { anyOf: [account, { type: 'string' }] }, value],
    ['in what is not declared by name', { type: 'object', additionalProperties: account }, { key: value }],
    ['in what is declared by a pattern', { type: 'object', patternProperties: { '^k': account } }, { key: value }],
    ['in the first of a tuple', { type: 'array', items: [account] }, [value]],
    ['beside what is declared by a pattern', { type: 'object', patternProperties: { '^s_': { type: 'string' } }, additionalProperties: account }, { key: value }],
    ['in lists beside what is declared by a pattern', { type: 'object', patternProperties: { '^s_': { type: 'string' } }, additionalProperties: { type: 'array', items: account } }, { key: [value] }],
    ['in the items of another part of allOf', { allOf: [{ type: 'array', items: { type: 'object' } }, { items: account }] }, [value]],
    ['in the members of another part of allOf', { allOf: [{ additionalProperties: { type: 'object' } }, { additionalProperties: account }] }, { key: value }],
    ['in a part of allOf whose other has none', { allOf: [{ type: 'object', additionalProperties: account }, { additionalProperties: true }] }, { key: value }],
    ['in a part of allOf that has no more', { allOf: [{ ...account, additionalProperties: false }, { additionalProperties: { type: 'string' } }] }, value],
    ['in a part of allOf that has no more, after another', { allOf: [{ additionalProperties: { type: 'string' } }, { ...account, additionalProperties: false }] }, value],
    ['in an object or in anything', { anyOf: [{ type: 'object', additionalProperties: account }, {}] }, { key: value }],
    ['in one of two objects', { anyOf: [{ type: 'object', properties: { kind: { const: 'a' } }, additionalProperties: account }, { type: 'object' }] }, { kind: 'a', key: value }]
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, { name, attributes: { type: 'object', properties: propertiesOf(cases.map(([, schema]) => schema)) }, store })
  for (const [index, [label, , supplied]] of cases.entries()) {
    for (const kind of ['xml', 'json', 'html'] as const) {
      await t.test(`${label}, ${kind}`, async t => {
        store.reset()
        const created = await app.inject(send('POST', `/posts.${kind}`, 'application/json', JSON.stringify({ post: { [`it${index}`]: supplied } })))
        t.ok([201, 303].includes(created.statusCode), created.body)
        for (const res of [created, await app.inject(`/posts/1.${kind}`), await app.inject(`/posts.${kind}`), await app.inject({ method: 'PUT', url: `/posts.${kind}`, headers: { 'if-match': '"9"' }, payload: { id: 1, post: {} } })]) t.notMatch(res.body, 'swordfish')
      })
    }
  }
})

t.test('a format of the app never gets a writeOnly value: in rows, outcomes, views, frames and forms', async t => {
  const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 }, secret: { type: 'string', writeOnly: true } } } as const
  const seen: string[] = []
  const see = (...given: readonly unknown[]): string => {
    seen.push(JSON.stringify(given, (name, value: unknown) => ['request', 'node'].includes(name) ? undefined : value))
    return 'text'
  }
  const note = (...given: readonly unknown[]): string => see(...given.map((part) => Object(part).request === undefined ? part : { ...Object(part) }))
  const own: Format = {
    name: 'own',
    mediaTypes: ['text/html'],
    browser: true,
    compileWriter: () => ({
      prepare: async (outcome, services) => ({ content: [note(outcome), await Promise.all(services.lists.map(async (find) => find({ id: 1, version: '1', attributes: {} }, services)))] }),
      prepareProblem: async (problem, services) => {
        const row = await services.formRow()
        return { content: note(problem, row), row }
      },
      record: note,
      stale: note,
      revised: note,
      blank: note,
      edit: note,
      problem: note,
      title: note,
      table: note,
      page: note,
      frame: (first, view) => {
        note(first, view)
        return { open: '', row: (row) => note(row), separator: '', close: '' }
      }
    })
  }
  const store = memoryStore()
  for (let index = 0; index < 3; index++) store.create({ title: 'a'.repeat(700_000), secret: 'swordfish' }, {})
  const app = await build(t, { name: 'posts', attributes, store, formats: [own], formPages: true })
  const asForm = (payload: string): InjectOptions => ({ method: 'POST', url: '/posts', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload })
  const requests: Array<InjectOptions | string> = ['/posts', '/posts/1', '/posts/1/edit', '/posts/new', asForm('_method=PUT&id=1&_version=9&post[title]=b'), asForm('_method=PUT&id=1&_version=1&post[title]='), asForm('_method=PUT&id=9&post[title]=b')]
  for (const request of requests) await app.inject(request)
  t.ok(seen.length >= 14, `${seen.length} calls`)
  t.ok(seen.some((text) => text.includes('"row":{')), 'a form has its row')
  t.strictSame(seen.filter((text) => text.includes('swordfish')), [])
})

t.test('a value is never sent if any part of the schema makes it writeOnly', async t => {
  const secret = { type: 'string', writeOnly: true } as const
  const cases: [name: string, schema: object, value: unknown][] = [
    ['a later part of allOf', { allOf: [{ type: 'object', properties: { secret: { type: 'string' } } }, { type: 'object', properties: { secret: { writeOnly: true } } }] }, { secret: 'swordfish' }],
    ['an earlier part of allOf', { allOf: [{ type: 'object', properties: { secret: { writeOnly: true } } }, { type: 'object', properties: { secret: { type: 'string' } } }] }, { secret: 'swordfish' }],
    ['one of several scalar alternatives', { anyOf: [secret, { type: 'integer' }] }, 'swordfish'],
    ['the member of one of several alternatives', { anyOf: [{ type: 'object', properties: { secret } }, { type: 'object', properties: { secret: { type: 'integer' } } }] }, { secret: 'swordfish' }],
    ['an alternative to anything', { anyOf: [{ type: 'object', properties: { secret } }, true] }, { secret: 'swordfish' }],
    ['the values of a record', { type: 'object', additionalProperties: secret }, { key: 'swordfish' }],
    ['the items of an array', { type: 'array', items: secret }, ['swordfish']],
    ['what follows a tuple', { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'object', properties: { secret } } }, ['a', { secret: 'swordfish' }]],
    ['a condition', { type: 'object', properties: { kind: {} }, additionalProperties: true, if: { required: ['kind'] }, then: { properties: { secret } } }, { kind: 1, secret: 'swordfish' }]
  ]
  for (const [label, schema, supplied] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(resources, { name, attributes: { type: 'object', properties: { account: schema } } })
    try {
      await app.ready()
    } catch (error) {
      t.equal((error as { code?: string }).code, ATTRIBUTES, `${label}: the schema throws at registration`)
      continue
    }
    t.equal((await app.inject(send('POST', '/posts', 'application/json', JSON.stringify({ post: { account: supplied } })))).statusCode, 201)
    for (const kind of ['xml', 'json', 'html']) t.notMatch((await app.inject(`/posts/1.${kind}`)).body, 'swordfish', `${label}, ${kind}`)
  }
})

t.test('the parts of allOf keep their order', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { it: { allOf: [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }, { type: 'object', properties: { c: { type: 'string' } } }] } } } })
  const res = await app.inject(send('POST', '/posts.xml', 'application/json', '{"post":{"it":{"c":"3","b":"2","a":"1"}}}'))
  t.equal(res.body, `${xml}<post><id type="integer">1</id><it><a>1</a><b>2</b><c>3</c></it></post>`)
})

t.test('an object may have members beside the declared ones', async t => {
  const schema = { type: 'object', properties: { seats: { type: 'object', properties: { row: { type: 'string' } }, additionalProperties: { type: 'integer' } } } } as const
  const value = { row: 'A', left: 5, right: 6 }
  const payloads: [type: string, payload: string][] = [
    ['application/json', JSON.stringify({ post: { seats: value } })],
    ['application/xml', '<post><seats><row>A</row><left>5</left><right>6</right></seats></post>'],
    [form, 'post[seats][row]=A&post[seats][left]=5&post[seats][right]=6']
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, { name, attributes: schema, store })
  for (const [type, payload] of payloads) {
    await t.test(`sent as ${type}, read as XML`, async t => {
      store.reset()
      const res = await app.inject(send('POST', '/posts.xml', type, payload))
      t.equal(res.body, `${xml}<post><id type="integer">1</id><seats><row>A</row><left type="integer">5</left><right type="integer">6</right></seats></post>`)
      t.equal((await app.inject(send('POST', '/posts.xml', type, payload.replaceAll('6', 'x').replaceAll(':x', ':"x"')))).statusCode, 422)
    })
    await t.test(`sent as ${type}, read as JSON`, async t => {
      store.reset()
      const res = await app.inject(send('POST', '/posts.json', type, payload))
      t.strictSame(res.json(), { post: { id: 1, seats: value } })
    })
  }
})

t.test('annotations of OpenAPI do not affect validation', async t => {
  const annotations = { xml: { name: 'other', wrapped: true }, example: 'x', examples: ['x'], externalDocs: { url: 'https://docs.example' }, deprecated: true, title: 'T', description: 'D', $comment: 'C', 'x-order': 1, 'x-deep': { 'x-deeper': [{}] } }
  const { externalDocs, ...top } = annotations
  const app = await build(t, {
    name,
    attributes: {
      ...top,
      type: 'object',
      properties: {
        title: { type: 'string', ...annotations, nullable: true },
        author: { type: 'object', ...annotations, discriminator: { propertyName: 'name' }, properties: { name: { type: 'string', ...annotations } } },
        'x-ray': { type: 'integer', ...annotations }
      },
      $defs: { unused: { type: 'string', ...annotations } }
    } as unknown as typeof attributes
  })
  t.equal(externalDocs.url, 'https://docs.example')
  const res = await app.inject(send('POST', '/posts', 'application/xml', '<post><title nil="true"/><author><name>N</name></author><x-ray>5</x-ray></post>'))
  t.equal(res.statusCode, 201)
  t.equal(res.body, `${xml}<post><id type="integer">1</id><title nil="true"/><author><name>N</name></author><x-ray type="integer">5</x-ray></post>`)
  t.equal((await app.inject(send('POST', '/posts', 'application/xml', '<post><author><name nil="true"/></author></post>'))).statusCode, 422)
})

t.test('an extension keyword may have any name with x-', async t => {
  const registrations = new Registrations()
  registrations.accepted({ name, attributes: { type: 'object', properties: { title: { type: 'string', 'x-a.b': 1, 'x-ü': 2, 'x-a/b': 3 } } } })
  registrations.accepted({ name, attributes: { type: 'object', properties: { title: { type: 'string' } }, 'x-a.b': 1 } })
  await registrations.check(t)
})

t.test('an unmet keyword is explained in words', async t => {
  const cases: [schema: object, value: unknown, says: string | RegExp][] = [
    [{ type: 'string', minLength: 1 }, '', 'must not be blank'],
    [{ type: 'string', minLength: 2 }, 'a', 'must have at least 2 characters'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'must have at most 1 character'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'must have at most 2 characters'],
    [{ type: 'string', pattern: '^a+$' }, 'b', 'must match ^a+$'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"'],
    [{ enum: ['a', 1, null] }, 'c', 'must be one of "a", 1, null'],
    [{ const: 'a' }, 'b', 'must be "a"'],
    [{ const: null }, 'b', 'must be null'],
    [{ allOf: [{ const: 'a' }] }, 'b', 'must be "a"'],
    [{ type: 'integer', minimum: 2 }, 1, 'must be at least 2'],
    [{ type: 'integer', maximum: 2 }, 3, 'must be at most 2'],
    [{ type: 'number', exclusiveMinimum: 2 }, 2, 'must be more than 2'],
    [{ type: 'number', exclusiveMaximum: 2 }, 2, 'must be less than 2'],
    [{ type: 'number', multipleOf: 0.5 }, 0.7, 'must be a multiple of 0.5'],
    [{ type: 'number', multipleOf: 0.001 }, 0.5704, 'must be a multiple of 0.001'],
    [{ type: 'array', minItems: 1 }, [], 'must have at least 1 item'],
    [{ type: 'array', minItems: 2 }, ['a'], 'must have at least 2 items'],
    [{ type: 'array', maxItems: 1 }, ['a', 'b'], 'must have at most 1 item'],
    [{ type: 'array', maxItems: 2 }, ['a', 'b', 'c'], 'must have at most 2 items'],
    [{ type: 'array', uniqueItems: true }, ['a', 'a'], 'must not have the same item twice'],
    [{ type: 'array', contains: { const: 'a' } }, ['b'], /./],
    [{ type: 'object', minProperties: 1 }, {}, /fewer than 1/],
    [{ type: 'string', format: 'date' }, 'x', 'must be a date such as 2026-01-31'],
    [{ type: 'string', format: 'date' }, '2026-02-30', 'must be a date such as 2026-01-31'],
    [{ type: 'string', format: 'date-time' }, 'x', 'must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'time' }, 'x', 'must be a time such as 12:00:00Z'],
    [{ type: 'string', format: 'email' }, 'x', 'must be an e-mail address'],
    [{ type: 'string', format: 'uri' }, 'x', 'must be an absolute URL'],
    [{ type: 'string', format: 'url' }, 'x', 'must be an absolute URL'],
    [{ type: 'string', format: 'uuid' }, 'x', 'must be a UUID in lower case'],
    [{ type: 'string', format: 'ipv4' }, 'x', 'must be a valid ipv4'],
    [{ not: { const: 'a' } }, 'a', 'is not valid'],
    [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'a', 'must be an integer or true or false'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 5, 'is not valid'],
    [{ type: ['integer', 'null'] }, 'a', 'must be an integer or null'],
    [{ type: ['integer', 'number'] }, 'a', 'must be a number'],
    [{ type: 'object' }, [], 'must be an object'],
    [{ type: 'array' }, {}, 'must be an array'],
    [{ type: 'null' }, 'a', 'must be null']
  ]
  const app = await build(t, { name, attributes: { type: 'object', properties: propertiesOf(cases.map(([schema]) => schema)) } })
  for (const [index, [schema, value, says]] of cases.entries()) {
    const what = `${JSON.stringify(schema)}: ${JSON.stringify(value)}`
    const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { [`it${index}`]: value } })))
    t.equal(res.statusCode, 422, `${what}: ${res.body}`)
    t.match(res.json<Problem>().errors, { [`it${index}`]: [says] }, what)
  }
  await t.test('each of the failed alternatives is explained', async t => {
    const app = await build(t, { name, attributes: { type: 'object', properties: { it: { anyOf: [{ const: 'a' }, { type: 'string', minLength: 5 }] } } } })
    const res = await app.inject(send('POST', '/posts.json', 'application/json', '{"post":{"it":"b"}}'))
    t.strictSame(res.json<Problem>().errors, { it: ['must be "a"', 'must have at least 5 characters'] })
  })
  await t.test('at most a hundred errors are reported', async t => {
    const app = await build(t, { name, attributes: { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } }, members: { type: 'object', additionalProperties: { type: 'string' } } } } })
    const faults = Array.from({ length: 1000 }, (_, index) => `\u0000${index}`)
    for (const post of [{ list: faults }, { members: Object.fromEntries(faults.map((fault, index) => [`a${index}`, fault])) }, { list: faults, members: { a: '\u0000' } }, Object.fromEntries(faults.map((_, index) => [`unknown${index}`, 1]))]) {
      const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post })))
      t.equal(res.statusCode, 422)
      const count = Object.keys(res.json<Problem>().errors ?? {}).length
      t.ok(count >= 90 && count <= 100, `${count} errors, of which an answer repeats 4,000 characters at most`)
    }
  })
  await t.test('a nested error is reported by its path', async t => {
    const app = await build(t, { name, attributes: { type: 'object', properties: { it: { type: 'object', required: ['a-b'], additionalProperties: false, properties: { 'a-b': { type: 'string' }, list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } } } } } } })
    for (const [it, path, says] of [[{}, 'it.a-b', 'must be given'], [{ 'a-b': '', list: [{ n: 1 }, { n: 'x' }] }, 'it.list.1.n', 'must be an integer'], [{ 'a-b': '', ab: '' }, 'it.ab', 'is unknown; did you mean "a-b"?']] as const) {
      const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { it } })))
      t.strictSame(res.json<Problem>().errors, { [path]: [says] })
    }
  })
})

t.test('values that a schema leaves open are kept', async t => {
  const cases: [name: string, schema: unknown, values: unknown[], refused: unknown[]][] = [
    ['true inside is any value', { type: 'object', properties: { a: true } }, [{}, { a: 5 }, { a: [null] }], [{ b: 5 }]],
    ['an empty schema is any value', {}, ['x', 5, null, [1], { a: 1 }], []],
    ['true among alternatives', { anyOf: [true, { type: 'integer' }] }, ['x', 5], []],
    ['several patterns', { type: 'object', patternProperties: { '^a': { type: 'integer' }, '^b': { type: 'string' } } }, [{ a1: 1, b1: 'x' }], [{ a1: 'x' }, { b1: 1 }]],
    ['one pattern', { type: 'object', patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false }, [{ a1: 1 }], [{ a1: 'x' }, { b: 1 }]],
    ['true in allOf', { allOf: [true, { type: 'integer' }] }, [5], ['x']],
    ['an open object among alternatives', { anyOf: [{ type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }, { type: 'object' }] }, [{ a: 1 }, { b: 'x' }], ['x']],
    ['an alternative that takes other members', { anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'integer' } }, { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false }] }, [{ a: 'x', c: 2 }, { b: 'x' }], [{ b: 'x', c: 'y' }, 'x']],
    ['alternatives of which one is a bare bound', { anyOf: [{ format: 'date' }, { type: 'integer' }] }, ['2026-01-31', 5], ['x']],
    ['formats that differ', { anyOf: [{ type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }] }, ['2026-01-31', '2026-01-31T12:00:00Z'], ['x']],
    ['values of several types', { enum: ['a', 1, 1.5, true, null] }, ['a', 1, 1.5, true, null], ['b', 2, false]],
    ['constants of several types', { anyOf: [{ const: 'a' }, { const: 1.5 }, { const: null }] }, ['a', 1.5, null], ['b']],
    ['nullable as in OpenAPI', { type: 'integer', nullable: true }, [1, null], ['x']],
    ['an object of no declared members', { type: 'object' }, [{}, { a: [{ b: null }] }], ['x']],
    ['an array of anything', { type: 'array' }, [[], ['a', 1, null, ['b'], { c: 1 }]], ['x']]
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, { name, attributes: { type: 'object', properties: propertiesOf(cases.map(([, schema]) => schema)) }, store })
  for (const [number, [label, , values, refused]] of cases.entries()) {
    await t.test(label, async t => {
      store.reset()
      const it = `it${number}`
      for (const [index, value] of values.entries()) {
        const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { [it]: value } })))
        t.strictSame([res.statusCode, res.json<{ post?: Attributes }>().post?.[it]], [201, value], res.body)
        for (const kind of ['xml', 'html']) t.equal((await app.inject(`/posts/${index + 1}.${kind}`)).statusCode, 200)
      }
      for (const value of refused) t.equal((await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { [it]: value } })))).statusCode, 422, JSON.stringify(value))
    })
  }
})

t.test('a number beyond the precision of a double is refused, however long it is', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { size: { type: 'number' }, count: { type: 'integer' } } } })
  for (const digits of ['9007199254740993', '1'.repeat(309), '1'.repeat(350), `1${'0'.repeat(399)}`, '1'.repeat(401), '1'.repeat(100_000)]) {
    for (const attribute of ['size', 'count']) {
      for (const [type, payload] of [['application/json', `{"post":{"${attribute}":${digits}}}`], ['application/xml', `<post><${attribute}>${digits}</${attribute}></post>`], [form, `post[${attribute}]=${digits}`]] as const) {
        const res = await app.inject(send('POST', '/posts.json', type, payload))
        t.strictSame([res.statusCode, Object.keys(res.json<Problem>().errors ?? {})], [422, [attribute]], `${type}, ${digits.length} digits`)
      }
    }
  }
  for (const exact of ['9007199254740992', '1e308', '1152921504606846976']) t.equal((await app.inject(send('POST', '/posts.json', 'application/json', `{"post":{"size":${exact}}}`))).statusCode, 201, exact)
})

t.test('an object inside an open value has at most a hundred names', async t => {
  const app = await build(t, { name })
  for (const [count, status] of [[100, 201], [101, 422]] as const) {
    const it = Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]))
    t.equal((await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: { it } })))).statusCode, status)
  }
})

t.test('an XML element that is empty or has child elements is read by its attribute\'s type', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } }, author: { type: 'object', properties: { name: { type: 'string' } } }, title: { type: 'string' }, day: { type: 'string', format: 'date' }, both: { type: ['string', 'null'], format: 'date' } } } })
  const cases: [content: string, it: unknown][] = [
    ['<tags></tags>', { tags: [] }],
    ['<tags/>', { tags: [] }],
    ['<tags type="array"/>', { tags: [] }],
    ['<author></author>', { author: {} }],
    ['<author/>', { author: {} }],
    ['<title></title>', { title: '' }],
    ['<title type="string"><b/></title>', 'title'],
    ['<title><b/></title>', 'title'],
    ['<title>a<b/></title>', 'title'],
    ['<day type="date"><b/></day>', 'day'],
    ['<day type="date"></day>', 'day'],
    ['<both type="date"></both>', { both: null }],
    ['<author type="array"/>', 'author'],
    ['<tags>a</tags>', 'tags'],
    ['<author>a</author>', 'author']
  ]
  for (const [content, it] of cases) {
    const res = await app.inject(send('POST', '/posts.json', 'application/xml', `<post>${content}</post>`))
    if (typeof it === 'string') t.strictSame([res.statusCode, Object.keys(res.json<Problem>().errors ?? {})], [422, [it]], content)
    else t.match([res.statusCode, res.json()], [201, { post: it }], content)
  }
  for (const body of [' ', '\n', '<?xml version="1.0"?>', '<!-- nothing -->', '<?xml version="1.0"?>\n<!-- nothing -->\n']) t.equal((await app.inject(send('POST', '/posts.json', 'application/xml', body))).statusCode, 400, JSON.stringify(body))
})

t.test('a form names its fields as the convention does', async t => {
  const schema = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      rating: { type: ['integer', 'null'] },
      published: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
      open: {}
    }
  } as const
  const app = await build(t, { name, attributes: schema })
  const cases: [body: string, it: unknown][] = [
    ['post[title]=T&&post[rating]=5&', { title: 'T', rating: 5 }],
    ['post[title]', { title: '' }],
    ['post[title]=a+b%20c', { title: 'a b c' }],
    ['post[rating]=', { rating: null }],
    ['post[rating][?]=null', { rating: null }],
    ['post[rating][?]=null&post[rating]=', { rating: null }],
    ['post[rating][?]=null&post[rating]=5', { rating: 5 }],
    ['post[rating][?]=absent&post[rating]=', {}],
    ['post[rating][?]=absent&post[rating]=5', { rating: 5 }],
    ['post[title][?]=null&post[title]=', 'title'],
    ['post[title][?]=whatever', 'title'],
    ['post[published]=false&post[published]=true', { published: true }],
    ['post[published]=0&post[published]=on', { published: true }],
    ['post[title]=a&post[title]=b', 'title'],
    ['post[tags]=a%0D%0Ab%0D%0A%0D%0A', { tags: ['a', 'b'] }],
    ['post[tags]=', { tags: [] }],
    ['post[tags][]=', { tags: [] }],
    ['post[tags][]=&post[tags][]=a', { tags: ['a'] }],
    ['post[tags][10]=b&post[tags][9]=a', { tags: ['a', 'b'] }],
    ['post[tags]=x&post[tags][]=a', 'tags'],
    ['post[tags]=&post[tags][]=a', { tags: ['a'] }],
    ['post[title][0]=a', 'title'],
    ['post[author]=', { author: {} }],
    ['post[author]=x', 'author'],
    ['post[author][name]=N&post[author][age]=5', { author: { name: 'N', age: 5 } }],
    ['post[author][name]=N&post[author][age][?]=absent&post[author][age]=', { author: { name: 'N' } }],
    ['post[author][?]=absent&post[author][name]=', {}],
    ['post[author][?]=absent&post[author][name]=N', { author: { name: 'N' } }],
    ['post[author][nme]=N', 'author.nme'],
    ['post[open][?]=json&post[open]={"a":[1]}', { open: { a: [1] } }],
    ['post[open][?]=json&post[open]= ', {}],
    ['post[open][?]=json', {}],
    ['post[open][?]=json&post[open]={', 'open'],
    ['post[open][?]=json&post[open]=9007199254740993', 'open'],
    ['post=', {}],
    ['post=T', 'post'],
    ['post[]=T', 'post']
  ]
  for (const [body, it] of cases) {
    const res = await app.inject(send('POST', '/posts.json', form, body))
    if (typeof it === 'string') t.strictSame([res.statusCode, Object.keys(res.json<Problem>().errors ?? {})], [422, [it]], body)
    else t.same([res.statusCode, { ...res.json<{ post?: object }>().post, id: undefined }], [201, { ...it as object, id: undefined }], body)
  }
  t.equal((await app.inject(send('POST', '/posts.json', form, `post[title]=T${'&'.repeat(5000)}`))).statusCode, 201, 'an empty part between two & is allowed')
  t.equal((await app.inject(send('POST', '/posts.json', form, Array.from({ length: 1000 }, (_, index) => `post[tags][${index}]=a`).join('&')))).statusCode, 201)
  t.ok([400, 413].includes((await app.inject(send('POST', '/posts.json', form, Array.from({ length: 1001 }, (_, index) => `post[tags][${index}]=a`).join('&')))).statusCode), 'a form has at most 1000 fields')
})

t.test('a row may hold values that no client could send', async t => {
  let row: Row = { id: 1, version: '1', attributes: {} }
  const store: Store = { ...memoryStore(), get: () => row, list: () => [[row]] }
  const declared = { type: 'object', properties: { title: { type: 'string' }, rating: { type: 'integer' }, price: { type: 'number' }, published: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string' } }, author: { type: 'object', properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true } } } } } as const
  const cases: [attributes: Attributes, content: string, json: object][] = [
    [{ title: 5 }, '<title type="json">5</title>', { title: 5 }],
    [{ title: ['a'] }, '<title type="json">["a"]</title>', { title: ['a'] }],
    [{ rating: 'x' }, '<rating type="json">"x"</rating>', { rating: 'x' }],
    [{ rating: NaN }, '<rating nil="true"/>', { rating: null }],
    [{ price: Infinity }, '<price nil="true"/>', { price: null }],
    [{ published: 'yes' }, '<published type="json">"yes"</published>', { published: 'yes' }],
    [{ published: 1 }, '<published type="json">1</published>', { published: 1 }],
    [{ tags: 'a' }, '<tags type="json">"a"</tags>', { tags: 'a' }],
    [{ tags: [1, null, 'a'] }, '<tags type="array"><tag type="json">1</tag><tag nil="true"/><tag>a</tag></tags>', { tags: [1, null, 'a'] }],
    [{ author: 'N' }, '<author type="json">"N"</author>', { author: 'N' }],
    [{ author: ['N'] }, '<author type="json">["N"]</author>', { author: ['N'] }],
    [{ author: null }, '<author nil="true"/>', { author: null }],
    [{ author: { name: 1.5 } }, '<author><name type="json">1.5</name></author>', { author: { name: 1.5 } }],
    [{ title: 'a\u0000b\ud800c\uffff' }, '<title type="json">"a\\u0000b\\ud800c\\uffff"</title>', { title: 'a\u0000b\ud800c\uffff' }],
    [{ nothing: 'known' }, '', {}],
    [{ title: undefined }, '', {}]
  ]
  const app = await build(t, { name, attributes: declared, store })
  for (const [attributes, content, json] of cases) {
    row = { id: 1, version: '1', attributes }
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id>${content}</post>`)
    t.equal((await app.inject('/posts.xml')).body, `${xml}<posts type="array"><post><id type="integer">1</id>${content}</post></posts>`)
    t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, ...json } })
    t.strictSame((await app.inject('/posts.json')).json(), { posts: [{ id: 1, ...json }] })
    for (const url of ['/posts/1.html', '/posts.html']) t.equal((await app.inject(url)).statusCode, 200, content)
  }

  await t.test('the same holds without declared attributes', async t => {
    // A client could not send back an element with such a name, so that XML leaves the attribute out.
    const names: [name: string, isWritten: boolean][] = [...['first name', '1st', '', 'a:b', '<a>', '😀', '\ud800', '-'].map((name): [string, boolean] => [name, false]), ['toString', true]]
    const app = await build(t, { name, store })
    for (const [name_, isWritten] of names) {
      row = { id: 1, version: '1', attributes: { [name_]: 'x' } }
      t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id>${isWritten ? `<${name_}>x</${name_}>` : ''}</post>`)
      t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, [name_]: 'x' } })
      t.equal((await app.inject('/posts/1.html')).statusCode, 200)
    }
  })
})

t.test('a duplicate that a store reports keeps the code of its cause for the log', async t => {
  const log: string[] = []
  const cause = Object.assign(new Error('UNIQUE constraint failed: posts.title'), { code: 'SQLITE_CONSTRAINT_UNIQUE', detail: 'secret' })
  const app = await build(t, { name, attributes, store: { ...memoryStore(), create: async () => { throw new DuplicateError('title', { cause }) } } }, { server: { logger: { level: 'info', stream: { write: (line: string) => { log.push(line) } } } } })
  const res = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
  t.strictSame([res.statusCode, res.json<Problem>().errors], [409, { title: ['is already taken'] }])
  t.notMatch(res.body, 'constraint')
  t.ok(log.some((line) => line.includes('SQLITE_CONSTRAINT_UNIQUE')))
  t.notMatch(log.join(''), 'secret')
})

t.test('a list of entity tags without a tag is a bad request', async t => {
  const app = await build(t, { name, attributes, requireMatch: true })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
  for (const header of ['', ' ', ',', ' , ,', '1', '"1', '1"', 'W/', 'W/1', '"1" "2"', '"1",2', '*,"1"', '"1"x']) {
    for (const request of [{ method: 'PUT', url: '/posts.json', headers: { 'if-match': header }, payload: { id: 1, post: { title: 'U' } } }, { method: 'DELETE', url: '/posts.json?id=1', headers: { 'if-match': header } }, { url: '/posts/1.json', headers: { 'if-none-match': header } }] satisfies InjectOptions[]) {
      const res = await app.inject(request)
      t.strictSame([res.statusCode, res.headers['content-type']], [400, types.problem], `${String(request.method)} ${JSON.stringify(header)}`)
    }
  }
  t.equal((await app.inject({ method: 'PUT', url: '/posts', headers: { 'if-match': ', "1" ,, "2",' }, payload: { id: 1, post: { title: 'U' } } })).statusCode, 200, 'empty elements are skipped')
})

t.test('a custom format that fails to write an error reveals nothing of it', async t => {
  const log: string[] = []
  const fail = (): never => { throw new Error('secret') }
  const broken: Format = { name: 'csv', mediaTypes: ['text/csv'], compileWriter: () => ({ record: fail, problem: fail, list: { open: '', row: fail, separator: '', close: '' } }) }
  const store = memoryStore()
  store.create({ title: 'T' }, {})
  const app = await build(t, { name, attributes, store, formats: ['json', broken] }, { server: { logger: { level: 'error', stream: { write: (line: string) => { log.push(line) } } } } })
  for (const url of ['/posts/1.csv', '/posts.csv', '/posts/2.csv', '/posts.csv?x=1']) {
    log.length = 0
    const res = await app.inject(url)
    t.equal(res.statusCode, 500, url)
    t.notMatch(res.body, 'secret')
    t.ok(log.some((line) => line.includes('secret')), 'the failure is logged')
  }
  t.equal((await app.inject('/posts/1')).statusCode, 200)
})

/** A parser of HTML and one of XML, and a browser that treats every input as text. */
const READINGS: ReadonlyArray<readonly [accept: string, browser: Browser]> = [['text/html', 'modern'], ['application/xhtml+xml', 'modern'], ['text/html', 'old']]

const MOMENTS = [
  '2026-01-31T12:00:00Z', '2026-01-31T12:00:05Z', '2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z', '2026-01-31T12:00:00.000Z', '2026-01-31T12:00:05.120Z', '2026-01-31T12:00:05.001Z', '2026-01-31T12:00:00.000000Z',
  '2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00+02:00', '2026-01-31T12:00:00-11:30', '2026-01-31T12:00:00+00:00', '2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.50+05:30',
  '1990-12-31T23:59:60Z', '1990-12-31T15:59:60-08:00', '0001-01-01T00:00:00Z', '2024-02-29T23:59:59.999Z', '9999-12-31T23:59:59Z'
]

const NINE = [...'abcdefghi']

const LINKS = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      label: { type: 'string' },
      note: { type: ['string', 'null'] },
      at: { type: 'string', format: 'date-time' },
      hot: { type: 'boolean' },
      kind: { enum: ['x', 'y', null] },
      kinds: { type: 'array', uniqueItems: true, items: { enum: ['p', 'q'] } },
      parts: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' }, name: { type: ['string', 'null'] }, lines: { type: 'array', items: { type: 'string' } } } } }
    }
  }
} as const

const $defs = {
  tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } } }
} as const

t.test('an untouched form changes nothing', async t => {
  const cases: [schema: object, values: unknown[]][] = [
    [{ type: 'string' }, ['', 'T', ' a ', '<b>&amp;"\'</b>', 'a\nb', '\na', '\n', 'a\rb', 'a\r\nb', 'x'.repeat(500), '?', 'null']],
    [{ type: 'string', maxLength: 100 }, ['', 'T', 'a\nb', '\na', 'a\rb']],
    [{ type: 'string', maxLength: 300, title: 'A title', description: 'What it is' }, ['T']],
    [{ type: ['string', 'null'] }, [null, '', 'T', 'null']],
    [{ type: 'string', format: 'date', description: '' }, ['2026-01-31']],
    [{ type: 'integer' }, [0, -5, 9007199254740991]],
    [{ type: ['integer', 'null'] }, [null, 5]],
    [{ type: 'number' }, [1.5, 1e300, -0.001]],
    [{ type: 'boolean' }, [true, false]],
    [{ type: ['boolean', 'null'] }, [true, false, null]],
    [{ enum: ['a', 'b'] }, ['a', 'b']],
    [{ enum: ['a', 'b', null] }, ['a', null]],
    [{ enum: ['', 'a'] }, ['', 'a']],
    [{ enum: [1, 2] }, [2]],
    [{ enum: ['a', 1, null, true] }, ['a', 1, null, true]],
    [{ const: 'a' }, ['a']],
    [{ type: 'array', items: { type: 'string' } }, [[], ['a', 'b'], ['a\nb'], [''], ['a', '']]],
    [{ type: 'array', items: { type: 'integer' } }, [[], [1, 2]]],
    [{ type: 'array', items: { type: ['string', 'null'] } }, [[], ['a', null]]],
    [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, [[], [{ a: 'x' }, {}]]],
    [{ type: 'array' }, [[], ['a', 1, [null]]]],
    [{ type: ['array', 'null'], items: { type: 'string' } }, [null, [], ['a']]],
    [{ type: 'object', properties: { a: { type: 'string' }, b: { type: ['integer', 'null'] }, c: { type: 'boolean' }, d: { type: 'object', properties: { e: { type: 'string' } } } } }, [{}, { a: '' }, { a: 'x', b: null, c: false, d: {} }, { b: 5, d: { e: 'y' } }]],
    [{ anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'null' }] }, [null, {}, { a: 'x' }]],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, [{}, { a: 1 }]],
    [{ type: ['string', 'integer'] }, ['x', '5', 5, '']],
    [{ type: ['integer', 'boolean'] }, [5, true]],
    [{}, ['x', '5', 5, null, true, [1, { a: 'b' }], { a: 1 }]],
    [{ type: 'string', format: 'date-time' }, MOMENTS],
    [{ type: ['string', 'null'], format: 'date-time' }, [null, ...MOMENTS]],
    [{ type: 'string', format: 'date-time', pattern: 'Z$' }, ['2026-01-31T12:00:00Z']],
    [{ type: ['string', 'null'], format: 'date' }, [null, '2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31']],
    [{ type: 'string', format: 'email' }, ['a@b.example', 'A.B+c@x-y.example', "o'hara@b.example", `a@${'b'.repeat(64)}.example`]],
    [{ type: ['string', 'null'], format: 'email' }, [null, 'a@b.example']],
    [{ type: 'string', format: 'uri' }, ['https://a.example/b?c=d&e=%20#f', 'urn:isbn:1', 'mailto:a@b.example', 'http://[::1]:80/', 'http://a..b/', 'http://256.256.256.256/', 'a:b', 'x://']],
    [{ type: 'string', format: 'url' }, ['https://a.example/b']],
    [{ type: 'string', format: 'uuid' }, ['0f8fad5b-d9cb-469f-a165-70867728950e']],
    [{ type: 'string', format: 'password' }, ['', ' a ', 'b']],
    [{ type: 'string', format: 'textarea' }, ['', 'T', '\n\na\n', '\t']],
    [{ type: 'string', format: 'date-time-text' }, ['', '2026-01-31 12:00:00', 'a\nb', '\ta ']],
    [{ type: 'string', format: 'time' }, ['12:00:00Z', '12:00:00.5+01:00']],
    [{ type: 'string', pattern: '^[a-z]+$' }, ['abc']],
    [{ type: 'string', pattern: 'b' }, ['abc', 'b\nb', 'a\nb', '\nb']],
    [{ type: 'string', pattern: '^a|b$' }, ['ax', 'xb']],
    [{ type: 'string', pattern: '^.$' }, ['😀']],
    [{ type: 'string', pattern: '^(?:a|b)$' }, ['a', 'b']],
    [{ type: 'string', minLength: 2, maxLength: 4 }, ['ab', '😀😀😀😀', 'a\nb']],
    [{ type: 'integer', minimum: 1, maximum: 9, multipleOf: 3 }, [3, 9]],
    [{ type: 'integer', minimum: -7, exclusiveMaximum: 100, multipleOf: 5 }, [-5, 0, 95]],
    [{ type: 'integer', exclusiveMinimum: 0.5, maximum: 2.5 }, [1, 2]],
    [{ type: 'integer', multipleOf: 0.5 }, [1, 7]],
    [{ type: 'number', multipleOf: 0.01 }, [0.01, 0.06, 1.25, 1000.01]],
    [{ type: 'number', multipleOf: 0.001 }, [0.57, 1.001, 99999.999]],
    [{ type: 'number', multipleOf: 0.1, minimum: 0.05, maximum: 1 }, [0.1, 0.2, 0.5, 1]],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5, 5e-324, 0.9999999999999999]],
    [{ type: ['number', 'null'], minimum: -1.5 }, [null, -1.5, 0, 1e21]],
    [{ enum: ['a', 'b', null], type: ['string', 'null'] }, ['a', 'b', null]],
    [{ enum: NINE }, ['a', 'i']],
    [{ enum: [...NINE, null] }, ['a', null]],
    [{ enum: ['a', ' a', 'a ', 'a\nb', 'A'] }, ['a', ' a', 'a ', 'a\nb', 'A']],
    [{ enum: ['a\rb', 'a'] }, ['a\rb', 'a']],
    [{ enum: [1, 2.5, null] }, [1, 2.5, null]],
    [{ enum: [true] }, [true]],
    [{ enum: [true, null] }, [true, null]],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }, ['a', 'b']],
    [{ type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }, [[], ['a'], ['a', 'b'], ['b', 'a']]],
    [{ type: 'array', uniqueItems: true, items: { enum: NINE } }, [[], ['a', 'i'], ['i', 'a'], NINE, [...NINE].reverse()]],
    [{ type: ['array', 'null'], uniqueItems: true, items: { enum: ['a', 'b'] } }, [null, [], ['a'], ['b', 'a']]],
    [{ type: 'array', uniqueItems: true, items: { enum: [1, 2] } }, [[], [2], [1, 2], [2, 1]]],
    [{ type: 'array', uniqueItems: true, items: { enum: ['a', null] } }, [[], ['a'], ['a', null], [null, 'a'], [null]]],
    [{ type: 'array', uniqueItems: true, items: { enum: ['', 'a'] } }, [[], [''], ['', 'a']]],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, [[], ['a', 'a'], ['b', 'a']]],
    [{ type: 'array', items: { type: 'string' } }, [['a\nb', 'c'], ['\n'], ['', ''], ['a', '', 'b'], [' a ', '\t'], ['a\rb'], ['x'.repeat(300)], Array.from({ length: 60 }, (_, index) => `t${index}`), Array.from({ length: 60 }, (_, index) => `t\n${index}`)]],
    [{ type: 'array', items: { type: ['string', 'null'] } }, [[null], [null, null], ['', null], ['a\nb', null, ''], Array.from({ length: 60 }, () => null)]],
    [{ type: 'array', items: { type: ['integer', 'null'] } }, [[], [1, null], [null]]],
    [{ type: 'array', items: { type: 'boolean' } }, [[], [true, false]]],
    [{ type: 'array', items: { type: ['boolean', 'null'] } }, [[], [true, null, false]]],
    [{ type: 'array', items: { type: 'string', format: 'date' } }, [[], ['2026-01-31']]],
    [{ type: 'array', items: { type: 'string', format: 'date-time' } }, [[], ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.500Z']]],
    [{ type: 'array', items: { type: ['string', 'null'], format: 'date-time' } }, [[], ['2026-01-31T12:00:00Z', null, '2026-01-31T12:00:00.500Z', '1990-12-31T23:59:60Z']]],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, [[], [[]], [['a'], []]]],
    [LINKS, [[], [{}], [{ label: '' }], [{ label: 'a' }, { label: 'b', at: '2026-01-31T12:00:00.000Z', hot: true }, {}], [{ note: null, hot: false, kind: 'x', kinds: ['q', 'p'], parts: [] }], [{ parts: [{}] }, { parts: [{ size: 1, name: null }, { name: '' }, { lines: ['a', 'b\nc'] }] }], Array.from({ length: 50 }, (_, index) => ({ label: `l${index}` })), Array.from({ length: 60 }, (_, index) => ({ label: `l${index}` }))]],
    [{ ...LINKS, type: ['array', 'null'] }, [null, [], [{}], [{ label: 'a' }]]],
    [{ type: 'array', items: { anyOf: [LINKS.items, { type: 'null' }] } }, [[], [null], [{}, null, { label: 'a' }]]],
    [{ type: 'array', items: { type: 'object', required: ['a', 'b', 'c'], properties: { a: { type: 'boolean' }, b: { enum: ['x', 'y'] }, c: { type: 'array', items: { type: 'string' } } } } }, [[], [{ a: false, b: 'y', c: [] }], [{ a: true, b: 'x', c: ['a'] }, { a: false, b: 'x', c: [] }]]],
    [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', readOnly: true } } } }, [[], [{}, { a: 'x' }]]],
    [{ type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } }, [[], [{}, { a: 'x' }]]],
    [{ type: 'array', items: { type: 'object', additionalProperties: false, properties: { a: { type: 'string', default: 'set' }, b: { type: 'object', properties: { c: { type: 'string', default: 'set' } } } } } }, [[], [{}, { a: 'x' }, { b: {} }]]],
    [{ $ref: '#/$defs/tree' }, [{}, { name: 'a' }, { name: 'a', children: [] }, { children: [{ name: 'b', children: [{}] }, {}] }]],
    [{ type: 'array', items: { $ref: '#/$defs/tree' } }, [[], [{}], [{ name: 'a', children: [{ children: [] }] }]]],
    [{ type: 'object', properties: { tree: { $ref: '#/$defs/tree' }, at: { type: 'string', format: 'date-time' }, tags: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } } } }, [{}, { tree: {}, tags: [] }, { tree: { name: 'a', children: [{}] }, at: '2026-01-31T12:00:00+02:00', tags: ['b', 'a'] }]],
    [{ type: 'object', required: ['rows'], properties: { rows: { type: 'array', items: { type: 'object', properties: { rows: { type: 'array', items: { type: 'object', properties: { rows: { type: 'array', items: { type: 'object', properties: { deep: { type: 'string' } } } } } } } } } } } }, [{ rows: [] }, { rows: [{}, { rows: [] }, { rows: [{}, { rows: [{ deep: '' }, {}] }] }] }]],
    [{ type: 'array', items: {} }, [[], ['a', 1, null, [], { a: [] }]]],
    [{ type: 'array', items: { type: ['string', 'integer'] } }, [[], ['a', 1, '1']]],
    [{ type: ['string', 'array'], items: { type: 'string' } }, ['a', '', ['a'], []]],
    [{ type: ['object', 'array'], items: { type: 'string' }, properties: { a: { type: 'string' } } }, [{ a: 'x' }, {}, ['a'], []]],
    [{ type: 'string', writeOnly: true }, ['secret']],
    [{ type: 'string', readOnly: true, default: 'set' }, [undefined]]
  ]
  for (const [schema, values] of cases) {
    for (const required of [true, false]) {
      await t.test(`${JSON.stringify(schema)}${required ? ', required' : ''}`, async t => {
        for (const writes of ['collection', 'member'] as const) {
          const store = memoryStore()
          const app = await build(t, { name, store, writes, attributes: { type: 'object', properties: { it: schema, 'post-it': { type: 'string' } }, ...(required && { required: ['it'] }), $defs } as AttributesSchema })
          for (const value of [...values, ...(required ? [] : [undefined])]) {
            const created = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { it: value } } })
            if (created.statusCode !== 201) throw new Error(created.body)
            const path = String(created.headers.location)
            const id = Number(path.split('/').at(-1))
            const kept = store.get(id, {})?.attributes
            for (const [accept, browser] of writes === 'collection' ? READINGS : READINGS.slice(0, 1)) {
              const update = findForm(await app.inject({ url: path, headers: { accept } }), 'PUT', browser)
              const saved = await app.inject(submit(update, defaultButton(update), { accept }))
              t.strictSame(
                [update.action, refused(update), saved.statusCode, saved.headers.location, store.get(id, {})?.attributes],
                [writes === 'collection' ? '/posts' : path, [], 303, `${path}#saved`, kept],
                `${JSON.stringify(value)} as ${accept} in ${browser === 'old' ? 'an old' : 'a'} browser`
              )
            }
          }
        }
      })
    }
  }
})

t.test('a form leaves a stored date and time as it is that no client may send', async t => {
  for (const [format, stored] of [['date-time', '2026-01-31 12:00:05z'], ['date-time', '2026-01-31t12:00:00.000+02:00'], ['date-time-local', '2026-01-31T12:00'], ['time-local', '12:00']] as const) {
    const store = memoryStore()
    const app = await build(t, { name, store, attributes: { type: 'object', properties: { at: { type: 'string', format } } } })
    store.create({ at: stored }, {})
    const saved = await app.inject(submit(findForm(await app.inject('/posts/1.html'), 'PUT')))
    t.strictSame([saved.statusCode, store.get(1, {})], [303, { id: 1, version: '1', attributes: { at: stored } }])
  }
})

t.test('a date and time comes back exactly, however a browser writes its clock', async t => {
  const cases: [stored: string, clocks: string[]][] = [
    ['2026-01-31T12:00:00Z', ['2026-01-31T12:00', '2026-01-31T12:00:00', '2026-01-31T12:00:00.0', '2026-01-31T12:00:00.000']],
    ['2026-01-31T12:00:00.000+02:00', ['2026-01-31T12:00', '2026-01-31T12:00:00', '2026-01-31T12:00:00.000']],
    ['2026-01-31T12:00:05.500Z', ['2026-01-31T12:00:05.5', '2026-01-31T12:00:05.50', '2026-01-31T12:00:05.500']],
    ['2026-01-31T12:00:00.120-08:00', ['2026-01-31T12:00:00.12', '2026-01-31T12:00:00.120']]
  ]
  for (const [stored, clocks] of cases) {
    const store = memoryStore()
    const app = await build(t, { name, store, attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } })
    store.create({ at: stored }, {})
    for (const clock of clocks) {
      const saved = await app.inject(tampered(findForm(await app.inject('/posts/1.html'), 'PUT'), { 'post[at]': clock }))
      t.strictSame([saved.statusCode, store.get(1, {})?.attributes.at], [303, stored], clock)
    }
    for (const [changed, kept] of [[{ 'post[at]': '2027-01-31T12:00' }, `2027-01-31T12:00:00${/z$|[+-]\d\d:\d\d$/i.exec(stored)?.[0] ?? ''}`], [{ 'post[at][?][offset]': '+05:00' }, '2027-01-31T12:00:00+05:00']] as const) {
      const saved = await app.inject(submit(fill(findForm(await app.inject('/posts/1.html'), 'PUT', 'old'), changed)))
      t.strictSame([saved.statusCode, store.get(1, {})?.attributes.at], [303, kept], 'a changed time is written')
    }
  }
})

/** Returns the request of a form with other entries, as an outdated page or another client may send. */
function tampered (form: Form, entries: Readonly<Record<string, string>>): InjectOptions {
  return sendForm(form, [...entriesOf(form).filter(([name]) => !Object.hasOwn(entries, name)), ...Object.entries(entries)])
}

t.test('a refused form comes back with its values', async t => {
  const schema = {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1 },
      body: { type: 'string' },
      rating: { type: ['integer', 'null'], maximum: 5 },
      published: { type: 'boolean' },
      state: { enum: ['draft', 'live'] },
      tags: { type: 'array', items: { type: 'string', maxLength: 3 } },
      author: { type: 'object', required: ['name'], minProperties: 2, properties: { name: { type: 'string', minLength: 1 }, mail: { type: 'string' } } },
      open: {}
    }
  } as const
  const filled = { 'post[title]': '', 'post[body]': '\nline "1"\n<line 2>', 'post[rating]': 'five', 'post[published]': 'true', 'post[state]': 'gone', 'post[tags]': 'abc\nabcd', 'post[author][name]': '', 'post[author][mail]': 'a@b' }

  for (const writes of ['collection', 'member'] as const) {
    await t.test(`writes: ${writes}`, async t => {
      const store = memoryStore()
      store.create({ title: 'T', author: { name: 'N', mail: 'M' }, open: { a: 1 } }, {})
      const app = await build(t, { name, attributes: schema, store, writes })
      const forms: [url: string, method: string, filled: Readonly<Record<string, string>>, messages: string[], open: unknown][] = [
        ['/posts.html', 'POST', filled, [], [1]],
        ['/posts/1.html', 'PUT', { ...filled, 'post[open]': '{"a":' }, ['Open must be JSON'], [1]]
      ]
      for (const [url, method, filled, messages, open] of forms) {
        let page = await app.inject(url)
        for (let time = 0; time < 2; time++) {
          page = await app.inject(tampered(findForm(page, method), filled))
          t.strictSame([page.statusCode, page.headers['content-type']], [422, types.html])
          for (const [href, message] of [['title', 'Title must not be blank'], ['rating', 'Rating must be an integer'], ['state', 'State must be one of'], ['tags', 'Tag 2 must have at most 3 characters'], ['author:name', 'Author: Name must not be blank'], ...messages.map((message) => ['open', message])] as const) t.match(decode(page.body), `<li><a href="#post:${href}">${message}`)
          t.match(page.body, '<p class="error" id="post:rating!error">Must be an integer</p>')
          t.match(page.body, /aria-invalid="true"/)
          const back = findForm(page, method)
          for (const [field, value] of Object.entries(filled)) t.equal(shown(back, field), value, `${field}, sent ${time + 1} times`)
        }
        const corrected = await app.inject(submit(fill(findForm(page, method), { 'post[title]': 'U', 'post[rating]': '5', 'post[state]': 'live', 'post[tags]': 'abc', 'post[author][name]': 'O', 'post[open]': '[1]' })))
        t.equal(corrected.statusCode, 303, corrected.body)
        t.strictSame(store.get(method === 'POST' ? 2 : 1, {})?.attributes, { title: 'U', author: { name: 'O', mail: 'a@b' }, open, body: '\nline "1"\n<line 2>', rating: 5, published: true, state: 'live', tags: ['abc'] })
      }
    })
  }

  await t.test('the same holds for entries that no page of ours sends', async t => {
    const app = await build(t, { name, attributes: schema })
    for (const body of ['post[title][]=a&post[title][]=b', 'post[title][x][y]=a', 'post[author]=x', 'post[author][name][0]=x&post[title]=', 'post[tags][0][a]=x', 'post[published]=maybe', 'post[?][0][name]=nothing&post[?][0][value]=x', 'post[tags][]=toolong&post[tags][1]=toolong', 'post[title][?]=null&post[title][x]=a']) {
      const res = await app.inject(send('POST', '/posts', form, body))
      t.strictSame([res.statusCode, res.headers['content-type']], [422, types.html], body)
      t.equal(parseForms(res).length, 1, 'a form comes back')
    }
    t.match((await app.inject(send('POST', '/posts', form, 'post[title][]=first&post[title][]=second'))).body, 'first')
  })
})

t.test('an attribute may be named like a property of Object.prototype', async t => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']
  const schema = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) } as const
  for (const options of [{ attributes: schema }, {}]) {
    const app = await build(t, { name, ...options })
    const bare = await app.inject(send('POST', '/posts.json', 'application/json', '{"post":{}}'))
    t.strictSame([bare.statusCode, bare.body], [201, '{"post":{"id":1}}'])
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id></post>`)
    t.notMatch((await app.inject('/posts/1.html')).body, /native code|\[object/)
    const bodies: [type: string, payload: string][] = [
      ['application/json', `{"post":{${names.map((name) => `"${name}":"x"`).join()}}}`],
      ['application/xml', `<post>${names.map((name) => `<${name}>x</${name}>`).join('')}</post>`],
      [form, names.map((name) => `post[${name}]=x`).join('&')]
    ]
    for (const [type, payload] of bodies) {
      const res = await app.inject(send('POST', '/posts.xml', type, payload))
      t.equal(res.statusCode, 201, res.body)
      t.match(res.body, names.map((name) => `<${name}>x</${name}>`).join(''))
      t.same((await app.inject(`${String(res.headers.location)}.json`)).json<{ post: Attributes }>().post.constructor, 'x')
    }
  }
})

t.test('without a schema a page lets people name attributes', async t => {
  const store = memoryStore()
  const app = await build(t, { name, store })
  const create = findForm(await app.inject('/posts.html'), 'POST')
  t.strictSame(create.controls.filter(({ tag }) => tag !== 'button').map(({ name }) => name), ['0', '1', '2'].flatMap((row) => [`post[?][${row}][name]`, `post[?][${row}][value]`]))
  const created = await app.inject(tampered(create, { 'post[?][0][name]': 'title', 'post[?][0][value]': '<T>', 'post[?][2][name]': 'body', 'post[?][2][value]': 'a\nb' }))
  t.strictSame([created.statusCode, created.headers.location], [303, '/posts/1#created'], 'blank rows are skipped')
  t.strictSame(store.get(1, {})?.attributes, { title: '<T>', body: 'a\nb' })
  store.create({ rating: 5, deep: { a: [null, true] }, none: null, flag: false, 'odd "name"': 'x' }, {})
  const list = (await app.inject('/posts.html')).body
  for (const column of ['title', 'body', 'rating', 'deep', 'none', 'flag']) t.match(list, `<th scope="col">${column}</th>`)
  t.match(list, '<td data-label="title" dir="auto">&lt;T&gt;</td>')
  t.match((await app.inject('/posts/2.html')).body, /<dt>flag<\/dt><dd [^>]*>no<\/dd>/)

  const page = await app.inject('/posts/1.html')
  const update = findForm(page, 'PUT')
  const saved = await app.inject(submit(fill(update, { 'post[title]': 'U', 'post[?][1][name]': 'rating', 'post[?][1][value]': '5' })))
  t.equal(saved.statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, { title: 'U', body: 'a\nb', rating: '5' }, 'values are strings')

  for (const [body, status] of [['post[?][0][name]=a', 303], ['post[?][0][name]=', 303], ['post[?][0][value]=', 303], ['post[?][0][value]=x', 422]] as const) {
    t.equal((await app.inject(send('POST', '/posts', form, body))).statusCode, status, body)
  }
  t.strictSame([3, 4, 5].map((id) => store.get(id, {})?.attributes), [{ a: '' }, {}, {}])

  const untouched = memoryStore()
  untouched.create({ rating: 5, deep: { a: [null, true] }, none: null, flag: false, text: 'x', empty: '' }, {})
  const other = await build(t, { name, store: untouched })
  t.equal((await other.inject(submit(findForm(await other.inject('/posts/1.html'), 'PUT')))).statusCode, 303)
  t.strictSame(untouched.get(1, {})?.attributes, { rating: 5, deep: { a: [null, true] }, none: null, flag: false, text: 'x', empty: '' }, 'untouched values keep their types')

  for (const [filled, message] of [
    [{ 'post[?][0][name]': 'first name', 'post[?][0][value]': 'x' }, 'first name is not a valid name in XML'],
    [{ 'post[?][0][value]': 'x' }, 'is not a valid name in XML'],
    [{ 'post[?][0][name]': 'title', 'post[?][0][value]': 'x' }, 'Title is given more than once']
  ] as const) {
    const refused = await app.inject(submit(fill(findForm(await app.inject('/posts/1.html'), 'PUT'), filled)))
    t.strictSame([refused.statusCode, refused.headers['content-type']], [422, types.html])
    t.match(decode(refused.body), message)
    t.equal(shown(findForm(refused, 'PUT'), 'post[body]'), 'a\nb')
  }
  const stale = await app.inject(submit(fill({ ...update, controls: update.controls.filter(({ name }) => !name.includes('?')) }, { 'post[title]': 'mine' })))
  t.strictSame([stale.statusCode, stale.headers['content-type']], [412, types.html])
  const conflict = findForm(stale, 'PUT')
  t.strictSame(['post[title]', 'post[title][?][keep]', 'post[body]', 'post[rating]'].map((name) => shown(conflict, name)), ['mine', 'yours', 'a\nb', '5'])
  t.match(stale.body, /<legend>title<\/legend>[^]*<div class="value" dir="auto">U<\/div>/)
})

t.test('a page shows values in a readable form', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { firstName: { type: 'string' }, last_name: { type: 'string', title: 'Family name' }, flag: { type: 'boolean' }, off: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string' } }, deep: {}, body: { type: 'string' }, none: { type: ['string', 'null'] } } } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { firstName: 'A', last_name: 'B', flag: true, off: false, tags: ['a', 'b'], deep: { a: [1] }, body: `one\ntwo ${'x'.repeat(200)}`, none: null } } })
  const record = (await app.inject('/posts/1.html')).body
  for (const [label, value] of [['First name', 'A'], ['Family name', 'B'], ['Flag', 'yes'], ['Off', 'no'], ['Tags', '<ul class="values"><li>a</li><li>b</li></ul>'], ['Deep', '<dl class="values"><div><dt>a</dt><dd><ul class="values"><li>1</li></ul></dd></div></dl>'], ['None', '']]) t.match(record.replaceAll(/<dd id="[^"]*" dir="auto">/g, '<dd>'), `<dt>${label}</dt><dd>${value}</dd>`)
  t.match(record, /<dd [^>]*>one<br\/>two x{200}<\/dd>/)
  const list = (await app.inject('/posts.html')).body
  t.match(decode(list), /<td [^>]*>one\ntwo x+…<\/td>/)
  t.notMatch(list, 'x'.repeat(150))
  const none = await build(t, { name })
  t.match((await none.inject('/posts.html')).body, 'There are no posts yet')
})

t.test('an XHTML page keeps the first line break of a text', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { body: { type: 'string' } } } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: '\na' } } })
  const written = ({ body }: { body: string }): string | undefined => /<textarea [^>]*>([^]*?)<\/textarea>/.exec(decode(body))?.[1]
  t.equal(written(await app.inject('/posts/1.html')), '\n\na', 'a parser of HTML drops the first line break')
  const xhtml = await app.inject({ url: '/posts/1', headers: { accept: 'application/xhtml+xml' } })
  t.equal(xhtml.headers['content-type'], 'application/xhtml+xml; charset=utf-8')
  t.equal(written(xhtml), '\na', 'a parser of XML keeps it')
})

t.test('a custom store is called as the contract says', async t => {
  class Shelf implements Store {
    readonly #rows: Store = memoryStore()
    readonly calls: string[] = []

    list (...parameters: Parameters<Store['list']>): ReturnType<Store['list']> {
      this.calls.push('list')
      return this.#rows.list(...parameters)
    }

    get (...parameters: Parameters<Store['get']>): ReturnType<Store['get']> {
      this.calls.push('get')
      return this.#rows.get(...parameters)
    }

    async create (...parameters: Parameters<Store['create']>): Promise<Row> {
      this.calls.push('create')
      return await this.#rows.create(...parameters)
    }

    async update (...parameters: Parameters<Store['update']>): Promise<Awaited<ReturnType<Store['update']>>> {
      this.calls.push('update')
      return await this.#rows.update(...parameters)
    }

    delete (...parameters: Parameters<Store['delete']>): ReturnType<Store['delete']> {
      this.calls.push('delete')
      return this.#rows.delete(...parameters)
    }
  }
  const shelf = new Shelf()
  const app = await build(t, { name, attributes, store: shelf })
  const requests: [request: InjectOptions, status: number][] = [
    [{ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } }, 201],
    [{ url: '/posts' }, 200],
    [{ url: '/posts/1' }, 200],
    [{ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'U' } } }, 200],
    [{ method: 'DELETE', url: '/posts?id=1' }, 204]
  ]
  for (const [request, status] of requests) t.equal((await app.inject(request)).statusCode, status)
  t.strictSame(shelf.calls, ['create', 'list', 'get', 'update', 'delete'], 'each request makes one call')
})

function escapeCsv (value: unknown): string {
  return `"${String(value ?? '').replaceAll('"', '""')}"`
}

t.test('a custom format may write lists', async t => {
  const format: Format = {
    name: 'csv',
    mediaTypes: ['text/csv', 'application/csv'],
    compileWriter ({ attributes }): Writer {
      const names = [...attributes.keys()]
      const row = ({ id, attributes }: Row): string => `${[id, ...names.map((name) => escapeCsv(attributes[name]))].join(',')}\n`
      const head = `id,${names.join(',')}\n`
      return {
        record: (stored, { mediaType }) => `${mediaType}\n${head}${row(stored)}`,
        problem: ({ status, detail }, { mediaType }) => `${mediaType}\nstatus,detail\n${status},${escapeCsv(detail)}\n`,
        list: { open: head, row, separator: '--\n', close: 'end\n' }
      }
    },
    compileReader ({ singular }) {
      return {
        form: false,
        typed: false,
        parse (body) {
          const [names = '', values = ''] = body.toString().split('\n')
          const cells = values.split(',')
          return { [singular]: Object.fromEntries(names.split(',').map((name, index) => [name, cells[index] ?? ''])) }
        },
        entries: (node: Record<string, string>) => node,
        scalar: (node: string) => node,
        compile: ({ types }) => (node: string, path, issues) => {
          if (!types.has('integer')) return node
          if (/^\d+$/.test(node)) return Number(node)
          issues.add(path, 'must be digits')
          return undefined
        }
      }
    }
  }
  const csv = 'text/csv; charset=utf-8'

  await t.test('it reads and writes', async t => {
    const app = await build(t, { name, attributes, formats: ['json', format], writes: 'both' })
    const created = await app.inject(send('POST', '/posts', 'text/csv', 'title,rating\nT,5'))
    t.strictSame([created.statusCode, created.headers['content-type'], created.headers.location, plainTag(created.headers.etag)], [201, csv, '/posts/1', '"1.csv"'])
    t.equal(created.body, 'text/csv\nid,title,rating\n1,"T","5"\n')
    t.strictSame((await app.inject('/posts/1')).json(), { post: { id: 1, title: 'T', rating: 5 } }, 'a client without Accept gets the first format')
    const updated = await app.inject(send('PUT', '/posts/1', 'application/csv', 'id,title\n1,a "b"'))
    t.strictSame([updated.statusCode, updated.headers['content-type'], updated.body], [200, csv, 'text/csv\nid,title,rating\n1,"a ""b""","5"\n'])
    for (const request of [{ url: '/posts/1.csv' }, { url: '/posts/1?format=csv' }, { url: '/posts/1', headers: { accept: 'text/csv' } }]) {
      t.strictSame(((res) => [res.statusCode, res.headers['content-type'], res.body])(await app.inject(request)), [200, csv, 'text/csv\nid,title,rating\n1,"a ""b""","5"\n'])
    }
    const asked = await app.inject({ url: '/posts/1', headers: { accept: 'application/csv' } })
    t.strictSame([asked.headers['content-type'], asked.body.split('\n')[0]], ['application/csv; charset=utf-8', 'application/csv'])
    t.equal((await app.inject({ url: '/posts/1.csv', headers: { 'if-none-match': '*' } })).statusCode, 304)
    t.equal((await app.inject({ method: 'DELETE', url: '/posts/1.csv' })).statusCode, 204)
  })

  await t.test('it lists, in pages and in streams', async t => {
    const store = memoryStore()
    for (let id = 1; id <= 3000; id++) store.create({ title: `T${id}` }, {})
    const app = await build(t, { name, attributes, store, formats: [format] })
    const page = await app.inject('/posts?limit=2')
    t.strictSame([page.statusCode, page.headers['content-type'], page.body], [200, csv, 'id,title,rating\n1,"T1",""\n--\n2,"T2",""\nend\n'])
    t.match(page.headers.link, /<\/posts\?limit=2&after=\w+>; rel="next"/)
    const whole = await app.inject('/posts.csv')
    t.equal(whole.body, `id,title,rating\n${Array.from({ length: 3000 }, (_, index) => `${index + 1},"T${index + 1}",""\n`).join('--\n')}end\n`)
    const none = await build(t, { name, attributes, formats: [format] })
    t.equal((await none.inject('/posts')).body, 'id,title,rating\nend\n')
  })

  await t.test('it writes errors', async t => {
    const app = await build(t, { name, attributes, formats: [format, 'json'] })
    const cases: [request: InjectOptions, status: number, detail: string][] = [
      [{ url: '/posts/9' }, 404, 'there is no post with the id 9'],
      [send('POST', '/posts', 'text/csv', 'title,rating\n,five'), 422, 'rating must be digits; title must not be blank'],
      [send('POST', '/posts', 'text/csv', 'titel\nT'), 422, 'titel is unknown; did you mean ""title""?; title must be given'],
      [{ url: '/posts?x=1' }, 400, 'the parameter ""x"" is unknown'],
      [{ url: '/posts', headers: { accept: 'text/html' } }, 406, 'none of the types in Accept is available here; choose one of text/csv, application/csv (csv); application/json (json)']
    ]
    for (const [request, status, detail] of cases) {
      const res = await app.inject(request)
      t.strictSame([res.statusCode, res.headers['content-type'], res.body], [status, csv, `text/csv\nstatus,detail\n${status},"${detail}"\n`])
    }
    const stale = await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
    t.equal(stale.statusCode, 201)
    const res = await app.inject({ method: 'PUT', url: '/posts.csv', headers: { 'if-match': '"7"' }, payload: { id: 1, post: { title: 'U' } } })
    t.strictSame([res.statusCode, res.headers['content-type'], res.body], [412, csv, 'text/csv\nid,title,rating\n1,"T",""\n'], 'a stale write is answered with the record unless the format writes it otherwise')
  })

  await t.test('a format that cannot read gives a 415', async t => {
    const { compileReader, ...written } = format
    t.type(compileReader, 'function')
    const app = await build(t, { name, attributes, formats: ['json', written] })
    const res = await app.inject(send('POST', '/posts', 'text/csv', 'title\nT'))
    t.strictSame([res.statusCode, res.headers.accept], [415, 'application/json'])
    t.equal((await app.inject('/posts.csv')).headers['content-type'], csv)
  })
})

t.test('a custom format may write pages', async t => {
  const show = ({ id, attributes }: Row): string => `${id}: ${String(attributes.title)}\n`
  const seen: View[] = []
  const format = (browser: boolean): Format => ({
    name: 'txt',
    mediaTypes: ['text/plain'],
    browser,
    compileWriter: ({ plural }) => ({
      record: show,
      stale: (current) => `theirs is ${show(current)}`,
      prepareProblem: async (_problem, services) => ({ content: undefined, row: await services.formRow() }),
      problem (problem, view) {
        seen.push(view)
        return `${problem.status} ${problem.title}\n`
      },
      page: (rows, { next, mediaType, input }) => `${plural} as ${mediaType}${input === undefined ? '' : ' of a form'}\n${rows.map(show).join('')}next: ${String(next)}\n`
    })
  })
  const text = 'text/plain; charset=utf-8'

  async function seeded (t: Test, browser: boolean): Promise<FastifyInstance> {
    const store = memoryStore({ unique: ['title'] })
    for (const title of ['a', 'b', 'c']) store.create({ title }, {})
    return await build(t, { name, attributes, store, formats: [{ ...format(browser), pageSize: 2 }, 'json'] })
  }

  await t.test('pages of documents', async t => {
    const app = await seeded(t, false)
    const first = await app.inject('/posts')
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
    t.strictSame([first.statusCode, first.headers['content-type'], first.body], [200, text, `posts as text/plain\n1: a\n2: b\nnext: ${next}\n`])
    t.equal((await app.inject(next)).body, 'posts as text/plain\n3: c\nnext: undefined\n')
    t.equal((await app.inject('/posts/1')).body, '1: a\n')
    const created = await app.inject({ method: 'POST', url: '/posts.txt', payload: { post: { title: 'd' } } })
    t.strictSame([created.statusCode, created.headers.location, created.body], [201, '/posts/4', '4: d\n'])
    const stale = await app.inject({ method: 'PUT', url: '/posts.txt', headers: { 'if-match': '"7"' }, payload: { id: 1, post: { title: 'x' } } })
    t.strictSame([stale.statusCode, stale.body], [412, 'theirs is 1: a\n'])
    const refused = await app.inject(send('POST', '/posts', form, 'post[title]=x'))
    t.strictSame([refused.statusCode, refused.headers.accept], [415, 'application/json'], 'no form is read if no format is for browsers')
  })

  await t.test('pages for browsers', async t => {
    const app = await seeded(t, true)
    const created = await app.inject(send('POST', '/posts', form, 'post[title]=d'))
    t.strictSame([created.statusCode, created.headers.location, created.body], [303, '/posts/4#created', ''])
    seen.length = 0
    const taken = await app.inject(send('POST', '/posts', form, '_method=PUT&id=1&_version=1&post[title]=b'))
    t.strictSame([taken.statusCode, taken.headers['content-type'], taken.body], [409, text, '409 Conflict\n'])
    t.match(seen, [{ mediaType: 'text/plain', input: { id: 1, version: '1', row: { id: 1, version: '1', attributes: { title: 'a' } }, errors: { title: ['is already taken'] } } }], 'a form comes back with all its values')
    const deleted = await app.inject(send('POST', '/posts', form, '_method=DELETE&id=4'))
    t.strictSame([deleted.statusCode, deleted.headers.location], [303, '/posts#deleted'])
  })
})

t.test('a custom format gets only the values that may be sent', async t => {
  const write = (row: Row): string => `${JSON.stringify(row)}\n`
  const kinds: Record<string, Writer> = {
    lines: { record: write, problem: () => '', list: { open: '', row: write, separator: '', close: '' } },
    pages: { record: write, stale: write, edit: write, problem: () => '', page: (rows) => rows.map(write).join('') },
    documents: { document: (row) => row, serialize: (document) => JSON.stringify(document), problemType: 'application/json', list: { open: '', row: write, separator: '', close: '' } }
  }
  const hidden = { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string', writeOnly: true } } } as const
  for (const [kind, writer] of Object.entries(kinds)) {
    for (const declared of [{ type: 'object', properties: { title: { type: 'string' }, login: hidden, pin: { type: 'string', writeOnly: true } } }, undefined] as const) {
      const store = memoryStore()
      store.create({ login: { user: 'ann', password: 'swordfish' }, pin: '1234', more: true }, {})
      const app = await build(t, { name, ...(declared && { attributes: declared }), store, formats: [{ name: 'own', mediaTypes: ['application/x-own+json'], compileWriter: () => Object.freeze(writer) }, 'json'], writes: 'member', formPages: true })
      const seen = JSON.stringify({ id: 1, version: '1', attributes: declared ? { login: { user: 'ann' } } : { login: { user: 'ann', password: 'swordfish' }, pin: '1234', more: true } })
      for (const url of ['/posts.own', '/posts/1.own', '/posts/1/edit.own']) t.equal((await app.inject(url)).body.trim(), seen, `${url} as ${kind}`)
      const stale = await app.inject({ method: 'PUT', url: '/posts/1.own', headers: { 'if-match': '"9"' }, payload: { post: {} } })
      t.strictSame([stale.statusCode, stale.body.trim()], [412, seen], `a conflict as ${kind}`)
    }
  }
})

t.test('a custom format may have a JSON media type', async t => {
  const format: Format = {
    name: 'hal',
    mediaTypes: ['application/hal+json'],
    compileWriter ({ path }): Writer {
      const record = ({ id, attributes }: Row): string => JSON.stringify({ _links: { self: { href: `${path}/${id}` } }, ...attributes })
      return {
        record,
        problem: ({ status }) => JSON.stringify({ status }),
        list: { open: '[', row: record, separator: ',', close: ']' }
      }
    }
  }
  const hal = 'application/hal+json; charset=utf-8'
  const record = '{"_links":{"self":{"href":"/posts/1"}},"title":"T"}'
  for (const formats of [[format], [format, 'json'], ['json', format]] as const) {
    const store = memoryStore()
    store.create({ title: 'T' }, {})
    const app = await build(t, { name, attributes, store, formats })
    for (const [url, status, body] of [['/posts/1.hal', 200, record], ['/posts.hal', 200, `[${record}]`], ['/posts.hal?limit=1', 200, `[${record}]`], ['/posts/9.hal', 404, '{"status":404}']] as const) {
      const res = await app.inject(url)
      t.strictSame([res.statusCode, res.headers['content-type'], res.body], [status, hal, body], `${url} of ${formats.length}`)
    }
    if (formats.length === 2) t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, title: 'T' } })
  }
})

t.test('ids may be UUIDs in order of time', async t => {
  const UUID_7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
  for (const options of [{ id: 'uuid' }, { store: memoryStore({ id: 'uuid' }) }] satisfies Array<Partial<ResourceOptions>>) {
    const app = await build(t, { name, attributes, writes: 'both', ...options })
    const ids: string[] = []
    const from = Date.now()
    for (let index = 0; index < 50; index++) {
      const res = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: `T${index}` } } })
      const { post: { id } } = res.json<{ post: { id: string } }>()
      t.match(id, UUID_7)
      t.equal(res.headers.location, `/posts/${id}`)
      const time = parseInt(id.slice(0, 13).replace('-', ''), 16)
      t.ok(time >= from && time <= Date.now() + 1000, 'the id begins with the time')
      ids.push(id)
    }
    t.strictSame(ids, [...ids].sort())
    t.strictSame((await app.inject('/posts.json')).json<{ posts: Attributes[] }>().posts.map(({ id, title }) => [id, title]), ids.map((id, index) => [id, `T${index}`]))
    const pages: string[] = []
    for (let next: string | undefined = '/posts.json?limit=20'; next !== undefined;) {
      const res: Awaited<ReturnType<typeof app.inject>> = await app.inject(next)
      pages.push(...res.json<{ posts: Array<{ id: string }> }>().posts.map(({ id }) => id))
      next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
    }
    t.strictSame(pages, ids)
    const [first = ''] = ids
    t.equal((await app.inject(`/posts/${first}.xml`)).body, `${xml}<post><id>${first}</id><title>T0</title></post>`)
    t.match((await app.inject('/posts.html')).body, `<a href="/posts/${first}">`)
    t.equal((await app.inject({ method: 'PUT', url: '/posts', payload: { id: first, post: { title: 'U' } } })).statusCode, 200)
    t.equal((await app.inject(send('PUT', '/posts', 'application/xml', `<post><id>${first}</id><title>V</title></post>`))).statusCode, 200)
    t.equal((await app.inject(send('POST', '/posts', form, `_method=DELETE&id=${first}`))).statusCode, 303)
    for (const id of ['1', first, first.toUpperCase(), `{${first}}`, `${first} `, first.replaceAll('-', ''), 'abc']) {
      const res = await app.inject({ url: `/posts/${encodeURIComponent(id)}`, headers: { accept: 'application/json' } })
      t.strictSame([res.statusCode, res.headers['content-type']], [404, types.problem], id)
    }
  }
})
