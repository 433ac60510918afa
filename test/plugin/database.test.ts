import t from 'tap'
import { CommandError, HELP, parseSettings } from '../../lib/database/command/settings.js'
import { messageOf } from '../../lib/database/command/source.js'
import { nameResources, splitName } from '../../lib/database/resource-names.js'
import { addTitles, findActions, findReferences } from '../../lib/database/resource-options.js'
import type { AttributesSchema } from '../../lib/index.js'
import { describeTable } from '../support/stores/databases/table-description.js'

const named = (names: readonly string[], schemas: readonly string[] = []) => {
  const tables = names.map((name, index) =>
    describeTable({ name, ...(schemas[index] !== undefined && { schema: schemas[index] }) }))
  return [...nameResources(tables, () => undefined).values()]
}

type Case = readonly [
  table: string, name: string, singular: string, path: string, heading?: string, one?: string, many?: string
]

const cases: readonly Case[] =
  [
    ['InvoiceLine', 'invoiceLines', 'invoiceLine', 'invoice-lines', 'Invoice line', 'invoice line'],
    ['invoice_line', 'invoiceLines', 'invoiceLine', 'invoice-lines', 'Invoice line', 'invoice line'],
    ['OrderDetails', 'orderDetails', 'orderDetail', 'order-details'],
    ['order_details', 'orderDetails', 'orderDetail', 'order-details'],
    ['Order Details', 'orderDetails', 'orderDetail', 'order-details', 'Order Details', 'order detail', 'Order details'],
    ['ORDER DETAILS', 'orderDetails', 'orderDetail', 'order-details'],
    ['Album', 'albums', 'album', 'albums', 'Album', 'album'],
    ['Product Sales for 1997', 'productSalesFor1997', 'productSalesFor1997', 'product-sales-for-1997',
      'Product Sales for 1997', ''],
    ['INVOICE_LINES', 'invoiceLines', 'invoiceLine', 'invoice-lines'],
    ['invoice-line', 'invoiceLines', 'invoiceLine', 'invoice-lines', 'Invoice line', 'invoice line'],
    ['people', 'people', 'person', 'people'],
    ['news', 'news', 'news', 'news', 'News', '', 'News'],
    ['address2', 'address2', 'address2', 'address2', 'Address2', ''],
    ['Address2Line', 'address2Lines', 'address2Line', 'address2-lines', 'Address2 line', 'address2 line'],
    ['URLMap', 'urlMaps', 'urlMap', 'url-maps', 'URL map', 'URL map'],
    ['homeURLs', 'homeUrls', 'homeUrl', 'home-urls', 'Home URLs', 'home URL', 'Home URLs'],
    ['url', 'urlRows', 'urlRow', 'urls', 'Url', 'url'],
    ['ids', 'idRows', 'idRow', 'ids', 'Ids', 'id', 'Ids'],
    ['2020_sales', '_2020Sales', '_2020Sale', '2020-sales', '2020 sales', '2020 sale', '2020 sales'],
    ['weird name!"; drop', 'weirdNameDrops', 'weirdNameDrop', 'weird-name-drops', 'Weird name!"; drop',
      'weird name drop'],
    ['Café', 'cafe', 'cafe', 'café', 'Café', ''],
    ['Øre_Maß', 'oereMass', 'oereMass', 'øre-maß', 'Øre maß', ''],
    ['Товар', 'u442u43eu432u430u440', 'u442u43eu432u430u440', 'товар', 'Товар', ''],
    ['🦄', 'u1f984', 'u1f984', 'u1f984', '🦄', ''],
    ['', 'tables', 'table', 'tables', 'Table', ''],
    ['__proto__', 'protos', 'proto', 'protos', 'Proto', 'proto']
  ]

t.test('a resource has its name from its table', async (t) => {
  for (const [table, name, singular, path, heading, one, many = ''] of cases) {
    const messages = { heading, plural: many, singular: one }
    const expected = { name, singular, path, ...(heading !== undefined && { messages }) }
    t.strictSame(named([table]), [expected], table)
  }
})

