import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { database, type DatabaseOptions } from '../../../lib/database/index.js'
import { elementsOf } from '../../support/html/elements.js'
import { isSound } from '../../support/html/page-tests.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const SHOP = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, customer_id INTEGER NOT NULL REFERENCES customers);
  CREATE TABLE invoices (id INTEGER PRIMARY KEY, item TEXT,
    customer_id INTEGER REFERENCES customers ON DELETE RESTRICT);
  CREATE TABLE letters (id INTEGER PRIMARY KEY, item TEXT, sender_id INTEGER REFERENCES customers ON DELETE NO ACTION,
    receiver_id INTEGER REFERENCES customers);
  CREATE TABLE notes (id INTEGER PRIMARY KEY, item TEXT, customer_id INTEGER REFERENCES customers ON DELETE CASCADE);
  CREATE TABLE visits (id INTEGER PRIMARY KEY, item TEXT, customer_id INTEGER REFERENCES customers ON DELETE CASCADE);
  CREATE TABLE leads (id INTEGER PRIMARY KEY, item TEXT, customer_id INTEGER REFERENCES customers ON DELETE SET NULL);
  CREATE TABLE guesses (id INTEGER PRIMARY KEY, item TEXT,
    customer_id INTEGER DEFAULT 99 REFERENCES customers ON DELETE SET DEFAULT);
  INSERT INTO customers VALUES (1, 'Ada <Lovelace>'), (2, 'Grace'), (3, 'Mary');`

/** Returns the statement that adds rows of these references to a table. */
const add = (table: string, column: string, rows: number): string =>
  `INSERT INTO ${table} (item, ${column}) WITH RECURSIVE n (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT 'x', 1 FROM n;`

async function serve (t: Test, sql: string, options: Partial<DatabaseOptions> = {}): Promise<FastifyInstance> {
  const opened = makeDatabase(SHOP + sql)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  const source = options.file === undefined ? { database: opened } : {}
  app.register(database, { ...source, write: true, report: () => {}, ...options } as DatabaseOptions)
  await app.ready()
  return app
}

const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }

async function deleteFrom (app: FastifyInstance, url: string, id: number | string): Promise<LightMyRequestResponse> {
  return app.inject({ method: 'POST', url, headers, payload: `_method=DELETE&id=${id}` })
}

/** Returns the heading of a refusal, its links, and the link back. */
function refusalOf (t: Test, page: LightMyRequestResponse): string[] {
  isSound(t, page, 409)
  const [main = ''] = /<main[^]*<\/main>/.exec(page.body) ?? []
  return elementsOf(main).flatMap(({ name, text, attributes: { href } }) =>
    name === 'h1' ? [text] : name === 'a' && href !== undefined ? [`${text} ${href}`] : [])
}

const hidden = { authorize: () => false }
/** The words of a table whose singular is not known. */
const unnamed = (plural: string) => ({ html: { messages: { heading: 'Some', plural, singular: '' } } })
const guarded = { hooks: { onRequest: async () => {} } }

const cases: ReadonlyArray<[
  what: string, sql: string, tables: DatabaseOptions['tables'] & {}, refusal: readonly string[]
]> = [
  ['rows of one table', add('orders', 'customer_id', 9), {},
    ['Ada <Lovelace> cannot be deleted: 9 orders refer to this record', '9 orders /orders?customer_id=1']],
  ['rows of several tables, without those that a deletion changes',
    add('orders', 'customer_id', 12) + add('invoices', 'customer_id', 1) + add('notes', 'customer_id', 3) +
      add('leads', 'customer_id', 4), {}, [
      'Ada <Lovelace> cannot be deleted: 1 invoice, 12 orders refer to this record',
      '1 invoice /invoices?customer_id=1', '12 orders /orders?customer_id=1'
    ]],
  ['rows that refer by two attributes', add('letters', 'sender_id', 2) + add('letters', 'receiver_id', 1), {}, [
    'Ada <Lovelace> cannot be deleted: 2 letters: sender, 1 letter: receiver refer to this record',
    '2 letters: sender /letters?sender_id=1', '1 letter: receiver /letters?receiver_id=1'
  ]],
  ['rows that may not be listed', add('orders', 'customer_id', 9) + add('invoices', 'customer_id', 2),
    { orders: hidden },
    ['Ada <Lovelace> cannot be deleted: 2 invoices refer to this record', '2 invoices /invoices?customer_id=1']],
  ['only rows that may not be listed', add('orders', 'customer_id', 9), { orders: hidden },
    ['Ada <Lovelace> cannot be deleted: other records refer to it']],
  ['rows behind a hook', add('orders', 'customer_id', 9), { orders: guarded },
    ['Ada <Lovelace> cannot be deleted: other records refer to it']],
  ['rows that are not served as a list', add('orders', 'customer_id', 9), { orders: { only: ['show'] } },
    ['Ada <Lovelace> cannot be deleted: other records refer to it']],
  ['rows of the scope alone', add('orders', 'customer_id', 9) + "INSERT INTO orders VALUES (99, 'mine', 1);",
    { orders: { scope: () => ({ item: 'mine' }) } },
    ['Ada <Lovelace> cannot be deleted: 1 order refers to this record', '1 order /orders?customer_id=1']],
  ['rows whose plural is not known', add('orders', 'customer_id', 9), { orders: unnamed('') },
    ['Ada <Lovelace> cannot be deleted: Some: 9 refer to this record', 'Some: 9 /orders?customer_id=1']],
  ['more than 10,000 rows', add('orders', 'customer_id', 10_001), {}, [
    'Ada <Lovelace> cannot be deleted: more than 10,000 orders refer to this record',
    'more than 10,000 orders /orders?customer_id=1'
  ]]
]

t.test('the page of a refused deletion names the rows that refer to the row, and leads to them', async (t) => {
  for (const [what, sql, tables, refusal] of cases) {
    await t.test(what, async (t) => {
      const app = await serve(t, sql, { tables })
      const page = await deleteFrom(app, '/customers', 1)
      t.strictSame(refusalOf(t, page), [...refusal, 'Ada <Lovelace> /customers/1'])
      t.strictSame(elementsOf(page.body).find(({ name }) => name === 'title')?.text.slice(0, 14), 'Ada <Lovelace>')
      t.match(await app.inject({ method: 'DELETE', url: '/customers?id=1', headers: { accept: 'application/json' } }), {
        statusCode: 409, body: /"title":"Conflict","status":409,"detail":"[a-z ]+ still refer to it; delete or change them/
      })
    })
  }
})

t.test('who may not see the row, or its page, gets no link to it and learns nothing of others', async (t) => {
  const sql = add('orders', 'customer_id', 9)
  const blind = await serve(t, sql, {
    tables: { customers: { authorize: (_request, { action }) => action !== 'show' } }
  })
  t.strictSame(refusalOf(t, await deleteFrom(blind, '/customers', 1)),
    ['Customer 1 cannot be deleted: other records refer to it', 'Customers /customers'])
  const pageless = await serve(t, sql, { tables: { customers: { except: ['show', 'edit'] } } })
  t.strictSame(refusalOf(t, await deleteFrom(pageless, '/customers', 1)), [
    'Ada <Lovelace> cannot be deleted: 9 orders refer to this record', '9 orders /orders?customer_id=1',
    'Customers /customers'
  ])
})

t.test('a browser that sends a DELETE gets the same page', async (t) => {
  const app = await serve(t, add('orders', 'customer_id', 2), { defaults: { writes: 'both' } })
  for (const url of ['/customers?id=1', '/customers/1']) {
    const page = await app.inject({ method: 'DELETE', url, headers: { accept: 'text/html' } })
    t.strictSame(refusalOf(t, page), [
      'Ada <Lovelace> cannot be deleted: 2 orders refer to this record', '2 orders /orders?customer_id=1',
      'Ada <Lovelace> /customers/1'
    ], url)
  }
})

t.test('the page of a row says what its deletion deletes, too', async (t) => {
  const sql = add('notes', 'customer_id', 11) + add('visits', 'customer_id', 1) + add('orders', 'customer_id', 2) +
    add('leads', 'customer_id', 3) + add('guesses', 'customer_id', 3)
  const saysOf = async (app: FastifyInstance, id: number): Promise<string[]> => {
    const page = await app.inject({ url: `/customers/${id}`, headers })
    isSound(t, page, 200)
    const [, card = ''] = /<details class="danger">([^]*?)<\/details>/.exec(page.body) ?? []
    return elementsOf(`<div>${card}</div>`).flatMap(({ name, text }) =>
      name === 'p' && !text.includes('Yes') ? [text] : [])
  }
  const warning = 'Ada <Lovelace> will be deleted permanently.'
  t.strictSame(await saysOf(await serve(t, sql), 1), [warning, '11 notes, 1 visit will be deleted too.'])
  t.strictSame(await saysOf(await serve(t, sql), 2), ['Grace will be deleted permanently.'])
  t.strictSame(await saysOf(await serve(t, sql, { tables: { notes: hidden, visits: guarded } }), 1),
    [warning])
  const app = await serve(t, add('notes', 'customer_id', 11))
  t.equal((await deleteFrom(app, '/customers', 1)).statusCode, 303)
  t.strictSame((await app.inject('/notes.json')).json(), { notes: [] })
})

t.test('a deletion of several rows says what goes with them and what refuses it, if that is listed', async (t) => {
  const more = `INSERT INTO orders VALUES (50, 'x', 2); INSERT INTO notes VALUES (50, 'x', 3);
    CREATE TABLE codes (code TEXT PRIMARY KEY);
    CREATE TABLE uses (id INTEGER PRIMARY KEY, code TEXT REFERENCES codes);
    INSERT INTO codes VALUES ('a,b'), ('c\\d'); INSERT INTO uses VALUES (1, 'a,b'), (2, 'c\\d');`
  const file = `${t.testdir()}/shop.sqlite`
  makeDatabase(SHOP + add('orders', 'customer_id', 9) + add('notes', 'customer_id', 2) + more, file).close()
  const send = async (payload: string, tables: DatabaseOptions['tables'] & {} = {}): Promise<string[]> => {
    const app = await serve(t, '', { file, tables })
    const page = await app.inject({ method: 'POST', url: '/customers', headers, payload })
    isSound(t, page, payload.startsWith('_step') ? 422 : 409)
    const [main = ''] = /<main[^]*<\/main>/.exec(page.body) ?? []
    return elementsOf(main).flatMap(({ name, text, attributes: { href = '', class: kind } }) =>
      name === 'a' && href.startsWith('/orders')
        ? [`${text} ${href}`]
        : (name === 'p' && kind !== 'actions' && !/^(?:It|They) /.test(text)) ? [text] : [])
  }
  const app = await serve(t, '', { file })
  const refused = await app.inject({
    method: 'POST', url: '/codes', headers, payload: '_method=DELETE&id[]=a%2Cb&id[]=c%5Cd'
  })
  const link = elementsOf(refused.body).find(({ name, text }) => name === 'a' && text === '2 uses')
  t.match((await app.inject({ url: link?.attributes.href ?? '', headers })).body, '<p class="total">2 uses</p>')
  const ids = 'id[]=1&id[]=2&id[]=3'
  t.strictSame(await send(`_step=delete&${ids}`), ['3 notes will be deleted too.'])
  t.strictSame(await send('_step=delete&id[]=2'), [], 'orders are not deleted')
  t.strictSame(await send(`_step=delete&${ids}`, { notes: hidden }), [])
  t.strictSame(await send(`_method=DELETE&${ids}`), [
    '10 orders /orders?customer_id%5Bin%5D=1%2C2%2C3',
    'Ada <Lovelace> cannot be deleted: other records refer to it',
    'Grace cannot be deleted: other records refer to it',
    '3 notes will be deleted too.'
  ])
  t.strictSame(await send('_method=DELETE&id[]=1&id[]=3'), [
    '9 orders /orders?customer_id%5Bin%5D=1%2C3', 'Ada <Lovelace> cannot be deleted: other records refer to it',
    '3 notes will be deleted too.'
  ])
  t.strictSame(await send(`_method=DELETE&${ids}`, { orders: hidden, notes: guarded }), [
    'Ada <Lovelace> cannot be deleted: other records refer to it', 'Grace cannot be deleted: other records refer to it'
  ])
})
