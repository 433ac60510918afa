import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Authorize, draw, memoryStore, memoryStores, type ResourceOptions, type Store, type Stores
} from '../../lib/index.js'
import { DATABASES, openDeletedWorld, readDeleted, requests } from '../support/deleted-worlds.js'
import { build, send } from '../support/helper.js'
import { fill, findButton, type Form, parseForms, submit } from '../support/html/forms.js'
import { get } from '../support/html/page-tests.js'
import { describe, type Part, type Register } from '../support/openapi.js'
import { ask as askWorld, compareWorlds, MOST } from '../support/role-worlds.js'

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
  [{ dependentSchemas: { to: { properties: { from: { minimum: 5 } } } } }, { to: 1, from: 4 },
    { from: ['must be at least 5'] }],
  [{ dependentSchemas: { from: false } }, { from: 1 }, { booking: [unfit] }],
  [ofRange, { kind: 'range' }, { to: [needs] }],
  [ofRange, { kind: 'day' }],
  [{ if: { required: ['from'] }, else: { required: ['note'] } }, { to: 1 }, { note: [needs] }],
  [{ allOf: [{ required: ['from'] }, { required: ['to'], type: 'object' }] }, {}, { from: [needs], to: [needs] }],
  [{ anyOf: oneOrOther.anyOf }, { note: 'x' }, { booking: [unfit] }],
  [{ allOf: [oneOrOther] }, { note: 'x' }, { booking: ['needs a "from" or a "to"'] }],
  [{ allOf: [{ ...oneOrOther, description: '' }] }, { note: 'x' }, { booking: [unfit] }],
  [{ description: 'A booking.', anyOf: oneOrOther.anyOf }, { note: 'x' }, { booking: [unfit] }],
  [{ oneOf: oneOrOther.anyOf }, { from: 1, to: 2 }, { booking: [unfit] }],
  [{ not: { required: ['from', 'to'] } }, { from: 1, to: 2 }, { booking: [unfit] }],
  [{ not: { description: 'has both', required: ['from', 'to'] } }, { from: 1, to: 2 }, { booking: ['has both'] }],
  [{ not: { required: ['note'] } }, { note: 'x' }, { note: [unfit] }],
  [{ not: true }, {}, { booking: [unfit] }],
  [{ minProperties: 2 }, { from: 1, to: null }, { booking: ['must have at least 2 attributes'] }],
  [{ minProperties: 1 }, { to: null }, { booking: ['must have at least 1 attribute'] }],
  [{ allOf: [{ properties: { note: false, from: true } }] }, { note: 'x', from: 1 }, { note: [unfit] }],
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
  ['another type', { attributes: schemaWith({ allOf: [{ type: 'array' }] }) }, /"allOf" has the type 'array', but a row/],
  ['else without if', { attributes: schemaWith({ else: { required: ['to'] } }) }, /no effect without "if"/],
  ['no schema', { attributes: schemaWith({ dependentSchemas: { to: 5 } }) },
    /"dependentSchemas.to" must be a schema, not 5/],
  ['a wrong value', { attributes: schemaWith({ minProperties: -1 }) }, /minProperties must be >= 0/],
  ...['default', 'readOnly', 'writeOnly', 'additionalProperties'].map((keyword) =>
    [`"${keyword}" in a branch`, { attributes: schemaWith({ allOf: [{ properties: { to: { [keyword]: true } } }] }) },
      new RegExp(`"allOf" has "${keyword}" for "to"; declare it in "properties"`)] as const),
  ['a keyword that is none', { attributes: schemaWith({ not: { properties: { to: { minimun: 1 } } } }) },
    /"not" has a schema for "to" that cannot be compiled: .*unknown keyword: "minimun"/],
  ['keywords without a store',
    { attributes: schemaWith({ minProperties: 1 }), only: 'create', actions: { create: () => undefined } },
    /attributes.*has rules about whole rows, which need a "store"/],
  ['transitions without a store',
    { transitions: { kind: {} }, attributes: schemaWith({}), only: 'create', actions: { create: () => undefined } },
    /transitions.*need a "store"/],
  ['a check without a store', { check: () => {}, only: 'create', actions: { create: () => undefined } }, /check.*need a "store"/],
  ['a check that is no function', { check: 'x' as unknown as () => void }, /check.*must be a function/],
  ['a transition to a value of another type', { attributes: schemaWith({}), transitions: { from: { 1: ['2'] } } },
    /has "from", which cannot be '2', a value of another type/],
  ['transitions that are no map', { transitions: [] as unknown as {} }, /transitions.*must be values that may follow/],
  ['transitions of an unknown attribute', { attributes: schemaWith({}), transitions: { knid: {} } },
    /names "knid", which is not among the attributes; did you mean "kind"\?/],
  ['transitions without lists', { attributes: schemaWith({}), transitions: { kind: 5 as never } }, /lists by value/],
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
  const open = await build(t, { name: 'posts', stamp: { by: () => 'ann' } })
  t.match((await open.inject({ method: 'POST', url: '/posts', payload: { post: {} } })).body, '"by":"ann"')
})

