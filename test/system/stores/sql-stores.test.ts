import t from 'tap'
import { type Scope } from '../../../lib/index.js'
import { type SqlStore, type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { equalTo } from '../../../lib/contract/scenarios/filters.js'
import { build } from '../../support/helper.js'
import {
  context, each, type Engine, every, everything, openEngines, openMigrated, readAll, thrownBy
} from '../../support/stores/sql-engines.js'

const anyVersion = { version: undefined, scope: {} }
const title = { type: 'object', properties: { title: { type: 'string' } } } as const
const values = {
  title: 'T',
  email: 'a@example.com',
  rating: 5,
  price: 0.1,
  published: false,
  publishedAt: '2026-01-31T12:00:00.123456789+02:00',
  day: '2026-01-31',
  tags: ['a', '', 'b"\\'],
  author: { name: 'A', deep: [{ x: null }] },
  mixed: '5',
  anything: [1, 'x', null]
}

each('migrate changes nothing if its work is done', async (t, engine) => {
  const options: SqlStoreOptions = { table: 'posts', attributes: everything, unique: ['email', ['title', 'rating']] }
  const store = await openMigrated(engine, options)
  await store.create(values, {}, context)
  await store.migrate()
  await (await openMigrated(engine, options)).prepare()
  await (await openMigrated(engine, { ...options, migrate: true })).prepare()
  t.equal((await readAll(store.list(every, context))).length, 1)
  const other = engine.store({
    table: 'posts', attributes: { type: 'object', properties: { title: { type: 'integer' } } }
  })
  t.match(
    (await thrownBy(() => other.migrate())).message,
    /the column "title" is of type (TEXT|text), which does not keep "title" \(integer\)/,
    'existing columns are checked'
  )
  await openMigrated(engine, { ...options, unique: ['price'] })
  t.equal((await thrownBy(() =>
    store.create(
      { ...values, email: 'b', title: 'U' }, {}, context
    ))).message, 'price is already taken', 'a missing unique index is added')
})

each('a table that several processes create at once is created once', async (t, engine) => {
  const stores = Array.from({ length: 8 }, () =>
    engine.store({ table: 'posts', attributes: everything, unique: ['email'] }))
  await Promise.all(stores.map(async (store) => store.migrate()))
  await Promise.all(stores.map(async (store) => store.create({ title: 'T' }, {}, context)))
  t.equal((await readAll((stores[0] as SqlStore).list(every, context))).length, 8)
})

each('a long name of an index is shortened and stays unique', async (t, engine) => {
  const [one, other] = ['a', 'b'].map((end) => `${'é'.repeat(28)}${end}`) as [string, string]
  const attributes = { type: 'object', properties: { [one]: { type: 'string' }, [other]: { type: 'string' } } } as const
  const store = await openMigrated(engine, { table: 'posts', attributes, unique: [one, other] })
  await store.create({ [one]: '1', [other]: '1' }, {}, context)
  t.equal((await thrownBy(() =>
    store.create({ [one]: '1', [other]: '2' }, {}, context))).message, `${one} is already taken`)
  t.equal((await thrownBy(() =>
    store.create({ [one]: '2', [other]: '1' }, {}, context))).message, `${other} is already taken`)
})

t.test('a table that does not fit throws, with column and type', async (t) => {
  const WIDER_KEY =
    /"id" is neither the primary key nor unique; a unique key of several columns is enough if the others are/
  const tags = { type: 'object', properties: { tags: { type: 'array' } } } as const
  const id = { sqlite: 'id INTEGER PRIMARY KEY AUTOINCREMENT', postgresql: 'id bigserial PRIMARY KEY' }
  const version = 'version INTEGER NOT NULL DEFAULT 0'
  const cases: ReadonlyArray<readonly [
    sqlite: string | undefined, postgresql: string | undefined, message: RegExp, options?: Partial<SqlStoreOptions>
  ]> = [
    [undefined, undefined, /Option "table" is "posts", which is not in the database; call migrate\(\) of the store/],
    [
      `${id.sqlite}, ${version}`, `${id.postgresql}, ${version}`,
      /there is no column "title" for "title" \(such as (TEXT|text)\)/
    ],
    [
      `${id.sqlite}, title TEXT`, `${id.postgresql}, title text`,
      /there is no column "version" for the version, an integer that is not null \(or set the option "version" to 'values'\)/
    ],
    [
      `${id.sqlite}, title TEXT, version TEXT NOT NULL`, `${id.postgresql}, title text, version text not null`,
      /the column "version" is of type (TEXT|text), but must be an integer/
    ],
    [
      `${id.sqlite}, title TEXT, version INTEGER`, `${id.postgresql}, title text, version integer`,
      /the column "version" may be null/
    ],
    [`title TEXT, ${version}`, `title text, ${version}`, /there is no column "id" for the id/],
    [
      `id TEXT PRIMARY KEY, title TEXT, ${version}`, `id text PRIMARY KEY, title text, ${version}`,
      /the column "id" is of type (TEXT|text), which does not keep ids of the type 'integer'/
    ],
    [
      `id INTEGER, title TEXT, ${version}`, `id bigint, title text, ${version}`,
      /the column "id" is neither the primary key nor unique/
    ],
    [
      `id TEXT NOT NULL, title TEXT NOT NULL, ${version}, UNIQUE (title, id, version)`,
      `id uuid NOT NULL, title TEXT NOT NULL, ${version}, UNIQUE (title, id, version)`, WIDER_KEY, { id: 'uuid' }
    ],
    [
      undefined, `id uuid NOT NULL, tags jsonb NOT NULL, ${version}, PRIMARY KEY (id, tags)`, WIDER_KEY,
      { id: 'uuid', attributes: tags }
    ],
    [
      `id INTEGER NOT NULL, title TEXT NOT NULL, ${version}, PRIMARY KEY (title, id)`,
      `id bigserial, title text NOT NULL, ${version}, PRIMARY KEY (title, id)`,
      /the column "id" is neither the primary key nor unique\.$/
    ],
    [
      undefined, `${id.postgresql}, title varchar(20), ${version}`,
      /which does not keep "title" \(string of up to 21 characters\)/,
      { attributes: { type: 'object', properties: { title: { type: 'string', maxLength: 21 } } } }
    ],
    [
      `id INTEGER UNIQUE, other INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, ${version}`,
      `id bigint PRIMARY KEY, title text, ${version}`,
      /the column "id" has no default that counts up, so new rows would have no id/
    ],
    [
      `id INTEGER PRIMARY KEY, title TEXT, ${version}) WITHOUT ROWID, STRICT --`, undefined,
      /the column "id" has no default that counts up, so new rows would have no id/
    ],
    [
      `${id.sqlite}, title TEXT GENERATED ALWAYS AS ('x') STORED, ${version}`,
      `${id.postgresql}, title text GENERATED ALWAYS AS ('x') STORED, ${version}`,
      /the column "title" is generated and cannot be written; make "title" readOnly/
    ],
    [
      `${id.sqlite}, at BLOB, ${version}`, `${id.postgresql}, at timestamp without time zone, ${version}`,
      /the column "at" is of type (BLOB|timestamp without time zone), which does not keep "at" \(date-time\)/,
      { attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } }
    ],
    [
      `${id.sqlite}, title TEXT, more TEXT NOT NULL, ${version}`,
      `${id.postgresql}, title text, more text NOT NULL, ${version}`,
      /the column "more" of type (TEXT|text) must not be null and has no default, but no attribute fills it/
    ],
    [
      `${id.sqlite}, title TEXT, ${version}`, `${id.postgresql}, title text, ${version}`,
      /there is no unique index of "title"/, { unique: ['title'] }
    ],
    [
      `${id.sqlite}, title TEXT NOT NULL, ${version}`, `${id.postgresql}, title text NOT NULL, ${version}`,
      /the column "title" must not be null, but "title" may be/,
      { attributes: { type: 'object', properties: { title: { type: ['string', 'null'] } } } }
    ],
    [
      `${id.sqlite}, n REAL, ${version}`, `${id.postgresql}, n numeric(10,2), ${version}`,
      /the column "n" is of type (REAL|numeric\(10,2\)), which does not keep "n" \(integer\)/,
      { attributes: { type: 'object', properties: { n: { type: 'integer' } } } }
    ]
  ]
  for (const engine of await openEngines()) {
    for (const [sqlite, postgresql, message, options] of cases) {
      const columns = engine.name === 'sqlite' ? sqlite : postgresql
      if (columns === undefined && sqlite !== postgresql) continue
      if (columns !== undefined) await engine.run(`CREATE TABLE posts (${columns})`)
      const error = await thrownBy(() => engine.store({ table: 'posts', attributes: title, ...options }).prepare())
      t.equal(error.code, 'FST_RESOURCES_INVALID_OPTION')
      t.match(error.message, message, `${engine.name}: ${columns}`)
      await engine.run('DROP TABLE IF EXISTS posts')
    }
  }
})

