import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type AttributesOf, BY_ID, draw, InvalidError, memoryStore, type Row } from '../../../lib/index.js'
import {
  Connection, Day, type Exchange, Float, fromXml, type Hash, Model, type Resource
} from '../../support/xml/active-resource.js'
import { plainTag } from '../../support/plain-tag.js'
import '../../support/helper.js'

const post = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    first_name: { type: ['string', 'null'] },
    published: { type: 'boolean', default: false },
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    comments_count: { type: 'integer', readOnly: true }
  }
} as const

type Post = AttributesOf<typeof post>

const everything = {
  type: 'object',
  properties: {
    text: { type: ['string', 'null'] },
    integer: { type: 'integer' },
    float: { type: 'number' },
    yes: { type: 'boolean' },
    day: { type: 'string', format: 'date' },
    moment: { type: 'string', format: 'date-time' },
    nothing: { type: ['string', 'null'] },
    parent_id: { type: ['integer', 'null'] },
    dueOn: { type: 'string', format: 'date' },
    none: { type: 'array', items: { type: 'string' } },
    author: { type: 'object', properties: { first_name: { type: 'string' } } },
    links: { type: 'array', items: { type: 'object', properties: { url: { type: 'string' } } } }
  }
} as const

const comment = {
  type: 'object', properties: { post_id: { type: 'integer' }, text: { type: 'string', minLength: 1 } }
} as const
const named = { type: 'object', properties: { name: { type: 'string' } } } as const

interface Client {
  readonly connection: Connection
  readonly Post: Model
  readonly Comment: Model
  readonly Logo: Model
  readonly Profile: Model
  readonly Record: Model
  readonly BlogPost: Model
}

/** Starts a server with two posts, and a client of it. */
async function open (
  t: Test,
  { headers, prefix = '' }: { readonly headers?: Readonly<Record<string, string>>, readonly prefix?: string } = {}
): Promise<Client> {
  const app: FastifyInstance = fastify()
  t.teardown(() => app.close())
  const store = memoryStore<Post>()
  store.create({ title: 'Tea & cake', first_name: 'Zoë', published: true, rating: 5, comments_count: 3 }, {})
  store.create({ title: 'Coffee', published: false, rating: null, comments_count: 0 }, {})
  const ratedAtLeast = (least: unknown): Array<Row<Post>> => [
    ...store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined })
  ].flat().filter(({ attributes: { rating } }) => Number(rating) >= Number(least))
  const both = { writes: 'both', formPages: true } as const
  app.register(draw((map) => {
    map.resources('posts', { ...both, attributes: post, store }, (posts) => {
      posts.resources('comments', { ...both, attributes: comment, foreignKey: 'post_id' })
      posts.resource('logo', { ...both, attributes: named })
      posts.collection.get(
        'popular',
        { query: { type: 'object', properties: { least: { type: 'integer', default: 1 } } } },
        ({ query: { least } }) => ratedAtLeast(least)
      )
      posts.collection.post('import', { attributes: post }, ({ attributes, store, scope, signal }) => store.create(
        { ...attributes, comments_count: 0 }, scope, { signal }
      ))
      posts.collection.put('touch', () => {})
      posts.collection.delete('drafts', () => {})
      posts.member.get('summary', (context) => context.row())
      posts.member.post('copy', { attributes: post }, ({ attributes, store, scope, signal }) => store.create(
        { ...attributes, comments_count: 0 }, scope, { signal }
      ))
      posts.member.put(
        'publish',
        { query: { type: 'object', properties: { rating: { type: 'integer' } } } },
        ({ id, store, guard, query, signal }) => store.update(id, { published: true, ...query }, guard, { signal })
      )
      posts.member.put('refuse', () => { throw new InvalidError({ title: ['is not to be published'] }) })
      posts.member.delete('comments_count', async ({ id, store, guard, signal }) => {
        await store.update(id, { comments_count: 0 }, guard, { signal })
      })
      posts.new.post('preview', { attributes: post }, ({ attributes }) => ({
        id: 99, attributes: { ...attributes, comments_count: 7 }
      }))
    })
    map.resource('profile', { ...both, attributes: named })
    map.resources('records', { ...both, attributes: everything })
    map.resources('blog_posts', { ...both, attributes: named })
  }), { prefix })
  await app.ready()
  const connection = new Connection(app, headers)
  const model = (element: string, under = '/'): Model => new Model(connection, { element, prefix: prefix + under })
  return {
    connection,
    Post: model('post'),
    Comment: model('comment', '/posts/:post_id/'),
    Logo: model('logo', '/posts/:post_id/'),
    Profile: model('profile'),
    Record: model('record'),
    BlogPost: model('blog_post')
  }
}

