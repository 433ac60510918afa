import { randomBytes } from 'node:crypto'
import t from 'tap'
import { type Query, type Scope } from '../../../lib/index.js'
import { type SqlStoreOptions } from '../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../support/helper.js'
import {
  context, each, type Engine, every, everything, messageOf, openEngines, openMigrated, readAll,
  thrownBy
} from '../../support/stores/sql-engines.js'
import { textStore } from '../../support/stores/text-store.js'

const anyVersion = { version: undefined, scope: {} }
const title = { type: 'object', properties: { title: { type: 'string' } } } as const

each('a refusal of the database is reported in terms of attributes', async (t, engine) => {
  const [auto, integer] = engine.name === 'sqlite'
    ? ['id INTEGER PRIMARY KEY AUTOINCREMENT', 'INTEGER']
    : ['id bigserial PRIMARY KEY', 'bigint']
  await engine.run(
    `CREATE TABLE authors (${auto}, title TEXT, version INTEGER NOT NULL DEFAULT 1)`,
    `CREATE TABLE books (
      ${auto},
      version INTEGER NOT NULL DEFAULT 1,
      title TEXT NOT NULL,
      subtitle TEXT,
      tenant TEXT,
      rating ${integer} CONSTRAINT sane CHECK (rating BETWEEN 1 AND 5),
      pages ${integer} CHECK (pages < 1000),
      author_id ${integer} REFERENCES authors (id),
      editor_id ${integer} REFERENCES authors (id),
      CONSTRAINT together CHECK (pages > 0 OR title <> 'x'),
      UNIQUE (tenant, title)
    )`,
    'CREATE UNIQUE INDEX lower_subtitle ON books (lower(subtitle))'
  )
  const attributes = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      subtitle: { type: 'string' },
      tenant: { type: 'string' },
      rating: { type: 'integer' },
      pages: { type: 'integer' },
      author: { type: ['integer', 'null'] },
      editor: { type: ['integer', 'null'] }
    }
  } as const
  const authors = engine.store({ table: 'authors', attributes: title })
  const books = engine.store({ table: 'books', attributes, columns: { author: 'author_id', editor: 'editor_id' } })
  await books.prepare()
  const author = await authors.create({ title: 'A' }, {}, context)
  await books.create({ title: 'T', subtitle: 'S', author: author.id }, { tenant: 'a' }, context)
  const refused: ReadonlyArray<readonly [
    supplied: Record<string, unknown>, scope: Scope, status: number, errors: object, detail?: string
  ]> = [
    [{ title: 'T' }, { tenant: 'a' }, 409, { title: ['is already taken'] }],
    [{ title: 'T', tenant: 'a' }, {}, 409, { title: ['is already taken together with tenant'] }],
    [{}, {}, 422, { title: ['must be given'] }],
    [
      { title: 'U', rating: 9 }, {}, 422, (engine.name === 'sqlite' ? {} : { rating: ['is not valid'] }) as object,
      engine.name === 'sqlite' ? 'the database refuses a value' : ''
    ],
    [
      { title: 'x', pages: 0 }, {}, 422, (engine.name === 'sqlite' ? {} : { title: ['is not valid'] }) as object,
      engine.name === 'sqlite' ? 'the database refuses a value' : ''
    ],
    [{ title: 'U', pages: 1000 }, {}, 422, { pages: ['is not valid'] }],
    [{ title: 'U', author: 99 }, {}, 422, { author: ['refers to something that does not exist'] }],
    [{ title: 'U', subtitle: 's' }, {}, 422, {}, 'a row with these values exists already'],
    [
      { title: 'U', unknown: 1, other: 2 }, {}, 422,
      { unknown: ['has no column in the table'], other: ['has no column in the table'] }
    ],
    [{ title: 'a\0b' }, {}, 422, { title: ['must be a text without U+0000 and unpaired surrogates'] }],
    [
      { title: 'U', rating: 2 ** 53 }, {}, 422,
      { rating: ['must be an integer between -9007199254740991 and 9007199254740991'] }
    ]
  ]
  for (const [supplied, scope, status, errors, detail] of refused) {
    const error = await thrownBy(() => books.create(supplied, scope, context))
    t.strictSame([error.statusCode, error.errors], [status, errors], JSON.stringify(supplied))
    if (detail) t.equal(error.message, detail)
  }
  t.equal((await readAll(books.list(every, context))).length, 1, 'nothing was written')
  const free = await books.create({ title: 'Free' }, { tenant: 'a' }, context)
  const duplicate = await thrownBy(() =>
    books.update(free.id, { title: 'T' }, { version: undefined, scope: { tenant: 'a' } }, context))
  t.strictSame([duplicate.statusCode, duplicate.errors], [409, { title: ['is already taken'] }])
  const referred = await thrownBy(() => authors.delete(author.id, anyVersion, context))
  t.strictSame(
    [referred.statusCode, referred.message, referred.errors],
    [409, 'books still refer to it; delete or change them first', undefined]
  )
  const two = await thrownBy(() => books.update(free.id, { author: 98, editor: 97 }, anyVersion, context))
  t.equal(two.statusCode, 422)
})

