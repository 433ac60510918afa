import t from 'tap'
import { compileCsvReader } from '../../../lib/core/formats/csv/read.js'
import { compileFormReader, digest } from '../../../lib/core/formats/form/read.js'
import type { Reader } from '../../../lib/core/formats/format.js'
import { compileJsonReader, mergePatch } from '../../../lib/core/formats/json/json.js'
import { compileXmlReader } from '../../../lib/core/formats/xml/read.js'
import {
  compilePayload, compilePayloadLater, type Payload, type WriteRequest
} from '../../../lib/core/request/payload.js'
import { type IdType, makeResource, type Resource, type ResourcePlace } from '../../../lib/core/resource/resource.js'
import type { Row } from '../../../lib/core/resource/row.js'
import { Issues } from '../../../lib/core/schema/validation/issues.js'
import { parseCursor, writeCursor } from '../../../lib/core/request/list-query.js'
import { BY_ID } from '../../../lib/core/stores/order.js'
import type { Order } from '../../../lib/core/stores/store.js'

const properties = {
  title: { type: 'string', minLength: 1 },
  rating: { type: ['integer', 'null'], maximum: 5 },
  price: { type: 'string', format: 'decimal' },
  secret: { type: 'string', writeOnly: true },
  slug: { type: 'string', readOnly: true },
  author: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      no: { type: 'integer', readOnly: true },
      pin: { type: 'string', writeOnly: true }
    }
  }
} as const
const LONG = 2 ** 53
const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'

interface Parts extends Partial<ResourcePlace> {
  readonly idType?: IdType
  readonly properties?: object | undefined
}

function declare ({ idType = 'integer', properties: declared = properties, ...place }: Parts = {}): Resource {
  return makeResource({
    plural: 'posts',
    singular: 'post',
    path: '/posts',
    memberWrites: false,
    singleton: false,
    foreignKey: undefined,
    longestId: 100,
    actions: new Set(['create', 'update', 'delete'] as const),
    key: [],
    ...place
  }, idType, { type: 'object', properties: declared } as never)
}

const posts = declare()
const open: Resource = { ...declare({ properties: {} }), open: true, foreignKey: 'blogId' }
const READERS = {
  json: compileJsonReader,
  xml: compileXmlReader,
  form: compileFormReader,
  csv: (resource: Resource) => compileCsvReader(resource, {}),
  patch: (resource: Resource) => mergePatch.compileReader(resource)
}
type Format = keyof typeof READERS

function readerOf (format: Format, resource: Resource): Reader {
  const compile: (resource: Resource) => unknown = READERS[format]
  return compile(resource) as Reader
}

interface Asked extends Partial<WriteRequest> {
  readonly resource?: Resource
  readonly format?: Format
}

function read (body: unknown, { resource = posts, format = 'json', ...asked }: Asked = {}): Payload {
  const reader = readerOf(format, resource)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const parsed = reader.parse(Buffer.from(text))
  return compilePayload(resource, reader)(parsed, { action: 'update', member: undefined, query: undefined, ...asked })
}

/** Reads the only row of a CSV file. */
function csv (body: string, action: 'create' | 'update'): Payload {
  const reader = readerOf('csv', posts)
  const rows = (reader.parse(Buffer.from(body)) as { readonly posts: readonly unknown[] }).posts
  return compilePayload(posts, reader)(
    { post: rows[0] }, { action, member: undefined, query: undefined, isMatched: true }
  )
}

/** Returns the status and the errors with which a payload is refused, or the issues that it has. */
function faultsOf (body: unknown, asked: Asked = {}): unknown {
  try {
    const { issues } = read(body, asked)
    return [...issues.messages].map(([path, messages]) => [path, ...messages.map(String)].join(' '))
  } catch (error) {
    const { statusCode, message } = error as { statusCode: number, message: string }
    return [statusCode, message]
  }
}

const refusal = (status: number, message: RegExp): unknown => [status, message]

