import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import {
  type ActionContext, csv, draw, type HandlerAnswer, type IdempotencyOptions, type ResourceOptions, type Store
} from '../../lib/index.js'
import { attributes, type OpenPosts, type Post } from './many-rows.js'

export type Method = 'POST' | 'PUT' | 'DELETE'
export type Context = ActionContext<any, any, any>

/** An answer as the tests compare it. */
export interface Said {
  readonly status: number
  readonly replayed: unknown
  readonly location: unknown
  readonly etag: unknown
  /** The header `Row-Counts`. */
  readonly counts: unknown
  readonly text: string
}

interface Sending {
  readonly url?: string
  readonly type?: string
  readonly key?: string | undefined
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An app with posts whose requests are kept, and what tests ask of it. */
export interface KeyedPosts {
  readonly app: FastifyInstance
  readonly store: Store
  send (method: Method, body: string | undefined, sending?: Sending): Promise<Said>
  stored (): Promise<readonly Post[]>
}

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const context = { signal: new AbortController().signal }

/** How often a handler has run. */
export const calls = { count: 0 }

function count<T> (answer: T): T {
  calls.count++
  return answer
}

/** Opens an app with the posts A, B and C, whose requests are kept, and with custom actions. */
export async function openKeyed (
  t: Test,
  open: OpenPosts,
  idempotency: IdempotencyOptions = {},
  options: Partial<ResourceOptions> = {}
): Promise<KeyedPosts> {
  const store = await open(t)
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    const resources = { formats: ['json', 'xml', 'html', csv()] as const, attributes, store, idempotency, ...options }
    map.resources('posts', resources, (posts) => posts
      .member.post('publish', { many: true }, async (context: Context): Promise<HandlerAnswer<any>> =>
        count(context.store.update(context.id, { published: true }, context.guard, context)))
      .collection.post('publishAll', async (context: Context): Promise<HandlerAnswer<any>> => {
        const ids = [1, 3]
        const rows = []
        for (const id of ids) {
          const written = await context.store.update(id, { published: true }, context.guard, context)
          if (written.ok) rows.push(written.row)
        }
        return count(rows)
      })
      .collection.post('ping', async () => count(undefined))
      .collection.post('send', async ({ reply }: Context) => reply.send('sent'))
      .collection.post('stream', async () => (async function * () {
        yield [{ id: 1, attributes: { title: 'A' } }]
        yield [{ id: 2, attributes: { title: 'B' } }]
      })()))
  }))
  await app.ready()
  for (const title of ['A', 'B', 'C']) await store.create({ title, rating: 3, published: false }, {}, context)
  return {
    app,
    store,
    async send (method, body, { url = '/posts', type = JSON_TYPE, key, accept = JSON_TYPE, headers = {} } = {}) {
      const request: InjectOptions = {
        method,
        url,
        headers: {
          accept,
          ...(body !== undefined && { 'content-type': type }),
          ...(key !== undefined && { 'idempotency-key': key }),
          ...headers
        },
        ...(body !== undefined && { payload: body })
      }
      const { statusCode: status, headers: { location, etag, ...others }, body: text } = await app.inject(request)
      const { 'idempotency-replayed': replayed, 'row-counts': counts } = others
      return { status, replayed, location, etag, counts, text }
    },
    async stored () {
      const { body } = await app.inject({ url: '/posts', headers: { accept: JSON_TYPE } })
      return JSON.parse(body).posts
    }
  }
}

const show = ({ title, rating, published }: Post): string => `${title} ${String(rating)} ${String(published)}`

interface Case extends Sending {
  readonly what: string
  readonly method: Method
  readonly body?: string
  readonly options?: Partial<ResourceOptions>
  readonly status: number
  /** The rows that are stored after the write. */
  readonly stored: readonly string[]
}

const [A, B, C] = ['A 3 false', 'B 3 false', 'C 3 false'] as const
const form = { type: FORM, accept: 'text/html' }

