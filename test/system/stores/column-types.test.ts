import t, { type Test } from 'tap'
import { type Attributes, type Query } from '../../../lib/index.js'
import { sqliteStore, type SqlStore } from '../../../lib/sql/sqlite/index.js'
import { build } from '../../support/helper.js'
import { context, type Engine, every, openEngines, readAll } from '../../support/stores/sql-engines.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const anyVersion = { version: undefined, scope: {} }

type Schema = Readonly<Record<string, unknown>>
/** A value that is written, or the value that is read after it if the database has another spelling. */
type Value = unknown
/** A database as the cases use it. */
type Database = Pick<Engine, 'name' | 'store' | 'run'>

interface Case {
  readonly type: string
  readonly schema: Schema
  /** Values that come back as they were given. */
  readonly keeps?: readonly Value[]
  /** Values with what is read in their place. */
  readonly spells?: ReadonlyArray<readonly [given: Value, read: Value]>
  /** Values that are refused, with the message beside the field. */
  readonly refuses?: ReadonlyArray<readonly [given: Value, message: string]>
  /** SQL of values that other programs store, with what is read. The value of the SQL may not be of the kind. */
  readonly shows?: ReadonlyArray<readonly [sql: string, read: Value]>
  /** SQL that is true for the row of the first value in `keeps`. */
  readonly raw?: string
}

const decimal = (precision?: number, scale?: number): Schema => ({
  type: ['string', 'null'], format: 'decimal', ...(precision !== undefined && { precision, scale })
})
const format = (name: string): Schema => ({ type: ['string', 'null'], format: name })
const text: Schema = { type: ['string', 'null'] }
const integer: Schema = { type: ['integer', 'null'] }
const number: Schema = { type: ['number', 'null'] }
const bytes: Schema = { type: ['string', 'null'], contentEncoding: 'base64' }
const listOf = (items: Schema): Schema => ({ type: ['array', 'null'], items })
const MARK = '\uffff'

