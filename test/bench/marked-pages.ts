import fastify, { type FastifyInstance } from 'fastify'
import resources, { memoryStore, type Row } from '../../lib/index.js'
import { schema } from './posts.js'
import { MARKED, MARKED_ROWS, type MarkedPages } from './yardsticks/pages-by-hand.js'

/** Returns the plugin's pages of a row whose values can be found in them. */
export async function renderMarkedPages (): Promise<MarkedPages> {
  const both = async (url: string): Promise<[yes: string, no: string]> => [await render(true, url), await render(false, url)]
  return { records: await both(`/posts/${MARKED.id}`), lists: await both('/posts?limit=20') }
}

async function render (published: boolean, url: string): Promise<string> {
  const { id, version, ...values } = MARKED
  const row: Row = { id, version: String(version), attributes: { ...values, published } }
  // Has one row more than a page, so that the page has a link to the next one.
  const app = serve({ get: () => row, list: () => [new Array<Row>(21).fill(row)], count: () => ({ rows: MARKED_ROWS, isEstimate: false }) })
  const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
  await app.close()
  return body
}

function serve (methods: object): FastifyInstance {
  const app = fastify()
  app.register(resources, { name: 'posts', attributes: schema, store: { ...memoryStore(), ...methods } })
  return app
}
