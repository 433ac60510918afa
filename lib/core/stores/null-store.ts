import type { Store } from './store.js'

/** The store of a resource whose actions are all custom. It has no rows and accepts none. */
export const noStore: Store = Object.freeze({
  list: () => [],
  get: () => undefined,
  create: refuse,
  update: () => ({ ok: false as const, why: 'missing' as const }),
  delete: () => ({ ok: false as const, why: 'missing' as const })
})

function refuse (): never {
  throw new TypeError('this resource has no store: give it one by the option "store"')
}
