import t, { type Test } from 'tap'
import { describeDatabase } from '../../../../lib/database/index.js'
import { type SqliteDatabase, type TableDescription } from '../../../../lib/sql/sqlite/index.js'
import * as databases from '../../../support/stores/databases/sqlite.js'
import { findDrivers } from '../../../support/stores/sqlite-drivers.js'

type Case = readonly [attribute: string, schema: object]

/** Runs the same test with each driver, on a database that the statements have made. */
function each (name: string, statements: string, body: (t: Test, database: SqliteDatabase) => Promise<void>): void {
  t.test(name, async (t) => {
    for (const driver of await findDrivers()) {
      await t.test(driver.name, async (t) => {
        const database = driver.open(':memory:')
        t.teardown(() => database.close())
        database.exec(statements)
        await body(t, database)
      })
    }
  })
}

async function describeOne (database: SqliteDatabase, name: string): Promise<TableDescription> {
  const [table] = await describeDatabase(database, { only: [name] })
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}

/** Compares the attributes of a table with those of the cases, in their order. */
async function compare (t: Test, database: SqliteDatabase, name: string, cases: readonly Case[]): Promise<void> {
  const { attributes } = await describeOne(database, name)
  const properties = Object.entries(attributes.properties)
  t.strictSame(properties.map(([attribute]) => attribute), cases.map(([attribute]) => attribute), 'the attributes')
  for (const [index, [attribute, schema]] of cases.entries()) {
    t.strictSame(properties[index]?.[1], schema, `${name}.${attribute}`)
  }
}

const TYPES: readonly Case[] = [
  ['whole', { type: ['integer', 'null'] }],
  ['small', { type: ['integer', 'null'] }],
  ['big', { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 }],
  ['huge', { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 }],
  ['real_number', { type: ['number', 'null'] }],
  ['float_number', { type: ['number', 'null'] }],
  ['price', { type: ['string', 'null'], format: 'decimal', precision: 10, scale: 2 }],
  ['amount', { type: ['string', 'null'], format: 'decimal', precision: 15, scale: 4 }],
  ['free', { type: ['string', 'null'], format: 'decimal' }],
  ['cents', { type: ['string', 'null'], format: 'decimal', precision: 18, scale: 0 }],
  ['flag', { type: ['boolean', 'null'] }],
  ['note', { type: ['string', 'null'] }],
  ['code', { type: ['string', 'null'], maxLength: 3 }],
  ['title', { type: ['string', 'null'], maxLength: 10 }],
  ['long_title', { type: ['string', 'null'] }],
  ['day', { type: ['string', 'null'], format: 'date' }],
  ['odd_day', { type: ['string', 'null'], format: 'date-time-text' }],
  ['moment', { type: ['string', 'null'], format: 'date-time' }],
  ['local_moment', { type: ['string', 'null'], format: 'date-time-local' }],
  ['spaced_moment', { type: ['string', 'null'], format: 'date-time-text', examples: ['2000-01-31 13:45:00'] }],
  ['epoch', { type: ['integer', 'null'] }],
  ['clock', { type: ['string', 'null'], format: 'time-local' }],
  ['file', { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 6_990_508 }],
  ['text_file', { type: ['string', 'null'] }],
  ['document', {}],
  ['broken_document', { type: ['string', 'null'] }],
  ['token', { type: ['string', 'null'], format: 'uuid' }],
  ['untyped', { type: ['string', 'null'] }],
  ['untyped_number', { type: ['integer', 'null'] }],
  ['unusual', { type: ['string', 'null'] }]
]

const EMPTY: readonly Case[] = [
  ['day', { type: ['string', 'null'], format: 'date' }],
  ['moment', { type: ['string', 'null'], format: 'date-time-text' }],
  ['made', { type: ['string', 'null'], format: 'date-time-text', examples: ['2000-01-31 13:45:00'] }],
  ['short_moment', { type: ['string', 'null'], format: 'date-time-text' }],
  ['cost', { type: 'string', format: 'decimal', precision: 4, scale: 2, default: '4.50' }],
  ['large_cost', { type: ['string', 'null'], format: 'decimal', precision: 4, scale: 2 }],
  ['fine_cost', { type: ['string', 'null'], format: 'decimal', precision: 4, scale: 2 }],
  ['free_cost', { type: ['string', 'null'], format: 'decimal', default: '1.25' }],
  ['far_cost', { type: ['string', 'null'], format: 'decimal' }],
  ['text_cost', { type: ['string', 'null'], format: 'decimal' }],
  ['since', { type: 'string', format: 'date-time-text', minLength: 10, default: '2026-01-31 12:00' }],
  ['file', { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 6_990_508 }],
  ['flag', { type: ['boolean', 'null'] }],
  ['untyped', { type: ['string', 'null'] }]
]

