import { Readable } from 'node:stream'
import { setImmediate, setTimeout as setTimeoutPromise } from 'node:timers/promises'
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { type Answer, type Attributes, draw, type IdType, type ResourceOptions, type Store } from '../lib/index.js'
import { types } from './helper.js'
import { type AnyHandler, mapAction } from './map-action.js'
import { recordingStore } from './recording-store.js'

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

/** An app whose own actions answer so. */
async function answering (t: Test, answer: AnyHandler, { logged = [], ...options }: Partial<ResourceOptions> & { logged?: string[] } = {}): Promise<FastifyInstance> {
  const app = fastify({ logger: { stream: { write (line: string) { logged.push(line) } } } })
  t.teardown(() => app.close())
  app.register(draw((map) => map.resources('posts', { ...(options.id === undefined && { store: recordingStore([{ v: 'T' }]) }), ...options }, (posts) => {
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
  ['a date that is none', { v: new Date(NaN) }, { v: null }],
  ['a URL', { v: new URL('http://localhost/a') }, { v: 'http://localhost/a' }],
  ['what spells itself as an object', { whatever: { toJSON: () => ({ a: 1, toJSON: undefined }) } }, { whatever: { a: 1 } }],
  ['what spells itself by its name', { whatever: [{ toJSON: (name: string) => name }], list: [{ toJSON: (name: string) => name }], v: { toJSON: (name: string) => name } }, { whatever: ['0'], list: ['0'], v: 'v' }],
  ['what is to be left out', { v: { toJSON: () => undefined }, whatever: 1 }, { whatever: 1 }],
  ['dates in a list', { list: [date, 'x', date] }, { list: [spelledDate, 'x', spelledDate] }],
  ['nothing in a list', { whatever: [1, undefined, 2], list: Array.from({ length: 2 }) }, { whatever: [1, null, 2], list: [null, null] }],
  ['holes in a list', { whatever: Object.assign([], { length: 2 }) }, { whatever: [null, null] }],
  ['a date in an object', { part: { at: date }, partly: { at: date, other: [{ at: date }] }, whatever: { a: { b: date } } }, { part: { at: spelledDate }, partly: { at: spelledDate, other: [{ at: spelledDate }] }, whatever: { a: { b: spelledDate } } }],
  ['nothing in an object', { v: undefined, whatever: { a: undefined, b: 1 }, part: { at: undefined }, partly: { at: undefined, other: undefined } }, { whatever: { b: 1 }, part: {}, partly: {} }],
  ['an object where none is declared', { v: { at: date } }, { v: { at: spelledDate } }],
  ['texts, numbers and the like', { v: 1.5, whatever: [true, null, { __proto__: null, a: 'x' }] }, { v: 1.5, whatever: [true, null, { a: 'x' }] }]
]

for (const [name, given, plain] of spelled) {
  t.test(`a handler's row is the same in each format as what JSON makes of it: ${name}`, async (t) => {
    const row = (attributes: Attributes): { id: number, version: string, attributes: Attributes } => ({ id: 1, version: '1', attributes })
    const answers: Array<(attributes: Attributes) => unknown> = [
      row,
      (attributes) => ({ id: 1, attributes }),
      (attributes) => [row(attributes)],
      (attributes) => [[row({})], [row(attributes)]],
      async function * (attributes) { yield [row({})]; yield [row({})]; yield [row(attributes)] },
      (attributes) => ({ kind: 'found', row: row(attributes) }),
      (attributes) => ({ kind: 'stale', row: row(attributes) }),
      (attributes) => ({ kind: 'listed', first: [row(attributes)] }),
      (attributes) => ({ kind: 'listed', first: [row({})], rest: [[row(attributes)]].values() }),
      (attributes) => ({ ok: true, row: row(attributes) })
    ]
    for (const options of [{ attributes: declared }, {}]) {
      let answer: unknown
      const app = await answering(t, () => answer as Answer, options)
      for (const make of answers) {
        for (const format of FORMATS) {
          const ask = (attributes: Attributes): Promise<LightMyRequestResponse> => {
            answer = make(attributes)
            return app.inject(`/posts/1/act.${format}`)
          }
          const ours = await ask(given)
          const wanted = await ask(plain)
          t.not(ours.statusCode, 500)
          t.equal(ours.body, wanted.body, `${format} ${make.toString()}`)
        }
      }
    }
  })
}

t.test('a date is a text in each format', async (t) => {
  const app = await answering(t, ({ id }) => ({ id, attributes: { v: date } }), { attributes: declared })
  t.equal((await app.inject('/posts/1/act.json')).body, `{"post":{"id":1,"v":"${spelledDate}"}}`)
  t.match((await app.inject('/posts/1/act.xml')).body, `<v>${spelledDate}</v>`)
  t.match((await app.inject('/posts/1/act.html')).body, spelledDate)
})

t.test('what a row of the app\'s own class inherits goes out, and what is not declared is not looked at', async (t) => {
  const own = Object.assign(new Entity(), { hush: () => {}, other: 5n, part: { hush: 5n, other: () => {} } })
  const app = await answering(t, ({ id }) => ({ id, attributes: own as unknown as Attributes }), { attributes: declared })
  t.equal((await app.inject('/posts/1/act.json')).body, `{"post":{"id":1,"v":"${spelledDate}","part":{}}}`)
})

const round: { round?: unknown } = {}
round.round = round

const unfit: Array<[name: string, value: unknown, message: RegExp]> = [
  ['a bigint', 5n, /\\"v\\" has a bigint in it/],
  ['a function', () => 1, /\\"v\\" has a function in it/],
  ['a symbol', Symbol('x'), /\\"v\\" has a symbol in it/],
  ['NaN', NaN, /\\"v\\" has NaN in it/],
  ['Infinity', -Infinity, /\\"v\\" has -Infinity in it/],
  ['a bigint in an object in a list', [{ a: 5n }], /\\"v\\" has a bigint in it/],
  ['what spells itself as a function', { toJSON: () => () => 1 }, /\\"v\\" has a function in it/],
  ['an object that holds itself', round, /\\"v\\" is nested deeper/]
]

for (const [name, value, message] of unfit) {
  t.test(`a handler whose row has ${name} makes a mistake, which the log tells of`, async (t) => {
    for (const options of [{}, { attributes: declared }]) {
      for (const answer of [{ id: 1, attributes: { v: value } }, [{ id: 1, attributes: { v: value } }], { kind: 'created', row: { id: 1, attributes: { v: value } } }]) {
        for (const format of FORMATS) {
          const logged: string[] = []
          const app = await answering(t, () => answer as Answer, { logged, ...options })
          const res = await app.inject({ method: 'POST', url: `/posts/1/act.${format}` })
          t.strictSame([res.statusCode, res.headers['content-type']], [500, problems[format]], format)
          t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && message.test(line)), logged.join())
        }
      }
    }
  })
}

t.test('what `proceed` has come to is left as it is', async (t) => {
  const row = Object.freeze({ id: 1, version: '1', attributes: Object.freeze({ get v () { looks++; return 'x' } }) })
  const store = { ...recordingStore(), get: () => row } as unknown as Store
  let looks = 0
  const show: AnyHandler = async ({ proceed }) => {
    const outcome = await proceed()
    t.match(outcome, { kind: 'found' })
    looks = 0
    return outcome
  }
  const before: AnyHandler = ({ proceed }) => proceed()
  for (const handler of [show, before]) {
    looks = 0
    const app = await answering(t, before, { store, attributes: declared, actions: { show: handler } })
    t.equal((await app.inject('/posts/1.xml')).statusCode, 200)
    t.equal(looks, 1, 'it is read to be written')
  }
})

const ids: Array<[idType: IdType, id: unknown, isFit: boolean]> = [
  ['integer', 1, true],
  ['integer', '1', false],
  ['integer', 'abc', false],
  ['integer', 0, false],
  ['integer', -1, false],
  ['integer', -0, false],
  ['uuid', '0190a6f0-7c3a-7000-8000-000000000000', true],
  ['uuid', '0190A6F0-7C3A-7000-8000-000000000000', false],
  ['uuid', 1, false],
  ['string', 'a b', true],
  ['string', '..', false],
  ['string', '.', false],
  ['string', 'x'.repeat(101), false],
  ['string', 1, false]
]

t.test('a handler\'s row has an id that a path can have', async (t) => {
  for (const [idType, id, isFit] of ids) {
    const row = { id, attributes: {} }
    for (const answer of [row, [row], [[row]], { kind: 'found', row }, { kind: 'listed', first: [row] }, { ok: true, row }]) {
      const logged: string[] = []
      const app = await answering(t, () => answer as Answer, { logged, id: idType, only: [] })
      const own = idType === 'uuid' ? '0190a6f0-7c3a-7000-8000-000000000000' : '1'
      for (const format of FORMATS) {
        const res = await app.inject(`/posts/${own}/act.${format}`)
        t.equal(res.statusCode, isFit ? 200 : 500, `${idType} ${String(id)} ${JSON.stringify(answer)}: ${res.body}`)
      }
      t.equal(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('with the id')), !isFit)
    }
  }
})

t.test('the id of a singleton, which nobody sees, may be any', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map.resource('profile', { only: ['show'], actions: { show: () => ({ id: 'me', attributes: { name: 'x' } }) } })))
  t.equal((await app.inject('/profile.json')).body, '{"profile":{"name":"x"}}')
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

