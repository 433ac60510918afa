import v8 from 'node:v8'
import t from 'tap'
import { memoryStore } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'

t.test('a list that is sent in chunks, because its rows are large, equals one of small rows', async (t) => {
  const attributes = {
    type: 'object',
    properties: { title: { type: 'string', maxLength: 9 }, body: { type: 'string' }, done: { type: 'boolean' } }
  } as const
  const queries = [
    '', '?sort=-title', '?limit=70&after=WzIwXQ', '?filter[by]=title', '?count=true', '?q=title', '?only=title,body',
    '?title[starts]=T'
  ]
  const looks = [{}, { html: { brand: { name: 'Shop', header: () => 'Top', footer: 'Bottom' } } },
    { formPages: true }] as const
  for (const look of looks) {
    // A cell shows the first hundred characters.
    const apps = await Promise.all([60_000, 200].map((length) => {
      const store = memoryStore()
      const body = 'x'.repeat(length)
      for (let number = 1; number <= 90; number++) store.create({ title: `Title ${number}`, body, done: true }, {})
      return build(t, { name: 'posts', store, attributes, html: { pageSize: 80 }, ...look })
    }))
    for (const query of queries) {
      for (const accept of ['text/html', 'application/xhtml+xml']) {
        const url = `/posts${query}`
        const [large, small] = await Promise.all(apps.map((app) => app.inject({ url, headers: { accept } })))
        t.equal(large?.headers['content-length'], undefined, `${query} comes in chunks`)
        t.type(small?.headers['content-length'], 'string')
        t.match(large?.body, /<\/html>\n$/)
        t.equal(large?.body, small?.body, `${Object.keys(look).join()} ${query} ${accept}`)
      }
    }
  }
})

t.test('V8 stores a page in Latin-1 if its values have no other characters', async (t) => {
  const store = memoryStore()
  for (let number = 1; number <= 60; number++) store.create({ title: `Title ${number}` }, {})
  const kept: string[] = []
  const app = await build(t, {
    name: 'posts',
    store,
    attributes: {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string', minLength: 1, maxLength: 9 }, done: { type: 'boolean' } }
    },
    hooks: {
      onSend (_request, _reply, payload, done) {
        kept.push(v8.serialize(payload).toString('latin1', 2, 3))
        done()
      }
    }
  })
  const headers = { accept: 'text/html' }
  for (const url of [
    '/posts', '/posts?limit=20&after=WzIwXQ', '/posts?sort=-title', '/posts?title=Title%201', '/posts?q=9', '/posts/1',
    '/posts/new', '/posts/99', '/posts?x=1'
  ]) {
    const { body } = await app.inject({ url, headers })
    t.match(body, /^<!DOCTYPE html>/)
    t.equal(kept.pop(), '"', url)
  }
  await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[title]='
  })
  t.equal(kept.pop(), '"', 'a refused form')
})
