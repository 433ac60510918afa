import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type Count, type CountQuery, memoryStore, type MemoryStore, type ResourceOptions, type Store } from '../../../lib/index.js'
import { build, types } from '../../support/helper.js'

const attributes = {
  type: 'object',
  properties: { title: { type: 'string' }, rating: { type: ['integer', 'null'] } }
} as const
const text = { type: 'object', properties: { title: { type: 'string' } } } as const

function seeded (count = 45): MemoryStore {
  const store = memoryStore()
  for (let index = 0; index < count; index++) store.create({ title: index % 3 === 0 ? 'tea' : 'coffee', rating: index % 5 === 4 ? null : index % 5 }, {})
  return store
}

async function serve (t: Test, store: Store, options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes, store, ...options })
}

/** Returns a store whose calls of `count` are kept, and which may answer with an estimate. */
function recording (store: MemoryStore, estimate?: number): { readonly store: Store, readonly calls: CountQuery[] } {
  const calls: CountQuery[] = []
  const count = (query: CountQuery): Count => {
    calls.push(query)
    return query.estimate && estimate !== undefined ? { rows: estimate, isEstimate: true } : store.count(query)
  }
  return { calls, store: { ...store, count } }
}

const cursor = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

t.test('a list that asks for it says how many rows there are, and which these are', async (t) => {
  const app = await serve(t, seeded(), { html: { pageSize: 20 }, maxLimit: 100 })
  const scoped = await serve(t, seeded(), { scope: () => ({ title: 'tea' }), name: 'posts' } as never)
  const empty = await serve(t, memoryStore())
  const cases: Array<[app: FastifyInstance, url: string, total: string | undefined, range: string | undefined]> = [
    [app, '/posts.json', undefined, undefined],
    [app, '/posts.json?limit=20', undefined, undefined],
    [app, '/posts.html', undefined, undefined],
    [app, '/posts.json?count=true', '45', 'posts 0-44/45'],
    [app, '/posts.xml?count=estimate', '45', 'posts 0-44/45'],
    [app, '/posts.html?count=true', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=true&limit=20', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=estimate&limit=20', '45', 'posts 0-19/45'],
    [app, '/posts.json?count=true&limit=45', '45', 'posts 0-44/45'],
    [app, '/posts.json?count=true&limit=100', '45', 'posts 0-44/45'],
    [app, `/posts.json?count=true&limit=20&after=${cursor(20)}`, '45', 'posts 20-39/45'],
    [app, `/posts.html?count=true&after=${cursor(40)}`, '45', 'posts 40-44/45'],
    [app, `/posts.json?count=true&limit=20&after=${cursor(45)}`, '45', 'posts */45'],
    [app, `/posts.json?count=true&after=${cursor(20)}`, '45', 'posts 20-44/45'],
    [app, `/posts.json?count=true&after=${cursor(45)}`, '45', 'posts */45'],
    [app, `/posts.json?count=true&before=${cursor(20)}`, '45', undefined],
    [app, `/posts.json?count=true&limit=10&before=${cursor(41)}`, '45', 'posts 30-39/45'],
    [app, `/posts.json?count=true&limit=10&before=${cursor(6)}`, '45', 'posts 0-4/45'],
    [app, `/posts.json?count=true&limit=10&before=${cursor(1)}`, '45', 'posts */45'],
    [app, '/posts.json?count=true&limit=10&before=', '45', 'posts 35-44/45'],
    [app, '/posts.json?count=true&limit=4&rating=3', '9', 'posts 0-3/9'],
    [app, '/posts.json?count=true&limit=4&q=tea', '15', 'posts 0-3/15'],
    [app, '/posts.json?count=true&limit=4&rating[gte]=3&title[contains]=offe', '6', 'posts 0-3/6'],
    [app, `/posts.json?count=true&limit=4&sort=-rating&after=${cursor('-rating,-id', 4, 100)}`, '45', 'posts 0-3/45'],
    [app, `/posts.json?count=true&limit=4&sort=rating&after=${cursor('rating', 0, 1)}`, '45', 'posts 10-13/45'],
    [scoped, '/posts.json?count=true&limit=4', '15', 'posts 0-3/15'],
    [scoped, `/posts.json?count=true&limit=4&after=${cursor(13)}`, '15', 'posts 5-8/15'],
    [empty, '/posts.json?count=true', '0', 'posts */0'],
    [empty, '/posts.html?count=true', '0', 'posts */0'],
    [empty, '/posts.json?count=true&limit=4&before=', '0', 'posts */0']
  ]
  for (const [app, url, total, range] of cases) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, headers } = await app.inject({ method, url })
      t.strictSame([statusCode, headers['total-count'], headers['content-range']], [200, total, range], `${method} ${url}`)
    }
  }
})

t.test('an estimate is marked, and exact numbers stay exact', async (t) => {
  const { store, calls } = recording(seeded(), 40_000)
  const app = await serve(t, store)
  const few = await serve(t, recording(seeded(), 3).store)
  const cases: Array<[app: FastifyInstance, url: string, total: string, range: string | undefined]> = [
    [app, '/posts.json?limit=20&count=estimate', '40000;estimate', 'posts 0-19/*'],
    [app, '/posts.json?limit=20&count=true', '45', 'posts 0-19/45'],
    [app, '/posts.json?limit=50&count=estimate', '45', 'posts 0-44/45'],
    [app, `/posts.json?limit=20&count=estimate&after=${cursor(20)}`, '40000;estimate', undefined],
    [app, `/posts.json?limit=20&count=estimate&after=${cursor(45)}`, '40000;estimate', undefined],
    [few, '/posts.json?limit=20&count=estimate', '20;estimate', 'posts 0-19/*']
  ]
  for (const [app, url, total, range] of cases) {
    const { headers } = await app.inject(url)
    t.strictSame([headers['total-count'], headers['content-range']], [total, range], url)
  }
  t.ok(calls.every(({ estimate, after }) => !estimate || after === undefined), 'only the whole list is estimated')
})

