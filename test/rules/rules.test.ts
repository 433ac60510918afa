import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import resources, { memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import { build, send } from '../support/helper.js'
import { fill, findButton, type Form, parseForms, submit } from '../support/html/forms.js'
import { get } from '../support/html/page-tests.js'
import { describe, type Part, type Register } from '../support/openapi.js'

type Values = Readonly<Record<string, unknown>>

const properties = {
  from: { type: 'integer' },
  to: { type: ['integer', 'null'] },
  kind: { enum: ['day', 'range', null] },
  note: { type: 'string' },
  big: { type: ['integer', 'null'], format: 'int64' },
  tags: { type: 'array', items: { type: 'string' } },
  place: { type: 'object', properties: { city: { type: 'string' } } },
  owner: { type: 'string', readOnly: true }
} as const
const schemaWith = (keywords: object): ResourceOptions['attributes'] =>
  ({ type: 'object', properties, ...keywords }) as unknown as ResourceOptions['attributes']
const json = 'application/json'
const needs = 'must be given'
const unfit = 'does not fit'

/** Sends a write in JSON, and returns the status with the faults, or with the attributes. */
async function write (
  app: FastifyInstance,
  method: 'POST' | 'PUT',
  booking: Values,
  id?: number
): Promise<{ readonly status: number, readonly errors: unknown, readonly row: Values }> {
  const answer = await app.inject({
    ...send(method, '/bookings', json, JSON.stringify({ ...(id !== undefined && { id }), booking })),
    headers: { 'content-type': json, accept: json }
  })
  const { errors, booking: row = {} } = answer.json<{ errors?: unknown, booking?: Values }>()
  return { status: answer.statusCode, errors, row }
}

async function openBookings (t: Test, options: Partial<ResourceOptions>): Promise<FastifyInstance> {
  return await build(t, { name: 'bookings', ...options } as ResourceOptions)
}

/** The keywords, a row, and the faults of the row. */
type Case = readonly [keywords: object, row: Values, errors?: Readonly<Record<string, readonly string[]>>]

const oneOrOther = { description: 'needs a "from" or a "to"', anyOf: [{ required: ['from'] }, { required: ['to'] }] }
const ofRange = { if: { properties: { kind: { const: 'range' } }, required: ['kind'] }, then: { required: ['to'] } }
const CASES: readonly Case[] = [
  [{ dependentRequired: { to: ['from', 'kind'] } }, { to: 1 }, { from: [needs], kind: [needs] }],
  [{ dependentRequired: { to: ['from'] } }, { to: null }],
  [{ dependentRequired: { to: ['from'] } }, { note: 'x' }],
  [{ dependencies: { to: ['from'] } }, { to: 1 }, { from: [needs] }],
  [{ dependencies: { to: { required: ['from'] } } }, { to: 1 }, { from: [needs] }],
  [{ dependentSchemas: { to: { properties: { from: { minimum: 5 } } } } }, { to: 1, from: 4 },
    { from: ['must be at least 5'] }],
  [{ dependentSchemas: { to: { properties: { from: { minimum: 5 } } } } }, { to: 1 }],
  [{ dependentSchemas: { to: true, from: false } }, { to: 1 }],
  [{ dependentSchemas: { from: false } }, { from: 1 }, { booking: [unfit] }],
  [ofRange, { kind: 'range' }, { to: [needs] }],
  [ofRange, { kind: 'day' }],
  [ofRange, { kind: null }],
  [{ if: { required: ['from'] }, else: { required: ['note'] } }, { to: 1 }, { note: [needs] }],
  [{ if: { required: ['from'] } }, { to: 1 }],
  [{ allOf: [{ required: ['from'] }, { required: ['to'], type: 'object' }] }, {}, { from: [needs], to: [needs] }],
  [{ anyOf: oneOrOther.anyOf }, { note: 'x' }, { booking: [unfit] }],
  [{ anyOf: oneOrOther.anyOf }, { to: 0 }],
  [{ allOf: [oneOrOther] }, { note: 'x' }, { booking: ['needs a "from" or a "to"'] }],
  [{ allOf: [{ ...oneOrOther, description: '' }] }, { note: 'x' }, { booking: [unfit] }],
  [{ description: 'A booking.', anyOf: oneOrOther.anyOf }, { note: 'x' }, { booking: [unfit] }],
  [{ anyOf: [{ properties: { to: { minimum: 5 } } }, { properties: { to: { maximum: 2 } } }] }, { to: 3 },
    { to: [unfit] }],
  [{ oneOf: oneOrOther.anyOf }, { from: 1, to: 2 }, { booking: [unfit] }],
  [{ oneOf: oneOrOther.anyOf }, { from: 1 }],
  [{ not: { required: ['from', 'to'] } }, { from: 1, to: 2 }, { booking: [unfit] }],
  [{ not: { description: 'has both', required: ['from', 'to'] } }, { from: 1, to: 2 }, { booking: ['has both'] }],
  [{ not: { required: ['from', 'to'] } }, { from: 1, to: null }],
  [{ not: { required: ['note'] } }, { note: 'x' }, { note: [unfit] }],
  [{ not: true }, {}, { booking: [unfit] }],
  [{ minProperties: 2 }, { from: 1, to: null }, { booking: ['must have at least 2 attributes'] }],
  [{ minProperties: 1 }, { to: null }, { booking: ['must have at least 1 attribute'] }],
  [{ minProperties: 2 }, { from: 1, to: 2 }],
  [{ allOf: [{ properties: { note: false, from: true } }] }, { note: 'x', from: 1 }, { note: [unfit] }],
  [{ allOf: [{ properties: { note: false } }] }, { from: 1 }],
  [{ allOf: [{ properties: { big: { maximum: 10 } } }] }, { big: '9007199254740993' }, { big: ['must be at most 10'] }],
  [{ allOf: [{ properties: { tags: { maxItems: 1, items: { maxLength: 2 } } } }] }, { tags: ['abc'] },
    { 'tags.0': ['must have at most 2 characters'] }],
  [{ allOf: [{ properties: { place: { required: ['city'] } } }] }, { place: {} }, { 'place.city': [needs] }],
  [{ allOf: [{ properties: { from: { $ref: '#/definitions/small' } } }], definitions: { small: { maximum: 3 } } },
    { from: 4 }, { from: ['must be at most 3'] }],
  [{ allOf: [{ required: ['owner'] }] }, {}, { owner: [needs] }]
]

t.test('the keywords of a row are judged without its nulls, and each fault stands at its attribute', async (t) => {
  for (const [keywords, row, errors] of CASES) {
    const app = await openBookings(t, { attributes: schemaWith(keywords) })
    const name = `${JSON.stringify(keywords)}: ${JSON.stringify(row)}`
    const answer = await write(app, 'POST', row)
    t.strictSame([answer.status, answer.errors], errors === undefined ? [201, undefined] : [422, errors], name)
  }
})

t.test('a fault has the same place in XML and on a page', async (t) => {
  const keywords = { anyOf: oneOrOther.anyOf, dependentRequired: { from: ['note'] } }
  const app = await openBookings(t, { attributes: schemaWith(keywords) })
  const asXml = await app.inject(send('POST', '/bookings', 'application/xml', '<booking><from>1</from></booking>'))
  t.equal(asXml.statusCode, 422)
  t.match(asXml.body, '<errors><error attribute="note">Note must be given</error></errors>')
  const asPage = await app.inject({
    ...send('POST', '/bookings', 'application/x-www-form-urlencoded', 'booking%5Bnote%5D=x'),
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  })
  t.equal(asPage.statusCode, 422)
  t.match(asPage.body, 'Booking does not fit')
  t.match(asPage.body, /name="booking\[note\]"[^>]*>\s*x</, 'the form comes back with what was typed')
})

const REFUSED: ReadonlyArray<readonly [what: string, options: Partial<ResourceOptions>, message: RegExp]> = [
  ['an undeclared attribute', { attributes: schemaWith({ dependentRequired: { to: ['form'] } }) },
    /"dependentRequired" names "form", which is not among the properties; did you mean "from"\?/],
  ['an undeclared attribute in a branch', { attributes: schemaWith({ if: { properties: { knid: {} } } }) },
    /"properties" names "knid".*did you mean "kind"/],
  ['an undeclared attribute in required', { attributes: schemaWith({ allOf: [{ required: ['toString'] }] }) },
    /"required" names "toString"/],
  ['an unknown keyword', { attributes: schemaWith({ not: { maxProperties: 2 } }) },
    /"not" has "maxProperties" in one of its schemas, which can have type, properties, required, if/],
  ['a reference in the place of a branch',
    { attributes: schemaWith({ allOf: [{ $ref: '#/definitions/a' }], definitions: { a: {} } }) },
    /"allOf" has "\$ref" in one of its schemas/],
  ['another type', { attributes: schemaWith({ allOf: [{ type: 'array' }] }) }, /"allOf" has the type 'array', but a row/],
  ['then without if', { attributes: schemaWith({ then: { required: ['to'] } }) }, /no effect without "if"/],
  ['else without if', { attributes: schemaWith({ else: { required: ['to'] } }) }, /no effect without "if"/],
  ['no list', { attributes: schemaWith({ anyOf: {} }) }, /anyOf must be array/],
  ['no schema', { attributes: schemaWith({ dependentSchemas: { to: 5 } }) },
    /"dependentSchemas.to" must be a schema, not 5/],
  ['a wrong value', { attributes: schemaWith({ minProperties: -1 }) }, /minProperties must be >= 0/],
  ...['default', 'readOnly', 'writeOnly', 'additionalProperties'].map((keyword) =>
    [`"${keyword}" in a branch`, { attributes: schemaWith({ allOf: [{ properties: { to: { [keyword]: true } } }] }) },
      new RegExp(`"allOf" has "${keyword}" for "to"; declare it in "properties"`)] as const),
  ['"default" deep in a branch',
    { attributes: schemaWith({ if: { properties: { place: { properties: { city: { default: 'x' } } } } } }) },
    /"if" has "default" for "place"/],
  ['a keyword that is none', { attributes: schemaWith({ not: { properties: { to: { minimun: 1 } } } }) },
    /"not" has a schema for "to" that cannot be compiled: .*unknown keyword: "minimun"/],
  ['a wrong pattern', { attributes: schemaWith({ not: { properties: { note: { pattern: '(' } } } }) },
    /"note" has the pattern '\(', which is not a regular expression/],
  ['keywords without a store',
    { attributes: schemaWith({ minProperties: 1 }), only: 'create', actions: { create: () => undefined } },
    /attributes.*has rules about whole rows, which need a "store"/],
  ['a check without a store', { check: () => {}, only: 'create', actions: { create: () => undefined } }, /check.*need a "store"/],
  ['transitions without a store',
    { attributes: schemaWith({}), transitions: { kind: {} }, only: 'create', actions: { create: () => undefined } },
    /transitions.*need a "store"/],
  ['a check that is no function', { check: 'x' as unknown as () => void }, /check.*must be a function/],
  ['a transition to a value of another type', { attributes: schemaWith({}), transitions: { from: { 1: ['2'] } } },
    /has "from", which cannot be '2', a value of another type/],
  ['transitions that are no map', { transitions: [] as unknown as {} }, /transitions.*must be values that may follow/],
  ['transitions of an unknown attribute', { attributes: schemaWith({}), transitions: { knid: {} } },
    /names "knid", which is not among the attributes; did you mean "kind"\?/],
  ['transitions without lists', { attributes: schemaWith({}), transitions: { kind: 5 as unknown as {} } },
    /has "kind", which must be lists by value/],
  ['a transition without a list',
    { attributes: schemaWith({}), transitions: { kind: { day: 'range' } as unknown as Record<string, string[]> } },
    /has "kind", whose "day" must be a list of values, not 'range'/],
  ['a transition from an unknown value', { attributes: schemaWith({}), transitions: { kind: { dya: ['range'] } } },
    /has "kind", which cannot be 'dya'; did you mean "day"\?/],
  ['a transition to an unknown value', { attributes: schemaWith({}), transitions: { kind: { initial: ['rnage'] } } },
    /has "kind", which cannot be 'rnage'; did you mean "range"\?/]
]

t.test('rules that cannot work are refused at the start', async (t) => {
  for (const [what, options, message] of REFUSED) {
    const app = fastify()
    app.register(resources, { name: 'bookings', ...options } as ResourceOptions)
    await t.rejects(async () => { await app.ready() }, { message }, what)
  }
})

/** A resource whose rows are made before the rules exist. */
async function openAfter (
  t: Test,
  rows: readonly Values[],
  options: Partial<ResourceOptions>
): Promise<{ readonly app: FastifyInstance, readonly store: Store }> {
  const store = memoryStore() as Store
  for (const row of rows) await store.create(row, {}, { signal: new AbortController().signal })
  return { app: await openBookings(t, { store, ...options }), store }
}

const ordered: Partial<ResourceOptions> = {
  attributes: schemaWith({ dependentRequired: { to: ['from'] } }),
  check: ({ from, to }, { issues }) => {
    if (to !== null && from !== null && Number(to) < Number(from)) issues.add('to', 'must not be before "from"')
    if (to === 13) issues.add(undefined, 'brings bad luck')
  }
}

t.test('an update is judged by the row that it makes', async (t) => {
  const before = 'must not be before "from"'
  const cases: ReadonlyArray<readonly [stored: Values, changes: Values, errors?: Values]> = [
    [{ from: 1, to: 3 }, { to: 2 }],
    [{ from: 1, to: 3 }, { from: 3 }],
    [{ from: 1, to: 3 }, { from: 4 }, { to: [before] }],
    [{ from: 1, to: 3 }, { to: 0 }, { to: [before] }],
    [{ from: 1, to: 3 }, { to: null }],
    [{ note: 'x' }, { to: 3 }, { from: [needs] }],
    [{ from: 1 }, { to: 13 }, { booking: ['brings bad luck'] }],
    // The row had these faults before the rule.
    [{ from: 3, to: 1 }, { note: 'x' }],
    [{ from: 3, to: 1 }, { from: 4 }],
    [{ to: 1 }, { note: 'x' }],
    [{ to: 13 }, { to: 12 }],
    [{ from: 3, to: 1 }, { from: 14, to: 13 }, { booking: ['brings bad luck'] }]
  ]
  for (const [stored, changes, errors] of cases) {
    const { app } = await openAfter(t, [stored], ordered)
    const answer = await write(app, 'PUT', changes, 1)
    const name = `${JSON.stringify(stored)}: ${JSON.stringify(changes)}`
    t.strictSame([answer.status, answer.errors], errors === undefined ? [200, undefined] : [422, errors], name)
    const { statusCode } = await app.inject({ url: '/bookings/1', headers: { accept: json } })
    t.equal(statusCode, 200, `${name} is read`)
  }
})

t.test('a check sees whole rows, with null for what is absent', async (t) => {
  const seen: unknown[] = []
  const { app } = await openAfter(t, [], {
    attributes: schemaWith({}),
    check: (attributes, { previous }) => { seen.push({ ...attributes }, previous && { ...previous }) }
  })
  const none = { from: null, to: null, kind: null, note: null, big: null, tags: null, place: null, owner: null }
  await write(app, 'POST', { from: 1, to: null })
  await write(app, 'PUT', { from: 2, kind: 'day' }, 1)
  t.strictSame(seen, [
    { ...none, from: 1 }, undefined,
    { ...none, from: 2, kind: 'day' }, { ...none, from: 1 }
  ])
})

t.test('a fault of the check itself is the fault of the app', async (t) => {
  const cases: ReadonlyArray<readonly [ResourceOptions['check'], RegExp]> = [
    [(async () => { throw new Error('late') }) as () => void, /must return at once, without a promise/],
    [(_row, { issues }) => { issues.add('form', 'x') }, /issues\.add names "form", which is no attribute; did you mean "from"/],
    [() => { throw new Error('broken') }, /broken/]
  ]
  for (const [check, message] of cases) {
    const logged: Error[] = []
    const app = await build(t, { name: 'bookings', attributes: schemaWith({}), check: check as () => void }, {
      before: (app) => { app.addHook('onError', async (_request, _reply, error) => { logged.push(error) }) }
    })
    t.equal((await write(app, 'POST', { from: 1 })).status, 500)
    t.match(logged, [{ message }])
  }
})

const status = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    status: { enum: ['draft', 'published', 'archived', 'lost'], default: 'draft' },
    level: { type: ['integer', 'null'] }
  }
} as const
const machine = { status: { draft: ['published', 'archived'], published: ['archived'] } }

