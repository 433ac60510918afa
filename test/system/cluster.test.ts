import type { FastifyInstance, InjectOptions } from 'fastify'
import pg from 'pg'
import root, { type Test } from 'tap'
import { type Store } from '../../lib/index.js'
import { postgresStore, type PostgresStoreOptions } from '../../lib/sql/postgres/index.js'
import { storeContract } from '../../lib/contract/index.js'
import { QUERIES } from '../support/stores/contract/contract-tests.js'
import { build } from '../support/helper.js'
import { type PostgresServer, startPostgres } from '../support/stores/postgres.js'
import { until } from '../support/program.js'

// A small distributed database: the rows of a table are spread by their ids over two data nodes (PARTITION BY HASH).
// The app is connected to a coordinator, which reaches the nodes by postgres_fdw. The tests kill the processes of a
// node but not
// its machine,
// so that the kernel keeps what the node has written even without fsync.
const start = (): Promise<PostgresServer> => startPostgres(root, ['fsync=off'])
const [coordinator, ...nodes] = await Promise.all([start(), start(), start()]) as [
  PostgresServer, PostgresServer, PostgresServer
]
const admin = coordinator.pool()
const nodePools = nodes.map((node) => node.pool())

await admin.query('CREATE EXTENSION postgres_fdw')
for (const [index, { port }] of nodes.entries()) {
  await admin.query(
    `CREATE SERVER node${index} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '${port}', dbname ` +
      '\'postgres\')'
  )
  await admin.query(`CREATE USER MAPPING FOR postgres SERVER node${index} OPTIONS (user 'postgres', password 'secret')`)
}

type Options = Omit<PostgresStoreOptions, 'pool' | 'id'>
let tables = 0

/** Creates a table with a part on each node. */
async function distribute (options: Omit<Options, 'table'>): Promise<string> {
  const table = `rows${++tables}`
  for (const pool of nodePools) await postgresStore({ ...options, pool, table, id: 'uuid' }).migrate()
  await postgresStore({ ...options, pool: admin, table: `${table}_model`, id: 'uuid' }).migrate()
  await admin.query(`CREATE TABLE ${table} (LIKE ${table}_model) PARTITION BY HASH (id)`)
  for (const index of nodes.keys()) {
    await admin.query(
      `CREATE FOREIGN TABLE ${table}_${index} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${nodes.length}, ` +
        `REMAINDER ${index}) SERVER node${index} OPTIONS (table_name '${table}')`
    )
  }
  return table
}

/**
 * Opens a store on a table of the coordinator. Such a table cannot have a primary key, so the check of the store is
 * skipped. The requests with keys have no table there.
 */
function open (pool: pg.Pool, options: Options): Store {
  const { prepare, requests, ...store } = postgresStore({ ...options, pool, id: 'uuid' })
  return store
}

root.test('a table that is spread over nodes fulfils the contract', async (t) => {
  const [one, other] = [coordinator.pool(), coordinator.pool()]
  // Tables are expensive here. All scenarios use one, which loses its rows before each.
  let table: string | undefined
  // A node refuses a statement because of concurrent ones (40001) more often than a single server.
  const settings = { acquireTimeout: 60_000, statementTimeout: 60_000, attempts: 100 }
  const scenarios = storeContract({
    rows: 1_000,
    writes: 30,
    tasks: 10,
    patienceMs: 60_000,
    id: 'uuid',
    // Each node can enforce uniqueness only among its own rows.
    unique: false,
    // The columns of decimals are still texts.
    decimals: false,
    async open ({ attributes }) {
      table ??= await distribute({ attributes })
      await admin.query(`TRUNCATE ${table}`)
      return open(one, { ...settings, table, attributes })
    },
    another: (_store, { attributes }) => open(other, { ...settings, table: table as string, attributes })
  })
  const reasons = [
    undefined, 'the option unique is false', 'the option decimals is false', 'the store keeps no requests'
  ]
  for (const { name, run } of scenarios) {
    if (!QUERIES.test(name) || /^(?:a long list|each row is on|a filter selects)/.test(name)) {
      t.ok(reasons.includes(await run()), name)
    }
  }
})

const attributes = {
  type: 'object', required: ['title'], properties: { title: { type: 'string' }, count: { type: 'integer' } }
} as const

/** A row that only this client writes. Its count is one of these. */
interface Known {
  readonly id: string
  readonly counts: Set<number>
}

/** A client that creates rows, increments them, and knows their possible states. */
class Client {
  readonly rows: Known[] = []
  /** The creates of unknown outcome. */
  readonly doubtful = new Set<string>()
  readonly statuses = new Map<number, number>()
  acknowledged = 0
  readonly #app: FastifyInstance
  readonly #name: string
  #made = 0

  constructor (app: FastifyInstance, name: string) {
    this.#app = app
    this.#name = name
  }

  /** The number of answers that refused a request or left its outcome open. */
  get failed (): number {
    return this.count(503) + this.count(504)
  }

  count (status: number): number {
    return this.statuses.get(status) ?? 0
  }

  async work (mayGoOn: () => boolean): Promise<void> {
    while (mayGoOn()) {
      await this.#create()
      const row = this.rows[Math.floor(Math.random() * this.rows.length)]
      if (row !== undefined) await this.#update(row)
    }
  }

