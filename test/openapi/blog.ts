import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { buildBlog } from '../../example/blog.js'
import { seed } from '../../example/seed.js'

export interface Blog {
  readonly app: FastifyInstance
  readonly url: string
}

/** Starts the blog of the example with some posts in memory. It is closed when the test ends. */
export async function startBlog (t: Test): Promise<Blog> {
  const app = buildBlog('memory')
  t.teardown(() => app.close())
  await seed(app, 5)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` }
}
