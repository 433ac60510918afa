import { Type } from '@sinclair/typebox'
import t from 'tap'
import { type Attributes, type AttributesSchema, memoryStore, type Problem } from '../../lib/index.js'
import { build, propertiesOf, send, xml } from '../support/helper.js'
import { findForm, shown } from '../support/html/forms.js'
import { resettableStore } from '../support/stores/resettable-store.js'

const form = 'application/x-www-form-urlencoded'
const name = 'posts'

t.test('a TypeBox schema is accepted as it is', async t => {
  const Post = Type.Object({
    title: Type.String({ minLength: 1 }),
    body: Type.Optional(Type.String()),
    rating: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    state: Type.Optional(Type.Union([Type.Literal('draft'), Type.Literal('live')])),
    level: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2), Type.Null()])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
    scores: Type.Optional(Type.Record(Type.String(), Type.Number())),
    at: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
    author: Type.Optional(Type.Object({ name: Type.String(), mail: Type.Optional(Type.String({ format: 'email' })) }))
  }, { $id: 'Post', title: 'A post' })
  const row = {
    title: 'T',
    rating: 3,
    state: 'live',
    level: 2,
    tags: ['a', 'b'],
    scores: { x: 1.5 },
    at: null,
    author: { name: 'N' }
  }
  const document =
    '<title>T</title><rating type="integer">3</rating><state>live</state><level type="float">2</level><tags ' +
      'type="array"><tag>a</tag><tag>b</tag></tags><scores><x type="float">1.5</x></scores><at ' +
        'nil="true"/><author><name>N</name></author>'

  await t.test('each format reads and writes its values', async t => {
    const bodies: [type: string, payload: string][] = [
      ['application/json', JSON.stringify({ post: row })],
      ['application/xml', `<post>${document}</post>`],
      ['application/xml', '<post><title>T</title><rating>3</rating><state>live</state><level>2</level>' +
        '<tags><tag>a</tag><tag>b</tag></tags><scores><x>1.5</x></scores>' +
          '<at/><author><name>N</name></author></post>'],
      [form, 'post[title]=T&post[rating]=3&post[state]=live&post[level]=2&post[tags][]=a&post[tags][]=b&' +
        'post[scores][x]=1.5&post[at][?]=null&post[author][name]=N']
    ]
    const store = resettableStore(memoryStore)
    const app = await build(t, { name, attributes: Post, store })
    for (const [type, payload] of bodies) {
      store.reset()
      const res = await app.inject(send('POST', '/posts.json', type, payload))
      t.strictSame([res.statusCode, res.json()], [201, { post: { id: 1, ...row } }], type)
      t.equal((await app.inject('/posts/1')).body, `${xml}<post><id type="integer">1</id>${document}</post>`)
      t.equal(shown(findForm(await app.inject('/posts/1.html'), 'PUT'), 'post[state]'), 'live')
    }
  })

  await t.test('an invalid value is reported', async t => {
    const app = await build(t, { name, attributes: Post })
    const res = await app.inject(send('POST', '/posts.json', 'application/json',
      JSON.stringify({
        post: {
          rating: 'x', tags: ['a', 5], scores: { a: 'b' }, author: { mail: 'x', nmae: 'N' }, at: 'now'
        }
      })))
    t.equal(res.statusCode, 422)
    t.match(res.json<Problem>().errors, {
      title: ['must be given'],
      rating: ['must be an integer or null'],
      'tags.1': ['must be a string'],
      'scores.a': ['must be a number'],
      'author.nmae': ['is unknown; did you mean "name"?']
    })
    for (const attribute of Object.keys(Post.properties)) {
      const wrong = await app.inject({
        method: 'PUT', url: '/posts.json', payload: { id: 1, post: { [attribute]: true } }
      })
      t.equal(wrong.statusCode, 422, attribute)
      t.strictSame(Object.keys(wrong.json<Problem>().errors ?? {}), [attribute])
    }
  })

  await t.test('intersections, enumerations and undeclared names work', async t => {
    const app = await build(t, {
      name,
      attributes: Type.Object({
        both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
        choice: Type.Enum({ A: 'a', B: 'b' }),
        anything: Type.Optional(Type.Any()),
        unknown: Type.Optional(Type.Unknown()),
        nothing: Type.Optional(Type.Null()),
        seen: Type.Readonly(Type.Optional(Type.Boolean()))
      }, { additionalProperties: false })
    })
    const row = {
      both: { a: '5', b: 5 }, choice: 'b', anything: { deep: [1] }, unknown: 'x', nothing: null, seen: true
    }
    const res = await app.inject(send('POST', '/posts.json', 'application/json', JSON.stringify({ post: row })))
    t.equal(res.statusCode, 201)
    t.same(res.json(), { post: { id: 1, ...row } })
    const asXml = await app.inject(send('POST', '/posts.json', 'application/xml',
      '<post><both><a>5</a><b>5</b></both><choice>b</choice></post>'))
    t.same(asXml.json(), { post: { id: 2, both: { a: '5', b: 5 }, choice: 'b' } })
  })
})