const postgresql: readonly Case[] = [
  {
    type: 'numeric',
    schema: decimal(),
    keeps: ['1.10', '-0.5', '9007199254740993.000000000000000000001', '0'],
    refuses: [
      ['1e3', 'must be a decimal number such as -12.50, without an exponent'],
      ['NaN', 'must be a decimal number such as -12.50, without an exponent'],
      [`${'9'.repeat(131_073)}`, 'must have at most 131072 digits before the point and 16383 after it']
    ],
    shows: [["'NaN'", 'NaN'], ["'Infinity'", 'Infinity']],
    raw: 'v::text = \'1.10\''
  },
  {
    type: 'numeric(10,2)',
    schema: decimal(10, 2),
    keeps: ['12345678.90', '-0.01'],
    spells: [['1.5', '1.50'], ['1.500', '1.50']],
    refuses: [
      ['1.555', 'must have at most 8 digits before the point and 2 after it'],
      ['123456789', 'must have at most 8 digits before the point and 2 after it']
    ],
    raw: 'v = 12345678.9'
  },
  {
    type: 'bigint',
    schema: decimal(19, 0),
    keeps: ['9223372036854775807', '-9223372036854775808'],
    spells: [['5.00', '5']],
    refuses: [
      ['9223372036854775808', 'must be an integer between -9223372036854775808 and 9223372036854775807'],
      ['9'.repeat(40), 'must be an integer between -9223372036854775808 and 9223372036854775807'],
      ['1.5', 'must be an integer']
    ],
    raw: 'v = 9223372036854775807'
  },
  {
    type: 'bigint',
    schema: integer,
    keeps: [9007199254740991, -1],
    refuses: [[2 ** 53, 'must be an integer between -9007199254740991 and 9007199254740991']],
    shows: [['9007199254740993', '9007199254740993']]
  },
  {
    type: 'integer',
    schema: integer,
    keeps: [2147483647, -2147483648],
    refuses: [[2147483648, 'must be an integer between -2147483648 and 2147483647']]
  },
  {
    type: 'real',
    schema: number,
    keeps: [0.1, 1.5, 1.09316024e-29, 22508.812, 16777216, 3.4028235e38, 1e-45, 0, -2.5],
    refuses: [
      [
        0.123456789,
        'must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is 0.12345679'
      ],
      [16777217, 'must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is 16777216'],
      [1e300, 'must be a number between -3.4e38 and 3.4e38'],
      [1e-60, 'must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is 0']
    ],
    shows: [["'NaN'", 'NaN'], ["'-Infinity'", '-Infinity']],
    raw: 'v::text = \'0.1\''
  },
  { type: 'boolean', schema: { type: ['boolean', 'null'] }, keeps: [true, false] },
  {
    type: 'money',
    schema: text,
    keeps: ['$1,234.50'],
    spells: [['12', '$12.00']],
    refuses: [['much', 'must be a value that the type money can have']],
    raw: 'v = 1234.5::money'
  },
  {
    type: 'timestamp',
    schema: format('date-time-local'),
    keeps: ['2020-01-02T03:04:05.123456', '0001-01-01T00:00:00'],
    spells: [['2020-01-02T03:04:05.10', '2020-01-02T03:04:05.1']],
    refuses: [
      ['2020-01-02T03:04:05.1234567', 'must have at most 6 digits after the point of the seconds'],
      ['2020-01-02T03:04:05Z', 'must be a date and time without an offset, such as 2026-01-31T12:00:00']
    ],
    shows: [["'infinity'", 'infinity'], ["'0044-03-15 12:00:00 BC'", '0044-03-15T12:00:00 BC']],
    raw: 'v = \'2020-01-02 03:04:05.123456\''
  },
  {
    type: 'timestamptz',
    schema: format('date-time'),
    spells: [['2020-01-02T03:04:05.5+02:00', '2020-01-02T01:04:05.5+00:00']],
    refuses: [
      ['2020-01-02T03:04:05.1234567Z', 'must have at most 6 digits after the point of the seconds'],
      ['2016-12-31T23:59:60Z', 'must not have the second 60, which the column would change']
    ],
    shows: [["'-infinity'", '-infinity']]
  },
  {
    type: 'date',
    schema: format('date'),
    keeps: ['2020-02-29', '9999-12-31'],
    refuses: [['soon', 'must be a value that the type date can have']],
    shows: [["'infinity'", 'infinity']]
  },
  {
    type: 'time',
    schema: format('time-local'),
    keeps: ['03:04:05.123456', '23:59:59'],
    refuses: [
      ['03:04:05.1234567', 'must have at most 6 digits after the point of the seconds'],
      ['03:04:05+02', 'must be a time without an offset, such as 12:00:00']
    ],
    shows: [["'24:00'", '24:00:00']]
  },
  {
    type: 'interval',
    schema: text,
    keeps: ['1 year 2 mons -3 days +04:05:06.789'],
    spells: [['P1D', '1 day']],
    refuses: [['long', 'must be a value that the type interval can have']]
  },
  {
    type: 'uuid',
    schema: format('uuid'),
    keeps: ['01890a5d-ac96-774b-bcce-b302099a8057'],
    refuses: [['01890A5D-AC96-774B-BCCE-B302099A8057', 'must be a UUID in lower case']]
  },
  {
    type: 'char(5)',
    schema: { ...text, maxLength: 5 },
    keeps: ['ab', '', 'abcde', ' a'],
    refuses: [['ab ', 'must not end with a space, which the column would drop']],
    raw: 'octet_length(v) = 5'
  },
  { type: 'text', schema: text, keeps: ['NULL', '{"a"}', `${MARK}x`] },
  {
    type: 'inet',
    schema: text,
    keeps: ['10.0.0.1', '10.0.0.0/8', '2001:db8::1'],
    spells: [['10.0.0.1/32', '10.0.0.1']],
    refuses: [['10.0.0.300', 'must be a value that the type inet can have']],
    raw: 'host(v) = \'10.0.0.1\''
  },
  {
    type: 'int4range',
    schema: text,
    keeps: ['[1,5)', 'empty'],
    spells: [['[1,4]', '[1,5)']],
    refuses: [
      ['5', 'must be a value that the type int4range can have'],
      ['[5,1)', 'must be a value that the type int4range can have']
    ]
  },
  {
    type: 'mood',
    schema: { ...text, enum: ['good', 'bad', null] },
    keeps: ['good', 'bad'],
    refuses: [['so-so', 'must be a value of the enumeration of its column']]
  },
  {
    type: 'price',
    schema: decimal(),
    keeps: ['9.95'],
    refuses: [['100000', 'must have at most 4 digits before the point and 2 after it'], ['-1.00', 'is not valid']]
  },
  { type: 'pair', schema: text, keeps: ['(1,"a b")'], refuses: [['x', 'must be a value that the type pair can have']] },
  {
    type: 'json',
    schema: {},
    keeps: [{ a: [1, null, 'x'] }, 'text', 5],
    shows: [['\'{"a":12345678901234567890}\'', `${MARK}{"a":12345678901234567890}`]]
  },
  {
    type: 'jsonb',
    schema: {},
    keeps: [{ a: [1, null, 'x'] }, [], 0.1],
    shows: [
      ['\'[1.10, 0.30000000000000004, "12345678901234567890"]\'', [1.1, 0.30000000000000004, '12345678901234567890']]
    ]
  },
  {
    type: 'bytea',
    schema: bytes,
    keeps: ['AAEC/w==', ''],
    refuses: [['AAE', 'must be base64']],
    raw: 'v = \'\\x000102ff\''
  },
  {
    type: 'integer[]',
    schema: listOf(integer),
    keeps: [[1, null, -3], []],
    refuses: [
      [[1, 2147483648], 'has an item at position 2 that must be an integer between -2147483648 and 2147483647'],
      [['x'], 'has an item at position 1 that must be an integer between -9007199254740991 and 9007199254740991'],
      ['x', 'must be an array']
    ],
    shows: [["'{{1,2},{3,4}}'", '{{1,2},{3,4}}'], ["'[0:1]={1,2}'", '[0:1]={1,2}']],
    raw: 'v = \'{1,NULL,-3}\''
  },
  {
    type: 'text[]',
    schema: listOf(text),
    keeps: [['a', 'NULL', null, '', '"', '\\', 'a,b', '{x}', ' a ', 'é\n']],
    raw: 'cardinality(v) = 10 AND v[2] = \'NULL\' AND v[3] IS NULL'
  },
  { type: 'text[]', schema: listOf({ type: 'string' }), keeps: [['a']], shows: [["'{a,NULL}'", '{a,NULL}']] },
  {
    type: 'numeric(5,2)[]',
    schema: listOf(decimal()),
    keeps: [['1.50', '-0.01']],
    refuses: [[['1.555'], 'has an item at position 1 that must have at most 3 digits before the point and 2 after it']],
    shows: [["'{NaN}'", '{NaN}']]
  },
  { type: 'boolean[]', schema: listOf({ type: 'boolean' }), keeps: [[true, false]] },
  { type: 'jsonb[]', schema: listOf({}), keeps: [[{ a: 1 }, [1, 2], 'x']] },
  { type: 'box[]', schema: text, keeps: ['{(2,2),(1,1);(4,4),(3,3)}'] }
]

