import Database from 'libsql'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import type { Store } from '../../../../lib/index.js'
import { database, type TableOptions } from '../../../../lib/database/index.js'
import { build } from '../../../support/helper.js'
import { context, each, type Engine, every, messageOf, readAll } from '../../../support/stores/sql-engines.js'
import { startPostgres } from '../../../support/stores/postgres.js'
import { end, start } from '../../../support/command.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', maxLength: 200 },
    body: { type: ['string', 'null'] },
    author: { type: ['string', 'null'] },
    rating: { type: ['integer', 'null'] }
  }
} as const

const ROWS = [
  { title: 'Green tea', body: 'Hot leaves', author: 'Ann Tea', rating: 3 },
  { title: 'Black coffee', body: 'no tea, NEAR the OR gate', author: 'Bob', rating: 2 },
  { title: '中文 搜索', body: 'price:50%', author: 'Ann', rating: 1 },
  { title: 'Teapots', body: null, author: 'Bob', rating: 5 },
  { title: 'foo-bar', body: 'a_b "quoted" text', author: 'Ann', rating: 4 }
]

const { title, body } = attributes.properties
const KEYED = { type: 'object', required: ['title'], properties: { title, body } } as const

const INDEXES: Readonly<Record<Engine['name'], readonly string[]>> = {
  sqlite: [
    "CREATE VIRTUAL TABLE posts_fts USING fts5(title, body, content='posts', content_rowid='id')",
    `CREATE TRIGGER added AFTER INSERT ON posts BEGIN
      INSERT INTO posts_fts(rowid, title, body) VALUES (new.id, new.title, new.body); END`,
    `CREATE TRIGGER changed AFTER UPDATE ON posts BEGIN
      INSERT INTO posts_fts(posts_fts, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
      INSERT INTO posts_fts(rowid, title, body) VALUES (new.id, new.title, new.body); END`
  ],
  postgresql: [
    `ALTER TABLE posts ADD COLUMN posts_fts tsvector GENERATED ALWAYS AS
      (to_tsvector('english', title || ' ' || coalesce(body, ''))) STORED`,
    'CREATE INDEX by_text ON posts USING gin (posts_fts)'
  ]
}

const SEARCH = { index: 'posts_fts', of: ['title', 'body'] }
const CONFIGURATION: Readonly<Record<Engine['name'], object>> =
  { sqlite: {}, postgresql: { configuration: 'english' } }

/** Makes a table with an index and rows, and returns a store that searches by the index. */
async function open (engine: Engine, search: object = { ...SEARCH, ...CONFIGURATION[engine.name] }): Promise<Store> {
  const plain = engine.store({ table: 'posts', attributes, migrate: true })
  await plain.migrate()
  await engine.run(...INDEXES[engine.name])
  for (const row of ROWS) await plain.create(row, {}, context)
  return engine.store({ table: 'posts', attributes, search: search as typeof SEARCH })
}

type Case = readonly [search: string, sqlite: readonly number[], postgresql?: readonly number[]]

