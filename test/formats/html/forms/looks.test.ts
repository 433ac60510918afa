import t, { type Test } from 'tap'
import { type AttributesSchema, memoryStore, type MemoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build, types } from '../../../support/helper.js'
import {
  buttonsOf, fill, type Filled, findButton, findForm, type Form, hidden, refused, shown, submit
} from '../../../support/html/forms.js'
import { form } from '../../../../lib/core/formats/form/read.js'
import type { LightMyRequestResponse } from 'fastify'

/** Returns the page of the form for a row with these attributes, or for a new one. */
async function openForm (
  t: Test,
  properties: AttributesSchema['properties'],
  row?: Record<string, unknown>,
  options: Partial<ResourceOptions> = {}
): Promise<string> {
  const store = memoryStore()
  if (row !== undefined) store.create(row, {})
  const app = await build(t, {
    name: 'posts',
    store,
    formats: ['html'],
    formPages: true,
    attributes: { type: 'object', properties, required: Object.keys(properties) },
    ...options
  })
  return (await app.inject(row === undefined ? '/posts/new' : '/posts/1/edit')).body
}

t.test('the width of a line says how long its value may be', async (t) => {
  const cases: ReadonlyArray<readonly [schema: object, width: string]> = [
    [{ type: 'string', maxLength: 4 }, ' w4'], [{ type: 'string', maxLength: 5 }, ' w10'],
    [{ type: ['string', 'null'], maxLength: 20 }, ' w20'], [{ type: 'string', maxLength: 21 }, ''],
    [{ type: 'string', maxLength: 10, format: 'email' }, ''], [{ type: 'string', pattern: '^x' }, ''],
    [{ type: ['string', 'integer'] }, ''], [{ type: 'string', format: 'decimal' }, ' w20'],
    [{ type: 'string', format: 'decimal', precision: 4, scale: 0 }, ' w4'],
    [{ type: 'string', format: 'decimal', precision: 4, scale: 2 }, ' w10'], [{ type: 'integer' }, ' w10'],
    [{ type: 'integer', minimum: 0, maximum: 9999 }, ' w4'], [{ type: 'integer', minimum: -9999, maximum: 0 }, ' w10'],
    [{ type: 'number', multipleOf: 0.01 }, ' w10'], [{ type: 'number', maximum: 99, multipleOf: 0.01 }, ' w10'],
    [{ type: 'number', maximum: 95, multipleOf: 5 }, ' w4'],
    [{ type: 'number', maximum: Number.MAX_VALUE, multipleOf: 0.01 }, ' w20'], [{ type: 'number' }, ' w20'],
    [{ type: 'number', minimum: 0, maximum: 1 }, ' w20']
  ]
  const page = await openForm(t, Object.fromEntries(cases.map(([schema], index) => [`a${index}`, schema])))
  t.strictSame(
    [...page.matchAll(/<div class="field input( w\d+)?">\n<label for="post:a\d+"/g)].map(([, width = '']) => width),
    cases.map(([, width]) => width)
  )
})

t.test('a number shows the decimal places of its step, unless it has more digits', async (t) => {
  const cases: ReadonlyArray<readonly [multipleOf: number | undefined, value: number, shown: string]> = [
    [0.01, 1234.5, '1234.50'], [0.01, -3, '-3.00'], [0.01, 1e21, '1e+21'], [0.01, 0.125, '0.125'],
    [0.01, 0.1 + 0.2, '0.30000000000000004'],
    [0.001, 2, '2.000'], [0.25, 2.5, '2.5'], [10, 20, '20'], [1e-14, 0.5, '0.50000000000000'], [1e-15, 0.5, '0.5'],
    [undefined, 1.5, '1.5']
  ]
  const row = Object.fromEntries(cases.map(([, value], index) => [`a${index}`, value]))
  const properties = Object.fromEntries(cases.map(([multipleOf], index) => [`a${index}`,
    { type: 'number', ...(multipleOf !== undefined && { multipleOf }) }] as const))
  const store = memoryStore<any>()
  store.create(row, {})
  const app = await build(t, { name: 'posts', store, formats: ['html'], attributes: { type: 'object', properties } })
  const page = await app.inject('/posts/1')
  t.strictSame(
    [...page.body.matchAll(/type="number" id="post:a\d+"[^>]* value="(-?\d[^"]*)"/g)].map(([, value]) => value),
    cases.map(([, , shown]) => shown)
  )
  t.equal((await app.inject(submit(findForm(page, 'PUT')))).statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, row, 'no digit is lost')
})

t.test('a hint says only what the control does not', async (t) => {
  const hints = (page: string): string[] => [...page.matchAll(/!hint">([^<]*)/g)].map(([, hint = '']) => hint)
  const properties = {
    short: { type: 'string', maxLength: 100 },
    long: { type: 'string', maxLength: 1000 },
    day: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } }
  } as const
  t.strictSame(hints(await openForm(t, properties)), ['At most 1000 characters.', 'One per line.'])
  t.strictSame(hints(await openForm(t, { day: properties.day }, { day: '2026-02-30' })), ['For example 2026-01-31.'],
    'a date that the calendar cannot show')
})