each('an id that the database generates twice is not a duplicate of the client\'s', async (t, {
  name, store: open, run
}) => {
  const sqlite = name === 'sqlite'
  const attributes = { type: 'object', properties: { tenant: { type: 'string' }, title: { type: 'string' } } } as const
  const columns = `tenant TEXT NOT NULL, title TEXT, version ${sqlite ? 'INTEGER' : 'bigint'} NOT NULL`
  const fixed = '01890a5d-ac96-774b-bcce-b302099a8057'
  await run(
    `CREATE TABLE counted (id ${sqlite ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'bigserial PRIMARY KEY'}, ${columns})`,
    `CREATE TABLE spread (id ${sqlite ? 'TEXT' : 'uuid'} NOT NULL, ${columns}, PRIMARY KEY (tenant, id))`,
    `CREATE TABLE single (id ${sqlite ? 'TEXT' : 'uuid'} NOT NULL PRIMARY KEY, ${columns})`
  )
  for (const [table, id] of [['counted', '1'], ['spread', fixed], ['single', fixed]] as const) {
    await run(...(sqlite
      ? [
        `CREATE TRIGGER repeat_${table} AFTER INSERT ON ${table} BEGIN UPDATE ${table} SET id = '${id}' WHERE id = ` +
          'NEW.id; END'
        ]
      : [
          `CREATE FUNCTION repeat_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := '${id}'; RETURN ` +
            'NEW; END $$',
          `CREATE TRIGGER repeat_${table} BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION repeat_${table}()`
        ]))
    const store = open({ table, attributes, id: id === '1' ? 'integer' : 'uuid' })
    const app = await build(t, { name: 'posts', attributes, store })
    for (const status of [201, 503]) {
      const payload = { post: { tenant: 'a', title: 'T' } }
      t.equal((await app.inject({ method: 'POST', url: '/posts', payload })).statusCode, status, table)
    }
    for (const scope of [{}, { tenant: 'a' }]) {
      const { code } = await thrownBy(() => store.create({ tenant: 'a', title: 'T' }, scope, context))
      t.equal(code, 'FST_RESOURCES_SEQUENCE', table)
    }
  }
})

each('an id beyond 2^53 - 1 is the text of its digits', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'posts', attributes: title })
  const id = '9007199254740993'
  await engine.run(`INSERT INTO posts (id, title) VALUES (${id}, 'n'), (1, 'o')`)
  t.match(await readAll(store.list(every, context)), [{ id: 1 }, { id }])
  t.match(await store.get(id, {}, context), { id, attributes: { title: 'n' } })
  for (const other of ['9007199254740992', '1', '09007199254740993', 9007199254740992]) {
    t.equal(await store.get(other, {}, context), undefined, String(other))
  }
  t.match(await store.update(id, { title: 'p' }, anyVersion, context), { ok: true, row: { id } })
  const filter = [{ attribute: 'id', operator: 'in', value: [1, id, '9007199254740992'] }] as const
  t.match(await readAll(store.list({ ...every, filter }, context)), [{ id: 1 }, { id, attributes: { title: 'p' } }])
  t.match(await store.delete(id, anyVersion, context), { ok: true, row: { id } })
})