t.test('the version of a handler\'s row stands in the ETag, and null is none', async (t) => {
  for (const [version, tag] of versions) {
    const logged: string[] = []
    const app = await answering(t, ({ id }) => ({ id, version, attributes: { v: 'x' } }) as Answer, { logged })
    const res = await app.inject('/posts/1/act.json')
    if (tag === 'wrong') {
      t.strictSame([res.statusCode, res.headers.etag], [500, undefined])
      t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER') && line.includes('version')))
    } else {
      t.strictSame([res.statusCode, res.headers.etag, res.body], [200, tag, '{"post":{"id":1,"v":"x"}}'])
    }
  }
})

const row = { id: 1, version: '1', attributes: { v: 'x' } }
const many = Array.from({ length: 2000 }, () => ({ ...row, attributes: { v: 'x'.repeat(100) } }))
/** Batches of which one is none, after some that are. */
const broken: Array<[name: string, before: unknown[], wrong: unknown]> = [
  ['at once', [], ['no row']],
  ['that is no array', [], 'no row'],
  ['whose rows cannot be written', [], [{ ...row, attributes: { v: 5n } }]],
  ['after another', [[row]], ['no row']],
  ['after many rows', [many, many], ['no row']]
]

for (const [name, before, wrong] of broken) {
  t.test(`batches are left where one of them is wrong, ${name}`, async (t) => {
    let left: string[] = []
    const leave = (who: string): void => { left.push(who) }
    const readables: Readable[] = []
    const sources: Array<[name: string, make: () => unknown, left: number]> = [
      ['a generator', function * () { try { yield * before; yield wrong; yield [row] } finally { leave('generator') } }, 1],
      ['an async generator', async function * () { try { yield * before; yield wrong; yield [row] } finally { leave('async generator') } }, 1],
      ['one that fails when it is left', async function * () { try { yield * before; yield wrong; yield [row] } finally { leave('failing'); throw new Error('another') } }, 1], // eslint-disable-line no-unsafe-finally
      ['one that cannot be left', () => { const values = [...before, wrong][Symbol.iterator](); return { [Symbol.iterator]: () => ({ next: () => values.next() }) } }, 0],
      ['a Readable', () => { const readable = Readable.from([...before, wrong, [row]]); readables.push(readable); return readable }, 0]
    ]
    for (const [source, make, times] of sources) {
      for (const format of FORMATS) {
        left = []
        const logged: string[] = []
        const app = await answering(t, () => make() as Answer, { logged })
        const res = await app.inject(`/posts/1/act.${format}`).catch(() => undefined)
        // What has begun breaks off.
        if (before.length === 0 || format === 'html') t.equal(res?.statusCode, 500, `${source} ${format}`)
        await setImmediate()
        t.equal(left.length, times, `${source} ${format} is left`)
        t.ok(logged.some((line) => line.includes('FST_RESOURCES_INVALID_ANSWER')), `${source} ${format}: ${logged.join()}`)
      }
    }
    t.ok(readables.every(({ destroyed }) => destroyed))
  })
}

t.test('a page of batches without an end, which are there at once, ends when the client goes', async (t) => {
  const ends: string[] = []
  const leaving = new AbortController()
  // Should nobody leave it, the test fails, and does not go on for ever.
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
  const app = await answering(t, () => endless() as unknown as Answer)
  const origin = await app.listen({ port: 0 })
  await t.rejects(fetch(`${origin}/posts/1/act.html`, { signal: leaving.signal }))
  while (ends.length === 0) await setTimeoutPromise(10)
  t.strictSame(ends, ['left'])
})
