import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database, type TableOptions } from '../../../lib/database/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const SQL = `
  CREATE TABLE "Orders" (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE "Order Details" (id INTEGER PRIMARY KEY, name TEXT, OrderId INTEGER REFERENCES "Orders");
  CREATE TABLE "Café" (id INTEGER PRIMARY KEY, OrderId INTEGER REFERENCES "Orders");
  CREATE TABLE "Album" (id INTEGER PRIMARY KEY, name TEXT, OrderId INTEGER REFERENCES "Orders");
  CREATE VIEW "Orders Qry" AS SELECT * FROM "Orders";
  INSERT INTO "Orders" (name) VALUES ('a');
  INSERT INTO "Café" (OrderId) VALUES (1)`

async function serve (t: Test, tables: Record<string, TableOptions> = {}, lang = 'en'): Promise<FastifyInstance> {
  const opened = makeDatabase(SQL)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened, write: true, report: () => {}, tables, defaults: { html: { lang } } })
  await app.ready()
  return app
}

const pageOf = async (app: FastifyInstance, url: string): Promise<string> =>
  (await app.inject({ url, headers: { accept: 'text/html' } })).body

t.test('pages call tables by their own names, and have a singular where one is known', async (t) => {
  const app = await serve(t)
  const cases: ReadonlyArray<readonly [url: string, ...words: RegExp[]]> = [
    ['/order-details', /<h1>Order Details</, />New order detail</, />There are no order details yet</],
    ['/order-details/new', /<h1>New order detail</, />Create order detail</, /<a href="\/order-details">Order Details</],
    ['/albums', /<h1>Album</, />New album</, />There are no records yet</],
    ['/café', /<h1>Café</, />New record</, />1 record</, /<section class="scroll" aria-label="Café"/],
    ['/café/1', /<h1>Record 1</, />Delete this record</, /<a href="\/caf%C3%A9">Café</],
    ['/orders-qries', /<h1>Orders Qry</, />1 record</, /<nav class="bar"[^]*<a href="\/orders-qries"[^>]*>Orders Qry</],
    ['/orders-qries?name=x', />No records match the filter</],
    ['/orders/1', />Order Details<\/a>/, />Create order detail</, />Café<\/a>/, />New record</, />See all records</,
      />Album<\/a>/, />Create album</]
  ]
  for (const [url, ...words] of cases) {
    const page = await pageOf(app, url)
    for (const word of words) t.match(page, word, url)
  }
})

t.test('in each language there is a word for rows without a singular', async (t) => {
  const cases = {
    de: ['Eintrag anlegen', '1 Eintrag', 'Eintrag 1'],
    es: ['Crear registro', '1 registro', 'Registro 1'],
    fr: ['Ajouter\u00a0: élément', '1 élément', 'Élément 1'],
    pt: ['Criar registro', '1 registro', 'Registro 1'],
    ja: ['レコードを作成', '1', 'レコード 1'],
    zh: ['创建记录', '1', '记录 1'],
    ar: ['إضافة', 'السجلات', 'سجل']
  }
  for (const [lang, [create = '', total = '', record = '']] of Object.entries(cases)) {
    const app = await serve(t, {}, lang)
    const list = await pageOf(app, '/café')
    t.match(/<a class="button" href="[^"]*">([^<]*)</.exec(list)?.[1], create, lang)
    t.match(/<p class="total">([^<]*)</.exec(list)?.[1], total, lang)
    t.match(/<h1>([^<]*)</.exec(await pageOf(app, '/café/1'))?.[1], record, lang)
  }
})

t.test('the app has the last word about names', async (t) => {
  const titleOf = async (options: TableOptions, url: string): Promise<unknown> =>
    /<h1>([^<]*)<.*?(?:<a class="button" href="[^"]*">([^<]*)<|$)/m.exec(await pageOf(await serve(t, { Album: options }),
      url))?.slice(1)
  const cases: ReadonlyArray<readonly [options: TableOptions, url: string, heading: string, button: string]> = [
    [{}, '/albums', 'Album', 'New album'],
    [{ name: 'discs' }, '/discs', 'Discs', 'New disc'],
    [{ singular: 'longPlayer' }, '/albums', 'Album', 'New long player'],
    [{ html: { messages: { plural: 'Discs' } } }, '/albums', 'Discs', 'New album'],
    [{ html: { messages: { heading: 'Shelf', singular: 'disc' } } }, '/albums', 'Shelf', 'New disc'],
    [{ html: { messages: { plural: 'Discs', heading: 'Shelf' } } }, '/albums', 'Shelf', 'New album'],
    [{ html: { messages: () => ({ singular: '', genericSingular: 'one' }) } }, '/albums', 'Album', 'New one'],
    [{ html: { messages: { phrases: { Album: 'Alben' } } } }, '/albums', 'Alben', 'New album']
  ]
  for (const [options, url, ...words] of cases) {
    t.strictSame(await titleOf(options, url), words, JSON.stringify(options))
  }
})
