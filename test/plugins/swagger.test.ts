import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, isServed, ORDERS } from './helper.js'

async function add (app: FastifyInstance): Promise<void> {
  await app.register(swagger, { openapi: { info: { title: 'Posts', version: '1.0.0' } } })
  await app.register(swaggerUi, { routePrefix: '/docs' })
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    const app = await build(t, order, add)

    await t.test('all requests are served', async (t) => {
      await isServed(t, app)
    })

    await t.test(order === 'before'
      ? 'registered before the resources, it describes their routes'
      : 'registered after the resources, it does not see their routes', async (t) => {
      const { paths } = (await app.inject('/docs/json')).json<{ paths: Record<string, object> }>()
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method} ${path}`))
      for (const route of ['get /posts', 'post /posts', 'put /posts', 'delete /posts', 'get /posts/{id}']) {
        t.equal(described.includes(route), order === 'before', route)
      }
      const { statusCode, headers, body } = await app.inject('/docs/')
      t.strictSame([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'])
      t.match(body, 'swagger-ui')
    })
  })
}
