import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { csv, type ResourceOptions, type Store } from '../../lib/index.js'
import { build, xml } from './helper.js'

/** The attributes of the posts that these tests write. */
export const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    rating: { type: ['integer', 'null'], default: 3 },
    published: { type: 'boolean', default: false }
  }
} as const

/** Opens an empty store of posts, whose titles are unique. */
export type OpenPosts = (t: Test) => Promise<Store>

/** A post as an answer in JSON has it. */
export interface Post {
  readonly id: number
  readonly title: string
  readonly rating: number | null
  readonly published: boolean
}

/** A row as a request has it. */
type Row = Readonly<Record<string, unknown>>

/** Writes the bodies of one format. */
export interface Spelling {
  readonly name: 'JSON' | 'XML' | 'CSV'
  readonly type: string
  /** Writes rows as a collection; `undefined` if the format cannot say what these have or lack. */
  rows (rows: readonly Row[]): string | undefined
  /** Writes ids with the changes that all of them get; `undefined` if the format has no such body. */
  readonly shared?: (ids: readonly unknown[], changes: Row) => string
}

const element = (name: string, value: unknown): string => value === null
  ? `<${name} nil="true"/>`
  : `<${name}${typeof value === 'string' ? '' : ` type="${typeof value === 'number' ? 'integer' : 'boolean'}"`}>` +
    `${String(value)}</${name}>`
const elements = (row: Row): string => Object.entries(row).map(([name, value]) => element(name, value)).join('')

/** The bodies in each format that has many rows. */
export const SPELLINGS: readonly Spelling[] = [
  {
    name: 'JSON',
    type: 'application/json',
    rows: (posts) => JSON.stringify({ posts }),
    shared: (id, post) => JSON.stringify({ id, post })
  },
  {
    name: 'XML',
    type: 'application/xml',
    rows: (rows) => `<posts type="array">${rows.map((row) => `<post>${elements(row)}</post>`).join('')}</posts>`,
    shared: (ids, changes) => `<post><id type="array">${ids.map((id) => element('id', id)).join('')}</id>` +
      `${elements(changes)}</post>`
  },
  {
    name: 'CSV',
    type: 'text/csv',
    rows (rows) {
      const names = rows.length === 0 ? ['id', 'title'] : [...new Set(rows.flatMap(Object.keys))]
      // An empty field is no attribute that is left out, and null cannot be told from a default.
      if (rows.some((row) => names.some((name) => row[name] == null && name !== 'id'))) return undefined
      const field = (value: unknown): string => value === '' ? '""' : String(value ?? '')
      return [names.join(), ...rows.map((row) => names.map((name) => field(row[name])).join())].join('\n')
    }
  }
]

/** An app with posts, and what tests ask of it. */
export interface Posts {
  readonly app: FastifyInstance
  /** Sends a write, and returns the status and the body of its answer, parsed if it is JSON. */
  send (method: 'POST' | 'PUT' | 'DELETE', body: string | undefined, options?: SendOptions): Promise<Sent>
  /** Returns the posts that are stored. */
  stored (): Promise<readonly Post[]>
}

