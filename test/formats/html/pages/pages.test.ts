import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import fc from 'fast-check'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Attributes, type AttributesSchema, memoryStore, type MemoryStore, type MemoryStoreOptions, type ResourceOptions,
  type Store, StoreFullError, UnavailableError
} from '../../../../lib/index.js'
import type { HtmlOptions } from '../../../../lib/html/index.js'
import { type Element, elementsOf } from '../../../support/html/elements.js'
import {
  buttonsOf, decode, fill, findButton, findForm, type Form, hidden, parseForms, send, shown, submit, visible
} from '../../../support/html/forms.js'
import { build, types } from '../../../support/helper.js'

const form = 'application/x-www-form-urlencoded'
const html = { accept: 'text/html' }
const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const INERT = new Set([
  'blockquote', 'html', 'head', 'meta', 'title', 'link', 'body', 'header', 'nav', 'ol', 'ul', 'li', 'main', 'footer',
  'section', 'h1', 'h2', 'p', 'a', 'b', 'br', 'strong', 'span', 'div', 'details', 'summary', 'dl', 'dt', 'dd', 'time',
  'table', 'thead', 'tbody', 'tr', 'th', 'td', 'form', 'fieldset', 'legend', 'label', 'input', 'select', 'small',
  'option', 'textarea', 'button'
])

/** Checks what every page must fulfil. */
function isSound (
  t: Test, res: LightMyRequestResponse, status: number, about = `a page of status ${status}`
): Element[] {
  // A line separator would end the line of the report.
  const label = about.replaceAll('\u2028', ' ')
  const { statusCode, headers, body } = res
  t.match({ statusCode, headers }, {
    statusCode: status,
    headers: {
      'content-type': /^(?:text\/html|application\/xhtml\+xml); charset=utf-8$/,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin'
    }
  }, label)
  const elements = elementsOf(body)
  const attributes = elements.flatMap(({ attributes }) => Object.entries(attributes))
  const ids = attributes.flatMap(([name, value]) => name === 'id' ? [value] : [])
  const referred = attributes.flatMap(([name, value]) => name === 'for'
    ? [value]
    : name === 'aria-describedby' || name === 'aria-labelledby'
      ? value.split(' ')
      : name === 'href' && value.startsWith('#') ? [value.slice(1)] : [])
  t.strictSame(elements.filter(({ name }) => !INERT.has(name)).map(({ name }) => name), [],
    `${label}: no scripts and no embedded resources`)
  t.strictSame(attributes.filter(([name]) => /^on|^style$|^src|^srcdoc$|^background$|^formaction$/i.test(name)), [],
    `${label}: no inline styles or handlers`)
  t.strictSame(ids.filter((id, index) => ids.indexOf(id) !== index || id === '' || /\s/.test(id)), [],
    `${label}: every id is valid and unique`)
  t.strictSame(referred.filter((id) => !ids.includes(id) && !ids.includes(decodeURIComponent(id))), [],
    `${label}: every reference has a target`)
  t.strictSame(
    attributes.filter(([name, value]) => (name === 'href' || name === 'action') &&
      !/^(?:\/(?!\/)|#|https?:\/\/|mailto:)/i.test(value)),
    [],
    `${label}: every link has an allowed target`
  )
  t.strictSame(
    elements.filter(({ name }) => name === 'h1' || name === 'main' || name === 'title').map(({ name }) => name),
    ['title', 'main', 'h1'],
    `${label}: one title, one heading`
  )
  t.strictSame(
    elements.filter(({ name, attributes: { id, type, 'aria-label': labelled, 'aria-labelledby': labelledby } }) =>
      (name === 'select' || name === 'textarea' || (name === 'input' && type !== 'hidden')) &&
        (labelled ?? labelledby) === undefined && !elements.some(
        (other) => other.name === 'label' && other.attributes.for === id
      )).map(({ attributes }) => attributes.name),
    [],
    `${label}: every control has a label`
  )
  return elements
}

function schemaOf (properties: object, required: readonly string[] = []): AttributesSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

type Seeded = Omit<ResourceOptions, 'name' | 'store' | 'id'> & {
  readonly name?: string,
  readonly id?: 'integer' | 'uuid',
  readonly unique?: MemoryStoreOptions['unique'],
  readonly wrap?: (store: MemoryStore) => Store
}

/** Builds an app with these rows, and returns its store too. */
async function seeded (
  t: Test, rows: readonly Attributes[], { unique = [], wrap, ...options }: Seeded = {}
): Promise<{ app: FastifyInstance, store: MemoryStore }> {
  const store = memoryStore({ unique, ...(options.id !== undefined && { id: options.id }) })
  for (const row of rows) store.create(row, {})
  return {
    app: await build(t, { name: 'posts', html: { title: 'id' }, ...options, store: wrap?.(store) ?? store }), store
  }
}

async function get (app: FastifyInstance, url: string): Promise<LightMyRequestResponse> {
  return await app.inject({ url, headers: html })
}

async function post (
  app: FastifyInstance,
  payload: string | Readonly<Record<string, string>>,
  url = '/posts',
  headers: Readonly<Record<string, string>> = {}
): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': form, ...html, ...headers },
    payload: typeof payload === 'string' ? payload : new URLSearchParams(payload).toString()
  })
}

/** Returns the cells of a list row by row, without that of the id. */
function cellsOf (page: string): Array<Array<{ attributes: string, content: string }>> {
  return [...page.matchAll(/<tr>(<td data-label="Id">[^]*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<td data-label="[^"]*"([^>]*)>([^]*?)<\/td>/g)]
      .slice(1)
      .map(([, attributes = '', content = '']) => ({
        attributes, content: content.replaceAll(/[\u202f\u00a0]/g, ' ')
      })))
}

/** Returns the values that a record's page shows, by their labels. */
function valuesOf (page: string): Record<string, string> {
  const records = [...page.matchAll(/<dl class="record">[^]*?\n<\/dl>/g)].join('')
  return Object.fromEntries([
    ...records.matchAll(/^<div(?: class="id")?><dt>(.*?)<\/dt><dd[^>]*>(.*)<\/dd><\/div>$/gm)
  ].map(([, label = '', value = '']) => [label, value]))
}

/** Returns the values that a choice of a form offers. */
function choicesOf (form: Form, name: string): string[] {
  return visible(form, name)[0]?.options.map(({ value }) => value) ?? []
}

function linksOf (elements: readonly Element[], text: string): string[] {
  return elements.filter((element) => element.name === 'a' && element.text === text).map(({ attributes }) =>
    attributes.href ?? '')
}

function idsOf (page: string): number[] {
  return [...page.matchAll(/<td data-label="Id"><a href="[^"]*">(\d+)</g)].map(([, id]) => Number(id))
}

const auto = ' dir="auto"'
const end = ' class="number"'

t.test('a cell shows its value by its type', async (t) => {
  const titled = { oneOf: [{ const: 'd', title: 'Draft & <more>' }, { const: 'l', title: 'Live' }] }
  const cases: Array<[name: string, schema: object, value: unknown, attributes: string, content: string]> = [
    ['a text', { type: 'string' }, 'T & <b>', auto, 'T &amp; &lt;b&gt;'],
    ['a text of two lines', { type: 'string' }, 'a\nb', auto, 'a&#10;b'],
    ['a text that is not there', { type: 'string' }, undefined, auto, ''],
    ['null', { type: ['string', 'null'] }, null, auto, ''],
    ['true', { type: 'boolean' }, true, auto, '<span class="mark" role="img" aria-label="yes">&#10003;</span>'],
    ['false', { type: 'boolean' }, false, auto, '<span class="mark" role="img" aria-label="no">&#10007;</span>'],
    ['false where null is allowed', { type: ['boolean', 'null'] }, false, auto,
      '<span class="mark" role="img" aria-label="no">&#10007;</span>'],
    ['a boolean that has a title', { oneOf: [{ const: true, title: 'On' }, { const: false, title: 'Off' }] }, false,
      auto, 'Off'],
    ['a boolean that is null', { type: ['boolean', 'null'] }, null, auto, ''],
    ['an integer', { type: 'integer' }, -5, end, '-5'],
    ['zero', { type: 'integer' }, 0, end, '0'],
    ['a year', { type: 'integer' }, 2026, end, '2026'],
    ['a large integer', { type: 'integer' }, 9007199254740991, end, '9,007,199,254,740,991'],
    ['a negative integer', { type: 'integer' }, -12345, end, '-12,345'],
    ['an integer that is a choice', { type: 'integer', enum: [1, 2] }, 2, end, '2'],
    ['an integer that is a choice with a title', { oneOf: [{ const: 1, title: 'One' }, { const: 2, title: 'Two' }] }, 2,
      auto, '<span class="badge b1">Two</span>'],
    ['a number', { type: 'number' }, 0.25, end, '0.25'],
    ['a large number', { type: 'number' }, 1234567.5, end, '1,234,567.5'],
    ['a number with an exponent', { type: 'number' }, -1.234567890123456e-200, end, '-1.234567890123456e-200'],
    ['an amount', { type: 'number', multipleOf: 0.01 }, 1234.5, end, '1,234.50'],
    ['an amount that may be null', { anyOf: [{ type: 'number', multipleOf: 0.01 }, { type: 'null' }] }, 7, end, '7.00'],
    ['an amount with more digits', { type: 'number', multipleOf: 0.01 }, 0.125, end, '0.125'],
    ['a number of many places', { type: 'number', multipleOf: 0.00001 }, 0.5, end, '0.5'],
    ['a number that is null', { type: ['number', 'null'] }, null, end, ''],
    ['a date', { type: 'string', format: 'date' }, '2026-01-31', auto,
      '<time datetime="2026-01-31">Jan 31, 2026</time>'],
    ['a date and time of UTC', { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z', auto,
      '<time datetime="2026-01-31T12:00:00Z">Jan 31, 2026, 12:00 PM UTC</time>'],
    ['a date and time of elsewhere', { type: 'string', format: 'date-time' }, '2026-01-31T23:30:00.5+02:00', auto,
      '<time datetime="2026-01-31T23:30:00.5+02:00">Jan 31, 2026, 11:30 PM +02:00</time>'],
    ['a date and time without an offset', { type: 'string', format: 'date-time-local' }, '2026-01-31T23:30:05.123456',
      auto, '<time datetime="2026-01-31T23:30:05.123">Jan 31, 2026, 11:30 PM</time>'],
    ['a date and time without an offset, which is none', { type: 'string', format: 'date-time-local' },
      '2026-02-31T23:30:05&', auto, '2026-02-31T23:30:05&amp;'],
    ['a time without an offset', { type: 'string', format: 'time-local' }, '23:30:05.123456', auto, '23:30:05.123456'],
    ['a decimal', { type: 'string', format: 'decimal', precision: 40, scale: 20 }, '9007199254740993.1000', end,
      '9,007,199,254,740,993.1000'],
    ['a decimal of two places', { type: 'string', format: 'decimal', scale: 2 }, '-1234.5', end, '-1,234.50'],
    ['a decimal of more digits than Intl writes', { type: 'string', format: 'decimal' }, `1234.${'5'.repeat(21)}`, end,
      `1234.${'5'.repeat(21)}`],
    ['a decimal that is none', { type: 'string', format: 'decimal' }, '<1', end, '&lt;1'],
    ['base64', { type: 'string', contentEncoding: 'base64' }, 'aGVsbG8=', auto, 'aGVsbG8='],
    ['an e-mail address', { type: 'string', format: 'email' }, 'a+b@c.example', auto,
      '<a href="mailto:a+b@c.example">a+b@c.example</a>'],
    [
      'a URL of the web', { type: 'string', format: 'uri' }, 'https://a.example/?b&c="d"', auto,
      '<a href="https://a.example/?b&amp;c=&quot;d&quot;" rel="nofollow noreferrer">' +
        'https://a.example/?b&amp;c=&quot;d&quot;</a>'
    ],
    ['a URL in capitals', { type: 'string', format: 'url' }, 'HTTP://A.EXAMPLE', auto,
      '<a href="HTTP://A.EXAMPLE" rel="nofollow noreferrer">HTTP://A.EXAMPLE</a>'],
    ['a choice', { enum: ['a', 'b', ''] }, 'b', auto, '<span class="badge b1">b</span>'],
    ['a blank choice', { enum: ['a', 'b', ''] }, '', auto, ''],
    ['a long choice', { enum: ['x'.repeat(41), 'b'] }, 'b', auto, 'b'],
    ['a choice of many', { enum: [...'abcdefghi'] }, 'b', auto, 'b'],
    ['a choice that has a title', titled, 'd', auto, '<span class="badge b0">Draft &amp; &lt;more&gt;</span>'],
    ['a choice that is none any more', titled, 'gone', auto, 'gone'],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, ['a', '<b>'], auto, 'a, &lt;b&gt;'],
    ['a list of booleans', { type: 'array', items: { type: 'boolean' } }, [true, false], auto, 'yes, no'],
    ['a list of choices that have titles', { type: 'array', uniqueItems: true, items: titled }, ['l', 'd'], auto,
      'Live, Draft &amp; &lt;more&gt;'],
    ['an empty list', { type: 'array' }, [], auto, ''],
    ['an object', { type: 'object', properties: { a: { type: 'string' } } }, { a: '"' }, auto, '&quot;'],
    [
      'an object of several',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer', title: 'The b' } },
        additionalProperties: true
      },
      { b: 12345, a: 'x', c: [{}, {}], d: null, e: {}, f: true },
      auto,
      'The b 12,345, x, c 2 items, f yes'
    ],
    ['a list of objects', { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      [{ a: 'x' }], auto, '1 item'],
    ['a list of 12,345 objects', { type: 'array', items: {} }, Array.from({ length: 12_345 }, () => ({})), auto,
      '12,345 items'],
    ['a value of another type', { type: 'string', format: 'date' }, 5, auto, '5']
  ]
  for (const [name, schema, value, attributes, content] of cases) {
    await t.test(name, async (t) => {
      const { app } = await seeded(
        t, [value === undefined ? {} : { it: value }], { attributes: schemaOf({ it: schema }) }
      )
      const res = await get(app, '/posts')
      isSound(t, res, 200)
      t.strictSame(cellsOf(res.body), [[{ attributes, content }]])
    })
  }
})

t.test('a text that only resembles a URL is not a link', async (t) => {
  const cases = [
    'javascript:alert(1)', 'JavaScript:alert(1)', ' https://a.example', 'data:text/html,<script>alert(1)</script>',
    'vbscript:x', 'file:///etc/passwd', '//evil.example', '/posts', 'http:', 'http:evil', 'java\tscript:alert(1)',
    'https:/a', 'blob:https://a.example/x', 'http\n://a.example', 'view-source:http://a'
  ]
  for (const format of ['uri', 'url']) {
    const { app } = await seeded(t, cases.map((it) => ({ it, list: [it] })), {
      attributes: schemaOf({
        it: { type: 'string', format }, list: { type: 'array', items: { type: 'string', format } }
      })
    })
    const list = await get(app, '/posts')
    isSound(t, list, 200)
    for (const [index, [cell]] of cellsOf(list.body).entries()) t.notMatch(cell?.content, /<a /, String(cases[index]))
    for (const [index, text] of cases.entries()) {
      const record = await get(app, `/posts/${index + 1}`)
      isSound(t, record, 200, text)
      t.notMatch(/<dl class="record">[^]*?\n<\/dl>/.exec(record.body)?.[0], /<a /, text)
    }
  }
})

t.test('an e-mail link has one address and no other header', async (t) => {
  const long = 'a&'.repeat(200)
  const cases: Array<[address: string, href: string | undefined]> = [
    [`${long}@b.example`, undefined],
    ['a?bcc=x@b.example', 'mailto:a%3Fbcc=x@b.example'],
    ['a&bcc=x@b.example', 'mailto:a%26bcc=x@b.example'],
    ['a%3Fbcc=x@b.example', 'mailto:a%253Fbcc=x@b.example'],
    ['"><script>@b.example', 'mailto:%22%3E%3Cscript%3E@b.example']
  ]
  for (const [address, href] of cases) {
    const { app } = await seeded(t, [{ it: address }], {
      attributes: schemaOf({ it: { type: 'string', format: 'email' } })
    })
    const [found] = linksOf(isSound(t, await get(app, '/posts/1'), 200), address)
    t.equal(found?.replace('%3D', '='), href, address)
  }
})

t.test('an impossible time is shown as it is stored', async (t) => {
  const dates = ['someday', '2026-02-31', '2026-13-01', '0000-01-01', '2026-01-31T12:00:00Z', '+2026-01-31', '']
  const times = [
    'someday', '2026-02-30T12:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T23:59:60Z', '2026-01-31T12:00:00',
    '2026-01-31T12:00:00+99:00', '2026-01-31', '0000-01-01T00:00:00Z', 'x2026-01-31T12:00:00Z'
  ]
  const { app } = await seeded(
    t,
    [...dates.map((date) => ({ date })), ...times.map((time) => ({ time }))],
    {
      attributes: schemaOf({ date: { type: 'string', format: 'date' }, time: { type: 'string', format: 'date-time' } })
    }
  )
  const rows = cellsOf((await get(app, '/posts')).body)
  for (const [index, date] of dates.entries()) t.equal(rows[index]?.[0]?.content, date, `the date ${date}`)
  for (const [index, time] of times.entries()) {
    t.equal(rows[dates.length + index]?.[1]?.content, time, `the time ${time}`)
  }
})

t.test('a time has the machine-readable form of HTML (§4.5.14)', async (t) => {
  const times = ['2026-01-31T12:00:00Z', '2026-01-31t12:00:00z', '2026-01-31 12:00:00Z',
    '2026-01-31T12:00:00.123456+02:00', '2026-01-31T12:00:00.5-05:30']
  const { app } = await seeded(t, times.map((time) => ({ time })), {
    attributes: schemaOf({ time: { type: 'string', format: 'date-time' } })
  })
  const elements = isSound(t, await get(app, '/posts'), 200)
  const found = elements.filter(({ name }) => name === 'time').map(({ attributes }) => attributes.datetime ?? '')
  t.equal(found.length, times.length)
  for (const [index, time] of times.entries()) {
    t.match(found[index], /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/, time)
    t.equal(Date.parse(found[index] ?? ''), Date.parse(time.replace(' ', 'T').toUpperCase()), time)
  }
})

t.test('a long text is clipped, and the page of its row has the whole text', async (t) => {
  const text = 'x'.repeat(100)
  const cases: Array<[name: string, value: string, clipped: string | undefined]> = [
    ['a hundred characters', text, undefined],
    ['one more', `${text}y`, `${text}&#8230;`],
    ['markup where it is clipped', `${'x'.repeat(98)}<b>tail</b>`, `${'x'.repeat(98)}&lt;b&#8230;`],
    ['a character of two halves where it is clipped', `${'x'.repeat(99)}😀tail`, `${'x'.repeat(99)}&#8230;`]
  ]
  for (const [name, value, clipped] of cases) {
    await t.test(name, async (t) => {
      const { app } = await seeded(t, [{ 'first-name': value }], {
        attributes: schemaOf({ 'first-name': { type: 'string', title: 'First "name"' } })
      })
      const list = await get(app, '/posts')
      isSound(t, list, 200)
      const [[cell] = []] = cellsOf(list.body)
      t.equal(cell?.content, clipped ?? value)
      const record = isSound(t, await get(app, '/posts/1'), 200)
      t.equal(record.find(({ attributes }) => attributes.id === ':first-name')?.text, value)
    })
  }
})

/** Returns the whole line of a value without a schema. */
function lineOf (value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object' || value === null) return String(value ?? '')
  if ('toJSON' in value) return JSON.stringify(value)
  if (!Array.isArray(value)) {
    const given = Object.entries(value).filter(([, member]) => ![undefined, null, ''].includes(member as string) &&
      (typeof member !== 'object' || Object.keys(member as object).length > 0))
    return given.map(([name, member]) => typeof member === 'string' ? member : `${name} ${lineOf(member)}`).join(', ')
  }
  return value.some((item) => typeof item === 'object' && item !== null)
    ? `${value.length} ${value.length === 1 ? 'item' : 'items'}`
    : value.map(lineOf).join(', ')
}

t.test('a value is clipped by the length of its visible text', async (t) => {
  const long = 'x'.repeat(99)
  const values: unknown[] = [
    ...fc.sample(fc.jsonValue({ maxDepth: 6 }), { numRuns: 400, seed: 20261121 }),
    ...['', 'y', 'yz', '\u{1f600}', '"', '\n'].flatMap((last) => [[long + last], { a: long + last },
      [{}, long.slice(1) + last], [[long.slice(3) + last]]]),
    [undefined, {}], { a: undefined, b: 1 }, [{ a: { b: undefined } }], { at: { toJSON: 1 } },
    [{}, [], [[]], null, true, -0.5, 'a'],
    Array.from({ length: 200 }, (_, index) => index),
    Array.from({ length: 200 }, (_, index) => ({ [`a${index}`]: [index] })),
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`a${index}`, index]))
  ]
  const lists = values.filter((value) => typeof value === 'object' && value !== null)
  const { app } = await seeded(t, lists.map((it) => ({ it })), { attributes: schemaOf({ it: {} }), maxLimit: 1000 })
  const cells = cellsOf((await get(app, '/posts?limit=1000')).body)
  for (const [index, list] of lists.entries()) {
    const whole = lineOf(list)
    const clipped = whole.slice(0, /[\ud800-\udbff]/.test(whole.charAt(99)) ? 99 : 100)
    // eslint-disable-next-line no-control-regex
    const unstorable = /[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g
    t.equal(
      decode(cells[index]?.[0]?.content.split('&#8230;')[0] ?? ''),
      (whole.length > 100 ? clipped : whole)
        .toWellFormed()
        .replaceAll(unstorable, '\ufffd')
        .replaceAll(/[\u202f\u00a0]/g, ' '),
      whole.slice(0, 120)
    )
    t.equal(cells[index]?.[0]?.content.endsWith('&#8230;'), whole.length > 100)
  }
})

