import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { memoryStore, type Store } from '../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import { build, draft } from '../support/helper.js'
import { shapeOf } from '../../lib/core/schema/shape.js'
import type { Schema } from '../../lib/core/schema/types.js'
import { decodeInteger, valuesOf } from '../../lib/sql/columns/kinds.js'
import { columnTypeOf, findCodec } from '../../lib/sql/postgres/column-types.js'
import { addKeywords, readCheck, tokenize } from '../../lib/sql/tables/checks.js'

const JSON_TYPE = { accept: 'application/json' }
const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    email: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    settings: { type: 'object', additionalProperties: { type: 'integer' } }
  }
} as const

type Options = Partial<Parameters<typeof build>[1] & object>

/** Opens a store of `posts` with a unique `email`, whose rows have these attributes. */
type OpenStore = () => Store

function openSqlite (version: string): Store {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  const columns = version === 'values' ? '' : ', version INTEGER NOT NULL DEFAULT 1'
  database.exec(`CREATE TABLE posts
    (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, email TEXT UNIQUE, tags TEXT, settings TEXT${columns})`)
  return sqliteStore({ database, table: 'posts', attributes, unique: ['email'], version }) as Store
}

/** Makes a store whose methods begin and answer some turns of the queue of promises later than they are called. */
function makeLate (store: Store): Store {
  async function wait (): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await Promise.resolve()
  }
  async function late <T> (call: () => T): Promise<Awaited<T>> {
    await wait()
    const answer = await call()
    await wait()
    return answer
  }
  return {
    capabilities: store.capabilities,
    list: (query, context) => store.list(query, context),
    count: (...parameters) => late(() => (store.count as NonNullable<Store['count']>)(...parameters)),
    get: (...parameters) => late(() => store.get(...parameters)),
    create: (...parameters) => late(() => store.create(...parameters)),
    update: (...parameters) => late(() => store.update(...parameters)),
    delete: (...parameters) => late(() => store.delete(...parameters))
  } as Store
}

const STORES: Readonly<Record<string, OpenStore>> = {
  'SQLite with a counted version': () => openSqlite('version'),
  'SQLite with the version \'values\'': () => openSqlite('values'),
  'the memory store': () => memoryStore({ unique: ['email'] }) as Store,
  'a memory store that answers late': () => makeLate(memoryStore({ unique: ['email'] }) as Store)
}

async function open (t: Test, openStore: OpenStore, options: Options = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', store: openStore(), attributes, ...options } as Parameters<typeof build>[1])
}

async function post (app: FastifyInstance, values: object): Promise<Response> {
  return app.inject({ method: 'POST', url: '/posts', headers: JSON_TYPE, payload: { post: values } })
}

async function put (app: FastifyInstance, values: object, etag?: string): Promise<Response> {
  const headers = { ...JSON_TYPE, ...(etag !== undefined && { 'if-match': etag }) }
  return app.inject({ method: 'PUT', url: '/posts', headers, payload: { id: 1, post: values } })
}

function statusesOf (responses: readonly Response[]): number[] {
  return responses.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
}

