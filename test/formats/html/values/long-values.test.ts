import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { memoryStore } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'

const form = 'application/x-www-form-urlencoded'
const MOST = 100_000

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 20 },
    body: { type: 'string' },
    email: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    names: { type: 'object', additionalProperties: { type: 'string' } },
    rating: { type: 'integer' }
  }
} as const

const long = {
  title: 'T',
  body: `${'<"'.repeat(300_000)}end of body`,
  email: 'short',
  tags: Array.from({ length: 40_000 }, (_, index) => `tag ${index}`),
  people: [{ name: `${'&'.repeat(200_000)}end of name` }],
  names: { a: 'x'.repeat(99_000), b: 'y'.repeat(99_000), c: 'end of names' }
}

const page = { accept: 'text/html' }

/**
 * Returns the fields of the first form that can be sent: the names, and the values as they are written in the markup.
 */
function fieldsOf (html: string): string[] {
  return [...html.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]*)"/g)].map(([, name = '']) => name)
}

t.test('a page shows the first 100,000 characters of a value, and says so', async (t) => {
  const app = await build(t, { name: 'posts', attributes, writes: 'both' }, { server: { bodyLimit: 4e6 } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: long } })
  const { body, statusCode } = await app.inject({ url: '/posts/1', headers: page })
  t.equal(statusCode, 200)
  t.ok(body.length < 2_000_000, `${body.length} characters`)
  t.equal(body.match(/&lt;&quot;/g)?.length, MOST / 2 + 500, 'the value, and its beginning in the form')
  t.equal(body.match(/This is only the beginning/g)?.length, 4)
  t.match(body, '<li>tag 1</li>')
  for (const end of ['end of body', 'end of name', 'end of names', 'tag 39999']) t.notMatch(body, end)
  const json = await app.inject('/posts/1.json')
  t.strictSame(json.json<{ post: object }>().post, { id: 1, ...long }, 'other formats have the whole value')
})

t.test('a value of exactly 100,000 characters is shown and edited in full', async (t) => {
  const app = await build(t, { name: 'posts', attributes })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: `${'x'.repeat(MOST - 3)}end` } } })
  const { body } = await app.inject({ url: '/posts/1', headers: page })
  t.equal(body.match(/xend/g)?.length, 2)
  t.notMatch(body, 'This is only the beginning')
  await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { body: 'x'.repeat(MOST + 1) } } })
  t.match((await app.inject({ url: '/posts/1', headers: page })).body, 'This is only the beginning')
})

t.test('a form without a field for a long value leaves it unchanged', async (t) => {
  const app = await build(
    t, { name: 'posts', attributes, writes: 'both', formPages: true }, { server: { bodyLimit: 4e6 } }
  )
  await app.inject({ method: 'POST', url: '/posts', payload: { post: long } })
  const edit = await app.inject({ url: '/posts/1/edit', headers: page })
  t.ok(edit.body.length < 50_000, `${edit.body.length} characters`)
  t.match(edit.body, 'stays as it is; this form cannot show all of it.')
  t.match(edit.body, /<blockquote class="kept" dir="auto">(?:&lt;&quot;){500}…<\/blockquote>/)
  const names = fieldsOf(edit.body)
  t.ok(names.includes('post[title]') && names.includes('post[email]'))
  t.strictSame(names.filter((name) => /body|tags|people|names/.test(name)), [])
  const put = (fields: string): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': form },
    payload: `_method=PUT&_version=1&${fields}`
  })
  const refused = await put(`post[title]=${'x'.repeat(30)}&post[email]=new`)
  t.equal(refused.statusCode, 422)
  t.ok(refused.body.length < 50_000, 'the form that comes back is not longer')
  t.equal((await put('post[title]=New&post[email]=new')).statusCode, 303)
  t.strictSame((await app.inject('/posts/1.json')).json<{ post: object }>().post, {
    id: 1, ...long, title: 'New', email: 'new'
  })
  const stale = await put('post[title]=Other&post[email]=other')
  t.equal(stale.statusCode, 412)
  t.ok(stale.body.length < 50_000, 'the form of a conflict is not longer')
})

t.test('a conflict shows the beginning of theirs, and all of yours in its field', async (t) => {
  const app = await build(t, { name: 'posts', attributes, writes: 'both' }, { server: { bodyLimit: 4e6 } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: long.body, rating: 1 } } })
  const typed = `${'<>'.repeat(75_000)}end of typed`
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': form },
    payload: `_method=PUT&_version=0&post[body]=${encodeURIComponent(typed)}&post[rating]=x`
  })
  t.equal(statusCode, 422)
  const stale = await app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': form },
    payload: `_method=PUT&_version=0&post[body]=${encodeURIComponent(typed)}`
  })
  t.equal(stale.statusCode, 412)
  for (const html of [body, stale.body]) {
    t.match(html, `${'&lt;&gt;'.repeat(75_000)}end of typed</textarea>`, 'no typed value is lost')
  }
  t.equal(stale.body.match(/&lt;&quot;/g)?.length, MOST / 2)
  t.notMatch(stale.body, 'end of body')
})

t.test('a form that could not be read comes back with all typed values', async (t) => {
  const app = await build(t, { name: 'posts', attributes }, { server: { bodyLimit: 4e6 } })
  const typed = `${'é & <b>"—"</b>\n'.repeat(20_000)}end`
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { ...page, 'content-type': form },
    payload: new URLSearchParams([['post[body]', typed], ['post[rating]', 'x'],
      ['post[tags]', `a\n${'b'.repeat(200_000)}`]]).toString()
  })
  t.equal(statusCode, 422)
  t.match(body, `${'é &amp; &lt;b&gt;&quot;—&quot;&lt;/b&gt;&#10;'.repeat(20_000)}end</textarea>`)
  t.match(body, `a&#10;${'b'.repeat(200_000)}</textarea>`)
})

t.test('a long value without a schema, and one that no format can carry, are shown by their beginning', async (t) => {
  const store = memoryStore()
  store.create(
    {
      deep: [[{ a: null, b: 'x'.repeat(60_000), c: true, d: ['y'.repeat(60_000), 1] }]],
      many: Array.from({ length: 60_000 }, () => 1),
      wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name${index}`, null])),
      last: 'z'
    },
    {}
  )
  store.create({ bad: `${'\u0001\ufffe\ud800&'.repeat(50_000)}end` }, {})
  const app = await build(t, { name: 'posts', store })
  const first = await app.inject({ url: '/posts/1', headers: page })
  t.match(first, { statusCode: 200, body: 'z</dd>' })
  t.equal(first.body.match(/This is only the beginning/g)?.length, 3)
  t.match(first.body, 'yyy')
  t.ok(first.body.length < 3_000_000)
  const second = await app.inject({ url: '/posts/2', headers: page })
  t.match(second.body, '\ufffd\ufffd\ufffd&amp;')
  const record = await app.inject('/posts/2.xml')
  t.match(record.body, `<bad type="json">"${'\\u0001\\ufffe\\ud800&amp;'.repeat(50_000)}end"</bad>`)
})

t.test('each kind of line end in XML becomes one line feed', async (t) => {
  const app = await build(t, { name: 'posts', attributes })
  const created = await app.inject({
    method: 'POST',
    url: '/posts.json',
    headers: { 'content-type': 'application/xml' },
    payload: '<post>\r\n<title>a\rb\r\nc\n\r\r\n&#13;</title>\r</post>\r'
  })
  t.match(created.json(), { post: { title: 'a\nb\nc\n\n\n\r' } })
})
