import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../../lib/database/index.js'
import { draw, memoryStore } from '../../../../lib/index.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'
import { elementsOf } from '../../../support/html/elements.js'
import { findButton, findForm, submit } from '../../../support/html/forms.js'
import { get, html, isSound } from '../../../support/html/page-tests.js'

const text = { type: 'string', maxLength: 40 } as const

async function serveOwn (t: Test): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(async () => app.close())
  const stores = { authors: memoryStore(), books: memoryStore() }
  for (let id = 1; id <= 51; id++) stores.authors.create({ name: `Author ${id}` }, {})
  stores.books.create({
    title: 'Notes',
    authorId: 1,
    parts: [{ label: 'A', pages: 3 }, { label: '', pages: 4 }],
    sizes: [{ pages: 3, label: 'A' }],
    inner: { more: [[{ label: 'B' }]] }
  }, {})
  const parts = { type: 'array', items: { type: 'object', properties: { label: text, pages: { type: 'integer' } } } }
  const sizes = { type: 'array', items: { type: 'object', properties: { pages: { type: 'integer' }, label: text } } }
  const more = { type: 'array', items: parts, title: 'Lists' }
  app.register(draw((map) => map
    .resources('authors', {
      attributes: { type: 'object', required: ['name'], properties: { name: text } }, store: stores.authors
    })
    .resources('books', {
      attributes: {
        type: 'object',
        required: ['title'],
        properties: {
          title: text,
          authorId: { type: 'integer' },
          parts: { ...parts, title: 'Parts & "pieces"' },
          sizes,
          inner: { type: 'object', properties: { more } }
        }
      } as const,
      references: { authorId: 'authors' },
      store: stores.books
    })))
  return app
}

/** Returns the names of the tables of a page, and the heads of the rows of all of them. */
function tablesOf (page: string): [names: Array<string | undefined>, heads: string[]] {
  const elements = elementsOf(page)
  return [
    elements.filter(({ name }) => name === 'table').map(({ attributes }) => attributes['aria-label']),
    elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'row').map(({ text }) => text)
  ]
}

t.test('each table has a name, and each row a head', async (t) => {
  const app = await serveOwn(t)
  const list = await get(app, '/books')
  isSound(t, list, 200)
  t.strictSame(tablesOf(list.body), [['Books'], ['Notes']])
  const record = await get(app, '/books/1')
  isSound(t, record, 200)
  t.strictSame(tablesOf(record.body), [['Parts & "pieces"', 'Sizes', 'Lists'], ['A', 'B']],
    'a number and a blank text name no row')
  t.strictSame(tablesOf((await get(app, '/authors/1')).body), [['Books'], ['Notes']], 'the rows that refer to a row')
  const form = findForm(list, 'POST')
  const chosen = await app.inject(submit(form, findButton(form, 'book[authorId][?][choose]'), html))
  const [names, heads] = tablesOf(chosen.body)
  t.strictSame([chosen.statusCode, names, heads.length], [422, ['Authors'], 20], 'the rows to choose from')
})

t.test('each table of a served database has a name, and each row a head', async (t) => {
  const opened = makeDatabase(`CREATE TABLE authors (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
    CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER REFERENCES authors);
    CREATE TABLE numbers (id INTEGER PRIMARY KEY, number INTEGER);
    CREATE TABLE writings (author_id INTEGER REFERENCES authors, book_id INTEGER REFERENCES books,
      PRIMARY KEY (author_id, book_id)) WITHOUT ROWID;
    INSERT INTO authors VALUES (1, 'Ada', 'Byron'); INSERT INTO books VALUES (1, 'Notes', 1), (2, 'Letters', 1);
    INSERT INTO numbers VALUES (7, 9); INSERT INTO writings VALUES (1, 1)`)
  const app = fastify()
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened, report: () => {} })
  t.strictSame(tablesOf((await get(app, '/authors')).body), [['Authors'], ['Ada Byron']])
  t.strictSame(tablesOf((await get(app, '/authors/1')).body), [['Books', 'Writings'], ['Notes', 'Letters', 'Notes']])
  t.strictSame(tablesOf((await get(app, '/numbers')).body), [['Numbers'], ['7']])
  t.notMatch((await get(app, '/authors')).body, 'data-label="First name"', 'no column repeats what the name has said')
  t.match((await get(app, '/writings')).body,
    /<td data-label="Author" class="part" dir="auto"><a href="\/authors\/1">Ada Byron<\/a><\/td>/,
    'a narrow screen leaves out what the name has said')
})
