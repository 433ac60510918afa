import t from 'tap'
import { BY_ID, type SqlStore, type Row } from '../../../../lib/index.js'
import { context, openEngines } from '../../../support/stores/sql-engines.js'

const byTitle = [{ by: 'title', descending: false }, { by: 'id', descending: false }]
const large = (letter: string): string => letter.repeat(200_000)

/** Changes of a large row between the reading of its batch and the reading of its value. */
const meanwhile: ReadonlyArray<readonly [what: string, act: (store: SqlStore) => Promise<unknown>, titles: readonly string[]]> = [
  ['nothing', async () => {}, ['a', 'b', 'c', 'd']],
  ['it is deleted', async (store) => store.delete(2, { version: undefined, scope: {} }, context), ['a', 'c', 'd']],
  ['it changes', async (store) => store.update(2, { body: 'short' }, { version: undefined, scope: {} }, context), ['a', 'b', 'c', 'd']],
  ['it moves to the end', async (store) => store.update(2, { title: 'z' }, { version: undefined, scope: {} }, context), ['a', 'c', 'd', 'z']],
  ['it moves to the beginning', async (store) => store.update(2, { title: '0' }, { version: undefined, scope: {} }, context), ['a', 'c', 'd']]
]

t.test('a list shows a large row once, whatever happens to it meanwhile', async t => {
  for (const [what, act, titles] of meanwhile) {
    for (const { name, store: makeStore } of await openEngines()) {
      const store = makeStore({ table: 'posts', migrate: true, attributes: { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } } })
      await store.migrate()
      for (const title of ['a', 'b', 'c', 'd']) await store.create({ title, body: title === 'a' ? 'short' : large(title) }, {}, context)
      const seen: Row[] = []
      for await (const batch of store.list({ order: byTitle, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }, context)) {
        if (seen.length === 0) await act(store)
        seen.push(...batch)
      }
      t.strictSame(seen.map(({ attributes }) => attributes.title), titles, `${name}: ${what}`)
      t.ok(seen.every(({ attributes: { title, body } }) => body === 'short' || body === large(title === 'z' ? 'b' : String(title))), 'whole')
    }
  }
})

t.test('a batch of JSON is decoded in portions, and a list that is abandoned or fails ends', async t => {
  for (const { name, store: makeStore } of await openEngines()) {
    const store = makeStore({ table: 'posts', migrate: true, attributes: { type: 'object', properties: { tags: { type: 'array' } } } })
    await store.migrate()
    for (let index = 0; index < 12; index++) await store.create({ tags: new Array(2500).fill({}) }, {}, context)
    const sizes: number[] = []
    for await (const batch of store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }, context)) sizes.push(batch.length)
    t.ok(Math.max(...sizes) < 12, name)
    t.equal(sizes.reduce((sum, size) => sum + size), 12)
    const controller = new AbortController()
    const list = store.list({ order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }, { signal: controller.signal })
    const batches = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]()
    await batches.next()
    controller.abort()
    await t.rejects(async () => batches.next(), { name: 'AbortError' })
    if (name === 'postgresql') t.same(await batches.next(), { done: true, value: undefined })
    t.same(await batches.return?.(), { done: true, value: undefined })
  }
})
