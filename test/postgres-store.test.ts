import { EventEmitter, once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { BY_ID, type Context, type PostgresClient, type PostgresPool, type PostgresQuery, postgresStore, type PostgresStore, type PostgresStoreOptions } from '../lib/index.js'
import { build } from './helper.js'
import { startPostgres } from './postgres-server.js'
import { context, readAll } from './sql-engines.js'

const attributes = { type: 'object', properties: { title: { type: 'string' }, at: { type: 'string', format: 'date-time' } } } as const
const anyVersion = { version: undefined, scope: {} }
const every = { order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: {} }
const answered = [{ id: '1', version: '1', title: 'T', at: null }]

/** What a query comes to: rows, an error, or nothing for ever. */
type Answer = readonly unknown[] | Error | 'never'

/** A pool of one connection that answers as it is told, and notes what it was asked. */
class FakePool extends EventEmitter implements PostgresPool {
  readonly queries: PostgresQuery[] = []
  readonly released: Array<boolean | undefined> = []
  readonly #answers: Answer[]
  connecting: () => Promise<unknown> = async () => {}

  /** The last answer is given again and again. */
  constructor (...answers: Answer[]) {
    super()
    this.#answers = answers
  }

  async connect (): Promise<PostgresClient> {
    await this.connecting()
    this.emit('acquire', this.#client)
    return this.#client
  }

  readonly #events = new EventEmitter()
  readonly #client = Object.assign(this.#events, {
    query: async (query: PostgresQuery) => {
      this.queries.push(query)
      const [answer] = query.text.startsWith('SET') ? [[]] : this.#answers.length > 1 ? this.#answers.splice(0, 1) : this.#answers
      if (answer === 'never') return await new Promise<never>(() => {})
      // A connection that breaks says so twice.
      if (answer instanceof Error && !('severity' in answer)) this.#events.emit('error', answer)
      if (answer instanceof Error) throw answer
      return { rows: answer as readonly unknown[] }
    },
    release: (destroy?: boolean) => { this.released.push(destroy) }
  })

  get client (): EventEmitter {
    return this.#events
  }

  get texts (): string[] {
    return this.queries.map(({ text }) => text)
  }
}

function sqlError (code: string, more: object = {}): Error {
  return Object.assign(new Error(`SQLSTATE ${code}`), { severity: 'ERROR', code, ...more })
}

function networkError (): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}

function storeOn (pool: PostgresPool, options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  return postgresStore({ pool, table: 'posts', attributes, ...options })
}

