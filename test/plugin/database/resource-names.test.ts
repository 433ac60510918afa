import t from 'tap'
import { nameResources, splitName } from '../../../lib/database/resource-names.js'
import { describeTable } from '../../support/stores/databases/table-description.js'

const named = (names: readonly string[], schemas: readonly string[] = []) => {
  const tables = names.map((name, index) => describeTable({
    name, ...(schemas[index] !== undefined && { schema: schemas[index] })
  }))
  return [...nameResources(tables, () => undefined).values()]
}

type Case = readonly [
  table: string, name: string, singular: string, path: string, messages?: readonly [string, string]
]
const cases: readonly Case[] =
  [
    ['InvoiceLine', 'invoiceLines', 'invoiceLine', 'invoice-lines'],
    ['invoice_line', 'invoiceLines', 'invoiceLine', 'invoice-lines'],
    ['INVOICE_LINES', 'invoiceLines', 'invoiceLine', 'invoice-lines'],
    ['invoice-line', 'invoiceLines', 'invoiceLine', 'invoice-lines'],
    ['people', 'people', 'person', 'people'],
    ['news', 'news', 'news', 'news'],
    ['address2', 'address2', 'address2', 'address2'],
    ['Address2Line', 'address2Lines', 'address2Line', 'address2-lines', ['Address2 lines', 'address2 line']],
    ['URLMap', 'urlMaps', 'urlMap', 'url-maps', ['URL maps', 'URL map']],
    ['homeURLs', 'homeUrls', 'homeUrl', 'home-urls', ['Home URLs', 'home URL']],
    ['url', 'urlRows', 'urlRow', 'urls', ['Urls', 'url']],
    ['id', 'idRows', 'idRow', 'ids', ['Ids', 'id']],
    ['2020_sales', '_2020Sales', '_2020Sale', '2020-sales', ['2020 sales', '2020 sale']],
    ['weird name!"; drop', 'weirdNameDrops', 'weirdNameDrop', 'weird-name-drops'],
    ['Café', 'cafe', 'cafe', 'café', ['Café', 'café']],
    ['Øre_Maß', 'oereMass', 'oereMass', 'øre-maß', ['Øre maß', 'øre maß']],
    ['Товар', 'u442u43eu432u430u440', 'u442u43eu432u430u440', 'товар', ['Товар', 'товар']],
    ['🦄', 'u1f984', 'u1f984', 'u1f984'],
    ['', 'tables', 'table', 'tables'],
    ['__proto__', 'protos', 'proto', 'protos']
  ]

t.test('a resource has its name from its table', async (t) => {
  for (const [table, name, singular, path, messages] of cases) {
    const expected = {
      name, singular, path, ...(messages && { messages: { plural: messages[0], singular: messages[1] } })
    }
    t.strictSame(named([table]), [expected], table)
  }
})

t.test('no two tables have the same name', async (t) => {
  t.strictSame(named(['User', 'users', 'user']).map(({ name }) => name), ['users', 'users2', 'users3'])
  t.strictSame(
    named(['users', 'users', 'Users'], ['public', 'sales', 'sales']).map(({ name, path }) => `${name} ${path}`),
    ['users users', 'salesUsers sales-users', 'users2 users-2']
  )
  t.match(named(['users', 'Users'])[1], { singular: 'user2', messages: { plural: 'Users 2', singular: 'user 2' } })
})

t.test('the app names resources first', async (t) => {
  const tables = ['users', 'T_USR', 'T_ORD'].map((name) => describeTable({ name }))
  const names = nameResources(tables, ({ name }) => ({ T_USR: 'users', T_ORD: 'webOrders' })[name])
  t.strictSame([...names].map(([{ name }, made]) => `${name} ${made.name} ${made.singular} ${made.path}`).sort(), [
    'T_ORD webOrders webOrder web-orders',
    'T_USR users user users',
    'users users2 user2 users-2'
  ])
  t.throws(
    () => nameResources(tables, () => 'all'),
    {
      code: 'FST_RESOURCES_INVALID_OPTION',
      message: 'Option "nameOf" must not give the name "all" to both "users" and "T_USR".'
    }
  )
  t.throws(
    () => nameResources(tables, () => 5 as never),
    { message: 'Option "nameOf" must return a name or undefined, not 5.' }
  )
})

t.test('a name is split into words', async (t) => {
  t.strictSame(splitName('HTTPRequest_id2'), ['HTTP', 'request', 'id2'])
  t.strictSame(splitName('FIRST_NAME', false), ['FIRST', 'NAME'])
  t.strictSame(splitName('FIRST_NAME'), ['first', 'name'])
})