t.test('an id stands in one or more places, and they name one id', async (t) => {
  const group = { title: 'T' }
  const cases: ReadonlyArray<readonly [body: unknown, asked: Asked, id: unknown]> = [
    [{ id: 1, post: group }, {}, 1],
    [{ post: { id: 1 } }, {}, 1],
    [{ id: 1, post: { id: 1 } }, { query: '1', member: '1' }, 1],
    [{ post: group }, { member: '7' }, 7],
    [{ post: group }, { query: '7' }, 7],
    [{ post: group }, { query: '7', member: '' }, 7],
    [{ id: null, post: group }, { query: '7' }, 7],
    [{ id: '', post: group }, { query: '7' }, 7],
    [{ id: '9007199254740993', post: group }, {}, '9007199254740993'],
    [{ post: { id: 1 } }, { sharesGroup: true, query: '2' }, 2],
    ['id=1&post[title]=T', { format: 'form' }, 1],
    ['id=1&id=1&post[title]=T', { format: 'form' }, 1],
    ['id=&post[title]=T&post[id]=1', { format: 'form' }, 1],
    ['<post><id> 1 </id></post>', { format: 'xml' }, 1],
    [{ post: group }, { action: undefined }, undefined],
    [{ id: 1, post: group }, { action: undefined }, 1],
    [{}, { action: undefined }, undefined],
    [{ id: 1 }, { action: 'delete' }, 1],
    [{ id: UUID, post: group }, { resource: declare({ idType: 'uuid' }) }, UUID],
    [{ id: 'a', post: group }, { resource: declare({ idType: 'string' }) }, 'a'],
    [{ post: group }, { resource: declare({ singleton: true }) }, undefined]
  ]
  for (const [body, asked, id] of cases) t.equal(read(body, asked).id, id, JSON.stringify([body, asked.query]))
  const refused: ReadonlyArray<readonly [body: unknown, asked: Asked, status: number, message: RegExp]> = [
    [{ id: 1, post: { id: 2 } }, {}, 400, /1.*2/],
    [{ id: 1, post: group }, { query: '2' }, 400, /2.*1/],
    [{ post: group }, { member: '2', query: '3' }, 400, /2.*3/],
    ['id=1&id=2&post[title]=T', { format: 'form' }, 400, /1.*2/],
    [{ id: 'x'.repeat(5000), post: { id: 'y' } }, {}, 400, /^.{0,1000}$/],
    [{ post: group }, {}, 422, /id must be given/],
    [{}, { action: 'delete' }, 422, /id must be given/],
    [{ id: '1', post: group }, {}, 404, /"1"/],
    [{ id: '1', post: group }, { query: '1' }, 404, /"1"/],
    [{ id: true, post: group }, {}, 404, /"true"/],
    [{ id: { toString: 1 }, post: group }, {}, 404, /"an object"/],
    [{ id: 1.5, post: group }, {}, 404, /"1.5"/],
    [{ id: 2 ** 53, post: group }, {}, 422, /id .*text/],
    [{ post: group }, { member: '01' }, 404, /"01"/],
    [{ post: group }, { member: 'x'.repeat(5000) }, 404, /^.{0,1000}$/],
    [{ id: 5, post: group }, { resource: declare({ idType: 'string' }) }, 404, /"5"/],
    [{ id: 5, post: group }, { resource: declare({ idType: 'uuid' }) }, 404, /"5"/],
    [{ id: 2 ** 53, post: group }, { resource: declare({ idType: 'string' }) }, 404, /9007199254740992/]
  ]
  for (const [body, asked, ...expected] of refused) {
    t.match(
      faultsOf(body, asked), refusal(...expected), JSON.stringify([body, asked.query]).slice(0, 90)
    )
  }
})

t.test('a create has no id, and a row that is matched names none', async (t) => {
  const cases: ReadonlyArray<readonly [body: unknown, asked: Asked, message: RegExp]> = [
    [{ id: 1, post: {} }, {}, /^id is assigned by the server; leave it out$/],
    [{ post: {} }, { query: '1' }, /is assigned/],
    [
      { id: 'a', post: {} }, { resource: declare({ key: ['title'], idType: 'string' }) },
      /^id consists of "title"; send that instead$/
    ],
    [
      { id: 'a', post: {} }, { resource: declare({ key: ['title', 'rating', 'slug'], idType: 'string' }) },
      /consists of "title", "rating"; send/
    ],
    [{ id: 'a', post: {} }, { resource: declare({ key: ['slug', 'missing'], idType: 'string' }) }, /is assigned/],
    [
      { id: 1, post: {} }, { action: 'update', isMatched: true },
      /^id must be left out, because "match" finds the post$/
    ]
  ]
  for (const [body, asked, message] of cases) {
    t.match(
      faultsOf(body, { action: 'create', ...asked }), refusal(422, message), String(message)
    )
  }
  t.match(faultsOf({ post: {} }, { isMatched: true }), [])
  t.match(faultsOf('post[id]=1', { action: 'create', format: 'form', resource: open }), [/^id .*isAssigned|^id /])
  t.strictSame(
    read('post[id]=1&post[a]=b', { action: 'create', format: 'form', resource: open }).attributes, { a: 'b' }
  )
  for (const [format, resource] of [['form', posts], ['json', open]] as const) {
    t.match(
      faultsOf(format === 'form' ? 'post[id]=1' : { post: { id: 1 } }, { action: 'create', format, resource }),
      [422, /is assigned/]
    )
  }
  t.match(faultsOf('id=1&post[a]=b', { action: 'create', format: 'form', resource: open }), [422, /is assigned/])
  t.strictSame(faultsOf('post[a]=b', { action: 'create', format: 'form', resource: open }), [])
  t.equal(read('post[id]=1', { format: 'form', resource: open }).id, 1)
})

