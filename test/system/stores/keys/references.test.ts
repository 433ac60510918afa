import t from 'tap'
import fastify, { type FastifyInstance } from 'fastify'
import { draw, type Query, type Store } from '../../../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../../../lib/sql/sqlite/index.js'
import { draft } from '../../../support/helper.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { context, openEngines } from '../../../support/stores/sql-engines.js'

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

for (const name of ['sqlite', 'postgresql']) {
  t.test(`${name}: rows reference keys by their values, whatever ids these have`, async (t) => {
    const engine = (await openEngines()).find((engine) =>
      engine.name === name) as Awaited<ReturnType<typeof openEngines>>[0]
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
}

t.test('rows reference a key of several attributes by its id', async (t) => {
  const [engine] = await openEngines()
  const lines = engine?.store({
    table: 'lines',
    attributes: { type: 'object', properties: { orderId: { type: 'integer' }, place: { type: 'integer' } } },
    key: ['orderId', 'place'],
    version: 'values',
    migrate: true
  })
  const app = await draft(t, (map) =>
    map.resources('lines', { store: lines as Store }, (line) => line.resources('notes')))
  await app.inject({ method: 'POST', url: '/lines', headers: json, payload: { line: { orderId: 1, place: 5 } } })
  const created = await app.inject({
    method: 'POST', url: '/lines/1,5/notes', headers: json, payload: { note: { text: 'x' } }
  })
  t.match(created.json(), { note: { lineId: '1,5' } })
  t.match((await app.inject({ url: '/lines/1,5?include=notes', headers: json })).json(), {
    line: { notes: [{ text: 'x' }] }
  })
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

const author = {
  type: 'object', properties: { name: { type: 'string' }, password: { type: 'string', writeOnly: true } }
} as const
const post = {
  type: 'object', properties: { title: { type: 'string' }, authorId: { type: ['integer', 'null'] } }
} as const
const comment = { type: 'object', properties: { body: { type: 'string' }, postId: { type: 'integer' } } } as const

/** Returns a store that notes the queries of its lists. */
function recording (store: Store, queries: Query[]): Store {
  return { ...store, list: (query, context) => { queries.push(query); return store.list(query, context) } }
}

t.test('`include` reads related rows from SQL stores with one query for each relation and batch', async (t) => {
  for (const engine of await openEngines()) {
    await t.test(engine.name, async (t) => {
      const migrate = true
      const authors = engine.store({ table: 'include_authors', attributes: author, migrate })
      const posts = engine.store({ table: 'include_posts', attributes: post, migrate })
      const comments = engine.store({ table: 'include_comments', attributes: comment, migrate })
      const queries: Query[] = []
      const app = fastify()
      t.teardown(() => app.close())
      app.register(draw((map) => {
        map.resources('posts', { store: posts, references: { authorId: 'authors' } }, (posts) => {
          posts.resources('comments', {
            attributes: { type: 'object', properties: { body: { type: 'string' } } },
            store: recording(comments, queries)
          })
        })
        map.resources('authors', { store: recording(authors, queries) })
      }))
      await app.ready()
      for (const name of ['Ann', 'Bob']) await authors.create({ name, password: 'secret' }, {}, context)
      for (let index = 1; index <= 150; index++) {
        await posts.create({ title: `Post ${index}`, authorId: index % 3 === 0 ? null : index % 3 }, {}, context)
        await comments.create({ body: `On ${index}`, postId: index }, {}, context)
      }
      for (let index = 1; index <= 101; index++) {
        await comments.create({ body: `More ${index}`, postId: 150 }, {}, context)
      }

      const { statusCode, body } = await app.inject('/posts.json?include=author,comments&limit=150&sort=-title')
      t.equal(statusCode, 200)
      const rows: ReadonlyArray<Readonly<Record<string, unknown>>> = JSON.parse(body).posts
      t.equal(rows.length, 150)
      for (const { id, authorId, author, comments } of rows) {
        t.strictSame(author, authorId === null ? null : { id: authorId, name: authorId === 1 ? 'Ann' : 'Bob' })
        t.strictSame(comments, id === 150 ? { href: '/posts/150/comments' } : [{ id, body: `On ${id}` }])
      }
      t.ok(queries.length >= 2 && queries.length <= 12, `${queries.length} queries for 150 rows`)
      const record = (await app.inject('/posts/2.json?include=author,comments')).json().post
      t.strictSame(record, {
        id: 2, title: 'Post 2', authorId: 2, comments: [{ id: 2, body: 'On 2' }], author: { id: 2, name: 'Bob' }
      })
    })
  }
})
