import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { sqliteStore, type Store } from '../../../lib/index.js'
import type { StoreContractOptions } from '../../../lib/stores/contract/index.js'
import { testContract } from '../../support/stores/contract-tests.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'
import { LONG } from '../../support/long.js'

for (const driver of await findDrivers()) {
  // The layers between store and driver are tested with both kinds of ids on one version of Node.js.
  for (const id of LONG ? ['integer', 'uuid'] as const : ['integer'] as const) {
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
      testContract(t, {
        id,
        // One kind of ids gets the default volume of the contract.
        ...(id === 'uuid' && { rows: 1_500, writes: 200 }),
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
