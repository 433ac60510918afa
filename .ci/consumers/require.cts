// A CommonJS program written with `import`, which compiles to require().
import fastify from 'fastify'
import resources, { draw, InvalidError, json, memoryStore, xml } from 'fastify-resources'
import { database } from 'fastify-resources/database'
import { html, markup } from 'fastify-resources/html'
import { postgresStores } from 'fastify-resources/postgres'
import { sqliteStores } from 'fastify-resources/sqlite'
import { storeContract } from 'fastify-resources/store-contract'
import { xmlSchema } from 'fastify-resources/xsd'

const app = fastify()
app.register(draw((map) => map.resources('posts', { html: { views: { list: () => markup`<p>Posts</p>` } } }),
  { formats: [xml(), html({ lang: 'de' }), json()] }))
app.register(resources, { name: 'users', store: memoryStore() })
app.register(import('fastify-resources'), { name: 'notes' })
app.get('/error', () => { throw new InvalidError({ title: ['is wrong'] }) })

async function run (): Promise<void> {
  const [scenario] = storeContract({ open: () => memoryStore() })
  await scenario?.run()
  if ([database, postgresStores, sqliteStores].some((value) => typeof value !== 'function')) throw new Error('an entry is empty')
  if (!xmlSchema({ name: 'posts' }).startsWith('<?xml')) throw new Error('there is no XML Schema')
  for (const [url, status] of [['/posts.html', 200], ['/users.json', 200], ['/notes.json', 200], ['/error', 422]] as const) {
    const { statusCode } = await app.inject(url)
    if (statusCode !== status) throw new Error(`${url}: ${statusCode}`)
  }
}

run().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