each('a row whose id is counted beyond 2^53 - 1 is returned', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'posts', attributes: title })
  await store.create({ title: 'first' }, {}, context)
  await engine.run(engine.name === 'sqlite'
    ? 'UPDATE sqlite_sequence SET seq = 9007199254740992'
    : 'SELECT setval(pg_get_serial_sequence(\'posts\', \'id\'), 9007199254740992)')
  t.match(await store.create({ title: 'last' }, {}, context), { id: '9007199254740993', attributes: { title: 'last' } })
  t.strictSame(
    (await engine.run('SELECT title FROM posts ORDER BY id')).map((row) => (row as { title: string }).title),
    ['first', 'last']
  )
})

each('a list compares stored moments, not their text', async (t, engine) => {
  const attributes = { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } as const
  const store = await openMigrated(engine, { table: 'posts', attributes })
  const texts = [
    '2026-01-31 12:00:00+00', '2026-01-31 13:00:00Z', '2026-01-31T14:00:00Z', '2026-01-31 12:00:00.5+05:30'
  ]
  for (const at of texts) t.equal((await store.create({ at }, {}, context)).attributes.at, at, 'as it was written')
  const order = [{ by: 'at', descending: false }, { by: 'id', descending: false }]
  const seen: unknown[] = []
  for (let after: Query['after']; ;) {
    const [row] = await readAll(store.list({ ...every, order, after, limit: 1 }, context))
    if (row === undefined) break
    seen.push(row.attributes.at)
    after = [row.attributes.at as string, row.id as number]
  }
  t.strictSame(seen, texts.toSorted())
  if (engine.name === 'sqlite') return
  await engine.run('CREATE TABLE moments (id bigserial PRIMARY KEY, version bigint NOT NULL DEFAULT 1, at timestamptz)')
  const moments = engine.store({ table: 'moments', attributes })
  await moments.prepare()
  for (const at of [
    '2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.12Z', '2026-01-31T12:00:00Z', '2026-01-31T05:00:00-08:00'
  ]) {
    await moments.create({ at }, {}, context)
  }
  t.strictSame((await readAll(moments.list({ ...every, order }, context))).map(({ id }) =>
    id), [3, 2, 1, 4], 'moments are sorted by time')
})

each('unique indexes have distinct names, and only those of plain attributes count', async (t, engine) => {
  const attributes = {
    type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' }, a_b: { type: 'string' } }
  } as const
  const store = await openMigrated(engine, { table: 'posts', attributes, unique: ['a_b', ['a', 'b']] })
  await store.create({ a: '1', b: '1', a_b: '1' }, {}, context)
  t.strictSame((await thrownBy(() =>
    store.create({ a: '2', b: '1', a_b: '1' }, {}, context))).errors, { a_b: ['is already taken'] })
  t.strictSame((await thrownBy(() =>
    store.create({ a: '1', b: '1', a_b: '2' }, {}, context))).errors, { a: ['is already taken together with b'] })
  await openMigrated(engine, { table: 'posts_a', attributes, unique: ['b'] })
  await engine.run(
    `CREATE TABLE odd (id ${engine.name === 'sqlite'
      ? 'INTEGER PRIMARY KEY AUTOINCREMENT'
      : 'bigserial PRIMARY KEY'}, version INTEGER NOT NULL DEFAULT 1, a TEXT, b TEXT, a_b TEXT)`,
    'CREATE UNIQUE INDEX odd_expression ON odd (a, lower(b))',
    'CREATE UNIQUE INDEX odd_part ON odd (b) WHERE a IS NOT NULL',
    ...(engine.name === 'sqlite' ? [] : ['CREATE UNIQUE INDEX odd_more ON odd (a_b) INCLUDE (b)'])
  )
  t.match((await thrownBy(() =>
    engine.store({ table: 'odd', attributes, unique: ['a'] }).prepare())).message, /there is no unique index of "a"/)
  t.match((await thrownBy(() =>
    engine.store({ table: 'odd', attributes, unique: ['b'] }).prepare())).message, /there is no unique index of "b"/)
  if (engine.name === 'sqlite') return
  const more = engine.store({ table: 'odd', attributes, unique: ['a_b'] })
  await more.prepare()
  await more.create({ a: '1', a_b: '1' }, {}, context)
  t.strictSame((await thrownBy(() =>
    more.create({ a: '2', b: 'x', a_b: '1' }, {}, context))).errors, { a_b: ['is already taken'] })
})