t.test('a list shows the first eight attributes, or the columns of the app in its order', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  const row = Object.fromEntries(names.map((name) => [name, name]))
  const attributes = schemaOf({
    secret: { type: 'string', writeOnly: true },
    ...Object.fromEntries(names.map((name) => [name, { type: 'string', title: `The ${name}` }]))
  })
  for (const [columns, expected] of [[undefined, names.slice(0, 8)], [['j', 'a'], ['j', 'a']], [[], []]] as const) {
    const { app } = await seeded(t, [row], { attributes, ...(columns !== undefined && { html: { columns } }) })
    const res = await get(app, '/posts')
    const elements = isSound(t, res, 200)
    t.strictSame(elements.filter(({ name }) => name === 'th').map(({ text }) => text),
      ['Id', ...expected.map((name) => `The ${name}`)])
    t.strictSame(cellsOf(res.body)[0]?.map(({ content }) => content), expected)
  }
})

const listed = schemaOf({
  title: { type: 'string', maxLength: 50 },
  rating: { type: ['integer', 'null'] },
  published: { type: 'boolean' },
  status: { enum: ['d', 'l'] },
  tags: { type: 'array', items: { type: 'string' } },
  body: { type: 'string' }
})
const rated = Array.from({ length: 6 }, (_, index) => ({
  title: `T${index + 1}`,
  rating: index % 3,
  published: index % 2 === 0,
  status: index < 3 ? 'd' : 'l',
  tags: [],
  body: 'B'
}))

t.test('the heading of a column sorts the list in both directions', async (t) => {
  const cases: Array<[url: string, column: string, href: string | undefined, sorted: string | undefined]> = [
    ['/posts', 'Id', '/posts?sort=-id', undefined],
    ['/posts', 'Rating', '/posts?sort=rating', undefined],
    ['/posts', 'Tags', undefined, undefined],
    ['/posts?sort=-id', 'Id', '/posts', 'descending'],
    ['/posts?sort=id', 'Id', '/posts?sort=-id', 'ascending'],
    ['/posts?sort=rating', 'Id', '/posts', undefined],
    ['/posts?sort=rating', 'Rating', '/posts?sort=-rating', 'ascending'],
    ['/posts?sort=-rating', 'Rating', '/posts?sort=rating', 'descending'],
    ['/posts?sort=-rating,title', 'Rating', '/posts?sort=rating', 'descending'],
    ['/posts?sort=-rating,title', 'Title', '/posts?sort=title', undefined],
    ['/posts.html?sort=rating&published=true&limit=2', 'Title', '/posts.html?sort=title&published=true&limit=2',
      undefined],
    ['/posts?format=html&limit=2&title=a%26b', 'Rating', '/posts?format=html&limit=2&title=a%26b&sort=rating',
      undefined],
    ['/posts?rating=', 'Rating', '/posts?rating=&sort=rating', undefined]
  ]
  for (const [url, column, href, sorted] of cases) {
    await t.test(`${url}: ${column}`, async (t) => {
      const { app } = await seeded(t, rated, { attributes: listed })
      const res = await get(app, url)
      const elements = isSound(t, res, 200)
      if (idsOf(res.body).length === 0) return
      t.strictSame(linksOf(elements, column), href === undefined ? [] : [href])
      t.equal(elements.find(({ name, text }) => name === 'th' && text === column)?.attributes['aria-sort'], sorted)
      if (href !== undefined) isSound(t, await get(app, href), 200, href)
    })
  }
})

t.test('a heading drops the position of the page', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const [next = ''] = linksOf(isSound(t, await get(app, '/posts?limit=2&sort=title&published=true'), 200), 'Next page')
  t.match(next, /after=/)
  const second = isSound(t, await get(app, next), 200)
  t.strictSame(linksOf(second, 'Rating'), ['/posts?limit=2&sort=rating&published=true'])
  t.strictSame(linksOf(second, 'First page'), ['/posts?limit=2&sort=title&published=true'])
})

t.test('a page does not offer what the store cannot do', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed, wrap: ({ capabilities: _, ...store }) => store })
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  t.strictSame(linksOf(elements, 'Rating'), [])
  t.strictSame(linksOf(elements, 'Id'), [])
  t.strictSame(parseForms(res).map(({ method }) => method), ['post'])
  const { app: none } = await seeded(t, rated, { attributes: listed, sort: [], filter: [] })
  t.strictSame(linksOf(isSound(t, await get(none, '/posts'), 200), 'Rating'), [])
  t.equal((await get(none, '/posts?blank=any')).statusCode, 400)
})

t.test('a filter offers one more condition for each attribute that it can filter by', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const res = await get(app, '/posts.html?limit=3&sort=-rating')
  isSound(t, res, 200)
  const filter = findForm(res, 'GET')
  t.equal(filter.action, '/posts.html')
  t.strictSame(filter.controls.map(({ type, name, value }) => [type, name, value]), [
    ['hidden', 'limit', '3'], ['hidden', 'sort', '-rating'], ['search', 'q', ''], ['submit', '', ''],
    ['select', 'filter[by]', ''], ['submit', '', '']
  ])
  t.strictSame(choicesOf(filter, 'filter[by]'),
    ['', 'title[contains]', 'rating[gte]', 'published', 'status', 'body[contains]'])
  t.match(res.body, /<details>\n<summary class="chip">\+ Filter/, 'the choice is folded')
  const { app: chosen } = await seeded(t, rated, {
    attributes: listed, html: { columns: ['tags', 'status'], title: 'title' }
  })
  t.strictSame(choicesOf(findForm(await get(chosen, '/posts'), 'GET'), 'filter[by]'), ['', 'title[contains]', 'status'])
  const { app: without } = await seeded(t, rated, { attributes: listed, html: { columns: ['tags'] }, search: [] })
  const unfiltered = await get(without, '/posts')
  isSound(t, unfiltered, 200)
  t.notMatch(unfiltered.body, 'class="filter"')
  const filtered = await get(without, '/posts?status=d')
  isSound(t, filtered, 200)
  t.match(
    filtered.body,
    /<div class="filter"><ul class="conditions"><li><a class="chip" href="\/posts" aria-label="Remove: Status is d">/,
    'a condition can be removed, but none can be added'
  )
})

t.test('a condition has an operator, and a value in the control of its attribute', async (t) => {
  const titled = { oneOf: [{ const: 'd', title: 'Draft' }, { const: 'l', title: 'Live' }] }
  const kinds = {
    text: { type: 'string' },
    size: { type: 'integer' },
    price: { type: 'string', format: 'decimal' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    local: { type: 'string', format: 'date-time-local' },
    clock: { type: 'string', format: 'time-local' },
    flag: { type: 'boolean' },
    state: titled,
    key: { type: 'string', format: 'uuid' }
  }
  const { app } = await seeded(t, [{ text: 'A' }], { attributes: schemaOf(kinds, ['text', 'flag']) })
  const range = (name: string): string[] => [`${name}[gte]`, `${name}[lte]`, `${name}[gt]`, `${name}[lt]`, name,
    `${name}[not]`, `${name}[null]=true`, `${name}[null]=false`]
  const cases: Array<[by: string, type: string, choices: readonly string[], operators: readonly string[]]> = [
    ['text[starts]', 'text', [], ['text[contains]', 'text[starts]', 'text', 'text[not]']],
    ['size', 'number', [], range('size')],
    ['price[gt]', 'number', [], range('price')],
    ['day[gte]', 'date', [], range('day')],
    ['at[lt]', 'datetime-local', [], range('at')],
    ['local', 'datetime-local', [], range('local')],
    ['clock', 'time', [], range('clock')],
    ['flag', 'select', ['true', 'false'], ['flag', 'flag[not]']],
    ['state[not]', 'select', ['d', 'l'], ['state', 'state[not]', 'state[null]=true', 'state[null]=false']],
    ['key', 'text', [], ['key', 'key[not]', 'key[null]=true', 'key[null]=false']],
    ['size[in]', 'text', [], [...range('size'), 'size[in]']]
  ]
  for (const [by, type, choices, operators] of cases) {
    for (const given of [{}, { 'filter[value]': '' }]) {
      const res = await get(app, `/posts?${new URLSearchParams({ sort: '-text', 'filter[by]': by, ...given })}`)
      const elements = isSound(t, res, 200, by)
      const form = findForm(res, 'GET')
      const [control] = visible(form, 'filter[value]')
      t.strictSame([control?.tag === 'select' ? 'select' : control?.type, control?.options.map(({ value }) => value)],
        [type, choices], by)
      t.equal(control?.attributes.autofocus, 'autofocus')
      t.strictSame(choicesOf(form, 'filter[by]'), operators)
      t.equal(shown(form, 'filter[by]'), by)
      t.equal(hidden(form, 'sort'), '-text', 'the sort stays')
      t.strictSame(linksOf(elements, 'Cancel'), ['/posts?sort=-text'])
      t.strictSame(linksOf(elements, 'Clear filter'), [], 'a condition without a value filters nothing')
    }
  }
  t.match((await get(app, '/posts?day[gte]=2026-01-31')).body, '>Day is on or after Jan 31, 2026 <',
    'a date is written as people read it')
  const words = await get(app, '/posts?filter[by]=day')
  t.match(words.body, '<option value="day[gte]">is on or after</option>')
  t.match(words.body, '<option value="day[null]=false">is not blank</option>')
  t.match((await get(app, '/posts?filter[by]=size')).body, '<option value="size[gte]">at least</option>')
})

t.test('a condition that a form sends filters like its parameter, and the others stay', async (t) => {
  const kinds = {
    title: { type: 'string' },
    at: { type: 'string', format: 'date-time' },
    local: { type: ['string', 'null'], format: 'date-time-local' },
    clock: { type: 'string', format: 'time-local' },
    limit: { type: 'integer' }
  }
  const row = { title: 'T', at: '2026-01-31T12:00:00Z', local: '2026-01-31T12:00:00', clock: '12:00:00', limit: 3 }
  const { app } = await seeded(
    t,
    [row, { ...row, title: 'Z', at: '2027-01-31T12:00:00Z', local: null, clock: '13:00:00', limit: 4 }],
    { attributes: schemaOf(kinds) }
  )
  const cases: Array<[by: string, value: string, chip: string, parameter: string]> = [
    ['title[contains]', 't', 'Title contains t', 'title%5Bcontains%5D=t'],
    ['at', '2026-01-31T12:00', 'At is Jan 31, 2026, 12:00 PM UTC', 'at=2026-01-31T12%3A00%3A00Z'],
    ['at[lt]', '2026-01-31T12:00:01', 'At is before Jan 31, 2026, 12:00 PM UTC', 'at%5Blt%5D=2026-01-31T12%3A00%3A01Z'],
    ['at[lt]', '2026-06-01T00:00:00Z', 'At is before Jun 1, 2026, 12:00 AM UTC', 'at%5Blt%5D=2026-06-01T00%3A00%3A00Z'],
    ['local', '2026-01-31T12:00', 'Local is Jan 31, 2026, 12:00 PM', 'local=2026-01-31T12%3A00%3A00'],
    ['clock[lte]', '12:00', 'Clock is at or before 12:00:00', 'clock%5Blte%5D=12%3A00%3A00'],
    ['local[null]=false', '', 'Local is not blank', 'local%5Bnull%5D=false'],
    ['local[null]=false', 'ignored', 'Local is not blank', 'local%5Bnull%5D=false'],
    ['limit[lt]', '4', 'Limit less than 4', 'limit%5Blt%5D=4']
  ]
  for (const [by, value, chip, parameter] of cases) {
    const res = await get(
      app,
      '/posts?sort=title&title%5Bnot%5D=x&q=&' +
        new URLSearchParams({ 'filter[by]': by, 'filter[value]': value }).toString()
    )
    const elements = isSound(t, res, 200)
    t.strictSame(idsOf(res.body), [1], by)
    t.strictSame(elements.filter(({ attributes }) => attributes.class === 'chip').map(({ text }) => text),
      ['Title is not x \u00d7', `${chip} \u00d7`, '+ Filter'])
    const [alternate = ''] = linksOf(elements, 'JSON')
    t.equal(alternate, `/posts.json?sort=title&title%5Bnot%5D=x&${parameter}`, 'the links have the parameter')
    t.strictSame((await app.inject(alternate)).json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id), [1])
  }
  const cases400: Array<[query: Record<string, string>, detail: string]> = [
    [{ 'filter[by]': 'titel' }, '"filter[by]" must be a parameter that filters the list; did you mean "title"?'],
    [{ 'filter[by]': 'title[null]=maybe' }, '"filter[by]" must be a parameter that filters the list'],
    [{ 'filter[by]': 'limit', 'filter[value]': '1' }, '"filter[by]" must be a parameter that filters the list'],
    [{ 'filter[value]': 'x' }, '"filter[value]" needs "filter[by]"']
  ]
  for (const [query, detail] of cases400) {
    const res = await app.inject(`/posts.json?${new URLSearchParams(query)}`)
    t.match([res.statusCode, res.json<{ detail: string }>().detail], [400, detail])
  }
  t.equal((await app.inject('/posts.json?filter[by]=&filter[value]=x')).statusCode, 200, 'nothing is chosen')
  t.equal((await app.inject('/posts.json?filter[by]=title')).json<{ posts: unknown[] }>().posts.length, 2,
    'a document ignores a condition without a value')
})