t.test('OpenAPI has the keywords in the schema of a create, or in its description', async (t) => {
  const newBooking = async (more: object): Promise<Part> => {
    const register: Register = (app) => app.register(resources, {
      name: 'bookings', attributes: schemaWith({ not: { required: ['note'] }, ...more }), formats: ['json']
    })
    return (await describe(t, register)).components.schemas.NewBooking as Part
  }
  t.match(await newBooking({ dependentRequired: { note: ['from'] } }), { not: {}, description: undefined })
  for (const more of [{ dependentRequired: { to: ['from'] } }, { minProperties: 1 }]) {
    const described = await newBooking(more)
    t.match(described.description, /A row without its nulls must fit \{.*"not":\{"required":\["note"\]/)
    t.equal(described.not, undefined, 'an attribute of the rule can be null')
  }
})

const post = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, authorId: { type: ['integer', 'null'] } }
} as const
const author = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const

/** Sends a request in JSON. Returns the status and the document. */
async function ask (
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: Values,
  user = 'admin'
): Promise<readonly [status: number, body: Values]> {
  const { statusCode, body } = await app.inject({
    method, url, headers: { accept: json, user }, ...(payload !== undefined && { payload })
  })
  return [statusCode, body === '' ? {} : JSON.parse(body) as Values]
}

const authorize: Authorize = ({ headers: { user } }, { action }) =>
  user === 'admin' || !['deleted', 'restore', 'purge'].includes(action)

/** Authors and their posts in one database; both keep what is deleted. */
async function openBlog (t: Test, stores: Stores, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  const shared = { softDelete: 'deletedAt', authorize }
  app.register(draw((map) => map
    .resources('authors', { attributes: author, ...shared }, (authors) => authors
      .resources('notes', { attributes: { type: 'object', properties: { text: { type: 'string' } } } }))
    .resources('posts', { attributes: post, references: { authorId: 'authors' }, ...shared, ...options }),
  { stores, formats: ['json', 'html'] }))
  await app.ready()
  return app
}

t.test('a deleted row is gone, and can be found, restored and purged by those who may', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'POST', '/posts', { post: { title: 'B' } })
  t.strictSame((await ask(app, 'DELETE', '/posts', { id: 1 }))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts'), [200, { posts: [{ id: 2, title: 'B' }] }])
  for (const [method, url, payload] of [
    ['GET', '/posts/1'], ['DELETE', '/posts', { id: 1 }], ['PUT', '/posts', { id: 1, post: { title: 'C' } }]
  ] as const) t.equal((await ask(app, method, url, payload))[0], 404, `${method} ${url}`)

  const [status, { deleted_posts: deleted }] = await ask(app, 'GET', '/posts/deleted')
  const time = (deleted as readonly Values[])[0]?.deletedAt
  t.strictSame([status, deleted], [200, [{ id: 1, title: 'A', deletedAt: time }]])
  t.ok(Math.abs(Date.now() - Date.parse(String(time))) < 3_600_000, 'the time of the deletion')
  t.equal((await ask(app, 'POST', '/posts/deleted/2/restore'))[0], 404)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 2 }))[0], 404)

  for (const [method, url, payload] of [
    ['GET', '/posts/deleted'], ['POST', '/posts/deleted/1/restore'],
    ['DELETE', '/posts/deleted', { id: 1 }]
  ] as const) t.equal((await ask(app, method, url, payload, 'guest'))[0], 403, `${method} ${url} by a guest`)

  t.equal((await ask(app, 'POST', '/posts/deleted/1/restore'))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts/1'), [200, { post: { id: 1, title: 'A' } }])
  t.strictSame(await ask(app, 'GET', '/posts/deleted'), [200, { deleted_posts: [] }])

  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  t.equal((await ask(app, 'POST', '/posts/deleted/restore', { id: [1, 2] }))[0], 204)
  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: [1, 2] }))[0], 204)
  t.strictSame(await ask(app, 'GET', '/posts/deleted'), [200, { deleted_posts: [] }])
})

