import { EventEmitter, once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { type Context } from '../../../lib/index.js'
import {
  type PostgresClient, type PostgresPool, type PostgresQuery, postgresStore, type PostgresStore, type
  PostgresStoreOptions
} from '../../../lib/sql/postgres/index.js'
import { build } from '../../support/helper.js'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres.js'
import { context, every, readAll, thrownBy } from '../../support/stores/sql-engines.js'

const attributes = {
  type: 'object', properties: { title: { type: 'string' }, at: { type: 'string', format: 'date-time' } }
} as const
const anyVersion = { version: undefined, scope: {} }
const answered = [{ id: '1', version: '1', title: 'T', at: null }]

let server: Promise<PostgresServer> | undefined
let databases = 0

/** Creates a database. The tests of this file share one server. */
async function openDatabase (): Promise<{ readonly url: string, pool (options?: pg.PoolConfig): pg.Pool }> {
  const { url: root, pool } = await (server ??= startPostgres(t))
  const name = `database${++databases}`
  await pool().query(`CREATE DATABASE ${name}`)
  const url = root.replace(/\w+$/, name)
  return { url, pool: (options) => pool({ connectionString: url, ...options }) }
}

/** Makes inserts into `posts` fail with the SQLSTATE in `title`. The title `end` ends the connection. */
const RAISE = `
  CREATE FUNCTION raise() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.title = 'end' THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RAISE EXCEPTION USING ERRCODE = NEW.title, MESSAGE = 'raised', DETAIL = 'Key (title)=(T) already exists.';
  END $$;
  CREATE TRIGGER raise BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION raise()`

/** The result of a query: rows, an error, or no answer at all. */
type HandlerAnswer = readonly unknown[] | Error | 'never'

/** A pool with one connection that gives these answers and records its queries. */
class FakePool extends EventEmitter implements PostgresPool {
  readonly queries: PostgresQuery[] = []
  readonly released: Array<boolean | undefined> = []
  readonly #answers: HandlerAnswer[]
  connecting: () => Promise<unknown> = async () => {}

  /** The last answer is repeated. */
  constructor (...answers: HandlerAnswer[]) {
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
      const [answer] = query.text.includes('set_config')
        ? [[]]
        : this.#answers.length > 1 ? this.#answers.splice(0, 1) : this.#answers
      if (answer === 'never') return await new Promise<never>(() => {})
      // A broken connection emits an error and rejects the query.
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

/** The statement that prepares a connection. */
function configure (timeout: string): string {
  return `SELECT set_config('statement_timeout', ${timeout}, false), set_config('extra_float_digits', '1', false), ` +
    "set_config('DateStyle', 'ISO', false), set_config('bytea_output', 'hex', false), " +
    "set_config('IntervalStyle', 'postgres', false)"
}

t.test('the error of the database decides whether a write is known to have failed', async (t) => {
  const cases: ReadonlyArray<readonly [
    error: () => Error, ofWrites: string, ofReads: string, destroyed: boolean, why: string
  ]> = [
    [networkError, UNKNOWN, BUSY, true, 'the connection was lost'],
    [() => sqlError('57P01'), UNKNOWN, BUSY, true, 'terminated by an administrator'],
    [() => sqlError('XX000', { severity: 'FATAL' }), UNKNOWN, BUSY, true, 'an error that ends the connection'],
    [() => sqlError('53100', { severity: 'PANIC' }), UNKNOWN, BUSY, true, 'an error that ends the server'],
    [() => sqlError('08006'), UNKNOWN, BUSY, false, 'connection failure between the machines of a cluster'],
    [() => sqlError('40003'), UNKNOWN, BUSY, false, 'statement completion unknown'],
    [() => sqlError('57014'), UNKNOWN, BUSY, false, 'canceled by its timeout, on a server that may be one of many'],
    [() => sqlError('55P03'), BUSY, BUSY, false, 'lock not available'],
    [() => sqlError('53300'), BUSY, BUSY, false, 'too many connections'],
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
        if (expected !== '42P01') t.equal(thrown.cause, error, 'the error of the database is kept for the log')
        if (expected === BUSY) t.strictSame(thrown.headers, { 'retry-after': '1' })
        t.equal(pool.released[0], destroyed, `${name}: the connection is ${destroyed ? 'destroyed' : 'returned'}`)
      }
    }
  }
})

t.test('a client gets an error that reveals nothing', async (t) => {
  for (const [error, status, code, detail] of [
    [sqlError('55P03'), 503, '1', 'the store is not available now, and nothing was written; try again'],
    [
      sqlError('57014'), 504, undefined,
      'the store did not answer, and it is not known whether anything was written; look before you try again'
    ],
    [sqlError('53100'), 507, undefined, 'the store is full, and nothing was written'],
    [sqlError('42P01'), 500, undefined, 'something went wrong on the server']
  ] as const) {
    const app = await build(t, {
      name: 'posts', attributes, store: { ...storeOn(new FakePool(error)), prepare: () => {} }
    })
    const answer = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { title: 'T' } } })
    t.equal(answer.body, JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail }))
    t.equal(answer.headers['retry-after'], code)
  }
})

