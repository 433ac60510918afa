import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { home } from 'fastify-resources'
import { drawBlog } from './routes.js'
import { openStores } from './stores.js'

/**
 * Builds the blog. One declaration serves browsers, XML clients and JSON clients.
 * @param storeName `memory`, a `postgres://` URL, or the path of a database file
 */
export function buildBlog (storeName: string, options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify({
    // Ends requests of stalled clients: headers after 6 s at the latest, bodies after 11 s. A plugin cannot set these.
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    ...options
  })
  // Swagger comes first, because resources describe themselves to it when they are registered. It serves
  // /documentation.
  app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'A blog', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } }, servers: [{ url: '/' }], security: [] } })
  app.register(swaggerUi)
  app.register(drawBlog(openStores(app, storeName)))
  app.register(home, { title: 'A blog' })
  return app
}
