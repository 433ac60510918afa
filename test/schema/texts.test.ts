import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, { type AttributesSchema, draw, memoryStore } from '../../lib/index.js'
import { xmlSchema } from '../../lib/xsd/index.js'
import {
  type Attributes, errorsOf, form, json, type Json, mediaTypes, type Outcome, outcomeOf, read, refused, send, things
} from '../support/conversion.js'
import { build, types, xml } from '../support/helper.js'
import { compileXmlSchema } from '../support/xml/xml-schema.js'

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
  t.equal((await send(app, mediaTypes.json, '{"id":1,"thing":{"text":"changed"}}', 'PUT')).statusCode, 200,
    'an attribute that is not sent is not validated')
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
  const thing = '<thing><text>é</text></thing>'
  for (const document of [`<?xml version="1.0" encoding="Utf-8"?>${thing}`,
    `<?xml version='1.0' standalone='yes'?>\r\n${thing}\n`, `\ufeff<?xml version="1.0"?>${thing}`]) {
    t.strictSame(outcomeOf(t, await send(app, mediaTypes.xml, document), document), { text: 'é' }, document)
  }
  t.equal(outcomeOf(t, await send(app, mediaTypes.xml, Buffer.from(thing, 'utf16le')), 'UTF-16'), 400)
  for (const encoding of ['ISO-8859-1', 'UTF-16', 'x']) {
    const { statusCode } = await send(app, mediaTypes.xml,
      `<?xml version="1.0" encoding="${encoding}"?><thing><text>a</text></thing>`)
    t.ok(statusCode === 400 || statusCode === 415, `${encoding}: ${statusCode}`)
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

t.test('a surplus XML attribute or an unknown type is named in the error, with the cure', async t => {
  const app = await build(t, things)
  const open = await build(t, { name: 'things' })
  const types = 'send string, integer, float, decimal, boolean, date, dateTime, base64Binary, array or json, or ' +
    'leave it out'
  const stray = 'has the XML attribute "lang", which is not allowed here; leave it out'
  for (const [document, path, message] of [
    ['<thing><text type="symbol">x</text></thing>', 'text', `has the unknown type "symbol"; ${types}`],
    ['<thing><text lang="de">x</text></thing>', 'text', stray],
    ['<thing><text>a<b/></text></thing>', 'text', 'must not mix text and elements'],
    ['<thing><text type="string">a<b/></text></thing>', 'text', 'says type="string" but contains elements'],
    ['<thing type="Post"><text>x</text></thing>', 'thing',
      'says type="Post", but the element of a record has no type; leave it out']
  ] as const) t.strictSame(errorsOf(await send(app, mediaTypes.xml, document)), { [path]: [message] }, document)
  t.strictSame(errorsOf(await send(open, mediaTypes.xml, '<thing><text lang="de">x</text></thing>')), { text: [stray] })
  for (const [document, message] of [
    ['<thing><id lang="de">1</id></thing>', stray],
    ['<thing><id type="float">1</id></thing>',
      'says type="float", but the type of an id is integer, string or uuid; leave it out'],
    ['<thing><id><b/></id></thing>', 'must contain text only']
  ] as const) t.strictSame(errorsOf(await send(app, mediaTypes.xml, document, 'PUT')), { id: [message] }, document)
})

t.test('an XML document has at most 32 levels', async t => {
  const app = await build(t, { name: 'things' })
  const nest = (levels: number): string => `<thing><a>${'<b>'.repeat(levels - 2)}${'</b>'.repeat(levels - 2)}</a>` +
    '</thing>'
  t.notMatch((await send(app, mediaTypes.xml, nest(32))).body, 'the document is nested')
  t.match((await send(app, mediaTypes.xml, nest(33))).body, 'the document is nested deeper than 32 levels')
})

// ---- Decimals, local times and base64

type Schema = Readonly<Record<string, unknown>>
/** The text that is kept, or the message of a 422. */
type Kept = { readonly kept: unknown } | { readonly says: string }

const DECIMAL = 'must be a decimal number such as -12.50, without an exponent'
const STRING = 'must be a string; write a decimal number as a string: "12.50"'
const LOCAL_DATE_TIME = 'must be a date and time without an offset, such as 2026-01-31T12:00:00'
const LOCAL_TIME = 'must be a time without an offset, such as 12:00:00'
const BASE64 = 'must be base64 with padding, such as aGVsbG8='
const DIGITS = '1234567890'.repeat(30)

const decimal = { type: 'string', format: 'decimal' } as const
const price = { ...decimal, precision: 5, scale: 2 } as const
const local = { type: 'string', format: 'date-time-local' } as const
const time = { type: 'string', format: 'time-local' } as const
const bytes = { type: 'string', contentEncoding: 'base64' } as const

/**
 * Values of JSON, each with the message of its refusal, or nothing. They are also sent as XML, where texts are alike.
 */
const VALUES: ReadonlyArray<readonly [schema: Schema, value: unknown, says?: string]> = [
  ...[
    '0', '-0', '1.10', '-12.50', '007', '9007199254740993', '0.1000000000000000055511151231257827', DIGITS,
    `-0.${DIGITS}`
  ].map((text) => [decimal, text] as const),
  ...['', '-', '1e3', '1E-3', '1,5', '0x10', 'NaN', 'Infinity', '--1', '1.2.3', '１', '1 000'].map((text) => [decimal,
    text, DECIMAL] as const),
  [decimal, 12.5, STRING], [decimal, true, STRING], [decimal, ['1'], STRING],
  [{ ...decimal, type: ['string', 'null'] }, null],
  [{ ...decimal, type: ['string', 'null'] }, 1,
    'must be a string or null; write a decimal number as a string: "12.50"'],
  [price, '-1234.5', 'must have at most 3 digits before the point'],
  [price, '1.234', 'must have at most 2 digits after the point'],
  [{ ...decimal, precision: 4, scale: 3 }, '10', 'must have at most 1 digit before the point'],
  [{ ...decimal, scale: 1 }, '1.11', 'must have at most 1 digit after the point'],
  [{ ...decimal, precision: 19, scale: 0 }, '-9223372036854775808'],
  [{ ...decimal, precision: 19, scale: 0 }, '1.0', 'must be a whole number without a point'],
  [{ anyOf: [price, { type: 'null' }] }, '1000', 'must have at most 3 digits before the point'],
  [{ ...decimal, enum: ['1.50', '2'] }, '1.5', 'must be one of "1.50", "2"'],
  ...['2020-01-02T03:04:05', '2024-02-29T23:59:59.123456789', '9999-12-31T00:00:00.0'].map((text) => [local,
    text] as const),
  ...[
    '2020-01-02T03:04:05Z', '2020-01-02T03:04:05+02:00', '2020-01-02T24:00:00', '2023-02-29T00:00:00',
    '2020-01-02 03:04:05', '2020-01-02t03:04:05', '2016-12-31T23:59:60', '0000-01-01T00:00:00', '2020-01-02',
    '03:04:05', '2020-01-02T03:04:05.', ''
  ].map((text) => [local, text, LOCAL_DATE_TIME] as const),
  ...['00:00:00', '23:59:59.999999', '12:30:00.10'].map((text) => [time, text] as const),
  ...['24:00:00', '12:00:00Z', '12:60:00', '12:00:60', '12:00:00.', '1:00:00', 'T12:00:00', ''].map(
    (text) => [time, text, LOCAL_TIME] as const
  ),
  ...['', 'AA==', 'AAE=', 'aGVsbG8=', '+/+/', '////'].map((text) => [bytes, text] as const),
  ...['A', 'AA', 'AAA', 'AB==', 'AAF=', 'A===', '====', 'AA=A', 'AA==AA==', '-_-_', 'aGVsbG8', 'äAAA'].map(
    (text) => [bytes, text, BASE64] as const
  ),
  [{ ...bytes, maxLength: 8 }, 'aGVsbG8='], [{ ...bytes, maxLength: 7 }, 'aGVsbG8=', 'must have at most 7 characters'],
  [{ ...bytes, contentEncoding: 'quoted-printable' }, '=C3=A4 ']
]

/** Texts of XML and forms that are converted. */
const TEXTS: ReadonlyArray<readonly [schema: Schema, text: string, kept: string]> = [
  [decimal, '+1.50', '1.50'], [decimal, '.5', '0.5'], [decimal, '-.50', '-0.50'], [decimal, '5.', '5'],
  [decimal, '+.5', '0.5'], [decimal, ' \n-007. ', '-007'],
  [bytes, ' aGVs\r\nbG8= ', 'aGVsbG8='], [bytes, ' ', '']
]

const declare = (it: Schema): AttributesSchema => ({ type: 'object', properties: { it } })

/** Serves each schema under a path of its own, and returns the path by the schema. */
async function serve (
  t: Test, schemas: readonly Schema[], withDocument = false
): Promise<[app: FastifyInstance, paths: ReadonlyMap<string, string>]> {
  const app = fastify()
  t.teardown(() => app.close())
  if (withDocument) await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  const paths = new Map([...new Set(schemas.map((schema) => JSON.stringify(schema)))].map((schema, index) => [schema,
    `/r${index}`] as const))
  for (const [schema, prefix] of paths) {
    app.register(resources, { name: 'posts', attributes: declare(JSON.parse(schema) as Schema), prefix })
  }
  await app.ready()
  return [app, paths]
}

async function post (app: FastifyInstance, path: string, type: string, payload: string): Promise<Kept> {
  const res = await app.inject({
    method: 'POST', url: `${path}/posts`, headers: { 'content-type': type, accept: 'application/json' }, payload
  })
  if (res.statusCode === 201) return { kept: res.json<{ post: { it: unknown } }>().post.it }
  return { says: res.json<{ errors: { it: [string] } }>().errors.it[0] }
}

const element = (text: string, type?: string): string =>
  `${xml}<post><it${type === undefined ? '' : ` type="${type}"`}>${text}</it></post>`

t.test('decimals, local times and base64 are kept exactly, and other values are refused with a cure', async (t) => {
  const [app, paths] = await serve(t, VALUES.map(([schema]) => schema))
  for (const [schema, value, says] of VALUES) {
    const path = paths.get(JSON.stringify(schema)) as string
    const expected = says === undefined ? { kept: value } : { says }
    const name = JSON.stringify([schema, value]).slice(0, 120)
    t.strictSame(await post(app, path, 'application/json', JSON.stringify({ post: { it: value } })), expected, name)
    if (typeof value !== 'string') continue
    t.strictSame(await post(app, path, mediaTypes.form, `post[it]=${encodeURIComponent(value)}`), expected,
      `${name} in a form`)
    if (value !== '') t.strictSame(await post(app, path, 'application/xml', element(value)), expected, `${name} in XML`)
  }
})

t.test('XML and forms accept other spellings of a decimal, and white space in base64', async (t) => {
  const [app, paths] = await serve(t, TEXTS.map(([schema]) => schema))
  for (const [schema, text, kept] of TEXTS) {
    const path = paths.get(JSON.stringify(schema)) as string
    t.strictSame(await post(app, path, mediaTypes.form, `post[it]=${encodeURIComponent(text)}`), { kept },
      `${text} in a form`)
    t.strictSame(await post(app, path, 'application/xml', element(text)), { kept }, `${text} in XML`)
    t.strictSame(await post(app, path, 'application/json', JSON.stringify({ post: { it: text } })),
      { says: schema === bytes ? BASE64 : DECIMAL }, `${text} in JSON`)
  }
})

t.test('the attribute type of XML may be any that suits the value', async (t) => {
  const open = { type: ['string', 'number'] }
  const cases: ReadonlyArray<readonly [schema: Schema, type: string, text: string, expected: Kept]> = [
    [decimal, 'decimal', ' +.50 ', { kept: '0.50' }], [decimal, 'decimal', '1e3', { says: DECIMAL }],
    [decimal, 'decimal', '', { says: DECIMAL }],
    [decimal, 'boolean', '1', { says: 'says type="boolean", but must be a string' }],
    [open, 'decimal', '1.50', { kept: 1.5 }], [open, 'base64Binary', ' AA== ', { kept: 'AA==' }],
    [local, 'dateTime', ' 2020-01-02T03:04:05 ', { kept: '2020-01-02T03:04:05' }],
    [bytes, 'base64Binary', 'AA\nE=', { kept: 'AAE=' }], [bytes, 'string', '', { kept: '' }],
    [bytes, 'date', 'AAE=', { kept: 'AAE=' }]
  ]
  const [app, paths] = await serve(t, cases.map(([schema]) => schema))
  for (const [schema, type, text, expected] of cases) {
    t.strictSame(await post(app, paths.get(JSON.stringify(schema)) as string, 'application/xml', element(text, type)),
      expected, `${type} ${text}`)
  }
})

t.test('a blank element of a decimal or a time is null, if the schema allows it', async (t) => {
  for (const [
    format, kept
  ] of [['decimal', null], ['date-time-local', null], ['time-local', null], ['email', undefined]] as const) {
    const app = await build(t, { name: 'posts', attributes: declare({ type: ['string', 'null'], format }) })
    const outcome = await post(app, '', 'application/xml', element(' '))
    t.strictSame(outcome, kept === null ? { kept } : { says: 'must be an e-mail address' }, format)
  }
})

t.test('an answer in XML has the type of the value, and comes back unchanged', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      price,
      at: local,
      opens: time,
      data: bytes,
      either: { anyOf: [price, { type: 'integer' }] },
      prices: { type: 'array', items: price }
    }
  } as const
  const store = memoryStore()
  store.create(
    { price: '1.50', at: '2020-01-02T03:04:05.10', opens: '08:00:00', data: 'AA==', either: '2.50', prices: ['1.0'] },
    {}
  )
  const app = await build(t, { name: 'posts', attributes, store })
  const whole = '<id type="integer">1</id><price type="decimal">1.50</price><at>2020-01-02T03:04:05.10</at><opens>' +
    '08:00:00</opens><data>AA==</data><either>2.50</either><prices type="array"><price type="decimal">1.0</price>' +
    '</prices>'
  const { body } = await app.inject('/posts/1.xml')
  t.equal(body, `${xml}<post>${whole}</post>`)
  const before = await app.inject('/posts/1.json')
  const { statusCode } = await app.inject({
    method: 'PUT', url: '/posts', headers: { 'content-type': 'application/xml' }, payload: body
  })
  t.strictSame([statusCode, (await app.inject('/posts/1.json')).body], [200, before.body])
})