t.test('a canceled write is known to have failed only on a single server', async (t) => {
  const { url, pool: open } = await openDatabase()
  const pool = open()
  const body = (text: string): string => `
    CREATE OR REPLACE FUNCTION raise() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    ${text}; PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NEW; END $$`
  await storeOn(pool).migrate()
  await pool.query('CREATE TABLE log (title text); INSERT INTO posts DEFAULT VALUES')
  await pool.query(body('NULL'))
  const events = 'INSERT OR UPDATE OR DELETE'
  await pool.query(`CREATE TRIGGER raise BEFORE ${events} ON posts FOR EACH ROW EXECUTE FUNCTION raise()`)
  const check = async (expected: string, why: string): Promise<void> => {
    const store = storeOn(pool)
    for (const [name, operate] of WRITES) t.equal(await codeOf(() => operate(store)), expected, `${name}: ${why}`)
  }
  await check(BUSY, 'a single server')
  await pool.query('CREATE EXTENSION postgres_fdw; CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw')
  await check(UNKNOWN, 'a foreign server')
  await pool.query('DROP EXTENSION postgres_fdw CASCADE; CREATE EXTENSION dblink')
  await pool.query(body(`PERFORM dblink_exec('${url}', 'INSERT INTO log VALUES (''T'')')`))
  await check(UNKNOWN, 'dblink')
  t.equal((await pool.query('SELECT FROM log')).rowCount, WRITES.length, 'a part of each write has happened')
  await pool.query('DROP EXTENSION dblink')
  await pool.query(body('NULL'))
  // Citus cannot be installed here, so a row of the catalog says that it is.
  const row = '99999, \'citus\', extowner, extnamespace, false, \'1\''
  await pool.query(`INSERT INTO pg_extension SELECT ${row} FROM pg_extension`)
  await check(UNKNOWN, 'citus')
})

t.test('only PostgreSQL itself counts as a single server', async (t) => {
  const compiled = 'compiled by gcc (GCC) 12.2.0, 64-bit'
  for (const [version, expected] of [
    [`PostgreSQL 17.5 on x86_64-pc-linux-gnu, ${compiled}`, BUSY],
    [`PostgreSQL 14.13 (Ubuntu 14.13-0ubuntu0.22.04.1) on aarch64-unknown-linux-gnu, ${compiled}`, BUSY],
    ['PostgreSQL 16.3, compiled by Visual C++ build 1938, 64-bit', BUSY],
    ['CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/04, go1.23.7)', UNKNOWN],
    [`PostgreSQL 15.12-YB-2.25.2.0-b0 on x86_64-pc-linux-gnu, ${compiled}`, UNKNOWN],
    [`PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2b1f) on x86_64-pc-linux-gnu, ${compiled}`, UNKNOWN],
    ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.12103', UNKNOWN],
    ['PostgreSQL 16', UNKNOWN]
  ] as const) {
    const pool = new FakePool(sqlError('57014'), [{ version }], [{ others: 'f' }])
    t.equal(await codeOf(() => storeOn(pool).create({ title: 'T' }, {}, context)), expected, version)
  }
})