function plain ({ attributes }: Resource): object {
  return { ...attributes }
}

const HEADERS = ['allow', 'etag', 'link', 'location', 'vary', 'accept', 'content-type'] as const

/** Writes a request as it was on the wire, without the length of a body. */
function requestOf ({ method, path, sent, payload }: Exchange): string {
  const lines = Object
    .entries(sent)
    .filter(([name, value]) => name !== 'content-length' || value === '0')
    .map(([name, value]) => `${name}: ${value}\n`)
  return `${method} ${path}\n${lines.join('')}\n${payload ?? ''}`
}

/** Writes an answer: the headers that matter to such a client, and the body. */
function responseOf ({ status, headers, body }: Exchange): string {
  const lines = HEADERS.filter((name) => headers[name] !== undefined).map((name) =>
    `${name}: ${String(plainTag(headers[name]))}\n`)
  return `${status}\n${lines.join('')}\n${body ?? ''}`
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
const type = 'content-type: application/xml; charset=utf-8'
const first = '<post><id type="integer">1</id><title>Tea &amp; cake</title><first_name>Zoë</first_name><published ' +
  'type="boolean">true</published><rating type="integer">5</rating><comments_count type="integer">3</comments_count>' +
  '</post>'
const second = '<post><id type="integer">2</id><title>Coffee</title><published type="boolean">false</published>' +
  '<rating nil="true"/><comments_count type="integer">0</comments_count></post>'

const cases: Array<[name: string, act: (client: Client) => Promise<unknown>, request: string, response: string]> = [
  ['find(1)', ({ Post }) => Post.find(1), 'GET /posts/1.xml\naccept: application/xml\n\n',
    `200\netag: "1.xml"\n${type}\n\n${declaration}\n${first}`],
  ['find(3), which there is not', ({ Post }) => Post.find(3), 'GET /posts/3.xml\naccept: application/xml\n\n',
    `404\n${type}\n\n${declaration}\n<errors><error>there is no post with the id 3</error></errors>`],
  ['find(:all)', ({ Post }) => Post.all(), 'GET /posts.xml\naccept: application/xml\n\n',
    `200\n${type}\n\n${declaration}\n<posts type="array">${first}${second}</posts>`],
  ['find(:all, :params => { … })', ({ Post }) => Post.all({ params: { rating: null, published: false } }),
    'GET /posts.xml?published=false&rating=\naccept: application/xml\n\n',
    `200\n${type}\n\n${declaration}\n<posts type="array">${second}</posts>`],
  ['find(:all) of no rows', ({ Comment }) => Comment.all({ params: { post_id: 1 } }),
    'GET /posts/1/comments.xml\naccept: application/xml\n\n',
    `200\n${type}\n\n${declaration}\n<comments type="array"></comments>`],
  ['create', ({ Post }) => Post.create({ title: 'Zoë & <b>', rating: null, first_name: null }),
    `POST /posts.xml\ncontent-type: application/xml\n\n${declaration}\n<post>\n  <title>Zo&#235; &amp; ` +
      '&lt;b&gt;</title>\n  <rating nil="true"></rating>\n  <first-name nil="true"></first-name>\n</post>\n',
    `201\netag: "1.xml"\nlocation: /posts/3\n${type}\n\n${declaration}\n<post><id type="integer">3</id><title>Zoë ` +
      '&amp; &lt;b&gt;</title><first_name nil="true"/><published type="boolean">false</published><rating ' +
      'nil="true"/></post>'],
  ['create of what is invalid', ({ Post }) => Post.create({ title: '', rating: 9 }),
    `POST /posts.xml\ncontent-type: application/xml\n\n${declaration}\n<post>\n  <title></title>\n  <rating ` +
      'type="integer">9</rating>\n</post>\n',
    `422\n${type}\n\n${declaration}\n<errors><error attribute="title">Title must not be blank</error><error ` +
      'attribute="rating">Rating must be at most 5</error></errors>'],
  ['save of what was found, the id and what is read-only ' +
    'included', async ({ Post }) => await (await Post.find(1)).save(),
    `PUT /posts/1.xml\ncontent-type: application/xml\n\n${declaration}\n<post>\n  <id type="integer">1</id>\n  ` +
      '<title>Tea &amp; cake</title>\n  <first-name>Zo&#235;</first-name>\n  <published type="boolean">' +
      'true</published>\n  <rating type="integer">5</rating>\n  <comments-count type="integer">3</comments-count>' +
      '\n</post>\n',
    `200\netag: "1.xml"\n${type}\n\n${declaration}\n${first}`],
  ['destroy', async ({ Post }) => await (await Post.find(2)).destroy(),
    'DELETE /posts/2.xml\naccept: application/xml\n\n', '204\n\n'],
  ['exists?', ({ Post }) => Post.exists(1), 'HEAD /posts/1.xml\naccept: application/xml\n\n',
    `200\netag: "1.xml"\n${type}\n\n`],
  ['build', ({ Post }) => Post.build(), 'GET /posts/new.xml\naccept: application/xml\n\n',
    `200\n${type}\n\n${declaration}\n<post><published type="boolean">false</published></post>`],
  ['get of the collection', ({ Post }) => Post.get('popular', { least: 5 }),
    'GET /posts/popular.xml?least=5\naccept: application/xml\n\n',
    `200\n${type}\n\n${declaration}\n<posts type="array">${first}</posts>`],
  ['post to the collection', ({ Post }) => Post.post('import', {}, '<post><title>Milk</title></post>'),
    'POST /posts/import.xml\ncontent-type: application/xml\n\n<post><title>Milk</title></post>',
    `200\netag: "3-1.xml"\n${type}\n\n${declaration}\n<post><id type="integer">3</id><title>Milk</title><published ` +
      'type="boolean">false</published><comments_count type="integer">0</comments_count></post>'],
  ['put to the collection, without a body', ({ Post }) => Post.put('touch'),
    'PUT /posts/touch.xml\ncontent-type: application/xml\ncontent-length: 0\n\n', '204\n\n'],
  ['delete of the collection', ({ Post }) => Post.delete(':drafts'),
    'DELETE /posts/drafts.xml\naccept: application/xml\n\n', '204\n\n'],
  ['get of a member', async ({ Post }) => await (await Post.find(1)).get('summary'),
    'GET /posts/1/summary.xml\naccept: application/xml\n\n', `200\netag: "1.xml"\n${type}\n\n${declaration}\n${first}`],
  ['post to a member, with the whole record', async ({ Post }) => await (await Post.find(2)).post('copy'),
    `POST /posts/2/copy.xml\ncontent-type: application/xml\n\n${declaration}\n<post>\n  <id type="integer">2</id>` +
      '\n  <title>Coffee</title>\n  <published type="boolean">false</published>\n  <rating nil="true"></rating>\n  ' +
      '<comments-count type="integer">0</comments-count>\n</post>\n',
    `200\netag: "3-1.xml"\n${type}\n\n${declaration}\n${second.replace('>2<', '>3<')}`],
  ['put to a member, without a body, with ' +
    'parameters', async ({ Post }) => await (await Post.find(2)).put('publish', { rating: 4 }),
  'PUT /posts/2/publish.xml?rating=4\ncontent-type: application/xml\ncontent-length: 0\n\n',
    `200\netag: "2.xml"\n${type}\n\n${declaration}\n` +
        second.replace('false', 'true').replace('<rating nil="true"/>', '<rating type="integer">4</rating>')],
  ['put to a member that is refused', async ({ Post }) => await (await Post.find(2)).put('refuse'),
    'PUT /posts/2/refuse.xml\ncontent-type: application/xml\ncontent-length: 0\n\n',
    `422\n${type}\n\n${declaration}\n<errors><error attribute="title">Title is not to be published</error></errors>`],
  ['delete of a member', async ({ Post }) => await (await Post.find(1)).delete('comments_count'),
    'DELETE /posts/1/comments_count.xml\naccept: application/xml\n\n', '204\n\n'],
  ['post of a new element', ({ Post }) => Post.new({ title: 'Milk' }).post('preview'),
    `POST /posts/new/preview.xml\ncontent-type: application/xml\n\n${declaration}\n<post>\n  <title>Milk</title>` +
      '\n</post>\n',
    `200\n${type}\n\n${declaration}\n<post><id type="integer">99</id><title>Milk</title><published type="boolean">` +
      'false</published><comments_count type="integer">7</comments_count></post>'],
  ['create below a parent', ({ Comment }) => Comment.create({ post_id: 1, text: 'Yes' }),
    `POST /posts/1/comments.xml\ncontent-type: application/xml\n\n${declaration}\n<comment>\n  <text>Yes</text>` +
      '\n</comment>\n',
    `201\netag: "1.xml"\nlocation: /posts/1/comments/1\n${type}\n\n${declaration}\n<comment><id type="integer">` +
      '1</id><post_id type="integer">1</post_id><text>Yes</text></comment>'],
  ['create below a parent that there is not', ({ Comment }) => Comment.create({ post_id: 9, text: 'Yes' }),
    `POST /posts/9/comments.xml\ncontent-type: application/xml\n\n${declaration}\n<comment>\n  <text>Yes</text>` +
      '\n</comment>\n',
    `404\n${type}\n\n${declaration}\n<errors><error>there is no post with the id 9</error></errors>`],
  ['find(:one, :from => …) of a singleton that is not there', ({ Profile }) => Profile.one({ from: '/profile.xml' }),
    'GET /profile.xml\naccept: application/xml\n\n',
    `404\n${type}\n\n${declaration}\n<errors><error>there is no profile here</error></errors>`],
  ['create of a singleton', ({ connection, Profile }) => connection.post('/profile.xml',
    Profile.new({ name: 'Ann' }).toXml()),
    `POST /profile.xml\ncontent-type: application/xml\n\n${declaration}\n<profile>\n  <name>Ann</name>\n</profile>\n`,
    `201\netag: "1-1.xml"\nlocation: /profile\n${type}\n\n${declaration}\n<profile><name>Ann</name></profile>`],
  ['a wrong verb', ({ connection }) => connection.delete('/posts.json/1.xml'),
    'DELETE /posts.json/1.xml\naccept: application/xml\n\n',
    '404\ncontent-type: application/json; charset=utf-8\n\n{"message":"Route DELETE:/posts.json/1.xml not ' +
      'found","error":"Not Found","statusCode":404}'],
  ['a verb that a path does not serve', ({ connection }) => connection.put('/posts/popular.xml'),
    'PUT /posts/popular.xml\ncontent-type: application/xml\ncontent-length: 0\n\n',
    `405\nallow: GET, HEAD, OPTIONS\n${type}\n\n${declaration}\n<errors><error>PUT is not allowed here; use GET, ` +
      'HEAD, OPTIONS</error></errors>']
]

t.test('each request of the old client gets the expected answer to the byte', async t => {
  for (const [name, act, request, response] of cases) {
    await t.test(name, async t => {
      const client = await open(t)
      await act(client).catch((error: Error) => { if (error.constructor.name !== 'ConnectionError') throw error })
      t.equal(requestOf(client.connection.last), request)
      t.equal(responseOf(client.connection.last), response)
    })
  }
})

t.test('a row is created, found, changed and destroyed', async t => {
  const everyHeader: Array<[string, Record<string, string>]> = [
    ['without an Accept where it writes', {}],
    ['with the Accept: */* that Ruby adds to it', { accept: '*/*' }]
  ]
  for (const [name, headers] of everyHeader) {
    await t.test(name, async t => {
      const { Post } = await open(t, { headers })
      const milk = await Post.create({ title: 'Milk', rating: 3 })
      t.strictSame([milk.isNew, milk.errors], [false, {}])
      t.strictSame(plain(milk), { title: 'Milk', rating: 3, id: 3, published: false },
        'the server\'s defaults are added')
      t.equal(await milk.exists(), true)
      t.equal(await milk.updateAttribute('title', 'Warm milk'), true)
      t.strictSame(plain(await Post.find(3)), { id: 3, title: 'Warm milk', published: false, rating: 3 })

      const same = await Post.find(3)
      same.attributes.rating = null
      t.equal(await same.save(), true)
      t.equal((await milk.reload()).attributes.rating, null)

      await milk.destroy()
      t.equal(await milk.exists(), false)
      t.equal(await Post.exists(3), false)
      await t.rejects(milk.reload(), { name: 'ResourceNotFound' })
      await t.rejects(milk.save(), { name: 'ResourceNotFound' })
      await t.rejects(milk.destroy(), { name: 'ResourceNotFound' })
      await Post.delete(2)
      t.strictSame((await Post.all()).map(({ id }) => id), [1])
    })
  }
})

t.test('each failure raises the error of its status', async t => {
  const { connection, Post, Comment } = await open(t)
  const raised: Array<[string, () => Promise<unknown>, string]> = [
    ['no such row', () => Post.find(99), 'ResourceNotFound'],
    ['what cannot be an id', () => Post.find('abc'), 'ResourceNotFound'],
    ['no such path', () => connection.get('/others.xml'), 'ResourceNotFound'],
    ['no such parent', () => Comment.all({ params: { post_id: 99 } }), 'ResourceNotFound'],
    ['an unknown parameter', () => Post.all({ params: { colour: 'red' } }), 'BadRequest'],
    ['a parameter that does not convert', () => Post.get('popular', { least: 'much' }), 'BadRequest'],
    ['two ids', () => connection.put('/posts/1.xml', '<post><id type="integer">2</id></post>'), 'BadRequest'],
    ['what is no XML', () => connection.post('/posts.xml', '<post>'), 'BadRequest'],
    ['a verb that is not served', () => connection.post('/posts/1.xml', '<post><title>x</title></post>'),
      'MethodNotAllowed'],
    ['an unknown attribute', () => connection.post('/posts.xml', '<post><title>x</title><titel>x</titel></post>'),
      'ResourceInvalid'],
    ['a singleton that is there', async () => {
      await connection.post('/profile.xml', '<profile><name>Ann</name></profile>')
      await connection.post('/profile.xml', '<profile><name>Bob</name></profile>')
    }, 'ResourceConflict']
  ]
  for (const [name, act, expected] of raised) await t.rejects(act(), { name: expected }, name)
  for (const {
    status, headers, body
  } of connection.exchanges.filter(({ path, status }) => status >= 400 && path !== '/others.xml')) {
    t.equal(headers['content-type'], 'application/xml; charset=utf-8')
    t.match(fromXml(body as string), { errors: { error: String } }, `${status}: one message as a text`)
  }
})

t.test('each validation message is assigned to its attribute', async t => {
  const { Post, Record, Comment } = await open(t)
  const author = Object.assign(Object.create(null) as Hash, { first_name: new Float(7) })
  const wrong: Array<[string, model: Model, Hash, errors: Record<string, string[]>]> = [
    ['one', Post, { title: '' }, { title: ['must not be blank'] }],
    ['two', Post, { title: '', rating: 9 }, { title: ['must not be blank'], rating: ['must be at most 5'] }],
    ['of a name of two words', Post, { title: 'x', first_name: 7 },
      { first_name: ['says type="integer", but must be a string or null'] }],
    ['of a name that begins with another one', Post, { title: 'x', title_page: 'x' }, { title_page: ['is unknown'] }],
    ['of what is not declared', Post, { title: 'x', titel: 'y' }, { titel: ['is unknown; did you mean "title"?'] }],
    ['of what only the server knows', Post, { rating: 3 }, { base: ['Title must be given'] }],
    ['of a foreign key', Record, { parent_id: 'x' }, { parent_id: ['must be an integer or null'] }],
    ['of a name in camel case', Record, { dueOn: 'x' }, { dueOn: ['must be a date such as 2026-01-31'] }],
    ['of what is inside an attribute', Record, { author },
      { author: ['first name says type="float", but must be a string'] }],
    ['of an item', Record, { links: [Object.assign(Object.create(null) as Hash, { url: 7 })] },
      { links: ['0 url says type="integer", but must be a string'] }]
  ]
  for (const [name, model, attributes, errors] of wrong) {
    const invalid = await model.create(attributes)
    t.equal(invalid.isNew, true, name)
    t.strictSame(invalid.errors, errors, name)
  }
  const found = await Post.find(1)
  found.attributes.title = ''
  t.equal(await found.save(), false)
  t.strictSame(found.errors, { title: ['must not be blank'] })
  t.equal(await found.updateAttribute('title', 'Tea'), true)
  t.strictSame(found.errors, {})
  t.strictSame((await Comment.create({ post_id: 1, text: '' })).errors, { text: ['must not be blank'] })
})

t.test('a row comes back as it was sent, and can be sent as it came back', async t => {
  const { Record } = await open(t)
  const given: Hash = {
    text: 'a < b & "c"\n — 💡 ',
    integer: -7,
    float: new Float(4),
    yes: true,
    day: new Day('2026-01-31'),
    moment: new Date('2026-01-31T12:00:00Z'),
    nothing: null,
    none: [],
    author: Object.assign(Object.create(null) as Hash, { first_name: 'Zoë' }),
    links: [Object.assign(Object.create(null) as Hash, { url: 'https://example.com/?a=1&b=2' }),
      Object.assign(Object.create(null) as Hash, { url: 'b' })]
  }
  const record = await Record.create(given)
  t.strictSame(record.errors, {})
  t.match(plain(record), {
    ...given,
    id: 1,
    author: { attributes: { first_name: 'Zoë' } },
    links: [{ attributes: { url: 'https://example.com/?a=1&b=2' } }, { attributes: { url: 'b' } }]
  })
  const before = (await Record.find(1)).toXml()
  t.equal(await (await Record.find(1)).save(), true)
  t.equal((await Record.find(1)).toXml(), before)

  const { attributes } = await Record.find(1)
  t.type(attributes.float, Float)
  t.type(attributes.day, Day)
  t.type(attributes.moment, Date)
})

t.test('a name of two words is spelled like in Ruby', async t => {
  const { connection, BlogPost } = await open(t)
  const created = await BlogPost.create({ name: 'Tea' })
  t.equal(connection.last.payload, `${declaration}\n<blog-post>\n  <name>Tea</name>\n</blog-post>\n`)
  t.equal(connection.last.body, `${declaration}\n<blog_post><id type="integer">1</id><name>Tea</name></blog_post>`)
  t.equal(connection.last.headers.location, '/blog_posts/1')
  t.equal(await created.updateAttribute('name', 'Cake'), true)
  t.strictSame((await BlogPost.all()).map(plain), [{ id: 1, name: 'Cake' }])
})

t.test('a nested row is below its parent in each request', async t => {
  const { connection, Comment } = await open(t)
  const yes = await Comment.create({ post_id: 1, text: 'Yes' })
  t.strictSame([plain(yes), yes.prefixOptions], [{ text: 'Yes', id: 1 }, { post_id: 1 }],
    'the answer has the foreign key')
  await Comment.create({ post_id: 2, text: 'No' })
  t.equal(await yes.updateAttribute('text', 'Well, yes'), true)
  t.strictSame((await Comment.all({ params: { post_id: 1 } })).map(plain), [{ id: 1, text: 'Well, yes' }])
  t.strictSame((await Comment.all({ params: { post_id: 2, text: 'Yes' } })).map(plain), [])
  t.equal((await Comment.find(1, { params: { post_id: 1 } })).attributes.text, 'Well, yes')
  t.equal(await Comment.exists(1, { params: { post_id: 2 } }), false)
  await t.rejects(Comment.find(1, { params: { post_id: 2 } }), { name: 'ResourceNotFound' })
  t.equal(await yes.updateAttribute('text', ''), false)
  await yes.destroy()
  t.equal(connection.last.path, '/posts/1/comments/1.xml')
  await t.rejects(yes.reload(), { name: 'ResourceNotFound' })
})

t.test('a singleton is found without an id', async t => {
  const owners: Array<[string, (client: Client) => Model, string]> = [
    ['at the top', ({ Profile }) => Profile, '/profile.xml'],
    ['below a parent', ({ Logo }) => Logo, '/posts/1/logo.xml']
  ]
  for (const [name, modelOf, path] of owners) {
    await t.test(name, async t => {
      const client = await open(t)
      const { connection } = client
      const model = modelOf(client)
      await t.rejects(model.one({ from: path }), { name: 'ResourceNotFound' })
      const { status, headers } = await connection.post(path, model.new({ name: 'Ann' }).toXml())
      t.strictSame([status, headers.location], [201, path.replace('.xml', '')])
      const only = await model.one({ from: path })
      t.strictSame(plain(only), { name: 'Ann' })
      only.attributes.name = 'Bob'
      await connection.put(path, only.toXml())
      t.strictSame(plain(await model.one({ from: path })), { name: 'Bob' })
      t.equal((await connection.head(path)).status, 200)
      t.equal((await connection.delete(path)).status, 204)
      await t.rejects(connection.head(path), { name: 'ResourceNotFound' })
    })
  }
  const { connection } = await open(t)
  await connection.post('/posts/1/logo.xml', '<logo><name>one</name></logo>')
  await t.rejects(connection.get('/posts/2/logo.xml'), { name: 'ResourceNotFound' }, 'another parent has no singleton')
})

t.test('such a client is never redirected, since it raises an error on a redirect', async t => {
  const { connection, Post } = await open(t)
  const milk = await Post.create({ title: 'Milk' })
  await milk.updateAttribute('title', 'Tea')
  await milk.put('publish')
  await milk.post('copy')
  await milk.delete('comments_count')
  await Post.put('touch')
  await milk.destroy()
  t.strictSame(connection.exchanges.filter(({ status }) => status >= 300), [])
})
