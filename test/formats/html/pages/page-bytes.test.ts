import fc from 'fast-check'
import v8 from 'node:v8'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type Attributes, type AttributesSchema, defaultViews, memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build, draft } from '../../../support/helper.js'
import { LONG_FORM } from '../../../support/long.js'

/** Serves pages of cached parts, and the same pages rendered whole because the app sets views (the default ones). */
async function bothWays (t: Test, attributes: AttributesSchema | undefined, rows: readonly Attributes[], options: Omit<ResourceOptions, 'name'> = {}): Promise<(url: string, accept?: string) => Promise<[quick: string, slow: string]>> {
  const store = memoryStore()
  for (const row of rows) store.create(row, {})
  const common = { name: 'posts', store, ...(attributes !== undefined && { attributes }), ...options }
  const apps: FastifyInstance[] = [await build(t, common), await build(t, { ...common, views: { layout: defaultViews.layout, field: defaultViews.field } })]
  return async (url, accept = 'text/html') => {
    const [quick, slow] = await Promise.all(apps.map((app) => app.inject({ url, headers: { accept } })))
    return [quick?.body ?? '', slow?.body ?? '']
  }
}

const kinds = {
  line: [{ type: 'string', maxLength: 50 }, ['', 'a', ' a ', '<b>&"\'', 'a\nb', '\r', '\ue0000\ue001', 'x'.repeat(201), '\ud800', '\u0001']],
  text: [{ type: 'string' }, ['', '\n', '\na', 'a\nb', 'a\r\nb', 'x'.repeat(5000), '\ue0011\ue001', '\uffff']],
  nullable: [{ type: ['string', 'null'], maxLength: 9 }, ['', 'a', null]],
  secret: [{ type: 'string', writeOnly: true }, ['secret']],
  read: [{ type: 'string', readOnly: true }, ['<seen>']],
  integer: [{ type: 'integer', minimum: -5 }, [0, -0, -5, 7, 9007199254740991, 1.5, '5', NaN]],
  number: [{ type: ['number', 'null'] }, [0.1, -1e300, 1e21, Infinity, null]],
  step: [{ type: 'number', multipleOf: 0.5 }, [0.5, 0.3]],
  flag: [{ type: 'boolean' }, [true, false]],
  three: [{ type: ['boolean', 'null'] }, [true, false, null]],
  few: [{ enum: ['a', 'b'] }, ['a', 'b', 'c', '']],
  many: [{ enum: ['a', 1, 'c', 'd', 'e', 'f', null] }, ['a', 1, '1', 'f', null]],
  titled: [{ oneOf: [{ const: 'a', title: '<A>' }, { const: 'b', title: 'B' }] }, ['a', 'b', 'c']],
  date: [{ type: 'string', format: 'date' }, ['2026-01-31', '2026-02-31', 'x']],
  moment: [{ type: 'string', format: 'date-time' }, ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.5+02:00', '2026-12-31T23:59:60Z', '']],
  email: [{ type: 'string', format: 'email' }, ['a@b.example', 'no']],
  lines: [{ type: 'array', items: { type: 'string' } }, [[], ['a', 'b'], ['a\nb'], [''], ['\ud800']]],
  boxes: [{ type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }, [[], ['a'], ['b', 'a']]],
  rows: [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'object', properties: { c: { type: 'integer' } } } } } } }, [[], [{ a: 'x' }], Array.from({ length: 40 }, () => ({ a: 'y', b: [{ c: 1 }, { c: 2 }] })), Array.from({ length: 51 }, () => ({}))]],
  more: [{ type: 'array', items: { type: 'object', properties: Object.fromEntries([...'abcdefgh'].map((name) => [name, { type: 'string' }])) } }, [[], Array.from({ length: 20 }, () => ({ a: 'z' }))]],
  group: [{ type: 'object', additionalProperties: false, properties: { a: { type: 'string' }, b: { type: 'integer' } } }, [{}, { a: 'x', b: 1 }, { a: 'x', hidden: 1 }]],
  partial: [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', writeOnly: true } } }, [{ a: 'x', b: 'secret' }]],
  any: [{}, ['x', 1, true, null, [1], { a: 1 }]]
} as const satisfies Record<string, readonly [schema: object, values: readonly unknown[]]>

const schema: AttributesSchema = { type: 'object', properties: Object.fromEntries(Object.entries(kinds).map(([name, [schema]]) => [name, schema])) }
const anyRow = fc.record(Object.fromEntries(Object.entries(kinds).map(([name, [, values]]) => [name, fc.constantFrom<unknown>(undefined, ...values)])))
  .map((row): Attributes => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)))

t.test('a record page of cached parts equals that of its views to the byte', LONG_FORM, async (t) => {
  let checked = 0
  for (const writes of ['collection', 'member'] as const) {
    const rows = fc.sample(anyRow, { numRuns: 60, seed: 20261121 })
    const messages = { record: (singular: string, id: unknown) => `<${singular}> ${Number(id) + 1}`, edit: (name: string) => `${name} & more`, deleteWarning: (name: string) => `${name} "goes"` }
    const ask = await bothWays(t, schema, rows, { writes, messages })
    for (const accept of ['text/html', 'application/xhtml+xml']) {
      for (const [index, row] of rows.entries()) {
        const [quick, slow] = await ask(`/posts/${index + 1}`, accept)
        t.equal(quick, slow, JSON.stringify(row).slice(0, 80))
        checked++
      }
    }
  }
  t.equal(checked, 240)
})

