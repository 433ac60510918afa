import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions, type Store } from '../../../../lib/index.js'
import { build, draft, propertiesOf } from '../../../support/helper.js'
import { fill, findForm, type Form, hidden, parseForms, shown, submit, visible } from '../../../support/html/forms.js'
import {
  cellsOf, choicesOf, get, html, idsOf, isSound, linksOf, listed, rated, schemaOf, seeded
} from '../../../support/html/page-tests.js'

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
      auto, '<span class="badge">Two</span>'],
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
    ['an impossible date', { type: 'string', format: 'date' }, '2026-02-31', auto, '2026-02-31'],
    [
      'an impossible time', { type: 'string', format: 'date-time' }, '2026-02-30T12:00:00Z', auto,
      '2026-02-30T12:00:00Z'
    ],
    ['a time of many digits', { type: 'string', format: 'date-time' }, '2026-01-31t12:00:00.123456z', auto,
      '<time datetime="2026-01-31T12:00:00.123Z">Jan 31, 2026, 12:00 PM UTC</time>'],
    ['a date and time of UTC', { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z', auto,
      '<time datetime="2026-01-31T12:00:00Z">Jan 31, 2026, 12:00 PM UTC</time>'],
    ['a date and time of elsewhere', { type: 'string', format: 'date-time' }, '2026-01-31T23:30:00.5+02:00', auto,
      '<time datetime="2026-01-31T23:30:00.5+02:00">Jan 31, 2026, 11:30 PM +02:00</time>'],
    ['a date and time without an offset', { type: 'string', format: 'date-time-local' }, '2026-01-31T23:30:05.123456',
      auto, '<time datetime="2026-01-31T23:30:05.123">Jan 31, 2026, 11:30 PM</time>'],
    ['a date in another spelling', { type: 'string', format: 'date-time-text' }, '1996-07-04 00:00:00.000', auto,
      '<time datetime="1996-07-04">Jul 4, 1996</time>'],
    ['a date and time in another spelling', { type: 'string', format: 'date-time-text' }, '1996-07-04 10:31', auto,
      '<time datetime="1996-07-04T10:31:00">Jul 4, 1996, 10:31 AM</time>'],
    ['a text that is no date', { type: 'string', format: 'date-time-text' }, '4 July', auto, '4 July'],
    ['a date and time without an offset, which is none', { type: 'string', format: 'date-time-local' },
      '2026-02-31T23:30:05&', auto, '2026-02-31T23:30:05&amp;'],
    ['a time without an offset', { type: 'string', format: 'time-local' }, '23:30:05.123456', auto, '23:30:05.123456'],
    ['a decimal', { type: 'string', format: 'decimal', precision: 40, scale: 20 }, '9007199254740993.1000', end,
      '9,007,199,254,740,993.1000'],
    ['a decimal of two places', { type: 'string', format: 'decimal', scale: 2 }, '-1234.5', end, '-1,234.50'],
    ['a decimal of more digits than Intl writes', { type: 'string', format: 'decimal' }, `1234.${'5'.repeat(21)}`, end,
      `1234.${'5'.repeat(21)}`],
    ['a decimal that is none', { type: 'string', format: 'decimal' }, '<1', end, '&lt;1'],
    ['base64', { type: 'string', contentEncoding: 'base64' }, 'no base64', auto, 'no base64'],
    ['an e-mail address that is no other header', { type: 'string', format: 'email' }, 'a?bcc=x@b.example', auto,
      '<a href="mailto:a%3Fbcc=x@b.example">a?bcc=x@b.example</a>'],
    ['an e-mail address', { type: 'string', format: 'email' }, 'a+b@c.example', auto,
      '<a href="mailto:a+b@c.example">a+b@c.example</a>'],
    [
      'a URL of the web', { type: 'string', format: 'uri' }, 'https://a.example/?b&c="d"', auto,
      '<a href="https://a.example/?b&amp;c=&quot;d&quot;" rel="nofollow noreferrer">' +
        'https://a.example/?b&amp;c=&quot;d&quot;</a>'
    ],
    ['a URL in capitals', { type: 'string', format: 'url' }, 'HTTP://A.EXAMPLE', auto,
      '<a href="HTTP://A.EXAMPLE" rel="nofollow noreferrer">HTTP://A.EXAMPLE</a>'],
    ['a choice', { enum: ['a', 'b', ''] }, 'b', auto, '<span class="badge">b</span>'],
    ['a blank choice', { enum: ['a', 'b', ''] }, '', auto, ''],
    ['a long choice', { enum: ['x'.repeat(41), 'b'] }, 'b', auto, 'b'],
    ['a choice of many', { enum: [...'abcdefghi'] }, 'b', auto, 'b'],
    ['a choice that has a title', titled, 'd', auto, '<span class="badge">Draft &amp; &lt;more&gt;</span>'],
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
  const properties = propertiesOf(cases.map(([, schema]) => schema))
  const row = Object.fromEntries(cases.flatMap(([, , value], index) =>
    value === undefined ? [] : [[`it${index}`, value]]))
  const { app } = await seeded(t, [row], {
    attributes: schemaOf(properties), html: { title: 'id', columns: Object.keys(properties) }
  })
  const res = await get(app, '/posts')
  isSound(t, res, 200)
  const [cells = []] = cellsOf(res.body)
  for (const [index, [name, , , attributes, content]] of cases.entries()) {
    t.strictSame(cells[index], { attributes, content }, name)
  }
})

