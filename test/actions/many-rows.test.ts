import fastify from 'fastify'
import t from 'tap'
import { draw, memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import {
  attributes, openPosts, type OpenPosts, type Post, type Posts, shortFaults, testManyRows, XML_FAULTS
} from '../support/many-rows.js'
import { compareWithModel } from '../support/many-rows-model.js'

const open: OpenPosts = async () => memoryStore({ unique: ['title'] }) as Store
const titles = (rows: readonly Post[] = []): string => rows.map(({ title }) => title).join()

testManyRows(t, open)

t.test('random batches in memory do what single writes would do, or nothing', (t) => compareWithModel(t, open, 400))

t.test('faults in XML name the index and the id of their row', async (t) => {
  const { send } = await openPosts(t, open)
  const body = '<posts type="array"><post><id>1</id></post><post><id>2</id><title></title></post>' +
    '<post><id>99</id><rating>1</rating></post></posts>'
  const { text, status } = await send('PUT', body, { type: 'application/xml', headers: { accept: 'application/xml' } })
  t.strictSame([status, text], [422, XML_FAULTS.replace('index="1"', 'index="1" id="2"')])
})

t.test('rows in CSV are new with their defaults, and changes of all their columns', async (t) => {
  const { send, stored } = await openPosts(t, open)
  const csv = { type: 'text/csv', headers: { accept: 'text/csv' } }
  const created = await send('POST', 'title,rating,published\nD,,TRUE\n"E, F",5,\n', csv)
  t.strictSame([created.status, created.text], [201, 'id,title,rating,published\r\n4,D,3,true\r\n5,"E, F",5,false\r\n'])
  const changed = await send('PUT', created.text.replace('D,3', 'D,').replace('4,', '4,'), csv)
  t.strictSame([changed.status, changed.text],
    [200, 'id,title,rating,published\r\n4,D,,true\r\n5,"E, F",5,false\r\n'])
  const faulty = await send('PUT', 'id,title,stars\n1,"two\nlines",\n99,X,\n', csv)
  t.equal(faulty.headers['content-type'], 'application/problem+json; charset=utf-8')
  t.strictSame(faulty.json.rows?.map(({ line, errors }) => [line, Object.keys(Object(errors))]),
    [[2, ['stars']], [4, ['stars']]])
  t.equal((await stored()).length, 5)
})

t.test('requests that cannot have many rows are refused', async (t) => {
  const rows = '{"posts":[{"id":1,"title":"X"}]}'
  const cases: ReadonlyArray<readonly [why: string, options: object, request: object, status: number]> = [
    ['because the option maxRows is 0', { maxRows: 0 }, {}, 400],
    ['because the app handles the action itself', { actions: { update: () => undefined } }, {}, 400],
    ['because If-Match is about one row', {}, { headers: { 'if-match': '"1"' } }, 400],
    ['because If-None-Match is about one row', {}, { headers: { 'if-none-match': '*' } }, 400],
    ['because the query has an id too', {}, { url: '/posts?id=1' }, 400],
    ['because the query is a filter', {}, { url: '/posts?published=false' }, 400]
  ]
  for (const [why, options, request, status] of cases) {
    await t.test(why, async (t) => {
      const { send, stored } = await openPosts(t, open, options)
      const { status: actual, text } = await send('PUT', rows, request)
      t.equal(actual, status, text)
      t.equal(titles(await stored()), 'A,B,C')
    })
  }
})

t.test('a store without transactions is served as before, and many rows are refused', async (t) => {
  const { send, stored } = await openPosts(t, async (t) => {
    const { transaction, ...others } = await open(t)
    return others
  })
  const { status, json } = await send('POST', '{"posts":[{"title":"D"}]}')
  t.equal(status, 400)
  t.match(json.detail, /the store has no transactions; send one post in each request/)
  t.equal((await send('POST', '{"post":{"title":"D"}}')).status, 201)
  t.equal((await send('POST', '{"post":{"title":"E"}}', { url: '/posts?dry_run=true' })).status, 400)
  t.equal(titles(await stored()), 'A,B,C,D')
})

t.test('a body with more rows than maxRows is refused, and names the option', async (t) => {
  const { send, stored } = await openPosts(t, open, { maxRows: 2 })
  const { status, json } = await send('DELETE', '{"id":[1,2,3]}')
  t.equal(status, 413)
  t.match(json.detail, /more than 2 rows.*maxRows/)
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('faults of shared changes are those of each row', async (t) => {
  const { send, stored } = await openPosts(t, open)
  const cases = [
    ['{"id":[1,2],"post":5}', 'post'], ['{"id":[1,2],"post":{"rating":9007199254740992}}', 'rating'],
    ['{"id":[1,2],"post":{"rating":{"a":"\\u0000"}}}', 'rating']
  ] as const
  for (const [body, name] of cases) {
    const { status, json } = await send('PUT', body)
    t.strictSame([status, shortFaults(json)], [422, { 0: name, 1: name }], body)
  }
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('bodies that are neither one row nor many are refused', async (t) => {
  const cases: ReadonlyArray<readonly [body: string, status: number, detail: RegExp]> = [
    ['{"posts":[],"post":{"title":"X"}}', 400, /"post" stands beside "posts"/],
    ['{"posts":{"title":"X"}}', 422, /must be a list of rows/],
    ['{"id":[1,2],"post":{"title":"X"}}', 422, /is assigned/],
    ['{"posts":[{"title":"X"}],"id":1}', 400, /"id" stands beside "posts"/]
  ]
  const { send } = await openPosts(t, open)
  for (const [body, expected, detail] of cases) {
    const { status, json } = await send('POST', body)
    t.equal(status, expected, body)
    t.match(json.detail, detail)
  }
})

t.test('a form that has rows is refused', async (t) => {
  const { send, stored } = await openPosts(t, open)
  const form = { type: 'application/x-www-form-urlencoded' }
  const bodies = [
    'posts[][title]=D&posts[][title]=E', '_method=POST&posts[0][title]=D', 'id[][a]=1&post[title]=D&_method=PUT'
  ] as const
  for (const body of bodies) {
    const { status } = await send('POST', body, form)
    t.ok(status === 422 || status === 400, `${body}: ${status}`)
  }
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('authorize is asked about each row with the number of rows, and its refusals are faults', async (t) => {
  const asked: unknown[] = []
  const { send, stored } = await openPosts(t, open, {
    authorize: async (_request, { action, id, rows, row }) => {
      if (action !== 'list') asked.push([action, id, rows])
      return (await row?.())?.attributes.title !== 'B' || 'hide'
    }
  })
  const hidden = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"rating":1},{"id":99,"rating":1}]}')
  t.strictSame([hidden.status, shortFaults(hidden.json)], [404, { 1: '404', 2: '404' }])
  t.strictSame(asked, [['update', 1, 3], ['update', 2, 3], ['update', 99, 3]])
  const details = hidden.json.rows?.map(({ detail }) => String(detail).replace(/\d+/, 'N'))
  t.equal(new Set(details).size, 1, 'a hidden row is answered as a missing one')
  t.ok((await stored()).every(({ rating }) => rating === 3))
})

t.test('authorize sees the body that a request with each row alone would have', async (t) => {
  const bodies: unknown[] = []
  const { send, stored } = await openPosts(t, open, {
    authorize: ({ body }, { action }) => {
      if (action === 'list') return true
      bodies.push(JSON.parse(JSON.stringify(body)))
      return Object(body).post.title !== 'X'
    },
    hooks: { onResponse: async ({ body }) => { if (body !== undefined) bodies.push(Object.keys(Object(body))) } }
  })
  const { status, json } = await send('PUT', '{"posts":[{"id":1,"title":"D"},{"id":2,"title":"X"}]}')
  t.strictSame([status, shortFaults(json)], [403, { 1: '403' }])
  t.strictSame(bodies, [{ id: 1, post: { title: 'D' } }, { id: 2, post: { title: 'X' } }, ['posts']])
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('a row outside the scope is a missing one, and nothing is written', async (t) => {
  const { send, stored } = await openPosts(t, open, {
    scope: ({ headers }) => headers['x-all'] === undefined ? { published: true } : {}
  })
  const all = { headers: { 'x-all': '1' } }
  await send('PUT', '{"id":[1,3],"post":{"published":true}}', all)
  const { status, json } = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"rating":1},{"id":3,"rating":1}]}')
  t.strictSame([status, shortFaults(json)], [404, { 1: '404' }])
  t.ok((await stored()).every(({ rating }) => rating === 3))
  const own = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":3,"rating":1}]}')
  t.equal(own.status, 200)
})

t.test('a row that changes after authorize was shown it is decided about again', async (t) => {
  const store = await open(t)
  let isFirst = true
  const { send, stored } = await openPosts(t, async () => store, {
    authorize: async (_request, { action, row, id }) => {
      const found = await row?.()
      if (action === 'update' && id === 2 && isFirst) {
        isFirst = false
        const context = { signal: new AbortController().signal }
        await store.update(1, { published: true }, { version: undefined, scope: {} }, context)
      }
      return action !== 'update' || found?.attributes.published !== true
    }
  })
  const { status, json } = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"rating":1}]}')
  t.strictSame([status, shortFaults(json)], [403, { 0: '403' }])
  t.ok((await stored()).every(({ rating }) => rating === 3))
})