t.test('a list page of cached parts equals that of its views to the byte, whatever was requested before', LONG_FORM, async (t) => {
  const ask = await bothWays(t, schema, fc.sample(anyRow, { numRuns: 30, seed: 7 }), { pageSize: 10 })
  const queries = ['', '?sort=-integer', '?limit=5', '?limit=5&sort=line', '?flag=true', '?flag=1&blank=any&line=', '?filter[by]=line&sort=line', '?integer[gte]=x', '?line=nothing', `?line=${'x'.repeat(600)}`, '?three=', '?format=html', '?line=%EE%80%800%EE%80%81', '?line=0.0.']
  for (let time = 0; time < 2; time++) {
    for (const query of queries) {
      for (const [path, accept] of [['/posts', 'text/html'], ['/posts.html', 'text/html'], ['/posts', 'application/xhtml+xml']] as const) {
        const [quick, slow] = await ask(`${path}${query}`, accept)
        t.equal(quick, slow, `${path}${query} ${accept}`)
        const next = /<a href="([^"]*)" rel="next">/.exec(quick)?.[1]?.replaceAll('&amp;', '&')
        if (next !== undefined) t.strictSame(...await ask(next, accept))
      }
    }
  }
  t.match((await ask('/posts?three='))[0], 'aria-label="Remove: Three is blank"')
})

t.test('each of more queries than are cached has its own page', async (t) => {
  const ask = await bothWays(t, { type: 'object', properties: { title: { type: 'string' } } }, [{ title: 'q7' }])
  for (let time = 0; time < 2; time++) {
    for (let query = 0; query < 120; query++) {
      const [quick, slow] = await ask(`/posts?title=q${query}`)
      t.equal(quick, slow)
      t.match(quick, `aria-label="Remove: Title is q${query}"`)
    }
  }
})

t.test('the buttons for more rows depend on each record', async (t) => {
  const rows = { type: 'array', items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } } } }
  const group = { type: 'object', properties: { ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, { type: 'string' }])), rows } }
  const full = Array.from({ length: 50 }, () => ({ a: 'x' }))
  const ask = await bothWays(t, { type: 'object', properties: { rows, group } }, [{ rows: full }, { rows: [] }, {}, { rows: full, group: {} }])
  for (const id of [1, 2, 3, 4, 1]) t.equal(...await ask(`/posts/${id}`))
})

t.test('undeclared attributes are shown the same way', async (t) => {
  const ask = await bothWays(t, undefined, [{ a: 1, 'b c': '<x>' }, {}])
  for (const url of ['/posts', '/posts/1', '/posts/2']) t.strictSame(...await ask(url))
})

t.test('links to related rows, and from ids to their rows, are the same on cached pages', async (t) => {
  let isAllowed = true
  const build = async (views: NonNullable<ResourceOptions['views']>): Promise<FastifyInstance> => {
    const [artists, albums] = [memoryStore(), memoryStore()]
    for (const name of ['Ann', 'Bob', 'Cy']) artists.create({ name }, {})
    for (const artistId of [1, 1, 2, null, 3]) albums.create({ artistId, formerArtistId: 1 }, {})
    const id = { type: ['integer', 'null'] } as const
    return draft(t, (map) => {
      map.resources('artists', { attributes: { type: 'object', properties: { name: { type: 'string' } } }, store: artists, views: views as object }, (artists) => artists.resources('concerts'))
      map.resources('albums', {
        attributes: { type: 'object', properties: { artistId: id, formerArtistId: id } }, store: albums, views: views as object, authorize: (_request, { action }) => isAllowed || action !== 'list', references: { artistId: 'artists', formerArtistId: 'artists' }
      })
    }, '/:tenant')
  }
  const apps = [await build({}), await build({ layout: defaultViews.layout })]
  const pages = new Set<string>()
  for (const allowed of [true, false, true]) {
    isAllowed = allowed
    for (const tenant of ['a', 'b']) {
      for (const path of ['artists/1', 'artists/2', 'artists/3', 'albums/1', 'albums/4', 'albums/5', 'albums', 'albums?limit=2']) {
        for (const accept of ['text/html', 'application/xhtml+xml']) {
          const [quick = '', slow] = await Promise.all(apps.map(async (app) => (await app.inject({ url: `/${tenant}/${path}`, headers: { accept } })).body))
          t.equal(quick, slow, `${tenant}/${path} ${accept}`)
          pages.add(quick)
        }
      }
    }
  }
  t.equal([...pages].filter((page) => page.includes('<a href="/a/albums?artistId=1">Albums: artist</a> <span class="total">2</span>')).length, 1)
  t.equal([...pages].filter((page) => page.includes('<a href="/b/artists/3">Artist 3</a>')).length, 4, 'a row with and without a link to its list, a list, and a table of the lists of another row')
})

t.test('V8 stores a page in Latin-1 if its values have no other characters, because two bytes a character take twice the time', async (t) => {
  const store = memoryStore()
  for (let number = 1; number <= 60; number++) store.create({ title: `Title ${number}` }, {})
  const kept: string[] = []
  const app = await build(t, {
    name: 'posts',
    store,
    attributes: { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1, maxLength: 9 }, done: { type: 'boolean' } } },
    hooks: {
      onSend (_request, _reply, payload, done) {
        kept.push(v8.serialize(payload).toString('latin1', 2, 3))
        done()
      }
    }
  })
  const headers = { accept: 'text/html' }
  for (const url of ['/posts', '/posts?limit=20&after=WzIwXQ', '/posts?sort=-title', '/posts?title=Title%201', '/posts?q=9', '/posts/1', '/posts/new', '/posts/99', '/posts?x=1']) {
    for (const what of ['first', 'compiled']) {
      const { body } = await app.inject({ url, headers })
      t.match(body, /^<!DOCTYPE html>/)
      t.equal(kept.pop(), '"', `${url}, ${what}`)
    }
  }
  await app.inject({ method: 'POST', url: '/posts', headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, payload: 'post[title]=' })
  t.equal(kept.pop(), '"', 'a refused form')
})
