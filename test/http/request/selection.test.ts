import t from 'tap'
import { type Format, memoryStore, type Row } from '../../../lib/index.js'
import { build, draft, types } from '../../support/helper.js'
import { plainTag } from '../../support/plain-tag.js'

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: 'integer' },
    constructor: { type: 'string' },
    author: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
    secret: { type: 'string', writeOnly: true }
  }
} as const
const ROW = { title: 'Tea', rating: 4, constructor: 'c', author: { name: 'Ann', key: 'hidden' }, secret: 'hidden' }

/** A format of an app. It knows nothing of `only`. */
const lines: Format = {
  name: 'txt',
  mediaTypes: ['text/plain'],
  compileWriter: () => {
    const row = ({ id, attributes }: Row): string => `${id} ${JSON.stringify(attributes)}\n`
    return { list: { open: '', row, separator: '', close: '' }, record: row, problem: ({ detail }) => detail }
  }
}

function seeded (): ReturnType<typeof memoryStore> {
  const store = memoryStore()
  store.create(ROW, {})
  store.create({ rating: 1 }, {})
  return store
}

t.test('`only` selects the attributes of lists and rows, in the order of the schema', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: seeded(), formats: ['xml', 'html', 'json', lines] })
  const cases: ReadonlyArray<readonly [only: string, json: object, xml: string]> = [
    ['title', { title: 'Tea' }, '<title>Tea</title>'],
    ['rating,title', { title: 'Tea', rating: 4 }, '<title>Tea</title><rating type="integer">4</rating>'],
    ['id', {}, ''],
    ['id,constructor', { constructor: 'c' }, '<constructor>c</constructor>'],
    ['author', { author: { name: 'Ann' } }, '<author><name>Ann</name></author>']
  ]
  for (const [only, json, xml] of cases) {
    const one = await app.inject(`/posts/1.json?only=${only}`)
    t.match(one, { statusCode: 200, headers: { etag: /^"1\.json-[\da-f]{8}"$/ } }, only)
    t.strictSame(one.json(), { post: { id: 1, ...json } })
    t.strictSame((await app.inject(`/posts.json?only=${only}&limit=1`)).json(), { posts: [{ id: 1, ...json }] })
    t.equal((await app.inject(`/posts/1.xml?only=${only}`)).body, `<?xml version="1.0" encoding="UTF-8"?>\n<post><id type="integer">1</id>${xml}</post>`)
    t.equal((await app.inject(`/posts.xml?only=${only}&limit=1`)).body, `<?xml version="1.0" encoding="UTF-8"?>\n<posts type="array"><post><id type="integer">1</id>${xml}</post></posts>`)
    t.equal((await app.inject(`/posts/1.txt?only=${only}`)).body, `1 ${JSON.stringify(json)}\n`, 'a format of the app')
    t.equal((await app.inject(`/posts.txt?only=${only}&limit=1`)).body, `1 ${JSON.stringify(json)}\n`)
  }
  t.strictSame((await app.inject('/posts.json?only=title')).json(), { posts: [{ id: 1, title: 'Tea' }, { id: 2 }] })
  t.strictSame((await app.inject('/posts/1.json')).json().post, { id: 1, title: 'Tea', rating: 4, constructor: 'c', author: { name: 'Ann' } }, 'a whole row as before')
})

t.test('a page shows the selected attributes, keeps the selection, and its forms have all fields', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: seeded(), html: { columns: ['title'], pageSize: 1 } })
  const list = await app.inject('/posts.html?only=rating')
  t.match(list, { statusCode: 200, headers: { 'content-type': types.html } })
  t.match(list.body, /<th scope="col"[^>]*><a href="\/posts.html\?only=rating&amp;sort=rating">Rating<\/a><\/th><\/tr>/)
  t.match(list.body, '<input type="hidden" name="only" value="rating"/>')
  t.match(list.body, /href="\/posts.html\?only=rating&amp;after=[\w-]+"/)
  t.match(list.body, 'name="post[title]"')
  t.notMatch(list.body, 'data-label="Title"')
  const show = await app.inject('/posts/1.html?only=rating')
  t.match(show.body, /<dl class="record">\n<div><dt>Rating<\/dt><dd id=":rating"[^>]*>4<\/dd><\/div>\n<div class="id"><dt>Id<\/dt><dd>1<\/dd><\/div>\n<\/dl>/)
  t.match(show.body, 'name="post[title]"')
})