t.test('a value is followed by those that the map names', async (t) => {
  const choose = (values: string): Values => ({ status: [`must be one of ${values}`] })
  const cases: ReadonlyArray<readonly [stored: Values | undefined, given: Values, errors?: Values | undefined,
    transitions?: ResourceOptions['transitions']]> = [
      [undefined, {}],
      [undefined, { status: 'draft' }],
      [undefined, { status: 'published' }, choose("'draft'")],
      [undefined, { status: 'published' }, undefined,
        { status: { ...machine.status, initial: ['draft', 'published'] } }],
      [undefined, { status: 'lost' }, choose("'draft', 'published'"), { status: { initial: ['draft', 'published'] } }],
      [undefined, { level: 3 }, undefined, { level: { 1: [2] } }],
      [undefined, {}, { level: ['must be one of 1'] }, { level: { initial: [1], 1: [2] } }],
      [{ status: 'draft' }, { status: 'published' }],
      [{ status: 'draft' }, { status: 'draft', title: 'x' }],
      [{ status: 'published' }, { status: 'draft' }, choose("'archived'")],
      [{ status: 'archived' }, { status: 'draft' }, { status: ['must stay the same'] }],
      [{ status: 'archived' }, { title: 'x' }],
      [{ status: 'lost' }, { status: 'published' }],
      [{}, { status: 'archived' }],
      [{ level: 1 }, { level: 2 }, undefined, { level: { 1: [2] } }],
      [{ level: 1 }, { level: 3 }, { level: ['must be one of 2'] }, { level: { 1: [2] } }],
      [{ level: 1 }, { level: null }, { level: ['must be one of 2'] }, { level: { 1: [2] } }]
    ]
  for (const [stored, given, errors, transitions = machine] of cases) {
    const { app } = await openAfter(t, stored === undefined ? [] : [stored], { attributes: status, transitions })
    const answer = await write(app, stored === undefined ? 'POST' : 'PUT', given, stored && 1)
    const right = stored === undefined ? 201 : 200
    t.strictSame([answer.status, answer.errors], errors === undefined ? [right, undefined] : [422, errors],
      `${JSON.stringify(stored)}: ${JSON.stringify(given)}`)
  }
})

