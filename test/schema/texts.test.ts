import t from 'tap'
import fastify from 'fastify'
import { draw, memoryStore } from '../../lib/index.js'
import {
  type Attributes, errorsOf, type Fields, form, json, type Json, mediaTypes, type Outcome, outcomeOf, read, refused,
  send, things
} from '../support/conversion.js'
import { build, types, xml } from '../support/helper.js'

/** Numbers that a double represents exactly, and their values. */
const EXACT: ReadonlyArray<readonly [text: string, value: number]> = [
  ['0', 0], ['0.1', 0.1], ['0.10', 0.1], ['1.0', 1], ['1e2', 100], ['1E+2', 100], ['1.50', 1.5], ['-1.5', -1.5],
  ['0.0', 0], ['0e-400', 0], ['0.00000000000000000000', 0],
  ['900719925474099.2e1', 9007199254740992], ['9007199254740992', 9007199254740992],
  ['9007199254740992.000', 9007199254740992], ['1152921504606846976', 2 ** 60], ['11529215046068469.76e2', 2 ** 60],
  ['123456789012345680000', 123456789012345680000],
  ['-1152921504606846976', -(2 ** 60)], ['1.7976931348623157e308', Number.MAX_VALUE], ['5e-324', 5e-324],
  ['2.2250738585072014e-308', 2.2250738585072014e-308], ['0.30000000000000004', 0.30000000000000004],
  // All these digits belong to the double, although it has a shorter spelling. `%.17g` of C and `Double.toString` of
  // Java write them.
  ['0.10000000000000001', 0.1], ['0.1000000000000000056', 0.1], ['-1.2000000000000000e-05', -1.2e-5],
  ['4.9E-324', 5e-324], ['2.0000000000000002e-05', 2e-5], ['1.7976931348623157081e308', Number.MAX_VALUE]
]
const INEXACT = [
  '9007199254740993', '9007199254740993.0', '900719925474099.3e1', '9.007199254740993e15', '90071992547409930e-1',
  '1e-400', '-1e-400', '1e400', '-1e400', '1e0400', '4e-324', '0.1000000000000000055', '0.100000000000000005',
  '123456789.123456789', '1.79769313486231572e308', '1152921504606846977', `1${'0'.repeat(401)}`,
  `0.${'0'.repeat(400)}1`, '1e99999999999999999999', '1e-99999999999999999999', `1${'0'.repeat(22)}1`
]

t.test('a number that a double does not represent is refused in every spelling and format', async t => {
  const attributes = {
    type: 'object',
    properties: {
      ratio: { type: 'number' },
      share: { type: ['number', 'null'] },
      list: { type: 'array', items: { type: 'number' } },
      group: { type: 'object', properties: { ratio: { type: 'number' } } }
    }
  } as const
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map.resources('things', { attributes }, (things) => {
    things.collection.get('find', { query: { type: 'object', properties: { ratio: { type: 'number' } } } }, () => [])
  })))
  await app.ready()
  const open = await build(t, { name: 'things' })
  type Place = readonly [path: string, wrap: (value: Json) => Json, xml: (text: string) => string, field: string]
  const places: readonly Place[] =
    [
      ['ratio', (value) => ({ ratio: value }), (text) => `<ratio>${text}</ratio>`, 'ratio'],
      ['share', (value) => ({ share: value }), (text) => `<share type="decimal">${text}</share>`, 'share'],
      ['list.0', (value) => ({ list: [value] }), (text) => `<list><n type="float">${text}</n></list>`, 'list]['],
      ['group.ratio', (value) => ({ group: { ratio: value } }), (text) => `<group><ratio>${text}</ratio></group>`,
        'group][ratio']
    ]
  const message = (text: string): string => `has the number ${text.length > 40 ? `${text.slice(0, 40)}…` : text}, ` +
    'which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308'
  for (const [text, value] of EXACT) t.strictSame(await json(t, app, `{"ratio":${text}}`), { ratio: value }, text)
  for (const text of INEXACT) {
    const res = await send(app, mediaTypes.json, `{"thing":{"ratio":${text}}}`)
    t.strictSame([res.statusCode, errorsOf(res)], [422, { ratio: [message(text)] }], text)
  }
  for (const [text, value] of [['0.10', 0.1], ['9007199254740993.0', undefined], ['1e-400', undefined]] as const) {
    for (const [path, wrap, element, field] of places) {
      const group = JSON.stringify(wrap('?')).replace('"?"', text)
      for (const [media, payload] of [
        [mediaTypes.json, `{"thing":${group}}`], [mediaTypes.xml, `<thing>${element(text)}</thing>`],
        [mediaTypes.form, new URLSearchParams([[`thing[${field}]`, text]]).toString()]
      ] as const) {
        const res = await send(app, media, payload)
        const what = `${media} ${path} ${text}`
        if (value === undefined) t.strictSame([res.statusCode, errorsOf(res)], [422, { [path]: [message(text)] }], what)
        else t.match(res.json(), { thing: wrap(value) }, what)
      }
    }
    for (const [media, payload] of [
      [mediaTypes.json, `{"thing":{"a":{"b":[${text}]}}}`],
      [mediaTypes.xml, `<thing><a><b type="array"><c type="float">${text}</c></b></a></thing>`],
      [mediaTypes.form, `thing[a][?]=json&thing[a]=${encodeURIComponent(`{"b":[${text}]}`)}`]
    ] as const) {
      const res = await send(open, media, payload)
      const what = `open ${media} ${text}`
      if (value === undefined) t.match([res.statusCode, Object.values(errorsOf(res))], [422, [[message(text)]]], what)
      else t.match(res.json(), { thing: { a: { b: [value] } } }, what)
    }
    for (const url of ['/things.json', '/things/find.json']) {
      const res = await app.inject({ url, query: { ratio: text } })
      t.equal(res.statusCode, value === undefined ? 400 : 200, `${url} ${text}`)
      if (value === undefined) t.match(res.json<{ detail: string }>().detail, message(text))
    }
  }
})

