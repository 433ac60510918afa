import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type Attributes, memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { decode } from '../../../support/html/forms.js'
import { build } from '../../../support/helper.js'

const text = { type: 'string' } as const

async function serve (
  t: Test,
  rows: readonly Attributes[],
  properties: object,
  options: Partial<ResourceOptions> & { readonly required?: readonly string[] } = {}
): Promise<FastifyInstance> {
  const { required = Object.keys(properties), ...others } = options
  const store = memoryStore(others.id === 'uuid' ? { id: 'uuid' } : {})
  for (const row of rows) store.create(row, {})
  return build(t,
    { name: 'invoices', attributes: { type: 'object', required, properties }, ...others, store } as ResourceOptions)
}

const pageOf = async (app: FastifyInstance, url: string): Promise<string> => (await app.inject({
  url, headers: { accept: 'text/html' }
})).body
const headingOf = (page: string): string | undefined => elementsOf(page).find(({ name }) => name === 'h1')?.text
const tableOf = (page: string): string => /<table class="list">[^]*?<\/table>/.exec(page)?.[0] ?? ''
const headsOf = (page: string): string[] => [...tableOf(page).matchAll(/<th scope="col"[^>]*>(.*?)<\/th>/g)].map(
  ([, head = '']) => head.replaceAll(/<[^>]*>/g, '')
)
const rowsOf = (page: string): string[][] => [...tableOf(page).matchAll(/<tr>(<td .*?)<\/tr>/gs)].map(
  ([, row = '']) => [...row.matchAll(/<td([^>]*)>(.*?)<\/td>/gs)].map(([, attributes = '', content = '']) => content +
    (attributes.includes('class="id"') ? '#' : ''))
)

const cases: ReadonlyArray<readonly [what: string, properties: object, options: object, expected: string]> = [
  ['the first required text', { count: { type: 'integer' }, number: text, name: text }, {}, 'Number'],
  ['no optional text', { note: text, name: text }, { required: ['name'] }, 'Name'],
  ['no text that may be null', { note: { type: ['string', 'null'] }, name: text }, { required: ['name'] }, 'Name'],
  [
    'no id, address, date or decimal',
    {
      a: { ...text, format: 'uuid' },
      b: { ...text, format: 'uri' },
      c: { ...text, format: 'email' },
      d: { ...text, format: 'date' },
      e: { ...text, format: 'decimal' },
      f: { ...text, format: 'date-time-text' },
      g: text
    },
    {},
    'G'
  ],
  ['no choice', { a: { ...text, enum: ['x'] }, b: { oneOf: [{ const: 'x', title: 'X' }] }, c: text }, {}, 'C'],
  [
    'no long text, and no bytes',
    {
      a: { ...text, maxLength: 201 },
      b: { ...text, contentMediaType: 'text/plain' },
      c: { ...text, contentEncoding: 'base64' },
      d: { ...text, maxLength: 200 }
    },
    {},
    'D'
  ],
  ['no text with a default', { a: { ...text, default: 'draft' }, b: text }, {}, 'B'],
  ['no secret', { a: { ...text, writeOnly: true }, b: text }, {}, 'B'],
  ['the id, if there is no such text', { a: { type: 'integer' } }, {}, 'Id'],
  ['another attribute', { a: text, b: { type: 'integer' } }, { html: { title: 'b' } }, 'B'],
  ['the id, if the app says so', { a: text }, { html: { title: 'id' } }, 'Id'],
  ['what a function returns', { a: text }, { html: { title: () => 'x' } }, 'Invoice']
]

for (const [what, properties, options, expected] of cases) {
  t.test(`the name of a row is ${what}`, async (t) => {
    const [first] = headsOf(await pageOf(await serve(t, [{}], properties, options), '/invoices'))
    t.equal(first, expected)
  })
}

const invoice = { number: text, total: { type: 'number' }, note: { type: ['string', 'null'] } }
const row = { number: 'A & <b>', total: 5, note: null }

t.test('the name is the link of the first column, and the id stands last', async (t) => {
  const app = await serve(t, [row, { ...row, number: ' ' }], invoice)
  const list = await pageOf(app, '/invoices')
  t.strictSame(headsOf(list), ['Number', 'Total', 'Note', 'Id'])
  t.strictSame(rowsOf(list), [['<a href="/invoices/1">A &amp; &lt;b&gt;</a>', '5', '', '1#'],
    ['<a href="/invoices/2">Invoice 2</a>', '5', '', '2#']])
  const chosen = await serve(t, [row], invoice, { html: { columns: ['total', 'number'] } })
  t.strictSame(headsOf(await pageOf(chosen, '/invoices')), ['Number', 'Total', 'Id'],
    'the name comes first even if the app names it later')
  const added = await serve(t, [row], invoice, { html: { columns: ['total'] } })
  t.strictSame(headsOf(await pageOf(added, '/invoices')), ['Number', 'Total', 'Id'], 'or not at all')
  const unlinked = await serve(t, [row], invoice, { only: ['list'] })
  t.strictSame(rowsOf(await pageOf(unlinked, '/invoices')), [['A &amp; &lt;b&gt;', '5', '', '1#']],
    'rows without pages have no link')
})