const sqlite: readonly Case[] = [
  {
    type: 'INTEGER',
    schema: integer,
    keeps: [9007199254740991, -1],
    shows: [["'abc'", 'abc'], ['2.5', 2.5], ['9007199254740993', '9007199254740993']],
    raw: 'typeof(v) = \'integer\''
  },
  { type: 'TEXT', schema: text, keeps: ['12', '', 'x\'01\''], shows: [["x'00ff'", `${MARK}x'00ff'`]] },
  { type: 'REAL', schema: number, keeps: [0.1, 5], shows: [["'abc'", 'abc']], raw: 'typeof(v) = \'real\'' },
  {
    type: 'DECIMAL(10,2)',
    schema: number,
    keeps: [0.1, 5, 1e300],
    shows: [['9007199254740993', '9007199254740993'], ['9007199254740994', 9007199254740994]]
  },
  {
    type: 'DECIMAL(10,2)',
    schema: decimal(10, 2),
    keeps: ['12.50', '-0.01', '5.00', '9007199254740993.00'],
    spells: [['12.5', '12.50'], ['007', '7.00']],
    refuses: [
      ['1234567890123456.78', 'must have at most 15 significant digits'],
      ['1e3', 'must be a decimal number such as -12.50, without an exponent']
    ],
    shows: [
      ["'abc'", 'abc'], ['0.30000000000000004', '0.30000000000000004'], ["x'01'", `${MARK}x'01'`], ['9e999', 'Infinity']
    ],
    raw: 'v = 12.5 AND typeof(v) = \'real\''
  },
  {
    type: 'NUMERIC',
    schema: decimal(),
    keeps: ['0.000000123', '1234567890.5', '9223372036854775807', '100000000000000000000', '0', '-1.5'],
    refuses: [
      ['9223372036854775809', 'must have at most 15 significant digits'],
      ['9'.repeat(400), 'must have at most 15 significant digits']
    ],
    raw: 'v = 0.000000123'
  },
  {
    type: 'BIGINT',
    schema: decimal(19, 0),
    keeps: ['9223372036854775807', '-9223372036854775808'],
    refuses: [
      ['1.5', 'must be an integer between -9223372036854775808 and 9223372036854775807'],
      ['9223372036854775808', 'must be an integer between -9223372036854775808 and 9223372036854775807']
    ],
    shows: [['2.5', '2.5']]
  },
  {
    type: 'BOOLEAN',
    schema: { type: ['boolean', 'null'] },
    keeps: [true, false],
    shows: [['2', 2], ["'t'", 't']],
    raw: 'v = 1'
  },
  {
    type: 'DATE',
    schema: format('date'),
    keeps: ['2020-02-29'],
    shows: [['1700000000', 1700000000], ["'31.1.2020'", '31.1.2020']]
  },
  {
    type: 'DATETIME',
    schema: format('date-time'),
    keeps: ['2020-01-02T03:04:05.123456789+02:00'],
    shows: [['2458850.5', 2458850.5]]
  },
  {
    type: 'DATETIME',
    schema: text,
    keeps: ['2009-01-01 00:00:00', '', '-', '1e', '0x10', '1 2'],
    refuses: [
      ['12', 'must not look like a number'], [' -1.5E3\n', 'must not look like a number'],
      ['.5', 'must not look like a number'], ['5.', 'must not look like a number']
    ],
    shows: [['5', 5]]
  },
  {
    type: 'UUID',
    schema: format('uuid'),
    keeps: ['01890a5d-ac96-774b-bcce-b302099a8057', '12345678-1234-1234-1234-123456789012']
  },
  {
    type: 'BLOB',
    schema: bytes,
    keeps: ['AAEC/w==', ''],
    refuses: [['AAE', 'must be base64']],
    shows: [["'text'", `${MARK}text`], ['5', 5]],
    raw: 'v = x\'000102ff\''
  },
  {
    type: 'JSON',
    schema: {},
    keeps: [{ a: 1 }, 5, 'x', true, 0.5],
    shows: [["'{'", `${MARK}{`], ["x'01'", `${MARK}x'01'`]]
  },
  { type: 'TEXT', schema: { type: ['array', 'null'] }, keeps: [[1, 'x']], shows: [["'not JSON'", `${MARK}not JSON`]] },
  {
    type: '',
    schema: { type: ['string', 'number', 'null'] },
    keeps: ['12', 12, 0.5, ''],
    refuses: [[{}, 'must be a text or a number']],
    shows: [["x'01'", `${MARK}x'01'`]]
  },
  {
    type: '',
    schema: integer,
    keeps: [12],
    shows: [["'5'", '5'], ['9007199254740993', '9007199254740993'], ['-9007199254740995', '-9007199254740995']]
  },
  {
    type: 'INTEGER',
    schema: { type: ['string', 'integer', 'null'], readOnly: true },
    shows: [["'abc'", 'abc'], ['5', 5]]
  }
]

