import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { type OnDelete } from '../../../lib/index.js'
import { postgresStore } from '../../../lib/sql/postgres/index.js'
import { sqliteStore, type SqlStoreOptions, type TablePlan } from '../../../lib/sql/sqlite/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { context, each, messageOf } from '../../support/stores/sql-engines.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { findDrivers } from '../../support/stores/sqlite-drivers.js'

const text = { type: 'string' } as const
const integer = { type: 'integer' } as const
const nullable = { type: ['string', 'null'] } as const

function attributesOf (
  properties: Readonly<Record<string, object>>, ...required: string[]
): SqlStoreOptions['attributes'] {
  return { type: 'object', required, properties } as SqlStoreOptions['attributes']
}

/** The columns that every case has, unless it says otherwise. */
const ID = { sqlite: 'id INTEGER PRIMARY KEY AUTOINCREMENT', postgresql: 'id bigserial PRIMARY KEY' }
const VERSION = 'version integer NOT NULL DEFAULT 1'

interface Case {
  readonly name: string
  /** The columns of the table besides the id and the version, or `undefined` if there is no table. */
  readonly columns?: string
  /** Whether the table lacks the version. */
  readonly unversioned?: true
  readonly options: Omit<SqlStoreOptions, 'table'>
  /** What the statements match, one after the other. Each database has its own types. */
  readonly statements: readonly RegExp[]
  readonly problems: readonly string[]
  /** What the rows that existed contain afterwards. */
  readonly row?: object
}

const add = (column: string, rest: string): RegExp => new RegExp(`^ALTER TABLE "notes" ADD COLUMN "${column}" ${rest}$`)
const string = '(?:TEXT|text COLLATE "C")'