t.test('a query that leaves the title out shows the id first', async (t) => {
  const app = await serve(t, [row], invoice)
  const list = await pageOf(app, '/invoices?only=total')
  t.strictSame([headsOf(list), rowsOf(list)], [['Id', 'Total'], [['<a href="/invoices/1">1</a>', '5']]])
  t.strictSame(headsOf(await pageOf(app, '/invoices?only=total,number')), ['Number', 'Total', 'Id'])
})

t.test('a long id is shown by its end', async (t) => {
  const app = await serve(t, [row], invoice, { id: 'uuid' })
  const list = await pageOf(app, '/invoices')
  const [, id = ''] = /href="\/invoices\/([0-9a-f-]{36})"/.exec(list) ?? []
  t.match(list, `<td data-label="Id" class="id" title="${id}">&#8230;${id.slice(-6)}</td>`)
})

t.test('a row without a title is called by the last group of its UUID', async (t) => {
  const app = await serve(t, [{ ...row, number: '' }], invoice, { id: 'uuid' })
  const [, path = '', group] = /href="(\/invoices\/[0-9a-f-]{24}([0-9a-f]{12}))"/.exec(
    await pageOf(app, '/invoices')
  ) ?? []
  t.equal(headingOf(await pageOf(app, path)), `Invoice ${String(group)}`)
})

t.test('a name stands in headings, titles, links and warnings', async (t) => {
  const app = await serve(t, [row, { ...row, number: '' }], invoice, { formPages: true })
  const record = await pageOf(app, '/invoices/1')
  t.equal(headingOf(record), row.number)
  t.match(decode(record), '<title>A & <b> – Invoices</title>')
  t.match(record, '<p>A &amp; &lt;b&gt; will be deleted permanently.</p>')
  const edit = await pageOf(app, '/invoices/1/edit')
  t.equal(headingOf(edit), 'Edit A & <b>')
  t.match(edit, '<li><a href="/invoices/1">A &amp; &lt;b&gt;</a></li>')
  t.equal(headingOf(await pageOf(app, '/invoices/2')), 'Invoice 2', 'a blank title is none')
  t.match(await pageOf(app, '/invoices/2'), '<p>Invoice 2 will be deleted permanently.</p>')
  t.equal(headingOf(await pageOf(app, '/invoices/2/edit')), 'Edit invoice 2')
})

t.test('a form with an error has the name of the stored row', async (t) => {
  const app = await serve(t, [row], invoice)
  const payload = '_method=PUT&id=1&invoice%5Bnumber%5D=typed&invoice%5Btotal%5D=many'
  const answer = await app.inject({
    method: 'POST',
    url: '/invoices',
    payload,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.strictSame([answer.statusCode, headingOf(answer.body)], [422, 'Edit A & <b>'])
})

t.test('a function names rows, also those of a resource without a schema', async (t) => {
  const store = memoryStore()
  store.create({ first: 'Ann', last: 'Smith', age: 5 }, {})
  store.create({}, {})
  const title = ({ id, attributes: { first, last } }: { readonly id: unknown, readonly attributes: Attributes }): string
    | undefined => first === undefined
    ? undefined
    : `${id}: ${first} ${last}`
  const app = await build(t, { name: 'people', store, html: { title } })
  t.equal(headingOf(await pageOf(app, '/people/1')), '1: Ann Smith')
  t.equal(headingOf(await pageOf(app, '/people/2')), 'Person 2')
  const list = await pageOf(app, '/people')
  t.strictSame(headsOf(list), ['Person', 'first', 'last', 'age', 'Id'])
  t.strictSame(rowsOf(list).map(([first]) => first),
    ['<a href="/people/1">1: Ann Smith</a>', '<a href="/people/2">Person 2</a>'])
  const named = await build(t, { name: 'people', store, html: { title: 'first' } })
  t.equal(headingOf(await pageOf(named, '/people/1')), 'Ann')
  t.strictSame(headsOf(await pageOf(named, '/people')), ['first', 'last', 'age', 'Id'])
})

t.test('numbers are names, a long name is cut, and other values are none', async (t) => {
  const store = memoryStore()
  for (const code of [7, 'x'.repeat(150), true, ['a']]) store.create({ code }, {})
  const app = await build(t, { name: 'codes', store, html: { title: 'code' } })
  const names = await Promise.all([1, 2, 3, 4].map(async (id) => headingOf(await pageOf(app, `/codes/${id}`))))
  t.strictSame(names, ['7', `${'x'.repeat(100)}…`, 'Code 3', 'Code 4'])
})

t.test('a title that pages cannot show is refused', async (t) => {
  const attributes = { type: 'object', properties: { name: text, pin: { ...text, writeOnly: true } } }
  const refused = [
    [
      'nam',
      /"html.title" of resource "posts" names "nam", which is not among the attributes declared; did you mean "name"\?/
    ],
    ['pin', /"html.title" of resource "posts" names "pin", which is writeOnly and is never shown/],
    [5, /"html.title" of resource "posts" must be an attribute such as 'name', a function of the row, or 'id'/]
  ] as const
  for (const [title, message] of refused) {
    await t.rejects(
      build(t, { name: 'posts', attributes, html: { title } } as unknown as ResourceOptions),
      { code: 'FST_RESOURCES_INVALID_OPTION', message }
    )
  }
})