t.test('a row that an earlier row of the request changes after authorize was shown it is a stale one', async (t) => {
  const store = await open(t)
  let transactions = 0
  // It does what a trigger of a database may do: a deletion also changes the next row.
  const chained: Store = {
    ...store,
    async delete (id, guard, context) {
      await store.update(Number(id) + 1, { published: true }, { version: undefined, scope: {} }, context)
      return store.delete(id, guard, context)
    },
    transaction (...call) {
      transactions++
      return (store as Required<Store>).transaction(...call)
    }
  }
  const { send, stored } = await openPosts(t, async () => chained, {
    authorize: async (_request, { row }) => await row?.() !== null
  })
  const { status, json } = await send('DELETE', '{"id":[1,2]}')
  t.strictSame([status, shortFaults(json)], [412, { 1: '412' }])
  t.ok(transactions < 10, `${transactions} transactions`)
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('an empty request is authorized as others are', async (t) => {
  const { send } = await openPosts(t, open, { authorize: (_request, { rows }) => rows !== 0 })
  t.equal((await send('POST', '{"posts":[]}')).status, 403)
  t.equal((await send('PUT', '{"id":[],"post":{"rating":1}}')).status, 403)
  t.equal((await send('DELETE', '{"id":[]}')).status, 403)
})

t.test('the same changes of many rows cost no more than if they were spelled out', async (t) => {
  const properties = { title: { type: 'string' }, tags: { type: 'array', items: { type: 'integer' } } } as const
  const { send, stored } = await openPosts(t, open, { attributes: { type: 'object', properties } })
  const ids = Array.from({ length: 1000 }, (_, index) => index)
  const values = await send('PUT', JSON.stringify({ id: ids, post: { tags: ids } }))
  t.equal(values.status, 413, values.text)
  const size = await send('PUT', JSON.stringify({ id: ids, post: { title: 'x'.repeat(50_000) } }))
  t.strictSame([size.status, size.json.detail],
    [413, 'the changes of all rows are too large together; send fewer ids in each request'])
  t.equal((await send('PUT', JSON.stringify({ id: [1, 2], post: { tags: ids } }))).status, 200)
  // Values at fault, and names that are unknown, cost no more either.
  const bad = `<post><id type="array">${ids.map((id) => `<id>${id}</id>`).join('')}</id>` +
    `<tags type="array">${'<tag>x</tag>'.repeat(1000)}</tags></post>`
  t.equal((await send('PUT', bad, { type: 'application/xml' })).status, 413)
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('rows that are too large together for an answer are not written, unless the client wants none', async (t) => {
  const properties = { title: { type: 'string' }, rating: { type: 'integer' }, published: { type: 'boolean' } } as const
  const store = memoryStore() as Store
  const { send } = await openPosts(t, async () => store, { attributes: { type: 'object', properties } })
  const context = { signal: new AbortController().signal }
  const title = 'x'.repeat(400_000)
  const ids: unknown[] = []
  for (let index = 0; index < 100; index++) ids.push((await store.create({ title, rating: 1 }, {}, context)).id)
  const body = JSON.stringify({ id: ids, post: { rating: 2 } })
  const refused = await send('PUT', body)
  t.equal(refused.status, 413)
  t.match(refused.json.detail, /too large together.*Prefer: return=minimal/)
  t.equal((await store.get(ids[0] as number, {}, context))?.attributes.rating, 1)
  t.equal((await send('PUT', body, { headers: { prefer: 'return=minimal' } })).status, 204)
  t.equal((await send('DELETE', JSON.stringify({ id: ids }))).status, 204)
})

t.test('at most 100 faults are named', async (t) => {
  const { send } = await openPosts(t, open)
  const rows = Array.from({ length: 150 }, () => ({ title: '' }))
  const { status, json } = await send('POST', JSON.stringify({ posts: rows }))
  t.strictSame([status, json.rows?.length, json.truncated], [422, 100, true])
  t.equal(json.detail, '150 of 150 rows are at fault; nothing was written')
})

t.test('a row without a version is refused where one is required', async (t) => {
  const { send } = await openPosts(t, open, { requireMatch: true })
  const { status, json } = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"_version":"1","rating":1}]}')
  t.strictSame([status, shortFaults(json)], [428, { 0: '428' }])
  t.match(json.rows?.[0]?.detail, /send "_version"/)
  t.equal((await send('DELETE', '{"posts":[{"id":1,"_version":"1"},{"id":2,"_version":"1"}]}')).status, 204)
})

t.test('a single update takes the version beside the id', async (t) => {
  const { send } = await openPosts(t, open)
  t.equal((await send('PUT', '{"id":1,"post":{"_version":"2","rating":1}}')).status, 412)
  t.equal((await send('PUT', '{"post":{"id":1,"_version":"1","rating":1}}')).status, 200)
  const xml = { type: 'application/xml' }
  t.equal((await send('PUT', '<post><id>1</id><_version>1</_version><rating>2</rating></post>', xml)).status, 412)
  t.equal((await send('PUT', '{"id":1,"post":{"_version":2,"rating":1}}')).status, 400, 'a version is a text')
})

t.test('hooks see the rows of all formats alike, and may change them', async (t) => {
  const seen: unknown[] = []
  const { send, stored } = await openPosts(t, open, {
    hooks: {
      preHandler: async ({ body }) => {
        const { posts = [] } = Object(body) as { readonly posts?: ReadonlyArray<{ readonly post: { title?: string } }> }
        seen.push(JSON.stringify(body))
        for (const { post } of posts) if (post.title !== undefined) post.title += '!'
      }
    }
  })
  await send('POST', '{"posts":[{"title":"D"}]}')
  await send('POST', '<posts type="array"><post><title>E</title></post></posts>', { type: 'application/xml' })
  t.strictSame(seen, ['{"posts":[{"post":{"title":"D"}}]}', '{"posts":[{"post":{"title":"E"}}]}'])
  t.equal(titles(await stored()), 'A,B,C,D!,E!')
})

const context = { signal: new AbortController().signal }
const show = (posts: readonly Post[] = []): string =>
  posts.map(({ title, rating }) => `${title} ${String(rating)}`).join()
const rows = (...posts: readonly unknown[]): string => JSON.stringify({ posts })
const url = '/posts?match=title&create=true'
const csv = { type: 'text/csv', url }

t.test('a query that cannot find rows is refused', async (t) => {
  const { transaction: _, ...without } = memoryStore({ unique: ['title'] })
  const { capabilities: _capabilities, ...unfiltered } = memoryStore({ unique: ['title'] })
  const needs = /"match" must be title"/
  const cases: ReadonlyArray<
    readonly [query: string, body: string, detail: RegExp, options?: Partial<ResourceOptions>]
  > = [
    ['match=rating', rows(), needs],
    ['match=', rows(), needs],
    ['create=true', rows(), /"create" is about rows that "match" does not find; send both/],
    ['match=title&create=1', rows(), /"create" must be true or false/],
    ['match=title', '{"post":{"title":"A"}}', /"match" needs a list of rows under "posts"/],
    ['match=title', '{"id":[1],"post":{"title":"A"}}', /"match" needs a list of rows under "posts"/],
    ['match=title', rows({ title: 'A' }), /a store that has no transactions|no transactions/, { store: without as Store }],
    ['match=title', rows(), /needs an attribute that is declared unique/, { store: unfiltered as Store }],
    ['match=title&create=true', rows(), /"create" needs a path on which rows can be created/,
      { only: ['list', 'show', 'update'] }],
    ['match=title&create=true', rows(), /the app handles "update" itself, without "many"/,
      { actions: { create: () => undefined } }]
  ]
  for (const [query, body, detail, options = {}] of cases) {
    const { app } = await openPosts(t, options.store === undefined ? open : async () => options.store as Store,
      options)
    const { statusCode, body: text } = await app.inject({
      method: 'PUT', url: `/posts?${query}`, headers: { 'content-type': 'application/json' }, payload: body
    })
    t.equal(statusCode, 400, `${query}: ${text}`)
    t.match(text.replaceAll('\\"', '"').replaceAll('&quot;', '"'), detail, query)
  }
})

t.test('other writes have no such parameters', async (t) => {
  const { send } = await openPosts(t, open)
  t.equal((await send('POST', rows({ title: 'D' }), { url })).status, 400)
  t.equal((await send('DELETE', rows({ title: 'A' }), { url })).status, 400)
  t.equal((await send('PUT', '{"post":{"title":"D"}}', { url: '/posts/1?match=title' })).status, 405)
  t.equal((await send('PUT', '{"posts":[{"id":1,"title":"D"}]}', { url: '/posts?create=false' })).status, 200)
})

t.test('an empty field of CSV keeps what is absent, and is left out of a new row', async (t) => {
  const { send, stored } = await openPosts(t, open)
  await send('PUT', '{"id":2,"post":{"rating":null}}')
  const sent = await send('PUT', 'id,title,rating,published\n,A,,true\n,B,,false\n,D,,\n', csv)
  t.strictSame([sent.status, sent.headers['row-counts']], [200, 'created=1, changed=1, unchanged=1'], sent.text)
  t.equal(show(await stored()), 'A null,B null,C 3,D 3')
  const faulty = await send('PUT', 'title,rating,published\nA,x,\nD,,no\nE,x,\n', csv)
  t.strictSame(shortFaults(faulty.json), { 0: 'rating,published', 1: 'published', 2: 'rating' }, faulty.text)
})

t.test('a row without the values, or with a fault in them, says so', async (t) => {
  const { send } = await openPosts(t, open)
  const { status, json } = await send('PUT', rows({ title: null }, { title: 5 }, {}, { title: ['A'] }, null), { url })
  t.equal(status, 422)
  t.strictSame(shortFaults(json), { 0: 'title', 1: 'title', 2: 'title', 3: 'title', 4: 'post' })
  t.strictSame(json.rows?.map(({ errors }) => Object(errors).title), [
    ['must be given'], ['must be a string'], ['must be given'],
    ['must be a single value, because it finds the row'], undefined
  ])
  const other = await send('POST', '<posts type="array"><post/><comment/></posts>', { type: 'application/xml' })
  t.equal(other.status, 422)
  t.match(other.json.detail, 'posts has an element "comment"; each must be called "post"')
  const twice = '<posts type="array"><post><title>A</title><title>B</title></post></posts>'
  const xml = await send('PUT', twice, { url, type: 'application/xml' })
  t.strictSame([xml.status, xml.json.rows?.[0]?.errors], [422, { title: ['is given more than once'] }])
})

t.test('unique values that the app hides or assigns find no row', async (t) => {
  for (const keyword of ['readOnly', 'writeOnly']) {
    const properties = { ...attributes.properties, title: { ...attributes.properties.title, [keyword]: true } }
    const { send } = await openPosts(t, open, { attributes: { type: 'object', properties } })
    t.equal((await send('PUT', rows({ title: 'A' }), { url: '/posts?match=title' })).status, 400, keyword)
  }
})

t.test('a resource without a schema finds rows too', async (t) => {
  const store = memoryStore({ unique: ['title'] }) as Store
  const { send, stored } = await openPosts(t, async () => store, { attributes: undefined })
  const sent = await send('PUT', rows({ title: 'A', rating: 4 }, { title: 'D', rating: 1 }), { url })
  t.strictSame([sent.status, sent.headers['row-counts']], [200, 'created=1, changed=1, unchanged=0'])
  t.equal(show(await stored()), 'A 4,B 3,C 3,D 1')
})

t.test('two spellings of one value do not tell a hidden row from one that does not exist', async (t) => {
  const { send } = await openPosts(t, async () => memoryStore({ unique: ['code'] }) as Store, {
    attributes: { type: 'object', properties: { code: { type: 'string', format: 'decimal' } } },
    authorize: (_request, { action }) => action === 'update' ? 'hide' : true
  })
  await send('POST', rows({ code: '1.5' }))
  const sendBoth = async (code: string): Promise<readonly unknown[]> => {
    const { status, json } = await send('PUT', rows({ code }, { code: `${code}0` }), { url: '/posts?match=code' })
    return [status, json.rows?.map(({ status }) => status)]
  }
  t.strictSame(await sendBoth('1.5'), [404, [404, 404]])
  t.strictSame(await sendBoth('2.5'), [404, [404, 404]])
})

t.test('rows are looked up together, unless the store cannot, or takes other spellings for the same', async (t) => {
  const fold = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(fold) : typeof value === 'string' ? value.toUpperCase() : value
  const cases: ReadonlyArray<
    readonly [what: string, filter: true | [], titles: readonly string[], lists: readonly string[]]
  > = [
    ['as they are spelled', true, ['A', 'C'], ['in']],
    ['without the operator in', [], ['A', 'C'], ['eq', 'eq']],
    ['in another spelling', true, ['a', 'C'], ['in', 'eq']]
  ]
  for (const [what, capability, titles, expected] of cases) {
    const store = memoryStore({ unique: ['title'] }) as Store
    const lists: unknown[] = []
    const folding: Store = {
      ...store,
      capabilities: { ...store.capabilities, filter: capability },
      list (query, ...others) {
        const filter = query.filter.map((condition) => {
          lists.push(condition.operator)
          return { ...condition, value: fold(condition.value) }
        })
        return store.list({ ...query, filter: filter as typeof query.filter }, ...others)
      }
    }
    const { send } = await openPosts(t, async () => folding)
    const body = rows(...titles.map((title) => ({ title, rating: 5 })))
    const sent = await send('PUT', body, { url: '/posts?match=title' })
    t.strictSame([sent.status, sent.json.posts?.map(({ id }) => id), lists], [200, [1, 3], expected], what)
  }
})

/** Opens posts whose titles are unique for each owner, of whom a request sees its own. */
async function openOwned (t: Parameters<OpenPosts>[0], options: Partial<ResourceOptions> = {}): Promise<Posts> {
  const store = memoryStore({ unique: [['owner', 'title']] }) as Store
  for (const owner of ['ann', 'bob']) await store.create({ owner, title: 'A', rating: 1 }, {}, context)
  return openPosts(t, async () => store, {
    attributes: { ...attributes, properties: { ...attributes.properties, owner: { type: 'string' } } },
    scope: ({ headers }) => headers.owner === undefined ? {} : { owner: String(headers.owner) },
    ...options
  })
}

t.test('rows that are too large together are not looked up', async (t) => {
  const titles = ['X', 'Y', 'Z']
  for (const properties of [{ title: { type: 'string' }, text: { type: 'string' } }, undefined]) {
    const store = memoryStore({ unique: ['title'] }) as Store
    for (const title of titles) await store.create({ title, text: 'x'.repeat(12_000_000) }, {}, context)
    const { send } = await openPosts(t, async () => store, {
      attributes: properties === undefined ? undefined : { type: 'object', properties }
    })
    const sent = await send('PUT', rows(...titles.map((title) => ({ title }))), { url: '/posts?match=title' })
    t.strictSame([sent.status, sent.json.detail],
      [413, 'the rows are too large together; send fewer in each request'])
  }
})

t.test('the scope gives what it has of a unique group', async (t) => {
  const { send } = await openOwned(t)
  const headers = { owner: 'bob' }
  const sent = await send('PUT', rows({ title: 'A', rating: 2 }, { title: 'D', rating: 2 }), { url, headers })
  t.strictSame([sent.status, sent.json.posts?.map((post) => `${String(Object(post).owner)} ${post.id}`)],
    [200, ['bob 2', 'bob 6']], sent.text)
  const whole = '/posts?match=owner,title&create=true'
  const own = await send('PUT', rows({ title: 'A', rating: 3 }), { url: whole, headers })
  t.equal(own.headers['row-counts'], 'created=0, changed=1, unchanged=0')
  t.equal((await send('PUT', rows({ owner: 'ann', title: 'A', rating: 3 }), { url: whole, headers })).status, 200)
  const open = await send('PUT', rows({ title: 'A' }), { url })
  t.strictSame([open.status, open.json.detail], [400, '"match" must be owner,title'])
  const named = await send('PUT', rows({ owner: 'ann', title: 'A', rating: 5 }), { url: whole })
  t.strictSame([named.status, named.json.posts?.map(({ id }) => id)], [200, [1]])
  const lacking = await send('PUT', rows({ title: 'Z' }), { url: whole })
  t.strictSame(lacking.json.rows?.[0]?.errors, { owner: ['must be given'] })
})

t.test('the scope gives what clients do not send, or do not see', async (t) => {
  for (const kind of ['undeclared', 'readOnly', 'writeOnly']) {
    const owner = kind === 'undeclared' ? {} : { owner: { type: 'string', [kind]: true } }
    const { send } = await openOwned(t, {
      attributes: { ...attributes, properties: { ...attributes.properties, ...owner } }
    })
    const headers = { owner: 'bob' }
    const sent = await send('PUT', rows({ title: 'A', rating: 2 }, { title: 'D', rating: 2 }), { url, headers })
    t.strictSame([sent.status, sent.json.posts?.map(({ id }) => id)], [200, [2, 6]], `${kind}: ${sent.text}`)
    for (const names of ['owner,title', 'owner']) {
      const named = await send('PUT', rows({ title: 'A' }), { url: `/posts?match=${names}`, headers })
      t.strictSame([named.status, named.json.detail], [400, '"match" must be title'])
    }
    t.equal((await send('PUT', rows({ title: 'A' }), { url })).status, 400)
  }
})

t.test('the path of a nested resource gives its part of a unique group', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(draw((map) => {
    map.resources('posts', { attributes }, (posts) => {
      posts.resources('comments', {
        attributes: { type: 'object', properties: { number: { type: 'integer' } } }, unique: [['postId', 'number']]
      })
    })
  }))
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  await app.inject({ method: 'POST', url: '/posts', headers, payload: rows({ title: 'A' }, { title: 'B' }) })
  for (const [post, counts] of [[1, 'created=1'], [2, 'created=1'], [1, 'created=0'], [2, 'created=0']] as const) {
    const { headers: { 'row-counts': done }, body } = await app.inject({
      method: 'PUT',
      url: `/posts/${post}/comments?match=number&create=true`,
      headers,
      payload: JSON.stringify({ comments: [{ number: 7 }] })
    })
    t.match(done, counts, body)
  }
})