t.test('the attributes stand in a group, which only a deletion and a custom action may lack', async (t) => {
  for (const action of ['create', 'update'] as const) {
    const query = action === 'update' ? '1' : undefined
    t.match(faultsOf({}, { action, query }), [422, /^post must be given$/])
    for (const group of ['T', 5, null, []]) {
      t.match(
        faultsOf({ post: group }, { action, query }), [422, /^post must be a group of attributes$/]
      )
    }
    t.match(faultsOf('post=T', { action, query, format: 'form' }), [422, /must be a group/])
  }
  t.match(faultsOf({}, { isMatched: true }), [422, /^post must be given$/])
  t.match(faultsOf({ post: 'T' }, { action: 'delete', query: '1' }), [422, /must be a group/])
  t.strictSame(read({ id: 1, post: { title: '', unknown: 1, slug: 's' } }, { action: 'delete' }).attributes, {})
  t.strictSame(read({ id: 1, post: { slug: 's' } }, { action: 'delete' }).ignored, [])
  t.strictSame([...read({ id: 1, post: { unknown: 1 } }, { action: 'delete' }).issues.messages], [])
  t.strictSame(read({ post: { title: 'T' } }, { action: undefined }).attributes, { title: 'T' })
  const noFields = declare({ properties: { slug: { type: 'string', readOnly: true } } })
  t.strictSame(read('', { action: 'create', format: 'form', resource: noFields }).attributes, {})
  for (const [asked, body] of [
    [{ resource: noFields }, '{}'], [
      { resource: noFields, format: 'form', action: 'update', query: '1' }, ''
    ], [{ format: 'form' }, ''],
    [{ resource: open, format: 'form' }, '']
  ] as ReadonlyArray<[Asked, string]>) {
    t.match(
      faultsOf(body, { action: 'create', ...asked }), [422, /^post must be given$/]
    )
  }
})

t.test('a member beside the group is refused with its cure', async (t) => {
  const cases: ReadonlyArray<readonly [body: unknown, asked: Asked, message: string]> = [
    [{ title: 'T' }, {}, 'title must be inside "post": send {"post":{"title":…}}'],
    ['title=T', { format: 'form' }, 'title must be inside "post": send post[title]=…'],
    ['<title>T</title>', { format: 'xml' }, 'title must be inside "post"'],
    [{ pots: {} }, {}, 'pots is unknown beside "post"; did you mean "post"?'],
    [{ zebra: 1 }, {}, 'zebra is unknown beside "post"'],
    [{ zebra: 1 }, { resource: open }, 'zebra must be inside "post": send {"post":{"zebra":…}}'],
    [{ pots: 1 }, { resource: open }, 'pots is unknown beside "post"; did you mean "post"?'],
    [{ _method: 'PUT' }, {}, '_method is unknown beside "post"'],
    [{ _method: 'PUT' }, { resource: open }, '_method is unknown beside "post"'],
    [{ id: 1 }, { resource: declare({ singleton: true }) }, 'id is unknown beside "post"'],
    [{ id: 1 }, { resource: { ...open, singleton: true } }, 'id is unknown beside "post"']
  ]
  for (const [body, asked, message] of cases) t.strictSame(faultsOf(body, asked), [422, message])
  const long = 'x'.repeat(5000)
  t.match(faultsOf({ [long]: 1 }, { resource: open }), [422, /^.{0,1000}$/], 'a long name is cut')
  t.strictSame(faultsOf('_method=PUT&_version=1&_key=k&_list=q&commit=x&id=1&post[title]=T', { format: 'form' }), [])
})

