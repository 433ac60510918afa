import t from 'tap'
import { memoryStore, type Store } from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { build, propertiesOf } from '../../../support/helper.js'
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
    ['null', { type: ['string', 'null'] }, null, auto, ''],
    ['true', { type: 'boolean' }, true, auto, '<span class="mark" role="img" aria-label="yes">&#10003;</span>'],
    ['false', { type: 'boolean' }, false, auto, '<span class="mark" role="img" aria-label="no">&#10007;</span>'],
    ['false where null is allowed', { type: ['boolean', 'null'] }, false, auto,
      '<span class="mark" role="img" aria-label="no">&#10007;</span>'],
    ['a boolean that has a title', { oneOf: [{ const: true, title: 'On' }, { const: false, title: 'Off' }] }, false,
      auto, 'Off'],
    ['an integer', { type: 'integer' }, -5, end, '-5'],
    ['a large integer', { type: 'integer' }, 9007199254740991, end, '9,007,199,254,740,991'],
    ['an integer that is a choice', { type: 'integer', enum: [1, 2] }, 2, end, '2'],
    ['an integer that is a choice with a title', { oneOf: [{ const: 1, title: 'One' }, { const: 2, title: 'Two' }] }, 2,
      auto, '<span class="badge">Two</span>'],
    ['an integer that may be a year', { type: 'integer' }, 1996, end, '1996'],
    ['a large number', { type: 'number' }, 1234567.5, end, '1,234,567.5'],
    ['a whole number among fractions', { type: 'number' }, 3034, end, '3,034'],
    ['a negative one', { type: 'number' }, -3034, end, '-3,034'],
    ['a whole decimal among fractions', { type: 'string', format: 'decimal' }, '3034', end, '3,034'],
    ['a decimal without fractions', { type: 'string', format: 'decimal', precision: 4, scale: 0 }, '1996', end, '1996'],
    ['a number with an exponent', { type: 'number' }, -1.234567890123456e-200, end, '-1.23457e-200'],
    ['an amount', { type: 'number', multipleOf: 0.01 }, 1234.5, end, '1,234.50'],
    ['an amount that may be null', { anyOf: [{ type: 'number', multipleOf: 0.01 }, { type: 'null' }] }, 7, end, '7.00'],
    ['an amount with more digits', { type: 'number', multipleOf: 0.01 }, 0.125, end, '0.125'],
    ['a number of many places', { type: 'number', multipleOf: 0.00001 }, 0.5, end, '0.5'],
    ['a date', { type: 'string', format: 'date' }, '2026-01-31', auto,
      '<time datetime="2026-01-31">Jan 31, 2026</time>'],
    ['an impossible date', { type: 'string', format: 'date' }, '2026-02-31', auto, '2026-02-31'],
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
    ['a decimal', { type: 'string', format: 'decimal', precision: 40, scale: 20 }, '9007199254740993.1000', end,
      '9,007,199,254,740,993.1000'],
    ['a decimal of more digits than Intl writes', { type: 'string', format: 'decimal' }, `1234.${'5'.repeat(21)}`, end,
      `1234.${'5'.repeat(21)}`],
    ['a decimal that is none', { type: 'string', format: 'decimal' }, '<1', end, '&lt;1'],
    ['base64', { type: 'string', contentEncoding: 'base64' }, 'no base64', auto, 'no base64'],
    ['an e-mail address that is no other header', { type: 'string', format: 'email' }, 'a?bcc=x@b.example', auto,
      '<a href="mailto:a%3Fbcc=x@b.example">a?bcc=x@b.example</a>'],
    [
      'a URL of the web', { type: 'string', format: 'uri' }, 'https://a.example/?b&c="d"', auto,
      '<a href="https://a.example/?b&amp;c=&quot;d&quot;" rel="nofollow noreferrer">' +
        'https://a.example/?b&amp;c=&quot;d&quot;</a>'
    ],
    ['a choice', { enum: ['a', 'b', ''] }, 'b', auto, '<span class="badge">b</span>'],
    ['a blank choice', { enum: ['a', 'b', ''] }, '', auto, ''],
    ['a choice of many', { enum: [...'abcdefghi'] }, 'b', auto, 'b'],
    ['a choice that has a title', titled, 'd', auto, '<span class="badge">Draft &amp; &lt;more&gt;</span>'],
    ['a choice that is none any more', titled, 'gone', auto, 'gone'],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, ['a', '<b>'], auto, 'a, &lt;b&gt;'],
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
    ['a value of another type', { type: 'string', format: 'date' }, 5, auto, '5'],
    ['a fraction of many digits', { type: 'number' }, -1234.0123456789, end, '-1,234.012346'],
    ['a small fraction', { type: 'number' }, 0.00012345678, end, '0.000123457'],
    ['a fraction whose steps are known', { type: 'number', multipleOf: 1e-8 }, 0.12345678, end, '0.12345678'],
    ['a number among values of any type', {}, 12345.5, end, '12345.5']
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
  const numbered = schemaOf({ authorId: { type: 'integer' } })
  const { app: keys } = await seeded(t, [{ authorId: 10001 }], { attributes: numbered })
  t.match((await get(keys, '/posts')).body, '<td data-label="Author id" dir="auto">10001</td>', 'an id is no amount')
  t.equal((await get(keys, '/posts?sum=authorId')).statusCode, 400)
  t.match((await get(keys, '/posts?sum=')).body, /must be names separated by commas</)
  const { app: dated } = await seeded(t, [{}], {
    attributes: schemaOf({ at: { type: 'object' } }),
    wrap: (store) => ({
      ...store,
      * list (query) {
        for (const rows of store.list(query)) yield rows.map((row) => ({ ...row, attributes: { at: new Date(0) } }))
      }
    })
  })
  t.match((await get(dated, '/posts')).body, '>&quot;1970-01-01T00:00:00.000Z&quot;</td>', 'an object of the store')
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
    ['/posts?sort=id', 'Id', '/posts?sort=-id', 'ascending'],
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
  t.match((await get(app, '/posts?filter[by]=day[gte]')).body, 'id="filter!to"')
  const { app: half } = await seeded(t, [], {
    attributes: schemaOf(kinds),
    wrap: (store) => ({ ...store, capabilities: { ...store.capabilities, filter: ['gte'] } })
  })
  t.strictSame(visible(findForm(await get(half, '/posts?filter[by]=day[gte]'), 'GET'), 'filter[value]')
    .map(({ type }) => type), ['date'], 'a store without the other end has no range')
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
    ['local', '2026-01-31T12:00', 'Local is Jan 31, 2026, 12:00 PM', 'local=2026-01-31T12%3A00%3A00'],
    ['clock[lte]', '12:00', 'Clock is at or before 12:00:00', 'clock%5Blte%5D=12%3A00%3A00'],
    ['local[null]=false', '', 'Local is not blank', 'local%5Bnull%5D=false'],
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
    [5, '/posts?limit=2&before=', {}, '5 posts', ['4&#8211;5 of 5']],
    [5, '/posts?limit=2&title=x1', {}, '1 post', ['']],
    [5, '/posts?limit=2&after=Wzld', {}, undefined, ['']],
    [1234, '/posts', { html: german }, '1.234 Posts', ['1 bis 50 von 1.234', '51 bis 100 von 1.234']],
    [10_001, '/posts', {}, 'more than 10,000 posts', ['1&#8211;50 of more than 10,000', '']],
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
  const long = Object.entries({ not: 400, in: 400, contains: 190, starts: 190 }).flatMap(([operator, length]) =>
    ['title', 'body'].map((name) => `${name}[${operator}]=${'x'.repeat(length)}`)).join('&')
  const repeated = isSound(t, await get(app, `/posts?limit=2&after=Wzld&${long}`), 200)
  t.strictSame(['First page', 'Previous page'].map((label) => linksOf(repeated, label).length), [1, 1])
  t.notMatch((await get(own.app, '/posts?limit=2')).body, 'Last page', 'the app lists rows itself')
  const empty = isSound(t, await get(app, '/posts?limit=2&after=Wzld'), 200)
  t.strictSame(['First page', 'Previous page', 'Next page'].map((label) => linksOf(empty, label)),
    [['/posts?limit=2'], ['/posts?limit=2&before='], []])
})