  async #create (): Promise<void> {
    const title = `${this.#name} ${++this.#made}`
    const { status, note } = await this.#send({ method: 'POST', url: '/notes', payload: { note: { title, count: 0 } } })
    if (status === 201) this.rows.push({ id: note.id, counts: new Set([0]) })
    else if (status === 504) this.doubtful.add(title)
  }

  async #update ({ id, counts }: Known): Promise<void> {
    const count = Math.max(...counts) + 1
    const { status } = await this.#send({ method: 'PUT', url: '/notes', payload: { id, note: { count } } })
    if (status === 200) counts.clear()
    if (status !== 503) counts.add(count)
  }

  async #send (options: InjectOptions): Promise<{ readonly status: number, readonly note: { readonly id: string } }> {
    const response = await this.#app.inject(options)
    const { statusCode: status } = response
    this.statuses.set(status, this.count(status) + 1)
    if (status < 300) this.acknowledged++
    return { status, note: response.json().note }
  }
}

interface Note {
  readonly id: string
  readonly title: string
  readonly count: number
}

/** Returns the deviations from what the clients know. */
function check (clients: readonly Client[], notes: readonly Note[]): string[] {
  const found = new Map(notes.map((note) => [note.id, note]))
  const doubtful = new Set(clients.flatMap(({ doubtful }) => [...doubtful]))
  const faults: string[] = []
  for (const { id, counts } of clients.flatMap(({ rows }) => rows)) {
    const note = found.get(id)
    if (note === undefined || !counts.has(note.count)) {
      faults.push(`${id} has the count ${note?.count} and not ${[...counts].join(' or ')}`)
    }
    found.delete(id)
  }
  for (const { title } of found.values()) if (!doubtful.has(title)) faults.push(`"${title}" is there, but was refused`)
  return faults
}

const sum = (clients: readonly Client[], of: (client: Client) => number): number =>
  clients.reduce((sum, client) => sum + of(client), 0)

root.test('a crashed node makes only its own rows unavailable, and no acknowledged write is lost', async (t) => {
  const [, dead] = nodes as [PostgresServer, PostgresServer]
  const table = await distribute({ attributes })
  const serve = (): Promise<FastifyInstance> => build(t, {
    name: 'notes', store: open(coordinator.pool(), { table, attributes }), formats: ['json'], writes: 'both'
  })
  const app = await serve()
  const clients = Array.from({ length: 6 }, (_, index) => new Client(app, `client ${index}`))
  const idsAt = async (index: number): Promise<string[]> => (await (nodePools[index] as pg.Pool).query<{ id: string }>(
    `SELECT id FROM ${table} ORDER BY id`
  )).rows.map(({ id }) =>
    id)
  const list = async (): Promise<Note[]> => (await app.inject('/notes')).json().notes as Note[]

  for (let cycle = 0; cycle < 1; cycle++) {
    let mayGoOn = true
    const before = sum(clients, ({ acknowledged }) => acknowledged)
    const refusedBefore = new Map(clients.map((client) => [client, client.failed]))
    const work = Promise.all(clients.map((client) => client.work(() => mayGoOn)))
    const comes = (what: string, holds: () => boolean | Promise<boolean>): Promise<unknown> =>
      Promise.race([work.then(() => { throw new Error('the clients have stopped') }), until(what, holds)])
    await comes('writes are acknowledged', () => sum(clients, ({ acknowledged }) => acknowledged) >= before + 30)
    const lost = (await idsAt(1))[0] as string
    const kept = (await idsAt(0))[0] as string
    await dead.crash('SIGKILL')
    await comes('each client was refused once', () =>
      clients.every((client) => client.failed > (refusedBefore.get(client) ?? 0)))
    const during = sum(clients, ({ acknowledged }) => acknowledged)
    await comes('clients still write to the other node', () =>
      sum(clients, ({ acknowledged }) => acknowledged) >= during + 15)
    // New connections are used, since old ones may take a moment to end.
    await outage(t, await serve(), { kept, lost })
    mayGoOn = false
    await work
    await dead.start()
    await until('the rows of the node are back', async () => (await app.inject(`/notes/${lost}`)).statusCode === 200)
    t.strictSame(
      check(clients, await list()), [],
      `after ${cycle + 1} crashes every acknowledged write is there, and no refused one`
    )
    t.equal(
      (await app.inject({ method: 'PUT', url: `/notes/${lost}`, payload: { note: { title: 'back' } } })).statusCode, 200
    )
  }
  const statuses = [...new Set(clients.flatMap(({ statuses }) => [...statuses.keys()]))]
  t.strictSame(statuses.filter((status) =>
    ![200, 201, 503, 504].includes(
      status
    )), [], 'every other write was refused, or its outcome was reported as unknown')
})

/** Checks the answers while one of the nodes is down. */
async function outage (t: Test, app: FastifyInstance, {
  kept, lost
}: { readonly kept: string, readonly lost: string }): Promise<void> {
  const statusOf = async (options: InjectOptions): Promise<number> => (await app.inject(options)).statusCode
  const noted = { note: { title: 'noted' } }
  t.equal(await statusOf({ url: `/notes/${kept}` }), 200, 'a row on a living node can be read')
  t.equal(
    await statusOf({ method: 'PUT', url: `/notes/${kept}`, payload: noted }), 200,
    'a row on a living node can be written'
  )
  t.equal(await statusOf({ url: `/notes/${lost}` }), 503, 'a row on the other node is unavailable')
  for (const method of ['PUT', 'DELETE'] as const) {
    t.ok(
      [503, 504].includes(
        await statusOf({ method, url: `/notes/${lost}`, ...(method === 'PUT' && { payload: noted }) })
      ),
      `${method} of it is refused, or has an unknown outcome`
    )
  }
  t.equal(await statusOf({ url: '/notes' }), 503, 'a list needs all nodes')
  t.equal(await statusOf({ url: '/notes?limit=1' }), 503)
}