t.test('a whole number too large for an integer is reported as such', async t => {
  const app = await build(t, things)
  const message = 'must be an integer between -9007199254740991 and 9007199254740991'
  for (const [media, payload] of [
    [mediaTypes.json, '{"thing":{"count":9007199254740992}}'],
    [mediaTypes.xml, '<thing><count>9007199254740992</count></thing>'],
    [mediaTypes.xml, '<thing><count type="integer">9007199254740993</count></thing>'],
    [mediaTypes.xml, '<thing><limit>-9007199254740993</limit></thing>'],
    [mediaTypes.form, 'thing[count]=9007199254740993'],
    [mediaTypes.form, 'thing[limit]=9007199254740993']
  ] as const) {
    const res = await send(app, media, payload)
    t.strictSame([res.statusCode, Object.values(errorsOf(res))], [422, [[message]]], payload)
  }
  t.match((await app.inject('/things.json?count[in]=9007199254740993')).json(), {
    status: 400, detail: `"count[in]" ${message}`
  })
})

const RIGHT_MOMENTS = [
  '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.123456789+05:30', '2026-01-31T00:00:00-14:00',
  '2026-01-31T00:00:00+14:00', '2026-01-31T23:59:59-00:00', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z',
  '2024-02-29T12:00:00Z', '2000-02-29T12:00:00Z', '1990-12-31T23:59:60Z', '1990-12-31T15:59:60.5-08:00',
  '1991-01-01T00:59:60+01:00'
]
const WRONG_MOMENTS = [
  '2020-02-29 12:00:00Z', '2020-02-29t12:00:00Z', '2020-02-29T12:00:00z', '2020-02-29T12:00:00+0530',
  '2020-02-29T12:00:00+05', '2020-02-29T12:00:00', '2020-02-29T12:00Z', '2020-02-29T24:00:00Z', '2020-02-29T12:60:00Z',
  '2020-02-29T24:59:60+01:00', '2020-02-29T12:00:60Z', '2020-02-28T23:59:60Z', '2020-02-29T23:59:61Z',
  '0000-01-01T00:00:00Z', '-0001-01-01T00:00:00Z', '10000-01-01T00:00:00Z', '2021-02-29T12:00:00Z',
  '1900-02-29T12:00:00Z',
  '2020-00-10T12:00:00Z', '2020-13-10T12:00:00Z', '2020-02-00T12:00:00Z', '2020-02-29T12:00:00+14:01',
  '2020-02-29T12:00:00+23:59', '2020-02-29T12:00:00.Z', '2020-02-29T12:00:00,5Z', '2020-02-29', ''
]
const RIGHT_TIMES = ['12:00:00Z', '23:59:59.5+05:30', '23:59:60Z', '15:59:60-08:00', '00:59:60+01:00']
const WRONG_TIMES = ['12:00:00z', '12:00:00', '12:00:00+05', '12:00:00+0530', '24:59:60+01:00', '24:00:00Z',
  '12:00:60Z', '12:00:00+15:00']
const RIGHT_DATES = ['0001-01-01', '2024-02-29', '2000-02-29', '9999-12-31']
const WRONG_DATES = [
  '0000-01-01', '2026-02-29', '1900-02-29', '2026-04-31', '2026-00-01', '2026-13-01', '2026-01-00', '20260131',
  '2026-01-31Z'
]