t.test('a badge is grey, unless the app says that its value is good or bad news', async (t) => {
  const status = { oneOf: [{ const: 'paid', title: 'Paid up' }, { const: 'open', title: 'Open' }, { const: 'late' }] }
  const badges = { status: { paid: 'good', late: 'bad' }, size: { 1: 'bad' } } as const
  const attributes = schemaOf({ status, other: status, size: { oneOf: [{ const: 1, title: 'One' }] } })
  const row = { status: 'paid', other: 'paid', size: 1 }
  const { app } = await seeded(t, [row, { status: 'open' }, { status: 'late' }], { attributes, html: { badges } })
  const shown = async (url: string): Promise<string[]> =>
    [...(await get(app, url)).body.matchAll(/<span class="(badge[^"]*)">([^<]*)/g)].map(([, kind, text]) =>
      `${text}: ${kind}`)
  const first = ['Paid up: badge good', 'Paid up: badge', 'One: badge bad']
  t.strictSame(await shown('/posts'), [...first, 'Open: badge', 'late: badge bad'])
  t.strictSame(await shown('/posts/1'), first)
  t.strictSame(await shown('/posts/2'), ['Open: badge'])
})

t.test('a text that only resembles a URL is not a link', async (t) => {
  const cases = [
    'javascript:alert(1)', 'JavaScript:alert(1)', ' https://a.example', 'data:text/html,<script>alert(1)</script>',
    '//evil.example', '/posts', 'http:', 'http:evil', 'java\tscript:alert(1)', 'https:/a', 'http\n://a.example'
  ]
  const { app } = await seeded(t, [{ it: 'https://a.example' }, ...cases.map((it) => ({ it, list: [it], url: it }))], {
    attributes: schemaOf({
      it: { type: 'string', format: 'uri' },
      list: { type: 'array', items: { type: 'string', format: 'uri' } },
      url: { type: 'string', format: 'url' }
    })
  })
  for (const url of ['/posts', '/posts/2']) {
    const hrefs = isSound(t, await get(app, url), 200).flatMap(({ attributes: { href = '/', rel } }) =>
      rel === 'nofollow noreferrer' ? [href] : [])
    t.strictSame(hrefs, url === '/posts' ? ['https://a.example'] : [], url)
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
  const { app } = await seeded(t, cases.map(([, value]) => ({ 'first-name': value, any: [value] })), {
    attributes: schemaOf({ 'first-name': { type: 'string', title: 'First "name"' }, any: {} })
  })
  const list = await get(app, '/posts')
  isSound(t, list, 200)
  const cells = cellsOf(list.body)
  for (const [index, [name, value, clipped]] of cases.entries()) {
    t.strictSame(cells[index]?.map(({ content }) => content), [clipped ?? value, clipped ?? value], name)
    const record = isSound(t, await get(app, `/posts/${index + 1}`), 200)
    t.equal(record.find(({ attributes }) => attributes.id === ':first-name')?.text, value, name)
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
    const heads = elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'col')
    t.strictSame(heads.map(({ text }) => text),
      ['Id', ...expected.map((name) => `The ${name}`)])
    t.strictSame(cellsOf(res.body)[0]?.map(({ content }) => content), expected)
  }
})

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
      undefined]
  ]
  const { app } = await seeded(t, rated, { attributes: listed })
  for (const [url, column, href, sorted] of cases) {
    const elements = isSound(t, await get(app, url), 200)
    const label = `${url}: ${column}`
    t.strictSame(linksOf(elements, column), href === undefined ? [] : [href], label)
    t.equal(elements.find(({ name, text }) => name === 'th' && text === column)?.attributes['aria-sort'], sorted, label)
  }
})

