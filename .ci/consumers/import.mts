// A program that imports the package. CI compiles it against the package's types, then runs it.
import fastify from 'fastify'
import resources, { type ActionEvent, type AttributesOf, defineResource, draw, memoryStore, type ResourceOptions, type Store } from 'fastify-resources'
import { database } from 'fastify-resources/database'
import { html, type HtmlOptions } from 'fastify-resources/html'
import { postgresStores } from 'fastify-resources/postgres'
import { sqliteStores } from 'fastify-resources/sqlite'
import { storeContract } from 'fastify-resources/store-contract'
import { xmlSchema } from 'fastify-resources/xsd'

const post = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, rating: { type: ['integer', 'null'] }, tags: { type: 'array', items: { type: 'string' } } }
} as const
const example: AttributesOf<typeof post> = { title: 'T', rating: null }
// @ts-expect-error: `title` must be a string
const wrong: AttributesOf<typeof post> = { title: 1 }
const page: HtmlOptions = { lang: 'de' }
const options: ResourceOptions = { name: 'users', formats: [html(page), 'json'], html: { columns: ['name'] } }
export const entries = [database, postgresStores, sqliteStores, xmlSchema]
const store: Store = memoryStore()
export const describe = ({ outcome, duration = 0 }: ActionEvent): string => `${outcome ?? 'begun'} ${duration}`
export const both = [example, wrong]

const routes = draw((map) => map.resources('posts', { attributes: post }, (posts) => posts
  .resources('comments')
  .member.post('publish', ({ store, id, guard, signal }) => store.update(id, { title: 'U' }, guard, { signal }))))
declare module 'fastify-resources' {
  interface Register { routes: typeof routes }
}

const app = fastify()
app.register(routes)
app.register(resources, { ...options, store })
app.register(import('fastify-resources'), { name: 'notes' })
app.register(resources, defineResource({ name: 'cities', attributes: post, actions: { list: () => [{ id: 1, attributes: { title: 'T' } }] } }))
// @ts-expect-error: this option does not exist
export const refuse = (): unknown => app.register(resources, { name: 'users', stores: store })
app.get('/path', () => app.paths.postComments(7))
// @ts-expect-error: this helper takes two parameters
export const misname = (): unknown => app.paths.postComment(7)

const [scenario] = storeContract({ open: () => memoryStore() })
await scenario?.run()
for (const url of ['/posts.json', '/users.json', '/notes.json', '/cities.json', '/path']) {
  const { statusCode } = await app.inject(url)
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode}`)
}