t.test('references may point into the schema itself', async t => {
  for (const place of ['$defs', 'definitions'] as const) {
    await t.test(place, async t => {
      const schema = {
        type: 'object',
        required: ['stars'],
        properties: {
          stars: { $ref: `#/${place}/stars` },
          all: { type: 'array', items: { $ref: `#/${place}/stars` } },
          author: { $ref: `#/${place}/a~1person` },
          tree: { $ref: `#/${place}/node` },
          same: { $ref: '#/properties/stars' }
        },
        [place]: {
          stars: { type: 'integer', maximum: 5 },
          'a/person': {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, born: { $ref: `#/${place}/year` } }
          },
          year: { type: ['integer', 'null'] },
          node: {
            type: 'object',
            properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: `#/${place}/node` } } }
          }
        }
      } as const
      const row = {
        stars: 5,
        all: [1, 2],
        author: { name: 'N', born: null },
        tree: { name: 'a', children: [{ name: 'b' }] },
        same: 4
      }
      const document =
        '<post><stars>5</stars><all><one>1</one><one>2</one></all><author><name>N</name><born/></author>' +
          '<tree><name>a</name><children><child><name>b</name></child></children></tree><same>4</same></post>'
      const app = await build(t, { name, attributes: schema })
      for (const [type, payload] of [['application/json', JSON.stringify({ post: row })],
        ['application/xml', document]] as const) {
        const res = await app.inject(send('POST', '/posts.json', type, payload))
        t.equal(res.statusCode, 201, res.body)
        t.match(res.json(), { post: row })
      }
      const { body } = await app.inject('/posts/1.xml')
      t.match(body, '<stars type="integer">5</stars>')
      t.equal((await app.inject(send('PUT', '/posts.json?id=2', 'application/xml',
        body.replace('<id type="integer">1</id>', '')))).statusCode, 200, 'a written value can be read')
      const wrong = await app.inject(send('POST', '/posts.json', 'application/json',
        '{"post":{"stars":6,"all":["1"],"author":{"born":"x"},"tree":{"children":[{"name":5}]},"same":7}}'))
      t.strictSame(wrong.json<Problem>().errors, {
        stars: ['must be at most 5'],
        'all.0': ['must be an integer'],
        'author.name': ['must be given'],
        'author.born': ['must be an integer or null'],
        'tree.children.0.name': ['must be a string'],
        same: ['must be at most 5']
      })
    })
  }
})

t.test('a reference means the same in each format, with an $id anywhere', async t => {
  const integer = { type: 'integer' } as const
  const text = { type: 'string' } as const
  const definitions = { a: integer }
  const cases: ReadonlyArray<readonly [what: string, schema: object, isInner?: boolean]> = [
    ['an $id beside the reference', { properties: { it: { $id: 'x', $ref: '#/definitions/a' } }, definitions }],
    ['other keywords beside it', { properties: { it: { $ref: '#/definitions/a', minimum: 1 } }, definitions }],
    ['the $id of the whole', { $id: 'Whole', properties: { it: { $ref: 'Whole#/definitions/a' } }, definitions }],
    ['a relative $id', {
      $id: 'https://s.example/root',
      properties: { it: { $ref: 'sub/a' } },
      definitions: { a: { $id: 'sub/a', ...integer } }
    }],
    ['a pointer inside a part with an $id',
      {
        properties: {
          it: {
            $id: 'x', type: 'object', properties: { in: { $ref: '#/definitions/a' } }, definitions: { a: integer }
          }
        },
        definitions: { a: text }
      }, true],
    ['a name inside a part with an $id',
      {
        properties: { it: { $ref: 'https://s.example/b#n' } },
        definitions: {
          n: { $id: '#n', ...text }, b: { $id: 'https://s.example/b', definitions: { c: { $id: '#n', ...integer } } }
        }
      }]
  ]
  for (const [what, schema, isInner = false] of cases) {
    const app = await build(t, { name, attributes: { type: 'object', ...schema } as never })
    const bodies = [
      ['application/json', (value: unknown) => JSON.stringify({ post: { it: isInner ? { in: value } : value } })],
      ['application/xml', (value: unknown) =>
        `<post><it>${isInner ? `<in>${String(value)}</in>` : String(value)}</it></post>`],
      ['application/x-www-form-urlencoded', (value: unknown) => `post[it]${isInner ? '[in]' : ''}=${String(value)}`]
    ] as const
    for (const [type, write] of bodies) {
      const res = await app.inject(send('POST', '/posts.json', type, write(5)))
      t.match([res.statusCode, res.json()], [201, { post: { it: isInner ? { in: 5 } : 5 } }], `${what} ${type}`)
      t.equal((await app.inject(send('POST', '/posts.json', type, write('x')))).statusCode, 422,
        `${what} ${type} of a text`)
    }
  }
})

