import t, { type Test } from 'tap'
import type pg from 'pg'
import { describeDatabase } from '../../../../lib/database/index.js'
import { type TableDescription } from '../../../../lib/sql/sqlite/index.js'
import * as databases from '../../../support/stores/databases/postgres.js'
import { type PostgresServer, startPostgres } from '../../../support/stores/postgres.js'

type Case = readonly [attribute: string, schema: object]

let server: Promise<PostgresServer> | undefined
let schemas = 0

/** A schema of the test's own, and a pool whose `search_path` names it. */
interface Place {
  readonly schema: string
  readonly pool: pg.Pool
  readonly server: PostgresServer
}

async function open (statements: string): Promise<Place> {
  const running = await (server ??= startPostgres(t))
  const schema = `described${++schemas}`
  const pool = running.pool({ options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  if (statements !== '') await pool.query(statements)
  return { schema, pool, server: running }
}

async function describeOne ({ pool, schema }: Place, name: string): Promise<TableDescription> {
  const [table] = await describeDatabase(pool, { schema, only: [name] })
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}

/** Compares the attributes of a table with those of the cases, in their order. */
async function compare (t: Test, place: Place, name: string, cases: readonly Case[]): Promise<void> {
  const { attributes } = await describeOne(place, name)
  const properties = Object.entries(attributes.properties)
  t.strictSame(properties.map(([attribute]) => attribute), cases.map(([attribute]) => attribute), 'the attributes')
  for (const [index, [attribute, schema]] of cases.entries()) {
    t.strictSame(properties[index]?.[1], schema, `${name}.${attribute}`)
  }
}

const INT2 = { minimum: -32768, maximum: 32767 }
const INT4 = { minimum: -2147483648, maximum: 2147483647 }

const TYPES: readonly Case[] = [
  ['small', { type: ['integer', 'null'], ...INT2 }],
  ['whole', { type: ['integer', 'null'], ...INT4 }],
  ['big', { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 }],
  ['real_number', { type: ['number', 'null'] }],
  ['price', { type: ['string', 'null'], format: 'decimal', precision: 10, scale: 2 }],
  ['round_price', { type: ['string', 'null'], format: 'decimal', readOnly: true }],
  ['free', { type: ['string', 'null'], format: 'decimal' }],
  ['cash', { type: ['string', 'null'] }],
  ['flag', { type: ['boolean', 'null'] }],
  ['note', { type: ['string', 'null'] }],
  ['title', { type: ['string', 'null'], maxLength: 80 }],
  ['code', { type: ['string', 'null'], maxLength: 3 }],
  ['letter', { type: ['string', 'null'], maxLength: 1 }],
  ['day', { type: ['string', 'null'], format: 'date' }],
  ['clock', { type: ['string', 'null'], format: 'time-local' }],
  ['zoned_clock', { type: ['string', 'null'], format: 'date-time-text' }],
  ['moment', { type: ['string', 'null'], format: 'date-time' }],
  ['local_moment', { type: ['string', 'null'], format: 'date-time-local' }],
  ['span', { type: ['string', 'null'] }],
  ['token', { type: ['string', 'null'], format: 'uuid' }],
  ['document', {}],
  ['binary_document', {}],
  ['page', { type: ['string', 'null'] }],
  ['file', { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 6_990_508 }],
  ['feeling', { type: ['string', 'null'], enum: ['sad', 'happy', null] }],
  ['counted', { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 }],
  ['small_counted', { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 }],
  ['address', { type: ['string', 'null'] }],
  ['range', { type: ['string', 'null'] }],
  ['table_number', { type: ['string', 'null'] }],
  ['integers', { type: ['array', 'null'], items: { type: 'integer', ...INT4 } }],
  ['prices', { type: ['array', 'null'], items: { type: 'string', format: 'decimal', precision: 8, scale: 2 } }],
  ['matrix', { type: ['string', 'null'] }],
  ['places', { type: ['array', 'null'], items: { type: 'string' } }]
]

const CHECKS: readonly Case[] = [
  ['whole', { type: 'integer', minimum: 0, maximum: 10 }],
  ['above', { type: ['number', 'null'], exclusiveMinimum: -1.5, exclusiveMaximum: 100 }],
  ['reversed', { type: ['integer', 'null'], ...INT4, exclusiveMinimum: 5 }],
  ['ranged', { type: ['integer', 'null'], minimum: 0, maximum: 16 }],
  ['status', { type: 'string', enum: ['draft', "it's (sent)", 'back\\slash'], default: 'draft' }],
  ['limited', { type: ['string', 'null'], maxLength: 9, enum: ['a', 'b', null] }],
  ['either', { type: ['string', 'null'] }],
  ['code', { type: ['string', 'null'], minLength: 3, maxLength: 3 }],
  ['short', { type: ['string', 'null'], maxLength: 5, minLength: 1 }],
  ['loose', { type: ['string', 'null'] }],
  ['insensitive', { type: ['string', 'null'] }],
  ['sex', { type: ['string', 'null'], maxLength: 1, enum: ['f', 'm', null] }],
  ['price', { type: ['string', 'null'], format: 'decimal', precision: 10, scale: 2, default: '0.50' }],
  ['rating', { type: ['integer', 'null'], ...INT2, enum: [1, 2, 3, null], default: 3 }],
  ['odd_name', { type: ['integer', 'null'], ...INT4, exclusiveMaximum: 100, default: -1 }],
  ['measure', { type: ['string', 'null'], enum: ['small', 'large', null], default: 'small' }],
  ['choice', { type: ['string', 'null'], enum: ['small', null] }],
  ['flag', { type: ['boolean', 'null'], default: true }],
  ['made', { type: ['string', 'null'] }],
  ['stamped', { type: ['string', 'null'], format: 'date-time' }]
]

t.test('the type of a column makes its schema', async (t) => {
  await compare(t, await open(databases.TYPES), 'types', TYPES)
})

t.test('other types may have a length, and JSON that is needed is not null', async (t) => {
  const place = await open('CREATE TABLE odd (bits bit(8), at timestamp(6), content jsonb NOT NULL)')
  t.match((await describeOne(place, 'odd')).attributes.properties, {
    bits: { type: ['string', 'null'], maxLength: undefined },
    at: { type: ['string', 'null'], format: 'date-time-local' },
    content: { type: ['object', 'array', 'string', 'number', 'boolean'] }
  })
})

t.test('simple constraints become keywords, and the others are left to the database', async (t) => {
  const place = await open(databases.CHECKS)
  await compare(t, place, 'checks', CHECKS)
  t.match(await describeOne(place, 'checks'), {
    attributes: { required: ['whole'] }, unique: [['code']], columns: { odd_name: 'odd name' }
  })
})

const READ_ONLY = { canCreate: false, canUpdate: false, canDelete: false }
const WRITABLE = { canCreate: true, canUpdate: true, canDelete: true, isServed: true }

/** The parts of descriptions that depend on the key and the kind. */
const KINDS: ReadonlyArray<readonly [table: string, expected: object, problem?: string]> = [
  [
    'by_default',
    {
      kind: 'table',
      id: 'integer',
      columns: {},
      version: 'xmin',
      attributes: { properties: { number: { readOnly: true } } },
      ...WRITABLE
    }
  ],
  [
    'plain_number',
    { id: 'integer', key: ['id_'], columns: { id_: 'id' }, attributes: { required: ['id_'] }, ...WRITABLE }
  ],
  ['constant_default', { id: 'integer', key: ['id_'], ...WRITABLE }],
  ['plain_uuid', { id: 'uuid', columns: {}, ...WRITABLE }],
  ['uuid_profiles', { id: 'uuid', key: ['id_'], references: { id_: 'plain_uuid' }, ...WRITABLE }],
  [
    'numeric_key',
    { id: 'string', key: ['id_'], attributes: { properties: { id_: { format: 'decimal' } } }, ...WRITABLE }
  ],
  ['countries', { id: 'string', key: ['id_'], attributes: { required: ['id_', 'name'] }, ...WRITABLE }],
  [
    'memberships',
    {
      id: 'string',
      key: ['group_id', 'user_id'],
      attributes: { properties: { user_id: { type: 'integer' } } },
      ...WRITABLE
    }
  ],
  [
    'membership_notes',
    {
      references: {},
      attributes: { properties: { group_id: { type: ['integer', 'null'] }, points: { format: 'decimal' } } },
      ...WRITABLE
    }
  ],
  [
    'logs', { id: 'string', key: ['message', 'level'], version: 'xmin', isServed: true, ...READ_ONLY },
    'The table "logs" has no primary key, so its rows are read-only.'
  ],
  [
    'documents_only', { isServed: false, ...READ_ONLY },
    'No column of the table "documents_only" can identify its rows, so it is not served.'
  ],
  [
    'no_columns', { isServed: false, attributes: { properties: {} }, ...READ_ONLY },
    'No column of the table "no_columns" can identify its rows, so it is not served.'
  ],
  [
    'unique_only',
    {
      id: 'string',
      key: ['email'],
      unique: [['name']],
      attributes: { properties: { number: { format: 'decimal' } } },
      ...WRITABLE
    }
  ],
  ['unique_number', { id: 'integer', key: ['number'], unique: [], ...WRITABLE }],
  [
    'number_notes',
    {
      references: { number: 'unique_number' },
      attributes: { properties: { number: { type: ['integer', 'null'] } } },
      ...WRITABLE
    }
  ],
  [
    'bytes_key', { id: 'string', key: ['name'], ...READ_ONLY },
    'The table "bytes_key" has "hash" in its primary key, which paths cannot contain, so its rows are read-only.'
  ],
  ['groups', { unique: [['a', 'b'], ['c', 'b']] }],
  ['measurements', { kind: 'table', key: ['id_', 'taken'], version: 'values', ...WRITABLE }],
  ['measurement_notes', { references: {}, attributes: { properties: { measurement: { type: ['integer', 'null'] } } } }],
  [
    'parents', { key: ['id_', 'name'], ...READ_ONLY },
    'Other tables inherit from "parents", so its keys are not unique, and its rows are read-only.'
  ],
  [
    'heirs', { key: ['id_', 'name', 'age'], ...READ_ONLY },
    'The table "heirs" has no primary key, so its rows are read-only.'
  ],
  [
    'named',
    {
      kind: 'view',
      key: ['id_', 'name', 'Loud_Name'],
      columns: { id_: 'id', Loud_Name: 'Loud Name' },
      version: 'values',
      isServed: true,
      ...READ_ONLY
    },
    'The view "named" is read-only.'
  ],
  ['ruled', { kind: 'view', key: ['name'], ...READ_ONLY }, 'The view "ruled" is read-only.'],
  ['triggered', { kind: 'view', key: ['name'], ...READ_ONLY }, 'The view "triggered" is read-only.'],
  [
    'documents', { kind: 'view', isServed: false, ...READ_ONLY },
    'No column of the view "documents" can identify its rows, so it is not served.'
  ],
  [
    'counts', { kind: 'materialized view', key: ['level', 'rows'], version: 'values', ...READ_ONLY },
    'The materialized view "counts" is read-only.'
  ],
  [
    'kept', { canCreate: true, canUpdate: true, canDelete: false },
    'A rule of "kept" replaces statements that delete rows, so rows cannot be deleted.'
  ],
  ['deferred', { unique: [['name']], ...WRITABLE }]
]

t.test('the key and the kind of a table decide about its ids and writes', async (t) => {
  const tables = await describeDatabase((await open(databases.KINDS)).pool)
  t.strictSame(tables.map(({ name }) => name), KINDS.map(([name]) => name).sort(), 'partitions are left out')
  for (const [name, expected, problem] of KINDS) {
    const found = tables.find((table) => table.name === name)
    t.match(found, expected, name)
    t.equal(found?.problems.at(-1)?.problem, problem, name)
    if (!Object.hasOwn(expected, 'key')) t.notOk(Object.hasOwn(found ?? {}, 'key'), `${name} has no key of attributes`)
  }
})

t.test('a foreign table is read-only', async (t) => {
  const { pool } = await open(
    'CREATE EXTENSION postgres_fdw; CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw; CREATE FOREIGN TABLE far ' +
      '(id integer, name text) SERVER other'
  )
  const [far] = await describeDatabase(pool)
  t.match(far, {
    kind: 'foreign table',
    key: ['id_', 'name'],
    version: 'values',
    ...READ_ONLY,
    problems: [{ problem: 'The foreign table "far" is read-only, because its key is unknown.' }]
  })
})

t.test('tables of extensions are described only by name', async (t) => {
  const { pool } = await open('CREATE EXTENSION pg_stat_statements; CREATE TABLE own (id serial PRIMARY KEY)')
  t.strictSame((await describeDatabase(pool)).map(({ name }) => name), ['own'])
  t.match(await describeDatabase(pool, { only: ['pg_stat_statements'] }), [
    { name: 'pg_stat_statements', kind: 'view' }
  ])
})

t.test('versions, references and names come from the columns', async (t) => {
  const { pool, schema } = await open(databases.NAMES)
  const tables = new Map((await describeDatabase(pool)).map((table) => [table.name, table]))
  const versions = ['versioned', 'nullable_version', 'document_versions', 'select'].map((name) =>
    tables.get(name)?.version)
  t.strictSame(versions, ['xmin', 'xmin', 'xmin', 'xmin'])
  t.strictSame(tables.get('select')?.columns, {
    first_name_2: 'first name', _2nd: '2nd', a_b: 'a:b', quo_te: 'quo"te', _: '😀'
  })
  t.strictSame(Object.keys(
    tables.get('select')?.attributes.properties ?? {}
  ), ['order', 'first_name_2', 'first_name', '_2nd', 'a_b', 'Größe', 'größe', 'quo_te', '_', 'ID', 'version'])
  t.match(tables.get('Mixed Case'), { schema, references: { select: 'select' } })
  t.match(tables.get('to_unique'), { references: {}, problems: [] }, 'the reference names no key')
  t.equal(Object.keys(tables.get('wide')?.attributes.properties ?? {}).length, 60)
})

t.test('texts that many rows share are marked, as soon as the table was analyzed', async (t) => {
  const place = await open(`
    CREATE TABLE people (id serial PRIMARY KEY, name text, nick text, note text, code integer, price numeric(8, 2));
    INSERT INTO people (name, nick, note, code, price)
      SELECT 'Ken', CASE WHEN i < 4 THEN 'a' ELSE 'n' || i END, CASE WHEN i > 31 THEN 'x' END, 1, 1
      FROM generate_series(1, 40) i`)
  const findMarked = async (): Promise<string[]> =>
    Object.entries((await describeOne(place, 'people')).attributes.properties)
      .filter(([, schema]) => 'x-repeats' in schema).map(([name]) => name)
  t.strictSame(await findMarked(), [])
  await place.pool.query('ANALYZE people')
  t.strictSame(await findMarked(), ['name'])
})

t.test('the catalog says what the user may do', async (t) => {
  const place = await open('')
  const { pool, schema } = place
  const rights = databases.RIGHTS.replaceAll('%role%', 'reader')
  await pool.query(`CREATE ROLE reader LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA ${schema} TO reader; ${rights}`)
  const url = place.server.url.replace('postgres:secret', 'reader:secret')
  const reader = place.server.pool({ connectionString: url, options: `-c search_path=${schema}` })
  const problemsOf = ({ problems }: TableDescription): string[] => problems.map(({ problem }) => problem)
  const tables = await describeDatabase(reader)
  t.match(tables.map(
    ({ name, id, version, canCreate, canUpdate, canDelete, isServed }) => [
      name, id, version, canCreate, canUpdate, canDelete, isServed
    ]
  ), [
    ['hidden', 'string', 'values', false, false, false, false],
    ['insertable', 'integer', 'xmin', true, false, false, true],
    ['no_sequence', 'integer', 'xmin', true, true, true, true],
    ['open_table', 'integer', 'xmin', true, true, true, true],
    ['partly', 'integer', 'values', false, true, true, true],
    ['readable', 'integer', 'xmin', false, false, false, true]
  ])
  t.strictSame(tables.map(problemsOf), [
    ['The database does not let you read "hidden".'],
    [
      'The database does not let you change rows of "insertable".',
      'The database does not let you delete rows of "insertable".'
    ],
    [],
    [],
    [
      'The database does not let you read the column "secret".',
      'The database does not let you read the column "required_secret".',
      'Rows cannot be created: they need a value of "required_secret", which cannot be written.'
    ],
    ['The database does not let you write "readable".']
  ])
  t.match(tables[4]?.attributes, {
    required: ['id_', 'name'],
    properties: { name: { readOnly: undefined }, fixed: { readOnly: true }, secret: undefined }
  })
  await pool.query(`REVOKE USAGE ON SCHEMA ${schema} FROM reader`)
  t.match(await describeDatabase(reader, { schema, only: ['open_table'] }), [
    {
      ...READ_ONLY,
      isServed: false,
      problems: [{ problem: `The database does not let you use the schema "${schema}".` }]
    }
  ])
})

t.test('nothing is writable on a server that is read-only', async (t) => {
  const { schema, server } = await open('CREATE TABLE posts (id serial PRIMARY KEY, title text)')
  const pool = server.pool({ options: '-c default_transaction_read_only=on' })
  t.match(await describeDatabase(pool, { schema }), [
    { name: 'posts', isServed: true, ...READ_ONLY, problems: [{ problem: 'The database is read-only.' }] }
  ])
})

t.test('a shop is served', async (t) => {
  const place = await open(databases.SHOP)
  const { schema } = place
  const tables = await describeDatabase(place.pool)
  t.strictSame(tables.map(({ name, references }) => [name, references]), [
    ['Orders', { CustomerID: 'customers' }],
    ['customers', { referred_by: 'customers' }],
    ['order_lines', { order_id: 'Orders', product_code: 'products' }],
    ['order_totals', {}],
    ['products', {}]
  ])
  t.strictSame(tables[0], {
    name: 'Orders',
    schema,
    kind: 'table',
    id: 'integer',
    columns: { id: 'OrderID', Placed_At: 'Placed At' },
    attributes: {
      type: 'object',
      required: ['CustomerID', 'Status', 'Freight'],
      properties: {
        CustomerID: { type: 'integer', format: 'int64' },
        Status: { type: 'string', enum: ['draft', 'paid', "it's sent"], default: 'draft' },
        Freight: { type: 'string', format: 'decimal', precision: 10, scale: 2, default: '0.00' },
        Placed_At: { type: 'string', format: 'date-time' }
      }
    },
    unique: [],
    references: { CustomerID: 'customers' },
    onDelete: { CustomerID: 'cascade' },
    version: 'lock_version',
    ...WRITABLE,
    needsVersion: false,
    problems: []
  })
  t.match(tables[1]?.attributes, {
    description: 'People who have bought something.',
    properties: { referred_by: { description: 'The customer who recommended the shop.' } }
  })
  t.match(tables[4]?.attributes, {
    required: ['code', 'label', 'price'],
    properties: {
      label: { type: 'string', minLength: 2, maxLength: 20 },
      tags: { type: 'array' },
      price_with_tax: { readOnly: true }
    }
  })
})

t.test('options select schemas and tables', async (t) => {
  const { pool, schema } = await open(databases.SHOP)
  const namesOf = async (options: object): Promise<string[]> => (await describeDatabase(pool, options)).map(({
    name
  }) =>
    name)
  t.strictSame(await namesOf({ only: ['products', 'Orders'] }), ['Orders', 'products'])
  t.strictSame(await namesOf({ schema, except: ['products', 'Orders', 'order_lines'] }), ['customers', 'order_totals'])
  await pool.query(
    'CREATE SCHEMA beside; CREATE TABLE beside.parts (id serial PRIMARY KEY, "order" integer REFERENCES "Orders"); ' +
      'CREATE SCHEMA bare'
  )
  t.notOk((await namesOf({})).includes('parts'))
  t.match(
    await describeDatabase(pool, { schema: 'beside' }),
    [{ name: 'parts', schema: 'beside', references: { order: undefined } }], 'a reference to another schema is left out'
  )
  t.strictSame(await namesOf({ schema: 'bare' }), [])
  const code = 'FST_RESOURCES_INVALID_OPTION'
  await t.rejects(namesOf({ only: ['orders'] }), { code, message: /"only" names "orders".*did you mean "Orders"/ })
  await t.rejects(namesOf({ except: ['product'] }), {
    code, message: /"except" names "product".*did you mean "products"/
  })
  await t.rejects(namesOf({ schema: 'besides' }), {
    code, message: /"schema" is "besides", which does not exist; did you mean "beside"/
  })
})

t.test('a database that cannot be reached is unavailable', async (t) => {
  const { server } = await open('')
  const pool = server.pool({ connectionString: server.url.replace(/:\d+\//, ':1/') })
  await t.rejects(describeDatabase(pool), { code: 'FST_RESOURCES_UNAVAILABLE' })
})
