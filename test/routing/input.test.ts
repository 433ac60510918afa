import type { InjectOptions } from 'fastify'
import t from 'tap'
import { type Attributes, type AttributesSchema, memoryStore, type Problem } from '../../lib/index.js'
import { build, propertiesOf, send, types, xml } from '../support/helper.js'
import {
  type Browser, decode, defaultButton, entriesOf, fill, findForm, type Form, parseForms, refused, send as sendForm,
  submit
} from '../support/html/forms.js'
import { resettableStore } from '../support/stores/resettable-store.js'

const form = 'application/x-www-form-urlencoded'
const name = 'posts'

t.test('a form names its fields as the convention does', async t => {
  const schema = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      rating: { type: ['integer', 'null'] },
      published: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
      open: {}
    }
  } as const
  const app = await build(t, { name, attributes: schema })
  const cases: [body: string, it: unknown][] = [
    ['post[title]=T&&post[rating]=5&', { title: 'T', rating: 5 }],
    ['post[title]', { title: '' }],
    ['post[rating][?]=null', { rating: null }],
    ['post[title][?]=null&post[title]=', 'title'],
    ['post[title][?]=whatever', 'title'],
    ['post[tags][10]=b&post[tags][9]=a', { tags: ['a', 'b'] }],
    ['post[tags]=x&post[tags][]=a', 'tags'],
    ['post[tags]=&post[tags][]=a', { tags: ['a'] }],
    ['post[title][0]=a', 'title'],
    ['post[author]=', { author: {} }],
    ['post[author][name]=N&post[author][age][?]=absent&post[author][age]=', { author: { name: 'N' } }],
    ['post[author][?]=absent&post[author][name]=', {}],
    ['post[author][?]=absent&post[author][name]=N', { author: { name: 'N' } }],
    ['post[open][?]=json&post[open]={"a":[1]}', { open: { a: [1] } }],
    ['post[open][?]=json', {}],
    ['post[open][?]=json&post[open]=9007199254740993', 'open'],
    ['post=', {}],
    ['post=T', 'post'],
    ['post[]=T', 'post']
  ]
  for (const [body, it] of cases) {
    const res = await app.inject(send('POST', '/posts.json', form, body))
    if (typeof it === 'string') {
      t.strictSame([res.statusCode, Object.keys(res.json<Problem>().errors ?? {})], [422, [it]], body)
    } else {
      t.same([res.statusCode, { ...res.json<{ post?: object }>().post, id: undefined }],
        [201, { ...it as object, id: undefined }], body)
    }
  }
  t.equal((await app.inject(send('POST', '/posts.json', form, `post[title]=T${'&'.repeat(5000)}`))).statusCode, 201,
    'an empty part between two & is allowed')
  t.equal((await app.inject(send('POST', '/posts.json', form, Array.from({ length: 1000 }, (_, index) =>
    `post[tags][${index}]=a`).join('&')))).statusCode, 201)
  t.ok([400,
    413].includes((await app.inject(send('POST', '/posts.json', form, Array.from({ length: 1001 }, (_, index) =>
    `post[tags][${index}]=a`).join('&')))).statusCode), 'a form has at most 1000 fields')
})

/** A parser of HTML and one of XML, and a browser that treats every input as text. */
const READINGS: ReadonlyArray<readonly [accept: string, browser: Browser]> = [['text/html', 'modern'],
  ['application/xhtml+xml', 'modern'], ['text/html', 'old']]

const MOMENTS = ['2026-01-31T12:00:00Z', '2026-01-31T12:00:05Z', '2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z',
  '2026-01-31T12:00:00.000Z', '2026-01-31T12:00:05.120Z', '2026-01-31T12:00:05.001Z', '2026-01-31T12:00:00.000000Z',
  '2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00+02:00',
  '2026-01-31T12:00:00-11:30', '2026-01-31T12:00:00+00:00', '2026-01-31T12:00:00-00:00',
  '2026-01-31T12:00:00.50+05:30', '1990-12-31T23:59:60Z', '1990-12-31T15:59:60-08:00', '0001-01-01T00:00:00Z',
  '2024-02-29T23:59:59.999Z', '9999-12-31T23:59:59Z']

const NINE = [...'abcdefghi']