t.test('a row outside the scope is not found, and its value is taken', async (t) => {
  const { send, stored } = await openPosts(t, open, {
    scope: ({ headers }) => headers['x-all'] === undefined ? { published: true } : {}
  })
  const body = rows({ title: 'A', rating: 1 })
  const found = await send('PUT', body, { url: '/posts?match=title' })
  t.strictSame([found.status, found.json.rows], [404,
    [{ index: 0, status: 404, detail: 'there is no post with the title "A"' }]])
  const made = await send('PUT', body, { url })
  t.strictSame([made.status, made.json.rows], [409,
    [{ index: 0, status: 409, errors: { title: ['is already taken'] } }]])
  t.equal(show(await stored()), '')
})

t.test('authorize decides about the rows that are found, and about those that are created', async (t) => {
  const asked: unknown[] = []
  const { send } = await openPosts(t, open, {
    authorize: async ({ headers }, { action, id, rows, row }) => {
      asked.push([action, id, rows])
      if (action === 'create') return headers.creates !== undefined
      const title = (await row?.())?.attributes.title
      return title === 'B' ? 'hide' : title !== 'C'
    }
  })
  const headers = { creates: 'true' }
  const one = await send('PUT', rows({ title: 'A', rating: 1 }, { title: 'D' }), { url, headers })
  t.strictSame([one.status, one.headers['row-counts']], [200, 'created=1, changed=1, unchanged=0'])
  t.strictSame(asked.filter((call) => Object(call)[0] === 'create'), [['create', undefined, 2]])
  // The hidden row is answered as one outside the scope would be, and the forbidden one as it would be alone.
  const body = rows({ title: 'A', rating: 2 }, { title: 'B' }, { title: 'C' }, { title: 'E' })
  const refused = await send('PUT', body, { url })
  t.strictSame(shortFaults(refused.json), { 1: '403', 2: '403', 3: '403' })
  const taken = await send('PUT', rows({ title: 'B' }), { url, headers })
  t.strictSame([taken.status, shortFaults(taken.json)], [409, { 0: 'title' }])
  const missing = await send('PUT', rows({ title: 'B' }, { title: 'Z' }), { url: '/posts?match=title' })
  t.strictSame(missing.json.rows?.map(({ status, id, detail }) => [status, id, String(detail).replace(/.".*/, '')]),
    [[404, undefined, 'there is no post with the title'], [404, undefined, 'there is no post with the title']])
})

t.test('a row that another request creates meanwhile is found', async (t) => {
  const store = memoryStore({ unique: ['title'] }) as Required<Store>
  let isFirst = true
  const racing: Store = {
    ...store,
    async transaction (...call) {
      if (isFirst) {
        isFirst = false
        await store.create({ title: 'D', rating: 1, published: false }, {}, context)
        await store.delete(1, { version: undefined, scope: {} }, context)
      }
      return store.transaction(...call)
    }
  }
  const { send, stored } = await openPosts(t, async () => racing)
  const sent = await send('PUT', rows({ title: 'D', rating: 2 }, { title: 'A', rating: 2 }), { url })
  t.strictSame([sent.status, sent.headers['row-counts']], [200, 'created=1, changed=1, unchanged=0'], sent.text)
  t.equal(show(await stored()), 'B 3,C 3,D 2,A 2')
})

t.test('handlers that take part run for each row, by what it is', async (t) => {
  const calls: unknown[] = []
  const { send } = await openPosts(t, open, {
    actions: {
      create: {
        many: true,
        handler: async ({ attributes, proceed }) => {
          calls.push(attributes)
          return proceed()
        }
      },
      update: {
        many: true,
        handler: async ({ id, attributes, proceed }) => {
          calls.push(id, attributes)
          return proceed()
        }
      }
    }
  })
  const sent = await send('PUT', rows({ title: 'A', rating: 1 }, { title: 'D', rating: 2 }), { url })
  t.strictSame([sent.status, sent.headers['row-counts']], [200, 'created=1, changed=1, unchanged=0'], sent.text)
  t.match(calls, [1, { title: 'A', rating: 1 }, { title: 'D', rating: 2, published: false }])
})

t.test('what hooks change is written to rows that are created too', async (t) => {
  const { send, stored } = await openPosts(t, open, {
    hooks: {
      preHandler: async ({ body }) => {
        const { posts = [] } = Object(body) as { posts?: Array<{ post: { rating?: number } }> }
        for (const { post } of posts) post.rating = 5
      }
    }
  })
  const sent = await send('PUT', 'title,rating\nD,\nA,\n', csv)
  t.equal(sent.status, 200, sent.text)
  t.equal(show(await stored()), 'A 5,B 3,C 3,D 5')
})

t.test('rows that fail together are an error of the server', async (t) => {
  const { send, stored } = await openPosts(t, async (t) => ({
    ...await open(t), createMany () { throw new Error('down') }
  }))
  t.equal((await send('POST', rows({ title: 'D' }, { title: 'E' }))).status, 500)
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('answers without rows have the numbers, and pages have none', async (t) => {
  const { send } = await openPosts(t, open)
  const minimal = await send('PUT', rows({ title: 'D' }), { url, headers: { prefer: 'return=minimal' } })
  t.strictSame([minimal.status, minimal.headers['row-counts']], [204, 'created=1, changed=0, unchanged=0'])
  const page = await send('PUT', rows({ title: 'D', rating: 1 }), { url, headers: { accept: 'text/html' } })
  t.strictSame([page.status, page.headers.location, page.headers['row-counts']], [303, '/posts', undefined])
})

t.test('a row that appears twice is a fault', async (t) => {
  const { send } = await openPosts(t, open)
  const { status, json } = await send('PUT', rows({ title: 'A' }, { title: 'A', rating: 5 }), { url })
  t.strictSame([status, json.rows], [422, [{ index: 1, status: 422, errors: { title: ['is given more than once'] } }]])
})