each('a full text index finds whole words, and no character of a search has a meaning', async (t, engine) => {
  const app = await build(t, { name: 'posts', store: await open(engine), formats: ['json', 'html'] })
  const found = async (query: string): Promise<unknown> => {
    const response = await app.inject({ url: `/posts.json?${query}` })
    t.equal(response.statusCode, 200, query)
    return response.json().posts.map(({ id }: { id: number }) => id)
  }
  const cases: readonly Case[] = [
    ['tea', [1, 2]], ['TEA', [1, 2]], ['tea green', [1]], ['te', []], ['te*', []], ['teapot', [], [4]],
    ['tea -green', [1]], ['-', []], ['- &', []], ['tea - & tea', [1, 2]], ['"', []], ['tea"', [1, 2]], ["tea'", [1, 2]],
    ['tea OR coffee', [2]], ['NEAR', [2]], ['NEAR(tea gate)', []], ['NOT tea', [], [1, 2]], ['the', [2], []],
    ['title:tea', []], ['title : tea', []], ['^green', [1]], ['+tea', [1, 2]], ['tea)', [1, 2]], ['{tea}', [1, 2]],
    ['foo-bar', [5]], ['bar-foo', []], ['"quoted text"', [5]], ['quoted\\', [5]], ['50%', [3]], ['_', []],
    ['tea:*', [1, 2]], ['tea & !green', [1]], ['tea <-> green', [1]], ['$1', []], ['?', []], ['; DROP', []],
    ['中文', [3]], ['中', []], ['🍵', []], ['tea 🍵', [1, 2], []], ['\u0301', []], ['\ufffd', []], ['ann', []]
  ]
  for (const [search, sqlite, postgresql = sqlite] of cases) {
    const wanted = engine.name === 'sqlite' ? sqlite : postgresql
    t.strictSame(await found(`q=${encodeURIComponent(search)}`), wanted, search)
  }
  t.strictSame(await found('q=tea&sort=-id&rating[lt]=3'), [2])
  for (const refused of ['x'.repeat(10_000), 'a\0b', '\0', '\uffff', ' ']) {
    const { statusCode } = await app.inject(`/posts.json?q=${encodeURIComponent(refused)}`)
    t.equal(statusCode, 400, refused.slice(0, 5))
  }
  const surrogate = await app.inject({ method: 'QUERY' as 'GET', url: '/posts.json', payload: { q: 'tea \ud800' } })
  t.equal(surrogate.statusCode, 400)
  const { body } = await app.inject({ url: '/posts', headers: { accept: 'text/html' } })
  t.match(body, 'placeholder="Title, Body"')
})

each('pages, counts, streams and scopes are those of every list', async (t, engine) => {
  const store = await open(engine)
  await store.prepare?.()
  const many = Array.from({ length: 250 }, (_, index) =>
    ({ title: `tea ${index}`, body: null, author: index % 2 === 0 ? 'Ann' : 'Bob', rating: index % 7 }))
  for (const row of many) await store.create(row, {}, context)
  const search = { words: ['tea'], attributes: ['body', 'title'] }
  const read = async (query: object): Promise<number[]> =>
    (await readAll(store.list({ ...every, search, ...query }, context))).map(({ id }) => Number(id))
  const all = await read({})
  t.equal(all.length, 252)
  t.strictSame(all, [...all].sort((a, b) => a - b), 'in the order of the ids')
  t.strictSame(await read({ after: [all[99]], limit: 2 }), all.slice(100, 102))
  t.strictSame(await read({ offset: 250, limit: 5 }), all.slice(250))
  t.equal((await read({ scope: { author: 'Ann' } })).length, 125)
  const byRating = [{ by: 'rating', descending: true }, { by: 'id', descending: true }]
  t.equal(new Set(await read({ order: byRating })).size, 252)
  const counted = { order: every.order, after: undefined, scope: {}, filter: [], search, most: undefined }
  t.match(await store.count?.({ ...counted, estimate: false }, context), { rows: 252, isEstimate: false })
  t.match(await store.count?.({ ...counted, estimate: true }, context), { isEstimate: engine.name === 'postgresql' })
  t.strictSame(await read({ search: { ...search, words: ['x'.repeat(10_000)] } }), [])
})

each('a search that finds more than 50,000 rows is read by pages', async (t, engine) => {
  const store = await open(engine)
  await store.prepare?.()
  const fill = engine.name === 'sqlite'
    ? 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) ' +
      "INSERT INTO posts (title, rating) SELECT 'tea', i FROM n"
    : "INSERT INTO posts (title, rating) SELECT 'tea', i FROM generate_series(1, 50000) i"
  await engine.run(fill)
  const query = { ...every, search: { words: ['tea'], attributes: ['title', 'body'] } }
  await t.rejects(readAll(store.list(query, context)), { message: /more than 50000 rows.*with "limit"/, statusCode: 400 })
  t.equal((await readAll(store.list({ ...query, limit: 2000 }, context))).length, 2000)
  const filter = [{ attribute: 'rating', operator: 'gt', value: 49_000 }] as const
  t.equal((await readAll(store.list({ ...query, filter }, context))).length, 1000)
})

