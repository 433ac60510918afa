import { type Attributes, BY_ID, type Id, type Row } from '../../../../lib/index.js'
import { type SqlStore, type SqlStoreOptions } from '../../../../lib/sql/sqlite/index.js'
import { comparePositions } from '../../../../lib/core/stores/order.js'
import { context, each, type Engine, every, readAll, thrownBy } from '../../../support/stores/sql-engines.js'

const anyVersion = { version: undefined, scope: {} }
const text = { type: 'string' } as const
const integer = { type: 'integer' } as const

async function opened ({ store }: Engine, options: Partial<SqlStoreOptions>): Promise<SqlStore> {
  const opened = store({ table: 'rows', attributes: { type: 'object', properties: {} }, ...options })
  await opened.prepare()
  return opened
}

const titled = (properties: object): SqlStoreOptions['attributes'] => ({
  type: 'object', properties: { ...properties, title: { type: ['string', 'null'] } }
})
const TEXTS = [
  'a/b', 'a?b', 'a#b', '100%', '%41', '%', '%2E', '%N', '%25', '.', '..', '...', '', ' ', 'a b ', 'a,b', ',', 'a.json',
  'né', '💛', 'A', "o'b", '"', '\\', '+', '&=', '\n', '\u0001', 'b\u001bc', '%\u0001', '%C\u0001%01', 'd\ufffe\uffff',
  '%C%01', '.\u0001', '%["a"]', '[null]', 'a\rb', 'x'.repeat(90)
]

each('a key of one text makes ids of its texts', async (t, engine) => {
  const store = await opened(engine, { attributes: titled({ code: text }), key: ['code'], migrate: true })
  t.equal(store.id, 'string')
  t.strictSame(store.attributes.required, ['code'])
  const ids = new Map<Id, string>()
  for (const code of TEXTS) {
    const row = await store.create({ code, title: 'T' }, {}, context)
    t.strictSame(row.attributes, { code, title: 'T' })
    ids.set(row.id, code)
  }
  t.equal(ids.size, TEXTS.length, 'no two rows have the same id')
  for (const [id, code] of ids) {
    t.equal((await store.get(id, {}, context))?.attributes.code, code, String(id))
    t.match(await store.update(id, { title: code }, anyVersion, context), {
      ok: true, row: { id, attributes: { code, title: code } }
    })
  }
  t.strictSame([...ids].filter(([id, code]) => id !== code), [
    ['%2541', '%41'], ['%25', '%'], ['%252E', '%2E'], ['%25N', '%N'], ['%2525', '%25'], ['%2E', '.'], ['%2E.', '..'],
    ['%', ''], ['%["\\u0001"]', '\u0001'], ['%["b\\u001bc"]', 'b\u001bc'], ['%["%\\u0001"]', '%\u0001'],
    ['%["%C\\u0001%01"]', '%C\u0001%01'], ['%["d\\ufffe\\uffff"]', 'd\ufffe\uffff'], ['%25C%01', '%C%01'],
    ['%[".\\u0001"]', '.\u0001'], ['%25["a"]', '%["a"]'], ['%["a\\rb"]', 'a\rb']
  ])
  for (const id of [
    '\u0001', 'b\u001bc', '%C', '%[', '%[]', '%["a/b"]', '%["a","b"]', '%[{}]', '%[["a/b"]]', '%[true]', '%["\\u0001"',
    '%N', '%T1', 'd\ufffe\uffff'
  ]) {
    t.equal(await store.get(id, {}, context), undefined, `${JSON.stringify(id)} is no other name of a row`)
    t.strictSame(await store.delete(id, anyVersion, context), { ok: false, why: 'missing' })
  }
  for (const id of ['unknown', '%zz', '%2e', '%2Ex', 'x\0', '\ud800', 5]) {
    t.equal(await store.get(id, {}, context), undefined, JSON.stringify(id))
    t.strictSame(await store.delete(id, anyVersion, context), { ok: false, why: 'missing' })
  }
  t.strictSame((await readAll(store.list(every, context))).map(({ attributes }) =>
    attributes.code), [...TEXTS].sort((a, b) => comparePositions(BY_ID, [a], [b])))
  t.match(await thrownBy(() =>
    store.create({ code: 'A' }, {}, context)), {
    code: 'FST_RESOURCES_DUPLICATE', errors: { code: ['is already taken'] }
  })
  for (const id of ids.keys()) t.match(await store.delete(id, anyVersion, context), { ok: true, row: { id } })
  t.strictSame(await readAll(store.list(every, context)), [])
})