/** Writes that are carried out once, and answered alike each time. */
const CASES: readonly Case[] = [
  { what: 'a create', method: 'POST', body: '{"post":{"title":"D"}}', status: 201, stored: [A, B, C, 'D 3 false'] },
  {
    what: 'a create in XML',
    method: 'POST',
    body: '<post><title>D</title></post>',
    type: 'application/xml',
    accept: 'application/xml',
    status: 201,
    stored: [A, B, C, 'D 3 false']
  },
  {
    what: 'a create by a form',
    method: 'POST',
    body: 'post[title]=D',
    ...form,
    status: 303,
    stored: [A, B, C, 'D 3 false']
  },
  {
    what: 'a create of many rows',
    method: 'POST',
    body: '{"posts":[{"title":"D"},{"title":"E"}]}',
    status: 201,
    stored: [A, B, C, 'D 3 false', 'E 3 false']
  },
  {
    what: 'a create of many rows without an answer',
    method: 'POST',
    body: '{"posts":[{"title":"D"}]}',
    headers: { prefer: 'return=minimal' },
    status: 201,
    stored: [A, B, C, 'D 3 false']
  },
  {
    what: 'an update',
    method: 'PUT',
    body: '{"id":1,"post":{"rating":4}}',
    status: 200,
    stored: ['A 4 false', B, C]
  },
  {
    what: 'an update of many rows',
    method: 'PUT',
    body: '{"id":[1,2],"post":{"rating":4}}',
    status: 200,
    stored: ['A 4 false', 'B 4 false', C]
  },
  {
    what: 'an update of rows by their unique values',
    method: 'PUT',
    url: '/posts?match=title&create=true',
    body: '{"posts":[{"title":"A","rating":4},{"title":"B","rating":3},{"title":"D"}]}',
    status: 200,
    stored: ['A 4 false', B, C, 'D 3 false']
  },
  { what: 'a delete', method: 'DELETE', body: '{"id":1}', status: 204, stored: [B, C] },
  { what: 'a delete by a form', method: 'POST', body: '_method=DELETE&id=1', ...form, status: 303, stored: [B, C] },
  { what: 'a delete of many rows', method: 'DELETE', body: '{"id":[1,2]}', status: 204, stored: [C] },
  {
    what: 'an action of a row',
    method: 'POST',
    url: '/posts/1/publish',
    status: 200,
    stored: ['A 3 true', B, C]
  },
  {
    what: 'an action of many rows',
    method: 'POST',
    url: '/posts/publish',
    body: '{"id":[1,2]}',
    status: 200,
    stored: ['A 3 true', 'B 3 true', C]
  },
  {
    what: 'an action that returns several rows',
    method: 'POST',
    url: '/posts/publishAll',
    status: 200,
    stored: ['A 3 true', B, 'C 3 true']
  },
  { what: 'an action that returns nothing', method: 'POST', url: '/posts/ping', status: 204, stored: [A, B, C] },
  {
    what: 'a create by a handler',
    method: 'POST',
    body: '{"post":{"title":"D"}}',
    options: { actions: { create: (context) => count(context.store.create(context.attributes, {}, context)) } },
    status: 201,
    stored: [A, B, C, 'D 3 false']
  },
  {
    what: 'a delete by a handler with a transaction of its own',
    method: 'DELETE',
    body: '{"id":1}',
    options: {
      actions: {
        delete: ({ transaction, store, id, guard }) =>
          transaction(async (inner) => count(await store.delete(id, guard, inner)))
      }
    },
    status: 204,
    stored: [B, C]
  }
]

