import type { MemoryStore, Store } from '../../../lib/index.js'

/**
 * Returns a store whose rows a test can put back, so that one app serves many cases. Registering an app costs far more
 * than a request. `reset` can also be given another store, which then answers all calls.
 */
export function resettableStore<S extends Store = MemoryStore> (make: () => S): S & { reset: (store?: S) => void } {
  let inner: Store = make()
  const store: Store & { reset: (store?: S) => void } = {
    ...(inner.id !== undefined && { id: inner.id }),
    ...(inner.capabilities !== undefined && { capabilities: inner.capabilities }),
    reset (store = make()) { inner = store },
    list: (...values) => inner.list(...values),
    ...(inner.count !== undefined && { count: (...values) => (inner as Required<Store>).count(...values) }),
    get: (...values) => inner.get(...values),
    create: (...values) => inner.create(...values),
    update: (...values) => inner.update(...values),
    delete: (...values) => inner.delete(...values)
  }
  // Each method answers as the method of `S` does.
  return store as S & { reset: (store?: S) => void }
}
