import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { type Store } from '../../../lib/index.js'
import { sqliteStore } from '../../../lib/sql/sqlite/index.js'
import type { StoreContractOptions } from '../../../lib/contract/index.js'
import { LONG_LISTS, QUERIES, testContract } from '../../support/stores/contract/contract-tests.js'
import { keyedOptions, keyedStore } from '../../support/stores/contract/keyed-store.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

type Variant = 'ids integer' | 'ids uuid' | 'version of values' | 'key of two attributes'
// The layers between store and driver are tested with both kinds of ids on one version of Node.js.
const VARIANTS: readonly Variant[] = ['ids integer', 'ids uuid', 'version of values', 'key of two attributes']

/** The ids of one number and of two attributes are put in order in different ways. */
const LEFT_OUT: Readonly<Partial<Record<Variant, RegExp>>> = { 'ids uuid': LONG_LISTS, 'version of values': QUERIES }

// The last driver is the one that the version of Node.js brings, if it has one. libsql is the same on all versions.
for (const driver of (await findDrivers()).slice(-1)) {
  for (const variant of VARIANTS) {
    t.test(`SQLite by ${driver.name}, ${variant}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'resources-contract-'))
      t.teardown(() => { rmSync(folder, { recursive: true }) })
      const opened = new Map<Store, { path: string, database: ReturnType<typeof driver.open> }>()
      let files = 0
      const openFile = (path: string, needs: Parameters<StoreContractOptions['open']>[0]): Store => {
        const database = driver.open(path)
        const common = { database, connect: () => driver.open(path), table: 'rows', migrate: true } as const
        const store: Store = variant === 'key of two attributes'
          ? keyedStore(sqliteStore({ ...common, ...keyedOptions(needs) }))
          : sqliteStore({
            ...common,
            ...needs,
            id: variant === 'ids uuid' ? 'uuid' : 'integer',
            ...(variant === 'version of values' && { version: 'values' })
          })
        opened.set(store, { path, database })
        return store
      }
      testContract(t, {
        id: variant === 'ids uuid' ? 'uuid' : variant === 'key of two attributes' ? 'string' : 'integer',
        versions: variant === 'version of values' ? 'values' : 'writes',
        // SQLite keeps decimals as doubles, and refuses those with more digits.
        decimals: false,
        open: (needs) => openFile(join(folder, `${++files}.sqlite`), needs),
        another: (store, needs) => openFile(opened.get(store)?.path as string, needs),
        async close (store) {
          await store.close?.()
          opened.get(store)?.database.close()
          opened.delete(store)
        }
      }, LEFT_OUT[variant])
    })
  }
}
