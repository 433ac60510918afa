import t from 'tap'
import { memoryStores } from '../../lib/index.js'
import { testStores } from '../support/stores/stores-tests.js'

testStores(t, async () => memoryStores())

const request = { table: 'rows', attributes: undefined, id: 'integer', unique: [], references: {} } as const

t.test('a table is opened once', async (t) => {
  const stores = memoryStores()
  t.equal(stores.open(request), stores.open({ ...request }))
  t.not(stores.open(request), memoryStores().open(request))
  t.throws(() => stores.open({ ...request, unique: ['title'] }), { code: 'FST_RESOURCES_INVALID_OPTION', message: 'Option "stores" has the table "rows" already, of another registration whose type of ids, "unique" and "onDelete" differ.' })
  t.throws(() => stores.open({ ...request, table: 'others', references: { post: { table: 'posts' } } }), { code: 'FST_RESOURCES_INVALID_OPTION', message: 'Option "stores" must open the table "posts" first.' })
})

t.test('unique decimals are compared as numbers', async (t) => {
  const price = { type: ['string', 'null'], format: 'decimal' } as const
  const attributes = { type: 'object', properties: { price, name: { type: 'string' } } } as const
  const prices = memoryStores().open({ ...request, attributes, unique: ['price', ['name', 'price']] })
  const context = { signal: new AbortController().signal }
  prices.create({ price: '1.10' }, {}, context)
  t.throws(() => prices.create({ price: '1.1' }, {}, context), { code: 'FST_RESOURCES_DUPLICATE' })
  t.throws(() => prices.create({ price: '01.100' }, {}, context), { code: 'FST_RESOURCES_DUPLICATE' })
  prices.create({ price: '1.11' }, {}, context)
  prices.create({ price: null }, {}, context)
})

t.test('rows that refer to each other in a circle are deleted together', async (t) => {
  const any = { version: undefined, scope: {} }
  const stores = memoryStores()
  const rows = stores.open({ ...request, references: { next: { table: 'rows', onDelete: 'cascade' } } })
  const freed = stores.open({ ...request, table: 'freed', references: { row: { table: 'rows', onDelete: 'set null' }, other: { table: 'rows', onDelete: 'cascade' } } })
  const context = { signal: new AbortController().signal }
  for (const next of [undefined, 1, 2]) rows.create({ next }, {}, context)
  rows.update(1, { next: 3 }, any, context)
  // One of these is deleted by another foreign key.
  freed.create({ row: 2 }, {}, context)
  freed.create({ row: 2, other: 3 }, {}, context)
  t.match(rows.delete(2, any, context), { ok: true })
  for (const id of [1, 2, 3]) t.equal(rows.get(id, {}, context), undefined)
  t.match(freed.get(1, {}, context), { version: '2', attributes: { row: null } })
  t.equal(freed.get(2, {}, context), undefined)
})
