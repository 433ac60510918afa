import fastify, {
  type FastifyInstance, type LightMyRequestResponse, type LightMyRequestResponse as Response
} from 'fastify'
import t from 'tap'
import { database } from '../../../lib/database/index.js'
import type { SqliteDatabase } from '../../../lib/sql/sqlite/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'
import type { AttributesSchema } from '../../../lib/index.js'
import { build } from '../../support/helper.js'
import { type Engine, openEngines } from '../../support/stores/sql-engines.js'

/**
 * The middle rows of these tables and views hold values of other types than the first and the last 500, at which the
 * description looks. No two of the values are equal.
 */
const SQL = `
  CREATE TABLE parts (id INTEGER PRIMARY KEY, code INTEGER, name TEXT);
  WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 1500)
    INSERT INTO parts SELECT n, iif(n BETWEEN 601 AND 900, 'K,%' || n, n), 'name' || (n % 7) FROM counted;
  UPDATE parts SET code = NULL WHERE id = 701;
  UPDATE parts SET code = 0.5 WHERE id = 702;
  UPDATE parts SET code = '' WHERE id = 705;
  UPDATE parts SET code = '%T1' WHERE id = 706;
  CREATE VIEW pairs AS SELECT code, name FROM parts;
  CREATE VIEW singles AS SELECT code FROM parts;
  CREATE VIEW flags AS SELECT CAST(id <= 600 AS BOOLEAN) AS flag, CAST(id AS INTEGER) AS n FROM parts WHERE id <= 600
    UNION ALL SELECT code, CAST(id AS INTEGER) FROM parts WHERE id BETWEEN 601 AND 900;
  CREATE VIEW measures AS SELECT CASE WHEN id BETWEEN 601 AND 900 THEN id + 0.5 ELSE 'w' || id END AS word FROM parts;
  CREATE TABLE areas (area TEXT NOT NULL, code INTEGER_OR_TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (area, code)) WITHOUT ROWID;
  INSERT INTO areas SELECT iif(id < 1000, 'A', 'B'), iif(id BETWEEN 601 AND 900, 'K' || id, id), name FROM parts;
  INSERT INTO areas SELECT 'C', id, name FROM parts;`

/** A walk that finds more rows is endless. */
const MOST = 3000

type Rows = Array<Record<string, unknown>>

const opened = makeDatabase(SQL)
const app = fastify({ pluginTimeout: 0 })
t.teardown(async () => {
  await app.close()
  opened.close()
})
app.register(database, { database: opened as SqliteDatabase })
await app.ready()

/** Collects the rows of all pages, along the links of a relation. */
async function readPages (app: FastifyInstance, url: string, name: string): Promise<Rows> {
  const rows: Rows = []
  let next: string | undefined = url
  while (next !== undefined && rows.length <= MOST) {
    const response: Response = await app.inject({ url: next, headers: { accept: 'application/json' } })
    rows.push(...response.json()[name])
    next = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1]
  }
  return rows
}

async function readHtmlPages (url: string): Promise<number> {
  let rows = 0
  for (let next: string | undefined = url; next !== undefined && rows <= MOST;) {
    const { body }: Response = await app.inject({ url: next, headers: { accept: 'text/html' } })
    rows += body.match(/<tr/g)?.length ?? 0
    rows -= body.match(/<thead/g)?.length ?? 0
    next = /<a href="([^"]*)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
  }
  return rows
}

const COUNTS = { parts: 1500, pairs: 1500, singles: 1500, flags: 900, measures: 1500, areas: 3000 }