t.test('a refused condition returns the list, with the error at the field and the typed text', async (t) => {
  const { app } = await seeded(t, rated, {
    attributes: {
      ...listed,
      properties: {
        ...listed.properties, day: { type: 'string', format: 'date' }, at: { type: 'string', format: 'date-time' }
      }
    }
  })
  const cases: Array<[query: Record<string, string>, name: string, type: string, error: string]> = [
    [{ 'rating[gte]': 'many' }, 'filter[value]', 'text', 'Must be an integer'],
    [{ 'filter[by]': 'rating[gte]', 'filter[value]': '1.5' }, 'filter[value]', 'number', 'Must be an integer'],
    [{ 'filter[by]': 'day[lt]', 'filter[value]': '2026-02-31' }, 'filter[value]', 'text',
      'Must be a date such as 2026-01-31'],
    [{ 'filter[by]': 'at', 'filter[value]': '2026-02-31T12:00Z' }, 'filter[value]', 'text',
      'Must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ 'filter[by]': 'published', 'filter[value]': 'perhaps' }, 'filter[value]', 'text', 'Must be true or false'],
    [{ 'title[contains]': 'x'.repeat(201) }, 'filter[value]', 'text', 'Must have at most 200 characters'],
    [{ 'title[in]': '\\n' }, 'filter[value]', 'text',
      'Has a backslash without a meaning; write "\\," for a comma, and "\\\\" for a backslash'],
    [{ 'rating[null]': 'maybe' }, 'filter[value]', 'text', 'Must be true or false'],
    [{ q: ' ' }, 'q', 'search', 'Must have a word']
  ]
  for (const [query, name, type, error] of cases) {
    const res = await get(app, `/posts?${new URLSearchParams({ sort: '-id', status: 'd', ...query })}`)
    const elements = isSound(t, res, 400, error)
    t.strictSame(idsOf(res.body), [3, 2, 1], 'the other conditions still apply')
    const [control] = visible(findForm(res, 'GET'), name)
    const typed = query['filter[value]'] ?? Object.values(query)[0]
    t.strictSame([control?.type, control?.value, control?.attributes['aria-invalid']], [type, typed, 'true'])
    t.equal(elements.find(({ attributes }) => attributes.id === control?.attributes['aria-describedby'])?.text, error)
    t.strictSame(linksOf(elements, 'Rating'), ['/posts?sort=rating&status=d'], 'links have no refused condition')
    t.equal(res.headers['cache-control'], 'private, no-cache')
  }
  const both = await get(app, '/posts?rating[gte]=x&rating[lt]=y')
  isSound(t, both, 400)
  t.match(both.body, /<h1>Bad Request<\/h1>[^]*&quot;rating\[lt\]&quot; must be an integer/,
    'the form has the fields of one condition')
  t.equal((await app.inject('/posts.json?rating[gte]=x')).json<{ detail: string }>().detail,
    '"rating[gte]" must be an integer')
  t.match((await get(app, '/posts?sort=nope')).body, '<h1>Bad Request</h1>')
})

t.test('an own view of lists gets no refused condition, which has an error page then', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed, html: { views: { list: (page) => page.title } } })
  const res = await get(app, '/posts?rating[gte]=x')
  t.match([res.statusCode, res.body], [400, '<h1>Bad Request</h1>'])
})

t.test('a handler of the list gets the conditions that are not refused', async (t) => {
  const filters: unknown[] = []
  const { app } = await seeded(t, rated, {
    attributes: listed,
    actions: {
      list: ({ query, proceed }) => {
        filters.push(query.filter)
        return proceed()
      }
    }
  })
  const res = await get(app, '/posts?rating[gte]=x&status=d')
  isSound(t, res, 400)
  t.strictSame(filters, [[{ attribute: 'status', operator: 'eq', value: 'd' }]])
  t.match(res.body, '<p class="error" id="filter!error">Must be an integer</p>')
})

t.test('a list without a filterable column has no filter', async (t) => {
  const { app } = await seeded(t, [{ body: 'B' }], {
    attributes: schemaOf({ body: { type: 'string' } }), search: [], filter: []
  })
  const res = await get(app, '/posts')
  isSound(t, res, 200)
  t.strictSame(parseForms(res).map(({ method }) => method), ['post'])
})

t.test('each condition of a list is a link that removes it', async (t) => {
  const { app } = await seeded(t, rated, {
    attributes: {
      ...listed,
      properties: {
        ...listed.properties,
        kind: { oneOf: [{ type: 'string', const: 'd', title: 'Draft' }, { type: 'string', const: 'l', title: 'Live' }] }
      }
    }
  })
  const chipsOf = (body: string): string[] => [
    ...body.matchAll(/<li><a class="chip" href="([^"]*)" aria-label="Remove: ([^"]*)">(.*?) <span>/g)
  ].map(([, href = '', label = '', text = '']) => {
    t.equal(label, text)
    return `${text} ${href.replaceAll('&amp;', '&')}`
  })
  const cases: Array<[query: string, chips: string[]]> = [
    ['', []],
    ['?q=T', []],
    ['?title=T3', ['Title is T3 /posts']],
    ['?published=1&sort=title', ['Published is yes /posts?sort=title']],
    ['?published=false&status=d', ['Published is no /posts?status=d', 'Status is d /posts?published=false']],
    ['?status=other', ['Status is other /posts']],
    ['?kind=d', ['Kind is Draft /posts']],
    ['?title=', ['Title is blank /posts']],
    ['?rating=', ['Rating is blank /posts']],
    ['?rating[gte]=3&rating=4', ['Rating at least 3 /posts?rating=4', 'Rating is 4 /posts?rating%5Bgte%5D=3']]
  ]
  for (const [query, chips] of cases) {
    const res = await get(app, `/posts${query}`)
    isSound(t, res, 200)
    t.strictSame(chipsOf(res.body), chips, query)
    t.notMatch(res.body, /<details open/)
  }
})

t.test('the links between pages of a filtered list omit blank fields', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const first = await get(app, '/posts?limit=2&blank=any&published=true&title=&rating=')
  const [next = ''] = linksOf(isSound(t, first, 200), 'Next page')
  t.match(next, /^\/posts\?limit=2&published=true&after=[\w-]+$/)
  t.equal(first.headers.link,
    `</posts?limit=2&published=true>; rel="self", </posts?limit=2&published=true>; rel="first", <${next}>; rel="next"`)
  t.strictSame([idsOf(first.body), idsOf((await get(app, next)).body)], [[1, 3], [5]])
})

t.test('"blank" has one valid value, and changes only blank parameters', async (t) => {
  const { app } = await seeded(t, [...rated, { title: '', rating: null }], { attributes: listed })
  for (const blank of ['', 'none', 'ANY', 'any ', 'true']) {
    for (const format of ['html', 'xml', 'json']) {
      t.equal((await app.inject(`/posts.${format}?blank=${encodeURIComponent(blank)}`)).statusCode, 400,
        `${format} ${blank}`)
    }
  }
  t.equal((await get(app, '/posts?blank=any&blank=any')).statusCode, 400)
  t.match((await app.inject('/posts.json?rating=&title=')).json(), { posts: [{ id: 7 }] },
    'without it a blank value is a filter')
  t.strictSame((await app.inject('/posts.json?rating=&blank=any')).json<{ posts: unknown[] }>().posts.length, 7)
  t.equal((await app.inject('/posts.json?blank=any&nope=')).statusCode, 400, 'an unknown parameter stays unknown')
  t.equal((await app.inject('/posts.json?blank=any&limit=')).statusCode, 400, 'a blank limit is invalid')
  t.equal((await app.inject('/posts.json?blank=any&sort=')).statusCode, 400)
})

t.test('an attribute that is named like a parameter is shown, but cannot be filtered by', async (t) => {
  const names = ['blank', 'format', 'limit', 'after', 'sort']
  const { app } = await seeded(
    t,
    [Object.fromEntries(names.map((name) => [name, name]))],
    {
      attributes: schemaOf({
        ...Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 9 }])),
        title: { type: 'string', maxLength: 9 }
      })
    }
  )
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  t.strictSame(choicesOf(findForm(res, 'GET'), 'filter[by]'),
    ['', ...names.map((name) => `${name}[contains]`), 'title[contains]'])
  t.strictSame(linksOf(elements, 'Blank'), ['/posts?sort=blank'])
  t.equal((await get(app, '/posts?sort=-blank')).statusCode, 200)
})

t.test('an attribute may be named like a method of Object.prototype', async (t) => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf']
  const attributes = schemaOf(Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 9 }])))
  const { app } = await seeded(t, [{ constructor: 'c' }, {}], { attributes })
  const res = await get(app, '/posts')
  isSound(t, res, 200)
  t.notMatch(res.body, /native code|open="open"|Clear filter/)
  t.strictSame(choicesOf(findForm(res, 'GET'), 'filter[by]'), ['', ...names.map((name) => `${name}[contains]`)])
  t.strictSame(cellsOf(res.body).map((cells) => cells.map(({ content }) => content).join()), ['c,,,,', ',,,,'])
  t.strictSame(idsOf((await get(app, '/posts?constructor=c')).body), [1])
  const { app: empty } = await seeded(t, [], { attributes })
  t.match((await get(empty, '/posts')).body, 'There are no posts yet')
  const record = await get(app, '/posts/2')
  isSound(t, record, 200)
  for (const name of names) t.equal(shown(findForm(record, 'PUT'), `post[${name}]`), '', name)
  const other = await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[toString]': 'too long for it' }),
    undefined, html))
  isSound(t, other, 422)
  t.equal(shown(findForm(other, 'PUT'), 'post[toString]'), 'too long for it')
})

t.test('a list without rows says what to do', async (t) => {
  const { app } = await seeded(t, [], { name: 'blogPosts', attributes: listed })
  const empty = isSound(t, await get(app, '/blogPosts'), 200)
  t.match(empty.find(({ attributes }) => attributes.class === 'empty')?.text,
    /^There are no blog posts yet\s*Create the first blog post with the form below\.$/)
  t.strictSame(linksOf(empty, 'New blog post'), ['#new'])
  t.notOk(empty.some(({ name }) => name === 'details' || (name === 'table')), 'there is nothing to filter')
  const filtered = isSound(t, await get(app, '/blogPosts?rating=5&sort=title'), 200)
  t.match(filtered.find(({ attributes }) => attributes.class === 'empty')?.text,
    /^No blog posts match the filter\s*See all blog posts$/)
  t.strictSame(linksOf(filtered, 'See all blog posts'), ['/blogPosts'])
  t.strictSame(linksOf(filtered, 'Clear filter'), ['/blogPosts?sort=title'])
})

t.test('a page behind the last row does not say that the list is empty', async (t) => {
  const { app, store } = await seeded(t, rated.slice(0, 3), { attributes: listed, html: { pageSize: 2 } })
  const [next = ''] = linksOf(isSound(t, await get(app, '/posts'), 200), 'Next page')
  store.delete(3, { version: undefined, scope: {} })
  const elements = isSound(t, await get(app, next), 200)
  t.strictSame(linksOf(elements, 'First page'), ['/posts'])
  t.notMatch(elements.find(({ name }) => name === 'main')?.text, /There are no posts yet/)
})

t.test('a list and a record link to themselves in the other formats', async (t) => {
  const csv = {
    name: 'csv',
    mediaTypes: ['text/csv'],
    compileWriter: () => ({
      record: () => 'r', problem: () => 'p', list: { open: 'o', row: () => 'r', separator: '', close: 'c' }
    })
  }
  const { app } = await seeded(t, rated, { attributes: listed, formats: ['html', 'json', csv, 'xml'] })
  for (const [url, hrefs] of [
    ['/posts', ['/posts.json', '/posts.csv', '/posts.xml']],
    ['/posts.html', ['/posts.json', '/posts.csv', '/posts.xml']],
    [
      '/posts?format=html&sort=-rating&published=true',
      ['/posts.json?sort=-rating&published=true', '/posts.csv?sort=-rating&published=true',
        '/posts.xml?sort=-rating&published=true']
    ],
    ['/posts?limit=2', ['/posts.json?limit=2', '/posts.csv?limit=2', '/posts.xml?limit=2']],
    ['/posts/1', ['/posts/1.json', '/posts/1.csv', '/posts/1.xml']],
    ['/posts/1.html', ['/posts/1.json', '/posts/1.csv', '/posts/1.xml']]
  ] as const) {
    const res = await get(app, url)
    const elements = isSound(t, res, 200)
    t.strictSame(
      elements.filter(({ attributes }) => attributes.rel === 'alternate').map(({ attributes: { href, type } }) => [href,
        type]),
      hrefs.map((href, index) => [href, ['application/json', 'text/csv', 'application/xml'][index]]),
      url
    )
    t.strictSame(['JSON', 'CSV', 'XML'].flatMap((text) => linksOf(elements, text)), hrefs)
    const json = (await app.inject(hrefs[0])).json<{ posts?: Array<{ id: number }>, post?: { id: number } }>()
    if (url.startsWith('/posts/')) t.equal(json.post?.id, 1)
    else t.strictSame(json.posts?.map(({ id }) => id), idsOf(res.body), url)
  }
  t.strictSame(isSound(t, await get(app, '/posts/99'), 404).filter(({ attributes }) => attributes.rel === 'alternate'),
    [])
})

