import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type CountQuery, memoryStore, type ResourceOptions, type Store } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'

const attributes = {
  type: 'object',
  properties: { rating: { type: 'integer' } }
} as const
const ROWS = 60

/** Opens a list, and records the counts of its rows. */
async function open (t: Test): Promise<{ app: FastifyInstance, counts: CountQuery[] }> {
  const store = memoryStore()
  const counts: CountQuery[] = []
  for (let index = 0; index < ROWS; index++) store.create({ rating: index % 3 }, {})
  const count: Store['count'] = (query) => {
    counts.push(query)
    return store.count(query)
  }
  return { counts, app: await build(t, { name: 'posts', attributes, store: { ...store, count } }) }
}

const idsOf = (body: string): unknown[] =>
  (JSON.parse(body) as { posts: Array<{ id: unknown }> }).posts.map(({ id }) => id)

/** Returns the links of a page by their relations. */
function linksOf (header: unknown): Record<string, string> {
  const all = [...String(header).matchAll(/<([^>]+)>; rel="(\w+)"/g)]
  return Object.fromEntries(all.map(([, path = '', relation = '']) => [relation, path]))
}

t.test('a page at an offset is linked to its neighbours by cursors', async (t) => {
  const { app } = await open(t)
  for (const format of ['json', 'html'] as const) {
    const page = await app.inject(`/posts.${format}?limit=10&offset=20`)
    const { self, first, prev, next } = linksOf(page.headers.link)
    t.strictSame([self, first], [`/posts.${format}?limit=10&offset=20`, `/posts.${format}?limit=10`])
    t.match(next, new RegExp(`^/posts\\.${format}\\?limit=10&after=`))
    t.match(prev, new RegExp(`^/posts\\.${format}\\?limit=10&before=`))
    if (format === 'html') continue
    t.strictSame(idsOf((await app.inject(next ?? '')).body)[0], 31)
    t.strictSame(idsOf((await app.inject(prev ?? '')).body), [11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
    const begin = linksOf((await app.inject('/posts.json?limit=10&offset=0')).headers.link)
    t.strictSame([begin.prev, begin.next === undefined], [undefined, false])
    const end = linksOf((await app.inject('/posts.json?limit=10&offset=100')).headers.link)
    t.strictSame([end.prev, end.next], ['/posts.json?limit=10&before=', undefined])
  }
  const page = await app.inject('/posts.html?limit=10&offset=20&rating=1')
  t.notMatch(page.body, 'name="offset"', 'a search on the page begins at its first row')
  t.notMatch(page.body, /<a [^>]*href="\/posts\.html[^"]*offset=/)
})

t.test('a total at an offset takes one count', async (t) => {
  const cases = [[20, 'posts 20-29/60'], [55, 'posts 55-59/60'], [60, 'posts */60'], [0, 'posts 0-9/60']] as const
  const { app, counts } = await open(t)
  for (const [offset, range] of cases) {
    counts.length = 0
    const { headers } = await app.inject(`/posts.json?limit=10&offset=${offset}&count=true`)
    t.strictSame([headers['total-count'], headers['content-range']], ['60', range], String(offset))
    t.equal(counts.length, 1)
  }
  const page = await app.inject('/posts.html?limit=10&offset=20')
  t.match(page.body, '<p class="range">21&#8211;30 of 60</p><div><a href="/posts.html?limit=10">First page</a>')
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
  const { app } = await open(t)
  for (const [query, detail] of cases) {
    const { statusCode, body } = await app.inject(`/posts.json?${query}`)
    t.equal(statusCode, 400, query)
    t.match(JSON.parse(body), { detail }, query)
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const payload = 'limit=3&offset=20'
  const asked = await app.inject({ method: 'QUERY' as 'POST', url: '/posts.json', headers, payload })
  t.strictSame([idsOf(asked.body), asked.headers.location], [[21, 22, 23], '/posts.json?limit=3&offset=20'])
  t.equal((await app.inject('/posts.html?offset=50')).statusCode, 200, 'a page for people has a limit')
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
  const { app, counts } = await open(t)
  const after = (id: number): string => Buffer.from(`[${id}]`).toString('base64url')
  for (const id of [2, 31, 50]) {
    counts.length = 0
    const { headers } = await app.inject(`/posts.json?limit=3&count=true&after=${after(id)}`)
    t.equal(headers['content-range'], `posts ${id}-${id + 2}/60`)
    const [, preceding, ...others] = counts
    t.match(preceding, { order: [{ by: 'id', descending: true }], after: [id + 1], most: 10_000 })
    t.strictSame(others, [], 'the rows after the page are not counted')
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
