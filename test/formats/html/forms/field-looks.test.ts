import t, { type Test } from 'tap'
import { type AttributesSchema, memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { findForm, submit } from '../../../support/html/forms.js'

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
    [{ type: 'string', maxLength: 4 }, ' w4'],
    [{ type: 'string', maxLength: 5 }, ' w10'],
    [{ type: ['string', 'null'], maxLength: 20 }, ' w20'],
    [{ type: 'string', maxLength: 21 }, ''],
    [{ type: 'string', maxLength: 10, format: 'email' }, ''],
    [{ type: 'string', pattern: '^x' }, ''],
    [{ type: ['string', 'integer'] }, ''],
    [{ type: 'string', format: 'decimal' }, ' w20'],
    [{ type: 'string', format: 'decimal', precision: 4, scale: 0 }, ' w4'],
    [{ type: 'string', format: 'decimal', precision: 4, scale: 2 }, ' w10'],
    [{ type: 'integer' }, ' w10'],
    [{ type: 'integer', minimum: 0, maximum: 9999 }, ' w4'],
    [{ type: 'integer', minimum: -9999, maximum: 0 }, ' w10'],
    [{ type: 'number', multipleOf: 0.01 }, ' w10'],
    [{ type: 'number', maximum: 99, multipleOf: 0.01 }, ' w10'],
    [{ type: 'number', maximum: 95, multipleOf: 5 }, ' w4'],
    [{ type: 'number', maximum: Number.MAX_VALUE, multipleOf: 0.01 }, ' w20'],
    [{ type: 'number' }, ' w20'],
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