t.test('a page with a limit links to the same page in other formats', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const [next = ''] = linksOf(isSound(t, await get(app, '/posts?limit=2'), 200), 'Next page')
  const second = await get(app, next)
  t.strictSame(idsOf(second.body), [3, 4])
  const [alternate = ''] = linksOf(isSound(t, second, 200), 'JSON')
  t.strictSame((await app.inject(alternate)).json<{ posts: Array<{ id: number }> }>().posts.map(({ id }) => id), [3, 4])
})

t.test('a record shows every attribute in full', async (t) => {
  const long = `a\n\n<b>${'x'.repeat(500)}\r\n"c"\t`
  const { app } = await seeded(t, [{
    text: long,
    flag: false,
    list: ['a', '<i>'],
    empty: [],
    at: '2026-01-31T12:00:00Z',
    mail: 'a@b.c',
    author: { name: 'N', site: 'https://a.example', born: null, more: { deep: [1, 2] } },
    people: [{ name: 'A\nB' }, {}],
    made: 'by us',
    secret: 'SECRET',
    inner: { seen: 1, hidden: 'SECRET' },
    numbers: [0, -1.5],
    nothing: null,
    any: { 'a b': [true, { c: null }] }
  }], {
    attributes: schemaOf({
      text: { type: 'string' },
      flag: { type: 'boolean' },
      list: { type: 'array', items: { type: 'string' } },
      empty: { type: 'array', items: { type: 'string' } },
      at: { type: 'string', format: 'date-time' },
      mail: { type: 'string', format: 'email' },
      author: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Full <name>' },
          site: { type: 'string', format: 'uri' },
          born: { type: ['string', 'null'] },
          more: { type: 'object', properties: { deep: { type: 'array', items: { type: 'integer' } } } }
        }
      },
      people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      made: { type: 'string', readOnly: true },
      secret: { type: 'string', writeOnly: true },
      inner: { type: 'object', properties: { seen: { type: 'integer' }, hidden: { type: 'string', writeOnly: true } } },
      numbers: { type: 'array', items: { type: 'number' } },
      nothing: { type: ['string', 'null'] },
      missing: { type: 'string' },
      any: {}
    })
  })
  const res = await get(app, '/posts/1')
  isSound(t, res, 200)
  t.notMatch(res.body, 'SECRET')
  t.strictSame(valuesOf(res.body.replaceAll(/[\u202f\u00a0]/g, ' ')), {
    Id: '1',
    Text: `a<br/><br/>&lt;b&gt;${'x'.repeat(500)}&#13;<br/>&quot;c&quot;&#9;`,
    Flag: 'no',
    List: '<ul class="values"><li>a</li><li>&lt;i&gt;</li></ul>',
    Empty: '',
    At: '<time datetime="2026-01-31T12:00:00Z">Jan 31, 2026, 12:00 PM UTC</time>',
    Mail: '<a href="mailto:a@b.c">a@b.c</a>',
    Author: '<dl class="values"><div><dt>Full &lt;name&gt;</dt><dd>N</dd></div><div><dt>Site</dt><dd><a ' +
      'href="https://a.example" rel="nofollow noreferrer">https://a.example</a></dd></div><div><dt>Born</dt><dd>' +
      '</dd></div><div><dt>More</dt><dd><dl class="values"><div><dt>Deep</dt><dd><ul class="values"><li>1</li><li>' +
      '2</li></ul></dd></div></dl></dd></div></dl>',
    People: '<ul class="values"><li><dl class="values"><div><dt>Name</dt><dd>A<br/>B</dd></div></dl></li><li></li>' +
      '</ul>',
    Made: 'by us',
    Inner: '<dl class="values"><div><dt>Seen</dt><dd>1</dd></div></dl>',
    Numbers: '<ul class="values"><li>0</li><li>-1.5</li></ul>',
    Nothing: '',
    Missing: '',
    Any: '<dl class="values"><div><dt>a b</dt><dd><ul class="values"><li>yes</li><li><dl class="values"><div><dt>' +
      'c</dt><dd></dd></div></dl></li></ul></dd></div></dl>'
  })
  t.strictSame(findForm(res, 'PUT').controls.filter(({ name }) => /made|inner/.test(name)), [],
    'a value that is readOnly or shown only in part is not edited')
  t.match(res.body, '<p class="kept"><strong>Inner</strong> stays as it is; this form cannot show all of it.</p>')
})

t.test('an option inside an array or an object is shown by its title', async (t) => {
  const choice = { oneOf: [{ const: 'd', title: 'Draft' }, { const: 'l', title: 'Live' }] }
  const { app } = await seeded(
    t,
    [{ list: ['d'], object: { state: 'l' } }],
    {
      attributes: schemaOf({
        list: { type: 'array', uniqueItems: true, items: choice },
        object: { type: 'object', properties: { state: choice } }
      })
    }
  )
  const { List, Object: object } = valuesOf((await get(app, '/posts/1')).body)
  t.match(List, '<li><span class="badge b0">Draft</span></li>')
  t.match(object, '<dd><span class="badge b1">Live</span></dd>')
})

t.test('an id of the page never equals that of an attribute', async (t) => {
  const names = ['edit', 'new', 'problem', 'main', 'id_', 'create']
  for (const attributes of [schemaOf(Object.fromEntries(names.map((name) => [name, { type: 'string' }]))), undefined]) {
    const { app } = await seeded(
      t,
      [Object.fromEntries(names.map((name) => [name, 'x'.repeat(200)]))],
      { ...(attributes !== undefined && { attributes }), singular: 'filter' }
    )
    isSound(t, await get(app, '/posts'), 200)
    isSound(t, await get(app, '/posts/1'), 200)
    isSound(t, await post(app, { _method: 'PUT', id: '1', _version: '0', 'filter[edit]': 'y' }), 412)
    isSound(t, await post(app, { _method: 'DELETE', id: '1', _version: '0' }), 412)
  }
})

t.test('an undeclared value of a row is not sent in a form', async (t) => {
  const open = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const { app } = await seeded(
    t,
    [{ group: { a: 'x', inside: 'SECRET' }, json: [[{ a: 'x', inside: 'SECRET' }]] }],
    { attributes: schemaOf({ group: open, json: { type: 'array', items: { type: 'array', items: open } } }) }
  )
  for (const res of [
    await get(app, '/posts'), await get(app, '/posts/1'),
    await post(app, '_method=PUT&id=1&_version=0&post[group][a]=y&post[json]=[]&post[json][?]=json'),
    await post(app, '_method=PUT&id=1&_version=1&post[group][nope]=y')
  ]) {
    t.notMatch(res.body, 'SECRET', String(res.statusCode))
  }
})

t.test('a record is deleted after a confirmation that needs no script', async (t) => {
  for (const writes of ['collection', 'member', 'both'] as const) {
    const { app, store } = await seeded(t, [{ title: 'T' }], { attributes: listed, writes })
    const res = await get(app, '/posts/1')
    isSound(t, res, 200)
    const [, asked = ''] = /<details class="danger">([^]*?)<\/details>/.exec(res.body) ?? []
    t.match(
      asked,
      new RegExp(String.raw`^\s*<summary class="button plain">Delete this post</summary>\s*` +
        String.raw`<div class="card"><p>Post 1 will be deleted permanently\.</p>`)
    )
    const deletion = findForm(asked, 'DELETE')
    t.match(buttonsOf(deletion), [{ label: 'Yes, delete it' }])
    t.equal(hidden(deletion, '_version'), '1')
    store.update(1, { title: 'U' }, { version: undefined, scope: {} })
    const stale = await app.inject(submit(deletion, undefined, html))
    isSound(t, stale, 412)
    t.equal(valuesOf(stale.body).Title, 'U')
    t.match(await app.inject(submit(findForm(stale, 'DELETE'), undefined, html)), {
      statusCode: 303, headers: { location: '/posts' }
    })
    t.equal(store.get(1, {}), undefined)
    isSound(t, await app.inject(submit(deletion, undefined, html)), 404)
  }
})

const strict = schemaOf({
  title: { type: 'string', minLength: 2, maxLength: 9, title: 'The title' },
  rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
  state: { enum: ['a', 'b'] },
  many: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
  boxes: { type: 'array', uniqueItems: true, maxItems: 1, items: { enum: ['x', 'y'] } },
  lines: { type: 'array', items: { type: 'integer' } },
  at: { type: 'string', format: 'date-time' },
  mail: { type: 'string', format: 'email' },
  agreed: { const: true },
  author: {
    type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' } }
  },
  people: {
    type: 'array',
    minItems: 3,
    items: {
      type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2, title: 'Full name' } }
    }
  },
  json: { type: 'object', additionalProperties: { type: 'integer' } },
  secret: { type: 'string', minLength: 5, writeOnly: true },
  note: { type: 'string' }
}, ['title'])

/** Returns the links of the error summary, each with its text. */
function summaryOf (page: string): Array<[href: string | undefined, text: string]> {
  const [, summary = ''] = /<div class="problem"[^>]*>[^]*?<ul>([^]*?)<\/ul>/.exec(page) ?? []
  return [...summary.matchAll(/<li>(?:<a href="([^"]*)">)?([^<]*)/g)].map(([, href, text = '']) => [href, decode(text)])
}

t.test('an invalid form comes back with all typed values, and shows each error beside its field', async (t) => {
  const sent = [
    ['post[title]', 'x'], ['post[rating]', '9 '], ['post[rating][?]', 'null'], ['post[state]', 'zzz'],
    ['post[many]', 'g'], ['post[boxes][]', ''], ['post[boxes][]', 'x'], ['post[boxes][]', 'y'],
    ['post[lines]', '1\r\ntwo'],
    ['post[at]', '2026-02-31T12:00'], ['post[at][?][offset]', '+02:00'], ['post[mail]', 'no address'],
    ['post[agreed]', 'false'], ['post[author][name]', 'N'], ['post[author][age]', 'old'],
    ['post[people]', ''], ['post[people][0][name]', 'Ann'], ['post[people][1][name]', 'B'], ['post[json]', '{"a":"b"}'],
    ['post[json][?]', 'json'], ['post[secret]', 'SECR'], ['post[note]', '\r\n kept <b> ']
  ] as const
  for (const [
    method, title, heading
  ] of [['POST', 'Problem: New post – Posts', 'New post'],
      ['PUT', 'Problem: Edit post 1 – Posts', 'Edit post 1']] as const) {
    await t.test(method, async (t) => {
      const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict })
      const res = await app.inject(send({ action: '/posts', method: 'post', controls: [] },
        method === 'PUT' ? [['_method', 'PUT'], ['id', '1'], ['_version', '1'], ...sent] : sent, html))
      const elements = isSound(t, res, 422)
      t.equal(elements.find(({ name }) => name === 'title')?.text, title)
      t.equal(elements.find(({ name }) => name === 'h1')?.text, heading)
      t.notMatch(res.body, 'SECR')
      const again = findForm(res, method)
      for (const [
        name, value
      ] of Object.entries({
          'post[title]': 'x',
          'post[lines]': '1\ntwo',
          'post[at]': '',
          'post[mail]': 'no address',
          'post[author][name]': 'N',
          'post[author][age]': '',
          'post[people][0][name]': 'Ann',
          'post[people][1][name]': 'B',
          'post[json]': '{"a":"b"}',
          'post[note]': '\n kept <b> '
        })) {
        const [control] = visible(again, name)
        // A control that takes only valid text would empty itself, so invalid text needs a control that takes any.
        t.equal(control?.attributes.value ?? control?.value,
          name === 'post[at]' ? '2026-02-31T12:00' : name === 'post[author][age]' ? 'old' : value, name)
      }
      t.equal(shown(again, 'post[rating]'), '9 ')
      t.equal(shown(again, 'post[state]'), 'zzz', 'an invalid option is offered once more, as it was sent')
      t.equal(shown(again, 'post[many]'), 'g')
      t.strictSame(shown(again, 'post[boxes][]'), ['x', 'y'])
      t.equal(visible(again, 'post[secret]')[0]?.attributes.value, '')
      t.match(res.body, 'Type it again: it is never shown.')
      const summary = summaryOf(res.body)
      t.strictSame(
        summary.map(([href]) => href),
        [
          '#post:title', '#post:rating', '#post:state', '#post:many', '#post:boxes', '#post:lines', '#post:at',
          '#post:mail', '#post:agreed', '#post:author:name', '#post:author:age', '#post:people', '#post:people:1:name',
          '#post:json', '#post:secret'
        ].filter((href) => summary.some(([other]) => other === href))
      )
      t.match(new Map(summary.map(([href, text]) => [href, text])), new Map([
        ['#post:title', 'The title must have at least 2 characters'],
        ['#post:rating', 'Rating must be at most 5'],
        ['#post:lines', 'Line 2 must be an integer'],
        ['#post:author:age', 'Author: Age must be an integer'],
        ['#post:secret', 'Secret must have at least 5 characters']
      ]))
      // The summary is the first element of the content, so that nobody overlooks it.
      t.match(
        res.body,
        new RegExp('<main id="main">\\s*(?:<p [^>]*class="notice".*\\s*)+<h1>[^<]*</h1>\\s*<div class="problem" ' +
          'role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="problem-heading">')
      )
      for (const [href = ''] of summary) {
        const target = elements.find(({ attributes }) => attributes.id === decodeURIComponent(href.slice(1)))
        t.ok(target !== undefined && ['input', 'select', 'textarea', 'fieldset'].includes(target.name), href)
        const message = elements.find(({ attributes }) => attributes.id === `${href.slice(1)}!error`)
        t.equal(message?.name, 'p', `${href} has its message`)
        t.ok(
          elements.some(({ attributes }) => (attributes['aria-describedby'] ?? '').split(' ').includes(
            `${href.slice(1)}!error`
          )),
          `the message describes ${href}`
        )
        if (target?.name !== 'fieldset' &&
          !['radio', 'checkbox', 'datetime-local'].includes(target?.attributes.type ?? '')) {
          t.equal(target?.attributes['aria-invalid'], 'true', href)
        }
      }
      t.strictSame(
        elements.filter(({ attributes }) => attributes['aria-invalid'] !== undefined).filter(({ attributes }) =>
          !summary.some(
            ([href]) => href === `#${String(attributes.id)}`
          )),
        [],
        'no other field has an error'
      )
    })
  }
})

t.test('an error without a field is shown as well', async (t) => {
  const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict })
  const cases: Array<[payload: string, says: string[], kept: string | undefined]> = [
    ['post[title]=ok&post[titel]=x', ['titel is unknown; did you mean "title"?'], 'ok'],
    ['post[title]=ok&post[<b>]=x', ['<b> is unknown'], 'ok'],
    ['post[title]=ok&post[author][name]=Ann&post[author][nope]=x', ['author.nope is unknown; did you mean "name"?'],
      'ok'],
    ['post[title]=ok&post[people][0][name]=Ann&post[people][0][nope]=x',
      ['people.0.nope is unknown; did you mean "name"?'], 'ok'],
    ['post[title]=ok&post[lines][]=1&post[lines][]=x', ['Line 2 must be an integer'], 'ok']
  ]
  for (const [payload, says, kept] of cases) {
    const res = await post(app, payload.replaceAll('<', '%3C').replaceAll('>', '%3E'))
    isSound(t, res, 422, payload)
    for (const text of says) {
      t.ok(summaryOf(res.body).some(([, found]) => found === text),
        `${payload}: ${JSON.stringify(summaryOf(res.body))}`)
    }
    t.equal(shown(findForm(res, 'POST'), 'post[title]'), kept)
  }
  const page = await post(app, 'post[title]=ok&psot[title]=x')
  isSound(t, page, 422)
  t.match(page.body, 'psot is unknown beside &quot;post&quot;; did you mean &quot;post&quot;?')
})