t.test('dates and times are accepted if both RFC 3339 and XML Schema allow them, in every format', async t => {
  const attributes = {
    type: 'object',
    properties: {
      moment: { type: 'string', format: 'date-time' },
      time: { type: 'string', format: 'time' },
      day: { type: 'string', format: 'date' }
    }
  } as const
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map.resources('things', { attributes }, (things) => {
    things.collection.get('find', { query: attributes }, () => [])
    things.collection.post('mark', { attributes }, (context) => ({
      id: 1, version: '1', attributes: context.attributes
    }))
  })))
  await app.ready()
  const open = await build(t, { name: 'things' })
  const cases = [
    ['moment', RIGHT_MOMENTS, WRONG_MOMENTS, 'must be a date and time such as 2026-01-31T12:00:00Z', 'dateTime'],
    ['time', RIGHT_TIMES, WRONG_TIMES, 'must be a time such as 12:00:00Z', undefined],
    ['day', RIGHT_DATES, WRONG_DATES, 'must be a date such as 2026-01-31', 'date']
  ] as const
  for (const [name, right, wrong, message, type] of cases) {
    for (const [index, text] of [...right, ...wrong].entries()) {
      const isRight = index < right.length
      const pairs = new URLSearchParams([[`thing[${name}]`, text]]).toString()
      const all = [
        [mediaTypes.json, JSON.stringify({ thing: { [name]: text } })],
        [mediaTypes.xml, `<thing><${name}>${text}</${name}></thing>`], [mediaTypes.form, pairs]
      ] as const
      // The first of each kind is sent to each place, in each format.
      const isFirst = index === 0 || index === right.length
      for (const url of isFirst ? ['/things', '/things/mark'] : ['/things']) {
        for (const [media, payload] of isFirst ? all : all.slice(0, 1)) {
          const res = await send(app, media, payload, 'POST', url)
          if (isRight) t.match(res.json(), { thing: { [name]: text } }, `${url} ${payload}`)
          else t.strictSame([res.statusCode, errorsOf(res)], [422, { [name]: [message] }], `${url} ${payload}`)
        }
      }
      if (!isFirst) continue
      for (const url of ['/things.json', '/things/find.json']) {
        const res = await app.inject({ url, query: { [name]: text } })
        t.equal(res.statusCode, isRight ? 200 : 400, `${url} ${text}`)
        if (!isRight) t.match(res.json<{ detail: string }>().detail, message)
      }
      if (type === undefined) continue
      const typed = await send(open, mediaTypes.xml, `<thing><a type="${type}">${text}</a></thing>`)
      if (isRight) t.match(typed.json(), { thing: { a: text } }, `type="${type}" ${text}`)
      else t.strictSame([typed.statusCode, errorsOf(typed)], [422, { a: [message] }], `type="${type}" ${text}`)
    }
  }
})

t.test('a stored date and time in another spelling is written as it is', async t => {
  const store = memoryStore()
  await store.create(
    { moment: '2020-02-29 12:00:00z', day: '0000-01-01' }, {}, { signal: new AbortController().signal }
  )
  const app = await build(t, { ...things, store })
  t.strictSame((await app.inject('/things.json')).json(), {
    things: [{ id: 1, moment: '2020-02-29 12:00:00z', day: '0000-01-01' }]
  })
  t.match((await app.inject('/things/1.xml')).body, '<moment>2020-02-29 12:00:00z</moment>')
  t.equal((await app.inject('/things/1.html')).statusCode, 200)
  t.equal((await send(app, mediaTypes.json, '{"id":1,"thing":{"text":"changed"}}', 'PUT')).statusCode, 200,
    'an attribute that is not sent is not validated')
})