each('the type of a key of one attribute is that of its ids', async (t, engine) => {
  const cases: ReadonlyArray<readonly [
    schema: object, id: string, value: unknown, written: Id, wrong: readonly Id[]
  ]> = [
    [integer, 'integer', 7, 7, ['7', 7.5, '07']],
    [
      { type: 'string', format: 'uuid' }, 'uuid', '019a0000-0000-7000-8000-000000000000',
      '019a0000-0000-7000-8000-000000000000', ['019A0000-0000-7000-8000-000000000000', 'x', 7]
    ],
    [{ type: 'number' }, 'string', 1.5, '1.5', ['1.50', 1.5, 'x', 'NaN', 'Infinity', '']],
    [{ type: 'boolean' }, 'string', true, 'true', ['1', 't', 'TRUE', 'false']],
    [{ type: 'boolean' }, 'string', false, 'false', ['0', 'f', 'true']],
    [{ type: 'string', format: 'date' }, 'string', '2026-01-31', '2026-01-31', ['2026-1-31']]
  ]
  for (const [index, [schema, id, value, written, wrong]] of cases.entries()) {
    const store = await opened(engine, {
      table: `typed_${index}`, attributes: titled({ code: schema }), key: ['code'], migrate: true
    })
    t.equal(store.id, id)
    const row = await store.create({ code: value }, {}, context)
    t.equal(row.id, written)
    t.strictSame(await store.get(written, {}, context), row)
    for (const other of wrong) t.equal(await store.get(other, {}, context), undefined, JSON.stringify(other))
  }
})

const track = { playlistId: integer, trackId: integer } as const

each('a key of several attributes joins them', async (t, engine) => {
  const store = await opened(engine, {
    attributes: titled({ list: text, place: integer, done: { type: 'boolean' } }),
    key: ['list', 'place', 'done'],
    migrate: true
  })
  const cases: ReadonlyArray<readonly [attributes: Attributes, id: string]> = [
    [{ list: 'a', place: 1, done: true }, 'a,1,true'],
    [{ list: 'a', place: 10, done: true }, 'a,10,true'],
    [{ list: 'a', place: 9, done: false }, 'a,9,false'],
    [{ list: 'a,1', place: -1, done: true }, 'a%2C1,-1,true'],
    [{ list: '%2C', place: 0, done: true }, '%252C,0,true'],
    [{ list: '%N', place: 0, done: true }, '%25N,0,true'],
    [{ list: '', place: 0, done: true }, ',0,true'],
    [{ list: '..', place: 0, done: true }, '..,0,true'],
    [{ list: 'a,\u0001%', place: 0, done: true }, '%["a,\\u0001%",0,true]'],
    [{ list: '\u0001', place: 1, done: false }, '%["\\u0001",1,false]']
  ]
  for (const [attributes, id] of cases) {
    const row = await store.create(attributes, {}, context)
    t.equal(row.id, id)
    t.strictSame(await store.get(id, {}, context), row)
  }
  for (const id of [
    'a,1', 'a,1,true,', 'a,01,true', 'a,1,TRUE', 'a,1,', 'a,%N,true', '%N,0,true', '%2,0,true', '%2c,0,true',
    '%,0,true', 'a, 1,true', 'a,1.5,true', '\u0001,1,false', '%["a",1,true]', '%["a",1]', 1
  ]) {
    t.equal(await store.get(id, {}, context), undefined, String(id))
    t.strictSame(await store.update(id, { title: 'T' }, { version: '1', scope: {} }, context), {
      ok: false, why: 'missing'
    })
  }
  t.equal(await store.get('a,1,true', { list: 'b' }, context), undefined, 'the scope counts besides')
  t.match(await store.get('a,1,true', { list: 'a' }, context), { id: 'a,1,true' })
})

each('a create gives each part of the key, and an update changes none', async (t, engine) => {
  const store = await opened(engine, { attributes: titled(track), key: ['playlistId', 'trackId'], migrate: true })
  t.match(await thrownBy(() =>
    store.create({ trackId: 5 }, {}, context)), {
    code: 'FST_RESOURCES_INVALID', errors: { playlistId: ['must be given'] }
  })
  t.strictSame(Object.keys((await thrownBy(() =>
    store.create({}, {}, context))).errors as object), ['playlistId', 'trackId'])
  const row = await store.create({ trackId: 5, playlistId: 9 }, { playlistId: 1 }, context)
  t.match(row, { id: '1,5', attributes: { playlistId: 1, trackId: 5 } })
  t.match(await thrownBy(() =>
    store.create({ trackId: 5, playlistId: 1 }, {}, context)), {
    code: 'FST_RESOURCES_DUPLICATE', errors: { playlistId: ['is already taken'] }
  })
  t.match(await thrownBy(() =>
    store.create({ trackId: 5 }, { playlistId: 1 }, context)), { errors: { trackId: ['is already taken'] } })
  t.match(
    await store.update('1,5', { playlistId: 1, trackId: 5, title: 'T' }, { version: row.version, scope: {} }, context),
    { ok: true, row: { id: '1,5', attributes: { title: 'T' } } }, 'the same values may be given'
  )
  const refused = {
    code: 'FST_RESOURCES_INVALID', errors: { trackId: ['cannot be changed, because the id contains it'] }
  }
  t.match(await thrownBy(() => store.update('1,5', { trackId: 6, title: 'U' }, anyVersion, context)), refused)
  t.match(await thrownBy(() => store.update('1,5', { trackId: null }, { version: '2', scope: {} }, context)), refused)
  t.match(await store.update('1,5', { trackId: 6 }, { version: row.version, scope: {} }, context), {
    ok: false, why: 'stale', current: { version: '2' }
  })
  t.match(await store.update('1,6', { trackId: 7 }, anyVersion, context), { ok: false, why: 'missing' })
  t.match(await thrownBy(() =>
    store.update('1,5', { playlistId: 2 }, { version: '2', scope: { playlistId: 1 } }, context)), {
    code: 'FST_RESOURCES_SCOPE_CHANGE'
  })
  t.match(await store.get('1,5', {}, context), { version: '2', attributes: { playlistId: 1, trackId: 5, title: 'T' } })
})