const PREPARE = [
  'CREATE TYPE mood AS ENUM (\'good\', \'bad\')',
  'CREATE DOMAIN price AS numeric(6,2) CHECK (VALUE >= 0)',
  'CREATE TYPE pair AS (a integer, b text)'
]

async function makeStore (engine: Database, { type, schema }: Case, table: string): Promise<SqlStore> {
  const id = engine.name === 'sqlite' ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'bigserial PRIMARY KEY'
  await engine.run(`CREATE TABLE ${table} (id ${id}, version INTEGER NOT NULL DEFAULT 1, v ${type}, other INTEGER)`)
  const store = engine.store({
    table, attributes: { type: 'object', properties: { v: schema, other: { type: 'integer' } } }
  })
  await store.prepare()
  return store
}

async function messageOf (act: () => unknown): Promise<unknown> {
  try {
    await act()
  } catch (error) {
    return (error as { errors?: { v?: unknown } }).errors?.v ?? error
  }
  return 'nothing was thrown'
}

let tables = 0

async function testCase (t: Test, engine: Database, tested: Case): Promise<void> {
  const { keeps = [], spells = [], refuses = [], shows = [], raw } = tested
  // Each table has its own name, because connections keep prepared statements.
  const table = `kept${++tables}`
  const store = await makeStore(engine, tested, table)
  const readings: unknown[] = []
  for (const [given, read] of [...keeps.map((value) => [value, value] as const), ...spells]) {
    const name = JSON.stringify(given).slice(0, 60)
    const { id, attributes } = await store.create({ v: given }, {}, context)
    t.strictSame(attributes.v, read, `${name} is created`)
    t.strictSame((await store.get(id, {}, context))?.attributes.v, read, `${name} is read`)
    const written = await store.update(id, { v: given }, anyVersion, context) as { row: { attributes: Attributes } }
    t.strictSame(written.row.attributes.v, read, `${name} is updated`)
    const again = await store.update(id, { v: read }, anyVersion, context) as { row: { attributes: Attributes } }
    t.strictSame(again.row.attributes.v, read, 'what was read is written back')
    readings.push(read)
  }
  if (raw !== undefined) t.equal((await engine.run(`SELECT id FROM ${table} WHERE id = 1 AND ${raw}`)).length, 1, raw)
  for (const [given, message] of refuses) {
    t.strictSame(await messageOf(() =>
      store.create({ v: given }, {}, context)), [message], JSON.stringify(given).slice(0, 60))
    if (keeps.length > 0) {
      t.strictSame(await messageOf(() => store.update(1, { v: given }, anyVersion, context)), [message])
    }
  }
  for (const [sql, read] of shows) {
    await engine.run(`INSERT INTO ${table} (v) VALUES (${sql})`)
    readings.push(read)
  }
  const rows = await readAll(store.list(every, context))
  t.strictSame(rows.map(({ attributes }) => attributes.v), readings, 'in a list')
  // A write to another column leaves the value alone.
  for (const { id, attributes: { v } } of rows) {
    const changed = await store.update(id, { other: 1 }, anyVersion, context) as { row: { attributes: Attributes } }
    t.strictSame(changed.row.attributes, { v, other: 1 })
  }
  const isSimple = readings.every((value) =>
    typeof value !== 'object' && !String(value).startsWith(
      MARK
    )) && 'type' in tested.schema && !('contentEncoding' in tested.schema)
  if (isSimple) await testOrders(t, store, readings.length)
}