const STRICT: readonly Case[] = [
  ['whole', { type: 'integer' }],
  ['note', { type: ['string', 'null'] }],
  ['anything', { type: ['string', 'null'] }],
  ['file', { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 6_990_508 }]
]

const CHECKS: readonly Case[] = [
  ['whole', { type: 'integer', minimum: 0, maximum: 10 }],
  ['above', { type: ['number', 'null'], exclusiveMinimum: -1.5, exclusiveMaximum: 100 }],
  ['reversed', { type: ['integer', 'null'], exclusiveMinimum: 5 }],
  ['ranged', { type: ['integer', 'null'], minimum: 2 }],
  ['status', { type: 'string', enum: ['draft', "it's (sent)"], default: 'draft' }],
  ['either', { type: ['string', 'null'] }],
  ['code', { type: ['string', 'null'], minLength: 3, maxLength: 3 }],
  ['short', { type: ['string', 'null'], maxLength: 5, minLength: 1 }],
  ['loose', { type: ['string', 'null'] }],
  ['binary', { type: ['string', 'null'], enum: ['a', 'b', null] }],
  ['price', { type: ['string', 'null'], format: 'decimal', precision: 10, scale: 2, default: '0.50' }],
  ['rating', { type: ['integer', 'null'], enum: [1, 2, 3, null], default: 3 }],
  ['odd_name', { type: ['integer', 'null'], exclusiveMaximum: 100, default: -1 }],
  ['flag', { type: ['boolean', 'null'], default: true }],
  ['made', { type: ['string', 'null'] }],
  ['greeting', { type: ['string', 'null'], maxLength: 9, default: 'Hello' }],
  ['wrong', { type: ['string', 'null'], maxLength: 3 }],
  ['wrong_type', { type: ['string', 'null'] }],
  ['ratio', { type: ['number', 'null'], default: 0.5 }]
]

const MIXTURES: readonly Case[] = [
  ['whole', { type: ['string', 'number', 'null'], readOnly: true }],
  ['flag', { type: ['integer', 'null'] }],
  ['price', { type: ['string', 'number', 'null'], readOnly: true }],
  ['note', { type: ['string', 'null'], readOnly: true }],
  ['day', { type: ['string', 'number', 'null'], readOnly: true }],
  ['anything', { type: ['string', 'number', 'null'], readOnly: true }]
]

each('the declared type and the values of a column make its schema', databases.TYPES, async (t, database) => {
  await compare(t, database, 'types', TYPES)
  await compare(t, database, 'empty_types', EMPTY)
  await compare(t, database, 'strict_types', STRICT)
  await compare(t, database, 'made_moments', [['made', { type: ['string', 'null'], format: 'date-time-text' }]])
  t.strictSame((await describeOne(database, 'strict_types')).attributes.required, ['whole'])
})

each('simple constraints become keywords, and the others are left to the database', databases.CHECKS, async (
  t, database
) => {
  await compare(t, database, 'checks', CHECKS)
  t.match(await describeOne(database, 'checks'), {
    attributes: { required: ['whole'] }, unique: [['code']], columns: { odd_name: 'odd name' }
  })
})

each('a boolean has a default of 0 or 1, as SQLite keeps them', `
  CREATE TABLE flags (
    id INTEGER PRIMARY KEY,
    done BOOLEAN NOT NULL DEFAULT 1,
    sent BOOLEAN DEFAULT (0),
    seen BOOL NOT NULL DEFAULT TRUE,
    odd BOOLEAN DEFAULT 2
  )`, async (t, database) => {
  await compare(t, database, 'flags', [
    ['done', { type: 'boolean', default: true }],
    ['sent', { type: ['boolean', 'null'], default: false }],
    ['seen', { type: 'boolean', default: true }],
    ['odd', { type: ['boolean', 'null'] }]
  ])
  t.strictSame((await describeOne(database, 'flags')).attributes.required, ['done', 'seen'])
})

