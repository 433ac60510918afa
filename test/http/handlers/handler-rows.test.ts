import { Readable } from 'node:stream'
import { setImmediate, setTimeout as setTimeoutPromise } from 'node:timers/promises'
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type HandlerAnswer, type Attributes, draw, type IdType, memoryStore, type Query, type ResourceOptions, type Scope
} from '../../../lib/index.js'
import { types } from '../../support/helper.js'
import { type AnyHandler, mapAction } from '../../support/map-action.js'
import { recordingStore } from '../../support/stores/recording-store.js'
import { plainTag } from '../../support/plain-tag.js'

const FORMATS = ['xml', 'html', 'json'] as const
const problems = { xml: types.xml, html: types.html, json: types.problem } as const
const any = { type: 'object', additionalProperties: true } as const
const declared = {
  type: 'object',
  properties: {
    v: { type: ['string', 'number', 'boolean', 'null'] },
    list: { type: 'array', items: { type: 'string', format: 'date-time' } },
    part: { type: 'object', properties: { at: { type: 'string' }, hush: { type: 'string', writeOnly: true } } },
    partly: { ...any, properties: { at: { type: 'string' }, hush: { type: 'string', writeOnly: true } } },
    whatever: {},
    constructor: { type: 'string' },
    hush: { type: 'string', writeOnly: true }
  }
} as const

/** Builds an app with the custom action `act`, which answers with this handler. */
async function answering (t: Test, answer: AnyHandler,
  { logged = [], ...options }: Partial<ResourceOptions> & { logged?: string[] } = {}): Promise<FastifyInstance> {
  const app = fastify({ logger: { stream: { write (line: string) { logged.push(line) } } } })
  t.teardown(() => app.close())
  app.register(draw((map) => map.resources('posts',
    { ...(options.id === undefined && { store: recordingStore([{ v: 'T' }]) }), ...options }, (posts) => {
      for (const verb of ['get', 'post'] as const) mapAction(posts, 'member', verb, 'act', {}, answer)
    })))
  await app.ready()
  return app
}

const date = new Date(0)
const spelledDate = '1970-01-01T00:00:00.000Z'

class Entity {
  readonly made = 'not declared'
  get v (): Date { return date }
}

const spelled: Array<[name: string, given: Attributes, plain: Attributes]> = [
  ['a date', { v: date }, { v: spelledDate }],
  ['a URL', { v: new URL('http://localhost/a') }, { v: 'http://localhost/a' }],
  ['what spells itself by its name', {
    whatever: [{ toJSON: (name: string) => name }],
    list: [{ toJSON: (name: string) => name }],
    v: { toJSON: (name: string) => name }
  }, { whatever: ['0'], list: ['0'], v: 'v' }],
  ['dates in a list', { list: [date, 'x', date] }, { list: [spelledDate, 'x', spelledDate] }],
  ['nothing in a list', { whatever: [1, undefined, 2], list: Array.from({ length: 2 }) },
    { whatever: [1, null, 2], list: [null, null] }],
  ['a date in an object', {
    part: { at: date }, partly: { at: date, other: [{ at: date }] }, whatever: { a: { b: date } }
  }, {
    part: { at: spelledDate },
    partly: { at: spelledDate, other: [{ at: spelledDate }] },
    whatever: { a: { b: spelledDate } }
  }],
  ['nothing in an object', {
    v: undefined, whatever: { a: undefined, b: 1 }, part: { at: undefined }, partly: { at: undefined, other: undefined }
  }, { whatever: { b: 1 }, part: {}, partly: {} }],
  ['texts, numbers and the like', { v: 1.5, whatever: [true, null, { __proto__: null, a: 'x' }] },
    { v: 1.5, whatever: [true, null, { a: 'x' }] }]
]