/** Checks that pages of one row, and all filters by stored values, find each row once. */
async function testOrders (t: Test, store: SqlStore, count: number): Promise<void> {
  for (const descending of [false, true]) {
    const order = [{ by: 'v', descending }, { by: 'id', descending: false }]
    const whole = (await readAll(store.list({ ...every, order }, context))).map(({ id }) => id)
    const seen: unknown[] = []
    for (let after: Query['after']; seen.length <= count;) {
      const [row] = await readAll(store.list({ ...every, order, after, limit: 1 }, context))
      if (row === undefined) break
      seen.push(row.id)
      after = [row.attributes.v as string, row.id as number]
      const left = await store.count?.({ ...every, order, after, most: undefined, estimate: false }, context)
      t.equal(left?.rows, count - seen.length)
    }
    t.strictSame(seen, whole, `page by page, ${descending ? 'descending' : 'ascending'}`)
    t.equal(seen.length, count)
  }
}

t.test('each type of PostgreSQL keeps its values', async (t) => {
  const [, engine] = await openEngines() as [Engine, Engine]
  await engine.run(...PREPARE)
  for (const tested of postgresql) {
    await t.test(`a column ${tested.type} of PostgreSQL keeps ${JSON.stringify(tested.schema)}`, (t) =>
      testCase(t, engine, tested))
  }
})

for (const driver of await findDrivers()) {
  t.test(`each type of SQLite keeps its values, and shows others as they are: ${driver.name}`, async (t) => {
    const database = driver.open(':memory:')
    const engine: Database = {
      name: 'sqlite',
      store: (options) => sqliteStore({ database, ...options }),
      run: async (...statements) => statements.map((text) =>
        text.startsWith('SELECT') ? database.prepare(text).all() as unknown[] : [database.exec(text)]).at(-1) ?? []
    }
    for (const tested of sqlite) {
      await t.test(`a column ${tested.type} of SQLite keeps ${JSON.stringify(tested.schema)}`, (t) =>
        testCase(t, engine, tested))
    }
  })
}

