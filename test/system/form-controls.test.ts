import Database from 'libsql'
import type { Browser, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { memoryStore } from '../../lib/index.js'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import {
  choices, control, fieldsOf, focusOf, formOf, launchChromium, makeScene, plainSpecimen, press, reasonToSkip,
  type Scene, specimen, textsOf
} from '../support/html/chromium.js'
import { build } from '../support/helper.js'

type Row = Record<string, unknown>

const context = { signal: new AbortController().signal }

t.test('in Chromium', { skip: reasonToSkip() ?? false }, testAll)

async function testAll (t: Test): Promise<void> {
  const browser = await launchChromium(t)
  // Two tests run at once, since a browser mostly waits.
  t.jobs = 2
  // The pages do not depend on the store, so that each test runs over one. The contract compares the stores.
  t.test('each kind of attribute, kept in a database file', { buffered: true }, async (t) =>
    testSpecimens(t, await openSpecimens(t, browser)))
  t.test('decimals, local times and bytes, kept in memory', { buffered: true }, async (t) => testExactTexts(t, browser))
}

async function openSpecimens (t: Test, browser: Browser): Promise<Scene> {
  const database = new Database(`${t.testdir()}/rows.sqlite`)
  t.teardown(() => database.close())
  const store = sqliteStore({
    database: database as unknown as SqliteDatabase,
    table: 'specimens',
    attributes: specimen,
    unique: ['title'],
    migrate: true
  })
  const server = { forceCloseConnections: true }
  const app = await build(t, { name: 'specimens', attributes: specimen, store }, { server })
  return { ...makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' })), store }
}

/** Rows that an untouched form must not change. */
const untouched: Array<[name: string, row: Row]> = [
  ['all there is', {
    certain: true,
    shown: false,
    found: '2024-02-29',
    boughtAt: '2026-01-31T12:30:15.250+02:00',
    amount: 0,
    mail: 'a@example.com',
    site: 'https://example.com/?a=b&c',
    note: 'A note',
    keeper: { name: 'Ada', address: { street: '', town: 'Ulm' } },
    parts: [{ label: 'One', grams: 0.1, broken: true }, { label: 'Two', grams: null, broken: false }],
    marks: ['stamp', 'signature'],
    tags: ['b', 'a'],
    extra: { a: [1, null, { b: '' }] },
    any: 'any'
  }],
  ['null, false and empty', {
    certain: null,
    shown: false,
    boughtAt: null,
    amount: null,
    site: null,
    note: null,
    parts: [],
    marks: [],
    tags: [],
    extra: null
  }],
  ['line breaks at each end', { body: '\n\n  Text\n\n', note: '\n' }],
  ['white space and signs', { title: ' " <b>&amp;\' ', body: '\tTab  and spaces ', tags: [' a ', '&lt;', 'é', '😀'] }],
  ['a carriage return', { body: 'a\r\nb\rc', note: '\r' }],
  ['items with line breaks', { tags: ['a\nb', 'c'] }],
  ['a time in microseconds', { boughtAt: '2026-01-31T12:30:15.123456Z' }],
  ['choices in another order', { marks: ['signature', 'stamp'] }],
  ['a great number', {
    weight: 9_007_199_254_740_991,
    amount: -9_007_199_254_740_991,
    parts: [{ label: 'One', grams: 1.7976931348623157e308, broken: false }]
  }],
  ['a very long text', { body: 'word '.repeat(2_000), note: 'n'.repeat(4_000), title: 't'.repeat(120) }],
  ['rows as many as a form has', {
    parts: Array.from({ length: 50 }, (_, index) => ({ label: `Part ${index}`, grams: index, broken: index % 2 === 0 }))
  }],
  ['an open value that is an object', { any: { a: [] } }],
  ['right to left', { title: 'كتاب', body: 'שלום' }]
]

/** Returns the control of an attribute of a specimen, such as `keeper.name`. */
function fieldOf (page: Page, name: string, value?: string): Locator {
  return control(page, `specimen[${name.replaceAll('.', '][')}]`, value)
}

async function testSpecimens (t: Test, { open, read, store, complaints }: Scene): Promise<void> {
  await t.test('each kind of control is filled in; errors are shown, and no typed value is lost', async (t) => {
    const page = await open('/specimens')
    t.match(await page.locator('.empty').innerText(), /There are no specimens yet/)
    const field = (name: string, value?: string): Locator => fieldOf(page, name, value)
    await field('title').fill('Amber')
    await field('body').fill('\nAn insect.')
    await field('status', 'review').check()
    await field('origin').selectOption('Europe')
    await field('certain', 'false').check()
    await field('shown').uncheck()
    await field('found').fill('2024-02-29')
    await field('boughtAt').fill('2026-01-31T12:30')
    await page.locator('.offset summary').click()
    await field('boughtAt.?.offset').fill('-03:30')
    await field('weight').fill('2.25')
    await field('amount').fill('3')
    await field('mail').fill('ada@example.com')
    await field('secret').fill('open sesame')
    await field('note').fill('A note\nof two lines')
    await field('keeper.address.town').fill('Ulm')
    await field('marks.', 'seal').check()
    await field('tags').fill('b\nb')
    await field('extra').fill('{"a": [1, null]}')
    await press(page, 'Add a part')
    await field('parts.0.label').fill('One')
    await field('parts.0.broken').check()
    await press(page, 'Add a part')
    await field('parts.1.label').fill('Two')
    await field('parts.1.grams').fill('0.1')
    await field('secret').fill('open sesame')

    const sent = await fieldsOf(formOf(page))
    await press(page, 'Create specimen')
    const faults = ['Keeper: Name must not be blank', 'Tags must not have the same item twice']
    t.strictSame(await textsOf(page.locator('.problem li')), faults)
    const shown = sent.map(([name, value]) => [name, name === 'specimen[secret]' ? '' : value])
    t.strictSame(await fieldsOf(formOf(page)), shown, 'all values are kept except the password, which is never shown')
    t.match(await page.locator('[id="specimen:secret!hint"]').innerText(), /Type it again/)

    await store?.create({ ...plainSpecimen }, {}, context)
    await field('tags').fill('b\na')
    await field('keeper.name').fill('Ada')
    await field('secret').fill('open sesame')
    await press(page, 'Create specimen')
    t.strictSame(await textsOf(page.locator('.problem li')), ['Title is already taken'])
    await page.locator('.problem').getByRole('link').click()
    t.equal(await focusOf(page), 'specimen:title')
    t.equal(await field('parts.1.grams').inputValue(), '0.1')
    await field('title').fill('Amber, too')
    await field('secret').fill('open sesame')
    await press(page, 'Create specimen')
    const { specimen } = await read(page.url().replace(/.*(?=\/specimens)|#.*/g, ''))
    // A database stores an absent value as null.
    t.strictSame(withoutNulls(specimen), {
      id: specimen.id,
      title: 'Amber, too',
      body: '\nAn insect.',
      status: 'review',
      origin: 'Europe',
      certain: false,
      shown: false,
      found: '2024-02-29',
      boughtAt: '2026-01-31T12:30:00-03:30',
      weight: 2.25,
      amount: 3,
      mail: 'ada@example.com',
      note: 'A note\nof two lines',
      keeper: { name: 'Ada', address: { town: 'Ulm' } },
      parts: [{ label: 'One', broken: true }, { label: 'Two', grams: 0.1, broken: false }],
      marks: ['seal'],
      tags: ['b', 'a'],
      extra: { a: [1, null] }
    })
  })

  await t.test('an untouched form changes nothing', async (t) => {
    const page = await open('/specimens')
    for (const [name, row] of untouched) {
      const changed = { ...plainSpecimen, title: `Untouched: ${name}`, code: 'M-1', ...row }
      const created = await store?.create(changed, {}, context)
      const path = `/specimens/${created?.id}`
      const before = await read(path)
      const stored = async (): Promise<unknown> => (await store?.get(created?.id as number, {}, context))?.attributes
      const kept = await stored()
      await page.goto(new URL(`${path}#edit`, page.url()).href)
      await press(page, 'Save changes')
      const after = await read(path)
      t.strictSame(await textsOf(page.locator('.problem li')), [], `${name}: there is no error`)
      t.strictSame(await textsOf(page.locator('.notice')), ['Saved.'], `${name}: the form was submitted`)
      t.equal(after.etag, before.etag, `${name}: nothing was written`)
      t.equal(JSON.stringify(after.specimen), JSON.stringify(before.specimen), `${name}: the record is unchanged`)
      t.strictSame(await stored(), kept, `${name}: the stored row is unchanged`)
    }
  })

  await t.test('each kind of control can be emptied and filled again', async (t) => {
    const created = await store?.create({ ...plainSpecimen, ...untouched[0]?.[1], title: 'Emptied' }, {}, context)
    const page = await open(`/specimens/${created?.id}#edit`)
    const field = (name: string, value?: string): Locator => fieldOf(page, name, value)
    await field('certain', '').check()
    await field('shown').check()
    const texts = ['boughtAt', 'amount', 'site', 'note', 'tags', 'extra', 'any', 'keeper.address.town']
    for (const name of texts) await field(name).fill('')
    for (const mark of ['stamp', 'signature']) await field('marks.', mark).uncheck()
    await press(page, 'Remove part 1')
    await press(page, 'Remove part 1')
    await field('secret').fill('another word')
    await press(page, 'Save changes')
    t.strictSame(await textsOf(page.locator('.problem li')), [], 'there is no error')
    const { specimen } = await read(`/specimens/${created?.id}`)
    t.match(specimen, {
      certain: null,
      shown: true,
      boughtAt: null,
      amount: null,
      site: null,
      parts: [],
      marks: [],
      tags: [],
      extra: null,
      any: null
    })
    t.equal((await store?.get(created?.id as number, {}, context))?.attributes.secret, 'another word')
  })

  await t.test('two windows conflict over each kind of control', async (t) => {
    const created = await store?.create({ ...plainSpecimen, ...untouched[0]?.[1], title: 'Contested' }, {}, context)
    const path = `/specimens/${created?.id}`
    for (const side of ['yours', 'theirs'] as const) {
      const mine = await open(`${path}#edit`)
      const theirs = await open(`${path}#edit`)
      const [theirNumber, myNumber, theirOrigin, myOrigin, theirMark, myMark, draft, no] = side === 'yours'
        ? ['7', '8', 'Asia', 'Sea', 'stamp', 'seal', 'draft', 'false'] as const
        : ['5', '6', 'Space', 'Africa', 'signature', 'stamp', 'live', 'true'] as const
      for (const [page, word, number, box, other] of [
        [theirs, `Their ${side}`, theirNumber, theirMark, theirOrigin],
        [mine, `My ${side}`, myNumber, myMark, myOrigin]
      ] as const) {
        const field = (name: string, value?: string): Locator => fieldOf(page, name, value)
        const texts = ['title', 'body', 'note', 'keeper.name', 'parts.1.label', 'tags']
        for (const name of texts) await field(name).fill(word)
        for (const name of ['weight', 'amount', 'parts.0.grams']) await field(name).fill(number)
        await field('origin').selectOption(other)
        await field('status', page === mine ? draft : 'review').check()
        await field('certain', page === mine ? no : '').check()
        for (const mark of ['stamp', 'seal', 'signature']) await field('marks.', mark).setChecked(mark === box)
        await field('found').fill(`2024-03-0${number}`)
        await field('boughtAt').fill(`2026-03-0${number}T12:00:00`)
        await field('extra').fill(`["${word}"]`)
        await field('secret').fill(`the word of ${word}`)
        await press(page, 'Save changes')
      }
      const before = (await read(path)).specimen
      t.equal(before.title, `Their ${side}`)
      const differ = [
        'title', 'body', 'status', 'origin', 'certain', 'found', 'boughtAt', 'weight', 'amount', 'note', 'keeper',
        'parts', 'marks', 'tags', 'extra'
      ]
      const allMine = Object.fromEntries(differ.map((name) => [name, 'yours']))
      t.strictSame(await choices(mine), allMine, 'both changed it, so mine is selected by default')
      for (const name of differ) await control(mine, `specimen[${name}][?][keep]`, side).check()
      await press(mine, 'Save changes')
      const after = (await read(path)).specimen
      if (side === 'theirs') t.strictSame(after, before)
      else {
        t.match(after, {
          title: 'My yours',
          body: 'My yours',
          note: 'My yours',
          keeper: { name: 'My yours', address: { town: 'Ulm' } },
          parts: [{ label: 'One', grams: 8 }, { label: 'My yours' }],
          tags: ['My yours'],
          weight: 8,
          amount: 8,
          origin: 'Sea',
          status: 'draft',
          certain: false,
          marks: ['seal'],
          found: '2024-03-08',
          boughtAt: '2026-03-08T12:00:00+02:00',
          extra: ['My yours']
        })
      }
    }
  })
  t.strictSame(complaints, [], 'no request failed, and the browser did not complain')
}

function withoutNulls (row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

/** Values of one attribute each, which a form must not change unless somebody types. */
const EXACT: ReadonlyArray<readonly [schema: object, values: readonly string[], typed: string, kept: string]> = [
  [
    { type: 'string', format: 'decimal' }, ['-0.10', '007.0', '100000000000000000000.10', '1,5'],
    '12345678901234567890.10', '12345678901234567890.10'
  ],
  [{ type: 'string', format: 'decimal', precision: 20, scale: 2 }, ['3.125', '123456789012345678.90'], '.5', '0.5'],
  [
    { type: 'string', format: 'date-time-local' },
    ['2020-01-02T03:04:00', '2020-01-02T03:04:05.5', '2020-01-02T03:04:05.123456', '0001-01-01T00:00:00'],
    '2024-02-29T12:30', '2024-02-29T12:30:00'
  ],
  [{ type: 'string', format: 'time-local' }, ['03:04:00', '03:04:05.10', '23:59:59.999999'], '12:30', '12:30:00'],
  [
    { type: 'string', contentEncoding: 'base64' }, ['', 'AA==', 'aGVsbG8='.slice(0, 4).repeat(100)],
    'hello', 'aGVsbG8='
  ]
]

async function testExactTexts (t: Test, browser: Browser): Promise<void> {
  for (const [schema, values, typed, kept] of EXACT) {
    const store = memoryStore()
    for (const it of values) store.create({ it, title: 'Before' }, {})
    const attributes = { type: 'object', properties: { title: { type: 'string', maxLength: 9 }, it: schema } } as const
    const app = await build(t, { name: 'posts', attributes, store }, { server: { forceCloseConnections: true } })
    const scene = makeScene(t, browser, await app.listen({ port: 0, host: '127.0.0.1' }))
    const page = await scene.open('/posts')
    for (const [index, value] of values.entries()) {
      const id = index + 1
      await page.goto(`${scene.url}/posts/${id}#edit`)
      await control(formOf(page), 'post[title]').fill('After')
      await press(page, 'Save changes')
      const { title, it } = (await scene.read(`/posts/${id}`)).post as Row
      // The schema does not allow two of the values, which stay as they are because nobody has touched them.
      t.strictSame([title, it], ['After', value], `${JSON.stringify(schema)} ${value}`)
    }
    await page.goto(`${scene.url}/posts/1#edit`)
    const field = control(formOf(page), 'post[it]')
    if ('contentEncoding' in schema) {
      await field.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from(typed) })
    } else await field.fill(typed)
    await press(page, 'Save changes')
    t.equal(((await scene.read('/posts/1')).post as Row).it, kept, `${JSON.stringify(schema)} ${typed}`)
  }
}
