import { setTimeout } from 'node:timers/promises'
import { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Count, type CountQuery, memoryStore, type ResourceOptions, type Store, type Attributes, comparePositions,
  type Id, type MemoryStore, positionOf, type Row
} from '../../../lib/index.js'
import { build, types } from '../../support/helper.js'
import {
  accept, attributes, batchesOf, kinds, type List, listen, listing, makeRows, problems, read, request, textOf
} from '../../support/lists.js'

t.test('a limit gives pages that link to the next', async t => {
  const links = {
    xml: (body: string) => [...body.matchAll(/<id type="integer">(\d+)<\/id>/g)].map(([, id]) => Number(id)),
    json: (body: string) => (JSON.parse(body) as { posts: Array<{ id: number }> }).posts.map(({ id }) => id),
    html: (body: string) => [...body.matchAll(/<th[^>]*>(?:<label.*?<\/label>)?<a href="\/blog\/posts\/(\d+)">/g)].map(([, id]) => Number(id))
  }
  async function walk (
    app: FastifyInstance, first: string, kind: keyof typeof links
  ): Promise<{ ids: number[], pages: number }> {
    const ids: number[] = []
    let next: string | undefined = first
    let pages = 0
    while (next !== undefined) {
      const res: Awaited<ReturnType<typeof app.inject>> = await app.inject(
        { url: next, headers: { accept: accept[kind] } })
      if (res.statusCode !== 200) throw new Error(`${next}: ${res.statusCode} ${res.body}`)
      ids.push(...links[kind](res.body))
      next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
      if (kind === 'html') {
        const shown = /<a href="([^"]+)" rel="next">/.exec(res.body)?.[1]?.replaceAll('&amp;', '&')
        if (shown !== next) throw new Error(`the page links to ${shown}, its header to ${next}`)
      }
      pages++
    }
    return { ids, pages }
  }

  async function seeded (
    t: Test, count: number, options: Omit<ResourceOptions, 'name'> = {}
  ): Promise<FastifyInstance> {
    const store = memoryStore()
    for (let id = 1; id <= count; id++) store.create({ title: `Row ${id}` }, {})
    return await build(t, { name: 'posts', attributes, store, prefix: '/blog', ...options })
  }

  const first23 = makeRows(23).map(({ id }) => id)
  const app = await seeded(t, 23)
  for (const kind of ['xml', 'json', 'html'] as const) {
    for (const [url, pages] of [['/blog/posts?limit=5', 5], ['/blog/posts?limit=23', 1], ['/blog/posts?limit=22', 2],
      ['/blog/posts?limit=1000', 1], [`/blog/posts.${kind}?limit=10`, 3],
      [`/blog/posts?format=${kind}&limit=10`, 3]] as const) {
      t.strictSame(await walk(app, url, kind), { ids: first23, pages }, `${url} as ${kind}`)
    }
  }

  await t.test('a link keeps suffix, format and limit, and has the prefix', async t => {
    const app = await seeded(t, 3)
    const cases: [url: string, accept: string, link: RegExp][] = [
      ['/blog/posts?limit=2', accept.json, /<\/blog\/posts\?limit=2&after=[\w-]+>; rel="next"/],
      ['/blog/posts.json?limit=2', accept.xml, /<\/blog\/posts\.json\?limit=2&after=[\w-]+>; rel="next"/],
      ['/blog/posts.xml?limit=1', accept.xml, /<\/blog\/posts\.xml\?limit=1&after=[\w-]+>; rel="next"/],
      ['/blog/posts?format=xml&limit=2', accept.json, /<\/blog\/posts\?format=xml&limit=2&after=[\w-]+>; rel="next"/]
    ]
    for (const [url, accept, link] of cases) {
      const res = await app.inject({ url, headers: { accept } })
      t.match(res.headers.link, link, url)
      const next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1] ?? ''
      t.equal((await app.inject({ url: next, headers: { accept } })).headers['content-type'],
        res.headers['content-type'], 'the next page is in the same format')
      const head = await app.inject({ method: 'HEAD', url, headers: { accept } })
      t.strictSame([head.headers.link, head.body], [res.headers.link, ''], 'HEAD has the same link')
    }
  })

  await t.test('an HTML page has as many rows as the option says', async t => {
    const cases: [options: Omit<ResourceOptions, 'name'>, url: string, rows: number[]][] = [
      [{}, '/blog/posts', [50, 50, 20]],
      [{ html: { pageSize: 100 } }, '/blog/posts', [100, 20]],
      [{ maxLimit: 40 }, '/blog/posts', [40, 40, 40]]
    ]
    for (const [options, url, rows] of cases) {
      const app = await seeded(t, 120, options)
      const seen: number[] = []
      for (let next: string | undefined = url; next !== undefined;) {
        const res: Awaited<ReturnType<typeof app.inject>> = await app.inject(
          { url: next, headers: { accept: 'text/html' } })
        seen.push(links.html(res.body).length)
        next = /<a href="([^"]+)" rel="next">/.exec(res.body)?.[1]?.replaceAll('&amp;', '&')
      }
      t.strictSame(seen, rows, JSON.stringify([options, url]))
      t.equal(links.json((await app.inject({ url: '/blog/posts', headers: { accept: accept.json } })).body).length, 120,
        'JSON lists all rows')
    }
  })

  await t.test('a list of more rows than requested is cut to the page', async t => {
    const app = await build(t, {
      name: 'posts', attributes, store: listing(() => batchesOf(makeRows(40), 7)), prefix: '/blog'
    })
    const res = await app.inject('/blog/posts.json?limit=5')
    t.strictSame(links.json(res.body), [1, 2, 3, 4, 5])
    t.match(res.headers.link, /rel="next"/)
  })
})

