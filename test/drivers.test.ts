import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { postgresStore, sqliteStore, type Store } from '../lib/index.js'
import { storeContract, type StoreContractOptions } from '../lib/store-contract/index.js'
import { BRIEF } from './helper.js'
import { startPostgres } from './postgres-server.js'
import { findDrivers } from './sqlite-drivers.js'

/** Runs every scenario, none of which may find that it is none for this store. */
function keepsTo (t: Test, options: StoreContractOptions): void {
  for (const { name, run } of storeContract({ ...options, ...(BRIEF && { rows: 1_500, writes: 200 }) })) t.test(name, async (t) => { t.equal(await run(), undefined) })
}

for (const driver of await findDrivers()) {
  // What is in between is tested with both on one version of Node.js.
  for (const id of BRIEF ? ['integer'] as const : ['integer', 'uuid'] as const) {
    t.test(`SQLite by ${driver.name}, ids ${id}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'resources-contract-'))
      t.teardown(() => { rmSync(folder, { recursive: true }) })
      const opened = new Map<Store, { path: string, database: ReturnType<typeof driver.open> }>()
      let files = 0
      const openFile = (path: string, needs: Parameters<StoreContractOptions['open']>[0]): Store => {
        const database = driver.open(path)
        const store = sqliteStore({ database, table: 'rows', migrate: true, ...needs, id })
        opened.set(store, { path, database })
        return store
      }
      keepsTo(t, {
        id,
        open: (needs) => openFile(join(folder, `${++files}.sqlite`), needs),
        another: (store, needs) => openFile(opened.get(store)?.path as string, needs),
        close (store) {
          opened.get(store)?.database.close()
          opened.delete(store)
        }
      })
    })
  }
}

t.test('PostgreSQL', { skip: process.env.BETTER_SQLITE3 === undefined ? false : 'only better-sqlite3 is asked for' }, async (t) => {
  const server = await startPostgres(t, ['fsync=off'])
  for (const [isolation, id] of BRIEF ? [['serializable', 'uuid']] as const : [['read committed', 'integer'], ['serializable', 'uuid']] as const) {
    t.test(`${isolation}, ids ${id}`, async (t) => {
      const connect = (): ReturnType<typeof server.pool> => server.pool({ options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` })
      const [one, other] = [connect(), connect()]
      const tables = new Map<Store, string>()
      let count = 0
      const open = (pool: typeof one, table: string, needs: Parameters<StoreContractOptions['open']>[0]): Store => {
        const store = postgresStore({ pool, table, migrate: true, ...needs, id })
        tables.set(store, table)
        return store
      }
      keepsTo(t, {
        id,
        open: (needs) => open(one, `${id}_${++count}`, needs),
        another: (store, needs) => open(other, tables.get(store) as string, needs)
      })
    })
  }
})
