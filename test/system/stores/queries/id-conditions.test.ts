import t from 'tap'
import { type Id, memoryStore, type Row, type Store } from '../../../../lib/index.js'
import { BY_ID } from '../../../../lib/stores/order.js'
import type { Condition } from '../../../../lib/stores/store.js'
import { openEngines } from '../../../support/stores/sql-engines.js'

const attributes = { type: 'object', properties: { title: { type: 'string' }, shelf: { type: 'integer' } } } as const
const context = { signal: new AbortController().signal }

async function find (store: Store, ...filter: readonly Condition[]): Promise<Id[]> {
  const rows: Row[] = []
  for await (const batch of store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter, search: undefined }, context)) rows.push(...batch)
  return rows.map(({ id }) => id)
}

for (const id of ['integer', 'uuid'] as const) {
  t.test(`each store finds rows by conditions on their ${id} ids`, async (t) => {
    const engines = await openEngines()
    const stores: ReadonlyArray<readonly [string, Store]> = [
      ['memory', memoryStore({ id })],
      ...engines.map((engine) => [engine.name, engine.store({ table: `shelves_${id}`, id, attributes, migrate: true })] as const)
    ]
    for (const [name, store] of stores) {
      await store.prepare?.()
      const ids: Id[] = []
      for (let index = 0; index < 6; index++) ids.push((await store.create({ title: 't', shelf: index % 2 }, {}, context)).id)
      const [first, second, third, , , last] = ids as [Id, Id, Id, Id, Id, Id]
      const cases: ReadonlyArray<readonly [readonly Condition[], readonly Id[]]> = [
        [[{ attribute: 'id', operator: 'in', value: [last, second, second] }], [second, last]],
        [[{ attribute: 'id', operator: 'in', value: ids }], ids],
        [[{ attribute: 'id', operator: 'in', value: [first, 'x', 1.5, true, id === 'uuid' ? 1 : String(second)] }], [first]],
        [[{ attribute: 'id', operator: 'in', value: ['x'] }], []],
        [[{ attribute: 'id', operator: 'eq', value: third }], [third]],
        [[{ attribute: 'id', operator: 'not', value: third }], ids.filter((other) => other !== third)],
        [[{ attribute: 'id', operator: 'gt', value: third }], ids.slice(3)],
        [[{ attribute: 'id', operator: 'lte', value: third }], ids.slice(0, 3)],
        [[{ attribute: 'id', operator: 'null', value: true }], []],
        [[{ attribute: 'id', operator: 'null', value: false }], ids],
        [[{ attribute: 'id', operator: 'in', value: [first, second] }, { attribute: 'shelf', operator: 'eq', value: 1 }], [second]]
      ]
      for (const [filter, found] of cases) t.strictSame(await find(store, ...filter), found, `${name} ${JSON.stringify(filter)}`)
    }
  })
}