t.test('a limit that is too large or no number is a bad request', async t => {
  const app = await build(t, { name: 'posts', attributes, maxLimit: 10 })
  t.equal((await app.inject('/posts.json?limit=10')).statusCode, 200)
  for (const limit of ['11', '1000', '0', '-1', '1.5', '1e1', '0x5', '05', '+5', ' 5', '5 ', '', 'ten', 'NaN',
    'Infinity', '9007199254740993', '99999999999999999999', '٣']) {
    const kind = (['xml', 'json', 'html'] as const)[limit.length % 3] as 'xml'
    const res = await app.inject({ url: '/posts', query: { limit }, headers: { accept: accept[kind] } })
    t.strictSame([res.statusCode, res.headers['content-type']], [400, problems[kind]], JSON.stringify(limit))
    t.match(res.body, /limit(?:&quot;|\\?") must be a number from 1 to 10/)
  }
})

t.test('a cursor of UUIDs that no page has returned is a bad request', async t => {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const id = '0190a6b0-1234-7abc-8def-0123456789ab'
  const good = encode(`["${id}"]`)
  const standard = Buffer.from(`["${id}"]`).toString('base64')
  t.not(standard, good, 'pages return base64url')
  const bad = [standard, `${good}A`, 'garbage', '%', '🦄', encode('[5]'), encode(`[${id}]`), encode('["x"]'),
    encode(`["${id.toUpperCase()}"]`), encode(`["${id}","${id}"]`), encode(`["{${id}}"]`), encode(`["${id}" ]`)]
  const app = await build(t, { name: 'posts', attributes, id: 'uuid' })
  t.equal((await app.inject({ url: '/posts', query: { after: good, limit: '5' } })).statusCode, 200,
    'a well-formed cursor works even if its row is deleted')
  for (const after of bad) {
    for (const limit of [{}, { limit: '5' }]) {
      const res = await app.inject({ url: '/posts.json', query: { after, ...limit } })
      t.strictSame([res.statusCode, res.headers['content-type']], [400, problems.json], after)
      t.match(res.body, 'after')
    }
  }
})

t.test('a page of long rows is streamed, since one string might not hold it', async t => {
  const rows = makeRows(3, (id) => String(id).repeat(900_000))
  for (const [kind, count] of [['xml', 2], ['json', 2], ['xml', 3], ['json', 3]] as const) {
    const app = await build(t, { name: 'posts', attributes, store: listing(() => [rows.slice(0, count)]) })
    const { headers, body } = await app.inject({ url: '/posts?limit=6', headers: { accept: accept[kind] } })
    t.equal(headers['content-length'] === undefined, count === 3, `${count} rows of 900,000 characters as ${kind}`)
    t.ok(body === textOf(kind, rows.slice(0, count)), 'all rows arrive')
  }
})

t.test('pages of large rows have all rows and links in each format', async t => {
  const ids = makeRows(10).map(({ id }) => id)
  const views = { list: (page: { table: unknown }) => page.table as never }
  const cases: Array<[name: string, options: object, kinds: ReadonlyArray<'xml' | 'json' | 'html'>]> = [
    ['with a schema', { attributes, html: { title: 'id' } }, ['xml', 'json', 'html']],
    ['without a schema', {}, ['json', 'html']],
    ['by a view of the app', { attributes, html: { title: 'id', views } }, ['html']]
  ]
  for (const [name, options, kinds] of cases) {
    const store = memoryStore()
    for (let count = 0; count < ids.length; count++) store.create({ title: 'x'.repeat(600_000) }, {})
    const app = await build(t, { name: 'posts', ...options, store } as ResourceOptions)
    for (const kind of kinds) {
      for (const limit of [1, 6]) {
        const seen: number[][] = []
        for (let next: string | undefined = `/posts.${kind}?limit=${limit}`; next !== undefined;) {
          const res: Awaited<ReturnType<typeof app.inject>> = await app.inject(next)
          t.equal(res.statusCode, 200)
          const found = res.body.matchAll(
            /<id type="integer">(\d+)|"id":(\d+)|<tr><th[^>]*>(?:<label.*?<\/label>)?(?:<a href="[^"]*">)?(\d+)</g)
          seen.push([...found].map(([, ...parts]) => Number(parts.find((part) => part !== undefined))))
          next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
        }
        t.strictSame(seen.flat(), ids, `${kind} ${name}, limit ${limit}`)
        if (kind !== 'html' || name === 'with a schema') {
          t.equal(seen[0]?.length, limit, 'a page has the requested rows')
        }
      }
      const head = await app.inject({ method: 'HEAD', url: `/posts.${kind}?limit=6` })
      t.strictSame([head.statusCode, head.body], [200, ''])
    }
  }
})

t.test('rows of a large page that are deleted while it is read are left out, and the next page follows them', async (
  t
) => {
  const store = memoryStore()
  for (let index = 0; index < 12; index++) store.create({ title: 'x'.repeat(300_000) }, {})
  let lists = 0
  const list: List = (query, context) => {
    // The third read of the page is the one that is sent.
    if (++lists === 2) for (const id of [7, 8, 9, 10, 11, 12]) store.delete(id, { version: undefined, scope: {} })
    return store.list(query, context)
  }
  const app = await build(t, { name: 'posts', attributes, store: { ...store, list } })
  const res = await app.inject('/posts.json?limit=10')
  t.strictSame(res.json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id), [1, 2, 3, 4, 5, 6])
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(res.headers.link)) ?? []
  t.strictSame((await app.inject(next)).json(), { posts: [] })
})

t.test('a page of multi-byte characters is streamed if its bytes exceed one string', async (t) => {
  const rows = makeRows(2, () => '\u20ac'.repeat(900_000))
  const app = await build(t, { name: 'posts', attributes, store: listing(() => [rows]) })
  for (const kind of kinds) {
    const { headers, body } = await app.inject({ url: '/posts?limit=5', headers: { accept: accept[kind] } })
    t.equal(headers['content-length'], undefined, kind)
    t.ok(body === textOf(kind, rows), 'all rows arrive')
  }
  const short = await build(t, {
    name: 'posts', attributes, store: listing(() => [makeRows(2, () => 'x'.repeat(900_000))])
  })
  t.ok((await short.inject('/posts?limit=5')).headers['content-length'], 'the same number of single-byte characters')
})

t.test('a large row is not cut between the halves of a surrogate pair', async (t) => {
  for (const [before, kind] of [['', 'xml'], ['a', 'xml'], ['', 'json'], ['a', 'json']] as const) {
    const rows = makeRows(1, () => before + '\u{1f600}'.repeat(300_000))
    const { port } = await listen(t, () => batchesOf([...rows, ...rows, ...rows, ...rows], 1))
    const { text, error } = await read(await request(port, 'GET', `/posts.${kind}`))
    t.equal(error, undefined)
    t.ok(text === textOf(kind, [...rows, ...rows, ...rows, ...rows]), `${kind} after ${before.length} characters`)
  }
})

const rated = {
  type: 'object',
  properties: { title: { type: 'string' }, rating: { type: ['integer', 'null'] }, published: { type: 'boolean' } }
} as const
const guard = { version: undefined, scope: {} }
const sorts = ['id', '-id', 'title', '-title', 'rating', '-rating', '-rating,title', 'published,-rating',
  '-published,rating,-title', 'rating,-id', '-title,-id']
const pageKinds = ['xml', 'json', 'html'] as const

/** Rows with ties and nulls. */
const seeds: Attributes[] = Array.from({ length: 23 }, (_, index) => ({
  ...(index % 4 !== 3 && { title: ['b', 'a', '\u{1f984}', '\ufffd', ''][index % 5] }),
  rating: [5, null, 3, 3, null, 1, 5][index % 7],
  ...(index % 3 !== 0 && { published: index % 2 === 0 })
}))

function seeded (rows: readonly Attributes[] = seeds, id: 'integer' | 'uuid' = 'integer'): MemoryStore {
  const store = memoryStore({ id })
  for (const rated of rows) store.create(rated, {})
  return store
}

async function serve (t: Test, store: Store = seeded(),
  options: Omit<ResourceOptions, 'name'> = {}): Promise<FastifyInstance> {
  return await build(t, { name: 'posts', attributes: rated, store, ...options })
}

function linksOf ({ headers: { link } }: LightMyRequestResponse): Record<string, string> {
  return Object.fromEntries([...String(link ?? '').matchAll(/<([^>]*)>; rel="([^"]+)"/g)].map(
    ([, url, relation]) => [relation, url]))
}

