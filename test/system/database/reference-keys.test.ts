import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, { type ResourceOptions } from '../../../lib/index.js'
import { database, describeDatabase, type DatabaseOptions } from '../../../lib/database/index.js'
import { elementsOf } from '../../support/html/elements.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'
import { startPostgres } from '../../support/stores/postgres.js'

const SQL = `
  CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE customers (tenant INTEGER NOT NULL REFERENCES tenants, no INTEGER NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (tenant, no));
  CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL REFERENCES tenants, buyer_id INTEGER,
    seller_id INTEGER, item TEXT, FOREIGN KEY (tenant, buyer_id) REFERENCES customers (tenant, no),
    FOREIGN KEY (seller_id, tenant) REFERENCES customers (no, tenant) ON DELETE CASCADE);
  CREATE TABLE agents (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (tenant, id));
  CREATE TABLE calls (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, agent_id INTEGER,
    FOREIGN KEY (tenant, agent_id) REFERENCES agents (tenant, id));
  CREATE TABLE places (street TEXT NOT NULL, city TEXT NOT NULL, note TEXT, PRIMARY KEY (street, city));
  CREATE TABLE visits (id INTEGER PRIMARY KEY, city TEXT, street TEXT,
    FOREIGN KEY (city, street) REFERENCES places (city, street));
  INSERT INTO tenants VALUES (1, 'Acme'), (2, 'Blue');
  INSERT INTO customers VALUES (1, 1, 'Ann'), (1, 2, 'Bob'), (2, 1, 'Cleo');
  INSERT INTO orders VALUES (1, 1, 1, 2, 'a'), (2, 1, 2, NULL, 'b'), (3, 2, 1, 1, 'c'), (4, 1, NULL, NULL, 'd');
  INSERT INTO agents VALUES (1, 1, 'Smith'), (2, 2, 'Doe');
  INSERT INTO calls VALUES (1, 1, 1), (2, 2, 2);
  INSERT INTO places VALUES ('Main, 1', '50%', 'x');
  INSERT INTO visits VALUES (1, '50%', 'Main, 1'), (2, NULL, 'Main, 1')`

const server = await startPostgres(t)
const pool = server.pool({ options: '-c search_path=keyed' })
await pool.query(`CREATE SCHEMA keyed; ${SQL}`)

const ENGINES = [
  ['SQLite', (t: Test): DatabaseOptions => {
    const opened = makeDatabase(SQL)
    t.teardown(() => opened.close())
    return { database: opened }
  }],
  ['PostgreSQL', (): DatabaseOptions => ({ pool })]
] as const

async function serve (t: Test, source: DatabaseOptions, more: Partial<DatabaseOptions> = {}): Promise<FastifyInstance> {
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(() => app.close())
  app.register(database, { ...source, write: true, report: () => {}, ...more } as DatabaseOptions)
  await app.ready()
  return app
}

/** Returns the links of the content of a page as `text path`. */
async function linksOn (app: FastifyInstance, url: string): Promise<string[]> {
  const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
  const [main = ''] = /<main[^]*<\/main>/.exec(body) ?? []
  return elementsOf(main).flatMap(({ name, text, attributes: { href } }) =>
    name === 'a' && href !== undefined ? [`${text} ${href}`] : [])
}

for (const [engine, open] of ENGINES) {
  t.test(`${engine}: a foreign key of several columns is a reference`, async (t) => {
    const source = open(t)
    const tables = new Map((await describeDatabase(source.database ?? source.pool as never))
      .map((table) => [table.name, table]))
    t.match(tables.get('orders'), {
      references: { tenant: 'tenants', buyer_id: 'customers', seller_id: 'customers' },
      referenceKeys: { buyer_id: ['tenant', 'buyer_id'], seller_id: ['tenant', 'seller_id'] },
      onDelete: { buyer_id: 'restrict', seller_id: 'cascade' }
    })
    t.match(tables.get('visits'), { references: { street: 'places' }, referenceKeys: { street: ['street', 'city'] } })
    t.match(tables.get('calls'), { references: { agent_id: 'agents' }, referenceKeys: undefined },
      'the key of the other table is one of the columns')

    const app = await serve(t, source)
    const { orders } = (await app.inject('/orders.json?include=buyer,seller')).json()
    t.match(orders, [
      { buyer: { id: '1,1', name: 'Ann' }, seller: { id: '1,2', name: 'Bob' } },
      { buyer: { id: '1,2' }, seller: null },
      { buyer: { id: '2,1', name: 'Cleo' }, seller: { id: '2,1' } },
      { buyer: null, seller: null }
    ])
    t.match((await app.inject('/calls.json?include=agent')).json(),
      { calls: [{ agent: { id: 1, name: 'Smith' } }, { agent: { id: 2 } }] })
    t.match((await app.inject('/visits.json?include=place')).json(),
      { visits: [{ place: { id: 'Main%2C 1,50%25', note: 'x' } }, { place: null }] })

    const { headers: { etag } } = await app.inject('/orders/1.json')
    const refused = await app.inject({
      method: 'PUT',
      url: '/orders.json',
      headers: { 'if-match': String(etag) },
      payload: { id: 1, order: { tenant: 1, buyer_id: 99 } }
    })
    t.strictSame([refused.statusCode, Object.keys(refused.json().errors)], [422, ['buyer_id']], 'the tenant exists')
    const list = await linksOn(app, '/orders')
    for (const link of ['Ann /customers/1,1', 'Bob /customers/1,2', 'Cleo /customers/2,1']) {
      t.ok(list.includes(link), `the list links to ${link}`)
    }
    t.equal(list.filter((link) => link.includes('/customers/1,1')).length, 1, 'each row has a link of its own')
    t.ok((await linksOn(app, '/orders/3')).includes('Cleo /customers/2,1'))
    const customer = await linksOn(app, '/customers/1,2')
    t.ok(customer.includes('Orders: buyer /orders?tenant=1&buyer_id=2'), customer.join())
    t.ok(customer.includes('Orders: seller /orders?tenant=1&seller_id=2'))
    const headers = { accept: 'text/html' }
    const { body: form } = await app.inject({ url: '/orders/new?tenant=1&buyer_id=2', headers })
    t.match(form, /<input type="number" id="order:buyer_id"[^>]* value="2"/, 'the form has single fields')
  })

  t.test(`${engine}: a row that the request may not see is no more than its key`, async (t) => {
    const app = await serve(t, open(t), {
      tables: { customers: { scope: () => ({ tenant: 1 }) } }
    })
    const list = await linksOn(app, '/orders')
    t.equal(list.some((link) => link.includes('/customers/2,1')), false)
    t.ok(list.includes('Ann /customers/1,1'))
    t.match((await app.inject('/orders/3.json?include=buyer')).json(), { order: { buyer_id: 1, buyer: null } })
    const change = async (id: number, order: object): Promise<number> => {
      const { headers: { etag } } = await app.inject(`/orders/${id}.json`)
      const { statusCode } = await app.inject({
        method: 'PUT', url: '/orders.json', headers: { 'if-match': String(etag) }, payload: { id, order }
      })
      return statusCode
    }
    t.equal(await change(1, { buyer_id: 2, seller_id: null }), 200)
    t.equal(await change(1, { tenant: 2, buyer_id: 1 }), 422, 'the customer exists, but not for this request')
    t.equal(await change(1, { tenant: 2 }), 422, 'a part of the key')
    t.equal(await change(1, { item: 'z' }), 200)
    t.equal(await change(3, { buyer_id: 1, item: 'z' }), 200, 'what the row has already is kept')
    t.equal(await change(3, { buyer_id: null }), 200)
  })
}