t.test('XML Schema and OpenAPI accept a text exactly if the server does', async (t) => {
  const texts = VALUES.filter(([, value]) => typeof value === 'string')
  const [app, paths] = await serve(t, texts.map(([schema]) => schema), true)
  const validators = new Map([...paths.keys()].map((schema) => {
    const validator = compileXmlSchema(xmlSchema({ name: 'posts', attributes: declare(JSON.parse(schema) as Schema) }))
    t.teardown(() => { validator.dispose() })
    return [schema, validator] as const
  }))
  const { components } = app.swagger() as unknown as {
    components: { schemas: Record<string, { properties: { it: { pattern?: string } } }> }
  }
  for (const [schema, value, says] of texts) {
    const text = value as string
    const name = JSON.stringify([schema, text]).slice(0, 120)
    if (schema.format === 'decimal' && schema.enum === undefined) {
      const path = paths.get(JSON.stringify(schema)) as string
      const { pattern } = components.schemas[`${path.slice(1).toUpperCase()}Post`]?.properties.it as { pattern: string }
      t.equal(new RegExp(pattern, 'u').test(text), says === undefined, `${name} by OpenAPI`)
    }
    // libxml2 keeps at most 24 digits of a decimal, and accepts any base64. An empty element is null or an empty text.
    if (text === '' || text.length > 24 || schema.contentEncoding !== undefined) continue
    const fault = (validators.get(JSON.stringify(schema)) as {
      validate (document: string): string | undefined
    }).validate(element(text))
    t.equal(fault === undefined, says === undefined, `${name} by XML Schema: ${fault}`)
  }
})