t.test('a fault of a schema is named with its attribute and its cure', async t => {
  const draft = 'https://json-schema.org/draft/2020-12/schema'
  const pattern = (text: string, reason: string): string =>
    `has the pattern '${text}', which is not a regular expression (${reason}); it is read with the flag "u", so ` +
      'escape each ' + 'character that has a meaning in patterns, and no other one'
  const missing = (reference: string): string =>
    `has a reference without a target: the reference "${reference}" has no target in the schema; declare it in ` +
      '"definitions", or share it by app.addSchema'
  const string = { type: 'string' } as const
  const cases: ReadonlyArray<readonly [schema: object, message: string]> = [
    [{ $schema: draft, properties: { a: string } },
      `"$schema" is '${draft}', but schemas are read as draft-07; leave it out`],
    [{ properties: { a: { $ref: '#/definitions/x' } } }, `"a" ${missing('#/definitions/x')}`],
    [{ properties: { a: { type: 'object', properties: { b: { $ref: 'Nope' } } } } }, `"a.b" ${missing('Nope')}`],
    [{ properties: { a: { $ref: '#/properties/a' } } },
      '"a" has the reference \'#/properties/a\', which leads only back to itself; refer to a schema that has a type'],
    [{ properties: { a: { ...string, pattern: '[' } } }, `"a" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { type: 'object', patternProperties: { '(': string } } } },
      `"a" ${pattern('(', 'Unterminated group')}`],
    [{ properties: { a: { $ref: '#/definitions/x' } }, definitions: { x: { ...string, pattern: '[' } } },
      `the definition "x" ${pattern('[', 'Unterminated character class')}`],
    [{ properties: { a: { ...string, maxlength: 5 } } },
      '"a" cannot be compiled: strict mode: unknown keyword: "maxlength"']
  ]
  for (const [schema, message] of cases) {
    await t.rejects(build(t, { name, attributes: { type: 'object', ...schema } as never }),
      { message: `resources: attributes of "posts": ${message}` }, message)
  }
  await build(t, {
    name,
    attributes: {
      $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: string }
    } as never
  })
})

t.test('a schema that refers to itself applies at every depth', async t => {
  const app = await build(t, {
    name,
    attributes: {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: {
        node: {
          type: 'object',
          properties: {
            size: { type: 'integer' },
            secret: { type: 'string', writeOnly: true },
            path: { type: 'string', readOnly: true },
            children: { type: 'array', items: { $ref: '#/$defs/node' } }
          }
        }
      }
    } as object as AttributesSchema
  })
  const nested = '<size>1</size><secret>swordfish</secret><path>/</path>'
  const bodies: [type: string, payload: string][] = [['application/json',
    '{"post":{"tree":{"size":1,"secret":"swordfish","path":"/","children":[' +
      '{"size":1,"secret":"swordfish","path":"/","children":[' +
        '{"size":1,"secret":"swordfish","path":"/","children":[]}]}]}}}'],
  ['application/xml',
            `<post><tree>${nested}<children><child>${nested}<children><child>${nested}<children/></child></children>` +
              '</child></children></tree></post>']]
  for (const [type, payload] of bodies) {
    const res = await app.inject(send('POST', '/posts.json', type, payload))
    t.strictSame([res.statusCode, res.json<{ post: Attributes }>().post.tree],
      [201, { size: 1, children: [{ size: 1, children: [{ size: 1, children: [] }] }] }], type)
    const { body } = await app.inject(`${String(res.headers.location)}.xml`)
    t.notMatch(body, 'swordfish')
    t.equal(body.match(/<size type="integer">1<\/size>/g)?.length, 3)
  }
})

t.test('an object may have members beside the declared ones', async t => {
  const schema = {
    type: 'object',
    properties: {
      seats: { type: 'object', properties: { row: { type: 'string' } }, additionalProperties: { type: 'integer' } }
    }
  } as const
  const value = { row: 'A', left: 5, right: 6 }
  const payloads: [type: string, payload: string][] = [
    ['application/json', JSON.stringify({ post: { seats: value } })],
    ['application/xml', '<post><seats><row>A</row><left>5</left><right>6</right></seats></post>'],
    [form, 'post[seats][row]=A&post[seats][left]=5&post[seats][right]=6']
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, { name, attributes: schema, store })
  for (const [type, payload] of payloads) {
    store.reset()
    t.strictSame((await app.inject(send('POST', '/posts.json', type, payload))).json(),
      { post: { id: 1, seats: value } })
    t.equal((await app.inject('/posts/1.xml')).body, `${xml}<post><id type="integer">1</id><seats><row>A</row>` +
      '<left type="integer">5</left><right type="integer">6</right></seats></post>', type)
    t.equal((await app.inject(send('POST', '/posts.xml', type,
      payload.replaceAll('6', 'x').replaceAll(':x', ':"x"')))).statusCode, 422)
  }
})

t.test('annotations of OpenAPI do not affect validation', async t => {
  const annotations = {
    xml: { name: 'other', wrapped: true },
    example: 'x',
    examples: ['x'],
    externalDocs: { url: 'https://docs.example' },
    deprecated: true,
    title: 'T',
    description: 'D',
    $comment: 'C',
    'x-order': 1,
    'x-deep': { 'x-deeper': [{}] }
  }
  const { externalDocs, ...top } = annotations
  const app = await build(t, {
    name,
    attributes: {
      ...top,
      type: 'object',
      properties: {
        title: { type: 'string', ...annotations, nullable: true },
        author: {
          type: 'object',
          ...annotations,
          discriminator: { propertyName: 'name' },
          properties: { name: { type: 'string', ...annotations } }
        },
        'x-ray': { type: 'integer', ...annotations }
      },
      $defs: { unused: { type: 'string', ...annotations } }
    } as object as AttributesSchema
  })
  t.equal(externalDocs.url, 'https://docs.example')
  const res = await app.inject(send('POST', '/posts', 'application/xml',
    '<post><title nil="true"/><author><name>N</name></author><x-ray>5</x-ray></post>'))
  t.equal(res.statusCode, 201)
  t.equal(res.body, `${xml}<post><id type="integer">1</id><title nil="true"/><author><name>N</name></author><x-ray ` +
    'type="integer">5</x-ray></post>')
  t.equal((await app.inject(send('POST', '/posts', 'application/xml',
    '<post><author><name nil="true"/></author></post>'))).statusCode, 422)
})

t.test('an unmet keyword is explained in words', async t => {
  const cases: [schema: object, value: unknown, says: string | RegExp][] = [
    [{ type: 'string', minLength: 1 }, '', 'must not be blank'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'must have at most 1 character'],
    [{ type: 'string', pattern: '^a+$' }, 'b', 'must match ^a+$'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'must be one of "a", "b"'],
    [{ allOf: [{ const: 'a' }] }, 'b', 'must be "a"'],
    [{ type: 'integer', minimum: 2 }, 1, 'must be at least 2'],
    [{ type: 'number', exclusiveMinimum: 2 }, 2, 'must be more than 2'],
    [{ type: 'number', multipleOf: 0.5 }, 0.7, 'must be a multiple of 0.5'],
    [{ type: 'array', minItems: 1 }, [], 'must have at least 1 item'],
    [{ type: 'array', maxItems: 1 }, ['a', 'b'], 'must have at most 1 item'],
    [{ type: 'array', uniqueItems: true }, ['a', 'a'], 'must not have the same item twice'],
    [{ type: 'array', contains: { const: 'a' } }, ['b'], /./],
    [{ type: 'object', minProperties: 1 }, {}, /fewer than 1/],
    [{ type: 'string', format: 'date' }, 'x', 'must be a date such as 2026-01-31'],
    [{ type: 'string', format: 'date-time' }, 'x', 'must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ type: 'string', format: 'time' }, 'x', 'must be a time such as 12:00:00Z'],
    [{ type: 'string', format: 'email' }, 'x', 'must be an e-mail address'],
    [{ type: 'string', format: 'uri' }, 'x', 'must be an absolute URL'],
    [{ type: 'string', format: 'uuid' }, 'x', 'must be a UUID in lower case'],
    [{ type: 'string', format: 'ipv4' }, 'x', 'must be a valid ipv4'],
    [{ not: { const: 'a' } }, 'a', 'is not valid'],
    [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'a', 'must be an integer or true or false'],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 5, 'is not valid'],
    [{ type: ['integer', 'null'] }, 'a', 'must be an integer or null'],
    [{ type: 'object' }, [], 'must be an object'],
    [{ type: 'array' }, {}, 'must be an array'],
    [{ type: 'null' }, 'a', 'must be null']
  ]
  const app = await build(t, {
    name, attributes: { type: 'object', properties: propertiesOf(cases.map(([schema]) => schema)) }
  })
  for (const [index, [schema, value, says]] of cases.entries()) {
    const what = `${JSON.stringify(schema)}: ${JSON.stringify(value)}`
    const res = await app.inject(send('POST', '/posts.json', 'application/json',
      JSON.stringify({ post: { [`it${index}`]: value } })))
    t.equal(res.statusCode, 422, `${what}: ${res.body}`)
    t.match(res.json<Problem>().errors, { [`it${index}`]: [says] }, what)
  }
})
