import t from 'tap'
import { build } from '../../support/helper.js'
import { openEngines } from '../../support/stores/sql-engines.js'

/** Texts of JSON in a column, with the elements that show them. */
const COLUMNS: ReadonlyArray<readonly [stored: string, element: string]> = [
  ['{}', '<d type="json">{}</d>'],
  ['{"x":{}}', '<d><x type="json">{}</x></d>'],
  ['{"a b":1}', '<d type="json">{"a b":1}</d>'],
  ['{"n":12345678901234567890}', '<d type="json">{"n":12345678901234567890}</d>'],
  ['12345678901234567890', '<d type="json">12345678901234567890</d>'],
  ['{"a_b":{"c-d":"<"}}', '<d type="json">{"a_b":{"c-d":"&lt;"}}</d>'],
  ['["a","{}",null]', '<d type="array"><d>a</d><d type="json">"{}"</d><d nil="true"/></d>'],
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
    for (const [index, [stored]] of COLUMNS.entries()) {
      if (stored.includes('12345678901234567890')) continue
      const before = (await app.inject(`/notes/${index + 1}.json`)).json<{ note: { d: unknown } }>().note
      const payload = (await app.inject(`/notes/${index + 1}.xml`)).body.replace('<name>a</name>', '<name>b</name>')
      t.match(await app.inject({ method: 'PUT', url: `/notes/${index + 1}.xml`, headers: { 'content-type': 'application/xml' }, payload }), { statusCode: 200 }, stored)
      t.strictSame((await app.inject(`/notes/${index + 1}.json`)).json(), { note: { ...before, name: 'b' } })
    }
  })
}
