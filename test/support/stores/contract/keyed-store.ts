import { v7 as uuid } from 'uuid'
import type { Attributes, Context, Row, Scope, Store, WriteOutcome } from '../../../../lib/index.js'
import type { SqlStore, SqlStoreOptions } from '../../../../lib/sql/sqlite/index.js'
import type { StoreRequirements } from '../../../../lib/contract/index.js'

/** Returns options for a table whose key has two attributes more than the rows of the contract. */
export function keyedOptions ({
  attributes, unique
}: StoreRequirements): Pick<SqlStoreOptions, 'attributes' | 'unique' | 'key'> {
  const properties = {
    ...attributes.properties, organization: { type: 'string' }, number: { type: 'string', format: 'uuid' }
  }
  return { attributes: { ...attributes, properties }, unique, key: ['organization', 'number'] }
}

/**
 * Wraps a store of `keyedOptions` for the contract, whose creates give no ids: it gives each new row a key, and takes
 * the key out of the attributes of rows. What clients choose as keys is not tested.
 */
export function keyedStore (store: SqlStore): Store {
  const strip = (row: Row): Row => {
    const { organization, number, ...attributes } = row.attributes
    return { ...row, attributes }
  }
  const written = (outcome: WriteOutcome): WriteOutcome => outcome.ok
    ? { ok: true, row: strip(outcome.row) }
    : outcome.why === 'stale' ? { ok: false, why: 'stale', current: strip(outcome.current) } : outcome
  const identify = (attributes: Attributes): Attributes =>
    ({ ...attributes, organization: 'a,%', number: uuid() })
  const { createMany } = store
  return {
    ...store,
    async * list (query, context) {
      for await (const rows of store.list(query, context)) yield rows.map(strip)
    },
    async get (id, scope, context) {
      const row = await store.get(id, scope, context)
      return row === undefined ? undefined : strip(row)
    },
    create: async (attributes: Attributes, scope, context) =>
      strip(await store.create(identify(attributes), scope, context)),
    ...(createMany && {
      createMany: async (many: readonly Attributes[], scope: Scope, context: Context) =>
        (await createMany(many.map(identify), scope, context)).map(strip)
    }),
    update: async (id, changes, guard, context) => written(await store.update(id, changes, guard, context)),
    delete: async (id, guard, context) => written(await store.delete(id, guard, context))
  }
}