each('a counter that may be null is no version, and bytes are unique in no words', `
  CREATE TABLE loose (id INTEGER PRIMARY KEY, a TEXT, d BLOB, lock_version INTEGER);
  CREATE UNIQUE INDEX loose_bytes ON loose (d) WHERE a IS NULL`, async (t, database) => {
  const { version, uniqueWhereNull } = await describeOne(database, 'loose')
  t.strictSame([version, uniqueWhereNull], ['values', undefined])
})

each('a column of JSON may contain numbers, which SQLite does not keep as texts', `
  CREATE TABLE documents (id INTEGER PRIMARY KEY, content JSON, broken JSON, bytes JSON);
  INSERT INTO documents VALUES
    (1, '{"a":1}', '{}', '{}'),
    (2, '5', '5', '5'),
    (3, '2.5', '{', x'00'),
    (4, '"5"', NULL, NULL)`, async (t, database) => {
  await compare(t, database, 'documents', [
    ['content', {}],
    ['broken', { type: ['string', 'number', 'null'], readOnly: true }],
    ['bytes', { type: ['string', 'number', 'null'], readOnly: true }]
  ])
})

each('a column with values of other types than it declares is read-only', databases.MIXTURES, async (t, database) => {
  await compare(t, database, 'mixtures', MIXTURES)
  const { problems, canCreate } = await describeOne(database, 'mixtures')
  t.strictSame(problems.map(({ column }) => column), ['whole', 'price', 'note', 'day', 'anything'])
  const result = 'contains other values, so its values are shown as they are and are read-only.'
  t.match(problems, [
    { problem: `The column "whole" is declared as INTEGER and ${result}` }, {}, {}, {},
    { problem: `The column "anything" has no declared type and ${result}` }
  ])
  t.ok(canCreate)
  t.match(await describeOne(database, 'only_mixture'), {
    attributes: { properties: { whole: { type: ['string', 'number', 'null'] } } }, canUpdate: false
  })
  const late = await describeOne(database, 'late_mixture')
  t.match(late, {
    attributes: { properties: { whole: { type: ['string', 'number'], readOnly: true } } },
    canCreate: false,
    canUpdate: false,
    canDelete: true
  })
  t.match(late.problems[1], {
    column: 'whole', problem: 'Rows cannot be created: they need a value of "whole", which cannot be written.'
  })
})

const READ_ONLY = { canCreate: false, canUpdate: false, canDelete: false }
const WRITABLE = {
  canCreate: true, canUpdate: true, canDelete: true, needsVersion: false, isServed: true, version: 'values'
}
const UNKEYED = { ...WRITABLE, needsVersion: true }

/** Returns what is said of a table whose rows have only their numbers. */
function unkeyed (table: string, why = 'has no complete primary key'): string {
  return `The table "${table}" ${why}, so updates and deletions must name the version of their row, ` +
    'and after VACUUM links may lead to other rows.'
}