async function codeOf (act: () => unknown): Promise<unknown> {
  try {
    await act()
    return 'nothing was thrown'
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

const WRITES: ReadonlyArray<readonly [name: string, (store: PostgresStore) => unknown]> = [
  ['create', (store) => store.create({ title: 'T' }, {}, context)],
  ['update', (store) => store.update(1, { title: 'T' }, anyVersion, context)],
  ['delete', (store) => store.delete(1, anyVersion, context)]
]
const READS: ReadonlyArray<readonly [name: string, (store: PostgresStore) => unknown]> = [
  ['get', (store) => store.get(1, {}, context)],
  ['list', (store) => readAll(store.list(every, context))]
]
const BUSY = 'FST_RESOURCES_UNAVAILABLE'
const UNKNOWN = 'FST_RESOURCES_UNKNOWN_OUTCOME'

t.test('what the database says decides whether it is known that nothing was written', async (t) => {
  const cases: ReadonlyArray<readonly [error: () => Error, ofWrites: string, ofReads: string, destroyed: boolean, why: string]> = [
    [networkError, UNKNOWN, BUSY, true, 'the connection was lost'],
    [() => new Error('Connection terminated unexpectedly'), UNKNOWN, BUSY, true, 'the connection ended'],
    [() => sqlError('57P01'), UNKNOWN, BUSY, true, 'terminated by an administrator'],
    [() => sqlError('57P02'), UNKNOWN, BUSY, true, 'the server crashed'],
    [() => sqlError('08006'), UNKNOWN, BUSY, true, 'connection failure'],
    [() => sqlError('40003'), UNKNOWN, BUSY, true, 'statement completion unknown'],
    [() => sqlError('57014'), BUSY, BUSY, false, 'canceled by its timeout'],
    [() => sqlError('55P03'), BUSY, BUSY, false, 'lock not available'],
    [() => sqlError('53300'), BUSY, BUSY, false, 'too many connections'],
    [() => sqlError('53200'), BUSY, BUSY, false, 'out of memory'],
    [() => sqlError('25006'), BUSY, BUSY, false, 'a standby'],
    [() => sqlError('53100'), 'FST_RESOURCES_STORE_FULL', 'FST_RESOURCES_STORE_FULL', false, 'disk full'],
    [() => sqlError('42P01'), '42P01', '42P01', false, 'no such table']
  ]
  for (const [makeError, ofWrites, ofReads, destroyed, why] of cases) {
    for (const [expected, operations] of [[ofWrites, WRITES], [ofReads, READS]] as const) {
      for (const [name, operate] of operations) {
        const error = makeError()
        const pool = new FakePool(error)
        let thrown: { code?: unknown, cause?: unknown, headers?: unknown } = {}
        await Promise.resolve().then(() => operate(storeOn(pool))).catch((error) => { thrown = error })
        t.equal(thrown.code, expected, `${name}: ${why}`)
        if (expected !== '42P01') t.equal(thrown.cause, error, 'what the database said is kept for the log')
        if (expected === BUSY) t.strictSame(thrown.headers, { 'retry-after': '1' })
        t.strictSame(pool.released, [destroyed], `${name}: the connection is ${destroyed ? 'thrown away' : 'given back'}`)
      }
    }
  }
})

t.test('a client is told in its own format, and nothing of the inside', async (t) => {
  for (const [error, status, code, detail] of [
    [sqlError('57014'), 503, '1', 'the store is not available now, and nothing was written; try again'],
    [networkError(), 504, undefined, 'the store did not answer, and it is not known whether anything was written; look before you try again'],
    [sqlError('53100'), 507, undefined, 'the store is full, and nothing was written'],
    [sqlError('42P01'), 500, undefined, 'something went wrong on the server']
  ] as const) {
    const app = await build(t, { name: 'posts', attributes, store: { ...storeOn(new FakePool(error)), prepare: () => {} } })
    for (const [format, expected] of [
      ['json', JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail })],
      ['xml', `<?xml version="1.0" encoding="UTF-8"?>\n<errors><error>${detail}</error></errors>`],
      ['html', detail]
    ] as const) {
      const answer = await app.inject({ method: 'POST', url: `/posts.${format}`, payload: { post: { title: 'T' } } })
      t.equal(answer.statusCode, status)
      t.equal(answer.headers['retry-after'], code)
      t.ok(answer.body.includes(expected), `${status} ${format}`)
      t.notMatch(answer.body, /SQLSTATE|ECONN/)
    }
  }
})

t.test('what others were in the way of is tried again', async (t) => {
  for (const code of ['40001', '40P01']) {
    const pool = new FakePool(sqlError(code), sqlError(code), sqlError(code), answered)
    t.strictSame((await storeOn(pool).update(1, { title: 'T' }, anyVersion, context)).ok, true)
    t.equal(pool.texts.filter((text) => text.startsWith('UPDATE')).length, 4)
    t.strictSame(pool.released, [false, false, false, false], 'no connection is held between two attempts')
    const hopeless = new FakePool(sqlError(code))
    t.equal(await codeOf(() => storeOn(hopeless, { attempts: 3 }).get(1, {}, context)), BUSY)
    t.equal(hopeless.texts.filter((text) => text.startsWith('SELECT')).length, 3, 'but not for ever')
  }
})