t.test('a heading drops the position of the page, and a link to another format keeps it', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const [next = ''] = linksOf(isSound(t, await get(app, '/posts?limit=2&sort=title&published=true'), 200), 'Next page')
  t.match(next, /after=/)
  const second = isSound(t, await get(app, next), 200)
  t.strictSame(linksOf(second, 'Rating'), ['/posts?limit=2&sort=rating&published=true'])
  t.strictSame(linksOf(second, 'First page'), ['/posts?limit=2&sort=title&published=true'])
  t.match(linksOf(second, 'JSON')[0], /after=/)
})

t.test('a page does not offer what the store cannot do', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed, wrap: ({ capabilities: _, ...store }) => store })
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  t.strictSame(linksOf(elements, 'Rating'), [])
  t.strictSame(linksOf(elements, 'Id'), [])
  t.strictSame(parseForms(res).map(({ id, method }) => id ?? method), ['chosen', 'post'])
  const { app: none } = await seeded(t, rated, { attributes: listed, sort: [], filter: [] })
  t.strictSame(linksOf(isSound(t, await get(none, '/posts'), 200), 'Rating'), [])
})

/** Returns the conditions for which a form has a button. */
function offeredIn ({ controls }: Form): string[] {
  return controls.flatMap(({ name, value }) => name === 'filter[by]' ? [value] : [])
}

t.test('a filter offers one more condition for each attribute that it can filter by', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const res = await get(app, '/posts.html?limit=3&sort=-rating')
  isSound(t, res, 200)
  const filter = findForm(res, 'GET')
  t.equal(filter.action, '/posts.html')
  t.strictSame(filter.controls.map(({ type, name, value }) => [type, name, value]), [
    ['hidden', 'limit', '3'], ['hidden', 'sort', '-rating'], ['search', 'q', ''], ['submit', '', ''],
    ...['title[contains]', 'rating[gte]', 'published', 'status', 'body[contains]'].map((name) =>
      ['submit', 'filter[by]', name])
  ])
  const { app: chosen } = await seeded(t, rated, {
    attributes: listed, html: { columns: ['tags', 'status'], title: 'title' }
  })
  t.strictSame(offeredIn(findForm(await get(chosen, '/posts'), 'GET')), ['title[contains]', 'status'])
  const { app: without } = await seeded(t, rated, {
    attributes: listed, html: { columns: ['tags'], title: 'id' }, search: []
  })
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
    ['day[gt]', 'date', [], range('day')],
    ['at[lt]', 'datetime-local', [], range('at')],
    ['local', 'datetime-local', [], range('local')],
    ['clock', 'time', [], range('clock')],
    ['flag', 'select', ['true', 'false'], ['flag', 'flag[not]']],
    ['state[not]', 'select', ['d', 'l'], ['state', 'state[not]', 'state[null]=true', 'state[null]=false']],
    ['key', 'text', [], ['key', 'key[not]', 'key[null]=true', 'key[null]=false']],
    ['size[in]', 'text', [], [...range('size'), 'size[in]']]
  ]
  for (const [by, type, choices, operators] of cases) {
    for (const given of by === 'size' ? [{}, { 'filter[value]': '' }] : [{}]) {
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
      ['Title is not x \u00d7', `${chip} \u00d7`, '+ Title', '+ At', '+ Local', '+ Clock', '+ Limit', 'Sum', '+ Limit'])
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
  t.match(both.body, /<h1>&quot;rating\[lt\]&quot; must be an integer/,
    'the form has the fields of one condition')
  t.equal((await app.inject('/posts.json?rating[gte]=x')).json<{ detail: string }>().detail,
    '"rating[gte]" must be an integer')
  t.match((await get(app, '/posts?sort=nope')).body, /<h1>&quot;sort&quot; names &quot;nope&quot;, by which [^<]+<\/h1>/)
})

