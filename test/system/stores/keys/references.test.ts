import t from 'tap'
import fastify, { type FastifyInstance } from 'fastify'
import { draw } from '../../../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../../../lib/sql/sqlite/index.js'
import { draft } from '../../../support/helper.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { type Engine, openEngines } from '../../../support/stores/sql-engines.js'

/** Keys with ids that differ from them, and one whose id is the same. */
const CODES = ['A', '100%', '%41', '', '.', '..', '%C']

/** No form can send this. */
const UNSENDABLE = new Set([''])

const json = { accept: 'application/json' }

/** Returns the rows of a list, which has the only member of a document. */
async function listOf (app: FastifyInstance, url: string): Promise<Array<Record<string, unknown>>> {
  const response = await app.inject({ url, headers: json })
  if (response.statusCode !== 200) throw new Error(`${url} is ${response.body}`)
  return Object.values(response.json())[0] as Array<Record<string, unknown>>
}

t.test('rows reference keys by their values, whatever ids these have', async (t) => {
  const [engine] = await openEngines() as [Engine]
  const countries = engine.store({
    table: 'countries',
    attributes: { type: 'object', properties: { code: { type: 'string' }, title: { type: 'string' } } },
    key: ['code'],
    version: 'values',
    migrate: true
  })
  const city = {
    type: 'object', properties: { name: { type: 'string' }, countryCode: { type: ['string', 'null'] } }
  } as const
  const cities = engine.store({
    table: 'cities', attributes: city, references: { countryCode: { table: 'countries' } }, migrate: true
  })
  const app = await draft(t, (map) => {
    map.resources('countries', { store: countries, html: { title: 'title' } }, (country) => {
      country.resources('towns', { store: cities, foreignKey: 'countryCode' })
    })
    map.resources('cities', { store: cities, references: { countryCode: 'countries' } })
  })
  for (const [index, code] of CODES.entries()) {
    await engine.run(`INSERT INTO countries (code, title) VALUES ('${code}', 'Land ${index}.')`)
  }
  for (const [index, { id, code, title }] of (await listOf(app, '/countries')).entries()) {
    const path = `/countries/${encodeURIComponent(String(id)).replace(/^\.+$/, '')}`
    await engine.run(`INSERT INTO cities (name, "countryCode") VALUES ('City ${index}.', '${String(code)}')`)
    const location = `/cities/${String((await listOf(app, '/cities?sort=id')).at(-1)?.id)}`
    const nested = await app.inject({
      method: 'POST', url: `${path}/towns`, headers: json, payload: { town: { name: `Town ${index}.` } }
    })
    t.match(nested.json(), { town: { countryCode: code } }, `a row nested in ${path}`)
    const names = [`City ${index}.`, `Town ${index}.`]
    t.strictSame((await listOf(app, `${path}/towns`)).map(({ name }) => name), names)
    const { body } = await app.inject({ url: path, headers: { accept: 'text/html' } })
    for (const name of names) t.equal(body.split(name).length, 3, `${path} shows ${name} in both lists`)
    const [, href = ''] = /<h2 id="related-[^"]*"><a href="(\/cities\?[^"]*)"/.exec(body) ?? []
    if (code !== '') {
      t.strictSame((await listOf(app, href)).map(({ name }) => name), names, `the page links to ${href}`)
    }
    t.match((await app.inject({ url: `${path}?include=towns`, headers: json })).json(), {
      country: { towns: names.map((name) => ({ name })) }
    })
    t.match((await app.inject({ url: `${location}?include=country`, headers: json })).json(), {
      city: { country: { id, code, title } }
    })
    const page = (await app.inject({ url: String(location), headers: { accept: 'text/html' } })).body
    t.ok(page.includes(`<a href="${path}">${title}</a>`), `the page of the city links to ${path}`)
    const [, value] = new RegExp(`<option value="([^"]*)" selected="selected">${title}</option>`).exec(page) ?? []
    t.equal(value, UNSENDABLE.has(String(code)) ? undefined : code, 'the form has its choice')
    t.equal(page.includes(`${title}</option>`), !UNSENDABLE.has(String(code)), 'a choice can be sent')
  }
  const { body } = await app.inject({ url: '/cities/1', headers: { accept: 'text/html' } })
  t.ok(body.includes('<option value="%41">'), 'a choice is the value of the key')
  t.notOk(body.includes('<option value="%2541">'), 'it is not the id')
})

t.test('a reference must have the type of the key', async (t) => {
  const opened = makeDatabase(
    'CREATE TABLE sizes (size REAL PRIMARY KEY NOT NULL); CREATE TABLE shoes (id INTEGER PRIMARY KEY, size TEXT);'
  )
  const app = fastify()
  t.teardown(() => opened.close())
  const sizes = sqliteStore({
    database: opened as SqliteDatabase,
    table: 'sizes',
    key: ['size'],
    version: 'values',
    attributes: { type: 'object', properties: { size: { type: 'number' } } }
  })
  app.register(draw((map) => {
    map.resources('sizes', { store: sizes })
    map.resources('shoes', {
      attributes: { type: 'object', properties: { sizeId: { type: 'string' } } }, references: { sizeId: 'sizes' }
    })
  }))
  await t.rejects(async () =>
    app.ready(), {
    message: /names "sizes" for "sizeId", whose keys have another type: the attribute must be a number/
  })
  await app.close()
})