t.test('open attributes', async t => {
  const app = await build(t, { name: 'things' })

  t.test('JSON values are kept as they are', async t => {
    for (const attributes of [
      {}, { a: 'x' }, { a: '' }, { a: '5' }, { a: 5 }, { a: 1.5 }, { a: 1e21 }, { a: true }, { a: false }, { a: null },
      { a: [] }, { a: [1, 'x', null, true, [2]] },
      { a: { b: { c: 1 } } }, { a: [{ b: 1 }, { b: 'x' }] }, { type: 'x', nil: 'y' },
      { _a: 1, a_b: 2, 'a.b': 3, é: 4, a1: 5 },
      { constructor: 'x', toString: 'y', hasOwnProperty: 'z', valueOf: 1 }, { a: { constructor: 'x', toString: 1 } }
    ]) t.strictSame(await json(t, app, JSON.stringify(attributes)), attributes, JSON.stringify(attributes))
  })

  t.test('XML values are kept by their type attribute', async t => {
    const cases: [string, Outcome][] = [
      ['', {}], ['<a>x</a>', { a: 'x' }], ['<a>5</a>', { a: '5' }], ['<a>true</a>', { a: 'true' }],
      ['<a> x </a>', { a: ' x ' }], ['<a></a>', { a: '' }], ['<a/>', { a: null }], ['<a nil="true"/>', { a: null }],
      ['<a type="string">5</a>', { a: '5' }], ['<a type="symbol">x</a>', refused('a')],
      ['<a type="integer">5</a>', { a: 5 }], ['<a type="integer"> +5 </a>', { a: 5 }],
      ['<a type="float">1.5</a>', { a: 1.5 }], ['<a type="decimal">12.50</a>', { a: 12.5 }],
      ['<a type="boolean">true</a>', { a: true }], ['<a type="boolean">0</a>', { a: false }],
      ['<a type="date">2003-07-16</a>', { a: '2003-07-16' }],
      ['<a type="dateTime">2003-07-16T09:28:00Z</a>', { a: '2003-07-16T09:28:00Z' }],
      ['<a type="array"><b>x</b><b type="integer">1</b><b nil="true"/></a>', { a: ['x', 1, null] }],
      ['<a type="array"/>', { a: [] }], ['<a type="array"><b><c>1</c></b></a>', { a: [{ c: '1' }] }],
      ['<a><b>x</b><c type="integer">1</c></a>', { a: { b: 'x', c: 1 } }], ['<a id="1"><b>2</b></a>', refused('a')],
      ['<constructor>x</constructor><toString>y</toString>', { constructor: 'x', toString: 'y' }],
      ['<type>arial</type>', { type: 'arial' }], ['<first_name>x</first_name>', { first_name: 'x' }],
      ['<a type="integer">x</a>', refused('a')], ['<a type="integer">1.5</a>', refused('a')],
      ['<a type="integer">9007199254740993</a>', refused('a')], ['<a type="float">x</a>', refused('a')],
      ['<a type="float">1e999</a>', refused('a')],
      ['<a type="boolean">TRUE</a>', refused('a')], ['<a type="date">nope</a>', refused('a')],
      ['<a type="dateTime">2003-07-16</a>', refused('a')], ['<a type="array">x</a>', refused('a')],
      ['<a type="Foo">x</a>', refused('a')],
      ['<a type="yaml">--- 1</a>', refused('a')], ['<a>x</a><a>y</a>', refused('a')],
      ['<a>x<b>y</b></a>', refused('a')], ['<a nil="true">x</a>', refused('a')],
      ['<a><b type="integer">x</b></a>', refused('a.b')],
      ['<a type="array"><b>1</b><c>2</c></a>', refused('a')],
      ['<a type="array"><b type="integer">x</b></a>', refused('a.0')]
    ]
    for (const [inner, expected] of cases) t.strictSame(await read(t, app, inner), expected, inner || '(nothing)')
  })

  t.test('form values are strings', async t => {
    const cases: [Fields, Outcome][] = [
      [[['a', 'x']], { a: 'x' }], [[['a', '5']], { a: '5' }], [[['a', 'true']], { a: 'true' }],
      [[['a', '']], { a: '' }], [[['a][b', '5']], { a: { b: '5' } }],
      [[['a][', 'x'], ['a][', 'y']], { a: ['x', 'y'] }], [[['constructor', 'x']], { constructor: 'x' }],
      [[['a', 'x\r\ny']], { a: 'x\ny' }], [[['a', 'x'], ['a', 'y']], refused('a')]
    ]
    for (const [pairs, expected] of cases) t.strictSame(await form(t, app, pairs), expected, JSON.stringify(pairs))
  })

  t.test('an empty object is kept', async t => {
    for (const attributes of ['{"a":{}}', '{"a":{"b":{}}}', '{"a":[1,{}]}']) {
      t.strictSame(await json(t, app, attributes), JSON.parse(attributes), attributes)
    }
  })

  t.test('an integer beyond the precision of a double is refused', async t => {
    t.match(await send(app, mediaTypes.json, '{"thing":{"a":9007199254740993}}'), { statusCode: 422 })
    t.match(await send(app, mediaTypes.json, '{"thing":{"a":[{"b":12345678901234567890}]}}'), { statusCode: 422 })
  })

  t.test('the error names the attribute of the inexact number, even if another has the same double', async t => {
    const message = (text: string): string[] => [
      `has the number ${text}, which cannot be kept exactly; send at most 15 digits, between 1e-307 and 1e308`
    ]
    for (const [body, path, text] of [
      ['{"thing":{"a":0,"b":1e-400}}', 'b', '1e-400'],
      ['{"thing":{"a":9007199254740992,"b":{"c":[1,9007199254740993.0]}}}', 'b.c.1', '9007199254740993.0'],
      ['{"thing":{"a":"9007199254740993","b":9007199254740993}}', 'b', '9007199254740993'],
      ['{"thing":{"a":9007199254740993,"a":1}}', 'body', '9007199254740993'],
      ['9007199254740993', 'body', '9007199254740993']
    ] as const) t.strictSame(errorsOf(await send(app, mediaTypes.json, body)), { [path]: message(text) }, body)
    const id = errorsOf(await send(app, mediaTypes.json, '{"id":9007199254740993,"thing":{"a":1}}'))
    t.match(id, { id: [/^must be a text of digits beyond 9007199254740991, such as "9007199254740993"/] })
  })

  t.test('a record has at most 100 open attributes', async t => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`)
    for (const [count, status] of [[100, 201], [101, 422], [900, 422]] as const) {
      t.match(
        await send(app, mediaTypes.json,
          JSON.stringify({ thing: Object.fromEntries(names(count).map(name => [name, 'x'])) })),
        { statusCode: status },
        `JSON ${count}`
      )
      t.match(
        await send(app, mediaTypes.xml, `<thing>${names(count).map(name => `<${name}>x</${name}>`).join('')}</thing>`),
        { statusCode: status },
        `XML ${count}`
      )
      t.match(await send(app, mediaTypes.form, names(count).map(name => `thing[${name}]=x`).join('&')),
        { statusCode: status }, `form ${count}`)
    }
  })

  t.test('open values nest at most eight levels deep', async t => {
    const nest = (depth: number) => Array.from({ length: depth }, (_, index) => `a${index}`)
    for (const [depth, statusCode] of [[8, 201], [9, 422], [20, 422]] as const) {
      const names = nest(depth)
      t.match(
        await send(app, mediaTypes.json,
          `{"thing":${names.map(name => `{"${name}":`).join('')}"x"${'}'.repeat(depth)}}`),
        { statusCode },
        `JSON ${depth}`
      )
      t.match(
        await send(
          app,
          mediaTypes.xml,
          `<thing>${names.map(name => `<${name}>`).join('')}x` +
            `${names.toReversed().map(name => `</${name}>`).join('')}</thing>`
        ),
        { statusCode },
        `XML ${depth}`
      )
      const answer = (await send(app, mediaTypes.form, `thing${names.map(name => `[${name}]`).join('')}=x`)).statusCode
      t.ok(depth === 8 ? answer === 201 : answer === 400 || answer === 422, `form ${depth}: ${answer}`)
    }
    t.match(await send(app, mediaTypes.json, `{"thing":{"a":${'['.repeat(20)}1${']'.repeat(20)}}}`),
      { statusCode: 422 }, 'the same for arrays')
    for (const depth of [33, 5000]) {
      t.match(await send(app, mediaTypes.xml, `<thing>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</thing>`),
        { statusCode: 400 }, `XML ${depth}`)
      t.match(await send(app, mediaTypes.form, `thing${'[a]'.repeat(depth)}=x`), { statusCode: 400 }, `form ${depth}`)
      const answer = (await send(app, mediaTypes.json,
        `{"thing":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`)).statusCode
      t.ok(answer === 400 || answer === 422, `JSON ${depth}: ${answer}`)
    }
  })

  t.test('a name has no hyphen, since clients of the convention write hyphens for underscores', async t => {
    const cases: [inner: string, expected: Outcome][] = [
      ['<first-name>x</first-name>', { first_name: 'x' }],
      ['<first_name>x</first_name>', { first_name: 'x' }],
      ['<a-b-c->x</a-b-c->', { a_b_c_: 'x' }],
      ['<author><first-name>x</first-name></author>', { author: { first_name: 'x' } }],
      ['<people type="array"><person><first-name type="integer">1</first-name></person></people>',
        { people: [{ first_name: 1 }] }],
      ['<first-name>x</first-name><first_name>x</first_name>', refused('first_name')],
      ['<author><first_name>x</first_name><first-name>x</first-name></author>', refused('author.first_name')],
      ['<author first-name="x"><first_name>x</first_name></author>', refused('author')]
    ]
    for (const [inner, expected] of cases) t.strictSame(await read(t, app, inner), expected, inner)
    const message = 'has a "-" in its name, which XML clients write for "_"; send "first_name"'
    for (const [type, payload, path] of [
      [mediaTypes.json, '{"thing":{"first-name":"x"}}', 'first-name'],
      [mediaTypes.json, '{"thing":{"first-name":"x","first_name":"x"}}', 'first-name'],
      [mediaTypes.form, 'thing[first-name]=x', 'first-name'],
      [mediaTypes.form, 'thing[?][0][name]=first-name&thing[?][0][value]=x', 'first-name']
    ] as const) {
      const res = await send(app, type, payload)
      t.equal(res.statusCode, 422, payload)
      t.strictSame(errorsOf(res), { [path]: [message] }, payload)
    }
    for (const [type, payload] of [
      [mediaTypes.json, '{"thing":{"author":{"first-name":"x"}}}'],
      [mediaTypes.json, '{"thing":{"author":[{"first-name":"x"}]}}'],
      [mediaTypes.xml, '<thing><author type="json">{"first-name":"x"}</author></thing>'],
      [mediaTypes.form, 'thing[author][first-name]=x'],
      [mediaTypes.form, `thing[author]=${encodeURIComponent('{"first-name":"x"}')}&thing[author][?]=json`]
    ] as const) {
      t.match(await send(app, type, payload), { statusCode: 201, body: '"first-name":"x"' },
        'a name inside a value may have one')
    }
  })

  t.test('a stored value under a name with a hyphen survives an update by a page', async t => {
    const store = memoryStore()
    await store.create(
      { 'first-name': 'x', author: { 'last-name': 'y' }, a: 'z' }, {}, { signal: new AbortController().signal }
    )
    const app = await build(t, { name: 'things', store })
    const page = (await app.inject('/things/1.html')).body
    t.notMatch(page, /name="thing\[first-name\]/)
    t.match(page, 'name="thing[author]"')
    t.match(page, 'name="thing[a]"')
    t.equal(
      (await app.inject({
        method: 'POST',
        url: '/things',
        headers: { 'content-type': mediaTypes.form },
        payload: '_method=PUT&id=1&thing[a]=changed'
      })).statusCode,
      303
    )
    t.strictSame((await app.inject('/things/1.json')).json(), {
      thing: { id: 1, 'first-name': 'x', author: { 'last-name': 'y' }, a: 'changed' }
    })
    t.equal((await app.inject('/things/1.xml')).body,
      `${xml}<thing><id type="integer">1</id><author type="json">{"last-name":"y"}</author><a>changed</a></thing>`)
  })

  t.test('a declared object of open names may have hyphens in them, and a declared name may be given once', async t => {
    const app = await build(t, {
      name: 'things',
      attributes: {
        type: 'object',
        properties: {
          titles: { type: 'object', additionalProperties: { type: 'string' } }, first_name: { type: 'string' }
        }
      }
    })
    t.strictSame(await json(t, app, '{"titles":{"en-US":"x","en_US":"y"}}'), { titles: { 'en-US': 'x', en_US: 'y' } })
    t.strictSame(await read(t, app, '<titles><en-US>x</en-US><en_US>y</en_US></titles>'), {
      titles: { 'en-US': 'x', en_US: 'y' }
    })
    t.strictSame(await read(t, app, '<first-name>x</first-name><first_name>x</first_name>'), refused('first_name'))
    t.match(await send(app, mediaTypes.xml, '<thing first-name="x" first_name="y"/>'), { statusCode: 422 })
  })

  t.test('open names are XML names', async t => {
    const names = [
      '', '1a', '-a', '.a', 'a b', ' a', 'a\n', 'a<b', 'a&b', 'a"b', 'a/b', 'a[b', '\u0001', '\ufffe', '×', '?', '$',
      '😀', '\ufffd'
    ]
    const unstorable = ['a\u0000', '\ud800', '\uffff', '__proto__', 'a'.repeat(201)]
    for (const name of [...names, ...unstorable]) {
      const status = unstorable.includes(name) ? 422 : 201
      t.match(await send(app, mediaTypes.json, JSON.stringify({ thing: { [name]: 'x' } })), { statusCode: 422 },
        JSON.stringify(name))
      t.match(await send(app, mediaTypes.json, `{"thing":{"a":{${JSON.stringify(name)}:"x"}}}`), { statusCode: status },
        `nested ${JSON.stringify(name)}`)
      t.match(await send(app, mediaTypes.json, `{"thing":{"a":[{${JSON.stringify(name)}:"x"}]}}`),
        { statusCode: status }, `in an array ${JSON.stringify(name)}`)
    }
    for (const name of ['1a', '-a', 'a b', 'a<b', 'a&b', 'a\u0000', '×', '$']) {
      t.match(await send(app, mediaTypes.form, new URLSearchParams([[`thing[${name}]`, 'x']]).toString()),
        { statusCode: 422 }, `form ${JSON.stringify(name)}`)
    }
  })
})

const unstorable = ['\u0000', '\ud800', '\udbff', '\udc00', '\udfff', '\udc00\ud800', '\uffff']
/** Only the JSON text of such a character can stand in XML. */
const escaped = ['\u0001', '\b', '\v', '\f', '\u000e', '\u001b', '\u001f', '\ufffe']
const writable = [
  '\t', '\n', '\r', '\u007f', '\u0080', '\u0085', '\u009f', '\u00a0', '\u2028', '\ud7ff', '\ue000', '\ufdd0', '\ufffd',
  '\ufeff', '😀', '\u{1fffe}', '\u{10ffff}'
]

t.test('text that cannot be stored is refused in each format, and no other text', async t => {
  const declared = await build(t, things)
  const open = await build(t, { name: 'things' })
  for (const character of [...unstorable, ...escaped]) {
    const value = `a${character}b`
    const text = JSON.stringify(value)
    const expected = (kept: Attributes, path: string): Outcome => unstorable.includes(character) ? refused(path) : kept
    for (const app of [declared, open]) {
      t.strictSame(await json(t, app, `{"tags":["a",${text}],"author":{"name":${text}}}`),
        unstorable.includes(character)
          ? refused('tags.1', 'author.name')
          : { tags: ['a', value], author: { name: value } }, text)
    }
    t.strictSame(
      await read(t, declared,
          `<text type="json">${text.replace(/[\ufffe\uffff]/, (it) => `\\u${it.charCodeAt(0).toString(16)}`)}</text>`),
      expected({ text: value }, 'text'),
      `${text} in XML`
    )
    if (/\p{Cs}/u.test(character)) continue
    t.strictSame(await form(t, declared, [['text', value]]), expected({ text: value }, 'text'), `${text} in a form`)
    for (const written of [character, `&#x${character.charCodeAt(0).toString(16)};`, `<![CDATA[${character}]]>`]) {
      t.equal(await read(t, declared, `<text>a${written}b</text>`), 400, `XML ${JSON.stringify(written)}`)
    }
  }
  for (const reference of ['&#xD800;', '&#xDFFF;', '&#55296;', '&#x110000;', '&#99999999999;', '&#;', '&#x;',
    '&#xG;']) {
    t.equal(await read(t, declared, `<text>${reference}</text>`), 400, reference)
  }
})