t.test('attributes are converted, checked and named in issues, and read-only ones are ignored', async (t) => {
  const { attributes, ignored } = read(
    { id: 1, post: { title: 'T', slug: 's', rating: null, author: { name: 'N', no: 1 } } }
  )
  t.strictSame([attributes, ignored], [{ title: 'T', rating: null, author: { name: 'N' } }, ['slug']])
  t.strictSame(read({ id: 1, post: { title: 'T' } }).ignored, [])
  t.strictSame(
    read('<post><id>1</id><rating>5</rating><title>T</title></post>', { format: 'xml' }).attributes,
    { rating: 5, title: 'T' }
  )
  const cases: ReadonlyArray<readonly [group: object, faults: readonly (string | RegExp)[]]> = [
    [{ titel: 'T' }, [/^titel .*title/]], [{ zebra: 1 }, [/^zebra is unknown|^zebra /]], [{ title: '\0' }, [/^title /]],
    [
      { rating: LONG, title: '\0' }, [/^rating /, /^title /]
    ], [{ author: { more: 1 } }, [/^author.more /]], [{ title: 'T', rating: 5 }, []]
  ]
  for (const [post, faults] of cases) t.match(faultsOf({ id: 1, post }), faults, JSON.stringify(post))
  const wrong = read({ id: 1, post: { rating: LONG, title: 'T' } })
  t.strictSame(wrong.attributes, { title: 'T' }, 'a faulty value is not among the attributes')
  t.strictSame([[...wrong.issues.faulty], [...wrong.issues.whole]], [[['rating', LONG]], ['rating']])
  const unread = read('<post><id>1</id><rating>x</rating></post>', { format: 'xml' })
  t.match(faultsOf('<post><id>1</id><rating>x</rating></post>', { format: 'xml' }), [/^rating /])
  t.strictSame([unread.attributes, [...unread.issues.whole]], [{}, []])
  const inside = declare({ properties: { tags: { type: 'array', items: { type: 'integer' } } } })
  const { issues } = read(
    '<post><id>1</id><tags type="array"><tag>x</tag></tags></post>', { format: 'xml', resource: inside }
  )
  t.strictSame([[...issues.messages.keys()], [...issues.faulty.keys()], [...issues.whole]], [['tags.0'], ['tags'], []])
  const patched = read({ id: 1, post: { rating: LONG } }, { format: 'patch' })
  t.strictSame([[...patched.issues.faulty], patched.issues.size], [[], 1], 'a merge patch is checked when it is merged')
  const many = read(
    { id: 1, post: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`zebra${index}`, 1])) }
  )
  t.ok(many.issues.size < 3000, 'reading ends when there are many issues')
  const long = 'x'.repeat(5000)
  t.ok([...read({ id: 1, post: { [long]: 1 } }).issues.messages.keys()].every((name) => name.length < 1000))
})

t.test('open attributes have portable names, and neither id nor the id of the parent', async (t) => {
  t.strictSame(read({ id: 1, post: { a: [1], blogId: 5 } }, { resource: open }).attributes, { a: [1] })
  t.match(faultsOf({ id: 1, post: { 'a b': 1 } }, { resource: open }), [/a b/])
  t.match(faultsOf({ id: 1, post: { 'first-name': 1 } }, { resource: open }), [/^first-name .*first_name|^first-name /])
  t.match(faultsOf({ post: { id: 1 } }, { resource: { ...open, singleton: true } }), [/^id /])
  t.match(faultsOf({ post: { id: 1 } }, { resource: declare({ singleton: true }) }), [/^id /])
  const tooMany = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, 1]))
  const refused = read({ id: 1, post: tooMany }, { resource: open })
  t.strictSame([refused.attributes, refused.issues.size], [{}, 1])
  t.match(
    faultsOf({ id: 1, post: { blogId: 5 } }, { resource: { ...posts, foreignKey: 'blogId' } }), [/^blogId /],
    'a declared resource has it not'
  )
  const nest = (levels: number): unknown => levels === 0 ? 1 : { in: nest(levels - 1) }
  const sizes = (resource: Resource) => [7, 8, 9].map(
    (levels) => read({ id: 1, post: { any: nest(levels) } }, { resource }).issues.size
  )
  t.strictSame(
    [sizes(open), sizes(declare({ properties: { any: {} } }))], [[0, 1, 1], [0, 0, 1]],
    'the group of open attributes is a level'
  )
})