const LINKS = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      label: { type: 'string' },
      note: { type: ['string', 'null'] },
      at: { type: 'string', format: 'date-time' },
      hot: { type: 'boolean' },
      kind: { enum: ['x', 'y', null] },
      kinds: { type: 'array', uniqueItems: true, items: { enum: ['p', 'q'] } },
      parts: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            name: { type: ['string', 'null'] },
            lines: { type: 'array', items: { type: 'string' } }
          }
        }
      }
    }
  }
} as const

const $defs = {
  tree: {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }
  }
} as const

t.test('an untouched form changes nothing', async t => {
  const cases: [schema: object, values: unknown[]][] = [
    [{ type: 'string' },
      ['', 'T', ' a ', '<b>&amp;"\'</b>', 'a\nb', '\na', '\n', 'a\rb', 'a\r\nb', 'x'.repeat(500), '?', 'null']],
    [{ type: 'string', maxLength: 100 }, ['', 'T', 'a\nb', '\na', 'a\rb']],
    [{ type: ['string', 'null'] }, [null, '', 'T', 'null']],
    [{ type: 'integer' }, [0, -5, 9007199254740991]],
    [{ type: ['integer', 'null'] }, [null, 5]],
    [{ type: 'number' }, [1.5, 1e300, -0.001]],
    [{ type: 'boolean' }, [true, false]],
    [{ type: ['boolean', 'null'] }, [true, false, null]],
    [{ enum: ['', 'a'] }, ['', 'a']],
    [{ enum: ['a', 1, null, true] }, ['a', 1, null, true]],
    [{ const: 'a' }, ['a']],
    [{ type: 'array', items: { type: 'string' } }, [[], ['a', 'b'], ['a\nb'], [''], ['a', '']]],
    [{ type: 'array', items: { type: ['string', 'null'] } }, [[], ['a', null]]],
    [{ type: 'array' }, [[], ['a', 1, [null]]]],
    [{ type: ['array', 'null'], items: { type: 'string' } }, [null, [], ['a']]],
    [{
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: ['integer', 'null'] },
        c: { type: 'boolean' },
        d: { type: 'object', properties: { e: { type: 'string' } } }
      }
    }, [{}, { a: '' }, { a: 'x', b: null, c: false, d: {} }, { b: 5, d: { e: 'y' } }]],
    [{ anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'null' }] }, [null, {}, { a: 'x' }]],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, [{}, { a: 1 }]],
    [{ type: ['string', 'integer'] }, ['x', '5', 5, '']],
    [{}, ['x', '5', 5, null, true, [1, { a: 'b' }], { a: 1 }]],
    [{ type: ['string', 'null'], format: 'date-time' }, [null, ...MOMENTS]],
    [{ type: 'string', format: 'date-time', pattern: 'Z$' }, ['2026-01-31T12:00:00Z']],
    [{ type: ['string', 'null'], format: 'date' }, [null, '2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31']],
    [{ type: 'string', format: 'email' },
      ['a@b.example', 'A.B+c@x-y.example', "o'hara@b.example", `a@${'b'.repeat(64)}.example`]],
    [{ type: 'string', format: 'uri' }, ['https://a.example/b?c=d&e=%20#f', 'urn:isbn:1', 'mailto:a@b.example',
      'http://[::1]:80/', 'http://a..b/', 'http://256.256.256.256/', 'a:b', 'x://']],
    [{ type: 'string', format: 'uuid' }, ['0f8fad5b-d9cb-469f-a165-70867728950e']],
    [{ type: 'string', format: 'password' }, ['', ' a ', 'b']],
    [{ type: 'string', format: 'textarea' }, ['', 'T', '\n\na\n', '\t']],
    [{ type: 'string', format: 'date-time-text' }, ['', '2026-01-31 12:00:00', 'a\nb', '\ta ']],
    [{ type: 'string', format: 'time' }, ['12:00:00Z', '12:00:00.5+01:00']],
    [{ type: 'string', pattern: 'b' }, ['abc', 'b\nb', 'a\nb', '\nb']],
    [{ type: 'string', pattern: '^.$' }, ['😀']],
    [{ type: 'string', minLength: 2, maxLength: 4 }, ['ab', '😀😀😀😀', 'a\nb']],
    [{ type: 'integer', minimum: -7, exclusiveMaximum: 100, multipleOf: 5 }, [-5, 0, 95]],
    [{ type: 'integer', exclusiveMinimum: 0.5, maximum: 2.5 }, [1, 2]],
    [{ type: 'number', multipleOf: 0.01 }, [0.01, 0.06, 1.25, 1000.01]],
    [{ type: 'number', multipleOf: 0.1, minimum: 0.05, maximum: 1 }, [0.1, 0.2, 0.5, 1]],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5, 5e-324, 0.9999999999999999]],
    [{ type: ['number', 'null'], minimum: -1.5 }, [null, -1.5, 0, 1e21]],
    [{ enum: ['a', 'b', null], type: ['string', 'null'] }, ['a', 'b', null]],
    [{ enum: NINE }, ['a', 'i']],
    [{ enum: ['a', ' a', 'a ', 'a\nb', 'A'] }, ['a', ' a', 'a ', 'a\nb', 'A']],
    [{ enum: ['a\rb', 'a'] }, ['a\rb', 'a']],
    [{ enum: [1, 2.5, null] }, [1, 2.5, null]],
    [{ enum: [true, null] }, [true, null]],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }, ['a', 'b']],
    [{ type: 'array', uniqueItems: true, items: { enum: NINE } },
      [[], ['a', 'i'], ['i', 'a'], NINE, [...NINE].reverse()]],
    [{ type: ['array', 'null'], uniqueItems: true, items: { enum: ['a', 'b'] } }, [null, [], ['a'], ['b', 'a']]],
    [{ type: 'array', uniqueItems: true, items: { enum: ['a', null] } }, [[], ['a'], ['a', null], [null, 'a'], [null]]],
    [{ type: 'array', items: { type: 'string' } },
      [['a\nb', 'c'], ['\n'], ['', ''], ['a', '', 'b'], [' a ', '\t'], ['a\rb'], ['x'.repeat(300)],
        Array.from({ length: 60 }, (_, index) =>
      `t${index}`), Array.from({ length: 60 }, (_, index) => `t\n${index}`)]],
    [{ type: 'array', items: { type: ['string', 'null'] } },
      [[null], [null, null], ['', null], ['a\nb', null, ''], Array.from({ length: 60 }, () => null)]],
    [{ type: 'array', items: { type: ['integer', 'null'] } }, [[], [1, null], [null]]],
    [{ type: 'array', items: { type: ['boolean', 'null'] } }, [[], [true, null, false]]],
    [{ type: 'array', items: { type: ['string', 'null'], format: 'date-time' } },
      [[], ['2026-01-31T12:00:00Z', null, '2026-01-31T12:00:00.500Z', '1990-12-31T23:59:60Z']]],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, [[], [[]], [['a'], []]]],
    [LINKS, [[], [{}], [{ label: '' }], [{ label: 'a' }, { label: 'b', at: '2026-01-31T12:00:00.000Z', hot: true }, {}],
      [{ note: null, hot: false, kind: 'x', kinds: ['q', 'p'], parts: [] }],
      [{ parts: [{}] }, { parts: [{ size: 1, name: null }, { name: '' }, { lines: ['a', 'b\nc'] }] }],
      Array.from({ length: 50 }, (_, index) => ({ label: `l${index}` })),
      Array.from({ length: 60 }, (_, index) => ({ label: `l${index}` }))]],
    [{ type: 'array', items: { anyOf: [LINKS.items, { type: 'null' }] } }, [[], [null], [{}, null, { label: 'a' }]]],
    [{
      type: 'array',
      items: {
        type: 'object',
        required: ['a', 'b', 'c'],
        properties: { a: { type: 'boolean' }, b: { enum: ['x', 'y'] }, c: { type: 'array', items: { type: 'string' } } }
      }
    }, [[], [{ a: false, b: 'y', c: [] }], [{ a: true, b: 'x', c: ['a'] }, { a: false, b: 'x', c: [] }]]],
    [{
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', readOnly: true } } }
    }, [[], [{}, { a: 'x' }]]],
    [{ type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } }, [[], [{}, { a: 'x' }]]],
    [{
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          a: { type: 'string', default: 'set' },
          b: { type: 'object', properties: { c: { type: 'string', default: 'set' } } }
        }
      }
    }, [[], [{}, { a: 'x' }, { b: {} }]]],
    [{ $ref: '#/$defs/tree' },
      [{}, { name: 'a' }, { name: 'a', children: [] }, { children: [{ name: 'b', children: [{}] }, {}] }]],
    [{ type: 'array', items: { $ref: '#/$defs/tree' } }, [[], [{}], [{ name: 'a', children: [{ children: [] }] }]]],
    [{
      type: 'object',
      required: ['rows'],
      properties: {
        rows: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              rows: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: {
                    rows: {
                      type: 'array', items: { type: 'object', properties: { deep: { type: 'string' } } }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }, [{ rows: [] }, { rows: [{}, { rows: [] }, { rows: [{}, { rows: [{ deep: '' }, {}] }] }] }]],
    [{ type: 'array', items: {} }, [[], ['a', 1, null, [], { a: [] }]]],
    [{ type: ['string', 'array'], items: { type: 'string' } }, ['a', '', ['a'], []]],
    [{ type: ['object', 'array'], items: { type: 'string' }, properties: { a: { type: 'string' } } },
      [{ a: 'x' }, {}, ['a'], []]],
    [{ type: 'string', writeOnly: true }, ['secret']],
    [{ type: 'string', readOnly: true, default: 'set' }, [undefined]]
  ]
  for (const [schema, values] of cases) {
    for (const required of [true, false]) {
      await t.test(`${JSON.stringify(schema)}${required ? ', required' : ''}`, async t => {
        for (const writes of [required ? 'collection' : 'member'] as const) {
          const store = memoryStore()
          const app = await build(t, {
            name,
            store,
            writes,
            attributes: {
              type: 'object',
              properties: { it: schema, 'post-it': { type: 'string' } },
              ...(required && { required: ['it'] }),
              $defs
            } as AttributesSchema
          })
          for (const [index, value] of [...values, ...(required ? [] : [undefined])].entries()) {
            const created = await app.inject({ method: 'POST', url: '/posts.json', payload: { post: { it: value } } })
            if (created.statusCode !== 201) throw new Error(created.body)
            const path = String(created.headers.location)
            const id = Number(path.split('/').at(-1))
            const kept = store.get(id, {})?.attributes
            // Each value is read in one way, in turn.
            for (const [accept, browser] of [READINGS[required ? index % READINGS.length : 0] as typeof READINGS[0]]) {
              const update = findForm(await app.inject({ url: path, headers: { accept } }), 'PUT', browser)
              const saved = await app.inject(submit(update, defaultButton(update), { accept }))
              t.strictSame([update.action, refused(update), saved.statusCode, saved.headers.location,
                store.get(id, {})?.attributes], [writes === 'collection' ? '/posts' : path, [], 303, path,
                kept], `${JSON.stringify(value)} as ${accept} in ${browser === 'old' ? 'an old' : 'a'} browser`)
            }
          }
        }
      })
    }
  }
})