/** Tests requests with a key on a store. */
export function testIdempotency (t: Test, open: OpenPosts): void {
  for (const { what, method, body, options, status, stored, ...sending } of CASES) {
    t.test(`${what} that is sent again is carried out once, and answered alike`, async (t) => {
      const posts = await openKeyed(t, open, {}, options)
      calls.count = 0
      const first = await posts.send(method, body, { key: 'k', ...sending })
      t.strictSame([first.status, first.replayed], [status, undefined], first.text)
      const counted = calls.count
      const second = await posts.send(method, body, { key: '"k"', ...sending })
      t.strictSame(second, { ...first, replayed: 'true' })
      t.strictSame((await posts.stored()).map(show), stored)
      t.equal(calls.count, counted, 'no handler runs again')
    })
  }

  t.test('several requests at once with one key are carried out once', async (t) => {
    const create = '{"post":{"title":"D"}}'
    const handler = { actions: { create: async ({ proceed }: Context) => count(await proceed()) } }
    const authorize = async (_request: unknown, { row }: { row: () => Promise<unknown> }): Promise<boolean> =>
      await row() !== undefined
    const cases: ReadonlyArray<readonly [what: string, method: Method, body: string, options?: object]> = [
      ['creates', 'POST', create],
      ['creates of many rows', 'POST', '{"posts":[{"title":"D"},{"title":"E"}]}'],
      ['deletes', 'DELETE', '{"id":1}'],
      ['deletes of many rows', 'DELETE', '{"id":[1,2]}'],
      ['creates by a handler', 'POST', create, handler],
      ['deletes that ask for the row', 'DELETE', '{"id":1}', { authorize }]
    ]
    for (const [what, method, body, options] of cases) {
      await t.test(what, async (t) => {
        const posts = await openKeyed(t, open, { principal: () => 'ann' }, options)
        calls.count = 0
        const answers = await Promise.all([1, 2, 3, 4, 5].map(() => posts.send(method, body, { key: 'k' })))
        t.strictSame([...new Set(answers.map(({ status }) => status))], [method === 'POST' ? 201 : 204])
        t.equal(answers.filter(({ replayed }) => replayed === 'true').length, 4)
        t.ok(calls.count <= 1, 'the handler runs once')
      })
    }
  })

  t.test('of several requests at once with one key and other content, one is carried out', async (t) => {
    const { send, stored } = await openKeyed(t, open)
    const answers = await Promise.all(['D', 'E', 'F'].map((title) =>
      send('POST', JSON.stringify({ post: { title } }), { key: 'k' })))
    t.strictSame(answers.map(({ status }) => status).sort(), [201, 422, 422])
    t.equal((await stored()).length, 4)
  })

  t.test('another request with the key is refused', async (t) => {
    const { send, stored } = await openKeyed(t, open)
    const body = '{"post":{"title":"D"}}'
    t.equal((await send('POST', body, { key: 'k' })).status, 201)
    const others: ReadonlyArray<Parameters<typeof send>> = [
      ['POST', '{"post":{"title":"E"}}'],
      ['POST', '{"post": {"title":"D"}}'],
      ['POST', '<post><title>D</title></post>', { type: 'application/xml' }],
      ['PUT', '{"id":1,"post":{"title":"D"}}'],
      ['DELETE', undefined, { url: '/posts?id=1' }],
      ['POST', undefined, { url: '/posts/1/publish' }]
    ]
    for (const [method, body, sending] of others) {
      const { status, text, replayed } = await send(method, body, { ...sending, key: 'k' })
      t.strictSame([status, replayed], [422, undefined])
      t.match(text, 'another request was carried out with the same Idempotency-Key')
    }
    t.equal((await stored()).length, 4)
  })

  t.test('a request that is sent again gets the format that it asks for', async (t) => {
    const { send } = await openKeyed(t, open)
    const body = '{"post":{"title":"D"}}'
    t.equal((await send('POST', body, { key: 'k' })).status, 201)
    for (const sending of [{ accept: 'application/xml' }, { url: '/posts.xml' }, { url: '/posts?format=xml' }]) {
      const { status, text, etag } = await send('POST', body, { ...sending, key: 'k' })
      t.strictSame([status, String(etag).slice(0, 6)], [201, '"1.xml'])
      t.match(text, '<post><id type="integer">4</id><title>D</title>')
    }
    const { status, location } = await send('POST', body, { accept: 'text/html', key: 'k' })
    t.strictSame([status, location], [303, '/posts/4'])
  })

  t.test('a request that is sent again shows the rows as they are now', async (t) => {
    const { send, store } = await openKeyed(t, open)
    const one = '{"post":{"title":"D"}}'
    const two = '{"posts":[{"title":"E"},{"title":"F"}]}'
    t.equal((await send('POST', one, { key: '1' })).status, 201)
    t.equal((await send('POST', two, { key: '2' })).status, 201)
    await store.update(4, { title: 'D2' }, { version: undefined, scope: {} }, context)
    const { text, etag } = await send('POST', one, { key: '1' })
    t.strictSame([text, String(etag).slice(0, 7)],
      ['{"post":{"id":4,"title":"D2","rating":3,"published":false}}', '"2.json'])
    for (const id of [4, 6]) await store.delete(id, { version: undefined, scope: {} }, context)
    for (const [key, body] of [['1', one], ['2', two]] as const) {
      const { status, text, replayed, location } = await send('POST', body, { key })
      t.strictSame([status, text, replayed, location], [201, '', 'true', undefined])
    }
    const page = await send('POST', one, { key: '1', accept: 'text/html' })
    t.strictSame([page.status, page.location], [303, '/posts'])
  })

  t.test('what is refused or fails is not kept', async (t) => {
    let fails = true
    const { send, stored } = await openKeyed(t, open, {}, {
      actions: {
        create: async (context: Context) => {
          const row = await context.store.create(context.attributes, {}, context)
          if (fails) throw new Error('after the write')
          return row
        }
      }
    })
    t.equal((await send('POST', '{"post":{"title":"D"}}', { key: 'k' })).status, 500)
    t.equal((await stored()).length, 3, 'what the handler has written is undone')
    fails = false
    t.equal((await send('POST', '{"post":{"title":"A"}}', { key: 'k' })).status, 409)
    t.equal((await send('POST', '{"post":{"title":""}}', { key: 'k' })).status, 422)
    t.equal((await send('PUT', '{"id":9,"post":{"title":"D"}}', { key: 'k' })).status, 404)
    t.equal((await send('PUT', '{"posts":[{"id":1,"rating":1},{"id":2,"title":"A"}]}', { key: 'k' })).status, 409)
    const stale = await send('PUT', '{"id":1,"post":{"title":"D"}}', { key: 'k', headers: { 'if-match': '"7"' } })
    t.strictSame([stale.status, stale.text], [412, '{"post":{"id":1,"title":"A","rating":3,"published":false}}'])
    t.equal((await send('PUT', '{"id":1,"post":{"rating":5}}', { key: 'k', url: '/posts?dry_run=true' })).status, 200)
    const created = await send('POST', '{"post":{"title":"D"}}', { key: 'k' })
    t.strictSame([created.status, created.replayed], [201, undefined])
    t.equal((await stored()).map(({ title }) => title).join(), 'A,B,C,D')
  })

  t.test('a request begins again if its row changes before the transaction', async (t) => {
    const asked: string[] = []
    const posts: KeyedPosts = await openKeyed(t, open, { principal: () => '' }, {
      authorize: async (_request, { action, row }) => {
        const shown = await row?.()
        asked.push(`${action} ${String(shown?.version)}`)
        if (asked.length === 1) {
          await posts.store.update(1, { rating: 1 }, { version: undefined, scope: {} }, context)
        }
        return true
      }
    })
    const { status, text } = await posts.send('PUT', '{"id":1,"post":{"title":"D"}}', { key: 'k' })
    t.strictSame([status, text], [200, '{"post":{"id":1,"title":"D","rating":1,"published":false}}'])
    t.strictSame(asked, ['update 1', 'update 2'])
  })

  t.test('an expired key is new', async (t) => {
    const { send, stored } = await openKeyed(t, open, { keep: 1 })
    const body = '{"post":{"rating":4,"title":"D"}}'
    t.equal((await send('POST', body, { key: 'k' })).status, 201)
    const start = Date.now()
    while (Date.now() - start < 3);
    t.equal((await send('POST', body, { key: 'k' })).status, 409, 'the title is taken')
    t.equal((await send('DELETE', '{"id":4}', { key: 'k' })).status, 204)
    t.equal((await stored()).length, 3)
  })
}