t.test('a statement that conflicts with another is tried again', async (t) => {
  for (const code of ['40001', '40P01']) {
    const pool = new FakePool(sqlError(code), sqlError(code), sqlError(code), answered)
    t.strictSame((await storeOn(pool).update(1, { title: 'T' }, anyVersion, context)).ok, true)
    t.equal(pool.texts.filter((text) => text.startsWith('UPDATE')).length, 4)
    t.strictSame(pool.released, [false, false, false, false], 'no connection is held between two attempts')
    const hopeless = new FakePool(sqlError(code))
    t.equal(await codeOf(() => storeOn(hopeless, { attempts: 3 }).get(1, {}, context)), BUSY)
    t.equal(hopeless.texts.filter((text) =>
      /^SELECT (?!set_config)/.test(text)).length, 3, 'the number of attempts is limited')
  }
})

t.test('the store waits for a connection only for a limited time', async (t) => {
  const refusing = new FakePool(answered)
  refusing.connecting = async () => { throw networkError() }
  t.equal(await codeOf(() =>
    storeOn(refusing).create({}, {}, context)), BUSY, 'nothing was sent, so nothing was written')

  const slow = new FakePool(answered)
  slow.connecting = () => delay(60)
  t.equal(await codeOf(() => storeOn(slow, { acquireTimeout: 5 }).create({}, {}, context)), BUSY)
  await delay(100)
  t.strictSame([slow.released, slow.queries], [[undefined], []], 'a connection that comes too late is returned unused')

  const patient = new FakePool(answered)
  patient.connecting = () => delay(30)
  t.equal((await storeOn(patient, { acquireTimeout: 0 }).get(1, {}, context))?.id, 1)
})

t.test('the store does not wait for a connection after its client has left', async (t) => {
  for (const wait of [0, 20]) {
    const pool = new FakePool(answered)
    const controller = new AbortController()
    const gone: Context = { signal: controller.signal }
    pool.connecting = () => {
      setTimeout(() => { controller.abort(new Error('gone')) }, wait)
      return delay(150)
    }
    await t.rejects(readAll(storeOn(pool).list(every, gone)), { message: 'gone' })
    await t.rejects(
      readAll(storeOn(pool).list(every, gone)), { message: 'gone' }, 'a client that has left before does not wait'
    )
    await delay(300)
    t.strictSame(
      [pool.released, pool.queries], [[undefined, undefined], []], 'a connection that comes too late is returned unused'
    )
  }
})

t.test('a statement has a timeout, and a silent connection is given up', async (t) => {
  const pool = new FakePool('never')
  const started = Date.now()
  t.equal(await codeOf(() => storeOn(pool, { statementTimeout: 10 }).create({}, {}, context)), UNKNOWN)
  t.ok(Date.now() - started >= 1900)
  t.strictSame(pool.texts.slice(0, 1), [configure("'10'")])
  t.strictSame(pool.released, [true])

  const plain = new FakePool(answered)
  const store = storeOn(plain)
  await store.get(1, {}, context)
  await store.get(1, {}, context)
  t.strictSame(plain.texts.filter((text) =>
    text.includes('set_config')), [configure("'10000'")], 'the timeout is set once for each connection')

  const untouched = new FakePool(answered)
  await storeOn(untouched, { statementTimeout: 0 }).get(1, {}, context)
  t.strictSame(untouched.texts.slice(0, -1), [configure('NULL')], '0 leaves the timeout of the connection')

  const shared = new FakePool(answered)
  const [patient, hasty] = [storeOn(shared, { statementTimeout: 60_000 }), storeOn(shared, { statementTimeout: 500 })]
  for (const store of [patient, patient, hasty, hasty, patient]) await store.get(1, {}, context)
  t.strictSame(shared.texts.flatMap((text) =>
    /'(\d+)', false\), set_config\('extra/.exec(text)?.[1] ?? []), [
    '60000', '500', '60000'
  ], 'each store sets its own timeout on a shared connection')

  const broken = new FakePool(answered)
  broken.connect = async () => Object.assign(new EventEmitter(), {
    query: async () => {
      throw networkError()
    },
    release: (destroy?: boolean) => { broken.released.push(destroy) }
  }) as unknown as PostgresClient
  t.equal(await codeOf(() =>
    storeOn(broken).create(
      {}, {}, context
    )), BUSY, 'a connection that breaks before the statement was sent has written nothing')
  t.strictSame(broken.released, [true])
})