t.test('a form leaves a stored date and time as it is that no client may send', async t => {
  for (const [format, stored] of [['date-time', '2026-01-31 12:00:05z'], ['date-time', '2026-01-31t12:00:00.000+02:00'],
    ['date-time-local', '2026-01-31T12:00'], ['time-local', '12:00']] as const) {
    const store = memoryStore()
    const app = await build(t, {
      name, store, attributes: { type: 'object', properties: { at: { type: 'string', format } } }
    })
    store.create({ at: stored }, {})
    const saved = await app.inject(submit(findForm(await app.inject('/posts/1.html'), 'PUT')))
    t.strictSame([saved.statusCode, store.get(1, {})], [303, { id: 1, version: '1', attributes: { at: stored } }])
  }
})

t.test('a date and time comes back exactly, however a browser writes its clock', async t => {
  const cases: [stored: string, clocks: string[]][] = [
    ['2026-01-31T12:00:00Z',
      ['2026-01-31T12:00', '2026-01-31T12:00:00', '2026-01-31T12:00:00.0', '2026-01-31T12:00:00.000']],
    ['2026-01-31T12:00:00.000+02:00', ['2026-01-31T12:00', '2026-01-31T12:00:00', '2026-01-31T12:00:00.000']],
    ['2026-01-31T12:00:05.500Z', ['2026-01-31T12:00:05.5', '2026-01-31T12:00:05.50', '2026-01-31T12:00:05.500']],
    ['2026-01-31T12:00:00.120-08:00', ['2026-01-31T12:00:00.12', '2026-01-31T12:00:00.120']]
  ]
  for (const [stored, clocks] of cases) {
    const store = memoryStore()
    const app = await build(t, {
      name, store, attributes: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } }
    })
    store.create({ at: stored }, {})
    for (const clock of clocks) {
      const saved = await app.inject(tampered(findForm(await app.inject('/posts/1.html'), 'PUT'),
        { 'post[at]': clock }))
      t.strictSame([saved.statusCode, store.get(1, {})?.attributes.at], [303, stored], clock)
    }
    for (const [changed, kept] of [
      [{ 'post[at]': '2027-01-31T12:00' }, `2027-01-31T12:00:00${/z$|[+-]\d\d:\d\d$/i.exec(stored)?.[0] ?? ''}`],
      [{ 'post[at][?][offset]': '+05:00' }, '2027-01-31T12:00:00+05:00']
    ] as const) {
      const saved = await app.inject(submit(fill(findForm(await app.inject('/posts/1.html'), 'PUT', 'old'), changed)))
      t.strictSame([saved.statusCode, store.get(1, {})?.attributes.at], [303, kept], 'a changed time is written')
    }
  }
})