t.test('a handler\'s row is the same in each format as its JSON', async (t) => {
  let answer: unknown
  const apps = [await answering(t, () => answer as HandlerAnswer, { attributes: declared }),
    await answering(t, () => answer as HandlerAnswer)]
  for (const [name, given, plain] of spelled) {
    await t.test(`a handler's row is the same in each format as its JSON: ${name}`, async (t) => {
      const row = (attributes: Attributes): { id: number, version: string, attributes: Attributes } =>
        ({ id: 1, version: '1', attributes })
      const answers: Array<(attributes: Attributes) => unknown> = [row, (attributes) => ({ id: 1, attributes }),
        (attributes) => [row(attributes)], (attributes) => [[row({})], [row(attributes)]],
        async function * (attributes) { yield [row({})]; yield [row({})]; yield [row(attributes)] },
        (attributes) => ({ kind: 'found', row: row(attributes) }),
        (attributes) => ({ kind: 'stale', row: row(attributes) }),
        (attributes) => ({ kind: 'listed', rows: [row(attributes)] }),
        (attributes) => ({ kind: 'listed', rows: [row({})], more: [[row(attributes)]].values() }),
        (attributes) => ({ ok: true, row: row(attributes) })]
      // Each way to answer is tried with one value, and the others with a row and a list.
      const ways = name === 'a date' ? answers : [answers[0], answers[3]] as typeof answers
      for (const app of apps) {
        for (const make of ways) {
          for (const format of FORMATS) {
            const ask = (attributes: Attributes): Promise<LightMyRequestResponse> => {
              answer = make(attributes)
              return app.inject(`/posts/1/act.${format}`)
            }
            const ours = await ask(given)
            const query = await ask(plain)
            t.not(ours.statusCode, 500)
            t.equal(ours.body, query.body, `${format} ${make.toString()}`)
          }
        }
      }
    })
  }
})

t.test('a date is a string in each format', async (t) => {
  const app = await answering(t, ({ id }) => ({ id, attributes: { v: date } }), { attributes: declared })
  t.equal((await app.inject('/posts/1/act.json')).body, `{"post":{"id":1,"v":"${spelledDate}"}}`)
  t.match((await app.inject('/posts/1/act.xml')).body, `<v>${spelledDate}</v>`)
  t.match((await app.inject('/posts/1/act.html')).body, spelledDate)
})

t.test('the inherited getters of a row are written, and undeclared properties are not read', async (t) => {
  const own = Object.assign(new Entity(), { hush: () => {}, other: 5n, part: { hush: 5n, other: () => {} } })
  const app = await answering(t, ({ id }) => ({ id, attributes: own as unknown as Attributes }),
    { attributes: declared })
  t.equal((await app.inject('/posts/1/act.json')).body, `{"post":{"id":1,"v":"${spelledDate}","part":{}}}`)
})

const round: { round?: unknown } = {}
round.round = round

const unfit: Array<[name: string, value: unknown, message: RegExp]> = [
  ['a bigint', 5n, /\\"v\\" contains a bigint/],
  ['a function', () => 1, /\\"v\\" contains a function/],
  ['NaN', NaN, /\\"v\\" contains NaN/],
  ['Infinity', -Infinity, /\\"v\\" contains -Infinity/],
  ['what spells itself as a function', { toJSON: () => () => 1 }, /\\"v\\" contains a function/],
  ['an object that holds itself', round, /\\"v\\" is nested deeper/]
]

t.test('a handler\'s row with a value that JSON lacks is a 500', async (t) => {
  const logged: string[] = []
  let given: unknown
  const apps = [await answering(t, () => given as HandlerAnswer, { logged }),
    await answering(t, () => given as HandlerAnswer, { logged, attributes: declared })]
  for (const [name, value, message] of unfit) {
    await t.test(`a handler's row with ${name} is a 500, and the log names the value`, async (t) => {
      for (const app of apps) {
        for (const answer of [{ id: 1, attributes: { v: value } }, [{ id: 1, attributes: { v: value } }],
          { kind: 'created', row: { id: 1, attributes: { v: value } } }]) {
          for (const format of FORMATS) {
            logged.length = 0
            given = answer
            const res = await app.inject({ method: 'POST', url: `/posts/1/act.${format}` })
            t.strictSame([res.statusCode, res.headers['content-type']], [500, problems[format]], format)
            t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && message.test(line)),
              logged.join())
          }
        }
      }
    })
  }
})

const ids: Array<[idType: IdType, id: unknown, isFit: boolean]> = [
  ['integer', 1, true],
  ['integer', '1', false],
  ['integer', 'abc', false],
  ['integer', -0, true],
  ['uuid', '0190a6f0-7c3a-7000-8000-000000000000', true],
  ['uuid', '0190A6F0-7C3A-7000-8000-000000000000', false],
  ['string', 'a b', true],
  ['string', '..', false],
  ['string', 'x'.repeat(101), true],
  ['string', 1, false]
]

