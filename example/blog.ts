import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { drawBlog } from './routes.js'
import type { Stores } from './stores.js'

/** The blog: one declaration, and it is there for browsers, XML clients and JSON clients. */
export function buildBlog (stores: Stores, options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify({
    // A client that stalls is given up: after 6 s of headers, after 11 s of a body. A plugin cannot set these.
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    ...options
  })
  // Before the resources: they tell it what they are when they are registered. It is shown at /documentation.
  app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'A blog', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } }, servers: [{ url: '/' }], security: [] } })
  app.register(swaggerUi)
  app.register(drawBlog(stores))
  app.get('/', (_request, reply) => reply.redirect(app.paths.posts()))
  return app
}