t.test('a table that does not fit throws, with the statement or option that repairs it', async (t) => {
  const [sqlite, postgresql] = await openEngines() as [Engine, Engine]
  const strange = { type: 'object', properties: { name: { type: 'integer' } } } as const
  const refusal = async (engine: Engine, options: Partial<SqlStoreOptions> & {
    readonly schema?: string
  } = {}): Promise<string> =>
    String((await thrownBy(() => engine.store({ table: 'posts', attributes: title, ...options }).prepare())).message)
  const version =
    'there is no column "version" for the version, an integer that is not null (or set the option "version" to ' +
      '\'values\')'

  await sqlite.run('CREATE TABLE posts (id INTEGER PRIMARY KEY AUTOINCREMENT)')
  const added = await refusal(sqlite)
  t.equal(
    added,
    `Option "table" is "posts", which does not fit: ${version}; there is no column "title" for "title" (such as ` +
      'TEXT). To add what is missing, run: ALTER TABLE "posts" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1; ' +
        'ALTER TABLE "posts" ADD COLUMN "title" TEXT.'
  )
  await sqlite.run(...(added.split('missing, run: ')[1] as string).replace(/\.$/, '').split('; '))
  await t.resolves(async () => { await sqlite.store({ table: 'posts', attributes: title }).prepare() })
  t.match(
    await refusal(sqlite, { attributes: strange, columns: { name: 'full"name' } }),
    'ALTER TABLE "posts" ADD COLUMN "full""name" INTEGER.'
  )

  await postgresql.run('CREATE TABLE posts (id bigserial PRIMARY KEY)', 'INSERT INTO posts DEFAULT VALUES')
  const [{ schema }] = await postgresql.run('SELECT current_schema() AS schema') as [{ schema: string }]
  const message = await refusal(postgresql, { schema })
  t.equal(
    message,
    `Option "table" is "posts", which does not fit: ${version}; there is no column "title" for "title" (such as ` +
      `text). To add what is missing, run: ALTER TABLE "${schema}"."posts" ADD COLUMN "version" bigint NOT NULL ` +
        `DEFAULT 1; ALTER TABLE "${schema}"."posts" ADD COLUMN "title" text COLLATE "C".`
  )
  await postgresql.run(...(message.split('missing, run: ')[1] as string).replace(/\.$/, '').split('; '))
  await t.resolves(async () => { await postgresql.store({ table: 'posts', attributes: title }).prepare() })

  await postgresql.run(
    'CREATE TABLE short (id bigserial PRIMARY KEY, version bigint NOT NULL, title varchar(120), at varchar(40))'
  )
  t.equal(
    await refusal(postgresql, { table: 'short' }),
    'Option "table" is "short", which does not fit: the column "title" is of type character varying(120), which does ' +
      'not keep "title" (string of any length) as it is; text does, or give "title" maxLength: 120.'
  )
  t.match(
    await refusal(postgresql, {
      table: 'short', attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }
    }),
    /"at" \(date-time\) as it is; text does\.$/
  )
})