t.test('a connection is waited for, but not for ever', async (t) => {
  const refusing = new FakePool(answered)
  refusing.connecting = async () => { throw networkError() }
  t.equal(await codeOf(() => storeOn(refusing).create({}, {}, context)), BUSY, 'nothing was sent, so nothing was written')

  const slow = new FakePool(answered)
  slow.connecting = () => delay(60)
  t.equal(await codeOf(() => storeOn(slow, { acquireTimeout: 5 }).create({}, {}, context)), BUSY)
  await delay(100)
  t.strictSame([slow.released, slow.queries], [[undefined], []], 'one that comes too late goes back unused')

  const late = new FakePool(answered)
  late.connecting = async () => { await delay(30); throw networkError() }
  t.equal(await codeOf(() => storeOn(late, { acquireTimeout: 5 }).get(1, {}, context)), BUSY)
  await delay(60)

  const patient = new FakePool(answered)
  patient.connecting = () => delay(30)
  t.equal((await storeOn(patient, { acquireTimeout: 0 }).get(1, {}, context))?.id, 1)
})

t.test('a client that has gone is not waited for', async (t) => {
  const pool = new FakePool(answered)
  pool.connecting = () => delay(50)
  const controller = new AbortController()
  const gone: Context = { signal: controller.signal }
  const reading = readAll(storeOn(pool).list(every, gone))
  controller.abort(new Error('gone'))
  await t.rejects(reading, { message: 'gone' })
  await delay(100)
  t.strictSame([pool.released, pool.queries], [[undefined], []])
})

t.test('a statement may take so long, and a connection that says nothing is given up', async (t) => {
  const pool = new FakePool('never')
  const started = Date.now()
  t.equal(await codeOf(() => storeOn(pool, { statementTimeout: 10 }).create({}, {}, context)), UNKNOWN)
  t.ok(Date.now() - started >= 1900)
  t.strictSame(pool.texts.slice(0, 1), ['SET statement_timeout TO 10; SET extra_float_digits TO 1'])
  t.strictSame(pool.released, [true])

  const plain = new FakePool(answered)
  const store = storeOn(plain)
  await store.get(1, {}, context)
  await store.get(1, {}, context)
  t.strictSame(plain.texts.filter((text) => text.startsWith('SET')), ['SET statement_timeout TO 10000; SET extra_float_digits TO 1'], 'a connection is told once')

  const untouched = new FakePool(answered)
  await storeOn(untouched, { statementTimeout: 0 }).get(1, {}, context)
  t.strictSame(untouched.texts.slice(0, -1), ['SET statement_timeout TO DEFAULT; SET extra_float_digits TO 1'], '0 leaves a connection what it had from elsewhere')

  const shared = new FakePool(answered)
  const [patient, hasty] = [storeOn(shared, { statementTimeout: 60_000 }), storeOn(shared, { statementTimeout: 500 })]
  for (const store of [patient, patient, hasty, hasty, patient]) await store.get(1, {}, context)
  t.strictSame(shared.texts.flatMap((text) => /TO (\d+);/.exec(text)?.[1] ?? []), ['60000', '500', '60000'], 'each store has its own on a connection that they share')

  const broken = new FakePool(answered)
  broken.connect = async () => Object.assign(new EventEmitter(), { query: async () => { throw networkError() }, release: (destroy?: boolean) => { broken.released.push(destroy) } }) as unknown as PostgresClient
  t.equal(await codeOf(() => storeOn(broken).create({}, {}, context)), BUSY, 'a connection that breaks before the statement was sent has written nothing')
  t.strictSame(broken.released, [true])
})

