import type { MemoryStore } from '../../../lib/index.js'

/**
 * Returns a store whose rows a test can put back, so that one app serves many cases. Registering an app costs far more
 * than a request.
 */
export function resettableStore (make: () => MemoryStore): MemoryStore & { reset: () => void } {
  let inner = make()
  return {
    id: inner.id,
    capabilities: inner.capabilities,
    reset () { inner = make() },
    list: (...values) => inner.list(...values),
    get: (...values) => inner.get(...values),
    create: (...values) => inner.create(...values),
    update: (...values) => inner.update(...values),
    delete: (...values) => inner.delete(...values)
  }
}