each('a unique index of all rows stays, with a warning that deleted rows count', async (t, engine) => {
  const attributes = {
    type: 'object',
    properties: { code: { type: 'string' }, a: { type: 'string' }, goneAt: { type: ['string', 'null'] } }
  } as const
  const options = { attributes, unique: ['a', 'code'], softDelete: 'goneAt', key: ['code'], version: 'values' }
  const posts = engine.store({ table: 'posts', ...options })
  await engine.run('CREATE TABLE posts (code text PRIMARY KEY, a text UNIQUE, "goneAt" text)')
  t.strictSame(await posts.prepare(), [
    'the table "posts" is used as it is, but its unique index of "a" has deleted rows, too; to free their values, ' +
      'drop it and run: CREATE UNIQUE INDEX IF NOT EXISTS "posts_a_goneAt_key" ON "posts" ("a") WHERE "goneAt" IS NULL'
  ])
  await engine.run('DROP TABLE posts', 'CREATE TABLE posts (code text PRIMARY KEY, a text, "goneAt" text, b text)')
  const missing = /there is no unique index of "a" where "goneAt" is null. To add what is missing, run: CREATE UNIQUE/
  t.match(await messageOf(() => posts.prepare()), missing)
  for (const condition of ['b IS NULL', '"goneAt" IS NOT NULL', '"goneAt" IS NULL AND b IS NULL', "a = '\"goneAt'"]) {
    await engine.run('DROP INDEX IF EXISTS part', `CREATE UNIQUE INDEX part ON posts (a) WHERE ${condition}`)
    t.match(await messageOf(() => posts.prepare()), missing, condition)
  }
  for (const condition of ['"goneAt" IS NULL', '(("goneAt"  is null))']) {
    await engine.run('DROP INDEX IF EXISTS part', `CREATE UNIQUE INDEX part ON posts (a) WHERE ${condition}`)
    t.strictSame(await posts.prepare(), [], condition)
  }
  const error = await thrownBy(() => engine.store({ table: 'posts', ...options, softDelete: 'gone' }).prepare())
  t.match(error.message, 'Option "softDelete" names "gone", which is not among the attributes')
})

each('an update without changes writes nothing if the version is a digest of the values', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'posts', attributes: title, version: 'values' })
  const { id, version } = await store.create({ title: 'T' }, {}, context)
  const row = { id, version, attributes: { title: 'T' } }
  engine.statements.length = 0
  t.strictSame(await store.update(id, {}, { version, scope: {} }, context), { ok: true, row })
  t.strictSame(await store.update(id, {}, anyVersion, context), { ok: true, row })
  t.strictSame(await store.update(id, {}, { version: '0'.repeat(40), scope: {} }, context), {
    ok: false, why: 'stale', current: row
  })
  t.strictSame(await store.update(99, {}, anyVersion, context), { ok: false, why: 'missing' })
  t.strictSame(engine.statements.filter((text) => text.startsWith('UPDATE')), [])
  t.strictSame(
    await store.update(id, { title: 'U' }, { version: 'no digest', scope: {} }, context),
    { ok: false, why: 'stale', current: row }
  )
})

