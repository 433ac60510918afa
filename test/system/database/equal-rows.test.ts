import fastify from 'fastify'
import t from 'tap'
import { database } from '../../../lib/database/index.js'
import { type SqliteDatabase } from '../../../lib/sql/sqlite/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'

/** 1,000 equal rows between others. `codes` has one column of integers. */
const SQL = `
  CREATE TABLE numbers (n INTEGER PRIMARY KEY);
  INSERT INTO numbers WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 1000)
    SELECT n FROM counted;
  CREATE VIEW pairs AS SELECT CAST(word AS text) AS word, CAST(size AS integer) AS size
    FROM (SELECT 'b,%' AS word, 5 AS size FROM numbers UNION ALL SELECT 'a', 1 UNION ALL SELECT 'c', NULL) AS made;
  CREATE VIEW codes AS SELECT CAST(code AS integer) AS code
    FROM (SELECT 7 AS code FROM numbers UNION ALL SELECT 3 UNION ALL SELECT 9) AS made;`

const postgres = await startPostgres(t)

for (const engine of ['SQLite', 'PostgreSQL']) {
  t.test(`${engine}: a list has each of many equal rows`, async (t) => {
    const opened = makeDatabase(SQL)
    const pool = postgres.pool()
    if (engine === 'PostgreSQL') await pool.query(SQL)
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
      t.match(next.json(), {
        status: 400,
        detail: 'several rows have the key after which this page begins; read the list by "limit" and "offset"'
      })
    }
  })
}
