import t from 'tap'
import { postgresStore, type Store } from '../lib/index.js'
import type { StoreContractOptions } from '../lib/store-contract/index.js'
import { BRIEF } from './helper.js'
import { testContract } from './contract-tests.js'
import { startPostgres } from './postgres-server.js'

const server = await startPostgres(t, ['fsync=off'])
for (const [isolation, id] of BRIEF ? [['serializable', 'uuid']] as const : [['read committed', 'integer'], ['serializable', 'uuid']] as const) {
  t.test(`${isolation}, ids ${id}`, async (t) => {
    const connect = (): ReturnType<typeof server.pool> => server.pool({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` })
    const [one, other] = [connect(), connect()]
    const tables = new Map<Store, string>()
    let count = 0
    const open = (pool: typeof one, table: string, needs: Parameters<StoreContractOptions['open']>[0]): Store => {
      const store = postgresStore({ pool, table, acquireTimeout: 60_000, statementTimeout: 60_000, migrate: true, ...needs, id })
      tables.set(store, table)
      return store
    }
    testContract(t, {
      id,
      open: (needs) => open(one, `${id}_${++count}`, needs),
      another: (store, needs) => open(other, tables.get(store) as string, needs)
    })
  })
}
