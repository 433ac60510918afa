import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type CountQuery, memoryStore, type ResourceOptions, type Store } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { openEngines } from '../../../support/stores/sql-engines.js'

const attributes = {
  type: 'object',
  properties: { rating: { type: 'integer' }, grade: { type: ['integer', 'null'] } }
} as const
const ROWS = 60

/** Opens stores with the same rows, of which each fourth has no grade, and records the counts of their rows. */
async function open (t: Test): Promise<Array<{ name: string, app: FastifyInstance, counts: CountQuery[] }>> {
  const opened = []
  const stores: Array<readonly [string, Store]> = [['memory', memoryStore()]]
  for (const engine of await openEngines()) {
    stores.push([engine.name, engine.store({ table: 'posts', attributes, migrate: true })])
  }
  for (const [name, store] of stores) {
    const counts: CountQuery[] = []
    const count: Store['count'] = (query, context) => {
      counts.push(query)
      return store.count?.(query, context) ?? { rows: 0, isEstimate: false }
    }
    await store.prepare?.()
    for (let index = 0; index < ROWS; index++) {
      const row = { rating: index % 3, grade: index % 4 === 3 ? null : index % 4 }
      await store.create(row, {}, { signal: new AbortController().signal })
    }
    opened.push({ name, counts, app: await build(t, { name: 'posts', attributes, store: { ...store, count } }) })
  }
  return opened
}

const idsOf = (body: string): unknown[] =>
  (JSON.parse(body) as { posts: Array<{ id: unknown }> }).posts.map(({ id }) => id)

/** Returns the links of a page by their relations. */
function linksOf (header: unknown): Record<string, string> {
  const all = [...String(header).matchAll(/<([^>]+)>; rel="(\w+)"/g)]
  return Object.fromEntries(all.map(([, path = '', relation = '']) => [relation, path]))
}

t.test('an offset leaves out the first rows of a list, in every order', async (t) => {
  for (const { name, app } of await open(t)) {
    for (const sort of ['id', '-id', 'rating', '-rating', 'grade', '-grade', 'grade,-rating', '-grade,id']) {
      for (const filter of ['', '&rating=1', '&grade[gte]=1', '&id[gt]=30']) {
        const all = idsOf((await app.inject(`/posts.json?sort=${sort}${filter}`)).body)
        for (const offset of [0, 1, 14, 15, 16, 44, 45, 46, 59, 60, 10_000]) {
          const query = `sort=${sort}${filter}&limit=7&offset=${offset}`
          const { statusCode, body } = await app.inject(`/posts.json?${query}`)
          t.strictSame([statusCode, idsOf(body)], [200, all.slice(offset, offset + 7)], `${name}: ${query}`)
        }
      }
    }
  }
})

t.test('a page at an offset is linked to its neighbours by cursors', async (t) => {
  for (const { name, app } of await open(t)) {
    for (const format of ['json', 'html'] as const) {
      const page = await app.inject(`/posts.${format}?limit=10&offset=20`)
      const { self, first, prev, next } = linksOf(page.headers.link)
      t.strictSame([self, first], [`/posts.${format}?limit=10&offset=20`, `/posts.${format}?limit=10`], name)
      t.match(next, new RegExp(`^/posts\\.${format}\\?limit=10&after=`), name)
      t.match(prev, new RegExp(`^/posts\\.${format}\\?limit=10&before=`), name)
      if (format === 'html') continue
      t.strictSame(idsOf((await app.inject(next ?? '')).body)[0], 31, name)
      t.strictSame(idsOf((await app.inject(prev ?? '')).body), [11, 12, 13, 14, 15, 16, 17, 18, 19, 20], name)
      const begin = linksOf((await app.inject('/posts.json?limit=10&offset=0')).headers.link)
      t.strictSame([begin.prev, begin.next === undefined], [undefined, false], name)
      const end = linksOf((await app.inject('/posts.json?limit=10&offset=100')).headers.link)
      t.strictSame([end.prev, end.next], ['/posts.json?limit=10&before=', undefined], name)
    }
    const page = await app.inject('/posts.html?limit=10&offset=20&rating=1')
    t.notMatch(page.body, 'name="offset"', `${name}: a search on the page begins at its first row`)
    t.notMatch(page.body, /<a [^>]*href="\/posts\.html[^"]*offset=/, name)
  }
})