each('rows of a view are addressed by all their values, and are only read', async (t, engine) => {
  await engine.run(
    'CREATE TABLE sales (town TEXT, amount INTEGER)',
    "INSERT INTO sales VALUES ('b', 2), ('a', NULL), (NULL, 1), ('a', 1), (NULL, NULL), ('b', NULL)",
    'CREATE VIEW rows AS SELECT town, amount FROM sales'
  )
  const store = await opened(engine, {
    attributes: {
      type: 'object', properties: { town: { type: ['string', 'null'] }, amount: { type: ['integer', 'null'] } }
    },
    key: ['town', 'amount'],
    version: 'values'
  })
  const rows = await readAll(store.list(every, context))
  const ids = ['%[null,null]', '%[null,1]', '%["a",null]', 'a,1', '%["b",null]', 'b,2']
  t.strictSame(rows.map(({ id }) => id), ids)
  t.strictSame((await readAll(store.list({ ...every, order: [{ by: 'id', descending: true }] }, context))).map(({
    id
  }) =>
    id), [...ids].reverse())
  for (const row of rows) t.strictSame(await store.get(row.id, {}, context), row)
  for (const [index, { id }] of rows.entries()) {
    t.strictSame((await readAll(store.list({ ...every, after: [id] }, context))).map(({ id }) =>
      id), ids.slice(index + 1), `after ${id}`)
    t.strictSame((await readAll(
      store.list({ ...every, filter: [{ attribute: 'id', operator: 'lte', value: id }] }, context)
    )).map(({ id }) =>
      id), ids.slice(0, index + 1), `up to ${id}`)
    t.strictSame((await readAll(
      store.list({ ...every, filter: [{ attribute: 'id', operator: 'not', value: id }] }, context)
    )).map(({ id }) =>
      id), ids.filter((other) => other !== id), `other than ${id}`)
  }
  t.strictSame((await readAll(
    store.list(
      { ...every, filter: [{ attribute: 'id', operator: 'in', value: [ids[1], 'b,2', ids[2]] as string[] }] }, context
    )
  )).map(({ id }) =>
    id), [ids[1], ids[2], 'b,2'])
  for (const write of [() =>
    store.create({ town: 'c', amount: 1 }, {}, context), () =>
    store.update('a,1', { }, anyVersion, context), () => store.delete('a,1', anyVersion, context)]) {
    t.match(await thrownBy(write), {
      code: 'FST_RESOURCES_INVALID', message: 'the rows of this table cannot be written, because no key of it is unique'
    })
  }
  const single = await opened(engine, {
    attributes: { type: 'object', properties: { town: { type: ['string', 'null'] } } }, key: ['town'], version: 'values'
  })
  t.strictSame((await readAll(single.list(every, context))).map(({ id }) =>
    id).sort(), ['%[null]', '%[null]', 'a', 'a', 'b', 'b'])
  for (const id of ['%[null]', 'a']) {
    t.equal(await single.get(id, {}, context), undefined, 'an id of several rows names none')
  }
  const refused = {
    code: 'FST_RESOURCES_INVALID_QUERY',
    message: 'several rows have the key after which this page begins; read the list by "limit" and "offset"'
  }
  t.match(await thrownBy(() => readAll(single.list({ ...every, after: ['a'] }, context))), refused)
  const pages = [0, 2, 4].map((offset) => readAll(single.list({ ...every, limit: 2, offset }, context)))
  t.strictSame((await Promise.all(pages)).map((page) =>
    page.map(({ id }) => id)), [['%[null]', '%[null]'], ['a', 'a'], ['b', 'b']])
})