each('the effects of triggers and long values are reported to the client', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'posts', attributes: title, unique: ['title'] })
  const sqlite = engine.name === 'sqlite'
  await engine.run('CREATE TABLE log (title TEXT UNIQUE)', ...(sqlite
    ? [
        'CREATE TRIGGER refuse BEFORE INSERT ON posts WHEN NEW.title = \'refused\' BEGIN SELECT RAISE(ABORT, ' +
          '\'secret\'); END',
        'CREATE TRIGGER drop_it BEFORE INSERT ON posts WHEN NEW.title = \'dropped\' BEGIN SELECT RAISE(IGNORE); END',
        'CREATE TRIGGER note BEFORE INSERT ON posts WHEN NEW.title LIKE \'noted%\' BEGIN INSERT INTO log VALUES ' +
          '(\'noted\'); END',
        'CREATE TRIGGER hold BEFORE DELETE ON posts WHEN OLD.title = \'held\' BEGIN SELECT RAISE(ABORT, \'secret\'); ' +
          'END'
      ]
    : [
        `CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.title = 'refused' THEN RAISE EXCEPTION 'secret'; END IF;
          IF NEW.title = 'dropped' THEN RETURN NULL; END IF;
          IF NEW.title LIKE 'noted%' THEN INSERT INTO log VALUES ('noted'); END IF;
          RETURN NEW; END $$`,
        'CREATE TRIGGER guard BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION guard()',
        `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF OLD.title = 'held' THEN RAISE EXCEPTION 'secret'; END IF;
          RETURN OLD; END $$`,
        'CREATE TRIGGER hold BEFORE DELETE ON posts FOR EACH ROW EXECUTE FUNCTION hold()'
      ]))
  const told = async (title: string): Promise<unknown> => {
    const { statusCode, message, errors } = await thrownBy(() => store.create({ title }, {}, context))
    return [statusCode, message, errors]
  }
  t.strictSame(await told('refused'), [422, 'the database refuses a value', {}])
  t.strictSame(await told('dropped'), [422, 'the database refuses a value', {}])
  t.equal((await store.create({ title: 'noted 1' }, {}, context)).attributes.title, 'noted 1')
  t.strictSame(await told('noted 2'), [422, 'a row with these values exists already', {}])
  const held = await store.create({ title: 'held' }, {}, context)
  const refusal = await thrownBy(() => store.delete(held.id, anyVersion, context))
  t.strictSame([refusal.statusCode, refusal.message, refusal.errors], [422, 'the database refuses the deletion', {}])
  if (sqlite) return
  t.strictSame(
    await told(randomBytes(6000).toString('base64')),
    [422, 'an attribute is too long or too large, or has characters that cannot be stored', {}],
    'an index has a limit of its own'
  )
  const { id } = await store.create({ title: 'kept' }, {}, context)
  await engine.run(
    'CREATE TABLE comments (post bigint REFERENCES posts (id) ON DELETE RESTRICT)',
    `INSERT INTO comments VALUES (${id})`
  )
  const restricted = await thrownBy(() => store.delete(id, anyVersion, context))
  t.strictSame(
    [restricted.statusCode, restricted.message], [409, 'comments still refer to it; delete or change them first']
  )
  t.equal((await store.get(id, {}, context))?.id, id)
  await engine.run('ALTER TABLE posts ALTER COLUMN title TYPE varchar(500)')
  t.equal((await store.get(id, {}, context))?.id, id, 'a table may change under a prepared statement')
})