t.test('every format shows a value that does not fit its column, and nothing that comes back changes it', async (
  t
) => {
  const [engine] = await openEngines() as [Engine, Engine]
  const values = ["'abc'", '2.5', '9007199254740993', "x'00ff'", "'t'", '2', "'plain'", "x'0102'"]
  const types = ['INTEGER', 'INTEGER', 'INTEGER', 'TEXT', 'BOOLEAN', 'BOOLEAN', 'BLOB', 'BLOB']
  const schemas = [
    integer, integer, integer, text, { type: ['boolean', 'null'] }, { type: ['boolean', 'null'] }, bytes, bytes
  ]
  const names = types.map((_, index) => `v${index}`)
  const columns = names.map((name, index) => `${name} ${types[index]}`).join(', ')
  await engine.run(
    'CREATE TABLE loose (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL DEFAULT 1, title TEXT, ' +
      `${columns})`,
    `INSERT INTO loose (title, ${names.join(', ')}) VALUES ('T', ${values.join(', ')})`
  )
  const properties = {
    title: { type: 'string' }, ...Object.fromEntries(names.map((name, index) => [name, schemas[index]]))
  }
  const app = await build(t, {
    name: 'posts',
    store: engine.store({ table: 'loose', attributes: { type: 'object', properties } }),
    formats: ['json', 'xml', 'html'],
    writes: 'both'
  })
  const stored = async (): Promise<unknown[]> =>
    engine.run(`SELECT ${names.map((name) => `quote(${name}) AS ${name}`).join(', ')} FROM loose`)
  const before = await stored()
  t.strictSame((await app.inject('/posts/1.json')).json(), {
    post: {
      id: 1,
      title: 'T',
      v0: 'abc',
      v1: 2.5,
      v2: '9007199254740993',
      v3: `${MARK}x'00ff'`,
      v4: 't',
      v5: 2,
      v6: `${MARK}plain`,
      v7: 'AQI='
    }
  })
  const xml = (await app.inject('/posts/1.xml')).body
  t.match(
    xml,
    '<v0 type="json">"abc"</v0><v1 type="json">2.5</v1><v2 type="json">"9007199254740993"</v2><v3 ' +
      'type="json">"\\uffffx\'00ff\'"</v3>'
  )
  t.equal((await app.inject('/posts.html')).statusCode, 200)
  t.match((await app.inject('/posts/1.html')).body, '<blockquote class="kept" dir="auto">abc</blockquote>')
  // What JSON shows is refused when it comes back, unless no client could mean it as a change. It changes nothing.
  for (const name of ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6']) {
    const { post } = (await app.inject('/posts/1.json')).json<{ post: Attributes }>()
    const sent = await app.inject({
      method: 'PUT', url: '/posts.json', payload: { id: 1, post: { [name]: post[name] } }
    })
    t.equal(sent.statusCode, String(post[name]).startsWith(MARK) ? 200 : 422, `${name}: ${sent.body}`)
  }
  t.strictSame(await stored(), before)
})

t.test('long bytes are whole in lists', async (t) => {
  for (const engine of await openEngines()) {
    const store = engine.store({
      table: 'files',
      attributes: { type: 'object', properties: { content: bytes, size: { type: 'integer' } } },
      migrate: true
    })
    await store.prepare()
    const sizes = [1, 600_000, 0, 1_200_000, 300, 600_001]
    for (const size of sizes) {
      await store.create({ content: Buffer.alloc(size, size % 251).toString('base64'), size }, {}, context)
    }
    const rows = await readAll(store.list(every, context))
    t.strictSame(rows.map(({ attributes: { size } }) => size), sizes)
    for (const { attributes: { content, size } } of rows) {
      t.ok(
        Buffer.from(String(content), 'base64').equals(Buffer.alloc(Number(size), Number(size) % 251)),
        `${engine.name}: ${String(size)} bytes`
      )
    }
  }
})

t.test('conditions compare an address without the mask that a cast would add', async (t) => {
  const [, engine] = await openEngines() as [Engine, Engine]
  await engine.run('CREATE TABLE hosts (id bigserial PRIMARY KEY, version integer NOT NULL DEFAULT 1, address inet)')
  const store = engine.store({ table: 'hosts', attributes: { type: 'object', properties: { address: text } } })
  await store.prepare()
  for (const address of ['10.0.0.1', '10.0.0.0/8', null]) await store.create({ address }, {}, context)
  const find = async (condition: Query['filter'][number]): Promise<unknown[]> =>
    (await readAll(store.list({ ...every, filter: [condition] }, context))).map(({ attributes: { address } }) =>
      address)
  t.strictSame(await find({ attribute: 'address', operator: 'contains', value: '/' }), ['10.0.0.0/8'])
  t.strictSame(await find({ attribute: 'address', operator: 'not', value: '10.0.0.1' }), ['10.0.0.0/8', null])
})