t.test('statements are prepared under a name of their own, once for each text', async (t) => {
  const pool = new FakePool(answered)
  const [one, other] = [storeOn(pool), storeOn(pool, { table: 'comments' })]
  await one.get(1, {}, context)
  await one.get(2, {}, context)
  await other.get(1, {}, context)
  const names = pool.queries.filter(({ text }) => text.startsWith('SELECT')).map(({ name }) => name)
  t.match(names[0], /^resources_[\da-f]{32}$/)
  t.equal(names[0], names[1])
  t.not(names[0], names[2])
  t.equal(pool.queries[1]?.types.getTypeParser()('t'), 't', 'values come as the database writes them')

  const names9 = Array.from({ length: 9 }, (_, index) => `a${index}`)
  const many = new FakePool([{ id: '1', version: '1', ...Object.fromEntries(names9.map((name) => [name, null])) }])
  const store = storeOn(many, { attributes: { type: 'object', properties: Object.fromEntries(names9.map((name) => [name, { type: 'integer' }])) } })
  for (let combination = 0; combination < 300; combination++) {
    await store.update(1, Object.fromEntries(names9.flatMap((name, bit) => (combination >> bit) % 2 === 1 ? [[name, 1]] : [])), anyVersion, context)
  }
  const named = new Set(many.queries.flatMap(({ name }) => name === undefined ? [] : [name]))
  t.ok(named.size <= 60, 'a client cannot make a connection keep any number of them')
})

t.test('a unique index whose columns cannot be looked up is read off the message', async (t) => {
  for (const [answers, expected] of [
    [[[], sqlError('23505', { table: 'posts_102008', constraint: 'posts_title_key_102008', detail: 'Key (title)=(T) already exists.' }), []], { title: ['is already taken'] }],
    [[[], sqlError('23505', { table: 'posts_102008', constraint: 'posts_title_key_102008', detail: 'Key ("title")=(T) already exists.' }), networkError()], { title: ['is already taken'] }],
    [[[], sqlError('23505', { table: 'posts_102008', constraint: 'posts_title_key_102008', detail: 'Schlüssel existiert' }), []], {}],
    [[[], sqlError('23505', { table: 'posts_102008', constraint: 'posts_title_key_102008' }), []], {}]
  ] as Array<[Answer[], object]>) {
    const pool = new FakePool(...answers.slice(1))
    try {
      await storeOn(pool).create({ title: 'T' }, {}, context)
      t.fail('it is accepted')
    } catch (error) {
      t.strictSame((error as { errors: object }).errors, expected)
    }
  }
  const elsewhere = new FakePool(sqlError('23505', { table: 'log', constraint: 'log_title_key', detail: 'Key (title)=(T) already exists.' }))
  t.equal(await codeOf(() => storeOn(elsewhere).create({ title: 'T' }, {}, context)), 'FST_RESOURCES_INVALID', 'what a trigger does elsewhere is not laid to an attribute')
  const key = new FakePool(sqlError('23505', { table: 'posts', constraint: 'posts_pkey' }), [{ key: '1', size: '1', number: '1', column: 'id' }])
  t.equal(await codeOf(() => storeOn(key).create({ title: 'T' }, {}, context)), '23505', 'an id that the database makes twice is no fault of the client\'s')
})

t.test('the errors of a pool and of its connections are listened to, once for all of its stores', async (t) => {
  const pool = new FakePool(answered)
  const [one, other] = [storeOn(pool), storeOn(pool, { table: 'comments' })]
  await one.get(1, {}, context)
  await other.get(1, {}, context)
  t.strictSame([pool.listenerCount('error'), pool.listenerCount('acquire'), pool.client.listenerCount('error')], [1, 1, 1])
  pool.emit('error', networkError())
  pool.client.emit('error', networkError())
})

t.test('a connection that breaks while it is handed out does not end the process', async (t) => {
  // In one piece with the end of its greeting, before anybody has had it.
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const message = (type: string, body: Buffer): Buffer => {
        const length = Buffer.alloc(4)
        length.writeInt32BE(body.length + 4)
        return Buffer.concat([Buffer.from(type), length, body])
      }
      socket.end(Buffer.concat([
        message('R', Buffer.from([0, 0, 0, 0])),
        message('Z', Buffer.from('I')),
        message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))
      ]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pool = new pg.Pool({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'postgres', max: 2 })
  const store = storeOn(pool)
  for (let attempt = 0; attempt < 5; attempt++) t.equal(await codeOf(() => store.get(1, {}, context)), BUSY)
  await pool.end()
  server.close()
})