function idsOf ({ statusCode, body }: LightMyRequestResponse, kind: typeof pageKinds[number] = 'json'): string[] {
  if (statusCode !== 200) throw new Error(body)
  if (kind === 'json') return (JSON.parse(body) as { posts: Array<{ id: Id }> }).posts.map(({ id }) => String(id))
  const pattern = kind === 'xml' ? /<id[^>]*>([^<]+)<\/id>/g : /<th[^>]*>(?:<label.*?<\/label>)?<a href="[^"]*\/posts\/([^"#]+)">/g
  return [...body.matchAll(pattern)].map(([, id = '']) => id)
}

function inOrder (store: MemoryStore, sort: string): string[] {
  const named = sort.split(',').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
  const order = named.at(-1)?.by === 'id'
    ? named
    : [...named,
        { by: 'id', descending: named.at(-1)?.descending === true }]
  const rows = [...store.list({
    order: [{ by: 'id', descending: false }],
    after: undefined,
    limit: undefined,
    scope: {},
    filter: [],
    search: undefined
  })].flat()
  return rows.sort((a: Row, b: Row) => comparePositions(order, positionOf(a, order), positionOf(b, order)))
    .map(({ id }) => String(id))
}

type Relation = 'next' | 'prev'

/** Follows one relation from page to page, and returns the ids of each page. */
async function walk (app: FastifyInstance, url: string, relation: Relation,
  between: (page: readonly string[]) => void = () => {}): Promise<string[][]> {
  const pages: string[][] = []
  for (let link: string | undefined = url; link !== undefined;) {
    const res: LightMyRequestResponse = await app.inject(link)
    const page = idsOf(res)
    pages.push(page)
    between(page)
    link = linksOf(res)[relation]
  }
  return pages
}

t.test('the pages backwards are those forwards, in any order', async (t) => {
  for (const id of ['integer', 'uuid'] as const) {
    const store = seeded(seeds, id)
    const app = await serve(t, store)
    for (const sort of id === 'uuid' ? ['id', '-rating,title'] : sorts) {
      for (const limit of [4, 23]) {
        const url = `/posts.json?sort=${sort}&limit=${limit}`
        const forwards = await walk(app, url, 'next')
        t.strictSame(forwards.flat(), inOrder(store, sort), url)
        const last = (await walk(app, `${url}&before=`, 'prev')).reverse()
        t.strictSame(last.flat(), inOrder(store, sort), `${url}, backwards from the end`)
        const begins = linksOf(await app.inject(url)).next
        if (begins === undefined) continue
        const second = await app.inject(begins)
        const first = await app.inject(linksOf(second).prev ?? '')
        t.strictSame([idsOf(first), linksOf(first).prev], [forwards[0], undefined],
          `${url}, the page before the second one`)
        t.strictSame(idsOf(await app.inject(linksOf(first).next ?? '')), forwards[1],
          `${url}, and the one after it again`)
      }
    }
  }
})

t.test('while rows are created and deleted, no row is missed and none comes twice', async (t) => {
  for (const relation of ['next', 'prev'] as const) {
    for (const sort of ['-id', 'rating', 'published,-rating', '-published,rating,-title']) {
      for (const place of [0, -1]) {
        await t.test(`${relation}, ${sort}, row ${place} of each page is deleted`, async (t) => {
          const store = seeded()
          const app = await serve(t, store)
          const before = inOrder(store, sort)
          const gone = new Set<string>()
          const made = new Set<string>()
          const pages = await walk(app, `/posts.json?sort=${sort}&limit=3${relation === 'prev' ? '&before=' : ''}`,
            relation, (page) => {
              const id = page.at(place)
              if (id !== undefined) store.delete(Number(id), guard)
              // A row on the way is deleted before the walk reaches it.
              const ahead = (relation === 'next' ? before : before.toReversed()).filter((id) =>
                !page.includes(id) && store.get(Number(id), {}) !== undefined)
              const next = ahead.at(-1)
              if (next !== undefined && gone.size < 3) {
                gone.add(next)
                store.delete(Number(next), guard)
              }
              if (made.size < 6) made.add(String(store.create(seeds[made.size] as Attributes, {}).id))
            })
          const seen = (relation === 'next' ? pages : pages.reverse()).flat()
          t.equal(new Set(seen).size, seen.length, 'no row comes twice')
          t.strictSame(seen.filter((id) => !made.has(id) && !gone.has(id)), before.filter((id) => !gone.has(id)),
            'no row is missed')
          t.equal(gone.size, 3)
        })
      }
    }
  }
})

t.test('the relations of a page', async (t) => {
  const app = await serve(t, seeded(seeds.slice(0, 5)), { html: { pageSize: 2 }, prefix: '/blog' })
  const cursor = (id: number): string => Buffer.from(`[${id}]`).toString('base64url')
  const cases: Array<[url: string, links: Record<string, string>]> = [
    ['/blog/posts.json', {}],
    [`/blog/posts.json?after=${cursor(2)}`, {}],
    [`/blog/posts.xml?before=${cursor(2)}`, {}],
    ['/blog/posts.json?limit=2', { self: '?limit=2', first: '?limit=2', next: `?limit=2&after=${cursor(2)}` }],
    ['/blog/posts.html', { self: '', first: '', next: `?after=${cursor(2)}` }],
    ['/blog/posts.xml?limit=5', { self: '?limit=5', first: '?limit=5' }],
    [`/blog/posts.json?limit=2&after=${cursor(2)}`,
      {
        self: `?limit=2&after=${cursor(2)}`,
        first: '?limit=2',
        prev: `?limit=2&before=${cursor(3)}`,
        next: `?limit=2&after=${cursor(4)}`
      }],
    [`/blog/posts.html?after=${cursor(2)}&title=z`,
      { self: `?title=z&after=${cursor(2)}`, first: '?title=z', prev: '?title=z&before=' }],
    [`/blog/posts.json?after=${cursor(4)}&limit=2`,
      { self: `?limit=2&after=${cursor(4)}`, first: '?limit=2', prev: `?limit=2&before=${cursor(5)}` }],
    [`/blog/posts.json?limit=2&before=${cursor(5)}`,
      {
        self: `?limit=2&before=${cursor(5)}`,
        first: '?limit=2',
        prev: `?limit=2&before=${cursor(3)}`,
        next: `?limit=2&after=${cursor(4)}`
      }],
    [`/blog/posts.json?limit=2&before=${cursor(3)}`,
      { self: `?limit=2&before=${cursor(3)}`, first: '?limit=2', next: `?limit=2&after=${cursor(2)}` }],
    ['/blog/posts.json?limit=2&before=',
      { self: '?limit=2&before=', first: '?limit=2', prev: `?limit=2&before=${cursor(4)}` }],
    ['/blog/posts.json?limit=9&before=', { self: '?limit=9&before=', first: '?limit=9' }],
    [`/blog/posts.json?limit=2&after=${cursor(5)}`,
      { self: `?limit=2&after=${cursor(5)}`, first: '?limit=2', prev: '?limit=2&before=' }],
    [`/blog/posts.json?limit=2&before=${cursor(1)}`, { self: `?limit=2&before=${cursor(1)}`, first: '?limit=2' }]
  ]
  for (const [url, expected] of cases) {
    const [path = ''] = url.split('?')
    const get = await app.inject(url)
    t.equal(get.statusCode, 200, url)
    t.strictSame(linksOf(get), Object.fromEntries(Object.entries(expected)
      .map(([relation, query]) => [relation, path + query])), url)
    t.equal((await app.inject({ method: 'HEAD', url })).headers.link, get.headers.link, `HEAD ${url}`)
  }
})

t.test('a position that no link has is a 400', async (t) => {
  const long = { title: 'x'.repeat(3000) }
  const store = seeded([long, { title: 'y' }, long])
  const app = await serve(t, store)
  const own = await serve(t, { ...seeded(), capabilities: { filter: true } })
  const { next = '' } = linksOf(await app.inject('/posts.json?sort=title&limit=1'))
  const second = await app.inject(next)
  const { prev = '' } = linksOf(second)
  t.ok(prev.length < 100, 'a long text is not in the link')
  t.strictSame([idsOf(second), idsOf(await app.inject(prev))], [['3'], ['1']], 'but the row is found by its id')
  store.delete(3, guard)
  const cases: Array<[app: FastifyInstance, url: string, detail: string | RegExp]> = [
    [app, '/posts.json?before=WzFd&after=WzFd', '"after" and "before" exclude each other; send one of them'],
    [app, '/posts.json?before=&after=WzFd', '"after" and "before" exclude each other; send one of them'],
    [app, '/posts.json?before=x', '"before" must come from a "prev" link of this list with the same order'],
    [app, '/posts.json?limit=1&sort=title&before=WzFd',
      '"before" must come from a "prev" link of this list with the same order'],
    [app, '/posts.json?after=', '"after" must come from a "next" link of this list with the same order'],
    [app, prev, 'the row at which the page ends has been deleted; start again without "before"'],
    [own, '/posts.json?limit=1&before=', /^the parameter "before" is unknown/]
  ]
  for (const [app, url, detail] of cases) {
    const res = await app.inject(url)
    t.match([res.statusCode, res.headers['content-type'], res.json<{ detail: string }>().detail],
      [400, types.problem, detail], url)
  }
  const { next: onward = '' } = linksOf(await own.inject('/posts.json?limit=2'))
  t.strictSame(Object.keys(linksOf(await own.inject(onward))), ['self', 'first', 'next'],
    'a store that cannot reverse its order has no previous pages')
})

t.test('pages of large rows go in both directions', async (t) => {
  const store = seeded(Array.from({ length: 9 },
    (_, index) => ({ title: String(index % 3).padEnd(700_000, 'x'), rating: index % 4 })))
  const views = { list: (page: { readonly table: unknown }) => page.table } as never
  for (const app of [await serve(t, store), await serve(t, store, { html: { views } })]) {
    for (const sort of ['rating,-id']) {
      const all = inOrder(store, sort)
      for (const limit of [1, 4, 9]) {
        for (const kind of pageKinds) {
          const url = `/posts.${kind}?sort=${sort}&limit=${limit}`
          const last = await app.inject(`${url}&before=`)
          const ids = idsOf(last, kind)
          const begin = all.length - limit
          t.strictSame(ids, all.slice(begin, begin + ids.length), `${url}, the last page`)
          const { prev } = linksOf(last)
          t.equal(prev === undefined, begin === 0, url)
          if (prev === undefined) continue
          const page = await app.inject(prev)
          t.strictSame(idsOf(page, kind)[0], all[Math.max(0, begin - limit)], `${url}, the page before it`)
          const { next = '' } = linksOf(page)
          const followed = idsOf(await app.inject(next), kind)[0]
          t.equal(followed, all[Math.max(0, begin - limit) + idsOf(page, kind).length], `${url}, and on`)
        }
      }
    }
  }
})

t.test('a page that ends with the rows that are held at once leads to the next', async (t) => {
  const app = await serve(t, seeded(Array.from({ length: 3 }, () => ({ title: 'x'.repeat(600_000), rating: 1 }))))
  const page = await app.inject('/posts.json?limit=2')
  t.strictSame(idsOf(page), ['1', '2'])
  t.strictSame(idsOf(await app.inject(linksOf(page).next ?? '')), ['3'])
})

t.test('a store that lists in one order only counts the rows after a page', async (t) => {
  const store = seeded(Array.from({ length: 7 }, () => ({ rating: 1 })))
  const capabilities = { ...store.capabilities, order: false }
  const places: unknown[] = []
  for (const one of [store, { ...store, capabilities }] as const) {
    const app = await serve(t, one)
    const { next = '' } = linksOf(await app.inject('/posts.html?limit=2'))
    places.push(/[^>]* of [^<]*/.exec((await app.inject(next)).body)?.[0])
  }
  t.strictSame(places, ['3&#8211;4 of 7', '3&#8211;4 of 7'])
})

t.test('rows that are created while a page of large rows is read push none off the page', async (t) => {
  const store = seeded(Array.from({ length: 12 },
    (_, index) => ({ title: String(index).padEnd(900_000, 'x'), rating: index * 2 })))
  let calls = 0
  const app = await serve(t, {
    ...store,
    list (query) {
      if (++calls === 2) {
        store.create({ rating: 7 }, {})
        store.create({ rating: 99 }, {})
      }
      return store.list(query)
    }
  })
  t.strictSame(idsOf(await app.inject('/posts.json?sort=rating&limit=10&before=')),
    ['3', '4', '13', '5', '6', '7', '8', '9', '10', '11', '12'])
  t.equal(calls, 2)
})

t.test('lists of the app have previous pages if their rows are known', async (t) => {
  const rows = [1, 2, 3, 4, 5].map((id) => ({ id, attributes: { rating: 9 - id } }))
  const forwards = [['1', '2'], ['3', '4'], ['5']]
  const listed = async (list: unknown, options = {}): Promise<FastifyInstance> =>
    await build(t, { name: 'posts', attributes: rated, actions: { list }, ...options } as never)
  const cases: Array<[name: string, app: FastifyInstance]> = [
    ['all rows', await listed(() => rows)],
    ['an outcome of all rows', await listed(() => ({ kind: 'listed', rows }))],
    ['proceed()', await listed(({ proceed }: { proceed: () => unknown }) => proceed(),
      { store: seeded(seeds.slice(0, 5)) })],
    ['a copy of proceed()', await listed(async ({ proceed }: { proceed: () => Promise<{ rows: object[] }> }) => {
      const outcome = await proceed()
      return { ...outcome, rows: [...outcome.rows] }
    }, { store: seeded(seeds.slice(0, 5)) })],
    ['pages with "first" and "last"', await listed(
      ({ query: { before, after, limit } }: {
        query: {
          before: 'end' | [number] | undefined, after: [number] | undefined, limit: number
        }
      }) => {
        const end = before === undefined ? undefined : before === 'end' ? rows.length : before[0] - 1
        const begin = end === undefined ? after?.[0] ?? 0 : Math.max(0, end - limit)
        const page = rows.slice(begin, end ?? begin + limit)
        return {
          kind: 'listed',
          rows: page,
          first: begin > 0 ? page[0] ?? 'end' : undefined,
          last: rows.length > begin + page.length ? page.at(-1) : undefined
        }
      })]
  ]
  for (const [name, app] of cases) {
    t.strictSame(await walk(app, '/posts.json?limit=2', 'next'), forwards, name)
    t.strictSame(await walk(app, '/posts.json?limit=2&before=', 'prev'), [['4', '5'], ['2', '3'], ['1']],
      `${name}, backwards`)
    const beyond = await app.inject('/posts.json?limit=2&after=WzVd')
    t.strictSame([idsOf(beyond), linksOf(beyond).prev], [[], '/posts.json?limit=2&before='], `${name}, an empty page`)
  }
  const batches = await listed(() => rows.map((row) => [row]))
  for (const url of ['/posts.json?limit=2&before=WzNd', '/posts.json?before=']) {
    const res = await batches.inject(url)
    t.match([res.statusCode, res.json()],
      [400, { detail: 'this list has no previous pages; start again without "before"' }], url)
  }
})

t.test('a list of more than 10,000 rows has no sum and no numbers, and a page takes at most 21 counts', async t => {
  const counted: CountQuery[] = []
  const letter = { type: 'string', enum: 'abcdefgh'.split('') } as const
  const attributes = {
    type: 'object',
    properties: { title: { type: 'string' }, a: letter, b: letter, c: letter, total: { type: 'integer' } }
  } as const
  const store = memoryStore()
  for (let index = 0; index < 10_000; index++) store.create({ title: 'T', a: 'a', b: 'b', c: 'c', total: 1 }, {})
  const delay = { of: 0 }
  const count = async (query: CountQuery): Promise<Count> => {
    counted.push(query)
    if (delay.of > 0) await setTimeout(delay.of)
    return store.count(query)
  }
  const app = await build(t, { name: 'posts', attributes, store: { ...store, count } })
  const capabilities = { ...store.capabilities, count: false }
  const uncounted = await build(t, { name: 'posts', attributes, store: { ...store, capabilities } })
  const get = async (from: FastifyInstance, url: string): Promise<string> =>
    (await from.inject({ url, headers: { accept: accept.html } })).body
  const foot = (label: string, sum: string): RegExp =>
    new RegExp(`<th scope="row">Sum \\(${label}\\)</th>.*<td [^>]*class="number">${sum}</td></tr></tfoot>`)
  for (const isMore of [false, true]) {
    if (isMore) store.create({ title: 'U', a: 'h', total: 5 }, {})
    for (const other of [app, uncounted]) {
      const body = await get(other, '/posts?sum=total')
      if (isMore) t.notMatch(body, '<tfoot>')
      else t.match(body, foot('10,000 posts', '10,000'))
      t.equal(body.includes('<p>More than 10,000 posts are not added up: filter the list to see sums.</p>'), isMore)
      t.equal(body.includes('>a <span>10,000</span></a>'), !isMore && other === app)
    }
    counted.length = 0
    const numbers = (await get(app, '/posts?title=T')).match(/<a class="chip" href="[^"]*">\w <span>/g) ?? []
    t.equal(numbers.length, isMore ? 0 : 16, 'an attribute with which there would be more than 20 counts has none')
    t.equal(counted.length, isMore ? 2 : 18, 'two are those of the page and of the whole list')
    t.ok(counted.every(({ most }) => most === 10_001))
  }
  t.match(await get(app, '/posts?title=U&sum=total'), foot('1 post', '5'), 'a filter makes the list short')
  store.delete(10_001, { version: undefined, scope: {} })
  delay.of = 150
  t.notMatch(await get(app, '/posts'), '>a <span>', 'counts that take long are given up')
})