/** A store that tells when it is read and before it writes. */
function watch (store: Store): { readonly store: Store, readonly calls: string[], beforeUpdate: () => Promise<void> } {
  const watched = {
    calls: [] as string[],
    beforeUpdate: async () => {},
    store: {
      ...store,
      get: (...given) => {
        watched.calls.push('get')
        return store.get(...given)
      },
      update: async (...given) => {
        watched.calls.push('update')
        await watched.beforeUpdate()
        return await store.update(...given)
      }
    } satisfies Store
  }
  return watched
}

t.test('an update that can break no rule reads no row', async (t) => {
  const watched = watch(memoryStore() as Store)
  const app = await openBookings(t, {
    store: watched.store, attributes: schemaWith({ dependentRequired: { to: ['from'] } }), transitions: { kind: {} }
  })
  await write(app, 'POST', { from: 1 })
  await write(app, 'PUT', { note: 'x' }, 1)
  t.strictSame(watched.calls, ['update'])
  await write(app, 'PUT', { kind: 'day' }, 1)
  await write(app, 'PUT', { from: 2 }, 1)
  t.strictSame(watched.calls, ['update', 'get', 'update', 'get', 'update'])
})

t.test('of two updates that are right alone and wrong together, one is refused', async (t) => {
  const watched = watch(memoryStore() as Store)
  const app = await openBookings(t, { store: watched.store, ...ordered })
  await write(app, 'POST', { from: 1, to: 9 })
  watched.beforeUpdate = async () => {
    watched.beforeUpdate = async () => {}
    await write(app, 'PUT', { to: 3 }, 1)
  }
  const late = await write(app, 'PUT', { from: 5 }, 1)
  t.strictSame([late.status, late.errors], [422, { to: ['must not be before "from"'] }])
})