t.test('what a connection has prepared and forgotten, or what has changed since, does not matter', async (t) => {
  for (const error of [sqlError('26000'), sqlError('42P05'), sqlError('0A000', { routine: 'RevalidateCachedQuery' })]) {
    const pool = new FakePool(error, answered)
    t.equal((await storeOn(pool, { attempts: 1 }).get(1, {}, context))?.id, 1)
    t.strictSame(pool.queries.slice(1).map(({ name }) => name === undefined), [false, true], 'without a name, on the same connection')
    t.strictSame(pool.released, [true], 'which is not used again')
  }
  t.equal(await codeOf(() => storeOn(new FakePool(sqlError('0A000', { routine: 'other' }))).get(1, {}, context)), '0A000')
})

t.test('texts are sorted by code points, also where the engine has no name for that', async (t) => {
  for (const [version, title] of [['PostgreSQL 18.1 on x86_64', '"title" text COLLATE "C"'], ['CockroachDB CCL v25.2.1', '"title" text,']] as const) {
    const column = (name: string, type: string): object => ({ name, type, not_null: name === 'version' ? 't' : 'f', filled: 't', generated: 'f' })
    const there = [column('id', 'bigint'), column('version', 'bigint'), column('title', 'text'), column('at', 'text')]
    const pool = new FakePool([], [{ version }], [], there, [{ index: '1', key: '1', size: '1', number: '1', column: 'id' }], there, [{ index: '1', key: '1', size: '1', number: '1', column: 'id' }])
    await storeOn(pool).migrate()
    const [create] = pool.texts.filter((text) => text.startsWith('CREATE'))
    t.ok(create?.includes(title), String(create))
  }
})

t.test('a mistake in the options throws', async (t) => {
  const pool = new FakePool(answered)
  const cases: ReadonlyArray<readonly [options: object, message: string]> = [
    [{ pool: undefined }, 'resources: option "pool" must be a pool of pg'],
    [{ pool: {} }, 'resources: option "pool" must be a pool of pg'],
    [{ schema: '' }, 'resources: option "schema" must be the name of a schema'],
    [{ schema: 5 }, 'resources: option "schema" must be the name of a schema'],
    [{ acquireTimeout: -1 }, 'resources: option "acquireTimeout" must be a number of milliseconds'],
    [{ statementTimeout: '10s' }, 'resources: option "statementTimeout" must be a number of milliseconds'],
    [{ attempts: 0 }, 'resources: option "attempts" must be a number from 1'],
    [{ poool: pool }, 'resources: there is no option "poool"; did you mean "pool"?']
  ]
  for (const [options, message] of cases) t.throws(() => storeOn(pool, options), { message }, message)
})

t.test('moments are told as RFC 3339 has them, whatever the time zone of the connection', async (t) => {
  const server = await startPostgres(t, ['fsync=off'])
  for (const [zone, at] of [['UTC', '2026-01-31T10:00:00.5+00:00'], ['Asia/Kolkata', '2026-01-31T15:30:00.5+05:30'], ['America/New_York', '2026-01-31T05:00:00.5-05:00']] as const) {
    const pool = server.pool({ options: `-c TimeZone=${zone}` })
    await pool.query('DROP TABLE IF EXISTS posts')
    await pool.query('CREATE TABLE posts (id bigserial PRIMARY KEY, version bigint NOT NULL, title text, at timestamptz)')
    const store = storeOn(pool)
    await store.prepare()
    t.equal((await store.create({ at: '2026-01-31T12:00:00.5+02:00' }, {}, context)).attributes.at, at)
    const found = await readAll(store.list({ ...every, filter: { at } }, context))
    t.equal(found.length, 1, 'what was read finds it')
    await pool.end()
  }
})

t.test('a table that may not be made is an error that says so', async (t) => {
  const server = await startPostgres(t, ['fsync=off'])
  await server.pool().query('CREATE ROLE reader LOGIN PASSWORD \'secret\'')
  const store = storeOn(server.pool({ connectionString: server.url.replace('postgres:secret', 'reader:secret') }), { migrate: true })
  await t.rejects(store.prepare(), { message: 'permission denied for schema public' })
})