/** Returns the request of a form with other entries, as an outdated page or another client may send. */
function tampered (form: Form, entries: Readonly<Record<string, string>>): InjectOptions {
  return sendForm(form, [...entriesOf(form).filter(([name]) =>
    !Object.hasOwn(entries, name)), ...Object.entries(entries)])
}

t.test('a form comes back if it has entries that no page of ours sends', async t => {
  const text = { type: 'string', maxLength: 6 } as const
  const app = await build(t, {
    name,
    attributes: {
      type: 'object',
      properties: {
        title: text,
        published: { type: 'boolean' },
        tags: { type: 'array', items: text },
        author: { type: 'object', properties: { name: text } }
      }
    }
  })
  for (const body of ['post[title][]=a&post[title][]=b', 'post[title][x][y]=a', 'post[author]=x',
    'post[author][name][0]=x&post[title]=', 'post[tags][0][a]=x', 'post[published]=maybe',
    'post[?][0][name]=nothing&post[?][0][value]=x', 'post[tags][]=toolong&post[tags][1]=toolong',
    'post[title][?]=null&post[title][x]=a']) {
    const res = await app.inject(send('POST', '/posts', form, body))
    t.strictSame([res.statusCode, res.headers['content-type']], [422, types.html], body)
    t.equal(parseForms(res).length, 1, 'a form comes back')
  }
  t.match((await app.inject(send('POST', '/posts', form, 'post[title][]=first&post[title][]=second'))).body, 'first')
})