each('a search in other attributes than those of the index reads the texts', async (t, engine) => {
  const store = await open(engine)
  const ids = async (options: object, headers = {}): Promise<unknown> => {
    const app = await build(t, { name: 'posts', store, formats: ['json'], ...options })
    const response = await app.inject({ url: '/posts?q=tea', headers })
    return response.json().posts?.map(({ id }: { id: number }) => id) ?? response.statusCode
  }
  t.strictSame(await ids({ search: ['author'] }), [1])
  t.strictSame(await ids({ search: ['title'] }), [1, 4], 'a part of a word')
  t.strictSame(await ids({ search: ['title', 'body', 'author'] }), [1, 2, 4])
  t.strictSame(await ids({ search: ['body', 'title', 'title'] }), [1, 2], 'the order of names has no meaning')
  t.strictSame(await ids({ filter: ['rating'] }), [1, 2])
  t.equal(await ids({ search: [] }), 400)
  const roles = { all: {}, clerk: { hidden: ['body'] } }
  const role = ({ headers }: { headers: Record<string, unknown> }): unknown => headers['x-role']
  t.strictSame(await ids({ roles, role }, { 'x-role': 'all' }), [1, 2])
  t.strictSame(await ids({ roles, role }, { 'x-role': 'clerk' }), [1, 4], 'no row by a text that a role does not see')
  const { body, ...others } = attributes.properties
  t.equal(await messageOf(() => ids({ attributes: { ...attributes, properties: others } })), 'Option "search" of ' +
    'resource "posts" names "body", which is not among the attributes declared.')
})

each('an index that does not exist or does not fit stops the registration', async (t, engine) => {
  const isSqlite = engine.name === 'sqlite'
  await open(engine)
  if (isSqlite) {
    await engine.run('CREATE VIRTUAL TABLE old_fts USING fts4(title, body)', 'CREATE TABLE plain (title, body)')
    await engine.run('CREATE TABLE keyed (title TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID')
    const keyed = { table: 'keyed', attributes: KEYED, key: ['title'], version: 'values', search: SEARCH }
    t.match(
      await messageOf(async () => engine.store(keyed).prepare?.()),
      'names "posts_fts", which is no full text index of title, body: no such column: _rowid_'
    )
  }
  const of = ['title', 'body']
  const misfit = (index: string, reason: string): string =>
    `Option "search" of the store of resource "posts" names "${index}", which is no full text index of ${reason}.`
  const wanted = "must be an object such as { index: 'posts_fts', of: ['title', 'body'] }"
  const cases: ReadonlyArray<readonly [search: unknown, message: string]> = [
    ...isSqlite
      ? [
          [{ index: 'nope', of }, misfit('nope', 'title, body: no such table: nope')],
          [{ index: 'old_fts', of }, misfit('old_fts', 'title, body: no such column: rank')],
          [{ index: 'plain', of }, misfit('plain', 'title, body: no such column: plain')],
          [{ index: 'posts_fts', of: ['author'] }, misfit('posts_fts', 'author: no such column: author')],
          [{ ...SEARCH, configuration: 'x' }, 'Option "search" has "configuration", which only PostgreSQL has.']
        ] as const
      : [
          [{ index: 'nope', of }, misfit('nope', 'title, body: column "nope" does not exist')],
          [{ index: 'body', of }, misfit('body', 'title, body: operator does not exist: tsquery @@ text')],
          [
            { ...SEARCH, configuration: "it's" },
            misfit('posts_fts', 'title, body: text search configuration "it\'s" does not exist')
          ]
        ] as const,
    [{ ...SEARCH, of: ['titel'] }, 'Option "search" names "titel", which is not among the attributes; did you mean ' +
      '"title"?'],
    [{ ...SEARCH, of: ['title', 1] }, "Option \"search.of\" must be a list of attributes such as ['title']."],
    [{ ...SEARCH, of: 'title' }, 'Option "search" has "of", which must be a list, not \'title\'.'],
    [{ ...SEARCH, off: true }, 'Option "search" has "off", which is unknown; did you mean "of"?'],
    [{ index: 'posts_fts' }, `Option "search" ${wanted}.`],
    [{ of }, `Option "search" ${wanted}.`],
    [{ index: 'posts_fts', of: [] }, `Option "search" ${wanted}.`],
    ['posts_fts', 'Option "search" must be an object, not \'posts_fts\'.']
  ]
  for (const [search, message] of cases) {
    const start = async (): Promise<unknown> =>
      build(t, { name: 'posts', store: engine.store({ table: 'posts', attributes, search: search as typeof SEARCH }) })
    t.equal(await messageOf(start), message, JSON.stringify(search))
  }
})