t.test('a missing table throws, with the nearest one and with its schema', async (t) => {
  const [sqlite, postgresql] = await openEngines() as [Engine, Engine]
  const refusal = async (engine: Engine, table: string, schema?: string): Promise<string> =>
    String((await thrownBy(() =>
      engine.store({ table, attributes: title, ...(schema !== undefined && { schema }) } as SqlStoreOptions)
        .prepare())).message)
  const cure = 'call migrate() of the store, or set its option "migrate" to true'
  await sqlite.run('CREATE TABLE blog_posts (id INTEGER PRIMARY KEY AUTOINCREMENT)')
  t.equal(
    await refusal(sqlite, 'blogposts'),
    `Option "table" is "blogposts", which is not in the database; ${cure}; did you mean "blog_posts"?`
  )
  const other = `other_${process.pid}`
  await postgresql.run(
    'CREATE TABLE blog_posts (id bigserial PRIMARY KEY)', `CREATE SCHEMA ${other}`,
    `CREATE TABLE ${other}.remarks (id bigserial PRIMARY KEY)`
  )
  t.equal(
    await refusal(postgresql, 'remark'),
    `Option "table" is "remark", which is not in the database; ${cure}; did you mean "remarks" with the option ` +
      `"schema" set to '${other}'?`
  )
  t.equal(
    await refusal(postgresql, `${other}.remarks`),
    `Option "table" is "${other}.remarks", which is not in the database; ${cure}; did you mean "remarks" with the ` +
      `option "schema" set to '${other}'?`
  )
  t.equal(
    await refusal(postgresql, 'remark', other),
    `Option "table" is "remark", which is not in the schema "${other}"; ${cure}; did you mean "remarks"?`
  )
  t.equal(await refusal(postgresql, 'unlike'), `Option "table" is "unlike", which is not in the database; ${cure}.`)
})

