import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import fastify from 'fastify'
import t from 'tap'
import resources, { database, postgresStore, type SqliteDatabase, sqliteStore } from '../../../lib/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres-server.js'

/** 1,000 equal rows between others. `codes` has one column of integers, and `mixed` has a column that is no key. */
const SQL = `
  CREATE TABLE numbers (n INTEGER PRIMARY KEY);
  INSERT INTO numbers WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 1000) SELECT n FROM counted;
  CREATE VIEW pairs AS SELECT CAST(word AS text) AS word, CAST(size AS integer) AS size
    FROM (SELECT 'b,%' AS word, 5 AS size FROM numbers UNION ALL SELECT 'a', 1 UNION ALL SELECT 'c', NULL) AS made;
  CREATE VIEW versioned AS SELECT 'a' AS n, numbers.n AS size FROM numbers;
  CREATE VIEW codes AS SELECT CAST(code AS integer) AS code
    FROM (SELECT 7 AS code FROM numbers UNION ALL SELECT 3 UNION ALL SELECT 9) AS made;`

/** Collects the rows of all pages. */
async function readPages (app: FastifyInstance, url: string, name: string): Promise<Array<Record<string, unknown>>> {
  const rows: Array<Record<string, unknown>> = []
  let next: string | undefined = url
  while (next !== undefined) {
    const response: LightMyRequestResponse = await app.inject({ url: next, headers: { accept: 'application/json' } })
    rows.push(...response.json()[name])
    next = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1]
  }
  return rows
}

const postgres = await startPostgres(t)

for (const engine of ['SQLite', 'PostgreSQL']) {
  t.test(`${engine}: a list has each of many equal rows`, async (t) => {
    const opened = makeDatabase(SQL)
    const pool = postgres.pool()
    if (engine === 'PostgreSQL') await pool.query(SQL)
    const app = fastify()
    t.teardown(async () => {
      await app.close()
      opened.close()
    })
    app.register(database, engine === 'SQLite' ? { database: opened as SqliteDatabase } : { pool })
    const versioned = {
      table: 'versioned',
      key: ['n'],
      version: 'values',
      attributes: { type: 'object', properties: { n: { type: 'string' }, size: { type: 'integer' } } }
    } as const
    const store = engine === 'SQLite' ? sqliteStore({ database: opened as SqliteDatabase, ...versioned }) : postgresStore({ pool, ...versioned })
    app.register(resources, { name: 'versions', store, only: ['list', 'show'] })
    await app.ready()
    const json = { accept: 'application/json' }
    for (const [path, name, first, equal, last] of [
      ['/pairs', 'pairs', { word: 'a' }, { word: 'b,%', size: 5 }, { word: 'c' }],
      ['/codes', 'codes', { code: 3 }, { code: 7 }, { code: 9 }]
    ] as const) {
      const whole = (await app.inject({ url: path, headers: json })).json()[name]
      t.match([whole.length, whole[0], whole[1], whole[1000], whole[1001]], [1002, first, equal, equal, last], path)
      t.equal(new Set(whole.map(({ id }: { id: string }) => id)).size, 1002, 'their ids differ')
      for (const query of ['?limit=30', '?limit=70&sort=-id', `?limit=600&sort=${Object.keys(equal).at(-1)}`]) {
        const pages = await readPages(app, path + query, name)
        t.equal(pages.length, 1002, path + query)
        t.equal(new Set(pages.map(({ id }) => id)).size, 1002, path + query)
      }
      t.equal((await app.inject({ url: `${path}?count=true&limit=1`, headers: json })).headers['total-count'], '1002')
      // Each id leads to its row.
      for (const { id, ...row } of [whole[0], whole[1], whole[2], whole[1000], whole[1001]]) {
        const found = await app.inject({ url: `${path}/${encodeURIComponent(id)}`, headers: json })
        t.match(Object.values(found.json())[0], { id, ...row }, id)
      }
    }
    const sizes = await readPages(app, '/versions?limit=150', 'versions')
    t.equal(new Set(sizes.map(({ size }) => size)).size, 1000, 'rows with the same key differ in other attributes')
    t.match((await app.inject({ url: '/versions/%25R5,a', headers: json })).json(), { version: { id: '%R5,a', size: 5 } })
    const statusOf = async (url: string) => (await app.inject(url)).statusCode
    for (const [url, status] of [
      ['/pairs/b%252C%2525,5', 200], ['/pairs/%25R2,b%252C%2525,5', 200], ['/pairs/%25R1000,b%252C%2525,5', 200],
      ['/pairs/%25R1001,b%252C%2525,5', 404], ['/pairs/%25R1,b%252C%2525,5', 404], ['/pairs/%25R02,b%252C%2525,5', 404],
      ['/codes/7', 200], ['/codes/%25R1000,7', 200], ['/codes/%25R1001,7', 404], ['/codes/%25R2,3', 404]
    ] as const) t.equal(await statusOf(url), status, url)
  })
}
