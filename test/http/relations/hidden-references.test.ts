import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { type Authorize, draw, memoryStores, type Stores } from '../../../lib/index.js'
import { openEngines } from '../../support/stores/sql-engines.js'

const customer = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } as const
const invoice = { type: 'object', properties: { customerId: { type: ['integer', 'null'] }, note: { type: 'string' }, more: { type: ['object', 'null'] } } } as const
const scopeAttributes = { tenant: { type: 'string' } } as const
const scope = ({ headers }: { headers: Record<string, unknown> }): { tenant: string } => ({ tenant: String(headers['x-tenant']) })
const ofOwner: Authorize = async ({ headers }, { action, row }) =>
  action !== 'list' && (row === undefined || (await row())?.attributes.name === headers['x-tenant'])
const hiding: Authorize = async (request, attempt) => await ofOwner(request, attempt) || 'hide'

/** How the customers are guarded: by `scope` or by `authorize`. */
const GUARDS: ReadonlyArray<readonly [name: string, options: object]> = [
  ['scope', { scope, scopeAttributes }], ['authorize', { authorize: ofOwner }], ['authorize that hides', { authorize: hiding }]
]

const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
/** The writes of an invoice that name a customer. The invoice 2 has the customer 2. */
const WRITES: ReadonlyArray<readonly [name: string, write: (id: number) => InjectOptions]> = [
  ['create', (customerId) => ({ method: 'POST', url: '/invoices.json', payload: { invoice: { customerId } } })],
  ['create by XML', (id) => ({ method: 'POST', url: '/invoices.xml', headers: { 'content-type': 'application/xml' }, payload: `<invoice><customerId>${id}</customerId></invoice>` })],
  ['create by a form', (id) => ({ method: 'POST', url: '/invoices', headers: form, payload: `invoice[customerId]=${id}` })],
  ['update', (customerId) => ({ method: 'PUT', url: '/invoices.json', payload: { id: 2, invoice: { customerId } } })],
  ['update of a member', (customerId) => ({ method: 'PATCH', url: '/invoices/2.json', payload: { invoice: { customerId } } })],
  ['merge', (customerId) => ({ method: 'PATCH', url: '/invoices/2.json', headers: { 'content-type': 'application/merge-patch+json' }, payload: JSON.stringify({ invoice: { customerId, more: { a: 1 } } }) })],
  ['update by a form', (id) => ({ method: 'POST', url: '/invoices', headers: form, payload: `_method=PUT&id=2&invoice[customerId]=${id}` })],
  ['custom action of a row', (customerId) => ({ method: 'POST', url: '/invoices/2/assign.json', payload: { invoice: { customerId } } })],
  ['custom action of the collection', (customerId) => ({ method: 'POST', url: '/invoices/assign.json', payload: { invoice: { customerId } } })]
]

interface World { readonly app: FastifyInstance, as (tenant: string, asked: InjectOptions): Promise<LightMyRequestResponse> }

/** Serves the customers 1 of A and 2 of B, and an invoice of each. */
async function serve (stores: Stores, guard: object): Promise<World> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => {
    map.resources('customers', { attributes: customer, ...guard })
    map.resources('invoices', { attributes: invoice, references: { customerId: 'customers' }, writes: 'both', scope, scopeAttributes }, (invoices) => {
      invoices.member.post('assign', () => undefined)
      invoices.collection.post('assign', () => undefined)
    })
  }, { stores }))
  await app.ready()
  const as: World['as'] = async (tenant, asked) => app.inject({ ...asked, headers: { accept: 'application/json', ...asked.headers, 'x-tenant': tenant } })
  for (const [index, tenant] of ['A', 'B'].entries()) {
    await as(tenant, { method: 'POST', url: '/customers.json', payload: { customer: { name: tenant } } })
    const { statusCode } = await as(tenant, { method: 'POST', url: '/invoices.json', payload: { invoice: { customerId: index + 1 } } })
    if (statusCode !== 201) throw new Error(`the invoice is a ${statusCode}`)
  }
  return { app, as }
}

t.test('a reference to a row that the request may not see is answered as one to a row that does not exist', async (t) => {
  const databases = [{ name: 'memory', open: memoryStores }, ...(await Promise.all(GUARDS.map(openEngines))).flat().map(({ name, stores }) => ({ name, open: () => stores }))]
  for (const [index, [guard, options]] of GUARDS.entries()) {
    for (const { name, open } of [databases[0], databases[1 + 2 * index], databases[2 + 2 * index]] as typeof databases) {
      const { as } = await serve(open(), options)
      for (const [what, write] of WRITES) {
        const [hidden, missing, own] = [await as('B', write(1)), await as('B', write(9)), await as('B', write(2))]
        t.strictSame([hidden.statusCode, hidden.body.replaceAll(/value="1"/g, 'value="9"').replace('>1</option>', '>9</option>')], [422, missing.body], `${name}, ${guard}: ${what}`)
        t.match(hidden.body, 'refers to something that does not exist')
        const { date: _, ...headers } = hidden.headers
        t.match(missing.headers, headers)
        t.ok(own.statusCode < 400, `${what}: the own customer is a ${own.statusCode}`)
      }
      t.equal((await as('B', { method: 'PUT', url: '/invoices.json', headers: { 'if-match': '"77"' }, payload: { id: 2, invoice: { customerId: 1 } } })).statusCode, 412, 'a stale version comes first')
      t.equal((await as('B', { method: 'PUT', url: '/invoices.json', payload: { id: 99, invoice: { customerId: 1 } } })).statusCode, 404, 'so does a row that does not exist')
      t.equal((await as('B', { method: 'PUT', url: '/invoices.json', payload: { id: 2, invoice: { customerId: null } } })).statusCode, 200)
      t.equal((await as('A', { method: 'DELETE', url: '/invoices.json?id=1' })).statusCode, 204)
      t.equal((await as('A', { method: 'DELETE', url: '/customers.json?id=1' })).statusCode, 204, 'nobody else refers to the customer')
    }
  }
})

t.test('a reference that is sent back as it is stored is kept, also if its row is hidden', async (t) => {
  let hidden = false
  const authorize: Authorize = (_request, { action }) => !hidden || action !== 'show'
  const { as } = await serve(memoryStores(), { authorize })
  hidden = true
  for (const [what, write] of WRITES.slice(3, 8)) {
    const { statusCode } = await as('B', write(2))
    t.ok(statusCode < 400, `${what} is a ${statusCode}`)
  }
  for (const [what, write] of [...WRITES.slice(0, 3), ...WRITES.slice(8)]) t.equal((await as('B', write(2))).statusCode, 422, `${what}: a new reference`)
})

t.test('a reference to rows that everybody may see costs no query', async (t) => {
  const [engine] = await openEngines()
  if (engine === undefined) throw new Error('there is no engine')
  let listed = 0
  const { stores } = engine
  const counting: Stores = { open: (request) => { const store = stores.open(request); return { ...store, list: (...call) => { listed++; return store.list(...call) } } } }
  const { as } = await serve(counting, {})
  listed = 0
  for (const [id, status] of [[1, 201], [2, 201]] as const) t.equal((await as('B', { method: 'POST', url: '/invoices.json', payload: { invoice: { customerId: id } } })).statusCode, status)
  t.equal(listed, 0)
})