t.test('CR, white space and markup survive each format', async t => {
  const app = await build(t, things)
  const texts = [
    ...writable.map(character => `a${character}b`), ...writable, '', ' ', '  lead', 'trail  ', '\n', '\r\n',
    'a\r\nb\rc\n', '\t\ta\t', '\n\n', '<b>&amp;</b>', ']]>', '<![CDATA[x]]>', '&#13;', '"\'`', '<!-- x -->',
    '&amp;amp;', '<?x?>', '%0D', '{{x}}', '\\u0000'
  ]
  const attributes = { text: texts.join(' '), tags: texts }
  t.strictSame(await json(t, app, JSON.stringify(attributes)), attributes)
  const document = await app.inject('/things/1.xml')
  t.notMatch(document.body, /\r/, 'a reader of XML would lose a bare CR')
  t.strictSame(await outcomeOf(
    t, await send(app, mediaTypes.xml, document.body.replace(/<id[^>]*>\d+<\/id>/, '')), 'XML'
  ),
  attributes)
  t.strictSame(await read(t, app, '<text>  a&#13;&#10;b&#xD;\n </text>'), { text: '  a\r\nb\r\n ' },
    'character references give their characters')
  t.strictSame(await read(t, app, '<text>a\r\nb\rc</text>'), { text: 'a\nb\nc' }, 'bare line ends are normalised')
})

