import type { FastifyInstance } from 'fastify'
import fastify, { type LightMyRequestResponse as Response } from 'fastify'
import t from 'tap'
import { database } from '../../../lib/database/index.js'
import { type SqliteDatabase } from '../../../lib/sql/sqlite/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

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
  CREATE TABLE areas (
    area TEXT NOT NULL, code INTEGER_OR_TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (area, code)
  ) WITHOUT ROWID;
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
  t.equal(
    (await app.inject({ url: '/people?sort=-phone&limit=1', headers: json })).statusCode, 400,
    'a list is not sorted by such a column'
  )
  const put = (person: object): Promise<Response> =>
    app.inject({ method: 'PUT', url: '/people', headers: json, payload: { id: 1, person } })
  const changed = await put({ name: 'Anna' })
  t.strictSame([changed.statusCode, changed.json().person], [200, { id: 1, ...ann, name: 'Anna' }])
  t.equal(
    (await put({ phone: '1' })).json().person.phone, '555-1234', 'a column whose values are of other types is read-only'
  )
  t.strictSame(opened.prepare('SELECT phone, size, share FROM people WHERE id = 1').all(), [
    { phone: '555-1234', size: 'large', share: 1.5 }
  ])
})
