import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t from 'tap'
import resources, { memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import { openEngines } from '../support/stores/sql-engines.js'

const attributes = { type: 'object', required: ['title', 'tenant'], properties: { title: { type: 'string' }, tenant: { type: 'string' } } } as const
const kept = { type: 'object', properties: { title: { type: 'string' }, tenant: { type: 'string' }, deletedAt: { type: ['string', 'null'] } } } as const

async function stores (): Promise<Array<readonly [name: string, store: Store]>> {
  const engines = await openEngines()
  return [['memory', memoryStore() as Store], ...engines.map(({ name, store }) => [name, store({ table: 'notes', attributes: kept, migrate: true }) as Store] as const)]
}

async function serve (options: object): Promise<{ app: FastifyInstance, logged: string[] }> {
  const logged: string[] = []
  const app = fastify({ logger: { level: 'error', stream: { write: (line: string) => { logged.push(line) } } } })
  t.teardown(() => app.close())
  app.register(resources, { name: 'notes', attributes, ...options } as ResourceOptions)
  await app.ready()
  return { app, logged }
}

const create = async (app: FastifyInstance, note: object): Promise<LightMyRequestResponse> =>
  app.inject({ method: 'POST', url: '/notes', headers: { accept: 'application/json' }, payload: { note } })

t.test('a handler that changes an attribute of its own scope is told so', async (t) => {
  for (const [name, store] of await stores()) {
    for (const [what, rest, status] of [['the whole guard', {}, 500], ['a guard without it', { scope: {} }, 204]] as const) {
      const { app, logged } = await serve({
        store,
        scope: () => ({ deletedAt: null }),
        actions: { delete: ({ store, id, guard, signal }: { store: Store, id: number, guard: never, signal: AbortSignal }) => store.update(id, { deletedAt: 'now' }, { ...guard as object, ...rest } as never, { signal }) }
      })
      const { id } = (await create(app, { title: 'Tea', tenant: 'a' })).json().note
      t.equal((await app.inject({ method: 'DELETE', url: `/notes.json?id=${id}` })).statusCode, status, `${name}: ${what}`)
      t.equal((await app.inject(`/notes/${id}.json`)).statusCode, status === 500 ? 200 : 404, 'the row')
      t.match(logged.join('\n'), status === 500 ? /an update changes \\"deletedAt\\", which the scope of its guard keeps.*FST_RESOURCES_SCOPE_CHANGE/s : /^$/)
    }
  }
})

t.test('what a client sends for an attribute of the scope is ignored, and scope meets what is required', async (t) => {
  for (const [name, store] of await stores()) {
    const { app } = await serve({ store, scope: () => ({ tenant: 'a' }) })
    const created = await create(app, { title: 'Tea' })
    t.match([created.statusCode, created.json()], [201, { note: { title: 'Tea', tenant: 'a' } }], `${name}: the scope gives the tenant`)
    t.match((await create(app, { title: 'Tea', tenant: 'b' })).json(), { note: { tenant: 'a' } })
    const { id } = created.json().note
    const changed = await app.inject({ method: 'PUT', url: '/notes.json', payload: { id, note: { title: 'Milk', tenant: 'b' } } })
    t.match([changed.statusCode, changed.json()], [200, { note: { title: 'Milk', tenant: 'a' } }])
    t.match((await create(app, {})).json(), { status: 422, errors: { title: ['must be given'], tenant: undefined } }, 'nothing else is met')
  }
})