interface SendOptions {
  readonly type?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Sent {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** The body of an answer in JSON. */
  readonly json: Answer
}

/** The members of the answers in JSON that the tests read. */
interface Answer {
  readonly posts?: readonly Post[]
  readonly detail?: string
  readonly truncated?: boolean
  readonly rows?: ReadonlyArray<Row & { readonly index: number }>
}

/** Opens an app with three posts: A, B and C. */
export async function openPosts (
  t: Test,
  open: OpenPosts,
  options: Partial<ResourceOptions> = {}
): Promise<Posts> {
  const store = await open(t)
  const app = await build(t, { formats: ['xml', 'html', 'json', csv()], attributes, store, ...options, name: 'posts' })
  const context = { signal: new AbortController().signal }
  for (const title of ['A', 'B', 'C']) await store.create({ title, rating: 3, published: false }, {}, context)
  return {
    app,
    async send (method, body, { type = 'application/json', url = '/posts', headers = {} } = {}) {
      const request: InjectOptions = {
        method,
        url,
        headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': type }), ...headers },
        ...(body !== undefined && { payload: body })
      }
      const { statusCode: status, headers: answered, body: text } = await app.inject(request)
      return { status, headers: answered, text, json: text.startsWith('{') ? JSON.parse(text) : {} }
    },
    async stored () {
      const { body } = await app.inject({ url: '/posts', headers: { accept: 'application/json' } })
      return JSON.parse(body).posts
    }
  }
}

const UNCHANGED = ['A 3 false', 'B 3 false', 'C 3 false']
const show = ({ title, rating, published }: Post): string => `${title} ${String(rating)} ${String(published)}`

interface Case {
  readonly what: string
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** The query of the request. @default none */
  readonly query?: string
  /** The rows of the request, or ids and their changes. */
  readonly rows?: readonly Row[]
  readonly shared?: readonly [ids: readonly unknown[], changes: Row]
  readonly status: number
  /** The rows of the answer. */
  readonly answer?: readonly string[]
  /** The faults of the answer, by the index of the row: the attribute, or the status of a fault without one. */
  readonly faults?: Readonly<Record<number, string>>
  /** The numbers of the rows in the header Row-Counts: created, changed, unchanged. */
  readonly counts?: readonly [number, number, number]
  /** The rows that are stored afterwards. @default the first ones */
  readonly stored?: readonly string[]
}

/** What each request with many rows does, in each format that has such a body. */
const CASES: readonly Case[] = [
  {
    what: 'creates each row, in order, with its defaults',
    method: 'POST',
    rows: [{ title: 'D', rating: 5 }, { title: 'E', rating: null, published: true }, { title: 'F' }],
    status: 201,
    answer: ['D 5 false', 'E null true', 'F 3 false'],
    stored: [...UNCHANGED, 'D 5 false', 'E null true', 'F 3 false']
  },
  { what: 'creates nothing from an empty list', method: 'POST', rows: [], status: 201, answer: [] },
  {
    what: 'creates no row if one of them is invalid, and names each fault',
    method: 'POST',
    rows: [{ title: 'D' }, { title: '' }, { title: 'E' }, { rating: 4 }, { id: 7, title: 'F' }],
    status: 422,
    faults: { 1: 'title', 3: 'title', 4: 'id' }
  },
  {
    what: 'creates no row if the database refuses some, and names each of a few',
    method: 'POST',
    rows: [{ title: 'D' }, { title: 'A' }, { title: 'E' }, { title: 'E' }, { title: 'C' }],
    status: 409,
    faults: { 1: 'title', 3: 'title', 4: 'title' }
  },
  {
    what: 'gives each row its own changes',
    method: 'PUT',
    rows: [{ id: 1, title: 'A2' }, { id: 3, rating: 5, published: true }],
    status: 200,
    answer: ['A2 3 false', 'C 5 true'],
    stored: ['A2 3 false', 'B 3 false', 'C 5 true']
  },
  {
    what: 'refuses to swap unique values',
    method: 'PUT',
    rows: [{ id: 1, title: 'B' }, { id: 2, title: 'A' }],
    status: 409,
    faults: { 0: 'title', 1: 'title' }
  },
  {
    what: 'changes no row if one is missing, without an id, repeated or invalid',
    method: 'PUT',
    rows: [{ id: 1, rating: 1 }, { id: 99, rating: 1 }, { rating: 1 }, { id: 1, rating: 2 }, { id: 2, title: '' }],
    status: 422,
    faults: { 1: '404', 2: 'id', 3: 'id', 4: 'title' }
  },
  {
    what: 'compares the version of each row that names one',
    method: 'PUT',
    rows: [{ id: 1, _version: '0', rating: 1 }, { id: 2, rating: 1 }],
    status: 412,
    faults: { 0: '412' }
  },
  {
    what: 'gives all rows the same changes',
    method: 'PUT',
    shared: [[1, 2], { published: true }],
    status: 200,
    answer: ['A 3 true', 'B 3 true'],
    stored: ['A 3 true', 'B 3 true', 'C 3 false']
  },
  {
    what: 'gives no row the changes if one is missing',
    method: 'PUT',
    shared: [[1, 99], { published: true }],
    status: 404,
    faults: { 1: '404' }
  },
  { what: 'changes nothing for no ids', method: 'PUT', shared: [[], { rating: 1 }], status: 200, answer: [] },
  {
    what: 'deletes each row',
    method: 'DELETE',
    rows: [{ id: 1 }, { id: 3, title: 'C' }],
    status: 204,
    stored: ['B 3 false']
  },
  {
    what: 'deletes no row if one is missing or has another version',
    method: 'DELETE',
    rows: [{ id: 1 }, { id: 99 }, { id: 2, _version: '0' }],
    status: 422,
    faults: { 1: '404', 2: '412' }
  },
  { what: 'deletes nothing for an empty list', method: 'DELETE', rows: [], status: 204 },
  {
    what: 'finds rows by a unique attribute',
    method: 'PUT',
    query: '?match=title',
    rows: [{ title: 'C', rating: 5 }, { title: 'A', rating: 3 }],
    status: 200,
    answer: ['C 5 false', 'A 3 false'],
    counts: [0, 1, 1],
    stored: ['A 3 false', 'B 3 false', 'C 5 false']
  },
  {
    what: 'creates the rows that a unique attribute does not find',
    method: 'PUT',
    query: '?match=title&create=true',
    rows: [{ title: 'D', rating: 1 }, { title: 'A', rating: 4 }, { title: 'E', rating: 2 }, { title: 'B', rating: 3 }],
    status: 200,
    answer: ['D 1 false', 'A 4 false', 'E 2 false', 'B 3 false'],
    counts: [2, 1, 1],
    stored: ['A 4 false', 'B 3 false', 'C 3 false', 'D 1 false', 'E 2 false']
  },
  {
    what: 'refuses rows that a unique attribute cannot find, or finds twice',
    method: 'PUT',
    query: '?match=title&create=true',
    rows: [{ title: 'A', rating: 5 }, { rating: 5 }, { title: 'A', rating: 4 }, { id: 2, title: 'B' }, { title: 'D' },
      { title: 'D' }, { title: '' }],
    status: 422,
    faults: { 1: 'title', 2: 'title', 3: 'id', 5: 'title', 6: 'title' }
  },
  {
    what: 'counts what it would do in a dry run',
    method: 'PUT',
    query: '?match=title&create=true&dry_run=true',
    rows: [{ title: 'D', rating: 1 }, { title: 'A', rating: 4 }, { title: 'B', rating: 3 }],
    status: 200,
    answer: ['D 1 false', 'A 4 false', 'B 3 false'],
    counts: [1, 1, 1]
  }
]

/** Tests requests with many rows on a store. */
export function testManyRows (t: Test, open: OpenPosts): void {
  for (const { name, type, rows: spellRows, shared: spellShared } of SPELLINGS) {
    for (const { what, method, query = '', rows, shared, status, answer, counts, ...expected } of CASES) {
      const { faults, stored = UNCHANGED } = expected
      const body = rows === undefined ? shared && spellShared?.(...shared) : spellRows(rows)
      if (body === undefined) continue
      t.test(`${method} in ${name} ${what}`, async (t) => {
        const posts = await openPosts(t, open)
        const sent = await posts.send(method, body, { type, url: `/posts${query}` })
        t.equal(sent.status, status, sent.text)
        if (answer !== undefined) t.strictSame(sent.json.posts?.map(show), answer)
        if (counts !== undefined) {
          const [created, changed, unchanged] = counts
          t.equal(sent.headers['row-counts'], `created=${created}, changed=${changed}, unchanged=${unchanged}`)
        }
        if (faults !== undefined) t.strictSame(shortFaults(sent.json), faults)
        t.strictSame((await posts.stored()).map(show), stored)
      })
    }
  }

  t.test('DELETE takes several ids in its query', async (t) => {
    const { send, stored } = await openPosts(t, open)
    t.equal((await send('DELETE', undefined, { url: '/posts?id[]=1&id[]=3' })).status, 204)
    t.strictSame((await stored()).map(show), ['B 3 false'])
  })

  t.test('a form changes and deletes several rows', async (t) => {
    const { send, stored } = await openPosts(t, open)
    const form = { type: 'application/x-www-form-urlencoded', headers: { accept: 'text/html' } }
    const changed = await send('POST', 'id[]=1&id[]=2&post[published]=true&_method=PUT', form)
    t.strictSame([changed.status, changed.headers.location], [303, '/posts'])
    t.strictSame((await stored()).map(show), ['A 3 true', 'B 3 true', 'C 3 false'])
    const stale = await send('POST', 'id[]=1&_version[]=0&id[]=3&_version[]=1&_method=DELETE', form)
    t.equal(stale.status, 412)
    const uneven = await send('POST', 'id[]=1&id[]=3&_version[]=1&_method=DELETE', form)
    t.equal(uneven.status, 422)
    const deleted = await send('POST', 'id[]=1&id[]=3&_method=DELETE', form)
    t.strictSame([deleted.status, deleted.headers.location], [303, '/posts'])
    t.strictSame((await stored()).map(show), ['B 3 true'])
  })

  t.test('a dry run does everything but the commit', async (t) => {
    const { send, stored } = await openPosts(t, open)
    const url = '/posts?dry_run=true'
    const created = await send('POST', '{"posts":[{"title":"D"}]}', { url })
    t.strictSame([created.status, created.json.posts?.map(show), created.json.posts?.[0]?.id],
      [200, ['D 3 false'], undefined])
    const refused = await send('POST', '{"posts":[{"title":"D"},{"title":"A"}]}', { url })
    t.strictSame([refused.status, shortFaults(refused.json)], [409, { 1: 'title' }])
    const one = await send('POST', '{"post":{"title":"D"}}', { url })
    t.strictSame([one.status, one.text, one.headers.location, one.headers.etag],
      [200, '{"post":{"title":"D","rating":3,"published":false}}', undefined, undefined])
    t.equal((await send('PUT', '{"id":1,"post":{"title":"B"}}', { url })).status, 409)
    t.equal((await send('DELETE', '{"id":[1,2]}', { url })).status, 204)
    t.equal((await send('DELETE', '{"id":1}', { url: '/posts?dry_run=yes' })).status, 400)
    t.strictSame((await stored()).map(show), UNCHANGED)
  })
}

/** Returns the attribute, or else the status, of the fault of each row. */
export function shortFaults ({ rows = [] }: Answer): Record<number, string> {
  return Object.fromEntries(rows.map(({ index, status, errors }) =>
    [index, errors === undefined ? String(status) : Object.keys(Object(errors)).join()]))
}

/** The answer in XML to faulty rows. */
export const XML_FAULTS = `${xml}<errors><error index="1" attribute="title">Title must not be blank</error>` +
  '<error index="2" id="99">there is no post with the id 99</error></errors>'