t.test('an error about a view\'s computed column says that it has no type', async (t) => {
  const [sqlite] = await openEngines() as [Engine, Engine]
  await sqlite.run(
    'CREATE VIEW posts AS SELECT 1 AS id, 1 AS version, \'[]\' AS tags',
    'CREATE TABLE loose (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, title TEXT, more NOT NULL)'
  )
  const decimals = { type: 'object', properties: { tags: { type: 'string', format: 'decimal' } } } as const
  const { message } = await thrownBy(() => sqlite.store({ table: 'posts', attributes: decimals }).prepare())
  t.match(message, 'the column "id" has no declared type, which does not keep ids of the type \'integer\'')
  t.match(message, 'the column "version" has no declared type, but must be an integer for the version')
  t.match(message, 'the column "tags" has no declared type, which does not keep "tags" (decimal) as it is; REAL does')
  t.equal((await thrownBy(() =>
    sqlite.store({ table: 'loose', attributes: title })
      .prepare())).message, 'Option "table" is "loose", which does not fit: the column "more" must not be null and ' +
        'has no default, but no attribute fills it.')
})

each('an error about a table names the resource of its store', async (t, engine) => {
  await t.rejects(
    build(t, { name: 'articles', store: engine.store({ table: 'articles', attributes: title }) }),
    { message: /^Option "table" of the store of resource "articles" is "articles", which is not in the database/ }
  )
})