t.test('a deleted row can no more be referred to, and hides what is nested in it', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/authors', { author: { name: 'Ada' } })
  await ask(app, 'POST', '/authors/1/notes', { note: { text: 'x' } })
  await ask(app, 'POST', '/posts', { post: { title: 'A', authorId: 1 } })
  t.equal((await ask(app, 'DELETE', '/authors', { id: 1 }))[0], 204, 'what refers to it does not restrict the deletion')
  t.strictSame(await ask(app, 'GET', '/posts/1?include=author'),
    [200, { post: { id: 1, title: 'A', authorId: 1, author: null } }])
  t.match(await ask(app, 'POST', '/posts', { post: { title: 'B', authorId: 1 } }),
    [422, { errors: { authorId: ['refers to something that does not exist'] } }])
  t.equal((await ask(app, 'GET', '/authors/1/notes'))[0], 404)
  t.equal((await ask(app, 'GET', '/authors/1/notes/1'))[0], 404)
  t.equal((await ask(app, 'DELETE', '/authors/deleted', { id: 1 }))[0], 409, 'a purge is a real deletion')
  t.equal((await ask(app, 'POST', '/authors/deleted/1/restore'))[0], 204)
  t.equal((await ask(app, 'GET', '/authors/1/notes/1'))[0], 200)
})

t.test('a purge needs no version, because no answer has that of a deleted row', async (t) => {
  const app = await build(t, {
    name: 'posts', attributes: post, softDelete: 'deletedAt', authorize: () => true, requireMatch: true
  } as ResourceOptions)
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  t.equal((await ask(app, 'DELETE', '/posts', { id: 1 }))[0], 428)
  const etag = String((await get(app, '/posts/1')).headers.etag)
  const headers = { 'if-match': etag, accept: 'application/json' }
  t.equal((await app.inject({ method: 'DELETE', url: '/posts?id=1', headers })).statusCode, 204)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 1 }))[0], 204)
})

t.test('pages list the deleted rows, with buttons that restore and purge them', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'DELETE', '/posts', { id: 1 })
  const admin = { headers: { accept: 'text/html', user: 'admin' } }
  const list = await app.inject({ url: '/posts/deleted', ...admin })
  t.match(list.body, /<h1>Deleted posts<\/h1>/)
  t.match(list.body, 'formaction="/posts/deleted/restore">Restore</button>')
  t.match(list.body, 'name="_step" value="delete"')
  const restored = await app.inject({
    method: 'POST', url: '/posts/deleted/1/restore', headers: { ...admin.headers, 'sec-fetch-site': 'same-origin' }
  })
  t.equal(restored.statusCode, 303)
  t.equal((await app.inject({ url: String(restored.headers.location), ...admin })).statusCode, 200)
  t.equal((await get(app, '/posts/deleted')).statusCode, 403)
})

t.test('a page says how many rows refer to the row, before it is deleted', async (t) => {
  const app = await openBlog(t, memoryStores())
  for (const name of ['Ada', 'Bob', 'Cy']) await ask(app, 'POST', '/authors', { author: { name } })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title, authorId: 1 } })
  await ask(app, 'POST', '/authors/1/notes', { note: { text: 'x' } })
  await ask(app, 'POST', '/posts', { post: { title: 'C', authorId: 2 } })
  const cases: ReadonlyArray<readonly [path: string, text: string | undefined]> = [
    ['/authors/1', '1 note, 2 posts refer to this record. They are kept, and refer to nothing until it is restored.'],
    ['/authors/2', '1 post refers to this record. It is kept, and refers to nothing until the record is restored.'],
    ['/authors/3', undefined]
  ]
  for (const [path, text] of cases) {
    const { body } = await get(app, path)
    const [, found] = /<div class="card">(?:<p>(.*)<\/p>\n)?<form/.exec(body) ?? [path]
    t.equal(found, text, path)
    t.notMatch(body, 'permanently')
  }
})

t.test('lists lead to the deleted rows and back, for those who may see them', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/authors', { author: { name: 'Ada' } })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title, authorId: 1 } })
  const bodyOf = async (url: string, user: string): Promise<string> =>
    (await app.inject({ url, headers: { accept: 'text/html', user } })).body
  t.notMatch(await bodyOf('/authors/1', 'admin'), 'Deleted posts', 'a page has no list of deleted rows without any')
  await ask(app, 'DELETE', '/posts', { id: 2 })
  t.match(await bodyOf('/posts', 'admin'), '<a class="button plain" href="/posts/deleted">Show deleted</a>')
  t.notMatch(await bodyOf('/posts', 'guest'), 'deleted')
  t.match(await bodyOf('/posts/deleted', 'admin'), '<a href="/posts">Posts</a>')
  t.match(await bodyOf('/authors/1', 'admin'), 'Deleted posts')
  t.notMatch(await bodyOf('/authors/1', 'guest'), 'Deleted posts')
})