t.test('a create takes an absent field for none, and an update may remove attributes', async (t) => {
  t.strictSame(
    [csv('title,rating\nT,\n', 'create').attributes, csv('title,rating\nT,\n', 'update').attributes],
    [{ title: 'T' }, { title: 'T', rating: null }]
  )
  t.strictSame(
    [csv('title,_version\nT,\n', 'update').version, csv('title,_version\nT,3\n', 'update').version], [undefined, '3']
  )
  t.strictSame(
    read('id=1&post[rating][?]=absent&post[rating]=', { format: 'form' }).attributes, {},
    'an absent field removes nothing'
  )
  const removed = 'id=1&post[title][?]=removed&post[title]=&post[rating]=5'
  t.strictSame(read(removed, { format: 'form' }).attributes, { title: undefined, rating: 5 })
  t.strictSame(
    read('post[title][?]=removed&post[title]=&post[rating]=5', { format: 'form', action: 'create' }).attributes,
    { rating: 5 }
  )
  t.strictSame(
    read({ id: 1, post: { title: null, rating: null } }, { format: 'patch' }).attributes,
    { title: undefined, rating: null }
  )
})

t.test('the version stands beside the id', async (t) => {
  const cases: ReadonlyArray<readonly [body: unknown, asked: Asked, version: string | undefined]> = [
    [{ id: 1, post: { _version: '3' } }, {}, '3'],
    [{ id: 1, post: { _version: '' } }, {}, ''],
    [{ id: 1, post: {} }, {}, undefined],
    ['id=1&_version=3&post[title]=T', { format: 'form' }, '3'],
    ['id=1&_version=&post[title]=T', { format: 'form' }, ''],
    ['<post><id>1</id><_version>3</_version></post>', { format: 'xml' }, '3'],
    ['<post><id>1</id><_version/></post>', { format: 'xml' }, undefined],
    [{ id: 1 }, { action: 'delete' }, undefined]
  ]
  for (const [body, asked, version] of cases) t.equal(read(body, asked).version, version, JSON.stringify(body))
  t.strictSame(faultsOf({ id: 1, post: { _version: '3' } }), [], 'it is no attribute')
  t.match(faultsOf({ id: 1, post: { _version: 3 } }), [400, /"_version" must be a text/])
  t.match(
    faultsOf('id=1&_version=3&_version=3&post[title]=T', { format: 'form' }), [400, /"_version" must be given once/]
  )
  t.match(faultsOf('id=1&post[_version]=3', { format: 'form' }), [/^_version /], 'a form has it beside the group')
  const own = declare({ properties: { _version: { type: 'string' } } })
  t.strictSame(read({ id: 1, post: { _version: 'x' } }, { resource: own }).attributes, { _version: 'x' })
})

t.test('a form keeps what it has sent, and says what its buttons ask for', async (t) => {
  const sent = (body: string, asked: Asked = {}): Payload => read(
    `post[title]=T&${body}`, { format: 'form', action: 'create', ...asked }
  )
  t.match(sent(''), { isRevised: false, isAnother: false, back: undefined, isCompared: false })
  t.equal((sent('').node as { children: Map<string, unknown> }).children.has('title'), true)
  t.equal(sent('commit=another').isAnother, true)
  t.equal(sent('commit=other').isAnother, false)
  t.equal(sent('commit=another&id=1', { action: 'update' }).isAnother, false)
  t.equal(sent('post[?][back]=blog:1').back, 'blog:1')
  t.equal(sent('', { action: undefined }).node, undefined)
  t.equal(read({ id: 1, post: {} }).node, undefined)
  t.match(read({ post: {} }, { action: 'create' }), { isAnother: false, back: undefined, isRevised: false })
  const revised = sent('post[author][?][add]=')
  t.equal(revised.isRevised, true)
  t.equal(
    (
      revised.node as { children: Map<string, { children: Map<string, unknown> }> }
    ).children.get('author')?.children.has('0'),
    true
  )
  t.equal(sent('post[author][?][add]=', { action: undefined }).isRevised, false)
  t.strictSame(
    sent('post[rating]=1&post[rating][?][chosen]=3').attributes, { title: 'T', rating: 3 },
    'a choice replaces what was there'
  )
  t.equal((sent('id=1', { action: 'update' }).node as { children: Map<string, unknown> }).children.has('title'), true)
  t.equal(read('id=1', { format: 'form', action: 'delete' }).back, undefined)
  t.equal(read('id=1&post[author][?][add]=', { format: 'form', action: 'delete' }).isRevised, false)
})

