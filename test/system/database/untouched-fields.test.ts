import t from 'tap'
import { dropUntouched, Issues } from '../../../lib/core/schema/validation/issues.js'
import { build } from '../../support/helper.js'
import { entriesOf, fill, findForm, refused, send, submit } from '../../support/html/forms.js'
import { openEngines } from '../../support/stores/sql-engines.js'

const attributes = {
  type: 'object',
  required: ['name', 'day', 'code'],
  properties: {
    name: { type: 'string' },
    day: { type: 'string', format: 'date' },
    mail: { type: ['string', 'null'], format: 'email' },
    moment: { type: ['string', 'null'], format: 'date-time' },
    code: { type: 'string', maxLength: 3, pattern: '^[a-z]+$' },
    blank: { type: 'string', minLength: 1, maxLength: 9 },
    count: { type: 'integer', minimum: 10, maximum: 20 },
    tags: { type: 'array', items: { type: 'string', maxLength: 2 } }
  }
} as const

const ROW = {
  name: 'Ann', day: 'abc', mail: 'not a mail', moment: 'yesterday', code: 'WXYZ 1', blank: '', count: 99, tags: ['long', 'b']
}

const INSERT = `
  INSERT INTO words (name, "day", mail, "moment", "code", "blank", "count", tags)
  VALUES ('Ann', 'abc', 'not a mail', 'yesterday', 'WXYZ 1', '', 99, '["long","b"]')`

const html = { accept: 'text/html' }
const json = { accept: 'application/json' }

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: a form leaves stored values as they are that break the schema`, async (t) => {
    const words = store({ table: 'words', migrate: true, attributes })
    const app = await build(t, { name: 'words', attributes, store: words })
    await run(INSERT)
    const read = async () => (await app.inject({ url: '/words/1', headers: json })).json().word
    const edit = async () => findForm(await app.inject({ url: '/words/1', headers: html }), 'PUT')
    t.match(await read(), ROW)

    const form = await edit()
    t.strictSame(refused(form), [], 'the browser sends the form')
    t.match(await app.inject(submit(form, undefined, html)), { statusCode: 303 })
    t.match(await read(), ROW)
    t.match(await app.inject(submit(fill(await edit(), { 'word[name]': 'Bob' }), undefined, html)), { statusCode: 303 })
    t.match(await read(), { ...ROW, name: 'Bob' })

    // A field that was touched is checked. The form that comes back still knows the others.
    const failed = await app.inject(submit(fill(await edit(), { 'word[name]': 'Cid', 'word[day]': 'abd' }), undefined, html))
    t.equal(failed.statusCode, 422)
    t.match(failed.body, 'Day must be a date')
    t.notMatch(failed.body, /Mail must|Code must|Blank must|Count must/)
    t.match(await app.inject(submit(fill(findForm(failed, 'PUT'), { 'word[day]': '2020-01-02' }), undefined, html)), { statusCode: 303 })
    t.match(await read(), { ...ROW, name: 'Cid', day: '2020-01-02' })

    // Other clients leave an attribute out to keep it. A value that they send is checked.
    const put = (word: object) => app.inject({ method: 'PUT', url: '/words', headers: json, payload: { id: 1, word } })
    t.match(await put({ name: 'Dan' }), { statusCode: 200 })
    t.match((await put({ mail: 'not a mail' })).json(), { status: 422, errors: { mail: ['must be an e-mail address'] } })
    const xml = (content: string) => app.inject({ method: 'PUT', url: '/words', headers: { 'content-type': 'application/xml', ...json }, payload: `<word><id>1</id>${content}</word>` })
    t.match(await xml('<name>Eve</name>'), { statusCode: 200 })
    t.equal((await xml('<code>WXYZ 1</code>')).statusCode, 200, 'XML that has the stored value changes nothing')
    t.equal((await xml('<code>WXYZ 2</code>')).statusCode, 422)
    t.match(await read(), { ...ROW, name: 'Eve', day: '2020-01-02' })
  })
}

t.test('all attributes are checked if a form has too many faults to be read to its end', async (t) => {
  const issues = new Issues()
  for (let index = 0; index < 100; index++) issues.add(`a${index}`, 'is wrong')
  dropUntouched(issues.messages.keys(), {}, issues, () => true)
  t.equal(issues.size, 100)
  issues.remove('a99')
  dropUntouched([...issues.messages.keys()], {}, issues, (name) => name !== 'a1')
  t.strictSame([...issues.messages.keys()], ['a1'])
})

t.test('a form leaves numbers as they are that the store of SQLite does not write', async (t) => {
  const [{ store, run }] = await openEngines() as [Awaited<ReturnType<typeof openEngines>>[0]]
  const attributes = { type: 'object', properties: { name: { type: 'string' }, sum: { type: 'string', format: 'decimal' } } } as const
  await run('CREATE TABLE sums (id INTEGER PRIMARY KEY, version INTEGER NOT NULL DEFAULT 1, name TEXT, sum NUMERIC)', "INSERT INTO sums (name, sum) VALUES ('a', 0.1 + 0.2)")
  const app = await build(t, { name: 'sums', attributes, store: store({ table: 'sums', attributes }) })
  const edit = async (filled: object) => app.inject(submit(fill(findForm(await app.inject({ url: '/sums/1', headers: html }), 'PUT'), { ...filled }), undefined, html))
  t.match(await edit({ 'sum[name]': 'b' }), { statusCode: 303 })
  t.strictSame(await run('SELECT name, sum = 0.1 + 0.2 AS same FROM sums'), [{ name: 'b', same: 1 }])
  t.match(await edit({ 'sum[name]': 'c', 'sum[sum]': '0.30000000000000001' }), { statusCode: 422 })
  t.match(await edit({ 'sum[sum]': '0.5' }), { statusCode: 303 })
  t.strictSame(await run('SELECT name, sum FROM sums'), [{ name: 'b', sum: 0.5 }])
})

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: stored bytes may be longer than the schema allows`, async (t) => {
    const attributes = { type: 'object', properties: { title: { type: 'string' }, data: { type: ['string', 'null'], contentEncoding: 'base64', maxLength: 1_000_000 } } } as const
    const app = await build(t, { name: 'files', attributes, store: store({ table: 'files', migrate: true, attributes }) })
    const size = 750_003
    await run(name === 'sqlite' ? `INSERT INTO files (title, data) VALUES ('a', zeroblob(${size}))` : `INSERT INTO files (title, data) VALUES ('a', decode(repeat('00', ${size}), 'hex'))`)
    const data = Buffer.alloc(size).toString('base64')
    const read = async () => (await app.inject({ url: '/files/1', headers: json })).json().file
    t.ok((await read()).data === data)
    t.match((await app.inject('/files/1.xml')).body, '<data>AAAA')
    for (const url of ['/files.html', '/files/1.html']) t.equal((await app.inject(url)).statusCode, 200, url)
    t.match(await app.inject(submit(fill(findForm(await app.inject('/files/1.html'), 'PUT'), { 'file[title]': 'b' }), undefined, html)), { statusCode: 303 })
    const put = (file: object) => app.inject({ method: 'PUT', url: '/files', headers: json, payload: { id: 1, file } })
    t.equal((await put({ title: 'c' })).statusCode, 200)
    const row = await read()
    t.ok(row.title === 'c' && row.data === data, 'the bytes stay as they are')
    t.match((await put({ data })).json(), { status: 422, errors: { data: ['must have at most 1000000 characters'] } })
    t.equal((await put({ data: data.slice(4) })).statusCode, 200, 'the longest value fits into a request')
  })
}

