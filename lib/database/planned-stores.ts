import type { Store } from '../core/stores/store.js'

/** The key of the set on the global object, because the app of a command may have a copy of this package of its own. */
const KEY: unique symbol = Symbol.for('fastify-resources.planned-stores')

type Global = typeof globalThis & { [KEY]?: Set<Store> }

/** Returns the set that gets the stores in place of their preparation, or `undefined` if stores are prepared. */
export function plannedStores (): Set<Store> | undefined {
  return (globalThis as Global)[KEY]
}

/** Runs a function during which registration prepares no store, so that no table changes, and collects the stores. */
export async function planStores<R> (run: (stores: ReadonlySet<Store>) => Promise<R>): Promise<R> {
  const stores = new Set<Store>()
  const all: Global = globalThis
  all[KEY] = stores
  try {
    return await run(stores)
  } finally {
    delete all[KEY]
  }
}
