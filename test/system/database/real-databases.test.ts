import t from 'tap'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { database } from '../../../lib/database/index.js'

const COUNT = 100
const SQL = Array.from({ length: COUNT }, (_, index) => `
  CREATE TABLE table_${index} (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    price NUMERIC(10,2),
    at DATETIME,
    parent INTEGER REFERENCES table_${Math.max(0, index - 1)}
  );`).join('')

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: object }
}

t.test('the OpenAPI document of 100 tables is complete', async (t) => {
  const opened = makeDatabase(SQL)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Many', version: '1.0.0' } } })
  app.register(database, { database: opened, write: true, report: () => {} })
  await app.ready()
  const document = app.swagger() as unknown as Document
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  t.equal(operations.length, COUNT * 7, 'each table has seven operations, and the home page has none')
  t.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length, 'their ids are unique')
  // Each reference has a target.
  const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]*)"/g)].map(([, path = '']) => path)
  const find = (path: string): unknown => path.split('/').reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
    document
  )
  t.ok(targets.length > COUNT)
  t.strictSame([...new Set(targets)].filter((path) => find(path) === undefined), [])
  t.equal((await app.inject('/table-99s')).statusCode, 404)
  t.equal((await app.inject('/table-99')).statusCode, 200)
})