each('a table that describes itself is searched by an index, too', async (t, engine) => {
  await open(engine)
  const store = engine.store({ table: 'posts', search: SEARCH } as unknown as Parameters<typeof engine.store>[0])
  const app = await build(t, { name: 'posts', store, formats: ['json'] })
  t.match((await app.inject('/posts?q=tea')).json(), { posts: [{ id: 1 }, { id: 2 }] })
})

const SQLITE = `
  CREATE TABLE posts (id INTEGER PRIMARY KEY, "full title" TEXT NOT NULL, body TEXT, secret TEXT);
  CREATE VIRTUAL TABLE posts_fts USING fts5("full title", body, content='posts', content_rowid='id');
  INSERT INTO posts VALUES (1, 'Running water', 'tea', 'x'), (2, 'Teapots', NULL, 'y');
  INSERT INTO posts_fts(posts_fts) VALUES ('rebuild')`
const POSTGRES = `
  CREATE TABLE posts (id serial PRIMARY KEY, "full title" text NOT NULL, body text, secret text,
    posts_fts tsvector GENERATED ALWAYS AS (to_tsvector('english', "full title" || ' ' || coalesce(body, ''))) STORED,
    plain tsvector GENERATED ALWAYS AS (array_to_tsvector(ARRAY["full title"])) STORED, made tsvector);
  INSERT INTO posts ("full title", body, secret) VALUES ('Running water', 'tea', 'x'), ('Teapots', NULL, 'y')`

const server = await startPostgres(t)
await server.pool().query(`${POSTGRES}; ALTER DATABASE postgres SET default_text_search_config = 'simple'`)

/** Serves the tables of a database, and returns the ids that searches find. */
async function serve (t: Test, name: Engine['name'], posts: TableOptions) {
  const app = fastify()
  t.teardown(() => app.close())
  const memory = new Database(':memory:')
  memory.exec(SQLITE)
  const source = name === 'sqlite' ? { database: memory } : { pool: server.pool() }
  app.register(database, { ...source, tables: { posts }, only: ['posts'], report: () => {} })
  await app.ready()
  return async (q: string): Promise<unknown> => {
    const response = await app.inject(`/posts.json?q=${q}`)
    return response.json().posts?.map(({ id }: { id: number }) => id) ?? response.statusCode
  }
}