t.test('the id of a handler\'s row must fit a path', async (t) => {
  const logged: string[] = []
  let given: unknown
  const open = (id: IdType): Promise<FastifyInstance> => answering(t, () => given as HandlerAnswer,
    { logged, id, only: [] })
  const apps = { integer: await open('integer'), uuid: await open('uuid'), string: await open('string') }
  for (const [idType, id, isFit] of ids) {
    const row = { id, attributes: {} }
    for (const answer of [row, [row], { kind: 'listed', rows: [row] }]) {
      logged.length = 0
      given = answer
      const app = apps[idType]
      const own = idType === 'uuid' ? '0190a6f0-7c3a-7000-8000-000000000000' : '1'
      const res = await app.inject(`/posts/${own}/act.json`)
      t.equal(res.statusCode, isFit ? 200 : 500, `${idType} ${String(id)} ${JSON.stringify(answer)}: ${res.body}`)
      t.equal(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('with the id')),
        !isFit)
    }
  }
})

const versions: Array<[version: unknown, tag: string | undefined]> = [
  [undefined, undefined],
  [null, undefined],
  ['', undefined],
  ['a-1', '"a-1.json"'],
  [3, '"3.json"'],
  ['a b', 'wrong'],
  ['a"b', 'wrong'],
  ['a\nb', 'wrong'],
  ['\u20ac', 'wrong'],
  [date, 'wrong']
]

t.test('the version of a handler\'s row becomes the ETag, and null gives none', async (t) => {
  const logged: string[] = []
  let version: unknown
  const app = await answering(t, ({ id }) => ({ id, version, attributes: { v: 'x' } }) as HandlerAnswer, { logged })
  for (const [given, tag] of versions) {
    logged.length = 0
    version = given
    const res = await app.inject('/posts/1/act.json')
    if (tag === 'wrong') {
      t.strictSame([res.statusCode, res.headers.etag], [500, undefined])
      t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('version')))
    } else {
      t.strictSame([res.statusCode, plainTag(res.headers.etag), res.body], [200, tag, '{"post":{"id":1,"v":"x"}}'])
    }
  }
})

const row = { id: 1, version: '1', attributes: { v: 'x' } }
const many = Array.from({ length: 2000 }, () => ({ ...row, attributes: { v: 'x'.repeat(100) } }))
/** Batches with an invalid one, at first or after valid ones. */
const broken: Array<[name: string, before: unknown[], wrong: unknown]> = [
  ['at once', [], ['no row']],
  ['after many rows', [many, many], ['no row']]
]

for (const [name, before, wrong] of broken) {
  t.test(`batches are closed if one of them is invalid: ${name}`, async (t) => {
    let left: string[] = []
    const leave = (who: string): void => { left.push(who) }
    const readables: Readable[] = []
    /* eslint-disable no-unsafe-finally -- a generator may fail when it is left */
    const sources: Array<[name: string, make: () => unknown, left: number]> = [
      ['a generator', function * () { try { yield * before; yield wrong; yield [row] } finally { leave('generator') } },
        1],
      ['an async generator', async function * () {
        try { yield * before; yield wrong; yield [row] } finally { leave('async generator') }
      }, 1],
      ['one that fails when it is left',
        async function * () {
          try { yield * before; yield wrong; yield [row] } finally { leave('failing'); throw new Error('another') }
        }, 1],
      ['one that cannot be left', () => {
        const values = [...before, wrong][Symbol.iterator]()
        return { [Symbol.iterator]: () => ({ next: () => values.next() }) }
      }, 0],
      ['a Readable', () => {
        const readable = Readable.from([...before, wrong, [row]])
        readables.push(readable)
        return readable
      }, 0]
    ]
    const logged: string[] = []
    let current = (): unknown => undefined
    const app = await answering(t, () => current() as HandlerAnswer, { logged })
    for (const [source, make, times] of sources) {
      current = make
      for (const format of ['html', 'json']) {
        left = []
        logged.length = 0
        const res = await app.inject(`/posts/1/act.${format}`).catch(() => undefined)
        // Once the list has begun, the connection breaks off.
        if (before.length === 0 || format === 'html') t.equal(res?.statusCode, 500, `${source} ${format}`)
        await setImmediate()
        t.equal(left.length, times, `${source} ${format} is closed`)
        t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER')),
          `${source} ${format}: ${logged.join()}`)
      }
    }
    t.ok(readables.every(({ destroyed }) => destroyed))
  })
}