t.test('an update whose row changes each time is given up, and one whose row is gone says so', async (t) => {
  const store = memoryStore() as Store
  const watched = watch(store)
  const context = { signal: new AbortController().signal }
  const app = await openBookings(t, { store: watched.store, ...ordered })
  await write(app, 'POST', { from: 1, to: 9 })
  let count = 0
  watched.beforeUpdate = async () => {
    await store.update(1, { note: `n${count++}` }, { version: undefined, scope: {} }, context)
  }
  t.equal((await write(app, 'PUT', { from: 5 }, 1)).status, 503)
  t.equal(count, 101)
  watched.beforeUpdate = async () => { await store.delete(1, { version: undefined, scope: {} }, context) }
  t.equal((await write(app, 'PUT', { from: 5 }, 1)).status, 404)
  t.equal((await write(app, 'PUT', { from: 5 }, 1)).status, 404)
})

t.test('a version that has passed is a 412 before any rule', async (t) => {
  const { app } = await openAfter(t, [{ from: 1, to: 3 }], ordered)
  const put = async (etag: string): Promise<number> => {
    const { statusCode } = await app.inject({
      method: 'PUT',
      url: '/bookings',
      headers: { 'content-type': json, accept: json, 'if-match': etag },
      payload: { id: 1, booking: { from: 5 } }
    })
    return statusCode
  }
  const { headers } = await app.inject({ url: '/bookings/1', headers: { accept: json } })
  t.equal(await put(headers.etag as string), 422)
  t.equal(await put('"other"'), 412)
})

