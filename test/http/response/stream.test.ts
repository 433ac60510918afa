import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type Batches, type Context } from '../../../lib/index.js'
import { build, types } from '../../support/helper.js'
import {
  accept, attributes, batchesOf, deferred, kinds, type Kind, type List, listen, listing, makeRows, type Post, problems,
  read,
  request, textOf
} from '../../support/lists.js'

/** Opens a connection that sends a request and does not read. */
function ask (t: Test, port: number, path: string): Socket {
  const socket = net.connect({ port, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: blog.example\r\nConnection: close\r\n\r\n`)
  return socket
}

/** Returns an iterator like a driver's cursor, which is not a generator. It records its calls. */
function cursor (next: (call: number) => Promise<IteratorResult<Post[]>>, events: string[],
  leave: () => Promise<void> = async () => {}): Batches {
  let calls = 0
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        events.push('next')
        return next(++calls)
      },
      return: async () => {
        events.push('return')
        await leave()
        return { done: true, value: undefined }
      }
    })
  }
}

const sources: [name: string, iterate: (batches: Post[][]) => Batches][] = [
  ['an array of batches', (batches) => batches],
  ['a generator', function * (batches) { yield * batches }],
  ['an async generator', async function * (batches) { yield * batches }],
  ['an async generator that takes its time',
    async function * (batches) { for (const batch of batches) { await turn(); yield batch } }],
  ['empty batches here and there', function * (batches) {
    yield []
    for (const batch of batches) yield * [batch, [], []]
  }]
]

t.test('a list has the same bytes, whatever its batches', async t => {
  let batches: Batches = []
  const app = await build(t, { name: 'posts', attributes, store: listing(() => batches) })
  for (const [name, iterate] of sources) {
    await t.test(`the bytes of ${name} are those of a list`, async t => {
      for (const count of [0, 1, 3, 1200]) {
        const rows = makeRows(count)
        for (const size of count === 1200 ? [64, 1200] : [1, 512]) {
          for (const kind of kinds) {
            batches = iterate(batchesOf(rows, size))
            const res = await app.inject({ url: '/posts', headers: { accept: accept[kind] } })
            t.strictSame([res.statusCode, res.headers['content-type'], res.headers.link], [200, types[kind], undefined])
            t.ok(res.body === textOf(kind, rows), `${kind}: ${count} rows in batches of ${size}`)
          }
        }
      }
    })
  }
})

t.test('characters of several bytes survive at the ends of chunks', async t => {
  const rows = makeRows(3000, (id) => '😀é€𝄞'.repeat(id % 40))
  const { port } = await listen(t, () => batchesOf(rows, 100))
  for (const kind of kinds) {
    const { text, error } = await read(await request(port, 'GET', `/posts.${kind}`))
    t.equal(error, undefined)
    t.ok(text === textOf(kind, rows))
  }
})

t.test('a short list has a Content-Length, a long one comes in chunks', async t => {
  const rows = makeRows(5000)
  for (const [name, iterate] of sources.slice(0, 5)) {
    const { port } = await listen(t, ({ after }) => iterate(after === undefined ? batchesOf(rows, 500) : []))
    for (const kind of kinds) {
      const long = await request(port, 'GET', `/posts.${kind}`)
      t.strictSame([long.headers['content-length'], long.headers['transfer-encoding']], [undefined, 'chunked'], name)
      t.ok((await read(long)).text === textOf(kind, rows), name)
    }
  }
  const { port } = await listen(t, () => [rows.slice(0, 3)])
  for (const kind of kinds) {
    const short = await request(port, 'GET', `/posts.${kind}`)
    t.strictSame([short.headers['content-length'], short.headers['transfer-encoding']],
      [String(textOf(kind, rows.slice(0, 3)).length), undefined])
    t.equal((await read(short)).text, textOf(kind, rows.slice(0, 3)))
  }
})

t.test('the first match of a filtered list is sent before the store finds the second', async t => {
  const [first, second, third] = makeRows(3).map((row) => [row]) as [Post[], Post[], Post[]]
  for (const kind of kinds) {
    for (const [parameters, isSentEarly] of [['title[contains]=Row', true], ['q=row', true], ['', false]] as const) {
      const asked = deferred()
      const found = deferred()
      const { app, port } = await listen(t, async function * () {
        yield first
        asked.resolve()
        await found.promise
        yield second
        yield third
      }, undefined, () => {}, { search: ['title'] })
      const sent = request(port, 'GET', `/posts.${kind}?${parameters}`)
      await asked.promise
      // The store finds the second row only when the client has the first one.
      if (!isSentEarly) found.resolve()
      const res = await sent
      const chunks: Buffer[] = []
      for await (const chunk of res) {
        chunks.push(chunk as Buffer)
        if (String(Buffer.concat(chunks)).includes('Row 1')) found.resolve()
      }
      t.equal(String(Buffer.concat(chunks)), textOf(kind, [...first, ...second, ...third]), `${kind} ${parameters}`)
      await app.close()
    }
  }
})

t.test('the first match of a filtered list leaves before a synchronous store looks for others', async t => {
  for (const kind of kinds) {
    const rows = makeRows(3)
    const sent: boolean[] = []
    let socket: Socket | undefined
    const { app, port } = await listen(t, function * () {
      yield rows.slice(0, 1)
      sent.push(socket !== undefined && socket.bytesWritten > 0)
      yield rows.slice(1)
    }, undefined, (app) => {
      app.addHook('onRequest', async (request) => { socket = request.raw.socket })
    }, { search: ['title'] })
    const chunks = await (await request(port, 'GET', `/posts.${kind}?q=row`)).toArray()
    t.equal(Buffer.concat(chunks).toString(), textOf(kind, rows))
    t.strictSame(sent, [true], kind)
    await app.close()
  }
})

const wide = makeRows(100, (id) => String(id).padStart(4, '0').repeat(250))
const WIDE = 320

/** Sources of 320 batches of 100 KiB that count the pulled batches. */
const endless: [name: string, source: (pulled: { count: number }) => Batches][] = [
  ['a generator', function * (pulled) {
    while (pulled.count < WIDE) {
      pulled.count++
      yield wide
    }
  }],
  ['an async generator', async function * (pulled) {
    while (pulled.count < WIDE) {
      pulled.count++
      yield wide
    }
  }]
]

/** The ends of whole lists. The last row of a CSV list is its end. */
const ends = { xml: '</posts>', json: ']}', csv: '0100\r\n' }

for (const [index, [name, source]] of endless.entries()) {
  for (const kind of index === 0 ? ['xml'] as const : ['json', 'csv'] as const) {
    t.test(`${name} is pulled only as far as the client reads ${kind}`, async t => {
      const pulled = { count: 0 }
      const blocked = deferred<() => boolean>()
      const { port } = await listen(t, () => source(pulled), undefined, (app) => {
        app.addHook('onRequest', (_request, reply, done) => {
          blocked.resolve(() => reply.raw.writableNeedDrain)
          done()
        })
      }, { formats: ['xml', 'json', 'csv'] })
      const socket = ask(t, port, `/posts.${kind}`)
      const isBlocked = await blocked.promise
      for (let quiet = 0, before = 0; quiet < 200; before = pulled.count) {
        await turn()
        quiet = isBlocked() && pulled.count === before ? quiet + 1 : 0
      }
      // The kernel's buffers of both sockets hold some MiB, which is read ahead regardless of the plugin.
      t.ok(pulled.count < WIDE / 2, `${pulled.count} batches of ${WIDE} were pulled for a client that does not read`)
      let length = 0
      let end = ''
      for await (const chunk of socket) {
        length += (chunk as Buffer).length
        end = (end + (chunk as Buffer).toString('latin1')).slice(-40)
      }
      t.equal(pulled.count, WIDE, 'the rest is pulled when the client reads')
      t.ok(length > WIDE * 100 * 1000)
      t.ok(end.includes(ends[kind]), 'the list is complete')
    })
  }
}

const failures: [name: string, fail: (error: unknown) => List][] = [
  ['list throws', (error) => () => { throw error }],
  ['a generator throws', (error) => function * () { throw error }],
  ['an async generator rejects', (error) => async function * () { throw error }],
  ['there is nothing to iterate', (error) => () => ({ get [Symbol.iterator] (): never { throw error } })]
]

t.test('a store that fails before its first row gives an error in the client\'s format', async t => {
  for (const [name, fail] of failures) {
    await t.test(`an error before the first row: ${name}`, async t => {
      const asked: { error: unknown } = { error: undefined }
      const app = await build(t, {
        name: 'posts', attributes, store: listing((query, context) => fail(asked.error)(query, context))
      })
      const ways: InjectOptions[] = [...Object.keys(accept).map((kind) => ({ url: `/posts.${kind}` })),
        { url: '/posts.xml?limit=2' }, { url: '/posts.json?limit=2' }]
      for (const { url } of ways) {
        const kind = String(url).split(/[.?]/)[1] as keyof typeof accept
        asked.error = new Error('secret')
        const failed = await app.inject(String(url))
        t.strictSame([failed.statusCode, failed.headers['content-type'], failed.headers['retry-after']],
          [500, problems[kind], undefined], String(url))
        t.notMatch(failed.body, 'secret')
        asked.error = Object.assign(new Error('secret'), { statusCode: 503, headers: { 'retry-after': '120' } })
        const busy = await app.inject(String(url))
        t.strictSame([busy.statusCode, busy.headers['content-type'], busy.headers['retry-after']],
          [503, problems[kind], '120'], String(url))
        t.notMatch(busy.body, 'secret')
        t.match(busy.body, /something went wrong on the server/i)
      }
    })
  }
})

t.test(
  'a store whose list is an async function gives an error in the client\'s format, and leaves no rejection unhandled',
  async t => {
    const rejections: unknown[] = []
    const note = (error: unknown): void => { rejections.push(error) }
    process.on('unhandledRejection', note)
    t.teardown(() => process.off('unhandledRejection', note))
    const messages: string[] = []
    for (const list of [async () => [], async () => { throw new Error('secret') }]) {
      const app = await build(t, { name: 'posts', attributes, store: listing(list as unknown as List) }, {
        before (app) { app.addHook('onError', async (_request, _reply, { message }) => { messages.push(message) }) }
      })
      for (const kind of Object.keys(accept) as Array<keyof typeof accept>) {
        const { statusCode, headers, body } = await app.inject(`/posts.${kind}`)
        t.strictSame([statusCode, headers['content-type'], body.includes('secret')], [500, problems[kind], false], kind)
      }
    }
    await turn()
    t.strictSame(rejections, [])
    t.strictSame([...new Set(messages)],
      ['"list" of the store has returned neither an iterable nor an async iterable of batches'])
  })

const laterFailures: [name: string, list: (error: Error) => Batches][] = [
  ['a generator throws', function * (error) { yield * [wide, wide]; throw error }],
  ['an async generator rejects', async function * (error) { yield * [wide, wide]; throw error }],
  ['a row cannot be written', function * () { yield * [wide, wide, [{ id: 1, version: '1' } as Post], wide] }],
  ['a batch is none', async function * () { yield * [wide, wide, null as unknown as Post[]] }]
]

t.test('a store that fails later breaks the connection, so that the list cannot be taken for complete', async t => {
  for (const [index, [name, list]] of laterFailures.entries()) {
    for (const kind of [kinds[index % 2] as Kind]) {
      await t.test(`a later failure as ${kind}: ${name}`, async t => {
        const log: string[] = []
        const logger = { level: 'warn', stream: { write: (line: string) => { log.push(line) } } }
        const { app, port } = await listen(t, () => list(new Error('the disk is gone')),
          { logger, requestTimeout: 60_000 })
        const res = await request(port, 'GET', `/posts.${kind}`)
        t.equal(res.statusCode, 200)
        const { text, error } = await read(res)
        t.equal(error?.code, 'ECONNRESET')
        t.ok(text.startsWith(textOf(kind, wide).slice(0, 1000)), 'the beginning arrived')
        t.notMatch(text.slice(-100), kind === 'xml' ? '</posts>' : ']}')
        t.notMatch(text, /the disk is gone|something went wrong/)
        t.equal(log.length, 1, 'it is logged once')
        t.match(log[0], /the disk is gone|Cannot read properties|not iterable/)
        t.equal((await app.inject('/posts?limit=0')).statusCode, 400, 'the app still works')
      })
    }
  }
})

t.test('a store that fails at its second batch gives an ordinary error if nothing has been sent', async t => {
  const lists: [name: string, list: List][] = [
    ['a generator', function * () { yield makeRows(1); throw new Error('secret') }],
    ['an async generator', async function * () { yield makeRows(1); throw new Error('secret') }]
  ]
  for (const [name, list] of lists) {
    const { port } = await listen(t, list)
    for (const kind of kinds) {
      const res = await request(port, 'GET', `/posts.${kind}`)
      const { text, error } = await read(res)
      t.strictSame([res.statusCode, res.headers['content-type'], error], [500, problems[kind], undefined],
        `${name}, ${kind}`)
      t.notMatch(text, /secret|Row 1/)
    }
  }
})

t.test('a client that leaves midway frees the resources of the list', async t => {
  const lists: [name: string, list: (wait: () => Promise<void>, context: Context) => Batches][] = [
    ['a generator', function * () { for (;;) yield wide }],
    ['an async generator', async function * () { for (;;) yield wide }],
    ['an async generator that is waiting, and told by the signal', async function * (wait, { signal }) {
      yield * [wide, wide, wide]
      await wait()
      if (!signal.aborted) await once(signal, 'abort')
    }]
  ]
  for (const [index, [name, list]] of lists.entries()) {
    for (const kind of [kinds[index % 2] as Kind]) {
      await t.test(`a client leaves ${name} as ${kind}`, async t => {
        const released = deferred()
        const waiting = deferred()
        let signal: AbortSignal | undefined
        const { app, port } = await listen(t, (_query, context) => {
          signal = context.signal
          const batches = list(async () => { waiting.resolve() }, context)
          if (Symbol.iterator in batches) {
            return (function * () { try { yield * batches } finally { released.resolve() } })()
          }
          return (async function * () { try { yield * batches } finally { released.resolve() } })()
        })
        const socket = ask(t, port, `/posts.${kind}`)
        await once(socket, 'data')
        t.equal(signal?.aborted, false, 'the signal does not abort while the client reads')
        if (name.includes('waiting')) await waiting.promise
        socket.destroy()
        await released.promise
        if (signal?.aborted === false) await once(signal, 'abort')
        t.equal(signal?.aborted, true)
        t.equal((await app.inject('/posts?limit=0')).statusCode, 400, 'the app still works')
      })
    }
  }
})

t.test('a signal that is read only after the client has left is already aborted', async t => {
  const entered = deferred()
  const gate = deferred()
  const seen = deferred<boolean>()
  const { port, gone } = await listen(t, async function * (_query, context) {
    entered.resolve()
    await gate.promise
    seen.resolve(context.signal.aborted)
  })
  const socket = ask(t, port, '/posts')
  await entered.promise
  socket.destroy()
  await gone
  gate.resolve()
  t.equal(await seen.promise, true)
})

t.test('the end of an answer does not abort a signal', async t => {
  const signals: AbortSignal[] = []
  const { port } = await listen(t, function * (_query, { signal }) {
    signals.push(signal)
    yield * batchesOf(makeRows(5000), 100)
  })
  for (const kind of kinds) {
    const { text, error } = await read(await request(port, 'GET', `/posts.${kind}`))
    t.strictSame([text.length, error], [textOf(kind, makeRows(5000)).length, undefined])
  }
  t.strictSame(signals.map(({ aborted }) => aborted), [false, false])
})

t.test('a client that leaves before the first row frees the resources of the list', async t => {
  for (const asks of [true, false]) {
    await t.test(asks ? 'the store asks for the signal' : 'the store does not ask for the signal', async t => {
      const entered = deferred<Context>()
      const gate = deferred()
      const released = deferred()
      let pulled = 0
      const { app, port, gone } = await listen(t, async function * (_query, context) {
        try {
          entered.resolve(context)
          if (asks) await once(context.signal, 'abort')
          else await gate.promise
          for (;;) {
            pulled++
            yield wide
          }
        } finally {
          released.resolve()
        }
      })
      const socket = ask(t, port, '/posts')
      await entered.promise
      socket.destroy()
      await gone
      gate.resolve()
      await released.promise
      t.ok(pulled <= 2, 'the first batch was pulled, and the second to see whether it is the last')
      t.equal((await app.inject('/posts?limit=0')).statusCode, 400, 'the app still works')
    })
  }
})

t.test('a cursor that was closed is not pulled again', async t => {
  const events: string[] = []
  const waiting = deferred()
  const more = deferred<IteratorResult<Post[]>>()
  const left = deferred()
  const { port } = await listen(t, () => cursor(async (call) => {
    if (call < 4) return { done: false, value: wide }
    if (call > 4) return { done: true, value: undefined }
    waiting.resolve()
    return await more.promise
  }, events, async () => { left.resolve() }))
  const socket = ask(t, port, '/posts')
  socket.resume()
  await waiting.promise
  socket.destroy()
  await left.promise
  more.resolve({ done: false, value: makeRows(1) })
  await turn()
  await turn()
  t.strictSame(events, ['next', 'next', 'next', 'next', 'return'])
})

t.test('HEAD of a long list has no body and frees the resources of the list', async t => {
  const lists: [name: string, list: () => Batches][] = [
    ['a generator', function * () { for (;;) yield wide }],
    ['an async generator', async function * () { for (;;) yield wide }]
  ]
  for (const [index, [name, list]] of lists.entries()) {
    for (const kind of [kinds[index % 2] as Kind]) {
      await t.test(`HEAD of ${name} as ${kind}`, async t => {
        let pulled = 0
        const released = deferred()
        const { port } = await listen(t, () => {
          const batches = list()
          if (Symbol.iterator in batches) {
            return (function * () {
              try { for (const batch of batches) { pulled++; yield batch } } finally { released.resolve() }
            })()
          }
          return (async function * () {
            try { for await (const batch of batches) { pulled++; yield batch } } finally { released.resolve() }
          })()
        })
        const socket = net.connect({ port, host: '127.0.0.1' })
        socket.write(`HEAD /posts.${kind} HTTP/1.1\r\nHost: blog.example\r\nConnection: close\r\n\r\n`)
        const chunks: Buffer[] = []
        for await (const chunk of socket) chunks.push(chunk as Buffer)
        const text = Buffer.concat(chunks).toString()
        t.ok(text.startsWith('HTTP/1.1 200 OK\r\n'))
        t.match(text, `content-type: ${types[kind]}`)
        t.equal(text.slice(text.indexOf('\r\n\r\n')), '\r\n\r\n', 'nothing follows the headers')
        await released.promise
        t.ok(pulled <= 2)
      })
    }
  }
})

t.test('a cursor that fails to close does not end the process', async t => {
  const fail = (): never => { throw new Error('cannot be freed') }
  const cursors: [name: string, list: (left: () => void) => Batches][] = [
    ['its return rejects', (left) => cursor(async () => ({ done: false, value: wide }), [],
      async () => { left(); fail() })],
    ['its return throws',
      (left) => ({
        [Symbol.iterator]: () => ({
          next: () => ({ done: false, value: wide }), return: () => { left(); return fail() }
        })
      })],
    ['a generator whose finally throws', function * (left) { try { for (;;) yield wide } finally { left(); fail() } }]
  ]
  for (const [index, [name, list]] of cursors.entries()) {
    for (const kind of [kinds[index % 2] as Kind]) {
      await t.test(`a failing cursor as ${kind}: ${name}`, async t => {
        const left: Array<() => void> = []
        const { app, port, gone } = await listen(t, () => list(() => { left.shift()?.() }))
        const headLeft = new Promise<void>((resolve) => { left.push(resolve) })
        const head = await app.inject({ method: 'HEAD', url: `/posts.${kind}` })
        t.strictSame([head.statusCode, head.body], [200, ''])
        await headLeft
        const getLeft = new Promise<void>((resolve) => { left.push(resolve) })
        const socket = ask(t, port, `/posts.${kind}`)
        await once(socket, 'data')
        socket.destroy()
        await getLeft
        await gone
        await turn()
        t.equal((await app.inject('/posts?limit=0')).statusCode, 400, 'the app still works')
      })
    }
  }
})

t.test('a list that is not sent after all frees its resources', async t => {
  const hooks: [name: string, status: number, before: (app: FastifyInstance) => void][] = [
    ['the app’s onSend hook fails', 500, (app) => {
      app.addHook('onSend', async (_request, reply, payload) => {
        if (reply.statusCode === 200) throw new Error('secret')
        return payload
      })
    }],
    ['the app’s onSend hook sends something else', 200, (app) => { app.addHook('onSend', async () => 'mine') }]
  ]
  for (const [name, status, before] of hooks) {
    for (const kind of kinds) {
      const events: string[] = []
      const { port, gone } = await listen(t, () => cursor(async () => ({ done: false, value: wide }), events),
        undefined, before)
      const res = await request(port, 'GET', `/posts.${kind}`)
      await read(res)
      t.equal(res.statusCode, status)
      await gone
      for (let turns = 0; turns < 100 && events.at(-1) !== 'return'; turns++) await turn()
      t.equal(events.at(-1), 'return', `${kind}: ${name}`)
    }
  }
})

/** Counts the batches of one row that are pulled in each turn of the event loop. */
async function countPulls (t: Test, titles: readonly string[], schema: object): Promise<readonly number[]> {
  const pulls: number[] = []
  let turns = 0
  let ticker = setImmediate(tick)
  function tick (): void {
    turns++
    ticker = setImmediate(tick)
  }
  t.teardown(() => { clearImmediate(ticker) })
  const app = await build(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { title: { type: 'string', ...schema } } },
    store: listing(function * () {
      for (const [index, title] of titles.entries()) {
        pulls[turns] = (pulls[turns] ?? 0) + 1
        yield [{ id: index + 1, version: '1', attributes: { title } }]
      }
    })
  })
  for (const kind of kinds) t.equal((await app.inject(`/posts.${kind}`)).statusCode, 200)
  clearImmediate(ticker)
  return pulls.filter((count) => count !== undefined)
}

t.test('a list of large rows yields the event loop after a number of characters, not of chunks', async t => {
  const pulls = await countPulls(t, new Array<string>(40).fill('x'.repeat(1_000_000)), {})
  t.ok(Math.max(...pulls) <= 4, `up to ${Math.max(...pulls)} rows of a million characters are written in one turn`)
})

t.test('a list that writes little yields the event loop while its rows are read', async t => {
  const pulls = await countPulls(t, new Array<string>(400).fill('secret'), { writeOnly: true })
  t.ok(Math.max(...pulls) <= 64, `up to ${Math.max(...pulls)} batches are read in one turn`)
})