t.test('a role that does not see a part of the key gets no link, which would show it', async (t) => {
  const opened = makeDatabase(SQL)
  t.teardown(() => opened.close())
  const app = await serve(t, { database: opened }, {
    write: false,
    tables: { orders: { roles: { clerk: { hidden: ['tenant'] } } } },
    defaults: { role: () => 'clerk' }
  })
  for (const url of ['/orders', '/orders/3']) {
    const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
    t.notMatch(body, /href="\/customers\/|Cleo/, url)
  }
  t.equal((await app.inject('/orders.json?include=buyer')).statusCode, 400)
})

t.test('a role that does not see a part of the key cannot find out which rows there are', async (t) => {
  const opened = makeDatabase(SQL.replace('tenant INTEGER NOT NULL REFERENCES tenants, buyer_id',
    'tenant INTEGER REFERENCES tenants, buyer_id'))
  t.teardown(() => opened.close())
  const app = await serve(t, { database: opened }, {
    tables: {
      orders: { roles: { clerk: { hidden: ['tenant'] } } },
      customers: { authorize: (_request, { action, id }) => action !== 'show' || id !== '1,2' }
    },
    defaults: { role: () => 'clerk' }
  })
  const change = async (buyer: number): Promise<unknown> => {
    const { headers: { etag } } = await app.inject('/orders/1.json')
    const { statusCode, body } = await app.inject({
      method: 'PUT',
      url: '/orders.json',
      headers: { 'if-match': String(etag) },
      payload: { id: 1, order: { buyer_id: buyer } }
    })
    return [statusCode, body]
  }
  const hidden = await change(2)
  t.strictSame(hidden, await change(99), 'a hidden customer is answered as one that does not exist')
  t.match(hidden, [422, 'buyer_id'])
})

t.test('a key of several attributes is checked at the start', async (t) => {
  const start = async (reference: object, attributes: object = {}): Promise<void> => {
    const app = fastify()
    t.teardown(() => app.close())
    const opened = makeDatabase(SQL)
    t.teardown(() => opened.close())
    app.register(database, { database: opened, only: ['customers'], report: () => {} })
    app.register(resources, {
      name: 'orders',
      attributes: {
        type: 'object', properties: { tenant: { type: 'integer' }, buyer: { type: 'integer' }, ...attributes }
      },
      references: { buyer: { to: 'customers', ...reference } }
    } as ResourceOptions)
    await app.ready()
  }
  const cases: ReadonlyArray<readonly [object, object, string]> = [
    [{ key: ['tenant'] }, {}, 'has "buyer", whose "key" must name it, too'],
    [{ key: 'buyer' }, {}, 'references'],
    [{ key: ['tenant', 'buyer'], onDelete: 'cascade' }, {}, 'has "buyer", which has "onDelete", but no foreign key'],
    [{ key: ['other', 'buyer'] }, {}, 'names "other", which is not among the attributes declared'],
    [{ key: ['buyer'] }, {}, 'names "customers" for "buyer", whose key has not 1 attributes, but 2'],
    [{ key: ['tenant', 'buyer'] }, { tenant: { type: 'string' } },
      'names "customers" for "buyer", whose keys have another type: "tenant" must be an integer'],
    [{ key: ['tenant', 'buyer'] }, { tenant: { type: 'integer', writeOnly: true } },
      'names "tenant", which is writeOnly']
  ]
  for (const [reference, attributes, message] of cases) {
    await t.rejects(start(reference, attributes), { message: new RegExp(message.replace(/[()]/g, '.')) }, message)
  }
  await start({ key: ['tenant', 'buyer'] })
})