t.test('a view has its own name on pages, and no other', async (t) => {
  for (const kind of ['view', 'materialized view'] as const) {
    for (const [name, heading] of [['Orders Qry', 'Orders Qry'], ['paid_invoices', 'Paid invoices']] as const) {
      const [made] = nameResources([describeTable({ name, kind })], () => undefined).values()
      t.strictSame(made?.messages, { heading, plural: '', singular: '' }, name)
    }
  }
})

t.test('no two tables have the same name', async (t) => {
  t.strictSame(named(['User', 'users', 'user']).map(({ name }) => name), ['users', 'users2', 'users3'])
  t.strictSame(named(['users', 'users', 'Users'],
    ['public', 'sales', 'sales']).map(({ name, path }) => `${name} ${path}`),
  ['users users', 'salesUsers sales-users', 'users2 users-2'])
  const messages = { heading: 'Users 2', plural: 'Users', singular: 'user' }
  t.match(named(['users', 'Users'])[1], { singular: 'user2', messages })
  t.match(named(['user', 'users'])[1], { name: 'users2', messages: { heading: 'Users' } }, 'pages tell them apart')
  t.match(named(['users', 'users'], ['a', 'b'])[1], { name: 'bUsers', messages: undefined })
})

t.test('the app names resources first', async (t) => {
  const tables = ['users', 'T_USR', 'T_ORD'].map((name) => describeTable({ name }))
  const names = nameResources(tables, ({ name }) => ({ T_USR: 'users', T_ORD: 'webOrders' })[name])
  t.strictSame([...names].map(([{ name }, made]) => `${name} ${made.name} ${made.singular} ${made.path}`).sort(),
    ['T_ORD webOrders webOrder web-orders', 'T_USR users user users', 'users users2 user2 users-2'])
  t.throws(() => nameResources(tables, () => 'all'),
    {
      code: 'FST_RESOURCES_INVALID_OPTION',
      message: 'Option "nameOf" must not give the name "all" to both "users" and "T_USR".'
    })
  t.throws(() => nameResources(tables, () => 5 as never),
    { message: 'Option "nameOf" must return a name or undefined, not 5.' })
})

t.test('a name is split into words', async (t) => {
  t.strictSame(splitName('HTTPRequest_id2'), ['HTTP', 'request', 'id2'])
  t.strictSame(splitName('FIRST_NAME', false), ['FIRST', 'NAME'])
  t.strictSame(splitName('FIRST_NAME'), ['first', 'name'])
})

t.test('a table has the actions that it allows, if the app allows writes', async (t) => {
  const all = describeTable()
  const limited = describeTable({ canUpdate: false, canDelete: false })
  const cases: ReadonlyArray<readonly [...Parameters<typeof findActions>, expected: string]> = [
    [all, false, {}, 'list show'],
    [all, true, {}, 'list show create new update edit delete'],
    [all, true, { formPages: false }, 'list show create update delete'],
    [limited, true, {}, 'list show create new'],
    [all, true, { except: 'delete' }, 'list show create new update edit'],
    [all, false, { except: ['show', 'delete'] }, 'list'],
    [all, true, { only: ['list', 'create'] }, 'list create'],
    [all, false, { only: 'list' }, 'list']
  ]
  for (const [table, write, options, expected] of cases) {
    t.equal(findActions(table, write, options).join(' '), expected, JSON.stringify({ write, options }))
  }
  t.throws(() => findActions(all, false, { only: ['list', 'create'] }),
    { message: 'Option "tables" has "posts", whose "only" names \'create\', which needs the option "write: true".' })
  t.throws(() => findActions(limited, true, { only: 'update' }),
    { message: 'Option "tables" has "posts", whose "only" names \'update\', which its database does not allow.' })
})

const attributesOf = (...names: readonly string[]): AttributesSchema =>
  ({
    type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
  }) as AttributesSchema

t.test('attributes get titles if their names would look bad', async (t) => {
  const titlesOf = (names: readonly string[], columns = {}): unknown[] =>
    Object.values(addTitles(describeTable({ attributes: attributesOf(...names), columns })).properties as Record<string,
      { title?: string }>).map(({ title }) => title)
  t.strictSame(titlesOf(['UnitPrice', 'first_name', 'SKU', 'homeURL']), [undefined, undefined, undefined, undefined])
  t.strictSame(titlesOf(['FIRST_NAME', 'VAT']), ['First name', 'Vat'])
  t.strictSame(titlesOf(['first_name', 'id_', '🦄'], { id: 'key', first_name: 'first name?', id_: 'id' }),
    [undefined, 'Id', undefined])
  t.strictSame(titlesOf(['constructor', 'toString']), [undefined, undefined], 'names that every object inherits')
  const own = describeTable({
    attributes: { type: 'object', properties: { NAME: { type: 'string', title: 'Full name' } } }
  })
  t.same(addTitles(own), own.attributes)
})