t.test('an existing table of another application is used as it is', async (t) => {
  const attributes = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 20 },
      mood: { type: 'string', enum: ['good', 'bad'] },
      small: { type: 'integer' },
      amount: { type: 'number' },
      active: { type: 'boolean' },
      at: { type: ['string', 'null'], format: 'date-time' },
      day: { type: 'string', format: 'date' },
      data: { type: 'object' },
      createdAt: { type: 'string', readOnly: true }
    }
  } as const
  const tables = {
    sqlite: [
      'CREATE TABLE people (person_id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL, mood TEXT, small ' +
        'SMALLINT, amount DOUBLE, active BOOLEAN, at DATETIME, day DATE, data TEXT, created_at TEXT DEFAULT \'now\', ' +
          'lock_version INTEGER NOT NULL DEFAULT 0, other TEXT, legacy INTEGER NOT NULL DEFAULT 7)'
    ],
    postgresql: [
      'CREATE TYPE mood AS ENUM (\'good\', \'bad\')', 'CREATE SCHEMA hr',
      'CREATE DOMAIN amount AS double precision CHECK (VALUE < 100)',
      'CREATE TABLE hr.people (person_id serial PRIMARY KEY, name varchar(20) NOT NULL, mood mood, small smallint, ' +
        'amount amount, active boolean, at timestamptz, day date, data json, created_at text DEFAULT \'now\', ' +
          'lock_version integer NOT NULL DEFAULT 0, other text, legacy integer NOT NULL DEFAULT 7)'
    ]
  }
  for (const engine of await openEngines()) {
    await engine.run(...tables[engine.name])
    const place = engine.name === 'sqlite' ? {} : { schema: 'hr' }
    const store = engine.store({
      table: 'people',
      attributes,
      columns: { id: 'person_id', createdAt: 'created_at' },
      version: 'lock_version',
      ...place
    })
    await store.prepare()
    await engine.run(`INSERT INTO ${engine.name === 'sqlite' ? '' : 'hr.'}people (name) VALUES ('Old')`)
    const old = await store.get(1, {}, context)
    t.equal(old?.version, '0')
    t.strictSame(old?.attributes, { name: 'Old', at: null, createdAt: 'now' })
    const given = {
      name: 'N',
      mood: 'good',
      small: -3,
      amount: 0.25,
      active: true,
      at: '2026-01-31T12:00:00.5Z',
      day: '2026-01-31',
      data: { b: 1, a: 2 }
    }
    const { attributes: made } = await store.create(given, {}, context)
    const at = engine.name === 'sqlite' ? given.at : '2026-01-31T12:00:00.5+00:00'
    t.strictSame(made, { ...given, at, createdAt: 'now' })
    t.equal((await store.update(1, { name: 'New' }, { version: '0', scope: {} }, context)).ok, true)
    t.equal((await store.get(1, {}, context))?.version, '1')
    t.equal((await store.update(1, { name: 'New' }, { version: '0', scope: {} }, context)).ok, false)
    if (engine.name === 'sqlite') continue
    for (const [by, value] of Object.entries({ mood: 'so-so', small: 40_000, at: 'never', day: '31 January' })) {
      const scope: Scope = { [by]: value }
      t.strictSame(
        await readAll(store.list({ ...every, filter: equalTo(scope) }, context)), [],
        `no row has a value that ${by} cannot hold`
      )
      t.equal(await store.get(1, scope, context), undefined)
      t.strictSame(await store.delete(1, { version: undefined, scope }, context), { ok: false, why: 'missing' })
    }
    for (const far of [3_000_000_000, Number.MAX_SAFE_INTEGER]) {
      t.equal(await store.get(far, {}, context), undefined, 'an id beyond four bytes is not found')
      t.strictSame(await store.update(far, { name: 'N' }, anyVersion, context), { ok: false, why: 'missing' })
      t.strictSame(await store.delete(far, anyVersion, context), { ok: false, why: 'missing' })
      t.equal(
        (await store.update(1, { name: 'N' }, { version: String(far), scope: {} }, context) as { why?: string }).why,
        'stale'
      )
      t.strictSame(
        await store.update(1, { name: 'N' }, { version: undefined, scope: { small: far } }, context),
        { ok: false, why: 'missing' }
      )
    }
    const elsewhere = await thrownBy(() => engine.store({ table: 'people', attributes: title }).prepare())
    t.match(elsewhere.message, /is not in the database/, 'another schema is another table')
  }
})