t.test('an own view of lists gets no refused condition, which has an error page then', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed, html: { views: { list: (page) => page.title } } })
  const res = await get(app, '/posts?rating[gte]=x')
  t.match([res.statusCode, res.body], [400, '<h1>&quot;rating[gte]&quot; must be an integer</h1>'])
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
    ['', []], ['?q=T', []], ['?title=T3', ['Title is T3 /posts']],
    ['?published=1&sort=title', ['Published is yes /posts?sort=title']],
    ['?published=false&status=d', ['Published is no /posts?status=d', 'Status is d /posts?published=false']],
    ['?status=other', ['Status is other /posts']], ['?kind=d', ['Kind is Draft /posts']],
    ['?title=', ['Title is blank /posts']], ['?rating=', ['Rating is blank /posts']],
    ['?rating[gte]=0&title[in]=T1,T3\\,,T5&rating[null]=false&q=T&limit=1', [
      'Rating at least 0 /posts?title%5Bin%5D=T1%2CT3%5C%2C%2CT5&rating%5Bnull%5D=false&q=T&limit=1',
      'Title is one of T1, T3,, T5 /posts?rating%5Bgte%5D=0&rating%5Bnull%5D=false&q=T&limit=1',
      'Rating is not blank /posts?rating%5Bgte%5D=0&title%5Bin%5D=T1%2CT3%5C%2C%2CT5&q=T&limit=1'
    ]],
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

t.test('an attribute that is named like a parameter is shown, but cannot be filtered by', async (t) => {
  const names = ['blank', 'format', 'limit', 'after', 'sort']
  const { app } = await seeded(
    t,
    [Object.fromEntries(names.map((name) => [name, name]))],
    {
      attributes: schemaOf({
        ...Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 9 }])),
        title: { type: 'string', maxLength: 9 },
        seventh: { type: 'string' }
      })
    }
  )
  const res = await get(app, '/posts')
  const elements = isSound(t, res, 200)
  t.strictSame(choicesOf(findForm(res, 'GET'), 'filter[by]'),
    ['', ...names.map((name) => `${name}[contains]`), 'title[contains]', 'seventh[contains]'])
  t.match(res.body, /<details>\n<summary class="chip">\+ Filter/, 'the choice of many attributes is folded')
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
  t.strictSame(offeredIn(findForm(res, 'GET')), names.map((name) => `${name}[contains]`))
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
    [
      '/posts?format=html&sort=-rating&published=true',
      ['/posts.json?sort=-rating&published=true', '/posts.csv?sort=-rating&published=true',
        '/posts.xml?sort=-rating&published=true']
    ],
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