t.test('nothing is counted unless a total is needed', async (t) => {
  const { store, calls } = recording(seeded())
  const app = await serve(t, store, { html: { pageSize: 20 } })
  const cases: Array<[url: string, counted: number]> = [
    ['/posts.json', 0], ['/posts.xml?limit=20', 0], [`/posts.json?limit=20&after=${cursor(20)}`, 0], ['/posts/1.json', 0],
    ['/posts.json?limit=100&count=true', 0], ['/posts.json?limit=20&count=true', 1], [`/posts.json?limit=20&count=true&after=${cursor(40)}`, 1],
    [`/posts.json?limit=20&count=true&after=${cursor(20)}`, 2], ['/posts.html?limit=100', 0], ['/posts.html', 1]
  ]
  for (const [url, counted] of cases) {
    calls.length = 0
    t.equal((await app.inject(url)).statusCode, 200, url)
    t.equal(calls.length, counted, url)
  }
  t.match(calls, [{ most: 10_001, estimate: false, after: undefined }], 'a page for people asks for a bounded number')
})

t.test('pages of large rows have the same totals', async (t) => {
  const store = memoryStore()
  for (let index = 0; index < 14; index++) store.create({ title: 'x'.repeat(700_000) }, {})
  const app = await serve(t, store, { attributes: text })
  const whole = await serve(t, store, { attributes: text, html: { views: { list: (page: { readonly table: unknown }) => page.table } as never } })
  const cases: Array<[app: FastifyInstance, url: string, range: string | undefined]> = [
    [app, '/posts.json?count=true', 'posts 0-13/14'],
    [app, '/posts.json?limit=8&count=true', 'posts 0-7/14'],
    [app, `/posts.json?limit=8&count=true&after=${cursor(2)}`, 'posts 2-9/14'],
    [app, `/posts.json?limit=8&count=true&after=${cursor(6)}`, 'posts 6-13/14'],
    [app, '/posts.html?limit=8&count=true&before=', 'posts 6-13/14'],
    [app, `/posts.json?limit=8&count=true&before=${cursor(8)}`, undefined]
  ]
  for (const [app, url, range] of cases) {
    const { headers } = await app.inject(url)
    t.strictSame([headers['total-count'], headers['content-range']], ['14', range], url)
  }
  const { headers, body } = await whole.inject('/posts.html?limit=8&count=true')
  const rows = body.match(/<tr><td data-label/g)?.length ?? 0
  t.ok(rows < 8)
  t.equal(headers['content-range'], `posts 0-${rows - 1}/14`, 'a page that ends early')
})

t.test('a failed count is answered with an error, and closes the list', async (t) => {
  const store = seeded()
  const closed: string[] = []
  let isFailing = false
  const app = await serve(t, {
    ...store,
    * list (query) {
      try {
        yield * store.list(query)
        yield []
      } finally {
        closed.push('closed')
      }
    },
    count () {
      if (isFailing) throw new Error('no')
      return { rows: 45, isEstimate: false }
    }
  }, { hooks: { onSend: async () => { if (!isFailing) throw new Error('not sent') } } })
  const after = await app.inject('/posts.json?count=true&limit=20')
  t.strictSame([after.statusCode, after.headers['total-count'], after.headers['content-range']], [500, undefined, undefined], 'an error has no total')
  isFailing = true
  closed.length = 0
  for (const url of ['/posts.json?count=true', '/posts.json?count=true&limit=20', '/posts.html?limit=20']) {
    const { statusCode, headers } = await app.inject(url)
    t.strictSame([statusCode, headers['total-count']], [500, undefined], url)
  }
  t.equal(closed.length, 3)
})

t.test('the parameter has two values, and only stores that count have it', async (t) => {
  const app = await serve(t, seeded(3))
  const other = await serve(t, { ...seeded(3), capabilities: { order: true } })
  for (const [on, query, detail] of [
    [app, 'count=', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=false', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=TRUE', '"count" must be "true", or "estimate" if an estimate is enough'],
    [app, 'count=true&count=true', 'the parameter "count" must be given once'],
    [other, 'count=true', 'the parameter "count" is unknown']
  ] as const) {
    const res = await on.inject(`/posts.json?${query}`)
    t.match([res.statusCode, res.headers['content-type'], res.json()], [400, types.problem, { detail: new RegExp(detail) }], query)
  }
  t.equal((await app.inject('/posts/1.json?count=true')).statusCode, 400, 'a row has no total')
  t.equal((await other.inject('/posts.html?limit=1')).statusCode, 200, 'pages of a store that cannot count have no total')
  const { count: _, ...without } = seeded(3)
  await t.rejects(serve(t, without as never), { message: /store" of resource "posts" declares "capabilities.count", but has no method "count"/ })
})

t.test('a handler that proceeds has the totals of its store', async (t) => {
  const app = await serve(t, seeded(), {
    actions: {
      list: async ({ proceed, query }: { proceed: () => Promise<{ rows: object[] }>, query: { count: unknown } }) => {
        const outcome = await proceed()
        return query.count === undefined ? outcome : { ...outcome, rows: [...outcome.rows] }
      }
    }
  } as never)
  for (const [url, range] of [['/posts.json?limit=20&count=true', 'posts 0-19/45'], ['/posts.json?limit=50&count=true', 'posts 0-44/45'], ['/posts.json?count=true', 'posts 0-44/45'], ['/posts.json', undefined]] as const) {
    t.equal((await app.inject(url)).headers['content-range'], range, url)
  }
})
