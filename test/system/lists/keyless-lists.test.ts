import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import type { AttributesSchema } from '../../../lib/index.js'
import { build } from '../../support/helper.js'
import { type Engine, openEngines } from '../../support/stores/sql-engines.js'

/** The most rows of a list that no index sorts. */
const MOST = 50_000

const attributes = {
  type: 'object',
  properties: { name: { type: ['string', 'null'] }, size: { type: ['integer', 'null'] } }
} as const satisfies AttributesSchema

/** Makes a table with this many rows, and a view of them. */
async function fill ({ name, run }: Engine, table: string, count: number, code: string): Promise<void> {
  await run(
    `CREATE TABLE ${table} (${code} TEXT${name === 'sqlite'
      ? ''
      : ' COLLATE "C"'}${code === 'code'
        ? ' PRIMARY KEY'
        : ''}, name TEXT, size ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'})`
  )
  await run(name === 'sqlite'
    ? `WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count}) INSERT INTO ${table} ` +
      'SELECT \'c\' || i, \'n\' || (i % 1000), i % 7 FROM s'
    : `INSERT INTO ${table} SELECT 'c' || i, 'n' || (i % 1000), i % 7 FROM generate_series(1, ${count}) AS s (i)`)
}

const engines = await openEngines()
for (const engine of engines) {
  t.test(`${engine.name}: a view without a key is listed in few statements, and refused if it is long`, async (t) => {
    await fill(engine, 'files', MOST, 'path')
    await engine.run(
      'CREATE VIEW few AS SELECT name, size FROM files WHERE size = 3 AND name < \'n2\'',
      'CREATE VIEW views AS SELECT name, size FROM files',
      'CREATE VIEW longer AS SELECT name, size FROM files UNION ALL SELECT NULL, NULL'
    )
    const read = async (table: string, query = '', accept = 'application/json'): Promise<LightMyRequestResponse & {
      readonly statements: number
    }> => {
      const store = engine.store({ table, attributes, key: ['name', 'size'], version: 'values' })
      const app = await build(t, {
        name: 'files', attributes, store, only: ['list', 'show'], formats: ['xml', 'json', 'csv', 'html']
      })
      const before = engine.statements.length
      const res = await app.inject({ url: `/files${query}`, headers: { accept } })
      return Object.assign(res, {
        statements: engine.statements.slice(before).filter((text) =>
          text.includes(table) && !/^EXPLAIN/.test(text)).length
      })
    }
    const few = await read('few')
    t.equal((few.json() as { files: unknown[] }).files.length > 50, true)
    t.ok(few.statements <= 4, `${few.statements} statements`)
    const whole = await read('views')
    t.equal(whole.statusCode, 200)
    t.equal((whole.json() as { files: unknown[] }).files.length, MOST)
    t.ok(whole.statements <= 110, `${whole.statements} statements`)
    for (const [query, accept] of [
      ['', 'application/json'], ['', 'application/xml'], ['', 'text/csv'], ['?sort=-size', 'application/json'],
      ['?name[not]=n5', 'application/json']
    ] as const) {
      const refused = await read('longer', query, accept)
      const isShort = query.includes('not')
      t.equal(refused.statusCode, isShort ? 200 : 400, `${query} as ${accept}`)
      if (!isShort) {
        t.match(
          refused.body,
          `this list has more than ${MOST} rows, and no index has them in its order; read it by pages, with`
        )
      }
    }
    t.match(await read('longer', '?limit=2'), { statusCode: 200, headers: { link: /rel="next"/ } })
    t.match(await read('longer', '', 'text/html'), { statusCode: 200, headers: { link: /rel="next"/ } })
  })

  t.test(`${engine.name}: a key puts a long list in order, which no other attribute does`, async (t) => {
    await fill(engine, 'keyed', MOST + 1, 'code')
    const properties = { code: { type: 'string' }, ...attributes.properties } as const
    const store = engine.store({
      table: 'keyed', attributes: { type: 'object', properties }, key: ['code'], version: 'values'
    })
    const app = await build(t, { name: 'files', attributes: { type: 'object', properties }, store, formats: ['json'] })
    const [whole, sorted, page] = [
      await app.inject('/files'), await app.inject('/files?sort=name'), await app.inject('/files?sort=name&limit=1000')
    ]
    t.strictSame([whole.statusCode, sorted.statusCode, page.statusCode], [200, 400, 200])
    t.equal((whole.json() as { files: unknown[] }).files.length, MOST + 1)
    await engine.run(
      'CREATE INDEX keyed_name ON keyed (name, code)', ...(engine.name === 'sqlite' ? [] : ['ANALYZE keyed'])
    )
    const other = engine.store({
      table: 'keyed', attributes: { type: 'object', properties }, key: ['code'], version: 'values'
    })
    const indexed = await build(t, {
      name: 'files', attributes: { type: 'object', properties }, store: other, formats: ['json']
    })
    t.equal((await indexed.inject('/files?sort=name')).statusCode, 200, 'with an index')
  })
}
