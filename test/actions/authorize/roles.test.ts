import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import Database from 'libsql'
import t, { type Test } from 'tap'
import {
  DuplicateError, InvalidError, type Mapper, memoryStore, type ResourceOptions, resources, type Store
} from '../../../lib/index.js'
import { sqliteStore } from '../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../support/helper.js'
import { type AnyContext, mapAction } from '../../support/map-action.js'
import { describe, one } from '../../support/openapi.js'
import {
  ask, compareWorlds, makeRequests, type MakeStore, MOST, openWorld, readHidden, type Role, ROLES, type World
} from '../../support/role-worlds.js'

/** The value that a clerk must not learn. */
const SECRET = 7654321
const MEMO = 'fired in May'

const person = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1 },
    city: { type: ['string', 'null'] },
    owner: { type: 'string', default: 'nobody' },
    salary: { type: 'integer', default: 5 },
    memo: { type: ['string', 'null'] },
    bossId: { type: ['integer', 'null'] }
  }
} as const

const roles = {
  admin: {},
  clerk: { hidden: ['salary', 'memo', 'bossId'], readOnly: ['owner'] },
  guest: { visible: ['name', 'city'] }
} as const

const role = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string | readonly string[] => {
  const text = String(headers['x-role'] ?? 'guest')
  return text.includes(',') ? text.split(',') : text
}

const options: ResourceOptions = {
  name: 'people',
  attributes: person,
  roles,
  role,
  formats: ['json', 'xml', 'html', 'csv'],
  writes: 'both',
  formPages: true,
  xsd: true,
  html: { import: true }
}

type Ask = (role: string, options: InjectOptions | string) => Promise<LightMyRequestResponse>

const asking = (app: FastifyInstance): Ask => async (role, given) => {
  const { headers, ...options } = typeof given === 'string' ? { url: given, headers: {} } : given
  return app.inject({ ...options, headers: { accept: 'application/json', 'x-role': role, ...headers } })
}

async function serve (t: Test, more: Partial<ResourceOptions> = {}): Promise<Ask> {
  return asking(await build(t, { ...options, store: makeStore(), ...more }))
}

function makeStore (): ReturnType<typeof memoryStore> {
  const store = memoryStore({ unique: ['name'] })
  store.create({ name: 'Ann', city: 'Ulm', owner: 'ada', salary: SECRET, memo: MEMO, bossId: null }, {})
  store.create({ name: 'Bob', city: null, owner: 'ada', salary: 1, memo: null, bossId: 1 }, {})
  return store
}

const xml = { 'content-type': 'application/xml' }
const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
const csv = { 'content-type': 'text/csv' }
const merge = { 'content-type': 'application/merge-patch+json' }
const json = { 'content-type': 'application/json' }
const html = { accept: 'text/html' }

