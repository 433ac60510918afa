import t from 'tap'
import { type Format, json, memoryStore, type Store } from '../../lib/index.js'
import { type Post, openPosts, type OpenPosts, shortFaults, testManyRows, XML_FAULTS } from '../support/many-rows.js'
import { compareWithModel } from '../support/many-rows-model.js'

const open: OpenPosts = async () => memoryStore({ unique: ['title'] }) as Store
const titles = (rows: readonly Post[] = []): string => rows.map(({ title }) => title).join()

/** Returns the format JSON, which calls a function when it reads the value of an attribute. */
function countReads (onRead: () => void): Format {
  const format = json()
  return {
    ...format,
    compileReader (resource) {
      const reader = (format as Required<Format>).compileReader(resource)
      return {
        ...reader,
        compile: (shape) => {
          const convert = reader.compile(shape)
          return (...given) => {
            onRead()
            return convert(...given)
          }
        }
      }
    }
  }
}

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

t.test('bodies that are neither one row nor many are refused', async (t) => {
  const cases: ReadonlyArray<readonly [body: string, status: number, detail: RegExp]> = [
    ['{"posts":[],"post":{"title":"X"}}', 400, /"post" stands beside "posts"/],
    ['{"posts":{"title":"X"}}', 422, /must be a list of rows/],
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
  const bodies =
    ['posts[][title]=D&posts[][title]=E', 'posts[0][title]=D', 'id[][a]=1&post[title]=D&_method=PUT'] as const
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
  let reads = 0
  const counted = JSON.stringify({ id: ids, post: { rating: 1 } })
  const seen = await openPosts(t, open, { formats: [countReads(() => { reads++ })] })
  t.equal((await seen.send('PUT', counted)).status, 404)
  t.equal(reads, 1, 'the changes are read once')
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

t.test('among many rows, at least the first that the database refuses is named', async (t) => {
  const { send, stored } = await openPosts(t, open)
  const rows = Array.from({ length: 60 }, (_, index) => ({ title: index < 40 ? `T${index}` : 'A' }))
  const { status, json } = await send('POST', JSON.stringify({ posts: rows }))
  t.strictSame([status, shortFaults(json)], [409, { 40: 'title' }])
  t.equal(titles(await stored()), 'A,B,C')
})

t.test('a row without a version is refused where one is required', async (t) => {
  const { send } = await openPosts(t, open, { requireMatch: true })
  const { status, json } = await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"_version":"1","rating":1}]}')
  t.strictSame([status, shortFaults(json)], [428, { 0: '428' }])
  t.match(json.rows?.[0]?.detail, /send "_version"/)
  t.equal((await send('DELETE', '{"posts":[{"id":1,"_version":"1"},{"id":2,"_version":"1"}]}')).status, 204)
})

t.test('a client can ask for an answer without the rows', async (t) => {
  const { send } = await openPosts(t, open)
  const headers = { prefer: 'respond-async, return=minimal' }
  const created = await send('POST', '{"posts":[{"title":"D"}]}', { headers })
  t.strictSame([created.status, created.text, created.headers['preference-applied']], [201, '', 'return=minimal'])
  const updated = await send('PUT', '{"id":[1],"post":{"rating":1}}', { headers })
  t.strictSame([updated.status, updated.text, updated.headers['preference-applied']], [204, '', 'return=minimal'])
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

t.test('a resource whose plural is its singular tells many rows by their list', async (t) => {
  const { app } = await openPosts(t, open)
  const { send } = await openPosts(t, open, { singular: 'posts' })
  t.ok(app)
  t.equal((await send('POST', '{"posts":{"title":"D"}}')).status, 201)
  t.equal((await send('POST', '{"posts":[{"title":"E"},{"title":"F"}]}')).status, 201)
  const xml = { type: 'application/xml' }
  t.equal((await send('POST', '<posts><title>G</title></posts>', xml)).status, 201)
  t.equal((await send('POST', '<posts type="array"><posts><title>H</title></posts></posts>', xml)).status, 201)
})