t.test('batches, imports, patches and handlers obey the rules', async (t) => {
  const wrong = { from: 5, to: 1 }
  const { app, store } = await openAfter(t, [{ from: 1, to: 3 }, { from: 1, to: 3 }], {
    ...ordered,
    writes: 'both',
    formats: ['json', 'csv', 'html'],
    actions: {
      create: async ({ proceed, attributes, stores, request }) => {
        if (request.headers['x-own'] === undefined) return await proceed()
        return await stores.bookings?.create(attributes, {}, { signal: new AbortController().signal })
      }
    }
  })
  const sent = async (
    method: 'POST' | 'PUT' | 'PATCH',
    url: string,
    payload: unknown,
    more: object = {}
  ): Promise<unknown> => {
    const { statusCode, body } = await app.inject({
      method,
      url,
      headers: { 'content-type': json, accept: json, ...more },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload)
    })
    const { errors, rows } = JSON.parse(body) as Record<string, unknown>
    return [statusCode, errors ?? rows]
  }
  const errors = { to: ['must not be before "from"'] }
  const csv = { 'content-type': 'text/csv' }
  const patch = { 'content-type': 'application/merge-patch+json' }
  t.strictSame(await sent('POST', '/bookings', { booking: wrong }), [422, errors])
  t.strictSame(await sent('POST', '/bookings', { booking: wrong }, { 'x-own': '1' }), [422, errors])
  t.strictSame(await sent('PATCH', '/bookings/1', { booking: { from: 5 } }, patch), [422, errors])
  t.strictSame(await sent('PATCH', '/bookings/1', { booking: { from: null } }, patch),
    [422, { from: [needs] }])
  t.match(await sent('PUT', '/bookings', { bookings: [{ id: 1, from: 2 }, { id: 2, from: 5 }] }),
    [422, [{ index: 1, status: 422, errors }]])
  t.match(await sent('PUT', '/bookings', 'id,from,to\n1,2,3\n2,5,3\n', csv), [422, [{ index: 1, status: 422, errors }]])
  t.strictSame((await store.get(1, {}, { signal: new AbortController().signal }))?.attributes, { from: 1, to: 3 })
})