t.test('an update by a form knows what it has shown, and one in XML compares with the row', async (t) => {
  const row: Row = {
    id: 1,
    version: '1',
    attributes: { title: 'T', rating: 6, price: '1.50', secret: 'S', author: { name: 'N', no: 1, pin: 'P' } }
  }
  const sent = read(`id=1&post[title]=T&post[?][was]=title ${digest('T')}`, { format: 'form' })
  t.strictSame(
    [sent.isUntouched?.('title', 'T'), sent.isUntouched?.('title', 'U'), sent.isUntouched?.('rating', 1)],
    [true, false, false]
  )
  const stored = read(`id=1&post[title]=true&post[?][was]=title ${digest(true)}`, { format: 'form' })
  t.equal(stored.isUntouched?.('title', 'true'), true, 'a stored value of another type')
  t.equal(sent.compareWith, undefined)
  t.match(
    read('id=1&post[title]=%00', { format: 'form' }),
    { compareWith: undefined, issues: { faulty: new Map([['title', '\0']]) } }
  )
  t.equal(read('post[title]=T', { format: 'form', action: 'create' }).isUntouched, undefined)
  const xml = read('<post><id>1</id><title>T</title><rating>6</rating><secret>S</secret></post>', { format: 'xml' })
  t.strictSame([xml.isCompared, xml.isUntouched], [true, undefined])
  const compare = xml.compareWith?.(row)
  t.strictSame([
    compare?.('title', 'T'), compare?.('title', 'U'), compare?.('rating', 6), compare?.('rating', undefined),
    compare?.('secret', 'S'), compare?.('zebra', 1)
  ],
  [true, false, true, true, false, false])
  t.strictSame(
    [compare?.('price', '1.50'), compare?.('price', '2')], [true, false], 'a hook of the app may add an attribute'
  )
  t.equal(xml.compareWith?.({ ...row, attributes: { rating: 5, title: 'X' } })('rating', undefined), false)
  const nil = read('<post><id>1</id><rating nil="true"/></post>', { format: 'xml' })
  t.equal(nil.compareWith?.({ ...row, attributes: {} })('rating', null), false, 'null is not absent')
  t.equal(read('<post><title>T</title></post>', { format: 'xml', action: 'create' }).compareWith, undefined)
  t.equal(read('<post><id>1</id></post>', { format: 'xml', action: 'delete' }).compareWith, undefined)
  const spelled = read('<post><id>1</id><rating> 6 </rating></post>', { format: 'xml' })
  t.equal(spelled.compareWith?.(row)('rating', 5), false, 'a hook of the app has changed the value')
})

t.test('an update in JSON writes what it names, except a faulty value that the row has', async (t) => {
  const row: Row = {
    id: 1,
    version: '1',
    attributes: { title: 'T', rating: LONG, author: { name: 'N', no: 1, pin: 'P' } }
  }
  t.equal(read({ id: 1, post: { title: 'T' } }).compareWith, undefined)
  const faulty = read({ id: 1, post: { title: 'T', rating: LONG } })
  t.equal(faulty.isCompared, false)
  const compare = faulty.compareWith?.(row)
  t.strictSame([compare?.('rating', LONG), compare?.('rating', 7), compare?.('title', 'T')], [true, false, false])
  t.equal(read({ post: { rating: LONG } }, { action: 'create' }).compareWith, undefined)
  const part = read({ id: 1, post: { author: { name: '\0' } } }).compareWith?.(
    { ...row, attributes: { author: { name: '\0', no: 1, pin: 'P' } } }
  )
  t.equal(part?.('author', { name: '\0' }), true, 'members that a client never reads or sends do not count')
  t.equal(part?.('author', { name: 'x' }), false)
})

t.test('a row that is matched is compared, and its decimals are equal whatever their digits', async (t) => {
  const row: Row = { id: 1, version: '1', attributes: { price: '1.50', title: '1.50' } }
  const matched = read({ post: { price: '1.5', title: '1.5' } }, { isMatched: true })
  t.equal(csv('title,rating\nT,\n', 'update').compareWith?.(
    { id: 1, version: '1', attributes: {} }
  )('rating', null), true,
  'an empty field stands for an attribute that the row does not have')
  t.equal(matched.isCompared, true)
  const compare = matched.compareWith?.(row)
  t.strictSame(
    [compare?.('price', '1.5'), compare?.('price', '1.6'), compare?.('title', '1.5'), compare?.('price', 'x')],
    [true, false, false, false]
  )
  t.equal(matched.compareWith?.({ ...row, attributes: { price: 'x' } })('price', '1.5'), false)
  t.equal(read({ id: 1, post: { price: '1.5' } }, { format: 'json' }).compareWith, undefined)
  const absent = matched.compareWith?.({ ...row, attributes: {} })
  t.equal(absent?.('price', undefined), false)
})