t.test('a taken value is reported beside its field, and no typed value is lost', async (t) => {
  const attributes = schemaOf({ title: { type: 'string', maxLength: 9 }, body: { type: 'string' } })
  const { app } = await seeded(
    t, [{ title: 'A', body: '' }, { title: 'B', body: 'b' }], { attributes, unique: ['title'] }
  )
  for (const [method, at] of [['POST', '/posts'], ['PUT', '/posts/2']] as const) {
    const before = findForm(await get(app, at), method)
    const res = await app.inject(submit(fill(before, { 'post[title]': 'A', 'post[body]': '\n typed' }), undefined,
      html))
    const elements = isSound(t, res, 409)
    t.match(elements.find(({ name }) => name === 'title')?.text, /^Problem: /)
    t.strictSame(summaryOf(res.body), [['#post:title', 'Title is already taken']])
    t.equal(elements.find(({ attributes }) => attributes.id === 'post:title!error')?.text, 'Is already taken')
    const again = findForm(res, method)
    t.strictSame([shown(again, 'post[title]'), shown(again, 'post[body]')], ['A', '\n typed'])
    t.equal((await app.inject(submit(fill(again, { 'post[title]': method }), undefined, html))).statusCode, 303)
  }
  t.match((await app.inject('/posts.json')).json(), {
    posts: [{ title: 'A' }, { title: 'PUT', body: '\n typed' }, { title: 'POST', body: '\n typed' }]
  })
})

t.test('a form that comes back keeps its version, so that no concurrent change is lost', async (t) => {
  const { app, store } = await seeded(
    t, [{ title: 'Old', note: 'n' }, { title: 'Taken' }], { attributes: strict, unique: ['title'] }
  )
  const change = (note: string): unknown => store.update(1, { note }, { version: undefined, scope: {} })
  for (const [title, status] of [['x', 422], ['Taken', 409]] as const) {
    const version = store.get(1, {})?.version
    const opened = findForm(await get(app, '/posts/1'), 'PUT')
    if (status === 422) change('theirs 422')
    const res = await app.inject(submit(fill(opened, { 'post[title]': title }), undefined, html))
    isSound(t, res, status)
    change(`theirs ${status}`)
    const again = findForm(res, 'PUT')
    t.equal(hidden(again, '_version'), version)
    t.equal(hidden(again, 'post[?][was]'), hidden(opened, 'post[?][was]'))
    t.equal(shown(again, 'post[note]'), shown(opened, 'post[note]'), 'the page shows the typed value')
    isSound(t, await app.inject(submit(fill(again, { 'post[title]': 'Better' }), undefined, html)), 412)
    t.equal(store.get(1, {})?.attributes.note, `theirs ${status}`)
  }
})

const contested = schemaOf({
  title: { type: 'string', minLength: 1, maxLength: 50 },
  body: { type: 'string' },
  rating: { type: ['integer', 'null'], maximum: 5 },
  published: { type: 'boolean', default: false },
  state: { enum: ['a', 'b', 'c'] },
  tags: { type: 'array', items: { type: 'string' } },
  boxes: { type: 'array', uniqueItems: true, items: { enum: ['x', 'y'] } },
  at: { type: ['string', 'null'], format: 'date-time' },
  author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
  people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
  json: { type: 'object', additionalProperties: true },
  secret: { type: 'string', writeOnly: true },
  made: { type: 'string', readOnly: true }
}, ['title', 'published', 'state'])
const contestedRow = {
  title: 'T',
  body: 'B\nb',
  rating: 3,
  published: true,
  state: 'a',
  tags: ['a', 'b'],
  boxes: ['x'],
  at: '2026-01-31T12:00:00.000Z',
  author: { name: 'N', age: 5 },
  people: [{ name: 'P' }],
  json: { k: [1] },
  secret: 'SECRET',
  made: 'M'
}
const theirs = {
  title: 'T2',
  body: 'B2',
  rating: null,
  published: false,
  state: 'b',
  tags: [],
  boxes: ['x', 'y'],
  at: null,
  author: { name: 'N2' },
  people: [{ name: 'P' }, { name: 'Q' }],
  json: { k: [2] }
}

/** Returns the attributes that differ on the page of a conflict, with the selected side of each. */
function conflictsOf (page: LightMyRequestResponse): Record<string, string> {
  const { controls } = findForm(page, 'PUT')
  return Object.fromEntries(controls
    .filter(({ name, checked }) => name.endsWith('[?][keep]') && checked)
    .map(({ name, value }) => [name.slice('post['.length, -'][?][keep]'.length), value]))
}

function keep (name: string): string {
  return `post[${name}][?][keep]`
}

t.test('the page of a conflict shows yours beside theirs', async (t) => {
  for (const name of Object.keys(theirs) as Array<keyof typeof theirs>) {
    await t.test(name, async (t) => {
      const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
      const opened = findForm(await get(app, '/posts/1'), 'PUT')
      store.update(1, { [name]: theirs[name] }, { version: undefined, scope: {} })
      const res = await app.inject(submit(opened, undefined, html))
      const elements = isSound(t, res, 412)
      t.equal(elements.find(({ name }) => name === 'h1')?.text, 'This post has been changed meanwhile')
      t.notMatch(res.body, 'SECRET')
      t.strictSame(conflictsOf(res), { [name]: 'theirs' }, 'an untouched attribute takes their value')
      t.equal((await app.inject(submit(findForm(res, 'PUT'), undefined, html))).statusCode, 303)
      t.strictSame(store.get(1, {})?.attributes, { ...contestedRow, [name]: theirs[name] })
    })
    await t.test(`${name}, and mine after all`, async (t) => {
      const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
      const opened = findForm(await get(app, '/posts/1'), 'PUT')
      store.update(1, { [name]: theirs[name] }, { version: undefined, scope: {} })
      const res = await app.inject(submit(opened, undefined, html))
      t.equal(
        (await app.inject(submit(fill(findForm(res, 'PUT'), { [keep(name)]: 'yours' }), undefined, html))).statusCode,
        303
      )
      t.strictSame(store.get(1, {})?.attributes, contestedRow, 'I keep the value that was in the form')
    })
  }
})

t.test('if both changed an attribute, mine is kept by default', async (t) => {
  const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
  const opened = fill(findForm(await get(app, '/posts/1'), 'PUT'), {
    'post[title]': 'Mine <b>', 'post[body]': '\nmine', 'post[tags]': 'x\ny', 'post[secret]': 'changed'
  })
  store.update(1, { title: 'Theirs <i>', rating: 1, tags: ['x', 'y'] }, { version: undefined, scope: {} })
  const res = await app.inject(submit(opened, undefined, html))
  isSound(t, res, 412)
  t.strictSame(conflictsOf(res), { title: 'yours', rating: 'theirs' },
    'nobody else has changed the body, and tags are the same in both')
  t.match(res.body, '<div class="value" dir="auto">Theirs &lt;i&gt;</div>')
  t.match(res.body, '<div class="value" dir="auto">1</div>')
  const page = findForm(res, 'PUT')
  t.strictSame(
    [shown(page, 'post[title]'), shown(page, 'post[body]'), shown(page, 'post[rating]'), shown(page, 'post[tags]')],
    ['Mine <b>', '\nmine', '3', 'x\ny']
  )
  t.equal(hidden(page, '_version'), '2')
  t.notMatch(res.body, 'changed"', 'a secret is not shown')
  t.match(res.body, 'Type it again: it is never shown.')
  t.strictSame(linksOf(elementsOf(res.body), 'Leave it as it is'), ['/posts/1'])
  t.equal((await app.inject(submit(page, undefined, html))).statusCode, 303)
  t.match(store.get(1, {})?.attributes, { title: 'Mine <b>', body: '\nmine', rating: 1, tags: ['x', 'y'] })
})

t.test('an attribute that keeps their value is left out of the update', async (t) => {
  let updated: Attributes | undefined
  const { app, store } = await seeded(t, [contestedRow], {
    attributes: contested,
    wrap: (store) => ({
      ...store, update (id, changes, guard) { updated = changes; return store.update(id, changes, guard) }
    })
  })
  const opened = fill(findForm(await get(app, '/posts/1'), 'PUT'), { 'post[title]': 'Mine' })
  store.update(1, { title: 'Theirs', body: 'Theirs' }, { version: undefined, scope: {} })
  const page = await app.inject(submit(opened, undefined, html))
  const chosen = fill(findForm(page, 'PUT'), { [keep('title')]: 'theirs', [keep('body')]: 'theirs', 'post[title]': '' })
  updated = undefined
  t.equal((await app.inject(submit(chosen, undefined, html))).statusCode, 303,
    'a value that is not kept need not be valid')
  t.equal(updated, undefined, 'nothing is written')
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', body: 'Theirs' })
})

t.test('a second conflict keeps the typed values and the choices', async (t) => {
  const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
  const opened = fill(findForm(await get(app, '/posts/1'), 'PUT'), { 'post[title]': 'Mine', 'post[body]': 'mine' })
  store.update(1, { title: 'Theirs', body: 'theirs', rating: 1 }, { version: undefined, scope: {} })
  const first = await app.inject(submit(opened, undefined, html))
  const chosen = fill(findForm(first, 'PUT'), {
    [keep('title')]: 'theirs', 'post[body]': 'mine, more', [keep('rating')]: 'yours', 'post[tags]': 'new'
  })
  store.update(1, { title: 'Theirs again', state: 'c' }, { version: undefined, scope: {} })
  const second = await app.inject(submit(chosen, undefined, html))
  isSound(t, second, 412)
  t.strictSame(conflictsOf(second), { title: 'theirs', body: 'yours', rating: 'yours', state: 'theirs' })
  const page = findForm(second, 'PUT')
  t.strictSame([shown(page, 'post[title]'), shown(page, 'post[body]'), shown(page, 'post[tags]')],
    ['Mine', 'mine, more', 'new'], 'the typed values of attributes that keep theirs are still there')
  t.equal((await app.inject(submit(page, undefined, html))).statusCode, 303)
  t.match(store.get(1, {})?.attributes, {
    title: 'Theirs again', body: 'mine, more', rating: 3, state: 'c', tags: ['new']
  })
})

t.test('an invalid form of a conflict comes back with the choices', async (t) => {
  const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
  const opened = fill(findForm(await get(app, '/posts/1'), 'PUT'), { 'post[title]': 'Mine', 'post[rating]': '9' })
  store.update(1, { title: 'Theirs', body: 'theirs' }, { version: undefined, scope: {} })
  const mistaken = await app.inject(submit(opened, undefined, html))
  isSound(t, mistaken, 422, 'what is wrong is told first')
  const stale = await app.inject(submit(fill(findForm(mistaken, 'PUT'), { 'post[rating]': '4' }), undefined, html))
  isSound(t, stale, 412)
  const chosen = fill(findForm(stale, 'PUT'), { [keep('title')]: 'theirs', 'post[rating]': '9' })
  const again = await app.inject(submit(chosen, undefined, html))
  isSound(t, again, 422)
  t.strictSame(
    [shown(findForm(again, 'PUT'), 'post[title]'), shown(findForm(again, 'PUT'), keep('title')),
      shown(findForm(again, 'PUT'), 'post[rating]')],
    ['Mine', 'theirs', '9']
  )
  t.equal((await app.inject(submit(fill(findForm(again, 'PUT'), { 'post[rating]': '5' }), undefined, html))).statusCode,
    303)
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', body: 'theirs', rating: 5 })
})

t.test('an attribute that a form left out or kept as theirs is not blank when the form comes back', async (t) => {
  for (const [status, ErrorClass] of [[503, UnavailableError], [507, StoreFullError], [500, Error]] as const) {
    for (const payload of ['post[title]=typed&post[body]=mine&post[body][?][keep]=theirs', 'post[title]=typed']) {
      await t.test(`${status} ${payload}`, async (t) => {
        let isDown = true
        const { app, store } = await seeded(t, [{ title: 'T', body: 'precious' }], {
          attributes: schemaOf({ title: { type: 'string' }, body: { type: 'string' } }, ['title', 'body']),
          wrap: (store) => ({
            ...store,
            update (id, changes, guard) { if (isDown) throw new ErrorClass(); return store.update(id, changes, guard) }
          })
        })
        const res = await post(app, `_method=PUT&id=1&_version=1&${payload}`)
        isSound(t, res, status)
        const form = findForm(res, 'PUT')
        t.equal(shown(form, 'post[title]'), 'typed')
        isDown = false
        await app.inject(submit(form, undefined, html))
        t.match(store.get(1, {})?.attributes, { title: 'typed', body: 'precious' })
      })
    }
  }
})

t.test('a form comes back with the typed values if the store is unavailable', async (t) => {
  for (const [status, ErrorClass] of [[503, UnavailableError], [507, StoreFullError], [500, Error]] as const) {
    const { app } = await seeded(t, [{ title: 'T' }], {
      attributes: listed, wrap: (store) => ({ ...store, create () { throw new ErrorClass() } })
    })
    const res = await post(app, { 'post[title]': '<typed>' })
    isSound(t, res, status)
    t.equal(shown(findForm(res, 'POST'), 'post[title]'), '<typed>')
  }
})

t.test('the page of an error has the same design and reveals nothing', async (t) => {
  const inside = new Error('INSIDE /etc/secret')
  const broken = (store: MemoryStore): Store => ({
    ...store,
    get (id) {
      if (id === 500) throw inside
      if (id === 503) throw new UnavailableError({ cause: inside })
      if (id === 507) throw new StoreFullError({ cause: inside })
      return store.get(id, {})
    },
    list () { throw inside }
  })
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed, requireMatch: true, wrap: broken })
  const big = 'x'.repeat(2_000_000)
  const cases: Array<[status: number, title: string, request: InjectOptions, says: RegExp]> = [
    [400, 'Bad Request', { url: '/posts?nope=<b>' }, /the parameter &quot;nope&quot; is unknown/],
    [400, 'Bad Request', { url: '/posts?after=x' }, /&quot;after&quot; must come from a &quot;next&quot; link/],
    [400, 'Bad Request',
      { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: 'post[title=%FF' }, /./],
    [400, 'Bad Request', { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=PATCH' },
      /_method/],
    [
      403,
      'Forbidden',
      {
        method: 'POST',
        url: '/posts',
        headers: { 'content-type': form, 'sec-fetch-site': 'cross-site' },
        payload: 'post[title]=T'
      },
      /another site/
    ],
    [404, 'Not Found', { url: '/posts/99' }, /there is no post with the id 99/],
    [404, 'Not Found', { url: '/posts/%3Cb%3E' }, /there is no post with the id &quot;&lt;b&gt;&quot;/],
    [405, 'Method Not Allowed', { method: 'DELETE', url: '/posts/1' }, /DELETE is not allowed here/],
    [406, 'Not Acceptable', { url: '/posts?format=yaml' }, /there is no format &quot;yaml&quot;/],
    [413, 'Payload Too Large',
      { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: `post[title]=${big}` }, /./],
    [
      415,
      'Unsupported Media Type',
      { method: 'POST', url: '/posts', headers: { 'content-type': 'text/plain' }, payload: 'x' },
      /text\/plain cannot be read here/
    ],
    [
      428,
      'Precondition Required',
      { method: 'POST', url: '/posts', headers: { 'content-type': form }, payload: '_method=DELETE&id=1' },
      /send If-Match with the ETag/
    ],
    [500, 'Internal Server Error', { url: '/posts' }, /something went wrong on the server/],
    [500, 'Internal Server Error', { url: '/posts/500' }, /something went wrong on the server/],
    [503, 'Service Unavailable', { url: '/posts/503' }, /the store is not available now/],
    [507, 'Insufficient Storage', { url: '/posts/507' }, /the store is full/]
  ]
  for (const [status, title, request, says] of cases) {
    for (const accept of ['text/html', 'application/xhtml+xml']) {
      await t.test(`${status} ${String(request.url)} as ${accept}`, async (t) => {
        const res = await app.inject({ ...request, headers: { ...request.headers, accept } })
        const elements = isSound(t, res, status)
        t.equal(res.headers['content-type'], `${accept}; charset=utf-8`)
        t.equal(elements.find(({ name }) => name === 'h1')?.text, title)
        t.equal(elements.find(({ name }) => name === 'title')?.text, `${title} – Posts`)
        t.match(res.body, says)
        t.notMatch(res.body, /INSIDE|secret|node_modules|at \w+ \(/)
        t.strictSame(linksOf(elements, 'Posts'), ['/posts', '/posts'])
        if (status === 405) t.match(res.headers.allow, 'GET')
        if (status === 503) t.equal(res.headers['retry-after'], '1')
        t.equal(
          (await app.inject({
            ...request, headers: { ...request.headers, accept: 'application/json' }
          })).headers['content-security-policy'],
          undefined
        )
      })
    }
  }
})