/** The parts of descriptions that depend on the key and the kind. */
const KINDS: ReadonlyArray<readonly [table: string, expected: object, problem?: string]> = [
  ['counted', { kind: 'table', id: 'integer', columns: {}, ...WRITABLE }],
  ['other_name', { id: 'integer', columns: { id: 'number', id_: 'id' }, ...WRITABLE }],
  ['backwards', { id: 'integer', key: ['id_'], columns: { id_: 'id' }, ...WRITABLE }],
  [
    'countries',
    { id: 'string', key: ['id_'], columns: { id_: 'id' }, attributes: { required: ['id_', 'name'] }, ...WRITABLE }
  ],
  [
    'nullable_key',
    {
      id: 'string',
      key: ['code'],
      attributes: { required: ['code'], properties: { code: { type: 'string' } } },
      ...WRITABLE
    }
  ],
  [
    'nullable_pair',
    {
      id: 'string',
      key: ['a', 'b'],
      attributes: { required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'integer' } } },
      ...WRITABLE
    }
  ],
  [
    'null_key',
    {
      id: 'integer',
      columns: { id: 'rowid' },
      attributes: { properties: { a: { type: ['string', 'null'] }, b: { type: ['integer', 'null'] } } },
      ...UNKEYED
    },
    unkeyed('null_key')
  ],
  ['profiles', { id: 'integer', key: ['user_id'], columns: {}, references: { user_id: 'counted' }, ...WRITABLE }],
  [
    'logs', { id: 'integer', columns: { id: 'rowid' }, ...UNKEYED },
    unkeyed('logs')
  ],
  [
    'hidden_logs', { id: 'integer', columns: { id: 'oid' }, ...UNKEYED },
    unkeyed('hidden_logs')
  ],
  [
    'no_row_name', { id: 'string', key: ['rowid', '_rowid_'], ...READ_ONLY },
    'The table "no_row_name" has no primary key, so its rows are read-only.'
  ],
  ['unique_only', { id: 'string', key: ['email'], unique: [['name']], ...WRITABLE }],
  ['unique_number', { id: 'integer', key: ['number'], unique: [['loose']], ...WRITABLE }],
  [
    'loose_codes', { id: 'integer', columns: { id: 'rowid' }, ...UNKEYED },
    unkeyed('loose_codes')
  ],
  [
    'number_notes',
    {
      references: { number: 'unique_number', loose: undefined, code: undefined },
      attributes: { properties: { number: { type: ['integer', 'null'] }, loose: { format: 'decimal' } } },
      ...WRITABLE
    }
  ],
  [
    'clustered',
    {
      id: 'string',
      key: ['tenant', 'number'],
      attributes: { required: ['tenant', 'number'], properties: { tenant: { type: 'string' } } },
      ...WRITABLE
    }
  ],
  ['clustered_number', { id: 'integer', key: ['number'], ...WRITABLE }],
  [
    'blob_key', { id: 'integer', columns: { id: 'rowid' }, ...UNKEYED },
    unkeyed('blob_key', 'has "hash" in its primary key, which paths cannot contain')
  ],
  [
    'generated',
    {
      attributes: { required: ['price'], properties: { tax: { readOnly: true }, total: { readOnly: true } } },
      ...WRITABLE
    }
  ],
  ['only_generated', { canCreate: true, canUpdate: false, canDelete: true }],
  ['groups', { unique: [['a', 'b'], ['c', 'a']] }],
  [
    'named', { kind: 'view', id: 'string', key: ['id_', 'name'], isServed: true, version: 'values', ...READ_ONLY },
    'The column "loud" has no type, so lists are neither sorted nor filtered by it. CAST it in the view.'
  ],
  ['writable_view', { kind: 'view', key: ['name'], ...READ_ONLY }, 'The view "writable_view" is read-only.'],
  ['blobs', { isServed: true, key: ['file'], ...READ_ONLY }, 'The view "blobs" is read-only.'],
  [
    'broken', { isServed: false, attributes: { properties: {} }, ...READ_ONLY },
    'SQLite cannot read "broken": no such column: missing.'
  ],
  [
    'search', { kind: 'table', id: 'integer', columns: { id: 'rowid' }, isServed: true, ...READ_ONLY },
    'The virtual table "search" is read-only.'
  ]
]

each('the key and the kind of a table decide about its ids and writes', databases.KINDS, async (t, database) => {
  const tables = await describeDatabase(database)
  t.strictSame(tables.map(({ name }) =>
    name), KINDS.map(([name]) => name).sort(), 'tables of SQLite and shadow tables are left out')
  for (const [name, expected, problem] of KINDS) {
    const found = tables.find((table) => table.name === name)
    t.match(found, expected, name)
    t.equal(found?.problems.at(-1)?.problem, problem, name)
    if (!Object.hasOwn(expected, 'key')) t.notOk(Object.hasOwn(found ?? {}, 'key'), `${name} has no key of attributes`)
  }
})

