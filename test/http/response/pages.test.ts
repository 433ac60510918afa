import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { BY_ID, memoryStore, type Query, type ResourceOptions, type Store } from '../../../lib/index.js'
import { build } from '../../support/helper.js'
import {
  accept, attributes, batchesOf, kinds, type List, listen, listing, makeRows, problems, read, request, textOf
} from '../../support/lists.js'

t.test('a limit gives pages that link to the next', async t => {
  const links = {
    xml: (body: string) => [...body.matchAll(/<id type="integer">(\d+)<\/id>/g)].map(([, id]) => Number(id)),
    json: (body: string) => (JSON.parse(body) as { posts: Array<{ id: number }> }).posts.map(({ id }) => id),
    html: (body: string) => [...body.matchAll(/<td[^>]*><a href="\/blog\/posts\/(\d+)">/g)].map(([, id]) => Number(id))
  }
  const promises = (store: Store): Store => ({
    ...store,
    async * list (query, context) {
      for await (const batch of store.list(query, context)) {
        await turn()
        yield batch
      }
    }
  })

  async function walk (
    app: FastifyInstance, first: string, kind: keyof typeof links, between: (page: number) => void = () => {}
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
      between(++pages)
    }
    return { ids, pages }
  }

  async function seeded (
    t: Test, wrap: (store: Store) => Store, count: number, options: Omit<ResourceOptions, 'name'> = {}
  ): Promise<{ app: FastifyInstance, store: ReturnType<typeof memoryStore> }> {
    const store = memoryStore()
    for (let id = 1; id <= count; id++) store.create({ title: `Row ${id}` }, {})
    return {
      app: await build(t, { name: 'posts', attributes, store: wrap(store), prefix: '/blog', ...options }), store
    }
  }

  const first23 = makeRows(23).map(({ id }) => id)

  for (const kind of ['xml', 'json', 'html'] as const) {
    for (const wrap of kind === 'json' ? [(store: Store) => store, promises] : [(store: Store) => store]) {
      await t.test(`pages of ${kind}, ${wrap === promises ? 'by promises' : 'at once'}`, async t => {
        const { app, store } = await seeded(t, wrap, 23)
        for (const [url, pages] of [['/blog/posts?limit=5', 5], ['/blog/posts?limit=23', 1],
          ['/blog/posts?limit=22', 2], ['/blog/posts?limit=1', 23], ['/blog/posts?limit=1000', 1],
          [`/blog/posts.${kind}?limit=10`, 3], [`/blog/posts?format=${kind}&limit=10`, 3]] as const) {
          t.strictSame(await walk(app, url, kind), { ids: first23, pages }, url)
        }
        const changed = await walk(app, '/blog/posts?limit=5', kind, (page) => {
          if (page > 3) return
          store.create({ title: 'new' }, {})
          store.delete([3, 12, 20][page - 1] as number, { version: undefined, scope: {} })
        })
        t.strictSame(changed.ids, [...first23.filter((id) => id !== 12 && id !== 20), 24, 25, 26],
          'each row that stays comes exactly once, whichever rows are added or deleted')
      })
    }
  }

  await t.test('a page whose last row is deleted still leads to the next page', async t => {
    const { app, store } = await seeded(t, (store) => store, 6)
    const { ids } = await walk(app, '/blog/posts?limit=2', 'json', () => {
      store.delete(2, { version: undefined, scope: {} })
    })
    t.strictSame(ids, [1, 2, 3, 4, 5, 6])
  })

  await t.test('a link keeps suffix, format and limit, and has the prefix', async t => {
    const { app } = await seeded(t, (store) => store, 3)
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
      [{ html: { pageSize: 120 } }, '/blog/posts', [120]],
      [{ maxLimit: 40 }, '/blog/posts', [40, 40, 40]],
      [{ html: { pageSize: 100 } }, '/blog/posts?limit=110', [110, 10]],
      [{ maxLimit: 60, html: { pageSize: 60 } }, '/blog/posts', [60, 60]]
    ]
    for (const [options, url, rows] of cases) {
      const { app } = await seeded(t, (store) => store, 120, options)
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

  await t.test('without a limit the rest of the list follows a cursor', async t => {
    const { app } = await seeded(t, (store) => store, 600)
    const { headers } = await app.inject({ url: '/blog/posts?limit=3', headers: { accept: accept.json } })
    const after = /after=([\w-]+)/.exec(String(headers.link))?.[1] ?? ''
    for (const kind of kinds) {
      const res = await app.inject({ url: `/blog/posts?after=${after}`, headers: { accept: accept[kind] } })
      t.strictSame(links[kind](res.body), makeRows(600).map(({ id }) => id).slice(3))
      t.equal(res.headers.link, undefined)
    }
    t.strictSame(links.html(
      (await app.inject({ url: `/blog/posts?after=${after}`, headers: { accept: accept.html } })).body
    ), makeRows(53).map(({ id }) => id).slice(3))
  })

  await t.test('the store is asked for one row more than the page has, up to the maximum', async t => {
    const queries: Query[] = []
    const { app } = await seeded(t, (store) => ({
      ...store,
      list (query, context) {
        queries.push(query)
        return store.list(query, context)
      }
    }), 3, { maxLimit: 10 })
    for (const url of ['/blog/posts.json?limit=2', '/blog/posts.json?limit=10', '/blog/posts.json?limit=11',
      '/blog/posts.html', '/blog/posts.json']) {
      await app.inject(url)
    }
    t.strictSame(queries, [3, 11, 11, undefined].map(
      (limit) => ({
        order: BY_ID, after: undefined, offset: undefined, limit, scope: {}, filter: [], search: undefined
      })))
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

t.test('a page may come in one batch of any length', async t => {
  const rows = makeRows(200_000)
  const app = await build(t, { name: 'posts', attributes, maxLimit: 1_000_000, store: listing(() => [rows]) })
  const res = await app.inject('/posts.xml?limit=200000')
  t.equal(res.statusCode, 200)
  t.ok(res.body === textOf('xml', rows))
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
    ['with a schema', { attributes }, ['xml', 'json', 'html']],
    ['without a schema', {}, ['json', 'html']],
    ['by a view of the app', { attributes, html: { views } }, ['html']]
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
            /<id type="integer">(\d+)|"id":(\d+)|<tr><td[^>]*>(?:<a href="[^"]*">)?(\d+)</g)
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