t.test('an error of the app\'s own hooks has such a page too', async (t) => {
  const app = await build(t, { name: 'posts', attributes: listed }, {
    before: (app) => {
      app.addHook('onRequest', (request, _reply, done) => {
        done(
          request.headers.authorization === undefined
            ? Object.assign(new Error('who are you, <b>?'), { statusCode: 401 })
            : undefined
        )
      })
    }
  })
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 401)
  t.equal(elements.find(({ name }) => name === 'h1')?.text, 'Unauthorized')
  t.match(res.body, 'who are you, &lt;b&gt;?')
})

t.test('pages have our policy, with the directives that the app adds or replaces', async (t) => {
  const own = {
    'content-security-policy': "img-src 'none'", 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer'
  }
  const cases: Array<[option: HtmlOptions['contentSecurityPolicy'], header: string | undefined]> = [
    [undefined, policy],
    [{}, policy],
    [{ 'img-src': "'self' https://a.example" }, `${policy}; img-src 'self' https://a.example`],
    [
      { 'frame-ancestors': "'self'", 'style-src': "'self' 'unsafe-inline'" },
      "default-src 'none'; style-src 'self' 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors " +
        "'self'"
    ],
    [{ 'upgrade-insecure-requests': '' }, `${policy}; upgrade-insecure-requests`],
    [false, undefined]
  ]
  for (const [contentSecurityPolicy, header] of cases) {
    await t.test(JSON.stringify(contentSecurityPolicy) ?? 'nothing', async (t) => {
      const { app } = await seeded(t, [{ title: 'T' }], {
        attributes: listed, ...(contentSecurityPolicy !== undefined && { html: { contentSecurityPolicy } })
      })
      for (const url of ['/posts', '/posts/1', '/posts/99', '/posts?nope']) {
        const { headers } = await get(app, url)
        t.strictSame(
          [headers['content-security-policy'], headers['x-content-type-options'], headers['referrer-policy']],
          [header, 'nosniff', 'same-origin'],
          url
        )
        const head = await app.inject({ method: 'HEAD', url, headers: html })
        t.equal(head.headers['content-security-policy'], header)
        for (const accept of ['application/xml', 'application/json']) {
          const other = await app.inject({ url, headers: { accept } })
          t.strictSame(
            ['content-security-policy', 'x-content-type-options', 'referrer-policy'].map((name) => other.headers[name]),
            [undefined, 'nosniff', undefined],
            `${accept} ${url}`
          )
        }
      }
    })
  }
  const app = await build(
    t,
    { name: 'posts', attributes: listed, html: { contentSecurityPolicy: false } },
    { before: (app) => { app.addHook('onRequest', async (_request, reply) => { reply.headers(own) }) } }
  )
  t.match((await app.inject('/posts.json')).headers, own, 'the app\'s other headers stay')
  t.equal((await get(app, '/posts')).headers['content-security-policy'], "img-src 'none'")
})

async function stylesheetOf (app: FastifyInstance, url: string): Promise<string> {
  const [, href = ''] = /<link rel="stylesheet" href="([^"]*)"\/>/.exec((await get(app, url)).body) ?? []
  return decode(href)
}

t.test('the stylesheet is a separate file that never changes', async (t) => {
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed })
  const url = await stylesheetOf(app, '/posts')
  t.match(url, /^\/posts\/pages\.[\da-f]{16}\.css$/)
  for (const page of ['/posts/1', '/posts/99', '/posts?nope']) t.equal(await stylesheetOf(app, page), url, page)
  for (const accept of ['text/css,*/*;q=0.1', 'application/json', 'text/html', 'nonsense', undefined]) {
    const res = await app.inject({ url, headers: accept === undefined ? {} : { accept } })
    t.match(
      res,
      {
        statusCode: 200,
        headers: {
          'content-type': 'text/css; charset=utf-8',
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff'
        }
      },
      String(accept)
    )
    t.match(res.body, /^:root\{/)
    t.notMatch(res.body, /@import|url\(|expression|<\//)
  }
  const head = await app.inject({ method: 'HEAD', url })
  t.match(head, { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, body: '' })
  t.equal(Number(head.headers['content-length']), Buffer.byteLength((await app.inject(url)).body))
  t.equal((await get(app, `${url}?v=1`)).statusCode, 200)
  t.match(
    await get(app, url.replace(/[\da-f]{16}/, '0000000000000000')),
    { statusCode: 200, headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'private, no-cache' } },
    'a page of another process gets the current stylesheet, which it may not cache'
  )
  for (const other of [url.replace(/[\da-f]{16}/, ''), url.replace(/[\da-f]{16}/, 'x'), `${url}x`,
    url.replace('.css', '.css.map'), url.replace('pages', 'page')]) {
    isSound(t, await get(app, other), 404, other)
  }
  isSound(t, await app.inject({ method: 'DELETE', url, headers: html }), 405)
  t.equal((await post(app, 'post[title]=x', url)).statusCode, 405)
})

t.test('another accent gives another stylesheet', async (t) => {
  const urls = []
  for (const accent of ['#1d5fd1', '#1D5FD1', '#f00', '#ff0000', '#00ff00']) {
    const { app } = await seeded(t, [], { attributes: listed, html: { accent } })
    urls.push(await stylesheetOf(app, '/posts'))
  }
  t.equal(urls[0], urls[1], 'the same colour gives the same stylesheet')
  t.equal(urls[2], urls[3])
  t.equal(new Set(urls).size, 3)
})

t.test('each resource has its stylesheet under its own path, where the app\'s hooks guard it', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (request.headers.authorization === undefined) return await reply.code(401).send('who?')
    })
    scope.register(resources, { name: 'posts', attributes: listed, prefix: '/a & b/"x"' })
  })
  app.register(resources, { name: 'people', attributes: listed, html: { accent: '#f00' }, prefix: '/日本' })
  app.register(resources, { name: 'people', attributes: listed, html: { accent: '#0f0' } })
  await app.ready()
  const guarded = await app.inject({ url: encodeURI('/a & b/"x"/posts'), headers: { ...html, authorization: 'me' } })
  isSound(t, guarded, 200)
  const [, href = ''] = /<link rel="stylesheet" href="([^"]*)"\/>/.exec(guarded.body) ?? []
  const url = decode(href)
  t.match(url, /^\/a%20&%20b\/%22x%22\/posts\/pages\.\w+\.css$/)
  t.match(await app.inject(url), { statusCode: 401, headers: { 'cache-control': 'private, no-cache' } })
  t.equal((await app.inject({ url, headers: { authorization: 'me' } })).statusCode, 200)
  for (const [
    path, found
  ] of [['/people', '/people/pages.'], [encodeURI('/日本/people'), `${encodeURI('/日本')}/people/pages.`]] as const) {
    const sheet = await stylesheetOf(app, path)
    t.ok(sheet.startsWith(found), sheet)
    t.equal((await app.inject(sheet)).statusCode, 200)
  }
})

t.test('every link and every form of a page under a prefix works', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const store = memoryStore({ id: 'uuid' })
  const rows = [store.create({ title: 'x'.repeat(200) }, {}), store.create({ title: 'b' }, {})]
  app.register(resources, {
    name: 'blog-posts',
    store,
    id: 'uuid',
    attributes: schemaOf({ title: { type: 'string' }, n: { type: 'integer' } }),
    prefix: '/a & "b"/é',
    html: { pageSize: 1 }
  })
  await app.ready()
  const path = encodeURI('/a & "b"/é/blog-posts')
  for (const start of [path, `${path}.html?sort=-n`, `${path}/${String(rows[0]?.id)}`, `${path}/nope`]) {
    const res = await get(app, start)
    const elements = isSound(t, res, start.endsWith('nope') ? 404 : 200, start)
    const hrefs = new Set(elements.flatMap(({ attributes: { href } }) => href === undefined || href.startsWith('#')
      ? []
      : [href.split('#')[0] as string]))
    for (const href of hrefs) t.equal((await get(app, href)).statusCode, 200, href)
    for (const form of parseForms(res).filter((form) => form.method === 'get')) {
      t.equal((await app.inject(submit(form, undefined, html))).statusCode, 200, form.action)
    }
  }
  const record = await get(app, `${path}/${String(rows[0]?.id)}`)
  t.match(
    await app.inject(submit(fill(findForm(record, 'PUT'), { 'blog-post[title]': 'new' }), undefined, html)),
    { statusCode: 303, headers: { location: `${path}/${String(rows[0]?.id)}` } }
  )
  t.match(await app.inject(submit(findForm(await get(app, path), 'POST'), undefined, html)), { statusCode: 303 })
})

t.test('a resource without a schema has the columns of its rows', async (t) => {
  const { app } = await seeded(t, [{ title: 'T', n: 5 }, { n: true, firstName: 'F', nested: { a: [1] } }])
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  t.strictSame(elements.filter(({ name }) => name === 'th').map(({ text }) => text),
    ['Id', 'title', 'n', 'firstName', 'nested', 'Name', 'Value'])
  t.strictSame(cellsOf(res.body).map((row) => row.map(({ content }) => content)),
    [['T', '5', '', ''], ['', 'yes', 'F', 'a 1']])
  t.strictSame(parseForms(res).map(({ method }) => method), ['post'])
  const { app: chosen } = await seeded(t, [{ title: 'T', n: 5 }], { html: { columns: ['n', 'nope'] } })
  t.strictSame(cellsOf((await get(chosen, '/posts')).body).map((row) => row.map(({ content }) => content)), [['5', '']])
  isSound(t, await get((await seeded(t, [])).app, '/posts'), 200)
})

t.test('a resource without a schema is created and changed by rows of name and value', async (t) => {
  const { app, store } = await seeded(t, [])
  const created = await app.inject(submit(
    fill(findForm(await get(app, '/posts'), 'POST'), {
      'post[?][0][name]': 'title', 'post[?][0][value]': ' T\n', 'post[?][2][name]': 'empty'
    }),
    undefined,
    html
  ))
  t.match(created, { statusCode: 303, headers: { location: '/posts/1' } })
  t.strictSame(store.get(1, {})?.attributes, { title: ' T', empty: '' })
  store.update(1, { n: 5, list: ['a'], nested: { a: null }, nothing: null }, { version: undefined, scope: {} })
  const record = await get(app, '/posts/1')
  isSound(t, record, 200)
  const edit = findForm(record, 'PUT')
  t.strictSame(['title', 'n', 'list', 'nested', 'nothing'].map((name) => shown(edit, `post[${name}]`)),
    [' T', '5', '[\n  "a"\n]', '{\n  "a": null\n}', ''])
  t.equal((await app.inject(submit(edit, undefined, html))).statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes,
    { title: ' T', empty: '', n: 5, list: ['a'], nested: { a: null }, nothing: null }, 'nothing has changed')
  const more = await app.inject(submit(fill(edit, { 'post[title]': 'typed', 'post[?][0][name]': 'more' }),
    findButton(edit, 'post[?][?][add]'), html))
  isSound(t, more, 200)
  t.strictSame([shown(findForm(more, 'PUT'), 'post[title]'), shown(findForm(more, 'PUT'), 'post[more]')], ['typed', ''])
})

t.test('a row with an invalid name comes back as a row, so that it can be renamed', async (t) => {
  const { app, store } = await seeded(t, [])
  for (const name of ['my name', 'a[b]', '1st', '<b>', '?', '', 'a:b', '__proto__', 'x]']) {
    await t.test(name === '' ? 'no name' : name, async (t) => {
      const res = await app.inject(submit(
        fill(findForm(await get(app, '/posts'), 'POST'), {
          'post[?][0][name]': name, 'post[?][0][value]': 'V', 'post[?][1][name]': 'good', 'post[?][1][value]': 'W'
        }),
        undefined,
        html
      ))
      isSound(t, res, 422)
      const again = findForm(res, 'POST')
      const row = again.controls.find((control) => control.name.endsWith('][name]') && control.value === name &&
        name !== '') ?? again.controls.find(
        (control) => control.name.endsWith('][name]')
      )
      t.ok(row !== undefined && (name === '' || row.value === name), 'the name can be changed')
      if (row === undefined) return
      t.equal((await app.inject(submit(fill(again, { [row.name]: 'better' }), undefined, html))).statusCode, 303)
      t.match((await app.inject('/posts.json')).json(), { posts: [{ better: 'V', good: 'W' }] })
      for (const { id } of (await app.inject('/posts.json')).json<{ posts: Array<{ id: number }> }>().posts) {
        store.delete(id, { version: undefined, scope: {} })
      }
    })
  }
})

t.test('a row that is named id is refused without losing typed values', async (t) => {
  const { app } = await seeded(t, [])
  for (const value of ['5', 'x']) {
    const res = await app.inject(submit(
      fill(findForm(await get(app, '/posts'), 'POST'), {
        'post[?][0][name]': 'id', 'post[?][0][value]': value, 'post[?][1][name]': 'good', 'post[?][1][value]': 'typed'
      }),
      undefined,
      html
    ))
    isSound(t, res, 422)
    t.match(res.body, 'value="typed"')
  }
})

t.test('a stored name that no client could send is shown, and survives saving the form', async (t) => {
  const odd = {
    'a b': 1, 'x"y<z>': 2, 'q[r]': 3, '?': 4, '': 5, 'a\tb': 6, '\ud800': 7, 'é:ü': 8, a_b: 9, constructor: 10
  }
  const { app, store } = await seeded(t, [{ ...odd, good: 'G' }])
  isSound(t, await get(app, '/posts'), 200)
  const record = await get(app, '/posts/1')
  isSound(t, record, 200)
  const saved = await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[good]': 'H' }), undefined, html))
  t.equal(saved.statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, { ...odd, good: 'H' })
})

t.test('an untouched form does not change a text that no format can carry', async (t) => {
  for (const value of ['\ud800', 'a\u0000b', '\uffff']) {
    for (const schema of [{ type: 'string' }, { type: 'string', maxLength: 20 },
      { type: 'array', items: { type: 'string' } }]) {
      const { app, store } = await seeded(
        t,
        [{ it: 'items' in schema ? [value] : value, other: 'x' }],
        { attributes: schemaOf({ it: schema, other: { type: 'string' } }) }
      )
      const record = await get(app, '/posts/1')
      isSound(t, record, 200)
      await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[other]': 'y' }), undefined, html))
      t.strictSame(store.get(1, {})?.attributes.it, 'items' in schema ? [value] : value,
        `${JSON.stringify(value)} ${JSON.stringify(schema)}`)
    }
  }
})

