import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore } from '../../../lib/index.js'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const SQL = `
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, phrase TEXT NOT NULL DEFAULT 'xyzzy', updated_by VARCHAR(20) NOT NULL
  );
  INSERT INTO orders VALUES (1, 'Tea', 'xyzzy', 'eve');
  CREATE VIEW titles AS SELECT title, phrase FROM orders`

type Options = Omit<Partial<DatabaseOptions>, 'database' | 'pool' | 'file' | 'schema'>

/** Serves a new database. */
async function serve (t: Test, options: Options): Promise<FastifyInstance> {
  const file = `${t.testdir()}/shop.sqlite`
  makeDatabase(SQL, file).close()
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(swagger, { openapi: { openapi: '3.1.0' } })
  app.register(database, { file, write: true, report: () => {}, ...options })
  await app.ready()
  return app
}

const userOf = ({ headers }: FastifyRequest): string => String(headers['x-user'])
const headers = { accept: 'application/json', 'x-user': 'ada' }

t.test('a hidden attribute is not in the description of the API, and a stamp is only read', async (t) => {
  const hide = ['phrase']
  const app = await serve(t, { tables: { orders: { hide }, titles: { hide } }, stamp: { updated_by: userOf } })
  const document = JSON.stringify(app.swagger())
  t.match(document, '"updated_by":{"type":"string","maxLength":20,"readOnly":true')
  t.notMatch(document, 'phrase')
})

t.test('an app may declare the attributes of a table, and hide some of them', async (t) => {
  const properties = { title: { type: 'string', maxLength: 5 }, phrase: { type: 'string' } } as const
  const attributes = { type: 'object', required: ['title', 'phrase'], properties } as const
  const app = await serve(t, {
    tables: { orders: { attributes, hide: ['phrase'] } }, stamp: { updated_by: userOf }
  })
  const create = async (title: string): Promise<string> =>
    (await app.inject({ method: 'POST', url: '/orders', headers, payload: { order: { title } } })).body
  t.equal(await create('Rice'), '{"order":{"id":2,"title":"Rice"}}')
  t.match(await create('Coffee'), /"errors":\{"title"/)
})

t.test('a store of the app is stamped too', async (t) => {
  const app = await serve(t, {
    tables: { orders: { store: memoryStore() } }, stamp: { updated_by: userOf }
  })
  const { body } = await app.inject({ method: 'POST', url: '/orders', headers, payload: { order: { title: 'Rice' } } })
  t.equal(body, '{"order":{"id":1,"title":"Rice","phrase":"xyzzy","updated_by":"ada"}}')
})

t.test('a handler stamps what it writes for a request, also in a transaction', async (t) => {
  const app = await serve(t, {
    tables: {
      orders: {
        actions: {
          create: async ({ transaction, store, attributes, signal }) => attributes.title === 'Lost'
            ? store.create(attributes, {}, { signal })
            : transaction(async (context) =>
              store.create({ ...attributes, title: `${String(attributes.title)}!` }, {}, context)),
          update: async ({ store, id, attributes, guard, ...context }) => store.update(id, attributes, guard, context)
        }
      }
    },
    stamp: { updated_by: userOf }
  })
  const write = async (method: 'POST' | 'PUT', payload: object): Promise<unknown> =>
    (await app.inject({ method, url: '/orders', headers, payload })).json()
  t.match(await write('POST', { order: { title: 'Rice' } }), { order: { title: 'Rice!', updated_by: 'ada' } })
  t.match(await write('POST', { order: { title: 'Lost' } }), { status: 500 })
  t.match(await write('PUT', { id: 1, order: { title: 'Cup' } }), { order: { title: 'Cup', updated_by: 'ada' } })
})

t.test('a table may have stamps of its own besides those of all', async (t) => {
  const app = await serve(t, {
    stamp: { updated_by: userOf }, tables: { orders: { stamp: { phrase: () => 'of the table' } } }
  })
  const payload = { order: { title: 'Rice', phrase: 'of the client' } }
  t.match((await app.inject({ method: 'POST', url: '/orders', headers, payload })).json(),
    { order: { phrase: 'of the table', updated_by: 'ada' } })
})

t.test('a merge patch changes neither what is hidden nor a stamp', async (t) => {
  const app = await serve(t, {
    stamp: { updated_by: userOf }, tables: { orders: { hide: ['phrase'] } }, defaults: { writes: 'both' }
  })
  const patch = async (changes: object): Promise<unknown> => (await app.inject({
    method: 'PATCH',
    url: '/orders/1',
    headers: { ...headers, 'content-type': 'application/merge-patch+json' },
    payload: JSON.stringify({ order: changes })
  })).json()
  t.match(await patch({ phrase: 'x' }), { status: 422, errors: { phrase: ['is unknown'] } })
  t.strictSame(await patch({ title: 'Cup', updated_by: 'mallory' }),
    { order: { id: 1, title: 'Cup', updated_by: 'ada' } })
})

t.test('a rule sees the stamp of the write', async (t) => {
  const app = await serve(t, {
    stamp: { updated_by: userOf },
    tables: {
      orders: {
        check: ({ phrase, updated_by: by }, { issues }) => {
          if (phrase === by) issues.add('phrase', 'must be of somebody else')
        }
      }
    }
  })
  const payload = { order: { title: 'Rice', phrase: 'ada' } }
  t.match((await app.inject({ method: 'POST', url: '/orders', headers, payload })).body, 'must be of somebody else')
  const others = { ...headers, 'x-user': 'dan' }
  t.equal((await app.inject({ method: 'POST', url: '/orders', headers: others, payload })).statusCode, 201)
  const update = { id: 2, order: { title: 'Bread' } }
  t.equal((await app.inject({ method: 'PUT', url: '/orders', headers, payload: update })).statusCode, 422)
  t.equal((await app.inject({ method: 'PUT', url: '/orders', headers: others, payload: update })).statusCode, 200)
})

t.test('a stamp that is no text is the mistake of the app, and nothing is written', async (t) => {
  const app = await serve(t, { stamp: { updated_by: (() => undefined) as unknown as () => string } })
  const payload = { id: 1, order: { title: 'Cup' } }
  t.equal((await app.inject({ method: 'PUT', url: '/orders', headers, payload })).statusCode, 500)
  t.match((await app.inject({ url: '/orders/1', headers })).body, '"title":"Tea"')
})

t.test('options that do not fit throw at the start', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: string]> = [
    [{ stamp: 'updated_by' }, '"stamp" of the plugin "database" must be an object of functions by attribute, not '],
    [{ stamp: { updated_by: 'ada' } }, '"stamp" of the plugin "database" has "updated_by", which must be a function'],
    [{ tables: { orders: { stamp: { writer: userOf } } } },
      '"tables.orders.stamp" of the plugin "database" names "writer", which the table does not have'],
    [{ tables: { orders: { hide: 'phrase' } } }, '"tables.orders.hide" of the plugin "database" must be a list of ']
  ]
  for (const [options, message] of cases) {
    await t.rejects(serve(t, options), { message: new RegExp(`^Option ${message}`) }, JSON.stringify(options))
  }
})