each('versions, references and names come from the columns', databases.NAMES, async (t, database) => {
  const tables = new Map((await describeDatabase(database)).map((table) => [table.name, table]))
  const versions = ['versioned', 'locked', 'document_versions', 'text_version'].map((name) => tables.get(name)?.version)
  t.strictSame(versions, ['values', 'lock_version', 'values', 'values'])
  t.match(
    tables.get('versioned')?.attributes.properties, { version: { type: 'integer', default: 1 } },
    'a column "version" is an attribute'
  )
  t.notOk(
    Object.hasOwn(tables.get('locked')?.attributes.properties ?? {}, 'lock_version'),
    'a version that is counted is none'
  )
  const names = tables.get('select')
  t.strictSame(names?.columns, {
    first_name_2: 'first name', _2nd: '2nd', a_b: 'a:b', quo_te: 'quo"te', _: '😀', id_1: 'id:1', sq_uare: 'sq[uare'
  })
  t.strictSame(Object.keys(
    names?.attributes.properties ?? {}
  ), ['order', 'first_name_2', 'first_name', '_2nd', 'a_b', 'Größe', 'quo_te', '_', 'id_1', 'sq_uare'])
  t.strictSame(names?.problems, [{ column: '__proto__', problem: 'No column can be called "__proto__" here.' }])
  t.match(tables.get('orphans'), {
    references: {},
    ...READ_ONLY,
    problems: [
      { problem: 'Rows of "orphans" are read-only, because they refer to the table "nowhere", which does not exist.' }
    ]
  })
  t.match(tables.get('mismatched'), {
    references: {},
    canCreate: false,
    problems: [
      {
        problem: 'Rows of "mismatched" are read-only, because they refer to columns of "versioned" that are not unique.'
      }
    ]
  })
  t.match(tables.get('to_unique'), { references: {}, problems: [], canCreate: true })
  t.match(tables.get('pair_notes')?.attributes.properties, {
    b: { type: ['integer', 'null'] }, big: { format: 'decimal' }
  })
  t.match(tables.get('wide')?.attributes.properties, {
    column_1: { format: 'date' }, column_400: { type: ['string', 'null'], format: 'date-time-text' }
  })
})

each('a shop is served', databases.SHOP, async (t, database) => {
  const tables = await describeDatabase(database)
  t.strictSame(tables.map(({ name, references }) => [name, references]), [
    ['Album', { ArtistId: 'Artist' }],
    ['AlbumLength', {}],
    ['Artist', {}],
    ['Employee', { ReportsTo: 'Employee' }],
    ['Playlist', {}],
    ['PlaylistTrack', { PlaylistId: 'Playlist', TrackId: 'Track' }],
    ['Track', { AlbumId: 'Album' }]
  ])
  t.strictSame(tables.find(({ name }) => name === 'Track'), {
    name: 'Track',
    kind: 'table',
    id: 'integer',
    columns: { id: 'TrackId' },
    attributes: {
      type: 'object',
      required: ['Name', 'Milliseconds', 'UnitPrice'],
      properties: {
        Name: { type: 'string', maxLength: 200 },
        AlbumId: { type: ['integer', 'null'], format: 'int64' },
        Milliseconds: { type: 'integer', exclusiveMinimum: 0 },
        Bytes: { type: ['string', 'null'], format: 'decimal', precision: 19, scale: 0 },
        UnitPrice: { type: 'string', format: 'decimal', precision: 10, scale: 2 }
      }
    },
    unique: [],
    references: { AlbumId: 'Album' },
    onDelete: { AlbumId: 'restrict' },
    version: 'values',
    canCreate: true,
    canUpdate: true,
    canDelete: true,
    needsVersion: false,
    problems: [],
    isServed: true
  })
})