t.test('links show and hide the columns of a list with more than eight attributes', async (t) => {
  const text = { type: 'string' }
  const attributes = schemaOf({
    ...Object.fromEntries(['firstName', 'lastName', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, text])),
    secret: { ...text, writeOnly: true }
  })
  const { app: few } = await seeded(t, [{ a: 'A' }], { attributes, html: {} })
  t.notMatch((await get(few, '/posts')).body, 'Columns', 'eight attributes all have columns')
  const more = { ...attributes, properties: { ...attributes.properties, g: text } }
  const { app } = await seeded(t, [{ firstName: 'Ann', lastName: 'Lee', a: 'A' }], {
    attributes: more, sort: ['lastName'], html: {}
  })
  const name = 'firstName%2ClastName'
  const cases: ReadonlyArray<readonly [url: string, heads: string[], links: Record<string, string>]> = [
    ['/posts', ['Post', 'Id', 'A', 'B', 'C', 'D', 'E', 'F'], {
      'A \u00d7': `${name}%2Cb%2Cc%2Cd%2Ce%2Cf`, '+ G': `${name}%2Ca%2Cb%2Cc%2Cd%2Ce%2Cf%2Cg`
    }],
    [`/posts?only=${name}%2Ca%2Cg`, ['Post', 'Id', 'A', 'G'], {
      'G \u00d7': `${name}%2Ca`, '+ B': `${name}%2Ca%2Cb%2Cg`
    }],
    // The last column stays.
    [`/posts?only=${name}%2Cg`, ['Post', 'Id', 'G'], { '+ A': `${name}%2Ca%2Cg` }],
    ['/posts?only=a', ['Id', 'A'], { '+ B': 'a%2Cb' }]
  ]
  for (const [url, heads, links] of cases) {
    const elements = isSound(t, await get(app, url), 200)
    const found = elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'col')
    t.strictSame(found.map(({ text }) => text), heads, url)
    for (const [label, only] of Object.entries(links)) {
      t.strictSame(linksOf(elements, label), [`/posts?only=${only}`], `${url}: ${label}`)
    }
    t.equal(elements.filter(({ text }) => text === 'G \u00d7').length > 0, links['G \u00d7'] !== undefined, url)
    t.equal(elements.some(({ name, attributes }) => name === 'details' && attributes.open === 'open'), url !== '/posts')
  }
  t.strictSame(linksOf(isSound(t, await get(app, '/posts'), 200), 'Post'), ['/posts?sort=lastName'],
    'the name of a person is sorted by its last part')
  for (const length of [5, 900]) {
    const { body } = await get(app, `/posts?a=${'a'.repeat(length)}`)
    t.equal(body.includes('Columns</summary>'), length === 5, 'a long query is not repeated')
  }
})