each('an impossible id or version finds nothing', async (t, engine) => {
  for (const idType of ['integer', 'uuid'] as const) {
    const store = await openMigrated(engine, { table: `posts_${idType}`, attributes: title, id: idType })
    const { id } = await store.create({ title: 'T' }, {}, context)
    for (const odd of ['1', ' 1', '1e0', 0, -1, 1.5, 2 ** 53, 'abc', '', String(id).toUpperCase() + ' ']) {
      t.equal(await store.get(odd, {}, context), undefined, `get ${JSON.stringify(odd)}`)
      t.strictSame(await store.update(odd, {}, anyVersion, context), { ok: false, why: 'missing' })
      t.strictSame(await store.delete(odd, { version: '1', scope: {} }, context), { ok: false, why: 'missing' })
    }
    for (const version of ['', '01', '1e0', ' 1', '1.0', '-1', '99999999999999999999', 'x'.repeat(100_000)]) {
      t.equal((await store.update(id, {}, { version, scope: {} }, context) as { why?: string }).why, 'stale')
      t.equal((await store.delete(id, { version, scope: {} }, context) as { why?: string }).why, 'stale')
    }
    t.equal((await store.get(id, {}, context))?.version, '1')
    await t.rejects(async () => store.get(id, { nonsense: 1 }, context), /has no column for "nonsense"/)
  }
})

each('rows of any size come in batches of limited size', async (t, engine) => {
  const store = await openMigrated(engine, {
    table: 'posts', attributes: { type: 'object', properties: { title: { type: 'string' }, tags: { type: 'array' } } }
  })
  for (let index = 0; index < 130; index++) {
    const [short, long] = ['x', 'x'.repeat(200_000)]
    await store.create(
      index < 90 ? { title: short } : index % 2 === 0 ? { title: long } : { tags: [long] }, {}, context
    )
  }
  const sizes: number[] = []
  for await (const batch of store.list(every, context)) sizes.push(JSON.stringify(batch).length)
  t.ok(sizes.length > 7 && sizes.every((size) => size <= 1_200_000), `${sizes.join()}`)
  const left = store.list(every, { signal: AbortSignal.abort(new Error('gone')) })
  t.match((await thrownBy(() => readAll(left))).message, 'gone')
})

t.test('invalid options throw', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: string | RegExp]> = [
    [{ table: '' }, 'Option "table" must be the name of a table such as \'posts\'.'],
    [{ table: undefined }, 'Option "table" must be the name of a table such as \'posts\'.'],
    [{ table: 'a\0' }, 'Option "table" must be the name of a table such as \'posts\'.'],
    [{ attributes: undefined }, /Option "attributes" must be a JSON Schema/],
    [{ attributes: { type: 'array' } }, /attributes of "posts": must be a JSON Schema/],
    [{ id: 'serial' }, 'Option "id" must be \'integer\', \'uuid\' or \'string\', not \'serial\'.'],
    [{ columns: null }, /Option "columns" must be an object/],
    [
      { columns: { titel: 'x' } },
      'Option "columns" names "titel", which is not among the attributes; did you mean "title"?'
    ],
    [{ columns: { title: '' } }, 'Option "columns" must contain names of columns.'],
    [{ columns: { title: '__proto__' } }, 'Option "columns" must contain names of columns.'],
    [{ columns: { title: 5 } }, 'Option "columns" must contain names of columns.'],
    [
      { columns: { title: 'id' } },
      'Option "columns" would keep the id and "title" both in the column "id"; give one of them another column (the ' +
        'option "version" names the column of the version).'
    ],
    [{ version: 'title' }, /would keep the version and "title" both in the column "title"/],
    [{ version: 5 }, 'Option "version" must be the name of a column, \'xmin\' or \'values\'.'],
    ...['title', [5], [[]], [['title', 5]]].map(
      (unique) => [
        { unique },
        'Option "unique" must be a list of attributes, or groups of them, such as [\'email\', [\'tenant\', \'title\']].'
      ] as const
    ),
    [{ unique: ['titel'] }, 'Option "unique" names "titel", which is not among the attributes; did you mean "title"?'],
    [
      { unique: ['tags'], attributes: everything },
      'Option "unique" names "tags", which is kept as JSON and cannot be unique.'
    ],
    [{ migrate: 'yes' }, 'Option "migrate" must be true or false, not \'yes\'.'],
    [{ tabel: 'x' }, /^There is no option "tabel" of (?:sqlite|postgres)Store; did you mean "table"\?$/]
  ]
  for (const engine of await openEngines()) {
    for (const [options, message] of cases) {
      t.throws(() =>
        engine.store({ table: 'posts', attributes: title, ...options } as SqlStoreOptions), {
        message
      }, `${engine.name} ${JSON.stringify(options)}`)
    }
  }
})

