import { decorateStore, writeFound } from '../stores/decorate.js'
import type { Store } from '../stores/store.js'
import type { Rules } from './rules.js'

/**
 * Returns a store that refuses rows which break the rules. An update reads its row, checks what becomes of it, and
 * writes only if the row still has the version that was checked.
 */
export function withRules (store: Store, rules: Rules): Store {
  return decorateStore(store, {
    async create (attributes, scope, context) {
      rules.verify({ ...attributes, ...scope }, undefined)
      return await store.create(attributes, scope, context)
    },
    async createMany (rows, scope, context) {
      for (const row of rows) rules.verify({ ...row, ...scope }, undefined)
      return await (store as Required<Store>).createMany(rows, scope, context)
    },
    async update (id, changes, guard, context) {
      if (!rules.concern(changes)) return await store.update(id, changes, guard, context)
      return await writeFound(store, { id, guard, context }, (row, seen) => {
        rules.verify({ ...row.attributes, ...changes }, row.attributes)
        return store.update(id, changes, seen, context)
      })
    }
  })
}
