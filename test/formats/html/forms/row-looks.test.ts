import t, { type Test } from 'tap'
import { type AttributesSchema, memoryStore, type MemoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { buttonsOf, findButton, findForm, type Form, submit } from '../../../support/html/forms.js'

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