t.test('a page of endless synchronous batches ends when the client leaves', async (t) => {
  const ends: string[] = []
  const leaving = new AbortController()
  // The batches end by themselves after this time, so that a broken test fails instead of running for ever.
  const stop = Date.now() + 30_000
  function * endless (): Generator<unknown[]> {
    setTimeout(() => { leaving.abort() }, 50)
    try {
      while (Date.now() < stop) yield [row]
      ends.push('too late')
    } finally {
      ends.push('left')
    }
  }
  const app = await answering(t, () => endless() as unknown as HandlerAnswer)
  const origin = await app.listen({ port: 0 })
  await t.rejects(fetch(`${origin}/posts/1/act.html`, { signal: leaving.signal }))
  while (ends.length === 0) await setTimeoutPromise(10)
  t.strictSame(ends, ['left'])
})

/** Follows the links of a list and returns the ids of each page. */
async function follow (app: FastifyInstance, url: string,
  most = 20): Promise<{ readonly pages: number[][], readonly next: string | undefined }> {
  const pages: number[][] = []
  let next: string | undefined = url
  while (next !== undefined && pages.length < most) {
    const res: LightMyRequestResponse = await app.inject(next)
    pages.push((res.json() as { posts: Array<{ id: number }> }).posts.map(({ id }) => id))
    next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
  }
  return { pages, next }
}

t.test('a custom list is paged by the rows that it returns beyond the limit', async (t) => {
  const numbered = { type: 'object', properties: { v: { type: 'integer' } } } as const
  const all = [1, 2, 3, 4, 5].map((id) => ({ id, attributes: { v: 9 - id } }))
  /** Returns rows as a store would: in the requested order, after the position, and one more than the limit. */
  const heeded = ({ query }: {
    query: {
      order: ReadonlyArray<{ by: string }>, after: readonly unknown[] | undefined, limit: number | undefined
    }
  }): typeof all => {
    const sorted = query.order[0]?.by === 'v' ? all.toReversed() : all
    const begin = query.after === undefined ? 0 : sorted.findIndex(({ id }) => id === query.after?.at(-1)) + 1
    return sorted.slice(begin, begin + (query.limit ?? Infinity) + 1)
  }
  const cases: Array<[name: string, list: AnyHandler]> = [
    ['batches of such rows', (async function * (context: never) {
      for (const row of heeded(context)) {
        yield [row]
      }
    }) as unknown as AnyHandler],
    ['a page that says where the next one begins', ((context: never) => {
      const rows = heeded(context)
      const { query: { limit } } = context as { query: { limit: number } }
      return rows.length > limit
        ? {
            kind: 'listed', rows: rows.slice(0, limit), last: rows[limit - 1]
          }
        : { kind: 'listed', rows }
    }) as unknown as AnyHandler]
  ]
  for (const [name, list] of cases) {
    const app = await answering(t, () => undefined, { attributes: numbered, actions: { list } as never })
    t.strictSame((await follow(app, '/posts.json?limit=2')).pages, [[1, 2], [3, 4], [5]], name)
    t.strictSame((await follow(app, '/posts.json?limit=2&sort=v')).pages, [[5, 4], [3, 2], [1]], `${name}, sorted`)
    t.strictSame((await follow(app, '/posts.json?limit=5')).pages, [[1, 2, 3, 4, 5]], `${name}, in one page`)
    const page = await app.inject({ url: '/posts?limit=2', headers: { accept: 'text/html' } })
    t.match(page.body, /<a href="\/posts\?limit=2&amp;after=[^"]+" rel="next">/, `${name}, as HTML`)
    t.equal(page.body.match(/<tr><th scope="row">/g)?.length, 2, `${name}, as HTML`)
  }
  const whole = await answering(t, () => undefined,
    { attributes: numbered, html: { pageSize: 2 }, actions: { list: () => all } })
  t.strictSame((await follow(whole, '/posts.json?limit=2')).pages, [[1, 2], [3, 4], [5]],
    'a handler that always returns all rows is paged as well')
  t.strictSame((await follow(whole, '/posts.json')).pages, [[1, 2, 3, 4, 5]], 'without a limit all rows are sent')
  t.match((await whole.inject({ url: '/posts', headers: { accept: 'text/html' } })).headers.link,
    /<\/posts\?after=[^>]+>; rel="next"$/, 'an HTML page has pageSize rows')
})