t.test('an attribute may be named like a property of Object.prototype', async t => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']
  const schema = {
    type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  } as const
  for (const options of [{ attributes: schema }, {}]) {
    const app = await build(t, { name, ...options })
    const bare = await app.inject(send('POST', '/posts.json', 'application/json', '{"post":{}}'))
    t.strictSame([bare.statusCode, bare.body], [201, '{"post":{"id":1}}'])
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id></post>`)
    t.notMatch((await app.inject('/posts/1.html')).body, /native code|\[object/)
    const bodies: [type: string, payload: string][] = [
      ['application/json', `{"post":{${names.map((name) => `"${name}":"x"`).join()}}}`],
      ['application/xml', `<post>${names.map((name) => `<${name}>x</${name}>`).join('')}</post>`],
      [form, names.map((name) => `post[${name}]=x`).join('&')]
    ]
    for (const [type, payload] of bodies) {
      const res = await app.inject(send('POST', '/posts.xml', type, payload))
      t.equal(res.statusCode, 201, res.body)
      t.match(res.body, names.map((name) => `<${name}>x</${name}>`).join(''))
      t.same((await app.inject(`${String(res.headers.location)}.json`)).json<{ post: Attributes }>().post.constructor,
        'x')
    }
  }
})

t.test('an XHTML page keeps the first line break of a text', async t => {
  const app = await build(t, { name, attributes: { type: 'object', properties: { body: { type: 'string' } } } })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { body: '\na' } } })
  const written = ({ body }: { body: string }): string | undefined =>
    /<textarea [^>]*>([^]*?)<\/textarea>/.exec(decode(body))?.[1]
  t.equal(written(await app.inject('/posts/1.html')), '\n\na', 'a parser of HTML drops the first line break')
  const xhtml = await app.inject({ url: '/posts/1', headers: { accept: 'application/xhtml+xml' } })
  t.equal(xhtml.headers['content-type'], 'application/xhtml+xml; charset=utf-8')
  t.equal(written(xhtml), '\na', 'a parser of XML keeps it')
})

t.test('values that a schema leaves open are kept', async t => {
  const cases: [name: string, schema: unknown, values: unknown[], refused: unknown[]][] = [
    ['true inside is any value', { type: 'object', properties: { a: true } }, [{}, { a: 5 }, { a: [null] }],
      [{ b: 5 }]],
    ['an empty schema is any value', {}, ['x', 5, null, [1], { a: 1 }], []],
    ['true among alternatives', { anyOf: [true, { type: 'integer' }] }, ['x', 5], []],
    ['several patterns', { type: 'object', patternProperties: { '^a': { type: 'integer' }, '^b': { type: 'string' } } },
      [{ a1: 1, b1: 'x' }], [{ a1: 'x' }, { b1: 1 }]],
    ['one pattern', { type: 'object', patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false },
      [{ a1: 1 }], [{ a1: 'x' }, { b: 1 }]],
    ['true in allOf', { allOf: [true, { type: 'integer' }] }, [5], ['x']],
    ['an open object among alternatives',
      {
        anyOf: [{ type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false },
          { type: 'object' }]
      }, [{ a: 1 }, { b: 'x' }], ['x']],
    ['an alternative that takes other members',
      {
        anyOf: [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: { type: 'integer' } },
          { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: false }]
      },
      [{ a: 'x', c: 2 }, { b: 'x' }], [{ b: 'x', c: 'y' }, 'x']],
    ['alternatives of which one is a bare bound', { anyOf: [{ format: 'date' }, { type: 'integer' }] },
      ['2026-01-31', 5], ['x']],
    ['formats that differ', { anyOf: [{ type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }] },
      ['2026-01-31', '2026-01-31T12:00:00Z'], ['x']],
    ['values of several types', { enum: ['a', 1, 1.5, true, null] }, ['a', 1, 1.5, true, null], ['b', 2, false]],
    ['constants of several types', { anyOf: [{ const: 'a' }, { const: 1.5 }, { const: null }] }, ['a', 1.5, null],
      ['b']],
    ['nullable as in OpenAPI', { type: 'integer', nullable: true }, [1, null], ['x']],
    ['an object of no declared members', { type: 'object' }, [{}, { a: [{ b: null }] }], ['x']],
    ['an array of anything', { type: 'array' }, [[], ['a', 1, null, ['b'], { c: 1 }]], ['x']]
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, {
    name, attributes: { type: 'object', properties: propertiesOf(cases.map(([, schema]) => schema)) }, store
  })
  for (const [number, [label, , values, refused]] of cases.entries()) {
    await t.test(label, async t => {
      store.reset()
      const it = `it${number}`
      for (const [index, value] of values.entries()) {
        const res = await app.inject(send('POST', '/posts.json', 'application/json',
          JSON.stringify({ post: { [it]: value } })))
        t.strictSame([res.statusCode, res.json<{ post?: Attributes }>().post?.[it]], [201, value], res.body)
        for (const kind of ['xml', 'html']) t.equal((await app.inject(`/posts/${index + 1}.${kind}`)).statusCode, 200)
      }
      for (const value of refused) {
        t.equal((await app.inject(send('POST', '/posts.json', 'application/json',
          JSON.stringify({ post: { [it]: value } })))).statusCode, 422, JSON.stringify(value))
      }
    })
  }
})

t.test('an object inside an open value has at most a hundred names', async t => {
  const app = await build(t, { name })
  for (const [count, status] of [[100, 201], [101, 422]] as const) {
    const it = Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]))
    t.equal((await app.inject(send('POST', '/posts.json', 'application/json',
      JSON.stringify({ post: { it } })))).statusCode, status)
  }
})