t.test('new rows in a batch obey the rules', async (t) => {
  const { app } = await openAfter(t, [], { ...ordered, formats: ['json', 'csv'] })
  const { statusCode, body } = await app.inject(
    send('POST', '/bookings', json, JSON.stringify({ bookings: [{ from: 1, to: 2 }, { from: 5, to: 1 }, { to: 1 }] })))
  t.equal(statusCode, 422)
  t.match(JSON.parse(body), {
    rows: [{ index: 1, errors: { to: ['must not be before "from"'] } }, { index: 2, errors: { from: [needs] } }]
  })
})

t.test('a form offers the values that may follow', async (t) => {
  const { app } = await openAfter(t, [{ status: 'draft' }, { status: 'published' }, { status: 'lost' }, {}], {
    attributes: status, transitions: machine, formPages: true
  })
  const valuesOf = (form: Form | undefined): string =>
    String(form?.controls.filter(({ name }) => name === 'booking[status]').map(({ value }) => value))
  const offered = async (url: string): Promise<string> =>
    valuesOf(parseForms(await get(app, url)).find(({ controls }) => controls.some(({ name }) => /status/.test(name))))
  t.equal(await offered('/bookings/new'), 'draft')
  t.equal(await offered('/bookings/1/edit'), 'draft,published,archived')
  t.equal(await offered('/bookings/2/edit'), 'published,archived')
  t.equal(await offered('/bookings/3/edit'), ',draft,published,archived,lost')
  t.equal(await offered('/bookings/4/edit'), ',draft,published,archived,lost')
  const change = async (...ids: readonly number[]): Promise<string> => {
    const chosen = parseForms(await get(app, '/bookings')).find(({ id }) => id === 'chosen') as Form
    fill(chosen, { 'id[]': ids.map(String) })
    const page = await app.inject(submit(chosen, findButton(chosen, '_step', 'change'), { accept: 'text/html' }))
    return valuesOf(parseForms(page).find(({ controls }) => controls.some(({ name }) => name === 'booking[status]')))
  }
  t.equal(await change(1, 2), 'published,archived')
  t.equal(await change(1, 3), 'draft,published,archived')
})