t.test('a handler may copy the store to replace a method of it', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const kept: string[] = []
  app.register(resources, {
    name: 'posts',
    attributes: post,
    softDelete: 'deletedAt',
    authorize: () => true,
    actions: {
      create: async (context) => {
        const { store } = context
        const isKept = (name: string): boolean => Object.hasOwn(store, name) || name in store
        kept.push(...['list', 'get', 'create', 'update', 'delete', 'nothing'].filter(isKept))
        t.equal(await ({ ...store, get: async () => undefined } as Store).get(1, {}, context), undefined)
        return context.proceed()
      },
      show: async ({ store, id, guard, ...context }) => ({ ...store }).get(id, guard.scope, context as never)
    }
  } as ResourceOptions)
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  t.strictSame(kept, ['list', 'get', 'create', 'update', 'delete'])
  t.equal((await ask(app, 'GET', '/posts/1'))[0], 200)
  await ask(app, 'DELETE', '/posts', { id: 1 })
  t.equal((await ask(app, 'GET', '/posts/1'))[0], 404, 'the copy has no deleted rows')
})

t.test('without authorize, nobody sees deleted rows', async (t) => {
  const store = memoryStore() as Store
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'posts', attributes: post, store, softDelete: 'deletedAt' } as ResourceOptions)
  await app.ready()
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  await ask(app, 'DELETE', '/posts', { id: 1 })
  t.equal((await ask(app, 'GET', '/posts/deleted'))[0], 404)
  t.notMatch((await get(app, '/posts')).body, 'deleted')
  const kept = await store.get(1, {}, { signal: new AbortController().signal })
  t.match(kept, { attributes: { title: 'A', deletedAt: String } })
})

t.test('a deletion obeys its version', async (t) => {
  const app = await openBlog(t, memoryStores())
  await ask(app, 'POST', '/posts', { post: { title: 'A' } })
  const old = (await app.inject({ url: '/posts/1', headers: { accept: json } })).headers.etag as string
  await ask(app, 'PUT', '/posts', { id: 1, post: { title: 'B' } })
  const remove = async (etag: string): Promise<number> =>
    (await app.inject({ method: 'DELETE', url: '/posts?id=1', headers: { accept: json, 'if-match': etag } })).statusCode
  t.equal(await remove(old), 412)
  t.equal(await remove((await app.inject({ url: '/posts/1', headers: { accept: json } })).headers.etag as string), 204)
})