const multipart = (content: string, match: string): InjectOptions => ({
  method: 'POST',
  url: '/people/import',
  headers: { ...html, 'content-type': 'multipart/form-data; boundary=X' },
  payload: [['match', match], ['step', 'preview'], ['file"; filename="a.csv', content]].map(([name, value]) =>
    `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('') + '--X--\r\n'
})

const OUT: ReadonlyArray<readonly [what: string, status: number, options: InjectOptions]> = [
  ...['json', 'xml', 'html', 'csv'].map((format) => [`a list as ${format}`, 200,
    { url: `/people.${format}` }] as const),
  ...['json', 'xml', 'html'].map((format) => [`a row as ${format}`, 200, { url: `/people/1.${format}` }] as const),
  ['a row that is named by its attributes', 200, { url: '/people/1.json?only=name,city' }],
  ['the form of a row', 200, { url: '/people/1/edit.html' }],
  ['the record of a form', 200, { url: '/people/1/edit.json' }],
  ['a blank form', 200, { url: '/people/new.html' }],
  ['a blank record', 200, { url: '/people/new.json' }],
  ['a copy', 200, { url: '/people/new.html?_from=1' }],
  ['the XML Schema', 200, { url: '/people.xsd' }],
  ['the form of an import', 200, { url: '/people/import', headers: html }],
  ['a search', 200, { url: '/people?q=fired' }],
  ['a counted page', 200, { url: '/people?limit=1&count=true&sort=-name' }],
  ['an unknown operator', 400, { url: '/people?name[x]=1' }],
  ['the nearest known parameter', 400, { url: '/people?salry=1' }],
  ['the nearest known name of only', 400, { url: '/people?only=salry' }],
  ['the nearest known name of sort', 400, { url: '/people?sort=salry' }],
  ['the groups of match', 400, { method: 'PUT', url: '/people?match=nme', payload: { people: [{}] } }],
  ['the nearest known attribute', 422, { method: 'POST', url: '/people', payload: { person: { salry: 1 } } }],
  ['an answer to an update', 200, { method: 'PUT', url: '/people', payload: { id: 1, person: { city: 'Jena' } } }],
  ['an answer to an update in XML', 200,
    { method: 'PUT', url: '/people.xml', headers: xml, payload: '<person><id>1</id><city>Jena</city></person>' }],
  ['an answer to a merge patch', 200,
    { method: 'PATCH', url: '/people/1', headers: merge, payload: '{"person":{"city":null}}' }],
  ['an answer to a create', 201, { method: 'POST', url: '/people', payload: { person: { name: 'Eve' } } }],
  ['an answer to a dry run', 200, {
    method: 'POST',
    url: '/people?dry_run=true',
    payload: { person: { name: 'Eve' } }
  }],
  ['an answer to many rows', 200,
    { method: 'PUT', url: '/people', payload: { people: [{ id: 1, city: 'a' }, { id: 2 }] } }],
  ['an answer to many rows in CSV', 200,
    { method: 'PUT', url: '/people', headers: csv, payload: 'id,city\r\n1,Jena\r\n2,Ulm' }],
  ['an answer to rows that match', 200,
    { method: 'PUT', url: '/people?match=name', payload: { people: [{ name: 'Ann', city: 'a' }] } }],
  ['an old version', 412, {
    method: 'PUT',
    url: '/people',
    headers: { 'if-match': '"9"' },
    payload: {
      id: 1,
      person: {}
    }
  }],
  ['an old form', 412, {
    method: 'POST',
    url: '/people',
    headers: form,
    payload: '_method=PUT&id=1&_version=9&person[city]=a'
  }],
  ['a form with a fault', 422, {
    method: 'POST',
    url: '/people',
    headers: form,
    payload: '_method=PUT&id=1&person[name]='
  }],
  ['a taken name', 409, { method: 'POST', url: '/people', payload: { person: { name: 'Ann' } } }],
  ['a preview of an import', 422, multipart('name,city\r\nAnn,Jena', 'name')],
  ['an import of unknown columns', 422, multipart('name,slary\r\nAnn,1', 'name')]
]

/** The attributes as a clerk sees them. */
const seen = {
  ...person,
  properties: {
    name: person.properties.name,
    city: person.properties.city,
    owner: { ...person.properties.owner, readOnly: true }
  }
} as const

/** Serves the same rows by a resource without roles that has only what a clerk sees. */
async function serveSeen (t: Test): Promise<Ask> {
  return asking(await build(t, {
    ...options,
    attributes: seen,
    roles: undefined,
    role: undefined,
    store: makeStore()
  } as never))
}

for (const [what, status, asked] of OUT) {
  t.test(`a clerk sees nothing of hidden attributes in ${what}`, async (t) => {
    const answer = await (await serve(t))('clerk', asked)
    t.equal(answer.statusCode, status, answer.body)
    t.notMatch(JSON.stringify([answer.headers, answer.body]), /salary|memo|boss|7654321|fired in May/i)
    t.equal(answer.body, (await (await serveSeen(t))('clerk', asked)).body, 'as if there were no others')
  })
}

const IN: ReadonlyArray<readonly [what: string, status: number, text: RegExp, options: InjectOptions]> = [
  ...['?salary=7654321', '?salary[gte]=1', '?salary[null]=true', '?memo[contains]=f', '?bossId=1'].map((query) =>
    [`the filter ${query}`, 400, /the parameter .* is unknown/, { url: `/people${query}` }] as const),
  ['sort', 400, /by which this list cannot be sorted"/, { url: '/people?sort=-salary' }],
  ['only', 400, /which is not an attribute of people"/, { url: '/people?only=memo' }],
  ['include', 400, /the parameter \\"include\\" is unknown/, { url: '/people?include=boss' }],
  ['the filter bar', 400, /must be a parameter that filters the list/,
    { url: '/people?filter%5Bby%5D=salary&filter%5Bvalue%5D=1' }],
  ['a QUERY', 400, /is unknown/, { method: 'QUERY' as 'GET', url: '/people', headers: json, payload: '{"salary":1}' }],
  ['prefill', 400, /is unknown/, { url: '/people/new?salary=1' }],
  ['match', 400, /must be name/, { method: 'PUT', url: '/people?match=salary', payload: { people: [{ salary: 1 }] } }],
  ['a create', 422, /"salary":\["is unknown"\]/, {
    method: 'POST',
    url: '/people',
    payload: {
      person: {
        name: 'E',
        salary: 1
      }
    }
  }],
  ['an update', 422, /"salary":\["is unknown"\]/, {
    method: 'PUT',
    url: '/people',
    payload: {
      id: 1,
      person: { salary: 1 }
    }
  }],
  ['a number with too many digits', 422, /"salary":/,
    { method: 'PUT', url: '/people', headers: json, payload: '{"id":1,"person":{"salary":12345678901234567890}}' }],
  ['a value beside the group', 422, /"salary":\["is unknown beside/, {
    method: 'PUT',
    url: '/people',
    payload: { id: 1, salary: 1 }
  }],
  ['XML', 422, /"salary":\["is unknown"\]/,
    { method: 'POST', url: '/people', headers: xml, payload: '<person><name>E</name><salary>1</salary></person>' }],
  ['a form', 422, /salary is unknown/i,
    { method: 'POST', url: '/people', headers: form, payload: 'person[name]=E&person[salary]=1' }],
  ['a merge patch', 422, /"salary":\["is unknown"\]/,
    { method: 'PATCH', url: '/people/1', headers: merge, payload: '{"person":{"salary":null}}' }],
  ['many rows', 422, /"errors":\{"salary":\["is unknown"\]\}/,
    { method: 'POST', url: '/people', payload: { people: [{ name: 'E', salary: 1 }] } }],
  ['CSV', 422, /"salary":\["is unknown"\]/, {
    method: 'POST',
    url: '/people',
    headers: csv,
    payload: 'name,salary\r\nE,1'
  }],
  ['an import', 422, /salary.*is unknown/is, multipart('name,salary\r\nE,1', '')]
]

for (const [what, status, text, asked] of IN) {
  t.test(`a hidden attribute does not exist for a clerk in ${what}`, async (t) => {
    const store = makeStore()
    const ask = await serve(t, { store })
    const { statusCode, body } = await ask('clerk', asked)
    t.match([statusCode, body], [status, text])
    t.equal(body, (await (await serveSeen(t))('clerk', asked)).body, 'as an unknown name')
    t.match(await store.get(1, {}), { version: '1', attributes: { salary: SECRET, memo: MEMO } })
  })
}

t.test('writes neither lose nor change what their role does not see', async (t) => {
  const store = makeStore()
  const ask = await serve(t, { store })
  const readForm = async (): Promise<string> => {
    const { body } = await ask('clerk', { url: '/people/1/edit', headers: html })
    return new URLSearchParams([...body.matchAll(/name="(person\[[^"]*|_method|id|_version)" value="([^"]*)"/g)]
      .map(([, name = '', value = '']): [string, string] => [name, value])).toString()
  }
  const writes: ReadonlyArray<() => Promise<InjectOptions>> = [
    async () => ({ method: 'PUT', url: '/people', payload: (await ask('clerk', '/people/1')).json() }),
    async () => ({ method: 'PATCH', url: '/people/1', headers: merge, payload: '{"person":{"city":"B"}}' }),
    async () => ({ method: 'PUT', url: '/people', headers: xml, payload: (await ask('clerk', '/people/1.xml')).body }),
    async () => ({ method: 'PUT', url: '/people', headers: csv, payload: (await ask('clerk', '/people.csv')).body }),
    async () => ({ method: 'POST', url: '/people', headers: form, payload: await readForm() })
  ]
  for (const makeWrite of writes) {
    const write = await makeWrite()
    const { statusCode, body } = await ask('clerk', write)
    t.ok([200, 303].includes(statusCode), `${JSON.stringify(write)} ${statusCode} ${body}`)
    t.match(await store.get(1, {}), { attributes: { name: 'Ann', owner: 'ada', salary: SECRET, memo: MEMO } })
  }
  const { headers, body } = await ask('clerk', {
    method: 'PUT', url: '/people', payload: { id: 1, person: { owner: 'eve', city: 'C' } }
  })
  t.match([headers['ignored-attributes'], body], ['owner', /"owner":"ada"/])
  t.match(await store.get(1, {}), { attributes: { owner: 'ada', city: 'C', salary: SECRET } })
  await ask('clerk', { method: 'POST', url: '/people', payload: { person: { name: 'New', owner: 'eve' } } })
  t.strictSame((await store.get(3, {}))?.attributes, { name: 'New', owner: 'nobody', salary: 5 },
    'a create gets the defaults')
})

t.test('what one of several roles sees or writes, the request does', async (t) => {
  const ask = await serve(t)
  const seenBy = async (role: string): Promise<string> => Object.keys((await ask(role,
    '/people/1')).json().person).join()
  t.strictSame([await seenBy('admin'), await seenBy('clerk'), await seenBy('guest'), await seenBy('clerk,guest'),
    await seenBy('guest,admin')],
  ['id,name,city,owner,salary,memo,bossId', 'id,name,city,owner', 'id,name,city', 'id,name,city,owner',
    'id,name,city,owner,salary,memo,bossId'])
  const put = async (role: string): Promise<string> => (await ask(role, {
    method: 'PUT', url: '/people', payload: { id: 2, person: { owner: 'eve' } }
  })).body
  t.match([await put('clerk,guest'), await put('guest')], [/"owner":"ada"/, /is unknown/])
  t.match(await put('clerk,admin'), /"owner":"eve"/)
})

t.test('the role is asked once, after the onRequest hooks of the app', async (t) => {
  let asked = 0
  const app = fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['x-role'] === 'nobody') throw Object.assign(new Error('say who you are'), { statusCode: 401 })
  })
  app.register(resources, { ...options, store: makeStore(), role: (request) => { asked++; return role(request) } })
  const ask = asking(app)
  t.equal((await ask('clerk', { url: '/people', headers: html })).statusCode, 200)
  t.equal(asked, 1)
  const { statusCode, body } = await ask('nobody', { url: '/people/1', headers: html })
  t.match([statusCode, asked], [401, 1], 'a request without a role sees nothing')
  t.notMatch(body, /Ann|salary/i)
})

const ANSWERS: ReadonlyArray<readonly [what: string, answer: () => unknown]> = [
  ['an unknown role', () => 'boss'], ['a role beside an unknown one', () => ['clerk', 'boss']], ['no role', () => []],
  ['nothing', () => undefined], ['a name that all objects have', () => 'constructor'],
  ['a promise', async () => 'admin'], ['a promise that fails', async () => { throw new Error('late') }]
]

t.test('a role that is unknown is a 500 that shows nothing', async (t) => {
  for (const [what, answer] of ANSWERS) {
    const lines: string[] = []
    const app = await build(t, { ...options, store: makeStore(), role: answer as () => string },
      { server: { logger: { level: 'error', stream: { write: (line: string) => { lines.push(line) } } } } })
    for (const url of ['/people', '/people/1', '/people.html', '/people.xsd', '/people/new']) {
      const { statusCode, body } = await asking(app)('admin', url)
      t.equal(statusCode, 500, `${what} ${url}`)
      t.notMatch(body, /Ann|salary|clerk|boss/)
    }
    t.match(lines.join(), /the handler of \\"role\\" has returned .*; return one or several of 'admin', 'clerk'/)
  }
  const thrown = await serve(t, { role: () => { throw Object.assign(new Error('who?'), { statusCode: 401 }) } })
  t.equal((await thrown('admin', '/people')).statusCode, 401)
})

const MISTAKES: ReadonlyArray<readonly [options: Partial<ResourceOptions>, message: RegExp]> = [
  [{ roles }, /Option "roles" of resource "people" needs "role"/],
  [{ role }, /Option "role" of resource "people" needs "roles"/],
  [{ roles, role: 'clerk' as never }, /Option "role" .* must be a function/],
  [{ roles: [] as never, role }, /must be roles by name/],
  [{ roles: { clerk: 'salary' } as never, role }, /must be an object/],
  [{ roles: { clerk: { hide: [] } } as never, role }, /has "hide", which is unknown/],
  [{ roles: { clerk: { hidden: [1] } } as never, role }, /Option "roles.clerk.hidden" .* must be a list of attributes/],
  [{ roles: { clerk: { hidden: ['salry'] } }, role }, /has "clerk", which names "salry".*did you mean "salary"\?/],
  [{ roles: { clerk: { visible: ['nme'] } }, role }, /has "clerk", which names "nme".*did you mean "name"\?/],
  [{ roles: { clerk: { readOnly: ['ownr'] } }, role }, /has "clerk", which names "ownr"/],
  [{ roles: { clerk: { hidden: ['memo'], visible: ['name'] } }, role }, /has "hidden" and "visible"/],
  [{ roles: { clerk: { hidden: ['memo'], readOnly: ['memo'] } }, role }, /"readOnly", but does not see it/],
  [{ roles: { clerk: { hidden: ['name'] } }, role }, /has "clerk", which may create, but cannot give "name"/],
  [{ roles: { clerk: { readOnly: ['name'] } }, role }, /cannot give "name"/],
  [{ roles, role, attributes: undefined as never }, /needs "attributes"/],
  [{
    roles,
    role,
    idempotency: {},
    store: memoryStore()
  }, /needs "principal", because "authorize", "scope" or "roles" tell users apart/]
]

t.test('mistakes in the options of roles throw at registration', async (t) => {
  for (const [given, message] of MISTAKES) {
    const app = fastify()
    const { attributes = person, ...more } = given
    app.register(resources, { name: 'people', ...('attributes' in given ? {} : { attributes }), ...more } as never)
    await t.rejects(async () => { await app.ready() }, { message }, String(message))
    await app.close()
  }
  const keyed = sqliteStore({
    database: new Database(':memory:'),
    table: 'books',
    migrate: true,
    key: ['isbn'],
    id: 'string',
    attributes: {
      type: 'object',
      required: ['isbn'],
      properties: {
        isbn: { type: 'string' },
        title: { type: 'string' }
      }
    }
  } as never)
  await t.rejects(build(t, {
    name: 'books',
    store: keyed as Store,
    roles: { guest: { visible: ['title'] } },
    role,
    only: 'list'
  }),
  { message: /does not see "isbn", but the paths of rows tell its value/ })
  const shallow = (map: Mapper): unknown => map.resources('posts', {}, (posts) => posts.resources('notes', {
    attributes: { type: 'object', properties: { postId: { type: 'integer' }, text: { type: 'string' } } },
    roles: { guest: { visible: ['text'] } },
    role,
    shallow: true
  }))
  await t.rejects(draft(t, shallow), { message: /does not see "postId", but the paths of rows tell its value/ })
})

t.test('a role that cannot give a required attribute may have it from `scope`, or be refused', async (t) => {
  const attributes = { ...person, required: ['name', 'memo'] } as const
  const scoped = await serve(t, { attributes, scope: () => ({ memo: 'ours' }), authorize: () => true })
  const given = await scoped('clerk', { method: 'POST', url: '/people', payload: { person: { name: 'Eve' } } })
  t.match([given.statusCode, (await scoped('admin', '/people/3')).json().person], [201, { memo: 'ours', salary: 5 }])
  const whole = await serve(t, { scope: () => ({ city: 'Ulm' }) })
  const make = { method: 'POST', url: '/people', payload: { person: { name: 'Eve' } } } as const
  t.equal((await whole('clerk', make)).statusCode, 201)
  t.equal((await whole('clerk', { ...make, payload: { person: {} } })).statusCode, 422)
  const guarded = await serve(t, { attributes, authorize: () => true })
  for (const headers of [json, { ...form, 'accept-language': 'de' }]) {
    const { statusCode, body } = await guarded('clerk', {
      method: 'POST',
      url: '/people',
      headers,
      payload: headers === json ? JSON.stringify({ person: { name: 'Eve' } }) : 'person[name]=Eve'
    })
    t.equal(statusCode, 422)
    t.match(body, /person(?: |":\["|.{0,80}>)does not fit/is)
    t.notMatch(body, /memo/i)
  }
  const handled = await serve(t, {
    attributes,
    actions: {
      create: ({ store, attributes, scope, signal }) => store.create({
        ...attributes,
        memo: 'by us'
      }, scope, { signal })
    }
  })
  t.equal((await handled('clerk', {
    method: 'POST',
    url: '/people',
    payload: { person: { name: 'Eve' } }
  })).statusCode, 201)
})

const FAULTS: ReadonlyArray<readonly [what: string, error: Error, status: number, shown: RegExp]> = [
  ['a hidden attribute', new InvalidError({ salary: ['must be less than 7654321'] }), 422,
    /person(?: |":\["|.{0,80}>)does not fit/is],
  ['a part of a hidden attribute', new InvalidError({ 'memo.a': ['is rude'] }), 422, /person(?: |":\["|.{0,80}>)does not fit/is],
  ['a hidden attribute with a detail', new InvalidError({ memo: ['a'] }, { detail: 'memo is fired in May' }), 422,
    /person(?: |":\["|.{0,80}>)does not fit/is],
  ['a hidden and a seen attribute', new InvalidError({ salary: ['is low'], city: ['is far'] }), 422,
    /city.{0,80}is far/is],
  ['a taken hidden value', new DuplicateError('salary'), 409, /person(?: |":\["|.{0,80}>)is already taken/is],
  ['a taken value beside a hidden one', new DuplicateError('name', { others: ['city', 'memo'] }), 409,
    /person(?: |":\["|.{0,80}>)is already taken/is]
]

t.test('a fault at an attribute that the role does not see stands at the form, without name and value', async (t) => {
  for (const [what, error, status, shown] of FAULTS) {
    const throws = { handler: () => { throw error }, many: true }
    const ask = await serve(t, { actions: { create: throws, update: throws } })
    const requests: readonly InjectOptions[] = [
      { method: 'POST', url: '/people', payload: { person: { name: 'Eve' } } },
      { method: 'PUT', url: '/people.xml', payload: { id: 1, person: { city: 'a' } } },
      { method: 'POST', url: '/people', headers: form, payload: 'person[name]=Eve' },
      { method: 'POST', url: '/people', payload: { people: [{ name: 'Eve' }] } },
      multipart('name,city\r\nEve,a', '')
    ]
    for (const asked of requests) {
      const { statusCode, body } = await ask('clerk', asked)
      t.match([statusCode, body], [status, shown], `${what} ${asked.method} ${body}`)
      t.notMatch(body, /salary|memo|7654321|fired/i, what)
    }
    t.match((await ask('admin', requests[0] as InjectOptions)).body, /salary|memo/, 'others see it')
  }
})

t.test('keywords and unique groups that join seen and hidden attributes are logged at the start', async (t) => {
  const lines: string[] = []
  const stream = { write: (line: string) => { lines.push(line) } }
  const attributes = {
    ...person,
    dependentRequired: { city: ['memo'] },
    if: { properties: { salary: { minimum: 9 } } },
    then: { required: ['bossId'] },
    anyOf: [{ required: ['city'] }, { required: ['name'] }]
  } as const
  const store = memoryStore({ unique: [['name', 'bossId']] })
  const app = await build(t, { ...options, attributes: attributes as never, store },
    { server: { logger: { level: 'warn', stream } } })
  const warnings = lines.map((line) => JSON.parse(line).msg as string).filter((text) => text.includes('joins'))
  t.match(warnings, [
    /^resource "people": the keyword "dependentRequired" joins attributes that the role "clerk" sees with "memo", so/,
    /^resource "people": the keyword "dependentRequired" joins .* "guest" sees with "memo"/,
    /^resource "people": "unique" joins attributes that the role "clerk" sees with "bossId"/,
    /"unique" joins .* "guest" sees with "bossId"/
  ])
  t.equal(warnings.length, 4)
  const { statusCode, body } = await asking(app)('clerk', {
    method: 'POST', url: '/people', payload: { person: { name: 'E', city: 'Ulm' } }
  })
  t.match([statusCode, JSON.parse(body).errors], [422, { person: ['does not fit'] }])
  t.notMatch(body, /memo/)
})

t.test('the rules of the whole row see what the role does not', async (t) => {
  const seen: unknown[] = []
  const ask = await serve(t, {
    check: ({ salary, city }, { issues }) => {
      seen.push(salary)
      if (city === 'Rome') issues.add('salary', 'is 7654321 here')
    },
    transitions: { memo: { a: ['b'] }, city: { Ulm: ['Jena', 'Rome'] } }
  })
  const put = async (city: string): Promise<LightMyRequestResponse> =>
    ask('clerk', { method: 'PUT', url: '/people', payload: { id: 1, person: { city } } })
  const [refused, wrong, right] = [await put('Rome'), await put('Bonn'), await put('Jena')]
  t.match([refused.statusCode, refused.body], [422, /"errors":\{"person":\["does not fit"\]\}/])
  t.notMatch(refused.body, /salary|7654321/)
  t.match([wrong.statusCode, wrong.body, right.statusCode], [422, /"city":\["must be one of/, 200])
  t.ok(seen.includes(SECRET))
})

t.test('the version of a row with the version `values` is made of what the role sees', async (t) => {
  const database = new Database(':memory:')
  const store = sqliteStore({ database, table: 'people', attributes: person, version: 'values', migrate: true })
  const ask = await serve(t, { store: store as Store })
  await store.create({ name: 'Ann', salary: SECRET, memo: MEMO }, {})
  const tagOf = async (role: string): Promise<string> => String((await ask(role, '/people/1')).headers.etag)
  const [clerk, admin] = [await tagOf('clerk'), await tagOf('admin')]
  database.exec('UPDATE people SET salary = 1')
  t.equal(await tagOf('clerk'), clerk)
  t.not(await tagOf('admin'), admin)
  const put = async (tag: string): Promise<number> => (await ask('clerk', {
    method: 'PUT', url: '/people', headers: { 'if-match': tag }, payload: { id: 1, person: { city: 'B' } }
  })).statusCode
  t.match([await put(clerk), await put(clerk), await put(admin)], [200, 412, 412])
  t.match(await store.get(1, {}), { attributes: { salary: 1, memo: MEMO, city: 'B' } })
})

const team = {
  type: 'object',
  properties: { title: { type: 'string' }, chief: { type: 'string' }, budget: { type: 'integer' } }
} as const

/** Teams with people and projects, of which each has roles of its own. */
async function serveTeams (t: Test, more: Partial<ResourceOptions> = {}): Promise<Ask> {
  const [teams, people, tasks] = [memoryStore(), memoryStore(), memoryStore()]
  teams.create({ title: 'T1', chief: 'Zoe', budget: SECRET }, {})
  teams.create({ title: 'T2', chief: MEMO, budget: SECRET }, {})
  people.create({ name: 'Ann', teamId: 1, mentorId: 2, salary: SECRET }, {})
  people.create({ name: 'Bob', teamId: 2, mentorId: 1, salary: SECRET }, {})
  tasks.create({ teamId: 1, text: 'Walk', cost: SECRET }, {})
  const teamRoles = { admin: {}, clerk: { hidden: ['budget', 'chief'] } }
  return asking(await draft(t, (map) => map.scope({ role, formats: ['json', 'xml', 'html'] }, (map) => {
    map.resources('teams', {
      attributes: team,
      store: teams,
      roles: teamRoles,
      html: { title: 'chief' },
      formPages: true,
      ...more
    },
    (teams) => teams.resources('tasks', {
      attributes: { type: 'object', properties: { text: { type: 'string' }, cost: { type: 'integer' } } },
      store: tasks,
      roles: { admin: {}, clerk: { hidden: ['cost'] } }
    }))
    map.resources('people', {
      attributes: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          teamId: { type: ['integer', 'null'] },
          mentorId: { type: ['integer', 'null'] },
          salary: { type: 'integer' }
        }
      },
      store: people,
      references: { teamId: 'teams', mentorId: 'people' },
      roles: { admin: {}, clerk: { hidden: ['mentorId', 'salary'] } },
      formPages: true
    })
    map.resources('guests', {
      attributes: { type: 'object', properties: { teamId: { type: 'integer' } } }, references: { teamId: 'teams' }
    })
  })))
}

t.test('other resources are seen by the role that a request has for them', async (t) => {
  const ask = await serveTeams(t)
  const hidden = /mentor|salary|budget|chief|Zoe|fired|7654321|cost/i
  for (const url of ['/people/1?include=team', '/teams/1?include=tasks', '/teams?include=tasks', '/people.html',
    '/people/1.html',
    '/people/1/edit.html', '/people/new.html', '/teams/1.html', '/teams/1/tasks.html', '/teams/1/tasks/1.html',
    '/teams.html',
    '/people.html?teamId=1', '/people.xml?include=team', '/guests.html', '/guests?include=team']) {
    const { statusCode, body } = await ask('clerk', url)
    t.equal(statusCode, 200, `${url} ${body}`)
    t.notMatch(body, hidden, url)
  }
  const included = async (role: string): Promise<unknown> => (await ask(role,
    '/people/1?include=team')).json().person.team
  t.strictSame([await included('clerk'), await included('admin'), await included('clerk')],
    [{ id: 1, title: 'T1' }, { id: 1, title: 'T1', chief: 'Zoe', budget: SECRET }, { id: 1, title: 'T1' }])
  t.match((await ask('clerk', '/people?include=mentor')).body, /not a relation of people; the relations are: team"/)
  t.match((await ask('admin', '/people/1.html')).body, /Zoe/)
  t.match((await ask('admin', '/teams/1/tasks/1.html')).body, /Zoe/)
  const choose = { method: 'POST', url: '/people', headers: form } as const
  for (const step of ['choose', 'search']) {
    const { body } = await ask('clerk', { ...choose, payload: `person[name]=a&person[teamId:${step}]=1` })
    t.notMatch(body, hidden, step)
  }
  t.match((await ask('admin', '/people/1.html')).body, /href="\/people\/2">Bob/,
    'the list of those whom a person mentors')
})

t.test('a list of rows that refer by a hidden attribute is on no page', async (t) => {
  const ask = await serveTeams(t)
  t.match((await ask('admin', '/people/2.html')).body, /mentor/i)
  t.notMatch((await ask('clerk', '/people/2.html')).body, /mentor/i)
  t.match((await ask('clerk', '/teams/1.html')).body, /href="\/people\/1">Ann/)
})

t.test('hooks, authorize and handlers of custom actions run for every role', async (t) => {
  const calls: string[] = []
  const app = await draft(t, (map) => map.resources('people', {
    ...options,
    name: undefined,
    store: makeStore()
  } as never, (people) => {
    mapAction(people, 'member', 'post', 'raise', {
      hooks: { preHandler: async () => { calls.push('hook') } }
    }, async ({ store, id, attributes, guard, resource, signal }: AnyContext) => {
      calls.push(Object.keys(attributes).join(), String(resource.attributes.has('salary')))
      return store.update(id, { ...attributes, salary: 9 }, guard, { signal })
    })
  }))
  const ask = asking(app)
  for (const role of ['admin', 'clerk']) {
    const { statusCode, body } = await ask(role, {
      method: 'POST',
      url: '/people/1/raise',
      payload: { person: { city: role } }
    })
    t.match([statusCode, body], [200, role === 'admin' ? /"salary":9/ : /"city":"clerk"/])
    if (role === 'clerk') t.notMatch(body, /salary/)
  }
  t.strictSame(calls, ['hook', 'city', 'true', 'hook', 'city', 'false'])
})

t.test('formats, views and titles of the app get rows without what the role does not see', async (t) => {
  const seen: string[] = []
  const note = (row: object): string => { seen.push(JSON.stringify(row)); return 'x' }
  const ask = await serve(t, {
    formats: ['json', 'html', {
      name: 'own',
      mediaTypes: ['text/plain'],
      compileWriter: () => ({
        record: note,
        problem: () => '',
        list: {
          open: '',
          row: note,
          separator: '',
          close: ''
        }
      })
    }],
    xsd: false,
    html: {
      title: (row) => note(row.attributes),
      columns: ['name', 'salary'],
      views: { list: ({ rows }: { rows: readonly object[] }) => rows.map(note).join('') } as never
    }
  })
  for (const url of ['/people/1.own', '/people.own', '/people.html', '/people/1.html']) {
    t.equal((await ask('clerk', url)).statusCode, 200, url)
  }
  t.ok(seen.length > 5)
  t.notMatch(seen.join(), /salary|7654321|memo/)
  t.match((await ask('admin', '/people/1.own')).body, 'x')
  t.match(seen.at(-1), /7654321/)
})

t.test('options that name attributes apply to the roles that see them', async (t) => {
  const ask = await serve(t, {
    sort: ['salary', 'name'],
    filter: ['salary', 'city'],
    search: ['memo', 'name'],
    html: { title: 'memo', columns: ['salary', 'city'] }
  })
  t.match([(await ask('clerk', '/people?sort=name&city=Ulm&q=Ann')).json().people.length,
    (await ask('clerk', '/people?q=fired')).json().people.length, (await ask('admin',
      '/people?q=fired')).json().people.length],
  [1, 0, 1])
  t.match((await ask('clerk', '/people.html')).body, /<th scope="col"[^>]*>(?:<a[^>]*>)?City/)
  t.match((await ask('admin', '/people.html')).body, /fired in May/)
})

t.test('a scope gives its role to the resources that have roles', async (t) => {
  const app = await draft(t, (map) => map.scope({ role }, (map) => {
    map.resources('people', { attributes: person, store: makeStore(), roles })
    map.resources('posts')
  }))
  const ask = asking(app)
  t.strictSame((await ask('guest', '/people/1.json')).json().person, { id: 1, name: 'Ann', city: 'Ulm' })
  t.equal((await ask('boss', '/posts.json')).statusCode, 200)
})

t.test('OpenAPI says that answers may lack what a role does not see', async (t) => {
  const attributes = { ...person, required: ['name', 'salary'] } as const
  const { components: { schemas } } = await describe(t, one({ ...options, attributes }))
  t.strictSame([schemas.Person?.required, schemas.NewPerson?.required], [['id', 'name'], ['name']])
})

t.test('a request with a key is not another role\'s, which would tell what was sent', async (t) => {
  const ask = await serve(t, { idempotency: { keep: '1h', principal: () => 'ada' }, store: memoryStore() })
  const create = async (role: string, salary: number): Promise<readonly unknown[]> => {
    const { statusCode, headers } = await ask(role, {
      method: 'POST',
      url: '/people',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      payload: { people: [{ name: 'A', salary }] }
    })
    return [statusCode, headers['idempotency-replayed']]
  }
  t.strictSame(await create('admin', SECRET), [201, undefined])
  t.strictSame(await create('admin', SECRET), [201, 'true'])
  t.strictSame(await create('guest', SECRET), [422, undefined])
  t.strictSame(await create('guest', 1), [422, undefined])
})

t.test('a fault at a hidden attribute with a dot in its name is not shown', async (t) => {
  const attributes = {
    type: 'object',
    properties: { name: { type: 'string' }, 'pay.day': { type: 'object', properties: { cents: { type: 'integer' } } } }
  } as const
  const faults: ReadonlyArray<readonly [fault: Error, status: number]> = [
    [new InvalidError({ 'pay.day': ['is too high'] }), 422],
    [new InvalidError({ 'pay.day.cents': ['is too high'] }), 422],
    [new DuplicateError('pay.day'), 409],
    [new DuplicateError('name', { others: ['pay.day'] }), 409]
  ]
  for (const [fault, status] of faults) {
    const ask = await serve(t, {
      attributes,
      roles: { admin: {}, guest: { visible: ['name'] } },
      actions: { create: () => { throw fault } }
    } as Partial<ResourceOptions>)
    const create = async (role: string): Promise<LightMyRequestResponse> =>
      await ask(role, { method: 'POST', url: '/people', payload: { person: { name: 'A' } } })
    t.match((await create('admin')).body, 'pay.day')
    const { statusCode, body } = await create('guest')
    t.equal(statusCode, status)
    t.notMatch(body, 'pay', String(fault))
  }
})

// FC_SEED=… makes other runs, FC_RUNS=… more requests.
const seed = Number(process.env.FC_SEED ?? 20_261_128)
const numRuns = Number(process.env.FC_RUNS ?? 400)
const requests = makeRequests()
const answers = new Map<string, number>()

/** Returns a function that makes stores whose versions are digests of all values. */
function makeSqliteStores (): MakeStore {
  const database = new Database(':memory:')
  return (table, { attributes, unique = [] }) =>
    sqliteStore({ database, table, attributes, unique, version: 'values', migrate: true }) as ReturnType<MakeStore>
}

const RUNS: ReadonlyArray<readonly [role: Role, where: string, open: (isOther: boolean) => Promise<World>]> = [
  ...ROLES.map((role) => [role, 'in memory', (isOther: boolean) => openWorld(role, isOther)] as const),
  ['clerk', 'in SQLite', (isOther) => openWorld('clerk', isOther, makeSqliteStores())]
]

for (const [role, where, open] of RUNS) {
  t.test(`worlds ${where} that differ only in what a ${role} does not see answer it alike`, async (t) => {
    const note = (key: string): void => { answers.set(key, (answers.get(key) ?? 0) + 1) }
    const readKept = async (world: World): Promise<ReadonlyMap<string, string>> => readHidden(world, role)
    const runs = Math.ceil(numRuns / MOST / RUNS.length)
    const fault = await compareWorlds(
      { role, open, requests, readKept, mayVanish: true, note }, { seed, numRuns: runs }
    )
    t.equal(String(fault), 'undefined')
  })
}

t.test('the requests reach all methods, and most of them are not refused as a whole', async (t) => {
  for (const key of ['200', '201', '400', '404', '412', '422', 'replayed', 'GET', 'HEAD', 'POST', 'PUT',
    'PATCH', 'DELETE', 'QUERY']) {
    t.ok((answers.get(key) ?? 0) > 0, `${key}: ${answers.get(key)} times`)
  }
  t.ok((answers.get('200') ?? 0) > numRuns / 10)
})

t.test('the comparison finds what a role sees', async (t) => {
  const worlds = [await openWorld('guest', false), await openWorld('guest', true)] as const
  const asked = { options: { url: '/people.json' }, condition: undefined }
  const [one, other] = [await ask(worlds[0], 'clerk', asked, ''), await ask(worlds[1], 'clerk', asked, '')]
  t.not(one.answer, other.answer)
  for (const { app } of worlds) await app.close()
})