const CASES: readonly Case[] = [
  {
    name: 'a missing table',
    options: { attributes: attributesOf({ title: text }, 'title'), unique: ['title'] },
    statements: [
      /^CREATE TABLE IF NOT EXISTS "notes" \(.*"title" (?:TEXT|text) NOT NULL|COLLATE/,
      /^CREATE UNIQUE INDEX IF NOT EXISTS "notes_title_key" ON "notes" \("title"\)$/
    ],
    problems: []
  },
  {
    name: 'an attribute that allows null',
    columns: '',
    options: { attributes: attributesOf({ title: nullable }, 'title') },
    statements: [add('title', string)],
    problems: [],
    row: { title: null }
  },
  {
    name: 'a required attribute that is readOnly',
    columns: '',
    options: { attributes: attributesOf({ title: { ...text, readOnly: true } }, 'title') },
    statements: [add('title', string)],
    problems: [],
    row: {}
  },
  {
    name: 'a text as the default',
    columns: '',
    options: { attributes: attributesOf({ title: { ...text, default: "it's\\" } }, 'title') },
    statements: [add('title', `${string} NOT NULL DEFAULT 'it''s\\\\'`)],
    problems: [],
    row: { title: "it's\\" }
  },
  {
    name: 'a default of an attribute that is not required',
    columns: '',
    options: { attributes: attributesOf({ size: { ...integer, default: -5 } }) },
    statements: [add('size', '(?:INTEGER|bigint) DEFAULT -5')],
    problems: [],
    row: { size: -5 }
  },
  {
    name: 'a decimal as the default',
    columns: '',
    options: {
      attributes: attributesOf(
        { price: { ...text, format: 'decimal', precision: 9, scale: 2, default: '1.50' } }, 'price'
      )
    },
    statements: [add('price', "(?:REAL NOT NULL DEFAULT 1.5|numeric\\(9,2\\) NOT NULL DEFAULT '1.50')")],
    problems: [],
    row: { price: '1.50' }
  },
  {
    name: 'a missing version',
    columns: '',
    unversioned: true,
    options: { attributes: attributesOf({}) },
    statements: [add('version', '(?:INTEGER|bigint) NOT NULL DEFAULT 1')],
    problems: [],
    row: {}
  },
  {
    name: 'missing unique indexes',
    columns: ', title text, shelf integer',
    options: { attributes: attributesOf({ title: text, shelf: integer }), unique: ['title', ['shelf', 'title']] },
    statements: [
      /^CREATE UNIQUE INDEX IF NOT EXISTS "notes_title_key" ON "notes" \("title"\)$/,
      /^CREATE UNIQUE INDEX .* \("shelf", "title"\)$/
    ],
    problems: [],
    row: {}
  },
  {
    name: 'missing unique indexes of rows that are not deleted',
    columns: ', title text, "gone ""at" text',
    options: {
      attributes: attributesOf({ title: text, at: nullable, shelf: nullable }),
      columns: { at: 'gone "at' },
      unique: ['title', ['title', 'shelf']],
      softDelete: 'at'
    },
    statements: [
      add('shelf', string),
      /^CREATE UNIQUE INDEX IF NOT EXISTS "notes_title_gone ""at_key" ON "notes" \("title"\) WHERE "gone ""at" IS NULL$/,
      /^CREATE UNIQUE INDEX .* \("title", "shelf"\) WHERE "gone ""at" IS NULL$/
    ],
    problems: [],
    row: { at: null, shelf: null }
  },
  {
    name: 'a missing foreign key with its column',
    columns: '',
    options: {
      attributes: attributesOf({ boxId: { type: ['integer', 'null'] } }),
      references: { boxId: { table: 'boxes', onDelete: 'cascade' } }
    },
    statements: [
      add('boxId', '(?:INTEGER|bigint) REFERENCES "boxes" ON DELETE CASCADE'),
      /^CREATE INDEX IF NOT EXISTS "notes_boxId_id_idx" ON "notes" \("boxId", "id"\)$/
    ],
    problems: [],
    row: { boxId: null }
  },
  {
    name: 'a missing foreign key whose version is counted',
    columns: '',
    options: {
      attributes: attributesOf({ boxId: { ...integer, default: 5 } }),
      references: { boxId: { table: 'boxes', onDelete: 'set null' } }
    },
    statements: [
      add('boxId', '(?:INTEGER|bigint) REFERENCES "boxes" ON DELETE SET NULL'), /^CREATE INDEX/,
      /^CREATE (?:TRIGGER|OR REPLACE FUNCTION)/
    ],
    problems: [],
    row: {}
  },
  // What the app must do itself:
  {
    name: 'a required attribute without a default',
    columns: '',
    options: { attributes: attributesOf({ size: integer, title: text }, 'size'), unique: ['size', 'title'] },
    statements: [add('title', string), /^CREATE UNIQUE INDEX .* \("title"\)$/],
    problems: [
      'There is no column "size" for "size" (such as TYPE). The rows that exist would have no "size", which is ' +
        'required. Run this, and fill the column: ALTER TABLE "notes" ADD COLUMN "size" TYPE.',
      'There is no unique index of "size". Its columns must be added first.'
    ]
  },
  {
    name: 'a column of another type',
    columns: ', size text',
    options: { attributes: attributesOf({ size: integer }) },
    statements: [],
    problems: ['The column "size" is of type text, which does not keep "size" (integer) as it is; TYPE does.']
  },
  {
    name: 'a column without an attribute',
    columns: ", more text NOT NULL CHECK (more <> '')",
    options: { attributes: attributesOf({ title: nullable }) },
    statements: [add('title', string)],
    problems: ['The column "more" of type text must not be null and has no default, but no attribute fills it.']
  },
  {
    name: 'a key without an index',
    columns: ', code text',
    options: { attributes: attributesOf({ code: text, title: nullable }), key: ['code'] },
    statements: [add('title', string)],
    problems: ['There is no unique index of the key "code" whose columns are not null.']
  }
]

const TYPE = { sqlite: 'INTEGER', postgresql: 'bigint' }

each('the plan of a table, and what comes of its statements', async (t, engine) => {
  await engine.run(`CREATE TABLE boxes (${ID[engine.name]})`)
  for (const { name, columns, unversioned, options, statements, problems, row } of CASES) {
    await t.test(name, async (t) => {
      t.teardown(() => engine.run('DROP TABLE IF EXISTS notes'))
      if (columns !== undefined) {
        await engine.run(
          `CREATE TABLE notes (${ID[engine.name]}${unversioned === true ? '' : `, ${VERSION}`}${columns})`
        )
        if (row !== undefined) await engine.run('INSERT INTO notes (id) VALUES (1)')
      }
      const store = engine.store({ table: 'notes', ...options })
      const plan = await store.plan()
      t.equal(plan.table, 'notes')
      t.strictSame(
        plan.problems,
        problems.map(
          (problem) => problem.replaceAll('TYPE', TYPE[engine.name]).replace(
            'of type text', engine.name === 'sqlite' ? 'of type TEXT' : 'of type text'
          )
        )
      )
      t.equal(plan.statements.length >= statements.length, true)
      for (const [index, pattern] of statements.entries()) t.match(plan.statements[index], pattern)
      t.strictSame(await store.plan(), plan, 'a plan changes nothing')
      if (problems.length > 0) {
        const message = await messageOf(() => store.migrate())
        t.match(message, 'which does not fit: ')
        t.equal(message, await messageOf(() => store.prepare()), 'the same sentence')
        t.strictSame(await store.plan(), plan, 'a migration does nothing if something is left to the app')
        return
      }
      if (plan.statements.length > 0) await t.rejects(async () => store.prepare())
      for (const statement of plan.statements) await engine.run(statement)
      t.strictSame(await store.plan(), { table: 'notes', statements: [], problems: [] })
      await store.prepare()
      if (row !== undefined) t.strictSame((await store.get(1, {}, context))?.attributes, row)
      await engine.run('DROP TABLE notes')
      if (columns === undefined) return
      await engine.run(`CREATE TABLE notes (${ID[engine.name]}${unversioned === true ? '' : `, ${VERSION}`}${columns})`)
      await store.migrate()
      await store.migrate()
      t.strictSame((await store.plan()).statements, [], 'a migration does the same')
    })
  }
})

t.test('two connections that add the same columns at once', async (t) => {
  const attributes = attributesOf({ title: { ...text, default: 'T' }, more: text }, 'title')
  const server = await startPostgres(t)
  const [one, other] = [server.pool(), server.pool()]
  await one.query(`CREATE TABLE notes (${ID.postgresql}, ${VERSION})`)
  // Both wait for the lock, so that both have seen the table without the columns.
  const blocker = await one.connect()
  await blocker.query('BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE')
  const migrations = Promise.all([one, other].map((pool) =>
    postgresStore({ pool, table: 'notes', attributes }).migrate()))
  for (let waiting = 0; waiting < 2;) {
    const {
      rows: [row]
    } = await one.query<{ count: string }>("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    waiting = Number(row?.count)
  }
  await blocker.query('COMMIT')
  blocker.release()
  await migrations
  const columns = await one.query<{ column_name: string }>(
    "SELECT column_name FROM information_schema.columns WHERE table_name = 'notes' ORDER BY ordinal_position"
  )
  t.strictSame(columns.rows.map(({ column_name: name }) => name), ['id', 'version', 'title', 'more'])

  for (const driver of await findDrivers()) {
    const path = `${t.testdir()}/${driver.name.replace(':', '-')}.sqlite`
    makeDatabase(`CREATE TABLE notes (${ID.sqlite}, ${VERSION})`, path).close()
    const databases = [driver.open(path), driver.open(path)]
    // The first connection has a plan when the second one alters the table.
    const [database, other] = databases as [typeof databases[number], typeof databases[number]]
    const store = sqliteStore({ database, table: 'notes', attributes })
    const { exec } = database
    t.intercept(database, 'exec', {
      value (sql: string) {
        if (sql.includes('"title"')) other.exec(sql)
        return exec.call(database, sql)
      }
    })
    await store.migrate()
    t.strictSame((await store.plan()).statements, [])
    for (const database of databases) database.close()
  }
})

each('a foreign key with another rule is left to the app, and a view cannot be altered', async (t, engine) => {
  await engine.run(
    `CREATE TABLE boxes (${ID[engine.name]})`,
    `CREATE TABLE notes (${ID[engine.name]}, ${VERSION}, "boxId" INTEGER REFERENCES boxes ON DELETE CASCADE)`,
    'CREATE VIEW seen AS SELECT id, version FROM notes'
  )
  const attributes = attributesOf({ boxId: { type: ['integer', 'null'] } })
  const planOf = async (onDelete: OnDelete): Promise<TablePlan> =>
    engine.store({ table: 'notes', attributes, references: { boxId: { table: 'boxes', onDelete } } }).plan()
  t.strictSame(await planOf('cascade'), { table: 'notes', statements: [], problems: [] })
  t.strictSame(await planOf('restrict'), {
    table: 'notes',
    statements: [],
    problems: ['The foreign key "boxId" has ON DELETE CASCADE, but needs ON DELETE RESTRICT.']
  })
  const view = engine.store({ table: 'seen', attributes: attributesOf({ title: text }), unique: ['title'] })
  const { statements, problems } = await view.plan()
  t.strictSame(statements, [])
  t.match(
    problems.join(' '), /There is no column "title" for "title" \(such as \w+\)\. There is no unique index of "title"\./
  )
})

each('a foreign key of a column that exists', async (t, engine) => {
  await engine.run(
    `CREATE TABLE boxes (${ID[engine.name]})`, `CREATE TABLE notes (${ID[engine.name]}, ${VERSION}, "boxId" INTEGER)`
  )
  const store = engine.store({
    table: 'notes', attributes: attributesOf({ boxId: integer }), references: { boxId: { table: 'boxes' } }
  })
  const { statements, problems } = await store.plan()
  if (engine.name === 'sqlite') {
    t.strictSame(
      { statements, problems },
      {
        statements: [],
        problems: [
          'The column "boxId" has no foreign key to "boxes" with ON DELETE RESTRICT, which the database can only add ' +
            'to a new table: move the rows to one.'
        ]
      }
    )
    return
  }
  t.strictSame(
    { statements, problems },
    {
      statements: [
        'ALTER TABLE "notes" ADD FOREIGN KEY ("boxId") REFERENCES "boxes" ON DELETE RESTRICT',
        'CREATE INDEX IF NOT EXISTS "notes_boxId_id_idx" ON "notes" ("boxId", "id")'
      ],
      problems: []
    }
  )
  await store.migrate()
  t.strictSame((await store.plan()).statements, [])
})

each('rows that share a value keep a unique index from being made, and the error says so', async (t, engine) => {
  await engine.run(
    `CREATE TABLE notes (${ID[engine.name]}, ${VERSION}, title text ${engine.name === 'sqlite' ? '' : 'COLLATE "C"'})`,
    "INSERT INTO notes (title) VALUES ('A'), ('A')"
  )
  const store = engine.store({ table: 'notes', attributes: attributesOf({ title: text }), unique: ['title'] })
  t.match(await messageOf(() => store.migrate()),
    'Option "table" is "notes", whose rows do not allow this; change them first: CREATE UNIQUE INDEX')
})

t.test('a plan does not change a file, and does not create one', async (t) => {
  const folder = t.testdir()
  const attributes = attributesOf({ title: text })
  const missing = sqliteStore({ file: `${folder}/missing.sqlite`, table: 'notes', attributes })
  t.match(await missing.plan(), { statements: [/^CREATE TABLE/], problems: [] })
  t.notOk(existsSync(`${folder}/missing.sqlite`))

  const file = `${folder}/notes.sqlite`
  makeDatabase(`CREATE TABLE notes (${ID.sqlite}, ${VERSION})`, file).close()
  const before = readFileSync(file)
  const store = sqliteStore({ file, table: 'notes', attributes })
  t.strictSame(await store.plan(), {
    table: 'notes', statements: ['ALTER TABLE "notes" ADD COLUMN "title" TEXT'], problems: []
  })
  t.ok(before.equals(readFileSync(file)))
  await store.migrate()
  t.strictSame((await store.plan()).statements, [])
  store.close()
})
