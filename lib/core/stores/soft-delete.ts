import type { Row, Scope } from '../resource/row.js'
import { decorateStore, writeFound } from './decorate.js'
import type { Condition, Guard, Store } from './store.js'

/** Returns a store in which a deletion sets an attribute to its time, and the row stays. */
export function keepDeleted (store: Store, attribute: string): Store {
  return decorateStore(store, {
    async delete (id, guard, context) {
      const live = { ...guard, scope: { ...guard.scope, [attribute]: null } }
      return await writeFound(store, { id, guard: live, context }, async (row, { version }) => {
        const { [attribute]: _, ...scope } = guard.scope
        const time = new Date().toISOString()
        const outcome = await store.update(id, { [attribute]: time }, { version, scope }, context)
        return outcome.ok ? { ok: true, row } : outcome
      })
    }
  })
}

/** Returns a store that has only the rows which were deleted in that way. It deletes them for good. */
export function onlyDeleted (store: Store, attribute: string): Store {
  const isDeleted: Condition = { attribute, operator: 'null', value: false }
  const isFound = ({ attributes }: Row): boolean => attributes[attribute] != null
  // No row has this scope, because a time is never false.
  const noneOf = ({ scope }: Guard): Scope => ({ ...scope, [attribute]: false })
  return decorateStore(store, {
    get: async (id, scope, context) => {
      const row = await store.get(id, scope, context)
      return row !== undefined && isFound(row) ? row : undefined
    },
    list: (query, context) => store.list({ ...query, filter: [...query.filter, isDeleted] }, context),
    count: (query, context) =>
      (store as Required<Store>).count({ ...query, filter: [...query.filter, isDeleted] }, context),
    update: async (id, changes, guard, context) =>
      await writeFound(store, { id, guard, context, isFound, others: noneOf(guard) },
        (_row, seen) => store.update(id, changes, seen, context)),
    delete: async (id, guard, context) =>
      await writeFound(store, { id, guard, context, isFound, others: noneOf(guard) },
        (_row, seen) => store.delete(id, seen, context))
  })
}
