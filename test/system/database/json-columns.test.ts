import t from 'tap'
import { build } from '../../support/helper.js'
import { Connection, Model } from '../../support/xml/active-resource.js'
import { openEngines } from '../../support/stores/sql-engines.js'

/** Texts of JSON in a column, with the elements that show them. */
const COLUMNS: ReadonlyArray<readonly [stored: string, element: string]> = [
  ['{}', '<d type="json">{}</d>'],
  ['{"x":{}}', '<d><x type="json">{}</x></d>'],
  ['{"a b":1}', '<d type="json">{"a b":1}</d>'],
  ['{"n":12345678901234567890}', '<d type="json">{"n":12345678901234567890}</d>'],
  ['12345678901234567890', '<d type="json">12345678901234567890</d>'],
  ['{"a_b":{"c-d":"<"}}', '<d type="json">{"a_b":{"c-d":"&lt;"}}</d>'],
  ['["a","{}"]', '<d type="array"><d>a</d><d type="json">"{}"</d></d>'],
  ['"\\u0001\\ufffe"', '<d type="json">"\\u0001\\ufffe"</d>'],
  ['"x"', '<d>x</d>'],
  ['null', '<d nil="true"/>']
]

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: XML shows JSON of any kind with names that every parser reads`, async (t) => {
    const attributes = { type: 'object', properties: { name: { type: 'string' }, d: {} } } as const
    const app = await build(t, { name: 'notes', attributes, store: store({ table: 'notes', migrate: true, attributes }), writes: 'both' })
    for (const [stored] of COLUMNS) await run(`INSERT INTO notes (name, d) VALUES ('a', '${stored}')`)
    const { body } = await app.inject('/notes.xml')
    // PostgreSQL may write a blank after a colon.
    const elements = [...body.matchAll(/<d[ >].*?<\/note>/g)].map(([text]) => text.replace('</note>', '').replaceAll('": ', '":'))
    t.strictSame(elements, COLUMNS.map(([, element]) => element))
    t.ok([...body.matchAll(/<\/?([^ >?/]+)/g)].every(([, element = '']) => /^[A-Za-z]+$/.test(element)))
    const read = async (): Promise<unknown> => run('SELECT CAST(d AS text) AS d FROM notes ORDER BY id')
    const columns = await read()
    const Note = new Model(new Connection(app), { element: 'note' })
    for (const [index, [stored]] of COLUMNS.entries()) {
      const note = await Note.find(index + 1)
      // This client cannot send arrays of texts.
      if (!stored.startsWith('[')) t.equal(await note.updateAttribute('name', 'c'), true, JSON.stringify(note.errors))
      const before = (await app.inject(`/notes/${index + 1}.json`)).json<{ note: object }>().note
      const payload = (await app.inject(`/notes/${index + 1}.xml`)).body.replace(/<name>.<.name>/, '<name>b</name>')
      t.match(await app.inject({ method: 'PUT', url: `/notes/${index + 1}.xml`, headers: { 'content-type': 'application/xml' }, payload }), { statusCode: 200 }, stored)
      t.strictSame((await app.inject(`/notes/${index + 1}.json`)).json(), { note: { ...before, name: 'b' } })
    }
    t.strictSame(await read(), columns, 'no byte of the other column has changed')
  })
}