for (const [name, count] of Object.entries(COUNTS)) {
  t.test(`each row of ${name} is listed once`, async (t) => {
    const json = { accept: 'application/json' }
    const whole: Rows = (await app.inject({ url: `/${name}`, headers: json })).json()[name]
    t.equal(whole.length, count)
    t.equal(new Set(whole.map(({ id }) => id)).size, count, 'the ids differ')
    const ids = whole.map(({ id }) => id)
    const attribute = Object.keys(whole[0] as object)[1] as string
    for (const query of ['?limit=70', `?limit=70&sort=${attribute}`, `?limit=600&sort=-${attribute}`]) {
      const pages = await readPages(app, `/${name}${query}`, name)
      t.equal(pages.length, count, query)
      t.equal(new Set(pages.map(({ id }) => id)).size, count, query)
    }
    t.strictSame((await readPages(app, `/${name}?limit=70&sort=-id`, name)).map(({ id }) => id), ids.toReversed())
    t.equal(await readHtmlPages(`/${name}`), count, 'HTML')
    const xml = await app.inject({ url: `/${name}.xml` })
    t.equal(xml.body.match(/<id[ >]/g)?.length, count, 'XML')
    // Each id leads to its row, except those of rows without a path.
    for (const row of whole.filter(({ id }, index) => index % 13 === 0 || /^%(?!\["K)/.test(String(id)))) {
      const found = await app.inject({ url: `/${name}/${encodeURIComponent(String(row.id))}`, headers: json })
      if (String(row.id).startsWith('%[')) t.equal(found.statusCode, 404, String(row.id))
      else t.strictSame(Object.values(found.json())[0], row, String(row.id))
    }
  })
}

t.test('a table is served whose numeric columns have only values of another type', async (t) => {
  const opened = makeDatabase(`
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, phone INTEGER, size REAL, share INTEGER);
    INSERT INTO people VALUES (1, 'Ann', '555-1234', 'large', 1.5), (2, 'Bob', '556-1', 'small', 2.5);`)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened as SqliteDatabase, write: true })
  await app.ready()
  const json = { accept: 'application/json' }
  const ann = { name: 'Ann', phone: '555-1234', size: 'large', share: 1.5 }
  t.match((await app.inject({ url: '/people', headers: json })).json().people, [ann, { phone: '556-1' }])
  t.equal((await app.inject({ url: '/people?sort=-phone&limit=1', headers: json })).statusCode, 400, 'a list is not sorted by such a column')
  const put = (person: object): Promise<Response> => app.inject({ method: 'PUT', url: '/people', headers: json, payload: { id: 1, person } })
  const changed = await put({ name: 'Anna' })
  t.strictSame([changed.statusCode, changed.json().person], [200, { id: 1, ...ann, name: 'Anna' }])
  t.equal((await put({ phone: '1' })).json().person.phone, '555-1234', 'a column whose values are of other types is read-only')
  t.strictSame(opened.prepare('SELECT phone, size, share FROM people WHERE id = 1').all(), [{ phone: '555-1234', size: 'large', share: 1.5 }])
})

/** 1,000 equal rows between others. `codes` has one column of integers. */
const EQUAL_SQL = `
  CREATE TABLE numbers (n INTEGER PRIMARY KEY);
  INSERT INTO numbers WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 1000) SELECT n FROM counted;
  CREATE VIEW pairs AS SELECT CAST(word AS text) AS word, CAST(size AS integer) AS size
    FROM (SELECT 'b,%' AS word, 5 AS size FROM numbers UNION ALL SELECT 'a', 1 UNION ALL SELECT 'c', NULL) AS made;
  CREATE VIEW codes AS SELECT CAST(code AS integer) AS code
    FROM (SELECT 7 AS code FROM numbers UNION ALL SELECT 3 UNION ALL SELECT 9) AS made;`

const postgres = await startPostgres(t)

for (const engine of ['SQLite', 'PostgreSQL']) {
  t.test(`${engine}: a list has each of many equal rows`, async (t) => {
    const opened = makeDatabase(EQUAL_SQL)
    const pool = postgres.pool()
    if (engine === 'PostgreSQL') await pool.query(EQUAL_SQL)
    const app = fastify({ pluginTimeout: 0 })
    t.teardown(async () => {
      await app.close()
      opened.close()
    })
    app.register(database, engine === 'SQLite' ? { database: opened as SqliteDatabase } : { pool })
    await app.ready()
    const json = { accept: 'application/json' }
    for (const [path, name, first, equal, last] of [
      ['/pairs', 'pairs', { word: 'a' }, { word: 'b,%', size: 5 }, { word: 'c' }],
      ['/codes', 'codes', { code: 3 }, { code: 7 }, { code: 9 }]
    ] as const) {
      const whole = (await app.inject({ url: path, headers: json })).json()[name]
      t.match([whole.length, whole[0], whole[1], whole[1000], whole[1001]], [1002, first, equal, equal, last], path)
      for (const sort of ['id', '-id', String(Object.keys(equal).at(-1))]) {
        const rows: unknown[] = []
        for (let offset = 0; offset < 1002; offset += 300) {
          const page = await app.inject({ url: `${path}?limit=300&offset=${offset}&sort=${sort}`, headers: json })
          rows.push(...page.json()[name])
        }
        t.equal(rows.length, 1002, `${path} by ${sort}, page by page`)
      }
      t.equal((await app.inject({ url: `${path}?count=true&limit=1`, headers: json })).headers['total-count'], '1002')
      // Only the other rows can be requested by their ids.
      const statuses: number[] = []
      for (const { id } of [whole[0], whole[1], whole[1001]]) {
        statuses.push((await app.inject({ url: `${path}/${encodeURIComponent(id)}`, headers: json })).statusCode)
      }
      t.strictSame(statuses, [200, 404, path === '/pairs' ? 404 : 200], path)
      const { headers: { link } } = await app.inject({ url: `${path}?limit=30`, headers: json })
      const next = await app.inject({ url: /<([^>]*)>; rel="next"/.exec(String(link))?.[1] as string, headers: json })
      t.match(next.json(), { status: 400, detail: 'several rows have the key after which this page begins; read the list by "limit" and "offset"' })
    }
  })
}

/** The most rows of a list that no index sorts. */
const KEYLESS_MOST = 50_000

const attributes = {
  type: 'object',
  properties: { name: { type: ['string', 'null'] }, size: { type: ['integer', 'null'] } }
} as const satisfies AttributesSchema

/** Makes a table with this many rows, and a view of them. */
async function fill ({ name, run }: Engine, table: string, count: number, code: string): Promise<void> {
  await run(`CREATE TABLE ${table} (${code} TEXT${name === 'sqlite' ? '' : ' COLLATE "C"'}${code === 'code' ? ' PRIMARY KEY' : ''}, name TEXT, size ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'})`)
  await run(name === 'sqlite'
    ? `WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count}) INSERT INTO ${table} SELECT 'c' || i, 'n' || (i % 1000), i % 7 FROM s`
    : `INSERT INTO ${table} SELECT 'c' || i, 'n' || (i % 1000), i % 7 FROM generate_series(1, ${count}) AS s (i)`)
}

const engines = await openEngines()
for (const engine of engines) {
  t.test(`${engine.name}: a view without a key is listed in few statements, and refused if it is long`, async (t) => {
    await fill(engine, 'files', KEYLESS_MOST, 'path')
    await engine.run('CREATE VIEW few AS SELECT name, size FROM files WHERE size = 3 AND name < \'n2\'', 'CREATE VIEW views AS SELECT name, size FROM files', 'CREATE VIEW longer AS SELECT name, size FROM files UNION ALL SELECT NULL, NULL')
    const read = async (table: string, query = '', accept = 'application/json'): Promise<LightMyRequestResponse & { readonly statements: number }> => {
      const store = engine.store({ table, attributes, key: ['name', 'size'], version: 'values' })
      const app = await build(t, { name: 'files', attributes, store, only: ['list', 'show'], formats: ['xml', 'json', 'csv', 'html'] })
      const before = engine.statements.length
      const res = await app.inject({ url: `/files${query}`, headers: { accept } })
      return Object.assign(res, { statements: engine.statements.slice(before).filter((text) => text.includes(table) && !/^EXPLAIN/.test(text)).length })
    }
    const few = await read('few')
    t.equal((few.json() as { files: unknown[] }).files.length > 50, true)
    t.ok(few.statements <= 4, `${few.statements} statements`)
    const whole = await read('views')
    t.equal(whole.statusCode, 200)
    t.equal((whole.json() as { files: unknown[] }).files.length, KEYLESS_MOST)
    t.ok(whole.statements <= 110, `${whole.statements} statements`)
    for (const [query, accept] of [['', 'application/json'], ['', 'application/xml'], ['', 'text/csv'], ['?sort=-size', 'application/json'], ['?name[not]=n5', 'application/json']] as const) {
      const refused = await read('longer', query, accept)
      const isShort = query.includes('not')
      t.equal(refused.statusCode, isShort ? 200 : 400, `${query} as ${accept}`)
      if (!isShort) t.match(refused.body, `this list has more than ${KEYLESS_MOST} rows, and no index has them in its order; read it by pages, with`)
    }
    t.match(await read('longer', '?limit=2'), { statusCode: 200, headers: { link: /rel="next"/ } })
    t.match(await read('longer', '', 'text/html'), { statusCode: 200, headers: { link: /rel="next"/ } })
  })

  t.test(`${engine.name}: a key puts a long list in order, which no other attribute does`, async (t) => {
    await fill(engine, 'keyed', KEYLESS_MOST + 1, 'code')
    const properties = { code: { type: 'string' }, ...attributes.properties } as const
    const store = engine.store({ table: 'keyed', attributes: { type: 'object', properties }, key: ['code'], version: 'values' })
    const app = await build(t, { name: 'files', attributes: { type: 'object', properties }, store, formats: ['json'] })
    const [whole, sorted, page] = [await app.inject('/files'), await app.inject('/files?sort=name'), await app.inject('/files?sort=name&limit=1000')]
    t.strictSame([whole.statusCode, sorted.statusCode, page.statusCode], [200, 400, 200])
    t.equal((whole.json() as { files: unknown[] }).files.length, KEYLESS_MOST + 1)
    await engine.run('CREATE INDEX keyed_name ON keyed (name, code)', ...(engine.name === 'sqlite' ? [] : ['ANALYZE keyed']))
    const other = engine.store({ table: 'keyed', attributes: { type: 'object', properties }, key: ['code'], version: 'values' })
    const indexed = await build(t, { name: 'files', attributes: { type: 'object', properties }, store: other, formats: ['json'] })
    t.equal((await indexed.inject('/files?sort=name')).statusCode, 200, 'with an index')
  })
}