for (const [name, openStore] of Object.entries(STORES)) {
  t.test(`${name}: of writes that name one version, one succeeds`, async (t) => {
    for (const values of [(index: number) => ({ title: `T${index}` }),
      (index: number) => ({ title: `T${index}`, tags: [`${index}`] })]) {
      const app = await open(t, openStore)
      const etag = String((await post(app, { title: 'a', tags: [] })).headers.etag)
      const written = await Promise.all(Array.from({ length: 8 }, (_, index) => put(app, values(index), etag)))
      t.strictSame(statusesOf(written), [200, ...new Array<number>(7).fill(412)])
      const winner = written.find(({ statusCode }) => statusCode === 200)
      const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
      t.strictSame(stored, winner?.json(), 'the row has the values of the one')
      t.ok(
        written.every(
          (response) => response.statusCode === 200 || response.headers.etag === undefined ||
            response.headers.etag === winner?.headers.etag
        )
      )
    }
  })

  t.test(`${name}: of handlers that proceed with one version, one succeeds`, async (t) => {
    let calls = 0
    const app = await open(t, openStore, {
      actions: {
        async update (context: { proceed (): unknown }) {
          calls++
          await Promise.resolve()
          return context.proceed()
        }
      }
    } as Options)
    const etag = String((await post(app, { title: 'a' })).headers.etag)
    const written = await Promise.all(Array.from({ length: 4 }, (_, index) => put(app, { title: `T${index}` }, etag)))
    t.strictSame(statusesOf(written), [200, 412, 412, 412])
    t.ok(calls >= 1 && calls <= 4)
  })

  t.test(`${name}: updates by XML, which are compared with the row, and others at the same time are all kept`, async (
    t
  ) => {
    const app = await open(t, openStore)
    await post(app, { title: 'a', email: 'a@example.com', tags: [] })
    // The client sends the whole row back as it has read it, with one change.
    const headers = { accept: 'application/xml', 'content-type': 'application/xml' }
    const shown = (await app.inject({ url: '/posts/1', headers })).body
    const payload = shown.replace('<title>a</title>', '<title>b</title>')
    const putXml = async (): Promise<Response> => app.inject({ method: 'PUT', url: '/posts', headers, payload })
    const written = await Promise.all([putXml(), put(app, { email: 'b@example.com' }), put(app, { tags: ['b'] })])
    t.strictSame(statusesOf(written), [200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.equal(stored.post.title, 'b')
  })

  t.test(`${name}: merge patches of different members at one time are all kept`, async (t) => {
    const app = await open(t, openStore, { writes: 'member' })
    await post(app, { settings: {} })
    const patch = async (member: string): Promise<Response> =>
      app.inject({
        method: 'PATCH',
        url: '/posts/1',
        headers: { ...JSON_TYPE, 'content-type': 'application/merge-patch+json' },
        payload: JSON.stringify({ post: { settings: { [member]: 1 } } })
      })
    const written = await Promise.all(['a', 'b', 'c', 'd'].map(patch))
    t.strictSame(statusesOf(written), [200, 200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.strictSame(stored.post.settings, { a: 1, b: 1, c: 1, d: 1 })
  })
}

t.test('of creates of one singleton with one unique value at the same time, one succeeds', async (t) => {
  const attributes = { type: 'object', properties: { email: { type: 'string' } } } as const
  for (const store of [memoryStore({ unique: ['email'] }), makeLate(memoryStore({ unique: ['email'] }) as Store)]) {
    const app = await draft(t, (map) => map.resource('profile', { store, attributes }))
    const create = async (): Promise<Response> =>
      app.inject({
        method: 'POST', url: '/profile', headers: JSON_TYPE, payload: { profile: { email: 'a@example.com' } }
      })
    t.strictSame(statusesOf(await Promise.all([create(), create(), create()])), [201, 409, 409])
  }
})

const INTEGER = { type: 'integer' }
const STRING = { type: 'string' }

/** Adds the keywords of a constraint to the schema of the column `a`. Another column is called `b`. */
function read (check: string, schema: object, dialect: 'sqlite' | 'postgres' = 'sqlite'): object {
  const demands = readCheck(tokenize(check, dialect),
    (name) => (['a', 'b'].includes(name.toLowerCase()) ? name.toLowerCase() : undefined))
  return addKeywords({ ...schema }, demands.filter(({ column }) => column === 'a'), true)
}

const READ: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ['A >= 0', INTEGER, { minimum: 0 }],
  ['[a] >= 0 AND `a` < 5', INTEGER, { minimum: 0, exclusiveMaximum: 5 }],
  ['a >= 0 AND a >= 3 AND a <= 9 AND a <= 7', INTEGER, { minimum: 3, maximum: 7 }],
  ['0 <= a AND 9 > a', INTEGER, { minimum: 0, exclusiveMaximum: 9 }],
  ['a > +1000', INTEGER, { exclusiveMinimum: 1000 }],
  ['a BETWEEN 1 AND 5 AND b > 3', INTEGER, { minimum: 1, maximum: 5 }],
  ['a == 5', INTEGER, { enum: [5] }],
  ['5 = a', INTEGER, { enum: [5] }],
  ['a IN (1, 2, 2) AND a IN (2, 3)', INTEGER, { enum: [2] }],
  ['a IN (1) AND a IN (2)', INTEGER, { enum: [1] }],
  ['a IN ("x", "b""c")', STRING, { enum: ['x', 'b"c'] }],
  ['a > 0 AND b LIKE \'x\'', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND f(b, (1)) > 5', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND b IS NOT NULL', INTEGER, { exclusiveMinimum: 0 }],
  ['length(a) > 2.5 AND length(a) < 8.5', STRING, { minLength: 3, maxLength: 8 }],
  ['length(a) >= 2 AND length(a) == 4', STRING, { minLength: 4, maxLength: 4 }],
  ['a != \'\'', STRING, { minLength: 1 }]
]

const LEFT: ReadonlyArray<readonly [check: string, schema: object]> = [
  ['', INTEGER], ['a', INTEGER], ['a >', INTEGER], ['a > \'5\'', INTEGER], ['a IS NULL OR a > 5', INTEGER],
  ['a = \'x\' OR a = \'y\'', STRING], ['a > 0 AND (b BETWEEN 1 AND 2 + 3)', INTEGER], ['f(b AND a > 5 AND b)', INTEGER],
  ['b = (1 AND a > 5 AND 1)', INTEGER], ['(b AND a > 5) = 0', INTEGER], ['(a > 5', INTEGER], ['a > 5)', INTEGER],
  ['a > 5, 6', INTEGER], ['(a, b) = (1, 2)', INTEGER], ['a > 5 + 1', INTEGER], ['a > 5 > 0', INTEGER],
  ['- a > 5', INTEGER], ['a > - b', INTEGER], ['a > -\'5\'', INTEGER], ['a > b', INTEGER], ['a > c', INTEGER],
  ['a > 9007199254740993', INTEGER], ['a > 5 OR b > 5', INTEGER], ['a > 5 OR a < 3', INTEGER],
  ['b IS NULL OR a > 5', INTEGER], ['b IS NULL OR a = 5 OR a = 6', INTEGER], ['a + 1 IS NULL OR a > 5', INTEGER],
  ['a = 5 OR b = 6', INTEGER], ['a = 5 OR length(a) = 6', STRING], ['a IS NULL', INTEGER], ['a IS NOT NULL', INTEGER],
  ['a IS 5', INTEGER], ['NOT a > 5', INTEGER], ['NOT a > 5 AND b = 1', INTEGER], ['a NOT IN (1, 2)', INTEGER],
  ['a NOT BETWEEN 1 AND a > 3', INTEGER], ['a BETWEEN 1 + 2 AND a > 3', INTEGER],
  ['CASE WHEN b THEN b AND a > 3 AND b END', INTEGER], ['a IN (1, NULL)', INTEGER], ['a IN (1, \'x\')', INTEGER],
  ['a IN (1, b)', INTEGER], ['a IN (1 2)', INTEGER], ['a IN 1', INTEGER], ['a IN (1', INTEGER], ['length(a', STRING],
  ['5 IS NULL OR a > 5', INTEGER], ['a IN 1 AND a > b', INTEGER], ['a > * 5', INTEGER], ['length(a 5) = 3', STRING],
  ['a IN b', INTEGER], ['1 IN (a)', INTEGER], ['1 = 1', INTEGER], ['a <> 5', INTEGER], ['a <> \'x\'', STRING],
  ['a > \'x\'', STRING], ['a = 5', STRING], ['a = \'x\' COLLATE NOCASE', STRING], ['a COLLATE NOCASE = \'x\'', STRING],
  ['length(a, b) = 5', STRING], ['length() = 5', STRING], ['length(b + 1) = 5', STRING], ['length(a) < 0', STRING],
  ['length(a) <> 5', STRING], ['length(a) = \'5\'', STRING], ['length(a) = 5', { type: 'string', format: 'uuid' }],
  ['length(a) = 5', { type: 'string', contentEncoding: 'base64' }],
  ['a = \'x\'', { type: 'string', format: 'decimal' }], ['a = 5', { type: 'boolean' }], ['upper(a) = \'X\'', STRING],
  ['a = x\'00\'', STRING]
]

/** Expressions as PostgreSQL writes them. */
const CAST: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ["((a)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying(5)])::text[]))", STRING,
    { enum: ['x', 'y'] }],
  ["(a >= '-5'::integer)", INTEGER, { minimum: -5 }], ['((a)::numeric >= 0.5)', { type: 'number' }, { minimum: 0.5 }],
  ["(a = 'x'::public.\"My Type\")", STRING, { enum: ['x'] }], ["(a = E'x\\\\y')", STRING, {}],
  ["(a > '2020-01-01'::timestamp(3) without time zone)", STRING, {}], ['((a)::integer > 5)', { type: 'number' }, {}],
  ["((a)::character varying(3) = 'x')", STRING, {}], ['(a <> ALL (ARRAY[1, 2]))', INTEGER, {}],
  ['(a > ANY (ARRAY[1, 2]))', INTEGER, {}], ['(a = ANY (b))', INTEGER, {}],
  ["(a = ANY ('{1,2}'::integer[]))", INTEGER, {}], ["(a = 'x'::text[", STRING, {}], ["(a = 'x'::", STRING, {}]
]

t.test('simple conditions become keywords', async (t) => {
  for (const [check, schema, keywords] of READ) t.strictSame(read(check, schema), { ...schema, ...keywords }, check)
  for (const [check, schema, keywords] of CAST) {
    t.strictSame(read(check, schema, 'postgres'), { ...schema, ...keywords }, check)
  }
})

t.test('other conditions are left to the database', async (t) => {
  for (const [check, schema] of LEFT) t.strictSame(read(check, schema), schema, check)
})

t.test('texts that are equal without being the same get no keywords', async (t) => {
  const demands = readCheck(tokenize("a IN ('x') AND length(a) = 1 AND a <> ''", 'sqlite'), (name) =>
    name === 'a' ? name : undefined)
  t.equal(demands.length, 3)
  t.strictSame(addKeywords(STRING, demands, false), STRING)
})

const string = { type: 'string' }
const format = (name: string): Schema => ({ type: 'string', format: name })
const array = (items: Schema): Schema => ({ type: 'array', items })

t.test('a column of another type keeps no values', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, ...types: string[]]> = [
    [string, 'integer', 'bytea', 'numeric(10,2)', 'jsonb', 'timestamp without time zone', 'uuid',
      'character varying(20)', 'character(3)'],
    [format('uuid'), 'integer', 'character varying(35)'],
    [format('date-time'), 'timestamp without time zone', 'date', 'character varying(20)'],
    [format('date-time-local'), 'timestamp with time zone', 'time without time zone'],
    [format('time-local'), 'time with time zone'], [format('date'), 'timestamp without time zone'],
    [format('decimal'), 'text', 'real', 'money'], [{ ...string, contentEncoding: 'base64' }, 'text', 'jsonb'],
    [{ type: 'integer' }, 'numeric', 'text', 'real'], [{ type: 'number' }, 'numeric', 'integer'],
    [{ type: 'boolean' }, 'integer', 'text'], [{}, 'text', 'bytea', 'integer[]'],
    [array(string), 'text', 'integer[]', 'box[]'], [array({}), 'text[]']
  ]
  for (const [schema, ...types] of cases) {
    const values = valuesOf(shapeOf(schema), false)
    for (const type of types) t.equal(findCodec(values, type), undefined, `${JSON.stringify(schema)} in ${type}`)
    t.not(findCodec(values, columnTypeOf(values)), undefined, `${JSON.stringify(schema)} in ${columnTypeOf(values)}`)
  }
})

t.test('a readOnly attribute may have a shorter column', async (t) => {
  const values = valuesOf(shapeOf(string), true)
  for (const type of ['character varying(20)', 'character(3)']) t.not(findCodec(values, type), undefined, type)
  for (const name of ['uuid', 'date-time']) {
    t.not(findCodec(valuesOf(shapeOf(format(name)), true), 'character varying(20)'), undefined, name)
  }
})

t.test('a decimal has a column of its digits', async (t) => {
  t.equal(columnTypeOf(valuesOf(shapeOf({ ...format('decimal'), precision: 10, scale: 2 }), false)), 'numeric(10,2)')
  t.equal(columnTypeOf(valuesOf(shapeOf(format('decimal')), false)), 'numeric')
})

t.test('an id is a safe integer', async (t) => {
  for (const raw of [5, 5n, '5']) t.equal(decodeInteger(raw), 5)
  for (const raw of [null, 2n ** 53n, '9007199254740993', 'x']) {
    t.throws(() => decodeInteger(raw), { message: /which JavaScript cannot represent exactly/ })
  }
})