t.test('a page of a list says which rows it has, and of how many, in the digits of its language', async (t) => {
  const german = {
    lang: 'de',
    messages: {
      next: 'Next page', range: (first: string, last: string, total: string) => `${first} bis ${last} von ${total}`
    }
  }
  const cases: Array<[rows: number, url: string, options: object, total: string | undefined, ranges: string[]]> = [
    [0, '/posts', {}, undefined, ['']],
    [1, '/posts', {}, '1 post', ['']],
    [3, '/posts?limit=3', {}, '3 posts', ['']],
    [5, '/posts?limit=2', {}, '5 posts', ['1&#8211;2 of 5', '3&#8211;4 of 5', '5&#8211;5 of 5']],
    [5, '/posts?limit=2&sort=-title', {}, '5 posts', ['1&#8211;2 of 5', '3&#8211;4 of 5', '5&#8211;5 of 5']],
    [5, '/posts?limit=2&before=', {}, '5 posts', ['4&#8211;5 of 5']],
    [5, '/posts?limit=2&title=x1', {}, '1 post', ['']],
    [5, '/posts?limit=2&after=Wzld', {}, undefined, ['']],
    [1234, '/posts', { html: german }, '1.234 Posts', ['1 bis 50 von 1.234', '51 bis 100 von 1.234']],
    [10_001, '/posts', {}, 'more than 10,000 posts', ['1&#8211;50 of more than 10,000', '']],
    [10_001, '/posts?count=true', {}, '10,001 posts', ['1&#8211;50 of 10,001', '51&#8211;100 of 10,001']]
  ]
  for (const [count, begin, options, total, ranges] of cases) {
    const { app } = await seeded(t, Array.from({ length: count }, (_, index) => ({ title: `x${index}` })),
      { attributes: schemaOf({ title: { type: 'string' } }), ...options })
    let url: string | undefined = begin
    for (const range of ranges) {
      const res = await get(app, url as string)
      const label = `${count} rows, ${String(url)}`
      t.equal(/<nav class="pages"><p class="range">(.*?)<\/p>/.exec(res.body)?.[1] ?? '', range, label)
      if (url === begin) t.equal(/<p class="total">(.*)<\/p>/.exec(res.body)?.[1], total, label)
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
  const { body } = await get(estimating, '/posts?limit=2&count=estimate')
  t.match(body, '<p class="total">about 40,000 posts</p>')
  t.notMatch(body, 'class="range"', 'an estimate is no place')
})

t.test('the pages of a list lead in both directions', async (t) => {
  const { app } = await seeded(t, rated, { attributes: listed })
  const ALL = ['First page', 'Previous page', 'Next page', 'Last page']
  const ids: number[][] = []
  const seen: string[][] = []
  let url: string | undefined = '/posts?limit=2&sort=-title'
  for (let step = 0; step < 5; step++) {
    const res = await get(app, url as string)
    const elements = isSound(t, res, 200)
    ids.push(idsOf(res.body))
    seen.push(ALL.filter((label) => linksOf(elements, label).length > 0))
    url = linksOf(elements, step < 2 ? 'Next page' : 'Previous page')[0]
  }
  t.strictSame(ids, [[6, 5], [4, 3], [2, 1], [4, 3], [6, 5]])
  t.strictSame(seen, [ALL.slice(2), ALL, ALL.slice(0, 2), ALL, ['First page', ...ALL.slice(2)]])
  const [last] = linksOf(isSound(t, await get(app, '/posts?limit=2&sort=-title'), 200), 'Last page')
  t.equal(last, '/posts?limit=2&sort=-title&before=')
  const end = await get(app, String(last))
  t.strictSame([idsOf(end.body), linksOf(isSound(t, end, 200), 'Last page')], [[2, 1], []])
  const own = await seeded(t, rated, { attributes: listed, actions: { list: ({ proceed }) => proceed() } })
  t.notMatch((await get(own.app, '/posts?limit=2')).body, 'Last page', 'the app lists rows itself')
  const empty = isSound(t, await get(app, '/posts?limit=2&after=Wzld'), 200)
  t.strictSame(['First page', 'Previous page', 'Next page'].map((label) => linksOf(empty, label)),
    [['/posts?limit=2'], ['/posts?limit=2&before='], []])
})

const albums = {
  type: 'object',
  properties: {
    artistId: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    local: { type: 'string', format: 'date-time-local' },
    day: { type: 'string', format: 'date' },
    opens: { type: 'string', format: 'time-local' },
    status: { type: 'string', oneOf: [{ const: 'a', title: 'Draft' }, { const: 'b', title: 'Sent' }] }
  }
} as const

/** Returns the conditions that the page of a list shows. */
async function chipsOf (
  t: Test,
  query: Readonly<Record<string, string>>,
  options: Partial<ResourceOptions> = {},
  headers: Readonly<Record<string, string>> = {}
): Promise<string[]> {
  const artists = memoryStore()
  for (const name of ['Ann & Co', 'Bob', undefined]) artists.create({ name }, {})
  const store = memoryStore()
  for (const artistId of [1, 2, 3]) {
    store.create(
      { artistId, at: '2026-01-31T12:00:00Z', local: '2026-01-31T12:00:00', day: '2026-01-31', status: 'a' }, {}
    )
  }
  const lang = ['en', 'de', 'fr', 'es']
  const app = await draft(t, (map) => {
    map.resources('artists', {
      attributes: { type: 'object', properties: { name: { type: 'string' } } },
      html: { title: 'name', lang, messages: (lang: string) => lang === 'de' ? { singular: 'Künstler' } : {} },
      store: artists
    })
    map.resources('albums', {
      attributes: albums, store, references: { artistId: 'artists' }, html: { lang }, ...options as object
    })
  })
  const { statusCode, body } = await app.inject({
    url: `/albums?${new URLSearchParams(query).toString()}`, headers: { accept: 'text/html', ...headers }
  })
  t.equal(statusCode, 200, JSON.stringify(query))
  return [...body.matchAll(/<a class="chip"[^>]*>([^<]*) <span>&#215;/g)].map(([, chip = '']) => chip)
}

t.test('the conditions of a list show dates and times as its rows do', async (t) => {
  const moment = '2026-01-31T12:00:00+00:00'
  t.strictSame(await chipsOf(t, { 'at[gte]': moment }), ['At is on or after Jan 31, 2026, 12:00 PM UTC'])
  t.strictSame(await chipsOf(t, { 'at[gte]': '2026-01-31T14:00:00+02:00' }),
    ['At is on or after Jan 31, 2026, 2:00 PM +02:00'])
  t.strictSame(await chipsOf(t, { 'at[gte]': moment }, { html: { timeZone: 'Asia/Tokyo' } }),
    ['At is on or after Jan 31, 2026, 9:00 PM'])
  t.strictSame(await chipsOf(t, { 'local[lt]': '2026-02-01T09:30:00' }), ['Local is before Feb 1, 2026, 9:30 AM'])
  t.strictSame(await chipsOf(t, { day: '2026-01-31', 'day[in]': '2026-01-31,2026-02-01' }),
    ['Day is Jan 31, 2026', 'Day is one of Jan 31, 2026, Feb 1, 2026'])
  t.match(await chipsOf(t, { 'at[gte]': moment }, {}, { 'accept-language': 'de' }), [/31\.01\.2026, 12:00 UTC$/])
})

t.test('the words before a time of day differ from those before a date', async (t) => {
  const query = { 'opens[gte]': '12:00:00', 'opens[lt]': '14:30:00', 'day[gte]': '2026-01-31' }
  const expected = {
    en: ['Opens is at or after 12:00:00', 'Opens is before 14:30:00', 'Day is on or after Jan 31, 2026'],
    fr: ['Opens\u00a0: à partir de 12:00:00', 'Opens\u00a0: avant 14:30:00', 'Day\u00a0: à partir du 31 janv. 2026'],
    es: ['Opens: desde 12:00:00', 'Opens: antes de 14:30:00', 'Day: desde el 31 ene 2026']
  }
  for (const [language, chips] of Object.entries(expected)) {
    t.strictSame(await chipsOf(t, query, {}, { 'accept-language': language }), chips, language)
  }
})

t.test('the conditions of a list show choices by their titles', async (t) => {
  t.strictSame(await chipsOf(t, { status: 'a', 'status[in]': 'a,b,c\\,d' }),
    ['Status is Draft', 'Status is one of Draft, Sent, c,d'])
})

t.test('the conditions of a list show referenced rows by their names, if the list has rows of them', async (t) => {
  t.strictSame(await chipsOf(t, { artistId: '1' }), ['Artist is Ann &amp; Co'])
  t.strictSame(await chipsOf(t, { 'artistId[in]': '1,2,9' }), ['Artist is one of Ann &amp; Co, Bob, 9'])
  t.strictSame(await chipsOf(t, { artistId: '3' }, {}, { 'accept-language': 'de' }), ['Artist: Künstler 3'],
    'a row without a title is named in the language of the page')
  t.strictSame(await chipsOf(t, { artistId: '9' }), ['Artist is 9'])
})