t.test('a custom list that cannot be paged is a 500, and the log tells why', async (t) => {
  const logged: string[] = []
  const rows = [1, 2, 3].map((id) => ({ id, attributes: {} }))
  const app = await answering(t, () => ({ kind: 'listed', rows, last: rows[2] }),
    { logged, actions: { list: () => rows.map((row) => [row]) } })
  const [next = ''] = /\/posts[^>]*(?=>; rel="next")/.exec(
    String((await app.inject('/posts.json?limit=1')).headers.link)) ?? []
  t.equal((await app.inject(next)).statusCode, 500)
  t.ok(logged.some((line) => line.includes('begin after \\"query.after\\"')),
    'the batches ignore where the page begins')
  t.equal((await app.inject('/posts/1/act.json')).statusCode, 500)
  t.ok(logged.some((line) => line.includes('only the action \\"list\\" has pages')), 'only the action list has pages')
  const broken = await answering(t, () => undefined,
    { logged, actions: { list: () => ({ kind: 'listed', rows, last: 5 }) } as never })
  t.equal((await broken.inject('/posts.json?limit=1')).statusCode, 500, 'the last row is not a row')
})

t.test('a custom list loses no row if rows are large or deleted', async (t) => {
  const text = { type: 'object', properties: { title: { type: 'string' } } } as const
  const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
  const store = memoryStore()
  for (const number of numbers) store.create({ title: String(number).padEnd(300_000, 'x') }, {})
  const pulled: number[] = []
  const cases: Array<[name: string, list: AnyHandler]> = [
    ['the outcome of proceed() with other rows',
      (async ({ proceed }: { proceed: () => Promise<{ rows: object[] }> }) => {
        const outcome = await proceed()
        return { ...outcome, rows: [...outcome.rows] }
      }) as unknown as AnyHandler],
    ['batches of a store',
      (async function * ({ query, scope, signal }: { query: Omit<Query, 'scope'>, scope: Scope, signal: AbortSignal }) {
        const limit = query.limit === undefined ? undefined : query.limit + 1
        for await (const batch of store.list({ ...query, limit, scope }, { signal })) {
          pulled.push(batch.length)
          yield batch
        }
      }) as unknown as AnyHandler]
  ]
  for (const [name, list] of cases) {
    for (const views of [undefined, { list: (page: { readonly table: unknown }) => page.table }]) {
      const app = await answering(t, () => undefined,
        { attributes: text, store, actions: { list }, html: { title: 'id', views } } as never)
      for (const limit of [3, 10]) {
        t.strictSame((await follow(app, `/posts.json?limit=${limit}`)).pages.flat(), numbers, `${name}, limit ${limit}`)
        const ids: number[] = []
        for (let next: string | undefined = `/posts.html?limit=${limit}`; next !== undefined;) {
          const res: Awaited<ReturnType<typeof app.inject>> = await app.inject(next)
          ids.push(...[...res.body.matchAll(/<tr><th[^>]*>(?:<label.*?<\/label>)?(?:<a href="[^"]*">)?(\d+)</g)].map(([, id]) => Number(id)))
          next = /<([^>]+)>; rel="next"/.exec(String(res.headers.link))?.[1]
        }
        t.strictSame(ids, numbers, `${name}, limit ${limit}, as HTML`)
      }
    }
  }
  pulled.length = 0
  const [, batches] = cases[1] as typeof cases[number]
  const app = await answering(t, () => undefined, { attributes: text, store, actions: { list: batches } } as never)
  await app.inject('/posts.json?limit=12')
  t.ok(pulled.reduce((sum, count) => sum + count, 0) < 12, 'at most the rows of a full batch and of one more are held')

  let rows = [1, 2, 3, 4].map((id) => ({ id, attributes: { title: 'T' } }))
  const all = await answering(t, () => undefined, { attributes: text, actions: { list: () => rows } } as never)
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String((await all.inject('/posts.json?limit=2')).headers.link)) ??
    []
  rows = rows.filter(({ id }) => id !== 2)
  t.strictSame((await all.inject(next)).json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id), [3, 4],
    'the row before the page is deleted')
  rows = rows.toReversed()
  t.strictSame((await all.inject(next)).json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id), [4, 3],
    'the rows ignore the requested order')
})