t.test('OpenAPI has the keywords in the schema of a create, or in its description', async (t) => {
  const row = { not: { required: ['note'], properties: { note: { $ref: '#/definitions/a' } } }, definitions: { a: {} } }
  const keywords = {
    ...row,
    dependentRequired: { note: ['from'] },
    dependentSchemas: { tags: { required: ['from'] } },
    dependencies: { from: ['note'] }
  }
  const newBooking = async (more: object, openapi: string): Promise<Part> => {
    const register: Register = (app) => app.register(resources, {
      name: 'bookings', attributes: schemaWith({ ...row, ...more }), formats: ['json']
    })
    const document = await describe(t, register, { openapi } as object)
    return document.components.schemas.NewBooking as Part
  }
  const given = await newBooking(keywords, '3.1.0')
  t.match(given, { not: { required: ['note'] }, dependentSchemas: { tags: { required: ['from'] } } })
  t.equal(given.description, undefined)
  for (const [name, more, openapi] of [
    ['an attribute that can be null', { dependentRequired: { to: ['from'] } }, '3.1.0'],
    ['an attribute that clients do not send', { allOf: [{ required: ['owner'] }] }, '3.1.0'],
    ['a count of all attributes', { minProperties: 2 }, '3.1.0'],
    ['OpenAPI 3.0', { description: 'A booking.' }, '3.0.3']
  ] as const) {
    const described = await newBooking(more, openapi)
    t.match(described.description, /A row without its nulls must fit \{.*"not":\{"required":\["note"\]/, name)
    t.equal(described.not, undefined, name)
  }
  t.match((await newBooking({ description: 'A booking.' }, '3.0.3')).description, /^A booking\. A row/)
})

t.test('attributes can be called as the members that all objects inherit', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      constructor: { enum: ['a', 'b', 'c'], default: 'a' },
      toString: { type: 'string' },
      'a.b': { type: 'string' }
    },
    dependentRequired: { toString: ['a'] },
    if: { properties: { a: { const: 'x' } }, required: ['a'] },
    then: { required: ['toString'] }
  } as unknown as ResourceOptions['attributes']
  const { app } = await openAfter(t, [{ a: 'y' }], {
    attributes,
    transitions: { constructor: { a: ['b'] } },
    check: ({ valueOf: _, toString, ...row }, { issues }) => {
      if (typeof toString === 'function') issues.add('toString', 'is inherited')
      if (row['a.b'] === 'z') issues.add('a.b', 'is wrong')
      if (row['a.b'] === 'y') issues.add('a.b.0' as 'a.b', 'is wrong')
    }
  })
  const cases: ReadonlyArray<readonly [method: 'POST' | 'PUT', row: Values, status: number, errors?: Values]> = [
    ['POST', {}, 201],
    ['POST', { toString: 'x' }, 422, { a: [needs] }],
    ['POST', { a: 'x' }, 422, { toString: [needs] }],
    ['POST', { constructor: 'b' }, 422, { constructor: ["must be one of 'a'"] }],
    ['POST', { 'a.b': 'z' }, 422, { 'a.b': ['is wrong'] }],
    ['POST', { 'a.b': 'y' }, 422, { 'a.b.0': ['is wrong'] }],
    ['PUT', { constructor: 'c' }, 200],
    ['PUT', { a: 'x' }, 422, { toString: [needs] }]
  ]
  for (const [method, row, status, errors] of cases) {
    const answer = await write(app, method, row, method === 'PUT' ? 1 : undefined)
    const name = `${method} ${JSON.stringify(row)}`
    t.equal(JSON.stringify([answer.status, answer.errors]), JSON.stringify([status, errors]), name)
  }
})

