import t from 'tap'
import { BY_ID } from '../../../../lib/index.js'
import { context, openEngines } from '../../../support/stores/sql-engines.js'

t.test('a batch of JSON has few rows, and a list that is abandoned or fails ends', async t => {
  for (const { name, store: makeStore } of await openEngines()) {
    const store = makeStore({ table: 'posts', migrate: true, attributes: { type: 'object', properties: { tags: { type: 'array' } } } })
    await store.migrate()
    for (let index = 0; index < 12; index++) await store.create({ tags: new Array(2500).fill('x'.repeat(100)) }, {}, context)
    const sizes: number[] = []
    for await (const batch of store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }, context)) sizes.push(batch.length)
    t.ok(Math.max(...sizes) < 12, name)
    t.equal(sizes.reduce((sum, size) => sum + size), 12)
    const controller = new AbortController()
    const list = store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }, { signal: controller.signal })
    const batches = list[Symbol.asyncIterator]()
    await batches.next()
    controller.abort()
    await t.rejects(async () => batches.next(), { name: 'AbortError' })
    t.same(await batches.next(), { done: true, value: undefined })
    t.same(await batches.return?.(), { done: true, value: undefined })
  }
})