for (const { name, store, run } of await openEngines()) {
  t.test(`${name}: a form leaves stored JSON as it is that no client may send`, async (t) => {
    const attributes = {
      type: 'object',
      properties: { title: { type: 'string', maxLength: 9 }, data: {}, counts: { type: 'array', items: { type: ['integer', 'null'] } } }
    } as const
    const app = await build(t, { name: 'settings', attributes, store: store({ table: 'settings', migrate: true, attributes }) })
    const data = ['{"a b":{}}', '{"__proto__":{}}', '[{}]']
    for (const text of data) await run(`INSERT INTO settings (title, data, counts) VALUES ('a', '${text}', '[1,null]')`)
    for (const [index, text] of data.entries()) {
      const open = async () => findForm(await app.inject({ url: `/settings/${index + 1}`, headers: html }), 'PUT')
      const edit = async (filled: Readonly<Record<string, string>>) => app.inject(submit(fill(await open(), filled), undefined, html))
      const read = async () => (await app.inject({ url: `/settings/${index + 1}`, headers: json })).json().setting
      t.match(await edit({ 'setting[title]': 'b' }), { statusCode: 303 }, text)
      t.strictSame(await read(), { id: index + 1, title: 'b', data: JSON.parse(text), counts: [1, null] })
      t.match(await edit({ 'setting[data]': '{"b":"\\u0000"}' }), { statusCode: 422, body: 'ust not contain U+0000' })
      t.match(await edit({ 'setting[data]': `${'['.repeat(50_000)}${']'.repeat(50_000)}` }), { statusCode: 422, body: 'is nested deeper' })
      const form = await open()
      const typed = entriesOf(form).map(([name, value]): [string, string] => [name, name === 'setting[counts][1]' ? 'x' : value])
      t.match(await app.inject(send(form, typed, html)), { statusCode: 422, body: 'Must be an integer' }, 'a value that was read in part was touched')
      t.match(await edit({ 'setting[data]': '{"b":1}' }), { statusCode: 303 })
      t.strictSame((await read()).data, { b: 1 })
    }
  })
}