each('a key must be unique, unless it consists of all values', async (t, engine) => {
  const attributes = titled({ a: text, b: text })
  const cases: ReadonlyArray<readonly [columns: string, key: readonly string[], outcome: RegExp | boolean]> = [
    ['a TEXT NOT NULL, b TEXT NOT NULL, title TEXT, PRIMARY KEY (a, b)', ['a', 'b'], true],
    ['a TEXT NOT NULL, b TEXT NOT NULL, title TEXT, PRIMARY KEY (a, b)', ['b', 'a'], true],
    ['a TEXT NOT NULL UNIQUE, b TEXT NOT NULL, title TEXT', ['b', 'a'], true],
    [
      'a TEXT NOT NULL, b TEXT NOT NULL, title TEXT, PRIMARY KEY (a, b)', ['a'],
      /there is no unique index of the key "a" whose columns are not null/
    ],
    ['a TEXT UNIQUE, b TEXT, title TEXT', ['a'], /there is no unique index of the key "a"/],
    ['a TEXT, b TEXT, title TEXT', ['b', 'a'], /there is no unique index of the key "b", "a"/],
    ['a TEXT, b TEXT, title TEXT', ['a', 'b', 'title'], false]
  ]
  for (const [columns, key, outcome] of cases) {
    await engine.run(`CREATE TABLE rows (${columns})`)
    const open = (): Promise<SqlStore> => opened(engine, { attributes, key, version: 'values' })
    if (outcome instanceof RegExp) t.match((await thrownBy(open)).message, outcome, columns)
    else {
      const create = async (): Promise<Row> => (await open()).create({ a: 'a', b: 'b', title: null }, {}, context)
      if (outcome) t.match(await create(), { attributes: { a: 'a', b: 'b' } })
      else t.match(await thrownBy(create), { code: 'FST_RESOURCES_INVALID' })
    }
    await engine.run('DROP TABLE rows')
  }
})

each('options of keys are checked', async (t, engine) => {
  const attributes = titled({ a: text, tags: { type: 'array' } })
  const cases: ReadonlyArray<readonly [Partial<SqlStoreOptions>, string]> = [
    [{ key: [] }, 'Option "key" must be a list of attributes such as [\'playlistId\', \'trackId\'].'],
    [{ key: 'a' as never }, 'Option "key" must be a list of attributes such as [\'playlistId\', \'trackId\'].'],
    [{ key: [5] as never }, 'Option "key" must be a list of attributes such as [\'playlistId\', \'trackId\'].'],
    [{ key: ['titel'] }, 'Option "key" names "titel", which is not among the attributes; did you mean "title"?'],
    [{ key: ['a', 'a'] }, 'Option "key" names "a" twice.'],
    [{ key: ['tags'] }, 'Option "key" names "tags", which is kept as JSON and cannot be part of an id.'],
    [
      { key: ['a'], columns: { id: 'a' } },
      'Option "columns" names a column for "id", but the attributes of "key" form the id.'
    ],
    [
      { key: ['a'], id: 'integer' },
      'Option "id" is \'integer\', but the ids are of the type \'string\'; leave "id" out if "key" names the ' +
        'attributes of the id, or else set it to \'integer\' or \'uuid\'.'
    ],
    [
      { id: 'string' },
      'Option "id" is \'string\', but the ids are of the type \'integer\'; leave "id" out if "key" names the ' +
        'attributes of the id, or else set it to \'integer\' or \'uuid\'.'
    ]
  ]
  for (const [options, message] of cases) {
    t.match(await thrownBy(() =>
      engine.store({ table: 'rows', attributes, ...options })), {
      code: 'FST_RESOURCES_INVALID_OPTION', message
    }, JSON.stringify(options))
  }
  t.equal(
    engine.store({ table: 'rows', attributes, key: ['a'], id: 'string' }).id, 'string', 'the right type may be repeated'
  )
})

each('a number that JSON does not have is a part of an id', async (t, engine) => {
  if (engine.name !== 'postgresql') return
  await engine.run(
    'CREATE TABLE sizes (size double precision, number integer, title text, PRIMARY KEY (size, number))',
    "INSERT INTO sizes VALUES ('-Infinity', 1), (1.5, 2), ('Infinity', 3), ('NaN', 4)"
  )
  const store = await opened(engine, {
    table: 'sizes',
    attributes: titled({ size: { type: 'number' }, number: integer }),
    key: ['size', 'number'],
    version: 'values'
  })
  const rows = await readAll(store.list(every, context))
  t.strictSame(rows.map(({ id }) => id), ['%["-Infinity",1]', '1.5,2', '%["Infinity",3]', '%["NaN",4]'])
  for (const row of rows) t.strictSame(await store.get(row.id, {}, context), row, String(row.id))
  for (const id of ['%[1.5,2]', '%["abc",2]', 'NaN,4']) t.equal(await store.get(id, {}, context), undefined, id)
})