t.test('a store that creates several rows at once obeys the rules', async (t) => {
  const memory = memoryStore() as Store
  const sizes: number[] = []
  const store: Store = {
    ...memory,
    createMany: async (rows, scope, context) => {
      sizes.push(rows.length)
      const created = []
      for (const row of rows) created.push(await memory.create(row, scope, context))
      return created
    }
  }
  const app = await openBookings(t, { store, ...ordered })
  const create = async (...bookings: readonly Values[]): Promise<number> =>
    (await app.inject(send('POST', '/bookings', json, JSON.stringify({ bookings })))).statusCode
  t.equal(await create({ from: 1 }, { from: 2 }), 201)
  t.equal(await create({ from: 1 }, { from: 2, to: 1 }), 422)
  t.strictSame(sizes, [2])
})

t.test('a stamp is set at each write, and clients only read it', async (t) => {
  const by = { type: 'string', readOnly: true } as const
  const attributes = { type: 'object', properties: { title: { type: 'string' }, by } } as const
  const app = await build(t, {
    name: 'posts', attributes, formats: ['json'], stamp: { by: ({ headers }) => String(headers.user) }
  })
  const write = async (method: 'POST' | 'PUT', user: string, payload: object): Promise<unknown> =>
    (await app.inject({ method, url: '/posts', headers: { user }, payload })).json()
  t.strictSame(await write('POST', 'ann', { post: { title: 'A', by: 'eve' } }),
    { post: { id: 1, title: 'A', by: 'ann' } })
  t.strictSame(await write('PUT', 'bob', { id: 1, post: { title: 'B' } }), { post: { id: 1, title: 'B', by: 'bob' } })
  const cases = [
    [{ stamp: 'by' }, /"stamp" .*must be functions by attribute/],
    [{ stamp: { by: 'ann' } }, /"stamp.by" .*must be a function that returns a text/],
    [{ stamp: { title: () => 'x' } }, /"stamp" .*names "title", which clients can write; make it readOnly/]
  ] as const
  for (const [options, message] of cases) {
    await t.rejects(build(t, { name: 'posts', attributes, ...options } as unknown as ResourceOptions), { message })
  }
})