t.test('references lead to served tables whose ids have the type of the attribute', async (t) => {
  const find = (attributes: AttributesSchema, references: Record<string, string>): unknown =>
    findReferences(describeTable({ attributes, references }), (table) => ({
      Artist: { name: 'artists', table: describeTable() },
      users: { name: 'users', table: describeTable({ id: 'uuid' }) }
    })[table])
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Artist' }), { ArtistId: 'artists' })
  t.strictSame(find(attributesOf('ArtistId'), { ArtistId: 'Missing' }), {}, 'the table is not served')
  t.strictSame(find(attributesOf('user_id'), { user_id: 'users' }), {}, 'the ids have another type')
  t.strictSame(find(attributesOf('artist'), { artist: 'Artist' }), { artist: 'artists' },
    'the relation is not called like the attribute')
  t.strictSame(find(attributesOf('first', 'second'), { first: 'Artist', second: 'Artist' }),
    { first: 'artists', second: 'artists' }, 'two relations have different names')
  t.strictSame(find(attributesOf('artist', 'artistRow'), { artist: 'Artist' }), {},
    'both names of the relation are those of attributes')
  t.strictSame(find(attributesOf('ArtistId'), { AlbumId: 'Artist' }), {}, 'the attribute is not served')
  const hidden = { type: 'object', properties: { ArtistId: { type: 'integer', writeOnly: true } } } as const
  t.strictSame(find(hidden, { ArtistId: 'Artist' }), {}, 'the attribute is never shown')
  const nullable = { type: 'object', properties: { user_id: { type: ['string', 'null'], format: 'uuid' } } } as const
  t.strictSame(find(nullable, { user_id: 'users' }), { user_id: 'users' })
  const mixed = { type: 'object', properties: { ArtistId: { type: ['integer', 'string'] } } } as const
  t.strictSame(find(mixed, { ArtistId: 'Artist' }), {}, 'the attribute may have another type')
})

const defaults = {
  source: 'a.sqlite',
  isUrl: false,
  write: false,
  only: undefined,
  except: undefined,
  schema: undefined,
  port: 3000,
  host: '127.0.0.1',
  prefix: '',
  origins: [],
  users: [],
  hidden: [],
  stamps: [],
  open: false,
  print: false
}

const userOf = (name: string, password: string, role?: string): object =>
  ({ name, credentials: `${name}:${password}`, role })

t.test('arguments become settings', async (t) => {
  const url = 'postgres://ann:secret@localhost/shop'
  const cases: ReadonlyArray<readonly [argv: string, settings: unknown, environment?: NodeJS.ProcessEnv]> = [
    ['a.sqlite', defaults],
    ['a.sqlite --write --open --print', { ...defaults, write: true, open: true, print: true }],
    ['--port 8080 a.sqlite --host=0.0.0.0', { ...defaults, port: 8080, host: '0.0.0.0' }],
    ['a.sqlite --only a,b --only c --except=d', { ...defaults, only: ['a', 'b', 'c'], except: ['d'] }],
    ['a.sqlite --user ann:se:cret', { ...defaults, users: [userOf('ann', 'se:cret')] }],
    ['a.sqlite --user ann:a --user bob:b', { ...defaults, users: [userOf('ann', 'a'), userOf('bob', 'b')] }],
    ['a.sqlite --hide a.b,a.b.c', {
      ...defaults,
      hidden: [
        { table: 'a', attribute: 'b', role: undefined }, { table: 'a.b', attribute: 'c', role: undefined }
      ]
    }],
    ['a.sqlite --user ann:se:cret:clerk --user bob:b --hide clerk:a.b', {
      ...defaults,
      users: [userOf('ann', 'se:cret', 'clerk'), userOf('bob', 'b')],
      hidden: [{ table: 'a', attribute: 'b', role: 'clerk' }]
    }],
    ['a.sqlite --write --user ann:a --stamp by --stamp c,d', {
      ...defaults, write: true, users: [userOf('ann', 'a')], stamps: ['by', 'c', 'd']
    }],
    ['a.sqlite --prefix /a/b-1.c', { ...defaults, prefix: '/a/b-1.c' }],
    ['a.sqlite --origin https://a.example --origin http://b:81',
      { ...defaults, origins: ['https://a.example', 'http://b:81'] }],
    ['a.sqlite --user=-ann:-', { ...defaults, users: [userOf('-ann', '-')] }],
    ['a.sqlite', defaults, { DATABASE_URL: url }],
    ['', { ...defaults, source: url, isUrl: true }, { DATABASE_URL: url }],
    [`${url} --schema sales`, { ...defaults, source: url, isUrl: true, schema: 'sales' }],
    ['postgresql://h/d', { ...defaults, source: 'postgresql://h/d', isUrl: true }],
    ['--help', 'help'],
    ['a.sqlite -h', 'help'],
    ['--version', 'version'],
    ['-v', 'version']
  ]
  for (const [argv, settings, environment = {}] of cases) {
    t.strictSame(parseSettings(argv.split(' ').filter((text) => text !== ''), environment), settings, argv)
  }
})