t.test('two attributes that a database takes for one column throw', async (t) => {
  const attributes = { type: 'object', properties: { title: { type: 'string' }, Title: { type: 'string' } } } as const
  const [sqlite, postgresql] = await openEngines() as [Engine, Engine]
  t.throws(() =>
    sqlite.store({ table: 'posts', attributes }), {
    message: /would keep "title" and "Title" both in the column "Title"/
  })
  const store = await openMigrated(postgresql, { table: 'posts', attributes })
  t.strictSame((await store.create({ title: 'a', Title: 'b' }, {}, context)).attributes, { title: 'a', Title: 'b' })
  const long = { type: 'object', properties: { ['x'.repeat(64)]: { type: 'string' } } } as const
  t.throws(() =>
    postgresql.store({ table: 'posts', attributes: long }), { message: /whose name is longer than 63 bytes/ })
})

each('a resource cannot declare attributes of other types than its store', async (t, engine) => {
  const store = engine.store({
    table: 'posts',
    attributes: { type: 'object', properties: { n: { type: 'number' }, title: { type: 'string' } } },
    migrate: true
  })
  for (const [n, message] of [
    [
      { type: 'string' },
      'Option "attributes" of resource "posts" declares "n", which may be a string, but in the store it must be a ' +
        'number.'
    ],
    [
      { type: ['integer', 'null'] },
      'Option "attributes" of resource "posts" declares "n", which may be null, but in the store it must be a number.'
    ]
  ] as const) {
    await t.rejects(build(t, { name: 'posts', attributes: { type: 'object', properties: { n } }, store }), { message })
  }
  await t.resolves(
    build(t, { name: 'posts', attributes: { type: 'object', properties: { n: { type: 'integer' } } }, store }),
    'fewer attributes are fine'
  )
})

each('concurrent calls of next() get one batch after the other, and none after the end', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'posts', attributes: title })
  for (let index = 0; index < 250; index++) await store.create({}, {}, context)
  const list = store.list(every, context)
  const iterator = list[Symbol.asyncIterator]()
  const batches = await Promise.all([iterator.next(), iterator.next()])
  const ids = batches.flatMap(({ value }) => (value ?? []).map(({ id }: { id: unknown }) => id))
  t.strictSame(ids, Array.from({ length: ids.length }, (_, index) => index + 1))
  t.ok(batches.every(({ value }) => value.length > 0))
  const other = store.list(every, context)
  const left = other[Symbol.asyncIterator]()
  await left.next()
  await left.return?.()
  t.equal((await left.next()).done, true)
})

each('a resource takes its attributes from the store, and does not start with a table that does not fit', async (
  t, engine
) => {
  const store = engine.store({ table: 'posts', attributes: title, migrate: true })
  const app = await build(t, { name: 'posts', store })
  const created = await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
  t.strictSame([created.statusCode, created.json()], [201, { post: { id: 1, title: 'T' } }])
  t.equal((await app.inject({ method: 'POST', url: '/posts', payload: { post: { titel: 'T' } } })).statusCode, 422)
  await t.rejects(
    build(t, { name: 'posts', store: engine.store({ table: 'posts', attributes: everything }) }),
    { message: /there is no column "email" for "email"/ }
  )
})

const ANN = '0190a6f0-7c3a-7000-8000-00000000000a'
const owned = {
  type: 'object', properties: { title: { type: 'string' }, owner: { type: ['string', 'null'], format: 'uuid' } }
} as const

