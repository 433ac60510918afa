import Database from 'libsql'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { type Format, memoryStore, type ResourceOptions, type Row, type Store } from '../../../lib/index.js'
import type { Source } from '../../../lib/core/actions/outcome.js'
import { writeList } from '../../../lib/core/response/list-stream.js'
import { BY_ID } from '../../../lib/core/stores/order.js'
import { type SqliteDatabase, sqliteStore } from '../../../lib/sql/sqlite/index.js'
import { build } from '../../support/helper.js'

const attributes = {
  type: 'object', properties: { title: { type: 'string', minLength: 1 }, secret: { type: 'string' } }
} as const
const JSON_TYPE = { accept: 'application/json' }

/** Collects the rejections that nobody handles until the test ends. */
function watchRejections (t: Test): readonly unknown[] {
  const seen: unknown[] = []
  const note = (error: unknown): void => { seen.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  return seen
}

async function turns (count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('row() and proceed() that reject before a handler waits for them do not end the process', async (t) => {
  const rejections = watchRejections(t)
  const app = await build(t, {
    name: 'posts',
    attributes,
    store: memoryStore(),
    actions: {
      async update ({ row }) {
        const found = row()
        await turns(3)
        return found
      },
      async delete ({ proceed }) {
        const outcome = proceed()
        await turns(3)
        return outcome
      }
    },
    async authorize (_request, { row }) {
      row?.().catch(() => {})
      const forgotten = row?.()
      await turns(3)
      return forgotten !== null
    },
    scope: () => ({})
  })
  for (const method of ['PUT', 'DELETE'] as const) {
    const response = await app.inject({
      method, url: '/posts', headers: JSON_TYPE, payload: { id: 99, ...(method === 'PUT' && { post: { title: 'b' } }) }
    })
    t.equal(response.statusCode, 404, method)
  }
  await turns(3)
  t.strictSame(rejections, [])
})

t.test('the page of an error shows no stored row that a hook has refused', async (t) => {
  for (const statusCode of [409, 422, 428]) {
    const store = memoryStore()
    store.create({ title: 'a', secret: 'swordfish' }, {})
    const app = await build(t, {
      name: 'posts',
      attributes,
      store,
      hooks: { preHandler: async () => { throw Object.assign(new Error('refused'), { statusCode }) } }
    })
    const response = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      payload: '_method=PUT&id=1&post[title]=x'
    })
    t.equal(response.statusCode, statusCode)
    t.notMatch(response.body, 'swordfish')
  }
})

t.test('an error is answered in its format if what belongs to it cannot be found', async (t) => {
  const own: Format = {
    name: 'own',
    mediaTypes: ['text/plain'],
    compileWriter: () => ({
      prepareProblem: async () => { throw new Error('swordfish') },
      record: () => '',
      problem: ({ status }) => `problem ${status}`,
      list: { open: '', row: () => '', separator: '', close: '' }
    })
  }
  const app = await build(t, { name: 'posts', attributes, formats: [own] })
  const response = await app.inject('/posts/9')
  t.strictSame([response.statusCode, response.body], [404, 'problem 404'])
})

const rowOf = (id: number, title: string): Row => ({ id, version: '1', attributes: { title } })

t.test('the text that is held for a reader is bounded when large rows follow small ones', async (t) => {
  const rows = [...Array.from({ length: 1000 }, (_, index) => rowOf(index, 'a')),
    ...Array.from({ length: 200 }, (_, index) => rowOf(1000 + index, 'b'.repeat(100_000)))]
  for (const more of [undefined, { next: () => ({ done: true, value: undefined }) } satisfies Source]) {
    let written = 0
    const writer = {
      open: '', row: ({ attributes }: Row) => { written++; return String(attributes.title) }, separator: ',', close: ''
    }
    const body = await writeList({ kind: 'listed', rows, more, order: BY_ID, first: undefined, last: undefined },
      writer)
    if (typeof body === 'string') throw new Error('the list is long, so it must be a stream')
    t.ok(written <= 1100, `${written} rows are written before the first chunk is read`)
    written = 0
    let length = 0
    for await (const chunk of body) length += String(chunk).length
    t.equal(length, 1000 + 200 * 100_000 + 1199)
    t.equal(written, 1200)
  }
})

t.test('a separator follows an empty text, and a cursor is closed once when its second batch fails', async (t) => {
  const writer = { open: '', row: ({ attributes }: Row) => String(attributes.title), separator: ',', close: '' }
  const listed = { kind: 'listed', order: BY_ID, first: undefined, last: undefined } as const
  t.equal(await writeList({ ...listed, rows: [rowOf(1, ''), rowOf(2, 'b')], more: undefined },
    { ...writer, row: writer.row }), ',b')
  let closed = 0
  let pulled = 0
  const cursor: AsyncIterator<Row[]> = {
    async next () {
      if (pulled++ > 0) throw new Error('broken')
      return { done: false, value: [rowOf(1, 'a')] }
    },
    async return () {
      closed++
      throw new Error('closing fails too')
    }
  }
  const store = { ...memoryStore(), list: () => ({ [Symbol.asyncIterator]: () => cursor }) } as unknown as Store
  const app = await build(t, { name: 'posts', attributes, store })
  const response = await app.inject('/posts.json')
  t.equal(response.statusCode, 500)
  t.notMatch(response.body, 'broken')
  t.equal(closed, 1)
})

t.test('a type of XML with the name of a member of all objects is an unknown type', async (t) => {
  const store = memoryStore()
  store.create({ title: 'a' }, {})
  const app = await build(t, { name: 'posts', attributes, store })
  for (const type of ['__proto__', '__defineGetter__', 'hasOwnProperty', 'constructor']) {
    const request: InjectOptions = {
      method: 'PUT',
      url: '/posts.xml',
      headers: { 'content-type': 'application/xml' },
      payload: `<post><id>1</id><title type="${type}">string</title></post>`
    }
    const response = await app.inject(request)
    t.equal(response.statusCode, 422, type)
    t.match(response.body, /unknown type/, type)
  }
})

t.test('a sorted list of SQLite has each row once, also beside values that its columns should not have', async (t) => {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  database.exec('CREATE TABLE posts (id INTEGER PRIMARY KEY, t TEXT, n REAL)')
  for (let index = 0; index < 4; index++) database.exec(`INSERT INTO posts (t, n) VALUES ('t${index}', ${index}.5)`)
  database.exec("INSERT INTO posts (t, n) VALUES (x'0102', 9e999), (x'0103', 9e999), ('z', -9e999)")
  const properties = { t: { type: 'string' }, n: { type: 'number' } } as const
  const store = sqliteStore({ database, table: 'posts', version: 'values', attributes: { type: 'object', properties } })
  const app = await build(t, { name: 'posts', store } as unknown as ResourceOptions)
  for (const sort of ['t', '-t', 'n', '-n']) {
    const ids: number[] = []
    let url: string | undefined = `/posts.json?sort=${sort}&limit=2`
    while (url !== undefined && ids.length < 20) {
      const response: LightMyRequestResponse = await app.inject(url)
      t.equal(response.statusCode, 200, url)
      ids.push(...response.json().posts.map(({ id }: { id: number }) => id))
      url = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1]
    }
    t.strictSame([...ids].sort((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7], sort)
  }
})