t.test('wrong arguments throw an error of one line', async (t) => {
  const cases: ReadonlyArray<readonly [argv: string, message: string]> = [
    ['', 'Name a database: fastify-resources FILE|URL'],
    ['a.sqlite b.sqlite', 'Name one database, not also "b.sqlite". Separate names of tables by commas only.'],
    ['a.sqlite --wirte', 'There is no option --wirte; did you mean --write? See --help.'],
    ['a.sqlite --authentication', 'There is no option --authentication. See --help.'],
    ['a.sqlite -x', 'There is no option -x. See --help.'],
    ['a.sqlite --write=1', '--write takes no value.'],
    ['a.sqlite --port', '--port needs a value, as in --port=VALUE. See --help.'],
    ['a.sqlite --port --write', '--port needs a value, as in --port=VALUE. See --help.'],
    ['a.sqlite --only=', '--only needs a value, as in --only=VALUE. See --help.'],
    ['a.sqlite --port 3k', '--port must be a number up to 65535, not "3k"'],
    ['a.sqlite --port 65536', '--port must be a number up to 65535, not "65536"'],
    ['a.sqlite --user ann', '--user must be a name and a password, as in --user ann:secret'],
    ...['tables', '/', '/a/', '/a//b', '/:a', '/a/..', '/a?b'].map((prefix) =>
      [`a.sqlite --prefix ${prefix}`, `--prefix must be a path such as /tables, not "${prefix}"`] as const),
    ...['a.example', 'https://a.example/', 'https://A.example', 'file://a', 'null'].map((origin) =>
      [`a.sqlite --origin ${origin}`,
        `--origin must be a scheme and a host such as https://tables.example.com, not "${origin}"`] as const),
    ['a.sqlite --schema sales', '--schema is for PostgreSQL. Leave it out for a file.'],
    ['mysql://localhost/shop', 'A URL must begin with postgres://, not with mysql:// Other databases are not served.']
  ]
  for (const [argv, message] of cases) {
    const parse = (): unknown => parseSettings(argv.split(' ').filter((text) => text !== ''), {})
    t.throws(parse, { constructor: CommandError, message, exitCode: 2 }, argv)
  }
})

t.test('the help names each option in lines of 100 characters', async (t) => {
  const named = [...HELP.matchAll(/--([a-z]+)/g)].map(([, name]) => name)
  t.ok(['write', 'only', 'except', 'schema', 'port', 'host', 'prefix', 'origin', 'user', 'hide', 'stamp',
    'open', 'print', 'help', 'version'].every((name) => named.includes(name)))
  t.ok(HELP.split('\n').every((line) => line.length <= 100))
})

t.test('the message of an error is one line without a full stop', async (t) => {
  const cases: ReadonlyArray<readonly [error: unknown, text: string]> = [[new Error('No route.\n  at home'),
    'No route'], [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED']]
  for (const [error, text] of cases) t.equal(messageOf(error), text)
})