t.test('a total at an offset takes one count', async (t) => {
  const cases = [[20, 'posts 20-29/60'], [55, 'posts 55-59/60'], [60, 'posts */60'], [0, 'posts 0-9/60']] as const
  for (const { name, app, counts } of await open(t)) {
    for (const [offset, range] of cases) {
      counts.length = 0
      const { headers } = await app.inject(`/posts.json?limit=10&offset=${offset}&count=true`)
      t.strictSame([headers['total-count'], headers['content-range']], ['60', range], `${name}: ${offset}`)
      t.equal(counts.length, 1, name)
    }
    const page = await app.inject('/posts.html?limit=10&offset=20')
    t.match(page.body, '<p class="range">21&#8211;30 of 60</p><div><a href="/posts.html?limit=10">First page</a>', name)
  }
})

t.test('an offset is bounded, and needs a limit and no cursor', async (t) => {
  const bound = '"offset" must be a number from 0 to 10000; follow the "next" links to read on'
  const cursor = Buffer.from('[3]').toString('base64url')
  const cases: ReadonlyArray<readonly [query: string, detail: string]> = [
    ...['10001', '-1', '01', '1.5', '', 'x', '1e3', '99999999999999999999'].map((offset) =>
      [`limit=2&offset=${offset}`, bound] as const),
    ['offset=20', '"offset" needs "limit"'],
    [`limit=2&offset=1&after=${cursor}`, '"offset" and "after" exclude each other; send one of them'],
    ['limit=2&offset=0&before=', '"offset" and "before" exclude each other; send one of them']
  ]
  for (const { name, app } of await open(t)) {
    for (const [query, detail] of cases) {
      const { statusCode, body } = await app.inject(`/posts.json?${query}`)
      t.equal(statusCode, 400, `${name}: ${query}`)
      t.match(JSON.parse(body), { detail }, `${name}: ${query}`)
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = 'limit=3&offset=20'
    const asked = await app.inject({ method: 'QUERY' as 'POST', url: '/posts.json', headers, payload })
    t.strictSame([idsOf(asked.body), asked.headers.location], [[21, 22, 23], '/posts.json?limit=3&offset=20'], name)
    t.equal((await app.inject('/posts.html?offset=50')).statusCode, 200, 'a page for people has a limit')
  }
  const { capabilities, ...plain } = memoryStore()
  const others: ReadonlyArray<readonly [what: string, options: Partial<ResourceOptions>]> = [
    ['a store without it', { store: { ...plain, capabilities: { ...capabilities, offset: false } } }],
    ['a handler of its own', { store: memoryStore(), actions: { list: () => [] } }]
  ]
  for (const [what, options] of others) {
    const app = await build(t, { name: 'posts', attributes, ...options } as ResourceOptions)
    const { statusCode, body } = await app.inject('/posts.json?limit=2&offset=2')
    t.match([statusCode, JSON.parse(body)], [400, { detail: 'the parameter "offset" is unknown' }], what)
  }
})

t.test('a total of a late page counts the rows on the side that has fewer', async (t) => {
  for (const { name, app, counts } of await open(t)) {
    const after = (id: number): string => Buffer.from(`[${id}]`).toString('base64url')
    for (const id of [2, 31, 50]) {
      counts.length = 0
      const { headers } = await app.inject(`/posts.json?limit=3&count=true&after=${after(id)}`)
      t.equal(headers['content-range'], `posts ${id}-${id + 2}/60`, name)
      const [, preceding, ...others] = counts
      t.match(preceding, { order: [{ by: 'id', descending: true }], after: [id + 1], most: 10_000 }, name)
      t.strictSame(others, [], `${name}: the rows after the page are not counted`)
    }
  }
})

t.test('no side of a page is counted much further than the other one', async (t) => {
  const total = 1_000_000
  const store = memoryStore()
  for (let index = 0; index < 5; index++) store.create({ rating: index }, {})
  let counted = 0
  let place = 0
  const app = await build(t, {
    name: 'posts',
    attributes,
    store: {
      ...store,
      count ({ order, after, most = Infinity }) {
        const side = after === undefined ? total : order[0]?.descending === true ? place : total - place - 1
        if (after !== undefined) counted += Math.min(side, most)
        return { rows: Math.min(side, most), isEstimate: false }
      }
    }
  })
  const after = Buffer.from('[1]').toString('base64url')
  for (const [at, most] of [[20_000, 50_000], [980_000, 80_000], [500_000, 1_700_000], [999_000, 12_000]] as const) {
    counted = 0
    place = at
    const { headers } = await app.inject(`/posts.json?limit=2&count=true&after=${after}`)
    t.equal(headers['content-range'], `posts ${at}-${at + 1}/${total}`)
    t.ok(counted <= most, `${at}: ${counted} rows are counted`)
  }
})
