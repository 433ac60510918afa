import fastify, { type FastifyInstance } from 'fastify'
import resources, { memoryStore } from '../../lib/index.js'
import { renderMarkedPages } from './marked-pages.js'
import { type Post, schema } from './posts.js'
import { makeHand } from './yardsticks/hand.js'
import { makePagesByHand } from './yardsticks/pages-by-hand.js'

export async function makeOurs (posts: readonly Post[]): Promise<FastifyInstance> {
  const app = fastify()
  const store = memoryStore()
  for (const post of posts) store.create({ ...post }, {})
  app.register(resources, { name: 'posts', attributes: schema, store })
  await app.ready()
  return app
}

/** Returns an app with handwritten routes that answers the same bytes as the plugin. */
export async function makeByHand (posts: readonly Post[]): Promise<FastifyInstance> {
  const app = makeHand(makePagesByHand(await renderMarkedPages()), posts)
  await app.ready()
  return app
}