t.test('each statement text is prepared once under its own name', async (t) => {
  const pool = new FakePool(answered)
  const [one, other] = [storeOn(pool), storeOn(pool, { table: 'comments' })]
  await one.get(1, {}, context)
  await one.get(2, {}, context)
  await other.get(1, {}, context)
  const names = pool.queries.filter(({ text }) => /^SELECT (?!set_config)/.test(text)).map(({ name }) => name)
  t.match(names[0], /^resources_[\da-f]{32}$/)
  t.equal(names[0], names[1])
  t.not(names[0], names[2])
  t.equal(pool.queries[1]?.types?.getTypeParser(16)('t'), 't', 'values come as the database writes them')

  const names9 = Array.from({ length: 9 }, (_, index) => `a${index}`)
  const many = new FakePool([{ id: '1', version: '1', ...Object.fromEntries(names9.map((name) => [name, null])) }])
  const store = storeOn(many, {
    attributes: { type: 'object', properties: Object.fromEntries(names9.map((name) => [name, { type: 'integer' }])) }
  })
  for (let combination = 0; combination < 300; combination++) {
    await store.update(
      1, Object.fromEntries(names9.flatMap((name, bit) => (combination >> bit) % 2 === 1 ? [[name, 1]] : [])),
      anyVersion, context
    )
  }
  const named = new Set(many.queries.flatMap(({ name }) => name === undefined ? [] : [name]))
  t.ok(named.size <= 60, 'a client cannot make a connection keep any number of statements')
})

t.test('the columns of a unique index are read from the detail of the error', async (t) => {
  const posts = { table: 'posts', constraint: 'posts_title_key' }
  for (const [detail, expected] of [
    ['Key (title)=(T) already exists.', { title: ['is already taken'] }],
    ['Key ("title")=(T) already exists.', { title: ['is already taken'] }],
    ['Schlüssel existiert', {}],
    [undefined, {}]
  ] as const) {
    const pool = new FakePool(sqlError('23505', { ...posts, detail }), [])
    const { errors } = await thrownBy(() => storeOn(pool).create({ title: 'T' }, {}, context))
    t.strictSame(errors, expected, String(detail))
  }
  const elsewhere = new FakePool(
    sqlError('23505', { table: 'log', constraint: 'log_title_key', detail: 'Key (title)=(T) already exists.' })
  )
  t.equal(await codeOf(() =>
    storeOn(elsewhere).create(
      { title: 'T' }, {}, context
    )), 'FST_RESOURCES_INVALID', 'an error that a trigger causes elsewhere names no attribute')
  const key = new FakePool(
    sqlError('23505', { table: 'posts', constraint: 'posts_pkey', detail: 'Key (id)=(1) already exists.' })
  )
  t.equal(await codeOf(() =>
    storeOn(key).create(
      { title: 'T' }, {}, context
    )), 'FST_RESOURCES_SEQUENCE', 'an id that the database generates twice is not the client\'s fault')
})

t.test('a duplicate that only the detail of an error names is assigned to its attribute', async (t) => {
  for (const [error, expected] of [
    [{ detail: 'Key (title)=(T) already exists.' }, { title: ['is already taken'] }],
    [{ detail: 'Key (at, title)=(2026-01-31, T) already exists.' }, { title: ['is already taken'] }],
    [{ detail: 'Key (lower(title))=(t) already exists.' }, {}],
    [{ detail: 'Key (title)=(T) already exists.', table: 'log' }, {}],
    [{}, {}]
  ] as const) {
    const pool = new FakePool(sqlError('23505', error))
    const thrown: unknown = await storeOn(pool).create({ title: 'T' }, { at: '2026-01-31T12:00:00Z' }, context)
      .catch((thrown: unknown) =>
        thrown)
    t.strictSame((thrown as { errors?: object }).errors, expected, JSON.stringify(error))
    t.equal(pool.queries.length, 2, 'there is no constraint to look up')
  }
})

t.test('a broken constraint and a value that cannot be kept are mistakes of the client, other errors are not', async (
  t
) => {
  const { pool: open } = await openDatabase()
  const pool = open()
  const store = storeOn(pool)
  await store.migrate()
  await pool.query(RAISE)
  const app = await build(t, { name: 'posts', store })
  const statusOf = async (title: string): Promise<number> => (await app.inject({
    method: 'POST', url: '/posts.json', payload: { post: { title } }
  })).statusCode
  for (const code of ['23505', '23P01']) t.equal(await statusOf(code), 409, code)
  for (const code of [
    '23502', '23503', '23001', '23514', 'P0001', '22001', '22003', '22007', '22008', '22021', '22P02', '22P05', '54000'
  ]) {
    t.equal(await statusOf(code), 422, code)
  }
  for (const code of ['42703', '22012', 'XX000']) t.equal(await statusOf(code), 500, code)
  t.equal(await statusOf('42501'), 403, 'a missing privilege')
})