each('options select tables', databases.SHOP, async (t, database) => {
  const namesOf = async (options: object): Promise<string[]> => (await describeDatabase(database, options)).map(({
    name
  }) =>
    name)
  t.strictSame(await namesOf({ only: ['Track', 'Album'] }), ['Album', 'Track'])
  t.strictSame(await namesOf({ except: ['Track', 'Album', 'AlbumLength', 'Employee'] }), [
    'Artist', 'Playlist', 'PlaylistTrack'
  ])
  t.strictSame(await namesOf({ only: ['Track', 'Album'], except: ['Album'] }), ['Track'])
  t.match(
    (await describeDatabase(database, { only: ['Album'] }))[0]?.references, { ArtistId: 'Artist' },
    'references name tables that are not selected'
  )
  const code = 'FST_RESOURCES_INVALID_OPTION'
  await t.rejects(namesOf({ only: ['Tracks'] }), { code, message: /"only" names "Tracks".*did you mean "Track"/ })
  await t.rejects(namesOf({ except: ['track'] }), { code, message: /"except" names "track".*did you mean "Track"/ })
  await t.rejects(namesOf({ only: 'Track' }), { code, message: /"only" must be a list of tables/ })
  await t.rejects(namesOf({ except: [1] }), { code, message: /"except" must be a list of tables/ })
  await t.rejects(namesOf({ schema: '' }), { code, message: /"schema" must be the name of a schema/ })
  await t.rejects(namesOf({ schema: 'main' }), { code, message: /"schema" works only with PostgreSQL/ })
  await t.rejects(namesOf({ tables: [] }), { code: 'FST_RESOURCES_UNKNOWN_OPTION' })
})

each('nothing is writable in a database that only allows queries', `${databases.SHOP} PRAGMA query_only = ON`, async (
  t, database
) => {
  for (const table of await describeDatabase(database)) {
    t.match(table, { ...READ_ONLY, isServed: true, problems: [{ problem: 'The database is read-only.' }] }, table.name)
  }
})

const SPELLINGS = `
  CREATE TABLE days (id INTEGER PRIMARY KEY, day DATE, noon DATETIME, midnight DATETIME, thousandth DATETIME,
    short DATETIME, spaced TIMESTAMP, mixed DATETIME, odd DATETIME);
  INSERT INTO days VALUES
    (1, '1996-07-04 00:00:00', '1996-07-04', '1996-07-04 00:00:00.000', '1996-07-04 10:31:00.000', '1996-07-04 10:31',
      '1996-07-04 10:31:05', '1996-07-04 00:00:00', 'July 4'),
    (2, NULL, '1996-07-05', NULL, '1996-07-05 00:00:00.000', '1996-07-05 00:00', '1996-07-04 00:00:00',
      '1996-07-04 00:00:00.000', '1996-07-04');`

each('dates in one spelling have an example of it', SPELLINGS, async (t, database) => {
  const { attributes: { properties } } = await describeOne(database, 'days')
  t.strictSame(Object.entries(properties).map(([name, { examples: [example] = [] }]) => `${name} ${example}`), [
    'day 2000-01-31 00:00:00', 'noon 2000-01-31', 'midnight 2000-01-31 00:00:00.000',
    'thousandth 2000-01-31 13:45:00.000', 'short 2000-01-31 13:45', 'spaced 2000-01-31 13:45:00', 'mixed undefined',
    'odd undefined'
  ])
})

const REPEATING = `
  CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, nick TEXT, note TEXT, code INTEGER, long TEXT, few TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO people SELECT i, 'Ken', CASE WHEN i < 4 THEN 'a' ELSE 'n' || i END, CASE WHEN i > 31 THEN 'x' END, 1,
    replace(hex(zeroblob(150)), '0', 'y'), CASE WHEN i < 10 THEN 'z' END FROM n;
  CREATE TABLE wide (${Array.from({ length: 900 }, (_, index) => `c${index} TEXT`).join()});
  INSERT INTO wide (c0) VALUES ${Array.from({ length: 20 }, () => "('same')").join()}`

each('texts that many rows share are marked', REPEATING, async (t, database) => {
  const { attributes: { properties } } = await describeOne(database, 'people')
  const marked = Object.entries(properties).filter(([, schema]) => 'x-repeats' in schema).map(([name]) => name)
  t.strictSame(marked, ['name'], 'neither a few, nor numbers, nor texts too long for a name')
  const wide = await describeOne(database, 'wide')
  t.match(wide.attributes.properties, { c0: { 'x-repeats': true } })
})

t.test('another object is no database', async (t) => {
  await t.rejects(describeDatabase(
    {} as SqliteDatabase
  ), { code: 'FST_RESOURCES_INVALID_OPTION', message: /must be a pool of pg, or an open database of SQLite/ })
})