/** Returns the foot of a table: its heading, and its sums by the columns. */
function sumsOf (body: string): [label?: string, sums?: Record<string, string>] {
  const [, label, cells = ''] = /<tfoot><tr><th scope="row">(.*?)<\/th>(.*?)<\/tr>/.exec(body) ?? []
  const sums = [...cells.matchAll(/data-label="(.*?)" class="number">(.*?)</g)].map(([, name, sum]) => [name, sum])
  return label === undefined ? [] : [label, Object.fromEntries(sums)]
}

t.test('a sum of a column is exact', async (t) => {
  const decimal = { type: ['string', 'null'], format: 'decimal' }
  const cases: ReadonlyArray<readonly [schema: object, values: unknown[], sum: string | undefined, lang?: string]> = [
    [{ ...decimal, precision: 10, scale: 2 }, ['0.10', '0.20', null, '1234.5'], '1,234.80'],
    [{ ...decimal, precision: 10, scale: 2 }, ['1234.5'], '1.234,50', 'de'],
    [{ ...decimal, precision: 10, scale: 2 }, [null], '0.00'],
    [decimal, ['1.10', '0.005', '-3'], '-1.895'],
    [decimal, ['99999999999999999999.99', '0.01'], '100,000,000,000,000,000,000.00'],
    [{ type: 'number' }, [0.1, 0.2], '0.3'],
    [{ type: 'number' }, [1e21, 1, 1.5e-7], '1,000,000,000,000,000,000,001.00000015'],
    [{ type: 'number', multipleOf: 0.01 }, [19.9, 0.1], '20.00'],
    [{ type: ['integer', 'null'] }, [null, 9007199254740991, 9007199254740991, -0], '18,014,398,509,481,982'],
    [{ type: 'integer', format: 'int64' }, ['9007199254740993', 9, '-9007199254740995'], '7'],
    [{ type: 'number' }, [1, 'x'], undefined],
    [decimal, ['1', `${'9'.repeat(401)}`], undefined]
  ]
  for (const [schema, values, sum, lang = 'en'] of cases) {
    const rows = values.map((total) => ({ total })) as unknown as Array<Record<string, string>>
    const { app } = await seeded(t, rows, { attributes: schemaOf({ total: schema }), html: { lang } })
    const { body } = await get(app, '/posts?sum=total&limit=1')
    const label = lang === 'de' ? 'Summe (1 Post)' : `Sum (${values.length} post${values.length === 1 ? '' : 's'})`
    t.strictSame(sumsOf(body), [label, sum === undefined ? {} : { Total: sum }], JSON.stringify([schema, values]))
    t.equal(body.includes('<p>Total has no sum, because some of its values are not numbers.</p>'), sum === undefined)
  }
})