t.test('a body that is not UTF-8 is a bad request', async t => {
  const broken: [string, number[]][] = [
    ['a stray byte', [0xff]], ['a byte of Latin-1', [0xe9]], ['a lone continuation', [0x80]],
    ['an overlong NUL', [0xc0, 0x80]], ['an overlong slash', [0xe0, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]], ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['a character cut short', [0xe2, 0x82]], ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]]
  ]
  const app = await build(t, things)
  for (const [index, [name, bytes]] of broken.entries()) {
    const around = (before: string, after: string) => Buffer.concat([Buffer.from(before), Buffer.from(bytes),
      Buffer.from(after)])
    const percent = bytes.map(byte => '%' + byte.toString(16).toUpperCase()).join('')
    const places: Array<[what: string, type: string, payload: Buffer | string]> = [
      ['JSON', mediaTypes.json, around('{"thing":{"text":"a', 'b"}}')],
      ['a percent-encoded form', mediaTypes.form, `thing[text]=a${percent}b`],
      ['XML', mediaTypes.xml, around('<thing><text>a', 'b</text></thing>')],
      ['a name of JSON', mediaTypes.json, around('{"thing":{"te', 'xt":"b"}}')],
      ['a comment of XML', mediaTypes.xml, around('<thing><!--', '--><text>a</text></thing>')],
      ['a form', mediaTypes.form, around('thing[text]=a', 'b')],
      ['a percent-encoded name of a form', mediaTypes.form, `thing[te${percent}xt]=a`]
    ]
    for (const [what, type, payload] of index === 0 ? places : places.slice(0, 3)) {
      t.equal(outcomeOf(t, await send(app, type, payload), name), 400, `${name} in ${what}`)
    }
  }
  for (const payload of ['thing[text]=%', 'thing[text]=%4', 'thing[text]=%zz', 'thing[%]=a', 'thing[text', 'thing[',
    'thing[text]x=a']) {
    t.equal(outcomeOf(t, await send(app, mediaTypes.form, payload), payload), 400, payload)
  }
  for (const payload of ['thing%5Btext%5D=%C3%A9%e2%82%ac%F0%9F%98%80', 'thing[text]=é€😀']) {
    t.strictSame(outcomeOf(t, await send(app, mediaTypes.form, payload), payload), { text: 'é€😀' }, payload)
  }
})