t.test('every kind of page is sent as XHTML on request', async (t) => {
  const xhtml = { accept: 'application/xhtml+xml' }
  const { app } = await seeded(t, [{ ...contestedRow, body: '\n<&>"\r' }], { attributes: contested })
  const requests: Array<[status: number, request: InjectOptions]> = [
    [200, { url: '/posts' }], [200, { url: '/posts/1' }], [404, { url: '/posts/9' }],
    [422, { method: 'POST', url: '/posts', payload: 'post[title]=' }],
    [422, { method: 'POST', url: '/posts', payload: '_method=PUT&id=1&post[rating]=x' }],
    [412,
      { method: 'POST', url: '/posts', payload: '_method=PUT&id=1&_version=0&post[title]=x&post[people][0][name]=x' }],
    [412, { method: 'POST', url: '/posts', payload: '_method=DELETE&id=1&_version=0' }],
    [200, { method: 'POST', url: '/posts', payload: 'post[people][?][add]=1&post[body]=%0Ax' }]
  ]
  for (const [status, request] of requests) {
    const res = await app.inject({
      ...request, headers: { ...xhtml, ...(request.method === 'POST' && { 'content-type': form }) }
    })
    isSound(t, res, status, String(request.payload ?? request.url))
    t.equal(res.headers['content-type'], 'application/xhtml+xml; charset=utf-8')
    const same = await app.inject({
      ...request, headers: { ...html, ...(request.method === 'POST' && { 'content-type': form }) }
    })
    t.equal(same.headers['content-type'], types.html)
    t.strictSame(
      parseForms(res).map(({ controls }) => controls.map(({ name, value }) => [name, value])),
      parseForms(same).map(({ controls }) => controls.map(({ name, value }) => [name, value])),
      'the forms are the same'
    )
  }
})

/** Texts that break out of their context unless they are escaped. */
const attacks = [
  '"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>",
  '</textarea></title></style><script>alert(1)</script>', '" autofocus onfocus="alert(1)', '<!--', ']]>',
  '&lt;script&gt;', '&#60;script&#62;', '#{alert(1)}{{alert(1)}}<%= alert(1) %>', '<svg/onload=alert(1)>',
  '\u2028<b>\u202e', 'javascript:alert(1)//https://a.example', '%22%3E%3Cscript%3E', '+ADw-script+AD4-'
]

t.test('a malicious stored value is shown as text', async (t) => {
  const kinds = {
    line: { type: 'string', maxLength: 200 },
    text: { type: 'string' },
    uri: { type: 'string', format: 'uri' },
    url: { type: 'string', format: 'url' },
    mail: { type: 'string', format: 'email' },
    date: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    list: { type: 'array', items: { type: 'string' } },
    object: { type: 'object', properties: { a: { type: 'string' } } },
    rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
    json: { type: 'object', additionalProperties: true },
    any: {},
    choice: { enum: ['a', 'b'] },
    many: { enum: ['a', 'b', 'c', 'd', 'e', 'f'] },
    flag: { type: 'boolean' },
    number: { type: 'integer' }
  }
  for (const attack of attacks) {
    const long = attack.repeat(20)
    const row = {
      line: attack,
      text: long,
      uri: `https://${attack}`,
      url: `https://a.example/${attack}`,
      mail: attack,
      date: attack,
      at: attack,
      list: [attack, long],
      object: { a: attack, [attack]: attack },
      rows: [{ a: attack }],
      json: { [attack]: attack },
      any: [attack, { a: attack }],
      choice: attack,
      many: attack,
      flag: attack,
      number: attack
    }
    for (const attributes of [schemaOf(kinds), undefined]) {
      const { app } = await seeded(t, [attributes === undefined ? { ...row, [attack]: attack } : row, {}],
        attributes === undefined ? {} : { attributes })
      for (const url of ['/posts', '/posts/1']) {
        const elements = isSound(t, await get(app, url), 200, `${url} ${attack}`)
        t.ok(elements.some(({ name, text }) => (name === 'td' || name === 'dd') && text.includes(attack)),
          'the text can be read')
      }
      if (attributes === undefined) continue
      const conflict = await post(
        app,
        new URLSearchParams([
          ['_method', 'PUT'], ['id', '1'], ['_version', '0'],
          ...['line', 'text', 'uri'].map((name): [string, string] => [`post[${name}]`,
            name === 'uri' ? 'https://a.example' : `mine ${attack}`])
        ]).toString()
      )
      t.ok(isSound(t, conflict, 412, attack).some(({ name, text }) => name === 'div' && text === attack),
        'their text beside mine')
    }
  }
})

t.test('a malicious sent value comes back as text', async (t) => {
  const names = Object.keys(strict.properties)
  const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict, singular: 'post' })
  const { app: open } = await seeded(t, [{ title: 'Old' }])
  let turn = 0
  // Each attack meets each payload in one of the two resources, by turns.
  const nextTarget = (): FastifyInstance => turn++ % 2 === 0 ? app : open
  for (const attack of attacks) {
    const encoded = encodeURIComponent(attack)
    const noBrackets = encodeURIComponent(attack.replaceAll(/[[\]]/g, ''))
    const payloads = [
      names.map((name) => `post[${name}]=${encoded}`).join('&'),
      names.map((name) => `post[${name}][]=${encoded}&post[${name}][]=`).join('&'),
      names.map((name) => `post[${name}][0][name]=${encoded}&post[${name}][${noBrackets}]=x`).join('&'),
      ...['?', '?][was', '?][offset', '?][keep', '?][add', '?][remove', '?][x'].map((mark) => names.map(
        (name) => `post[${name}][${encodeURIComponent(mark).replaceAll('%5D%5B', '][')}]=${encoded}&post[${name}]=x`
      ).join('&')),
      `post[?][was]=${encoded}&post[title]=`, `post[?][0][name]=${encoded}&post[?][0][value]=${encoded}`,
      `post[?][${noBrackets}][name]=x&post[title]=`, `post[${noBrackets}]=${encoded}`, `${noBrackets}=x`,
      `_method=${encoded}`, `_method=PUT&id=${encoded}&post[title]=x`,
      `_method=PUT&id=1&_version=${encoded}&post[title]=x`,
      `_method=PUT&id=1&_version=${encoded}&post[title]=typed&post[title][?][keep]=${encoded}&post[?][was]=${encoded}`,
      `id=${encoded}&id=2`, `commit=${encoded}&post[title]=`, `post[title]=${encoded}&post[title]=${encoded}`
    ]
    for (const payload of payloads) {
      const res = await post(nextTarget(), payload)
      if (res.statusCode !== 303) isSound(t, res, res.statusCode, payload)
      t.ok(res.statusCode < 500, payload)
    }
    for (const url of [
      `/posts?${encoded}=x`, `/posts?sort=${encoded}`, `/posts?title=${encoded}`,
      `/posts?title=${encoded}&sort=-title&limit=1`, `/posts?format=${encoded}`, `/posts?after=${encoded}`,
      `/posts?limit=${encoded}`, `/posts?blank=${encoded}`, `/posts/${encoded}`, `/posts/1?x=${encoded}`,
      `/posts/${encoded}.html`
    ]) {
      const res = await get(nextTarget(), url)
      isSound(t, res, res.statusCode, url)
      t.ok(res.statusCode < 500, url)
    }
    // An odd number of requests for each attack, so that the next one meets them in the other resource.
    turn += (turn + 1) % 2
  }
})

t.test('no header of a request gets into a page unescaped', async (t) => {
  const { app } = await seeded(t, [{ title: 'T' }], { attributes: listed })
  // 14 headers meet the three requests by turns, so that each header has met each request after three attacks.
  const requests: readonly InjectOptions[] = [{ url: '/posts' }, { url: '/posts/1' },
    { method: 'POST', url: '/posts', payload: 'post[title]=' }]
  let turn = 0
  for (const attack of attacks.filter((text) => /^[\x20-\x7e]*$/.test(text))) {
    for (const header of [
      'host', 'origin', 'referer', 'x-forwarded-host', 'x-forwarded-prefix', 'forwarded', 'content-type',
      'content-encoding', 'if-match', 'if-none-match', 'sec-fetch-site', 'user-agent', 'accept-language', 'accept'
    ]) {
      const request = requests[turn++ % requests.length]
      const res = await app.inject({
        ...request,
        headers: { 'content-type': form, ...html, [header]: header === 'accept' ? `text/html, ${attack}` : attack }
      })
      t.ok(res.statusCode < 500, `${header}: ${attack}`)
      if (String(res.headers['content-type']).startsWith('text/html')) {
        isSound(t, res, res.statusCode, `${header}: ${attack}`)
      }
      const links = [...res.body.matchAll(/(?:href|action)="([^"]*)"/g)].map(([, href]) => href)
      t.strictSame(links.filter((href) => !/^[/#]/.test(href ?? '')), [], header)
    }
  }
})

t.test('the texts of an app are escaped', async (t) => {
  for (const attack of attacks) {
    const words = { title: attack, description: attack }
    const { app } = await seeded(t, [{ a: 'x', b: ['x'], c: { d: 'x' }, e: [{ d: 'x' }], f: 'x'.repeat(200) }], {
      attributes: schemaOf({
        a: { oneOf: [{ const: 'x', title: attack }, { const: attack, title: 'y' }], ...words },
        b: { type: 'array', items: { type: 'string', ...words }, ...words },
        c: { type: 'object', properties: { d: { type: 'string', pattern: '"><b>', ...words } }, ...words },
        e: { type: 'array', items: { type: 'object', properties: { d: { type: 'integer', ...words } } }, ...words },
        f: { type: 'string', ...words },
        g: { enum: [attack, `${attack}2`] },
        h: { type: 'array', uniqueItems: true, items: { enum: [attack, 'z'] } },
        i: { type: 'string', default: attack }
      }),
      html: {
        messages: {
          plural: attack,
          singular: attack,
          id: attack,
          save: attack,
          optional: attack,
          skip: attack,
          breadcrumb: attack,
          next: attack,
          asJson: attack,
          oneALine: attack,
          problemTitle: () => attack,
          phrases: { 'is unknown': attack }
        }
      }
    })
    for (const url of ['/posts', '/posts?g=', '/posts/1', '/posts/9']) {
      isSound(t, await get(app, url), url.endsWith('9') ? 404 : 200, `${url} ${attack}`)
    }
    isSound(t, await post(app, 'post[zzzzzzzzz]=1&post[a]=no&post[c][d]=x&post[e][0][d]=x'), 422, attack)
    isSound(t, await post(app, '_method=PUT&id=1&_version=0&post[f]=1&post[i]=2'), 412, attack)
  }
})

t.test('the message of an app\'s error is escaped', async (t) => {
  for (const attack of attacks) {
    const app = await build(
      t,
      { name: 'posts', attributes: listed },
      {
        before: (app) => {
          app.addHook('onRequest', (_request, _reply, done) => {
            done(Object.assign(new Error(attack), { statusCode: 418 }))
          })
        }
      }
    )
    const elements = isSound(t, await get(app, '/posts'), 418, attack)
    t.equal(elements.find(({ name }) => name === 'li')?.text, 'Posts')
    t.ok(elements.some(({ name, text }) => name === 'li' && text === attack))
  }
})

// Quadratic work would take minutes here, and tap would end the test.
t.test('a field of a megabyte is answered', async (t) => {
  const size = 1_000_000
  const { app } = await seeded(t, [{ title: 'T' }], {
    attributes: schemaOf({
      title: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      date: { type: 'string', format: 'date' },
      number: { type: 'number' },
      mail: { type: 'string', format: 'email' },
      uri: { type: 'string', format: 'uri' },
      list: { type: 'array', items: { type: 'string', format: 'date-time' } },
      rows: { type: 'array', items: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } } },
      json: {}
    })
  })
  const zeros = '0'.repeat(size)
  const moment = '2026-01-31T12:00:00'
  const payloads: Array<[name: string, payload: string]> = [
    ['zeros in an offset', `post[at]=${moment}&post[at][?][was]=${moment}Z&post[at][?][offset]=.${zeros}x`],
    ['zeros in an offset of a row',
      `post[rows][0][at]=${moment}&post[rows][0][at][?][was]=${moment}Z&post[rows][0][at][?][offset]=.${zeros}x`],
    ['white space in an offset',
      `post[at]=${moment}&post[at][?][was]=${moment}Z&post[at][?][offset]=${'+'.repeat(size)}x`],
    ['a long fraction', `post[at]=${moment}.${zeros}Z`],
    ['a long fraction with an offset', `post[at]=${moment}.${zeros}&post[at][?][offset]=Z&post[at][?][was]=${moment}Z`],
    ['a long text before', `post[at]=${moment}&post[at][?][offset]=Z&post[at][?][was]=${moment}.${zeros}x`],
    ['times one after the other', `post[at]=${moment.repeat(size / 20)}`],
    ['lines of times', `post[list]=${`${moment}%0A`.repeat(size / 30)}`],
    ['a date of zeros', `post[date]=${zeros}`],
    ['a number of zeros', `post[number]=0.${zeros}x`],
    ['digits', `post[number]=${zeros}1`],
    ['an address', `post[mail]=${'a.'.repeat(size / 2)}`],
    ['a URL', `post[uri]=http://${'a:'.repeat(size / 2)}`],
    ['brackets as JSON', `post[json][?]=json&post[json]=${'['.repeat(size)}`],
    ['what was there before', `_method=PUT&id=1&_version=0&post[title]=x&post[?][was]=${'title+'.repeat(size / 6)}`],
    ['percent signs before', `_method=PUT&id=1&_version=0&post[title]=x&post[?][was]=${'%25+'.repeat(size / 4)}`],
    ['a version', `_method=PUT&id=1&post[title]=x&_version=${zeros}`],
    ['an id', `_method=PUT&id=${zeros}&post[title]=x`],
    ['a choice', `_method=PUT&id=1&_version=0&post[title]=x&post[title][?][keep]=${zeros}`],
    ['a mark', `post[title][?]=${zeros}&post[title]=`],
    ['the name of a button', `post[rows][?][remove]=${zeros}`],
    ['the number of a row', `post[rows][${zeros}1][at]=x&post[rows][?][add]=1`],
    ['the name of an attribute', `post[${'a'.repeat(size)}]=x`],
    ['a thousand rows',
      Array.from({ length: 999 }, (_, index) => `post[rows][${index}][at]=${'x'.repeat(1000)}`).join('&')],
    ['a thousand rows and one more',
      `${Array.from({ length: 998 }, (_, index) => `post[rows][${index}][at]=x`).join('&')}&post[rows][?][add]=1`],
    ['a thousand names', Array.from({ length: 1000 }, (_, index) => `post[${'n'.repeat(900)}${index}]=x`).join('&')],
    [
      'a thousand rows of names',
      Array.from({ length: 500 }, (_, index) =>
        `post[?][${index}][name]=${'n'.repeat(900)}${index}&post[?][${index}][value]=v`).join('&')
    ]
  ]
  for (const [name, payload] of payloads) {
    const res = await post(app, payload)
    t.ok(res.statusCode < 500, `${name}: ${res.statusCode}`)
    if (res.statusCode !== 303) t.match(res.headers['content-type'], types.html)
  }
})

t.test('invented row numbers come back as rows', async (t) => {
  const { app } = await seeded(t, [], {
    attributes: schemaOf({ rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } } })
  })
  for (const number of ['9007199254740993', '99999999999999999999999', '00', '1000000']) {
    const res = await post(app, `post[rows][${number}][a]=typed&post[rows][?][add]=1`)
    isSound(t, res, 200, number)
    const form = findForm(res, 'POST')
    t.equal(shown(form, 'post[rows][0][a]'), 'typed')
    t.equal(shown(form, 'post[rows][1][a]'), '', `${number}: and one more`)
  }
})

t.test('a conflict with invented entries is a page as well', async (t) => {
  for (const attributes of [contested, undefined]) {
    for (const payload of [
      'post[title]=', 'post=', 'post[]=', 'post[title][]=a', 'post[title][a][b]=x', 'post[author]=x',
      'post[author][]=x', 'post[people]=x', 'post[people][]=x', 'post[people][0]=x', 'post[people][0][name][0]=x',
      'post[tags][0][x]=1', 'post[tags][?]=absent', 'post[at][?][was]=x', 'post[at][?][offset]=x',
      'post[secret]=SECRET2', 'post[made]=x', 'post[title][?][keep]=theirs', 'post[title][?][keep]=x&post[title]=ok',
      'post[title][?][keep][0]=theirs&post[title]=ok', 'post[?]=x', 'post[?][was]=title', 'post[?][was][]=title',
      'post[?][was]=%25&post[title]=ok', 'post[constructor]=x', 'post[__proto__]=x', 'post[toString][?][keep]=theirs',
      'post[title]=ok&post[title][?][was]=x', 'post[id]=1&post[title]=ok', 'post[json]=null&post[json][?]=json',
      'post[json]=[[[]]]&post[json][?]=json', 'post[published]=false&post[published]=true&post[published]=x'
    ]) {
      const { app, store } = await seeded(t, [contestedRow], attributes === undefined ? {} : { attributes })
      for (const version of ['0', '', '1e0', '1']) {
        const res = await post(app, `_method=PUT&id=1&_version=${version}&${payload}`)
        t.ok(res.statusCode < 500, `${payload} ${version}: ${res.statusCode}`)
        if (res.statusCode !== 303) isSound(t, res, res.statusCode, payload)
        if (attributes !== undefined) t.notMatch(res.body, 'SECRET2')
        if (version !== '1') {
          t.strictSame(store.get(1, {})?.attributes, contestedRow, `${payload}: no other version is overwritten`)
        }
      }
    }
  }
})