t.test('what cannot work is refused at the start', async (t) => {
  const { capabilities: _, ...unfiltered } = memoryStore()
  const cases: ReadonlyArray<readonly [options: Values, message: RegExp]> = [
    [{ softDelete: 5 }, /must be the name of an attribute such as 'deletedAt', not 5/],
    [{ softDelete: 'title' }, /names "title", which clients can write/],
    [{ softDelete: 'gone', attributes: { type: 'object', properties: { gone: { type: 'integer', readOnly: true } } } },
      /names "gone", which has another type; declare it as \{"type":\["string","null"\],"format":"date-time"/],
    [{ softDelete: 'x', only: 'create', actions: { create: () => undefined } }, /needs a "store", whose rows it keeps/],
    [{ softDelete: 'x', store: { ...memoryStore(), attributes: post } },
      /names "x", which is not an attribute of the store/],
    [{ softDelete: 'x', store: unfiltered, authorize }, /a store that can filter rows by "null"/],
    [{ softDelete: 'x', store: { ...unfiltered, capabilities: { filter: ['in'] } }, authorize }, /filter rows by "null"/]
  ]
  for (const [options, message] of cases) {
    const app = fastify()
    app.register(resources, { name: 'posts', attributes: post, ...options } as ResourceOptions)
    await t.rejects(async () => { await app.ready() }, { message }, JSON.stringify(options))
  }
  const app = fastify()
  app.register(draw((map) => map.resource('profile', { softDelete: 'deletedAt' })))
  await t.rejects(async () => { await app.ready() }, { message: /cannot be given to a single record/ })
})

t.test('writes wait for the transactions of requests with many rows', async (t) => {
  const app = await openBlog(t, memoryStores(), { check: () => {} })
  const posts = Array.from({ length: 40 }, (_, index) => ({ title: `T${index}` }))
  await ask(app, 'POST', '/posts', { posts })
  const asked = Array.from({ length: 20 }, (_, index) => [
    ask(app, 'PUT', '/posts', { posts: [{ id: 1, title: `A${index}` }, { id: 2, title: `B${index}` }] }),
    ask(app, 'PUT', '/posts', { id: 1, post: { title: `C${index}` } }),
    ask(app, 'POST', '/posts', { post: { title: `D${index}` } }),
    ask(app, 'DELETE', '/posts', { id: 10 + index }),
    ask(app, 'DELETE', '/posts', { id: 10 + index })
  ])
  const statuses = (await Promise.all(asked.flat())).map(([status]) => status)
  t.strictSame([...new Set(statuses)].sort(), [200, 201, 204, 404])
})

t.test('authorize sees the deleted row, whose time can be declared', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      title: { type: 'string' },
      gone: { type: ['string', 'null'], format: 'date-time', readOnly: true, title: 'Thrown away' }
    }
  } as const
  const app = await openBlog(t, memoryStores(), {
    attributes: attributes as unknown as ResourceOptions['attributes'],
    references: {},
    softDelete: 'gone',
    sort: ['gone'],
    cacheControl: 'private, max-age=1',
    as: 'articles',
    authorize: async (_request, { action, row }) => action !== 'purge' || (await row?.())?.attributes.title === 'A'
  })
  for (const title of ['A', 'B']) await ask(app, 'POST', '/posts', { post: { title } })
  await ask(app, 'DELETE', '/posts', { id: [1, 2] })
  const [status, { deleted_posts: deleted }] = await ask(app, 'GET', '/posts/deleted?sort=-gone')
  t.match([status, deleted], [200, [{ title: 'B', gone: String }, { title: 'A', gone: String }]])
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 2 }))[0], 403)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 1 }))[0], 204)
  t.equal((await ask(app, 'DELETE', '/posts/deleted', { id: 9 }))[0], 403)
  t.match(app.printResources(), 'deletedArticles')
  const open = await build(t, { name: 'posts', id: 'uuid', softDelete: 'deletedAt', authorize: () => true })
  const [, { post }] = await ask(open, 'POST', '/posts', { post: { title: 'A' } })
  await ask(open, 'DELETE', '/posts', { id: (post as Values).id })
  t.match((await ask(open, 'GET', '/posts/deleted'))[1], { deleted_posts: [{ id: /^[-\da-f]{36}$/, title: 'A' }] })
})

// FC_SEED=… makes other runs, FC_RUNS=… more requests.
const seed = Number(process.env.FC_SEED ?? 20_261_129)
const numRuns = Number(process.env.FC_RUNS ?? 400)
/** The folder of the databases. */
const folder = mkdtempSync(join(tmpdir(), 'resources-deleted-'))
t.teardown(() => { rmSync(folder, { recursive: true }) })

const seen = new Map<string, number>()

const databases = Object.entries(DATABASES)

for (const [index, [where, make]] of databases.entries()) {
  t.test(`worlds in ${where} that differ only in deleted rows answer alike`, async (t) => {
    const fault = await compareWorlds({
      role: 'guest',
      open: async (isOther) => openDeletedWorld(make(folder), isOther),
      requests,
      readKept: readDeleted,
      mayVanish: false,
      note: (key) => { seen.set(key, (seen.get(key) ?? 0) + 1) }
    }, { seed: seed + index, numRuns: Math.ceil(numRuns / MOST / databases.length) })
    t.equal(String(fault), 'undefined')
  })
}

t.test('the requests reach all methods and statuses', async (t) => {
  for (const key of ['200', '201', '204', '400', '403', '404', '412', '422', 'replayed', 'GET', 'HEAD', 'POST', 'PUT',
    'PATCH', 'DELETE', 'QUERY']) t.ok((seen.get(key) ?? 0) > 0, `${key}: ${seen.get(key)} times`)
  t.ok((seen.get('200') ?? 0) > numRuns / 10)
})

t.test('the comparison finds what an admin sees', async (t) => {
  for (const [where, make] of databases) {
    const worlds = [await openDeletedWorld(make(folder), false), await openDeletedWorld(make(folder), true)] as const
    for (const url of ['/people/deleted.json', '/teams/deleted.json', '/people/1/notes/deleted.json']) {
      const asked = { options: { url }, condition: undefined }
      const one = await askWorld(worlds[0], 'admin', asked, '')
      const other = await askWorld(worlds[1], 'admin', asked, '')
      t.not(one.answer, other.answer, `${url} in ${where}`)
    }
    for (const { app } of worlds) await app.close()
  }
})