t.test('up to four short choices stand in one line', async (t) => {
  const cases: ReadonlyArray<readonly [schema: object, isInline: boolean]> = [
    [{ enum: ['draft', 'sent', 'paid', 'written off'] }, true],
    [{ enum: ['a', 'b', 'c', 'd', null] }, false],
    [{ enum: ['a', 'thirteen long'] }, false],
    [{ type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }, true]
  ]
  const page = await openForm(t, Object.fromEntries(cases.map(([schema], index) => [`a${index}`, schema])))
  t.strictSame([...page.matchAll(/<div class="choices( inline)?">/g)].map(([, inline]) => inline !== undefined),
    cases.map(([, isInline]) => isInline))
})

t.test('a required choice of many begins with a line that is none of them', async (t) => {
  const properties = { it: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] } }
  t.match(await openForm(t, properties),
    '<option value="" selected="selected">Choose&#8230;</option><option value="a">a</option>')
  t.notMatch(await openForm(t, properties, { it: 'b' }), 'Choose')
  t.match(await openForm(t, properties, undefined, { html: { messages: { choose: '… <which>?' } } }),
    '>&#8230; &lt;which&gt;?</option>')
})

t.test('the offset of a date and time is folded away, unless it may be wrong', async (t) => {
  const properties = { at: { type: 'string', format: 'date-time' } } as const
  t.match(await openForm(t, properties, { at: '2026-01-31T12:00:00+02:00' }),
    '<details class="offset"><summary>UTC offset: +02:00</summary>')
  const app = await build(t, {
    name: 'posts', formats: ['html'], attributes: { type: 'object', properties, required: ['at'] }
  })
  const refused = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'post[at]=2026-01-31T12:00&post[at][?][offset]=north'
  })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, '<details class="offset" open="open"><summary>UTC offset: north</summary>')
})