t.test('an attribute that you left blank takes the value that somebody else has given', async (t) => {
  const { app, store } = await seeded(t, [{ t: 'x' }], {
    attributes: schemaOf({ a: { type: 'integer' }, t: { type: 'string' } })
  })
  const mine = findForm(await get(app, '/posts/1'), 'PUT')
  store.update(1, { a: 7 }, { version: undefined, scope: {} })
  const stale = await app.inject(submit(fill(mine, { 'post[t]': 'mine' }), undefined, html))
  isSound(t, stale, 412)
  t.strictSame(conflictsOf(stale), { a: 'theirs' })
  t.equal((await app.inject(submit(findForm(stale, 'PUT'), undefined, html))).statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, { t: 'mine', a: 7 })
})

t.test('a conflict survives the refusal of another field, and another row', async (t) => {
  const attributes = schemaOf({
    title: { type: 'string', maxLength: 20 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }
  })
  const { app, store } = await seeded(t, [{ title: 'Old', rating: 1, rows: [] }], { attributes })
  const mine = findForm(await get(app, '/posts/1'), 'PUT')
  store.update(1, { title: 'Theirs', rating: 2 }, { version: undefined, scope: {} })
  let page = await app.inject(submit(fill(mine, { 'post[title]': 'MINE TYPED', 'post[rating]': '5' }), undefined, html))
  isSound(t, page, 412)
  for (const [
    status, filled, button
  ] of [[200, {}, 'post[rows][?][add]'], [422, { 'post[rating]': '9' }, undefined]] as const) {
    const form = fill(findForm(page, 'PUT'), { [keep('title')]: 'theirs', ...filled })
    page = await app.inject(submit(form, button === undefined ? undefined : findButton(form, button), html))
    isSound(t, page, status, button ?? JSON.stringify(filled))
    const again = findForm(page, 'PUT')
    t.strictSame([shown(again, 'post[title]'), shown(again, keep('title')), shown(again, keep('rating'))],
      ['MINE TYPED', 'theirs', 'yours'])
    if (status === 422) t.match(page.body, /<a href="#post:rating">Rating must be at most 5/)
  }
  t.equal((await app.inject(submit(fill(findForm(page, 'PUT'), { 'post[rating]': '4' }), undefined, html))).statusCode,
    303)
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', rating: 4 })
})

t.test('an unreadable value beside a choice comes back as it was typed', async (t) => {
  const deep = '['.repeat(40_000) + ']'.repeat(40_000)
  const cases: Array<[name: string, payload: string, typed: string, message: RegExp]> = [
    ['rating', 'post[rating]=x', 'x', /Rating must be an integer/],
    ['author', 'post[author][name]=N&post[author][age]=x', 'x', /Author: Age must be an integer/],
    ['json', `post[json][?]=json&post[json]={"k":${deep}}`, `{"k":${deep}}`, /K[.0]+ is nested deeper than 8 levels/],
    ['body', `post[body][?]=json&post[body]=${deep}`, deep, /Body is nested deeper than 32 levels/],
    ['tags', `post[tags][?]=json&post[tags]=[${deep}]`, `[${deep}]`, /Tag 1 is nested deeper than 32 levels/],
    ['published', `post[published][?]=json&post[published]=${deep}`, deep, /Published is nested deeper than 32 levels/]
  ]
  for (const [name, payload, typed, message] of cases) {
    const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
    const res = await post(app, `_method=PUT&id=1&post[title]=Mine&${keep('title')}=yours&${payload}`)
    const label = `${name}: `
    t.equal(res.statusCode, 422, label)
    t.match(res.body, message)
    t.ok(findForm(res, 'PUT').controls.some(({ value }) => value === typed), `${label}the typed value`)
    t.strictSame(conflictsOf(res), { title: 'yours', [name]: 'yours' }, label)
    t.strictSame(store.get(1, {})?.attributes, contestedRow, label)
  }
})

t.test('the step of a number allows invalid input to be corrected', async (t) => {
  const { app } = await seeded(t, [], {
    attributes: schemaOf({
      count: { type: 'integer' },
      fives: { type: 'integer', multipleOf: 5 },
      least: { type: 'integer', minimum: 0 },
      rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }
    })
  })
  for (const [
    typed, steps
  ] of [[['1.5', '7', '1.5'], ['any', 'any', '1']], [['2', '10', '2'], ['1', '5', '1']],
      [['', '', ''], ['1', '5', '1']]] as const) {
    const page = await post(app,
      `post[count]=${typed[0]}&post[fives]=${typed[1]}&post[least]=${typed[2]}&post[rows][?][add]=1`)
    const form = findForm(page, 'POST')
    t.strictSame(['count', 'fives', 'least'].map((name) => visible(form, `post[${name}]`)[0]?.attributes.step), steps,
      typed.join())
  }
})

t.test('a form that could not be sent with another row has no button for one', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, { type: 'string' }]))
  const { app } = await seeded(t, [], {
    attributes: schemaOf({ rows: { type: 'array', items: { type: 'object', properties: members } } })
  })
  let page = await get(app, '/posts')
  let presses = 0
  for (;;) {
    const form = findForm(page, 'POST')
    if (!form.controls.some(({ name }) => name === 'post[rows][?][add]')) break
    page = await app.inject(submit(form, findButton(form, 'post[rows][?][add]'), html))
    isSound(t, page, 200)
    presses++
  }
  t.ok(presses > 5, String(presses))
  t.equal((await app.inject(submit(findForm(page, 'POST'), undefined, html))).statusCode, 303)
})

t.test('an undeclared property of an object stays as it is', async (t) => {
  const { app, store } = await seeded(
    t,
    [{ g: { a: '1', extra: 'kept' }, t: 'x' }],
    { attributes: schemaOf({ g: { type: 'object', properties: { a: { type: 'string' } } }, t: { type: 'string' } }) }
  )
  const record = await get(app, '/posts/1')
  t.notMatch(record.body, 'extra')
  t.match(record.body, '<strong>G</strong> stays as it is')
  for (const status of [303, 412]) {
    const page = await app.inject(submit(fill(findForm(record, 'PUT'), { 'post[t]': 'y' }), undefined, html))
    t.equal(page.statusCode, status)
    t.notMatch(page.body, 'extra')
    t.strictSame(store.get(1, {})?.attributes, { g: { a: '1', extra: 'kept' }, t: 'y' })
  }
})

t.test('a form with choices but without a version gets the current version', async (t) => {
  const { app, store } = await seeded(
    t,
    [{ title: 'Theirs', rating: 1 }],
    { attributes: schemaOf({ title: { type: 'string', minLength: 1, maxLength: 20 }, rating: { type: 'integer' } }) }
  )
  const page = await post(app, '_method=PUT&id=1&post[title]=&post[title][?][keep]=yours&post[rating]=2')
  isSound(t, page, 422)
  const form = findForm(page, 'PUT')
  t.strictSame([hidden(form, '_version'), shown(form, keep('title'))], ['1', 'yours'])
  t.equal((await app.inject(submit(fill(form, { [keep('title')]: 'theirs' }), undefined, html))).statusCode, 303)
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', rating: 2 })
})

t.test('a list says how many rows it has, in the words and digits of its language', async (t) => {
  const schema = schemaOf({ title: { type: 'string' } })
  const cases: Array<[rows: number, url: string, options: object, total: string | undefined]> = [
    [0, '/posts', {}, undefined],
    [1, '/posts', {}, '1 post'],
    [3, '/posts?limit=2', {}, '3 posts'],
    [1234, '/posts', {}, '1,234 posts'],
    [1234, '/posts', { html: { lang: 'de' } }, '1.234 Posts'],
    [10_000, '/posts', {}, '10,000 posts'],
    [10_002, '/posts', {}, 'more than 10,000 posts'],
    [10_002, '/posts?count=true', {}, '10,002 posts'],
    [10_002, '/posts?title=x1&limit=9', {}, '1 post'],
    [3, '/posts?after=Wzld', {}, undefined]
  ]
  for (const [count, url, options, total] of cases) {
    const { app } = await seeded(
      t, Array.from({ length: count }, (_, index) => ({ title: `x${index}` })), { attributes: schema, ...options }
    )
    const res = await get(app, url)
    isSound(t, res, 200)
    t.equal(/<p class="total">(.*)<\/p>/.exec(res.body)?.[1], total, `${count} rows, ${url}`)
  }
  const estimating = await build(t, {
    name: 'posts',
    attributes: schema,
    store: {
      ...memoryStore(),
      list: () => [[1, 2, 3].map((id) => ({ id, version: '1', attributes: {} }))],
      count: ({ estimate }) => ({ rows: 40_000, isEstimate: estimate })
    } as Store
  })
  t.match((await get(estimating, '/posts?limit=2&count=estimate')).body, '<p class="total">about 40,000 posts</p>')
})

t.test('a page of a list says which rows it has', async (t) => {
  const rows = (count: number): Array<{ title: string }> => Array.from({ length: count }, (_, index) => ({
    title: `x${index}`
  }))
  const cases: Array<[rows: number, url: string, options: object, ranges: string[]]> = [
    [0, '/posts', {}, ['']],
    [3, '/posts', {}, ['']],
    [3, '/posts?limit=3', {}, ['']],
    [5, '/posts?limit=2', {}, ['1&#8211;2 of 5', '3&#8211;4 of 5', '5&#8211;5 of 5']],
    [5, '/posts?limit=2&sort=-title', {}, ['1&#8211;2 of 5', '3&#8211;4 of 5', '5&#8211;5 of 5']],
    [1234, '/posts', {}, ['1&#8211;50 of 1,234', '51&#8211;100 of 1,234']],
    [
      1234,
      '/posts',
      {
        html: {
          lang: 'de',
          messages: {
            next: 'Next page',
            range: (first: string, last: string, total: string) => `${first} bis ${last} von ${total}`
          }
        }
      },
      ['1 bis 50 von 1.234', '51 bis 100 von 1.234']
    ],
    [10_000, '/posts', {}, ['1&#8211;50 of 10,000', '51&#8211;100 of 10,000']],
    [10_001, '/posts', {}, ['1&#8211;50 of more than 10,000', '']],
    [10_001, '/posts?count=true', {}, ['1&#8211;50 of 10,001', '51&#8211;100 of 10,001']],
    [5, '/posts?limit=2&before=', {}, ['4&#8211;5 of 5']],
    [5, '/posts?limit=2&after=Wzld', {}, ['']]
  ]
  for (const [count, begin, options, ranges] of cases) {
    const { app } = await seeded(t, rows(count), { attributes: schemaOf({ title: { type: 'string' } }), ...options })
    let url: string | undefined = begin
    for (const range of ranges) {
      const res = await get(app, url as string)
      t.equal(/<nav class="pages"><p class="range">(.*?)<\/p>/.exec(res.body)?.[1] ?? '', range,
        `${count} rows, ${String(url)}`)
      url = linksOf(isSound(t, res, 200), 'Next page')[0]
    }
  }
  const estimating = await build(t, {
    name: 'posts',
    store: {
      ...memoryStore(),
      list: () => [[1, 2, 3].map((id) => ({ id, version: '1', attributes: {} }))],
      count: ({ estimate }) => ({ rows: 40_000, isEstimate: estimate })
    } as Store
  })
  t.notMatch((await get(estimating, '/posts?limit=2&count=estimate')).body, 'class="range"', 'an estimate is no place')
})

t.test('the pages of a list lead in both directions', async (t) => {
  const { app } = await seeded(
    t, Array.from({ length: 5 }, (_, index) => ({ title: `T${index}` })), { attributes: listed }
  )
  for (const query of ['', '&title[starts]=T', '&sort=-title']) {
    const ids: number[][] = []
    let url: string | undefined = `/posts?limit=2${query}`
    const seen: string[][] = []
    for (let step = 0; step < 5; step++) {
      const elements = isSound(t, await get(app, url as string), 200)
      const res = await get(app, url as string)
      ids.push(idsOf(res.body))
      seen.push(['First page', 'Previous page', 'Next page'].filter((label) => linksOf(elements, label).length > 0))
      url = linksOf(elements, step < 2 ? 'Next page' : 'Previous page')[0]
      if (url === undefined) break
    }
    const pages = query.includes('sort') ? [[5, 4], [3, 2], [1], [3, 2], [5, 4]] : [[1, 2], [3, 4], [5], [3, 4], [1, 2]]
    t.strictSame(ids, pages, query)
    t.strictSame(
      seen,
      [['Next page'], ['First page', 'Previous page', 'Next page'], ['First page', 'Previous page'],
        ['First page', 'Previous page', 'Next page'], ['First page', 'Next page']],
      query
    )
  }
  const empty = isSound(t, await get(app, '/posts?limit=2&after=Wzld'), 200)
  t.strictSame(['First page', 'Previous page', 'Next page'].map((label) => linksOf(empty, label)),
    [['/posts?limit=2'], ['/posts?limit=2&before='], []])
})

t.test('conditions with operators and the search stay in forms and links until they are removed', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const query = 'rating[gte]=0&title[in]=T1,T3\\,,T5&rating[null]=false&q=T&limit=1'
  const encoded = 'rating%5Bgte%5D=0&title%5Bin%5D=T1%2CT3%5C%2C%2CT5&rating%5Bnull%5D=false&q=T&limit=1'
  const res = await get(app, `/posts?${query}`)
  const elements = isSound(t, res, 200)
  const form = findForm(res, 'GET')
  t.strictSame(form.controls.filter(({ type }) => type === 'hidden').map(({ name, value }) => [name, value]).sort(), [
    ['limit', '1'], ['rating[gte]', '0'], ['rating[null]', 'false'], ['title[in]', 'T1,T3\\,,T5']
  ])
  t.equal(shown(form, 'q'), 'T')
  t.strictSame([...res.body.matchAll(/<li><a class="chip" href="([^"]*)" aria-label="([^"]*)">(.*?) <span>/g)].map(
    ([, href = '', label = '', text = '']) => [text, href, label].map((part) => part.replaceAll('&amp;', '&'))
  ), [
    ['Rating at least 0', '/posts?title%5Bin%5D=T1%2CT3%5C%2C%2CT5&rating%5Bnull%5D=false&q=T&limit=1',
      'Remove: Rating at least 0'],
    ['Title is one of T1, T3,, T5', '/posts?rating%5Bgte%5D=0&rating%5Bnull%5D=false&q=T&limit=1',
      'Remove: Title is one of T1, T3,, T5'],
    ['Rating is not blank', '/posts?rating%5Bgte%5D=0&title%5Bin%5D=T1%2CT3%5C%2C%2CT5&q=T&limit=1',
      'Remove: Rating is not blank']
  ])
  t.strictSame(linksOf(elements, 'Clear filter'), ['/posts?limit=1'])
  t.strictSame(linksOf(elements, 'Body'), [`/posts?${encoded}&sort=body`])
  const sent = await app.inject(submit(form, undefined, html))
  t.strictSame(idsOf(sent.body), idsOf(res.body), 'the form keeps the conditions')
  const none = await get(app, '/posts?q=nothing+like+it')
  t.match(none.body, /No posts match the filter/)
  t.strictSame(shown(findForm(none, 'GET'), 'q'), 'nothing like it')
  t.match((await get(app, '/posts?rating[null]=1&title[not]=x')).body, /Rating is blank.*Title is not x/)
})