const bodies: readonly (readonly [type: string, payload: string])[] = [
  ['application/json', '{"thing":{"text":"é"}}'], ['application/xml', '<thing><text>é</text></thing>'],
  ['text/xml', '<thing><text>é</text></thing>'],
  ['application/x-www-form-urlencoded', 'thing[text]=%C3%A9']
]

t.test('only the charset of a content type is read, and it must be UTF-8', async t => {
  const app = await build(t, things)
  for (const [type, payload] of bodies) {
    for (const written of [
      type, type.toUpperCase(), `${type}; charset=utf-8`, `${type};charset=UTF-8`, `${type}; charset="utf-8"`,
      `${type}; CHARSET="Utf-8"`, `${type} ; charset=utf-8`, `${type}; version=1`,
      `${type}; a="b;charset=latin1"; charset=utf-8`
    ]) {
      t.strictSame(outcomeOf(t, await send(app, written, payload), written), { text: 'é' }, written)
    }
    for (const charset of ['ISO-8859-1', '"iso-8859-1"', 'utf-16', 'x']) {
      const res = await send(app, `${type}; charset=${charset}`, payload)
      t.match(res, { statusCode: 415, headers: { 'content-type': types.problem, accept: /application\/xml/ } },
        `${type}; charset=${charset}`)
    }
  }
})

t.test('a malformed or unknown content type is refused, not guessed', async t => {
  const app = await build(t, things)
  for (const [type, payload] of bodies.slice(0, 2)) {
    const [major, minor] = type.split('/')
    for (const written of [`${major}`, `${major}/`, `/${minor}`, `${major}/${minor}/x`, `${major} /${minor}`,
      `${major}/ ${minor}`, `${major}/${minor} x`, `${type}, text/plain`, `${type}; charset`, `${type}; charset=`,
      `${type}; charset="utf-8`, `${type}; =utf-8`, `${type}; charset=utf 8`, `${type}; a=b; c`, `${type}x`, `x${type}`,
      `${major}/vnd.x+${minor}`, `${major}/*`, '*/*', ';', `"${type}"`, 'text/plain', 'text/html',
      'multipart/form-data; boundary=x', 'application/octet-stream']) {
      const res = await send(app, written, payload)
      t.match(res, { statusCode: 415, headers: { 'content-type': types.problem, accept: /application\/json/ } },
        written)
    }
  }
  t.strictSame((await app.inject({ url: '/things.json' })).json(), { things: [] }, 'none of them created anything')
})

t.test('an XML declaration may name only UTF-8', async t => {
  const app = await build(t, things)
  for (const encoding of ['UTF-8', 'utf-8', 'Utf-8']) {
    t.strictSame(
      outcomeOf(
        t,
        await send(app, mediaTypes.xml, `<?xml version="1.0" encoding="${encoding}"?><thing><text>é</text></thing>`),
        encoding
      ),
      { text: 'é' },
      encoding
    )
  }
  t.strictSame(
    outcomeOf(
      t,
      await send(app, mediaTypes.xml, "<?xml version='1.0' standalone='yes'?>\r\n<thing><text>é</text></thing>\n"),
      'none'
    ),
    { text: 'é' }
  )
  t.strictSame(
    outcomeOf(t, await send(app, mediaTypes.xml, '\ufeff<?xml version="1.0"?><thing><text>é</text></thing>'), 'mark'),
    { text: 'é' },
    'with a byte order mark'
  )
  for (const encoding of ['ISO-8859-1', 'UTF-16', 'x']) {
    const { statusCode } = await send(app, mediaTypes.xml,
      `<?xml version="1.0" encoding="${encoding}"?><thing><text>a</text></thing>`)
    t.ok(statusCode === 400 || statusCode === 415, `${encoding}: ${statusCode}`)
  }
  for (const encoding of ['utf16le', 'latin1'] as const) {
    t.equal(
      outcomeOf(
        t,
        await send(app, mediaTypes.xml, Buffer.from('<?xml version="1.0"?><thing><text>é</text></thing>', encoding)),
        encoding
      ),
      400,
      `bytes of ${encoding}`
    )
  }
})