t.test('`only` refuses names that it cannot select', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: seeded() })
  const cases: ReadonlyArray<readonly [only: string, detail: string]> = [
    ['', '"only" must be names separated by commas, such as "title,rating"'],
    ['title,', '"only" must be names separated by commas, such as "title,rating"'],
    ['titel', '"only" names "titel", which is not an attribute of posts; did you mean "title"?'],
    ['secret', '"only" names "secret", which is not an attribute of posts'],
    ['author.name', '"only" names "author.name", which is not an attribute of posts'],
    ['toString', '"only" names "toString", which is not an attribute of posts'],
    ['title,id,title', '"only" names "title" twice']
  ]
  for (const [only, detail] of cases) {
    for (const path of ['/posts', '/posts/1', '/posts/9']) {
      const refused = await app.inject(`${path}.json?only=${only}`)
      t.match(refused, { statusCode: 400, headers: { 'content-type': types.problem } }, `${path} ${only}`)
      t.equal(refused.json().detail, detail)
    }
  }
  t.match((await app.inject('/posts.xml?only=titel')).body, '<error>"only" names "titel"')
  const open = await build(t, { name: 'notes', store: seeded() })
  for (const path of ['/notes', '/notes/1']) t.match((await open.inject(`${path}.json?only=title`)).json(), { status: 400, detail: 'the parameter "only" is unknown' }, 'without a schema')
  const nothing = await build(t, { name: 'posts', attributes: { type: 'object', properties: {} } })
  t.match((await nothing.inject('/posts.json?only=')).json(), { detail: '"only" must be names separated by commas, such as "id"' })
})

t.test('the entity tag of a selection revalidates only the selection, and a write compares its version', async (t) => {
  const app = await build(t, { name: 'posts', attributes, store: seeded() })
  const { headers: { etag } } = await app.inject('/posts/1.json?only=title')
  t.equal(plainTag(etag), '"1.json"')
  for (const path of ['/posts/1.json', '/posts/1.json?only=title,rating', '/posts/1.json?only=rating']) {
    t.equal((await app.inject({ url: path, headers: { 'if-none-match': String(etag) } })).statusCode, 200, path)
  }
  t.equal((await app.inject({ url: '/posts/1.json?only=title', headers: { 'if-none-match': String(etag) } })).statusCode, 304)
  const payload = { id: 1, post: { title: 'Coffee' } }
  const write = { method: 'PUT', url: '/posts.json', payload } as const
  t.equal((await app.inject({ ...write, headers: { 'if-match': String(etag) } })).statusCode, 200)
  t.equal((await app.inject({ ...write, headers: { 'if-match': String(etag) } })).statusCode, 412)
})

t.test('a singleton and a handler of the app are selected from too', async (t) => {
  const one = memoryStore()
  one.create(ROW, {})
  const app = await draft(t, (map) => {
    map.resource('profile', { attributes, store: one })
    map.resources('posts', { attributes: { type: 'object', properties: { title: { type: 'string' }, rating: { type: 'integer' } } }, actions: { list: () => [{ id: 7, attributes: { title: 'own', rating: 2 } }] } })
  })
  t.strictSame((await app.inject('/profile.json?only=rating')).json(), { profile: { rating: 4 } })
  t.strictSame((await app.inject('/posts.json?only=rating')).json(), { posts: [{ id: 7, rating: 2 }] })
})

t.test('more selections than are kept work as well', async (t) => {
  const names = Array.from({ length: 70 }, (_, index) => `a${index}`)
  const store = memoryStore()
  store.create(Object.fromEntries(names.map((name) => [name, 'x'])), {})
  const app = await build(t, { name: 'posts', attributes: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }, store })
  for (const name of [...names, ...names]) t.strictSame((await app.inject(`/posts/1.json?only=${name}`)).json(), { post: { id: 1, [name]: 'x' } })
})
