import type pg from 'pg'
import t from 'tap'
import { type Guard, type Store, type Row, type WriteOutcome } from '../../../lib/index.js'
import { postgresStore, type PostgresStore } from '../../../lib/sql/postgres/index.js'
import type { StoreRequirements, StoreContractOptions } from '../../../lib/contract/index.js'
import { LONG_LISTS, QUERIES, testContract } from '../../support/stores/contract/contract-tests.js'
import { keyedOptions, keyedStore } from '../../support/stores/contract/keyed-store.js'
import { startPostgres } from '../../support/stores/postgres.js'

const server = await startPostgres(t)
type Variant = readonly [
  isolation: string, id: 'integer' | 'uuid' | 'string', version: 'version' | 'xmin' | 'values', leftOut?: RegExp
]
const VARIANTS: readonly Variant[] = [
  // Tenants have UUIDs too.
  ['serializable', 'uuid', 'version', QUERIES],
  ['read committed', 'integer', 'xmin'],
  ['repeatable read', 'string', 'values', LONG_LISTS]
]
for (const [isolation, id, version, leftOut] of VARIANTS) {
  t.test(`${isolation}, ids ${id}, ${version}`, async (t) => {
    const connect = (): ReturnType<typeof server.pool> =>
      server.pool({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` })
    const [one, other] = [connect(), connect()]
    const tables = new Map<Store, string>()
    let count = 0
    const open = (pool: typeof one, table: string, needs: Parameters<StoreContractOptions['open']>[0]): Store => {
      const common = { pool, table, acquireTimeout: 60_000, statementTimeout: 60_000, migrate: true, version } as const
      const store = id === 'string'
        ? keyedStore(postgresStore({ ...common, ...keyedOptions(needs) }))
        : postgresStore({ ...common, ...needs, id })
      tables.set(store, table)
      return store
    }
    testContract(t, {
      id,
      versions: version === 'values' ? 'values' : 'writes',
      open: (needs) => open(one, `${id}_${version}_${++count}`, needs),
      another: (store, needs) => open(other, tables.get(store) as string, needs)
    }, leftOut)
  })
}

t.test('a table that is distributed by tenant fulfils the contract for one tenant', async (t) => {
  const [one, other] = [server.pool(), server.pool()]
  const tables = new Map<Store, string>()
  let count = 0
  const open = (pool: typeof one, table: string, needs: StoreRequirements): Store => {
    const unique = needs.unique.map((group) => ['organization', ...[group].flat()])
    const patience = { acquireTimeout: 60_000, statementTimeout: 60_000 }
    const store = ofTenant(postgresStore({ pool, ...optionsFor(needs), table, unique, ...patience }))
    tables.set(store, table)
    return store
  }
  testContract(t, {
    id: 'uuid',
    open: async (needs) => {
      const table = `tenants_${++count}`
      await makeDistributed(one, table, needs)
      return open(one, table, needs)
    },
    another: (store, needs) => open(other, tables.get(store) as string, needs)
    // The statements of its lists are those of any table.
  }, QUERIES)
})

function optionsFor ({ attributes }: StoreRequirements): {
  readonly attributes: StoreRequirements['attributes'], readonly id: 'uuid'
} {
  const properties = { ...attributes.properties, organization: { type: 'string' } }
  return { attributes: { ...attributes, properties }, id: 'uuid' }
}

/** Creates a partitioned table. It has the limits of a distributed one: each key contains the partition column. */
async function makeDistributed (pool: pg.Pool, table: string, needs: StoreRequirements): Promise<void> {
  const groups = [['id'], ...needs.unique].map((group) => ['organization', ...[group].flat()])
  const keys = groups.map((group) => group.map((name) => `"${name}"`).join())
  await postgresStore({ pool, table: 'tenant_columns', ...optionsFor(needs) }).migrate()
  await pool.query(`CREATE TABLE ${table} (
    LIKE tenant_columns INCLUDING DEFAULTS,
    PRIMARY KEY (${keys[0]}),
    ${keys.slice(1).map((key) => `UNIQUE (${key})`).join()}
  ) PARTITION BY HASH (organization)`)
  for (const part of [0, 1, 2]) {
    const values = `FOR VALUES WITH (MODULUS 3, REMAINDER ${part})`
    await pool.query(`CREATE TABLE ${table}_${part} PARTITION OF ${table} ${values}`)
  }
  // Adds a row of another tenant.
  await pool.query(`INSERT INTO ${table} (id, version, organization, title, email, tenant, code)
    SELECT gen_random_uuid(), 1, 'other ' || n % 2, 'T', 'email ' || n, 'T', 'code ' || n
    FROM generate_series(1, 20) n`)
}

/** Wraps the store as a resource with `scope: () => ({ organization: 'one' })` uses it. */
function ofTenant (store: PostgresStore): Store {
  const tenant = { organization: 'one' }
  const strip = (row: Row): Row => {
    const { organization, ...attributes } = row.attributes
    return { ...row, attributes }
  }
  const within = (guard: Guard): Guard => ({ ...guard, scope: { ...guard.scope, ...tenant } })
  const written = (outcome: WriteOutcome): WriteOutcome => outcome.ok
    ? { ok: true, row: strip(outcome.row) }
    : outcome.why === 'stale' ? { ok: false, why: 'stale', current: strip(outcome.current) } : outcome
  return {
    ...store,
    async * list (query, context) {
      const scope = { ...query.scope, ...tenant }
      for await (const rows of store.list({ ...query, scope }, context)) yield rows.map(strip)
    },
    count: (query, context) => store.count({ ...query, scope: { ...query.scope, ...tenant } }, context),
    async get (id, scope, context) {
      const row = await store.get(id, { ...scope, ...tenant }, context)
      return row === undefined ? undefined : strip(row)
    },
    async create (attributes, scope, context) {
      return strip(await store.create(attributes, { ...scope, ...tenant }, context))
    },
    async createMany (many, scope, context) {
      const rows = await (store as Required<PostgresStore>).createMany(many, { ...scope, ...tenant }, context)
      return rows.map(strip)
    },
    update: async (id, changes, guard, context) => written(await store.update(id, changes, within(guard), context)),
    delete: async (id, guard, context) => written(await store.delete(id, within(guard), context))
  }
}