for (const name of ['sqlite', 'postgresql'] as const) {
  t.test(`the plugin "database" finds out which attributes an index has (${name})`, async (t) => {
    const isSqlite = name === 'sqlite'
    const search = { index: 'posts_fts' }
    const find = await serve(t, name, { search })
    t.strictSame([await find('tea'), await find('water'), await find('x')], [[1], [1], []])
    t.strictSame(await find('run'), isSqlite ? [] : [1], 'with the configuration of the index')
    const titles = serve(t, name, { search: { ...search, of: ['full_title'] } })
    if (isSqlite) t.strictSame(await (await titles)('tea'), [])
    else await t.rejects(titles, { message: /"posts_fts", which also has "\w+"; add it to "of"/ })
    const listed = await serve(t, name, { search: ['body', 'secret'] })
    t.strictSame([await listed('te'), await listed('y'), await listed('water')], [[1], [2], []])
    if (!isSqlite) {
      const simple = await serve(t, name, { search: { ...search, configuration: 'simple' } })
      t.strictSame([await simple('run'), await simple('running')], [[1], []])
      const plain = await serve(t, name, { search: { index: 'plain' } })
      t.strictSame([await plain('Teapots'), await plain('tea')], [[], []])
    }
    const cases: ReadonlyArray<readonly [options: object, message: RegExp]> = [
      [{ search: { index: 'nope' } }, /"search" of the plugin "database" names "nope", whose attributes are unknown/],
      [{ search: { index: 'made' } }, /"made", whose attributes are unknown; correct it, or add "of"\.$/],
      [{ search: {} }, /names "undefined"/],
      [{ search: { index: 'nope', of: ['body'] } }, /names "nope", which is no full text index of body: /],
      [{ search: 'posts_fts' }, /"search" of resource "posts" must be a list of attributes/],
      [{ search, hide: ['body'] }, /"search" of resource "posts" names "body", which is not among the attributes/]
    ]
    for (const [options, message] of cases) {
      await t.rejects(serve(t, name, options as TableOptions), { message }, String(message))
    }
  })
}

t.test('an index is not served itself, because it has the words of all rows', async (t) => {
  const memory = new Database(':memory:')
  memory.exec(SQLITE)
  for (const [source, only, status] of [
    [{ database: memory }, undefined, 404],
    [{ database: memory }, ['posts', 'posts_fts'], 200],
    [{ pool: server.pool() }, ['posts'], 404]
  ] as const) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(database, {
      ...source, ...only && { only }, tables: { posts: { search: { index: 'posts_fts' } } }, report: () => {}
    })
    await app.ready()
    t.equal((await app.inject('/posts-fts.json')).statusCode, status)
    t.notOk('posts_fts' in (await app.inject('/posts.json')).json().posts[0], 'nor is its column')
    t.equal((await app.inject('/posts.json?posts_fts[contains]=tea')).statusCode, 400)
  }
})

t.test('the command searches tables by indexes', async (t) => {
  const path = `${t.testdir()}/posts.sqlite`
  makeDatabase(SQLITE, path).close()
  const search = ['--search', 'posts=posts_fts']
  const found = async ([source = '', ...flags]: readonly string[]): Promise<unknown> => {
    const { url } = await start(t, [source, ...flags])
    const { posts } = await (await fetch(`${url}posts.json?q=te`)).json() as { posts: unknown[] }
    return posts.length
  }
  t.strictSame([await found([path]), await found([path, ...search])], [2, 0])
  t.strictSame([await found([server.url]), await found([server.url, ...search])], [2, 0])
  const { printed } = await end([path, '--print', ...search, '--hide', 'posts.secret'])
  t.match(printed, "tables: { posts: { hide: [ 'secret' ], search: { index: 'posts_fts' } } }")
  const cases: ReadonlyArray<readonly [flags: readonly string[], code: number, message: string]> = [
    [['posts'], 2, '--search must name a table and its index, as in --search posts=posts_fts, not "posts"'],
    [
      ['post=posts_fts'], 1,
      '--hide or --search has "post", which is not one of posts, posts_fts; did you mean "posts"?'
    ],
    [['posts=fts'], 1, '--search names "fts", whose attributes are unknown; correct it, or add "of".'],
    [
      ['posts=posts_fts', '--hide', 'posts.body'], 1,
      '--search: resource "posts" names "body", which is not among the attributes declared.'
    ]
  ]
  for (const [flags, code, message] of cases) {
    t.same(await end([path, '--search', ...flags]), { code, printed: '', complained: `${message}\n` })
  }
})