t.test('the stores of a pool share one listener for the errors of the pool and of its connections', async (t) => {
  const pool = new FakePool(answered)
  const [one, other] = [storeOn(pool), storeOn(pool, { table: 'comments' })]
  await one.get(1, {}, context)
  await other.get(1, {}, context)
  t.strictSame(
    [pool.listenerCount('error'), pool.listenerCount('acquire'), pool.client.listenerCount('error')], [1, 1, 1]
  )
  pool.emit('error', networkError())
  pool.client.emit('error', networkError())
})

t.test('a connection that breaks while it is handed out does not end the process', async (t) => {
  // The error arrives together with the end of the greeting, before anyone has the connection.
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      const message = (type: string, body: Buffer): Buffer => {
        const length = Buffer.alloc(4)
        length.writeInt32BE(body.length + 4)
        return Buffer.concat([Buffer.from(type), length, body])
      }
      socket.end(Buffer.concat([
        message('R', Buffer.from([0, 0, 0, 0])), message('Z', Buffer.from('I')),
        message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'))
      ]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pool = new pg.Pool({
    host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'postgres', max: 2
  })
  const store = storeOn(pool)
  for (let attempt = 0; attempt < 5; attempt++) t.equal(await codeOf(() => store.get(1, {}, context)), BUSY)
  await pool.end()
  server.close()
})

t.test('a lost or outdated prepared statement runs again without a name', async (t) => {
  for (const error of [sqlError('26000'), sqlError('42P05'), sqlError('0A000', { routine: 'RevalidateCachedQuery' })]) {
    const pool = new FakePool(error, answered)
    t.equal((await storeOn(pool, { attempts: 1 }).get(1, {}, context))?.id, 1)
    t.strictSame(pool.queries.slice(1).map(({ name }) =>
      name === undefined), [false, true], 'without a name, on the same connection')
    t.strictSame(pool.released, [true], 'the connection is not used again')
  }
  t.equal(await codeOf(() =>
    storeOn(new FakePool(sqlError('0A000', { routine: 'other' }))).get(1, {}, context)), '0A000')
})

t.test('invalid options throw', async (t) => {
  const pool = new FakePool(answered)
  const cases: ReadonlyArray<readonly [options: object, message: string]> = [
    [{ pool: undefined }, 'Option "pool" must be a pool of pg.'],
    [{ pool: {} }, 'Option "pool" must be a pool of pg.'],
    [{ schema: '' }, 'Option "schema" must be the name of a schema.'],
    [{ schema: 5 }, 'Option "schema" must be the name of a schema.'],
    [{ acquireTimeout: -1 }, 'Option "acquireTimeout" must be a number of milliseconds.'],
    [{ statementTimeout: '10s' }, 'Option "statementTimeout" must be a number of milliseconds.'],
    [{ attempts: 0 }, 'Option "attempts" must be a number from 1.'],
    [{ poool: pool }, 'There is no option "poool" of postgresStore; did you mean "pool"?']
  ]
  for (const [options, message] of cases) t.throws(() => storeOn(pool, options), { message }, message)
})

t.test('a write returns only immutable expressions, for any types of columns', async (t) => {
  const types = {
    text: 'text',
    mood: 'mood',
    moment: 'timestamptz',
    writtenMoment: 'text',
    time: 'moment',
    day: 'date',
    whole: 'bigint',
    real: 'double precision',
    truth: 'boolean',
    list: 'jsonb',
    object: 'json'
  }
  const properties = {
    text: { type: 'string' },
    mood: { type: 'string' },
    moment: { type: 'string', format: 'date-time' },
    writtenMoment: { type: 'string', format: 'date-time' },
    time: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    whole: { type: 'integer' },
    real: { type: 'number' },
    truth: { type: 'boolean' },
    list: { type: 'array' },
    object: { type: 'object' }
  } as const
  const { pool: open } = await openDatabase()
  const pool = open()
  await pool.query('CREATE TYPE mood AS ENUM (\'good\', \'bad\'); CREATE DOMAIN moment AS timestamptz')
  const columns = Object.entries(types).map(([name, type]) => `"${name}" ${type}`)
  await pool.query(`CREATE TABLE posts (id uuid PRIMARY KEY, version bigint NOT NULL, ${columns.join()})`)
  const options = { attributes: { type: 'object', properties }, id: 'uuid' } as const
  await storeOn(pool, options).prepare()

  const id = '01890a5d-ac96-774b-bcce-b302099a8057'
  const nulls = Object.fromEntries(Object.keys(types).map((name) => [name, null]))
  const recorder = new FakePool([{ id, version: '1', ...nulls }])
  const store = storeOn(recorder, options)
  await store.create({ text: 'T' }, {}, context)
  await store.update(id, { text: 'T' }, anyVersion, context)
  await store.delete(id, anyVersion, context)
  const lists = recorder.texts.flatMap((text) => / RETURNING (.*)$/.exec(text)?.[1] ?? [])
  t.equal(lists.length, 3)
  for (const [index, list] of lists.entries()) {
    const verb = ['INSERT', 'UPDATE', 'DELETE'][index]
    const expressions = list.split(', ')
    t.equal(expressions.length, Object.keys(types).length + 2)
    for (const expression of expressions) {
      // PostgreSQL refuses an index on an expression that is not immutable (42P17).
      const index = `CREATE INDEX ON posts (((${expression.replace(/ AS "\w+"$/, '')}) IS NULL))`
      await t.resolves(pool.query(index), `${verb}: ${expression}`)
    }
  }
})

t.test('dates and times are written as in RFC 3339, whatever DateStyle the app sets', async (t) => {
  const { pool: open } = await openDatabase()
  const admin = open()
  const columns = 'id bigserial PRIMARY KEY, version bigint NOT NULL DEFAULT 1, at timestamptz, day date, text text'
  await admin.query(`CREATE TABLE posts (${columns})`)
  for (const moment of [
    '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456Z', '2026-07-31T23:59:59.1Z', '1850-01-01T00:00:00Z',
    '0001-01-01T12:00:00Z', '0044-03-15T12:00:00Z BC', '12026-01-31T12:00:00Z', 'infinity', '-infinity', null
  ]) {
    const values = '$1::timestamptz, $1::timestamptz::date, \'2026-01-31 10:00:00+00\''
    await admin.query(`INSERT INTO posts (at, day, text) VALUES (${values})`, [moment])
  }
  const properties = {
    at: { type: ['string', 'null'], format: 'date-time' },
    day: { type: ['string', 'null'], format: 'date' },
    text: { type: 'string', format: 'date-time' }
  } as const
  for (const zone of ['Asia/Kolkata', 'America/New_York']) {
    for (const style of ['ISO', 'German', 'SQL, DMY']) {
      const pool = open({ options: `-c TimeZone=${zone} -c DateStyle=${style.replace(' ', '\\ ')}` })
      const store = storeOn(pool, { attributes: { type: 'object', properties } })
      await store.prepare()
      const rows = await readAll(store.list(every, context))
      const texts = 'to_jsonb(at) #>> \'{}\' AS at, to_jsonb(day) #>> \'{}\' AS day, text'
      const { rows: expected } = await pool.query(`SELECT ${texts} FROM posts ORDER BY id`)
      t.strictSame(rows.map(({ attributes }) => attributes), expected, `${zone}, ${style}`)
      await pool.end()
    }
  }
})

t.test('a connection that leaves the ISO DateStyle is not used again', async (t) => {
  const { pool: open } = await openDatabase()
  const pool = open({ max: 1 })
  await pool.query('CREATE TABLE posts (id bigserial PRIMARY KEY, version bigint NOT NULL, at timestamptz, day date)')
  const properties = { at: { type: 'string', format: 'date-time' }, day: { type: 'string', format: 'date' } } as const
  const store = storeOn(pool, { attributes: { type: 'object', properties } })
  for (const [attribute, value] of [['at', '2026-01-31T12:00:00+00:00'], ['day', '2026-01-31']] as const) {
    const { id } = await store.create({ [attribute]: value }, {}, context)
    const change = (): Promise<unknown> => pool.query('SET DateStyle TO German; SET TimeZone TO UTC')
    await change()
    t.equal(await codeOf(() => store.get(id, {}, context)), BUSY)
    t.ok(await store.get(id, {}, context))
    await change()
    const update = (): Promise<unknown> => store.update(id, { [attribute]: value }, anyVersion, context)
    t.equal(await codeOf(update), UNKNOWN, 'the row was written, but the answer cannot be read')
    t.equal((await store.get(id, {}, context))?.version, '2')
  }
})

t.test('stores send one command at a time, and a migration that fails halfway leaves nothing behind', async (t) => {
  const { pool } = await openDatabase()
  const texts: string[] = []
  // Citus refuses several commands in one text, as PostgreSQL does with the extended protocol.
  class StrictClient extends pg.Client {
    constructor (config?: pg.ClientConfig) {
      super(config)
      const send = this.query.bind(this) as (query: object) => Promise<pg.QueryResult>
      const query = async (query: PostgresQuery): Promise<pg.QueryResult> => {
        texts.push(query.text)
        return await send({ ...query, queryMode: 'extended' })
      }
      Object.assign(this, { query })
    }
  }
  const strict = pool({ max: 2, Client: StrictClient } as pg.PoolConfig)
  const open = (table: string, options: Partial<PostgresStoreOptions> = {}): PostgresStore =>
    storeOn(strict, { table, migrate: true, ...options })
  const children = open('children', {
    attributes: { type: 'object', properties: { by: { type: 'string' }, postId: { type: ['integer', 'null'] } } },
    unique: [['by']],
    references: { postId: { table: 'posts', onDelete: 'set null' } }
  })
  await open('posts').prepare()
  await children.prepare()
  await children.create({ by: 'Ann', postId: null }, {}, context)
  t.match(
    texts.join('\n'),
    /\nBEGIN\nCREATE TABLE .*\nCREATE INDEX .*\nCREATE OR REPLACE FUNCTION .*\nCREATE TRIGGER .*\nCOMMIT\n/
  )
  const plain = pool({ max: 1 })
  await plain.query(`DROP TABLE children; DROP FUNCTION "children_postId_count";
    CREATE FUNCTION "children_postId_count"() RETURNS integer LANGUAGE sql AS 'SELECT 1'`)
  await t.rejects(async () => { await children.prepare() }, { code: '42P13' }, 'the type of a function cannot change')
  const { rows } = await plain.query("SELECT to_regclass('children') AS found")
  t.strictSame(rows, [{ found: null }])
  t.equal(strict.idleCount, 1, 'the connection of the failed transaction is closed')
})

t.test('a table that may not be created gives an error that says so', async (t) => {
  const { url, pool: open } = await openDatabase()
  await open().query('CREATE ROLE reader LOGIN PASSWORD \'secret\'')
  const store = storeOn(open({ connectionString: url.replace('postgres:secret', 'reader:secret') }), { migrate: true })
  await t.rejects(store.prepare(), { message: 'permission denied for schema public' })
})

t.test('in a partitioned table, only a group with its key can be unique among rows that are not deleted', async (t) => {
  const pool = (await openDatabase()).pool()
  await pool.query(`
    CREATE TABLE notes (
      id uuid NOT NULL, version bigint NOT NULL DEFAULT 1, tenant text COLLATE "C" NOT NULL, title text COLLATE "C",
      gone text COLLATE "C", PRIMARY KEY (tenant, id)
    ) PARTITION BY HASH (tenant);
    CREATE TABLE notes_0 PARTITION OF notes FOR VALUES WITH (MODULUS 1, REMAINDER 0)`)
  const string = { type: 'string' } as const
  const properties = { tenant: string, title: string, gone: { type: ['string', 'null'] } } as const
  const open = (unique: string[]): PostgresStore => postgresStore({
    pool,
    table: 'notes',
    id: 'uuid',
    attributes: { type: 'object', required: ['tenant'], properties },
    unique: [unique],
    softDelete: 'gone',
    migrate: true
  }) as PostgresStore
  await t.rejects(async () => { await open(['title']).prepare() }, { message: /must include all partitioning columns/ })
  const store = open(['tenant', 'title'])
  t.strictSame(await store.prepare(), [])
  const row = { tenant: 'a', title: 'T' }
  const { id } = await store.create(row, {}, context)
  await t.rejects(store.create(row, {}, context), { code: 'FST_RESOURCES_DUPLICATE' })
  await store.update(id, { gone: 'now' }, anyVersion, context)
  await store.create(row, {}, context)
})