t.test('the buttons of a long form stay in view', async (t) => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`,
    { type: 'boolean' }] as const))
  t.match(await openForm(t, many(7)), 'class="form">')
  t.match(await openForm(t, many(8)), 'class="form long">')
  t.match(
    await openForm(t, { rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } } }),
    'class="form long">'
  )
})

t.test('a field is called optional only if it may be left without a value', async (t) => {
  const properties = {
    text: { type: 'string' },
    line: { type: 'string', maxLength: 20 },
    tags: { type: 'array', items: { type: 'string' } },
    number: { type: 'integer' },
    note: { type: ['string', 'null'] },
    secret: { type: 'string', writeOnly: true }
  } as const
  const optionalIn = (page: string): string[] => [
    ...page.matchAll(/<label for="post:([^"]*)">[^<]*<span class="optional">/g)
  ].map(([, name = '']) => name)
  t.strictSame(optionalIn(await openForm(t, properties)), ['note'])
  const row = { text: 'a', line: 'b', tags: ['c'], number: 1, note: 'd', secret: 'e' }
  t.strictSame(optionalIn(await openForm(t, properties, row)), ['note', 'secret'], 'a secret that is left blank stays')
  const attributes = { type: 'object', properties } as const
  t.strictSame(optionalIn(await openForm(t, properties, row, { attributes })), Object.keys(properties))
  const lines = {
    lines: {
      type: 'array',
      items: {
        type: 'object',
        required: ['code', 'rest'],
        properties: {
          code: { type: 'string', maxLength: 9 }, rest: { type: ['integer', 'null'] }, more: { type: 'integer' }
        }
      }
    }
  } as const
  const [, heads = ''] = /<div class="row heads"[^>]*>(.*?)<span class="button">/.exec(
    await openForm(t, lines, { lines: [{ code: '', rest: 1 }] })
  ) ?? []
  t.strictSame([...heads.matchAll(/>(\w+) <span class="optional">/g)].map(([, label]) => label), ['Rest', 'More'])
})

const text = { type: 'string', minLength: 1, maxLength: 120 } as const
const lineItem = {
  type: 'object',
  required: ['description', 'quantity'],
  properties: {
    description: { ...text, description: 'What was sold.' },
    quantity: { type: 'integer', minimum: 1, maximum: 999 },
    rate: { enum: ['0', '0.07', '0.19'], title: 'VAT rate' },
    note: { type: 'string' }
  }
} as const

/** A form for a new invoice, or for one with these attributes. */
class Page {
  readonly #app: Awaited<ReturnType<typeof build>>
  readonly store: MemoryStore<any>
  body: string

  private constructor (app: Awaited<ReturnType<typeof build>>, store: MemoryStore<any>, body: string) {
    this.#app = app
    this.store = store
    this.body = body
  }

  static async open (
    t: Test,
    properties: AttributesSchema['properties'],
    row?: Record<string, unknown>,
    options: Partial<ResourceOptions> = {}
  ): Promise<Page> {
    const store = memoryStore<any>()
    if (row !== undefined) store.create(row, {})
    const app = await build(t, {
      name: 'invoices',
      store,
      formats: ['html'],
      formPages: true,
      attributes: { type: 'object', properties, required: Object.keys(properties) },
      ...options
    })
    const { body } = await app.inject(row === undefined ? '/invoices/new' : '/invoices/1/edit')
    return new Page(app, store, body)
  }

  get form (): Form {
    return findForm(this.body, this.body.includes('value="PUT"') ? 'PUT' : 'POST')
  }

  async press (name: string, value?: string): Promise<this> {
    const { form } = this
    this.body = (await this.#app.inject(submit(form, findButton(form, `invoice[${name}]`, value)))).body
    return this
  }

  async save (): Promise<number> {
    const { statusCode, body } = await this.#app.inject(submit(this.form))
    this.body = body
    return statusCode
  }

  /** The names of the controls with the focus. */
  get focus (): string[] {
    return [
      ...this.body.matchAll(
        /<(?:input|select|textarea|button)[^>]* name="invoice\[([^"]*)\]"[^>]* autofocus="autofocus"/g
      )
    ].map(([, name = '']) => name)
  }
}

t.test('an item with a few short properties takes one line, with the labels once above all', async (t) => {
  const row = { description: 'Travel', quantity: 1 }
  const { body } = await Page.open(t, { lineItems: { type: 'array', items: lineItem } }, { lineItems: [row, row] })
  t.match(body, '<fieldset class="field rows table"')
  t.equal(body.match(/<div class="row heads" aria-hidden="true">/g)?.length, 1)
  const [
    , heads = ''
  ] = /<div class="row heads"[^>]*><div class="field line">(.*)<\/div><span class="button">Remove<\/span>/.exec(
    body
  ) ?? []
  t.strictSame(heads.replaceAll(/<div class="([^"]*)">(.*?)<\/div>/g, '$1: $2\n').trimEnd().split('\n'), [
    'field input: Description<br/><small>What was sold.</small>',
    'field input w4 number: Quantity',
    'field select: VAT rate <span class="optional">optional</span>',
    'field textarea: Note <span class="optional">optional</span>'
  ])
  t.equal(body.match(/<legend>Line item \d<\/legend>\n[^]*?<div class="line">/g)?.length, 2, 'each line has its name')
  t.equal(body.match(/<label for="invoice:lineItems:\d:quantity">Quantity<\/label>/g)?.length, 2,
    'and each control its label')
  t.equal(body.match(/<select id="invoice:lineItems:\d:rate"/g)?.length, 2,
    'a choice is a list, because buttons take too much room')
  t.match(body, /<textarea id="invoice:lineItems:0:note"[^>]* rows="1"/)
  t.match(body, / aria-label="Remove line item 2">Remove<\/button>/)
  t.match(body, />Add a line item<\/button>/)
})

t.test('a larger item is a group of its own', async (t) => {
  const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, text]))
  const items: ReadonlyArray<readonly [item: object, inline: boolean, heads: boolean]> = [
    [{ type: 'object', properties: many }, false, false],
    [{ type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }, false, false],
    [{ type: 'object', properties: { parts: { type: 'array', items: lineItem } } }, false, false],
    [{ type: 'object', properties: { a: text, b: text, c: text } }, true, true],
    [{ type: ['string', 'null'] }, true, false],
    [{ type: ['boolean', 'null'] }, true, false],
    [{ type: ['string', 'null'], format: 'date-time' }, false, false]
  ]
  for (const [item, inline, heads] of items) {
    const page = await (await Page.open(t, { them: { type: 'array', items: item } })).press('them][?][add')
    t.equal(page.body.includes('class="field rows table" id="invoice:them"'), inline, JSON.stringify(item))
    t.equal(page.body.includes('class="row heads"'), heads)
  }
  t.notMatch((await Page.open(t, { them: { type: 'array', items: lineItem } })).body, 'heads',
    'without a row there is nothing to head')
})

t.test('rows are called by the singular of their array, or by the title of their items', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, title: string | undefined, add: string, remove: string]> = [
    ['authors', undefined, 'Add an author', 'Remove author 1'],
    ['lineItems', undefined, 'Add a line item', 'Remove line item 1'],
    ['uses', undefined, 'Add a use', 'Remove use 1'],
    ['uploads', undefined, 'Add an upload', 'Remove upload 1'],
    ['URLs', undefined, 'Add a URL', 'Remove URL 1'],
    ['people', undefined, 'Add a person', 'Remove person 1'],
    ['ones', undefined, 'Add a one', 'Remove one 1'],
    ['positions', 'Entry', 'Add an entry', 'Remove entry 1']
  ]
  for (const [name, title, add, remove] of cases) {
    const item = { ...lineItem, ...(title !== undefined && { title }) }
    const { form } = await Page.open(
      t, { [name]: { type: 'array', items: item } }, { [name]: [{ description: 'x', quantity: 1 }] }
    )
    t.strictSame(
      buttonsOf(form).filter((button) => /add|remove/.test(button.name)).map((button) =>
        button.attributes['aria-label'] ?? button.label),
      [remove, add]
    )
  }
})

t.test('a required array begins with as many rows as it must have', async (t) => {
  const row = { description: 'x', quantity: 1 }
  const properties = (minItems: number) => ({ lineItems: { type: 'array', minItems, items: lineItem } }) as const
  const rows = ({ body }: Page): number => body.match(/<div class="row">/g)?.length ?? 0
  const page = await Page.open(t, properties(2))
  t.equal(rows(page), 2)
  t.match(page.body, '!hint">At least 2.')
  t.notMatch(page.body, /Line items <span class="optional">/)
  t.equal(rows(await page.press('lineItems][?][remove', '0')), 1, 'a user may remove them')
  await page.press('lineItems][?][remove', '0')
  t.equal(await page.save(), 422)
  t.match(page.body, 'Line items must have at least 2 items')
  t.notMatch((await Page.open(t, properties(1))).body, 'At least')
  t.equal(rows(await Page.open(t, properties(1000))), 0, 'a form with more rows than it may have could not be sent')
  t.equal(rows(await Page.open(t, { lineItems: { ...properties(3).lineItems, default: [row, row, row, row] } })), 4,
    'a default has more')
  t.equal(rows(await Page.open(t, properties(2), { lineItems: [{ description: 'x', quantity: 1 }] })), 1,
    'a stored array stays as it is')
  const optional = await Page.open(t, properties(2), undefined, {
    attributes: { type: 'object', properties: properties(2) }
  })
  t.equal(rows(optional), 0)
  t.match(optional.body, /Line items <span class="optional">/)
  t.match(
    (await Page.open(t, { tags: { type: 'array', minItems: 2, items: { type: 'string' } } })).body,
    '<p class="explanation" id="invoice:tags!hint">One per line. At least 2.</p>\n<textarea id="invoice:tags" ' +
      'name="invoice[tags]" required="required"'
  )
  const stored = await Page.open(t, { tags: { type: 'array', minItems: 2, items: { type: 'string' } } }, { tags: [] })
  t.notMatch(stored.body, /<textarea id="invoice:tags"[^>]* required/, 'a browser sends what is stored')
  t.equal(await stored.save(), 303)
})

t.test('a button leads back to its place', async (t) => {
  const row = { description: 'x', quantity: 1 }
  const group = {
    type: 'object',
    properties: {
      one: { type: 'object', properties: { kind: { enum: ['a', 'b'] }, parts: { type: 'array', items: lineItem } } }
    }
  } as const
  const empty = { type: 'object', properties: { id: { type: 'string', readOnly: true } } } as const
  const properties = {
    lineItems: { type: 'array', items: lineItem },
    groups: { type: 'array', items: group },
    flags: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', default: true } } } },
    lines: { type: 'array', items: { type: ['string', 'null'] } }
  } as const
  const page = await Page.open(t, properties, { lineItems: [row, row, row], groups: [], flags: [], lines: [] })
  t.strictSame(page.focus, [])
  t.strictSame((await page.press('lineItems][?][add')).focus, ['lineItems][3][description'],
    'to the first field of a new row')
  t.strictSame((await page.press('lineItems][?][remove', '1')).focus, ['lineItems][?][remove'],
    'to the row after a removed one')
  t.match(page.body, /aria-label="Remove line item 2" autofocus="autofocus"/)
  await page.press('lineItems][?][remove', '2')
  t.match(page.body, /aria-label="Remove line item 2" autofocus="autofocus"/, 'to the row before the last one')
  await page.press('lineItems][?][remove', '0')
  t.strictSame((await page.press('lineItems][?][remove', '0')).focus, ['lineItems][?][add'],
    'to the button that adds one')
  t.strictSame((await page.press('groups][?][add')).focus, ['groups][0][one][kind'])
  t.strictSame((await page.press('groups][0][one][parts][?][add')).focus, ['groups][0][one][parts][0'],
    'a value that is nested too deeply is JSON')
  t.strictSame((await page.press('flags][?][add')).focus, ['flags][0][on'])
  t.strictSame((await page.press('lines][?][add')).focus, ['lines][0'])
  t.equal(await page.save(), 422)
  t.strictSame(page.focus, [], 'the summary of errors has the focus')
  const lists = {
    lists: { type: 'array', items: { type: 'object', properties: { parts: { type: 'array', items: lineItem } } } }
  } as const
  t.strictSame((await (await Page.open(t, lists)).press('lists][?][add')).focus, ['lists][0][parts][?][add'],
    'to the button that adds one to a list in the new row')
  t.strictSame(
    (await (await Page.open(t, { empties: { type: 'array', items: empty } })).press('empties][?][add')).focus,
    [],
    'a row without fields has none'
  )
})

t.test('a row for a further attribute gets the focus', async (t) => {
  const app = await build(t, { name: 'invoices', formats: ['html'] })
  const form = findForm(await app.inject('/invoices'), 'POST')
  t.notMatch((await app.inject('/invoices')).body, 'autofocus')
  const { body } = await app.inject(submit(form, findButton(form, 'invoice[?][?][add]')))
  t.match(body, 'name="invoice[?][0][name]" aria-label="Name 1" autofocus="autofocus"')
  t.equal(body.match(/autofocus="autofocus"/g)?.length, 1)
})

t.test('all faults of all lines are shown at once, at their fields', async (t) => {
  const page = await Page.open(
    t, { lineItems: { type: 'array', items: lineItem } }, { lineItems: [{ description: 'Travel', quantity: 1000 }] }
  )
  await page.press('lineItems][?][add')
  t.equal(await page.save(), 422)
  t.strictSame([...page.body.matchAll(/<li><a href="#([^"]*)">([^<]*)/g)].map(([, id, text]) => [id, text]), [
    ['invoice:lineItems:0:quantity', 'Line item 1: Quantity must be at most 999'],
    ['invoice:lineItems:1:description', 'Line item 2: Description must not be blank'],
    ['invoice:lineItems:1:quantity', 'Line item 2: Quantity must not be blank']
  ])
  t.equal(page.body.match(/aria-invalid="true"/g)?.length, 3)
})

const absent = Symbol('absent')
const REFUSED = Symbol('refused')

/** The schema of the attribute `it`, its value, what a user empties, and the value after that. */
type Case = readonly [name: string, schema: object, value: unknown, emptied: Filled, after: unknown]

const short = { type: 'string', minLength: 1, maxLength: 50 }
const group = {
  type: 'object', required: ['name'], properties: { name: short, age: { type: 'integer' }, kind: { enum: ['a', 'b'] } }
}
const IT: Filled = { 'post[it]': '' }
const NO_GROUP: Filled = { 'post[it][name]': '', 'post[it][age]': '', 'post[it][kind]': '' }

const cases: readonly Case[] = [
  ['a text', { type: 'string', maxLength: 50 }, 'x', IT, ''],
  ['a text with a minimum length', short, 'x', IT, absent],
  ['a text that is blank, which its schema refuses', short, '', {}, ''],
  ['a text or null', { ...short, type: ['string', 'null'] }, 'x', IT, null],
  ['a text of several lines with a minimum length', { type: 'string', minLength: 1 }, 'x', IT, absent],
  ['an e-mail address', { type: 'string', format: 'email' }, 'a@b.example', IT, absent],
  ['a date', { type: 'string', format: 'date' }, '2026-01-31', IT, absent],
  ['a date and time', { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z', IT, absent],
  ['a decimal', { type: 'string', format: 'decimal', scale: 2 }, '1.50', IT, absent],
  ['an integer', { type: 'integer' }, 5, IT, absent],
  ['an integer with a default', { type: 'integer', default: 7 }, 5, IT, absent],
  ['an integer or null', { type: ['integer', 'null'] }, 5, IT, null],
  ['a number', { type: 'number' }, 0.5, IT, absent],
  ['a boolean', { type: 'boolean' }, true, IT, absent],
  ['a boolean with a default, which has a checkbox', { type: 'boolean', default: true }, true, { 'post[it]': false },
    false],
  ['one of a few', { enum: ['a', 'b'] }, 'a', IT, absent],
  ['one of many', { enum: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'a', IT, absent],
  ['a list of texts', { type: 'array', items: { type: 'string' } }, ['a'], IT, []],
  ['a list of at least one text', { type: 'array', minItems: 1, items: { type: 'string' } }, ['a'], IT, absent],
  ['some of several, at least one', { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['a', 'b'] } },
    ['a'], { 'post[it][]': [] }, absent],
  ['an object', group, { name: 'N', age: 5, kind: 'a' }, NO_GROUP, absent],
  ['an object that keeps a member', group, { name: 'N', age: 5, kind: 'a' },
    { 'post[it][age]': '', 'post[it][kind]': '' }, { name: 'N' }],
  ['an object that keeps no required member', group, { name: 'N', age: 5 }, { 'post[it][name]': '' }, REFUSED],
  ['any object', { type: 'object', additionalProperties: { type: 'integer' } }, { a: 1 }, IT, absent],
  ['any object inside an object',
    { type: 'object', properties: { a: { type: 'object', additionalProperties: { type: 'integer' } }, b: short } },
    { a: { x: 1 }, b: 'x' }, { 'post[it][a]': '' }, { b: 'x' }],
  ['anything', {}, [1], IT, null]
]

function schemaOf (it: object, required: readonly string[] = []): AttributesSchema {
  return { type: 'object', required, properties: { it, other: { type: 'string' } } }
}

function valueIn (store: MemoryStore): unknown {
  const attributes = store.get(1, {})?.attributes as Readonly<Record<string, unknown>>
  return Object.hasOwn(attributes, 'it') ? attributes.it : absent
}

t.test('a user who empties an optional field removes its attribute', async (t) => {
  for (const [name, schema, value, emptied, after] of cases) {
    await t.test(name, async (t) => {
      const store = memoryStore<any>()
      const app = await build(t, { name: 'posts', attributes: schemaOf(schema), store, formats: ['html'] })
      store.create({ it: value, other: 'o' }, {})
      const shown = findForm(await app.inject('/posts/1.html'), 'PUT')
      const untouched = await app.inject(submit(shown))
      t.equal(untouched.statusCode, 303, untouched.body)
      t.strictSame(valueIn(store), value, 'a form that nobody touches changes nothing')
      const form = fill(findForm(await app.inject('/posts/1.html'), 'PUT'), emptied)
      if (after !== REFUSED) t.strictSame(refused(form), [], 'the browser sends the form')
      const saved = await app.inject(submit(form))
      t.equal(saved.statusCode, after === REFUSED ? 422 : 303)
      t.strictSame(valueIn(store), after === REFUSED ? value : after)
      const again = findForm(await app.inject('/posts/1.html'), 'PUT')
      t.equal((await app.inject(submit(again))).statusCode, 303)
      t.strictSame(valueIn(store), after === REFUSED ? value : after, 'the attribute stays as it is')
    })
  }
})

t.test('a form cannot remove what is required, and a create knows no attributes to remove', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, {
    name: 'posts', attributes: schemaOf({ type: 'integer' }, ['it']), store, formats: ['html']
  })
  store.create({ it: 5 }, {})
  const send = (payload: string) => app.inject({
    method: 'POST', url: '/posts', headers: { accept: types.html, 'content-type': form.mediaTypes[0] }, payload
  })
  const removed = await send('_method=PUT&id=1&post[it]=&post[it][?]=removed')
  t.equal(removed.statusCode, 422)
  t.match(removed.body, 'It must not be blank')
  t.equal(valueIn(store), 5)
  const created = await send('post[it]=6&post[other]=&post[other][?]=removed')
  t.equal(created.statusCode, 303)
  t.strictSame(store.get(2, {})?.attributes, { it: 6 })
})

t.test('JSON that another client sends without a mark comes back as JSON', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, {
    name: 'posts', attributes: schemaOf({ type: 'object', additionalProperties: true }), store, formats: ['html']
  })
  store.create({ it: { a: 1 } }, {})
  const refused = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form.mediaTypes[0] },
    payload: '_method=PUT&id=1&post[it]=x'
  })
  t.equal(refused.statusCode, 422)
  const shown = findForm(refused, 'PUT')
  t.equal(hidden(shown, 'post[it][?]'), 'json-null')
  t.equal((await app.inject(submit(fill(shown, { 'post[it]': '{"b":2}' })))).statusCode, 303)
  t.strictSame(valueIn(store), { b: 2 })
})

t.test('a field that a user empties, and that somebody else has changed, is a conflict', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, { name: 'posts', attributes: schemaOf({ type: 'integer' }), store, formats: ['html'] })
  store.create({ it: 5, other: 'o' }, {})
  const form = fill(findForm(await app.inject('/posts/1.html'), 'PUT'), IT)
  store.update(1, { it: 6 }, { version: undefined, scope: {} })
  const conflict = await app.inject(submit(form))
  t.equal(conflict.statusCode, 412)
  const choice = findForm(conflict, 'PUT')
  const theirs = await app.inject(submit(fill(choice, { 'post[it][?][keep]': 'theirs' })))
  t.equal(theirs.statusCode, 303)
  t.equal(valueIn(store), 6)
  store.update(1, { it: 7 }, { version: undefined, scope: {} })
  const again = findForm(await app.inject(submit(form)), 'PUT')
  t.equal((await app.inject(submit(fill(again, { 'post[it][?][keep]': 'yours' })))).statusCode, 303)
  t.equal(valueIn(store), absent)
})

t.test('an empty text among numbers is edited as JSON, also after the form was refused', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 9 }, count: { type: 'integer' }, done: { type: 'boolean' }
    }
  } as const
  const store = memoryStore()
  store.create({ title: 'T', count: '', done: '' }, {})
  const app = await build(t, { name: 'posts', store, attributes })
  const page = await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })
  const again = await app.inject(submit(
    fill(findForm(page, 'PUT'), { 'post[title]': '' }), undefined, { accept: 'text/html' }
  ))
  t.equal(again.statusCode, 422)
  for (const answer of [page, again]) {
    const names = ['post[count]', 'post[done]']
    t.strictSame(names.map((name) => shown(findForm(answer, 'PUT'), name)), ['""', '""'])
  }
  const saved = await app.inject(submit(fill(findForm(again, 'PUT'), { 'post[title]': 'U', 'post[count]': '5' })))
  t.equal(saved.statusCode, 303)
  t.match(store.get(1, {}), { attributes: { title: 'U', count: 5, done: '' } })
})

const formOfLongValues = 'application/x-www-form-urlencoded'
const MOST = 100_000

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 20 },
    body: { type: 'string' },
    email: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    names: { type: 'object', additionalProperties: { type: 'string' } },
    rating: { type: 'integer' }
  }
} as const

const long = {
  title: 'T',
  body: `${'<"'.repeat(300_000)}end of body`,
  email: 'short',
  tags: Array.from({ length: 40_000 }, (_, index) => `tag ${index}`),
  people: [{ name: `${'&'.repeat(200_000)}end of name` }],
  names: { a: 'x'.repeat(99_000), b: 'y'.repeat(99_000), c: 'end of names' }
}

const page = { accept: 'text/html' }

/**
 * Returns the fields of the first form that can be sent: the names, and the values as they are written in the markup.
 */
function fieldsOf (html: string): string[] {
  return [...html.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]*)"/g)].map(([, name = '']) => name)
}

t.test('a page shows the first 100,000 characters of a value, and says so', async (t) => {
  const app = await build(t, { name: 'posts', attributes, writes: 'both' }, { server: { bodyLimit: 4e6 } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: long } })
  const { body, statusCode } = await app.inject({ url: '/posts/1', headers: page })
  t.equal(statusCode, 200)
  t.ok(body.length < 2_000_000, `${body.length} characters`)
  t.equal(body.match(/&lt;&quot;/g)?.length, MOST / 2 + 500, 'the value, and its beginning in the form')
  t.equal(body.match(/This is only the beginning/g)?.length, 4)
  t.match(body, '<li>tag 1</li>')
  for (const end of ['end of body', 'end of name', 'end of names', 'tag 39999']) t.notMatch(body, end)
  const json = await app.inject('/posts/1.json')
  t.strictSame(json.json<{ post: object }>().post, { id: 1, ...long }, 'other formats have the whole value')
})

t.test('a value of exactly 100,000 characters is shown and edited in full', async (t) => {
  const app = await build(t, { name: 'posts', attributes })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: `${'x'.repeat(MOST - 3)}end` } } })
  const { body } = await app.inject({ url: '/posts/1', headers: page })
  t.equal(body.match(/xend/g)?.length, 2)
  t.notMatch(body, 'This is only the beginning')
  await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { body: 'x'.repeat(MOST + 1) } } })
  t.match((await app.inject({ url: '/posts/1', headers: page })).body, 'This is only the beginning')
})

t.test('a form without a field for a long value leaves it unchanged', async (t) => {
  const app = await build(
    t, { name: 'posts', attributes, writes: 'both', formPages: true }, { server: { bodyLimit: 4e6 } }
  )
  await app.inject({ method: 'POST', url: '/posts', payload: { post: long } })
  const edit = await app.inject({ url: '/posts/1/edit', headers: page })
  t.ok(edit.body.length < 50_000, `${edit.body.length} characters`)
  t.match(edit.body, 'stays as it is; this form cannot show all of it.')
  t.match(edit.body, /<blockquote class="kept" dir="auto">(?:&lt;&quot;){500}…<\/blockquote>/)
  const names = fieldsOf(edit.body)
  t.ok(names.includes('post[title]') && names.includes('post[email]'))
  t.strictSame(names.filter((name) => /body|tags|people|names/.test(name)), [])
  const put = (fields: string): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': formOfLongValues },
    payload: `_method=PUT&_version=1&${fields}`
  })
  const refused = await put(`post[title]=${'x'.repeat(30)}&post[email]=new`)
  t.equal(refused.statusCode, 422)
  t.ok(refused.body.length < 50_000, 'the form that comes back is not longer')
  t.equal((await put('post[title]=New&post[email]=new')).statusCode, 303)
  t.strictSame((await app.inject('/posts/1.json')).json<{ post: object }>().post, {
    id: 1, ...long, title: 'New', email: 'new'
  })
  const stale = await put('post[title]=Other&post[email]=other')
  t.equal(stale.statusCode, 412)
  t.ok(stale.body.length < 50_000, 'the form of a conflict is not longer')
})

t.test('a conflict shows the beginning of theirs, and all of yours in its field', async (t) => {
  const app = await build(t, { name: 'posts', attributes, writes: 'both' }, { server: { bodyLimit: 4e6 } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: long.body, rating: 1 } } })
  const typed = `${'<>'.repeat(75_000)}end of typed`
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': formOfLongValues },
    payload: `_method=PUT&_version=0&post[body]=${encodeURIComponent(typed)}&post[rating]=x`
  })
  t.equal(statusCode, 422)
  const stale = await app.inject({
    method: 'POST',
    url: '/posts/1',
    headers: { ...page, 'content-type': formOfLongValues },
    payload: `_method=PUT&_version=0&post[body]=${encodeURIComponent(typed)}`
  })
  t.equal(stale.statusCode, 412)
  for (const html of [body, stale.body]) {
    t.match(html, `${'&lt;&gt;'.repeat(75_000)}end of typed</textarea>`, 'no typed value is lost')
  }
  t.equal(stale.body.match(/&lt;&quot;/g)?.length, MOST / 2)
  t.notMatch(stale.body, 'end of body')
})

t.test('a form that could not be read comes back with all typed values', async (t) => {
  const app = await build(t, { name: 'posts', attributes }, { server: { bodyLimit: 4e6 } })
  const typed = `${'é & <b>"—"</b>\n'.repeat(20_000)}end`
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { ...page, 'content-type': formOfLongValues },
    payload: new URLSearchParams([['post[body]', typed], ['post[rating]', 'x'],
      ['post[tags]', `a\n${'b'.repeat(200_000)}`]]).toString()
  })
  t.equal(statusCode, 422)
  t.match(body, `${'é &amp; &lt;b&gt;&quot;—&quot;&lt;/b&gt;&#10;'.repeat(20_000)}end</textarea>`)
  t.match(body, `a&#10;${'b'.repeat(200_000)}</textarea>`)
})