t.test('a merge patch names what it merges, and checks the merged value', async (t) => {
  const { merged, checkMerged } = read({ id: 1, post: { title: 'T', author: { name: 'N' } } }, { format: 'patch' })
  t.strictSame(merged, ['author'])
  t.strictSame(read({ id: 1, post: { author: { name: 'N' } } }).merged, [])
  const faults = (name: string, value: unknown): number => {
    const issues = new Issues()
    checkMerged(name, value, issues)
    return issues.size
  }
  const stored = { name: 'N', no: 1, pin: 'P' }
  t.strictSame(
    [faults('author', stored), faults('author', { name: '\0' }), faults('secret', '\0'), faults('secret', 'S')],
    [0, 1, 1, 0]
  )
  t.strictSame(stored, { name: 'N', no: 1, pin: 'P' }, 'the stored value stays')
})

t.test('a reader of payloads is compiled when the first one is read', async (t) => {
  let compiled = 0
  const reader = compileJsonReader(posts)
  const readPayload = compilePayloadLater(
    posts, { ...reader, compile: (shape) => { compiled++; return reader.compile(shape) } }
  )
  t.equal(compiled, 0)
  const asked = { action: 'update', member: '1', query: undefined } as const
  t.strictSame(readPayload({ post: { title: 'T' } }, asked).attributes, { title: 'T' })
  const once = compiled
  t.strictSame([readPayload({ post: { title: 'U' } }, asked).attributes, compiled], [{ title: 'U' }, once])
})

const sorted = {
  title: { type: 'string' },
  rating: { type: ['integer', 'null'] },
  ratio: { type: 'number' },
  done: { type: 'boolean' },
  price: { type: 'string', format: 'decimal' },
  owner: { type: 'string', format: 'uuid' }
} as const
const place = {
  plural: 'posts',
  singular: 'post',
  path: '/posts',
  memberWrites: false,
  singleton: false,
  actions: new Set(['list'] as const),
  foreignKey: undefined,
  longestId: 100,
  key: []
}
const REFUSED = { code: 'FST_RESOURCES_INVALID_QUERY', statusCode: 400 }
const KEY_UUID = '01890a5d-ac96-774b-bcce-b302099a8057'

function resourceOf (idType: IdType): Resource {
  return makeResource(place, idType, { type: 'object', properties: sorted })
}

