// A CommonJS program written with `import`, which compiles to require().
import fastify from 'fastify'
import resources, { draw, html, InvalidError, memoryStore } from 'fastify-resources'
import { storeContract } from 'fastify-resources/store-contract'

const app = fastify()
app.register(draw((map) => map.resources('posts', { views: { list: () => html`<p>Posts</p>` } })))
app.register(resources, { name: 'users', store: memoryStore() })
app.register(import('fastify-resources'), { name: 'notes' })
app.get('/error', () => { throw new InvalidError({ title: ['is wrong'] }) })

async function run (): Promise<void> {
  const [scenario] = storeContract({ open: () => memoryStore() })
  await scenario?.run()
  for (const [url, status] of [['/posts.html', 200], ['/users.json', 200], ['/notes.json', 200], ['/error', 422]] as const) {
    const { statusCode } = await app.inject(url)
    if (statusCode !== status) throw new Error(`${url}: ${statusCode}`)
  }
}

run().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