t.test('a long value without a schema, and one that no format can carry, are shown by their beginning', async (t) => {
  const store = memoryStore()
  store.create(
    {
      deep: [[{ a: null, b: 'x'.repeat(60_000), c: true, d: ['y'.repeat(60_000), 1] }]],
      many: Array.from({ length: 60_000 }, () => 1),
      wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name${index}`, null])),
      last: 'z'
    },
    {}
  )
  store.create({ bad: `${'\u0001\ufffe\ud800&'.repeat(50_000)}end` }, {})
  const app = await build(t, { name: 'posts', store })
  const first = await app.inject({ url: '/posts/1', headers: page })
  t.match(first, { statusCode: 200, body: 'z</dd>' })
  t.equal(first.body.match(/This is only the beginning/g)?.length, 3)
  t.match(first.body, 'yyy')
  t.ok(first.body.length < 3_000_000)
  const second = await app.inject({ url: '/posts/2', headers: page })
  t.match(second.body, '\ufffd\ufffd\ufffd&amp;')
  const record = await app.inject('/posts/2.xml')
  t.match(record.body, `<bad type="json">"${'\\u0001\\ufffe\\ud800&amp;'.repeat(50_000)}end"</bad>`)
})

t.test('each kind of line end in XML becomes one line feed', async (t) => {
  const app = await build(t, { name: 'posts', attributes })
  const created = await app.inject({
    method: 'POST',
    url: '/posts.json',
    headers: { 'content-type': 'application/xml' },
    payload: '<post>\r\n<title>a\rb\r\nc\n\r\r\n&#13;</title>\r</post>\r'
  })
  t.match(created.json(), { post: { title: 'a\nb\nc\n\n\n\r' } })
})

t.test('labels write abbreviations in capital letters, and leave out the verb of a flag', async (t) => {
  const boolean = { type: 'boolean', default: false } as const
  const labels = {
    sku: 'SKU',
    vatRate: 'VAT rate',
    home_url: 'Home URL',
    isActive: 'Active',
    is_paid: 'Paid',
    isOpen: 'Open',
    isbn: 'ISBN',
    is_of: 'Is of',
    is: 'Is',
    issued: 'Issued',
    hasUrl: 'Has URL',
    skull: 'Skull'
  }
  const booleans = new Set(['isActive', 'is', 'hasUrl'])
  const numbers = new Map(Object.entries({ is_paid: ['integer', 'null'], isOpen: 'number', isbn: 'integer' }))
  const properties = Object.fromEntries(Object.keys(labels).map((name) =>
    [name, booleans.has(name) ? boolean : { type: numbers.get(name) ?? 'string', maxLength: 9 }]))
  const app = await build(t, {
    name: 'posts',
    attributes: { type: 'object', properties: { ...properties, isText: { type: 'string', title: 'sku' } } }
  })
  const { body } = await app.inject({ url: '/posts', headers: { accept: 'text/html' } })
  const found = body.matchAll(/<label for="post:(\w+)">([^<]*?)(?: <span|<\/label>)/g)
  t.strictSame(Object.fromEntries([...found].map(([, name, label]) => [name, label])), { ...labels, isText: 'sku' })
})