/** Returns the order of these criteria and of the id behind them. */
function orderOf (...names: readonly string[]): Order {
  return names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

const row = (attributes: object, id: string | number = 7): Row => ({ id, version: '1', attributes: { ...attributes } })
const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
const sortedPosts = resourceOf('integer')

t.test('a cursor is the position of a row, or its id where that is too long or not in the schema', async (t) => {
  const cases: ReadonlyArray<readonly [order: Order, attributes: object, parts: unknown, place: unknown]> = [
    [BY_ID, {}, [7], [7]],
    [orderOf('-id'), {}, ['-id', 7], [7]],
    [orderOf('title', 'id'), { title: 'T' }, ['title', 'T', 7], ['T', 7]],
    [orderOf('-title', '-id'), { title: 'T' }, ['-title,-id', 'T', 7], ['T', 7]],
    [orderOf('-rating', 'title', 'id'), { rating: 3, title: 'T' }, ['-rating,title', 3, 'T', 7], [3, 'T', 7]],
    [orderOf('rating', 'id'), {}, ['rating', null, 7], [null, 7]],
    [orderOf('done', 'id'), { done: false }, ['done', false, 7], [false, 7]],
    [orderOf('ratio', 'id'), { ratio: 0.5 }, ['ratio', 0.5, 7], [0.5, 7]],
    [orderOf('title', 'id'), { title: 'x'.repeat(1486) }, ['title', 'x'.repeat(1486), 7], ['x'.repeat(1486), 7]],
    [orderOf('title', 'id'), { title: 'x'.repeat(1487) }, ['title', [7]], 7],
    [orderOf('title', 'id'), { title: 5 }, ['title', [7]], 7]
  ]
  for (const [order, attributes, parts, place] of cases) {
    const cursor = writeCursor(row(attributes), order, sortedPosts)
    const what = JSON.stringify(parts).slice(0, 60)
    t.strictSame(JSON.parse(Buffer.from(cursor, 'base64url').toString()), parts, what)
    t.strictSame(parseCursor('after', cursor, order, sortedPosts), place, what)
  }
  const [most, more] = [1486, 1487].map((length) =>
    writeCursor(row({ title: 'x'.repeat(length) }), orderOf('title', 'id'), sortedPosts).length)
  t.strictSame([most, more], [2000, 18], 'a cursor has at most 2,000 characters')
})

t.test('a cursor that this list has not written is refused', async (t) => {
  const byTitle = orderOf('title', 'id')
  const long = encode(['title', 'x'.repeat(1487), 7])
  const cases: ReadonlyArray<readonly [order: Order, text: string]> = [
    [BY_ID, ''], [BY_ID, 'x'], [BY_ID, encode({})], [BY_ID, encode('7')], [BY_ID, encode(7)], [BY_ID, encode([])],
    [BY_ID, encode([7, 8])], [BY_ID, encode([[7]])], [BY_ID, encode(['7'])], [BY_ID, encode([null])],
    [BY_ID, encode([1.5])], [BY_ID, encode([{ toString: 1 }])], [BY_ID, encode([true])],
    [BY_ID, `${encode([7])}=`], [BY_ID, Buffer.from('[7 ]').toString('base64url')],
    [orderOf('-id'), encode([7])], [orderOf('-id'), encode(['-id', [7]])],
    [byTitle, encode(['T', 7])], [byTitle, encode(['-title', 'T', 7])], [byTitle, encode(['title', 'T'])],
    [byTitle, encode(['title', 'T', 7, 8])], [byTitle, encode(['title', 'T', 'x'])], [byTitle, encode(['title'])],
    [byTitle, encode(['title', [7, 8]])], [byTitle, encode(['title', []])], [byTitle, encode(['title', ['7']])],
    [byTitle, encode(['title', [7], 8])], [byTitle, encode(['title', 7])], [byTitle, long],
    [orderOf('title', 'rating', 'id'), encode(['title,rating', 'T', 7])],
    ...['T', 5, true].map((value) => [orderOf('missing', 'id'), encode(['missing', value, 7])] as const)
  ]
  for (const [order, text] of cases) {
    const what = Buffer.from(text, 'base64url').toString().slice(0, 60)
    for (const [parameter, relation] of [['after', 'next'], ['before', 'prev']] as const) {
      t.throws(() => parseCursor(parameter, text, order, sortedPosts), {
        statusCode: 400, message: new RegExp(`"${parameter}" must come from .*${relation}`)
      }, what)
    }
  }
})

t.test('a position has values that the schema allows', async (t) => {
  const cases: ReadonlyArray<readonly [by: string, allowed: readonly unknown[], refused: readonly unknown[]]> = [
    ['title', ['', 'T', null], [1, true, '\0', '\ud800', [], {}]],
    ['rating', [0, -5, '9007199254740993', null], [1.5, '1', 'x', 2 ** 53, true]],
    ['ratio', [0.5, 3, 1e300, null], ['1', 'x', true]],
    ['done', [true, false, null], [0, 'true', {}]],
    ['price', ['1.50', '-2', null], ['x', '', 1]],
    ['owner', [KEY_UUID, null], ['x', KEY_UUID.toUpperCase().slice(1)]]
  ]
  for (const [by, allowed, refused] of cases) {
    const order = orderOf(by, 'id')
    const read = (value: unknown) => () => parseCursor('after', encode([by, value, 7]), order, sortedPosts)
    for (const value of allowed) t.strictSame(read(value)(), [value, 7], `${by} ${JSON.stringify(value)}`)
    for (const value of refused) t.throws(read(value), REFUSED, `${by} ${JSON.stringify(value)}`)
  }
})

t.test('an id in a cursor has the type of the ids', async (t) => {
  const cases: ReadonlyArray<readonly [type: IdType, allowed: readonly unknown[], refused: readonly unknown[]]> = [
    ['integer', [7, '9007199254740993'], ['7', '%[1]', 'x', null, ['7'], 1.5]],
    ['uuid', [KEY_UUID], [7, 'x', `%[${KEY_UUID}`]],
    ['string', ['a', '%[1]', 'x%['], [7, '', '.', '%[\0', null]]
  ]
  for (const [type, allowed, refused] of cases) {
    const resource = resourceOf(type)
    const read = (id: unknown) => () => parseCursor('before', encode([id]), BY_ID, resource)
    for (const id of allowed) t.strictSame(read(id)(), [id], `${type} ${String(id)}`)
    for (const id of refused) t.throws(read(id), REFUSED, `${type} ${JSON.stringify(id)}`)
  }
})