const order = schemaOf({
  title: { type: 'string' },
  status: { enum: ['open', 'paid'] },
  gift: { type: 'boolean' },
  tenant: { type: 'string' },
  total: { type: 'integer' },
  tax: { type: 'integer' },
  sum: { type: 'integer' },
  secret: { type: 'integer', writeOnly: true },
  level: { oneOf: [{ const: 1, title: 'Low' }, { const: 2, title: 'High' }] },
  authorId: { type: 'integer' }
})
const orders = Array.from({ length: 120 }, (_, index) => ({
  ...{ title: `${index % 3 === 0 ? 'tea' : 'ink'} ${index}`, total: index, tax: 1, sum: 2, secret: 7 },
  ...{ status: index % 4 === 0 ? 'paid' : 'open', gift: index % 2 === 0, tenant: index % 5 === 0 ? 'a' : 'b' },
  ...{ level: 1, authorId: 1 }
}))

t.test('sums and numbers of categories are those of the rows that the request may list', async (t) => {
  const { app, store } = await seeded(t, orders, {
    attributes: order,
    scope: ({ headers }) => headers['x-all'] === undefined ? { tenant: 'b' } : {},
    roles: { all: {}, clerk: { hidden: ['total', 'gift'] } },
    role: ({ headers }) => headers['x-role'] === 'clerk' ? 'clerk' : 'all'
  })
  const ask = async (url: string, more = {}): Promise<string> => {
    const res = await app.inject({ url, headers: { accept: 'text/html', ...more } })
    t.equal(res.headers.etag, undefined, 'a list has no tag')
    isSound(t, res, 200, url)
    return res.body
  }
  const numbersOf = (body: string): string[] =>
    [...body.matchAll(/<a class="chip" href="[^"]*"( aria-current="true")?>(\w+) <span>(\d+)<\/span>/g)]
      .map(([, current = '', value, rows]) => `${value} ${rows}${current && ' chosen'}`)
  type Post = { readonly status: string, readonly gift: boolean, readonly total: number }
  const queries = ['', 'q=tea', 'status=paid', 'total[gte]=50&sort=-total', 'q=tea&status=open&gift=true', 'q=none']
  for (const query of queries) {
    for (const more of [{}, { 'x-all': '1' }]) {
      const list = async (query: string): Promise<readonly Post[]> =>
        (await app.inject({ url: `/posts.json?${query}`, headers: more })).json<{ posts: readonly Post[] }>().posts
      const posts = await list(query)
      const count = async (name: string, value: string): Promise<string> => {
        const others = await list(query.split('&').filter((part) => !part.startsWith(name)).join('&'))
        const { length } = others.filter((post) => String(post[name as keyof Post]) === value)
        return `${length}${query.includes(`${name}=${value}`) ? ' chosen' : ''}`
      }
      const body = await ask(`/posts?${query}&sum=total,sum&limit=7`.replace('?&', '?'), more)
      const total = String(posts.reduce((sum, post) => sum + post.total, 0))
      t.strictSame(sumsOf(body.replace(/(\d),(\d)/, '$1$2')), posts.length === 0
        ? []
        : [`Sum (${posts.length} posts)`, { Total: total, Sum: String(2 * posts.length) }], query)
      t.strictSame(numbersOf(body), [
        ...[`open ${await count('status', 'open')}`, `paid ${await count('status', 'paid')}`],
        ...[`yes ${await count('gift', 'true')}`, `no ${await count('gift', 'false')}`],
        ...[`Low ${posts.length}`, 'High 0']
      ], query)
    }
  }
  const paid = elementsOf(await ask('/posts?gift=1&status=paid'))
  t.strictSame([linksOf(paid, 'paid 24 \u00d7'), linksOf(paid, 'open 24'), linksOf(paid, 'yes 24 \u00d7')],
    [['/posts?gift=1'], ['/posts?gift=1&status=open'], ['/posts?status=paid']], 'the chosen value is taken off')
  for (const query of ['status[not]=paid', 'status=paid&status[null]=false', 'status=']) {
    t.notMatch(await ask(`/posts?${query}`), 'aria-label="Status"', query)
  }
  const clerk = { 'x-role': 'clerk' }
  t.strictSame(numbersOf(await ask('/posts', clerk)), ['open 72', 'paid 24', 'Low 96', 'High 0'])
  const refused = await app.inject({ url: '/posts?sum=total', headers: { accept: 'text/html', ...clerk } })
  t.match(refused, { statusCode: 400, body: 'names &quot;total&quot;, which is not a column of numbers' })
  const before = sumsOf(await ask('/posts?sum=total'))
  store.update(120, { total: 1119 }, { version: undefined, scope: {} })
  t.strictSame([before, sumsOf(await ask('/posts?sum=total', { 'if-none-match': '*' }))],
    [['Sum (96 posts)', { Total: '5760' }], ['Sum (96 posts)', { Total: '6760' }]], 'a row of another page has changed')
})

t.test('a sum of anything but a column of numbers is refused, and only pages have sums', async (t) => {
  const references = { authorId: { to: 'posts', check: false } }
  const { app } = await seeded(t, orders, { attributes: order, references })
  for (const name of 'title gift level authorId secret id missing Total __proto__ total,title'.split(' ')) {
    const res = await get(app, `/posts?sum=${name}`)
    t.match(res, { statusCode: 400, body: 'which is not a column of numbers on this page' }, name)
  }
  t.match(await get(app, '/posts?only=title&sum=total'), { statusCode: 400, body: 'names &quot;total&quot;, which' })
  t.match(await get(app, '/posts?sum='), { statusCode: 400, body: 'by commas, such as &quot;total,tax&quot;' })
  t.match(await get(app, '/posts?sum=tax,tax'), { statusCode: 400, body: 'names &quot;tax&quot; twice' })
  t.match(await get(app, '/posts?sum=tax&sum=total'), { statusCode: 400, body: 'sum' })
  t.match(await get(app, '/posts/1?sum=tax'), { statusCode: 400, body: '&quot;sum&quot; is unknown' })
  for (const format of ['json', 'xml']) {
    t.match(await app.inject(`/posts.${format}?sum=total`), {
      statusCode: 400, body: /sum.* is not a parameter of \w+; leave it out, or ask for text\/html/
    })
  }
  t.match((await app.inject('/posts.json?sum[in]=2&limit=1')).json(), { posts: [{ id: 1 }] }, 'an attribute')
  const attributes = schemaOf({ total: { type: 'integer' }, status: { enum: ['open', 'paid'] } })
  const { app: own } = await seeded(t, orders, { attributes, actions: { list: ({ proceed }) => proceed() } })
  t.match(await get(own, '/posts?sum=total'), { statusCode: 400, body: '&quot;sum&quot; is unknown' })
  t.notMatch((await get(own, '/posts')).body, />Sum<|<span>\d/, 'a handler lists rows of its own')
  const { app: open } = await seeded(t, [{ total: 1 }])
  t.match(await get(open, '/posts?sum=total'), { statusCode: 400, body: 'which is not a column of numbers' })
})

t.test('links keep the sums of the columns that stay, and a page of large rows has them too', async (t) => {
  const { app } = await seeded(t, orders.slice(0, 3).map((row) => ({ ...row, title: 'x'.repeat(3_000_000) })), {
    attributes: order, formats: ['html', 'csv', 'json']
  })
  const res = await get(app, '/posts?sum=tax,total&only=title,tax,total&limit=2')
  t.strictSame(sumsOf(res.body), ['Sum (3 posts)', { Total: '3', Tax: '3' }])
  const elements = isSound(t, res, 200)
  const kept = 'only=title%2Ctax%2Ctotal&limit=2'
  for (const [label, href] of [
    ['Title', `/posts?sum=tax%2Ctotal&${kept}&sort=title`],
    ['Tax \u00d7', '/posts?sum=total&only=title%2Ctotal&limit=2'],
    ['+ Level', '/posts?sum=tax%2Ctotal&only=title%2Ctotal%2Ctax%2Clevel&limit=2'],
    ['open 2', `/posts?sum=tax%2Ctotal&${kept}&status=open`]
  ] as const) t.ok(linksOf(elements, label).includes(href), `${label}: ${linksOf(elements, label).join(' ')}`)
  t.ok(linksOf(elements, 'Total 3 \u00d7').includes(`/posts?sum=tax&${kept}`), 'the sum alone is hidden')
  t.match(linksOf(elements, 'Next page'), [/^\/posts\?sum=tax%2Ctotal&.*after=/])
  for (const label of ['JSON', 'CSV']) t.notMatch(linksOf(elements, label).join(), 'sum', 'other formats have no sums')
})