t.test('a mistake in the schema of a decimal is refused at registration', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, says: RegExp]> = [
    [{ type: 'number', format: 'decimal' },
      /"it" has the format 'decimal', which belongs to texts, so that no digit is lost; write type: 'string'/],
    [{ type: ['integer', 'null'], format: 'decimal' }, /"it" has the format 'decimal', which belongs to texts/],
    [{ type: 'string', precision: 5 }, /"it" has "precision", which works only beside the format 'decimal'/],
    [{ type: 'number', scale: 2 }, /"it" has "scale", which works only beside the format 'decimal'/],
    [{ ...decimal, precision: 5 },
      /"it" has "precision", but no "scale"; add the number of digits after the point, such as 0/],
    ...[-1, 1.5, '2', null].map((scale): [Schema, RegExp] => [{ ...decimal, scale },
      /"it" has the "scale" .*; write the number of digits after the point, such as 2/]),
    ...[0, 1, -5, 2.5, '5', null].map((precision): [Schema, RegExp] => [{ ...decimal, precision, scale: 2 },
      /"it" has the "precision" .*; write the number of all digits, before and after the point, which is at least 2/]),
    [{ type: 'object', properties: { inner: { ...price, default: '1.234' } } },
      /the default of "it.inner" does not fit its schema: it.inner must have at most 2 digits after the point/],
    [{ type: 'decimal' },
      /has the type 'decimal', which is not one of .*; did you mean "string" with the format 'decimal'\?/]
  ]
  for (const [schema, message] of cases) {
    await t.rejects(build(t, { name: 'posts', attributes: declare(schema) }), {
      code: 'FST_RESOURCES_INVALID_ATTRIBUTES', message
    }, JSON.stringify(schema))
  }
})