t.test('a DOCTYPE and every entity beyond the five predefined ones are refused', async t => {
  const app = await build(t, things)
  for (const payload of [
    '<!DOCTYPE thing><thing><text>a</text></thing>',
    '<!DOCTYPE thing [<!ENTITY e "hi">]><thing><text>&e;</text></thing>',
    '<!DOCTYPE thing SYSTEM "file:///etc/passwd"><thing/>',
    '<!DOCTYPE thing [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><thing><text>&b;</text></thing>',
    '<thing><text>&e;</text></thing>', '<thing><text>&nbsp;</text></thing>',
    '<thing><text>&constructor;</text></thing>', '<thing><text>&toString;</text></thing>',
    '<thing><text>a & b</text></thing>', '<thing text="&e;"/>', '<thing><text>a</thing>', '<thing><text>a</text>',
    '<thing/><thing/>', '<thing><text a="1" a="2">x</text></thing>', 'thing', '   ', '<thing', '<?xml version="1.0"?>',
    '<!-- -->'
  ]) t.equal(outcomeOf(t, await send(app, mediaTypes.xml, payload), payload), 400, payload)
})

t.test('the five entities and references to characters are read', async t => {
  const app = await build(t, things)
  t.strictSame(await read(t, app, '<text>&amp;&lt;&gt;&quot;&apos;&#160;</text>'), { text: '&<>"\'\u00A0' })
})

t.test('a surplus XML attribute or an unknown type is named in the error, with the cure', async t => {
  const app = await build(t, things)
  const open = await build(t, { name: 'things' })
  const types = 'send string, integer, float, decimal, boolean, date, dateTime, base64Binary, array or json, or ' +
    'leave it out'
  const stray = 'has the XML attribute "lang", which is not allowed here; leave it out'
  for (const [document, path, message] of [
    ['<thing><text type="symbol">x</text></thing>', 'text', `has the unknown type "symbol"; ${types}`],
    ['<thing><text type="yaml">x</text></thing>', 'text', `has the unknown type "yaml"; ${types}`],
    ['<thing><text lang="de">x</text></thing>', 'text', stray],
    ['<thing><text lang="de"/></thing>', 'text', stray],
    ['<thing><text type="string" lang="de">x</text></thing>', 'text', stray],
    ['<thing><count lang="de">1</count></thing>', 'count', stray],
    ['<thing><author lang="de">x</author></thing>', 'author', stray],
    ['<thing><text>a<b/></text></thing>', 'text', 'must not mix text and elements'],
    ['<thing><text type="string">a<b/></text></thing>', 'text', 'says type="string" but contains elements'],
    ['<thing type="Post"><text>x</text></thing>', 'thing',
      'says type="Post", but the element of a record has no type; leave it out'],
    ['<thing type="string">x</thing>', 'thing',
      'says type="string", but the element of a record has no type; leave it out']
  ] as const) t.strictSame(errorsOf(await send(app, mediaTypes.xml, document)), { [path]: [message] }, document)
  t.strictSame(errorsOf(await send(open, mediaTypes.xml, '<thing><text lang="de">x</text></thing>')), { text: [stray] })
  for (const [document, message] of [
    ['<thing><id lang="de">1</id></thing>', stray],
    ['<thing><id><b/></id></thing>', 'must contain text only'],
    ['<thing><id type="float">1</id></thing>',
      'says type="float", but the type of an id is integer, string or uuid; leave it out']
  ] as const) t.strictSame(errorsOf(await send(app, mediaTypes.xml, document, 'PUT')), { id: [message] }, document)
})

t.test('an XML document has at most 32 levels', async t => {
  const app = await build(t, { name: 'things' })
  const nest = (levels: number): string => `<thing><a>${'<b>'.repeat(levels - 2)}${'</b>'.repeat(levels - 2)}</a>` +
    '</thing>'
  t.notMatch((await send(app, mediaTypes.xml, nest(32))).body, 'the document is nested')
  t.match((await send(app, mediaTypes.xml, nest(33))).body, 'the document is nested deeper than 32 levels')
})

t.test('malformed JSON is a bad request', async t => {
  const app = await build(t, things)
  for (const payload of [
    '{', '{"thing":}', '{"thing":{"text":"a"},}', "{'thing':{}}", 'thing', '{"thing":{"text":"a"}}x',
    '{"thing":{"count":01}}', '{"thing":{"count":NaN}}', ' '
  ]) {
    t.equal(outcomeOf(t, await send(app, mediaTypes.json, payload), payload), 400, payload)
  }
})