each('an attribute of the format uuid has a uuid column where the database has that type', async (t, engine) => {
  const store = await openMigrated(engine, { table: 'notes', attributes: owned })
  if (engine.name === 'postgresql') {
    const [column] = await engine.run(
      'SELECT data_type FROM information_schema.columns WHERE table_schema = current_schema AND table_name = ' +
        '\'notes\' AND column_name = \'owner\''
    )
    t.strictSame(column, { data_type: 'uuid' })
  }
  const app = await build(t, { name: 'notes', store })
  const sent = async (owner: unknown): Promise<unknown[]> => {
    const response = await app.inject({ method: 'POST', url: '/notes', payload: { note: { owner } } })
    return [response.statusCode, response.json().note?.owner ?? response.json().errors]
  }
  t.strictSame(await sent(ANN), [201, ANN])
  for (const other of [ANN.toUpperCase(), `{${ANN}}`, `urn:uuid:${ANN}`, 'Ann', '']) {
    t.strictSame(await sent(other), [422, { owner: ['must be a UUID in lower case'] }], other)
    const error = await thrownBy(() => store.create({ owner: other }, {}, context))
    t.strictSame(
      [error.statusCode, error.errors], [422, { owner: ['must be a UUID in lower case'] }], 'also if a handler writes'
    )
    t.strictSame(
      (await app.inject({ url: '/notes.json', query: { owner: other } })).json(), { notes: [] },
      'no row has another spelling'
    )
  }
  t.equal((await app.inject({ url: '/notes.json', query: { owner: ANN } })).json().notes.length, 1)
  const cursor = (owner: string): string => Buffer.from(JSON.stringify(['owner', owner, 0])).toString('base64url')
  t.equal((await app.inject({ url: `/notes.json?sort=owner&after=${cursor('Ann')}` })).statusCode, 400)
})

const kept = {
  type: 'object', properties: { title: { type: 'string' }, postId: { type: 'string', format: 'uuid' } }
} as const

each('a parent whose id is not a UUID has no rows in a uuid column', async (t, engine) => {
  const comments = await openMigrated(engine, { table: 'comments', attributes: kept })
  const app = await draft(t, (map) => map.resources('posts', { store: textStore(['first']) }, (posts) =>
    posts.resources('comments', { store: comments, attributes: title })))
  t.strictSame((await app.inject('/posts/first/comments.json')).json(), { comments: [] })
  t.equal((await app.inject('/posts/first/comments/1.json')).statusCode, 404)
  for (const method of ['PUT', 'DELETE'] as const) {
    t.equal(
      (await app.inject({ method, url: '/posts/first/comments', payload: { id: 1, comment: {} } })).statusCode, 404
    )
  }
  const refused = await app.inject({
    method: 'POST', url: '/posts/first/comments', payload: { comment: { title: 'C' } }
  })
  t.strictSame([refused.statusCode, refused.json().errors], [422, { postId: ['must be a UUID in lower case'] }])
})

each('a deleted parent leaves its rows if the database has no foreign key', async (t, engine) => {
  const posts = await openMigrated(engine, { table: 'posts', attributes: title, id: 'uuid' })
  const [comments, notes] = [
    await openMigrated(engine, { table: 'comments', attributes: kept }),
    await openMigrated(engine, { table: 'notes', attributes: kept })
  ]
  const app = await draft(t, (map) => map.resources('posts', { store: posts }, (posts) => posts
    .resources('comments', { store: comments, attributes: title })
    .resources('notes', { store: notes, attributes: title, shallow: true })))
  const post = await posts.create({ title: 'P' }, {}, context)
  const scope = { postId: String(post.id) }
  for (const store of [comments, notes]) await store.create({ title: 'C' }, scope, context)
  t.equal((await app.inject({ method: 'DELETE', url: `/posts?id=${post.id}` })).statusCode, 204)
  for (const path of ['comments', 'comments/1', 'notes']) {
    t.equal((await app.inject(`/posts/${post.id}/${path}.json`)).statusCode, 404, path)
  }
  t.equal((await app.inject('/notes/1.json')).statusCode, 200, 'a shallow path names no parent')
  t.equal((await app.inject({ method: 'DELETE', url: '/notes?id=1' })).statusCode, 204)
  t.equal((await comments.get(1, scope, context))?.id, 1)
})