t.test('several schemas of one decimal limit its digits together', async (t) => {
  const attributes = {
    type: 'object',
    properties: { it: { allOf: [price, { ...decimal, scale: 1 }] }, or: { anyOf: [price, { ...decimal, scale: 1 }] } }
  } as const
  const app = await build(t, { name: 'posts', attributes })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1.25"}}'), {
    says: 'must have at most 1 digit after the point'
  })
  t.strictSame(await post(app, '', 'application/json', '{"post":{"it":"1.2","or":"1.25"}}'), { kept: '1.2' })
})

t.test('a browser leaves out seconds that are zero', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, text: string, expected: Kept]> = [
    [local, '2020-01-02T03:04', { kept: '2020-01-02T03:04:00' }],
    [local, '03:04', { says: LOCAL_DATE_TIME }], [local, '2020-01-02T3:04', { says: LOCAL_DATE_TIME }],
    [time, '03:04', { kept: '03:04:00' }], [time, '2020-01-02T03:04', { says: LOCAL_TIME }],
    [time, '25:04', { says: LOCAL_TIME }]
  ]
  const [app, paths] = await serve(t, cases.map(([schema]) => schema))
  for (const [schema, text, expected] of cases) {
    const path = paths.get(JSON.stringify(schema)) as string
    t.strictSame(await post(app, path, mediaTypes.form, `post[it]=${encodeURIComponent(text)}`), expected, text)
    // Only browsers do so.
    t.strictSame(await post(app, path, 'application/xml', element(text)),
      { says: schema === local ? LOCAL_DATE_TIME : LOCAL_TIME }, `${text} in XML`)
  }
})

/** Attributes that differ only in the length of their texts. */
function makeAttributes (count: number): AttributesSchema {
  const names = Array.from({ length: count }, (_, index) => [`text${index + 1}`,
    { type: 'string', maxLength: index + 1 }])
  return { type: 'object', properties: Object.fromEntries(names) } as AttributesSchema
}

t.test('attributes with different schemas are checked by their own ones, however many there are', async (t) => {
  const attributes = makeAttributes(1100)
  const app = await build(t, { name: 'posts', attributes })
  const create = async (post: object): Promise<object> => (await app.inject({
    method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post }
  })).json()
  // The first write with an attribute compiles its validator. This one compiles them all.
  t.match(
    await create(Object.fromEntries(Object.keys(attributes.properties).map((name) => [name, 'x']))),
    { post: { text1100: 'x' } }
  )
  for (const length of [1, 2, 500, 999, 1000, 1001, 1100]) {
    const name = `text${length}`
    t.match(await create({ [name]: 'x'.repeat(length) }), { post: { [name]: 'x'.repeat(length) } })
    t.match(await create({ [name]: 'x'.repeat(length + 1) }), {
      errors: { [name]: [`must have at most ${length} character${length === 1 ? '' : 's'}`] }
    })
  }
})
